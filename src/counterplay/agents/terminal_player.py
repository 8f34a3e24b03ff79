"""A person at the terminal as an agent."""

from __future__ import annotations

from collections.abc import Callable

from counterplay.agents.agent import Agent, Decision, Seen
from counterplay.errors import CounterplayError
from counterplay.poker.acpc.match_log import format_chips
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.cards import cards_text


class HumanAgent(Agent):
    """Shows each situation by ``tell`` and asks for an action until a legal one is given.

    ``ask`` shows a prompt and returns the answer; it raises ``EOFError`` when there will be none.
    """

    def __init__(self, ask: Callable[[str], str], tell: Callable[[str], None]) -> None:
        self.ask = ask
        self.tell = tell

    def act(self, seen: Seen) -> str:
        """Ask for an action."""
        self.tell(_describe(seen))
        while True:
            try:
                answer = self.ask(f"{_offer(seen)}: ").strip()
            except EOFError:
                raise CounterplayError("the input has ended before the match; nobody is there to act") from None
            legal = answer in seen.actions if isinstance(seen, Decision) else seen.betting.legal(answer)
            if legal:
                return answer
            self.tell(f"{answer!r} is not possible here")

    def observe(self, state: MatchState) -> None:
        """Show how the hand has ended."""
        holes = " ".join([cards_text(cards) or "??" for cards in state.deal.hole])
        text = f"hand {state.hand_id} is over: {state.betting.text()}, cards {holes}, board {cards_text(state.board)}"
        if state.position is not None:
            text += f"; you won {format_chips(state.values()[state.position])}"
        self.tell(text)


def _describe(seen: Seen) -> str:
    if isinstance(seen, Decision):
        return f"hand {seen.hand_id}, player {seen.player + 1}: {seen.infoset}"
    betting = seen.betting
    own = cards_text(seen.deal.hole[betting.player])
    board = cards_text(seen.board) or "none"
    where = f"hand {seen.hand_id}, position {betting.player}"
    return f"{where}: cards {own}, board {board}, betting {betting.text() or 'none'}, pot {betting.pot}"


def _offer(seen: Seen) -> str:
    if isinstance(seen, Decision):
        return ", ".join(seen.actions)
    betting = seen.betting
    words = ["f fold"] if betting.can_fold() else []
    words.append(f"c call {betting.to_call}" if betting.to_call else "c check")
    span = betting.raise_range()
    if span is not None:
        words.append("r raise" if seen.game.limit else f"r{span[0]} to r{span[1]} raise to")
    return ", ".join(words)
