"""The base class of solvers: the run loop, checkpoints, and results.

A solver owns tables and calls kernels.  ``run`` advances it in short calls, measures the strategy at iterations fixed
in advance (each about 5 % after the previous one, so measuring is cheap and does not depend on the clock), and
stops by iterations, seconds or exploitability.  Ctrl-C ends a run cleanly: the tables only change inside kernel calls,
so the work done so far is consistent and the run can be resumed to the same bits.
"""

from __future__ import annotations

import dataclasses
import numbers
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import CounterplayError, GameError, OtherGameError, SolverError, StrategyError
from counterplay.evaluation.measurement import Measurement, measure_strategy
from counterplay.forms import GameLike, open_game
from counterplay.kernels.history.passes import FormArrays, form_arrays
from counterplay.kernels.numba_internals import release_compiler
from counterplay.poker.postflop.subgame import unlike
from counterplay.runtime.array_checks import COUNTS, check_like, check_limits
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.memory import check_memory
from counterplay.runtime.pacing import CHECK_RATIO, PacedSteps, Until, next_check
from counterplay.runtime.progress import Curve, Progress, ProgressCallback
from counterplay.solvers.checkpoint_header import CheckpointHeader, header_of
from counterplay.solvers.result import RunFacts, SolveResult, Status
from counterplay.solvers.settings import Settings, preset
from counterplay.storage import read_container, write_container
from counterplay.strategy.strategy import Provenance
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.sizes import tree_bytes

if TYPE_CHECKING:
    from counterplay.abstraction.infosets.abstraction import Abstraction

LARGE = 1 << 26
"""Bytes of tables above which the compiler does not keep memory besides them."""


