"""Lists of jobs: the same bits whatever runs them and wherever they are stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterplay.errors import StrategyError
from counterplay.runtime import jobs as module
from counterplay.runtime.executors import ProcessExecutor, SerialExecutor, ThreadExecutor
from counterplay.runtime.jobs import JobList, read_jobs, run_jobs
from counterplay.runtime.progress import Progress

HEADER = {"what": "a sum", "size": 40}
SHAPE = (2, 3)


def work(job: int) -> Any:
    """Numbers whose sum depends on the order in which they are added."""
    return np.random.default_rng(job).standard_normal(SHAPE) * 10.0 ** (job % 17 - 8)


def expected() -> Any:
    return np.add.reduce(np.array([work(job) for job in range(40)]), axis=0)


def listed(path: Path | None = None, resume: Path | None = None, **header: Any) -> JobList:
    return JobList({**HEADER, **header}, 40, SHAPE, path, resume)


class Backwards:
    """An executor of another kind: it runs the newest job first, when somebody waits."""

    capacity = 5

    def submit(self, work: Any, job: Any, /) -> Any:
        """Begin a job a little later."""
        future: Any = module.Future()
        threading.Timer(0.001 * (5 - job % 5), lambda: future.set_result(work(job))).start()
        return future


@pytest.mark.parametrize("executor", [SerialExecutor, lambda: ThreadExecutor(1), lambda: ThreadExecutor(7), Backwards])
def test_every_executor_finds_the_same_bits(executor: Any) -> None:
    seen: list[Progress] = []
    found = listed().run(work, executor(), seen.append, "adding")
    assert np.array_equal(found, expected())
    assert (seen[-1].iterations, seen[-1].total, seen[-1].seconds_left, seen[-1].stage) == (40, 40, 0.0, "adding")


def test_processes_find_the_same_bits() -> None:
    with ProcessExecutor(2) as executor:
        assert np.array_equal(listed().run(work, executor), expected())


@pytest.mark.parametrize("threads", [1, 3])
def test_stopped_again_and_again(tmp_path: Path, threads: int) -> None:
    path = tmp_path / "x.jobs"
    runs: list[int] = []

    def counted(job: int) -> Any:
        runs.append(job)
        return work(job)

    def stop(now: Progress) -> None:
        if now.iterations % 9 == 0 or now.iterations > 30:
            raise KeyboardInterrupt

    stops = 0
    while not listed(resume=path if stops else None, path=path).done.all():
        with ThreadExecutor(threads) as executor, pytest.raises(KeyboardInterrupt):
            listed(path, path if stops else None).run(counted, executor, stop)
        stops += 1
    assert stops > 2
    assert sorted(runs) == list(range(40))  # what was running at a stop is kept
    assert read_jobs(path)["what"] == "a sum"
    with ThreadExecutor(threads) as executor:
        assert np.array_equal(listed(resume=path).run(counted, executor), expected())


def test_a_killed_process_is_resumed_to_the_same_bits(tmp_path: Path) -> None:
    """Killed outright after some saves: what is in the file is whole, the rest is done again."""
    path = tmp_path / "x.jobs"
    script = (
        "import os, sys\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "import test_jobs as tests\n"
        "tests.module.SAVE_SECONDS = 0.0\n"
        "def work(job):\n"
        "    if job == 25: os._exit(9)\n"
        "    return tests.work(job)\n"
        "tests.listed(sys.argv[1]).run(work, tests.SerialExecutor())\n"
    )
    folder = str(Path(__file__).parent)
    process = subprocess.run([sys.executable, "-c", script, str(path), folder], capture_output=True, check=False)
    assert process.returncode == 9, process.stderr
    again = listed(resume=path)
    assert 0 < again.done.sum() < 40
    assert np.array_equal(again.run(work, SerialExecutor()), expected())


def test_an_exception_keeps_the_others(tmp_path: Path) -> None:
    path = tmp_path / "x.jobs"

    def failing(job: int) -> Any:
        if job == 12:
            raise ArithmeticError("job 12")
        return work(job)

    with ThreadExecutor(4) as executor, pytest.raises(ArithmeticError, match="job 12"):
        listed(path).run(failing, executor)
    assert listed(resume=path).done[:12].all()
    assert not listed(resume=path).done[12]
    assert np.array_equal(listed(resume=path).run(work, SerialExecutor()), expected())


def test_files_of_something_else_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jobs"
    listed(path).save()
    with pytest.raises(StrategyError, match="belongs to another evaluation: its what is 'a sum', not 'a product'"):
        listed(resume=path, what="a product")
    with pytest.raises(StrategyError, match="does not fit this evaluation"):
        JobList(HEADER, 41, SHAPE, resume=path)


def test_jobs_are_submitted_as_there_is_room() -> None:
    taken: list[int] = []
    kept: dict[int, int] = {}

    def jobs() -> Any:
        for job in range(30):
            taken.append(job)
            yield job

    def report() -> None:
        assert len(taken) <= len(kept) + 4

    with ThreadExecutor(4) as executor:
        run_jobs(lambda job: job * job, jobs(), executor, kept.__setitem__, report)
    assert kept == {job: job * job for job in range(30)}


def test_workers_stop_when_their_parent_is_killed(tmp_path: Path) -> None:
    code = (
        "import os, time, counterplay.runtime.executors as jobs\n"
        "if __name__ == '__main__':\n"
        "    with jobs.ProcessExecutor(2) as executor:\n"
        "        print(*{executor.submit(os.getpid).result() for _ in range(20)}, flush=True)\n"
        "        executor.submit(time.sleep, 100)\n"
        "        time.sleep(100)\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(code)
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([sys.executable, str(script)], **quiet) as parent:  # type: ignore[call-overload]
        workers = [int(word) for word in parent.stdout.readline().split()]
        parent.kill()
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert workers
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]


LONG_JOBS = """
import pathlib, sys, time
from counterplay.runtime.executors import ProcessExecutor
from counterplay.runtime.jobs import run_jobs
from counterplay.runtime.signals import interruptible

