"""Tables on disk: the bits of tables in memory, whatever is interrupted, damaged or divided differently."""

from __future__ import annotations

import errno
import functools
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterplay import storage
from counterplay.errors import CounterplayError, MemoryLimitError, SolverError, StrategyError
from counterplay.evaluation import evaluate
from counterplay.evaluation.public_walks import FIXED, Opponent
from counterplay.forms import open_game
from counterplay.kernels.public.piece_steps import UPDATE
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.runtime.pacing import Until
from counterplay.solvers import resume_solver
from counterplay.solvers.cfr import CFR_PRESETS, config_with
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.solvers.streamed.block_worker import BlockWorker
from counterplay.solvers.streamed.streamed_cfr import StreamedSolver
from counterplay.tree.public.public_tree import PublicTree

TWELVE = {"limit": True, "players": 2, "blinds": (10, 5), "suits": 3, "ranks": 4, "hole_cards": 2}


@functools.cache
def tree_of(name: str) -> PublicTree:
    """A game: two rounds of twelve cards, four of them, or one by its name."""
    if name == "two rounds":
        rules = GameDefinition(
            **TWELVE, rounds=2, raise_sizes=(10, 20), max_raises=(1, 1), first_players=(1, 0), board_cards=(0, 2)
        )
        return build_public_tree(rules, name=name)
    if name == "four rounds":
        rules = GameDefinition(
            **{**TWELVE, "ranks": 2}, rounds=4, raise_sizes=(10, 10, 20, 20), max_raises=(1, 0, 0, 1),
            first_players=(1, 0, 0, 0), board_cards=(0, 1, 0, 1),
        )  # fmt: skip
        return build_public_tree(rules, name=name)
    return open_game(name, "public")


def streamed(
    folder: Path, name: str = "leduc_limit_2p", algorithm: str = "cfr+", entries: int = 100, **settings: Any
) -> StreamedSolver:
    class Solver(StreamedSolver):
        block_entries = entries

    solver = Solver(tree_of(name), config_with(algorithm, settings), algorithm)
    solver.attach(folder)
    return solver


def all_tables(solver: Any) -> list[Any]:
    """Current strategy and average, as far as they are kept."""
    kinds = ("last", "average") if solver.config.keeps_average else ("last",)
    return [table for kind in kinds for table in solver.strategy(kind)]


def assert_same(found: Any, expected: Any) -> None:
    assert found.iterations == expected.iterations
    for one, other in zip(all_tables(found), all_tables(expected), strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    assert found.check() == expected.check()
    assert found.measure() == expected.measure()


VARIANTS = [
    {"storage": "float64"}, {"storage": "float32"}, {"storage": "int16"}, {"storage": "int16", "profile": "last"},
    {"storage": "float32", "alternating": False},
    {"storage": "int16", "alternating": True, "reverse": True, "delay": 3},
]  # fmt: skip


@pytest.mark.parametrize("algorithm", CFR_PRESETS)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: "-".join(map(str, one.values())))
def test_tables_have_the_bits_of_those_in_memory(algorithm: str, variant: dict[str, Any], tmp_path: Path) -> None:
    memory = PublicSolver(tree_of("leduc_limit_2p"), config_with(algorithm, variant))
    disk = streamed(tmp_path, algorithm=algorithm, **variant)
    memory.step(6)
    disk.step(6)
    assert_same(disk, memory)
    disk.close()


@pytest.mark.parametrize("name", ["two rounds", "four rounds", "leduc"])
@pytest.mark.parametrize("storage", ["float64", "int16"])
@pytest.mark.parametrize("entries", [1, 3000])
def test_in_other_games_too(name: str, storage: str, entries: int, tmp_path: Path) -> None:
    """Hands that stand for several, deals after deals, and links with deals of their own; blocks of any size."""
    memory = PublicSolver(tree_of(name), config_with("dcfr", {"storage": storage}))
    disk = streamed(tmp_path, name, "dcfr", entries if name != "two rounds" else 900 * entries, storage=storage)
    memory.step(3)
    disk.step(3)
    assert_same(disk, memory)
    disk.close()


