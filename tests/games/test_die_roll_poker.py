"""Die-roll poker: its rules, its sizes, its values, and CFR where dice are forgotten."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import counterplay as cp
from counterplay.analysis.regret_bounds import player_quantities
from counterplay.analysis.regret_tracker import RegretTracker
from tests.reference.sequence_lp import zero_sum_value
from tests.reference.walks import infosets

compiled = cache(cp.compile_game)

SMALL = "rounds=3,sides=2,raises=1,opening_fold=false"


# ---------------------------------------------------------------------------------------------- rules


def test_betting_by_hand() -> None:
    game = cp.make("die_roll_poker")
    opening = game.play(3, 5)
    assert (opening.player, opening.infoset(), opening.actions()) == (0, "3:", ("fold", "call", "raise"))
    answer = opening.child("call")
    assert (answer.player, answer.infoset(), answer.actions()) == (1, "5:c", ("call", "raise"))
    assert answer.child("raise").actions() == ("fold", "call", "raise")
    assert answer.child("raise").child("raise").actions() == ("fold", "call")
    second = answer.child("call").child(6).child(1)
    assert (second.player, second.infoset(), second.actions()) == (0, "3-6:cc/", ("call", "raise"))


@pytest.mark.parametrize(
    ("moves", "won"),
    [
        pytest.param((3, 5, "fold"), -1, id="opening fold"),
        pytest.param((3, 5, "raise", "fold"), 1, id="a bet and a fold"),
        pytest.param((3, 5, "raise", "raise", "fold"), -3, id="a raise and a fold"),
        pytest.param((3, 5, "call", "call", 6, 1, "call", "call"), 1, id="9 beats 6 for the ante"),
        pytest.param((3, 5, "call", "call", 3, 1, "call", "call"), 0, id="6 and 6 split"),
        pytest.param(
            (3, 5, "raise", "raise", "call", 1, 2, "call", "raise", "raise", "call"), -13, id="all that can be bet"
        ),
        pytest.param((3, 5, "raise", "call", 6, 1, "raise", "fold"), 3, id="a fold in the second round"),
    ],
)
def test_payoffs_by_hand(moves: tuple[str | int, ...], won: float) -> None:
    end = cp.make("die_roll_poker").play(*moves)
    assert end.player == cp.TERMINAL
    assert tuple(end.utilities()) == (won, -won)


def test_an_even_second_die_pays_at_a_showdown_only() -> None:
    """Lanctot et al. 2012, section 5.2; player 2's dice do not matter."""
    game = cp.make("die_roll_poker(skew=0.2)")
    assert game.play(3, 5, "raise", "call", 6, 1, "call", "call").utilities()[0] == pytest.approx(3 + 0.2 * 6)
    assert game.play(3, 5, "raise", "call", 2, 1, "call", "call").utilities()[0] == pytest.approx(-3 + 0.2 * 6)
    assert game.play(4, 5, "raise", "call", 3, 2, "call", "call").utilities()[0] == 0.0
    assert game.play(3, 5, "raise", "call", 6, 1, "raise", "fold").utilities()[0] == 3.0
    assert compiled(game.spec()).facts.max_utility == pytest.approx(13 + 0.2 * 26)


def test_bet_sizes() -> None:
    game = cp.make('die_roll_poker(rounds=3,bets="1,2,5")')
    calls = ("raise", "call")
    assert game.play(1, 2, *calls, 1, 2, *calls, 1, 2, *calls).utilities()[1] == 1 + 1 + 2 + 5
    longer = cp.make("die_roll_poker(rounds=3)")
    assert longer.play(1, 2, *calls, 1, 2, *calls, 1, 2, *calls).utilities()[1] == 1 + 2 + 4 + 4


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("die_roll_poker(PR)", "variant must be one of DRP, IR; got 'PR'"),
        ("die_roll_poker(rounds=1)", "rounds must be at least 2; got 1"),
        ("die_roll_poker(sides=1)", "sides must be at least 2; got 1"),
        ("die_roll_poker(skew=-1)", "skew must be a number, at least 0; got -1.0"),
        ("die_roll_poker(skew=nan)", "skew must be a number, at least 0; got nan"),
        ('die_roll_poker(bets="2,x")', "bets must be positive integers like \"2,4\"; got '2,x'"),
        ('die_roll_poker(bets="2,0")', "bets must be positive integers like \"2,4\"; got '2,0'"),
        ('die_roll_poker(bets="")', "bets must be positive integers like \"2,4\"; got ''"),
    ],
)
def test_parameters_that_make_no_game(spec: str, message: str) -> None:
    with pytest.raises(cp.GameError) as caught:
        cp.make(spec)
    assert message in str(caught.value)


