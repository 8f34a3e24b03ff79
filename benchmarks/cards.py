"""Speed of ranking hands and of numbering them up to a permutation of suits, on one core, random hands."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import median, rates_in_turn
from counterplay.poker.evaluator import count_hands, rank_hands
from counterplay.poker.isomorphism import HandIndexer

HANDS = 1_000_000
SHAPE = (2, 3, 1, 1)
RANK_TARGET = 50e6
INDEX_TARGET = 5e6
ALL_HANDS = 133_784_560


def random_hands(count: int, seed: int = 0) -> Any:
    """Hands of seven different cards, (count, 7) uint8."""
    drawn = np.random.default_rng(seed).integers(0, 52, (2 * count, 7), dtype=np.uint8)
    ordered = np.sort(drawn, axis=1)
    return np.ascontiguousarray(drawn[(ordered[:, 1:] != ordered[:, :-1]).all(axis=1)][:count])


def again(work: Callable[[], object], times: int) -> None:
    for _ in range(times):
        work()


def rate(work: Callable[[], object], items: int, seconds: float, turns: int) -> list[float]:
    """Items per CPU second in each turn; the first call, which compiles, is not timed."""
    work()
    return [found * items for found in rates_in_turn({"": functools.partial(again, work)}, seconds, turns)[""]]


def measure_cards(seconds: float, turns: int) -> list[tuple[str, list[float], str, float | None]]:
    """What is measured, the rates of all turns, the rate of the independent evaluator if it is there, the target."""
    hands = random_hands(HANDS)
    holdem = HandIndexer(SHAPE)
    numbers = holdem.indices(hands)
    name = ",".join(map(str, SHAPE))
    return [
        ("7-card hands ranked", rate(lambda: rank_hands(hands), HANDS, seconds, turns), phevaluator_rate(hands),
         RANK_TARGET),
        ("all 7-card hands ranked in order", rate(lambda: count_hands(7), ALL_HANDS, seconds, turns), "", None),
        (f"hands numbered, ({name})", rate(lambda: holdem.indices(hands), HANDS, seconds, turns), "", INDEX_TARGET),
        (f"hands from numbers, ({name})", rate(lambda: holdem.hands(numbers), HANDS, seconds, turns), "", None),
    ]  # fmt: skip


def phevaluator_rate(hands: Any) -> str:
    """Hands per second that phevaluator ranks when it is called from Python, one at a time as it can be."""
    try:
        from phevaluator import evaluate_cards
    except ImportError:
        return ""
    rows = hands[:20_000].tolist()
    found = rate(lambda: [evaluate_cards(*row) for row in rows], len(rows), 0.1, 3)
    return f"phevaluator, call by call {median(found):,.0f}/s"
