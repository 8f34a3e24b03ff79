"""From a request for a response to its result: the form of the game, the tables of the model, the solver, the files."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, SolverError, StrategyError
from counterplay.forms import GameForms, GameLike
from counterplay.lp.safe_response import restricted_response, safe_profile
from counterplay.modelling.counter_strategy import Response, ResponseKind
from counterplay.modelling.models import model_table, policy_table
from counterplay.modelling.observations import Form, Observations
from counterplay.modelling.response_forms import HistoryResponses, ResponseForm, open_response_form
from counterplay.runs.options import RunOptions, Target, sort_out
from counterplay.runtime.notebook_progress import notebook_progress
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import ProgressCallback
from counterplay.runtime.suggestions import did_you_mean
from counterplay.solvers.registry import find_algorithm
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy
from counterplay.strategy.ready_made import MEANT, READY_MADE, opponent_name
from counterplay.strategy.strategy import Provenance, Strategy
from counterplay.tree.history.game_tree import GameTree

Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Found:
    """A table of both seats, and how it was found."""

    table: Float64
    algorithm: str
    gap: float = 0.0
    iterations: int = 0
    status: str = "solved"


@dataclasses.dataclass(frozen=True, eq=False)
class ResponseRun:
    """A response that is ready to be solved: ``run`` does, writes the strategy and reports.

    Attributes
    ----------
    asked : ResponseKind
        What is asked for; another one of the same opponent is ``dataclasses.replace(run, asked=...)``.
    play : ResponseForm
        The game.
    prediction, confidence : (E,) float64
        The model.
    true : (E,) float64, optional
        The opponent itself, where it is known.
    algorithm : str, optional
        What solves restricted games, by default as the form suggests.
    target, options, settings
        As those of ``runs.prepare``.
    observations : Observations, optional
        What the model was made from.
    """

    asked: ResponseKind
    play: ResponseForm
    prediction: Float64
    confidence: Float64
    true: Float64 | None
    algorithm: str
    target: Target
    options: RunOptions
    settings: Mapping[str, Any]
    observations: Observations | None = None

    @property
    def goal(self) -> Until:
        """Where the run stops; a linear program is one iteration."""
        return Until(iterations=1)

    def run(self, progress: ProgressCallback | None = None) -> Response:
        """Solve it."""
        started = time.perf_counter()
        found = self._solved()
        seconds = time.perf_counter() - started
        play, table = self.play, found.table
        origin = {"kind": self.asked.kind, "p": self.asked.p, "epsilon": self.asked.epsilon}
        settings = {name: value for name, value in origin.items() if value is not None}
        name = f"{self.asked.short_title}, {found.algorithm}"
        provenance = Provenance(name, settings, self.options.seed, found.iterations, seconds)
        strategy = play.strategy(table, provenance)
        if self.options.out is not None:
            strategy.save(self.options.out)
        return Response(
            strategy, self.asked, play.won(table, self.prediction),
            None if self.true is None else play.won(table, self.true), play.measure(table), found.algorithm,
            found.status, found.iterations, seconds, found.gap, self._facts(), self._notes(),
            {"profile": self.options.out},
        )  # fmt: skip

    def _facts(self) -> dict[str, Any]:
        seen = self.observations
        return {} if seen is None else {"hands": seen.hands, "data": seen.data_report().to_dict()}

    def _notes(self) -> tuple[str, ...]:
        return () if self.observations is None else tuple(self.observations.data_report().warnings())

    def _solved(self) -> Found:
        kind, p = self.asked.kind, self.asked.p or 0.0
        if kind == "best":
            return Found(self.play.best(self.prediction), "best response")
        if kind == "safe":
            return self._safe(self.asked.epsilon or 0.0)
        if kind == "rnr":
            return self._restricted(p)
        if kind == "dbr":
            return self._restricted(p * self.confidence)
        equilibrium = self._restricted(0.0)
        tables = (self.play.best(self.prediction), equilibrium.table)
        return dataclasses.replace(equilibrium, table=self.play.mixed(tables, (p, 1.0 - p)))

    def _safe(self, epsilon: float) -> Found:
        tree = self.play.form
        assert isinstance(tree, GameTree)
        return Found(safe_profile(tree, self.prediction, epsilon), "lp")

    def most_given_away(self) -> float:
        """The exploitability of the safest best response to the model; of small games."""
        tree = self.play.form
        assert isinstance(tree, GameTree)
        return self.play.measure(safe_profile(tree, self.prediction)).exploitability

    def _restricted(self, confidence: float | Float64) -> Found:
        """The response in the restricted game: an equilibrium of it."""
        tree = self.play.form
        assert isinstance(tree, GameTree)
        each = [restricted_response(tree, seat, self.prediction, confidence) for seat in range(2)]
        table = self.play.seated(each[0][1], each[1][1])
        return Found(table, "lp")


def prepare_response(
    game: GameLike | None, model: Any, asked: ResponseKind, true: Any = None, settings: Mapping[str, Any] | None = None
) -> ResponseRun:
    """A response that can be started: everything is checked, the game is open, the model laid out."""
    given = dict(settings or {})
    algorithm = given.pop("algorithm", None)
    target, options, own = sort_out(given.pop("until", None), given)
    model, true = read_opponent(model, game), None if true is None else read_opponent(true, game)
    form = _opened(game, model, options)
    play = open_response_form(form)
    chosen = _algorithm(algorithm, asked, play)
    prediction, confidence = model_table(model, form)
    known = None if true is None else policy_table(true, form)
    seen = getattr(model, "observations", None)
    return ResponseRun(asked, play, prediction, confidence, known, chosen, target, options, own, seen)


def read_opponent(text: Any, game: GameLike | None) -> Any:
    """A ready-made opponent by its name, or the strategy in a file; anything else unchanged."""
    if isinstance(text, os.PathLike):
        text = os.fspath(text)
    if not isinstance(text, str):
        return text
    name = opponent_name(text)
    if name in READY_MADE:
        if game is None:
            raise StrategyError(f"the opponent {name} plays many games; name one")
        return name
    if not os.path.exists(text):
        hint = did_you_mean(text, READY_MADE, meant=MEANT)
        raise StrategyError(
            f"there is no opponent {text!r}; {hint}{'' if hint.endswith('?') else ', or a strategy file'}"
        )
    return load_strategy(text)


def _opened(game: GameLike | None, model: Any, options: RunOptions) -> Form:
    """The form of the game in which responses are solved."""
    seen = getattr(model, "observations", None)
    if isinstance(seen, Observations) and game is None:
        return seen.form
    if isinstance(model, BucketStrategy) and not options.cards:
        if game is not None and GameForms(game).name != model.game:
            raise StrategyError(f"the model is a strategy of {model.game}, not of {GameForms(game).name}")
        return model.abstract
    if game is None:
        if not isinstance(model, Strategy):
            raise SolverError("name the game in which to respond")
        game = model.game
    forms = GameForms(
        game, cards=options.cards, bets=options.bets, memory_limit=options.memory_limit, progress=options.opening
    )
    return forms.buckets() if options.cards else forms.history()


def _algorithm(name: str | None, asked: ResponseKind, play: ResponseForm) -> str:
    """What solves the restricted games."""
    if isinstance(play, HistoryResponses):
        return find_algorithm(name or "lp", "history")
    raise GameError("responses are solved on history trees")


def respond(
    game: GameLike | None,
    model: Any,
    kind: str = "dbr",
    p: float | None = None,
    *,
    epsilon: float | None = None,
    true: Any = None,
    progress: ProgressCallback | bool | None = None,
    **settings: Any,
) -> Response:
    """A counter-strategy to a model of an opponent.

    Parameters
    ----------
    game : str, Game, GameTree, BucketGame or None
        The game, of two players and zero-sum; None where the model says it.
    model : Strategy, path, str, or object with ``table`` or ``predict``
        What the opponent is believed to play: a strategy or its file, a ready-made opponent by name, or a model, see
        ``modelling.models``.
    kind : {"dbr", "rnr", "mixture", "best", "safe"}
        See the module ``modelling.counter_strategy``.
    p, epsilon : float, optional
        See ``ResponseKind``.
    true : Strategy, path or str, optional
        The opponent itself, where it is known; only measured.
    progress : callable or bool, optional
        Called with ``Progress`` several times a second; by default notebooks show a bar, with False they do not.
    **settings
        ``algorithm`` for restricted games (by default a linear program for small games, cfr+ for others); ``until``,
        ``iterations`` and ``seconds``; fields of ``RunOptions`` (``cards``, ``bets``, ``threads``, ``seed``,
        ``memory_limit``, ``out``, ``checkpoint``); settings of the algorithm.

    Raises
    ------
    SolverError, StrategyError, GameError
        Before any work starts, if a number is outside its range, the model does not fit the game, or the game is not
        one of two players and zero-sum.
    """
    run = prepare_response(game, model, ResponseKind(kind, p, epsilon), true, settings)
    with notebook_progress(progress) as shown:
        return run.run(shown)
