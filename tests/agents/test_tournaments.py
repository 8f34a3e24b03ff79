"""Tournaments: exact cross tables, both rankings, crashes, programs at our dealer, reports and the verbs."""

from __future__ import annotations

import itertools
import json
import re
import stat
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

from counterplay.agents.entries import make_entries
from counterplay.agents.external_programs import MatchAbortedError, Times, play_with_programs
from counterplay.agents.match_game import open_match_game
from counterplay.agents.ranking import bankroll, run_off
from counterplay.agents.tournament_report import html_report, markdown_report
from counterplay.agents.tournaments import Tournament, TournamentResult
from counterplay.cli.main import main
from counterplay.errors import GameError
from counterplay.evaluation.matches.tally import Estimate
from counterplay.experiments.kuhn_tournament import AGENTS as KUHN_AGENTS
from counterplay.experiments.kuhn_tournament import PUBLISHED, kuhn_agent
from counterplay.poker.acpc.standard import STANDARD
from counterplay.runs import solve
from counterplay.strategy import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL
from counterplay.tree import compile_game
from tests.crosstables import config, exact_scores

PROGRAM = '''#!{python}
"""A player of the protocol in a few lines, with nothing of counterplay in it: checks and calls."""
import socket, sys

link = socket.create_connection((sys.argv[1], int(sys.argv[2])))
link.sendall(b"VERSION:2.0.0\\r\\n")
hands = 0
for line in link.makefile("r", newline="\\n"):
    line = line.rstrip("\\r\\n")
    if line[:1] in "#;":
        continue
    _, position, hand, betting, cards = line.split(":")
    # In Kuhn poker for two: position 0 acts first and third, position 1 second.
    over = betting in ("cc", "crc", "crf", "rc", "rf")
    if not over and len(betting) % 2 == int(position):
        {answer}
    hands += over
print(hands)
'''


@pytest.fixture
def program(tmp_path: Path) -> str:
    return write_program(tmp_path / "startme.sh", 'link.sendall((line + ":c\\r\\n").encode())')


def write_program(path: Path, answer: str) -> str:
    path.write_text(PROGRAM.format(python=sys.executable, answer=answer))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"program:{path}"


class TestCrossTables:
    """What is played lies within the intervals of what is exact: 2.5 half widths, 4.9 standard errors."""

    def check(self, result: TournamentResult, profiles: dict[str, TabularStrategy], game: str) -> None:
        tree = compile_game(game)
        scale = 1000 / (tree.big_blind or 1.0)
        inside = 0
        table = result.cross_table()
        for agents in itertools.combinations(range(len(result.names)), tree.players):
            exact = exact_scores(tree, [profiles[result.names[agent]] for agent in agents])
            for seat, agent in enumerate(agents):
                others = tuple(other for other in agents if other != agent)
                found = table[agent, others]
                assert abs(found.mean - scale * exact[seat]) <= 2.5 * found.half + 1e-9
                inside += abs(found.mean - scale * exact[seat]) <= found.half + 1e-9
        assert inside >= 0.8 * len(table)

    @pytest.mark.parametrize(
        ("game", "deals"), [("kuhn(players=3)", 5000), ("leduc(players=3,ranks=3)", 2000), ("leduc", 10_000)]
    )
    def test_trivial_agents(self, game: str, deals: int, tmp_path: Path) -> None:
        names = "always-call always-raise always-fold uniform 50/50"
        result = Tournament(tmp_path, config(game, names, deals, seed=1)).run()
        tree = compile_game(game)
        self.check(result, {name: TRIVIAL[name].tabular(tree) for name in names.split()}, game)

    def test_strategy_files(self, tmp_path: Path) -> None:
        tree = compile_game("kuhn(players=3)")
        profiles = {"eq": solve("kuhn(players=3)", algorithm="cfr+", iterations=300).profile}
        profiles |= {f"r{seed}": TabularStrategy.random(tree, seed) for seed in range(3)}
        entries = []
        for name, profile in profiles.items():
            profile.save(tmp_path / f"{name}.profile")
            entries.append(f"{name}={tmp_path / name}.profile")
        result = Tournament(tmp_path / "t", config("kuhn(players=3)", " ".join(entries), 30_000)).run()
        self.check(result, profiles, "kuhn(players=3)")

    def test_dealt_by_definition(self, tmp_path: Path) -> None:
        """Three-player Kuhn from its competition definition."""
        names = "always-call always-raise uniform"
        result = Tournament(tmp_path, config("kuhn.limit.3p", names, 10_000)).run()
        tree = compile_game("kuhn_limit_3p")
        self.check(result, {name: TRIVIAL[name].tabular(tree) for name in names.split()}, "kuhn_limit_3p")


