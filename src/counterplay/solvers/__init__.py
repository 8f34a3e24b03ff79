"""Solvers: configuration, tables and kernels.  ``ALGORITHMS`` lists what ``solve`` knows by name."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal

from counterplay.errors import MemoryLimitError, SolverError, StrategyError
from counterplay.game.base import Game
from counterplay.solvers.base import Progress, Solver, SolveResult, Until, changed
from counterplay.solvers.cfr import CFR_PRESETS, CfrConfig, CfrSolver, config_with
from counterplay.solvers.double_oracle import DoubleOracle, DoubleOracleConfig
from counterplay.solvers.fictitious_play import FictitiousPlay, FictitiousPlayConfig
from counterplay.solvers.ira import CfrIra, CfrIraConfig, Fpira, FpiraConfig
from counterplay.solvers.linear_program import LinearProgram, LinearProgramConfig
from counterplay.solvers.maxmin import MaxminConfig, MaxminSolver
from counterplay.solvers.mccfr import MCCFR_PRESETS, MccfrConfig, MccfrSolver, mccfr_config
from counterplay.solvers.schemes import SCHEMES, scheme_array
from counterplay.solvers.uncompiled import StateSampler
from counterplay.storage import read_container
from counterplay.tree.arrays import GameTree

__all__ = [
    "ALGORITHMS", "CFR_PRESETS", "MCCFR_PRESETS", "REPRESENTATIONS", "SCHEMES", "Algorithm", "CfrConfig", "CfrIra",
    "CfrIraConfig", "CfrSolver", "DoubleOracle", "DoubleOracleConfig", "FictitiousPlay", "FictitiousPlayConfig",
    "Fpira", "FpiraConfig", "LinearProgram", "LinearProgramConfig", "MaxminConfig", "MaxminSolver", "MccfrConfig",
    "MccfrSolver", "Progress", "SolveResult", "Solver", "StateSampler", "Until", "check_algorithm", "checkpoint_game",
    "checkpoint_kind", "make_solver", "resume_solver", "scheme_array", "solve",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """What ``solve`` knows by name.

    Attributes
    ----------
    summary : str
        One line about it.
    make : callable
        ``make(game, name, memory_limit, settings)`` gives a solver.
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
    """

    summary: str
    make: Callable[[GameTree | Game | str, str, int | None, Mapping[str, Any]], Solver]
    exact: bool = False
    refines: bool = False
    sampled: bool = False
    seeded: bool = False
    one_sided: bool = False


def _cfr(game: GameTree | Game | str, name: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Solver:
    return CfrSolver(game, config_with(name, settings), name, memory_limit)


def _fictitious_play(
    game: GameTree | Game | str, name: str, memory_limit: int | None, settings: Mapping[str, Any]
) -> Solver:
    return FictitiousPlay(game, changed(FictitiousPlayConfig(), settings, name), name, memory_limit)


def _mccfr(game: GameTree | Game | str, name: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Solver:
    """The setting ``scheme`` may also be a function or an array."""
    scheme = settings.get("scheme")
    if scheme is None or isinstance(scheme, str):
        return MccfrSolver(game, mccfr_config(name, settings), name, memory_limit)
    others = {key: value for key, value in settings.items() if key != "scheme"}
    return MccfrSolver(game, mccfr_config(name, others), name, memory_limit, scheme)


def _cfr_ira(game: GameTree | Game | str, name: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Solver:
    return CfrIra(game, changed(CfrIraConfig(), settings, name), name, memory_limit)


def _fpira(game: GameTree | Game | str, name: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Solver:
    return Fpira(game, changed(FpiraConfig(), settings, name), name, memory_limit)


def _linear_program(
    game: GameTree | Game | str, name: str, memory_limit: int | None, settings: Mapping[str, Any]
) -> Solver:
    return LinearProgram(game, changed(LinearProgramConfig(), settings, name), name, memory_limit)


def _double_oracle(
    game: GameTree | Game | str, name: str, memory_limit: int | None, settings: Mapping[str, Any]
) -> Solver:
    return DoubleOracle(game, changed(DoubleOracleConfig(), settings, name), name, memory_limit)


def _maxmin(game: GameTree | Game | str, name: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Solver:
    return MaxminSolver(game, changed(MaxminConfig(), settings, name), name, memory_limit)


ALGORITHMS: dict[str, Algorithm] = {
    "cfr": Algorithm("vanilla counterfactual regret minimisation, all players at once", _cfr),
    "cfr+": Algorithm("CFR+ : regret matching plus, alternating, linear averaging", _cfr),
    "linear": Algorithm("linear CFR : iteration t weighs t in regrets and average", _cfr),
    "dcfr": Algorithm("discounted CFR : positive and negative regrets fade differently", _cfr),
    "pcfr+": Algorithm("predictive CFR+ : the last regret is the forecast of the next", _cfr),
    "fictitious-play": Algorithm("fictitious play : best responses to averages", _fictitious_play),
    "lp": Algorithm("linear program of the sequence form, two-player zero-sum games", _linear_program, exact=True),
    "double-oracle": Algorithm("double oracle : a restricted game grows by best responses", _double_oracle, exact=True),
    "maxmin": Algorithm(
        "the best guaranteed value of a player who may forget, between bounds", _maxmin, one_sided=True
    ),
    "cfr+ira": Algorithm("CFR+ on an abstraction that refines itself", _cfr_ira, refines=True, seeded=True),
    "fpira": Algorithm("fictitious play on an abstraction that refines itself", _fpira, refines=True),
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
ALGORITHMS.update({name: Algorithm(text, _mccfr, sampled=True, seeded=True) for name, text in _SAMPLED.items()})

SOLVERS: dict[str, type[Solver]] = {
    solver.kind: solver
    for solver in (
        CfrSolver,
        FictitiousPlay,
        MccfrSolver,
        StateSampler,
        LinearProgram,
        DoubleOracle,
        MaxminSolver,
        CfrIra,
        Fpira,
    )  # fmt: skip
}
"""The solvers by what their checkpoints are marked with."""

REPRESENTATIONS = ("auto", "history", "states")
"""What a solver works on: the compiled tree of histories, states, or whichever fits into memory."""


def check_algorithm(name: str) -> None:
    """Refuse an algorithm that does not exist."""
    if name not in ALGORITHMS:
        raise SolverError(f"unknown algorithm {name!r}; there are {', '.join(ALGORITHMS)}")


def make_solver(
    game: GameTree | Game | str, algorithm: str = "cfr+", memory_limit: int | None = None, **settings: Any
) -> Solver:
    """A solver by the name of its algorithm; ``settings`` change its defaults."""
    check_algorithm(algorithm)
    return ALGORITHMS[algorithm].make(game, algorithm, memory_limit, settings)


def make_state_sampler(
    game: Game | str, algorithm: str = "external-sampling", memory_limit: int | None = None, **settings: Any
) -> StateSampler:
    """A solver that walks the states of a game which need not be compiled; algorithms that sample only."""
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
    kind = _checkpoint(path)["solver"]
    if kind not in SOLVERS:
        raise SolverError(f"{path} is a checkpoint of the solver {kind!r}, which this counterplay does not have")
    return SOLVERS[kind].resume(path, game, memory_limit)


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
    representation: Literal["auto", "history", "states"] = "history",
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
    representation : {"history", "states", "auto"}
        Compile the game; or walk its states, with algorithms that sample, whatever its size, and measure nothing; or
        the second where the first does not fit into memory.
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
    if representation != "states":
        try:
            return make_solver(game, algorithm, memory_limit, **settings)
        except MemoryLimitError:
            if representation == "history" or isinstance(game, GameTree) or algorithm not in MCCFR_PRESETS:
                raise
    if isinstance(game, GameTree):
        raise SolverError(f"{game.name} is compiled; states are walked of a game or the name of one")
    return make_state_sampler(game, algorithm, memory_limit, **settings)
