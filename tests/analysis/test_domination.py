"""Dominated strategies: the programs against the definition, certificates by direct evaluation, games of the thesis."""

from __future__ import annotations

import io

import numpy as np
import pygambit
import pytest

import counterplay as cp
from counterplay.analysis.diagnostics import RegretDiagnostics
from counterplay.analysis.domination import (
    DominatedStrategy,
    StrategyReport,
    check_mixture,
    dominated_strategies,
    dominating_strategy,
    find_dominated,
    scaled_program,
    strict_program,
    weak_program,
)  # fmt: skip
from counterplay.analysis.regret_tracker import RegretTracker
from counterplay.game.efg import format_efg
from counterplay.games.matrix import TensorGame
from counterplay.tree.sequence.normal_form import NormalForm, behavioural_strategy, mixed_strategy, normal_form
from tests.reference.domination import dominates, is_dominated, strategy_table

EXACT = 1e-12

GAMES = ["kuhn", "toy_undominated", "toy_elimination_order", "toy_coarse_correlated", "toy_weakly_dominated",
         "toy_dominated_average", "toy_dominated_plans", "toy_mismatching_pennies", "toy_forgotten_choice", "toy_queen",
         "toy_hidden_coin", *(f"random_game(seed={n},depth=3,branching=2,slack=0)" for n in range(4))]  # fmt: skip
KINDS = pytest.mark.parametrize("kind", ["strict", "weak"])


def named(report: StrategyReport) -> dict[str, dict[str, float]]:
    """Dominated strategies by name with their mixtures."""
    name = report.form.strategy_name
    return {
        name(one.player, one.strategy): {name(one.player, other): w for other, w in one.mixture.items()}
        for one in report.dominated
    }


def tensor(seed: int, shape: tuple[int, ...]) -> NormalForm:
    """A game with small whole payoffs, so that ties and weak domination are common."""
    payoffs = np.random.default_rng(seed).integers(-2, 3, (len(shape), *shape))
    return normal_form(cp.compile_game(TensorGame(list(payoffs))))


def check_certificates(report: StrategyReport) -> None:
    """Every mixture, evaluated in the game that was left in its round."""
    form = report.form
    left = [np.arange(size) for size in form.shape]
    for number in range(1, 1 + max((one.round for one in report.dominated), default=0)):
        now = [one for one in report.dominated if one.round == number]
        for one in now:
            assert set(one.mixture) <= set(left[one.player].tolist())
            assert one.strategy not in one.mixture
            assert sum(one.mixture.values()) == pytest.approx(1.0, abs=EXACT)
            assert min(one.mixture.values()) > 0
            gains = _gains(form, one, left)
            assert dominates(gains, one.kind)
            assert (gains.min(), gains.max()) == pytest.approx((one.margin, one.gain), abs=1e-9)
        for player in range(form.players):
            left[player] = np.setdiff1d(left[player], [one.strategy for one in now if one.player == player])
    assert all(map(np.array_equal, left, report.remaining))


def _gains(form: NormalForm, one: DominatedStrategy, left: list[np.ndarray]) -> np.ndarray:
    payoff = np.moveaxis(form.payoffs[one.player], one.player, 0)
    others = np.ix_(*[rows for player, rows in enumerate(left) if player != one.player])
    mixture = sum(weight * payoff[other][others] for other, weight in one.mixture.items())
    return np.asarray(mixture - payoff[one.strategy][others]).ravel()


@KINDS
@pytest.mark.parametrize("name", GAMES)
def test_one_round_equals_the_definition(name: str, kind: str) -> None:
    """All pure strategies, every payoff by a walk, one program for each."""
    game = cp.make(name)
    report = dominated_strategies(name, kind, iterated=False, reduced=False)  # type: ignore[arg-type]
    check_certificates(report)
    tree = report.form.tree
    for player in range(tree.players):
        own, table = strategy_table(game, player)
        table = np.unique(table, axis=1)
        expected = set()
        for row, target in enumerate(table):
            if is_dominated(np.delete(table, row, axis=0), target, kind):
                expected.add(_choices(tree, player, own[row]))
        found = {tuple(report.form.choices[player][one.strategy]) for one in report.dominated if one.player == player}
        assert found == expected


def _choices(tree: cp.GameTree, player: int, pure: dict) -> tuple[int, ...]:  # type: ignore[type-arg]
    by_name = {str(key): str(action) for key, action in pure.items()}
    return tuple(tree.actions_of(i).index(by_name[tree.infoset_names[i]]) for i in tree.infosets_of(player))


