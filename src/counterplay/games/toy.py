"""Counterexamples and worked examples of Gibson 2014 and Lanctot et al. 2012, in extensive form.

Trees follow the figures and the text about them.  The payoffs of figures 2.2, 2.6a, 4.2, 6.2a and 6.2b are illegible
in our copies: figures 4.2, 6.2a (figure 2 of Lanctot et al.) and 6.2b are reconstructed so that every statement about
them holds; the text says nothing about the payoffs of 2.2 and 2.6a, and those here are ours.  Normal-form examples are
in ``toy_matrices.py``, those of Čermák 2018 in ``toy_recall.py`` and ``toy_sat.py``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from counterplay.game.builder import Node, TerminalNode, chance, decision, terminal
from counterplay.game.game import Game
from counterplay.game.registry import parameter, register


def end(utility: float) -> TerminalNode:
    """A terminal node of a two-player zero-sum game, by what player 1 gets."""
    return terminal(utility, -utility)


BETWEEN_0_AND_1 = (lambda value: 0 < value < 1, "between 0 and 1")
POSITIVE = (lambda value: math.isfinite(value) and value > 0, "a positive number")


_ROOT = TypeVar("_ROOT", bound=Callable[..., Any])


def register_toy(name: str, players: int = 2, zero_sum: bool = True, **parameters: Any) -> Callable[[_ROOT], _ROOT]:
    """Register the game whose root a function of its parameters returns; its docstring describes the game."""

    def add(tree: _ROOT) -> _ROOT:
        def root(self: Game) -> Any:
            return tree(**self.parameters())

        fields = [(key, type(field.default), field) for key, field in parameters.items()]
        facts = {"__doc__": tree.__doc__, "__module__": tree.__module__, "root": root, "players": players,
                 "zero_sum": zero_sum if players > 1 else None}  # fmt: skip
        title = tree.__name__.title().replace("_", "")
        register(name)(dataclasses.make_dataclass(title, fields, bases=(Game,), namespace=facts, frozen=True))
        return tree

    return add


@register_toy("toy_small_tree")
def small_tree() -> Node:
    """Three deals: player 1 can distinguish one from the other two, player 2 all (Gibson 2014, figure 2.2)."""

    def answer(deal: str, first: str) -> Node:
        branches: dict[Hashable, Node] = {second: end(1 if second != first else -1) for second in "lr"}
        return decision(1, deal + first, branches)

    def opening(deal: str) -> Node:
        return decision(0, "a" if deal == "a" else "bd", {first: answer(deal, first) for first in "lr"})

    return chance({deal: (1 / 3, opening(deal)) for deal in "abd"})


@register_toy("toy_forgotten_choice")
def forgotten_choice() -> Node:
    """Player 2 chooses twice, forgetting the first; mixed strategies beat behavioural (Gibson 2014, figure 2.3)."""

    def second(u_c: float, u_d: float) -> Node:
        return decision(1, "J", {"c": end(-u_c), "d": end(-u_d)})

    after_a = decision(1, "I", {"a": second(4, 0), "b": second(0, 0)})
    after_b = decision(1, "I", {"a": second(0, 0), "b": second(0, 4)})
    return decision(0, "root", {"A": after_a, "B": after_b})


@register_toy(
    "toy_chain",
    sets=parameter(3, "information sets of each player", check=(lambda sets: 1 <= sets <= 400, "from 1 to 400")),
)
def chain(sets: int) -> Node:
    """The players take turns to continue or stop; whoever stops loses 1 (Gibson 2014, figure 2.6a)."""
    node: Node = end(0)
    for turn in range(2 * sets - 1, -1, -1):
        mover = turn % 2
        node = decision(mover, f"turn {turn + 1}", {"l": end(-1 if mover == 0 else 1), "r": node})
    return node


@register_toy("toy_hidden_coin", relabelled=parameter(False, "call player 1's action c by the name a"))
def hidden_coin(relabelled: bool) -> Node:
    """A coin that only player 1 sees; names of actions change the M-value (Gibson 2014, figure 2.6b)."""

    def second(key: str, left: Node, right: Node) -> Node:
        return decision(1, key, {"l": left, "r": right})

    after_lar = decision(0, "lar", {"e": end(-1), "f": end(2)})
    after_rcr = decision(0, "rcr", {"g": end(-1), "h": end(-2)})
    left = decision(0, "l", {"a": second("X", end(1), after_lar), "b": second("Y", end(1), end(2))})
    c = "a" if relabelled else "c"
    right = decision(0, "r", {c: second("X", end(-1), after_rcr), "d": second("Y", end(1), end(-2))})
    return chance({"l": (0.5, left), "r": (0.5, right)})


@register_toy("toy_mismatching_pennies", players=3)
def mismatching_pennies() -> Node:
    """Three players choose h or t unseen; the odd one out gets 2, the others lose 1 (Gibson 2014, figure 4.1)."""

    def leaf(choices: str) -> Node:
        if len(set(choices)) == 1:
            return terminal(0, 0, 0)
        odd = next(player for player in range(3) if choices.count(choices[player]) == 1)
        return terminal(*(2 if player == odd else -1 for player in range(3)))

    def node(choices: str) -> Node:
        if len(choices) == 3:
            return leaf(choices)
        return decision(len(choices), "choice", {side: node(choices + side) for side in "ht"})

    return node("")


@register_toy("toy_dominated_plans")
def dominated_plans() -> Node:
    """Two private choices each: a strategy is dominated and no action of it is (Gibson 2014, figure 4.2)."""
    payoffs = {"ae": (3, -1, 2, 0), "af": (-2, 2, -1, 1), "be": (2, -2, 1, -1), "bf": (-1, 3, 0, 2)}

    def answer(plan: str) -> Node:
        cg, ch, dg, dh = payoffs[plan]
        after_c = decision(1, "c", {"g": end(cg), "h": end(ch)})
        after_d = decision(1, "d", {"g": end(dg), "h": end(dh)})
        return decision(1, "first", {"c": after_c, "d": after_d})

    after_a = decision(0, "a", {"e": answer("ae"), "f": answer("af")})
    after_b = decision(0, "b", {"e": answer("be"), "f": answer("bf")})
    return decision(0, "first", {"a": after_a, "b": after_b})


@register_toy("toy_queen")
def queen() -> Node:
    """Kuhn poker in which player 1 always has Q and player 2 knows that (Gibson 2014, figure A.1)."""

    def dealt(card: str, sign: int) -> Node:
        facing_bet = decision(0, "I'", {"f": end(-1), "c": end(2 * sign)})
        after_check = decision(1, card + "k", {"k": end(sign), "b": facing_bet})
        after_bet = decision(1, card + "b", {"f": end(1), "c": end(2 * sign)})
        return decision(0, "I", {"k": after_check, "b": after_bet})

    return chance({"J": (0.5, dealt("J", 1)), "K": (0.5, dealt("K", -1))})


@register_toy(
    "toy_deadlock", xi=parameter(0.5, "what is paid when player 2 passes, above 0 and below 1", check=BETWEEN_0_AND_1)
)
def deadlock(xi: float) -> Node:
    """CFR passes forever although continuing pays: player 1 forgets the deal (Lanctot et al. 2012, figure 2)."""

    # only condition (iii) of well-formed games fails
    def dealt(deal: str, first_set: str, passed: float, left: float) -> tuple[float, Node]:
        last = decision(0, "I3", {"l": end(left), "r": end(-left)})
        second = decision(1, deal + "c", {"p": end(passed), "c": last})
        return 0.25, decision(0, first_set, {"p": end(0), "c": second})

    deals = (("a", "I1", -xi, -1), ("b", "I1", xi, 1), ("d", "I2", xi, -1), ("e", "I2", -xi, 1))
    return chance({deal[0]: dealt(*deal) for deal in deals})


@register_toy(
    "toy_forgotten_lever",
    players=1,
    p=parameter(
        0.75,
        "probability of alpha after l and of beta after r, above 0.5 and below 1",
        check=(lambda p: 0.5 < p < 1, "between 0.5 and 1"),
    ),
)
def forgotten_lever(p: float) -> Node:
    """A player forgets a choice on which chance depends; CFR stays uniform (Gibson 2014, figure 6.2b)."""

    # only condition (ii) of well-formed games fails
    def guess(left: float) -> Node:
        return decision(0, "I2", {"l": terminal(left), "r": terminal(-left)})

    def after(alpha: float) -> Node:
        return chance({"alpha": (alpha, guess(1)), "beta": (1 - alpha, guess(-1))})

    return decision(0, "I1", {"l": after(p), "r": after(1 - p)})


@register_toy("toy_self_match", players=1)
def self_match() -> Node:
    """One player must choose the same twice and forgets the first; CFR stays uniform (condition (i) fails)."""

    # utilities match with the factor -1 only, which well-formed games do not allow
    def again(first: str) -> Node:
        return decision(0, "J2", {second: terminal(1 if second == first else -1) for second in "lr"})

    return decision(0, "J1", {first: again(first) for first in "lr"})
