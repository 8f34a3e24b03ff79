"""The experiments of Monte Carlo CFR in small forms, and in their published form where that takes long."""

from __future__ import annotations

from typing import Any

import pytest

import counterplay as cp
from counterplay.errors import CounterplayError, GameError, SolverError
from counterplay.experiments import EXPERIMENTS, run_experiment
from counterplay.experiments.average_strategy import COMPUTED, ENTRANTS
from counterplay.experiments.sampling_parameters import entrants
from counterplay.experiments.shared.bucket_games import bucket_game, cards_of
from counterplay.experiments.shared.comparison import Budget, race
from counterplay.experiments.three_player_profiles import blank_visits
from counterplay.experiments.trivial_agents import COMPUTED as TRIVIAL_AGENTS
from counterplay.experiments.trivial_agents import PUBLISHED
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.mccfr import mccfr_config


def column(experiment: Any, name: str) -> list[Any]:
    place = experiment.columns.index(name)
    return [row[place] for row in experiment.rows]


def test_probing_varies_less_than_mccfr() -> None:
    small = run_experiment("probing-variance", cards=4, iterations=10, samples=300)
    for plain, probing, ratio in (column(small, "mean")[:3], column(small, "mean")[3:]):
        assert 0.0 < probing < plain
        assert ratio == pytest.approx(plain / probing)
    assert column(small, "published") == [None] * 6
    assert {len(xs) for xs, _ in small.curves.values()} == {10}


@pytest.mark.slow
def test_variances_of_goofspiel_6() -> None:
    # Gibson 2014, section 5.3.2: 0.295 and 0.133 over 1000 iterations.
    full = run_experiment("probing-variance", iterations=1000, samples=300)
    for plain, probing, ratio in (column(full, "mean")[:3], column(full, "mean")[3:]):
        assert plain == pytest.approx(0.295, rel=0.05)
        assert probing == pytest.approx(0.133, rel=0.05)
        assert ratio == pytest.approx(0.295 / 0.133, rel=0.05)


def test_opponents_may_draw_at_every_history() -> None:
    once, each = (
        column(run_experiment("probing-variance", cards=4, iterations=20, samples=300, player=1, draws=draws), "mean")
        for draws in ("infosets", "histories")
    )
    assert once[0] > each[0]
    assert once[1] > each[1]


def test_variance_refuses_other_players() -> None:
    with pytest.raises(SolverError, match="draws is infosets or histories; got 'bids'"):
        run_experiment("probing-variance", cards=3, draws="bids")
    with pytest.raises(SolverError, match="player is 1 or 2; got 3"):
        run_experiment("probing-variance", cards=3, player=3)


def test_average_strategy_in_a_small_game() -> None:
    small = run_experiment("average-strategy", game="bluff(sides=3)", nodes=20_000, seeds=2)
    assert column(small, "algorithm") == [*ENTRANTS, "uniform play"]
    values = dict(zip(column(small, "algorithm"), column(small, "exploitability"), strict=True))
    assert values["uniform play"] == pytest.approx(5 / 9)  # computed independently
    assert values["ES"] < values["OS"] < values["uniform play"]
    assert values["AS"] == pytest.approx(values["ES"], abs=0.05)  # β = 10^6 takes nearly every action here
    assert small.xlabel == "histories touched"


def test_published_numbers_are_labelled_as_such() -> None:
    bluff = run_experiment("average-strategy", nodes=1000, seeds=1)
    assert column(bluff, "published") == [None] * len(ENTRANTS) + [0.780]
    assert column(bluff, "computed independently")[-1] is None
    for agent, published in PUBLISHED["holdem_limit_2p"].items():  # Johanson 2016, table 2.1
        assert round(TRIVIAL_AGENTS["holdem_limit_2p"][agent][0], 2) == published
    assert "figure 6.1b" in EXPERIMENTS["skewed-dice"]


def test_samplers_of_bluff_meet_the_last_strategy_of_pcs() -> None:
    """Nobody loses more than what a best response wins from him, nor wins more than what one wins from the opponent."""
    small = run_experiment("bluff-sampling", games="bluff(sides=2)", seconds=0.05, seeds=2)
    assert column(small, "sampler") == ["pcs", "cs"]
    lost, won = column(small, "0.05 s"), column(small, "wins at 0.05 s")
    for own, gain in zip(lost, won, strict=True):
        assert -own <= gain <= 4 * lost[0]  # the opponent ran as long as PCS did, on a clock that is not exact
    assert small.notes[0].startswith("bluff(sides=2): PCS is less exploitable than CS at ")
    for sampler in ("pcs", "cs"):
        last = small.curves[f"bluff(sides=2), {sampler}, against the last of PCS"][1][-1]
        assert last == won[["pcs", "cs"].index(sampler)]


