"""Memory: what is free, how byte counts are written, and the one check made before anything large is allocated."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from pathlib import Path

from counterplay.errors import MemoryLimitError, SolverError

CONTROL_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "inactive_file"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "total_inactive_file",
    ),
)
"""Where Linux keeps the limit of a container, its use, and the key of the part that can be reclaimed; v2 and v1."""

ROOM = 1 << 30
"""Bytes that are left to the rest of the machine, at most; a twentieth of a small one's memory."""

LIBRARIES = 640 << 20
"""Bytes of addresses that NumPy, SciPy, LLVM and the others take before any game is loaded."""

STACKS = 64 << 20
"""Bytes of addresses that are kept for the stacks of threads and the memory that the C library reserves for them."""


def available_memory() -> int:
    """Bytes of memory that this process can still get, or a cautious guess where the machine does not say.

    The limits of a container and of the process (``ulimit -v``) count as well as the free memory of the machine, of
    which a little is left to others.
    """
    limits = [_control_group_memory(), _address_space(), _machine_memory()]
    return min(limit for limit in limits if limit is not None)


def used_memory() -> int:
    """Bytes of memory that this process holds; 0 where the machine does not say."""
    return _process_bytes(1) or 0


def return_memory() -> None:
    """Give the system what this process has freed but still holds, before something large is allocated.

    The C library of Linux keeps freed pieces for later; building a game leaves many.  Elsewhere nothing happens.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _control_group_memory() -> int | None:
    """What the limit of a container leaves, without counting cached files as used; None without a limit."""
    for limit, used, key in CONTROL_GROUPS:
        try:
            left = int(Path(limit).read_text()) - int(Path(used).read_text())
            stat = dict(line.split() for line in Path(used).with_name("memory.stat").read_text().splitlines())
            return max(0, left + int(stat[key]))
        except (OSError, ValueError, KeyError):  # other versions; "max" means no limit
            continue
    return None


def _address_space() -> int | None:
    """What ``ulimit -v`` leaves to this process and the libraries that it still has to load; None without a limit."""
    limit, used = address_limit(), _addresses_used()
    return None if limit is None or used is None else max(0, limit - max(used + STACKS, LIBRARIES))


def address_limit() -> int | None:
    """The bytes of addresses that ``ulimit -v`` allows this process; None without a limit, or on Windows."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else limit


def _addresses_used() -> int | None:
    return _process_bytes(0)


def _process_bytes(column: int) -> int | None:
    """What Linux says of this process: 0 its addresses, 1 the memory that it holds; None elsewhere."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[column]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def check_address_limit() -> None:
    """Refuse to start where ``ulimit -v`` leaves too little for the libraries alone, by a MemoryLimitError.

    They end the process without a word, or wait for ever, where they find no memory.
    """
    limit = address_limit()
    if limit is not None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each of its threads would reserve addresses
        if limit < LIBRARIES:
            raise MemoryLimitError(
                f"ulimit -v allows this process {format_bytes(limit)}, and the libraries that counterplay uses need "
                f"{format_bytes(LIBRARIES)}; raise it: ulimit -v {LIBRARIES // 1024}, or more"
            )


def full_memory_text(error: BaseException) -> str | None:
    """What to say about an error that comes from a lack of memory; None if it has another reason.

    C++ says ``std::bad_alloc``, which is a MemoryError here; libraries that cannot be loaded and threads that cannot be
    started say something else.
    """
    limit, used = address_limit(), _addresses_used()
    tight = limit is not None and used is not None and limit - used < 2 * STACKS
    odd = isinstance(error, ImportError | OSError | RuntimeError | SystemError) and tight
    if not isinstance(error, MemoryError) and not odd:
        return None
    allowed = "" if limit is None else f" (ulimit -v allows {format_bytes(limit)})"
    return f"the memory is full{allowed}; use a smaller game or abstraction, storage float32, or a solver that samples"


def _machine_memory() -> int:
    try:
        rows = (line.split() for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        facts = {row[0]: int(row[1]) * 1024 for row in rows}
        return max(0, facts["MemAvailable:"] - min(facts["MemTotal:"] // 20, ROOM))
    except (OSError, ValueError, KeyError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 4 << 30


def check_memory(
    what: str, needed: int, limit: int | None, advice: str = "try storage float32 or an abstraction"
) -> None:
    """Refuse what does not fit, before it is allocated, by a MemoryLimitError.

    Parameters
    ----------
    what, advice : str
        What is about to be allocated, as the subject of the message, and what the user can do instead.
    needed, limit : int
        Its bytes, and those that may be used; None for the free memory of the machine.
    """
    return_memory()
    allowed = available_memory() if limit is None else limit
    if needed > allowed:
        raise MemoryLimitError(
            f"{what} needs about {format_bytes(needed)}, but only {format_bytes(allowed)} may be used; {advice}"
        )


def read_memory(amount: int | str | None, what: str = "memory") -> int | None:
    """A number of bytes from text such as 500MiB; numbers, and None for no limit, stay as they are.

    ``what`` has so many bytes, for the message of an error.
    """
    if not isinstance(amount, str):
        return amount
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([KMGT]?)(i?)B?\s*", amount, re.IGNORECASE)
    if match is None or not 0 < float(match.group(1)) < 1e30:
        raise SolverError(f"{what} is written like 500MiB or 2GiB; got {amount!r}")
    base = 1024 if match.group(3) else 1000
    power = " KMGT".index(match.group(2).upper() or " ")
    return int(float(match.group(1)) * base**power)


def format_bytes(count: float) -> str:
    """A number of bytes as text: 812 B, 3.4 MiB, ..."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if count < 1024 or unit == "EiB":
            digits = ".0f" if unit == "B" else ".1f" if count < 1024 else ".2g"
            return f"{count:{digits}} {unit}"
        count /= 1024
    return ""
