"""Headers of files, and settings kept as JSON: compared with a schema, for they may have been edited by hand.

A schema is a ``TypedDict`` or a dataclass; its annotations say what each value must be.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from counterplay.errors import StrategyError

LARGEST = 2**63
"""Integers are smaller than this; larger ones overflow arrays."""

_WORDS = {str: "a text", int: "an integer", float: "a number", bool: "true or false", type(None): "null"}


def check_header(source: str | os.PathLike[str], header: Any, schema: type) -> None:
    """Refuse a header that does not fit a schema.

    Raises
    ------
    StrategyError
        The first value that is missing or wrong, and what it must be.
    """
    problem = _problem(header, schema, "")
    if problem:
        raise StrategyError(f"{os.fspath(source)} is damaged: {problem}")


def _problem(value: Any, kind: Any, place: str) -> str:
    """What is wrong about a value; empty if nothing is."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any or (origin is Literal and value in arguments):
        return ""
    if typing.is_typeddict(kind) or dataclasses.is_dataclass(kind):
        return _fields_problem(value, kind, place)
    if origin in (typing.Union, types.UnionType):
        problems = [_problem(value, one, place) for one in arguments]
        return "" if "" in problems else problems[0]
    if origin in (list, Sequence, tuple) and isinstance(value, list):
        return _items_problem(value, arguments, place)
    if origin in (dict, Mapping) and isinstance(value, dict):
        found = (_problem(inner, arguments[1], f"{place}.{key}") for key, inner in value.items())
        return next(filter(None, found), "")
    whole = isinstance(value, int) and not isinstance(value, bool) and -LARGEST <= value < LARGEST
    if (kind is int and whole) or (kind is float and (whole or isinstance(value, float))):
        return ""
    if kind in (str, bool, type(None)) and isinstance(value, kind):
        return ""
    wanted = _WORDS.get(kind) or ("a list" if origin in (list, Sequence, tuple) else "a table")
    text = repr(value)
    return f"{_named(place)} must be {wanted}; it is {text if len(text) <= 60 else text[:60] + '...'}"


def _named(place: str) -> str:
    return f"its value {place.lstrip('.')!r}" if place else "its header"


def _items_problem(value: list[Any], kinds: tuple[Any, ...], place: str) -> str:
    """The same for the items of a list: all of one kind, or one kind for each."""
    if len(kinds) == 1 or kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        return f"{_named(place)} must have {len(kinds)} items; it has {len(value)}"
    pairs = zip(value, kinds, strict=True)
    found = (_problem(one, kind, f"{place}[{number}]") for number, (one, kind) in enumerate(pairs))
    return next(filter(None, found), "")


def _fields_problem(value: Any, kind: Any, place: str) -> str:
    """The same for the keys of a table."""
    if not isinstance(value, dict):
        return f"{_named(place)} must be a table of names and values"
    for name, (wanted, required) in _fields(kind).items():
        if name in value:
            problem = _problem(value[name], wanted, f"{place}.{name}")
            if problem:
                return problem
        elif required:
            return f"{_named(f'{place}.{name}')} is missing"
    return ""


@functools.cache
def _fields(kind: Any) -> dict[str, tuple[Any, bool]]:
    """The types of the values of a table, and whether each is required."""
    hints = typing.get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        missing = dataclasses.MISSING
        fields = dataclasses.fields(kind)
        return {f.name: (hints[f.name], f.default is missing and f.default_factory is missing) for f in fields}
    optional = {name for name, wanted in hints.items() if get_origin(wanted) is typing.NotRequired}
    return {
        name: (get_args(wanted)[0] if name in optional else wanted, kind.__total__ and name not in optional)
        for name, wanted in hints.items()
    }
