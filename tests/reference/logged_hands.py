"""What a player did in a line of a log of two players, read in the plainest way: letters in turn, by section."""

from __future__ import annotations

import re
from typing import NamedTuple


class Done(NamedTuple):
    """A decision: who, with which cards, after which betting, and what."""

    position: int
    hole: str
    board: tuple[str, ...]
    before: str
    action: str


def decisions(line: str, name: str, first: tuple[int, ...]) -> list[Done]:
    """What a name did, in both positions; ``first`` says who acts first in each round."""
    _, _, betting, cards, _, names = line.split(":")
    hole, *boards = cards.split("/")
    holes, seats = hole.split("|"), names.split("|")
    found = []
    before = ""
    for number, section in enumerate(betting.split("/")):
        before += "/" if number else ""
        player = first[number]
        for action in re.findall(r"[fc]|r\d*", section):
            if seats[player] == name:
                found.append(Done(player, holes[player], tuple(boards[:number]), before, action))
            before += action
            player = 1 - player
    return found
