"""Monte Carlo CFR without compiling the game: walks over ``State`` objects, tables that grow by hashing.

The algorithms are those of ``solvers/mccfr.py`` (Gibson 2014, algorithms 2 to 5), with the same random numbers used in
the same order, so that a game small enough for both gives the same regrets.  A row of a table is created when its
information set is first visited; only visited information sets take memory, and a game of any number of histories can
be sampled.  The price is speed (Python instead of kernels), and that nothing can be measured exactly: a best response
would have to visit the whole game.

A profile from here covers the visited information sets, and its digest says so: it starts with ``seen:``.  Chance
sampling is not available, since it walks all actions of all players.
"""

from __future__ import annotations

import math
import sys
import threading
from array import array
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import CounterplayError, GameError, SolverError, StrategyError
from counterplay.evaluation.measurement import Measurement
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.game.state_checks import check_key, search_fault, unexplained
from counterplay.kernels.walks import alias_table, random_state
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.array_checks import COUNTS, check_like, check_limits
from counterplay.runtime.memory import available_memory
from counterplay.runtime.pacing import Until
from counterplay.runtime.threads import ThreadPool
from counterplay.solvers.mccfr import MccfrConfig, SampledSolver, average_type
from counterplay.solvers.result import RunFacts, Status
from counterplay.solvers.sampling_schemes import default_scheme, scheme_named, scheme_row
from counterplay.solvers.settings import Settings
from counterplay.solvers.state_walks import TYPECODES, Walker
from counterplay.storage import pack_texts, unpack_texts
from counterplay.strategy.tabular import SEEN, TabularStrategy, normalise
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import infosets_digest
from counterplay.tree.public.public_tree import PublicTree

PROBABILITY_TOLERANCE = 1e-9
ROW_BYTES = 150
"""About what an information set takes besides its key and its numbers: a place in a dict, an offset, its actions."""