# ---------------------------------------------------------------------------------------------- sizes


@pytest.mark.parametrize(
    ("spec", "sets", "pairs"),
    [
        pytest.param("die_roll_poker", 1116, 2610, id="DRP: Lanctot et al. 2012, table 1"),
        pytest.param("die_roll_poker(IR)", 366, 860, id="DRP-IR: Lanctot et al. 2012, table 1"),
        pytest.param("die_roll_poker(IR,0.2)", 366, 860, id="Skew-DRP-IR has the sets of DRP-IR"),
        pytest.param("die_roll_poker(opening_fold=false)", 1116, 2604, id="DRP by the rules, counted independently"),
        pytest.param("die_roll_poker(IR,opening_fold=false)", 366, 854, id="DRP-IR by the rules"),
    ],
)
def test_sizes(spec: str, sets: int, pairs: int) -> None:
    tree = compiled(spec)
    assert (tree.num_infosets, tree.num_entries) == (sets, pairs)
    assert np.diff(tree.player_infosets).tolist() == [sets // 2] * 2


def test_histories() -> None:
    """Computed independently."""
    tree = compiled("die_roll_poker")
    assert tree.num_histories == 98_863
    assert tree.counts() == {"decision": 39_096, "chance": 1_267, "terminal": 58_500}
    assert tree.utility_range(0) == 26.0


@pytest.mark.parametrize(("sides", "histories", "full", "forgetful"), [(2, 5_967, 688, 664), (3, 63_589, 2_184, 2_088)])
def test_sizes_of_three_rounds(sides: int, histories: int, full: int, forgetful: int) -> None:
    """Computed independently."""
    rest = SMALL.replace("sides=2", f"sides={sides}")
    one, other = compiled(f"die_roll_poker({rest})"), compiled(f"die_roll_poker(IR,{rest})")
    assert one.num_histories == other.num_histories == histories
    assert (one.num_entries, other.num_entries) == (full, forgetful)


def test_who_remembers() -> None:
    """Lanctot et al. 2012, section 5."""
    assert compiled("die_roll_poker").recall == ("perfect", "perfect")
    assert compiled("die_roll_poker(IR)").recall == ("imperfect", "imperfect")
    assert compiled(f"die_roll_poker(IR,{SMALL})").recall == ("imperfect", "imperfect")


# ---------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("die_roll_poker", -0.0773881216194),
        pytest.param("die_roll_poker(opening_fold=false)", -0.0773881216194, marks=pytest.mark.slow),
        pytest.param("die_roll_poker(skew=0.05)", -0.0010177559193, marks=pytest.mark.slow),
        ("die_roll_poker(skew=0.2)", 0.2519639918209),
        pytest.param("die_roll_poker(skew=0.8)", 1.0773655356732, marks=pytest.mark.slow),
        ("die_roll_poker(sides=2)", -0.0514410188),
        ("die_roll_poker(sides=3)", -0.0384817442),
    ],
)
def test_values(spec: str, value: float) -> None:
    """Computed independently, by linear programs."""
    assert zero_sum_value(cp.make(spec)) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("spec", "best"),
    [
        ("die_roll_poker", (2.449861754115, 1.729938271605)),
        ("die_roll_poker(opening_fold=false)", (2.064445, 2.673032)),
    ],
)
def test_best_responses_to_uniform_play(spec: str, best: tuple[float, float]) -> None:
    """Computed independently; with the opening fold given less what uniform play itself is worth."""
    tree = compiled(spec)
    uniform = cp.CfrSolver(tree, "cfr").profile("last")
    measured = cp.evaluate(uniform, tree)
    regrets = [cp.best_response(uniform, player, tree).value for player in (0, 1)]
    if spec == "die_roll_poker":
        regrets = [value - own for value, own in zip(regrets, measured.value, strict=True)]
        assert sum(regrets) / 2 == pytest.approx(measured.exploitability, abs=1e-12)
        assert measured.exploitability == pytest.approx(2.08990001286, abs=1e-9)
    else:
        assert measured.value[0] == pytest.approx(-0.078125, abs=1e-12)
    assert regrets == pytest.approx(best, abs=1e-6)


def test_m_values() -> None:
    """Computed independently; a check is a call, and rounds are not told apart."""
    one, two = (player_quantities(compiled("die_roll_poker"), player) for player in (0, 1))
    assert (one.parts, two.parts, one.max_actions) == (13, 7, 3)
    assert (one.m_value, two.m_value) == pytest.approx((82.866815, 59.167394), abs=1e-6)


