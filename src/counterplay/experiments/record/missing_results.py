"""Running what the record has no result of: one experiment after another, each result stored when it is finished.

The same call resumes: what is stored is not run again, and experiments that keep their work in a folder get one beside
the results, so that a run that was stopped continues there.
"""

from __future__ import annotations

import datetime
import json
import platform
import re
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.errors import CounterplayError
from counterplay.experiments import Experiment, made_at, options_of, run_experiment
from counterplay.experiments.record.pages import answers, stored_results
from counterplay.experiments.record.published import published_rows, settings_of
from counterplay.experiments.scales import OWN, SCALES, SHOWN, scales_of
from counterplay.runtime.threads import available_cores
from counterplay.storage import write_text

__all__ = ["Missing", "missing_runs", "run_missing", "scale_of_result", "store_result"]

CORES = 2
"""Threads and processes of a run, where an experiment takes them."""

WORK = "unfinished"
"""The folder beside the results with what experiments keep of their work."""


class Missing(NamedTuple):
    """A run that has no stored result: the experiment, its options, the file, and the rows of the record."""

    experiment: str
    options: dict[str, Any]
    path: Path
    labels: tuple[str, ...]


def missing_runs(data: Path, scale: str) -> list[Missing]:
    """The runs of the record that have no stored result at this scale or a larger one, in the order of the pages."""
    stored = stored_results(data)
    found = [row for row in published_rows() if row.verdict not in ("out of reach", "nothing to compute")]
    labels: dict[Path, list[str]] = {}
    runs: dict[Path, Missing] = {}
    for row, name in [(one, name) for one in found for name in one.experiments]:
        takes = options_of(name)
        options = {option: value for option, value in row.options.items() if option in takes}
        wanted = made_at(name, scale, options)
        known = [
            result["made"]["scale"]
            for result in stored.values()
            if answers(result, row, name) and not result.get("interrupted")
        ]
        if any(other != OWN and SCALES.index(other) >= SCALES.index(scale) for other in known):
            continue
        words = [name, *(re.sub(r"[^\w.+-]+", "-", str(value)) for value in options.values())]
        path = data / ("-".join([*words, *([] if wanted == "full" else [wanted])]) + ".json")
        labels.setdefault(path, []).append(f"{row.document}, {row.label}")
        runs[path] = Missing(name, options, path, ())
    return [run._replace(labels=tuple(labels[path])) for path, run in runs.items()]


def run_missing(data: Path, scale: str, report: Callable[[str], None]) -> Iterator[Missing]:
    """Run them one after another; each is given when its result is stored.  Ctrl-C keeps those that were finished."""
    runs = missing_runs(data, scale)
    cores = min(CORES, available_cores())
    for place, run in enumerate(runs):
        takes = options_of(run.experiment)
        options = run.options | {option: cores for option in ("threads", "workers") if option in takes}
        if scales_of(run.experiment, run.options).resumes:
            options["folder"] = str(data.parent / WORK / run.path.stem)
        texts = [f"{option}={value}" for option, value in options.items()]
        report(f"{place + 1} of {len(runs)}: counterplay experiment {run.experiment} {' '.join(texts)}")
        started = time.perf_counter()
        try:
            found = run_experiment(run.experiment, scale, **options)
        except CounterplayError as error:
            report(f"{run.experiment} has no result: {error}")
            continue
        if found.interrupted:
            raise KeyboardInterrupt
        store_result(run.path, found, scale, texts, time.perf_counter() - started)
        yield run


def scale_of_result(name: str, scale: str, options: Mapping[str, Any]) -> str:
    """The scale of a result, or OWN if its options change how much is done, other than those of rows of the record."""
    asked = {option for row in published_rows() if name in row.experiments for option in row.options}
    changed = {option: value for option, value in options.items() if option not in asked | SHOWN}
    if scale == "quick" or not changed:
        return made_at(name, scale, options)
    return "hour" if scale == "full" and changed == scales_of(name, options).hour else OWN


def store_result(path: Path, found: Experiment, scale: str, options: Sequence[str], seconds: float) -> None:
    """Write a result with how it was made, for the pages of the record; ``options`` are texts such as ``seeds=3``."""
    words = ["counterplay", "experiment", found.name]
    words += {"quick": ["--quick"], "hour": ["--scale", "hour"], "full": []}[scale]
    made = {
        "command": shlex.join([*words, *(word for option in options for word in ("--set", option))]),
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {available_cores()} cores",
        "scale": scale_of_result(found.name, scale, settings_of(options)),
        "seconds": round(seconds, 1),
    }
    write_text(path, json.dumps({**found.to_dict(), "made": made}, indent=1) + "\n")
