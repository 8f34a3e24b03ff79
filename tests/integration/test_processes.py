"""The command as a process: what it imports, how it ends when it is stopped, and what it does in a pipeline."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from counterplay import __version__, game_names
from counterplay.evaluation import evaluate
from counterplay.solvers import CfrSolver
from counterplay.strategy.files import load_strategy
from counterplay.tree import compile_game

COMMAND = [sys.executable, "-m", "counterplay"]
GAME = "leduc(ranks=6,suited=true)"
INTERRUPTED = 130
PATIENCE = 120.0
"""Seconds after which a process that should have said something is given up; no test depends on how fast it is."""

BUFFERED = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}


def run(*words: str, cwd: Path | None = None, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, which must be the given exit code and no traceback."""
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, cwd=cwd, check=False, timeout=PATIENCE)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


# ---------------------------------------------------------------------------------------------- imports


def imported_by(code: str) -> set[str]:
    """The top-level modules that are loaded after running some Python."""
    text = f"{code}\nimport sys\nprint(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=PATIENCE)
    return {name.partition(".")[0] for name in done.stderr.splitlines()[-1].split()}


def test_importing_the_package_imports_nothing_heavy() -> None:
    loaded = imported_by("import counterplay")
    assert "counterplay" in loaded
    assert loaded & {"numba", "llvmlite", "numpy", "matplotlib", "typer", "rich", "safetensors", "pyspiel"} == set()


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        pytest.param("import counterplay; counterplay.make('leduc')", {"numba", "typer", "matplotlib"}, id="make"),
        pytest.param("import counterplay; counterplay.compile_game('kuhn')", {"numba", "matplotlib"}, id="compile"),
        pytest.param(
            "import counterplay; counterplay.solve('kuhn', iterations=2)", {"matplotlib", "typer"}, id="solve"
        ),
    ],
)
def test_parts_import_only_what_they_need(code: str, heavy: set[str]) -> None:
    assert imported_by(code) & heavy == set()


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["games"], ["solve", "--help"], ["info", "--help"]])
def test_help_and_listings_do_not_import_numba(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "counterplay", *words],
        capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "counterplay" in loaded
    assert loaded & {"numba", "llvmlite", "matplotlib"} == set()
    assert done.stdout


def test_the_version_of_the_process() -> None:
    assert run("--version").stdout == f"counterplay {__version__}\n"


def test_misuse_ends_with_2_and_one_line() -> None:
    done = run("solve", "ledcu", code=2)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "did you mean 'leduc'?" in done.stderr


# ---------------------------------------------------------------------------------------------- stopping


STOPPABLE = """
import signal, sys
from counterplay.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C
sys.exit(main(sys.argv[1:]))
"""


def wait_for(process: subprocess.Popen[str], pattern: str) -> None:
    """Read the process's standard error until a line matches; a process that is silent for too long is ended."""
    assert process.stderr is not None
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    seen = []
    try:
        for line in process.stderr:
            seen.append(line)
            if re.search(pattern, line):
                return
    finally:
        watchdog.cancel()
    pytest.fail(f"no line like {pattern!r} among {seen}")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda stop: stop.name)
def test_a_stopped_run_is_saved_and_goes_on(tmp_path: Path, stop: signal.Signals) -> None:
    out = tmp_path / "leduc.strategy"
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPABLE, "solve", GAME, "--seconds", "60", "--out", out.name],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    try:
        wait_for(process, r"^[\d,]+ iterations, .* exploitability")
        process.send_signal(stop)
        text, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == INTERRUPTED, errors
    assert "Traceback" not in errors
    assert "interrupted; the work is saved" in text

    checkpoint = tmp_path / "leduc.strategy.checkpoint"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [out.name, checkpoint.name]
    tree = compile_game(GAME)
    profile, solver = load_strategy(out), CfrSolver.resume(checkpoint, tree)
    assert profile.provenance.iterations == solver.iterations > 0
    assert profile.table.tobytes() == solver.strategy().tobytes()
    shown = re.search(r"exploitability +(\S+) chips per game", text)
    assert shown is not None
    assert float(shown[1]) == pytest.approx(evaluate(profile, tree).exploitability, rel=0.005)  # three digits are shown

    advice = re.search(r"  counterplay (solve --resume \S+ .*?)  +", text)
    assert advice is not None, text
    words = shlex.split(advice[1])
    assert words[2] == checkpoint.name
    target = solver.iterations + 5
    found = json.loads(run(*words[:3], "--iterations", str(target), "--json", cwd=tmp_path).stdout)
    solver.step(5)
    assert (found["game"], found["iterations"]) == (GAME, target)
    assert found["exploitability"] == solver.measure().exploitability  # the same bits as without the stop


# ---------------------------------------------------------------------------------------------- pipelines


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["games"], id="games"),
        pytest.param(["info", "leduc"], id="info"),
        pytest.param(["solve", "kuhn", "--iterations", "10", "--quiet"], id="solve"),
        pytest.param(["info", "kuhn", "--json"], id="json"),
        pytest.param(["--help"], id="help"),
        pytest.param(["--version"], id="version"),
    ],
)
def test_a_reader_that_is_gone(words: list[str]) -> None:
    """As with ``| head -1`` when head ends first: there is nobody left to tell."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        done = subprocess.run(
            [*COMMAND, *words],
            stdout=gone, stderr=subprocess.PIPE, text=True, env=BUFFERED, check=False, timeout=PATIENCE,
        )  # fmt: skip
    assert done.stderr == ""
    assert done.returncode in (0, 1)


def test_the_first_line_of_a_pipeline() -> None:
    command = f"{shlex.join([*COMMAND, 'games'])} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout == f"{game_names()[0]}\n"
    assert done.stderr == ""


def test_json_in_a_pipeline() -> None:
    done = run("solve", "kuhn", "--until", "1e-3", "--json")
    assert json.loads(done.stdout)["exploitability"] <= 1e-3
    assert done.stderr == ""
