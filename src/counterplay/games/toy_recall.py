"""Counterexamples of Čermák 2018 about imperfect recall, equilibria, and algorithms that need perfect recall.

The drawings of the thesis are missing in our copy.  Games marked *rebuilt* satisfy every number that the text states
about their figure; those marked *ours* were designed for the role that the figure has in the text.  Player 1 is the
player of interest except in ``toy_irrational``.
"""

from __future__ import annotations

from collections.abc import Hashable

from counterplay.game.builder import Node, chance, decision, terminal
from counterplay.game.registry import parameter
from counterplay.games.toy import BETWEEN_0_AND_1, POSITIVE, end, register_toy


@register_toy("toy_no_equilibrium")
def no_equilibrium() -> Node:
    """No Nash equilibrium in behavioural strategies (Čermák 2018, figure 2.1, rebuilt)."""
    payoffs = {"ac": (1, -1), "bd": (-1, 1), "ad": (-5, -5), "bc": (-5, -5)}

    def last(plan: str) -> Node:
        return decision(1, "J", {"e": end(payoffs[plan][0]), "f": end(payoffs[plan][1])})

    def second(first: str) -> Node:
        return decision(0, "I2", {choice: last(first + choice) for choice in "cd"})

    return decision(0, "I1", {first: second(first) for first in "ab"})


@register_toy("toy_refinement")
def refinement() -> Node:
    """The only equilibrium is not one of the refined game (Čermák 2018, role of figure 2.2, ours)."""
    after_d = decision(0, "I3", {"g": end(2), "h": decision(1, "J", {"l": end(1), "r": end(-1)})})
    after_e = decision(0, "I3", {"g": decision(1, "J", {"l": end(-1), "r": end(1)}), "h": end(2)})
    left = decision(0, "I1", {"c": end(-1), "d": after_d})
    right = decision(0, "I2", {"e": after_e, "f": end(-1)})
    return chance({"x": (0.5, left), "y": (0.5, right)})


def _two_ways(left: tuple[Node, Node], right: tuple[Node, Node]) -> Node:
    """Chance, then player 1 reaches one set by different actions; payoffs of l and r on either side."""
    one = decision(0, "I", {"l": left[0], "r": left[1]})
    other = decision(0, "I", {"l": right[0], "r": right[1]})
    first, second = decision(0, "J1", {"out": end(0), "m": one}), decision(0, "J2", {"n": other})
    return chance({"L": (0.5, first), "R": (0.5, second)})


@register_toy("toy_well_formed")
def well_formed() -> Node:
    """A well-formed game without A-loss recall (Čermák 2018, role of figure 4.1 left, ours)."""
    return _two_ways((end(1), end(2)), (end(1), end(2)))


@register_toy("toy_skew_well_formed")
def skew_well_formed() -> Node:
    """A skew well-formed game that is not well-formed (Čermák 2018, role of figure 2.4, ours)."""
    # the best factor is k = 3/4, which leaves δ = 1/4
    return _two_ways((end(1), end(2)), (end(1), end(3)))


@register_toy("toy_ill_formed")
def ill_formed() -> Node:
    """Not even chance-relaxed skew well-formed: futures differ in length (Čermák 2018, role of figure 2.5, ours)."""
    longer = decision(0, "K", {"s": end(1), "t": end(2)})
    return _two_ways((end(1), longer), (end(1), end(2)))


@register_toy("toy_a_loss")
def a_loss() -> Node:
    """A-loss recall that is not chance-relaxed skew well-formed (Čermák 2018, role of figure 4.1 right, ours)."""
    after_a = decision(0, "I", {"l": end(0), "r": decision(1, "J", {"x": end(1), "y": end(5)})})
    after_b = decision(0, "I", {"l": end(0), "r": end(1)})
    return decision(0, "R", {"a": after_a, "b": after_b})


@register_toy("toy_irrational")
def irrational() -> Node:
    """Koller and Megiddo's game: player 2's maxmin strategy is irrational (Čermák 2018, figure 3.3, rebuilt)."""
    wins = {("a", "df"): 3, ("b", "eg"): 3, ("c", "dg"): 1, ("c", "ef"): 1}

    def second(choice: str, first: str) -> Node:
        return decision(1, "I2", {last: end(-wins.get((choice, first + last), 0)) for last in "fg"})

    def opening(choice: str) -> Node:
        return decision(1, "I1", {first: second(choice, first) for first in "de"})

    return decision(0, "R", {choice: opening(choice) for choice in "abc"})


@register_toy("toy_absent_minded_driver", players=1)
def absent_minded_driver() -> Node:
    """One information set twice on a path; only randomising is optimal (Čermák 2018, figure 3.4 left)."""
    second = decision(0, "exit?", {"straight": terminal(1), "exit": terminal(4)})
    return decision(0, "exit?", {"straight": second, "exit": terminal(0)})


