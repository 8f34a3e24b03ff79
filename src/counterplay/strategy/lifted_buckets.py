"""A strategy of an abstract game, played on the public tree of the real one.

Wherever betting and bucket are the same it plays alike (Johanson 2016, section 1.2), so that its real exploitability is
a matter of the accelerated best response: exact for games whose public tree fits into memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.cards import deck_shape
from counterplay.abstraction.cards.sizes import abstract_size
from counterplay.errors import GameError, MemoryLimitError, StrategyError
from counterplay.poker.cards import parse_cards
from counterplay.poker.definition import GameDefinition
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.public_game import public_tree_by_name
from counterplay.poker.rules import Betting
from counterplay.strategy.abstract_profile import AbstractProfile
from counterplay.strategy.bucket_games import hand_buckets
from counterplay.strategy.measurement import Measurement
from counterplay.strategy.public_profile import fill_table, normalised
from counterplay.strategy.public_walks import PublicWalker
from counterplay.tree.memory import available_memory, format_bytes
from counterplay.tree.public import PublicTree

__all__ = ["PUBLIC_INFOSETS", "LiftedStrategy", "measure_lifted", "measure_real", "real_infosets"]

PUBLIC_INFOSETS = 200_000_000
"""Real games with more information sets, up to suits, are not measured exactly."""

BYTES = 24
"""Memory for each information set: tables of both players and vectors of the walk."""


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
        self._buckets: dict[tuple[int, str, int], NDArray[np.int64]] = {}  # trees may number deals differently

    def probabilities(self, tree: PublicTree, node: int, deal: int) -> NDArray[np.float64]:
        """The probabilities at a public state: hands x actions."""
        game, text, player = self.profile.abstract, tree.node_text[node], int(tree.kind[node])
        if text not in self._nodes:
            self._nodes[text] = game.tree.find(Betting.after(game.definition, text))
        hands = tree.hands[player]
        key = player, tree.deal_text[deal], hands.count(deal)
        if key not in self._buckets:
            holes = hands.card[hands.slice(deal)][:, : game.definition.hole_cards].astype(np.uint8)
            board = np.array(parse_cards(tree.deal_text[deal]), np.uint8)
            self._buckets[key] = hand_buckets(game, player, holes, board)[-1]
        place = self._nodes[text]
        first = game.entry(place, 0) + self._buckets[key] * (game.entry(place, 1) - game.entry(place, 0))
        entries = first[:, None] + np.arange(int(tree.num_children[node]))
        return normalised(self.profile.weights[entries].astype(np.float64).T).T


def measure_lifted(profile: AbstractProfile, tree: PublicTree, threads: int = 1) -> Measurement:
    """Value and best responses of a strategy of an abstract game in the real one."""
    strategy = LiftedStrategy(profile)
    tables = fill_table(tree, 0, strategy), fill_table(tree, 1, strategy)
    return PublicWalker(tree, threads).measure(tables)


def real_infosets(game: GameDefinition) -> int:
    """Information sets of the real game up to suits, counted before anything is built."""
    deck, shape = deck_shape(game)
    return sum(abstract_size(game, HandIndexer(shape, *deck).sizes).infosets)


def measure_real(profile: AbstractProfile, memory_limit: int | None = None, threads: int = 1) -> Measurement:
    """The same by the name of the real game.

    Raises
    ------
    GameError
        If the real game cannot be measured in; the message says why.
    """
    game = profile.abstract
    if game.players != 2:
        raise GameError(f"best responses in the real game are for two players; {game.name} has {game.players}")
    if game.bets is not None:
        raise GameError("the real game has other bets than the abstract one")
    number = real_infosets(game.definition)
    if number > PUBLIC_INFOSETS:
        raise GameError(f"the real game has {number:.3g} information sets, too many for an exact best response")
    _check_memory(f"the public tree of {game.name}", BYTES * number, memory_limit)
    return measure_lifted(profile, public_tree_by_name(game.name, memory_limit), threads)


def _check_memory(what: str, needed: int, limit: int | None) -> None:
    """Refuse what will not fit."""
    allowed = available_memory() if limit is None else limit
    if needed > allowed:
        raise MemoryLimitError(f"{what} needs {format_bytes(needed)}; only {format_bytes(allowed)} may be used")
