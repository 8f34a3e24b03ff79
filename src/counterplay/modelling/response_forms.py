"""What responses need of a form of a game: best responses, mixtures, values and exploitability, in tables of entries.

``open_response_form`` chooses: a history tree (``HistoryResponses``), or a bucket game with its bucket pairs
(``BucketResponses``).
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.measurement import Measurement, measure_strategy
from counterplay.evaluation.responses import best_response
from counterplay.kernels.history.passes import form_arrays
from counterplay.modelling.observations import Form
from counterplay.solvers.restriction import player_rows
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

    def won(self, own: Float64, opponent: Float64) -> tuple[float, float]:
        """What a strategy wins from another in each seat."""
        first = self.measure(self.seated(own, opponent)).value[0]
        return first, self.measure(self.seated(opponent, own)).value[1]

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
        tree = self.form
        if tree.players != 2:
            raise GameError(f"responses are for two players; {tree.name} has {tree.players}")
        if not tree.facts.zero_sum:
            raise GameError(f"responses are for zero-sum games; utilities of {tree.name} do not add up to 0")
        require_perfect_recall(tree, "a response")

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

    def strategy(self, table: Float64, provenance: Provenance) -> Strategy:
        """As ``ResponseForm.strategy``."""
        return TabularStrategy.from_tree(self.form, table, provenance)


def open_response_form(form: Any) -> ResponseForm:
    """The responses of a form."""
    return HistoryResponses(form)
