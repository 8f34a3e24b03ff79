"""Sampled walks: iterations per CPU second, ours beside OpenSpiel's in C++; one iteration is a walk for each player."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import counterplay
from benchmarks.timing import median, rates_in_turn, ratios
from counterplay.solvers import MCCFR_PRESETS, make_solver

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

SPECS = {"kuhn": ("kuhn", "kuhn_poker"), "leduc": ("leduc(suited=true)", "leduc_poker")}
RIVALS = {"external-sampling": "ExternalSamplingMCCFRSolver", "outcome-sampling": "OutcomeSamplingMCCFRSolver"}
RATIO_TARGETS = {("external-sampling", "leduc"): 50.0}
RATE_TARGETS = {("pure-cfr", "leduc"): 700_000.0, ("pure-cfr", "kuhn"): 2_500_000.0}
THREADS_TARGET = 1.7
AGREE_AFTER = 30_000
THREADED = ("goofspiel(cards=6)", "external-sampling")


def sampled_speed(outcome: Outcome, plan: Plan) -> None:
    """Every sampled algorithm on Kuhn and Leduc, beside OpenSpiel's where it has the algorithm."""
    from benchmarks.measures import Line

    for game, (own_name, _) in SPECS.items():
        tree = counterplay.compile_game(own_name)
        for algorithm in MCCFR_PRESETS:
            own = make_solver(tree, algorithm)
            own.step(0)  # compiled before the clock starts
            contestants: dict[str, Callable[[int], object]] = {"counterplay": own.step}
            rival = openspiel_run(game, algorithm)
            if rival is not None:
                contestants["OpenSpiel"] = rival
            rates = rates_in_turn(contestants, plan.seconds, plan.turns)
            outcome.raw[f"{algorithm}, iterations per CPU second, {game}"] = rates
            speed = rates["counterplay"]
            if "OpenSpiel" in rates:
                outcome.lines.append(
                    Line(
                        f"{algorithm}, {game}, beside OpenSpiel",
                        ratios(speed, rates["OpenSpiel"]),
                        "x",
                        f"{median(speed):,.0f}/s",
                        f"{median(rates['OpenSpiel']):,.0f}/s",
                        RATIO_TARGETS.get((algorithm, game)),
                    )
                )
            else:
                what = f"{algorithm}, {game}, iterations per CPU second"
                outcome.lines.append(Line(what, speed, "/s", "", "", RATE_TARGETS.get((algorithm, game))))
    compare_results(outcome)
    thread_speed(outcome, plan)


def openspiel_solver(game: str, algorithm: str) -> Any:
    """OpenSpiel's solver, or None where there is none."""
    try:
        pyspiel = importlib.import_module("pyspiel")
    except ImportError:
        return None
    kind = RIVALS.get(algorithm)
    return None if kind is None else getattr(pyspiel, kind)(pyspiel.load_game(SPECS[game][1]))


def openspiel_run(game: str, algorithm: str) -> Callable[[int], object] | None:
    """Iterations of OpenSpiel's solver."""
    solver = openspiel_solver(game, algorithm)
    if solver is None:
        return None

    def run(iterations: int) -> None:
        iterate = solver.run_iteration
        for _ in range(iterations):
            iterate()

    return run


def compare_results(outcome: Outcome) -> None:
    """What both have found after the same number of iterations: a remark, for samples differ."""
    own = make_solver(SPECS["leduc"][0], "external-sampling")
    own.step(AGREE_AFTER)
    told = f"external sampling on leduc, exploitability after {AGREE_AFTER:,} iterations: ours "
    told += f"{own.measure().exploitability:.3f}"
    rival = openspiel_solver("leduc", "external-sampling")
    if rival is not None:
        pyspiel = importlib.import_module("pyspiel")
        for _ in range(AGREE_AFTER):
            rival.run_iteration()
        told += f", OpenSpiel {pyspiel.nash_conv(pyspiel.load_game('leduc_poker'), rival.average_policy()) / 2:.3f}"
    outcome.remarks.append(told)


def thread_speed(outcome: Outcome, plan: Plan) -> None:
    """Two threads beside one, in wall time, in a process that may use all cores."""
    from benchmarks.measures import Line

    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.sampled", str(plan.turns), str(plan.seconds)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    outcome.raw["threads"] = found
    outcome.lines.append(
        Line(
            f"two threads beside one, {THREADED[1]}, {THREADED[0]}",
            ratios(found["two"], found["one"]),
            "x",
            f"{median(found['two']):,.0f} nodes/s",
            f"{median(found['one']):,.0f} nodes/s",
            THREADS_TARGET,
        )
    )


def time_threads(turns: int, seconds: float) -> dict[str, list[float]]:
    """Histories touched per second of wall time with one and with two threads, in turn."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    tree = counterplay.compile_game(THREADED[0])
    solvers = {name: make_solver(tree, THREADED[1], threads=k) for name, k in (("one", 1), ("two", 2))}
    rates: dict[str, list[float]] = {name: [] for name in solvers}
    for solver in solvers.values():
        solver.step(100)
    for _ in range(turns):
        for name, solver in solvers.items():
            before, start = solver.nodes, time.perf_counter()
            while time.perf_counter() - start < seconds:
                solver.step(4000)
            rates[name].append((solver.nodes - before) / (time.perf_counter() - start))
    return rates


if __name__ == "__main__":
    print(json.dumps(time_threads(int(sys.argv[1]), float(sys.argv[2]))))
