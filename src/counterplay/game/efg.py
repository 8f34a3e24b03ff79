r"""Extensive games in text files: Gambit's ``.efg`` format, version 2, read and written.

Source of the format: Gambit, ``doc/formats.efg.rst`` and ``src/games/file.cc``.  The grammar is::

    file     := 'EFG' '2' ('R'|'D') title players [comment] node
    node     := 'c' name infoset [iname '{' (action probability)... '}'] outcome node...
              | 'p' name player infoset [iname '{' action... '}'] outcome node...
              | 't' name outcome
    outcome  := number [oname '{' payoff [','] ... '}']

Nodes are in prefix order; a description in square brackets may be left out after its first use; payoffs along a path
are added; numbers are integers, decimals or rationals.  Players count from 1 in a file and from 0 here.

What is read becomes an ``ExplicitGame``.  An information set is called by its own name where that is not empty and
no other set of the player has it, otherwise by name and number (``name #3``).  Empty and repeated action labels are
replaced by the position of the action, alone or after the label (``2``, ``a#2``).  Title, comment, and the names of
players, nodes and outcomes are dropped.

What is written is the part of the format that Gambit and OpenSpiel both read: blanks only, every description in
full, outcomes at terminal nodes only, information sets numbered from 1 without gaps.  Labels are kept unchanged,
so that reading gives back the same game; some cannot be read elsewhere.  Gambit refuses control characters
(newlines), blanks at an end or side by side, and a backslash before a backslash or at an end; OpenSpiel knows no
``\"``.  In quotes ``\"`` is a quote and ``\\`` a backslash; any other backslash means itself, as in Gambit.
"""

from __future__ import annotations

import collections
import math
import os
import re
from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

from counterplay.errors import GameError
from counterplay.game.builder import ChanceNode, DecisionNode, ExplicitGame, Node, TerminalNode
from counterplay.game.game import CHANCE, TERMINAL, Game

PROBABILITY_TOLERANCE = Fraction(1, 10**9)
"""By how much the probabilities of a chance event may miss 1; the same as when a game is compiled."""

MAX_DENOMINATOR = 10**6
"""Probabilities that are fractions with denominators up to this are written as such (OpenSpiel reads 32 bits)."""

MAX_DEPTH = 10_000
"""Longest history that is written; a longer one means a game that never ends."""

