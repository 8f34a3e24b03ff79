"""Strategies stitched from parts in Leduc hold'em: base strategies, static and dynamic experts, grafts.

Gibson 2014, tables 7.1 and 7.2; ``experiments/shared/stitching.py`` has the setting.  Sizes are exact.  Earnings are
what a strategy wins from all strategies of the table with other base abstractions, in the mean over seats; both they
and exploitability are computed exactly from strategies that were sampled.

Differences:

* By default runs are much shorter than the published 100 million iterations: ``--set iterations=100000000``.
* Chance-sampled runs depend on their random numbers, and abstract games have several equilibria, so amounts differ.
* With three players the opponents are drawn independently, so that both may play the same strategy.
* Grafts for three players have 3,021 and 1,992 information sets by the rules, published: 3,017 and 1,977.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from counterplay.errors import CounterplayError
from counterplay.experiments.shared.experiment import Cell, Experiment
from counterplay.experiments.shared.observed_opponent import temporary_folder, yes
from counterplay.experiments.shared.stitching import (
    BASES,
    Row,
    Setting,
    earnings,
    exploitability_of,
    open_leduc,
    row_size,
    solve_jobs,
    stitch_row,
)

PUBLISHED: dict[tuple[int, Row], tuple[int, int, int | None]] = {
    (players, Row(base, strategy, symmetric)): amounts
    for players, base, symmetric, rows in (
        (2, "null", True, {"Base": (468, 48, 1), "Grafted": (468, 46, 1), "Static.All": (468, 43, 38),
                           "Static.Preflop": (468, 48, 9)}),
        (2, "JQ-K", True, {"Base": (132, 39, 496), "Dynamic": (444, 54, 160), "Grafted": (226, 47, 168),
                           "Static.All": (186, 51, 433), "Static.Preflop": (186, 48, 214)}),
        (2, "JQ-K", False, {"Dynamic": (288, -32, 517), "Grafted": (159, 38, 587), "Static.All": (132, 43, 812),
                            "Static.Preflop": (132, 51, 643)}),
        (2, "J-QK", True, {"Base": (132, -166, 740), "Dynamic": (444, -8, 124), "Grafted": (226, -35, 332),
                           "Static.All": (186, -89, 609), "Static.Preflop": (186, -48, 335)}),
        (2, "J-QK", False, {"Dynamic": (288, -47, 631), "Grafted": (159, -28, 531), "Static.All": (132, -112, 1119),
                            "Static.Preflop": (132, -65, 954)}),
        (3, "null", True, {"Base": (6939, 71, None), "Grafted": (6939, 91, None), "Static.All": (6939, 69, None),
                           "Static.Preflop": (6939, 68, None)}),
        (3, "JQ-K", True, {"Base": (1890, -185, None), "Dynamic": (6903, -100, None), "Grafted": (3017, -126, None),
                           "Static.All": (2145, -158, None), "Static.Preflop": (2145, -155, None)}),
        (3, "JQ-K", False, {"Dynamic": (3561, -134, None), "Grafted": (1977, -145, None),
                            "Static.All": (1890, -163, None), "Static.Preflop": (1890, -158, None)}),
        (3, "J-QK", True, {"Base": (1890, -67, None), "Dynamic": (6903, 105, None), "Grafted": (3017, 100, None),
                           "Static.All": (2145, 107, None), "Static.Preflop": (2145, 110, None)}),
        (3, "J-QK", False, {"Dynamic": (3561, 72, None), "Grafted": (1977, 60, None), "Static.All": (1890, 78, None),
                            "Static.Preflop": (1890, 81, None)}),
    )
    for strategy, amounts in rows.items()
}  # fmt: skip
"""Size, earnings and exploitability (two players), the amounts in thousandths of an ante."""

COLUMNS = ("base", "strategy", "abstraction", "infosets", "published", "earnings", "published", "exploitability",
           "published")  # fmt: skip

QUICK = 20_000
"""Iterations for a first look."""


def run(
    quick: bool = False, players: int = 2, iterations: int = 1_000_000, bases: tuple[str, ...] = BASES,
    folder: str | None = None, workers: int = 1, seed: int = 0,
) -> Experiment:  # fmt: skip
    """Solve the parts, stitch them together and measure every strategy.

    Parameters
    ----------
    quick : bool
        Short runs.
    players : int
        Two for table 7.1, three for table 7.2.
    iterations : int
        Of chance sampling, in each run.
    bases : tuple of str
        The base abstractions, some of ``BASES``; earnings are against those that are here.
    folder : str, optional
        Where everything is kept as it is finished; the same command continues.
    workers : int
        Runs at a time, each in a thread of its own.
    seed : int
        Of the first run.
    """
    if players not in (2, 3):
        raise CounterplayError(f"the tables are of 2 and of 3 players; got {players}")
    for base in bases:
        if base not in BASES:
            raise CounterplayError(f"base abstractions are some of {','.join(BASES)}; got {base!r}")
    setting = Setting(players, QUICK if quick else iterations, seed)
    wanted = [row for row in setting.rows() if row.base in bases]
    with temporary_folder(folder) as place:
        found = solve_jobs(setting, wanted, Path(place), workers)
    stitched = [(row, table) for row in wanted if (table := stitch_row(setting, row, found)) is not None]
    rows, tables = [row for row, _ in stitched], [table for _, table in stitched]
    tree = open_leduc(players).real
    lost = {row: 1000.0 * exploitability_of(tree, table) for row, table in stitched} if players == 2 else {}
    won = [1000.0 * amount for amount in earnings(tree, rows, tables)]
    return Experiment(
        title=f"Stitched strategies in Leduc hold'em for {players} players, thousandths of an ante",
        source=f"Gibson 2014, table 7.{players - 1}",
        columns=COLUMNS,
        rows=tuple(_line(setting, row, amount, lost.get(row)) for row, amount in zip(rows, won, strict=True)),
        notes=(
            f"Runs of chance sampling have {setting.iterations:,} iterations, published: 100,000,000.",
            "infosets: the most of any run that a strategy needs.",
            *verdicts(setting, lost),
        ),
    )


def _line(setting: Setting, row: Row, won: float, lost: float | None) -> tuple[Cell, ...]:
    size, earned, exploited = PUBLISHED[setting.players, row]
    kind = "" if row.base == "null" or row.strategy == "Base" else "symmetric" if row.symmetric else "asymmetric"
    return (row.base, row.strategy, kind, row_size(setting, row), size, round(won, 1), earned,
            None if lost is None else round(lost, 1), exploited)  # fmt: skip


def verdicts(setting: Setting, lost: dict[Row, float]) -> Iterator[str]:
    """What the source says of exploitability, and whether it is so here."""
    for base in BASES[1:]:
        each = {strategy: lost.get(Row(base, strategy)) for strategy in ("Base", "Static.All", "Grafted", "Dynamic")}
        amounts = [amount for amount in each.values() if amount is not None]
        if len(amounts) == len(each):
            first, static, graft, last = amounts
            yield (
                f"{base}, symmetric: the base is more exploitable than static experts and grafts, and those more than "
                f"dynamic experts: {yes(first > max(static, graft) and min(static, graft) > last)}."
            )
    null = lost.get(Row("null", "Base"))
    if null is not None:
        yield f"The null base is exploitable for {null:.2f}, published: 1."
