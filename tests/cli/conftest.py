"""Fixtures of the tests of the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterplay.cli.main import main
from counterplay.strategy import TabularStrategy
from counterplay.tree import compile_game

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]


@pytest.fixture
def strategy(tmp_path: Path) -> Path:
    """A good strategy file of Kuhn poker."""
    path = tmp_path / "kuhn.strategy"
    TabularStrategy.uniform(compile_game("kuhn")).save(path)
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command that must succeed and returns its standard output."""

    def call(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main([str(word) for word in words]) == code
        return capsys.readouterr().out

    return call


@pytest.fixture
def run_json(capsys: pytest.CaptureFixture[str]) -> RunJson:
    """Runs a command with ``--json``; its output must be one JSON object and nothing else."""

    def call(*words: str, code: int = 0) -> dict[str, Any]:
        capsys.readouterr()
        assert main([*(str(word) for word in words), "--json"]) == code
        printed = capsys.readouterr()
        assert printed.err == ""
        assert printed.out.count("\n") == 1
        found = json.loads(printed.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
        assert isinstance(found, dict)
        return found

    return call
