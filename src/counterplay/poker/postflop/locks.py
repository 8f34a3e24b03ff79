"""Node locking: a strategy that is fixed at some decisions of a hold'em subgame, while the rest is solved.

A lock names a decision and a strategy for it, ``check bet25=fold rest; call 66+,AQ; raise85 AA:0.5,KK``: clauses of an
action and a probability for all hands (``0.3``), a range whose weights are probabilities, or ``rest``, which takes the
remaining probability.  Lines of a file can be clauses too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.poker.action_words import match_action
from counterplay.poker.cards import cards_text
from counterplay.poker.range_files import range_of
from counterplay.poker.ranges import HANDS, hand_number, holdem_hands, parse_range
from counterplay.tree.public.public_tree import PublicTree

TOLERANCE = 1e-9
Matrix = NDArray[np.float64]


def parse_lock(text: str, actions: tuple[str, ...]) -> Matrix:
    """The probabilities of the 1326 hands and the actions.

    Raises GameError if a clause cannot be parsed, or the probabilities of a hand do not sum to 1.
    """
    table = np.zeros((HANDS, len(actions)))
    rest = []
    clauses = [clause.strip() for line in text.splitlines() for clause in line.split(";")]
    for clause in filter(None, clauses):
        found = match_action(clause, 0, actions)
        if found is None or clause[found[1] : found[1] + 1].strip():
            where = f"a lock here has clauses such as '{actions[0]} 0.3; {actions[-1]} rest' for {', '.join(actions)}"
            raise GameError(f"{where}, or is the name of a file with them; got {clause!r}, which is neither")
        number, what = found[0], clause[found[1] :].strip()
        if not what:
            raise GameError(f"a probability, a range or 'rest' is missing after {clause!r} in the lock")
        if what == "rest":
            rest.append(number)
        else:
            table[:, number] = _probabilities(what, actions[number])
    total = table.sum(axis=1)
    if np.any(total > 1 + TOLERANCE):
        worst = int(np.argmax(total))
        raise GameError(f"the probabilities of {_name(worst)} in the lock sum to {total[worst]:g}, more than 1")
    if rest:
        table[:, rest] += ((1 - total) / len(rest))[:, None]
    return table


def _probabilities(what: str, action: str) -> NDArray[np.float64]:
    try:
        number = float(what)
    except ValueError:
        return parse_range(range_of(what, action), f"lock of {action}")
    if not 0 <= number <= 1:
        raise GameError(f"a probability is from 0 to 1; got {what!r} for {action}")
    return np.full(HANDS, number)


def _name(hand: int) -> str:
    return cards_text(holdem_hands()[hand][::-1])


def lock_rows(tree: PublicTree, node: int, deal: int, table: Matrix) -> Matrix:
    """The rows of a lock for the classes of hands at a public state: classes x actions.

    Raises GameError if the probabilities of a hand do not sum to 1, or hands of one class have different ones.
    """
    hands = tree.hands[tree.kind[node]]
    real = slice(int(hands.real_start[deal]), int(hands.real_start[deal + 1]))
    numbers = np.array([hand_number(int(a), int(b)) for a, b in hands.real_card[real]], np.int64)
    rows = table[numbers]
    wrong = np.flatnonzero(np.abs(rows.sum(axis=1) - 1) > TOLERANCE)
    if len(wrong):
        hand = numbers[wrong[0]]
        raise GameError(
            f"the lock plays {_name(int(hand))} with probabilities that sum to {table[hand].sum():g}; "
            "let one action take the rest, such as 'fold rest'"
        )
    classes = hands.real_class[real]
    first = np.zeros((hands.count(deal), table.shape[1]))
    first[classes] = rows
    differs = np.flatnonzero(np.any(np.abs(first[classes] - rows) > TOLERANCE, axis=1))
    if len(differs):
        hand = int(numbers[differs[0]])
        raise GameError(f"the lock plays {_name(hand)} differently from an isomorphic hand; use --no-isomorphism")
    return first
