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

NEEDED = ("board", "pot", "stack", "oop", "ip")


@dataclasses.dataclass(frozen=True)
class Spot:
    """The specification; None where the default of ``Subgame`` applies.

    Attributes
    ----------
    board, pot, stack, oop, ip, bets, raises, donks, chip
        As in ``Subgame``; a range may also be in a file, ``@FILE``, see ``poker.range_files``.
    allin_threshold : str or float
        A share of the stack: ``67%`` or 0.67.
    isomorphism : bool
        Take hands and cards together that differ in suits only.
    lock : tuple of str
        Locks, ``NODE=STRATEGY`` or ``NODE=FILE``, see ``poker.postflop.locks``.
    """

    board: str | None = None
    pot: float | None = None
    stack: float | None = None
    oop: str | None = None
    ip: str | None = None
    bets: str | None = None
    raises: str | None = None
    donks: str | None = None
    allin_threshold: str | float | None = None
    chip: float | None = None
    isomorphism: bool = True
    lock: tuple[str, ...] = ()

    @property
    def given(self) -> list[str]:
        """The names of what was given."""
        return [field.name for field in dataclasses.fields(self) if getattr(self, field.name) != field.default]

    def subgame(self) -> Subgame:
        """The subgame.  Raises GameError if something is missing or cannot be read."""
        missing = [name for name in NEEDED if getattr(self, name) is None]
        if missing:
            raise GameError(f"a postflop spot needs {', '.join(missing)}")
        names = (*NEEDED, "bets", "raises", "donks", "chip")
        chosen: dict[str, Any] = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        chosen |= {name: range_of(chosen[name], name) for name in ("oop", "ip")}
        if self.allin_threshold is not None:
            chosen["allin_threshold"] = _share(self.allin_threshold)
        return Subgame(**chosen, isomorphic=self.isomorphism)


def _share(given: str | float) -> float:
    text = str(given).strip()
    try:
        return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise GameError(f"the all-in threshold is a share of the stack such as 67%; got {given!r}") from None


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
