"""How much players who do not look at their cards lose to a best response in [2-1] and [2-4] hold'em.

Johanson 2016, section 2.6, does this in full limit hold'em (table 2.1); beside ours stand the numbers of an independent
program for the two smaller games.  Best responses come from the walk that serves any strategy.
"""

from __future__ import annotations

from counterplay.experiments.base import Cell, Experiment
from counterplay.poker.public_game import public_tree_by_name
from counterplay.strategy.public_profile import card_free, fill_table
from counterplay.strategy.public_walks import PublicWalker

__all__ = ["COMPUTED", "run"]

AGENTS = ("always-fold", "always-call", "always-raise", "50/50")

COMPUTED: dict[str, dict[str, tuple[float, float, float]]] = {
    "holdem_2_1": {
        "always-fold": (750.0, 1000.0, 500.0),
        "always-call": (645.4724, 645.4724, 645.4724),
        "always-raise": (292.4291, 317.3311, 267.5271),
        "50/50": (476.3090, 476.8719, 475.7461),
    },
    "holdem_2_4": {
        "always-fold": (750.0, 1000.0, 500.0),
        "always-call": (645.4724, 645.4724, 645.4724),
        "always-raise": (2072.2807, 2072.2807, 2072.2807),
        "50/50": (1362.2944, 1442.3982, 1282.1907),
    },
}
"""Exploitability and what a best response wins as dealer and as big blind, in mbb/g, computed independently."""


def run(quick: bool = False, games: tuple[str, ...] = ("holdem_2_1", "holdem_2_4"), threads: int = 1) -> Experiment:
    """Best responses to each agent.

    Parameters
    ----------
    quick : bool
        The first game alone.
    games : tuple of str
        Limit games for two players.
    threads : int
        How many share a walk.
    """
    rows: list[tuple[Cell, ...]] = []
    for name in games[:1] if quick else games:
        tree = public_tree_by_name(name)
        walker = PublicWalker(tree, threads)
        unit = 1000.0 / (tree.big_blind or 1000.0)
        for agent in AGENTS:
            strategy = card_free(agent)
            # positions: player 1 is the dealer, player 0 the big blind
            dealer = unit * walker.response(1, fill_table(tree, 0, strategy, "float32"))
            blind = unit * walker.response(0, fill_table(tree, 1, strategy, "float32"))
            known = COMPUTED.get(name, {}).get(agent, (None, None, None))
            ours = (round((dealer + blind) / 2, 4), round(dealer, 4), round(blind, 4))
            rows.append((name, agent, *ours, *known))
    return Experiment(
        name="trivial-agents",
        title="What a best response wins from players who do not look at their cards, mbb/g",
        source="Johanson 2016, section 2.6, table 2.1, for smaller games",
        columns=("game", "agent", "exploitability", "as dealer", "as big blind", "computed independently",
                 "as dealer there", "as big blind there"),
        rows=tuple(rows),
    )  # fmt: skip
