"""Room for the tables of one block while it is walked, and which of them a pass reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.numba_internals import hold
from counterplay.kernels.public.piece_steps import RESPONSE, UPDATE, VALUE, Rule, Tables
from counterplay.solvers.streamed.block_plan import BlockPlan, BlockSizes
from counterplay.solvers.streamed.block_store import AVERAGE, KINDS, REGRET


class TableTypes(NamedTuple):
    """What the tables of a solver hold."""

    kind: np.dtype[Any]
    vectors: np.dtype[Any]  # of predictions, and of the vectors of walks
    averaged: bool
    predictive: bool

    @property
    def quantised(self) -> bool:
        """Whether they are integers with scales."""
        return bool(self.kind == np.int16)

    @property
    def entry_bytes(self) -> int:
        """Bytes of an entry in all tables of a player."""
        return self.kind.itemsize * (1 + self.averaged) + self.vectors.itemsize * self.predictive


class Pass(NamedTuple):
    """What is done in a walk over all subgames.

    Given a pass, the values and the tables of a block follow from the files that it names: whoever computes them, and
    however often, finds the same bits.
    """

    player: int  # whose values are wanted
    mode: int  # UPDATE, RESPONSE or VALUE of ``kernels.public.piece_steps``
    kind: int  # REGRET or AVERAGE: from what strategies are matched
    time: int  # the generation that an UPDATE writes
    own: NDArray[np.int64]  # (B, 2) by kind: the generations of our tables
    opponent: NDArray[np.int64]  # (B, 2)
    rule: Rule
    reaches: tuple[NDArray[Any], NDArray[Any]]  # (L, hands): ours and the opponent's at the links of the trunk
    live: NDArray[np.bool_]  # (L, 2): whether each player reaches the link

    def averages(self, types: TableTypes) -> bool:
        """Whether averages change."""
        return self.mode == UPDATE and types.averaged and self.rule.weight > 0.0

    def reads(self, types: TableTypes) -> Iterator[tuple[bool, int]]:
        """The kinds of tables that are read: of the opponent or not."""
        yield True, self.kind
        if self.mode == VALUE:
            yield False, self.kind
        if self.mode == UPDATE:
            yield False, REGRET
            if self.averages(types):
                yield False, AVERAGE


class BlockTables:
    """Arrays that are as large as the largest block, used for one block after the other.

    Parameters
    ----------
    plan : BlockPlan
        The blocks.
    types : TableTypes
        What the tables hold.
    """

    def __init__(self, plan: BlockPlan, types: TableTypes) -> None:
        self.plan, self.types = plan, types
        entries, states, values, subgames = plan.largest
        few = entries if types.predictive else 0
        self._tables = {
            (False, "regret"): np.zeros(entries, types.kind), (True, "regret"): np.zeros(entries, types.kind),
            (False, "average"): np.zeros(entries if types.averaged else 0, types.kind),
            (False, "prediction"): np.zeros(few, types.vectors), (True, "prediction"): np.zeros(few, types.vectors),
        }  # fmt: skip
        scales = ((False, "regret_scale"), (True, "regret_scale"), (False, "average_scale"))
        self._tables |= {name: np.ones(states, np.float32) for name in scales}
        self.values, self.entered = np.zeros(values, types.vectors), np.zeros(subgames, np.bool_)

    @staticmethod
    def memory_bytes(largest: BlockSizes, types: TableTypes) -> int:
        """Bytes of all arrays."""
        entry = types.entry_bytes + types.kind.itemsize + types.vectors.itemsize * types.predictive
        values = largest.values * types.vectors.itemsize
        return largest.entries * entry + 12 * largest.states + values + largest.subgames

    def stored(self, step: Pass, block: int, theirs: bool, kind: int) -> dict[str, NDArray[Any]]:
        """The tables of a file, by name, in the arrays of this block; what is only matched lies where regrets do."""
        player = 1 - step.player if theirs else step.player
        entries, states = int(self.plan.entries[block, player]), int(self.plan.states[block, player])
        place = KINDS[kind] if step.mode == UPDATE and not theirs else "regret"
        found = {KINDS[kind]: self._tables[theirs, place][:entries]}
        if self.types.quantised:
            found[f"{KINDS[kind]}_scale"] = self._tables[theirs, f"{place}_scale"][:states]
        if self.types.predictive and kind == REGRET and step.mode == UPDATE:
            found["prediction"] = self._tables[theirs, "prediction"][:entries]
        return found

    def own(self, step: Pass, block: int) -> Tables:
        """Our tables for a kernel; empty where the pass does not need them."""
        entries, states = int(self.plan.entries[block, step.player]), int(self.plan.states[block, step.player])
        averaged = step.averages(self.types)
        some = 0 if step.mode == RESPONSE else entries
        predicted = entries if step.mode == UPDATE else 0
        return hold(Tables(
            self._tables[False, "regret"][:some], self._tables[False, "regret_scale"][: max(1, states)],
            self._tables[False, "average"][: entries if averaged else 0],
            self._tables[False, "average_scale"][: states if averaged else 0],
            self._tables[False, "prediction"][:predicted],
        ))  # fmt: skip

    def opponent(self, step: Pass, block: int) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[Any]]:
        """The opponent's table, scales and predictions for a kernel."""
        entries, states = int(self.plan.entries[block, 1 - step.player]), int(self.plan.states[block, 1 - step.player])
        predicted = entries if step.mode == UPDATE else 0
        return (
            self._tables[True, "regret"][:entries], self._tables[True, "regret_scale"][: max(1, states)],
            self._tables[True, "prediction"][:predicted],
        )  # fmt: skip
