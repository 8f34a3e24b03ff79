"""Definitions of poker that nobody plays: boards in the first round, and no-limit betting without stacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.cli.main import main
from tests.cli.test_bad_input import Capture, told

TEXT = """GAMEDEF
{kind}
numPlayers = 2
numRounds = {rounds}
blind = {blind}
firstPlayer = {first}
numSuits = 2
numRanks = 3
numHoleCards = {hole}
numBoardCards = {board}
{more}
END GAMEDEF
"""


@pytest.mark.parametrize(
    ("kind", "blind", "first", "hole", "board", "more"),
    [
        pytest.param("limit", "1 1", "1", 1, "1", "raiseSize = 2\nmaxRaises = 2", id="one card"),
        pytest.param("limit", "1 1", "1", 2, "1", "raiseSize = 2\nmaxRaises = 2", id="two hole cards"),
        pytest.param("limit", "1 2", "2 1", 1, "1 1", "raiseSize = 2 4\nmaxRaises = 1 1", id="a card in each round"),
        pytest.param("limit", "1 1", "1 1", 1, "2 1", "raiseSize = 2 2\nmaxRaises = 1 1", id="two cards, then one"),
        pytest.param("nolimit", "1 2", "2", 1, "1", "stack = 6 6", id="no-limit"),
    ],
)
def test_boards_of_the_first_round(
    tmp_path: Path, kind: str, blind: str, first: str, hole: int, board: str, more: str
) -> None:
    path = tmp_path / "x.game"
    rounds = len(board.split())
    path.write_text(TEXT.format(kind=kind, rounds=rounds, blind=blind, first=first, hole=hole, board=board, more=more))
    found = [cp.solve(str(path), "cfr+", iterations=30, representation=form) for form in ("history", "public")]
    assert found[1].exploitability == pytest.approx(found[0].exploitability, rel=1e-9)
    assert found[1].value == pytest.approx(found[0].value, abs=1e-9)
    measured = cp.evaluate(found[1].profile, str(path))
    assert measured.exploitability == pytest.approx(found[0].exploitability, rel=1e-9)


ANY = "a player can raise to any of 2,147,483,644 amounts; give the game stacks, or choose sizes with --bets"


@pytest.fixture
def endless(tmp_path: Path) -> str:
    """A no-limit game whose definition has no stacks."""
    path = tmp_path / "endless.game"
    path.write_text(TEXT.format(kind="nolimit", rounds=2, blind="1 2", first="1 1", hole=1, board="0 1", more=""))
    return str(path)


@pytest.mark.parametrize("verb", ["draw", "dominated"])
def test_no_stacks_are_too_many_raises(capsys: Capture, endless: str, verb: str) -> None:
    assert told(capsys, verb, endless) == ANY


def test_solve_without_stacks_says_what_to_do(capsys: Capture, endless: str) -> None:
    said = told(capsys, "solve", endless)
    assert said.startswith(f"the public tree of {endless} is too large; build an agent (counterplay build {endless} ")


def test_info_without_stacks(capsys: Capture, endless: str) -> None:
    assert main(["info", endless]) == 0
    assert f"too large: {ANY}" in capsys.readouterr().out


def test_matches_without_stacks(capsys: Capture, endless: str) -> None:
    assert main(["match", "always-raise", "always-fold", "--game", endless, "--deals", "10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["hands"], found["deals"]) == (20, 10)
