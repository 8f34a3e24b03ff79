"""Normal-form games as extensive-form games (Gibson 2014, section 2.1): the players choose in turn, unobserved.

``matrix(rows="1,-1;-1,1")`` is a zero-sum game by the row player's payoffs; ``columns=`` gives the column player's
own payoffs.  From Python, ``TensorGame`` takes payoff arrays for any number of players.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterplay.errors import GameError
from counterplay.game.game import TERMINAL, Game
from counterplay.game.registry import parameter, register
from counterplay.games.toy import register_toy


class ChoiceState:
    """The choices made so far, one for each player who has chosen."""

    __slots__ = ("choices", "game", "player")

    def __init__(self, game: TensorGame, choices: tuple[int, ...]) -> None:
        self.game = game
        self.choices = choices
        self.player = len(choices) if len(choices) < game.players else TERMINAL

    def actions(self) -> tuple[str, ...]:
        return self.game.action_names[self.player]

    def child(self, action: str) -> ChoiceState:
        return ChoiceState(self.game, (*self.choices, self.game.action_numbers[self.player][action]))

    def infoset(self) -> str:
        return f"player {self.player + 1}"

    def utilities(self) -> list[float]:
        return [float(payoff[self.choices]) for payoff in self.game.payoffs]


class TensorGame(Game):
    """A normal-form game from one payoff array for each player, with one axis for each player's choice.

    ``payoffs[i][a_1, ..., a_n]`` is the utility of player i; choices are named 1, 2, 3, ... by default.
    """

    def __init__(
        self, payoffs: Sequence[ArrayLike], action_names: Sequence[Sequence[str]] | None = None,
        name: str = "normal form",
    ) -> None:  # fmt: skip
        tensors: list[NDArray[np.float64]] = [np.asarray(payoff, dtype=float) for payoff in payoffs]
        shapes = {tensor.shape for tensor in tensors}
        if len(shapes) != 1 or len(next(iter(shapes))) != len(tensors) or 0 in next(iter(shapes)):
            raise GameError(
                f"{len(tensors)} players need {len(tensors)} payoff arrays of one shape with an axis for each player; "
                f"got shapes {[tensor.shape for tensor in tensors]}"
            )
        self.payoffs = tensors
        self.players = len(tensors)
        shape = tensors[0].shape
        names = action_names or [[str(choice + 1) for choice in range(size)] for size in shape]
        if [len(set(row)) for row in names] != list(shape):
            raise GameError(f"action names {names} do not fit payoff arrays of shape {shape}")
        self.action_names = [tuple(row) for row in names]
        self.action_numbers = [{name: number for number, name in enumerate(row)} for row in names]
        self.name = name

    def root(self) -> Any:
        """Before anybody has chosen."""
        return ChoiceState(self, ())

    def spec(self) -> str:
        """The name given to this game."""
        return self.name


@register("matrix")
class Matrix(Game):
    """A two-player normal-form game from its payoff matrix, rows separated by ; and entries by , or spaces."""

    rows: str = parameter("1,-1;-1,1", "payoffs of the row player")
    columns: str = parameter("", "payoffs of the column player; empty for a zero-sum game")

    def __post_init__(self) -> None:
        self.tensor()

    def root(self) -> Any:
        """Before anybody has chosen."""
        return self.tensor().root()

    def tensor(self) -> TensorGame:
        """The payoffs as a ``TensorGame``."""
        first = _read_matrix("rows", self.rows)
        second = _read_matrix("columns", self.columns) if self.columns.strip() else -first
        if first.shape != second.shape:
            raise GameError(f"matrix: rows has shape {first.shape} but columns has shape {second.shape}")
        return TensorGame([first, second])


@register_toy("matching_pennies")
def matching_pennies() -> Any:
    """Matching pennies: the first player wins when the two coins match."""
    payoff = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return TensorGame([payoff, -payoff], [("heads", "tails")] * 2).root()


@register_toy("rock_paper_scissors")
def rock_paper_scissors() -> Any:
    """Rock-paper-scissors."""
    payoff = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    return TensorGame([payoff, -payoff], [("rock", "paper", "scissors")] * 2).root()


def _read_matrix(name: str, text: str) -> NDArray[np.float64]:
    try:
        rows = [[float(entry) for entry in row.replace(",", " ").split()] for row in text.split(";") if row.strip()]
        if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
            raise ValueError
        return np.array(rows)
    except ValueError:
        raise GameError(f'matrix: {name} must be rows of numbers like "1,-1;-1,1"; got {text!r}') from None
