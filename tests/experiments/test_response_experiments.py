"""Responses to an observed opponent: what is printed follows from the points, and a folder continues to the same."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterplay.errors import CounterplayError
from counterplay.experiments import data_biased_responses, pooled_responses, restricted_responses, run_experiment
from counterplay.experiments.shared import observed_opponent
from counterplay.experiments.shared.observed_opponent import EQUILIBRIUM, Asked, Point

CHEAP = {"figures": "a", "grid": "0.5,0.9,1"}


def point(true: float, risk: float = 10.0) -> Point:
    return Point(risk, 50.0, true, 1.0, 10, 1.0)


def without_times(rows: Any) -> list[Any]:
    return [row[:-1] for row in rows]


@pytest.mark.parametrize("name", ["restricted-responses", "data-biased-responses"])
def test_nobody_wins_more_from_orange_than_it_can_be_exploited_for(name: str) -> None:
    found = run_experiment(name, "quick", **CHEAP)
    curves: dict[Any, list[Any]] = {}
    for row in found.rows[1:]:
        curves.setdefault(row[:3], []).append(row)
    assert len(curves) == (1 if name == "restricted-responses" else 4)
    for rows in curves.values():
        assert [row[3] for row in rows] == [0.5, 0.9, 1.0]
        for before, after in itertools.pairwise(rows):
            assert after[5] > before[5] - before[7] - after[7]  # what is won from the model rises with p
            assert after[4] > before[4] - before[7] - after[7]  # and so does what is risked
    with observed_opponent.temporary_folder(None) as folder:
        most = observed_opponent.open_opponent(observed_opponent.SMALL, folder).exploitability
    assert 5.0 < most < 50.0
    assert max(row[6] for row in found.rows) <= most
    assert found.rows[0][4] < 0.6  # the equilibrium


def test_p_1_is_the_best_response_to_the_model() -> None:
    found = run_experiment("restricted-responses", "quick", figures="a", grid="1")
    with observed_opponent.temporary_folder(None) as folder:
        setting = observed_opponent.SMALL
        opponent = observed_opponent.open_opponent(setting, folder)
        seen = observed_opponent.observed(setting, folder, "probe", 10_000)
        model = observed_opponent.FrequencyModel(seen).table(opponent.form)[0]
        walks = opponent.pairs.walks(opponent.form)
        most = opponent.unit * sum(walks.measure(model).best_response) / 2
    assert found.rows[-1][3:6:2] == (1.0, pytest.approx(most, rel=1e-9))


def test_a_folder_continues_to_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run_experiment("restricted-responses", "quick", **CHEAP)
    solve, calls = observed_opponent._solved, 0

    def interrupted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return solve(*arguments)

    monkeypatch.setattr(observed_opponent, "_solved", interrupted)
    part = run_experiment("restricted-responses", "quick", **CHEAP, folder=str(tmp_path))
    assert part.interrupted
    assert without_times(part.rows) == without_times(whole.rows[:2])
    rest = run_experiment("restricted-responses", "quick", **CHEAP, folder=str(tmp_path))
    assert calls == 5
    assert without_times(rest.rows) == without_times(whole.rows)
    again = run_experiment("restricted-responses", "quick", **CHEAP, folder=str(tmp_path))
    assert (calls, again.rows) == (5, rest.rows)
    with pytest.raises(CounterplayError, match="is of other responses; name another folder"):
        run_experiment("restricted-responses", "quick", figures="c", folder=str(tmp_path))


def test_workers_find_the_same(tmp_path: Path) -> None:
    alone = run_experiment("data-biased-responses", "quick", figures="c", grid="0.9,1")
    many = run_experiment("data-biased-responses", "quick", figures="c", grid="0.9,1", workers=2, folder=str(tmp_path))
    assert without_times(many.rows) == without_times(alone.rows)


def test_responses_of_the_figures() -> None:
    every = restricted_responses.wanted("abc", (1000, 100, 10), (0.0, 0.5, 1.0), (0.3,), (0.9,))
    assert every[0] == EQUILIBRIUM
    assert [tuple(one[2:]) for one in every[1:]] == [
        ("probe", 1000, 0.5), ("probe", 1000, 1.0), ("probe", 100, 0.9), ("probe", 10, 0.9), ("self", 1000, 0.9),
    ]  # fmt: skip
    biased = data_biased_responses.wanted("abc", (1000, 100), (0.5, 0.9), (0.9,))
    assert len(biased) == len(set(biased)) == 1 + 8 + 1 + 1


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("restricted-responses", {"grid": "some"}, "a curve has values of p separated by commas"),
        ("restricted-responses", {"grid": "0.5,1.5"}, "p is a probability, from 0 to 1; got 1.5"),
        ("restricted-responses", {"grid": 1.5}, "p is a probability, from 0 to 1; got 1.5"),
        ("restricted-responses", {"figures": "a,d"}, "there is no figure 'd'; figures are some of a,b,c"),
        ("data-biased-responses", {"figures": "z"}, "there is no figure 'z'"),
        ("pooled-responses", {"error": 0.0}, "error is a probability"),
        ("pooled-responses", {"pmax": 1.5}, "p is a probability, from 0 to 1; got 1.5"),
        ("pooled-responses", {"confidence": "lineal"}, "did you mean 'linear'?"),
        ("pooled-responses", {"hands": 4}, "hands must be one for each of 5 members at least; got 4"),
    ],
)
def test_refused_before_orange_is_solved(
    name: str, options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (observed_opponent, pooled_responses):
        monkeypatch.setattr(module, "open_opponent", lambda *_: pytest.fail("solved"))
    with pytest.raises(CounterplayError) as error:
        run_experiment(name, "quick", **options)
    assert message in str(error.value)


def test_what_is_said_of_restricted_responses() -> None:
    points = {EQUILIBRIUM: point(2.0)}
    for source, hands, values in (
        ("probe", 1_000_000, (5.0, 9.0, 7.0)), ("probe", 100_000, (3.0, 4.0, 1.0)), ("probe", 100, (1.0, 0.0, -9.0)),
        ("self", 1_000_000, (2.5, 1.0, 0.0)),
    ):  # fmt: skip
        points |= {
            Asked("rnr", "", source, hands, p): point(value) for p, value in zip((0.5, 0.9, 1.0), values, strict=True)
        }
    said = list(restricted_responses.verdicts(points, (1_000_000, 100_000, 100)))
    assert said[0] == "An equilibrium wins 2.00 from Orange."
    assert said[1].endswith("with p = 0.9: 9.00; with p = 1 it is 7.00. Larger p fit the model too closely: yes.")
    assert said[2].endswith("Some p is not useless: yes.")
    assert said[3].endswith("Large p is worse than the equilibrium: yes.")
    assert "gains 0.50 where hands against Probe gain 7.00" in said[4]
    assert said[4].endswith("Nearly useless (less than a fifth): yes.")
    points[Asked("rnr", "", "probe", 100, 1.0)] = point(2.1)
    assert list(restricted_responses.verdicts(points, (1_000_000, 100)))[2].endswith("the equilibrium: NO.")


def test_what_is_said_of_data_biased_responses() -> None:
    points = {EQUILIBRIUM: point(2.0, 1.0)}
    for kind, values in (("1-step", (5.0, 9.0, 1.0)), ("10-step", (5.0, 6.0, 7.0)), ("linear", (5.0, 6.0, 7.0))):
        points |= {
            Asked("dbr", kind, "probe", 1000, p): point(value, 4.0 * p)
            for p, value in zip((0.5, 0.9, 1.0), values, strict=True)
        }
    points[Asked("dbr", "linear", "self", 1000, 1.0)] = point(-1.5)
    said = list(data_biased_responses.verdicts(points, (1000,)))
    assert said[1].endswith("Fits the model too closely: yes, published: yes.")
    assert said[2].endswith("Fits the model too closely: NO, published: NO.")
    assert "10-step is never worse than the equilibrium against Orange, up to the gaps of both: yes" in said[4]
    assert "linear is never worse than the equilibrium against Orange, up to the gaps of both: NO" in said[5]
    assert "-3.50 (1,000 hands against self, Pmax = 1)" in said[5]
    assert said[6] == "b. linear, 1,000 hands, Pmax < 1: at most 2.60 more exploitable than the equilibrium."
    assert said[7].endswith("gains -3.50 over the equilibrium. Useful: NO.")


def test_a_population_is_one_opponent() -> None:
    found = run_experiment("pooled-responses", "quick")
    rows = {row[0]: row[1:] for row in found.rows}
    members = [row for name, row in rows.items() if name not in ("mean", "exploitability", "published, humans")]
    assert len(members) == 5
    for row in members:
        assert all(won is not None and won <= row[3] for won in row[:3])  # nobody wins more than a best response
    means = np.array(members, float).mean(axis=0)
    assert rows["mean"] == pytest.approx(tuple(means))
    assert means[2] > means[0] > 0.0
    assert found.notes[0].endswith(": yes.")
    assert found.notes[1].split("in the mean: ")[1].startswith("yes")
    risks = rows["exploitability"]
    assert risks[0] < risks[1] < risks[2]
