"""The normal form derived from a tree, in full or reduced, and the way between mixed and behavioural strategies.

A pure strategy names one action for each information set of a player; the derived normal form lets each player choose
one of them at once (Gibson 2014, section 2.1.1).  The *reduced* form keeps one strategy for each different plan: it
names actions only at the information sets that the strategy's own earlier actions leave possible (Kuhn 1953), which
changes no utility.  Both work with any recall.  They are exponential, so strategies are counted before any is made,
and games with too many are refused with their number.

With perfect recall mixed and behavioural strategies can do the same (Kuhn's theorem).  Without it a behavioural
strategy still has an equivalent mixed one, unless the player is absent-minded, but not the other way round.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL

MAX_STRATEGIES = 100_000
"""Most pure strategies of one player that are listed."""

MAX_CELLS = 20_000_000
"""Most entries of all payoff arrays together."""

MAX_LISTED_DECISIONS = 400
"""Most decision points of a forgetful player whose reduced strategies are counted by listing them."""


def format_count(count: int) -> str:
    """A number of strategies as text, also one with thousands of digits."""
    if count < 10**12:
        return f"{count:,}"
    return f"about 10^{math.log10(count):.1f}"


@dataclasses.dataclass(frozen=True, eq=False)
class NormalForm:
    """The normal form of a tree.  n players, S_p pure strategies of player p."""

    tree: GameTree  # the game
    reduced: bool  # whether strategies name actions only where their own earlier actions let them come
    # by player, (S_p, I_p): the action of each pure strategy at each information set; NULL where it names none
    choices: tuple[NDArray[np.int32], ...]
    plans: tuple[NDArray[np.bool_], ...]  # by player: whether a strategy plays each own sequence
    payoffs: NDArray[np.float64]  # (n, S_1, ..., S_n) ``payoffs[i][s_1, ..., s_n]`` is the expected utility of player i

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of pure strategies by player."""
        return self.payoffs.shape[1:]

    @property
    def players(self) -> int:
        """Number of players."""
        return len(self.payoffs)

    def strategy_name(self, player: int, strategy: int) -> str:
        """The actions of a pure strategy, such as ``J: check, J:kb fold``."""
        first = int(self.tree.player_infosets[player])
        parts = []
        for offset, action in enumerate(self.choices[player][strategy].tolist()):
            if action != NULL:
                name = self.tree.infoset_names[first + offset]
                parts.append(f"{name} {self.tree.actions_of(first + offset)[action]}")
        return ", ".join(parts)

    @functools.cached_property
    def _tables(self) -> tuple[NDArray[np.float64], ...]:
        return tuple(
            np.moveaxis(self.payoffs[player], player, 0).reshape(self.shape[player], -1)
            for player in range(self.players)
        )

    def table(self, player: int) -> NDArray[np.float64]:
        """The player's payoffs as a matrix: own strategies by joint strategies of the others, the last one fastest."""
        return self._tables[player]


def count_strategies(tree: GameTree, player: int, reduced: bool = True) -> int:
    """How many pure strategies a player has, counted without listing them.

    The reduced count is exact with perfect recall; a player who forgets is counted by listing, and the count of the
    full form is given instead if that takes more than ``MAX_STRATEGIES``.
    """
    full = math.prod(len(tree.actions_of(infoset)) for infoset in tree.infosets_of(player))
    if not reduced:
        return full
    form = tree.sequences
    if not form.has_perfect_recall(player):
        if form.decision_start[player + 1] - form.decision_start[player] > MAX_LISTED_DECISIONS:
            return full
        listed = sum(1 for _ in zip(_reduced_choices(tree, player), range(MAX_STRATEGIES + 1), strict=False))
        return listed if listed <= MAX_STRATEGIES else full
    low = int(form.sequence_start[player])
    continuations = [1] * form.sequences_of(player)
    for decision in range(int(form.decision_start[player + 1]) - 1, int(form.decision_start[player]) - 1, -1):
        first = int(form.decision_first[decision]) - low
        ways = sum(continuations[first : first + int(form.decision_actions[decision])])
        continuations[int(form.decision_parent[decision]) - low] *= ways
    return continuations[0]


def pure_strategies(tree: GameTree, player: int, reduced: bool = True) -> NDArray[np.int32]:
    """All pure strategies of a player: the action at each of the player's information sets, NULL where none is named.

    Raises GameError if there are more than ``MAX_STRATEGIES``; the message says how many.
    """
    count = count_strategies(tree, player, reduced)
    if count > MAX_STRATEGIES:
        kind = "reduced pure strategies" if reduced else "pure strategies"
        many = format_count(count)
        raise GameError(f"player {player + 1} of {tree.name} has {many} {kind}; at most {MAX_STRATEGIES:,} are listed")
    if reduced:
        rows = list(_reduced_choices(tree, player))
        return np.array(rows, np.int32).reshape(len(rows), len(tree.infosets_of(player)))
    sizes = [len(tree.actions_of(infoset)) for infoset in tree.infosets_of(player)]
    choices = np.stack(np.unravel_index(np.arange(count), sizes), axis=1) if sizes else np.zeros((1, 0))
    return choices.astype(np.int32)


def _reduced_choices(tree: GameTree, player: int) -> Iterator[list[int]]:
    """Every choice of actions at the information sets that the earlier choices leave possible, any recall."""
    form = tree.sequences
    first_set = int(tree.player_infosets[player])
    following: dict[int, list[int]] = {}
    for decision in range(int(form.decision_start[player]), int(form.decision_start[player + 1])):
        following.setdefault(int(form.decision_parent[decision]), []).append(decision)

    def extend(choice: list[int], waiting: list[int]) -> Iterator[list[int]]:
        if not waiting:
            yield choice
            return
        decision, *rest = waiting
        where = int(form.decision_infoset[decision]) - first_set
        known = choice[where]
        for action in range(int(form.decision_actions[decision])) if known == NULL else (known,):
            after = following.get(int(form.decision_first[decision]) + action, [])
            yield from extend([*choice[:where], action, *choice[where + 1 :]], [*after, *rest])

    yield from extend([NULL] * len(tree.infosets_of(player)), following.get(int(form.sequence_start[player]), []))


