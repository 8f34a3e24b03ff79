"""CFR-BR: its iterates are those of the twin, and its strategies are the least exploitable ones of the abstraction."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.errors import CounterplayError, GameError, SolverError
from counterplay.evaluation.lifted_buckets import HeadToHead, LiftedStrategy, RealGame
from counterplay.evaluation.public_walks import FIXED, Opponent, PublicWalks
from counterplay.forms import poker_definition
from counterplay.kernels.public.bucketed_hands import ANY_ACTION
from counterplay.kernels.public.piece_steps import UPDATE
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.solvers import make_solver
from counterplay.solvers.bucket_cfr import BucketCfrSolver
from counterplay.solvers.cfr_br import CfrBrSolver
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_strategy import PublicStrategy, fill_table
from tests.poker.test_bucket_game import (
    LEDUC,
    THREE,
    coarse,
    compiled,
    forgetting,
    lossless,
    remembered,
    remembering,
    table_rows,
)
from tests.reference.cfr_br import CfrBr

SHORT = dataclasses.replace(LEDUC, max_raises=(1, 1))
RULES: dict[Any, Any] = {forgetting: coarse, remembering: remembered}


def response_to(solver: CfrBrSolver, seat: int) -> PublicStrategy:
    """What the responder to the seat that learned last has played."""
    real, player = solver.real, 1 - seat
    tables = [np.zeros(entries) for entries in real.num_entries]
    chosen, at = solver._response, solver._real.rows[player].response_at
    for node in np.flatnonzero(real.kind == player).tolist():
        actions = np.arange(int(real.num_children[node]))[:, None]
        for deal in range(int(real.deal_low[node]), int(real.deal_high[node])):
            hands = real.hands[player].slice(deal)
            played = chosen[at[node] + hands.start : at[node] + hands.stop]
            tables[player][real.entries(node, deal)] = np.ravel((played == actions) | (played == ANY_ACTION))
    return PublicStrategy.of_tree(real, (tables[0], tables[1]))


def entries_of_seat(abstract: BucketGame, seat: int) -> np.ndarray:
    def blocks() -> Iterator[np.ndarray]:
        for slot in range(seat, len(abstract.slot_start), 2):
            first = int(abstract.slot_start[slot])
            yield np.arange(first, first + int(abstract.slot_width[slot] * abstract.slot_buckets[slot]))

    return np.concatenate(list(blocks()))


@pytest.mark.parametrize(("game", "buckets", "seat"), [
    (SHORT, forgetting, 0), (SHORT, remembering, 1),
])  # fmt: skip
def test_iterates_are_those_of_the_twin(game: Any, buckets: Any, seat: int) -> None:
    """The response is the best one, and regrets and average against it are those of the twin."""
    abstract = BucketGame.build(game, buckets(game))
    fast, slow = CfrBrSolver(abstract), CfrBr(game, RULES[buckets], seat)
    mine = entries_of_seat(abstract, seat)
    for number in range(3):
        won, _ = slow.against(slow.current())
        assert fast.measure("last").best_response[1 - seat] == pytest.approx(won, abs=1e-9)
        fast._learn(np.array([seat]), float(number + 1))
        played = response_to(fast, seat)
        response = {name: dict(played.probabilities(*name)) for name in slow.sets if name[0] != seat}
        assert slow.learn(response) == pytest.approx(-won, abs=1e-9)  # the responder has no regret
        np.testing.assert_allclose(fast.regret, table_rows(abstract, slow.regret), atol=1e-9)
        averages = [BucketStrategy.of_game(abstract, one).strategy()[mine]
                    for one in (fast.average, table_rows(abstract, slow.average))]  # fmt: skip
        np.testing.assert_allclose(*averages, atol=1e-9)


@functools.cache
def least(buckets: Any) -> tuple[float, float]:
    """What a best responder wins at least in each seat, by linear programs: one player alone is bound to buckets."""
    found = []
    for seat in (1, 0):  # the responder sits in the other one
        both = [buckets(LEDUC), lossless(LEDUC)] if seat == 0 else [lossless(LEDUC), buckets(LEDUC)]
        _, tree = compiled(BucketGame.build(LEDUC, both))
        found.append(float(cp.solve(tree, "lp").value[1 - seat]))
    return found[0], found[1]


@pytest.mark.parametrize("buckets", [remembering, lossless])
def test_it_finds_the_least_exploitable_strategy(buckets: Any) -> None:
    """No strategy concedes less than the linear program says; the average and the last one come close to it."""
    solver = CfrBrSolver(BucketGame.build(LEDUC, buckets(LEDUC)))
    for iterations, gap in ((10, 2.0), (190, 0.35), (1800, 0.1)):
        solver.step(iterations)
        for kind, share in (("average", 1.0), ("last", 2.0)):
            best = solver.measure(kind).best_response
            assert all(one >= bound - 1e-9 for one, bound in zip(best, least(buckets), strict=True))
            assert sum(best) - sum(least(buckets)) <= share * gap


def test_refining_buckets_never_costs() -> None:
    assert sum(least(lossless)) <= sum(least(remembering)) + 1e-9
    assert sum(least(lossless)) == pytest.approx(0.0, abs=1e-7)  # the value of the game, won and lost


def test_it_is_less_exploitable_than_an_abstract_equilibrium_and_loses_to_it() -> None:
    """Johanson 2016, figures 4.4 and 4.8, in Leduc."""
    abstract = BucketGame.build(LEDUC, remembering(LEDUC))
    robust, plain = CfrBrSolver(abstract), BucketCfrSolver(abstract, "cfr+")
    robust.step(1000)
    plain.step(1000)
    real = RealGame(abstract, build_public_tree(LEDUC))
    exploited = [real.measure(solver.strategy()).exploitability for solver in (robust, plain)]
    assert exploited[0] < 0.95 * exploited[1]
    table = HeadToHead(real.tree)
    assert table.mean(table.player(robust.profile()), table.player(plain.profile())) < -5e-4


def test_values_head_to_head_are_those_of_the_history_tree() -> None:
    """Between strategies by the same buckets, by those of two bucket games, and by hands."""
    games = [BucketGame.build(SHORT, buckets(SHORT)) for buckets in (forgetting, remembering)]
    real, public = compiled(games[0])[0], build_public_tree(SHORT)
    rng = np.random.default_rng(3)
    strategies: list[Any] = [BucketStrategy.of_game(game, rng.random(game.num_entries)) for game in (*games, games[1])]
    lifted = [strategy.lifted(real) for strategy in (*strategies, strategies[0])]
    hands = LiftedStrategy(strategies[0])
    strategies.append(PublicStrategy.of_tree(public, (fill_table(public, 0, hands), fill_table(public, 1, hands))))
    match = HeadToHead(public)
    players = [match.player(strategy) for strategy in strategies]
    owner = np.repeat(real.infoset_player, np.diff(real.infoset_offset))
    for one, two in itertools.permutations(range(4), 2):
        found = [match.value(seat, players[one], players[two]) for seat in (0, 1)]
        for seat in (0, 1):
            mixed = np.where(owner == seat, lifted[one].table, lifted[two].table)
            expected = cp.evaluate(cp.TabularStrategy.from_tree(real, mixed), real).value[seat]
            assert found[seat] == pytest.approx(expected, abs=1e-10)
        assert match.mean(players[one], players[two]) == pytest.approx(sum(found) / 2)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_answers_are_sums_over_the_hands_of_buckets(kind: Any) -> None:
    """Of what an update of the real game's tables adds, for every hand at every board, where both play the same."""
    game, rng = "holdem_2_4(ranks=4,suits=2)", np.random.default_rng(1)
    cards = build_cards((4, 2), (2, 3), parse_recipe("PS2/PS3", (4, 2), (2, 3), "imperfect"))
    abstract = BucketGame.build(poker_definition(game), cards.rounds, name=game)
    solver = CfrBrSolver(abstract, dataclasses.replace(CfrBrSolver.presets["cfr-br"], storage=np.dtype(kind).name))
    real, tree = solver._real, solver.real
    strategy = real.table(rng.random(abstract.num_entries) * (rng.random(abstract.num_entries) > 0.3))
    lifted = LiftedStrategy(BucketStrategy.of_game(abstract, strategy))
    for seat in (0, 1):
        real.respond(1 - seat, strategy, solver._response)
        found = np.zeros((2, abstract.num_entries))
        rule = FIXED._replace(weight=2.0)
        real.answer(seat, strategy, solver._response, rule, *found)
        start = fill_table(tree, seat, lifted)
        tables = PublicSolver(tree, "cfr").player_tables[seat]
        tables.regret[:] = start
        other = response_to(solver, seat).tables[1 - seat]
        values = PublicWalks(tree).walk(seat, UPDATE, tables, Opponent(other), rule=rule)
        expected, rows = np.zeros((2, abstract.num_entries)), real.rows[seat]
        for node in np.flatnonzero(tree.kind == seat).tolist():
            for deal in range(int(tree.deal_low[node]), int(tree.deal_high[node])):
                here, hands = tree.entries(node, deal), tree.hands[seat].slice(deal)
                added = [
                    rows.mass[hands] * column[here].reshape(int(tree.num_children[node]), -1)
                    for column in (tables.regret - start, tables.average)
                ]
                for a in range(int(tree.num_children[node])):
                    entries = rows.row[node] + rows.wide[node] * rows.bucket[hands] + a
                    for kept, one in zip(expected, added, strict=True):
                        np.add.at(kept, entries, one[a])
        np.testing.assert_allclose(found, expected, atol=1e-12 if kind == np.float64 else 1e-5)
        assert float(values @ tree.hands[seat].root_weight) == pytest.approx(
            -real.respond(1 - seat, strategy, solver._response), abs=1e-5
        )


