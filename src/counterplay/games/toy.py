"""Counterexamples and worked examples of Gibson 2014 and Lanctot et al. 2012, in extensive form.

Trees follow the figures and the text about them.  The payoffs of figures 2.2, 2.6a, 4.2, 6.2a and 6.2b are illegible
in our copies: figures 4.2, 6.2a (figure 2 of Lanctot et al.) and 6.2b are reconstructed so that every statement about
them holds; the text says nothing about the payoffs of 2.2 and 2.6a, and those here are ours.  Normal-form examples are
in ``toy_matrices.py``, those of Čermák 2018 in ``toy_recall.py`` and ``toy_sat.py``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

from counterplay.errors import GameError
from counterplay.game.builder import Node, TerminalNode, chance, decision, terminal
from counterplay.game.game import Game
from counterplay.game.registry import parameter, register


def end(utility: float) -> TerminalNode:
    """A terminal node of a two-player zero-sum game, by what player 1 gets."""
    return terminal(utility, -utility)


class Toy(Game):
    """What the hand-written examples share: a subclass gives its nodes."""

    def tree(self) -> Node:
        """The root of the hand-written tree."""
        raise NotImplementedError  # protocol

    def root(self) -> Any:
        """The state before anything has happened."""
        return self.tree()


@register("toy_small_tree")
@dataclasses.dataclass(frozen=True)
class SmallTree(Toy):
    """Three deals: player 1 can distinguish one from the other two, player 2 all (Gibson 2014, figure 2.2)."""

    zero_sum = True

    def tree(self) -> Node:
        """Before the deal."""

        def answer(deal: str, first: str) -> Node:
            branches: dict[Hashable, Node] = {second: end(1 if second != first else -1) for second in "lr"}
            return decision(1, deal + first, branches)

        def opening(deal: str) -> Node:
            return decision(0, "a" if deal == "a" else "bd", {first: answer(deal, first) for first in "lr"})

        return chance({deal: (1 / 3, opening(deal)) for deal in "abd"})


@register("toy_forgotten_choice")
@dataclasses.dataclass(frozen=True)
class ForgottenChoice(Toy):
    """Player 2 chooses twice, forgetting the first; mixed strategies beat behavioural (Gibson 2014, figure 2.3)."""

    zero_sum = True

    def tree(self) -> Node:
        """Player 1 chooses, unseen."""

        def second(u_c: float, u_d: float) -> Node:
            return decision(1, "J", {"c": end(-u_c), "d": end(-u_d)})

        return decision(
            0,
            "root",
            {
                "A": decision(1, "I", {"a": second(4, 0), "b": second(0, 0)}),
                "B": decision(1, "I", {"a": second(0, 0), "b": second(0, 4)}),
            },
        )


@register("toy_chain")
@dataclasses.dataclass(frozen=True)
class Chain(Toy):
    """The players take turns to continue or stop; whoever stops loses 1 (Gibson 2014, figure 2.6a)."""

    sets: int = parameter(3, "information sets of each player")
    zero_sum = True

    def __post_init__(self) -> None:
        if not 1 <= self.sets <= 400:
            raise GameError(f"toy_chain: sets must be from 1 to 400; got {self.sets}")

    def tree(self) -> Node:
        """Player 1's first turn."""
        node: Node = end(0)
        for turn in range(2 * self.sets - 1, -1, -1):
            mover = turn % 2
            node = decision(mover, f"turn {turn + 1}", {"l": end(-1 if mover == 0 else 1), "r": node})
        return node


@register("toy_hidden_coin")
@dataclasses.dataclass(frozen=True)
class HiddenCoin(Toy):
    """A coin that only player 1 sees; names of actions change the M-value (Gibson 2014, figure 2.6b)."""

    relabelled: bool = parameter(False, "call player 1's action c by the name a")
    zero_sum = True

    def tree(self) -> Node:
        """Before the coin is thrown."""

        def second(key: str, left: Node, right: Node) -> Node:
            return decision(1, key, {"l": left, "r": right})

        after_lar = decision(0, "lar", {"e": end(-1), "f": end(2)})
        after_rcr = decision(0, "rcr", {"g": end(-1), "h": end(-2)})
        left = decision(0, "l", {"a": second("X", end(1), after_lar), "b": second("Y", end(1), end(2))})
        c = "a" if self.relabelled else "c"
        right = decision(0, "r", {c: second("X", end(-1), after_rcr), "d": second("Y", end(1), end(-2))})
        return chance({"l": (0.5, left), "r": (0.5, right)})


@register("toy_mismatching_pennies")
@dataclasses.dataclass(frozen=True)
class MismatchingPennies(Toy):
    """Three players choose h or t unseen; the odd one out gets 2, the others lose 1 (Gibson 2014, figure 4.1)."""

    players = 3
    zero_sum = True

    def tree(self) -> Node:
        """Before player 1 chooses."""

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


