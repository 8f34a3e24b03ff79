"""The estimators of what a strategy wins, by name: what is imagined, and what stands for the winnings of a hand.

Johanson 2016, section 7.3.  An estimator is a sum of parts: ``ac`` imagines all own private hands (all cards), ``ef``
all own actions that would have ended the hand (early folds), and ``divat`` or ``bc-divat`` take the luck of chance out
of the winnings.  Without a part it is basic importance sampling, which is money where the strategy in question is the
one that was played.  ``aivat`` (Burch and others 2018) corrects the luck of the players' own choices as well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from counterplay.errors import GameError
from counterplay.runtime.suggestions import did_you_mean

VALUES = ("money", "divat", "bc-divat")
"""What stands for the winnings of a hand: themselves, or without the luck of chance by one of two value functions."""


@dataclasses.dataclass(frozen=True, order=True)
class Estimator:
    """An estimator; all parts off is basic importance sampling.

    Attributes
    ----------
    all_cards, early_folds : bool
        Whether all own hands, and all own game-ending actions, are imagined.
    values : {"money", "divat", "bc-divat"}
        What stands for the winnings of a hand.
    aivat : bool
        Whether it is AIVAT, which has no other parts.
    """

    all_cards: bool = False
    early_folds: bool = False
    values: str = "money"
    aivat: bool = False

    def __post_init__(self) -> None:
        if self.values not in VALUES:
            raise GameError(f"values are {', '.join(VALUES)}; got {self.values!r}")
        if self.aivat and (self.all_cards or self.early_folds or self.values != "money"):
            raise GameError("aivat has no other parts: it imagines all cards and has its own value function")

    @property
    def name(self) -> str:
        """As ``ac+ef+bc-divat``; ``basic`` without parts."""
        if self.aivat:
            return "aivat"
        parts = [*(["ac"] if self.all_cards else []), *(["ef"] if self.early_folds else [])]
        return "+".join([*parts, *([self.values] if self.values != "money" else [])]) or "basic"

    @property
    def partial(self) -> bool:
        """Whether it can be computed, with a bias, where opponents' cards are seen at showdowns only."""
        return not self.aivat


FULL = tuple(
    Estimator(*parts)
    for parts in (
        (False, False, "money"), (False, False, "divat"), (False, False, "bc-divat"), (False, True, "money"),
        (True, False, "money"), (True, True, "money"), (True, False, "bc-divat"), (True, True, "divat"),
        (True, True, "bc-divat"), (False, False, "money", True),
    )
)  # fmt: skip
"""The rows of table 7.1, all cards with early folds alone and with DIVAT, and AIVAT."""

PARTIAL = tuple(one for one in FULL if one.partial and not (one.all_cards and one.early_folds))
"""Those of table 7.3, which has no all cards with early folds; these can be asked for."""

ALL = "all"


def read_estimator(text: str) -> Estimator:
    """An estimator by its name; parts in any order.

    >>> read_estimator("ef+ac+bc-divat").name
    'ac+ef+bc-divat'
    """
    parts = text.lower().split("+")
    known = ("basic", "money", "ac", "ef", "divat", "bc-divat", "aivat")
    for part in parts:
        if part not in known:
            raise GameError(f"there is no estimator {text!r}; {did_you_mean(part, known)}; parts are joined by +")
    values = [part for part in parts if part in VALUES[1:]]
    if len(set(parts)) < len(parts) or len(values) > 1 or (len(parts) > 1 and {"basic", "money"} & set(parts)):
        raise GameError(f"{text!r} is no estimator: each part once, divat or bc-divat, and basic alone")
    return Estimator("ac" in parts, "ef" in parts, values[0] if values else "money", "aivat" in parts)


def read_estimators(words: str | Sequence[str | Estimator], usual: Iterable[Estimator]) -> tuple[Estimator, ...]:
    """Estimators by their names, separated by commas; ``all`` are the usual ones.

    Basic importance sampling comes first in any case: the others are compared with it.
    """
    given = words.split(",") if isinstance(words, str) else list(words)
    found: list[Estimator] = [Estimator()]
    for word in given:
        if isinstance(word, Estimator):
            found.append(word)
        else:
            text = word.strip().lower()
            found.extend(usual if text == ALL else [read_estimator(text)])
    return tuple(dict.fromkeys(found))
