"""``counterplay build``: from the rules of a poker game to an agent, in one folder; resumable."""

from __future__ import annotations

import shlex
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli import options as o
from counterplay.cli.abstract import ROUNDS_HELP
from counterplay.cli.common import note, print_json, say, say_next, table
from counterplay.cli.completions import complete_preset
from counterplay.cli.running import live_progress, time_left
from counterplay.errors import GameError
from counterplay.runtime.signals import interruptible

if TYPE_CHECKING:
    from counterplay.runtime.progress import Progress, ProgressCallback

_PANEL = "With --preset portfolio"

QUIET_SECONDS = 30.0
"""How often a line is written where there is no terminal."""


EXPERTS_HELP = (
    "Betting after which experts with finer cards play, such as f,rf; or none.  By default with three players: "
    "f,rf,rrf,rcf."
)
RECIPE_HELP = (
    "A published agent, cut to the preset: 2009, 2009-tbr, 2010, 2010-tbr, 2011, 2012, 2013 (three players), 797m, "
    "nolimit-2011."
)
LOG_HELP = (
    "Logged hands (ACPC log, .phh, .phhs); others may follow: --log *.log.  With --preset portfolio: of the opponents, "
    "who are put into clusters by how they bet; each cluster gets a data biased response.  With the recipes 2012 and "
    "2013: in which important betting is found; without logs the agent plays against itself."
)
OBJECTIVE_HELP = "equilibrium, or unexploitable: what loses least in the real game (CFR-BR), beside the equilibrium."


PresetName = Annotated[
    str,
    typer.Option(
        help="tiny (a minute), laptop (ten minutes on two cores) or evening (two hours); several strategies, "
        "among which an agent chooses: polaris (the components of 2008) or portfolio (with --log; half an hour).",
        autocompletion=complete_preset,
    ),
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="The folder; by default GAME-PRESET.  A build there is resumed.")
]
MoreLogs = Annotated[list[Path] | None, typer.Argument(metavar="LOG", help="More logs, after --log.")]
Log = Annotated[list[Path] | None, typer.Option("--log", "--logs", help=LOG_HELP)]
Player = Annotated[
    str | None, typer.Option(metavar="NAME", help="Whose decisions in the logs count; A,B are one player.")
]
Bets = Annotated[str | None, typer.Option(help="Betting abstraction of a no-limit game, such as fcpa or 0.5,1,allin.")]
Boards = Annotated[int | None, typer.Option(help="Boards sampled for the bucket pair counts, if there are many.")]
Cache = Annotated[
    Path | None, typer.Option(help="Folder for features; by default $COUNTERPLAY_CACHE or the user's cache.")
]
Against = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", help="Who in the logs are opponents; by default all.", rich_help_panel=_PANEL),
]
Clusters = Annotated[
    int | None, typer.Option(help="Clusters of opponents; at most four by default.", rich_help_panel=_PANEL)
]
Pmax = Annotated[
    float | None,
    typer.Option(help="The most that data are trusted, from 0 to 1; 0.75 by default.", rich_help_panel=_PANEL),
]


