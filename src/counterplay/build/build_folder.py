"""The folder of a build: its plan, what its finished stages found, and its files, in ``build.json``."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from counterplay.build.build_state import STAGES, BuildState, MatchStage, Stage
from counterplay.build.presets import OPPONENTS, Plan
from counterplay.errors import GameError, StrategyError
from counterplay.forms import poker_definition
from counterplay.runtime.header_checks import check_header
from counterplay.storage import is_unused, lock_folder, read_container, write_text

STATE = "build.json"

MATCH = "match "
"""The prefix of the stages of matches."""


class BuildFolder:
    """What builds have in common: stages with titles and files, which are recorded when they are finished.

    Parameters
    ----------
    plan, folder : Plan, path
        What to build, and where; the folder is created if missing.  An interrupted build of the same plan is resumed;
        if it holds another build, or something else, a GameError is raised.
    """

    TITLES: ClassVar[Mapping[str, str]] = {}
    """The stages of two players in order, with their titles."""

    MADE: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """What stages leave in the folder: files and their kinds."""

    def __init__(self, plan: Plan, folder: str | os.PathLike[str]) -> None:
        self.plan = plan
        self.folder = Path(folder)
        self.definition = poker_definition(plan.game)
        self.done: dict[str, Any] = {}
        self._open()

    @property
    def opponents(self) -> dict[str, tuple[str, ...]]:
        """Who sits at the other seats of each match, by the name of the match: with three players all pairs."""
        others = self.definition.players - 1
        if others != 2:
            return {name: (name,) * others for name in OPPONENTS}
        pairs = itertools.combinations_with_replacement(OPPONENTS, 2)
        return {one if one == other else f"{one} and {other}": (one, other) for one, other in pairs}

    def titles(self) -> dict[str, str]:
        """The stages of this build in order, with their titles."""
        found: dict[str, str] = {}
        for name, title in self.TITLES.items():
            if not name.startswith(MATCH):
                found[name] = title
            elif MATCH + next(iter(self.opponents)) not in found:
                found |= {MATCH + others: f"match against {others}" for others in self.opponents}
        return found

    def made(self) -> dict[str, tuple[str, str]]:
        """What the stages of this build leave in the folder."""
        return dict(self.MADE)

    def _open(self) -> None:
        path = self.folder / STATE
        self._started = time.perf_counter()
        if os.path.isfile(path):
            self._read(path)
            return
        if not is_unused(self.folder, STATE):
            raise GameError(f"{self.folder} exists, but no build was started in it; choose another folder with --out")
        with lock_folder(self.folder, "building"):
            self.state: dict[str, Any] = {
                "build": 1, "plan": dataclasses.asdict(self.plan), "done": self.done, "parts": {}
            }  # fmt: skip
            self._save()

    def _read(self, path: Path) -> None:
        try:
            self.state = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise StrategyError(f"{path} is damaged: {type(error).__name__}: {error}; remove the folder") from None
        check_header(path, self.state, BuildState)
        plan, self.done = self.state["plan"], self.state["done"]
        different = self.plan.differences(plan)
        if different:
            raise GameError(
                f"{self.folder} holds a build with other settings: {', '.join(different)}; "
                "give the same settings to resume, or another folder with --out"
            )
        titles = self.titles()
        for name, found in self.done.items():
            if name not in titles:
                raise StrategyError(f"{path} is damaged: builds have no stage {name!r}; remove the folder")
            check_header(
                f"{path}, stage {name}", found, MatchStage if name.startswith(MATCH) else STAGES.get(name, Stage)
            )
        missing = [name for name in list(titles)[: len(self.done)] if name not in self.done]
        if missing:
            raise StrategyError(f"{path} is damaged: stage {missing[0]!r} is missing before others; remove the folder")

    def _save(self) -> None:
        """Write ``build.json``."""
        write_text(self.folder / STATE, json.dumps(self.state, indent=1) + "\n")

    def _clock(self, name: str) -> Callable[[], dict[str, float]]:
        """Reads the time spent in a stage from now on, plus what was spent in it before."""
        part = self._part(name)
        wall = time.perf_counter() - part.get("seconds", 0.0)
        cpu = time.process_time() - part.get("cpu_seconds", 0.0)
        return lambda: {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}

    def _part(self, name: str) -> dict[str, Any]:
        """The results so far of an unfinished stage."""
        parts: dict[str, Any] = self.state["parts"]
        found: dict[str, Any] = parts.setdefault(name, {})
        return found

    def _file_of(self, name: str) -> tuple[str, str] | None:
        """The file that a finished stage has left, and its kind."""
        return self.made().get(name)

    def _check(self, name: str) -> None:
        """Refuse to resume if the files of a finished stage are missing or damaged."""
        made = self._file_of(name)
        if made is None:
            return
        path = self.folder / made[0]
        if not os.path.isfile(path):
            raise StrategyError(f"{path} is missing; remove the folder {self.folder} to build again")
        read_container(path, made[1])
