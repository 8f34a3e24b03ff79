"""Limit hold'em in buckets: iterations per CPU second, and what a second thread brings.

``python -m benchmarks holdem`` measures this alone, in about four minutes, given the features of hold'em in the cache
(``counterplay abstract holdem_limit_2p --rounds 5s --out FILE.cpa`` puts them there).  Five buckets in each round,
percentiles of E[HS²], earlier ones forgotten.  Threads are measured in wall time: that needs an idle machine.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from benchmarks.timing import all_cores, median, rates_in_turn, ratios, rotated
from counterplay.abstraction.cards import build_cards, deck_shape, parse_recipe
from counterplay.forms import poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.array_cache import default_cache
from counterplay.solvers.bucket_mccfr import BUCKET_PRESETS, BucketSolver
from counterplay.solvers.mccfr import mccfr_config

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

GAMES = {2: "holdem_limit_2p", 3: "holdem_limit_3p"}
PURE_TARGETS = {2: 60_000.0, 3: 8_000.0}
EXTERNAL_TARGET = 0.6
BOARDS_TARGET = 8.0
THREADS_TARGET = 1.7
QUOTED = "open-pure-cfr, one bucket 53,000/s (quoted)"
WARM_UP = {2: 20_000, 3: 40_000}
"""Iterations before the clock starts: tables are in memory then."""
THREAD_SECONDS = 1.5
THREAD_STEPS = {"pure-cfr": 50_000, "external-sampling": 50_000, "pcs-boards": 16}
"""Iterations of a call, about half a second's."""


def holdem_speed(outcome: Outcome, plan: Plan) -> None:
    """All lines about hold'em in buckets; none where the features of its hands are not in the cache."""
    if not any(default_cache().glob("13x4-2-3-1-1-sums-2-*")):
        outcome.remarks.append("hold'em in buckets was left out: counterplay abstract has not yet cached its features")
        return
    buckets = _five_buckets()
    for players, name in GAMES.items():
        game = BucketGame.build(poker_definition(name), buckets, name=name)
        sampled_rates(outcome, plan, game)
        if players == 2:
            board_rates(outcome, plan, game)
            thread_gains(outcome, plan, game)
        del game


def _five_buckets() -> Any:
    deck, shape = deck_shape(poker_definition(GAMES[2]))
    return build_cards(deck, shape, parse_recipe("5s", deck, shape, "imperfect", "PS"), cache=default_cache()).rounds


def _solver(game: BucketGame, algorithm: str, threads: int = 1) -> BucketSolver:
    """With an average for two players; three play the current profile (Gibson 2014, section 5.5)."""
    profile = "average" if game.players == 2 else "last"
    settings = {"profile": profile, "threads": threads}
    solver = BucketSolver(game, mccfr_config(algorithm, settings, BUCKET_PRESETS), algorithm)
    solver.step(0)
    return solver


def sampled_rates(outcome: Outcome, plan: Plan, game: BucketGame) -> None:
    """Pure CFR, and external sampling beside it."""
    from benchmarks.measures import Line

    solvers = {algorithm: _solver(game, algorithm) for algorithm in ("pure-cfr", "external-sampling")}
    for solver in solvers.values():
        solver.step(WARM_UP[game.players])
    rates = rates_in_turn({name: solver.step for name, solver in solvers.items()}, plan.seconds, plan.turns)
    outcome.raw[f"iterations per CPU second, {game.name}, five buckets"] = rates
    pure, external = rates["pure-cfr"], rates["external-sampling"]
    outcome.lines += [
        Line(f"pure-cfr, {game.name}, five buckets, iterations per CPU second", pure, "/s",
             f"{game.num_infosets:,} sets", QUOTED if game.players == 2 else "", PURE_TARGETS[game.players]),
        Line(f"external-sampling beside pure-cfr, {game.name}, five buckets", ratios(external, pure), "x",
             f"{median(external):,.0f}/s", f"{median(pure):,.0f}/s", EXTERNAL_TARGET),
    ]  # fmt: skip


def board_rates(outcome: Outcome, plan: Plan, game: BucketGame) -> None:
    """Boards of public chance sampling: both players, all hands, all betting."""
    from benchmarks.measures import Line

    solver = _solver(game, "pcs-boards")
    solver.step(2)
    rates = rates_in_turn({"pcs-boards": solver.step}, plan.seconds, plan.turns)["pcs-boards"]
    outcome.raw[f"boards per CPU second, {game.name}, five buckets"] = rates
    what = f"pcs, {game.name}, five buckets, boards per CPU second"
    outcome.lines.append(Line(what, rates, "/s", "", "", BOARDS_TARGET))


def thread_gains(outcome: Outcome, plan: Plan, game: BucketGame) -> None:
    """Iterations per second of wall time, two threads beside one; the best turn of each, for others disturb both."""
    from benchmarks.measures import Line

    for algorithm, count in THREAD_STEPS.items():
        solvers = {threads: _solver(game, algorithm, threads) for threads in (1, 2)}
        rates: dict[int, list[float]] = {threads: [] for threads in solvers}
        with all_cores():
            for solver in solvers.values():
                solver.step(count)
            for turn in range(plan.turns):
                for threads in rotated([1, 2], turn):
                    rates[threads].append(wall_rate(solvers[threads], count))
        one, two = max(rates[1]), max(rates[2])
        outcome.raw[f"two threads, {algorithm}, {game.name}"] = {"one": rates[1], "two": rates[2]}
        what = f"two threads beside one, {algorithm}, {game.name}, wall time"
        outcome.lines.append(Line(what, [two / one], "x", f"{two:,.0f}/s", f"{one:,.0f}/s", THREADS_TARGET))


def wall_rate(solver: BucketSolver, count: int) -> float:
    """Iterations per second of wall time."""
    before, start = solver.iterations, time.perf_counter()
    while time.perf_counter() - start < THREAD_SECONDS:
        solver.step(count)
    return (solver.iterations - before) / (time.perf_counter() - start)
