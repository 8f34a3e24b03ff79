"""Building a card abstraction: features, buckets round by round, tables (Johanson 2016, section 5.4).

With imperfect recall all hands of a round are split or clustered together.  If the previous bucket is remembered, the
hands of each previous bucket are split separately.  The last round of hold'em has too many hands for a table that knows
the order of the board cards; there the hands are put into *classes* by the cards alone (for percentiles the 1950
strengths, exactly; for k-means a clustering into ``classes`` of them), the hands of each earlier bucket are counted by
class, and the classes are split for each earlier bucket.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import time
from typing import Any

import numpy as np
import numpy.typing as npt

import counterplay
from counterplay.abstraction.cards.build_memory import check_build
from counterplay.abstraction.cards.card_abstraction import BucketTable, CardAbstraction, check_buckets, check_table
from counterplay.abstraction.cards.clustering import Clustering, KMeansConfig, Points, k_means, merge_points
from counterplay.abstraction.cards.features import BINS, CardFeatures
from counterplay.abstraction.cards.opponents import OpponentClusters, Weights, johanson2013, opponent_clusters
from counterplay.abstraction.cards.percentile import percentile
from counterplay.abstraction.cards.recipe import PERCENTILES, CardRecipe, RoundRecipe, by_strength
from counterplay.abstraction.cards.strength_ranges import cut_ranges, merge_near
from counterplay.abstraction.cards.textures import board_points, board_textures
from counterplay.errors import AbstractionError
from counterplay.poker.isomorphism import HandIndexer
from counterplay.runtime.array_checks import check_like, check_limits
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.seeds import check_seed
from counterplay.storage import Arrays

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True)
class BuildSettings:
    """How buckets are made.

    Attributes
    ----------
    seed, restarts, iterations : int
        Of k-means.
    opponents : str or int
        Clusters of opponents: ``johanson2013``, or how many to make by clustering the starting hands.
    weights : "none", "mass" or "classes"
        Weight of each cluster of opponents in a distance.
    bins : int
        Bins of the histograms.
    classes : int
        Number of classes in a round with too many hands for a table by order.
    max_table : int
        Most entries of a table.
    runout : tuple of int
        Board cards that features look ahead to although the game ends before them: with (1, 1) a game that ends after
        the flop has the buckets of Texas hold'em.
    """

    seed: int = 0
    restarts: int = 1
    iterations: int = 30
    opponents: str | int = "johanson2013"
    weights: Weights = "mass"
    bins: int = BINS
    classes: int = 2000
    max_table: int = 100_000_000
    runout: tuple[int, ...] = dataclasses.field(default=(), repr=False)  # cache names contain it through the features

    def __post_init__(self) -> None:
        check_seed(self.seed, AbstractionError)


def build_cards(
    deck: tuple[int, int],
    shape: tuple[int, ...],
    recipe: CardRecipe,
    settings: BuildSettings | None = None,
    cache: str | os.PathLike[str] | None = None,
    threads: int = 1,
    progress: ProgressCallback | None = None,
    memory_limit: int | None = None,
) -> CardAbstraction:
    """Build a card abstraction.

    Parameters
    ----------
    deck, shape
        For which cards, as in ``CardAbstraction``.
    recipe : CardRecipe
        The buckets of each round, see ``parse_recipe``.
    settings : BuildSettings, optional
        How they are made.
    cache : path, optional
        The folder where features are cached; None keeps them in memory only.
    threads : int
        Number of threads; the result does not depend on it.
    progress : callable, optional
        Called with the progress of each stage.
    memory_limit : int, optional
        Bytes that may be used; by default what the machine has free.

    Raises
    ------
    AbstractionError
        If the recipe does not fit the cards.
    MemoryLimitError
        If building would need more memory than allowed; this is checked before anything is built.
    """
    settings = settings or BuildSettings()
    if len(recipe.rounds) != len(shape):
        raise AbstractionError(f"the cards {shape} have {len(shape)} rounds; the recipe has {len(recipe.rounds)}")
    if not 1 <= settings.bins <= 255 or settings.restarts < 1 or settings.iterations < 1 or settings.classes < 1:
        raise AbstractionError(f"bins are 1 to 255; restarts, iterations and classes at least 1; got {settings}")
    started = time.perf_counter()
    features = CardFeatures(deck, (*shape, *settings.runout), cache, threads, progress, settings.bins)
    check_build(features, recipe, settings.max_table, memory_limit)
    builder = _Builder(features, recipe, settings)
    tables = tuple(builder.table(turn) for turn in range(len(shape)))
    provenance = {
        "recipe": str(recipe),
        **{name: value for name, value in dataclasses.asdict(settings).items() if name != "runout"},
        **({"runout": list(settings.runout)} if settings.runout else {}),
        "version": counterplay.__version__,
        "seconds": round(time.perf_counter() - started, 3),
        "objectives": builder.objectives,
    }
    return CardAbstraction(deck, shape, tables, recipe.recall, provenance)


class _Builder:
    """The tables of all rounds, each built on first use."""

    def __init__(self, features: CardFeatures, recipe: CardRecipe, settings: BuildSettings) -> None:
        self.features = features
        self.recipe = recipe
        self.settings = settings
        self.config = KMeansConfig(settings.seed, settings.restarts, settings.iterations)
        self.objectives: dict[str, float] = {}
        self._tables: dict[int, BucketTable] = {}

    def table(self, turn: int) -> BucketTable:
        """The buckets of a round."""
        if turn not in self._tables:
            clustered = self.recipe.rounds[turn].family in ("KE", "KO", "PA")
            self._tables[turn] = self._kept(turn) if clustered and self.features.cache is not None else self._make(turn)
        return self._tables[turn]

    def _name(self, turn: int) -> str:
        return self.features.round_name(turn)

    def _strengths(self, turn: int) -> CardFeatures:
        """The features that hold the hand strength of a round: against one opponent or two."""
        return self.features if self.recipe.rounds[turn].rivals == 1 else self._against_two

    @functools.cached_property
    def _against_two(self) -> CardFeatures:
        one = self.features
        return CardFeatures(one.deck, one.shape, one.cache, one.threads, one.progress, one.bins, rivals=2)

    def _kept(self, turn: int) -> BucketTable:
        """The buckets of a round from the cache, if they were built in the same way before."""
        rounds = self.recipe.rounds
        first = turn
        while first and not rounds[first - 1].forgets:
            first -= 1
        last = turn
        while rounds[last].family == "PA":
            last += 1
        way = f"{[str(entry) for entry in rounds[first : last + 1]]} {self.settings} {counterplay.__version__}"
        name = f"table-{turn}-{hashlib.sha256(way.encode()).hexdigest()[:16]}"

        def make() -> dict[str, Array]:
            made = self._make(turn)
            arrays = {"shape": np.array(made.shape), "count": np.array([made.count]), "table": np.asarray(made.table)}
            if made.cuts is not None:
                arrays["cuts"] = made.cuts
            if f"round {turn + 1}" in self.objectives:
                arrays["objective"] = np.array([self.objectives[f"round {turn + 1}"]])
            return arrays

        def check(arrays: Arrays) -> None:
            check_like("count", arrays["count"], (1,), np.int64)
            check_like("shape", arrays["shape"], (arrays["shape"].size,), np.int64)
            if "objective" in arrays:
                check_like("objective", arrays["objective"], (1,), np.float64)
            shape, cuts = tuple(arrays["shape"].tolist()), arrays.get("cuts")
            if shape not in (self.features.indexer(turn).shape, self.features.ordered(turn).shape):
                raise ValueError("the table is for other cards")
            table = BucketTable(shape, int(arrays["count"][0]), arrays["table"], cuts)
            before = self.table(turn - 1) if cuts is not None and turn else None
            name = self.features.round_name(turn)
            check_table(table, name, sum(shape), HandIndexer(shape, *self.features.deck), before)
            check_buckets(table, turn)

        kept = self.features.kept(name, make, check)
        if "objective" in kept:
            self.objectives[f"round {turn + 1}"] = float(kept["objective"][0])
        shape = tuple(kept["shape"].tolist())
        return BucketTable(shape, int(kept["count"][0]), kept["table"], kept.get("cuts"), str(rounds[turn]))

    def _make(self, turn: int) -> BucketTable:
        entry = self.recipe.rounds[turn]
        features = self.features
        if entry.family == "lossless":
            indexer = features.ordered(turn)
            return BucketTable(indexer.shape, indexer.size(), name="lossless")
        before = None if turn == 0 or self.recipe.rounds[turn - 1].forgets else self.table(turn - 1)
        indexer = features.indexer(turn)
        rows = groups = None
        number = 1
        if before is not None:
            indexer = features.ordered(turn)
            if indexer.size() > self.settings.max_table:
                return self._with_cuts(turn, entry, before)
            earlier = features.project(indexer, features.ordered(turn - 1))
            groups, number = self._by_order(turn - 1)[earlier], before.count
            del earlier
            rows = None if indexer.shape == features.whole(turn) else features.project(indexer, features.indexer(turn))
        if before is None and by_strength(
            entry, turn == features.rounds - 1
        ):  # few values: no hand is counted or sorted
            known = self._strengths(turn)
            deals = known.deals(turn)
            cut = percentile(np.arange(len(deals)), deals, entry.buckets)
            bucket = _small(cut, entry.buckets)[known.strengths(turn)]
            return BucketTable(indexer.shape, entry.buckets, bucket, name=str(entry))
        weights = features.orbits(turn, ordered=before is not None)
        if entry.textures:
            texture, kinds = self._textures(turn, entry)
            texture = texture if rows is None else texture[rows]
            groups = texture if groups is None else groups.astype(np.int64) * kinds + texture
            number *= kinds
        local = self._partition(turn, entry, rows, weights, groups)
        count = number * entry.buckets
        bucket = local if groups is None else groups.astype(np.int64) * entry.buckets + local
        return BucketTable(indexer.shape, count, _small(bucket, count), name=str(entry))

    def _partition(
        self, turn: int, entry: RoundRecipe, rows: Array | None, weights: Array, groups: Array | None
    ) -> npt.NDArray[np.int32]:
        """Buckets of hands, in each group from 0 on."""
        if entry.points:
            last = turn == self.features.rounds - 1
            features = self._strengths(turn)
            known = features.values(turn, "ehs")
            scale = features.unit * (1 if last else features.runouts(turn))
            return _by_strength(entry, known if rows is None else known[rows], scale, groups)
        if entry.family in PERCENTILES:
            return self._percentiles(turn, entry, rows, weights, groups)
        points, place = self._points(turn, entry.family, self._strengths(turn))
        if groups is None:
            found = self._k_means(turn, points, entry.count)
            return np.asarray(found.label[place])
        point = place if rows is None else place[rows]
        order = np.argsort(groups, kind="stable")
        ends = np.flatnonzero(np.diff(groups[order])) + 1
        local = np.empty(len(point), dtype=np.int32)
        parts = np.split(order, ends)
        for done, members in enumerate(parts):
            local[members] = self._label(points, point[members], weights[members], entry.count)
            if self.features.progress is not None:
                self.features.progress(Progress(done + 1, total=len(parts), stage=f"clustering {self._name(turn)}"))
        return local

    def _percentiles(
        self, turn: int, entry: RoundRecipe, rows: Array | None, weights: Array, groups: Array | None
    ) -> npt.NDArray[np.int32]:
        def values(metric: str) -> Array:
            known = self._strengths(turn).values(turn, metric)
            return known if rows is None else known[rows]

        last = turn == self.features.rounds - 1
        if entry.family != "PHS" or last:
            return percentile(values(PERCENTILES[entry.family]), weights, entry.buckets, groups)
        first = percentile(values("ehs2"), weights, entry.count, groups)
        outer = first if groups is None else groups.astype(np.int64) * entry.count + first
        return first * np.int32(entry.split) + percentile(values("ehs"), weights, entry.split, outer)

    def _label(self, points: Points, point: Array, weights: Array, count: int) -> npt.NDArray[np.int32]:
        """Cluster the hands of one group, a subset of all points; with few points each is a cluster."""
        mass = np.bincount(point, weights, minlength=len(points.rows)).astype(np.int64)
        there = np.flatnonzero(mass)
        label = np.zeros(len(mass), dtype=np.int32)
        if len(there) <= count:
            label[there] = np.arange(len(there))
        else:
            part = Points(points.rows[there], points.scale, mass[there], points.metric)
            found = k_means(part, count, self.config)
            label[there] = found.label
        return label[point]

    def _k_means(self, turn: int, points: Points, count: int) -> Clustering:
        if count > len(points.rows):
            raise AbstractionError(
                f"{self._name(turn)}: {len(points.rows):,} distinct points cannot make {count:,} clusters; "
                f"ask for fewer than in {str(self.recipe.rounds[turn])!r}"
            )
        found = k_means(
            points, count, self.config, threads=self.features.threads, progress=self.features.progress,
            stage=f"clustering {self._name(turn)}",
        )  # fmt: skip
        self.objectives[f"round {turn + 1}"] = found.objective
        return found

    # ------------------------------------------------------------------------------------------ features as points

    def _points(self, turn: int, family: str, features: CardFeatures) -> tuple[Points, npt.NDArray[np.int32]]:
        """The distinct points of a round, and which of them each hand is."""
        rows, scale, metric = self._rows(turn, family, features)
        distinct, weights, place = merge_points(rows, self.features.orbits(turn), self.features.threads)
        return Points(distinct, np.asarray(scale, dtype=np.float32), weights, metric), place

    def _rows(self, turn: int, family: str, features: CardFeatures) -> tuple[Array, Any, Any]:
        last = turn == features.rounds - 1
        if family == "KE" and last:  # a histogram of one strength: its distance is that of the strengths, in bins
            return features.strengths()[:, None], [features.bins / features.unit], "absolute"
        if family == "KE":
            histogram = features.sums(turn).histogram
            cumulative = np.empty((len(histogram), features.bins - 1), dtype=histogram.dtype)
            np.cumsum(histogram[:, :-1], axis=1, dtype=histogram.dtype, out=cumulative)
            return cumulative, np.full(features.bins - 1, 1 / features.runouts(turn)), "absolute"
        if family == "KO":
            clusters = self.clusters
            small = features.size(turn) > 20_000_000
            kind = np.uint8 if small else np.uint16
            value = features.opponents(turn, clusters.cluster_of, clusters.count, kind)
            return value, np.sqrt(clusters.shares(self.settings.weights)) / np.iinfo(kind).max, "euclidean"
        following = self.table(turn + 1)
        if following.cuts is not None or following.shape != features.whole(turn + 1):
            raise AbstractionError(
                f"PA, {self._name(turn)}, looks ahead to buckets that depend on the cards alone; "
                f"use imperfect recall, and not {following.name} after it"
            )
        table = np.arange(following.count) if following.table is None else following.table
        counts = features.transitions(turn, table, following.count)
        return counts, np.full(following.count, 1 / counts[0].sum()), "euclidean"

    @functools.cached_property
    def clusters(self) -> OpponentClusters:
        """The clusters of opponents: starting hands by earth mover's distance; in games of one round by strength."""
        wanted = self.settings.opponents
        if wanted == "johanson2013" and (self.features.deck, self.features.shape[0]) == ((13, 4), 2):
            return johanson2013()
        count = 8 if isinstance(wanted, str) else wanted
        points, place = self._points(0, "KE", self.features)
        found = k_means(points, min(count, len(points.rows)), KMeansConfig(seed=self.settings.seed, restarts=4))
        return opponent_clusters(self.features.deck, self.features.shape[0], found.label[place])

    # ------------------------------------------------------------------------------------------ earlier buckets

    def _by_order(self, turn: int) -> Array:
        """The bucket of every hand of a round, with hands indexed by rounds."""
        table, ordered = self.table(turn), self.features.ordered(turn)
        if table.cuts is not None:
            raise AbstractionError(
                f"{self._name(turn)} has too many hands to remember its bucket; forget it, or use fewer rounds"
            )
        if table.table is None:
            return np.arange(table.count, dtype=np.min_scalar_type(table.count))
        if table.shape == ordered.shape:
            return table.table
        return table.table[self.features.project(ordered, HandIndexer(table.shape, *self.features.deck))]

    def _textures(self, turn: int, entry: RoundRecipe) -> tuple[Array, int]:
        """The texture of every hand of a round, or the class of its board, and how many there are."""
        features = self.features
        boards = HandIndexer((features.board(turn),), *features.deck)
        of_board: Array
        if entry.boards:
            of_board, kinds = self._board_classes(turn, entry.boards), entry.boards
        else:
            of_board, known = board_textures(features.deck, features.board(turn))
            kinds = len(known)
        return of_board[features.project(features.indexer(turn), boards, features.shape[0])], kinds

    def _board_classes(self, turn: int, count: int) -> Array:
        """Boards clustered by what they do to the hands of each cluster of opponents."""
        way = f"{count} {self.settings} {counterplay.__version__}"
        name = f"boards-{turn}-{hashlib.sha256(way.encode()).hexdigest()[:16]}"
        size = HandIndexer((self.features.board(turn),), *self.features.deck).size()
        kind = np.min_scalar_type(count - 1)

        def make() -> dict[str, Array]:
            points, place = board_points(self.features, turn, self.clusters)
            if count > len(points.rows):
                raise AbstractionError(
                    f"{self._name(turn)} has {len(points.rows):,} different boards, which cannot make {count:,} "
                    "classes; ask for fewer"
                )
            stage = f"clustering boards, {self._name(turn)}"
            found = k_means(
                points, count, self.config, threads=self.features.threads, progress=self.features.progress, stage=stage
            )
            return {"board": found.label[place].astype(kind)}

        def check(arrays: Arrays) -> None:
            check_like("board", arrays["board"], (size,), kind)
            check_limits("board", arrays["board"], 0, count - 1)

        return self.features.kept(name, make, check)["board"]

    def _with_cuts(self, turn: int, entry: RoundRecipe, before: BucketTable) -> BucketTable:
        """Classes by the cards alone, split for each earlier bucket."""
        features = self.features
        if entry.textures:
            raise AbstractionError(f"{self._name(turn)} remembers too much for textures; forget the previous round")
        if entry.family in (*PERCENTILES, "R", "M"):
            if turn != features.rounds - 1:
                raise AbstractionError(f"{self._name(turn)} has too many hands for perfect recall; raise max_table")
            strengths = self._strengths(turn)
            table: Array = strengths.strengths()
            classes = strengths.unit + 1
            points = None
        else:
            distinct, place = self._points(turn, entry.family, self._strengths(turn))
            classes = min(self.settings.classes, len(distinct.rows))
            found = self._k_means(turn, distinct, classes)
            table = _small(found.label[place], classes)
            centres = np.rint(found.centres / distinct.scale).astype(distinct.rows.dtype)
            points = Points(centres, distinct.scale, np.ones(classes, dtype=np.int64), distinct.metric)
        spread = features.spread(turn - 1, self._by_order(turn - 1), before.count, table, classes)
        cuts = np.empty(spread.shape, dtype=np.int64)
        every = np.arange(classes)
        for bucket, weights in enumerate(spread):
            if entry.points:
                held = np.flatnonzero(weights)
                local = np.zeros(classes, np.int32)
                local[held] = _by_strength(entry, held, self._strengths(turn).unit, None)
            elif points is None:
                local = percentile(every.astype(np.uint64), weights, entry.buckets)
            else:
                local = self._label(points, every, weights, entry.count)
            cuts[bucket] = bucket * entry.buckets + local
        count = before.count * entry.buckets
        return BucketTable(features.whole(turn), count, np.asarray(table), _small(cuts, count), str(entry))


def _by_strength(entry: RoundRecipe, values: Array, scale: float, groups: Array | None) -> npt.NDArray[np.int32]:
    """Ranges of E[HS], or merged hands with similar E[HS]."""
    if entry.family == "R":
        return cut_ranges(values, scale, entry.points)
    return merge_near(values, scale, entry.points[0], groups)


def _small(bucket: Array, count: int) -> Array:
    """Buckets in the smallest type that holds them."""
    return np.ascontiguousarray(bucket, dtype=np.min_scalar_type(max(1, count - 1)))
