"""How long it takes until something happens: new processes, waited for."""

from __future__ import annotations

import resource
import subprocess
import sys
import time

COMMANDS = {
    "python": ["-c", "pass"],
    "import": ["-c", "import counterplay"],
    "import and load solvers": ["-c", "from counterplay import CfrSolver"],
    "--help": ["-m", "counterplay", "--help"],
    "second solve": ["-m", "counterplay", "solve", "kuhn", "--iterations", "1", "--json"],
}


def run_once(words: list[str]) -> dict[str, float]:
    """CPU and wall seconds of one process, from its start to its end."""
    before, clock = _children(), time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return {"cpu": _children() - before, "wall": time.perf_counter() - clock}


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure_startup(turns: int) -> dict[str, list[dict[str, float]]]:
    """All commands in turn; each has run once before, so that compiled files and kernels are in their caches."""
    for words in COMMANDS.values():
        run_once(words)
    samples: dict[str, list[dict[str, float]]] = {name: [] for name in COMMANDS}
    for _ in range(turns):
        for name, words in COMMANDS.items():
            samples[name].append(run_once(words))
    return samples
