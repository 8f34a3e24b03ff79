"""Games of OpenSpiel (github.com/google-deepmind/open_spiel): ``make("openspiel:liars_dice(numdice=1)")``.

The text after ``openspiel:`` is a game string of OpenSpiel, ``name`` or ``name(key=value,...)``; a value may be a
game again.  Games with simultaneous moves are converted to hidden sequential ones.  OpenSpiel is imported when such a
game is loaded, so nothing else needs it.

Information sets are OpenSpiel's information-state strings, which may run over several lines.  Actions are labelled
by OpenSpiel's integer ids and not by its action strings: ids are the same at every history of an information set
and are what its policies are written with, while a string is made from a state, secrets included, and need be
neither unique nor equal at two histories that the acting player cannot distinguish.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from counterplay.errors import GameError
from counterplay.game.game import TERMINAL, Game
from counterplay.runtime.suggestions import did_you_mean


class OpenSpielState:
    """A state of OpenSpiel, which nobody else holds and which is never changed."""

    __slots__ = ("player", "wrapped")

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped
        # Chance is -1 in both worlds; the end of the game is -4 there, and -2 is something else.
        self.player: int = TERMINAL if wrapped.is_terminal() else wrapped.current_player()

    def actions(self) -> tuple[int, ...]:
        return tuple(self.wrapped.legal_actions())

    def chance(self) -> Sequence[tuple[int, float]]:
        outcomes: list[tuple[int, float]] = self.wrapped.chance_outcomes()
        return outcomes

    def child(self, action: int) -> OpenSpielState:
        after = self.wrapped.clone()
        after.apply_action(action)
        return OpenSpielState(after)

    def infoset(self) -> str:
        return str(self.wrapped.information_state_string(self.player))

    def utilities(self) -> Sequence[float]:
        returns: list[float] = self.wrapped.returns()
        return returns


class OpenSpielGame(Game):
    """A sequential game of OpenSpiel; ``name`` loads it, or the simultaneous game that it was converted from."""

    def __init__(self, wrapped: Any, name: str) -> None:
        self.wrapped = wrapped
        self.name = name
        self.players = int(wrapped.num_players())

    def root(self) -> OpenSpielState:
        """The state before anything has happened."""
        return OpenSpielState(self.wrapped.new_initial_state())

    def spec(self) -> str:
        """``openspiel:`` and the game string."""
        return f"openspiel:{self.name}"


class _ZeroSumOpenSpielGame(OpenSpielGame):
    """A two-player game that OpenSpiel declares zero-sum; compiling checks it."""

    zero_sum = True


def load_openspiel(name: str, parameters: Mapping[str, Any]) -> Game:
    """Load a game by its game string; further ``parameters`` override those written in it.

    Raises GameError if OpenSpiel is not installed, does not know the game or its parameters, or if the game is of a
    kind that has no tree of information sets.
    """
    try:
        pyspiel: Any = importlib.import_module("pyspiel")
    except ImportError as error:
        raise GameError(
            f"openspiel:{name} needs OpenSpiel; install it with pip install counterplay[openspiel]"
        ) from error
    name = name.strip()
    short = name.partition("(")[0]
    known = {kind.short_name: kind for kind in pyspiel.registered_games()}
    if short not in known:
        hint = did_you_mean(short, known, "pyspiel.registered_names() lists its games")
        raise GameError(f"OpenSpiel has no game {short!r}; {hint}")
    try:
        game = _load(pyspiel, name, parameters, known[short])
        _check(pyspiel, game, short)
        text = str(game).removesuffix("()")
        if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            game = pyspiel.convert_to_turn_based(game)
    except (pyspiel.SpielError, TypeError) as error:  # TypeError: a parameter of a type that OpenSpiel does not take
        raise GameError(f"openspiel:{name} cannot be loaded: {_one_line(error)}") from error
    zero_sum = game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM and game.num_players() == 2
    return (_ZeroSumOpenSpielGame if zero_sum else OpenSpielGame)(game, text)


def _load(pyspiel: Any, name: str, parameters: Mapping[str, Any], kind: Any) -> Any:
    """Load a game with each parameter in its declared type.

    OpenSpiel infers the type of a parameter from its text, and so refuses ``firstPlayer=1`` where the declared type
    is text, although it writes the game so itself.
    """
    values = {**pyspiel.game_parameters_from_string(name), **parameters}
    del values["name"]
    for key, default in kind.parameter_specification.items():
        if isinstance(default, str | float) and isinstance(values.get(key), int | float):
            values[key] = type(default)(values[key])
    return pyspiel.load_game(kind.short_name, values)


def _check(pyspiel: Any, game: Any, short: str) -> None:
    """Refuse the kinds of games that cannot be walked as a tree of information sets."""
    kind = game.get_type()
    reason = None
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        reason = "it is a mean-field game, which has no tree of histories"
    elif kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        reason = "its chance events are sampled and cannot be listed"
    elif not kind.provides_information_state_string:
        reason = "it has no information-state strings, so its information sets are not known"
    if reason is not None:
        raise GameError(f"openspiel:{short} cannot be used here: {reason}; choose another game")


def _one_line(error: Exception, longest: int = 200) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= longest else text[: longest - 3] + "..."
