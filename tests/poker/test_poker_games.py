"""Poker definitions as games: counts, values, information sets, run-outs, the registry, ``.game`` files."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError, MemoryLimitError
from counterplay.poker.acpc.definition import GameDefinition, format_definition
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.betting import count_betting
from counterplay.poker.poker_game import PokerGame, poker_game
from tests.reference.sequence_lp import zero_sum_value

LEDUC_VALUE = -0.0856064240780
"""Value of Leduc hold'em to the first player, by linear programming; computed independently."""


@pytest.mark.parametrize(
    ("name", "twin", "infosets"),
    [
        pytest.param("kuhn_limit_2p", "kuhn", 12, id="kuhn"),
        pytest.param("kuhn_limit_3p", "kuhn(players=3)", 48, id="three-player kuhn"),
        pytest.param("leduc_limit_2p", "leduc(suited=true)", 936, id="leduc"),
        pytest.param("leduc_limit_2p(isomorphic=true)", "leduc(physical_board=true)", 468, id="leduc, isomorphic"),
    ],
)
def test_as_large_as_the_games_written_by_hand(name: str, twin: str, infosets: int) -> None:
    tree, other = cp.compile_game(name), cp.compile_game(twin)
    assert tree.counts() == other.counts()
    assert tree.num_infosets == other.num_infosets == infosets
    assert sorted(tree.utility.ravel()) == sorted(other.utility.ravel())
    assert set(tree.recall) == {"perfect"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("kuhn_limit_2p", -1 / 18, id="kuhn, Kuhn 1950"),
        pytest.param("leduc_limit_2p", LEDUC_VALUE, id="leduc"),
        pytest.param("leduc_limit_2p(isomorphic=true)", LEDUC_VALUE, id="leduc, isomorphic"),
    ],
)
def test_values(name: str, value: float) -> None:
    assert zero_sum_value(cp.make(name)) == pytest.approx(value, abs=1e-9)


def test_uniform_play_of_three_player_kuhn() -> None:
    """Computed independently: 0.234375, -0.046875, -0.1875."""
    tree = cp.compile_game("kuhn_limit_3p")
    values = cp.expected_values(cp.TabularStrategy.uniform(tree), tree)
    assert values == pytest.approx([0.234375, -0.046875, -0.1875], abs=1e-12)


@pytest.mark.parametrize(
    ("name", "histories"),
    [
        pytest.param("rhode_island", r"[\d,]+ histories", id="rhode_island"),
        pytest.param("holdem_limit_2p", r"[\d,]+ histories", id="holdem_limit_2p"),
        pytest.param("holdem_nolimit_3p", "about [0-9.e+]+ histories", id="holdem_nolimit_3p"),
        pytest.param("holdem_2_1", r"[\d,]+ histories", id="holdem_2_1"),
    ],
)
def test_large_games_are_refused_before_they_are_walked(name: str, histories: str) -> None:
    with pytest.raises(MemoryLimitError, match=f"{name} has {histories} and needs about"):
        cp.compile_game(name, memory_limit=1 << 30)


@pytest.mark.parametrize(
    "name",
    ["kuhn_limit_3p", "leduc_limit_2p", "leduc_nolimit_2p(stack=104)", "holdem_2_1(ranks=7,suits=1)",
     "holdem_2_nolimit(stack=4,ranks=7,suits=1)", "rhode_island(ranks=4,suits=1)"],
)  # fmt: skip
def test_the_size_is_known_without_walking(name: str) -> None:
    game = cp.make(name)
    assert game.num_histories() == cp.compile_game(game).num_histories


def test_sizes_with_run_outs_and_open_first_boards() -> None:
    definition = GameDefinition(
        limit=False, players=3, rounds=3, blinds=(1, 1, 0), stacks=(2, 3, 3), suits=1, ranks=5, hole_cards=1,
        board_cards=(1, 0, 1),
    )  # fmt: skip
    game = poker_game(definition)
    assert game.num_histories() == cp.compile_game(game).num_histories


def test_the_states_of_limit_holdem() -> None:
    """Decisions only: 3.16e17 (Johanson 2016, section 9.1, exact number computed independently)."""
    definition = STANDARD["holdem.limit.2p.reverse_blinds"]
    deals = [1326 * 1225]
    for left, cards in ((48, 3), (45, 1), (44, 1)):
        deals.append(deals[-1] * math.comb(left, cards))
    assert count_betting(definition).infosets(deals) == 316_207_058_696_146_800


def test_betting_counts_give_the_terminals() -> None:
    """rhode_island(ranks=4,suits=1): 12 deals, then 2 cards and 1 card for the board."""
    game = cp.make("rhode_island(ranks=4,suits=1)")
    assert isinstance(game, PokerGame)
    counts = count_betting(game.definition)
    deals = (12, 24, 24)
    ends = sum((fold + show) * many for fold, show, many in zip(counts.folds, counts.showdowns, deals, strict=True))
    assert cp.compile_game(game).num_terminals == ends