@register("toy_dominated_plans")
@dataclasses.dataclass(frozen=True)
class DominatedPlans(Toy):
    """Two private choices each: a strategy is dominated and no action of it is (Gibson 2014, figure 4.2)."""

    zero_sum = True

    def tree(self) -> Node:
        """Player 1's first choice."""
        payoffs = {"ae": (3, -1, 2, 0), "af": (-2, 2, -1, 1), "be": (2, -2, 1, -1), "bf": (-1, 3, 0, 2)}

        def answer(plan: str) -> Node:
            cg, ch, dg, dh = payoffs[plan]
            after_c = decision(1, "c", {"g": end(cg), "h": end(ch)})
            after_d = decision(1, "d", {"g": end(dg), "h": end(dh)})
            return decision(1, "first", {"c": after_c, "d": after_d})

        return decision(
            0,
            "first",
            {
                "a": decision(0, "a", {"e": answer("ae"), "f": answer("af")}),
                "b": decision(0, "b", {"e": answer("be"), "f": answer("bf")}),
            },
        )


@register("toy_queen")
@dataclasses.dataclass(frozen=True)
class Queen(Toy):
    """Kuhn poker in which player 1 always has Q and player 2 knows that (Gibson 2014, figure A.1)."""

    zero_sum = True

    def tree(self) -> Node:
        """Before player 2's card."""

        def dealt(card: str, sign: int) -> Node:
            facing_bet = decision(0, "I'", {"f": end(-1), "c": end(2 * sign)})
            after_check = decision(1, card + "k", {"k": end(sign), "b": facing_bet})
            after_bet = decision(1, card + "b", {"f": end(1), "c": end(2 * sign)})
            return decision(0, "I", {"k": after_check, "b": after_bet})

        return chance({"J": (0.5, dealt("J", 1)), "K": (0.5, dealt("K", -1))})


@register("toy_deadlock")
@dataclasses.dataclass(frozen=True)
class Deadlock(Toy):
    """CFR passes forever although continuing pays: player 1 forgets the deal (Lanctot et al. 2012, figure 2)."""

    xi: float = parameter(0.5, "what is paid when player 2 passes, above 0 and below 1")
    zero_sum = True

    def __post_init__(self) -> None:
        if not 0 < self.xi < 1:
            raise GameError(f"toy_deadlock: xi must be between 0 and 1; got {self.xi}")

    def tree(self) -> Node:
        """Before the deal; only condition (iii) of well-formed games fails."""

        def dealt(deal: str, first_set: str, passed: float, left: float) -> tuple[float, Node]:
            last = decision(0, "I3", {"l": end(left), "r": end(-left)})
            second = decision(1, deal + "c", {"p": end(passed), "c": last})
            return 0.25, decision(0, first_set, {"p": end(0), "c": second})

        return chance(
            {
                "a": dealt("a", "I1", -self.xi, -1),
                "b": dealt("b", "I1", self.xi, 1),
                "d": dealt("d", "I2", self.xi, -1),
                "e": dealt("e", "I2", -self.xi, 1),
            }
        )


@register("toy_forgotten_lever")
@dataclasses.dataclass(frozen=True)
class ForgottenLever(Toy):
    """A player forgets a choice on which chance depends; CFR stays uniform (Gibson 2014, figure 6.2b)."""

    p: float = parameter(0.75, "probability of alpha after l and of beta after r, above 0.5 and below 1")
    players = 1

    def __post_init__(self) -> None:
        if not 0.5 < self.p < 1:
            raise GameError(f"toy_forgotten_lever: p must be between 0.5 and 1; got {self.p}")

    def tree(self) -> Node:
        """Before the choice; only condition (ii) of well-formed games fails."""

        def guess(left: float) -> Node:
            return decision(0, "I2", {"l": terminal(left), "r": terminal(-left)})

        def after(alpha: float) -> Node:
            return chance({"alpha": (alpha, guess(1)), "beta": (1 - alpha, guess(-1))})

        return decision(0, "I1", {"l": after(self.p), "r": after(1 - self.p)})


@register("toy_self_match")
@dataclasses.dataclass(frozen=True)
class SelfMatch(Toy):
    """One player must choose the same twice and forgets the first; CFR stays uniform (condition (i) fails)."""

    players = 1

    def tree(self) -> Node:
        """Before the first choice; utilities match with the factor -1 only, which well-formed games do not allow."""

        def again(first: str) -> Node:
            return decision(0, "J2", {second: terminal(1 if second == first else -1) for second in "lr"})

        return decision(0, "J1", {first: again(first) for first in "lr"})
