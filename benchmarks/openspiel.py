"""OpenSpiel's CFR+ and NashConv, both in C++ (github.com/google-deepmind/open_spiel)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyspiel

SPECS = {
    "kuhn": "kuhn_poker", "leduc": "leduc_poker", "leduc without suits": "leduc_poker(suit_isomorphism=True)",
    "bluff": "liars_dice",
}  # fmt: skip


class OpenSpielRun:
    """``pyspiel.CFRPlusSolver``: alternating updates, regret matching plus, linear averaging."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.solver = pyspiel.CFRPlusSolver(game)

    def iterate(self, iterations: int) -> None:
        update = self.solver.evaluate_and_update_policy
        for _ in range(iterations):
            update()

    def exploitability(self) -> float:
        return float(pyspiel.nash_conv(self.game, self.policy())) / 2

    def policy(self) -> Any:
        """The average policy in a table, which is what OpenSpiel evaluates fastest."""
        return self.solver.tabular_average_policy()


class OpenSpielRival:
    """OpenSpiel."""

    name = "OpenSpiel"
    tolerance = 1e-6

    def start(self, game: str) -> OpenSpielRun:
        return OpenSpielRun(pyspiel.load_game(SPECS[game]))

    def evaluations(self, game: str, iterations: int) -> dict[str, Callable[[int], float]]:
        """Ways to evaluate the average policy after some iterations, each so many times over; its exploitability.

        ``nash_conv`` is what OpenSpiel offers; it builds the tree of the game anew at every call.  The other way
        keeps the trees in best-response objects and changes the policy in them.
        """
        run = self.start(game)
        run.iterate(iterations)
        policy = run.policy()
        responses = [pyspiel.TabularBestResponse(run.game, player, policy) for player in range(2)]
        root = run.game.new_initial_state()

        def by_nash_conv(times: int) -> float:
            for _ in range(times):
                gain = pyspiel.nash_conv(run.game, policy)
            return float(gain) / 2

        def with_kept_trees(times: int) -> float:
            for _ in range(times):
                gain = -sum(pyspiel.expected_returns(root, policy, -1, False))
                for response in responses:
                    response.set_policy(policy)
                    gain += response.value(root.history_str())
            return float(gain) / 2

        return {"OpenSpiel": by_nash_conv, "OpenSpiel, trees kept": with_kept_trees}