_TOKEN = re.compile(
    r'[ \t\r\n\f\v]*(?:(?P<text>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<open>")|(?P<mark>[{},])'
    r'|(?P<word>[^ \t\r\n\f\v{},"]+)|(?P<end>\Z))',
    re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+/[0-9]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")

Payoffs: TypeAlias = tuple[Fraction, ...]


def read_efg(path: str | os.PathLike[str]) -> ExplicitGame:
    """Read a game from an ``.efg`` file; the game is named by the path as given.

    Raises
    ------
    GameError
        If the file cannot be read or breaks the grammar; the message names the line and the column.
    """
    name = os.fspath(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise GameError(f"there is no file {name!r}; give the path of an .efg file") from None
    except OSError as error:
        raise GameError(f"{name} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise GameError(f"{name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    return parse_efg(text, name)


def parse_efg(text: str, name: str) -> ExplicitGame:
    """Make a game from the text of an ``.efg`` file; ``name`` is what the game and its errors are called by."""
    return _Reader(text, name).game()


def write_efg(game: Game, path: str | os.PathLike[str], title: str | None = None) -> None:
    """Write a game to an ``.efg`` file; see ``format_efg``."""
    name = os.fspath(path)
    text = format_efg(game, title)
    try:
        Path(path).write_bytes(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise GameError(f"{name} cannot be written: {bad!r} in a label is not a character of UTF-8") from error
    except OSError as error:
        raise GameError(f"{name} cannot be written: {error.strerror or error}") from error


def format_efg(game: Game, title: str | None = None) -> str:
    """The text of an ``.efg`` file that holds a finite game with any recall.

    The title in the file is by default the name that opens the game again.  Utilities are written so that reading
    gives back the same floats.  Gambit wants the probabilities of a chance event to add up to 1 exactly, which floats
    seldom do.  They are written as fractions where each float is (to rounding) a fraction with a small denominator and
    these add up to 1; otherwise as decimals equal to the floats, but for the largest, which is what the others leave
    of 1 and so may move by up to 1e-9.
    """
    return "".join(line + "\n" for line in _Writer(game).lines(game.spec() if title is None else title))


class _Infoset(NamedTuple):
    """The description of an information set, or of a chance event, which has probabilities."""

    name: str
    actions: tuple[str, ...]
    probabilities: tuple[Fraction, ...]


class _Record(NamedTuple):
    """One node of the file: who moves, the number of the information set, what was paid up to here."""

    player: int
    infoset: int
    payoffs: Payoffs


class _Reader:
    """A parser with one token of lookahead (``kind``, ``value``, ``offset``).

    Nodes go into a flat list in the order of the file, and the tree is built from its end, so that deep games need
    no recursion.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.tokens = _TOKEN.finditer(text)
        self.kind = self.value = ""
        self.offset = 0
        self.players = 0
        self.infosets: dict[tuple[int, int], _Infoset] = {}  # by player (CHANCE too) and number, in order of use
        self.outcomes: dict[int, tuple[str, Payoffs]] = {}
        self._advance()

    def game(self) -> ExplicitGame:
        """Read the whole file."""
        self._prologue()
        records = self._body()
        if self.kind != "end":
            self._expected("the end of the file (all nodes are complete)")
        return ExplicitGame(self._build(records), players=self.players, name=self.name)

    def _advance(self) -> None:
        match = next(self.tokens)
        self.kind = match.lastgroup or ""
        self.value = match[self.kind]
        self.offset = match.start(self.kind)
        if self.kind == "mark":
            self.kind = self.value
        elif self.kind == "text":
            self.value = re.sub(r'\\(["\\])', r"\1", self.value[1:-1])
        elif self.kind == "open":
            self._fail('expected a closing " for the text that begins here, found the end of the file')

    def _fail(self, message: str, offset: int | None = None) -> NoReturn:
        place = self.offset if offset is None else offset
        line = self.text.count("\n", 0, place) + 1
        column = place - self.text.rfind("\n", 0, place)
        raise GameError(f"{self.name}, line {line}, column {column}: {message}")

    def _expected(self, what: str) -> NoReturn:
        short = self.value if len(self.value) <= 40 else self.value[:37] + "..."
        found = {"end": "the end of the file", "text": f"the text {short!r}"}.get(self.kind, repr(short))
        self._fail(f"expected {what}, found {found}")

    def _take(self, kind: str, what: str) -> str:
        if self.kind != kind:
            self._expected(what)
        taken = self.value
        self._advance()
        return taken

    def _choice(self, *words: str, what: str) -> str:
        if self.value not in words:
            self._expected(f"{' or '.join(words)} ({what})")
        return self._take("word", f"{' or '.join(words)} ({what}) without quotes")

    def _integer(self, what: str) -> int:
        if self.kind != "word" or not _INTEGER.fullmatch(self.value):
            self._expected(f"an integer ({what})")
        return int(self._take("word", what))

    def _number(self, what: str) -> Fraction:
        if self.kind != "word" or not _NUMBER.fullmatch(self.value):
            self._expected(f"a number like 3, -0.5 or 1/3 ({what})")
        try:
            number = Fraction(self.value)
            float(number)
        except (ValueError, ArithmeticError):  # too many digits, a zero below the line, too large for a float
            self._expected(f"a number that a float can hold ({what})")
        self._advance()
        return number

    def _prologue(self) -> None:
        self._choice("EFG", what="the first word of an .efg file")
        self._choice("2", what="the version of the format")
        self._choice("R", "D", what="the kind of numbers")
        self._take("text", "the title in double quotes")
        self._take("{", "{ before the names of the players")
        while self.kind == "text":
            self.players += 1
            self._advance()
        if not self.players:
            self._expected("the name of a player in double quotes")
        self._take("}", "the name of a player or }")
        if self.kind == "text":
            self._advance()  # the comment

    def _body(self) -> list[_Record]:
        records = []
        open_nodes = [(1, (Fraction(0),) * self.players)]  # children still to come, payoffs up to here
        while open_nodes:
            missing, payoffs = open_nodes.pop()
            if missing > 1:
                open_nodes.append((missing - 1, payoffs))
            record = self._node(payoffs)
            records.append(record)
            if record.player != TERMINAL:
                children = len(self.infosets[record.player, record.infoset].actions)
                open_nodes.append((children, record.payoffs))
        return records

    def _node(self, payoffs: Payoffs) -> _Record:
        kind = self._choice("c", "p", "t", what="the kind of the next node")
        self._take("text", "the name of the node in double quotes")
        player = CHANCE if kind == "c" else TERMINAL
        if kind == "p":
            place = self.offset
            player = self._integer("the player") - 1
            if not 0 <= player < self.players:
                self._fail(f"expected a player from 1 to {self.players}, found {player + 1}", place)
        infoset = 0 if kind == "t" else self._infoset(player)
        return _Record(player, infoset, self._outcome(payoffs))

    def _infoset(self, player: int) -> int:
        place = self.offset
        number = self._integer("the information set")
        known = self.infosets.get((player, number))
        owner = "chance" if player == CHANCE else f"player {player + 1}"
        if self.kind != "text":
            if known is None:
                self._expected(f"the name and actions of information set {number} of {owner}, used first here")
            return number
        described = self._description(player)
        if known is None:
            self.infosets[player, number] = described
        elif known != described:
            different = next(field for field in known._fields if getattr(known, field) != getattr(described, field))
            self._fail(f"expected information set {number} of {owner} as before, found a different {different}", place)
        return number

    def _description(self, player: int) -> _Infoset:
        name = self._take("text", "the name of the information set")
        place = self.offset
        self._take("{", "{ before the actions")
        actions: list[str] = []
        probabilities: list[Fraction] = []
        while self.kind != "}" or not actions:
            actions.append(self._take("text", "an action in double quotes" + (" or }" if actions else "")))
            if player == CHANCE:
                if self.value.startswith("-"):
                    self._expected("a probability, which is not negative")
                probabilities.append(self._number("a probability"))
        self._advance()
        total = sum(probabilities, Fraction(0))
        if player == CHANCE and abs(total - 1) > PROBABILITY_TOLERANCE:
            self._fail(f"expected probabilities that sum to 1, found a sum of {float(total):.12g}", place)
        return _Infoset(name, tuple(actions), tuple(probabilities))

    def _outcome(self, payoffs: Payoffs) -> Payoffs:
        """The payoffs up to a node, with those of the outcome that comes next added."""
        place = self.offset
        number = self._integer("the outcome, 0 for none")
        if self.kind == "text":
            if number == 0:
                self._expected("nothing after outcome 0, which stands for none")
            described = (self._take("text", "the name of the outcome"), self._payoffs())
            if self.outcomes.setdefault(number, described) != described:
                self._fail(f"expected outcome {number} as before, found a different name or payoff", place)
        elif number != 0 and number not in self.outcomes:
            self._expected(f"the name and payoffs of outcome {number}, used first here")
        if number == 0:
            return payoffs
        return tuple(before + now for before, now in zip(payoffs, self.outcomes[number][1], strict=True))

    def _payoffs(self) -> Payoffs:
        self._take("{", "{ before the payoffs")
        payoffs = []
        for player in range(self.players):
            payoffs.append(self._number(f"the payoff of player {player + 1} of {self.players}"))
            if self.kind == ",":
                self._advance()
        self._take("}", f"}} after {self.players} payoffs, one for each player")
        return tuple(payoffs)

    def _build(self, records: list[_Record]) -> Node:
        """Make the nodes from the last to the first; the children of a node are then on top of the stack."""
        keys = self._keys()
        labels = {place: _distinct(infoset.actions) for place, infoset in self.infosets.items()}
        done: list[Node] = []
        for record in reversed(records):
            if record.player == TERMINAL:
                done.append(TerminalNode(self._floats(record.payoffs)))
                continue
            place = record.player, record.infoset
            branches: dict[Hashable, Node] = {label: done.pop() for label in labels[place]}
            if record.player == CHANCE:
                chances = map(float, self.infosets[place].probabilities)
                done.append(ChanceNode(dict(zip(branches, zip(chances, branches.values(), strict=True), strict=True))))
            else:
                done.append(DecisionNode(record.player, keys[place], branches))
        return done[0]

    def _floats(self, payoffs: Payoffs) -> tuple[float, ...]:
        try:
            return tuple(map(float, payoffs))
        except OverflowError:
            raise GameError(f"{self.name}: payoffs on one path add up to more than a float can hold") from None

    def _keys(self) -> dict[tuple[int, int], str]:
        """A different key for each information set of a player."""
        uses = collections.Counter((player, infoset.name) for (player, _), infoset in self.infosets.items())
        taken = set(uses)
        keys = {}
        for (player, number), infoset in self.infosets.items():
            key = infoset.name
            if not key or uses[player, key] > 1:
                key = f"{key} #{number}" if key else f"#{number}"
                while (player, key) in taken:
                    key += "#"
                taken.add((player, key))
            keys[player, number] = key
        return keys


def _distinct(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels made different and not empty: the first of equal ones stays, others get their position (``a#2``)."""
    taken = set(labels)
    if len(taken) == len(labels) and "" not in taken:
        return tuple(labels)
    result: list[str] = []
    for position, label in enumerate(labels, start=1):
        fresh = label
        if not label or label in result:
            fresh = f"{label}#{position}" if label else str(position)
            while fresh in taken:
                fresh += "#"
            taken.add(fresh)
        result.append(fresh)
    return tuple(result)


class _Writer:
    """The walk over a game that writes it, depth first with an explicit stack."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.infosets: list[dict[Hashable, tuple[int, tuple[Hashable, ...]]]] = [{} for _ in range(game.players)]
        self.events = 0
        self.outcomes: dict[tuple[str, ...], int] = {}

    def lines(self, title: str) -> Iterator[str]:
        """The lines of the file."""
        names = " ".join(_quoted(f"Player {player + 1}") for player in range(self.game.players))
        yield f"EFG 2 R {_quoted(title)} {{ {names} }}"
        stack: list[tuple[Any, int]] = [(self.game.root(), 0)]
        while stack:
            state, depth = stack.pop()
            player = state.player
            if player == TERMINAL:
                yield self._terminal(state.utilities())
                continue
            if depth >= MAX_DEPTH:
                self._fail(f"a history has more than {MAX_DEPTH:,} moves; the game seems never to end")
            if player == CHANCE:
                outcomes = state.chance()
                moves = [move for move, _ in outcomes]
                yield self._chance(moves, [probability for _, probability in outcomes])
            elif 0 <= player < self.game.players:
                moves = list(state.actions())
                yield self._decision(player, state.infoset(), tuple(moves))
            else:
                self._fail(f"player must be 0 .. {self.game.players - 1}, CHANCE or TERMINAL; got {player!r}")
            stack.extend([(state.child(move), depth + 1) for move in reversed(moves)])

    def _fail(self, message: str) -> NoReturn:
        raise GameError(f"{self.game.spec()}: {message}")

    def _chance(self, moves: Sequence[Hashable], probabilities: Sequence[float]) -> str:
        if not all(p >= 0 for p in probabilities) or not abs(math.fsum(probabilities) - 1) <= PROBABILITY_TOLERANCE:
            self._fail(f"chance probabilities must be at least 0 and sum to 1; got {list(probabilities)}")
        self.events += 1
        labels = map(_quoted, _distinct([str(move) for move in moves]))
        pairs = zip(labels, _exact_probabilities(probabilities), strict=True)
        return f'c "" {self.events} "" {{ {" ".join(f"{label} {number}" for label, number in pairs)} }} 0'

    def _decision(self, player: int, key: Hashable, actions: tuple[Hashable, ...]) -> str:
        known = self.infosets[player]
        number, agreed = known.setdefault(key, (len(known) + 1, actions))
        if agreed != actions or not actions:
            self._fail(f"information set {key!r} must have the same actions everywhere; got {agreed} and {actions}")
        labels = " ".join(map(_quoted, _distinct([str(action) for action in actions])))
        return f'p "" {player + 1} {number} {_quoted(str(key))} {{ {labels} }} 0'

    def _terminal(self, utilities: Sequence[float]) -> str:
        if len(utilities) != self.game.players or not all(math.isfinite(utility) for utility in utilities):
            self._fail(f"utilities must be {self.game.players} finite numbers; got {list(utilities)}")
        numbers = tuple(map(_decimal, utilities))
        outcome = self.outcomes.setdefault(numbers, len(self.outcomes) + 1)
        return f't "" {outcome} "" {{ {" ".join(numbers)} }}'


def _quoted(text: str) -> str:
    """Text in quotes; a backslash is doubled only where it would be read as an escape, which Gambit would miss."""
    return '"' + re.sub(r'\\(?=["\\]|\Z)|"', lambda match: "\\" + match[0], text) + '"'


def _decimal(number: float) -> str:
    """The shortest decimal that is read back as the same float, without an exponent."""
    text = f"{Decimal(repr(float(number))):f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _exact_probabilities(probabilities: Sequence[float]) -> list[str]:
    """Numbers for the file that add up to 1 exactly; see ``format_efg``."""
    small = [Fraction(p).limit_denominator(MAX_DENOMINATOR) for p in probabilities]
    close = all(math.isclose(f, p, rel_tol=1e-14) for f, p in zip(small, probabilities, strict=True))
    if close and sum(small) == 1:
        return [str(fraction) for fraction in small]
    numbers = [_decimal(p) for p in probabilities]
    largest = max(range(len(numbers)), key=lambda index: probabilities[index])
    rest = 1 - sum(Fraction(number) for index, number in enumerate(numbers) if index != largest)
    places = max(len(number.partition(".")[2]) for number in numbers)
    digits = f"{int(rest * 10**places):0{places + 1}d}"  # exact: no number has more places
    numbers[largest] = f"{digits[: len(digits) - places]}.{digits[len(digits) - places :]}"
    return numbers
