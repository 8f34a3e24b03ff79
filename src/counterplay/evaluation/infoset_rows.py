"""``infoset_table``: every infoset of a strategy with its probabilities, its reach and its value.

The *reach* of an infoset is the probability that play gets there when everybody plays the strategy.  Its *value* is
what the player who acts expects to win, in the units of the game's utilities, once play is there.  Both need the
histories of the game; without them the table has the probabilities alone, and a note says why.
"""

from __future__ import annotations

import dataclasses
import html
import itertools
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import CounterplayError, MemoryLimitError, StrategyError
from counterplay.evaluation.history_values import infoset_values
from counterplay.forms import open_game
from counterplay.poker.postflop import game_title
from counterplay.runtime.data_frames import Tabulated
from counterplay.runtime.html_page import COLOURS, html_bar, html_cell, html_page, html_table
from counterplay.runtime.memory import available_memory, check_memory
from counterplay.storage import write_text
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy
from counterplay.strategy.hand_colours import action_colours
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.strategy import ROW_BYTES, Strategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.sizes import BUILD_BYTES_PER_HISTORY

COLUMNS = ("player", "infoset", "action", "probability", "reach", "value")
"""Of the table in a CSV file."""

POKER_ACTION = re.compile(r"(fold|check|call|bet|raise|allin)[\d.]*")
"""Actions that have the colours of the trade."""

MAX_HISTORIES = 1_000_000
"""Larger games are not compiled for a table, unless requested."""

COUNTED = 1_000_000
"""In a strategy with more infosets, those beyond a limit of rows are not counted where only some are wanted."""


