"""Games that are as hard as satisfiability: the reductions of Čermák 2018 (theorems 3.1.1, 3.1.2, 4.2.2 and 4.2.3).

A formula in conjunctive normal form becomes a game in which one player sets truth values without knowing the clause
they are for: all the moves that set a variable are one information set.  A formula is written with ``|`` in clauses,
``&`` between them and ``-`` for negation, like ``x1|-x3|x4 & -x2|x3|-x4``; ``example`` is that formula, the one of the
thesis' figures, and ``F8`` has all eight clauses over x1, x2, x3 and cannot be satisfied.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Hashable
from itertools import product
from typing import TypeAlias

from counterplay.errors import GameError
from counterplay.game.builder import Node, decision
from counterplay.game.registry import parameter, register
from counterplay.games.toy import Toy, end

__all__ = ["Clause", "read_formula"]

Clause: TypeAlias = dict[str, bool]
"""The literals of a clause: variable -> the truth value that satisfies it, in the order of the variables."""

FORMULAS = {
    "example": "x1|-x3|x4 & -x2|x3|-x4",
    "F8": " & ".join("|".join(sign + x for sign, x in zip(signs, ("x1", "x2", "x3"), strict=True))
                     for signs in product(("", "-"), repeat=3)),
}  # fmt: skip
"""Formulas with a name."""

FORMULA = "the formula, like x1|-x3|x4 & -x2|x3|-x4, or example, or F8"
REWARD = "what player 2 can secure if the formula can be satisfied"


def read_formula(text: str) -> list[Clause]:
    """The clauses of a formula, variables sorted by their letters and then by their numbers."""
    clauses = []
    for part in FORMULAS.get(text.strip(), text).split("&"):
        clause: Clause = {}
        for literal in part.split("|"):
            match = re.fullmatch(r"\s*(-?)\s*([A-Za-z_]\w*)\s*", literal)
            if match is None:
                raise GameError(
                    f"cannot read {literal.strip()!r} in the formula {text!r}; write it like x1|-x3 & x2|x3"
                )
            if match.group(2) in clause:
                raise GameError(f"{match.group(2)} is twice in one clause of the formula {text!r}; take one out")
            clause[match.group(2)] = not match.group(1)
        clauses.append({name: clause[name] for name in sorted(clause, key=_order)})
    return clauses


def _order(name: str) -> tuple[str, int]:
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or -1)


def _assign(clause: Clause, leaf: Callable[[bool], Node]) -> Node:
    """Player 2 sets the variables of a clause in turn; ``leaf`` makes the terminal from whether it is satisfied."""

    def node(variables: tuple[str, ...], satisfied: bool) -> Node:
        if not variables:
            return leaf(satisfied)
        variable, *rest = variables
        return decision(
            1,
            variable,
            {
                "true": node(tuple(rest), satisfied or clause[variable]),
                "false": node(tuple(rest), satisfied or not clause[variable]),
            },
        )

    return node(tuple(clause), False)


@dataclasses.dataclass(frozen=True)
class _Sat(Toy):
    """What the four games share."""

    formula: str = parameter("example", FORMULA)
    zero_sum = True

    def __post_init__(self) -> None:
        read_formula(self.formula)

    @functools.cached_property
    def clauses(self) -> dict[str, Clause]:
        """The clauses by their numbers, from 1."""
        return {str(number): clause for number, clause in enumerate(read_formula(self.formula), 1)}

    def _pairs(
        self, mover: int, infosets: tuple[str, str], other: int, mismatch: float, leaf: Callable[[bool], Node]
    ) -> Node:
        """Two choices of a clause, the second unaware of the first; equal ones lead to the assignment."""
        clauses = self.clauses

        def second(first: str) -> Node:
            branches: dict[Hashable, Node] = {
                number: _assign(clause, leaf) if number == first else end(mismatch)
                for number, clause in clauses.items()
            }
            return decision(other, infosets[1], branches)

        return decision(mover, infosets[0], {number: second(number) for number in clauses})


def _check_reward(name: str, reward: float) -> None:
    if not (math.isfinite(reward) and reward > 0):
        raise GameError(f"{name}: reward must be a positive number; got {reward}")


@register("toy_sat_ir")
@dataclasses.dataclass(frozen=True)
class SatImperfectRecall(_Sat):
    """Player 2 secures the reward if and only if the formula can be satisfied (Čermák 2018, theorem 3.1.1)."""

    reward: float = parameter(1.0, REWARD)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_reward("toy_sat_ir", self.reward)

    def tree(self) -> Node:
        """Player 1 picks a clause."""

        def leaf(satisfied: bool) -> Node:
            return end(-self.reward if satisfied else 0)

        return decision(0, "clause", {number: _assign(clause, leaf) for number, clause in self.clauses.items()})


@register("toy_sat_absent")
@dataclasses.dataclass(frozen=True)
class SatAbsentMinded(_Sat):
    """Absent-minded player 1 names a clause twice; equilibria decide the formula (Čermák 2018, theorem 3.1.2)."""

    def tree(self) -> Node:
        """Player 1 names a clause, and names one again at the same information set."""

        def leaf(satisfied: bool) -> Node:
            return end(0 if satisfied else 1)

        return self._pairs(0, ("clause", "clause"), 0, -(len(self.clauses) ** 3), leaf)


@register("toy_sat_aloss")
@dataclasses.dataclass(frozen=True)
class SatALoss(_Sat):
    """As toy_sat_ir, but player 2 has A-loss recall (Čermák 2018, theorem 4.2.2)."""

    reward: float = parameter(1.0, REWARD)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_reward("toy_sat_aloss", self.reward)

    def tree(self) -> Node:
        """Player 2 picks a clause, player 1 one unseen; if they agree, player 2 sets the variables."""

        def leaf(satisfied: bool) -> Node:
            return end(-len(self.clauses) * self.reward if satisfied else 0)

        return self._pairs(1, ("clause", "clause"), 0, 0, leaf)


@register("toy_sat_aloss_ne")
@dataclasses.dataclass(frozen=True)
class SatALossEquilibrium(_Sat):
    """A behavioural equilibrium exists if and only if the formula can be satisfied (Čermák 2018, theorem 4.2.3)."""

    def tree(self) -> Node:
        """Player 2 picks a clause, player 1 one unseen; if they agree, player 2 sets the variables."""

        def leaf(satisfied: bool) -> Node:
            return end(-0.5 if satisfied else 0)

        return self._pairs(1, ("clause", "clause"), 0, -1, leaf)
