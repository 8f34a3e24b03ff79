"""Matches of strategies of bucket games by kernels, with the same buckets and with others."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.agents import match
from counterplay.agents.entries import Entry
from counterplay.agents.match_game import open_match_game
from counterplay.agents.matches import Seeds, _bucket_strategies, _by_agents, _on_buckets, play_piece, seatings_of
from counterplay.agents.strategy_agent import StrategyAgent
from counterplay.forms import poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.strategy.bucket_strategy import BucketStrategy, packed
from tests.crosstables import exact_scores
from tests.poker.test_bucket_game import LEDUC, forgetting, lossless, mixed


def pure(game: BucketGame, seed: int) -> BucketStrategy:
    """A strategy with one action everywhere."""
    random, weights = np.random.default_rng(seed), np.zeros(game.num_entries, np.uint16)
    for first, _, offset in game.blocks():
        weights[first + offset[:-1] + random.integers(0, np.diff(offset))] = 1
    return BucketStrategy.of_game(game, weights)


@pytest.mark.parametrize(
    ("name", "bets"),
    [
        ("leduc_limit_2p", None),
        ("leduc_nolimit_2p", "1,allin"),
        ("kuhn_limit_3p", None),
        ("rhode_island(ranks=4,suits=3)", None),
        ("rhode_island(ranks=4,suits=3,three_card_hands=true)", None),
    ],
)
def test_matches_of_one_abstract_game_play_as_its_agents_do(name: str, bets: str | None) -> None:
    """Pure strategies leave nothing to chance but the cards, which are the same."""
    rules = poker_definition(name)
    game = BucketGame.build(rules, forgetting(rules), None if bets is None else bet_abstraction(bets), name=name)
    profiles = [pure(game, seed) for seed in range(rules.players)]
    seatings, seeds, count = seatings_of(rules.players), Seeds.of(3), 150
    copies = [[StrategyAgent(profile, definition=rules) for profile in profiles] for _ in seatings]
    played = open_match_game(name)
    slow = np.concatenate(list(_by_agents(played, copies, seatings, seeds, 7, count)))
    fast = np.concatenate(list(_on_buckets(profiles, seatings, seeds, 7, count)))
    assert np.abs(fast).max() > 0
    np.testing.assert_allclose(fast, slow, atol=1e-12)
    result = play_piece(played, [Entry(f"{k}", profile) for k, profile in enumerate(profiles)], seeds, 7, count)
    assert result.totals == pytest.approx(fast.sum(axis=0).tolist())
    assert _bucket_strategies([Entry("a", profiles[0]), Entry("b", "tight")]) is None
    # each in buckets of its own: looked up by agents, and in the kernel that has a layout for everybody
    others = [lossless(rules), mixed(rules), forgetting(rules)][: rules.players]
    raises = None if bets is None else bet_abstraction(bets)
    apart = [pure(BucketGame.build(rules, cards, raises, name=name), seed) for seed, cards in enumerate(others)]
    copies = [[StrategyAgent(profile, definition=rules) for profile in apart] for _ in seatings]
    slow = np.concatenate(list(_by_agents(played, copies, seatings, seeds, 7, count)))
    np.testing.assert_allclose(np.concatenate(list(_on_buckets(apart, seatings, seeds, 7, count))), slow, atol=1e-12)


def test_layouts_apart_play_the_same_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel with a layout for each agent draws as the one with a layout for all does."""
    game = BucketGame.build(LEDUC, mixed(LEDUC), name="leduc_limit_2p")
    random = np.random.default_rng(2)
    pair = [BucketStrategy.of_game(game, random.random(game.num_entries)) for _ in range(2)]
    together = np.concatenate(list(_on_buckets(pair, seatings_of(2), Seeds.of(5), 0, 5000)))
    copy = BucketGame.build(LEDUC, mixed(LEDUC), name="leduc_limit_2p")
    copy.__dict__["fingerprint"] = "another"  # taken for another layout
    pair[1] = BucketStrategy.of_game(copy, pair[1].weights)
    assert np.array_equal(np.concatenate(list(_on_buckets(pair, seatings_of(2), Seeds.of(5), 0, 5000))), together)


def test_trivial_opponents_on_the_betting_tree() -> None:
    """They are as good as their agents, which have other random numbers; pure ones are the same."""
    game = BucketGame.build(LEDUC, mixed(LEDUC), name="leduc_limit_2p")
    profile, seeds, played = pure(game, 3), Seeds.of(2), open_match_game("leduc_limit_2p")
    for name in ("always-call", "always-raise", "always-fold"):
        entries = [Entry("a", profile), Entry("b", name)]
        found = _bucket_strategies(entries)
        assert found is not None
        fast = np.concatenate(list(_on_buckets(found, seatings_of(2), seeds, 0, 200)))
        copies = [[entry.agent(played, seat) for seat, entry in enumerate(entries)] for _ in range(2)]
        slow = np.concatenate(list(_by_agents(played, copies, seatings_of(2), seeds, 0, 200)))
        np.testing.assert_allclose(fast, slow, atol=1e-12)
    no_limit = BucketGame.build(poker_definition("leduc_nolimit_2p"), mixed(LEDUC), bet_abstraction("1,allin"))
    assert _bucket_strategies([Entry("a", pure(no_limit, 0)), Entry("b", "always-raise")]) is None
    assert _bucket_strategies([Entry("a", profile), Entry("b", "uniform")], trivial=False) is None
    assert _bucket_strategies([Entry("a", "uniform"), Entry("b", "always-call")]) is None


def test_mixed_strategies_win_what_they_are_worth() -> None:
    game = BucketGame.build(LEDUC, mixed(LEDUC), name="leduc_limit_2p")
    random = np.random.default_rng(1)
    pair = [BucketStrategy.of_game(game, random.random(game.num_entries)) for _ in range(2)]
    real = cp.compile_game("leduc_limit_2p")
    worth = exact_scores(real, [profile.lifted(real) for profile in pair])[0]
    result = match("leduc_limit_2p", pair, 100_000, seed=4).estimate(0)
    assert abs(result.mean - worth) < 2.5 * result.half
    rounded = [BucketStrategy.of_game(game, packed(pair[0].strategy(), "uint16")), pair[1]]
    assert abs(match("leduc_limit_2p", rounded, 100_000, seed=4).estimate(0).mean - worth) < 2.5 * result.half
