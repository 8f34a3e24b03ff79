"""What more threads bring: work done in the same wall time with 1, 2, 4, 8 and 16 of them.

``python -m benchmarks threads`` measures this alone; it needs an idle machine with as many cores.  Limit hold'em in
five buckets in each round, percentiles of E[HS²] with perfect recall: iterations of Pure CFR and external sampling, and
boards of public chance sampling, through the run loop that users have.  CFR+ on the public tree of [2-4] hold'em: wall
seconds of eight iterations.  ``--threads``, ``--seconds`` and ``--cards`` choose how many threads, the length of a
point, and a card abstraction that is there already; without one it is built first, with all cores.
"""

from __future__ import annotations

import dataclasses
import gc
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.timing import all_cores
from counterplay.abstraction.cards import CardAbstraction, build_cards, deck_shape, parse_recipe
from counterplay.forms import poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.array_cache import default_cache
from counterplay.runtime.pacing import Until
from counterplay.runtime.threads import available_cores
from counterplay.solvers.bucket_mccfr import BUCKET_PRESETS, BucketSolver
from counterplay.solvers.cfr import config_with
from counterplay.solvers.mccfr import mccfr_config
from counterplay.solvers.public_cfr import PublicSolver

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

PART = "threads"
GAME, RECIPE = "holdem_limit_2p", "5s"
PUBLIC, ITERATIONS = "holdem_2_4", 8
WARM_UP = {"pure-cfr": 20_000, "external-sampling": 20_000, "pcs-boards": 2}
"""Iterations before the clock starts: tables are in memory then."""
GAIN, AT = 10.0, 16
"""What so many threads should bring."""


@dataclasses.dataclass
class Choice:
    """What is measured: numbers of threads, wall seconds of a point, a file of cards."""

    threads: Sequence[int] = (1, 2, 4, 8, 16)
    seconds: float | None = None
    cards: Path | None = None


_CHOICE = Choice()


def choose(threads: Sequence[int] | None, seconds: float | None, cards: Path | None) -> None:
    """Set what the command line says."""
    _CHOICE.threads = threads or _CHOICE.threads
    _CHOICE.seconds, _CHOICE.cards = seconds, cards


def thread_scaling(outcome: Outcome, plan: Plan) -> None:
    """A line for each algorithm and number of threads: how many times the work of the first number."""
    seconds = _CHOICE.seconds or 10.0 * plan.seconds
    with all_cores():
        _buckets(outcome, seconds)
        _public(outcome)


def _cards() -> CardAbstraction:
    if _CHOICE.cards is not None:
        return CardAbstraction.load(_CHOICE.cards)
    deck, shape = deck_shape(poker_definition(GAME))
    recipe = parse_recipe(RECIPE, deck, shape, "perfect", "PS")
    return build_cards(deck, shape, recipe, cache=default_cache(), threads=available_cores())


def five_buckets() -> BucketGame:
    """Limit hold'em in the card abstraction."""
    return BucketGame.build(poker_definition(GAME), _cards().rounds, name=GAME)


def _buckets(outcome: Outcome, seconds: float) -> None:
    game = five_buckets()
    for algorithm, warm_up in WARM_UP.items():
        done: dict[int, float] = {}
        for threads in _CHOICE.threads:
            solver = BucketSolver(game, mccfr_config(algorithm, {"threads": threads}, BUCKET_PRESETS), algorithm)
            solver.step(0)
            solver.step(warm_up)
            before = solver.iterations
            result = solver.run(Until(seconds=seconds))
            done[threads] = (result.iterations - before) / result.seconds
            del solver, result
            gc.collect()
        _lines(outcome, f"{algorithm}, {GAME}, iterations per second", done)


def _public(outcome: Outcome) -> None:
    done: dict[int, float] = {}
    first = PublicSolver(PUBLIC, "cfr+")
    first.step(2)  # compiled, and past the first walks, which are cheaper
    tree = first.tree
    del first
    for threads in _CHOICE.threads:
        solver = PublicSolver(tree, config_with("cfr+", {"threads": threads}))
        solver.step(2)
        clock = time.perf_counter()
        solver.step(ITERATIONS)
        done[threads] = ITERATIONS / (time.perf_counter() - clock)
        del solver
        gc.collect()
    _lines(outcome, f"cfr+, {PUBLIC}, iterations per second", done)


def _lines(outcome: Outcome, what: str, done: dict[int, float]) -> None:
    from benchmarks.measures import Line

    outcome.raw[f"threads, {what}"] = done
    base = done[min(done)]
    for threads, rate in done.items():
        target = GAIN if threads == AT else None
        name = f"{threads} threads beside {min(done)}, {what}"
        outcome.lines.append(Line(name, [rate / base], "x", f"{rate:,.4g}/s", f"{base:,.4g}/s", target))
