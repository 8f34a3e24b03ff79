"""The plain-Python twins against numbers that were worked out elsewhere: by hand, in papers, in OpenSpiel."""

from __future__ import annotations

import math
from functools import cache

import pytest

from counterplay.game import make
from counterplay.game.builder import ExplicitGame, decision, terminal
from counterplay.game.game import Game
from counterplay.games.matrix import TensorGame
from tests.reference.best_response import best_response, brute_force_best_response, exploitability, nash_gap
from tests.reference.cfr import ReferenceCfr, discount, regret_matching
from tests.reference.regret import (
    decomposed_regret,
    external_regret,
)
from tests.reference.sequence_lp import solve_zero_sum, zero_sum_value
from tests.reference.walks import (
    Profile,
    Table,
    counterfactual_reaches,
    expected_values,
    has_perfect_recall,
    histories,
    infosets,
    own_reaches,
    pure_profile,
    random_profile,
    uniform_profile,
)

J, Q, K = "J:", "Q:", "K:"


def vanilla(game: Game, fallback: str = "uniform") -> ReferenceCfr:
    """CFR as in Gibson 2014, algorithm 1: one frozen profile per iteration."""
    return ReferenceCfr(game, alternating=False, regret_floor=False, fallback=fallback)


def played(solver: ReferenceCfr, iterations: int) -> list[Profile]:
    """The profiles sigma^1 .. sigma^T of a solver that updates everybody at once."""
    profiles = []
    for _ in range(iterations):
        profiles.append(solver.current())
        solver.iterate(1)
    return profiles


@cache
def kuhn_checkpoints() -> dict[int, tuple[Table, float]]:
    """Vanilla CFR on Kuhn poker: regrets and exploitability of the average after 1, 10, 100 and 1000 iterations."""
    game = make("kuhn")
    solver = vanilla(game)
    found = {}
    for stop in (1, 10, 100, 1000):
        solver.iterate(stop - solver.iteration)
        regrets = {infoset: dict(row) for infoset, row in solver.regret.items()}
        found[stop] = (regrets, exploitability(game, solver.average()))
    return found


# Sizes and walks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sets", "terminals", "nodes"),
    [("kuhn", 12, 30, 58), ("kuhn(players=3)", 48, 312, 617), ("kuhn(players=4)", 160, 3960, 7886)],
)
def test_sizes_of_kuhn(name: str, sets: int, terminals: int, nodes: int) -> None:
    """Gibson 2014, section 3.2."""
    game = make(name)
    counts = histories(game)
    assert (len(infosets(game)), counts["terminal"], counts["all"]) == (sets, terminals, nodes)


def test_size_of_leduc() -> None:
    """Johanson 2016, section 1.1: 288 information sets when cards are seen by rank."""
    game = make("leduc")
    assert len(infosets(game)) == 288
    assert all(has_perfect_recall(game, player) for player in (0, 1))


def test_random_profiles_are_distributions_and_repeat() -> None:
    game = make("kuhn")
    profile = random_profile(game, 3)
    assert profile == random_profile(game, 3) != random_profile(game, 4)
    assert all(math.isclose(sum(row.values()), 1.0) and min(row.values()) > 0.0 for row in profile.values())


def test_recall_of_figures() -> None:
    forgetful = make("toy_forgotten_choice")
    assert [has_perfect_recall(forgetful, player) for player in (0, 1)] == [True, False]
    assert not has_perfect_recall(make("toy_forgotten_lever"), 0)
    assert not has_perfect_recall(make("toy_deadlock"), 0)
    assert has_perfect_recall(make("toy_queen"), 0)


def test_own_reach_under_the_average_is_the_average_own_reach() -> None:
    """Gibson 2014, section 2.2."""
    game = make("kuhn(players=3)")
    solver = vanilla(game)
    profiles = played(solver, 7)
    reached = own_reaches(game, solver.average())
    for infoset in infosets(game):
        mean = sum(own_reaches(game, profile)[infoset] for profile in profiles) / len(profiles)
        assert reached[infoset] == pytest.approx(mean, abs=1e-12)


# Values and best responses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "responses"),
    [
        ("kuhn", [1 / 8, -1 / 8], [1 / 2, 5 / 12]),
        ("kuhn(players=3)", [0.234375, -0.046875, -0.1875], [0.78125, 0.645833, 0.635417]),
        ("leduc", [-0.078125, 0.078125], [2.0875, 2.659722]),
        pytest.param(
            "leduc(players=3)", [-0.158613, -0.019097, 0.177710], [3.862153, 4.037452, 4.643962], marks=pytest.mark.slow
        ),
    ],
)
def test_uniform_profile(name: str, values: list[float], responses: list[float]) -> None:
    """Gibson 2014, chapters 3 and 4: the games; the numbers come from a separate program."""
    game = make(name)
    profile = uniform_profile(game)
    assert expected_values(game, profile) == pytest.approx(values, abs=6e-7)
    for player, response in enumerate(responses):
        assert best_response(game, profile, player)[0] == pytest.approx(response, abs=6e-7)


