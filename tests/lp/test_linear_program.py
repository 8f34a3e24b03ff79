"""Sequence matrices, linear programs of zero-sum games, fractions, all equilibria, matrix games."""

from __future__ import annotations

import dataclasses
import io
import os
import signal
import sys
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.sparse import issparse

import counterplay as cp
from counterplay.analysis.equilibrium_set import Equilibria
from counterplay.errors import GameError, SolverError
from counterplay.game.efg import format_efg
from counterplay.kernels.history.passes import form_arrays, forward_reach
from counterplay.lp.highs import solve_model
from counterplay.lp.rational import solve_basis, to_fraction
from counterplay.lp.zero_sum import maxmin_restricted, sequence_program, solve_zero_sum
from counterplay.runtime.pacing import Until
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.matrix_games import solve_matrix
from counterplay.tree.history.repartition import perfect_recall_refinement
from counterplay.tree.sequence.matrices import behavioural_strategy, realisation_plan, sequence_matrices
from tests.reference.compiled import tree_value
from tests.reference.normal_form_play import NormalFormPlay
from tests.reference.random_trees import random_tree_game
from tests.reference.sequence_lp import zero_sum_value
from tests.tree_game import TreeGame

SMALL = ["kuhn", "leduc", "one_card_poker(cards=4)", "goofspiel(cards=3)", "graph_pursuit(moves=3)", "matching_pennies",
         "bluff(sides=2)", "toy_hidden_coin", "toy_queen"]  # fmt: skip

EXACT = {
    "kuhn": "-1/18",  # Gibson 2014, section 3.2
    "one_card_poker": "-5/78",  # computed independently: floating-point programs give -0.0641025641
    "die_roll_poker": "-8032627/103796640",  # -0.0773881216 was computed independently
    "bluff(sides=2)": "1/2",  # computed independently, as the next two
    "bluff(sides=3)": "1/9",
    "bluff(sides=4)": "1/16",
    "graph_pursuit(moves=4)": "-1/7",  # computed independently
    "matching_pennies": "0",
    "rock_paper_scissors": "0",
    "toy_hidden_coin": "1/3",  # Gibson 2014, figure 2.6b, computed independently
    "toy_queen": "-1/3",  # Gibson 2014, figure A.1, computed independently
    'matrix(rows="3,-1,-3;1,0,1;-3,-1,3")': "0",  # Gibson 2014, figure 2.1
}


class TestSequenceMatrices:
    @pytest.mark.parametrize("name", SMALL)
    def test_random_profiles_are_plans_and_come_back(self, name: str) -> None:
        tree = cp.compile_game(name)
        matrices = sequence_matrices(tree)
        profile = cp.TabularStrategy.random(tree, 7)
        plan = realisation_plan(tree, profile.table)
        split = int(tree.sequences.sequence_start[1])
        x, y = plan[:split], plan[split:]
        np.testing.assert_allclose(matrices.E @ x, matrices.e, atol=1e-12)
        np.testing.assert_allclose(matrices.F @ y, matrices.f, atol=1e-12)
        first, second = cp.expected_values(profile, tree)
        assert x @ (matrices.A @ y) == pytest.approx(first, abs=1e-12)
        assert x @ (matrices.B @ y) == pytest.approx(second, abs=1e-12)
        np.testing.assert_allclose(behavioural_strategy(tree, plan), profile.table, atol=1e-12)

    def test_dense_twin(self) -> None:
        """Kuhn's payoffs by a walk over its histories."""
        tree = cp.compile_game("kuhn")
        matrices, form = sequence_matrices(tree), tree.sequences
        assert issparse(matrices.A)
        reach = np.ones(form.num_sequences)
        dense = np.zeros(matrices.A.shape)
        for one in range(form.sequences_of(0)):
            for leaf in range(form.leaf_start[one], form.leaf_start[one + 1]):
                dense[one, form.leaf_others[leaf, 0] - form.sequence_start[1]] += form.leaf_payoff[leaf] * form.unit
        np.testing.assert_array_equal(matrices.A.toarray(), dense)
        np.testing.assert_allclose(matrices.B.toarray(), -dense, atol=1e-15)
        assert (matrices.E.toarray().sum(axis=1)[1:] == 1).all()  # two actions less the sequence before
        forward_reach(form_arrays(form), 0, cp.TabularStrategy.uniform(tree).table, reach)
        uniform = realisation_plan(tree, cp.TabularStrategy.uniform(tree).table)
        assert uniform[: form.sequences_of(0)].tolist() == reach[: form.sequences_of(0)].tolist()

    def test_plans_do_not_need_perfect_recall_but_strategies_do(self) -> None:
        tree = cp.compile_game("toy_no_equilibrium")
        plan = realisation_plan(tree, cp.TabularStrategy.uniform(tree).table)
        assert plan.min() == 0.25
        with pytest.raises(GameError, match=r"perfect recall, but player 1 .* forgets: .* use a maxmin algorithm"):
            behavioural_strategy(tree, plan)
        with pytest.raises(GameError, match="perfect recall"):
            sequence_matrices(tree)
        with pytest.raises(GameError, match=r"for two players; .* has 3"):
            sequence_matrices(cp.compile_game("kuhn(players=3)"))

    def test_unreached_sets_are_uniform_or_as_told(self) -> None:
        tree = cp.compile_game("kuhn")
        plan = np.zeros(tree.sequences.num_sequences)
        assert set(behavioural_strategy(tree, plan)) == {0.5}
        default = np.tile([1.0, 0.0], tree.num_infosets)
        assert behavioural_strategy(tree, plan - 1e-12, default).tolist() == default.tolist()


