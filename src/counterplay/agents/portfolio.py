"""Portfolios: several strategies of one game in a folder, among which an adaptive agent chooses.

::

    portfolio.json      the manifest: the game, the members, which of them is the equilibrium, how to choose
    pink.strategy       a strategy file for each member, and the card files that they need

The manifest names files of its own folder and nothing else: opening it starts no code.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from counterplay.errors import CounterplayError, GameError, StrategyError
from counterplay.evaluation import evaluate
from counterplay.modelling.selection import make_rule
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.suggestions import did_you_mean
from counterplay.storage import write_text
from counterplay.strategy.files import PORTFOLIO, load_strategy
from counterplay.strategy.strategy import Strategy
from counterplay.trusted_code import check_stored

FORMAT = 1

STRATEGY = ".strategy"
"""How the files of members are called."""

SELECT = "thompson"
"""The rule by which members are chosen if nothing else is said."""


class MemberRow(TypedDict):
    """A member in the manifest; exploitability in chips a hand, null if it was not measured."""

    name: str
    strategy: str
    exploitability: float | None


class Manifest(TypedDict):
    """The manifest."""

    portfolio: int
    game: str
    equilibrium: str
    members: list[MemberRow]
    select: NotRequired[str]
    settings: NotRequired[dict[str, float | None]]


@dataclasses.dataclass(frozen=True, eq=False)
class Member:
    """A strategy of a portfolio; ``exploitability`` is in chips a hand, None if it was not measured."""

    name: str
    strategy: Strategy
    exploitability: float | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Portfolio:
    """Strategies among which an adaptive agent chooses.

    Attributes
    ----------
    game : str
        What they play.
    members : tuple of Member
        With different names.
    equilibrium : int
        Which of them is played where nothing speaks for another one, and when a safety bound is reached.
    select, settings : str, mapping
        The rule, and its settings, that an agent has if nothing else is said.
    """

    game: str
    members: tuple[Member, ...]
    equilibrium: int = 0
    select: str = SELECT
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        names = self.names
        if not names:
            raise GameError("a portfolio has at least 1 member")
        for name in names:
            if not name or set(name) & set(":|\r\n /\\") or name.startswith("."):
                raise GameError(f"the name of a member has no blanks, colons, bars or slashes; got {name!r}")
        if len(set(names)) < len(names):
            raise GameError(f"the members of a portfolio have different names; got {', '.join(names)}")
        if not 0 <= self.equilibrium < len(names):
            raise GameError(f"the equilibrium is one of {len(names)} members; got {self.equilibrium!r}")
        make_rule(self.select, len(names), 0, self.equilibrium, **self.settings)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members."""
        return tuple(member.name for member in self.members)

    def number(self, name: str) -> int:
        """The number of a member by its name."""
        if name not in self.names:
            raise GameError(f"there is no member {name!r}; {did_you_mean(name, self.names)}")
        return self.names.index(name)

    def exploitabilities(self) -> list[float]:
        """Of all members, in chips a hand.

        Raises
        ------
        GameError
            If one was not measured.
        """
        found = []
        for member in self.members:
            if member.exploitability is None:
                raise GameError(
                    f"a safety bound needs the exploitability of every member, and that of {member.name} is not known; "
                    f"measure it (counterplay evaluate) and write it into {PORTFOLIO}, in chips a hand"
                )
            found.append(member.exploitability)
        return found

    def measured(self) -> Portfolio:
        """The same, with the exploitability of members where it was not known and ``evaluate`` can compute it."""
        return dataclasses.replace(self, members=tuple(_measured(member) for member in self.members))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the strategies and the manifest into a folder, which is created; card files stay where they are."""
        there = Path(folder)
        try:
            there.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StrategyError(f"cannot write {there}: {error.strerror or error}") from None
        for member in self.members:
            member.strategy.save(there / f"{member.name}{STRATEGY}")
        self.save_manifest(there)

    def save_manifest(self, folder: str | os.PathLike[str]) -> None:
        """Write the manifest into a folder that has the strategies."""
        rows: list[MemberRow] = [
            {"name": one.name, "strategy": f"{one.name}{STRATEGY}", "exploitability": one.exploitability}
            for one in self.members
        ]
        manifest: Manifest = {
            "portfolio": FORMAT, "game": self.game, "equilibrium": self.names[self.equilibrium], "members": rows,
            "select": self.select, "settings": dict(self.settings),
        }  # fmt: skip
        write_text(Path(folder) / PORTFOLIO, json.dumps(manifest, indent=1) + "\n")


def load_portfolio(
    folder: str | os.PathLike[str], cards: BucketGame | Sequence[str | os.PathLike[str]] | None = None
) -> Portfolio:
    """Open a portfolio; strategies are memory maps, whose checksums are compared.

    Parameters
    ----------
    folder : path
        The folder.
    cards : BucketGame or sequence of paths, optional
        Of bucket strategies, as for ``load_strategy``.

    Raises
    ------
    StrategyError
        If the manifest or a strategy is damaged, or names code that is not trusted.
    """
    there = Path(folder)
    path = there / PORTFOLIO
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StrategyError(f"{there} is no portfolio: it has no {PORTFOLIO}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise StrategyError(f"{path} cannot be read: {type(error).__name__}: {error}") from None
    check_header(path, manifest, Manifest)
    if manifest["portfolio"] != FORMAT:
        raise StrategyError(f"{path} has format {manifest['portfolio']}; this version reads format {FORMAT}")
    check_stored(manifest["game"], path)
    members = tuple(_member(there, path, row, cards) for row in manifest["members"])
    names = [member.name for member in members]
    if manifest["equilibrium"] not in names:
        raise StrategyError(f"{path} is damaged: the equilibrium {manifest['equilibrium']!r} is no member")
    try:
        return Portfolio(
            manifest["game"], members, names.index(manifest["equilibrium"]), manifest.get("select", SELECT),
            manifest.get("settings", {}),
        )  # fmt: skip
    except GameError as error:
        raise StrategyError(f"{path} is damaged: {error}") from None


def _member(
    folder: Path, manifest: Path, row: MemberRow, cards: BucketGame | Sequence[str | os.PathLike[str]] | None
) -> Member:
    """A member of the manifest, opened."""
    file, risk = row["strategy"], row["exploitability"]
    if set(file) & set("/\\\0") or not file.endswith(STRATEGY):
        raise StrategyError(f"{manifest} is damaged: a member is a {STRATEGY} file of its folder; it names {file!r}")
    if risk is not None and not (math.isfinite(risk) and risk >= 0.0):
        raise StrategyError(f"{manifest} is damaged: the exploitability of {row['name']!r} is {risk!r}")
    if not os.path.isfile(folder / file):
        raise StrategyError(f"there is no file {folder / file}, which {manifest} names as {row['name']!r}")
    return Member(row["name"], load_strategy(folder / file, cards), risk)


def _measured(member: Member) -> Member:
    """Exactly, on the public tree or the history tree; a game for which both are too large is not measured."""
    for method in ("public", "history") if member.exploitability is None else ():
        with contextlib.suppress(CounterplayError):
            found = evaluate(member.strategy, method=method, progress=False).exploitability
            if math.isfinite(found):
                return dataclasses.replace(member, exploitability=max(found, 0.0))
    return member