def kuhn_profile(
    bet: dict[str, float], call: dict[str, float], bet_2: dict[str, float], call_2: dict[str, float]
) -> Profile:
    """A profile of two-player Kuhn poker from the probabilities of bet and call with each card."""
    profile: Profile = {}
    for card in "JQK":
        profile[0, card + ":"] = {"check": 1 - bet[card], "bet": bet[card]}
        profile[0, card + ":kb"] = {"fold": 1 - call[card], "call": call[card]}
        profile[1, card + ":k"] = {"check": 1 - bet_2[card], "bet": bet_2[card]}
        profile[1, card + ":b"] = {"fold": 1 - call_2[card], "call": call_2[card]}
    return profile


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_equilibria_of_kuhn(gamma: float) -> None:
    """The family of equilibria of Kuhn 1950; Gibson 2014, section 4.4.1."""
    profile = kuhn_profile(
        {"J": gamma / 3, "Q": 0.0, "K": gamma},
        {"J": 0.0, "Q": (1 + gamma) / 3, "K": 1.0},
        {"J": 1 / 3, "Q": 0.0, "K": 1.0},
        {"J": 0.0, "Q": 1 / 3, "K": 1.0},
    )
    game = make("kuhn")
    assert expected_values(game, profile)[0] == pytest.approx(-1 / 18, abs=1e-15)
    assert exploitability(game, profile) == pytest.approx(0.0, abs=1e-15)


def test_agents_of_the_mock_tournament() -> None:
    """Gibson 2014, table 4.1: exploitability 458.333, 187.5 and 166.667 milli-chips."""
    game = make("kuhn")
    half = {"J": 0.5, "Q": 0.5, "K": 0.5}
    sensible = {"J": 0.0, "Q": 0.5, "K": 1.0}
    careful = {"J": 0.5, "Q": 0.0, "K": 0.5}
    assert exploitability(game, kuhn_profile(half, half, half, half)) == pytest.approx(458.333e-3, abs=1e-6)
    assert exploitability(game, kuhn_profile(half, sensible, half, sensible)) == pytest.approx(187.5e-3, abs=1e-6)
    assert exploitability(game, kuhn_profile(careful, sensible, half, sensible)) == pytest.approx(166.667e-3, abs=1e-6)


def test_equilibrium_of_three_player_kuhn() -> None:
    """A member of the family of Szafron, Gibson and Sturtevant 2013 with c11 = 0 and b11 = b21 = 1/4."""
    b11 = b21 = big = 0.25
    b33 = 0.5 + (b11 + b21) / 2 + big / 2
    # Rows: cards 1 .. 4.  Columns: situations 1 .. 4 of each player.
    table: dict[int, tuple[list[str], list[list[float]]]] = {
        0: (["", "kkb", "kbf", "kbc"], [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0.5, 0], [0, 1, 1, 1]]),
        1: (["k", "b", "kkbf", "kkbc"], [[b11, 0, 0, 0], [b21, 0, 0, 0], [0, 0.5, b33, 0], [2 * (b11 + b21), 1, 1, 1]]),
        2: (["kk", "kb", "bf", "bc"], [[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0, 0.2, 0.3], [1, 1, 1, 1]]),
    }
    game = make("kuhn(players=3)")
    profile: Profile = {}
    for player, (situations, rows) in table.items():
        for card, row in enumerate(rows, start=1):
            for situation, probability in zip(situations, row, strict=True):
                passive, active = ("fold", "call") if "b" in situation else ("check", "bet")
                profile[player, f"{card}:{situation}"] = {passive: 1.0 - probability, active: float(probability)}
    assert profile.keys() == infosets(game).keys()
    assert expected_values(game, profile) == pytest.approx([-(0.5 + big) / 24, -1 / 48, (1 + big) / 24], abs=1e-15)
    assert nash_gap(game, profile) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_recursion_and_enumeration_agree(seed: int) -> None:
    for game in (make("kuhn"), make("toy_hidden_coin"), make("toy_queen"), make("toy_mismatching_pennies")):
        profile = random_profile(game, seed)
        for player in range(game.players):
            value, chosen = best_response(game, profile, player)
            tried_value, tried = brute_force_best_response(game, profile, player)
            assert value == pytest.approx(tried_value, abs=1e-12)
            assert all(chosen[key] == action for key, action in tried.items())
            replies = pure_profile(game, {(player, key): action for key, action in chosen.items()})
            mixed = {infoset: (replies if infoset[0] == player else profile)[infoset] for infoset in profile}
            assert expected_values(game, mixed)[player] == pytest.approx(value, abs=1e-12)


