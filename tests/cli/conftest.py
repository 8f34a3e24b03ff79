"""Fixtures of the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterplay.strategy import TabularStrategy
from counterplay.tree import compile_game


@pytest.fixture
def strategy(tmp_path: Path) -> Path:
    """A good strategy file of Kuhn poker."""
    path = tmp_path / "kuhn.strategy"
    TabularStrategy.uniform(compile_game("kuhn")).save(path)
    return path
