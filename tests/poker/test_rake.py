"""Rake and different stacks of postflop spots, against hand-written trees and closed forms."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from counterplay.errors import GameError, SolverError
from counterplay.evaluation import evaluate, public_walks
from counterplay.evaluation.inspection import hand_values
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.kernels.regret import FEW_HANDS
from counterplay.poker.postflop.subgame import Subgame, parse_subgame
from counterplay.runtime.pacing import Until
from counterplay.solvers.cfr import config_with
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.solvers.public_sampling import PublicSamplingSolver
from counterplay.tree.public.public_tree import FOLD, SHOWDOWN
from tests.poker.test_postflop import as_history_profile, random_profile, shares_of_pot, slow_tree

RIVER = Subgame("QsJh2h3c8d", 50, 60, "AA,KQs:0.5,AsQh,9s8s,66", "JJ,AhQd,KcQc:0.25,AA,9h8h,77", bets="50%,a",
                raises="60%,a", allin_threshold=1.0, rake=0.05, rake_cap=4)  # fmt: skip
"""Pots of 50 pay 2.5, larger ones the cap of 4; hands of the same ranks tie."""
FEW = dataclasses.replace(RIVER, oop="AsQh,9s8s,KsQd", ip="AhQd,9h8h,KcQc:0.25,JsJd")
TURN = Subgame("QsJs2d3d", 20, 30, "AsAh,9c9d:0.5,KcKh", "KcQc,7c7d,8c8d,AcAd", bets="50%", raises="100%",
               allin_threshold=1.0, rake=0.1, rake_cap=5)  # fmt: skip


@pytest.mark.parametrize("game", [RIVER, FEW, dataclasses.replace(RIVER, rake_cap=None)])
def test_random_play_with_rake_is_worth_the_same_as_in_the_hand_written_tree(game: Subgame) -> None:
    """Many hands take the terminals of a piece at once, few hands one by one."""
    tree = game.tree()
    assert (min(hands.most for hands in tree.hands) > FEW_HANDS) == (game is not FEW)
    profile = random_profile(tree, 1)
    slow = slow_tree(game, [0.5, 10.0], [0.6, 10.0])
    twin = evaluate(as_history_profile(tree, profile, slow), slow)
    for ours in (PublicWalker(tree).measure(profile.tables), evaluate(profile)):
        np.testing.assert_allclose(ours.value, shares_of_pot(game, twin.value), atol=1e-10)
        np.testing.assert_allclose(ours.best_response, shares_of_pot(game, twin.best_response), atol=1e-10)
        assert ours.exploitability == pytest.approx(twin.exploitability, abs=1e-10)
    assert sum(ours.value) < 49


@pytest.mark.parametrize("isomorphic", [True, False])
def test_rake_after_an_all_in_on_the_turn(isomorphic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without matrices of run-outs."""
    game = dataclasses.replace(TURN, isomorphic=isomorphic)
    slow = slow_tree(game, [0.5], [1.0])
    tree = game.tree()
    profile = random_profile(tree, 2)
    twin = evaluate(as_history_profile(tree, profile, slow), slow)
    for share in (1e-9, 1e9):
        monkeypatch.setattr(public_walks, "RUNOUT_SHARE", share)
        ours = PublicWalker(game.tree()).measure(profile.tables)
        np.testing.assert_allclose(ours.value, shares_of_pot(game, twin.value), atol=1e-10)
        np.testing.assert_allclose(ours.best_response, shares_of_pot(game, twin.best_response), atol=1e-10)


@pytest.mark.parametrize(("rake", "cap", "left"), [(0.05, None, 57.0), (0.05, 2.0, 58.0), (0.05, 3.0, 57.0)])
def test_nobody_bets(rake: float, cap: float | None, left: float) -> None:
    """Both get their equity of what the house leaves: aces beat kings and nines tie with nines."""
    game = Subgame("QsJh2h3c8d", 60, 100, "AA,9c9d", "KK,9h9s", "none", "none", rake=rake, rake_cap=cap)
    found = PublicWalker(game.tree()).measure(tables(game))
    # 6 x 6 pairs of aces and kings, 6 of aces and nines, 6 of nines and kings, 1 tie
    won = (36 + 6 + 0.5) / 49
    np.testing.assert_allclose(found.value, [won * left, (1 - won) * left], atol=1e-12)
    assert found.exploitability == pytest.approx(0, abs=1e-12)


def tables(game: Subgame) -> tuple[np.ndarray, np.ndarray]:
    first, second = (np.ones(size) for size in game.tree().num_entries)
    return first, second


def test_an_equilibrium_with_rake_is_one_in_the_hand_written_tree() -> None:
    """What the solver reports as exploitability is what best responses gain there."""
    tree = RIVER.tree()
    result = PublicSolver(tree, "cfr+").run(Until(iterations=3000))
    slow = slow_tree(RIVER, [0.5, 10.0], [0.6, 10.0])
    twin = evaluate(as_history_profile(tree, result.profile, slow), slow)
    assert result.exploitability == pytest.approx(twin.exploitability, abs=1e-9)
    assert result.exploitability < 0.05
    np.testing.assert_allclose(result.value, shares_of_pot(RIVER, twin.value), atol=1e-9)
    assert 2.5 <= 50 - sum(result.value) <= 4


@pytest.mark.parametrize(("storage", "exact"), [("float64", 1e-9), ("int16", 0.02)])
def test_threads_and_integers_solve_with_rake(storage: str, exact: float) -> None:
    """The value is that of the same profile, measured afresh."""
    tree = TURN.tree()
    for threads in (1, 2):
        solver = PublicSolver(tree, config_with("dcfr", {"storage": storage, "threads": threads}))
        solver.step(60)
        again = evaluate(solver.profile(), tree)
        np.testing.assert_allclose(solver.measure().value, again.value, atol=exact)
        assert again.exploitability < 0.3