def test_first_of_equals_wins_and_unreached_sets_get_the_first_action() -> None:
    leaf = terminal(1, -1)
    game = ExplicitGame(
        decision(
            1,
            "gate",
            {
                "shut": decision(0, "even", {"x": leaf, "y": leaf}),
                "open": decision(0, "never", {"x": terminal(-5, 5), "y": terminal(5, -5)}),
            },
        )
    )
    profile = pure_profile(game, {(1, "gate"): "shut"})
    assert best_response(game, profile, 0) == (1.0, {"even": "x", "never": "x"})
    assert brute_force_best_response(game, profile, 0) == (1.0, {"even": "x"})


def test_best_response_refuses_a_player_who_forgets() -> None:
    game = make("toy_forgotten_choice")
    with pytest.raises(ValueError, match="forgets"):
        best_response(game, uniform_profile(game), 1)
    assert brute_force_best_response(game, uniform_profile(game), 1) == (2.0, {"I": "a", "J": "c"})


# The linear program ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "value"),
    [
        (make("kuhn"), -1 / 18),
        (make("leduc"), -0.0856064240780),
        (make("toy_undominated"), 0.0),
        (make("toy_hidden_coin"), 1 / 3),
        (make("toy_queen"), -1 / 3),
    ],
    ids=["kuhn", "leduc", "figure 2.1", "figure 2.6b", "figure A.1"],
)
def test_sequence_form_program(game: Game, value: float) -> None:
    """Gibson 2014, section 2.3; the value of Leduc hold'em to 13 digits is from a separate program."""
    found, profile = solve_zero_sum(game)
    assert found == pytest.approx(value, abs=1e-12)
    assert found == zero_sum_value(game)
    assert profile.keys() == infosets(game).keys()
    assert expected_values(game, profile)[0] == pytest.approx(value, abs=1e-9)
    assert exploitability(game, profile) == pytest.approx(0.0, abs=1e-9)


def test_program_finds_the_only_equilibrium_of_figure_2_1() -> None:
    game = make("toy_undominated")
    _, profile = solve_zero_sum(game)
    assert profile[0, "player 1"] == pytest.approx({"A": 0, "B": 1, "C": 0}, abs=1e-12)
    assert profile[1, "player 2"] == pytest.approx({"a": 0, "b": 1, "c": 0}, abs=1e-12)
    mixture: Profile = {
        (0, "player 1"): {"A": 0.75, "B": 0.25, "C": 0.0},
        (1, "player 2"): {"a": 1.0, "b": 0.0, "c": 0.0},
    }
    assert expected_values(game, mixture)[0] == 5 / 2


def test_program_refuses_other_games() -> None:
    for game, reason in [
        (make("kuhn(players=3)"), "two players"),
        (make("toy_forgotten_choice"), "forgets"),
        (make("toy_weakly_dominated"), "zero-sum"),
    ]:
        with pytest.raises(ValueError, match=reason):
            zero_sum_value(game)


# Regret matching and CFR -----------------------------------------------------------------------------------------


def test_regret_matching() -> None:
    assert regret_matching({"a": 3.0, "b": -7.0, "c": 1.0}) == {"a": 0.75, "b": 0.0, "c": 0.25}
    assert regret_matching({"a": -1.0, "b": -1.0, "c": -2.0, "d": -3.0}) == dict.fromkeys("abcd", 0.25)
    assert regret_matching({"a": -1.0, "b": -1.0, "c": -2.0}, "argmax-uniform") == {"a": 0.5, "b": 0.5, "c": 0.0}
    assert regret_matching({"a": -1.0, "b": 0.0}, "argmax-uniform") == {"a": 0.0, "b": 1.0}
    with pytest.raises(ValueError, match="fallback"):
        regret_matching({"a": -1.0, "b": 0.0}, "first")


