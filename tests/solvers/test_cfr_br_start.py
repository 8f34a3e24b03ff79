"""CFR-BR that starts from a strategy: what it begins with, what it gains, its limit, and checkpoints."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.errors import SolverError, StrategyError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.trunk_sampler import round_indexer
from counterplay.solvers import make_solver, resume_solver
from counterplay.strategy.bucket_strategy import BucketStrategy
from tests.poker.test_bucket_game import LEDUC, TWO_HOLES, coarse, forgetting, remembered, remembering
from tests.solvers.test_cfr_br import least

FOUR_ROUNDS = GameDefinition(
    limit=True, players=2, rounds=4, blinds=(2, 1), raise_sizes=(2, 2, 4, 4), max_raises=(1, 1, 1, 1), suits=2, ranks=4,
    hole_cards=1, board_cards=(0, 1, 1, 1), first_players=(1, 0, 0, 0),
)  # fmt: skip


def drawn(game: BucketGame) -> BucketStrategy:
    return BucketStrategy.of_game(game, np.random.default_rng(4).random(game.num_entries))


@pytest.mark.parametrize(("rules", "buckets", "rule"), [
    (LEDUC, forgetting, coarse), (LEDUC, remembering, remembered), (TWO_HOLES, remembering, remembered),
], ids=["leduc", "perfect recall", "two hole cards"])  # fmt: skip
def test_every_hand_of_the_trunk_plays_as_its_bucket(rules: GameDefinition, buckets: Any, rule: Any) -> None:
    """Row by row: the probabilities of the bucket times the size that is stated."""
    game = BucketGame.build(rules, buckets(rules))
    profile, weight = drawn(game), 0.5
    solver: Any = make_solver(game, "cfr-br", trunk=rules.rounds)
    solver.start_from(profile.strategy(), weight)
    size = weight * np.abs(game.utility).max()
    for seat, player in ((0, 1), (1, 0)):
        start, seen = 0, set()
        for turn in range(rules.rounds):
            indexer, width = round_indexer(rules, turn), int(game.slot_width[2 * turn + player])
            ends = [0, rules.hole_cards, *(rules.hole_cards + end for end in rules.board_ends[1 : turn + 1])]
            nodes = [n for n in range(len(game.tree)) if game.tree.round[n] == turn and game.tree.player[n] == player]
            left = len(rules.deck) - rules.board_ends[turn]
            for cards in itertools.permutations(range(len(rules.deck)), ends[-1]):
                dealt = [rules.deck[card] for card in cards]
                index = indexer.index(dealt)
                bucket = rule(turn, tuple(tuple(dealt[low:high]) for low, high in itertools.pairwise(ends)))
                for node in nodes if (turn, index) not in seen else ():
                    first = start + index * width + int(game.node_offset[node])
                    found = solver.trunk[seat][first : first + int(game.tree.num_children[node])]
                    expected = profile.row(node, bucket) * size / math.comb(left, rules.hole_cards)
                    np.testing.assert_allclose(found, expected, rtol=1e-6)
                seen.add((turn, index))
            start += indexer.size() * width
        assert start == len(solver.trunk[seat])
        assert len(seen) == sum(round_indexer(rules, turn).size() for turn in range(rules.rounds))


@pytest.mark.parametrize("trunk", [0, 1])
def test_a_run_begins_with_the_strategy(trunk: int) -> None:
    game = BucketGame.build(LEDUC, remembering(LEDUC))
    solver: Any = make_solver(game, "cfr-br", trunk=trunk)
    strategy = drawn(game).strategy()
    solver.start_from(strategy, 0.1)
    np.testing.assert_allclose(solver.strategy("last"), strategy, atol=1e-12)
    np.testing.assert_allclose(solver.strategy("average"), strategy, atol=1e-12)
    solver.step(1)
    np.testing.assert_allclose(solver.strategy("average"), strategy, atol=1e-12)  # that was played, or not met
    solver.step(1)
    assert not np.allclose(solver.strategy("average"), strategy, atol=1e-3)
    with pytest.raises(SolverError, match=r"before its first iteration; this one has 2$"):
        solver.start_from(strategy)


def test_a_start_from_an_abstract_equilibrium_saves_iterations() -> None:
    """Few sampled boards: it stays near what it starts from, while a uniform player is still learning the trunk."""
    game = BucketGame.build(FOUR_ROUNDS, remembering(FOUR_ROUNDS))
    equilibrium: Any = make_solver(game, "cfr+")
    equilibrium.step(20)
    for seed in range(3):
        plain, started = (make_solver(game, "cfr-br", trunk=2, seed=seed) for _ in range(2))
        started.start_from(equilibrium.strategy())
        for iterations in (5, 15):
            plain.step(iterations)
            started.step(iterations)
            assert started.measure().exploitability < 0.7 * plain.measure().exploitability


@pytest.mark.parametrize("settings", [{"trunk": 0}, {"trunk": 1, "every_board": True, "regret_floor": True}],
                         ids=["exact", "hybrid"])  # fmt: skip
def test_the_limit_is_the_same(settings: dict[str, Any]) -> None:
    """Even from a bad strategy: what it adds to the regrets is a constant."""
    game = BucketGame.build(LEDUC, remembering(LEDUC))
    gaps = []
    for start in (None, drawn(game).strategy() ** 8):
        solver: Any = make_solver(game, "cfr-br", **settings)
        if start is not None:
            solver.start_from(BucketStrategy.of_game(game, start).strategy(), 1.0)
            assert solver.measure().exploitability > 2.0
        solver.step(1000)
        gaps.append(solver.measure().exploitability - sum(least(remembering)) / 2)
    assert 0.0 < gaps[1] < gaps[0] + 0.05 < 0.15


def test_the_setting_names_a_file_and_a_checkpoint_needs_it_no_more(tmp_path: Path) -> None:
    cards = tmp_path / "l.cpa"
    build_cards((3, 2), (1, 1), parse_recipe("2,3", (3, 2), (1, 1))).save(cards)
    first = tmp_path / "first.strategy"
    cp.solve("leduc_limit_2p", "cfr+", cards=[cards], iterations=30, out=first)
    game: Any = cp.open_game("leduc_limit_2p", "buckets", cards=[cards])
    whole, part = (
        make_solver(game, "cfr-br", trunk=1, seed=3, start=str(first), start_weight=0.5) for _ in range(2)
    )  # fmt: skip
    assert whole.measure().exploitability == pytest.approx(cp.evaluate(first).exploitability, abs=1e-6)
    whole.step(30)
    part.step(12)
    part.save(tmp_path / "run.checkpoint")
    first.unlink()
    again = resume_solver(tmp_path / "run.checkpoint", game)
    again.step(18)
    assert again.config == whole.config
    for name, table in whole.tables().items():
        np.testing.assert_array_equal(again.tables()[name], table, err_msg=name)


def test_what_a_start_is_not(tmp_path: Path) -> None:
    game = BucketGame.build(LEDUC, remembering(LEDUC))
    with pytest.raises(StrategyError, match=r"there is no file .*nowhere"):
        make_solver(game, "cfr-br", start=str(tmp_path / "nowhere.strategy"))
    cp.TabularStrategy.uniform("leduc").save(tmp_path / "tabular.strategy")
    with pytest.raises(SolverError, match="a start is a strategy by buckets"):
        make_solver(game, "cfr-br", start=str(tmp_path / "tabular.strategy"))
    other = BucketGame.build(LEDUC, forgetting(LEDUC))
    drawn(other).save(tmp_path / "other.strategy")
    with pytest.raises(StrategyError, match="made with another card abstraction"):
        make_solver(game, "cfr-br", start=str(tmp_path / "other.strategy"))
    with pytest.raises(SolverError, match=r"start_weight must be a number, above 0"):
        make_solver(game, "cfr-br", start_weight=0.0)
    with pytest.raises(SolverError, match=r"start must be the file of a strategy; got 3"):
        make_solver(game, "cfr-br", start=3)
