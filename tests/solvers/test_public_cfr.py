"""The CFR family on public trees: runs, threads, storage, checkpoints, locks, strategies that are not tables."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.errors import GameError, MemoryLimitError, SolverError, StrategyError
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.evaluation.public_walks import scratch_bytes
from counterplay.forms import open_game
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.runtime.pacing import Until
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.cfr import CfrConfig, config_with
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.solvers.public_sampling import PublicSamplingConfig, PublicSamplingSolver
from counterplay.strategy.files import load_strategy
from counterplay.strategy.public_strategy import FunctionStrategy, fill_table
from counterplay.strategy.ready_made import ready_made
from counterplay.strategy.trivial import TRIVIAL
from counterplay.tree.public.public_tree import PublicTree

SMALL_HOLDEM = GameDefinition(
    limit=True, players=2, rounds=2, blinds=(10, 5), raise_sizes=(10, 20), max_raises=(1, 1), first_players=(1, 0),
    suits=3, ranks=4, hole_cards=2, board_cards=(0, 2),
)  # fmt: skip
LEDUC_VALUE = -0.085606424


@pytest.fixture(scope="module")
def holdem() -> PublicTree:
    return build_public_tree(SMALL_HOLDEM, name="small hold'em")


@pytest.mark.parametrize("algorithm", ["cfr+", "linear", "dcfr", "pcfr+"])
def test_leduc_is_solved(algorithm: str) -> None:
    solver = PublicSolver("leduc", config_with(algorithm, {}))
    result = solver.run(Until(exploitability=4e-3, iterations=5000))
    assert result.status == "exploitability"
    low, high = -result.best_response[1], result.best_response[0]
    assert low <= LEDUC_VALUE <= high


def test_the_value_lies_between_what_both_concede(holdem: PublicTree) -> None:
    """Johanson 2016, section 9.4: the bounds are twice the exploitability apart."""
    solver = PublicSolver(holdem, "cfr+")
    solver.step(50)
    early = solver.measure()
    solver.step(500)
    late = solver.measure()
    assert early.best_response[0] + early.best_response[1] == pytest.approx(2 * early.exploitability, abs=1e-9)
    assert -early.best_response[1] <= -late.best_response[1] + 1e-9
    assert -early.best_response[1] <= late.value[0] <= early.best_response[0]


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "dcfr"])
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_find_the_same(holdem: PublicTree, algorithm: str, threads: int) -> None:
    alone = PublicSolver(holdem, config_with(algorithm, {"storage": "float64"}))
    shared = PublicSolver(holdem, config_with(algorithm, {"storage": "float64", "threads": threads}))
    alone.step(20)
    shared.step(20)
    assert shared.measure().exploitability == pytest.approx(alone.measure().exploitability, rel=1e-9)
    again = PublicSolver(holdem, config_with(algorithm, {"storage": "float64", "threads": threads}))
    again.step(20)
    assert np.array_equal(again.strategy()[0], shared.strategy()[0])


def test_integers_take_half_the_memory_of_float32_and_play_alike(holdem: PublicTree) -> None:
    small = PublicSolver(holdem, config_with("cfr+", {"storage": "int16"}))
    large = PublicSolver(holdem, config_with("cfr+", {"storage": "float32"}))
    sizes = [sum(table.nbytes for table in list(solver.player_tables[0])[:4]) for solver in (small, large)]
    assert sizes[0] < 0.6 * sizes[1]
    small.step(50)
    large.step(50)
    assert small.measure().exploitability == pytest.approx(large.measure().exploitability, rel=0.05)


@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
@pytest.mark.parametrize("changes", [{}, {"alternating": False}, {"predictive": True, "alternating": False}])
def test_memory_counts_every_table(storage: str, changes: dict[str, bool]) -> None:
    solver = PublicSolver("leduc", config_with("cfr+", {"storage": storage, **changes}))
    held = [table for tables in solver.player_tables for table in tables]
    held += [solver._frozen, solver._frozen_scale, solver._frozen_prediction]
    scratch = scratch_bytes(solver.tree, 1, np.dtype(np.float64 if storage == "float64" else np.float32))
    counted = PublicSolver.memory_bytes(solver.tree, solver.config) - scratch
    assert counted == pytest.approx(sum(table.nbytes for table in held if table is not None), rel=0.1)


@pytest.mark.parametrize("scale", [1e30, 1e-45])
def test_utilities_that_single_precision_cannot_hold_are_refused(scale: float) -> None:
    tree = dataclasses.replace(open_game("kuhn", "public"), scale=2 * scale)
    for storage in ("float32", "int16"):
        with pytest.raises(SolverError, match=f"{storage} tables need a largest utility from 1e-25 to 1e"):
            PublicSolver(tree, config_with("cfr+", {"storage": storage}))
    with pytest.raises(SolverError, match="float32 tables need a largest utility"):
        PublicSamplingSolver(tree, PublicSamplingConfig("pcs", storage="float32"))
    PublicSolver(tree, config_with("cfr+", {"storage": "float64"}))


def test_a_resumed_run_has_the_same_bits(tmp_path: Path) -> None:
    for storage in ("float64", "int16"):
        whole = make_solver("leduc", "cfr+", form="public", storage=storage)
        whole.step(60)
        part = make_solver("leduc", "cfr+", form="public", storage=storage)
        part.step(25)
        part.save(tmp_path / "run")
        part = resume_solver(tmp_path / "run")
        part.step(35)
        for name, table in whole.tables().items():
            assert np.array_equal(table, part.tables()[name]), name


def test_a_checkpoint_of_another_game_is_refused(tmp_path: Path) -> None:
    make_solver("leduc", "cfr+", form="public").save(tmp_path / "run")
    with pytest.raises(StrategyError, match="does not fit"):
        resume_solver(tmp_path / "run", "kuhn")


def test_a_locked_node_keeps_its_strategy() -> None:
    """Against a player who always bets first, the other's best response is as good as his strategy."""
    solver = PublicSolver("kuhn", "cfr+")
    tree = solver.tree
    root = next(node for node, _ in tree.states_of(0))
    wanted = np.tile([0.0, 1.0], (tree.hands[0].count(0), 1))
    solver.lock(root, 0, wanted)
    solver.step(3000)
    assert np.allclose(solver.profile().matrix(tree, root, 0), wanted, atol=1e-12)
    measured = solver.measure()
    assert measured.value[1] == pytest.approx(measured.best_response[1], abs=1e-3)
    free = PublicSolver("kuhn", "cfr+")
    free.step(3000)
    assert measured.value[0] < free.measure().value[0]


