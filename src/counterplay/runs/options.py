"""The options of a run, and when it stops."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from counterplay.errors import SolverError
from counterplay.evaluation.figures import read_exploitability
from counterplay.forms import FORMS
from counterplay.runs.checkpoint_times import CheckpointTimes
from counterplay.runtime.memory import read_memory
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import ProgressCallback
from counterplay.runtime.seeds import check_seed
from counterplay.runtime.suggestions import did_you_mean, find_name
from counterplay.solvers.solver import Solver

SPOT_TARGET = "0.5%"
"""Where the run of a postflop spot stops by default."""


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """The options of a run besides its game, its algorithm and the algorithm's settings.

    Attributes
    ----------
    cards : path or sequence of paths
        Card abstractions of a poker game: one for all players, or one for each.
    opponent_cards : path, optional
        The card abstraction of the opponent, or ``none`` for one without: each seat is solved against that opponent,
        two runs at once, and the strategy is that of ``cards``.
    bets : str, optional
        The betting abstraction of a no-limit game.
    boards : int or "all", optional
        In a card abstraction: measure in the bucket game, over all boards or a number of sampled ones.
    forget : str or sequence of str
        What players forget; the strategy is lifted to the real game and measured there.
    representation : {"auto", "history", "public", "buckets", "states"}
        The form; ``auto``: buckets with ``cards``, histories, or where these do not fit a public tree or states.
    threads, seed : int, optional
        Of algorithms that have them.
    memory_limit : int or str, optional
        Memory that may be used, as ``"2GiB"`` or in bytes; by default what the machine has free.
    part, fix : str, path, optional
        A part of the betting that is solved, as ``rf`` or ``kk/b@1`` (``abstraction.experts``), and the file of the
        strategy that is played outside it, or the name of a trivial one.
    tables : str, optional
        Where the tables of a public tree are: ``memory``, or ``disk:FOLDER`` for those that do not fit; the folder also
        holds the checkpoint of the run.
    out, map_out, checkpoint : path, optional
        Files for the strategy, for the abstraction, and for the run (written every minute and at the end).
    checkpoint_times : str, optional
        When to keep checkpoints of their own besides, in seconds of solving: START, START,FACTOR or START,FACTOR,STEP.
    curve : bool
        Exploitability must be measured during the run, so states cannot be sampled instead.
    note : callable, optional
        Called with a line when another form than histories has to be used.
    opening : callable, optional
        Called with the progress while the game is compiled.
    """

    cards: Sequence[str | os.PathLike[str]] = ()
    opponent_cards: str | os.PathLike[str] | None = None
    bets: str | None = None
    boards: int | str | None = None
    forget: Sequence[str] = ()
    part: str | None = None
    fix: str | os.PathLike[str] | None = None
    representation: str = "auto"
    threads: int | None = None
    seed: int | None = None
    memory_limit: int | None = None
    tables: str | None = None
    out: str | os.PathLike[str] | None = None
    map_out: str | os.PathLike[str] | None = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_times: str | None = None
    curve: bool = False
    note: Callable[[str], None] | None = None
    opening: ProgressCallback | None = None

    def __post_init__(self) -> None:
        for name in ("cards", "forget"):
            value = getattr(self, name)
            several = () if value is None else (value,) if isinstance(value, str | os.PathLike) else tuple(value)
            object.__setattr__(self, name, several)
        if (self.part is None) != (self.fix is None):
            given, missing = ("part", "fix") if self.fix is None else ("fix", "part")
            raise SolverError(
                f"{given} needs {missing}: part is what is solved, fix the strategy that is played elsewhere"
            )
        if self.checkpoint_times is not None:
            if self.checkpoint is None:
                raise SolverError("checkpoint times need a checkpoint, whose name the files get; name one")
            CheckpointTimes.read(self.checkpoint_times)
        if self.opponent_cards is not None:
            object.__setattr__(self, "opponent_cards", os.fspath(self.opponent_cards))
        if self.seed is not None:
            object.__setattr__(self, "seed", check_seed(self.seed, SolverError))
        object.__setattr__(self, "memory_limit", read_memory(self.memory_limit))
        form = find_name(self.representation, ("auto", *FORMS))
        if form is None:
            hint = did_you_mean(self.representation, ("auto", *FORMS))
            raise SolverError(f"unknown representation {self.representation!r}; {hint}")
        object.__setattr__(self, "representation", form)
        boards = self.boards
        if boards is not None and boards != "all":
            if not str(boards).isdigit() or int(boards) < 1:
                raise SolverError(f"boards is all or a number of boards; got {boards!r}")
            object.__setattr__(self, "boards", int(boards))

    @property
    def times(self) -> CheckpointTimes | None:
        """When checkpoints of their own are kept."""
        return None if self.checkpoint_times is None else CheckpointTimes.read(self.checkpoint_times)

    @property
    def tables_folder(self) -> Path | None:
        """The folder of tables on disk; None where they are in memory.

        Raises
        ------
        SolverError
            If ``tables`` is none of what it can be, or other options do not go with it.
        """
        place, colon, folder = (self.tables or "memory").partition(":")
        if (place, colon) == ("memory", ""):
            return None
        if place != "disk" or not folder:
            raise SolverError(f"tables are in memory or disk:FOLDER; got {self.tables!r}")
        for name in ("cards", "forget", "part", "checkpoint"):
            if getattr(self, name):
                why = "their folder holds the checkpoint" if name == "checkpoint" else "they are those of a public tree"
                raise SolverError(f"tables on disk are without {name}: {why}; leave it out")
        if self.representation not in ("auto", "public"):
            raise SolverError(f"tables on disk are those of a public tree; got representation {self.representation}")
        return Path(folder)

    def say(self, text: str) -> None:
        """Pass a line on."""
        if self.note is not None:
            self.note(text)


@dataclasses.dataclass(frozen=True)
class Target:
    """When to stop, as requested; the units of ``until`` are known when the game is open.

    Attributes
    ----------
    until : Until, float or str, optional
        An exploitability: chips (``1e-4``), ``0.5mbb`` of a game with a big blind, ``0.3%`` of the pot of a spot.
    iterations, seconds : optional
        Limits; the first that is reached stops the run.
    """

    until: Until | float | str | None = None
    iterations: int | None = None
    seconds: float | None = None

    def resolve(self, solver: Solver) -> Until:
        """The limits of a run; of a fresh one without any the defaults of the solver or the spot."""
        if isinstance(self.until, Until):
            if self.iterations is not None or self.seconds is not None:
                raise SolverError("give either an Until or iterations and seconds; got both")
            return self.until
        iterations, until = self.iterations, self.until
        facts = solver.facts()
        if iterations is None and self.seconds is None and until is None and solver.iterations == 0:
            until = None if facts.pot is None else SPOT_TARGET
            iterations = solver.default_iterations if facts.pot is None else None
        if isinstance(until, str):
            until = read_exploitability(until, solver.name, facts.big_blind, facts.pot)
        return Until(iterations, self.seconds, until)

    @property
    def measures(self) -> bool:
        """Whether the run stops at an exploitability."""
        return self.until is not None and not (isinstance(self.until, Until) and self.until.exploitability is None)


def sort_out(
    until: Until | float | str | None, settings: Mapping[str, Any]
) -> tuple[Target, RunOptions, dict[str, Any]]:
    """The limits, the options of the run, and what is left: settings of the algorithm."""
    own = dict(settings)
    limits = {name: own.pop(name) for name in ("iterations", "seconds", "exploitability") if name in own}
    options = {field.name: own.pop(field.name) for field in dataclasses.fields(RunOptions) if field.name in own}
    exploitability = limits.pop("exploitability", None)
    if exploitability is not None:
        if until is not None:
            raise SolverError("until and exploitability are the same limit; give one of them")
        until = exploitability
    return Target(until, **limits), RunOptions(**options), own
