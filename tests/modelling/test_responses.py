"""Responses to a model: what each kind wins and risks, in games of the registry and in one of the user's."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import CounterplayError
from counterplay.modelling import GRID, FrequencyModel, Response, observe_play, respond, response_curve
from counterplay.modelling.response_runs import ResponseRun
from tests.reference.best_response import best_response
from tests.reference.walks import Profile, expected_values, random_profile, uniform_profile


def as_profile(strategy: cp.Strategy) -> Profile:
    """A strategy as the reference has it; names of infosets and actions of these games are their texts."""
    return {(player, name): dict(row) for player, name, row in strategy.infosets()}


def both(game: Any, response: Response, opponent: Profile) -> tuple[float, float]:
    """What a response wins from an opponent and what best responses win from it, in the mean of both seats."""
    own = as_profile(response.strategy)
    seats = [{key: (own if key[0] == seat else opponent)[key] for key in own} for seat in range(2)]
    won = sum(expected_values(game, profile)[seat] for seat, profile in enumerate(seats)) / 2
    return won, sum(best_response(game, own, player)[0] for player in range(2)) / 2


@pytest.mark.parametrize("kind", ["rnr", "dbr", "mixture"])
def test_the_ends_are_an_equilibrium_and_a_best_response(kind: str) -> None:
    game = cp.make("leduc")
    model = uniform_profile(game)
    best = sum(best_response(game, model, player)[0] for player in range(2)) / 2
    careful, bold = respond("leduc", "uniform", kind, 0.0), respond("leduc", "uniform", kind, 1.0)
    assert careful.exploitability == pytest.approx(0.0, abs=1e-8)
    assert bold.value_against_model == pytest.approx(best, abs=1e-8)
    assert respond("leduc", "uniform", "best").value_against_model == pytest.approx(best, abs=1e-12)


def test_the_numbers_are_those_of_plain_walks() -> None:
    game = cp.make("kuhn")
    true = random_profile(game, 4)
    rows = {key: {str(action): share for action, share in row.items()} for key, row in true.items()}
    known = cp.TabularStrategy.from_table("kuhn", {(player, str(name)): row for (player, name), row in rows.items()})
    for kind, more in (("rnr", {"p": 0.8}), ("dbr", {"p": 0.8}), ("mixture", {"p": 0.8}), ("best", {}),
                       ("safe", {"epsilon": 0.05})):  # fmt: skip
        found = respond("kuhn", "always-call", kind, true=known, **more)
        model = as_profile(cp.TabularStrategy.from_table("kuhn", {}))
        model = {key: {a: float(a in ("check", "call")) for a in row} for key, row in model.items()}
        won, lost = both(game, found, model)
        assert found.value_against_model == pytest.approx(won, abs=1e-12), kind
        assert found.exploitability == pytest.approx(lost, abs=1e-12), kind
        assert found.value_against_true == pytest.approx(both(game, found, as_profile(known))[0], abs=1e-12), kind


def test_exploitation_and_exploitability_grow_with_p_and_lie_on_the_frontier() -> None:
    curve = response_curve("kuhn", cp.TabularStrategy.random("kuhn", 7), ["rnr"], GRID)
    won = [point.value_against_model for point in curve.points]
    lost = [point.exploitability for point in curve.points]
    assert np.all(np.diff(won) >= -1e-9)
    assert np.all(np.diff(lost[:-1]) >= -1e-9)  # at 1 any best response will do


def test_a_mixture_plays_like_a_choice_before_the_game() -> None:
    model = cp.TabularStrategy.random("kuhn", 1)
    bold, careful = respond("kuhn", model, "best"), respond("kuhn", model, "mixture", 0.0)
    mixed = respond("kuhn", model, "mixture", 0.3, true=cp.TabularStrategy.random("kuhn", 2))
    for other in range(2, 5):  # against whoever: the trade-off is linear
        opponent = as_profile(cp.TabularStrategy.random("kuhn", other))
        one, two, three = (both(cp.make("kuhn"), response, opponent)[0] for response in (bold, careful, mixed))
        assert three == pytest.approx(0.3 * one + 0.7 * two, abs=1e-12)
    assert mixed.exploitability <= 0.3 * bold.exploitability + 1e-9


def test_safe_gives_away_what_it_may_and_lies_on_the_points_of_restricted_nash() -> None:
    found = respond("kuhn", "uniform", "safe", epsilon=0.05)
    assert found.exploitability == pytest.approx(0.05, abs=1e-8)
    for p in (0.3, 0.5, 0.8):
        bold = respond("kuhn", "uniform", "rnr", p)
        frontier = respond("kuhn", "uniform", "safe", epsilon=bold.exploitability)
        assert frontier.value_against_model == pytest.approx(bold.value_against_model, abs=1e-8)


@pytest.mark.parametrize(
    ("algorithm", "iterations", "near"),
    [("cfr+", 3000, 1e-4), ("cfr", 3000, 0.01), ("dcfr", 2000, 1e-4), ("external-sampling", 200_000, 0.005),
     ("chance-sampling", 80_000, 0.005)],
)  # fmt: skip
def test_algorithms_come_to_the_linear_program(algorithm: str, iterations: int, near: float) -> None:
    for p in (0.3, 0.8):
        exact = respond("kuhn", "always-call", "rnr", p)
        found = respond("kuhn", "always-call", "rnr", p, algorithm=algorithm, iterations=iterations)
        objective = [p * one.value_against_model - (1 - p) * one.exploitability for one in (found, exact)]
        assert objective[1] - 2 * found.gap - 1e-9 <= objective[0] <= objective[1] + 1e-9
        assert found.gap < near
        assert (found.algorithm, found.iterations, found.status) == (algorithm, iterations, "iterations")


class Pennies(cp.Game):
    """Somebody's own game: the first player hides a coin, or passes; the second guesses."""

    players = 2

    def root(self) -> cp.State:
        """Nothing is hidden yet."""
        pay = {("heads", "heads"): -1, ("tails", "tails"): -2, ("heads", "tails"): 1, ("tails", "heads"): 1}
        return cp.decision(0, "hide", {
            side: cp.decision(1, "guess", {
                guess: cp.terminal(pay[side, guess], -pay[side, guess]) for guess in ("heads", "tails")
            }) for side in ("heads", "tails")
        })  # fmt: skip


