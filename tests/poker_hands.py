"""Random definitions of poker games, and hands played at random, for Hypothesis."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from counterplay.poker.acpc.definition import UNLIMITED, GameDefinition
from counterplay.poker.rules import Betting


@st.composite
def definitions(draw: st.DrawFn) -> GameDefinition:
    """Definitions of all kinds that a dealer accepts."""
    limit = draw(st.booleans())
    players = draw(st.integers(2, 10))
    rounds = draw(st.integers(1, 4))
    suits, hole = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    least = -(-(hole * players) // suits)
    if least > 13:
        suits, hole, least = 4, 1, -(-players // 4)
    ranks = draw(st.integers(max(1, least), 13))
    spare = min(7, suits * ranks - hole * players)
    boards = []
    for number in range(rounds):
        boards.append(draw(st.integers(0, min(3, spare))) if number else 0)
        spare -= boards[-1]
    stacks = draw(
        st.one_of(
            st.just((UNLIMITED,) * players),
            st.integers(1, 60).map(lambda stack: (stack,) * players),
            st.lists(st.integers(1, 60), min_size=players, max_size=players).map(tuple),
        )
    )
    blinds = tuple(min(stack, draw(st.sampled_from([0, 0, 1, 2, 5]))) for stack in stacks)
    by_round = {"min_size": rounds, "max_size": rounds}
    return GameDefinition(
        limit=limit, players=players, rounds=rounds, stacks=stacks, blinds=blinds,
        raise_sizes=tuple(draw(st.lists(st.integers(0, 20), **by_round))) if limit else (),
        first_players=tuple(draw(st.lists(st.integers(0, players - 1), **by_round))),
        max_raises=tuple(draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 255]), **by_round))),
        suits=suits, ranks=ranks, hole_cards=hole, board_cards=tuple(boards),
    )  # fmt: skip


def random_action(betting: Betting, chance: random.Random) -> str:
    """A legal action; raises of small, large and any size are tried."""
    span = betting.raise_range()
    kinds = ["c", "c", "f"] if betting.can_fold() else ["c"]
    if span is not None:
        kinds += ["r"]
    kind = chance.choice(kinds)
    if kind != "r" or span is None or betting.game.limit:
        return kind
    least, most = span
    near = min(most, least + chance.choice([0, 0, 1, 10]))
    return f"r{chance.choice([near, near, chance.randint(least, most), most])}"
