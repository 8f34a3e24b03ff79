"""``solve holdem`` and ``show``: what they print, what they leave on the disk, what they refuse."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import counterplay
from counterplay.cli.main import main
from counterplay.errors import SolverError
from counterplay.evaluation.figures import read_exploitability
from counterplay.evaluation.inspection import hand_values
from counterplay.poker.postflop.subgame import parse_subgame
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.strategy.files import load_strategy
from counterplay.strategy.hand_colours import action_mix

PNG = b"\x89PNG\r\n\x1a\n"
RIVER = ["solve", "holdem", "--board", "QsJh2h3c8d", "--pot", "50", "--stack", "200", "--oop", "AA,KQs,T9s,77",
         "--ip", "KK,AQs,QJs,65s"]  # fmt: skip


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture(scope="module")
def river(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("river") / "river.strategy"
    assert main([*RIVER, "--until", "0.2%", "--quiet", "--out", str(path)]) == 0
    return path


def test_json_of_a_subgame(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, *RIVER, "--until", "0.2%")
    assert found["status"] == "exploitability"
    assert 0 <= found["exploitability_percent"] <= 0.2
    assert found["exploitability"] == pytest.approx(found["exploitability_percent"] * 50 / 100)
    assert sum(found["value"]) == pytest.approx(50)
    low, high = found["value_bounds"]
    assert low <= found["value"][0] <= high
    assert high - low == pytest.approx(2 * found["exploitability"])


def test_memory_is_told_before_the_solve_and_the_summary_after(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RIVER, "--iterations", "5"]) == 0
    told = capsys.readouterr()
    assert "KiB tree" in told.err
    assert "tables (float64)" in told.err
    for words in ("expected chips", "% of the pot", "all iterations are done"):
        assert words in told.out


def test_the_grid(river: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "grid.png"
    assert main(["show", str(river), "--png", str(picture)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "oop on QsJh2h3c8d" in lines[0]
    assert picture.read_bytes().startswith(PNG)
    rows = lines[3:16]
    assert len(rows) == 13
    found = run_json(capsys, "show", str(river))
    aces = round(100 * sum(found["hands"]["AA"]["frequencies"][1:]))
    assert rows[0].split()[:2] == ["AA", str(aces)]
    assert lines[17].startswith(" allin   bet25   check  number: % of bets and raises")
    other = tmp_path / "thesis.png"
    assert main(["show", str(river), "--png", str(other), "--palette", "thesis"]) == 0
    assert "red folds, blue checks or calls" in capsys.readouterr().out
    assert other.read_bytes().startswith(PNG)
    assert other.read_bytes() != picture.read_bytes()


def test_nodes_and_boards_as_other_tools_write_them(river: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = run_json(capsys, "show", str(river), "--node", "check bet25", "--board", "QsJh2h3c8d")
    for node in ("xb25", "X b25", "CHECK,BET25", "r:0:c:b25"):
        assert run_json(capsys, "show", str(river), "--node", node, "--board", "Q♠ J♥,2h 3c,8♦") == expected


def test_frequencies_are_means_over_hands(river: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for flags in ([], ["--hands"]):
        found = run_json(capsys, "show", str(river), "--node", "check", *flags)
        hands = found["hands"].values()
        assert sum(hand["weight"] for hand in hands) == pytest.approx(1)
        for action, share in enumerate(found["frequencies"]):
            assert share == pytest.approx(sum(hand["weight"] * hand["frequencies"][action] for hand in hands))
    assert found["actions"] == ["check", "bet25", "allin"]
    assert found["player"] == 2


@pytest.mark.parametrize("rake", [[], ["--rake", "5%", "--rake-cap", "3"]])
def test_one_convention_for_values(rake: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """solve, evaluate, show and Python report shares of the pot; of what the house leaves."""
    out = str(tmp_path / "spot.strategy")
    solved = run_json(capsys, *RIVER, *rake, "--until", "0.2%", "--out", out)
    measured = run_json(capsys, "evaluate", out)
    profile = load_strategy(out)
    game = parse_subgame(profile.game)
    run = counterplay.solve(game.name, "dcfr", until="0.2%", gamma=4.0)
    assert measured["value"] == pytest.approx(solved["value"], abs=1e-9)
    assert counterplay.evaluate(profile).value == pytest.approx(solved["value"], abs=1e-9)
    assert run.value == pytest.approx(solved["value"], abs=1e-9)
    assert run.best_response == pytest.approx(measured["best_response"], abs=1e-9)
    assert run_json(capsys, "show", out, "--ev")["ev"] == pytest.approx(solved["value"][0], abs=1e-9)
    state = hand_values(profile)
    assert state.mean(state.values) == pytest.approx(solved["value"][0], abs=1e-9)
    assert sum(solved["value"]) == pytest.approx(50) if not rake else 47 < sum(solved["value"]) <= 47.5 + 1e-9
    assert main([*RIVER, *rake, "--until", "0.2%"]) == 0
    told = capsys.readouterr().out
    assert main(["evaluate", out]) == 0
    again = capsys.readouterr().out
    oop, ip = solved["value"]
    left = f", {50 - oop - ip:.4f} to the house" if rake else ""
    line = f"expected chips  oop {oop:.4f}, ip {ip:.4f} of the pot of 50{left}"
    for text in (told, again):
        assert line in re.sub("chips +", "chips  ", text)


def test_rake_and_stacks_are_part_of_the_spot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "spot.strategy")
    options = ["--rake-cap", "3", "--stack", "250,200", "--iterations", "20"]
    found = [run_json(capsys, *RIVER, "--rake", rake, *options, "--out", out) for rake in ("5%", "0.05")]
    assert found[0]["value"] == found[1]["value"]
    assert found[0]["game"] == found[1]["game"]
    title = "QsJh2h3c8d, pot 50, stacks 250 and 200, rake 5% up to 3"
    for words in (["show", out], ["evaluate", out], [*RIVER, "--rake", "5%", *options]):
        assert main(words) == 0
        assert capsys.readouterr().out.startswith(title)
    even = run_json(capsys, *RIVER, "--rake", "5%", "--rake-cap", "3", "--iterations", "20")
    assert (even["value"], even["best_response"]) == (found[0]["value"], found[0]["best_response"])


def test_lines_are_part_of_the_spot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In files and hashes; show and locks find them by the same words; Python takes one text or several."""
    out = str(tmp_path / "spot.strategy")
    lines = ["--add-line", "x b40 r100", "--add-line", "b10", "--remove-line", "x b25", "--remove-line", "x a"]
    solved = run_json(
        capsys, *RIVER, *lines, "--iterations", "30", "--lock", "xb40r100=call 1", "--out", out
    )  # fmt: skip
    assert run_json(capsys, "show", out)["actions"] == ["check", "bet10", "bet25", "allin"]
    assert run_json(capsys, "show", out, "--node", "x")["actions"] == ["check", "bet40"]
    assert run_json(capsys, "show", out, "--node", "xb40r100")["frequencies"][1] == pytest.approx(1)
    found = counterplay.solve_spot(
        board="QsJh2h3c8d", pot=50, stack=200, oop="AA,KQs,T9s,77", ip="KK,AQs,QJs,65s", iterations=30,
        add_line=["x b40 r100", "b10"], remove_line=("x b25", "x a"), lock="xb40r100=call 1",
    )  # fmt: skip
    assert list(found.value) == solved["value"]
    assert run_json(capsys, "evaluate", out)["value"] == pytest.approx(solved["value"], abs=1e-9)
    assert main(["show", out]) == 0
    assert capsys.readouterr().out.startswith(
        "QsJh2h3c8d, pot 50, stack 200, with 'x b40 r100', 'b10', without 'x b25', 'x a': oop"
    )


