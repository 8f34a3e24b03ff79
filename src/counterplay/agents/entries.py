"""Entries of matches and tournaments: agents by name, strategy files, programs, objects of Python.

::

    call, raise, fold, fifty-fifty (or probe), uniform    the trivial agents
    human                                                 a person at the terminal
    leduc.profile                                         a strategy file
    holdem.strategy?translation=nearest,purify=true       one of an abstract game, with settings of its agent
    program:./startme.sh                                  a program that is started with a host and a port

A name of one's own goes before it:  ``mine=leduc.profile``.  In Python an entry can also be a ``TabularStrategy``, or a
function that makes an agent from a seed.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from counterplay.agents.agent import Agent, Policy, policy_profile
from counterplay.agents.arena import Arena
from counterplay.agents.bucket_agent import BucketAgent
from counterplay.agents.strategy_agent import ProfileAgent
from counterplay.agents.trivial_agents import AlwaysCall, AlwaysFold, AlwaysRaise, FiftyFifty, UniformRandom
from counterplay.errors import GameError, StrategyError
from counterplay.solvers.solver import setting_value
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.tabular import TabularStrategy

__all__ = ["AGENTS", "Entry", "Source", "make_entries", "make_entry"]

AGENTS: dict[str, type[Policy]] = {
    "fold": AlwaysFold,
    "call": AlwaysCall,
    "raise": AlwaysRaise,
    "fifty-fifty": FiftyFifty,
    "probe": FiftyFifty,
    "uniform": UniformRandom,
}
"""The trivial agents by name."""

PROGRAM = "program:"

Source: TypeAlias = str | TabularStrategy | BucketStrategy | Callable[[int], Agent]
"""What an entry is made from: text, a profile, or a function from a seed to an agent."""


@dataclasses.dataclass(frozen=True, eq=False)
class Entry:
    """Somebody who takes part: a name, and what plays under it."""

    name: str
    source: Source

    @property
    def program(self) -> list[str] | None:
        """The words of the command to start, if it is a program."""
        if isinstance(self.source, str) and self.source.startswith(PROGRAM):
            return shlex.split(self.source.removeprefix(PROGRAM))
        return None

    def agent(self, arena: Arena, seed: int) -> Agent:
        """A new agent for a game; ``seed`` is that of its random numbers."""
        source = self.source
        if isinstance(source, str):
            if source in AGENTS:
                return AGENTS[source](seed)
            if self.program is not None:
                raise GameError(f"{self.name} is a program; it plays through a dealer, not in this process")
            path, _, text = source.partition("?")
            source = open_strategy(path)
            if isinstance(source, BucketStrategy):
                return BucketAgent(source, seed, arena.dealt or arena.definition(), **_settings(text))
            if text:
                raise GameError(f"settings such as {text!r} are for strategies of abstract games; {path} is another")
        if isinstance(source, TabularStrategy):
            return ProfileAgent(source, seed, arena.dealt)
        if isinstance(source, BucketStrategy):
            return BucketAgent(source, seed, arena.dealt or arena.definition())
        return source(seed)

    def profile(self, arena: Arena) -> TabularStrategy | None:
        """The entry as a profile of the compiled game; None if it is no policy or the game is not compiled."""
        source = self.source
        if isinstance(source, str) and self.program is None:
            source = AGENTS.get(source) or open_strategy(source.partition("?")[0])
        if isinstance(source, BucketStrategy):
            return None
        if not isinstance(source, TabularStrategy):
            made = None if isinstance(source, str) else source(0)
            plain = source in AGENTS.values() or arena.dealt is None  # others may tell match states from decisions
            if not isinstance(made, Policy) or not plain or arena.tree is None:
                return None
            return policy_profile(made, arena.tree)
        if arena.tree is None or (arena.dealt is not None and source.digest != arena.tree.digest):
            return None
        if source.digest != arena.tree.digest:
            raise StrategyError(f"the strategy was made for {source.game}; it cannot play {arena.name}")
        return source

    def abstract_profile(self) -> BucketStrategy | None:
        """The strategy of an abstract game that the entry plays as it is; None if it is something else."""
        source = self.source
        if isinstance(source, str):
            plain = source not in AGENTS and self.program is None and "?" not in source
            source = open_strategy(source) if plain else source
        return source if isinstance(source, BucketStrategy) else None

    def check(self, arena: Arena) -> None:
        """Refuse an entry that cannot play this game, before anything is played."""
        words = self.program
        if words is not None:
            arena.definition()
            if not words or not os.access(words[0], os.X_OK):
                raise GameError(f"the program {' '.join(words)!r} of {self.name} cannot be started; is it executable?")
        else:
            self.agent(arena, 0)


_SETTINGS = ("translation", "threshold", "purify")


def _settings(text: str) -> dict[str, Any]:
    """Settings of an agent from text such as ``translation=nearest,purify=true``."""
    found: dict[str, Any] = {}
    for part in text.split(",") if text else ():
        name, sign, value = part.partition("=")
        if not sign or name not in _SETTINGS:
            raise GameError(f"settings of a strategy are {', '.join(_SETTINGS)}, as purify=true; got {part!r}")
        found[name] = setting_value(value)
    return found


@functools.lru_cache(maxsize=64)
def open_strategy(path: str) -> TabularStrategy | BucketStrategy:
    """The strategy in a file, of a game or of an abstract game."""
    if not Path(path).is_file():
        close = difflib.get_close_matches(path, AGENTS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(AGENTS)}, and strategy files"
        raise GameError(f"there is no agent or strategy file {path!r}; {hint}")
    found = load_strategy(path)
    if isinstance(found, PublicStrategy):
        return found.tabular
    assert isinstance(found, TabularStrategy | BucketStrategy)
    return found


def make_entry(source: Entry | Source, name: str | None = None) -> Entry:
    """An entry from ``name=what``, from text without a name, or from an object."""
    if isinstance(source, Entry):
        return source
    if isinstance(source, str):
        before, sign, after = source.partition("=")
        if name is None and sign and before and not set(before) & set("/:?"):
            name, source = before, after
        return Entry(name or _short_name(source), source)
    return Entry(name or ("profile" if isinstance(source, TabularStrategy | BucketStrategy) else "agent"), source)


def _short_name(source: str) -> str:
    text = source.removeprefix(PROGRAM).partition("?")[0]
    return text if text in AGENTS else Path(text.split(" ")[0]).stem


def make_entries(sources: list[Entry | Source] | list[Source] | list[str]) -> tuple[Entry, ...]:
    """Entries with different names: those that come again get a number."""
    entries: list[Entry] = []
    taken: set[str] = set()
    for source in sources:
        entry = make_entry(source)
        name, number = entry.name, 1
        if not name or set(name) & set(":|\r\n "):
            raise GameError(f"the name of an entry has no blanks, colons or bars; got {name!r}")
        while name in taken:
            number += 1
            name = f"{entry.name}-{number}"
        taken.add(name)
        entries.append(Entry(name, entry.source))
    return tuple(entries)
