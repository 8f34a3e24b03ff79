"""The front door: ``cp.solve`` and ``counterplay solve`` are one run with one report, fresh or resumed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.cli.main import main
from counterplay.errors import MemoryLimitError, SolverError
from counterplay.solvers import ALGORITHMS, SOLVERS, make_solver, resume_solver, solver_class
from counterplay.storage import file_kind, read_container

CLOCK = {"seconds", "cpu_seconds", "nodes_per_second"}
FILES = {"profile", "checkpoint", "map"}
SPOT: dict[str, Any] = {
    "board": "QsJh2h3c8d",
    "pot": 50.0,
    "stack": 200.0,
    "oop": "AA,KQs,T9s,77",
    "ip": "KK,AQs,QJs,65s",
}

Solve = Callable[..., cp.SolveResult]


def _history(**more: Any) -> cp.SolveResult:
    return cp.solve("leduc", "dcfr", **more)


def _forgetful(**more: Any) -> cp.SolveResult:
    return cp.solve("bluff(1,1,sides=3)", forget="last-bids=2", **more)


def _public(**more: Any) -> cp.SolveResult:
    return cp.solve("leduc", representation="public", **more)


def _states(**more: Any) -> cp.SolveResult:
    return cp.solve("leduc", representation="states", seed=3, **more)


def _spot(**more: Any) -> cp.SolveResult:
    return cp.solve_spot(**SPOT, lock="bet25=fold 1", **more)


def _buckets(**more: Any) -> cp.SolveResult:
    return cp.solve("leduc_limit_2p", cards="leduc.cpa", boards="all", seed=4, **more)


FORMS: dict[str, tuple[Solve, list[str]]] = {
    "history": (_history, ["leduc", "-a", "dcfr"]),
    "forgetful": (_forgetful, ["bluff(1,1,sides=3)", "--forget", "last-bids=2"]),
    "public": (_public, ["leduc", "--representation", "public"]),
    "buckets": (_buckets, ["leduc_limit_2p", "--cards", "leduc.cpa", "--boards", "all", "--seed", "4"]),
    "states": (_states, ["leduc", "--representation", "states", "--seed", "3"]),
    "spot": (
        _spot,
        [
            "holdem",
            "--lock",
            "bet25=fold 1",
            *(word for key, value in SPOT.items() for word in (f"--{key}", str(value))),
        ],
    ),
}
every_form = pytest.mark.parametrize("form", FORMS)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    CardAbstraction.lossless((3, 2), (1, 1)).save(tmp_path / "leduc.cpa")
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["solve", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def same(found: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on the clock and on the names of files."""
    return {key: value for key, value in found.items() if key not in CLOCK | FILES}


