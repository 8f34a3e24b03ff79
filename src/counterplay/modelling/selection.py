"""Rules that choose among the members of a portfolio from hand to hand: greedy, UCB1, Thompson, exponential weights.

After each hand a rule is given what every member is estimated to have won in it; NaN stands for members of whom the
hand says nothing, so that the same rules serve where only the member that played is estimated (a bandit).  The source,
Johanson 2016, section 8.2, gives no rule of selection or forgetting; these are:

* *fixed*: always the same member.
* *greedy*: the greatest mean of the last ``window`` hands.
* *ucb1* (Auer, Cesa-Bianchi and Fischer 2002, figure 1): the greatest mean plus scale √(2 ln t / n), after one hand of
  each; with gains in [0, scale] its regret is bounded (theorem 1, ``ucb1_bound``).
* *thompson* (Thompson 1933): the greatest of normal random numbers, one for each member, with its mean and s / √n.
* *exponential* (Cesa-Bianchi and Lugosi 2006, theorem 2.3): drawn with weights exp(η_t sum / scale) and η_t =
  √(8 ln K / t); where all members are estimated its regret is bounded on any sequence (``exponential_bound``).

A rule that draws says with which probabilities (``shares``): whoever estimates the hand afterwards needs them.

Departure: winnings of poker have no useful range, so ``scale`` is by default the standard deviation of the member's
own estimates, and the largest of these for exponential weights; then the bounds are not proven.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterplay.errors import GameError, StrategyError
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.seeds import check_seed
from counterplay.runtime.suggestions import did_you_mean, find_name

Float64 = NDArray[np.float64]

WINDOW = 1000
"""Hands that greedy remembers."""

DRAWS = 64
"""Draws of Thompson sampling from which shares are counted."""


class RuleState(TypedDict):
    """What is kept of a rule between hands; sums are by members."""

    rule: str
    settings: dict[str, Any]
    hands: int
    counts: list[int]
    sums: list[float]
    squares: list[float]
    recent: list[list[float | None]]


class SelectionRule:
    """Chooses a member for each hand; a base class.

    Parameters
    ----------
    members : int
        How many there are.
    seed : int
        Of the random choices; that of a hand depends on the seed and the number of the hand only.
    first : int
        The member that is played where nothing speaks for another one.
    """

    name: ClassVar[str] = ""
    takes: ClassVar[tuple[str, ...]] = ()
    """The settings that it takes besides ``seed`` and ``first``."""

    def __init__(self, members: int, seed: int = 0, first: int = 0) -> None:
        if members < 1:
            raise GameError(f"a choice needs at least 1 member; got {members}")
        if not 0 <= first < members:
            raise GameError(f"members are 0 to {members - 1}; the first one cannot be {first!r}")
        self.members, self.seed, self.first = members, check_seed(seed, GameError), first
        self.hands = 0
        """Hands so far."""
        self.counts = np.zeros(members, np.int64)
        self.sums, self.squares = np.zeros(members), np.zeros(members)
        self.recent: deque[Float64] = deque(maxlen=0)

    def choose(self) -> int:
        """The member for the next hand; the same until ``update``."""
        scores = self.scores()
        best = np.flatnonzero(scores == scores.max())
        return self.first if self.first in best else int(best[0])

    def shares(self) -> Float64:
        """The probabilities with which ``choose`` came to its choice: (members,); 1 for it unless it was drawn."""
        return np.asarray(np.arange(self.members) == self.choose(), dtype=np.float64)

    def scores(self) -> Float64:
        """What the choice compares: (members,)."""
        raise NotImplementedError  # protocol

    def update(self, estimates: ArrayLike) -> None:
        """Learn what each member is estimated to have won in a hand; NaN where the hand does not say."""
        row = np.array(estimates, np.float64)
        if row.shape != (self.members,) or np.isinf(row).any():
            raise GameError(f"a hand has a finite estimate, or NaN, for each of {self.members} members; got {row}")
        known = ~np.isnan(row)
        self.hands += 1
        self.counts += known
        self.sums[known] += row[known]
        self.squares[known] += row[known] ** 2
        self.recent.append(row)

    @property
    def means(self) -> Float64:
        """The mean estimate of each member; NaN without one."""
        return np.asarray(np.divide(self.sums, self.counts, out=np.full(self.members, math.nan), where=self.counts > 0))

    @property
    def deviations(self) -> Float64:
        """The standard deviation of each member's estimates; of all of them where it has fewer than two."""
        count, total, square = float(self.counts.sum()), float(self.sums.sum()), float(self.squares.sum())
        pooled = _deviation(count, total, square)
        rows = zip(self.counts.tolist(), self.sums.tolist(), self.squares.tolist(), strict=True)
        return np.array([_deviation(*row) if row[0] > 1 else pooled for row in rows])

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that was chosen, by name: seed, first member and the settings of the rule."""
        return {"seed": self.seed, "first": self.first, **{name: getattr(self, name) for name in self.takes}}

    def state(self) -> RuleState:
        """Everything that the rule knows, for JSON."""
        return {
            "rule": self.name, "settings": self.settings, "hands": self.hands, "counts": self.counts.tolist(),
            "sums": self.sums.tolist(), "squares": self.squares.tolist(),
            "recent": [[None if math.isnan(one) else one for one in row.tolist()] for row in self.recent],
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any], source: object = "the state") -> None:
        """Resume from what ``state`` gave.  Raises StrategyError if it is that of another rule, or damaged."""
        check_header(str(source), state, RuleState)
        for name, mine in (("rule", self.name), ("settings", self.settings)):
            if state[name] != mine:
                raise StrategyError(f"{source} is of another choice: its {name} is {state[name]!r}, not {mine!r}")
        rows = [state["counts"], state["sums"], state["squares"], *state["recent"]]
        finite = all(math.isfinite(one) for row in rows for one in row if one is not None)
        fits = all(len(row) == self.members for row in rows) and len(state["recent"]) <= (self.recent.maxlen or 0)
        counted = all(0 <= one <= state["hands"] for one in state["counts"]) and min(state["squares"], default=0) >= 0
        if not (finite and fits and counted):
            raise StrategyError(f"{source} is damaged: its sums are not those of {self.members} members")
        self.hands, self.counts = state["hands"], np.array(state["counts"], np.int64)
        self.sums, self.squares = np.array(state["sums"], np.float64), np.array(state["squares"], np.float64)
        self.recent.clear()
        self.recent.extend(np.array(row, np.float64) for row in state["recent"])

    def _random(self) -> np.random.Generator:
        """The random numbers of the next hand."""
        return np.random.default_rng([self.seed, self.hands])

    def _unknown(self, scores: Float64) -> Float64:
        """Scores with members that were never estimated before all others."""
        return np.where(self.counts == 0, np.inf, scores)


class Fixed(SelectionRule):
    """Always the same member: ``first``."""

    name = "fixed"

    def scores(self) -> Float64:
        """As ``SelectionRule.scores``."""
        return np.asarray(np.arange(self.members) == self.first, dtype=np.float64)


class Greedy(SelectionRule):
    """The greatest mean of the last ``window`` hands; 0 is all of them."""

    name, takes = "greedy", ("window",)

    def __init__(self, members: int, seed: int = 0, first: int = 0, window: int = WINDOW) -> None:
        super().__init__(members, seed, first)
        if not isinstance(window, int) or isinstance(window, bool) or window < 0:
            raise GameError(f"window is a number of hands, 0 for all; got {window!r}")
        self.window = window
        self.recent = deque(maxlen=window)

    def scores(self) -> Float64:
        """As ``SelectionRule.scores``."""
        if not self.window:
            return self._unknown(self.means)
        rows = np.array(self.recent).reshape(-1, self.members)
        known = ~np.isnan(rows)
        count = known.sum(axis=0)
        means = np.divide(np.where(known, rows, 0.0).sum(axis=0), count, out=np.zeros(self.members), where=count > 0)
        return np.where(count == 0, np.inf, means)


class _Scaled(SelectionRule):
    takes = ("scale",)

    def __init__(self, members: int, seed: int = 0, first: int = 0, scale: float | None = None) -> None:
        super().__init__(members, seed, first)
        number = isinstance(scale, int | float) and not isinstance(scale, bool)
        if scale is not None and not (number and math.isfinite(scale) and scale > 0):
            raise GameError(f"scale is the range of what members win in a hand, above 0; got {scale!r}")
        self.scale = None if scale is None else float(scale)


class Ucb1(_Scaled):
    """The greatest upper confidence bound of the mean."""

    name = "ucb1"

    def scores(self) -> Float64:
        """As ``SelectionRule.scores``."""
        scale = self.deviations if self.scale is None else np.full(self.members, self.scale)
        count = np.maximum(self.counts, 1)
        return self._unknown(self.means + scale * np.sqrt(2.0 * math.log(max(self.hands, 1)) / count))


class Thompson(_Scaled):
    """The greatest of random means, normal with the mean and the standard error of each member's estimates."""

    name = "thompson"

    def scores(self) -> Float64:
        """As ``SelectionRule.scores``."""
        return np.asarray(self._drawn(1)[0])

    def shares(self) -> Float64:
        """As ``SelectionRule.shares``: how often each member is the greatest in some draws, of which one counted.

        The draws are exchangeable: given what they are as a set, that one is each of them with the same probability,
        so that the shares are exact, not an approximation of how often Thompson sampling chooses so.
        """
        drawn = self._drawn(DRAWS)
        best = drawn == drawn.max(axis=1, keepdims=True)
        chosen = np.where(best[:, self.first], self.first, best.argmax(axis=1))
        return np.asarray(np.bincount(chosen, minlength=self.members) / DRAWS)

    def _drawn(self, count: int) -> Float64:
        """Some draws of the means; the first is always the same one."""
        scale = self.deviations if self.scale is None else np.full(self.members, self.scale)
        noise = self._random().standard_normal((count, self.members))
        return self._unknown(self.means + noise * scale / np.sqrt(np.maximum(self.counts, 1)))


