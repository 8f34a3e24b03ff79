"""Strategies stitched from parts in Leduc hold'em: what is solved, in which abstraction, and what comes of it.

The setting of Gibson 2014, section 7.3.1.  Ranks of private cards are seen, and which of the remaining cards the board
is.  Three base abstractions: null, JQ-K and J-QK.  Inside the part of an expert nothing is forgotten, by everybody
(*symmetric*) or by one player alone (*asymmetric*).  For each base abstraction there are

* the base strategy: the whole game, in the base abstraction;
* dynamic experts: the whole game, in which nothing is forgotten inside any of the parts;
* grafts: a part solved by one player, whose play outside it is the base, against free opponents;
* static experts: a part solved by all players, all else being the base; with all parts, or with those before the board.

Everything is solved by chance sampling.  Solutions are jobs: those of the whole game first, then those of parts.  With
a folder they are kept, and jobs that were interrupted continue.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction import Abstraction, abstraction_by_name, infoset_labels, label_parts
from counterplay.abstraction.part_games import PartGame
from counterplay.errors import CounterplayError
from counterplay.evaluation.measurement import measure_strategy
from counterplay.experiments.shared.experiment import keeping_rows
from counterplay.forms import GameForms
from counterplay.kernels.history.passes import form_arrays, leaf_values
from counterplay.runs.options import RunOptions
from counterplay.runs.run import Run
from counterplay.runtime.executors import StopFlag
from counterplay.runtime.jobs import JobList
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import Progress
from counterplay.solvers.mccfr import MccfrConfig, MccfrSolver
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.matrices import realisation_plan

Float64 = NDArray[np.float64]

BASES = ("null", "JQ-K", "J-QK")
"""The base abstractions."""

STRATEGIES = ("Base", "Dynamic", "Grafted", "Static.All", "Static.Preflop")
"""What is stitched on each of them."""


class Job(NamedTuple):
    """What is solved."""

    base: str  # the base abstraction
    part: str = ""  # the betting of the expert; empty for the whole game, ``all`` for that with dynamic experts
    graft: int | None = None  # the only player who has an expert; None for all
    finer: int | None = None  # the only player who forgets nothing inside the part; None for all


class Row(NamedTuple):
    """A stitched strategy."""

    base: str
    strategy: str
    symmetric: bool = True


@dataclasses.dataclass(frozen=True)
class Setting:
    """Leduc hold'em for some players, and how long each part is solved.

    Attributes
    ----------
    players : int
        Number of players.
    iterations : int
        Of chance sampling, in each run.
    seed : int
        That of the first job; the others have the next ones.
    """

    players: int = 2
    iterations: int = 1_000_000
    seed: int = 0

    @property
    def game(self) -> str:
        """The name of the game."""
        return (
            "leduc(physical_board=true)" if self.players == 2 else f"leduc(players={self.players},physical_board=true)"
        )

    @property
    def preflop(self) -> tuple[str, ...]:
        """The experts before the board: a player bets first."""
        return tuple("k" * checks + "b" for checks in range(self.players))

    @property
    def parts(self) -> tuple[str, ...]:
        """All experts: also those after everybody has checked."""
        return (*self.preflop, *("k" * self.players + "/" + first for first in self.preflop))

    def rows(self) -> list[Row]:
        """The rows of the published table."""
        null = [Row("null", strategy) for strategy in STRATEGIES if strategy != "Dynamic"]
        stitched = [Row("", strategy, symmetric) for symmetric in (True, False) for strategy in STRATEGIES[1:]]
        return [*null, *(row._replace(base=base) for base in BASES[1:] for row in (Row("", "Base"), *stitched))]

    def jobs_of(self, row: Row, player: int) -> list[Job]:
        """What a row takes from, for one player: the strategy of the whole game, then that of each part."""
        finer = None if row.symmetric else player
        if row.strategy in ("Base", "Dynamic"):
            return [Job(row.base, "all" if row.strategy == "Dynamic" else "", None, finer)]
        parts = self.preflop if row.strategy == "Static.Preflop" else self.parts
        graft = player if row.strategy == "Grafted" else None
        return [Job(row.base), *(Job(row.base, part, graft, finer) for part in parts)]

    def jobs(self, rows: Sequence[Row]) -> tuple[list[Job], list[Job]]:
        """The solutions of the whole game that some rows need, and those of parts."""
        every = dict.fromkeys(itertools.chain.from_iterable(
            self.jobs_of(row, player) for row in rows for player in range(self.players)
        ))  # fmt: skip
        whole = [job for job in every if job.part in ("", "all")]
        return whole, [job for job in every if job.part not in ("", "all")]


@functools.lru_cache(maxsize=2)
def open_leduc(players: int) -> GameForms:
    """The game, compiled."""
    forms = GameForms(Setting(players).game)
    forms.history()
    return forms


def abstraction_of(setting: Setting, job: Job) -> Abstraction | None:
    """What players forget in a job; None if nothing."""
    if job.base == "null":
        return None
    forms, what = open_leduc(setting.players), f"ranks={job.base}"
    if job.part:
        part = ",".join(setting.parts) if job.part == "all" else job.part
        what += f",outside={part}" + ("" if job.finer is None else f"@{job.finer + 1}")
    return abstraction_by_name(forms.game, forms.real, what)


class Solvable(NamedTuple):
    """The game of a job, and the way back."""

    tree: GameTree
    abstraction: Abstraction | None
    part: PartGame | None

    def lifted(self, table: Float64) -> Float64:
        """A strategy of the job's game as one of the whole game."""
        found = table if self.abstraction is None else self.abstraction.lift_strategy(table)
        return found if self.part is None else self.part.lift(found)


