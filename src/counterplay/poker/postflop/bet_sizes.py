"""Bet sizes of a hold'em subgame, as postflop solvers write them.

A size is one of

* ``70%``: of the pot; a raise first calls, then adds that fraction of the pot after the call;
* ``2.5x``: to that multiple of the previous bet; for raises only;
* ``100c``: chips; a raise adds them to the previous bet.  ``20c3r``: at most three raises a street (limit games);
* ``e``, ``2e``, ``3e200%``: the same fraction of the pot on every remaining street, or on a number of them, so that the
  last bet is all in; at most a given fraction;
* ``a`` or ``allin``.

A text gives sizes separated by commas for all streets and players, or clauses separated by ``;`` for some:
``flop=50%;turn=75%,a;oop.river=e;ip.river=33%``.  A later clause replaces an earlier one; a street that no clause names
has no bets.  ``none`` means no size.
"""

from __future__ import annotations

import dataclasses
import math
import re

from counterplay.errors import GameError

STREETS = ("flop", "turn", "river")
PLAYERS = ("oop", "ip")

_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_FORMS = {
    "allin": re.compile(r"a|allin|all-in"),
    "pot": re.compile(rf"{_NUMBER}%"),
    "previous": re.compile(rf"{_NUMBER}x"),
    "chips": re.compile(rf"{_NUMBER}c(?:(\d+)r)?"),
    "geometric": re.compile(rf"(\d*)e(?:{_NUMBER}%)?"),
}


@dataclasses.dataclass(frozen=True)
class BetSize:
    """One size."""

    kind: str  # {"pot", "previous", "chips", "geometric", "allin"}: the unit of the amount
    # fractions of the pot, multiples of the previous bet, chips, or the largest fraction of the pot
    amount: float = math.inf
    # of ``chips``: most raises on a street, 0 for any number.  Of ``geometric``: the number of streets, 0 for all that
    # remain.
    count: int = 0


StreetSizes = tuple[tuple[tuple[BetSize, ...], ...], ...]
"""Sizes by player (out of position, in position) and street (flop, turn, river)."""


def parse_sizes(text: str, name: str, raises: bool = False) -> StreetSizes:
    """Parse sizes; ``name`` is their name in errors.

    Raises GameError if a size or a clause cannot be parsed, or is 0.
    """
    sizes: dict[tuple[int, int], tuple[BetSize, ...]] = {}
    for clause in text.split(";"):
        if not clause.strip() and ";" in text:
            continue
        where, equals, words = clause.rpartition("=")
        found = tuple(
            _size(word.strip(), name, raises) for word in words.split(",") if word.strip() not in ("", "none")
        )
        for place in _places(where.strip().lower() if equals else "", clause, name):
            sizes[place] = found
    return tuple(
        tuple(sizes.get((player, street), ()) for street in range(len(STREETS))) for player in range(len(PLAYERS))
    )


def named_streets(text: str, name: str) -> set[int]:
    """The streets that clauses of a text name; none if the sizes are for all streets."""
    found: set[int] = set()
    for clause in text.split(";"):
        where, equals, _ = clause.rpartition("=")
        streets = {street for _, street in _places(where.strip().lower(), clause, name)} if equals else set()
        found |= streets if len(streets) == 1 else set()
    return found


def _places(where: str, clause: str, name: str) -> list[tuple[int, int]]:
    """The players and streets that a clause is for."""
    players, streets = list(range(len(PLAYERS))), list(range(len(STREETS)))
    for word in where.split(".") if where else []:
        if word in PLAYERS:
            players = [PLAYERS.index(word)]
        elif word in STREETS:
            streets = [STREETS.index(word)]
        else:
            raise GameError(
                f"cannot read {clause.strip()!r} in the {name}; a clause starts with a street ({', '.join(STREETS)}), "
                f"a player ({', '.join(PLAYERS)}) or both, such as oop.turn=50%,a"
            )
    return [(player, street) for player in players for street in streets]


def _size(word: str, name: str, raises: bool) -> BetSize:
    size = _read(word.lower())
    if size is None:
        raise GameError(
            f"cannot read the size {word!r} in the {name}; sizes are 70% (of the pot), 2.5x (the previous bet), 100c "
            "(chips), 20c3r (chips, at most 3 raises), e, 2e or 3e200% (geometric) and a (all in)"
        )
    if size.amount <= 0:
        raise GameError(f"a size must be positive; got {word!r} in the {name}")
    if size.kind == "previous" and not raises:
        raise GameError(
            f"{word!r} in the {name} is a multiple of the previous bet, and there is none; use it for raises"
        )
    if size.kind == "previous" and size.amount <= 1:
        raise GameError(f"a raise must be above the previous bet, such as 2.5x; got {word!r} in the {name}")
    return size


def _read(word: str) -> BetSize | None:
    for kind, form in _FORMS.items():
        found = form.fullmatch(word)
        if found is None:
            continue
        if kind == "allin":
            return BetSize(kind)
        if kind == "geometric":
            streets, share = found.groups()
            if streets == "0":
                return BetSize(kind, 0.0)
            return BetSize(kind, float(share) / 100 if share else math.inf, int(streets or 0))
        if kind == "chips":
            return BetSize(kind, float(found.group(1)), int(found.group(2) or 0))
        return BetSize(kind, float(found.group(1)) / (100 if kind == "pot" else 1))
    return None


def bet_amount(size: BetSize, pot: float, before: float, stack: float, streets: int, raises: int) -> float | None:
    """The chips on this street after a bet or raise, before rounding and limits; None if it is not allowed.

    ``pot`` and ``stack`` are what they are after calling the previous bet, which is ``before``; ``streets`` counts the
    remaining ones, including this, ``raises`` bets and raises on this street so far.
    """
    if size.kind == "allin":
        return before + stack
    if size.kind == "pot":
        return before + size.amount * pot
    if size.kind == "previous":
        return before * size.amount
    if size.kind == "chips":
        return None if size.count and raises > size.count else before + size.amount
    left = size.count or max(1, streets - max(0, raises - 1))
    share = (math.pow(1 + 2 * stack / pot, 1 / left) - 1) / 2
    return before + min(share, size.amount) * pot
