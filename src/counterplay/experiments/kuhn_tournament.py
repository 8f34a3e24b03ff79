"""A mock tournament in Kuhn poker (Gibson 2014, section 4.4.1, table 4.1): what avoiding dominated actions is worth.

Six agents with a strategy for both seats: *Uni* plays uniformly; *ND* does too but never plays a strictly
dominated action (it never calls with J and never folds K); *NID* also avoids the iteratively dominated one (player 1
never opens with Q); *Nash-γ* are the equilibria in which player 1 opens with K with probability γ (Kuhn 1950).  The
score of a row against a column is the expected win in thousandths of a chip, over both seatings; nothing is sampled.
"""

from __future__ import annotations

import numpy as np

from counterplay.evaluation import exploitability
from counterplay.experiments.current_profile import seat_value
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

AGENTS = ("Uni", "ND", "NID", "Nash-0", "Nash-0.5", "Nash-1")

PUBLISHED: dict[str, tuple[int | None, ...]] = {
    "Uni": (None, -250, -187, -111, -139, -167, -171, 458),
    "ND": (250, None, -21, -69, -56, -42, 13, 188),
    "NID": (187, 21, None, -56, -42, -28, 17, 167),
    "Nash-0": (111, 69, 56, None, 0, 0, 47, 0),
    "Nash-0.5": (139, 56, 42, 0, None, 0, 47, 0),
    "Nash-1": (167, 42, 28, 0, 0, None, 47, 0),
}
"""Table 4.1: the score against each agent, overall, and exploitability, in milli-chips per game."""


def kuhn_agent(tree: GameTree, name: str) -> TabularStrategy:
    """An agent of the tournament by its name; ``Nash-`` takes any γ from 0 to 1."""
    table: dict[tuple[int, str], dict[str, float]] = {}
    if name.startswith("Nash-"):
        gamma = float(name.removeprefix("Nash-"))
        bets = {(0, "J:"): gamma / 3, (0, "Q:"): 0.0, (0, "K:"): gamma}
        bets |= {(1, "J:k"): 1 / 3, (1, "Q:k"): 0.0, (1, "K:k"): 1.0}
        calls = {(0, "Q:kb"): (1 + gamma) / 3, (1, "Q:b"): 1 / 3}
        table.update({place: {"check": 1 - share, "bet": share} for place, share in bets.items()})
        table.update({place: {"fold": 1 - share, "call": share} for place, share in calls.items()})
    if name != "Uni":
        for place in ((0, "J:kb"), (1, "J:b")):
            table[place] = {"fold": 1.0}
        for place in ((0, "K:kb"), (1, "K:b")):
            table[place] = {"call": 1.0}
    if name == "NID":
        table[0, "Q:"] = {"check": 1.0}
    return TabularStrategy.from_table(tree, table)


def scores(tree: GameTree, agents: list[TabularStrategy]) -> np.ndarray:
    """Expected win of each agent (row) against each other one (column), in chips, mean over both seatings."""
    return np.array([[seat_value(tree, one.table, other.table) for other in agents] for one in agents])


def run_off(names: tuple[str, ...], table: np.ndarray) -> list[tuple[str, ...]]:
    """Instant run-off (Gibson 2014, chapter 8): who is left in each round; the lowest means leave together."""
    left = list(range(len(names)))
    rounds = [tuple(names)]
    while len(left) > 2:
        means = [np.mean([table[one, other] for other in left if other != one]) for one in left]
        lowest = min(means)
        stay = [one for one, mean in zip(left, means, strict=True) if mean > lowest + 1e-9]
        if not stay:
            break
        left = stay
        rounds.append(tuple(names[one] for one in left))
    return rounds


def run(quick: bool = False) -> Experiment:
    """Play the tournament; it is exact and instant, so ``quick`` changes nothing."""
    del quick
    tree = open_game("kuhn", "history")
    agents = [kuhn_agent(tree, name) for name in AGENTS]
    table = 1000 * scores(tree, agents)
    rows: list[tuple[Cell, ...]] = []
    furthest = 0.0
    with keeping_rows():
        for number, name in enumerate(AGENTS):
            others = [float(table[number, other]) for other in range(len(AGENTS)) if other != number]
            scored = [*table[number].tolist(), float(np.mean(others)), 1000 * exploitability(agents[number], tree)]
            cells = [None if place == number else round(cell, 9) + 0.0 for place, cell in enumerate(scored)]
            pairs = zip(cells, PUBLISHED[name], strict=True)
            away = [abs(ours - theirs) for ours, theirs in pairs if ours is not None and theirs is not None]
            furthest = max(furthest, *away)
            rows += [(name, "ours", *cells), (name, "published", *PUBLISHED[name])]
    order = " > ".join(" = ".join(group) for group in _ranking(rows[::2]))
    survivors = run_off(AGENTS, table)[-1]
    return Experiment(
        title="Mock tournament in Kuhn poker, milli-chips per game",
        source="Gibson 2014, table 4.1",
        columns=("agent", "", *AGENTS, "overall", "exploitability"),
        rows=tuple(rows),
        notes=(
            f"No cell differs by more than {furthest:.3g}; the published ones are rounded to whole milli-chips.",
            f"Total bankroll: {order}.  Instant run-off: {', '.join(survivors)} are left.",
        ),
    )


def _ranking(rows: list[tuple[Cell, ...]]) -> list[list[str]]:
    """Agents by what they won overall, ties together."""
    groups: dict[float, list[str]] = {}
    for row in rows:
        groups.setdefault(round(float(row[-2] or 0.0), 6), []).append(str(row[0]))
    return [groups[overall] for overall in sorted(groups, reverse=True)]
