"""``TreeEstimates``: what a strategy wins, estimated from single hands of a compiled game, for all terminal histories.

Johanson 2016, sections 7.2 and 7.3.  A player sampled hands with one strategy, ``played``; what would another one,
``evaluated``, win from the same opponents?  A terminal history z' has an *anchor*: the player's decision just before
it, if game-ending actions are imagined and the player ended it, else z' itself.  Anchors are grouped, by themselves or
with all that the opponents cannot tell from them (``imagined_groups``), and every hand that passes through a group adds

    sum of V(z') c(z') π(z') over the terminals z' anchored in it  /  sum of c(a) π̂(a) over its anchors a

with c the reach of chance, π and π̂ those of the player by the two strategies.  The opponents' reach cancels, so that
the mean over hands is what ``evaluated`` wins (theorem 9), whoever the opponents are.  The four estimators of the
source are this one formula; it needs π̂ > 0 wherever π > 0.

V may be without the luck of chance, V(z) = u(z) - Σ [v(after) - E v(after)] over the chance events, for any values v.
``aivat`` (Burch and others 2018) also subtracts the luck of the players whose strategies are known.

Departure: the source imagines every ending after the last action of the opponents, we only those that one action of
the player brings about, as its pseudo-code for poker does.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from counterplay.errors import GameError
from counterplay.evaluation.matches.estimator import Estimator
from counterplay.evaluation.matches.imagined import imagined_groups
from counterplay.game.game import CHANCE, TERMINAL
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL

Float64 = NDArray[np.float64]
Ints = NDArray[np.int64]


class TreeEstimates:
    """Estimates for a player of a compiled game.

    Parameters
    ----------
    tree, player : GameTree, int
        The game, and whose winnings are estimated.
    played : TabularStrategy or (E,) array
        The strategy with which the hands were played.
    evaluated : TabularStrategy or (E,) array, optional
        The strategy in question; the one that was played if it is left out.
    observed : sequence, optional
        With partial information: for every terminal history, by ``tree.outcome``, something that is equal for those
        that look alike to the player after the hand.  Estimates are then the same for all of these, and biased.
    """

    def __init__(
        self, tree: GameTree, player: int, played: Any, evaluated: Any = None, observed: Sequence[Any] | None = None
    ) -> None:
        if not 0 <= player < tree.players:
            raise GameError(f"players are 0 to {tree.players - 1}; got {player}")
        self.tree, self.player = tree, player
        self.played = _table(tree, played)
        self.evaluated = self.played if evaluated is None else _table(tree, evaluated)
        self.ends = np.flatnonzero(tree.player == TERMINAL)
        self.winnings = np.zeros(tree.num_histories)
        self.winnings[self.ends] = tree.utility[tree.outcome[self.ends], player]
        self._chance = self._reach(None)
        self._own = self._reach(self.evaluated)
        self._sampled = self._reach(self.played)
        self._seen = None if observed is None else self._numbered(observed)

    # ------------------------------------------------------------------------------------------ estimates

    def estimate(self, estimator: Estimator, values: Float64 | None = None) -> Float64:
        """The estimate of every history, 0 for those that are not terminal: (H,).

        ``values``: those of all histories for the player, by which luck is measured where the estimator has ``values``
        other than money, and for ``aivat``; the winnings themselves count at terminals.
        """
        if estimator.values != "money" or estimator.aivat:
            if values is None:
                raise GameError(f"{estimator.name} needs values of the histories, such as self_play_values gives")
            if estimator.aivat:
                return self.aivat(values)
        won = self.winnings if estimator.values == "money" else self.without_luck(values)
        ended = self._ended() if estimator.early_folds else np.zeros(self.tree.num_histories, np.bool_)
        anchor = np.where(ended, self.tree.parent, np.arange(self.tree.num_histories))
        group = self._groups() if estimator.all_cards else np.arange(self.tree.num_histories)
        added = np.zeros(self.tree.num_histories)
        closing = self.ends[~ended[self.ends]]
        added[closing] = self._ratio(group, closing, closing, anchor, won)
        if estimator.early_folds:
            deciding = np.flatnonzero(self.tree.player == self.player)
            if self._seen is not None and estimator.all_cards:
                group = self._joined(self._imagined, deciding, self.tree.infoset[deciding].astype(np.int64))
            added[deciding] = self._ratio(group, deciding, self.ends[ended[self.ends]], anchor, won)
        return self._at_ends(self._summed(added))

    def aivat(self, values: Float64, known: Mapping[int, Any] | None = None) -> Float64:
        """AIVAT of the strategy that was played; ``known`` are the strategies of other players, where they are known.

        Raises GameError where the strategy in question is another one, or information is partial.
        """
        if self._seen is not None or not np.array_equal(self.evaluated, self.played):
            raise GameError("aivat is for hands of the strategy in question, with all cards known")
        self._check_values(values)
        tree, group, reach = self.tree, self._imagined, self._chance * self._own
        mass = np.bincount(group, reach, minlength=group.max() + 1)
        value = np.where(tree.player == TERMINAL, self.winnings, values)
        shares = {player: _table(tree, other) for player, other in (known or {}).items() if player != self.player}
        corrected = (tree.player == CHANCE) | np.isin(tree.player, [self.player, *shares])
        child = np.arange(1, tree.num_histories)
        parent, chosen = tree.parent[child], np.ones(len(child))
        for player, table in shares.items():
            theirs = tree.player[parent] == player
            chosen[theirs] = table[_entries(tree, child[theirs])]
        before = np.bincount(group[parent], reach[child] * chosen * value[child], minlength=len(mass))
        expected, after = _divided(before, mass), _divided(np.bincount(group, reach * value, minlength=len(mass)), mass)
        added = np.zeros(tree.num_histories)
        added[child] = np.where(corrected[parent], expected[group[parent]] - after[group[child]], 0.0)
        won = np.bincount(group[self.ends], (reach * self.winnings)[self.ends], minlength=len(mass))
        ends = np.bincount(group[self.ends], reach[self.ends], minlength=len(mass))
        added[self.ends] += _divided(won, ends)[group[self.ends]]
        return self._at_ends(self._summed(added))

    def without_luck(self, values: Float64 | None) -> Float64:
        """The winnings of terminal histories without the luck of chance, by values of all histories: (H,)."""
        if values is None:
            raise GameError("luck is measured by values of the histories")
        self._check_values(values)
        tree = self.tree
        value = np.where(tree.player == TERMINAL, self.winnings, values)
        child = np.arange(1, tree.num_histories)
        parent = tree.parent[child]
        mean = np.bincount(parent, tree.chance_prob[child] * value[child], minlength=tree.num_histories)
        luck = np.zeros(tree.num_histories)
        luck[child] = np.where(tree.player[parent] == CHANCE, value[child] - mean[parent], 0.0)
        without = self.winnings - self._summed(luck)
        if self._seen is None:
            return without
        return np.where(self._shown(), without, self.winnings)  # elsewhere luck is not known

    def expected(self, estimates: Float64, others: Any) -> float:
        """The mean of estimates when the opponents play a strategy, over all hands."""
        return float((self._probability(self._sampled, others) * estimates)[self.ends].sum())

    def deviation(self, estimates: Float64, others: Any) -> float:
        """The standard deviation of an estimate of one hand."""
        chance = self._probability(self._sampled, others)[self.ends]
        mean = float((chance * estimates[self.ends]).sum())
        return float(np.sqrt(max((chance * estimates[self.ends] ** 2).sum() - mean**2, 0.0)))

    def truth(self, others: Any) -> float:
        """What the strategy in question wins from a strategy of the opponents."""
        return float((self._probability(self._own, others) * self.winnings)[self.ends].sum())

    # ------------------------------------------------------------------------------------------ parts

    def _probability(self, own: Float64, others: Any) -> Float64:
        found = self._chance * own
        for player in range(self.tree.players):
            if player != self.player:
                found = found * self._reach(_table(self.tree, others), player)
        return found

    def _reach(self, table: Float64 | None, player: int | None = None) -> Float64:
        """The reach of every history by a player, this one by default, or by chance if there is no table: (H,)."""
        tree = self.tree
        mover = CHANCE if table is None else self.player if player is None else player
        found = np.ones(tree.num_histories)
        for level in tree.levels()[1:]:
            parent = tree.parent[level]
            step, mine = np.ones(len(level)), tree.player[parent] == mover
            step[mine] = tree.chance_prob[level[mine]] if table is None else table[_entries(tree, level[mine])]
            found[level] = found[parent] * step
        return found

    def _summed(self, added: Float64) -> Float64:
        """Sums from the root to each history."""
        found = added.copy()
        for level in self.tree.levels()[1:]:
            found[level] += found[self.tree.parent[level]]
        return found

    def _at_ends(self, values: Float64) -> Float64:
        return np.where(self.tree.player == TERMINAL, values, 0.0)

    @functools.cached_property
    def _imagined(self) -> Ints:
        return imagined_groups(self.tree, self.player)

    def _groups(self) -> Ints:
        """The imagined groups; with partial information, joined where their terminals look alike."""
        if self._seen is None:
            return self._imagined
        return self._joined(self._imagined, self.ends, self._seen[self.ends])

    def _joined(self, group: Ints, histories: Ints, seen: Ints) -> Ints:
        """Groups, joined where some of these histories look alike: (H,)."""
        count = int(group.max()) + 1
        size = count + int(seen.max(initial=0)) + 1
        links = coo_array((np.ones(len(histories)), (group[histories], count + seen)), (size, size))
        return np.asarray(connected_components(links, directed=False)[1][group], np.int64)

    def _ended(self) -> NDArray[np.bool_]:
        """The terminal histories that an own action brought about and that can be imagined without having been seen."""
        tree = self.tree
        parent = np.where(tree.parent == NULL, 0, tree.parent)
        found = (tree.player == TERMINAL) & (tree.parent != NULL) & (tree.player[parent] == self.player)
        if self._seen is None:
            return np.asarray(found)
        return np.asarray(found & ~self._shown())  # what would be shown is not known of a hand that was not played so

    def _shown(self) -> NDArray[np.bool_]:
        """The terminal histories that look like no other: everything was seen."""
        assert self._seen is not None
        found = np.zeros(self.tree.num_histories, np.bool_)
        found[self.ends] = (np.bincount(self._seen[self.ends]) == 1)[self._seen[self.ends]]
        return found

    def _ratio(self, group: Ints, members: Ints, ends: Ints, anchor: Ints, won: Float64) -> Float64:
        """What each of the members of groups adds, where these terminals are anchored."""
        size = int(group.max()) + 1
        top = np.bincount(group[anchor[ends]], (won * self._chance * self._own)[ends], minlength=size)
        bottom = np.bincount(group[members], (self._chance * self._sampled)[members], minlength=size)
        return _divided(top, bottom)[group[members]]

    def _check_values(self, values: Float64) -> None:
        if np.shape(values) != (self.tree.num_histories,):
            raise GameError(
                f"there are {self.tree.num_histories} histories; got values of the shape {np.shape(values)}"
            )

    def _numbered(self, observed: Sequence[Any]) -> Ints:
        """What was seen of each terminal history as numbers: (H,)."""
        if len(observed) != self.tree.num_terminals:
            raise GameError(f"there are {self.tree.num_terminals} terminal histories; got {len(observed)} observations")
        numbers: dict[Any, int] = {}
        rows = np.array([numbers.setdefault(one, len(numbers)) for one in observed], np.int64)
        found = np.zeros(self.tree.num_histories, np.int64)
        found[self.ends] = rows[self.tree.outcome[self.ends]]
        return found


def self_play_values(tree: GameTree, strategy: Any, player: int) -> Float64:
    """What a player wins from every history on if all play a strategy: (H,)."""
    table, found = _table(tree, strategy), np.zeros(tree.num_histories)
    ends = np.flatnonzero(tree.player == TERMINAL)
    found[ends] = tree.utility[tree.outcome[ends], player]
    for level in reversed(tree.levels()[1:]):
        parent, step = tree.parent[level], tree.chance_prob[level].copy()
        decided = tree.player[parent] >= 0
        step[decided] = table[_entries(tree, level[decided])]
        np.add.at(found, parent, step * found[level])
    return found


def _entries(tree: GameTree, child: Ints) -> Ints:
    """The entries of the moves into histories after decisions."""
    parent = tree.parent[child]
    return np.asarray(tree.infoset_offset[tree.infoset[parent]] + child - tree.first_child[parent], np.int64)


def _table(tree: GameTree, strategy: Any) -> Float64:
    """A strategy as probabilities of all entries."""
    if isinstance(strategy, TabularStrategy):
        return strategy.for_tree(tree)
    table = np.asarray(strategy, np.float64)
    if table.shape != (tree.num_entries,):
        raise GameError(f"a strategy of {tree.name} has {tree.num_entries} probabilities; got {table.shape}")
    return table


def _divided(top: NDArray[Any], bottom: NDArray[Any]) -> Float64:
    """Quotients; 0 where nothing is divided by nothing."""
    return np.asarray(np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 0.0))
