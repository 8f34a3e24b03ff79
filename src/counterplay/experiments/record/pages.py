"""The pages of the record, one for each chapter of the source documents, from the stored results of experiments.

A stored result is what ``counterplay experiment NAME --out FILE`` writes: the table with the published numbers and
ours, and under ``made`` the command, the date, the machine, the scale and the seconds.
"""

from __future__ import annotations

import json
import shlex
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from counterplay.errors import CounterplayError
from counterplay.experiments.record.published import VERDICTS, Published, published_rows, settings_of
from counterplay.experiments.scales import OWN
from counterplay.experiments.shared.experiment import Cell
from counterplay.runtime.number_text import figure
from counterplay.storage import write_text

__all__ = ["answers", "pages_of_record", "stored_result", "stored_results", "write_pages"]

WRITTEN = (
    "*Written by `make record` from the rows in `src/counterplay/experiments/record` and the results in [data](data); "
    "change those, not this page.*"
)


def write_pages(folder: Path) -> list[Path]:
    """Write all pages into a folder, which has the stored results in ``data``; the paths of the pages."""
    pages = pages_of_record(folder / "data")
    for name, text in pages.items():
        write_text(folder / name, text)
    return [folder / name for name in pages]


def pages_of_record(data: Path) -> dict[str, str]:
    """The text of every page by its file name; ``README.md`` lists them."""
    rows = published_rows()
    stored = stored_results(data)
    judged = {name for row in rows for name in row.results}
    fresh = {name: result for name, result in stored.items() if name not in judged}
    chapters = [(heading, list(found)) for heading, found in groupby(rows, key=_heading)]
    pages = {"README.md": _index(rows, chapters)}
    for heading, found in chapters:
        shown = {
            row.label: (
                *row.results,
                *(name for name in fresh if any(answers(fresh[name], row, e) for e in row.experiments)),
            )
            for row in found
        }
        pages[_file(heading)] = "\n".join(_page(heading, found, shown, data)) + "\n"
    return pages


def stored_results(data: Path) -> dict[str, dict[str, Any]]:
    """All stored results of a folder, by the names of their files without ``.json``."""
    return {path.stem: stored_result(path) for path in sorted(data.glob("*.json"))}


def answers(result: Mapping[str, Any], row: Published, experiment: str) -> bool:
    """Whether a stored result is of this experiment, with the settings of a row."""
    if result["experiment"] != experiment:
        return False
    words = shlex.split(result["made"]["command"])
    given = settings_of(word for option, word in pairwise(words) if option == "--set")
    return all(
        set(str(value).split(",")) <= set(str(given.get(name)).split(",")) for name, value in row.options.items()
    )


def stored_result(path: Path) -> dict[str, Any]:
    """A stored result, checked for what the pages need."""
    try:
        result = json.loads(path.read_text("utf-8"))
        for needed in ("title", "columns", "rows", "notes", "experiment"):
            result[needed]
        for needed in ("command", "date", "machine", "scale", "seconds"):
            result["made"][needed]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CounterplayError(
            f"{path} is not the stored result of an experiment ({type(error).__name__}: {error}); "
            f"make it again by counterplay experiment NAME --out {path}"
        ) from None
    return dict(result)


def _heading(row: Published) -> str:
    if not row.chapter:
        return row.document
    return f"{row.document}, {'chapter' if row.chapter.isdigit() else 'appendix'} {row.chapter}"


def _file(heading: str) -> str:
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
    words = plain.replace(",", "").replace(".", "").split()
    return "-".join(word for word in words if word not in ("chapter", "appendix")) + ".md"


def _index(rows: Sequence[Published], chapters: Sequence[tuple[str, list[Published]]]) -> str:
    counts = Counter(row.verdict for row in rows)
    lines = [
        "# Every published table and figure beside ours",
        "",
        WRITTEN,
        "",
        f"{len(rows)} tables and figures of the five source documents. *Agrees* means the published numbers up to "
        "their rounding; *agrees in shape* what the source concludes, with other numbers, often in a smaller game. "
        "`counterplay experiment --list` prints all rows. "
        f"The scale *{OWN}* is a run with other settings than those of a scale, mostly smaller; the command beside the "
        "result names them.",
        "",
        *_table(("verdict", "tables and figures"), [(verdict, counts[verdict]) for verdict in VERDICTS]),
        "",
        *_table(
            ("chapter", *VERDICTS),
            [
                (f"[{heading}]({_file(heading)})", *(sum(row.verdict == v for row in found) or None for v in VERDICTS))
                for heading, found in chapters
            ],
        ),
    ]
    return "\n".join(lines) + "\n"


def _page(heading: str, rows: Sequence[Published], shown: Mapping[str, Sequence[str]], data: Path) -> Iterator[str]:
    """The lines of a page; ``shown`` has the stored results of each row, those without a verdict too."""
    yield from (f"# {heading}", "", WRITTEN, "")
    yield from _table(
        ("", "what it shows", "experiment", "settings", "scale", "verdict", "why"),
        [(row.label, row.about, ", ".join(f"`{name}`" for name in row.experiments),
          f"`{row.settings}`" if row.settings else "", row.scale, row.verdict, row.reason) for row in rows],
    )  # fmt: skip
    for name in dict.fromkeys(name for row in rows for name in shown[row.label]):
        result = stored_result(data / f"{name}.json")
        made = result["made"]
        labels = ", ".join(row.label for row in rows if name in shown[row.label])
        yield from ("", f"## {labels}: {result['title']}", "", "```", made["command"], "```", "")
        scale = OWN if made["scale"] == OWN else f"{made['scale']} scale"
        where = f"{made['date']}, {made['machine']}, {scale}, {made['seconds']} s"
        judged = "" if any(name in row.results for row in rows) else " No verdict yet."
        yield f"{where}; [numbers](data/{name}.json).{judged}"
        yield ""
        yield from _table(result["columns"], result["rows"])
        if result["notes"]:
            yield ""
            yield from (f"* {note}" for note in result["notes"])


def _table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    yield "| " + " | ".join(map(_text, columns)) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(map(_text, row)) + " |"


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return figure(cell, 6)
    return f"{cell:,}" if isinstance(cell, int) else cell.replace("|", "\\|")
