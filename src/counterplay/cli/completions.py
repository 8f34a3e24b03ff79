"""What a shell completes after Tab: names of games, algorithms, opponents, presets, experiments and verbs."""

from __future__ import annotations

from collections.abc import Iterable


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete.lower())]


def complete_game(incomplete: str) -> list[str]:
    """Names of games."""
    from counterplay.game import game_names

    return _starting(incomplete, game_names())


def complete_solved_game(incomplete: str) -> list[str]:
    """Names of games, and that of postflop spots."""
    return [*_starting(incomplete, ["holdem"]), *complete_game(incomplete)]


def complete_algorithm(incomplete: str) -> list[str]:
    """Names of algorithms."""
    from counterplay.solvers import ALGORITHMS

    return _starting(incomplete, ALGORITHMS)


def complete_opponent(incomplete: str) -> list[str]:
    """Names of ready-made opponents."""
    from counterplay.strategy.ready_made import READY_MADE

    return _starting(incomplete, READY_MADE)


def complete_kind(incomplete: str) -> list[str]:
    """Kinds of response."""
    from counterplay.modelling import KINDS

    return _starting(incomplete, KINDS)


def complete_preset(incomplete: str) -> list[str]:
    """Names of presets of builds."""
    from counterplay.build.presets import PORTFOLIOS, PRESETS

    return _starting(incomplete, {**PRESETS, **PORTFOLIOS})


def complete_experiment(incomplete: str) -> list[str]:
    """Names of experiments."""
    from counterplay.experiments import EXPERIMENTS

    return _starting(incomplete, EXPERIMENTS)
