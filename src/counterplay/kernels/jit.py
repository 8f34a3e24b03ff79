"""How every kernel is compiled, and the arrays of a game as kernels take them.

Only this package imports numba.  Nothing is compiled at import: a kernel is compiled for the types it first meets and
kept in an on-disk cache.  ``fastmath`` stays off: regret matching turns rounding noise into probabilities, so
reordered sums would change results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np

from counterplay.tree.sequences import SequenceForm

_FUNCTION = TypeVar("_FUNCTION", bound=Callable[..., Any])


def kernel(function: _FUNCTION) -> _FUNCTION:
    """Decorator of all kernels; ``function.py_func`` is the plain-Python original."""
    try:
        return cast(_FUNCTION, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
    except RuntimeError:  # there is no folder that numba may write its cache into
        return cast(_FUNCTION, numba.njit(nogil=True, error_model="numpy")(function))


def inlined(function: _FUNCTION) -> _FUNCTION:
    """Decorator of small helpers inside hot loops: compiled into each kernel that calls them.

    A call that hands arrays over costs more than most helpers do.
    """
    try:
        return cast(_FUNCTION, numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True)(function))
    except RuntimeError:
        return cast(_FUNCTION, numba.njit(nogil=True, error_model="numpy", forceinline=True)(function))


class FormArrays(NamedTuple):
    """The fields of a ``SequenceForm`` that kernels read; the meaning of each is told there."""

    sequence_start: np.ndarray
    decision_start: np.ndarray
    decision_parent: np.ndarray
    decision_first: np.ndarray
    decision_actions: np.ndarray
    decision_entry: np.ndarray
    decision_weight: np.ndarray
    leaf_start: np.ndarray
    leaf_others: np.ndarray
    leaf_payoff: np.ndarray
    unit: float


def form_arrays(form: SequenceForm) -> FormArrays:
    """The arrays of a sequence form, for kernels.

    Ids are handed over as unsigned numbers: numba then leaves out its test for negative indices, which is half as
    fast again on small games.  None of these arrays holds NULL.
    """
    fields = (getattr(form, name) for name in FormArrays._fields)
    return FormArrays(
        *(field.view(np.uint32) if getattr(field, "dtype", None) == np.int32 else field for field in fields)
    )