def played_sequences(tree: GameTree, player: int, choices: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of the player's sequences each pure strategy plays."""
    form = tree.sequences
    low, first_set = int(form.sequence_start[player]), int(tree.player_infosets[player])
    plays = np.zeros((len(choices), form.sequences_of(player)), bool)
    plays[:, 0] = True
    for decision in range(int(form.decision_start[player]), int(form.decision_start[player + 1])):
        before = plays[:, int(form.decision_parent[decision]) - low]
        chosen = choices[:, int(form.decision_infoset[decision]) - first_set]
        for action in range(int(form.decision_actions[decision])):
            plays[:, int(form.decision_first[decision]) - low + action] = before & (chosen == action)
    return plays


def normal_form(tree: GameTree, reduced: bool = True) -> NormalForm:
    """The normal form of a small game.

    Raises GameError if it would have too many strategies or payoffs; the message says how many.
    """
    counts = [count_strategies(tree, player, reduced) for player in range(tree.players)]
    cells = tree.players * math.prod(counts)
    if max(counts) > MAX_STRATEGIES or cells > MAX_CELLS:
        sizes = " x ".join(format_count(count) for count in counts)
        raise GameError(
            f"the {'reduced ' if reduced else ''}normal form of {tree.name} has {sizes} pure strategies; "
            f"it is made up to {MAX_STRATEGIES:,} of a player and {MAX_CELLS:,} payoffs"
        )
    choices = tuple(pure_strategies(tree, player, reduced) for player in range(tree.players))
    plans = tuple(played_sequences(tree, player, choices[player]) for player in range(tree.players))
    payoffs = np.stack([_payoffs(tree, player, plans) for player in range(tree.players)])
    return NormalForm(tree, reduced, choices, plans, payoffs)


def _payoffs(tree: GameTree, player: int, plans: tuple[NDArray[np.bool_], ...]) -> NDArray[np.float64]:
    """Expected utility of one player at every pure profile: the sum over leaves that all strategies play."""
    form = tree.sequences
    low, high = int(form.sequence_start[player]), int(form.sequence_start[player + 1])
    leaves = slice(int(form.leaf_start[low]), int(form.leaf_start[high]))
    own = np.repeat(np.arange(high - low), np.diff(form.leaf_start[low : high + 1]))
    columns = []
    others = iter(form.leaf_others[leaves].T)
    for other in range(tree.players):
        index = own if other == player else next(others) - form.sequence_start[other]
        columns.append(plans[other][:, index].astype(np.float64))
    return _sum_over_leaves(columns, form.leaf_payoff[leaves] * form.unit)


def _sum_over_leaves(columns: list[NDArray[np.float64]], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(columns) == 1:
        return columns[0] @ weight
    if len(columns) == 2:
        result: NDArray[np.float64] = (columns[0] * weight) @ columns[1].T
        return result
    return np.stack([_sum_over_leaves(columns[1:], weight * row) for row in columns[0]])


def mixed_strategy(form: NormalForm, player: int, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mixed strategy of a behavioural one: the weight of s is Π_I σ(I, s(I)) (Gibson 2014, section 2.1.1).

    ``strategy`` holds the probabilities of all entries of the tree.

    Raises GameError if the player is absent-minded and so may act differently at one information set within one game.
    """
    tree = form.tree
    if tree.recall[player] == "absent-minded":
        raise GameError(
            f"player {player + 1} of {tree.name} is absent-minded; behavioural strategies have no mixed equivalent then"
        )
    weights = np.ones(form.shape[player])
    for offset, infoset in enumerate(tree.infosets_of(player)):
        chosen = form.choices[player][:, offset]
        first = int(tree.infoset_offset[infoset])
        weights *= np.where(chosen == NULL, 1.0, strategy[first + np.maximum(chosen, 0)])
    return weights


def behavioural_strategy(form: NormalForm, player: int, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The behavioural strategy of a mixed one, as probabilities of the player's own entries: σ(I,a) is the weight of
    the strategies that come to I and play a there, over that of those that come to I; uniform where none comes.

    Raises GameError if the player forgets: no behavioural strategy need be equivalent then (Gibson 2014, figure 2.3).
    """
    tree, sequences = form.tree, form.tree.sequences
    if not sequences.has_perfect_recall(player):
        raise GameError(
            f"player {player + 1} of {tree.name} forgets; a mixed strategy need not have a behavioural equivalent then"
        )
    if weights.shape != (form.shape[player],):
        raise GameError(f"player {player + 1} has {form.shape[player]} strategies; got weights {weights.shape}")
    low = int(sequences.sequence_start[player])
    reach = weights @ form.plans[player]
    begin = int(tree.infoset_offset[tree.player_infosets[player]])
    result = np.zeros(int(tree.infoset_offset[tree.player_infosets[player + 1]]) - begin)
    for decision in range(int(sequences.decision_start[player]), int(sequences.decision_start[player + 1])):
        first, span = int(sequences.decision_first[decision]) - low, int(sequences.decision_actions[decision])
        before = reach[int(sequences.decision_parent[decision]) - low]
        entry = int(sequences.decision_entry[decision]) - begin
        result[entry : entry + span] = reach[first : first + span] / before if before > 0 else 1.0 / span
    return result