# ---------------------------------------------------------------------------------------------- forgetting dice


@pytest.mark.parametrize(("full", "forgetful"), [("", "IR"), (SMALL, f"IR,{SMALL}"), ("sides=12,raises=0", "")])
def test_forgetting_by_name_gives_the_sets_of_the_game_that_forgets(full: str, forgetful: str) -> None:
    game = cp.make(f"die_roll_poker({full})")
    forget = game.forget("dice", "2")
    if not forgetful:
        assert forget("12-3:cc/c") == "sum15:cc/c"
        return
    remainders = {(player, forget(str(name))): actions for (player, name), actions in infosets(game).items()}
    assert remainders == infosets(cp.make(f"die_roll_poker({forgetful})"))


def test_dice_can_be_forgotten_in_several_rounds() -> None:
    game = cp.make("die_roll_poker(rounds=3)")
    forget = game.forget("dice", "2,3")
    assert [forget(name) for name in ("4:c", "4-2:cc/", "4-2-6:cc/rc/r", "sum6:cc/")] == [
        "4:c",
        "sum6:cc/",
        "sum12:cc/rc/r",
        "sum6:cc/",
    ]
    for rounds in ("4", "0", "x", ""):
        with pytest.raises(cp.GameError, match=f"dice takes numbers of rounds from 1 to 3; got '{rounds}'"):
            game.forget("dice", rounds)
    with pytest.raises(cp.GameError, match=r"cannot forget 'bids'; it can forget dice"):
        game.forget("bids", "1")


REGRETS = [  # game, skew, T, average regret of each player in the game that remembers; computed independently
    ("", "", {1: (2.449861754115, 1.729938271605), 2: (2.213649840291, 1.362780491665),
              3: (1.477528346838, 1.104811134162), 10: (0.696707204278, 0.364245827659)}),
    ("IR", "", {1: (2.449861754115, 1.729938271605), 2: (2.213649840291, 1.362780491665),
                3: (1.477528346838, 1.104811134162), 10: (0.696707204278, 0.364245827659)}),
    ("IR", "skew=0.05", {1: (2.543618184156, 1.676346021948), 3: (1.507536960891, 1.156231232886),
                         10: (0.684662722383, 0.375009962321), 100: (0.116134971998, 0.060563841405)}),
    ("IR", "skew=0.2", {2: (2.295566386984, 2.014237801848), 10: (0.799538578609, 0.602779043685),
                        100: (0.129419820563, 0.075105668807)}),
    ("IR", "skew=0.8", {2: (3.246549494448, 2.334620389888), 10: (1.044625438296, 0.564891979773),
                        100: (0.282852490652, 0.069783971234)}),
    ("", SMALL, {10: (0.816513464717, 0.633194868542), 60: (0.198629398400, 0.157841490431)}),
    ("IR", SMALL, {10: (0.816513464717, 0.633194868542), 60: (0.198629398400, 0.157841490431)}),
]  # fmt: skip


@pytest.mark.parametrize(("variant", "rest", "expected"), REGRETS)
def test_regret_of_players_who_forget(variant: str, rest: str, expected: dict[int, tuple[float, float]]) -> None:
    """CFR in DRP-IR and DRP-IR-3 plays as in the full games; with a skew player 1 keeps regret (Lanctot et al. 2012,
    theorems 1 to 3 and figure 1).  Without a skew some regrets are exactly 0, where rounding decides the play, so that
    later iterations differ from program to program; only the first ten are compared.
    """
    full = compiled(f"die_roll_poker({rest})")
    solver = cp.CfrSolver(f"die_roll_poker({','.join(part for part in (variant, rest) if part)})", "cfr")
    entries = lifted(full, solver.tree)
    tracker = RegretTracker(full)
    for step in range(1, max(expected) + 1):
        tracker.observe(solver.strategy("last")[entries])
        solver.step()
        if step in expected:
            regrets = [tracker.external_regret(player) / step for player in (0, 1)]
            assert regrets == pytest.approx(expected[step], rel=1e-6 if step >= 60 else 1e-10), step


def lifted(full: cp.GameTree, coarse: cp.GameTree) -> NDArray[np.int64]:
    """For each entry of the full game the entry that plays it in the coarse one."""
    forget = cp.make("die_roll_poker(rounds=3)").forget("dice", "2") if "IR" in coarse.name else str
    rows = []
    for number, name in enumerate(full.infoset_names):
        infoset = coarse.find_infoset(int(full.infoset_player[number]), forget(name))
        rows.append(coarse.infoset_offset[infoset] + np.arange(len(full.actions_of(number))))
    return np.concatenate(rows)
