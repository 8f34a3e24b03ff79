"""Counterexamples of Čermák 2018 about imperfect recall, equilibria, and algorithms that need perfect recall.

The drawings of the thesis are missing in our copy.  Games marked *rebuilt* satisfy every number that the text states
about their figure; those marked *ours* were designed for the role that the figure has in the text.  Player 1 is the
player of interest except in ``toy_irrational``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable

from counterplay.errors import GameError
from counterplay.game.builder import Node, chance, decision, terminal
from counterplay.game.registry import parameter, register
from counterplay.games.toy import Toy, end


@register("toy_no_equilibrium")
@dataclasses.dataclass(frozen=True)
class NoEquilibrium(Toy):
    """No Nash equilibrium in behavioural strategies (Čermák 2018, figure 2.1, rebuilt)."""

    zero_sum = True

    def tree(self) -> Node:
        """Player 1 chooses twice, forgetting the first choice; player 2 has seen nothing."""
        payoffs = {"ac": (1, -1), "bd": (-1, 1), "ad": (-5, -5), "bc": (-5, -5)}

        def last(plan: str) -> Node:
            return decision(1, "J", {"e": end(payoffs[plan][0]), "f": end(payoffs[plan][1])})

        def second(first: str) -> Node:
            return decision(0, "I2", {choice: last(first + choice) for choice in "cd"})

        return decision(0, "I1", {first: second(first) for first in "ab"})


@register("toy_refinement")
@dataclasses.dataclass(frozen=True)
class Refinement(Toy):
    """The only equilibrium is not one of the refined game (Čermák 2018, role of figure 2.2, ours)."""

    zero_sum = True

    def tree(self) -> Node:
        """Before chance; at I3 player 1 forgets how it was reached."""
        after_d = decision(0, "I3", {"g": end(2), "h": decision(1, "J", {"l": end(1), "r": end(-1)})})
        after_e = decision(0, "I3", {"g": decision(1, "J", {"l": end(-1), "r": end(1)}), "h": end(2)})
        left = decision(0, "I1", {"c": end(-1), "d": after_d})
        right = decision(0, "I2", {"e": after_e, "f": end(-1)})
        return chance({"x": (0.5, left), "y": (0.5, right)})


def _two_ways(left: tuple[Node, Node], right: tuple[Node, Node]) -> Node:
    """Chance, then player 1 reaches one set by different actions; payoffs of l and r on either side."""
    one = decision(0, "I", {"l": left[0], "r": left[1]})
    other = decision(0, "I", {"l": right[0], "r": right[1]})
    return chance(
        {
            "L": (0.5, decision(0, "J1", {"out": end(0), "m": one})),
            "R": (0.5, decision(0, "J2", {"n": other})),
        }
    )


@register("toy_well_formed")
@dataclasses.dataclass(frozen=True)
class WellFormed(Toy):
    """A well-formed game without A-loss recall (Čermák 2018, role of figure 4.1 left, ours)."""

    zero_sum = True

    def tree(self) -> Node:
        """Before chance."""
        return _two_ways((end(1), end(2)), (end(1), end(2)))


@register("toy_skew_well_formed")
@dataclasses.dataclass(frozen=True)
class SkewWellFormed(Toy):
    """A skew well-formed game that is not well-formed (Čermák 2018, role of figure 2.4, ours)."""

    zero_sum = True

    def tree(self) -> Node:
        """Before chance; the best factor is k = 3/4, which leaves δ = 1/4."""
        return _two_ways((end(1), end(2)), (end(1), end(3)))


@register("toy_ill_formed")
@dataclasses.dataclass(frozen=True)
class IllFormed(Toy):
    """Not even chance-relaxed skew well-formed: futures differ in length (Čermák 2018, role of figure 2.5, ours)."""

    zero_sum = True

    def tree(self) -> Node:
        """Before chance."""
        longer = decision(0, "K", {"s": end(1), "t": end(2)})
        return _two_ways((end(1), longer), (end(1), end(2)))


@register("toy_a_loss")
@dataclasses.dataclass(frozen=True)
class ALoss(Toy):
    """A-loss recall that is not chance-relaxed skew well-formed (Čermák 2018, role of figure 4.1 right, ours)."""

    zero_sum = True

    def tree(self) -> Node:
        """Player 1's first choice, which it forgets; player 2 moves on one side only."""
        after_a = decision(0, "I", {"l": end(0), "r": decision(1, "J", {"x": end(1), "y": end(5)})})
        after_b = decision(0, "I", {"l": end(0), "r": end(1)})
        return decision(0, "R", {"a": after_a, "b": after_b})


