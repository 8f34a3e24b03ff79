"""The dealer and the client over loopback: traces, rotation, logs, every fault of a player, and matches resumed."""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from counterplay.agents.agent import Agent, Seen
from counterplay.agents.client import ClientReport, play_as_client
from counterplay.agents.connection import Connection, ConnectionLostError, LineTooLongError, connect
from counterplay.agents.dealer import LOOPBACK, Dealer, DealerConfig, Outcome
from counterplay.agents.records import Transaction, read_transactions
from counterplay.agents.rule_agent import RuleAgent
from counterplay.agents.strategy_agent import StrategyAgent
from counterplay.errors import CounterplayError, GameError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_log import read_log
from counterplay.poker.acpc.match_state import MatchState, parse_match_state
from counterplay.poker.acpc.standard import STANDARD
from counterplay.strategy import TabularStrategy
from counterplay.tree import compile_game

CALL, RAISE = "always-call", "always-raise"
LIMIT = "holdem.limit.2p.reverse_blinds"
NO_LIMIT = "holdem.nolimit.2p.reverse_blinds"
PATIENCE = 120.0
"""Seconds after which a test is given up: no test waits for that long when all is well."""

SHORT_MS = 300
"""A time limit that a player is made to miss; that player acts first, so that nobody else is under it."""


def config(game: str = LIMIT, hands: int = 3, seed: int = 0, **more: object) -> DealerConfig:
    names = tuple(f"P{seat + 1}" for seat in range(STANDARD[game].players))
    return DealerConfig("test", STANDARD[game], hands, seed, names, **more)  # type: ignore[arg-type]


@contextmanager
def table(wanted: DealerConfig) -> Iterator[tuple[Dealer, Future[Outcome], list[str], ThreadPoolExecutor]]:
    """A dealer at work, what it says, and threads for players."""
    said: list[str] = []
    dealer = Dealer(wanted, said.append)
    with ThreadPoolExecutor(8) as pool:
        try:
            yield dealer, pool.submit(dealer.play), said, pool
        finally:
            dealer.close()


def play(wanted: DealerConfig, *agents: Agent) -> tuple[Outcome, list[ClientReport], list[str]]:
    """A match between our clients."""
    with table(wanted) as (dealer, outcome, said, pool):
        players = [
            pool.submit(play_as_client, agent, wanted.game, LOOPBACK, port)
            for agent, port in zip(agents, dealer.ports, strict=True)
        ]
        return outcome.result(PATIENCE), [player.result(PATIENCE) for player in players], said


class _Counted(socket.socket):
    """A socket that keeps the names of its calls."""

    def __init__(self, fileno: int) -> None:
        super().__init__(fileno=fileno)
        self.calls: list[str] = []

    def send(self, *given: Any) -> int:
        self.calls.append("send")
        return super().send(*given)

    def recv(self, *given: Any) -> bytes:
        self.calls.append("recv")
        return super().recv(*given)

    def settimeout(self, seconds: float | None) -> None:
        self.calls.append("settimeout")
        super().settimeout(seconds)

    def setsockopt(self, *given: Any) -> None:
        self.calls.append("setsockopt")
        super().setsockopt(*given)


class Scripted:
    """A player that speaks the protocol by hand; ``answer`` makes the lines to send for each of its turns."""

    def __init__(self, port: int, game: GameDefinition, answer: Callable[[Connection, str, int], None]) -> None:
        self.connection = connect(LOOPBACK, port)
        self.game = game
        self.answer = answer
        self.lines: list[str] = []

    def run(self) -> list[str]:
        turn = 0
        self.connection.send("VERSION:2.0.0")
        try:
            while (line := self.connection.read()) is not None:
                self.lines.append(line)
                if parse_match_state(self.game, line).my_turn:
                    self.answer(self.connection, line, turn)
                    turn += 1
        except (ConnectionLostError, OSError):
            pass
        finally:
            self.connection.close()
        return self.lines


def against(
    wanted: DealerConfig, answer: Callable[[Connection, str, int], None], other: Agent | None = None, seat: int = 0
) -> tuple[Outcome, ClientReport, list[str], list[str]]:
    """A match between a scripted player and one of ours, who calls."""
    with table(wanted) as (dealer, outcome, said, pool):
        scripted = Scripted(dealer.ports[seat], wanted.game, answer)
        odd = pool.submit(scripted.run)
        even = pool.submit(play_as_client, other or RuleAgent(CALL), wanted.game, LOOPBACK, dealer.ports[1 - seat])
        return outcome.result(PATIENCE), even.result(PATIENCE), said, odd.result(PATIENCE)


