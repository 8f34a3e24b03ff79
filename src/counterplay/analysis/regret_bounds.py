"""Regret bounds as calculators, to compare theory with measurements.

Quantities (Gibson 2014, sections 2.2.2 and 5.1): Δ_i is a player's range of utilities, |A| the most actions at any of
the player's information sets, 𝓑_i the partition of the player's information sets by the labels of the player's own
earlier actions, and M_i = Σ_B √|B|.  For a strategy, M_i(σ_i) weights each part by the largest own reach in it.
M-values depend on action labels (section 2.2.2), so the labels are part of the game.  With imperfect recall an
information set can follow several lists of own actions and 𝓑_i is not a partition; such players are refused.

The bounds are on the *average* regret R_i^T/T unless a function says otherwise.
"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.measurement import Measurement
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import realisation_plan


@dataclasses.dataclass(frozen=True)
class PlayerQuantities:
    """The quantities of one player in the bounds."""

    utility_range: float  # Δ_i
    infosets: int  # |𝓘_i|
    max_actions: int  # |A(𝓘_i)|
    parts: int  # |𝓑_i|
    m_value: float  # M_i


def own_action_partition(tree: GameTree, player: int) -> dict[tuple[str, ...], list[int]]:
    """𝓑_i: information sets by the labels of the player's own actions before them."""
    form = tree.sequences
    if not form.has_perfect_recall(player):
        raise GameError(
            f"player {player + 1} of {tree.name} has imperfect recall; a partition by own actions needs perfect recall"
        )
    labels: dict[int, tuple[str, ...]] = {int(form.sequence_start[player]): ()}
    parts: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for decision in range(form.decision_start[player], form.decision_start[player + 1]):
        infoset = int(form.decision_infoset[decision])
        before = labels[int(form.decision_parent[decision])]
        parts[before].append(infoset)
        for action, label in enumerate(tree.actions_of(infoset)):
            labels[int(form.decision_first[decision]) + action] = (*before, label)
    return dict(parts)


def m_value(tree: GameTree, player: int, strategy: NDArray[np.float64] | None = None) -> float:
    """M_i, or M_i(σ_i) when the probabilities of a strategy are given."""
    form = tree.sequences
    plan = np.ones(form.num_sequences) if strategy is None else realisation_plan(tree, strategy)
    here = slice(form.decision_start[player], form.decision_start[player + 1])
    own_reach = dict(zip(form.decision_infoset[here].tolist(), plan[form.decision_parent[here]].tolist(), strict=True))
    parts = own_action_partition(tree, player).values()
    return math.fsum(max(own_reach[infoset] for infoset in part) * math.sqrt(len(part)) for part in parts)


def player_quantities(tree: GameTree, player: int) -> PlayerQuantities:
    """The quantities of a player in the bounds."""
    infosets = tree.infosets_of(player)
    actions = max((len(tree.actions_of(infoset)) for infoset in infosets), default=0)
    parts = len(own_action_partition(tree, player))
    return PlayerQuantities(tree.utility_range(player), len(infosets), actions, parts, m_value(tree, player))


def regret_matching_bound(utility_range: float, actions: int, steps: int) -> float:
    """Total regret of regret matching in a normal-form game: Δ√(T|A|) (Gibson 2014, theorem 2.2)."""
    return utility_range * math.sqrt(steps * actions)


def positive_regret_sum(tree: GameTree, player: int, regret: NDArray[np.float64]) -> float:
    """Σ_I max_a R⁺(I,a), which bounds the total regret R_i^T with perfect recall (Gibson 2014, theorem 2.3)."""
    offset = tree.infoset_offset
    return math.fsum(
        max(0.0, float(regret[offset[infoset] : offset[infoset + 1]].max())) for infoset in tree.infosets_of(player)
    )


def cfr_bound(quantities: PlayerQuantities, steps: int, m: float | None = None) -> float:
    """Δ M √|A| / √T for vanilla CFR (Gibson 2014, theorem 2.4; theorem 5.2 with ``m`` = M_i(σ_i*))."""
    q = quantities
    return q.utility_range * (q.m_value if m is None else m) * math.sqrt(q.max_actions) / math.sqrt(steps)