class Habit:
    """Somebody's own predictor: it is sure of one player, and knows nothing of the other."""

    def predict(self, player: int, infoset: str) -> tuple[dict[str, float], float]:
        """The first player hides heads in three of four games."""
        return ({"heads": 0.75, "tails": 0.25}, 1.0) if infoset == "hide" else ({"heads": 0.5, "tails": 0.5}, 0.0)


def test_a_game_and_a_predictor_of_the_user() -> None:
    found = respond(Pennies(), Habit(), "dbr", 0.9)
    # the first player hides heads in at least 0.9 * 3/4 of the games, which is more than the 3/5 of the equilibrium
    assert found.strategy[1, "guess"]["heads"] == pytest.approx(1.0)
    # of the second player nothing is believed, so the first one plays the equilibrium: 3/5 heads, which costs 1/5
    assert found.strategy[0, "hide"]["heads"] == pytest.approx(0.6, abs=1e-9)
    assert found.against_model == pytest.approx((-0.2, 0.5), abs=1e-9)


def test_points_that_are_solved_are_not_solved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[tuple[str, float | None]] = []
    run: Callable[..., Response] = ResponseRun.run
    kept = tmp_path / "points"

    def counted(self: ResponseRun, *args: Any) -> Response:
        if len(solved) == 3:
            solved.append(("stop", None))
            raise KeyboardInterrupt
        solved.append((self.asked.kind, self.asked.p))
        return run(self, *args)

    monkeypatch.setattr(ResponseRun, "run", counted)
    whole = {"kinds": ["rnr", "mixture"], "grid": [0.0, 0.5, 1.0]}
    first = response_curve("kuhn", "uniform", **whole, checkpoint=kept)
    assert not first.complete
    assert len(first.points) == 3
    again = response_curve("kuhn", "uniform", **whole, resume=kept)
    assert again.complete
    assert solved == [("rnr", 0.0), ("rnr", 0.5), ("rnr", 1.0), ("stop", None), ("mixture", 0.0), ("mixture", 0.5),
                      ("mixture", 1.0)]  # fmt: skip
    assert again.points[:3] == first.points
    with pytest.raises(CounterplayError, match="digest"):
        response_curve("kuhn", "always-call", **whole, resume=kept)


