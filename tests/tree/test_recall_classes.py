"""The classes of imperfect recall: every checker against the definition, on random games."""

from __future__ import annotations

import functools
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterplay as cp
from counterplay.game.game import Game
from counterplay.tree import GameTree, PlayerRecall, recall_report, split_to_a_loss
from counterplay.tree.recall.chance_relaxed import bottleneck, pair_errors
from counterplay.tree.recall.leaf_matching import Comparison, compare
from counterplay.tree.recall.nearly_well_formed import (
    find_bijections,
    verify_nearly_well_formed,
)
from counterplay.tree.recall.well_formed import best_scale
from tests.reference import recall as twin
from tests.reference.recall_games import random_game

SEEDS = range(200)
in_blocks = pytest.mark.parametrize("seeds", [range(start, start + 25) for start in range(0, 200, 25)], ids=str)


@functools.cache
def judged(seed: int) -> tuple[Game, GameTree, tuple[PlayerRecall, ...]]:
    game = random_game(seed)
    tree = cp.compile_game(game)
    return game, tree, recall_report(tree).players


def classes_of(one: PlayerRecall) -> dict[str, bool]:
    fields = ("perfect", "a_loss", "well_formed", "skew", "chance_relaxed", "nearly")
    return {"absent": one.absent_minded is not None} | {field: getattr(one, field).holds for field in fields}


def part_at(comparison: Comparison, history: tuple[str, ...]) -> int:
    """The part in which a history lies."""
    return int(comparison.refinement.part[node_at(comparison.refinement.tree, history)])


def node_at(tree: GameTree, history: tuple[str, ...]) -> int:
    node = 0
    for label in history:
        children = range(int(tree.first_child[node]), int(tree.first_child[node]) + int(tree.num_children[node]))
        node = next(child for child in children if tree.history(child)[-1] == label)
    return node


# --- random games --------------------------------------------------------------------------------------------------


@in_blocks
def test_verdicts_agree_with_the_definitions(seeds: range) -> None:
    for seed in seeds:
        game, _, players = judged(seed)
        for player, one in enumerate(players):
            skew = twin.is_skew(game, player)
            assert classes_of(one) == {
                "absent": twin.is_absent_minded(game, player),
                "perfect": twin.is_perfect(game, player),
                "a_loss": twin.is_a_loss(game, player),
                "well_formed": twin.is_well_formed(game, player),
                "skew": skew is not None,
                "chance_relaxed": twin.is_chance_relaxed(game, player),
                "nearly": twin.is_nearly(game, player),
            }
            if skew is not None:
                assert one.skew.delta == pytest.approx(float(skew[0]), abs=1e-9)
                assert one.skew.error == pytest.approx(float(skew[1]), abs=1e-9)
                assert one.skew.exact
            if one.well_formed.holds:
                constant = one.well_formed.K
                assert constant == pytest.approx(float(twin.largest_factors(game, player)))
            assert one.nearly.conclusive


def test_every_class_occurs_among_the_random_games() -> None:
    seen: Counter[tuple[str, ...]] = Counter()
    for seed in SEEDS:
        for one in judged(seed)[2]:
            seen[tuple(name for name, holds in classes_of(one).items() if holds and not one.perfect.holds)] += 1
    with_class = Counter(name for names, count in seen.items() for name in names for _ in range(count))
    assert min(with_class[name] for name in ("absent", "a_loss", "well_formed", "skew", "chance_relaxed")) >= 20
    assert with_class["nearly"] >= with_class["well_formed"] + 5
    assert with_class["skew"] >= with_class["well_formed"] + 5
    assert with_class["chance_relaxed"] >= with_class["skew"] + 3
    assert seen["well_formed", "skew", "chance_relaxed", "nearly"] >= 10  # and not A-loss: chance makes it possible
    assert seen["a_loss",] >= 3
    assert seen[()] >= 3


@in_blocks
def test_inclusions(seeds: range) -> None:
    """Perfect recall is in all classes, WFG in SWFG in CRSWFG and WFG in nearly (Čermák 2018, section 2.2.3)."""
    for seed in seeds:
        for one in judged(seed)[2]:
            if one.perfect.holds:
                assert one.a_loss.holds
                assert one.well_formed.holds
                assert one.recall == "perfect"
            if one.well_formed.holds:
                assert one.skew.holds
                assert one.skew.delta == 0.0
                assert one.nearly.holds
            if one.skew.holds:
                assert one.chance_relaxed.holds
            if one.absent_minded is not None:
                assert one.classes == ()


def test_without_chance_the_well_formed_have_a_loss_recall() -> None:
    """Čermák 2018, lemma 4.1.1."""
    judged_without = [judged(seed) for seed in SEEDS if not judged(seed)[1].facts.has_chance]
    relaxed = [one for _, _, players in judged_without for one in players if one.chance_relaxed.holds]
    assert sum(not one.perfect.holds for one in relaxed) >= 20
    assert all(one.a_loss.holds for one in relaxed)


