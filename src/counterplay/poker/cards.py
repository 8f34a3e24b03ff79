"""Cards, their text and decks of any size, numbered as the reference dealer of the poker competition does.

A card is ``4 * rank + suit`` with ranks ``23456789TJQKA`` (0 .. 12) and suits ``cdhs`` (0 .. 3), whatever the deck.
A small deck keeps the highest ranks and the highest suits: Kuhn's is ``Qs Ks As``.
"""

from __future__ import annotations

from collections.abc import Iterable

from counterplay.errors import GameError

__all__ = ["RANKS", "SUITS", "card_text", "cards_text", "make_deck", "parse_cards"]

RANKS = "23456789TJQKA"
SUITS = "cdhs"

_TEXTS = [rank + suit for rank in RANKS for suit in SUITS]
_NUMBERS = {
    rank + suit: number
    for number, text in enumerate(_TEXTS)
    for rank in {text[0], text[0].lower()}
    for suit in {text[1], text[1].upper()}
}


def card_text(card: int) -> str:
    """A card as rank and suit, ``Td``."""
    return _TEXTS[card]


def cards_text(cards: Iterable[int]) -> str:
    """Cards one after the other with nothing between them, ``TdAs``."""
    return "".join([_TEXTS[card] for card in cards])


def parse_cards(text: str) -> tuple[int, ...]:
    """Read cards that stand one after the other, in any case; blanks are not allowed."""
    try:
        cards = tuple([_NUMBERS[text[place : place + 2]] for place in range(0, len(text), 2)])
    except KeyError:
        raise GameError(f"cannot read the cards {text!r}; write each as rank and suit, like TdAs") from None
    return cards


def make_deck(suits: int, ranks: int) -> tuple[int, ...]:
    """The cards of a deck, suit by suit from the lowest, ranks ascending: the order in which dealers hold them."""
    if not (1 <= suits <= 4 and 1 <= ranks <= 13):
        raise GameError(f"a deck has 1 to 4 suits and 1 to 13 ranks; got {suits} and {ranks}")
    return tuple(4 * rank + suit for suit in range(4 - suits, 4) for rank in range(13 - ranks, 13))
