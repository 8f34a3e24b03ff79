"""What a game's own code must return, checked call by call: for messages that name the method, the file and the line.

Walks over a game are quick and check little; when one of them fails, it visits the place again with these functions,
which say what is wrong there.
"""

from __future__ import annotations

import inspect
import numbers
import os
import random
import sysconfig
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from types import TracebackType
from typing import Any

from counterplay.errors import MemoryLimitError
from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.runtime.suggestions import quoted

PLAYOUTS, MOST_MOVES = 200, 1000
"""Random playouts in search of a fault, and the moves of each."""

_OURS = str(Path(__file__).resolve().parents[1])
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_METHODS = {
    "infoset": "what the acting player knows, as text, a number or a tuple of them",
    "actions": "the legal actions as a list or tuple",
    "chance": "pairs of an outcome and its probability, as [('heads', 0.5), ('tails', 0.5)]",
    "utilities": "one number for each player, as (1, -1)",
    "child": "the next state",
    "root": "the first state",
}


class RuleError(Exception):
    """Something in the code of a game is wrong: ``text`` says what, ``place`` is its file and line, or nothing."""

    def __init__(self, text: str, place: str = "") -> None:
        super().__init__(text)
        self.text, self.place = text, place


def checked_root(game: Game) -> Any:
    """The first state of a game.  Raises RuleError if ``root`` is missing or returns no state."""
    if inspect.getattr_static(game, "root") is Game.root:
        text = f"{type(game).__name__} has no root(); define root(self), which returns the first state"
        raise RuleError(text, place_of(game, ""))
    return _state(game, "root")


def check_state(state: Any, players: int) -> Sequence[Any]:
    """Check everything that a state returns; its actions or outcomes.  Raises RuleError at the first fault."""
    who = checked_player(state, players)
    if who == TERMINAL:
        check_utilities(state, _answer(state, "utilities"), players)
        return ()
    if who == CHANCE:
        return [outcome for outcome, _ in chance_pairs(state, _answer(state, "chance"))]
    check_key(state, _answer(state, "infoset"))
    actions = _answer(state, "actions")
    try:
        return tuple(actions)
    except TypeError:
        raise _wrong(state, "actions", actions) from None


def checked_child(state: Any, action: Any) -> Any:
    """The state after an action."""
    return _state(state, "child", action)


def checked_player(state: Any, players: int) -> int:
    """Who acts."""
    try:
        who = state.player
    except Exception as error:
        if not hasattr(type(state), "player") and isinstance(error, AttributeError):
            text = f"a state must have player (0 .. {players - 1}, CHANCE or TERMINAL); {type(state).__name__} has none"
            raise RuleError(text, place_of(state, "")) from None
        raise failed("player", error) from error
    if isinstance(who, numbers.Integral) and TERMINAL <= int(who) < players:
        return int(who)
    if callable(who):
        text = "player must be a property, not a method: write @property above def player(self)"
        raise RuleError(text, place_of(state, "player"))
    what = f"player must be 0 .. {players - 1}, CHANCE or TERMINAL; got {quoted(who)}"
    raise RuleError(what, place_of(state, "player"))


def check_utilities(state: Any, won: Any, players: int) -> None:
    """Refuse what is not one number for each player."""
    several = hasattr(won, "__len__") and not isinstance(won, str | bytes | Mapping | Set)
    if several and len(won) == players:
        try:
            [float(number) for number in won]
            return
        except (TypeError, ValueError):
            pass
    what = f"utilities must give one number for each of {players} players; got {quoted(won)}"
    raise RuleError(what, place_of(state, "utilities"))


def chance_pairs(state: Any, outcomes: Any) -> list[tuple[Any, float]]:
    """The outcomes of a chance event with their probabilities."""
    if isinstance(outcomes, Mapping):
        what = "chance() must return pairs of an outcome and its probability, not a dict: return list(outcomes.items())"
        raise RuleError(f"{what}; got {quoted(outcomes)}", place_of(state, "chance"))
    try:
        return [(outcome, float(probability)) for outcome, probability in outcomes]
    except (TypeError, ValueError):
        raise _wrong(state, "chance", outcomes) from None


