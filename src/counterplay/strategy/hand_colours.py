"""Colours of actions in grids of hands, for pictures, terminals and pages alike.

Two palettes:

* ``trade``: what poker players know from their tools.  Bets and raises are red, darker for larger sizes; checks and
  calls green; folds blue.  A cell is split by its actions, and dimmed by how much of it reaches the decision.
* ``thesis``: the colours of Johanson's figure 9.4.  A cell has one colour, mixed from red for folding, blue for
  checking and calling, and green for betting and raising.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterplay.errors import CounterplayError

if TYPE_CHECKING:
    from counterplay.strategy.hand_table import Cell

PALETTES = ("trade", "thesis")
Colour = tuple[int, int, int]
"""Red, green and blue, each from 0 to 255."""

FOLD: Colour = (74, 134, 196)
CALL: Colour = (96, 168, 96)
SMALLEST: Colour = (238, 118, 104)
LARGEST: Colour = (112, 14, 22)
ONE_SIZE: Colour = (206, 58, 52)
FAINTEST = 0.3
"""The strength of the colours of a hand that hardly reaches the decision."""

_SIZE = re.compile(r"[a-z]+([0-9]+(?:\.[0-9]+)?)")


def check_palette(palette: str) -> None:
    """Raises CounterplayError if there is no such palette."""
    if palette not in PALETTES:
        raise CounterplayError(f"a palette is {' or '.join(PALETTES)}; got {palette!r}")


def folds(action: str) -> bool:
    """Whether an action folds."""
    return action.startswith("f")


def calls(action: str) -> bool:
    """Whether an action checks or calls."""
    return action.startswith(("c", "k"))


def action_mix(frequencies: Sequence[float], actions: Sequence[str]) -> tuple[float, float, float]:
    """Frequencies of folding, of betting or raising, and of checking or calling: red, green and blue of ``thesis``."""
    fold = sum(share for share, name in zip(frequencies, actions, strict=True) if folds(name))
    call = sum(share for share, name in zip(frequencies, actions, strict=True) if calls(name))
    return fold, max(0.0, 1.0 - fold - call), call


def action_colours(actions: Sequence[str]) -> list[Colour]:
    """The colour of each action in ``trade``: the smallest bet has the lightest red, all in the darkest."""
    bets = sorted({_size(name) for name in actions if not folds(name) and not calls(name)})
    found = []
    for name in actions:
        if folds(name) or calls(name):
            found.append(FOLD if folds(name) else CALL)
        elif len(bets) == 1:
            found.append(ONE_SIZE)
        else:
            found.append(blend(LARGEST, SMALLEST, bets.index(_size(name)) / (len(bets) - 1)))
    return found


def legend(actions: Sequence[str]) -> list[int]:
    """The order of the actions in a cell, from left to right: the largest bet first, then calls, then folds."""
    return sorted(range(len(actions)), key=lambda number: _order(actions[number]))


def cell_parts(cell: Cell, actions: Sequence[str], palette: str) -> list[tuple[float, Colour]]:
    """The parts of a cell from left to right, each with its share of the width and its colour, without empty ones."""
    if palette == "thesis":
        fold, rest, call = action_mix(cell.frequencies, actions)
        return [(1.0, (_level(fold), _level(rest), _level(call)))]
    colours = action_colours(actions)
    return [(cell.frequencies[number], colours[number]) for number in legend(actions) if cell.frequencies[number] > 0]


def strengths(cells: Sequence[Cell | None], palette: str) -> dict[str, float]:
    """How strong the colours of each cell are: 1 for the class whose hands reach the decision most."""
    reach = {cell.name: cell.weight / cell.hands for cell in cells if cell is not None}
    most = max(reach.values(), default=0.0)
    if palette == "thesis" or most <= 0:
        return dict.fromkeys(reach, 1.0)
    return {name: FAINTEST + (1 - FAINTEST) * weight / most for name, weight in reach.items()}


def blend(colour: Colour, ground: Colour, strength: float) -> Colour:
    """A colour over a ground that shows through."""
    red, green, blue = (
        round(strength * mine + (1 - strength) * under) for mine, under in zip(colour, ground, strict=True)
    )
    return red, green, blue


def ink_on(colour: Colour) -> Colour:
    """White or black, whichever is read more easily on a colour."""
    red, green, blue = colour
    return (255, 255, 255) if 0.299 * red + 0.587 * green + 0.114 * blue < 165 else (0, 0, 0)


def _size(action: str) -> float:
    found = _SIZE.fullmatch(action)
    return float(found.group(1)) if found else float("inf") if action.startswith("a") else 0.0


def _order(action: str) -> tuple[int, float]:
    return (2, 0.0) if folds(action) else (1, 0.0) if calls(action) else (0, -_size(action))


def _level(share: float) -> int:
    return round(40 + 190 * share)
