"""``counterplay respond``: a counter-strategy to a model of an opponent, and curves of what such strategies win."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli import observed
from counterplay.cli import options as o
from counterplay.cli.common import check_plot, check_writable, compile_status, note, print_json, say, say_next, table
from counterplay.cli.completions import complete_game, complete_kind, complete_opponent
from counterplay.cli.running import counted_progress, progress_line
from counterplay.cli.solve import read_settings
from counterplay.errors import SolverError
from counterplay.runtime.number_text import figure
from counterplay.runtime.signals import interruptible

if TYPE_CHECKING:
    from counterplay.modelling import Response, ResponseCurve
    from counterplay.modelling.counter_strategy import ResponseKind

MODEL_HELP = f"What the opponent plays: a strategy file, or {o.OPPONENTS}."
KIND_HELP = (
    "rnr: restricted Nash response; dbr: data biased response; mixture: of best response and equilibrium; best: best "
    "response; safe: the best with an exploitability of at most --epsilon.  Several with --curve: rnr,dbr,mixture."
)
P_HELP = (
    "Probability that the opponent plays the model (rnr), or share of the best response (mixture); for dbr as --pmax."
)
PMAX_HELP = "With dbr: the most that a prediction is trusted, from 0 to 1."
CURVE_HELP = "Solve for each of these values of p or Pmax, and compare: 0,0.5,0.9,1, or grid for the usual nine."
Model = Annotated[str | None, typer.Option(help=MODEL_HELP, autocompletion=complete_opponent)]
GameName = Annotated[
    str | None,
    typer.Option("--game", help=f"The game, if not the model's own. {o.GAME_HELP}", autocompletion=complete_game),
]
Kind = Annotated[str, typer.Option(help=KIND_HELP, autocompletion=complete_kind)]
Probability = Annotated[float | None, typer.Option("--p", help=P_HELP)]
Pmax = Annotated[float | None, typer.Option(help=PMAX_HELP)]
Epsilon = Annotated[float | None, typer.Option(help="With safe: the exploitability that it may have, in chips.")]
TrueOpponent = Annotated[
    str | None,
    typer.Option("--true", help="The opponent itself, where it is known: measures what the response wins from it."),
]
Curve = Annotated[str | None, typer.Option(metavar="P,P,...|grid", help=CURVE_HELP)]
Csv = Annotated[Path | None, typer.Option("--csv", help="With --curve: write the points to this file.")]
Plot = Annotated[Path | None, typer.Option(help="With --curve: draw exploitation against exploitability (.png, .svg).")]
AlgorithmName = Annotated[
    str | None,
    typer.Option("--algorithm", "-a", help="For rnr, dbr and mixture: a linear program for small games by default."),
]
UntilText = Annotated[
    str | None,
    typer.Option(help="Stop this near to the solution of the restricted game: chips (1e-4) or mbb/g (5mbb)."),
]
Boards = Annotated[
    str | None,
    typer.Option(help="With --cards: count pairs of buckets on all boards, or on so many sampled ones (all, 10000)."),
]
Pairs = Annotated[Path | None, typer.Option(help="With --cards: keep the counted pairs of buckets in this file.")]
Bets = Annotated[str | None, typer.Option(help="With --cards: betting abstraction of a no-limit game, as fcpa.")]


def command(
    game: GameName = None,
    model: Model = None,
    kind: Kind = "dbr",
    p: Probability = None,
    pmax: Pmax = None,
    epsilon: Epsilon = None,
    true: TrueOpponent = None,
    log: observed.Log = None,
    more_logs: observed.MoreLogs = None,
    against: observed.Against = None,
    confidence: observed.ConfidenceName = None,
    default: observed.Default = None,
    broken: observed.Broken = None,
    observations: observed.Kept = None,
    cards: o.Cards = None,
    bets: Bets = None,
    boards: Boards = None,
    pairs: Pairs = None,
    curve: Curve = None,
    csv: Csv = None,
    plot: Plot = None,
    algorithm: AlgorithmName = None,
    iterations: o.Iterations = None,
    seconds: o.Seconds = None,
    until: UntilText = None,
    seed: o.Seed = None,
    threads: o.Threads = None,
    settings: o.Settings = None,
    out: o.Out = None,
    checkpoint: o.Checkpoint = None,
    resume: o.Resume = None,
    memory_limit: o.MemoryLimit = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> int:
    """Solve for a counter-strategy: it wins more from an opponent than an equilibrium, and gives little away to others.

    counterplay respond --game leduc --model tight --kind rnr --p 0.9 --out counter.strategy

    counterplay respond --game leduc --model tight --kind rnr,dbr,mixture --curve grid --plot curve.png

    counterplay respond --log matches/*.log --against NAME --kind dbr --pmax 0.9 --cards ps5.cpa --boards 10000
    """
    return _run(dict(locals()))


def _run(given: dict[str, Any]) -> int:
    """Respond, or draw the curve of responses; returns the exit code."""
    check_writable(given["csv"], given["plot"])
    check_writable(given["out"], given["checkpoint"], replaced=True)
    check_plot(given["plot"])
    for name in ("csv", "plot") if given["curve"] is None else ("out", "p", "pmax", "epsilon"):
        if given[name] is not None:
            other = "is for --curve" if given["curve"] is None else "is for a single response, not for a curve"
            raise SolverError(f"--{name} {other}; leave it out")
    in_logs = observed.is_observed(given)
    if not in_logs and given["model"] is None:
        raise SolverError(
            "say what the opponent plays: --model FILE, the name of one, as --model uniform, or --log FILE"
        )
    given["asked"] = _asked(given) if given["curve"] is None else _asked_curve(given)
    if in_logs:
        given["model"] = observed.observed_model(given)
        given["game"] = given["model"].observations.form
    return _respond(given) if given["curve"] is None else _draw_curve(given)


def _asked(given: dict[str, Any]) -> ResponseKind:
    """What is asked for."""
    from counterplay.modelling.counter_strategy import ResponseKind, find_kind

    if given["p"] is not None and given["pmax"] is not None:
        raise SolverError("--p and --pmax are the same number: --pmax for dbr, --p for the others")
    kind = find_kind(given["kind"])
    if kind in ("rnr", "mixture") and given["pmax"] is not None:
        raise SolverError(f"--pmax is for dbr; the number of {kind} is --p")
    return ResponseKind(kind, given["p"] if given["pmax"] is None else given["pmax"], given["epsilon"])


def _asked_curve(given: dict[str, Any]) -> tuple[list[str], list[float]]:
    """The kinds and the values of p of a curve."""
    from counterplay.modelling.counter_strategy import ResponseKind, find_kind, read_grid

    kinds, grid = (
        [find_kind(word.strip()) for word in given["kind"].split(",") if word.strip()],
        read_grid(given["curve"]),
    )
    for p in grid:
        ResponseKind("rnr", p)  # refuses what is no probability
    return kinds, list(grid)


def _respond(given: dict[str, Any]) -> int:
    from counterplay.modelling.response_runs import prepare_response

    silent = given["quiet"] or given["as_json"]
    with compile_status(str(given["game"] or "the game"), silent) as opening:
        run = prepare_response(given["game"], given["model"], given["asked"], given["true"], _settings(given, opening))
    with interruptible(), progress_line(run.goal, silent, "gap") as draw:
        found = run.run(draw)
    if given["as_json"]:
        print_json({**found.to_dict(), **_observed(given)})
    else:
        for line in found.notes:
            note(f"warning: {line}")
        say(found.title)
        table(found.rows())
        say_next(*_next(found, given))
    return 130 if found.status == "interrupted" else 0


def _settings(given: dict[str, Any], opening: Any) -> dict[str, Any]:
    """What ``respond`` takes as settings."""
    from counterplay.runs import RunOptions

    fields = [one.name for one in dataclasses.fields(RunOptions)]
    names = [*(name for name in fields if name in given and name != "curve"), "algorithm", "until", "resume"]
    names += ["pairs", "iterations", "seconds"]
    chosen = {name: given[name] for name in names if given[name] is not None}
    return chosen | {"note": note, "opening": opening} | read_settings(given["settings"] or [])


def _next(found: Response, given: dict[str, Any]) -> list[tuple[str, str]]:
    """The next commands and what they do."""
    if found.status == "interrupted":
        file = shlex.quote(str(found.files["checkpoint"]))
        return [(f"counterplay respond ... --resume {file}", "the same command with this option continues")]
    if given["out"] is None:
        return [("counterplay respond ... --out FILE", "keep the counter-strategy")]
    own = " --trust" if ".py" in found.measurement.game else ""
    file = shlex.quote(str(given["out"]))
    rows = [(f"counterplay show {file}{own}", "see what it plays")]
    rows.append((f"counterplay evaluate {file}{own}", "measure it in the real game"))
    opponent = given["true"] or (None if _observed(given) else given["model"])
    if opponent is not None:
        rows.append((f"counterplay match {file} {shlex.quote(str(opponent))}{own}", "play it against the opponent"))
    return rows


def _observed(given: dict[str, Any]) -> dict[str, Any]:
    """What JSON says about the hands that the model was made from; empty if from none."""
    seen = getattr(given["model"], "observations", None)
    return {} if seen is None else observed.observed_facts(seen)


def _draw_curve(given: dict[str, Any]) -> int:
    from counterplay.modelling.response_curves import prepare_curve

    kinds, grid = given["asked"]
    silent = given["quiet"] or given["as_json"]
    with compile_status(str(given["game"] or "the game"), silent) as opening:
        run = prepare_curve(given["game"], given["model"], kinds, grid, given["true"], _settings(given, opening))
    with interruptible(), counted_progress("solving", silent) as draw:
        found = run.solve(draw)
    if given["csv"] is not None:
        found.to_csv(given["csv"])
    if given["plot"] is not None and found.points:
        found.plot(given["plot"])
    files = {name: None if given[name] is None else str(given[name]) for name in ("csv", "plot")}
    if given["as_json"]:
        print_json({**found.to_dict(), **_observed(given), **files})
    else:
        _print(found)
        for file in filter(None, files.values()):
            say(f"wrote {file}")
    if not found.complete:
        again = f"the same command with --resume {shlex.quote(str(found.checkpoint))} continues"
        note(f"stopped after {len(found.points)} of {found.total} points; {again}")
    return 0 if found.complete else 130


def _print(found: ResponseCurve) -> None:
    factor, unit = found.unit
    inside = " inside the bucket game" if found.inside else ""
    known = any(point.value_against_true is not None for point in found.points)
    say(f"{found.game}: what responses risk{inside}, and what they win, {unit}")
    heads = [
        "kind",
        "p",
        "exploitability",
        "wins from the model",
        *(["wins from the opponent"] if known else []),
        "gap",
    ]
    rows = [heads]
    for point in found.points:
        numbers = [factor * point.exploitability, factor * point.value_against_model]
        numbers += [] if point.value_against_true is None else [factor * point.value_against_true]
        words = [figure(0.0 if abs(number) < 1e-9 else number, 5) for number in numbers]
        rows.append([point.kind, f"{point.p:.4g}", *words, figure(factor * point.gap, 2)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        say("  " + "  ".join(f"{word:>{width}}" for word, width in zip(row, widths, strict=True)))
