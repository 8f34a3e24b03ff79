"""Lines as the dealer writes them, when they are sent, and players who vanish, stall or send garbage meanwhile."""

from __future__ import annotations

import dataclasses
import itertools
import random
import socket
import struct
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from counterplay.agents.connection import Connection, connect
from counterplay.agents.dealer import LOOPBACK, MOST_HELD, MOST_WARNINGS, DealerConfig
from counterplay.agents.dealer_lines import BettingPlace, CardLayout, HandLines
from counterplay.agents.rule_agent import RuleAgent
from counterplay.poker.acpc.dealing import deals
from counterplay.poker.acpc.match_log import HandRecord, format_hand, read_log
from counterplay.poker.acpc.match_state import MatchState, parse_match_state
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.rules import Betting
from tests.agents.test_dealer import (
    CALL,
    LIMIT,
    NO_LIMIT,
    PATIENCE,
    SHORT_MS,
    Scripted,
    against,
    config,
    play,
    say,
    table,
)


@pytest.mark.parametrize(
    "name", [LIMIT, NO_LIMIT, "holdem.limit.3p", "holdem.nolimit.3p", "leduc.limit.2p", "kuhn.limit.3p"]
)
def test_lines_are_those_of_match_states(name: str) -> None:
    """Random hands: each line of each seat, the line of the log and the winnings, beside ``MatchState``."""
    game, draw = STANDARD[name], random.Random(1)
    layout, stream = CardLayout(game), deals(game, 7)
    for hand_id in range(60):
        deal, names = next(stream), [f"P{number}" for number in range(game.players)]
        positions = draw.sample(range(game.players), game.players)
        hand, here = HandLines(layout, hand_id, deal, positions), BettingPlace(layout, Betting.start(game))
        while True:
            hand.write_cards(here)
            state = MatchState(hand_id, here.betting, deal)
            for seat, position in enumerate(positions):
                assert hand.line(here, seat).decode() == state.seen_by(position).text()
            if here.betting.finished:
                break
            span = here.betting.raise_range() or ()
            raises = ["r" for _ in span] if game.limit else [f"r{size}" for size in span]
            folds = ["f"] if here.betting.can_fold() else []
            here = BettingPlace(layout, here.betting.act(draw.choice(["c", *raises, *folds])))
        record = HandRecord.of(state, names)
        assert here.winnings(deal) == record.values
        assert format_hand(hand.record(here), record.values, names) == record.text()


def _folds(connection: Connection, line: str, _turn: int) -> None:
    betting = parse_match_state(STANDARD["holdem.limit.3p"], line).betting
    connection.send(f"{line}:{'f' if betting.can_fold() else 'c'}")


