"""``HandTable``: what a strategy does with each private hand at a public state, and its 13 x 13 grid.

Johanson 2016, section 9.4.  Every hand has its probabilities of the actions, and a weight: how likely the player holds
it there, by both players' earlier actions and the cards that both cannot hold at once.  Frequencies of actions are
means with these weights.  ``evaluation.inspection`` adds the expected value of each hand and its equity.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.poker.cards import CARDS, MAX_RANKS, MAX_SUITS, RANKS, cards_text

Vector = NDArray[np.float64]

NOTHING = 53
"""The second card of a hand of one card."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """One cell of a grid: a class of hands such as ``AKs``, and how many they are.

    ``weight`` is the probability that the player holds one of them, ``frequencies`` are those of the actions, ``value``
    and ``equity`` means over the hands, where they were computed.
    """

    name: str
    hands: int
    weight: float
    frequencies: tuple[float, ...]
    value: float | None
    equity: float | None


@dataclasses.dataclass(frozen=True, eq=False)
class HandTable:
    """A public state, hand by hand.  R hands, A actions.

    Attributes
    ----------
    player : int
        Who acts.
    node, board : str
        The public actions and the board so far.
    actions : tuple of str
        The legal actions.
    hands : (R, 2) uint8 array
        The player's hands; a single card is followed by 53.  Empty where hands are not cards.
    weights : (R,) float64 array
        The probability of each hand; they sum to 1, or are all 0 where the state is never reached.
    probabilities : (R, A) float64 array
        Of the actions.
    values, equities : (R,) float64 arrays or None
        Chips that the hand wins from the start of the tree, and equity; NaN for hands without a possible opponent.
    labels : tuple of str
        The names of hands that are not cards.
    """

    player: int
    node: str
    board: str
    actions: tuple[str, ...]
    hands: NDArray[np.uint8]
    weights: Vector
    probabilities: Vector
    values: Vector | None = None
    equities: Vector | None = None
    labels: tuple[str, ...] = ()

    @property
    def frequencies(self) -> Vector:
        """The frequency of each action at this state."""
        return np.asarray(self.weights @ self.probabilities)

    @property
    def two_cards(self) -> bool:
        """Whether hands are two cards, so that they have a grid."""
        return bool(len(self.hands)) and bool(np.all(self.hands < CARDS))

    def mean(self, numbers: Vector | None) -> float | None:
        """A weighted mean over the hands; None if it was not computed or no hand is here."""
        return None if numbers is None else _mean(numbers, self.weights)

    def grid(self) -> list[list[Cell | None]]:
        """The 13 x 13 grid, aces first: suited hands above the diagonal, offsuit ones below; None: no such hand.

        Raises GameError if hands are not cards.
        """
        if self.labels:
            raise GameError("hands are not cards in this game; there is no grid to draw")
        ranks, suits = self.hands // MAX_SUITS, self.hands % MAX_SUITS
        high, low = ranks.max(axis=1), ranks.min(axis=1)
        same = suits[:, 0] == suits[:, 1]
        rows: list[list[Cell | None]] = []
        for row in range(MAX_RANKS - 1, -1, -1):
            cells = []
            for column in range(MAX_RANKS - 1, -1, -1):
                top, bottom = max(row, column), min(row, column)
                mark = "" if row == column else "s" if row > column else "o"
                chosen = (high == top) & (low == bottom) & (same if mark == "s" else ~same)
                cells.append(self._cell(RANKS[top] + RANKS[bottom] + mark, np.flatnonzero(chosen)))
            rows.append(cells)
        return rows

    def hand_cells(self) -> list[Cell]:
        """One cell for each hand, for games whose hands are not two cards, or to see single hands."""
        names = self.labels or [
            cards_text(sorted((card for card in hand if card < CARDS), reverse=True)) for hand in self.hands
        ]
        cells = [self._cell(name, np.array([number])) for number, name in enumerate(names)]
        return [cell for cell in cells if cell is not None]

    def combos(self) -> dict[str, list[Cell]]:
        """The single hands of each cell of the grid, by the name of the cell, without those that are not held."""
        found: dict[str, list[Cell]] = {}
        for cell in self.hand_cells():
            if cell.weight > 0:
                high, suit, low, other = (*cell.name,)
                mark = "" if high == low else "s" if suit == other else "o"
                found.setdefault(high + low + mark, []).append(cell)
        return found

    def _cell(self, name: str, rows: NDArray[np.int64]) -> Cell | None:
        if not len(rows):
            return None
        weights = self.weights[rows]
        shares = weights if weights.sum() > 0 else np.ones(len(rows))
        mix = shares @ self.probabilities[rows] / shares.sum()
        values = None if self.values is None else _mean(self.values[rows], shares)
        equities = None if self.equities is None else _mean(self.equities[rows], shares)
        return Cell(name, len(rows), float(weights.sum()), tuple(mix.tolist()), values, equities)


def _mean(numbers: Vector, weights: Vector) -> float | None:
    here = ~np.isnan(numbers) & (weights > 0)
    return float(weights[here] @ numbers[here] / weights[here].sum()) if here.any() else None
