"""``Strategy``: how every player of a game plays, whatever the storage, and its exports as tables.

An infoset is identified by its key: the text of ``State.infoset``.  In poker that is ``poker_game.infoset_name``, as
``AsKs/2c7dTh:rc/``, for strategies of any storage; players count from 0, in exports too.  The storages are
``TabularStrategy`` (a row for each infoset of any game), ``PublicStrategy`` (public states x hands) and
``BucketStrategy`` (betting x buckets of cards).
"""

from __future__ import annotations

import contextlib
import dataclasses
import html
import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import counterplay
from counterplay.errors import CounterplayError, StrategyError, UnknownInfosetError
from counterplay.poker.postflop import game_title
from counterplay.runtime.data_frames import Tabulated
from counterplay.runtime.memory import check_memory
from counterplay.runtime.suggestions import did_you_mean

if TYPE_CHECKING:
    from counterplay.strategy.hand_table import HandTable

Row: TypeAlias = tuple[int, str, dict[str, float]]
"""An infoset of a strategy: player, key, probabilities of the actions."""

ROW_BYTES = 250
"""Bytes of an infoset with its key as Python objects, roughly."""

COMPARED = 20_000
"""Infosets up to which the closest name is sought."""

SHOWN = 24
"""Infosets in the table of a notebook."""

COLUMNS = ("player", "infoset", "action", "probability")


@dataclasses.dataclass(frozen=True)
class Provenance:
    """Where a strategy came from: enough to reproduce it."""

    algorithm: str
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seed: int | None = None
    iterations: int = 0
    seconds: float = 0.0
    version: str = counterplay.__version__

    def __str__(self) -> str:
        return self.algorithm + (f", {self.iterations:,} iterations" if self.iterations > 1 else "")


