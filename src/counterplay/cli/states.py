"""``counterplay solve`` on a game that is not compiled: its states or its buckets are sampled.

Nothing is measured exactly.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from counterplay.cli.common import exploitability_text, measured, print_json, read_target, say, table
from counterplay.cli.report import ENDINGS, goal_options
from counterplay.errors import SolverError
from counterplay.forms import open_game
from counterplay.runtime.memory import format_bytes

if TYPE_CHECKING:
    from counterplay.runtime.pacing import Until
    from counterplay.solvers import Solver, SolveResult
    from counterplay.solvers.bucket_mccfr import BucketSolver


def solve_states(
    game: str | None,
    resume: Path | None,
    algorithm: str | None,
    settings: dict[str, Any],
    limit: int | None,
    iterations: int | None,
    seconds: float | None,
    *,
    out: Path | None,
    checkpoint: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Sample a game by its states, report, and return the exit code."""
    from counterplay.solvers import make_state_sampler, resume_solver

    solver: Solver
    if resume is not None:
        if algorithm or settings:
            raise SolverError(
                "a checkpoint brings its own settings; leave out --algorithm, --profile, --seed and --set"
            )
        solver = resume_solver(resume, game and open_game(game, "states"), limit)
    else:
        assert game is not None
        solver = make_state_sampler(open_game(game, "states"), algorithm or "external-sampling", limit, **settings)
    return run_unmeasured(
        solver, iterations, seconds, out=out, checkpoint=checkpoint, quiet=quiet, as_json=as_json
    )  # fmt: skip


def solve_buckets(
    game: str | None,
    cards: list[Path],
    bets: str | None,
    boards: str | None,
    until: str | None,
    plot: Path | None,
    resume: Path | None,
    algorithm: str | None,
    settings: dict[str, Any],
    limit: int | None,
    iterations: int | None,
    seconds: float | None,
    *,
    out: Path | None,
    checkpoint: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Sample a poker game in a card abstraction, report, and return the exit code."""
    from counterplay.solvers.bucket_mccfr import make_bucket_solver, resume_buckets

    if resume is not None:
        if algorithm or settings or bets:
            raise SolverError(
                "a checkpoint brings its own settings; leave out --algorithm, --profile, --bets, --seed and --set"
            )
        solver = resume_buckets(resume, cards, limit)
    else:
        assert game is not None
        solver = make_bucket_solver(game, cards, algorithm or "pure-cfr", bets, limit, **settings)
    if boards is not None:
        from counterplay.evaluation.bucket_pairs import count_bucket_pairs

        solver.pairs = count_bucket_pairs(solver.game, None if boards == "all" else int(boards), solver.config.seed)
    target = read_target(until, solver.name, solver.game.big_blind)
    return run_unmeasured(
        solver, iterations, seconds, target, plot, out=out, checkpoint=checkpoint, quiet=quiet, as_json=as_json
    )  # fmt: skip


def run_unmeasured(
    solver: Solver,
    iterations: int | None,
    seconds: float | None,
    exploitability: float | None = None,
    plot: Path | None = None,
    *,
    out: Path | None,
    checkpoint: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Run a solver that measures nothing, or in an abstract game only; report, and return the exit code."""
    from counterplay.cli.running import interruptible, plot_run, progress_line, save_run, with_checkpoints
    from counterplay.runtime.pacing import Until

    if iterations is None and seconds is None and exploitability is None and solver.iterations == 0:
        iterations = solver.default_iterations
    goal = Until(iterations, seconds, exploitability)
    with interruptible():
        with progress_line(goal, quiet or as_json) as draw:
            result = solver.run(goal, with_checkpoints(solver, checkpoint, draw))
        saved = save_run(None, solver, result, out, checkpoint)
    if plot is not None:
        plot_run(result, plot, goal)
    files = {"profile": out, "checkpoint": saved}
    if as_json:
        print_json(_as_json(solver, result, files))
    else:
        _summarise(solver, result, goal, files)
    return 130 if result.status == "interrupted" else 0


def _as_json(solver: Solver, result: SolveResult, files: dict[str, Path | None]) -> dict[str, Any]:
    """The keys of any solve; what was not measured is null."""
    return {
        "game": result.game,
        "algorithm": result.algorithm,
        "status": result.status,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        **dict.fromkeys(("value", "best_response", "nash_conv", "exploitability")),
        **({"abstract": measured(result.measurement, solver.game.big_blind)} if _measures(solver) else {}),
        "information_sets": result.information_sets,
        "histories": None,
        "nodes": result.nodes,
        "nodes_per_second": result.nodes_per_second,
        "memory_bytes": {"tree": getattr(getattr(solver, "game", None), "tree_bytes", 0), "solver": solver.table_bytes},
        **result.details,
        **{name: None if path is None else str(path) for name, path in files.items()},
        "seed": solver.config.seed,
        "threads": solver.config.threads,
    }


def _measures(solver: Solver) -> TypeGuard[BucketSolver]:
    return solver.measures


def _abstract_rows(solver: Solver, result: SolveResult) -> list[tuple[str, str]]:
    """What was measured inside the abstract game."""
    if not _measures(solver) or solver.pairs is None:
        return []
    how = "all boards" if solver.pairs.exact else f"{solver.pairs.boards:,} boards drawn, an estimate that is too high"
    text = exploitability_text(result.exploitability, solver.game.big_blind)
    return [("in the abstract game", text), ("counted over", how)]


def _summarise(solver: Solver, result: SolveResult, goal: Until, files: dict[str, Path | None]) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    buckets = result.details.get("representation") == "buckets"
    how = "in a card abstraction" if buckets else "without compiling it"
    say(f"{result.game} sampled by {result.algorithm} {how}: {ENDINGS[result.status]}")
    rows = [
        ("exploitability", "not measured: a best response walks the whole game"),
        *_abstract_rows(solver, result),
        ("iterations", f"{result.iterations:,}, {result.nodes:,} histories touched"),
        ("information sets", f"{result.information_sets:,}{'' if buckets else ' seen'}"),
        ("seconds", f"{result.seconds:.2f} ({result.nodes_per_second:,.0f} histories per second)"),
        ("memory", f"about {format_bytes(solver.table_bytes)} tables, {format_bytes(peak)} process"),
    ]
    names = (("strategy", "profile"), ("checkpoint", "checkpoint"))
    rows += [(title, str(files[name])) for title, name in names if files[name] is not None]
    table(rows)
    if result.status == "interrupted":
        say()
        say(f"Next:\n  counterplay solve --resume {files['checkpoint']} {goal_options(goal)}   go on from here")
