"""``counterplay solve``: run an algorithm on a game, with a live progress line, files and a summary."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.abstraction import split_name
from counterplay.cli.common import (
    GAME_HELP,
    JSON_HELP,
    MEMORY_HELP,
    check_writable,
    note,
    print_json,
    read_memory,
    read_target,
)  # fmt: skip
from counterplay.cli.problem import FORGET_HELP, Problem, load_problem
from counterplay.cli.report import as_json as report_json
from counterplay.cli.report import summarise
from counterplay.errors import MemoryLimitError, SolverError

if TYPE_CHECKING:
    from counterplay.solvers import Progress, Solver, SolveResult, Until

CHECKPOINT_SECONDS = 60.0
PLOT_FORMATS = (".png", ".svg", ".pdf")
_SPOT = "A hold'em subgame (solve holdem)"


def command(
    game: Annotated[str | None, typer.Argument(metavar="GAME", help=GAME_HELP)] = None,
    algorithm: Annotated[
        str | None,
        typer.Option("--algorithm", "-a", help="cfr+ by default; `counterplay algorithms` lists them."),
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Stop at this iteration (default 1000, or the end).")] = None,
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
    player: Annotated[int | None, typer.Option(help="With maxmin: who maximises, 1 (default) or 2.")] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="With maxmin and double-oracle: the gap to stop at, in shares of the largest utility."),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="With lp: the value as a fraction; small games.")] = False,
    forget: Annotated[list[str] | None, typer.Option(help=FORGET_HELP)] = None,
    map_out: Annotated[Path | None, typer.Option(help="Write the abstraction to this file, for map=FILE.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the random choices (default 0); full-width algorithms make none.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Of sampled algorithms: how many walk at once; one (default) repeats exactly.")
    ] = None,
    representation: Annotated[
        str,
        typer.Option(
            help="history: compile the game; states: sample it without; auto: states where the game does not fit."
        ),
    ] = "auto",
    memory_limit: Annotated[str | None, typer.Option(help=MEMORY_HELP)] = None,
    board: Annotated[str | None, typer.Option(help="3, 4 or 5 cards, QsJh2h.", rich_help_panel=_SPOT)] = None,
    pot: Annotated[float | None, typer.Option(help="Chips in the pot.", rich_help_panel=_SPOT)] = None,
    stack: Annotated[float | None, typer.Option(help="Chips that each has left.", rich_help_panel=_SPOT)] = None,
    oop: Annotated[
        str | None, typer.Option(help="Range of who acts first: 66+,A8s+,AKo:0.5, or a file.", rich_help_panel=_SPOT)
    ] = None,
    ip: Annotated[str | None, typer.Option(help="Range of who acts last.", rich_help_panel=_SPOT)] = None,
    bets: Annotated[
        str | None,
        typer.Option(
            help="Sizes: 50%, 100c, 20c3r, e, 2e, allin; by street and player: flop=50%;ip.turn=33%,a. "
            "Default 50%,allin.",
            rich_help_panel=_SPOT,
        ),
    ] = None,
    raises: Annotated[
        str | None, typer.Option(help="Sizes of raises, 2.5x too (default 60%,allin).", rich_help_panel=_SPOT)
    ] = None,
    donks: Annotated[
        str | None,
        typer.Option(help="Sizes of oop's first bet after calling a street (default: bets).", rich_help_panel=_SPOT),
    ] = None,
    allin_threshold: Annotated[
        str | None,
        typer.Option(help="Bets of this share of the stack are all in (default 67%).", rich_help_panel=_SPOT),
    ] = None,
    chip: Annotated[
        float | None, typer.Option(help="Bets are multiples of this (default 1).", rich_help_panel=_SPOT)
    ] = None,
    isomorphism: Annotated[
        bool, typer.Option(help="Take suits together that play alike.", rich_help_panel=_SPOT)
    ] = True,
    lock: Annotated[
        list[str] | None,
        typer.Option(
            help="Fix a strategy: 'check bet25=call 66+,AQ; fold rest', or NODE=FILE.  Can be repeated.",
            rich_help_panel=_SPOT,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress line.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
) -> int:
    """Solve a game and report its value and the exploitability of the strategy found.

    With --forget the abstract game is solved, --until is measured there, and the strategy is lifted to the real game
    before it is measured and saved.  cfr+ira and fpira abstract the game themselves, starting from what --forget says
    (by default initial), and --until is measured in the real game.  With --representation states the game is not
    compiled: any size can be sampled, and exploitability is not measured.

    `solve holdem` solves a hold'em subgame from a board and two ranges, --until in chips or percents of the pot:
    counterplay solve holdem --board QsJh2h --pot 50 --stack 200 --oop "66+,A8s+" --ip "22+,AT+" --until 0.3%
    """
    check_writable(plot)
    check_writable(out, checkpoint, map_out, replaced=True)
    if plot is not None and plot.suffix.lower() not in PLOT_FORMATS:
        raise SolverError(f"a plot is a {', '.join(PLOT_FORMATS)} file; got {str(plot)!r}")
    if game is None and resume is None:
        raise SolverError("name a game to solve (counterplay games lists them), or a checkpoint with --resume")
    spot = (board, pot, stack, oop, ip, bets, raises, donks, allin_threshold, chip, isomorphism, tuple(lock or ()))
    if game == "holdem" or any(part not in (None, True, ()) for part in spot):
        from counterplay.cli.holdem import Spot, solve_holdem

        if game != "holdem":
            raise SolverError(f"{Spot(*spot).given[0]} is for counterplay solve holdem; got the game {game!r}")
        own = read_settings(settings or []) | ({"threads": threads} if threads is not None else {})
        return solve_holdem(
            Spot(*spot), algorithm, own | ({"profile": profile} if profile else {}), read_memory(memory_limit),
            iterations, seconds, until, out=out, checkpoint=checkpoint, plot=plot, quiet=quiet, as_json=as_json,
        )  # fmt: skip
    from counterplay.solvers import REPRESENTATIONS, StateSampler, check_algorithm, checkpoint_kind

    if representation not in REPRESENTATIONS:
        raise SolverError(f"--representation is one of {', '.join(REPRESENTATIONS)}; got {representation!r}")
    started = time.perf_counter()
    limit = read_memory(memory_limit)
    if algorithm is not None:
        check_algorithm(algorithm)  # said before the game is compiled, which may take long
    first: dict[str, Any] = {}
    if resume is not None and threads is not None:
        raise SolverError("a checkpoint brings its own settings; leave out --threads")
    compiled = representation != "states" and (resume is None or checkpoint_kind(resume) != StateSampler.kind)
    if resume is None:
        algorithm = algorithm or ("cfr+" if compiled else "external-sampling")
        game, forget, first = _own_settings(algorithm, game, forget or [], seed, threads)
    changes = first | ({"profile": profile} if profile else {}) | ({"exact": True} if exact else {})
    changes |= {name: value for name, value in (("player", player), ("epsilon", epsilon)) if value is not None}
    changes |= read_settings(settings or [])
    whole = {"--until": until, "--plot": plot, "--forget": forget, "--map-out": map_out, "--exact": exact}
    needs_whole = [name for name, value in whole.items() if value]
    problem = None
    if compiled:
        may_sample = representation == "auto" and resume is None and not needs_whole and (threads or 1) == 1
        problem = _problem_that_fits(game, resume, forget or [], limit, quiet or as_json, algorithm, may_sample)
    if ".py:" in str(changes.get("scheme")):
        changes["scheme"] = _own_scheme(str(changes["scheme"]))
    if problem is None:
        if needs_whole:
            raise SolverError(
                f"{needs_whole[0]} needs the compiled game; leave it out, or use --representation history"
            )
        from counterplay.cli.states import solve_states

        work = (game, resume, algorithm, changes, limit, iterations, seconds)
        return solve_states(*work, out=out, checkpoint=checkpoint, quiet=quiet, as_json=as_json)
    solver = _make_solver(problem, resume, algorithm, changes, limit)
    if map_out is not None and problem.abstraction is None and solver.abstraction() is None:
        raise SolverError("--map-out needs --forget: nothing is abstracted")
    goal = _goal(solver, iterations, seconds, until)
    with _interruptible():
        with _progress_line(goal, quiet or as_json) as draw:
            result = solver.run(goal, _with_checkpoints(solver, checkpoint, draw))
        saved = _save(problem, solver, result, out, checkpoint)
    merged = problem.abstraction or solver.abstraction()
    if map_out is not None and merged is not None:
        merged.save(map_out)
    if plot is not None:
        _plot(result, plot, goal)
    from counterplay.evaluation import evaluate

    real = result.measurement if problem.abstraction is None else evaluate(problem.real, problem.lift(result.profile))
    files = {"profile": out, "map": map_out, "plot": plot, "checkpoint": saved}
    if as_json:
        print_json(report_json(problem, solver, result, real, files, seed or 0))
    else:
        summarise(problem, solver, result, real, goal, files, time.perf_counter() - started)
    return 130 if result.status == "interrupted" else 0


def _problem(game: str | None, resume: Path | None, forget: list[str], limit: int | None, quiet: bool) -> Problem:
    """The game to solve; a checkpoint knows its own."""
    from counterplay.solvers import checkpoint_game

    if resume is not None and forget:
        raise SolverError("a checkpoint knows what is forgotten; leave out --forget")
    if game is None:
        assert resume is not None
        game = checkpoint_game(resume)
    return load_problem(game, forget, limit, quiet)


def _problem_that_fits(
    game: str | None,
    resume: Path | None,
    forget: list[str],
    limit: int | None,
    quiet: bool,
    algorithm: str | None,
    may_sample: bool,
) -> Problem | None:
    """The game to solve, compiled; None, with a note, if it does not fit and its states can be sampled instead."""
    from counterplay.solvers import MCCFR_PRESETS

    try:
        return _problem(game, resume, forget, limit, quiet)
    except MemoryLimitError as error:
        if not may_sample or algorithm not in MCCFR_PRESETS or algorithm == "chance-sampling":
            raise
        note(f"{error}\nTherefore its states are sampled, which is slower, and exploitability is not measured.")
        return None


def _plot(result: SolveResult, path: Path, goal: Until) -> None:
    """Draw the curve of a run; that of a sampled algorithm against nodes and seconds as well."""
    from counterplay.cli.plot import plot_curves
    from counterplay.solvers import ALGORITHMS

    known = ALGORITHMS.get(result.algorithm)
    title = f"{result.game}: {result.algorithm}"
    plot_curves(
        path, {result.algorithm: result.curve}, title,
        ("iterations", "nodes", "seconds") if known is not None and known.sampled else ("iterations",),
        goal.exploitability,
    )  # fmt: skip


def _own_settings(
    algorithm: str, game: str | None, forget: list[str], seed: int | None, threads: int | None
) -> tuple[str | None, list[str], dict[str, Any]]:
    """The game, what is forgotten, and settings, for algorithms that take the last two as settings of their own."""
    from counterplay.solvers import ALGORITHMS

    settings: dict[str, Any] = {}
    if seed is not None and ALGORITHMS[algorithm].seeded:
        settings["seed"] = seed
    if threads is not None:
        if not ALGORITHMS[algorithm].sampled and threads != 1:
            raise SolverError(f"{algorithm} works in one thread; --threads is for sampled algorithms")
        settings |= {"threads": threads} if ALGORITHMS[algorithm].sampled else {}
    if ALGORITHMS[algorithm].refines and game is not None:
        game, what = split_name(game)
        if what is not None and forget:
            raise SolverError(f"the name says what is forgotten ({what}); leave out --forget")
        if what is not None or forget:
            settings["forget"] = what or ",".join(forget)
        forget = []
    return game, forget, settings


def _make_solver(
    problem: Problem,
    resume: Path | None,
    algorithm: str | None,
    changes: dict[str, Any],
    limit: int | None,
) -> Solver:
    from counterplay.solvers import make_solver, resume_solver

    if resume is not None:
        if algorithm or changes:
            raise SolverError(
                "a checkpoint brings its own settings; leave out --algorithm, --profile, --player, --epsilon, --exact "
                "and --set"
            )
        return resume_solver(resume, problem.solved, limit)
    return make_solver(problem.solved, algorithm or "cfr+", limit, **changes)


def _own_scheme(text: str) -> Callable[..., Any]:
    """A sampling scheme of the user's: the function NAME in the file of ``FILE.py:NAME``."""
    import runpy

    path, _, name = text.rpartition(":")
    try:
        scheme: Any = runpy.run_path(path).get(name)
    except OSError as error:
        raise SolverError(f"cannot read the scheme {path}: {error.strerror or error}") from None
    except Exception as error:
        raise SolverError(f"the scheme {path} fails: {type(error).__name__}: {error}") from error
    if not callable(scheme):
        raise SolverError(f"{path} has no function {name!r}; a scheme is given as FILE.py:FUNCTION")
    found: Callable[..., Any] = scheme
    return found