def say(action: str) -> Callable[[Connection, str, int], None]:
    return lambda connection, line, _turn: connection.send(f"{line}:{action}")


class TestMatches:
    def test_cards_of_the_reference_dealer(self, tmp_path: Path) -> None:
        """Seed 0, heads-up: the first hands of the reference dealer's log."""
        wanted = config(hands=4, log=tmp_path / "x.log")
        outcome, reports, _ = play(wanted, RuleAgent(CALL), RuleAgent(CALL))
        log = read_log(tmp_path / "x.log", wanted.game)
        cards = [record.state().cards_text() for record in log.records]
        assert cards == [
            "5d5c|9hQd/8dAs8s/4h/6d",
            "6sKs|5dJd/2sTh2h/Qh/8h",
            "Ah8s|2h4c/Qd7h6c/4s/Jc",
            "4s8s|6hJd/QhJs9d/Qc/9h",
        ]
        assert [record.names for record in log.records] == [("P1", "P2"), ("P2", "P1")] * 2
        assert outcome.score == log.score
        assert log.totals() == dict(zip(("P1", "P2"), log.score, strict=True))
        assert [report.hands for report in reports] == [4, 4]

    def test_three_players(self, tmp_path: Path) -> None:
        """Seed 0, three players: hands 0 and 1 of the reference dealer's log."""
        wanted = config("holdem.limit.3p", hands=3, log=tmp_path / "x.log")
        play(wanted, RuleAgent(CALL), RuleAgent(CALL), RuleAgent(CALL))
        records = read_log(tmp_path / "x.log", wanted.game).records
        assert records[0].state().cards_text() == "5d5c|9hQd|8dAs/8s4h6d/5s/Js"
        assert records[1].state().cards_text() == "Ks6h|Qs5d|Tc4d/Ah3dTd/8c/Qd"
        assert [record.names[0] for record in records] == ["P1", "P2", "P3"]

    def test_fixed_seats(self, tmp_path: Path) -> None:
        wanted = config(hands=3, rotate=False, log=tmp_path / "x.log")
        play(wanted, RuleAgent(CALL), RuleAgent(CALL))
        assert {record.names for record in read_log(tmp_path / "x.log", wanted.game).records} == {("P1", "P2")}

    def test_the_log_is_the_reference_dealers(self, tmp_path: Path) -> None:
        """Header, one line a hand, the score; two hands whose cards and betting are fixed."""
        wanted = config(hands=2, log=tmp_path / "x.log", game_file="holdem.limit.2p.reverse_blinds.game")
        play(wanted, RuleAgent("always-fold"), RuleAgent(RAISE))
        assert (tmp_path / "x.log").read_text().splitlines() == [
            "# name/game/hands/seed test holdem.limit.2p.reverse_blinds.game 2 0",
            "#--t_response 600000",
            "#--t_hand 600000",
            "#--t_per_hand 7000",
            "STATE:0:rf:5d5c|9hQd:-10|10:P1|P2",
            "STATE:1:f:6sKs|5dJd:5|-5:P2|P1",
            "SCORE:-15|15:P1|P2",
        ]

    @pytest.mark.parametrize("game", [LIMIT, NO_LIMIT, "holdem.limit.3p", "holdem.nolimit.3p", "kuhn.limit.3p"])
    def test_our_client_never_makes_the_dealer_warn(self, game: str, tmp_path: Path) -> None:
        wanted = config(game, hands=60, seed=5, log=tmp_path / "x.log")
        agents = [
            RuleAgent("uniform", seed) if seed else RuleAgent("50/50", seed) for seed in range(wanted.game.players)
        ]
        outcome, _, _ = play(wanted, *agents)
        assert outcome.warnings == (0,) * wanted.game.players
        log = read_log(tmp_path / "x.log", wanted.game)
        for record in log.records:
            assert record.recomputed() == record.values
        totals = log.totals()
        assert [totals[name] for name in wanted.players] == pytest.approx([float(won) for won in outcome.score or ()])

    @pytest.mark.slow
    @pytest.mark.parametrize("game", [LIMIT, NO_LIMIT, "holdem.limit.3p", "holdem.nolimit.3p"])
    def test_a_thousand_hands(self, game: str) -> None:
        wanted = config(game, hands=1000, seed=6)
        outcome, _, said = play(wanted, *(RuleAgent("uniform", seed) for seed in range(wanted.game.players)))
        assert outcome.score is not None
        assert not any("WARNING" in line for line in said)

    def test_a_profile_at_the_table(self) -> None:
        game = STANDARD["leduc.limit.2p"]
        profile = TabularStrategy.uniform(compile_game("leduc"))
        agents = [StrategyAgent(profile, seed, game) for seed in range(2)]
        outcome, _, said = play(config("leduc.limit.2p", hands=40), *agents)
        assert outcome.hands == 40
        assert not any("WARNING" in line for line in said)

    def test_call_against_raise(self, tmp_path: Path) -> None:
        """Both always see the showdown for 70 chips: every hand is worth 70, 0 or -70, and seats swapped cancel."""
        one = config(hands=30, seed=3, log=tmp_path / "1.log")
        first, _, _ = play(one, RuleAgent(CALL), RuleAgent(RAISE))
        second, _, _ = play(config(hands=30, seed=3, log=tmp_path / "2.log"), RuleAgent(RAISE), RuleAgent(CALL))
        assert first.score is not None
        assert second.score is not None
        assert first.score[0] + second.score[1] == 0
        for record in read_log(tmp_path / "1.log", one.game).records:
            assert set(map(abs, record.values)) <= {0, 70}

    def test_lines_are_shown_to_everybody(self) -> None:
        """One state at the start, one after each action, to each seat; cards of the other at the showdown only."""
        _, _, _, lines = against(config(hands=1), say("c"))
        assert lines == [
            "MATCHSTATE:0:0::5d5c|",
            "MATCHSTATE:0:0:c:5d5c|",
            "MATCHSTATE:0:0:cc/:5d5c|/8dAs8s",
            "MATCHSTATE:0:0:cc/c:5d5c|/8dAs8s",
            "MATCHSTATE:0:0:cc/cc/:5d5c|/8dAs8s/4h",
            "MATCHSTATE:0:0:cc/cc/c:5d5c|/8dAs8s/4h",
            "MATCHSTATE:0:0:cc/cc/cc/:5d5c|/8dAs8s/4h/6d",
            "MATCHSTATE:0:0:cc/cc/cc/c:5d5c|/8dAs8s/4h/6d",
            "MATCHSTATE:0:0:cc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d",
        ]

    def test_listens_on_loopback(self) -> None:
        dealer = Dealer(config())
        try:
            assert all(listener.getsockname()[0] == "127.0.0.1" for listener in dealer._listeners)
        finally:
            dealer.close()

    def test_messages(self) -> None:
        said: list[str] = []
        dealer = Dealer(config(hands=1), said.append, verbose=True)
        with ThreadPoolExecutor(3) as pool:
            outcome = pool.submit(dealer.play)
            for port in dealer.ports:
                pool.submit(play_as_client, RuleAgent(CALL), dealer.config.game, LOOPBACK, port)
            outcome.result(PATIENCE)
        kinds = [line.split(" ")[0].split(":")[0] for line in said]
        assert {"#", "STARTED", "TO", "FROM", "STATE", "FINISHED", "SCORE"} <= set(kinds)
        assert kinds.count("TO") == 18


