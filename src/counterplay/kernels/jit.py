"""How every kernel is compiled.

Only this package imports numba.  Nothing is compiled at import: a kernel is compiled for the types of its first call
and kept in an on-disk cache (``kernels.compiled_code``).  ``fastmath`` stays off: regret matching turns rounding
noise into probabilities, so reordered sums would change results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from counterplay.kernels.compiled_code import ApartCompiler, HelperCompiler, KernelCompiler, WalkCompiler, cache_on_disk

_FUNCTION = TypeVar("_FUNCTION", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""Of all kernels; nobody calls them by the address of a C function, and the code for that takes time to compile."""

_HELPER = {"pipeline_class": HelperCompiler, "forceinline": True, "no_cpython_wrapper": True, "_nrt": False}
"""Of helpers, which do not count references: they use what their callers hold, and return no arrays."""


def kernel(function: _FUNCTION) -> _FUNCTION:
    """Decorator of all kernels; ``function.py_func`` is the plain-Python original."""
    return _compiled(function, pipeline_class=KernelCompiler)


def apart(function: _FUNCTION) -> _FUNCTION:
    """Decorator of large kernels that only other kernels call: by their names, and without holding their code."""
    return _compiled(function, pipeline_class=ApartCompiler, no_cpython_wrapper=True)


def shared(function: _FUNCTION) -> _FUNCTION:
    """Decorator of kernels that are ``apart``, and that Python calls as well."""
    return _compiled(function, pipeline_class=ApartCompiler)


def inlined(function: _FUNCTION) -> _FUNCTION:
    """Decorator of small helpers inside hot loops: compiled into each kernel that calls them.

    A call that passes arrays costs more than most helpers do.  Python cannot call them: code that unpacks the arguments
    of Python would take as long to compile as the helper.
    """
    return _compiled(function, **_HELPER)


def inlined_walk(function: _FUNCTION) -> _FUNCTION:
    """Decorator of a walk that is ``inlined``: optimised on its own first, which makes it some percent faster."""
    return _compiled(function, **_HELPER | {"pipeline_class": WalkCompiler})


def spliced(function: _FUNCTION) -> _FUNCTION:
    """Decorator of helpers with loops inside hot loops: put into the code of each kernel that calls them.

    What is ``inlined`` is optimised on its own first, and loops are then made for long rows; here they are short.
    """
    return cast(_FUNCTION, numba.njit(**_OPTIONS, inline="always")(function))


def _compiled(function: _FUNCTION, **options: Any) -> _FUNCTION:
    return cast(_FUNCTION, cache_on_disk(numba.njit(**_OPTIONS, **options)(function), function))
