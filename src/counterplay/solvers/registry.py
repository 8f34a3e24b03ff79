"""Algorithms by name: what ``solve`` knows, and which solver runs it.

The module of a solver is imported when the solver is first needed, so that nobody waits for the libraries of another.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from counterplay.errors import MemoryLimitError, SolverError, StrategyError
from counterplay.game.game import Game
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import Progress
from counterplay.solvers.solver import Solver, SolveResult
from counterplay.storage import read_container
from counterplay.tree.history.game_tree import GameTree

if TYPE_CHECKING:
    from counterplay.solvers.state_mccfr import StateSampler
    from counterplay.tree.public.public_tree import PublicTree

__all__ = [
    "ALGORITHMS", "PUBLIC_ALGORITHMS", "PUBLIC_KINDS", "REPRESENTATIONS", "SOLVERS", "Algorithm", "check_algorithm",
    "checkpoint_game", "checkpoint_kind", "make_public_solver", "make_solver", "make_state_sampler", "resume_solver",
    "solve", "solver_class",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """What ``solve`` knows by name.

    Attributes
    ----------
    summary : str
        One line about it.
    kind : str
        The solver that runs it, one of ``SOLVERS``.
    exact : bool
        It finishes with an equilibrium, and takes two-player zero-sum games with perfect recall only; the others
        converge, and take any game.
    refines : bool
        It takes the real game, and what is forgotten at first as the setting ``forget``.
    sampled : bool
        It walks samples of the game, and has the settings ``seed`` and ``threads``.
    seeded : bool
        It makes random choices, from the setting ``seed``.
    one_sided : bool
        It finishes with a maxmin strategy of one player, the setting ``player``, of a two-player zero-sum game with any
        recall but absent-mindedness; the other player's strategy is a best response.
    public : bool
        It works on the public tree of a two-player zero-sum game whose private information is dealt by chance.
    """

    summary: str
    kind: str
    exact: bool = False
    refines: bool = False
    sampled: bool = False
    seeded: bool = False
    one_sided: bool = False
    public: bool = False


ALGORITHMS: dict[str, Algorithm] = {
    "cfr": Algorithm("vanilla counterfactual regret minimisation, all players at once", "cfr"),
    "cfr+": Algorithm("CFR+ : regret matching plus, alternating, linear averaging", "cfr"),
    "linear": Algorithm("linear CFR : iteration t weighs t in regrets and average", "cfr"),
    "dcfr": Algorithm("discounted CFR : positive and negative regrets fade differently", "cfr"),
    "pcfr+": Algorithm("predictive CFR+ : the last regret is the forecast of the next", "cfr"),
    "fictitious-play": Algorithm("fictitious play : best responses to averages", "fictitious-play"),
    "lp": Algorithm("linear program of the sequence form, two-player zero-sum games", "lp", exact=True),
    "double-oracle": Algorithm(
        "double oracle : a restricted game grows by best responses", "double-oracle", exact=True
    ),
    "maxmin": Algorithm("the best guaranteed value of a player who may forget", "maxmin", one_sided=True),
    "cfr+ira": Algorithm("CFR+ on an abstraction that refines itself", "cfr-ira", refines=True, seeded=True),
    "fpira": Algorithm("fictitious play on an abstraction that refines itself", "fpira", refines=True),
}
"""Every algorithm by name."""

_SAMPLED = {
    "chance-sampling": "CFR that draws chance and walks all actions",
    "external-sampling": "CFR that draws chance and the other players",
    "outcome-sampling": "CFR that draws one line of play",
    "average-strategy-sampling": "CFR that walks the actions its average plays",
    "mccfr-scheme": "CFR that walks actions by a sampling scheme",
    "probing": "CFR by a sampling scheme, with roll-outs for the actions left out",
    "pure-cfr": "CFR with pure strategies and whole numbers",
}
ALGORITHMS.update({name: Algorithm(text, "mccfr", sampled=True, seeded=True) for name, text in _SAMPLED.items()})

_PUBLIC_SAMPLED = {
    "cs": "chance sampling on the public tree : both hands and public events are drawn",
    "opcs": "opponent-public chance sampling : the opponent's hand and public events are drawn",
    "spcs": "self-public chance sampling : the own hand and public events are drawn",
    "pcs": "public chance sampling : only public events are drawn, all hands are walked at once",
}
ALGORITHMS.update({
    name: Algorithm(text, "public-sampling", sampled=True, seeded=True, public=True)
    for name, text in _PUBLIC_SAMPLED.items()
})  # fmt: skip

SOLVERS: dict[str, str] = {
    "cfr": "cfr:CfrSolver",
    "fictitious-play": "fictitious_play:FictitiousPlay",
    "mccfr": "mccfr:MccfrSolver",
    "mccfr-states": "state_mccfr:StateSampler",
    "mccfr-abstract": "bucket_mccfr:BucketSolver",
    "public-sampling": "public_sampling:PublicSamplingSolver",
    "lp": "linear_program:LinearProgram",
    "double-oracle": "double_oracle:DoubleOracle",
    "maxmin": "maxmin:MaxminSolver",
    "cfr-ira": "ira:CfrIra",
    "fpira": "ira:Fpira",
    "public": "public_cfr:PublicSolver",
}
"""Module and class of each solver, by what its checkpoints are marked with (``Solver.kind``)."""

PUBLIC_KINDS = ("public", "public-sampling")
"""Solvers that work on public trees."""

PUBLIC_ALGORITHMS = tuple(name for name, known in ALGORITHMS.items() if known.public)
"""Algorithms that work on public trees only."""

REPRESENTATIONS = ("auto", "history", "public", "states")
"""What a solver works on: the compiled tree of histories, the public tree, states, or whichever fits into memory."""


def solver_class(kind: str) -> type[Solver]:
    """The solver that is marked with ``kind``."""
    module, _, name = SOLVERS[kind].partition(":")
    solver: type[Solver] = getattr(importlib.import_module(f"counterplay.solvers.{module}"), name)
    return solver


def check_algorithm(name: str) -> None:
    """Refuse an algorithm that does not exist."""
    if name not in ALGORITHMS:
        raise SolverError(f"unknown algorithm {name!r}; there are {', '.join(ALGORITHMS)}")


def make_solver(
    game: GameTree | Game | str, algorithm: str = "cfr+", memory_limit: int | None = None, **settings: Any
) -> Solver:
    """A solver by the name of its algorithm; ``settings`` change its defaults."""
    check_algorithm(algorithm)
    return solver_class(ALGORITHMS[algorithm].kind).named(game, algorithm, memory_limit, settings)


def make_public_solver(
    game: PublicTree | GameTree | Game | str, algorithm: str = "cfr+", memory_limit: int | None = None, **settings: Any
) -> Solver:
    """A solver on the public tree of a two-player game: the CFR family, and the public chance samplers."""
    check_algorithm(algorithm)
    kind = ALGORITHMS[algorithm].kind
    if kind not in ("cfr", *PUBLIC_KINDS):
        raise SolverError(f"{algorithm} does not work on public trees; use --representation history")
    return solver_class("public" if kind == "cfr" else kind).named(game, algorithm, memory_limit, settings)


def make_state_sampler(
    game: Game | str, algorithm: str = "external-sampling", memory_limit: int | None = None, **settings: Any
) -> StateSampler:
    """A solver that walks the states of a game which need not be compiled; algorithms that sample only."""
    from counterplay.solvers.mccfr import MCCFR_PRESETS, mccfr_config
    from counterplay.solvers.state_mccfr import StateSampler

    check_algorithm(algorithm)
    if algorithm not in MCCFR_PRESETS:
        raise SolverError(
            f"{algorithm} needs the compiled game; without it there are "
            f"{', '.join(name for name in MCCFR_PRESETS if name != 'chance-sampling')}"
        )
    scheme = settings.get("scheme")
    own = callable(scheme)
    config = mccfr_config(algorithm, {key: value for key, value in settings.items() if key != "scheme" or not own})
    return StateSampler(game, config, algorithm, memory_limit, scheme if own else None)


def resume_solver(
    path: str | os.PathLike[str], game: GameTree | Game | str | None = None, memory_limit: int | None = None
) -> Solver:
    """Go on from a checkpoint of any solver; the game is made by its name unless it is given."""
    kind = checkpoint_kind(path)
    if kind not in SOLVERS:
        raise SolverError(f"{path} is a checkpoint of the solver {kind!r}, which this counterplay does not have")
    return solver_class(kind).resume(path, game, memory_limit)


def checkpoint_kind(path: str | os.PathLike[str]) -> str:
    """Which solver a checkpoint belongs to: its ``kind``."""
    return str(_checkpoint(path)["solver"])


def checkpoint_game(path: str | os.PathLike[str]) -> str:
    """The name of the game that a checkpoint belongs to."""
    return str(_checkpoint(path)["game"])


def _checkpoint(path: str | os.PathLike[str]) -> dict[str, Any]:
    header, _ = read_container(path, "checkpoint", verify=False)
    if not isinstance(header, dict) or not {"solver", "game"} <= set(header):
        raise StrategyError(f"{path} is damaged: its header does not say what it is a checkpoint of")
    return header


def solve(
    game: GameTree | Game | str,
    algorithm: str = "cfr+",
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    exploitability: float | None = None,
    callback: Callable[[Progress], None] | None = None,
    resume: str | os.PathLike[str] | None = None,
    memory_limit: int | None = None,
    representation: Literal["auto", "history", "public", "states"] = "history",
    **settings: Any,
) -> SolveResult:
    """Solve a game.

    Parameters
    ----------
    game : GameTree, Game or str
        A compiled tree, a game, or the name of one.
    algorithm : str
        One of ``ALGORITHMS``.
    iterations, seconds, exploitability : optional
        When to stop: at the first of those that are given; if none is, after 1000 iterations of an algorithm that
        only converges, and at the solution with one that finishes.
    callback : callable, optional
        Called with ``Progress`` several times a second.
    resume : path, optional
        A checkpoint to go on from; it brings its own algorithm and settings, so no settings can be given.
    memory_limit : int, optional
        Bytes that may be used; by default what the machine has free.
    representation : {"history", "public", "states", "auto"}
        Compile the game; or take its public tree, with the CFR family; or walk its states, with algorithms that
        sample, whatever its size, and measure nothing; or, where the first does not fit into memory, one of those.
    **settings
        Changes to the algorithm's defaults, see ``CfrConfig`` and its like.

    Returns
    -------
    SolveResult
        The profile, its value and exploitability, and how it came about.
    """
    given = not (iterations is None and seconds is None and exploitability is None)
    until = Until(iterations, seconds, exploitability) if given else None
    if resume and settings:
        raise SolverError(f"a checkpoint brings its own settings; leave out {', '.join(settings)}")
    if resume:
        solver = resume_solver(resume, game, memory_limit)
    else:
        solver = _by_representation(representation, game, algorithm, memory_limit, settings)
    until = until or Until(solver.default_iterations)
    return solver.run(until, callback)


def _by_representation(
    representation: str,
    game: GameTree | Game | str,
    algorithm: str,
    memory_limit: int | None,
    settings: Mapping[str, Any],
) -> Solver:
    if representation not in REPRESENTATIONS:
        raise SolverError(f"representation must be one of {', '.join(REPRESENTATIONS)}; got {representation!r}")
    if representation == "public" or (representation == "auto" and algorithm in PUBLIC_ALGORITHMS):
        return make_public_solver(game, algorithm, memory_limit, **settings)
    if representation != "states":
        try:
            return make_solver(game, algorithm, memory_limit, **settings)
        except MemoryLimitError:
            if representation == "history" or isinstance(game, GameTree):
                raise
            from counterplay.forms import has_public_tree

            if ALGORITHMS[algorithm].kind == "cfr" and has_public_tree(game):
                return make_public_solver(game, algorithm, memory_limit, **settings)
            if not ALGORITHMS[algorithm].sampled:
                raise
    if isinstance(game, GameTree):
        raise SolverError(f"{game.name} is compiled; states are walked of a game or the name of one")
    return make_state_sampler(game, algorithm, memory_limit, **settings)
