"""FPIRA: fictitious play on an abstraction that refines itself, equivalent to fictitious play in the original game.

Čermák 2018, section 5.2.2, algorithms 3 to 7.  Each player in turn computes a best response in the original game to the
average of the others and mixes it into an average that is stored only in the abstraction.  The abstraction is refined
wherever the mixture would otherwise differ from the original game for some opponent, so both runs have the same
exploitability at every iteration (theorem 5.2.1).  A best response prescribes nothing where the others never reach, and
follows the stored average there.  That is a best response too, but where merging has changed the average of an
unreached set, it differs from the one without an abstraction: then the run is one of fictitious play in the original
game, but not the same one (it happens in graph pursuit).

Departures: the thesis updates one player per iteration, here an iteration updates every player once; ties within
``tie`` go to the first action, as rounding would otherwise make the two runs diverge; with more than two players the
mixtures must be equal in reach, which is stricter.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.history.changing_sets import GameArrays, forward_merged
from counterplay.kernels.history.fpira import CASE_1, CASE_2, DONE, LARGEST_RESPONSE, Scratch, iterate_fpira
from counterplay.kernels.numba_internals import hold
from counterplay.solvers.ira.changing_abstraction import Forget, RefiningSolver, game_bytes, set_bytes, set_tables
from counterplay.solvers.settings import Bounds, Settings
from counterplay.tree.history.game_tree import GameTree


@dataclasses.dataclass(frozen=True)
class FpiraConfig(Settings):
    """Settings of FPIRA.

    * ``forget``: the abstraction to start from: ``initial``, ``nothing`` (which makes it fictitious play), ``map=FILE``
      or what the game can forget
    * ``start``: the strategy before the first response, which counts as one response: the first action, or uniform
    * ``tolerance``: differences of utility up to this count as 0
    * ``tie``: actions whose values differ by at most this fraction of the largest utility are equal
    """

    forget: Forget = "initial"
    start: Literal["first", "uniform"] = "first"
    tolerance: Annotated[float, Bounds(at_least=0)] = 1e-9
    tie: Annotated[float, Bounds(at_least=0)] = 1e-10


class Fpira(RefiningSolver):
    """FPIRA on a compiled game with perfect recall.

    * ``average`` (E,) float64: the average by abstract entry; only the entries of the current abstraction are in use
    """

    kind = "fpira"
    config_class = FpiraConfig
    presets: ClassVar = {"fpira": FpiraConfig()}

    def _allocate(self) -> None:
        super()._allocate()
        tree = self.tree
        entries, sequences, infosets = tree.num_entries, tree.sequences.num_sequences, tree.num_infosets
        self._counters = np.zeros(4, np.int64)
        self.average = np.zeros(entries)
        self._begin(self.sets.actions[: int(self.sets.totals[0])].astype(np.int64))
        self._scratch = (
            np.ones(sequences), np.zeros(sequences), np.zeros(sequences), np.zeros(sequences),
            np.zeros(entries), np.zeros(entries), np.zeros(infosets, np.int32), np.zeros(infosets, np.int32),
            np.zeros(infosets, np.int32), np.zeros(infosets, np.int32), np.zeros(infosets, np.int32),
            np.zeros(sequences, np.int64), np.zeros(infosets, np.int64), np.zeros(1, np.int64),
        )  # fmt: skip
        self._forward()

    @classmethod
    def memory_bytes(cls, tree: GameTree, config: Any = None) -> int:
        """Bytes of all arrays that a solver will allocate."""
        tables = 8 * 3 * tree.num_entries + 8 * 5 * tree.sequences.num_sequences + 28 * tree.num_infosets + 40
        return tables + game_bytes(tree) + set_bytes(tree)

    @property
    def iterations(self) -> int:
        """Iterations done so far."""
        return int(self._counters[DONE])

    @property
    def splits(self) -> tuple[int, int]:
        """Number of sets split so far in case 1 and in case 2."""
        return int(self._counters[CASE_1]), int(self._counters[CASE_2])

    @property
    def largest_response(self) -> int:
        """The most information sets to which a best response prescribed an action."""
        return int(self._counters[LARGEST_RESPONSE])

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations."""
        tie = self.config.tie * float(np.abs(self.tree.utility).max(initial=0.0)) / self.form.unit
        form, game, sets, scratch = self._arrays
        iterate_fpira(
            form, game, tie, float(self.config.tolerance), iterations, self._counters, sets, self.average, scratch
        )

    @functools.cached_property
    def _arrays(self) -> tuple[Any, ...]:
        """The game, the sets and the scratch, as kernels take them."""
        return tuple(map(hold, (self.form, GameArrays(*self._game), self.sets, Scratch(*self._scratch))))

    def strategy(self) -> NDArray[np.float64]:
        """The average profile in the original game."""
        return np.asarray(self.average[self.sets.entry_map])

    def tables(self) -> dict[str, NDArray[Any]]:
        """The average, the sets and the counters."""
        return {"average": self.average, "counters": self._counters, **set_tables(self.sets)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Derive the reaches from the tables."""
        self._forward()

    def _begin(self, actions: NDArray[np.int64]) -> None:
        """The strategy before the first response, in sets with these numbers of actions."""
        used = self.average[: int(actions.sum())]
        if self.config.start == "uniform":
            used[:] = 1.0 / np.repeat(actions, actions)
        else:
            used[np.cumsum(actions) - actions] = 1.0

    def _forward(self) -> None:
        form = hold(self.form)
        for player in range(self.tree.players):
            forward_merged(form, player, self.sets.entry_map, self.average, self._scratch[0])