@register_toy(
    "toy_time_inconsistent",
    epsilon=parameter(0.1, "what F pays less than E after B, above 0 and below 1", check=BETWEEN_0_AND_1),
)
def time_inconsistent(epsilon: float) -> Node:
    """A best response from which a player would deviate later (Čermák 2018, figure 3.4 right, rebuilt)."""
    after_b = decision(0, "I3", {"E": end(3), "F": end(3 - epsilon)})
    after_d = decision(0, "I3", {"E": end(0), "F": end(2)})
    left = decision(0, "I1", {"A": end(0), "B": after_b})
    right = decision(0, "I2", {"C": end(1), "D": after_d})
    return chance({"left": (0.5, left), "right": (0.5, right)})


@register_toy(
    "toy_failing_learners",
    x=parameter(10.0, "loss for not repeating the first choice; a counterexample when above 2", check=POSITIVE),
)
def failing_learners(x: float) -> Node:
    """Fictitious play and CFR miss the maxmin value -1 although recall is A-loss (Čermák 2018, figure 3.5)."""
    after_a = decision(0, "I2", {"g": end(0), "h": end(-x)})
    after_b = decision(0, "I2", {"g": end(-x), "h": end(0)})
    left = decision(1, "a", {"c": end(-1), "d": after_a})
    return decision(0, "I1", {"a": left, "b": decision(1, "b", {"e": after_b, "f": end(-1)})})


@register_toy("toy_never_best_response")
def never_best_response() -> Node:
    """The maxmin strategy is not a best response to any pure strategy (Čermák 2018, role of figure 4.4, ours)."""
    payoffs = {("a1", "c1"): (2, -2), ("a2", "c2"): (-2, 2), ("b", "e"): (-1, -1)}

    def last(first: str, second: str) -> Node:
        on_x, on_y = payoffs.get((first, second), (-10, -10))
        return decision(1, "J", {"x": end(on_x), "y": end(on_y)})

    def then(first: str) -> Node:
        return decision(0, "I2", {second: last(first, second) for second in ("c1", "c2", "e")})

    return decision(0, "I1", {first: then(first) for first in ("a1", "a2", "b")})


@register_toy("toy_missing_action")
def missing_action() -> Node:
    """Worth 1, and 0 without the action x (Čermák 2018, role of figure 4.5 left, ours)."""
    left = decision(1, "J", {"c": end(1), "d": end(-1)})
    middle = decision(1, "J", {"c": end(-1), "d": end(1)})
    return decision(0, "h1", {"l": left, "m": middle, "x": end(1)})


@register_toy("toy_wrong_default")
def wrong_default() -> Node:
    """A restricted game misled by its temporary leaf (Čermák 2018, figure 4.5 right, rebuilt)."""
    left = decision(1, "J", {"c": end(-2), "d": end(2)})
    middle = decision(1, "J", {"c": end(2), "d": end(-2)})
    return decision(0, "h1", {"l": left, "m": middle})


@register_toy(
    "toy_fpira", merged=parameter(False, "player 1's two later sets are one, with actions c (t, v) and d (u, w)")
)
def fpira(merged: bool) -> Node:
    """The worked example of fictitious play on a growing abstraction (Čermák 2018, figure 5.1, rebuilt)."""
    payoffs = {"at": (0, 0), "au": (1, 0), "bv": (2, -3), "bw": (0, 0)}

    def last(plan: str) -> Node:
        return decision(1, "J", {"e": end(payoffs[plan][0]), "f": end(payoffs[plan][1])})

    def then(first: str, actions: str) -> Node:
        names = "cd" if merged else actions
        branches: dict[Hashable, Node] = {
            name: last(first + action) for name, action in zip(names, actions, strict=True)
        }
        return decision(0, "ab" if merged else first, branches)

    return decision(0, "R", {"a": then("a", "tu"), "b": then("b", "vw")})


@register_toy(
    "toy_heuristic_update", merged=parameter(False, "the two sets are one, with actions c (x, v) and d (y, w)")
)
def heuristic_update(merged: bool) -> Node:
    """Two sets that should be separated and always prefer the same action (Čermák 2018, table 5.1)."""
    table = {"I'": ((0, 10), (1, 0)), "I''": ((0, 1), (10, 0))}  # set -> action -> (left, right)

    def half(left: float, right: float) -> Node:
        return decision(1, "table", {"left": end(left), "right": end(right)})

    def drawn(infoset: str, actions: str) -> tuple[float, Node]:
        names = "cd" if merged else actions
        branches: dict[Hashable, Node] = {
            name: half(*payoffs) for name, payoffs in zip(names, table[infoset], strict=True)
        }
        return 0.5, decision(0, "I" if merged else infoset, branches)

    return chance({"first": drawn("I'", "xy"), "second": drawn("I''", "vw")})
