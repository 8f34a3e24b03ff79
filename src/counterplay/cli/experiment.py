"""``counterplay experiment``: a published table or figure reproduced, with the published numbers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_workers, check_writable, note, print_json, say
from counterplay.cli.completions import complete_experiment
from counterplay.cli.solve import read_settings
from counterplay.errors import CounterplayError
from counterplay.experiments import EXPERIMENTS, Cell, Experiment, options_of, run_experiment
from counterplay.experiments.record.missing_results import missing_runs, run_missing, store_result
from counterplay.experiments.record.pages import write_pages
from counterplay.experiments.record.published import published_rows
from counterplay.experiments.scales import check_scale
from counterplay.runtime.executors import on_cluster
from counterplay.runtime.number_text import figure
from counterplay.runtime.signals import interruptible
from counterplay.runtime.suggestions import find_name

Name = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="Which one; without it they are listed.", autocompletion=complete_experiment),
]


def command(
    name: Name = None,
    scale: Annotated[
        str | None,
        typer.Option(
            help="quick, a smaller version for a first look; hour, the largest that fits two cores in an hour; or full "
            "(default). With --pages: first run what has no stored result at this scale."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Short for --scale quick.")] = False,
    options: Annotated[
        list[str] | None, typer.Option("--set", help="An option of the experiment: --set iterations=200.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the numbers to this JSON file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the curves into this file (.png, .svg).")] = None,
    listed: Annotated[
        bool,
        typer.Option("--list", help="Every published table and figure: what makes it again, and whether ours agrees."),
    ] = False,
    pages: Annotated[
        Path | None, typer.Option(help="Write one page for each chapter from the stored results in this folder's data.")
    ] = None,
    cluster: o.Cluster = None,
    workers: o.Workers = None,
    as_json: o.AsJson = False,
) -> int:
    """Reproduce a published table or figure and print it with the published numbers.

    Ctrl-C stops and reports the rows that were finished; --out and --plot keep them.
    """
    chosen = _read_scale(scale, quick)
    if name is None or listed or pages is not None:
        if name is not None:
            raise CounterplayError(f"--list and --pages are about all experiments; leave {name!r} out")
        code = 0 if pages is None or chosen is None else _run_missing(pages, chosen)
        _say_record(listed, pages, as_json)
        return code
    check_writable(out, plot)
    started = time.perf_counter()
    settings = read_settings(options or [])
    for option in settings.keys() & {"name", "quick", "scale"}:
        raise CounterplayError(f"{option} is not given by --set; write counterplay experiment NAME --scale quick")
    chosen = chosen or "full"
    _check_cluster(name, cluster, workers)
    with interruptible(), on_cluster(cluster, workers):
        experiment = run_experiment(name, chosen, **settings)
    if experiment.interrupted:
        note(f"stopped; {name} has these rows only, those that were finished")
    if out is not None:
        store_result(out, experiment, chosen, options or [], time.perf_counter() - started)
    if plot is not None:
        _plot(experiment, plot)
    if as_json:
        print_json(experiment.to_dict())
    else:
        _say(experiment)
        say(f"({time.perf_counter() - started:.1f} s)")
    return 130 if experiment.interrupted else 0


def _read_scale(scale: str | None, quick: bool) -> str | None:
    """The scale that was asked for; None without one."""
    if scale is not None and quick and scale != "quick":
        raise CounterplayError(f"--quick is short for --scale quick; leave it out, or --scale {scale}")
    return "quick" if quick else None if scale is None else check_scale(scale)


def _check_cluster(name: str, cluster: str | None, workers: int | None) -> None:
    """Refuse a cluster where it has nothing to do, and workers without one."""
    check_workers(cluster, workers, "--set workers=N is for this machine")
    found = find_name(name, EXPERIMENTS)
    if cluster is not None and found is not None and "workers" not in options_of(found):
        raise CounterplayError(f"{found} has no jobs that a cluster could share; leave out --cluster")


def _plot(experiment: Experiment, path: Path) -> None:
    if experiment.curves:
        from counterplay.plots.convergence import plot_lines

        plot_lines(path, experiment.curves, experiment.title, experiment.xlabel, "")
    else:
        note(f"{experiment.name} has no curves to plot")


def _run_missing(pages: Path, scale: str) -> int:
    """Run what the record lacks at a scale; the exit code."""
    try:
        with interruptible():
            for run in run_missing(pages / "data", scale, note):
                note(f"stored: {run.path}; its verdict belongs into the row of {'; '.join(run.labels)}")
    except KeyboardInterrupt:
        note("stopped; what was finished is stored, and the same command does the rest")
        return 130
    return 1 if missing_runs(pages / "data", scale) else 0


def _say_record(listed: bool, pages: Path | None, as_json: bool) -> None:
    """The experiments, or the tables and figures; pages are written first."""
    if pages is not None:
        for path in write_pages(pages):
            note(f"written: {path}")
        if not listed:
            return
    rows = published_rows()
    if as_json:
        print_json({"published": [row.to_dict() for row in rows]} if listed else {"experiments": EXPERIMENTS})
    elif listed:
        _say_table(
            ("document", "label", "experiment", "machine and scales", "stored", "verdict"),
            [(row.document, row.label, ",".join(row.experiments), row.machine, row.scale, row.verdict) for row in rows],
        )
    else:
        width = max(map(len, EXPERIMENTS))
        for known, summary in EXPERIMENTS.items():
            say(f"{known:<{width}}  {summary}")


def _say(experiment: Experiment) -> None:
    say(experiment.title)
    say(experiment.source)
    say()
    _say_table(experiment.columns, experiment.rows)
    for text in experiment.notes:
        say(f"* {text}")


def _say_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    cells = [list(columns), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(columns))]
    for place, row in enumerate(cells):
        say("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if place == 0:
            say("  ".join("-" * width for width in widths))


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return figure(cell, 6)
    return f"{cell:,}" if isinstance(cell, int) else cell
