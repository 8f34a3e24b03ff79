"""Values of strategies on a public tree and best responses to them (Johanson 2016, section 2.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.public_walks import Opponent, PublicWalks, plain_tables
from counterplay.kernels.public.piece_steps import RESPONSE, VALUE

Vector = NDArray[np.float64]
Scales = tuple[NDArray[np.float32], NDArray[np.float32]]


class PublicWalker(PublicWalks):
    """Measures tables of strategies; see ``PublicWalks`` for what it is made from."""

    def value(self, player: int, own_table: NDArray[Any], opp_table: NDArray[Any]) -> float:
        """Expected value of a player's table against the opponent's."""
        own = plain_tables(own_table, self.ones(player))
        return self.total(player, self.walk(player, VALUE, own, Opponent(opp_table)))

    def response(self, player: int, opp_table: NDArray[Any], opp_scale: NDArray[np.float32] | None = None) -> float:
        """Value of a player's best response to the opponent's table."""
        none = plain_tables(np.zeros(0, opp_table.dtype), self.ones(player))
        return self.total(player, self.walk(player, RESPONSE, none, Opponent(opp_table, opp_scale)))

    def total(self, player: int, values: Vector) -> float:
        """What a player wins whose hands have these values at the start; in a postflop spot, of the pot."""
        return float(values @ self.tree.hands[player].root_weight) + self.tree.half_pot

    def measure(
        self,
        tables: tuple[NDArray[Any], NDArray[Any]],
        scales: Scales | None = None,
        locked: NDArray[np.bool_] | None = None,
        valued: bool = True,
    ) -> Measurement:
        """Value and best responses of a pair of strategies; best responses do not change locked decisions.

        Without ``valued`` one walk of three is saved: the value reported is then the middle of what both concede,
        which does not change exploitability.
        """
        scales = (self.ones(0), self.ones(1)) if scales is None else scales
        own = [plain_tables(table, scale) for table, scale in zip(tables, scales, strict=True)]
        players = [Opponent(table, scale) for table, scale in zip(tables, scales, strict=True)]

        def total(player: int, mode: int) -> float:
            return self.total(player, self.walk(player, mode, own[player], players[1 - player], locked=locked))

        return self.measured(total, valued)

    def measured(self, total: Callable[[int, int], float], valued: bool) -> Measurement:
        """As ``measure``; ``total`` walks for a player in a mode, and gives what the player wins."""
        best = total(0, RESPONSE), total(1, RESPONSE)
        value = (best[0] - best[1]) / 2 + self.tree.half_pot
        if valued or not self.tree.zero_sum:
            value = total(0, VALUE)
        other = 2 * self.tree.half_pot - value if self.tree.zero_sum else total(1, VALUE)
        return Measurement((value, other), best)