class TestLinesHeldBack:
    """Lines for seats that do not act are sent with the next ones, but nobody waits for them."""

    def test_a_thinking_player_does_not_keep_the_others_uninformed(self) -> None:
        """Seat 2 thinks until seat 1 has read the state: held back for longer, the match would end without a score."""
        wanted = config(hands=2, response_ms=int(1000 * PATIENCE))
        read: set[str] = set()
        news = threading.Condition()

        def state_of(line: str) -> str:
            return ":".join(line.split(":")[2:4])

        def thinks(connection: Connection, line: str, _turn: int) -> None:
            with news:
                if news.wait_for(lambda: state_of(line) in read, PATIENCE / 2):
                    connection.send(f"{line}:c")

        with table(wanted) as (dealer, outcome, _, pool):
            slow = pool.submit(Scripted(dealer.ports[1], wanted.game, thinks).run)
            link = connect(LOOPBACK, dealer.ports[0])
            link.send("VERSION:2.0.0")
            while (line := link.read(time.monotonic() + PATIENCE)) is not None:
                with news:
                    read.add(state_of(line))
                    news.notify_all()
                if parse_match_state(wanted.game, line).my_turn:
                    link.send(f"{line}:c")
            link.close()
            assert outcome.result(PATIENCE).score is not None
            assert len(slow.result(PATIENCE)) == 18

    def test_every_line_arrives_in_order(self, tmp_path: Path) -> None:
        """Quick players, three at a table, of whom one folds when it can: each sees every state of every hand."""
        wanted = config("holdem.limit.3p", hands=5, log=tmp_path / "x.log")
        with table(wanted) as (dealer, outcome, _, pool):
            seats = [
                pool.submit(Scripted(port, wanted.game, answer).run)
                for port, answer in zip(dealer.ports, (_folds, say("c"), say("c")), strict=True)
            ]
            outcome.result(PATIENCE)
            seen = [seat.result(PATIENCE) for seat in seats]
        expected = []
        for record in read_log(tmp_path / "x.log", wanted.game).records:
            betting = Betting.start(wanted.game)
            expected.append(f"{record.hand_id}:{betting.text()}")
            for action in itertools.chain(*record.betting.actions):
                betting = betting.act(action)
                expected.append(f"{record.hand_id}:{betting.text()}")
        assert [[":".join(line.split(":")[2:4]) for line in lines] for lines in seen] == [expected] * 3
        assert sum("f" in state for state in expected) > 0

    def test_a_seat_that_never_acts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """All-in with its blind in every hand: it gets its lines from time to time, not all at the end."""
        held = []
        flush = Connection.flush

        def watched(connection: Connection, seconds: float | None = None) -> None:
            held.append(len(connection.held))
            flush(connection, seconds)

        monkeypatch.setattr(Connection, "flush", watched)
        game = dataclasses.replace(STANDARD[LIMIT], stacks=(10, 1000))
        assert game.blinds == (10, 5)
        wanted = DealerConfig("test", game, 400, 0, ("A", "B"), rotate=False)
        outcome, _, _, lines = against(wanted, say("c"))
        assert outcome.score is not None
        assert len(lines) == 800
        assert max(held) <= MOST_HELD + 200

    @pytest.mark.parametrize("how", ["before", "after", "reset"])
    @pytest.mark.parametrize("seat", [0, 1])
    def test_disconnected_at_every_moment(self, how: str, seat: int, tmp_path: Path) -> None:
        """The match ends, by the fault of that seat, and goes on from its files to the log of one without a fault."""
        whole = config(hands=2, seed=4, log=tmp_path / "whole.log")
        play(whole, RuleAgent(CALL), RuleAgent(CALL))
        for moment in range(8):
            files = {"log": tmp_path / f"{moment}.log", "transactions": tmp_path / f"{moment}.tlog", "append": True}

            def answer(connection: Connection, line: str, turn: int, moment: int = moment) -> None:
                if turn < moment or how != "before":
                    connection.send(f"{line}:c")
                if turn == moment:
                    if how == "reset":
                        connection.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    connection.close()

            wanted = dataclasses.replace(whole, **files)
            outcome, _, _, _ = against(wanted, answer, seat=seat)
            assert outcome.score is None or (how != "before" and moment == 7)
            if outcome.score is None:
                assert outcome.seat == seat
                assert outcome.hands <= (moment + (how != "before")) // 4
                play(wanted, RuleAgent(CALL), RuleAgent(CALL))
            assert (tmp_path / f"{moment}.log").read_text() == (tmp_path / "whole.log").read_text()


class TestNoise:
    def test_a_comment_now_and_then_buys_no_time(self, tmp_path: Path) -> None:
        """One line at a time, each at once after the other was read: still no more time than in silence."""
        wanted = config(hands=1, response_ms=SHORT_MS, log=tmp_path / "x.log")

        def answer(connection: Connection, _line: str, _turn: int) -> None:
            for _ in range(int(PATIENCE / 0.002)):
                connection.send("# thinking", 1.0)
                time.sleep(0.002)

        outcome, _, _, _ = against(wanted, answer, seat=1)
        assert (outcome.score, outcome.seat) == (None, 1)
        assert "no answer in time" in outcome.reason

    def test_garbage_takes_bounded_memory_and_log(self, tmp_path: Path) -> None:
        """20,000 lines that are no answers, sent in large pieces and one by one; the match is played to its end."""
        garbage = [b"no\r\n", b"MATCHSTATE:0:0:\r\n", b"\x00\xff\r\n", b"x" * 500 + b"\r\n"]
        wanted = config(hands=2, log=tmp_path / "x.log")

        def answer(connection: Connection, line: str, turn: int) -> None:
            if turn == 0:
                connection.link.settimeout(PATIENCE)
                for number in range(10):
                    connection.link.sendall(garbage[number % 4] * 1_900)
                for number in range(1_000):
                    connection.link.sendall(garbage[number % 4])
            connection.send(f"{line}:c")

        tracemalloc.start()
        try:
            outcome, other, said, _ = against(wanted, answer)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert outcome.score is not None
        assert outcome.warnings == (20_000, 0)
        assert other.hands == 2
        assert peak < 8_000_000
        assert sum("WARNING" in text for text in said) == MOST_WARNINGS + 1
        assert len((tmp_path / "x.log").read_text().splitlines()) == 4 + 2 + 1