def read_settings(texts: list[str]) -> dict[str, Any]:
    """Settings of an algorithm from texts such as ``delay=100``."""
    from counterplay.solvers.base import setting_value

    changes: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise SolverError(f"--set takes NAME=VALUE, such as delay=100; got {text!r}")
        changes[name.strip()] = setting_value(value.strip())
    return changes


def _goal(solver: Solver, iterations: int | None, seconds: float | None, until: str | None) -> Until:
    from counterplay.solvers import Until

    target = read_target(until, solver.tree.name, solver.tree.big_blind)
    if iterations is None and seconds is None and target is None and solver.iterations == 0:
        iterations = solver.default_iterations
    return Until(iterations, seconds, target)


def _with_checkpoints(
    solver: Solver, path: Path | None, draw: Callable[[Progress], None] | None
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


def _save(
    problem: Problem | None, solver: Solver, result: SolveResult, out: Path | None, checkpoint: Path | None
) -> Path | None:
    """Write what was asked for; an interrupted run always leaves a checkpoint.  Returns the checkpoint's path."""
    if out is not None:
        profile = result.profile if problem is None else problem.lift(result.profile)
        profile.save(out)
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
            bar.update(task, completed=done, iterations=now.iterations, state=_state(now))

        yield draw


def _state(now: Progress) -> str:
    """Where a run is: between which bounds, if the algorithm has any that close, or how exploitable."""
    if now.lower is not None and now.upper is not None:
        return f"value from {now.lower:.6g} to {now.upper:.6g}"
    if math.isnan(now.exploitability):
        return f"{now.nodes:,} histories touched"
    return f"exploitability {now.exploitability:.3e}"


def _plain_lines() -> Callable[[Progress], None]:
    due = wait = 2.0

    def draw(now: Progress) -> None:
        nonlocal due, wait
        if now.seconds >= due:
            wait *= 2
            due = now.seconds + wait
            note(f"{now.iterations:,} iterations, {now.seconds:.0f} s, {_state(now)}")

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
