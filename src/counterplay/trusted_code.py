"""Which code a file may start: none that the user did not name.

Strategies, checkpoints and tournament folders name their game, which may be a Python file (``./my_game.py:MyGame``),
and the programs that play (``program:./agent.sh``).  Opening such a file would run what its author chose.  So a stored
name is only accepted if the user named the same code before: on the command line, by opening the game in Python, or
with ``trust``.  The check is made where a file is read, before anything else sees the name.
"""

from __future__ import annotations

import contextlib
import os
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
    if name is None:
        _trusted.add(_EVERYTHING)
    elif PROGRAM in name:
        _trusted.add(PROGRAM + name.partition(PROGRAM)[2])
    elif ".py" in name:
        _trusted.add(name.strip())
        _trusted.add(_path(name) or name.strip())


def trusted_names() -> tuple[str, ...]:
    """What is trusted now, for ``trust_names`` in another process."""
    return tuple(_trusted)


def trust_names(names: Iterable[str]) -> None:
    """Trust what another process trusts."""
    _trusted.update(names)


@contextlib.contextmanager
def trusting(words: Iterable[str]) -> Iterator[None]:
    """Trust the code that the words of a command line name, until the block is left."""
    before = set(_trusted)
    for word in words:
        trust(word.partition("=")[2] if word.startswith("--") and "=" in word else word)
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
    if _EVERYTHING in _trusted:
        return
    if PROGRAM in name:
        command = name.partition(PROGRAM)[2]
        if PROGRAM + command not in _trusted:
            how = "give all entries again, or add --trust (in Python: counterplay.trust()) to start it"
            raise StrategyError(f"{source} would start the program {command!r}; {how}")
    elif _has_code(name) and not _known(name):
        raise StrategyError(
            f"{source} is about the game {name!r}, which is Python code that opening it would run; if you trust that "
            f"file, name it with --game, or add --trust (in Python: open the game first, or call counterplay.trust())"
        )


def _has_code(name: str) -> bool:
    """Whether a name mentions Python code at any depth of quoting."""
    while ".py" not in name:
        plain = re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL)
        if plain == name:
            return False
        name = plain
    return True


def _known(name: str) -> bool:
    """Whether the user named this, or the same file with other parameters, or there is no such file to run.

    Names of games inside others are accepted only as they were given: their quoting could hide another file.
    """
    if name.strip() in _trusted:
        return True
    path = _path(name)
    return path is not None and (path in _trusted or not os.path.exists(path))


def _path(name: str) -> str | None:
    """The file of ``path.py:Class(parameters)`` as an absolute path; None if there may be code in the parameters."""
    head, _, inside = name.strip().partition("(")
    if set(head) & set('),="\\') or "\\" in inside or ".py" in inside:
        return None
    before = head.strip().rpartition(":")[0]
    return str(Path(before if before.endswith(".py") else head.strip()).resolve())
