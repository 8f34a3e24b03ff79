"""Models of an opponent: a prediction in each information set, and how far it is trusted.

A model is

* an object with ``table(form)``, which gives two arrays laid out as the tables of a form of the game: predictions and
  confidences (``FrequencyModel`` and ``DirichletModel`` from observations);
* any ``Strategy``, or a ready-made opponent by its name, trusted everywhere; or
* any object with ``predict(player, infoset)``, which gives the probabilities of actions by name, and a confidence.

``model_table`` turns each of them into the two arrays.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Iterator, Mapping
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import CounterplayError, GameError, StrategyError
from counterplay.forms import open_game
from counterplay.modelling.confidence import Confidence
from counterplay.modelling.observations import Form, Observations, all_rows, row_sums, same_tables
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.suggestions import quoted
from counterplay.solvers.restriction import player_rows
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.ready_made import Solved, opponent_name, ready_made
from counterplay.strategy.strategy import Provenance, Strategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL, CardFree

Float64 = NDArray[np.float64]

DEFAULTS = {"call": "always-call", "uniform": "uniform"}
"""Default policies by name, and the opponents that play them."""

NEAR = 1e-6
"""How far the probabilities of a prediction may be from a sum of 1; they are scaled to it."""


class TableModel(Protocol):
    """A model that gives all its predictions at once."""

    def table(self, form: Form) -> tuple[Float64, Float64]:
        """(E,) predictions and (E,) confidences, laid out as the form's tables."""


class Predictor(Protocol):
    """A model that gives one prediction at a time."""

    def predict(self, player: int, infoset: str) -> tuple[Mapping[str, float], float]:
        """The probabilities of the actions in an information set, by its key, and how far they are trusted."""


Model: TypeAlias = TableModel | Predictor | Strategy | str
"""What can be responded to."""


@dataclasses.dataclass(frozen=True, eq=False)
class FrequencyModel:
    """Predicts the frequencies that were observed (Johanson 2016, section 6.3.3).

    Attributes
    ----------
    observations : Observations
        What was seen.
    default : {"call", "uniform"} or Strategy
        What is predicted where nothing was seen.  The source found that other policies than always calling do far
        worse in restricted Nash responses; data biased responses do not use it.
    confidence : Confidence
        How far a prediction is trusted, by the number of observations behind it.
    """

    observations: Observations
    default: str | Strategy = "call"
    confidence: Confidence = dataclasses.field(default_factory=Confidence)

    def table(self, form: Form) -> tuple[Float64, Float64]:
        """As ``TableModel.table``."""
        counts, seen = _fitting(self.observations, form)
        strategy = counts / np.maximum(seen, 1)
        if not seen.all():
            strategy = np.where(seen > 0, strategy, policy_table(self.default, form))
        return strategy, self.confidence(seen)

    def strategy(self) -> Strategy:
        """The predictions as a strategy, for every verb that takes one."""
        return as_strategy(self.observations.form, self.table(self.observations.form)[0], "frequencies")


@dataclasses.dataclass(frozen=True, eq=False)
class DirichletModel:
    """Predicts the expected posterior strategy from a Dirichlet prior in each information set.

    Johanson 2016, section 6.7 and theorem 8.  With prior mean m and strength s the prediction after n observations is

        (n_a + s m_a) / (n + s)  =  n / (n + s) frequencies  +  s / (n + s) m

    which is trusted completely.  A response that is robust against *all* priors of strength s is a data biased response
    to ``FrequencyModel`` with the confidence ``curve`` of the same strength: frequencies have the share n / (n + s).

    Attributes
    ----------
    observations : Observations
        What was seen.
    prior : {"uniform", "call"} or Strategy
        The prior mean.
    strength : float
        How many observations the prior is worth, at least 0.
    """

    observations: Observations
    prior: str | Strategy = "uniform"
    strength: float = 1.0

    def __post_init__(self) -> None:
        given = self.strength
        if not isinstance(given, numbers.Real) or isinstance(given, bool) or not 0.0 <= given < math.inf:
            raise StrategyError(f"the strength of a prior is a number of at least 0; got {quoted(given)}")

    def table(self, form: Form) -> tuple[Float64, Float64]:
        """As ``TableModel.table``."""
        counts, seen = _fitting(self.observations, form)
        prior = policy_table(self.prior, form)
        known = seen + self.strength > 0.0
        posterior = (counts + self.strength * prior) / np.where(known, seen + self.strength, 1.0)
        return np.where(known, posterior, prior), np.ones(len(prior))

    def strategy(self) -> Strategy:
        """The predictions as a strategy, for every verb that takes one."""
        return as_strategy(self.observations.form, self.table(self.observations.form)[0], "expected posterior")


