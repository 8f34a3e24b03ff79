"""Betting of poker hands: legal actions, rounds, side pots, values; against a plain twin and against PokerKit."""

from __future__ import annotations

import dataclasses
import random
import warnings
from fractions import Fraction
from typing import Any

import pokerkit
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.errors import GameError
from counterplay.game.game import TERMINAL
from counterplay.poker.acpc.definition import UNLIMITED, GameDefinition
from counterplay.poker.acpc.match_state import rank_cards
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.cards import cards_text
from counterplay.poker.evaluator import rank_hand
from counterplay.poker.rules import Betting, parse_actions
from tests.poker_hands import definitions, random_action
from tests.reference.poker import Table, hand_strength

LIMIT = STANDARD["holdem.limit.2p.reverse_blinds"]
NO_LIMIT = STANDARD["holdem.nolimit.2p.reverse_blinds"]
NO_LIMIT_3 = STANDARD["holdem.nolimit.3p"]


@settings(max_examples=400, deadline=None)
@given(definitions(), st.integers(0, 2**32 - 1))
def test_random_hands_agree_with_the_twin(game: GameDefinition, seed: int) -> None:
    chance = random.Random(seed)
    betting, table = Betting.start(game), Table(game)
    while not betting.finished:
        assert not table.finished
        assert (betting.player, betting.round) == (table.player(), table.round)
        assert betting.raise_range() == table.raise_range()
        assert betting.can_fold() == table.can_fold()
        action = random_action(betting, chance)
        assert betting.legal(action)
        betting = betting.act(action)
        table.act(action)
        assert list(betting.spent) == table.spent
        assert betting.max_spent == table.max_spent == max(betting.spent)
        assert betting.text() == table.text() or not any(table.done)
    assert table.finished
    assert Betting.after(game, betting.text()).text() == betting.text()
    ranks = [chance.choice([1, 2, 3]) for _ in range(game.players)]
    values = betting.values(ranks)
    assert sum(values) == 0
    assert list(values) == [table.value(player, ranks) for player in range(game.players)]
    assert all(isinstance(value, int) or value.denominator > 1 for value in values)


@settings(max_examples=200, deadline=None)
@given(definitions(), st.integers(0, 2**32 - 1))
def test_legal_actions_are_those_that_can_be_played(game: GameDefinition, seed: int) -> None:
    if not game.limit and max(game.stacks) > 60:
        game = dataclasses.replace(game, stacks=(40,) * game.players)
    chance = random.Random(seed)
    betting = Betting.start(game)
    while not betting.finished:
        legal = betting.legal_actions()
        every = ["f", "c", "r", *(f"r{size}" for size in range(62)), "", "x", "r-1", "r01", "c5"]
        assert [action for action in every if betting.legal(action)] == legal
        illegal = chance.choice([action for action in every if action not in legal])
        with pytest.raises(GameError, match=r"is not legal after '.*'; choose one of "):
            betting.act(illegal)
        betting = betting.act(random_action(betting, chance))
    assert betting.legal_actions() == []
    with pytest.raises(GameError, match="the hand is over"):
        betting.act("c")


# ---------------------------------------------------------------------------------------------- PokerKit


def pokerkit_state(game: GameDefinition) -> Any:
    """The same game at a table of PokerKit."""
    kit = pokerkit
    least = [game.big_blind] * 4 if not game.limit else list(game.raise_sizes)
    streets = tuple(
        kit.Street(
            False, (False,) * 2 if number == 0 else (), game.board_cards[number], False, kit.Opening.POSITION,
            least[number], None if not game.limit else game.max_raises[number],
        )
        for number in range(4)
    )  # fmt: skip
    automations = (
        kit.Automation.ANTE_POSTING, kit.Automation.BET_COLLECTION, kit.Automation.BLIND_OR_STRADDLE_POSTING,
        kit.Automation.HOLE_CARDS_SHOWING_OR_MUCKING, kit.Automation.HAND_KILLING, kit.Automation.CHIPS_PUSHING,
        kit.Automation.CHIPS_PULLING, kit.Automation.RUNOUT_COUNT_SELECTION,
    )  # fmt: skip
    blinds = game.blinds[::-1] if game.players == 2 else game.blinds
    structure = kit.BettingStructure.FIXED_LIMIT if game.limit else kit.BettingStructure.NO_LIMIT
    return kit.State(
        automations, kit.Deck.STANDARD, (kit.StandardHighHand,), streets, structure, True, (0,) * game.players,
        blinds, 0, game.stacks, game.players, divmod=lambda chips, parts: (Fraction(chips, parts), 0),
    )  # fmt: skip


