"""``counterplay solve``: run an algorithm on a game, with a live progress line, files and a summary."""

from __future__ import annotations

import math
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli.common import (
    GAME_HELP,
    JSON_HELP,
    MEMORY_HELP,
    check_writable,
    chips,
    compile_with_progress,
    exploitability_text,
    forgetful_note,
    make_game,
    measured,
    note,
    print_json,
    read_memory,
    read_target,
    say,
    table,
)  # fmt: skip
from counterplay.errors import SolverError

if TYPE_CHECKING:
    from counterplay.solvers import CfrSolver, Progress, SolveResult, Until

CHECKPOINT_SECONDS = 60.0
PLOT_FORMATS = (".png", ".svg", ".pdf")


def command(
    game: Annotated[str | None, typer.Argument(metavar="GAME", help=GAME_HELP)] = None,
    algorithm: Annotated[
        str | None, typer.Option("--algorithm", "-a", help="cfr, cfr+ (default), linear, dcfr or pcfr+.")
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Stop at this iteration (default 1000).")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after this many seconds, those before --resume included.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Stop at this exploitability: chips per game (1e-4), or mbb/g (0.5mbb).")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the strategy to this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the convergence curve into this file (.png, .svg).")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save the run into this file every minute and at the end.")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on from this checkpoint.")] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            help="Which profile: average (default), last (keeps no average) or best (least exploitable seen)."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting of the algorithm: --set delay=100.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Recorded; full-width algorithms make no random choice.")] = 0,
    memory_limit: Annotated[str | None, typer.Option(help=MEMORY_HELP)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress line.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
) -> int:
    """Solve a game and report its value and the exploitability of the strategy found."""
    check_writable(plot)
    check_writable(out, checkpoint, replaced=True)
    if plot is not None and plot.suffix.lower() not in PLOT_FORMATS:
        raise SolverError(f"a plot is a {', '.join(PLOT_FORMATS)} file; got {str(plot)!r}")
    if game is None and resume is None:
        raise SolverError("name a game to solve (counterplay games lists them), or a checkpoint with --resume")
    started = time.perf_counter()
    solver = _make_solver(game, resume, algorithm, profile, settings or [], memory_limit, quiet or as_json)
    goal = _goal(solver, iterations, seconds, until)
    with _interruptible():
        with _progress_line(goal, quiet or as_json) as draw:
            result = solver.run(goal, _with_checkpoints(solver, checkpoint, draw))
        saved = _save(solver, result, out, checkpoint)
    if plot is not None:
        from counterplay.cli.plot import plot_curves

        title = f"{result.game}: {result.algorithm}"
        plot_curves(plot, {result.algorithm: result.curve}, title, target=goal.exploitability)
    if as_json:
        print_json(_as_json(solver, result, out, seed, saved))
    else:
        _summarise(solver, result, goal, out, plot, saved, time.perf_counter() - started)
    return 130 if result.status == "interrupted" else 0


def _make_solver(
    game: str | None,
    resume: Path | None,
    algorithm: str | None,
    profile: str | None,
    settings: list[str],
    memory: str | None,
    quiet: bool,
) -> CfrSolver:
    from counterplay.solvers import ALGORITHMS, CfrSolver, make_solver

    limit = read_memory(memory)
    if resume is not None:
        if algorithm or profile or settings:
            raise SolverError("a checkpoint brings its own settings; leave out --algorithm, --profile and --set")
        return CfrSolver.resume(resume, None if game is None else make_game(game), limit)
    algorithm = algorithm or "cfr+"
    if algorithm not in ALGORITHMS:  # said before the game is compiled, which may take long
        raise SolverError(f"unknown algorithm {algorithm!r}; there are {', '.join(ALGORITHMS)}")
    assert game is not None
    changes = {**({"profile": profile} if profile else {}), **read_settings(settings)}
    tree = compile_with_progress(make_game(game), limit, quiet)
    return make_solver(tree, algorithm, limit, **changes)


def read_settings(texts: list[str]) -> dict[str, Any]:
    """Settings of an algorithm from texts such as ``delay=100``."""
    changes: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise SolverError(f"--set takes NAME=VALUE, such as delay=100; got {text!r}")
        name, value = name.strip(), value.strip()
        words = {"true": True, "false": False, "none": None}
        if value.lower() in words:
            changes[name] = words[value.lower()]
        else:
            try:
                changes[name] = int(value) if value.lstrip("+-").isdigit() else float(value)
            except ValueError:
                changes[name] = value
    return changes


def _goal(solver: CfrSolver, iterations: int | None, seconds: float | None, until: str | None) -> Until:
    from counterplay.solvers import Until

    target = read_target(until, solver.tree.name, solver.tree.big_blind)
    if iterations is None and seconds is None and target is None and solver.iterations == 0:
        iterations = 1000
    return Until(iterations, seconds, target)


def _goal_options(goal: Until) -> str:
    """The options that ask for this goal again."""
    limits = (("--iterations", goal.iterations), ("--seconds", goal.seconds), ("--until", goal.exploitability))
    return " ".join(
        f"{name} {limit:g}" if isinstance(limit, float) else f"{name} {limit}" for name, limit in limits if limit
    )


