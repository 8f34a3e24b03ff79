"""``counterplay compare``: several algorithms on one game, several seeds, a table and curves with 95 % bands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_plot, check_writable, compile_status, note, print_json, say
from counterplay.errors import GameError, SolverError
from counterplay.runtime.memory import read_memory
from counterplay.runtime.number_text import chips, figure
from counterplay.runtime.signals import interruptible

if TYPE_CHECKING:
    from counterplay.evaluation.bucket_pairs import BucketPairs
    from counterplay.evaluation.lifted_buckets import RealGame
    from counterplay.experiments.shared.comparison import Comparison
    from counterplay.forms import GameForms
    from counterplay.poker.buckets.bucket_game import BucketGame
    from counterplay.runtime.progress import Progress, ProgressCallback
    from counterplay.tree.history.game_tree import GameTree

DEFAULT_SECONDS = 10.0


def command(
    game: o.GameName,
    algorithms: Annotated[
        str,
        typer.Option(
            "--algorithms", "-a", help="Which, separated by commas; settings in brackets: cfr+,probing(probes=2)."
        ),
    ],
    seeds: Annotated[int, typer.Option(help="Number of runs of each algorithm that makes random choices.")] = 5,
    seconds: Annotated[float | None, typer.Option(help="Of each run (default 10); measuring is not counted.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Of each run, instead of seconds.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Histories that each run may touch, instead of seconds.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw curves against iterations, histories and seconds (.png, .svg).")
    ] = None,
    forget: o.Forget = None,
    cards: o.Cards = None,
    bets: Annotated[
        str | None, typer.Option(help="With --cards: betting abstraction of a no-limit game, as fcpa or 0.5,1,allin.")
    ] = None,
    boards: Annotated[
        int | None,
        typer.Option(min=1, help="With --cards: boards to sample for measuring, instead of counting all of them."),
    ] = None,
    real: Annotated[
        bool, typer.Option("--real", help="With --cards: measure in the real game, where its public tree fits.")
    ] = False,
    memory_limit: o.MemoryLimit = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress lines.")] = False,
    as_json: o.AsJson = False,
) -> int:
    """Run algorithms on a game with several seeds and report their exploitability with 95 % intervals.

    Ctrl-C stops and reports the runs that were finished.  With --forget the abstract game is solved and exploitability
    is measured there.  With --cards the bucket game is solved; exploitability is measured in it, over all boards unless
    --boards says otherwise, or with --real in the real game.
    """
    check_writable(plot)
    check_plot(plot)
    if seeds < 1:
        raise SolverError(f"--seeds must be at least 1; got {seeds}")
    from counterplay.experiments.shared.comparison import Budget, compare, parse_algorithms
    from counterplay.forms import GameForms
    from counterplay.poker.buckets.bucket_game import BucketGame

    if iterations is None and nodes is None and seconds is None:
        seconds = DEFAULT_SECONDS
    budget = Budget(iterations, nodes, seconds)
    parse_algorithms(algorithms)  # raises before the game is compiled
    limit = read_memory(memory_limit)
    if not cards and (real or boards is not None or bets is not None):
        raise GameError("--bets, --boards and --real are for games in buckets; name a card abstraction with --cards")
    with compile_status(game, quiet or as_json) as opening:
        forms = GameForms(game, forget=forget or [], cards=cards, bets=bets, memory_limit=limit, progress=opening)
        tree: BucketGame | GameTree = forms.buckets() if cards else forms.history()
        measured_by = _measured_by(forms, tree, boards, real, opening) if isinstance(tree, BucketGame) else None
    callback = None if quiet or as_json else _progress(budget.limit, budget.axis)
    with interruptible():
        found = compare(tree, algorithms, budget, seeds, measured_by=measured_by, memory_limit=limit, callback=callback)
    return _report(found, plot, as_json)


def _report(found: Comparison, plot: Path | None, as_json: bool) -> int:
    """Plot and print what was found; the exit code."""
    if found.interrupted:
        note(f"stopped; these are the {len(found.runs)} runs that were finished")
    if plot is not None:
        _plot(found, plot)
    if as_json:
        print_json({**found.to_dict(), "plot": None if plot is None else str(plot)})
    else:
        _say(found, plot)
    return 130 if found.interrupted else 0


def _plot(found: Comparison, path: Path) -> None:
    from counterplay.experiments.shared.comparison import AXES
    from counterplay.plots.convergence import plot_bands

    panels = [(axis, {name: found.band(name, axis) for name in found.algorithms}) for axis in AXES]
    plot_bands(path, panels, found.game, ("uniform play", found.uniform))


def _measured_by(
    forms: GameForms, game: BucketGame, boards: int | None, real: bool, progress: ProgressCallback | None
) -> BucketPairs | RealGame:
    """What measures strategies of a bucket game."""
    from counterplay.evaluation.bucket_pairs import count_bucket_pairs
    from counterplay.evaluation.lifted_buckets import RealGame, check_real_game

    if not real:
        return count_bucket_pairs(game, boards, progress=progress)
    if boards is not None:
        raise GameError("--boards is for measuring in the bucket game; leave it out, or leave out --real")
    check_real_game(game, forms.memory_limit)
    return RealGame(game, forms.public())


def _progress(limit: float, axis: str) -> ProgressCallback:
    """A line for each run on standard error when it is done."""

    def report(now: Progress) -> None:
        if getattr(now, axis) >= limit:
            name = f"{now.stage}, {now.detail}" if now.detail else now.stage
            note(f"{name}: exploitability {chips(now.exploitability)} after {now.seconds:.1f} s")

    return report


def _say(found: Comparison, plot: Path | None) -> None:
    limit = figure(found.budget.limit, 10) if found.budget.axis == "seconds" else f"{found.budget.limit:,.0f}"
    say(f"{found.game}: {limit} {found.budget.axis} for each run; mean and 95 % interval over the seeds")
    head = ("algorithm", "runs", "exploitability", "±", "iterations", "nodes", "seconds")
    cells = [head]
    for row in found.rows():
        half = row["interval"]
        cells.append((
            row["algorithm"], str(row["runs"]), chips(row["exploitability"]), "" if half is None else figure(half, 2),
            f"{row['iterations']:,.0f}", f"{row['nodes']:,.0f}", f"{row['seconds']:.2f}",
        ))  # fmt: skip
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for line in cells:
        first, *others = (
            text.ljust(width) if place == 0 else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        say("  ".join(["", first, *others]).rstrip())
    say(f"  uniform play: {chips(found.uniform)} chips per game")
    if found.measured:
        say(f"  exploitability is measured {found.measured}")
    if plot is not None:
        say(f"  plot: {plot}")
