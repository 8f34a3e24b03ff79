"""Public chance sampling by buckets: against the twin, against the tree of histories, runs and refusals."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.analysis.estimators import counterfactual_values
from counterplay.cli.main import app
from counterplay.errors import GameError, MemoryLimitError, SolverError
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.forms import open_game
from counterplay.kernels.buckets.bucket_pcs import walk_board
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.buckets.board_sampler import BoardSampler, betting_pieces
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.threads import available_cores
from counterplay.solvers import MccfrConfig, MccfrSolver, make_solver, resume_solver
from counterplay.solvers.bucket_mccfr import BUCKET_PRESETS, BucketSolver
from counterplay.solvers.mccfr import mccfr_config
from counterplay.strategy.tabular import TabularStrategy
from tests.poker.test_bucket_game import (
    GAMES,
    LEDUC,
    NO_LIMIT,
    THREE,
    TWO_HOLES,
    compiled,
    entries_of,
    forgetting,
    lossless,
    mixed,
    real_tree,
    remembering,
    table_rows,
    twin_rules,
)
from tests.reference.bucket_game import drawn_board
from tests.reference.bucket_pcs import BucketPcs
from tests.reference.mccfr import Stream

TWO_PLAYERS = [name for name, game in GAMES.items() if game.players == 2]
every_game = pytest.mark.parametrize("game", TWO_PLAYERS)


def config(**changes: Any) -> MccfrConfig:
    return mccfr_config("pcs-boards", changes, BUCKET_PRESETS)


def all_boards(game: GameDefinition) -> np.ndarray:
    """Every board; the cards of these games come in one round, where their order means nothing."""
    return np.array(list(itertools.combinations(game.deck, game.board_ends[-1])), np.uint8)


def table_dict(abstract: BucketGame, table: np.ndarray) -> dict[tuple[int, str], dict[str, float]]:
    """A table of entries as the twin has it."""
    tree, found = abstract.tree, {}
    for node in np.flatnonzero(tree.num_children > 0).tolist():
        player = int(tree.player[node])
        for bucket in range(abstract.buckets[player][int(tree.round[node])].count):
            first = abstract.entry(node, bucket)
            row = {action: float(table[first + number]) for number, action in enumerate(tree.actions(node))}
            found[player, f"{bucket}:{tree.text(node)}"] = row
    return found


@every_game
@pytest.mark.parametrize("changes", [{}, {"regret_floor": True, "linear_average": True}], ids=["plain", "plus"])
def test_walks_are_those_of_the_twin(game: str, changes: dict[str, bool]) -> None:
    """Different buckets for the players: the first remembers, the second forgets."""
    rules = GAMES[game]
    abstract = BucketGame.build(rules, mixed(rules))
    solver = BucketSolver(abstract, config(seed=5, **changes))
    slow = BucketPcs(rules, twin_rules(rules), bool(changes), bool(changes))
    stream = Stream(int(np.random.SeedSequence(5).spawn(1)[0].generate_state(1, np.uint64)[0]))
    solver.regret[:] = np.random.default_rng(1).uniform(0.1, 1.0, len(solver.regret))  # ties would be broken by noise
    slow.regret.update(table_dict(abstract, solver.regret))
    for _ in range(4):
        solver.step()
        slow.iterate(drawn_board(rules, stream))
        np.testing.assert_allclose(solver.regret, table_rows(abstract, slow.regret), atol=1e-10)
        np.testing.assert_allclose(solver.average, table_rows(abstract, slow.average), atol=1e-10)
    assert int(solver.deal_state[0, 0]) == stream.state
    assert solver.iterations == 4


@pytest.mark.parametrize("buckets", [lossless, forgetting, mixed], ids=["lossless", "imperfect recall", "asymmetric"])
@every_game
def test_regrets_over_all_boards_are_those_of_the_history_tree(game: str, buckets: Any) -> None:
    """At a mixed profile the mean over all boards is the counterfactual regret: no board is favoured, no end scaled."""
    rules = GAMES[game]
    abstract = BucketGame.build(rules, buckets(rules))
    _, tree = compiled(abstract)
    where = entries_of(abstract, tree)
    profile = TabularStrategy.random(tree, 3).table
    table = np.zeros(abstract.num_entries)
    table[where] = profile  # regrets in these proportions are played so
    pieces = betting_pieces(abstract)
    sampler, boards = BoardSampler(abstract, pieces), all_boards(rules)
    for player in range(2):
        total, count = np.zeros(len(table)), np.zeros(3, np.int64)
        for cards in boards:
            regret = table.copy()
            learner = np.array([player])
            walk_board(
                pieces, sampler.board(cards), learner, 1.0, False, regret, regret, regret[:0], sampler.scratch, count
            )
            total += regret - table
        exact = counterfactual_values(tree, profile, player)
        sets = np.repeat(np.add.reduceat(exact * profile, tree.infoset_offset[:-1]), np.diff(tree.infoset_offset))
        np.testing.assert_allclose((total / len(boards))[where], exact - sets, atol=1e-10)


def test_pieces_hold_every_node_once() -> None:
    for rules, buckets in ((LEDUC, forgetting(LEDUC)), (NO_LIMIT, mixed(NO_LIMIT))):
        abstract = BucketGame.build(rules, buckets)
        tree, pieces = abstract.tree, betting_pieces(abstract)
        assert pieces.nodes.sum() == len(tree)
        assert len(pieces.actions) == (tree.num_children > 0).sum()
        links = pieces.link[pieces.link >= 0]
        assert sorted(links.tolist()) == list(range(1, len(pieces.turn)))  # each piece but the first follows one link
        pads = (pieces.amount == 0.0).all(axis=0).sum()
        assert pads == len(pieces.link) - len(links) - (tree.num_children == 0).sum()


def test_lossless_leduc_converges_in_the_real_game() -> None:
    solver = BucketSolver(BucketGame.build(LEDUC, lossless(LEDUC)), config(seed=1))
    solver.step(1500)
    real = cp.compile_game("leduc_limit_2p")
    assert cp.evaluate(solver.profile().lifted(real), real).exploitability < 0.1


@pytest.mark.parametrize("game", ["two hole cards", "no limit"])
def test_convergence_inside_the_abstract_game(game: str) -> None:
    """Perfect recall: what a best response inside the abstract game wins goes to 0."""
    abstract = BucketGame.build(GAMES[game], remembering(GAMES[game]))
    solver = BucketSolver(abstract, config(seed=2), pairs=count_bucket_pairs(abstract))
    found = []
    for iterations in (20, 480, 2000):
        solver.step(iterations)
        found.append(solver.measure().exploitability)
    assert found[0] > 2 * found[1] > 4 * found[2]
    _, tree = compiled(abstract)
    inside = TabularStrategy.from_tree(tree, solver.strategy()[entries_of(abstract, tree)])
    assert cp.evaluate(inside, tree).exploitability == pytest.approx(found[-1], abs=1e-9)


@pytest.mark.slow
def test_tables_of_half_the_size_stay_near() -> None:
    abstract = BucketGame.build(TWO_HOLES, lossless(TWO_HOLES))
    one, other = BucketSolver(abstract, config(seed=3)), BucketSolver(abstract, config(seed=3, storage="float32"))
    for solver in (one, other):
        solver.step(3)
    assert other.regret.dtype == np.float32
    np.testing.assert_allclose(one.average, other.average, rtol=1e-3, atol=1e-3)


def test_a_run_cut_in_two_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    cards = tmp_path / "leduc.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(cards)
    game = open_game("leduc_limit_2p", "buckets", cards=[cards])
    whole = make_solver(game, "pcs-boards", seed=3, linear_average=True)
    whole.step(300)
    part = make_solver(game, "pcs-boards", seed=3, linear_average=True)
    part.step(0)
    part.step(1)
    part.step(123)
    part.save(tmp_path / "half")
    resumed = resume_solver(tmp_path / "half")
    resumed.step(300 - 124)
    for name, table in whole.tables().items():
        assert np.array_equal(table, resumed.tables()[name]), name


def test_threads_share_the_tables() -> None:
    solver = BucketSolver(BucketGame.build(LEDUC, lossless(LEDUC)), config(threads=2))
    solver.step(1500)
    assert solver.iterations == 1500
    real = real_tree(LEDUC)
    assert cp.evaluate(solver.profile().lifted(real), real).exploitability < 0.15


def test_the_command(tmp_path: Path) -> None:
    cards, out = tmp_path / "leduc.cpa", tmp_path / "leduc.strategy"
    CardAbstraction.lossless((3, 2), (1, 1)).save(cards)
    line = [
        "solve",
        "leduc_limit_2p",
        "--cards",
        str(cards),
        "-a",
        "pcs-boards",
        "--boards",
        "all",
        "--iterations",
        "500",
    ]
    found = CliRunner().invoke(app, [*line, "--seed", "4", "--out", str(out), "--json"])
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert told["algorithm"] == "pcs-boards"
    assert told["iterations"] == 500
    assert told["abstract"]["exploitability"] < 0.3
    real = cp.compile_game("leduc_limit_2p")
    solver = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), "pcs-boards", seed=4)
    solver.step(500)
    lossy = cp.evaluate(solver.profile().lifted(real), real).exploitability
    assert told["abstract"]["exploitability"] == pytest.approx(lossy, abs=1e-3)  # files keep 16 bits


def test_what_cannot_be_walked_is_refused() -> None:
    with pytest.raises(GameError, match=r"two players; .* has 3, use external-sampling"):
        BucketSolver(BucketGame.build(THREE, forgetting(THREE)), "pcs-boards")
    with pytest.raises(SolverError, match="card abstractions only"):
        MccfrSolver("leduc", MccfrConfig("public"))
    with pytest.raises(MemoryLimitError, match="needs"):
        BucketSolver(BucketGame.build(LEDUC, forgetting(LEDUC)), "pcs-boards", memory_limit=1000)
    with pytest.raises(SolverError, match="unknown algorithm 'opcs'"):
        BucketSolver(BucketGame.build(LEDUC, forgetting(LEDUC)), "opcs")


def test_memory_is_known_beforehand() -> None:
    abstract = BucketGame.build(STANDARD["leduc.limit.2p"], forgetting(LEDUC))
    solver = BucketSolver(abstract, config(threads=2))
    live = solver.regret.nbytes + solver.average.nbytes
    for boards in solver._boards:
        live += sum(array.nbytes for array in boards.scratch)
        live += sum(array.nbytes for array in vars(boards).values() if isinstance(array, np.ndarray))
    assert live <= solver.table_bytes <= 4 * live


def test_boards_are_walked_by_all_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board takes long in large games: as many are walked at once as there are threads."""
    solver = BucketSolver(BucketGame.build(LEDUC, forgetting(LEDUC)), MccfrConfig("public", threads=4))
    solver.step(0)
    together, advance = threading.Barrier(4), solver._advance

    def meeting(thread: int, iterations: int, start: int) -> None:
        together.wait(30)
        advance(thread, iterations, start)

    monkeypatch.setattr(solver, "_advance", meeting)
    solver.step(4)
    assert solver.counters[:, 0].tolist() == [1, 1, 1, 1]
    assert solver.least_iterations == min(4, available_cores())
