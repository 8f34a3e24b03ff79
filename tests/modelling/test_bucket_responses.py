"""Responses in card abstractions: the numbers of the tree of histories, stops and resumes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.errors import CounterplayError
from counterplay.evaluation.bucket_pairs import BucketPairs
from counterplay.modelling import ResponseCurve, respond, response_curve
from counterplay.modelling.response_forms import BucketResponses, HistoryResponses
from counterplay.solvers.bucket_pairs_cfr import BucketPairsSolver
from tests.solvers.test_restricted_pairs import random_rows

GAME = "leduc_limit_2p"


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Buckets that lose nothing: the bucket game is the game."""
    path = tmp_path_factory.mktemp("cards") / "leduc.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(path)
    return str(path)


@pytest.fixture(scope="module")
def both(cards: str) -> tuple[BucketResponses, HistoryResponses]:
    game = cp.open_game(GAME, "buckets", cards=[cards])
    from counterplay.evaluation.bucket_pairs import count_bucket_pairs

    return BucketResponses(game, count_bucket_pairs(game)), HistoryResponses(cp.open_game(GAME, "history"))


def lifted(both: tuple[BucketResponses, HistoryResponses], table: np.ndarray) -> np.ndarray:
    buckets, histories = both
    return cp.BucketStrategy.of_game(buckets.form, table).lifted(histories.form).table


def test_numbers_are_those_of_the_tree_of_histories(both: tuple[BucketResponses, HistoryResponses]) -> None:
    buckets, histories = both
    one, two, three = (random_rows(buckets.form, seed) for seed in range(3))
    own, others = lifted(both, one), [lifted(both, table) for table in (two, three)]
    found, won = buckets.judge(one, [two, three])
    expected, other = histories.judge(own, others)
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    assert found.best_response == pytest.approx(expected.best_response, abs=1e-12)
    np.testing.assert_allclose(won, other, atol=1e-12)
    assert buckets.won(one, two) == pytest.approx(other[0], abs=1e-12)
    np.testing.assert_allclose(lifted(both, buckets.mixed((one, two), (0.3, 0.7))),
                               histories.mixed((own, others[0]), (0.3, 0.7)), atol=1e-12)  # fmt: skip
    best = histories.won(histories.best(own), own)
    assert buckets.won(buckets.best(one), one) == pytest.approx(best, abs=1e-12)
    assert set(np.unique(buckets.best(one))) == {0.0, 1.0}


@pytest.mark.parametrize(("kind", "p"), [("rnr", 0.3), ("rnr", 0.8), ("dbr", 0.6), ("mixture", 0.4), ("rnr", 0.0)])
def test_responses_are_those_of_linear_programs(kind: str, p: float, cards: str) -> None:
    found = respond(GAME, "always-call", kind, p, cards=cards, until=2e-4, true="uniform")
    exact = respond(GAME, "always-call", kind, p, true="uniform")
    assert found.status == "exploitability"
    assert 0.0 < found.gap <= 2e-4
    if kind == "rnr":  # what the response is for: the objective of both seats
        objective = [p * one.value_against_model - (1 - p) * one.exploitability for one in (found, exact)]
        assert objective[1] - 2 * found.gap - 1e-9 <= objective[0] <= objective[1] + 1e-9
    if kind == "mixture":
        bold = respond(GAME, "always-call", "best", cards=cards)
        assert found.value_against_model >= p * bold.value_against_model - (1 - p) * found.gap - 1e-9
        assert found.exploitability <= p * bold.exploitability + (1 - p) * found.gap + 1e-9
    report = found.to_dict()
    assert (report["boards"], report["exact"], report["information_sets"]) == (3, True, 468)
    assert report["cpu_seconds"] > 0.0
    assert "inside the bucket game" in "".join(name for name, _ in found.rows())


def test_ends_are_exact(cards: str) -> None:
    best = respond(GAME, "uniform", "best", cards=cards)
    for kind in ("rnr", "dbr", "mixture"):
        bold = respond(GAME, "uniform", kind, 1.0, cards=cards)
        assert bold.against_model == pytest.approx(best.against_model, abs=1e-12)
        assert bold.gap == 0.0


