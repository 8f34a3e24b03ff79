"""Betting abstractions: the raise sizes that players of no-limit games may choose from.

A raise size is a multiple of the pot, ``allin``, ``min``, or a number of chips (``250c``).  A raise of x pots first
calls and then adds x times the pot after the call, rounded down to whole chips, as in Open Pure CFR (Gibson 2014) and
in the protocol of OpenSpiel's ``universal_poker``.  An illegal size becomes the nearest legal one: the smallest raise,
or all-in.  Equal sizes count once.

Sizes are given by round and by the number of raises made in the round.  A size marked ``once`` may be used once by
each player in a round (the agents of the University of Alberta in 2011; Gibson 2014, section 5.6).

In text form, rounds are separated by ``|``, raise numbers by ``;``, sizes by ``,``, with an ``!`` after those that may
be used once.  The last round and the last raise number hold for all later ones: ``0.5,1,allin;1,allin|1``.
"""

from __future__ import annotations

import dataclasses
import math
import re

from counterplay.errors import GameError

_SIZE = re.compile(r"(?:(allin)|(min)|(\d+(?:\.\d+)?)(c?)|pot)(!?)")


@dataclasses.dataclass(frozen=True, order=True)
class RaiseSize:
    """One size: ``kind`` is ``pot`` (``amount`` pots), ``chips`` (to ``amount`` chips), ``min`` or ``allin``."""

    kind: str
    amount: float = 1.0
    once: bool = False

    def __post_init__(self) -> None:
        if self.kind not in ("pot", "chips", "min", "allin"):
            raise GameError(f"a raise size is of the kind pot, chips, min or allin; got {self.kind!r}")
        if not (0 < self.amount < math.inf):
            raise GameError(f"the amount of a raise size must be positive; got {self.amount}")

    def text(self) -> str:
        """The size in the text of an abstraction."""
        number = f"{self.amount:.12g}"
        plain = {"pot": number, "chips": f"{number}c"}.get(self.kind, self.kind)
        return plain + "!" * self.once


@dataclasses.dataclass(frozen=True)
class BetAbstraction:
    """The allowed raises, ``sizes[round][raises made]``; the last entry of each holds for all later ones."""

    sizes: tuple[tuple[tuple[RaiseSize, ...], ...], ...]

    def __post_init__(self) -> None:
        if not self.sizes or not all(self.sizes):
            raise GameError(f"a betting abstraction needs sizes for a round and a raise number; got {self.sizes}")
        if len(self.once) > 31:
            raise GameError(f"at most 31 sizes may be marked as usable once; got {len(self.once)}")

    @property
    def once(self) -> tuple[RaiseSize, ...]:
        """The sizes that a player may use once in a round."""
        every = {size for turn in self.sizes for sizes in turn for size in sizes if size.once}
        return tuple(sorted(every))

    def at(self, number: int, raises: int) -> tuple[RaiseSize, ...]:
        """The sizes in a round after a number of raises."""
        turn = self.sizes[min(number, len(self.sizes) - 1)]
        return turn[min(raises, len(turn) - 1)]

    def text(self) -> str:
        """The abstraction as text for ``bet_abstraction``."""
        return "|".join(";".join(",".join(size.text() for size in sizes) for sizes in turn) for turn in self.sizes)


def bet_abstraction(text: str) -> BetAbstraction:
    """Parse an abstraction: one of ``PRESETS``, or sizes like ``0.5,1,allin;1,allin|1,allin``."""
    if text in PRESETS:
        return PRESETS[text]
    turns = []
    for turn in text.split("|"):
        numbers = []
        for number in turn.split(";"):
            words = [word.strip() for word in number.split(",")]
            numbers.append(tuple(_size(word, text) for word in words if word))
        turns.append(tuple(numbers))
    return BetAbstraction(tuple(turns))


def _size(word: str, text: str) -> RaiseSize:
    found = _SIZE.fullmatch(word)
    if found is None:
        names = ", ".join(PRESETS)
        raise GameError(
            f"cannot read the raise size {word!r} in {text!r}; sizes are pots (0.5, 1, pot), chips (250c), min and "
            f"allin, or the name of an abstraction ({names})"
        )
    all_in, least, number, chips, once = found.groups()
    kind = "allin" if all_in else "min" if least else "chips" if chips else "pot"
    return RaiseSize(kind, float(number) if number else 1.0, bool(once))


_POT, _ALL_IN = RaiseSize("pot", 1.0), RaiseSize("allin")

FCPA = BetAbstraction((((_POT, _ALL_IN),),))
"""Fold, call, pot raise, all-in."""

_ALWAYS = (_POT, RaiseSize("pot", 3.0), RaiseSize("pot", 11.0), _ALL_IN)
CPRG_2011 = BetAbstraction((
    (_ALWAYS,),
    ((RaiseSize("pot", 0.5, once=True), RaiseSize("pot", 0.75, once=True), *_ALWAYS),),
))  # fmt: skip
"""No-limit agents of the University of Alberta in 2011 (Gibson 2014, section 5.6): 1, 3 and 11 pots and all-in always;
after the flop each player may once in a round raise half a pot, and once three quarters of a pot."""

PRESETS = {
    "fc": BetAbstraction((((),),)),
    "fcpa": FCPA,
    "fchpa": BetAbstraction((((RaiseSize("pot", 0.5), _POT, _ALL_IN),),)),
    "cprg2011": CPRG_2011,
}
"""Abstractions by name."""
