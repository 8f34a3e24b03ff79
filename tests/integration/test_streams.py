"""The command with its standard streams closed or full: no traceback, and nothing where it does not belong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COUNTERPLAY = f"{sys.executable} -m counterplay"
SOLVE = "solve kuhn --iterations 5"


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", ["games", SOLVE, f"{SOLVE} --json", "--version"])
def test_without_standard_output(words: str) -> None:
    done = shell(f"{COUNTERPLAY} {words} >&-")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("streams", ["2>&-", "<&- 2>&-"])
def test_without_standard_error(tmp_path: Path, streams: str) -> None:
    done = shell(f"{COUNTERPLAY} {SOLVE} --json --out {tmp_path / 'x'} {streams}")
    assert done.returncode == 0
    assert json.loads(done.stdout)["profile"] == str(tmp_path / "x")
    assert shell(f"{COUNTERPLAY} evaluate {tmp_path / 'x'} {streams}").returncode == 0
    wrong = shell(f"{COUNTERPLAY} solve nothing --json {streams}")
    assert (wrong.returncode, wrong.stdout) == (2, "")  # errors do not move to standard output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", ["games", f"{SOLVE} --quiet", f"{SOLVE} --json"])
def test_a_full_disk_behind_standard_output(words: str) -> None:
    done = shell(f"{COUNTERPLAY} {words} >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "counterplay: [Errno 28] No space left on device\n"