def test_worked_example_of_appendix_a() -> None:
    """Gibson 2014, appendix A, digit for digit."""
    game = make("toy_queen")
    solver = vanilla(game)
    solver.iterate(1)
    assert solver.regret == {
        (0, "I"): {"k": -0.375, "b": 0.375},
        (1, "Jk"): {"k": -0.0625, "b": 0.0625},
        (0, "I'"): {"f": -0.25, "c": 0.25},
        (1, "Jb"): {"f": 0.125, "c": -0.125},
        (1, "Kk"): {"k": -0.0625, "b": 0.0625},
        (1, "Kb"): {"f": -0.375, "c": 0.375},
    }
    assert solver.average_sum[0, "I"] == {"k": 0.5, "b": 0.5}
    assert solver.average_sum[0, "I'"] == {"f": 0.25, "c": 0.25}
    second = solver.current()
    assert second[0, "I"] == {"k": 0.0, "b": 1.0}
    assert second[0, "I'"] == {"f": 0.0, "c": 1.0}
    solver.iterate(1)
    assert solver.regret == {
        (0, "I"): {"k": 0.125, "b": 0.375},
        (1, "Jk"): {"k": -0.0625, "b": 0.0625},
        (0, "I'"): {"f": -1.25, "c": 0.25},
        (1, "Jb"): {"f": 0.125, "c": -0.625},
        (1, "Kk"): {"k": -0.0625, "b": 0.0625},
        (1, "Kb"): {"f": -1.875, "c": 0.375},
    }
    assert solver.average_sum[0, "I"] == {"k": 0.5, "b": 1.5}
    assert solver.average_sum[0, "I'"] == {"f": 0.25, "c": 0.25}
    assert solver.average()[0, "I"] == {"k": 0.25, "b": 0.75}
    assert solver.average()[0, "I'"] == {"f": 0.5, "c": 0.5}


def test_later_players_see_earlier_updates_when_alternating() -> None:
    """Appendix A's game by hand: the first player bets from the first update on, so Jk and Kk are not reached."""
    solver = ReferenceCfr(make("toy_queen"), alternating=True, regret_floor=False)
    solver.iterate(1)
    assert solver.regret[0, "I"] == {"k": -0.375, "b": 0.375}
    assert solver.regret[1, "Jk"] == solver.regret[1, "Kk"] == {"k": 0.0, "b": 0.0}
    assert solver.regret[1, "Jb"] == {"f": 0.25, "c": -0.25}
    assert solver.regret[1, "Kb"] == {"f": -0.75, "c": 0.75}


def test_floor_and_discount() -> None:
    """Appendix A's game by hand: scaling does not change the second profile, only what is kept of the first regrets."""
    floored = ReferenceCfr(make("toy_queen"), alternating=False, regret_floor=True)
    floored.iterate(2)
    assert floored.regret[0, "I"] == {"k": 0.5, "b": 0.375}
    assert floored.regret[0, "I'"] == {"f": 0.0, "c": 0.25}
    discounted = ReferenceCfr(make("toy_queen"), alternating=False, regret_floor=False, alpha=1.5, beta=-math.inf)
    discounted.iterate(2)
    assert discounted.regret[0, "I"] == {"k": 0.3125, "b": 0.1875}
    assert discounted.regret[0, "I'"] == {"f": -1.125, "c": 0.125}
    assert [discount(3, power) for power in (1.0, 0.0, math.inf, -math.inf)] == [2 / 3, 0.5, 1.0, 0.0]
    with pytest.raises(ValueError, match="both"):
        ReferenceCfr(make("toy_queen"), alternating=False, regret_floor=False, alpha=1.5)


@pytest.mark.parametrize(
    ("gamma", "delay", "shifted", "weights"),
    [
        (0.0, 0, True, [1, 1, 1, 1]),
        (0.0, 2, True, [0, 0, 1, 1]),
        (0.0, 2, False, [0, 0, 1, 1]),
        (1.0, 0, True, [1, 2, 3, 4]),
        (1.0, 2, True, [0, 0, 1, 2]),
        (1.0, 2, False, [0, 0, 3, 4]),
        (2.0, 1, True, [0, 1, 4, 9]),
        (2.0, 1, False, [0, 4, 9, 16]),
    ],
)
def test_weights_of_the_average(gamma: float, delay: int, shifted: bool, weights: list[int]) -> None:
    """CFR+ with delay: Cermak 2018, section 3.4.4.3; powers of t: Brown and Sandholm 2019."""
    game = make("kuhn")
    solver = ReferenceCfr(game, alternating=False, regret_floor=False, gamma=gamma, delay=delay, shifted=shifted)
    profiles = played(solver, len(weights))
    for infoset, actions in infosets(game).items():
        reaches = [own_reaches(game, profile)[infoset] for profile in profiles]
        for action in actions:
            expected = sum(
                weight * reach * profile[infoset][action]
                for weight, reach, profile in zip(weights, reaches, profiles, strict=True)
            )
            assert solver.average_sum[infoset][action] == pytest.approx(expected, abs=1e-12)


