"""Lines of a subgame's betting that are added to the sizes of its settings, or removed.

A line is a row of actions from the start, in the words of ``poker.action_words``: ``x b50 r200``.  Adding it adds every
bet and raise in it that is not there yet; removing it removes its last action and all that follows.  Lines are added
before others are removed, and count for all boards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from counterplay.errors import GameError
from counterplay.poker.action_words import first_word, match_action, match_size, skip_separators, word_at


class LineEdits:
    """The lines that are added and removed, followed while the betting is built from its start."""

    def __init__(self, add: Sequence[str], remove: Sequence[str]) -> None:
        self._open = {(text, adding) for adding, lines in ((True, add), (False, remove)) for text in lines}
        # by the actions that lead to a decision: the lines that go through it, and where their next word starts
        self._at: dict[str, list[tuple[str, bool, int]]] = {}
        for text, adding in sorted(self._open):
            if first_word(text) == len(text):
                raise GameError(f"a line has at least one action, such as 'x b50'; got {text!r}")
            self._at.setdefault("", []).append((text, adding, first_word(text)))

    def sizes(self, node: str, actions: Mapping[str, float]) -> Iterator[tuple[str, float]]:
        """The sizes that added lines have at a decision besides its actions, each with the line; infinite for all in.

        ``actions`` are those of the settings, each with the chips of the player on this street after it.  Raises
        GameError if a word is neither a legal action nor a size.
        """
        for text, adding, place in self._at.get(node, ()):
            if adding and _match(text, place, actions) is None:
                found = match_size(text, place)
                if found is None:
                    raise self._unknown(text, place, node, actions, ", and a bet or raise with its chips such as b50")
                yield text, found[0]

    def kept(self, node: str, actions: Mapping[str, float]) -> list[str]:
        """The actions of a decision that no line removes; the lines are followed to the next decisions.

        Raises GameError if a line does not continue with one of the actions, or none would be left.
        """
        removed: dict[str, str] = {}
        for text, adding, place in self._at.pop(node, ()):
            found = _match(text, place, actions)
            if found is None:
                raise self._unknown(text, place, node, actions)
            action, after = found[0], skip_separators(text, found[1])
            if after < len(text):
                self._at.setdefault(f"{node} {action}".strip(), []).append((text, adding, after))
            else:
                self._open.discard((text, adding))
                removed |= {} if adding else {action: text}
        left = [action for action in actions if action not in removed]
        if not left:
            line = sorted(removed.values())[-1]
            raise GameError(f"the line {line!r} cannot be removed: {_after(node)} there would be no action left")
        return left

    def check(self) -> None:
        """Raise GameError if a line could not be followed to its end."""
        for text, adding in sorted(self._open):
            raise GameError(
                f"the line {text!r} cannot be {'added' if adding else 'removed'}: the hand is over before its last "
                "action, or another line removes an earlier one"
            )

    def _unknown(self, text: str, place: int, node: str, actions: Mapping[str, float], other: str = "") -> GameError:
        return GameError(
            f"cannot read {word_at(text, place)!r} at character {place + 1} of the line {text!r}; {_after(node)} there "
            f"are {', '.join(actions)}{other}"
        )


def _match(text: str, place: int, actions: Mapping[str, float]) -> tuple[str, int] | None:
    """The action that the text names at a place, and where its word ends; all in also by its chips."""
    found = match_action(text, place, tuple(actions))
    if found is not None:
        return tuple(actions)[found[0]], found[1]
    size = match_size(text, place)
    if size is not None and "allin" in actions and math.isclose(size[0], actions["allin"]):
        return "allin", size[1]
    return None


def _after(node: str) -> str:
    return f"after {node!r}" if node else "at the start"
