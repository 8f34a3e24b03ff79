"""Tables on disk: the code loses nothing, files are whole or refused, and only what is needed stays."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from counterplay import storage
from counterplay.errors import StrategyError
from counterplay.solvers.streamed.block_store import AVERAGE, REGRET, BlockFile, BlockStore, files_of
from counterplay.solvers.streamed.codec import decode, encode

FILE = BlockFile(block=12, player=1, kind=REGRET, generation=34)


def some_tables(seed: int = 0, size: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "regret": np.cumsum(rng.integers(-50, 50, size)).astype(np.int16),
        "regret_scale": rng.random(9).astype(np.float32),
    }


def read_back(store: BlockStore, file: BlockFile, like: dict[str, Any]) -> dict[str, Any]:
    found = {name: np.zeros_like(table) for name, table in like.items()}
    store.read(file, found)
    return found


@settings(deadline=None)  # the first call compiles
@given(
    st.sampled_from(("int16", "float32", "float64")).flatmap(
        lambda kind: arrays.arrays(kind, st.integers(0, 300), elements={"allow_nan": True} if kind[0] == "f" else None)
    )
)
def test_the_code_loses_nothing(table: Any) -> None:
    back = np.zeros_like(table)
    decode(encode(table), back)
    assert back.tobytes() == table.tobytes()


@settings(deadline=None)
@given(st.integers(0, 200), st.integers(0, 200), st.randoms(use_true_random=False))
def test_a_code_of_another_length_is_refused(size: int, other: int, random: Any) -> None:
    code = encode(np.array([random.randint(-9, 9) for _ in range(size)], np.int16))
    if size != other:
        with pytest.raises(ValueError, match=r"it holds (more|less) than"):
            decode(code, np.zeros(other, np.int16))


def test_alike_neighbours_compress() -> None:
    """Regrets by rank: nearly equal neighbours, and rows of zeros."""
    rows = np.concatenate([np.zeros(5000), 3000 * np.sin(np.arange(5000) / 300)]).astype(np.int16)
    assert len(encode(rows)) < rows.nbytes / 6
    shuffled = np.random.default_rng(0).permutation(rows)
    assert len(encode(shuffled)) > 2 * len(encode(rows))


def test_tables_come_back(tmp_path: Path) -> None:
    store, tables = BlockStore(tmp_path / "blocks"), some_tables()
    written = store.write(FILE, tables)
    found = read_back(store, FILE, tables)
    assert all(np.array_equal(found[name], tables[name]) for name in tables)
    assert written.tables == sum(table.nbytes for table in tables.values())
    only = {"regret": np.zeros_like(tables["regret"])}
    store.read(FILE, only)
    assert np.array_equal(only["regret"], tables["regret"])
    assert [path.name for path in (tmp_path / "blocks").iterdir()] == [FILE.name]


def test_every_flipped_bit_is_found_and_the_block_named(tmp_path: Path) -> None:
    store, tables = BlockStore(tmp_path), some_tables(size=40)
    store.write(FILE, tables)
    path = tmp_path / FILE.name
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.choice(len(whole), 60, replace=False).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(
            StrategyError, match=r"block 12, the regrets of player 2 after iteration 34, cannot be used"
        ):
            read_back(store, FILE, tables)
    path.write_bytes(whole[:-5])
    with pytest.raises(StrategyError, match=r"block000012-player2-regret-34.block"):
        read_back(store, FILE, tables)
    path.unlink()
    with pytest.raises(StrategyError, match="there is no file"):
        read_back(store, FILE, tables)


def test_tables_of_another_game_are_refused(tmp_path: Path) -> None:
    store, tables = BlockStore(tmp_path), some_tables()
    store.write(FILE, tables)
    with pytest.raises(StrategyError, match="its regret are not the 299 int16 of this game"):
        read_back(store, FILE, {"regret": tables["regret"][:-1]})
    with pytest.raises(StrategyError, match="float32"):
        read_back(store, FILE, {"regret": tables["regret"].astype(np.float32)})
    with pytest.raises(StrategyError, match="prediction"):
        read_back(store, FILE, {"prediction": tables["regret"]})


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, tables = BlockStore(tmp_path), some_tables()
    store.write(FILE, tables)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(storage.os, "replace", full)
        with pytest.raises(
            StrategyError, match=r"block 12, the regrets .* cannot be written .*No space left.*make room"
        ):
            store.write(FILE._replace(generation=35), some_tables(1))
    assert [path.name for path in tmp_path.iterdir()] == [FILE.name]
    assert np.array_equal(read_back(store, FILE, tables)["regret"], tables["regret"])


def test_only_what_is_needed_stays(tmp_path: Path) -> None:
    """Also what a killed run has left: a generation that no checkpoint names, and half of a file."""
    store, first = BlockStore(tmp_path), np.zeros((2, 2, 2), np.int64)
    for generation in (1, 2, 3):
        for block in (0, 1):
            store.write(BlockFile(block, 0, AVERAGE, generation), {"average": np.arange(5, dtype=np.int16)})
    (tmp_path / f".{FILE.name}.1-2.part").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("somebody's")
    first[:, 0, AVERAGE] = 1, 3
    second = first.copy()
    second[0, 0, AVERAGE] = 3
    store.sync()
    store.retire([first, second])
    kept = {file.name for state in (first, second) for file in files_of(state)}
    assert {path.name for path in tmp_path.iterdir()} == {*kept, "notes.txt"}
    assert len(kept) == 3
    store.verify(second)
    assert store.stored(second) == sum((tmp_path / file.name).stat().st_size for file in files_of(second))
    (tmp_path / BlockFile(1, 0, AVERAGE, 3).name).write_bytes(b"")
    with pytest.raises(StrategyError, match="block 1, the averages of player 1 after iteration 3"):
        store.verify(first)
