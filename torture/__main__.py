"""``python -m torture [PART ...] [--minutes M] [--json]``: kills, fuzzed inputs, hostile clients and races.

    kills     every resumable verb is killed and continued to the same bits
    compile   commands are killed while they compile kernels, and typed again
    fuzz      changed texts and files for every parser
    clients   hostile players at our dealer, hostile dealers for our agent
    races     two processes in one folder
    cluster   workers and drivers of a local Ray cluster are killed and stopped; full disks, flipped bits

The exit code is 1 if anything went wrong; then the files of it are kept, and the folder is named.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PARTS = ("kills", "compile", "fuzz", "clients", "races", "cluster")
SHARES = {"kills": 0.25, "compile": 0.1, "fuzz": 0.35, "clients": 0.1, "races": 0.1, "cluster": 0.1}
"""How the time is divided, if it is limited."""
FULL = {"kills": 1000, "compile-kills": 40, "inputs": 200_000, "lines": 1_000_000, "races": 200,
        "worker-kills": 50, "driver-kills": 10}  # fmt: skip
QUICK = {
    "kills": 12,
    "compile-kills": 0,
    "inputs": 1000,
    "lines": 20_000,
    "races": 3,
    "worker-kills": 0,
    "driver-kills": 0,
}
QUICK_RUNS = (
    "solve history cfr+ on history", "solve states external-sampling on states", "solve buckets pure-cfr on buckets",
    "flops two rivers", "tournament three agents", "dealer transactions",
)  # fmt: skip
QUICK_RACES = ("flops two rivers", "tournament three agents")


def main() -> int:
    arguments = _arguments()
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # nothing here starts threads, so that it can fork
    place = Path(arguments.folder or tempfile.mkdtemp(prefix="torture-", dir=_memory_disk()))
    os.environ["COUNTERPLAY_CACHE"] = str(place / "cache")
    (place / "cache").mkdir(parents=True)
    started = time.monotonic()
    tables, failures = {}, []
    chosen = [part for part in PARTS if part in (arguments.parts or PARTS)]
    total = sum(SHARES[part] for part in chosen)
    for part in chosen:
        seconds = float("inf") if arguments.minutes is None else 60 * arguments.minutes * SHARES[part] / total
        rows, wrong = _run(part, place / part, arguments, time.monotonic() + seconds)
        tables[part] = rows
        failures += [f"{part}: {line}" for line in wrong]
    _print(arguments, tables, failures, time.monotonic() - started, place)
    if not failures and arguments.folder is None:
        shutil.rmtree(place, ignore_errors=True)
    return 1 if failures else 0


def _run(part: str, place: Path, arguments: argparse.Namespace, deadline: float) -> tuple[list[dict[str, Any]], Any]:
    """One part: its table, and what went wrong."""
    from torture import report
    from torture.cluster_kills import ClusterKills
    from torture.compile_kills import CompileKills
    from torture.fuzz import Fuzz
    from torture.hostile_clients import HostileClients
    from torture.kills import Kills
    from torture.races import Races

    def say(line: str) -> None:
        print(f"{part}: {line}", file=sys.stderr, flush=True)

    quick, seed = arguments.quick, arguments.seed
    if part == "kills":
        kills = Kills(place, seed, _among(QUICK_RUNS) if quick else None)
        kills.run(arguments.kills, deadline, say)
        return report.kill_rows(kills), kills.failures
    if part == "compile":
        compiling = CompileKills(place, seed)
        compiling.run(arguments.compile_kills, deadline, say)
        return report.kill_rows(compiling), compiling.failures
    if part == "fuzz":
        fuzz = Fuzz(place, seed, quick=quick)
        fuzz.run(arguments.inputs, deadline, say)
        return report.fuzz_rows(fuzz), fuzz.failures
    if part == "clients":
        clients = HostileClients(place, seed, arguments.lines)
        clients.run(deadline, say)
        return report.client_rows(clients), clients.failures
    if part == "cluster":
        cluster = ClusterKills(place, seed)
        if arguments.worker_kills + arguments.driver_kills:
            cluster.run(arguments.worker_kills, arguments.driver_kills, deadline, say)
        return report.kill_rows(cluster), cluster.failures
    races = Races(place, seed, _among(QUICK_RACES) if quick else None)
    races.run(arguments.races, deadline, say)
    return report.race_rows(races), races.failures


def _among(names: tuple[str, ...]) -> Callable[[Any], bool]:
    return lambda one: f"{one.verb} {one.name}" in names


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m torture", description="Kills, fuzzing, hostile clients and races.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; without one, all")
    parser.add_argument("--minutes", type=float, metavar="M", help="stop after so many minutes, all parts together")
    for name, count in FULL.items():
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"how many {name} (default {count:,})")
    parser.add_argument("--seed", type=int, default=0, help="of every random choice")
    parser.add_argument("--folder", metavar="DIR", help="for all files, kept; by default one that is removed")
    parser.add_argument("--quick", action="store_true", help="a few of everything, in less than a minute")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    if sys.platform != "linux":
        parser.error("this needs Linux: children are forked, and their memory is read in /proc")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.parts) - set(PARTS))
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    for name, count in (QUICK if arguments.quick else FULL).items():
        attribute = name.replace("-", "_")
        if getattr(arguments, attribute) is None:
            setattr(arguments, attribute, count)
    return arguments


def _print(
    arguments: argparse.Namespace, tables: dict[str, Any], failures: list[str], seconds: float, place: Path
) -> None:
    from torture import report

    if arguments.json:
        print(json.dumps({**tables, "failures": failures, "seconds": seconds, "seed": arguments.seed}, indent=1))
        return
    print(report.as_text(tables))
    print(f"\n{len(failures)} failures, {seconds:.0f} seconds, seed {arguments.seed}")
    for line in failures:
        print(line)
    if failures:
        print(f"files: {place}")


def _memory_disk() -> str | None:
    """A folder in memory, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


if __name__ == "__main__":
    sys.exit(main())
