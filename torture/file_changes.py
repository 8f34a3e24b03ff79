"""Random changes to files of arrays: to their content with a checksum that fits, to their table, and to raw bytes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.errors import StrategyError
from counterplay.storage import file_kind, read_container, write_container
from torture.forged_files import forgeries
from torture.text_formats import changed_value


class FileChanger:
    """Changes a valid file.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kind = str(file_kind(path))
        header, arrays = read_container(path, self.kind)
        self.header: Any = header
        self.arrays = {name: np.array(array) for name, array in sorted(arrays.items())}
        self.raw = path.read_bytes()

    def write(self, rng: random.Random, target: Path) -> None:
        """Write a changed file."""
        change = rng.choices(("array", "header", "both", "names", "table", "bytes"), (40, 25, 10, 5, 10, 10))[0]
        header, arrays = self.header, dict(self.arrays)
        if change in ("header", "both"):
            for _ in range(rng.randint(1, 2)):
                header = changed_value(rng, header)
        if change in ("array", "both"):
            for _ in range(rng.randint(1, 2) if arrays else 0):
                name = rng.choice(list(arrays))
                arrays[name] = rng.choice(list(forgeries(arrays[name], rng.getrandbits(32))))[1]
        if change == "names" and arrays:
            name = rng.choice(list(arrays))
            moved = arrays.pop(name)
            if rng.random() < 0.5:
                arrays[rng.choice(["x", *arrays])] = moved
        if change in ("table", "bytes"):
            target.write_bytes(changed_table(rng, self.raw) if change == "table" else changed_bytes(rng, self.raw))
            return
        try:
            write_container(target, self.kind, header, arrays)
        except StrategyError:  # a type that files do not have
            target.write_bytes(changed_bytes(rng, self.raw))


def changed_table(rng: random.Random, raw: bytes) -> bytes:
    """Another table of the arrays and their types, shapes and places."""
    length = int.from_bytes(raw[:8], "little")
    table = changed_value(rng, json.loads(raw[8 : 8 + length]))
    text = json.dumps(table).encode()
    return len(text).to_bytes(8, "little") + text + raw[8 + length :]


def changed_bytes(rng: random.Random, raw: bytes) -> bytes:
    """Bytes that are cut off, replaced, repeated or removed."""
    data = bytearray(raw)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(data) + 1)
        change = rng.choice(("cut", "replace", "zero", "repeat", "remove", "flip"))
        size = rng.choice((1, 8, 100))
        if change == "cut":
            del data[place:]
        elif change == "replace":
            data[place : place + size] = rng.randbytes(size)
        elif change == "zero":
            data[place : place + size] = bytes(size)
        elif change == "repeat":
            data[place:place] = data[place : place + size]
        elif change == "remove":
            del data[place : place + size]
        elif place < len(data):
            data[place] ^= 1 << rng.randrange(8)
    return bytes(data)
