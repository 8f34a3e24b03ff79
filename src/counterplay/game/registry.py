"""Games by name: ``make("leduc(players=3,ranks=4)")``, a user's own file, an ``.efg`` or ``.game`` file, OpenSpiel.

A registered game is a dataclass whose fields are its parameters; their annotations (int, float, bool, str) are
the types that text is read as.  The grammar of a name is::

    name                    leduc
    name(key=value,...)     leduc(players=3,suited=true)     values may be quoted: matrix(rows="1,-1;-1,1")
    name(value,...)         bluff(2,1)                       by position, in the declared order, before any key
    path.py:Class(...)      ./my_game.py:MyGame(cards=4)
    path.efg                games/centipede.efg
    path.game               holdem.limit.2p.game             a poker definition of the competition
    openspiel:NAME          openspiel:liars_dice(numdice=1)
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from counterplay.errors import GameError
from counterplay.game.game import Game, Scheme
from counterplay.game.state_checks import raised_at
from counterplay.runtime.suggestions import closest_names, did_you_mean, find_name
from counterplay.trusted_code import trust

_REGISTRY: dict[str, type[Game]] = {}
_CLASS = TypeVar("_CLASS", bound=type[Game])

_MEANT = {"rps": "rock_paper_scissors", "liars dice": "bluff", "dudo": "bluff", "tic-tac-toe": "phantom_ttt",
          "normal form": "matrix", "bimatrix": "matrix", "rhode island": "rhode_island",
          "texas holdem": "holdem_limit_2p"}  # fmt: skip
"""What somebody means who writes it so."""

_REST = re.compile(r"\s*\Z")


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a registered game."""

    name: str
    type: type
    default: Any
    help: str


