"""``counterplay solve`` and ``evaluate`` on the public tree of a game, whose histories need not fit into memory."""

from __future__ import annotations

import dataclasses
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.cli.common import (
    chips,
    exploitability_text,
    measured,
    note,
    print_json,
    read_target,
    say,
    table,
)  # fmt: skip
from counterplay.cli.report import ENDINGS, goal_options
from counterplay.cli.running import interruptible, plot_run, progress_line, save_run, with_checkpoints
from counterplay.errors import SolverError
from counterplay.runtime.memory import format_bytes

if TYPE_CHECKING:
    from counterplay.poker.postflop.subgame import Subgame
    from counterplay.runtime.pacing import Until
    from counterplay.solvers import Solver, SolveResult
    from counterplay.tree.public.public_tree import PublicTree


def solve_public(
    game: str | None,
    resume: Path | None,
    algorithm: str | None,
    settings: dict[str, Any],
    limit: int | None,
    iterations: int | None,
    seconds: float | None,
    until: str | None,
    *,
    out: Path | None,
    checkpoint: Path | None,
    plot: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Solve a game on its public tree, report, and return the exit code."""
    from counterplay.runtime.pacing import Until
    from counterplay.solvers import make_public_solver, resume_solver

    started = time.perf_counter()
    if resume is not None:
        if algorithm or settings:
            raise SolverError(
                "a checkpoint brings its own settings; leave out --algorithm, --profile, --seed and --set"
            )
        solver = resume_solver(resume, game, limit)
    else:
        assert game is not None
        solver = make_public_solver(game, algorithm or "cfr+", limit, **settings)
    tree: PublicTree = solver.tree
    if not quiet and not as_json:
        note(f"{_title(tree)}: {tree.num_public_states:,} public states, {tree.num_infosets:,} information sets; "
             f"{format_bytes(tree.nbytes)} tree, {format_bytes(solver.table_bytes)} tables")  # fmt: skip
    target = _target(until, tree)
    if iterations is None and seconds is None and target is None and solver.iterations == 0:
        iterations = solver.default_iterations
    goal = Until(iterations, seconds, target)
    with interruptible():
        with progress_line(goal, quiet or as_json) as draw:
            result = solver.run(goal, with_checkpoints(solver, checkpoint, draw))
        saved = save_run(None, solver, _with_names(game, solver, result, limit), out, checkpoint)
    if plot is not None:
        plot_run(result, plot, goal)
    files = {"profile": out, "plot": plot, "checkpoint": saved}
    if as_json:
        print_json(_as_json(solver, result, files))
    else:
        _summarise(solver, result, goal, files, time.perf_counter() - started)
    return 130 if result.status == "interrupted" else 0


def _subgame(tree: PublicTree) -> Subgame | None:
    """The hold'em subgame that the tree is of, if it is of one: its name is long, and its pot a measure."""
    from counterplay.poker.postflop.subgame import SUBGAME, parse_subgame

    return parse_subgame(tree.name) if tree.name.startswith(SUBGAME) else None


def _title(tree: PublicTree) -> str:
    subgame = _subgame(tree)
    return tree.name if subgame is None else subgame.title


def _exploitability(tree: PublicTree, exploitability: float) -> str:
    subgame = _subgame(tree)
    return exploitability_text(exploitability, tree.big_blind, None if subgame is None else subgame.pot)


def _target(until: str | None, tree: PublicTree) -> float | None:
    """The exploitability to stop at; of a hold'em subgame it may be told in percents of the pot."""
    subgame = _subgame(tree)
    if until is not None and subgame is not None:
        from counterplay.cli.holdem import pot_target

        return pot_target(until, subgame.pot)
    return read_target(until, tree.name, tree.big_blind)


NAMED = 30_000
"""Information sets up to which a strategy is written with their names, like that of any other game."""


def _with_names(game: str | None, solver: Solver, result: SolveResult, limit: int | None) -> SolveResult:
    """The result with the profile of the game itself, where that is small: agents and all other commands take it."""
    from counterplay.errors import CounterplayError
    from counterplay.strategy.public_tables import public_form

    tree: PublicTree = solver.tree
    if tree.num_infosets > NAMED or _subgame(tree) is not None:
        return result
    try:
        form = public_form(game or tree.name, memory_limit=limit)
        if form.tree.fingerprint != tree.fingerprint:
            return result
        named = form.profile(result.profile.tables, result.profile.provenance)
    except CounterplayError:  # its infosets have no names
        return result
    return dataclasses.replace(result, profile=named)


def _as_json(solver: Solver, result: SolveResult, files: dict[str, Path | None]) -> dict[str, Any]:
    from counterplay.analysis.regret_bounds import value_interval

    tree: PublicTree = solver.tree
    return {
        "game": result.game,
        "algorithm": result.algorithm,
        "representation": "public",
        "status": result.status,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        **measured(result.measurement, tree.big_blind),
        "value_bounds": list(value_interval(result.measurement)),
        "recall": ["perfect", "perfect"],
        "information_sets": result.information_sets,
        "public_states": tree.num_public_states,
        "histories": None,
        "nodes": result.nodes,
        "nodes_per_second": result.nodes_per_second,
        "memory_bytes": {"tree": tree.nbytes, "solver": solver.table_bytes},
        **result.details,
        **{name: None if path is None else str(path) for name, path in files.items() if name != "plot"},
        "seed": getattr(solver.config, "seed", 0),
        "threads": solver.config.threads,
    }


def _summarise(
    solver: Solver, result: SolveResult, goal: Until, files: dict[str, Path | None], whole_seconds: float
) -> None:
    from counterplay.analysis.regret_bounds import value_interval
    from counterplay.evaluation.methods import locked_nodes

    tree: PublicTree = solver.tree
    low, high = value_interval(result.measurement)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    say(f"{_title(tree)} solved by {result.algorithm} on its public tree: {ENDINGS[result.status]}")
    rows = [
        ("value", f"{chips(result.value)} chips; for player 1 between {low:.6g} and {high:.6g}"),
        ("exploitability", _exploitability(tree, result.exploitability)),
        ("iterations", f"{result.iterations:,}"),
        ("information sets", f"{result.information_sets:,} in {tree.num_public_states:,} public states"),
        ("seconds", f"{result.seconds:.2f}, {result.cpu_seconds:.2f} of a processor ({whole_seconds:.2f} in all)"),
        ("memory", f"{format_bytes(tree.nbytes)} tree, {format_bytes(solver.table_bytes)} tables, "
                   f"{format_bytes(peak)} process"),
    ]  # fmt: skip
    locked = getattr(solver, "locked", None)
    if locked is not None and locked.any():
        rows.append(("locked", f"{', '.join(map(repr, locked_nodes(tree, locked)))}; best responses keep to it"))
    names = (("strategy", "profile"), ("plot", "plot"), ("checkpoint", "checkpoint"))
    rows += [(title, str(files[name])) for title, name in names if files[name] is not None]
    table(rows)
    if result.status == "interrupted":
        say()
        say(f"Next:\n  counterplay solve --resume {files['checkpoint']} {goal_options(goal)}   go on from here")
