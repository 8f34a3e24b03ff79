"""How many threads a product of matrices uses.

NumPy's OpenBLAS starts a thread for each processor and lets them spin while they wait.  On a busy machine that doubles
the processor time of products which one thread computes as fast.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np


@contextlib.contextmanager
def single_blas_thread() -> Iterator[None]:
    """One thread for products inside; no change where another library than OpenBLAS multiplies."""
    found = _thread_calls()
    if found is None:
        yield
        return
    read, write = found
    before = int(read())
    write(1)
    try:
        yield
    finally:
        write(before)


@functools.cache
def _thread_calls() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """The functions that read and set the number of threads, in the OpenBLAS that comes with NumPy."""
    place = Path(np.__file__).parent
    for file in sorted([*place.with_name("numpy.libs").glob("*openblas*"), *place.glob(".dylibs/*openblas*")]):
        try:
            library = ctypes.CDLL(str(file))
        except OSError:
            continue
        for name in ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads"):
            calls = [getattr(library, name.format(verb), None) for verb in ("get", "set")]
            if calls[0] is not None and calls[1] is not None:
                return calls[0], calls[1]
    return None
