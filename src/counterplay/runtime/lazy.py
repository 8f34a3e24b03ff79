"""Packages: names that are imported when they are first used, so that nobody waits for what others need, and calls."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any


def lazy_names(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package; ``homes`` gives the names of each of its modules; a module may
    be a name itself.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{home[name]}")
        value = module if home[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__


def callable_package(package: str, function: Callable[..., Any]) -> None:
    """Let a package be called like the function of the same name.

    ``counterplay.build`` is that function until somebody imports the package, which then stands in its place.
    """
    kind = type("CallablePackage", (ModuleType,), {"__call__": staticmethod(function)})
    sys.modules[package].__class__ = kind
