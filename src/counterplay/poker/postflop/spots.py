"""The specification of a postflop spot: the fields of a ``Subgame``, as texts or files."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from counterplay.errors import CounterplayError, GameError
from counterplay.poker.postflop.subgame import Subgame
from counterplay.poker.range_files import range_of
from counterplay.runtime.number_text import figure

LISTS = ("add_line", "remove_line", "lock")
"""Fields that can be given several times."""

NEEDED = ("board", "pot", "stack", "oop", "ip")


@dataclasses.dataclass(frozen=True)
class Spot:
    """The specification; None where the default of ``Subgame`` applies.

    Attributes
    ----------
    board, pot, oop, ip, bets, raises, donks, chip, rake_cap
        As in ``Subgame``; a range may also be in a file, ``@FILE``, see ``poker.range_files``.
    stack : str, float or pair of float
        The stack of each player, or those of ``oop`` and ``ip``: ``100,80``.
    allin_threshold : str or float
        A share of the stack: ``67%`` or 0.67.
    rake : str or float
        A share of the pot: ``5%`` or 0.05.
    isomorphism : bool
        Take hands and cards together that differ in suits only.
    add_line, remove_line : tuple of str
        Lines of the betting that are added or removed, as in ``Subgame``; also one text.
    lock : tuple of str
        Locks, ``NODE=STRATEGY`` or ``NODE=FILE``, see ``poker.postflop.locks``; also one text.
    """

    board: str | None = None
    pot: float | None = None
    stack: str | float | tuple[float, float] | None = None
    oop: str | None = None
    ip: str | None = None
    bets: str | None = None
    raises: str | None = None
    donks: str | None = None
    allin_threshold: str | float | None = None
    chip: float | None = None
    rake: str | float | None = None
    rake_cap: float | None = None
    isomorphism: bool = True
    add_line: tuple[str, ...] = ()
    remove_line: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in LISTS:
            given = getattr(self, name) or ()
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))

    @property
    def given(self) -> list[str]:
        """The names of what was given."""
        return [field.name for field in dataclasses.fields(self) if getattr(self, field.name) != field.default]

    def subgame(self) -> Subgame:
        """The subgame.  Raises GameError if something is missing or cannot be read."""
        missing = [name for name in NEEDED if getattr(self, name) is None]
        if missing:
            raise GameError(f"a postflop spot needs {', '.join(missing)}")
        names = (*NEEDED, "bets", "raises", "donks", "chip", "rake_cap", "add_line", "remove_line")
        chosen: dict[str, Any] = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        chosen |= {name: range_of(chosen[name], name) for name in ("oop", "ip")}
        for name in ("bets", "raises", "donks"):
            if not chosen.get(name, "none").strip():
                raise GameError(f"the {name} are empty; say none for no sizes, or leave them out for the usual ones")
        chosen["stack"] = _stacks(chosen["stack"])
        if self.allin_threshold is not None:
            chosen["allin_threshold"] = _share(self.allin_threshold, "all-in threshold", "the stack such as 67%")
        if self.rake is not None:
            chosen["rake"] = _share(self.rake, "rake", "the pot such as 5%")
        found = Subgame(**chosen, isomorphic=self.isomorphism)
        if found.chip > found.effective_stack:
            least, stack = (figure(amount, 12) for amount in (found.chip, found.effective_stack))
            raise GameError(f"bets are multiples of the chip, and one of {least} is more than the stack of {stack}")
        return found


def _stacks(given: str | float | tuple[float, ...]) -> float | tuple[float, ...]:
    """One stack, or two separated by a comma."""
    if not isinstance(given, str):
        return given
    try:
        stacks = tuple(float(part) for part in given.split(","))
    except ValueError:
        stacks = ()
    if len(stacks) not in (1, 2):
        raise GameError(f"the stack is a number of chips, or those of oop and ip such as 100,80; got {given!r}")
    return stacks[0] if len(stacks) == 1 else stacks


def _share(given: str | float, name: str, example: str) -> float:
    text = str(given).strip()
    try:
        return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise GameError(f"the {name} is a share of {example}; got {given!r}") from None


def text_or_file(text: str, parse: Callable[[str], object]) -> str:
    """The text, or that of the file which it names if it cannot be parsed itself."""
    try:
        parse(text)
    except GameError:
        try:
            return Path(text).read_text(encoding="utf-8") if os.path.isfile(text) else text
        except (OSError, ValueError) as error:
            raise CounterplayError(f"cannot read {text}: {error}") from None
    return text
