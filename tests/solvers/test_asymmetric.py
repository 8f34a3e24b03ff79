"""An agent with one card abstraction against an opponent with another, or with none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.errors import CounterplayError, GameError, SolverError
from counterplay.evaluation.lifted_buckets import RealGame
from counterplay.poker.buckets.asymmetric_game import NONE, AsymmetricGame
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.asymmetric import AsymmetricSolver
from counterplay.solvers.bucket_cfr import BucketCfrSolver
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.cfr import CFR_PRESETS
from counterplay.solvers.unabstracted_opponent import UnabstractedOpponentSolver
from counterplay.strategy import load_strategy
from tests.poker.test_bucket_game import LEDUC, THREE, forgetting, lossless, remembering
from tests.solvers.test_cfr_br import SHORT, entries_of_seat, least


def against(game: Any, own: Any, opponent: Any, cards: str = NONE) -> AsymmetricGame:
    return AsymmetricGame.build(BucketGame.build(game, own(game)), opponent(game), cards)


@pytest.mark.parametrize("algorithm", CFR_PRESETS)
def test_an_opponent_on_the_public_tree_is_one_with_a_bucket_for_each_hand(algorithm: str) -> None:
    """Walks over the public tree give the iterates of walks over boards, in which both play by buckets."""
    pair = against(SHORT, forgetting, lossless)
    fast, slow = UnabstractedOpponentSolver(pair, algorithm), AsymmetricSolver(pair, algorithm)
    for solver in (fast, slow):
        solver.step(6)
    for kind in ("average", "last"):
        np.testing.assert_allclose(fast.strategy(kind), slow.strategy(kind), atol=1e-12)


def test_its_limit_is_the_least_exploitable_strategy() -> None:
    """By the linear program in which one player alone is bound to buckets, which is the limit of CFR-BR too."""
    buckets, gap = remembering, 2e-3
    pair = against(LEDUC, buckets, lossless)
    solver = UnabstractedOpponentSolver(pair, "cfr+")
    solver.step(600)
    found = solver.measure().best_response
    assert all(0.0 <= one - bound + 1e-9 <= gap for one, bound in zip(found, least(buckets), strict=True))
    plain = BucketCfrSolver(pair.own, "cfr+")
    plain.step(600)
    conceded = RealGame(pair.own, build_public_tree(LEDUC)).measure(plain.strategy()).best_response
    assert all(one <= other + gap for one, other in zip(found, conceded, strict=True))
    assert sum(found) < 0.9 * sum(conceded)


@pytest.mark.parametrize(("algorithm", "iterations"), [("external-sampling", 300), ("pcs-boards", 20), ("cfr+", 20)])
def test_the_agent_has_its_seat_of_two_runs(algorithm: str, iterations: int) -> None:
    pair = against(LEDUC, remembering, forgetting, "other.cpa")
    solver = make_solver(pair, algorithm)
    solver.step(iterations)
    for seat, game in enumerate(pair.seats):
        assert game.buckets[seat] is pair.own.buckets[seat]
        assert game.buckets[1 - seat][1].count == forgetting(LEDUC)[1].count
        alone: Any = (BucketCfrSolver if algorithm == "cfr+" else BucketSolver)(game, algorithm)
        alone.step(iterations)
        here, there = entries_of_seat(pair.own, seat), entries_of_seat(game, seat)
        assert np.array_equal(solver.strategy()[here], alone.strategy()[there])
    assert solver.iterations == iterations


def test_a_finer_opponent_makes_the_agent_less_exploitable() -> None:
    """The agent concedes less the more its opponent distinguishes; most between equals, here."""
    found = []
    for opponent in (forgetting, remembering, lossless):
        solver = AsymmetricSolver(against(LEDUC, remembering, opponent), "cfr+")
        solver.step(200)
        real = RealGame(solver.game, build_public_tree(LEDUC))
        found.append(real.measure(solver.strategy()).exploitability)
    assert found[0] > found[1] > found[2]


@pytest.fixture
def cards(tmp_path: Path) -> list[str]:
    paths = []
    for text in ("2,3", "3,4"):
        paths.append(str(tmp_path / f"{text[0]}.cpa"))
        build_cards((3, 2), (1, 1), parse_recipe(text, (3, 2), (1, 1))).save(paths[-1])
    return paths


@pytest.mark.parametrize(("algorithm", "opponent"), [("cfr+", NONE), ("pure-cfr", NONE), ("cfr+", "file")])
def test_a_stopped_run_continues_to_the_same_bits(algorithm: str, opponent: str, cards: list[str]) -> None:
    path = Path(cards[0]).with_name("run.checkpoint")
    options = {"cards": [cards[0]], "opponent_cards": NONE if opponent == NONE else cards[1]}
    straight = cp.solve("leduc_limit_2p", algorithm, iterations=40, **options)
    cp.solve("leduc_limit_2p", algorithm, iterations=15, checkpoint=path, **options)
    resumed = resume_solver(path)
    resumed.step(25)
    assert np.array_equal(resumed.profile().weights, straight.profile.weights)
    moved = Path(cards[0]).rename(Path(cards[0]).with_name("moved.cpa"))
    assert cp.resume(path, cards=[moved], iterations=40).iterations == 40


def test_what_is_found_is_a_strategy_of_the_agents_cards(cards: list[str], tmp_path: Path) -> None:
    out = tmp_path / "found.strategy"
    options = {"cards": cards[0], "opponent_cards": NONE, "out": out}
    result = cp.solve("leduc_limit_2p", "cfr+", iterations=30, until=0.01, threads=2, **options)
    assert (result.abstract, result.to_dict()["opponent_cards"]) == (None, NONE)
    assert cp.evaluate(out).exploitability == pytest.approx(result.exploitability, abs=1e-4)  # 16 bits a number
    assert load_strategy(out).abstract.cards == (cards[0],)


def test_what_it_does_not_take(cards: list[str]) -> None:
    def refused(text: str, *args: Any, **options: Any) -> None:
        with pytest.raises(CounterplayError, match=text):
            cp.solve(*args, iterations=1, **options)

    refused("takes no cards of an opponent", "leduc_limit_2p", "cfr-br", cards=cards[0], opponent_cards=NONE)
    refused("give cards once", "leduc_limit_2p", "cfr+", cards=cards, opponent_cards=NONE)
    refused("name one with cards", "leduc_limit_2p", "cfr+", opponent_cards=NONE)
    refused("there is no file missing.cpa", "leduc_limit_2p", "cfr+", cards=cards[0], opponent_cards="missing.cpa")
    whole = against(LEDUC, forgetting, lossless)
    with pytest.raises(GameError, match=r"for two players; .* has 3"):
        against(THREE, forgetting, lossless)
    for game, algorithm in ((whole, "cfr+"), (whole.own, "cfr-br")):
        with pytest.raises(SolverError, match="float64 or float32; got 'int16'"):
            make_solver(game, algorithm, storage="int16")
    with pytest.raises(SolverError, match="average or last; got 'best'"):
        make_solver(whole, "cfr+", profile="best")
