"""The words for decisions of games that are played on their states: what a person is shown, and may answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from counterplay.agents.agent import Decision
from counterplay.errors import GameError

Who = Callable[[int], str]
"""The name of a player, or of chance, for the person at the table."""

Moves = Sequence[tuple[int, str]]
"""Who moved, CHANCE included, and what."""


class DecisionWords:
    """The words for any game: the name of the infoset, and actions by their names.

    Attributes
    ----------
    unit : str
        What is played again and again.
    """

    unit = "game"

    def title(self, seen: Decision) -> str:
        """The first line."""
        return f"Game {seen.hand_id + 1}: you are player {seen.player + 1}"

    def news(self, seen: Decision, shown: int, who: Who) -> tuple[list[str], int]:
        """What happened after what was ``shown`` already, and the number of what is shown then; at first 0."""
        del who
        return [f"you know {seen.infoset}" if seen.infoset else "you know nothing yet"], shown

    def offers(self, seen: Decision) -> str:
        """What can be typed, with its meaning."""
        return _numbered(seen.actions)

    def prompt(self, seen: Decision) -> str:
        """What is shown where an answer is expected."""
        return self.offers(seen)

    def help(self, seen: Decision) -> list[str]:
        """What can be typed, in full."""
        return [f"an action: {_numbered(seen.actions)}; by name, by its first letters, or by number"]

    def phrase(self, seen: Decision, action: str) -> str:
        """An action as a person says it."""
        del seen
        return action

    def read(self, seen: Decision, answer: str) -> str:
        """The action of an answer: its name, its first letters in any case, or its number.

        Raises GameError with what to type instead.
        """
        actions, word = seen.actions, answer.lower()
        exact = [action for action in actions if action.lower() == word]
        alike = exact or [action for action in actions if word and action.lower().startswith(word)]
        if len(alike) == 1:
            return alike[0]
        if not _have_digits(actions) and word.isdigit() and 1 <= int(word) <= len(actions):
            return actions[int(word) - 1]
        problem = f"can mean {' or '.join(alike)}" if alike else "is not possible here"
        raise GameError(f"{answer!r} {problem}; type {_numbered(actions)}")

    def ending(self, moves: Moves, player: int, shown: int, who: Who) -> list[str]:
        """How a game has ended for a player, to whom so much was ``shown``."""
        del player, shown
        return [f"over; {', '.join(f'{who(mover)}: {move}' for mover, move in moves)}"]

    def worth(self, chips: float) -> str:
        """What is added to an amount of chips that was won or lost."""
        del chips
        return ""


def _numbered(actions: Sequence[str]) -> str:
    """Actions with numbers in front, where they do not start with numbers themselves."""
    if _have_digits(actions):
        return ", ".join(actions)
    return ", ".join(f"{number} {action}" for number, action in enumerate(actions, 1))


def _have_digits(actions: Sequence[str]) -> bool:
    return any(action[:1].isdigit() for action in actions)
