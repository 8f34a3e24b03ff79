"""Who hears that a kernel is being compiled, which happens once for each and takes seconds."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

SECONDS = {
    "cfr": 4, "mccfr": 8, "chance_sampling": 6, "pure_cfr": 6, "cfr_ira": 8, "fpira": 8, "public_cfr": 15,
    "public_sampling": 20, "card_free": 4, "bucket_pcs": 12, "board_response": 8,
    "card_features": 13, "continuations": 13, "clustering": 5, "evaluator": 1, "hand_classes": 1,
    "runouts": 14, "isomorphism": 10,
}  # fmt: skip
"""About how many CPU seconds a first use compiles that starts with a kernel of a file (``make bench PARTS=cold``)."""

LEAST_SECONDS = 3
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
    now = Compiling(f"{file}.{kernel}", SECONDS.get(file, LEAST_SECONDS))
    for listener in list(_LISTENERS):
        listener(now)
