"""The words of a card table: rules in two lines, cards, and what players do, with the chips of the betting round.

The protocol counts the chips of a raise over the whole hand.  People count those of the round: a bet of 100 on the flop
is ``r100`` here, whatever was put in before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from counterplay.agents.match_game import MatchGame
from counterplay.errors import GameError
from counterplay.game.game import Game
from counterplay.game.registry import games
from counterplay.poker.acpc.definition import NO_CAP, GameDefinition
from counterplay.poker.acpc.match_state import MatchState, rank_cards
from counterplay.poker.action_words import betting_letters
from counterplay.poker.cards import MAX_SUITS, card_text
from counterplay.poker.evaluator import HandMeaning, hand_meaning
from counterplay.poker.poker_game import PokerGame, definition_for, standard_name
from counterplay.poker.rules import Betting
from counterplay.poker.three_cards import three_card_meaning

CardName = Callable[[int], str]
"""How a card is written."""

_SYMBOLS = "♣♦♥♠"
_ALL_IN = ("a", "ai", "all", "allin", "all-in", "all in")
_POT = ("p", "pot")

MOST_DIGITS = 18
"""Of an amount that somebody types; no stack has more."""


def symbol_name(card: int) -> str:
    """``T♦`` for the ten of diamonds."""
    return card_text(card)[0] + _SYMBOLS[card % MAX_SUITS]


def card_namer(game: Game) -> CardName:
    """How a game writes its cards: the hand-written games of one hole card as their information sets do, J, Q and K."""
    definition = definition_for(game)
    if isinstance(game, PokerGame) or definition is None or definition.hole_cards > 1:
        return symbol_name
    return lambda card: game.acpc_infoset([card], [[]], [[]]).partition(":")[0]


def cards_shown(cards: Iterable[int], name: CardName) -> str:
    """Cards with blanks between them."""
    return " ".join(map(name, cards))


# ---------------------------------------------------------------------------------------------- rules


def rules_lines(played: MatchGame, definition: GameDefinition | None) -> tuple[str, str]:
    """What is played, in two lines."""
    game, known = played.game, None if definition is None else standard_name(definition)
    name = type(game).spec_name or known
    about = next((entry.summary for entry in games() if entry.name == name), "")
    if definition is None:
        people = f"{game.players} players" if game.players > 1 else "1 player"
        return (
            about if about.lower().startswith(played.name.lower()) else f"{played.name}: {about}".rstrip(": "),
            f"{people}; choose an action by its name, its first letters or its number. What you win is what the game "
            "pays at its end.",
        )
    kind = "limit" if definition.limit else "no-limit"
    return f"{played.name}: {about or f'{kind} poker by its definition.'}", _poker_rules(definition)


def _poker_rules(game: GameDefinition) -> str:
    board = sum(game.board_cards)
    table = f" and {board} on the table" if board else ""
    cards = f"{game.players} players, {len(game.deck)} cards, {game.hole_cards} in the hand{table}"
    posted = [blind for blind in game.blinds if blind]
    if len(set(game.blinds)) == 1:
        blinds = f"everybody antes {posted[0]}" if posted else "no blinds"
    else:
        blinds = f"blinds {' and '.join(f'{blind:,}' for blind in sorted(posted))}"
    if game.limit:
        sizes, most = _series(game.raise_sizes), set(game.max_raises)
        cap = "" if most == {NO_CAP} else f", at most {_series(game.max_raises)} in a round"
        return f"{cards}; {blinds}; bets of {sizes}{cap}."
    return f"{cards}; {blinds}; stacks of {_series(game.stacks)}, bet any amount up to that."


def _series(numbers: Sequence[int]) -> str:
    """``2 and 4``; one number if all are equal."""
    if len(set(numbers)) == 1:
        return f"{numbers[0]:,}"
    *most, last = (f"{number:,}" for number in numbers)
    return f"{', '.join(most)} and {last}"


# ---------------------------------------------------------------------------------------------- betting


def round_base(betting: Betting) -> int:
    """What those who are still in had put in before this round; antes count as put in before the first one."""
    game = betting.game
    if betting.round == 0 or len(betting.actions) == 1:
        return game.blinds[0] if len(set(game.blinds)) == 1 else 0
    return Betting.after(game, "".join("".join(row) for row in betting.actions[: betting.round])).max_spent


def action_phrase(betting: Betting, action: str) -> str:
    """An action as a person says it: ``check``, ``call 10``, ``bet 20``, ``raise to 40``, ``fold``."""
    if action == "f":
        return "fold"
    if action == "c":
        if not betting.to_call:
            return "check"
        return f"call {betting.to_call:,}" + _all_in(betting, betting.max_spent)
    span = betting.raise_range()
    total = span[0] if betting.game.limit and span is not None else int(action[1:])
    base = round_base(betting)
    word = "bet" if betting.max_spent == base else "raise to"
    return f"{word} {total - base:,}" + _all_in(betting, total)


def _all_in(betting: Betting, total: int) -> str:
    limit, stack = betting.game.limit, betting.game.stacks[betting.player]
    return " (all in)" if total >= stack and not limit else ""


def third_person(phrase: str) -> str:
    """``calls 10`` for ``call 10``."""
    verb, blank, rest = phrase.partition(" ")
    return f"{verb}s{blank}{rest}"


def offers(betting: Betting) -> str:
    """What can be typed here, with its meaning."""
    words = ["f fold"] if betting.can_fold() else []
    words.append(f"c {action_phrase(betting, 'c')}")
    span = betting.raise_range()
    if span is not None and betting.game.limit:
        words.append(f"r {action_phrase(betting, 'r')}")
    elif span is not None:
        base = round_base(betting)
        least, most = (total - base for total in span)
        sizes = f"r{least}" if least == most else f"r{least} to r{most}"
        words.append(f"{sizes} {'bet' if betting.max_spent == base else 'raise to'}")
    return ", ".join(words)


def read_action(betting: Betting, answer: str) -> str:
    """The action of a person's words, in the letters of the protocol.

    ``c``, ``call``, ``check`` and ``x``; ``r``, ``bet`` and ``raise``, in no-limit games with the chips of the round;
    there also ``pot`` and ``all-in``.  Raises GameError with what to type instead.
    """
    text, span, limit = " ".join(answer.lower().split()), betting.raise_range(), betting.game.limit
    if text in _ALL_IN and span is not None and not limit:
        return f"r{span[1]}"
    if text in _POT and span is not None and not limit:
        total = betting.max_spent + betting.pot + betting.to_call
        return f"r{min(max(total, span[0]), span[1])}"
    try:
        letters = betting_letters(text)
    except GameError:
        raise GameError(f"{answer!r} is not an action; type {offers(betting)}, ? for help, q to stop") from None
    chips = letters[1:]
    action = letters if limit or not chips.isdecimal() else f"r{int(chips[:MOST_DIGITS]) + round_base(betting)}"
    if limit and span is not None and letters[:1] == "r":
        if chips and chips not in (str(span[0] - round_base(betting)), str(span[0] - betting.max_spent)):
            raise GameError(f"{answer!r}: the size of a raise is fixed in this game; type {offers(betting)}")
        action = "r"
    if betting.legal(action):
        return action
    raise GameError(f"{answer!r} is not possible here; type {offers(betting)}")


# ---------------------------------------------------------------------------------------------- showdown


def hand_text(state: MatchState, position: int, name: CardName) -> str:
    """The cards of a position at a showdown, and what they make, if it is more than a high card."""
    game, hole = state.game, state.deal.hole[position]
    rank = rank_cards(game, (*hole, *state.board))
    return made_hand(hole, three_card_meaning(rank) if game.three_card_hands else hand_meaning(rank), name)


def made_hand(hole: Iterable[int], meaning: HandMeaning, name: CardName) -> str:
    """Hole cards and what they make with the board."""
    shown = cards_shown(hole, name)
    return f"{shown} ({_CATEGORIES[meaning.category]})" if meaning.category else shown


_CATEGORIES = (
    "high card", "a pair", "two pair", "three of a kind", "a straight", "a flush", "a full house", "four of a kind",
    "a straight flush",
)  # fmt: skip
