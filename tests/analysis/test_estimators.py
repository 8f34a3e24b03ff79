"""Estimators: unbiased at every information set, exact variances, the harness of Gibson 2014, section 5.3.2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis.estimators import (
    Estimator,
    SampledEstimator,
    counterfactual_values,
    sample_estimator,
    variance_along_cfr,
)
from counterplay.errors import GameError, SolverError
from counterplay.solvers import MCCFR_PRESETS, MccfrConfig
from counterplay.solvers.mccfr import mccfr_config
from tests.reference import mccfr as reference
from tests.reference.walks import Profile as Dicts
from tests.reference.walks import random_profile
from tests.solvers.test_mccfr import VARIANTS, every_variant, rows, twin


def probabilities(tree: cp.GameTree, profile: Dicts) -> np.ndarray:
    return rows(tree, profile)


def estimator(tree: cp.GameTree, variant: str) -> SampledEstimator:
    algorithm, settings = VARIANTS[variant]
    average = None
    if algorithm == "average-strategy-sampling":
        average = np.arange(tree.num_entries) % 7 * 3.0
    return SampledEstimator(tree, mccfr_config(algorithm, settings), average=average)


@pytest.mark.parametrize("game", ["kuhn", "leduc", "kuhn(players=3)", "goofspiel(cards=3)"])
def test_counterfactual_values(game: str) -> None:
    tree = cp.compile_game(game)
    profile = random_profile(cp.make(game), seed=1)
    for player in range(tree.players):
        low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
        found = counterfactual_values(tree, probabilities(tree, profile), player)
        exact = reference.counterfactual_values(cp.make(game), profile, player)
        values = [
            value
            for infoset in tree.infosets_of(player)
            for value in exact[player, tree.infoset_names[infoset]].values()
        ]
        np.testing.assert_allclose(found[low:high], values, rtol=0, atol=1e-12)
        assert not found[:low].any()
        assert not found[high:].any()


@every_variant
@pytest.mark.parametrize("game", ["kuhn", "leduc", "kuhn(players=3)"])
def test_every_variant_is_unbiased_at_every_information_set(game: str, variant: str) -> None:
    """Gibson 2014, propositions 5.1 and 5.2 and appendix C.4: all samples, to rounding."""
    tree = cp.compile_game(game)
    strategy = probabilities(tree, random_profile(cp.make(game), seed=2))
    for player in range(tree.players):
        mean, _ = estimator(tree, variant).moments(strategy, player)
        np.testing.assert_allclose(mean, counterfactual_values(tree, strategy, player), rtol=0, atol=1e-12)


@pytest.mark.parametrize("variant", [name for name in VARIANTS if "chance" not in name])
def test_moments_are_those_of_all_samples(variant: str) -> None:
    """Means and variances against the twin, which walks every sample of Kuhn."""
    tree = cp.compile_game("kuhn")
    profile = random_profile(cp.make("kuhn"), seed=4)
    algorithm, settings = VARIANTS[variant]
    solver = twin("kuhn", algorithm, settings, seed=0)
    ours = estimator(tree, variant)
    if algorithm == "average-strategy-sampling":
        entry = 0
        for infoset in range(tree.num_infosets):
            row = solver.average[int(tree.infoset_player[infoset]), tree.infoset_names[infoset]]
            for action in row:
                row[action] = float(ours.solver.average[entry])
                entry += 1

    def run(script: reference.Script) -> None:
        solver.chooser = script
        solver.estimate(0, profile)

    mean, second = np.zeros(tree.num_entries), np.zeros(tree.num_entries)
    for probability in reference.all_samples(run):
        values = rows(tree, solver.values)
        mean += probability * values
        second += probability * values**2
    found_mean, found_variance = ours.moments(probabilities(tree, profile), 0)
    np.testing.assert_allclose(found_mean, mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found_variance, second - mean**2, rtol=0, atol=1e-11)


@every_variant
@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_kernels_sample_what_the_enumeration_says(game: str, variant: str) -> None:
    tree = cp.compile_game(game)
    strategy = probabilities(tree, random_profile(cp.make(game), seed=5))
    ours = estimator(tree, variant)
    samples = 20_000 if game == "kuhn" or "outcome" in variant else 5000
    for player in range(2):
        found = sample_estimator(ours, strategy, player, samples=samples, seed=9)
        mean, variance = ours.moments(strategy, player)
        np.testing.assert_allclose(found.exact, mean[found.entries], rtol=0, atol=1e-12)
        error = found.standard_error if "chance" in variant else np.sqrt(variance[found.entries] / found.samples)
        assert (np.abs(found.bias) <= 5 * error + 1e-12).all()
        if "chance" not in variant and game == "kuhn":  # in Leduc rare samples decide
            total, exact = found.variance.sum(), variance[found.entries].sum()
            assert total == pytest.approx(exact, rel=0.1)


def test_values_of_information_sets() -> None:
    tree = cp.compile_game("kuhn")
    profile = cp.TabularStrategy.uniform(tree)
    found = sample_estimator(SampledEstimator(tree, "pure-cfr"), profile, samples=40_000)
    assert found.infosets == tuple(tree.infosets_of(0))
    error = np.sqrt(found.value_variance / found.samples)
    assert (np.abs(found.value_mean - found.value_exact) <= 5 * error).all()
    roots = [infoset for infoset in tree.infosets_of(0) if tree.infoset_names[infoset].endswith(":")]
    assert sum(found.value_exact[found.infosets.index(root)] for root in roots) == pytest.approx(1 / 8, abs=1e-12)


def test_an_estimator_of_ones_own() -> None:
    class Shifted(Estimator):
        """A biased one."""

        def __init__(self, tree: cp.GameTree) -> None:
            self.tree = tree
            self.inner = SampledEstimator(tree, "external-sampling")

        def sample(self, strategy: Any, player: int, entries: Any, samples: int, seed: int) -> Any:
            values, regrets = self.inner.sample(strategy, player, entries, samples, seed)
            return values + 0.25, regrets

    tree = cp.compile_game("kuhn")
    found = sample_estimator(Shifted(tree), cp.TabularStrategy.uniform(tree), samples=4000)
    assert (np.abs(found.bias - 0.25) <= 5 * found.standard_error).all()


def test_probing_varies_less_in_goofspiel() -> None:
    """The order of figure 5.3a (Gibson 2014), in a smaller game."""
    tree = cp.compile_game("goofspiel(cards=4)")
    names = ("mccfr-scheme", "probing")
    found = variance_along_cfr(tree, {name: SampledEstimator(tree, name) for name in names}, 30, 300)
    assert found["probing"].mean() < 0.7 * found["mccfr-scheme"].mean()
    again = variance_along_cfr(tree, {name: SampledEstimator(tree, name) for name in names}, 30, 300)
    assert all((found[name] == again[name]).all() for name in names)


def test_misuse_is_told() -> None:
    tree = cp.compile_game("kuhn")
    ours = SampledEstimator(tree, "external-sampling")
    with pytest.raises(SolverError, match="a variance needs at least 2 samples; got 1"):
        sample_estimator(ours, cp.TabularStrategy.uniform(tree), samples=1)
    with pytest.raises(SolverError, match="player 1 of kuhn has no information set 11"):
        sample_estimator(ours, cp.TabularStrategy.uniform(tree), infosets=[11])
    with pytest.raises(SolverError, match="an average of kuhn has 24 numbers"):
        SampledEstimator(tree, "average-strategy-sampling", average=np.zeros(3))
    forgetful = cp.compile_game("bluff(sides=2,recall=1)")
    with pytest.raises(GameError, match="exact moments need perfect recall"):
        SampledEstimator(forgetful, "external-sampling").moments(cp.TabularStrategy.uniform(forgetful).table, 0)
    assert {MccfrConfig(config.sampling, storage=config.storage) for config in MCCFR_PRESETS.values()}


def pure_strategies(tree: cp.GameTree, strategy: np.ndarray, player: int) -> list[tuple[float, np.ndarray]]:
    """All pure strategies of a player, each with its probability, in place of the player's own in a profile."""
    found = [(1.0, strategy)]
    for infoset in tree.infosets_of(player):
        low, high = tree.infoset_offset[infoset : infoset + 2]
        grown = []
        for chance, pure in found:
            for entry in range(low, high):
                row = pure.copy()
                row[low:high] = 0.0
                row[entry] = 1.0
                grown.append((chance * strategy[entry], row))
        found = grown
    return found


