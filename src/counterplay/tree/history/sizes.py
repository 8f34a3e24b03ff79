"""How large a game is and how much memory it takes, before anything large is allocated.

The number of histories is estimated by random descents: the product of the branching factors on a uniformly random
path, summed over the path, is an unbiased estimate of the number of nodes (D. E. Knuth, "Estimating the efficiency
of backtrack programs", 1975).  The estimate is rough, so only a game that is far too large is refused by it; the
walk itself counts and stops at the limit.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.errors import MemoryLimitError
from counterplay.game.game import CHANCE, TERMINAL, Game

if TYPE_CHECKING:
    from counterplay.tree.history.game_tree import GameTree

__all__ = [
    "SizeEstimate", "available_memory", "estimate_size", "format_bytes", "preflight", "return_memory", "tree_bytes",
]  # fmt: skip

BUILD_BYTES_PER_HISTORY = 120
"""Bytes that compiling needs for each history at its peak, sequences of the players included (measured on Leduc)."""

CONTROL_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "inactive_file"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "total_inactive_file",
    ),
)
"""Where Linux tells the limit of a container, what it uses, and what of that it would give back; versions 2 and 1."""

SAFETY = 4.0
"""By how much an estimate must exceed the limit before a game is refused unseen."""


@dataclasses.dataclass(frozen=True)
class SizeEstimate:
    """An estimate of a game's size from random descents, with the standard error of the mean.

    ``ended`` is False when a descent did not reach the end of the game within the depth allowed.
    """

    histories: float
    standard_error: float
    descents: int
    ended: bool

    @property
    def bytes(self) -> int:
        """Bytes that compiling would need."""
        return int(self.histories * BUILD_BYTES_PER_HISTORY)


def available_memory() -> int:
    """Bytes of memory that this process can still get, or a cautious guess where the machine does not say.

    In a container that is what its limit leaves, which the machine's own count does not know.
    """
    allowed = _control_group_memory()
    free = _machine_memory()
    return free if allowed is None else min(allowed, free)


def return_memory() -> None:
    """Give the system what this process has freed but still holds, before something large is allocated.

    The C library of Linux keeps freed pieces for later; building a game leaves many.  Elsewhere nothing happens.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _control_group_memory() -> int | None:
    """What the limit of a container leaves, files kept in memory not counted; None where there is no limit."""
    for limit, used, key in CONTROL_GROUPS:
        try:
            left = int(Path(limit).read_text()) - int(Path(used).read_text())
            stat = dict(line.split() for line in Path(used).with_name("memory.stat").read_text().splitlines())
            return max(0, left + int(stat[key]))
        except (OSError, ValueError, KeyError):  # other versions; "max" stands for no limit
            continue
    return None


def _machine_memory() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 4 << 30


def estimate_size(game: Game, descents: int = 64, seed: int = 0, max_depth: int = 10_000) -> SizeEstimate:
    """Estimate the number of histories of a game by random descents (Knuth 1975)."""
    generator = random.Random(seed)
    totals = []
    ended = True
    for _ in range(descents):
        state: Any = game.root()
        total = weight = 1.0
        depth = 0
        while state.player != TERMINAL and depth < max_depth:
            moves = [label for label, _ in state.chance()] if state.player == CHANCE else list(state.actions())
            if not moves:
                break
            weight = min(weight * len(moves), 1e200)  # no larger, so that sums stay finite
            total += weight
            state = state.child(generator.choice(moves))
            depth += 1
        ended &= depth < max_depth
        totals.append(total)
    mean = sum(totals) / len(totals)
    spread = sum((total / mean - 1) ** 2 for total in totals) / max(1, len(totals) - 1)
    return SizeEstimate(mean, mean * (spread / len(totals)) ** 0.5, descents, ended)


def preflight(game: Game, limit: int, max_depth: int) -> None:
    """Refuse a game that is far too large for ``limit`` bytes before walking it.

    Raises
    ------
    MemoryLimitError
        With the estimate and the limit.
    """
    try:
        exact = game.num_histories()
        estimate = None if exact else estimate_size(game, max_depth=min(max_depth, 1000))
    except Exception:
        return  # the walk meets the same trouble and can say where
    if estimate is None:
        count, needed, margin = f"{exact:,}", (exact or 0) * BUILD_BYTES_PER_HISTORY, 1.0
    elif estimate.ended:
        count, needed, margin = f"about {estimate.histories:.2g}", estimate.bytes, SAFETY
    else:
        return
    if needed > margin * limit:
        raise MemoryLimitError(
            f"{game.spec()} has {count} histories and would need about {format_bytes(needed)}, but only "
            f"{format_bytes(limit)} may be used; use smaller parameters, a higher memory limit or a solver that samples"
        )


def tree_bytes(tree: GameTree) -> int:
    """Bytes of a compiled tree with its sequences."""
    return tree.nbytes + tree.sequences.nbytes


def format_bytes(count: float) -> str:
    """A number of bytes for people: 812 B, 3.4 MiB, ..."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if count < 1024 or unit == "EiB":
            digits = ".0f" if unit == "B" else ".1f" if count < 1024 else ".2g"
            return f"{count:{digits}} {unit}"
        count /= 1024
    return ""
