"""Strategies, checkpoints and abstractions on disk: named arrays and a header in one ``safetensors`` container.

The header says what kind of file it is, the version of the format and a checksum over everything, so that a file that
was truncated, edited or made for something else is refused with a reason.  Writing is atomic: a new file is written
next to the old one and replaces it only when it is complete and on the disk.  The arrays of large files are mapped into
memory, all from one open file, so that another process may replace it at any moment.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import math
import operator
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

import counterplay
from counterplay.errors import CounterplayError, StrategyError
from counterplay.trusted_code import check_stored

FORMAT_VERSION = 1
"""Version of the files written; newer ones are refused, older ones are read."""

LOCK = ".lock"
"""The file that holds a folder."""

MAPPED = 64 << 20
"""Bytes of arrays that are read; more are mapped, so that several programs share them and start at once."""

LONGEST_NAME = 200
"""Bytes of the longest name to which that of an unfinished file may still be appended."""

_ASKING = threading.Lock()
"""Held while the mask of permissions is read, which is done by changing it."""

Arrays = Mapping[str, NDArray[Any]]


def write_container(
    path: str | os.PathLike[str], kind: str, header: Mapping[str, Any], arrays: Arrays, durable: bool = True
) -> None:
    """Write arrays and a JSON header, atomically; ``durable``: it is on the disk when this returns.

    Raises
    ------
    StrategyError
        If the file cannot be written (a full disk, a missing folder); what was there before is untouched.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(header, sort_keys=True, default=_plain)
    metadata = {
        "counterplay": kind,
        "format": str(FORMAT_VERSION),
        "version": counterplay.__version__,
        "header": text,
        "checksum": _checksum(kind, counterplay.__version__ + text, arrays),
    }
    table = _make_table(metadata, arrays, path)
    try:
        replace_file(path, table, *_parts(arrays), durable=durable)
    except OSError as error:
        raise StrategyError(
            f"cannot write {path}: {error.strerror or error}; the old file, if any, is intact"
        ) from error


def replace_file(path: str | os.PathLike[str], *parts: bytes | memoryview, durable: bool = True) -> None:
    """Write a file of some parts atomically: whoever is killed or out of space leaves the old one.  Raises OSError.

    What is not ``durable`` may be lost when the machine stops, until ``synchronise`` is called; and what killed
    processes have left of it is left to the caller, who may have thousands of files in a folder.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.exists() and not target.is_file():  # a pipe or a device, such as /dev/null, is written to directly
        with open(target, "wb") as file:
            file.writelines(parts)
        return
    if durable:
        remove_abandoned(target)
    temporary = target.with_name(f"{_part_name(target)}{os.getpid()}-{threading.get_ident()}.part")
    try:
        with open(temporary, "wb") as file:
            file.writelines(parts)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        _keep_mode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def synchronise(path: str | os.PathLike[str]) -> None:
    """Wait until a file, or the names of the files in a folder, are on the disk.  Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _part_name(target: Path) -> str:
    """How the names of unfinished files start; that of a long name is shortened, since names have 255 bytes."""
    name = target.name.encode("utf-8", "surrogateescape")
    if len(name) <= LONGEST_NAME:
        return f".{target.name}."
    start = name[: LONGEST_NAME - 17].decode("utf-8", "ignore")
    return f".{start}-{hashlib.sha256(name).hexdigest()[:16]}."


def remove_abandoned(target: Path) -> None:
    """Remove what killed processes left of earlier writes to a file."""
    pattern = re.compile(re.escape(_part_name(target)) + r"(\d+)-\d+\.part")
    with contextlib.suppress(OSError):
        for entry in os.scandir(target.parent):
            match = pattern.fullmatch(entry.name)
            if match is not None and not _alive(int(match[1])):
                os.unlink(entry)


