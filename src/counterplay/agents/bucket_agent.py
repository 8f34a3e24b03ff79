"""An agent that plays a profile of an abstract game with real cards and real bets.

Cards are looked up in the buckets, and bets that the abstract game does not have are translated
(``strategy.translation``).  Where the two hands have come apart, at the end of a stack, the agent checks or calls.

``threshold`` and ``purify`` change the strategy when it is played: probabilities below the threshold become 0, or the
most likely action alone is played (Ganzfried, Sandholm and Waugh 2012).  Neither is in the theses that this toolkit
follows; both are off by default.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.agents.agent import Policy, Seen
from counterplay.agents.infoset_names import same_rules
from counterplay.errors import GameError, StrategyError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.translation import RULES, Rule, abstract_node, real_action

__all__ = ["BucketAgent", "sharpened"]


class BucketAgent(Policy):
    """Plays a profile of an abstract game, in whatever seat it is put.

    Parameters
    ----------
    profile : BucketStrategy
        The strategy.
    seed : int
        Of the random numbers with which actions are drawn and raises are translated.
    definition : GameDefinition, optional
        What is played; it must be the game of the profile.
    translation : {"probabilistic", "nearest"}
        The rule for raises that the abstract game does not have.
    threshold : float
        Actions less likely than this are not played, unless all are.
    purify : bool
        The most likely action alone is played.
    """

    def __init__(
        self,
        profile: BucketStrategy,
        seed: int = 0,
        definition: GameDefinition | None = None,
        translation: Rule = "probabilistic",
        threshold: float = 0.0,
        purify: bool = False,
    ) -> None:
        super().__init__(seed)
        own = profile.abstract.definition
        if definition is not None and not same_rules(own, definition):
            raise GameError(
                f"a strategy for {profile.game} cannot play this match: its rules are those of another game"
            )
        if translation not in RULES:
            raise StrategyError(f"translation is {' or '.join(RULES)}; got {translation!r}")
        if not 0.0 <= threshold < 1.0:
            raise StrategyError(f"threshold must be at least 0 and below 1; got {threshold!r}")
        self.profile = profile
        self.seed = seed
        self.translation: Rule = translation
        self.threshold = threshold
        self.purify = purify

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """The probabilities of the profile, as real actions."""
        if not isinstance(seen, MatchState):
            raise StrategyError(f"a strategy of the abstract {self.profile.game} plays match states, with real cards")
        game, betting = self.profile.abstract, seen.betting
        node = abstract_node(game.tree, betting, self.translation, lambda text: self._dart(seen.hand_id, text))
        if node is None:
            return [("c", 1.0)]
        bucket = game.bucket(betting.player, betting.round, seen.deal.hole[betting.player], seen.deal.board)
        chances = sharpened(self.profile.row(node, bucket), self.threshold, self.purify)
        options: dict[str, float] = {}
        for child, chance in zip(game.tree.children(node), chances.tolist(), strict=True):
            action = real_action(game.tree, node, child, betting)
            options[action] = options.get(action, 0.0) + chance
        return list(options.items())

    def _dart(self, hand_id: int, text: str) -> float:
        """A number in [0, 1) that stays the same for a raise throughout a hand."""
        digest = hashlib.blake2b(f"{self.seed}:{hand_id}:{text}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little") / 2.0**64


def sharpened(chances: NDArray[np.float64], threshold: float, purify: bool) -> NDArray[np.float64]:
    """A distribution without its small probabilities, or with the largest alone; the first of equal ones.

    >>> sharpened(np.array([0.04, 0.36, 0.6]), 0.05, False)
    array([0.   , 0.375, 0.625])
    """
    if purify:
        return np.asarray(np.arange(len(chances)) == np.argmax(chances), dtype=np.float64)
    kept = np.where(chances < threshold, 0.0, chances)
    total = kept.sum()
    return np.asarray(kept / total if total > 0.0 else chances)
