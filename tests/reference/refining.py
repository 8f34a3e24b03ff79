"""Algorithms on abstractions that refine themselves, with dicts: FPIRA in exact fractions, CFR+IRA with full samples.

Čermák 2018, section 5.2, algorithms 3 to 12, on an explicit tree of nodes.  An abstract set is a list of information
sets; actions are matched by position.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

from counterplay.game.game import CHANCE, TERMINAL, Game

Number = Any  # Fraction or float
Infoset = tuple[int, Hashable]


@dataclasses.dataclass(eq=False)
class Node:
    """A history."""

    player: int
    infoset: Infoset | None
    children: list[Node]
    chance: Number  # probability of chance on the way here
    utilities: list[Number]
    past: tuple[tuple[tuple[Infoset, int], ...], ...]  # by player: what was done where


def exact(number: float) -> Fraction:
    """The fraction with a small denominator that a float stands for."""
    return Fraction(number).limit_denominator(10**6)


def build(game: Game, convert: Callable[[float], Number]) -> list[Node]:
    """All histories, parents before children."""
    nodes: list[Node] = []

    def grow(state: Any, chance: Number, past: tuple[Any, ...]) -> Node:
        infoset = (state.player, state.infoset()) if state.player >= 0 else None
        ends = state.player == TERMINAL
        node = Node(state.player, infoset, [], chance, [convert(u) for u in state.utilities()] if ends else [], past)
        nodes.append(node)
        if state.player == CHANCE:
            node.children = [grow(state.child(move), chance * convert(p), past) for move, p in state.chance()]
        elif not ends:
            for place, action in enumerate(state.actions()):
                after = tuple((*x, (infoset, place)) if i == state.player else x for i, x in enumerate(past))
                node.children.append(grow(state.child(action), chance, after))
        return node

    grow(game.root(), convert(1.0), ((),) * game.players)
    return nodes


Strategy = dict[Infoset, list[Number]]


def reach(strategy: Strategy, past: tuple[tuple[Infoset, int], ...]) -> Number:
    """The product of a player's probabilities along the player's own past."""
    return math.prod((strategy[infoset][place] for infoset, place in past), start=1)


def best_total(
    nodes: list[Node], player: int, weight: Callable[[Node], Number]
) -> tuple[Number, dict[Infoset, int], dict[int, Number]]:
    """The most that a pure strategy of a player makes of the sum of leaf weights; the first action wins ties."""
    members: dict[Infoset, list[Node]] = {}
    for node in nodes:
        if node.player == player:
            members.setdefault(node.infoset, []).append(node)  # type: ignore[arg-type]
    chosen: dict[Infoset, int] = {}
    known: dict[int, Number] = {}

    def choose(infoset: Infoset) -> int:
        if infoset not in chosen:
            totals = [
                sum(value(node.children[place]) for node in members[infoset])
                for place in range(len(members[infoset][0].children))
            ]
            chosen[infoset] = totals.index(max(totals))
        return chosen[infoset]

    def value(node: Node) -> Number:
        if id(node) not in known:
            if node.player == TERMINAL:
                known[id(node)] = weight(node)
            elif node.player == player:
                known[id(node)] = value(node.children[choose(node.infoset)])  # type: ignore[arg-type]
            else:
                known[id(node)] = sum(value(child) for child in node.children)
        return known[id(node)]

    total = value(nodes[0])
    return total, chosen, known


class Refining:
    """What both algorithms share: nodes, information sets in the order of the first visit, and the abstract sets."""

    def __init__(self, game: Game, convert: Callable[[float], Number], merge: bool = True) -> None:
        self.nodes = build(game, convert)
        self.players = game.players
        self.histories: dict[Infoset, list[Node]] = {}
        for node in self.nodes:
            if node.infoset is not None:
                self.histories.setdefault(node.infoset, []).append(node)
        classes: dict[Hashable, list[Infoset]] = {}
        for infoset, histories in self.histories.items():
            moves, actions = len(histories[0].past[infoset[0]]), len(histories[0].children)
            key = (infoset[0], moves, actions) if merge else infoset
            classes.setdefault(key, []).append(infoset)
        self.sets: list[list[Infoset]] = list(classes.values())

    def actions(self, infoset: Infoset) -> int:
        return len(self.histories[infoset][0].children)

    def past(self, infoset: Infoset) -> tuple[tuple[Infoset, int], ...]:
        return self.histories[infoset][0].past[infoset[0]]

    def partition(self) -> set[frozenset[Infoset]]:
        return {frozenset(members) for members in self.sets}


class ReferenceFpira(Refining):
    """FPIRA for two players, in fractions; an update is of one player."""

    def __init__(self, game: Game, merge: bool = True) -> None:
        super().__init__(game, exact, merge)
        self.average: Strategy = {
            infoset: [Fraction(int(place == 0)) for place in range(self.actions(infoset))] for infoset in self.histories
        }
        self.times = [1] * self.players
        self.deltas: list[Fraction] = []

    def respond(self, player: int) -> tuple[Fraction, dict[Infoset, int]]:
        """Value and prescriptions of a best response, the latter where both it and the other come."""

        def weight(node: Node) -> Fraction:
            return node.chance * reach(self.average, node.past[1 - player]) * node.utilities[player]

        value, chosen, _ = best_total(self.nodes, player, weight)
        response = {}
        for infoset, place in chosen.items():
            own = all(chosen[before] == move for before, move in self.past(infoset))
            others = any(reach(self.average, node.past[1 - player]) > 0 for node in self.histories[infoset])
            if own and others:
                response[infoset] = place
        return value, response

    def update(self, player: int) -> None:
        """One update of a player (algorithm 3)."""
        _, response = self.respond(player)
        self.times[player] += 1
        new = Fraction(1, self.times[player])
        sets: list[list[Infoset]] = []
        for members in self.sets:  # case 1
            groups: dict[int | None, list[Infoset]] = {}
            for infoset in members:
                groups.setdefault(response.get(infoset), []).append(infoset)
            sets += groups.values() if len(set(groups) - {None}) > 1 else [members]
        self.sets = sets
        merged, precise = dict(self.average), dict(self.average)
        for members in self.sets:
            reached = [infoset for infoset in members if infoset in response]
            if not reached:
                continue
            place = response[reached[0]]
            everywhere = sum(reach(self.average, past) for past in {self.past(infoset) for infoset in members})
            there = len({self.past(infoset) for infoset in reached})
            share = new * there / ((1 - new) * everywhere + new * there)
            for infoset in members:
                merged[infoset] = self.towards(infoset, place, share)
            for infoset in reached:
                own = reach(self.average, self.past(infoset))
                precise[infoset] = self.towards(infoset, place, new / ((1 - new) * own + new))
        delta = self.delta(player, precise, merged)
        self.deltas.append(delta)
        if delta > 0:  # case 2
            self.sets = [
                part
                for members in self.sets
                for part in [
                    *([infoset] for infoset in members if infoset in response),
                    [infoset for infoset in members if infoset not in response],
                ]
                if part
            ]
        self.average = precise if delta > 0 else merged

    def towards(self, infoset: Infoset, place: int, share: Fraction) -> list[Fraction]:
        return [old + share * (int(move == place) - old) for move, old in enumerate(self.average[infoset])]

    def delta(self, player: int, one: Strategy, other: Strategy) -> Fraction:
        """The most by which two strategies of a player can differ to the opponent (equations 5.1 and 5.2)."""

        def weight(node: Node, sign: int) -> Fraction:
            past = node.past[player]
            return sign * node.chance * (reach(one, past) - reach(other, past)) * node.utilities[1 - player]

        found = [best_total(self.nodes, 1 - player, lambda node, s=sign: weight(node, s))[0] for sign in (1, -1)]
        return max(found)


@dataclasses.dataclass(frozen=True)
class Readings:
    """The options of ``ReferenceCfrIra``, as in ``CfrIraConfig``."""

    delay: int = 0
    shifted: bool = True
    clip_heuristic: bool = True
    keep_remainder: bool = True
    skip_unvisited: bool = True
    both_players: bool = True
    last_first: bool = True
    heuristic: bool = True
    bound: bool = True


class ReferenceCfrIra(Refining):
    """CFR+IRA whose samples are all information sets that are merged with others, so that nothing is random."""

    def __init__(self, game: Game, readings: Readings) -> None:
        super().__init__(game, float)
        self.readings = readings
        self.tables: dict[int, tuple[list[float], list[float]]] = {}
        self.regret: dict[Infoset, list[float]] = {}
        self.sums: dict[Infoset, list[float]] = {}
        for members in self.sets:
            self.fresh(members)
        self.time = 0
        self.next, self.step, self.last = 1, 1, 0
        self.watched: dict[Infoset, list[float]] = {}
        self.splits: list[tuple[int, str]] = []

    def fresh(self, members: list[Infoset]) -> None:
        """Tables of a set, shared by its members."""
        regret, sums = ([0.0] * self.actions(members[0]) for _ in range(2))
        for infoset in members:
            self.regret[infoset], self.sums[infoset] = regret, sums

    def current(self) -> Strategy:
        strategy = {}
        for infoset, regret in self.regret.items():
            total = sum(value for value in regret if value > 1e-12)
            strategy[infoset] = [
                (value if value > 1e-12 else 0.0) / total if total > 0 else 1 / len(regret) for value in regret
            ]
        return strategy

    def iterate(self) -> None:
        """One iteration (algorithm 8)."""
        self.time += 1
        if self.time == self.next:
            merged = {infoset for members in self.sets if len(members) > 1 for infoset in members}
            self.watched = {
                infoset: [0.0] * self.actions(infoset)
                for infoset in self.histories
                if infoset in merged and self.actions(infoset) > 1
            }
            self.last, self.next, self.step = self.time, self.time + self.step, 2 * self.step
        order = list(range(self.players))[:: -1 if self.readings.last_first else 1]
        for player in order if self.readings.both_players else [order[(self.time - 1) % self.players]]:
            self.update(player)

    def update(self, player: int) -> None:
        strategy = self.current()
        values: dict[int, float] = {}
        for node in reversed(self.nodes):
            if node.player == TERMINAL:
                values[id(node)] = node.utilities[player]
            elif node.player == CHANCE:
                values[id(node)] = sum(
                    child.chance / node.chance * values[id(child)] for child in node.children
                )  # fmt: skip
            else:
                row = strategy[node.infoset]  # type: ignore[index]
                values[id(node)] = sum(p * values[id(child)] for p, child in zip(row, node.children, strict=True))
        own: dict[Infoset, list[float]] = {}
        for infoset, histories in self.histories.items():
            if infoset[0] == player:
                row = [0.0] * self.actions(infoset)
                for node in histories:
                    others = self.others(strategy, node, player)
                    for place, child in enumerate(node.children):
                        row[place] += others * (values[id(child)] - values[id(node)])
                own[infoset] = row
        visited = {
            infoset
            for infoset in own
            if reach(strategy, self.past(infoset)) > 1e-6
            or any(self.others(strategy, node, player) > 1e-6 for node in self.histories[infoset])
        }
        self.add(player, strategy, own)
        if self.readings.heuristic:
            self.part_by_preference(player, own, visited)
        if self.readings.bound and self.time != self.last:
            self.part_by_bound(player)

    def others(self, strategy: Strategy, node: Node, player: int) -> float:
        product = float(node.chance)
        for other in range(self.players):
            if other != player:
                product *= reach(strategy, node.past[other])
        return product

    def add(self, player: int, strategy: Strategy, own: dict[Infoset, list[float]]) -> None:
        """Regrets, floored once per set, and averages."""
        weight = self.time - self.readings.delay if self.readings.shifted else self.time
        for members in self.sets:
            if members[0][0] != player:
                continue
            regret, sums = self.regret[members[0]], self.sums[members[0]]
            for place in range(len(regret)):
                regret[place] = max(0.0, regret[place] + sum(own[infoset][place] for infoset in members))
                if self.time > self.readings.delay:
                    for infoset in members:
                        sums[place] += weight * reach(strategy, self.past(infoset)) * strategy[infoset][place]
        for infoset, total in self.watched.items():
            if infoset[0] == player:
                for place, value in enumerate(own[infoset]):
                    total[place] += value

    def part_by_preference(self, player: int, own: dict[Infoset, list[float]], visited: set[Infoset]) -> None:
        """The heuristic update (algorithm 12)."""
        slack = 1 / (5 * math.sqrt(self.time))
        for members in list(self.sets):
            if members[0][0] != player or len(members) < 2 or self.actions(members[0]) < 2:
                continue
            groups: dict[tuple[int, ...], list[Infoset]] = {}
            for infoset in members:
                if self.readings.skip_unvisited and infoset not in visited:
                    continue
                row = [max(value, 0.0) if self.readings.clip_heuristic else value for value in own[infoset]]
                liked = tuple(place for place, value in enumerate(row) if value >= max(row) - slack)
                groups.setdefault(liked, []).append(infoset)
            if len(groups) > 1:
                stays = min(groups, key=lambda liked: (-len(groups[liked]), liked))
                self.part(members, [group for liked, group in groups.items() if liked != stays], "heuristic")

    def part_by_bound(self, player: int) -> None:
        """The bound update (algorithm 11) with the limit of section 5.3.1."""
        for infoset in [infoset for infoset in self.watched if infoset[0] == player]:
            members = next(members for members in self.sets if infoset in members)
            limit = self.range(infoset) * math.sqrt(self.actions(infoset)) / (100 * math.sqrt(self.time))
            if len(members) > 1 and max(self.watched[infoset]) / (self.time - self.last) > limit:
                self.part(members, [[infoset]], "bound")
                del self.watched[infoset]

    def range(self, infoset: Infoset) -> float:
        """Δ_I."""
        found: list[float] = []

        def collect(node: Node) -> None:
            if node.player == TERMINAL:
                found.append(node.utilities[infoset[0]])
            for child in node.children:
                collect(child)

        for node in self.histories[infoset]:
            collect(node)
        return max(found) - min(found)

    def part(self, members: list[Infoset], groups: list[list[Infoset]], why: str) -> None:
        self.splits.append((self.time, why))
        taken = {infoset for group in groups for infoset in group}
        rest = [infoset for infoset in members if infoset not in taken]
        place = next(place for place, one in enumerate(self.sets) if one is members)
        self.sets[place : place + 1] = [rest, *groups]
        for group in groups:
            self.fresh(group)
        if not self.readings.keep_remainder:
            self.fresh(rest)
