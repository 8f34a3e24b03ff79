"""Headers against their schemas: what is missing or wrong is named, and what fits is accepted."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np
import pytest

from counterplay.agents.tournaments import TournamentConfig, _read_settings
from counterplay.build.build_state import STAGES, BuildState
from counterplay.errors import CounterplayError, StrategyError
from counterplay.runtime.header_checks import check_header
from counterplay.storage import read_container, write_container
from torture.forged_files import changed_values


@dataclasses.dataclass
class Inner:
    name: str
    weight: float = 1.0


class Outer(TypedDict):
    count: int
    inner: Inner
    pair: tuple[str, float]
    listed: list[list[str]]
    table: dict[str, float | None]
    flag: NotRequired[bool]
    kind: NotRequired[Literal["a", "b"]]


GOOD: dict[str, Any] = {
    "count": 3, "inner": {"name": "x"}, "pair": ["a", 1], "listed": [["a"], []], "table": {"a": None, "b": 0.5},
    "kind": "b", "unknown": [[[]]],
}  # fmt: skip


def test_what_fits_is_accepted() -> None:
    check_header("file", GOOD, Outer)
    check_header("file", {**GOOD, "flag": False, "inner": {"name": "", "weight": 2}}, Outer)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": True}, "its value 'count' must be an integer; it is True"),
        ({"count": 2**63}, "its value 'count' must be an integer; it is 9223372036854775808"),
        ({"count": "9" * 100}, "its value 'count' must be an integer; it is '99999"),
        ({"inner": 3}, "its value 'inner' must be a table of names and values"),
        ({"inner": {}}, "its value 'inner.name' is missing"),
        ({"inner": {"name": "x", "weight": "1"}}, "its value 'inner.weight' must be a number; it is '1'"),
        ({"pair": ["a"]}, "its value 'pair' must have 2 items; it has 1"),
        ({"pair": ["a", None]}, r"its value 'pair\[1\]' must be a number; it is None"),
        ({"listed": [["a", 1]]}, r"its value 'listed\[0\]\[1\]' must be a text; it is 1"),
        ({"listed": {}}, "its value 'listed' must be a list; it is {}"),
        ({"table": {"a": []}}, r"its value 'table.a' must be a number; it is \[\]"),
        ({"table": []}, r"its value 'table' must be a table; it is \[\]"),
        ({"flag": 1}, "its value 'flag' must be true or false; it is 1"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StrategyError, match=f"^file is damaged: {message}"):
        check_header("file", {**GOOD, **changes}, Outer)


def test_tournaments_edited_by_hand(tmp_path: Path) -> None:
    """Every value of ``tournament.json`` replaced: a library error, or the settings."""
    config = TournamentConfig("kuhn", ("uniform", "x=uniform"), 10)
    good = {"tournament": dataclasses.asdict(config), "fingerprints": {"x": "ab"}}
    path = tmp_path / "tournament.json"
    refused = 0
    for name, forged in [("", good), *changed_values(json.loads(json.dumps(good)))]:
        path.write_text(json.dumps(forged), encoding="utf-8")
        try:
            found = _read_settings(path)
        except CounterplayError:
            refused += 1
        else:
            assert found is not None, name
            assert isinstance(found[0].entries, tuple)
    assert refused > 90
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(CounterplayError, match="cannot be read as a tournament"):
        _read_settings(path)


@pytest.mark.parametrize("shape", [(0, 2**62), (2**62, 0, 4), (0,) * 70, (1,) * 70], ids=["0", "1", "2", "3"])
def test_shapes_that_arrays_cannot_have(tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = tmp_path / "x"
    write_container(path, "test", {}, {"a": np.zeros(shape[:1] if 1 in shape else (0,))})
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    old = b'"shape":[1]' if 1 in shape else b'"shape":[0]'
    table = content[8 : 8 + length].replace(old, f'"shape":{list(shape)}'.encode())
    path.write_bytes(len(table).to_bytes(8, "little") + table + content[8 + length :])
    with pytest.raises(StrategyError, match="x is damaged: array 'a' has"):
        read_container(path, "test")


def test_builds_edited_by_hand() -> None:
    """Every value of ``build.json`` that stages read has its type."""
    stage = {"seconds": 1.0, "cpu_seconds": 1.0}
    solve = {**stage, "iterations": 5, "curve": [{**stage, "iterations": 5, "exploitability": None}], "goals": [5.0]}
    check_header("file", {"plan": {}, "done": {"solve": solve}, "parts": {"solve": {"goals": [1]}}}, BuildState)
    check_header("file", solve, STAGES["solve"])
    for name in solve:
        for wrong in ("x", [3, "y"], {"z": 1}):
            with pytest.raises(StrategyError, match=f"file is damaged: its value '{name}"):
                check_header("file", {**solve, name: wrong}, STAGES["solve"])
