"""A strategy of an abstract game, played on the public tree of the real one.

Wherever betting and bucket are the same it plays alike (Johanson 2016, section 1.2), so that its real exploitability is
a matter of the accelerated best response: exact for games whose public tree fits into memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.poker.cards import parse_cards
from counterplay.poker.rules import Betting
from counterplay.strategy.abstract_profile import AbstractProfile
from counterplay.strategy.bucket_games import hand_buckets
from counterplay.strategy.measurement import Measurement
from counterplay.strategy.public_profile import fill_table, normalised
from counterplay.strategy.public_walks import PublicWalker
from counterplay.tree.public import PublicTree

__all__ = ["LiftedStrategy", "measure_lifted"]


class LiftedStrategy:
    """An ``AbstractProfile`` as a strategy of public states: the ``PublicStrategy`` of either player.

    Parameters
    ----------
    profile : AbstractProfile
        The strategy; its bets must be those of the real game.
    """

    def __init__(self, profile: AbstractProfile) -> None:
        if profile.abstract.bets is not None:
            raise StrategyError("with abstract bets the real game has other actions; its public tree does not fit")
        self.profile = profile
        self._nodes: dict[str, int] = {}
        self._buckets: dict[tuple[int, int], NDArray[np.int64]] = {}

    def probabilities(self, tree: PublicTree, node: int, deal: int) -> NDArray[np.float64]:
        """The probabilities at a public state: hands x actions."""
        game, text, player = self.profile.abstract, tree.node_text[node], int(tree.kind[node])
        if text not in self._nodes:
            self._nodes[text] = game.tree.find(Betting.after(game.definition, text))
        if (player, deal) not in self._buckets:
            hands = tree.hands[player]
            holes = hands.card[hands.slice(deal)][:, : game.definition.hole_cards].astype(np.uint8)
            board = np.array(parse_cards(tree.deal_text[deal]), np.uint8)
            self._buckets[player, deal] = hand_buckets(game, player, holes, board)[-1]
        place = self._nodes[text]
        first = game.entry(place, 0) + self._buckets[player, deal] * (game.entry(place, 1) - game.entry(place, 0))
        entries = first[:, None] + np.arange(int(tree.num_children[node]))
        return normalised(self.profile.weights[entries].astype(np.float64).T).T


def measure_lifted(profile: AbstractProfile, tree: PublicTree, threads: int = 1) -> Measurement:
    """Value and best responses of a strategy of an abstract game in the real one."""
    strategy = LiftedStrategy(profile)
    tables = fill_table(tree, 0, strategy), fill_table(tree, 1, strategy)
    return PublicWalker(tree, threads).measure(tables)