def test_threads_change_nothing_but_rounding() -> None:
    game = "holdem_2_4(ranks=4,suits=2)"
    cards = build_cards((4, 2), (2, 3), parse_recipe("PS2/PS3", (4, 2), (2, 3)))
    abstract = BucketGame.build(poker_definition(game), cards.rounds, name=game)
    one, two, again = (
        CfrBrSolver(abstract, dataclasses.replace(CfrBrSolver.presets["cfr-br"], threads=n)) for n in (1, 2, 2)
    )
    for solver in (two, again):
        solver.step(3)
    assert np.array_equal(two.regret, again.regret)
    assert np.array_equal(two.average, again.average)
    strategy = two.strategy("last")
    best = two._real.measure(strategy).best_response
    assert one._real.measure(strategy).best_response == pytest.approx(best, abs=1e-12)
    learned = [np.zeros((2, abstract.num_entries)) for _ in range(2)]
    for solver, found in zip((one, two), learned, strict=True):  # against one response: rounding decides among ties
        solver._real.answer(1, strategy, two._response, FIXED._replace(weight=1.0), *found)
    np.testing.assert_allclose(learned[0], learned[1], atol=1e-10)


@pytest.mark.parametrize("settings", [{}, {"profile": "last"}, {"alpha": 2.0, "beta": 2.0, "gamma": 2.0},
                                      {"regret_floor": True, "predictive": True}])  # fmt: skip
