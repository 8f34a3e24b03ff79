"""Values, best responses, regrets and bounds: against the twins, OpenSpiel and published numbers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.analysis import RegretTracker
from counterplay.analysis import regret_bounds as b
from tests.bridge import to_entries, to_profile
from tests.reference.best_response import best_response as twin_best_response
from tests.reference.best_response import brute_force_best_response
from tests.reference.regret import counterfactual_regrets, external_regret, m_value
from tests.reference.walks import expected_values, random_profile

EXACT = 1e-12
PEER = 1e-10
SUM = 1e-9

UNIFORM = [  # name, values, best responses: Gibson 2014, sections 3.2 and 3.3, recomputed
    ("kuhn", (0.125, -0.125), (1 / 2, 5 / 12)),
    ("kuhn(players=3)", (0.234375, -0.046875, -0.1875), (0.78125, 0.645833, 0.635417)),
    ("leduc", (-0.078125, 0.078125), (2.0875, 2.659722)),
    ("leduc(suited=true)", (-0.078125, 0.078125), (2.0875, 2.659722)),
    ("leduc(players=3)", (-0.158613, -0.019097, 0.177710), (3.862153, 4.037452, 4.643962)),
]


@pytest.mark.parametrize(("name", "values", "responses"), UNIFORM, ids=[case[0] for case in UNIFORM])
def test_uniform_profiles(name: str, values: tuple[float, ...], responses: tuple[float, ...]) -> None:
    tree = cp.compile_game(name)
    measured = cp.evaluate(cp.TabularStrategy.uniform(tree), tree)
    assert measured.value == pytest.approx(values, abs=5e-7)
    assert measured.best_response == pytest.approx(responses, abs=5e-7)
    gains = [best - value for best, value in zip(measured.best_response, measured.value, strict=True)]
    assert measured.nash_conv == pytest.approx(sum(gains), abs=EXACT)
    assert measured.exploitability == pytest.approx(sum(gains) / len(gains), abs=EXACT)
    assert measured.epsilon == max(gains)


def kuhn_equilibrium(tree: cp.GameTree, gamma: float) -> cp.TabularStrategy:
    """The family of equilibria of Kuhn poker, by the probability of betting a king."""
    bets = {"J:": gamma / 3, "Q:": 0.0, "K:": gamma}
    calls = {"J:kb": 0.0, "Q:kb": (1 + gamma) / 3, "K:kb": 1.0}
    answers = {"J:k": 1 / 3, "Q:k": 0.0, "K:k": 1.0}
    facing = {"J:b": 0.0, "Q:b": 1 / 3, "K:b": 1.0}
    table: dict[tuple[int, str], dict[str, float]] = {}
    for player, rows, (no, yes) in (
        (0, bets, ("check", "bet")), (0, calls, ("fold", "call")),
        (1, answers, ("check", "bet")), (1, facing, ("fold", "call")),
    ):  # fmt: skip
        table |= {(player, name): {no: 1 - p, yes: p} for name, p in rows.items()}
    return cp.TabularStrategy.from_table(tree, table)


@pytest.mark.parametrize("gamma", [0.0, 0.25, 0.5, 1.0])
def test_equilibria_of_kuhn_are_not_exploitable(gamma: float) -> None:
    tree = cp.compile_game("kuhn")
    measured = cp.evaluate(kuhn_equilibrium(tree, gamma), tree)
    assert measured.exploitability == pytest.approx(0.0, abs=EXACT)
    assert measured.value[0] == pytest.approx(-1 / 18, abs=EXACT)
    low, high = b.value_interval(measured)
    assert low == pytest.approx(high, abs=EXACT)


@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "one_card_poker(cards=4)", "rock_paper_scissors"])
@pytest.mark.parametrize("seed", range(3))
def test_random_profiles_equal_the_twins(name: str, seed: int) -> None:
    game = cp.make(name)
    tree = cp.compile_game(game)
    table = random_profile(game, seed)
    profile = to_profile(tree, table)
    assert cp.expected_values(profile, tree) == pytest.approx(expected_values(game, table), abs=EXACT)
    for player in range(tree.players):
        value, choices = twin_best_response(game, table, player)
        response = cp.best_response(profile, player, tree)
        assert response.exact
        assert response.value == pytest.approx(value, abs=EXACT)
        assert cp.expected_values(response.profile, tree)[player] == pytest.approx(value, abs=EXACT)
        for key, action in choices.items():
            assert response.profile.probabilities(player, str(key))[str(action)] == 1.0


OPENSPIEL = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "liars_dice(dice_sides=3)",
    "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=3,points_order=descending))",
    "tiny_bridge_2p",
    "first_sealed_auction(max_value=4)",
]


@pytest.mark.parametrize("name", OPENSPIEL)
def test_random_profiles_equal_openspiel(name: str) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    tree = cp.compile_game(f"openspiel:{name}")
    game = pyspiel.load_game(name)
    for seed in range(2 if tree.num_histories < 5000 else 1):
        profile = cp.TabularStrategy.random(tree, seed)
        policy = pyspiel.TabularPolicy(
            {infoset: [(int(action), p) for action, p in row.items()] for _, infoset, row in profile.infosets()}
        )
        measured = cp.evaluate(profile, tree)
        theirs = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)
        assert measured.value == pytest.approx(theirs, abs=PEER)
        assert measured.nash_conv == pytest.approx(pyspiel.nash_conv(game, policy), abs=PEER)
        if tree.players == 2:
            for player in range(2):
                best = pyspiel.TabularBestResponse(game, player, policy)
                assert measured.best_response[player] == pytest.approx(
                    best.value_from_state(game.new_initial_state()), abs=PEER
                )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), other=st.integers(0, 10**6), player=st.integers(0, 1))
def test_nothing_beats_a_best_response(seed: int, other: int, player: int) -> None:
    tree = cp.compile_game("kuhn")
    profile = cp.TabularStrategy.random(tree, seed)
    mixed = profile.table.copy()
    low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
    mixed[low:high] = cp.TabularStrategy.random(tree, other).table[low:high]
    best = cp.best_response(profile, player, tree).value
    assert cp.expected_values(cp.TabularStrategy.from_tree(tree, mixed), tree)[player] <= best + EXACT


def test_ties_go_to_the_first_action() -> None:
    tree = cp.compile_game("rock_paper_scissors")
    response = cp.best_response(cp.TabularStrategy.uniform(tree), 0, tree)
    assert response.profile.probabilities(0, "player 1") == {"rock": 1.0, "paper": 0.0, "scissors": 0.0}


class TestImperfectRecall:
    """Best responses of players who forget are those of the refinement, and say whether they can be played."""

    def test_the_bound_is_reached_where_one_action_fits_all(self) -> None:
        game = cp.make("toy_forgotten_lever")
        tree = cp.compile_game(game)
        response = cp.best_response(cp.TabularStrategy.uniform(tree), 0, tree)
        brute, _ = brute_force_best_response(game, random_profile(game, 0), 0)
        assert brute == pytest.approx(0.5, abs=EXACT)
        assert response.value == pytest.approx(0.5, abs=EXACT)

    def test_the_bound_is_an_upper_bound(self) -> None:
        game = cp.make("toy_forgotten_choice")
        tree = cp.compile_game(game)
        for seed in range(5):
            table = random_profile(game, seed)
            response = cp.best_response(to_profile(tree, table), 1, tree)
            brute, _ = brute_force_best_response(game, table, 1)
            assert response.value >= brute - EXACT
            if response.exact:
                assert response.value == pytest.approx(brute, abs=EXACT)

    def test_a_forgetful_player_who_cannot_follow(self) -> None:
        """Chance shows a coin, the player looks away and must name it: remembering wins 1, forgetting 0."""
        look = {
            coin: (0.5, cp.decision(0, coin, {"on": cp.decision(0, "forgot", {
                guess: cp.terminal(1.0 if guess == coin else -1.0) for guess in ("h", "t")
            })}))
            for coin in ("h", "t")
        }  # fmt: skip
        tree = cp.compile_game(cp.ExplicitGame(cp.chance(look), name="forgotten coin"))
        assert tree.recall == ("imperfect",)
        response = cp.best_response(cp.TabularStrategy.uniform(tree), 0, tree)
        assert response.value == pytest.approx(1.0, abs=EXACT)
        assert not response.exact


class TestRegret:
    """Gibson 2014, sections 2.2, 4.1, 5.1 and appendix B, for any sequence of profiles."""

    CASES = (("kuhn", 4), ("kuhn(players=3)", 3), ("one_card_poker(cards=4)", 3))

    @pytest.mark.parametrize(("name", "length"), CASES)
    def test_external_regret_equals_the_twin(self, name: str, length: int) -> None:
        game = cp.make(name)
        tree = cp.compile_game(game)
        tables = [random_profile(game, seed) for seed in range(length)]
        tracker = RegretTracker(tree)
        for table in tables:
            tracker.observe(to_profile(tree, table))
        expected = to_entries(tree, counterfactual_regrets(game, tables))
        np.testing.assert_allclose(tracker.regret, expected, rtol=0, atol=SUM)
        for player in range(tree.players):
            regret = tracker.external_regret(player)
            assert regret == pytest.approx(external_regret(game, tables, player), abs=SUM)
            assert tracker.decomposed_regret(player) == pytest.approx(regret, abs=SUM)
            assert b.positive_regret_sum(tree, player, tracker.regret) >= regret - SUM

    @pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "leduc"])
    def test_full_regret_decomposes(self, name: str) -> None:
        """Lemma B.1: at every information set, for an arbitrary strategy."""
        tree = cp.compile_game(name)
        tracker = RegretTracker(tree)
        for seed in range(5):
            tracker.observe(cp.TabularStrategy.random(tree, seed))
        follow = cp.TabularStrategy.random(tree, 99).table
        for player in range(tree.players):
            direct, summed = tracker.full_regret(player, follow), tracker.decomposed_full_regret(player, follow)
            np.testing.assert_allclose(direct, summed, rtol=0, atol=SUM)

    def test_decomposition_fails_without_recall(self) -> None:
        tracker = RegretTracker(cp.make("toy_forgotten_choice"))
        tracker.observe(cp.TabularStrategy.uniform(tracker.tree))
        assert np.abs(tracker.regret).max() == 0.0
        assert tracker.external_regret(1) == pytest.approx(1.0, abs=EXACT)
        with pytest.raises(cp.GameError, match="imperfect recall"):
            tracker.decomposed_regret(1)

    def test_coarse_correlated_equilibrium_with_a_dominated_action(self) -> None:
        """Figure 2.5: (A,a) half, (B,b) and (C,b) a quarter each."""
        tracker = RegretTracker(cp.make("toy_coarse_correlated"))
        tree = tracker.tree
        for row, column in (("A", "a"), ("A", "a"), ("B", "b"), ("C", "b")):
            tracker.observe(
                cp.TabularStrategy.from_table(tree, {(0, "player 1"): {row: 1.0}, (1, "player 2"): {column: 1.0}})
            )
        assert tracker.value[0] / 4 == pytest.approx(5 / 4, abs=EXACT)
        assert tracker.coarse_correlated_gap() <= EXACT

    def test_cfr_approaches_a_coarse_correlated_equilibrium(self) -> None:
        solver = cp.CfrSolver("kuhn(players=3)", "cfr")
        tracker = RegretTracker(solver.tree)
        gaps = []
        for length in (10, 90, 400):
            for _ in range(length):
                tracker.observe(solver.strategy("last"))
                solver.step()
            gaps.append(tracker.coarse_correlated_gap())
        assert all(later < earlier for earlier, later in pairwise(gaps))

    def test_nothing_observed(self) -> None:
        with pytest.raises(cp.GameError, match="no profile has been observed"):
            RegretTracker("kuhn").coarse_correlated_gap()


class TestBounds:
    """Both sides of every inequality, numerically."""

    def test_m_values(self) -> None:
        kuhn = cp.compile_game("kuhn")
        assert b.m_value(kuhn, 0) == pytest.approx(2 * math.sqrt(3))
        assert b.m_value(kuhn, 1) == pytest.approx(math.sqrt(6))
        assert b.player_quantities(kuhn, 0).utility_range == 4.0
        plain, renamed = (
            cp.compile_game(cp.make("toy_hidden_coin")),
            cp.compile_game(cp.make("toy_hidden_coin(relabelled=true)")),
        )
        assert b.m_value(plain, 0) == pytest.approx(2 + math.sqrt(2))
        assert b.m_value(renamed, 0) == pytest.approx(2 * math.sqrt(2))
        quantities = b.player_quantities(renamed, 0)
        assert (quantities.infosets, b.player_quantities(plain, 0).parts) == (4, 3)

    @pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)"])
    def test_m_values_equal_the_twin(self, name: str) -> None:
        game = cp.make(name)
        tree = cp.compile_game(game)
        for player in range(tree.players):
            assert b.m_value(tree, player) == pytest.approx(m_value(game, player), abs=EXACT)
            table = random_profile(game, player)
            strategy = to_profile(tree, table).table
            assert b.m_value(tree, player, strategy) == pytest.approx(m_value(game, player, table), abs=EXACT)
            q = b.player_quantities(tree, player)
            assert b.m_value(tree, player, strategy) <= q.m_value
            assert math.sqrt(q.infosets) <= q.m_value <= q.infosets

    @pytest.mark.parametrize("name", ["kuhn", "leduc", "kuhn(players=3)"])
    def test_cfr_keeps_its_promises(self, name: str) -> None:
        """Theorems 2.1, 2.3, 2.4 and 5.2, and Johanson's theorem 3, at every step."""
        solver = cp.CfrSolver(name, "cfr")
        tracker = RegretTracker(solver.tree)
        quantities = [b.player_quantities(solver.tree, player) for player in range(solver.tree.players)]
        for steps in range(1, 60):
            tracker.observe(solver.strategy("last"))
            solver.step()
            for player, q in enumerate(quantities):
                average = tracker.external_regret(player) / steps
                star = cp.TabularStrategy.uniform(solver.tree).table * 0.0
                _, choice = tracker.best_in_hindsight(player)
                form = solver.tree.sequences
                for d in range(form.decision_start[player], form.decision_start[player + 1]):
                    star[form.decision_entry[d] + choice[d]] = 1.0
                tight = b.cfr_bound(q, steps, b.m_value(solver.tree, player, star))
                assert average <= tight + SUM
                assert tight <= b.cfr_bound(q, steps) + SUM <= b.cfr_bound_by_count(q, steps) + 2 * SUM
                assert (
                    tracker.external_regret(player) <= b.positive_regret_sum(solver.tree, player, tracker.regret) + SUM
                )
        if solver.tree.players == 2:
            regrets = tuple(tracker.external_regret(player) / steps for player in range(2))
            assert solver.measure().epsilon <= b.average_regret_to_nash(regrets) + SUM  # type: ignore[arg-type]

    @pytest.mark.parametrize("fallback", ["uniform", "argmax-uniform"])
    def test_regret_matching_bound(self, fallback: str) -> None:
        """Theorem 2.2, and its stronger form with the sum of squares."""
        rows = np.random.default_rng(3).uniform(-1, 1, (4, 5))
        from counterplay.games.matrix import TensorGame

        solver = cp.CfrSolver(TensorGame([rows, -rows]), cp.CfrConfig(alternating=False, fallback=fallback))  # type: ignore[arg-type]
        spread = solver.tree.utility_range(0)
        for steps in range(1, 200):
            solver.step()
            positive = np.maximum(solver.regret[:4], 0)
            assert positive.max() <= b.regret_matching_bound(spread, 4, steps)
            assert (positive**2).sum() <= spread**2 * steps * 4
            assert positive.max() / steps <= b.immediate_regret_bound(spread, 4, steps) + SUM

    def test_full_regret_bound(self) -> None:
        solver = cp.CfrSolver("kuhn", "cfr")
        tracker = RegretTracker(solver.tree)
        for _ in range(50):
            tracker.observe(solver.strategy("last"))
            solver.step()
        q = b.player_quantities(solver.tree, 0)
        gains = tracker.full_regret(0, cp.TabularStrategy.random(solver.tree, 1).table)
        assert gains.max() <= b.full_regret_bound(q, 2, 50)

    def test_sampling_bounds(self) -> None:
        """Formulas, by hand: Δ=4, |𝓘|=6, |A|=2, |𝓑|=2, M=2√3 for the first player of Kuhn poker."""
        q = b.player_quantities(cp.compile_game("kuhn"), 0)
        m, root = 2 * math.sqrt(3), math.sqrt(1000)
        assert b.sampling_bound_2012(q, 1000, 0.5, 0.05) == pytest.approx(
            (m + math.sqrt(24) / math.sqrt(0.05)) * 4 * math.sqrt(2) / 0.5 / root
        )
        assert b.sampling_bound(q, 1000, 0.5, 0.05) == pytest.approx(
            (m * math.sqrt(2) + 2 * math.sqrt(12) / math.sqrt(0.05)) * 4 / 0.5 / root
        )
        assert b.sampling_bound(q, 1000, 0.5, 0.05) <= b.sampling_bound_2012(q, 1000, 0.5, 0.05)
        assert b.pure_cfr_bound(q, 1000, 0.05) == b.sampling_bound(q, 1000, 1.0, 0.05)
        assert b.unbiased_estimator_bound(q, 1000, 3.0, 0.05, 2.0) == pytest.approx(
            (3 * math.sqrt(2) + math.sqrt(40)) * 6 / root
        )
        assert b.general_sampling_bound(q, 1000, 3.0, 0.05, 2.0, 0.0, 0.0) == pytest.approx(
            b.unbiased_estimator_bound(q, 1000, 3.0, 0.05, 2.0)
        )
        assert b.scaled_estimator_bound(q, 1000, 3.0, 0.05, 2.0) == pytest.approx(
            3 * m * math.sqrt(2) / root + 6 * math.sqrt(2 / 0.05 / 1000)
        )

    def test_essentially_solved(self) -> None:
        """Johanson 2016, section 9.3: a lifetime of 61,320,000 games."""
        assert 200 * 12 * 365 * 70 == 61_320_000
        assert b.essentially_solved_threshold() == pytest.approx(0.00104716, abs=5e-9)

    def test_value_interval_is_twice_the_exploitability(self) -> None:
        result = cp.solve("leduc", iterations=50)
        low, high = b.value_interval(result.measurement)
        assert low <= -0.0856064240780 <= high
        assert high - low == pytest.approx(2 * result.exploitability, abs=EXACT)

    def test_nearly_zero_sum_games(self) -> None:
        """Theorem 4.4 on a tilted matching pennies: |u_1 + u_2| ≤ 0.2."""
        from counterplay.games.matrix import TensorGame

        first = np.array([[1.2, -1.0], [-1.0, 1.2]])
        second = np.array([[-1.0, 1.1], [1.0, -1.2]])
        solver = cp.CfrSolver(TensorGame([first, second]), "cfr")
        imbalance = float(np.abs(first + second).max())
        tracker = RegretTracker(solver.tree)
        for _ in range(300):
            tracker.observe(solver.strategy("last"))
            solver.step()
        regrets = (tracker.external_regret(0) / 300, tracker.external_regret(1) / 300)
        assert solver.measure().epsilon <= b.near_zero_sum_nash(regrets, imbalance)