def test_values_at_the_root_are_those_of_the_solve(river: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And equities of both players share the pot."""
    solved = run_json(capsys, *RIVER, "--until", "0.2%")
    found = run_json(capsys, "show", str(river), "--ev")
    assert found["ev"] == pytest.approx(solved["value"][0], abs=1e-9)
    assert 0 < found["equity"] < 1
    assert main(["show", str(river), "--ev", "--hands"]) == 0
    told = capsys.readouterr().out
    assert f"expected value {found['ev']:.4f} chips" in told
    assert "AsAh" in told


def test_a_fold_is_worth_nothing_from_there_on(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "locked.strategy"
    lock = "bet25=fold 1"
    solved = run_json(
        capsys, *RIVER, "--iterations", "300", "--lock", lock, "--lock", "allin=fold 1", "--out", str(out)
    )
    assert solved["value"][0] > 49
    found = run_json(capsys, "show", str(out), "--node", "bet25", "--ev")
    assert found["frequencies"] == pytest.approx([1, 0, 0, 0], abs=1e-9)
    assert found["ev"] == pytest.approx(0, abs=1e-9)


def test_show_says_what_is_locked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The decisions whose strategy was given, in the text and in JSON; the title says so of the one that is shown."""
    out = str(tmp_path / "locked.strategy")
    assert main([*RIVER, "--iterations", "5", "--lock", "bet25=fold 1", "--quiet", "--out", out]) == 0
    capsys.readouterr()
    for node, first in (("", "oop on QsJh2h3c8d"), ("bet25", "ip on QsJh2h3c8d after bet25 (locked)")):
        assert main(["show", out, "--node", node]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == f"QsJh2h3c8d, pot 50, stack 200: {first}"
        assert lines[1] == "  locked: 'bet25'; the strategy there was given, and the rest solved around it"
    assert run_json(capsys, "show", out)["locked"] == ["bet25"]


def test_a_lock_from_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lock, out = tmp_path / "lock.txt", tmp_path / "locked.strategy"
    lock.write_text("call KK,AQs:0.5\nfold rest\n", encoding="utf-8")
    assert main([*RIVER, "--iterations", "50", "--lock", f"bet25={lock}", "--out", str(out)]) == 0
    assert "locked" in capsys.readouterr().out
    hands = run_json(capsys, "show", str(out), "--node", "bet25")["hands"]
    assert hands["KK"]["frequencies"] == pytest.approx([0, 1, 0, 0], abs=1e-9)
    assert hands["AQs"]["frequencies"] == pytest.approx([0.5, 0.5, 0, 0], abs=1e-9)
    assert hands["65s"]["frequencies"] == pytest.approx([1, 0, 0, 0], abs=1e-9)


def test_a_lock_stays_with_the_strategy(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Best responses to a saved strategy keep to its lock, as those of the run that made it."""
    out, checkpoint = tmp_path / "locked.strategy", tmp_path / "run"
    words = [*RIVER, "--iterations", "300", "--lock", "bet25=fold 1", "--out", str(out), "--checkpoint"]
    solved = run_json(capsys, *words, str(checkpoint))
    found = run_json(capsys, "evaluate", str(out))
    assert solved["locked"] == found["locked"] == ["bet25"]
    assert found["exploitability"] == pytest.approx(solved["exploitability"], abs=1e-12)
    assert found["unlocked"]["exploitability"] > 10 * found["exploitability"]
    again = tmp_path / "again.strategy"
    assert main(["solve", "--resume", str(checkpoint), "--iterations", "310", "-q", "--out", str(again)]) == 0
    assert main(["evaluate", str(again)]) == 0
    told = capsys.readouterr().out
    assert "'bet25'; the best responses above respect it" in told
    assert "without the lock" in told


def test_a_range_is_a_range_before_it_is_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("AA", "72o"), ("fold 1", "call 1"), ("opener", "AA")):
        Path(name).write_text(text, encoding="utf-8")
    words = [*RIVER, "--iterations", "2", "--lock", "bet25=fold 1", "--out", "x.strategy", "--oop"]
    for given in ("AA", "opener", "./opener"):
        assert main([*words, given]) == 0
        capsys.readouterr()
        assert set(run_json(capsys, "show", "x.strategy")["hands"]) == {"AA"}
    found = run_json(capsys, "show", "x.strategy", "--node", "bet25")
    assert found["frequencies"] == pytest.approx([1, 0, 0, 0])


def test_integers_in_files_and_checkpoints(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out, checkpoint = tmp_path / "int.strategy", tmp_path / "int.checkpoint"
    words = [*RIVER, "--set", "storage=int16", "--iterations", "40", "--out", str(out), "--checkpoint", str(checkpoint)]
    solved = run_json(capsys, *words)
    profile = load_strategy(out)
    assert profile.tables[0].dtype == "int16"
    again = PublicSolver.resume(checkpoint)
    assert again.iterations == 40
    assert again.measure().value[0] == pytest.approx(solved["value"][0], abs=1e-12)
    assert main(["show", str(out)]) == 0


def test_an_interrupted_run_leaves_a_checkpoint_with_a_short_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of a subgame holds its ranges, and may be longer than a file's."""
    monkeypatch.chdir(tmp_path)
    step = PublicSolver.step

    def interrupted(solver: PublicSolver, iterations: int = 1) -> None:
        step(solver, iterations)
        if solver.iterations >= 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(PublicSolver, "step", interrupted)
    words = [*RIVER[:-1], ",".join(f"{a}{b}s:0.5" for a in "AKQ" for b in "T987654"), "--quiet"]
    assert main(words) == 130
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    (left,) = tmp_path.glob("holdem*.checkpoint")
    assert f"--resume {left.name} " in capsys.readouterr().out
    assert PublicSolver.resume(left).iterations == 3


def _interrupt(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    """Run a command that is stopped after three iterations."""
    step = PublicSolver.step

    def interrupted(solver: PublicSolver, iterations: int = 1) -> None:
        step(solver, iterations)
        if solver.iterations >= 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PublicSolver, "step", interrupted)
        assert main([*words, "--quiet"]) == 130


def test_checkpoints_of_two_spots_are_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each range, size, setting and lock; the board is in the name."""
    monkeypatch.chdir(tmp_path)
    spots = (RIVER, [*RIVER[:-1], "KK"], [*RIVER, "--bets", "33%"], [*RIVER, "--set", "gamma=3"],
             [*RIVER, "--lock", "bet25=fold 1"], [*RIVER, "--lock", "bet25=call 1"], [*RIVER, "--rake", "5%"],
             [*RIVER, "--rake", "5%", "--rake-cap", "1"], [*RIVER, "--stack", "200,300"],
             [*RIVER, "--add-line", "b10"], [*RIVER, "--remove-line", "b25"])  # fmt: skip
    for number, words in enumerate(spots, 1):
        _interrupt(monkeypatch, words)
        assert len(list(tmp_path.glob("holdem-QsJh2h3c8d-*-dcfr.checkpoint"))) == number
    _interrupt(monkeypatch, RIVER)
    assert len(list(tmp_path.glob("*.checkpoint"))) == len(spots)


def test_a_spot_is_resumed_by_the_command_that_started_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _interrupt(monkeypatch, [*RIVER, "--bets", "33%"])
    (left,) = tmp_path.glob("*.checkpoint")
    capsys.readouterr()
    straight = run_json(capsys, *RIVER, "--bets", "33%", "--iterations", "20")
    for words in ([*RIVER, "--bets", "33%"], ["solve", "holdem"], ["solve"]):
        found = run_json(capsys, *words, "--resume", str(left), "--iterations", "20")
        assert (found["iterations"], found["value"]) == (20, straight["value"])
    assert main([*RIVER, "--resume", str(left), "--iterations", "20"]) == 2
    assert "is a checkpoint of another spot: bets is 33% there, 50%,allin here\n" in capsys.readouterr().err
    assert main([*RIVER, "--bets", "33%", "--resume", str(left), "--lock", "bet17=fold 1"]) == 2
    assert "a checkpoint has its own locks; leave out --lock" in capsys.readouterr().err


def test_sizes_and_chips_that_leave_no_bets(river: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["--bets", ""], "the bets are empty; say none for no sizes"),
        (["--raises", " "], "the raises are empty"),
        (["--chip", "1000"], "bets are multiples of the chip, and one of 1000 is more than the stack of 200"),
    ):
        assert main([*RIVER, *words, "--iterations", "2"]) == 2
        assert message in capsys.readouterr().err
    assert main([*RIVER, "--chip", "60", "--iterations", "2"]) == 0
    assert "bets are multiples of the chip of 60, which is more than the pot of 50" in capsys.readouterr().err
    assert main(["show", str(river)]) == 0
    assert "locked" not in capsys.readouterr().out


def test_what_is_not_kept_and_not_used_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*RIVER, "--bets", "flop=50%;turn=50%;river=50%", "--raises", "oop.turn=2x;60%", "--iterations", "2"]
    assert main([*words, "--donks", "50%"]) == 0
    said = capsys.readouterr()
    assert "the bets for the flop and turn are not used: QsJh2h3c8d is a river" in said.err
    assert "the raises for the turn are not used" in said.err
    assert "the donks are not used: nothing was called before the river, and no street follows" in said.err
    assert "nothing is kept of this run; give --out FILE to save the strategy" in said.err
    assert "The strategy was not kept; give --out FILE to save it." in said.out
    assert main([*RIVER, "--bets", "river=50%", "--iterations", "2", "--out", str(tmp_path / "x y.strategy")]) == 0
    said = capsys.readouterr()
    assert "--out" not in said.out + said.err
    assert "not used" not in said.err
    commands = said.out.partition("Next:\n")[2].splitlines()
    assert [shlex.split(line, comments=True) for line in commands] == [
        ["counterplay", "show", str(tmp_path / "x y.strategy")],
        ["counterplay", "play", str(tmp_path / "x y.strategy")],
        ["counterplay", "evaluate", str(tmp_path / "x y.strategy")],
        ["counterplay", "games"],
    ]
    assert all("  # " in line for line in commands)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve", "holdem"], "--board, --pot, --stack, --oop, --ip"),
        (["solve", "leduc", "--pot", "5"], "--pot is for"),
        ([*RIVER, "--until", "x"], "0.3% of the pot"), ([*RIVER, "--memory-limit", "1KiB"], "may be used"),
        ([*RIVER, "--lock", "bet25"], "NODE=STRATEGY"), ([*RIVER, "--lock", "bet7=fold 1"], "there is no decision"),
        ([*RIVER, "--lock", "bet25=fold 1", "--lock", "bet25=call 1"], "bet25 is locked twice; give one lock"),
        ([*RIVER, "--stack", "1e30"], "the stack must be at most 1,000,000,000,000 chips; got 1e+30"),
        ([*RIVER, "--stack", "200;300"], "or those of oop and ip such as 100,80; got '200;300'"),
        ([*RIVER, "--rake", "5"], "the rake is a part of the pot below 100%, such as 5% or 0.05; got 500%"),
        ([*RIVER, "--allin-threshold", "0%"], "above 0 and at most 100% of the stack; got 0%"),
        ([*RIVER, "--until", "-1%"], "until must be a positive exploitability; got '-1%'"),
        ([*RIVER, "--lock", "bet25=nowhere.txt"], "name of a file with them; got 'nowhere.txt', which is neither"),
        ([*RIVER, "--lock", "bet25=fold"], "a probability, a range or 'rest' is missing after 'fold' in the lock"),
        (["solve", "holdm", "--board", "QsJh2h"], "--board is for counterplay solve holdem"),
        (["solve", "holdm"], "unknown game 'holdm'; did you mean 'holdem'?"),
        ([*RIVER, "--oop", "x" * 5000], f"'{'x' * 89}... (character 1)"),
        ([*RIVER, "--board", "K" * 500], f"at character 1 of '{'K' * 89}...\n"),
        ([*RIVER, "--rake", "some"], "the rake is a share of the pot such as 5%; got 'some'"),
        ([*RIVER, "--add-line", "x b250"], "illegal size 250: bets are 1 to 200 chips after 'check'"),
        ([*RIVER, "--remove-line", "x", "--remove-line", "b25", "--remove-line", "a"], "there would be no action left"),
        ([*RIVER, "--rake-cap", "3"], "a rake cap of 3 chips needs a rake"),
        (["solve", "leduc", "--rake", "5%"], "--rake is for counterplay solve holdem"),
        ([*RIVER, "--bets", "0%"], "be positive"),
        ([*RIVER, "--algorithm", "lp"], "spots are solved by cfr, cfr+, linear, dcfr, pcfr+; got 'lp'"),
        ([*RIVER, "--algorithm", "PCS"], "spots are solved by cfr, cfr+, linear, dcfr, pcfr+; got 'PCS'"),
        ([*RIVER, "--representation", "history"], "--representation is not for"),
        ([*RIVER, "--forget", "initial"], "--forget is not for"),
        ([*RIVER, "--memory-limit", "1KiB"], "fewer sizes"),
        ([*RIVER, "--allin-threshold", "much"], "67%"), ([*RIVER, "--oop", "AAx"], "word 1 of the range of oop"),
    ],
)  # fmt: skip
def test_misuse_is_told_in_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    told = capsys.readouterr().err
    assert message in told
    assert len([line for line in told.splitlines() if line.startswith("counterplay:")]) == 1


def test_show_lists_the_hands_of_a_strategy_of_histories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "kuhn.strategy"
    words = ["solve", "kuhn", "--iterations", "1", "--set", "delay=0", "--out", str(other), "--quiet"]
    assert main(words) == 0
    capsys.readouterr()
    assert main(["show", str(other), "--hands"]) == 0
    shown = capsys.readouterr().out
    assert "check 50.00%, bet 50.00%" in shown
    assert shown.count("33.333%") == 3


def test_show_misuse(tmp_path: Path, river: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        ([str(river), "--node", "bet7"], "at the start there are check, bet25, allin"),
        ([str(river), "--node", "x x"], "there is no decision after 'x x': after 'check check' nobody acts"),
        ([str(river), "--player", "3"], "QsJh2h3c8d, pot 50, stack 200 has players 1 to 2; got player 3"),
        ([str(river), "--png", str(tmp_path / "grid.txt")], ".png"),
        ([str(river), "--palette", "neon"], "a palette is trade or thesis; got 'neon'"),
    ):
        assert main(["show", *words]) == 2
        assert message in capsys.readouterr().err


def test_targets_and_colours() -> None:
    assert read_exploitability("0.3%", "holdem", None, 50) == pytest.approx(0.15)
    assert read_exploitability("0.2", "holdem", None, 50) == 0.2
    with pytest.raises(SolverError, match="chips"):
        read_exploitability("0.3mbb", "holdem", None, 50)
    assert action_mix((0.2, 0.3, 0.1, 0.4), ("fold", "call", "raise85", "allin")) == pytest.approx((0.2, 0.5, 0.3))
    assert action_mix((0.2, 0.8), ("c", "r")) == pytest.approx((0.0, 0.8, 0.2))


def test_uniform_play_is_measured_on_the_public_tree_where_histories_do_not_fit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["evaluate", "--game", "bluff(sides=5)", "--strategy", "uniform"]
    whole = run_json(capsys, *words)
    small = run_json(capsys, *words, "--memory-limit", "1MiB")
    assert small["representation"] == "public"
    assert small["information_sets"] == whole["information_sets"]
    for name in ("value", "best_response", "exploitability"):
        assert small[name] == pytest.approx(whole[name], abs=1e-12)
    assert main([*words[:3], "--strategy", "random", "--memory-limit", "1MiB"]) == 2
    assert "a higher memory limit" in capsys.readouterr().err


def test_both_ranges_from_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "ranges.txt"
    path.write_text("OOP: AA,KQs\nIP: KK,\n  QQ\n", encoding="utf-8")
    spot = ["solve", "holdem", "--board", "QsJh2h3c8d", "--pot", "50", "--stack", "200", "--iterations", "5"]
    names = []
    for words in (["--ranges", str(path)], ["--oop", "AA,KQs", "--ip", "QQ+"], ["--ranges", str(path), "--ip", "AA"]):
        names.append(json.loads(run_json(capsys, *spot, *words)["game"].removeprefix("holdem")))
    assert [(one["oop"], one["ip"]) for one in names] == [("AA,KQs", "KK-QQ"), ("AA,KQs", "QQ+"), ("AA,KQs", "AA")]
    assert main([*spot, "--ranges", str(path), "--oop", "AA", "--ip", "AA"]) == 2
    assert "leave one of them out" in capsys.readouterr().err
    assert main([*spot, "--ranges", str(tmp_path / "gone.txt")]) == 2
    assert f"there is no file {tmp_path / 'gone.txt'}" in capsys.readouterr().err
