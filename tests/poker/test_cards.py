"""Cards and decks, numbered and written as the competition's dealer does (ACPC ``game.c``)."""

from __future__ import annotations

import pytest

from counterplay.errors import GameError
from counterplay.poker.cards import (
    CARDS,
    RANKS,
    SUITS,
    card_text,
    cards_text,
    deck,
    parse_card,
    parse_cards,
    rank_of,
    suit_of,
)


def test_numbers_and_text() -> None:
    assert CARDS == 52
    assert [card_text(card) for card in range(5)] == ["2c", "2d", "2h", "2s", "3c"]
    for card in range(CARDS):
        assert 4 * rank_of(card) + suit_of(card) == card
        text = RANKS[rank_of(card)] + SUITS[suit_of(card)]
        assert card_text(card) == text
        assert parse_card(text) == parse_card(text.lower()) == parse_card(text.upper()) == card


def test_cards_in_a_row() -> None:
    assert cards_text(parse_cards("TdAs2c")) == "TdAs2c"
    assert parse_cards(" td aS\n2C ") == parse_cards("TdAs2c")
    assert parse_cards("") == ()
    assert cards_text([]) == ""


@pytest.mark.parametrize(
    "text",
    ["Td As 2c", "td,as,2c", "10dAs2c", "T♦A♠2♣", "10♦, A♠, 2♣", "10♢A♤2♧", "T♦\ufe0fA♠2♣\ufe0f", "10 d As,2c"],
)
def test_spellings_of_cards(text: str) -> None:
    assert cards_text(parse_cards(text)) == "TdAs2c"


def test_spellings_of_one_card() -> None:
    for card in range(CARDS):
        rank, suit = RANKS[rank_of(card)], "♣♦♥♠"[suit_of(card)]
        assert parse_card(rank + suit) == parse_card(rank.lower() + suit) == card
    assert parse_card("10d") == parse_card("10♦") == parse_card("Td")


@pytest.mark.parametrize(
    ("ranks", "suits", "cards"),
    [
        pytest.param(3, 1, "QsKsAs", id="kuhn"),
        pytest.param(4, 1, "JsQsKsAs", id="three-player kuhn"),
        pytest.param(3, 2, "QhKhAhQsKsAs", id="leduc"),
        pytest.param(1, 4, "AcAdAhAs", id="aces"),
    ],
)
def test_small_decks_have_the_highest_cards(ranks: int, suits: int, cards: str) -> None:
    assert cards_text(deck(ranks, suits)) == cards


def test_the_whole_deck_goes_suit_by_suit() -> None:
    cards = deck()
    assert sorted(cards) == list(range(CARDS))
    assert cards_text(cards[:13]) == "".join(rank + "c" for rank in RANKS)
    assert cards_text(cards[-2:]) == "KsAs"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: parse_card("1s"), "such as Td; got '1s'"),
        (lambda: parse_card("A"), "such as Td; got 'A'"),
        (lambda: parse_card("Asx"), "such as Td; got 'Asx'"),
        (lambda: parse_cards("AsK"), "such as Td; got 'K'"),
        (lambda: parse_cards("As Kx 2c"), "such as Td; got 'Kx' at character 4 of 'As Kx 2c'"),
        (lambda: parse_cards("As,10x"), "such as Td; got '10x' at character 4"),
        (lambda: parse_cards("10dTd"), "Td occurs twice in '10dTd'"),
        (lambda: parse_cards("AsKsAS"), "As occurs twice in 'AsKsAS'"),
        (lambda: card_text(52), "0 to 51; got 52"),
        (lambda: card_text(-1), "0 to 51; got -1"),
        (lambda: deck(14), "got 14 ranks, 4 suits"),
        (lambda: deck(13, 0), "got 13 ranks, 0 suits"),
    ],
)
def test_mistakes(call: object, words: str) -> None:
    with pytest.raises(GameError, match=words):
        call()  # type: ignore[operator]
