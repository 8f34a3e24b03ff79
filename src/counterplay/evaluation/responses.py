"""Best responses as strategies, on history trees (Gibson 2014, section 2.1.2)."""

from __future__ import annotations

import dataclasses
import numbers
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.forgetful_response import best_pure_choices
from counterplay.evaluation.measurement import measure_strategy
from counterplay.forms import open_game
from counterplay.game.game import Game
from counterplay.kernels.history.passes import backward_best, form_arrays, forward_reach, leaf_values
from counterplay.strategy.strategy import Provenance, not_a_strategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree


@dataclasses.dataclass(frozen=True, eq=False)
class BestResponse:
    """A pure best response of one player.

    Attributes
    ----------
    player : int
        Who responds.
    value : float
        The value of the response to that player.  When ``exact`` is False: an upper bound, or for an absent-minded
        player that of the best pure strategy, which a randomised one may beat.
    profile : TabularStrategy
        The given profile with this player's strategy replaced by the response.
    exact : bool
        True with perfect recall and with A-loss recall, and when the pure strategy from the response in the
        coarsest perfect-recall refinement happens to have the same value.
    """

    player: int
    value: float
    profile: TabularStrategy
    exact: bool


def check_player(tree: GameTree, player: int) -> None:
    """Refuse an unknown player of a game."""
    if not isinstance(player, numbers.Integral) or not 0 <= player < tree.players:
        raise GameError(f"{tree.name} has players 0 .. {tree.players - 1}; got {player}")


def best_response(
    profile: TabularStrategy,
    player: int,
    game: GameTree | Game | str | None = None,
    method: Literal["refinement", "exact"] = "refinement",
) -> BestResponse:
    """A pure best response of ``player`` to the others; the first action wins ties.

    Parameters
    ----------
    profile : TabularStrategy
        The strategies of the others.
    player : int
        Who responds.
    game : GameTree, Game or str, optional
        The game, by default the one that the profile names.
    method : {"refinement", "exact"}
        With imperfect recall: compute in the coarsest perfect-recall refinement, which is exact with A-loss recall and
        an upper bound otherwise; or find the best pure strategy of the player who forgets, which can take very long.
        With perfect recall they are the same.
    """
    if not isinstance(profile, TabularStrategy):
        raise not_a_strategy(profile, "a TabularStrategy")
    tree = open_game(profile.game if game is None else game, "history")
    check_player(tree, player)
    if method not in ("refinement", "exact"):
        raise GameError(f"the method of a best response is refinement or exact; got {method!r}")
    strategy = np.ascontiguousarray(profile.for_tree(tree), dtype=np.float64)
    leaves = own_leaf_values(tree, strategy, player)
    value = leaves.copy()
    choice = np.zeros(tree.sequences.num_decisions, np.int32)
    backward_best(form_arrays(tree.sequences), player, value, choice)
    best = float(value[tree.sequences.sequence_start[player]]) * tree.sequences.unit
    response = TabularStrategy.from_tree(tree, _pure(tree, player, strategy, choice), Provenance("best response"))
    exact = tree.sequences.has_perfect_recall(player)
    if not exact:
        rounding = 1e-12 * float(np.abs(tree.utility[:, player]).max())
        exact = _value(tree, response, player) >= best - rounding
    if method == "exact" and not exact:
        own = strategy.copy()
        low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
        own[low:high] = 0.0
        starts = tree.infoset_offset[tree.player_infosets[player] : tree.player_infosets[player + 1]]
        own[starts + best_pure_choices(tree, player, leaves)] = 1.0
        response = TabularStrategy.from_tree(tree, own, Provenance("best response"))
        best = _value(tree, response, player)
        exact = tree.recall[player] != "absent-minded"
    return BestResponse(player, best, response, exact)


def _value(tree: GameTree, profile: TabularStrategy, player: int) -> float:
    """What a player wins."""
    return measure_strategy(tree, form_arrays(tree.sequences), profile.for_tree(tree)).value[player]


def own_leaf_values(tree: GameTree, strategy: NDArray[np.float64], player: int) -> NDArray[np.float64]:
    """What the leaves of each of a player's sequences are worth against the others, in ``SequenceForm.unit``."""
    form = form_arrays(tree.sequences)
    reach = np.ones(tree.sequences.num_sequences)
    value = np.zeros(tree.sequences.num_sequences)
    for other in range(tree.players):
        forward_reach(form, other, strategy, reach)
    leaf_values(form, player, reach, value)
    return value


def _pure(tree: GameTree, player: int, strategy: NDArray[np.float64], choice: NDArray[np.int32]) -> NDArray[np.float64]:
    """The strategy with a player's entries replaced by pure choices; reached decision points go first."""
    form = tree.sequences
    result = strategy.copy()
    low, high = tree.infoset_offset[tree.player_infosets[[player, player + 1]]]
    result[low:high] = 0.0
    decisions = range(int(form.decision_start[player]), int(form.decision_start[player + 1]))
    played = np.zeros(form.num_sequences, bool)
    played[form.sequence_start[player]] = True
    reached = []
    for decision in decisions:
        if played[form.decision_parent[decision]]:
            played[form.decision_first[decision] + choice[decision]] = True
            reached.append(decision)
    done: set[int] = set()
    for decision in [*reached, *decisions]:
        infoset = int(form.decision_infoset[decision])
        if infoset not in done:
            done.add(infoset)
            result[form.decision_entry[decision] + choice[decision]] = 1.0
    return result
