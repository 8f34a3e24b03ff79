"""Edges of hands that play on without bets: against plain loops over all boards, and the laws that they obey."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.matches.all_in_equity import AllInEquity, game_equity
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.cards import parse_cards
from counterplay.poker.evaluator import rank_hand
from counterplay.poker.three_cards import rank_three_cards
from tests.poker.test_bucket_game import LEDUC, THREE, THREE_CARDS, TWO_HOLES

HOLDEM = STANDARD["holdem.limit.2p.reverse_blinds"]
STREETS = dataclasses.replace(
    HOLDEM, suits=3, ranks=4, rounds=3, board_cards=(0, 3, 1), raise_sizes=(2, 2, 4), first_players=(1, 0, 0),
    max_raises=(1, 1, 1),
)  # fmt: skip
GAMES = {
    "kuhn": STANDARD["kuhn.limit.2p"],
    "leduc": LEDUC,
    "no limit": STANDARD["leduc.nolimit.2p"],
    "two hole cards": TWO_HOLES,
    "hands of three cards": THREE_CARDS,
    "three rounds": STREETS,
}


@functools.cache
def equity(name: str) -> AllInEquity:
    return AllInEquity(HOLDEM if name == "hold'em" else GAMES[name])


@functools.cache
def rank(three: bool, cards: frozenset[int]) -> int:
    return rank_three_cards(sorted(cards)) if three and len(cards) == 3 else rank_hand(cards)


def plain_edge(rules: GameDefinition, own: tuple[int, ...], other: tuple[int, ...], board: tuple[int, ...]) -> float:
    """The share of boards on which a hand wins, less that on which it loses."""
    left = [card for card in rules.deck if card not in (*own, *other, *board)]
    won, boards = 0, 0
    for more in itertools.combinations(left, rules.board_ends[-1] - len(board)):
        one, two = (rank(rules.three_card_hands, frozenset((*hand, *board, *more))) for hand in (own, other))
        won, boards = won + (one > two) - (one < two), boards + 1
    return won / boards


def cards_of(known: AllInEquity, hand: int) -> tuple[int, ...]:
    return tuple(known.holes[hand, : known.rules.hole_cards].tolist())


def random_deals(known: AllInEquity, count: int, seed: int = 0) -> list[tuple[int, tuple[int, ...]]]:
    """The opponent's hand, and a board."""
    draw, hole, found = np.random.default_rng(seed), known.rules.hole_cards, []
    for _ in range(count):
        dealt = draw.permutation(list(known.rules.deck)).tolist()
        found.append((known.number(sorted(dealt[:hole])), tuple(dealt[hole : hole + known.total])))
    return found


def possible(known: AllInEquity, other: int, board: tuple[int, ...]) -> NDArray[np.int64]:
    return np.flatnonzero((known.bits & known.bits[other] == 0) & known.free(*board))


