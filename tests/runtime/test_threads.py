"""The pool of threads: who does which share, what reaches the caller, and when."""

from __future__ import annotations

import concurrent.futures
import gc
import os
import signal
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.runtime import threads
from counterplay.runtime.progress import Progress
from counterplay.runtime.threads import ThreadPool, spaced_rows, spaced_zeros


class Shares:
    """Records the shares that are done, and that no thread does two at once."""

    def __init__(self) -> None:
        self.done: list[tuple[int, int, int]] = []
        self.names: set[str] = set()
        self.busy: set[int] = set()
        self.lock = threading.Lock()

    def advance(self, thread: int, iterations: int, start: int) -> None:
        with self.lock:
            assert thread not in self.busy
            self.busy.add(thread)
            self.names.add(threading.current_thread().name)
        time.sleep(0)
        with self.lock:
            self.done.append((thread, iterations, start))
            self.busy.discard(thread)

    def covered(self) -> list[int]:
        return sorted(start + i for _, count, start in self.done for i in range(count))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 24), st.integers(0, 500), st.integers(0, 10**9), st.integers(1, 40))
def test_every_iteration_is_done_once_and_no_share_is_too_small(
    count: int, iterations: int, start: int, least: int
) -> None:
    class Fixed(ThreadPool):
        @property
        def least(self) -> int:
            return least

    shares = Shares()
    with Fixed(count) as pool:
        pool.share(iterations, start, shares.advance)
    assert shares.covered() == list(range(start, start + iterations))
    assert all(0 <= thread < count for thread, _, _ in shares.done)
    small = [size for _, size, _ in shares.done if size < least]
    assert len(small) <= 1  # the remainder


def test_no_iterations_are_one_call_that_compiles() -> None:
    shares = Shares()
    ThreadPool(4).share(0, 7, shares.advance)
    assert shares.done == [(0, 0, 7)]


def test_fewer_iterations_than_threads_are_done_at_once() -> None:
    together = threading.Barrier(5)
    with ThreadPool(16) as pool:
        pool.share(5, 0, lambda thread, iterations, start: void(together.wait(20)))


@pytest.mark.parametrize("count", [2, 9])
def test_no_share_is_begun_after_the_deadline(count: int) -> None:
    shares = Shares()
    with ThreadPool(count) as pool:
        pool.share(100_000, 0, shares.advance, deadline=time.perf_counter() - 1.0)
        assert 1 <= len(shares.done) <= count
        assert len({start for _, _, start in shares.done}) == len(shares.done)
        pool.share(1000, 0, Shares().advance, deadline=time.perf_counter() + 1000.0)


def void(_: object) -> None:
    """Nothing."""


def test_shares_are_as_large_as_their_cost_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest share takes ``SHARE_SECONDS`` and the largest half a thread's part, however many threads."""
    cost = 1e-4
    expected = round(threads.SHARE_SECONDS / cost)
    for count in (2, 16, 64):
        sizes: list[int] = []
        pool = ThreadPool(count)
        pool._spent, pool._counted = 1000 * cost, 1000.0
        assert pool.least == expected
        monkeypatch.setattr(pool, "_timed", lambda advance, *share: advance(*share))
        pool.share(100 * expected * count, 0, lambda thread, iterations, start, sizes=sizes: sizes.append(iterations))
        assert sum(size < expected for size in sizes) <= 1  # the remainder
        assert max(sizes) == 50 * expected
        assert len(sizes) < 12 * count
        pool.close()


def test_the_cost_of_iterations_is_measured_in_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(threads, "time", SimpleNamespace(thread_time=lambda: clock[0]))
    pool = ThreadPool()
    for overhead, cost, iterations in ((0.002, 1e-5, 1), (0.002, 1e-5, 300), (0.0, 1e-3, 50), (0.0, 1e-3, 1000)):

        def advance(_thread: int, done: int, _start: int, overhead: float = overhead, cost: float = cost) -> None:
            clock[0] += overhead + cost * done

        for _ in range(20):
            pool.share(iterations, 0, advance)
        per_iteration = overhead / iterations + cost
        assert pool.least == pytest.approx(max(1, threads.SHARE_SECONDS / per_iteration), abs=1)


def test_threads_are_started_once_and_end_with_the_pool() -> None:
    pool = ThreadPool(3)
    before = threading.active_count()
    pool.share(30, 0, Shares().advance)
    started = threading.active_count() - before
    assert 1 <= started <= 3
    for _ in range(20):
        pool.share(30, 0, Shares().advance)
        pool.each(lambda thread: None)
    assert threading.active_count() - before <= 3
    del pool
    gc.collect()
    for _ in range(200):
        if threading.active_count() <= before:
            break
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_one_thread_is_the_caller() -> None:
    shares = Shares()
    pool = ThreadPool()
    pool.share(100, 5, shares.advance)
    assert shares.done == [(0, 100, 5)]
    assert shares.names == {threading.current_thread().name}
    called: list[int] = []
    pool.each(called.append)
    assert called == [0]
    assert pool._executor is None


@pytest.mark.parametrize("count", [1, 2, 16])
def test_an_exception_reaches_the_caller_when_all_is_at_rest(count: int) -> None:
    working = [0]
    lock = threading.Lock()

    def advance(_thread: int, _iterations: int, start: int) -> None:
        with lock:
            working[0] += 1
        try:
            time.sleep(0.001)
            if start == 0:
                raise ArithmeticError("overflow")
        finally:
            with lock:
                working[0] -= 1

    pool = ThreadPool(count)
    with pytest.raises(ArithmeticError, match="overflow"):
        pool.share(10_000, 0, advance)
    assert working == [0]
    shares = Shares()
    pool.share(100, 0, shares.advance)  # the pool is still good
    assert shares.covered() == list(range(100))


