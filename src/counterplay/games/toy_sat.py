"""Games that are as hard as satisfiability: the reductions of Čermák 2018 (theorems 3.1.1, 3.1.2, 4.2.2 and 4.2.3).

A formula in conjunctive normal form becomes a game in which one player sets truth values without knowing the clause
they are for: all the moves that set a variable are one information set.  A formula is written with ``|`` in clauses,
``&`` between them and ``-`` for negation, like ``x1|-x3|x4 & -x2|x3|-x4``; ``example`` is that formula, the one of the
thesis' figures, and ``F8`` has all eight clauses over x1, x2, x3 and cannot be satisfied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from itertools import product
from typing import TypeAlias

from counterplay.errors import GameError
from counterplay.game.builder import Node, decision
from counterplay.game.registry import parameter
from counterplay.games.toy import POSITIVE, end, register_toy

Clause: TypeAlias = dict[str, bool]
"""The literals of a clause: variable -> the truth value that satisfies it, in the order of the variables."""

FORMULAS = {
    "example": "x1|-x3|x4 & -x2|x3|-x4",
    "F8": " & ".join("|".join(sign + x for sign, x in zip(signs, ("x1", "x2", "x3"), strict=True))
                     for signs in product(("", "-"), repeat=3)),
}  # fmt: skip
"""Formulas with a name."""


MOST_VARIABLES, MOST_CLAUSES = 10, 200
"""The trees of the games have a branch for each assignment of a clause and each pair of clauses."""


def read_formula(text: str) -> list[Clause]:
    """The clauses of a formula, variables sorted by their letters and then by their numbers."""
    clauses = []
    for part in FORMULAS.get(text.strip(), text).split("&"):
        clause: Clause = {}
        for literal in part.split("|"):
            match = re.fullmatch(r"\s*(-?)\s*([A-Za-z_]\w{0,30})\s*", literal)
            if match is None:
                raise GameError(
                    f"cannot read {literal.strip()!r} in the formula {text!r}; write it like x1|-x3 & x2|x3"
                )
            if match.group(2) in clause:
                raise GameError(f"{match.group(2)} is twice in one clause of the formula {text!r}; take one out")
            clause[match.group(2)] = not match.group(1)
            if len(clause) > MOST_VARIABLES:
                raise GameError(f"a clause of the formula has at most {MOST_VARIABLES} variables; got {part.strip()!r}")
        clauses.append({name: clause[name] for name in sorted(clause, key=_order)})
        if len(clauses) > MOST_CLAUSES:
            raise GameError(f"the formula has at most {MOST_CLAUSES} clauses")
    return clauses


def numbered(text: str) -> dict[str, Clause]:
    """The clauses of a formula by their numbers, from 1."""
    return {str(number): clause for number, clause in enumerate(read_formula(text), 1)}


def _order(name: str) -> tuple[str, int]:
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or -1)


def _assign(clause: Clause, leaf: Callable[[bool], Node]) -> Node:
    """Player 2 sets the variables of a clause in turn; ``leaf`` makes the terminal from whether it is satisfied."""

    def node(variables: tuple[str, ...], satisfied: bool) -> Node:
        if not variables:
            return leaf(satisfied)
        variable, *rest = variables
        true = node(tuple(rest), satisfied or clause[variable])
        return decision(1, variable, {"true": true, "false": node(tuple(rest), satisfied or not clause[variable])})

    return node(tuple(clause), False)


FORMULA = parameter(
    "example",
    "the formula, like x1|-x3|x4 & -x2|x3|-x4, or example, or F8",
    check=(lambda text: bool(read_formula(text)), "a formula"),
)
REWARD = parameter(1.0, "what player 2 can secure if the formula can be satisfied", check=POSITIVE)


def _pairs(clauses: dict[str, Clause], mover: int, mismatch: float, leaf: Callable[[bool], Node]) -> Node:
    """Two choices of a clause, player 1's unaware of the first; equal ones lead to the assignment."""

    def second(first: str) -> Node:
        branches: dict[Hashable, Node] = {
            number: _assign(clause, leaf) if number == first else end(mismatch) for number, clause in clauses.items()
        }
        return decision(0, "clause", branches)

    return decision(mover, "clause", {number: second(number) for number in clauses})


@register_toy("toy_sat_ir", formula=FORMULA, reward=REWARD)
def sat_imperfect_recall(formula: str, reward: float) -> Node:
    """Player 2 secures the reward if and only if the formula can be satisfied (Čermák 2018, theorem 3.1.1)."""

    def leaf(satisfied: bool) -> Node:
        return end(-reward if satisfied else 0)

    return decision(0, "clause", {number: _assign(clause, leaf) for number, clause in numbered(formula).items()})


@register_toy("toy_sat_absent", formula=FORMULA)
def sat_absent_minded(formula: str) -> Node:
    """Absent-minded player 1 names a clause twice; equilibria decide the formula (Čermák 2018, theorem 3.1.2)."""
    clauses = numbered(formula)
    return _pairs(clauses, 0, -(len(clauses) ** 3), lambda satisfied: end(0 if satisfied else 1))


@register_toy("toy_sat_aloss", formula=FORMULA, reward=REWARD)
def sat_a_loss(formula: str, reward: float) -> Node:
    """As toy_sat_ir, but player 2 has A-loss recall (Čermák 2018, theorem 4.2.2)."""
    clauses = numbered(formula)  # player 2 picks one, player 1 one unseen; if they agree, player 2 sets the variables
    return _pairs(clauses, 1, 0, lambda satisfied: end(-len(clauses) * reward if satisfied else 0))


@register_toy("toy_sat_aloss_ne", formula=FORMULA)
def sat_a_loss_equilibrium(formula: str) -> Node:
    """A behavioural equilibrium exists if and only if the formula can be satisfied (Čermák 2018, theorem 4.2.3)."""
    return _pairs(numbered(formula), 1, -1, lambda satisfied: end(-0.5 if satisfied else 0))
