"""Overfitting: closer to equilibrium in the bucket game, more exploitable in the real game.

Johanson 2016, figures 2.6, 4.6 and 4.7 (sections 2.6 and 4.1): with ten buckets and perfect recall in Texas hold'em,
exploitability in the real game falls to 277 mbb/g and then rises to 305 while CFR continues; with 9000 buckets and
imperfect recall it falls to 241 and rises to 289.  Exact best responses in Texas hold'em take days; here the game is
[2-4] hold'em with 18 cards, where every checkpoint is measured exactly, in the real game and, with perfect recall, in
the bucket game.
"""

from __future__ import annotations

import numpy as np

from counterplay.abstraction.cards import build_cards, deck_shape, parse_recipe
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.evaluation.lifted_buckets import RealGame
from counterplay.experiments.shared.experiment import Cell, Experiment
from counterplay.experiments.shared.real_game_checks import Point, follow, growing
from counterplay.forms import open_game, poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.mccfr import MccfrConfig
from counterplay.tree.public.public_tree import PublicTree

__all__ = ["PUBLISHED", "run"]

BUCKETS = ("PS2/PS12", "IRlossless/KE12")
"""Perfect recall, and imperfect recall; each is coarse about the board."""

PUBLISHED = {"perfect": (277.0, 305.0), "imperfect": (241.0, 289.0)}
"""In Texas hold'em, by recall: the lowest exploitability during the run and the last, mbb/g."""


def run(
    quick: bool = False,
    game: str = "holdem_2_4(ranks=6,suits=3)",
    buckets: tuple[str, ...] = BUCKETS,
    boards: int | None = None,
    seeds: int | None = None,
) -> Experiment:
    """Solve bucket games and measure checkpoints.

    Parameters
    ----------
    quick : bool
        4,000 boards and 1 seed instead of 16,000 and 3.
    game : str
        A game of two players whose public tree fits into memory.
    buckets : tuple of str
        Card abstractions, as for ``counterplay abstract --rounds``, with slashes.
    boards : int, optional
        Boards sampled in each run.
    seeds : int, optional
        Number of runs of each abstraction.
    """
    boards, seeds = boards or (4000 if quick else 16_000), seeds or (1 if quick else 3)
    tree = open_game(game, "public")
    rows: list[tuple[Cell, ...]] = []
    curves: dict[str, tuple[list[float], list[float]]] = {}
    for text in buckets:
        recall, infosets, mean = _mean_curve(text, tree, boards, seeds)
        low, last = min(mean, key=lambda point: point.real or 0.0), mean[-1]
        for name, point in (("lowest", low), ("last", last)):
            published = PUBLISHED[recall][name == "last"]
            rows.append((text, recall, infosets, name, point.iterations, point.abstract, point.real, published))
        xs = [float(point.iterations) for point in mean]
        curves[f"{text}, real game"] = xs, [point.real or 0.0 for point in mean]
        if recall == "perfect":
            curves[f"{text}, bucket game"] = xs, [point.abstract or 0.0 for point in mean]
    return Experiment(
        name="overfitting",
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


def _mean_curve(text: str, tree: PublicTree, boards: int, seeds: int) -> tuple[str, int, list[Point]]:
    """Recall, information sets and the mean of the curves of an abstraction."""
    definition = poker_definition(tree.name)
    deck, shape = deck_shape(definition)
    cards = build_cards(deck, shape, parse_recipe(text, deck, shape))
    game = BucketGame.build(definition, cards.rounds, name=tree.name)
    pairs = count_bucket_pairs(game) if cards.recall == "perfect" else None
    real = RealGame(game, tree)
    marks = growing(boards, int(np.log2(max(boards, 16) / 8)), 2.0)
    runs = [
        follow(BucketSolver(game, MccfrConfig("public", seed=seed), "pcs-boards"), marks, pairs, real)
        for seed in range(seeds)
    ]
    mean = []
    for points in zip(*runs, strict=True):
        inside = None if pairs is None else float(np.mean([point.abstract for point in points]))
        outside = float(np.mean([point.real for point in points]))
        seconds = float(np.mean([point.cpu_seconds for point in points]))
        mean.append(Point(points[0].iterations, seconds, inside, outside))
    return cards.recall, game.num_infosets, mean
