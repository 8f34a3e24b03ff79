"""Measurements as text: values, exploitability and their units."""

from __future__ import annotations

from collections.abc import Sequence


def player_values(values: Sequence[float]) -> str:
    """Values of all players, such as ``-0.055556 (player 1), +0.055556 (player 2)``."""
    return ", ".join(f"{value:+.6f} (player {player + 1})" for player, value in enumerate(values))


def exploitability_text(exploitability: float, big_blind: float | None, pot: float | None = None) -> str:
    """Exploitability with its units: chips, and where they apply percent of the pot and mbb/g."""
    text = f"{exploitability:.3g} chips per game"
    if pot is not None:
        text += f" ({100 * exploitability / pot:.3g} % of the pot)"
    if big_blind is not None:
        text += f" ({1000 * exploitability / big_blind:.3g} mbb/g)"
    return text + ", mean over players of what a best response gains"