@KINDS
@pytest.mark.parametrize("name", GAMES)
def test_every_certificate_holds(name: str, kind: str) -> None:
    check_certificates(dominated_strategies(name, kind))  # type: ignore[arg-type]


@KINDS
@pytest.mark.parametrize("seed", range(10))
def test_random_games(seed: int, kind: str) -> None:
    form = tensor(seed, (4, 3) if seed % 2 else (3, 3, 2))
    report = dominated_strategies(form, kind)  # type: ignore[arg-type]
    check_certificates(report)
    for player in range(form.players):  # nothing was overlooked
        cells = np.moveaxis(form.payoffs[player][np.ix_(*report.remaining)], player, 0)
        table = cells.reshape(len(cells), -1)
        for row, target in enumerate(table):
            if len(table) > 1:
                assert not is_dominated(np.delete(table, row, axis=0), target, kind)


@pytest.mark.parametrize("seed", range(6))
def test_strict_removal_does_not_depend_on_the_order(seed: int) -> None:
    """Gibson 2014, section 2.1.2: one at a time, from the last player on, what is left is the same."""
    form = tensor(seed, (4, 4))
    left = [np.arange(size) for size in form.shape]
    while True:
        found = [one for player in (1, 0) for one in find_dominated(form, player, left)]
        if not found:
            break
        left[found[-1].player] = np.setdiff1d(left[found[-1].player], found[-1].strategy)
    assert all(map(np.array_equal, left, dominated_strategies(form).remaining))
    assert all(len(rows) for rows in left)


def test_weak_removal_depends_on_the_order() -> None:
    """Gibson 2014, figure 2.4: removing b first leaves A, removing c first leaves B."""
    form = normal_form(cp.compile_game("toy_elimination_order"))
    for first, gone in ((1, 1), (2, 0)):
        assert first in [one.strategy for one in find_dominated(form, 1, [np.arange(2), np.arange(3)], "weak")]
        left = [np.arange(2), np.setdiff1d(np.arange(3), first)]
        assert [one.strategy for one in find_dominated(form, 0, left, "weak")] == [gone]


def test_games_of_the_thesis() -> None:
    """Figures 2.1, 2.5, 4.2, 4.3 and 4.4 (payoffs of 4.2 and 4.4 are rebuilt)."""
    assert named(dominated_strategies("toy_undominated", "weak")) == {}
    assert named(dominated_strategies("toy_coarse_correlated")) == {"player 1 C": {"player 1 B": 1.0}}
    assert named(dominated_strategies("toy_dominated_plans")) == {
        "first a, a f": {"first b, b f": 1.0},
        "first b, b e": {"first a, a e": 1.0},
    }
    assert all(one.margin == 1.0 for one in dominated_strategies("toy_dominated_plans").dominated)
    assert "player 1 W" in named(dominated_strategies("toy_weakly_dominated", "weak", iterated=False))
    assert "player 1 W" not in named(dominated_strategies("toy_weakly_dominated", "strict"))
    form = normal_form(cp.compile_game("toy_dominated_average"))
    table = form.table(0)
    half = np.array([0.5, 0.5, 0.0]) @ table
    assert strict_program(table, half)[0] == pytest.approx(1.0)  # ½A + ½B by C
    assert named(dominated_strategies("toy_dominated_average", "weak")) == {}


def test_mixtures_that_dominate_only_together() -> None:
    """A middle row below the mean of two others: no pure strategy dominates it."""
    form = normal_form(cp.compile_game('matrix(rows="3,0;0,3;1,1")'))
    report = dominated_strategies(form)
    assert [(one.player, one.strategy, one.exact) for one in report.dominated] == [(0, 2, True)]
    assert report.dominated[0].mixture == pytest.approx({0: 0.5, 1: 0.5})
    assert dominated_strategies(form, pure=True).dominated == ()


@pytest.mark.parametrize("seed", range(20))
def test_programs_agree(seed: int) -> None:
    """Program (2.7) with its shift and the largest margin say the same, for pure and mixed targets."""
    generator = np.random.default_rng(seed)
    table = generator.normal(size=(4, 5))
    target = generator.dirichlet(np.ones(4)) @ table - 0.2 * generator.random()
    total, weights = scaled_program(table, target)
    margin, mixture = strict_program(table, target)
    assert (total < 1 - 1e-9) == (margin > 1e-9)
    assert check_mixture(table, target, mixture, "strict") is not None
    if total < 1 - 1e-6:
        assert check_mixture(table, target, weights / weights.sum(), "strict") is not None


