"""``Measurement``: the value of a strategy, and what best responses to it win.

Exploitability is the mean over players of what a best response gains, NashConv the sum (Johanson 2016, equation 2.3;
Gibson 2014, section 2.1.2).  A best response on the history tree is computed at the decision points of the sequence
form; for a player with imperfect recall that is the best response in the coarsest perfect-recall refinement, an upper
bound.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from counterplay.runtime.data_frames import Tabulated
from counterplay.strategy.strategy import Provenance
from counterplay.tree.history.game_tree import GameTree

if TYPE_CHECKING:
    from counterplay.evaluation.board_bounds import ExploitabilityBounds
    from counterplay.evaluation.first_deal_sample import FirstDealEstimate
    from counterplay.kernels.history.passes import FormArrays


@dataclasses.dataclass(frozen=True)
class Measurement(Tabulated):
    """The measurement of a strategy, in the game's chips, as a table by player.  Unknown numbers are NaN.

    Attributes
    ----------
    value, best_response : tuple of float
        For each player: what the strategy wins, and what a best response to the others wins.
    game : str
        Where it was measured.
    method : str
        How: one of ``evaluation.METHODS``.
    big_blind, pot : float or None
        Units of poker; ``pot`` is that of a subgame.
    boards : int or None
        Inside a bucket game: boards counted.
    exact : bool
        Whether these were all boards; otherwise the numbers are estimates, too high rather than too low.
    estimate : FirstDealEstimate or None
        Where only a part of the first deals was walked: the numbers are estimates, with this interval.
    valued : bool
        Whether the value was computed; otherwise it is the middle of what both players concede, which does not change
        the exploitability.
    bounds : ExploitabilityBounds or None
        Of the exploitability, from sampled boards.
    abstract : Measurement or None
        The same strategy inside the abstract game that it was made in.
    locked : tuple of str
        Decisions that best responses do not change.
    unlocked : Measurement or None
        The same without this restriction.
    provenance : Provenance
        Where the strategy came from.
    facts : mapping
        Sizes and other facts of the game, as JSON has them.
    notes : tuple of str
        What could not be measured, and why.
    """

    value: tuple[float, ...]
    best_response: tuple[float, ...]
    game: str = field(default="", compare=False, repr=False)
    method: str = field(default="", compare=False, repr=False)
    big_blind: float | None = field(default=None, compare=False, repr=False)
    pot: float | None = field(default=None, compare=False, repr=False)
    boards: int | None = field(default=None, compare=False, repr=False)
    exact: bool = field(default=True, compare=False, repr=False)
    estimate: FirstDealEstimate | None = field(default=None, compare=False, repr=False)
    valued: bool = field(default=True, compare=False, repr=False)
    bounds: ExploitabilityBounds | None = field(default=None, compare=False, repr=False)
    abstract: Measurement | None = field(default=None, compare=False, repr=False)
    locked: tuple[str, ...] = field(default=(), compare=False, repr=False)
    unlocked: Measurement | None = field(default=None, compare=False, repr=False)
    provenance: Provenance = field(default=Provenance("unknown"), compare=False, repr=False)
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def unknown(cls, players: int) -> Measurement:
        """Nothing is known."""
        return cls((math.nan,) * players, (math.nan,) * players)

    @property
    def gains(self) -> tuple[float, ...]:
        """What a best response gains each player."""
        return tuple(best - value for best, value in zip(self.best_response, self.value, strict=True))

    @property
    def nash_conv(self) -> float:
        """Sum over players of what a best response gains."""
        return math.fsum(self.gains)

    @property
    def exploitability(self) -> float:
        """Mean over players of what a best response gains."""
        return self.nash_conv / len(self.value)

    @property
    def exploitability_mbb(self) -> float:
        """Exploitability in thousandths of a big blind; NaN in a game without one."""
        return math.nan if self.big_blind is None else 1000 * self.exploitability / self.big_blind

    @property
    def epsilon(self) -> float:
        """The largest gain of any player: the profile is an ε-Nash equilibrium for this ε."""
        return max(self.gains)

    @property
    def measured(self) -> bool:
        """Whether the numbers are known."""
        return not math.isnan(self.nash_conv)

    def numbers(self) -> dict[str, Any]:
        """The numbers by their keys in JSON; None for unknown ones."""
        found: dict[str, Any] = {
            "value": list(self.value), "best_response": list(self.best_response), "nash_conv": self.nash_conv,
            "exploitability": self.exploitability, "epsilon": self.epsilon,
        }  # fmt: skip
        if self.big_blind is not None:
            found["exploitability_mbb"] = self.exploitability_mbb
            found["best_response_mbb"] = [1000 * value / self.big_blind for value in self.best_response]
        if not self.valued:
            found |= {"value": None, "epsilon": None}
        return found if self.measured else dict.fromkeys(found)

    def inside(self) -> dict[str, Any]:
        """The part of JSON about an abstract game."""
        sampled = {} if self.boards is None else {"boards": self.boards, "exact": self.exact}
        recall = {"recall": self.facts["recall"]} if "recall" in self.facts else {}
        return {"game": self.game, **self.numbers(), **recall, **sampled}

    def _columns(self) -> tuple[str, ...]:
        return ("player", "value", "best_response", "gain")

    def _lines(self) -> Iterator[tuple[float, ...]]:
        """Players count from 1."""
        for player, (value, best) in enumerate(zip(self.value, self.best_response, strict=True), 1):
            yield player, value, best, best - value

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        origin = self.provenance
        found = {
            "game": self.game, "method": self.method, "algorithm": origin.algorithm, "iterations": origin.iterations,
            "seed": origin.seed, **self.numbers(), **self.facts,
        }  # fmt: skip
        found["provenance"] = {
            "settings": dict(origin.settings), "seconds": origin.seconds, "version": origin.version,
        }  # fmt: skip
        if self.boards is not None:
            found |= {"boards": self.boards, "exact": self.exact}
        if self.estimate is not None:
            found |= self.estimate.to_dict(self.big_blind or 1.0)
        if self.abstract is not None or "abstraction_information_sets" in self.facts:
            found["abstract"] = None if self.abstract is None else self.abstract.inside()
        if self.unlocked is not None:
            found |= {"locked": list(self.locked), "unlocked": self.unlocked.numbers()}
        if self.bounds is not None:
            found |= self.bounds.to_dict(self.big_blind or 1.0)
        return found


def measure_strategy(tree: GameTree, form: FormArrays, strategy: NDArray[np.float64], **known: Any) -> Measurement:
    """Measure a profile given by the probabilities of its entries; ``known`` are other fields of the measurement."""
    from counterplay.kernels.history.passes import measure  # reading a profile must not cost the import of numba

    found = np.empty((2, tree.players))
    measure(form, np.ascontiguousarray(strategy, dtype=np.float64), found)
    value, best = found.tolist()
    return Measurement(tuple(value), tuple(best), **known)
