"""Families of card abstractions in [2-4] hold'em: what the equilibrium of each bucket game loses in the real game.

Johanson 2016, figures 4.4 and 4.5, curves "A-vs-A": with five buckets a round and perfect recall (1,790 information
sets) CFR reaches 144 mbb/g in the real game, with 169 and 570 buckets and imperfect recall (41,252) 103.  The source
does not name the features of its buckets, so several are tried.  Every bucket game is solved by public chance sampling,
and its strategy is measured exactly, by best responses in the real game.  It is also measured during the run, because
exploitability in the real game falls at first and can rise again while it keeps falling in the bucket game (section
4.1).

The features of a game that ends after the flop can be hand strength on the flop, or the hand strength of Texas
hold'em, which looks ahead to the river (``:river``).  ``two-round`` is the abstraction of Gibson et al. 2012: five
buckets of E[HS²], looking ahead to the river, where a class of starting hands goes to the bucket of its midpoint.
"""

from __future__ import annotations

import re

import numpy as np

from counterplay.abstraction.cards import CardAbstraction
from counterplay.errors import AbstractionError
from counterplay.experiments.shared.bucket_games import cards_of, five_buckets
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.experiments.shared.real_game_checks import follow_cards, growing
from counterplay.forms import open_game

GAME = "holdem_2_4"
RUNOUT = (1, 1)
"""What Texas hold'em deals after the flop."""

FAMILIES = (
    "two-round", "PS5/PS5:river", "PE5/PE5:river", "PS5/PS5", "KE5/KE5:river",
    "IR169/KE570:river", "IR169/KO570", "IR169/KE570", "IR169/PS570:river",
)  # fmt: skip
"""Abstractions that are tried: five buckets with perfect recall, then 169 and 570 with imperfect recall."""

QUICK = ("PS3/PS3", "IRlossless/KE12")

PUBLISHED = {1790: 144.0, 41252: 103.0}
"""Exploitability in the real game, mbb/g, by number of information sets."""


def family_cards(family: str, game: str, threads: int = 1) -> CardAbstraction:
    """The card abstraction of a family, such as ``IR169/KE570:river``."""
    if family == "two-round":
        return five_buckets(threads)
    text, colon, ahead = re.split(r"(:(?=[a-z]+$)|$)", family, maxsplit=1)  # T:PS5 is a part of the buckets
    if colon and ahead != "river":
        raise AbstractionError(f"features look ahead to the river, written PS5/PS5:river, or not; got {family!r}")
    return cards_of(game, text, threads=threads, runout=RUNOUT if colon else ())


def run(
    quick: bool = False, families: tuple[str, ...] | None = None, game: str | None = None, boards: int | None = None,
    points: int | None = None, seed: int = 0, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Solve the bucket games and measure their strategies in the real game.

    Parameters
    ----------
    quick : bool
        A deck of 18 cards, two families and 400 boards instead of 52 cards, nine families and 40,000 boards.
    families : tuple of str, optional
        Others: recipes as for ``counterplay abstract --rounds``, with slashes, and ``:river`` after those that look
        ahead.
    game : str, optional
        Another game of two rounds.
    boards, points, seed : int, optional
        Boards sampled in each run, how often its strategy is measured, each time after four times as many boards as
        before, and the seed of the boards.
    threads : int
        For features, bucket pair counts and best responses; solving uses one.
    """
    name = game or ("holdem_2_4(ranks=6,suits=3)" if quick else GAME)
    tree = open_game(name, "public")
    boards, points = boards or (400 if quick else 40_000), points or (3 if quick else 4)
    marks = growing(boards, points, 4.0)
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    with keeping_rows():
        for family in families or (QUICK if quick else FAMILIES):
            cards = family_cards(family, tree.name, threads)
            infosets, (curve,) = follow_cards(tree, cards, marks, [seed], threads, np.float32)
            last, best = curve[-1], min(curve, key=lambda point: point.real)
            rows.append((
                family, infosets, last.iterations, last.cpu_seconds, last.abstract, last.real, best.real,
                best.iterations, PUBLISHED.get(infosets) if name == GAME else None,
            ))  # fmt: skip
            curves[family] = [float(point.iterations) for point in curve], [point.real for point in curve]
    return Experiment(
        title=f"Exploitability of bucket game equilibria in {name}, mbb/g",
        source="Johanson 2016, figures 4.4 and 4.5, A-vs-A",
        columns=("buckets", "information sets", "boards", "CPU s", "in the bucket game", "in the real game",
                 "lowest during the run", "after boards", "published, real game"),
        rows=tuple(rows),
        notes=(
            "The source does not name its features; agreement with its numbers does not prove which they were.",
            "With imperfect recall nothing can be measured inside the bucket game.",
        ),
        curves=curves,
        xlabel="boards",
    )  # fmt: skip