def test_the_shift_matters() -> None:
    """Program (2.7) of Gibson 2014 as printed: with negative utilities it flags a strategy that nothing dominates."""
    from scipy.optimize import linprog

    table, target = np.array([[-2.0, -1.0], [-1.0, -2.0]]), np.array([-1.0, -1.5])
    printed = linprog(np.ones(2), A_ub=-table.T, b_ub=-target)
    assert printed.fun < 1
    assert scaled_program(table, target)[0] >= 1 - 1e-9
    assert strict_program(table, target)[0] < 0


def test_weak_program_needs_a_mixture_that_never_loses() -> None:
    assert weak_program(np.array([[1.0, 0.0]]), np.array([0.0, 1.0])) is None
    value, weights = weak_program(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([0.0, 0.0])) or (0.0, np.zeros(2))
    assert (value, weights[0]) == pytest.approx((1.0, 1.0))


def test_what_does_not_dominate_is_not_certified() -> None:
    table, target = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5])
    assert check_mixture(table, target, np.array([0.5, 0.5]), "strict") is None
    assert check_mixture(table, target, np.array([0.5, 0.5]), "weak") is None
    assert check_mixture(table, target, np.array([0.6, 0.4]), "weak") is None


def test_games_with_many_strategies_are_refused_with_their_size() -> None:
    """One player with ten sets of four actions: 4^10 pure strategies."""
    sets = {str(i): (0.1, cp.decision(0, f"set {i}", {a: cp.terminal(1, -1) for a in "abcd"})) for i in range(10)}
    with pytest.raises(cp.GameError, match="has 1,048,576 x 1 pure strategies; at most 3,000 of a player are tested"):
        dominated_strategies(cp.ExplicitGame(cp.chance(sets)))
    with pytest.raises(cp.GameError, match=r"leduc has about 10\^14.0 x about 10\^26.7 pure strategies"):
        dominated_strategies("leduc")


def test_kinds_have_names() -> None:
    with pytest.raises(cp.GameError, match="domination is strict or weak; got 'very weak'"):
        dominated_strategies("kuhn", "very weak")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["toy_dominated_plans", "toy_coarse_correlated", "toy_mismatching_pennies",
                                  "toy_undominated", "toy_queen"])  # fmt: skip
def test_pure_domination_equals_gambit(name: str) -> None:
    """Gambit finds strategies that another pure one strictly dominates, one round, in the reduced normal form.

    Its weak domination is not compared, for it also removes all but one of strategies that always pay the same; and
    17.0.0b2 leaves 2 strategies in random_game(seed=3,depth=3), where by its own payoffs 4 are undominated.
    """
    game = pygambit.read_efg(io.BytesIO(format_efg(cp.make(name)).encode()))
    support = pygambit.supports.undominated_strategies_solve(game, strict=True)
    report = dominated_strategies(name, iterated=False, pure=True)
    assert [len(left) for left in report.remaining] == [len(list(support[player])) for player in game.players]


@KINDS
@pytest.mark.parametrize("name", ["kuhn", "random_game(seed=1,depth=3)", "random_game(seed=3,depth=3)"])
def test_pure_domination_in_the_payoffs_of_gambit(name: str, kind: str) -> None:
    game = pygambit.read_efg(io.BytesIO(format_efg(cp.make(name)).encode()))
    arrays = [np.array(payoff, float) for payoff in game.to_arrays()]
    report = dominated_strategies(name, kind, iterated=False, pure=True)  # type: ignore[arg-type]
    for player, table in enumerate((arrays[0], arrays[1].T)):
        undominated = sum(
            not any(dominates(other - target, kind) for other in table) for target in table
        )  # fmt: skip
        assert len(report.remaining[player]) == undominated


def test_strategies_by_duality_equal_those_by_listing() -> None:
    """In Kuhn poker, for every pure strategy of both players and some mixed ones."""
    tree = cp.compile_game("kuhn")
    form = normal_form(tree)
    listed = {kind: dominated_strategies(form, kind, iterated=False) for kind in ("strict", "weak")}  # type: ignore[arg-type]
    dominated = {
        kind: {(one.player, one.strategy) for one in report.dominated} for kind, report in listed.items()
    }  # fmt: skip
    for player, size in enumerate(form.shape):
        for strategy in range(0, size, 2):
            profile = _with(form, player, np.eye(size)[strategy])
            answer = dominating_strategy(tree, profile, player)
            kind = next((k for k in ("strict", "weak") if (player, strategy) in dominated[k]), None)
            assert answer.kind == kind
            if kind is not None:
                better = mixed_strategy(form, player, answer.profile.table)
                gains = (better - np.eye(size)[strategy]) @ form.table(player)
                assert dominates(gains, kind)
                assert gains.min() == pytest.approx(answer.margin, abs=1e-7)


