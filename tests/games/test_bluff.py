"""Bluff: its rules, its sizes, its values, forgetting bids, and chains of rounds."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import counterplay as cp
from counterplay.analysis.regret_bounds import player_quantities
from counterplay.analysis.regret_tracker import RegretTracker
from counterplay.experiments.bluff_chain import solve_rounds
from counterplay.games.bluff import Bluff, count_infosets
from tests.reference.best_response import exploitability
from tests.reference.sequence_lp import zero_sum_value
from tests.reference.walks import infosets, uniform_profile

compiled = cache(cp.compile_game)


# ---------------------------------------------------------------------------------------------- rules


def test_a_round_by_hand() -> None:
    game = cp.make("bluff(2,1)")
    opening = game.play("36", "2")
    assert opening.player == 0
    assert opening.infoset() == "36:"
    assert len(opening.actions()) == 18
    assert opening.actions()[:2] == ("1x1", "1x2")
    answer = opening.child("1x6").child("2x1")
    assert answer.player == 0
    assert answer.infoset() == "36:1x6,2x1"
    assert answer.actions() == ("2x2", "2x3", "2x4", "2x5", "2x6", *(f"3x{face}" for face in range(1, 7)), "bluff")


@pytest.mark.parametrize(
    ("rolls", "bids", "won"),
    [
        pytest.param(("36", "2"), ("2x2",), 1.0, id="2 and a wild 6: the bidder wins"),
        pytest.param(("36", "2"), ("2x2", "3x2"), 1.0, id="one too many: the caller wins"),
        pytest.param(("36", "2"), ("2x6",), -1.0, id="a bid on 6 counts sixes only"),
        pytest.param(("66", "6"), ("2x1", "3x1"), -1.0, id="wild dice alone"),
        pytest.param(("36", "2"), ("1x4",), 1.0, id="nothing but the wild one"),
    ],
)
def test_who_wins_the_round(rolls: tuple[str, str], bids: tuple[str, ...], won: float) -> None:
    end = cp.make("bluff(2,1)").play(*rolls, *bids, "bluff")
    assert end.player == cp.TERMINAL
    assert tuple(end.utilities()) == (won, -won)


def test_the_top_bid_must_be_called() -> None:
    assert cp.make("bluff(1,1)").play("1", "2", "2x6").actions() == ("bluff",)


def test_rolls_are_multisets_with_their_chances() -> None:
    rolls = dict(cp.make("bluff(2,1)").root().chance())
    assert len(rolls) == 21
    assert (rolls["11"], rolls["12"]) == (1 / 36, 2 / 36)
    assert dict(cp.make("bluff(1,1,12)").root().chance()).keys() == {str(face) for face in range(1, 13)}
    assert "3.12" in dict(cp.make("bluff(2,1,12)").root().chance())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bluff(0,1)", "bluff: d1 must be at least 1; got 0"),
        ("bluff(1,1,1)", "bluff: sides must be at least 2; got 1"),
        ("bluff(recall=-1)", "bluff: recall must be at least 0; got -1"),
        ("bluff(won=inf)", "bluff: lost and won must be finite numbers; got -1.0 and inf"),
    ],
)
def test_parameters_that_make_no_game(spec: str, message: str) -> None:
    with pytest.raises(cp.GameError, match=message):
        cp.make(spec)


# ---------------------------------------------------------------------------------------------- sizes

PAIRS_2_2 = [  # recall, pairs (Lanctot et al. 2012, table 1, where printed), sets (computed independently)
    (1, 12_600, 1_008),
    (2, 97_608, 11_634),
    (3, 543_900, 86_016),
    (4, 2_329_068, 457_926),
    (5, 7_982_100, 1_871_184),
    (6, 22_518_468, 6_110_958),
    (7, 53_408_250, 16_407_552),
    (8, 108_323_418, 37_000_740),
    (9, 190_696_170, 71_322_720),
    (10, 295_534_218, 119_373_492),
    (23, 704_643_030, 352_321_536),
    (0, 704_643_030, 352_321_536),  # Johanson 2016, section 3.2.3: 352 million
]

PAIRS_1_1 = [  # recall, pairs, sets, computed independently
    (1, 936, 144),
    (2, 3_576, 804),
    (3, 9_516, 2_784),
    (4, 19_020, 6_744),
    (5, 30_108, 12_288),
    (6, 39_612, 17_832),
    (7, 45_552, 21_792),
    (8, 48_192, 23_772),
    (9, 48_984, 24_432),
    (10, 49_128, 24_564),
    (11, 49_140, 24_576),
    (0, 49_140, 24_576),
]


@pytest.mark.parametrize(("recall", "pairs", "sets"), PAIRS_2_2)
def test_counts_of_bluff_2_2(recall: int, pairs: int, sets: int) -> None:
    found, entries = count_infosets(2, 2, recall=recall)
    assert (entries, sum(found)) == (pairs, sets)


@pytest.mark.parametrize(("recall", "pairs", "sets"), PAIRS_1_1)
def test_counts_of_bluff_1_1(recall: int, pairs: int, sets: int) -> None:
    found, entries = count_infosets(1, 1, recall=recall)
    assert (entries, sum(found)) == (pairs, sets)


def test_counts_of_bluff_2_1() -> None:
    """3.5 million information sets (Gibson et al. 2012, section 5)."""
    found, entries = count_infosets(2, 1)
    assert (sum(found), entries) == (3_538_944, 7_077_861)


@pytest.mark.parametrize("sides", range(7, 13))
def test_counts_with_more_sides(sides: int) -> None:
    """Gibson 2014, section 5.3.2: 114,688 sets with seven sides up to 201,326,592 with twelve."""
    assert sum(count_infosets(1, 1, sides)[0]) == sides * 4**sides


@pytest.mark.parametrize("recall", range(7))
@pytest.mark.parametrize(("d1", "d2", "sides"), [(1, 1, 2), (1, 1, 3), (2, 1, 2), (1, 2, 2)])
def test_counts_agree_with_the_tree(d1: int, d2: int, sides: int, recall: int) -> None:
    tree = compiled(f"bluff({d1},{d2},{sides},{recall})")
    per_player = np.diff(tree.player_infosets)
    assert count_infosets(d1, d2, sides, recall) == (tuple(per_player.tolist()), tree.num_entries)


def test_tree_of_bluff_1_1() -> None:
    """Over 24 thousand information sets, 294 thousand histories (Gibson et al. 2012, section 5)."""
    tree = compiled("bluff(1,1)")
    assert (tree.num_histories, tree.num_infosets, tree.num_entries) == (294_883, 24_576, 49_140)
    assert tree.recall == ("perfect", "perfect")


@pytest.mark.parametrize(("sides", "histories"), [(2, 127), (3, 1147), (4, 8181), (5, 51_181)])
def test_trees_with_fewer_sides(sides: int, histories: int) -> None:
    tree = compiled(f"bluff(1,1,{sides})")
    assert (tree.num_infosets, tree.num_histories) == (sides * 4**sides, histories)


# ---------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(("sides", "value"), [(2, Fraction(1, 2)), (3, Fraction(1, 9)), (4, Fraction(1, 16))])
def test_values_with_fewer_sides(sides: int, value: Fraction) -> None:
    """Computed independently."""
    assert zero_sum_value(cp.make(f"bluff(1,1,{sides})")) == pytest.approx(float(value), abs=1e-9)


def test_value_of_bluff_1_1() -> None:
    """-7/258 to the opener, a value known in the literature."""
    result = cp.solve(compiled("bluff(1,1)"), "pcfr+", exploitability=1e-3, iterations=2000)
    assert result.exploitability <= 1e-3
    assert result.value[0] == pytest.approx(-7 / 258, abs=2e-3)


@pytest.mark.parametrize(
    ("sides", "gap", "value"),
    [
        (2, Fraction(9, 16), Fraction(1, 8)),
        (3, Fraction(5, 9), Fraction(1, 54)),
        (4, Fraction(2201, 3360), Fraction(-1, 64)),
    ],
)
def test_uniform_play_with_fewer_sides(sides: int, gap: Fraction, value: Fraction) -> None:
    """Computed independently."""
    game = cp.make(f"bluff(1,1,{sides})")
    profile = uniform_profile(game)
    assert exploitability(game, profile) == pytest.approx(float(gap), abs=1e-12)
    tree = compiled(game.spec())
    uniform = cp.CfrSolver(tree, "cfr").measure("last")
    assert uniform.exploitability == pytest.approx(float(gap), abs=1e-12)
    assert uniform.value[0] == pytest.approx(float(value), abs=1e-12)


def test_uniform_play_is_exploitable() -> None:
    """Exploitability 0.780 of uniform play in Bluff(1,1) (Gibson et al. 2012, figure 3); the fraction is ours."""
    uniform = cp.CfrSolver(compiled("bluff(1,1)"), "cfr").measure("last")
    assert uniform.exploitability == pytest.approx(566633 / 725760, abs=1e-12)


def test_payoffs_scale_and_shift_the_round() -> None:
    """A round has two results, so other payoffs give an affine image of it."""
    plain = zero_sum_value(cp.make("bluff(1,1,3)"))
    assert zero_sum_value(cp.make("bluff(1,1,3,lost=0.25,won=2)")) == pytest.approx(
        (0.25 + 2) / 2 + plain * (2 - 0.25) / 2, abs=1e-9
    )


def test_m_values() -> None:
    """Computed independently; the parts of the partition by own bids are Fibonacci numbers."""
    one, two = (player_quantities(compiled("bluff(1,1)"), player) for player in (0, 1))
    assert (one.parts, two.parts) == (233, 144)
    assert (one.m_value, two.m_value) == pytest.approx((1602.138550, 1271.151821), abs=1e-6)


# ---------------------------------------------------------------------------------------------- forgetting bids


@pytest.mark.parametrize(
    ("spec", "recall"),
    [
        *((f"bluff({dice},2)", recall) for dice in ("1,1", "2,1") for recall in (1, 2, 3, 9)),
        *(("bluff(2,1,2,chain=true)", recall) for recall in (1, 2)),
        ("bluff(1,1,11)", 1),
    ],
)
def test_forgetting_by_name_gives_the_sets_of_the_game_that_forgets(spec: str, recall: int) -> None:
    if spec == "bluff(1,1,11)":  # too large to walk; the names alone
        assert cp.make(spec).forget("last-bids", "1")("11:1x3,1x11,2x10") == "11:2x10"
        return
    game = cp.make(spec)
    forget = game.forget("last-bids", str(recall))
    remainders = {(player, forget(str(name))): actions for (player, name), actions in infosets(game).items()}
    assert remainders == infosets(cp.make(spec, recall=recall))


def test_what_can_be_forgotten() -> None:
    game = cp.make("bluff(1,1)")
    assert list(game.forgets) == ["last-bids"]
    for value in ("0", "-1", "many", "1.5"):
        with pytest.raises(cp.GameError, match=f"last-bids takes an integer, at least 1; got '{value}'"):
            game.forget("last-bids", value)
    with pytest.raises(cp.GameError, match=r"bluff cannot forget 'dice'; it can forget last-bids"):
        game.forget("dice", "1")
    with pytest.raises(cp.GameError, match="'K' is not an information set of bluff"):
        game.forget("last-bids", "1")("K")


@pytest.mark.parametrize(
    ("recall", "classes"),
    [
        (1, ("imperfect", "imperfect")),
        (3, ("imperfect", "imperfect")),
        (4, ("a-loss", "imperfect")),  # whatever is hidden from player 1, its own opening was different
        (5, ("perfect", "perfect")),  # all but the last of six bids are all that a mover can have heard
    ],
)
def test_what_players_who_forget_bids_remember(recall: int, classes: tuple[str, str]) -> None:
    """No perfect recall below the number of bids less one (Lanctot et al. 2012, section 6)."""
    assert compiled(f"bluff(1,1,3,recall={recall})").recall == classes


REGRETS = {  # recall -> sum of both average regrets after 10 and after 100 iterations; computed independently
    1: (0.722666, 0.458638),
    2: (0.812689, 0.275852),
    3: (0.745273, 0.253965),
    4: (0.741329, 0.212814),
    0: (0.744634, 0.203288),
}


@pytest.mark.parametrize("recall", REGRETS)
def test_regret_of_players_who_forget(recall: int) -> None:
    """CFR where bids are forgotten, its regret measured where they are not (Lanctot et al. 2012, figure 1)."""
    full = compiled("bluff(1,1)")
    solver = cp.CfrSolver(f"bluff(1,1,recall={recall})", "cfr")
    entries = lifted(full, solver.tree, recall)
    tracker = RegretTracker(full)
    sums = {}
    for step in range(1, 101):
        tracker.observe(solver.strategy("last")[entries])
        solver.step()
        if step in (1, 10, 100):
            sums[step] = [tracker.external_regret(player) / step for player in (0, 1)]
    assert sums[1] == pytest.approx([0.827899, 0.733590], abs=1e-6)
    assert (sum(sums[10]), sum(sums[100])) == pytest.approx(REGRETS[recall], abs=1e-6)


def lifted(full: cp.GameTree, coarse: cp.GameTree, recall: int) -> NDArray[np.int64]:
    """For each entry of the full game the entry that plays it in the coarse one."""
    forget = Bluff().forget("last-bids", str(recall or 99))
    place = {
        (int(player), name): int(start)
        for player, name, start in zip(coarse.infoset_player, coarse.infoset_names, coarse.infoset_offset, strict=False)
    }
    rows = []
    for number, name in enumerate(full.infoset_names):
        start = place[int(full.infoset_player[number]), forget(name)]
        rows.append(start + np.arange(full.infoset_offset[number + 1] - full.infoset_offset[number]))
    return np.concatenate(rows)


# ---------------------------------------------------------------------------------------------- rounds in a chain


def test_the_whole_game_by_hand() -> None:
    game = cp.make("bluff(2,1,chain=true)")
    assert game.play("36", "2").infoset() == "2v1/36:"
    following = game.play("36", "2", "1x2", "2x6", "bluff")  # player 2's bid is wrong, and so is its last die
    assert following.player == cp.TERMINAL
    assert tuple(following.utilities()) == (1.0, -1.0)
    rest = game.play("36", "2", "2x6", "bluff")  # player 1's bid is wrong: one die is left, player 2 opens
    assert rest.player == cp.CHANCE
    second = rest.child("4").child("1")
    assert second.player == 1
    assert second.infoset() == "(36|2:2x6)1v1/1:"
    assert second.child("1x1").infoset() == "(36|2:2x6)1v1/4:1x1"
    assert tuple(second.child("1x1").child("bluff").utilities()) == (-1.0, 1.0)


def test_a_chain_of_one_round_is_the_round() -> None:
    chained, single = compiled("bluff(1,1,3,chain=true)"), compiled("bluff(1,1,3)")
    assert chained.parent.tolist() == single.parent.tolist()
    assert chained.infoset.tolist() == single.infoset.tolist()
    assert chained.utility.tolist() == single.utility.tolist()


@pytest.mark.parametrize(("d1", "d2"), [(2, 1), (1, 2)])
def test_values_of_rounds_at_the_leaves_give_the_value_of_the_whole_game(d1: int, d2: int) -> None:
    """Johanson 2016, section 3.2.3: the rounds are solved one by one."""
    whole = cp.solve(f"bluff({d1},{d2},2,chain=true)", exploitability=1e-6)
    rounds = solve_rounds(d1, d2, 2, exploitability=1e-7)
    assert whole.value[0] == pytest.approx(rounds[d1, d2].value, abs=1e-5)
    assert rounds[1, 1].value == pytest.approx(0.5, abs=1e-6)


def test_order_and_payoffs_of_the_rounds() -> None:
    rounds = solve_rounds(2, 2, 2, exploitability=1e-3)
    assert list(rounds) == [(1, 1), (2, 1), (2, 2)]
    assert (rounds[1, 1].game.lost, rounds[1, 1].game.won) == (-1.0, 1.0)
    assert (rounds[2, 1].game.lost, rounds[2, 1].game.won) == (-rounds[1, 1].value, 1.0)
    assert (rounds[2, 2].game.lost, rounds[2, 2].game.won) == (-rounds[2, 1].value, rounds[2, 1].value)
    assert all(one.exploitability <= 1e-3 for one in rounds.values())
    assert [one.infosets for one in rounds.values()] == [
        cp.compile_game(f"bluff({d1},{d2},2)").num_infosets for d1, d2 in rounds
    ]


def test_the_tree_of_bids_is_made_as_far_as_it_is_visited() -> None:
    """Bluff(5,5) has 2^60 bid sequences; a few steps of it cost nothing."""
    game = cp.make("bluff(5,5)")
    state = game.play("12345", "66666", "10x5")
    assert state.actions() == ("10x6", "bluff")
    assert math.comb(10, 5) == len(dict(game.root().chance()))