class Stopping(Agent):
    """Draws as another agent does, and hangs up when it has acted often enough."""

    def __init__(self, inner: Agent, actions: int) -> None:
        self.inner = inner
        self.left = actions

    def act(self, seen: Seen) -> str:
        if self.left == 0:
            raise _StopError
        self.left -= 1
        return self.inner.act(seen)


class _StopError(Exception):
    pass


class ByState(Agent):
    """Acts by what it sees alone, so that a match that was interrupted goes on as it would have."""

    def act(self, seen: Seen) -> str:
        assert isinstance(seen, MatchState)
        legal = seen.betting.legal_actions()
        return legal[sum(map(ord, seen.text())) % len(legal)]


class Watching(ByState):
    """Keeps the ends of hands as it is shown them, and what it had seen of the betting when it acted."""

    def __init__(self) -> None:
        self.ends: list[str] = []
        self.acted: list[tuple[int, int]] = []

    def act(self, seen: Seen) -> str:
        assert isinstance(seen, MatchState)
        self.acted.append((seen.hand_id, sum(map(len, seen.betting.actions))))
        return super().act(seen)

    def observe(self, state: MatchState) -> None:
        self.ends.append(state.text())

    def places(self, hand_of: list[int]) -> list[int]:
        """Which of all answers of a match were its own; ``hand_of`` has the hand of each."""
        return [hand_of.index(hand) + before for hand, before in self.acted]


