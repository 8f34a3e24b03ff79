"""Subgames solved again: the gadget against enumeration and linear programs, and what the whole is worth afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError
from counterplay.evaluation.lifted_buckets import LiftedStrategy
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.forms import open_game
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.runtime.pacing import Until
from counterplay.solvers import make_solver
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.solvers.resolving import (
    Tables,
    Where,
    _Judge,
    after_deals,
    counterfactual_values,
    public_points,
    resolve,
    resolve_below,
)
from counterplay.strategy.public_strategy import fill_table
from counterplay.strategy.tabular import TabularStrategy, normalise
from counterplay.tree.public.from_histories import PublicSplit, split_public
from counterplay.tree.public.public_tree import PublicTree
from counterplay.tree.public.subgame_tree import PublicPoint, subgame_tree
from tests.poker.test_bucket_game import forgetting
from tests.reference.public_games import random_public_game
from tests.reference.resolving import SlowSubgame
from tests.reference.sequence_lp import zero_sum_value
from tests.reference.walks import Profile

CLOSE = 1e-7
"""How far linear programs and exact sums may differ."""


def after(text: str) -> Where:
    return lambda tree, node, _deal: tree.node_text[node] == text


def random_tables(tree: PublicTree, seed: int) -> Tables:
    dice = np.random.default_rng(seed)
    first, second = (dice.exponential(size=size) for size in tree.num_entries)
    return first, second


def solved_tables(tree: PublicTree, iterations: int) -> Tables:
    solver = PublicSolver(tree, "cfr+")
    solver.step(iterations)
    first, second = (table.copy() for table in solver.strategy())
    return first, second


def exploitability(tree: PublicTree, tables: Tables) -> float:
    return PublicWalker(tree).measure(tables).exploitability


# ----------------------------------------------------------------------------- against the twin, one subgame at a time


def named(split: PublicSplit, tables: Tables) -> Profile:
    """Tables of a public tree as the twins have strategies."""
    values = normalise(split.values(tables), split.game.infoset_offset)
    found = TabularStrategy.from_tree(split.game, values)
    return {(player, name): dict(row) for player, name, row in found.infosets()}


def held_card(state: Any, player: int) -> str:
    """The private card of Kuhn poker or Leduc by its rank."""
    card = state.deal[player]
    return str(card if hasattr(state, "betting") and isinstance(state.betting, str) else card // 2)


def slow(split: PublicSplit, name: str, tables: Tables, point: PublicPoint) -> SlowSubgame:
    player = int(split.public.kind[point.node])
    entries = split.entry[player][split.public.entries(point.node, point.deal)]
    sets = np.searchsorted(split.game.infoset_offset, entries, side="right") - 1
    names = {split.game.infoset_names[one] for one in sets}
    game = open_game(name, "states")
    return SlowSubgame.of(
        game, named(split, tables), lambda state: state.player == player and state.infoset() in names, held_card
    )


CASES = [("kuhn", after("check"), 1), ("kuhn", after("bet"), 1), ("kuhn", after("check bet"), 1),
         ("leduc", after("bet call"), 3)]  # fmt: skip


@pytest.mark.parametrize(("name", "where", "count"), CASES)
@pytest.mark.parametrize("player", [0, 1])
def test_the_gadget_is_that_of_the_source(name: str, where: Where, count: int, player: int) -> None:
    """Offers by enumeration; the gadget is worth what is offered, by a linear program; the error of an unfinished
    answer is what a best response finds in it."""
    split = split_public(open_game(name))
    tables = random_tables(split.public, 5)
    points = list(public_points(split.public, tables, where))
    assert len(points) == count
    for point in points:
        twin, free = slow(split, name, tables, point), 1 - player
        offers = twin.offers(named(split, tables), free)
        found = resolve(split.public, point, player, tables[player], Until(iterations=3))
        assert found.offered is not None
        weights = found.subgame.tree.hands[free].root_weight
        assert np.sort(found.offered * weights) == pytest.approx(sorted(offers.values()), abs=1e-12)
        sign = 1 if free == 0 else -1
        value = sign * zero_sum_value(twin.game(free, offers)) * twin.total(free)
        assert value == pytest.approx(sum(offers.values()), abs=CLOSE)
        into = tuple(table.copy() for table in tables)
        found.subgame.put(player, found.tables[player], into[player])
        answer = named(split, (into[0], into[1]))
        plain = subgame_tree(split.public, point, free)
        now = counterfactual_values(plain.tree, free, plain.taken(player, into[player]))
        assert np.all((now - found.offered) * weights <= found.error + 1e-12)
        assert found.error == pytest.approx(twin.error(answer, player, offers), abs=1e-12)


@pytest.mark.parametrize(("name", "where", "count"), CASES[1:])
def test_from_both_ranges_it_is_the_subgame(name: str, where: Where, count: int) -> None:
    split = split_public(open_game(name))
    tables = random_tables(split.public, 6)
    for point in list(public_points(split.public, tables, where))[:1]:
        twin = slow(split, name, tables, point)
        found = resolve(split.public, point, 0, None, Until(iterations=2000))
        walker = PublicWalker(found.subgame.tree)
        value = walker.value(0, *found.tables)
        exact = zero_sum_value(twin.game()) * twin.total(None)
        assert value == pytest.approx(exact, abs=found.error + CLOSE)
        assert found.error < 1e-3 * twin.total(None)


def test_the_blueprint_itself_gives_no_more_than_it_offers() -> None:
    tree = open_game("leduc", "public")
    tables = random_tables(tree, 7)
    for point in public_points(tree, tables, after_deals(1)):
        for player in (0, 1):
            cut = subgame_tree(tree, point, 1 - player)
            offered = counterfactual_values(cut.tree, 1 - player, cut.taken(player, tables[player]))
            won = offered @ cut.tree.hands[1 - player].root_weight
            own = PublicWalker(cut.tree).value(1 - player, *[
                cut.taken(seat, tables[seat]) for seat in (1 - player, player)
            ])  # fmt: skip
            assert own <= won + 1e-12


# --------------------------------------------------------------------------------- what the whole is worth afterwards


def blueprints(tree: PublicTree) -> dict[str, Tables]:
    uniform = np.ones(tree.num_entries[0]), np.ones(tree.num_entries[1])
    return {
        "uniform": uniform,
        "random": random_tables(tree, 1),
        "pure": tuple(table**40 for table in random_tables(tree, 2)),  # type: ignore[dict-item]
        "2 iterations": solved_tables(tree, 2),
        "50 iterations": solved_tables(tree, 50),
    }


def coarse_leduc(split: PublicSplit) -> Tables:
    """An equilibrium for a player who does not tell a jack from a queen in the hand."""
    found = cp.solve("leduc", "cfr+", forget="match=^[JQ]", iterations=300).profile
    return split.tables(found.for_tree(split.game))


@pytest.fixture(scope="module")
def leduc() -> PublicSplit:
    return split_public(open_game("leduc"))


@pytest.mark.parametrize("iterations", [1, 4, 300])
def test_leduc_is_no_more_exploitable_than_before_and_the_errors(leduc: PublicSplit, iterations: int) -> None:
    """Burch, Johanson and Bowling 2014: for any blueprint, however bad the solutions are."""
    tree = leduc.public
    for name, tables in (blueprints(tree) | {"coarse": coarse_leduc(leduc)}).items():
        before = exploitability(tree, tables)
        found = resolve_below(tree, tables, after_deals(1), Until(iterations=iterations))
        assert found.subgames == 15, name
        now = exploitability(tree, found.tables)
        assert now <= before + sum(found.errors) / 2 + 1e-12, name
        for player in (0, 1):  # each player's own bound
            walker = PublicWalker(tree)
            lost = walker.response(1 - player, found.tables[player]) - walker.response(1 - player, tables[player])
            assert lost <= found.errors[player] + 1e-12, name
        if iterations == 300:
            assert sum(found.errors) < 2e-3, name


def test_from_both_ranges_leduc_can_become_more_exploitable(leduc: PublicSplit) -> None:
    tree = leduc.public
    tables = solved_tables(tree, 50)
    before = exploitability(tree, tables)
    safe, unsafe = (resolve_below(tree, tables, after_deals(1), Until(iterations=300), kind) for kind in (True, False))
    assert exploitability(tree, safe.tables) <= before + sum(safe.errors) / 2 + 1e-12
    assert exploitability(tree, unsafe.tables) > 2 * before


def test_a_poor_blueprint_is_repaired(leduc: PublicSplit) -> None:
    """What a perfect start and perfect subgames would be is not claimed; here both forms gain much."""
    tables = coarse_leduc(leduc)
    before = exploitability(leduc.public, tables)
    for safe in (True, False):
        found = resolve_below(leduc.public, tables, after_deals(1), Until(iterations=300), safe)
        assert exploitability(leduc.public, found.tables) < before


THREE_ROUNDS = GameDefinition(
    limit=True, players=2, rounds=3, blinds=(2, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1), suits=3, ranks=4,
    hole_cards=2, board_cards=(0, 1, 1), first_players=(1, 0, 0),
)  # fmt: skip
"""Hold'em with twelve cards."""


