"""counterplay: from the rules of a game of imperfect information to play that an opponent cannot exploit.

>>> import counterplay as cp
>>> result = cp.solve("kuhn", algorithm="cfr+", until=1e-5)
>>> round(result.value[0], 4)
-0.0556
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "ALGORITHMS",
    "CHANCE",
    "TERMINAL",
    "Abstraction",
    "AbstractionError",
    "BucketStrategy",
    "CfrConfig",
    "CfrSolver",
    "ClusterError",
    "CounterplayError",
    "ExplicitGame",
    "Game",
    "GameError",
    "GameFacts",
    "GameTree",
    "MccfrConfig",
    "MccfrSolver",
    "MemoryLimitError",
    "Progress",
    "Provenance",
    "PublicStrategy",
    "SequenceForm",
    "SolveResult",
    "SolverError",
    "State",
    "Strategy",
    "StrategyError",
    "TabularStrategy",
    "UnknownInfosetError",
    "Until",
    "__version__",
    "best_response",
    "build",
    "chance",
    "compile_game",
    "decision",
    "equity",
    "estimate_size",
    "evaluate",
    "evaluation",
    "expected_values",
    "exploitability",
    "game_forms",
    "game_names",
    "games",
    "infoset_table",
    "load",
    "make",
    "match",
    "modelling",
    "nash_conv",
    "on_cluster",
    "open_game",
    "parameter",
    "plot_match",
    "plot_responses",
    "plot_run",
    "register",
    "resume",
    "solve",
    "solve_flops",
    "solve_spot",
    "terminal",
    "trust",
    "warm",
]  # fmt: skip

# Names are imported when they are first used, so that ``import counterplay`` costs nothing.
_HOME = {
    "CHANCE": "game", "TERMINAL": "game", "ExplicitGame": "game", "Game": "game", "GameFacts": "game",
    "State": "game", "chance": "game", "decision": "game", "game_names": "game", "games": "game", "make": "game",
    "parameter": "game", "register": "game", "terminal": "game",
    "Abstraction": "abstraction",
    "GameTree": "tree", "SequenceForm": "tree", "compile_game": "tree", "estimate_size": "tree",
    "BucketStrategy": "strategy", "Provenance": "strategy", "PublicStrategy": "strategy", "Strategy": "strategy",
    "TabularStrategy": "strategy", "load": "strategy:load_strategy",
    "ALGORITHMS": "solvers", "CfrConfig": "solvers", "CfrSolver": "solvers",
    "MccfrConfig": "solvers", "MccfrSolver": "solvers", "Progress": "runtime.progress",
    "SolveResult": "solvers", "Until": "runtime.pacing",
    "resume": "runs", "solve": "runs", "solve_flops": "runs", "solve_spot": "runs",
    "game_forms": "forms", "open_game": "forms",
    "best_response": "evaluation", "evaluate": "evaluation", "expected_values": "evaluation",
    "exploitability": "evaluation", "infoset_table": "evaluation", "nash_conv": "evaluation",
    "equity": "poker.range_equity", "match": "agents", "build": "build", "modelling": ":",
    "warm": "warming", "plot_responses": "plots.exploitation", "plot_run": "plots.convergence",
    "plot_match": "plots.match_curves", "evaluation": ":",
    "AbstractionError": "errors", "CounterplayError": "errors", "GameError": "errors", "MemoryLimitError": "errors",
    "SolverError": "errors", "StrategyError": "errors", "UnknownInfosetError": "errors", "trust": "trusted_code",
    "ClusterError": "errors", "on_cluster": "runtime.executors",
}  # fmt: skip

if TYPE_CHECKING:
    from counterplay import evaluation, modelling
    from counterplay.abstraction import Abstraction
    from counterplay.agents import match
    from counterplay.build import build
    from counterplay.errors import (
        AbstractionError,
        ClusterError,
        CounterplayError,
        GameError,
        MemoryLimitError,
        SolverError,
        StrategyError,
        UnknownInfosetError,
    )  # fmt: skip
    from counterplay.evaluation import (
        best_response,
        evaluate,
        expected_values,
        exploitability,
        infoset_table,
        nash_conv,
    )  # fmt: skip
    from counterplay.forms import game_forms, open_game
    from counterplay.game import (
        CHANCE,
        TERMINAL,
        ExplicitGame,
        Game,
        GameFacts,
        State,
        chance,
        decision,
        game_names,
        games,
        make,
        parameter,
        register,
        terminal,
    )  # fmt: skip
    from counterplay.plots.convergence import plot_run
    from counterplay.plots.exploitation import plot_responses
    from counterplay.plots.match_curves import plot_match
    from counterplay.poker.range_equity import equity
    from counterplay.runs import resume, solve, solve_flops, solve_spot
    from counterplay.runtime.executors import on_cluster
    from counterplay.runtime.pacing import Until
    from counterplay.runtime.progress import Progress
    from counterplay.solvers import ALGORITHMS, CfrConfig, CfrSolver, MccfrConfig, MccfrSolver, SolveResult
    from counterplay.strategy import BucketStrategy, Provenance, PublicStrategy, Strategy, TabularStrategy
    from counterplay.strategy import load_strategy as load
    from counterplay.tree import GameTree, SequenceForm, compile_game, estimate_size
    from counterplay.trusted_code import trust
    from counterplay.warming import warm


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'counterplay' has no attribute {name!r}")
    if _HOME[name] == ":":  # a package whose names are not offered here
        return importlib.import_module(f"counterplay.{name}")
    module, _, attribute = _HOME[name].partition(":")
    value = getattr(importlib.import_module(f"counterplay.{module}"), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
