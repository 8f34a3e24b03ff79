"""The dealer of the competition's protocol: deals, queries players over TCP, checks their answers and writes the log.

Protocol 2.0.0 and program of the Annual Computer Poker Competition (``dealer.c``).  Every decision is sent to every
seat; the acting seat answers.  An answer that cannot be parsed, or is for another state, is skipped with a warning; an
illegal action is played as a call, a no-limit raise of a wrong size with the nearest legal size.  A player who does not
answer in time, or disconnects, ends the match: it has no score, and the log keeps the hands that were finished.

The seat that acts is sent its line at once.  Lines of the others, who have nothing to answer, are sent together with
their next ones, or when the acting seat has thought for ``PATIENCE``: with quick programs an action takes one send.

We depart from the reference program where a match is resumed: every seat is shown the ends of all hands since its last
recorded answer, which it may have missed; who learns from hands may be shown one twice.  And where it can be made to
wait forever: a player who sends comments or garbage endlessly has no more time than one who is silent, one who does not
read is dropped, the start timeout also holds for the version line, and lines that are too long are discarded as they
arrive.  We listen on the loopback address by default.
"""

from __future__ import annotations

import dataclasses
import re
import socket
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from counterplay.agents.connection import Connection, ConnectionLostError, LineTooLongError
from counterplay.agents.dealer_lines import BettingPlace, CardLayout, HandLines
from counterplay.agents.records import MatchFiles, read_transactions, stamp
from counterplay.errors import CounterplayError, GameError
from counterplay.game.game import TERMINAL
from counterplay.poker.acpc.dealing import Deal, deals
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_log import format_hand, format_header, format_score
from counterplay.poker.acpc.match_state import MatchState, parse_reply
from counterplay.poker.rules import Betting, Chips

LOOPBACK = "127.0.0.1"
REPORT_EVERY = 100

MOST_WARNINGS = 100
"""Warnings about a seat that are printed; all are counted.  Of its lines that are no answers, as many are shown."""

MOST_HELD = 4096
"""Bytes that are held back for a seat after a hand."""

MOST_NODES = 50_000
"""Decisions whose betting is kept for the next hands; limit hold'em has fewer."""

_VERSION = re.compile(r"VERSION:(\d+)\.(\d+)\.(\d+)")


