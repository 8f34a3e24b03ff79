"""Maxmin solvers at work: agreement, larger games, refusals, checkpoints, the command line."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis.existence import equilibrium_exists
from counterplay.errors import CounterplayError
from counterplay.experiments import run_experiment
from counterplay.experiments.maxmin_shares import instance, restricted_shares
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.maxmin import MaxminProblem
from counterplay.tree.history.repartition import perfect_recall_refinement
from counterplay.tree.recall.recall_class import split_to_a_loss
from tests.solvers.test_maxmin import METHODS, VALUES, random_game


@pytest.mark.parametrize("seed", [0, 3, 4, 6])
def test_the_algorithms_agree(seed: int) -> None:
    """Theorems 4.4.1 and 4.4.3, and proposition 4.4.1: a minimiser who remembers changes nothing."""
    tree = random_game(seed, merge=0.6)
    gap = 1e-3 * MaxminProblem(tree, 0).scale
    bounds = []
    for method in METHODS:
        result = cp.solve(tree, "maxmin", method=method, epsilon=1e-3, seconds=60)
        assert result.status == "solved"
        bounds.append((result.details["lower_bound"], result.details["upper_bound"]))
    remembering = split_to_a_loss(tree, 1)
    bounds.append(
        tuple(cp.solve(remembering, "maxmin", epsilon=1e-3).details[f"{s}_bound"] for s in ("lower", "upper"))
    )
    assert max(low for low, _ in bounds) <= min(high for _, high in bounds) + 1e-9
    assert max(low for low, _ in bounds) - min(low for low, _ in bounds) <= 2 * gap


def test_a_remembering_minimiser_changes_nothing() -> None:
    """Proposition 4.4.1 where the minimiser is A-loss: refined, and with sets numbered by the refinement."""
    for name, player in (("toy_failing_learners", 2), ("toy_irrational", 1), ("toy_no_equilibrium", 2)):
        refined = perfect_recall_refinement(cp.compile_game(name))
        result = cp.solve(refined, "maxmin", player=player)
        assert result.details["lower_bound"] == pytest.approx(VALUES[name, player], abs=1e-9)


@pytest.mark.parametrize("method", ["irabnb", "doirabnb"])
@pytest.mark.parametrize("coins", [5, 6, 7])
def test_oshi_zumo_is_fair_to_the_forgetful(coins: int, method: str) -> None:
    """Value 0, that of the game in which nothing is forgotten (Čermák 2018, figure 4.8; corollary 4.4.1)."""
    result = cp.solve(f"oshi_zumo(coins={coins},remembered=0)", "maxmin", method=method)
    assert result.details["lower_bound"] == pytest.approx(0.0, abs=1e-9)
    assert result.details["upper_bound"] == pytest.approx(0.0, abs=1e-9)
    whole = cp.compile_game(f"oshi_zumo(coins={coins})")
    abstract = cp.compile_game(f"oshi_zumo(coins={coins},remembered=0)")
    assert whole.num_histories == abstract.num_histories
    if method == "doirabnb":
        sequences = abstract.sequences.sequence_start
        assert result.details["restricted_sequences"][0] < 0.1 * sequences[1]


@pytest.mark.slow
def test_oshi_zumo_with_nine_coins() -> None:
    """Čermák 2018, section 4.5: IRABnB solves it, and so does DOIRABnB on a small part."""
    for method in ("irabnb", "doirabnb"):
        result = cp.solve("oshi_zumo(coins=9,remembered=0)", "maxmin", method=method)
        assert result.status == "solved"
        assert result.details["lower_bound"] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.slow
def test_search_game() -> None:
    """The defender who forgets positions is sure of what one who remembers gets: 1/3 (computed independently)."""
    result = cp.solve("search_game(moves=4,remembered=0)", "maxmin", player=2, seconds=120)
    assert result.details["upper_bound"] == pytest.approx(1 / 3, abs=1e-3)


def test_existence_of_equilibria() -> None:
    """Theorem 4.2.1: none in figure 2.1; figure 3.5 at -1, figure 3.3 at 0.6; with perfect recall always."""
    assert equilibrium_exists("toy_no_equilibrium").exists is False
    for name, value in (("toy_failing_learners", -1.0), ("toy_irrational", -0.6), ("kuhn", -1 / 18)):
        found = equilibrium_exists(name)
        assert found.exists
        assert found.bounds[0][0] == pytest.approx(value, abs=1e-5)
        assert found.refinement_value == pytest.approx(value, abs=1e-6)
        assert found.profile is not None
        for player in range(2):
            gain = cp.best_response(found.profile, player, name, method="exact").value
            assert gain - cp.expected_values(found.profile, name)[player] <= 1e-4
    # Without A-loss recall there may be one that the refinement does not have (corollary 4.2.1 has no converse).
    found = equilibrium_exists("toy_refinement")
    assert found.exists
    assert (found.bounds[0][0], found.refinement_value) == (pytest.approx(1.0), pytest.approx(2.0))


def test_refusals() -> None:
    two = cp.decision(0, "I", {"a": cp.decision(0, "I", {"a": cp.terminal(1, -1), "b": cp.terminal(0, 0)}),
                               "b": cp.decision(1, "J", {"c": cp.terminal(0, 0)})})  # fmt: skip
    with pytest.raises(cp.GameError, match=r"player 1 of .* is absent-minded"):
        make_solver(cp.ExplicitGame(two, players=2, name="absent-minded"), "maxmin")
    with pytest.raises(cp.GameError, match=r"is for two players; .* has 3"):
        make_solver("kuhn(players=3)", "maxmin")
    with pytest.raises(cp.GameError, match="is for zero-sum games"):
        make_solver('matrix(rows="2,0;0,1",columns="1,0;0,2")', "maxmin")
    with pytest.raises(cp.GameError, match=r"doirabnb needs an opponent with A-loss recall, .* use irabnb"):
        make_solver("toy_refinement", "maxmin", player=2, method="doirabnb")
    for setting, why in (
        ({"player": 3}, "player must be one of 1, 2; got 3"), ({"method": "cplex"}, "method must be one of auto, base"),
        ({"epsilon": 0}, "epsilon must be a number, at least 1e-08 and below 1; got 0"),
        ({"method": "base", "third_child": True}, "third_child is for irabnb and doirabnb"),
        ({"method": "irabnb", "oracle": "pending"}, "oracle is for doirabnb; irabnb has the whole game"),
        ({"digits": 3}, "has no setting 'digits'"),
    ):  # fmt: skip
        with pytest.raises(cp.SolverError, match=why):
            make_solver("kuhn", "maxmin", **setting)


@pytest.mark.parametrize("method", [*METHODS, "as printed"])
def test_runs_go_on_from_checkpoints(method: str, tmp_path: Path) -> None:
    """``as printed``: DOIRABnB with the third child and pending states."""
    tree = cp.compile_game("toy_irrational") if method == "base" else random_game(3, merge=0.9)
    player, nodes = (2, 2) if method == "base" else (1, 12)
    settings: dict[str, Any] = {"method": method}
    if method == "as printed":
        settings = {"method": "doirabnb", "third_child": True, "oracle": "pending"}
    straight = make_solver(tree, "maxmin", player=player, epsilon=1e-4, **settings)
    straight.step(2 * nodes)
    broken = make_solver(tree, "maxmin", player=player, epsilon=1e-4, **settings)
    broken.step(nodes)
    path = tmp_path / "run.checkpoint"
    broken.save(path)
    resumed = resume_solver(path, tree)
    assert resumed.details() == broken.details()
    resumed.step(nodes)
    assert resumed.strategy().tobytes() == straight.strategy().tobytes()
    assert resumed.details() == straight.details()


@pytest.mark.parametrize("method", METHODS)
def test_out_of_time_the_bounds_so_far_are_given(method: str) -> None:
    tree = random_game(3, merge=0.9)
    result = cp.solve(tree, "maxmin", method=method, epsilon=1e-8, seconds=1.0)
    assert result.status == "seconds"
    assert result.details["lower_bound"] <= result.details["upper_bound"]
    assert result.curve[-1].lower is not None
    solver = make_solver(tree, "maxmin", method=method)
    solver.deadline = time.perf_counter() - 1.0
    solver.step()
    assert (solver.iterations, solver.finished) == (0, False)
    assert solver.details()["lower_bound"] is None


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    import json

    from counterplay.cli.main import main

    code = main(["solve", "toy_irrational", "--algorithm", "maxmin", "--player", "2", "--epsilon", "1e-4", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (code or 0) == 0
    assert (found["status"], found["player"]) == ("solved", 2)
    assert found["lower_bound"] <= 0.6 <= found["upper_bound"] + 1e-9
    assert found["upper_bound"] - found["lower_bound"] <= 3e-4


@pytest.mark.slow
def test_shares_of_random_games() -> None:
    """Table 4.1: the maximiser needs more than the minimiser, and more where leaves have nothing in common."""
    rows = run_experiment("maxmin-shares", scale="quick", instances=2, seconds=3.0).rows
    shares = {row[:3]: [float(str(row[place]).split()[0]) for place in (4, 6)] for row in rows}
    assert len(shares) == 12
    means = {
        kind: np.mean([shares[key] for key in shares if key[2] == kind], axis=0) for kind in ("walk", "independent")
    }
    for kind in means:
        assert means[kind][0] > means[kind][1]
    assert means["independent"][0] > means["walk"][0]


def test_forgetting_loses_nothing_in_the_experiment() -> None:
    """Čermák 2018, figure 4.8, in small games: the bounds meet at the value of the game with everything remembered."""
    found: dict[object, dict[object, list[float]]] = {}
    for game, kept, _, status, low, high, *_ in run_experiment("maxmin-games", scale="quick").rows:
        assert status == "solved"
        found.setdefault(game, {}).setdefault(kept, []).extend((float(str(low)), float(str(high))))
    assert list(found) == ["oshi_zumo 5", "oshi_zumo 6", "oshi_zumo 7", "search_game 3"]
    for game, bounds in found.items():
        assert set(bounds) == {"all", 0, 1, 2}
        value = 1 / 3 if game == "search_game 3" else 0.0
        assert [bound for pair in bounds.values() for bound in pair] == pytest.approx(
            [value] * sum(map(len, bounds.values())), abs=1e-4
        )


def test_an_instance_of_the_size_of_the_thesis() -> None:
    """Branching factor 4, depth 6, about 3,000 nodes: within three published standard errors by the thesis' oracle."""
    tree = instance(4, 0.3, 6, 0, independent=True)
    assert 2_000 < tree.num_histories < 5_000
    shares = {}
    for oracle in ("multipliers", "pending"):
        result = cp.solve(tree, "maxmin", method="doirabnb", oracle=oracle)
        assert result.status == "solved"
        shares[oracle] = restricted_shares(tree, result)
    assert shares["pending"] == pytest.approx([62.5, 17.5], abs=3 * 3.1)  # published means, a single game of ours
    assert shares["multipliers"][0] < shares["pending"][0]


def test_rows_and_depth_of_shares_are_options() -> None:
    found = run_experiment(
        "maxmin-shares", scale="quick", instances=1, seconds=2.0, depth=3, branching=4, merge=0.3, oracle="pending"
    )
    assert [row[:3] for row in found.rows] == [(4, 0.3, "walk"), (4, 0.3, "independent")]
    assert "here: pending." in found.notes[-1]
    with pytest.raises(CounterplayError, match="branching factors 3, 4"):
        run_experiment("maxmin-shares", scale="quick", branching=5)
