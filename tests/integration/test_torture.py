"""The torture suite in short: a few kills, changed inputs, hostile clients and races, the same in every run."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from torture.compile_kills import CompileKills

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children are forked, their memory is read in /proc")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    """What ``python -m torture --quick`` finds, in a process of its own: it forks."""
    command = [sys.executable, "-m", "torture", "--quick", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["failures"] == [], done.stderr
    return found


def test_kills(figures: dict[str, Any]) -> None:
    """As many as were asked for; every run was continued to its end and to the same bits."""
    rows = figures["kills"]
    assert sum(row["kills"] + row["signals"] for row in rows) >= 12
    assert all(row["runs"] == row["ended"] == row["comparable"] == row["identical"] > 0 for row in rows)


@pytest.mark.slow
def test_kills_while_kernels_are_compiled(tmp_path: Path) -> None:
    """Typed again, the command ends, with the strategy of a run that was never stopped."""
    found = CompileKills(tmp_path / "compile")
    found.run(3, time.monotonic() + 300)
    assert found.failures == []
    assert found.killed >= 3
    assert all(row.runs == row.identical for row in found.rows.values())


def test_inputs(figures: dict[str, Any]) -> None:
    """All are accepted or refused, and some of both."""
    rows = figures["fuzz"]
    assert sum(row["inputs"] for row in rows) >= 1000
    for row in rows:
        assert row["accepted"] + row["refused"] == row["inputs"] > 0
        assert row["slowest"] < 10
        assert row["memory"] < 1 << 30
    assert sum(row["accepted"] for row in rows) > 100
    assert sum(row["refused"] for row in rows) > 100


def test_clients(figures: dict[str, Any]) -> None:
    assert {row["outcome"] for row in figures["clients"] if row["side"] == "dealer"} == {"score", "ended"}
    assert {row["outcome"] for row in figures["clients"] if row["side"] == "agent"} == {"refused", "ended"}
    assert max(row["lines"] for row in figures["clients"]) < 400
    assert max(row["memory"] for row in figures["clients"]) < 64 << 20


def test_races(figures: dict[str, Any]) -> None:
    assert all(row["identical"] == row["races"] > 0 for row in figures["races"])
