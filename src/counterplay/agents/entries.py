"""Entries of matches and tournaments: agents by name, strategy files, programs, objects of Python.

::

    always-call, 50/50, tight, small-equilibrium, ...         ready-made opponents, ``strategy.ready_made``
    human                                                     a person at the terminal
    leduc.strategy, leduc-agent                               a strategy file of any kind, a folder of ``build``
    holdem.strategy?translation=nearest,purify=true           one with settings of its agent
    holdem.strategy?resolve=turn,safe=true,seconds=3          one that solves the rest of a hand at the table
    portfolio, portfolio?select=ucb1,bound=500                several strategies, chosen among from hand to hand
    program:./startme.sh                                      a program that is started with a host and a port

A name can be given in front:  ``mine=leduc.strategy``.  In Python an entry can also be a ``Strategy``, or a function
from a seed to an agent.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from counterplay.agents.agent import Agent, Policy, policy_profile
from counterplay.agents.match_game import MatchGame
from counterplay.agents.portfolio import STRATEGY, Portfolio, load_portfolio
from counterplay.agents.rule_agent import RuleAgent
from counterplay.agents.strategy_agent import StrategyAgent
from counterplay.errors import GameError, StrategyError
from counterplay.game.registry import named_game
from counterplay.poker.postflop import SUBGAME
from counterplay.poker.postflop.subgame import unlike
from counterplay.runtime.suggestions import did_you_mean, quoted
from counterplay.solvers.settings import setting_value
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import BUILT, PORTFOLIO, load_strategy, strategy_path
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.ready_made import MEANT, READY_MADE, ReadyMade, Solved, opponent_name
from counterplay.strategy.strategy import Strategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import CardFree
from counterplay.trusted_code import PROGRAM

GAME_FILES = (".game", ".efg", ".py")

Source: TypeAlias = str | Strategy | Callable[[int], Agent]
"""What an entry is made from: text, a strategy, or a function from a seed to an agent."""


@dataclasses.dataclass(frozen=True, eq=False)
class Entry:
    """A participant: a name, and its agent."""

    name: str
    source: Source

    @property
    def program(self) -> list[str] | None:
        """The words of the command to start, if it is a program."""
        if isinstance(self.source, str) and self.source.startswith(PROGRAM):
            try:
                return shlex.split(self.source.removeprefix(PROGRAM))
            except ValueError as error:  # quotes that are not closed
                raise GameError(f"{quoted(self.source)} is no command: {error}") from None
        return None

    @property
    def ready_made(self) -> ReadyMade | None:
        """The ready-made opponent, if it is one."""
        return READY_MADE.get(self.source) if isinstance(self.source, str) else None

    def resolved(self, played: MatchGame) -> Entry:
        """The entry itself; if its strategy is one to be solved, with that strategy for the game."""
        made = self.ready_made
        return Entry(self.name, made.strategy(played.game)) if isinstance(made, Solved) else self

    @property
    def folder(self) -> Path | None:
        """The folder of a portfolio, if it is one."""
        if not isinstance(self.source, str) or self.ready_made is not None or self.program is not None:
            return None
        path = Path(self.source.partition("?")[0])
        return path if os.path.isfile(path / PORTFOLIO) else None

    @property
    def portfolio(self) -> Portfolio | None:
        """The portfolio, if it is one."""
        if self.folder is None:
            return None
        facts = [(path.stat().st_mtime_ns, path.stat().st_size) for path in self.files]
        return _cached_portfolio(str(self.folder), tuple(facts))

    @property
    def game(self) -> str | None:
        """The game of the strategy or of the portfolio; None for ready-made ones, programs and functions."""
        found = self.portfolio or self.strategy
        return None if found is None else found.game

    @property
    def files(self) -> list[Path]:
        """All files that say what it plays."""
        if self.folder is not None:
            return sorted(path for path in self.folder.iterdir() if path.name == PORTFOLIO or path.suffix == STRATEGY)
        return [] if self.file is None else [self.file]

    @property
    def file(self) -> Path | None:
        """The strategy file, if it is one."""
        if not isinstance(self.source, str) or self.ready_made is not None or self.program is not None:
            return None
        return None if self.folder is not None else strategy_path(self.source.partition("?")[0])

    @property
    def strategy(self) -> Strategy | None:
        """The strategy of its file, or that it is itself; None for ready-made ones, programs and functions."""
        if isinstance(self.source, Strategy):
            return self.source
        return None if self.file is None else _opened(str(self.file))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of its agent."""
        if not isinstance(self.source, str) or (self.file is None and self.folder is None):
            return {}
        return _settings(self.source.partition("?")[2], self.folder is not None)

    def agent(self, played: MatchGame, seed: int) -> Agent:
        """A new agent for a game; ``seed`` is that of its random numbers."""
        made = self.ready_made
        if isinstance(made, Solved):
            return self.resolved(played).agent(played, seed)
        if made is not None:
            return RuleAgent(made, seed, played.game)
        if self.program is not None:
            raise GameError(f"{self.name} is a program; it plays through a dealer, not in this process")
        portfolio, strategy, settings = self.portfolio, self.strategy, self.settings
        if portfolio is not None:
            from counterplay.agents.adaptive_agent import AdaptiveAgent  # estimators are imported when they are needed

            if played.deal_rules is None:
                raise GameError(
                    f"{self.name} is a portfolio, which plays poker from a definition, such as leduc_limit_2p, where "
                    f"it sees how hands end; it cannot play {played.name}"
                )
            return AdaptiveAgent(portfolio, played.deal_rules, seed, **settings)
        if strategy is None:
            assert callable(self.source)
            return self.source(seed)
        self._check_spot(strategy, played)
        bucketed = isinstance(strategy, BucketStrategy)
        if "translation" in settings and not bucketed:
            raise GameError(f"translation is for strategies of bucket games; {self.name} has all bets of its game")
        rules = played.deal_rules or (played.definition() if bucketed or "resolve" in settings else None)
        if "resolve" in settings:
            from counterplay.agents.resolving_agent import ResolvingAgent  # solvers are imported when they are needed

            return ResolvingAgent(strategy, seed, rules, **settings)
        return StrategyAgent(strategy, seed, rules, **settings)

    def _check_spot(self, strategy: Strategy, played: MatchGame) -> None:
        """Refuse a strategy of a postflop spot anywhere else, and of anything else in a spot."""
        if strategy.game == played.name:
            return
        if played.spot is not None:
            mine = unlike(strategy.game, played.name) if strategy.game.startswith(SUBGAME) else strategy.game
            raise GameError(f"{self.name} cannot play this spot; it was made for {mine}")
        if strategy.game.startswith(SUBGAME):
            raise GameError(
                f"{self.name} is a strategy of a postflop spot, which starts in the middle of a hand; it cannot play a "
                "match"
            )

    def on_tree(self, played: MatchGame) -> TabularStrategy | None:
        """The entry as a strategy of the compiled game, for the kernel; None where agents must play.

        Raises StrategyError if it is a strategy of another game.
        """
        tree, strategy = played.tree, self.strategy
        if tree is None or self.settings or self.program is not None or isinstance(strategy, BucketStrategy):
            return None
        if self.folder is not None:
            return None
        made = self.ready_made
        if isinstance(made, Solved):
            return self.resolved(played).on_tree(played)
        if made is not None:
            return made.tabular(tree) if isinstance(made, CardFree) else made.tabular(tree, played.game)
        if strategy is None:
            assert callable(self.source)
            # agents may distinguish match states from decisions
            agent = self.source(0) if played.deal_rules is None else None
            return policy_profile(agent, tree) if isinstance(agent, Policy) else None
        try:
            found = strategy.tabular if isinstance(strategy, PublicStrategy) else strategy
            assert isinstance(found, TabularStrategy)
            found.for_tree(tree)
        except StrategyError:
            if played.deal_rules is not None:
                return None
            raise StrategyError(f"the strategy was made for {strategy.game}; it cannot play {played.name}") from None
        return found

    def on_buckets(self) -> BucketStrategy | None:
        """The strategy of a bucket game that the entry plays unchanged; None if it is something else."""
        strategy = None if self.settings else self.strategy
        if isinstance(strategy, BucketStrategy) and strategy.abstract.tilt is None:
            return strategy
        return None

    def check(self, played: MatchGame) -> None:
        """Refuse an entry that cannot play this game, before anything is played."""
        words = self.program
        if words is not None:
            played.definition()
            try:
                executable = bool(words) and os.access(words[0], os.X_OK)
            except ValueError:  # a character that names of files cannot have
                executable = False
            if not executable:
                text = quoted(" ".join(words))
                raise GameError(f"the program {text} of {self.name} cannot be started; is it executable?")
        else:
            self.agent(played, 0)