def game_of(setting: Setting, job: Job, base: Float64 | None) -> Solvable:
    """The game of a job; ``base`` (E,) is what is played outside a part."""
    whole, abstraction = open_leduc(setting.players).real, abstraction_of(setting, job)
    if job.part in ("", "all"):
        return Solvable(whole if abstraction is None else abstraction.apply(whole), abstraction, None)
    assert base is not None
    part = PartGame.of(whole, job.part + ("" if job.graft is None else f"@{job.graft + 1}"), base)
    if abstraction is None:
        return Solvable(part.tree, None, part)
    abstraction = part.restrict(abstraction)
    return Solvable(abstraction.apply(part.tree), abstraction, part)


@functools.cache
def _coarse_sets(players: int, base: str) -> NDArray[np.int32]:
    """(I,) the set of each information set in a base abstraction."""
    found = abstraction_of(Setting(players), Job(base))
    return np.arange(open_leduc(players).real.num_infosets, dtype=np.int32) if found is None else found.infoset_map


@functools.cache
def _expert_parts(players: int) -> NDArray[np.int32]:
    """(I,) the number of the part of each information set among all parts, from 1; 0 outside them."""
    tree = open_leduc(players).real
    return infoset_labels(tree, label_parts(tree, Setting(players).parts))


def job_size(setting: Setting, job: Job) -> int:
    """The information sets of a job's run, counted without making its game."""
    owner, parts = open_leduc(setting.players).real.infoset_player, _expert_parts(setting.players)
    inside = np.zeros(len(parts), bool) if not job.part else parts > 0
    if job.part not in ("", "all"):
        inside = parts == setting.parts.index(job.part) + 1
    free = np.ones(len(parts), bool)
    if job.part not in ("", "all"):
        free = inside | (np.zeros(len(parts), bool) if job.graft is None else owner != job.graft)
    fine = inside if job.finer is None else inside & (owner == job.finer)
    return int((free & fine).sum()) + len(np.unique(_coarse_sets(setting.players, job.base)[free & ~fine]))


def row_size(setting: Setting, row: Row) -> int:
    """The most information sets of a run that a row needs."""
    return max(job_size(setting, job) for job in set(itertools.chain(*setting.jobs([row]))))