class TestValues:
    @pytest.mark.parametrize("name", EXACT)
    def test_fractions(self, name: str) -> None:
        result = cp.solve(name, "lp", exact=True)
        assert result.details["exact_value"] == EXACT[name]
        assert result.value[0] == pytest.approx(float(Fraction(EXACT[name])), abs=1e-12)
        assert result.exploitability <= 1e-12

    def test_leduc(self) -> None:
        """Gibson 2014, table of values: -0.085606; fourteen digits computed independently."""
        tree = cp.compile_game("leduc")
        exact = solve_zero_sum(tree, exact=True)
        assert exact is not None
        assert exact.exact_value == Fraction(-1454920850547486749701863871533, 16995463438839962469905132501930)
        assert exact.value == pytest.approx(-0.0856064240780, abs=1e-13)
        for settings in ({}, {"method": "ipm"}, {"method": "ipm", "crossover": True}):
            result = cp.solve(tree, "lp", **settings)
            assert result.value[0] == pytest.approx(exact.value, abs=1e-9)
            assert result.exploitability <= 1e-8
        assert tree_value(tree) == pytest.approx(exact.value, abs=1e-9)
        assert cp.solve(tree, "cfr+", iterations=3000).value[0] == pytest.approx(exact.value, abs=1e-3)

    @pytest.mark.parametrize("name", SMALL)
    def test_the_plain_program_agrees(self, name: str) -> None:
        assert cp.solve(name, "lp").value[0] == pytest.approx(zero_sum_value(cp.make(name)), abs=1e-9)

    @pytest.mark.parametrize("name", SMALL)
    def test_both_players_programs_meet(self, name: str) -> None:
        """Čermák 2018, section 3.4.1: the maximum of the one is the minimum of the other."""
        tree = cp.compile_game(name)
        one, other = (solve_model(sequence_program(tree, player)) for player in range(2))
        assert one is not None
        assert other is not None
        assert one.value == pytest.approx(-other.value, abs=1e-9)

    @pytest.mark.parametrize("payoff", ["win", "points"])
    @pytest.mark.parametrize("observe", ["outcome", "bids"])
    @pytest.mark.parametrize("order", ["descending", "ascending", "random"])
    def test_goofspiel_is_fair(self, order: str, observe: str, payoff: str) -> None:
        """Both players have the same cards, so the value is 0 whatever the order of prizes."""
        tree = cp.compile_game(f"goofspiel(cards=4,order={order},observe={observe},payoff={payoff})")
        result = cp.solve(tree, "lp")
        assert result.value[0] == pytest.approx(0.0, abs=1e-9)
        assert result.exploitability <= 1e-9

    @pytest.mark.parametrize(
        "seed", [*range(16), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(16, 50))]
    )
    def test_gambit_finds_the_same_fraction(self, seed: int) -> None:
        pygambit = pytest.importorskip("pygambit", minversion="17.0.0b1")
        if seed % 2:
            tree = cp.compile_game(f"random_game(seed={seed},depth=4,merge=0.0)")
        else:
            tree = perfect_recall_refinement(cp.compile_game(random_tree_game(seed, depth=5)))
        game = pygambit.read_efg(io.BytesIO(format_efg(TreeGame(tree)).encode()))
        theirs = pygambit.nash.lp_solve(game).equilibrium.payoffs["Player 1"]
        exact = solve_zero_sum(tree, exact=True)
        assert exact is not None
        assert exact.exact_value == theirs
        assert cp.solve(tree, "double-oracle").value[0] == pytest.approx(float(theirs), abs=1e-8)

    def test_bluff(self) -> None:
        """-7/258, computed independently; 24,576 information sets."""
        result = cp.solve("bluff", "lp")
        assert result.value[0] == pytest.approx(-7 / 258, abs=1e-9)
        assert result.exploitability <= 1e-9

    @pytest.mark.slow
    def test_bluff_as_a_fraction(self) -> None:
        assert cp.solve("bluff", "lp", exact=True).details["exact_value"] == "-7/258"

    @pytest.mark.slow
    @pytest.mark.parametrize("settings", ["", ",observe=bids", ",payoff=points", ",order=ascending"])
    def test_goofspiel_with_five_cards_is_fair(self, settings: str) -> None:
        assert abs(cp.solve(f"goofspiel(cards=5{settings})", "lp").value[0]) <= 1e-9