def test_a_lock_has_one_row_for_each_hand() -> None:
    solver = PublicSolver("kuhn", "cfr+")
    with pytest.raises(SolverError, match="hands x actions"):
        solver.lock(0, 0, np.ones((2, 2)))


def test_a_lock_has_no_negative_probabilities() -> None:
    solver = PublicSolver("kuhn", "cfr+")
    with pytest.raises(SolverError, match="at least 0"):
        solver.lock(0, 0, np.tile([-0.5, 1.5], (3, 1)))


@pytest.mark.parametrize("alternating", [True, False])
def test_ctrl_c_leaves_whole_iterations(holdem: PublicTree, alternating: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between the walks of both players, with threads, is told once the second walk is done."""
    config = CfrConfig(threads=2, alternating=alternating)
    solver, whole = PublicSolver(holdem, config), PublicSolver(holdem, config)
    solver.step(3)
    walk = PublicWalker.walk

    def interrupted(walker: PublicWalker, player: int, *others: Any, **named: Any) -> Any:
        values = walk(walker, player, *others, **named)
        if player == 0:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        return values

    monkeypatch.setattr(PublicWalker, "walk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solver.step(5)
    monkeypatch.undo()
    assert solver.iterations == 4
    whole.step(4)
    for name, table in whole.tables().items():
        assert np.array_equal(table, solver.tables()[name]), name


def test_profiles_are_saved_and_refused_by_other_games(tmp_path: Path) -> None:
    result = make_solver("leduc", "cfr+", form="public").run(Until(iterations=200))
    result.profile.save(tmp_path / "leduc")
    loaded = load_strategy(tmp_path / "leduc")
    tree = open_game("leduc", "public")
    assert PublicWalker(tree).measure(loaded.for_tree(tree)).exploitability == result.exploitability
    with pytest.raises(StrategyError, match="does not fit"):
        loaded.for_tree(open_game("kuhn", "public"))


def test_trivial_agents_in_two_round_holdem() -> None:
    """Johanson 2016, table 2.1's agents in [2-1] hold'em (values recomputed, four decimals)."""
    tree = open_game("holdem_2_1", "public")
    walker = PublicWalker(tree)
    published = {"always-call": (645.4724, 645.4724), "50/50": (475.7461, 476.8719)}
    for name, seats in published.items():
        for player, wanted in enumerate(seats):
            table = fill_table(tree, 1 - player, TRIVIAL[name], np.float32)
            assert walker.response(player, table) * 100 == pytest.approx(wanted, abs=5e-5)


def test_a_function_of_what_is_seen_is_a_strategy() -> None:
    tree = open_game("leduc_limit_2p", "public")

    def call(board: str, betting: str, hand: str, actions: tuple[str, ...]) -> list[float]:
        assert hand[0] in "QKA"
        return [float(action == "c") for action in actions]

    table = fill_table(tree, 1, FunctionStrategy(call))
    same = fill_table(tree, 1, TRIVIAL["always-call"])
    assert np.array_equal(table, same)


def test_a_function_must_give_distributions() -> None:
    tree = open_game("kuhn_limit_2p", "public")
    with pytest.raises(StrategyError, match="sum to 1"):
        fill_table(tree, 0, FunctionStrategy(lambda board, betting, hand, actions: [2.0 for _ in actions]))


def test_a_raise_that_is_not_there_becomes_a_call() -> None:
    assert TRIVIAL["always-raise"].row(("f", "c")).tolist() == [0.0, 1.0]
    assert TRIVIAL["always-fold"].row(("c", "r")).tolist() == [1.0, 0.0]
    assert TRIVIAL["50/50"].row(("f", "c", "r")).tolist() == [0.0, 0.5, 0.5]
    with pytest.raises(StrategyError, match="always-call"):
        ready_made("always-check")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"profile": "best"}, "average or last"),
        ({"tremble": 0.1}, "tremble"),
        ({"threads": 0}, "threads"),
        ({"storage": "int8"}, "storage"),
    ],
)
def test_settings_make_sense(settings: dict[str, object], message: str) -> None:
    with pytest.raises(SolverError, match=message):
        PublicSolver("leduc", config_with("cfr+", settings))


def test_what_does_not_fit_is_told_first() -> None:
    with pytest.raises(MemoryLimitError, match="holdem_2_4 needs"):
        PublicSolver("holdem_2_4", CfrConfig(), memory_limit=2**30)


def test_deals_that_do_not_fit_are_told_before_they_are_made() -> None:
    with pytest.raises(MemoryLimitError, match="public tree of holdem_limit_2p needs about"):
        open_game("holdem_limit_2p", "public", memory_limit=24 << 30)


def test_games_without_a_public_tree() -> None:
    with pytest.raises(GameError, match="history"):
        PublicSolver("goofspiel(3)")
    with pytest.raises(GameError, match="two players"):
        PublicSolver("kuhn(players=3)")


def test_isomorphic_sizes() -> None:
    """Johanson 2016, section 2.4 and 3.2.3: 1,755 flops; [2-1], [2-4] and Rhode Island hold'em."""
    tree = open_game("holdem_2_1", "public")
    assert tree.num_deals == 1 + 1755
    assert tree.num_infosets == 15_442_180
    assert open_game("holdem_2_4", "public").num_infosets == 90_076_792
    assert open_game("rhode_island", "public").num_infosets == 3_937_128


class TestCommand:
    def run(self, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    def test_a_game_that_does_not_fit_is_solved_on_its_public_tree(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        out = tmp_path / "rhode"
        words = ("solve", "rhode_island(ranks=4,suits=3)", "--memory-limit", "20MB", "--until", "400mbb")
        found = self.run(capsys, *words, "--out", str(out))
        assert found["representation"] == "public"
        assert found["exploitability_mbb"] <= 400  # type: ignore[operator]
        again = self.run(capsys, "evaluate", str(out))
        assert again["exploitability"] == pytest.approx(found["exploitability"], rel=1e-6)

    def test_small_games_are_saved_like_others(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        out = tmp_path / "leduc"
        found = self.run(
            capsys, "solve", "leduc", "--representation", "public", "--iterations", "100", "--out", str(out)
        )
        profile = load_strategy(out)
        measured = cp.evaluate(profile, cp.compile_game("leduc"))
        assert measured.exploitability == pytest.approx(found["exploitability"], abs=1e-9)

    def test_what_needs_histories_says_so(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["solve", "kuhn", "--representation", "public", "--algorithm", "lp"]) != 0
        assert "history" in capsys.readouterr().err
