"""A run that is ready to start: running, checkpoints, files, and the result in the real game."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import shlex
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from counterplay.errors import CounterplayError, StrategyError
from counterplay.evaluation.measurement import Measurement
from counterplay.forms import GameForms
from counterplay.poker.cards import card_text
from counterplay.runs.checkpoint_times import checkpoint_at
from counterplay.runs.options import RunOptions
from counterplay.runs.part_forms import PartForms
from counterplay.runtime.memory import format_bytes
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.signals import uninterrupted
from counterplay.solvers.result import AbstractResult, SolveResult
from counterplay.solvers.solver import Solver
from counterplay.tree.history.sizes import tree_bytes

if TYPE_CHECKING:
    from counterplay.abstraction.infosets.abstraction import Abstraction

CHECKPOINT_SECONDS = 60.0
"""How often a checkpoint is written."""

LONGEST_NAME = 60
"""Most letters of a game's name in the name of a file: names of subgames contain whole ranges."""

NAMED = 30_000
"""Information sets up to which the strategy of a public tree gets the names of the histories."""


@dataclasses.dataclass(frozen=True)
class Run:
    """A run that is ready: ``run`` advances it to its goal, writes its files and reports."""

    solver: Solver
    goal: Until
    options: RunOptions
    forms: GameForms

    def run(self, progress: ProgressCallback | None = None) -> SolveResult:
        """Advance to the goal, or to Ctrl-C.

        An interrupted run always leaves a checkpoint, also if it is interrupted while it is measured and written.

        Raises
        ------
        StrategyError
            If a file cannot be written; then the run is kept in a checkpoint elsewhere, which the message names.
        """
        try:
            return self._run(progress)
        finally:
            self.solver.close()

    def _run(self, progress: ProgressCallback | None) -> SolveResult:
        status = self.solver.advance(self.goal, self.watched(progress))
        checkpoint = self.options.checkpoint
        try:
            if status == "interrupted":
                checkpoint = self.keep(checkpoint or self._checkpoint_name())
            result = self._lifted(self.solver.result(status))
            with uninterrupted():
                self._write(result)
        except KeyboardInterrupt:
            kept = self.keep(checkpoint or self._checkpoint_name())
            self.options.say(f"stopped before the result was complete; the run is in {kept}")
            raise
        if status != "interrupted" and checkpoint is not None:
            checkpoint = self.keep(checkpoint)
        files = {"profile": self.options.out, "map": self.options.map_out, "checkpoint": checkpoint}
        return dataclasses.replace(result, files=files)

    def _write(self, result: SolveResult) -> None:
        """Write the strategy and the map of the abstraction."""
        try:
            if self.options.out is not None:
                result.profile.save(self.options.out)
            if self.options.map_out is not None and self.merged is not None:
                self.merged.save(self.options.map_out)
        except StrategyError as error:
            try:
                kept = self.keep(self.options.checkpoint or self._checkpoint_name())
            except StrategyError:
                raise error from None
            again = f"--resume {shlex.quote(str(kept))} --iterations {self.solver.iterations} --out FILE"
            raise StrategyError(f"{error}; the run is kept, try: counterplay solve {again}") from None

    def keep(self, path: str | os.PathLike[str]) -> str | os.PathLike[str]:
        """Write a checkpoint, and give its path: if it does not fit there, in the folder for temporary files."""
        with uninterrupted():
            try:
                self.solver.save(path)
                return path
            except StrategyError as error:
                other = Path(tempfile.gettempdir()) / Path(path).name
                if other.absolute() == Path(path).absolute():
                    raise
                try:
                    self.solver.save(other)
                except StrategyError:
                    raise error from None  # about the file that was asked for
                self.options.say(f"{error}; the checkpoint is in {other}")
                return other

    @property
    def sizes(self) -> str | None:
        """A line about the size and the memory of a public tree; other forms report theirs at the end."""
        if self.solver.form_name != "public":
            return None
        tree, solver = self.solver.tree, self.solver
        return (
            f"{solver.facts().title or tree.name}: {tree.num_public_states:,} public states, {tree.num_infosets:,} "
            f"information sets; {format_bytes(tree.nbytes)} tree, {format_bytes(solver.table_bytes)} tables "
            f"({solver.tables()['regret_0'].dtype})"
        )

    @property
    def merged(self) -> Abstraction | None:
        """The abstraction of information sets: by ``forget``, or the algorithm's own."""
        forgotten = self.forms.abstraction if self.solver.form_name == "history" else None
        return forgotten or self.solver.abstraction()

    def watched(self, progress: ProgressCallback | None) -> ProgressCallback:
        """A callback that passes progress on, saves the run every minute, and keeps the checkpoints of a schedule."""
        last = time.monotonic()
        times = self.options.times
        due = math.inf if times is None else times.after(self.solver.seconds)

        def tick(now: Progress) -> None:
            nonlocal last, due
            if progress is not None:
                progress(now)
            if times is not None and self.options.checkpoint is not None and self.solver.seconds >= due:
                self.keep(checkpoint_at(self.options.checkpoint, self.solver.iterations))
                due = times.after(self.solver.seconds)
            if self.options.checkpoint is not None and time.monotonic() - last > CHECKPOINT_SECONDS:
                try:
                    with uninterrupted():
                        self.solver.save(self.options.checkpoint)
                except StrategyError as error:  # a full disk; there may be room in a minute
                    self.options.say(f"{error}; solving continues, and the checkpoint is tried again")
                last = time.monotonic()

        return tick

    def _checkpoint_name(self) -> Path:
        if self.options.out is not None:
            out = Path(self.options.out)
            return out.with_name(out.name + ".checkpoint")
        full, solver = self.solver.name, self.solver
        if self.forms.subgame is not None:
            board = "".join(map(card_text, self.forms.subgame.cards))
            name = f"holdem-{board}-{self._digest()}"
        else:
            name = "".join(letter if letter.isalnum() else "_" for letter in full)[:LONGEST_NAME]
            name += f"-{self._digest()}" if len(full) > LONGEST_NAME else ""
        return Path(f"{name}-{solver.algorithm}.checkpoint")

    def _digest(self) -> str:
        """Eight letters that differ between games, settings and locks."""
        solver: Any = self.solver
        found = hashlib.sha256(repr((solver.name, solver.algorithm, solver.config)).encode())
        for node in np.flatnonzero(getattr(solver, "locked", ())):
            tree, tables = solver.tree, solver.player_tables[solver.tree.kind[node]]
            found.update(b"%d" % node)
            for deal in range(int(tree.deal_low[node]), int(tree.deal_high[node])):
                found.update(tables.regret[tree.entries(int(node), deal)].tobytes())
        return found.hexdigest()[:8]

    def _lifted(self, result: SolveResult) -> SolveResult:
        """The result in the real game, with the measurement in the abstract game if there is one."""
        facts, solver, options = result.facts, self.solver, self.options
        if options.seed is not None and not hasattr(solver.config, "seed"):
            facts = dataclasses.replace(facts, seed=options.seed)
        if result.abstraction is not None:
            from counterplay.solvers.word_counts import memory_words

            words = memory_words(solver)
            facts = dataclasses.replace(facts, words=(words.map, words.total))
        result = dataclasses.replace(result, facts=facts)
        if isinstance(self.forms, PartForms):
            return self.forms.finished(result)
        if result.form == "public" and result.profile is not None:
            return dataclasses.replace(result, profile=self._named(result.profile))
        if result.form == "buckets" and not solver.real_game:
            inside = AbstractResult(result.game, result.measurement, None) if solver.measures else None
            return dataclasses.replace(result, abstract=inside, measurement=Measurement.unknown(len(result.value)))
        abstraction = self.forms.abstraction if result.form == "history" else None
        return result if abstraction is None else self._in_the_real_game(result, abstraction)

    def _in_the_real_game(self, result: SolveResult, abstraction: Abstraction) -> SolveResult:
        from counterplay.evaluation import evaluate

        real = self.forms.real
        profile = abstraction.lift(result.profile, real)
        facts = dataclasses.replace(
            result.facts,
            recall=tuple(real.recall),
            forgetful=tuple(p for p in range(real.players) if not real.sequences.has_perfect_recall(p)),
            tree_bytes=tree_bytes(real),
            entries=real.num_entries,
        )
        return dataclasses.replace(
            result, game=real.name, profile=profile, measurement=evaluate(profile, real), facts=facts,
            information_sets=real.num_infosets,
            abstract=AbstractResult(result.game, result.measurement, tuple(self.solver.tree.recall), abstraction),
        )  # fmt: skip

    def _named(self, profile: Any) -> Any:
        """The strategy of a small public tree with the names of the histories, which every command accepts."""
        tree, limit = self.solver.tree, self.options.memory_limit
        if tree.num_infosets > NAMED:
            return profile
        try:
            game = self.forms.real if self.forms.opened else self.forms.game
            from counterplay.strategy.public_tables import table_converter

            converter = table_converter(game, memory_limit=limit)
            if converter.tree.fingerprint != tree.fingerprint:
                return profile
            return converter.profile(profile.tables, profile.provenance)
        except CounterplayError:  # a postflop spot, or a game without names
            return profile
