"""What a strategy by buckets does with each real hand at a point of the betting, on a board.

The same numbers as those of ``evaluation.inspection``, from the tables of an abstract game: the probabilities of a hand
are those of its bucket.  With more than two players a hand weighs by its player's own play alone; what the others hold
is left out.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.bucket_pairs import hand_buckets
from counterplay.game.game import TERMINAL
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.poker.rules import Betting

if TYPE_CHECKING:
    from counterplay.evaluation.inspection import Inspection
    from counterplay.strategy.bucket_strategy import BucketStrategy

__all__ = ["inspect_buckets"]

NOTHING = 53
"""Beside the card of a hand that has one."""

Vector = NDArray[np.float64]


def inspect_buckets(profile: BucketStrategy, node: str = "", board: str | None = None) -> Inspection:
    """Look at a decision of a strategy by buckets.

    Parameters
    ----------
    profile : BucketStrategy
        How all players play.
    node : str
        The betting that leads to the decision, as the game writes it: ``rc/cr``.
    board : str, optional
        The board there; needed once cards were dealt.

    Raises
    ------
    GameError
        If there is no such decision, or no such board.
    """
    from counterplay.evaluation.inspection import Inspection

    game = profile.abstract
    place = game.tree.find(Betting.after(game.definition, node.strip()))
    if game.tree.player[place] == TERMINAL:
        raise GameError(f"nobody acts after {node!r}: the hand is over")
    player, turn = int(game.tree.player[place]), int(game.tree.round[place])
    cards = _board(profile, turn, board)
    left = sorted(set(game.definition.deck) - set(cards.tolist()))
    holes = np.array(list(itertools.combinations(left, game.definition.hole_cards)), np.uint8)
    if holes.shape[1] > 2:
        raise GameError(f"hands of one or two cards are shown; {game.name} deals {holes.shape[1]}")
    reaches = [_reach(profile, place, who, holes, cards) for who in range(game.players)]
    weights = reaches[player] * (_beside(holes, reaches[1 - player]) if game.players == 2 else 1.0)
    buckets = hand_buckets(game, player, holes, cards)[turn]
    rows = np.array([profile.row(place, bucket) for bucket in buckets.tolist()])
    shown = holes if holes.shape[1] == 2 else np.hstack([holes, np.full_like(holes, NOTHING)])
    total = weights.sum()
    return Inspection(
        player, game.tree.text(place), cards_text(cards), tuple(game.tree.actions(place)), shown,
        weights / total if total > 0 else weights, rows,
    )  # fmt: skip


def _board(profile: BucketStrategy, turn: int, board: str | None) -> NDArray[np.uint8]:
    rules = profile.abstract.definition
    cards = () if board is None else parse_cards(board)
    if len(cards) != rules.board_ends[turn]:
        raise GameError(f"{rules.board_ends[turn]} cards are on the board at this decision; got {board!r} (--board)")
    if len(set(cards)) < len(cards) or not set(cards) <= set(rules.deck):
        raise GameError(f"{board!r} is no board of {profile.game}")
    return np.array(cards, np.uint8)


def _reach(
    profile: BucketStrategy, place: int, player: int, holes: NDArray[np.uint8], cards: NDArray[np.uint8]
) -> Vector:
    """How likely a player plays towards a decision with each of his hands."""
    game, tree = profile.abstract, profile.abstract.tree
    buckets = hand_buckets(game, player, holes, cards)
    reach = np.ones(len(holes))
    while tree.parent[place] >= 0:
        above = int(tree.parent[place])
        if tree.player[above] == player:
            action = place - int(tree.first_child[above])
            held = buckets[int(tree.round[above])]
            known = {bucket: profile.row(above, bucket)[action] for bucket in np.unique(held).tolist()}
            reach *= np.array([known[bucket] for bucket in held.tolist()])
        place = above
    return reach


def _beside(holes: NDArray[np.uint8], reach: Vector) -> Vector:
    """For each hand, the reach of the opponent's hands that can be held beside it."""
    by_card = np.zeros(64)
    for column in range(holes.shape[1]):
        np.add.at(by_card, holes[:, column], reach)
    shared = by_card[holes].sum(axis=1) - (reach if holes.shape[1] == 2 else 0.0)
    return np.asarray(np.maximum(reach.sum() - shared, 0.0))
