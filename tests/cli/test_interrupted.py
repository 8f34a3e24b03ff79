"""Ctrl-C: match, compare and experiment report and keep what they have, build says how to continue."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import re
import shlex
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from counterplay.agents import Agent, matches, tournaments
from counterplay.build.pipeline import Pipeline
from counterplay.cli.main import main
from counterplay.experiments import (
    bluff_chain,
    failing_learners,
    forgetful_sizes,
    oshi_zumo_sizes,
    run_experiment,
    three_player_sampling,
)
from counterplay.experiments.shared import comparison, sampler_races
from counterplay.experiments.shared.comparison import Budget, Comparison, compare

INTERRUPTED = 130


def stop_after(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, calls: int) -> None:
    """Raise KeyboardInterrupt in the call of a function after so many calls."""
    real, done = getattr(place, name), 0

    def counting(*words: Any, **options: Any) -> Any:
        nonlocal done
        if done == calls:
            raise KeyboardInterrupt
        done += 1
        return real(*words, **options)

    monkeypatch.setattr(place, name, counting)


class Stopping(Agent):
    """Calls, and sends a SIGINT to this process before its 31st hand of each seating."""

    def __init__(self, _seed: int) -> None:
        self.hands = 0

    def act(self, seen: Any) -> str:
        if seen.hand_id == 30:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(10)  # the signal is handled here
        return "c"


class TestMatch:
    def test_the_deals_so_far_are_the_result(self) -> None:
        """A real signal in the 31st deal: the result is that of a match of 30 deals."""
        found = matches.match("holdem_limit_2p", [Stopping, "always-raise"], 1000, seed=3)
        expected = matches.match("holdem_limit_2p", ["always-call", "always-raise"], 30, seed=3)
        assert found.interrupted
        assert not expected.interrupted
        assert found.tally == expected.tally

    def test_before_the_first_deal_there_is_no_result(self) -> None:
        class AtOnce(Stopping):
            def act(self, seen: Any) -> str:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            matches.match("holdem_limit_2p", [AtOnce, "always-raise"], 10)

    def test_the_verb_reports(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        stop_after(monkeypatch, matches, "dealt_hand", 41)  # in the second seating of the 21st deal
        words = ["match", "always-call", "always-raise", "--game", "holdem_limit_2p", "--seed", "3"]
        assert main([*words, "--deals", "50"]) == INTERRUPTED
        stopped = capsys.readouterr()
        assert "stopped after 20 of 50 deals" in stopped.err
        monkeypatch.undo()
        assert main([*words, "--deals", "20"]) == 0
        assert stopped.out == capsys.readouterr().out
        stop_after(monkeypatch, matches, "dealt_hand", 10)
        assert main([*words, "--json"]) == INTERRUPTED
        found = json.loads(capsys.readouterr().out)
        assert (found["interrupted"], found["deals"]) == (True, 5)

    def test_progress_counts_deals(self) -> None:
        seen: list[tuple[int, int | None]] = []
        matches.match(
            "holdem_limit_2p", ["always-call", "always-raise"], 5,
            progress=lambda now: seen.append((now.iterations, now.total)),
        )  # fmt: skip
        assert seen == [(done, 5) for done in range(1, 6)]

    def test_a_build_does_not_take_a_part_for_the_whole(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """Its matches that are stopped are played again when it is resumed."""
        words = ["build", "leduc_limit_2p", "--preset", "tiny", "--iterations", "500", "--deals", "9", "--quiet"]
        words += ["--out", str(tmp_path / "agent")]
        monkeypatch.setattr(matches, "BATCH", 4)
        stop_after(monkeypatch, matches, "play_deals", 2)
        assert main(words) == INTERRUPTED
        monkeypatch.undo()
        assert main(words) == 0
        report = json.loads((tmp_path / "agent" / "report.json").read_text())
        assert {one["deals"] for one in report["matches"].values()} == {9}


class TestCompare:
    def test_the_finished_runs_are_the_result(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Four of five runs, the last one stopped: those of a comparison without it."""
        budget = Budget(iterations=20)
        expected = compare("kuhn", "cfr,external-sampling", budget, 3)
        stop_after(monkeypatch, comparison, "run_solver", 3)
        found = compare("kuhn", "cfr,external-sampling", budget, 3)
        assert found.interrupted
        assert not expected.interrupted
        assert _without_times(found) == _without_times(expected)[:3]

    def test_the_verb_reports_and_plots(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        stop_after(monkeypatch, comparison, "run_solver", 1)
        plot = tmp_path / "curves.png"
        words = ["compare", "kuhn", "-a", "cfr,cfr+", "--iterations", "20", "--plot", str(plot), "-q"]
        assert main(words) == INTERRUPTED
        printed = capsys.readouterr()
        assert "stopped; these are the 1 runs that were finished" in printed.err
        assert re.search(r"^  cfr +1 ", printed.out, re.M)
        assert not re.search(r"^  cfr\+ ", printed.out, re.M)
        assert plot.is_file()

    def test_nothing_finished(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        stop_after(monkeypatch, comparison, "run_solver", 0)
        assert main(["compare", "kuhn", "-a", "cfr", "--iterations", "20", "-q"]) == INTERRUPTED
        assert "interrupted" in capsys.readouterr().err


def _without_times(found: Comparison) -> list[object]:
    return [
        (run.algorithm, run.seed, [(point.iterations, point.exploitability) for point in run.curve])
        for run in found.runs
    ]


class TestExperiment:
    def test_finished_rows_are_the_result(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        whole = run_experiment("forgetful-sizes", scale="quick")
        stop_after(monkeypatch, forgetful_sizes, "_count", 2)
        found = run_experiment("forgetful-sizes", scale="quick")
        assert found.interrupted
        assert found.rows == whole.rows[:2]
        assert dataclasses.replace(found, rows=whole.rows, interrupted=False) == whole

    def test_the_verb_reports_and_writes(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        stop_after(monkeypatch, forgetful_sizes, "_count", 1)
        path = tmp_path / "rows.json"
        assert main(["experiment", "forgetful-sizes", "--quick", "--out", str(path)]) == INTERRUPTED
        assert "forgetful-sizes has these rows only" in capsys.readouterr().err
        assert len(json.loads(path.read_text())["rows"]) == 1

    @pytest.mark.parametrize(
        ("name", "options", "place", "function", "calls", "finished"),
        [
            ("bluff-chain", {"scale": "quick", "exploitability": 0.1}, bluff_chain, "solve", 2, 2),
            ("failing-learners", {"iterations": 200}, failing_learners, "worst_cases", 1, 1),
            ("oshi-zumo-sizes", {"scale": "quick"}, oshi_zumo_sizes, "relative_sets", 2, 2),
        ],
    )
    def test_rows_of_other_experiments(
        self, name: str, options: dict[str, Any], place: Any, function: str, calls: int, finished: int,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        whole = run_experiment(name, **options)
        stop_after(monkeypatch, place, function, calls)
        found = run_experiment(name, **options)
        assert found.interrupted
        assert found.rows == whole.rows[:finished]
        assert found.curves == dict(itertools.islice(whole.curves.items(), finished))

    def test_a_sampler_counts_when_all_its_seeds_are_finished(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Stopped in the second run of the third sampler: two rows, their curves, and a ranking of two."""
        options = {"game": "leduc_limit_2p", "seconds": 0.02, "seeds": 2}
        with monkeypatch.context() as patch:
            stop_after(patch, sampler_races, "make_solver", 5)
            found = run_experiment("public-sampling", **options)
        assert found.interrupted
        assert [row[0] for row in found.rows] == [*found.curves] == ["pcs", "cs"]
        assert sorted(found.notes[0].removeprefix("Ours, the best first: ").rstrip(".").split(", ")) == ["cs", "pcs"]
        stop_after(monkeypatch, sampler_races, "make_solver", 3)
        found = run_experiment("bluff-sampling", scale="quick", seconds=0.02)
        assert [row[1] for row in found.rows] == ["pcs"]

    def test_matches_of_a_round_robin(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Seven of 56 matches: of the four pairs of agents only the first two have met."""
        stop_after(monkeypatch, three_player_sampling, "match", 7)
        options = {"game": "kuhn_limit_3p", "cards": "lossless", "seconds": 0.08, "deals": 20}
        found = run_experiment("three-player-sampling", **options)
        assert found.interrupted
        assert [row[:2] for row in found.rows] == [
            (seconds, label) for seconds in (0.01, 0.02) for label in ("ES", "Pure CFR", "Pure CFR minus ES")
        ]
        assert {label: len(xs) for label, (xs, _) in found.curves.items()} == {"ES": 2, "Pure CFR": 2}
        assert found.notes[0].startswith("7 of 56 matches of 20 deals")

    def test_no_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stop_after(monkeypatch, forgetful_sizes, "_count", 0)
        with pytest.raises(KeyboardInterrupt):
            run_experiment("forgetful-sizes", scale="quick")


def test_tournament_says_how_to_continue(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The command that is printed finishes it, and the result is that of a tournament without the interruption."""
    words = ["tight", "loose", "uniform", "--game", "kuhn", "--deals", "30", "--piece", "10"]
    assert main(["tournament", str(tmp_path / "whole"), *words]) == 0
    whole = capsys.readouterr().out
    stop_after(monkeypatch, tournaments, "play_piece", 4)
    assert main(["tournament", str(tmp_path / "a b"), *words]) == INTERRUPTED
    printed = capsys.readouterr()
    assert printed.out == ""
    monkeypatch.undo()
    program, *again = shlex.split(printed.err.splitlines()[-1])
    assert program == "counterplay"
    assert main(again) == 0
    assert capsys.readouterr().out == whole


def test_build_says_how_to_continue(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The command that is printed can be pasted, and finishes the build."""
    folder = tmp_path / "my agent"
    stop_after(monkeypatch, Pipeline, "_match", 0)
    words = ["build", "leduc_limit_2p", "--preset", "tiny", "--iterations", "500", "--seed", "4", "--deals", "3"]
    assert main([*words, "--out", str(folder), "-q"]) == INTERRUPTED
    printed = capsys.readouterr().err.splitlines()
    assert printed[-2] == "stopped; finished stages are kept, and this resumes the build:"
    monkeypatch.undo()
    program, *again = shlex.split(printed[-1])
    assert program == "counterplay"
    assert main([*again, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["agent"], report["plan"]["seed"]) == (str(folder / "agent.strategy"), 4)
