"""Where a command runs: no home, names that are too long, other encodings, closed streams, little memory, cut files."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterplay import storage
from counterplay.abstraction.cards import CardFeatures
from counterplay.cli.main import main
from counterplay.cli.streams import ERRORS, prepare_streams
from counterplay.errors import StrategyError
from counterplay.runtime.array_cache import default_cache
from counterplay.runtime.signals import CUT_SHORT
from tests.cli.conftest import Run, RunJson
from tests.cli.test_bad_input import MISUSE, Capture, told

LONG = 300 * "a"
LONGEST = 255 * "b"  # what file systems take
SPOT = "--pot 10 --stack 20 --oop AA,KK --ip QQ,JJ"


def counterplay(*words: str, before: str = "", **environment: str | None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, after a line of a shell; variables that are None are unset."""
    kept = {name: text for name, text in os.environ.items() if name not in environment}
    given = {name: text for name, text in environment.items() if text is not None}
    line = f'{before or ":"}; exec "$0" -m counterplay "$@"'
    return subprocess.run(
        ["bash", "-c", line, sys.executable, *words],
        check=False, capture_output=True, text=True, errors="replace", env=kept | given,
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    "line",
    [
        f"solve kuhn --out {LONG}",
        f"solve kuhn --checkpoint {LONG}",
        f"solve kuhn --plot {LONG}.png",
        f"solve kuhn --forget initial --map-out {LONG}",
        f"solve kuhn --resume {LONG}",
        f"solve kuhn --forget map={LONG}",
        f"solve leduc_limit_2p --cards {LONG}",
        f"solve holdem --board QsJh2h3d4c --pot 10 --stack 20 --ranges {LONG}",
        f"compare kuhn -a cfr --plot {LONG}.png",
        f"draw kuhn --out {LONG}.png",
        f"info {LONG}.efg",
        f"info {LONG}.game",
        f"abstract leduc_limit_2p --rounds 3,6 --out {LONG}.cpa",
        f"abstract leduc_limit_2p --rounds 3,6 --out x.cpa --report {LONG}",
        f"experiment kuhn-tournament --quick --out {LONG}",
        f"experiment kuhn-tournament --quick --plot {LONG}.png",
        f"show kuhn.strategy --csv {LONG}",
        f"show kuhn.strategy --html {LONG}",
        f"show kuhn.strategy --png {LONG}.png",
        f"equity AA KK --csv {LONG}",
        f"equity AA KK --html {LONG}",
        f"equity AA @{LONG}",
        f"play kuhn --log {LONG}",
        f"evaluate kuhn.strategy --checkpoint {LONG}",
        f"evaluate kuhn.strategy --game {LONG}.efg",
        f"build leduc_limit_2p --out {LONG}",
        f"tournament {LONG} uniform uniform --game kuhn",
        f"flops {LONG} --subset 25 {SPOT}",
        f"dealer {LONG} leduc_limit_2p 10 1 a b",
        f"dealer -T {LONG} leduc_limit_2p 10 1 a b",
    ],
    ids=lambda line: line.replace(LONG, "LONG"),
)
def test_names_that_are_too_long(capsys: Capture, strategy: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.chdir(strategy.parent)
    message = told(capsys, *line.split())
    assert os.strerror(errno.ENAMETOOLONG) in message
    assert LONG in message
    assert os.listdir() == [strategy.name]  # nothing was begun


@pytest.mark.parametrize(
    "line",
    [f"abstract leduc_limit_2p --rounds 3,PE2 --out x.cpa --cache {LONG}", f"build leduc_limit_2p --cache {LONG}"],
    ids=["abstract", "build"],
)
def test_a_cache_that_cannot_be_made_is_noticed_before_the_work(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(CardFeatures, "in_chunks", lambda *_: pytest.fail("work was begun"))
    assert main([*line.split(), "--quiet"]) == MISUSE
    said = os.strerror(errno.ENAMETOOLONG)
    assert capsys.readouterr().err == f"counterplay: the cache {LONG} cannot be created: {said}; choose another\n"


def test_names_as_long_as_file_systems_take(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("solve", "kuhn", "--iterations", "3", "--quiet", "--out", LONGEST)
    run("solve", "kuhn", "--iterations", "3", "--quiet", "--checkpoint", LONGEST[1:])
    run("show", LONGEST, "--html", LONGEST[2:], "--csv", LONGEST[3:])
    run("experiment", "kuhn-tournament", "--quick", "--out", LONGEST[4:])
    assert sorted(os.listdir(), key=len) == [LONGEST[cut:] for cut in (4, 3, 2, 1, 0)]


def test_unfinished_files_of_long_names_are_removed(tmp_path: Path) -> None:
    first, second = (tmp_path / f"{120 * 'é'}{last}" for last in "xy")
    abandoned = tmp_path / f"{storage._part_name(first)}999999999-1.part"  # by a process that is gone
    other = tmp_path / f"{storage._part_name(second)}999999999-1.part"
    for part in (abandoned, other):
        assert len(os.fsencode(part.name)) <= 255
        part.write_bytes(b"")
    storage.replace_file(first, b"1")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([first.name, other.name])


# ---------------------------------------------------------------------------------------------- home


@pytest.mark.parametrize("home", ["/proc/nowhere", None], ids=["a home that cannot be made", "no home"])
def test_no_home(tmp_path: Path, home: str | None) -> None:
    out = tmp_path / "x.cpa"
    words = ["abstract", "leduc_limit_2p", "--rounds", "3,PE2", "--out", str(out), "--quiet"]
    nowhere = {"HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home, "COUNTERPLAY_CACHE": None}
    done = counterplay(*words, **nowhere)
    assert (done.returncode, out.exists()) == (0, True), done.stderr
    assert ("not cached; there is no home directory" in done.stdout) == (home is not None)


def test_nobody_knows_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("XDG_CACHE_HOME", "COUNTERPLAY_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    assert default_cache() is None


def test_a_cache_on_a_full_disk_loses_no_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise StrategyError("cannot write: No space left on device")

    expected = CardFeatures((3, 2), (1, 1)).strengths()
    monkeypatch.setattr("counterplay.runtime.array_cache.write_container", full)
    assert np.array_equal(CardFeatures((3, 2), (1, 1), cache=tmp_path).strengths(), expected)


# ---------------------------------------------------------------------------------------------- streams


@pytest.mark.parametrize(
    ("text", "ascii_text", "latin"),
    [
        ("A♠ K♥ Q♦ J♣", "As Kh Qd Jc", "As Kh Qd Jc"),
        ("0.5 ± 0.1", "0.5 +- 0.1", "0.5 ± 0.1"),
        ("╭─┬╮│█", "+-++|#", "+-++|#"),
        ("Čermák, σ → ∞…", "Cermak, sigma -> ?...", "Cermák, sigma -> ?..."),
        ("\udcff", "?", "?"),
    ],
)
def test_characters_that_an_encoding_lacks(text: str, ascii_text: str, latin: str) -> None:
    prepare_streams()
    assert text.encode("ascii", ERRORS) == ascii_text.encode()
    assert text.encode("latin-1", ERRORS) == latin.encode("latin-1")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_no_output_is_lost_to_an_encoding(encoding: str) -> None:
    done = counterplay("games", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Cerm" in done.stdout
    done = counterplay("flops", "--help", PYTHONIOENCODING=encoding, COLUMNS="60")
    assert (done.returncode, done.stderr) == (0, "")


def test_input_that_is_no_text() -> None:
    words = [sys.executable, "-m", "counterplay", "play", "kuhn", "--seed", "1"]
    done = subprocess.run(words, check=False, capture_output=True, input=b"\xff\xfe\nq\n")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().rstrip().endswith("No hand was finished.")


@pytest.mark.parametrize(
    ("streams", "code"),
    [(">&- 2>&- <&-", 0), ("2>/dev/full", 0), (">/dev/full", 1)],
)
def test_streams_that_take_nothing(tmp_path: Path, streams: str, code: int) -> None:
    out, plot = tmp_path / "x", tmp_path / "x.png"
    words = ["solve", "kuhn", "--iterations", "3", "--out", str(out), "--plot", str(plot)]
    done = counterplay(*words, before=f"exec {streams}")
    assert (done.returncode, out.exists(), plot.exists()) == (code, True, True)
    assert done.stderr in ("", f"counterplay: [Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}\n")


def test_lines_on_standard_error_that_nobody_reads_stop_nothing(tmp_path: Path) -> None:
    out = tmp_path / "x"
    gone = f"exec 2> >(exec true); sleep 0.2; exec >{out}"
    done = counterplay("compare", "kuhn", "-a", "cfr", "--iterations", "3", before=gone)
    assert done.returncode == 0
    assert "uniform play" in out.read_text()


@pytest.mark.parametrize("words", [["games"], ["solve", "--help"], ["dominated", "kuhn"]])
def test_a_reader_that_is_gone(words: list[str]) -> None:
    done = counterplay(*words, before="exec > >(exec true); sleep 0.2")
    assert done.stderr == ""


# ---------------------------------------------------------------------------------------------- memory


def test_too_little_memory_for_the_libraries() -> None:
    done = counterplay("solve", "kuhn", before="ulimit -v 512000")
    assert (done.returncode, done.stdout) == (MISUSE, "")
    assert done.stderr == (
        "counterplay: ulimit -v allows this process 500.0 MiB, and the libraries that counterplay uses need 640.0 MiB; "
        "raise it: ulimit -v 655360, or more\n"
    )


def test_little_memory() -> None:
    kibibytes = 1_048_576
    done = counterplay("info", "leduc", before=f"ulimit -v {kibibytes}")
    assert (done.returncode, done.stderr) == (0, "")
    done = counterplay("solve", "leduc(ranks=40)", before=f"ulimit -v {kibibytes}")
    assert (done.returncode, done.stdout) == (MISUSE, "")
    found = re.search(r"needs about 4\.\d GiB, but only ([\d.]+) MiB may be used", done.stderr)
    assert found is not None, done.stderr
    assert float(found[1]) <= kibibytes / 1024 - 640


@pytest.mark.parametrize(
    "error",
    [MemoryError("std::bad_alloc"), ImportError("failed to map segment"), RuntimeError("can't start new thread")],
)
def test_a_full_memory_by_any_name(capsys: Capture, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr("counterplay.tree.history.compile.available_memory", full)
    monkeypatch.setattr("counterplay.runtime.memory.address_limit", lambda: 1 << 30)
    monkeypatch.setattr("counterplay.runtime.memory._addresses_used", lambda: (1 << 30) - 4096)
    assert told(capsys, "solve", "kuhn", "-q") == (
        "the memory is full (ulimit -v allows 1.0 GiB); use a smaller game or abstraction, storage float32, or a "
        "solver that samples"
    )


# ---------------------------------------------------------------------------------------------- files that get shorter


def test_a_small_file_may_be_cut_while_it_is_used(run_json: RunJson, strategy: Path) -> None:
    _, arrays = storage.read_container(strategy, "profile")
    before = {name: array.copy() for name, array in arrays.items()}
    os.truncate(strategy, 100)
    assert all(np.array_equal(arrays[name], before[name]) for name in before)
    assert not any(array.flags.writeable for array in arrays.values())


def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    storage.write_container(path, "profile", {}, {"table": np.zeros(100_000)})

    def cut(*_: Any) -> None:
        os.truncate(path, 400_000)

    monkeypatch.setattr(storage, "_check_kind", cut)
    with pytest.raises(StrategyError, match="became shorter while it was read; another program is writing it"):
        storage.read_container(path, "profile")


CUT = """
import os, sys
from counterplay import storage
from counterplay.runtime.signals import explain_bus_errors

storage.MAPPED = -1
explain_bus_errors()
_, arrays = storage.read_container(sys.argv[1], "profile", verify=False)
os.truncate(sys.argv[1], 0)
print(sum(array.sum() for array in arrays.values()))
"""


def test_a_large_file_that_is_cut_while_it_is_used(strategy: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CUT, str(strategy)], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (MISUSE, "", CUT_SHORT)
