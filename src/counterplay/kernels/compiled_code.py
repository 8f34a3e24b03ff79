"""How compiled code is made, linked, and kept on the disk.

numba compiles every function on its own and puts the finished code of those it calls into it: a helper inside a helper
inside a kernel is optimised three times and translated into machine code three times.  Here each is done once:

* **Helpers**, which are put into every kernel that calls them, stay what they are before they are optimised.  They are
  optimised as a part of the kernel (``HelperCompiler``).
* **Kernels that other kernels call** are called by their name, where the loops inside are long enough for that, and are
  not put into the caller (``ApartCompiler``).
* **Cache.** numba's own cache looks at the file of a kernel only, so that after an update a kernel would keep the old
  code of those it calls from other files.  ``cache_on_disk`` stamps a kernel with every file of kernels that its file
  imports.  Constants from other packages are not seen: keep those that kernels use in this one.  Processes that start
  together, such as those of ``make test``, compile each kernel once: one compiles, the others wait for the file.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import importlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime.nrt import rtsys

from counterplay.runtime.compiling import announce
from counterplay.runtime.signals import uninterrupted

try:
    import fcntl
except ImportError:  # Windows: every process compiles for itself
    fcntl = None  # type: ignore[assignment]

KERNELS = Path(__file__).parent
"""The folder of all kernels."""

_ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of the variables begin in which code finds the environment of a function."""


# ------------------------------------------------------------------------------------------ code that is linked


class _Code(JITCodeLibrary):
    """Code of ours; it calls kernels that are compiled apart by their names.

    * ``origin``: module, name and types of arguments of a kernel that is compiled apart
    * ``callees``: of each such kernel that this code calls, the origin and the names of its functions
    """

    origin: tuple[str, str, Any] | None = None
    callees: dict[tuple[str, str, Any], list[str]]

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)  # type: ignore[no-untyped-call]
        self.callees = {}

    def _set_apart(self) -> None:
        """Of what the code needs, take out what is compiled apart."""
        linked = []
        for library in dict.fromkeys(self._linking_libraries):
            origin = getattr(library, "origin", None)
            if origin is None:
                linked.append(library)
                self.callees.update(getattr(library, "callees", {}))
            else:
                self.callees[origin] = library.functions()
        self._linking_libraries = linked

    def _load_callees(self, callees: dict[tuple[str, str, Any], list[str]]) -> None:
        """Load or compile the kernels that code from the disk calls."""
        for (module, function, signature), names in callees.items():
            getattr(importlib.import_module(module), function).compile(signature)
            if not all(map(self._codegen._engine.is_symbol_defined, names)):
                raise LookupError(f"{function} has been compiled again")
        self.callees = callees


class _HelperCode(_Code):
    """The code of a helper: never run, so not translated, and not optimised unless that makes better kernels."""

    optimised = False

    def finalize(self) -> None:
        self._set_apart()
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        if self.optimised:
            self._optimize_final_module()  # type: ignore[no-untyped-call]
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._declare_environments()
        self._finalized = True

    def _declare_environments(self) -> None:
        """Make the variables of environments, in which numba writes as soon as a function is compiled."""
        variables = [one for one in self._final_module.global_variables if one.name.startswith(_ENVIRONMENT)]
        module = llvm.parse_assembly("\n".join(str(one) for one in variables if not one.is_declaration))
        module.triple, module.data_layout = self._final_module.triple, self._codegen._data_layout
        self._codegen._add_module(module)  # type: ignore[no-untyped-call]
        self._codegen._engine.finalize_object()

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0

    def serialize_using_object_code(self) -> Any:
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return self.name, "helper", (self._final_module.as_bitcode(), self.callees)

    @classmethod
    def rebuilt(cls, codegen: Any, name: str, data: Any) -> _HelperCode:
        bitcode, callees = data
        self = cls(codegen, name)
        self._load_callees(callees)
        self._final_module = llvm.parse_bitcode(bitcode)
        self._declare_environments()
        self._finalized = True
        return self


class _KernelCode(_Code):
    """The code of a kernel."""

    def finalize(self) -> None:
        self._set_apart()
        super().finalize()  # type: ignore[no-untyped-call]

    def functions(self) -> list[str]:
        """The names of the functions that other kernels can call."""
        module = self._get_module_for_linking()  # type: ignore[no-untyped-call]
        return [one.name for one in module.functions if not one.is_declaration]

    def serialize_using_object_code(self) -> Any:
        plain = super().serialize_using_object_code()  # type: ignore[no-untyped-call]
        return self.name, "kernel", (plain[2], self.origin, self._needed())

    def _needed(self) -> dict[tuple[str, str, Any], list[str]]:
        missing = {one.name for one in self._final_module.functions if one.is_declaration}
        return {origin: [name for name in names if name in missing] for origin, names in self.callees.items()}

    @classmethod
    def rebuilt(cls, codegen: Any, name: str, data: Any) -> _KernelCode:
        (object_code, bitcode), origin, callees = data
        self = cls(codegen, name)
        self._load_callees(callees)
        self.enable_object_caching()  # type: ignore[no-untyped-call]
        self._set_compiled_object(object_code)  # type: ignore[no-untyped-call]
        self._shared_module = llvm.parse_bitcode(bitcode)
        self.origin = origin
        self._finalize_final_module()  # type: ignore[no-untyped-call]
        codegen._engine._load_defined_symbols(self._shared_module)
        return self


class _CodeCompiler(Compiler):
    """numba's compiler, with code of ours to write into."""

    code: type[_Code] = _KernelCode

    def compile_extra(self, func: Any) -> Any:
        library: Any = self.code(self.state.targetctx.codegen(), func.__qualname__)
        library.enable_object_caching()
        self._describe(library, func)
        self.state.library = library
        return super().compile_extra(func)  # type: ignore[no-untyped-call]

    def _describe(self, library: Any, function: Any) -> None:
        pass


