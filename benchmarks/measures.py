"""What is measured, and the targets."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import counterplay
from benchmarks import (
    adaptive,
    cards,
    cold,
    exact,
    flops,
    holdem,
    logged_hands,
    matches,
    ours,
    postflop,
    public,
    sampled,
    startup,
    threads,
)
from benchmarks.rivals import GAMES, Rival, find_rivals
from benchmarks.timing import calibrate, cpu_seconds, median, rates_in_turn, ratios, rotated

GOAL = 1e-3
AGREE_AFTER = {"kuhn": 1000, "leduc": 100}
SPEED_TARGETS = {
    ("kuhn", "OpenSpiel"): 10.0, ("kuhn", "LiteEFG"): 10.0,
    ("leduc", "OpenSpiel"): 50.0, ("leduc", "LiteEFG"): 20.0,
}  # fmt: skip
GOAL_TARGETS = {"OpenSpiel": 50.0}
COMPILE_TARGET = 150_000.0
BYTES_TARGET = 100.0
STARTUP_TARGETS = {"import": 0.3, "--help": 0.5, "second solve": 2.0}


@dataclasses.dataclass(frozen=True)
class Plan:
    """How long and how often: ``seconds`` is what one measurement of a speed should take."""

    name: str
    turns: int
    seconds: float
    goal_turns: int
    compile_turns: int
    startup_turns: int


FULL = Plan("full", turns=7, seconds=1.0, goal_turns=5, compile_turns=5, startup_turns=7)
QUICK = Plan("quick", turns=3, seconds=0.2, goal_turns=1, compile_turns=1, startup_turns=2)


@dataclasses.dataclass(frozen=True)
class Line:
    """One line of the table: what was found, beside the target if there is one.

    ``values`` are the numbers of all turns; ``value`` is their median, which is judged.
    """

    what: str
    values: list[float]
    unit: str
    ours: str = ""
    theirs: str = ""
    target: float | None = None
    at_least: bool = True

    @property
    def value(self) -> float:
        return median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target


@dataclasses.dataclass
class Outcome:
    """Everything that was found: lines, raw numbers, signatures, remarks, and whether the solvers agree.

    ``seconds`` is what each part took.
    """

    lines: list[Line] = dataclasses.field(default_factory=list)
    raw: dict[str, Any] = dataclasses.field(default_factory=dict)
    agreement: dict[str, dict[str, float]] = dataclasses.field(default_factory=dict)
    signatures: dict[str, str] = dataclasses.field(default_factory=dict)
    remarks: list[str] = dataclasses.field(default_factory=list)
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    agreed: bool = True


def measure_all(plan: Plan, parts: Sequence[str], tell: Callable[[str], None]) -> Outcome:
    """The measurements of some ``PARTS``, one after the other; unless none is about solvers beside rivals, it is also
    checked that the solvers agree."""
    outcome = Outcome()
    rivals, outcome.remarks = find_rivals()
    for remark in outcome.remarks:
        tell(remark)
    solvers = not set(parts) <= {
        threads.PART,
        matches.PART,
        flops.PART,
        logged_hands.PART,
        logged_hands.ESTIMATED,
        adaptive.PART,
    }
    if solvers:
        tell("do the solvers agree?")
        check_agreement(outcome, rivals)
    for name, (words, measure) in PARTS.items():
        if name not in parts:
            continue
        started = time.perf_counter()
        measure(outcome, rivals, plan)
        outcome.seconds[name] = time.perf_counter() - started
        tell(f"{name}: {words}, {outcome.seconds[name]:.0f} s")
    if solvers:
        outcome.signatures = ours.signatures()
    return outcome


def check_agreement(outcome: Outcome, rivals: list[Rival]) -> None:
    """Exploitability after the same number of iterations must be about the same."""
    for game in GAMES:
        found = {}
        for rival in rivals:
            run = rival.start(game)
            run.iterate(AGREE_AFTER[game])
            found[rival.name] = run.exploitability()
        outcome.agreement[game] = found
        own = found[rivals[0].name]
        outcome.agreed &= all(abs(found[rival.name] / own - 1.0) <= rival.tolerance for rival in rivals)


def iteration_speeds(outcome: Outcome, rivals: list[Rival], plan: Plan) -> None:
    """CFR+ iterations per CPU second on each game."""
    for game in GAMES:
        iteration_speed(outcome, rivals, game, plan)


def iteration_speed(outcome: Outcome, rivals: list[Rival], game: str, plan: Plan) -> None:
    """CFR+ iterations per CPU second."""
    runs = {rival.name: rival.start(game) for rival in rivals}
    rates = rates_in_turn({name: run.iterate for name, run in runs.items()}, plan.seconds, plan.turns)
    outcome.raw[f"iterations per CPU second, {game}"] = rates
    own, *others = rates
    for other in others:
        outcome.lines.append(
            Line(
                f"CFR+ iterations, {game}, beside {other}",
                ratios(rates[own], rates[other]),
                "x",
                f"{median(rates[own]):,.0f}/s",
                f"{median(rates[other]):,.0f}/s",
                SPEED_TARGETS[game, other],
            )
        )


def first_below(rival: Rival, game: str, goal: float) -> int:
    """The first iteration whose average is at most so exploitable.

    Measured at growing distances first, then at every iteration after the last one that was above.
    """
    run, above, done = rival.start(game), 0, 1
    run.iterate(1)
    while run.exploitability() > goal:
        above, more = done, max(8, done // 20)
        run.iterate(more)
        done += more
    run, done = rival.start(game), above + 1
    run.iterate(done)
    while run.exploitability() > goal:
        run.iterate(1)
        done += 1
    return done


def time_to_goal(outcome: Outcome, rivals: list[Rival], plan: Plan) -> None:
    """CPU seconds to the goal on Leduc.

    Ours is timed as a user runs it, with all its measuring on the way, and stops where it measures.  The others are
    given the number of iterations they need and are timed for these alone.
    """
    game, own = "leduc", rivals[0]
    assert isinstance(own, ours.Ours)
    own.start(game)
    iterations = {own.name: own.run_until(game, GOAL)}
    iterations.update({rival.name: first_below(rival, game, GOAL) for rival in rivals[1:]})
    solve: dict[str, list[float]] = {rival.name: [] for rival in rivals}
    setup: dict[str, list[float]] = {rival.name: [] for rival in rivals}
    times = calibrate(functools.partial(own.run_until, game, GOAL), plan.seconds)
    for turn in range(plan.goal_turns):
        for rival in rotated(rivals, turn):
            clock = time.process_time()
            run = rival.start(game)
            setup[rival.name].append(time.process_time() - clock)
            if rival is own:
                taken = cpu_seconds(own.run_until, game, GOAL, times) / times
            else:
                taken = cpu_seconds(run.iterate, iterations[rival.name])
            solve[rival.name].append(taken)
    outcome.raw[f"to {GOAL:g}, {game}"] = {"iterations": iterations, "cpu_seconds": solve, "setup_cpu_seconds": setup}
    told = ", ".join(f"{name} {count}" for name, count in iterations.items())
    outcome.remarks.append(f"iterations to {GOAL:g} on {game}: {told} (ours stops at the iterations it measures)")
    _goal_lines(outcome, own.name, solve, setup)


def _goal_lines(outcome: Outcome, own: str, solve: dict[str, list[float]], setup: dict[str, list[float]]) -> None:
    whole = {name: [a + b for a, b in zip(solve[name], setup[name], strict=True)] for name in solve}
    for words, seconds, targets in (("", solve, GOAL_TARGETS), (", set-up included", whole, {})):
        for other in list(solve)[1:]:
            outcome.lines.append(
                Line(
                    f"CPU time to {GOAL:g}, leduc, beside {other}{words}",
                    ratios(seconds[other], seconds[own]),
                    "x",
                    f"{median(seconds[own]):.4f} s",
                    f"{median(seconds[other]):.3f} s",
                    targets.get(other),
                )
            )


def evaluation_speed(outcome: Outcome, rivals: list[Rival], plan: Plan) -> None:
    """Exact evaluations per CPU second of a profile after 100 iterations on Leduc."""
    game, own = "leduc", rivals[0]
    assert isinstance(own, ours.Ours)
    profile = own.profile(game, AGREE_AFTER[game])
    contestants: dict[str, Callable[[int], object]] = {own.name: functools.partial(own.evaluate, game, profile)}
    for rival in rivals[1:]:
        if hasattr(rival, "evaluations"):
            contestants.update(rival.evaluations(game, AGREE_AFTER[game]))
    rates = rates_in_turn(contestants, plan.seconds, plan.goal_turns)
    outcome.raw[f"evaluations per CPU second, {game}"] = rates
    for other in list(rates)[1:]:
        outcome.lines.append(
            Line(
                f"exact evaluations, {game}, beside {other}",
                ratios(rates[own.name], rates[other]),
                "x",
                f"{median(rates[own.name]):,.0f}/s",
                f"{median(rates[other]):,.1f}/s",
            )
        )


def compile_speed(outcome: Outcome, plan: Plan) -> None:
    """Histories compiled per CPU second from rules in Python, and what the tree takes."""
    size = ours.compiled_size()
    seconds = [cpu_seconds(counterplay.compile_game, ours.COMPILED) for _ in range(plan.compile_turns)]
    rates = [size["histories"] / taken for taken in seconds]
    whole = [cpu_seconds(ours.compile_for_solving) for _ in range(plan.compile_turns)]
    whole_rates = [size["histories"] / taken for taken in whole]
    outcome.raw["compile"] = {"game": ours.COMPILED, **size, "cpu_seconds": seconds, "with_sequences": whole}
    about = f"{size['histories']:,.0f} histories"
    tree_only = f"{size['tree_bytes_per_history']:.1f} without sequences"
    outcome.lines.append(Line("compiling, histories per CPU second", rates, "/s", about, "", COMPILE_TARGET))
    outcome.lines.append(Line("compiling with sequences, histories per CPU second", whole_rates, "/s", about))
    held = Line("bytes per history", [size["bytes_per_history"]], "B", tree_only, "", BYTES_TARGET, at_least=False)
    outcome.lines.append(held)


def card_speed(outcome: Outcome, plan: Plan) -> None:
    """Hands ranked and numbered per CPU second, in batches."""
    for what, rates, other, target in cards.measure_cards(plan.seconds, plan.turns):
        outcome.raw[f"{what} per CPU second"] = rates
        outcome.lines.append(Line(f"{what}, per CPU second", rates, "/s", "", other, target))


def startup_times(outcome: Outcome, plan: Plan) -> None:
    """New processes, interpreter included; the larger of CPU and wall time is judged."""
    samples = startup.measure_startup(plan.startup_turns)
    outcome.raw["start-up"] = samples
    for name, taken in samples.items():
        cpu, wall = (median([sample[kind] for sample in taken]) for kind in ("cpu", "wall"))
        judged = [max(sample.values()) for sample in taken]
        told = f"CPU {cpu:.2f} s"
        line = Line(f"start-up: {name}", judged, "s", told, f"wall {wall:.2f} s", STARTUP_TARGETS.get(name), False)
        outcome.lines.append(line)


Measure = Callable[[Outcome, list[Rival], Plan], None]

PARTS: dict[str, tuple[str, Measure]] = {
    "iterations": ("CFR+ iterations on histories", iteration_speeds),
    "goal": (f"time to exploitability {GOAL:g} on leduc", time_to_goal),
    "evaluation": ("exact evaluations", evaluation_speed),
    "sampled": ("sampled walks", lambda outcome, rivals, plan: sampled.sampled_speed(outcome, plan)),
    "public": ("CFR+ on public trees", public.public_speed),
    "public-goal": ("a public tree solved in two threads", public.time_to_goal),
    "exact": ("linear programs and double oracle", lambda outcome, rivals, plan: exact.exact_speed(outcome, plan)),
    "compile": ("compiling", lambda outcome, rivals, plan: compile_speed(outcome, plan)),
    "cards": ("hands and their numbers", lambda outcome, rivals, plan: card_speed(outcome, plan)),
    "holdem": ("limit hold'em in buckets", lambda outcome, rivals, plan: holdem.holdem_speed(outcome, plan)),
    "postflop": ("a hold'em subgame", lambda outcome, rivals, plan: postflop.postflop_speed(outcome, plan)),
    flops.PART: ("flops of limit hold'em", lambda outcome, rivals, plan: flops.flop_speed(outcome, plan)),
    threads.PART: ("threads", lambda outcome, rivals, plan: threads.thread_scaling(outcome, plan)),
    "startup": ("start-up", lambda outcome, rivals, plan: startup_times(outcome, plan)),
    matches.PART: ("matches", lambda outcome, rivals, plan: matches.match_speed(outcome, plan)),
    logged_hands.PART: ("logged hands", lambda outcome, rivals, plan: logged_hands.counting_speed(outcome, plan)),
    logged_hands.ESTIMATED: (
        "estimates of logged hands",
        lambda outcome, rivals, plan: logged_hands.estimating_speed(outcome, plan),
    ),
    adaptive.PART: ("adaptive agents", lambda outcome, rivals, plan: adaptive.adaptive_speed(outcome, plan)),
    "cold": ("first uses, nothing compiled", lambda outcome, rivals, plan: cold.cold_starts(outcome)),
}
"""The parts of the benchmark in their order: what they are about, and what measures them."""
