"""Estimates of the exploitability from some of the first deals, in games whose exact one is known."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.evaluation.first_deal_sample import estimate, inclusion, visiting_order
from counterplay.evaluation.lifted_buckets import LiftedStrategy
from counterplay.evaluation.split_evaluation import SplitGame, _Split
from counterplay.forms import open_game, poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.strategy.bucket_strategy import BucketStrategy


@dataclasses.dataclass
class Walked:
    """All first deals of a game, walked for both best responses."""

    split: _Split
    found: np.ndarray
    exact: float

    def covered(self, size: int, seeds: int) -> tuple[float, float, float]:
        """How often the interval of a sample holds the exact value; the mean errors with and without optimism."""
        probability, hits, error, plain = self.split.game.probabilities, 0, 0.0, 0.0
        for seed in range(seeds):
            order = visiting_order(probability, seed)[:size]
            made = estimate(self.split.trunks, self.found[order], probability, order)
            hits += abs(made.exploitability - self.exact) <= made.half
            error += (made.exploitability - self.exact) / seeds
            plain += (made.exploitability + made.optimism - self.exact) / seeds
        return hits / seeds, error, plain


@functools.cache
def walked(name: str, deck: tuple[int, int], recipe: str) -> Walked:
    """A strategy by buckets that prefers to call, and to raise with good hands."""
    shape = (2, *poker_definition(name).board_cards[1:])
    cards = build_cards(deck, shape, parse_recipe(recipe, deck, shape))
    abstract = BucketGame.build(poker_definition(name), cards.rounds, name=name)
    weights = np.random.default_rng(3).random(abstract.num_entries) ** 3
    lifted = LiftedStrategy(BucketStrategy.of_game(abstract, weights))
    split = _Split(SplitGame(open_game(name, "states")), (lifted, lifted), valued=False)
    found = np.stack([split.below(number) for number in range(len(split.game.first))])
    return Walked(split, found, sum(split.root_values(found.sum(axis=0))) / 2)


def small() -> Walked:
    return walked("holdem_2_1(ranks=5,suits=4)", (5, 4), "PS4/PS4")


def test_the_order_draws_deals_by_how_many_they_stand_for() -> None:
    probability = np.array([8, 4, 4, 2, 1, 1]) / 20
    orders = np.array([visiting_order(probability, seed) for seed in range(4000)])
    first = np.bincount(orders[:, 0], minlength=6) / len(orders)
    assert first == pytest.approx(probability, abs=0.02)
    second = np.bincount(orders[orders[:, 0] == 0, 1], minlength=6)
    assert second[1:] / second.sum() == pytest.approx(probability[1:] / 0.6, abs=0.03)
    assert np.array_equal(np.sort(orders, axis=1), np.tile(np.arange(6), (len(orders), 1)))
    assert np.array_equal(visiting_order(probability, 7), orders[7])


def test_inclusion() -> None:
    probability = np.repeat([3.0, 1.0], [40, 60]) / 180
    for size in (1, 20, 99):
        share = inclusion(probability, size)
        assert share.sum() == pytest.approx(size)
        drawn = np.zeros(100)
        for seed in range(1000):
            drawn[visiting_order(probability, seed)[:size]] += 1e-3
        assert drawn[:40].mean() == pytest.approx(share[0], abs=0.01)
    assert np.array_equal(inclusion(probability, 100), np.ones(100))


@pytest.mark.parametrize("seed", [0, 5])
def test_all_deals_give_the_exact_value_and_no_interval(seed: int) -> None:
    game = small()
    probability = game.split.game.probabilities
    order = visiting_order(probability, seed)
    made = estimate(game.split.trunks, game.found[order], probability, order)
    assert made.exploitability == pytest.approx(game.exact, abs=1e-12)
    assert made.half == pytest.approx(0.0, abs=1e-12)
    assert made.optimism == pytest.approx(0.0, abs=1e-12)
    widths = [
        estimate(game.split.trunks, game.found[order[:size]], probability, order[:size]).half
        for size in (10, 30, 60, len(order) - 1)
    ]
    assert widths == sorted(widths, reverse=True)


def test_intervals_hold_the_exact_value() -> None:
    """Of 100 samples of 30 of 95 flops, with fixed seeds; picking the largest mean is too high, the estimate is not."""
    share, error, plain = small().covered(30, 100)
    assert 0.9 <= share <= 1.0
    assert plain > 0
    assert abs(error) < plain / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "deck", "recipe", "sizes"),
    [
        ("holdem_2_4", (13, 4), "PS5/PS5", (20, 50, 200)),
        ("holdem_limit_2p(ranks=5,suits=3)", (5, 3), "PS2/PS2/PS2/PS2", (10, 20, 40)),
    ],
)
def test_coverage(
    name: str, deck: tuple[int, int], recipe: str, sizes: tuple[int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Two rounds with the whole deck, and four rounds with a small one: 200 samples of each size."""
    game = walked(name, deck, recipe)
    for size in sizes:
        share, error, plain = game.covered(size, 200)
        with capsys.disabled():
            print(f"\n{name}: {size} of {len(game.found)} first deals, coverage {share:.3f}, exact {game.exact:.4f}, "
                  f"mean error {error:+.4f}, of the largest means {plain:+.4f}")  # fmt: skip
        assert 0.9 <= share <= 0.995
        assert abs(error) < max(0.5 * plain, 1e-3 * game.exact)  # the largest means are no higher in the small deck
