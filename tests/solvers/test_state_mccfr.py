"""Sampling without compiling: the same bits as on the compiled tree, tables that grow, checkpoints, profiles."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import math
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.errors import GameError, MemoryLimitError, SolverError, StrategyError
from counterplay.runtime.pacing import Until
from counterplay.solvers import MccfrSolver, StateSampler, make_solver, resume_solver
from counterplay.strategy.files import load_strategy

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "external": ("external-sampling", {}),
    "external, options": ("external-sampling", {"regret_floor": True, "linear_average": True, "storage": "float32"}),
    "outcome": ("outcome-sampling", {"exploration": 0.3}),
    "average strategy": ("average-strategy-sampling", {"epsilon": 0.2, "tau": 2.0, "beta": 3.0}),
    "average strategy, as external": ("average-strategy-sampling", {"beta": math.inf}),
    "scheme": ("mccfr-scheme", {"scheme": "limit-poker"}),
    "probing": ("probing", {}),
    "probing, general": ("probing", {"probes": 2, "probe_share": 0.5, "probe_exploration": 0.3}),
    "pure": ("pure-cfr", {}),
    "pure, last": ("pure-cfr", {"profile": "last", "storage": "int64"}),
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def on_tree(solver: StateSampler, tree: cp.GameTree, table: Any) -> np.ndarray:
    """A table in the order of the entries of the compiled game; 0 at information sets that were not met."""
    values = np.zeros(tree.num_entries)
    for row, name in enumerate(solver.row_names):
        infoset = tree.find_infoset(solver.row_player[row], name)
        first, size = solver.row_offset[row], len(solver.row_actions[row])
        values[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]] = table[first : first + size]
    return values


@every_variant
@pytest.mark.parametrize("game", ["kuhn", "leduc", "kuhn(players=3)", "goofspiel(cards=3)", "bluff(sides=2)"])
def test_tables_have_the_bits_of_the_compiled_game(game: str, variant: str) -> None:
    algorithm, settings = VARIANTS[variant]
    if "poker" in str(settings.get("scheme")) and not game.startswith(("kuhn", "leduc")):
        settings = {"scheme": "auto"}
    tree = cp.compile_game(game)
    settings = {**settings, "seed": 7, "average_walks": 0.3}
    fast = make_solver(tree, algorithm, **settings)
    slow = make_solver(game, algorithm, form="states", **settings)
    assert isinstance(fast, MccfrSolver)
    fast.step(120)
    slow.step(120)
    np.testing.assert_array_equal(on_tree(slow, tree, slow.regret), fast.regret)
    if len(fast.average):
        np.testing.assert_array_equal(on_tree(slow, tree, slow.average), fast.average)
    assert (slow.nodes, slow.random) == (fast.nodes, int(fast.random_state[0, 0]))
    np.testing.assert_array_equal(slow.profile().for_tree(tree), fast.strategy())


@every_variant
def test_resumed_runs_go_on_to_the_same_bits(variant: str, tmp_path: Path) -> None:
    algorithm, settings = VARIANTS[variant]
    whole, first = (make_solver("leduc", algorithm, form="states", seed=3, **settings) for _ in range(2))
    whole.step(60)
    first.step(25)
    first.save(tmp_path / "run")
    second = resume_solver(tmp_path / "run")
    assert isinstance(second, StateSampler)
    second.step(35)
    tree = cp.compile_game("leduc")
    for name in ("regret", "average", "chances"):
        one, other = getattr(whole, name), getattr(second, name)
        if len(one):
            np.testing.assert_array_equal(on_tree(whole, tree, one), on_tree(second, tree, other))
    assert (whole.counters, whole.random) == (second.counters, second.random)
    assert whole.profile().table.tobytes() == second.profile().table.tobytes()


def test_a_scheme_of_ones_own() -> None:
    def half(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
        return [0.5] * len(actions)

    tree = cp.compile_game("leduc")
    slow, fast = make_solver("leduc", "probing", form="states", scheme=half), make_solver(tree, "probing", scheme=half)
    slow.step(50)
    fast.step(50)
    np.testing.assert_array_equal(on_tree(slow, tree, slow.regret), fast.tables()["regret"])


def test_what_a_run_says() -> None:
    result = cp.solve("kuhn", "external-sampling", iterations=2000, representation="states", seed=1)
    assert math.isnan(result.exploitability)
    assert result.histories is None
    assert (result.iterations, result.information_sets, result.status) == (2000, 12, "iterations")
    assert (result.form, result.details) == ("states", {})
    assert result.profile.partial
    assert cp.exploitability(result.profile, "kuhn") < 0.05


def test_profiles_cover_what_was_seen(tmp_path: Path) -> None:
    tree = cp.compile_game("leduc")
    solver = make_solver("leduc", "outcome-sampling", form="states")
    solver.step(5)
    assert 0 < solver.infosets_seen < tree.num_infosets
    solver.profile().save(tmp_path / "few.strategy")
    profile = load_strategy(tmp_path / "few.strategy")
    assert profile.digest.startswith("seen:")
    assert len(profile.infoset_names) == solver.infosets_seen
    spread = profile.for_tree(tree)
    for infoset in range(tree.num_infosets):
        if tree.infoset_names[infoset] not in profile.infoset_names:
            row = spread[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]]
            assert set(row.tolist()) == {1.0 / len(row)}
    with pytest.raises(StrategyError, match="made for leduc; kuhn lacks information sets"):
        profile.for_tree(cp.compile_game("kuhn"))


def test_a_game_of_any_size_is_sampled() -> None:
    # Goofspiel with 13 cards has more than (13!)^2 = 4e19 histories.
    result = cp.solve("goofspiel(cards=13)", "outcome-sampling", iterations=50, representation="auto")
    assert result.nodes == 50 * 2 * 27
    assert result.information_sets > 500
    with pytest.raises(MemoryLimitError):
        cp.solve("goofspiel(cards=13)", "outcome-sampling", iterations=50, representation="history")


def test_runs_end_when_the_memory_is_full() -> None:
    solver = make_solver("goofspiel(cards=13)", "outcome-sampling", form="states", memory_limit=200_000)
    result = solver.run(Until(iterations=10**9))
    assert result.status == "memory"
    assert 200_000 < solver.table_bytes < 2_000_000


def test_misuse_is_told() -> None:
    with pytest.raises(SolverError, match="chance-sampling does not run without the compiled game"):
        make_solver("kuhn", "chance-sampling", form="states")
    with pytest.raises(SolverError, match=r"cfr\+ does not run without the compiled game .*; use external-sampling"):
        make_solver("kuhn", "cfr+", form="states")
    with pytest.raises(SolverError, match="one thread; leave out threads=2"):
        make_solver("kuhn", "external-sampling", form="states", threads=2)
    with pytest.raises(SolverError, match="cannot be measured without compiling"):
        make_solver("kuhn", form="states").run(Until(exploitability=0.1))
    with pytest.raises(GameError, match="kuhn is compiled in another form already"):
        cp.solve(cp.compile_game("kuhn"), "external-sampling", iterations=1, representation="states")
    with pytest.raises(SolverError, match="unknown representation"):
        cp.solve("kuhn", "external-sampling", iterations=1, representation="sets")
    with pytest.raises(SolverError, match="unknown scheme 'nothing'"):
        make_solver("kuhn", "probing", form="states", scheme="nothing").step()
    with pytest.raises(SolverError, match="integer utilities"):
        make_solver('matrix(rows="0.5,0;0,1")', "pure-cfr", form="states").step(20)


def test_tiny_utilities_do_not_become_nothing() -> None:
    tiny = 'matrix(rows="2e-10,0;0,1e-10")'
    with pytest.raises(SolverError, match=r"has -?[12]e-10; give units, such as units=\d+0{9}"):
        make_solver(tiny, "pure-cfr", form="states").step(20)
    with pytest.raises(SolverError, match="integer utilities"):  # as when it is compiled
        make_solver(tiny, "pure-cfr")
    counted = make_solver(tiny, "pure-cfr", form="states", units=10**10)
    counted.step(20)
    assert any(counted.regret)


@dataclasses.dataclass(frozen=True)
class Odd:
    """A state of a game that goes wrong in a chosen way."""

    fault: str
    moves: int = 0

    @property
    def player(self) -> int:
        return -2 if self.moves == 2 and self.fault != "endless" else 0 if self.moves % 2 == 0 else 1

    def actions(self) -> list[str]:
        if self.fault == "none":
            return []
        return ["a", "a"] if self.fault == "equal" else ["a", "b"]

    def chance(self) -> list[tuple[str, float]]:
        return []

    def child(self, action: Any) -> Odd:
        if self.fault == "raises" and self.moves == 1:
            raise ValueError("no such card")
        return Odd(self.fault, self.moves + 1)

    def infoset(self) -> Hashable:
        return (self.player, self.moves)

    def utilities(self) -> list[float]:
        return [math.nan, 0.0] if self.fault == "nan" else [1.0, -1.0]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("none", "no or equal actions"),
        ("equal", "no or equal actions"),
        ("raises", r"child\(\) failed with ValueError: no such card; see .*test_state_mccfr.py:\d+"),
        ("nan", "utilities must be finite"),
        ("endless", "too many moves|more than 10,000 moves"),
    ],
)
def test_faults_of_a_game_are_told(fault: str, message: str) -> None:
    class Faulty(cp.Game):
        def root(self) -> Any:
            return Odd(fault)

    with pytest.raises(GameError, match=message):
        StateSampler(Faulty(), "outcome-sampling" if fault == "endless" else "external-sampling").step()


def test_keys_may_be_anything(tmp_path: Path) -> None:
    class Fine(cp.Game):
        spec_name = "kuhn"  # so that the checkpoint finds a game; the one given counts

        def root(self) -> Any:
            return Odd("fine")

    solver = StateSampler(Fine(), "external-sampling")
    solver.step(3)
    assert solver.row_names == ["(0, 0)", "(1, 1)"]
    solver.save(tmp_path / "run")
    again = StateSampler.resume(tmp_path / "run", Fine())
    solver.step(4)
    again.step(4)
    assert solver.regret == again.regret
    with pytest.raises(StrategyError, match=r"it does not fit leduc"):
        StateSampler.resume(tmp_path / "run", "leduc")


def test_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    solver = make_solver("kuhn", form="states")
    solver.step(10)
    solver.save(tmp_path / "run")
    content = (tmp_path / "run").read_bytes()
    (tmp_path / "cut").write_bytes(content[: len(content) // 2])
    with pytest.raises(StrategyError, match="damaged"):
        resume_solver(tmp_path / "cut")
    compiled = make_solver("kuhn", "external-sampling")
    compiled.save(tmp_path / "other")
    with pytest.raises(StrategyError, match="checkpoint of the solver 'mccfr'"):
        StateSampler.resume(tmp_path / "other")


def test_ctrl_c_leaves_whole_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    wait, calls = concurrent.futures.wait, 0

    def interrupted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise KeyboardInterrupt
        return wait(*arguments)

    solver = make_solver("leduc", "external-sampling", form="states", seed=2)
    monkeypatch.setattr("concurrent.futures.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solver.step(10_000)
    monkeypatch.undo()
    again = make_solver("leduc", "external-sampling", form="states", seed=2)
    again.step(solver.iterations)
    assert solver.iterations < 10_000
    assert solver.regret == again.regret
    assert solver.random == again.random


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, checkpoint = tmp_path / "x.strategy", tmp_path / "x.checkpoint"
    words = ["solve", "goofspiel(cards=13)", "-a", "outcome-sampling", "--iterations", "20", "--json"]
    assert main([*words, "--out", str(out), "--checkpoint", str(checkpoint)]) == 0
    shown = capsys.readouterr()
    values = json.loads(shown.out)
    assert values["exploitability"] is None
    assert values["histories"] is None
    assert values["representation"] == "states"
    assert values["nodes"] == 20 * 2 * 27
    assert "states are sampled" in shown.err
    assert main(["solve", "--resume", str(checkpoint), "--iterations", "30"]) == 0
    assert "exploitability    not measured" in capsys.readouterr().out
    assert main(["solve", "kuhn", "--representation", "states", "--iterations", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["algorithm"] == "external-sampling"


def test_partial_profiles_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "few.strategy")
    words = ["solve", "leduc", "--representation", "states", "-a", "outcome-sampling", "--iterations", "5"]
    assert main([*words, "--out", out, "--quiet"]) == 0
    assert "information sets  " in capsys.readouterr().out
    assert main(["evaluate", out]) == 0
    assert "of 288 information sets; uniform play at the others" in capsys.readouterr().out
    assert main(["evaluate", out, "--json"]) == 0
    assert 0 < json.loads(capsys.readouterr().out)["information_sets_covered"] < 288


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["kuhn", "--representation", "sets"],
            "there are auto, history, public, buckets, states",
        ),
        (["kuhn", "--representation", "states", "-a", "cfr"], "cfr does not run without the compiled game"),
        (["kuhn", "--representation", "states", "--until", "0.1"], "until needs the compiled game"),
        (["goofspiel(cards=13)", "-a", "outcome-sampling", "--representation", "history"], "may be used"),
        (["goofspiel(cards=13)", "-a", "cfr"], "may be used"),
    ],
)
def test_the_command_line_refuses(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", *words]) == 2
    assert message in capsys.readouterr().err
