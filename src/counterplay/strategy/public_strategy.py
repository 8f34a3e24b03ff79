"""``PublicStrategy``: tables of public states x hands, for games whose private information is dealt by chance.

``FunctionStrategy`` is a strategy from a Python function of the visible information; ``fill_table`` makes a table of
anything that gives a matrix for a public state (``HandStrategy``).
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, StrategyError
from counterplay.forms import open_game
from counterplay.runtime.array_checks import check_weights
from counterplay.runtime.header_checks import check_header
from counterplay.storage import Arrays, write_container
from counterplay.strategy.public_lookup import HandStrategy, HandTables, Matrix, PublicIndex, hand_table, normalised
from counterplay.strategy.strategy import Provenance, Row, Strategy
from counterplay.tree.public.public_tree import PublicTree

if TYPE_CHECKING:
    from counterplay.strategy.hand_table import HandTable
    from counterplay.strategy.public_tables import TableConverter
    from counterplay.strategy.tabular import TabularStrategy


@dataclasses.dataclass(frozen=True)
class FunctionStrategy:
    """A strategy from a Python function ``f(board, betting, hand, actions) -> probabilities`` of texts.

    ``hand`` is one real hand of a class; isomorphic hands must be played equally.
    """

    function: Callable[[str, str, str, tuple[str, ...]], Any]

    def matrix(self, tree: PublicTree, node: int, deal: int) -> Matrix:
        """The function's answers for all hands of the deal."""
        hands = tree.hands[tree.kind[node]]
        actions = tree.actions_of(node)
        board = tree.deal_text[deal] if tree.deal_text else str(deal)
        betting = tree.node_text[node] if tree.node_text else str(node)
        names = _hand_names(tree, int(tree.kind[node]), deal)
        rows = np.array([self.function(board, betting, name, actions) for name in names], np.float64)
        if rows.shape != (hands.count(deal), len(actions)):
            raise StrategyError(f"the strategy gives {rows.shape[1:]} numbers for the actions {', '.join(actions)}")
        return rows


def _hand_names(tree: PublicTree, player: int, deal: int) -> list[str]:
    hands = tree.hands[player]
    if not len(hands.card):
        return [str(number) for number in range(hands.count(deal))]
    letters = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    return ["".join(letters[card] for card in row if card < 52) for row in hands.card[hands.slice(deal)]]


def fill_table(tree: PublicTree, player: int, strategy: HandStrategy, kind: Any = np.float64) -> NDArray[Any]:
    """The table of a player who plays a strategy; raises StrategyError if a row is not a distribution."""
    table = np.zeros(tree.num_entries[player], kind)
    for node, deal in tree.states_of(player):
        rows = strategy.matrix(tree, node, deal)
        if not (np.all(rows >= 0) and np.allclose(rows.sum(axis=1), 1.0, atol=1e-6)):
            where = tree.node_text[node] if tree.node_text else str(node)
            raise StrategyError(
                f"probabilities after {where!r} must be at least 0 and sum to 1; got {rows[0].tolist()}"
            )
        table[tree.entries(node, deal)] = rows.T.ravel()
    return table


