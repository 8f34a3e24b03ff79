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

import dataclasses

import numpy as np

from counterplay.abstraction.cards import BuildSettings, CardAbstraction, build_cards, deck_shape, parse_recipe
from counterplay.abstraction.cards.features import CardFeatures, default_cache
from counterplay.abstraction.cards.two_round import two_round_cards
from counterplay.errors import AbstractionError
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.evaluation.lifted_buckets import RealGame
from counterplay.experiments.shared.experiment import Cell, Experiment
from counterplay.experiments.shared.real_game_checks import Point, follow, growing
from counterplay.forms import open_game, poker_definition
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.mccfr import MccfrConfig
from counterplay.tree.public.public_tree import PublicTree

__all__ = ["FAMILIES", "PUBLISHED", "family_cards", "run"]

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


def family_cards(family: str, definition: GameDefinition, threads: int = 1) -> CardAbstraction:
    """The card abstraction of a family, such as ``IR169/KE570:river``."""
    if family == "two-round":
        return two_round_cards(CardFeatures((13, 4), (2, 3, 1, 1), cache=default_cache(), threads=threads))
    text, colon, ahead = family.partition(":")
    if colon and ahead != "river":
        raise AbstractionError(f"features look ahead to the river, written PS5/PS5:river, or not; got {family!r}")
    deck, shape = deck_shape(definition)
    recipe = parse_recipe(text, deck, shape)
    settings = BuildSettings(runout=RUNOUT if colon else ())
    return build_cards(deck, shape, recipe, settings, cache=default_cache(), threads=threads)


@dataclasses.dataclass(frozen=True)
class _Solved:
    """The results of a family."""

    family: str
    infosets: int
    curve: list[Point]


def _solve(family: str, tree: PublicTree, boards: int, points: int, seed: int, threads: int) -> _Solved:
    definition = poker_definition(tree.name)
    cards = family_cards(family, definition, threads)
    game = BucketGame.build(definition, cards.rounds, name=tree.name)
    pairs = count_bucket_pairs(game, threads=threads) if cards.recall == "perfect" else None
    solver = BucketSolver(game, MccfrConfig("public", seed=seed), "pcs-boards")
    real = RealGame(game, tree, np.float32, threads)
    return _Solved(family, game.num_infosets, follow(solver, growing(boards, points, 4.0), pairs, real))


def run(
    quick: bool = False,
    families: tuple[str, ...] | None = None,
    game: str | None = None,
    boards: int | None = None,
    points: int | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Experiment:
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
    boards : int, optional
        Boards sampled in each run.
    points : int, optional
        How often a strategy is measured; each time after four times as many boards as before.
    seed : int
        Of the boards.
    threads : int
        For features, bucket pair counts and best responses; solving uses one.
    """
    name = game or ("holdem_2_4(ranks=6,suits=3)" if quick else GAME)
    tree = open_game(name, "public")
    boards, points = boards or (400 if quick else 40_000), points or (3 if quick else 4)
    found = [
        _solve(family, tree, boards, points, seed, threads) for family in families or (QUICK if quick else FAMILIES)
    ]
    rows: list[tuple[Cell, ...]] = []
    for solved in found:
        last, best = solved.curve[-1], min(solved.curve, key=lambda point: point.real or 0.0)
        rows.append((
            solved.family, solved.infosets, last.iterations, last.cpu_seconds, last.abstract, last.real, best.real,
            best.iterations, PUBLISHED.get(solved.infosets) if name == GAME else None,
        ))  # fmt: skip
    return Experiment(
        name="abstraction-families",
        title=f"Exploitability of bucket game equilibria in {name}, mbb/g",
        source="Johanson 2016, figures 4.4 and 4.5, A-vs-A",
        columns=("buckets", "information sets", "boards", "CPU s", "in the bucket game", "in the real game",
                 "lowest during the run", "after boards", "published, real game"),
        rows=tuple(rows),
        notes=(
            "The source does not name its features; agreement with its numbers does not prove which they were.",
            "With imperfect recall nothing can be measured inside the bucket game.",
        ),
        curves={solved.family: _line(solved.curve) for solved in found},
        xlabel="boards",
    )  # fmt: skip


def _line(curve: list[Point]) -> tuple[list[float], list[float]]:
    """Boards and exploitability in the real game, for the plot."""
    return [float(point.iterations) for point in curve], [point.real or 0.0 for point in curve]