@dataclasses.dataclass(frozen=True)
class GameEntry:
    """A registered game: its name, one line about it, its parameters, and what its players can be made to forget."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    forgets: Mapping[str, str]


def parameter(
    default: Any, text: str, least: int | None = None, choices: Iterable[str] = (),
    check: tuple[Callable[[Any], bool], str] | None = None, most: int | None = None,
) -> Any:  # fmt: skip
    """A dataclass field with a help ``text``, for the parameters of a game.

    Accepted are values from ``least`` to ``most``, one of ``choices``, or those that pass a ``check``: whether a value
    is accepted, and what it must be (``"at least 2"``).  A number that decides how large the game is has a ``most``:
    what is beyond it could not even be listed.
    """
    if least is not None:
        check = (lambda value: value >= least, f"at least {least}")
    elif choices:
        allowed = tuple(choices)
        check = (lambda value: value in allowed, f"one of {', '.join(allowed)}")
    return dataclasses.field(default=default, metadata={"help": text, "check": check, "most": most})


@typing.dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def register(name: str) -> Callable[[_CLASS], _CLASS]:
    """Class decorator that puts a game into the registry under ``name``, and makes it a frozen dataclass."""

    def add(cls: _CLASS) -> _CLASS:
        if name in _REGISTRY and _REGISTRY[name] is not cls and not _same_source(_REGISTRY[name], cls):
            raise GameError(f"a game named {name!r} is registered already, by {_REGISTRY[name].__module__}")
        inherited = getattr(cls, "__dataclass_params__", None)
        plain = inherited.frozen if inherited else cls.__init__ is object.__init__
        if plain and "__dataclass_params__" not in vars(cls):
            dataclasses.dataclass(frozen=True)(cls)
        cls.spec_name = name
        _REGISTRY[name] = cls
        return cls

    return add


def game_names() -> list[str]:
    """The names of all registered games, sorted."""
    _load_builtin_games()
    return sorted(_REGISTRY)


def games() -> list[GameEntry]:
    """All registered games with their parameters."""
    entries = []
    for name in game_names():
        cls = _REGISTRY[name]
        summary = (cls.__doc__ or "").strip().split("\n")[0]
        entries.append(GameEntry(name, summary, _parameters(cls), cls.forgets))
    return entries


def named_game(text: str) -> str | None:
    """The registered game that a text names, in any case, with parameters or without; None if it names none."""
    return find_name(text.partition("(")[0].strip(), game_names())


def sampling_schemes() -> dict[str, Scheme]:
    """The sampling schemes of all registered games by name."""
    return {name: scheme for game in game_names() for name, scheme in _REGISTRY[game].sampling_schemes.items()}


def make(spec: str | Game | type[Game], **parameters: Any) -> Game:
    """Make a game from its name, a path, a class or an instance.

    Parameters
    ----------
    spec : str, Game or Game subclass
        See the grammar in the module docstring.  An instance is returned unchanged.
    **parameters
        Parameters of the game; they override those written in ``spec``.
    """
    if isinstance(spec, Game):
        if parameters:
            raise GameError(f"{spec.spec()} is made already; parameters {sorted(parameters)} come too late")
        return spec
    if isinstance(spec, type) and issubclass(spec, Game):
        return _construct(spec, spec.spec_name or spec.__name__, parameters)
    if not isinstance(spec, str):
        raise GameError(f"a game is a name, a path, a Game class or a Game; got {spec!r}")
    spec = spec.strip()
    if spec.startswith("openspiel:"):
        from counterplay.game.openspiel import load_openspiel

        return load_openspiel(spec.removeprefix("openspiel:"), parameters)
    efg, poker = (spec.lower().endswith(ending) for ending in (".efg", ".game"))
    if parameters and (efg or poker):
        kind = "an .efg" if efg else "a .game"
        raise GameError(f"{spec}: {kind} file takes no parameters; got {sorted(parameters)}")
    if efg:
        from counterplay.game.efg import read_efg

        return read_efg(spec)
    if poker:
        made: Game = importlib.import_module("counterplay.poker.poker_game").poker_game(spec)
        return made
    name, written = parse_spec(spec)
    cls = _class_from_file(name) if ".py" in name else _registered(name)
    return _construct(cls, name, {**_with_names(cls, name, written), **parameters})


def parse_spec(spec: str) -> tuple[str, dict[str | int, str]]:
    """Split ``name(value,...,key=value,...)`` into its name and its parameters, still as text.

    A parameter given by position stands under its position, from 0.
    """
    match = re.fullmatch(r"\s*([^()\s][^()]*?)\s*(?:\((.*)\))?\s*", spec, re.DOTALL)
    if match is None:
        raise GameError(f"cannot read the game name {spec!r}; write it like leduc or leduc(players=3,ranks=4)")
    name, inside = match.group(1), match.group(2) or ""
    written: dict[str | int, str] = {}
    position = 0
    pattern = re.compile(
        r'\s*(?:([A-Za-z_]\w*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^,"]*?))'  # key=value
        r'|(?:"((?:[^"\\]|\\.)*)"|([^,="\s](?:[^,="]*[^,="\s])?)))\s*(?:,|$)',  # value
        re.DOTALL,
    )
    named = False
    while _REST.match(inside, position) is None:
        part = pattern.match(inside, position)
        if part is None:
            raise GameError(f"cannot read {inside[position:]!r} in {spec!r}; parameters are written value or key=value")
        key, quoted, plain = part.group(1), part.group(2), part.group(3)
        if key is None:
            quoted, plain = part.group(4), part.group(5)
            if named:
                raise GameError(
                    f"{part.group().strip(' ,')!r} in {spec!r} comes after key=value; put it first, or quote the value "
                    f"that contains commas: {_quoted(name, inside)} (in a shell, single quotes around the whole name)"
                )
        elif key in written:
            raise GameError(f"parameter {key!r} is given twice in {spec!r}")
        named |= key is not None
        place = len(written) if key is None else key
        written[place] = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
        position = part.end()
    return name, written


def _quoted(name: str, inside: str) -> str:
    """A name with parameters whose values that contain commas are quoted."""
    pattern = r'([A-Za-z_]\w*)\s*=\s*([^"=]*?)\s*(?=,\s*[A-Za-z_]\w*\s*=|$)'
    return f"{name}({re.sub(pattern, lambda part: part[0] if ',' not in part[2] else _in_quotes(part), inside)})"


def _in_quotes(part: re.Match[str]) -> str:
    return f'{part[1]}="{part[2]}"'


def _load_builtin_games() -> None:
    package = importlib.import_module("counterplay.games")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"counterplay.games.{module.name}")
    importlib.import_module("counterplay.poker.poker_game")  # the standard definitions of the competition


def _registered(name: str) -> type[Game]:
    _load_builtin_games()
    found = find_name(name, _REGISTRY)
    if found is None:
        if os.path.isfile(name):
            raise GameError(
                f"{name} is a file, but not one of a game (./my_game.py:MyGame, x.efg, x.game); if it is a strategy, "
                "counterplay show and evaluate read it, and counterplay draw GAME --strategy FILE draws it"
            )
        family = [known for known in sorted(_REGISTRY) if known.startswith(f"{name}_")]
        if family:
            spot = "; solve holdem --board ... solves a postflop spot" if name == "holdem" else ""
            raise GameError(f"there are several games {name!r}: choose one of {', '.join(family)}{spot}")
        hint = did_you_mean(name, [*_REGISTRY, "holdem"], "`counterplay games` lists all of them", _MEANT)
        raise GameError(f"unknown game {name!r}; {hint} (a file is named like ./my_game.py:MyGame)")
    return _REGISTRY[found]


def _class_from_file(name: str) -> type[Game]:
    path_text, _, class_name = name.rpartition(":")
    if not path_text.endswith(".py"):
        path_text, class_name = name, ""
    path = Path(path_text)
    if not os.path.isfile(path):
        raise GameError(f"there is no file {path_text!r}; a game of your own is named like ./my_game.py:MyGame")
    trust(path_text)  # names from files were checked where they were read
    module_name = f"counterplay_user_{abs(hash(str(path.resolve()))):x}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise GameError(f"{path_text} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        place = raised_at(error.__traceback__)
        see = f"; see {place}" if place and not isinstance(error, SyntaxError) else ""  # which names its line itself
        raise GameError(f"{path_text} cannot be imported: {type(error).__name__}: {error}{see}") from error
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Game) and value.__module__ == module_name
    ]
    if class_name:
        there = [cls.__name__ for cls in found]
        found = [cls for cls in found if cls.__name__ == class_name]
        if not found:
            has = f"it has {', '.join(there)}" if there else "it has none at all"
            raise GameError(f"{path_text} has no Game subclass named {class_name!r}; {has}")
    if len(found) != 1:
        names = ", ".join(cls.__name__ for cls in found) or "none"
        raise GameError(f"{path_text} must name its game, as {path_text}:CLASS; Game subclasses there: {names}")
    found[0].spec_name = f"{path_text}:{found[0].__name__}"
    return found[0]


def _same_source(old: type, new: type) -> bool:
    return old.__qualname__ == new.__qualname__ and old.__module__ == new.__module__


def _parameters(cls: type[Game]) -> tuple[Parameter, ...]:
    if not dataclasses.is_dataclass(cls):
        return ()
    hints = typing.get_type_hints(cls)
    return tuple(
        Parameter(field.name, hints[field.name], field.default, field.metadata.get("help", ""))
        for field in dataclasses.fields(cls)
        if field.init
    )


def _with_names(cls: type[Game], name: str, written: dict[str | int, str]) -> dict[str, str]:
    """Parameters by name only: those by position get the names of the declared parameters, in their order."""
    declared = [parameter.name for parameter in _parameters(cls)]
    named: dict[str, str] = {}
    for place, text in written.items():
        if isinstance(place, int) and place >= len(declared):
            takes = ", ".join(declared) or "no parameters"
            raise GameError(f"{name} cannot take {text!r} as parameter number {place + 1}; it takes {takes}")
        key = declared[place] if isinstance(place, int) else place
        if key in named:
            raise GameError(f"parameter {key!r} of {name} is given twice, by position and by name")
        named[key] = text
    return named


def _construct(cls: type[Game], name: str, written: dict[str, Any]) -> Game:
    known = {parameter.name: parameter for parameter in _parameters(cls)}
    values = {}
    for key, text in written.items():
        if key not in known:
            close = closest_names(key, known)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise GameError(f"{name} has no parameter {key!r}{hint}; it takes {', '.join(known) or 'no parameters'}")
        values[key] = _convert(name, known[key], text)
    return cls(**values)


def _convert(name: str, wanted: Parameter, value: Any) -> Any:
    kind = wanted.type
    article = {int: "an integer", float: "a number", bool: "true or false", str: "text"}.get(kind)
    if article is None:
        return value
    try:
        if isinstance(value, str):
            if kind is bool:
                return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[value.lower()]
            return kind(value)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
    except (KeyError, ValueError):
        pass
    raise GameError(f"parameter {wanted.name!r} of {name} must be {article}; got {value!r}")