def _with(form: NormalForm, player: int, weights: np.ndarray) -> cp.TabularStrategy:
    tree = form.tree
    strategy = cp.TabularStrategy.uniform(tree).table.copy()
    low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
    strategy[low:high] = behavioural_strategy(form, player, weights)
    return cp.TabularStrategy.from_tree(tree, strategy)


def test_duality_in_a_game_with_too_many_strategies() -> None:
    """Uniform play in Leduc is strictly dominated for both players, an equilibrium is for neither."""
    tree = cp.compile_game("leduc")
    for player in (0, 1):
        answer = dominating_strategy(tree, cp.TabularStrategy.uniform(tree), player)
        assert answer.kind == "strict"
        for seed in range(5):  # against anybody
            other = cp.TabularStrategy.random(tree, seed).table
            low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
            before, after = other.copy(), other.copy()
            before[low:high] = cp.TabularStrategy.uniform(tree).table[low:high]
            after[low:high] = answer.profile.table[low:high]
            gain = (
                cp.expected_values(cp.TabularStrategy.from_tree(tree, after), tree)[player]
                - cp.expected_values(cp.TabularStrategy.from_tree(tree, before), tree)[player]
            )
            assert gain >= answer.margin - 1e-9


@pytest.mark.parametrize(
    ("name", "message"),
    [("kuhn(players=3)", "needs two players"), ("toy_forgotten_choice", "player 2 of toy_forgotten_choice forgets")],
)
def test_duality_is_for_two_players_who_remember(name: str, message: str) -> None:
    tree = cp.compile_game(name)
    with pytest.raises(cp.GameError, match=message):
        dominating_strategy(tree, cp.TabularStrategy.uniform(tree), 0)


def test_regret_matching_stops_playing_dominated_strategies() -> None:
    """Gibson 2014, theorem 4.1, on a game that iterated removal solves: only (0, 0) is left after five rounds."""
    rows = "5,4,3;4,3,4;3,2,1"
    columns = "5,4,1;4,5,3;3,2,6"
    form = normal_form(cp.compile_game(f'matrix(rows="{rows}",columns="{columns}")'))
    report = dominated_strategies(form)
    assert report.dominated
    config = cp.CfrConfig(alternating=False, fallback="argmax-uniform")
    solver = cp.CfrSolver(form.tree, config)
    diagnostics = RegretDiagnostics(solver)
    diagnostics.step(3000)
    last = solver.strategy("last")
    for one in report.dominated:
        assert last[form.tree.infoset_offset[one.player] + one.strategy] == 0.0
    probability = solver.strategy("average")
    assert max(probability[form.tree.infoset_offset[one.player] + one.strategy] for one in report.dominated) < 0.05


def test_dominated_strategies_meet_negative_regret() -> None:
    """Gibson 2014, theorem 4.3 and equation 4.2, in Kuhn poker."""
    tree = cp.compile_game("kuhn")
    form = normal_form(tree)
    solver = cp.CfrSolver(tree, "cfr")
    tracker = RegretTracker(tree)
    for _ in range(2000):
        tracker.observe(solver.strategy("last"))
        solver.step()
    sequences = tree.sequences
    for one in dominated_strategies(form).dominated:
        played = form.choices[one.player][one.strategy]
        first = int(tree.player_infosets[one.player])
        entries = [int(tree.infoset_offset[first + i]) + a for i, a in enumerate(played.tolist()) if a >= 0]
        assert tracker.regret[entries].min() < 0
        profile = _with(form, one.player, np.eye(form.shape[one.player])[one.strategy])
        full = tracker.full_regret(one.player, profile.table)
        starts = [
            decision - sequences.decision_start[one.player]
            for decision in range(sequences.decision_start[one.player], sequences.decision_start[one.player + 1])
            if sequences.decision_parent[decision] == sequences.sequence_start[one.player]
        ]
        assert full[starts].sum() == pytest.approx(tracker.regret[entries].sum(), abs=1e-9)
