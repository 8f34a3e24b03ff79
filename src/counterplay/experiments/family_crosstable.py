"""Families of card abstractions head to head: every equilibrium of a bucket game against every other one.

Johanson 2016, tables 5.3 and 11.3: eighteen abstractions of Texas hold'em with 57 million information sets each, solved
by public chance sampling, ten million duplicate hands for each pair.  Here the game has four rounds too, with one raise
in a round and a smaller deck, so that values are exact: what one strategy wins from the other in the real game, the
mean of both seats.

In the source every family with imperfect recall beats every one with perfect recall, and KE-KO is first.  The notes say
whether that is so here.
"""

from __future__ import annotations

import itertools

import numpy as np

from counterplay.evaluation import HeadToHead
from counterplay.evaluation.lifted_buckets import TablePlayer
from counterplay.experiments.shared.card_families import FAMILIES, family_game
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.mccfr import MccfrConfig
from counterplay.solvers.public_tree_tables import table_type

GAME, QUICK = "holdem_4_1(ranks=5,suits=4)", "holdem_4_1(ranks=5,suits=2)"
"""Limit hold'em with four rounds and twenty cards, 155 million information sets up to suits; with ten cards."""

PUBLISHED = np.array([
    [0, 0, -1, -2, 14, 14, -8, -14, -21, -25, -19, -22, -13, -18, -21, -26, -20, -25],
    [0, 0, 0, -2, 14, 13, -8, -14, -21, -26, -17, -22, -13, -19, -22, -26, -21, -25],
    [1, 0, 0, -2, 15, 14, -6, -12, -18, -24, -16, -21, -10, -16, -19, -24, -18, -24],
    [2, 2, 2, 0, 16, 16, -6, -12, -18, -24, -15, -21, -10, -16, -19, -23, -18, -23],
    [-14, -14, -15, -16, 0, -1, -25, -30, -34, -39, -32, -37, -27, -32, -35, -40, -35, -40],
    [-14, -13, -14, -16, 1, 0, -25, -30, -34, -39, -31, -37, -27, -32, -34, -40, -34, -40],
    [8, 8, 6, 6, 25, 25, 0, -5, -15, -18, -10, -15, -7, -11, -15, -19, -14, -18],
    [14, 14, 12, 12, 30, 30, 5, 0, -9, -14, -6, -10, -1, -5, -10, -13, -9, -12],
    [21, 21, 18, 18, 34, 34, 15, 9, 0, -6, 2, -3, 10, 3, -3, -7, -2, -7],
    [25, 26, 24, 24, 39, 39, 18, 14, 6, 0, 9, 2, 14, 10, 2, 0, 4, 0],
    [19, 17, 16, 15, 32, 31, 10, 6, -2, -9, 0, -7, 7, 1, -4, -10, -5, -10],
    [22, 22, 21, 21, 37, 37, 15, 10, 3, -2, 7, 0, 11, 7, 1, -3, 1, -3],
    [13, 13, 10, 10, 27, 27, 7, 1, -10, -14, -7, -11, 0, -5, -13, -16, -11, -15],
    [18, 19, 16, 16, 32, 32, 11, 5, -3, -10, -1, -7, 5, 0, -6, -11, -5, -10],
    [21, 22, 19, 19, 35, 34, 15, 10, 3, -2, 4, -1, 13, 6, 0, -5, 0, -4],
    [26, 26, 24, 23, 40, 40, 19, 13, 7, 0, 10, 3, 16, 11, 5, 0, 6, 0],
    [20, 21, 18, 18, 35, 34, 14, 9, 2, -4, 5, -1, 11, 5, 0, -6, 0, -5],
    [25, 25, 24, 23, 40, 40, 18, 12, 7, 0, 10, 3, 15, 10, 4, 0, 5, 0],
], np.float64)  # fmt: skip
"""Table 11.3, mbb/g of the row against the column, in the order of ``FAMILIES``; cut to integers towards 0."""


