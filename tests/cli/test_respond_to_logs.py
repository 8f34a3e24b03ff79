"""``counterplay respond --log``: from logged hands to a counter-strategy, counts that are kept, and what is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from counterplay.abstraction.cards import CardAbstraction
from counterplay.cli.main import main
from counterplay.forms import open_game
from counterplay.modelling import Confidence, FrequencyModel, load_observations, log_observations, observe, respond
from counterplay.poker.acpc.match_log import format_header
from counterplay.strategy.files import load_strategy
from tests.cli.conftest import Run, RunJson
from tests.modelling.logs import random_lines, random_records
from tests.poker.test_bucket_game import LEDUC

HEADER = format_header("m", "leduc.limit.2p.game", 100, 1, ())


def write(path: Path, hands: int = 300, seed: int = 0, header: list[str] = HEADER) -> Path:
    path.write_text("".join(f"{line}\n" for line in [*header, *random_lines(LEDUC, hands, seed)]))
    return path


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    return [write(tmp_path / f"{seed}.log", seed=seed) for seed in range(3)]


@pytest.fixture
def cards(tmp_path: Path) -> Path:
    CardAbstraction.single((3, 2), (1, 1)).save(tmp_path / "single.cpa")
    return tmp_path / "single.cpa"


def test_the_same_as_in_python_for_a_small_game(run_json: RunJson, logs: list[Path], tmp_path: Path) -> None:
    """A shell expands ``--log *.log``: all but the first are arguments."""
    out = tmp_path / "counter.strategy"
    words = ("--against", "Ann", "--kind", "dbr", "--pmax", "0.9", "--confidence", "linear", "--out", out)
    found = run_json("respond", "--log", *logs, *words)
    tree = open_game("leduc_limit_2p", "history")  # from the header of the log
    seen = observe(logs, "Ann", tree)
    other = respond(None, FrequencyModel(seen, confidence=Confidence("linear")), "dbr", 0.9)
    assert found["value_against_model"] == pytest.approx(other.value_against_model, abs=1e-9)
    assert found["exploitability"] == pytest.approx(other.exploitability, abs=1e-9)
    assert (found["game"], found["hands"], found["against"]) == ("leduc_limit_2p", 900, "Ann")
    assert (found["unseen"], found["skipped"], found["broken"]) == (0, 0, [])
    assert found["data"]["decisions"] == seen.decisions
    np.testing.assert_allclose(load_strategy(out).table, other.strategy.table, atol=1e-9)  # type: ignore[attr-defined]
    repeated = run_json("respond", *(word for log in logs for word in ("--log", log)), *words)
    assert repeated["value_against_model"] == found["value_against_model"]


def test_in_a_card_abstraction_and_from_kept_counts(
    run: Run, run_json: RunJson, logs: list[Path], cards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, words = tmp_path / "seen.counts", ("--kind", "dbr", "--pmax", "0.9", "--iterations", "20")
    found = run_json("respond", "--log", *logs, "--against", "Ann", "--cards", cards, "--observations", kept, *words)
    seen = load_observations(kept)
    np.testing.assert_array_equal(seen.counts, observe(logs, "Ann", seen.form).counts)
    again = run_json("respond", "--observations", kept, *words)
    assert again["value_against_model"] == found["value_against_model"]
    assert (again["against"], again["hands"]) == ("Ann", 900)
    with_game = ("respond", "--observations", kept, "--game", "leduc_limit_2p", "--cards", cards, *words)
    assert run_json(*with_game)["value_against_model"] == found["value_against_model"]
    text = run("respond", "--observations", kept, "--out", tmp_path / "x.strategy", *words)
    assert "counterplay match" not in text  # nobody can be seated
    assert main(["respond", "--observations", str(kept), "--game", "leduc", *words]) == 2
    assert "another game or abstraction than leduc" in capsys.readouterr().err


def test_a_population_is_one_opponent(run_json: RunJson, logs: list[Path]) -> None:
    words = ("respond", "--game", "leduc", "--kind", "best", "--log", logs[0], "--against")
    assert run_json(*words, "Ann, Bob")["hands"] == 300
    assert run_json(*words, "Ann, Bob")["data"]["decisions"] == sum(
        run_json(*words, name)["data"]["decisions"] for name in ("Ann", "Bob")
    )


def test_thin_data_broken_lines_and_hidden_cards_are_told(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = random_records(LEDUC, 40)
    lines = [dataclasses.replace(one, deal=one.state().seen_by(one.names.index("Bob")).deal).text() for one in records]
    log = tmp_path / "a.log"
    log.write_text("\n".join([*lines, "STATE:1:rubbish"]))
    words = ("respond", "--game", "leduc", "--log", str(log), "--against", "Ann", "--pmax", "0.5")
    assert main(list(words)) == 2
    assert f"{log}, line 41: cannot read" in capsys.readouterr().err
    assert main([*words, "--broken", "skip"]) == 0
    said = capsys.readouterr().err
    assert f"warning: skipped {log}, line 41: cannot read" in said
    assert "warning: the data are thin" in said
    assert "were made with cards that the logs do not show" in said


def test_curves_from_logs(run_json: RunJson, logs: list[Path]) -> None:
    found = run_json("respond", "--game", "leduc", "--log", *logs, "--against", "Bob", "--kind", "rnr,dbr", "--curve",
                     "0,0.9", "--true", "uniform")  # fmt: skip
    assert [(point["kind"], point["p"]) for point in found["points"]] == [
        ("rnr", 0.0), ("rnr", 0.9), ("dbr", 0.0), ("dbr", 0.9)
    ]  # fmt: skip
    assert found["against"] == "Bob"


def test_the_default_policy_may_be_a_file(run_json: RunJson, tmp_path: Path) -> None:
    log, file = write(tmp_path / "a.log", 5), tmp_path / "leduc.strategy"
    load = ("respond", "--game", "leduc", "--log", log, "--against", "Ann", "--kind", "best")
    run_json("respond", "--game", "leduc", "--model", "uniform", "--kind", "rnr", "--p", "0", "--out", file)
    values = {one: run_json(*load, "--default", one)["value_against_model"] for one in ("call", "uniform", str(file))}
    assert len({round(value, 9) for value in values.values()}) == 3
    assert run_json(*load)["value_against_model"] == values["call"]


REFUSED = [
    (("--model", "uniform", "--log", "LOG"), "--model and --log both say what the opponent plays"),
    (("--model", "uniform", "--observations", "LOG"), "--model and --observations both say"),
    (("LOG",), "a.log is: --game GAME, --model FILE or --log FILE"),
    (("--log", "LOG"), "--against NAME"),
    (("--model", "uniform", "--against", "Ann"), "--against is for an opponent in logs"),
    (("--model", "uniform", "--confidence", "linear"), "--confidence is for an opponent in logs"),
    (("--observations", "LOG", "--broken", "skip"), "--broken is for logs"),
    (("--observations", "LOG"), "damaged or not a counterplay file"),
    (("--log", "LOG", "--against", "An"), "nobody is called 'An' in the logs; did you mean 'Ann'?"),
    (("--log", "EMPTY", "--against", "Ann"), "empty.log: no line is a hand"),
    (("--game", "leduc", "--log", "BINARY", "--against", "Ann"), "binary.log: no line is a hand"),
    (("--log", "LOG", "--against", "Ann", "--kind", "rnr", "--confidence", "linear"), "for data biased responses"),
    (("--log", "LOG", "--against", "Ann", "--confidence", "lineal"), "did you mean 'linear'?"),
    (("--log", "LOG", "--against", "Ann", "--default", "cal"), "there is no opponent 'cal'"),
    (("--log", "LOG", "--against", "Ann", "--broken", "ignore"), "refused or skipped; got 'ignore'"),
    (("--log", "LOG", "nothing.log", "--against", "Ann"), "no file nothing.log"),
    (("--log", "LOG", "--against", "Ann", "--pmax", "1.5"), "1.5"),
    (("--log", "LOG", "--against", "Ann", "--curve", "0,1.5"), "1.5"),
    (("--log", "LOG", "--against", "Ann", "--kind", "dbr,rn", "--curve", "0"), "did you mean 'rnr'?"),
    (("--game", "kuhn", "--log", "LOG", "--against", "Ann"), "is a log of leduc_limit_2p, not of kuhn"),
    (("--log", "LOG", "--against", "Ann", "--cards", "CARDS"), "ranks"),
    (("--log", "LOG", "--against", "Ann", "--observations", "no/folder"), "there is no folder no"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[" ".join(words) for words, _ in REFUSED])
def test_refused_in_one_line_before_hands_are_counted(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_observations._LogCount, "steps", lambda *_: pytest.fail("counted"))
    CardAbstraction.single((13, 4), (2, 3, 1, 1)).save(tmp_path / "holdem.cpa")
    paths = {"LOG": str(write(tmp_path / "a.log")), "CARDS": str(tmp_path / "holdem.cpa")}
    for name, content in (("EMPTY", b""), ("BINARY", bytes(range(256)).replace(b":", b""))):
        paths[name] = str(tmp_path / f"{name.lower()}.log")
        Path(paths[name]).write_bytes(content)
    usual = () if {"--pmax", "--curve"} & set(words) else ("--pmax", "0.5")
    assert main(["respond", *(paths.get(word, word) for word in words), *usual]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1


def test_a_game_that_the_log_does_not_name_is_found_by_its_hands(run_json: RunJson, tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", header=[])
    found = run_json("respond", "--log", log, "--against", "Ann", "--pmax", "0.5")
    assert found["game"] == "leduc_limit_2p"
