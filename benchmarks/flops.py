"""Exact evaluation of a bucket strategy in limit hold'em: CPU seconds of single flops, and what all 1,755 would take.

``python -m benchmarks flops`` measures this alone, with as many threads as there are cores; it takes about ten CPU
minutes.  Best responses of both seats to a strategy in 625 buckets a round, which is played everywhere, so that nothing
is left out.  The flops are of every kind: one, two and three suits, pairs, three of a kind.  Work is counted in nodes x
hands, so that the time of all flops follows from that of some.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.timing import all_cores
from counterplay.abstraction.cards.card_abstraction import BucketTable
from counterplay.evaluation.lifted_buckets import LiftedStrategy
from counterplay.evaluation.split_evaluation import SplitGame, _Split
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.isomorphism import HandIndexer
from counterplay.runtime.threads import available_cores
from counterplay.strategy.bucket_strategy import BucketStrategy

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

PART = "flops"
GAME, SMALL, BUCKETS, HOURS = "holdem_limit_2p", "holdem_limit_2p(ranks=5,suits=2)", 625, 24.0
"""The most hours that all flops should take on two cores."""
FLOPS = ("2c3c4c", "7c9cKc", "2c4c8d", "5c9cKd", "2c7dJh", "8c9dTh", "2c2d7c", "9c9dKh", "2c2d2h")
QUICK = FLOPS[::8]


def drawn_strategy(name: str) -> LiftedStrategy:
    """A strategy by buckets, both drawn at random."""
    game, dice = open_game(name, "states").definition, np.random.default_rng(0)
    rounds = []
    for end in game.board_ends:
        shape = (2, end) if end else (2,)
        table = dice.integers(BUCKETS, size=HandIndexer(shape, game.ranks, game.suits).size(), dtype=np.uint16)
        rounds.append(BucketTable(shape, BUCKETS, table))
    abstract = BucketGame.build(game, rounds, name=name)
    return LiftedStrategy(BucketStrategy.of_game(abstract, dice.random(abstract.num_entries)))


def flop_speed(outcome: Outcome, plan: Plan) -> None:
    """CPU seconds of flops, their rate, and the hours that all take on two cores."""
    from benchmarks.measures import Line

    small = drawn_strategy(SMALL)
    _Split(SplitGame(open_game(SMALL, "states")), (small, small), valued=False).below(0)  # compiled before the clock
    lifted, game = drawn_strategy(GAME), SplitGame(open_game(GAME, "states"))
    split, work = _Split(game, (lifted, lifted), valued=False), game.work()
    chosen = FLOPS if plan.name == "full" else QUICK

    def timed(flop: str) -> float:
        started = time.thread_time()
        split.below(game.first.texts.index(flop))
        return time.thread_time() - started

    with all_cores(), ThreadPoolExecutor(available_cores()) as pool:
        taken = dict(zip(chosen, pool.map(timed, chosen), strict=True))
    done = float(sum(work[game.first.texts.index(flop)] for flop in chosen))
    total = sum(taken.values()) / done * float(work.sum()) / 3600
    outcome.raw |= {f"limit hold'em, CPU seconds of {flop}, both seats": [spent] for flop, spent in taken.items()}
    for flop, spent in taken.items():
        outcome.lines.append(Line(f"exact evaluation in limit hold'em, flop {flop}", [spent], "CPU s"))
    outcome.lines.append(Line("flops in an hour of a core, mean over all 1,755", [len(work) / total], ""))
    outcome.lines.append(
        Line("all flops on two cores", [total / 2], "h", f"{total:.1f} CPU h", target=HOURS, at_least=False)
    )
