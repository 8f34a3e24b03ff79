"""The words for hands of a postflop spot: streets, and bets in chips of the street and as a percentage of the pot."""

from __future__ import annotations

from collections.abc import Sequence

from counterplay.agents.agent import Decision
from counterplay.agents.decision_words import DecisionWords, Moves, Who
from counterplay.agents.table_text import cards_shown, made_hand, symbol_name, third_person
from counterplay.errors import GameError
from counterplay.game.game import CHANCE
from counterplay.poker.action_words import match_action
from counterplay.poker.cards import card_text, parse_card, parse_cards
from counterplay.poker.evaluator import hand_meaning, rank_hand
from counterplay.poker.postflop.bet_sizes import PLAYERS, STREETS
from counterplay.poker.postflop.subgame import BettingPoint, Subgame
from counterplay.runtime.number_text import figure

POSITIONS = ("out of position", "in position")
_RAISE = ("r", "b", "raise", "bet")
_DIGITS = 8


class SpotWords(DecisionWords):
    """The words for a spot."""

    unit = "hand"

    def __init__(self, game: Subgame) -> None:
        self.game = game

    def rules(self) -> tuple[str, str]:
        """What is played, in two lines."""
        return (
            f"{self.game.title}: a postflop spot; both hands are dealt from its ranges.",
            f"Each player has put in half of the pot, {_chips(self.game.pot / 2)} chips; bets are those of the spot, "
            "in chips of the street.",
        )

    def title(self, seen: Decision) -> str:
        """Hand and position."""
        hole = cards_shown(parse_cards(seen.infoset.partition("/")[0]), symbol_name)
        position = f"{POSITIONS[seen.player]} ({PLAYERS[seen.player]})"
        return f"Hand {seen.hand_id + 1}: you have {hole}, {position}"

    def news(self, seen: Decision, shown: int, who: Who) -> tuple[list[str], int]:
        """The opponent's actions and the streets."""
        del who
        cards, _, betting = seen.infoset.partition(":")
        later = parse_cards("".join(cards.split("/")[1:]))[len(self.game.cards) :]
        events: list[tuple[int, str]] = []
        words: list[str] = []
        for word in betting.split():
            events.append((self._after(words).player, word))
            words.append(word)
            if self._after(words).closed:
                events.append((CHANCE, card_text(later[sum(mover == CHANCE for mover, _ in events)])))
        return self._lines(events, seen.player, shown), len(events) + 1

    def _lines(self, events: Moves, own: int, shown: int) -> list[str]:
        """The events after those that were shown, without one's own; the start of the first street is one too."""
        board, words = list(self.game.cards), list[str]()
        lines = [] if shown else [self._street(board, words)]
        for number, (mover, label) in enumerate(events, 1):
            if mover == CHANCE:
                board.append(parse_card(label))
                line = self._street(board, words)
            else:
                line = f"{PLAYERS[mover]} {third_person(self._phrase(words, label))}{self._size(words, label)}"
                words.append(label)
            if number >= shown and mover != own:
                lines.append(line)
        return lines

    def _street(self, board: Sequence[int], words: Sequence[str]) -> str:
        spent = self._after(words).spent
        left = self.game.effective_stack - max(spent)
        behind = f", {_chips(left)} behind" if left > 0 else ""
        name = STREETS[len(board) - len(STREETS)].capitalize()
        return f"{name}: {cards_shown(board, symbol_name)}; pot {_chips(self.game.pot + sum(spent))}{behind}"

    def _after(self, words: Sequence[str]) -> BettingPoint:
        return self.game.after(" ".join(words))

    def _phrase(self, words: Sequence[str], action: str) -> str:
        """``check``, ``call 10``, ``bet 25``, ``raise to 85``, with the chips of the street."""
        now = self._after(words)
        if action in ("check", "fold"):
            return action
        most, mine = max(now.street), now.street[now.player]
        if action == "call":
            return f"call {_chips(most - mine)}"
        total = self._after([*words, action]).street[now.player]
        return f"{'raise to' if most else 'bet'} {_chips(total)}"

    def _size(self, words: Sequence[str], action: str, pot: str = " of the pot") -> str:
        """How large a bet is: the percentage of the pot after a call, and whether it is all in."""
        now = self._after(words)
        if action in ("check", "fold"):
            return ""
        most = max(now.street)
        if action == "call":
            return " (all in)" if now.before + most >= self.game.effective_stack else ""
        total = self._after([*words, action]).street[now.player]
        share = figure(100 * (total - most) / (self.game.pot + 2 * (now.before + most)), 3)
        return f" ({'all in, ' if action == 'allin' else ''}{share}%{pot})"

    def phrase(self, seen: Decision, action: str) -> str:
        """An action with its chips."""
        return self._phrase(seen.infoset.partition(":")[2].split(), action)

    def prompt(self, seen: Decision) -> str:
        """The pot, and what can be typed."""
        spent = self.game.spent(seen.infoset.partition(":")[2])
        return f"pot {_chips(self.game.pot + sum(spent))}; {self.offers(seen)}"

    def offers(self, seen: Decision) -> str:
        """The letters that stand for the actions."""
        words = seen.infoset.partition(":")[2].split()
        return ", ".join(
            f"{_key(action)} {self._phrase(words, action)}{self._size(words, action, '')}" for action in seen.actions
        )

    def help(self, seen: Decision) -> list[str]:
        """What can be typed."""
        return [
            self.offers(seen),
            "the chips are those of this street; the percentage is of the pot after a call; a is all in",
        ]

    def read(self, seen: Decision, answer: str) -> str:
        """The action of the words that ``show --node`` reads; ``r`` or ``b`` alone where there is one size."""
        text = " ".join(answer.split())
        found = match_action(text, 0, seen.actions)
        if found is not None and found[1] == len(text):
            return seen.actions[found[0]]
        sizes = [action for action in seen.actions if action not in ("fold", "check", "call")]
        if text.lower() in _RAISE and len(sizes) == 1:
            return sizes[0]
        raise GameError(f"{answer!r} is not possible here; type {self.offers(seen)}")

    def ending(self, moves: Moves, player: int, shown: int, who: Who) -> list[str]:
        """What came after the last decision, the showdown, and what the house takes."""
        del who
        hands, events = [parse_cards(label) for _, label in moves[:2]], moves[2:]
        lines = self._lines(events, player, shown)
        words = [label for mover, label in events if mover != CHANCE]
        board = [*self.game.cards, *(parse_card(label) for mover, label in events if mover == CHANCE)]
        if words[-1] != "fold":
            made = [hand_meaning(rank_hand((*hand, *board))) for hand in hands]
            own, other = (made_hand(hands[seat], made[seat], symbol_name) for seat in (player, 1 - player))
            lines.append(f"showdown: you {own}; {PLAYERS[1 - player]} {other}")
        house = self.game.house(self.game.pot + 2 * min(self._after(words).spent))
        return [*lines, f"the house takes {_chips(house)}"] if house else lines

    def worth(self, chips: float) -> str:
        """As a percentage of the pot."""
        return f" ({figure(100 * chips / self.game.pot, 3)}% of the pot)"


def _key(action: str) -> str:
    """What is typed for an action."""
    if action in ("fold", "allin"):
        return action[0]
    if action in ("check", "call"):
        return "c"
    return f"r{action[len('raise') :]}" if action.startswith("raise") else f"b{action[len('bet') :]}"


def _chips(amount: float) -> str:
    return figure(amount, _DIGITS)