def test_payoffs_with_rake() -> None:
    """The winner of pot P gets P - min(r P, c); what nobody called is returned before."""
    tree = dataclasses.replace(RIVER, rake=0.05, rake_cap=4).tree()
    assert tree.fee is not None
    assert tree.other_payoff is not None
    nodes = {tree.node_text[n]: n for n in np.flatnonzero(tree.kind > 2)}
    assert {tree.node_text[n] for n in np.flatnonzero(tree.fee)} == {
        text for text, n in nodes.items() if tree.kind[n] == SHOWDOWN
    }
    for text, first, second in (("allin fold", 22.5, 25.0), ("check bet25 fold", -25.0, -22.5),
                                ("bet25 allin fold", -50.0, -46.0)):  # fmt: skip
        assert (tree.kind[nodes[text]], tree.payoff[nodes[text]], tree.other_payoff[nodes[text]]) == (
            FOLD, first, second,
        )  # fmt: skip
    for text, pot, taken in (("check check", 50, 2.5), ("bet25 call", 100, 4), ("allin call", 170, 4)):
        assert tree.payoff[nodes[text]] - tree.fee[nodes[text]] == pytest.approx(pot / 2 - taken)
        assert -tree.payoff[nodes[text]] - tree.fee[nodes[text]] == pytest.approx(-pot / 2)


def test_without_rake_nothing_changes() -> None:
    plain = dataclasses.replace(RIVER, rake=0.0, rake_cap=None)
    assert "rake" not in plain.name
    assert parse_subgame(RIVER.name) == RIVER
    assert json.loads(RIVER.name.removeprefix("holdem"))["rake"] == 0.05
    tree, free = plain.tree(), dataclasses.replace(RIVER, rake_cap=0.0).tree()
    assert tree.zero_sum
    assert free.zero_sum
    assert tree.fee is None
    for one, other in zip(tree._arrays(), free._arrays(), strict=True):
        np.testing.assert_array_equal(one, other)
    # with a fee of 0 the kernels compute the same bits as without any
    charged = dataclasses.replace(
        tree, fee=np.zeros(tree.num_nodes), other_payoff=tree.payoff, other_matrix=tree.matrix
    )
    found = []
    for one in (tree, charged):
        solver = PublicSolver(one, "dcfr")
        solver.step(30)
        found.append(solver.tables())
    assert all(np.array_equal(found[0][name], found[1][name]) for name in found[0])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rake": 5}, "the rake is a part of the pot below 100%, such as 5% or 0.05; got 5"),
        ({"rake": -0.1}, "got -10%"), ({"rake": float("nan")}, "got nan"), ({"rake_cap": -1}, "rake cap is a number"),
        ({"rake": 0.0, "rake_cap": 3.0}, "a rake cap of 3 chips needs a rake"),
        ({"stack": (100, 80, 60)}, "two stacks, those of oop and ip; got 3"),
        ({"stack": (100, 0)}, "stack must be a positive number of chips; got 0"),
    ],
)  # fmt: skip
def test_bad_rake_and_stacks(changes: dict[str, object], words: str) -> None:
    with pytest.raises(GameError, match=words):
        dataclasses.replace(RIVER, **changes)


def test_sampling_says_what_to_use_instead() -> None:
    with pytest.raises(SolverError, match="with rake, use dcfr"):
        PublicSamplingSolver(RIVER.tree(), "pcs")


def test_equity_ignores_the_rake() -> None:
    plain = dataclasses.replace(RIVER, rake=0.0, rake_cap=None)
    one, other = (hand_values(random_profile(game.tree(), 3), "check bet25") for game in (RIVER, plain))
    assert one.equities is not None
    np.testing.assert_allclose(one.equities, other.equities, atol=1e-12)


# ---------------------------------------------------------------------------------------------- stacks


@pytest.mark.parametrize("stacks", [(100, 60), (60, 100), (60, 60), [60, 1e6]])
@pytest.mark.parametrize("bets", ["50%,a", "e", "33%,120%"])
def test_the_smaller_stack_counts(stacks: tuple[float, float], bets: str) -> None:
    """Every array of the tree is that of the spot in which both have the smaller stack, but the name."""
    same, other = (dataclasses.replace(TURN, bets=bets, stack=stack, rake=0.0, rake_cap=None) for stack in (60, stacks))
    one, two = same.tree(), other.tree()
    for first, second in zip(one._arrays(), two._arrays(), strict=True):
        np.testing.assert_array_equal(first, second)
    assert (one.node_text, one.action_labels, one.scale) == (two.node_text, two.action_labels, two.scale)
    assert same.spent("allin call") == other.spent("allin call") == (60, 60)
    profile = random_profile(one, 4)
    assert PublicWalker(one).measure(profile.tables) == PublicWalker(two).measure(profile.tables)


def test_stacks_in_names_and_titles() -> None:
    two = dataclasses.replace(RIVER, stack=(100, 60))
    assert parse_subgame(two.name) == two
    assert two.name != dataclasses.replace(RIVER, stack=(60, 100)).name
    assert two.title == "QsJh2h3c8d, pot 50, stacks 100 and 60, rake 5% up to 4"
    assert dataclasses.replace(RIVER, stack=(60, 60)) == RIVER
    assert dataclasses.replace(RIVER, rake_cap=None).title == "QsJh2h3c8d, pot 50, stack 60, rake 5%"
