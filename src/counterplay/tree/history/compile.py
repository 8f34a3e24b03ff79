"""From a game in Python to a ``GameTree``: one walk over all histories, then array work.

The walk is depth first with an explicit stack (no recursion limit) and numbers the children of a history when the
history is expanded, so children are adjacent and parents precede them.  It calls the rules once per history and keeps
only what requires the rules; everything else (parents, depths, probabilities) is derived afterwards in NumPy.  Errors
in a user's game are found here and reported with the history where they occur.
"""

from __future__ import annotations

import contextlib
import math
import sys
from array import array
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from counterplay.errors import GameError, MemoryLimitError
from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.game.registry import make
from counterplay.game.state_checks import (
    RuleError,
    chance_pairs,
    check_key,
    check_state,
    check_utilities,
    checked_child,
    checked_player,
    checked_root,
    place_of,
    unexplained,
)
from counterplay.runtime.memory import available_memory, format_bytes, read_memory, used_memory
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.suggestions import suggest_arguments
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL, number_labels
from counterplay.tree.history.sizes import BUILD_BYTES_PER_HISTORY, preflight

PROBABILITY_TOLERANCE = 1e-9
PROGRESS_EVERY = 1 << 14
UNRETURNED = 64 << 20
"""Bytes beyond the limit that Python may hold of what it has freed, before a walk is stopped."""

UNORDERED = (dict, set, frozenset)

MAX_UTILITY = 1e100
"""Largest utility; sums of regrets over iterations and histories then stay far from the largest float."""


@suggest_arguments
def compile_game(
    game: Game | str,
    *,
    max_depth: int = 10_000,
    memory_limit: int | str | None = None,
    progress: ProgressCallback | None = None,
) -> GameTree:
    """Compile a game into flat arrays.

    Raises GameError if the game contradicts itself, with the history; MemoryLimitError if the tree would not fit,
    soon if sampling shows it, otherwise when the walk reaches the limit.

    Parameters
    ----------
    game : Game or str
        A game, or a name that ``make`` understands.
    max_depth : int
        Longest history allowed; a longer one means a game that never ends.
    memory_limit : int or str, optional
        Memory that the tree may take, as ``"2GiB"`` or in bytes; by default what the machine has free.
    progress : callable, optional
        Called now and then with the number of histories seen so far.
    """
    game = make(game)
    asked = read_memory(memory_limit)
    limit = available_memory() if asked is None else asked
    walk = _Walk(game, max_depth, limit, progress)
    walk.run()
    return walk.tree()


def _few(values: Sequence[Any]) -> str:
    """A list for a message, truncated."""
    if len(values) <= 20:
        return str(list(values))
    return f"[{', '.join(map(repr, values[:10]))}, ... {len(values):,} in all]"