def test_threads_do_not_matter(tmp_path: Path) -> None:
    one, three = streamed(tmp_path / "one"), streamed(tmp_path / "three", entries=1, threads=3)
    one.step(8)
    three.step(8)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(all_tables(one), all_tables(three), strict=True))
    assert one.measure() == three.measure()
    one.close()
    three.close()


def test_a_run_ends_like_one_in_memory(tmp_path: Path) -> None:
    until = Until(iterations=1000, exploitability=0.1)
    memory, disk = PublicSolver(tree_of("leduc_limit_2p"), "cfr+"), streamed(tmp_path)
    wanted, found = memory.run(until), disk.run(until)
    assert (found.status, found.iterations, found.measurement) == (
        "exploitability",
        wanted.iterations,
        wanted.measurement,
    )
    assert [point.exploitability for point in found.curve] == [point.exploitability for point in wanted.curve]
    assert evaluate(found.profile).exploitability == pytest.approx(found.exploitability)
    assert found.facts.disk is not None
    assert found.facts.disk.written > found.facts.disk.stored > 0
    disk.close()


def test_nothing_is_read_that_nobody_reaches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = streamed(tmp_path)
    disk.step(2)
    counts, before = disk.counts, disk._state.generations.copy()
    reaches, _ = disk._descend(
        0,
        UPDATE,
        disk._state.trunk[0],
        Opponent(disk._state.trunk[1].regret, disk._state.trunk[1].regret_scale),
        FIXED,
    )
    nobody = np.zeros((len(disk.plan.links), 2), np.bool_)
    monkeypatch.setattr(disk, "_descend", lambda player, *_: (reaches[:: 1 - 2 * player], nobody))
    disk.step(1)
    assert np.array_equal(disk._state.generations, before)
    assert (disk.counts.read, disk.counts.written) == (counts.read, counts.written)
    disk.close()


