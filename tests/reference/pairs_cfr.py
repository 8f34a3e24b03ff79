"""CFR in a bucket game given by how often pairs of buckets occur, in plain Python, one pair of buckets at a time.

A betting tree is nested: a decision is ``(player, round, name, children)``, a fold what each player wins, a showdown
``(wins, losses, ties)``, what each player wins with the better hand, with the worse one and with an equal one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Strategy = Mapping[tuple[Any, int], Sequence[float]]
"""By name of a decision and bucket: the probability of each action."""


class Decision(NamedTuple):
    player: int
    round: int
    name: Any
    children: list[Any]


class Fold(NamedTuple):
    won: tuple[float, float]


class Showdown(NamedTuple):
    wins: tuple[float, float]
    losses: tuple[float, float]
    ties: tuple[float, float]


class Cards(NamedTuple):
    """By pair of buckets of the last round: how likely it is, and who wins; and the buckets before each of them."""

    likely: Any
    ahead: Any
    tied: Any
    history: tuple[list[list[int]], list[list[int]]]  # by player, bucket of the last round, round


def trails(before: Sequence[Sequence[Sequence[int]]], player: int) -> list[list[int]]:
    """The buckets of all rounds for each bucket of the last one."""
    found = []
    for bucket in range(len(before[-1][player])):
        trail = [bucket]
        for turn in range(len(before) - 1, 0, -1):
            trail.insert(0, int(before[turn][player][trail[0]]))
        found.append(trail)
    return found


def values(
    tree: Any, cards: Cards, strategy: Strategy, player: int
) -> tuple[float, dict[Any, float], dict[Any, float]]:
    """What a strategy wins, the regrets of a player and his reaches, by name of the decision, bucket and action."""
    regret: dict[Any, float] = defaultdict(float)
    reached: dict[Any, float] = {}

    def walk(node: Any, pair: tuple[int, int], reach: list[float]) -> float:
        """What the player wins with a pair of buckets, times the probability of the pair."""
        likely, ahead, tied = (matrix[pair[0]][pair[1]] for matrix in cards[:3])
        if isinstance(node, Fold):
            return likely * node.won[player]
        if isinstance(node, Showdown):
            won, lost = (likely - tied + ahead) / 2, (likely - tied - ahead) / 2
            won, lost = (won, lost) if player == 0 else (lost, won)
            return won * node.wins[player] + lost * node.losses[player] + tied * node.ties[player]
        bucket = cards.history[node.player][pair[node.player]][node.round]
        chances, found = strategy[node.name, bucket], []
        for action, child in enumerate(node.children):
            after = reach.copy()
            after[node.player] *= chances[action]
            if node.player == player:
                reached[node.name, bucket, action] = after[player]
            found.append(walk(child, pair, after))
        total = sum(chance * one for chance, one in zip(chances, found, strict=True))
        if node.player == player:
            for action, one in enumerate(found):
                regret[node.name, bucket, action] += reach[1 - player] * (one - total)
        return total

    pairs = [(i, j) for i in range(len(cards.likely)) for j in range(len(cards.likely[0]))]
    value = sum(walk(tree, pair, [1.0, 1.0]) for pair in pairs)
    return value, regret, reached


def matched(tree: Any, cards: Cards, regret: Mapping[Any, float]) -> dict[tuple[Any, int], list[float]]:
    """Regret matching in all information sets."""
    found: dict[tuple[Any, int], list[float]] = {}

    def visit(node: Any) -> None:
        if not isinstance(node, Decision):
            return
        for bucket in {trail[node.round] for trail in cards.history[node.player]}:
            row = [max(0.0, regret.get((node.name, bucket, action), 0.0)) for action in range(len(node.children))]
            total = sum(row)
            found[node.name, bucket] = [one / total if total > 1e-9 else 1 / len(row) for one in row]
        for child in node.children:
            visit(child)

    visit(tree)
    return found


def cfr_plus(tree: Any, cards: Cards, iterations: int) -> tuple[dict[Any, float], dict[Any, float]]:
    """Regrets and average of CFR+: alternating, floored at 0, iteration t with weight t."""
    regret: dict[Any, float] = defaultdict(float)
    average: dict[Any, float] = defaultdict(float)
    for time in range(1, iterations + 1):
        for player in range(2):
            _, more, reached = values(tree, cards, matched(tree, cards, regret), player)
            for key, one in more.items():
                regret[key] = max(0.0, regret[key] + one)
            for key, one in reached.items():
                average[key] += time * one
    return regret, average
