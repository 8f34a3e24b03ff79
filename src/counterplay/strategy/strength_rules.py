"""Strategies that look at the strength of their hand only: each range of it folds, calls and raises at fixed odds.

The strength is that of ``poker.hand_strength``: the share of the opponent's possible hands that are beaten now.  What
a range plays is a ``CardFree`` strategy, with its conventions: folding is only done when facing a bet, a raise that is
not possible becomes a call, and in no-limit games a raise is the smallest one.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, StrategyError
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.cards import parse_cards
from counterplay.poker.hand_strength import board_strengths, hand_strengths
from counterplay.poker.poker_game import definition_for
from counterplay.poker.postflop import game_title
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import CardFree
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.public.public_tree import PublicTree

Matrix = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class StrengthRule:
    """A strategy by hand strength.

    Attributes
    ----------
    name : str
        What it is called.
    ranges : tuple of (float, CardFree)
        The upper end of each range of strengths, which belongs to the next one, and what it plays; the last end is
        above 1.
    """

    name: str
    ranges: tuple[tuple[float, CardFree], ...]

    def part(self, strength: float) -> CardFree:
        """What is played with a hand of this strength."""
        return next(part for end, part in self.ranges if strength < end)

    def matrix(self, tree: PublicTree, node: int, deal: int) -> Matrix:
        """The rows of all hands at a public state; see ``HandStrategy``."""
        cards = tree.hands[tree.kind[node]].card
        if not len(cards):
            raise StrategyError(f"the public tree of {tree.name} does not show cards; measure by history")
        game = _named_definition(tree.name)
        holes = cards[tree.hands[tree.kind[node]].slice(deal)][:, : game.hole_cards]
        strengths = board_strengths(game, parse_cards(tree.deal_text[deal]))[tuple(holes.T)]
        places = np.searchsorted([end for end, _ in self.ranges], strengths, side="right")
        return np.asarray(_rows(self, tuple(tree.actions_of(node)))[places])

    def tabular(self, tree: GameTree, game: Game | None = None) -> TabularStrategy:
        """The strategy of a compiled game that plays so in all seats; ``game`` if its name does not open it again."""
        known = seen_strengths(open_game(tree.name, "states") if game is None else game)
        rows = [
            self.part(known[name.partition(":")[0]][-1]).row(tree.actions_of(infoset))
            for infoset, name in enumerate(tree.infoset_names)
        ]
        return TabularStrategy.from_tree(tree, np.concatenate([np.zeros(0), *rows]), Provenance(self.name))


@functools.lru_cache(maxsize=1 << 8)
def _rows(rule: StrengthRule, actions: tuple[str, ...]) -> Matrix:
    """What each range plays: ranges x actions."""
    return np.array([part.row(actions) for _, part in rule.ranges])


def _definition(game: Game) -> GameDefinition:
    found = definition_for(game)
    if found is None:
        raise GameError(
            f"{game_title(game.spec())} is not a poker game with a definition, so hands have no strength there; "
            "opponents without cards are uniform and, where actions are fold, call and raise, always-call and its like"
        )
    return found


@functools.lru_cache(maxsize=8)
def _named_definition(name: str) -> GameDefinition:
    return _definition(open_game(name, "states"))


def check_strength(game: Game) -> None:
    """Raise GameError if hands have no strength in a game: if it is not poker with a definition."""
    _definition(game)


def seen_strengths(game: Game) -> dict[str, tuple[float, ...]]:
    """The strength of each hand in each round so far, by the start of the names of information sets, up to the colon.

    Raises GameError if the game is not poker with a definition.
    """
    return _cached(game) if isinstance(game, Hashable) else _enumerated(game)


def _enumerated(game: Game) -> dict[str, tuple[float, ...]]:
    definition = _definition(game)
    found: dict[str, tuple[float, ...]] = {}
    holes = list(itertools.combinations(sorted(definition.deck), definition.hole_cards))
    for rounds in range(1, definition.rounds + 1):
        for boards in _boards(definition, rounds):
            table = [card for cards in boards for card in cards]
            free = [hole for hole in holes if not set(hole) & set(table)]
            for hole, strength in zip(free, hand_strengths(definition, table, free).tolist(), strict=True):
                before = found[_seen(game, hole, boards[:-1])] if rounds > 1 else ()
                found[_seen(game, hole, boards)] = (*before, strength)
    return found


def _seen(game: Game, hole: tuple[int, ...], boards: Sequence[tuple[int, ...]]) -> str:
    """How the names of information sets with these cards start."""
    return game.acpc_infoset(hole, boards, ((),) * len(boards)).partition(":")[0]


_cached = functools.lru_cache(maxsize=8)(_enumerated)


def _boards(
    game: GameDefinition, rounds: int, before: Sequence[tuple[int, ...]] = ()
) -> Iterator[list[tuple[int, ...]]]:
    """The boards of the first rounds, one tuple of cards for each."""
    if len(before) == rounds:
        yield list(before)
        return
    gone = {card for cards in before for card in cards}
    left = [card for card in sorted(game.deck) if card not in gone]
    for cards in itertools.combinations(left, game.board_cards[len(before)]):
        yield from _boards(game, rounds, [*before, cards])
