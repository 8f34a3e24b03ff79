"""Tilted poker: what is paid at each end, and CFR on the nearly zero-sum games that result."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis.regret_bounds import imbalance, near_zero_sum_nash, tilted_nash
from counterplay.analysis.regret_tracker import RegretTracker
from counterplay.errors import SolverError
from counterplay.forms import open_game
from counterplay.game.transforms import TILTS, Tilt, TiltedGame, green, orange
from counterplay.solvers.cfr import CfrSolver
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.solvers.public_sampling import PublicSamplingSolver


def end(tilt: Tilt, *moves: object) -> list[float]:
    return list(TiltedGame(cp.make("kuhn"), tilt).play(*moves).utilities())


J, Q, K = "JQK"

ENDS = [  # Kuhn poker with 50 %; winner and loser by hand (Gibson 2014, section 4.4.2; Johanson 2016, section 2.6)
    pytest.param(orange(50), (K, Q, "check", "check"), [1.5, -1], id="orange showdown"),
    pytest.param(orange(50), (K, Q, "bet", "fold"), [1.5, -1], id="orange fold"),
    pytest.param(orange(50), (J, Q, "bet", "call"), [-2, 3], id="orange call"),
    pytest.param(green(50), (K, Q, "check", "check"), [1, -0.5], id="green showdown"),
    pytest.param(green(50), (K, Q, "bet", "fold"), [0.5, -1], id="green fold"),
    pytest.param(green(50), (J, Q, "check", "bet", "fold"), [-1, 0.5], id="green fold to a bet"),
    pytest.param(TILTS["peach"](50), (K, Q, "bet", "fold"), [1.5, -1], id="peach"),
    pytest.param(TILTS["red"](50), (K, Q, "bet", "call"), [2, -1], id="red"),
    pytest.param(Tilt(10, 20, 30, 40), (K, Q, "bet", "call"), [2.2, -2.4], id="four slots, showdown"),
    pytest.param(Tilt(10, 20, 30, 40), (K, Q, "bet", "fold"), [1.4, -1.3], id="four slots, fold"),
]


@pytest.mark.parametrize(("tilt", "moves", "utilities"), ENDS)
def test_what_is_paid(tilt: Tilt, moves: tuple[object, ...], utilities: list[float]) -> None:
    assert end(tilt, *moves) == pytest.approx(utilities)


def test_three_players() -> None:
    """Who folds loses by folding, also when the others go to a showdown."""
    game = TiltedGame(cp.make("kuhn(players=3)"), Tilt(10, 20, 30, 40))
    assert list(game.play("4", "3", "2", "bet", "call", "fold").utilities()) == pytest.approx([3.3, -2.4, -1.3])
    assert list(game.play("4", "3", "2", "bet", "fold", "fold").utilities()) == pytest.approx([2.8, -1.3, -1.3])


def test_no_tilt_is_the_game_itself() -> None:
    tilted, plain = cp.compile_game(TiltedGame(cp.make("leduc"), Tilt())), cp.compile_game("leduc")
    np.testing.assert_array_equal(tilted.utility, plain.utility)
    assert tilted.digest == plain.digest
    assert tilted.name == "leduc tilted by nothing"


@pytest.mark.parametrize("game", ["kuhn", "leduc", "die_roll_poker(sides=2)"])
@pytest.mark.parametrize("percent", [7, 14, 35])
@pytest.mark.parametrize("colour", ["orange", "green"])
def test_imbalance_is_within_the_promise(game: str, percent: float, colour: str) -> None:
    """|u_1 + u_2| ≤ Δ w / 100 (Gibson 2014, section 4.4.2)."""
    plain = cp.compile_game(game)
    tree = cp.compile_game(TiltedGame(cp.make(game), TILTS[colour](percent)))
    assert 0 < imbalance(tree) <= plain.utility_range(0) * percent / 100
    assert 2 * imbalance(tree) <= tilted_nash(plain.utility_range(0), percent)
    assert not tree.facts.zero_sum


def test_bound_of_the_figure() -> None:
    """Δ w / 50 with Δ = 8 big blinds: 1120, 2240 and 5600 mbb (Gibson 2014, figure 4.5)."""
    assert [tilted_nash(8000, w) for w in (7, 14, 35)] == pytest.approx([1120, 2240, 5600])


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
@pytest.mark.parametrize(("colour", "percent"), [("orange", 7), ("green", 35)])
def test_cfr_keeps_the_promise_of_theorem_4_4(game: str, colour: str, percent: float) -> None:
    """|u_1 + u_2| ≤ δ and average regrets ≤ ε make the average a 2(ε + δ)-equilibrium."""
    solver = cp.CfrSolver(TiltedGame(cp.make(game), TILTS[colour](percent)), "cfr")
    tracker = RegretTracker(solver.tree)
    for _ in range(100):
        tracker.observe(solver.strategy("last"))
        solver.step()
    regrets = (tracker.external_regret(0) / 100, tracker.external_regret(1) / 100)
    assert solver.measure("average").epsilon <= near_zero_sum_nash(regrets, imbalance(solver.tree))


def test_by_name() -> None:
    assert cp.make("tilted").players == 2
    one, other = cp.make("tilted(leduc,green,14)"), TiltedGame(cp.make("leduc"), green(14))
    np.testing.assert_array_equal(cp.compile_game(one).utility, cp.compile_game(other).utility)
    four = cp.make('tilted(tilt="7 0 0 7")')
    np.testing.assert_array_equal(cp.compile_game(four).utility, cp.compile_game("tilted").utility)
    assert one.big_blind == 1.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tilted(tilt=purple)", "tilt is one of orange, green, peach, red or four numbers"),
        ('tilted(tilt="7 0 0")', "four numbers"),
        ('tilted(tilt="nan 0 0 0")', "at least -100"),
        ("tilted(tilt=green,percent=101)", "at least -100; got lose_showdown=-101.0"),
    ],
)
def test_tilts_make_sense(name: str, message: str) -> None:
    with pytest.raises(cp.GameError, match=message):
        cp.make(name)


@pytest.mark.parametrize("name", ["ii_goofspiel(3)", "bluff(1,1)", "toy_irrational", "goofspiel(cards=6)"])
def test_games_without_a_fold_are_refused(name: str) -> None:
    with pytest.raises(cp.GameError, match=r"in .* no action is called 'fold'; tilt a poker game, and say"):
        TiltedGame(cp.make(name), orange())
    with pytest.raises(cp.GameError, match="tilt a poker game"):
        cp.make(f'tilted("{name}")')


@pytest.mark.parametrize("name", ["holdem_limit_2p", "holdem_nolimit_3p", "rhode_island"])
def test_folding_by_another_name(name: str) -> None:
    with pytest.raises(cp.GameError, match="by fold=NAME"):
        cp.make(f"tilted({name},fold=fold)")
    assert cp.make(f"tilted({name})").players == cp.make(name).players


def test_a_fold_by_another_name_is_paid_as_one() -> None:
    """Rhode Island hold'em: antes of 5, player 1 bets 10 before the flop and player 2 folds."""
    game = cp.make('tilted(rhode_island,"0 0 100 50")')
    state = game.root()
    while state.player == cp.CHANCE:
        state = state.child(state.chance()[0][0])
    while "f" not in state.actions():
        state = state.child(state.actions()[-1])
    folder = state.player
    utilities, plain = state.child("f").utilities(), 5.0
    assert utilities[folder] == pytest.approx(-2.0 * plain)
    assert utilities[1 - folder] == pytest.approx(1.5 * plain)


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+"])
@pytest.mark.parametrize(
    "name",
    [
        "tilted(leduc,orange,7)",
        "tilted(leduc_limit_2p,orange,7)",
        "tilted(leduc_limit_2p,green,7)",
        "tilted(leduc_limit_2p,peach,7)",
        'tilted("holdem_2_1(ranks=4,suits=2)","3 -7 5 11")',
    ],
)
def test_public_trees_pay_what_histories_pay(name: str, algorithm: str) -> None:
    """Iterates and best responses of general-sum utilities are the same on both forms."""
    public = open_game(name, "public")
    assert not public.zero_sum
    solvers = CfrSolver(open_game(name, "history"), algorithm), PublicSolver(public, algorithm)
    for steps in (1, 9):
        for solver in solvers:
            solver.step(steps)
        for kind in ("average", "last"):
            histories, publics = (solver.measure(kind) for solver in solvers)
            assert publics.value == pytest.approx(histories.value, abs=1e-10)
            assert publics.best_response == pytest.approx(histories.best_response, abs=1e-10)
            assert publics.nash_conv == pytest.approx(histories.nash_conv, abs=1e-10)


def test_samplers_of_public_trees_need_zero_sums() -> None:
    with pytest.raises(SolverError, match="needs utilities that sum to 0"):
        PublicSamplingSolver(open_game("tilted(kuhn_limit_2p,orange)", "public"), "pcs")
