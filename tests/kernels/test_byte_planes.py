"""Tables as bytes: equal to the twin, and back to the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.kernels.byte_planes import gather_bytes, spread_bytes
from tests.reference.byte_planes import planes

KINDS = [np.int16, np.int32, np.int64]


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)  # the first call compiles
@given(data=st.data())
def test_bytes_are_those_of_the_twin(kind: Any, data: st.DataObject) -> None:
    info = np.iinfo(kind)
    numbers = data.draw(st.lists(st.integers(info.min, info.max) | st.sampled_from((0, 1, -1, info.min, info.max))))
    table = np.array(numbers, kind)
    found = np.zeros(table.nbytes, np.uint8)
    spread_bytes(table, found)
    assert found.tobytes() == planes(numbers, table.itemsize)
    back = np.full(len(table), 7, kind)
    gather_bytes(found, back)
    assert back.tolist() == numbers


@pytest.mark.parametrize("kind", KINDS)
def test_long_tables_come_back(kind: Any) -> None:
    """Longer than what is turned at once."""
    info = np.iinfo(kind)
    table = np.random.default_rng(5).integers(info.min, info.max, 10_001, kind, endpoint=True)
    found, back = np.zeros(table.nbytes, np.uint8), np.zeros_like(table)
    spread_bytes(table, found)
    gather_bytes(found, back)
    assert np.array_equal(back, table)
