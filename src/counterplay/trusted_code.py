"""Which code a file may start: none that the user did not name.

Strategies, checkpoints and tournament folders name their game, which may be a Python file (``./my_game.py:MyGame``),
and the programs that play (``program:./agent.sh``).  Opening such a file would run what its author chose.  So a stored
name is only accepted if the user named the same code before: on the command line, by opening the game in Python, or
with ``trust``.  The check is made where a file is read, before anything else sees the name.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from counterplay.errors import StrategyError

PROGRAM = "program:"
"""What the name of a program begins with."""

_EVERYTHING = "*"
_trusted: set[str] = set()


def trust(name: str | None = None) -> None:
    """Accept files that name a game in Python or a program: this one, or any.

    Parameters
    ----------
    name : str, optional
        ``./my_game.py``, ``./my_game.py:MyGame``, or ``program:COMMAND``; None trusts all files from now on.
    """
    _trusted.update({_EVERYTHING} if name in (None, _EVERYTHING) else _code_in(name))


def trusted_names() -> tuple[str, ...]:
    """What is trusted now, for ``trust`` in another process."""
    return tuple(_trusted)


@contextlib.contextmanager
def trusting(names: Iterable[str]) -> Iterator[None]:
    """Trust the code that some words name, until the block is left; so for the words of a command line."""
    before = set(_trusted)
    for name in names:
        trust(name)
    try:
        yield
    finally:
        _trusted.clear()
        _trusted.update(before)


def check_stored(name: str, source: object) -> None:
    """Refuse a name that a file gives if it starts code that the user did not name.

    Raises
    ------
    StrategyError
        It says how to trust the code.
    """
    if _EVERYTHING in _trusted or _code_in(name) <= _trusted:
        return
    if PROGRAM in name:
        how = "give all entries again, or add --trust (in Python: counterplay.trust()) to start it"
        raise StrategyError(f"{source} would start the program {name.partition(PROGRAM)[2]!r}; {how}")
    raise StrategyError(
        f"{source} is about the game {name!r}, which is Python code that opening it would run; if you trust that file, "
        f"name it with --game, or add --trust (in Python: open the game first, or call counterplay.trust())"
    )


def _code_in(name: str) -> set[str]:
    """The programs and Python files of a name; quoting is undone at every depth, so that none is overlooked."""
    if PROGRAM in name:
        return {PROGRAM + name.partition(PROGRAM)[2]}
    found: set[str] = set()
    while True:
        found.update(_path(part) for part in re.split(r'[(),="]', name) if ".py" in part)
        plain = re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL)
        if plain == name:
            return found
        name = plain


def _path(part: str) -> str:
    """The file of ``path.py:Class``, as an absolute path."""
    text = part.strip()
    before, _, _ = text.rpartition(":")
    return str(Path(before if before.endswith(".py") else text).resolve())