def test_cards_up_to_suits() -> None:
    """Twelve cards, two hole cards, three rounds, two of them below the cut."""
    tree = build_public_tree(THREE_ROUNDS, name="twelve cards")
    solver: Any = make_solver(BucketGame.build(THREE_ROUNDS, forgetting(THREE_ROUNDS)), "pure-cfr", seed=3)
    solver.step(2000)
    strategy = LiftedStrategy(solver.profile())
    tables = fill_table(tree, 0, strategy), fill_table(tree, 1, strategy)
    before = exploitability(tree, tables)
    found = resolve_below(tree, tables, after_deals(1), Until(iterations=40))
    assert exploitability(tree, found.tables) <= before + sum(found.errors) / 2 + 1e-12
    assert exploitability(tree, found.tables) < before


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_four_rounds_of_twelve_cards(seed: int) -> None:
    """Every turn of hold'em with 12 cards, for any blueprint and however bad the solutions are."""
    tree = open_game("holdem_4_1(ranks=3)", "public")
    tables = random_tables(tree, seed)
    found = resolve_below(tree, tables, after_deals(2), Until(iterations=3 * seed))
    assert found.subgames == 1107
    assert exploitability(tree, found.tables) <= exploitability(tree, tables) + sum(found.errors) / 2 + 1e-9


