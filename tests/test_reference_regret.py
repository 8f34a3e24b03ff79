"""The plain-Python twins of CFR and regret against numbers that were worked out elsewhere."""

from __future__ import annotations

import math
from typing import Any

import pytest

from counterplay.game import make
from counterplay.game.builder import ExplicitGame, Node, decision, terminal
from counterplay.game.game import Game
from tests.reference.best_response import best_response, exploitability, nash_gap
from tests.reference.cfr import ReferenceCfr
from tests.reference.regret import (
    action_partition,
    best_in_hindsight,
    counterfactual_regrets,
    decomposed_regret,
    external_regret,
    m_value,
)
from tests.reference.walks import (
    expected_values,
    pure_profile,
    random_profile,
    uniform_profile,
    utility_range,
)
from tests.test_reference import J, K, Q, kuhn_checkpoints, played, vanilla


@pytest.mark.parametrize(
    ("iterations", "jack_call", "queen_bet", "exploits"),
    [(10, -2.129, 0.028, 0.0962), (100, -17.129, -5.054, 0.0257), (1000, -167.129, -54.17, 0.00727)],
)
def test_regrets_of_kuhn(iterations: int, jack_call: float, queen_bet: float, exploits: float) -> None:
    """Gibson 2014, section 4.3: regrets of dominated and of iteratively dominated actions become negative for good."""
    regrets, found = kuhn_checkpoints()[iterations]
    assert regrets[0, "J:kb"]["call"] == pytest.approx(jack_call, abs=6e-4)
    assert regrets[0, "Q:"]["bet"] == pytest.approx(queen_bet, abs=6e-3 if iterations == 1000 else 6e-4)
    assert found == pytest.approx(exploits, abs=6e-5 if iterations < 1000 else 6e-6)


def test_bet_with_the_queen_starts_out_well() -> None:
    regrets, _ = kuhn_checkpoints()[1]
    assert regrets[0, "Q:"]["bet"] == 0.125


@pytest.mark.slow
def test_three_player_kuhn() -> None:
    """The average comes near an equilibrium, 37.2 and 6.1 milli-antes; the current profile does not."""
    game = make("kuhn(players=3)")
    solver = vanilla(game)
    solver.iterate(100)
    assert 1000 * nash_gap(game, solver.average()) == pytest.approx(37.2, abs=0.06)
    assert 140 <= 1000 * nash_gap(game, solver.current()) <= 300
    solver.iterate(900)
    assert 1000 * nash_gap(game, solver.average()) == pytest.approx(6.1, abs=0.06)
    assert 140 <= 1000 * nash_gap(game, solver.current()) <= 300


OPEN_SPIEL_SOLVERS: dict[str, tuple[dict[str, Any], str, str]] = {
    "cfr": ({"alternating": True, "regret_floor": False}, "cfr", "CFRSolver"),
    "cfr+": ({"alternating": True, "regret_floor": True, "gamma": 1.0}, "cfr", "CFRPlusSolver"),
    "dcfr": (
        {"alternating": True, "regret_floor": False, "alpha": 1.5, "beta": 0.0, "gamma": 2.0},
        "discounted_cfr",
        "DCFRSolver",
    ),
    "linear": (
        {"alternating": True, "regret_floor": False, "alpha": 1.0, "beta": 1.0, "gamma": 1.0},
        "discounted_cfr",
        "LCFRSolver",
    ),
}


@pytest.mark.parametrize("name", OPEN_SPIEL_SOLVERS)
def test_same_averages_as_open_spiel(name: str) -> None:
    """CFR, CFR+ and discounted CFR of OpenSpiel on Kuhn poker, 40 iterations."""
    pyspiel = pytest.importorskip("pyspiel")
    options, module_name, class_name = OPEN_SPIEL_SOLVERS[name]
    module = pytest.importorskip(f"open_spiel.python.algorithms.{module_name}")
    theirs = getattr(module, class_name)(pyspiel.load_game("kuhn_poker"))
    ours = ReferenceCfr(make("kuhn"), **options)
    for _ in range(40):
        theirs.evaluate_and_update_policy()
    ours.iterate(40)
    policy = theirs.average_policy()
    for (_, key), row in ours.average().items():
        card, _, betting = str(key).partition(":")
        row_there = policy.policy_for_key(str("JQK".index(card)) + betting.replace("k", "p"))
        assert list(row.values()) == pytest.approx(list(row_there), abs=1e-10)


# Regrets from outside --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)"])
def test_tables_of_cfr_are_the_counterfactual_regrets(name: str) -> None:
    game = make(name)
    solver = vanilla(game)
    profiles = played(solver, 12)
    for infoset, row in counterfactual_regrets(game, profiles).items():
        assert solver.regret[infoset] == pytest.approx(row, abs=1e-12)


@pytest.mark.parametrize(
    ("game", "count"),
    [
        (make("kuhn"), 6),
        (make("kuhn(players=3)"), 4),
        (make("leduc"), 2),
        (make("toy_hidden_coin"), 6),
        (make("toy_queen"), 6),
        (make("toy_mismatching_pennies"), 5),
    ],
    ids=["kuhn", "kuhn 3", "leduc", "figure 2.6b", "figure A.1", "pennies"],
)
def test_decomposition_of_regret(game: Game, count: int) -> None:
    """Gibson 2014, theorem 5.1, and theorem 2.3, for profiles that no regret minimiser would play."""
    profiles = [random_profile(game, seed) for seed in range(count)]
    regrets = counterfactual_regrets(game, profiles)
    for player in range(game.players):
        regret = external_regret(game, profiles, player)
        assert decomposed_regret(game, profiles, player) == pytest.approx(regret, abs=1e-9)
        immediate = [max(0.0, *row.values()) for (owner, _), row in regrets.items() if owner == player]
        assert regret <= sum(immediate) + 1e-9


