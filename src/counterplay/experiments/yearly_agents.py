"""The agents of 2009 to 2013 against each other, cut to a preset: table 8.5 of Gibson 2014 in kind.

Each agent is built by the recipe of its year (``counterplay.build.recipes``), all by one preset, and every three of
them play a match with all six seatings of each deal.  There the agents had 155 million to 38.8 billion information sets
and weeks of large machines, so numbers cannot agree; what can is whether each year beats the one before.

Everything is kept in a folder, from which a run that was stopped is resumed: the builds, each in a folder of its own,
and the tournament.  Builds use the threads of the preset, or ``threads``, one after another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path

from counterplay.agents.tournaments import Tournament, TournamentConfig, TournamentResult
from counterplay.build import build
from counterplay.errors import GameError
from counterplay.evaluation.matches.tally import Estimate
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.experiments.shared.paired_gains import paired_gain

YEARS = ("2009", "2010", "2011", "2012", "2013")
GAME = "holdem_limit_3p"

PUBLISHED: Mapping[tuple[str, str, str], tuple[int, int, int]] = {
    ("2009", "2010", "2011"): (-21, 0, 21), ("2009", "2010", "2012"): (-26, -5, 31),
    ("2009", "2010", "2013"): (-28, -10, 38), ("2009", "2011", "2012"): (-31, 6, 25),
    ("2009", "2011", "2013"): (-35, 3, 33), ("2009", "2012", "2013"): (-35, 11, 25),
    ("2010", "2011", "2012"): (-23, 8, 16), ("2010", "2011", "2013"): (-27, -3, 30),
    ("2010", "2012", "2013"): (-27, 3, 24), ("2011", "2012", "2013"): (-12, 0, 12),
}  # fmt: skip
"""What each of three agents won from the other two, mbb/g."""

OVERALL: Mapping[str, int] = {"2009": -29, "2010": -16, "2011": 4, "2012": 14, "2013": 27}
"""The means over all pairs of others."""


def run(
    quick: bool = False, folder: str = "yearly-agents", preset: str | None = None, seconds: float | None = None,
    iterations: int | None = None, deals: int | None = None, threads: int | None = None, workers: int = 1,
) -> Experiment:  # fmt: skip
    """Build the agents and play the tournament.

    Parameters
    ----------
    quick : bool
        The preset tiny with 100,000 iterations, and 500 deals a match, instead of laptop and 20,000.
    folder : str
        Where everything is kept; another run with the same settings resumes there.
    preset : str, optional
        Of the builds: tiny, laptop or evening.
    seconds, iterations : optional
        Of each build, in place of the preset's.
    deals : int, optional
        Deals of each match.
    threads, workers : int
        Threads of each build, and processes that play the tournament; each worker holds all agents of a match.
    """
    where, dealt = Path(folder), deals or (500 if quick else 20_000)
    chosen = preset or ("tiny" if quick else "laptop")
    if quick and seconds is None and iterations is None and preset is None:
        iterations = 100_000
    if iterations is not None and seconds is not None:
        raise GameError("a build has seconds or iterations; leave out one of them")
    said: list[str] = []
    agents: dict[str, str] = {}
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        for year in YEARS:
            report = build(
                GAME, chosen, where / year, recipe=year, seconds=seconds, iterations=iterations, threads=threads,
                deals=min(dealt, 1000),
            )  # fmt: skip
            agents[year] = str(report["agent"])
            said += [f"{year}: {line}." for line in report["departures"]]
        config = TournamentConfig(
            GAME, tuple(f"{year}={path}" for year, path in agents.items()), dealt, piece=max(1, dealt // 4)
        )
        result = Tournament(where / "tournament", config).run(workers)
        rows += _rows(result)
        said = [*_verdicts(result), *said]
    return Experiment(
        title=f"Five agents by the recipes of their years, preset {chosen}; {dealt:,} deals in six seatings, mbb/g",
        source="Gibson 2014, table 8.5",
        columns=("agent", "against", "published", "mbb/g", "±"),
        rows=tuple(rows),
        notes=tuple(said),
    )  # fmt: skip


def _rows(result: TournamentResult) -> Iterator[tuple[Cell, ...]]:
    """What each agent won from each pair of others, and over all pairs."""
    cross = result.cross_table()
    for place, year in enumerate(result.names):
        for (agent, others), won in cross.items():
            if agent == place:
                names = tuple(result.names[other] for other in others)
                three = tuple(sorted((year, *names)))
                published = PUBLISHED.get(three)  # type: ignore[arg-type]
                printed = None if published is None else published[three.index(year)]
                yield year, ", ".join(names), printed, *_rounded(won)
    for agent, won in sorted(result.bankroll()):
        name = result.names[agent]
        yield name, "all", OVERALL.get(name), *_rounded(won)


def _rounded(won: Estimate) -> tuple[float, float | None]:
    """A mean and its interval to a tenth of an mbb/g."""
    return round(won.mean, 1), None if won.half is None else round(won.half, 1)


def _verdicts(result: TournamentResult) -> Iterator[str]:
    """Whether tables sum to zero, and whether each agent beats the one of the year before where both sit."""
    scores = result.scores()
    worst = max(abs(sum(estimate.mean for estimate in row)) for row in scores.values())
    yield f"The winnings at each table sum to 0 within {worst:.1g} mbb/g."
    overall = {result.names[agent]: won for agent, won in result.bankroll()}
    matches = {agents: result.match(agents) for agents in result.tallies}
    unit = 1.0 if result.big_blind is None else 1000.0 / result.big_blind
    for before, after in itertools.pairwise(result.names):
        gain = paired_gain(matches, result.names.index(after), result.names.index(before), unit)
        sure = "beats" if gain.mean > gain.half else "loses to" if gain.mean < -gain.half else "is level with"
        published = OVERALL[after] - OVERALL[before] if after in OVERALL and before in OVERALL else None
        printed = "" if published is None else f" (published: {published:+d})"
        yield (
            f"{after} {sure} {before}: {gain.mean:+.1f} ± {gain.half:.1f} mbb/g where both sit, "
            f"{overall[after].mean - overall[before].mean:+.1f} overall{printed}."
        )
