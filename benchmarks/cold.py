"""First uses with an empty cache of kernels: CPU seconds of whole processes, interpreter included."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.measures import Outcome

TARGET = 15.0
SPOT = ("--pot", "60", "--stack", "150", "--oop", "88+,A9s+", "--ip", "22+,A2s+", "--iterations", "2")
CARDS = "cards.cpa"
USES: dict[str, tuple[str, ...]] = {
    "cfr+": ("solve", "leduc", "--iterations", "2"),
    "lp": ("solve", "kuhn", "--algorithm", "lp"),
    "double oracle": ("solve", "kuhn", "--algorithm", "double-oracle"),
    "cfr+ira": ("solve", "kuhn", "--algorithm", "cfr+ira", "--iterations", "2"),
    "fpira": ("solve", "kuhn", "--algorithm", "fpira", "--iterations", "2"),
    "external sampling": ("solve", "kuhn", "--algorithm", "external-sampling", "--iterations", "20"),
    "chance sampling": ("solve", "kuhn", "--algorithm", "chance-sampling", "--iterations", "20"),
    "pure cfr": ("solve", "kuhn", "--algorithm", "pure-cfr", "--iterations", "20"),
    "cfr+ on a public tree": ("solve", "leduc", "--representation", "public", "--iterations", "2"),
    "pcs": ("solve", "kuhn", "--algorithm", "pcs", "--iterations", "20"),
    "a turn spot": ("solve", "holdem", "--board", "KsTd7h4c", *SPOT, "--out", "turn.strategy"),
    "evaluate": ("evaluate", "turn.strategy"),
    "show": ("show", "turn.strategy", "--ev"),
    "equity": ("equity", "AKs", "22+", "--board", "Qs Jh 2h"),
    "abstract": ("abstract", "leduc_limit_2p", "--rounds", "3,5", "--cache", "features", "--out", CARDS),
    "pure cfr in buckets": ("solve", "leduc_limit_2p", "--cards", CARDS, "--iterations", "100"),
    "cfr+ in buckets": ("solve", "leduc_limit_2p", "--cards", CARDS, "--algorithm", "cfr+", "--iterations", "2"),
    "pcs in buckets": (
        "solve", "leduc_limit_2p", "--cards", CARDS, "--algorithm", "pcs-boards", "--iterations", "20",
    ),
    "match": ("match", "uniform", "always-call", "--game", "leduc", "--deals", "10"),
    "warm": ("warm",),
}  # fmt: skip
"""In this order: some use files that those before have written."""


def first_use(words: tuple[str, ...], folder: Path) -> float:
    """CPU seconds of a command whose kernels are not compiled."""
    with tempfile.TemporaryDirectory() as cache:
        before = _children()
        subprocess.run(
            [sys.executable, "-m", "counterplay", *words], check=True, cwd=folder,
            env={**os.environ, "NUMBA_CACHE_DIR": cache}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cold_starts(outcome: Outcome) -> None:
    """Every first use once: what is compiled does not vary."""
    from benchmarks.measures import Line

    with tempfile.TemporaryDirectory() as folder:
        for name, words in USES.items():
            seconds = first_use(words, Path(folder))
            outcome.raw[f"first use: {name}"] = seconds
            target = None if name == "warm" else TARGET
            outcome.lines.append(Line(f"first use: {name}", [seconds], "s", "CPU", "", target, False))
