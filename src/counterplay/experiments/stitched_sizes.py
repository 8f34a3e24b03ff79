"""Sizes of the abstractions of stitched hold'em strategies, counted (Gibson 2014, table 7.3).

The table prints numbers of buckets, chosen so that no run has more than 24 million information sets with two players,
and 162 million with three.  ``a/b/c/d`` are buckets in each round within those of the round before; ``IRa`` forgets.

* base: the whole game; dynamic: the base buckets outside the parts of all experts, and the expert's inside, together;
* grafted: one player inside the part, the others everywhere, in the base buckets outside it;
* static: the part alone, for all players.

In asymmetric abstractions one player has the expert's buckets inside a part and the others those of the base; sizes are
of the largest run.

Two-player grafts after ck/b in 15/15/14/14 have more information sets than the limit.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from counterplay.abstraction.cards import deck_shape, parse_recipe
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.betting import count_betting

GAMES = {2: "holdem.limit.2p.reverse_blinds", 3: "holdem.limit.3p"}
LIMITS = {2: 24_000_000, 3: 162_000_000}
"""Most information sets of a run."""

BASE = {2: "8/8/8/8", 3: "IR169/IR16/IR16/16"}
DYNAMIC_BASE = {2: "6/6/6/6", 3: "IR169/IR8/IR8/8"}

PUBLISHED: tuple[tuple[int, str, str, str, str], ...] = (
    (2, "Base", "", "8/8/8/8", ""),
    (2, "Dynamic", "r", "10/9/9/9", "11/11/11/10"),
    (2, "Grafted", "r", "9/9/9/9", "10/10/10/9"), (2, "Grafted", "cr", "9/9/9/9", "10/10/10/9"),
    (2, "Grafted", "cc/r", "15/15/14/14", "16/16/16/15"), (2, "Grafted", "cc/cr", "15/15/14/14", "16/16/16/15"),
    (2, "Static", "r", "10/10/10/9", "11/11/11/11"), (2, "Static", "cr", "10/10/10/9", "11/11/11/11"),
    (2, "Static", "cc/r", "16/16/16/15", "19/19/19/18"), (2, "Static", "cc/cr", "16/16/16/15", "19/19/19/18"),
    (3, "Base", "", "IR16/IR16/IR16/16", ""), (3, "Base", "", "IR169/IR16/IR16/16", ""),
    (3, "Dynamic", "f,rf,rrf,rcf", "IR169/90/9/9", "IR169/121/11/11"),
    (3, "Grafted", "f", "IR169/100/10/10", "IR169/144/12/11"),
    (3, "Grafted", "rf", "IR169/156/12/12", "IR169/225/15/14"),
    (3, "Grafted", "rrf", "IR169/196/13/13", "IR169/272/16/16"),
    (3, "Grafted", "rcf", "IR169/276/16/16", "IR169/380/19/19"),
    (3, "Static", "f", "IR169/169/13/12", "IR169/240/15/15"),
    (3, "Static", "rf", "IR169/256/16/16", "IR169/361/19/19"),
    (3, "Static", "rrf", "IR169/324/18/17", "IR169/441/21/21"),
    (3, "Static", "rcf", "IR169/441/21/21", "IR169/625/25/25"),
)  # fmt: skip
"""Players, strategy, betting of the experts, symmetric and asymmetric abstraction; ck is check, written c."""

Decisions = tuple[tuple[int, ...], ...]
"""By player and round."""


@functools.cache
def bucket_counts(players: int, text: str) -> tuple[int, ...]:
    """The buckets of each round of an abstraction, as the table writes it."""
    cards = deck_shape(STANDARD[GAMES[players]])
    return parse_recipe(text, *cards).counts(*cards)


@functools.cache
def decisions_after(players: int, betting: str) -> Decisions:
    """The decisions of each player in each round after one of some bettings, which do not overlap."""
    rules = STANDARD[GAMES[players]]
    each = [count_betting(rules, None, after).player_decisions for after in betting.split(",")]
    return tuple(tuple(map(sum, zip(*rows, strict=True))) for rows in zip(*each, strict=True))


def run_size(players: int, strategy: str, betting: str, inside: str, finer: int | None) -> int:
    """The information sets of the largest run of a strategy; ``finer`` is the only player with the expert's buckets."""
    if strategy == "Base":
        base = bucket_counts(players, inside)
        return sum(_infosets(row, base) for row in decisions_after(players, ""))
    outer = bucket_counts(players, (DYNAMIC_BASE if strategy == "Dynamic" else BASE)[players])
    whole, part = decisions_after(players, ""), decisions_after(players, betting)
    sizes = []
    for owner in range(players) if finer is None else (finer,):
        total = 0
        for player in range(players):
            own = bucket_counts(players, inside) if finer in (None, player) else outer
            total += _infosets(part[player], own)
            if strategy == "Dynamic" or (strategy == "Grafted" and player != owner):
                rest = tuple(all_ - some for all_, some in zip(whole[player], part[player], strict=True))
                total += _infosets(rest, outer)
        sizes.append(total)
    return max(sizes)


def _infosets(decisions: Sequence[int], buckets: Sequence[int]) -> int:
    return sum(points * kinds for points, kinds in zip(decisions, buckets, strict=True))


def sizes(players: int, strategy: str, betting: str, symmetric: str, asymmetric: str) -> tuple[int, int | None]:
    """The largest run of the symmetric abstraction, and that of the asymmetric one if there is one."""
    first = run_size(players, strategy, betting, symmetric, None)
    if not asymmetric:
        return first, None
    return first, max(run_size(players, strategy, betting, asymmetric, finer) for finer in range(players))


def run(quick: bool = False) -> Experiment:
    """Count every row; ``quick`` changes nothing, since it takes a second."""
    rows: list[tuple[Cell, ...]] = []
    over = []
    with keeping_rows():
        for row in PUBLISHED:
            players, strategy, betting, symmetric, asymmetric = row
            first, second = sizes(*row)
            rows.append((players, strategy, betting, symmetric, first, asymmetric, second))
            for text, size in ((symmetric, first), (asymmetric, second)):
                if size is not None and size > LIMITS[players]:
                    over.append(f"{strategy} after {betting} in {text} with {size:,}")
    return Experiment(
        title="Information sets of the largest run of stitched hold'em strategies",
        source="Gibson 2014, table 7.3",
        columns=("players", "strategy", "experts", "symmetric", "infosets", "asymmetric", "infosets"),
        rows=tuple(rows),
        notes=tuple(_notes(over)),
    )


def _notes(over: Sequence[str]) -> Iterator[str]:
    yield "Published are the buckets, and that no run has more than 24 million (two players) or 162 million (three)."
    yield f"Above these limits: {'; '.join(over) or 'none'}."
