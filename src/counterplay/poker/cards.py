"""Cards as numbers and as text, and decks of up to 13 ranks and 4 suits.

A card is ``4 * rank + suit``, as in the game code of the Annual Computer Poker Competition's dealer: ranks 0 .. 12 are
``23456789TJQKA``, suits 0 .. 3 are ``cdhs``.  The number of a card is the same in every deck: a deck with fewer ranks
or suits has the *highest* ones, so that Kuhn poker is played with Qs Ks As and Leduc hold'em with Qh Kh Ah Qs Ks As.
Text is rank, then suit, ``Td``, in any case; ``10d``, ``T♦`` and ``10♦`` are the same card.  Cards in a row may be
separated by spaces or commas: ``AsKd``, ``As Kd``, ``A♠, K♦``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from counterplay.errors import GameError
from counterplay.runtime.suggestions import quoted

RANKS = "23456789TJQKA"
SUITS = "cdhs"
MAX_RANKS = len(RANKS)
MAX_SUITS = len(SUITS)
CARDS = MAX_RANKS * MAX_SUITS
_TEXTS = tuple(rank + suit for rank in RANKS for suit in SUITS)
_NUMBERS = {
    spelling: card
    for card, text in enumerate(_TEXTS)
    for spelling in (text, text.lower(), text.upper(), text[0].lower() + text[1].upper())
}
_TEXT_OF = dict(enumerate(_TEXTS))
_SYMBOLS = str.maketrans("♣♦♥♠♧♢♡♤", SUITS + SUITS, "\ufe0e\ufe0f")
_CARD = re.compile(rf"(?:10|[{RANKS}])[{SUITS}♣♦♥♠♧♢♡♤][\ufe0e\ufe0f]?", re.IGNORECASE)
_UNREADABLE = re.compile(r"10.?|..?")


def rank_of(card: int) -> int:
    """0 for a deuce .. 12 for an ace."""
    return card // MAX_SUITS


def suit_of(card: int) -> int:
    """0 clubs, 1 diamonds, 2 hearts, 3 spades."""
    return card % MAX_SUITS


def card_text(card: int) -> str:
    """``Td`` for the ten of diamonds."""
    if not 0 <= card < CARDS:
        raise GameError(f"cards are the numbers 0 to {CARDS - 1}; got {card}")
    return _TEXTS[card]


def cards_text(cards: Iterable[int]) -> str:
    """Cards as text, ``TdAs``, in the order given."""
    try:
        return "".join([_TEXT_OF[card] for card in cards])
    except KeyError as unknown:
        return card_text(unknown.args[0])  # which says what is wrong with it


def plain_spelling(text: str) -> str:
    """Text with ``10`` written as ``T`` and symbols of suits as letters."""
    return text.translate(_SYMBOLS).replace("10", "T")


def parse_card(text: str) -> int:
    """The card of a rank and a suit as text, in any case: ``Td``, ``10d`` or ``T♦``."""
    card = _NUMBERS.get(plain_spelling(text))
    if card is None:
        raise GameError(_unreadable(text))
    return card


def parse_cards(text: str) -> tuple[int, ...]:
    """The cards of a text such as ``TdAs``, ``Td As`` or ``10♦,A♠``, in its order; all must differ."""
    letters = "".join(text.split())
    try:
        cards = tuple([_NUMBERS[letters[start : start + 2]] for start in range(0, len(letters), 2)])
    except KeyError:
        cards = _parse_spelled(text)
    if len(set(cards)) < len(cards):
        twice = next(card for card in cards if cards.count(card) > 1)
        raise GameError(f"the card {card_text(twice)} occurs twice in {quoted(text)}; leave one out")
    return cards


def _parse_spelled(text: str) -> tuple[int, ...]:
    """Cards in any spelling, with spaces or commas between and inside them."""
    letters = [(place, letter) for place, letter in enumerate(text) if not letter.isspace() and letter != ","]
    joined = "".join(letter for _, letter in letters)
    cards, place = [], 0
    while place < len(joined):
        found = _CARD.match(joined, place)
        if found is None:
            wrong = _UNREADABLE.match(joined, place)
            word = joined[place:] if wrong is None else wrong.group()
            raise GameError(f"{_unreadable(word)} at character {letters[place][0] + 1} of {quoted(text)}")
        cards.append(_NUMBERS[plain_spelling(found.group())])
        place = found.end()
    return tuple(cards)


def _unreadable(word: str) -> str:
    return f"a card is one of {RANKS} followed by one of {SUITS}, such as Td; got {quoted(word)}"


def deck(ranks: int = MAX_RANKS, suits: int = MAX_SUITS) -> tuple[int, ...]:
    """The cards of a deck: the highest ranks and suits, by suit, each from its lowest rank up.

    This is the order of the deck of the competition's dealer.
    """
    if not (1 <= ranks <= MAX_RANKS and 1 <= suits <= MAX_SUITS):
        raise GameError(
            f"a deck has 1 to {MAX_RANKS} ranks and 1 to {MAX_SUITS} suits; got {ranks} ranks, {suits} suits"
        )
    return tuple(
        MAX_SUITS * rank + suit
        for suit in range(MAX_SUITS - suits, MAX_SUITS)
        for rank in range(MAX_RANKS - ranks, MAX_RANKS)
    )
