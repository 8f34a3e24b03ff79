"""CPU seconds, and rivals measured in turn."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def cpu_seconds(work: Callable[..., object], *arguments: object) -> float:
    """CPU seconds that a piece of work takes, all threads of this process together."""
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def calibrate(repeat: Callable[[int], object], seconds: float) -> int:
    """How many repetitions take about so many CPU seconds; ``repeat(n)`` does n of them."""
    count = 1
    while (taken := cpu_seconds(repeat, count)) < seconds / 20:
        count *= 4
    return max(1, round(count * seconds / taken))


def rates_in_turn(
    contestants: Mapping[str, Callable[[int], object]], seconds: float, turns: int
) -> dict[str, list[float]]:
    """Repetitions per CPU second of each contestant in each turn; who goes first changes from turn to turn."""
    counts = {name: calibrate(repeat, seconds) for name, repeat in contestants.items()}
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(turns):
        for name in rotated(list(contestants), turn):
            rates[name].append(counts[name] / cpu_seconds(contestants[name], counts[name]))
    return rates


def rotated(items: list[Item], turn: int) -> list[Item]:
    """The items, begun at another one each turn."""
    first = turn % len(items)
    return items[first:] + items[:first]


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """The ratio of each turn."""
    return [a / b for a, b in zip(above, below, strict=True)]


def median(numbers: Sequence[float]) -> float:
    return statistics.median(numbers)


@contextlib.contextmanager
def all_cores() -> Iterator[None]:
    """Threads that are started here may run on every core; the rest of the benchmark keeps to one."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def processors_awake() -> Iterator[None]:
    """Keep every core from falling asleep, by a process on each that only runs when nothing else wants to.

    A virtual processor that sleeps is woken by the hypervisor, and that is counted as CPU time of whoever sends the
    message: with short messages in turn it is more than all the rest.
    """
    if not hasattr(os, "SCHED_IDLE"):
        yield
        return
    spinners = []
    for core in range(os.cpu_count() or 1):
        words = [sys.executable, "-S", "-c", _SPIN, str(core)]
        spinners.append(subprocess.Popen(words))
    try:
        yield
    finally:
        for process in spinners:
            process.kill()
            process.wait()


_SPIN = """
import os, sys
os.sched_setaffinity(0, [int(sys.argv[1])])
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while True:
    pass
"""
