"""Tilted poker under a name: ``tilted(leduc,orange,7)`` (Gibson 2014, section 4.4.2; see ``game/transforms.py``)."""

from __future__ import annotations

from typing import Any

from counterplay.errors import GameError
from counterplay.game.game import Game
from counterplay.game.registry import make, parameter, register
from counterplay.game.transforms import TILTS, Tilt, TiltedGame


@register("tilted")
class Tilted(Game):
    """A poker game whose winners or losers are paid more or less than the pot, so that it is not zero-sum."""

    game: str = parameter("kuhn", "the game that is tilted, in which somebody must be able to fold")
    tilt: str = parameter("orange", "orange, green, peach, red, or four percentages separated by spaces: win showdown, "
                                    "lose showdown, lose by folding, win by a fold")  # fmt: skip
    percent: float = parameter(7.0, "size of a tilt that is named by its colour")
    fold: str = parameter("", "the game's name for folding, if the game does not define it")

    def __post_init__(self) -> None:
        object.__setattr__(self, "players", self.below().players)

    def below(self) -> TiltedGame:
        """The tilted game itself."""
        return TiltedGame(make(self.game), self._read(), self.fold)

    def root(self) -> Any:
        """The state before anything has happened."""
        return self.below().root()

    @property
    def big_blind(self) -> float | None:
        """As in the game that is tilted."""
        return make(self.game).big_blind

    def num_histories(self) -> int | None:
        """As in the game that is tilted."""
        return make(self.game).num_histories()

    def _read(self) -> Tilt:
        if self.tilt in TILTS:
            return TILTS[self.tilt](self.percent)
        try:
            slots = [float(word) for word in self.tilt.split()]
        except ValueError:
            slots = []
        if len(slots) != 4:
            raise GameError(
                f'tilted: tilt is one of {", ".join(TILTS)} or four numbers like "7 0 0 7"; got {self.tilt!r}'
            )
        return Tilt(*slots)
