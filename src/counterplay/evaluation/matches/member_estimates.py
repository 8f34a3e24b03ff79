"""``MemberEstimates``: what each of several strategies would have won in a hand that one of them played.

Off-policy estimates of single hands, as a player sees them afterwards (Johanson 2016, sections 7.3 and 8.2; Gibson
2014, section 8.2): those of ``PokerEstimates``, one for each pair of a strategy that played and one in question.

If the strategy that plays a hand was drawn, the hand was played by the *mixture* of all that could have been drawn, and
is estimated as such.  That is importance sampling with the whole truth about the sampling: no strategy can then be more
than 1 / (its probability) times likelier to play a hand so than what played it, where a single other strategy gives
weights without limit.  This is our addition; the source conditions on the strategy that was drawn.

By default all cards and early folds are imagined.  Their bias is that of the cards which opponents hold and nobody saw:
hands that clash with them are counted too.  It is small with a whole deck and large with three or six cards, where
early folds alone (``ef``), which have no bias, may be asked for.

The source took the luck of the cards out at showdowns.  That is biased, because who folds early never measures the bad
luck that made it fold: in Leduc hold'em by more than a chip a hand against an opponent who always raises
(``docs/adaptive-agents.md``), so that it misleads the choice.  It can be asked for (``ac+bc-divat``).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.matches.all_in_equity import game_hands
from counterplay.evaluation.matches.edge_values import bet_call_values
from counterplay.evaluation.matches.estimator import read_estimator
from counterplay.evaluation.matches.hand_rows import MixedRows, hand_rows, share_buckets
from counterplay.evaluation.matches.match_hands import as_hand
from counterplay.evaluation.matches.poker_estimates import PokerEstimates
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState
from counterplay.strategy.strategy import Strategy

USUAL = ("ac+ef", "ac")
"""The estimators with two players, and with more."""


class MemberEstimates:
    """Estimates for several strategies of one game.

    Parameters
    ----------
    rules : GameDefinition
        Of the hands.
    strategies : sequence of Strategy
        All of games with these rules, with all their bets.
    estimator : str, optional
        One that can be computed with partial information; by default all cards and early folds (``ac+ef``), and with
        more than two players all cards.

    Raises
    ------
    GameError
        If a strategy belongs to another game or translates bets, or the estimator needs more than a player sees.
    """

    def __init__(self, rules: GameDefinition, strategies: Sequence[Strategy], estimator: str | None = None) -> None:
        self.rules = rules
        self.estimator = read_estimator(estimator or USUAL[rules.players > 2])
        if not self.estimator.partial:
            raise GameError(f"{self.estimator.name} needs the opponent's cards of all hands; at a table few are seen")
        if self.estimator.values == "divat":
            raise GameError("the values of divat depend on the strategy that played; use bc-divat, or money")
        self.hands = game_hands(rules)
        self.rows = [hand_rows(strategy, rules, self.hands.holes) for strategy in strategies]
        share_buckets(self.rows)
        self.tree = self.rows[0].tree
        self.values = {"bc-divat": bet_call_values(self.tree)} if rules.players == 2 else {}
        self._pair = functools.cache(self._made)
        self._pair(0, 0)  # refuses estimators that the game has not

    def _made(self, played: int, asked: int) -> PokerEstimates:
        other = None if asked == played else self.rows[asked]
        return PokerEstimates(self.hands, (self.estimator,), self.rows[played], other, self.values, partial=True)

    def estimate(self, state: MatchState, played: int | NDArray[np.float64]) -> NDArray[np.float64]:
        """What each strategy would have won, in chips, in a finished hand that one of them played.

        ``played`` is the number of that one; or, if it was drawn, the probabilities of all, before the draw.

        Raises
        ------
        NotPlayedError
            If the one that is said to have played does not play so.
        """
        if state.position is None:
            raise GameError("a hand is estimated for the position that sees it; this is what an observer sees")
        hand = as_hand(self.hands, self.tree, state, state.position)
        shares = np.eye(len(self.rows))[played] if np.ndim(played) == 0 else np.asarray(played)
        if shares.max() == 1.0:
            one = int(shares.argmax())
            made = [self._pair(one, asked) for asked in range(len(self.rows))]
        else:
            mixed = MixedRows(self.rows, shares)
            made = [PokerEstimates(self.hands, (self.estimator,), mixed, row, self.values, partial=True)
                    for row in self.rows]  # fmt: skip
        return np.array([one.estimate(hand)[0] for one in made])
