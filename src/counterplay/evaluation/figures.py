"""Measurements as text: values, exploitability and their units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
