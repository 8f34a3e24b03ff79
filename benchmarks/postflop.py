"""A flop spot of hold'em, solved by the command line in a process of its own: CPU seconds and memory of all of it.

The spot is that of the console program of TexasSolver: QsJh2h, pot 50, stack 200, bets of 50 % and all in, raises of
60 % and all in, and its threshold: a bet of 67 % of what is left is all in.  The ranges are ours: 179 hands out of
position, 277 in position on this board.  The quick plan takes the turn spot with 3c.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

BOARD = "QsJh2h"
OOP = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
IP = "22+,A2s+,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
PERCENT = 0.3
SECONDS_TARGET = 60.0
MEGABYTES_TARGET = 400.0


def solve(board: str, *limits: str) -> dict[str, Any]:
    """What the command tells, with CPU seconds and megabytes of its process.

    A small process starts it: what the system tells of a process's memory begins with that of the one it came from.
    """
    words = [sys.executable, "-m", "benchmarks.postflop", board, *limits]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout)


def solve_in_child(board: str, *limits: str) -> dict[str, Any]:
    """The same, started from this process."""
    words = ["solve", "holdem", "--board", board, "--pot", "50", "--stack", "200", "--oop", OOP, "--ip", IP,
             "--bets", "50%,allin", "--raises", "60%,allin", "--set", "storage=int16", *limits, "--json"]  # fmt: skip
    process = subprocess.Popen([sys.executable, "-m", "counterplay", *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"counterplay {' '.join(words)} ended with {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    figures = {"process_cpu_seconds": used.ru_utime + used.ru_stime, "process_megabytes": used.ru_maxrss * unit / 1e6}
    return json.loads(told) | figures


def postflop_speed(outcome: Outcome, plan: Plan) -> None:
    """Time and memory until exploitability is 0.3 % of the pot; kernels are compiled before."""
    from benchmarks.measures import Line

    whole = plan.name == "full"
    board = BOARD if whole else f"{BOARD}3c"
    solve(board, "--iterations", "2")
    found = solve(board, "--until", f"{PERCENT}%")
    outcome.raw[f"hold'em subgame {board}"] = found
    what = f"hold'em {board} to {PERCENT} % of the pot"
    told = f"{found['iterations']} iterations, {found['information_sets']:,} information sets"
    targets = (SECONDS_TARGET, MEGABYTES_TARGET) if whole else (None, None)
    outcome.lines.append(Line(f"{what}, CPU", [found["process_cpu_seconds"]], "s", told, "", targets[0], False))
    outcome.lines.append(
        Line(f"{what}, memory", [found["process_megabytes"]], "MB", "whole process", "", targets[1], False)
    )


if __name__ == "__main__":
    print(json.dumps(solve_in_child(*sys.argv[1:])))