def test_pairs_are_counted_once_and_kept(cards: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "leduc.pairs"
    asked: dict[str, Any] = {"kind": "rnr", "p": 0.5, "cards": cards, "iterations": 30}
    first = respond(GAME, "uniform", **asked, boards=7, pairs=kept)
    assert first.to_dict()["boards"] == 7
    assert not first.to_dict()["exact"]
    monkeypatch.setattr("counterplay.modelling.response_runs.count_bucket_pairs", None)
    game = cp.open_game(GAME, "buckets", cards=[cards])
    for pairs in (kept, BucketPairs.load(kept, game)):
        assert respond(GAME, "uniform", **asked, pairs=pairs).against_model == first.against_model


def interrupted(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Ctrl-C before an iteration, which it cannot cut."""
    plain, count = BucketPairsSolver._iterate, [0]

    def iterate(self: BucketPairsSolver) -> None:
        count[0] += 1
        if count[0] == after:
            raise KeyboardInterrupt
        plain(self)

    monkeypatch.setattr(BucketPairsSolver, "_iterate", iterate)


def test_ctrl_c_leaves_a_response_and_a_checkpoint(cards: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "x.strategy"
    asked: dict[str, Any] = {"kind": "dbr", "p": 0.5, "cards": cards, "iterations": 60}
    whole = respond(GAME, "uniform", **asked)
    with monkeypatch.context() as patch:
        interrupted(patch, 51)
        part = respond(GAME, "uniform", **asked, out=out)
    assert part.status == "interrupted"
    assert part.files["checkpoint"] == f"{out}.checkpoint"
    assert out.exists()
    again = respond(GAME, "uniform", **asked, resume=f"{out}.checkpoint")
    assert again.against_model == whole.against_model
    assert again.gap == whole.gap
    with pytest.raises(CounterplayError, match="of a response to another model, p, game or abstraction"):
        respond(GAME, "uniform", "dbr", 0.6, cards=cards, resume=f"{out}.checkpoint")
    with pytest.raises(CounterplayError, match="with other settings of dcfr"):
        respond(GAME, "uniform", **asked, gamma=3.0, resume=f"{out}.checkpoint")
    with pytest.raises(CounterplayError, match="its solver is 'seats', not 'bucket-pairs-cfr'"):
        respond(GAME, "uniform", "rnr", 0.0, cards=cards, resume=f"{out}.checkpoint")


SCRIPT = """
import sys
import counterplay.runs.run as run
from counterplay.modelling import respond
run.CHECKPOINT_SECONDS = 0.02
kept, resume = sys.argv[2], sys.argv[3:]
more = {"resume": resume[0]} if resume else {}
found = respond("leduc_limit_2p", "uniform", "rnr", 0.5, cards=sys.argv[1], iterations=4000, checkpoint=kept, **more)
print(found.against_model, found.gap, found.iterations)
"""


@pytest.mark.slow
def test_a_killed_run_continues_to_the_same_bits(cards: str, tmp_path: Path) -> None:
    def command(kept: Path, *resume: Path) -> list[str]:
        return [sys.executable, "-c", SCRIPT, cards, str(kept), *map(str, resume)]

    whole = subprocess.run(command(tmp_path / "a"), capture_output=True, text=True, check=True).stdout
    running, kept = subprocess.Popen(command(tmp_path / "b"), stdout=subprocess.PIPE), tmp_path / "b"
    for _ in range(3000):
        if kept.exists() or running.poll() is not None:
            break
        time.sleep(0.01)
    time.sleep(0.2)
    running.kill()
    assert running.communicate()[0] == b""  # it was not done
    again = subprocess.run(command(tmp_path / "c", kept), capture_output=True, text=True, check=True).stdout
    assert again == whole


def test_a_curve_continues_inside_a_point(cards: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "points"

    def curve(**more: Any) -> ResponseCurve:
        kinds, grid = ["rnr", "mixture"], [0.0, 0.5, 0.9]
        return response_curve(GAME, "uniform", kinds, grid, cards=cards, iterations=40, true="always-call", **more)

    whole = curve()
    assert [point.iterations for point in whole.points] == [40] * 6
    with monkeypatch.context() as patch:
        interrupted(patch, 40 + 51)  # the equilibrium is done
        part = curve(checkpoint=kept)
    assert (len(part.points), part.complete) == (1, False)
    assert kept.with_name("points.rnr-0.5").exists()
    done: list[int] = []
    plain = BucketPairsSolver._iterate
    with monkeypatch.context() as patch:
        patch.setattr(BucketPairsSolver, "_iterate", lambda self: (done.append(1), plain(self))[1])
        again = curve(resume=kept)
    assert len(done) == 30 + 80 + 40  # the rest of 0.5, 0.9, and the equilibrium, which mixtures share
    assert not kept.with_name("points.rnr-0.5").exists()
    rows = [[(one.kind, one.p, one.value_against_model, one.value_against_true, one.exploitability, one.gap)
             for one in found.points] for found in (whole, again)]  # fmt: skip
    assert rows[0] == rows[1]


def test_what_cannot_be_asked(cards: str, tmp_path: Path) -> None:
    single = tmp_path / "single.cpa"
    CardAbstraction.single((13, 4), (2, 3, 1, 1)).save(single)
    for game, kind, more, message in (
        (GAME, "safe", {"epsilon": 0.1, "cards": cards}, "safe is for small games, which a linear program solves"),
        (
            GAME,
            "rnr",
            {"p": 0.5, "cards": cards, "algorithm": "pure-cfr"},
            "pure-cfr takes no restricted opponent in card abstractions; use",
        ),
        (GAME, "rnr", {"p": 0.5, "cards": cards, "algorithm": "lp"}, "lp takes no restricted opponent in card"),
        (GAME, "rnr", {"p": 0.5, "cards": cards, "until": "lots"}, "until is an exploitability such as"),
        (GAME, "rnr", {"p": 0.5, "cards": cards, "boards": 0}, "boards is all or a number of boards; got 0"),
        ("holdem_limit_2p", "rnr", {"p": 0.5, "cards": single}, "too many to count all; say how many to sample"),
    ):
        with pytest.raises(CounterplayError) as error:
            respond(game, "uniform", kind, **more)
        assert message in str(error.value)
