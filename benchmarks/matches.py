"""``python -m benchmarks.matches [HANDS]``: hands a second in one process, and through the dealer over TCP.

CPU seconds of each process are told beside the wall-clock time, which means something on an idle machine only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from counterplay.agents import match, open_match_game
from counterplay.strategy import TabularStrategy

GAME = "holdem.limit.2p.reverse_blinds"
DEALS = 1_000_000
TARGET = 100_000
COUNTERPLAY = [sys.executable, "-m", "counterplay"]


def in_process() -> float:
    """Leduc hands per CPU second between two profiles, on one core."""
    tree = open_match_game("leduc").tree
    assert tree is not None
    pair = [TabularStrategy.random(tree, 1), TabularStrategy.random(tree, 2)]
    match("leduc", pair, 100)
    started = time.process_time()
    hands = match("leduc", pair, DEALS).hands
    return hands / (time.process_time() - started)


def over_tcp(hands: int, agents: tuple[str, str]) -> tuple[float, list[float]]:
    """Wall-clock seconds of a match between two of our clients, and CPU seconds of the dealer and of each client."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["dealer", f"{folder}/match", GAME, str(hands), "0", "A", "B", "-q"]
        dealer = subprocess.Popen([*COUNTERPLAY, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert dealer.stdout is not None
        ports = dealer.stdout.readline().split()
        started = time.perf_counter()
        clients = [
            subprocess.Popen([*COUNTERPLAY, "agent", agent, GAME, "127.0.0.1", port], stderr=subprocess.DEVNULL)
            for agent, port in zip(agents, ports, strict=True)
        ]
        used = [_cpu_seconds(process) for process in (dealer, *clients)]
        return time.perf_counter() - started, used


def _cpu_seconds(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> float:
    """Wait for a process and tell what it has used, its start included."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stdout is not None:
        process.stdout.close()
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    hands = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print(f"in one process: {in_process():,.0f} Leduc hands a CPU second between profiles (target {TARGET:,})")
    for agents in (("always-call", "always-raise"), ("uniform", "50/50")):
        wall, used = over_tcp(hands, agents)
        each = ", ".join(f"{seconds:.1f}" for seconds in used)
        load = os.getloadavg()[0]
        print(
            f"over TCP, {' against '.join(agents)}: {hands:,} hands of {GAME} in {wall:.1f} s (load {load:.1f}); "
            f"CPU seconds of dealer and clients: {each}; {sum(used):.1f} in all"
        )


if __name__ == "__main__":
    main()