class PublicHeader(TypedDict):
    """What the header of a file holds."""

    game: str
    fingerprint: str
    provenance: Provenance


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PublicStrategy(Strategy):
    """A strategy for both players of a public tree.

    Attributes
    ----------
    game : str
        The name that opens the game again.
    fingerprint : str
        Of its public tree.
    tables : pair of float arrays
        Weights of all entries; normalised where they are used.
    provenance : Provenance
        Where it came from.
    locked : array of bool
        Whether a node's strategy was given, and the rest solved around it; empty if none was.
    """

    game: str
    fingerprint: str
    tables: tuple[NDArray[Any], NDArray[Any]]
    provenance: Provenance = dataclasses.field(default_factory=lambda: Provenance("by hand"))
    locked: NDArray[np.bool_] = dataclasses.field(default_factory=lambda: np.zeros(0, np.bool_))

    @classmethod
    def of_tree(
        cls,
        tree: PublicTree,
        tables: tuple[NDArray[Any], NDArray[Any]],
        provenance: Provenance | None = None,
        locked: NDArray[np.bool_] | None = None,
    ) -> PublicStrategy:
        """A strategy of an open tree."""
        none = np.zeros(0, np.bool_)
        found = cls(
            tree.name, tree.fingerprint, tables, provenance or Provenance("by hand"), none if locked is None else locked
        )
        found.__dict__["tree"] = tree  # what the cached property would make again
        return found

    @property
    def players(self) -> int:
        """Two."""
        return 2

    @functools.cached_property
    def tree(self) -> PublicTree:
        """The public tree of its game."""
        tree = open_game(self.game, "public")
        self.for_tree(tree)
        return tree

    @functools.cached_property
    def index(self) -> PublicIndex:
        """Finds its public states."""
        return PublicIndex(self.tree)

    @property
    def locked_nodes(self) -> tuple[str, ...]:
        """The betting that leads to each decision whose strategy was given."""
        return self.tree.locked_nodes(self.locked)

    @property
    def num_infosets(self) -> int:
        """Number of public states x hands, where isomorphic hands are one."""
        return self.tree.num_infosets

    def probabilities(self, player: int, infoset: str) -> dict[str, float]:
        """As ``Strategy.probabilities``; cards may have any isomorphic suits."""
        if not len(self.tree.hands[0].card):
            return self.tabular.probabilities(player, infoset)
        try:
            node, deal, hand = self.index.infoset(player, infoset)
        except GameError as error:
            raise StrategyError(f"the strategy of {self.game} has no infoset {infoset!r}: {error}") from None
        actions = self.tree.actions_of(node)
        weights = self.tables[player][self.tree.entries(node, deal)].reshape(len(actions), -1)[:, hand]
        return dict(zip(actions, normalised(weights.astype(np.float64)).tolist(), strict=True))

    def infosets(self) -> Iterator[Row]:
        """As ``Strategy.infosets``: one key for all that differ in the names of suits only."""
        return self._converter.rows(self.tables)

    @functools.cached_property
    def _converter(self) -> TableConverter:
        from counterplay.strategy.public_tables import table_converter

        converter = table_converter(self.game)
        self.for_tree(converter.tree)
        return converter

    @functools.cached_property
    def tabular(self) -> TabularStrategy:
        """The same strategy with a row for each infoset of the game."""
        return self._converter.profile(self.tables, self.provenance)

    def hands(self, node: str = "", board: str | None = None) -> HandTable:
        """As ``Strategy.hands``."""
        return hand_table(self.index, self, node, board)

    def matrix(self, tree: PublicTree, node: int, deal: int) -> Matrix:
        """The probabilities at a public state: hands x actions."""
        return HandTables(self.tables).matrix(tree, node, deal)

    def for_tree(self, tree: PublicTree) -> tuple[NDArray[Any], NDArray[Any]]:
        """The tables, after checking that the tree is that of the game."""
        shapes = [(int(entries),) for entries in tree.num_entries]
        locks = self.locked.shape in ((0,), (len(tree.kind),))
        if self.fingerprint != tree.fingerprint or [table.shape for table in self.tables] != shapes or not locks:
            raise StrategyError(
                f"this strategy was made for {self.game}; it does not fit the public tree of {tree.name}"
            )
        first, second = (np.require(table, requirements="W") for table in self.tables)  # kernels take no read-only ones
        return first, second

    def save(self, path: str | os.PathLike[str]) -> None:
        """As ``Strategy.save``."""
        header = {
            "form": "public",
            "game": self.game,
            "fingerprint": self.fingerprint,
            "provenance": dataclasses.asdict(self.provenance),
        }
        arrays = {"first": self.tables[0], "second": self.tables[1]}
        write_container(path, "profile", header, arrays | ({"locked": self.locked} if self.locked.any() else {}))

    @classmethod
    def from_file(cls, path: Path, header: Mapping[str, Any], arrays: Arrays, verify: bool = True) -> PublicStrategy:
        """The strategy in the header and arrays of a file; ``load_strategy`` calls it."""
        check_header(path, header, PublicHeader)
        try:
            tables = (arrays["first"], arrays["second"])
            for name in ("first", "second"):
                check_weights(name, arrays[name], ("float32", "float64", "int16"), verify)
            if tables[0].dtype != tables[1].dtype:
                raise ValueError("arrays 'first' and 'second' are of different types")
            locked = np.array(arrays.get("locked", np.zeros(0, np.uint8)).view(np.uint8) != 0)  # a byte may be any
            return cls(header["game"], header["fingerprint"], tables, Provenance(**header["provenance"]), locked)
        except (KeyError, TypeError, ValueError) as error:
            raise StrategyError(f"{path} is damaged: {type(error).__name__}: {error}") from None
