"""The strategy of each hand at a betting decision on a board, for strategies that are looked up hand by hand.

With two players a hand is weighted by both players' earlier actions and by the cards that both cannot hold at once.
With more players it is weighted by its player's own actions alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.action_words import betting_letters
from counterplay.poker.board_tree import compatible_mass
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.poker.rules import Betting
from counterplay.strategy.hand_table import NOTHING, HandTable

Vector = NDArray[np.float64]
Seen = tuple[tuple[int, ...], ...]
"""What a player sees: hole cards, then the board cards of each round."""

Rows = Callable[[Betting, list[Seen]], list[dict[str, float]]]
"""The probabilities of the acting player at a betting decision, for each hand."""


def poker_hand_table(rules: GameDefinition, rows: Rows, node: str = "", board: str | None = None) -> HandTable:
    """The hands of the player who acts after ``node``, a betting such as ``rc/cr`` or ``raise call``, on a board.

    Raises GameError if there is no such decision, or no such board.
    """
    betting = Betting.after(rules, betting_letters(node))
    if betting.finished:
        raise GameError(f"nobody acts after {node!r}: the hand is over")
    cards = _board(rules, betting.round, board)
    left = sorted(set(rules.deck) - set(cards))
    holes = np.array(list(itertools.combinations(left, rules.hole_cards)), np.uint8)
    if holes.shape[1] > 2:
        raise GameError(f"hands of one or two cards are shown; this game deals {holes.shape[1]}")
    reaches, now = np.ones((rules.players, len(holes))), Betting.start(rules)
    for action in (action for actions in betting.actions for action in actions):
        found = rows(now, _seen(rules, now.round, holes, cards))
        if action not in found[0]:
            raise GameError(f"the strategy has no {action!r} after {now.text()!r}; it has {', '.join(found[0])}")
        reaches[now.player] *= [row[action] for row in found]
        now = now.act(action)
    player = betting.player
    weights = reaches[player] * (compatible_mass(holes, reaches[1 - player]) if rules.players == 2 else 1.0)
    found = rows(betting, _seen(rules, betting.round, holes, cards))
    shown = holes if holes.shape[1] == 2 else np.hstack([holes, np.full_like(holes, NOTHING)])
    total = weights.sum()
    return HandTable(
        player, betting.text(), cards_text(cards), tuple(found[0]), shown, weights / total if total > 0 else weights,
        np.array([list(row.values()) for row in found]),
    )  # fmt: skip


def _board(rules: GameDefinition, turn: int, board: str | None) -> tuple[int, ...]:
    cards = () if board is None else tuple(parse_cards(board))
    if len(cards) != rules.board_ends[turn]:
        raise GameError(f"{rules.board_ends[turn]} cards are on the board at this decision; got {board!r} (--board)")
    if len(set(cards)) < len(cards) or not set(cards) <= set(rules.deck):
        raise GameError(f"{board!r} is not a board of this game")
    return cards


def _seen(rules: GameDefinition, turn: int, holes: NDArray[np.uint8], board: Sequence[int]) -> list[Seen]:
    """What each hand sees in a round, cards ascending as infoset keys list them."""
    ends = (0, *rules.board_ends[: turn + 1])
    boards = [tuple(sorted(board[low:high])) for low, high in itertools.pairwise(ends)]
    return [(tuple(hole), *boards) for hole in holes.tolist()]


def parse_infoset(name: str) -> tuple[tuple[int, ...], tuple[int, ...], str]:
    """Hole cards, board and betting of an infoset's key, as ``AsKs/2c7dTh:rc/``."""
    cards, colon, betting = name.partition(":")
    if not colon:
        raise GameError(f"an infoset of poker is written as AsKs/2c7dTh:rc/; got {name!r}")
    hole, *boards = cards.split("/")
    return tuple(parse_cards(hole)), tuple(parse_cards("".join(boards))), betting
