"""Algorithms compared: budgets, repeatability, intervals, bands, the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.errors import SolverError
from counterplay.evaluation import exploitability
from counterplay.evaluation.lifted_buckets import RealGame
from counterplay.experiments.shared.comparison import (
    Budget,
    Comparison,
    Run,
    compare,
    interval,
    parse_algorithms,
    run_solver,
)
from counterplay.forms import open_game
from counterplay.runtime.progress import Progress
from counterplay.solvers import make_solver

PNG = b"\x89PNG\r\n\x1a\n"


def test_a_budget_is_one_positive_limit() -> None:
    assert Budget(nodes=10).axis == "nodes"
    assert Budget(seconds=1.5).limit == 1.5
    for wrong in ({}, {"nodes": 1, "seconds": 2.0}):
        with pytest.raises(SolverError, match="give one budget"):
            Budget(**wrong)
    for wrong in ({"nodes": 0}, {"iterations": 1.5}, {"seconds": math.nan}, {"iterations": True}):
        with pytest.raises(SolverError, match="must be a positive"):
            Budget(**wrong)


def test_algorithms_with_settings() -> None:
    found = parse_algorithms("cfr+, average-strategy-sampling(beta=1e3,tau=100),probing(probes=2, scheme=all)")
    assert found == {
        "cfr+": ("cfr+", {}),
        "average-strategy-sampling(beta=1e3,tau=100)": ("average-strategy-sampling", {"beta": 1000.0, "tau": 100}),
        "probing(probes=2, scheme=all)": ("probing", {"probes": 2, "scheme": "all"}),
    }
    for text, message in [
        ("cfr+,cfr+", "named twice"),
        ("nothing", "unknown algorithm 'nothing'"),
        ("cfr+,", "algorithms are written like"),
        ("cfr+(delay)", "written NAME=VALUE; got 'delay'"),
    ]:
        with pytest.raises(SolverError, match=message):
            parse_algorithms(text)


def test_intervals_are_students() -> None:
    # Student's t with 4 degrees of freedom: 2.776 (the convention of the AS runs, 5 seeds).
    mean, half = interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean == 3.0
    assert half == pytest.approx(2.776 * math.sqrt(2.5 / 5), rel=1e-3)
    assert math.isnan(interval([1.0])[1])


def test_runs_end_at_their_budget_and_repeat() -> None:
    for budget in (Budget(iterations=500), Budget(nodes=20_000)):
        one, other = (compare("leduc", "external-sampling,cfr+", budget, 2) for _ in range(2))
        for run, again in zip(one.runs, other.runs, strict=True):
            assert [(p.iterations, p.nodes, p.exploitability) for p in run.curve] == [
                (p.iterations, p.nodes, p.exploitability) for p in again.curve
            ]
            counts = [getattr(point, budget.axis) for point in run.curve]
            assert counts == sorted(counts)
            assert counts[-1] >= budget.limit
            assert counts[-2] < budget.limit
    assert [(run.algorithm, run.seed) for run in one.runs] == [
        ("external-sampling", 0), ("external-sampling", 1), ("cfr+", None),
    ]  # fmt: skip
    assert one.runs[0].curve[-1].nodes < 21_000  # ends with the iteration that comes to the limit


def test_curves_are_those_of_the_solver() -> None:
    solver = make_solver("leduc", "outcome-sampling", seed=4)
    curve = run_solver(solver, Budget(iterations=1000))
    twin = make_solver("leduc", "outcome-sampling", seed=4)
    twin.step(1000)
    assert curve[-1].iterations == 1000
    assert curve[-1].exploitability == twin.measure().exploitability
    assert curve[-1].nodes == twin.nodes
    assert [point.iterations for point in curve][:5] == [1, 2, 3, 4, 6]


def test_seconds_are_those_of_steps() -> None:
    curve = run_solver(make_solver("kuhn", "external-sampling"), Budget(seconds=0.05))
    assert curve[-1].seconds >= 0.05
    assert curve[-2].seconds < 0.05


def test_finished_algorithms_end_their_run() -> None:
    found = compare("kuhn", "lp", Budget(iterations=1000), 3)
    assert len(found.runs) == 1
    assert found.final("lp")[0] == pytest.approx(0.0, abs=1e-9)


def test_bands_are_means_between_the_points() -> None:
    def run(seed: int, values: list[float]) -> Run:
        points = zip((1, 10, 100), values, strict=True)
        return Run("x", seed, tuple(Progress(n, n / 10, n / 10, value, n, 7 * n) for n, value in points))

    found = Comparison("g", Budget(iterations=100), (run(0, [4.0, 2.0, 1.0]), run(1, [2.0, 2.0, 1.0])), 5.0)
    band = found.band("x", "iterations")
    assert band.x == (1.0, 10.0, 100.0)
    assert band.mean == pytest.approx((3.0, 2.0, 1.0))
    assert band.high[0] - band.mean[0] == pytest.approx(interval([4.0, 2.0])[1])
    assert band.low[1] == pytest.approx(band.high[1])
    assert found.band("x", "nodes").x == (7.0, 70.0, 700.0)
    assert found.rows()[0]["nodes"] == 700


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "out.png"
    words = ["compare", "kuhn", "-a", "cfr+,external-sampling,pure-cfr", "--seeds", "2", "--nodes", "3000"]
    assert main([*words, "--plot", str(plot)]) == 0
    shown = capsys.readouterr()
    assert "external-sampling" in shown.out
    assert "uniform play: 0.4583" in shown.out  # computed independently: 11/24
    assert "external-sampling, seed 1: exploitability" in shown.err
    assert plot.read_bytes()[:8] == PNG
    assert main([*words, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["budget"] == {"nodes": 3000}
    assert [row["runs"] for row in values["algorithms"]] == [1, 2, 2]
    assert values["algorithms"][0]["interval"] is None
    assert values["uniform_exploitability"] == pytest.approx(cp.exploitability(_uniform("kuhn"), "kuhn"))
    finals = [run["exploitability"][-1] for run in values["runs"] if run["algorithm"] == "pure-cfr"]
    assert values["algorithms"][2]["exploitability"] == pytest.approx(np.mean(finals))


def _uniform(name: str) -> cp.TabularStrategy:
    return cp.TabularStrategy.uniform(cp.compile_game(name))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-a", "nothing"], "unknown algorithm"),
        (["-a", "cfr+", "--seeds", "0"], "--seeds must be at least 1"),
        (["-a", "cfr+", "--seconds", "1", "--nodes", "5"], "give one budget"),
        (["-a", "cfr+", "--nodes", "-5"], "positive"),
        (["-a", "cfr+", "--plot", "x.txt"], "a plot is a"),
        (["-a", "cfr+(colour=red)", "--iterations", "1"], "no setting 'colour'"),
    ],
)
def test_the_command_line_refuses(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "kuhn", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Card abstractions of Leduc hold'em by name."""
    folder = tmp_path_factory.mktemp("cards")
    found = {name: str(folder / f"{name}.cpa") for name in ("lossless", "PS2", "forgetful")}
    for name, rounds in (("lossless", "lossless/lossless"), ("PS2", "PS2/PS2"), ("forgetful", "PS2/PS2")):
        recall = ["--recall", "imperfect"] if name == "forgetful" else []
        words = ["abstract", "leduc_limit_2p", "--rounds", rounds, *recall, "--out", found[name]]
        assert main(words) == 0
    return found