class Solver(ABC):
    """A solver on a compiled game.

    A subclass owns tables, advances them in ``step``, names them in ``tables`` and returns their profile in
    ``strategy``; opening the game, running, measuring, saving and resuming are the same for all.

    Parameters
    ----------
    game : GameTree, PublicTree, Game or str
        What to solve.
    config : Settings or str, optional
        The settings, or the name of one of ``presets``.
    algorithm : str, optional
        The name of the algorithm in results; by default that of the preset.
    memory_limit : int, optional
        Bytes that the tables may take; by default what the machine has free.

    Its attributes:

    * ``tree``: the game, compiled
    * ``form``: the sequence form of a ``GameTree``, for the kernels
    * ``config``: the settings, a frozen dataclass
    * ``algorithm``: the name in results
    * ``seconds``, ``cpu_seconds``: time spent so far, including runs before a resume
    * ``curve``: the measurements of the run
    * ``deadline``: when a run must be over, by ``time.perf_counter``; for solvers whose single iteration can take long
    """

    kind: ClassVar[str]
    """The kind of this solver in checkpoints."""

    form_name: ClassVar[str] = "history"
    """The form of the game that it works on: history, public, buckets or states."""

    config_class: ClassVar[type[Settings]]
    """The dataclass of its settings."""

    presets: ClassVar[Mapping[str, Any]]
    """The settings of its algorithms by name."""

    default_preset: ClassVar[str | None] = None
    """The settings that are used when none are given; by default the first."""

    memory_advice: ClassVar[str] = "try storage float32 or an abstraction"
    """What to try where the tables do not fit, if the algorithm has the setting ``storage``."""

    default_iterations: ClassVar[int] = 1000
    """Where a run without a limit stops."""

    visits_histories: ClassVar[bool] = True
    """Whether iterations visit histories; those of linear programs do not."""

    measures: ClassVar[bool] = True
    """Whether ``measure`` gives numbers; where the whole game is out of reach it gives NaN."""

    real_game: ClassVar[bool] = False
    """Whether it measures its strategy in the real game, although its tables are those of a bucket game."""

    check_ratio: ClassVar[float] = CHECK_RATIO
    """The growth of the iterations between measurements; larger where measuring is expensive."""

    tree: Any
    form: FormArrays
    config: Any
    algorithm: str
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    deadline: float | None = None
    _clock: NDArray[np.int64]

    def __init__(
        self,
        game: GameLike,
        config: Settings | str | None = None,
        algorithm: str | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.curve: list[Progress] = []
        self.config = self.settings_of(config)
        self.algorithm = algorithm or (config if isinstance(config, str) else self.name_of(self.config))
        self._open(game, memory_limit)
        self._allocate()

    @classmethod
    def settings_of(cls, config: Settings | str | None) -> Any:
        """The settings themselves, for the name of a preset or for None."""
        if config is None or isinstance(config, str):
            return preset(cls.presets, config or cls.default_preset or next(iter(cls.presets)))
        if not isinstance(config, cls.config_class):
            raise SolverError(f"config is a {cls.config_class.__name__} or the name of a preset; got {config!r}")
        return config

    @classmethod
    def name_of(cls, config: Any) -> str:
        """The name of the preset that samples as these settings do; the only one where nothing is sampled."""
        kind = getattr(config, "sampling", None)
        names = (name for name, known in cls.presets.items() if getattr(known, "sampling", None) == kind)
        return next(names, str(kind))

    def _open(self, game: Any, memory_limit: int | None) -> None:
        """Open the game, and check that it is one for this solver and that the tables will fit."""
        self.tree = self._opened(game, memory_limit)
        self._check_game()
        needed = self.memory_bytes(self.tree, self.config) + self._layout_bytes()
        stored = hasattr(self.config, "storage")
        advice = self.memory_advice if stored else "try an abstraction or an algorithm that samples"
        check_memory(f"{self.algorithm} on {self.name}", needed, memory_limit, advice)
        if self.form_name == "history":
            self.form = form_arrays(self.tree.sequences)

    def _opened(self, game: Any, memory_limit: int | None) -> Any:
        """The form of a game that this solver works on."""
        return open_game(game, self.form_name, memory_limit=memory_limit)

    def _layout_bytes(self) -> int:
        """Bytes of what is derived from the game alone and kept besides the tables."""
        return 0

    def _check_game(self) -> None:  # noqa: B027
        """Refuse a game that this solver cannot solve; by default it takes all."""

    @abstractmethod
    def _allocate(self) -> None:
        """Make the tables."""

    @classmethod
    def memory_bytes(cls, tree: Any, config: Any = None) -> int:
        """Bytes of all that a solver will allocate; ``config`` as for the solver."""
        raise NotImplementedError

    @property
    def table_bytes(self) -> int:
        """Bytes of all that the solver has allocated."""
        return self.memory_bytes(self.tree, self.config)

    @property
    def iterations(self) -> int:
        """Iterations done so far."""
        return int(self._clock[0])

    @property
    def name(self) -> str:
        """The game's name."""
        return str(self.tree.name)

    @property
    def histories(self) -> int | None:
        """Number of histories of the game; None if unknown."""
        return int(self.tree.num_histories)

    @property
    def information_sets(self) -> int:
        """Number of information sets in the tables."""
        return int(self.tree.num_infosets)

    @property
    def nodes(self) -> int:
        """Histories visited so far: all of them in each iteration, unless a solver samples."""
        return int(self.iterations * self.tree.num_histories) if self.visits_histories else 0

    @abstractmethod
    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations."""

    @property
    def least_iterations(self) -> int:
        """Fewest iterations of a call that keep all threads busy; one where threads share each iteration."""
        return 1

    @property
    def finished(self) -> bool:
        """Whether further iterations would change nothing; algorithms that only converge never finish."""
        return False

    @property
    def value_bounds(self) -> tuple[float, float] | None:
        """Bounds on the value that the solver computes, for progress reports; None if there are none."""
        return None

    def progress_detail(self) -> str:
        """What progress says besides the numbers; empty for nothing."""
        return ""

    def close(self) -> None:  # noqa: B027
        """Let go of what is held outside of memory; the solver is not advanced any more."""

    def details(self) -> dict[str, Any]:
        """Further figures for reports, by their keys in JSON."""
        return {}

    def facts(self) -> RunFacts:
        """What reports say about the game and the tables."""
        tree = self.tree
        return RunFacts(
            big_blind=tree.big_blind,
            zero_sum=tree.facts.zero_sum,
            one_sided=self.value_bounds is not None and self.form_name == "history",
            recall=tuple(tree.recall),
            forgetful=tuple(p for p in range(tree.players) if not tree.sequences.has_perfect_recall(p)),
            entries=tree.num_entries,
            tree_bytes=tree_bytes(tree),
            table_bytes=self.table_bytes,
            seed=getattr(self.config, "seed", 0),
            threads=getattr(self.config, "threads", 1),
        )

    @abstractmethod
    def strategy(self, *args: Any, **kwargs: Any) -> Any:
        """The probabilities of the profile that the solver returns."""

    def profile(self, kind: Any = None) -> Any:
        """That profile, with its provenance; ``kind`` as for ``strategy``, where there is a choice."""
        chosen = self.strategy() if kind is None else self.strategy(kind)
        return TabularStrategy.from_tree(self.tree, chosen, self.provenance(kind))

    def final_profile(self) -> Any:
        """The profile of a result."""
        return self.profile()

    def provenance(self, kind: str | None = None) -> Provenance:
        """The origin of a profile."""
        settings = dataclasses.asdict(self.config) | ({} if kind is None else {"profile": kind})
        seed = getattr(self.config, "seed", None)
        return Provenance(self.algorithm, settings, seed, self.iterations, self.seconds)

    def _profile_kind(self, kind: Any) -> Any:
        """The profile that is meant: by default that of the settings; an average must have been kept."""
        kind = kind or self.config.profile
        if kind == "average" and not self.config.keeps_average:
            raise SolverError(f"this solver keeps no average (its profile is {self.config.profile!r})")
        return kind

    @abstractmethod
    def tables(self) -> dict[str, NDArray[Any]]:
        """The arrays that a checkpoint must hold, the live ones: ``resume`` writes into them."""

    def state(self) -> dict[str, Any]:
        """Further numbers that a checkpoint must hold, for its header."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Restore ``state`` after the tables were filled, and derive from both whatever else the solver keeps."""

    @classmethod
    def named(cls, game: Any, algorithm: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Self:
        """A solver for an algorithm by its name; ``settings`` change its defaults."""
        return cls(game, preset(cls.presets, algorithm, settings), algorithm, memory_limit)

    @classmethod
    def from_checkpoint(cls, game: Any, config: Mapping[str, Any], algorithm: str, memory_limit: int | None) -> Self:
        """A fresh solver with the settings of a checkpoint."""
        return cls(game, cls.config_class(**config), algorithm, memory_limit)

    @classmethod
    def compiled(cls, game: Any, memory_limit: int | None) -> Any:
        """The game of a checkpoint; errors in a user's file are raised as errors of the game."""
        try:
            return open_game(game, cls.form_name, memory_limit=memory_limit)
        except CounterplayError:
            raise
        except Exception as error:
            raise GameError(f"{game} cannot be made: {type(error).__name__}: {error}") from error

    def abstraction(self) -> Abstraction | None:
        """The abstraction in which the solver keeps its tables, if it makes one itself."""
        return None

    def measure(self) -> Measurement:
        """Measure the profile that the solver returns."""
        return measure_strategy(self.tree, self.form, self.strategy())

    def check(self) -> Measurement:
        """What ``run`` does only at the iterations of its schedule, whatever interrupts it: measure, or more."""
        return self.measure()

    def identity(self) -> dict[str, str]:
        """What a checkpoint records about its game."""
        return {"game": self.tree.name, "digest": self.tree.digest, "fingerprint": self.tree.fingerprint}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint from which ``resume`` continues to the same bits."""
        write_container(path, "checkpoint", header_of(self), self.tables())

    @classmethod
    def open_game(cls, game: Any, memory_limit: int | None) -> Any:
        """The game of a resumed run: the one that is given, or that of the checkpoint's header."""
        return cls.compiled(game["game"] if isinstance(game, Mapping) else game, memory_limit)

    @classmethod
    def resume(
        cls, path: str | os.PathLike[str], game: GameLike | None = None, memory_limit: int | None = None
    ) -> Self:
        """Continue from a checkpoint; the game is opened by its name unless it is given.

        Raises
        ------
        StrategyError
            If the checkpoint is damaged or belongs to another game or solver.
        """
        header, tables = read_container(path, "checkpoint")
        check_header(path, header, CheckpointHeader)
        damaged = f"{path} is damaged"
        kind, name, config, algorithm = (header[key] for key in ("solver", "game", "config", "algorithm"))
        if kind != cls.kind:
            raise StrategyError(f"{path} is a checkpoint of the solver {kind!r}, not of {cls.kind!r}")
        opened = cls.open_game(header if game is None else game, memory_limit)
        try:
            solver = cls.from_checkpoint(opened, config, algorithm, memory_limit)
        except (TypeError, AttributeError) as error:  # a setting that the configuration does not have
            raise StrategyError(f"{damaged}: {error}") from None
        try:
            if not solver.fits(header):
                raise OtherGameError(f"{path} is a checkpoint of {unlike(name, solver.name)}")
            solver.fill(tables, header["state"])
            solver.seconds, solver.cpu_seconds = header["seconds"], header["cpu_seconds"]
            solver.curve = [Progress(*point) for point in header["curve"]]
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise StrategyError(f"{damaged}: {type(error).__name__}: {error}") from None
        return solver

    def fits(self, header: Mapping[str, Any]) -> bool:
        """Whether the header of a checkpoint is one of this solver's game."""
        return bool(self.identity()["fingerprint"] == header["fingerprint"])

    def fill(self, tables: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Take over the tables and the state of a checkpoint.  Raises ValueError if a kernel could not trust them."""
        limits = self.limits()
        for key, table in self.tables().items():
            check_like(key, tables[key], table.shape, table.dtype)
            if key in limits:
                check_limits(key, tables[key], *limits[key])
            table[...] = tables[key]
        self.check_tables()
        self.restore(state)

    def limits(self) -> dict[str, tuple[int, int]]:
        """The smallest and largest number of each integer table in which not every number makes sense."""
        return {"clock": COUNTS, "counters": COUNTS}

    def check_tables(self) -> None:  # noqa: B027
        """Refuse tables from a file that contradict each other, by a ValueError; each is within its ``limits``."""

    def run(
        self, until: Until, callback: ProgressCallback | None = None, check_every: int | None = None
    ) -> SolveResult:
        """Advance until a limit is reached; limits count from the solver's first iteration, including resumed runs.

        Parameters
        ----------
        until : Until
            When to stop.
        callback : callable, optional
            Called several times a second with the progress.
        check_every : int, optional
            Measure at multiples of this number instead of the default schedule.
        """
        return self.result(self.advance(until, callback, check_every))

    def advance(self, until: Until, callback: ProgressCallback | None = None, check_every: int | None = None) -> Status:
        """As ``run``, but without the result, which may take long: gives why it stopped."""
        if check_every is not None and (not isinstance(check_every, numbers.Integral) or check_every < 1):
            raise SolverError(f"check_every must be an integer, at least 1; got {check_every!r}")
        if until.exploitability is not None and not self.measures:
            raise SolverError(
                f"exploitability of {self.name} cannot be measured without compiling it; "
                "give iterations or seconds to stop at"
            )
        self.step(0)  # kernels are compiled before the clock starts
        missed = self._missed_check(check_every)
        last = self.check() if missed or self.iterations == 0 else self.measure()
        if self.table_bytes > LARGE:
            release_compiler()
        if missed or self._missed_end(until):
            self.curve.append(self._progress(last.exploitability, self.iterations))
        status: Status = "interrupted"
        clock, cpu_clock = time.perf_counter() - self.seconds, time.process_time() - self.cpu_seconds
        self.deadline = None if until.seconds is None else clock + until.seconds
        steps = PacedSteps(self)
        check = next_check(self.iterations, self.check_ratio, check_every)
        try:
            while True:
                reached = self._reached(until, last)
                if reached is not None:
                    status = reached
                    break
                target = check if until.iterations is None else min(check, until.iterations)
                steps.step(min(steps.pace.iterations, target - self.iterations))
                self.seconds, self.cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu_clock
                if self.iterations == target or self.finished or self._out_of_time(until):
                    last = self.check() if self.iterations == check else self.measure()
                    check = next_check(self.iterations, self.check_ratio, check_every)
                    self.curve.append(self._progress(last.exploitability, self.iterations))
                    self.seconds, self.cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu_clock
                if callback is not None:
                    callback(self._progress(last.exploitability, self._measured, self.progress_detail()))
        except KeyboardInterrupt:
            pass
        finally:
            self.deadline = None
        return status

    def _missed_check(self, check_every: int | None) -> bool:
        """Whether this iteration is on the schedule and was not measured: Ctrl-C came while it was computed."""
        return self._measured < self.iterations == next_check(self.iterations - 1, self.check_ratio, check_every)

    def _missed_end(self, until: Until) -> bool:
        """Whether the run had come to its end, and Ctrl-C came before that was measured."""
        return self._measured < self.iterations and (self.finished or self.iterations == until.iterations)

    @property
    def _measured(self) -> int:
        """The iteration of the last point of the curve."""
        return self.curve[-1].iterations if self.curve else 0

    def _out_of_time(self, until: Until) -> bool:
        return until.seconds is not None and self.seconds >= until.seconds

    def _reached(self, until: Until, last: Measurement) -> Status | None:
        if self.finished:
            return "solved"
        if until.exploitability is not None and last.exploitability <= until.exploitability:
            return "exploitability"
        if until.iterations is not None and self.iterations >= until.iterations:
            return "iterations"
        return "seconds" if self._out_of_time(until) else None

    def _progress(self, exploitability: float, measured_at: int, detail: str = "") -> Progress:
        spent, bounds = (self.seconds, self.cpu_seconds), self.value_bounds or (None, None)
        now = Progress(self.iterations, *spent, exploitability, measured_at, self.nodes, *bounds)
        return dataclasses.replace(now, detail=detail)

    def result(self, status: Status) -> SolveResult:
        """The strategy so far, measured."""
        return SolveResult(
            game=self.name,
            algorithm=self.algorithm,
            status=status,
            profile=self.final_profile(),
            measurement=self.measure(),
            iterations=self.iterations,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            histories=self.histories,
            information_sets=self.information_sets,
            curve=Curve(self.curve),
            details=self.details(),
            nodes=self.nodes,
            abstraction=self.abstraction(),
            form=self.form_name,
            facts=self.facts(),
        )