def cfr_bound_by_count(quantities: PlayerQuantities, steps: int) -> float:
    """Δ |𝓘_i| √|A| / √T (Zinkevich et al. 2007; Johanson 2016, theorem 3; Čermák 2018, equation 3.9)."""
    q = quantities
    return q.utility_range * q.infosets * math.sqrt(q.max_actions) / math.sqrt(steps)


def immediate_regret_bound(utility_range: float, actions: int, steps: int) -> float:
    """Average positive regret at one information set, any recall: Δ_I √|A(I)| / √T (Čermák 2018, equation 3.8)."""
    return utility_range * math.sqrt(actions) / math.sqrt(steps)


def full_regret_bound(quantities: PlayerQuantities, infosets_below: int, steps: int) -> float:
    """Total full counterfactual regret at I: Δ |D(I)| √(|A| T) (Gibson 2014, corollary B.1)."""
    q = quantities
    return q.utility_range * infosets_below * math.sqrt(q.max_actions * steps)


def sampling_bound_2012(
    quantities: PlayerQuantities, steps: int, delta: float, p: float, m: float | None = None
) -> float:
    """External and outcome sampling with probability 1-p, as printed in 2012 (Gibson et al. 2012, theorems 3 and 6;
    Gibson 2014, theorem 2.5): (M + √(2|𝓘||𝓑|)/√p) Δ√|A| / (δ√T).
    """
    q = quantities
    inner = (q.m_value if m is None else m) + math.sqrt(2 * q.infosets * q.parts) / math.sqrt(p)
    return inner * q.utility_range * math.sqrt(q.max_actions) / (delta * math.sqrt(steps))


def sampling_bound(quantities: PlayerQuantities, steps: int, delta: float, p: float, m: float | None = None) -> float:
    """Chance, external, outcome and average strategy sampling with probability 1-p (Gibson 2014, theorems 5.3 and
    5.5): (M√|A| + 2√(|𝓘||𝓑|)/√p) Δ / (δ√T); ``m`` = M_i(σ_i*) gives the tighter form.
    """
    q = quantities
    inner = (q.m_value if m is None else m) * math.sqrt(q.max_actions)
    inner += 2 * math.sqrt(q.infosets * q.parts) / math.sqrt(p)
    return inner * q.utility_range / (delta * math.sqrt(steps))


def pure_cfr_bound(quantities: PlayerQuantities, steps: int, p: float, m: float | None = None) -> float:
    """Pure CFR with probability 1-p: the sampling bound with δ = 1 (Gibson 2014, theorem 5.6)."""
    return sampling_bound(quantities, steps, 1.0, p, m)


def chance_sampling_bound(quantities: PlayerQuantities, steps: int, p: float) -> float:
    """CS, OPCS, SPCS and PCS with probability 1-p: (1 + 2/√p) Δ M √|A| / √T (Johanson 2016, section 3.3.3, theorem 1).

    The proof needs that no chance event is more probable than its sampling.  SPCS with cards does not keep to that
    (``solvers/public_sampling.py`` samples boards from the whole deck).
    """
    return (1 + 2 / math.sqrt(p)) * cfr_bound(quantities, steps)


def general_sampling_bound(
    quantities: PlayerQuantities, steps: int, estimate_range: float, p: float, variance: float, covariance: float,
    bias: float,
) -> float:  # fmt: skip
    """Any bounded estimator with probability 1-p (Gibson 2014, lemma 5.1):
    |𝓘| (Δ̂√|A|/√T + √(Var/(pT) + Cov/p + E²/p)).
    """
    q = quantities
    noise = variance / (p * steps) + covariance / p + bias**2 / p
    return q.infosets * (estimate_range * math.sqrt(q.max_actions) / math.sqrt(steps) + math.sqrt(noise))