def test_a_gadget_is_solved_when_neither_player_gains() -> None:
    """Classes of hands stand for several; the gap counts each of them, so that it vanishes, and bounds the error."""
    tree = build_public_tree(THREE_ROUNDS, name="twelve cards")
    tables = random_tables(tree, 5)
    points = list(public_points(tree, tables, after_deals(1)))
    assert any(np.any(hands.multiplicity[hands.slice(points[0].deal)] > 1) for hands in tree.hands)
    for player in (0, 1):
        gaps, errors = [], []
        for iterations in (1, 30, 1000):
            found = resolve(tree, points[0], player, tables[player], Until(iterations=iterations))
            solver = PublicSolver(found.subgame.tree, "cfr+")
            solver.step(iterations)
            gaps.append(_Judge(solver, player, found.offered).gap())
            errors.append(found.error)
        assert gaps[0] > gaps[1] > gaps[2] >= 0.0
        assert gaps[2] < 1e-3 * gaps[0]
        assert all(error <= gap + 1e-12 for error, gap in zip(errors, gaps, strict=True))
        exact = resolve(tree, points[0], player, tables[player], Until(exploitability=gaps[1], seconds=600))
        assert exact.finished
        assert 1 < exact.iterations <= 31


@pytest.mark.parametrize("seed", range(6))
def test_random_games_at_random_points(seed: int) -> None:
    """Hands that are refined, deals that everybody sees or one player, cuts anywhere."""
    tree = split_public(open_game(random_public_game(seed))).public
    tables = random_tables(tree, seed)
    dice = np.random.default_rng(seed)
    chosen = {(node, deal) for node in range(tree.num_nodes) for deal in range(tree.num_deals) if dice.random() < 0.4}
    found = resolve_below(tree, tables, lambda _, node, deal: (node, deal) in chosen, Until(iterations=3))
    assert exploitability(tree, found.tables) <= exploitability(tree, tables) + sum(found.errors) / 2 + 1e-12


# ------------------------------------------------------------------------------------------------------------ limits


def test_where_nobody_comes_the_blueprint_stays(leduc: PublicSplit) -> None:
    tree = leduc.public
    tables = random_tables(tree, 3)
    for node in np.flatnonzero(tree.kind < 2).tolist():
        if tree.node_text[node] == "":  # the first player always checks
            rows = tables[0][tree.entries(node, 0)].reshape(2, -1)
            rows[1] = 0.0
    found = resolve_below(tree, tables, after("bet call"), Until(iterations=5))
    assert found.subgames == 3
    for node, deal in tree.states_of(0):
        if tree.node_text[node].startswith("bet call"):
            assert np.array_equal(found.tables[0][tree.entries(node, deal)], tables[0][tree.entries(node, deal)])


def test_time_runs_out() -> None:
    tree = open_game("leduc", "public")
    tables = random_tables(tree, 4)
    point = next(public_points(tree, tables, after_deals(1)))
    late = resolve(tree, point, 0, tables[0], Until(seconds=1e-9, iterations=1000))
    assert (late.finished, late.iterations) == (False, 0)
    easy = resolve(tree, point, 0, tables[0], Until(seconds=1e-9, exploitability=1e6))
    assert easy.error <= 1e6
    assert (easy.finished, easy.iterations) == (False, 0)  # exact enough, but nothing was solved
    done = resolve(tree, point, 0, tables[0], Until(seconds=60, exploitability=1e-6))
    assert done.finished
    assert done.error <= 1e-6


def test_games_that_are_not_zero_sum_are_refused() -> None:
    tree = open_game("tilted(kuhn,orange,7)", "public")
    point = next(public_points(tree, random_tables(tree, 1), after("check")))
    with pytest.raises(GameError, match="not zero-sum"):
        subgame_tree(tree, point)
