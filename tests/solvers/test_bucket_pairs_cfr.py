"""The CFR family on bucket pairs: the iterates of boards, of the tree of histories, and of the slow twin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.cli.main import app
from counterplay.errors import GameError, SolverError, StrategyError
from counterplay.evaluation import pair_walks
from counterplay.evaluation.bucket_pairs import BucketPairs, count_bucket_pairs
from counterplay.forms import open_game
from counterplay.game.game import TERMINAL
from counterplay.game.transforms import Tilt
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers import CFR_PRESETS, CfrSolver, make_solver, registry, resume_solver
from counterplay.solvers.bucket_cfr import BucketCfrSolver
from counterplay.solvers.bucket_pairs_cfr import BucketPairsSolver
from counterplay.solvers.cfr import config_with
from tests.poker.test_bucket_game import LEDUC, THREE, both_forms, lossless, remembering
from tests.reference import pairs_cfr as twin

TILT = Tilt(7.0, -5.0, 3.0, 10.0)


def on_pairs(game: BucketGame, algorithm: str) -> BucketPairsSolver:
    return BucketPairsSolver(game, algorithm, pairs=count_bucket_pairs(game))


@pytest.mark.parametrize("algorithm", CFR_PRESETS)
@pytest.mark.parametrize("game", ["leduc", "no limit", "two hole cards"])
def test_iterates_are_those_of_boards_and_of_histories(
    game: str, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_walks, "CHUNK", 1)  # many chunks
    abstract, tree, where = both_forms(game, remembering)
    fast, boards, slow = on_pairs(abstract, algorithm), BucketCfrSolver(abstract, algorithm), CfrSolver(tree, algorithm)
    for _ in range(12):
        for solver in (fast, boards, slow):
            solver.step()
        np.testing.assert_allclose(fast.regret, boards.regret, atol=1e-10)
        np.testing.assert_allclose(fast.regret[where], slow.regret, atol=1e-10)
    np.testing.assert_allclose(fast.strategy(), boards.strategy(), atol=1e-10)
    np.testing.assert_allclose(fast.strategy()[where], slow.strategy(), atol=1e-10)
    assert fast.measure().best_response == pytest.approx(cp.evaluate(slow.profile(), tree).best_response, abs=1e-10)


def test_different_buckets_of_the_players() -> None:
    abstract = BucketGame.build(LEDUC, [lossless(LEDUC), remembering(LEDUC)])
    fast, boards = on_pairs(abstract, "cfr+"), BucketCfrSolver(abstract, "cfr+")
    for solver in (fast, boards):
        solver.step(12)
    np.testing.assert_allclose(fast.regret, boards.regret, atol=1e-10)


def nested(game: BucketGame, node: int = 0) -> Any:
    """The betting tree as the twin has it."""
    tree = game.tree
    if tree.player[node] == TERMINAL:
        row = int(game.node_offset[node])
        if not tree.showdowns()[node]:
            return twin.Fold(tuple(game.utility[row]))
        ties, second, first = game.utility[row : row + 3]
        return twin.Showdown((first[0], second[1]), (second[0], first[1]), tuple(ties))
    children = [nested(game, child) for child in tree.children(node)]
    return twin.Decision(int(tree.player[node]), int(tree.round[node]), node, children)


@pytest.mark.parametrize("tilt", [None, TILT], ids=["plain", "tilted"])
def test_iterates_on_sampled_boards_are_those_of_the_twin(tilt: Tilt | None) -> None:
    abstract = BucketGame.build(LEDUC, remembering(LEDUC), tilt=tilt)
    pairs = count_bucket_pairs(abstract, boards=7, seed=3)
    solver = BucketPairsSolver(abstract, config_with("cfr+", {"delay": 0}), pairs=pairs)
    solver.step(6)
    history = twin.trails(pairs.before, 0), twin.trails(pairs.before, 1)
    cards = twin.Cards(pairs.likely[-1], pairs.ahead[-1], pairs.tied[-1], history)
    regret, average = twin.cfr_plus(nested(abstract), cards, 6)
    for table, expected in ((solver.regret, regret), (solver.average, average)):
        for (node, bucket, action), one in expected.items():
            assert table[abstract.entry(node, bucket) + action] == pytest.approx(one, abs=1e-12)
        assert table.sum() == pytest.approx(sum(expected.values()), abs=1e-9)


def test_it_converges_in_the_game_as_sampled() -> None:
    abstract = BucketGame.build(LEDUC, lossless(LEDUC))
    solver = BucketPairsSolver(abstract, "cfr+", pairs=count_bucket_pairs(abstract, boards=11, seed=1))
    solver.step(400)
    assert solver.measure().exploitability < 0.002
    assert solver.details()["solved"] == "the game as sampled by these boards"
    assert "solved" not in on_pairs(abstract, "cfr+").details()


def test_a_run_cut_in_two_goes_on_to_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkpoint brings the pairs; a game with too many boards is solved by them."""
    monkeypatch.setattr(registry, "MOST_BOARDS", 1)
    cards = tmp_path / "leduc.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(cards)
    game = open_game("leduc_limit_2p", "buckets", cards=[cards])
    whole, part = (make_solver(game, "pcfr+") for _ in range(2))
    assert isinstance(part, BucketPairsSolver)
    with pytest.raises(SolverError, match=r"too many boards for pcfr\+ to walk; count bucket pairs"):
        part.step()
    whole.pairs = part.pairs = count_bucket_pairs(game, boards=9)  # type: ignore[attr-defined]
    whole.step(20)
    part.step(7)
    part.save(tmp_path / "half")
    resumed = resume_solver(tmp_path / "half")
    resumed.step(13)
    for name, table in whole.tables().items():
        assert np.array_equal(table, resumed.tables()[name]), name
    assert resumed.details() == whole.details()


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One bucket for all hands of hold'em, whose boards are too many."""
    path = tmp_path_factory.mktemp("single") / "single.cpa"
    CardAbstraction.single((13, 4), (2, 3, 1, 1)).save(path)
    return path