def solve_jobs(setting: Setting, rows: Sequence[Row], folder: Path, workers: int) -> dict[Job, Float64]:
    """Solve what some rows need, until Ctrl-C at most: the strategies (E,) that are finished.

    ``workers`` jobs are solved at a time, each in a thread of its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    whole, parts = setting.jobs(rows)
    found: dict[Job, Float64] = {}
    with keeping_rows():
        _stage(setting, "whole", whole, folder, workers, found)
        _stage(setting, "parts", parts, folder, workers, found)
    return found


def _stage(
    setting: Setting, stage: str, jobs: list[Job], folder: Path, workers: int, found: dict[Job, Float64]
) -> None:
    """Solve some jobs, add what is finished to ``found``, and remove their checkpoints once it is recorded."""
    entries = open_leduc(setting.players).real.num_entries
    path = folder / f"{stage}.jobs"
    header = {"what": f"stitched Leduc, {stage}", "setting": repr(setting), "jobs": repr([tuple(job) for job in jobs])}
    try:
        kept = JobList(header, len(jobs), (entries,), path, path if path.exists() else None)
    except CounterplayError as error:
        raise CounterplayError(f"{path} is of other rows or settings; name another folder ({error})") from None
    stopped = StopFlag()
    kept.abandon = stopped.set
    bases = {job.base: table for job, table in found.items() if not job.part}
    work = functools.partial(_work, setting, jobs, bases, folder / stage, stopped)
    try:
        kept.run_on(workers, work, threads=workers > 1)
    finally:
        for number, job in enumerate(jobs):
            if kept.done[number]:
                found[job] = kept.found[number]
                with contextlib.suppress(FileNotFoundError):
                    (folder / f"{stage}-{number}.checkpoint").unlink()


def _work(
    setting: Setting, jobs: list[Job], bases: dict[str, Float64], stage: Path, stopped: StopFlag, number: int
) -> Float64:
    """Do the job of a stage with this number."""
    job, checkpoint = jobs[number], stage.with_name(f"{stage.name}-{number}.checkpoint")
    return solve_job(setting, job, bases.get(job.base), checkpoint, number, stopped)


def solve_job(
    setting: Setting, job: Job, base: Float64 | None, checkpoint: Path, number: int, stopped: StopFlag
) -> Float64:
    """The strategy of a job as one of the whole game; one that was interrupted continues from its checkpoint."""
    opened = game_of(setting, job, base)
    if checkpoint.exists():
        solver = MccfrSolver.resume(checkpoint, opened.tree)
    else:
        solver = MccfrSolver(opened.tree, MccfrConfig("chance", seed=setting.seed + number), "chance-sampling")
    goal = Until(setting.iterations)
    run = Run(solver, goal, RunOptions(checkpoint=checkpoint), GameForms(opened.tree))

    def watch(now: Progress) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt

    status = solver.advance(goal, run.watched(watch))
    run.keep(checkpoint)
    if status == "interrupted":
        raise KeyboardInterrupt
    return opened.lifted(solver.strategy())


def stitch_row(setting: Setting, row: Row, found: dict[Job, Float64]) -> Float64 | None:
    """The strategy (E,) of a row, for all players; None if a job of it is not finished."""
    tree = open_leduc(setting.players).real
    entries = np.diff(tree.infoset_offset)
    table = np.zeros(tree.num_entries)
    for player in range(setting.players):
        whole, *parts = setting.jobs_of(row, player)
        if not all(job in found for job in (whole, *parts)):
            return None
        own = np.repeat(tree.infoset_player == player, entries)
        table[own] = found[whole][own]
        if parts:
            labels = np.repeat(infoset_labels(tree, label_parts(tree, [job.part for job in parts])), entries)
            for number, job in enumerate(parts, 1):
                inside = own & (labels == number)
                table[inside] = found[job][inside]
    return table


def exploitability_of(tree: GameTree, table: Float64) -> float:
    """The mean over players of what a best response gains, exactly."""
    return measure_strategy(tree, form_arrays(tree.sequences), table).exploitability


def earnings(tree: GameTree, rows: Sequence[Row], tables: Sequence[Float64]) -> list[float]:
    """What each strategy wins, in the mean over seats, from all strategies with other base abstractions, exactly.

    Opponents are drawn independently, one for each other seat, so that with three players both can play the same; what
    they win together is linear in the mean of their realisation plans.
    """
    form, players = form_arrays(tree.sequences), tree.players
    plans = [realisation_plan(tree, table) for table in tables]
    found = []
    for row, plan in zip(rows, plans, strict=True):
        others = [other for at, other in zip(rows, plans, strict=True) if at.base != row.base]
        if not others:
            found.append(float("nan"))
            continue
        reach, won, value = np.mean(others, axis=0), 0.0, np.zeros(len(plan))
        for player in range(players):
            leaf_values(form, player, reach, value)
            own = slice(int(form.sequence_start[player]), int(form.sequence_start[player + 1]))
            won += float(plan[own] @ value[own]) * form.unit / players
        found.append(won)
    return found