class ExponentialWeights(_Scaled):
    """Drawn with weights that grow exponentially with the sums of estimates."""

    name = "exponential"

    def shares(self) -> Float64:
        """As ``SelectionRule.shares``."""
        return self.scores()

    def scores(self) -> Float64:
        """The weights as probabilities."""
        scale = float(np.max(self.deviations)) if self.scale is None else self.scale
        if not self.hands or scale <= 0.0:
            return np.full(self.members, 1.0 / self.members)
        rate = math.sqrt(8.0 * math.log(self.members) / (self.hands + 1)) / scale
        weights = np.exp(rate * (self.sums - self.sums.max()))
        return np.asarray(weights / weights.sum())

    def choose(self) -> int:
        """Draw a member."""
        shares = np.cumsum(self.scores())
        return min(int(np.searchsorted(shares, self._random().random() * shares[-1], "right")), self.members - 1)


RULES: Mapping[str, type[SelectionRule]] = {
    rule.name: rule for rule in (Fixed, Greedy, Ucb1, Thompson, ExponentialWeights)
}
"""The rules by name."""


def make_rule(name: str, members: int, seed: int = 0, first: int = 0, /, **settings: Any) -> SelectionRule:
    """A rule by name.

    Raises
    ------
    GameError
        If there is no such rule, or it does not take a setting.

    Examples
    --------
    >>> rule = make_rule("greedy", 2, window=100)
    >>> rule.update([0.0, 1.0])
    >>> rule.choose()
    1
    """
    found = find_name(name, RULES)
    if found is None:
        raise GameError(f"there is no rule {name!r} of selection; {did_you_mean(name, RULES)}")
    for setting in settings:
        if setting not in RULES[found].takes:
            takes = " and ".join(RULES[found].takes) or "no settings"
            raise GameError(f"the rule {found} has no setting {setting!r}; it takes {takes}")
    return RULES[found](members, seed, first, **settings)


def ucb1_bound(gaps: Sequence[float], hands: int) -> float:
    """Theorem 1 of Auer and others 2002: the most that UCB1 loses on average in some hands, with gains in [0, 1].

    ``gaps`` are how much worse than the best the mean of each member is.
    """
    worse = [gap for gap in gaps if gap > 0.0]
    return 8.0 * math.log(hands) * sum(1.0 / gap for gap in worse) + (1.0 + math.pi**2 / 3.0) * sum(worse)


def exponential_bound(members: int, hands: int) -> float:
    """Theorem 2.3 of Cesa-Bianchi and Lugosi 2006: the most that exponential weights lose on average to any member."""
    return 2.0 * math.sqrt(hands / 2.0 * math.log(members)) + math.sqrt(math.log(members) / 8.0)


def _deviation(count: float, total: float, square: float) -> float:
    """The standard deviation of numbers by their sums; 0 of fewer than two."""
    return math.sqrt(max(square - total * total / count, 0.0) / (count - 1.0)) if count > 1 else 0.0