@register("toy_irrational")
@dataclasses.dataclass(frozen=True)
class Irrational(Toy):
    """Koller and Megiddo's game: player 2's maxmin strategy is irrational (Čermák 2018, figure 3.3, rebuilt)."""

    zero_sum = True

    def tree(self) -> Node:
        """Player 1 chooses unseen; player 2 forgets its own first choice."""
        wins = {("a", "df"): 3, ("b", "eg"): 3, ("c", "dg"): 1, ("c", "ef"): 1}

        def second(choice: str, first: str) -> Node:
            return decision(1, "I2", {last: end(-wins.get((choice, first + last), 0)) for last in "fg"})

        def opening(choice: str) -> Node:
            return decision(1, "I1", {first: second(choice, first) for first in "de"})

        return decision(0, "R", {choice: opening(choice) for choice in "abc"})


@register("toy_absent_minded_driver")
@dataclasses.dataclass(frozen=True)
class AbsentMindedDriver(Toy):
    """One information set twice on a path; only randomising is optimal (Čermák 2018, figure 3.4 left)."""

    players = 1

    def tree(self) -> Node:
        """The first exit."""
        second = decision(0, "exit?", {"straight": terminal(1), "exit": terminal(4)})
        return decision(0, "exit?", {"straight": second, "exit": terminal(0)})


@register("toy_time_inconsistent")
@dataclasses.dataclass(frozen=True)
class TimeInconsistent(Toy):
    """A best response from which a player would deviate later (Čermák 2018, figure 3.4 right, rebuilt)."""

    epsilon: float = parameter(0.1, "what F pays less than E after B, above 0 and below 1")
    zero_sum = True

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < 1:
            raise GameError(f"toy_time_inconsistent: epsilon must be between 0 and 1; got {self.epsilon}")

    def tree(self) -> Node:
        """Before chance; player 2 has no move."""
        after_b = decision(0, "I3", {"E": end(3), "F": end(3 - self.epsilon)})
        after_d = decision(0, "I3", {"E": end(0), "F": end(2)})
        left = decision(0, "I1", {"A": end(0), "B": after_b})
        right = decision(0, "I2", {"C": end(1), "D": after_d})
        return chance({"left": (0.5, left), "right": (0.5, right)})


@register("toy_failing_learners")
@dataclasses.dataclass(frozen=True)
class FailingLearners(Toy):
    """Fictitious play and CFR miss the maxmin value -1 although recall is A-loss (Čermák 2018, figure 3.5)."""

    x: float = parameter(10.0, "loss for not repeating the first choice; a counterexample when above 2")
    zero_sum = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.x) and self.x > 0):
            raise GameError(f"toy_failing_learners: x must be a positive number; got {self.x}")

    def tree(self) -> Node:
        """Player 1's first choice, which player 2 sees and player 1 forgets."""
        after_a = decision(0, "I2", {"g": end(0), "h": end(-self.x)})
        after_b = decision(0, "I2", {"g": end(-self.x), "h": end(0)})
        return decision(
            0,
            "I1",
            {
                "a": decision(1, "a", {"c": end(-1), "d": after_a}),
                "b": decision(1, "b", {"e": after_b, "f": end(-1)}),
            },
        )


