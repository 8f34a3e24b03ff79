"""CFR-BR with a trunk: its iterates are those of the twin, and its limit is that of the exact form."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import counterplay as cp
from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.cli.main import app
from counterplay.errors import GameError, SolverError
from counterplay.kernels.buckets.bucket_pcs import walk_board
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.buckets.board_sampler import BoardSampler, betting_pieces, every_board
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.trunk_sampler import check_trunk, round_indexer
from counterplay.poker.rules import Betting
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.cfr_br import CfrBrSolver
from counterplay.solvers.cfr_br_trunk import TrunkSolver
from counterplay.solvers.hybrid_walker import HybridTables, Update
from tests.poker.test_bucket_game import (
    LEDUC,
    NO_LIMIT,
    TWO_HOLES,
    coarse,
    forgetting,
    lossless,
    remembered,
    remembering,
)
from tests.reference.cfr_br import Hybrid
from tests.solvers.test_cfr_br import least

SHORT = dataclasses.replace(LEDUC, max_raises=(1, 1))
THREE_ROUNDS = GameDefinition(
    limit=True, players=2, rounds=3, blinds=(2, 1), raise_sizes=(2, 2, 2), max_raises=(1, 1, 1), suits=2, ranks=3,
    hole_cards=1, board_cards=(0, 1, 1), first_players=(1, 0, 0),
)  # fmt: skip
TWELVE = GameDefinition(
    limit=True, players=2, rounds=3, blinds=(2, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1), suits=2, ranks=6,
    hole_cards=2, board_cards=(0, 1, 1), first_players=(1, 0, 0),
)  # fmt: skip
"""Hold'em with 12 cards, and with fewer cards and raises."""
RULES: dict[Any, Any] = {forgetting: coarse, remembering: remembered}


def by_rounds(game: GameDefinition, cards: Any) -> tuple[tuple[int, ...], ...]:
    """The cards of a board, round by round."""
    ends = [0, *(end for end in game.board_ends if end <= len(cards))]
    return tuple(tuple(map(int, cards[low:high])) for low, high in itertools.pairwise(ends))


