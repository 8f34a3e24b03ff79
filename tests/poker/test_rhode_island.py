"""Rhode Island hold'em: both orders of three-card hands, and the game of the definition beside one written by hand."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.agents import open_match_game
from counterplay.errors import GameError
from counterplay.evaluation import evaluate
from counterplay.evaluation.bucket_pairs import count_bucket_pairs, measure_buckets
from counterplay.evaluation.lifted_buckets import LiftedStrategy
from counterplay.evaluation.split_evaluation import evaluate_split
from counterplay.forms import open_game
from counterplay.kernels.cards.evaluator import rank_hands
from counterplay.lp.zero_sum import solve_zero_sum
from counterplay.poker.acpc.definition import GameDefinition, format_definition, parse_definition
from counterplay.poker.acpc.match_state import parse_state
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.cards import card_text, cards_text, parse_cards
from counterplay.poker.evaluator import CATEGORIES, hand_tables
from counterplay.poker.poker_game import PokerGame
from counterplay.poker.three_cards import (
    rank_three_cards,
    rank_three_cards_each,
    showdown_tables,
    three_card_meaning,
    three_card_table,
)  # fmt: skip
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.tree import GameTree
from tests.reference.rhode_island import RhodeIsland, hand_value

COUNTS = {
    "straight flush": 48, "three of a kind": 52, "straight": 720, "flush": 1_096, "pair": 3_744, "high card": 16_440,
}  # fmt: skip
"""Of the 22,100 hands of three cards, from the highest; the order is that of rarity, but for the high card."""

ALL = np.array(list(itertools.combinations(range(52), 3)), dtype=np.uint8)


class TestHands:
    def test_all_hands_by_category(self) -> None:
        ranks = rank_three_cards_each(ALL)
        names = Counter(CATEGORIES[three_card_meaning(rank).category] for rank in ranks.tolist())
        assert names == COUNTS
        highest = dict.fromkeys(COUNTS, 0)
        for rank in ranks.tolist():
            name = CATEGORIES[three_card_meaning(rank).category]
            highest[name] = max(highest[name], rank)
        assert sorted(COUNTS, key=highest.__getitem__, reverse=True) == list(COUNTS)

    def test_every_hand_as_the_twin(self) -> None:
        """Ranks and tuples correspond one to one and in order, and no number is left out."""
        ranks = rank_three_cards_each(ALL).tolist()
        values = [hand_value(tuple(card_text(card) for card in hand), straights=True) for hand in ALL.tolist()]
        pairs = sorted(set(zip(values, ranks, strict=True)))
        assert [rank for _, rank in pairs] == list(range(1, 742))
        assert len({value for value, _ in pairs}) == 741

    def test_in_any_order_of_cards(self) -> None:
        table = three_card_table()
        for axes in itertools.permutations(range(3)):
            np.testing.assert_array_equal(table, table.transpose(axes))
        assert np.count_nonzero(table) == 6 * len(ALL)

    def test_suits_are_equal(self) -> None:
        ranks = rank_three_cards_each(ALL)
        for suits in itertools.permutations(range(4)):
            renamed = 4 * (ALL // 4) + np.array(suits, dtype=np.uint8)[ALL % 4]
            np.testing.assert_array_equal(rank_three_cards_each(renamed), ranks)

    @pytest.mark.parametrize(
        ("cards", "text"),
        [
            ("QsKsAs", "straight flush A"),
            ("As2s3s", "straight flush 3"),
            ("2s2h2d", "three of a kind 2"),
            ("As3h2d", "straight 3"),
            ("KsAs2s", "flush AK2"),
            ("9s9h4d", "pair 94"),
            ("9s4h4d", "pair 49"),
            ("KsAs2h", "high card AK2"),
        ],
    )
    def test_meanings(self, cards: str, text: str) -> None:
        assert three_card_meaning(rank_three_cards(parse_cards(cards))).text == text

    def test_mistakes(self) -> None:
        with pytest.raises(GameError, match="a hand has 3 cards; got 2"):
            rank_three_cards([1, 2])
        with pytest.raises(GameError, match="a card is in the hand twice: 2d2d2c"):
            rank_three_cards([1, 1, 0])
        with pytest.raises(GameError, match="cards are the numbers 0 to 51; got 52"):
            rank_three_cards([1, 52, 0])
        with pytest.raises(GameError, match="hands have 3 cards; got 4"):
            rank_three_cards_each([[1, 2, 3, 4]])
        with pytest.raises(GameError, match="a card is in hand 1 twice: 2d3c2d"):
            rank_three_cards_each([[1, 2, 3], [1, 4, 1]])
        with pytest.raises(GameError, match="ranks of three cards are 1 to 741; got 742"):
            three_card_meaning(742)


class TestDefinition:
    def test_the_line_of_a_file(self) -> None:
        plain = STANDARD["rhode"]
        first = dataclasses.replace(plain, three_card_hands=True)
        text = format_definition(first)
        assert text.replace("threeCardHands\n", "") == format_definition(plain)
        assert parse_definition(text) == first
        assert parse_definition(text.replace("threeCardHands", "THREECARDHANDS")) == first

    def test_only_for_three_cards(self) -> None:
        with pytest.raises(GameError, match=r"threeCardHands needs hands of three cards.*; got 2"):
            dataclasses.replace(STANDARD["leduc.limit.2p"], three_card_hands=True)
        with pytest.raises(GameError, match="leduc_limit_2p has no parameter 'three_card_hands'"):
            cp.make("leduc_limit_2p(three_card_hands=true)")

    def test_showdowns(self) -> None:
        """A flush loses to a pair in the competition and wins in the first description."""
        line = "STATE:0:cc/cc/cc:2s|9h/9s/4s"
        plain = STANDARD["rhode"]
        assert parse_state(plain, line).values() == (-5, 5)
        assert parse_state(dataclasses.replace(plain, three_card_hands=True), line).values() == (5, -5)

    def test_kernels_look_up_the_same_ranks(self) -> None:
        first = dataclasses.replace(STANDARD["rhode"], three_card_hands=True)
        ranks = np.empty(len(ALL), np.uint16)
        assert rank_hands(showdown_tables(first), ALL.astype(np.uint8), ranks) == -1
        np.testing.assert_array_equal(ranks, rank_three_cards_each(ALL))
        assert showdown_tables(STANDARD["rhode"]) is hand_tables()

    def test_dealers_know_it(self) -> None:
        assert open_match_game("rhode_island(three_card_hands=true)").definition().three_card_hands
        assert not open_match_game("rhode_island").definition().three_card_hands


def by_hand(definition: GameDefinition) -> RhodeIsland:
    deck = tuple(cards_text([card]) for card in definition.deck)
    return RhodeIsland(deck, definition.max_raises[0], definition.three_card_hands)


def both(ranks: int, suits: int, cap: int, three: bool, folder: Path) -> tuple[GameTree, GameTree]:
    """The game of a ``.game`` file and the one written by hand."""
    definition = dataclasses.replace(
        STANDARD["rhode"], ranks=ranks, suits=suits, max_raises=(cap,) * 3, three_card_hands=three
    )
    path = folder / "small rhode.game"
    path.write_text(format_definition(definition), encoding="utf-8")
    return cp.compile_game(str(path)), cp.compile_game(by_hand(definition))


def translated(profile: cp.TabularStrategy, twin: GameTree) -> cp.TabularStrategy:
    """A profile of the game of the file as one of the twin."""
    table = {(player, key): row for player, key, row in profile.infosets()}
    probabilities = np.zeros(twin.num_entries)
    for infoset, name in enumerate(twin.infoset_names):
        player = int(np.searchsorted(twin.player_infosets, infoset, side="right")) - 1
        cards, betting = name.split("; ")
        row = table[player, f"{cards.replace(' ', '/')}:{betting.replace(', ', '/')}"]
        probabilities[twin.infoset_offset[infoset] : twin.infoset_offset[infoset + 1]] = list(row.values())
    return cp.TabularStrategy.from_tree(twin, probabilities)


LONG = [pytest.param(*sizes, marks=pytest.mark.slow) for sizes in ((2, 3, 1), (4, 2, 1), (5, 1, 2), (3, 2, 3))]


@pytest.mark.parametrize("three", [False, True])
@pytest.mark.parametrize(("ranks", "suits", "cap"), [(3, 2, 1), *LONG])
def test_definition_equals_the_game_by_hand(ranks: int, suits: int, cap: int, three: bool, tmp_path: Path) -> None:
    """Sizes, values of a random profile, and best responses to it."""
    tree, twin = both(ranks, suits, cap, three, tmp_path)
    assert tree.counts() == twin.counts()
    assert tree.num_infosets == twin.num_infosets
    profile = cp.TabularStrategy.random(tree, 1)
    same = translated(profile, twin)
    assert cp.expected_values(profile, tree) == pytest.approx(cp.expected_values(same, twin), abs=1e-9)
    for player in range(2):
        expected = cp.best_response(same, player, twin).value
        assert cp.best_response(profile, player, tree).value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("three", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(("ranks", "suits", "cap"), [(3, 2, 1), *LONG[:2]])
def test_values(ranks: int, suits: int, cap: int, three: bool, tmp_path: Path) -> None:
    """Both games are worth the same, and an equilibrium of one is an equilibrium of the other."""
    tree, twin = both(ranks, suits, cap, three, tmp_path)
    result = cp.solve(tree, "lp")
    exact = solve_zero_sum(twin)
    assert exact is not None
    assert result.value[0] == pytest.approx(exact.value, abs=1e-8)
    assert cp.exploitability(translated(result.profile, twin), twin) == pytest.approx(0, abs=1e-8)


def test_all_representations_rank_alike(tmp_path: Path) -> None:
    """A strategy is worth the same by histories, on the public tree, one deal at a time, and in lossless buckets."""
    definition = dataclasses.replace(STANDARD["rhode"], ranks=3, suits=2, max_raises=(1,) * 3, three_card_hands=True)
    path = tmp_path / "small rhode.game"
    path.write_text(format_definition(definition), encoding="utf-8")
    game = cp.make(str(path))
    buckets = CardAbstraction.lossless((3, 2), (1, 1, 1)).rounds
    abstract = BucketGame.build(definition, buckets, name=str(path))
    weights = np.random.default_rng(2).random(abstract.num_entries)
    profile = BucketStrategy.of_game(abstract, weights)
    tree = cp.compile_game(str(path))
    exact = cp.evaluate(profile.lifted(tree), tree)
    usual = cp.compile_game(replaced_file(path, "threeCardHands\n"))
    assert exact.value[0] != pytest.approx(cp.evaluate(profile.lifted(usual), usual).value[0], abs=1e-3)
    lifted = LiftedStrategy(profile)
    assert isinstance(game, PokerGame)
    for found in (
        evaluate(profile, open_game(str(path), "public")),
        evaluate_split(game, (lifted, lifted)),
        measure_buckets(abstract, count_bucket_pairs(abstract), profile.strategy()),
    ):
        assert found.value == pytest.approx(exact.value, abs=1e-9)
        assert found.best_response == pytest.approx(exact.best_response, abs=1e-9)


def replaced_file(path: Path, line: str) -> str:
    """The same game without a line."""
    other = path.with_name("usual.game")
    other.write_text(path.read_text(encoding="utf-8").replace(line, ""), encoding="utf-8")
    return str(other)
