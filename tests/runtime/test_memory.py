"""The one memory check, what is free, and how byte counts are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterplay.errors import MemoryLimitError
from counterplay.runtime import memory
from counterplay.runtime.memory import available_memory, check_memory, format_bytes, return_memory


def test_what_fits_is_allowed_and_what_does_not_is_refused() -> None:
    check_memory("a table", 100, 100)
    with pytest.raises(MemoryLimitError) as caught:
        check_memory("a table", 3 << 20, 1 << 20, "take a smaller one")
    assert str(caught.value) == "a table needs about 3.0 MiB, but only 1.0 MiB may be used; take a smaller one"


def test_without_a_limit_free_memory_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 2048)
    check_memory("a table", 2048, None)
    with pytest.raises(MemoryLimitError, match=r"but only 2\.0 KiB may be used"):
        check_memory("a table", 2049, None)
    check_memory("a table", 2049, 4096)  # a limit that is given is believed


def test_the_limit_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = (str(tmp_path / "memory.max"), str(tmp_path / "memory.current"), "inactive_file")
    monkeypatch.setattr(memory, "CONTROL_GROUPS", (names,))
    free = memory.available_memory()
    assert free > 10_000
    (tmp_path / "memory.current").write_text("6000\n")
    (tmp_path / "memory.stat").write_text("anon 4500\ninactive_file 1500\n")
    for limit, expected in (("10000\n", 5500), ("1000\n", 0)):
        (tmp_path / "memory.max").write_text(limit)
        assert memory.available_memory() == expected
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_memory() > 10_000


@pytest.mark.parametrize(
    ("count", "text"),
    [
        pytest.param(0, "0 B", id="nothing"),
        pytest.param(1023, "1023 B", id="bytes"),
        pytest.param(1536, "1.5 KiB", id="kibibytes"),
        pytest.param(3 << 30, "3.0 GiB", id="gibibytes"),
        pytest.param(5 << 60, "5.0 EiB", id="exbibytes"),
    ],
)
def test_bytes_are_written_for_people(count: int, text: str) -> None:
    assert format_bytes(count) == text


def test_bytes_beyond_all_bounds_are_written_shortly() -> None:
    text = format_bytes(1e200)
    assert text.endswith(" EiB")
    assert float(text.split()[0]) == pytest.approx(1e200 / 2**60, rel=0.05)
    assert len(text) <= 16


def test_freed_memory_can_be_returned() -> None:
    return_memory()
    assert available_memory() > 0
