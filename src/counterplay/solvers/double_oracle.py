"""The double oracle algorithm for extensive-form games, DOEFG (Čermák 2018, section 3.4.2, after Bošanský,
Kiekintveld, Lisý and Pěchouček 2014): solve a small restricted game, compute best responses to its equilibrium in the
whole game, add the sequences of the responses, and repeat until the responses gain nothing.

The value of a best response to a player's strategy, with the default strategy outside the restricted game, bounds the
value of the game.  When the two bounds meet, or no response adds a new sequence, the strategies are an equilibrium of
the game.  The linear program of the whole game is never built.

The thesis' default strategy is the first action.  Ours is a best response to uniform play, found by one pass over the
game: the values of the restricted game are then close from the start, and less of it has to grow.

With ``wide`` the responses after all allowed sequences are allowed, which takes a fraction of the iterations.

Departures: temporary leaves are valued by one pass over the tree (``tree/sequence/decision_points.py``); each program
starts at the basis of the one before, which is all that is kept of it, so that a run can be broken off and resumed to
the same bits; the strategies that gave the best bounds so far are the result, not the last ones.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.history.passes import backward_best, forward_reach, leaf_values
from counterplay.kernels.history.pruned_response import mark_wide_response, pruned_best_response
from counterplay.lp.zero_sum import require_zero_sum
from counterplay.runtime.array_checks import COUNTS
from counterplay.solvers.restricted_game import STATUSES, RestrictedGame
from counterplay.solvers.settings import Bounds, Settings
from counterplay.solvers.solver import Solver
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.decision_points import build_decision_pairs

Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class DoubleOracleConfig(Settings):
    """Settings of the double oracle algorithm.

    * ``epsilon``: the game is solved when the gap between the bounds is at most this fraction of the largest utility
    * ``wide``: add the response after every allowed sequence, not only after those that the response plays itself:
      fewer iterations, a larger restricted game
    * ``default``: the strategy outside the restricted game: a best response to uniform play, or the first action
    """

    epsilon: Annotated[float, Bounds(at_least=0, below=1)] = 1e-9
    wide: bool = False
    default: Literal["response", "first"] = "response"


class DoubleOracle(Solver):
    """The double oracle algorithm on a two-player zero-sum game with perfect recall.

    * ``restricted``: the restricted game
    * ``bounds`` (2,) float64: what the first player's strategy guarantees, and the most that the second player's
      concedes
    """

    kind = "double-oracle"
    config_class = DoubleOracleConfig
    visits_histories = False
    presets: ClassVar = {"double-oracle": DoubleOracleConfig()}
    default_iterations = 10**9  # it stops by itself

    def _check_game(self) -> None:
        require_zero_sum(self.tree, "the double oracle algorithm")

    def _allocate(self) -> None:
        form = self.tree.sequences
        chosen = self._default_actions()
        self.pairs = build_decision_pairs(self.tree, chosen)
        self.restricted = RestrictedGame(self.tree, self.pairs)
        self.default = np.zeros(self.tree.num_entries)
        self.default[self.tree.infoset_offset[:-1] + chosen] = 1.0
        self.probabilities = self.default.copy()
        self.bounds = np.array([-np.inf, np.inf])
        self._clock = np.zeros(2, np.int64)  # iterations, whether it is over
        # Of one response the histories seen and its sets; pairs of sequences at leaves; those that pay; memory words.
        self._largest = np.zeros(5, np.int64)
        depth = form.num_decisions + 2  # no path is longer
        self._scratch = (
            np.zeros(form.num_decisions, np.int32), np.zeros(form.num_decisions),
            np.zeros(form.num_decisions, np.int64), np.zeros(form.num_sequences, bool),
            np.zeros((4, depth), np.int64), np.zeros((3, depth)), np.zeros(3, np.int64),
        )  # fmt: skip

    def _default_actions(self) -> NDArray[np.int32]:
        """The action of the default strategy at each information set."""
        tree, form = self.tree, self.tree.sequences
        chosen = np.zeros(tree.num_infosets, np.int32)
        if self.config.default == "first":
            return chosen
        uniform = TabularStrategy.uniform(tree).table
        reach, value = np.ones(form.num_sequences), np.empty(form.num_sequences)
        best = np.zeros(form.num_decisions, np.int32)
        for player in range(2):
            forward_reach(self.form, player, uniform, reach)
        for player in range(2):
            leaf_values(self.form, player, reach, value)
            backward_best(self.form, player, value, best)
        chosen[form.decision_infoset] = best
        return chosen

    @classmethod
    def memory_bytes(cls, tree: GameTree, config: Any = None) -> int:
        """Bytes of the arrays that a solver will allocate, without the restricted program, which grows as needed."""
        form = tree.sequences
        pairs = int(np.count_nonzero(tree.player >= 0))  # at most
        leaves = len(tree.player) - pairs  # at most
        return (
            16 * tree.num_entries
            + form.num_sequences * (8 + 4 + 1 + 1 + 1)
            + form.num_decisions * (8 + 4 + 1 + 1 + 4 + 8 + 8 + 56)
            + 25 * pairs
            + 10 * leaves
        )

    @property
    def table_bytes(self) -> int:
        """Bytes of the solver's own arrays."""
        own = (self.default, self.probabilities, self.bounds, self._clock, self._largest, *self._scratch)
        return sum(array.nbytes for array in own)

    @property
    def finished(self) -> bool:
        """Whether the bounds have met, or no response added a sequence."""
        return bool(self._clock[1])

    def details(self) -> dict[str, Any]:
        """The bounds, the size of the restricted game, and 32-bit words of memory (Čermák 2018, section 5.3.4)."""
        sets, sequences = self.restricted.sizes()
        histories, response, ends, payoffs, words = self._largest.tolist()
        return {
            "lower_bound": float(self.bounds[0]) if self.iterations else None,
            "upper_bound": float(self.bounds[1]) if self.iterations else None,
            "restricted_information_sets": sets,
            "restricted_sequences": sequences,
            "restricted_leaves": ends,
            "restricted_payoffs": payoffs,
            "response_cache": histories,
            "response_size": response,
            "memory_words": words,
        }

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations, or until the game is solved; an iteration that runs out of time is dropped."""
        if iterations < 1:
            self._respond(0, np.ones(self.tree.sequences.num_sequences))  # compiles the kernel
            return
        for _ in range(iterations):
            if self.finished:
                return
            seconds = None if self.deadline is None else self.deadline - time.perf_counter()
            before = {name: table.copy() for name, table in self.tables().items()}
            try:
                plan = self.restricted.solve(seconds)
                if plan is None:
                    return
                self._advance(self.restricted.strategy(plan, self.default))
            except BaseException:  # Ctrl-C in the middle: half an iteration would lead elsewhere
                for name, table in self.tables().items():
                    table[...] = before[name]
                raise

    def _advance(self, strategy: Float64) -> None:
        """Let both players respond to a profile, keep better bounds, and add the responses."""
        form = self.tree.sequences
        reach = np.ones(form.num_sequences)
        for player in range(2):
            forward_reach(self.form, player, strategy, reach)
        used = np.zeros(form.num_sequences, bool)
        self.restricted.visit(reach)
        largest = self._largest.copy()
        values = []
        for player in range(2):
            values.append(self._respond(player, reach) * form.unit)
            low, high = form.sequence_start[player], form.sequence_start[player + 1]
            used[low:high] = self._scratch[3][low:high]
            counts = self._scratch[-1]
            largest[:2] = np.maximum(largest[:2], (counts[0], counts[2]))
        bounds = -values[1], values[0]  # what the first player's strategy guarantees, and the second's concedes
        better = bounds[0] > self.bounds[0], bounds[1] < self.bounds[1]
        middle = int(self.tree.infoset_offset[self.tree.player_infosets[1]])
        for player, part in enumerate((slice(0, middle), slice(middle, None))):
            if better[player]:
                self.bounds[player] = bounds[player]
                self.probabilities[part] = strategy[part]
        new = self.restricted.allow(used)
        largest[2:4] = np.maximum(largest[2:4], (self.restricted.ends, self.restricted.payoffs))
        largest[4] = sum(self.restricted.sizes()[0]) + largest[:3].sum()
        self._largest[:] = largest
        scale = max(abs(self.tree.facts.min_utility), abs(self.tree.facts.max_utility))
        met = self.bounds[1] - self.bounds[0] <= self.config.epsilon * scale
        self._clock[:] = (self.iterations + 1, met or not new)

    def _respond(self, player: int, reach: Float64) -> float:
        """The value of a best response in units; the sequences that it uses are in the scratch arrays."""
        pairs = self.pairs
        value = pruned_best_response(
            self.form, player, reach, pairs.start, pairs.other, pairs.histories, pairs.ceiling,
            pairs.after_start, pairs.after, *self._scratch,
        )  # fmt: skip
        if self.config.wide:
            choice, used = self._scratch[0], self._scratch[3]
            everywhere = np.empty_like(reach)
            leaf_values(self.form, player, reach, everywhere)
            backward_best(self.form, player, everywhere, choice)
            used |= self.restricted.allowed
            mark_wide_response(self.form, player, reach, pairs.start, pairs.other, choice, used)
        return value

    def strategy(self) -> Float64:
        """The strategies with the best bounds so far; before the first iteration the default strategies."""
        return self.probabilities.copy()

    def tables(self) -> dict[str, NDArray[Any]]:
        """The restricted game with its basis, the strategies and bounds."""
        return {
            "probabilities": self.probabilities, "bounds": self.bounds, "clock": self._clock, "largest": self._largest,
            "allowed": self.restricted.allowed.view(np.uint8), "active": self.restricted.active.view(np.uint8),
            "sequence_status": self.restricted.sequence_status, "decision_status": self.restricted.decision_status,
            "visited": self.restricted.visited.view(np.uint8), "stopped": self.restricted.stopped.view(np.uint8),
        }  # fmt: skip

    def limits(self) -> dict[str, tuple[int, int]]:
        """As ``Solver.limits``."""
        masks = dict.fromkeys(("allowed", "active", "visited", "stopped"), (0, 1))
        statuses = dict.fromkeys(("sequence_status", "decision_status"), STATUSES)
        return {**super().limits(), "largest": COUNTS, **masks, **statuses}

    def check_tables(self) -> None:
        """As ``Solver.check_tables``."""
        self.restricted.check()