def _alive(process: int) -> bool:
    """Whether there is such a process, other than this one, which writes a file only once at a time."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return True


@contextlib.contextmanager
def lock_folder(folder: Path, doing: str) -> Iterator[None]:
    """Create a folder and hold it, so that no other process works in it.

    Raises
    ------
    CounterplayError
        If another process holds it ("another process is DOING in FOLDER"), or it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = open(folder / LOCK, "a", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise CounterplayError(f"{folder} cannot be written: {error.strerror or error}") from None
    with file:
        with contextlib.suppress(ImportError):  # not on Windows
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise CounterplayError(f"another process is {doing} in {folder}; wait for it") from None
        yield


def is_unused(folder: Path, state: str) -> bool:
    """Whether a folder is missing, or holds no more than a run leaves that was killed while it wrote its first file."""
    if not os.path.exists(folder):
        return True
    return os.path.isdir(folder) and all(
        path.name == LOCK or (path.name.startswith(f".{state}.") and path.name.endswith(".part"))
        for path in folder.iterdir()
    )


def read_container(
    path: str | os.PathLike[str], kind: str, verify: bool = True
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a file written by ``write_container``; the arrays are read-only memory maps.

    Parameters
    ----------
    path : path
        The file.
    kind : str
        What it must be, such as ``"profile"``.
    verify : bool
        Whether to compare the checksum, which reads the whole file.

    Raises
    ------
    StrategyError
        If it is not such a file, is truncated, edited or from a newer version, or names code that is not trusted.
    """
    source = Path(path)
    try:
        with open(source, "rb") as file:
            metadata, table, start = _read_table(file, source)
            _check_kind(metadata, kind, source)
            arrays = _load_arrays(file, table, start, source)
    except FileNotFoundError:
        raise StrategyError(f"there is no file {source}") from None
    except OSError as error:
        raise StrategyError(f"cannot read {source}: {error.strerror or error}") from error
    text = metadata.get("header", "")
    if verify and metadata.get("checksum") != _checksum(kind, str(metadata.get("version", "")) + text, arrays):
        raise StrategyError(f"{source} is damaged: its content does not match its checksum")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise StrategyError(f"{source} is damaged: its header cannot be read") from None
    if not isinstance(header, dict):
        raise StrategyError(f"{source} is damaged: its header is no table of names and values")
    if isinstance(header.get("game"), str):
        check_stored(header["game"], source)
    return header, arrays


def file_kind(path: str | os.PathLike[str]) -> str | None:
    """What a file says it is, such as ``"profile"``; None if it is none of ours or cannot be read."""
    try:
        with open(path, "rb") as file:
            found = _read_table(file, Path(path))[0].get("counterplay")
    except (OSError, StrategyError):
        return None
    return None if found is None else str(found)


def _check_kind(metadata: Mapping[str, Any], kind: str, source: Path) -> None:
    """Refuse a file that is not one of ours, too new, or of another kind."""
    found = metadata.get("counterplay")
    if found is None:
        raise StrategyError(f"{source} is not a counterplay file; its header does not say so")
    try:
        version = int(metadata["format"])
    except (KeyError, ValueError):
        raise StrategyError(f"{source} is damaged: its format version is missing") from None
    if version < 1:
        raise StrategyError(f"{source} is damaged: there is no format {version}")
    if version > FORMAT_VERSION:
        writer = f", written by counterplay {_writer(metadata)}" if _writer(metadata) else ""
        raise StrategyError(
            f"{source} has format {version}{writer}; counterplay {counterplay.__version__} reads formats up to "
            f"{FORMAT_VERSION}; update it"
        )
    if found != kind:
        article = "an" if kind[0] in "aeiou" else "a"
        raise StrategyError(f"{source} is a {found} file; {article} {kind} file is needed here")


def _writer(metadata: Mapping[str, Any]) -> str | None:
    """The version of the program that wrote a file; strategies of old formats give it in their header."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return str(metadata.get("version") or json.loads(metadata["header"])["provenance"]["version"])
    return None


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy, and paths, as JSON knows them."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise StrategyError(f"settings in a file are numbers, text and lists of them; got {value!r}")


def pack_texts(name: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Texts as two arrays, ``NAME_offset`` and ``NAME_text``."""
    rows = [text.encode("utf-8", "surrogatepass") for text in texts]
    return {
        f"{name}_offset": np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64),
        f"{name}_text": np.frombuffer(b"".join(rows), np.uint8),
    }


def unpack_texts(name: str, arrays: Arrays) -> tuple[str, ...]:
    """The texts that ``pack_texts`` packed.  Raises ValueError if the arrays are no such ones."""
    text, offset = arrays[f"{name}_text"], arrays[f"{name}_offset"]
    kinds = [array.dtype.name for array in (text, offset)]
    if kinds != ["uint8", "int64"] or (text.ndim, offset.ndim) != (1, 1) or not offset.size:
        raise ValueError(f"arrays '{name}_text' and '{name}_offset' are no texts")
    if offset[0] != 0 or offset[-1] != len(text) or np.any(offset[1:] < offset[:-1]):
        raise ValueError(f"array '{name}_offset' does not divide '{name}_text' into texts")
    content, bounds = text.tobytes(), offset.tolist()
    return tuple(content[low:high].decode("utf-8", "surrogatepass") for low, high in pairwise(bounds))


def _checksum(kind: str, header: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(f"{kind}\n{header}\n".encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1", "U64": "<u8",
           "U32": "<u4", "U16": "<u2", "U8": "<u1", "BOOL": "?"}  # fmt: skip


def _place(name: str, arrays: Arrays) -> tuple[int, str]:
    """The order of arrays in a file: by the size of their numbers, so that all are aligned."""
    return -arrays[name].itemsize, name


def _make_table(metadata: Mapping[str, str], arrays: Arrays, path: str | os.PathLike[str]) -> bytes:
    """What stands before the arrays in a safetensors file, see ``_read_table``."""
    known = {np.dtype(kind): name for name, kind in _DTYPES.items()}
    table: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name in sorted(arrays, key=lambda name: _place(name, arrays)):
        array = arrays[name]
        if array.dtype not in known:
            raise StrategyError(f"cannot write {path}: arrays of {array.dtype} such as {name!r} have no place in files")
        start, end = end, end + array.nbytes
        table[name] = {"dtype": known[array.dtype], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(table, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _parts(arrays: Arrays) -> list[memoryview]:
    """The arrays in the order of a file, where they are in memory: a copy of large tables would double it."""
    names = sorted(arrays, key=lambda name: _place(name, arrays))
    return [arrays[name].reshape(-1).view(np.uint8).data for name in names if arrays[name].size]


def _read_table(file: BinaryIO, source: Path) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The metadata of a safetensors file, what it says of each array, and where the data start.

    The layout is public: 8 bytes for the length of a JSON header that gives type, shape and position of each array,
    then the arrays, without gaps.
    """
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > size - 8:
        raise StrategyError(f"{source} is damaged or not a counterplay file (it is shorter than its header says)")
    try:
        table = json.loads(file.read(length))
        metadata = table.pop("__metadata__", {})
        spans = sorted(tuple(map(operator.index, entry["data_offsets"])) for entry in table.values())
        texts = all(isinstance(text, str) for text in metadata.values())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise StrategyError(f"{source} is damaged or not a counterplay file (its header cannot be read)") from None
    edges = [0, *(edge for span in spans for edge in span), size - 8 - length]
    if not texts or any(len(span) != 2 for span in spans) or edges[::2] != edges[1::2] or edges != sorted(edges):
        raise StrategyError(f"{source} is damaged or not a counterplay file (its header does not fit its length)")
    return metadata, table, 8 + length


def _load_arrays(file: BinaryIO, table: Mapping[str, Any], start: int, source: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file: those of a small one are read, those of a large one are memory maps."""
    size = max((entry["data_offsets"][1] for entry in table.values()), default=0)
    content = None
    if size <= MAPPED:
        file.seek(start)
        content = file.read(size)
        if len(content) < size:
            raise StrategyError(f"{source} became shorter while it was read; another program is writing it")
    arrays: dict[str, NDArray[Any]] = {}
    for name, entry in table.items():
        try:
            dtype = np.dtype(_DTYPES[entry["dtype"]])
            shape = tuple(map(operator.index, entry["shape"]))
            begin, end = entry["data_offsets"]
        except (KeyError, TypeError):
            raise StrategyError(f"{source} is damaged: array {name!r} has an unknown type or shape") from None
        if min(shape, default=1) < 0 or math.prod(shape) * dtype.itemsize != end - begin:
            raise StrategyError(f"{source} is damaged: array {name!r} does not fill its place")
        try:
            if begin == end:
                arrays[name] = _empty(shape, dtype, f"{source} is damaged: array {name!r} has the shape {list(shape)}")
            elif content is None:
                arrays[name] = np.memmap(file, dtype=dtype, mode="r", offset=start + begin, shape=shape)
            else:
                arrays[name] = np.frombuffer(content, dtype, math.prod(shape), begin).reshape(shape)
        except ValueError:  # more dimensions than arrays have
            raise StrategyError(f"{source} is damaged: array {name!r} has {len(shape)} dimensions") from None
    return arrays


def _empty(shape: tuple[int, ...], dtype: np.dtype[Any], damaged: str) -> NDArray[Any]:
    """An array without numbers."""
    try:
        return np.empty(shape, dtype)
    except (ValueError, MemoryError):  # more dimensions than arrays have, or longer than addresses reach
        raise StrategyError(damaged) from None


def _keep_mode(target: Path, temporary: Path) -> None:
    """Give the new file the permissions of the old one, or those of any new file."""
    try:
        mode = target.stat().st_mode & 0o777
    except OSError:
        with _ASKING:
            mask = os.umask(0)
            os.umask(mask)
        mode = 0o666 & ~mask
    os.chmod(temporary, mode)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, or say in one line why not."""
    try:
        replace_file(path, text.encode("utf-8"))
    except OSError as error:
        raise CounterplayError(f"cannot write {path}: {error.strerror or error}") from None


def read_lines(path: str | os.PathLike[str]) -> list[tuple[int, str]]:
    """The lines of a text file of a user with their numbers, without comments (``#``) and empty ones."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CounterplayError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        raise CounterplayError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    lines = ((number, line.partition("#")[0]) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if line.strip()]


def write_csv(path: Path, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table for spreadsheets, or say in one line why not; None is an empty cell."""
    try:
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(heads)
            writer.writerows(rows)
    except OSError as error:
        raise StrategyError(f"cannot write {path}: {error.strerror or error}") from None
