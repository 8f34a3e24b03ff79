"""Settings of algorithms: frozen dataclasses whose values are checked by the types of their fields.

A field is a ``bool``, a ``Literal``, a number with its ``Bounds`` or a text with words that describe it; ``| None``
allows None besides.  A number without bounds must be finite.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from counterplay.errors import SolverError
from counterplay.runtime.seeds import SEEDS
from counterplay.runtime.suggestions import closest_names, did_you_mean

COMPARISONS = {"at_least": operator.ge, "above": operator.gt, "at_most": operator.le, "below": operator.lt}


@dataclasses.dataclass(frozen=True)
class Bounds:
    """The range of a number; without an upper end infinity is in it."""

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None

    def contain(self, number: float) -> bool:
        """Whether a number lies in the range; NaN never does."""
        return all(COMPARISONS[name](number, end) for name, end in vars(self).items() if end is not None)

    def __str__(self) -> str:
        ends = {name: end for name, end in vars(self).items() if end is not None}
        return " and ".join(f"{name.replace('_', ' ')} {_readable(end)}" for name, end in ends.items())


def _readable(end: float) -> str:
    """A limit as text: large powers of two as such."""
    power = math.frexp(end)[1] - 1
    return f"2^{power}" if power >= 31 and end == 2**power else str(end)


Count: TypeAlias = Annotated[int, Bounds(at_least=0)]
Share: TypeAlias = Annotated[float, Bounds(above=0, at_most=1)]
Seed: TypeAlias = Annotated[int, Bounds(at_least=0, below=SEEDS)]
Threads: TypeAlias = Annotated[int, Bounds(at_least=1, at_most=1024)]


@dataclasses.dataclass(frozen=True)
class Settings:
    """The base of all settings: each value must fit the type of its field.

    Raises
    ------
    SolverError
        With the name of the setting, what it must be, and what it is.
    """

    def __post_init__(self) -> None:
        settings: Any = type(self)
        for name, kind in _types(settings).items():
            value = getattr(self, name)
            required = _violated(kind, value)
            if required:
                raise SolverError(f"{name} must be {required}; got {value!r}")

    @property
    def keeps_average(self) -> bool:
        """Whether an average table is kept; only algorithms with the setting ``profile`` can do without."""
        return getattr(self, "profile", "average") == "average"


@functools.cache
def _types(settings: Any) -> dict[str, Any]:
    """The types of the fields; kept, since reading them from the source takes longer than a small run."""
    return get_type_hints(settings, include_extras=True)


def _violated(kind: Any, value: Any) -> str:
    """What a value must be to fit a type; empty if it fits."""
    arguments: tuple[Any, ...] = get_args(kind)
    if type(None) in arguments:
        return "" if value is None else _violated(arguments[0], value)
    if get_origin(kind) is Literal:
        fits = any(isinstance(value, type(known)) and value == known for known in arguments)
        return "" if fits and not isinstance(value, bool) else f"one of {', '.join(map(str, arguments))}"
    plain, limit = arguments if get_origin(kind) is Annotated else (kind, None)
    if plain is bool or plain is str:
        return "" if isinstance(value, plain) else "true or false" if plain is bool else limit or "a text"
    number = isinstance(value, int if plain is int else int | float) and not isinstance(value, bool)
    if number and (limit.contain(value) if limit else isinstance(value, int) or math.isfinite(value)):
        return ""
    words = "an integer" if plain is int else "a number" if limit else "a finite number"
    return f"{words}, {limit}" if limit else words


class UnknownSettingError(SolverError):
    """A setting that an algorithm does not have; the closest of ``known`` and of ``others`` is suggested."""

    def __init__(self, algorithm: str, name: str, known: Sequence[str], others: Iterable[str] = ()) -> None:
        close = closest_names(name, [*known, *others])
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        super().__init__(f"{algorithm} has no setting {name!r}{hint}; its settings are {', '.join(known)}")
        self.algorithm, self.name, self.known = algorithm, name, known


_SETTINGS = TypeVar("_SETTINGS", bound=Settings)


def preset(presets: Mapping[str, _SETTINGS], name: str, changes: Mapping[str, Any] | None = None) -> _SETTINGS:
    """The settings of an algorithm by its name, some of them replaced."""
    if name not in presets:
        raise SolverError(f"unknown algorithm {name!r}; {did_you_mean(name, presets)}")
    return with_settings(presets[name], changes or {}, name)


def with_settings(config: _SETTINGS, changes: Mapping[str, Any], algorithm: str) -> _SETTINGS:
    """Settings with some of them replaced.

    Raises
    ------
    UnknownSettingError
        If the algorithm has no such setting.
    """
    known = [field.name for field in dataclasses.fields(config)]
    unknown = sorted(set(changes) - set(known))
    if unknown:
        raise UnknownSettingError(algorithm, unknown[0], known)
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in changes.items()}
    return dataclasses.replace(config, **plain)


def setting_value(text: str) -> Any:
    """A setting from text: true, false, none, a number, or the text itself."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text
