"""Random games of public actions and private chance, as trees written out: what the public tree is derived from.

Chance may roll at any time; an outcome is seen by both players, by one, or by nobody, at once or only after some more
moves, so that cells part and hands are refined with and without chance.
"""

from __future__ import annotations

import random

from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.game.game import Game


def random_public_game(seed: int, moves: int = 3, rolls: int = 3) -> Game:
    """A two-player zero-sum game with perfect recall, public actions, and at most so many moves and rolls.

    What happens when is drawn for each public line of actions, so that it does not tell what is private.
    """
    draw = random.Random(seed)
    plan: dict[tuple[str, ...], tuple[str, int, int, int]] = {}

    def planned(line: tuple[str, ...]) -> tuple[str, int, int, int]:
        """What happens after some events: its kind, for whom, in how many ways, after how many events it is seen."""
        if line not in plan:
            events = sum(event == "*" for event in line)
            acts = len(line) - events
            kinds = ["roll"] * (events < rolls) + ["act", "act"] * (acts < moves)
            if not kinds or (acts and draw.random() < 0.1):
                plan[line] = ("end", 0, 0, 0)
            else:
                seen_by = draw.choice((0, 1, 2, 3))  # player 0, player 1, both, nobody
                plan[line] = (draw.choice(kinds), seen_by, draw.choice((2, 2, 3)), draw.choice((0, 0, 1, 3)))
        return plan[line]

    def grow(line: tuple[str, ...], rolled: tuple[tuple[int, int, int, int], ...]) -> Node:
        kind, who, ways, delay = planned(line)
        if kind == "end":
            won = float(random.Random(f"{seed} {line} {[face for face, *_ in rolled]}").randint(-3, 3))
            return terminal(won, -won)
        if kind == "roll":
            shares = [draw_share(line, face) for face in range(ways)]
            return chance(
                {
                    f"o{face}": (share / sum(shares), grow((*line, "*"), (*rolled, (face, who, len(line), delay))))
                    for face, share in enumerate(shares)
                }
            )
        player = who % 2
        known = [
            str(face) if seen_by in (player, 2) and len(line) > at + wait else "-" for face, seen_by, at, wait in rolled
        ]
        name = f"{''.join(known)}:{''.join(line)}"
        return decision(player, name, {f"a{i}": grow((*line, str(i)), rolled) for i in range(ways)})

    def draw_share(line: tuple[str, ...], face: int) -> int:
        return random.Random(f"{seed} {line} {face}").randint(1, 4)

    return ExplicitGame(grow((), ()), players=2, name=f"random public game {seed}")