@register("toy_never_best_response")
@dataclasses.dataclass(frozen=True)
class NeverBestResponse(Toy):
    """The maxmin strategy is not a best response to any pure strategy (Čermák 2018, role of figure 4.4, ours)."""

    zero_sum = True

    def tree(self) -> Node:
        """Player 1 chooses twice, forgetting the first choice; player 2 has seen nothing."""
        payoffs = {("a1", "c1"): (2, -2), ("a2", "c2"): (-2, 2), ("b", "e"): (-1, -1)}

        def last(first: str, second: str) -> Node:
            on_x, on_y = payoffs.get((first, second), (-10, -10))
            return decision(1, "J", {"x": end(on_x), "y": end(on_y)})

        def then(first: str) -> Node:
            return decision(0, "I2", {second: last(first, second) for second in ("c1", "c2", "e")})

        return decision(0, "I1", {first: then(first) for first in ("a1", "a2", "b")})


@register("toy_missing_action")
@dataclasses.dataclass(frozen=True)
class MissingAction(Toy):
    """Worth 1, and 0 without the action x (Čermák 2018, role of figure 4.5 left, ours)."""

    zero_sum = True

    def tree(self) -> Node:
        """Player 1 chooses unseen, or ends the game by x."""
        left = decision(1, "J", {"c": end(1), "d": end(-1)})
        middle = decision(1, "J", {"c": end(-1), "d": end(1)})
        return decision(0, "h1", {"l": left, "m": middle, "x": end(1)})


@register("toy_wrong_default")
@dataclasses.dataclass(frozen=True)
class WrongDefault(Toy):
    """A restricted game misled by its temporary leaf (Čermák 2018, figure 4.5 right, rebuilt)."""

    zero_sum = True

    def tree(self) -> Node:
        """Player 1 chooses unseen."""
        left = decision(1, "J", {"c": end(-2), "d": end(2)})
        middle = decision(1, "J", {"c": end(2), "d": end(-2)})
        return decision(0, "h1", {"l": left, "m": middle})


@register("toy_fpira")
@dataclasses.dataclass(frozen=True)
class Fpira(Toy):
    """The worked example of fictitious play on a growing abstraction (Čermák 2018, figure 5.1, rebuilt)."""

    merged: bool = parameter(False, "player 1's two later sets are one, with actions c (t, v) and d (u, w)")
    zero_sum = True

    def tree(self) -> Node:
        """Player 1's first choice; player 2 sees none of them."""
        payoffs = {"at": (0, 0), "au": (1, 0), "bv": (2, -3), "bw": (0, 0)}

        def last(plan: str) -> Node:
            return decision(1, "J", {"e": end(payoffs[plan][0]), "f": end(payoffs[plan][1])})

        def then(first: str, actions: str) -> Node:
            names = "cd" if self.merged else actions
            branches: dict[Hashable, Node] = {
                name: last(first + action) for name, action in zip(names, actions, strict=True)
            }
            return decision(0, "ab" if self.merged else first, branches)

        return decision(0, "R", {"a": then("a", "tu"), "b": then("b", "vw")})


@register("toy_heuristic_update")
@dataclasses.dataclass(frozen=True)
class HeuristicUpdate(Toy):
    """Two sets that should be separated and always prefer the same action (Čermák 2018, table 5.1)."""

    merged: bool = parameter(False, "the two sets are one, with actions c (x, v) and d (y, w)")
    zero_sum = True

    def tree(self) -> Node:
        """Before chance draws a set; player 2 chooses the left or the right half of the table."""
        table = {"I'": ((0, 10), (1, 0)), "I''": ((0, 1), (10, 0))}  # set -> action -> (left, right)

        def half(left: float, right: float) -> Node:
            return decision(1, "table", {"left": end(left), "right": end(right)})

        def drawn(infoset: str, actions: str) -> tuple[float, Node]:
            names = "cd" if self.merged else actions
            branches: dict[Hashable, Node] = {
                name: half(*payoffs) for name, payoffs in zip(names, table[infoset], strict=True)
            }
            return 0.5, decision(0, "I" if self.merged else infoset, branches)

        return chance({"first": drawn("I'", "xy"), "second": drawn("I''", "vw")})
