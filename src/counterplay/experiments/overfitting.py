"""Overfitting: closer to equilibrium in the bucket game, more exploitable in the real game.

Johanson 2016, figures 2.6, 4.6 and 4.7 (sections 2.6 and 4.1): with ten buckets and perfect recall in Texas hold'em,
exploitability in the real game falls to 277 mbb/g and then rises to 305 while CFR continues; with 9000 buckets and
imperfect recall it falls to 241 and rises to 289.  Exact best responses in Texas hold'em take days; here the game is
[2-4] hold'em with 18 cards, where every checkpoint is measured exactly, in the real game and, with perfect recall, in
the bucket game.
"""

from __future__ import annotations

import numpy as np

from counterplay.experiments.shared.bucket_games import cards_of
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.experiments.shared.real_game_checks import Point, follow_cards, growing
from counterplay.forms import open_game

BUCKETS = ("PS2/PS12", "IRlossless/KE12")
"""Perfect recall, and imperfect recall; each is coarse about the board."""

PUBLISHED = {"perfect": (277.0, 305.0), "imperfect": (241.0, 289.0)}
"""In Texas hold'em, by recall: the lowest exploitability during the run and the last, mbb/g."""


def run(
    quick: bool = False, game: str = "holdem_2_4(ranks=6,suits=3)", buckets: tuple[str, ...] = BUCKETS,
    boards: int | None = None, seeds: int | None = None,
) -> Experiment:  # fmt: skip
    """Solve bucket games and measure checkpoints.

    Parameters
    ----------
    quick : bool
        4,000 boards and 1 seed instead of 16,000 and 3.
    game : str
        A game of two players whose public tree fits into memory.
    buckets : tuple of str
        Card abstractions, as for ``counterplay abstract --rounds``, with slashes.
    boards, seeds : int, optional
        Boards sampled in each run, and runs of each abstraction.
    """
    boards, seeds = boards or (4000 if quick else 16_000), seeds or (1 if quick else 3)
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
            for name, point, published in zip(("lowest", "last"), (low, last), PUBLISHED[cards.recall], strict=True):
                rows.append(
                    (text, cards.recall, infosets, name, point.iterations, point.abstract, point.real, published)
                )
            xs = [float(point.iterations) for point in mean]
            curves[f"{text}, real game"] = xs, [point.real for point in mean]
            if cards.recall == "perfect":
                curves[f"{text}, bucket game"] = xs, [point.abstract or 0.0 for point in mean]
    return Experiment(
        title=f"Exploitability, mbb/g, {game}, {seeds} seeds",
        source="Johanson 2016, figures 2.6, 4.6 and 4.7",
        columns=("buckets", "recall", "information sets", "real game", "boards", "bucket game, mbb/g",
                 "real game, mbb/g", "published, Texas hold'em"),
        rows=tuple(rows),
        notes=(
            "The source has Texas hold'em with 57 million information sets: compare the shape, not the numbers.",
            "With imperfect recall nothing can be measured inside the bucket game.",
        ),
        curves=curves,
        xlabel="boards",
    )  # fmt: skip


def _mean(points: tuple[Point, ...]) -> Point:
    """The mean of the checkpoints of several runs after the same iterations."""
    inside = None if points[0].abstract is None else float(np.mean([point.abstract for point in points]))
    outside, seconds = (float(np.mean([getattr(point, what) for point in points])) for what in ("real", "cpu_seconds"))
    return Point(points[0].iterations, seconds, inside, outside)
