"""Confidence functions, models from counts, and what turns any model into tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterplay.errors import StrategyError
from counterplay.forms import open_game
from counterplay.game.transforms import Tilt
from counterplay.modelling import Confidence, DirichletModel, FrequencyModel, Observations, model_table, pooled
from counterplay.modelling.models import policy_table
from counterplay.modelling.observations import all_rows
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL
from tests.poker.test_bucket_game import LEDUC, THREE, forgetting, remembering

KUHN = open_game("kuhn", "history")
KINDS = ("1-step", "10-step", "linear", "curve")


def bucket_leduc(**more: Any) -> BucketGame:
    return BucketGame.build(LEDUC, remembering(LEDUC), name="leduc_limit_2p", **more)


def random_counts(form: Any, seed: int, most: int = 15) -> Observations:
    """Counts of which some rows are 0."""
    draw = np.random.default_rng(seed)
    starts, sizes = all_rows(form)
    empty = np.repeat(draw.random(len(starts)) < 0.3, sizes)
    return Observations(form, np.where(empty, 0, draw.integers(0, most, form.num_entries)))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("1-step", [0.0, 0.8, 0.8, 0.8, 0.8, 0.8]),
        ("10-step", [0.0, 0.0, 0.0, 0.8, 0.8, 0.8]),
        ("linear", [0.0, 0.08, 0.72, 0.8, 0.8, 0.8]),
        ("curve", [0.0, 0.4, 0.8 * 9 / 10, 0.8 * 10 / 11, 0.8 * 11 / 12, 0.8 * 1e6 / (1e6 + 1)]),
    ],
)
def test_confidence_functions(kind: str, expected: list[float]) -> None:
    np.testing.assert_allclose(Confidence(kind, 0.8)([0, 1, 9, 10, 11, 10**6]), expected, rtol=0, atol=1e-15)


@given(st.sampled_from(KINDS), st.floats(0, 1), st.floats(1e-3, 1e3), st.lists(st.integers(0, 10**9), min_size=2))
def test_confidence_is_0_without_data_monotone_and_capped(kind: str, pmax: float, s: float, seen: list[int]) -> None:
    found = Confidence(kind, pmax, s)([0, *sorted(seen)])
    assert found[0] == 0.0
    assert np.all(np.diff(found) >= 0.0)
    assert found.max() <= pmax


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("10step",), "no confidence function '10step'; did you mean '10-step'"),
        (("s-curve",), "did you mean 'curve'"),
        (("curve", 1.5), r"lies in \[0, 1\]; got 1.5"),
        (("curve", float("nan")), r"lies in \[0, 1\]; got nan"),
        (("curve", 1.0, 0.0), "a number above 0; got 0"),
    ],
)
def test_bad_confidences(arguments: Any, said: str) -> None:
    with pytest.raises(StrategyError, match=said):
        Confidence(*arguments)


def test_frequencies_by_hand() -> None:
    counts = np.zeros(KUHN.num_entries, np.int64)
    entry = KUHN.entry(0, "K:", "bet")
    counts[entry] = 3
    counts[KUHN.entry(0, "K:", "check")] = 9
    seen = Observations(KUHN, counts)
    strategy, confidence = FrequencyModel(seen, "uniform", Confidence("10-step", 0.9)).table(KUHN)
    assert strategy[entry] == 0.25
    assert confidence[entry] == 0.9
    assert strategy[KUHN.entry(0, "J:", "bet")] == 0.5
    assert np.count_nonzero(confidence) == 2
    assert seen.decisions == 12
    called = FrequencyModel(seen).strategy()
    assert called[0, "K:"] == {"check": 0.75, "bet": 0.25}
    assert called[1, "K:b"] == {"fold": 0.0, "call": 1.0}
    assert called[0, "J:"] == {"check": 1.0, "bet": 0.0}
    other = TabularStrategy.random(KUHN, 1)
    table = FrequencyModel(seen, other).table(KUHN)[0]
    assert table[KUHN.entry(1, "J:b", "fold")] == other[1, "J:b"]["fold"]


@pytest.mark.parametrize("form", [KUHN, bucket_leduc()], ids=["history", "buckets"])
@given(seed=st.integers(0, 2**32), strength=st.floats(1e-6, 1e6))
def test_expected_posterior_mixes_frequencies_and_prior_by_the_curve(form: Any, seed: int, strength: float) -> None:
    """Theorem 8: with the same strength the posterior has the frequencies with the weight of the s-curve."""
    seen = random_counts(form, seed)
    policy = "50/50" if isinstance(form, BucketGame) else TabularStrategy.random(form, seed)
    prior = policy_table(policy, form)
    posterior, trusted = model_table(DirichletModel(seen, policy, strength), form)
    frequency, weight = FrequencyModel(seen, "uniform", Confidence("curve", 1.0, strength)).table(form)
    np.testing.assert_allclose(posterior, weight * frequency + (1 - weight) * prior, rtol=0, atol=1e-12)
    assert np.all(trusted == 1.0)


def test_a_prior_without_strength_counts_where_nothing_was_seen() -> None:
    seen = random_counts(KUHN, 3)
    bare, _ = DirichletModel(seen, "uniform", 0.0).table(KUHN)
    np.testing.assert_array_equal(bare, FrequencyModel(seen, "uniform").table(KUHN)[0])
    with pytest.raises(StrategyError, match="at least 0; got -1"):
        DirichletModel(seen, "uniform", -1)


def test_populations_are_one_opponent() -> None:
    members = [random_counts(KUHN, seed) for seed in range(3)]
    everybody = pooled(members)
    np.testing.assert_array_equal(everybody.counts, sum(one.counts for one in members))
    with pytest.raises(StrategyError, match="of kuhn and leduc_limit_2p"):
        pooled([members[0], random_counts(bucket_leduc(), 1)])
    with pytest.raises(StrategyError, match="at least one member"):
        pooled([])


@pytest.mark.parametrize("name", sorted(TRIVIAL))
@pytest.mark.parametrize(("game", "buckets"), [(LEDUC, forgetting), (LEDUC, remembering), (THREE, forgetting)])
def test_opponents_without_cards_in_buckets(name: str, game: Any, buckets: Any) -> None:
    abstract = BucketGame.build(game, buckets(game))
    strategy = TRIVIAL[name].buckets(abstract)
    np.testing.assert_array_equal(strategy.weights, strategy.strategy())
    for _player, key, row in strategy.infosets():
        assert list(row.values()) == TRIVIAL[name].row(list(row)).tolist(), key


class Caller:
    """A model that is asked for one information set after the other."""

    def __init__(self, row: Mapping[str, float] | None = None, confidence: float = 0.25) -> None:
        self.row, self.confidence = row, confidence

    def predict(self, player: int, infoset: str) -> tuple[Mapping[str, float], float]:
        facing = infoset.endswith(("b", "r"))
        return self.row or ({"call": 1.0} if facing else {"check": 1.0}), self.confidence


class Table:
    def __init__(self, strategy: Any, confidence: Any) -> None:
        self.given = strategy, confidence

    def table(self, form: Any) -> Any:
        return self.given


def test_every_kind_of_model_becomes_tables() -> None:
    called = policy_table("always-call", KUHN)
    for model in (Caller(), Table(called, np.float64(0.25))):
        strategy, confidence = model_table(model, KUHN)
        np.testing.assert_array_equal(strategy, called)
        assert np.all(confidence == 0.25)
    strategy, confidence = model_table(TRIVIAL["always-call"].tabular(KUHN), KUHN)
    np.testing.assert_array_equal(strategy, called)
    assert np.all(confidence == 1.0)
    np.testing.assert_array_equal(model_table("always-call", KUHN)[0], called)
    tight = model_table("tight", KUHN)[0]
    assert tight[KUHN.entry(1, "J:b", "fold")] == 1.0


def test_strategies_of_buckets_fit_tilted_games_and_trees() -> None:
    game, tilted = bucket_leduc(), bucket_leduc(tilt=Tilt(7.0, 0.0, 0.0, 7.0))
    probe = TRIVIAL["50/50"].buckets(tilted)
    np.testing.assert_array_equal(model_table(probe, game)[0], probe.strategy())
    tree = open_game("leduc_limit_2p", "history")
    np.testing.assert_array_equal(model_table(probe, tree)[0], TRIVIAL["50/50"].tabular(tree).table)
    coarse = BucketGame.build(LEDUC, forgetting(LEDUC), name="leduc_limit_2p")
    with pytest.raises(StrategyError, match="not a strategy in this card abstraction"):
        model_table(probe, coarse)
    seen = random_counts(tilted, 1)
    assert FrequencyModel(seen).table(game)[0].shape == (game.num_entries,)
    with pytest.raises(StrategyError, match="another form or abstraction"):
        FrequencyModel(seen).table(coarse)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        pytest.param(3, "a model is a strategy, a ready-made opponent, or an object with table", id="number"),
        pytest.param("tigth", "no strategy 'tigth'; did you mean 'tight'", id="name"),
        pytest.param(Caller({"jump": 1.0}), "predicts 'jump' in .* of player 1, which has", id="action"),
        pytest.param(Table(np.full(24, 0.4), 1.0), r"sums to 1; the model gives \[0.4, 0.4\] in 'J:' of p", id="sum"),
        pytest.param(Table(np.full(24, 0.5), np.arange(24) / 24), "one number for all actions", id="row"),
        pytest.param(Caller(confidence=1.5), r"lies in \[0, 1\]", id="confidence"),
        pytest.param(Table(np.ones(3), 1.0), "the model gives predictions of shape", id="shape"),
        pytest.param(TabularStrategy.uniform("leduc"), "of leduc does not fit kuhn", id="game"),
    ],
)
def test_what_is_no_model(model: Any, said: str) -> None:
    with pytest.raises(StrategyError, match=said):
        model_table(model, KUHN)


def test_default_policies_of_games_without_calls() -> None:
    tree = open_game("matching_pennies", "history")
    seen = Observations(tree, np.zeros(tree.num_entries, np.int64))
    with pytest.raises(StrategyError, match="call cannot be played in"):
        FrequencyModel(seen).table(tree)
    assert FrequencyModel(seen, "uniform").table(tree)[0][0] == 1 / len(tree.actions_of(0))


def test_thin_data_are_reported() -> None:
    counts = np.zeros(KUHN.num_entries, np.int64)
    rows = {"K:": 1, "Q:": 10, "J:": 89}
    for name, seen in rows.items():
        counts[KUHN.entry(0, name, "check")] = seen
    report = Observations(KUHN, counts).data_report()
    assert (report.infosets, report.infosets_seen, report.infosets_enough) == (12, 3, 2)
    assert (report.new_share, report.thin_share) == (0.01, 0.11)
    assert report.thin
    assert "about 11% of the opponent's decisions" in report.warnings()[0]
    assert Observations(KUHN, counts).data_report(player=1).decisions == 0
    assert "nothing was observed" in Observations(KUHN, counts * 0).data_report().warnings()[0]
    many = Observations(KUHN, counts * 100, unseen=10_000).data_report()
    assert not many.thin
    assert many.warnings() == [
        "50% of the opponent's decisions were made with cards that the logs do not show; they are not counted, so that "
        "hands that reach a showdown weigh too much and folds are rarer than in truth"
    ]


def test_observations_check_their_counts() -> None:
    with pytest.raises(StrategyError, match="kuhn has 24 entries, each with a count"):
        Observations(KUHN, np.zeros(3, np.int64))
    with pytest.raises(StrategyError, match="at least 0; got -1"):
        Observations(KUHN, np.full(24, -1))


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "opponent-modelling.md").read_text("utf-8")
    names: dict[str, Any] = {}
    for part in page.split("```python\n")[1:]:
        exec(part.split("```")[0], names)
    assert names["seen"].hands == 10_000
