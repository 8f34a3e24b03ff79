"""Compile all kernels ahead: small games are solved, measured and played in every way, and what that compiles is kept.

Kernels are compiled for the types of their arguments when they are first called, and kept on the disk; so the first use
of an algorithm takes seconds longer than the second.  ``warm`` is the first use of everything.
"""

from __future__ import annotations

import dataclasses
import functools
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from counterplay.runtime.compiling import Compiling, listening
from counterplay.runtime.progress import Progress, ProgressCallback

_SPOT: dict[str, Any] = {"pot": 10.0, "stack": 10.0, "oop": "AKs,QQ", "ip": "AJs,KK", "bets": "allin", "iterations": 2}
_POKER = "leduc_limit_2p"


@dataclasses.dataclass(frozen=True)
class WarmReport:
    """What was compiled.

    Attributes
    ----------
    kernels : tuple of str
        The kernels that were not in the cache, as ``cfr.iterate_cfr``; once for each type they are compiled for.
    seconds, cpu_seconds : float
        How long it took, what was run to compile them included.
    folder : str or None
        Below which the compiled kernels are; None if there is no folder that can be written, and nothing is kept.
    """

    kernels: tuple[str, ...]
    seconds: float
    cpu_seconds: float
    folder: str | None


def warm(progress: ProgressCallback | None = None) -> WarmReport:
    """Compile every kernel that is not in the cache.

    Parameters
    ----------
    progress : callable, optional
        Called before each step with ``Progress``; ``detail`` says what is compiled.

    Returns
    -------
    WarmReport
        What was compiled, how long it took, and where it is kept.
    """
    from counterplay.kernels.compiled_code import cache_folder
    from counterplay.kernels.history.cfr import iterate_cfr
    from counterplay.kernels.public.public_cfr import iterate_public

    compiled: list[str] = []
    started, cpu = time.perf_counter(), time.process_time()

    def note(now: Compiling) -> None:
        compiled.append(now.kernel)

    with tempfile.TemporaryDirectory() as folder, listening(note):
        steps = list(_steps(Path(folder)))
        for number, (what, run) in enumerate(steps):
            if progress is not None:
                times = time.perf_counter() - started, time.process_time() - cpu
                progress(Progress(number, *times, total=len(steps), stage="compiling", detail=what))
            run()
    place = cache_folder(iterate_cfr, iterate_public)
    return WarmReport(
        tuple(compiled), time.perf_counter() - started, time.process_time() - cpu, None if place is None else str(place)
    )


Step = tuple[str, Callable[[], object]]


def _steps(folder: Path) -> Iterator[Step]:
    """What is done, one after the other, each with a name for people."""
    yield from _solving()
    yield from _spots(folder)
    yield from _buckets(folder)
    yield from _playing()


def _solving() -> Iterator[Step]:
    from counterplay.runs import solve
    from counterplay.solvers.registry import ALGORITHMS

    for name, algorithm in ALGORITHMS.items():
        for form in ("history", "public"):
            if form in algorithm.forms:
                game = "kuhn" if form == "history" else "leduc"
                limit = {} if algorithm.exact or algorithm.one_sided else {"iterations": 2}
                settings: dict[str, Any] = {"representation": form, **limit}
                yield f"{name}, {form}", functools.partial(solve, game, name, **settings)
    for storage in ("float32", "int16"):
        yield f"tables on disk, {storage}", functools.partial(_on_disk, storage)


def _on_disk(storage: str) -> None:
    """Solve a game with tables on disk, for a moment."""
    from counterplay.runs import solve

    with tempfile.TemporaryDirectory() as folder:
        solve(_POKER, tables=f"disk:{folder}", storage=storage, iterations=2)


def _spots(folder: Path) -> Iterator[Step]:
    from counterplay.evaluation import evaluate
    from counterplay.poker.range_equity import equity
    from counterplay.runs import solve_spot
    from counterplay.strategy import load_strategy

    river, turn = "KsTd7h4c2s", "KsTd7h4c"
    file = folder / "turn.strategy"
    yield "a river", lambda: solve_spot(board=river, **_SPOT)
    yield "a turn", lambda: solve_spot(board=turn, out=file, **_SPOT)
    yield "a turn, measured", lambda: evaluate(load_strategy(file))
    for storage in ("float32", "int16"):
        yield f"a turn, {storage}", functools.partial(solve_spot, board=turn, storage=storage, **_SPOT)
    yield "equities", lambda: equity("AA", "KK", board="Qs Jh 2h")
    yield "sampled equities", lambda: equity("AA", "KK", "QQ", samples=100)


def _buckets(folder: Path) -> Iterator[Step]:
    from counterplay.build import build
    from counterplay.evaluation import evaluate
    from counterplay.runs import solve
    from counterplay.solvers.registry import ALGORITHMS
    from counterplay.strategy import load_strategy

    made = folder / "agent"

    def with_cards(name: str) -> None:
        cards = next(made.rglob("*.cpa"))
        solve(_POKER, name, cards=[cards], iterations=20, boards="all")

    yield "an agent", lambda: build(_POKER, "tiny", made, cache=folder / "features", iterations=100, deals=10)
    yield "an agent, measured", lambda: evaluate(load_strategy(made / "agent.strategy"), bounds=2)
    for name, algorithm in ALGORITHMS.items():
        if "buckets" in algorithm.forms:
            yield f"{name}, buckets", functools.partial(with_cards, name)
    yield "logged hands", lambda: _observe(next(made.rglob("*.cpa")), folder / "leduc.log")
    yield from _responses(made)


def _responses(made: Path) -> Iterator[Step]:
    """Every algorithm against a restricted opponent, on histories and with the cards of an agent."""
    from counterplay.modelling import respond
    from counterplay.modelling.response_solvers import response_algorithms

    def with_cards(name: str) -> None:
        respond(_POKER, "uniform", "dbr", 0.5, algorithm=name, cards=[next(made.rglob("*.cpa"))], iterations=20)

    for name in response_algorithms("history"):
        yield f"responses by {name}", functools.partial(respond, "kuhn", "uniform", "dbr", 0.5, algorithm=name)
    for name in response_algorithms("buckets"):
        yield f"responses by {name}, buckets", functools.partial(with_cards, name)


def _observe(cards: Path, log: Path) -> None:
    """Count a logged hand."""
    from counterplay.forms import open_game
    from counterplay.modelling import observe

    log.write_text("STATE:0:cc/rc:Qs|Kh/As:-5|5:one|two\n", encoding="utf-8")
    observe(log, "one", open_game(_POKER, "buckets", cards=[cards]))


def _playing() -> Iterator[Step]:
    from counterplay.agents import match

    yield "a match", lambda: match("kuhn", ["uniform", "always-call"], deals=10)
