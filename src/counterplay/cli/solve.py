"""``counterplay solve``: run an algorithm on a game, with a live progress line, files and a summary."""

from __future__ import annotations

import time
from collections.abc import Callable
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
from counterplay.cli.running import interruptible, plot_run, progress_line, save_run, with_checkpoints
from counterplay.errors import MemoryLimitError, SolverError

if TYPE_CHECKING:
    from counterplay.runtime.pacing import Until
    from counterplay.solvers import Solver

PLOT_FORMATS = (".png", ".svg", ".pdf")
_SPOT = "A hold'em subgame (solve holdem)"
ABSTRACT = "mccfr-abstract"
"""The mark of checkpoints of abstract games."""


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
    cards: Annotated[
        list[Path] | None,
        typer.Option(help="Solve a poker game in this card abstraction (.cpa); one for each player if they differ."),
    ] = None,
    boards: Annotated[
        str | None,
        typer.Option(help="With --cards: measure in the abstract game, over all boards or a number drawn (all, 2000)."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of the random choices (default 0); full-width algorithms make none.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="How many walk at once, of sampled algorithms and on public trees (default 1).")
    ] = None,
    representation: Annotated[
        str,
        typer.Option(
            help="history: compile the game; public: its public states and hands; states: sample it without; auto: "
            "history, or where that does not fit public with full-width algorithms and states with sampled ones."
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
            "Default 50%,allin.  With --cards: the raises left of a no-limit game, as fcpa or 0.5,1,allin.",
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
    compiled: any size can be sampled, and exploitability is not measured.  With --representation public the tables
    have a row for each public state and hand, for two-player games in which only chance is hidden.  With --cards the
    tables have a row for each bucket of hands and point of the betting; algorithms that sample, pure-cfr by default.
    Exploitability is measured inside that game with --boards, if two players play and forget nothing.

    `solve holdem` solves a hold'em subgame from a board and two ranges, --until in chips or percents of the pot:
    counterplay solve holdem --board QsJh2h --pot 50 --stack 200 --oop "66+,A8s+" --ip "22+,AT+" --until 0.3%
    """
    check_writable(plot)
    check_writable(out, checkpoint, map_out, replaced=True)
    if plot is not None and plot.suffix.lower() not in PLOT_FORMATS:
        raise SolverError(f"a plot is a {', '.join(PLOT_FORMATS)} file; got {str(plot)!r}")
    if game is None and resume is None:
        raise SolverError("name a game to solve (counterplay games lists them), or a checkpoint with --resume")
    sizes = None if cards or resume else bets  # of a spot, not of an abstraction
    spot = (board, pot, stack, oop, ip, sizes, raises, donks, allin_threshold, chip, isomorphism, tuple(lock or ()))
    if game == "holdem" or any(part not in (None, True, ()) for part in spot):
        from counterplay.cli.holdem import Spot, solve_holdem

        if game != "holdem":
            option = Spot(*spot).given[0]
            other = ", and with --cards for abstract games" if option == "--bets" else ""
            raise SolverError(f"{option} is for counterplay solve holdem{other}; got the game {game!r}")
        others = {"--resume": resume, "--forget": forget, "--cards": cards, "--boards": boards,
                  "--exact": exact, "--player": player, "--epsilon": epsilon, "--map-out": map_out}  # fmt: skip
        useless = [name for name, value in others.items() if value not in (None, False, [], ())]
        useless += ["--representation"] if representation not in ("auto", "public") else []
        if useless:
            raise SolverError(f"{useless[0]} is not for hold'em subgames; leave it out")
        own = read_settings(settings or []) | ({"threads": threads} if threads is not None else {})
        return solve_holdem(
            Spot(*spot), algorithm, own | ({"profile": profile} if profile else {}), read_memory(memory_limit),
            iterations, seconds, until, out=out, checkpoint=checkpoint, plot=plot, quiet=quiet, as_json=as_json,
        )  # fmt: skip
    from counterplay.solvers import (
        PUBLIC_ALGORITHMS,
        PUBLIC_KINDS,
        REPRESENTATIONS,
        StateSampler,
        check_algorithm,
        checkpoint_kind,
    )

    if representation not in REPRESENTATIONS:
        raise SolverError(f"--representation is one of {', '.join(REPRESENTATIONS)}; got {representation!r}")
    started = time.perf_counter()
    limit = read_memory(memory_limit)
    if algorithm is not None:
        check_algorithm(algorithm)  # said before the game is compiled, which may take long
    first: dict[str, Any] = {}
    if resume is not None and threads is not None:
        raise SolverError("a checkpoint brings its own settings; leave out --threads")
    if bets is not None and not cards:
        raise SolverError("--bets is for abstract games; name a card abstraction with --cards")
    if boards is not None and boards != "all" and not (boards.isdigit() and int(boards) > 0):
        raise SolverError(f"--boards is all or a number of boards; got {boards!r}")
    buckets = bool(cards) if resume is None else checkpoint_kind(resume) == ABSTRACT
    compiled = not buckets and representation not in ("states", "public")
    compiled = compiled and (resume is None or checkpoint_kind(resume) not in (StateSampler.kind, *PUBLIC_KINDS))
    public = not compiled and not buckets and (
        representation == "public" if resume is None else checkpoint_kind(resume) in PUBLIC_KINDS
    )  # fmt: skip
    if resume is None:
        algorithm = algorithm or ("pure-cfr" if buckets else "cfr+" if compiled or public else "external-sampling")
        if algorithm in PUBLIC_ALGORITHMS and representation == "auto" and not buckets:
            compiled, public = False, True
        game, forget, first = _own_settings(algorithm, game, forget or [], seed, threads, public)
    changes = first | ({"profile": profile} if profile else {}) | ({"exact": True} if exact else {})
    changes |= {name: value for name, value in (("player", player), ("epsilon", epsilon)) if value is not None}
    changes |= read_settings(settings or [])
    measured = buckets and boards is not None
    whole = {
        "--until": until and not measured,
        "--plot": plot and not measured,
        "--forget": forget,
        "--map-out": map_out,
        "--exact": exact,
    }
    needs_whole = [name for name, value in whole.items() if value]
    problem = None
    if compiled:
        auto = representation == "auto" and resume is None
        may_sample = auto and not needs_whole and (threads or 1) == 1
        may_be_public = auto and not (set(needs_whole) - {"--until", "--plot"})
        problem, public = _problem_that_fits(
            game, resume, forget or [], limit, quiet or as_json, algorithm, may_sample, may_be_public
        )
    if ".py:" in str(changes.get("scheme")):
        changes["scheme"] = _own_scheme(str(changes["scheme"]))
    if public:
        from counterplay.cli.public import solve_public

        needs_histories = sorted(set(needs_whole) - {"--until", "--plot"})
        if needs_histories:
            raise SolverError(f"{needs_histories[0]} needs the histories of the game; use --representation history")
        return solve_public(
            game, resume, algorithm, changes, limit, iterations, seconds, until, out=out, checkpoint=checkpoint,
            plot=plot, quiet=quiet, as_json=as_json,
        )  # fmt: skip
    if problem is None:
        if needs_whole:
            raise SolverError(
                f"{needs_whole[0]} needs the compiled game; leave it out, or use --representation history"
            )
        from counterplay.cli.states import solve_buckets, solve_states

        files: dict[str, Any] = {"out": out, "checkpoint": checkpoint, "quiet": quiet, "as_json": as_json}
        work = (resume, algorithm, changes, limit, iterations, seconds)
        if buckets:
            return solve_buckets(game, cards or [], bets, boards, until, plot, *work, **files)
        return solve_states(game, *work, **files)
    solver = _make_solver(problem, resume, algorithm, changes, limit)
    if map_out is not None and problem.abstraction is None and solver.abstraction() is None:
        raise SolverError("--map-out needs --forget: nothing is abstracted")
    goal = _goal(solver, iterations, seconds, until)
    with interruptible():
        with progress_line(goal, quiet or as_json) as draw:
            result = solver.run(goal, with_checkpoints(solver, checkpoint, draw))
        saved = save_run(problem, solver, result, out, checkpoint)
    merged = problem.abstraction or solver.abstraction()
    if map_out is not None and merged is not None:
        merged.save(map_out)
    if plot is not None:
        plot_run(result, plot, goal)
    from counterplay.evaluation import evaluate

    real = result.measurement if problem.abstraction is None else evaluate(problem.lift(result.profile), problem.real)
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
    may_be_public: bool,
) -> tuple[Problem | None, bool]:
    """The game to solve, compiled, and whether to take its public tree instead.

    Without a compiled game and a public tree its states are to be sampled.  A note says so.
    """
    from counterplay.solvers import ALGORITHMS, MCCFR_PRESETS

    try:
        return _problem(game, resume, forget, limit, quiet), False
    except MemoryLimitError as error:
        from counterplay.forms import has_public_tree

        full_width = algorithm is not None and ALGORITHMS[algorithm].kind == "cfr"
        if may_be_public and full_width and game is not None and has_public_tree(game):
            note(f"{error}\nTherefore its public tree is solved.")
            return None, True
        if not may_sample or algorithm not in MCCFR_PRESETS or algorithm == "chance-sampling":
            raise
        note(f"{error}\nTherefore its states are sampled, which is slower, and exploitability is not measured.")
        return None, False


def _own_settings(
    algorithm: str, game: str | None, forget: list[str], seed: int | None, threads: int | None, public: bool
) -> tuple[str | None, list[str], dict[str, Any]]:
    """The game, what is forgotten, and settings, for algorithms that take the last two as settings of their own."""
    from counterplay.solvers import ALGORITHMS

    settings: dict[str, Any] = {}
    if seed is not None and ALGORITHMS[algorithm].seeded:
        settings["seed"] = seed
    if threads is not None:
        if not (ALGORITHMS[algorithm].sampled or public) and threads != 1:
            raise SolverError(
                f"{algorithm} works in one thread; --threads is for sampled algorithms and --representation public"
            )
        settings |= {"threads": threads} if ALGORITHMS[algorithm].sampled or public else {}
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
    from counterplay.solvers.solver import setting_value

    changes: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise SolverError(f"--set takes NAME=VALUE, such as delay=100; got {text!r}")
        changes[name.strip()] = setting_value(value.strip())
    return changes


def _goal(solver: Solver, iterations: int | None, seconds: float | None, until: str | None) -> Until:
    from counterplay.runtime.pacing import Until

    target = read_target(until, solver.tree.name, solver.tree.big_blind)
    if iterations is None and seconds is None and target is None and solver.iterations == 0:
        iterations = solver.default_iterations
    return Until(iterations, seconds, target)
