"""Random games without chance, with perfect or imperfect recall (Čermák 2018, section 4.5).

A game is a tree of ``depth`` moves in which every decision has at most ``branching`` actions.  Each action shows an
observation to each player; players remember their own actions and all observations, and histories that agree in
these form one information set.  Then sets are merged at random: among the sets of a player with the same number of
earlier own moves and the same number of actions, one is drawn, each other joins it with probability ``merge``, and
the procedure repeats with the remaining ones.  So a forgetful player still knows the number of own moves and is never
absent-minded; the sets may span several depths.

The thesis gives depth, branching factors (3 and 4), merge probabilities (0.3, 0.6, 0.9) and sizes (about 3000 nodes
for branching 4); the rest follows what is known of the author's program.  The player to act is drawn at each history:
the one who moved last moves again with probability 1/2, after two moves in a row 1/4, and so on.  Utilities are a
random walk: each action adds an integer from ``-step`` to ``step``, the sum is what the first player wins.  With
``independent`` each leaf draws its utility from the same range instead, which makes games much harder for a player
who forgets; the thesis does not say which of the two it used.  Numbers of actions are drawn from ``branching - slack``
to ``branching``.  The instances of the thesis cannot be reproduced; ours are fixed by the seed.
The last step of its recipe, splitting the minimiser's sets until only own choices are forgotten (A-loss recall), is
a refinement of a compiled tree and not done here.

Every random number is a SHA-256 hash of the seed and the place where it is used.  So a seed gives the same game on
every machine and with every version of Python and NumPy, and histories can be visited in any order.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from typing import Any

from counterplay.errors import GameError
from counterplay.game.game import TERMINAL, Game
from counterplay.game.registry import parameter, register


class RandomState:
    """A history: its path, who acts, how many times in a row, what both remember, and the sum of utilities."""

    __slots__ = ("count", "game", "path", "player", "seen", "streak", "total")

    def __init__(self, game: RandomGame, path: str, last: int, streak: int, seen: tuple[str, str], total: int) -> None:
        self.game = game
        self.path = path  # one letter for each move
        self.seen = seen
        self.total = total
        self.count = 0
        self.player, self.streak = TERMINAL, 0
        if len(path) < game.depth:
            again = game.draw("player", path) < 0.5**streak
            self.player = last if again else 1 - last
            self.streak = streak + 1 if again else 1
            self.count = game.branching - int(game.draw("actions", path) * (game.slack + 1))

    def actions(self) -> tuple[str, ...]:
        return self.game.labels[self.count]

    def child(self, action: str) -> RandomState:
        game, path = self.game, f"{self.path}{action}"
        seen = list(self.seen)
        for player in range(2):
            did = f"{self.count}{action}" if player == self.player else ""
            seen[player] += f" {did}{game.signs[int(game.draw(f'sign {player}', path) * game.observations)]}"
        step = int(game.draw("step", path) * (2 * game.step + 1)) - game.step
        return RandomState(game, path, self.player, self.streak, (seen[0], seen[1]), self.total + step)

    def infoset(self) -> str:
        remembered = f"{self.seen[self.player]} {self.count}".lstrip()
        return self.game.merged[self.player][remembered] if self.game.merge else remembered

    def utilities(self) -> tuple[float, float]:
        total = self.total
        if self.game.independent:
            most = self.game.step * self.game.depth
            total = int(self.game.draw("utility", self.path) * (2 * most + 1)) - most
        return (float(total), -float(total))


@register("random_game")
class RandomGame(Game):
    """Random game: a random tree with random observations; information sets may be merged at random."""

    seed: int = parameter(0, "which game", least=0)
    depth: int = parameter(6, "moves in every history", least=1, most=1000)
    branching: int = parameter(3, "most actions of a decision")
    slack: int = parameter(1, "a decision has up to this many actions fewer")
    observations: int = parameter(3, "different observations that an action can show to a player")
    step: int = parameter(
        3, "an action changes the first player's utility by at most this", least=0, most=1_000_000_000
    )
    merge: float = parameter(0.0, "probability with which an information set joins another one; 0 for perfect recall",
                             check=(lambda merge: 0.0 <= merge <= 1.0, "a probability from 0 to 1"))  # fmt: skip
    independent: bool = parameter(False, "each leaf draws its own utility, instead of the sum over its actions")
    zero_sum = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("branching", "observations"):
            if not 1 <= getattr(self, name) <= 26:
                bound = "at least 1" if getattr(self, name) < 1 else "at most 26"
                raise GameError(f"random_game: {name} must be {bound}; got {getattr(self, name)}")
        if not 0 <= self.slack < self.branching:
            raise GameError(f"random_game: slack must be from 0 to branching - 1; got {self.slack}")

    def root(self) -> Any:
        """Before the first move; the first player makes it."""
        return RandomState(self, "", 0, 0, ("", ""), 0)

    @functools.cached_property
    def labels(self) -> list[tuple[str, ...]]:
        """The actions of a decision, by their number."""
        return [tuple("abcdefghijklmnopqrstuvwxyz"[:count]) for count in range(self.branching + 1)]

    @property
    def signs(self) -> str:
        """The letters that denote observations."""
        return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def draw(self, what: str, where: str) -> float:
        """A number from [0, 1) that depends only on the seed, the purpose and the place."""
        digest = hashlib.sha256(f"{self.seed}/{what}/{where}".encode()).digest()
        return (int.from_bytes(digest[:8], "big") >> 11) / float(1 << 53)

    @functools.cached_property
    def merged(self) -> list[dict[str, str]]:
        """For each player, the name of the merged set to which an information set of perfect recall belongs."""
        classes: list[dict[tuple[int, int], dict[str, None]]] = [{}, {}]
        remembering = dataclasses.replace(self, merge=0.0)
        stack = [(remembering.root(), (0, 0))]
        while stack:
            state, made = stack.pop()
            if state.player == TERMINAL:
                continue
            classes[state.player].setdefault((made[state.player], state.count), {})[state.infoset()] = None
            after = (made[0] + (state.player == 0), made[1] + (state.player == 1))
            stack += [(state.child(action), after) for action in reversed(state.actions())]
        return [self._merge(player, sets) for player, sets in enumerate(classes)]

    def _merge(self, player: int, classes: dict[tuple[int, int], dict[str, None]]) -> dict[str, str]:
        names = {}
        for (made, count), sets in classes.items():
            left = list(sets)
            number = 0
            while left:
                number += 1
                place = f"{player} {made} {count} {number}"
                first = left[int(self.draw("first", place) * len(left))]
                joined = [one for one in left if one == first or self.draw(f"join {place}", one) < self.merge]
                names.update(dict.fromkeys(joined, f"move {made + 1} of {count} actions, set {number}"))
                left = [one for one in left if one not in names]
        return names