@st.composite
def holdem(draw: st.DrawFn) -> GameDefinition:
    """Texas hold'em as PokerKit plays it, with stacks of all sizes."""
    limit = draw(st.booleans())
    players = draw(st.integers(2, 9))
    small = draw(st.integers(1, 5))
    blinds = (2 * small, small) if players == 2 else (small, 2 * small, *(0,) * (players - 2))
    size = st.integers(2 * small, 120)
    stacks = draw(st.one_of(size.map(lambda s: (s,) * players), st.lists(size, min_size=players, max_size=players)))
    sizes = (2 * small, 2 * small, 4 * small, 4 * small)
    return dataclasses.replace(
        LIMIT, limit=limit, players=players, blinds=blinds, stacks=tuple(stacks), raise_sizes=sizes if limit else (),
        first_players=(1 if players == 2 else 2, 0, 0, 0), max_raises=(3, 4, 4, 4) if limit else (255,) * 4,
    )  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(holdem(), st.integers(0, 2**32 - 1))
def test_values_agree_with_pokerkit(game: GameDefinition, seed: int) -> None:
    """PokerKit's finer rules on raises after short all-ins are not ours: what it refuses becomes a call."""
    chance = random.Random(seed)
    deck = list(game.deck)
    chance.shuffle(deck)
    hole = [tuple(deck[2 * p : 2 * p + 2]) for p in range(game.players)]
    board = tuple(deck[-5:])
    state = pokerkit_state(game)
    for cards in hole:
        state.deal_hole(cards_text(cards))
    betting = Betting.start(game)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while not betting.finished:
            start, end = len(list(state.get_board_cards(0))), game.board_ends[betting.round]
            if start < end:
                state.deal_board(cards_text(board[start:end]))
            action = random_action(betting, chance)
            if state.actor_index is None:  # nobody is left to bet against
                assert betting.to_call == 0
                betting = betting.act("c")
                continue
            assert state.actor_index == betting.player
            base = betting.spent[betting.player] - state.bets[betting.player]
            to = 0 if action in "fc" else (betting.raise_range() or (0,))[0] if game.limit else int(action[1:])
            if to and not state.can_complete_bet_or_raise_to(to - base):
                action = "c"
            if action == "f":
                state.fold()
            elif action == "c":
                state.check_or_call()
            else:
                state.complete_bet_or_raise_to(to - base)
            betting = betting.act(action)
        while state.can_deal_board():
            start = len(list(state.get_board_cards(0)))
            state.deal_board(cards_text(board[start : max(3, start + 1)]))
    assert not state.status
    ranks = [rank_hand((*cards, *board)) for cards in hole]
    assert list(betting.values(ranks)) == state.payoffs