@in_blocks
def test_witnesses_show_what_they_say(seeds: range) -> None:
    for seed in seeds:
        game, tree, players = judged(seed)
        leaves = {leaf.history: leaf for leaf in twin.leaves(game)}
        for player, one in enumerate(players):
            for verdict in (one.perfect, one.a_loss, one.well_formed, one.skew, one.chance_relaxed, one.nearly):
                if verdict.holds:
                    assert verdict.witness is None
                    continue
                witness = verdict.witness
                assert witness is not None
                ends = [node_at(tree, history) for history in (witness.first, witness.second)]
                assert [tree.infoset_names[tree.infoset[node]] for node in ends] == [witness.infoset] * 2
                assert {int(tree.player[node]) for node in ends} == {player}
                pasts = [past_of(leaves, history, player) for history in (witness.first, witness.second)]
                assert pasts[0] != pasts[1]
                if witness.condition == "absent-mindedness":
                    assert witness.second[: len(witness.first)] == witness.first
                elif witness.condition == "A-loss recall":
                    before = dict(pasts[0])
                    assert all(before.get(key, action) == action for key, action in pasts[1])
                elif witness.condition != "perfect recall":
                    assert witness.leaf in leaves
                    assert set(witness.condition.split(",")) <= {"(i)", "(ii)", "(iii)", "(iv)", "bijection"}


def past_of(leaves: dict[tuple[str, ...], twin.Leaf], history: tuple[str, ...], player: int) -> twin.Pairs:
    leaf = next(leaf for labels, leaf in leaves.items() if labels[: len(history)] == history)
    return leaf.past(player, len(history))


@in_blocks
def test_errors_of_chance_relaxed_pairs(seeds: range) -> None:
    """k gives the least ε^R that any matching allows, and the matching is the best for that k."""
    for seed in seeds:
        game, tree, players = judged(seed)
        for player, one in enumerate(players):
            if not one.chance_relaxed.holds or one.perfect.holds:
                continue
            comparison = compare(tree, player)
            for first, second in twin.ordered_pairs(game, player):
                here, there = (
                    part_at(comparison, leaf.history[:place])
                    for leaf, place in (twin.below(game, player, part)[0] for part in (first, second))
                )
                errors = pair_errors(comparison, here, there)
                assert errors is not None
                k = Fraction(errors.k).limit_denominator(10**6)
                reward, combined = twin.least_errors(game, player, first, second, k)
                assert errors.combined == pytest.approx(float(combined), abs=1e-9)
                assert errors.reward >= float(reward) - 1e-9
                assert errors.exact


@in_blocks
def test_bijections_found_are_bijections(seeds: range) -> None:
    for seed in seeds:
        _, tree, players = judged(seed)
        for player, one in enumerate(players):
            if one.nearly.holds and not one.perfect.holds:
                comparison = compare(tree, player)
                found = functools.partial(find_bijections, comparison)
                assert verify_nearly_well_formed(comparison, found).holds  # type: ignore[arg-type]


@in_blocks
def test_split_to_a_loss(seeds: range) -> None:
    for seed in seeds:
        _, tree, players = judged(seed)
        for player, one in enumerate(players):
            split = split_to_a_loss(tree, player)
            assert split.recall[player] in ("perfect", "a-loss")
            assert np.array_equal(split.parent, tree.parent)
            own = tree.player == player
            pairs = set(zip(split.infoset[own].tolist(), tree.infoset[own].tolist(), strict=True))
            assert len(pairs) == len(split.infosets_of(player))  # each part lies in one set
            others = (tree.player >= 0) & ~own
            names = [np.array(some.infoset_names)[some.infoset[others]].tolist() for some in (split, tree)]
            assert names[0] == names[1]
            if one.a_loss.holds:
                assert split.digest == tree.digest


# --- the parts of the algorithms -----------------------------------------------------------------------------------

NUMBERS = st.integers(-4, 4)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_best_scale_is_the_exact_corner(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array([pair[side] for pair in pairs], float) for side in (0, 1))
    k, gap = best_scale(first, second)
    assert k >= 0.0
    assert gap == pytest.approx(float(twin.least_gap([(Fraction(a), Fraction(b)) for a, b in pairs])), abs=1e-12)
    assert np.abs(first - k * second).max() == pytest.approx(gap, abs=1e-12)


@given(st.integers(1, 5).flatmap(lambda n: st.lists(NUMBERS, min_size=n * n, max_size=n * n)))
def test_bottleneck_assignment(costs: list[int]) -> None:
    size = int(len(costs) ** 0.5)
    matrix = np.array(costs, float).reshape(size, size)
    chosen = bottleneck(matrix)
    assert sorted(chosen.tolist()) == list(range(size))
    best = min(max(matrix[row, column] for row, column in enumerate(way)) for way in permutations(range(size)))
    assert matrix[np.arange(size), chosen].max() == best


@in_blocks
def test_short_and_long_form_agree(seeds: range) -> None:
    for seed in seeds:
        _, tree, players = judged(seed)
        assert tuple(one.recall for one in players) == tree.recall
