"""Exact evaluation of strategies by buckets below first deals: closed forms, the whole walk, flops of limit hold'em."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from counterplay.abstraction.cards.card_abstraction import BucketTable
from counterplay.evaluation.card_free import _Betting, evaluate_card_free
from counterplay.evaluation.first_deal_sample import visiting_order
from counterplay.evaluation.lifted_buckets import LiftedStrategy, RealGame, bucket_places
from counterplay.evaluation.split_evaluation import SplitGame, SplitPlan, _Split, evaluate_split
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.poker_game import PokerGame, poker_game
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.trivial import TRIVIAL, CardFree
from counterplay.tree.public.public_tree import PublicTree
from tests.evaluation.test_split_evaluation import LIMIT, SAME, close, poker, whole


def drawn_buckets(game: PokerGame, count: int = 2) -> BucketGame:
    """Buckets of hands, whatever their order of cards, drawn at random in each round."""
    rules, dice = game.definition, np.random.default_rng(11)
    rounds = []
    for end in rules.board_ends:
        shape = (2, end) if end else (2,)
        size = HandIndexer(shape, rules.ranks, rules.suits).size()
        rounds.append(BucketTable(shape, count, dice.integers(count, size=size, dtype=np.uint8)))
    return BucketGame.build(rules, rounds, name=game.spec())


def as_buckets(abstract: BucketGame, tree: PublicTree, agent: CardFree) -> LiftedStrategy:
    """A player who does not look at the cards, stored as one who plays by buckets."""
    weights = np.zeros(abstract.num_entries)
    for player in (0, 1):
        row, step, buckets, *_ = bucket_places(abstract, tree, player)
        for node in np.flatnonzero(tree.kind == player).tolist():
            for bucket in range(int(buckets[node])):
                first = int(row[node] + bucket * step[node])
                weights[first : first + int(tree.num_children[node])] = agent.row(tree.actions_of(node))
    return LiftedStrategy(BucketStrategy.of_game(abstract, weights))


STORED = {name: TRIVIAL[name] for name in ("always-call", "always-raise", "50/50")}


class TestBuckets:
    """Strategies by buckets take no table of a first deal: nodes and buckets alone."""

    def check(self, game: PokerGame, threads: int = 1) -> None:
        """The closed forms of players who do not look at their cards, stored as buckets."""
        abstract, tree = drawn_buckets(game), SplitGame(game).tree
        for agent in STORED.values():
            lifted = as_buckets(abstract, tree, agent)
            found = evaluate_split(game, (lifted, lifted), threads, plan=SplitPlan(valued=True))
            close(found, evaluate_card_free(game, [(agent, agent)])[0])

    def test_closed_forms(self) -> None:
        self.check(poker("four rounds"))

    def test_the_whole_walk(self) -> None:
        game = poker("four rounds")
        abstract = drawn_buckets(game, 3)
        profile = BucketStrategy.of_game(abstract, np.random.default_rng(1).random(abstract.num_entries))
        lifted = LiftedStrategy(profile)
        expected = RealGame(abstract, whole("four rounds")).measure(profile.weights)
        close(evaluate_split(game, (lifted, lifted)), expected)
        unvalued = evaluate_split(game, (lifted, lifted), plan=SplitPlan(valued=False))
        assert unvalued.exploitability == pytest.approx(expected.exploitability, abs=SAME)
        assert unvalued.to_dict()["value"] is None
        assert not unvalued.valued

    @pytest.mark.slow
    @pytest.mark.parametrize("ranks", [6, 8])
    def test_24_and_32_cards(self, ranks: int) -> None:
        """Four rounds with one bet in each, so that the whole tree fits."""
        rules = dataclasses.replace(LIMIT, max_raises=(1, 1, 1, 1), ranks=ranks)
        game = poker_game(rules, f"{4 * ranks} cards")
        self.check(game, 2)
        abstract = drawn_buckets(game, 3)
        profile = BucketStrategy.of_game(abstract, np.random.default_rng(1).random(abstract.num_entries))
        lifted = LiftedStrategy(profile)
        tree = build_public_tree(rules, name=game.spec())
        expected = RealGame(abstract, tree, threads=2).measure(profile.weights)
        close(evaluate_split(game, (lifted, lifted), 2, plan=SplitPlan(valued=True)), expected)
        assert expected.exploitability > 0.1

    @pytest.mark.slow
    @pytest.mark.parametrize("agent", STORED)
    def test_20_flops_of_the_whole_game(self, agent: str) -> None:
        """Below each flop and link, the walks of a stored strategy and the table of the last round give the same."""
        game = SplitGame(poker("holdem_limit_2p"))
        lifted = as_buckets(drawn_buckets(poker("holdem_limit_2p")), game.tree, STORED[agent])
        pair = STORED[agent], STORED[agent]
        split, betting = _Split(game, (lifted, lifted), valued=False), _Betting(game, [pair])
        for flop in visiting_order(game.probabilities, 17)[:20].tolist():
            walked, summed = split.below(flop), betting.below(flop)
            for seat in (0, 1):
                for link, reach in split.reaches[seat].items():
                    step = betting._node(int(game.tree.first_child[link]), seat, pair[1 - seat])
                    column = reach[0] * summed[:, betting.rounds[1].roots[step]]
                    assert walked[seat, game.links.index(link)] == pytest.approx(column, abs=SAME)
            assert np.abs(walked).max() > 1
