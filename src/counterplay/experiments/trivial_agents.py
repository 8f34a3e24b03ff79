"""What players who do not look at their cards lose to a best response in limit hold'em and its two-round versions.

Johanson 2016, section 2.6, table 2.1, has full limit hold'em; ours are compared with numbers of an independent program,
which agree with the table and have more digits.  Best responses in the smaller games use the general method for any
strategy, those in full limit hold'em a table of the last round.
"""

from __future__ import annotations

from counterplay.errors import GameError, MemoryLimitError
from counterplay.evaluation import evaluate
from counterplay.evaluation.card_free import evaluate_card_free
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.poker.poker_game import PokerGame
from counterplay.strategy.trivial import TRIVIAL

AGENTS = ("always-fold", "always-call", "always-raise", "50/50")

COMPUTED: dict[str, dict[str, tuple[float, float, float]]] = {
    "holdem_2_1": {
        "always-fold": (750.0, 1000.0, 500.0), "always-call": (645.4724, 645.4724, 645.4724),
        "always-raise": (292.4291, 317.3311, 267.5271), "50/50": (476.3090, 476.8719, 475.7461),
    },
    "holdem_2_4": {
        "always-fold": (750.0, 1000.0, 500.0), "always-call": (645.4724, 645.4724, 645.4724),
        "always-raise": (2072.2807, 2072.2807, 2072.2807), "50/50": (1362.2944, 1442.3982, 1282.1907),
    },
    "holdem_limit_2p": {
        "always-fold": (750.0, 1000.0, 500.0), "always-call": (1163.4758, 1163.4758, 1163.4758),
        "always-raise": (3697.6929, 3697.6929, 3697.6929), "50/50": (2406.5509, 2598.1124, 2214.9895),
    },
}  # fmt: skip
"""Exploitability and what a best response wins as dealer and as big blind, in mbb/g, computed independently."""

PUBLISHED = {
    "holdem_limit_2p": {"always-fold": 750.0, "always-call": 1163.48, "always-raise": 3697.69, "50/50": 2406.55}
}
"""Exploitability in mbb/g as table 2.1 prints it."""

WHOLE = 1 << 32
"""Bytes of a public tree up to which it is evaluated as a whole."""


def _responses(name: str, threads: int) -> dict[str, tuple[float, float]]:
    """What best responses to each agent win as big blind (player 0) and as dealer, in mbb/g."""
    game = open_game(name, "states")
    if not isinstance(game, PokerGame):
        raise GameError(f"{name} is not a poker game from a definition, such as holdem_2_1")
    try:
        tree = open_game(game, "public", memory_limit=WHOLE)
        found = [evaluate(agent, tree, threads=threads) for agent in AGENTS]
    except MemoryLimitError:  # all agents share one pass over the boards
        found = evaluate_card_free(game, [(TRIVIAL[agent], TRIVIAL[agent]) for agent in AGENTS], threads)
    unit = 1000.0 / game.big_blind
    best = [measurement.best_response for measurement in found]
    return {agent: (unit * blind, unit * dealer) for agent, (blind, dealer) in zip(AGENTS, best, strict=True)}


def run(quick: bool = False, games: tuple[str, ...] = tuple(COMPUTED), threads: int = 1) -> Experiment:
    """Best responses to each agent.

    Parameters
    ----------
    quick : bool
        The first game alone; the last one takes 190 CPU seconds.
    games : tuple of str
        Limit games for two players.
    threads : int
        Threads of the evaluation.
    """
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        for name in games[:1] if quick else games:
            for agent, (blind, dealer) in _responses(name, threads).items():
                known = COMPUTED.get(name, {}).get(agent, (None, None, None))
                ours = (round((dealer + blind) / 2, 4), round(dealer, 4), round(blind, 4))
                rows.append((name, agent, *ours, PUBLISHED.get(name, {}).get(agent), *known))
    return Experiment(
        title="What a best response wins from players who do not look at their cards, mbb/g",
        source="Johanson 2016, section 2.6, table 2.1",
        columns=("game", "agent", "exploitability", "as dealer", "as big blind", "published",
                 "computed independently", "as dealer there", "as big blind there"),
        rows=tuple(rows),
    )  # fmt: skip
