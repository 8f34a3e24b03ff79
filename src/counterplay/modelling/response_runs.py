"""From a request for a response to its result: the form of the game, the tables of the model, the solver, the files."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError, StrategyError
from counterplay.evaluation.bucket_pairs import BucketPairs, count_bucket_pairs
from counterplay.evaluation.figures import read_exploitability
from counterplay.forms import GameForms, GameLike
from counterplay.lp.safe_response import restricted_response, safe_profile
from counterplay.modelling.counter_strategy import Response, ResponseKind
from counterplay.modelling.models import model_table, policy_table
from counterplay.modelling.observations import Form, Observations
from counterplay.modelling.response_forms import BucketResponses, HistoryResponses, ResponseForm
from counterplay.modelling.response_solvers import (
    continue_from,
    equilibrium_solver,
    find_response_algorithm,
    response_config,
    response_solver,
)
from counterplay.poker.buckets.board_sampler import MOST_BOARDS, count_boards
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runs.options import RunOptions, Target, sort_out
from counterplay.runs.run import Run
from counterplay.runtime.notebook_progress import notebook_progress
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import ProgressCallback
from counterplay.runtime.suggestions import closest_names, did_you_mean
from counterplay.solvers.registry import ALGORITHMS
from counterplay.solvers.restricted_solver import check_zero_sum
from counterplay.solvers.solver import Solver
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy
from counterplay.strategy.joint_buckets import joint_buckets
from counterplay.strategy.ready_made import MEANT, READY_MADE, opponent_name
from counterplay.strategy.strategy import Provenance, Strategy
from counterplay.tree.history.game_tree import GameTree

Float64 = NDArray[np.float64]

BUCKET_TARGET = "5mbb"
"""The gap at which a response in a bucket game is near enough by default."""

EXACT = ("best", "safe")
"""Kinds of response that are not iterated."""

FOREIGN = ("opponent_cards", "forget", "representation", "map_out", "tables", "curve")
"""Fields of ``RunOptions`` that responses do not have."""

NAMES = ("algorithm", "until", "iterations", "seconds", "cards", "bets", "boards", "threads", "seed", "memory_limit",
         "out", "checkpoint", "resume", "pairs")  # fmt: skip
"""Settings of responses besides those of an algorithm."""


@dataclasses.dataclass(frozen=True, eq=False)
class Found:
    """A table of both seats, and how it was found."""

    table: Float64
    algorithm: str
    gap: float = 0.0
    iterations: int = 0
    status: str = "solved"
    cpu_seconds: float = 0.0
    checkpoint: str | os.PathLike[str] | None = None


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
    resume : path, optional
        The checkpoint to continue.
    spare : path, optional
        Where an interrupted run is kept that has no checkpoint.
    known : dict
        What several responses to the same opponent have in common, once it is found.
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
    resume: str | os.PathLike[str] | None = None
    spare: str | os.PathLike[str] | None = None
    known: dict[str, Found] = dataclasses.field(default_factory=dict)

    @property
    def goal(self) -> Until:
        """Where the run stops, exploitability being the gap; a linear program is one iteration."""
        if self.asked.kind in EXACT or self.algorithm == "lp":
            return Until(iterations=1)
        target, form = self.target, self.play.form
        if isinstance(target.until, Until):
            return target.until
        until, iterations = target.until, target.iterations
        if until is None and iterations is None and target.seconds is None:
            until = BUCKET_TARGET if isinstance(form, BucketGame) else None
            iterations = Solver.default_iterations if until is None else None
        if isinstance(until, str):
            until = read_exploitability(until, form.name, form.big_blind)
        return Until(iterations, target.seconds, until)

    def run(self, progress: ProgressCallback | None = None) -> Response:
        """Solve it, until Ctrl-C at most: a response that was interrupted is the one so far, and has a checkpoint."""
        started = time.perf_counter()
        found = self._solved(progress)
        seconds = time.perf_counter() - started
        play, table = self.play, found.table
        origin = {"kind": self.asked.kind, "p": self.asked.p, "epsilon": self.asked.epsilon}
        settings = {name: value for name, value in origin.items() if value is not None}
        name = f"{self.asked.short_title}, {found.algorithm}"
        provenance = Provenance(name, settings, self.options.seed, found.iterations, seconds)
        strategy = play.strategy(table, provenance)
        if self.options.out is not None:
            strategy.save(self.options.out)
        measured, won = play.judge(table, [self.prediction, *([] if self.true is None else [self.true])])
        return Response(
            strategy, self.asked, won[0], None if self.true is None else won[1], measured, found.algorithm,
            found.status, found.iterations, seconds, found.gap, self._facts(found), self._notes(),
            {"profile": self.options.out, "checkpoint": found.checkpoint},
        )  # fmt: skip

    def _facts(self, found: Found) -> dict[str, Any]:
        seen, spent = self.observations, {"cpu_seconds": found.cpu_seconds} if found.iterations else {}
        return spent if seen is None else {**spent, "hands": seen.hands, "data": seen.data_report().to_dict()}

    def _notes(self) -> tuple[str, ...]:
        if self.observations is None:
            return ()
        found = self.observations.data_report().warnings()
        if self.asked.kind == "dbr" and self.asked.p and not np.any(self.confidence):
            found = [*found, "no prediction is trusted with so few data: this response is an equilibrium"]
        return tuple(found)

    def _solved(self, progress: ProgressCallback | None) -> Found:
        kind, p = self.asked.kind, self.asked.p or 0.0
        if kind == "best":
            return self._best()
        if kind == "safe":
            return self._safe(self.asked.epsilon or 0.0)
        if kind == "rnr":
            return self._restricted(p, progress)
        if kind == "dbr":
            return self._restricted(p * self.confidence, progress)
        if p == 1.0 and self.algorithm != "lp":
            return self._best()
        equilibrium = self._restricted(0.0, progress)
        return dataclasses.replace(
            equilibrium, table=self.play.mixed((self._best().table, equilibrium.table), (p, 1.0 - p))
        )  # fmt: skip

    def _best(self) -> Found:
        if "best" not in self.known:
            self.known["best"] = Found(self.play.best(self.prediction), "best response")
        return self.known["best"]

    def _safe(self, epsilon: float) -> Found:
        tree = self.play.form
        assert isinstance(tree, GameTree)
        return Found(safe_profile(tree, self.prediction, epsilon), "lp")

    def most_given_away(self) -> float:
        """The exploitability of the safest best response to the model; of small games."""
        tree = self.play.form
        assert isinstance(tree, GameTree)
        return self.play.measure(safe_profile(tree, self.prediction)).exploitability

    def _restricted(self, confidence: float | Float64, progress: ProgressCallback | None) -> Found:
        """The response in the restricted game: an equilibrium of it."""
        form = self.play.form
        if self.algorithm == "lp":
            assert isinstance(form, GameTree)
            each = [restricted_response(form, seat, self.prediction, confidence) for seat in range(2)]
            return Found(self.play.seated(each[0][1], each[1][1]), "lp")
        if np.all(confidence == 1.0):
            return self._best()
        pairs = self.play.pairs if isinstance(self.play, BucketResponses) else None
        settings, limit = self.settings, self.options.memory_limit
        if np.any(confidence):
            models = self.prediction, confidence
            return self._iterated(response_solver(form, self.algorithm, models, settings, pairs, limit), progress)
        if "equilibrium" not in self.known:
            found = self._iterated(equilibrium_solver(form, self.algorithm, settings, pairs, limit), progress)
            if found.status == "interrupted":
                return found
            self.known["equilibrium"] = found
        return self.known["equilibrium"]

    def _iterated(self, solver: Solver, progress: ProgressCallback | None) -> Found:
        """Run a solver to the goal; an interrupted one always leaves a checkpoint."""
        if self.resume is not None:
            continue_from(solver, self.resume)
        keeper = Run(solver, self.goal, self.options, GameForms(self.play.form))
        status = solver.advance(self.goal, keeper.watched(progress))
        checkpoint = self.options.checkpoint
        if status == "interrupted" and checkpoint is None:
            out = self.options.out
            checkpoint = self.spare or ("respond.checkpoint" if out is None else f"{out}.checkpoint")
        if checkpoint is not None:
            checkpoint = keeper.keep(checkpoint)
        last = solver.curve[-1] if solver.curve else None
        measured = last is not None and last.iterations == solver.iterations
        gap = last.exploitability if last is not None and measured else solver.measure().exploitability
        return Found(
            solver.strategy(), solver.algorithm, gap, solver.iterations, status, solver.cpu_seconds, checkpoint
        )  # fmt: skip


def prepare_response(
    game: GameLike | None, model: Any, asked: ResponseKind, true: Any = None,
    settings: Mapping[str, Any] | None = None, others: Sequence[ResponseKind] = (),
) -> ResponseRun:  # fmt: skip
    """A response that can be started: everything is checked, the game is open, the model laid out.

    ``others`` are responses that will be asked for with the same settings.
    """
    given = dict(settings or {})
    named = [name for name, value in given.items() if value is not None]
    algorithm, resume, pairs = (given.pop(name, None) for name in ("algorithm", "resume", "pairs"))
    target, options, own = sort_out(given.pop("until", None), given)
    model, true = read_opponent(model, game), None if true is None else read_opponent(true, game)
    if isinstance(model, BucketStrategy):
        model = joint_buckets(model)
    form = _opened(game, model, options)
    chosen = _algorithm(algorithm, (asked, *others), form)
    own = _with_common(chosen, form, options, own)
    _check_settings((asked, *others), chosen, form, named, own)
    prediction, confidence = model_table(model, form)
    known = None if true is None else policy_table(true, form)
    seen = getattr(model, "observations", None)
    play = (
        BucketResponses(form, _pairs(form, pairs, options)) if isinstance(form, BucketGame) else HistoryResponses(form)
    )
    run = ResponseRun(asked, play, prediction, confidence, known, chosen, target, options, own, seen, resume)
    _ = run.goal  # refuses what it cannot read
    return run


def _check_settings(
    asked: Sequence[ResponseKind], algorithm: str, form: Form, given: Sequence[str], own: Mapping[str, Any]
) -> None:
    """Refuse settings that would be ignored: ``given`` has the names of all, ``own`` are those of the algorithm."""
    for name in FOREIGN:
        if name in given:
            raise SolverError(f"responses have no {name}; leave it out")
    if not isinstance(form, BucketGame):
        for name in ("bets", "boards", "pairs"):
            if name in given:
                raise SolverError(f"{name} is for card abstractions; name one with cards")
    kind = asked[0].kind
    exact = all(one.kind in EXACT for one in asked)
    if not exact and algorithm != "lp":
        response_config(form, algorithm, own)
        return
    how = "computed at once" if exact else "solved by a linear program"
    for name in own:
        close = closest_names(name, NAMES)
        raise SolverError(f"{kind} is {how} here and has no {name}" + (f"; did you mean {close[0]}?" if close else ""))
    if exact and algorithm != "lp" and "algorithm" in given:
        raise SolverError(f"{kind} is {how}; leave out algorithm")
    for name in ("resume", "checkpoint"):
        if name in given:
            raise SolverError(f"{kind} is {how} here and has no checkpoint; leave out {name}")
    for name in ("until", "exploitability", "iterations", "seconds"):
        if name in given:
            other = "" if exact else ", or name an algorithm that has them, as cfr+"
            raise SolverError(f"{kind} is {how} here, without iterations; leave out {name}{other}")


def _pairs(game: BucketGame, given: BucketPairs | str | os.PathLike[str] | None, options: RunOptions) -> BucketPairs:
    """The bucket pairs: as given, from a file, or counted, which makes that file."""
    check_zero_sum(game)
    if isinstance(given, BucketPairs):
        return given
    if given is not None and os.path.exists(given):
        return BucketPairs.load(given, game)
    if options.boards is None and count_boards(game) > MOST_BOARDS:
        raise SolverError(
            f"{game.name} has {count_boards(game):,} different boards, too many to count all; say how many to sample: "
            "boards=10000 (--boards 10000)"
        )
    boards = None if options.boards in (None, "all") else int(options.boards or 0)
    found = count_bucket_pairs(game, boards, options.seed or 0, options.opening, options.threads or 1)
    if given is not None:
        found.save(given, game)
    return found


def _with_common(algorithm: str, form: Form, options: RunOptions, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the algorithm, with seed and threads where it has them."""
    if ALGORITHMS[algorithm].sampled:
        common = {name: value for name in ("seed", "threads") if (value := getattr(options, name)) is not None}
        return {**common, **settings}
    if not isinstance(form, BucketGame) and options.threads not in (None, 1):  # bucket pairs are counted in threads
        raise SolverError(f"{algorithm} works in one thread; threads are for sampling algorithms and card abstractions")
    return dict(settings)


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
    if isinstance(game, GameTree | BucketGame):
        return game
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


