"""Current against average profiles in three-player limit hold'em, and information sets without positive regret.

Gibson 2014, section 4.4.3.  Figure 4.6: how often a walk meets an information set at which no action has positive
regret, ξ^T / T.  Theorems 4.2 and 4.3 need this to become rare.  Figure 4.7a: what the average profile of an
abstraction 1X, its current profile, and the current profile of an abstraction 2X of twice the size win in a round robin
with three base profiles of earlier agents, by iterations.  Here all are found by external sampling.

There 1X is 169/900/100/25 buckets and 262 million information sets, and the earlier agents are those of 2009 to 2011.
Here the abstractions are as small as three players allow, and the earlier agents are base profiles in other buckets of
the size of 1X, solved for as many iterations.  ξ is not counted during the run but estimated: at each checkpoint some
walks are repeated with the tables as they are, and the frequencies are integrated over the run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from counterplay.agents.match_game import MatchGame, open_match_game
from counterplay.agents.matches import match
from counterplay.errors import GameError
from counterplay.evaluation.matches.tally import Estimate
from counterplay.experiments.shared.bucket_games import bucket_game, cards_of
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.forms import poker_definition
from counterplay.game.game import TERMINAL
from counterplay.kernels.walks import random_state
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.deal_sampler import DealSampler
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.mccfr import mccfr_config
from counterplay.strategy.bucket_strategy import BucketStrategy

POOL: Mapping[str, str] = {"E[HS]": "PE", "E[HS²]": "PS", "HS so far": "PH"}
"""The base profiles of the round robin: their names and the families of their buckets."""

CHECKPOINTS = 5
"""Checkpoints of each run: at its end, at a quarter of it, and so on."""

REPEATED = 200
"""Deals whose walks are repeated at a checkpoint."""


def run(
    quick: bool = False, game: str = "holdem_limit_3p", buckets: int | None = None, iterations: int | None = None,
    deals: int | None = None, seed: int = 0, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Solve both abstractions and the base profiles, and play.

    Parameters
    ----------
    quick : bool
        100,000 iterations of each run and 1,000 deals a match instead of 2,000,000 and 10,000.
    game : str
        A poker game of three players.
    buckets : int, optional
        Buckets of 1X in each round, 2 by default; 2X has twice as many.
    iterations, deals, seed, threads : optional
        Iterations of each run, deals of each match, seed of both, threads for the features of hands.
    """
    rules = poker_definition(game)
    if rules.players != 3:
        raise GameError(f"the round robin needs a game for three players; {game} has {rules.players} players")
    total, dealt, count = (
        iterations or (100_000 if quick else 2_000_000),
        deals or (1_000 if quick else 10_000),
        buckets or 2,
    )
    times = sorted({max(1, total // 4**later) for later in range(CHECKPOINTS)})

    def abstract(family: str, number: int) -> BucketGame:
        return bucket_game(game, cards_of(game, ",".join([f"{family}{number}"] * rules.rounds), "imperfect", threads))

    played = open_match_game(game)
    pool = list(_pool((abstract(family, count) for family in POOL.values()), total, seed))
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    sizes = {}
    with keeping_rows():
        for label, kinds in (("1X", ("average", "last")), ("2X", ("last",))):
            form = abstract("PS", count * (2 if label == "2X" else 1))
            sizes[label] = form.num_infosets
            solver = _solver(form, seed, "average" if label == "1X" else "last")
            for done, blank in blank_shares(solver, times, seed):
                curves.setdefault(f"blank {label}", ([], []))[0].append(float(done))
                curves[f"blank {label}"][1].append(blank)
                for kind in kinds:
                    name = f"{'Average' if kind == 'average' else 'Current'}-{label}"
                    agent = solver.profile(kind, "uint8")  # type: ignore[arg-type]
                    won = round_robin(played, agent, pool, dealt, seed)
                    rows.append((name, done, solver.table_bytes, blank, won.mean, won.half))
                    curves.setdefault(name, ([], []))[0].append(float(done))
                    curves[name][1].append(won.mean)
            del solver
    return _results(f"{game}, {' and '.join(f'{k} {v:,}' for k, v in sizes.items())}", dealt, rows, curves)


def _results(played: str, deals: int, rows: list[tuple[Cell, ...]], curves: Curves) -> Experiment:
    return Experiment(
        title=f"Profiles of external sampling in {played} information sets; {deals:,} deals a match in six seatings",
        source="Gibson 2014, figures 4.6 and 4.7a",
        columns=("profile", "iterations", "table bytes", "blank visits an iteration", "mbb/g", "±"),
        rows=tuple(rows),
        notes=(*_verdicts(rows), "Published: the current profile is as strong as the average's best after a tenth of "
               "the iterations, 2X is best at the end, blank visits fall below 1 an iteration."),
        curves=curves,
    )  # fmt: skip


def _pool(games: Iterable[BucketGame], iterations: int, seed: int) -> Iterator[BucketStrategy]:
    """The base profiles of the round robin."""
    for number, game in enumerate(games, 1):
        solver = _solver(game, seed + number, "average")
        solver.step(iterations)
        yield solver.profile(storage="uint8")


def _solver(game: BucketGame, seed: int, profile: str) -> BucketSolver:
    settings = {"seed": seed, "profile": profile, "storage": "float32"}
    return BucketSolver(game, mccfr_config("external-sampling", settings), "external-sampling")


def round_robin(
    played: MatchGame, agent: BucketStrategy, pool: list[BucketStrategy], deals: int, seed: int
) -> Estimate:  # fmt: skip
    """What an agent wins at all tables with two of the pool, in mbb/g, with the interval over deals."""
    found = []
    for number, pair in enumerate(itertools.combinations(pool, 2)):
        result = match(played, [agent, *pair], deals, seed=1000 * seed + number)
        if result.interrupted:
            raise KeyboardInterrupt
        found.append(result.mbb(0))
    half = math.hypot(*(estimate.half for estimate in found)) / len(found)
    return Estimate(sum(estimate.mean for estimate in found) / len(found), half)


def blank_shares(solver: BucketSolver, times: list[int], seed: int) -> Iterator[tuple[int, float]]:
    """Run to each number of iterations; ξ^T / T there, by the trapezoidal rule over the iterations."""
    done, before, total = 0, blank_visits(solver, REPEATED, seed), 0.0
    for target in times:
        solver.step(target - solver.iterations)
        now = blank_visits(solver, REPEATED, seed)
        total += (target - done) * (before + now) / 2
        done, before = target, now
        yield target, total / target


def blank_visits(solver: BucketSolver, deals: int, seed: int) -> float:
    """Information sets without positive regret that an iteration of external sampling visits, the mean over deals.

    An iteration is a walk for each player, who tries all actions where the others draw one of the current profile.
    """
    game = solver.game
    shift = DealSampler(game, deals).deal(random_state(seed + 77, 1)[0], deals)
    draws = np.random.default_rng(seed)
    seen = sum(_blank(solver, shift[deal], player, 0, draws) for deal in range(deals) for player in range(game.players))
    return seen / deals


def _blank(
    solver: BucketSolver, shift: NDArray[np.int64], player: int, node: int, draws: np.random.Generator
) -> int:  # fmt: skip
    """Visits of a player's information sets without positive regret in a walk from a node."""
    game, tree = solver.game, solver.game.tree
    owner = int(tree.player[node])
    if owner == TERMINAL:
        return 0
    first, count = int(tree.first_child[node]), int(tree.num_children[node])
    entry = int(shift[game.slot_of(node)]) + int(game.node_offset[node])
    regret = np.maximum(solver.regret[entry : entry + count], 0.0)
    total = float(regret.sum())
    if owner == player:
        return int(total == 0.0) + sum(_blank(solver, shift, player, first + place, draws) for place in range(count))
    chosen = (
        draws.integers(count) if total == 0.0 else np.searchsorted(np.cumsum(regret), draws.random() * total, "right")
    )
    return _blank(solver, shift, player, first + min(int(chosen), count - 1), draws)


def _verdicts(rows: list[tuple[Cell, ...]]) -> Iterator[str]:
    """When the current profile of 1X is as strong as the best average, and who wins at the end."""
    found: dict[str, list[tuple[int, float]]] = {}
    for name, done, _, _, mean, _ in rows:
        found.setdefault(str(name), []).append((int(done or 0), float(mean or 0.0)))
    if {"Average-1X", "Current-1X"} <= set(found):
        at, best = max(found["Average-1X"], key=lambda point: point[1])
        level = next((done for done, mean in found["Current-1X"] if mean >= best), None)
        reached = "never" if level is None else f"from {level:,} iterations on"
        yield f"Average-1X is best at {at:,} iterations ({best:+.1f} mbb/g); Current-1X wins as much {reached}."
    last = sorted(((points[-1][1], name) for name, points in found.items()), reverse=True)
    if last:
        yield f"At the end: {', '.join(f'{name} {mean:+.1f}' for mean, name in last)}."
