"""The example games of Gibson 2014, written down from its figures.

The payoffs of figures 6.2a and 6.2b are not legible in the source; those two are reconstructions that satisfy every
statement of section 6.2 about them.
"""

from __future__ import annotations

from counterplay.game.base import Game
from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.games.matrix import TensorGame


def fig_2_1() -> Game:
    """Zero-sum, unique equilibrium (B, b) of value 0, no pure strategy even weakly dominated."""
    rows = [[3.0, -1.0, -3.0], [1.0, 0.0, 1.0], [-3.0, -1.0, 3.0]]
    negated = [[-entry for entry in row] for row in rows]
    return TensorGame([rows, negated], [("A", "B", "C"), ("a", "b", "c")], name="figure 2.1")


def fig_2_3() -> Game:
    """Koller and Megiddo's game: the second player forgets the first of two choices."""

    def second_choice(u_c: float, u_d: float) -> Node:
        return decision(1, "J", {"c": terminal(-u_c, u_c), "d": terminal(-u_d, u_d)})

    return ExplicitGame(
        decision(
            0,
            "root",
            {
                "A": decision(1, "I", {"a": second_choice(4, 0), "b": second_choice(0, 0)}),
                "B": decision(1, "I", {"a": second_choice(0, 0), "b": second_choice(0, 4)}),
            },
        ),
        name="figure 2.3",
    )


def fig_2_5() -> Game:
    """A coarse correlated equilibrium may use C, which is strictly dominated."""
    rows = [[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]
    columns = [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    return TensorGame([rows, columns], [("A", "B", "C"), ("a", "b")], name="figure 2.5")


def fig_2_6b(relabelled: bool = False) -> Game:
    """Chance l or r, seen by the first player only; ``relabelled`` calls the action c by the name a."""

    def end(utility: float) -> Node:
        return terminal(utility, -utility)

    def second(key: str, left: Node, right: Node) -> Node:
        return decision(1, key, {"l": left, "r": right})

    after_lar = decision(0, "lar", {"e": end(-1), "f": end(2)})
    after_rcr = decision(0, "rcr", {"g": end(-1), "h": end(-2)})
    c = "a" if relabelled else "c"
    left = decision(0, "l", {"a": second("X", end(1), after_lar), "b": second("Y", end(1), end(2))})
    right = decision(0, "r", {c: second("X", end(-1), after_rcr), "d": second("Y", end(1), end(-2))})
    return ExplicitGame(chance({"l": (0.5, left), "r": (0.5, right)}), name="figure 2.6b")


def fig_4_3() -> Game:
    """Regret matching keeps playing W, which is weakly dominated."""
    rows = [[2.0, 1.0], [2.0, 0.0], [0.0, 0.0]]
    columns = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    return TensorGame([rows, columns], [("A", "W", "S"), ("B", "I")], name="figure 4.3")


def mismatching_pennies() -> Game:
    """Figure 4.1: three players choose h or t unseen; the odd one out gets 2 and the others lose 1."""

    def end(choices: str) -> Node:
        if choices in ("hhh", "ttt"):
            return terminal(0, 0, 0)
        odd = next(player for player in range(3) if choices.count(choices[player]) == 1)
        return terminal(*(2 if player == odd else -1 for player in range(3)))

    def node(choices: str) -> Node:
        if len(choices) == 3:
            return end(choices)
        return decision(len(choices), "choice", {side: node(choices + side) for side in "ht"})

    return ExplicitGame(node(""), name="mismatching pennies")


def fig_6_2a(xi: float) -> Game:
    """The first player forgets which of two pairs of deals it was; only condition (iii) of well-formed games fails."""

    def end(utility: float) -> Node:
        return terminal(utility, -utility)

    def deal(name: str, first_set: str, pass_value: float, left_value: float) -> Node:
        last = decision(0, "I3", {"l": end(left_value), "r": end(-left_value)})
        second = decision(1, name + "c", {"p": end(pass_value), "c": last})
        return decision(0, first_set, {"p": end(0), "c": second})

    return ExplicitGame(
        chance(
            {
                "a": (0.25, deal("a", "I1", -xi, -1)),
                "b": (0.25, deal("b", "I1", xi, 1)),
                "d": (0.25, deal("d", "I2", xi, -1)),
                "e": (0.25, deal("e", "I2", -xi, 1)),
            }
        ),
        name="figure 6.2a",
    )


def fig_6_2b() -> Game:
    """One player who forgets the own action and does not see chance; only condition (ii) of well-formed games fails."""

    def guess(left_value: float) -> Node:
        return decision(0, "I2", {"l": terminal(left_value), "r": terminal(-left_value)})

    def after(alpha: float) -> Node:
        return chance({"alpha": (alpha, guess(1)), "beta": (1 - alpha, guess(-1))})

    return ExplicitGame(decision(0, "I1", {"l": after(0.75), "r": after(0.25)}), name="figure 6.2b")


def fig_a_1() -> Game:
    """Kuhn poker in which the first player always has Q and the second, who knows that, has J or K."""

    def end(utility: float) -> Node:
        return terminal(utility, -utility)

    def dealt(card: str, sign: int) -> Node:
        facing_bet = decision(0, "I'", {"f": end(-1), "c": end(2 * sign)})
        after_check = decision(1, card + "k", {"k": end(sign), "b": facing_bet})
        after_bet = decision(1, card + "b", {"f": end(1), "c": end(2 * sign)})
        return decision(0, "I", {"k": after_check, "b": after_bet})

    return ExplicitGame(chance({"J": (0.5, dealt("J", 1)), "K": (0.5, dealt("K", -1))}), name="figure A.1")