class KernelCompiler(_CodeCompiler):
    """A kernel that is put into the kernels that call it."""


class HelperCompiler(_CodeCompiler):
    """A helper that is only ever a part of kernels."""

    code = _HelperCode

    def compile_extra(self, func: Any) -> Any:
        result = super().compile_extra(func)
        found = result.signature.return_type
        if self.state.targetctx.data_model_manager[found].contains_nrt_meminfo():
            raise TypeError(f"{func.__qualname__} returns an array, which helpers do not count: make it a kernel")
        return result


class WalkCompiler(HelperCompiler):
    """A helper that is optimised before it becomes a part of kernels, and again there."""

    def _describe(self, library: Any, function: Any) -> None:
        library.optimised = True


class ApartCompiler(_CodeCompiler):
    """A kernel that is called by other kernels, and compiled once for all of them."""

    def _describe(self, library: Any, function: Any) -> None:
        library.origin = (function.__module__, function.__qualname__, self.state.args)


_CODE: dict[str, Any] = {"helper": _HelperCode, "kernel": _KernelCode}


class _RebuildContext:
    """A target context that reads code of ours from the disk, and all else as numba's does."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> Any:
        return self

    def unserialize_library(self, data: Any) -> Any:
        name, kind, content = data
        return _CODE[kind].rebuilt(self._context.codegen(), name, content)


# ------------------------------------------------------------------------------------------ the cache on the disk


def cache_on_disk(compiled: Any, function: Callable[..., Any]) -> Any:
    """Keep what is compiled on the disk, as ``cache=True`` does, but for the stamp."""
    path = None
    with contextlib.suppress(RuntimeError):  # raised where there is no folder that numba may write its cache into
        cache = compiled._cache = _KernelCache(function)  # type: ignore[no-untyped-call]
        path = Path(cache.cache_path) / f"{cache._impl.filename_base}.lock"
    compiled.compile = _compile_once(compiled.compile, path)
    return compiled


def _compile_once(compile_: Callable[[Any], Any], path: Path | None) -> Callable[[Any], Any]:
    """Of several processes that need a kernel one compiles it; the others wait, and load it.

    Signals that ask to stop wait until it is compiled or loaded: an exception inside a callback of the compiler would
    be dropped, together with the code that it was handed, and the kernel would be run without its code.
    """

    def compile_once(signature: Any) -> Any:
        locked = contextlib.nullcontext() if path is None else _locked(path)
        with global_compiler_lock, locked, uninterrupted(), _collecting_seldom():
            return compile_(signature)

    return compile_once


@contextlib.contextmanager
def _collecting_seldom() -> Iterator[None]:
    """Look for garbage a hundred times less often: a compiler makes objects by the million, and keeps most of them."""
    often = gc.get_threshold()
    gc.set_threshold(max(often[0], 100_000) if often[0] else 0, *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)


_HELD: set[Path] = set()
"""Locks that this process holds: a kernel may come to itself while it is compiled; guarded by the compiler's lock."""


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file while the block runs; without one where files cannot be locked or written."""
    with contextlib.ExitStack() as stack:
        if fcntl is not None and path not in _HELD:
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(open(path, "w"))
                fcntl.flock(file, fcntl.LOCK_EX)
                _HELD.add(path)
                stack.callback(_HELD.discard, path)
        yield


def sources(file: Path) -> set[Path]:
    """A file of kernels and all files of kernels that it names, directly or not: those that it imports, at least."""
    near = _files(KERNELS if file.is_relative_to(KERNELS) else file.parent)
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(near[name] for name in near.keys() & _words(path))
    return found


@functools.cache
def _files(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in folder.rglob("*.py")}


@functools.cache
def _words(path: Path) -> set[str]:
    return set(re.findall(r"\w+", path.read_text("utf-8")))


@functools.cache
def _stamp(file: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(sources(file)):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


class _KernelCacheFiles(CompileResultCacheImpl):
    """The cache files of a kernel, valid while the stamp of its sources is the same."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self.locator.get_source_stamp = lambda: _stamp(Path(function.__code__.co_filename))

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """What was compiled, from what was written."""
        if payload[0][1] not in _CODE:
            return super().rebuild(target_context, payload)  # type: ignore[no-untyped-call]
        result = super().rebuild(_RebuildContext(target_context), payload)  # type: ignore[no-untyped-call]
        return result._replace(target_context=target_context)


class _KernelCache(FunctionCache):
    _impl_class = _KernelCacheFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel from the disk; None, so that it is compiled again, if its files cannot be read.

        numba would load all that it can compile first, which takes 25 MiB and a third of a second; what has been
        compiled needs its runtime only.
        """
        found = None
        try:
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # unpickling what another version, or a full disk, has left raises anything
            self._forget()
        if found is None:
            file = Path(self._py_func.__code__.co_filename).stem
            announce(file, self._py_func.__name__)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a kernel to the disk; where that is impossible, on a full disk, it is compiled again the next time."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except Exception:  # an index that cannot be read, or a file that cannot be written
            self._forget()
            with contextlib.suppress(Exception):
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    def _forget(self) -> None:
        """Begin with an empty index, if it can be written."""
        with contextlib.suppress(OSError):
            self.flush()  # type: ignore[no-untyped-call]


def cache_folder(*kernels: Any) -> Path | None:
    """The folder below which compiled kernels are kept; None where no folder can be written."""
    if not all(hasattr(one._cache, "cache_path") for one in kernels):
        return None
    return Path(os.path.commonpath([one._cache.cache_path for one in kernels]))
