"""Low-variance estimates of a match between strategies: hands are recorded, and estimated at the end.

Every agent that is a strategy is estimated, in all seats, beside the money that it won; the score of a deal is the mean
over its seatings, as for money (Johanson 2016, section 8.1: duplicate matches and estimators together).  In poker from
a definition the estimators are those of ``PokerEstimates``, in small games of any kind those of ``TreeEstimates`` with
what the strategy wins from itself as the value of a history.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.agents.entries import Entry
from counterplay.agents.match_game import MatchGame
from counterplay.errors import GameError
from counterplay.evaluation.matches.all_in_equity import game_equity
from counterplay.evaluation.matches.estimator import ALL, FULL, Estimator, read_estimators
from counterplay.evaluation.matches.match_analysis import EstimatorSet
from counterplay.evaluation.matches.poker_estimates import PlayedHand
from counterplay.evaluation.matches.summary import Summary
from counterplay.evaluation.matches.tree_estimates import TreeEstimates, self_play_values
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.betting import BettingTree, build_betting_tree
from counterplay.poker.buckets.bucket_game import BucketGame, walk_order
from counterplay.runtime.progress import ProgressCallback
from counterplay.strategy.strategy import Strategy

Float64 = NDArray[np.float64]
Ints = NDArray[np.int64]


class MatchRecorder:
    """Records the hands of a match, and estimates them for each agent that is a strategy."""

    def __init__(
        self, played: MatchGame, entries: Sequence[Entry], seatings: Sequence[tuple[int, ...]],
        estimators: str | Sequence[str] = ALL,
    ) -> None:  # fmt: skip
        if played.players != 2:
            raise GameError(f"estimators are for two players; {played.name} has {played.players}")
        self.played, self.entries, self.seatings = played, entries, seatings
        self.words = estimators
        read_estimators(estimators, FULL)  # refused before anything is played
        if not any(entry.strategy is not None or entry.folder is not None for entry in entries):
            raise GameError("estimators are for agents that are strategies; none of these is")
        self._ends: list[Ints] = []
        self._dealt: list[NDArray[np.uint8]] = []

    def on_tree(self, ends: NDArray[np.int32]) -> None:
        """Hands on a compiled game: the terminal history of every deal and seating."""
        self._ends.append(ends.astype(np.int64))

    def on_buckets(self, game: BucketGame, dealt: NDArray[np.uint8], ends: NDArray[np.int32]) -> None:
        """Hands on a betting tree, numbered as walks do."""
        place = walk_order(game.tree)
        back = np.empty_like(place)
        back[place] = np.arange(len(place))
        self._ends.append(back[ends])
        self._dealt.append(dealt)

    def by_agents(self, finals: Sequence[MatchState]) -> None:
        """One deal, as its dealer knows it in each seating."""
        tree, deal = self._betting, finals[0].deal
        self._ends.append(np.array([[tree.find(final.betting) for final in finals]], np.int64))
        self._dealt.append(np.array([[*deal.hole[0], *deal.hole[1], *deal.board]], np.uint8))

    def summaries(
        self, progress: ProgressCallback | None = None, played: Mapping[int, Sequence[Ints]] | None = None
    ) -> dict[str, tuple[Summary, ...]]:
        """The estimates of each agent that is a strategy, or a portfolio: money first.

        ``played``: of portfolios, by the number of the agent, which member played each hand of each seating.
        """
        found, ends = {}, np.concatenate(self._ends)
        for number, entry in enumerate(self.entries):
            members = None if played is None else played.get(number)
            if members is None and (entry.strategy is None or entry.settings):
                continue
            names, scores = self._scores(number, ends, progress, members)
            money = float(scores[:, 0].std(ddof=1)) if len(scores) > 1 else None
            found[entry.name] = tuple(
                Summary.of(name, scores[:, place], ends.size, money) for place, name in enumerate(names)
            )
        return found

    def _scores(
        self, agent: int, ends: Ints, progress: ProgressCallback | None, members: Sequence[Ints] | None
    ) -> tuple[list[str], Float64]:
        """The names of the estimators, and what they say of every deal: (deals, k)."""
        tree = self._dealt == [] and self.played.tree
        parts = []
        for turn, seating in enumerate(self.seatings):
            position = seating.index(agent)
            if tree:
                chosen, rows = self._tree_rows(agent, position, ends[:, turn])
            elif members is not None:
                chosen, rows = self._member_rows(agent, position, ends[:, turn], members[turn])
            else:
                hands = self._poker_hands(position, ends[:, turn], self._betting)
                chosen, rows = self._poker_rows(self.entries[agent].strategy, agent, hands, progress)
            parts.append(rows)
        return ["money", *(one.name for one in chosen)], np.mean(parts, axis=0)

    def _tree_rows(self, agent: int, position: int, ends: Ints) -> tuple[list[Estimator], Float64]:
        tree = self.played.tree
        assert tree is not None
        tables = [entry.on_tree(self.played) for entry in self.entries]
        own, other = tables[agent], tables[1 - agent]
        estimates = TreeEstimates(tree, position, own)
        values = self_play_values(tree, own, position)
        chosen = [one for one in read_estimators(self.words, [one for one in FULL if one.values != "bc-divat"])
                  if one != Estimator()]  # fmt: skip
        if any(one.values == "bc-divat" for one in chosen):
            raise GameError(f"bet-call is about poker from a definition; {self.played.name} takes divat")
        rows = [estimates.winnings]
        for one in chosen:
            known = {1 - position: other} if one.aivat else None
            rows.append(estimates.aivat(values, known) if one.aivat else estimates.estimate(one, values))
        return chosen, np.stack([row[ends] for row in rows], axis=1)

    def poker_hands(self, agent: int, tree: BettingTree) -> list[PlayedHand]:
        """The hands of an agent in poker from a definition, seating by seating."""
        ends = np.concatenate(self._ends)
        turns = [self._poker_hands(seating.index(agent), ends[:, turn], tree)
                 for turn, seating in enumerate(self.seatings)]  # fmt: skip
        return [hand for hands in turns for hand in hands]

    def _poker_hands(self, position: int, ends: Ints, tree: BettingTree) -> list[PlayedHand]:
        rules = self._rules()
        equity, hole, found = game_equity(rules), rules.hole_cards, []
        for end, row in zip(ends.tolist(), np.concatenate(self._dealt).tolist(), strict=True):
            holes = [equity.number(sorted(row[k * hole : (k + 1) * hole])) for k in range(2)]
            board = tuple(row[2 * hole : 2 * hole + rules.board_ends[int(tree.round[end])]])
            found.append(PlayedHand(end, position, holes[position], holes[1 - position], board))
        return found

    @functools.cached_property
    def _betting(self) -> BettingTree:
        return build_betting_tree(self._rules())

    def _rules(self) -> GameDefinition:
        rules = self.played.deal_rules
        if rules is None:
            raise GameError(f"{self.played.name} is not poker from a definition")
        return rules

    def _member_rows(self, agent: int, position: int, ends: Ints, played: Ints) -> tuple[list[Estimator], Float64]:
        """The hands of a portfolio: each by the member that played it, which was chosen before it began."""
        portfolio = self.entries[agent].portfolio
        assert portfolio is not None
        hands, found = self._poker_hands(position, ends, self._betting), None
        for number, member in enumerate(portfolio.members):
            mine = np.flatnonzero(played[: len(hands)] == number)
            if mine.size:
                chosen, rows = self._poker_rows(member.strategy, agent, [hands[place] for place in mine], None)
                found = np.zeros((len(hands), rows.shape[1])) if found is None else found
                found[mine] = rows
        assert found is not None
        return chosen, found

    def _poker_rows(
        self, strategy: Strategy | None, agent: int, hands: Sequence[PlayedHand], progress: ProgressCallback | None
    ) -> tuple[list[Estimator], Float64]:
        rival = self.entries[1 - agent]
        assert strategy is not None
        other = rival.strategy if not rival.settings else None
        made = EstimatorSet(self._rules(), strategy, None, _plain(other), self.words, False, progress)
        rows = made.estimate(hands, progress)  # on-policy, the basic estimate is money
        return list(made.estimators[1:]), rows


def _plain(strategy: Strategy | None) -> Strategy | None:
    """A strategy whose probabilities of real bets are known."""
    bets = getattr(getattr(strategy, "abstract", None), "bets", None)
    return strategy if bets is None else None
