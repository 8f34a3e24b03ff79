"""Best responses inside abstract games, against trees of histories and published numbers of 2-NL hold'em."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import BucketTable, CardAbstraction
from counterplay.errors import AbstractionError, GameError, StrategyError
from counterplay.evaluation.bucket_pairs import BucketPairs, count_bucket_pairs, measure_buckets
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.strategy.tabular import TabularStrategy
from tests.poker.test_bucket_game import (
    GAMES,
    LEDUC,
    THREE,
    compiled,
    entries_of,
    forgetting,
    lossless,
    mixed,
    remembering,
)


@pytest.mark.parametrize("buckets", [lossless, remembering], ids=["lossless", "coarse"])
@pytest.mark.parametrize("game", ["leduc", "no limit", "two hole cards"])
def test_best_responses_are_those_of_the_tree(game: str, buckets: object) -> None:
    abstract = BucketGame.build(GAMES[game], buckets(GAMES[game]))  # type: ignore[operator]
    _, tree = compiled(abstract)
    pairs = count_bucket_pairs(abstract)
    assert pairs.exact
    assert pairs.likely[0].sum() == pytest.approx(1.0)
    for profile in (TabularStrategy.random(tree, 4), TabularStrategy.uniform(tree)):
        strategy = np.zeros(abstract.num_entries)
        strategy[entries_of(abstract, tree)] = profile.table
        found, exact = measure_buckets(abstract, pairs, strategy), cp.evaluate(profile, tree)
        assert found.value == pytest.approx(exact.value, abs=1e-12)
        assert found.best_response == pytest.approx(exact.best_response, abs=1e-12)
    plain = measure_buckets(abstract, pairs)
    assert plain.best_response == pytest.approx(exact.best_response, abs=1e-12)


def test_players_with_different_abstractions() -> None:
    abstract = BucketGame.build(LEDUC, [lossless(LEDUC), remembering(LEDUC)])
    _, tree = compiled(abstract)
    profile = TabularStrategy.random(tree, 9)
    strategy = np.zeros(abstract.num_entries)
    strategy[entries_of(abstract, tree)] = profile.table
    found = measure_buckets(abstract, count_bucket_pairs(abstract), strategy)
    assert found.best_response == pytest.approx(cp.evaluate(profile, tree).best_response, abs=1e-12)


def test_boards_drawn_at_random_come_near() -> None:
    abstract = BucketGame.build(LEDUC, remembering(LEDUC))
    drawn, every = count_bucket_pairs(abstract, boards=3000, seed=2), count_bucket_pairs(abstract)
    assert not drawn.exact
    np.testing.assert_allclose(drawn.likely[1], every.likely[1], atol=0.01)
    np.testing.assert_allclose(drawn.ahead[1], every.ahead[1], atol=0.01)


def test_what_is_refused() -> None:
    with pytest.raises(AbstractionError, match="player 2 forgets"):
        count_bucket_pairs(BucketGame.build(LEDUC, mixed(LEDUC)))
    with pytest.raises(GameError, match="two players"):
        count_bucket_pairs(BucketGame.build(THREE, remembering(THREE)))
    abstract = BucketGame.build(LEDUC, remembering(LEDUC))
    pairs = count_bucket_pairs(abstract)
    with pytest.raises(StrategyError, match="entries"):
        measure_buckets(abstract, pairs, np.zeros(3))
    with pytest.raises(StrategyError, match="of another card abstraction"):
        measure_buckets(BucketGame.build(LEDUC, forgetting(LEDUC)), pairs)
    holdem = cp.make("holdem_limit_2p").definition  # type: ignore[attr-defined]
    single = CardAbstraction.single((13, 4), (2, 3, 1, 1))
    small = [BucketTable(table.shape, 1, np.zeros(len(table.table), np.uint8)) for table in single.rounds[:3]]  # type: ignore[arg-type]
    with pytest.raises(GameError, match="say how many to sample"):
        count_bucket_pairs(BucketGame.build(holdem, [*small, single.rounds[3]]))
    one = count_bucket_pairs(BucketGame.build(holdem, single.rounds), boards=20)
    assert one.likely[3].tolist() == [[1.0]]
    assert one.ahead[3][0, 0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stack", "infosets", "exploitability"),
    [(4, 120, 416.67), (6, 760, 733.05), (10, 7_800, 1478.66), (16, 112_920, 2636.52), (24, 1_968_640, 4266.94),
     (36, 67_233_560, 6792.64)],
)  # fmt: skip
def test_uniform_profile_of_2_nl_holdem(
    two_round: tuple[CardAbstraction, BucketPairs], stack: int, infosets: int, exploitability: float
) -> None:
    """Gibson et al. 2012 print 6793 mbb/g for stacks of 36; the others were computed for the specification."""
    rules = cp.make(f"holdem_2_nolimit(stack={stack})").definition  # type: ignore[attr-defined]
    cards, pairs = two_round
    abstract = BucketGame.build(rules, cards.rounds)
    assert abstract.num_infosets == infosets
    measured = measure_buckets(abstract, pairs)
    assert 500 * measured.exploitability == pytest.approx(exploitability, abs=0.005)
    if stack == 36:
        assert measured.best_response == pytest.approx((13.35250, 13.81806), abs=1e-5)


@pytest.fixture(scope="module")
def two_round() -> tuple[CardAbstraction, BucketPairs]:
    from counterplay.abstraction.cards.features import CardFeatures
    from counterplay.abstraction.cards.two_round import two_round_cards
    from counterplay.runtime.array_cache import default_cache

    cards = two_round_cards(CardFeatures((13, 4), (2, 3, 1, 1), cache=default_cache(), threads=2))
    smallest = BucketGame.build(cp.make("holdem_2_nolimit(stack=4)").definition, cards.rounds)  # type: ignore[attr-defined]
    return cards, count_bucket_pairs(smallest)
