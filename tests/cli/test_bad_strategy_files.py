"""Strategy files and checkpoints that are damaged, foreign or missing are refused in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from counterplay.errors import StrategyError
from counterplay.solvers import CfrSolver
from counterplay.strategy import TabularStrategy
from counterplay.strategy.files import load_strategy
from counterplay.tree import compile_game
from tests.cli.test_bad_input import Capture, below, game_file, told


def load_failure(path: Path) -> str:
    """What the library says about a strategy file that it must refuse."""
    with pytest.raises(StrategyError) as caught:
        load_strategy(path)
    message = str(caught.value)
    assert message.startswith(str(path)) or str(path) in message
    assert "\n" not in message
    return message


def unreadable(capsys: Capture, path: Path) -> str:
    """The same, and the command line says it too."""
    message = load_failure(path)
    assert told(capsys, "evaluate", str(path)) == message
    return message


def test_truncated_files(capsys: Capture, strategy: Path) -> None:
    content = strategy.read_bytes()
    for length in range(len(content)):
        strategy.write_bytes(content[:length])
        assert f"{strategy} is damaged" in load_failure(strategy), length
    for length in range(0, len(content), 101):
        strategy.write_bytes(content[:length])
        assert f"{strategy} is damaged" in unreadable(capsys, strategy), length


@pytest.mark.parametrize("flip", [0x01, 0x1C, 0x20, 0x80, 0xFF], ids=hex)
def test_a_flipped_byte_anywhere(strategy: Path, flip: int) -> None:
    content = strategy.read_bytes()
    accepted, crashed = [], []
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= flip
        strategy.write_bytes(damaged)
        around = content[max(0, position - 12) : position + 4]
        try:
            load_strategy(strategy)
            accepted.append((position, around))
        except StrategyError:
            pass
        except Exception as error:
            crashed.append((position, around, repr(error)))
    assert accepted == []
    assert crashed == []


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def change(content: bytes) -> bytes:
        assert content.count(old) >= 1
        assert len(old) == len(new)
        return content.replace(old, new, 1)

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(lambda c: c[:-1] + bytes([c[-1] ^ 1]), "is damaged: its content does not match", id="data"),
        pytest.param(replaced(b'\\"players\\": 2', b'\\"players\\": 3'), "does not match its checksum", id="header"),
        pytest.param(
            replaced(b'"F64"', b'"F65"'), "is damaged: array 'probabilities' has an unknown type", id="unknown type"
        ),
        pytest.param(replaced(b'"I64"', b'"U64"'), "is damaged", id="other type"),
        pytest.param(replaced(b'"format":"1"', b'"format":"0"'), "is damaged", id="format 0"),
        pytest.param(replaced(b'"format":"1"', b'"format":"x"'), "is damaged: its format version", id="format x"),
        pytest.param(replaced(b'"format":"1"', b'"farmat":"1"'), "is damaged: its format version", id="no format"),
        pytest.param(
            replaced(b'"format":"1"', b'"format":"2"'),
            "has format 2, written by counterplay",
            id="newer format",
        ),
        pytest.param(replaced(b'"counterplay"', b'"counterploy"'), "is not a counterplay file", id="no kind"),
        pytest.param(lambda c: b"", "is damaged or not a counterplay file", id="empty"),
        pytest.param(lambda c: b"fold, call, raise\n" * 9, "is damaged or not a counterplay file", id="text"),
        pytest.param(lambda c: b"\x89PNG\r\n\x1a\n" + c, "is damaged or not a counterplay file", id="PNG"),
        pytest.param(lambda c: bytes(len(c)), "is damaged or not a counterplay file", id="zeros"),
        pytest.param(lambda c: c + b"x", "is damaged or not a counterplay file", id="longer"),
        pytest.param(
            lambda c: safetensors.numpy.save({"weights": np.zeros(3, np.float32)}),
            "is not a counterplay file; its header does not say so",
            id="other program",
        ),
        pytest.param(
            lambda c: safetensors.numpy.save({"weights": np.zeros(3, np.float16)}),
            "is not a counterplay file",
            id="other program, half precision",
        ),
    ],
)
def test_damaged_and_foreign_files(
    capsys: Capture, strategy: Path, damage: Callable[[bytes], bytes], message: str
) -> None:
    strategy.write_bytes(damage(strategy.read_bytes()))
    said = unreadable(capsys, strategy)
    assert message in said
    assert said.startswith(f"{strategy} ")


def test_files_that_are_not_there(capsys: Capture, tmp_path: Path) -> None:
    assert unreadable(capsys, tmp_path / "nowhere") == f"there is no file {tmp_path / 'nowhere'}"
    assert unreadable(capsys, tmp_path).startswith(f"{tmp_path} is a folder without agent.strategy")


def test_a_strategy_of_another_game(capsys: Capture, strategy: Path) -> None:
    message = "this profile was made for kuhn (12 information sets); it does not fit leduc (288 information sets)"
    assert told(capsys, "evaluate", str(strategy), "--game", "leduc") == message


def test_a_strategy_whose_game_is_gone(capsys: Capture, tmp_path: Path) -> None:
    spec = game_file(tmp_path, below("decision(1, 'i', {'a': end})"))
    path = tmp_path / "x.strategy"
    TabularStrategy.uniform(compile_game(spec)).save(path)
    (tmp_path / "bad.py").unlink()
    assert told(capsys, "evaluate", str(path)).startswith(f"there is no file '{tmp_path / 'bad.py'}'")


def test_a_checkpoint_is_no_strategy_nor_the_other_way(capsys: Capture, tmp_path: Path, strategy: Path) -> None:
    path = tmp_path / "kuhn.checkpoint"
    CfrSolver("kuhn").save(path)
    assert unreadable(capsys, path) == f"{path} is a checkpoint file; a profile file is needed here"
    message = f"{strategy} is a profile file; a checkpoint file is needed here"
    with pytest.raises(StrategyError, match=re.escape(message)):
        CfrSolver.resume(strategy)
    assert told(capsys, "solve", "--resume", str(strategy)) == message


def test_damaged_checkpoints(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "kuhn.checkpoint"
    CfrSolver("kuhn").save(path)
    content = path.read_bytes()
    for damaged in (content[:-1], content[:-1] + b"\x01", b"", content[:100]):
        path.write_bytes(damaged)
        with pytest.raises(StrategyError, match="is damaged") as caught:
            CfrSolver.resume(path)
        assert told(capsys, "solve", "--resume", str(path)) == str(caught.value)


def test_a_checkpoint_of_another_game(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "kuhn.checkpoint"
    CfrSolver("kuhn").save(path)
    message = f"{path} is a checkpoint of kuhn; it does not fit leduc"
    assert told(capsys, "solve", "leduc", "--resume", str(path)) == message


# ---------------------------------------------------------------------------------------------- a full disk
