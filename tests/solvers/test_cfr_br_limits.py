"""The limit of both forms of CFR-BR is the value of a linear program, to 1e-5 chips.

Against a best responder a run approaches its limit as 1/sqrt(T): 1e-5 would take 10^10 iterations in Leduc.  So the
runs here are restarted: the regrets of the player begin again in proportion to the average, with a larger weight each
time, so that steps become smaller; subgradient methods with such steps converge linearly where the optimum is sharp.
An epoch is CFR-BR itself, and nothing but the regrets at its start differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers import make_solver
from tests.poker.test_bucket_game import LEDUC, compiled, lossless, remembering

TWELVE = GameDefinition(
    limit=True, players=2, rounds=2, blinds=(2, 1), raise_sizes=(2, 4), max_raises=(1, 1), suits=3, ranks=4,
    hole_cards=2, board_cards=(0, 1), first_players=(1, 0),
)  # fmt: skip
"""Hold'em with 12 cards."""

GAMES = {
    "leduc": (LEDUC, build_cards((3, 2), (1, 1), parse_recipe("2,1", (3, 2), (1, 1))).rounds),
    "12 cards": (TWELVE, remembering(TWELVE)),
}
EPOCHS, LENGTH, GROWTH, FIRST = 26, 600, 1.6, 50.0
"""Restarts, iterations of each, how much the weight of the strategy grows, and that of the first."""


def limit(game: str) -> float:
    """The least exploitability: one player alone is bound to buckets, by linear programs."""
    rules, buckets = GAMES[game]
    won = []
    for both in ([buckets, lossless(rules)], [lossless(rules), buckets]):
        _, tree = compiled(BucketGame.build(rules, both))
        won.append(float(cp.solve(tree, "lp").value[len(won) - 1]))
    return sum(won) / 2


def restart(solver: Any, weight: float) -> None:
    """Begin again at the average; a hybrid keeps a tenth of its regrets, so that it still adapts quickly."""
    solver.regret[:] = weight * solver.average / solver.average.max()
    for table in getattr(solver, "trunk", ()):
        table *= 0.1
    solver.average[:] = 0.0
    solver.counters[:] = 0


def restarted(game: str, **settings: Any) -> Any:
    """A solver after all epochs."""
    rules, buckets = GAMES[game]
    solver: Any = make_solver(BucketGame.build(rules, buckets), "cfr-br", **settings)
    solver.step(LENGTH)
    for epoch in range(EPOCHS):
        restart(solver, FIRST * GROWTH**epoch)
        solver.step(LENGTH)
    return solver


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_both_forms_reach_the_linear_program(game: str) -> None:
    """All boards in every iteration; then the hybrid on sampled boards stays there, up to three standard errors."""
    least = limit(game)
    hybrid = restarted(game, trunk=1, every_board=True, regret_floor=True)
    gaps = [solver.measure("average").exploitability - least for solver in (restarted(game), hybrid)]
    assert all(-1e-9 <= gap <= 1e-5 for gap in gaps), gaps
    wins = []
    for seed in range(12):
        sampled: Any = make_solver(hybrid.game, "cfr-br", trunk=1, seed=seed)
        for own, found in zip((sampled.regret, *sampled.trunk), (hybrid.average, *hybrid.trunk), strict=True):
            own[:] = 1e7 * found / np.abs(found).max()  # so much that it plays on as the hybrid with all boards does
        sampled.step(200)
        assert sampled.measure("average").exploitability - least <= 1e-3
        wins.append(sampled.hybrid_wins)
    error = float(np.std(wins, ddof=1)) / np.sqrt(len(wins))
    assert abs(np.mean(wins) - least) <= 3.0 * error
