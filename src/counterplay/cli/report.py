"""What ``counterplay solve`` reports at its end: for people and as JSON."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.cli.common import chips, exploitability_text, forgetful_note, measured, say, table
from counterplay.cli.problem import Problem
from counterplay.runtime.memory import format_bytes
from counterplay.tree.history.sizes import tree_bytes

if TYPE_CHECKING:
    from counterplay.analysis.word_counts import MemoryWords
    from counterplay.evaluation.measurement import Measurement
    from counterplay.runtime.pacing import Until
    from counterplay.solvers import Solver, SolveResult

ENDINGS = {
    "solved": "solved exactly",
    "exploitability": "the target was reached",
    "iterations": "all iterations are done",
    "seconds": "the time is up",
    "memory": "the tables fill the memory that may be used",
    "interrupted": "interrupted; the work is saved",
}


def as_json(
    problem: Problem,
    solver: Solver,
    result: SolveResult,
    real: Measurement,
    files: dict[str, Path | None],
    seed: int,
) -> dict[str, Any]:
    """The JSON of a solve.  ``real`` is the measurement in the real game, which is what counts."""
    tree = problem.real
    values = {
        "game": tree.name,
        "algorithm": result.algorithm,
        "status": result.status,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        **measured(real, tree.big_blind),
        "recall": list(tree.recall),
        "information_sets": tree.num_infosets,
        "histories": result.histories,
        "nodes": result.nodes,
        "nodes_per_second": result.nodes_per_second,
        "memory_bytes": {"tree": tree_bytes(tree), "solver": solver.table_bytes},
        **result.details,
        **{name: None if path is None else str(path) for name, path in files.items() if name != "plot"},
        "seed": getattr(solver.config, "seed", seed),
        "threads": getattr(solver.config, "threads", 1),
    }
    if problem.abstraction is not None:
        values["abstraction"] = problem.abstraction.name
        values["abstraction_information_sets"] = problem.abstraction.num_sets
        values["abstract"] = {
            "game": result.game,
            **measured(result.measurement, tree.big_blind),
            "recall": list(problem.solved.recall),
        }
    own = solver.abstraction()
    if own is not None:
        words = _words(solver)
        values["abstraction_information_sets"] = own.num_sets
        values["abstraction_entries"] = own.num_entries
        values["map_words"] = words.map
        values["memory_words"] = words.total
    return values


def _words(solver: Solver) -> MemoryWords:
    from counterplay.analysis.word_counts import memory_words

    return memory_words(solver)


def _own_abstraction(solver: Solver) -> list[tuple[str, str]]:
    """Lines about the abstraction that an algorithm made itself."""
    own, tree = solver.abstraction(), solver.tree
    if own is None:
        return []
    words = _words(solver)
    share = 100.0 * own.num_sets / tree.num_infosets
    return [
        ("abstraction", f"{own.num_sets:,} of {tree.num_infosets:,} information sets ({share:.2f} %), "
                        f"{own.num_entries:,} of {tree.num_entries:,} actions"),
        ("words", f"{words.total:,} of 32 bits, {words.map:,} of them the map "
                  f"(cfr+ on the whole game: {2 * tree.num_entries:,})"),
    ]  # fmt: skip


def summarise(
    problem: Problem,
    solver: Solver,
    result: SolveResult,
    real: Measurement,
    goal: Until,
    files: dict[str, Path | None],
    elapsed: float,
) -> None:
    """The summary for people."""
    tree, big_blind = problem.real, problem.real.big_blind
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    tables = solver.table_bytes
    one_sided = solver.value_bounds is not None
    ending = "the bounds have met" if one_sided and result.status == "solved" else ENDINGS[result.status]
    say(f"{result.game} solved by {result.algorithm}: {ending}")
    whole = tree.facts.zero_sum and problem.abstraction is None
    value = "against a response" if one_sided else "value of the game" if whole else "value of the profile"
    rows = [
        (value, chips(result.value) + " chips"),
        ("best responses", chips(real.best_response) + " chips"),
        ("exploitability", exploitability_text(real.exploitability, big_blind)),
    ]
    rows += [(name.replace("_", " "), _figure(figure)) for name, figure in result.details.items()]
    if problem.abstraction is not None:
        rows += [
            ("in the abstract game", abstract_text(problem, result.measurement)),
            ("abstraction", f"{problem.abstraction.num_sets:,} of {tree.num_infosets:,} information sets, "
                            f"{problem.abstraction.num_entries:,} of {tree.num_entries:,} actions"),
        ]  # fmt: skip
    rows += _own_abstraction(solver)
    rows += [
        ("iterations", f"{result.iterations:,} over {tree.num_histories:,} histories, "
                       f"{result.information_sets:,} information sets"),
        ("seconds", f"{result.seconds:.2f} solving, {elapsed:.2f} in all "
                    f"({result.nodes_per_second:,.0f} histories per second)"),
        ("memory", f"{format_bytes(tree_bytes(tree))} tree, {format_bytes(tables)} tables, "
                   f"{format_bytes(peak)} process"),
    ]  # fmt: skip
    rows += forgetful_note(tree)
    shown = (("strategy", "profile"), ("abstraction map", "map"), ("plot", "plot"), ("checkpoint", "checkpoint"))
    rows += [(title, str(files[name])) for title, name in shown if files.get(name) is not None]
    table(rows)
    _say_what_next(result, goal, files)


def _figure(figure: Any) -> str:
    """A figure of a solver for people: one, or one for each player."""
    if isinstance(figure, list):
        return ", ".join(_figure(part) for part in figure)
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.9g}" if isinstance(figure, float) else str(figure)


def abstract_text(problem: Problem, measurement: Measurement) -> str:
    """Exploitability in the abstract game; a bound where its players forget more than their own choices."""
    text = exploitability_text(measurement.exploitability, problem.real.big_blind)
    exact = set(problem.solved.recall) <= {"perfect", "a-loss"}
    return text if exact else f"at most {text}, if it remembers"


def _say_what_next(result: SolveResult, goal: Until, files: dict[str, Path | None]) -> None:
    say()
    say("Next:")
    if result.status == "interrupted":
        say(f"  counterplay solve --resume {files['checkpoint']} {goal_options(goal)}   go on from here")
    if files["profile"] is not None:
        say(f"  counterplay evaluate {files['profile']}   measure the strategy again from its file")
    say(f'  counterplay info "{result.game}"   sizes, recall and memory of the game')
    say("  counterplay games   what else can be solved")


def goal_options(goal: Until) -> str:
    """The options that ask for this goal again."""
    limits = (("--iterations", goal.iterations), ("--seconds", goal.seconds), ("--until", goal.exploitability))
    return " ".join(
        f"{name} {limit:g}" if isinstance(limit, float) else f"{name} {limit}" for name, limit in limits if limit
    )
