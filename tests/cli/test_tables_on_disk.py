"""``solve --tables disk:FOLDER``: runs, resumed runs, reports and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.strategy import load_strategy
from tests.cli.conftest import Run, RunJson

GAME = ("leduc_limit_2p", "--iterations")


def test_a_run_equals_one_in_memory(run_json: RunJson, tmp_path: Path) -> None:
    disk = run_json("solve", *GAME, "30", "--tables", f"disk:{tmp_path / 'run'}", "--out", tmp_path / "d.strategy")
    memory = run_json("solve", *GAME, "30", "--representation", "public", "--out", tmp_path / "m.strategy")
    same = set(memory) - {
        "seconds", "cpu_seconds", "nodes_per_second", "memory_bytes", "disk", "profile", "checkpoint",
    }  # fmt: skip
    assert {name: disk[name] for name in same} == {name: memory[name] for name in same}
    assert memory["disk"] is None
    assert disk["disk"].keys() == {"folder", "stored", "ratio", "float32_ratio", "read", "written", "waited"}
    assert disk["disk"]["folder"] == str(tmp_path / "run")
    assert disk["checkpoint"] == str(tmp_path / "run" / "run.checkpoint")
    one, other = (load_strategy(tmp_path / f"{name}.strategy") for name in "dm")
    assert list(one.infosets()) == list(other.infosets())


def test_a_run_is_resumed_by_its_folder(run: Run, run_json: RunJson, tmp_path: Path) -> None:
    run("solve", *GAME, "12", "--tables", f"disk:{tmp_path / 'run'}")
    resumed = run_json("solve", "--resume", tmp_path / "run", "--iterations", "30")
    whole = run_json("solve", *GAME, "30", "--tables", f"disk:{tmp_path / 'whole'}")
    assert resumed["exploitability"] == whole["exploitability"]
    assert resumed["iterations"] == 30
    text = run("solve", "--resume", tmp_path / "run", "--iterations", "31")
    assert f"in {tmp_path / 'run'}, " in text
    assert ":1 of float32" in text
    assert "seconds waiting" in text


def test_a_damaged_block_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = str(tmp_path / "run")
    cp.solve("leduc_limit_2p", tables=f"disk:{place}", iterations=5)
    cp.resume(place, iterations=9)
    block = tmp_path / "run" / "blocks" / "block000000-player2-regret-9.block"
    block.write_bytes(block.read_bytes()[:-9])
    capsys.readouterr()
    assert main(["solve", "--resume", place, "--iterations", "12", "--quiet"]) == 0
    said = capsys.readouterr().err
    assert "block 0, the regrets of player 2 after iteration 9, cannot be used" in said
    assert "the one before it, of iteration 5" in said
    again = cp.resume(place, iterations=14)
    assert again.exploitability == cp.solve("leduc_limit_2p", iterations=14, representation="public").exploitability


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("leduc_limit_2p", "--tables", "tape:x"), "tables are in memory or disk:FOLDER; got 'tape:x'"),
        (("leduc_limit_2p", "--tables", "disk:"), "tables are in memory or disk:FOLDER"),
        (("leduc_limit_2p", "--tables", "disk:r", "--checkpoint", "x"), "their folder holds the checkpoint"),
        (("leduc", "--tables", "disk:r", "--forget", "match=^."), "tables on disk are without forget"),
        (("leduc", "--tables", "disk:r", "--representation", "history"), "got representation history"),
        (("leduc_limit_2p", "--tables", "disk:r", "-a", "pcs"), "tables on disk are for cfr, cfr+, linear, dcfr"),
        (("kuhn", "--tables", "disk:r"), "nothing is dealt in kuhn after the start"),
        (("leduc_limit_2p", "--tables", "disk:r", "--memory-limit", "1MiB"), "the least is --memory-limit"),
        (("--resume", "r", "--tables", "disk:r"), "leave out tables"),
        (("--resume", "."), ". is a folder without a run"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(
    words: tuple[str, ...],
    reason: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["solve", *words, "--iterations", "2"]) == 2
    said = capsys.readouterr().err.strip()
    assert reason in said.splitlines()[-1]
    assert not Path("r").exists() or not list(Path("r").glob("*.checkpoint"))


def test_sizes_are_shown_beforehand(run: Run, run_json: RunJson) -> None:
    text = run("info", "holdem_2_4")
    assert "cfr+ 893.4 MiB" in text
    assert "before compression (solve --tables disk:FOLDER)" in text
    public = next(form for form in run_json("info", "holdem_2_4")["forms"] if form["form"] == "public")
    assert public["solver_bytes"]["cfr+, disk"] == 4 * public["entries"]
