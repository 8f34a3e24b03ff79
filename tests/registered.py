"""The registered games in sizes that tests can walk through."""

from __future__ import annotations

from counterplay import game_names

SMALL = {
    "one_card_poker": "one_card_poker(cards=4)",
    "bluff": "bluff(d1=2,sides=2,chain=true)",
    "die_roll_poker": "die_roll_poker(sides=2)",
    "generic_poker": "generic_poker(bets=1,raises=1,consecutive=1,types=3)",
    "goofspiel": "goofspiel(cards=3)",
    "graph_pursuit": "graph_pursuit(moves=3)",
    "ii_goofspiel": "ii_goofspiel(cards=3)",
    "oshi_zumo": "oshi_zumo(coins=4)",
    "random_game": "random_game(depth=4)",
    "search_game": "search_game(moves=2)",
    "phantom_ttt": 'phantom_ttt(x="0,8",o="1,4")',
}
"""Smaller parameters for games whose defaults are slow for the twins."""

NAMES = [SMALL.get(name, name) for name in game_names()]
"""A name for every registered game."""