class TestResume:
    @pytest.mark.parametrize("stop", [0, 1, 7, 23])
    def test_a_match_goes_on_where_it_was(self, stop: int, tmp_path: Path) -> None:
        """Interrupted and resumed: the log of the whole match is that of one without a stop."""
        whole = config(hands=8, seed=2, log=tmp_path / "whole.log", transactions=tmp_path / "whole.tlog")
        play(whole, ByState(), ByState())
        wanted = dataclasses.replace(whole, log=tmp_path / "x.log", transactions=tmp_path / "x.tlog", append=True)
        with table(wanted) as (dealer, outcome, _, pool):
            stopping = pool.submit(play_as_client, Stopping(ByState(), stop), wanted.game, LOOPBACK, dealer.ports[0])
            other = pool.submit(play_as_client, ByState(), wanted.game, LOOPBACK, dealer.ports[1])
            assert outcome.result(PATIENCE).score is None
            assert isinstance(stopping.exception(PATIENCE), _StopError)
            other.result(PATIENCE)
        kept = read_transactions(tmp_path / "x.tlog")
        with (tmp_path / "x.tlog").open("a") as file:
            file.write("c 3 17")  # a line that a crash has cut off
        again, reports, _ = play(wanted, ByState(), ByState())
        assert (tmp_path / "x.log").read_text() == (tmp_path / "whole.log").read_text()
        assert [line.action for line in read_transactions(tmp_path / "x.tlog")] == [
            line.action for line in read_transactions(tmp_path / "whole.tlog")
        ]
        assert sum(report.actions for report in reports) + len(kept) == len(read_transactions(tmp_path / "x.tlog"))
        assert again.hands == 8

    @pytest.mark.parametrize(("game", "rotate"), [(LIMIT, True), (LIMIT, False), ("kuhn.limit.3p", True)])
    def test_hands_that_a_seat_may_have_missed_are_shown_again(self, game: str, rotate: bool, tmp_path: Path) -> None:
        """Wherever it stops: the ends of all hands since a seat's last answer, which shows that it read the others."""
        whole = config(game, hands=6, seed=4, transactions=tmp_path / "x.tlog", rotate=rotate)
        seats = range(whole.game.players)
        watching = [Watching() for _ in seats]
        play(whole, *watching)
        lines = (tmp_path / "x.tlog").read_text().splitlines(keepends=True)
        hand_of = [line.hand_id for line in read_transactions(tmp_path / "x.tlog")]
        seat_of = [
            seat for _, seat in sorted((place, seat) for seat in seats for place in watching[seat].places(hand_of))
        ]
        assert len(seat_of) == len(lines)
        for stop in range(0, len(lines), 3):
            (tmp_path / "x.tlog").write_text("".join(lines[:stop]))
            again = [Watching() for _ in seats]
            play(dataclasses.replace(whole, append=True), *again)
            for seat in seats:
                answered = [hand for hand, one in zip(hand_of[:stop], seat_of, strict=False) if one == seat]
                first = answered[-1] if answered else 0
                assert again[seat].ends == watching[seat].ends[first:]

    def test_time_is_carried_over(self, tmp_path: Path) -> None:
        wanted = config(hands=1, per_hand_ms=5000, transactions=tmp_path / "x.tlog", append=True)
        slow = Transaction("c", 0, 100.0, 104.0)
        (tmp_path / "x.tlog").write_text("".join(f"{line.text()}\n" for line in (slow, slow, slow)))
        with table(wanted) as (dealer, outcome, _, _):
            links = [connect(LOOPBACK, port) for port in dealer.ports]
            for link in links:
                link.send("VERSION:2.0.0")
            assert "8.000 s for the match" in outcome.result(PATIENCE).reason
            for link in links:
                link.close()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("nonsense\n", "is not ACTION HANDID"),
            ("c 1 1.000000 1.000000\n", "does not fit this match"),
            ("c 0 1.000000 1.000000\nf 0 1.000000 1.000000\n", "does not fit this match"),
            ("f 0 1.000000 1.000000\nf 1 1.000000 1.000000\n", "after the last hand"),
        ],
    )
    def test_a_log_that_does_not_fit(self, text: str, message: str, tmp_path: Path) -> None:
        (tmp_path / "x.tlog").write_text(text)
        wanted = config(hands=1, transactions=tmp_path / "x.tlog", append=True)

        def run() -> None:
            with table(wanted) as (dealer, outcome, _, _):
                links = [connect(LOOPBACK, port) for port in dealer.ports]
                for link in links:
                    link.send("VERSION:2.0.0")
                try:
                    outcome.result(PATIENCE)
                finally:
                    for link in links:
                        link.close()

        with pytest.raises(GameError, match=message):
            run()

    def test_without_append_a_match_begins_anew(self, tmp_path: Path) -> None:
        """Over the log of an interrupted match; that of a finished one is kept, with its transactions."""
        wanted = config(hands=2, log=tmp_path / "x.log", transactions=tmp_path / "x.tlog")
        play(wanted, RuleAgent(CALL), RuleAgent(CALL))
        first, answers = (tmp_path / "x.log").read_text(), (tmp_path / "x.tlog").read_text()
        with pytest.raises(GameError, match=r"x\.log is the log of a finished match; choose another name"):
            Dealer(wanted)
        assert (tmp_path / "x.log").read_text() == first
        assert (tmp_path / "x.tlog").read_text() == answers
        (tmp_path / "x.log").write_text(first.partition("SCORE:")[0])
        play(wanted, RuleAgent(CALL), RuleAgent(CALL))
        assert (tmp_path / "x.log").read_text() == first
        play(
            dataclasses.replace(wanted, transactions=None, append=True),
            RuleAgent(CALL),
            RuleAgent(CALL),
        )
        assert (tmp_path / "x.log").read_text() == first + first