def _fitting(observations: Observations, form: Form) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts and numbers of observations, if they are laid out as a form."""
    if not same_tables(observations.form, form):
        raise StrategyError(
            f"the observations are of {observations.form.name} in another form or abstraction than that of {form.name} "
            "in which they are used; observe in this one"
        )
    return observations.counts, observations.seen


def as_strategy(form: Form, table: Float64, algorithm: str) -> Strategy:
    """A table of probabilities as a strategy."""
    origin = Provenance(algorithm)
    if isinstance(form, BucketGame):
        return BucketStrategy.of_game(form, table, origin)
    return TabularStrategy.from_tree(form, table, origin)


# ---------------------------------------------------------------------------------------------- one table for all


def model_table(model: Model, form: Form) -> tuple[Float64, Float64]:
    """The predictions and confidences of a model, (E,) each, laid out as the tables of a form of the game.

    Parameters
    ----------
    model : object with ``table`` or ``predict``, Strategy, or str
        See the module docstring.
    form : GameTree or BucketGame
        The game.

    Raises
    ------
    StrategyError
        If it is no model, one of another game, a prediction is no distribution, or a confidence is outside [0, 1].
    """
    if isinstance(model, Strategy | str | CardFree):
        return policy_table(model, form), np.ones(form.num_entries)
    if callable(getattr(model, "table", None)):
        strategy, confidence = model.table(form)  # type: ignore[union-attr]
    elif callable(getattr(model, "predict", None)):
        strategy, confidence = _asked(model, form)  # type: ignore[arg-type]
    else:
        raise StrategyError(
            "a model is a strategy, a ready-made opponent, or an object with table(form) or predict(player, infoset); "
            f"got {type(model).__name__}"
        )
    return _checked(np.asarray(strategy, np.float64), np.asarray(confidence, np.float64), form)


def policy_table(policy: str | Strategy | CardFree, form: Form) -> Float64:
    """The probabilities of a strategy, or of a ready-made opponent by its name, laid out as a form's tables.

    ``call`` and ``uniform`` are the default policies of models.

    Raises
    ------
    StrategyError
        If it is a strategy of another game, or in another abstraction.
    """
    if isinstance(policy, Strategy):
        return _strategy_table(policy, form)
    if not isinstance(policy, str | CardFree):
        raise StrategyError(f"a policy is a strategy, or the name of an opponent; got {type(policy).__name__}")
    made = policy if isinstance(policy, CardFree) else ready_made(opponent_name(DEFAULTS.get(policy, policy)))
    try:
        if isinstance(made, CardFree):
            return made.buckets(form).strategy() if isinstance(form, BucketGame) else made.tabular(form).table
        if isinstance(form, BucketGame):
            names = ", ".join(TRIVIAL)
            raise StrategyError(f"{policy} looks at its cards, which a bucket game merges; there it can be {names}")
        if isinstance(made, Solved):
            return made.strategy(open_game(form.name, "states")).for_tree(form)
        return made.tabular(form).table
    except GameError as error:
        raise StrategyError(f"{policy} cannot be played in {form.name}: {error}") from None


def _strategy_table(strategy: Strategy, form: Form) -> Float64:
    try:
        if isinstance(form, BucketGame):
            if isinstance(strategy, BucketStrategy) and same_tables(strategy.abstract, form):
                return strategy.strategy()
            raise StrategyError("it is not a strategy in this card abstraction with these bets")
        if isinstance(strategy, BucketStrategy):
            return strategy.lifted(form).table
        found = strategy.tabular if isinstance(strategy, PublicStrategy) else strategy
        if not isinstance(found, TabularStrategy):
            raise StrategyError(f"a {type(strategy).__name__} has no table")
        return found.for_tree(form)
    except CounterplayError as error:
        raise StrategyError(f"a strategy of {strategy.game} does not fit {form.name}: {error}") from None


def _infosets(form: Form) -> Iterator[tuple[int, str, int, list[str]]]:
    """Player, key, first entry and actions of every information set."""
    if not isinstance(form, BucketGame):
        for number, (player, name) in enumerate(zip(form.infoset_player.tolist(), form.infoset_names, strict=True)):
            yield player, name, int(form.infoset_offset[number]), list(form.actions_of(number))
        return
    tree = form.tree
    for node in np.flatnonzero(tree.num_children).tolist():
        player, text, actions = int(tree.player[node]), tree.text(node), tree.actions(node)
        for bucket in range(form.tables_at(node)[int(tree.round[node])].count):
            yield player, f"{bucket}:{text}", form.entry(node, bucket), actions


def _asked(model: Predictor, form: Form) -> tuple[Float64, Float64]:
    """The predictions of a model that is asked for each information set."""
    strategy, confidence = np.zeros(form.num_entries), np.zeros(form.num_entries)
    for player, name, first, actions in _infosets(form):
        row, trusted = model.predict(player, name)
        unknown = [action for action in row if action not in actions]
        if unknown:
            raise StrategyError(
                f"the model predicts {unknown[0]!r} in {name!r} of player {player + 1}, which has {', '.join(actions)}"
            )
        strategy[first : first + len(actions)] = [row.get(action, 0.0) for action in actions]
        confidence[first : first + len(actions)] = trusted
    return strategy, confidence


def _checked(strategy: Float64, confidence: Float64, form: Form) -> tuple[Float64, Float64]:
    """Predictions that sum to 1 exactly, and confidences, after checking them: kernels trust what they get."""
    if strategy.shape != (form.num_entries,) or confidence.shape not in ((), (form.num_entries,)):
        raise StrategyError(
            f"{form.name} has {form.num_entries:,} entries; the model gives predictions of shape {strategy.shape} and "
            f"confidences of shape {confidence.shape}"
        )
    confidence = np.broadcast_to(confidence, strategy.shape).copy()
    starts, sizes = all_rows(form)
    total = row_sums(strategy, starts)
    wrong = np.repeat(~(np.abs(total - 1.0) <= NEAR), sizes) | ~(strategy >= 0.0)
    if wrong.any():
        where, row = _place(form, int(np.flatnonzero(wrong)[0]), strategy)
        raise StrategyError(f"a prediction is at least 0 and sums to 1; the model gives {row} in {where}")
    wrong = ~((confidence >= 0.0) & (confidence <= 1.0)) | (confidence != np.repeat(confidence[starts], sizes))
    if wrong.any():
        where, row = _place(form, int(np.flatnonzero(wrong)[0]), confidence)
        raise StrategyError(
            f"a confidence lies in [0, 1] and is one number for all actions; the model gives {row} in {where}"
        )
    return strategy / np.repeat(total, sizes), confidence


def _place(form: Form, entry: int, values: Float64) -> tuple[str, list[float]]:
    """The information set of an entry, and the numbers of its row."""
    for player in range(form.players):
        starts, sizes = player_rows(form, player)
        row = int(np.searchsorted(starts, entry, side="right")) - 1
        if row >= 0 and entry < starts[row] + sizes[row]:
            found = values[starts[row] : starts[row] + sizes[row]].tolist()
            names = (name for _, name, first, _ in _infosets(form) if first == starts[row])
            return f"{next(names)!r} of player {player + 1}", found
    raise AssertionError(entry)
