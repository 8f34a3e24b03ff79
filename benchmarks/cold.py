"""First uses with an empty cache of kernels: CPU seconds of whole processes, interpreter included.

Each command is run once more with the kernels that it has compiled.  The difference is what compiling takes; it is
compared with what the command said that it takes.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.measures import Outcome

TARGET = 15.0
SAID_TARGET = 3.0
"""Seconds by which a command may be wrong that says how long compiling takes."""
SPOT = ("--pot", "60", "--stack", "150", "--oop", "88+,A9s+", "--ip", "22+,A2s+", "--iterations", "2")
CARDS = "cards.cpa"
USES: dict[str, tuple[str, ...]] = {
    "cfr+": ("solve", "leduc", "--iterations", "2"),
    "other full-width algorithms": (
        "compare", "kuhn", "--algorithms", "cfr,linear,dcfr,pcfr+,fictitious-play", "--iterations", "4",
    ),
    "maxmin": ("solve", "kuhn", "--algorithm", "maxmin"),
    "lp": ("solve", "kuhn", "--algorithm", "lp"),
    "double oracle": ("solve", "kuhn", "--algorithm", "double-oracle"),
    "cfr+ira": ("solve", "kuhn", "--algorithm", "cfr+ira", "--iterations", "2"),
    "fpira": ("solve", "kuhn", "--algorithm", "fpira", "--iterations", "2"),
    "external sampling": ("solve", "kuhn", "--algorithm", "external-sampling", "--iterations", "20"),
    "chance sampling": ("solve", "kuhn", "--algorithm", "chance-sampling", "--iterations", "20"),
    "other sampled algorithms": (
        "compare", "kuhn", "--algorithms", "outcome-sampling,average-strategy-sampling,mccfr-scheme,probing",
        "--iterations", "20", "--seeds", "1",
    ),
    "pure cfr": ("solve", "kuhn", "--algorithm", "pure-cfr", "--iterations", "20"),
    "cfr+ on a public tree": ("solve", "leduc", "--representation", "public", "--iterations", "2"),
    "pcs": ("solve", "kuhn", "--algorithm", "pcs", "--iterations", "20"),
    "cs, opcs and spcs": (
        "compare", "kuhn", "--algorithms", "cs,opcs,spcs", "--iterations", "20", "--seeds", "1",
    ),
    "a turn spot": ("solve", "holdem", "--board", "KsTd7h4c", *SPOT, "--out", "turn.strategy"),
    "evaluate": ("evaluate", "turn.strategy"),
    "show": ("show", "turn.strategy", "--ev"),
    "flops": (
        "flops", "report", "--flops", "QsJh2h", "--pot", "20", "--stack", "20", "--oop", "AA,KQs", "--ip", "AKo,QQ",
        "--bets", "allin", "--until", "5%",
    ),
    "equity": ("equity", "AKs", "22+", "--board", "Qs Jh 2h"),
    "abstract": ("abstract", "leduc_limit_2p", "--rounds", "3,5", "--cache", "features", "--out", CARDS),
    "pure cfr in buckets": ("solve", "leduc_limit_2p", "--cards", CARDS, "--iterations", "100"),
    "cfr+ in buckets": ("solve", "leduc_limit_2p", "--cards", CARDS, "--algorithm", "cfr+", "--iterations", "2"),
    "pcs in buckets": (
        "solve", "leduc_limit_2p", "--cards", CARDS, "--algorithm", "pcs-boards", "--iterations", "20",
    ),
    "cfr-br": ("solve", "leduc_limit_2p", "--cards", CARDS, "--algorithm", "cfr-br", "--iterations", "2"),
    "build": (
        "build", "leduc_limit_2p", "--preset", "tiny", "--cache", "features", "--out", "agent",
    ),
    "evaluate an agent": ("evaluate", "agent/agent.strategy"),
    "bounds": ("evaluate", "agent/agent.strategy", "--method", "bounds", "--bounds", "10"),
    "match of agents": ("match", "agent/agent.strategy", "tight", "--game", "leduc_limit_2p", "--deals", "10"),
    "match": ("match", "uniform", "always-call", "--game", "leduc", "--deals", "10"),
    "tournament": ("tournament", "games", "uniform", "tight", "--game", "leduc", "--deals", "10"),
    "play": ("play", "leduc"),
    "dominated": ("dominated", "kuhn"),
    "warm": ("warm",),
}  # fmt: skip
"""In this order: some use files that those before have written.  Algorithms of one line share their kernels."""

SAID = re.compile(r"compiling kernels, once, about (\d+) s")


def first_use(words: tuple[str, ...], folder: Path) -> tuple[float, float, int | None]:
    """CPU seconds of a command whose kernels are not compiled, and of the same once more; what it says that compiling
    takes."""
    spent, said = [], None
    with tempfile.TemporaryDirectory() as other:
        cache, copy = f"{other}/kernels", Path(other) / "copy"
        shutil.copytree(folder, copy)
        for place in (copy, folder):
            before = _children()
            done = subprocess.run(
                [sys.executable, "-m", "counterplay", *words], check=True, cwd=place, text=True,
                env={**os.environ, "NUMBA_CACHE_DIR": cache}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )  # fmt: skip
            spent.append(_children() - before)
            said = said or SAID.search(done.stderr)
    return spent[0], spent[1], None if said is None else int(said[1])


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


_USES: list[str] = []


def choose(uses: str | None) -> None:
    """Set what the command line says: the names of some uses, separated by semicolons."""
    _USES[:] = list(USES) if uses is None else [name.strip() for name in uses.split(";")]
    for name in _USES:
        if name not in USES:
            raise SystemExit(f"there is no first use {name!r}; there are {'; '.join(USES)}")


def cold_starts(outcome: Outcome) -> None:
    """Every first use once: what is compiled does not vary."""
    from benchmarks.measures import Line

    with tempfile.TemporaryDirectory() as folder:
        for name in _USES or USES:
            seconds, again, said = first_use(USES[name], Path(folder))
            outcome.raw[f"first use: {name}"] = {"first": seconds, "again": again, "said": said}
            target = None if name == "warm" else TARGET
            compiled = f"compiling {max(0.0, seconds - again):.1f} s"
            theirs = "" if said is None else f"said: about {said} s"
            outcome.lines.append(Line(f"first use: {name}", [seconds], "s", compiled, theirs, target, False))
            if said is not None:
                wrong = abs(seconds - again - said)
                what = f"first use: {name}, what it says is wrong by"
                outcome.lines.append(Line(what, [wrong], "s", "", "", SAID_TARGET, False))
