"""Card abstractions: tables of buckets against brute force, files, notation, sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from counterplay.abstraction.cards import (
    BucketTable,
    BuildSettings,
    CardAbstraction,
    CardFeatures,
    build_cards,
    deck_shape,
    parse_recipe,
)
from counterplay.abstraction.cards.bucket_report import report_cards
from counterplay.abstraction.cards.finer import refines
from counterplay.abstraction.cards.percentile import percentile
from counterplay.errors import AbstractionError, MemoryLimitError, StrategyError
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.cards import parse_cards
from counterplay.runtime.progress import Progress
from tests.reference import card_features as twin

HOLDEM = ((13, 4), (2, 3, 1, 1))
LIMIT = STANDARD["holdem.limit.2p.reverse_blinds"]
SMALL = [((3, 2), (1, 1)), ((4, 2), (2, 1, 1)), ((4, 3), (1, 1, 1))]


def build(deck: tuple[int, int], shape: tuple[int, ...], text: str, recall: str | None = None, **settings: object):
    recipe = parse_recipe(text, deck, shape, recall)  # type: ignore[arg-type]
    return build_cards(deck, shape, recipe, BuildSettings(**settings))  # type: ignore[arg-type]


def deals_of(abstraction: CardAbstraction) -> tuple[list[tuple[tuple[int, ...], ...]], np.ndarray]:
    """Every deal of a small deck, round by round, and its buckets."""
    deals = list(twin.all_deals(abstraction.shape, *abstraction.deck))
    cards = np.array([sum(deal, ()) for deal in deals])
    hole = abstraction.shape[0]
    return deals, abstraction.buckets(cards[:, :hole], cards[:, hole:])


# ------------------------------------------------------------------------------------------ percentiles


@pytest.mark.parametrize("recall", ["perfect", "imperfect"])
@pytest.mark.parametrize("family", ["PE", "PS"])
@pytest.mark.parametrize(("deck", "shape"), SMALL)
def test_percentiles_equal_brute_force(deck: tuple[int, int], shape: tuple[int, ...], family: str, recall: str) -> None:
    """With tables by order and, in the last of two rounds with perfect recall, with classes that are cut."""
    max_table = 1 if recall == "perfect" and len(shape) == 2 else 10**8
    counts = (2, 3, 2)[: len(shape)]
    text = ",".join(f"{family}{count}" for count in counts)
    abstraction = build(deck, shape, text, recall, max_table=max_table)
    assert (abstraction.rounds[-1].cuts is not None) == (max_table == 1)
    deals, found = deals_of(abstraction)
    power = 1 if family == "PE" else 2
    before = {(): 0}
    for turn, count in enumerate(counts):
        values = {}
        for deal in {deal[: turn + 1] for deal in deals}:
            hole, board = deal[0], tuple(sorted(sum(deal[1:], ())))
            after = twin.strengths(hole, board, sum(shape[1:]), *deck)
            values[deal] = Fraction(sum(value**power for value in after), len(after))
        forgotten = dict.fromkeys((deal[:-1] for deal in values), 0)
        expected = twin.percentile_buckets(values, count, before if recall == "perfect" else forgotten)
        assert found[:, turn].tolist() == [expected[deal[: turn + 1]] for deal in deals]
        before = expected


@pytest.mark.parametrize("recall", ["perfect", "imperfect"])
@pytest.mark.parametrize("family", ["R", "M"])
@pytest.mark.parametrize(("deck", "shape"), SMALL)
def test_ranges_and_merged_hands_equal_brute_force(
    deck: tuple[int, int], shape: tuple[int, ...], family: str, recall: str
) -> None:
    """Cut points, some of them strengths that hands have, and a threshold of a tenth."""
    max_table = 1 if recall == "perfect" and len(shape) == 2 else 10**8
    points = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    entry = "R.25:.5:.75" if family == "R" else "M.1"
    abstraction = build(deck, shape, ",".join([entry] * len(shape)), recall, max_table=max_table)
    deals, found = deals_of(abstraction)
    width = 4 if family == "R" else 11
    sure = 2 * math.comb(deck[0] * deck[1] - sum(shape), shape[0])  # what the twin gives a sure winner
    before = {(): 0}
    for turn in range(len(shape)):
        values = {}
        for deal in {deal[: turn + 1] for deal in deals}:
            after = twin.strengths(deal[0], tuple(sorted(sum(deal[1:], ()))), sum(shape[1:]), *deck)
            values[deal] = Fraction(sum(after), len(after) * sure)
        earlier = {deal: before[deal[:-1]] if recall == "perfect" else 0 for deal in values}
        expected = {}
        for group in set(earlier.values()):
            members = sorted((value, deal) for deal, value in values.items() if earlier[deal] == group)
            number, first = 0, members[0][0]
            for value, deal in members:
                if value - first >= Fraction(1, 10):
                    number, first = number + 1, value
                local = number if family == "M" else sum(point <= value for point in points)
                expected[deal] = group * width + local
        assert found[:, turn].tolist() == [expected[deal[: turn + 1]] for deal in deals]
        before = expected
    assert abstraction.counts()[0] == width


def test_classes_that_are_cut_equal_tables_by_order() -> None:
    """A deck with four rounds, where the last one has its classes cut for each sequence of buckets."""
    recipe = parse_recipe("2,PHS2x2,PS2,PE3", (4, 3), (2, 2, 1, 1), "perfect")
    small = CardFeatures((4, 3), (2, 2, 1, 1)).ordered(2).size()
    by_order = build_cards((4, 3), (2, 2, 1, 1), recipe)
    cut = build_cards((4, 3), (2, 2, 1, 1), recipe, BuildSettings(max_table=small))
    assert by_order.rounds[3].cuts is None
    assert cut.rounds[3].cuts is not None
    rng = np.random.default_rng(0)
    cards = np.array([rng.permutation(by_order_cards(4, 3))[:6] for _ in range(3000)])
    assert np.array_equal(by_order.buckets(cards[:, :2], cards[:, 2:]), cut.buckets(cards[:, :2], cards[:, 2:]))


def by_order_cards(ranks: int, suits: int) -> np.ndarray:
    from counterplay.poker.cards import deck

    return np.array(deck(ranks, suits))


def test_percentiles_of_numbers() -> None:
    values, weights = np.array([5, 1, 1, 3, 9, 9], dtype=np.uint64), np.array([1, 1, 1, 1, 1, 1])
    assert percentile(values, weights, 3).tolist() == [1, 0, 0, 1, 2, 2]
    assert percentile(values, weights, 100).tolist() == [50, 0, 0, 33, 66, 66]  # equal values share; some stay empty
    groups = np.array([0, 0, 1, 1, 0, 1])
    assert percentile(values, weights, 3, groups).tolist() == [1, 0, 0, 1, 2, 2]
    huge = values << np.uint64(62)  # group and value together do not fit in one word
    assert percentile(values + (np.uint64(1) << np.uint64(63)), weights, 3, groups).tolist() == [1, 0, 0, 1, 2, 2]
    assert len(percentile(huge[:0], weights[:0], 3)) == 0


def test_masses_are_equal_but_for_ties() -> None:
    features = CardFeatures((5, 4), (2, 3))
    abstraction = build((5, 4), (2, 3), "PE4,PE6", "imperfect")
    for turn, count in enumerate((4, 6)):
        weights = features.orbits(turn).astype(np.int64)
        values = features.values(turn, "ehs")
        table = abstraction.rounds[turn].table
        assert table is not None
        mass = np.bincount(table, weights, minlength=count)
        largest_tie = np.bincount(np.unique(values, return_inverse=True)[1], weights).max()
        assert np.abs(mass - weights.sum() / count).max() <= largest_tie
        order = np.argsort(values, kind="stable")
        assert (np.diff(table[order].astype(int)) >= 0).all()


@pytest.mark.parametrize("recall", ["imperfect", "perfect"])
def test_percentiles_of_the_strength_so_far(recall: str) -> None:
    """Whether few strengths are split or all hands are sorted; in the last round all percentiles are the same."""
    deck, shape = (4, 2), (2, 2, 1)
    features = CardFeatures(deck, shape)
    built, by_square = (build(deck, shape, f"3,{name}4,{name}4", recall) for name in ("PH", "PS"))
    if recall == "imperfect":
        for turn, count in enumerate((3, 4, 4)):
            if turn:
                expected = percentile(features.strengths(turn), features.orbits(turn), count)
                assert np.array_equal(built.rounds[turn].table, expected)
        assert np.array_equal(built.rounds[2].table, by_square.rounds[2].table)
    assert not np.array_equal(built.rounds[1].table, by_square.rounds[1].table)
    assert str(built.provenance["recipe"]).count("PH4") == 2


def test_nested_percentiles_refine_the_first_cut() -> None:
    coarse = build((5, 4), (2, 3), "PS5,PS5", "imperfect")
    fine = build((5, 4), (2, 3), "PHS5x2,PHS5x2", "imperfect")
    for a, b in zip(fine.rounds[:1], coarse.rounds[:1], strict=True):
        assert np.array_equal(a.table // 2, b.table)  # type: ignore[operator]
    assert refines(fine, coarse)
    assert not refines(coarse, fine)


# ------------------------------------------------------------------------------------------ clusters


@pytest.mark.parametrize("family", ["KE", "KO"])
def test_clusters_are_where_the_iteration_stands_still(family: str) -> None:
    """Hands by brute force: equal ones share a bucket, and every bucket's centre is the nearest of its hands."""
    deck, shape, turn = (4, 2), (2, 1, 1), 1
    abstraction = build(deck, shape, f"2,{family}4,PE2", "imperfect", opponents=3, weights="mass")
    deals, found = deals_of(abstraction)
    rows = _brute_rows(abstraction, family, [deal[:2] for deal in deals])
    bucket = found[:, turn]
    centres = np.array([rows[bucket == number].mean(axis=0) for number in range(4)])
    gap = rows[:, None] - centres[None]
    distance = np.abs(gap).sum(axis=2) if family == "KE" else np.sqrt((gap**2).sum(axis=2))
    mine = distance[np.arange(len(rows)), bucket]
    assert (mine <= distance.min(axis=1) + 1e-5).all()
    known: dict[tuple[float, ...], int] = {}
    for row, number in zip(np.round(rows, 9).tolist(), bucket.tolist(), strict=True):
        assert known.setdefault(tuple(row), number) == number


