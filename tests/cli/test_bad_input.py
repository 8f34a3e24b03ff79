"""Bad input is refused in one line that shows what is wrong, by the library and by the command line alike."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from counterplay.cli.main import main
from counterplay.errors import CounterplayError, GameError, SolverError
from counterplay.game import make
from counterplay.solvers import make_solver
from counterplay.tree import compile_game

MISUSE = 2

Capture = pytest.CaptureFixture[str]


def told(capsys: Capture, *words: str) -> str:
    """The one line that a command prints when it refuses, after checking that it is all there is."""
    capsys.readouterr()
    assert main(list(words)) == MISUSE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("counterplay: ")
    assert printed.err.endswith("\n")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err
    return printed.err.removeprefix("counterplay: ").removesuffix("\n")


def refused(capsys: Capture, spec: str, kind: type[CounterplayError] = GameError) -> str:
    """What is said about a game that cannot be made or compiled; library and command line say the same."""
    with pytest.raises(kind) as caught:
        compile_game(make(spec))
    assert type(caught.value) is kind
    message = str(caught.value)
    assert told(capsys, "info", spec) == message
    assert told(capsys, "solve", spec, "--quiet") == message
    return message


# ---------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param("ledcu", "unknown game 'ledcu'; did you mean 'leduc'?", id="unknown game"),
        pytest.param("zzzzzz", "unknown game 'zzzzzz'; `counterplay games` lists all of them", id="nothing like it"),
        pytest.param(
            "leduc(rank=4)",
            "leduc has no parameter 'rank' (did you mean 'ranks'?); it takes players, ranks, ",
            id="unknown parameter",
        ),
        pytest.param("matching_pennies(n=1)", "it takes no parameters", id="no parameters"),
        pytest.param("leduc(ranks=x)", "parameter 'ranks' of leduc must be an integer; got 'x'", id="int"),
        pytest.param("leduc(ranks=4.0)", "parameter 'ranks' of leduc must be an integer; got '4.0'", id="decimal"),
        pytest.param("leduc(ranks=)", "parameter 'ranks' of leduc must be an integer; got ''", id="empty"),
        pytest.param("leduc(suited=maybe)", "'suited' of leduc must be true or false; got 'maybe'", id="bool"),
        pytest.param("leduc(players=1)", "leduc: players must be at least 2; got 1", id="too few players"),
        pytest.param("leduc(ranks=1,suits=2)", "leduc: 2 cards are too few for 2 players", id="too few cards"),
        pytest.param("leduc(suited=true,physical_board=true)", "choose suited or physical_board", id="both"),
        pytest.param("kuhn(players=1)", "players must be at least 2; got 1", id="kuhn alone"),
        pytest.param('matrix(rows="1,2;3")', "matrix: rows must be rows of numbers", id="ragged matrix"),
        pytest.param('matrix(rows="1,x")', "got '1,x'", id="matrix of words"),
        pytest.param('matrix(rows="1,2",columns="1;2")', "rows has shape (1, 2) but columns has shape", id="shapes"),
        pytest.param("leduc(ranks=4", "cannot read the game name 'leduc(ranks=4'", id="not closed"),
        pytest.param("nowhere.efg", "there is no file 'nowhere.efg'", id="missing .efg"),
        pytest.param("nowhere.py:Game", "there is no file 'nowhere.py'", id="missing .py"),
    ],
)
def test_names_and_parameters(capsys: Capture, spec: str, message: str) -> None:
    assert message in refused(capsys, spec)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param({"ranks": True}, "must be an integer; got True", id="bool for int"),
        pytest.param({"ranks": 4.0}, "must be an integer; got 4.0", id="float for int"),
        pytest.param({"ranks": None}, "must be an integer; got None", id="None for int"),
        pytest.param({"suited": 1}, "must be true or false; got 1", id="int for bool"),
        pytest.param({"colour": 1}, "leduc has no parameter 'colour'", id="unknown"),
    ],
)
def test_parameters_of_wrong_types_from_python(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(GameError, match=re.escape(message)):
        make("leduc", **parameters)


# ---------------------------------------------------------------------------------------------- faulty games

HEAD = '''
"""A game with a fault."""

import dataclasses
from math import inf, nan

from counterplay import CHANCE, TERMINAL, Game, chance, decision, terminal


class Node:
    """A state made of whatever is given; what is given as an exception is raised."""

    def __init__(self, player, **answers):
        self.player, self.answers = player, answers

    def _answer(self, name):
        answer = self.answers[name]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def actions(self):
        return self._answer("actions")

    def chance(self):
        return self._answer("chance")

    def infoset(self):
        return self._answer("infoset")

    def utilities(self):
        return self._answer("utilities")

    def child(self, action):
        return self._answer("children")[action]


class Loop(Node):
    """A state that every action leads back to."""

    def child(self, action):
        return self


end = terminal(1, -1)
'''


def game_file(folder: Path, root: str, attributes: str = "players = 2") -> str:
    """The name of a game whose ``root`` is the given expression."""
    path = folder / "bad.py"
    path.write_text(f"{HEAD}\n\nclass Bad(Game):\n    {attributes}\n\n    def root(self):\n        return {root}\n")
    return f"{path}:Bad"


def below(node: str) -> str:
    """A root with the faulty node under its action ``l``."""
    return f"decision(0, 'top', {{'l': {node}, 'r': end}})"


def two(first: str, second: str) -> str:
    return f"decision(0, 'top', {{'l': decision(1, 'i', {first}), 'r': decision(1, 'i', {second})}})"


@pytest.mark.parametrize(
    ("root", "message"),
    [
        pytest.param(
            "chance({'a': (0.5, end), 'b': (0.4, end)})",
            "chance probabilities sum to 0.9, not to 1 (at the root)",
            id="sum of 0.9",
        ),
        pytest.param(
            below("decision(1, 'i', {'x': chance({'a': (0.9, end)})})"),
            "chance probabilities sum to 0.9, not to 1 (after l, x)",
            id="sum of 0.9 further on",
        ),
        pytest.param("chance({})", "chance probabilities sum to 0, not to 1 (at the root)", id="no outcomes"),
        pytest.param(
            "chance({'a': (-0.5, end), 'b': (1.5, end)})",
            "chance probabilities must lie in [0, 1]; got [-0.5, 1.5] (at the root)",
            id="negative probability",
        ),
        pytest.param(
            "chance({'a': (nan, end), 'b': (1, end)})",
            "chance probabilities must lie in [0, 1]; got [nan, 1.0] (at the root)",
            id="nan probability",
        ),
        pytest.param(
            "chance({'a': (inf, end), 'b': (0, end)})",
            "chance probabilities must lie in [0, 1]; got [inf, 0.0] (at the root)",
            id="infinite probability",
        ),
        pytest.param(
            two("{'a': end, 'b': end}", "{'a': end, 'c': end}"),
            "the actions at information set 'i' differ: ['a', 'c'] (after r) but ['a', 'b'] earlier; "
            "the player could distinguish the two",
            id="other actions",
        ),
        pytest.param(
            two("{'a': end, 'b': end}", "{'b': end, 'a': end}"),
            "the actions at information set 'i' differ: ['b', 'a'] (after r) but ['a', 'b'] earlier",
            id="other order",
        ),
        pytest.param(
            two("{'a': end, 'b': end}", "{'a': end}"),
            "the actions at information set 'i' differ: ['a'] (after r) but ['a', 'b'] earlier",
            id="fewer actions",
        ),
        pytest.param(
            below("terminal(nan, 0)"), "utilities must be finite and at most 1e+100; got [nan, 0.0] (after l)", id="nan"
        ),
        pytest.param(
            below("terminal(0, inf)"),
            "utilities must be finite and at most 1e+100; got [0.0, inf] (after l)",
            id="infinite",
        ),
        pytest.param(below("terminal(-inf, inf)"), "got [-inf, inf] (after l)", id="both infinite"),
        pytest.param(
            "terminal(nan, 0)",
            "utilities must be finite and at most 1e+100; got [nan, 0.0] (after the root)",
            id="nan at once",
        ),
        pytest.param(
            below("terminal(1)"),
            "utilities must give one number for each of 2 players; got (1.0,) (after l)",
            id="too few utilities",
        ),
        pytest.param(
            below("terminal(1, 2, 3)"),
            "utilities must give one number for each of 2 players; got (1.0, 2.0, 3.0) (after l)",
            id="too many utilities",
        ),
        pytest.param("terminal(1)", "for each of 2 players; got (1.0,) (the root)", id="too few at once"),
        pytest.param(
            below("Node(TERMINAL, utilities=None)"), "for each of 2 players; got None (after l)", id="no utilities"
        ),
        pytest.param(
            below("Node(2)"), "player must be 0 .. 1, CHANCE or TERMINAL; got 2 (after l)", id="player too high"
        ),
        pytest.param(below("Node(-5)"), "player must be 0 .. 1, CHANCE or TERMINAL; got -5 (after l)", id="player -5"),
        pytest.param(
            below("Node('first')"), "player must be 0 .. 1, CHANCE or TERMINAL; got 'first' (after l)", id="player text"
        ),
        pytest.param(
            below("Node(0.5)"), "player must be 0 .. 1, CHANCE or TERMINAL; got 0.5 (after l)", id="player a fraction"
        ),
        pytest.param(
            "Node('first')",
            "player must be 0 .. 1, CHANCE or TERMINAL; got 'first' (the root)",
            id="player text at once",
        ),
        pytest.param(
            "Loop(0, actions=('on',), infoset='here')",
            "a history has more than 10,000 moves (it starts on on on on on on on on ...); "
            "the game seems never to end: look for a cycle, or raise max_depth",
            id="cycle",
        ),
        pytest.param(
            "Loop(0, actions=('x', 'y'), infoset='here')",
            "a history has more than 10,000 moves (it starts x x x x x x x x ...); the game seems never to end",
            id="cycle that branches",
        ),
        pytest.param(
            "Loop(CHANCE, chance=[(face, 1 / 6) for face in range(6)])",
            "a history has more than 10,000 moves (it starts 0 0 0 0 0 0 0 0 ...); the game seems never to end",
            id="cycle of chance",
        ),
        pytest.param(
            below("Node(1, infoset='i', actions=('a', 'fold'), children={'a': end})"),
            "child() failed with KeyError: 'fold' (after l, fold); see ",
            id="KeyError in child",
        ),
        pytest.param(
            below("Node(1, infoset=KeyError('hand'), actions=('a',))"),
            "infoset() failed with KeyError: 'hand' (after l); see ",
            id="KeyError in infoset",
        ),
        pytest.param(
            below("Node(TERMINAL, utilities=KeyError('pot'))"),
            "utilities() failed with KeyError: 'pot' (after l); see ",
            id="KeyError in utilities",
        ),
        pytest.param("{}['deck']", "root() failed with KeyError: 'deck' (the root); see ", id="KeyError in root"),
        pytest.param(
            below("Node(1, infoset=ValueError('two\\nlines'), actions=('a',))"),
            "infoset() failed with ValueError: two",
            id="message of two lines",
        ),
        pytest.param(below("decision(1, 'i', {})"), "information set 'i' has no actions (after l)", id="no actions"),
        pytest.param(
            below("Node(1, infoset='i', actions=('a', 'b', 'a'), children={'a': end, 'b': end})"),
            "information set 'i' has equal actions: ['a', 'b', 'a']",
            id="duplicate actions",
        ),
        pytest.param(
            below("decision(1, 'i', {1: end, '1': end})"),
            "information set 'i' has equal actions: [1, '1']",
            id="actions with equal text",
        ),
        pytest.param(
            "decision(0, 1, {'l': decision(0, '1', {'a': end}), 'r': end})",
            "two information sets of player 1 are both written '1' (1 and '1'); give them keys with different text",
            id="information sets with equal text",
        ),
        pytest.param(below("Node(1, infoset=[], actions=('a',))"), "can be hashed; got [] (after l)", id="bad key"),
    ],
)
def test_games_that_contradict_themselves(capsys: Capture, tmp_path: Path, root: str, message: str) -> None:
    spec = game_file(tmp_path, root)
    with pytest.raises(GameError) as caught:
        compile_game(make(spec))
    assert type(caught.value) is GameError
    said = " ".join(str(caught.value).split())
    assert said.startswith(f"{spec}: ")
    assert message in said
    assert told(capsys, "info", spec) == said
    assert told(capsys, "solve", spec, "--quiet") == said


@pytest.mark.parametrize(
    ("root", "attributes", "message"),
    [
        pytest.param(
            below("terminal(1, 1)"),
            "players = 2; zero_sum = True",
            "declared zero-sum, but utilities are [1.0, 1.0] (after l)",
            id="not zero-sum",
        ),
        pytest.param(
            "terminal(1, 1)",
            "players = 2; zero_sum = True",
            "declared zero-sum, but utilities are [1.0, 1.0] (after the root)",
            id="not zero-sum at once",
        ),
        pytest.param(
            "end", "players = 'two'", "players must be an integer from 1 to 100; got 'two'", id="players text"
        ),
        pytest.param("end", "players = 0", "players must be an integer from 1 to 100; got 0", id="no players"),
    ],
)
def test_games_that_declare_what_is_not_so(
    capsys: Capture, tmp_path: Path, root: str, attributes: str, message: str
) -> None:
    spec = game_file(tmp_path, root, attributes)
    assert refused(capsys, spec) == f"{spec}: {message}"


def test_rules_that_raise_keep_the_cause(tmp_path: Path) -> None:
    spec = game_file(tmp_path, below("Node(1, infoset=KeyError('hand'), actions=('a',))"))
    with pytest.raises(GameError) as caught:
        compile_game(spec)
    assert isinstance(caught.value.__cause__, KeyError)


# ---------------------------------------------------------------------------------------------- users' files


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("class G(", "{path} cannot be imported: SyntaxError: ", id="syntax"),
        pytest.param("import not_there_at_all", "{path} cannot be imported: ModuleNotFoundError: ", id="import"),
        pytest.param("1 / 0", "{path} cannot be imported: ZeroDivisionError: division by zero", id="raises"),
        pytest.param("raise SystemExit(0)", "{path} cannot be imported: SystemExit: 0", id="exits"),
        pytest.param("a\0b", "{path} cannot be imported: ", id="not text"),
        pytest.param("x = 1", "{path} must name its game, as {path}:CLASS; Game subclasses there: none", id="no Game"),
        pytest.param(
            "from counterplay import Game",
            "{path} must name its game, as {path}:CLASS; Game subclasses there: none",
            id="only the base class",
        ),
        pytest.param(
            "from counterplay import Game\nclass A(Game): ...\nclass B(Game): ...",
            "{path} must name its game, as {path}:CLASS; Game subclasses there: A, B",
            id="two Games",
        ),
    ],
)
def test_users_files(capsys: Capture, tmp_path: Path, source: str, message: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source)
    assert message.format(path=path) in refused(capsys, str(path))


def test_a_class_that_is_not_in_the_file(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("from counterplay import Game\nclass A(Game): ...\nclass B: ...")
    assert refused(capsys, f"{path}:C") == f"{path} has no Game subclass named 'C'; it has A"
    assert refused(capsys, f"{path}:B") == f"{path} has no Game subclass named 'B'; it has A"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param("rake=much", "parameter 'rake' of {spec} must be a number; got 'much'", id="float"),
        pytest.param("cards=many", "parameter 'cards' of {spec} must be an integer; got 'many'", id="int"),
        pytest.param("open=ajar", "parameter 'open' of {spec} must be true or false; got 'ajar'", id="bool"),
        pytest.param("hands=2", "{spec} has no parameter 'hands'; it takes cards, rake, open", id="unknown"),
    ],
)
def test_parameters_of_users_files(capsys: Capture, tmp_path: Path, parameters: str, message: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import dataclasses\nfrom counterplay import Game\n\n\n@dataclasses.dataclass(frozen=True)\n"
        "class G(Game):\n    cards: int = 3\n    rake: float = 0.1\n    open: bool = False\n"
    )
    spec = f"{path}:G"
    assert refused(capsys, f"{spec}({parameters})") == message.format(spec=spec)


def test_a_game_that_cannot_be_made(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("from counterplay import Game\n\n\nclass G(Game):\n    def __init__(self):\n        {}['deck']\n")
    assert told(capsys, "info", f"{path}:G") == f"{path}:G cannot be made: KeyError: 'deck'; see {path}:6"


def test_an_efg_file_with_a_fault(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "bad.efg"
    path.write_text('EFG 2 R "t" { "A" "B" }\nc "" 1 "" { "a" 0.5 "b" 0.4 } 0\n')
    assert refused(capsys, str(path)).startswith(f"{path}, line 2, column 11: expected probabilities that sum to 1")


# ---------------------------------------------------------------------------------------------- strategy files


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["silly"], "there is no command 'silly'; there are list, games, algorithms, ", id="verb"),
        pytest.param(["info"], "Missing argument 'GAME'", id="info of nothing"),
        pytest.param(["solve"], "name a game to solve (counterplay games lists them), or a checkpoint", id="solve"),
        pytest.param(["solve", "kuhn", "--silly"], "--silly", id="option"),
        pytest.param(
            ["solve", "kuhn", "--iterations", "x"],
            "'--iterations': it should be a valid integer; got 'x'",
            id="iterations x",
        ),
        pytest.param(["solve", "kuhn", "--iterations", "0"], "iterations must be a positive integer; got 0", id="0"),
        pytest.param(["solve", "kuhn", "--seconds", "nan"], "seconds must be a positive number; got nan", id="seconds"),
        pytest.param(["solve", "kuhn", "--until", "-1"], "until must be a positive exploitability; got '-1'", id="-1"),
        pytest.param(
            ["solve", "kuhn", "--until", "soon"], "an exploitability such as 1e-4 or 0.5mbb; got 'soon'", id="soon"
        ),
        pytest.param(
            ["solve", "rock_paper_scissors", "--until", "1mbb"],
            "rock_paper_scissors has no big blind; give until in the game's chips instead of '1mbb'",
            id="no big blind",
        ),
        pytest.param(
            ["solve", "kuhn", "-a", "cfr++"], "unknown algorithm 'cfr++'; did you mean 'cfr+'?", id="algorithm"
        ),
        pytest.param(
            ["solve", "kuhn", "--profile", "worst"],
            "profile must be one of average, last, best; got 'worst'",
            id="profile",
        ),
        pytest.param(["solve", "kuhn", "--set", "delay"], "--set takes NAME=VALUE", id="setting without a value"),
        pytest.param(["solve", "kuhn", "--set", "lag=1"], "cfr+ has no setting 'lag'; its settings are ", id="setting"),
        pytest.param(["solve", "kuhn", "--set", "form=1"], "cfr+ has no setting 'form'", id="a word of the library"),
        pytest.param(["solve", "kuhn", "--set", "algorithm=lp"], "algorithm is an option of its own", id="an option"),
        pytest.param(["solve", "kuhn", "--set", "delay=soon"], "delay must be an integer", id="delay"),
        pytest.param(["solve", "kuhn", "--set", "gamma=inf"], "gamma must be a finite number; got inf", id="gamma"),
        pytest.param(
            ["solve", "kuhn", "--set", "storage=float16"], "storage must be one of auto, float64", id="storage"
        ),
        pytest.param(
            ["info", "kuhn", "--memory-limit", "lots"], "written like 500MiB or 2GiB; got 'lots'", id="memory"
        ),
        pytest.param(["info", "kuhn", "--memory-limit", "0GiB"], "written like 500MiB or 2GiB; got '0GiB'", id="none"),
        pytest.param(["evaluate"], "name a strategy file, or give --strategy uniform with --game", id="evaluate"),
        pytest.param(
            ["evaluate", "--strategy", "uniform"],
            "the strategy 'uniform' is measured in a game; name one",
            id="no game",
        ),
        pytest.param(["evaluate", "x", "--strategy", "uniform"], "name a strategy file, or give --strategy", id="both"),
        pytest.param(
            ["evaluate", "--strategy", "silly", "--game", "kuhn"],
            "there is no strategy 'silly'; there are always-fold, always-call, always-raise, 50/50, uniform, tight, ",
            id="silly",
        ),
    ],
)
def test_misuse_of_the_command_line(capsys: Capture, words: list[str], message: str) -> None:
    assert message in told(capsys, *words)


def test_settings_of_wrong_types_from_python() -> None:
    for changes, message in (
        ({"delay": 1.5}, "delay must be an integer, at least 0 and below 2^63; got 1.5"),
        ({"alternating": "yes"}, "alternating must be true or false; got 'yes'"),
        ({"alpha": "much"}, "alpha must be a finite number; got 'much'"),
        ({"gamma": None}, "gamma must be a finite number; got None"),
    ):
        with pytest.raises(SolverError, match=re.escape(message)):
            make_solver("kuhn", "cfr+", **changes)