class TestRuns:
    def test_out_of_time(self) -> None:
        solver = make_solver("leduc", "lp")
        solver.deadline = 0.0  # long ago
        solver.step()
        assert solver.iterations == 0
        result = solver.run(Until(seconds=1e-9))
        assert (result.status, result.iterations) == ("seconds", 0)
        assert solver.run(Until(iterations=5)).status == "solved"

    def test_interrupted_and_resumed(self, tmp_path: Any) -> None:
        solver = make_solver("bluff", "lp", method="ipm")
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        solver.step(0)
        solver.check()  # kernels are loaded, so that it comes during the program
        timer.start()
        result = solver.run(Until(iterations=1))
        timer.cancel()
        assert (result.status, result.iterations) == ("interrupted", 0)
        solver.save(tmp_path / "checkpoint")
        assert resume_solver(tmp_path / "checkpoint", solver.tree).iterations == 0

    def test_interrupted_while_the_library_is_imported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Ctrl-C waits until it is there: half of it could not be imported again, and the run was lost."""
        program = sequence_program(cp.compile_game("kuhn"))
        solve_model(program)

        class Pressing:
            @staticmethod
            def find_spec(name: str, *_: Any) -> None:
                if name == "highspy":
                    os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.delitem(sys.modules, "highspy", raising=False)
        monkeypatch.setattr(sys, "meta_path", [Pressing, *sys.meta_path])
        with pytest.raises(KeyboardInterrupt):
            solve_model(program)
        assert "highspy" in sys.modules

    def test_exact_values_are_kept(self, tmp_path: Any) -> None:
        solver = make_solver("kuhn", "lp", exact=True)
        solver.step()
        solver.save(tmp_path / "checkpoint")
        assert resume_solver(tmp_path / "checkpoint").details() == {"exact_value": "-1/18"}

    def test_wrong_settings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(SolverError, match="method must be one of auto, simplex, ipm; got 'quick'"):
            make_solver("kuhn", "lp", method="quick")
        with pytest.raises(SolverError, match="exact must be true or false; got 1"):
            make_solver("kuhn", "lp", exact=1)
        with pytest.raises(SolverError, match=r"cfr\+ has no setting 'exact'"):
            make_solver("kuhn", "cfr+", exact=True)
        monkeypatch.setattr("counterplay.lp.rational.MAX_EXACT_ROWS", 19)
        with pytest.raises(SolverError, match="the linear program has 20 rows; fractions are for at most 19"):
            make_solver("kuhn", "lp", exact=True)

    def test_infeasible_programs_are_told(self) -> None:
        model = sequence_program(cp.compile_game("matching_pennies"))
        nothing = np.zeros_like(model.lower)
        impossible = dataclasses.replace(model, lower=nothing, upper=nothing)  # but the empty sequence weighs 1
        with pytest.raises(SolverError, match="has no optimum: HiGHS says 'infeasible'"):
            solve_model(impossible)

    def test_a_basis_that_is_not_optimal_is_not_proven(self) -> None:
        model = sequence_program(cp.compile_game("kuhn"))
        solution = solve_model(model)
        assert solution is not None
        assert solution.basis is not None
        good = solve_basis(model, solution.basis)
        assert good is not None
        assert good.value * Fraction(1, 6) == Fraction(-1, 18)
        spoiled = solution.basis.columns.copy()
        basic, not_basic = (np.flatnonzero((spoiled == status)[:13])[-1] for status in (1, 0))
        spoiled[[basic, not_basic]] = spoiled[[not_basic, basic]]
        wrong = solve_basis(model, type(solution.basis)(spoiled, solution.basis.rows))
        assert wrong is None or wrong.value == good.value

    def test_simple_fractions_are_recognised(self) -> None:
        assert to_fraction(1 / 3) == Fraction(1, 3)
        assert to_fraction(-0.1) == Fraction(-1, 10)
        assert to_fraction(0.0) == 0
        assert to_fraction(np.pi) == Fraction(np.pi)


class TestEquilibria:
    def test_family_of_kuhn(self) -> None:
        """Gibson 2014, section 3.2: player 1 bets J γ/3, K γ, calls with Q (1+γ)/3; player 2 has no choice."""
        tree = cp.compile_game("kuhn")
        found = Equilibria(tree)
        assert found.value == pytest.approx(-1 / 18, abs=1e-9)
        ranges = {
            (0, "J:", "bet"): (0, 1 / 3), (0, "Q:", "bet"): (0, 0), (0, "K:", "bet"): (0, 1),
            (0, "Q:kb", "call"): (1 / 3, 2 / 3), (0, "J:kb", "call"): (0, 0), (1, "J:k", "bet"): (1 / 3, 1 / 3),
            (1, "Q:b", "call"): (1 / 3, 1 / 3), (1, "K:k", "bet"): (1, 1), (1, "Q:k", "bet"): (0, 0),
        }  # fmt: skip
        for (player, name, action), expected in ranges.items():
            assert found.reach_range(player, name, action) == pytest.approx(expected, abs=1e-8)

    def test_extremes_are_equilibria(self) -> None:
        tree = cp.compile_game("leduc")
        found, opponent = Equilibria(tree), cp.TabularStrategy.random(tree, 3)
        best, worst = (found.against(0, opponent, largest) for largest in (True, False))
        assert best.objective > worst.objective
        for extreme in (best, worst):
            assert cp.evaluate(extreme.profile, tree).best_response[1] == pytest.approx(-found.value, abs=1e-7)
            low = int(tree.infoset_offset[tree.player_infosets[1]])
            both = np.concatenate((extreme.profile.table[:low], opponent.table[low:]))
            value = cp.expected_values(cp.TabularStrategy.from_tree(tree, both), tree)[0]
            assert value == pytest.approx(extreme.objective, abs=1e-7)

    def test_domination_value(self) -> None:
        """Gibson 2014, figure 2.1: A loses 1 to the only equilibrium, although nothing dominates it."""
        tree = cp.compile_game('matrix(rows="3,-1,-3;1,0,1;-3,-1,3")')
        found = Equilibria(tree)
        first, actions = tree.infoset_names[0], tree.actions_of(0)
        for action, expected in zip(actions, (1.0, 0.0, 1.0), strict=True):
            profile = cp.TabularStrategy.from_table(tree, {(0, first): {action: 1.0}})
            assert found.domination_value(0, profile) == pytest.approx(expected, abs=1e-8)

    def test_domination_value_is_at_most_the_loss(self) -> None:
        tree = cp.compile_game("kuhn")
        found = Equilibria(tree)
        for seed in range(5):
            profile = cp.TabularStrategy.random(tree, seed)
            for player, worth in enumerate((found.value, -found.value)):
                loss = worth + cp.evaluate(profile, tree).best_response[1 - player]
                assert -1e-8 <= found.domination_value(player, profile) <= loss + 1e-8
        assert found.domination_value(1, cp.solve(tree, "lp").profile) == pytest.approx(0.0, abs=1e-8)

    def test_bad_questions(self) -> None:
        found = Equilibria(cp.compile_game("matching_pennies"))
        with pytest.raises(GameError, match="has players 0 and 1; got 2"):
            found.extreme(2, np.zeros(3))
        with pytest.raises(SolverError, match=r"each of the 3 sequences of player 1; got an array of shape \(4,\)"):
            found.extreme(0, np.zeros(4))


class TestRestrictedOpponent:
    def test_a_player_who_may_do_everything(self) -> None:
        tree = cp.compile_game("leduc")
        value = cp.solve(tree, "lp").value
        everything = np.ones(tree.sequences.num_sequences, bool)
        for player in range(2):
            assert maxmin_restricted(tree, player, everything).value == pytest.approx(value[player], abs=1e-9)

    def test_a_fixed_opponent_gets_a_best_response(self) -> None:
        """With a single action allowed everywhere, maxmin is the best response to it."""
        tree = cp.compile_game("leduc")
        form = tree.sequences
        first = np.zeros(tree.num_entries)
        first[tree.infoset_offset[:-1]] = 1.0
        profile = cp.TabularStrategy.from_tree(tree, first)
        allowed = realisation_plan(tree, first) > 0
        allowed[form.decision_first] = True
        for player in range(2):
            found = maxmin_restricted(tree, player, allowed)
            assert found.value == pytest.approx(cp.best_response(profile, player, tree).value, abs=1e-9)
            strategy = behavioural_strategy(tree, found.plan)
            assert cp.expected_values(cp.TabularStrategy.from_tree(tree, strategy), tree)[player] == pytest.approx(
                found.value, abs=1e-9
            )

    def test_no_action_left(self) -> None:
        tree = cp.compile_game("kuhn")
        with pytest.raises(GameError, match="no action is allowed at 'Q:k' of player 2"):
            maxmin_restricted(tree, 0, np.zeros(tree.sequences.num_sequences, bool))
        with pytest.raises(GameError, match="allowed must be 26 truth values"):
            maxmin_restricted(tree, 0, np.zeros(3, bool))


class TestNormalForm:
    def test_matrices(self) -> None:
        solution = solve_matrix([[3, -1, -3], [1, 0, 1], [-3, -1, 3]], exact=True)  # Gibson 2014, figure 2.1
        assert (solution.exact_value, solution.row.tolist(), solution.column.tolist()) == (0, [0, 1, 0], [0, 1, 0])
        rps = solve_matrix([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
        np.testing.assert_allclose(rps.row, 1 / 3, atol=1e-9)
        np.testing.assert_allclose(rps.column, 1 / 3, atol=1e-9)
        assert solve_matrix([[2, 1], [0, 3]], exact=True).exact_value == Fraction(3, 2)

    @pytest.mark.parametrize("seed", range(10))
    def test_random_matrices_have_no_better_response(self, seed: int) -> None:
        table = np.random.default_rng(seed).normal(size=(5 + seed, 12 - seed))
        solution = solve_matrix(table)
        assert (table @ solution.column).max() == pytest.approx(solution.value, abs=1e-9)
        assert (solution.row @ table).min() == pytest.approx(solution.value, abs=1e-9)

    def test_bad_matrices(self) -> None:
        for table in ([], [1.0, 2.0], [[np.nan]]):
            with pytest.raises(GameError, match="a matrix game is a table of numbers"):
                solve_matrix(table)

    def test_fictitious_play_converges_and_equals_the_tree(self) -> None:
        table = np.array([[0.25, -1.13, 2.07], [1.31, 0.59, -1.41], [-1.73, 1.17, 0.37]])
        play = NormalFormPlay(table)
        play.step(1000)  # without a tie so far
        rows = ";".join(",".join(f"{value:g}" for value in row) for row in table)
        solver = make_solver(f'matrix(rows="{rows}")', "fictitious-play")
        solver.step(1000)
        np.testing.assert_allclose(np.concatenate(play.averages), solver.strategy(), atol=1e-9)
        play.step(2000)
        assert max(play.gains()) < 0.05

    def test_fictitious_play_of_three_players(self) -> None:
        """Gibson 2014, figure 4.1: in mismatching pennies the uniform profile is an equilibrium."""
        payoff = np.zeros((3, 2, 2, 2))
        for acts in np.ndindex(2, 2, 2):
            odd = [player for player in range(3) if acts.count(acts[player]) == 1]
            for player in range(3):
                payoff[player][acts] = 0 if not odd else 2 if player in odd else -1
        play = NormalFormPlay(payoff)
        assert play.gains() == pytest.approx([0, 0, 0])
        simultaneous = NormalFormPlay(payoff, alternating=False, start=[[1, 0], [0, 1], [0, 1]])
        assert simultaneous.gains() == pytest.approx([0, 0, 0])  # (h, t, t) is one as well

    def test_bad_normal_forms(self) -> None:
        with pytest.raises(ValueError, match="an array with n axes for each of n players"):
            NormalFormPlay(np.zeros((3, 2, 2)))
        with pytest.raises(ValueError, match="start needs a distribution"):
            NormalFormPlay(np.zeros((2, 2)), start=[[1, 1], [1, 0]])