def check_key(state: Any, key: Any) -> None:
    """Refuse what cannot name an information set."""
    if key is None:
        raise _wrong(state, "infoset", key)
    try:
        hash(key)
    except TypeError:
        text = f"infoset() must return {_METHODS['infoset']}, which can be hashed; got {quoted(key)}"
        raise RuleError(text, place_of(state, "infoset")) from None


def search_fault(game: Game) -> RuleError | None:
    """A fault that random playouts meet, if any."""
    generator = random.Random(0)
    try:
        for _ in range(PLAYOUTS):
            state = checked_root(game)
            for _ in range(MOST_MOVES):
                moves = check_state(state, game.players)
                if not moves:
                    break
                state = checked_child(state, generator.choice(moves))
    except RuleError as fault:
        return fault
    return None


def failed(method: str, error: BaseException) -> RuleError:
    """The fault of a method that raised an exception; rules that are too large for any answer have none."""
    if isinstance(error, MemoryLimitError):
        raise error
    name = method if method == "player" else f"{method}()"
    return RuleError(f"{name} failed with {type(error).__name__}: {error}", raised_at(error.__traceback__))


def unexplained(error: BaseException) -> RuleError:
    """The fault of an exception of which no more is known."""
    if isinstance(error, RuleError):
        return error
    return RuleError(f"the rules failed with {type(error).__name__}: {error}", raised_at(error.__traceback__))


def raised_at(traceback: TracebackType | None) -> str:
    """The innermost line of a user's own code in a traceback, as ``bugs.py:16``; nothing if there is none."""
    found = ""
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if not name.startswith(("<string>", "<frozen", _OURS, *_LIBRARIES)):
            found = f"{_file(name)}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found


def place_of(owner: Any, name: str) -> str:
    """Where a method or property of an object is defined, or if there is none its class; nothing for our own code."""
    cls = type(owner)
    found = inspect.getattr_static(cls, name, None)
    found = found.fget if isinstance(found, property) else getattr(found, "func", found)
    try:
        code = inspect.unwrap(found).__code__ if callable(found) else None
        name = inspect.getsourcefile(cls) or "" if code is None else code.co_filename
        line = inspect.getsourcelines(cls)[1] if code is None else code.co_firstlineno
    except (OSError, TypeError, AttributeError, IndexError):
        return ""
    return "" if not name or name.startswith(("<string>", _OURS)) else f"{_file(name)}:{line}"


def _answer(owner: Any, name: str, *arguments: Any) -> Any:
    """What a method returns."""
    try:
        method = getattr(owner, name)
    except Exception as error:
        if isinstance(error, AttributeError) and not hasattr(type(owner), name):
            text = f"{type(owner).__name__} has no {name}(), which must return {_METHODS[name]}"
            raise RuleError(text, place_of(owner, "")) from None
        raise failed(name, error) from error
    if not callable(method):
        text = f"{name} must be a method: def {name}(self{', action' if arguments else ''}), without @property"
        raise RuleError(f"{text}; got {quoted(method)}", place_of(owner, name))
    try:
        return method(*arguments)
    except Exception as error:
        fault = failed(name, error)
        raise RuleError(fault.text, fault.place or place_of(owner, name)) from error


def _state(owner: Any, name: str, *arguments: Any) -> Any:
    found = _answer(owner, name, *arguments)
    if any(hasattr(type(found), one) for one in ("player", "child", "utilities")) or hasattr(found, "player"):
        return found
    what = f"{name}({', '.join(map(quoted, arguments))})"
    has = "an object with player, actions(), child() and so on"
    raise RuleError(f"{what} must return {_METHODS[name]}, {has}; got {quoted(found)}", place_of(owner, name))


def _wrong(state: Any, name: str, got: Any) -> RuleError:
    return RuleError(f"{name}() must return {_METHODS[name]}; got {quoted(got)}", place_of(state, name))


def _file(path: str) -> str:
    """A path as a user would write it: from the current folder, if it is below it."""
    try:
        near = os.path.relpath(path)
    except ValueError:  # on another drive
        return path
    return path if near.startswith("..") else near