@dataclasses.dataclass(frozen=True)
class DealerConfig:
    """A match to deal.  Times are in milliseconds, as in the reference program.

    Attributes
    ----------
    name, game_file : str
        As written in the header of the log.
    hands, seed : int
        How many hands, and the seed of the cards.
    players : tuple of str
        The names, by seat.
    rotate : bool
        Whether seats change their position from hand to hand.
    log, transactions, append : Path, Path, bool
        Files to write, and whether to append to them; with transactions, that resumes the recorded match.
    host, ports : str, tuple of int
        Where to listen; without ports the system chooses.
    response_ms, hand_ms, per_hand_ms : int
        Longest single answer, longest total of a player in a hand, and the budget of a match for each of its hands.
    start_ms : int
        How long to wait for the players to connect; negative: forever.
    """

    name: str
    game: GameDefinition
    hands: int
    seed: int
    players: tuple[str, ...]
    game_file: str = "game"
    rotate: bool = True
    log: Path | None = None
    transactions: Path | None = None
    append: bool = False
    host: str = LOOPBACK
    ports: tuple[int, ...] = ()
    response_ms: int = 600_000
    hand_ms: int = 600_000
    per_hand_ms: int = 7_000
    start_ms: int = -1

    def __post_init__(self) -> None:
        if self.hands < 1:
            raise GameError(f"a match has at least 1 hand; got {self.hands}")
        if not 0 <= self.seed < 2**32:
            raise GameError(f"the seed of a match lies between 0 and {2**32 - 1}; got {self.seed}")
        if len(self.players) != self.game.players:
            raise GameError(f"the game is played by {self.game.players}; got {len(self.players)} names")
        for name in self.players:
            if not name or not name.isascii() or set(name) & set(":|\r\n "):
                raise GameError(f"a name in a log has no blanks, colons or bars; got {name!r}")
        if self.ports and len(self.ports) != self.game.players:
            raise GameError(f"give one port for each of {self.game.players} seats, or none; got {list(self.ports)}")
        for key in ("response_ms", "hand_ms", "per_hand_ms"):
            if getattr(self, key) < 1:
                raise GameError(f"{key} must be at least 1 millisecond; got {getattr(self, key)}")

    def header(self) -> list[str]:
        """The lines that open the log."""
        times = (self.response_ms, self.hand_ms, self.per_hand_ms)
        return format_header(self.name, self.game_file, self.hands, self.seed, times)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a match has ended, after how many hands.

    Attributes
    ----------
    score : tuple, or None
        What each seat has won over all hands; None if the match was ended early.
    reason, seat : str, int or None
        Why it was ended early, and the seat at fault.
    warnings, seconds : tuple of int, tuple of float
        Answers of each seat that were not accepted unchanged, and its thinking time.
    """

    score: tuple[Chips, ...] | None
    reason: str
    seat: int | None
    hands: int
    warnings: tuple[int, ...]
    seconds: tuple[float, ...]


class _MatchEndedError(CounterplayError):
    """The match cannot continue, through the fault of a seat."""

    def __init__(self, seat: int, reason: str) -> None:
        super().__init__(reason)
        self.seat = seat


class Dealer:
    """Deals one match.

    ``tell`` is called with every message of the dealer, without a newline: warnings and errors, and if ``verbose`` also
    lines sent and received.  ``ports`` are open once the dealer is made; ``play`` waits for the players there and
    returns when all is over.
    """

    def __init__(
        self, config: DealerConfig, tell: Callable[[str], None] = lambda _line: None, verbose: bool = False
    ) -> None:
        self.config = config
        self.tell = tell
        self.verbose = verbose
        seats = config.game.players
        resumed = config.append and config.transactions is not None
        self._replay = deque(read_transactions(config.transactions) if resumed and config.transactions else ())
        self._seats: list[Connection] = []
        self._used = [0.0] * seats
        self._hand_used = [0.0] * seats
        self._warnings = [0] * seats
        self._unanswered = [0] * seats
        self._score: list[Chips] = [0] * seats
        self._limits = (config.response_ms / 1000, config.hand_ms / 1000, config.per_hand_ms * config.hands / 1000)
        self._rotations = [[(number + shift) % seats for number in range(seats)] for shift in range(seats)]
        self._layout = CardLayout(config.game)
        self._root = BettingPlace(self._layout, Betting.start(config.game))
        self._nodes = 1
        self._epoch = time.time() - time.monotonic()  # the log has times of day; a clock that is set changes nothing
        self._listeners: list[socket.socket] = []
        self._files: MatchFiles | None = None
        self._record: Callable[[bytes, int, float, float], None] | None = None
        try:
            for number in range(seats):
                self._listeners.append(_listen(config.host, config.ports[number] if config.ports else 0))
            self._files = MatchFiles(config.log, config.transactions, config.append, tuple(self._replay))
            self._record = self._files.transaction if config.transactions is not None else None
        except CounterplayError:
            self.close()
            raise
        self.ports = tuple(listener.getsockname()[1] for listener in self._listeners)

    def close(self) -> None:
        """Disconnect and close everything; ``play`` does this itself."""
        for listener in self._listeners:
            listener.close()
        for seat in self._seats:
            seat.close()
        if self._files is not None:
            self._files.close()

    def play(self) -> Outcome:
        """Play the match; raises GameError if the transaction log of a match to resume does not fit it."""
        finished = 0
        score: tuple[Chips, ...] | None = None
        reason, fault = "", None
        try:
            self._log(*self.config.header())
            self._accept()
            if self.verbose:
                self.tell(f"STARTED at {stamp(time.time())}")
            stream = deals(self.config.game, self.config.seed)
            for hand_id in range(self.config.hands):
                self._play_hand(hand_id, next(stream))
                finished += 1
            if self._replay:
                raise GameError(f"the transaction log has {len(self._replay)} answers after the last hand")
            if self.verbose:
                self.tell(f"FINISHED at {stamp(time.time())}")
            score = tuple(self._score)
            self._log(format_score(score, self.config.players))
        except _MatchEndedError as ended:
            reason, fault = str(ended), ended.seat
            self.tell(f"ERROR: seat {ended.seat + 1} ({self.config.players[ended.seat]}): {reason}; the match ends")
        finally:
            self.close()
        return Outcome(score, reason, fault, finished, tuple(self._warnings), tuple(self._used))

    # ------------------------------------------------------------------------------------------ seats

    def _accept(self) -> None:
        """Accept the players, seat by seat, and read their versions."""
        start = self.config.start_ms
        deadline = None if start < 0 else time.monotonic() + start / 1000
        for number, listener in enumerate(self._listeners):
            try:
                listener.settimeout(None if deadline is None else max(0.001, deadline - time.monotonic()))
                link, _ = listener.accept()
            except TimeoutError:
                raise _MatchEndedError(number, f"did not connect within {start} ms") from None
            listener.close()
            link.settimeout(None)
            self._seats.append(Connection(link))
        for number, seat in enumerate(self._seats):
            try:
                line = seat.read(deadline)
            except (ConnectionLostError, LineTooLongError) as error:
                raise _MatchEndedError(number, f"sent no version: {error}") from None
            found = _VERSION.match(line or "")
            if found is None:
                raise _MatchEndedError(number, f"sent no version, but {(line or '')[:80]!r}")
            if found.group(1) != "2" or found.group(2) != "0":
                self.tell(f"ERROR: seat {number + 1} speaks version {found.group()[8:]}; this is 2.0.0, play continues")

    # ------------------------------------------------------------------------------------------ play

    def _play_hand(self, hand_id: int, deal: Deal) -> None:
        config, count = self.config, self.config.game.players
        self._hand_used = [0.0] * count
        shift = hand_id % count if config.rotate else 0
        seats = self._rotations[shift]  # by position
        hand = HandLines(self._layout, hand_id, deal, self._rotations[-shift % count])
        here = self._root
        while here.player != TERMINAL:
            seat = seats[here.player]
            here = self._replayed(hand, here, seat) if self._replay else self._asked(hand, here, seat)
        values = here.winnings(deal)
        for seat, value in zip(seats, values, strict=True):
            self._score[seat] += value
        self._log(format_hand(hand.record(here), values, [config.players[seat] for seat in seats]))
        hand.write_cards(here)
        if self._replay:
            self._hold(hand, here)
        else:
            self._show(hand, here)
            for number, connection in enumerate(self._seats):
                if len(connection.held) > MOST_HELD:  # that of a seat that never acts
                    self._flush(number)
        if self.verbose and (hand_id + 1) % REPORT_EVERY == 0:
            self.tell(f"# {hand_id + 1} hands, seconds by seat: {' '.join(map(stamp, self._used))}")

    def _after(self, here: BettingPlace, action: str) -> BettingPlace:
        """The decision after an action."""
        key = f":{action}\n".encode("ascii")
        found = here.after.get(key)
        if found is None:
            found = BettingPlace(self._layout, here.betting.act(action), key[1:-1])
            if self._nodes < MOST_NODES:
                here.after[key] = here.after[key[:-1] + b"\r\n"] = found
                self._nodes += 1
        return found

    def _asked(self, hand: HandLines, here: BettingPlace, seat: int) -> BettingPlace:
        """Send a state, wait for the answer of the seat that acts, and record it."""
        if here.round != hand.round:
            hand.write_cards(here)
        self._show(hand, here)
        connection, sent = self._seats[seat], time.monotonic()
        asked = connection.held[-len(here.line) - len(hand.starts[seat]) - len(hand.cards[seat]) : -2]
        try:
            data = connection.ask(self._limits[0])
        except ConnectionLostError as error:
            raise _MatchEndedError(seat, str(error)) from None
        received = time.monotonic()
        after = here.after.get(data[len(asked) :]) if data.startswith(asked) else None
        if after is None or self.verbose:  # as hardly ever
            after, received = self._answer(hand, here, seat, sent, connection.whole_line(data))
        self._spend(seat, received - sent)
        if self._record is not None:
            self._record(after.action, hand.hand_id, sent + self._epoch, received + self._epoch)
        return after

    def _show(self, hand: HandLines, here: BettingPlace) -> None:
        """Write a state for every seat.  The lines are held back until a seat must act or another takes a while."""
        self._hold(hand, here)
        if self.verbose:
            now = stamp(time.monotonic() + self._epoch)
            for number in range(len(self._seats)):
                self.tell(f"TO {number + 1} at {now} {hand.line(here, number).decode('ascii')}")

    def _hold(self, hand: HandLines, here: BettingPlace) -> None:
        text = here.line
        for seat, start, cards in zip(self._seats, hand.starts, hand.cards):  # noqa: B905
            seat.held += start + text + cards

    def _answer(
        self, hand: HandLines, here: BettingPlace, seat: int, sent: float, line: bytes | None
    ) -> tuple[BettingPlace, float]:
        """Where the answer of a seat leads, and when it came; ``line`` is the first that came, if it came at once."""
        asked = hand.line(here, seat)
        while True:
            if line is None:
                line = self._await(seat, sent)
            received = time.monotonic()
            if self.verbose and self._unanswered[seat] < MOST_WARNINGS:
                self._show_line(seat, received, line)
            text = None
            if line[:1] not in (b"#", b";"):
                text = self._action_text(hand.state(here), seat, asked.decode(), line.decode("ascii", "replace"))
            if text is None:
                self._unanswered[seat] += 1
                line = None
                continue
            if self.verbose and self._unanswered[seat] >= MOST_WARNINGS:
                self._show_line(seat, received, line)
            return self._played(here, seat, text, asked), received

    def _played(self, here: BettingPlace, seat: int, text: str, asked: bytes) -> BettingPlace:
        """Where an answer leads: that of the nearest legal action."""
        action = here.betting.nearest_legal(text)
        if action != text:
            self._warn(seat, f"{text[:20]!r} is not legal in {asked.decode()}; {action!r} is played")
        return self._after(here, action)

    def _await(self, seat: int, sent: float) -> bytes:
        """The next line of a seat that takes its time; the others are sent what was held back for them."""
        for number in range(len(self._seats)):
            self._flush(number)
        answer, hand_time, match_time = self._limits
        deadline = sent + min(answer, hand_time - self._hand_used[seat], match_time - self._used[seat])
        while True:
            try:
                line = self._seats[seat].read_bytes(deadline)
            except ConnectionLostError as error:
                raise _MatchEndedError(seat, str(error)) from None
            except LineTooLongError as error:
                self._warn(seat, str(error))
                continue
            if line is None:
                raise _MatchEndedError(seat, "has disconnected")
            return line

    def _flush(self, number: int) -> None:
        """Send a seat what was held back."""
        try:
            self._seats[number].flush(self._limits[0])
        except ConnectionLostError as error:
            raise _MatchEndedError(number, str(error)) from None

    def _show_line(self, seat: int, received: float, line: bytes) -> None:
        """Show a line of a seat: every answer, and the first ones of those that are none."""
        self.tell(f"FROM {seat + 1} at {stamp(received + self._epoch)} {line.decode('ascii', 'replace')}")

    def _action_text(self, state: MatchState, seat: int, asked: str, line: str) -> str | None:
        """The action of an answer, unchanged; None if it is not an answer to this state."""
        if line.startswith(asked) and line[len(asked) : len(asked) + 1] in ("", ":"):
            return line[len(asked) + 1 :]
        try:
            answered, text = parse_reply(self.config.game, line)
        except GameError as error:
            self._warn(seat, str(error))
            return None
        wanted = state.seen_by(state.betting.player)
        same = (answered.position, answered.hand_id) == (wanted.position, wanted.hand_id)
        own = answered.position or 0
        same = same and answered.betting.text() == wanted.betting.text() and answered.board == wanted.board
        if not same or answered.deal.hole[own] != wanted.deal.hole[own]:
            self._warn(seat, f"{line[:120]!r} answers another state than {asked}")
            return None
        return text

    # ------------------------------------------------------------------------------------------ books

    def _replayed(self, hand: HandLines, here: BettingPlace, seat: int) -> BettingPlace:
        """What the next action of a match that is resumed leads to."""
        entry = self._replay.popleft()
        if entry.hand_id != hand.hand_id or not here.betting.legal(entry.action):
            raise GameError(
                f"the transaction log does not fit this match: {entry.text()!r} cannot follow "
                f"{hand.state(here).text()}; were the game, the seed and the names the same?"
            )
        self._seats[seat].held = b""  # whoever answered had read what came before
        self._spend(seat, entry.received - entry.sent)
        return self._after(here, entry.action)

    def _spend(self, seat: int, seconds: float) -> None:
        """Count thinking time, and end the match when there is too much of it."""
        self._used[seat] = used = self._used[seat] + seconds
        self._hand_used[seat] = in_hand = self._hand_used[seat] + seconds
        answer, hand_time, match_time = self._limits
        if seconds <= answer and in_hand <= hand_time and used <= match_time:
            return
        spent = (seconds, in_hand, used)
        for time_spent, limit, what in zip(spent, self._limits, ("an answer", "a hand", "the match"), strict=True):
            if time_spent > limit:
                raise _MatchEndedError(seat, f"took {time_spent:.3f} s for {what}; {limit:g} s are allowed")

    def _warn(self, seat: int, text: str) -> None:
        self._warnings[seat] += 1
        if self._warnings[seat] <= MOST_WARNINGS:
            self.tell(f"WARNING: seat {seat + 1}: {text}")
        if self._warnings[seat] == MOST_WARNINGS:
            self.tell(f"WARNING: seat {seat + 1}: further warnings are only counted")

    def _log(self, *lines: str) -> None:
        for line in lines:
            if self._files is not None:
                self._files.line(line)
            if self.verbose or line.startswith(("#", "SCORE")):
                self.tell(line)


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1)
    except (OSError, OverflowError) as error:
        listener.close()
        text = getattr(error, "strerror", None) or error
        raise GameError(f"cannot listen on {host}, port {port}: {text}") from None
    return listener
