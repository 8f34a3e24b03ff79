"""Helpers that are compiled into kernels, made callable from Python, so that tests can check them one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def entry(helper: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the arguments of a helper that only kernels can call."""
    return numba.njit(lambda *arguments: helper(*arguments))  # type: ignore[no-any-return]