def command(
    game: o.GameName,
    more_logs: MoreLogs = None,
    preset: PresetName = "laptop",
    out: Out = None,
    objective: Annotated[str, typer.Option(help=OBJECTIVE_HELP)] = "equilibrium",
    experts: Annotated[str | None, typer.Option(metavar="SEQUENCES|none", help=EXPERTS_HELP)] = None,
    recipe: Annotated[str | None, typer.Option(help=RECIPE_HELP)] = None,
    log: Log = None,
    player: Player = None,
    against: Against = None,
    clusters: Clusters = None,
    pmax: Pmax = None,
    rounds: Annotated[str | None, typer.Option(help=f"In place of the preset's cards. {ROUNDS_HELP}")] = None,
    bets: Bets = None,
    seconds: Annotated[float | None, typer.Option(help="All stages together, in place of the preset's.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Iterations of the solver, in place of a time.")] = None,
    boards: Boards = None,
    deals: Annotated[int | None, typer.Option(help="Different deals of each match.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    threads: Annotated[int | None, typer.Option(help="Threads, in place of the preset's.")] = None,
    cache: Cache = None,
    memory_limit: o.MemoryLimit = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: o.AsJson = False,
) -> int:
    """Build an agent: card abstraction, solution of the bucket game, evaluation.

    Finished stages are not repeated: after Ctrl-C or a kill, the same command resumes the build.
    """
    from counterplay.build import build

    if more_logs and not log:
        raise GameError(f"say what {more_logs[0]} is: --log FILE or --out FOLDER")
    logs = [str(path) for path in (*(log or ()), *(more_logs or ()))]
    chosen: dict[str, Any] = {
        "rounds": rounds, "bets": bets, "seconds": seconds, "iterations": iterations, "boards": boards, "deals": deals,
        "threads": threads, "cache": cache, "objective": objective, "experts": experts, "recipe": recipe,
        "logs": logs or None, "player": player, "against": against, "clusters": clusters, "pmax": pmax,
    }  # fmt: skip
    with interruptible(), _progress(quiet or as_json) as draw:
        try:
            report = build(game, preset, out, memory_limit=memory_limit, progress=draw, seed=seed, **chosen)
        except KeyboardInterrupt:
            note("stopped; finished stages are kept, and this resumes the build:")
            options = {"preset": preset, "out": out, "seed": seed or None, "memory-limit": memory_limit, **chosen}
            note(f"  {_again(game, {**options, 'log': options.pop('logs')})}")
            return 130
    folder = Path(report["folder"])
    plot = _plot(folder, report)
    if as_json:
        print_json(report)
    else:
        _summarise(report, folder, plot)
    return 0


def _again(game: str, options: dict[str, Any]) -> str:
    """The command with these options, which can be pasted."""
    given = {name: value if isinstance(value, list) else [value] for name, value in options.items()}
    words = [f"--{name}={value}" for name, values in given.items() for value in values if value is not None]
    return shlex.join(["counterplay", "build", game, *words])


def _plot(folder: Path, report: dict[str, Any]) -> bool:
    """Draw exploitability in the bucket game against time; whether there was anything to draw."""
    from counterplay.plots.convergence import plot_lines

    points = [point for point in report["curve"] if point["exploitability"] is not None]
    if not points:
        return False
    factor = report["abstract"]["exploitability_mbb"] / max(report["abstract"]["exploitability"], 1e-300)
    line = [point["seconds"] for point in points], [factor * point["exploitability"] for point in points]
    title = f"{report['game']}: {report['rounds']}"
    label = "exploitability in the bucket game (mbb/g)"
    name = report.get("equilibrium", report)["algorithm"]
    plot_lines(folder / "curve.png", {name: line}, title, "seconds of solving", label)
    return True


def _summarise(report: dict[str, Any], folder: Path, plot: bool) -> None:
    from counterplay.build.build_report import build_rows

    kind = "a portfolio" if "members" in report else "an agent"
    say(f"{report['game']}: {kind} by the preset {report['preset']}, objective {report['objective']}")
    files = ["report.md", "report.json", *(["curve.png"] if plot else [])]
    table([
        *build_rows(report),
        ("seconds", f"{report['seconds']:.0f}, {report['cpu_seconds']:.0f} of processors"),
        ("agent", report["agent"]),
        ("report", ", ".join(str(folder / name) for name in files)),
    ])  # fmt: skip
    seats = len(_seats(report))
    names = " ".join(["always-call"] * (seats - 1))
    agent, game = shlex.quote(str(report["agent"])), shlex.quote(report["game"])
    members = report.get("members")
    bounds = (f"counterplay evaluate {agent} --bounds 100", "bound its exploitability in the real game")
    say_next(
        (f"counterplay play {agent}", "play against it"),
        (f"counterplay match {agent} {names}{' --show' if members else ''}", "let it play against others"),
        *([bounds] if seats == 2 and not members else []),
        (f"counterplay agent {agent} {game} HOST PORT", "play it at a dealer's table"),
    )


def _seats(report: dict[str, Any]) -> range:
    from counterplay.forms import poker_definition

    return range(poker_definition(report["game"]).players)


def _progress(quiet: bool) -> AbstractContextManager[ProgressCallback | None]:
    """A bar for each stage on a terminal; a line for each stage, and at intervals, elsewhere."""

    def show(step: Progress) -> tuple[str, dict[str, Any]]:
        state = "" if step.share == 1.0 else f"{step.detail}{time_left(step)}"
        return step.stage, {"completed": step.share, "state": state}

    columns = ("{task.description:<32}", "bar", "percent", "elapsed", "{task.fields[state]}")
    return live_progress(quiet, _lines(), columns, show)


def _lines() -> ProgressCallback:
    stage, last = "", 0.0

    def draw(step: Progress) -> None:
        nonlocal stage, last
        now = time.monotonic()
        if step.stage != stage or (now - last > QUIET_SECONDS and step.share < 1.0):
            text = step.stage if step.stage != stage else f"{step.stage}: {step.detail}, {100 * step.share:.0f} %"
            note(text + time_left(step))
            stage, last = step.stage, now

    return draw