class TestWire:
    def test_lines_are_cut_out_of_what_comes(self) -> None:
        with socket.create_server((LOOPBACK, 0)) as server:
            right = socket.create_connection(server.getsockname())
            connection = Connection(server.accept()[0])
        right.sendall(b"one\r\ntwo\n" + b"x" * 5000 + b"\nthree\n")
        right.close()
        got: list[str | None] = []
        for _ in range(5):
            try:
                got.append(connection.read())
            except LineTooLongError:
                got.append("too long")
        assert got == ["one", "two", "too long", "three", None]
        connection.close()

    def test_a_quick_answer_takes_two_calls(self) -> None:
        """One to send, one to receive, and none about timeouts; waits that the system ends are no errors."""
        with socket.create_server((LOOPBACK, 0)) as server:
            right = socket.create_connection(server.getsockname())
            link = _Counted(fileno=server.accept()[0].detach())
        connection = Connection(link)
        connection.held = b"question\r\n"
        assert connection.whole_line(connection.ask(PATIENCE)) is None  # nobody answers
        assert right.recv(100) == b"question\r\n"
        for answer, whole in ((b"answer\r\n", b"answer"), (b"half", None)):
            right.sendall(answer)
            link.calls.clear()
            connection.held = b"question\r\n"
            assert connection.whole_line(connection.ask(PATIENCE)) == whole
            assert link.calls == ["send", "recv"]
        link.calls.clear()
        assert connection.ask(PATIENCE) == b""  # with half a line there, ``read`` reads the rest
        assert link.calls == []
        right.sendall(b" a line\nnext\n")
        assert connection.read(time.monotonic() + PATIENCE) == "half a line"
        assert connection.read() == "next"
        with pytest.raises(ConnectionLostError, match="no answer in time"):
            connection.read(time.monotonic() + 0.02)
        right.shutdown(socket.SHUT_WR)
        assert connection.ask(PATIENCE) == b""
        assert connection.read() is None
        connection.close()
        right.close()

    def test_a_line_that_nobody_takes(self) -> None:
        """Who does not read is dropped when the line is full."""
        with socket.create_server((LOOPBACK, 0)) as server:
            deaf = socket.create_connection(server.getsockname())
            link, _ = server.accept()
        connection = Connection(link)

        def flood() -> None:
            while True:
                connection.send("x" * 4000, SHORT_MS / 1000)

        with pytest.raises(ConnectionLostError, match="does not read"):
            flood()
        connection.close()
        deaf.close()

    def test_nobody_there(self) -> None:
        with socket.socket() as free:
            free.bind((LOOPBACK, 0))
            port = free.getsockname()[1]
        with pytest.raises(CounterplayError, match="is a dealer there"):
            play_as_client(RuleAgent(CALL), STANDARD[LIMIT], LOOPBACK, port)

    def test_an_agent_that_cheats_is_told(self) -> None:
        class Cheat(Agent):
            def act(self, seen: Seen) -> str:
                return "f"

        with table(config(hands=1)) as (dealer, outcome, _, pool):
            caller = pool.submit(play_as_client, RuleAgent(CALL), dealer.config.game, LOOPBACK, dealer.ports[1])
            with pytest.raises(GameError, match="not legal"):
                play_as_client(Cheat(), dealer.config.game, LOOPBACK, dealer.ports[0])
            assert outcome.result(PATIENCE).score is None
            caller.result(PATIENCE)


def test_split_pots_are_exact() -> None:
    """Scores are sums of exact values: thirds do not drift."""
    outcome, _, _ = play(config("holdem.limit.3p", hands=200, seed=11), *(RuleAgent(CALL) for _ in range(3)))
    assert outcome.score is not None
    assert sum(outcome.score) == 0
    assert all(isinstance(won, int | Fraction) for won in outcome.score)