def test_the_command(single: Path, tmp_path: Path) -> None:
    kept, out = tmp_path / "half", tmp_path / "s.strategy"
    solve = ["solve", "holdem_limit_2p", "--cards", str(single), "-a", "cfr+", "--json"]

    def found(*more: str) -> Any:
        ran = CliRunner().invoke(app, [*more])
        assert ran.exit_code == 0, ran.output
        return json.loads(ran.stdout)

    told = found(*solve, "--boards", "30", "--until", "100mbb", "--iterations", "500", "--checkpoint", str(kept))
    assert (told["algorithm"], told["boards"], told["exact"]) == ("cfr+", 30, False)
    assert told["solved"] == "the game as sampled by these boards"
    assert told["status"] == "exploitability"
    assert 0.0 < told["abstract"]["exploitability_mbb"] <= 100.0
    assert told["exploitability"] is None
    more = found("solve", "--resume", str(kept), "--until", "20mbb", "--json", "--out", str(out))
    assert more["iterations"] > told["iterations"]
    assert more["abstract"]["exploitability_mbb"] <= 20.0
    again = found("evaluate", str(out), "--boards", "30", "--method", "buckets", "--json")
    assert again["exploitability_mbb"] == pytest.approx(more["abstract"]["exploitability_mbb"], abs=0.05)
    for line, expected in (
        (solve, "2,554,656 different boards, too many for cfr+ to walk all"),
        ([*solve, "--boards", "all"], "too many for all; say how many to sample"),
        (["solve", "--resume", str(kept), "--boards", "20"], "a checkpoint has its own boards; leave out boards"),
    ):
        ran = CliRunner().invoke(app, [*line, "--iterations", "20"])
        assert ran.exit_code == 1
        assert expected in ran.output + str(ran.exception)


def test_memory_is_known_beforehand() -> None:
    solver = on_pairs(BucketGame.build(LEDUC, lossless(LEDUC)), "pcfr+")
    tables = sum(table.nbytes for table in solver.tables().values())
    assert tables < solver.table_bytes < tables + (1 << 25)
    with pytest.raises(cp.CounterplayError, match="needs"):
        BucketPairsSolver(solver.game, "cfr+", memory_limit=1000)


def test_what_is_refused() -> None:
    with pytest.raises(GameError, match=r"two players; .* has 3"):
        BucketPairsSolver(BucketGame.build(THREE, remembering(THREE)), "cfr+")
    game, other = (BucketGame.build(LEDUC, buckets(LEDUC)) for buckets in (remembering, lossless))
    with pytest.raises(StrategyError, match="of another card abstraction"):
        BucketPairsSolver(game, "cfr+", pairs=count_bucket_pairs(other)).step()
    pairs = count_bucket_pairs(game)
    arrays = pairs.arrays()
    for name, wrong in (
        ("before_1_0", arrays["before_1_0"] + 9),
        ("likely_1", np.full_like(arrays["likely_1"], np.nan)),
    ):
        with pytest.raises(ValueError, match=name):
            BucketPairs.of_arrays(game, {**arrays, name: wrong}, 1, True)