class TestRanking:
    def test_the_mock_tournament(self, tmp_path: Path) -> None:
        """Gibson 2014, table 4.1, played: scores of Uni, ND, NID and the equilibria in milli-chips a game."""
        tree = compile_game("kuhn")
        entries = []
        for name in KUHN_AGENTS:
            kuhn_agent(tree, name).save(tmp_path / f"{name}.profile")
            entries.append(f"{name}={tmp_path / name}.profile")
        result = Tournament(tmp_path / "t", config("kuhn", " ".join(entries), 400_000, piece=400_000)).run()
        table = result.cross_table()
        for row, name in enumerate(KUHN_AGENTS):
            for column in range(len(KUHN_AGENTS)):
                published = PUBLISHED[name][column]
                if published is not None:
                    found = table[row, (column,)]
                    assert abs(found.mean - published) <= 2.5 * found.half + 0.5
        ranked = [result.names[agent] for agent, _ in result.bankroll()]
        assert set(ranked[:3]) == {"Nash-0", "Nash-0.5", "Nash-1"}
        assert ranked[3:] == ["NID", "ND", "Uni"]
        leaving = [[result.names[agent] for agent in step.leaving] for step in result.run_off()]
        assert leaving[:3] == [["Uni"], ["ND"], ["NID"]]

    def test_run_off_differs_from_bankroll(self) -> None:
        """Whoever lives off the weakest leads the bankroll and loses the run-off."""
        rows = {(0, 1): 90.0, (0, 2): -10.0, (0, 3): 90.0, (1, 2): -20.0, (1, 3): 50.0, (2, 3): 30.0}
        scores = {match: [Estimate(mean, 1.0), Estimate(-mean, 1.0)] for match, mean in rows.items()}
        assert [agent for agent, _ in bankroll(scores, range(4))] == [0, 2, 1, 3]
        rounds = run_off(scores, range(4), 2)
        assert [step.leaving for step in rounds] == [(3,), (1,), ()]
        assert rounds[-1].table[0][0] == 2

    def test_ties_leave_together(self) -> None:
        even = {match: [Estimate(0.0, 1.0)] * 2 for match in itertools.combinations(range(4), 2)}
        assert [step.leaving for step in run_off(even, range(4), 2)] == [()]
        rows = {(0, 1): 4.0, (0, 2): 4.0, (1, 2): 0.0, (0, 3): 0.0, (1, 3): -4.0, (2, 3): -4.0}
        scores = {match: [Estimate(mean, 1.0), Estimate(-mean, 1.0)] for match, mean in rows.items()}
        assert run_off(scores, range(4), 2)[0].leaving == (1, 2)

    def test_three_players(self) -> None:
        scores = {
            match: [Estimate(float(agent) - sum(match) / 3, 0.3) for agent in match]
            for match in itertools.combinations(range(5), 3)
        }
        assert [step.leaving for step in run_off(scores, range(5), 3)] == [(0,), (1,), ()]

    def test_intervals(self) -> None:
        scores = {(0, 1): [Estimate(1.0, 3.0)] * 2, (0, 2): [Estimate(3.0, 4.0)] * 2}
        apart = dict(bankroll(scores, range(3)))
        together = dict(bankroll(scores, range(3), shared_deals=True))
        assert apart[0] == (2.0, 2.5)
        assert together[0] == (2.0, 3.5)