def test_decomposition_and_bounds_along_cfr() -> None:
    """Gibson 2014, theorems 2.4, 5.1 and 5.2; the sum of average regrets is twice the average's exploitability."""
    game = make("kuhn")
    solver = vanilla(game)
    count = 50
    profiles = played(solver, count)
    regrets = [external_regret(game, profiles, player) for player in (0, 1)]
    assert sum(regrets) / count == pytest.approx(2 * exploitability(game, solver.average()), abs=1e-12)
    for player in (0, 1):
        assert decomposed_regret(game, profiles, player) == pytest.approx(regrets[player], abs=1e-9)
        _, chosen = best_in_hindsight(game, profiles, player)
        response = pure_profile(game, {(player, key): action for key, action in chosen.items()})
        tight, loose = m_value(game, player, response), m_value(game, player)
        assert tight <= loose
        assert regrets[player] / count <= utility_range(game, player) * tight * math.sqrt(2 / count)


def test_hindsight_of_one_profile_is_a_best_response() -> None:
    for name in ("kuhn", "kuhn(players=3)"):
        game = make(name)
        profile = random_profile(game, 11)
        for player in range(game.players):
            value, chosen = best_in_hindsight(game, [profile], player)
            expected_value, expected_choice = best_response(game, profile, player)
            assert value == pytest.approx(expected_value, abs=1e-12)
            assert chosen == expected_choice


def test_hindsight_of_a_player_who_forgets_tries_all_pure_strategies() -> None:
    """Set by set d looks better than c (3 + 3 against 4), yet its two gains need different first choices."""

    def second_choice(u_c: float, u_d: float) -> Node:
        return decision(1, "J", {"c": terminal(-u_c, u_c), "d": terminal(-u_d, u_d)})

    game = ExplicitGame(
        decision(
            0,
            "root",
            {
                "A": decision(1, "I", {"a": second_choice(4, 0), "b": second_choice(0, 3)}),
                "B": decision(1, "I", {"a": second_choice(0, 3), "b": second_choice(0, 0)}),
            },
        )
    )
    assert best_in_hindsight(game, [uniform_profile(game)] * 3, 1) == (6.0, {"I": "a", "J": "c"})


def test_regret_of_three_players_is_not_taken_against_the_averages() -> None:
    """Gibson 2014, section 2.2: opponents who move together leave regret that the product of their averages hides."""
    game = make("toy_mismatching_pennies")
    together = [
        pure_profile(game, {(0, "choice"): "h", (1, "choice"): side, (2, "choice"): side}) for side in ("h", "t")
    ]
    assert best_in_hindsight(game, together, 0)[0] == 2.0
    assert best_response(game, uniform_profile(game), 0)[0] == 0.0
    assert external_regret(game, together, 0) == 0.0  # h has earned 0 + 2 as well


def test_mismatching_pennies() -> None:
    """Gibson 2014, figure 4.1."""
    game = make("toy_mismatching_pennies")
    assert expected_values(game, uniform_profile(game)) == [0.0, 0.0, 0.0]
    assert nash_gap(game, uniform_profile(game)) == 0.0
    pure = pure_profile(game, {(0, "choice"): "h", (1, "choice"): "t", (2, "choice"): "t"})
    assert expected_values(game, pure) == [2.0, -1.0, -1.0]
    assert nash_gap(game, pure) == 0.0
    switched = pure_profile(game, {(0, "choice"): "h", (1, "choice"): "h", (2, "choice"): "t"})
    assert expected_values(game, switched)[:2] == [-1.0, -1.0]


def test_coarse_correlated_equilibrium_of_figure_2_5() -> None:
    """Weights 1/2, 1/4, 1/4 on (A,a), (B,b), (C,b): utility 5/4 and no regret, with C strictly dominated."""
    game = make("toy_coarse_correlated")
    pairs = [("A", "a"), ("A", "a"), ("B", "b"), ("C", "b")]
    profiles = [pure_profile(game, {(0, "player 1"): row, (1, "player 2"): column}) for row, column in pairs]
    assert sum(expected_values(game, profile)[0] for profile in profiles) / 4 == 5 / 4
    assert external_regret(game, profiles, 0) == -1.0
    assert external_regret(game, profiles, 1) == 0.0


def test_m_values() -> None:
    """Gibson 2014, section 2.2.2 and figure 2.6b; Kuhn poker from its sizes."""
    kuhn = make("kuhn")
    assert m_value(kuhn, 0) == pytest.approx(2 * math.sqrt(3), abs=1e-15)
    assert m_value(kuhn, 1) == pytest.approx(math.sqrt(6), abs=1e-15)
    assert [utility_range(kuhn, player) for player in (0, 1)] == [4.0, 4.0]
    always_bet = pure_profile(kuhn, {(0, key): "bet" for key in (J, Q, K)})
    assert m_value(kuhn, 0, always_bet) == pytest.approx(math.sqrt(3), abs=1e-15)
    game = make("toy_hidden_coin")
    parts = action_partition(game, 0)
    assert (sum(map(len, parts.values())), len(parts)) == (4, 3)
    assert m_value(game, 0) == pytest.approx(2 + math.sqrt(2), abs=1e-15)
    assert m_value(make("toy_hidden_coin(relabelled=true)"), 0) == pytest.approx(2 * math.sqrt(2), abs=1e-15)
    assert m_value(game, 0) < math.sqrt(4 * 3)  # the inequality of earlier work the other way round is false