def unbiased_estimator_bound(
    quantities: PlayerQuantities, steps: int, estimate_range: float, p: float, variance: float
) -> float:
    """Unbiased independent estimates with probability 1-p (Gibson 2014, theorem 5.4): (Δ̂√|A| + √(Var/p)) |𝓘| / √T."""
    q = quantities
    return (estimate_range * math.sqrt(q.max_actions) + math.sqrt(variance / p)) * q.infosets / math.sqrt(steps)


def scaled_estimator_bound(
    quantities: PlayerQuantities, steps: int, scaled_range: float, p: float, variance: float, m: float | None = None
) -> float:
    """Estimates whose range scales with π_-i(I), with probability 1-p (Gibson 2014, theorem C.1):
    Δ̂' M √|A| / √T + |𝓘| √(Var/(pT)).
    """
    q = quantities
    main = scaled_range * (q.m_value if m is None else m) * math.sqrt(q.max_actions) / math.sqrt(steps)
    return main + q.infosets * math.sqrt(variance / (p * steps))


def average_regret_to_nash(regrets: tuple[float, float]) -> float:
    """ε of the average profile in a two-player zero-sum game with perfect recall, from both average regrets: 2 max
    (Gibson 2014, theorem 2.1).
    """
    return 2 * max(regrets)


def near_zero_sum_nash(regrets: tuple[float, float], imbalance: float) -> float:
    """ε of the average profile of a two-player game with |u_1 + u_2| ≤ ``imbalance``: 2(max regret + imbalance)
    (Gibson 2014, theorem 4.4).
    """
    return 2 * (max(regrets) + imbalance)


def imbalance(tree: GameTree) -> float:
    """The largest |u_1 + u_2| of a two-player game: how far it is from zero-sum."""
    if tree.players != 2:
        raise GameError(f"the imbalance is defined for two players; {tree.name} has {tree.players}")
    return float(np.abs(tree.utility.sum(axis=1)).max())


def tilted_nash(utility_range: float, percent: float) -> float:
    """The worst limit of ε of CFR's average in a game tilted by ``percent``: Δ w / 50 (Gibson 2014, section 4.4.2).

    ``utility_range`` is Δ of the game before the tilt.  It follows from theorem 4.4 because |u_1 + u_2| ≤ Δ w / 100.
    """
    return utility_range * percent / 50


def essentially_solved_threshold(deviation: float = 5.0, games: int = 200 * 12 * 365 * 70, z: float = 1.64) -> float:
    """The exploitability below which a lifetime of play cannot prove that a strategy loses: z s / √N (Johanson 2016,
    section 9.3).  The defaults, in big blinds, are those of limit hold'em and give 0.00105.
    """
    return z * deviation / math.sqrt(games)


def value_interval(measurement: Measurement, player: int = 0) -> tuple[float, float]:
    """Bounds on the game value of a two-player zero-sum game: what the profile guarantees and what the player's best
    response gets (Johanson 2016, section 9.4).  The width is twice the exploitability.
    """
    return -measurement.best_response[1 - player], measurement.best_response[player]


def well_formed_bound(utility_range: float, constant: float, max_actions: int, iterations: int) -> float:
    """Average regret in the refinement of CFR on a well-formed or nearly well-formed game: Δ K √|A| / √T.

    ``constant`` is K = Σ_I max kl over the pairs of refined sets merged into I, at least |𝓘_i| (Lanctot et al. 2012,
    theorems 1 and 3; Gibson 2014, theorem 6.1).
    """
    return utility_range * constant * math.sqrt(max_actions / iterations)


def skew_well_formed_bound(
    utility_range: float, constant: float, max_actions: int, iterations: int, skew: float, factor: float = 2.0
) -> float:
    """Average regret in the refinement of CFR on a skew well-formed game: Δ K √|A| / √T + factor · Σ_I |P(I)| δ_I.

    ``skew`` is Σ_I |P(I)| δ_I.  The paper prints the factor 1 (Lanctot et al. 2012, theorem 2; Gibson 2014, theorem
    6.2); its proof replaces a utility by another one inside a difference that may be negative, which costs up to twice
    δ, so 2 is the safe factor and our default.
    """
    return well_formed_bound(utility_range, constant, max_actions, iterations) + factor * skew
