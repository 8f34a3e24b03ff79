"""``python -m benchmarks [PART ...] [--quick] [--out DIR]``: measure, print a table, write the raw numbers.

Everything runs on one core with one thread and is counted in CPU seconds, so that a busy machine disturbs little.
Rivals are measured in turn, again and again; a ratio is the median of the ratios of the turns.

The exit code is 1 when the solvers did not compute the same thing, for then no ratio means anything; a target that is
not met is told and is no failure.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
THREAD_SETTINGS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_core() -> None:
    """One thread on one core, for this process and those it starts; before numpy and numba are imported."""
    for name in THREAD_SETTINGS:
        os.environ[name] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main() -> int:
    use_one_core()
    from benchmarks import adaptive, cold, flops, logged_hands, matches, measures, report, threads

    known = list(measures.PARTS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed beside OpenSpiel and LiteEFG.")
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"some of {', '.join(known)}; without one, all but flops, threads, observations, estimates and adaptive",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="short and rough: a look, not a result")
    parser.add_argument(
        "--threads", type=lambda text: [int(one) for one in text.split(",")], metavar="N,N,...",
        help="of the part threads: how many to measure with, such as 1,2,4,8,16",
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, metavar="S", help="of the part threads: wall seconds of each point")
    parser.add_argument(
        "--cards", type=Path, metavar="FILE", help="of threads, observations and estimates: PS5, if made"
    )
    parser.add_argument(
        "--server", type=Path, metavar="DIR", help="of the part matches: the competition's server, if it is built there"
    )
    parser.add_argument(
        "--uses", metavar="NAME;NAME;...", help="of the part cold: some first uses, in the order of its table"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="where results are written")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.parts) - set(known))
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(known)}")
    named_only = (flops.PART, threads.PART, logged_hands.PART, logged_hands.ESTIMATED, adaptive.PART)
    parts = [name for name in known if name in arguments.parts] or [name for name in known if name not in named_only]
    matches.choose(arguments.server)
    cold.choose(arguments.uses)
    threads.choose(arguments.threads, arguments.seconds, arguments.cards)
    started = time.perf_counter()
    plan = measures.QUICK if arguments.quick else measures.FULL
    outcome = measures.measure_all(plan, parts, lambda text: print(text, file=sys.stderr, flush=True))
    seconds = time.perf_counter() - started
    print(report.as_text(outcome))
    print(f"\n{seconds:.0f} seconds in all")
    label = "-".join(([] if plan is measures.FULL else [plan.name]) + ([] if parts == known else parts))
    for path in report.write(arguments.out, outcome, plan, seconds, label):
        print(f"wrote {os.path.relpath(path)}")
    return 0 if outcome.agreed else 1


if __name__ == "__main__":
    sys.exit(main())