@pytest.mark.slow
def test_average_strategy_in_bluff() -> None:
    # Computed independently: Bluff(1,1), 10^7 histories, 5 seeds.
    full = run_experiment("average-strategy", nodes=10**7, seeds=5)
    for label, mean, half in zip(*(column(full, name) for name in ("algorithm", "exploitability", "±")), strict=True):
        theirs, spread = COMPUTED["bluff", 10**7].get(label, (None, None))
        if theirs is not None and spread is not None:
            assert abs(mean - theirs) <= 2 * (half + spread), label


def test_parameters_are_swept() -> None:
    points = entrants(1e3)
    assert len(points) == 28
    small = run_experiment("sampling-parameters", game="bluff(sides=2)", nodes=2000, seeds=1)
    assert len(small.rows) == 29
    assert column(small, "±") == [None] * 29
    assert column(small, "epsilon")[-1] == "all"
    grid = [(*row[:3],) for row in small.rows[:-1]]
    assert grid[:24] == [(e, 1000.0, b) for e in (0.01, 0.05, 0.1, 0.5) for b in (1.0, 10.0, 1e3, 1e5, 1e6, 1e8)]
    assert grid[24:] == [(0.05, tau, 1e3) for tau in (1.0, 10.0, 100.0, 1e4)]
    tree = cp.compile_game("bluff(sides=2)")
    for row in (small.rows[0], small.rows[18], small.rows[24]):  # each by itself, as a solver of those settings
        settings = dict(zip(("epsilon", "tau", "beta"), row[:3], strict=True))
        alone = race(tree, {"one": ("average-strategy-sampling", settings)}, Budget(nodes=2000), [0])
        assert row[3] == alone.final("one")[0]
    assert len(set(column(small, "exploitability"))) > 5


def test_parameters_are_swept_in_buckets() -> None:
    """With a bucket for each rank the bucket game is Leduc itself: every action taken is ES, far below uniform play."""
    small = run_experiment(
        "sampling-parameters", game="leduc_limit_2p", cards="lossless,lossless", nodes=20_000, seeds=1
    )
    found = dict(zip((row[:3] for row in small.rows), column(small, "exploitability"), strict=True))
    assert len(found) == 29
    assert all(0.0 < value < 2.3736 for value in found.values())
    assert found[0.05, 1000.0, 1e8] == pytest.approx(found["all", "all", "all"], rel=0.5)


def test_probing_convergence_in_a_small_game() -> None:
    small = run_experiment("probing-convergence", game="goofspiel(cards=3)", nodes=5000, seeds=2)
    assert column(small, "algorithm") == ["MCCFR", "probing", "ES"]
    assert column(small, "below MCCFR")[0] == "0%"
    assert all(0.0 < value < 1.0 for value in column(small, "equal nodes"))


def test_a_round_robin_of_three_players() -> None:
    small = run_experiment("three-player-sampling", game="kuhn_limit_3p", cards="lossless", seconds=0.1, deals=400)
    runs = [row for row in small.rows if row[1] in ("ES", "Pure CFR")]
    assert [row[:2] for row in runs] == [(0.1 / part, name) for part in (8, 4, 2, 1) for name in ("ES", "Pure CFR")]
    assert sum(row[5] for row in runs) == pytest.approx(0.0, abs=1e-6)  # everybody sits at as many tables
    assert all(row[6] > 0.0 for row in small.rows)
    for name in ("ES", "Pure CFR"):
        done = [row[2] for row in runs if row[1] == name]
        assert done == sorted(done)  # a busy machine may pass two points of time in one step
        assert done[0] > 0
    assert small.rows[-1][1:5] == ("Pure CFR minus ES", None, None, "level")
    with pytest.raises(GameError, match="game for three players"):
        run_experiment("three-player-sampling", game="leduc_limit_2p")
    for samplers, message in (("ES,PCS", "got 'PCS'"), ("ES", "two samplers or more"), ("ES,ES", "each once")):
        with pytest.raises(SolverError, match=message):
            run_experiment("three-player-sampling", game="kuhn_limit_3p", samplers=samplers)
    with pytest.raises(GameError, match="seconds must be above 0"):
        run_experiment("three-player-sampling", game="kuhn_limit_3p", seconds=0)


