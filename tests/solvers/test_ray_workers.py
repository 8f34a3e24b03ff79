"""Blocks on two workers: the bits of one process, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from counterplay.errors import ClusterError, StrategyError
from counterplay.runtime.executors import on_cluster
from counterplay.solvers import resume_solver
from counterplay.solvers.streamed import ray_workers
from counterplay.solvers.streamed.ray_workers import RayWorkers
from counterplay.solvers.streamed.streamed_cfr import StreamedSolver
from tests.solvers.test_streamed_cfr import assert_same, streamed, tree_of

pytestmark = pytest.mark.usefixtures("two_workers")

LEDUC = "leduc_limit_2p"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> StreamedSolver:
    """The run in one process that all others are compared with."""
    solver = streamed(tmp_path_factory.mktemp("alone"), storage="int16")
    solver.step(8)
    return solver


def shared(folder: Path) -> tuple[StreamedSolver, RayWorkers]:
    with on_cluster("local"):
        solver = streamed(folder, storage="int16")
    workers: Any = solver.workers
    assert isinstance(workers, RayWorkers)
    return solver, workers


def processes(workers: RayWorkers) -> list[int]:
    """The workers' processes, which have answered once."""
    workers._probe()
    return [worker.process or 0 for worker in workers._workers]


def test_the_same_bits_and_a_run_that_is_resumed_with_any_workers(tmp_path: Path, alone: StreamedSolver) -> None:
    run, workers = shared(tmp_path)
    assert workers.detail() == "2 workers"
    run.step(5)
    assert "2 workers" in run.progress_detail()
    run.save(tmp_path / "run.checkpoint")
    run.step(1)  # and is killed
    run.close()
    again: Any = resume_solver(tmp_path, tree_of(LEDUC))  # by one process
    again.step(1)
    again.save(tmp_path / "run.checkpoint")
    again.close()
    with on_cluster("local", 1):
        again = resume_solver(tmp_path, tree_of(LEDUC))
    assert again.workers.detail() == "1 workers"
    again.step(2)
    assert_same(again, alone)
    again.close()


def test_workers_that_die_or_are_silent_are_replaced(
    tmp_path: Path, alone: StreamedSolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_workers, "HEARTBEAT_SECONDS", 2.0)
    run, workers = shared(tmp_path)
    run.step(2)
    first, second = processes(workers)
    os.kill(first, signal.SIGKILL)  # between passes
    run.step(2)
    assert workers.replaced >= 1  # a busy machine may be silent for two seconds
    stopping = threading.Timer(0.05, os.kill, (second, signal.SIGSTOP))  # in the middle of one
    stopping.start()
    while second in processes(workers) and run.iterations < 7:
        run.step(1)
        time.sleep(0.05)
    stopping.join()
    run.step(8 - run.iterations)
    assert workers.replaced >= 2
    assert not {first, second} & set(processes(workers))
    assert_same(run, alone)
    run.close()


def test_errors_name_the_block_and_an_interrupted_pass_leaves_no_trace(tmp_path: Path, alone: StreamedSolver) -> None:
    run, workers = shared(tmp_path)
    run.step(1)
    path = tmp_path / "blocks" / "block000003-player1-regret-1.block"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(StrategyError, match=r"^block 3, the regrets of player 1 after iteration 1, .*--resume"):
        run.step(1)
    path.write_bytes(whole)
    walk = workers.run_pass

    def interrupted(step: Any) -> Any:
        for number, result in enumerate(walk(step)):
            if number == 2:
                raise KeyboardInterrupt
            yield result

    workers.run_pass = interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        run.step(1)
    workers.run_pass = walk  # type: ignore[method-assign]
    run.step(7)
    assert_same(run, alone)
    run.close()


@pytest.mark.slow
def test_a_block_that_ends_every_worker_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_workers, "RETRIES", 0)
    run, workers = shared(tmp_path)
    run.step(1)
    for process in processes(workers):
        os.kill(process, signal.SIGKILL)
    with pytest.raises(ClusterError, match=r"workers were lost 1 times at block \d+"):
        list(workers.run_pass(run_pass_of(run)))
    run.close()


def run_pass_of(run: StreamedSolver) -> Any:
    """A pass that a solver makes."""
    steps: list[Any] = []
    workers: Any = run.workers
    real = workers.run_pass

    def noted(step: Any) -> Any:
        steps.append(step)
        return iter(())

    workers.run_pass = lambda step: (one for one in noted(step))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "retire", lambda _kept: None)
        run.check()
    workers.run_pass = real
    return steps[0]
