"""Measurements as text and from text: values, exploitability and their units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterplay.errors import SolverError
from counterplay.runtime.number_text import chips, figure

if TYPE_CHECKING:
    from counterplay.evaluation.measurement import Measurement


def player_values(values: Sequence[float]) -> str:
    """Values of all players, such as ``-0.055556 (player 1), +0.055556 (player 2)``."""
    return ", ".join(f"{round(value, 6) + 0.0:+.6f} (player {player + 1})" for player, value in enumerate(values))


def value_rows(found: Measurement, name: str, pot: float | None = None) -> list[tuple[str, str]]:
    """The rows of values and best responses; in a postflop spot with this pot they are shares of it."""
    if pot is None:
        won, best = player_values(found.value), player_values(found.best_response)
        return [(name, won + " chips"), ("best responses", best + " chips")]
    taken = pot - sum(found.value)
    rake = f", {taken:.4f} to the house" if abs(taken) > 1e-9 * pot else ""
    return [
        ("expected chips", f"{_shares(found.value)} of the pot of {figure(pot, 12)}{rake}"),
        ("best responses", f"{_shares(found.best_response)} of it"),
    ]


def _shares(values: Sequence[float]) -> str:
    return "oop {:.4f}, ip {:.4f}".format(*values)


def exploitability_text(exploitability: float, big_blind: float | None, pot: float | None = None) -> str:
    """Exploitability with its units: chips, and where they apply percent of the pot and mbb/g."""
    text = f"{chips(exploitability)} chips per game"
    if pot is not None:
        text += f" ({figure(100 * exploitability / pot, 3)} % of the pot)"
    if big_blind is not None:
        text += f" ({figure(1000 * exploitability / big_blind)} mbb/g)"
    return text + ", mean over players of what a best response gains"


def read_exploitability(text: str, game: str, big_blind: float | None, pot: float | None = None) -> float:
    """An exploitability in chips from text such as ``1e-4``, ``0.5mbb`` or ``0.3%`` of the pot."""
    number, unit = text.strip().lower(), 1.0
    if number.endswith("mbb") and pot is None:
        if big_blind is None:
            raise SolverError(f"{game} has no big blind; give until in the game's chips instead of {text!r}")
        number, unit = number.removesuffix("mbb"), big_blind / 1000
    elif number.endswith("%") and pot is not None:
        number, unit = number.removesuffix("%"), pot / 100
    try:
        found = float(number)
    except ValueError:
        kinds = "1e-4 or 0.5mbb" if pot is None else "0.3% of the pot, or chips"
        raise SolverError(f"until is an exploitability such as {kinds}; got {text!r}") from None
    if not 0 < found < math.inf:
        raise SolverError(f"until must be a positive exploitability; got {text!r}")
    return found * unit


def forgetful_note(players: Sequence[int]) -> str:
    """What reports say where players forget; players are counted from 0."""
    names = " and ".join(str(player + 1) for player in players)
    who = f"players {names} forget" if len(players) > 1 else f"player {names} forgets"
    return f"{who}: best responses are those of a player who remembers"
