"""Memory of algorithms, counted as in Čermák 2018, section 5.3.4, in 32-bit words.

The count is of what an algorithm must keep besides the rules of the game, not of the arrays of this package, which
trade memory for speed.  A number is a word.

    CFR and CFR+    two tables over the entries of the game
    CFR+IRA         two tables over the abstract entries, the map, the regrets of the sampled sets
    FPIRA           the average over the abstract entries, the map, the largest best response, and the caches of the
                    best response and of Δ
    double oracle   the information sets of the restricted game, the leaf table g of its linear program, and the largest
                    best response with its cache

The source stores "one value for each combination of sequences leading to some leaf or temporary leaf" in g, zeros
included, and so it is counted; ``program_stored`` counts those that pay something, which are all that our program has.
``program_visited`` counts g as the author's program keeps it, which gives the published sizes: best responses search
the whole game and enter every leaf that they evaluate and that pays something, and temporary leaves stay when the
restricted game has outgrown them.

A cache holds a number for each state that a response visits, which are those that the others reach; leaves are not
kept.  Averages never lose a state that they reach, so the largest cache is that of the last response, and it can be
counted at any time.  The best response here is computed without pruning.  ``response_cache_own`` counts only states
where the responder acts, as algorithm 4 (line 15) and the author's program keep them; the text says all, and so does
the total.

The map (sections 5.2.2.4 and 5.2.3.4) is counted by its definition; ``map_words_reported`` also counts singleton sets,
as the percentages in the thesis do.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.infosets.storage_words import map_words, table_words
from counterplay.errors import SolverError
from counterplay.game.game import CHANCE
from counterplay.kernels.history.passes import form_arrays, forward_reach
from counterplay.solvers.cfr import CfrSolver
from counterplay.solvers.double_oracle import DoubleOracle
from counterplay.solvers.ira import CfrIra, Fpira
from counterplay.solvers.solver import Solver
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.sequence_form import sequences_at


@dataclasses.dataclass(frozen=True)
class MemoryWords:
    """Words by their content.

    * ``tables``: strategies, regrets and averages
    * ``map``: the map from information sets to abstract sets, by its definition
    * ``map_reported``: the same with singleton sets, as the thesis reports it; not in the total
    * ``samples``: regrets of sampled information sets
    * ``response``: sets to which the largest best response prescribes an action
    * ``response_cache``, ``difference_cache``: caches of the best response and of Δ
    * ``response_cache_own``: the states of the former where the responder acts; not in the total
    * ``program``: the leaf table of a linear program, zeros included
    * ``program_stored``: its entries other than zero; not in the total
    * ``program_visited``: the same table with all leaves that responses have visited; not in the total
    """

    tables: int
    map: int = 0
    map_reported: int = 0
    samples: int = 0
    response: int = 0
    response_cache: int = 0
    difference_cache: int = 0
    response_cache_own: int = 0
    program: int = 0
    program_stored: int = 0
    program_visited: int = 0

    @property
    def total(self) -> int:
        """All words."""
        parts = (self.tables, self.map, self.samples, self.response, self.response_cache, self.difference_cache)
        return sum(parts) + self.program


def cfr_words(tree: GameTree) -> MemoryWords:
    """CFR+ on the whole game: regrets and average."""
    return MemoryWords(tables=2 * tree.num_entries)


def double_oracle_words(
    infosets: int, response_cache: int, response: int, program: int, program_stored: int = 0, program_visited: int = 0
) -> MemoryWords:
    """Double oracle: sets of the restricted game, largest cache and best response, entries of the leaf table g."""
    return MemoryWords(
        tables=infosets,
        response=response,
        response_cache=response_cache,
        program=program,
        program_stored=program_stored,
        program_visited=program_visited,
    )


def memory_words(solver: Solver) -> MemoryWords:
    """The words that a solver's algorithm currently needs.

    Raises
    ------
    SolverError
        For an algorithm that the source does not count.
    """
    if isinstance(solver, CfrSolver):
        return cfr_words(solver.tree)
    if isinstance(solver, CfrIra):
        return _cfr_ira_words(solver)
    if isinstance(solver, Fpira):
        return _fpira_words(solver)
    if isinstance(solver, DoubleOracle):
        known = solver.details()
        return double_oracle_words(
            sum(known["restricted_information_sets"]), known["response_cache"], known["response_size"],
            known["restricted_leaves"], known["restricted_payoffs"], solver.restricted.count_visited(),
        )  # fmt: skip
    raise SolverError(f"words are counted for cfr, cfr+ira, fpira and double-oracle; got {solver.algorithm}")


def _cfr_ira_words(solver: CfrIra) -> MemoryWords:
    tree, abstraction = solver.tree, solver.abstraction()
    actions = np.diff(tree.infoset_offset)
    merged = abstraction.sizes[abstraction.infoset_map] > 1
    can_split = merged & (actions > 1 if solver.config.skip_single_action else True)
    # The most that the samples can hold: as many sets as are drawn, of those with the most actions.
    most = np.sort(actions[can_split])[::-1]
    heuristic = max(
        (np.sort(actions[can_split & (tree.infoset_player == player)])[::-1][: solver.config.k_h].sum())
        for player in range(tree.players)
    )
    return MemoryWords(
        tables=table_words(abstraction, 2),
        map=map_words(abstraction, tree),
        map_reported=map_words(abstraction, tree, singletons=True),
        samples=int(heuristic + most[: solver.config.k_b].sum()),
    )


def _fpira_words(solver: Fpira) -> MemoryWords:
    tree, abstraction = solver.tree, solver.abstraction()
    states = reached_states(tree, solver.strategy())
    others = max(count.others for count in states)
    own = max(count.own for count in states)
    merges = len(abstraction.abstracted) > 0 or any(solver.splits)
    return MemoryWords(
        tables=table_words(abstraction, 1),
        map=map_words(abstraction, tree),
        map_reported=map_words(abstraction, tree, singletons=True),
        response=solver.largest_response,
        response_cache=others,
        response_cache_own=max(count.decisions for count in states),
        difference_cache=own if merges else 0,
    )


class ReachedStates(NamedTuple):
    """Inner states that a player's own play reaches, those that the others' play reaches, and where the player acts.

    The last are those of the second kind.
    """

    own: int
    others: int
    decisions: int


def reached_states(tree: GameTree, strategy: NDArray[np.float64]) -> list[ReachedStates]:
    """For each player the numbers of inner states reached."""
    form = form_arrays(tree.sequences)
    reach = np.empty(tree.sequences.num_sequences)
    for player in range(tree.players):
        forward_reach(form, player, np.ascontiguousarray(strategy, dtype=np.float64), reach)
    inner = tree.player >= CHANCE
    reached = [reach[own[inner]] > 0.0 for own in sequences_at(tree)]
    counts = []
    for player in range(tree.players):
        others = np.ones(len(reached[player]), bool)
        for other in range(tree.players):
            if other != player:
                others &= reached[other]
        decisions = others & (tree.player[inner] == player)
        counts.append(ReachedStates(int(reached[player].sum()), int(others.sum()), int(decisions.sum())))
    return counts
