"""``counterplay warm``: compile all kernels now, so that no first use has to."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from counterplay.cli import options as o
from counterplay.cli.common import note, print_json, say
from counterplay.cli.running import live_progress

if TYPE_CHECKING:
    from counterplay.runtime.progress import Progress, ProgressCallback


def command(quiet: o.Quiet = False, as_json: o.AsJson = False) -> None:
    """Compile all kernels, so that no first use has to wait for it; those in the cache are not compiled again."""
    from counterplay.warming import warm

    with _progress(quiet or as_json) as draw:
        report = warm(draw)
    if as_json:
        print_json(dataclasses.asdict(report))
        return
    times = f"{report.seconds:.0f} s, {report.cpu_seconds:.0f} CPU s"
    if not report.kernels:
        say(f"All kernels are compiled already ({times} to see that).")
    else:
        say(f"{len(report.kernels)} kernels compiled in {times}.")
    if report.folder is None:
        say("They are not kept: there is no folder to write them into; set NUMBA_CACHE_DIR to one.")
    else:
        say(f"They are below {report.folder}.")


def _progress(quiet: bool) -> AbstractContextManager[ProgressCallback | None]:
    """A bar on a terminal, a line now and then elsewhere."""

    def line(now: Progress) -> None:
        if now.iterations % 10 == 0:
            note(f"{now.iterations} of {now.total} steps, {now.seconds:.0f} s: {now.detail}")

    columns = ("{task.description}", "bar", "{task.fields[detail]}", "elapsed")
    return live_progress(quiet, line, columns, lambda now: ("compiling", {"detail": now.detail}))
