"""Who hears that a kernel is being compiled, which happens once for each and takes seconds."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

SECONDS = {
    "cfr": 3, "passes": 3, "mccfr": 4, "chance_sampling": 3, "pure_cfr": 3, "changing_sets": 5, "cfr_ira": 5,
    "fpira": 5, "public_cfr": 9, "bucketed_hands": 13, "public_sampling": 14, "runouts": 9, "card_free": 4,
    "bucket_pcs": 7, "board_response": 7, "bucket_response": 8, "card_features": 7, "continuations": 7, "clustering": 4,
    "evaluator": 1, "hand_classes": 1, "isomorphism": 1, "deal_batches": 1, "walks": 1, "matches": 1, "regret": 1,
    "card_features.choose_cards": 1,
}  # fmt: skip
"""About how many CPU seconds a first use compiles that starts with a kernel, or with one of a file; what many first
uses start with counts 1, so that what follows is announced.  ``make bench PARTS=cold`` judges them: what was said may
be wrong by 3 seconds.
"""

LEAST_SECONDS = 2
"""The same for the other files."""


@dataclasses.dataclass(frozen=True)
class Compiling:
    """A kernel that is not in the cache.

    * ``kernel``: its name, with the file that it is in, as ``cfr.iterate_cfr``
    * ``seconds``: about how many CPU seconds a first use compiles that starts with it
    """

    kernel: str
    seconds: int


Listener = Callable[[Compiling], None]

_LISTENERS: list[Listener] = []


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call a function before each kernel that is compiled while the block runs, in whatever thread."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


def announce(file: str, kernel: str) -> None:
    """Say that a kernel of a file is about to be compiled."""
    name = f"{file}.{kernel}"
    now = Compiling(name, SECONDS.get(name, SECONDS.get(file, LEAST_SECONDS)))
    for listener in list(_LISTENERS):
        listener(now)