class TestPrograms:
    def test_a_program_of_ones_own(self, program: str, tmp_path: Path) -> None:
        """A foreign program that always calls in a tournament with ours: exact scores against always-raise."""
        wanted = config("kuhn.limit.2p", f"mine={program} always-raise always-fold", 20)
        result = Tournament(tmp_path / "t", wanted).run()
        assert result.missing == 0
        table = result.cross_table()
        assert table[0, (1,)] == (0.0, 0.0)
        assert table[0, (2,)].mean == 0.0
        told = sorted((tmp_path / "t").glob("match0.*.std"))
        assert [path.read_text().split() for path in told] == [["20"], ["20"]]
        logs = sorted((tmp_path / "t").glob("match0.*.log"))
        assert [line.split(":")[-1] for log in logs for line in log.read_text().splitlines()[-1:]] == [
            "mine|always-raise",
            "always-raise|mine",
        ]

    def test_logs_that_are_complete_are_not_played_again(self, program: str, tmp_path: Path) -> None:
        played = open_match_game("kuhn.limit.2p")
        entries = make_entries([f"mine={program}", "uniform"])
        first = play_with_programs(played, entries, 15, 3, tmp_path, "m")
        written = {path: path.stat().st_mtime_ns for path in tmp_path.glob("m.*log")}
        assert play_with_programs(played, entries, 15, 3, tmp_path, "m") == first
        assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("m.*log")} == written

    @pytest.mark.parametrize("ours", ["always-call", "uniform", "50/50"])
    @pytest.mark.parametrize("kept", [9, 10])
    def test_a_log_that_was_cut_off_goes_on(self, program: str, tmp_path: Path, ours: str, kept: int) -> None:
        """Also in the middle of a hand, and with agents that draw their actions."""
        played = open_match_game("kuhn.limit.2p")
        entries = make_entries([f"mine={program}", ours])
        first = play_with_programs(played, entries, 15, 3, tmp_path, "m")
        whole = (tmp_path / "m.1.log").read_text()
        for name in ("m.1.log", "m.1.tlog"):
            lines = (tmp_path / name).read_text().splitlines(keepends=True)
            (tmp_path / name).write_text("".join(lines[:kept]) + lines[kept][:7])
        assert play_with_programs(played, entries, 15, 3, tmp_path, "m") == first
        assert (tmp_path / "m.1.log").read_text() == whole

    def test_a_program_that_fails(self, tmp_path: Path) -> None:
        """It is named, the other matches are played, and the verdict stands in the report."""
        bad = write_program(tmp_path / "bad.sh", "sys.exit(3)")
        wanted = config("kuhn.limit.2p", f"bad={bad} always-call always-raise", 5)
        result = Tournament(tmp_path / "t", wanted).run()
        assert result.missing == 2
        assert len(result.aborted) == 2
        assert all(re.search(r": bad (has disconnected|the connection is lost)", reason) for reason in result.aborted)
        assert result.cross_table()[1, (2,)].mean == 0.0
        assert "ended early" in markdown_report(result)

    def test_a_program_that_does_not_come(self, tmp_path: Path) -> None:
        lazy = tmp_path / "lazy.sh"
        lazy.write_text("#!/bin/sh\nexit 0\n")
        lazy.chmod(0o755)
        entries = make_entries([f"lazy=program:{lazy}", "always-call"])
        with pytest.raises(MatchAbortedError, match="lazy did not connect"):
            play_with_programs(open_match_game("kuhn"), entries, 5, 1, tmp_path, "m", Times(start_ms=300))

    def test_a_name_longer_than_a_file_may_have(self, program: str, tmp_path: Path) -> None:
        entries = make_entries([f"{'x' * 300}={program}", "always-call"])
        with pytest.raises(GameError, match="File name too long"):
            play_with_programs(open_match_game("kuhn"), entries, 5, 1, tmp_path, "x" * 300)

    def test_only_poker(self, program: str, tmp_path: Path) -> None:
        with pytest.raises(GameError, match="the protocol cannot play it"):
            Tournament(tmp_path, config("goofspiel(cards=3)", f"uniform {program}"))


