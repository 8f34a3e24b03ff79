"""The folder of a tournament: crashes, workers, races, foreign pieces, and damage."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterplay.agents.tournaments import Tournament
from counterplay.errors import CounterplayError, GameError
from counterplay.runtime.progress import Progress
from counterplay.storage import lock_folder
from counterplay.strategy import TabularStrategy
from counterplay.tree import compile_game
from tests.crosstables import config


class _KilledError(Exception):
    pass


class TestFolders:
    def test_a_tournament_goes_on(self, tmp_path: Path) -> None:
        """Stopped again and again, with half a line left behind: the result is that of one run, to the last bit."""
        wanted = config("leduc", deals=1000, piece=100)
        whole = Tournament(tmp_path / "whole", wanted).run()
        pieces = 0

        def stop_after(count: int) -> None:
            def progress(_now: Progress) -> None:
                nonlocal pieces
                pieces += 1
                if pieces % count == 0:
                    raise _KilledError

            Tournament(tmp_path / "x", wanted).run(progress=progress)

        for count in (7, 11, 13):
            with pytest.raises(_KilledError):
                stop_after(count)
            with (tmp_path / "x" / "results.jsonl").open("a") as file:
                file.write('{"match": 5, "pie')
        assert 0 < Tournament(tmp_path / "x").result().missing < 60
        done = Tournament(tmp_path / "x").run()
        assert done.tallies == whole.tallies
        assert done.missing == 0
        lines = (tmp_path / "x" / "results.jsonl").read_text().splitlines()
        assert len(lines) == len({(json.loads(line)["match"], json.loads(line)["piece"]) for line in lines}) == 60
        again = Tournament(tmp_path / "x").run(progress=lambda *_: pytest.fail("nothing was left to play"))
        assert again.tallies == whole.tallies

    def test_workers_change_nothing(self, tmp_path: Path) -> None:
        wanted = config("kuhn", deals=400, piece=100)
        one = Tournament(tmp_path / "1", wanted).run()
        two = Tournament(tmp_path / "2", wanted).run(workers=2)
        assert one.tallies == two.tallies

    @pytest.mark.slow
    def test_a_killed_process(self, tmp_path: Path) -> None:
        """Killed outright while it plays, then run to its end."""
        words = [
            sys.executable,
            "-m",
            "counterplay",
            "tournament",
            str(tmp_path / "x"),
            "always-call",
            "uniform",
            "always-raise",
        ]
        words += ["--game", "holdem.limit.2p.reverse_blinds", "--deals", "3000", "--piece", "50"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        results = tmp_path / "x" / "results.jsonl"
        while process.poll() is None and not (results.exists() and results.read_text().count("\n") >= 5):
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        done = Tournament(tmp_path / "x").run()
        whole = Tournament(tmp_path / "whole", done.config).run()
        assert done.tallies == whole.tallies

    def test_one_process_at_a_time(self, tmp_path: Path) -> None:
        wanted = config(deals=20, piece=10)

        def again(_now: Progress) -> None:
            with pytest.raises(CounterplayError, match="another process is playing the tournament"):
                Tournament(tmp_path, wanted).run()
            Tournament(tmp_path).result()  # which only reads

        Tournament(tmp_path, wanted).run(progress=again)

    def test_other_tournaments_are_refused(self, tmp_path: Path) -> None:
        Tournament(tmp_path, config())
        with pytest.raises(GameError, match="another tournament"):
            Tournament(tmp_path, config(deals=7))
        with pytest.raises(GameError, match="holds no tournament"):
            Tournament(tmp_path / "none")

    def test_two_start_in_one_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The second to get the folder sees the settings of the first, although there were none when it looked."""
        first, second = config(deals=20), config(deals=10)
        locked = lock_folder

        @contextlib.contextmanager
        def late(folder: Path, doing: str) -> Iterator[None]:
            monkeypatch.undo()
            Tournament(folder, first)
            with locked(folder, doing):
                yield

        monkeypatch.setattr("counterplay.agents.tournaments.lock_folder", late)
        with pytest.raises(GameError, match="another tournament"):
            Tournament(tmp_path, second)
        assert Tournament(tmp_path).config == first

    def test_pieces_of_other_settings_are_refused(self, tmp_path: Path) -> None:
        Tournament(tmp_path / "a", config(deals=20)).run()
        theirs = Tournament(tmp_path / "b", config(deals=20, seed=1))
        (tmp_path / "b" / "results.jsonl").write_bytes((tmp_path / "a" / "results.jsonl").read_bytes())
        for read in (theirs.run, theirs.result):
            with pytest.raises(GameError, match=r"results.jsonl, line 1 was played with other settings"):
                read()

    def test_settings_of_an_agent_in_its_name(self, tmp_path: Path) -> None:
        path = tmp_path / "leduc.strategy"
        TabularStrategy.random(compile_game("leduc"), 1).save(path)
        wanted = config("leduc", entries=f"{path}?purify=true always-call", deals=10)
        assert Tournament(tmp_path / "t", wanted).run().missing == 0

    def test_changed_strategies_are_refused(self, tmp_path: Path) -> None:
        tree = compile_game("kuhn")
        path = tmp_path / "a.profile"
        TabularStrategy.random(tree, 1).save(path)
        wanted = config(entries=f"{path} always-call", deals=10)
        Tournament(tmp_path / "t", wanted).run()
        TabularStrategy.random(tree, 2).save(path)
        with pytest.raises(GameError, match="strategy of a has changed"):
            Tournament(tmp_path / "t", wanted)

    @pytest.mark.parametrize("damage", ["nonsense\n", "{}\n", '{"match": 0, "piece": 0, "deals": 1}\n'])
    def test_damaged_results(self, damage: str, tmp_path: Path) -> None:
        tournament = Tournament(tmp_path, config(deals=10))
        (tmp_path / "results.jsonl").write_text(damage)
        with pytest.raises(GameError, match="line 1 is damaged"):
            tournament.run()

    def test_damaged_settings(self, tmp_path: Path) -> None:
        (tmp_path / "tournament.json").write_text("{")
        with pytest.raises(GameError, match="cannot be read as a tournament"):
            Tournament(tmp_path)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"deals": 0}, "deals must be at least 1"),
            ({"piece": 0}, "piece must be at least 1"),
            ({"seed": -1}, "at least 0"),
            ({"entries": "always-call"}, "got 1 entries"),
            ({"entries": "always-call nothing"}, "no agent 'nothing'"),
        ],
    )
    def test_misuse(self, change: dict[str, object], message: str, tmp_path: Path) -> None:
        with pytest.raises(GameError, match=message):
            Tournament(tmp_path, config(**change))  # type: ignore[arg-type]
        with pytest.raises(GameError, match="at least 1 worker"):
            Tournament(tmp_path / "x", config()).run(workers=0)

    def test_shared_deals(self, tmp_path: Path) -> None:
        """The same cards in all matches: two copies of one policy win the same from always-fold, deal by deal."""
        wanted = config(entries="always-fold a=always-raise b=always-raise", deals=200, shared_deals=True)
        result = Tournament(tmp_path, wanted).run()
        assert result.tallies[0, 1] == result.tallies[0, 2]
