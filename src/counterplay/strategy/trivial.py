"""Trivial strategies, which do not look at their cards: always-fold, always-call, always-raise, 50/50, uniform.

Johanson 2016, section 2.6 and table 2.1, where 50/50 is called Probe (section 6.3.2: an opponent that leads into every
part of a game).  *always-fold* folds when it faces a bet; *always-raise* calls where it may not raise; *50/50* never
folds, and calls and raises with equal probability.  The source describes limit games.  In no-limit games a raise is the
smallest legal one here, our choice; *uniform* plays every legal action, and every size of a raise, with the same
probability.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.poker.betting import FOLD as FOLDED
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.public.public_tree import PublicTree

Matrix = NDArray[np.float64]

FOLD, CALL, RAISE = range(3)

_KINDS = {"fold": FOLD, "f": FOLD, "call": CALL, "check": CALL, "c": CALL, "k": CALL, "raise": RAISE, "bet": RAISE,
          "r": RAISE, "b": RAISE, "allin": RAISE}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class CardFree:
    """A strategy of betting games that does not look at its cards.

    Attributes
    ----------
    fold, call, rest : float
        Weights of folding, of checking or calling, and of the smallest raise.  Where a raise is not possible its weight
        goes to calling; folding is only done when facing a bet.
    """

    fold: float
    call: float
    rest: float

    def row(self, actions: Sequence[str]) -> Matrix:
        """The probabilities of actions, of which raises are listed smallest first.

        Raises GameError if they are not fold, call and raise.
        """
        kinds = [_kind(action, actions) for action in actions]
        if CALL not in kinds:
            raise GameError(f"trivial agents check or call where they can; the actions are {', '.join(actions)}")
        row = np.zeros(len(actions))
        call = kinds.index(CALL)
        for kind, weight in ((FOLD, self.fold), (CALL, self.call), (RAISE, self.rest)):
            row[kinds.index(kind) if kind in kinds else call] += weight
        return np.asarray(row / row.sum())

    def matrix(self, tree: PublicTree, node: int, deal: int) -> Matrix:
        """The same row for every hand; see ``HandStrategy``."""
        count = tree.hands[tree.kind[node]].count(deal)
        return np.tile(self.row(tree.actions_of(node)), (count, 1))

    def tabular(self, tree: GameTree) -> TabularStrategy:
        """The strategy of a compiled game that plays so in all seats."""
        rows = [self.row(tree.actions_of(infoset)) for infoset in range(tree.num_infosets)]
        return TabularStrategy.from_tree(tree, np.concatenate([np.zeros(0), *rows]), Provenance(self._name()))

    def buckets(self, game: BucketGame) -> BucketStrategy:
        """The strategy of a bucket game that plays so in all seats."""
        weights, start = np.empty(game.num_entries), 0
        for kinds, row in self.bucket_rows(game):
            weights[start : start + kinds * len(row)] = np.tile(row, kinds)
            start += kinds * len(row)
        return BucketStrategy.of_game(game, weights, Provenance(self._name()))

    def bucket_rows(self, game: BucketGame) -> Iterator[tuple[int, Matrix]]:
        """Of each slot of a bucket game: how many buckets it has, and the probabilities that each of them has there."""
        tree = game.tree
        decisions = np.flatnonzero(game.free)
        slots = game.slots_of(decisions)
        facing = tree.action[tree.first_child[decisions]] == FOLDED
        for slot in range(len(game.slot_width)):
            block = np.empty(int(game.slot_width[slot]))
            for fold in (False, True):
                alike = decisions[(slots == slot) & (facing == fold)]
                for count in np.unique(tree.num_children[alike]).tolist():
                    some = alike[tree.num_children[alike] == count]  # with the same actions but for sizes of raises
                    places = game.node_offset[some].astype(np.int64)[:, None] + np.arange(count)
                    block[places] = self.row(tree.actions(int(some[0])))
            yield int(game.slot_buckets[slot]), block

    def _name(self) -> str:
        return next((name for name, strategy in TRIVIAL.items() if strategy == self), repr(self))


@dataclasses.dataclass(frozen=True)
class Uniform(CardFree):
    """Every action with the same probability, in any game."""

    fold: float = 1.0
    call: float = 1.0
    rest: float = 1.0

    def row(self, actions: Sequence[str]) -> Matrix:
        """The same for all actions."""
        return np.full(len(actions), 1.0 / len(actions))


def _kind(action: str, actions: Sequence[str]) -> int:
    kind = _KINDS.get(action.rstrip("0123456789.%x").lower())
    if kind is None:
        raise GameError(f"trivial agents play fold, call and raise; the actions are {', '.join(actions)}")
    return kind


TRIVIAL: Mapping[str, CardFree] = {
    "always-fold": CardFree(1.0, 0.0, 0.0),
    "always-call": CardFree(0.0, 1.0, 0.0),
    "always-raise": CardFree(0.0, 0.0, 1.0),
    "50/50": CardFree(0.0, 0.5, 0.5),
    "uniform": Uniform(),
}
"""The trivial strategies by name; ``strategy.ready_made`` has all names."""
