"""CFR+ on public trees: CPU seconds of an iteration of both players, memory, and what a second thread brings.

On Leduc hold'em beside OpenSpiel and LiteEFG, which walk histories; neither can hold the other games.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.rivals import Rival
from benchmarks.timing import cpu_seconds, median, rates_in_turn, ratios
from counterplay.solvers.public import PublicSolver, public_config

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

SECONDS = {"leduc": 40e-6, "rhode_island": 0.2, "holdem_2_1": 1.2, "holdem_2_4": 6.0}
"""The most CPU seconds that an iteration should take."""
GIGABYTES = {"holdem_2_1": 1.5, "holdem_2_4": 4.0}
LARGEST = "holdem_2_4"
THREADS_TARGET = 1.7


def public_speed(outcome: Outcome, rivals: list[Rival], plan: Plan) -> None:
    """Iterations on public trees; the largest game in the full plan only."""
    from benchmarks.measures import Line

    for game, target in SECONDS.items():
        if game == LARGEST and plan.name != "full":
            continue
        solver = PublicSolver(game, "cfr+")
        solver.step(2)  # compiled, and past the first walks, which are cheaper
        count = 1000 if game == "leduc" else 5 if game == "rhode_island" else 2
        taken = [cpu_seconds(solver.step, count) / count for _ in range(max(2, plan.goal_turns))]
        outcome.raw[f"public tree, CPU seconds of an iteration, {game}"] = taken
        held = (solver.table_bytes + solver.tree.nbytes) / 1e9
        unit, scale = ("µs", 1e6) if game == "leduc" else ("s", 1.0)
        outcome.lines.append(
            Line(f"CFR+ iteration on the public tree, {game}", [scale * one for one in taken], unit,
                 f"{solver.tree.num_infosets:,} sets", f"{held:.2f} GB", scale * target, at_least=False)
        )  # fmt: skip
        if game in GIGABYTES:
            outcome.lines.append(
                Line(f"tree and tables, {game}", [held], "GB", "", "", GIGABYTES[game], at_least=False)
            )
        if game == LARGEST:
            _two_threads(outcome, solver)
        del solver
    _beside_others(outcome, rivals, plan)


def _two_threads(outcome: Outcome, solver: PublicSolver) -> None:
    """Wall time of an iteration in one thread over that in two; needs an idle machine."""
    from benchmarks.measures import Line

    shared = PublicSolver(LARGEST, public_config("cfr+", {"threads": 2}))
    shared.step(2)
    gains = []
    for _ in range(2):
        seconds = []
        for one in (solver, shared):
            clock = time.perf_counter()
            one.step(2)
            seconds.append(time.perf_counter() - clock)
        gains.append(seconds[0] / seconds[1])
    outcome.lines.append(Line(f"two threads, {LARGEST}, wall time", gains, "x", "", "", THREADS_TARGET))


def _beside_others(outcome: Outcome, rivals: list[Rival], plan: Plan) -> None:
    """Iterations per CPU second on Leduc; ours on the public tree, theirs on histories."""
    from benchmarks.measures import Line

    solver = PublicSolver("leduc", "cfr+")
    runs = {"counterplay": solver.step} | {rival.name: rival.start("leduc").iterate for rival in rivals[1:]}
    rates = rates_in_turn(runs, plan.seconds, plan.turns)
    outcome.raw["public tree, iterations per CPU second, leduc"] = rates
    for other in list(rates)[1:]:
        outcome.lines.append(
            Line(f"CFR+ iterations on the public tree, leduc, beside {other}",
                 ratios(rates["counterplay"], rates[other]), "x", f"{median(rates['counterplay']):,.0f}/s",
                 f"{median(rates[other]):,.0f}/s")
        )  # fmt: skip
