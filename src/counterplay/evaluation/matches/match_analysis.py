"""``analyse``: what a player is worth, from the hands of a match, by money and by every estimator that can be computed.

Johanson 2016, chapters 7 and 8.  With the strategy that the player played, estimators imagine what else could have
happened; with another one, ``evaluate``, they say what that one would have won in its place (off-policy).
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterplay
from counterplay.errors import GameError
from counterplay.evaluation.matches.all_in_equity import AllInEquity, game_equity
from counterplay.evaluation.matches.edge_values import EdgeValues, bet_call_values, fitted_values
from counterplay.evaluation.matches.estimator import ALL, FULL, PARTIAL, Estimator, read_estimators
from counterplay.evaluation.matches.hand_rows import HandRows, hand_rows
from counterplay.evaluation.matches.match_hands import STEP, MatchHands
from counterplay.evaluation.matches.poker_estimates import NotPlayedError, PlayedHand, PokerEstimates
from counterplay.evaluation.matches.summary import RESULTS, Summary
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import BettingTree
from counterplay.runtime.data_frames import Tabulated
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.suggestions import did_you_mean, suggest_arguments
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.strategy import Strategy

Float64 = NDArray[np.float64]

INFORMATION = ("auto", "full", "partial")
"""Whether opponents' cards of all hands are used, or those of showdowns only; by default as the logs have them."""

