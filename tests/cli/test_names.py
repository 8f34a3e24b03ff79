"""Help in every spelling, names in any case, and suggestions for verbs, algorithms, games and settings."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import counterplay as cp
from counterplay.cli.main import VERBS, main
from counterplay.errors import CounterplayError, GameError, SolverError
from counterplay.game import make
from counterplay.strategy.ready_made import READY_MADE

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]

NAMES = [verb.__name__.rpartition(".")[2] for verb in VERBS]


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line on standard error of a command that is refused."""
    assert main(list(words)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err.removeprefix("counterplay: ").removesuffix("\n")


@pytest.mark.parametrize("verb", NAMES)
def test_help_of_a_verb_in_every_spelling(run: Run, verb: str) -> None:
    text = run(verb, "--help")
    assert f"counterplay {verb}" in text
    assert run(verb, "-h") == text
    assert run("help", verb) == text


def test_help_of_the_command_in_every_spelling(run: Run) -> None:
    text = run("--help")
    assert all(f" {verb} " in text for verb in NAMES)
    assert run("-h") == text
    assert run("help") == text


def test_help_of_a_verb_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "help", "slove") == "there is no command 'slove'; did you mean 'solve'?"


@pytest.mark.parametrize(
    ("verb", "meant"),
    [
        pytest.param("ls", "'list'", id="ls"),
        pytest.param("slove", "'solve'", id="letters swapped"),
        pytest.param("Solve", "'solve'", id="case"),
        pytest.param("game", "'games'", id="singular"),
        pytest.param("export", "'show'", id="export"),
        pytest.param("train", "'solve'", id="train"),
    ],
)
def test_verbs_are_suggested(capsys: pytest.CaptureFixture[str], verb: str, meant: str) -> None:
    assert refusal(capsys, verb) == f"there is no command {verb!r}; did you mean {meant}?"


def test_list_has_every_name(run: Run, run_json: RunJson) -> None:
    found = run_json("list")
    assert [row["name"] for row in found["games"]] == list(cp.game_names())
    assert [row["name"] for row in found["algorithms"]] == list(cp.ALGORITHMS)
    assert {row["name"] for row in found["opponents"]} == set(READY_MADE)
    text = run("list")
    for name in (*(name for name in cp.game_names() if not name.startswith("toy_")), *cp.ALGORITHMS):
        assert f"\n  {name} " in text
    assert all(name in text.splitlines()[-1] for name in READY_MADE)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param("counterplay so", ["solve"], id="verb"),
        pytest.param("counterplay solve led", ["leduc", "leduc_limit_2p", "leduc_nolimit_2p"], id="game"),
        pytest.param("counterplay solve holdem_l", ["holdem_limit_2p", "holdem_limit_3p"], id="hold'em"),
        pytest.param("counterplay info ku", ["kuhn", "kuhn_limit_2p", "kuhn_limit_3p"], id="game of info"),
        pytest.param("counterplay solve kuhn -a ext", ["external-sampling"], id="algorithm"),
        pytest.param("counterplay solve kuhn --algorithm cfr", ["cfr", "cfr+", "cfr+ira", "cfr-br"], id="long option"),
        pytest.param("counterplay match always-r", ["always-raise"], id="opponent"),
        pytest.param("counterplay build holdem_limit_2p --preset la", ["laptop"], id="preset"),
        pytest.param("counterplay experiment forgetful", ["forgetful-sizes"], id="experiment"),
        pytest.param("counterplay solve kuhn --unt", ["--until"], id="option"),
        pytest.param("counterplay help ev", ["evaluate"], id="help"),
    ],
)
def test_shells_complete(
    words: str, offered: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_COUNTERPLAY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == offered


def test_completion_can_be_installed(run: Run) -> None:
    assert "--install-completion" in run("--help")


@pytest.mark.parametrize("name", ["matrix(rows=1,2;3)", "matrix(rows=1,2;3,4)"])
def test_values_with_commas_are_quoted(capsys: pytest.CaptureFixture[str], name: str) -> None:
    quoted = name.replace("=", '="').replace(")", '")')
    message = refusal(capsys, "solve", name)
    assert f"quote the value that contains commas: {quoted} (in a shell, single quotes around" in message


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        pytest.param("cfrplus", "'cfr+'", id="cfrplus"),
        pytest.param("cfr-plus", "'cfr+'", id="cfr-plus"),
        pytest.param("CFR_plus", "'cfr+'", id="CFR_plus"),
        pytest.param("es", "'external-sampling'", id="es"),
        pytest.param("os", "'outcome-sampling'", id="os"),
        pytest.param("mccfr", "'external-sampling' or 'mccfr-scheme'", id="mccfr"),
        pytest.param("external_sampling", "'external-sampling'", id="underscore"),
        pytest.param("dfcr", "'dcfr'", id="letters swapped"),
    ],
)
def test_algorithms_are_suggested(capsys: pytest.CaptureFixture[str], name: str, meant: str) -> None:
    message = f"unknown algorithm {name!r}; did you mean {meant}?"
    assert refusal(capsys, "solve", "kuhn", "-a", name) == message
    with pytest.raises(SolverError) as caught:
        cp.solve("kuhn", name)
    assert str(caught.value) == message


