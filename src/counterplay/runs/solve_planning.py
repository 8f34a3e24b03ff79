"""Plan a solve with tables on disk: count the game, measure what an entry costs here, and predict what it will take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterplay.errors import SolverError
from counterplay.forms import GameForms, GameLike, poker_definition
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.poker_game import standard_name
from counterplay.runs.disk_tables import disk_config
from counterplay.runtime.memory import available_memory, used_memory
from counterplay.runtime.pacing import next_check
from counterplay.solvers.streamed.measured_rates import SECONDS, measure_rates
from counterplay.solvers.streamed.solve_plan import PUBLISHED, PublishedSolve, Rates, Resources, SolvePlan
from counterplay.solvers.streamed.streamed_cfr import StreamedSolver, table_types
from counterplay.solvers.streamed.subgame_sizes import subgame_sizes

SOLVED_GAME = "holdem_limit_2p"
"""The game of ``PUBLISHED``."""


def plan_solve(
    game: GameLike,
    resources: Resources | None = None,
    algorithm: str = "cfr+",
    settings: Mapping[str, Any] | None = None,
    iterations: int | None = None,
    rates: Rates | None = None,
    seconds: float = SECONDS,
) -> SolvePlan:
    """What ``solve GAME --tables disk:FOLDER`` takes, on this machine or on many that are as fast.

    Parameters
    ----------
    game : str or Game
        A game of poker with two players, of any size.
    resources : Resources, optional
        What there is; by default one core of this machine.
    algorithm, settings
        As for ``solve``.
    iterations : int, optional
        How many; by default those of the published solution, for limit hold'em alone.
    rates : Rates, optional
        Costs that were measured before; by default they are measured now.
    seconds : float
        How long is measured.
    """
    given = (resources or Resources()).checked()
    if given.nodes == 1:
        given = given._replace(cache=available_memory())
    definition = poker_definition(game)
    sizes = subgame_sizes(definition, GameForms(game).name)
    published = _published(definition)
    if iterations is None and published is None:
        raise SolverError(
            f"say how many iterations of {sizes.name} are planned: --iterations N (below 1 mbb/g come holdem_2_4 after "
            "363 and limit hold'em after 1,579)"
        )
    count = iterations if iterations is not None else PUBLISHED.iterations
    if count < 1:
        raise SolverError(f"iterations must be an integer, at least 1; got {count}")
    config = disk_config(sizes.total, algorithm, {**(settings or {}), "threads": 1})
    types = table_types(sizes.total, config)
    base = used_memory()
    if rates is None:
        rates = measure_rates(definition, sizes.name, config, types.kind.name, algorithm, seconds)
    return SolvePlan(sizes, types, rates, given, count, checks(count), base, published=published)


def checks(iterations: int) -> int:
    """How often a run measures exploitability: on its schedule, and twice at the end, where values count as well."""
    found, now = 2, 0
    while (now := next_check(now, StreamedSolver.check_ratio)) < iterations:
        found += 1
    return found


def _published(definition: GameDefinition) -> PublishedSolve | None:
    return PUBLISHED if standard_name(definition) == SOLVED_GAME else None