def test_profiles_of_three_players() -> None:
    small = run_experiment("three-player-profiles", game="kuhn_limit_3p", buckets=2, iterations=2000, deals=40)
    names = [row[0] for row in small.rows]
    assert list(dict.fromkeys(names)) == ["Average-1X", "Current-1X", "Current-2X"]
    assert [row[1] for row in small.rows if row[0] == "Current-2X"] == [7, 31, 125, 500, 2000]
    for name in ("blank 1X", "blank 2X"):
        shares = small.curves[name][1]
        assert shares == sorted(shares, reverse=True)  # they become rare
        assert shares[-1] < 0.5 * shares[0]
    assert all(row[5] > 0.0 for row in small.rows)
    with pytest.raises(GameError, match="game for three players"):
        run_experiment("three-player-profiles", game="leduc_limit_2p")


def test_blank_visits_are_those_of_all_walks() -> None:
    """Before the first iteration every visit is blank: the own decisions below every action, one of the others'."""
    game = bucket_game("kuhn_limit_3p", cards_of("kuhn_limit_3p", "lossless"))
    solver = BucketSolver(game, mccfr_config("external-sampling", {}), "external-sampling")
    tree = game.tree

    def visits(node: int, player: int) -> float:
        below = [visits(child, player) for child in tree.children(node)] if tree.player[node] >= 0 else [0.0]
        return 1.0 + sum(below) if tree.player[node] == player else sum(below) / len(below)

    expected = sum(visits(0, player) for player in range(3))
    assert blank_visits(solver, 2000, 1) == pytest.approx(expected, rel=0.02)


@pytest.mark.slow
def test_two_rounds_of_no_limit_holdem() -> None:
    """The first time minutes, for the features of hold'em."""
    small = run_experiment("two-round-sampling", stacks="8", nodes=1_000_000, seeds=2)
    values = dict(zip(column(small, "algorithm"), column(small, "mbb/g"), strict=True))
    assert values["uniform play"] == 1103.61  # computed independently
    assert max(values["ES"], values["AS"]) < min(values["CS"], values["OS"])
    assert column(small, "relative to ES")[2] == 1.0


def test_a_round_robin_of_more_samplers() -> None:
    """All sit at as many tables; only AS, which samples by its average, keeps one."""
    names = ("ES", "AS", "OS", "probing")
    small = run_experiment(
        "three-player-sampling", game="kuhn_limit_3p", cards="lossless", samplers=",".join(names), seconds=0.02, deals=4
    )
    runs = [row for row in small.rows if row[1] in names]
    assert [row[1] for row in runs] == [*names] * 4
    assert sum(row[5] for row in runs) == pytest.approx(0.0, abs=1e-6)
    held = {row[1]: row[3] for row in runs}
    assert held["AS"] > held["ES"] == held["OS"] > 0
    assert [row[1:5] for row in small.rows[-3:]] == [
        ("AS minus ES", None, None, "level"), ("OS minus ES", None, None, "less efficient"),
        ("probing minus ES", None, None, "less efficient"),
    ]  # fmt: skip
    end = {row[1]: row[5] for row in runs[-4:]}
    assert set(end) == set(names)


def test_bluff_by_faces() -> None:
    """Each row is the run of its algorithm alone, and uniform play is that of the game."""
    small = run_experiment("bluff-faces", faces="2,3", nodes=3000, seeds=1)
    assert [(row[0], row[2]) for row in small.rows][:2] == [(2, "CS"), (2, "ES")]
    for faces in (2, 3):
        tree = cp.compile_game(f"bluff(sides={faces})")
        found = {row[2]: row for row in small.rows if row[0] == faces}
        alone = race(tree, {"ES": ("external-sampling", {})}, Budget(nodes=3000, points=1), [0])
        assert found["ES"][1] == tree.num_histories
        assert found["ES"][3] == alone.final("ES")[0]
        assert found["uniform play"][3] == pytest.approx(cp.exploitability(cp.TabularStrategy.uniform(tree), tree))
        assert found["CS"][5] == pytest.approx(found["CS"][3] / found["ES"][3])
    assert [name for name in small.curves if name.startswith("AS")] == ["AS", "AS, β = 1e3", "AS, β = 10, τ = 100"]
    with pytest.raises(CounterplayError, match="got 'six'"):
        run_experiment("bluff-faces", faces="six")


def test_stacks_are_numbers() -> None:
    with pytest.raises(CounterplayError, match="got 'all'"):
        run_experiment("two-round-sampling", stacks="20,all")