_SETTINGS = ("translation", "threshold", "purify")
_RESOLVING = ("resolve", "safe", "seconds", "iterations", "within", "threads", "log")
_ADAPTIVE = ("select", "window", "scale", "estimator", "bound", "log")


def _settings(text: str, adaptive: bool = False) -> dict[str, Any]:
    """Settings of an agent from text such as ``translation=nearest,purify=true``."""
    found: dict[str, Any] = {}
    known = _ADAPTIVE if adaptive else (*_SETTINGS, *_RESOLVING)
    for part in text.split(",") if text else ():
        name, sign, value = part.partition("=")
        if not sign or name not in known:
            example = "a portfolio are {}, as select=ucb1" if adaptive else "a strategy are {}, as purify=true"
            raise GameError(f"settings of {example.format(', '.join(known))}; got {part!r}")
        if name in found:
            raise GameError(f"{name} is given twice; leave one of them out")
        found[name] = value if name in ("log", "select", "estimator") else setting_value(value)
    alone = [name for name in found if name in _RESOLVING and not adaptive]
    if alone and "resolve" not in found:
        raise GameError(f"{alone[0]} is for hands that are solved at the table; give the round too, as resolve=turn")
    return found


@functools.lru_cache(maxsize=8)
def _cached_portfolio(folder: str, _facts: tuple[tuple[int, int], ...]) -> Portfolio:
    return load_portfolio(folder)