folder = pathlib.Path(sys.argv[1])

def work(job):
    (folder / f"{job}.begun").touch()
    if job:
        time.sleep(600)
    return job

def listed():
    yield 0
    print("workers begin", flush=True)
    yield from range(1, 9)

if __name__ == "__main__":
    kept = []
    with interruptible(), ProcessExecutor(2) as executor:
        try:
            run_jobs(work, listed(), executor, lambda job, _: kept.append(job))
        except KeyboardInterrupt:
            print("kept", kept)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("whole", [True, False], ids=["all processes", "the parent"])
@pytest.mark.parametrize("when", ["importing", "working"])
def test_workers_stop_at_a_signal(when: str, whole: bool, number: signal.Signals, tmp_path: Path) -> None:
    """Jobs that run end, those that were handed over do not begin, and nobody prints a traceback."""
    script, folder = tmp_path / "parent.py", tmp_path / "jobs"
    script.write_text(LONG_JOBS)
    folder.mkdir()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen([sys.executable, str(script), str(folder)], **pipes) as parent:  # type: ignore[call-overload]
        try:
            assert parent.stdout.readline() == "workers begin\n"
            deadline = time.monotonic() + 60
            while when == "working" and len(list(folder.iterdir())) < 3 and time.monotonic() < deadline:
                time.sleep(0.01)
            (os.killpg if whole else os.kill)(parent.pid, number)
            out, err = parent.communicate(timeout=60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(parent.pid, signal.SIGKILL)
    begun = {path.stem for path in folder.iterdir()}
    assert (parent.returncode, err) == (0, "")
    if when == "working":
        assert (out, begun) == ("kept [0]\n", {"0", "1", "2"})
    else:
        assert out in ("kept []\n", "kept [0]\n")
        assert begun <= {"0", "1", "2"}


def test_jobs_that_take_long_can_be_abandoned() -> None:
    stopped, kept = threading.Event(), []

    def work(job: int) -> int:
        if job and stopped.wait(60):
            raise RuntimeError("interrupted")
        return job

    def report() -> None:
        raise KeyboardInterrupt

    with ThreadExecutor(2) as executor, pytest.raises(KeyboardInterrupt):
        run_jobs(work, range(4), executor, lambda job, _: kept.append(job), report, stopped.set)
    assert kept == [0]
