"""Exact values between strategies, all pairs: the crosstable of a match that takes no deals (Johanson 2016, table 5.3).

The value of one strategy against another is computed by walks over the public tree of the real game
(``evaluation.HeadToHead``), for two players; strategies may be stored in any way and belong to different card
abstractions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.agents.entries import Entry, Source, make_entries
from counterplay.agents.match_game import MatchGame, open_match_game
from counterplay.errors import GameError, StrategyError
from counterplay.evaluation.lifted_buckets import HeadToHead, TablePlayer
from counterplay.evaluation.public_walks import NO_ROWS
from counterplay.runtime.data_frames import Tabulated
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.solvers.public_tree_tables import table_type
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_strategy import PublicStrategy, fill_table
from counterplay.strategy.public_tables import TableConverter, table_converter
from counterplay.strategy.ready_made import Solved
from counterplay.strategy.tabular import TabularStrategy


@dataclasses.dataclass(frozen=True, eq=False)
class ExactMatch(Tabulated):
    """What every strategy wins from every other one.

    Attributes
    ----------
    game, names : str, tuple of str
        What is played, and by whom.
    chips : (N, N, 2) array
        What the first wins from the second, in chips per game, by the seat of the first.
    big_blind : float or None
        In chips; None outside poker.
    """

    game: str
    names: tuple[str, ...]
    chips: NDArray[np.float64]
    big_blind: float | None

    @property
    def unit(self) -> str:
        """The unit of ``table``."""
        return "chips a hand" if self.big_blind is None else "mbb/g"

    def table(self) -> NDArray[np.float64]:
        """What the row wins from the column when each has either seat equally often, in ``unit``."""
        factor = 1.0 if self.big_blind is None else 1000.0 / self.big_blind
        return np.asarray(factor * self.chips.mean(axis=2))

    def means(self) -> NDArray[np.float64]:
        """The mean of a row of ``table`` over its opponents."""
        return np.asarray(self.table().sum(axis=1) / (len(self.names) - 1))

    def _columns(self) -> tuple[str, ...]:
        return ("name", *self.names, "mean")

    def _lines(self) -> list[tuple[Any, ...]]:
        return self.rows()

    def rows(self) -> list[tuple[Any, ...]]:
        """The crosstable: name, cells, None against oneself, and their mean."""
        rows = []
        for place, (name, row, mean) in enumerate(zip(self.names, self.table(), self.means(), strict=True)):
            cells = [None if other == place else float(value) for other, value in enumerate(row)]
            rows.append((name, *cells, float(mean)))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """For JSON; ``table`` is in ``unit``, ``first_seat`` and ``second_seat`` are in chips."""
        return {
            "game": self.game, "entries": list(self.names), "unit": self.unit, "table": self.table().tolist(),
            "mean": self.means().tolist(), "first_seat": self.chips[:, :, 0].tolist(),
            "second_seat": self.chips[:, :, 1].tolist(),
        }  # fmt: skip


def exact_match(
    game: str | MatchGame, agents: Sequence[Entry | Source], threads: int = 1, progress: ProgressCallback | None = None
) -> ExactMatch:
    """The exact values between strategies of a two-player game whose public tree fits into memory.

    Parameters
    ----------
    game : str or MatchGame
        The name of a game, or of a standard poker definition.
    agents : sequence
        Two or more: names of ready-made opponents, paths, strategies or entries.
    threads : int
        Of a walk.
    progress : callable, optional
        Called with a ``Progress`` after each pair.

    Raises
    ------
    GameError
        If the game has no public tree, or an agent is no strategy.
    """
    played = open_match_game(game) if isinstance(game, str) else game
    entries = make_entries(list(agents))
    if len(entries) < 2:
        raise GameError("exact values are between two strategies or more; got one")
    if played.players != 2:
        raise GameError(f"exact values are for two players; {played.name} has {played.players}; leave out exact")
    resolved = [entry.resolved(played) for entry in entries]
    try:
        between, players = _seated(played, resolved, threads)
    except StrategyError:  # a strategy may distinguish suits
        between, players = _seated(played, resolved, threads, isomorphic=False)
    chips = np.zeros((len(entries), len(entries), 2))
    pairs = [(one, other) for other in range(len(entries)) for one in range(other)]
    for number, (one, other) in enumerate(pairs):
        for seat in (0, 1):
            won = between.value(seat, players[one], players[other])
            chips[one, other, seat], chips[other, one, 1 - seat] = won, -won
        if progress is not None:
            progress(Progress(number + 1, total=len(pairs)))
    return ExactMatch(played.name, tuple(entry.name for entry in entries), chips, played.big_blind)


def _seated(
    played: MatchGame, entries: Sequence[Entry], threads: int, isomorphic: bool = True
) -> tuple[HeadToHead, list[TablePlayer]]:
    """The game, and all entries as walks take them."""
    try:
        converter = table_converter(played.game, isomorphic)
    except GameError as error:
        reason = str(error).partition("; use")[0]
        raise GameError(f"exact values are computed on the public tree; {reason}; play a match without exact") from None
    tree = converter.tree
    if not tree.zero_sum:
        raise GameError(f"exact values are for zero-sum games; what players of {played.name} win does not cancel")
    between = HeadToHead(tree, table_type(sum(tree.num_entries), "auto"), threads)
    return between, [_player(entry, played, converter, between) for entry in entries]


def _player(entry: Entry, played: MatchGame, converter: TableConverter, between: HeadToHead) -> TablePlayer:
    """An entry as walks take it."""
    made, strategy = entry.ready_made, entry.strategy
    if made is not None and not isinstance(made, Solved):
        if not len(converter.tree.hands[0].card):  # the game's own names of hands
            strategy = entry.on_tree(played)
        else:
            first, second = (fill_table(converter.tree, seat, made, between.kind) for seat in (0, 1))
            return TablePlayer((NO_ROWS, NO_ROWS), (first, second))
    if strategy is None:
        raise GameError(f"{entry.name} is no strategy whose probabilities are known; play a match without exact")
    if entry.settings:
        raise GameError(f"{entry.name} has settings of an agent ({', '.join(entry.settings)}); leave them out")
    entry.check(played)
    if isinstance(strategy, PublicStrategy) and strategy.fingerprint != converter.tree.fingerprint:
        strategy = strategy.tabular
    if isinstance(strategy, TabularStrategy):
        one, two = (table.astype(between.kind) for table in converter.tables(strategy))
        return TablePlayer((NO_ROWS, NO_ROWS), (one, two))
    if isinstance(strategy, BucketStrategy) and strategy.abstract.definition != played.deal_rules:
        raise GameError(f"{entry.name} is a strategy of {strategy.game}; it cannot play {played.name}")
    assert isinstance(strategy, BucketStrategy | PublicStrategy)
    return between.player(strategy)