def _brute_rows(abstraction: CardAbstraction, family: str, deals: Sequence[tuple[tuple[int, ...], ...]]) -> np.ndarray:
    deck, shape = abstraction.deck, abstraction.shape
    features = CardFeatures(deck, shape)
    made: dict[tuple[tuple[int, ...], ...], list[float]] = {}
    if family == "KO":
        from counterplay.abstraction.cards.build_cards import _Builder

        recipe = parse_recipe("2,KO4,PE2", deck, shape, "imperfect")
        clusters = _Builder(features, recipe, BuildSettings(opponents=3)).clusters
        share = np.sqrt(clusters.shares("mass"))
        start = features.indexer(0)
    for deal in set(deals):
        hole, board = deal[0], sum(deal[1:], ())
        if family == "KE":
            values = twin.strengths(hole, board, sum(shape[1:]), *deck)
            bins = np.bincount([min(49, 50 * value // features.unit) for value in values], minlength=50)
            made[deal] = (np.cumsum(bins)[:-1] / len(values)).tolist()
        else:
            of = twin.against_clusters(
                hole, board, sum(shape[1:]), *deck, lambda cards: int(clusters.cluster[start.index(cards)]), 3
            )
            made[deal] = [float(part) * weight for part, weight in zip(of, share, strict=True)]
    return np.array([made[deal] for deal in deals])


def test_potential_aware_buckets_look_at_the_next_ones() -> None:
    """Hands with the same chances for the next round's buckets share one."""
    deck, shape = (4, 2), (2, 1, 1)
    abstraction = build(deck, shape, "2,PA3,PE4", "imperfect")
    deals, found = deals_of(abstraction)
    chances: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for deal, buckets in zip(deals, found, strict=True):
        chances.setdefault(deal[:2], [0] * 4)[buckets[2]] += 1
    bucket = {deal[:2]: int(buckets[1]) for deal, buckets in zip(deals, found, strict=True)}
    rows = np.array([chances[deal] for deal in bucket], dtype=float)
    label = np.array(list(bucket.values()))
    rows /= rows.sum(axis=1, keepdims=True)
    centres = np.array([rows[label == number].mean(axis=0) for number in range(3)])
    distance = np.sqrt(((rows[:, None] - centres[None]) ** 2).sum(axis=2))
    assert (distance[np.arange(len(rows)), label] <= distance.min(axis=1) + 1e-5).all()
    with pytest.raises(AbstractionError, match="looks ahead to buckets that depend on the cards alone"):
        build(deck, shape, "2,PA2,lossless", "imperfect")


# ------------------------------------------------------------------------------------------ recall


@pytest.mark.parametrize("text", ["2,KE3,KO2", "PS2,PHS2x2,PE3", "3,T:PE2,2"])
def test_perfect_recall_tells_earlier_buckets(text: str) -> None:
    abstraction = build((4, 2), (2, 1, 1), text, "perfect", opponents=2)
    assert abstraction.recall == "perfect"
    _, found = deals_of(abstraction)
    counts = abstraction.counts()
    for turn in (1, 2):
        each = counts[turn] // counts[turn - 1]
        assert np.array_equal(found[:, turn] // each, found[:, turn - 1])


def test_what_is_forgotten_does_not_show() -> None:
    """IR2/2/2: the first bucket is forgotten in the second round; the second is remembered in the third."""
    recipe = parse_recipe("IR2/2/2", (4, 2), (2, 1, 1))
    assert recipe.counts((4, 2), (2, 1, 1)) == (2, 2, 4)
    abstraction = build_cards((4, 2), (2, 1, 1), recipe)
    assert abstraction.recall == "imperfect"
    _, found = deals_of(abstraction)
    assert np.array_equal(found[:, 2] // 2, found[:, 1])
    assert len({tuple(row) for row in found[:, :2].tolist()}) > 2


def test_lossless_tells_all_hands_apart_but_for_suits() -> None:
    abstraction = CardAbstraction.lossless((3, 2), (1, 1))
    assert abstraction.counts() == (3, 15)
    assert refines(abstraction, build((3, 2), (1, 1), "KE2,KE3"))
    assert abstraction.recall == "perfect"
    with pytest.raises(AbstractionError, match="1 to 2,147,483,647 buckets"):
        CardAbstraction.lossless(*HOLDEM)


def test_coarse_ones() -> None:
    assert CardAbstraction.single((4, 2), (2, 1, 1)).counts() == (1, 1, 1)
    assert build((5, 4), (2, 3), "PS5,PS5", "perfect").counts() == (5, 25)
    assert build((5, 4), (2, 3), "PE3,PE7", "imperfect").counts() == (3, 7)


# ------------------------------------------------------------------------------------------ looking up and files


def test_boards_may_end_with_any_round() -> None:
    abstraction = build((4, 2), (2, 1, 1), "3s", "perfect")
    deals, found = deals_of(abstraction)
    cards = np.array([sum(deal, ()) for deal in deals[::50]])
    for board in (0, 1, 2):
        part = abstraction.buckets(cards[:, :2], cards[:, 2 : 2 + board])
        assert np.array_equal(part, found[::50, : board + 1])
    with pytest.raises(AbstractionError, match=r"one of \[0, 1, 2\] cards; got 3"):
        abstraction.buckets(cards[:, :2], np.zeros((len(cards), 3), dtype=int))
    with pytest.raises(AbstractionError, match="rows of 2 hole cards"):
        abstraction.buckets(cards[:, :1], cards[:, 2:])


class TestFiles:
    @pytest.fixture
    def abstraction(self) -> CardAbstraction:
        return build((4, 2), (2, 1), "2,PE3", "perfect", max_table=1)

    def test_round_trip(self, abstraction: CardAbstraction, tmp_path: Path) -> None:
        path = tmp_path / "cards.cpa"
        abstraction.save(path)
        again = CardAbstraction.load(path)
        assert (again.deck, again.shape, again.recall) == (abstraction.deck, abstraction.shape, "perfect")
        assert again.provenance["recipe"] == "PS2/PE3"
        assert np.array_equal(deals_of(again)[1], deals_of(abstraction)[1])

    def test_cut_off_files_are_refused(self, abstraction: CardAbstraction, tmp_path: Path) -> None:
        path = tmp_path / "cards.cpa"
        abstraction.save(path)
        whole = path.read_bytes()
        for size in (0, 5, 200, len(whole) - 1):
            path.write_bytes(whole[:size])
            with pytest.raises(StrategyError, match="damaged or not a counterplay file"):
                CardAbstraction.load(path)
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(StrategyError, match="does not match its checksum"):
            CardAbstraction.load(path)

    def test_other_games_are_refused(self, abstraction: CardAbstraction, tmp_path: Path) -> None:
        path = tmp_path / "cards.cpa"
        abstraction.save(path)
        with pytest.raises(AbstractionError, match=r"for 4 ranks, 2 suits and rounds of 2, 1 cards; the game has 13"):
            CardAbstraction.load(path, LIMIT)

    def test_tables_that_do_not_fit(self) -> None:
        short = BucketTable((1,), 1, np.zeros(2, dtype=np.uint8))
        with pytest.raises(AbstractionError, match="must have 3 entries"):
            CardAbstraction((3, 2), (1,), (short,))
        with pytest.raises(AbstractionError, match="needs 2 tables; got 1"):
            CardAbstraction((3, 2), (1, 1), (short,))


def test_cards_of_a_game() -> None:
    assert deck_shape(LIMIT) == HOLDEM
    assert deck_shape(STANDARD["rhode"]) == ((13, 4), (1, 1, 1))


# ------------------------------------------------------------------------------------------ notation and sizes


def test_what_does_not_fit_is_refused_before_it_starts() -> None:
    recipe = parse_recipe("169,PA500,KE500,KO500", *HOLDEM, "imperfect")
    stages: list[str] = []
    with pytest.raises(MemoryLimitError, match=r"needs about .* GiB, but only 1\.0 GiB may be used"):
        build_cards(*HOLDEM, recipe, progress=lambda now: stages.append(now.stage), memory_limit=1 << 30)
    assert stages == []


def test_too_few_different_hands_are_told() -> None:
    with pytest.raises(AbstractionError, match=r"round 2: \d+ distinct points cannot make 11 clusters"):
        build((3, 2), (1, 1), "2,KE11", "imperfect")


def test_the_same_seed_gives_the_same_buckets() -> None:
    one, two = (build((5, 3), (2, 2, 1), "4,KE6,KE5", "imperfect", seed=3) for _ in range(2))
    for a, b in zip(one.rounds, two.rounds, strict=True):
        assert np.array_equal(a.table, b.table)  # type: ignore[arg-type]


def test_a_stopped_build_goes_on_where_it_was(tmp_path: Path) -> None:
    """Features and clustered rounds are in the cache; a second build reads them and gives the same."""
    deck, shape = (4, 2), (2, 1, 1)
    recipe = parse_recipe("IRKE3/PA2/2", deck, shape, "imperfect")

    class StoppedError(Exception):
        pass

    def stop(now: Progress) -> None:
        if now.stage == "clustering round 2":
            raise StoppedError

    with pytest.raises(StoppedError):
        build_cards(deck, shape, recipe, cache=tmp_path, progress=stop)
    stages: list[str] = []
    one = build_cards(deck, shape, recipe, cache=tmp_path, progress=lambda now: stages.append(now.stage))
    assert "clustering round 2" in stages
    assert "clustering round 1" not in stages
    assert "hand strength at the showdown" not in stages
    stages.clear()
    two = build_cards(deck, shape, recipe, cache=tmp_path, progress=lambda now: stages.append(now.stage))
    assert not any(stage.startswith("clustering") for stage in stages)
    plain = build_cards(deck, shape, recipe)
    for a, b, c in zip(one.rounds, two.rounds, plain.rounds, strict=True):
        assert np.array_equal(a.table, b.table)  # type: ignore[arg-type]
        assert np.array_equal(a.table, c.table)  # type: ignore[arg-type]
    assert one.provenance["objectives"] == two.provenance["objectives"] == plain.provenance["objectives"]
    other = build_cards(
        deck, shape, recipe, BuildSettings(seed=5), tmp_path, progress=lambda now: stages.append(now.stage)
    )
    assert "clustering round 1" in stages
    assert other.counts() == one.counts()


# ------------------------------------------------------------------------------------------ report


def test_the_report_counts_deals() -> None:
    abstraction = build((4, 2), (2, 1, 1), "3,PE4,PE4", "imperfect")
    features = CardFeatures((4, 2), (2, 1, 1))
    rounds = report_cards(abstraction, features, deals=20_000, examples=2)
    exact = np.bincount(abstraction.rounds[1].table, features.orbits(1), minlength=4)  # type: ignore[arg-type]
    report = rounds[1]
    assert report.mass.sum() == pytest.approx(1)
    assert report.mass == pytest.approx(exact[report.bucket] / exact.sum(), abs=0.02)
    assert (np.diff(report.strength) >= 0).all()
    assert report.bucket.tolist() == [0, 1, 2, 3]  # percentiles of E[HS]: the weakest first
    assert report.histogram.sum(axis=1) == pytest.approx(1)
    for bucket, hands in zip(report.bucket, report.hands, strict=True):
        for hand in hands:
            hole, board = (parse_cards(part) for part in hand.split())
            assert abstraction.buckets([hole], [board])[0, 1] == bucket


def test_earth_movers_distance_is_a_metric_and_no_less_than_the_means() -> None:
    sums = CardFeatures((4, 2), (2, 1, 1)).sums(0)
    below = np.cumsum(sums.histogram / sums.runouts, axis=1)
    distance = np.abs(below[:, None] - below[None]).sum(axis=2)
    assert np.array_equal(distance, distance.T)
    for a, b, c in itertools.product(range(len(below)), repeat=3):
        assert distance[a, c] <= distance[a, b] + distance[b, c] + 1e-12
    means = sums.histogram @ np.arange(50) / sums.runouts
    assert (distance >= np.abs(means[:, None] - means[None]) - 1e-9).all()


def test_errors_name_rounds_as_players_do() -> None:
    first, second = BucketTable((2,), 1, np.zeros(25, np.uint16)), BucketTable((5,), 1)
    with pytest.raises(AbstractionError, match=r"^the flop without a table has [0-9,]+ buckets; got 1$"):
        CardAbstraction((5, 2), (2, 3), (first, second), "imperfect")
    with pytest.raises(AbstractionError, match=r"^hands of preflop have 2 cards; its table is for "):
        CardAbstraction((5, 2), (2, 3), (second, second), "imperfect")
    with pytest.raises(AbstractionError, match=r"^hands of round 1 have 2 cards; its table is for "):
        CardAbstraction((5, 2), (2, 2), (second, second), "imperfect")