@pytest.mark.parametrize("name", GAMES)
def test_edges_are_those_of_all_boards(name: str) -> None:
    known = equity(name)
    for other, board in random_deals(known, 4):
        edges = known.edges(other, board)
        assert len(edges) == known.rules.rounds
        for end, found in zip(known.rules.board_ends, edges, strict=True):
            live = possible(known, other, board[:end])
            assert len(live) > 0
            for hand in live[:: 1 + len(live) // 8].tolist():
                wanted = plain_edge(known.rules, cards_of(known, hand), cards_of(known, other), board[:end])
                assert found[hand] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_one_edge_is_that_of_all(name: str) -> None:
    known = equity(name)
    for other, board in random_deals(known, 4, seed=1):
        edges = known.edges(other, board)
        for hand in possible(known, other, board)[:5].tolist():
            own, theirs = cards_of(known, hand), cards_of(known, other)
            wanted = [edge[hand] for edge in edges]
            np.testing.assert_allclose(known.edge(own, theirs, board), wanted, atol=1e-12)
            np.testing.assert_allclose(known.edge(own[::-1], theirs[::-1], board), wanted, atol=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_what_one_wins_the_other_loses(name: str) -> None:
    known = equity(name)
    for other, board in random_deals(known, 3, seed=2):
        edges = known.edges(other, board)
        for hand in possible(known, other, board)[:4].tolist():
            back = [edge[other] for edge in known.edges(hand, board)]
            np.testing.assert_allclose([edge[hand] for edge in edges], [-edge for edge in back], atol=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_the_mean_over_the_cards_to_come_is_the_edge_now(name: str) -> None:
    known, ends = equity(name), equity(name).rules.board_ends
    for other, board in random_deals(known, 3, seed=3):
        hand = int(possible(known, other, board)[0])
        own, theirs = cards_of(known, hand), cards_of(known, other)
        for turn in range(len(ends) - 1):
            now = board[: ends[turn]]
            left = [card for card in known.rules.deck if card not in (*own, *theirs, *now)]
            later = [
                known.edges(other, (*now, *more))[turn + 1][hand]
                for more in itertools.combinations(left, ends[turn + 1] - ends[turn])
            ]
            assert np.mean(later) == pytest.approx(known.edges(other, now)[turn][hand], abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_before_the_first_card_edges_are_0_in_the_mean(name: str) -> None:
    known = equity(name)
    pairs = known.pairs
    apart = (known.bits[:, None] & known.bits[None]) == 0
    assert np.abs(np.where(apart, pairs, 0.0)).max() <= 1.0
    np.testing.assert_allclose(np.where(apart, pairs + pairs.T, 0.0), 0.0, atol=1e-12)
    assert np.where(apart, pairs, 0.0).sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", ["two hole cards", "three rounds", "hands of three cards", "leduc"])
def test_other_names_of_suits_change_nothing(name: str) -> None:
    known = equity(name)
    rules = known.rules
    suits = sorted({card % 4 for card in rules.deck})
    for renaming in itertools.permutations(suits):
        named = dict(zip(suits, renaming, strict=True))

        def renamed(cards: tuple[int, ...], named: dict[int, int] = named) -> tuple[int, ...]:
            return tuple(card - card % 4 + named[card % 4] for card in cards)

        for other, board in random_deals(known, 2, seed=4):
            ours = known.edges(other, board)
            theirs = known.edges(known.number(sorted(renamed(cards_of(known, other)))), renamed(board))
            for hand in possible(known, other, board)[:6].tolist():
                same = known.number(sorted(renamed(cards_of(known, hand))))
                assert [edge[hand] for edge in ours] == [edge[same] for edge in theirs]


def test_the_order_of_the_cards_on_the_table_changes_nothing() -> None:
    known = equity("three rounds")
    for other, board in random_deals(known, 3, seed=5):
        one, two = known.edges(other, board), known.edges(other, (*board[2::-1], *board[3:]))
        live = possible(known, other, board)
        for first, second in zip(one, two, strict=True):
            np.testing.assert_array_equal(first[live], second[live])


# The full deck: with a board, as the table of all pairs before it takes minutes ------------------------------------


def holdem_edges(own: str, other: str, board: str) -> list[float]:
    """The edges on a board of hold'em, by the loop for all hands; those of the first round are left out."""
    known = equity("hold'em")
    cards = tuple(parse_cards(board))
    ends = [end for end in HOLDEM.board_ends[1:] if end <= len(cards)]
    found = known._on_board(known.number(sorted(parse_cards(other))), cards, ends)
    return [float(edge[known.number(sorted(parse_cards(own)))]) for edge in found]


@pytest.mark.parametrize(
    ("own", "other", "board", "equity"),
    [
        ("AsKs", "QhQd", "2c7dTh", 0.2475),  # 245 of 990 boards
        ("QhQd", "AsKs", "2c7dTh", 0.7525),
        ("AsKs", "QhQd", "2s7sTh2d", 14 / 44),  # three aces, three kings, eight spades but Qs
        ("AsKs", "AhKh", "2c7dTc", 0.5),  # ties on every board
        ("2c2d", "AsKs", "QsJsTs", 0.0),  # a royal flush
    ],
)
def test_known_equities_of_holdem(own: str, other: str, board: str, equity: float) -> None:
    found = holdem_edges(own, other, board)[-1]
    assert (1.0 + found) / 2 == pytest.approx(equity, abs=5e-5)
    wanted = plain_edge(HOLDEM, tuple(parse_cards(own)), tuple(parse_cards(other)), tuple(parse_cards(board)))
    assert found == pytest.approx(wanted, abs=1e-12)


def test_rounds_of_holdem_and_suits_that_are_renamed() -> None:
    ours = holdem_edges("AsKs", "QhQd", "2c7dThJs3s")
    assert holdem_edges("AdKd", "QsQc", "2h7cTsJd3d") == ours  # s, h, d, c are called d, s, c, h
    own, other, board = (tuple(parse_cards(text)) for text in ("AsKs", "QhQd", "2c7dThJs3s"))
    for end, found in zip((3, 4, 5), ours, strict=True):
        assert found == pytest.approx(plain_edge(HOLDEM, own, other, board[:end]), abs=1e-12)


# What is refused, and kept ----------------------------------------------------------------------------------------


def test_more_players_are_refused() -> None:
    with pytest.raises(GameError, match="two players with one or two hole cards"):
        AllInEquity(THREE)
    with pytest.raises(GameError, match="two players with one or two hole cards"):
        AllInEquity(dataclasses.replace(TWO_HOLES, hole_cards=3, board_cards=(0, 1)))


def test_the_equities_of_a_game_are_computed_once() -> None:
    assert game_equity(LEDUC) is game_equity(LEDUC)
    assert game_equity(LEDUC) is not game_equity(TWO_HOLES)


def test_numbers_of_hands() -> None:
    for name in GAMES:
        known = equity(name)
        assert [known.number(cards_of(known, hand)) for hand in range(len(known.holes))] == [*range(len(known.holes))]
        card = known.rules.deck[0]
        assert known.free(card).tolist() == [card not in cards_of(known, hand) for hand in range(len(known.holes))]
