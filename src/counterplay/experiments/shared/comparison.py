"""Algorithms side by side: the same budget, several seeds, means with 95 % intervals.

Each run is measured on a logarithmic grid of its budget (iterations, histories touched or seconds).  Only the steps of
a solver count as its time, measuring does not, so algorithms with cheap iterations are not charged for measurements.
Intervals are Student's t over the seeds, as in Gibson et al. 2012, section 5.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.evaluation import exploitability
from counterplay.evaluation.bucket_pairs import BucketPairs, count_bucket_pairs, measure_buckets
from counterplay.evaluation.lifted_buckets import RealGame
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.intervals import interval
from counterplay.runtime.pacing import PacedSteps
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.solvers import ALGORITHMS, Solver, find_algorithm
from counterplay.solvers.bucket_tables import BucketTables
from counterplay.solvers.registry import solver_with
from counterplay.solvers.settings import setting_value
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

Axis: TypeAlias = Literal["iterations", "nodes", "seconds", "cpu_seconds"]
AXES: tuple[Literal["iterations", "nodes", "seconds"], ...] = ("iterations", "nodes", "seconds")

Entrants: TypeAlias = Mapping[str, tuple[str, Mapping[str, Any]]]
"""A name for each entrant of a race, with its algorithm and settings."""

POINTS_PER_DECADE = 8
"""Measurements of exploitability per decade of the budget."""


@dataclasses.dataclass(frozen=True)
class Budget:
    """What each run may spend: exactly one of the three; and how often it is measured."""

    iterations: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    points: int = POINTS_PER_DECADE

    def __post_init__(self) -> None:
        given = [name for name in AXES if getattr(self, name) is not None]
        if len(given) != 1:
            raise SolverError(f"give one budget: iterations, nodes or seconds; got {', '.join(given) or 'none'}")
        limit = getattr(self, given[0])
        whole = given[0] != "seconds"
        fits = isinstance(limit, numbers.Integral if whole else numbers.Real) and not isinstance(limit, bool)
        if not fits or not 0 < limit < math.inf:
            raise SolverError(f"{given[0]} must be a positive {'integer' if whole else 'number'}; got {limit!r}")
        if not isinstance(self.points, numbers.Integral) or isinstance(self.points, bool) or self.points < 1:
            raise SolverError(f"points per decade must be an integer, at least 1; got {self.points!r}")

    @property
    def axis(self) -> Literal["iterations", "nodes", "seconds"]:
        """What is limited."""
        return next(name for name in AXES if getattr(self, name) is not None)

    @property
    def limit(self) -> float:
        """How much of it."""
        return float(getattr(self, self.axis))


@dataclasses.dataclass(frozen=True)
class Run:
    """One run: the algorithm, the seed (None for an algorithm that makes no random choices), its curve."""

    algorithm: str
    seed: int | None
    curve: tuple[Progress, ...]


@dataclasses.dataclass(frozen=True)
class Band:
    """A mean curve with its 95 % interval over the seeds."""

    x: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Several algorithms on one game.

    Attributes
    ----------
    game : str
        The game.
    budget : Budget
        What each run could spend.
    runs : tuple of Run
        All runs, those of one algorithm together.
    uniform : float
        Exploitability of uniform play, for reference.
    measured : str
        In what game exploitability was measured, if it is one in buckets.
    interrupted : bool
        Whether Ctrl-C stopped it before all runs were finished.
    """

    game: str
    budget: Budget
    runs: tuple[Run, ...]
    uniform: float
    measured: str = ""
    interrupted: bool = False

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms, in the order in which they were given."""
        return tuple(dict.fromkeys(run.algorithm for run in self.runs))

    def of(self, algorithm: str) -> list[Run]:
        """The runs of one algorithm."""
        return [run for run in self.runs if run.algorithm == algorithm]

    def final(self, algorithm: str) -> tuple[float, float]:
        """Mean of the final exploitability, and half the width of its 95 % interval (NaN for a single run)."""
        return interval([run.curve[-1].exploitability for run in self.of(algorithm)])

    def at(self, algorithm: str, nodes: float) -> tuple[float, float]:
        """The same at the first measurement after a number of histories."""
        curves = [run.curve for run in self.of(algorithm)]
        points = [next((point for point in curve if point.nodes >= nodes), curve[-1]) for curve in curves]
        return interval([point.exploitability for point in points])

    def at_equal(self, algorithm: str, axis: Axis) -> tuple[float, float]:
        """The same where the fastest run of all has spent its budget, measured along another axis."""
        end = min(float(getattr(run.curve[-1], axis)) for run in self.runs)
        return interval([read_off(run.curve, axis, end) for run in self.of(algorithm)])

    def curves(self) -> dict[str, tuple[list[float], list[float]]]:
        """The mean curves over histories touched, for the plot."""
        bands = {algorithm: self.band(algorithm, "nodes") for algorithm in self.algorithms}
        return {algorithm: (list(band.x), list(band.mean)) for algorithm, band in bands.items()}

    def band(self, algorithm: str, axis: Axis) -> Band:
        """The curve of an algorithm over one axis."""
        curves = [run.curve for run in self.of(algorithm)]
        grid = _common_grid(curves, axis)
        rows = np.array([_interpolate(curve, axis, grid) for curve in curves])
        pairs = [interval(rows[:, column].tolist()) for column in range(len(grid))]
        means = tuple(mean for mean, _ in pairs)
        widths = [0.0 if math.isnan(half) else half for _, half in pairs]
        low, high = (
            tuple(mean + side * half for mean, half in zip(means, widths, strict=True)) for side in (-1.0, 1.0)
        )
        return Band(tuple(grid.tolist()), means, low, high)

    def rows(self) -> list[dict[str, Any]]:
        """One line for each algorithm: final exploitability and means of what was spent."""
        lines = []
        for algorithm in self.algorithms:
            runs = self.of(algorithm)
            ends = [run.curve[-1] for run in runs]
            mean, half = self.final(algorithm)
            lines.append({
                "algorithm": algorithm,
                "runs": len(runs),
                "exploitability": mean,
                "interval": None if math.isnan(half) else half,
                **{name: float(np.mean([getattr(end, name) for end in ends])) for name in (*AXES, "cpu_seconds")},
            })  # fmt: skip
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The comparison for JSON."""
        return {
            "game": self.game,
            "budget": {self.budget.axis: getattr(self.budget, self.budget.axis)},
            "uniform_exploitability": self.uniform,
            **({"measured": self.measured} if self.measured else {}),
            "interrupted": self.interrupted,
            "algorithms": self.rows(),
            "runs": [
                {
                    "algorithm": run.algorithm,
                    "seed": run.seed,
                    **{name: [getattr(point, name) for point in run.curve]
                       for name in (*AXES, "cpu_seconds", "exploitability")},
                }
                for run in self.runs
            ],
        }  # fmt: skip


