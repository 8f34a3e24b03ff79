"""Hands that are played and counted at once: against the plain twin, and against the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterplay.abstraction.cards.bucket_games import infoset_places
from counterplay.errors import GameError, StrategyError
from counterplay.forms import open_game
from counterplay.modelling import FrequencyModel, observe_play
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.progress import Progress
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL
from tests.poker.test_bucket_game import LEDUC, remembering
from tests.reference.matches import play_deal

KUHN = open_game("kuhn", "history")


@pytest.mark.parametrize("against", ["probe", "self"])
def test_counts_are_those_of_the_twin(against: str) -> None:
    opponent = TabularStrategy.random(KUHN, 5)
    probe = TRIVIAL["50/50"].tabular(KUHN)
    found = observe_play(KUHN, opponent, 61, against, seed=9)
    rules = open_game("kuhn", "states")
    tables = [{(p, name): row for p, name, row in one.infosets()} for one in (opponent, probe)]
    noted: list[tuple[int, int, str, str]] = []
    seatings = [([0, 1], 31), ([1, 0], 30)] if against == "probe" else [([0, 0], 61)]
    for number, (seating, hands) in enumerate(seatings):
        chance, action = np.random.SeedSequence((9, number)).generate_state(2, np.uint64).tolist()
        for index in range(hands):
            play_deal(rules, tables, [seating], (chance, action), index, noted)
    counts = np.zeros(KUHN.num_entries, np.int64)
    for agent, player, infoset, action_name in noted:
        counts[KUHN.entry(player, infoset, action_name)] += agent == 0
    np.testing.assert_array_equal(found.counts, counts)
    assert found.decisions == sum(agent == 0 for agent, *_ in noted)
    assert found.hands == 61


def expected_decisions(tree: Any, own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How often each action of a player who sits in both seats in turn comes up in a hand, by walking all histories."""
    total = np.zeros(tree.num_entries)
    for seat in range(2):
        reach = np.ones(tree.num_histories)
        for node in range(1, tree.num_histories):
            before = int(tree.parent[node])
            move = node - int(tree.first_child[before])
            player = int(tree.player[before])
            if player < 0:
                reach[node] = reach[before] * tree.chance_prob[node]
            else:
                entry = int(tree.infoset_offset[tree.infoset[before]]) + move
                reach[node] = reach[before] * (own if player == seat else other)[entry]
                total[entry] += reach[node] if player == seat else 0.0
    return total / 2


def test_bucket_games_are_counted_as_their_trees_of_histories() -> None:
    """Every count is within 6 deviations of what it is on average, against Probe, who reaches everything."""
    game = BucketGame.build(LEDUC, remembering(LEDUC), name="leduc_limit_2p")
    tree = open_game("leduc_limit_2p", "history")
    weights = np.random.default_rng(2).exponential(size=game.num_entries)
    opponent, hands = BucketStrategy.of_game(game, weights), 40_000
    found = observe_play(game, opponent, hands, seed=1)
    real = expected_decisions(tree, opponent.lifted(tree).table, TRIVIAL["50/50"].tabular(tree).table)
    mean = np.zeros(game.num_entries)
    nodes, buckets = infoset_places(tree, game)
    for infoset, (node, bucket) in enumerate(zip(nodes, buckets, strict=True)):
        first, last = tree.infoset_offset[infoset : infoset + 2]
        mean[game.entry(node, bucket) : game.entry(node, bucket) + last - first] += hands * real[first:last]
    assert np.all(np.abs(found.counts - mean) <= 6 * np.sqrt(mean) + 1e-9)
    assert abs(found.decisions - mean.sum()) < 6 * np.sqrt(4 * hands)


def test_frequencies_converge_to_the_strategy() -> None:
    """Wherever the opponent comes against Probe, the error of the model falls as 1 / sqrt(n)."""
    tree = open_game("leduc", "history")
    opponent = TabularStrategy.random(tree, 4)
    errors = []
    for hands in (1_000, 16_000, 256_000):
        seen = observe_play(tree, opponent, hands)
        table = FrequencyModel(seen).table(tree)[0]
        weight = observe_play(tree, opponent, 256_000, seed=1).counts / 256_000
        errors.append(float((weight * np.abs(table - opponent.table)).sum()))
        off = np.abs(table - opponent.table)[seen.seen > 0]
        assert np.all(off <= 6 * np.sqrt(0.25 / seen.seen[seen.seen > 0]) + 1e-12)
    assert errors[1] < errors[0] / 2.5
    assert errors[2] < errors[1] / 2.5


def test_more_hands_contain_fewer() -> None:
    few, many = (observe_play(KUHN, "50/50", hands, "always-call", seed=3) for hands in (100, 300))
    assert np.all(few.counts <= many.counts)
    np.testing.assert_array_equal(few.counts, observe_play(KUHN, "50/50", 100, "always-call", seed=3).counts)
    assert np.any(few.counts != observe_play(KUHN, "50/50", 100, "always-call", seed=4).counts)


def test_progress_and_interruption() -> None:
    steps: list[Progress] = []
    observe_play(KUHN, "uniform", 30_000, progress=steps.append)
    assert [step.iterations for step in steps] == [8192, 15000, 23192, 30000]
    assert steps[-1].seconds_left == 0.0

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        observe_play(KUHN, "uniform", 30_000, progress=stop)


def test_bad_requests() -> None:
    with pytest.raises(GameError, match="at least 0; got -1"):
        observe_play(KUHN, "uniform", -1)
    with pytest.raises(StrategyError, match="did you mean 'uniform'"):
        observe_play(KUHN, "unifrm", 10)
    with pytest.raises(StrategyError, match="of leduc does not fit kuhn"):
        observe_play(KUHN, TabularStrategy.uniform("leduc"), 10)
    assert observe_play(KUHN, "uniform", 0).decisions == 0