def _opened(path: str) -> Strategy:
    """The strategy in a file."""
    if not os.path.isfile(path):
        if named_game(path) is not None:
            raise GameError(f"there is no agent {path!r}; it is a game, which is named by --game {shlex.quote(path)}")
        if path in READY_MADE:
            raise GameError(f"settings are for strategy files; {path} takes none")
        hint = did_you_mean(path, READY_MADE, meant=MEANT)
        raise GameError(f"there is no agent {path!r}; {hint}{'' if hint.endswith('?') else ', and strategy files'}")
    facts = os.stat(path)
    return _cached(path, facts.st_mtime_ns, facts.st_size)


@functools.lru_cache(maxsize=64)
def _cached(path: str, _time: int, _size: int) -> Strategy:
    return load_strategy(path)


def solved_notes(entries: Sequence[Entry], played: MatchGame) -> list[str]:
    """A line for each opponent that is solved for the game."""
    made = {entry.ready_made for entry in entries}
    return [one.note(played.game) for one in made if isinstance(one, Solved)]


def is_strategy(text: str) -> bool:
    """Whether a text names a strategy file, a folder of ``build`` or a portfolio, not a game; it may have settings."""
    path = Path(str(make_entry(text).source).partition("?")[0])
    return (
        os.path.isfile(path / BUILT)
        or os.path.isfile(path / PORTFOLIO)
        or (os.path.isfile(path) and path.suffix not in GAME_FILES)
    )


def make_entry(source: Entry | Source, name: str | None = None) -> Entry:
    """An entry from ``name=what``, from text without a name, or from an object."""
    if isinstance(source, Entry):
        return source
    if isinstance(source, str):
        before, sign, after = source.partition("=")
        if name is None and sign and before and not set(before) & set("/:?"):
            name, source = before, after
        source = opponent_name(source)
        return Entry(name or _short_name(source), source)
    return Entry(name or ("strategy" if isinstance(source, Strategy) else "agent"), source)


def _short_name(source: str) -> str:
    text = source.removeprefix(PROGRAM).partition("?")[0]
    if text in READY_MADE:
        return text
    path = Path(text.split(" ")[0] if source.startswith(PROGRAM) else text)
    if os.path.isdir(path) or path.name == BUILT:
        folder = (path if os.path.isdir(path) else path.parent).resolve().name
        if folder and not set(folder) & set(":| "):
            return folder
    return re.sub(r"[\s:|]+", "_", path.stem)


def make_entries(sources: Sequence[Entry | Source]) -> tuple[Entry, ...]:
    """Entries with different names: repeated names get a number."""
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