# ---------------------------------------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    ("game", "text", "ranks", "values"),
    [
        pytest.param(LIMIT, "rf", None, (-10, 10), id="a raise takes the blind"),
        pytest.param(LIMIT, "f", None, (5, -5), id="small blind folds"),
        pytest.param(LIMIT, "cc/cc/cc/cc", (3, 3), (0, 0), id="tie"),
        pytest.param(LIMIT, "crrrc/rrrrc/rrrrc/rrrrc", (1, 2), (-240, 240), id="capped"),
        pytest.param(NO_LIMIT, "r20000c///", (2, 1), (20000, -20000), id="all-in before the flop"),
        pytest.param(NO_LIMIT_3, "r200r2052cc/", None, None, id="not over"),
        pytest.param(NO_LIMIT_3, "r20000cc///", (1, 2, 2), (-20000, 10000, 10000), id="split in two"),
    ],
)
def test_values_by_hand(game: GameDefinition, text: str, ranks: Any, values: Any) -> None:
    betting = Betting.after(game, text)
    assert betting.text() == text
    if values is None:
        with pytest.raises(GameError, match="the hand is not over after"):
            betting.values(ranks)
    else:
        assert betting.values(ranks) == values


def test_side_pots_by_hand() -> None:
    """Stacks 10, 30, 60: the short hand wins the main pot, the middle one the side pot, the rest goes back."""
    game = dataclasses.replace(NO_LIMIT_3, stacks=(10, 30, 60), blinds=(1, 2, 0))
    betting = Betting.after(game, "r60cc")
    assert betting.text() == "r60cc///"
    assert betting.spent == (10, 30, 60)
    assert betting.values((3, 2, 1)) == (20, 10, -30)
    assert betting.values((1, 1, 1)) == (0, 0, 0)
    assert betting.values((2, 1, 2)) == (5, -30, 25)


def test_pots_split_in_three_are_fractions() -> None:
    game = dataclasses.replace(STANDARD["holdem.limit.3p"], players=4, blinds=(5, 10, 0, 0), stacks=(UNLIMITED,) * 4)
    betting = Betting.after(game, "cccc/rccf/ccc/ccc")
    assert betting.values((1, 1, 1, 0)) == (Fraction(10, 3),) * 3 + (-10,)


def test_short_all_in_raises() -> None:
    """An all-in below the least raise is the only raise, and does not make the next least raise smaller."""
    game = dataclasses.replace(NO_LIMIT_3, stacks=(20000, 350, 20000))
    betting = Betting.after(game, "r300f")
    assert betting.player == 1
    assert betting.raise_range() == (350, 350)
    assert betting.act("r350").raise_range() is None  # nobody else has chips to answer
    three = dataclasses.replace(NO_LIMIT_3, stacks=(350, 20000, 20000))
    assert Betting.after(three, "r300r350").raise_range() == (500, 20000)


def test_nobody_raises_into_players_without_chips() -> None:
    betting = Betting.after(NO_LIMIT, "cr20000")
    assert betting.legal_actions() == ["f", "c"]
    game = dataclasses.replace(NO_LIMIT_3, stacks=(50, 100, 300))
    assert Betting.start(game).legal_actions() == ["f", "c"]
    assert Betting.after(game, "c").text() == "c///"


def test_blinds_that_leave_nobody_with_chips() -> None:
    game = dataclasses.replace(NO_LIMIT, stacks=(100, 50))
    betting = Betting.start(game)
    assert betting.player == TERMINAL
    assert (betting.round, betting.text()) == (3, "///")
    assert betting.values((1, 2)) == (-50, 50)


def test_a_round_has_at_most_64_actions() -> None:
    game = dataclasses.replace(NO_LIMIT, stacks=(20000, 20000), blinds=(0, 0))
    betting = Betting.start(game)
    while (span := betting.raise_range()) is not None:
        betting = betting.act(f"r{span[0]}")
    assert len(betting.actions[0]) == 63
    assert betting.legal_actions() == ["f", "c"]


def test_limit_raises_need_chips() -> None:
    game = dataclasses.replace(LIMIT, stacks=(100, 15))
    betting = Betting.after(game, "r")
    assert betting.spent == (10, 15)
    assert betting.raise_range() is None
    game = dataclasses.replace(STANDARD["holdem.limit.3p"], stacks=(15, 200, 200))
    assert Betting.after(game, "r").raise_range() is None
    assert Betting.after(game, "rc").raise_range() == (30, 30)


