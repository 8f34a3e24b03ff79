"""Any poker definition as a game for the solvers, and the standard ones in the registry.

Chance deals the hole cards by position, each hand as one event, and the board of each round as one event.  When
everybody is all in, the remaining boards are dealt before the showdown.  Actions are written as in the protocol of the
competition (``f``, ``c``, ``r``, ``r250``), and an information set is what the player sees: ``Ks/Qh:crc/``.  With
``isomorphic=true`` suits are named in order of appearance, so that hands that differ only by a renaming of suits are
merged, without loss (Johanson 2016, section 2.4).

All deals share the betting: its nodes are created when they are first reached.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from counterplay.errors import GameError, MemoryLimitError
from counterplay.game.game import CHANCE, Game, Scheme
from counterplay.game.registry import parameter, register
from counterplay.poker.acpc.definition import UNLIMITED, GameDefinition, read_definition
from counterplay.poker.acpc.match_state import rank_cards
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.betting import COUNTED_ROWS, BettingCounts, count_betting
from counterplay.poker.cards import RANKS, card_text, cards_text, parse_cards
from counterplay.poker.rules import Betting, Chips


class _Point:
    """A node of the betting with its children, created on demand."""

    __slots__ = ("actions", "after", "betting", "text")

    def __init__(self, betting: Betting) -> None:
        self.betting = betting
        self.actions = tuple(betting.legal_actions())
        self.after: dict[str, _Point] = {}
        self.text = betting.text()

    def child(self, action: str) -> _Point:
        point = self.after.get(action)
        if point is None:
            point = self.after[action] = _Point(self.betting.act(action))
        return point


class PokerState:
    """Hole cards by position and board cards by round, as dealt so far, and a node of the betting."""

    __slots__ = ("board", "game", "hole", "player", "point")

    def __init__(
        self, game: PokerGame, hole: tuple[tuple[int, ...], ...], board: tuple[tuple[int, ...], ...], point: _Point
    ) -> None:
        self.game = game
        self.hole = hole
        self.board = board
        self.point = point
        betting = point.betting
        if len(hole) < betting.game.players or (len(board) <= betting.round and not self._decided()):
            self.player = CHANCE
        else:
            self.player = betting.player

    def _decided(self) -> bool:
        """Whether all but one have folded, so that no more cards are dealt."""
        return self.point.betting.finished and not self.point.betting.showdown

    def chance(self) -> list[tuple[str, float]]:
        game = self.game.definition
        wanted = game.hole_cards if len(self.hole) < game.players else game.board_cards[len(self.board)]
        gone = {card for cards in (*self.hole, *self.board) for card in cards}
        left = [card for card in sorted(game.deck) if card not in gone]
        probability = 1 / math.comb(len(left), wanted)
        texts = [card_text(card) for card in left]
        return [("".join(cards), probability) for cards in itertools.combinations(texts, wanted)]

    def actions(self) -> tuple[str, ...]:
        return self.point.actions

    def child(self, action: str) -> PokerState:
        if self.player >= 0:
            return self._with(self.hole, self.board, self.point.child(action))
        cards = parse_cards(action)
        if len(self.hole) < self.game.definition.players:
            return self._with((*self.hole, cards), self.board, self.point)
        return self._with(self.hole, (*self.board, cards), self.point)

    def _with(self, hole: tuple[tuple[int, ...], ...], board: tuple[tuple[int, ...], ...], point: _Point) -> PokerState:
        """The state with these cards; rounds without cards are dealt at once."""
        game = self.game.definition
        if len(hole) == game.players:
            while len(board) <= point.betting.round and not game.board_cards[len(board)]:
                board = (*board, ())
        return PokerState(self.game, hole, board, point)

    def infoset(self) -> str:
        betting = self.point.betting
        seen = (self.hole[betting.player], *self.board[: betting.round + 1])
        return infoset_name(seen, self.point.text, self.game.isomorphic)

    def utilities(self) -> list[float]:
        return [float(value) for value in self._values()]

    def _values(self) -> tuple[Chips, ...]:
        betting = self.point.betting
        if not betting.showdown:
            return betting.values()
        board = tuple([card for cards in self.board for card in cards])
        return betting.values([rank_cards(betting.game, (*hole, *board)) for hole in self.hole])


def infoset_name(seen: tuple[tuple[int, ...], ...], betting: str, isomorphic: bool) -> str:
    """What a player knows: hole cards, the board of each round (each in ascending order), and the betting."""
    if isomorphic:
        seen = _name_suits(seen)
    cards = "/".join([cards_text(cards) for number, cards in enumerate(seen) if cards or number != 1])
    return f"{cards}:{betting}"


def _name_suits(seen: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """The same cards with suits renamed, so that cards that differ only by a renaming of suits become equal."""
    forms = []
    used = sorted({card & 3 for cards in seen for card in cards})
    for order in itertools.permutations(range(4 - len(used), 4)):
        name = dict(zip(used, order, strict=True))
        forms.append(tuple([tuple(sorted([card & ~3 | name[card & 3] for card in cards])) for cards in seen]))
    return max(forms)


def _count_histories(game: GameDefinition, counts: BettingCounts) -> int:
    """Every betting sequence occurs once for each deal of the cards dealt so far; deals are histories too."""
    left, deals, total = game.suits * game.ranks, 1, 0
    for _ in range(game.players):
        total += deals
        deals *= math.comb(left, game.hole_cards)
        left -= game.hole_cards
    waiting = 1  # betting sequences that wait for the next board: into the round, and all-in
    all_in = 0
    for number, cards in enumerate(game.board_cards):
        if cards:
            total += deals * (waiting + all_in)
            deals *= math.comb(left, cards)
            left -= cards
        total += deals * (counts.decisions[number] + counts.folds[number])
        waiting = counts.continuing[number]
        all_in += counts.showdowns[number]
    return total + deals * all_in


def limit_scheme(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
    """Fold and raise always, call with probability 1/2 (Gibson 2014, section 5.3.2); checks are calls, bets raises."""
    return [0.5 if action in ("call", "check", "c") else 1.0 for action in actions]


class PokerGame(Game):
    """A game of poker from its definition; not registered itself."""

    definition: GameDefinition
    isomorphic: bool
    zero_sum = True
    fold_action = "f"

    sampling_schemes: ClassVar[Mapping[str, Scheme]] = {"limit-poker": limit_scheme}

    def acpc_rules(self) -> Mapping[str, Any]:
        """The definition itself."""
        return {field.name: getattr(self.definition, field.name) for field in dataclasses.fields(self.definition)}

    def acpc_infoset(
        self, hole: Sequence[int], boards: Sequence[Sequence[int]], actions: Sequence[Sequence[str]]
    ) -> str:
        """As ``Game.acpc_infoset``."""
        betting = "/".join("".join(row) for row in actions)
        return infoset_name((tuple(hole), *map(tuple, boards)), betting, self.isomorphic)

    @property
    def big_blind(self) -> float:
        """The largest blind; the ante where all are equal."""
        return float(self.definition.big_blind)

    @functools.cached_property
    def _start(self) -> _Point:
        return _Point(Betting.start(self.definition))

    def num_histories(self) -> int | None:
        """Counted from the betting and the deals; None if the betting alone is too large to be counted."""
        try:
            counts = count_betting(self.definition, max_rows=COUNTED_ROWS)
        except MemoryLimitError:
            return None
        return _count_histories(self.definition, counts)

    def root(self) -> PokerState:
        """Before the deal."""
        return PokerState(self, (), (), self._start)


@dataclasses.dataclass(frozen=True)
class PokerFile(PokerGame):
    """A game of poker from a definition in a file or in memory; ``name`` is what it is called by."""

    definition: GameDefinition
    name: str
    isomorphic: bool = False

    @property
    def players(self) -> int:  # type: ignore[override]
        """Number of players."""
        return self.definition.players

    def spec(self) -> str:
        """The path."""
        return self.name


def poker_game(source: GameDefinition | str | os.PathLike[str], name: str = "poker") -> PokerFile:
    """A game from a definition, from the path of a ``.game`` file, or from the name of a standard one."""
    if isinstance(source, GameDefinition):
        return PokerFile(source, name)
    path = os.fspath(source)
    standard = STANDARD.get(path.removesuffix(".game"))
    if standard is not None and not os.path.exists(path):
        return PokerFile(standard, path)
    return PokerFile(read_definition(source), path)


def definition_for(game: Game) -> GameDefinition | None:
    """The competition definition with the rules of a game; None if there is none."""
    rules = game.acpc_rules()
    return None if rules is None else GameDefinition(**{"stacks": (UNLIMITED,) * game.players, **rules})


# ---------------------------------------------------------------------------------------------- the registry


class StandardPoker(PokerGame):
    """A standard game whose deck, and stacks in no-limit games, can be made smaller."""

    file: ClassVar[str]
    ranks: int
    suits: int

    def __post_init__(self) -> None:
        self.definition  # noqa: B018  checks the parameters

    @functools.cached_property
    def definition(self) -> GameDefinition:  # type: ignore[override]
        """The definition with the parameters applied."""
        standard = _definition_of(type(self).file)
        stack = getattr(self, "stack", None)
        stacks = standard.stacks if stack is None else (stack,) * standard.players
        three = getattr(self, "three_card_hands", False)
        try:
            return dataclasses.replace(
                standard, ranks=self.ranks, suits=self.suits, stacks=stacks, three_card_hands=three
            )
        except GameError as error:
            raise GameError(f"{type(self).spec_name}: {error}") from error


_TWO_ROUND_NO_LIMIT = GameDefinition(
    limit=False, players=2, rounds=2, stacks=(30, 30), blinds=(2, 1), first_players=(1, 0),
    suits=4, ranks=13, hole_cards=2, board_cards=(0, 3),
)  # fmt: skip
"""2-NL hold'em of Gibson et al. (2012): no-limit hold'em that ends after the flop, blinds 1 and 2."""

_NAMES = {
    "holdem_limit_2p": ("holdem.limit.2p.reverse_blinds", "Heads-up limit Texas hold'em as in the competition."),
    "holdem_limit_3p": ("holdem.limit.3p", "Three-player limit Texas hold'em as in the competition."),
    "holdem_nolimit_2p": ("holdem.nolimit.2p.reverse_blinds", "Heads-up no-limit Texas hold'em, 200 big blinds deep."),
    "holdem_nolimit_3p": ("holdem.nolimit.3p", "Three-player no-limit Texas hold'em, 200 big blinds deep."),
    "holdem_2_1": ("2-1", "Limit hold'em that ends after the flop, one raise in a round."),
    "holdem_2_4": ("2-4", "Limit hold'em that ends after the flop, four bets in a round."),
    "holdem_4_1": ("4-1", "Limit Texas hold'em with one raise in a round."),
    "holdem_4_2": ("4-2", "Limit Texas hold'em with two bets in a round."),
    "holdem_2_nolimit": ("", "No-limit hold'em that ends after the flop, with small stacks."),
    "rhode_island": ("rhode", "Rhode Island hold'em: one hole card, two board cards, hands of three cards."),
    "royal_holdem": ("royal", "Limit hold'em with the twenty cards from ten to ace."),
    "kuhn_limit_2p": ("kuhn.limit.2p", "Kuhn poker from its competition definition."),
    "kuhn_limit_3p": ("kuhn.limit.3p", "Three-player Kuhn poker from its competition definition."),
    "leduc_limit_2p": ("leduc.limit.2p", "Leduc hold'em from its competition definition; suits are seen."),
    "leduc_nolimit_2p": ("leduc.nolimit.2p", "No-limit Leduc hold'em of DeepStack-Leduc."),
}  # fmt: skip


def _definition_of(file: str) -> GameDefinition:
    return STANDARD[file] if file else _TWO_ROUND_NO_LIMIT


def standard_name(definition: GameDefinition) -> str | None:
    """The name of the registered game with this definition, if there is one."""
    return next((name for name, (file, _) in _NAMES.items() if _definition_of(file) == definition), None)


def _register(name: str, file: str, summary: str) -> type[PokerGame]:
    standard = _definition_of(file)
    fields: list[tuple[str, type, Any]] = [
        ("ranks", int, parameter(standard.ranks, f"number of ranks in the deck, the highest of {RANKS}")),
        ("suits", int, parameter(standard.suits, "number of suits in the deck")),
    ]
    if not standard.limit:
        fields.append(("stack", int, parameter(standard.stacks[0], "chips of each player at the start of a hand")))
    if standard.hole_cards + sum(standard.board_cards) == 3:
        fields.append(("three_card_hands", bool, parameter(False, "straights and flushes of three cards count")))
    fields.append(("isomorphic", bool, parameter(False, "information sets merge isomorphic suits (lossless)")))
    body = {"__doc__": summary, "file": file, "players": standard.players, "__module__": __name__}
    made = dataclasses.make_dataclass(
        "".join(part.title() for part in name.split("_")), fields, bases=(StandardPoker,), namespace=body, frozen=True
    )
    return register(name)(made)


for _name, (_file, _summary) in _NAMES.items():
    _register(_name, _file, _summary)
