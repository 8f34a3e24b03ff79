"""Safe responses to a fixed opponent, against linear programs that are written from the rules of the game alone."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError, SolverError
from counterplay.evaluation import evaluate
from counterplay.evaluation.responses import best_response
from counterplay.lp.safe_response import SafePlans, restricted_response, safe_profile, sequence_values
from counterplay.lp.treeplex import strategy_of
from counterplay.tree.history.game_tree import GameTree
from tests.reference import response_lp
from tests.reference.walks import Profile, random_profile

GRID = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 0.99, 1.0)


def on_tree(tree: GameTree, profile: Profile) -> cp.TabularStrategy:
    """A profile of the reference as a strategy."""
    rows = {(player, str(key)): {str(a): x for a, x in row.items()} for (player, key), row in profile.items()}
    return cp.TabularStrategy.from_table(tree, rows)


def both_numbers(tree: GameTree, player: int, table: np.ndarray) -> tuple[float, float]:
    """What a player wins from the other's entries of a strategy, and is sure of against anybody."""
    profile = cp.TabularStrategy.from_tree(tree, table)
    won = evaluate(profile, tree).value[player]
    return won, -best_response(profile, 1 - player, tree).value


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("player", [0, 1])
def test_restricted_nash_equals_the_program_from_the_rules(name: str, player: int) -> None:
    game, tree = cp.make(name), cp.compile_game(name)
    fixed = random_profile(game, 3)
    table = on_tree(tree, fixed).table
    for p in GRID:
        value, strategy = restricted_response(tree, player, table, p)
        assert value == pytest.approx(response_lp.restricted_nash(game, fixed, player, p)[0], abs=1e-9)
        won, sure = both_numbers(tree, player, strategy)
        assert p * won + (1 - p) * sure == pytest.approx(value, abs=1e-9)  # the strategy has that value


@pytest.mark.parametrize("player", [0, 1])
def test_data_biased_equals_the_program_from_the_rules(player: int) -> None:
    game, tree = cp.make("leduc"), cp.compile_game("leduc")
    fixed = random_profile(game, 5)
    names = {name: number for number, name in enumerate(tree.infoset_names)}
    chosen = np.random.default_rng(1).choice([0.0, 0.3, 0.9, 1.0], size=tree.num_infosets)

    def confidence(key: Hashable) -> float:
        return float(chosen[names[str(key)]])

    spread = np.repeat(chosen, np.diff(tree.infoset_offset))
    value, _ = restricted_response(tree, player, on_tree(tree, fixed).table, spread)
    assert value == pytest.approx(response_lp.data_biased(game, fixed, player, confidence)[0], abs=1e-9)


def test_a_coin_for_each_infoset_is_not_a_coin_for_each_game() -> None:
    tree = cp.compile_game("leduc")
    model = cp.TabularStrategy.uniform(tree).table
    a_game, _ = restricted_response(tree, 0, model, 0.5)
    a_set, _ = restricted_response(tree, 0, model, np.full(len(model), 0.5))
    assert a_set > a_game + 0.05


def test_coins_that_never_or_always_fall_on_the_model() -> None:
    tree = cp.compile_game("leduc")
    model = cp.TabularStrategy.random(tree, 2)
    value, best = SafePlans(tree, 0).value, best_response(model, 0, tree).value
    for never, always in ((0.0, 1.0), (np.zeros(tree.num_entries), np.ones(tree.num_entries))):
        assert restricted_response(tree, 0, model.table, never)[0] == pytest.approx(value, abs=1e-9)
        assert restricted_response(tree, 0, model.table, always)[0] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("player", [0, 1])
def test_the_frontier_of_kuhn_and_the_points_of_restricted_nash_on_it(player: int) -> None:
    game, tree = cp.make("kuhn"), cp.compile_game("kuhn")
    fixed = random_profile(game, 3)
    table, plans = on_tree(tree, fixed).table, SafePlans(tree, player)
    values = sequence_values(tree, player, table)
    for epsilon in (0.0, 0.01, 0.05, 0.1, 0.3, 1.0):
        won, plan = plans.best(values, epsilon)
        assert won == pytest.approx(response_lp.safe_response(game, fixed, player, epsilon)[0], abs=1e-8)
        found, sure = both_numbers(tree, player, strategy_of(tree, player, plan, table))
        assert found == pytest.approx(won, abs=1e-8)
        assert sure >= plans.value - epsilon - 1e-8
    for p in GRID[1:-1]:
        won, sure = both_numbers(tree, player, restricted_response(tree, player, table, p)[1])
        assert plans.best(values, max(0.0, plans.value - sure))[0] == pytest.approx(won, abs=1e-8)


@pytest.mark.parametrize("player", [0, 1])
def test_points_of_restricted_nash_in_leduc_lie_on_the_frontier(player: int) -> None:
    tree = cp.compile_game("leduc")
    table, plans = cp.TabularStrategy.random(tree, 3).table, SafePlans(tree, player)
    values, before = sequence_values(tree, player, table), (-np.inf, np.inf)
    for p in GRID[1:-1]:
        won, sure = both_numbers(tree, player, restricted_response(tree, player, table, p)[1])
        assert plans.best(values, max(0.0, plans.value - sure))[0] == pytest.approx(won, abs=1e-7)
        assert won >= before[0] - 1e-9  # exploitation and exploitability grow with p
        assert sure <= before[1] + 1e-9
        before = won, sure


def test_both_seats_share_what_may_be_given_away() -> None:
    game, tree = cp.make("kuhn"), cp.compile_game("kuhn")
    fixed = random_profile(game, 3)
    table, value = on_tree(tree, fixed).table, SafePlans(tree, 0).value
    for epsilon in (0.0, 0.02, 0.1, 0.5):
        found = safe_profile(tree, table, epsilon)
        (first, sure), (second, certain) = (
            both_numbers(tree, seat, seated(tree, seat, found, table)) for seat in (0, 1)
        )
        lost = value - sure, -value - certain
        assert sum(lost) <= 2 * epsilon + 1e-8
        best = [response_lp.safe_response(game, fixed, seat, max(lost[seat], 0.0))[0] for seat in range(2)]
        assert first + second == pytest.approx(sum(best), abs=1e-7)
        for share in (0.0, 0.3, 0.5, 1.0):  # no other division wins more
            parts = (2 * epsilon * share, 2 * epsilon * (1 - share))
            other = [response_lp.safe_response(game, fixed, seat, parts[seat])[0] for seat in range(2)]
            assert first + second >= sum(other) - 1e-8
    boldest = safe_profile(tree, table)
    for seat in range(2):
        won, _ = both_numbers(tree, seat, seated(tree, seat, boldest, table))
        assert won == pytest.approx(best_response(on_tree(tree, fixed), seat, tree).value, abs=1e-8)


def seated(tree: GameTree, seat: int, own: np.ndarray, opponent: np.ndarray) -> np.ndarray:
    """One strategy in a seat, another in the other."""
    found = opponent.copy()
    low, high = tree.infoset_offset[tree.player_infosets[[seat, seat + 1]]]
    found[low:high] = own[low:high]
    return found


def test_what_cannot_be_asked() -> None:
    tree = cp.compile_game("kuhn")
    model = cp.TabularStrategy.uniform(tree).table
    with pytest.raises(SolverError, match="epsilon is what may be given away, in chips, 0 or more; got -1"):
        safe_profile(tree, model, -1.0)
    with pytest.raises(GameError, match="players 0 and 1; got 2"):
        SafePlans(tree, 2)
    with pytest.raises(GameError, match="is for two players; kuhn"):
        SafePlans(cp.compile_game("kuhn(players=3)"), 0)
