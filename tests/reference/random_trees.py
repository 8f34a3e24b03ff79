"""Small random games on explicit trees, with information sets merged at random: any recall may come out."""

from __future__ import annotations

import random

from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.game.game import Game


def random_tree_game(
    seed: int, depth: int = 4, players: int = 2, chance_share: float = 0.25, sets: int = 3, absent_minded: bool = False
) -> Game:
    """A zero-sum game (two players) or one with random utilities, whose histories fall into few information sets.

    Sets are drawn among ``sets`` for each player, number of actions and, without absent-mindedness, depth.
    """
    draw = random.Random(seed)

    def grow(level: int) -> Node:
        if level == depth or (level > 1 and draw.random() < 0.15):
            values = [float(draw.randint(-3, 3)) for _ in range(players)]
            return terminal(values[0], -values[0]) if players == 2 else terminal(*values)
        actions = draw.choice((2, 2, 3))
        if draw.random() < chance_share:
            shares = [draw.randint(1, 3) for _ in range(actions)]
            return chance({f"c{i}": (share / sum(shares), grow(level + 1)) for i, share in enumerate(shares)})
        player = draw.randrange(players)
        where = "" if absent_minded else f"depth {level} "
        name = f"{where}actions {actions} set {draw.randrange(sets)}"
        return decision(player, name, {f"a{i}": grow(level + 1) for i in range(actions)})

    return ExplicitGame(grow(0), players=players, name=f"random tree {seed}")