def run(
    quick: bool = False, families: tuple[str, ...] = FAMILIES, game: str | None = None, buckets: int | None = None,
    boards: int | None = None, seed: int = 0, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Solve the bucket game of each family and let all strategies meet.

    Parameters
    ----------
    quick : bool
        Ten cards, 2 buckets and 500 boards instead of twenty cards, 4 buckets and 32,000 boards.
    families : tuple of str
        Some of the families.
    game : str, optional
        Another limit game of two players whose public tree fits into memory.
    buckets : int, optional
        Buckets of each round with perfect recall; the other families have as many information sets.
    boards, seed : int
        Boards sampled for each strategy, and the seed.
    threads : int
        For features and values; solving uses one.
    """
    name = game or (QUICK if quick else GAME)
    buckets, boards = buckets or (2 if quick else 4), boards or (500 if quick else 32_000)
    tree = open_game(name, "public")
    match = HeadToHead(tree, table_type(sum(tree.num_entries), "auto"), threads)
    unit = 1000.0 / (tree.big_blind or 1.0)
    players: list[tuple[str, int, TablePlayer]] = []
    won = np.zeros((len(families), len(families)))
    with keeping_rows():
        for place, family in enumerate(families):
            _, abstract = family_game(family, name, buckets, threads)
            solver = BucketSolver(abstract, MccfrConfig("public", seed=seed), "pcs-boards")
            solver.step(boards)
            player = match.player(solver.profile(storage="float64"))
            for before, (_, _, other) in enumerate(players):
                won[place, before] = unit * match.mean(player, other)
                won[before, place] = -won[place, before]
            players.append((family, abstract.num_infosets, player))
    names = [family for family, _, _ in players]
    won = won[: len(names), : len(names)]
    return Experiment(
        title=f"Equilibria of bucket games head to head in {name}, mbb/g of the row, {boards:,} boards each",
        source="Johanson 2016, tables 5.3 and 11.3",
        columns=("", "buckets", "information sets", *(str(place + 1) for place in range(len(names))), "mean",
                 "published mean"),
        rows=tuple(_row(place, names, infosets, won) for place, (_, infosets, _) in enumerate(players)),
        notes=(
            *verdicts(names, won),
            "The source has Texas hold'em with 52 cards: compare signs and order, not the numbers.",
        ),
    )  # fmt: skip


def _row(place: int, names: list[str], infosets: int, won: np.ndarray) -> tuple[Cell, ...]:
    others = max(1, len(names) - 1)
    published = published_table(names)
    cells = [None if column == place else round(float(value), 1) for column, value in enumerate(won[place])]
    return (place + 1, names[place], infosets, *cells, round(float(won[place].sum()) / others, 2),
            round(float(published[place].sum()) / others, 2))  # fmt: skip


def published_table(names: list[str]) -> np.ndarray:
    """Table 11.3 for some of the families."""
    places = [FAMILIES.index(name) for name in names]
    return PUBLISHED[np.ix_(places, places)]


def verdicts(names: list[str], won: np.ndarray) -> tuple[str, ...]:
    """Whether the findings of the source hold: recall, the first family, and the sign of each pair."""
    recalls = [name.startswith("PR") for name in names]
    pairs = [float(won[a, b]) for a, b in itertools.permutations(range(len(names)), 2) if recalls[b] > recalls[a]]
    beaten = sum(value > 0.0 for value in pairs)
    found = []
    if pairs:
        found.append(f"Every family with imperfect recall beats every one with perfect recall: {beaten == len(pairs)}"
                     f" ({beaten} of {len(pairs)} pairs; published: True).")  # fmt: skip
    if len(names) > 1:
        order = [names[place] for place in np.argsort(-won.sum(axis=1), kind="stable")]
        found.append(f"KE-KO is first by the mean: {order[0].endswith('KE-KO')} (first {', '.join(order[:3])}; "
                     f"published: FT-KE-KO, EQ-KE-KO, FT-KO-KO, which draw with each other).")  # fmt: skip
        upper = np.triu_indices(len(names), 1)
        ours, theirs = won[upper], published_table(names)[upper]
        decided = theirs != 0.0
        same = int(np.sum(np.sign(ours) == np.sign(theirs), where=decided))
        found.append(f"The winner is the published one in {same} of {int(np.sum(decided))} pairs.")
    return tuple(found)
