"""Rules of selection: choice by choice as their slow twins, within their bounds of regret, and resumed bit for bit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from counterplay.errors import GameError, StrategyError
from counterplay.modelling.selection import DRAWS, RULES, exponential_bound, make_rule, ucb1_bound
from tests.reference import selection as twin

Row = list[float | None]

TWINS: dict[str, Callable[[list[Row], int, int, int, dict[str, Any]], int]] = {
    "fixed": lambda rows, members, first, seed, settings: first,
    "greedy": lambda rows, members, first, seed, settings: twin.greedy(rows, members, first, **settings),
    "ucb1": lambda rows, members, first, seed, settings: twin.ucb1(rows, members, first, **settings),
    "thompson": lambda rows, members, first, seed, settings: twin.thompson(rows, members, first, seed=seed, **settings),
    "exponential": lambda rows, members, first, seed, settings: twin.exponential(rows, members, seed=seed, **settings),
}
SETTINGS = [
    ("fixed", {}), ("greedy", {"window": 0}), ("greedy", {"window": 7}), ("ucb1", {"scale": 1.0}),
    ("ucb1", {"scale": None}), ("thompson", {"scale": 2.0}), ("thompson", {"scale": None}),
    ("exponential", {"scale": 3.0}),
]  # fmt: skip
EVERY = pytest.mark.parametrize(("name", "settings"), SETTINGS)


def feed(rule: Any, row: Row) -> None:
    rule.update([math.nan if one is None else one for one in row])


def test_all_rules_have_twins() -> None:
    assert set(TWINS) == set(RULES)


@EVERY
@pytest.mark.parametrize("hidden", [False, True], ids=["all estimated", "some estimated"])
def test_choices_equal_the_twin(name: str, settings: dict[str, Any], hidden: bool) -> None:
    numbers = np.random.default_rng(len(name))
    rule, rows = make_rule(name, 3, 5, 1, **settings), []
    for _ in range(80):
        assert rule.choose() == rule.choose() == TWINS[name](rows, 3, 1, 5, settings)
        values = numbers.integers(-3, 4, 3).astype(float).tolist()
        row: Row = [None if hidden and numbers.random() < 0.5 else value for value in values]
        feed(rule, row)
        rows.append(row)


@EVERY
@pytest.mark.parametrize("hidden", [False, True], ids=["all estimated", "some estimated"])
def test_shares_are_the_probabilities_of_the_choice(name: str, settings: dict[str, Any], hidden: bool) -> None:
    numbers = np.random.default_rng(len(name))
    rule, rows = make_rule(name, 3, 5, 1, **settings), []
    for _ in range(25):
        found = rule.shares()
        if name == "thompson":
            np.testing.assert_array_equal(found, twin.thompson_shares(rows, 3, 1, seed=5, draws=DRAWS, **settings))
        elif name == "exponential":
            np.testing.assert_allclose(found, twin.exponential_weights(rows, 3, **settings), rtol=1e-12)
        else:
            np.testing.assert_array_equal(found, np.arange(3) == rule.choose())
        assert found[rule.choose()] > 0.0
        values = numbers.integers(-3, 4, 3).astype(float).tolist()
        row: Row = [None if hidden and numbers.random() < 0.5 else value for value in values]
        feed(rule, row)
        rows.append(row)


@pytest.mark.parametrize("name", ["thompson", "exponential"])
def test_drawn_as_often_as_the_shares_say(name: str) -> None:
    """Whatever the shares, the choice falls on the members with these probabilities: summed over seeds, 5 sigma."""
    seeds, chosen, expected, variance = 3000, np.zeros(3), np.zeros(3), np.zeros(3)
    for seed in range(seeds):
        rule = make_rule(name, 3, seed, scale=2.0)
        for row in ([0.0, 1.0, 0.5], [1.0, 0.0, 0.7], [-1.0, 0.5, 0.0]):
            rule.update(row)
        shares = rule.shares()
        chosen[rule.choose()] += 1
        expected += shares
        variance += shares * (1.0 - shares)
    assert (np.abs(chosen - expected) < 5.0 * np.sqrt(variance)).all()


@EVERY
def test_resumed_rules_choose_alike(name: str, settings: dict[str, Any]) -> None:
    numbers = np.random.default_rng(3)
    rule = make_rule(name, 4, 2, **settings)
    for _ in range(20):
        rule.update(numbers.normal(size=4))
    again = make_rule(name, 4, 2, **settings)
    again.restore(json.loads(json.dumps(rule.state())))
    for _ in range(20):
        row = numbers.normal(size=4)
        assert again.choose() == rule.choose()
        rule.update(row)
        again.update(row)
    assert again.state() == rule.state()


def bandit_regret(name: str, means: list[float], hands: int, seed: int) -> float:
    """What a rule loses on average to the best of some members who win 0 or 1, where only what is played is seen."""
    rule, numbers = make_rule(name, len(means), seed, scale=1.0), np.random.default_rng([7, seed])
    lost = 0.0
    for _ in range(hands):
        chosen = rule.choose()
        lost += max(means) - means[chosen]
        row = np.full(len(means), math.nan)
        row[chosen] = numbers.random() < means[chosen]
        rule.update(row)
    return lost


@pytest.mark.parametrize("means", [[0.2, 0.8], [0.5, 0.6, 0.4], [0.9, 0.1, 0.1, 0.5]])
def test_ucb1_keeps_its_bound(means: list[float]) -> None:
    """Theorem 1: on average; every single run is below it too, by far."""
    hands = 600
    lost = [bandit_regret("ucb1", means, hands, seed) for seed in range(6)]
    assert max(lost) <= ucb1_bound([max(means) - one for one in means], hands)
    assert np.mean(lost) < hands * (max(means) - np.mean(means))  # better than playing anybody


def sequence(kind: str, hands: int, members: int) -> np.ndarray:
    """Gains in [0, 1] that punish rules which follow the leader, and others."""
    rows = np.zeros((hands, members))
    if kind == "alternating":
        rows[::2, 0], rows[1::2, 1] = 1.0, 1.0
        rows[0, 0] = 0.5
    elif kind == "changing":
        for member in range(members):
            rows[member * hands // members : (member + 1) * hands // members, member] = 1.0
    else:
        rows[:] = np.random.default_rng(1).random((hands, members))
    return rows


@pytest.mark.parametrize("kind", ["alternating", "changing", "random", "adversarial"])
@pytest.mark.parametrize("members", [2, 5])
def test_exponential_weights_keep_their_bound(kind: str, members: int) -> None:
    """Theorem 2.3 holds for the expectation over the draws, on any sequence, also one that looks at the weights."""
    hands, won = 500, 0.0
    rule, gains = make_rule("exponential", members, scale=1.0), sequence(kind, hands, members)
    for number in range(hands):
        shares = rule.scores()
        if number < 40:  # the twin takes long
            expected = twin.exponential_weights(gains[:number].tolist(), members, 1.0)
            np.testing.assert_allclose(shares, expected, rtol=1e-12)
        if kind == "adversarial":
            gains[number] = shares < shares.max()
        won += float(shares @ gains[number])
        rule.update(gains[number])
        assert gains[: number + 1].sum(axis=0).max() - won <= exponential_bound(members, number + 1)


def test_following_the_leader_has_no_such_bound() -> None:
    """The sequence on which greedy loses half a gain a hand, so that the test above is one."""
    rule, gains, won = make_rule("greedy", 2, window=0), sequence("alternating", 500, 2), 0.0
    for row in gains:
        won += row[rule.choose()]
        rule.update(row)
    assert gains.sum(axis=0).max() - won > 4 * exponential_bound(2, 500)


def test_a_window_forgets() -> None:
    for window, best in ((0, 0), (10, 1)):
        rule = make_rule("greedy", 2, window=window)
        for number in range(110):
            rule.update([1.0, 0.0] if number < 100 else [0.0, 1.0])
        assert rule.choose() == best


@pytest.mark.parametrize(
    ("arguments", "settings", "words"),
    [
        (("ucb", 2), {}, "ucb1"),
        (("greedy", 0), {}, "at least 1 member"),
        (("greedy", 2, 0, 2), {}, "members are 0 to 1"),
        (("greedy", 2), {"window": -1}, "got -1"),
        (("greedy", 2), {"window": True}, "got True"),
        (("greedy", 2), {"scale": 1.0}, "it takes window"),
        (("fixed", 2), {"window": 1}, "no settings"),
        (("ucb1", 2), {"scale": 0.0}, "above 0"),
        (("ucb1", 2), {"scale": math.inf}, "above 0"),
        (("thompson", 2, -1), {}, "seed must be"),
    ],
)
def test_wrong_settings(arguments: tuple[Any, ...], settings: dict[str, Any], words: str) -> None:
    with pytest.raises(GameError, match=words):
        make_rule(*arguments, **settings)


@pytest.mark.parametrize("row", [[1.0], [1.0, math.inf], [[1.0, 2.0]]])
def test_wrong_estimates(row: Any) -> None:
    with pytest.raises(GameError, match="for each of 2 members"):
        make_rule("greedy", 2).update(row)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rule": "ucb1"}, "another choice"),
        ({"settings": {"seed": 1, "first": 0, "window": 5}}, "another choice"),
        ({"hands": "3"}, "an integer"),
        ({"hands": 0}, "damaged"),
        ({"sums": [0.0]}, "damaged"),
        ({"sums": [0.0, math.nan]}, "damaged"),
        ({"squares": [0.0, -1.0]}, "damaged"),
        ({"recent": [[0.0, 1.0]] * 6}, "damaged"),
        ({"recent": [[0.0, "1"]]}, "recent"),
    ],
)
def test_damaged_states(change: dict[str, Any], words: str) -> None:
    rule = make_rule("greedy", 2, window=5)
    rule.update([1.0, 2.0])
    with pytest.raises(StrategyError, match=words):
        make_rule("greedy", 2, window=5).restore({**rule.state(), **change})
