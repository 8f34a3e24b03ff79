"""Poker definitions against OpenSpiel's ``universal_poker``, which plays them with the reference dealer's own rules."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.poker.acpc.definition import UNLIMITED, GameDefinition
from counterplay.poker.poker_game import PokerGame, poker_game
from counterplay.poker.rules import Betting

pytest.importorskip("pyspiel")

MOST_HISTORIES = 4000


def universal_poker(game: GameDefinition) -> str:
    """The name of the same game in OpenSpiel."""

    def row(values: object) -> str:
        return " ".join(map(str, values))  # type: ignore[call-overload]

    stacks = [stack if stack < UNLIMITED else 1000 for stack in game.stacks]
    kind = f"betting=limit,raiseSize={row(game.raise_sizes)}" if game.limit else "betting=nolimit"
    betting = "" if game.limit else ",bettingAbstraction=fullgame"
    return (
        f"openspiel:universal_poker({kind},numPlayers={game.players},numRounds={game.rounds},stack={row(stacks)},"
        f"blind={row(game.blinds)},firstPlayer={row(first + 1 for first in game.first_players)},"
        f"maxRaises={row(game.max_raises)},numSuits={game.suits},numRanks={game.ranks},"
        f"numHoleCards={game.hole_cards},numBoardCards={row(game.board_cards)}{betting})"
    )


def check(game: PokerGame) -> None:
    """Random play of both is worth the same, and no player gains more against it in one than in the other."""
    ours = cp.compile_game(game)
    theirs = cp.compile_game(universal_poker(game.definition))
    assert ours.num_terminals == theirs.num_terminals
    one, other = cp.TabularStrategy.uniform(ours), cp.TabularStrategy.uniform(theirs)
    assert cp.expected_values(one, ours) == pytest.approx(cp.expected_values(other, theirs), abs=1e-9)
    if set(theirs.recall) == {"perfect"}:
        assert cp.exploitability(one, ours) == pytest.approx(cp.exploitability(other, theirs), abs=1e-9)


@pytest.mark.parametrize(
    "name",
    [
        "kuhn_limit_2p",
        "kuhn_limit_3p",
        "leduc_limit_2p",
        "leduc_nolimit_2p(stack=104)",
        "rhode_island(ranks=4,suits=1)",
    ],
)
def test_standard_games(name: str) -> None:
    game = cp.make(name)
    assert isinstance(game, PokerGame)
    check(game)


@st.composite
def small(draw: st.DrawFn) -> GameDefinition:
    """Games with few chips and cards; no-limit stacks differ (OpenSpiel ignores the stacks of limit games)."""
    limit = draw(st.booleans())
    players = draw(st.integers(2, 3))
    rounds = draw(st.integers(1, 2))
    stacks = tuple(draw(st.integers(2, 6)) for _ in range(players))
    by_round = {"min_size": rounds, "max_size": rounds}
    return GameDefinition(
        limit=limit, players=players, rounds=rounds, stacks=() if limit else stacks,
        blinds=tuple(draw(st.integers(0, min(2, stack - 1))) for stack in stacks),
        raise_sizes=tuple(draw(st.lists(st.integers(1, 2), **by_round))) if limit else (),
        first_players=tuple(draw(st.lists(st.integers(0, players - 1), **by_round))),
        max_raises=tuple(draw(st.lists(st.integers(1, 3), **by_round))),
        suits=draw(st.integers(1, 2)), ranks=draw(st.integers(players + 1, 5)), hole_cards=1,
        board_cards=(0, *(draw(st.integers(0, 1)) for _ in range(rounds - 1))),
    )  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(small())
def test_random_games(definition: GameDefinition) -> None:
    game = poker_game(definition)
    assume(any(definition.blinds))  # OpenSpiel wants a blind
    assume(not Betting.start(definition).finished)
    assume((game.num_histories() or MOST_HISTORIES) < MOST_HISTORIES)
    check(game)