@pytest.mark.parametrize(
    ("text", "limit", "actions"),
    [
        pytest.param("cRk/bF", True, ["c", "r", "c", "r", "f"], id="letters of others"),
        pytest.param("r250B0300C", False, ["r250", "r300", "c"], id="sizes"),
        pytest.param("///", True, [], id="slashes only"),
    ],
)
def test_letters_are_read(text: str, limit: bool, actions: list[str]) -> None:
    assert list(parse_actions(text, limit)) == actions


@pytest.mark.parametrize(
    ("text", "limit"), [("r250", True), ("r", False), ("x", True), ("c c", True), ("r-5", False), ("cc\n", True)]
)
def test_letters_that_cannot_be_read(text: str, limit: bool) -> None:
    with pytest.raises(GameError, match=r"cannot read .* in the betting"):
        parse_actions(text, limit)


def test_messages_show_the_choices() -> None:
    with pytest.raises(GameError, match=r"^'r20001' is not legal after 'cr3000'; choose one of f, c, r5900 to r20000$"):
        Betting.after(NO_LIMIT, "cr3000").act("r20001")
    with pytest.raises(GameError, match=r"^'f' is not legal after 'c'; choose one of c, r$"):
        Betting.after(LIMIT, "cf")
    with pytest.raises(GameError, match=r"choose one of c, r200 to r20000$"):
        Betting.after(NO_LIMIT, "cf")
    with pytest.raises(GameError, match=r"a showdown after .*; give the ranks"):
        Betting.after(NO_LIMIT, "r20000c").values()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 51), min_size=20, max_size=20, unique=True), st.integers(8, 10))
def test_ranks_of_more_than_seven_cards(cards: list[int], size: int) -> None:
    """Definitions allow three hole cards and seven on the board."""
    one, other = tuple(cards[:size]), tuple(cards[-size:])
    ranks = [rank_cards(STANDARD["royal"], cards) for cards in (one, other)]
    assert (ranks[0] > ranks[1]) == (hand_strength(one) > hand_strength(other))


@pytest.mark.parametrize(
    ("game", "after", "answer", "played"),
    [
        pytest.param(LIMIT, "", "r", "r", id="legal"),
        pytest.param(LIMIT, "", "B", "r", id="a letter of others"),
        pytest.param(LIMIT, "c", "f", "c", id="fold when checking is free"),
        pytest.param(LIMIT, "r", "f", "f", id="fold"),
        pytest.param(LIMIT, "rrr", "r", "c", id="one raise too many"),
        pytest.param(LIMIT, "", "r500", "r", id="a size in a limit game"),
        pytest.param(LIMIT, "", "", "c", id="nothing"),
        pytest.param(LIMIT, "", "/", "c", id="slash"),
        pytest.param(LIMIT, "", "hello", "c", id="garbage"),
        pytest.param(LIMIT, "r", "fold", "f", id="a word"),
        pytest.param(NO_LIMIT, "", "r", "c", id="no size"),
        pytest.param(NO_LIMIT, "", "r7", "r200", id="too small"),
        pytest.param(NO_LIMIT, "", "r300", "r300", id="a size"),
        pytest.param(NO_LIMIT, "", "r -5", "r200", id="a negative size"),
        pytest.param(NO_LIMIT, "", "r300!", "r300", id="a size and more"),
        pytest.param(NO_LIMIT, "", "r99999999", "r20000", id="too large"),
        pytest.param(NO_LIMIT, "r20000", "r20000", "c", id="nobody to raise"),
        pytest.param(NO_LIMIT, "", "r" + "9" * 5000, "r20000", id="a very long size"),
    ],
)
def test_what_a_dealer_plays_for_an_answer(game: GameDefinition, after: str, answer: str, played: str) -> None:
    """The reference dealer: sizes move to the nearest legal one, all else that is not legal is a call."""
    assert Betting.after(game, after).nearest_legal(answer) == played
