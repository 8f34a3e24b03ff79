"""Runs of CFR: beside OpenSpiel, limits, checkpoints, settings, diagnostics."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis import RegretDiagnostics
from tests.bridge import to_entries
from tests.reference.cfr import ReferenceCfr
from tests.solvers.test_cfr import VARIANTS


class TestOpenSpiel:
    """OpenSpiel's C++ solvers as oracles: the same number of iterations, the same average profile."""

    @pytest.mark.parametrize(
        ("variant", "peer"), [("cfr+ from the first iteration", "CFRPlusSolver"), ("cfr alternating", "CFRSolver")]
    )
    @pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
    def test_average_profile(self, name: str, variant: str, peer: str) -> None:
        pyspiel = pytest.importorskip("pyspiel")
        game = pyspiel.load_game(name)
        theirs = getattr(pyspiel, peer)(game)
        ours = cp.CfrSolver(f"openspiel:{name}", VARIANTS[variant])
        ours.step(25)
        for _ in range(25):
            theirs.evaluate_and_update_policy()
        policy = theirs.average_policy()
        for _player, infoset, row in ours.profile().infosets():
            for action, probability in policy.get_state_policy(infoset):
                assert row[str(action)] == pytest.approx(probability, abs=1e-9), infoset


class TestRun:
    """Stopping, progress, interruption."""

    def test_iterations_are_exact(self) -> None:
        result = cp.solve("kuhn", "cfr", iterations=777)
        assert (result.status, result.iterations) == ("iterations", 777)
        assert result.curve[-1].iterations == 777

    def test_runs_do_not_depend_on_the_clock(self) -> None:
        runs = [cp.solve("leduc", "dcfr", iterations=333) for _ in range(2)]
        assert runs[0].profile.table.tobytes() == runs[1].profile.table.tobytes()
        assert [p.iterations for p in runs[0].curve] == [p.iterations for p in runs[1].curve]
        assert [p.exploitability for p in runs[0].curve] == [p.exploitability for p in runs[1].curve]

    def test_exploitability_is_reached_and_measured(self) -> None:
        result = cp.solve("leduc", exploitability=1e-2)
        assert result.status == "exploitability"
        assert result.exploitability <= 1e-2 < result.curve[-2].exploitability
        assert cp.evaluate(result.profile, "leduc").exploitability == result.exploitability

    def test_seconds(self) -> None:
        result = cp.solve("leduc(ranks=5)", seconds=0.2)
        assert result.status == "seconds"
        assert result.seconds >= 0.2
        assert result.curve[-1].iterations == result.iterations

    def test_callback_sees_progress(self) -> None:
        seen: list[cp.Progress] = []
        cp.solve("leduc", iterations=500, progress=seen.append)
        assert seen[-1].iterations == 500
        assert [p.iterations for p in seen] == sorted(p.iterations for p in seen)
        assert all(p.measured_at <= p.iterations for p in seen)

    def test_interrupt_returns_the_work_so_far(self) -> None:
        def press(now: cp.Progress) -> None:
            if now.iterations >= 100:
                raise KeyboardInterrupt

        solver = cp.CfrSolver("leduc", "cfr+")
        result = solver.run(cp.Until(iterations=10_000), press)
        assert result.status == "interrupted"
        assert 100 <= result.iterations < 10_000
        straight = cp.CfrSolver("leduc", "cfr+")
        straight.step(result.iterations)
        assert solver.regret.tobytes() == straight.regret.tobytes()
        finished = solver.run(cp.Until(iterations=10_000))
        assert finished.iterations == 10_000

    def test_regular_checks(self) -> None:
        result = cp.CfrSolver("kuhn", "cfr").run(cp.Until(iterations=100), check_every=25)
        assert [p.iterations for p in result.curve] == [25, 50, 75, 100]

    def test_calls_stay_short(self) -> None:
        """Steps cut short at a check must not make the following ones grow without limit."""

        class Counting(cp.CfrSolver):
            longest = 0

            def step(self, iterations: int = 1) -> None:
                self.longest = max(self.longest, iterations)
                super().step(iterations)

        solver = Counting("kuhn", "cfr+")
        result = solver.run(cp.Until(iterations=3000), check_every=1)
        assert result.iterations == 3000
        assert solver.longest == 1

    def test_nothing_to_do(self) -> None:
        solver = cp.CfrSolver("kuhn")
        solver.run(cp.Until(iterations=10))
        before = solver.regret.copy()
        assert solver.run(cp.Until(iterations=5)).iterations == 10
        assert (solver.regret == before).all()

    @pytest.mark.parametrize(
        ("limits", "message"),
        [
            ({}, "say when to stop"),
            ({"iterations": 0}, "iterations must be a positive integer; got 0"),
            ({"seconds": -1.0}, "seconds must be a positive number"),
            ({"exploitability": float("nan")}, "exploitability must be a positive number"),
        ],
    )
    def test_limits_make_sense(self, limits: dict[str, float], message: str) -> None:
        with pytest.raises(cp.SolverError, match=message):
            cp.Until(**limits)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delay": -1}, "delay must be an integer"),
        ({"delay": 1.5}, "delay must be an integer"),
        ({"alpha": float("inf")}, "alpha must be a finite number"),
        ({"gamma": None}, "gamma must be a finite number"),
        ({"fallback": "first"}, "fallback must be one of uniform, argmax-uniform"),
        ({"storage": "float16"}, "storage must be one of"),
        ({"alternating": "yes"}, "alternating must be true or false"),
        ({"flavour": 1}, "has no setting 'flavour'"),
    ],
)
def test_settings_make_sense(settings: dict[str, object], message: str) -> None:
    with pytest.raises(cp.SolverError, match=message):
        cp.solve("kuhn", "cfr", iterations=1, **settings)  # type: ignore[arg-type]


