"""From the rules of a poker game to an agent: abstraction, solving, evaluation (Johanson 2016, section 1.2).

Everything goes into one folder:

    build.json        the plan, and what every finished stage found
    cards.cpa         the card abstraction
    pairs.counts      how often each pair of buckets occurs, to measure exploitability in the bucket game
    solve.checkpoint  the run of the solver
    agent.strategy    the strategy: what agents and matches play
    report.json       all numbers;  report.md is the same as text

A finished stage is recorded in ``build.json`` and not repeated.  The solver writes checkpoints; card features have a
cache.  So a build that was killed resumes with the stage that it was in.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections.abc import Mapping
from typing import Any, ClassVar

from counterplay.abstraction.cards import build_cards, deck_shape, parse_recipe
from counterplay.abstraction.cards.card_abstraction import KIND as CARD_KIND
from counterplay.abstraction.cards.card_abstraction import CardAbstraction
from counterplay.agents.matches import match
from counterplay.build.build_folder import MATCH, BuildFolder
from counterplay.build.presets import MOST_BUCKETS, OPPONENTS, Plan
from counterplay.errors import GameError
from counterplay.evaluation import evaluate
from counterplay.evaluation.bucket_pairs import KIND as PAIRS_KIND
from counterplay.evaluation.bucket_pairs import BucketPairs, count_bucket_pairs, measure_buckets
from counterplay.evaluation.measurement import Measurement
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runs import RunOptions, Target, prepare
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.signals import uninterrupted
from counterplay.solvers import resume_solver
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.solver import Solver
from counterplay.storage import lock_folder
from counterplay.strategy.bucket_strategy import KIND as PROFILE_KIND
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy
from counterplay.strategy.trivial import TRIVIAL, CardFree

CARDS, PAIRS, CHECKPOINT, AGENT = "cards.cpa", "pairs.counts", "solve.checkpoint", "agent.strategy"

BOARD_COST = 50
"""Boards counted per board used for bounds on exploitability, which takes about as long."""
FEWEST_BOARDS = 10

FEW_HISTORIES = 50_000
"""Real games of at most so many histories are measured on those."""

CHECKPOINT_SECONDS = 60.0
SHARES = tuple(2.0**-power for power in range(6, -1, -1))
"""When the strategy is measured: fractions of the time or of the iterations."""


class Pipeline(BuildFolder):
    """A build in a folder.

    Parameters
    ----------
    plan, folder : Plan, path
        What to build, and where; the folder is created if missing.  An interrupted build of the same plan is resumed;
        if it holds another build, or something else, a GameError is raised.
    cache : path, optional
        Where features of cards are cached; None keeps them in memory only.
    memory_limit : int, optional
        Bytes that may be used; by default the free memory of the machine.
    progress : callable, optional
        Called with the progress of each stage, and the total seconds left if known.
    """

    TITLES: ClassVar[Mapping[str, str]] = {
        "cards": "card abstraction",
        "pairs": "bucket pair counts",
        "solve": "solving the bucket game",
        **{MATCH + name: f"match against {name}" for name in OPPONENTS},
        "real": "exploitability in the real game",
    }
    """The stages in order, with their titles."""

    MADE: ClassVar[Mapping[str, tuple[str, str]]] = {"cards": (CARDS, CARD_KIND), "solve": (AGENT, PROFILE_KIND)}
    """What stages leave in the folder: files and their kinds."""

    RUNS: ClassVar[Mapping[str, str]] = {"solve": CHECKPOINT}
    """The checkpoints of stages that solve."""

    def __init__(
        self,
        plan: Plan,
        folder: str | os.PathLike[str],
        cache: str | os.PathLike[str] | None = None,
        memory_limit: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.cache = cache
        self.memory_limit = memory_limit
        self.progress = progress
        super().__init__(plan, folder)

    def _work(self, stage: str) -> dict[str, Any]:
        """Run a stage and return its results."""
        if stage.startswith(MATCH):
            return self._match(stage.removeprefix(MATCH))
        work = {"cards": self._cards, "pairs": self._pairs, "solve": self._solve, "real": self._real}
        return work[stage]()

    def run(self) -> dict[str, Any]:
        """Run the remaining stages and return the report; Ctrl-C keeps the finished ones."""
        with lock_folder(self.folder, "building"):
            return self._run()

    def _run(self) -> dict[str, Any]:
        for name in self.done:
            self._check(name)
        titles = self.titles()
        last = [name for name in titles if name.startswith(MATCH)][-1]
        while left := [name for name in titles if name not in self.done]:
            name, title = left[0], titles[left[0]]
            self._started = time.perf_counter()
            self._report(title, Progress(0, total=1))
            spent = self._clock(name)
            found = self._work(name)
            self.done[name] = {**found, **spent()}
            self.state["parts"].pop(name, None)
            if name == last and self.losses() and self._extensions() < self.plan.extensions:
                self._extend()
            self._save()
            self._report(title, Progress(1, total=1))
        return self.report()

    def losses(self) -> list[str]:
        """The opponents that the agent lost to in a match, beyond its confidence interval."""
        rows = {name: self.done[MATCH + name] for name in self.opponents if MATCH + name in self.done}
        return [name for name, row in rows.items() if row["mbb"] + (row["mbb_95"] or 0.0) < 0]

    def _extensions(self) -> int:
        """How often the budget of the solver was doubled."""
        return len(self.done["solve"]["goals"]) - len(self._shares())

    def _extend(self) -> None:
        """Solve for twice as long, and play the matches again."""
        because = f"it lost to {' and '.join(self.losses())}: solving twice as long"
        self._report(self.TITLES["solve"], Progress(0, total=1), because)
        solve = self.done.pop("solve")
        part = {key: solve[key] for key in ("goals", "curve", "seconds", "cpu_seconds")}
        self.state["parts"]["solve"] = {**part, "goals": [*part["goals"], 2 * part["goals"][-1]]}
        for name in self.opponents:
            del self.done[MATCH + name]

    def _file_of(self, name: str) -> tuple[str, str] | None:
        """As ``BuildFolder._file_of``; bucket pair counts are there if they were counted."""
        return (PAIRS, PAIRS_KIND) if name == "pairs" and self.done[name]["counted"] else super()._file_of(name)

    def report(self) -> dict[str, Any]:
        """All numbers so far."""
        done, big_blind = self.done, self.big_blind
        curve = done.get("solve", {}).get("curve", [])
        last = curve[-1] if curve and curve[-1]["exploitability"] is not None else None
        return {
            **self.common_report(),
            "abstraction_information_sets": done.get("cards", {}).get("information_sets"),
            "algorithm": self.plan.algorithm,
            "iterations": done.get("solve", {}).get("iterations"),
            "abstract": None if last is None else {
                "exploitability": last["exploitability"],
                "exploitability_mbb": 1000 * last["exploitability"] / big_blind,
                "boards": done["pairs"]["boards"],
                "exact": done["pairs"]["exact"],
            },
            "abstract_reason": None if last is not None else done.get("pairs", {}).get("reason"),
            **{key: done.get("real", {}).get(key) for key in ("value", "exploitability", "exploitability_mbb")},
            "reason": done.get("real", {}).get("reason"),
            "bounds": done.get("real", {}).get("bounds"),
            "curve": curve,
        }  # fmt: skip

    def common_report(self) -> dict[str, Any]:
        """What the reports of all builds have."""
        done, plan = self.done, self.plan
        return {
            **{key: getattr(plan, key) for key in ("game", "preset", "objective", "rounds", "bets")},
            "matches": {name: done[MATCH + name] for name in self.opponents if MATCH + name in done},
            "losses": self.losses(),
            "stages": {name: {key: row[key] for key in ("seconds", "cpu_seconds")} for name, row in done.items()},
            "seconds": sum(row["seconds"] for row in done.values()),
            "cpu_seconds": sum(row["cpu_seconds"] for row in done.values()),
            "agent": self._agent(),
            "plan": dataclasses.asdict(plan),
        }

    # ------------------------------------------------------------------------------------------ stages

    def _cards(self) -> dict[str, Any]:
        self._build_cards(self.plan.rounds, CARDS)
        made = CardAbstraction.load(self.folder / CARDS, verify=False)
        return {"buckets": list(made.counts()), "recall": made.recall, "information_sets": self.game.num_infosets}

    def _build_cards(self, rounds: str, file: str) -> None:
        def report(now: Progress) -> None:
            self._report(self.titles()["cards"], now, now.stage)

        if os.path.isfile(self.folder / file):
            return  # of a stage that was interrupted; files are written as a whole
        deck, shape = deck_shape(self.definition)
        recipe = parse_recipe(rounds, deck, shape)
        build_cards(deck, shape, recipe, None, self.cache, self.plan.threads, report, self.memory_limit).save(
            self.folder / file
        )

    def _pairs(self) -> dict[str, Any]:
        """Count how often each pair of buckets occurs, if the bucket game can be measured."""
        reason = None
        if self.definition.players != 2:
            reason = f"best responses over buckets are for two players; {self.plan.game} has {self.definition.players}"
        elif self.done["cards"]["recall"] != "perfect":
            reason = "best responses over buckets need perfect recall"
        elif self._lossless():
            return {"reason": None, "boards": None, "exact": True, "counted": False}
        elif self.done["cards"]["buckets"][-1] > MOST_BUCKETS:
            reason = f"the last round has more than {MOST_BUCKETS} buckets"
        if reason is not None:
            return {"reason": reason, "boards": None, "exact": None, "counted": False}

        pairs = self._count(None)
        pairs.save(self.folder / PAIRS, self.game)
        return {"reason": None, "boards": pairs.boards, "exact": pairs.exact, "counted": True}

    def _lossless(self) -> bool:
        """Whether the bucket game is the real game, and has too many hands for matrices of buckets."""
        whole = self.plan.bets is None and all(entry.family == "lossless" for entry in self.plan.recipe().rounds)
        return whole and self.done["cards"]["buckets"][-1] > MOST_BUCKETS

    def _count(self, boards: int | None) -> BucketPairs:
        """Over all boards if there are not too many."""
        try:
            return count_bucket_pairs(self.game, boards, self.plan.seed, self._boards_of("pairs"), self.plan.threads)
        except GameError:
            if boards is not None:
                raise
            return self._count(self.plan.boards)

    def _solve(self) -> dict[str, Any]:
        plan, part = self.plan, self._part("solve")
        solver = self._solver()
        pairs = BucketPairs.load(self.folder / PAIRS, self.game) if self.done["pairs"]["counted"] else None
        if "goals" not in part:
            budget = plan.iterations if plan.seconds is None else self._seconds_left()
            assert budget is not None
            part["goals"] = [budget * share for share in self._shares()]
            part["curve"] = []
            self._save()
        curve: list[dict[str, Any]] = part["curve"]
        spent = self._clock("solve")
        for goal in part["goals"][len(curve) :]:
            self._advance("solve", solver, goal, part["goals"][-1])
            found = self._exploitability(solver, pairs)
            done = {name: getattr(solver, name) for name in ("iterations", "seconds", "cpu_seconds")}
            curve.append({**done, "exploitability": found})
            solver.save(self.folder / CHECKPOINT)
            part |= spent()
            self._save()
        solver.profile(unmet=self._unmet()).save(self.folder / self.made()["solve"][0])
        return {"iterations": solver.iterations, "nodes": solver.nodes, "curve": curve, "goals": part["goals"]}

    def _advance(self, stage: str, solver: Solver, goal: float, budget: float | None = None) -> None:
        """Run a solver up to a time or a number of iterations; Ctrl-C leaves the checkpoint of the stage."""
        if solver.advance(_until(self.plan, goal), self._watch(stage, solver, budget or goal)) == "interrupted":
            with uninterrupted():
                solver.save(self.folder / self._checkpoint(stage))
            raise KeyboardInterrupt

    def _unmet(self) -> CardFree | None:
        """What plays where a run has never been: with more than two players calls.

        There most betting is never met, and uniform play would fold every third hand of the largest pots.
        """
        return TRIVIAL["always-call"] if self.definition.players > 2 else None

    def _shares(self) -> tuple[float, ...]:
        """When the solver stops to be measured."""
        return SHARES[-1:] if self.done["pairs"]["reason"] else SHARES  # nothing to measure during the run

    def _exploitability(self, solver: BucketSolver, pairs: BucketPairs | None) -> float | None:
        """Of the strategy so far, inside the bucket game; None if it is not measured."""
        if pairs is not None:
            return measure_buckets(self.game, pairs, solver.strategy()).exploitability
        if self.done["pairs"]["reason"]:
            return None
        try:
            return self._in_the_real_game(solver.profile(storage="float64")).exploitability
        except GameError:
            return None

    def _in_the_real_game(self, profile: BucketStrategy) -> Measurement:
        method = "history" if self._few_histories else "public"
        return evaluate(profile, method=method, threads=self.plan.threads, memory_limit=self.memory_limit)

    @functools.cached_property
    def _few_histories(self) -> bool:
        """Whether the histories of the real game take less time than compiling the kernels of public trees."""
        if self.definition.players != 2 or self.plan.bets is not None:
            return False
        histories = open_game(self.plan.game, "states").num_histories()
        return histories is not None and histories <= FEW_HISTORIES

    def _real(self, profile: BucketStrategy | None = None) -> dict[str, Any]:
        """The exploitability of the agent, or of another, in the real game, if its public tree is small enough."""
        players = self.definition.players
        if players != 2:  # said without opening the strategy, which takes a while with three players
            why = f"best responses in the real game are for two players; {self.plan.game} has {players}"
            return {"reason": why, "bounds": None}
        profile = profile or self.profile()
        try:
            found = self._in_the_real_game(profile)
        except GameError as error:
            return {"reason": str(error), "bounds": self._bounds(profile)}
        return {
            "reason": None, "bounds": None, "value": list(found.value), "exploitability": found.exploitability,
            "exploitability_mbb": found.exploitability_mbb,
        }  # fmt: skip

    def _bounds(self, profile: BucketStrategy) -> dict[str, Any] | None:
        """Bounds on the exploitability in a real game of two players, from sampled boards."""
        boards = max(FEWEST_BOARDS, self.plan.boards // BOARD_COST)
        report = self._boards_of("real")
        try:
            found = evaluate(profile, method="bounds", bounds=boards, seed=self.plan.seed, progress=report)
        except GameError:
            return None
        return None if found.bounds is None else found.bounds.to_dict(float(self.definition.big_blind))

    def _agent(self) -> str:
        """What plays the matches."""
        return str(self.folder / AGENT)

    def _match(self, opponent: str) -> dict[str, Any]:
        entries = [self._agent(), *self.opponents[opponent]]
        result = match(self.plan.game, entries, self.plan.deals, self.plan.seed)
        if result.interrupted:
            raise KeyboardInterrupt
        mean, half = result.mbb(0).as_json()
        return {"mbb": mean, "mbb_95": half, "deals": result.deals, "hands": result.hands}

    # ------------------------------------------------------------------------------------------ shared by stages

    @property
    def big_blind(self) -> float:
        """The big blind in chips."""
        return float(self.definition.big_blind)

    @functools.cached_property
    def game(self) -> BucketGame:
        """The bucket game that is solved."""
        return open_game(self.plan.game, "buckets", cards=self._card_files(), bets=self.plan.bets)

    def _card_files(self) -> list[str]:
        """The files of its card abstraction."""
        return [str(self.folder / CARDS)]

    def profile(self, file: str = AGENT) -> BucketStrategy:
        """The strategy that was found, or another one of the bucket game."""
        profile = load_strategy(self.folder / file, self.game)
        assert isinstance(profile, BucketStrategy)
        return profile

    def _solver(self) -> BucketSolver:
        """The interrupted run, or a new one."""
        plan, path = self.plan, self.folder / CHECKPOINT
        if os.path.isfile(path) and "goals" in self._part("solve"):
            solver = resume_solver(path, None, self.memory_limit, self._card_files())
        else:
            options = RunOptions(self._card_files(), bets=plan.bets, memory_limit=self.memory_limit)
            settings = {**plan.settings, "seed": plan.seed, "threads": plan.threads}
            solver = prepare(plan.game, plan.algorithm, Target(), options, settings).solver
        assert isinstance(solver, BucketSolver)
        return solver

    def _watch(self, stage: str, solver: Solver, budget: float, save: bool = True) -> ProgressCallback:
        saved = time.monotonic()

        def tick(now: Progress) -> None:
            nonlocal saved
            share = (now.iterations if self.plan.seconds is None else now.seconds) / budget
            total = max(now.iterations, round(now.iterations / max(share, 1e-9)))
            text = f"{now.iterations:,} iterations"
            self._report(self.titles()[stage], dataclasses.replace(now, total=total), text)
            if save and time.monotonic() - saved > CHECKPOINT_SECONDS:
                with uninterrupted():
                    solver.save(self.folder / self._checkpoint(stage))
                saved = time.monotonic()

        return tick

    def _checkpoint(self, stage: str) -> str:
        """The checkpoint of a stage that solves."""
        return self.RUNS[stage]

    def _seconds_left(self) -> float:
        """The time that the other stages leave, at least a quarter of the total."""
        assert self.plan.seconds is not None
        return max(self.plan.seconds / 4, self.plan.seconds - self._spent() - self.plan.reserve)

    def _left(self) -> float | None:
        """Seconds to the end of the plan, as far as that is known."""
        if self.plan.seconds is None:
            return None
        return max(0.0, self.plan.seconds - self._spent() - (time.perf_counter() - self._started))

    def _spent(self) -> float:
        """Seconds of the finished stages."""
        return float(sum(row["seconds"] for row in self.done.values()))

    def _boards_of(self, name: str) -> ProgressCallback:
        """The progress of a stage over boards."""
        return lambda now: self._report(self.TITLES[name], now, f"{now.iterations:,} of {now.total:,} boards")

    def _report(self, stage: str, now: Progress, detail: str = "") -> None:
        if self.progress is not None:
            self.progress(dataclasses.replace(now, stage=stage, detail=detail or stage, seconds_left=self._left()))


def _until(plan: Plan, goal: float) -> Until:
    return Until(iterations=max(1, round(goal))) if plan.seconds is None else Until(seconds=goal)