class TestReports:
    @pytest.fixture
    def result(self, tmp_path: Path) -> TournamentResult:
        return Tournament(
            tmp_path, config("kuhn(players=3)", "always-call always-raise always-fold a<b=uniform", 500)
        ).run()

    def test_markdown(self, result: TournamentResult) -> None:
        text = markdown_report(result)
        tables = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
        assert len(tables) == 3
        for table in tables:
            assert len({line.count("|") for line in table.strip().splitlines()}) == 1
        assert "| always-fold |" in text
        assert "mbb/g" in text

    def test_html(self, result: TournamentResult) -> None:
        text = html_report(result)
        assert "a&lt;b" in text
        assert "a<b" not in text
        drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
        assert len(drawings) == 2
        for drawing in drawings:
            xml.etree.ElementTree.fromstring(drawing)
        assert text.count("<table>") == 3

    def test_before_anything_is_played(self, tmp_path: Path) -> None:
        empty = Tournament(tmp_path / "t", config()).result()
        assert "Unfinished" in markdown_report(empty)
        assert "<svg" not in html_report(empty)

    def test_chips_where_there_is_no_blind(self, tmp_path: Path) -> None:
        result = Tournament(tmp_path / "t", config("matrix", "uniform x=uniform", 50)).run()
        assert result.unit == "chips a hand"
        assert html_report(result)


class TestVerbs:
    def test_tournament(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = str(tmp_path / "t")
        words = [
            "tournament",
            folder,
            "always-call",
            "always-raise",
            "me=always-fold",
            "--game",
            "leduc",
            "--deals",
            "300",
            "--json",
        ]
        assert main(words) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["entries"] == ["always-call", "always-raise", "me"]
        assert told["bankroll"][-1] == {"name": "me", "score": -500.0, "score_95": 0.0}
        assert told["hands"] == 3 * 600
        assert Path(told["report"]).read_text().startswith("<!doctype html>")
        assert main(["tournament", folder]) == 0
        assert "Instant run-off" in capsys.readouterr().out

    @pytest.mark.parametrize("words", [["x"], ["x", "always-call", "always-call"], ["x", "--game", "kuhn"]])
    def test_misuse(
        self, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert main(["tournament", *words]) == 2
        assert "counterplay: " in capsys.readouterr().err

    def test_dealer_and_agents(self, tmp_path: Path) -> None:
        """Three processes: the dealer prints its ports, agents come, the score is the last line."""
        counterplay = [sys.executable, "-m", "counterplay"]
        game = "leduc.limit.2p"
        words = ["dealer", str(tmp_path / "m"), game, "30", "7", "A", "B", "-T", "-q", "--start_timeout", "120000"]
        dealer = subprocess.Popen([*counterplay, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert dealer.stdout is not None
        ports = dealer.stdout.readline().split()
        players = [
            subprocess.Popen([*counterplay, "agent", name, game, "127.0.0.1", port, "--json"], stdout=subprocess.PIPE)
            for name, port in zip(("always-call", "uniform"), ports, strict=True)
        ]
        out, err = dealer.communicate(timeout=120)
        assert dealer.returncode == 0, err
        assert re.fullmatch(r"SCORE:-?\d+\|-?\d+:A\|B", out.strip())
        assert err.startswith("# name/game/hands/seed ")
        assert [json.loads(player.communicate(timeout=120)[0])["hands"] for player in players] == [30, 30]
        assert (tmp_path / "m.log").read_text().splitlines()[-1] == out.strip()
        assert len((tmp_path / "m.tlog").read_text().splitlines()) >= 60

    def test_dealer_that_waits_in_vain(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        words = ["dealer", str(tmp_path / "m"), "kuhn", "3", "0", "A", "B", "--start_timeout", "50", "--json"]
        assert main(words) == 1
        told = json.loads(capsys.readouterr().out)
        assert told["score"] is None
        assert "did not connect" in told["reason"]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["dealer", "m", "goofspiel", "3", "0", "A", "B"], "the protocol cannot play it"),
            (["dealer", "m", "kuhn", "3", "0", "A", "B", "-p", "x"], "ports are written"),
            (["dealer", "m", "kuhn", "0", "0", "A", "B"], "at least 1 hand"),
            (["agent", "always-call", "goofspiel", "127.0.0.1", "1"], "the protocol cannot play it"),
            (["agent", "always-call", "kuhn", "127.0.0.1", "1"], "is a dealer there"),
        ],
    )
    def test_dealer_misuse(
        self,
        words: list[str],
        message: str,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert main(words) == 2
        assert message in capsys.readouterr().err


def test_standard_games_ship() -> None:
    assert all(open_match_game(name).definition() == game for name, game in STANDARD.items())