def test_unknown_algorithm() -> None:
    with pytest.raises(cp.SolverError, match=r"unknown algorithm 'cfr-'; did you mean 'cfr'"):
        cp.solve("kuhn", "cfr-")


class TestDiagnostics:
    """Gibson 2014, sections 4.3 and 4.4.3."""

    def test_counts_against_the_definition(self) -> None:
        solver, twin = cp.CfrSolver("kuhn", "cfr"), ReferenceCfr(cp.make("kuhn"), alternating=False, regret_floor=False)
        diagnostics = RegretDiagnostics(solver)
        played = np.zeros(solver.tree.num_entries, int)
        without = 0
        for _ in range(30):
            played += to_entries(solver.tree, twin.current()) > 0
            twin.iterate(1)
            without += any(max(row.values()) <= 0 for row in twin.regret.values())
        diagnostics.step(30)
        assert diagnostics.played.tolist() == played.tolist()
        assert diagnostics.without_positive == without
        assert diagnostics.steps == 30

    def test_supports_and_reach(self) -> None:
        solver = cp.CfrSolver(
            cp.make("toy_weakly_dominated"), cp.CfrConfig(alternating=False, fallback="argmax-uniform")
        )
        diagnostics = RegretDiagnostics(solver)
        diagnostics.step(10)
        tree = solver.tree
        only = {name: np.zeros(tree.num_entries) for name in ("A", "W", "S")}
        for name, row in only.items():
            row[tree.entry(0, "player 1", name)] = 1.0
        assert [diagnostics.supports(only[name], 0) for name in ("A", "W", "S")] == [10, 10, 1]
        second = tree.find_infoset(1, "player 2")
        assert diagnostics.reached(second, 1.0 - 1e-12) == 10
        assert diagnostics.reached_often(second, 0.5, 1.0)

    def test_reach_counts_only_the_others(self) -> None:
        solver = cp.CfrSolver("kuhn", "cfr")
        diagnostics = RegretDiagnostics(solver)
        diagnostics.step(1)
        behind_check = solver.tree.find_infoset(0, "Q:kb")
        # The others reach it with 1/3 for the queen times 1/2 for the uniform bet, whatever player 1 does.
        assert diagnostics.reached(behind_check, 1 / 6 - 1e-12) == 1
        assert diagnostics.reached(behind_check, 1 / 6 + 1e-12) == 0
