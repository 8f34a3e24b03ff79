"""Sizes of phantom tic-tac-toe the slow way: every own list of attempts with all the opponent's marks it allows.

Depth first over what one player sees (Lanctot et al. 2012, section 6).  Squares are kept in frozensets, memories as
tuples of (square, claimed?), and the keys of the abstractions are written from their definitions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TypeAlias

Squares: TypeAlias = frozenset[int]
Memory: TypeAlias = tuple[tuple[int, bool], ...]

BOARD = frozenset(range(9))
LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]


def won(marks: Squares) -> bool:
    return any(line <= marks for line in LINES)


def over(one: Squares, other: Squares, early_draw: bool) -> bool:
    return one | other == BOARD or (early_draw and all(line & one and line & other for line in LINES))


def key(variant: str, memory: Memory) -> Hashable:
    """What is left of a memory."""
    successes = [square for square, claimed in memory if claimed]
    turns: list[list[int]] = [[]]
    for square, claimed in memory:
        if claimed:
            turns.append([])
        else:
            turns[-1].append(square)
    failures = [square for turn in turns for square in turn]
    keys: dict[str, Hashable] = {
        "full": memory,
        "FOSF": (*map(frozenset, turns[:-1]), tuple(turns[-1]), *successes),
        "FOSF-strict": (*map(frozenset, turns), *successes),
        "FOI": (tuple(failures), tuple(successes)),
        "FOS": (tuple((square, turn) for turn, row in enumerate(turns) for square in row), frozenset(successes)),
        "FOE": (frozenset(failures), frozenset(successes)),
    }
    return keys[variant]


def memories(player: int, early_draw: bool, x: Squares, o: Squares) -> Iterator[tuple[Memory, int]]:
    """Every memory that a player can have when to move, with the number of squares left to try."""
    own, other = (x, o) if player == 0 else (o, x)

    def answers(mine: Squares, theirs: Squares) -> Iterator[Squares]:
        """The opponent's marks after a move of the opponent that lets the game go on."""
        for square in BOARD - mine - theirs:
            after = theirs | {square}
            if not won(after) and not over(mine, after, early_draw):
                yield after

    def below(mine: Squares, failed: Squares, possible: set[Squares], memory: Memory) -> Iterator[tuple[Memory, int]]:
        left = BOARD - mine - failed - other
        yield memory, len(left)
        for square in sorted(left):
            taken = {theirs for theirs in possible if square in theirs}
            if taken:
                yield from below(mine, failed | {square}, taken, (*memory, (square, False)))
            after = mine | {square}
            if won(after):
                continue
            following = {
                answer
                for theirs in possible - taken
                if not over(after, theirs, early_draw)
                for answer in answers(after, theirs)
            }
            if following:
                yield from below(after, failed, following, (*memory, (square, True)))

    first = len(x) > len(o)
    start = {other} if player == first else set(answers(own, other))
    yield from below(own, frozenset(), start, ())


def count_infosets(variant: str, early_draw: bool, x: Squares, o: Squares) -> list[tuple[int, int]]:
    """Information sets and (information set, action) pairs of X and of O."""
    counts = []
    for player in (0, 1):
        actions = {key(variant, memory): left for memory, left in memories(player, early_draw, x, o)}
        counts.append((len(actions), sum(actions.values())))
    return counts
