"""Jobs on a cluster of two workers on this machine: the same bits as in one thread, whatever happens to the workers."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterplay.cli.main import main
from counterplay.errors import ClusterError, GameError
from counterplay.evaluation.lifted_buckets import LiftedStrategy
from counterplay.evaluation.split_evaluation import evaluate_split
from counterplay.experiments.shared.stitching import Row, Setting, solve_jobs
from counterplay.runtime import ray_cluster
from counterplay.runtime.executors import SerialExecutor, StopFlag, cluster_chosen, job_executor, on_cluster
from counterplay.runtime.jobs import JobList, run_jobs
from counterplay.runtime.ray_executor import RayExecutor
from counterplay.strategy.bucket_strategy import BucketStrategy
from tests.evaluation.test_split_buckets import drawn_buckets
from tests.evaluation.test_split_evaluation import poker

pytestmark = pytest.mark.usefixtures("two_workers")


@pytest.fixture
def executor() -> Iterator[RayExecutor]:
    with RayExecutor("local") as made:
        yield made


def numbers(job: int) -> Any:
    """Numbers whose sum depends on the order in which they are added."""
    return np.random.default_rng(job).standard_normal(3) * 10.0 ** (job % 17 - 8)


class Trial:
    """Work that is sent as a whole: what it does with a job, and where it leaves traces."""

    def __init__(self, folder: Path, what: str) -> None:
        self.folder, self.what, self.flag = folder, what, StopFlag()

    def __call__(self, job: int) -> Any:
        trace = self.folder / f"{job}-{os.getpid()}"
        first = not list(self.folder.glob(f"{job}-*"))
        trace.touch()
        if job == 2 and first and self.what == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if job == 2 and self.what == "refuses":
            raise GameError("job 2 has no such game")
        if job >= 2 and self.what == "sleeps":
            for _ in range(6000):
                time.sleep(0.1)
        return numbers(job)


def listed(path: Path | None = None) -> JobList:
    return JobList({"what": "a sum"}, 12, (3,), path, path if path is not None and path.exists() else None)


def test_the_same_bits_as_in_one_thread(executor: RayExecutor, tmp_path: Path) -> None:
    found = listed().run(Trial(tmp_path, "works"), executor)
    assert np.array_equal(found, listed().run(numbers, SerialExecutor()))
    pids = {path.name.split("-")[1] for path in tmp_path.iterdir()}
    assert str(os.getpid()) not in pids
    assert len(pids) <= 2
    assert (executor.workers, executor.local_workers, executor.capacity) == (2, 2, 4)


def test_the_job_of_a_worker_that_dies_is_done_again(executor: RayExecutor, tmp_path: Path) -> None:
    found = listed().run(Trial(tmp_path, "dies"), executor)
    assert np.array_equal(found, listed().run(numbers, SerialExecutor()))
    assert len(list(tmp_path.glob("2-*"))) == 2


def test_errors_of_jobs_arrive_as_they_were_raised(executor: RayExecutor, tmp_path: Path) -> None:
    path, traces = tmp_path / "x.jobs", tmp_path / "traces"
    traces.mkdir()
    with pytest.raises(GameError, match=r"^job 2 has no such game$") as caught:
        listed(path).run(Trial(traces, "refuses"), executor)
    assert type(caught.value) is GameError
    kept = listed(path)
    assert kept.done[:2].all()  # what others had begun is kept
    assert not kept.done[2]
    assert np.array_equal(kept.run(numbers, executor), listed().run(numbers, SerialExecutor()))


def test_a_stop_ends_jobs_and_keeps_what_is_done(executor: RayExecutor, tmp_path: Path) -> None:
    path, traces = tmp_path / "x.jobs", tmp_path / "traces"
    traces.mkdir()

    def stop(now: Any) -> None:
        if now.iterations == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        listed(path).run(Trial(traces, "sleeps"), executor, stop)
    assert listed(path).done.tolist() == [True, True, *[False] * 10]
    assert np.array_equal(listed(path).run(numbers, executor), listed().run(numbers, SerialExecutor()))


def test_one_place_chooses_who_runs_jobs(executor: RayExecutor) -> None:
    with job_executor(1) as here:
        assert isinstance(here, SerialExecutor)
    with on_cluster("local"):
        assert cluster_chosen()
        with job_executor(1) as first, job_executor(7, threads=True) as second:  # on the cluster that this process has
            assert isinstance(first, RayExecutor)
            assert first is second
            kept: dict[int, Any] = {}
            run_jobs(numbers, range(3), first, kept.__setitem__)
    assert np.array_equal(kept[2], numbers(2))
    assert not cluster_chosen()
    kept.clear()
    run_jobs(numbers, range(3), executor, kept.__setitem__)  # which is still there
    assert len(kept) == 3


def test_clusters_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        monkeypatch.setattr(ray_cluster.import_ray(), "is_initialized", lambda: False)
        with pytest.raises(ClusterError, match=rf"there is no Ray cluster at {address}.*ray start --head"):
            RayExecutor(address)
    with pytest.raises(ClusterError, match=r"as `ray start --head` prints it .*; got 'nowhere'"):
        RayExecutor("nowhere")
    with pytest.raises(ClusterError, match="at least 1 worker; got 0"), on_cluster("local", 0):
        pass
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(ClusterError, match=r'pip install "counterplay\[cluster\]"'),
        on_cluster("local"),
        job_executor(1),
    ):
        pass


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (("3.9.1", "0.0.1"), "10.0.0.2 of the cluster has counterplay 0.0.1 with Python 3.9.1, this machine has"),
        (("3.9.1", None), "10.0.0.2 of the cluster has no counterplay; install"),
    ],
)
def test_machines_with_other_versions_are_refused(found: tuple[str, str | None], message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        ray_cluster.check_versions("10.0.0.2", found)


ON_RAY = ("--cluster", "local")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """What a command prints as JSON, without what it took."""
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return {name: value for name, value in found.items() if "seconds" not in name and name != "report"}


class TestVerbs:
    @pytest.mark.parametrize("words", [("tight", "--flops", "3"), ("50/50",)], ids=["split", "card-free"])
    def test_evaluate(self, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
        command = ("evaluate", "--game", "leduc_limit_2p", "--strategy", *words)
        method = ("--method", "split" if "--flops" in words else "card-free")
        assert said(capsys, *command, *ON_RAY) == said(capsys, *command, *method)

    def test_strategies_by_buckets(self) -> None:
        """They are sent to the workers, with their game."""
        game = poker("two rounds")
        abstract = drawn_buckets(game)
        profile = BucketStrategy.of_game(abstract, np.random.default_rng(1).random(abstract.num_entries))
        pair = LiftedStrategy(profile), LiftedStrategy(profile)
        with on_cluster("local"):
            found = evaluate_split(game, pair)
        assert found == evaluate_split(game, pair)

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("evaluate", "--game", "kuhn", "--strategy", "uniform", "--method", "history", *ON_RAY),
             "method history is one computation, which no cluster can share"),
            (("evaluate", "--game", "leduc_limit_2p", "--strategy", "tight", "--threads", "2", *ON_RAY),
             "with --cluster, --workers limits jobs at a time"),
            (("evaluate", "--game", "leduc_limit_2p", "--strategy", "tight", "--workers", "2"),
             "--workers 2 is for --cluster local or HOST:PORT; --threads is for this machine"),
            (("experiment", "kuhn-tournament", *ON_RAY), "kuhn-tournament has no jobs that a cluster could share"),
            (("experiment", "stitched-leduc", "--workers", "2"), "--set workers=N is for this machine"),
        ],
    )  # fmt: skip
    def test_refusals(self, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(words) == 2
        assert message in capsys.readouterr().err

    @pytest.mark.slow
    def test_tournament(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        words = ["50/50", "always-call", "always-raise", "--game", "leduc", "--deals", "40", "--piece", "10"]
        alone = said(capsys, "tournament", str(tmp_path / "alone"), *words)
        assert said(capsys, "tournament", str(tmp_path / "shared"), *words, *ON_RAY) == alone
        lines = [sorted((tmp_path / name / "results.jsonl").read_text().splitlines()) for name in ("alone", "shared")]
        assert lines[0] == lines[1]

    @pytest.mark.slow
    def test_jobs_of_experiments(self, tmp_path: Path) -> None:
        setting, rows = Setting(iterations=20), [Row("JQ-K", "Base")]
        alone = solve_jobs(setting, rows, tmp_path / "alone", 1)
        with on_cluster("local"):
            found = solve_jobs(setting, rows, tmp_path / "shared", 1)
        assert found.keys() == alone.keys()
        assert all(np.array_equal(found[job], alone[job]) for job in alone)
