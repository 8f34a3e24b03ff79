"""Exact methods: CPU seconds of linear programs and of the double oracle algorithm, beside OpenSpiel's linear program.

OpenSpiel's program is built in Python from its states, one for each player, and solved through cvxpy by the same
HiGHS; ours is one program for both players.  Both are timed from the rules to the strategies.  OpenSpiel hands its
solver an option that HiGHS does not know, so it is called without options.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import counterplay
from benchmarks.timing import calibrate, cpu_seconds, median, ratios, rotated

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

RIVAL_GAMES = {"kuhn": ("kuhn", "kuhn_poker"), "leduc": ("leduc(suited=true)", "leduc_poker")}
PROGRAMS = {"leduc": 0.5, "bluff": 60.0}
"""Games whose program is timed from the compiled tree, and the most CPU seconds that it should take."""
ORACLES = ("leduc", "goofspiel(cards=4)")
LONG = 5.0
"""What takes more CPU seconds is measured once."""
AGREE_WITHIN = 1e-6

Solve = Callable[[], float]


def exact_speed(outcome: Outcome, plan: Plan) -> None:
    """Linear programs and double oracle."""
    counterplay.solve("kuhn", "lp")  # kernels and HiGHS are loaded before the clock starts
    counterplay.solve("kuhn", "double-oracle")
    beside_openspiel(outcome, plan)
    for game, target in PROGRAMS.items():
        solver_time(outcome, plan, game, "lp", target)
    for game in ORACLES:
        solver_time(outcome, plan, game, "double-oracle", None)


def beside_openspiel(outcome: Outcome, plan: Plan) -> None:
    """Both programs from the rules to the strategies, measured in turn; their values must be the same."""
    from benchmarks.measures import Line

    theirs = openspiel_program(outcome)
    if theirs is None:
        return
    for game, (own_name, their_name) in RIVAL_GAMES.items():
        work: dict[str, Solve] = {
            "counterplay": functools.partial(_value, own_name, "lp"),
            "OpenSpiel": functools.partial(theirs, their_name),
        }
        values = {name: solve() for name, solve in work.items()}
        outcome.agreed &= abs(values["counterplay"] - values["OpenSpiel"]) <= AGREE_WITHIN
        outcome.remarks.append(f"value of {game} by linear program: {_told(values)}")
        taken: dict[str, list[float]] = {name: [] for name in work}
        times = {name: calibrate(functools.partial(_again, solve), plan.seconds) for name, solve in work.items()}
        for turn in range(plan.goal_turns):
            for name in rotated(list(work), turn):
                taken[name].append(cpu_seconds(_again, work[name], times[name]) / times[name])
        outcome.raw[f"linear program from the rules, CPU seconds, {game}"] = taken
        outcome.lines.append(
            Line(
                f"linear program from the rules, {game}, beside OpenSpiel",
                ratios(taken["OpenSpiel"], taken["counterplay"]),
                "x",
                f"{median(taken['counterplay']):.3f} s",
                f"{median(taken['OpenSpiel']):.3f} s",
            )
        )


def solver_time(outcome: Outcome, plan: Plan, game: str, algorithm: str, target: float | None) -> None:
    """CPU seconds of a solver from the compiled tree to the strategy and its exploitability."""
    from benchmarks.measures import Line

    tree = counterplay.compile_game(game)
    assert tree.sequences.num_sequences  # made before the clock starts, as it is kept with the tree
    result = None

    def solve() -> None:
        nonlocal result
        result = counterplay.solve(tree, algorithm)

    seconds = [cpu_seconds(solve)]
    if seconds[0] < LONG:
        seconds = [cpu_seconds(solve) for _ in range(plan.goal_turns)]
    assert result is not None
    outcome.raw[f"{algorithm}, CPU seconds, {game}"] = seconds
    size = f"{tree.num_infosets:,} sets"
    if algorithm == "double-oracle":
        size = f"{sum(result.details['restricted_information_sets']):,} of {size}"
    outcome.lines.append(Line(f"{algorithm}, {game}", seconds, "s", size, "", target, at_least=False))
    outcome.remarks.append(
        f"{algorithm} on {game}: value {result.value[0]:.9f}, exploitability {result.exploitability:.1e}"
    )


def openspiel_program(outcome: Outcome) -> Callable[[str], float] | None:
    """OpenSpiel's value of a game, or None with a remark where it cannot be had."""
    try:
        pyspiel = importlib.import_module("pyspiel")
        programs = importlib.import_module("open_spiel.python.algorithms.sequence_form_lp")
    except ImportError as error:
        told = f"OpenSpiel's linear program was skipped: {error.name or 'a package'} is not installed"
        outcome.remarks.append(told)
        return None
    kind = programs.lp_solver.LinearProgram

    def value(game: str) -> float:
        plain = kind.solve
        kind.solve = functools.partialmethod(plain, solver_kwargs={})
        try:
            found: Any = programs.solve_zero_sum_game(pyspiel.load_game(game), solver="HIGHS")
        finally:
            kind.solve = plain
        return float(found[0])

    return value


def _value(game: str, algorithm: str) -> float:
    return float(counterplay.solve(game, algorithm).value[0])


def _again(solve: Solve, times: int) -> None:
    for _ in range(times):
        solve()


def _told(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.9f}" for name, value in values.items())
