"""The registry of algorithms: algorithm x form of the game.

An algorithm runs on some of the four forms of a game (history, public, buckets, states), with one solver class for
each.  One name is one estimator: where two forms need different estimators these have different names.

The module of a solver is imported when the solver is first needed, so that nobody waits for the libraries of another.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from counterplay.errors import SolverError, StrategyError
from counterplay.forms import GameLike
from counterplay.poker.buckets.asymmetric_game import NONE, AsymmetricGame
from counterplay.poker.buckets.board_sampler import MOST_BOARDS, count_boards
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.suggestions import did_you_mean, find_name
from counterplay.solvers.checkpoint_header import CheckpointHeader
from counterplay.solvers.solver import Solver
from counterplay.solvers.streamed.run_folder import checkpoint_files
from counterplay.storage import read_container

DEFAULT_ALGORITHM = {"history": "cfr+", "public": "cfr+", "buckets": "pure-cfr", "states": "external-sampling"}
"""The algorithm that is used on a form when none is named."""


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """An algorithm of ``solve``.

    * ``summary``: one line about it
    * ``forms``: the forms it runs on, and the solver for each (a key of ``SOLVERS``)
    * ``exact``: it finishes with an equilibrium, and takes two-player zero-sum games with perfect recall only; the
      others converge, and take any game
    * ``refines``: it takes the real game, and the initial abstraction as the setting ``forget``
    * ``sampled``: it samples the game, and has the settings ``seed`` and ``threads``
    * ``seeded``: it makes random choices, from the setting ``seed``
    * ``one_sided``: it finishes with a maxmin strategy of one player, the setting ``player``, of a two-player zero-sum
      game with any recall but absent-mindedness; the other player's strategy is a best response
    * ``instead``: solvers that its settings, the size of the game, or tables on disk choose in place of those of
      ``forms``
    """

    summary: str
    forms: Mapping[str, str]
    exact: bool = False
    refines: bool = False
    sampled: bool = False
    seeded: bool = False
    one_sided: bool = False
    instead: tuple[str, ...] = ()

    @property
    def full_width(self) -> bool:
        """Whether it belongs to the CFR family that walks the whole game."""
        return self.forms.get("history") == "cfr"

    @property
    def against(self) -> Mapping[str, str]:
        """The solver against an opponent with other ``cards``, and with ``none``; empty if it has no such opponent."""
        if self.full_width:
            return {"cards": "asymmetric", NONE: "unabstracted-opponent"}
        sampled = self.forms.get("buckets") == "mccfr-abstract"
        return dict.fromkeys(("cards", NONE), "asymmetric") if sampled else {}


def _on_histories(summary: str, kind: str, **traits: Any) -> Algorithm:
    return Algorithm(summary, {"history": kind}, **traits)


def _full_width(summary: str) -> Algorithm:
    forms = {"history": "cfr", "public": "public", "buckets": "bucket-cfr"}
    return Algorithm(summary, forms, instead=("bucket-pairs-cfr", "streamed"))


def _sampled(summary: str, **forms: str) -> Algorithm:
    return Algorithm(summary, forms, sampled=True, seeded=True)


_DEALT = {"history": "mccfr", "buckets": "mccfr-abstract"}
_WALKED = {**_DEALT, "states": "mccfr-states"}

ALGORITHMS: dict[str, Algorithm] = {
    "cfr": _full_width("vanilla counterfactual regret minimisation, all players at once"),
    "cfr+": _full_width("CFR+ : regret matching plus, alternating, linear averaging"),
    "linear": _full_width("linear CFR : iteration t has weight t in regrets and average"),
    "dcfr": _full_width("discounted CFR : positive and negative regrets are discounted differently"),
    "pcfr+": _full_width("predictive CFR+ : the last regret predicts the next"),
    "fictitious-play": _on_histories("fictitious play : best responses to averages", "fictitious-play"),
    "lp": _on_histories("linear program of the sequence form, two-player constant-sum games", "lp", exact=True),
    "double-oracle": _on_histories(
        "double oracle : a restricted game grows by best responses", "double-oracle", exact=True
    ),
    "maxmin": _on_histories("the best guaranteed value of a player who may forget", "maxmin", one_sided=True),
    "cfr+ira": _on_histories("CFR+ on an abstraction that refines itself", "cfr-ira", refines=True, seeded=True),
    "fpira": _on_histories("fictitious play on an abstraction that refines itself", "fpira", refines=True),
    "chance-sampling": _sampled("CFR that samples chance and walks all actions", **_DEALT),
    "external-sampling": _sampled("CFR that samples chance and the other players", **_WALKED),
    "outcome-sampling": _sampled("CFR that samples one line of play", **_WALKED),
    "average-strategy-sampling": _sampled("CFR that walks the actions its average plays", **_WALKED),
    "mccfr-scheme": _sampled("CFR that walks actions by a sampling scheme", **_WALKED),
    "probing": _sampled("CFR by a sampling scheme, with rollouts for the actions left out", **_WALKED),
    "pure-cfr": _sampled("CFR with pure strategies and integers", **_WALKED),
    "cs": _sampled(
        "chance sampling on the public tree : both hands and public events are sampled", public="public-sampling"
    ),
    "opcs": _sampled(
        "opponent-public chance sampling : the opponent's hand and public events are sampled", public="public-sampling"
    ),
    "spcs": _sampled(
        "self-public chance sampling : the own hand and public events are sampled", public="public-sampling"
    ),
    "pcs": _sampled(
        "public chance sampling : public events are sampled during the walk, all hands are walked at once",
        public="public-sampling",
    ),
    "pcs-boards": _sampled(
        "public chance sampling of whole boards : all public cards are sampled first, and exclude hands from the start",
        buckets="mccfr-abstract",
    ),
    "cfr-br": Algorithm(
        "CFR-BR : the least exploitable strategy by buckets, against best responses in the real game",
        {"buckets": "cfr-br"},
        sampled=True,
        seeded=True,
        instead=("cfr-br-trunk",),
    ),
}
"""Every algorithm by name."""

_MEANT = {
    "cfrplus": "cfr+", "pcfrplus": "pcfr+", "vanilla": "cfr", "lcfr": "linear", "linear-cfr": "linear",
    "discounted": "dcfr", "discounted-cfr": "dcfr", "predictive": "pcfr+", "predictive-cfr": "pcfr+",
    "fp": "fictitious-play", "xfp": "fictitious-play", "sequence-form": "lp", "simplex": "lp",
    "cfr-ira": "cfr+ira", "mccfr": "external-sampling mccfr-scheme", "monte-carlo": "external-sampling",
    "es": "external-sampling", "es-mccfr": "external-sampling", "mccfr-es": "external-sampling",
    "os": "outcome-sampling", "os-mccfr": "outcome-sampling", "mccfr-os": "outcome-sampling",
    "as": "average-strategy-sampling", "ass": "average-strategy-sampling", "public-chance-sampling": "pcs",
    "cfr-s": "chance-sampling", "cfrbr": "cfr-br", "cfr_br": "cfr-br", "best-response": "cfr-br", "purecfr": "pure-cfr",
}  # fmt: skip
"""What somebody means who writes it so."""

SOLVERS: dict[str, str] = {
    "cfr": "cfr:CfrSolver",
    "fictitious-play": "fictitious_play:FictitiousPlay",
    "mccfr": "mccfr:MccfrSolver",
    "mccfr-states": "state_mccfr:StateSampler",
    "mccfr-abstract": "bucket_mccfr:BucketSolver",
    "bucket-cfr": "bucket_cfr:BucketCfrSolver",
    "bucket-pairs-cfr": "bucket_pairs_cfr:BucketPairsSolver",
    "cfr-br": "cfr_br:CfrBrSolver",
    "cfr-br-trunk": "cfr_br_trunk:TrunkSolver",
    "asymmetric": "asymmetric:AsymmetricSolver",
    "unabstracted-opponent": "unabstracted_opponent:UnabstractedOpponentSolver",
    "public-sampling": "public_sampling:PublicSamplingSolver",
    "lp": "linear_program:LinearProgram",
    "double-oracle": "double_oracle:DoubleOracle",
    "maxmin": "maxmin:MaxminSolver",
    "cfr-ira": "ira:CfrIra",
    "fpira": "ira:Fpira",
    "public": "public_cfr:PublicSolver",
    "streamed": "streamed.streamed_cfr:StreamedSolver",
}
"""Module and class of each solver, by the kind of its checkpoints (``Solver.kind``)."""


def solver_class(kind: str) -> type[Solver]:
    """The solver class of a ``kind``."""
    module, _, name = SOLVERS[kind].partition(":")
    solver: type[Solver] = getattr(importlib.import_module(f"counterplay.solvers.{module}"), name)
    return solver


def find_algorithm(written: str, form: str | None = None) -> str:
    """The name of an algorithm as in ``ALGORITHMS``, from one written in any case.

    Raises
    ------
    SolverError
        If there is none, with the closest name; if it does not run on the form, with those that do.
    """
    name = find_name(written, ALGORITHMS)
    if name is None:
        raise SolverError(f"unknown algorithm {written!r}; {did_you_mean(written, ALGORITHMS, meant=_MEANT)}")
    if form is not None and form not in ALGORITHMS[name].forms:
        others = ", ".join(other for other, known in ALGORITHMS.items() if form in known.forms)
        place = {
            "history": "on the histories of a game",
            "public": "on public trees",
            "buckets": "in card abstractions",
            "states": "without the compiled game",
        }[form]
        raise SolverError(f"{name} does not run {place} (it runs on {', '.join(ALGORITHMS[name].forms)}); use {others}")
    return name


def solver_kind(algorithm: str, form: str, opponent: str | None = None) -> str:
    """The solver of an algorithm on a form, a key of ``SOLVERS``; ``opponent`` as in ``AsymmetricGame``."""
    known = ALGORITHMS[algorithm]
    if opponent is None:
        return known.forms[form]
    if not known.against:
        others = ", ".join(name for name, other in ALGORITHMS.items() if other.against)
        raise SolverError(f"{algorithm} takes no cards of an opponent; leave them out, or use {others}")
    return known.against[NONE if opponent == NONE else "cards"]


def form_of(game: GameLike | AsymmetricGame, algorithm: str | None = None) -> str:
    """The form of an opened game; of a name or an unopened game history, or whatever form the algorithm has."""
    given: str | None = getattr(game, "form_name", None)
    if given in ("public", "buckets"):
        return given
    forms = ("history",) if algorithm is None else tuple(ALGORITHMS[algorithm].forms)
    return "history" if "history" in forms else forms[0]


def make_solver(
    game: GameLike | AsymmetricGame,
    algorithm: str | None = None,
    memory_limit: int | None = None,
    form: str | None = None,
    **settings: Any,
) -> Solver:
    """A solver by the name of its algorithm, on the form in which the game is.

    Full-width algorithms in a bucket game with too many boards to walk solve it by its bucket pairs, which must be set
    before the first step: ``solver.pairs = count_bucket_pairs(game, boards)``.

    Parameters
    ----------
    game : GameTree, PublicTree, BucketGame, AsymmetricGame, Game or str
        The game; one that is not opened is opened in ``form``.
    algorithm : str, optional
        One of ``ALGORITHMS``; by default that of the form, see ``DEFAULT_ALGORITHM``.
    memory_limit : int, optional
        Bytes that may be used; by default what the machine has free.
    form : str, optional
        One of ``FORMS``, for games that are not opened; by default history where the algorithm runs on it.
    **settings
        Changes to the algorithm's defaults, see ``CfrConfig`` and the other configs.
    """
    return solver_with(settings, game, algorithm, memory_limit, form)


def solver_with(
    settings: Mapping[str, Any],
    game: GameLike | AsymmetricGame,
    algorithm: str | None = None,
    memory_limit: int | None = None,
    form: str | None = None,
) -> Solver:
    """``make_solver`` with settings that somebody has typed, whose names may be any."""
    if algorithm is not None:
        algorithm = find_algorithm(algorithm)
    form = form or form_of(game, algorithm)
    algorithm = find_algorithm(algorithm or DEFAULT_ALGORITHM[form], form)
    kind = solver_kind(algorithm, form, game.opponent if isinstance(game, AsymmetricGame) else None)
    if kind == "bucket-cfr" and isinstance(game, BucketGame) and count_boards(game) > MOST_BOARDS:
        kind = "bucket-pairs-cfr"
    return solver_class(kind).named(game, algorithm, memory_limit, settings)


def resume_solver(
    path: str | os.PathLike[str],
    game: GameLike | None = None,
    memory_limit: int | None = None,
    cards: Sequence[str | os.PathLike[str]] = (),
    opponent_cards: str | os.PathLike[str] | None = None,
) -> Solver:
    """Continue a checkpoint of any solver.

    Parameters
    ----------
    path : path
        The checkpoint.
    game : GameTree, PublicTree, BucketGame, Game or str, optional
        The game; by default it is opened by its name.
    memory_limit : int, optional
        Bytes that may be used; by default what the machine has free.
    cards, opponent_cards : sequence of paths, path
        Where the files of the card abstraction, and of that of the opponent, are, if they have moved.

    Raises
    ------
    SolverError
        If this version has no such solver.
    StrategyError
        If the checkpoint is damaged or belongs to another game.
    """
    solver = checkpoint_solver(path)
    moved: dict[str, Any] = {"cards": list(cards)} if cards else {}
    moved |= {} if opponent_cards is None else {"opponent_cards": os.fspath(opponent_cards)}
    if moved and solver.form_name == "buckets":
        game = solver.open_game({**checkpoint_header(path), **moved}, memory_limit)
    return solver.resume(path, game, memory_limit)


def checkpoint_solver(path: str | os.PathLike[str]) -> type[Solver]:
    """The class of solver that a checkpoint belongs to."""
    kind = str(checkpoint_header(path)["solver"])
    if kind == "seats":
        raise SolverError(f"{path} is a checkpoint of a response; continue it with respond, and its own options")
    if kind not in SOLVERS:
        raise SolverError(f"{path} is a checkpoint of the solver {kind!r}, which this counterplay does not have")
    return solver_class(kind)


def checkpoint_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header of a checkpoint, or of the newest that can be read of a run in a folder: the solver, the game, the
    algorithm and its settings.
    """
    for number, source in enumerate(places := checkpoint_files(path), 1):
        try:
            header, _ = read_container(source, "checkpoint", verify=False)
            check_header(source, header, CheckpointHeader)
            return header
        except StrategyError:
            if number == len(places):
                raise
    raise StrategyError(f"{os.fspath(path)} is a folder without a run")
