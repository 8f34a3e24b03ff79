"""No file starts code that the user did not name: games in Python, and programs of tournament folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.agents.tournaments import Tournament, TournamentConfig
from counterplay.cli.main import main
from counterplay.errors import CounterplayError, StrategyError
from counterplay.storage import write_container
from counterplay.trusted_code import check_stored, trust, trusting

GAME = """
from pathlib import Path
import counterplay as cp
Path("ran").touch()

class Guess(cp.State):
    player = 0
    def actions(self):
        return ["heads", "tails"]
    def infoset(self):
        return "guess"
    def child(self, action):
        return Over()

class Over(cp.State):
    player = cp.TERMINAL
    def utilities(self):
        return (1, -1)

class Coin(cp.Game):
    players = 2
    def root(self):
        return Guess()
"""


@pytest.fixture(autouse=True)
def nothing_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder with a game that leaves a trace when it is imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("counterplay.trusted_code._trusted", set())
    Path("mine.py").write_text(GAME, encoding="utf-8")


def ran() -> bool:
    """Whether the code was run, since the last question."""
    found = Path("ran").exists()
    Path("ran").unlink(missing_ok=True)
    return found


def kept(name: str = "./mine.py:Coin") -> Path:
    """A strategy file whose header names a game."""
    path = Path("coin.strategy")
    tree = cp.compile_game("kuhn")
    strategy = cp.TabularStrategy.uniform(tree)
    strategy.save(path)
    from counterplay.storage import read_container

    header, arrays = read_container(path, "profile")
    write_container(path, "profile", {**header, "game": name}, dict(arrays))
    return path


NESTED = 'tilted(game="./mine.py:Coin")'
DEEPER = 'tilted(game="tilted(game=\\"./mine.p\\\\y:Coin\\")")'


@pytest.mark.parametrize("name", ["./mine.py:Coin", "mine.py", " ./mine.py:Coin(n=1)", NESTED, DEEPER])
@pytest.mark.parametrize("verb", ["evaluate", "show", "match"])
def test_no_verb_runs_what_a_strategy_names(verb: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [verb, str(kept(name)), *(["uniform"] if verb == "match" else [])]
    assert main(words) == 2
    assert not ran()
    assert "--trust" in capsys.readouterr().err


def test_checkpoints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "kuhn", "--iterations", "5", "--checkpoint", "kuhn.checkpoint", "--quiet"]) == 0
    from counterplay.storage import read_container

    header, arrays = read_container("kuhn.checkpoint", "checkpoint")
    write_container("kuhn.checkpoint", "checkpoint", {**header, "game": "./mine.py:Coin"}, dict(arrays))
    for words in (["solve", "--resume", "kuhn.checkpoint", "--iterations", "9"], ["evaluate", "kuhn.checkpoint"]):
        assert main(words) == 2
        assert not ran()
    capsys.readouterr()
    assert main(["solve", "--resume", "kuhn.checkpoint", "--iterations", "9", "--trust"]) == 2
    assert ran()  # and then it does not fit
    with pytest.raises(StrategyError, match="Python code"):
        cp.resume("kuhn.checkpoint", iterations=9)
    assert not ran()


def test_the_user_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "./mine.py:Coin", "--iterations", "3", "--out", "coin.strategy"]) == 0
    assert "counterplay evaluate coin.strategy --trust  #" in capsys.readouterr().out
    assert ran()
    assert main(["evaluate", "coin.strategy"]) == 2  # another command
    assert not ran()
    for words in (["evaluate", "coin.strategy", "--trust"], ["--trust", "show", "coin.strategy"],
                  ["evaluate", "coin.strategy", "--game", "mine.py:Coin"]):  # fmt: skip
        assert main(words) == 0, words
        assert ran()
    with pytest.raises(StrategyError, match=r"coin\.strategy is about the game .*mine\.py:Coin., which is Python"):
        cp.load("coin.strategy")
    cp.make("mine.py:Coin")
    assert cp.load("coin.strategy").game == "./mine.py:Coin"


def test_a_file_elsewhere_is_not_the_one_named(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.py").write_text(GAME, encoding="utf-8")
    kept()
    assert main(["evaluate", "coin.strategy", "--game", "other/mine.py:Coin"]) == 2
    assert main(["evaluate", "coin.strategy", "--game", str(tmp_path / "mine.py") + ":Coin"]) == 2  # does not fit
    assert ran()


def test_words_are_forgotten_with_the_command() -> None:
    with trusting(["evaluate", "--game=./mine.py:Coin", NESTED]):
        check_stored("mine.py", "a file")
        check_stored(NESTED, "a file")
    for name in ("mine.py", NESTED):
        with pytest.raises(StrategyError):
            check_stored(name, "a file")


def test_what_looks_like_trusted_code() -> None:
    """Names of other files that contain that of a trusted one, and names inside names."""
    trust("./mine.py")
    check_stored("./mine.py:Coin(n=2)", "a file")
    check_stored("gone.py:Coin", "a file")  # there is no such code
    check_stored("leduc(players=3)", "a file")
    for file in ("a=mine.py", "a,mine.py", 'a"mine.py', "theirs.py"):
        Path(file).touch()
        with pytest.raises(StrategyError):
            check_stored(f"./{file}:Coin", "a file")
    for name in (NESTED, DEEPER, "mine.py:Coin(game=./theirs.py:X)", "mine.py:Coin(game=theirs.p\\y:X)"):
        with pytest.raises(StrategyError):
            check_stored(name, "a file")


def test_programs_of_a_tournament_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "agent.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    program.chmod(0o755)
    entries = ("always-call", f"theirs=program:{program}")
    config = TournamentConfig("kuhn_limit_2p", entries, 10)
    with trusting(entries):
        Tournament("cup", config)
    with pytest.raises(StrategyError, match=r"cup/tournament.json would start the program '.*agent.sh'"):
        Tournament("cup")
    assert Tournament("cup", config).config == config  # given in this call
    trust(f"program:{program}")
    Tournament("cup")
    values = json.loads(Path("cup/tournament.json").read_text(encoding="utf-8"))
    values["tournament"]["game"] = "./mine.py:Coin"
    Path("cup/tournament.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(CounterplayError, match="Python code"):
        Tournament("cup")
    assert not ran()