def test_a_curve_as_table_and_picture(tmp_path: Path) -> None:
    curve = response_curve("kuhn", "uniform", ["rnr", "safe"], [0.5, 1.0], true="always-call")
    curve.to_csv(tmp_path / "x.csv")
    lines = (tmp_path / "x.csv").read_text().splitlines()
    assert lines[0] == "kind,p,exploitability,value_against_model,value_against_true,gap,iterations,seconds"
    assert lines[1].startswith("rnr,0.5,0.0833333333333")
    assert len(lines) == 1 + 2 + 25
    figure = curve.plot(tmp_path / "x.png")
    drawn = {line.get_label(): line.get_xydata() for line in figure.axes[0].get_lines()}
    points = [(1000 * point.exploitability, 1000 * point.value_against_model) for point in curve.of("rnr")]
    assert np.allclose(drawn["restricted Nash response (rnr)"], points)  # in mbb/g: Kuhn has antes of 1
    assert [axes.get_title() for axes in figure.axes] == ["against the model", "against the opponent itself"]
    assert (tmp_path / "x.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("kuhn", "uniform", "rnr", 1.5), "p is a probability, from 0 to 1; got 1.5"),
        (("kuhn", "uniform", "rnr", float("nan")), "p is a probability, from 0 to 1; got nan"),
        (("kuhn", "uniform", "rnr"), "rnr needs a probability p, from 0 to 1"),
        (("kuhn", "uniform", "dbr"), "dbr needs the cap Pmax of the confidence, from 0 to 1"),
        (("kuhn", "uniform", "best", 0.5), "p is for rnr, dbr and mixture; best has none"),
        (("kuhn", "uniform", "safe"), "safe needs epsilon, the exploitability that it may have, in chips"),
        (("kuhn", "uniform", "data-biased", 0.5), "there is no kind of response 'data-biased'; did you mean 'dbr'?"),
        (("kuhn", "unifrm", "rnr", 0.5), "there is no opponent 'unifrm'; did you mean 'uniform'?"),
        (("kuhn(players=3)", "uniform", "rnr", 0.5), "responses are for two players; kuhn(players=3) has 3"),
        (("kuhn", cp.TabularStrategy.uniform("leduc"), "rnr", 0.5), "a strategy of leduc does not fit kuhn"),
        ((None, "uniform", "rnr", 0.5), "the opponent uniform plays many games; name one"),
        (("kuhn", "uniform", "rnr", 0.5, {"algorithm": "pure-cfr"}), "on the histories of a game; use cfr, cfr+"),
        (("kuhn", "uniform", "rnr", 0.5, {"algorithm": "cfr-br"}), "cfr-br takes no restricted opponent on"),
        (("kuhn", "uniform", "rnr", 0.5, {"resume": "x"}), "rnr is solved by a linear program here and has no check"),
        (("kuhn", "uniform", "rnr", 0.5, {"algoritm": "cfr+"}), "has no algoritm; did you mean algorithm?"),
        (("kuhn", "uniform", "rnr", 0.5, {"gamma": 2.0}), "rnr is solved by a linear program here and has no gamma"),
        (("kuhn", "uniform", "rnr", 0.5, {"until": "x"}), "solved by a linear program here, without iterations; leave"),
        (("kuhn", "uniform", "rnr", 0.5, {"checkpoint": "x"}), "has no checkpoint; leave out checkpoint"),
        (("kuhn", "uniform", "rnr", 0.5, {"boards": 9}), "boards is for card abstractions; name one with cards"),
        (("kuhn", "uniform", "rnr", 0.5, {"forget": "x"}), "responses have no forget; leave it out"),
        (("kuhn", "uniform", "rnr", 0.5, {"algorithm": "cfr+", "threads": 4}), "cfr+ works in one thread"),
        (("kuhn", "uniform", "best", None, {"algorithm": "cfr+"}), "best is computed at once; leave out algorithm"),
        (("kuhn", "uniform", "best", None, {"seconds": 3}), "best is computed at once here, without iterations"),
        (("kuhn", 7, "rnr", 0.5), "a model is a strategy, a ready-made opponent, or an object with table"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(call: tuple[Any, ...], message: str) -> None:
    with pytest.raises(CounterplayError) as error:
        respond(*call[:4], **(call[4] if len(call) > 4 else {}))
    assert message in str(error.value)


def test_a_data_biased_response_that_trusts_nothing_says_so() -> None:
    few, many = (FrequencyModel(observe_play(cp.compile_game("kuhn"), "uniform", hands)) for hands in (5, 500))
    found = respond("kuhn", few, "dbr", 0.9)
    assert found.notes[-1] == "no prediction is trusted with so few data: this response is an equilibrium"
    assert found.exploitability == pytest.approx(0.0, abs=1e-9)
    for model, kind in ((many, "dbr"), (few, "rnr")):
        assert not any("is trusted" in line for line in respond("kuhn", model, kind, 0.9).notes)


def test_the_report_says_both_numbers() -> None:
    found = respond("kuhn", "uniform", "rnr", 0.5, true="always-call")
    report = found.to_dict()
    assert report["kind"] == "rnr"
    assert report["p"] == 0.5
    assert report["value_against_model"] == pytest.approx(13 / 36)
    assert report["exploitability"] == pytest.approx(1 / 12)
    assert dict(found.rows())["exploitability"] == "0.083333 chips per game (83.33 mbb/g)"
    assert dict(found.rows())["wins from the model"].startswith("+0.361111 chips per game (+361.1 mbb/g);")
    assert dataclasses.asdict(found.strategy.provenance)["settings"] == {"kind": "rnr", "p": 0.5}