def test_names_of_information_sets() -> None:
    state = cp.make("leduc_limit_2p").play("Ks", "Qh", "c", "r", "c", "Kh", "c")
    assert (state.player, state.infoset()) == (1, "Qh/Kh:crc/c")
    assert list(state.actions()) == ["c", "r"]
    same = cp.make("leduc_limit_2p(isomorphic=true)")
    assert same.play("Kh", "Qs", "c", "c", "Ks").infoset() == same.play("Ks", "Qh", "c", "c", "Kh").infoset()
    assert same.play("Kh", "Qs", "c", "c", "Ah").infoset() != same.play("Kh", "Qs", "c", "c", "As").infoset()


def test_boards_are_run_out_when_everybody_is_all_in() -> None:
    game = cp.make("holdem_nolimit_2p")
    state = game.play("AcAd", "KcKd", "r20000", "c")
    assert state.player == cp.CHANCE
    assert len(state.chance()) == 17_296  # 48 choose 3
    state = state.child("2c7h9s")
    assert state.player == cp.CHANCE
    state = state.child("Th")
    state = state.child("Kh")
    assert state.player == cp.TERMINAL
    assert state.utilities() == [-20000.0, 20000.0]
    folded = game.play("AcAd", "KcKd", "r300", "f")
    assert folded.player == cp.TERMINAL
    assert folded.utilities() == [-100.0, 100.0]


def test_always_call_against_always_raise_by_enumeration() -> None:
    """Every deal of Leduc, exact: the caller pays 2 + 2 and 4 + 4 more, so the pot is 13 each and symmetric."""
    game = cp.make("leduc_limit_2p")
    total = Fraction(0)
    deals = 0
    deck = ["Qh", "Kh", "Ah", "Qs", "Ks", "As"]
    for first, second, board in itertools.permutations(deck, 3):
        state = game.play(first, second)
        while state.player != cp.TERMINAL:
            if state.player == cp.CHANCE:
                state = state.child(board)
            else:
                raises = state.player == 0 and "r" in state.actions()
                state = state.child("r" if raises else "c")
        total += Fraction(state.utilities()[0])
        deals += 1
    assert (total, deals) == (0, 120)


def test_three_way_ties_split_exactly() -> None:
    definition = GameDefinition(
        limit=True, players=4, rounds=1, blinds=(1, 1, 1, 1), raise_sizes=(1,), suits=4, ranks=2, hole_cards=1,
        board_cards=(0,),
    )  # fmt: skip
    state = poker_game(definition).play("Ah", "As", "Ac", "Kh", "c", "c", "c", "c")
    assert state.utilities() == pytest.approx([1 / 3, 1 / 3, 1 / 3, -1], abs=1e-15)


def test_game_files(tmp_path: Path) -> None:
    path = tmp_path / "my leduc.game"
    path.write_text(format_definition(STANDARD["leduc.limit.2p"]), encoding="utf-8")
    game = cp.make(str(path))
    assert (game.spec(), game.players, game.big_blind) == (str(path), 2, 1.0)
    assert cp.make(game.spec()) == game
    np.testing.assert_array_equal(cp.compile_game(game).utility, cp.compile_game("leduc_limit_2p").utility)
    with pytest.raises(GameError, match=r"my leduc\.game: a \.game file takes no parameters; got \['players'\]"):
        cp.make(str(path), players=3)
    with pytest.raises(GameError, match=r"there is no file 'none\.game'; give the path of a \.game file"):
        cp.make("none.game")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rhode_island(ranks=0)", "rhode_island: numRanks must lie between 1 and 13; got 0"),
        ("holdem_limit_2p(suits=5)", "holdem_limit_2p: numSuits must lie between 1 and 4; got 5"),
        ("holdem_2_1(ranks=3,suits=2)", "holdem_2_1: a hand takes 7 cards but the deck has 6"),
        ("leduc_nolimit_2p(stack=99)", "leduc_nolimit_2p: the blind of position 0 must lie between 0 and its stack 99"),
        ("leduc_limit_2p(stack=99)", "leduc_limit_2p has no parameter 'stack'"),
    ],
)
def test_parameters_that_are_refused(spec: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        cp.make(spec)


def test_names_of_the_registry() -> None:
    wanted = {"rhode_island", "holdem_2_1", "holdem_2_4", "holdem_limit_2p", "holdem_limit_3p", "holdem_nolimit_2p",
              "holdem_nolimit_3p", "kuhn_limit_2p", "kuhn_limit_3p", "leduc_limit_2p", "leduc_nolimit_2p",
              "royal_holdem", "holdem_2_nolimit", "holdem_4_1", "holdem_4_2"}  # fmt: skip
    assert wanted <= set(cp.game_names())
    assert cp.make("holdem_limit_3p").big_blind == 10.0
