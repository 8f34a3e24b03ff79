"""Seeds: one clear line about a wrong one at every place that takes a seed, and files of the largest one open again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import BuildSettings
from counterplay.abstraction.cards.bucket_report import random_deals
from counterplay.abstraction.cards.clustering import KMeansConfig
from counterplay.agents import match
from counterplay.agents.tournaments import TournamentConfig
from counterplay.analysis.estimators import SampledEstimator, sample_estimator, variance_along_cfr
from counterplay.build.planning import make_plan
from counterplay.cli.main import main
from counterplay.errors import CounterplayError
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.evaluation.first_deal_sample import visiting_order
from counterplay.experiments import run_experiment
from counterplay.forms import open_game
from counterplay.modelling.sampled_play import observe_play
from counterplay.poker.postflop.board_lists import random_flops
from counterplay.poker.range_equity import equity
from counterplay.runtime.seeds import SEEDS

NO_GAME: Any = None  # which is asked for after the seed
WRONG = (-1, SEEDS)
SEEDED = ("external-sampling", "cfr+ira")


def estimator() -> SampledEstimator:
    return SampledEstimator("kuhn", "external-sampling")


PLACES: dict[str, Callable[[Any], object]] = {
    **{name: lambda seed, name=name: cp.solve("kuhn", name, iterations=5, seed=seed) for name in (*SEEDED, "cfr+")},
    "pcs": lambda seed: cp.solve("kuhn", "pcs", iterations=5, seed=seed),
    "evaluate": lambda seed: cp.evaluate("random", "kuhn", seed=seed),
    "random": lambda seed: cp.TabularStrategy.random("kuhn", seed),
    "match": lambda seed: match("kuhn", ["uniform", "uniform"], 10, seed),
    "tournament": lambda seed: TournamentConfig("kuhn", ("uniform", "uniform"), 10, seed),
    "cards": lambda seed: BuildSettings(seed=seed),
    "k-means": lambda seed: KMeansConfig(seed=seed),
    "deals": lambda seed: random_deals(np.arange(6), 2, 3, seed),
    "plan": lambda seed: make_plan("kuhn_limit_2p", seed=seed),
    "equity": lambda seed: equity("AsAh", "KsKh", samples=10, seed=seed),
    "flops": lambda seed: random_flops(3, seed),
    "first deals": lambda seed: visiting_order(np.ones(3), seed),
    "pairs": lambda seed: count_bucket_pairs(NO_GAME, 3, seed),
    "observations": lambda seed: observe_play(open_game("kuhn", "history"), "uniform", 10, seed=seed),
    "estimator": lambda seed: sample_estimator(estimator(), cp.TabularStrategy.uniform("kuhn"), seed=seed),
    "variance": lambda seed: variance_along_cfr("kuhn", {"es": estimator()}, 2, 10, seed=seed),
    "experiment": lambda seed: run_experiment("probing-variance", scale="quick", seed=seed),
}  # fmt: skip

COMMANDS = (
    "solve kuhn -a external-sampling --iterations 5 --seed SEED",
    "solve kuhn -a external-sampling --iterations 5 --set seed=SEED",
    "solve kuhn -a cfr+ --iterations 5 --seed SEED",
    "respond --game kuhn --model uniform --kind rnr --p 0.5 --iterations 5 --seed SEED",
    "evaluate --game kuhn --strategy random --seed SEED",
    "match uniform uniform --game kuhn --deals 10 --seed SEED",
    "tournament folder uniform always-call --game kuhn --deals 10 --seed SEED",
    "play kuhn --seed SEED",
    "dealer -- name kuhn_limit_2p 10 SEED a b",
    "agent always-call kuhn_limit_2p localhost 1 --seed SEED",
    "equity AA KK --samples 10 --seed SEED",
    "build kuhn_limit_2p --out built --seed SEED",
    "abstract kuhn_limit_2p --rounds 3 --seed SEED",
    "flops folder --random 3 --seed SEED --pot 10 --stack 10 --oop AA --ip KK",
    "experiment probing-variance --quick --set seed=SEED",
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("seed", [*WRONG, 0.5, True, "a"])
def test_a_wrong_seed_is_refused(place: str, seed: Any) -> None:
    with pytest.raises(CounterplayError, match=r"seed must be an integer, at least 0 and below 2\^63; got "):
        PLACES[place](seed)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("seed", WRONG)
def test_a_wrong_seed_is_one_line(
    command: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    assert main(command.replace("SEED", str(seed)).split()) != 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "seed" in said.err
    assert str(seed) in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("algorithm", [*SEEDED, "cfr+", "pcs"])
def test_files_of_the_largest_seed_open_again(algorithm: str, tmp_path: Path) -> None:
    strategy, checkpoint = tmp_path / "kuhn.strategy", tmp_path / "kuhn.checkpoint"
    largest = np.uint64(SEEDS - 1)
    cp.solve("kuhn", algorithm, iterations=5, seed=largest, out=strategy, checkpoint=checkpoint)
    cp.evaluate(cp.load(strategy))
    assert cp.resume(checkpoint, iterations=10).iterations == 10


def test_the_largest_seed_is_one_everywhere() -> None:
    for place in ("evaluate", "random", "match", "deals", "equity", "observations", "variance"):
        PLACES[place](SEEDS - 1)
