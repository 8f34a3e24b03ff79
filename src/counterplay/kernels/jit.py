"""How every kernel is compiled, and the arrays of a game as kernels take them.

Only this package imports numba.  Nothing is compiled at import: a kernel is compiled for the types it first meets and
kept in an on-disk cache.  ``fastmath`` stays off: regret matching turns rounding noise into probabilities, so
reordered sums would change results.

numba's own cache looks at the file of a kernel only, so that a kernel would go on with the old code of those it calls
from other files after an update.  Here the stamp of a kernel covers every file of its folder that its file imports.
Constants from other packages are not seen: keep those that kernels use in this one.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numba.core import cgutils, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.extending import intrinsic

from counterplay.tree.sequence.sequence_form import SequenceForm

_FUNCTION = TypeVar("_FUNCTION", bound=Callable[..., Any])

KERNELS = Path(__file__).parent
"""The folder of all kernels."""


def kernel(function: _FUNCTION) -> _FUNCTION:
    """Decorator of all kernels; ``function.py_func`` is the plain-Python original."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    return _with_cache(compiled, function)


def _with_cache(compiled: Any, function: _FUNCTION) -> _FUNCTION:
    with contextlib.suppress(RuntimeError):  # raised where there is no folder that numba may write its cache into
        compiled._cache = _KernelCache(function)  # type: ignore[no-untyped-call]  # what cache=True does, but for the stamp
    return cast(_FUNCTION, compiled)


def sources(file: Path) -> set[Path]:
    """A file of kernels and all files of kernels that it names, directly or not: those that it imports, at least."""
    home = KERNELS if file.is_relative_to(KERNELS) else file.parent
    near = {path.stem: path for path in home.rglob("*.py")}
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            words = set(re.findall(r"\w+", path.read_text("utf-8")))
            waiting.extend(other for name, other in near.items() if name in words)
    return found


@functools.cache
def _stamp(file: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(sources(file)):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


class _KernelCacheFiles(CompileResultCacheImpl):
    """The cache files of a kernel, which are of use while the stamp of its sources is the same."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self.locator.get_source_stamp = lambda: _stamp(Path(function.__code__.co_filename))


class _KernelCache(FunctionCache):
    _impl_class = _KernelCacheFiles


def inlined(function: _FUNCTION) -> _FUNCTION:
    """Decorator of small helpers inside hot loops: compiled into each kernel that calls them.

    A call that hands arrays over costs more than most helpers do.
    """
    compiled: Any = numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)
    return _with_cache(compiled, function)


def _borrow(context: Any, given: Any) -> Any:
    """An array, or a tuple with arrays, without its owner, for use inside a kernel while the caller holds it.

    Numba counts the references of an array wherever code hands it over, or takes it from a tuple, with atomic
    instructions; in walks over small games that was two thirds of the time.  An array without an owner is not counted.
    """

    def one(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if not isinstance(kind, types.Array):
            return value
        array = context.make_array(kind)(context, builder, value=value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)  # type: ignore[no-untyped-call]
        return array._getvalue()

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, value = signature.args[0], arguments[0]
        if not isinstance(kind, types.BaseTuple):
            return one(context, builder, kind, value)
        parts: list[Any] = list(signature.args[0])
        for number, part in enumerate(parts):
            bare = one(context, builder, part, builder.extract_value(value, number))
            value = builder.insert_value(value, bare, number)
        return value

    return given(given), generate


borrow: Any = intrinsic(_borrow)


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