def twin_rows(solver: TrunkSolver, twin: Hybrid) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The twin's tables in the order of the solver's: regrets, average, regrets of the hybrid."""
    game = solver.game
    regret, average, trunk = (
        np.zeros(game.num_entries),
        np.zeros(game.num_entries),
        np.zeros_like(solver.trunk[twin.seat]),
    )
    for table, into in ((twin.regret, regret), (twin.average, average)):
        for (player, *name), row in table.items():
            if player == twin.seat:
                bucket, _, text = name[0].partition(":")
                node = node_of(game, text)
                for place, action in enumerate(game.tree.actions(node)):
                    into[game.entry(node, int(bucket)) + place] = row[action]
    starts = np.cumsum([0, *(round_indexer(game.definition, t).size() * int(game.slot_width[2 * t + 1 - twin.seat])
                             for t in range(twin.trunk))])  # fmt: skip
    for (player, *name), row in twin.regret.items():
        if player != twin.seat:
            node = node_of(game, name[1])
            turn = int(game.tree.round[node])
            index = round_indexer(game.definition, turn).index([card for cards in name[0] for card in cards])
            first = starts[turn] + index * int(game.slot_width[2 * turn + player]) + int(game.node_offset[node])
            for place, action in enumerate(game.tree.actions(node)):
                trunk[first + place] = row[action]
    return regret, average, trunk


def node_of(game: BucketGame, text: str) -> int:
    return game.tree.find(Betting.after(game.definition, text))


@pytest.mark.parametrize(("game", "buckets", "trunk", "seat"), [
    (SHORT, forgetting, 1, 0), (SHORT, remembering, 2, 1), (TWO_HOLES, remembering, 1, 1),
    (THREE_ROUNDS, forgetting, 1, 0), (THREE_ROUNDS, remembering, 2, 1),
], ids=["leduc", "all rounds", "two hole cards", "cards below the trunk", "three rounds"])  # fmt: skip
def test_iterates_are_those_of_the_twin(game: GameDefinition, buckets: Any, trunk: int, seat: int) -> None:
    """From random regrets, on two boards of different weights: regrets of both, and the average."""
    abstract = BucketGame.build(game, buckets(game))
    fast: Any = make_solver(abstract, "cfr-br", trunk=trunk)
    slow = Hybrid(game, RULES[buckets], seat, trunk)
    rows, _ = every_board(abstract, min(trunk, game.rounds - 1))
    boards = [(by_rounds(game, rows[0]), 0.25), (by_rounds(game, rows[-1]), 0.75)]
    slow.iterate(boards)  # meets the information sets
    rng = np.random.default_rng(1)
    for row in slow.regret.values():
        row.update({action: float(rng.normal()) for action in row})
    slow.average.clear()
    first, _, second = twin_rows(fast, slow)
    tables = HybridTables(
        first, first.copy(), np.zeros_like(first), (second, second), (second.copy(), second.copy())
    )  # fmt: skip
    slow.weight = 3.0
    slow.iterate(boards)
    walker = fast._walkers[0]
    for cards, (_, share) in zip((rows[0], rows[-1]), boards, strict=True):
        update = Update(share, 3.0 * walker.sampler.pairs, False)
        walker.walk_seat(seat, cards, walker.sampler.seats(cards)[seat], tables, update)
    regret, average, hybrid = twin_rows(fast, slow)
    np.testing.assert_allclose(tables.learned, regret, atol=1e-10)
    np.testing.assert_allclose(tables.average, average, atol=1e-10)
    np.testing.assert_allclose(tables.trunk_learned[seat], hybrid, atol=1e-10)
    assert not np.allclose(hybrid, second)


@pytest.mark.parametrize("game", [LEDUC, TWO_HOLES], ids=["leduc", "two hole cards"])
def test_a_trunk_of_all_rounds_is_public_chance_sampling(game: GameDefinition) -> None:
    """The tables after a board are those of ``pcs-boards`` against an opponent without abstraction."""
    abstract = BucketGame.build(game, remembering(game))
    solver: Any = make_solver(abstract, "cfr-br", trunk=game.rounds)
    pieces, rng = betting_pieces(abstract), np.random.default_rng(5)
    cards = every_board(abstract)[0][-1]
    for seat in (0, 1):
        both = [remembering(game), lossless(game)] if seat == 0 else [lossless(game), remembering(game)]
        wide = BucketGame.build(game, both)
        regret = rng.normal(size=wide.num_entries)
        learned, average, sampler = regret.copy(), np.zeros_like(regret), BoardSampler(wide, pieces)
        walk_board(
            pieces, sampler.board(cards), np.arange(2), 2.0, False, regret, learned, average, sampler.scratch,
            np.zeros(3, np.int64),
        )  # fmt: skip
        own, other = parts_of(wide, seat), parts_of(wide, 1 - seat)
        mine = parts_of(abstract, seat)
        table, trunk = np.zeros(abstract.num_entries), regret[other].copy()
        table[mine] = regret[own]
        tables = HybridTables(table, table.copy(), np.zeros_like(table), (trunk, trunk), (trunk.copy(), trunk.copy()))
        walker = solver._walkers[0]
        update = Update(1.0, 2.0 * walker.sampler.pairs, False)
        walker.walk_seat(seat, cards, walker.sampler.seats(cards)[seat], tables, update)
        np.testing.assert_allclose(tables.learned[mine], learned[own], atol=1e-12)
        np.testing.assert_allclose(tables.trunk_learned[seat], learned[other], atol=1e-12)
        np.testing.assert_allclose(tables.average[mine], average[own], atol=1e-12)


def parts_of(game: BucketGame, seat: int) -> np.ndarray:
    """The entries of a seat, slot by slot."""
    parts = []
    for slot in range(seat, len(game.slot_start), 2):
        first = int(game.slot_start[slot])
        parts.append(np.arange(first, first + int(game.slot_width[slot] * game.slot_buckets[slot])))
    return np.concatenate(parts)


@pytest.mark.parametrize(("game", "trunk"), [(LEDUC, 1), (LEDUC, 2), (TWELVE, 1), (TWELVE, 2)])
def test_a_hybrid_becomes_the_exact_best_response(game: GameDefinition, trunk: int) -> None:
    """Against a player who does not learn it wins in the end what the responder of the exact form wins.

    So both forms look for the strategy from which the same is won least.  With sampled boards it wins as much in the
    mean, up to three standard errors.
    """
    abstract = BucketGame.build(game, remembering(game))
    exact = CfrBrSolver(abstract)
    solver: Any = make_solver(abstract, "cfr-br", trunk=trunk)
    exact.regret[:] = solver.regret[:] = np.random.default_rng(2).normal(size=abstract.num_entries)
    best = exact.measure("last").best_response
    rows, stands_for = every_board(abstract, min(trunk, game.rounds - 1))
    for seat in (0, 1):
        walker, learned = solver._walkers[0], np.zeros_like(solver.trunk[seat])
        for _ in range(14):
            won = 0.0
            for cards, share in zip(rows, stands_for / stands_for.sum(), strict=True):
                update = Update(float(share), 0.0, False)
                tables = HybridTables(solver.regret, np.zeros_like(solver.regret), np.zeros(0), solver.trunk,
                                      (learned, learned))  # fmt: skip
                won += walker.walk_seat(seat, cards, walker.sampler.seats(cards)[seat], tables, update)
            solver.trunk[seat][:] = solver.trunk[seat] / 2 + learned  # forgets what it did first
            learned[:] = 0.0
        assert won == pytest.approx(best[1 - seat], abs=1e-9)
        sample = []
        for _ in range(100):
            cards = walker.sampler.draw_cards(solver.deal_state[0]).copy()
            board = walker.sampler.seats(cards)[seat]
            sample.append(walker.walk_seat(seat, cards, board, tables, Update(1.0, 0.0, False)))
        error = np.std(sample, ddof=1) / np.sqrt(len(sample))
        assert abs(np.mean(sample) - won) <= 3.0 * error + 1e-12


@pytest.mark.parametrize(("settings", "iterations", "gap"), [
    ({"every_board": True, "regret_floor": True}, 1000, 0.13), ({}, 5000, 0.13),
    ({"alpha": 1.0, "beta": 1.0}, 5000, 0.18), ({"threads": 2}, 5000, 0.18),
], ids=["all boards", "sampled", "linear", "two threads"])  # fmt: skip
def test_it_finds_the_least_exploitable_strategy(settings: dict[str, Any], iterations: int, gap: float) -> None:
    """No strategy concedes less than the linear program says; the average comes close to it, the last one nearly.

    Threads make every run different, and the last strategy of a run can be any of the worse ones.  What the hybrids win
    tells how exploitable the average is, up to what they still regret.
    """
    solver: Any = make_solver(BucketGame.build(LEDUC, remembering(LEDUC)), "cfr-br", trunk=1, **settings)
    solver.step(iterations)
    for kind, share in (("average", 1.0), ("last", 2.5)):
        best = solver.measure(kind).best_response
        assert all(one >= bound - 1e-9 for one, bound in zip(best, least(remembering), strict=True))
        if kind == "average" or "threads" not in settings:
            assert sum(best) - sum(least(remembering)) <= share * gap
    assert solver.hybrid_wins == pytest.approx(solver.measure("average").exploitability, abs=gap)


def test_a_plan_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    abstract = BucketGame.build(THREE_ROUNDS, forgetting(THREE_ROUNDS))
    whole: Any = make_solver(abstract, "cfr-br", trunk=1)
    monkeypatch.setattr("counterplay.solvers.hybrid_walker.PLAN_BYTES", 1)
    parts: Any = make_solver(abstract, "cfr-br", trunk=1)
    assert (len(whole._walkers[0].parts), len(parts._walkers[0].parts)) == (1, 3)
    assert len(parts._walkers[0]._plan) < len(whole._walkers[0]._plan)
    for solver in (whole, parts):
        solver.step(20)
    np.testing.assert_array_equal(whole.regret, parts.regret)
    np.testing.assert_array_equal(whole.trunk[0], parts.trunk[0])


def test_what_a_trunk_does_not_take() -> None:
    abstract, no_limit = (BucketGame.build(game, forgetting(game)) for game in (LEDUC, NO_LIMIT))
    with pytest.raises(GameError, match="has 2 rounds; a trunk cannot have 3"):
        make_solver(abstract, "cfr-br", trunk=3)
    with pytest.raises(SolverError, match="predictive is not available; use trunk=0"):
        make_solver(abstract, "cfr-br", trunk=1, predictive=True, regret_floor=True)
    with pytest.raises(SolverError, match=r"alpha=1 and beta=1; got alpha=1\.5"):
        make_solver(abstract, "cfr-br", trunk=1, alpha=1.5, beta=0.0)
    with pytest.raises(SolverError, match="without one all boards count"):
        make_solver(abstract, "cfr-br", every_board=True)
    with pytest.raises(SolverError, match="there is one thread; got threads=2"):
        make_solver(abstract, "cfr-br", trunk=1, every_board=True, threads=2)
    with pytest.raises(GameError, match="all in before the last cards; use a trunk of 1 or 2 rounds"):
        check_trunk(no_limit, 0, betting_pieces(no_limit))
    with pytest.raises(SolverError, match="make_solver chooses"):
        CfrBrSolver(abstract, dataclasses.replace(CfrBrSolver.presets["cfr-br"], trunk=1))


@pytest.mark.parametrize("settings", [{}, {"every_board": True, "regret_floor": True}], ids=["sampled", "all boards"])
def test_a_checkpoint_resumes_to_the_same_bits(settings: dict[str, Any], tmp_path: Path) -> None:
    abstract = BucketGame.build(LEDUC, remembering(LEDUC))
    whole, part = (make_solver(abstract, "cfr-br", trunk=1, seed=3, **settings) for _ in range(2))
    whole.step(30)
    part.step(12)
    part.save(tmp_path / "run.checkpoint")
    again = resume_solver(tmp_path / "run.checkpoint", abstract)
    assert isinstance(again, TrunkSolver)
    again.step(18)
    for name, table in whole.tables().items():
        np.testing.assert_array_equal(again.tables()[name], table, err_msg=name)
    assert again.iterations == 30


def test_the_command_measures_in_the_real_game(tmp_path: Path) -> None:
    cards = tmp_path / "l.cpa"
    build_cards((3, 2), (1, 1), parse_recipe("2,3", (3, 2), (1, 1))).save(cards)
    words = ["solve", "leduc_limit_2p", "--cards", str(cards), "-a", "cfr-br", "--set", "trunk=1", "--seed", "4"]
    ran = CliRunner().invoke(app, [*words, "--iterations", "60", "--json", "--out", str(tmp_path / "l.strategy")])
    assert ran.exit_code == 0, ran.output
    report = json.loads(ran.stdout)
    assert (report["iterations"], report["seed"], report["trunk"]) == (60, 4, 1)
    exact = cp.evaluate(tmp_path / "l.strategy").exploitability
    assert exact == pytest.approx(report["exploitability"], abs=1e-4)  # files have 16 bits a number
    refused = CliRunner().invoke(app, [*words, "--set", "trunk=3"])
    assert str(refused.exception) == "leduc_limit_2p has 2 rounds; a trunk cannot have 3"
