"""A person at the terminal as an agent."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from counterplay.agents.agent import Agent, Decision, Policy, Seen
from counterplay.agents.decision_words import DecisionWords
from counterplay.agents.table_text import (
    CardName,
    action_phrase,
    cards_shown,
    hand_text,
    offers,
    read_action,
    symbol_name,
    third_person,
)
from counterplay.errors import CounterplayError, GameError
from counterplay.game.game import CHANCE
from counterplay.poker.acpc.match_log import format_chips
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.rules import Betting, Chips

QUIT = ("q", "quit", "exit")
HELP = ("?", "help")
HINT = ("h", "hint")
LEAST_HINT = 0.0005
"""Less likely actions are left out of hints."""


class LeftTableError(CounterplayError):
    """The person has stopped playing, or there is no more input."""


class HumanAgent(Agent):
    """Shows the hand by ``tell`` as it is played, and asks for an action until a legal one is given.

    Parameters
    ----------
    ask : callable
        Shows a prompt and returns the answer; raises ``EOFError`` when there will be none.
    tell : callable
        Shows a line.
    card_name : callable
        How cards are written.
    adviser : Policy, optional
        Whose probabilities are shown when ``h`` is typed; with ``hints`` at every decision.
    words : DecisionWords, optional
        How decisions of games that are played on their states are shown and answered.

    Attributes
    ----------
    names : sequence of str
        The players by position, of the hand that is played now; empty if they are not known.
    score, hands : number, int
        Chips won so far, in how many finished hands.
    """

    def __init__(
        self, ask: Callable[[str], str], tell: Callable[[str], None], card_name: CardName = symbol_name,
        adviser: Policy | None = None, hints: bool = False, words: DecisionWords | None = None,
    ) -> None:  # fmt: skip
        self.ask = ask
        self.tell = tell
        self.card_name = card_name
        self.adviser = adviser
        self.hints = hints
        self.words = DecisionWords() if words is None else words
        self.names: Sequence[str] = ()
        self.score: Chips | float = 0
        self.hands = 0
        self._shown: tuple[int, int] = (-1, 0)  # the hand that is shown, and how many of its actions

    def act(self, seen: Seen) -> str:
        """Ask for an action."""
        if isinstance(seen, Decision):
            self._show_decision(seen)
            prompt = f"  {self.words.prompt(seen)} > "
        else:
            self._show_news(seen, seen.betting.player)
            prompt = f"  pot {seen.betting.pot:,}; {offers(seen.betting)} > "
        if self.hints:
            self._advise(seen)
        while True:
            try:
                answer = self.ask(prompt).strip()
            except EOFError:
                raise LeftTableError("the input has ended before the match; nobody is there to act") from None
            try:
                action = self._answered(seen, answer)
            except GameError as error:
                self.tell(f"  {error}")
                continue
            if action is not None:
                self._count(seen)
                return action

    def _answered(self, seen: Seen, answer: str) -> str | None:
        """The action of an answer; None if it was a question, which is answered."""
        if isinstance(seen, Decision) and answer in seen.actions:
            return answer  # even if it reads as one of the words below
        word = answer.lower()
        if word in QUIT:
            raise LeftTableError("you have left the table")
        if word in HELP:
            self._help(seen)
        elif word in HINT:
            self._advise(seen)
        elif isinstance(seen, Decision):
            return self.words.read(seen, answer)
        else:
            return read_action(seen.betting, answer)
        return None

    def _count(self, seen: Seen) -> None:
        """An action of one's own needs no mention."""
        if isinstance(seen, MatchState):
            self._shown = (seen.hand_id, self._shown[1] + 1)

    # ------------------------------------------------------------------------------------------ what is shown

    def _show_decision(self, seen: Decision) -> None:
        if self._shown[0] != seen.hand_id:
            self._shown = (seen.hand_id, 0)
            self.tell("")
            self.tell(self.words.title(seen))
        lines, number = self.words.news(seen, self._shown[1], functools.partial(self._who, own=seen.player))
        self._show_lines(lines)
        self._shown = (seen.hand_id, number)

    def _show_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.tell(f"  {line}")

    def _show_news(self, seen: MatchState, position: int) -> None:
        """What happened since the last action of one's own: the deal, what others did, new cards on the table."""
        game = seen.game
        if self._shown[0] != seen.hand_id:
            self._shown = (seen.hand_id, 0)
            self.tell("")
            self.tell(f"Hand {seen.hand_id + 1}: you have {cards_shown(seen.deal.hole[position], self.card_name)}")
            posted = [f"{self._who(p, position)} {'post' if p == position else 'posts'} {blind:,}"
                      for p, blind in enumerate(game.blinds) if blind]  # fmt: skip
            if len(set(game.blinds)) > 1:
                self.tell(f"  {', '.join(posted)}")
        betting, number = Betting.start(game), 0
        for turn, actions in enumerate(seen.betting.actions):
            if turn and number >= self._shown[1] and turn <= seen.betting.round and game.board_cards[turn]:
                board = seen.deal.board[: game.board_ends[turn]]
                if len(board) == game.board_ends[turn]:
                    name = game.round_name(turn).capitalize() if game.rounds > 2 else "Table"
                    own = cards_shown(seen.deal.hole[position], self.card_name)
                    self.tell(f"  {name}: {cards_shown(board, self.card_name)} (you have {own})")
            for action in actions:
                number += 1
                if number > self._shown[1]:
                    phrase = third_person(action_phrase(betting, action))
                    self.tell(f"  {self._who(betting.player, position)} {phrase}")
                betting = betting.act(action)
        self._shown = (seen.hand_id, number)

    def _who(self, position: int, own: int) -> str:
        if position == own:
            return "you"
        if position == CHANCE:
            return "chance"
        if self.names:
            return self.names[position]
        return f"player {position + 1}"

    def _help(self, seen: Seen) -> None:
        if isinstance(seen, Decision):
            self._show_lines(self.words.help(seen))
        else:
            self.tell("  f folds; c checks or calls; r bets or raises" + _size_help(seen.betting))
        hint = "" if self.adviser is None else "h shows what the strategy would do; "
        self.tell(f"  {hint}q stops and shows the score")

    def _advise(self, seen: Seen) -> None:
        if self.adviser is None:
            self.tell("  there is no strategy to give hints")
            return
        parts = []
        for action, share in self.adviser.distribution(seen):
            if share >= LEAST_HINT:
                parts.append(f"{self._phrase(seen, action)} {100 * share:.1f} %")
        self.tell(f"  hint: {', '.join(parts)}")

    def _phrase(self, seen: Seen, action: str) -> str:
        if isinstance(seen, Decision):
            return self.words.phrase(seen, action)
        return action_phrase(seen.betting, action)

    # ------------------------------------------------------------------------------------------ the end of a hand

    def observe(self, state: MatchState) -> None:
        """Show how a hand of poker has ended, and the score."""
        if state.position is None:
            return
        self._show_news(state, state.position)
        if state.betting.showdown:
            shown = [f"{self._who(p, state.position)} {hand_text(state, p, self.card_name)}" for p in _ordered(state)]
            self.tell(f"  showdown: {'; '.join(shown)}")
        self._finish(state.values()[state.position])

    def observe_moves(self, moves: Sequence[tuple[int, str]], player: int, won: float) -> None:
        """Show how a hand of another game has ended: its moves, with who made them, and the score."""
        who = functools.partial(self._who, own=player)
        self._show_lines(self.words.ending(moves, player, self._shown[1], who))
        self._finish(won, self.words.unit, self.words.worth(abs(won)))

    def _finish(self, won: Chips | float, word: str = "hand", worth: str = "") -> None:
        self.score += won
        self.hands += 1
        verb, size = ("win", won) if won > 0 else ("lose", -won)
        result = f"you {verb} {chips_text(size)}{worth}" if won else "nobody wins"
        self.tell(f"  {result}; score {signed_chips(self.score)} after {count_text(self.hands, word)}")


def _ordered(state: MatchState) -> list[int]:
    """The positions at a showdown, one's own first."""
    return sorted(state.betting.live(), key=lambda position: position != state.position)


def _size_help(betting: Betting) -> str:
    if betting.game.limit:
        return ", sizes are fixed"
    return " with the chips of this round, as r250; also pot and all-in"


def chips_text(chips: Chips | float) -> str:
    """An amount of chips; fractions of split pots with a few decimals."""
    if isinstance(chips, int):
        return f"{chips:,}"
    return format_chips(chips) if isinstance(chips, Fraction) else f"{chips:.10g}"


def signed_chips(chips: Chips | float) -> str:
    """An amount of chips with its sign."""
    return ("+" if chips > 0 else "") + chips_text(chips)


def count_text(count: int, word: str = "hand") -> str:
    """``1 hand``, ``2 hands``."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