class _Walk:
    """The walk over the histories of one game, and its records."""

    def __init__(self, game: Game, max_depth: int, limit: int, progress: ProgressCallback | None) -> None:
        if not isinstance(game.players, int) or not 1 <= game.players <= 100:
            raise GameError(f"{game.spec()}: players must be an integer from 1 to 100; got {game.players!r}")
        self.game = game
        self.max_depth = max_depth
        self.max_histories = min(limit // BUILD_BYTES_PER_HISTORY, 2**31 - 2)
        self.limit = limit
        self.unchecked = min(PROGRESS_EVERY, self.max_histories)  # smaller trees are walked sooner than sampled
        self.used_before = used_memory()
        self.progress = progress
        self.movers = array("b")  # per history, in order of numbering
        self.utilities = array("d")  # per terminal, in order of numbering
        self.expanded = array("i")  # histories that have children, in order of expansion
        self.counts = array("i")
        self.rows = array("i")  # information set (provisional) or chance event of each expanded history
        self.depths = array("i")
        self.infosets: list[dict[Hashable, int]] = [{} for _ in range(game.players)]
        self.infoset_actions: list[tuple[Hashable, ...]] = []
        self.infoset_player: list[int] = []
        self.events: dict[tuple[tuple[Hashable, float], ...], int] = {}
        self.current: tuple[int, int] | None = None

    def run(self) -> None:
        """Visit every history."""
        try:
            self._visit_all()
        except (GameError, MemoryError, KeyboardInterrupt):
            raise
        except RuleError as fault:
            raise self._error(fault.text, fault.place) from fault.__cause__
        except Exception as error:
            found = self._fault() or unexplained(error)
            raise self._error(found.text, found.place) from error

    def _error(self, what: str, place: str = "") -> GameError:
        """An error at the history that is being visited; ``place`` is the file and line of the user's code."""
        where = self.describe(*self.current) if self.current else "the root"
        return GameError(f"{self.game.spec()}: {what} ({where}){place and f'; see {place}'}")

    def _fault(self) -> RuleError | None:
        """What is wrong with the code of the game at the history that is being visited, if it can be found."""
        try:
            self._state_after(self.labels(*self.current) if self.current else [])
        except RuleError as fault:
            return fault
        except Exception:  # a game that answers differently when it is asked again
            return None
        return None

    def _state_after(self, labels: Sequence[str]) -> Any:
        """The state after some moves, every answer of the game on the way checked."""
        state = checked_root(self.game)
        moves = check_state(state, self.game.players)
        for label in labels:
            state = checked_child(state, next(move for move in moves if str(move) == label))
            moves = check_state(state, self.game.players)
        return state

    def _visit_all(self) -> None:
        players = self.game.players
        movers, utilities, counts, rows = self.movers, self.utilities, self.counts, self.rows
        expanded, depths, infosets, infoset_actions = self.expanded, self.depths, self.infosets, self.infoset_actions
        root: Any = checked_root(self.game)
        movers.append(checked_player(root, players))
        size, next_report = 1, PROGRESS_EVERY
        stack: list[tuple[Any, int, int]] = []
        if movers[0] == TERMINAL:
            check_state(root, players)
            utilities.extend(root.utilities())
        else:
            stack.append((root, 0, 0))
        while stack:
            state, node, depth = stack.pop()
            self.current = (node, -1)
            mover = movers[node]
            if mover >= 0:
                key = state.infoset()
                actions = tuple(state.actions())
                row = infosets[mover].get(key)
                if row is None:
                    row = self._new_infoset(mover, key, actions, state)
                elif infoset_actions[row] != actions:
                    raise self._different_actions(row, key, actions, state)
                outcomes: Sequence[Hashable] = actions
            else:
                outcomes, row = self._chance_event(state.chance(), state)
            if size + len(outcomes) > self.unchecked:
                self._check_size()
            expanded.append(node)
            rows.append(row)
            depths.append(depth)
            counts.append(len(outcomes))
            depth += 1
            mark = len(stack)
            for number, action in enumerate(outcomes):
                self.current = (node, number)
                child = state.child(action)
                mover = child.player
                if mover == TERMINAL:
                    won = child.utilities()
                    if len(won) != players or type(won) in UNORDERED:
                        check_utilities(child, won, players)
                    utilities.extend(won)
                else:
                    if type(mover) is not int or not CHANCE <= mover < players:
                        mover = checked_player(child, players)
                    stack.append((child, size, depth))
                movers.append(mover)
                size += 1
            stack[mark:] = stack[mark:][::-1]
            if depth > self.max_depth:
                self._too_deep(node)
            if size >= next_report:
                next_report = size + PROGRESS_EVERY
                self._report(size)
        if self.progress is not None:
            self.progress(Progress(size, stage="compiling"))

    def _check_size(self) -> None:
        """Refuse a tree that is far too large."""
        self.unchecked = sys.maxsize
        preflight(self.game, self.limit, self.max_depth)

    def _report(self, size: int) -> None:
        """Refuse a tree that does not fit into memory; report how large it is so far."""
        if size > self.max_histories or used_memory() - self.used_before > self.limit + UNRETURNED:
            raise MemoryLimitError(
                f"{self.game.spec()}: over {size:,} histories, and {format_bytes(self.limit)} of memory are "
                "not enough for more; use smaller parameters, a higher memory limit or a solver that samples"
            )
        if self.progress is not None:
            self.progress(Progress(size, stage="compiling"))

    def _new_infoset(self, mover: int, key: Hashable, actions: tuple[Hashable, ...], state: Any) -> int:
        check_key(state, key)
        if not actions or len({str(action) for action in actions}) != len(actions):
            fault = f"equal actions: {_few(actions)}" if actions else "no actions"
            raise RuleError(f"information set {key!r} has {fault}", place_of(state, "actions"))
        row = len(self.infoset_actions)
        self.infosets[mover][key] = row
        self.infoset_actions.append(actions)
        self.infoset_player.append(mover)
        return row

    def _different_actions(self, row: int, key: Hashable, actions: tuple[Hashable, ...], state: Any) -> GameError:
        where, place = self.describe(*self.current or (0,)), place_of(state, "actions")
        return GameError(
            f"{self.game.spec()}: the actions at information set {key!r} differ: {_few(actions)} "
            f"({where}) but {_few(self.infoset_actions[row])} earlier; "
            f"the player could distinguish the two{place and f'; see {place}'}"
        )

    def _chance_event(self, outcomes: Any, state: Any) -> tuple[list[Hashable], int]:
        pairs = tuple(chance_pairs(state, outcomes))
        row = self.events.get(pairs)
        if row is None:
            labels, chances = [label for label, _ in pairs], [probability for _, probability in pairs]
            fault = None
            if len({str(label) for label in labels}) != len(pairs):
                fault = f"chance has equal outcomes: {_few(labels)}"
            elif not all(0.0 <= probability <= 1.0 + PROBABILITY_TOLERANCE for probability in chances):
                fault = f"chance probabilities must lie in [0, 1]; got {_few(chances)}"
            elif abs((total := math.fsum(chances)) - 1.0) > PROBABILITY_TOLERANCE:
                fault = f"chance probabilities sum to {total:.12g}, not to 1"
            if fault is not None:
                raise RuleError(fault, place_of(state, "chance"))
            row = self.events[pairs] = len(self.events)
        return [label for label, _ in pairs], row

    def _too_deep(self, node: int) -> None:
        start = " ".join(self.labels(node)[:8])
        raise GameError(
            f"{self.game.spec()}: a history has more than {self.max_depth:,} moves (it starts {start} ...); "
            "the game seems never to end: look for a cycle, or raise max_depth"
        )

    def labels(self, node: int, action: int = -1) -> list[str]:
        """The labels of the moves to a history, or to one of its children; works on a half-finished walk."""
        first = np.concatenate(([1], 1 + np.cumsum(np.asarray(self.counts, dtype=np.int64))))
        expanded = np.asarray(self.expanded, dtype=np.int64)
        position_of = {int(history): position for position, history in enumerate(expanded)}
        event_labels = [[str(label) for label, _ in event] for event in self.events]
        moves = []
        while True:
            if action >= 0 and node in position_of:
                position = position_of[node]
                row = self.rows[position]
                names = event_labels[row] if self.movers[node] == CHANCE else self.infoset_actions[row]
                moves.append(str(names[action]))
            if node == 0:
                return moves[::-1]
            position = int(np.searchsorted(first, node, side="right")) - 1
            action = node - int(first[position])
            node = int(expanded[position])

    def describe(self, node: int, action: int = -1) -> str:
        """Where something happens, in words for a message."""
        moves = self.labels(node, action)
        return f"after {', '.join(moves)}" if moves else "at the root"

    def tree(self) -> GameTree:
        """The ``GameTree`` of the records."""
        order = sorted(range(len(self.infoset_player)), key=self.infoset_player.__getitem__)  # by player, as they occur
        number = np.argsort(order).astype(np.int32)
        label_sets, infoset_labels = number_labels(tuple(map(str, self.infoset_actions[row])) for row in order)
        infoset_player = np.array([self.infoset_player[row] for row in order], np.int8)
        sizes = np.array([len(self.infoset_actions[row]) for row in order], np.int64)
        players = self.game.players
        tree = GameTree(
            name=self.game.spec(),
            players=players,
            **self._columns(number),
            utility=np.frombuffer(self.utilities, dtype=np.float64).reshape(-1, players).copy(),
            infoset_player=infoset_player,
            infoset_offset=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            infoset_labels=infoset_labels,
            player_infosets=np.concatenate(([0], np.cumsum(np.bincount(infoset_player, minlength=players)))),
            infoset_names=self._infoset_names(order),
            label_sets=label_sets,
            event_labels=tuple(tuple(str(label) for label, _ in event) for event in self.events),
            big_blind=self.game.big_blind,
            sampling_scheme=self.game.sampling_scheme,
        )
        self._check_utilities(tree)
        return tree

    def _columns(self, number: Any) -> dict[str, Any]:
        """The arrays over histories; ``number`` is the final number of each information set."""
        size = len(self.movers)
        player = np.frombuffer(self.movers, dtype=np.int8).copy()
        expanded, counts, rows, depths = (
            np.frombuffer(column, dtype=np.int32) if column else np.empty(0, np.int32)
            for column in (self.expanded, self.counts, self.rows, self.depths)
        )

        def spread(values: Any, root: int) -> Any:
            return np.concatenate((np.array([root], np.int32), np.repeat(values, counts).astype(np.int32)))

        def placed(values: Any, where: Any) -> Any:
            column = np.full(size, NULL, np.int32)
            column[expanded[where]] = values[where]
            return column

        everywhere = np.ones(len(expanded), bool)
        starts = (1 + np.concatenate(([0], np.cumsum(counts, dtype=np.int64)[:-1]))).astype(np.int32)[: len(counts)]
        num_children = placed(counts, everywhere)
        num_children[num_children == NULL] = 0
        is_chance = player[expanded] == CHANCE
        infoset_rows = np.where(is_chance, NULL, rows) if len(rows) else rows
        infoset_rows[~is_chance] = number[infoset_rows[~is_chance]]
        outcome = np.full(size, NULL, np.int32)
        terminal = player == TERMINAL
        outcome[terminal] = np.arange(np.count_nonzero(terminal), dtype=np.int32)
        chance_prob = np.ones(size)
        tables = [np.array([probability for _, probability in event]) for event in self.events]
        for position in np.flatnonzero(is_chance):
            chance_prob[starts[position] : starts[position] + counts[position]] = tables[rows[position]]
        return {
            "parent": spread(expanded, NULL),
            "first_child": placed(starts, everywhere),
            "num_children": num_children,
            "depth": spread(depths + 1, 0),
            "player": player,
            "infoset": placed(infoset_rows, ~is_chance),
            "event": placed(rows, is_chance),
            "outcome": outcome,
            "chance_prob": chance_prob,
        }

    def _infoset_names(self, order: list[int]) -> tuple[str, ...]:
        names: list[str] = [""] * len(order)
        for player, table in enumerate(self.infosets):
            used: dict[str, Hashable] = {}
            for key, row in table.items():
                name = str(key)
                if name in used:
                    raise GameError(
                        f"{self.game.spec()}: two information sets of player {player + 1} are both written {name!r} "
                        f"({used[name]!r} and {key!r}); give them keys with different text"
                    )
                used[name] = key
                names[row] = name
        return tuple(names[row] for row in order)

    def _check_utilities(self, tree: GameTree) -> None:
        wrong = ~(np.abs(tree.utility) <= MAX_UTILITY).all(axis=1)  # NaN too
        if wrong.any():
            row, what = int(wrong.argmax()), f"utilities must be finite and at most {MAX_UTILITY:g}; got"
        elif self.game.zero_sum and not tree.sums_to_zero:
            row = int(np.abs(tree.utility.sum(axis=1)).argmax())
            what = "declared zero-sum, but utilities are"
        else:
            return
        moves = tree.history(int(np.flatnonzero(tree.outcome == row)[0]))
        place = ""
        with contextlib.suppress(Exception):  # a game that answers differently when it is asked again
            place = place_of(self._state_after(moves), "utilities")
        text = f"{tree.name}: {what} {tree.utility[row].tolist()} (after {', '.join(moves) or 'the root'})"
        raise GameError(f"{text}{place and f'; see {place}'}")