class TestBuckets:
    """Leduc hold'em in buckets: one for each rank, in which the bucket game is the real one, or two of all ranks."""

    def test_the_bucket_game_of_all_ranks_is_the_real_one(self, files: dict[str, str]) -> None:
        game = open_game("leduc_limit_2p", "buckets", cards=[files["lossless"]])
        real = RealGame(game, open_game("leduc_limit_2p", "public"))
        chosen, budget = "chance-sampling,pure-cfr", Budget(iterations=300, points=2)
        inside, outside = (compare(game, chosen, budget, 2, measured_by=one) for one in (None, real))
        assert inside.uniform == pytest.approx(2.3736, abs=1e-4)  # uniform play of Leduc, computed independently
        assert outside.uniform == pytest.approx(inside.uniform)
        assert (inside.measured, outside.measured) == ("in the bucket game, over all 3 boards", "in the real game")
        for one, other in zip(inside.runs, outside.runs, strict=True):
            assert (one.algorithm, one.seed) == (other.algorithm, other.seed)
            assert [p.exploitability for p in one.curve] == pytest.approx([p.exploitability for p in other.curve])
        solver = make_solver(game, "pure-cfr", seed=1)
        solver.step(300)
        assert outside.runs[-1].curve[-1].exploitability == pytest.approx(
            exploitability(solver.profile(), "leduc_limit_2p")
        )

    def test_the_command_line(self, files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
        """Two buckets a round: an equilibrium of the bucket game is worth more in it than in the real one."""
        words = ["compare", "leduc_limit_2p", "--cards", files["PS2"], "-a", "external-sampling,cfr+", "--seeds", "2"]
        found = []
        for more in ([], ["--real"]):
            assert main([*words, "--iterations", "1000", "--json", *more]) == 0
            found.append(json.loads(capsys.readouterr().out))
        inside, outside = ([row["exploitability"] for row in one["algorithms"]] for one in found)
        assert inside[1] < 0.02 < 0.2 < outside[1]
        assert inside[1] < inside[0] < outside[0]
        assert found[1]["measured"] == "in the real game"
        assert main([*words, "--iterations", "2", "--boards", "3"]) == 0
        assert "measured in the bucket game, over" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--real"], "name a card abstraction with --cards"),
            (["--cards", "PS2", "--real", "--boards", "3"], "leave it out, or leave out --real"),
            (["--cards", "PS2", "-a", "cfr-br"], "measures itself in the real game"),
            (["--cards", "forgetful"], "forget"),
        ],
    )
    def test_the_command_line_refuses(
        self, files: dict[str, str], words: list[str], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = [files.get(word, word) for word in words]
        words = words if "-a" in words else [*words, "-a", "pure-cfr"]
        assert main(["compare", "leduc_limit_2p", "--iterations", "2", *words]) == 2
        assert message in capsys.readouterr().err
