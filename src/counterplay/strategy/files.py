"""``load_strategy``: the strategy in a file, whatever its storage."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from counterplay.errors import StrategyError
from counterplay.game.registry import named_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.suggestions import find_name
from counterplay.storage import file_kind, read_container
from counterplay.strategy.bucket_strategy import KIND as BUCKETS
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.ready_made import READY_MADE
from counterplay.strategy.strategy import Strategy, not_a_strategy
from counterplay.strategy.tabular import TabularStrategy

BUILT = "agent.strategy"
"""What ``build`` calls every agent; its folder stands for it."""


PORTFOLIO = "portfolio.json"
"""What the manifest of several strategies is called; its folder stands for them."""


def strategy_path(path: str | os.PathLike[str]) -> Path:
    """The file of a strategy: the file itself, or the agent in a folder of ``build``."""
    file = Path(path)
    if not os.path.isdir(file):
        return file
    if os.path.isfile(file / PORTFOLIO):
        raise StrategyError(
            f"{file} holds several strategies, which an agent chooses from (counterplay match, agent, tournament); "
            f"name one of them, such as {file / '*.strategy'}"
        )
    if not os.path.isfile(file / BUILT):
        raise StrategyError(f"{file} is a folder without {BUILT}; name a strategy file, or the folder of a build")
    return file / BUILT


def load_strategy(
    path: str | os.PathLike[str],
    cards: BucketGame | Sequence[str | os.PathLike[str]] | None = None,
    verify: bool = True,
) -> Strategy:
    """Open a strategy file by memory map.

    Parameters
    ----------
    path : path
        The file, or the folder of a build.
    cards : sequence of paths or BucketGame, optional
        Of a bucket strategy: where its card files are now, or its game; by default they are where they were, or next
        to the strategy.
    verify : bool
        Whether to compare the checksum, which reads the whole file.

    Raises
    ------
    StrategyError
        If the file is damaged, foreign or too new, or does not fit the cards; the message says which.
    """
    if not isinstance(path, str | os.PathLike):
        raise not_a_strategy(path, "the file of a strategy")
    file = strategy_path(path)
    if not os.path.exists(file):
        raise StrategyError(f"there is no file {file}{_meant(str(path))}")
    if file_kind(file) == BUCKETS:
        return BucketStrategy.from_file(file, *read_container(file, BUCKETS, verify), cards, verify)
    header, arrays = read_container(file, "profile", verify)
    if isinstance(header, dict) and header.get("form") == "public":
        return PublicStrategy.from_file(file, header, arrays, verify)
    return TabularStrategy.from_file(file, header, arrays, verify)


def _meant(name: str) -> str:
    """What to do with a name that is no file, but a game or a ready-made opponent."""
    if named_game(name) is not None:
        return f"; {name} is a game: counterplay solve {shlex.quote(name)} --out FILE makes a strategy for it"
    opponent = find_name(name, READY_MADE)
    if opponent is not None:
        return f"; {opponent} is a ready-made opponent: counterplay evaluate {opponent} --game GAME measures it"
    return ""
