"""Players that break the rules, answer late, vanish or never come: what the dealer does."""

from __future__ import annotations

import dataclasses
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterplay.agents.client import play_as_client
from counterplay.agents.connection import Connection, ConnectionLostError, connect
from counterplay.agents.dealer import LOOPBACK, MOST_WARNINGS, Dealer, Outcome
from counterplay.agents.records import read_transactions
from counterplay.agents.rule_agent import RuleAgent
from counterplay.errors import GameError
from counterplay.poker.acpc.match_log import read_log
from counterplay.poker.acpc.standard import STANDARD
from tests.agents.test_dealer import LIMIT, NO_LIMIT, PATIENCE, RAISE, SHORT_MS, Scripted, against, config, say, table


class TestFaults:
    """What section 5 of the protocol says of each answer; the other player and the log stay whole."""

    def check_aborted(self, outcome: Outcome, log: Path, hands: int, game: str = LIMIT, seat: int = 0) -> None:
        assert outcome.score is None
        assert outcome.seat == seat
        assert outcome.hands == hands
        found = read_log(log, STANDARD[game])
        assert len(found.records) == hands
        assert found.seats == ()
        assert all(record.recomputed() == record.values for record in found.records)

    def test_never_answers(self, tmp_path: Path) -> None:
        wanted = config(hands=3, response_ms=10 * SHORT_MS, log=tmp_path / "x.log")

        def answer(connection: Connection, line: str, turn: int) -> None:
            if turn < 4:
                connection.send(f"{line}:c")

        outcome, other, said, _ = against(wanted, answer)
        self.check_aborted(outcome, tmp_path / "x.log", 1)
        assert other.hands == 1
        assert "no answer in time" in outcome.reason
        assert any(line.startswith("ERROR: seat 1") for line in said)

    @pytest.mark.parametrize("limit", ["hand_ms", "per_hand_ms"])
    def test_uses_up_its_time(self, limit: str, tmp_path: Path) -> None:
        wanted = dataclasses.replace(config(hands=1, log=tmp_path / "x.log"), **{limit: SHORT_MS})
        outcome, _, _, _ = against(wanted, lambda *_: None, seat=1)
        self.check_aborted(outcome, tmp_path / "x.log", 0, seat=1)

    def test_comments_without_end_buy_no_time(self, tmp_path: Path) -> None:
        wanted = config(hands=1, response_ms=SHORT_MS, log=tmp_path / "x.log")

        def answer(connection: Connection, _line: str, _turn: int) -> None:
            while True:
                connection.send("# thinking", 1.0)

        outcome, _, _, _ = against(wanted, answer, seat=1)
        self.check_aborted(outcome, tmp_path / "x.log", 0, seat=1)

    def test_hangs_up_in_a_hand(self, tmp_path: Path) -> None:
        wanted = config(hands=3, log=tmp_path / "x.log")

        def answer(connection: Connection, line: str, turn: int) -> None:
            if turn == 6:
                connection.close()
            else:
                connection.send(f"{line}:c")

        outcome, other, _, _ = against(wanted, answer)
        self.check_aborted(outcome, tmp_path / "x.log", 1)
        assert other.hands == 1

    def test_the_waiting_player_hangs_up(self, tmp_path: Path) -> None:
        """The seat that does not act is noticed at the latest when it must act."""
        wanted = config(hands=3, log=tmp_path / "x.log")

        def answer(connection: Connection, line: str, _turn: int) -> None:
            connection.send(f"{line}:c")
            connection.close()

        outcome, other, _, _ = against(wanted, answer, seat=1)
        self.check_aborted(outcome, tmp_path / "x.log", 0, seat=1)
        assert other.hands == 0

    @pytest.mark.parametrize(
        "garbage",
        ["", "hello", "MATCHSTATE:0:0", "MATCHSTATE:9:0::|:c", "MATCHSTATE:0:0:zz:5d5c|:c", "\x00\xff\x01", ":::::::c"],
    )
    def test_garbage_is_read_over(self, garbage: str) -> None:
        def answer(connection: Connection, line: str, _turn: int) -> None:
            connection.send(garbage)
            connection.send(f"{line}:c")

        outcome, other, said, _ = against(config(hands=2), answer)
        assert outcome.score is not None
        assert outcome.warnings[0] == 8
        assert other.hands == 2
        assert any(line.startswith("WARNING: seat 1") for line in said)

    def test_endless_garbage_is_counted_but_not_printed(self) -> None:
        def answer(connection: Connection, line: str, turn: int) -> None:
            for _ in range(5_000 if turn == 0 else 0):
                connection.send("no", 5.0)
            connection.send(f"{line}:c")

        outcome, other, said, _ = against(config(hands=2), answer)
        assert outcome.score is not None
        assert outcome.warnings[0] == 5_000
        assert other.hands == 2
        assert sum(line.startswith("WARNING: seat 1") for line in said) == MOST_WARNINGS + 1
        assert said[-1] == "WARNING: seat 1: further warnings are only counted" or "SCORE" in said[-1]

    @pytest.mark.parametrize("line", ["no", "# thinking"])
    def test_endless_lines_are_not_all_shown(self, line: str) -> None:
        """All answers are shown, of other lines the first; what a dealer prints is bounded by the hands."""
        said: list[str] = []
        dealer = Dealer(config(hands=2), said.append, verbose=True)

        def answer(connection: Connection, asked: str, turn: int) -> None:
            for _ in range(1_000 if turn == 0 else 0):
                connection.send(line, 5.0)
            connection.send(f"{asked}:c")

        with ThreadPoolExecutor(3) as pool:
            outcome = pool.submit(dealer.play)
            pool.submit(Scripted(dealer.ports[0], dealer.config.game, answer).run)
            pool.submit(play_as_client, RuleAgent("always-call"), dealer.config.game, LOOPBACK, dealer.ports[1])
            assert outcome.result(PATIENCE).score is not None
        shown = [text for text in said if text.startswith("FROM 1")]
        assert sum(text.endswith(f" {line}") for text in shown) == MOST_WARNINGS
        assert sum(text.endswith(":c") for text in shown) == 8

    def test_a_clock_that_is_set(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Time is measured by a clock that nobody sets; transactions still have the time of day."""
        wanted = config(hands=2, transactions=tmp_path / "x.tlog")

        def answer(connection: Connection, line: str, turn: int) -> None:
            if turn == 1:
                monkeypatch.setattr("time.time", lambda: 0.0)
            connection.send(f"{line}:c")

        before = time.time()
        outcome, _, _, _ = against(wanted, answer)
        assert outcome.score is not None
        monkeypatch.undo()
        entries = read_transactions(tmp_path / "x.tlog")
        assert all(before <= entry.sent <= entry.received <= time.time() for entry in entries)

    def test_ten_megabytes_without_a_newline(self) -> None:
        """Told once, thrown away, and the answer behind it counts."""

        def answer(connection: Connection, line: str, turn: int) -> None:
            if turn == 0:
                connection.link.settimeout(PATIENCE)
                connection.link.sendall(b"x" * 10_000_000)
                connection.link.sendall(b"\r\n")
            connection.send(f"{line}:c")

        outcome, other, said, _ = against(config(hands=2), answer)
        assert outcome.score is not None
        assert outcome.warnings == (1, 0)
        assert other.hands == 2
        assert any("4096 bytes" in line for line in said)

    def test_ten_megabytes_and_silence(self, tmp_path: Path) -> None:
        wanted = config(hands=2, response_ms=2000, log=tmp_path / "x.log")

        def answer(connection: Connection, _line: str, _turn: int) -> None:
            connection.link.settimeout(PATIENCE)
            connection.link.sendall(b"x" * 10_000_000)

        outcome, _, _, _ = against(wanted, answer, seat=1)
        self.check_aborted(outcome, tmp_path / "x.log", 0, seat=1)

    def test_late_and_early_replies_are_harmless(self) -> None:
        """Answers to states that are past, or not there yet, are read over with a warning."""
        before: list[str] = []

        def answer(connection: Connection, line: str, _turn: int) -> None:
            for old in before[-2:]:
                connection.send(f"{old}:r")
            connection.send("MATCHSTATE:0:7::5d5c|:r")
            connection.send(f"{line}:c")
            before.append(line)

        outcome, other, _, _ = against(config(hands=2), answer)
        assert outcome.score is not None
        assert outcome.warnings[0] == 8 + 13  # the state not there yet each time; two old ones from the third turn on
        assert other.hands == 2

    @pytest.mark.parametrize("action", ["", ":", "x", "r r", "R9", "q5", " c", "/", "r" * 3000])
    def test_what_is_no_action_is_a_call(self, action: str, tmp_path: Path) -> None:
        """Without a letter of an action behind the state, or one that is unknown."""
        wanted = config(hands=1, log=tmp_path / "x.log")
        outcome, _, _, _ = against(wanted, say(action))
        raises = action[:1] in ("r", "R")
        betting = read_log(tmp_path / "x.log", wanted.game).records[0].betting.text()
        assert betting == ("crc/rc/rc/rc" if raises else "cc/cc/cc/cc")
        assert outcome.warnings[0] == 4

    def test_no_colon_at_all(self, tmp_path: Path) -> None:
        wanted = config(hands=1, log=tmp_path / "x.log")
        outcome, _, _, _ = against(wanted, lambda connection, line, _turn: connection.send(line))
        assert read_log(tmp_path / "x.log", wanted.game).records[0].betting.text() == "cc/cc/cc/cc"
        assert outcome.warnings[0] == 4

    def test_folds_when_it_could_check(self, tmp_path: Path) -> None:
        wanted = config(hands=1, log=tmp_path / "x.log")
        outcome, _, _, _ = against(wanted, say("f"))
        assert read_log(tmp_path / "x.log", wanted.game).records[0].betting.text() == "cc/cc/cc/cc"
        assert outcome.warnings == (4, 0)

    def test_raises_over_the_cap(self, tmp_path: Path) -> None:
        wanted = config(hands=1, log=tmp_path / "x.log")
        outcome, _, _, _ = against(wanted, say("r"), RuleAgent(RAISE))
        assert read_log(tmp_path / "x.log", wanted.game).records[0].betting.text() == "rrrc/rrrrc/rrrrc/rrrrc"
        assert outcome.warnings[0] > 0

    @pytest.mark.parametrize(
        ("action", "played"),
        [
            ("r999999", "r20000"),
            ("r1", "r200"),
            ("r0", "r200"),
            ("r" + "9" * 3000, "r20000"),
            ("r-5", "r200"),
            ("r", "c"),
        ],
    )
    def test_sizes_go_to_the_nearest_legal_one(self, action: str, played: str, tmp_path: Path) -> None:
        wanted = config(NO_LIMIT, hands=1, log=tmp_path / "x.log")
        outcome, _, _, _ = against(wanted, say(action))
        betting = read_log(tmp_path / "x.log", wanted.game).records[0].betting.text()
        assert betting.split("/")[0] == ("cc" if played == "c" else f"c{played}c")
        assert outcome.warnings[0] >= 1

    def test_other_letters_and_lost_slashes_are_understood(self, tmp_path: Path) -> None:
        wanted = config(hands=1, log=tmp_path / "x.log")

        def answer(connection: Connection, line: str, _turn: int) -> None:
            start, place, hand, betting, cards = line.split(":")
            connection.send(f"{start}:{place}:{hand}:{betting.replace('/', '').upper()}:{cards}:k")

        outcome, _, _, _ = against(wanted, answer)
        assert outcome.score is not None
        assert read_log(tmp_path / "x.log", wanted.game).records[0].betting.text() == "cc/cc/cc/cc"

    def test_plain_newlines_and_pieces(self) -> None:
        """A line may end in a newline alone and come byte by byte."""

        def answer(connection: Connection, line: str, _turn: int) -> None:
            for byte in f"{line}:c\n".encode():
                connection.link.sendall(bytes([byte]))

        outcome, _, _, _ = against(config(hands=1), answer)
        assert outcome.warnings == (0, 0)


class TestStart:
    @pytest.mark.parametrize("line", ["HELLO", "", "VERSION:", "VERSION:two", "x" * 9000])
    def test_no_version_ends_the_match(self, line: str) -> None:
        with table(config(start_ms=int(1000 * PATIENCE))) as (dealer, outcome, _, _):
            links = [connect(LOOPBACK, port) for port in dealer.ports]
            links[0].send(line)
            links[1].send("VERSION:2.0.0")
            result = outcome.result(PATIENCE)
            for link in links:
                link.close()
        assert result.score is None
        assert result.seat == 0
        assert "sent no version" in result.reason

    def test_other_versions_play(self) -> None:
        with table(config(hands=1)) as (dealer, outcome, said, pool):
            link = connect(LOOPBACK, dealer.ports[0])
            link.send("VERSION:3.1.4")
            other = pool.submit(play_as_client, RuleAgent(RAISE), dealer.config.game, LOOPBACK, dealer.ports[1])
            while (line := link.read()) is not None and not line.startswith("MATCHSTATE:0:0:r:"):
                pass
            link.send(f"{line}:f")
            assert outcome.result(PATIENCE).score == (-10, 10)
            other.result(PATIENCE)
            link.close()
        assert any("3.1.4" in line for line in said)

    def test_nobody_comes(self) -> None:
        with table(config(start_ms=50)) as (_, outcome, _, _):
            assert "did not connect" in outcome.result(PATIENCE).reason

    def test_one_seat_one_connection(self) -> None:
        """A listening socket is closed after its connection: a second player is turned away."""
        with table(config(hands=1)) as (dealer, outcome, _, _):
            first = connect(LOOPBACK, dealer.ports[0])
            second = connect(LOOPBACK, dealer.ports[1])
            first.send("VERSION:2.0.0")
            second.send("VERSION:2.0.0")
            assert first.read() is not None  # play has begun
            with pytest.raises(ConnectionLostError, match="cannot connect"):
                connect(LOOPBACK, dealer.ports[0])
            first.close()
            second.close()
            assert outcome.result(PATIENCE).score is None

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"hands": 0}, "at least 1 hand"),
            ({"seed": -1}, "seed"),
            ({"players": ("a",)}, "played by 2"),
            ({"players": ("a", "b c")}, "no blanks"),
            ({"ports": (1,)}, "one port"),
            ({"response_ms": 0}, "at least 1 millisecond"),
        ],
    )
    def test_misuse(self, change: dict[str, object], message: str) -> None:
        with pytest.raises(GameError, match=message):
            dataclasses.replace(config(), **change)  # type: ignore[arg-type]

    def test_ports(self) -> None:
        with socket.socket() as taken:
            taken.bind((LOOPBACK, 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.raises(GameError, match="cannot listen"):
                Dealer(config(ports=(port, port)))
        with pytest.raises(GameError, match="cannot listen"):
            Dealer(config(ports=(70000, 70001)))

    def test_files_that_cannot_be_written(self, tmp_path: Path) -> None:
        with pytest.raises(GameError, match="cannot write"):
            Dealer(config(log=tmp_path / "none" / "x.log"))