def parse_algorithms(text: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Algorithms with settings from text such as ``cfr+,average-strategy-sampling(beta=1000,tau=100)``.

    Returns the name and the settings of each, by its text.
    """
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for part in _split_outside(text):
        label = part.strip()
        match = re.fullmatch(r"([^()\s]+)(?:\((.*)\))?", label)
        if match is None:
            raise SolverError(f"algorithms are written like cfr+,probing(probes=2); got {label!r}")
        name, inside = match.groups()
        name = find_algorithm(name)
        if label in found:
            raise SolverError(f"{label} is named twice; change a setting, or name it once")
        settings = {}
        for setting in (inside or "").split(","):
            key, equals, value = setting.partition("=")
            if equals:
                settings[key.strip()] = setting_value(value.strip())
            elif setting.strip():
                raise SolverError(f"settings are written NAME=VALUE; got {setting.strip()!r} in {label!r}")
        found[label] = (name, settings)
    return found


def _split_outside(text: str) -> list[str]:
    """The parts of a text between commas that are not in brackets."""
    parts: list[list[str]] = [[]]
    inside = False
    for piece in re.split(r"([,()])", text):
        if piece == "," and not inside:
            parts.append([])
        else:
            inside = piece == "(" or (inside and piece != ")")
            parts[-1].append(piece)
    return ["".join(part) for part in parts]


def compare(
    game: GameTree | BucketGame | Game | str, algorithms: str | Sequence[str], budget: Budget,
    seeds: int | Sequence[int] = 5, *, measured_by: BucketPairs | RealGame | None = None,
    memory_limit: int | None = None, callback: ProgressCallback | None = None,
) -> Comparison:  # fmt: skip
    """Run algorithms on a game, each with several seeds; Ctrl-C stops, and the finished runs are returned.

    Parameters
    ----------
    game : GameTree, BucketGame, Game or str
        The game.
    algorithms : str or sequence of str
        Names, each with optional settings in brackets.
    budget : Budget
        What each run may spend.
    seeds : int or sequence of int
        How many (then 0, 1, ...), or which.  Algorithms without random choices run once.
    measured_by : BucketPairs or RealGame, optional
        What measures a bucket game: its bucket pairs, by default those of all boards, or the real game.
    memory_limit : int, optional
        Bytes that may be used.
    callback : callable, optional
        Called at every point that was measured; the stage is the algorithm, the detail its seed.
    """
    chosen = parse_algorithms(algorithms if isinstance(algorithms, str) else ",".join(algorithms))
    marks = _seeds(seeds)
    tree = game if isinstance(game, BucketGame) else open_game(game, "history", memory_limit=memory_limit)
    if isinstance(tree, BucketGame) and measured_by is None:
        measured_by = count_bucket_pairs(tree)
    for label, (name, settings) in chosen.items():
        solver = solver_with(settings, tree, name, memory_limit)  # reports a wrong setting before the first run
        if solver.real_game and not isinstance(measured_by, RealGame):
            raise SolverError(f"{label} measures itself in the real game; measure all algorithms there (--real)")
    return race(
        tree, chosen, budget, marks, measured_by=measured_by, memory_limit=memory_limit, callback=callback, kept=True
    )


def race(
    game: GameTree | BucketGame, entrants: Entrants, budget: Budget, seeds: Sequence[int], *,
    measured_by: BucketPairs | RealGame | None = None, memory_limit: int | None = None,
    callback: ProgressCallback | None = None, kept: bool = False,
) -> Comparison:  # fmt: skip
    """The same for an opened game and algorithms with names of their own; nothing else measures a bucket game.

    ``kept``: after Ctrl-C the runs that are finished are returned.
    """
    runs, finished = [], False
    try:
        for label, (name, settings) in entrants.items():
            seeded = ALGORITHMS[name].seeded and "seed" not in settings
            for seed in seeds if seeded else [None]:
                own = settings if seed is None else {**settings, "seed": seed}
                solver = solver_with(own, game, name, memory_limit)
                if isinstance(solver, BucketTables) and isinstance(measured_by, BucketPairs):
                    solver.pairs = measured_by
                real = measured_by if isinstance(measured_by, RealGame) else None
                curve = tuple(run_solver(solver, budget, _named(callback, label, seed), real))
                runs.append(Run(label, seed, curve))
        finished = True
    except KeyboardInterrupt:
        if not kept or not runs:
            raise
    if isinstance(game, GameTree):
        uniform = exploitability(TabularStrategy.uniform(game), game)
    elif isinstance(measured_by, RealGame):
        uniform = measured_by.measure(np.ones(game.num_entries), valued=False).exploitability
    else:
        uniform = math.nan if measured_by is None else measure_buckets(game, measured_by).exploitability
    return Comparison(game.name, budget, tuple(runs), uniform, _where(measured_by), not finished)


def _where(measured_by: BucketPairs | RealGame | None) -> str:
    """In what game a bucket game is measured, in words."""
    if isinstance(measured_by, RealGame):
        return "in the real game"
    if measured_by is None:
        return ""
    return f"in the bucket game, over {'all' if measured_by.exact else 'sampled'} {measured_by.boards:,} boards"


def _seeds(seeds: int | Sequence[int]) -> list[int]:
    """The seeds: the first n, or those given."""
    if isinstance(seeds, numbers.Integral) and not isinstance(seeds, bool):
        marks = list(range(int(seeds)))
    elif isinstance(seeds, Sequence | np.ndarray) and not isinstance(seeds, str):
        marks = [mark.item() if isinstance(mark, np.generic) else mark for mark in seeds]
    else:
        raise SolverError(f"seeds must be a number of seeds or a list of them; got {seeds!r}")
    if not marks:
        raise SolverError(f"seeds must be at least 1; got {seeds!r}")
    if len(set(marks)) < len(marks):
        raise SolverError(f"seeds must differ, or the intervals are too narrow; got {marks}")
    return marks


def _named(callback: ProgressCallback | None, label: str, seed: int | None) -> ProgressCallback | None:
    """Progress that says whose it is."""
    detail = "" if seed is None else f"seed {seed}"
    return callback and (lambda now: callback(dataclasses.replace(now, stage=label, detail=detail)))


def run_solver(
    solver: Solver, budget: Budget, callback: ProgressCallback | None = None, real: RealGame | None = None
) -> list[Progress]:
    """Run a solver through a budget and measure it at the points of the grid, in buckets by ``real`` if that is given.

    Budgets of iterations and of nodes give the same curve every time (except for its seconds): the points depend on
    counts alone.
    """
    solver.step(0)  # kernels are compiled before the clock starts
    curve: list[Progress] = []
    steps = PacedSteps(solver)
    for target in _targets(budget):
        steps.advance(budget.axis, target)
        if real is not None and isinstance(solver, BucketTables):
            measured = real.measure(solver.strategy(), valued=False).exploitability
        else:
            measured = solver.check().exploitability
        done = solver.iterations
        point = Progress(done, solver.seconds, solver.cpu_seconds, measured, done, solver.nodes)
        if not curve or point.iterations > curve[-1].iterations:
            curve.append(point)
            if callback is not None:
                callback(point)
        if solver.finished:
            break
    return curve


def _targets(budget: Budget) -> list[float]:
    """A logarithmic grid that ends at the limit."""
    start = budget.limit
    low = {"iterations": 1.0, "nodes": max(1.0, start / 1e4), "seconds": start / 1e3}[budget.axis]
    steps = int(budget.points * math.log10(start / low))
    grid = [start / 10 ** (step / budget.points) for step in range(steps, -1, -1)]
    return grid if budget.axis == "seconds" else sorted({float(round(point)) for point in grid})


def _common_grid(curves: Sequence[Sequence[Progress]], axis: Axis) -> NDArray[np.float64]:
    """The points of the first curve that lie in the span of all of them."""
    low = max(getattr(curve[0], axis) for curve in curves)
    high = min(getattr(curve[-1], axis) for curve in curves)
    inside = [x for x in (getattr(point, axis) for point in curves[0]) if low < x < high]
    return np.array(sorted({float(low), *inside, float(max(low, high))}))


def read_off(curve: Sequence[Progress], axis: Axis, x: float) -> float:
    """Exploitability at a place between the points of a curve."""
    return float(_interpolate(curve, axis, np.array([x]))[0])


def _interpolate(curve: Sequence[Progress], axis: Axis, grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """A curve interpolated between its points, on logarithmic scales where nothing is 0."""
    x = np.array([float(getattr(point, axis)) for point in curve])
    y = np.array([point.exploitability for point in curve])
    if x.min() <= 0.0 or y.min() <= 0.0 or grid.min() <= 0.0:
        return np.asarray(np.interp(grid, x, y), dtype=np.float64)
    return np.asarray(np.exp(np.interp(np.log(grid), np.log(x), np.log(y))), dtype=np.float64)