class Strategy(Tabulated, ABC):
    """A strategy for every player of a game.

    Attributes
    ----------
    game : str
        The name that opens the game again.
    players : int
        Number of players.
    provenance : Provenance
        Where it came from.
    """

    if TYPE_CHECKING:  # fields in one storage, computed in another

        @property
        @abstractmethod
        def game(self) -> str: ...

        @property
        @abstractmethod
        def players(self) -> int: ...

        @property
        @abstractmethod
        def provenance(self) -> Provenance: ...

    @property
    @abstractmethod
    def num_infosets(self) -> int:
        """Number of infosets that ``infosets`` iterates over."""

    @abstractmethod
    def probabilities(self, player: int, infoset: str) -> dict[str, float]:
        """The probabilities of the actions at an infoset, by its key.

        Raises
        ------
        StrategyError
            If the player has no such infoset.
        """

    def __getitem__(self, infoset: str | tuple[int, str]) -> dict[str, float]:
        """The probabilities of the actions at an infoset: ``strategy["K:"]``, or with the player ``strategy[0, "K:"]``.

        Raises
        ------
        UnknownInfosetError
            If there is no such infoset, with the closest one; or if several players have it and none is named.
        """
        given: tuple[Any, ...] = infoset if isinstance(infoset, tuple) else (None, infoset)
        player, name = given if len(given) == 2 else (None, None)
        if not isinstance(name, str) or player not in (None, *range(self.players)):
            raise UnknownInfosetError(
                f"an infoset is named by its text, as strategy['K:'], or with its player, 0 to {self.players - 1}, as "
                f"strategy[0, 'K:']; got {infoset!r}"
            )
        found = {}
        for one in range(self.players) if player is None else (player,):
            with contextlib.suppress(StrategyError):
                found[one] = self.probabilities(one, name)
        if not found:
            owner = "" if player is None else f" of player {player} (players count from 0)"
            hint = did_you_mean(name, self._some_names(player), "infosets() iterates over all of them")
            raise UnknownInfosetError(f"the strategy of {self.game} has no infoset {name!r}{owner}; {hint}")
        if len(found) > 1:
            ways = " or ".join(f"strategy[{one}, {name!r}]" for one in found)
            raise UnknownInfosetError(f"several players have an infoset {name!r}; name one: {ways}")
        return next(iter(found.values()))

    def _some_names(self, player: int | None) -> list[str]:
        """Keys of infosets, of one player or all, for suggestions; none where there are too many to compare."""
        try:
            if self.num_infosets > COMPARED:
                return []
            return [name for owner, name, _ in self.infosets() if player in (None, owner)]
        except CounterplayError:  # infosets of this game have no names
            return []

    @abstractmethod
    def infosets(self) -> Iterator[Row]:
        """Player, key and probabilities of every infoset."""

    @abstractmethod
    def hands(self, node: str = "", board: str | None = None) -> HandTable:
        """What each private hand does at a public state.

        Parameters
        ----------
        node : str
            The public actions that lead there.
        board : str, optional
            The board there; needed if cards were dealt before it.

        Raises
        ------
        GameError
            If there is no such decision or board, or hands are not dealt by chance in this game.
        """

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, atomically; ``load_strategy`` reads it."""

    # ---------------------------------------------------------------------------------------------- exports

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain types: ``["strategy"][player][infoset][action]`` is a probability."""
        self._check_size("a dictionary")
        rows: list[dict[str, dict[str, float]]] = [{} for _ in range(self.players)]
        for player, name, row in self.infosets():
            rows[player][name] = row
        return {
            "game": self.game,
            "players": self.players,
            "provenance": dataclasses.asdict(self.provenance),
            "strategy": rows,
        }

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with the columns player, infoset, action, probability; one row for each action.

        Players count from 1, as in the tables of ``evaluate`` and ``infoset_table``.

        Raises
        ------
        CounterplayError
            If pandas is not installed.
        """
        self._check_size("a data frame")
        return super().to_pandas()

    def _columns(self) -> tuple[str, ...]:
        return COLUMNS

    def _lines(self) -> Iterator[tuple[int, str, str, float]]:
        """A line for each action of each infoset; players count from 1, as in all tables."""
        for player, name, row in self.infosets():
            for action, probability in row.items():
                yield player + 1, name, action, probability

    def _check_size(self, what: str) -> None:
        check_memory(f"{what} of {self.num_infosets:,} infosets", self.num_infosets * ROW_BYTES, None, "use to_csv")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {game_title(self.game)}: {self._summary()}>"

    def _summary(self) -> str:
        return f"{self.num_infosets:,} infosets, {self.provenance}"

    def _repr_html_(self) -> str:
        """For notebooks: the 13 x 13 grid of the first decision where hands are two cards, else the first infosets."""
        title = f"<p><b>{html.escape(game_title(self.game))}</b>: {html.escape(self._summary())}</p>"
        grid = self._grid_html()
        if grid is not None:
            return title + grid
        heads = "".join(f"<th>{head}</th>" for head in ("player", "infoset", "probabilities"))
        rows = []
        for player, name, row in itertools.islice(self.infosets(), SHOWN):
            mix = ", ".join(f"{action} {probability:.4f}" for action, probability in row.items())
            cells = "".join(f"<td>{html.escape(text)}</td>" for text in (str(player + 1), name, mix))
            rows.append(f"<tr>{cells}</tr>")
        more = "" if self.num_infosets <= SHOWN else f"<p>and {self.num_infosets - SHOWN:,} more infosets</p>"
        return f"{title}<table><tr>{heads}</tr>{''.join(rows)}</table>{more}"

    def _grid_html(self) -> str | None:
        from counterplay.strategy.hand_page import grid_html

        try:
            table = self.hands()
        except CounterplayError:
            return None
        return grid_html(table) if table.two_cards else None


def not_a_strategy(what: object, needed: str = "a strategy (load_strategy reads one)") -> StrategyError:
    """The error for something else where a strategy is needed; a result is answered with where its strategy is."""
    where = ", whose strategy is its .profile" if hasattr(what, "profile") else ""
    return StrategyError(f"{needed} is needed; got {type(what).__name__}{where}")
