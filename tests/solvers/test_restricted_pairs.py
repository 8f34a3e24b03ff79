"""CFR on bucket pairs against a restricted opponent: the values of linear programs, kills and resumes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterplay.abstraction.cards import CardAbstraction
from counterplay.errors import GameError, MemoryLimitError, SolverError
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.forms import open_game
from counterplay.game.transforms import Tilt
from counterplay.lp.safe_response import restricted_response
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers import resume_solver
from counterplay.solvers.bucket_pairs_cfr import BucketPairsSolver
from counterplay.solvers.restricted_solver import SeatSolvers
from counterplay.solvers.restriction import Restriction, player_rows
from tests.poker.test_bucket_game import LEDUC, both_forms, remembering


def random_rows(game: BucketGame, seed: int, trusted: tuple[float, ...] = ()) -> np.ndarray:
    """A random strategy, or a random confidence of some, in all rows of a bucket game."""
    draw, found = np.random.default_rng(seed), np.zeros(game.num_entries)
    for player in range(game.players):
        for start, size in zip(*player_rows(game, player), strict=True):
            found[start : start + size] = draw.choice(trusted) if trusted else draw.dirichlet(np.ones(size))
    return found


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("game", ["leduc", "two hole cards"])
def test_solutions_are_those_of_linear_programs(game: str, player: int, kind: str) -> None:
    """The LP is that of the tree of histories with the same information sets."""
    abstract, tree, where = both_forms(game, remembering)
    fixed = random_rows(abstract, 2)
    confidence = 0.7 if kind == "rnr" else random_rows(abstract, 3, (0.0, 0.3, 0.9, 1.0))
    held = Restriction(player, fixed, confidence)
    solver = BucketPairsSolver(abstract, "cfr+", pairs=count_bucket_pairs(abstract), restriction=held)
    solver.step(1500)
    found, seat = solver.measure(), 1 - player
    assert found.exploitability < 2e-3
    trusted = confidence if kind == "rnr" else confidence[where]
    value, _ = restricted_response(tree, seat, fixed[where], trusted)
    sure = -found.best_response[player]
    assert sure - 1e-9 <= value <= found.best_response[seat] + 1e-9
    assert found.value[seat] == pytest.approx(value, abs=4e-3)


def restricted(kind: str, iterations: int, algorithm: str = "cfr+") -> BucketPairsSolver:
    game = BucketGame.build(LEDUC, remembering(LEDUC))
    confidence = 0.5 if kind == "rnr" else random_rows(game, 1, (0.0, 0.5, 1.0))
    held = Restriction(1, random_rows(game, 0), confidence)
    solver = BucketPairsSolver(game, algorithm, pairs=count_bucket_pairs(game), restriction=held)
    solver.step(iterations)
    return solver


def test_a_data_biased_opponent_stays_within_its_bounds() -> None:
    solver = restricted("dbr", 30)
    held = solver.restriction
    assert held is not None
    for kind in ("average", "last"):
        assert np.all(solver.strategy(kind) >= held.least - 1e-12)  # type: ignore[arg-type]


def test_who_is_trusted_completely_has_no_choice() -> None:
    game = BucketGame.build(LEDUC, remembering(LEDUC))
    fixed, pairs = random_rows(game, 4), count_bucket_pairs(game)
    walks, table = pairs.walks(game), np.zeros(game.num_entries)
    best = walks.best_response(0, fixed, table)
    for confidence in (1.0, np.ones(game.num_entries)):
        solver = BucketPairsSolver(game, pairs=pairs, restriction=Restriction(1, fixed, confidence))
        solver.step(300)
        assert solver.measure().best_response[0] == pytest.approx(best, abs=1e-12)
        assert solver.measure().exploitability < 1e-3
        if not isinstance(confidence, float):
            np.testing.assert_array_equal(solver.regret[player_rows(game, 1)[0]], 0.0)


def test_a_coin_that_never_falls_on_the_model_changes_nothing() -> None:
    game = BucketGame.build(LEDUC, remembering(LEDUC))
    pairs = count_bucket_pairs(game)
    plain = BucketPairsSolver(game, pairs=pairs)
    plain.step(20)
    for confidence in (0.0, np.zeros(game.num_entries)):
        solver = BucketPairsSolver(game, pairs=pairs, restriction=Restriction(0, random_rows(game, 5), confidence))
        solver.step(20)
        np.testing.assert_allclose(solver.regret, plain.regret, atol=1e-12)
        assert solver.measure().best_response == pytest.approx(plain.measure().best_response, abs=1e-12)


@pytest.mark.parametrize("kind", ["rnr", "dbr"])
@pytest.mark.parametrize("algorithm", ["cfr+", "pcfr+", "dcfr", "cfr"])
def test_a_run_cut_in_two_goes_on_to_the_same_bits(kind: str, algorithm: str, tmp_path: Path) -> None:
    whole, part = restricted(kind, 20, algorithm), restricted(kind, 7, algorithm)
    part.save(tmp_path / "half")
    resumed = resume_solver(tmp_path / "half", part.game)
    resumed.step(13)
    assert resumed.tables().keys() == whole.tables().keys()
    for name, table in whole.tables().items():
        assert np.array_equal(table, resumed.tables()[name]), name
    assert resumed.measure() == whole.measure()


def test_both_seats_at_once(tmp_path: Path) -> None:
    game = BucketGame.build(LEDUC, remembering(LEDUC))
    pairs, fixed = count_bucket_pairs(game), random_rows(game, 0)

    def both() -> SeatSolvers:
        return SeatSolvers(*(
            BucketPairsSolver(game, pairs=pairs, restriction=Restriction(1 - seat, fixed, 0.5)) for seat in range(2)
        ))  # fmt: skip

    whole, part, again = both(), both(), both()
    whole.step(20)
    part.step(8)
    part.halves[0].step(1)  # as if Ctrl-C had come between the two
    part.save(tmp_path / "half")
    again.fill(*_read(tmp_path / "half"))
    again.step(12)
    assert [half.iterations for half in again.halves] == [20, 20]
    np.testing.assert_array_equal(again.strategy(), whole.strategy())
    gaps = [half.measure().exploitability for half in whole.halves]
    assert whole.measure().exploitability == pytest.approx(sum(gaps) / 2, abs=1e-12)
    for seat, half in enumerate(whole.halves):
        own = player_rows(game, seat)[0]
        np.testing.assert_array_equal(whole.strategy()[own], half.strategy()[own])


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    from counterplay.storage import read_container

    header, tables = read_container(path, "checkpoint")
    return dict(tables), header["state"]


def test_what_is_refused(tmp_path: Path) -> None:
    cards = tmp_path / "leduc.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(cards)
    game = open_game("leduc_limit_2p", "buckets", cards=[cards])
    fixed = random_rows(game, 0)
    with pytest.raises(SolverError, match="entries; the fixed strategy has"):
        BucketPairsSolver(game, restriction=Restriction(0, fixed[1:], 0.5))
    tilted = BucketGame.build(LEDUC, remembering(LEDUC), tilt=Tilt(7.0, 0.0, 0.0, 7.0))
    with pytest.raises(GameError, match=r"zero-sum games; utilities of .* do not add up to 0"):
        BucketPairsSolver(tilted, restriction=Restriction(0, random_rows(tilted, 0), 0.5))
    needed = BucketPairsSolver.memory_bytes(game)
    with pytest.raises(MemoryLimitError, match="needs"):
        BucketPairsSolver(game, memory_limit=needed + 8, restriction=Restriction(0, fixed, np.ones(len(fixed))))