def _algorithm(name: str | None, asked: Sequence[ResponseKind], form: Form) -> str:
    """What solves the restricted games."""
    place = "buckets" if isinstance(form, BucketGame) else "history"
    if place == "buckets" and any(one.kind == "safe" for one in asked):
        raise SolverError(
            "safe is for small games, which a linear program solves; in card abstractions use rnr, whose points lie on "
            "the same frontier"
        )
    return find_response_algorithm(name, place)


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
        ``algorithm`` for restricted games (by default a linear program for small games, dcfr in card abstractions);
        ``until``, the gap to the solution of the restricted game, in the mean of both seats, ``iterations`` and
        ``seconds``; fields of ``RunOptions`` (``cards``, ``bets``, ``boards``, ``threads``, ``seed``, ``memory_limit``,
        ``out``, ``checkpoint``); ``resume``, a checkpoint of the same response to continue; ``pairs``, in a card
        abstraction: ``BucketPairs``, or a file to keep them in; settings of the algorithm.

    Raises
    ------
    SolverError, StrategyError, GameError
        Before any work starts, if a number is outside its range, the model does not fit the game, or the game is not
        one of two players and zero-sum.
    """
    run = prepare_response(game, model, ResponseKind(kind, p, epsilon), true, settings)
    with notebook_progress(progress) as shown:
        return run.run(shown)
