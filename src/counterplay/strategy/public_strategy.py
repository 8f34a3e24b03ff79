"""Strategies on public trees: tables of all hands, or anything that gives a matrix for a public state.

``PublicStrategy`` is the one interface: at a public state (node, deal), the probabilities of a player's hands and
actions.  A table, a rule that does not look at cards, and a Python function of what is seen all fit it.
``PublicProfile`` is a pair of tables that knows its game and where it came from; its files are profiles like others.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.storage import read_container, write_container
from counterplay.strategy.tabular import Provenance
from counterplay.tree.public.public_tree import PublicTree

__all__ = [
    "CARD_FREE", "CardFree", "FunctionStrategy", "PublicProfile", "PublicStrategy", "card_free", "fill_table",
    "is_public_profile", "normalised",
]  # fmt: skip

Matrix = NDArray[np.float64]


class PublicStrategy(Protocol):
    """How a player plays, one public state at a time."""

    def probabilities(self, tree: PublicTree, node: int, deal: int) -> Matrix:
        """The probabilities at a public state: hands (the classes of the deal) x actions."""


@dataclasses.dataclass(frozen=True)
class CardFree:
    """A strategy that does not look at its cards (Johanson 2016, section 2.6: trivial agents).

    Attributes
    ----------
    fold, call, rest : float
        Weights of folding, of checking or calling, and of all raises together.  What is not possible at a node is
        left out; where a raise is not possible its weight goes to calling; folding is only done when facing a bet.
    """

    fold: float
    call: float
    rest: float

    def row(self, actions: tuple[str, ...]) -> Matrix:
        """The probabilities of actions that are labelled as in the competition's protocol."""
        folds = np.array([label.startswith("f") for label in actions])
        calls = np.array([label.startswith(("c", "k")) for label in actions])
        raises = ~(folds | calls)
        weights = np.where(folds, self.fold, 0.0) + np.where(calls, self.call, 0.0)
        weights = weights + np.where(raises, self.rest / max(raises.sum(), 1), 0.0)
        if not raises.any():
            weights = weights + np.where(calls, self.rest, 0.0)
        if not folds.any():
            weights = weights + np.where(calls, self.fold, 0.0)
        return np.asarray(weights / weights.sum())

    def probabilities(self, tree: PublicTree, node: int, deal: int) -> Matrix:
        """The same row for every hand."""
        count = tree.hands[tree.kind[node]].count(deal)
        return np.tile(self.row(tree.actions_of(node)), (count, 1))


CARD_FREE: Mapping[str, CardFree] = {
    "always-fold": CardFree(1.0, 0.0, 0.0),
    "always-call": CardFree(0.0, 1.0, 0.0),
    "always-raise": CardFree(0.0, 0.0, 1.0),
    "50/50": CardFree(0.0, 0.5, 0.5),
}
"""The trivial agents of Johanson 2016, Table 2.1 (50/50 is called Probe there)."""


def card_free(name: str) -> CardFree:
    """A trivial agent by name."""
    if name not in CARD_FREE:
        raise StrategyError(f"there is no strategy {name!r}; there are {', '.join(CARD_FREE)}")
    return CARD_FREE[name]


@dataclasses.dataclass(frozen=True)
class FunctionStrategy:
    """A strategy from a Python function ``f(board, betting, hand, actions) -> probabilities`` of texts.

    ``hand`` is one real hand of a class; hands that differ in the names of suits only must be played alike.
    """

    function: Callable[[str, str, str, tuple[str, ...]], Any]

    def probabilities(self, tree: PublicTree, node: int, deal: int) -> Matrix:
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


def fill_table(tree: PublicTree, player: int, strategy: PublicStrategy, kind: Any = np.float64) -> NDArray[Any]:
    """The table of a player who plays a strategy.

    Raises
    ------
    StrategyError
        If a row is not a distribution.
    """
    table = np.zeros(tree.num_entries[player], kind)
    for node, deal in tree.states_of(player):
        rows = strategy.probabilities(tree, node, deal)
        if not (np.all(rows >= 0) and np.allclose(rows.sum(axis=1), 1.0, atol=1e-6)):
            where = tree.node_text[node] if tree.node_text else str(node)
            raise StrategyError(
                f"probabilities after {where!r} must be at least 0 and sum to 1; got {rows[0].tolist()}"
            )
        table[tree.entries(node, deal)] = rows.T.ravel()
    return table


@dataclasses.dataclass(frozen=True, eq=False)
class PublicProfile:
    """A strategy for both players of a public tree.

    Attributes
    ----------
    game : str
        The name that makes the game again.
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

    def probabilities(self, tree: PublicTree, node: int, deal: int) -> Matrix:
        """The probabilities at a public state: hands x actions."""
        player = int(tree.kind[node])
        rows = self.tables[player][tree.entries(node, deal)].astype(np.float64)
        return normalised(rows.reshape(int(tree.num_children[node]), -1)).T

    def for_tree(self, tree: PublicTree) -> tuple[NDArray[Any], NDArray[Any]]:
        """The tables, after checking that the tree is that of the game."""
        if self.fingerprint != tree.fingerprint:
            raise StrategyError(
                f"this profile was made for {self.game}; it does not fit the public tree of {tree.name}"
            )
        first, second = (np.require(table, requirements="W") for table in self.tables)  # kernels take no read-only ones
        return first, second

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the profile to a file, atomically."""
        header = {
            "form": "public",
            "game": self.game,
            "fingerprint": self.fingerprint,
            "provenance": dataclasses.asdict(self.provenance),
        }
        arrays = {"first": self.tables[0], "second": self.tables[1]}
        write_container(path, "profile", header, arrays | ({"locked": self.locked} if self.locked.any() else {}))

    @classmethod
    def load(cls, path: str | os.PathLike[str], verify: bool = True) -> PublicProfile:
        """Open a profile file by memory map.

        Raises
        ------
        StrategyError
            If the file is damaged, foreign or too new; the message says which.
        """
        header, arrays = read_container(path, "profile", verify)
        if header.get("form") != "public":
            raise StrategyError(f"{path} is a profile of a game of histories, not of a public tree")
        try:
            tables = (arrays["first"], arrays["second"])
            locked = np.array(arrays.get("locked", []), np.bool_)
            return cls(header["game"], header["fingerprint"], tables, Provenance(**header["provenance"]), locked)
        except (KeyError, TypeError) as error:
            raise StrategyError(f"{path} is damaged: {type(error).__name__}: {error}") from None


def is_public_profile(path: str | os.PathLike[str]) -> bool:
    """Whether a profile file holds tables of a public tree."""
    header, _ = read_container(path, "profile", verify=False)
    return isinstance(header, dict) and header.get("form") == "public"


def normalised(weights: Matrix) -> Matrix:
    """Weights of actions x hands as probabilities; uniform where all are 0."""
    positive = np.maximum(weights, 0.0)
    total = positive.sum(axis=0)
    return np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1.0 / len(weights))
