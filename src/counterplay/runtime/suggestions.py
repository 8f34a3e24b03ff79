"""Names that somebody types: found whatever their case, and the closest one suggested for a wrong one."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

ALIKE = 0.65
"""How similar a name must be to be suggested, from 0 to 1; ``hands`` and ``cards`` are 0.6."""

VERY_ALIKE = 0.75
"""How similar one must be that starts with another letter; ``foo`` and ``oop`` are 0.67."""


LONGEST = 100
"""Characters of what is quoted in errors."""


def quoted(value: Any) -> str:
    """What somebody gave, quoted for an error; of what is long the beginning."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 10]}..."


def find_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is this one, or this one in another case; None if there is none."""
    names = list(known)
    if name in names:
        return name
    return next((one for one in names if one.lower() == name.lower()), None)


def closest_names(name: str, known: Iterable[str], meant: Mapping[str, str] | None = None) -> list[str]:
    """The known names that somebody probably means; empty if none is close.

    ``meant`` gives what cannot be guessed by letters: names of the field and of other programs, in any case and with
    or without hyphens, with the known names for each, separated by spaces.
    """
    names = list(known)
    words = {_letters(word): targets.split() for word, targets in (meant or {}).items()}
    found = [target for target in words.get(_letters(name), ()) if target in names]
    if found:
        return found
    by_case, word = {one.lower(): one for one in names}, name.lower()
    close = difflib.get_close_matches(word, by_case, n=1, cutoff=VERY_ALIKE)
    if not close:
        close = difflib.get_close_matches(word, [one for one in by_case if one[:1] == word[:1]], n=1, cutoff=ALIKE)
    return [by_case[one] for one in close]


def did_you_mean(
    name: str, known: Iterable[str], otherwise: str | None = None, meant: Mapping[str, str] | None = None
) -> str:
    """A question with the closest names; where none is close ``otherwise``, by default all names."""
    names = list(known)
    close = closest_names(name, names, meant)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"there are {', '.join(names)}" if otherwise is None else otherwise


def suggest_arguments(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorates a function that is called with named arguments: a wrong name is answered with the closest one."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        for name in named:
            if name not in known:
                raise TypeError(f"{function.__name__}() has no argument {name!r}; {did_you_mean(name, known)}")
        return function(*args, **named)

    return call


def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