@dataclasses.dataclass(frozen=True)
class InfosetRow:
    """An infoset.

    Attributes
    ----------
    player : int
        Who acts, from 0.
    infoset : str
        Its key.
    probabilities : mapping
        Of the actions.
    reach : float or None
        The probability that play gets there; None where it is not known.
    value : float or None
        What the player expects to win there; None where it is not known, or the other players never let play get there.
    """

    player: int
    infoset: str
    probabilities: Mapping[str, float]
    reach: float | None = None
    value: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON; players count from 1."""
        return {**dataclasses.asdict(self), "player": self.player + 1, "probabilities": dict(self.probabilities)}


@dataclasses.dataclass(frozen=True, repr=False)
class InfosetTable(Tabulated):
    """Infosets of a strategy.

    Attributes
    ----------
    game : str
        The game.
    rows : tuple of InfosetRow
        The infosets, in the order of play: by the number of earlier moves, then by player.
    left_out : int or None
        How many more there are beyond the limit of rows; None if they were not counted.
    notes : tuple of str
        What is missing, and why.
    """

    game: str
    rows: tuple[InfosetRow, ...]
    left_out: int | None = 0
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        more = "" if self.left_out == 0 else " and more"
        return f"<InfosetTable of {game_title(self.game)}: {len(self.rows):,} infosets{more}>"

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON; players count from 1."""
        return {
            "game": self.game, "infosets": [row.to_dict() for row in self.rows], "left_out": self.left_out,
            "notes": list(self.notes),
        }  # fmt: skip

    def _columns(self) -> tuple[str, ...]:
        return COLUMNS

    def _lines(self) -> Iterator[tuple[Any, ...]]:
        """A line for each action of each infoset; players count from 1."""
        for row in self.rows:
            for action, share in row.probabilities.items():
                yield row.player + 1, row.infoset, action, share, row.reach, row.value

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a page that needs no other file."""
        title = f"Strategy of {game_title(self.game)}"
        write_text(Path(path), html_page(title, f"<h1>{html.escape(title)}</h1>\n{self._repr_html_()}"))

    def _repr_html_(self) -> str:
        """The table, for notebooks too."""
        known = any(row.reach is not None for row in self.rows)
        heads = ["player", "infoset", *(["reach", "value"] if known else []), "strategy", "probabilities"]
        left = () if self.left_out == 0 else ("there are more infosets",)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in (*self.notes, *left))
        return html_table(heads, (_html_row(row, known) for row in self.rows)) + notes


def _html_row(row: InfosetRow, known: bool) -> str:
    numbers = ("" if number is None else f"{number:.6f}" for number in (row.reach, row.value))
    cells = [html_cell(str(row.player + 1)), html_cell(row.infoset, "key"), *(map(html_cell, numbers) if known else ())]
    mix = ", ".join(f"{action} {share:.4f}" for action, share in row.probabilities.items())
    actions, shares = [*row.probabilities], [*row.probabilities.values()]
    poker = all(POKER_ACTION.fullmatch(action) for action in actions)
    colours = [f"rgb{colour}" for colour in action_colours(actions)] if poker else COLOURS
    return "".join(cells) + html_bar(actions, shares, colours) + html_cell(mix, "mix")


def infoset_table(
    strategy: Strategy | str | os.PathLike[str],
    *,
    player: int | None = None,
    prefix: str = "",
    rows: int | None = None,
    max_histories: int = MAX_HISTORIES,
) -> InfosetTable:
    """The infosets of a strategy, with reach and value where the game is small enough.

    Parameters
    ----------
    strategy : Strategy or path
        A strategy of any storage, or its file.
    player : int, optional
        Only this player's infosets, from 0.
    prefix : str
        Only infosets whose key starts with it.
    rows : int, optional
        At most this many; all by default.
    max_histories : int
        The largest game that is compiled for reach and value.

    Raises
    ------
    StrategyError
        If there is no such player or no such infoset.
    MemoryLimitError
        If there are too many rows to keep.
    """
    strategy = strategy if isinstance(strategy, Strategy) else load_strategy(strategy)
    if player is not None and not 0 <= player < strategy.players:
        raise StrategyError(f"{game_title(strategy.game)} has players 1 to {strategy.players}; got player {player + 1}")
    notes: tuple[str, ...] = ()
    try:
        tree = _tree(strategy.game, max_histories)
        found, notes = _with_values(strategy, tree)
        total = tree.num_infosets
    except CounterplayError as error:
        reason = f"the game has more than {max_histories:,} histories"
        reason = reason if isinstance(error, MemoryLimitError) else str(error)
        found = (InfosetRow(*row) for row in strategy.infosets())
        notes, total = (f"reach and value are not known: {reason}",), strategy.num_infosets
    wanted = (row for row in found if row.infoset.startswith(prefix) and player in (None, row.player))
    if rows is None:
        check_memory(f"a table of {total:,} infosets", total * ROW_BYTES, None, "limit the rows")
    shown = tuple(itertools.islice(wanted, rows))
    if not shown and rows != 0:
        raise StrategyError(_nothing(strategy, player, prefix))
    left = None if total > COUNTED else sum(1 for _ in wanted)
    if rows is None or (not prefix and player is None):
        left = 0 if rows is None else total - len(shown)
    return InfosetTable(strategy.game, shown, left, notes)


def _tree(game: str, max_histories: int) -> GameTree:
    limit = min(available_memory(), max_histories * BUILD_BYTES_PER_HISTORY)
    return open_game(game, "history", memory_limit=limit)


def _with_values(strategy: Strategy, tree: GameTree) -> tuple[Iterable[InfosetRow], tuple[str, ...]]:
    """All infosets of a compiled game, in the order of play."""
    entries, notes = tree_entries(strategy, tree)
    reach, value = infoset_values(tree, entries)
    decisions = np.flatnonzero(tree.player >= 0)
    depth = np.full(tree.num_infosets, tree.num_histories, np.int64)
    np.minimum.at(depth, tree.infoset[decisions], tree.depth[decisions])
    order = np.lexsort((np.arange(tree.num_infosets), tree.infoset_player, depth))

    def rows() -> Iterator[InfosetRow]:
        for infoset in order.tolist():
            first, last = tree.infoset_offset[infoset : infoset + 2].tolist()
            mix = dict(zip(tree.actions_of(infoset), entries[first:last].tolist(), strict=True))
            won = float(value[infoset])
            yield InfosetRow(
                int(tree.infoset_player[infoset]), tree.infoset_names[infoset], mix, float(reach[infoset]),
                None if math.isnan(won) else won,
            )  # fmt: skip

    return rows(), notes


def tree_entries(strategy: Strategy, tree: GameTree) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """The probabilities of all entries of a compiled game, and notes on what the strategy does not cover.

    Raises StrategyError if the strategy does not fit the game.
    """
    if isinstance(strategy, BucketStrategy):
        return strategy.lifted(tree).table, ()
    if isinstance(strategy, PublicStrategy):
        return strategy.tabular.for_tree(tree), ()
    if not isinstance(strategy, TabularStrategy):
        raise StrategyError(f"a {type(strategy).__name__} has no table on the histories of its game")
    covered = (
        f"the strategy covers {strategy.num_infosets:,} of {tree.num_infosets:,} infosets; it is uniform elsewhere"
    )
    return strategy.for_tree(tree), (covered,) if strategy.num_infosets < tree.num_infosets else ()


def _nothing(strategy: Strategy, player: int | None, prefix: str) -> str:
    whose = "" if player is None else f" of player {player + 1}"
    known = (name for owner, name, _ in strategy.infosets() if player in (None, owner))
    first = ", ".join(repr(name) for name in itertools.islice(known, 3))
    start = f"starts with {prefix!r}" if prefix else "is there"
    return f"no infoset{whose} in {strategy.game} {start}" + (f"; the first are {first}" if first else "")