def test_average_is_uniform_where_nothing_was_added() -> None:
    solver = ReferenceCfr(make("kuhn"), alternating=True, regret_floor=True, gamma=1.0, delay=5)
    solver.iterate(3)
    assert solver.average() == uniform_profile(make("kuhn"))


def test_prediction_on_a_matrix_game() -> None:
    """Three steps of predictive regret matching+ (Farina, Kroer and Sandholm 2021), worked out by hand."""
    rows = [[2.0, -1.0], [-1.0, 1.0]]
    game = TensorGame([rows, [[-entry for entry in row] for row in rows]], [("A", "B"), ("a", "b")])
    solver = ReferenceCfr(game, alternating=False, regret_floor=True, predictive=True)
    first, second = (0, "player 1"), (1, "player 2")
    solver.iterate(1)
    assert solver.regret == {first: {"A": 0.25, "B": 0.0}, second: {"a": 0.0, "b": 0.25}}
    solver.iterate(1)
    assert solver.regret == {first: {"A": 0.25, "B": 2.0}, second: {"a": 0.0, "b": 0.25}}
    assert solver.current()[first] == pytest.approx({"A": 1 / 17, "B": 16 / 17}, abs=1e-15)
    solver.iterate(1)
    assert solver.current()[first] == {"A": 0.0, "B": 1.0}
    assert solver.current()[second] == pytest.approx({"a": 232 / 249, "b": 17 / 249}, abs=1e-15)


def test_regret_matching_keeps_a_weakly_dominated_action() -> None:
    """Gibson 2014, figure 4.3: W is played with probability 1/5 for ever."""
    solver = vanilla(make("toy_weakly_dominated"), fallback="argmax-uniform")
    first, second = (0, "player 1"), (1, "player 2")
    solver.iterate(1)
    assert solver.regret[first] == pytest.approx({"A": 2 / 3, "W": 1 / 6, "S": -5 / 6}, abs=1e-15)
    assert solver.regret[second] == pytest.approx({"B": 1 / 6, "I": -1 / 6}, abs=1e-15)
    for _ in range(20):
        assert solver.current()[first] == pytest.approx({"A": 4 / 5, "W": 1 / 5, "S": 0}, abs=1e-15)
        assert solver.current()[second] == {"B": 1.0, "I": 0.0}
        solver.iterate(1)


def test_cfr_stays_uniform_where_a_player_forgets() -> None:
    """Gibson 2014, figure 2.3: no counterfactual regret at all, external regret 1 in every iteration."""
    game = make("toy_forgotten_choice")
    uniform = uniform_profile(game)
    assert counterfactual_reaches(game, uniform)[1, "J"] == 2.0
    solver = vanilla(game)
    profiles = played(solver, 20)
    assert all(profile == uniform for profile in profiles)
    assert solver.average() == uniform
    assert solver.average_sum[1, "J"] == {"c": 5.0, "d": 5.0}  # mean own reach 1/2, 20 times
    for count in (1, 5, 20):
        assert external_regret(game, profiles[:count], 1) == count
        assert decomposed_regret(game, profiles[:count], 1) == 0.0  # theorem 5.1 needs perfect recall
    assert all(value == 0.0 for (player, _), row in solver.regret.items() if player == 1 for value in row.values())


def test_figure_6_2a() -> None:
    """CFR settles on passing, although passing at I1 only and then choosing r earns (1 - xi) / 4."""
    xi = 0.5
    game = make("toy_deadlock", xi=xi)
    solver = vanilla(game)
    profiles = played(solver, 40)
    second = profiles[1]
    assert [second[1, key]["p"] for key in ("ac", "bc", "dc", "ec")] == [1.0, 0.0, 0.0, 1.0]
    for profile in profiles[2:]:
        assert profile[0, "I1"] == profile[0, "I2"] == {"p": 1.0, "c": 0.0}
        assert profile[0, "I3"] == {"l": 0.5, "r": 0.5}
        assert expected_values(game, profile)[0] == 0.0
        assert brute_force_best_response(game, profile, 0) == ((1 - xi) / 4, {"I1": "p", "I2": "c", "I3": "r"})


def test_figure_6_2b() -> None:
    """CFR stays uniform and earns nothing; (l, l) earns 1/2."""
    game = make("toy_forgotten_lever")
    profiles = played(vanilla(game), 10)
    assert all(profile == uniform_profile(game) for profile in profiles)
    assert external_regret(game, profiles, 0) == 5.0
    assert brute_force_best_response(game, profiles[0], 0) == (0.5, {"I1": "l", "I2": "l"})
