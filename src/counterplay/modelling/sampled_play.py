"""Observations without logs: hands of two strategies that are played and counted at once.

Johanson 2016, sections 6.3.2 and 6.4.  Against *Probe*, which calls and raises with equal probability and never folds,
an opponent comes to every information set that it can reach at all; in *self-play* only to those that it likes.
All cards are known.  The opponent sits in each seat equally often.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.kernels.history.matches import play_deals
from counterplay.kernels.walks import random_state, walk_arrays
from counterplay.modelling.models import policy_table
from counterplay.modelling.observations import Form, Observations
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.deal_sampler import DealSampler
from counterplay.runtime.memory import check_memory
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.seeds import check_seed
from counterplay.runtime.suggestions import find_name, suggest_arguments
from counterplay.strategy.strategy import Strategy

PROBE = "50/50"
"""The opponent that is called Probe."""

SELF = "self"
"""The other players are the opponent too."""

BATCH = 1 << 13
"""Hands that are played at a time."""


@suggest_arguments
def observe_play(
    form: Form, opponent: Strategy | str, hands: int, against: Strategy | str = "probe", seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Observations:  # fmt: skip
    """Play hands of an opponent, and count what it does in all seats.

    Parameters
    ----------
    form : GameTree or BucketGame
        The game, as ``open_game`` opens it.
    opponent : Strategy or str
        Whom to observe: a strategy in this form, or a ready-made opponent.
    hands : int
        How many hands.
    against : Strategy or str
        Who plays the other seats: ``probe``, ``self``, a strategy, or a ready-made opponent.
    seed : int
        Of the cards and of all actions.  The hands of a smaller number are among those of a larger one.
    progress : callable, optional
        Called with a ``Progress`` after some hands.

    Raises
    ------
    StrategyError
        If a strategy is of another game or abstraction.
    GameError
        If the number of hands is negative.
    """
    if isinstance(hands, bool) or not isinstance(hands, int) or hands < 0:
        raise GameError(f"a number of hands is an integer of at least 0; got {hands!r}")
    seed = check_seed(seed, GameError)
    own = policy_table(opponent, form)
    word = find_name(against, ("probe", SELF)) if isinstance(against, str) else None
    other = own if word == SELF else policy_table(PROBE if word == "probe" else against, form)
    check_memory("strategies of all seats", 8 * form.num_entries * (form.players + 1), None, "use a smaller game")
    strategies = np.concatenate([own, *[other] * (form.players - 1)])
    counts = np.zeros(form.num_entries, np.int64)
    players, started, done = form.players, time.perf_counter(), 0
    # agent 0 is the opponent; it sits in position k in a part of the hands, or everywhere
    turns = [[(p - k) % players for p in range(players)] for k in range(players)] if word != SELF else [[0] * players]
    shares = [hands // len(turns) + (k < hands % len(turns)) for k in range(len(turns))]
    for number, (seating, share) in enumerate(zip(turns, shares, strict=True)):
        for played in _played(form, strategies, seating, share, (seed, number), counts):
            done += played
            if progress is not None:
                spent = time.perf_counter() - started
                left = spent * (hands - done) / done
                progress(Progress(done, spent, total=hands, seconds_left=left, stage="hands"))
    name = opponent if isinstance(opponent, str) else str(opponent.provenance)
    return Observations(form, counts, name, hands)


def _played(
    form: Form, strategies: NDArray[np.float64], seating: Sequence[int], hands: int, seeds: tuple[int, int],
    counts: NDArray[np.int64],
) -> Iterator[int]:  # fmt: skip
    """Play hands in one seating and add what agent 0 does to the counts; after each batch, its size."""
    chance, action = np.random.SeedSequence(seeds).generate_state(2, np.uint64)
    state = random_state(int(chance), 1)[0]
    table = np.array([seating], np.int64)
    sampler = DealSampler(form, min(hands, BATCH)) if isinstance(form, BucketGame) else None
    if isinstance(form, BucketGame):
        walks, dice = form.walks(), np.empty(0)
    else:
        walks, dice = walk_arrays(form), np.empty(int(form.depth.max(initial=0)) + 1)
    for first in range(0, hands, BATCH):
        some = min(BATCH, hands - first)
        deals = None if sampler is None else sampler.deal(state, some)
        scores = np.empty((some, form.players))
        play_deals(walks, deals, strategies, table, chance, action, first, dice, scores, 0, counts, None)
        yield some
