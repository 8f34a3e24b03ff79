"""Expected values and equities of each hand at a public state, in addition to its strategy.

Johanson 2016, section 9.4.  The value of a hand is what it wins against the opponent's range at this point.  In a
postflop spot it counts the chips that the hand takes from the pot minus those that it still puts in, so that folding is
worth 0; in other games it is the utility.  The equity of a hand is the fraction of the pot that it wins if nothing more
is bet.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.public_walks import Opponent, PublicWalks, Start, plain_tables
from counterplay.kernels.public.piece_steps import RESPONSE, VALUE
from counterplay.poker.poker_public_tree import add_links
from counterplay.poker.postflop import SUBGAME
from counterplay.poker.postflop.subgame import parse_subgame
from counterplay.strategy.hand_table import HandTable
from counterplay.strategy.public_lookup import Path, opponent_mass, public_path, reach_along
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.tree.public.public_tree import SHOWDOWN, PublicNode, PublicTree, lay_out

Vector = NDArray[np.float64]


def hand_values(profile: PublicStrategy, node: str = "", board: str | None = None) -> HandTable:
    """What each hand does at a public state of a card game, with its expected value and equity.

    Raises GameError if there is no such decision or board, or hands are not cards.
    """
    table = profile.hands(node, board)
    if table.labels:
        raise GameError(f"hands of {profile.game} are not cards; expected values are computed for games of cards")
    tree, index, player = profile.tree, profile.index, table.player
    place = index.node(node)
    deal, _ = index.board(place, board)
    path = public_path(tree, place, deal)
    reach = reach_along(tree, profile, path, 1 - player)
    mass = opponent_mass(tree, player, deal, reach)
    won = _values(tree, profile, path, player)
    equal = _equities(tree, deal, player, reach)
    with np.errstate(invalid="ignore", divide="ignore"):
        won, equal = np.where(mass > 0, won / mass, np.nan), np.where(mass > 0, 0.5 + 0.5 * equal / mass, np.nan)
    if tree.name.startswith(SUBGAME):
        won = won + tree.half_pot + parse_subgame(tree.name).spent(tree.node_text[place])[player]
    hands = tree.hands[player]
    classes = hands.real_class[int(hands.real_start[deal]) : int(hands.real_start[deal + 1])]
    return dataclasses.replace(table, values=won[classes], equities=equal[classes])


def _values(tree: PublicTree, profile: PublicStrategy, path: Path, player: int) -> Vector:
    """Counterfactual values of a player's hands at the end of a path, from a walk of the piece that it is in."""
    node, deal, _ = path[-1]
    root = node
    while not tree.piece_size[root]:
        root -= 1
    start = next(step for step, (place, _, _) in enumerate(path) if place == root)
    reach = reach_along(tree, profile, path[: start + 1], 1 - player)
    walker = PublicWalks(tree)
    first, second = (np.array(table) for table in profile.tables)
    own, opp = (first, second) if player == 0 else (second, first)
    tables = plain_tables(own, walker.ones(player))
    count = tree.hands[player].count(deal)
    walker.walk(player, VALUE, tables, Opponent(opp), Start(root, deal, (np.ones(count), reach)))
    begin = (node - root) * walker.scratch.stride
    return np.asarray(walker.scratch.value[begin : begin + count]).copy()


def _equities(tree: PublicTree, deal: int, player: int, reach: Vector) -> Vector:
    """What a player's hands win minus what they lose if nothing more is bet, by the opponent's weights."""
    starts = [0]
    while starts[-1] < tree.num_deals:  # the levels of the deals
        last = starts[-1]
        count = tree.deal_count[starts[-2] : last].sum() if len(starts) > 1 else 1
        if count == 0:
            break
        starts.append(last + int(count))
    spans = list(itertools.pairwise(starts))
    level = next(level for level, (low, high) in enumerate(spans) if low <= deal < high)
    root = add_links(PublicNode(SHOWDOWN, spans[-1], payoff=1.0), level, len(spans) - 1, spans)
    arrays: dict[str, Any] = lay_out(root, (tree.hands[0].start, tree.hands[1].start), tree.num_deals)
    walker = PublicWalks(dataclasses.replace(tree, **arrays))
    none, scale = np.zeros(0), np.ones(1, np.float32)
    start = Start(deal=deal, reaches=(np.ones(tree.hands[player].count(deal)), reach))
    return walker.walk(player, RESPONSE, plain_tables(none, scale), Opponent(none, scale), start)