def content(path: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A strategy file without the seconds that the run took."""
    header, arrays = read_container(path, file_kind(path))
    header["provenance"].pop("seconds", None)
    return header, {name: array.tobytes() for name, array in arrays.items()}


@every_form
def test_the_library_does_what_the_command_line_does(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same JSON, and the same bits in the strategy file."""
    solve, words = FORMS[form]
    result = solve(iterations=60, out="library.strategy")
    shown = told(capsys, *words, "--iterations", "60", "--out", "command.strategy")
    assert same(json.loads(json.dumps(result.to_dict()))) == same(shown)
    assert (shown["profile"], result.to_dict()["profile"]) == ("command.strategy", "library.strategy")
    assert content("library.strategy") == content("command.strategy")
    result.profile.save("again.strategy")
    assert content("again.strategy") == content("library.strategy")


@every_form
def test_a_resumed_run_has_the_same_report(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    solve, words = FORMS[form]
    extra = ["--boards", "all"] if form == "buckets" else []
    measured: dict[str, Any] = {"boards": "all"} if form == "buckets" else {}
    whole = told(capsys, *words, "--iterations", "60", "--out", "whole.strategy")
    solve(iterations=25, checkpoint="half.checkpoint")
    by_library = cp.resume("half.checkpoint", iterations=60, out="resumed.strategy", **measured).to_dict()
    by_command = told(capsys, "--resume", "half.checkpoint", "--iterations", "60", *extra)
    assert list(whole) == list(by_library) == list(by_command)
    assert same(whole) == same(json.loads(json.dumps(by_library))) == same(by_command)
    assert content("resumed.strategy") == content("whole.strategy")


def test_every_form_has_the_same_keys(capsys: pytest.CaptureFixture[str]) -> None:
    """An algorithm may add keys of its own; none is missing."""
    reports = {form: told(capsys, *words, "--iterations", "2") for form, (_, words) in FORMS.items()}
    common = set(reports["history"])
    for report in reports.values():
        assert common <= set(report)
    assert set(reports["spot"]) == set(reports["public"]) == set(reports["states"]) == common
    assert [report["representation"] for report in reports.values()] == [
        "history", "history", "public", "buckets", "states", "public",
    ]  # fmt: skip
    assert reports["states"]["exploitability"] is reports["buckets"]["exploitability"] is None
    assert reports["buckets"]["abstract"]["exploitability"] > 0
    assert reports["spot"]["locked"] == ["bet25"]


def test_limits_in_every_unit() -> None:
    chips = cp.solve("leduc", until=0.05)
    assert chips.status == "exploitability"
    for other in (
        {"until": "0.05"},
        {"until": "50mbb"},
        {"exploitability": 0.05},
        {"until": cp.Until(None, None, 0.05)},
    ):
        assert cp.solve("leduc", **other).iterations == chips.iterations  # type: ignore[arg-type]
    assert cp.solve_spot(**SPOT, until="1%").exploitability <= 0.5
    assert cp.solve_spot(**SPOT).to_dict()["exploitability_percent"] <= 0.5  # the default
    assert cp.solve("kuhn").iterations == 1000
    with pytest.raises(SolverError, match="are the same limit"):
        cp.solve("kuhn", until=0.1, exploitability=0.1)
    with pytest.raises(SolverError, match=r"1e-4 or 0\.5mbb; got '1%'"):
        cp.solve("kuhn", until="1%")
    with pytest.raises(SolverError, match="either an Until or"):
        cp.solve("kuhn", until=cp.Until(5), seconds=3)


def test_another_form_is_taken_only_where_nothing_is_lost() -> None:
    """Histories that do not fit: the public tree for full-width algorithms, states for sampled ones."""
    limit = 2**20
    assert cp.solve("bluff(sides=5)", iterations=2, memory_limit=limit).form == "public"
    assert cp.solve("bluff(sides=5)", "external-sampling", iterations=2, memory_limit=limit).form == "states"
    for more in ({"until": 0.1}, {"threads": 2}, {"map_out": "x"}, {"representation": "history"}):
        with pytest.raises(MemoryLimitError):
            cp.solve("bluff(sides=5)", "external-sampling", memory_limit=limit, **more)  # type: ignore[arg-type]
    assert cp.solve("leduc", "pcs", iterations=2).form == "public"
    assert cp.solve(cp.compile_game("leduc"), "pcs", iterations=2).form == "public"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"threads": 2}, r"cfr\+ works in one thread"),
        ({"representation": "public", "exact": True}, "exact needs the histories"),
        ({"representation": "states", "algorithm": "cfr"}, "cfr does not run without the compiled game"),
        ({"algorithm": "pcs-boards"}, "pcs-boards needs a card abstraction; name one with cards"),
        ({"bets": "fcpa"}, "bets is for card abstractions"),
        ({"boards": "some"}, "boards is all or a number"),
        ({"map_out": "x"}, "nothing is abstracted"),
        ({"lag": 1}, r"cfr\+ has no setting 'lag'"),
        ({"storage": "int16"}, "storage must be one of float64, float32"),
    ],
)
def test_misuse_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(cp.CounterplayError, match=message):
        cp.solve("leduc", iterations=1, **more)


def test_a_checkpoint_is_written_where_it_was_interrupted(folder: Path) -> None:
    def press(now: cp.Progress) -> None:
        if now.iterations >= 10:
            raise KeyboardInterrupt

    result = cp.solve("leduc", iterations=10**6, progress=press)
    assert result.status == "interrupted"
    assert cp.resume(result.files["checkpoint"], iterations=50).iterations >= 50  # type: ignore[arg-type]


def test_results_print_as_tables() -> None:
    result = cp.solve("leduc", iterations=5)
    assert repr(result).startswith("SolveResult(game='leduc', algorithm='cfr+', form='history', exploitability=")
    page = result._repr_html_()
    assert page.startswith("<table><caption>leduc solved by cfr+: all iterations are done</caption>")
    assert page.count("<tr>") == len(result.rows())
    states = cp.solve("kuhn", representation="states", iterations=5)
    assert math.isnan(states.exploitability)
    assert "exploitability" not in repr(states)


def test_the_registry_names_a_solver_for_every_form() -> None:
    """Every algorithm runs on each of its forms, with the solver that is registered there."""
    games = {
        "history": "kuhn",
        "public": cp.open_game("leduc_limit_2p", "public"),
        "buckets": cp.open_game("leduc_limit_2p", "buckets", cards=["leduc.cpa"]),
        "states": "kuhn",
    }
    for name, algorithm in ALGORITHMS.items():
        for form, kind in algorithm.forms.items():
            solver = make_solver(games[form], name, form=form)
            assert type(solver) is solver_class(kind)
            assert (solver.form_name, solver.algorithm, solver.kind) == (form, name, kind)
    found = {kind for one in ALGORITHMS.values() for kind in (*one.forms.values(), *one.against.values(), *one.instead)}
    assert found == set(SOLVERS)


def test_a_checkpoint_with_the_old_name_of_an_algorithm_loads() -> None:
    solver = make_solver(cp.open_game("leduc_limit_2p", "buckets", cards=["leduc.cpa"]), "pcs-boards", seed=2)
    solver.step(7)
    solver.algorithm = "pcs"
    solver.save("old.checkpoint")
    resumed = resume_solver("old.checkpoint")
    assert (resumed.algorithm, resumed.iterations) == ("pcs-boards", 7)