class StateSampler(SampledSolver):
    """Monte Carlo CFR on the states of a game: any sampling but ``chance``, one thread.

    Parameters
    ----------
    game : Game or str
        What to solve.
    *args, **kwargs
        Those of ``SampledSolver``; a run ends when the tables fill ``memory_limit``.
    """

    kind = "mccfr-states"
    form_name = "states"
    measures = False

    def _open(self, game: Any, memory_limit: int | None) -> None:
        super()._open(game, memory_limit)
        self.memory_limit = available_memory() if memory_limit is None else memory_limit

    def _opened(self, game: Any, memory_limit: int | None) -> Game:
        if isinstance(game, GameTree):
            raise SolverError(f"{game.name} is compiled; states are walked of a game or the name of one")
        self.game = open_game(game, "states")
        return self.game

    @classmethod
    def settings_of(cls, config: Settings | str | None) -> MccfrConfig:
        """The settings, which must be for this form."""
        settings: MccfrConfig = super().settings_of(config)
        if settings.sampling == "chance":
            raise SolverError(
                "chance-sampling walks all actions of all players and needs the compiled game; "
                "without it use external-sampling, outcome-sampling, average-strategy-sampling or pure-cfr"
            )
        if settings.threads != 1:
            raise SolverError(f"states are walked in one thread; leave out threads={settings.threads}")
        return settings

    def _check_game(self) -> None:
        players = self.game.players
        if not isinstance(players, int) or not 1 <= players <= 100:
            raise GameError(f"{self.name}: players must be an integer from 1 to 100; got {players!r}")
        if not (self._given is None or callable(self._given)):
            raise SolverError(f"a sampling scheme of states is a function or a name; got {self._given!r}")

    @classmethod
    def memory_bytes(cls, tree: Game, config: Any = None) -> int:
        """Nothing beforehand: the tables grow with what is visited."""
        return 0

    def _allocate(self) -> None:
        settings, players = self.config, self.game.players
        self._scheme = self._given if callable(self._given) else None
        self.regret: array[Any] = array(TYPECODES[settings.storage])
        self.average: array[Any] = array(TYPECODES[average_type(settings.storage)])
        self.chances = array("d")  # of a sampling scheme
        self.rows: list[dict[Hashable, int]] = [{} for _ in range(players)]
        self.row_player, self.row_offset = array("b"), array("q")
        self.row_actions: list[tuple[Hashable, ...]] = []
        self.row_names: list[str] = []
        self.unclaimed: list[dict[str, int]] = [
            {} for _ in range(players)
        ]  # rows of a checkpoint not yet visited again
        self.counters = [0, 0, 0]  # iterations, histories touched, updates clipped
        self.random = int(random_state(settings.seed, 1)[0, 0])
        self._action_sets: dict[tuple[Hashable, ...], tuple[Hashable, ...]] = {}
        self._texts: list[set[str]] = [set() for _ in range(players)]  # of keys that are not texts themselves
        self._events: dict[tuple[float, ...], tuple[list[float], list[int]]] = {}
        self._key_bytes = 0
        self._walker = Walker(self)
        self._pool = ThreadPool()

    @property
    def name(self) -> str:
        """The game's name."""
        return self.game.spec()

    @property
    def iterations(self) -> int:
        """Iterations done so far."""
        return self.counters[0]

    @property
    def nodes(self) -> int:
        """Histories touched so far."""
        return self.counters[1]

    @property
    def histories(self) -> int | None:
        """Unknown: the game is never visited as a whole."""
        return None

    @property
    def infosets_seen(self) -> int:
        """Information sets visited so far."""
        return len(self.row_actions)

    @property
    def information_sets(self) -> int:
        """Those visited so far."""
        return self.infosets_seen

    @property
    def table_bytes(self) -> int:
        """Approximate bytes of the tables."""
        numbers = sum(table.itemsize * len(table) for table in (self.regret, self.average, self.chances))
        return numbers + self._key_bytes + ROW_BYTES * self.infosets_seen

    def row(self, player: int, key: Hashable, actions: Sequence[Hashable]) -> int:
        """The first entry of an information set that may be new."""
        row = self.rows[player].get(key)
        if row is None:
            row = self._first_visit(player, key, tuple(actions))
        known = self.row_actions[row]
        if known is not actions and known != tuple(actions):
            raise GameError(
                f"{self.name}: the actions at information set {key!r} differ: {list(map(str, actions))} but "
                f"{list(map(str, known))} earlier; the player could distinguish the two"
            )
        return self.row_offset[row]

    def _first_visit(self, player: int, key: Hashable, actions: tuple[Hashable, ...]) -> int:
        """Create the row of an information set, or restore it from a checkpoint."""
        check_key(self.game, key)
        text = key if isinstance(key, str) else str(key)
        if text in self.unclaimed[player]:
            row = self.unclaimed[player].pop(text)
            if tuple(map(str, actions)) != self.row_actions[row]:
                raise StrategyError(
                    f"the checkpoint is of another game than {self.name}: the actions at {text!r} were "
                    f"{', '.join(map(str, self.row_actions[row]))}, now {', '.join(map(str, actions))}"
                )
            self.row_actions[row] = self._action_sets.setdefault(actions, actions)
            self.rows[player][key] = row
            return row
        if not actions or len(set(map(str, actions))) != len(actions):
            raise GameError(f"{self.name}: information set {key!r} has no or equal actions: {list(actions)}")
        if text in self._texts[player] or (text is not key and text in self.rows[player]):
            raise GameError(f"{self.name}: two information sets of player {player + 1} are both written {text!r}")
        if text is not key:
            self._texts[player].add(text)
        row = self._add_row(player, text, self._action_sets.setdefault(actions, actions))
        self.rows[player][key] = row
        zeros = [0] * len(actions)
        self.regret.extend(zeros)
        if self.config.keeps_average:
            self.average.extend(zeros)
        if self.config.sampling in ("scheme", "probing"):
            self.chances.extend(self._scheme_row(player, text, tuple(map(str, actions))))
        return row

    def _add_row(self, player: int, text: str, actions: tuple[Hashable, ...]) -> int:
        last = len(self.row_actions) - 1
        self.row_offset.append(self.row_offset[last] + len(self.row_actions[last]) if last >= 0 else 0)
        self.row_player.append(player)
        self.row_actions.append(actions)
        self.row_names.append(text)
        self._key_bytes += sys.getsizeof(text)
        return last + 1

    def _scheme_row(self, player: int, text: str, actions: tuple[str, ...]) -> list[float]:
        """The probabilities of a sampling scheme at a new information set."""
        if self._scheme is None:  # as for a compiled game, with the actions of the first visit
            self._scheme = scheme_named(self.config.scheme, default_scheme(self.game, actions))
        return scheme_row(self._scheme, player, text, actions)

    def event(self, chances: tuple[float, ...]) -> tuple[list[float], list[int]]:
        """The alias table of a chance event (see ``kernels/history/walks.py``), made at its first visit."""
        table = self._events.get(chances)
        if table is None:
            total = math.fsum(chances)
            if not all(chance >= 0.0 for chance in chances) or abs(total - 1.0) > PROBABILITY_TOLERANCE:
                raise GameError(f"{self.name}: chance probabilities are at least 0 and sum to 1; got {list(chances)}")
            threshold, alias = alias_table(np.array(chances))
            table = self._events[chances] = (threshold.tolist(), alias.tolist())
        return table

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations.

        They run in a thread of their own: Ctrl-C reaches the main thread, which lets the iteration under way finish,
        so that the tables are whole.
        """
        stop = threading.Event()

        def work() -> None:
            for _ in range(iterations):
                if stop.is_set():
                    break
                self._walker.iterate()

        try:
            self._pool.call(work, stop.set)
        except Exception as error:
            if isinstance(error, CounterplayError | MemoryError):
                raise
            if isinstance(error, RecursionError):
                reason = "a player has too many moves in a row for walks over states; compile the game"
                raise GameError(f"{self.name}: {reason}") from None
            fault = search_fault(self.game) or unexplained(error)
            raise GameError(f"{self.name}: {fault.text}{fault.place and f'; see {fault.place}'}") from error

    def measure(self) -> Measurement:
        """Nothing is measured: every number is NaN."""
        return Measurement.unknown(self.game.players)

    def _reached(self, until: Until, last: Measurement) -> Status | None:
        return "memory" if self.table_bytes > self.memory_limit else super()._reached(until, last)

    def facts(self) -> RunFacts:
        """What reports say about the game and the tables."""
        return RunFacts(
            big_blind=self.game.big_blind, table_bytes=self.table_bytes, seed=self.config.seed, threads=1
        )  # fmt: skip

    def strategy(self, kind: Literal["average", "last"] | None = None) -> NDArray[np.float64]:
        """The probabilities of a profile at the entries visited so far, in the order of their first visits."""
        kind = self._profile_kind(kind)
        weights = np.array(self.average if kind == "average" else self.regret, dtype=np.float64)
        return normalise(np.maximum(weights, 0.0), self._offset())

    def _offset(self) -> NDArray[np.int64]:
        return np.array([*self.row_offset, len(self.regret)], np.int64)

    def profile(self, kind: Literal["average", "last"] | None = None) -> TabularStrategy:
        """The profile at information sets visited so far; ``TabularStrategy.for_tree`` plays uniformly at others."""
        strategy, offset = self.strategy(kind), self._offset()
        players = np.array(self.row_player, np.int8)
        order = np.argsort(players, kind="stable")
        sizes = np.diff(offset)[order]
        names = tuple(self.row_names[row] for row in order)
        actions = tuple(tuple(map(str, self.row_actions[row])) for row in order)
        pieces = [strategy[offset[row] : offset[row + 1]] for row in order]
        return TabularStrategy(
            game=self.name,
            digest=SEEN + infosets_digest(players[order].tolist(), names, actions),
            players=self.game.players,
            infoset_player=players[order],
            infoset_offset=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            infoset_names=names,
            actions=actions,
            table=np.concatenate([np.zeros(0), *pieces]),
            provenance=self.provenance(kind),
        )

    def identity(self) -> dict[str, str]:
        """What a checkpoint says of its game: its name alone, for the whole of it was never seen."""
        return {"game": self.name, "digest": SEEN, "fingerprint": SEEN}

    def tables(self) -> dict[str, NDArray[Any]]:
        """Copies of the tables: the live ones grow."""
        kind = self.config.storage
        kept = average_type(kind)
        labels = {actions: place for place, actions in enumerate(self._label_sets())}
        return {
            "regret": np.array(self.regret, kind),
            "average": np.array(self.average, kept),
            "scheme": np.array(self.chances, np.float64),
            "random_state": np.array([self.random], np.uint64).view(np.int64),
            "counters": np.array(self.counters, np.int64),
            "row_player": np.array(self.row_player, np.int8),
            "row_labels": np.array([labels[tuple(map(str, row))] for row in self.row_actions], np.int32),
            **pack_texts("name", self.row_names),
        }

    def _label_sets(self) -> list[tuple[str, ...]]:
        return sorted({tuple(map(str, actions)) for actions in self.row_actions})

    def state(self) -> dict[str, Any]:
        """The labels of actions."""
        return {"label_sets": self._label_sets()}

    @classmethod
    def from_checkpoint(cls, game: Any, config: Mapping[str, Any], algorithm: str, memory_limit: int | None) -> Self:
        """A fresh solver with the settings of a checkpoint."""
        if config.get("scheme") == "custom":
            raise SolverError("a custom sampling scheme is not in the checkpoint; runs over states need a named one")
        return super().from_checkpoint(game, config, algorithm, memory_limit)

    @classmethod
    def open_game(cls, game: Any, memory_limit: int | None) -> Any:
        """The game of a resumed run, which must not be compiled."""
        if isinstance(game, GameTree | BucketGame | PublicTree | type):
            name = game.__name__ if isinstance(game, type) else game.name
            raise SolverError(f"a checkpoint of states is resumed with the game itself or its name; got {name}")
        return super().open_game(game, memory_limit)

    def fits(self, header: Mapping[str, Any]) -> bool:
        """By its name; whether the rules are the same shows at each information set that is visited again."""
        return self.name == str(header["game"])

    def fill(self, tables: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Take over the tables of a checkpoint."""
        label_sets = [tuple(row) for row in state["label_sets"]]
        rows = tables["row_player"].shape
        if len(rows) != 1 or not all(len(set(row)) == len(row) > 0 for row in label_sets):
            raise ValueError("its information sets are no list, or one of them has no actions or some twice")
        wanted = {
            "row_player": (np.int8, rows, 0, self.game.players - 1),
            "row_labels": (np.int32, rows, 0, len(label_sets) - 1),
            "counters": (np.int64, (3,), *COUNTS),
        }
        for key, (kind, shape, low, high) in wanted.items():
            check_like(key, tables[key], shape, kind)
            check_limits(key, tables[key], low, high)
        check_like("random_state", tables["random_state"], (1,), np.int64)
        for player, name, labels in zip(
            tables["row_player"].tolist(), unpack_texts("name", tables), tables["row_labels"].tolist(), strict=True
        ):
            self.unclaimed[player][name] = self._add_row(player, name, label_sets[labels])
        entries = sum(map(len, self.row_actions))
        live_tables: dict[str, tuple[array[Any], bool]] = {
            "regret": (self.regret, True),
            "average": (self.average, self.config.keeps_average),
            "scheme": (self.chances, self.config.sampling in ("scheme", "probing")),
        }
        for key, (live, kept) in live_tables.items():
            check_like(key, tables[key], (entries * kept,), np.dtype(live.typecode))
            live.frombytes(np.ascontiguousarray(tables[key]).tobytes())
        self.random = int(tables["random_state"].view(np.uint64)[0])
        self.counters[:] = tables["counters"].tolist()