def test_any_member_of_the_family_learns(settings: dict[str, Any]) -> None:
    solver = make_solver(BucketGame.build(LEDUC, lossless(LEDUC)), "cfr-br", **settings)
    before = solver.measure().exploitability
    solver.step(200)
    assert solver.measure().exploitability < 0.06 * before


def test_what_it_does_not_take() -> None:
    with pytest.raises(GameError, match=r"two players; .* has 3"):
        CfrBrSolver(BucketGame.build(THREE, forgetting(THREE)))
    with pytest.raises(SolverError, match="average or last; got 'best'"):
        make_solver(BucketGame.build(LEDUC, forgetting(LEDUC)), "cfr-br", profile="best")
    with pytest.raises(CounterplayError, match="does not run on the histories"):
        cp.solve("leduc", "cfr-br", representation="history")


def test_the_command_prints_what_it_is_worth_in_the_real_game(tmp_path: Path) -> None:
    cards = tmp_path / "l.cpa"
    build_cards((3, 2), (1, 1), parse_recipe("2,3", (3, 2), (1, 1))).save(cards)
    result = cp.solve("leduc_limit_2p", "cfr-br", cards=[cards], iterations=50, until=0.1, out=tmp_path / "l.strategy")
    assert result.abstract is None
    again = cp.evaluate(tmp_path / "l.strategy")
    assert again.exploitability == pytest.approx(result.exploitability, abs=1e-4)  # files have 16 bits a number
    assert result.curve[-1].exploitability == pytest.approx(result.exploitability, abs=1e-9)
