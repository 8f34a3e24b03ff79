"""The notation of card abstractions: which buckets each round has, and what is remembered.

One entry for each round, separated by commas or slashes: ``169,KE570,KE570,KO570``.  An entry is a family and a number:

    PE5      percentiles of E[HS]
    PS5      percentiles of E[HS²]
    PH5      percentiles of HS on the board so far, as if no card came; the same as PE5 and PS5 in the last round
    PHS5x2   nested: 5 by E[HS²], each split into 2 by E[HS]; one split by HS in the last round
    KE570    k-means by earth mover's distance between histograms of hand strength
    KO570    k-means by strength against clusters of opponents
    PA100    potential-aware: k-means over the probabilities of reaching each bucket of the next round
    R.3:.6   ranges of E[HS] with these cut points
    M.05     hands whose E[HS] differ by less than this are merged
    T:KE50   the same within each texture of the board
    T20:KE50 the same within each of 20 classes of boards, made by clustering
    H3:PS5   the same by the strength against two opponents instead of one
    lossless or the number of all hands up to suits: nothing is lost

A number alone uses the default family, ``5s`` is 5 in every round.  The notation of Gibson (2014, section 3.4.2) is
accepted too: with perfect recall numbers multiply, and ``IR`` before a round means that its bucket is forgotten
afterwards: ``IR169/IR570/IR570/570``, ``IR5/5/5/5``.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from typing import Any, Literal, TypeAlias

from counterplay.abstraction.cards.card_abstraction import Recall
from counterplay.abstraction.cards.strength_ranges import most_merged
from counterplay.abstraction.cards.textures import texture_count
from counterplay.errors import AbstractionError
from counterplay.poker.isomorphism import HandIndexer

Family: TypeAlias = Literal["lossless", "PE", "PS", "PH", "PHS", "KE", "KO", "PA", "R", "M"]

FAMILIES: dict[Family, str] = {
    "lossless": "all hands up to suits",
    "PE": "percentiles of E[HS]",
    "PS": "percentiles of E[HS²]",
    "PH": "percentiles of HS on the board so far",
    "PHS": "nested percentiles, E[HS²] then E[HS]",
    "KE": "k-means, earth mover's distance of histograms",
    "KO": "k-means, strength against opponent clusters",
    "PA": "k-means, probabilities of the next round's buckets",
    "R": "chosen ranges of E[HS]",
    "M": "merged by similar E[HS]",
}

PERCENTILES: dict[Family, str] = {"PE": "ehs", "PS": "ehs2", "PH": "hs", "PHS": "ehs2"}
"""What orders the hands in families of percentiles: a metric of ``CardFeatures.values``; PHS splits again by E[HS]."""

MOST_DIGITS = 18
"""Of the number of buckets."""

LEAST = 0.0001
"""The smallest threshold of merging: it leaves up to 10,001 buckets."""

MOST_BOARD_CLASSES = 65535

_BEFORE = r"(?P<ir>IR)?(?P<textures>T(?P<boards>\d*):)?(?P<three>H3:)?"

_ENTRY = re.compile(rf"{_BEFORE}(?P<family>PHS|PH|PE|PS|KE|KO|PA)?(?P<count>\d+)(x(?P<split>\d+))?", re.IGNORECASE)

_RANGES = re.compile(rf"{_BEFORE}(?P<family>R|M)(?P<points>[\d.]+(:[\d.]+)*)", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class RoundRecipe:
    """The buckets of one round."""

    family: Family  # one of ``FAMILIES``
    count: int  # buckets, in each group of hands that is split separately; the first factor of a nested split
    split: int = 1  # the second factor
    textures: bool = False  # whether each texture of the board is split separately
    boards: int = 0  # with textures: the classes that boards are clustered into; 0 for those of ``texture_of``
    rivals: int = 1  # opponents that hand strength is against, one or two
    forgets: bool = False  # whether the bucket is forgotten in the next round
    points: tuple[float, ...] = ()  # the cut points of ranges, or the threshold of merging

    @property
    def buckets(self) -> int:
        """Buckets in each group."""
        return self.count * self.split

    def __str__(self) -> str:
        if self.family == "lossless":
            return "lossless"
        before = (f"T{self.boards or ''}:" if self.textures else "") + ("H3:" if self.rivals == 2 else "")
        if self.points:
            return f"{before}{self.family}{':'.join(f'{point:g}' for point in self.points)}"
        split = f"x{self.split}" if self.split > 1 else ""
        return f"{before}{self.family}{self.count}{split}"


def by_strength(entry: RoundRecipe, last: bool) -> bool:
    """Whether the buckets of a round depend only on HS on the board so far."""
    return not entry.textures and entry.family in PERCENTILES and (last or entry.family == "PH")


@dataclasses.dataclass(frozen=True)
class CardRecipe:
    """The buckets of every round."""

    rounds: tuple[RoundRecipe, ...]

    @property
    def recall(self) -> Recall:
        """Imperfect if something is forgotten."""
        return "imperfect" if any(entry.forgets for entry in self.rounds) else "perfect"

    def counts(self, deck: tuple[int, int], shape: tuple[int, ...]) -> tuple[int, ...]:
        """Number of buckets of each round; with remembered buckets, of sequences of buckets."""
        sizes = HandIndexer(shape, *deck).sizes
        counts: list[int] = []
        for turn, entry in enumerate(self.rounds):
            if entry.family == "lossless":
                counts.append(sizes[turn])
                continue
            before = counts[-1] if turn and not self.rounds[turn - 1].forgets else 1
            groups = entry.boards or (texture_count(deck, sum(shape[1 : turn + 1])) if entry.textures else 1)
            counts.append(before * groups * entry.buckets)
        return tuple(counts)

    def __str__(self) -> str:
        return "/".join(("IR" if entry.forgets else "") + str(entry) for entry in self.rounds)


def parse_recipe(
    text: str, deck: tuple[int, int], shape: tuple[int, ...], recall: Recall | None = None, families: str = "PS"
) -> CardRecipe:
    """Parse a recipe.

    Parameters
    ----------
    text : str
        One entry for each round, see above.
    deck, shape
        For which cards.
    recall : "perfect" or "imperfect", optional
        Whether buckets are remembered; by default the ``IR`` of the entries decides.
    families : str
        The family of a number alone, or two such as ``KE-KO``, the second for the last round.

    Raises
    ------
    AbstractionError
        If it cannot be parsed, or has more buckets than there are hands.
    """
    if recall not in (None, "perfect", "imperfect"):
        raise AbstractionError(f"recall is perfect or imperfect; got {recall!r}")
    every = re.fullmatch(r"\s*([^,/]*\d)s\s*", text, re.IGNORECASE)
    parts = re.split(r"[,/]", text) if every is None else [every[1]] * len(shape)
    if len(parts) != len(shape):
        raise AbstractionError(f"the cards {shape} have {len(shape)} rounds; {text!r} has {len(parts)} entries")
    early, _, late = families.partition("-")
    sizes = HandIndexer(shape, *deck).sizes
    rounds = []
    for turn, part in enumerate(parts):
        family = (late or early) if turn == len(shape) - 1 else early
        rounds.append(_parse_round(part.strip(), family, turn, len(shape), sizes[turn], recall))
    return CardRecipe(tuple(rounds))


def _parse_round(text: str, family: str, turn: int, rounds: int, size: int, recall: Recall | None) -> RoundRecipe:
    last = turn == rounds - 1  # no later round could forget it
    forgets = recall == "imperfect" and not last
    if text.lower().removeprefix("ir") in ("lossless", "c"):
        return RoundRecipe("lossless", size, forgets=forgets or (text.lower().startswith("ir") and not last))
    ranges = _RANGES.fullmatch(text)
    match = ranges or _ENTRY.fullmatch(text)
    if match is None:
        raise AbstractionError(
            f"buckets of a round are written like 169, PE5, PS5, PH5, PHS5x2, KE570, KO570, PA100, "
            f"R.3:.6, M.05, T:KE50, T20:KE50, H3:PS5; got {text!r}"
        )
    if match["ir"] and recall == "perfect":
        raise AbstractionError(f"{text!r} forgets, which is not perfect recall; leave out one of them")
    forgets = forgets or (bool(match["ir"]) and not last)
    if ranges is not None:
        entry = _parse_points(text, match["family"].upper(), match["points"])
        entry = dataclasses.replace(entry, forgets=forgets, **_prefixes(match))
        _check_round(entry, text, turn, rounds, size)
        return entry
    if max(len(match["count"]), len(match["split"] or "")) > MOST_DIGITS:
        raise AbstractionError(f"no round has that many buckets: {match['count'][:MOST_DIGITS]}...")
    count, split = int(match["count"]), int(match["split"] or 1)
    named = (match["family"] or ("PHS" if match["split"] else family)).upper()
    if named not in FAMILIES or named == "lossless":
        raise AbstractionError(f"families of buckets are {', '.join(FAMILIES)}; got {named!r}")
    if count == size and match["split"] is None and not match["textures"] and not match["three"]:
        return RoundRecipe("lossless", size, forgets=forgets)
    entry = RoundRecipe(named, count, split, forgets=forgets, **_prefixes(match))
    _check_round(entry, text, turn, rounds, size)
    return entry


def _prefixes(match: re.Match[str]) -> dict[str, Any]:
    """What stands before the family: classes of boards, and opponents."""
    boards = match["boards"]
    if boards and not 1 <= int(boards[: MOST_DIGITS + 1]) <= MOST_BOARD_CLASSES:
        raise AbstractionError(
            f"boards are clustered into 1 to {MOST_BOARD_CLASSES:,} classes, as in T20:KE50; got {match[0]!r}"
        )
    return {"textures": bool(match["textures"]), "boards": int(boards or 0), "rivals": 2 if match["three"] else 1}


def _parse_points(text: str, family: str, points: str) -> RoundRecipe:
    """An entry of ranges or of a threshold."""
    try:
        numbers = tuple(float(point) for point in points.split(":"))
    except ValueError:
        raise AbstractionError(
            f"ranges of E[HS] are written like R.3:.6, a threshold like M.05; got {text!r}"
        ) from None
    rising = all(low < high for low, high in itertools.pairwise((0.0, *numbers, 1.0)))
    if family == "R":
        if not rising:
            raise AbstractionError(f"cut points of E[HS] must increase between 0 and 1, as in R.3:.6; got {text!r}")
        return RoundRecipe("R", len(numbers) + 1, points=numbers)
    if len(numbers) != 1 or not rising or numbers[0] < LEAST:
        raise AbstractionError(f"a threshold must be one number from {LEAST} to below 1, as in M.05; got {text!r}")
    return RoundRecipe("M", most_merged(numbers[0]), points=numbers)


def _check_round(entry: RoundRecipe, text: str, turn: int, rounds: int, size: int) -> None:
    last = turn == rounds - 1
    if entry.count < 1 or entry.split < 1:
        raise AbstractionError(f"a round must have at least one bucket; got {text!r}")
    if entry.split > 1 and entry.family != "PHS":
        raise AbstractionError(f"only percentiles can be nested, as in PHS5x2; got {text!r}")
    if entry.family == "PHS" and entry.split == 1 and not last:
        raise AbstractionError(f"nested percentiles need two numbers, such as PHS5x2; got {text!r}")
    if entry.family == "PA" and last:
        raise AbstractionError(f"after the last round there are no buckets to look ahead to; got {text!r}")
    if entry.family == "PA" and not entry.forgets:
        raise AbstractionError(f"potential-aware buckets look ahead, so they must be forgotten (IR); got {text!r}")
    if entry.rivals > 1 and entry.family in ("KO", "PA"):
        raise AbstractionError(f"{FAMILIES[entry.family]}, do not use the strength against two; got {text!r}")
    if entry.textures and turn == 0:
        raise AbstractionError(f"there is no board in the first round; got {text!r}")
    if entry.buckets > size and entry.family not in ("R", "M"):  # those may stay empty
        raise AbstractionError(
            f"the round of {text!r} has {size:,} different hands, which cannot make {entry.buckets:,} buckets; ask for "
            "fewer"
        )
