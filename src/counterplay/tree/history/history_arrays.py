"""``HistoryArrays``: every history of a game in flat, public arrays.

Histories are numbered so that a parent comes before its children, the children of one history are adjacent in the
order of its actions, and history 0 is the root.  Information sets are numbered by player, each player's in the order
in which they are first reached; so, with perfect recall, a set comes after every set that precedes it in play.
``NULL`` (-1) means "none".

An *entry* is one (information set, action) pair.  Strategies, regrets and averages are flat arrays over entries;
the entries of information set ``I`` are ``infoset_offset[I] .. infoset_offset[I + 1] - 1``.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.game.game import CHANCE, TERMINAL, GameFacts
from counterplay.runtime.memory import format_bytes
from counterplay.runtime.notebook import Described

NULL = -1
"""The index that means "none"."""

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class HistoryArrays(Described):
    """The arrays of a compiled game.  H histories, I information sets, E entries, Z terminal histories, n players.

    * ``name``: the name that opens the game again (``Game.spec()``)
    * ``players``: number of players n
    * ``parent`` (H,): the history before ``h`` is ``parent[h]``, or NULL at the root
    * ``first_child`` (H,): the children of ``h`` are ``first_child[h] .. first_child[h] + num_children[h] - 1``; NULL
      at a terminal
    * ``num_children`` (H,): number of actions at ``h``; 0 at a terminal
    * ``depth`` (H,): number of moves before ``h``
    * ``player`` (H,): who acts at ``h``: 0 .. n-1, CHANCE (-1) or TERMINAL (-2)
    * ``infoset`` (H,): the information set of decision ``h``; NULL elsewhere
    * ``event`` (H,): the chance event of chance history ``h``, an index into ``event_labels``; NULL elsewhere
    * ``outcome`` (H,): the row of ``utility`` of terminal history ``h``; NULL elsewhere
    * ``chance_prob`` (H,): the probability of the chance move into ``h``; 1 if the move was not chance's
    * ``utility`` (Z, n): what each player wins, by ``outcome``
    * ``infoset_player`` (I,): whose information set it is
    * ``infoset_offset`` (I+1,): the entries of ``I`` start at ``infoset_offset[I]``
    * ``infoset_labels`` (I,): the actions of ``I``, an index into ``label_sets``
    * ``player_infosets`` (n+1,): the information sets of player ``p`` are
      ``player_infosets[p] .. player_infosets[p + 1] - 1``
    * ``infoset_names``: what the player knows, as written by the game
    * ``label_sets``: the different lists of action labels
    * ``event_labels``: the outcome labels of each chance event
    * ``big_blind``: chips in one big blind of a poker game
    * ``sampling_scheme``: the sampling scheme that was made for the game
    """

    name: str
    players: int
    parent: Int32
    first_child: Int32
    num_children: Int32
    depth: Int32
    player: NDArray[np.int8]
    infoset: Int32
    event: Int32
    outcome: Int32
    chance_prob: Float64
    utility: Float64
    infoset_player: NDArray[np.int8]
    infoset_offset: Int64
    infoset_labels: Int32
    player_infosets: Int64
    infoset_names: tuple[str, ...]
    label_sets: tuple[tuple[str, ...], ...]
    event_labels: tuple[tuple[str, ...], ...]
    big_blind: float | None = None
    sampling_scheme: str | None = None

    def _title(self) -> str:
        return f"{type(self).__name__} of {self.name}"

    def _sizes(self) -> list[tuple[str, str]]:
        return [
            ("players", str(self.players)),
            ("histories", f"{self.num_histories:,}"),
            ("terminals", f"{self.num_terminals:,}"),
            ("infosets", f"{self.num_infosets:,}"),
            ("memory", format_bytes(self.nbytes)),
        ]

    @property
    def num_histories(self) -> int:
        """Number of histories H: decisions, chance events and terminals."""
        return len(self.parent)

    @property
    def num_infosets(self) -> int:
        """Number of information sets I of all players."""
        return len(self.infoset_player)

    @property
    def num_entries(self) -> int:
        """Number of (information set, action) entries E."""
        return int(self.infoset_offset[-1])

    @property
    def num_terminals(self) -> int:
        """Number of terminal histories Z."""
        return len(self.utility)

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays of this tree."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def infosets_of(self, player: int) -> range:
        """The information sets of a player."""
        return range(int(self.player_infosets[player]), int(self.player_infosets[player + 1]))

    def decisions_of(self, player: int) -> int:
        """Number of histories at which a player moves."""
        return int(np.count_nonzero(self.player == player))

    def levels(self) -> list[Int64]:
        """The histories of each depth in their order, the root first."""
        return np.split(np.argsort(self.depth, kind="stable"), np.cumsum(np.bincount(self.depth))[:-1])

    def actions_of(self, infoset: int) -> tuple[str, ...]:
        """The action labels of an information set."""
        return self.label_sets[self.infoset_labels[infoset]]

    def entry(self, player: int, infoset_name: str, action: str) -> int:
        """The entry of an action, found by the names that the game gave."""
        infoset = self.find_infoset(player, infoset_name)
        actions = self.actions_of(infoset)
        if action not in actions:
            raise GameError(f"information set {infoset_name!r} has no action {action!r}; it has {', '.join(actions)}")
        return int(self.infoset_offset[infoset]) + actions.index(action)

    def find_infoset(self, player: int, name: str) -> int:
        """The information set with the name ``name``."""
        try:
            return self._infoset_index[player, name]
        except KeyError:
            raise GameError(f"{self.name} has no information set {name!r} of player {player + 1}") from None

    def history(self, node: int) -> list[str]:
        """The labels of the moves from the root to a history."""
        labels = []
        while self.parent[node] != NULL:
            before = int(self.parent[node])
            move = node - int(self.first_child[before])
            if self.player[before] == CHANCE:
                labels.append(self.event_labels[self.event[before]][move])
            else:
                labels.append(self.actions_of(int(self.infoset[before]))[move])
            node = before
        return labels[::-1]

    @functools.cached_property
    def _infoset_index(self) -> dict[tuple[int, str], int]:
        return {
            (int(p), name): i for i, (p, name) in enumerate(zip(self.infoset_player, self.infoset_names, strict=True))
        }

    @functools.cached_property
    def facts(self) -> GameFacts:
        """Facts of the whole game."""
        return GameFacts(
            players=self.players,
            has_chance=bool(np.any(self.player == CHANCE)),
            zero_sum=self.players == 2 and self.sums_to_zero,
            min_utility=float(self.utility.min(initial=np.inf)),
            max_utility=float(self.utility.max(initial=-np.inf)),
        )

    @property
    def sums_to_zero(self) -> bool:
        """Whether utilities sum to 0 everywhere, up to rounding of the largest utility."""
        total = np.abs(self.utility.sum(axis=1)).max(initial=0.0)
        return bool(total <= 1e-9 * np.abs(self.utility).max(initial=0.0))

    def utility_range(self, player: int) -> float:
        """The difference between a player's largest and smallest utility (Δ_i)."""
        return float(np.ptp(self.utility[:, player]))

    @functools.cached_property
    def digest(self) -> str:
        """A fingerprint of the information sets and their actions: two games agree on it or are not the same."""
        actions = (self.actions_of(infoset) for infoset in range(self.num_infosets))
        return infosets_digest(self.infoset_player.tolist(), self.infoset_names, actions)

    @functools.cached_property
    def fingerprint(self) -> str:
        """A fingerprint of the whole game: its histories, chances and utilities as well."""
        text = hashlib.sha256(self.digest.encode())
        for array in (self.parent, self.player, self.infoset, self.chance_prob, self.utility):
            text.update(np.ascontiguousarray(array).data)
        return text.hexdigest()

    def counts(self) -> dict[str, int]:
        """Numbers of histories by kind."""
        return {
            "decision": int(np.count_nonzero(self.player >= 0)),
            "chance": int(np.count_nonzero(self.player == CHANCE)),
            "terminal": int(np.count_nonzero(self.player == TERMINAL)),
        }


def number_labels(labels: Iterable[tuple[str, ...]]) -> tuple[tuple[tuple[str, ...], ...], Int32]:
    """The different lists of labels, and for each list given its number among them."""
    numbers: dict[tuple[str, ...], int] = {}
    column = [numbers.setdefault(row, len(numbers)) for row in labels]
    return tuple(numbers), np.array(column, np.int32)


def infosets_digest(players: Iterable[int], names: Iterable[str], actions: Iterable[tuple[str, ...]]) -> str:
    """The fingerprint of information sets given by their players, names and actions (``HistoryArrays.digest``)."""
    text = hashlib.sha256()
    for player, name, row in zip(players, names, actions, strict=True):
        text.update(json.dumps((player, name, *row)).encode() + b"\n")
    return text.hexdigest()