MONEY = "money"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MatchAnalysis(Tabulated):
    """What a player won, and what it is worth.

    Attributes
    ----------
    game, big_blind : str, float
        What was played, and its unit.
    hands : MatchHands
        The hands.
    summaries : tuple of Summary
        Of money, and of each estimator.
    scores : (deals, k) array
        What each of these says of every deal, in chips a hand.
    partial : bool
        Whether opponents' cards were used at showdowns only.
    evaluated : str or None
        Of which other strategy the estimates are; None if of the one that played.
    cpu_seconds : float
        CPU time of the estimates.
    """

    game: str
    big_blind: float
    hands: MatchHands
    summaries: tuple[Summary, ...]
    scores: Float64
    partial: bool
    evaluated: str | None = None
    cpu_seconds: float = 0.0

    def __repr__(self) -> str:
        best = min(self.summaries, key=lambda one: one.deviation)
        return (
            f"<MatchAnalysis of {self.hands.player}, {len(self.hands.hands):,} hands: {best.name} "
            f"{self.mbb(best.mean):+.1f} ± {self.mbb(best.half):.1f} mbb/g>"
        )

    def mbb(self, chips: float) -> float:
        """Chips in thousandths of a big blind."""
        return 1000.0 * chips / self.big_blind

    def summary(self, name: str) -> Summary:
        """The summary of an estimator by its name, or of ``money``."""
        for one in self.summaries:
            if one.name == name:
                return one
        raise GameError(f"there is no {name!r} here; {did_you_mean(name, [one.name for one in self.summaries])}")

    def _columns(self) -> tuple[str, ...]:
        return ("estimator", "mbb", "mbb_95", "deviation_mbb", "money_hands", "more_hands", "result", "significant")

    def _lines(self) -> list[tuple[Any, ...]]:
        return [
            (one.name, self.mbb(one.mean), self.mbb(one.half), self.mbb(one.deviation), one.money_hands,
             one.more_hands, RESULTS[one.result(self.big_blind)], RESULTS[one.significant])
            for one in self.summaries
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        hands = self.hands
        return {
            "game": self.game, "player": hands.player, "opponents": list(hands.opponents), "hands": len(hands.hands),
            "deals": hands.deals, "information": "partial" if self.partial else "full", "evaluated": self.evaluated,
            "estimates": [one.to_dict(self.big_blind) for one in self.summaries],
            "without_player": hands.elsewhere, "without_own_cards": hands.hidden, "opponent_unseen": hands.unseen,
            "skipped": hands.skipped, "broken": list(hands.broken), "cpu_seconds": self.cpu_seconds,
        }  # fmt: skip

    def plot(self, path: Any = None) -> Any:
        """Draw it, into a file or for a notebook; see ``counterplay.plot_match``."""
        return counterplay.plot_match(self, path)  # of a higher layer, found when it is called


class EstimatorSet:
    """Estimators of a game for a strategy that was played, with what they need: equities, value functions, tables.

    Parameters
    ----------
    rules : GameDefinition
        Of the hands.
    played, evaluated, opponent : Strategy, optional
        The strategy that played, the one in question if it is another, and the opponent's if it is known.
    estimators : str or sequence
        Names separated by commas; ``all`` is what can be computed.
    partial : bool
        Whether opponents' cards are seen at showdowns only.
    """

    def __init__(
        self, rules: GameDefinition, played: Strategy, evaluated: Strategy | None = None,
        opponent: Strategy | None = None, estimators: str | Sequence[str] = ALL, partial: bool = False,
        progress: ProgressCallback | None = None,
    ) -> None:  # fmt: skip
        fitted = isinstance(played, BucketStrategy)
        usual = [one for one in (PARTIAL if partial else FULL) if not (one.aivat and evaluated is not None)
                 and (fitted or one.values != "divat")]  # fmt: skip
        self.estimators = read_estimators(estimators, usual)
        if not fitted and any(one.values == "divat" for one in self.estimators):
            raise GameError("the values of divat are fitted to strategies of card abstractions; use bc-divat here")
        self.equity = game_equity(rules, progress)
        rows = _rows_of(played, rules, self.equity)
        self.tree = rows.tree
        other = None if evaluated is None else _rows_of(evaluated, rules, self.equity)
        theirs = None if opponent is None else _rows_of(opponent, rules, self.equity)
        values = self._values(played, rows.tree)
        self.poker = PokerEstimates(self.equity, self.estimators, rows, other, values, theirs, partial)

    def _values(self, played: Strategy, tree: BettingTree) -> dict[str, EdgeValues]:
        """The value functions that are needed."""
        found = {"bc-divat": bet_call_values(tree)}
        if any(one.aivat or one.values == "divat" for one in self.estimators):
            fitted = found["bc-divat"]
            if isinstance(played, BucketStrategy):
                fitted = _fitted(played, self.equity)
            found |= {"divat": fitted, "aivat": fitted}
        return found

    def estimate(self, hands: Sequence[PlayedHand], progress: ProgressCallback | None = None) -> Float64:
        """The estimates of hands in chips: (hands, estimators).

        Raises
        ------
        NotPlayedError
            If the strategy does not play a hand so; ``place`` of the error is the number of the hand.
        """
        equity, found = self.equity, np.zeros((len(hands), len(self.estimators)))
        first, started = equity.first, time.perf_counter()

        def together(number: int) -> tuple[int, ...]:  # what is computed for the first cards is computed once
            board = hands[number].board
            return equity.renamed(board[:first])[0] if len(board) >= first else ()

        for count, number in enumerate(sorted(range(len(hands)), key=together)):
            try:
                found[number] = self.poker.estimate(hands[number])
            except NotPlayedError as error:
                error.place = number
                raise
            if progress is not None and count % STEP == STEP - 1:
                spent = time.perf_counter() - started
                left = spent * (len(hands) - count) / count
                progress(Progress(count + 1, spent, total=len(hands), seconds_left=left, stage="hands estimated"))
        return found


@functools.lru_cache(maxsize=8)
def _fitted(strategy: BucketStrategy, equity: AllInEquity) -> EdgeValues:
    return fitted_values(strategy, equity)


def _rows_of(strategy: Strategy, rules: GameDefinition, equity: AllInEquity) -> HandRows:
    return hand_rows(strategy, rules, equity.holes)


@suggest_arguments
def analyse(
    hands: MatchHands, strategy: Strategy | None = None, evaluate: Strategy | None = None,
    opponent: Strategy | None = None, estimators: str | Sequence[str] = ALL, information: str = "auto",
    progress: ProgressCallback | None = None,
) -> MatchAnalysis:  # fmt: skip
    """Estimate what a player of two-player poker wins.

    Parameters
    ----------
    hands : MatchHands
        Its hands, as ``read_match`` reads them.
    strategy : Strategy, optional
        What the player played; without it money alone is reported.
    evaluate : Strategy, optional
        Another strategy: what would it have won in the same seats?
    opponent : Strategy, optional
        What the opponent played, if known: AIVAT then corrects its luck as well.
    estimators : str or sequence of str
        Such as ``ac+ef+bc-divat``, separated by commas; ``all`` is every one that can be computed.
    information : {"auto", "full", "partial"}
        Whether opponents' cards of all hands are used, or those of showdowns only.
    progress : callable, optional
        Called with a ``Progress`` now and then.

    Raises
    ------
    GameError
        If hands, strategies and estimators do not fit together; or at a hand that the strategy does not play so.
    """
    if strategy is None and (evaluate is not None or opponent is not None or estimators != ALL):
        raise GameError("estimators need the strategy that the player played; give it, or leave the others out")
    if strategy is not None and hands.tree is None:
        raise GameError(
            f"the betting of {hands.game} is too large for estimators; without a strategy money is reported"
        )
    partial = _is_partial(hands, information)
    if partial and hands.tree is not None:
        hands = dataclasses.replace(hands, hands=tuple(as_seen(hands.tree, hand) for hand in hands.hands))
    started, columns, names = time.process_time(), [hands.won], [MONEY]
    if strategy is not None:
        chosen = EstimatorSet(hands.rules, strategy, evaluate, opponent, estimators, partial, progress)
        rows = _estimated(chosen, hands, progress)
        skip = evaluate is None and chosen.estimators[0] == Estimator()  # on-policy, basic is money
        names += [one.name for one in chosen.estimators[skip:]]
        columns += list(rows.T[skip:])
    scores = hands.by_deal(np.stack(columns, axis=1))
    money = float(scores[:, 0].std(ddof=1)) if len(scores) > 1 else None
    made = tuple(Summary.of(one, scores[:, k], len(hands.hands), money) for k, one in enumerate(names))
    other = None if evaluate is None else str(evaluate.provenance)
    spent = time.process_time() - started
    return MatchAnalysis(hands.game, float(hands.rules.big_blind), hands, made, scores, partial, other, spent)


def _is_partial(hands: MatchHands, information: str) -> bool:
    """Whether opponents' cards are used at showdowns only."""
    if information not in INFORMATION:
        raise GameError(f"information is auto, full or partial; got {information!r}")
    if information == "full" and hands.unseen:
        raise GameError(f"{hands.unseen:,} hands do not show the opponent's cards; use partial information")
    return information == "partial" or hands.unseen > 0


def _estimated(chosen: EstimatorSet, hands: MatchHands, progress: ProgressCallback | None) -> Float64:
    try:
        return chosen.estimate(hands.hands, progress)
    except NotPlayedError as error:
        raise GameError(
            f"{hands.place[error.place]}: the strategy never plays this hand so; {hands.player} did not play it, or "
            "not unchanged"
        ) from None


def as_seen(tree: BettingTree, hand: PlayedHand) -> PlayedHand:
    """A hand as it is seen with partial information: without the opponent's cards unless there is a showdown."""
    return hand if tree.folded[hand.end] == 0 else dataclasses.replace(hand, other=None)
