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
    "holdem_2_1": "holdem_2_1(ranks=7,suits=1)",
    "holdem_2_4": "holdem_2_4(ranks=7,suits=1)",
    "holdem_2_nolimit": "holdem_2_nolimit(stack=4,ranks=7,suits=1)",
    "leduc_nolimit_2p": "leduc_nolimit_2p(stack=104)",
    "rhode_island": "rhode_island(ranks=4,suits=1)",
}
"""Smaller parameters for games whose defaults are slow for the twins."""

LARGE = {"holdem_4_1", "holdem_4_2", "holdem_limit_2p", "holdem_limit_3p", "holdem_nolimit_2p", "holdem_nolimit_3p",
         "royal_holdem"}  # fmt: skip
"""Games with no form that can be walked through; their own tests play them hand by hand."""

NAMES = [SMALL.get(name, name) for name in game_names() if name not in LARGE]
"""A name for every registered game that can be walked through."""
