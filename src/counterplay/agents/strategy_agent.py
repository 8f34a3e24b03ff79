"""An agent that plays a strategy of any storage: it looks up its infoset and samples an action.

In matches of the competition an infoset is named by ``infoset_names.namer``.  Bucket strategies look up the bucket of
the cards, and translate bets that their betting tree does not have (``strategy.translation``); where the real and the
translated betting have diverged, at the end of a stack, the agent checks or calls.  Strategies that cover only part of
their game play uniformly elsewhere.

``threshold`` and ``purify`` change the strategy when it is played: probabilities below the threshold become 0, or the
most likely action alone is played (Ganzfried, Sandholm and Waugh 2012).  Neither is in the theses that this toolkit
follows; both are off by default.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.agents.agent import Decision, Policy, Seen
from counterplay.errors import GameError, StrategyError
from counterplay.forms import open_game
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.infoset_names import LETTERS, Namer, namer, same_rules
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.postflop import SUBGAME
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.strategy import Strategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.translation import RULES, Rule, real_action, translated_node


class StrategyAgent(Policy):
    """Plays a strategy, in whatever seat it is put.

    Parameters
    ----------
    strategy, seed : Strategy, int
        Of any storage; of the random numbers that sample actions and translate raises.
    definition : GameDefinition, optional
        What is played, when match states will be seen; the strategy must be of a game with these rules.
    translation : {"probabilistic", "nearest"}
        The rule for raises that a bucket game does not have.
    threshold : float
        Actions less likely than this are not played, unless all are.
    purify : bool
        The most likely action alone is played.
    """

    def __init__(
        self, strategy: Strategy, seed: int = 0, definition: GameDefinition | None = None,
        translation: Rule = "probabilistic", threshold: float = 0.0, purify: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(seed)
        if strategy.game.startswith(SUBGAME) and definition is not None:
            raise GameError("a strategy of a postflop spot starts in the middle of a hand; it cannot play a match")
        if translation not in RULES:
            raise StrategyError(f"translation is {' or '.join(RULES)}; got {translation!r}")
        if not 0.0 <= threshold < 1.0:
            raise StrategyError(f"threshold must be at least 0 and below 1; got {threshold!r}")
        self.strategy = strategy
        self.translation: Rule = translation
        self.threshold = threshold
        self.purify = purify
        self._namer = None if definition is None else self._named(definition)

    def _named(self, definition: GameDefinition) -> Namer | None:
        """The names of match states in the strategy's game; bucket strategies need none."""
        if not isinstance(self.strategy, BucketStrategy):
            return namer(open_game(self.strategy.game, "states"), definition)
        if not same_rules(self.strategy.abstract.definition, definition):
            raise GameError(
                f"a strategy for {self.strategy.game} cannot play this match: its rules are those of another game"
            )
        return None

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """The probabilities of the strategy, as legal actions."""
        if isinstance(seen, Decision):
            return self._row(seen.player, seen.infoset, seen.actions)
        if isinstance(self.strategy, BucketStrategy):
            return self._translated(self.strategy, seen)
        if self._namer is None:
            raise StrategyError("this agent does not know which poker game is played; give it the definition")
        row = self._row(seen.betting.player, self._namer(seen), ())
        if not row:  # not visited by the run
            actions = seen.betting.legal_actions()
            return [(action, 1.0 / len(actions)) for action in actions]
        return [(LETTERS.get(action, action), probability) for action, probability in row]

    def _row(self, player: int, infoset: str, actions: Sequence[str]) -> list[tuple[str, float]]:
        try:
            row = self.strategy.probabilities(player, infoset)
        except StrategyError:
            if isinstance(self.strategy, TabularStrategy) and self.strategy.partial:
                return [(action, 1.0 / len(actions)) for action in actions]
            raise StrategyError(
                f"the strategy for {self.strategy.game} does not know {infoset!r} of player {player + 1}; "
                "it was made for another game"
            ) from None
        if not self.threshold and not self.purify:
            return list(row.items())
        chances = sharpened(np.array(list(row.values())), self.threshold, self.purify)
        return list(zip(row, chances.tolist(), strict=True))

    def _translated(self, strategy: BucketStrategy, seen: MatchState) -> list[tuple[str, float]]:
        game, betting = strategy.abstract, seen.betting
        node = translated_node(game.tree, betting, self.translation, lambda text: self.number_of(seen.hand_id, text))
        if node is None:
            return [("c", 1.0)]
        bucket = game.bucket(node, seen.deal.hole[betting.player], seen.deal.board)
        chances = sharpened(strategy.row(node, bucket), self.threshold, self.purify)
        options: dict[str, float] = {}
        for child, chance in zip(game.tree.children(node), chances.tolist(), strict=True):
            action = real_action(game.tree, node, child, betting)
            options[action] = options.get(action, 0.0) + chance
        return list(options.items())


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