def _with_checkpoints(
    solver: CfrSolver, path: Path | None, draw: Callable[[Progress], None] | None
) -> Callable[[Progress], None]:
    """A callback that draws progress and saves the run every minute."""
    last = time.monotonic()

    def tick(progress: Progress) -> None:
        nonlocal last
        if draw is not None:
            draw(progress)
        if path is not None and time.monotonic() - last > CHECKPOINT_SECONDS:
            solver.save(path)
            last = time.monotonic()

    return tick


def _save(solver: CfrSolver, result: SolveResult, out: Path | None, checkpoint: Path | None) -> Path | None:
    """Write what was asked for; an interrupted run always leaves a checkpoint.  Returns the checkpoint's path."""
    if out is not None:
        result.profile.save(out)
    if checkpoint is None and result.status == "interrupted":
        name = "".join(letter if letter.isalnum() else "_" for letter in f"{result.game}-{result.algorithm}")
        checkpoint = out.with_name(out.name + ".checkpoint") if out is not None else Path(f"{name}.checkpoint")
    if checkpoint is not None:
        solver.save(checkpoint)
    return checkpoint


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a polite kill do what Ctrl-C does: stop, save, report."""

    def stop(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


@contextmanager
def _progress_line(goal: Until, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A live line with a bar on a terminal; now and then a plain line elsewhere."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield _plain_lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.fields[iterations]:>12,} iterations"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("solving", total=1.0, iterations=0, state="preparing kernels")
        first = math.nan

        def draw(now: Any) -> None:
            nonlocal first
            if math.isnan(first) and now.measured_at > 0:
                first = now.exploitability
            done = _fraction(goal, now, first)
            state = f"exploitability {now.exploitability:.3e}"
            bar.update(task, completed=done, iterations=now.iterations, state=state)

        yield draw


def _plain_lines() -> Callable[[Progress], None]:
    due = wait = 2.0

    def draw(now: Progress) -> None:
        nonlocal due, wait
        if now.seconds >= due:
            wait *= 2
            due = now.seconds + wait
            note(f"{now.iterations:,} iterations, {now.seconds:.0f} s, exploitability {now.exploitability:.3e}")

    return draw


def _fraction(goal: Until, now: Progress, first: float) -> float:
    """How much of the way is done: the limit that is nearest; exploitability counts on a logarithmic scale."""
    parts = [0.0]
    if goal.iterations:
        parts.append(now.iterations / goal.iterations)
    if goal.seconds:
        parts.append(now.seconds / goal.seconds)
    if goal.exploitability and first > goal.exploitability and now.exploitability > 0:
        parts.append(math.log(first / now.exploitability) / math.log(first / goal.exploitability))
    return min(1.0, max(parts))


def _as_json(solver: CfrSolver, result: SolveResult, out: Path | None, seed: int, saved: Path | None) -> dict[str, Any]:
    return {
        "game": result.game,
        "algorithm": result.algorithm,
        "status": result.status,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        **measured(result.measurement, solver.tree.big_blind),
        "information_sets": result.information_sets,
        "histories": result.histories,
        "nodes_per_second": result.nodes_per_second,
        "memory_bytes": {"tree": _tree_bytes(solver), "solver": solver.memory_bytes(solver.tree, solver.config)},
        "profile": None if out is None else str(out),
        "checkpoint": None if saved is None else str(saved),
        "seed": seed,
    }


def _tree_bytes(solver: CfrSolver) -> int:
    from counterplay.tree.memory import tree_bytes

    return tree_bytes(solver.tree)


ENDINGS = {
    "exploitability": "the target was reached",
    "iterations": "all iterations are done",
    "seconds": "the time is up",
    "interrupted": "interrupted; the work is saved",
}


def _summarise(
    solver: CfrSolver,
    result: SolveResult,
    goal: Until,
    out: Path | None,
    plot: Path | None,
    saved: Path | None,
    elapsed: float,
) -> None:
    from counterplay.tree.memory import format_bytes

    big_blind = solver.tree.big_blind
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    tables = solver.memory_bytes(solver.tree, solver.config)
    say(f"{result.game} solved by {result.algorithm}: {ENDINGS[result.status]}")
    value = "value of the game" if solver.tree.facts.zero_sum else "value of the profile"
    rows = [
        (value, chips(result.value) + " chips"),
        ("best responses", chips(result.best_response) + " chips"),
        ("exploitability", exploitability_text(result.exploitability, big_blind)),
        (
            "iterations",
            f"{result.iterations:,} over {result.histories:,} histories, {result.information_sets:,} information sets",
        ),
        (
            "seconds",
            f"{result.seconds:.2f} solving, {elapsed:.2f} in all ({result.nodes_per_second:,.0f} histories per second)",
        ),
        (
            "memory",
            f"{format_bytes(_tree_bytes(solver))} tree, {format_bytes(tables)} tables, {format_bytes(peak)} process",
        ),
    ]
    rows += forgetful_note(solver.tree)
    files = [("strategy", out), ("plot", plot), ("checkpoint", saved)]
    rows += [(name, str(path)) for name, path in files if path is not None]
    table(rows)
    say()
    say("Next:")
    if result.status == "interrupted":
        say(f"  counterplay solve --resume {saved} {_goal_options(goal)}   go on from here")
    if out is not None:
        say(f"  counterplay evaluate {out}   measure the strategy again from its file")
    say(f'  counterplay info "{result.game}"   sizes, recall and memory of the game')
    say("  counterplay games   what else can be solved")
