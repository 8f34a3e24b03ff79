"""Boards in named or clustered classes, and buckets by hand strength against two opponents."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from counterplay.abstraction.cards import BuildSettings, CardFeatures, build_cards, parse_recipe
from counterplay.abstraction.cards.opponents import opponent_clusters
from counterplay.abstraction.cards.textures import board_points, texture_of
from counterplay.errors import AbstractionError
from counterplay.poker.cards import parse_cards
from counterplay.poker.isomorphism import HandIndexer
from tests.abstraction.test_card_abstraction import build, deals_of
from tests.reference import card_features as twin


def test_textures_part_the_boards() -> None:
    """Hands of one bucket have boards of one texture."""
    abstraction = build((4, 3), (1, 2, 1), "2,T:KE2,T:PE3", "imperfect", opponents=2)
    deals, found = deals_of(abstraction)
    for turn in (1, 2):
        seen: dict[int, object] = {}
        for deal, buckets in zip(deals, found, strict=True):
            texture = texture_of(sum(deal[1 : turn + 1], ()))
            assert seen.setdefault(int(buckets[turn]), texture) == texture


def test_boards_as_points_equal_the_twin() -> None:
    deck, shape = (4, 3), (2, 1, 1)
    features = CardFeatures(deck, shape)
    start = features.indexer(0)
    clusters = opponent_clusters(deck, 2, np.arange(start.size()) % 2)
    for turn in (1, 2):
        points, place = board_points(features, turn, clusters)
        boards = HandIndexer((turn,), *deck)
        assert points.weights.sum() == math.comb(12, turn)
        for number, board in enumerate(boards.hands(np.arange(boards.size())).tolist()):
            bins = [[0] * 10, [0] * 10]
            for hole in itertools.combinations(set(features.cards.tolist()) - set(board), 2):
                strengths = twin.strengths(hole, tuple(board), 2, *deck)
                ehs = Fraction(sum(strengths), features.unit * len(strengths))
                bins[int(clusters.cluster[start.index(sorted(hole))])][min(9, math.floor(10 * ehs))] += 1
            expected = [count for row in bins for count in itertools.accumulate(row[:9])]
            assert points.rows[place[number]].tolist() == expected


@pytest.mark.parametrize("cached", [False, True])
def test_clustered_boards_part_the_hands(tmp_path: Path, cached: bool) -> None:
    """Each bucket belongs to one class of boards, of which there are as many as wanted."""
    deck, shape = (4, 3), (1, 2, 1)
    recipe = parse_recipe("2,T6:KE3,T4:PE3", deck, shape, "imperfect")
    abstraction = build_cards(deck, shape, recipe, BuildSettings(opponents=2), tmp_path if cached else None)
    assert abstraction.counts() == (2, 18, 12)
    if cached:
        assert len(list(tmp_path.glob("*-boards-*"))) == 2
        again = build_cards(deck, shape, recipe, BuildSettings(opponents=2), tmp_path)
        assert np.array_equal(again.rounds[2].table, abstraction.rounds[2].table)  # type: ignore[arg-type]
    deals, found = deals_of(abstraction)
    for turn, classes in ((1, 6), (2, 4)):
        of_board: dict[frozenset[int], int] = {}
        for deal, buckets in zip(deals, found, strict=True):
            board = frozenset(card for cards in deal[1 : turn + 1] for card in cards)
            assert of_board.setdefault(board, int(buckets[turn]) // 3) == int(buckets[turn]) // 3
        assert set(of_board.values()) == set(range(classes))


def test_more_classes_than_boards() -> None:
    with pytest.raises(AbstractionError, match="has 5 different boards, which cannot make 6 classes; ask for fewer"):
        build((4, 2), (1, 2), "2,T6:PE3", "imperfect", opponents=2)


@pytest.mark.parametrize("recall", ["perfect", "imperfect"])
@pytest.mark.parametrize("family", ["PE", "PS", "PH"])
def test_percentiles_against_two_opponents_equal_brute_force(family: str, recall: str) -> None:
    deck, shape = (4, 2), (1, 1, 1)
    abstraction = build(deck, shape, ",".join([f"H3:{family}3"] * 3), recall)
    before: dict[tuple[tuple[int, ...], ...], int] = {(): 0}
    for turn in range(3):
        values = {}
        for deal in twin.all_deals(shape[: turn + 1], *deck):
            hole, *rest = deal
            board, cards = tuple(sorted(sum(rest, ()))), turn if family == "PH" else 2
            shares = twin.shares_of_two(hole, board, cards, *deck)
            values[deal] = sum(share ** (2 if family == "PS" else 1) for share in shares) / len(shares)
        earlier = before if recall == "perfect" else dict.fromkeys(before, 0)
        before = twin.percentile_buckets(values, 3, earlier)
        cards_of_deals = np.array([sum(deal, ()) for deal in before])
        found = abstraction.buckets(cards_of_deals[:, :1], cards_of_deals[:, 1:])[:, turn]
        assert found.tolist() == list(before.values())


@pytest.mark.parametrize("text", ["3,H3:KE4,H3:KE3", "3,H3:R.3:.6,H3:M.2"])
def test_other_families_by_strength_against_two(text: str) -> None:
    """Hands with equal strengths against two share a bucket, and the buckets are not those against one."""
    deck, shape = (5, 2), (1, 2, 1)
    two = build(deck, shape, text, "imperfect")
    one = build(deck, shape, text.replace("H3:", ""), "imperfect")
    assert any(not np.array_equal(a.table, b.table) for a, b in zip(two.rounds[1:], one.rounds[1:], strict=True))  # type: ignore[arg-type]
    features = CardFeatures(deck, shape, rivals=2)
    for turn, known in ((1, features.sums(1).histogram), (2, features.strengths()[:, None])):
        bucket: dict[bytes, int] = {}
        by_ranges = "R" in text
        if by_ranges and turn == 1:
            known = features.sums(1).mean[:, None]
        for row, found in zip(known, np.asarray(two.rounds[turn].table).tolist(), strict=True):
            assert bucket.setdefault(row.tobytes(), found) == found


@pytest.mark.parametrize(
    ("board", "texture"),
    [
        ("2c7d9s", (1, (), 2)),
        ("AcKcQc", (3, (), 3)),
        ("As2c3d", (1, (), 3)),
        ("7c7d7s9s9d", (2, (3, 2), 2)),
        ("AcAd", (1, (2,), 1)),
    ],
)
def test_texture_of_a_board(board: str, texture: tuple[int, tuple[int, ...], int]) -> None:
    assert texture_of(parse_cards(board)) == texture
