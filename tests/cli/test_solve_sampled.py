"""The sampled algorithms on the command line: seeds, threads, counters, memory, plots, resumed runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from counterplay.cli.main import main
from counterplay.solvers import MCCFR_PRESETS


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str) -> dict[str, Any]:
        assert main([*words, "--json"]) == 0
        return dict(json.loads(capsys.readouterr().out))

    return call


def test_seeds_and_counters(run: Any) -> None:
    first, second, other = (
        run("solve", "leduc", "-a", "external-sampling", "--iterations", "2000", "--seed", seed)
        for seed in ("7", "7", "8")
    )
    assert first["exploitability"] == second["exploitability"] != other["exploitability"]
    assert (first["seed"], other["seed"], first["threads"]) == (7, 8, 1)
    assert 30 * 2000 < first["nodes"] < 60 * 2000
    assert first["nodes_per_second"] == pytest.approx(first["nodes"] / first["seconds"])
    full = run("solve", "kuhn", "-a", "cfr", "--iterations", "10", "--seed", "3")
    assert (full["nodes"], full["seed"], full["threads"]) == (580, 3, 1)


def test_threads(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = run("solve", "kuhn", "-a", "average-strategy-sampling", "--iterations", "30000", "--threads", "2")
    assert (found["threads"], found["iterations"]) == (2, 30000)
    assert found["exploitability"] < 0.1
    assert main(["solve", "kuhn", "--threads", "2"]) == 2
    assert "cfr+ works in one thread; threads are for sampling algorithms" in capsys.readouterr().err


def test_settings_and_resumed_runs(run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "run.checkpoint")
    words = ("solve", "leduc", "-a", "probing", "--set", "scheme=all", "--set", "probes=2", "--seed", "2")
    whole = run(*words, "--iterations", "900")
    run(*words, "--iterations", "400", "--checkpoint", path)
    resumed = run("solve", "--resume", path, "--iterations", "900")
    assert (resumed["exploitability"], resumed["seed"]) == (whole["exploitability"], 2)
    assert resumed["nodes"] == whole["nodes"]
    assert main(["solve", "--resume", path, "--threads", "2"]) == 2
    assert "a checkpoint has its own settings" in capsys.readouterr().err


def test_memory_of_the_solvers_is_told(run: Any) -> None:
    for game in ("kuhn", "leduc", "goofspiel(cards=4)"):
        memory = run("info", game)["memory_bytes"]
        assert memory.keys() >= {"walks", *MCCFR_PRESETS}
        assert 2 * memory["pure-cfr"] <= memory["external-sampling"]


def test_one_plot_against_three_axes(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    run("solve", "kuhn", "-a", "pure-cfr", "--iterations", "2000", "--plot", str(path))
    text = path.read_text(encoding="utf-8")
    assert all(f"<!-- {label} -->" in text for label in ("iterations", "histories touched", "seconds"))


def test_a_scheme_of_ones_own(run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def often(player, infoset, actions):\n    return [0.75] * len(actions)\n", encoding="utf-8")
    found = run("solve", "kuhn", "-a", "mccfr-scheme", "--set", f"scheme={path}:often", "--iterations", "50000")
    assert found["exploitability"] < 0.05
    for scheme, message in (
        (f"{path}:never", "has no function 'never'; a scheme is given as FILE.py:FUNCTION"),
        (f"{tmp_path / 'none.py'}:often", "cannot read the scheme"),
        ("mine", "unknown scheme 'mine'"),
    ):
        assert main(["solve", "kuhn", "-a", "probing", "--set", f"scheme={scheme}"]) == 2
        assert message in capsys.readouterr().err
    path.write_text("1 / 0", encoding="utf-8")
    assert main(["solve", "kuhn", "-a", "probing", "--set", f"scheme={path}:often"]) == 2
    assert "fails: ZeroDivisionError" in capsys.readouterr().err
