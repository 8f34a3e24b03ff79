"""Dominated actions: both methods against the definition, certificates by walks, Kuhn and Leduc poker, CFR runs."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import counterplay as cp
from counterplay.analysis.action_cuts import decide_by_cuts
from counterplay.analysis.action_domination import (
    ActionReport,
    DominatedAction,
    constructed_dominator,
    dominated_actions,
    dominated_gambit,
)  # fmt: skip
from counterplay.analysis.action_problem import ActionProblem, TreeIndex
from counterplay.analysis.diagnostics import DominationProbe
from counterplay.analysis.domination import Kind
from counterplay.lp.treeplex import least_response, plan_of
from counterplay.tree.sequence.matrices import payoff_matrix
from counterplay.tree.sequence.normal_form import mixed_strategy, normal_form
from tests.reference import domination as twin
from tests.reference.walks import infosets, walk

EXACT = 1e-9
KINDS = pytest.mark.parametrize("kind", ["strict", "weak"])

GAMES = ["kuhn", "toy_undominated", "toy_elimination_order", "toy_coarse_correlated", "toy_weakly_dominated",
         "toy_dominated_average", "toy_dominated_plans", "toy_mismatching_pennies", "toy_queen", "toy_hidden_coin",
         "toy_small_tree", "toy_chain(2)", *(f"random_game(seed={n},depth=3,branching=2,slack=0)" for n in range(6)),
         "random_game(seed=2,depth=4,branching=2,slack=0)"]  # fmt: skip
QUICK = [*GAMES[:-1], pytest.param(GAMES[-1], marks=pytest.mark.slow)]


def place(tree: cp.GameTree, entry: int) -> tuple[int, str, str]:
    infoset = int(tree.infoset_offset.searchsorted(entry, "right")) - 1
    action = tree.actions_of(infoset)[entry - int(tree.infoset_offset[infoset])]
    return int(tree.infoset_player[infoset]), tree.infoset_names[infoset], action


def places(report: ActionReport, number: int | None = None) -> set[tuple[int, str, str]]:
    return {place(report.tree, one.entry) for one in report.dominated if number in (None, one.round)}


@functools.cache
def by_definition(name: str, kind: str) -> list[set[tuple[int, str, str]]]:
    rounds = twin.dominated_actions(cp.make(name), kind)
    return [{(player, str(key), str(action)) for (player, key), action in one} for one in rounds]


@KINDS
@pytest.mark.parametrize("name", QUICK)
def test_rounds_equal_the_definition(name: str, kind: Kind) -> None:
    """All pure strategies of all players, every value by a walk (Gibson 2014, definition 4.1)."""
    report = dominated_actions(name, kind)
    assert report.undecided == ()
    expected = by_definition(name, kind)
    assert max((one.round for one in report.dominated), default=0) == len(expected)
    for number, found in enumerate(expected, 1):
        assert places(report, number) == found


@KINDS
@pytest.mark.parametrize("name", QUICK)
def test_every_certificate_holds(name: str, kind: Kind) -> None:
    """Against all pure strategies of the others that are left, by walks from the histories of the set."""
    game, report = cp.make(name), dominated_actions(name, kind)
    gone: dict[int, set] = {}  # type: ignore[type-arg]
    for one in report.dominated:
        gone.setdefault(one.round, set()).add(one.entry)
    for one in report.dominated:
        removed = set().union(*(entries for number, entries in gone.items() if number < one.round))
        check_certificate(game, report.tree, one, removed)


def check_certificate(game: cp.Game, tree: cp.GameTree, one: DominatedAction, removed: set[int]) -> None:
    sets = {(player, str(key)): (player, key) for player, key in infosets(game)}
    labels = {(player, str(key)): {str(a): a for a in actions} for (player, key), actions in infosets(game).items()}
    forbidden = set()
    for entry in removed:
        player, name, action = place(tree, entry)
        forbidden.add((sets[player, name], labels[player, name][action]))
    player, name, action = place(tree, one.entry)
    own = list(twin.pure_strategies(game, player, forbidden))
    values, comes = twin.values_at(game, sets[player, name], own, forbidden)
    takes = np.array([str(mine[sets[player, name][1]]) == action for mine in own])
    best = values[takes][:, comes].max(axis=0)
    weights = np.array([_weight(tree, player, one, mine) for mine in own])
    weights /= weights.sum()
    assert not weights[takes].any()
    gains = weights @ values[:, comes] - best
    assert gains.min() == pytest.approx(one.margin, abs=EXACT)
    assert twin.dominates(gains, one.kind)
    assert all(entry not in removed for entry, probability in one.response.items() if probability > 0)


def _weight(tree: cp.GameTree, player: int, one: DominatedAction, mine: dict) -> float:  # type: ignore[type-arg]
    """The weight of a pure strategy in the dominating one; where that does not come, every action counts."""
    product = 1.0
    for key, action in mine.items():
        product *= one.response.get(tree.entry(player, str(key), str(action)), 1.0)
    return product


@KINDS
@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "toy_queen", GAMES[-1]])
def test_cuts_agree_with_listing(name: str, kind: Kind) -> None:
    """The second method, forced onto games where the first one works."""
    tree = cp.compile_game(name)
    index = TreeIndex(tree)
    removed = np.zeros(tree.num_entries, bool)
    looked_at = range(0, tree.num_infosets, 7 if name == "kuhn(players=3)" else 1)
    listed = {one.entry: one for one in dominated_actions(tree, kind, False, looked_at).dominated}
    for infoset in looked_at:
        problem = ActionProblem(index, infoset, removed)
        for action, position in problem.actions():
            entry = int(tree.infoset_offset[infoset]) + action
            answer = decide_by_cuts(problem, position, kind, 50_000)
            if answer.settled:
                assert (answer.plan is not None) == (entry in listed)
            else:
                assert kind == "weak"
                assert entry not in listed
            if answer.plan is not None:
                strict = listed[entry].kind == "strict"
                assert answer.margin > 1e-7 if strict else answer.margin == pytest.approx(0.0, abs=EXACT)


def test_dominated_actions_of_kuhn_poker() -> None:
    """Gibson 2014, section 4.2: J calls and K folds are strictly dominated; then player 1's bet with Q is, by checking
    and calling with probability 2/3.
    """
    report = dominated_actions("kuhn")
    folds = {(0, "J:kb", "call"), (0, "K:kb", "fold"), (1, "J:b", "call"), (1, "K:b", "fold")}
    assert places(report, 1) == folds
    assert places(report, 2) == {(0, "Q:", "bet")}
    queen = report.dominated[-1]
    probabilities = {place(report.tree, entry): p for entry, p in queen.response.items()}
    assert probabilities[0, "Q:", "check"] == 1.0
    assert probabilities[0, "Q:kb", "call"] == pytest.approx(2 / 3)
    assert queen.margin == pytest.approx(1 / 18)


def test_the_notion_of_gambit_is_narrower() -> None:
    """Gibson 2014, section 4.2: it flags the same actions in Kuhn poker but for the bet with Q."""
    tree = cp.compile_game("kuhn")
    report = dominated_actions(tree)
    found = {place(tree, entry) for entry, _ in dominated_gambit(tree, iterated=True)}
    assert found == places(report, 1)
    for name in GAMES:
        tree = cp.compile_game(name)
        everything = places(dominated_actions(tree, iterated=False))
        narrow = {place(tree, entry) for entry, _ in dominated_gambit(tree)}
        assert narrow <= everything


def test_gambit_notion_of_a_large_game_is_refused() -> None:
    with pytest.raises(cp.GameError, match="pure profiles follow"):
        dominated_gambit("leduc", limit=1000)


def test_a_dominated_strategy_without_a_dominated_action() -> None:
    """Gibson 2014, figure 4.2 (payoffs rebuilt): the converse of proposition 4.1 is false."""
    assert dominated_actions("toy_dominated_plans", "weak").dominated == ()


@functools.cache
def three_players() -> ActionReport:
    return dominated_actions("kuhn(players=3)")


def test_dominated_actions_of_three_player_kuhn() -> None:
    """Folding the best card, calling with the worst, and calling a bet and a call with the second worst."""
    report = three_players()
    assert report.undecided == ()
    found = places(report)
    assert len(found) == 21  # computed independently of the thesis, which names none
    for _, name, action in found:
        card, betting = name.split(":")
        assert (card, action) in (("4", "fold"), ("1", "call"), ("2", "call"))
        assert card != "2" or betting.endswith("bc")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("strict", 64), ("weak", 109)])
def test_dominated_actions_of_leduc(kind: Kind, count: int) -> None:
    """Every action is settled; folding what cannot lose is dominated, and certificates hold against random play."""
    tree = cp.compile_game("leduc")
    report = dominated_actions(tree, kind)
    assert (len(report.dominated), report.undecided) == (count, ())
    assert (0, "JJ:kk/kb", "fold") in places(report)
    assert (0, "K:br", "fold") in places(report)  # settled by the second method
    for one in report.dominated[::7]:
        for seed in range(3):
            profile = cp.TabularStrategy.random(tree, seed)
            better = constructed_dominator(tree, profile, one)
            assert _gain(tree, one.player, better, profile) >= -EXACT


def _gain(tree: cp.GameTree, player: int, better: cp.TabularStrategy, profile: cp.TabularStrategy) -> float:
    """The least gain over everything that the other player can do."""
    change = plan_of(tree, player, better.table) - plan_of(tree, player, profile.table)
    return least_response(tree, 1 - player, payoff_matrix(tree.sequences, player).T @ change)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["kuhn", "toy_queen", "toy_weakly_dominated", *GAMES[-4:]])
def test_playing_a_dominated_action_is_dominated(name: str, seed: int) -> None:
    """Gibson 2014, proposition 4.1: the constructed strategy weakly dominates any that may take the action."""
    tree = cp.compile_game(name)
    form = normal_form(tree)
    for one in dominated_actions(tree, "weak", iterated=False).dominated:
        profile = cp.TabularStrategy.random(tree, seed)
        better = constructed_dominator(tree, profile, one)
        assert _gain(tree, one.player, better, profile) >= -EXACT
        new, old = (mixed_strategy(form, one.player, both.table) for both in (better, profile))
        assert twin.dominates((new - old) @ form.table(one.player), "weak")


def test_players_who_forget_are_left_out() -> None:
    report = dominated_actions("toy_forgotten_choice", "weak")
    assert {one.player for one in report.dominated} <= {0}
    tree = cp.compile_game("toy_forgotten_choice")
    with pytest.raises(cp.GameError, match="has imperfect recall; dominated actions need perfect recall"):
        ActionProblem(TreeIndex(tree), tree.find_infoset(1, "J"), np.zeros(tree.num_entries, bool))


@KINDS
def test_others_who_forget(kind: Kind) -> None:
    """Player 2 forgets the own first choice, so cannot answer differently after it; player 1 may count on that."""

    def last(first: str) -> cp.game.Node:  # type: ignore[name-defined]
        taken = {b: 2.0 if first == b else 0.0 for b in "xy"}
        left = {b: 1.0 if first == b else -1.0 for b in "xy"}
        answers = {b: {"take": cp.terminal(taken[b], 0), "leave": cp.terminal(left[b], 0)} for b in "xy"}
        return cp.decision(1, "again", {b: cp.decision(0, f"answer {first}{b}", answers[b]) for b in "xy"})

    game = cp.ExplicitGame(cp.decision(0, "root", {
        "in": cp.decision(1, "first", {a: last(a) for a in "xy"}), "out": cp.terminal(-1, 0)}))  # fmt: skip
    report = dominated_actions(game, kind)
    rounds = [
        {(player, str(key), str(action)) for (player, key), action in one if player == 0}
        for one in twin.dominated_actions(game, kind)
    ]
    assert places(report) == set().union(*rounds)
    assert (0, "root", "out") in places(report)


def test_only_some_sets() -> None:
    tree = cp.compile_game("kuhn")
    report = dominated_actions(tree, infosets=[tree.find_infoset(1, "K:b")])
    assert places(report) == {(1, "K:b", "fold")}


def test_misuse() -> None:
    with pytest.raises(cp.GameError, match="strict or weak; got 'very'"):
        dominated_actions("kuhn", "very")  # type: ignore[arg-type]
    with pytest.raises(cp.GameError, match="24,576 information sets; at most 5,000"):
        dominated_actions("bluff")


class TestProbe:
    def test_kuhn(self) -> None:
        """Gibson 2014, theorem 4.2 on all iteratively strictly dominated actions; regrets as computed independently."""
        report = dominated_actions("kuhn")
        probe = DominationProbe(cp.CfrSolver(report.tree, "cfr"), report.entries)
        probe.step(1000)
        seen = dict(zip((place(report.tree, one.entry) for one in report.dominated), probe.report(), strict=True))
        assert seen[0, "J:kb", "call"].regret == pytest.approx(-167.129, abs=5e-4)
        queen = seen[0, "Q:", "bet"]
        assert queen.regret == pytest.approx(-54.17, abs=5e-2)
        assert 2 <= queen.negative_since <= 20  # positive early, then negative for good
        for one in seen.values():
            assert one.negative_since <= 20
            assert one.played <= 20
            assert one.current == 0.0
            assert one.average < 0.01

    def test_three_players(self) -> None:
        report = three_players()
        probe = DominationProbe(cp.CfrSolver(report.tree, "cfr"), report.entries)
        probe.step(100)
        assert all(one.regret < 0 and one.current == 0.0 and one.played <= 5 for one in probe.report())

    def test_what_is_counted(self) -> None:
        """Against iterations looked at one by one."""
        tree = cp.compile_game("kuhn")
        entries = [tree.entry(0, "Q:", "bet"), tree.entry(1, "Q:k", "bet")]
        probe = DominationProbe(cp.CfrSolver(tree, "cfr"), entries)
        probe.step(30)
        solver = cp.CfrSolver(tree, "cfr")
        played, negative = np.zeros(2, int), []
        for _ in range(30):
            played += solver.strategy("last")[entries] > 0
            solver.step()
            negative.append(solver.regret[entries] < 0)
        for number, one in enumerate(probe.report()):
            assert one.played == played[number]
            since = next((t for t in range(30) if all(row[number] for row in negative[t:])), 30) + 1
            assert one.negative_since == since
            average = solver.strategy("average")
            assert one.average == pytest.approx(average[one.entry])  # first decisions: own reach is 1

    def test_own_reach_counts(self) -> None:
        tree = cp.compile_game("kuhn")
        entry = tree.entry(0, "Q:kb", "call")
        probe = DominationProbe(cp.CfrSolver(tree, "cfr"), [entry])
        probe.step(20)
        average = probe.solver.strategy("average")
        assert probe.report()[0].average == pytest.approx(average[tree.entry(0, "Q:", "check")] * average[entry])


def test_walks_reach_what_problems_see() -> None:
    """The ways into an information set are the others' pasts at its histories."""
    game = cp.make("leduc")
    tree = cp.compile_game(game)
    index = TreeIndex(tree)
    wanted = tree.find_infoset(1, "K:b")
    problem = ActionProblem(index, wanted, np.zeros(tree.num_entries, bool))
    pasts = {v.past[0] for v in walk(game) if v.state.player == 1 and v.state.infoset() == "K:b"}
    assert len(problem.ways) == len(pasts) == 3
