"""``counterplay plan``: what it prints, its JSON, and what it refuses."""

from __future__ import annotations

import re
from typing import Any

import pytest

from counterplay.cli.main import main
from counterplay.cli.plan import read_network
from counterplay.errors import SolverError
from counterplay.runs import solve_planning
from counterplay.solvers.streamed.solve_plan import Rates
from tests.cli.conftest import Run, RunJson

RATES = Rates("a test", 1000, 3, 5e-9, 2e-9, 4e-9, 2e-9, 1.2, 1e9, 0.001, 1.0)


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates that are known, for measuring has tests of its own, and the memory of a process that has just started."""

    def known(*_: Any) -> Rates:
        return RATES

    monkeypatch.setattr(solve_planning, "measure_rates", known)
    monkeypatch.setattr(solve_planning, "used_memory", lambda: 150 << 20)


def test_limit_holdem_beside_the_source(run: Run) -> None:
    text = run("plan", "holdem_limit_2p", "--nodes", "200", "--cores", "24", "--disk", "1TB", "--memory-limit", "32GiB")
    assert "13,803,249,787,132 with 35,888,449,446,577 actions in all" in text
    assert "261.1 TiB for regrets and averages" in text
    assert "12,285 (7 bettings x 1,755 first deals)" in text
    assert "divided one round later 110,565" in text
    rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    beside = {row[0]: row[-1] for row in rows if len(row) == 3}
    assert beside["machines"] == "200 x 24 cores of 2.1 GHz"
    assert beside["iterations"] == "1,579"
    assert beside["in all"] == "68.5 days"
    assert beside["tables on disk"] == "10.9 TB of regrets alone, about 13:1"
    assert beside["an action"] == "490 ns of all cores"
    assert beside["core-years"] == "900"
    assert "below 1.05 mbb/g" in text
    assert "not met, memory: a node needs" in text
    assert "not met, disk" not in text


def test_json_has_the_demands(run_json: RunJson) -> None:
    found = run_json("plan", "holdem_2_4", "--iterations", "363", "--cores", "1", "--memory-limit", "500MiB")
    assert (found["game"], found["entries"], found["iterations"]) == ("holdem_2_4", 234_199_693, 363)
    cpu = 234_199_693 * (5 + 2 * 4 + 3 * 2) * 1e-9 + 0.001
    assert found["iteration"]["cpu_seconds"] == pytest.approx(cpu)
    assert found["cpu_seconds"] == pytest.approx(1 + 363 * cpu + found["checks"] * 234_199_693 * 4e-9)
    assert found["stored_bytes"] == pytest.approx(234_199_693 * 1.2)
    assert found["published"] is None
    assert found["shortages"] == []
    alone = run_json("plan", "holdem_2_4", "--iterations", "363", "--profile", "last", "--set", "storage=float32")
    assert alone["tables"] == {"type": "float32", "averaged": False, "predictive": False}


def test_what_is_not_met(run: Run, run_json: RunJson) -> None:
    words = ("plan", "holdem_2_4", "--iterations", "9", "--cores", "1", "--disk", "1GB", "--memory-limit", "50MiB")
    text = run(*words)
    assert "not met, memory: a node needs" in text
    assert "not met, disk: a node needs" in text
    assert [one["what"] for one in run_json(*words)["shortages"]] == ["memory", "disk"]
    enough = run("plan", "holdem_2_4", "--iterations", "9", "--disk", "1TB")
    assert enough.endswith("everything that was given suffices\nnot compared, as it was not given: --memory-limit\n")
    nothing = run("plan", "holdem_2_4", "--iterations", "9").splitlines()
    assert nothing[-1] == "not compared, as it was not given: --memory-limit and --disk"
    assert nothing[-2] == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["leduc_limit_2p"], "say how many iterations of leduc_limit_2p are planned: --iterations N"),
        (["leduc"], "use leduc_limit_2p, the same game from its definition"),
        (["kuhn_limit_2p", "--iterations", "9"], "nothing is dealt in kuhn_limit_2p after the start"),
        (["holdem_limit_3p", "--iterations", "9"], "a public tree needs two players; this game has 3"),
        (["holdem_nolimit_2p", "--iterations", "9"], "the betting of holdem_nolimit_2p is too large to be planned"),
        (["leduc_limit_2p", "--iterations", "9", "--nodes", "0"], "nodes must be an integer, at least 1; got 0"),
        (["leduc_limit_2p", "--disk", "much"], "a disk is written like 500MiB or 2GiB; got 'much'"),
        (["leduc_limit_2p", "--network", "fast"], "a network is written like 1Gbit or 100MB; got 'fast'"),
        (["leduc_limit_2p", "--iterations", "9", "--profile", "best"], "the profile is average or last; got 'best'"),
        (["leduc_limit_2p", "--iterations", "9", "-a", "pure-cfr"], "got pure-cfr"),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["plan", *words, "--quiet"]) == 2
    assert message in capsys.readouterr().err


def test_network_rates() -> None:
    assert read_network("1Gbit") == read_network("1 Gbit/s") == read_network("125MB") == 125e6
    assert read_network("10GB/s") == 10e9
    with pytest.raises(SolverError, match="a network is written like"):
        read_network("bit")
