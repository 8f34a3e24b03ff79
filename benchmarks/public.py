"""CFR+ on public trees: CPU seconds of an iteration of both players, memory, what a second thread brings, a solve, and
an iteration of CFR-BR beside one of CFR+.

Beside OpenSpiel and LiteEFG, which walk histories, where they can hold the game: Kuhn poker, Leduc hold'em, Bluff(1,1).
"""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

from benchmarks.rivals import Rival
from benchmarks.timing import all_cores, cpu_seconds, median, rates_in_turn, ratios
from counterplay.abstraction.cards import build_cards, deck_shape, parse_recipe
from counterplay.forms import poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.pacing import Until
from counterplay.solvers.cfr import config_with
from counterplay.solvers.cfr_br import CfrBrSolver
from counterplay.solvers.public_cfr import PublicSolver

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

SECONDS = {"leduc": 20e-6, "rhode_island": 0.2, "holdem_2_1": 1.2, "holdem_2_4": 6.0}
"""The most CPU seconds that an iteration should take."""
GIGABYTES = {"holdem_2_1": 1.5, "holdem_2_4": 4.0}
LARGEST = "holdem_2_4"
THREADS_TARGET = 1.7
RESPONSE_TARGET = 1.6
"""CPU time of an iteration of CFR-BR, both seats, at most, in iterations of CFR+ on the same tree."""
RESPONSE_BUCKETS = "PS5/PS5"
RESPONSE_MARKS = (2, 20)
"""Iterations after which they are measured: the first ones, in which hardly anything is cut, and later ones."""
GOAL = ("holdem_2_1", 1.0, 600.0)
"""A game, an exploitability in mbb/g, and the most seconds of two threads that reaching it should take."""
BESIDE = {"kuhn": ("kuhn", 1000), "leduc": ("leduc without suits", 100), "bluff": ("bluff", 5)}
"""What the others call our games, and iterations after which exploitability must be the same."""


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
            _best_responses(outcome, game)
        del solver
        gc.collect()
    for game in BESIDE:
        _beside_others(outcome, rivals, plan, game)


def _two_threads(outcome: Outcome, solver: PublicSolver) -> None:
    """Wall time of an iteration in one thread over that in two; needs an idle machine."""
    from benchmarks.measures import Line

    gains = []
    with all_cores():
        shared = PublicSolver(solver.tree, config_with("cfr+", {"threads": 2}))
        shared.step(solver.iterations)  # the first iterations cost more: memory is new, and no branch is cut
        for _ in range(4):
            seconds = []
            for one in (solver, shared):
                clock = time.perf_counter()
                one.step(2)
                seconds.append(time.perf_counter() - clock)
            gains.append(seconds[0] / seconds[1])
    outcome.lines.append(Line(f"two threads, {LARGEST}, wall time", gains, "x", "", "", THREADS_TARGET))


def _best_responses(outcome: Outcome, game: str) -> None:
    """An iteration of CFR-BR beside one of CFR+, in turns."""
    from benchmarks.measures import Line

    deck, shape = deck_shape(poker_definition(game))
    cards = build_cards(deck, shape, parse_recipe(RESPONSE_BUCKETS, deck, shape))
    responding = CfrBrSolver(BucketGame.build(poker_definition(game), cards.rounds, name=game))
    plain = PublicSolver(responding.real, "cfr+")
    for mark in RESPONSE_MARKS:
        taken: dict[str, list[float]] = {"CFR-BR": [], "CFR+": []}
        for solver in (responding, plain):
            solver.step(mark - solver.iterations)
        for _ in range(3):
            taken["CFR-BR"].append(cpu_seconds(responding.step, 1))
            taken["CFR+"].append(cpu_seconds(plain.step, 1))
        outcome.raw[f"CPU seconds of an iteration after {mark}, {game}, {RESPONSE_BUCKETS}"] = taken
        ours, theirs = (f"{name} {median(seconds):.2f} s" for name, seconds in taken.items())
        outcome.lines.append(
            Line(f"CFR-BR iteration in CFR+ iterations, {game}, after {mark}", ratios(*taken.values()), "x", ours,
                 theirs, RESPONSE_TARGET, at_least=False)
        )  # fmt: skip


def time_to_goal(outcome: Outcome, rivals: list[Rival], plan: Plan) -> None:
    """Wall time of a whole solve in two threads, from the rules on, all measuring included; in the full plan only."""
    from benchmarks.measures import Line

    if plan.name != "full":
        return
    game, goal, target = GOAL
    with all_cores():
        wall, cpu = time.perf_counter(), time.process_time()
        solver = PublicSolver(game, config_with("cfr+", {"threads": 2}))
        big_blind = solver.tree.big_blind
        assert big_blind is not None
        result = solver.run(Until(exploitability=goal * big_blind / 1000))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    told = f"{result.iterations} iterations, {1000 * result.exploitability / big_blind:.3f} mbb/g"
    outcome.raw[f"{game} to {goal:g} mbb/g"] = {"wall": wall, "cpu": cpu, "iterations": result.iterations}
    outcome.lines.append(
        Line(f"{game} to {goal:g} mbb/g, two threads, wall time", [wall], "s", told, f"CPU {cpu:.0f} s", target, False)
    )


def _beside_others(outcome: Outcome, rivals: list[Rival], plan: Plan, game: str) -> None:
    """Iterations per CPU second; ours on the public tree, theirs on histories."""
    from benchmarks.measures import Line

    theirs, agree_after = BESIDE[game]
    solver = PublicSolver(game, "cfr+")
    solver.step(agree_after)
    found = {"counterplay": solver.measure().exploitability}
    runs = {"counterplay": solver.step}
    for rival in rivals[1:]:
        run = rival.start(theirs)
        run.iterate(agree_after)
        found[rival.name] = run.exploitability()
        outcome.agreed &= abs(found[rival.name] / found["counterplay"] - 1.0) <= rival.tolerance
        runs[rival.name] = run.iterate
    told = ", ".join(f"{name} {value:.6g}" for name, value in found.items())
    outcome.remarks.append(f"public tree, exploitability after {agree_after} iterations on {game}: {told}")
    rates = rates_in_turn(runs, plan.seconds, plan.turns)
    outcome.raw[f"public tree, iterations per CPU second, {game}"] = rates
    for other in list(rates)[1:]:
        outcome.lines.append(
            Line(f"CFR+ iterations on the public tree, {game}, beside {other}",
                 ratios(rates["counterplay"], rates[other]), "x", f"{median(rates['counterplay']):,.0f}/s",
                 f"{median(rates[other]):,.1f}/s")
        )  # fmt: skip