@pytest.mark.parametrize("algorithm", ["mccfr-scheme", "probing"])
@pytest.mark.parametrize("player", [0, 1])
def test_opponents_that_draw_once_at_an_information_set(algorithm: str, player: int) -> None:
    """A walk against a drawn pure strategy: moments are those of all pure strategies, weighed."""
    tree = cp.compile_game("goofspiel(cards=3,last_bid=false)")
    strategy = probabilities(tree, random_profile(cp.make("goofspiel(cards=3,last_bid=false)"), seed=2))
    once = SampledEstimator(tree, algorithm, pure_opponents=True)
    each = SampledEstimator(tree, algorithm)
    mean, second = np.zeros(tree.num_entries), np.zeros(tree.num_entries)
    for chance, pure in pure_strategies(tree, strategy, 1 - player):
        part, variance = each.moments(pure, player)
        mean += chance * part
        second += chance * (variance + part**2)
    found = sample_estimator(once, strategy, player, samples=40_000, seed=5)
    np.testing.assert_allclose(mean[found.entries], found.exact, rtol=0, atol=1e-12)
    assert (np.abs(found.bias) <= 5.0 * found.standard_error + 1e-12).all()
    exact = (second - mean**2)[found.entries]
    np.testing.assert_allclose(found.variance, exact, rtol=0, atol=0.03)
    if player == 0:  # below different bids the second bidder is met again at the same information set
        root = slice(0, 3)
        assert (exact[root] > each.moments(strategy, player)[1][found.entries][root] + 0.01).any()


def test_draws_once_are_for_walks_that_draw_opponents() -> None:
    with pytest.raises(SolverError, match="pure_opponents is for walks that sample"):
        SampledEstimator("kuhn", "pure-cfr", pure_opponents=True)
    with pytest.raises(SolverError, match="leave out pure_opponents"):
        SampledEstimator("kuhn", "probing", pure_opponents=True).moments(np.zeros(12), 0)
