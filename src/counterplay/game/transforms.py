"""Games made from games: utilities tilted away from zero-sum.

A tilt multiplies what a player wins or loses, by how the hand ended for that player (Johanson 2016, section 2.6):
winning or losing a showdown, losing by folding, winning because all others fold.  *Orange* pays winners more, *green*
takes less from the loser of a showdown and gives less to a player who wins by a fold (Gibson 2014, section 4.4.2).  CFR
on a tilted two-player game finds an approximate equilibrium of it as far as it is nearly zero-sum (theorem 4.4 there),
and profiles that play differently in the original game.

Who folded is read from the names of actions (``Game.fold_action``), so this works for any poker game.  Where nobody can
fold, hands end in none of these ways, and the game is refused.
"""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from counterplay.errors import GameError
from counterplay.game.game import CHANCE, TERMINAL, Game, State

LOOKED_AT = 1000
"""States that are searched for a fold; poker has one after the first bet."""


@dataclasses.dataclass(frozen=True)
class Tilt:
    """Changes of utility in percent, by how the game ended for a player; -7 on a loss means paying 7 % less."""

    win_showdown: float = 0.0
    lose_showdown: float = 0.0
    lose_fold: float = 0.0
    win_fold: float = 0.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            percent = getattr(self, field.name)
            if not (math.isfinite(percent) and percent >= -100):
                raise GameError(f"a tilt is in percent, at least -100; got {field.name}={percent}")

    def factor(self, utility: float, folded: bool, others_folded: bool) -> float:
        """What to multiply a player's utility with."""
        if folded:
            percent = self.lose_fold
        elif others_folded:
            percent = self.win_fold
        else:
            percent = self.win_showdown if utility > 0 else self.lose_showdown
        return 1 + percent / 100


def orange(percent: float = 7.0) -> Tilt:
    """Winners get ``percent`` more, at showdown or by a fold; losers pay as ever."""
    return Tilt(win_showdown=percent, win_fold=percent)


def green(percent: float = 7.0) -> Tilt:
    """The loser of a showdown pays ``percent`` less, and who wins by a fold gets ``percent`` less."""
    return Tilt(lose_showdown=-percent, win_fold=-percent)


TILTS: dict[str, Callable[[float], Tilt]] = {
    "orange": orange,
    "green": green,
    "peach": lambda percent: Tilt(win_fold=percent),
    "red": lambda percent: Tilt(lose_showdown=-percent),
}
"""The tilts of the Polaris agents by their names (Johanson 2016, section 6.3.2); all used 7 percent."""


def read_tilt(text: str) -> Tilt | None:
    """A tilt from ``none`` or a colour and percents, such as ``orange 7``.  Raises GameError if it is none."""
    if text == "none":
        return None
    colour, _, percent = text.partition(" ")
    try:
        return TILTS[colour](float(percent))
    except (KeyError, ValueError):
        raise GameError(f"a tilt is none or a colour ({', '.join(TILTS)}) and percents; got {text!r}") from None


class TiltedState:
    """A state of the game below and the players who have folded so far."""

    __slots__ = ("folded", "game", "player", "state")

    def __init__(self, game: TiltedGame, state: State, folded: frozenset[int]) -> None:
        self.game = game
        self.state = state
        self.folded = folded
        self.player = state.player

    def actions(self) -> Sequence[Hashable]:
        return self.state.actions()

    def chance(self) -> Sequence[tuple[Hashable, float]]:
        return self.state.chance()

    def child(self, action: Any) -> TiltedState:
        folds = self.player not in (CHANCE, TERMINAL) and action == self.game.fold
        return TiltedState(self.game, self.state.child(action), self.folded | {self.player} if folds else self.folded)

    def infoset(self) -> Hashable:
        return self.state.infoset()

    def utilities(self) -> list[float]:
        tilt, players = self.game.tilt, self.game.players
        alone = len(self.folded) == players - 1
        return [
            utility * tilt.factor(utility, player in self.folded, alone)
            for player, utility in enumerate(self.state.utilities())
        ]


class TiltedGame(Game):
    """A poker game with tilted utilities; histories and information sets are those of the game below.

    ``fold`` names the action of folding; by default what the game below says.  Raises GameError if nobody can fold.
    """

    def __init__(self, game: Game, tilt: Tilt, fold: str = "") -> None:
        self.game = game
        self.tilt = tilt
        self.fold = fold or game.fold_action
        self.players = game.players
        _require_fold(game, self.fold)

    def root(self) -> Any:
        """The state before anything has happened."""
        return TiltedState(self, self.game.root(), frozenset())

    @property
    def big_blind(self) -> float | None:
        """As in the game below."""
        return self.game.big_blind

    def num_histories(self) -> int | None:
        """As in the game below."""
        return self.game.num_histories()

    def spec(self) -> str:
        """The name of the game below, and the tilt."""
        changes = ",".join(f"{name}={value:g}" for name, value in dataclasses.asdict(self.tilt).items() if value)
        return f"{self.game.spec()} tilted by {changes or 'nothing'}"


def _require_fold(game: Game, fold: str) -> None:
    """Refuse a game in which the action is not among the first states, shortest histories first.

    Of chance the first outcome is followed only: how a hand is bet does not depend on the cards.
    """
    state, waiting = game.root(), deque[tuple[State, Hashable]]()
    for _ in range(LOOKED_AT):
        if state.player == CHANCE:
            waiting.append((state, state.chance()[0][0]))
        elif state.player != TERMINAL:
            actions = state.actions()
            if fold in actions:
                return
            waiting.extend((state, action) for action in actions[: LOOKED_AT - len(waiting)])
        if not waiting:
            break
        before, move = waiting.popleft()
        state = before.child(move)
    raise GameError(
        f"a tilt pays by showdowns and folds, but in {game.spec()} no action is called {fold!r}; tilt a poker game, "
        "and say what it calls folding by fold=NAME"
    )
