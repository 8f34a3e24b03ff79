"""CS, OPCS, SPCS and PCS by their definition (Johanson 2016, section 3.2.1): every history of a game is looked at.

A block fixes the chance events that a variant draws, at the probability that they have among all deals.  The sampled
counterfactual value of an action is the sum over the ends in the block, each divided by the probability q(z) that its
block is drawn.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.game.game import CHANCE, TERMINAL
from tests.reference.poker import PokerState, Table, deck_of

if TYPE_CHECKING:
    from counterplay.poker.acpc.definition import GameDefinition

DRAWN = {"cs": (True, True), "opcs": (False, True), "spcs": (True, False), "pcs": (False, False)}
"""Whether the own hand is drawn, and the opponent's."""

Hand: TypeAlias = tuple[int, ...]
Block: TypeAlias = tuple[Hand | None, Hand | None, Hand]
"""Own hand, opponent's hand, board; None where it is not drawn."""

Strategy: TypeAlias = Mapping[str, Mapping[str, float]]
Values: TypeAlias = dict[str, dict[str, float]]


class End(NamedTuple):
    """An end of the game: hands, board, chance, and the decisions on the way as (player, infoset, action)."""

    hole: tuple[Hand, Hand]
    board: Hand
    chance: float
    path: tuple[tuple[int, str, str], ...]
    utility: tuple[float, ...]


def ends(definition: GameDefinition) -> list[End]:
    """Every end of a game."""
    return list(_ends(PokerState(Table(definition)), 1.0, ()))


def _ends(state: PokerState, chance: float, path: tuple[tuple[int, str, str], ...]) -> Iterator[End]:
    if state.player == TERMINAL:
        board = tuple(card for cards in state.board for card in cards)
        yield End(tuple(tuple(hand) for hand in state.hole), board, chance, path, tuple(state.utilities()))  # type: ignore[arg-type]
    elif state.player == CHANCE:
        for action, probability in state.chance():
            yield from _ends(state.child(action), chance * probability, path)
    else:
        name = state.infoset()
        for action in state.actions():
            yield from _ends(state.child(action), chance, (*path, (state.player, name, action)))


def blocks(definition: GameDefinition, variant: str, player: int) -> dict[Block, float]:
    """All blocks of a variant for a player with their probabilities: chance, summed over what is not drawn."""
    found: dict[Block, float] = defaultdict(float)
    size, draws = definition.hole_cards, DRAWN[variant]
    deals = list(_deals(tuple(sorted(deck_of(definition))), (size, size, *definition.board_cards)))
    for deal in deals:
        own, opp = deal[player], deal[1 - player]
        board = tuple(card for cards in deal[2:] for card in cards)
        found[own if draws[0] else None, opp if draws[1] else None, board] += 1 / len(deals)
    return dict(found)


def _deals(deck: Hand, sizes: tuple[int, ...]) -> Iterator[tuple[Hand, ...]]:
    if not sizes:
        yield ()
        return
    for cards in itertools.combinations(deck, sizes[0]):
        for rest in _deals(tuple(card for card in deck if card not in cards), sizes[1:]):
            yield (cards, *rest)


def sampled_values(
    every: list[End], of: dict[Block, float], player: int, strategy: Strategy, paid: bool = True
) -> dict[Block, Values]:
    """Of each block, the sampled counterfactual value of each action at each information set of a player.

    Without ``paid`` every end is worth 1 (for the lemma about blocks).
    """
    found: dict[Block, Values] = {block: defaultdict(lambda: defaultdict(float)) for block in of}
    for end in every:
        own, opp = end.hole[player], end.hole[1 - player]
        holds = [b for b in of if b[0] in (None, own) and b[1] in (None, opp) and b[2][: len(end.board)] == end.board]
        chance = math.fsum(of[block] for block in holds)
        others = math.prod(strategy[name][action] for who, name, action in end.path if who != player)
        value = (end.utility[player] if paid else 1.0) * end.chance * others / chance
        after = 1.0
        for who, name, action in reversed(end.path):
            if who == player:
                for block in holds:
                    found[block][name][action] += value * after
                after *= strategy[name][action]
    return found


def regrets(values: Values, strategy: Strategy) -> dict[str, NDArray[np.float64]]:
    """Sampled counterfactual regrets, in the order of the strategy's actions."""
    made = {}
    for name, by_action in values.items():
        here = math.fsum(strategy[name][action] * value for action, value in by_action.items())
        made[name] = np.array([by_action.get(action, 0.0) - here for action in strategy[name]])
    return made
