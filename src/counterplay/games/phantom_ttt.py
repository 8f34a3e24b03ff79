"""Phantom tic-tac-toe (Lanctot et al. 2012, section 6), with perfect or imperfect recall, and its sizes.

Rules: tic-tac-toe on nine squares, numbered by rows from 0; X begins.  Players see only their own marks.  On a turn the
player names a square that may be free; if the opponent holds it the attempt fails, the player learns that and tries
again; otherwise the square is claimed and the turn passes.  The opponent's attempts are not observed.  Three in a line
win one chip; a draw pays nothing.

The paper does not say so, but its counts require that the game is also drawn as soon as every line holds marks of
both; ``early_draw=false`` gives the plain rule.  Payoffs are the same, since the omitted move is forced and drawn.

The ``variant`` is what players remember of their own attempts:

* ``full`` : every attempt, its outcome and the order (perfect recall);
* ``FOSF`` : not the order of the failures within a completed turn;
* ``FOSF-strict`` : not the order of failures within any turn, the one in progress included (not in the paper);
* ``FOI`` : failures in order and successes in order, but not how they interleave;
* ``FOS`` : failures in order with the turn of each, but successes as a set;
* ``FOE`` : failures as a set and successes as a set.

``x`` and ``o`` put marks on the board that both players see; they make small games of the same kind.  The full game
has 16.9 billion histories, so ``count_histories`` and ``count_infosets`` count without visiting them.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from math import factorial, prod
from typing import Any, ClassVar, NamedTuple

from counterplay.errors import GameError
from counterplay.game.game import TERMINAL, Game
from counterplay.game.registry import parameter, register

ALL = 0b111_111_111
LINES = (0b000_000_111, 0b000_111_000, 0b111_000_000, 0b001_001_001, 0b010_010_010, 0b100_100_100, 0b100_010_001,
         0b001_010_100)  # fmt: skip
WINS = tuple(any(mask & line == line for line in LINES) for mask in range(ALL + 1))
MEETS = tuple(sum(1 << i for i, line in enumerate(LINES) if mask & line) for mask in range(ALL + 1))
"""The lines that a set of squares touches, one bit for each."""

EVERY_LINE = (1 << len(LINES)) - 1
SQUARES = tuple(tuple(square for square in range(9) if mask >> square & 1) for mask in range(ALL + 1))
"""The squares of a bit mask."""


# ---------------------------------------------------------------------------------- what is remembered
# A memory is text with two characters for each own attempt: the square, then + if it was claimed or - if it failed.

CLAIM = re.compile(r"\d\+")


def _turns(memory: str) -> list[str]:
    """The failed squares of each turn; the last is the turn in progress."""
    return CLAIM.sub("|", memory).replace("-", "").split("|")


def _full(memory: str) -> str:
    return memory


def _fosf(memory: str) -> str:
    *completed, current = _turns(memory)
    turns = zip(completed, CLAIM.findall(memory), strict=True)
    return "".join(_attempts(sorted(failed), "-") + claim for failed, claim in turns) + _attempts(current, "-")


def _fosf_strict(memory: str) -> str:
    turns = zip(_turns(memory), [*CLAIM.findall(memory), ""], strict=True)
    return "".join(_attempts(sorted(failed), "-") + claim for failed, claim in turns)


def _foi(memory: str) -> str:
    return f"{_squares(memory, '+')}+{_squares(memory, '-')}-"


def _fos(memory: str) -> str:
    return f"{_sorted(_squares(memory, '+'))}+{'|'.join(_turns(memory))}-"


def _foe(memory: str) -> str:
    return f"{_sorted(_squares(memory, '+'))}+{_sorted(_squares(memory, '-'))}-"


def _squares(memory: str, outcome: str) -> str:
    return "".join(square for square, end in zip(memory[::2], memory[1::2], strict=True) if end == outcome)


def _attempts(squares: str | list[str], outcome: str) -> str:
    return "".join(square + outcome for square in squares)


def _sorted(squares: str) -> str:
    return "".join(sorted(squares))


VARIANTS: dict[str, Callable[[str], str]] = {
    "full": _full, "FOSF": _fosf, "FOSF-strict": _fosf_strict, "FOI": _foi, "FOS": _fos, "FOE": _foe,
}  # fmt: skip
"""What is left of a memory in each variant."""


# ---------------------------------------------------------------------------------- the game


@dataclasses.dataclass(slots=True, eq=False)
class PhantomState:
    """The marks on the board and what each player has tried since the start."""

    game: PhantomTicTacToe
    player: int
    marks: tuple[int, int]
    tried: tuple[int, int]  # squares that X, and O, knows to be taken
    memories: tuple[str, str]

    def actions(self) -> tuple[int, ...]:
        return SQUARES[ALL ^ self.tried[self.player]]

    def child(self, action: int) -> PhantomState:
        player = self.player
        own, other = self.marks[player], self.marks[1 - player]
        tried, memory = self.tried[player] | 1 << action, self.memories[player]
        if other >> action & 1:
            marks, memory = self.marks, f"{memory}{action}-"
            following = player
        else:
            own |= 1 << action
            marks, memory = ((own, other) if player == 0 else (other, own)), f"{memory}{action}+"
            following = TERMINAL if WINS[own] or self.game.drawn(own, other) else 1 - player
        if player == 0:
            return PhantomState(self.game, following, marks, (tried, self.tried[1]), (memory, self.memories[1]))
        return PhantomState(self.game, following, marks, (self.tried[0], tried), (self.memories[0], memory))

    def infoset(self) -> str:
        return "XO"[self.player] + ":" + self.game.remembered(self.memories[self.player])

    def utilities(self) -> tuple[float, float]:
        if WINS[self.marks[0]]:
            return 1.0, -1.0
        return (-1.0, 1.0) if WINS[self.marks[1]] else (0.0, 0.0)


@register("phantom_ttt")
class PhantomTicTacToe(Game):
    """Phantom tic-tac-toe: tic-tac-toe without seeing the opponent's marks."""

    variant: str = parameter("full", "what a player remembers: " + ", ".join(VARIANTS), choices=VARIANTS)
    early_draw: bool = parameter(True, "a draw as soon as no line can be completed any more")
    x: str = parameter("", "squares that hold a public X from the start, such as 0,8")
    o: str = parameter("", "squares that hold a public O from the start, such as 1,4")
    zero_sum = True
    forgets: ClassVar[Mapping[str, str]] = {
        "order": "what a variant forgets of the player's attempts: " + ", ".join(VARIANTS)
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("x", "o"):  # one way to write each board, so that equal games have equal names
            squares = _read_squares(name, getattr(self, name))
            object.__setattr__(self, name, ",".join(map(str, squares)))
        crosses, noughts = self.marks
        if crosses & noughts:
            twice = SQUARES[crosses & noughts][0]
            raise GameError(f"phantom_ttt: square {twice} cannot hold an X and an O; got x={self.x!r}, o={self.o!r}")
        if crosses.bit_count() - noughts.bit_count() not in (0, 1):
            raise GameError(
                f"phantom_ttt: X begins, so there must be as many X as O, or one more; got x={self.x!r}, o={self.o!r}"
            )
        if WINS[crosses] or WINS[noughts] or self.drawn(crosses, noughts):
            raise GameError(f"phantom_ttt: the game is over at x={self.x!r}, o={self.o!r}; take marks away")

    @property
    def marks(self) -> tuple[int, int]:
        """The public marks of X and of O, as bit masks."""
        crosses, noughts = (sum(1 << square for square in _read_squares("", text)) for text in (self.x, self.o))
        return crosses, noughts

    def root(self) -> Any:
        """Before the first attempt; O begins if X has one more public mark."""
        crosses, noughts = self.marks
        taken = crosses | noughts
        return PhantomState(self, self.first, (crosses, noughts), (taken, taken), ("", ""))

    @property
    def first(self) -> int:
        """Who acts at the root: 0 for X, 1 for O."""
        crosses, noughts = self.marks
        return int(crosses.bit_count() > noughts.bit_count())

    def drawn(self, one: int, other: int) -> bool:
        """Whether nobody can win any more, when nobody has won."""
        return one | other == ALL or (self.early_draw and MEETS[one] & MEETS[other] == EVERY_LINE)

    @functools.cached_property
    def remembered(self) -> Callable[[str], str]:
        """From a memory to what this variant keeps of it; cached, since many histories share memories."""
        return _full if self.variant == "full" else functools.cache(VARIANTS[self.variant])

    def num_histories(self) -> int:
        """Counted without visiting the histories."""
        return sum(count_histories(self.early_draw, self.x, self.o).values())

    def forget(self, what: str, value: str) -> Callable[[str], str]:
        """The information set of a variant (``value``) from one of the full game; ``what`` is ``order``."""
        if what not in self.forgets:
            return super().forget(what, value)
        if self.variant != "full":
            raise GameError(f"{self.spec()} forgets already; forget the order of phantom_ttt(variant=full)")
        if value not in VARIANTS:
            raise GameError(f"phantom_ttt forgets the order of {', '.join(VARIANTS)}; got {value!r}")
        keep = VARIANTS[value]
        return lambda name: name[:2] + keep(name[2:])


def _read_squares(name: str, text: str) -> list[int]:
    """The squares of text such as 0,8, in order."""
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    if any(word not in tuple("012345678") for word in words) or len(set(words)) < len(words):
        raise GameError(f"phantom_ttt: {name} must be different squares from 0 to 8, such as 0,8; got {text!r}")
    return sorted(map(int, words))


# ---------------------------------------------------------------------------------- sizes


class InfosetCount(NamedTuple):
    """How many information sets a player has, and how many (information set, action) pairs."""

    sets: int
    pairs: int


def count_infosets(
    variant: str = "full", early_draw: bool = True, x: str = "", o: str = ""
) -> tuple[InfosetCount, InfosetCount]:
    """Information sets and pairs of X and of O, without visiting the histories.

    Let a player have claimed the squares M and failed at F, in any order.  The opponent then has n marks, a number that
    follows from the number of turns, on any n squares outside M that contain F, win nothing and do not end the game.
    If such squares exist, then every order of the attempts is possible in which failures never exceed the opponent's
    marks at the time: removing marks of both sides from an unfinished game leaves an unfinished game.  So it is enough
    to find the pairs (M, F), at most 3^9 of them, and to multiply each by the number of different memories of m
    successes and f failures.
    """
    game = PhantomTicTacToe(variant, early_draw, x, o)
    counts = []
    for player in (0, 1):
        public, others = game.marks[player], game.marks[1 - player]
        ahead = int(player != game.first)  # marks that the opponent makes before the player's first turn
        sets = pairs = 0
        for claimed, failed in _attempted(game, player, ahead):
            successes, failures = (claimed ^ public).bit_count(), failed.bit_count()
            memories = _memories(variant, successes, failures, ahead)
            sets += memories
            pairs += memories * (ALL ^ claimed ^ failed ^ others).bit_count()
        counts.append(InfosetCount(sets, pairs))
    return counts[0], counts[1]


def _attempted(game: PhantomTicTacToe, player: int, ahead: int) -> set[tuple[int, int]]:
    """All (own marks, failed squares) that a player can have when to move, as bit masks; public marks are own ones."""
    public, others = game.marks[player], game.marks[1 - player]
    masks = [mask for mask in range(ALL + 1) if not WINS[mask]]
    found: set[tuple[int, int]] = set()
    for own in masks:
        if own & public != public or own & others:
            continue
        marks = (own ^ public).bit_count() + ahead
        for other in masks:
            hidden = other ^ others
            if other & others == others and not other & own and hidden.bit_count() == marks:
                if game.drawn(own, other):
                    continue
                found.update((own, failed) for failed in _subsets(hidden))
    return found


def _subsets(mask: int) -> Iterator[int]:
    subset = mask
    while subset:
        yield subset
        subset = (subset - 1) & mask
    yield 0


@functools.cache
def _memories(variant: str, successes: int, failures: int, ahead: int) -> int:
    """How many memories a variant distinguishes, given the squares claimed and the squares failed at."""
    if variant == "FOE":
        return 1
    if variant == "FOI":
        return factorial(successes) * factorial(failures)
    total = 0
    for turns in _failures_by_turn(successes, failures, ahead):
        unordered = {"FOSF": turns[:-1], "FOSF-strict": turns}.get(variant, ())
        total += factorial(failures) // prod(map(factorial, unordered))
    return total if variant == "FOS" else total * factorial(successes)


def _failures_by_turn(successes: int, failures: int, ahead: int) -> Iterator[tuple[int, ...]]:
    """Every way to distribute failures over the turns, never more so far than the opponent has marks."""

    def spread(turn: int, left: int) -> Iterator[tuple[int, ...]]:
        room = turn + ahead - (failures - left)
        if turn == successes:
            yield from [(left,)] if left <= room else []
            return
        for now in range(min(left, room) + 1):
            for rest in spread(turn + 1, left - now):
                yield (now, *rest)

    return spread(0, failures)


def count_histories(early_draw: bool = True, x: str = "", o: str = "") -> dict[str, int]:
    """Histories by kind (``decision`` and ``terminal``), without visiting them.

    Below a board the number of histories depends only on how many of the opponent's marks each player has found, not
    on which, so boards with two such numbers are counted once; what a player remembers does not matter.
    """
    game = PhantomTicTacToe("full", early_draw, x, o)
    crosses, noughts = game.marks

    @functools.cache
    def below(mover: int, other: int, found: int, found_by_other: int) -> tuple[int, int]:
        """Decisions and terminals from a board; ``found`` counts the opponent's marks known to the acting player."""
        decisions, ends = 1, 0
        hidden = (other & ~(crosses | noughts)).bit_count() - found
        if hidden:
            more = below(mover, other, found + 1, found_by_other)
            decisions, ends = decisions + hidden * more[0], ends + hidden * more[1]
        for square in SQUARES[ALL ^ mover ^ other]:
            marks = mover | 1 << square
            if WINS[marks] or game.drawn(marks, other):
                ends += 1
            else:
                more = below(other, marks, found_by_other, found)
                decisions, ends = decisions + more[0], ends + more[1]
        return decisions, ends

    root = (crosses, noughts) if game.first == 0 else (noughts, crosses)
    decisions, ends = below(*root, 0, 0)
    return {"decision": decisions, "terminal": ends}
