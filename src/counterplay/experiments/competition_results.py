"""The three-player limit events of the Annual Computer Poker Competition, 2010 to 2013, and tournaments beside them.

Gibson 2014, tables 8.1 to 8.4, which are ``shared/competition_results.csv``: winnings by *bankroll*, over all pairs of
opponents, and in each round of the *run-off*, after which the agent with the least leaves.  The agents of others are
not available, so nothing is reproduced; ``folder`` puts a tournament of our own under them, in the same form.
The bankroll event of 2013 has no table, and all that is said of the agent that entered it for Alberta is that it models
its opponents and has another author (section 8.4); so there is no recipe of it in ``build.recipes``.
Table 8.2 calls one agent Bnold3 in four rounds and Bnold4 in the fifth; it is one here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from importlib import resources
from typing import NamedTuple

from counterplay.agents.tournaments import Tournament
from counterplay.errors import CounterplayError
from counterplay.experiments.shared.experiment import Cell, Experiment

YEARS = (2010, 2011, 2012, 2013)


class Placing(NamedTuple):
    """What an agent won in an event, or in a round of it, in mbb/g; the interval is None if it was not published."""

    year: int
    event: str
    round: int
    agent: str
    mbb: float
    mbb_95: float | None


def published_results() -> tuple[Placing, ...]:
    """All of tables 8.1 to 8.4."""
    text = resources.files("counterplay.experiments.shared").joinpath("competition_results.csv").read_text("utf-8")
    return tuple(
        Placing(int(row["year"]), row["event"], int(row["round"]), row["agent"], float(row["mbb"]),
                float(row["mbb_95"]) if row["mbb_95"] else None)
        for row in csv.DictReader(io.StringIO(text))
    )  # fmt: skip


def run(quick: bool = False, year: int | None = None, folder: str | None = None) -> Experiment:
    """Print the published results.

    Parameters
    ----------
    quick : bool
        The same.
    year : int, optional
        One year alone.
    folder : str, optional
        The folder of a tournament, finished or not, to be put under them.
    """
    if year is not None and year not in YEARS:
        raise CounterplayError(f"results are published for {', '.join(map(str, YEARS))}; got {year}")
    rows = list(_rows([placing for placing in published_results() if year in (None, placing.year)]))
    notes = ["Winnings in mbb/g with 95 % intervals; intervals of 2013 were published for the last round only."]
    if folder is not None:
        rows += _own(folder)
        notes.append(f"{folder}: our agents; by bankroll and in each round of the run-off, as the published ones.")
    rounds = max(len(row) - 3 for row in rows)
    return Experiment(
        title="Three-player limit events of the Annual Computer Poker Competition",
        source="Gibson 2014, tables 8.1 to 8.4",
        columns=("year", "event", "agent", *(f"round {number + 1}" for number in range(rounds))),
        rows=tuple((*row, *(None,) * (3 + rounds - len(row))) for row in rows),
        notes=tuple(notes),
    )


def _rows(placings: list[Placing]) -> Iterator[tuple[Cell, ...]]:
    """A row for each agent of an event, its rounds side by side, in the order of the source."""
    met: dict[tuple[int, str, str], list[Cell]] = {}
    for one in placings:
        met.setdefault((one.year, one.event, one.agent), []).append(_text(one.mbb, one.mbb_95))
    for (year, event, agent), cells in met.items():
        yield str(year), event, agent, *cells


def _own(folder: str) -> Iterator[tuple[Cell, ...]]:
    """The rows of a tournament."""
    result = Tournament(folder).result()
    if result.missing:
        raise CounterplayError(
            f"{folder} lacks {result.missing:,} pieces of its matches; resume it: counterplay tournament {folder}"
        )
    for agent, won in result.bankroll():
        yield "ours", "bankroll", result.names[agent], _text(won.mean, won.half)
    steps = [dict(step.table) for step in result.run_off()]
    for agent in steps[0] if steps else ():
        cells = [_text(step[agent].mean, step[agent].half) for step in steps if agent in step]
        yield "ours", "run-off", result.names[agent], *cells


def _text(mean: float, half: float | None) -> str:
    """A cell."""
    return f"{mean:g}" if half is None else f"{mean:.4g} ± {half:.3g}"
