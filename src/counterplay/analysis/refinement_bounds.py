"""The theoretical bounds of CFR+IRA, as calculators (Čermák 2018, section 5.2.3.3).

The bound update samples k_b of |𝓘| information sets at iterations T_1, T_2, ... = 1, 2, 4, ...; once all relevant sets
have been sampled over a long enough interval, the abstraction supports the required regret (lemma 5.2.1), and after
T_lim iterations for that the usual bound of CFR holds for the rest (lemma 5.2.2, theorem 5.2.2).

The degree of the root in α (equation 5.15) is garbled in the source; it is resolved from equations 5.19 and 5.31 to
5.33: a cube root, with X an |𝓘|-th root.  Everything is computed by logarithms, because |𝓘|! is too large.
"""

from __future__ import annotations

import dataclasses
import math

from counterplay.errors import SolverError


def sampling_times(until: int) -> list[int]:
    """The iterations up to ``until`` at which the bound update samples: 1, 2, 4, 8, ... (algorithm 8)."""
    times = [1]
    while 2 * times[-1] <= until:
        times.append(2 * times[-1])
    return times if until >= 1 else []


def allowed_regret(utility_range: float, actions: int, time: int, divisor: float = 100.0) -> float:
    """L: the average regret above which the experiments split a set off, Δ_I √|A(I)| / (100 √t) (section 5.3.1).

    Any L no larger than Δ_I √|A(I)| / √(t - T_j) keeps the guarantee.
    """
    return utility_range * math.sqrt(actions) / (divisor * math.sqrt(time))


def _log_miss(infosets: int, k_b: int) -> float:
    """log(1 - (k_b/|𝓘|)^|𝓘|), the log-probability that |𝓘| successive samples miss a given list of sets."""
    if k_b < 1 or infosets < 1:
        raise SolverError(f"there must be sets, and some sampled; got {infosets} sets, k_b = {k_b}")
    hit = infosets * math.log(min(k_b, infosets) / infosets)
    return -math.inf if hit == 0.0 else math.log1p(-math.exp(hit)) if hit > -700 else -0.0


def support_probability(infosets: int, k_b: int, stretches: int) -> float:
    """A lower bound on the probability that the abstraction supports a regret after long enough intervals (5.10)."""
    if stretches < infosets:
        return 0.0
    miss = _log_miss(infosets, k_b)
    return 1.0 - math.exp(miss * math.comb(stretches, infosets)) if miss > -math.inf else 1.0


@dataclasses.dataclass(frozen=True)
class RefinementBound:
    """The quantities of theorem 5.2.2.

    Attributes
    ----------
    base : float
        1 - (k_b/|𝓘|)^|𝓘|.
    x : float
        X, the |𝓘|-th root of |𝓘|! times the logarithm of δ to that base.
    alpha : float
        α(δ); infinite when it is too large for a float.
    """

    infosets: int
    max_actions: int
    base: float
    x: float
    alpha: float

    @property
    def least_iterations(self) -> float:
        """(α + 1)³, the least number of iterations in the theorem."""
        return (self.alpha + 1.0) ** 3 if self.alpha < 1e100 else math.inf

    def switch_time(self, iterations: int) -> int:
        """T_lim = ⌈α T^{2/3}⌉: the iterations given to refinement (lemma 5.2.4)."""
        return math.ceil(self.alpha * math.pow(iterations, 2.0 / 3.0))

    def supported_time(self, iterations: int) -> int:
        """T_B = ⌈(T √A / (T_lim + √A √T))²⌉ (lemma 5.2.4)."""
        root = math.sqrt(self.max_actions)
        return math.ceil((iterations * root / (self.switch_time(iterations) + root * math.sqrt(iterations))) ** 2)

    def average_regret(self, utility_range: float, player_infosets: int, iterations: int) -> float:
        """With probability 1 - δ at most this average regret after T iterations (theorem 5.2.2).

        Raises
        ------
        SolverError
            If there are too few iterations for the theorem.
        """
        if iterations < self.least_iterations:
            raise SolverError(f"the theorem needs at least {self.least_iterations:.6g} iterations; got {iterations}")
        scale = utility_range * player_infosets
        shares = (math.sqrt(self.max_actions / iterations), self.alpha / iterations ** (1.0 / 3.0), 1.0 / iterations)
        return scale * math.fsum(shares)


def refinement_bound(infosets: int, k_b: int, delta: float, max_actions: int) -> RefinementBound:
    """The quantities of theorem 5.2.2, whose bound holds with probability 1 - ``delta``."""
    if not 0.0 < delta < 1.0:
        raise SolverError(f"delta must lie between 0 and 1; got {delta!r}")
    miss = _log_miss(infosets, k_b)
    if miss == 0.0:  # too unlikely for floats
        log_x = math.inf
    elif miss == -math.inf:
        log_x = -math.inf
    else:
        log_x = (math.lgamma(infosets + 1) + math.log(math.log(delta) / miss)) / infosets
    x = math.exp(log_x) if log_x < 700 else math.inf
    log_alpha = ((x + infosets + 3) * math.log(2.0) + math.log(max_actions)) / 3.0
    alpha = math.exp(log_alpha) if log_alpha < 700 else math.inf
    return RefinementBound(infosets, max_actions, math.exp(miss), x, alpha)
