"""``Restriction``: an opponent of whom a model is trusted to some degree.

Johanson 2016, chapter 6.  A response to a model is an equilibrium of a game in which the opponent is bound to the
model, the strategy ``fix``, to the degree of a confidence:

* restricted Nash response (section 6.1): a coin for each game.  With probability p the opponent plays ``fix`` until the
  game is over, and is free otherwise.
* data biased response (section 6.5): a coin for each decision.  In an information set with confidence c the opponent
  plays c ``fix`` + (1 - c) ``free``, so that c ``fix`` is the least probability of each action.
"""

from __future__ import annotations

import dataclasses
import numbers
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.sequence_form import spans

Float64 = NDArray[np.float64]

NEAR = 1e-6
"""How far the probabilities of a model may be from a sum of 1; they are scaled to it."""


ROUNDING = 1e-13
"""Up to this, they are not scaled."""


@dataclasses.dataclass(frozen=True, eq=False)
class Restriction:
    """To what degree a player follows a fixed strategy.

    Attributes
    ----------
    player : int
        Who is restricted.
    strategy : (E,) float64
        The fixed strategy, laid out as the tables of the game's form; only this player's entries matter.
    confidence : float or (E,) float64
        A number: the probability of the coin that is tossed once for each game (restricted Nash).  An array, equal over
        the actions of an information set: the probability of the coin of each decision (data biased).

    Raises
    ------
    SolverError
        If these are not an integer, probabilities, and a number or numbers from 0 to 1.
    """

    player: int
    strategy: Float64
    confidence: float | Float64

    def __post_init__(self) -> None:
        if not isinstance(self.player, numbers.Integral) or isinstance(self.player, bool) or self.player < 0:
            raise SolverError(f"a restricted player is an integer, at least 0; got {self.player!r}")
        strategy = _numbers("a fixed strategy", self.strategy)
        if strategy.ndim != 1:
            raise SolverError(f"a fixed strategy has a number for each entry; got an array of shape {strategy.shape}")
        confidence = _numbers("a confidence", self.confidence)
        if confidence.shape not in ((), strategy.shape):
            raise SolverError(
                f"a confidence is one number, or one for each of {len(strategy)} entries; got {confidence.shape}"
            )
        wrong = ~((confidence >= 0.0) & (confidence <= 1.0))  # NaN is wrong
        if wrong.any():
            raise SolverError(f"a confidence lies in [0, 1]; got {confidence[wrong].flat[0]:g}")
        object.__setattr__(self, "strategy", strategy)
        object.__setattr__(self, "confidence", confidence if confidence.ndim else float(confidence))

    @property
    def kind(self) -> Literal["rnr", "dbr"]:
        """Restricted Nash, with a coin for each game, or data biased, with one for each decision."""
        return "rnr" if isinstance(self.confidence, float) else "dbr"

    @property
    def least(self) -> Float64:
        """(E,) the least probability of each entry in a data biased response."""
        return np.asarray(self.confidence * self.strategy, np.float64)

    def played(self, free: Float64, part: slice = slice(None)) -> Float64:
        """What is played where ``free`` is chosen, in a part of the tables: the same with a coin for each game."""
        if isinstance(self.confidence, float):
            return free
        trusted = self.confidence[part]
        return np.asarray(trusted * self.strategy[part] + (1.0 - trusted) * free)

    def on(self, form: GameTree | BucketGame) -> Self:
        """The restriction on a form of a game, checked, as kernels take it: rows sum to 1, others' entries are 0.

        Raises
        ------
        SolverError
            If the arrays do not fit the form, a row is no distribution, or a confidence differs within a row.
        """
        if self.player >= form.players:
            raise SolverError(f"{form.name} has players 0 .. {form.players - 1}; got the restricted {self.player}")
        if self.strategy.shape != (form.num_entries,):
            raise SolverError(
                f"{form.name} has {form.num_entries} entries; the fixed strategy has {self.strategy.shape}"
            )
        start, size = player_rows(form, self.player)
        entry = spans(start, size)
        first = np.cumsum(size) - size  # where rows begin in ``entry``
        row = self.strategy[entry]
        total = np.add.reduceat(row, first) if len(first) else np.zeros(0)
        wrong = ~(np.abs(total - 1.0) <= NEAR) | ~(np.minimum.reduceat(row, first) >= 0.0 if len(first) else total > 0)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            found = self.strategy[start[at] : start[at] + size[at]].tolist()
            raise SolverError(f"the fixed strategy must be at least 0 and sum to 1 in each row; got {found}")
        strategy = np.zeros(form.num_entries)
        total[np.abs(total - 1.0) <= ROUNDING] = 1.0  # what was scaled before keeps its bits
        strategy[entry] = row / np.repeat(total, size)
        if isinstance(self.confidence, float):
            return dataclasses.replace(self, strategy=strategy)
        trusted = self.confidence[entry]
        if len(first) and np.any(trusted != np.repeat(trusted[first], size)):
            raise SolverError("a confidence must be the same for all actions of an information set")
        confidence = np.zeros(form.num_entries)
        confidence[entry] = trusted
        return dataclasses.replace(self, strategy=strategy, confidence=confidence)


def player_rows(form: GameTree | BucketGame, player: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first entry and the number of actions of each information set of a player, in the order of the tables."""
    if isinstance(form, GameTree):
        low, high = form.player_infosets[player : player + 2]
        offset = form.infoset_offset[low : high + 1]
        return offset[:-1], np.diff(offset)
    if not isinstance(form, BucketGame):
        raise SolverError(f"a restriction is for a history tree or a bucket game; got {type(form).__name__}")
    starts, sizes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    decisions = np.flatnonzero(form.free)
    slots = form.slots_of(decisions)
    for slot in range(player, len(form.slot_start), form.players):
        offset = np.sort(form.node_offset[decisions[slots == slot]]).astype(np.int64)
        width, kinds = int(form.slot_width[slot]), int(form.slot_buckets[slot])
        blocks = form.slot_start[slot] + np.arange(kinds) * width
        starts.append((blocks[:, None] + offset).ravel())
        sizes.append(np.tile(np.diff(np.append(offset, width)), kinds))
    return np.concatenate(starts), np.concatenate(sizes)


def _numbers(what: str, given: Any) -> Float64:
    try:
        return np.ascontiguousarray(given, np.float64) if np.ndim(given) else np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise SolverError(f"{what} is made of numbers; got {type(given).__name__}") from None