@pytest.mark.parametrize("count", [2, 7])
def test_ctrl_c_is_raised_when_the_tables_are_at_rest(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    begun, released = threading.Event(), threading.Event()
    working, done, lock = [0], [0], threading.Lock()
    wait = concurrent.futures.wait
    calls = 0

    def interrupted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls <= 2:  # impatience does not help
            begun.wait(20)
            raise KeyboardInterrupt
        released.set()
        return wait(*arguments)

    def advance(_thread: int, iterations: int, _start: int) -> None:
        with lock:
            working[0] += 1
        begun.set()
        released.wait(20)
        with lock:
            working[0] -= 1
            done[0] += iterations

    monkeypatch.setattr("concurrent.futures.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ThreadPool(count).share(100_000, 0, advance)
    assert working == [0]
    assert 0 < done[0] < 100_000  # shares that were not begun are left


def test_a_call_is_over_before_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    wait, calls, stopped, seen = concurrent.futures.wait, 0, threading.Event(), []

    def interrupted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise KeyboardInterrupt
        return wait(*arguments)

    def work() -> None:
        assert threading.current_thread() is not threading.main_thread()
        stopped.wait(20)
        seen.append("whole")

    monkeypatch.setattr("concurrent.futures.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ThreadPool().call(work, stopped.set)
    assert seen == ["whole"]


@pytest.mark.parametrize("count", [1, 2, 16])
@pytest.mark.parametrize(("total", "chunk"), [(0, 5), (1, 5), (17, 5), (100, 1), (10, 100)])
def test_chunks_cover_everything_once(count: int, total: int, chunk: int) -> None:
    seen = np.zeros(total, int)
    reported: list[Progress] = []

    def work(first: int, last: int) -> None:
        assert 0 < last - first <= chunk
        seen[first:last] += 1

    with ThreadPool(count) as pool:
        pool.chunks(work, total, chunk, reported.append, "stage")
    assert (seen == 1).all()
    if total:
        assert reported[-1] == Progress(total, total=total, stage="stage")
        assert [now.iterations for now in reported] == sorted(now.iterations for now in reported)


@pytest.mark.parametrize("count", [1, 3])
def test_chunks_stop_at_an_exception_and_at_a_callback_that_raises(count: int) -> None:
    done: list[int] = []

    def work(first: int, _last: int) -> None:
        done.append(first)
        time.sleep(0.001)
        if first == 20:
            raise ArithmeticError("bad chunk")

    with ThreadPool(count) as pool, pytest.raises(ArithmeticError, match="bad chunk"):
        pool.chunks(work, 10_000, 10)
    assert len(done) < 100

    def stop(_now: Progress) -> None:
        raise KeyboardInterrupt

    done.clear()
    with ThreadPool(count) as pool, pytest.raises(KeyboardInterrupt):
        pool.chunks(lambda first, last: (done.append(first), time.sleep(0.01)), 10_000, 10, stop)
    assert len(done) < 1000


def test_rows_of_threads_share_no_cache_line() -> None:
    rows = spaced_rows(np.arange(12, dtype=np.int64).reshape(4, 3))
    assert rows.tolist() == np.arange(12).reshape(4, 3).tolist()
    places = [row.__array_interface__["data"][0] for row in rows]
    assert min(np.diff(places)) - rows[0].nbytes >= 64
    assert all(row.flags.c_contiguous for row in rows)
    assert rows.nbytes == 4 * 3 * 8
    apart = spaced_zeros(5, "int32")
    assert apart.shape == (5,)
    assert apart.base is not None
    assert apart.base.nbytes - apart.nbytes >= 128


@pytest.fixture
def at_work() -> SimpleNamespace:
    """Work that takes a moment, and how many threads are doing it."""
    lock, state = threading.Lock(), SimpleNamespace(working=0, released=threading.Event())

    def advance(*_: int) -> None:
        with lock:
            state.working += 1
        state.released.wait(0.2)
        with lock:
            state.working -= 1

    state.advance = advance
    return state


def interrupt() -> None:
    """Ctrl-C, by somebody who is impatient."""
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("way", ["share", "each"])
def test_ctrl_c_while_the_threads_begin(at_work: SimpleNamespace, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that have begun were not waited for, and changed the tables while these were written."""
    begin = ThreadPool._submit

    def submit(*arguments: Any) -> Any:
        try:
            return begin(*arguments)
        finally:
            interrupt()

    monkeypatch.setattr(ThreadPool, "_submit", submit)
    pool = ThreadPool(3)
    with pytest.raises(KeyboardInterrupt):
        pool.share(1000, 0, at_work.advance) if way == "share" else pool.each(at_work.advance)
    assert at_work.working == 0


def test_ctrl_c_twice_while_the_threads_come_to_rest(at_work: SimpleNamespace) -> None:
    stops: list[str] = []

    def stop() -> None:
        stops.append("stop")
        interrupt()

    threading.Timer(0.02, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        ThreadPool().call(at_work.advance, stop)
    assert at_work.working == 0
    assert stops == ["stop"]


def test_no_room_for_another_thread(at_work: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that have begun are waited for, and the pool is still good."""
    start, started = threading.Thread.start, [0]

    def refused(thread: threading.Thread) -> None:
        started[0] += 1
        if started[0] == 2:
            raise RuntimeError("can't start new thread")
        start(thread)

    pool = ThreadPool(3)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError, match="new thread"):
            pool.each(at_work.advance)
    assert at_work.working == 0
    shares = Shares()
    pool.share(100, 0, shares.advance)
    assert shares.covered() == list(range(100))
