"""Responses to a fixed strategy of the opponent that stay safe, by linear programs of the sequence form.

Johanson 2016, sections 6.1, 6.4 and 6.5.  With the plan x of the player, the plan r of the opponent's fixed strategy
and any plan y of the opponent:

* restricted Nash response:  ``max_x  p x'A r + (1 - p) min_y x'A y``
* epsilon-safe best response:  ``max_x  x'A r``  such that  ``min_y x'A y >= v - epsilon``
* data biased response:  ``max_x min_y x'A y``  over the y with  ``y(I a) >= c(I) r(a | I) y(before I)``, a coin for
  each information set.  The dual of the inner program has a variable w >= 0 for each of these bounds.

Only the game's own rules are used.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from counterplay.game.game import Game
from tests.reference.sequence_lp import SequenceProgram, zero_sum_value
from tests.reference.walks import Profile, Sequence


def restricted_nash(game: Game, fixed: Profile, player: int, p: float) -> tuple[float, Profile]:
    """The value of the restricted game to the player, and the player's strategy."""
    program = SequenceProgram(game, player)
    objective = {column: p * value for column, value in _against(program, fixed).items()}
    objective[program.start] = 1.0 - p
    return program.maximise(objective)


def safe_response(game: Game, fixed: Profile, player: int, epsilon: float) -> tuple[float, Profile]:
    """The most that strategies win from ``fixed`` which give away at most epsilon, and one that does."""
    program = SequenceProgram(game, player)
    value = zero_sum_value(game)
    return program.maximise(_against(program, fixed), least=(value if player == 0 else -value) - epsilon)


def data_biased(
    game: Game, fixed: Profile, player: int, confidence: Callable[[Hashable], float]
) -> tuple[float, Profile]:
    """The value of the restricted game to the player, and the player's strategy.

    ``confidence`` says for each of the opponent's information sets how often the fixed strategy is played there.
    """
    program = SequenceProgram(game, player)
    for key, (before, actions) in program.other_sets.items():
        for action in actions:
            bound = program.column()
            program.replies[(*before, (key, action))][bound] = 1.0
            program.replies[before][bound] = -confidence(key) * fixed[1 - player, key][action]
    return program.maximise({program.start: 1.0})


def _against(program: SequenceProgram, fixed: Profile) -> dict[int, float]:
    """What each of the player's sequences wins from the fixed strategy."""

    def reach(past: Sequence) -> float:
        product = 1.0
        for key, action in past:
            product *= fixed[1 - program.player, key][action]
        return product

    found: dict[int, float] = {}
    for (own, others), amount in program.payoff.items():
        column = program.plan[own]
        found[column] = found.get(column, 0.0) + amount * reach(others)
    return found
