"""Generic poker Pbrc: counts by the closed form, published shares, values, and Leduc hold'em as a special case.

Source: Čermák 2018, section 5.3.2.1.  Sizes of single games, class sizes and values were computed independently.
"""

from __future__ import annotations

import pytest

import counterplay as cp
from counterplay.errors import GameError
from tests.reference.compiled import class_sizes, sizes, tree_value


def name_of(digits: str) -> str:
    bets, raises, consecutive = digits
    return f"generic_poker(bets={bets},raises={raises},consecutive={consecutive})"


def closed_form(bets: int, raises: int, consecutive: int, types: int) -> int:
    """Information sets of both players: n decisions in a round, of which n - 1 ways lead on to the next."""
    n = 2 + 2 * bets * sum(raises**k for k in range(consecutive + 1))
    return n * types + (n - 1) * n * types**2


@pytest.mark.parametrize(
    ("digits", "infosets", "sequences"),
    [
        ("111", 504, 589),
        ("112", 928, 1_161),
        ("121", 928, 1_161),
        ("211", 1_480, 1_925),
        ("122", 3_904, 5_369),
        ("212", 2_968, 4_029),
        ("221", 2_968, 4_029),
        ("222", 14_040, 20_125),
    ],
)
def test_counts(digits: str, infosets: int, sequences: int) -> None:
    tree = cp.compile_game(name_of(digits))
    assert tree.num_infosets == infosets == closed_form(*map(int, digits), types=4)
    assert sizes(tree) == {"infosets": (infosets // 2,) * 2, "sequences": (sequences,) * 2}


@pytest.mark.slow
def test_p224() -> None:
    """100 sets are 0.7 % of P222 and 0.03 % of P224, the latter truncated (Čermák 2018, section 5.3.2)."""
    assert int(1000 * 100 / 14_040) / 10 == 0.7
    tree = cp.compile_game(name_of("224"))
    assert tree.num_infosets == 252_504
    assert sizes(tree) == {"infosets": (126_252, 126_252), "sequences": (374_749, 374_749)}
    assert tree.num_terminals == 1_993_984
    assert tree.num_entries == 749_496
    assert int(10_000 * 100 / tree.num_infosets) / 100 == 0.03


def test_terminals_and_entries() -> None:
    small, large = cp.compile_game(name_of("111")), cp.compile_game("generic_poker")
    assert (small.num_terminals, small.num_entries) == (2_944, 1_176)
    assert (large.num_terminals, large.num_entries) == (106_240, 40_248)


@pytest.mark.parametrize(
    ("digits", "first", "second"),
    [
        (
            "111",
            {(0, 2): 4, (1, 2): 36, (1, 3): 4, (2, 2): 80, (2, 3): 32, (3, 2): 48, (3, 3): 48},
            {(0, 2): 4, (0, 3): 4, (1, 2): 68, (1, 3): 64, (2, 2): 80, (2, 3): 16, (3, 2): 16},
        ),
        (
            "222",
            {
                (0, 3): 4, (1, 3): 48, (1, 4): 24, (2, 2): 32, (2, 3): 288, (2, 4): 288, (3, 2): 384, (3, 3): 128,
                (3, 4): 1_728, (4, 2): 2_304, (4, 4): 768, (5, 2): 1_024,
            },
            {
                (0, 3): 4, (0, 4): 8, (1, 2): 32, (1, 3): 144, (1, 4): 304, (2, 2): 1_152, (2, 3): 320,
                (2, 4): 1_216, (3, 2): 2_560, (3, 4): 1_280,
            },
        ),
    ],
)  # fmt: skip
def test_initial_abstraction(
    digits: str, first: dict[tuple[int, int], int], second: dict[tuple[int, int], int]
) -> None:
    tree = cp.compile_game(name_of(digits))
    assert class_sizes(tree, 0) == first
    assert class_sizes(tree, 1) == second


@pytest.mark.parametrize(
    ("digits", "value"),
    [
        ("111", -0.09554258),
        ("112", -0.09019979),
        ("121", -0.09439752),
        ("211", -0.12251771),
        ("122", -0.08766554),
        ("212", -0.11860838),
        ("221", -0.10554281),
        pytest.param("222", -0.09959133, marks=pytest.mark.slow),
    ],
)
def test_values(digits: str, value: float) -> None:
    assert tree_value(cp.compile_game(name_of(digits))) == pytest.approx(value, abs=1e-8)


def test_leduc_is_a_special_case() -> None:
    """P111 with 3 ranks of 2 cards has the value of Leduc hold'em, -0.0856064 (Gibson 2014, section 3.3)."""
    tree = cp.compile_game(name_of("111").replace(")", ",types=3,copies=2)"))
    assert sizes(tree) == {"infosets": (144, 144), "sequences": (337, 337)}
    assert sizes(tree) == sizes(cp.compile_game("leduc"))
    assert tree.num_terminals == 1_116
    assert tree_value(tree) == pytest.approx(-0.0856064240780, abs=1e-9)


def test_betting() -> None:
    """A raise adds its size to the call; sizes double in the second round; folding loses what was paid."""
    game = cp.make("generic_poker")
    assert game.play("J", "Q").actions() == ("bet2", "bet4", "check")
    assert game.play("J", "Q", "bet4").actions() == ("call", "raise2", "raise4", "fold")
    assert game.play("J", "Q", "bet4", "raise2", "raise4").actions() == ("call", "fold")
    assert game.play("J", "Q", "bet4", "raise2", "fold").utilities() == (-5.0, 5.0)
    shown = game.play("J", "Q", "bet4", "raise2", "call", "A")
    assert shown.infoset() == "JA:b4r2c/"
    assert shown.actions() == ("bet4", "bet8", "check")
    assert game.play("J", "Q", "bet4", "raise2", "call", "A", "check", "check").utilities() == (-7.0, 7.0)
    assert game.play("J", "Q", "check", "check", "J", "bet8", "call").utilities() == (9.0, -9.0)
    assert game.play("K", "K", "check", "check", "J", "bet8", "call").utilities() == (0.0, 0.0)
    assert game.big_blind == 1.0


def test_cards_run_out() -> None:
    game = cp.make("generic_poker(types=3,copies=1)")
    assert game.play("K").chance() == [("J", 0.5), ("Q", 0.5)]
    assert game.play("K", "J", "check", "check").chance() == [("Q", 1.0)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("generic_poker(bets=-1)", "bets must be at least 0; got -1"),
        ("generic_poker(copies=0)", "copies must be at least 1; got 0"),
        ("generic_poker(types=2,copies=1)", "2 cards are too few"),
    ],
)
def test_bad_parameters(name: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        cp.make(name)
