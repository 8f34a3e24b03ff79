"""Faults in a user's own game are explained: the method, what it must return, what it returned, the file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterplay.cli.main import main
from counterplay.errors import GameError
from counterplay.forms import open_game
from counterplay.runs import solve
from counterplay.tree import compile_game

SOURCE = """\
from counterplay import CHANCE, TERMINAL, Game

class Coin:
    def __init__(self, moves=()):
        self.moves = moves

    @property
    def player(self):
        return (CHANCE, 0, TERMINAL)[len(self.moves)]

    def chance(self):
        return [("h", 0.5), ("t", 0.5)]

    def actions(self):
        return ("h", "t")

    def infoset(self):
        return "guess"

    def child(self, action):
        return Coin((*self.moves, action))

    def utilities(self):
        return (1, -1) if self.moves[0] == self.moves[1] else (-1, 1)

class Bugs(Game):
    def root(self):
        return Coin()
"""

PAIRS = "pairs of an outcome and its probability"
ONE_EACH = "utilities must give one number for each of 2 players; got"
FAULTS = [
    pytest.param('return "guess"', "return None",
                 "infoset() must return what the acting player knows, as text, a number or a tuple of them; got None "
                 "(after h); see bugs.py:17", id="infoset None"),
    pytest.param('return "guess"', 'return ["guess"]',
                 "which can be hashed; got ['guess'] (after h); see bugs.py:17", id="infoset list"),
    pytest.param('return "guess"', "return 1 / 0",
                 "infoset() failed with ZeroDivisionError: division by zero (after h); see bugs.py:18", id="raises"),
    pytest.param("    @property\n    def player", "\n    def player",
                 "player must be a property, not a method: write @property above def player(self) (the root); see "
                 "bugs.py:8", id="player a method"),
    pytest.param("    def player", "    def players",
                 "a state must have player (0 .. 1, CHANCE or TERMINAL); Coin has none (the root); see bugs.py:3",
                 id="no player"),
    pytest.param("    def actions", "    @property\n    def actions",
                 "actions must be a method: def actions(self), without @property; got ('h', 't') (after h); see "
                 "bugs.py:14", id="actions a property"),
    pytest.param('return ("h", "t")', "pass",
                 "actions() must return the legal actions as a list or tuple; got None (after h); see bugs.py:14",
                 id="actions None"),
    pytest.param('return [("h", 0.5), ("t", 0.5)]', 'return {"h": 0.5, "t": 0.5}',
                 f"chance() must return {PAIRS}, not a dict: return list(outcomes.items()); got "
                 "{'h': 0.5, 't': 0.5} (at the root); see bugs.py:11", id="chance dict"),
    pytest.param('return [("h", 0.5), ("t", 0.5)]', 'return {("h", 0.5): 1, ("t", 0.5): 2}',
                 "not a dict: return list(outcomes.items()); got", id="chance dict of pairs"),
    pytest.param('return [("h", 0.5), ("t", 0.5)]', 'return ["h", "t"]',
                 f"chance() must return {PAIRS}, as [('heads', 0.5), ('tails', 0.5)]; got ['h', 't'] (at the root); "
                 "see bugs.py:11", id="chance without probabilities"),
    pytest.param('("t", 0.5)]', '("t", 0.4)]',
                 "chance probabilities sum to 0.9, not to 1 (at the root); see bugs.py:11", id="chance sum"),
    pytest.param("return (1, -1) if", "return 1 if", f"{ONE_EACH} 1 (after h, h); see bugs.py:23", id="number"),
    pytest.param("return (1, -1) if", "return {0: 1, 1: -1} if",
                 f"{ONE_EACH} {{0: 1, 1: -1}} (after h, h); see bugs.py:23", id="utilities dict"),
    pytest.param("return (1, -1) if", "return ('one', -1) if",
                 f"{ONE_EACH} ('one', -1) (after h, h); see bugs.py:23", id="utilities of text"),
    pytest.param("        return Coin((*", "        Coin((*",
                 "child('h') must return the next state, an object with player, actions(), child() and so on; got None "
                 "(after h); see bugs.py:20", id="child None"),
    pytest.param("    def root(self):\n        return Coin()", "    players = 2",
                 "Bugs has no root(); define root(self), which returns the first state (the root); see bugs.py:26",
                 id="no root"),
    pytest.param("        return Coin()\n", "        Coin()\n",
                 "root() must return the first state, an object with player, actions(), child() and so on; got None "
                 "(the root); see bugs.py:27", id="root None"),
    pytest.param("    def infoset", "    def info_set",
                 "Coin has no infoset(), which must return what the acting player knows", id="no infoset"),
]  # fmt: skip


@pytest.mark.parametrize(("good", "bad", "message"), FAULTS)
def test_faults_name_the_method_and_the_line(
    good: str, bad: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert SOURCE.count(good) == 1
    (tmp_path / "bugs.py").write_text(SOURCE.replace(good, bad))
    assert main(["solve", "bugs.py:Bugs", "--quiet"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("counterplay: bugs.py:Bugs: ")
    assert message in said
    with pytest.raises(GameError) as caught:  # an object says the same as the name
        compile_game(open_game("bugs.py:Bugs", "states"))
    assert message in str(caught.value)


SEEN_BY_WALKS = [one for one in FAULTS if one.id not in ("chance sum", "utilities dict", "child None")]


@pytest.mark.parametrize(("good", "bad", "message"), SEEN_BY_WALKS)
def test_faults_are_explained_where_states_are_walked(
    good: str, bad: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bugs.py").write_text(SOURCE.replace(good, bad))
    with pytest.raises(GameError) as caught:
        solve("bugs.py:Bugs", "external-sampling", representation="states", iterations=20)
    what, _, place = message.partition(" (after" if " (after" in message else " (the root)")
    assert what.partition(" (at the root)")[0] in str(caught.value)
    assert place.partition("; ")[2] in str(caught.value)


def test_the_game_without_faults_is_solved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bugs.py").write_text(SOURCE)
    assert compile_game("bugs.py:Bugs").num_histories == 7
    (tmp_path / "bugs.py").write_text(SOURCE.replace("class Bugs", "int('x')\n\nclass Bugs"))
    with pytest.raises(GameError, match=r"cannot be imported: ValueError: invalid literal .*; see bugs.py:26"):
        compile_game("bugs.py:Bugs")
