"""What responses need of a form of a game: best responses, mixtures, values and exploitability, in tables of entries.

There are two: a history tree (``HistoryResponses``), and a bucket game with its bucket pairs (``BucketResponses``).
"""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.bucket_pairs import BucketPairs
from counterplay.evaluation.measurement import Measurement, measure_strategy
from counterplay.evaluation.pair_walks import Goal, PairWalks, Part
from counterplay.evaluation.responses import best_response
from counterplay.kernels.history.passes import form_arrays
from counterplay.modelling.observations import Form, all_rows, row_sums
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers.restricted_solver import check_zero_sum
from counterplay.solvers.restriction import player_rows
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.strategy import Provenance, Strategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import behavioural_strategy, realisation_plan, require_perfect_recall
from counterplay.tree.sequence.sequence_form import spans

Float64 = NDArray[np.float64]


class ResponseForm(ABC):
    """A game of two players in which strategies are tables (E,), of both seats."""

    form: Form

    @abstractmethod
    def best(self, opponent: Float64) -> Float64:
        """A best response to a strategy, in both seats."""

    @abstractmethod
    def mixed(self, tables: Sequence[Float64], weights: Sequence[float]) -> Float64:
        """One strategy that plays like a choice, before each game, of one of these with these probabilities."""

    @abstractmethod
    def measure(self, table: Float64) -> Measurement:
        """The value of a profile, and best responses to it."""

    @abstractmethod
    def strategy(self, table: Float64, provenance: Provenance) -> Strategy:
        """A table as a strategy."""

    @abstractmethod
    def judge(self, own: Float64, opponents: Sequence[Float64]) -> tuple[Measurement, list[tuple[float, float]]]:
        """As ``measure``, and what a strategy wins in each seat from each of some opponents."""

    def won(self, own: Float64, opponent: Float64) -> tuple[float, float]:
        """What a strategy wins from another in each seat."""
        return self.judge(own, [opponent])[1][0]

    def seated(self, first: Float64, second: Float64) -> Float64:
        """The profile in which the first player plays one strategy, and the second player another."""
        found = first.copy()
        entries = spans(*player_rows(self.form, 1))
        found[entries] = second[entries]
        return found


@dataclasses.dataclass(frozen=True, eq=False)
class HistoryResponses(ResponseForm):
    """On a history tree of two players, zero-sum, with perfect recall."""

    form: GameTree

    def __post_init__(self) -> None:
        check_zero_sum(self.form)
        require_perfect_recall(self.form, "a response")

    def best(self, opponent: Float64) -> Float64:
        """As ``ResponseForm.best``."""
        model = TabularStrategy.from_tree(self.form, opponent)
        first, second = (best_response(model, player, self.form).profile.table for player in range(2))
        return self.seated(first, second)

    def mixed(self, tables: Sequence[Float64], weights: Sequence[float]) -> Float64:
        """As ``ResponseForm.mixed``: weighted by own reach (Čermák 2018, lemma 3.4.1)."""
        plans = [weight * realisation_plan(self.form, table) for table, weight in zip(tables, weights, strict=True)]
        return behavioural_strategy(self.form, np.add.reduce(plans), unreached=tables[-1])

    def measure(self, table: Float64) -> Measurement:
        """As ``ResponseForm.measure``."""
        tree = self.form
        return measure_strategy(
            tree, form_arrays(tree.sequences), table, game=tree.name, method="history", big_blind=tree.big_blind,
            facts={"information_sets": tree.num_infosets, "histories": tree.num_histories},
        )  # fmt: skip

    def judge(self, own: Float64, opponents: Sequence[Float64]) -> tuple[Measurement, list[tuple[float, float]]]:
        """As ``ResponseForm.judge``."""
        won = []
        for opponent in opponents:
            first = self.measure(self.seated(own, opponent)).value[0]
            won.append((first, self.measure(self.seated(opponent, own)).value[1]))
        return self.measure(own), won

    def strategy(self, table: Float64, provenance: Provenance) -> Strategy:
        """As ``ResponseForm.strategy``."""
        return TabularStrategy.from_tree(self.form, table, provenance)


@dataclasses.dataclass(frozen=True, eq=False)
class BucketResponses(ResponseForm):
    """In a bucket game of two players, zero-sum, with perfect recall, by its bucket pairs."""

    form: BucketGame
    pairs: BucketPairs

    def __post_init__(self) -> None:
        check_zero_sum(self.form)

    @functools.cached_property
    def walks(self) -> PairWalks:
        """Walks over the pairs."""
        return self.pairs.walks(self.form)

    def best(self, opponent: Float64) -> Float64:
        """As ``ResponseForm.best``."""
        found = np.zeros(self.form.num_entries)
        for seat in range(2):
            self.walks.best_response(seat, opponent, found)
        return found

    def mixed(self, tables: Sequence[Float64], weights: Sequence[float]) -> Float64:
        """As ``ResponseForm.mixed``: weighted by own reach; the last table's where nobody comes."""
        found = np.zeros(self.form.num_entries)
        for table, weight in zip(tables, weights, strict=True):
            for seat in range(2):
                self.walks.add_play(seat, table, weight, found)
        starts, sizes = all_rows(self.form)
        total = np.repeat(row_sums(found, starts), sizes)
        return np.asarray(np.where(total > 0.0, found / np.where(total > 0.0, total, 1.0), tables[-1]))

    def measure(self, table: Float64) -> Measurement:
        """As ``ResponseForm.measure``."""
        return self.judge(table, [])[0]

    def judge(self, own: Float64, opponents: Sequence[Float64]) -> tuple[Measurement, list[tuple[float, float]]]:
        """As ``ResponseForm.judge``: a walk for each seat of the others."""
        goals = [Goal(own), Goal(best=True), *map(Goal, opponents)]
        (value, best, *lost), (other, against, *rest) = (
            self.walks.walk(seat, [Part(own)], goals) for seat in range(2)
        )  # fmt: skip
        game, pairs = self.form, self.pairs
        facts = {"information_sets": game.num_infosets, "boards": pairs.boards, "exact": pairs.exact}
        found = Measurement(
            (value, other), (best, against), game=game.name, method="buckets", big_blind=game.big_blind,
            boards=pairs.boards, exact=pairs.exact, facts=facts,
        )  # fmt: skip
        return found, [(-first, -second) for first, second in zip(rest, lost, strict=True)]

    def strategy(self, table: Float64, provenance: Provenance) -> Strategy:
        """As ``ResponseForm.strategy``."""
        return BucketStrategy.of_game(self.form, table, provenance)
