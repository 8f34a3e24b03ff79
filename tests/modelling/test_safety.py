"""The bound on what choosing costs: kept after every hand, whatever the rule, the seed and the estimates are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from counterplay.errors import GameError
from counterplay.modelling.safety import SafetyBound
from counterplay.modelling.selection import RULES, make_rule

RISKS = [0.05, 0.3, 0.02, 1.5, 0.7]
EQUILIBRIUM = 0

SEEDS = [range(10), pytest.param(range(10, 100), marks=pytest.mark.slow)]


def bait(kind: str, numbers: np.random.Generator, playing: int) -> list[float]:
    """Estimates of a hand, as an opponent may bring them about who knows who plays."""
    if kind == "riskiest":
        return [10.0 * risk for risk in RISKS]
    if kind == "somebody else":
        return [-5.0 if member == playing else 5.0 * RISKS[member] for member in range(len(RISKS))]
    if kind == "anything":
        return numbers.normal(scale=10.0, size=len(RISKS)).tolist()
    return [math.nan if member != playing else -100.0 for member in range(len(RISKS))]


@pytest.mark.parametrize("seeds", SEEDS, ids=["10 seeds", "90 seeds"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["riskiest", "somebody else", "anything", "nothing known"])
def test_the_bound_is_kept_hand_by_hand(rule: str, kind: str, seeds: range) -> None:
    for seed in seeds:
        numbers = np.random.default_rng(seed)
        bound = float(numbers.choice([0.0, 0.4, 3.0, 20.0]))
        first = int(numbers.integers(len(RISKS))) if rule == "fixed" else EQUILIBRIUM
        chooser, safety = make_rule(rule, len(RISKS), seed, first), SafetyBound(RISKS, EQUILIBRIUM, bound)
        lost, alone = 0.0, False
        for _ in range(60):
            playing = safety.admit(chooser.choose())
            lost += RISKS[playing] - RISKS[EQUILIBRIUM]
            assert lost <= bound + 1e-12
            assert not alone or playing == EQUILIBRIUM  # for good
            alone = safety.reached
            chooser.update(bait(kind, numbers, playing))
        assert safety.spent <= bound


def test_what_is_admitted() -> None:
    safety = SafetyBound([0.1, 0.6, 0.0], 0, 1.2)
    assert [safety.admit(member) for member in (1, 2, 0, 1)] == [1, 2, 0, 1]
    assert safety.spent == pytest.approx(1.0)  # a member that is safer than the equilibrium earns nothing back
    assert not safety.reached
    assert [safety.admit(member) for member in (1, 2, 1)] == [0, 0, 0]
    assert safety.reached


@pytest.mark.parametrize("bound", [-1.0, math.nan, math.inf, True, "5"])
def test_wrong_bounds(bound: Any) -> None:
    with pytest.raises(GameError, match="amount of chips"):
        SafetyBound([0.1, 0.2], 0, bound)


def test_wrong_exploitabilities_and_states() -> None:
    with pytest.raises(GameError, match="at least 0"):
        SafetyBound([0.1, math.nan], 0, 1.0)
    with pytest.raises(GameError, match="cannot have been spent"):
        SafetyBound([0.1, 0.2], 0, 1.0).restore(1.5, reached=False)