def test_every_word_of_the_field_means_something_that_exists() -> None:
    from counterplay.cli import main as verbs
    from counterplay.game import registry as games
    from counterplay.solvers import registry as solvers

    for meant, known in (
        (verbs.MEANT, set(NAMES)), (games._MEANT, set(cp.game_names())), (solvers._MEANT, set(cp.ALGORITHMS)),
    ):  # fmt: skip
        assert {target for targets in meant.values() for target in targets.split()} <= known


def test_names_ignore_case(run_json: RunJson) -> None:
    found = run_json("solve", "Kuhn", "-a", "CFR+", "--iterations", "10")
    assert (found["game"], found["algorithm"]) == ("kuhn", "cfr+")
    assert run_json("info", "LEDUC(ranks=4)")["game"] == "leduc(ranks=4)"
    assert cp.solve("KUHN", "Cfr", iterations=2).algorithm == "cfr"
    assert make("Leduc_Limit_2p").spec() == "leduc_limit_2p"


def test_hold_em_spots_ignore_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "solve", "Holdem", "--pot", "1").startswith("solve holdem needs --board")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        pytest.param("Ledcu", "'leduc'", id="letters swapped"),
        pytest.param("rps", "'rock_paper_scissors'", id="rps"),
        pytest.param("liars-dice", "'bluff'", id="another name"),
    ],
)
def test_games_are_suggested(name: str, meant: str) -> None:
    with pytest.raises(GameError) as caught:
        make(name)
    assert str(caught.value).startswith(f"unknown game {name!r}; did you mean {meant}?")


def test_settings_are_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    text = refusal(capsys, "solve", "kuhn", "--set", "delayy=3")
    assert text.startswith("cfr+ has no setting 'delayy' (did you mean 'delay'?); its settings are ")
    text = refusal(capsys, "solve", "kuhn", "--set", "iterations=3")
    assert text == "iterations is an option of its own, not a setting of cfr+"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        pytest.param("sed", "seed", id="seed"),
        pytest.param("iteration", "iterations", id="iterations"),
        pytest.param("memory_limits", "memory_limit", id="memory_limit"),
        pytest.param("alternate", "alternating", id="of the algorithm"),
    ],
)
def test_settings_are_suggested_in_python(wrong: str, right: str) -> None:
    with pytest.raises(SolverError) as caught:
        cp.solve("kuhn", **{wrong: 1})
    assert str(caught.value).startswith(f"cfr+ has no setting {wrong!r} (did you mean {right!r}?); its settings are ")


def test_a_matrix_without_quotes_shows_how_to_quote(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = 'quote the value that contains commas: matrix(rows="1,2;3,4",columns="0,0;0,1") (in a shell, single '
    assert wanted in refusal(capsys, "info", "matrix(rows=1,2;3,4,columns=0,0;0,1)")
    assert cp.make('matrix(rows="1,2;3,4",columns="0,0;0,1")').spec()
    with pytest.raises(CounterplayError, match=r'quote the value that contains commas: matrix\(rows="1,2;3"\)'):
        make("matrix(rows=1,2;3)")


@pytest.mark.parametrize("verb", NAMES)
def test_help_is_in_paragraphs(verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines of a paragraph are as long as the terminal allows, wherever the source breaks them."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["help", verb]) == 0
    shown = capsys.readouterr().out.partition("╭")[0].splitlines()
    for line, following in itertools.pairwise(line.strip() for line in shown):
        if line and following:
            assert len(line) + 1 + len(following.split()[0]) > 96, (line, following)
