"""The poker games of the competition and of the literature, by the names of their ``.game`` files.

Facts from the reference server of the Annual Computer Poker Competition (the four hold'em games and three-player
Kuhn), from Open Pure CFR (two-player Kuhn), DeepStack-Leduc (no-limit Leduc) and the CFR+ release of the
University of Alberta (2-1, 2-4, Rhode Island, Royal).  ``leduc.limit.2p`` is the game of the literature, with two bets
in a round; ``4-1`` and ``4-2`` are limit hold'em with one raise and with two bets in a round, where the big blind is a
bet (4-2: Johanson 2016, section 11.2).  ``reverse_blinds``: position 0 is the big blind and acts last before the flop,
first afterwards.  Showdowns of Rhode Island are those of that release: pairs, trips and high cards of the three cards.
Straights and flushes of three cards, as in the original description (Shi and Littman 2001), are ``three_card_hands`` of
a definition.
"""

from __future__ import annotations

from counterplay.poker.acpc.definition import GameDefinition

_HOLDEM = {"rounds": 4, "suits": 4, "ranks": 13, "hole_cards": 2, "board_cards": (0, 3, 1, 1)}
_LIMIT = {"limit": True, "raise_sizes": (10, 10, 20, 20), "max_raises": (3, 4, 4, 4)}
_HEADS_UP = {"players": 2, "blinds": (10, 5), "first_players": (1, 0, 0, 0)}
_FLOP_ONLY = {"limit": True, "players": 2, "rounds": 2, "blinds": (10, 5), "raise_sizes": (10, 20), "suits": 4,
              "first_players": (1, 0), "ranks": 13, "hole_cards": 2, "board_cards": (0, 3)}  # fmt: skip
_LEDUC = {"players": 2, "rounds": 2, "suits": 2, "ranks": 3, "hole_cards": 1, "board_cards": (0, 1)}


def _game(*parts: dict[str, object], **more: object) -> GameDefinition:
    facts: dict[str, object] = {}
    for part in (*parts, more):
        facts.update(part)
    return GameDefinition(**facts)  # type: ignore[arg-type]


STANDARD: dict[str, GameDefinition] = {
    "holdem.limit.2p.reverse_blinds": _game(_HOLDEM, _LIMIT, _HEADS_UP),
    "holdem.nolimit.2p.reverse_blinds": _game(
        _HOLDEM, limit=False, players=2, stacks=(20000, 20000), blinds=(100, 50), first_players=(1, 0, 0, 0)
    ),
    "holdem.limit.3p": _game(_HOLDEM, _LIMIT, players=3, blinds=(5, 10, 0), first_players=(2, 0, 0, 0)),
    "holdem.nolimit.3p": _game(
        _HOLDEM, limit=False, players=3, stacks=(20000,) * 3, blinds=(50, 100, 0), first_players=(2, 0, 0, 0)
    ),
    "kuhn.limit.3p": _game(
        limit=True, players=3, rounds=1, stacks=(2, 2, 2), blinds=(1, 1, 1), raise_sizes=(1,), max_raises=(1,),
        suits=1, ranks=4, hole_cards=1, board_cards=(0,),
    ),
    "kuhn.limit.2p": _game(
        limit=True, players=2, rounds=1, blinds=(1, 1), raise_sizes=(1,), max_raises=(1,),
        suits=1, ranks=3, hole_cards=1, board_cards=(0,),
    ),
    "leduc.limit.2p": _game(_LEDUC, limit=True, blinds=(1, 1), raise_sizes=(2, 4), max_raises=(2, 2)),
    "leduc.nolimit.2p": _game(_LEDUC, limit=False, stacks=(1200, 1200), blinds=(100, 100)),
    "2-1": _game(_FLOP_ONLY, max_raises=(1, 1)),
    "2-4": _game(_FLOP_ONLY, max_raises=(3, 4)),
    "4-1": _game(_HOLDEM, _HEADS_UP, limit=True, raise_sizes=(10, 10, 20, 20), max_raises=(1, 1, 1, 1)),
    "4-2": _game(_HOLDEM, _HEADS_UP, limit=True, raise_sizes=(10, 10, 20, 20), max_raises=(1, 2, 2, 2)),
    "rhode": _game(
        limit=True, players=2, rounds=3, blinds=(5, 5), raise_sizes=(10, 20, 20), max_raises=(3, 3, 3),
        suits=4, ranks=13, hole_cards=1, board_cards=(0, 1, 1),
    ),
    "royal": _game(_HOLDEM, _LIMIT, _HEADS_UP, ranks=5),
}  # fmt: skip
"""Definitions by file name, without the extension."""