@pytest.fixture
def interrupting(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Whoever appends a number is interrupted after so many walks over blocks."""
    left: list[int] = []
    walk, lock = BlockWorker._walk, threading.Lock()

    def counted(self: BlockWorker, *words: Any) -> Any:
        with lock:
            if left:
                left[0] -= 1
                if left[0] < 0:
                    raise KeyboardInterrupt
        return walk(self, *words)

    monkeypatch.setattr(BlockWorker, "_walk", counted)
    return left


@pytest.mark.parametrize("walks", [0, 1, 7, 20])
def test_an_interrupted_iteration_leaves_no_trace(walks: int, interrupting: list[int], tmp_path: Path) -> None:
    straight, broken = streamed(tmp_path / "straight", storage="int16"), streamed(tmp_path / "broken", storage="int16")
    straight.step(5)
    broken.step(3)
    assert broken.plan.num_blocks > 4
    interrupting.append(walks)
    with pytest.raises(KeyboardInterrupt):
        broken.step(2)
    interrupting.clear()
    assert broken.iterations in (3, 4)
    broken.step(5 - broken.iterations)
    assert_same(broken, straight)
    straight.close()
    broken.close()


def test_a_resumed_run_has_the_same_bits(tmp_path: Path) -> None:
    straight, broken = streamed(tmp_path / "straight", storage="int16"), streamed(tmp_path / "broken", storage="int16")
    straight.step(12)
    broken.step(4)
    broken.save(tmp_path / "broken" / "run.checkpoint")
    broken.step(2)  # and is killed: nothing of this is in a checkpoint
    broken.close()
    for path in (tmp_path / "broken", tmp_path / "broken" / "run.checkpoint"):
        again = resume_solver(path, tree_of("leduc_limit_2p"))
        assert isinstance(again, StreamedSolver)
        assert (again.iterations, again.note, again.plan.block_entries) == (4, "", 100)
        if path.suffix:
            again.step(8)
            assert_same(again, straight)
        again.close()
    straight.close()


def test_a_damaged_block_costs_the_iterations_since_the_checkpoint_before(tmp_path: Path) -> None:
    straight, broken = streamed(tmp_path / "straight"), streamed(tmp_path / "run")
    straight.step(9)
    for iterations in (3, 3):
        broken.step(iterations)
        broken.save(tmp_path / "run" / "run.checkpoint")
    broken.close()
    path = sorted((tmp_path / "run" / "blocks").glob("block000002-player1-average-6.block"))[0]
    damaged = bytearray(path.read_bytes())
    damaged[-3] ^= 4
    path.write_bytes(damaged)
    again = resume_solver(tmp_path / "run", tree_of("leduc_limit_2p"))
    assert again.iterations == 3
    assert "block 2, the averages of player 1 after iteration 6, cannot be used" in again.note
    assert again.note.endswith("this is the one before it, of iteration 3")
    again.step(6)
    assert_same(again, straight)
    again.save(tmp_path / "run" / "run.checkpoint")
    again.close()
    assert resume_solver(tmp_path / "run", tree_of("leduc_limit_2p")).iterations == 9
    straight.close()


def test_without_a_whole_checkpoint_the_newest_is_explained(tmp_path: Path) -> None:
    broken = streamed(tmp_path)
    broken.step(2)
    broken.save(tmp_path / "run.checkpoint")
    broken.close()
    for path in (tmp_path / "blocks").glob("block000001-player2-regret-2.block"):
        path.write_bytes(b"nothing")
    with pytest.raises(StrategyError, match=r"block 1, the regrets of player 2 after iteration 2, .*player2-regret-2"):
        resume_solver(tmp_path, tree_of("leduc_limit_2p"))
    with pytest.raises(StrategyError, match="is a folder without a run"):
        resume_solver(tmp_path / "blocks")


def test_a_block_that_is_damaged_during_a_run_is_named(tmp_path: Path) -> None:
    run = streamed(tmp_path)
    run.step(1)
    run.save(tmp_path / "run.checkpoint")
    path = tmp_path / "blocks" / "block000003-player1-regret-1.block"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(StrategyError, match=r"block 3, the regrets of player 1 after iteration 1, .*--resume"):
        run.step(1)
    path.write_bytes(whole)
    run.step(1)
    assert run.iterations == 2
    run.close()


def test_a_full_disk_stops_a_run_that_can_be_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight, run = streamed(tmp_path / "straight"), streamed(tmp_path / "run")
    straight.step(4)
    run.step(2)
    run.save(tmp_path / "run" / "run.checkpoint")
    replace, left = os.replace, [7]

    def full(*paths: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(storage.os, "replace", full)
        with pytest.raises(
            StrategyError, match=r"block \d+, the .* cannot be written .*No space left on device; .*--resume"
        ):
            run.step(2)
        with pytest.raises(StrategyError, match="No space left"):
            run.save(tmp_path / "run" / "run.checkpoint")
    assert not list((tmp_path / "run").rglob("*.part"))
    run.close()
    again = resume_solver(tmp_path / "run", tree_of("leduc_limit_2p"))
    assert again.iterations == 2
    again.step(2)
    assert_same(again, straight)
    again.close()
    straight.close()


def test_a_folder_is_for_one_run(tmp_path: Path) -> None:
    run = streamed(tmp_path)
    with pytest.raises(CounterplayError, match="another process is solving"):
        streamed(tmp_path)
    run.step(1)
    run.save(tmp_path / "run.checkpoint")
    with pytest.raises(StrategyError, match="and so is its checkpoint"):
        run.save(tmp_path / "elsewhere")
    run.close()
    with pytest.raises(SolverError, match="holds the tables of a run; continue it with counterplay solve --resume"):
        streamed(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(SolverError, match="is a file"):
        streamed(tmp_path / "file")
    with pytest.raises(SolverError, match="name their folder"):
        StreamedSolver(tree_of("leduc_limit_2p"), "cfr+").step(1)


def test_memory_is_limited(tmp_path: Path) -> None:
    with pytest.raises(
        MemoryLimitError, match=r"with tables on disk needs about .* the least is --memory-limit \d+MiB"
    ):
        StreamedSolver(tree_of("leduc_limit_2p"), "cfr+", "cfr+", 1 << 20)
    tight = StreamedSolver(tree_of("leduc_limit_2p"), "cfr+", "cfr+", 1 << 40)
    tight.attach(tmp_path)
    tight.memory_limit = 1
    with pytest.raises(MemoryLimitError, match="leave out --out"):
        tight.check_profile()
    assert tight.run(Until(iterations=2)).profile is None
    tight.close()
