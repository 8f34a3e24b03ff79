"""Overfitting: closer to equilibrium in the bucket game, more exploitable in the real game.

Johanson 2016, figures 2.6, 4.6 and 4.7 (sections 2.6 and 4.1): with ten buckets and perfect recall in Texas hold'em,
exploitability in the real game falls to 277 mbb/g and then rises to 305 while CFR continues; with 9000 buckets and
imperfect recall it falls to 241 and rises to 289.  CFR-BR with the same buckets does not overfit, and ends at 93.539
and at 60.687 (its average; the current strategy at 92.638 and 61.339).  Exact best responses in Texas hold'em take
days; here the game is [2-4] hold'em with 18 cards, where every checkpoint is measured exactly, in the real game and,
with perfect recall, in the bucket game.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from counterplay.experiments.shared.bucket_games import bucket_game, cards_of
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.experiments.shared.real_game_checks import Point, cfr_br_trunk, follow_cards, follow_robust, growing
from counterplay.forms import open_game

BUCKETS = ("PS2/PS12", "IRlossless/KE12")
"""Perfect recall, and imperfect recall; each is coarse about the board."""

PUBLISHED = {"perfect": (277.0, 305.0), "imperfect": (241.0, 289.0)}
"""In Texas hold'em, by recall: the lowest exploitability during the run and the last, mbb/g."""

ROBUST = {"perfect": (93.539, 92.638), "imperfect": (60.687, 61.339)}
"""The same of CFR-BR: the average strategy and the current one."""


def run(
    quick: bool = False, game: str = "holdem_2_4(ranks=6,suits=3)", buckets: tuple[str, ...] = BUCKETS,
    boards: int | None = None, seeds: int | None = None, iterations: int | None = None,
) -> Experiment:  # fmt: skip
    """Solve bucket games and measure checkpoints.

    Parameters
    ----------
    quick : bool
        4,000 boards, 1 seed and 1,000 iterations of CFR-BR instead of 16,000, 3 and 16,000.
    game : str
        A game of two players whose public tree fits into memory.
    buckets : tuple of str
        Card abstractions, as for ``counterplay abstract --rounds``, with slashes.
    boards, seeds : int, optional
        Boards sampled in each run, and runs of each abstraction.
    iterations : int, optional
        Iterations of CFR-BR, with a trunk of half of the rounds.
    """
    boards, seeds = boards or (4000 if quick else 16_000), seeds or (1 if quick else 3)
    steps = growing(iterations or (1000 if quick else 16_000), 8, 2.0)
    tree = open_game(game, "public")
    marks = growing(boards, int(np.log2(max(boards, 16) / 8)), 2.0)
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    with keeping_rows():
        for text in buckets:
            cards = cards_of(tree.name, text)
            infosets, runs = follow_cards(tree, cards, marks, range(seeds))
            mean = [_mean(points) for points in zip(*runs, strict=True)]
            low, last = min(mean, key=lambda point: point.real), mean[-1]
            for name, one, published in zip(("lowest", "last"), (low, last), PUBLISHED[cards.recall], strict=True):
                rows.append((text, cards.recall, infosets, name, one.iterations, one.abstract, one.real, published))
            xs = [point.cpu_seconds for point in mean]
            curves[f"{text}, real game"] = xs, [point.real for point in mean]
            if cards.recall == "perfect":
                curves[f"{text}, bucket game"] = xs, [point.abstract or 0.0 for point in mean]
            solver = cfr_br_trunk(bucket_game(tree.name, cards))
            robust = list(follow_robust(solver, steps, solver.measure))
            xs = [point.cpu_seconds for point in robust]
            for name, published in zip(("average", "current"), ROBUST[cards.recall], strict=True):
                values = [float(getattr(point, name)) for point in robust]
                rows.append((text, cards.recall, infosets, f"CFR-BR, {name}", steps[-1], None, values[-1], published))
                curves[f"{text}, CFR-BR, {name}"] = xs, values
    return Experiment(
        title=f"Exploitability, mbb/g, {game}, means of {seeds} runs",
        source="Johanson 2016, figures 2.6, 4.6 and 4.7",
        columns=("buckets", "recall", "information sets", "real game", "boards", "bucket game, mbb/g",
                 "real game, mbb/g", "published, Texas hold'em"),
        rows=tuple(rows),
        notes=(
            *verdicts(rows),
            "The source has Texas hold'em with 57 million information sets: compare the shape, not the numbers.",
            "With imperfect recall nothing can be measured inside the bucket game.",
            "An iteration of CFR-BR samples the board of the first half of the rounds.",
        ),
        curves=curves,
        xlabel="CPU seconds",
    )  # fmt: skip


def verdicts(rows: list[tuple[Cell, ...]]) -> Iterator[str]:
    """By how much the real game gets worse while the bucket game gets better, and how CFR-BR compares."""
    found = {(str(row[0]), str(row[1]), str(row[3])): (float(row[5] or 0), float(row[6] or 0)) for row in rows}
    for buckets, recall, what in found:
        if what != "last":
            continue
        (before, low), (after, last) = found[buckets, recall, "lowest"], found[buckets, recall, "last"]
        first, then = PUBLISHED[recall]
        inside = f" while it falls from {before:.1f} to {after:.1f} in the bucket game" if recall == "perfect" else ""
        yield (f"{buckets}: after its lowest point exploitability rises by {100 * (last / low - 1):.0f} %{inside} "
               f"(published {100 * (then / first - 1):.0f} %).")  # fmt: skip
        robust = found.get((buckets, recall, "CFR-BR, average"))
        if robust is not None:
            yield (f"{buckets}: the average of CFR-BR has {robust[1] / low:.2f} times the exploitability of CFR at its "
                   f"lowest point (published {ROBUST[recall][0] / first:.2f}).")  # fmt: skip


def _mean(points: tuple[Point, ...]) -> Point:
    """The mean of the checkpoints of several runs after the same iterations."""
    inside = None if points[0].abstract is None else float(np.mean([point.abstract for point in points]))
    outside, seconds = (float(np.mean([getattr(point, what) for point in points])) for what in ("real", "cpu_seconds"))
    return Point(points[0].iterations, seconds, inside, outside)
