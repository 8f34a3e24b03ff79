"""The dealer of the competition's protocol: deals, queries players over TCP, checks their answers and writes the log.

Protocol 2.0.0 and program of the Annual Computer Poker Competition (``dealer.c``).  Every decision is sent to every
seat; the acting seat answers.  An answer that cannot be parsed, or is for another state, is skipped with a warning; an
illegal action is played as a call, a no-limit raise of a wrong size with the nearest legal size.  A player who does not
answer in time, or disconnects, ends the match: it has no score, and the log keeps the hands that were finished.

We depart from the reference program where it can be made to wait forever: a player who sends comments or garbage
endlessly has no more time than one who is silent, one who does not read is dropped, the start timeout also holds for
the version line, and lines that are too long are discarded as they arrive.  We listen on the loopback address by
default.
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
from counterplay.agents.records import MatchFiles, Transaction, read_transactions, stamp
from counterplay.errors import CounterplayError, GameError
from counterplay.poker.acpc.dealing import Deal, deals
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_log import HandRecord, format_header, format_score
from counterplay.poker.acpc.match_state import MatchState, board_text, holes_text, parse_match_state, parse_reply
from counterplay.poker.rules import Betting, Chips

LOOPBACK = "127.0.0.1"
REPORT_EVERY = 100

MOST_WARNINGS = 100
"""Warnings about a seat that are printed; all are counted.  Of its lines that are no answers, as many are shown."""

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


class _Decision:
    """A betting as it is sent, and the decisions after it, which are the same in every hand."""

    __slots__ = ("after", "betting", "line")

    def __init__(self, betting: Betting) -> None:
        self.betting = betting
        self.line = betting.text().encode("ascii")
        self.after: dict[bytes, _Decision] = {}


class _Hand:
    """What the seats are sent in a hand: for each the start of its lines, and its cards as they are written."""

    def __init__(self, hand_id: int, deal: Deal, positions: list[int]) -> None:
        self.hand_id = hand_id
        self.deal = deal
        self.starts = [f"MATCHSTATE:{position}:{hand_id}:".encode("ascii") for position in positions]
        self.positions = positions
        self.holes = [
            holes_text([cards if place == own else () for place, cards in enumerate(deal.hole)]) for own in positions
        ]
        self.round = -1
        self.cards: list[bytes] = []

    def state(self, betting: Betting) -> MatchState:
        """The hand after some betting."""
        return MatchState(self.hand_id, betting, self.deal)

    def write_cards(self, betting: Betting) -> None:
        """Write the cards of all seats; they change when a round or the hand is over."""
        board = board_text(betting.game, self.deal.board, betting.round)
        holes = self.holes
        if betting.showdown:
            state = self.state(betting)
            holes = [holes_text(state.seen_by(position).deal.hole) for position in self.positions]
        self.cards = [f":{hole}{board}\r\n".encode("ascii") for hole in holes]
        self.round = betting.round


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
        self._root = _Decision(Betting.start(config.game))
        self._nodes = 1
        self._epoch = time.time() - time.monotonic()  # the log has times of day; a clock that is set changes nothing
        self._listeners: list[socket.socket] = []
        self._files: MatchFiles | None = None
        try:
            for number in range(seats):
                self._listeners.append(_listen(config.host, config.ports[number] if config.ports else 0))
            self._files = MatchFiles(config.log, config.transactions, config.append, tuple(self._replay))
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

    def _seat_of(self, hand_id: int, position: int) -> int:
        return (position + hand_id) % self.config.game.players if self.config.rotate else position

    def _position_of(self, hand_id: int, seat: int) -> int:
        return (seat - hand_id) % self.config.game.players if self.config.rotate else seat

    # ------------------------------------------------------------------------------------------ play

    def _play_hand(self, hand_id: int, deal: Deal) -> None:
        config, players = self.config, range(self.config.game.players)
        self._hand_used = [0.0] * config.game.players
        seats = [self._seat_of(hand_id, position) for position in players]
        hand = _Hand(hand_id, deal, [self._position_of(hand_id, seat) for seat in players])
        here = self._root
        while not here.betting.finished:
            seat = seats[here.betting.player]
            if self._replay:
                action = self._replayed(hand.state(here.betting), seat)
            else:
                asked, sent = self._show(hand, here, seat)
                action, received = self._answer(hand, here, seat, asked, sent)
                if self._files is not None:
                    self._files.transaction(Transaction(action, hand_id, sent, received))
            here = self._after(here, action)
        record = HandRecord.of(hand.state(here.betting), [config.players[seat] for seat in seats])
        for seat, value in zip(seats, record.values, strict=True):
            self._score[seat] += value
        self._log(record.text())
        if not self._replay:
            self._show(hand, here, None)
        if self.verbose and (hand_id + 1) % REPORT_EVERY == 0:
            self.tell(f"# {hand_id + 1} hands, seconds by seat: {' '.join(map(stamp, self._used))}")

    def _after(self, here: _Decision, action: str) -> _Decision:
        """The decision after an action."""
        key = action.encode("ascii")
        found = here.after.get(key)
        if found is None:
            found = _Decision(here.betting.act(action))
            if self._nodes < MOST_NODES:
                here.after[key] = found
                self._nodes += 1
        return found

    def _show(self, hand: _Hand, here: _Decision, acting: int | None) -> tuple[bytes, float]:
        """Send a state to every seat; what the acting one was sent, and when.

        The end of a hand, where nobody acts, is sent together with the beginning of the next.
        """
        if acting is None or here.betting.round != hand.round:
            hand.write_cards(here.betting)
        asked, sent = b"", 0.0
        for number, seat in enumerate(self._seats):
            line = hand.starts[number] + here.line + hand.cards[number]
            now = time.monotonic() + self._epoch
            if number == acting:
                asked, sent = line[:-2], now
            if self.verbose:
                self.tell(f"TO {number + 1} at {stamp(now)} {line[:-2].decode('ascii')}")
            if acting is None:
                seat.queue_bytes(line)
                continue
            try:
                seat.send_bytes(line, self._limits[0])
            except ConnectionLostError as error:
                raise _MatchEndedError(number, str(error)) from None
        return asked, sent

    def _answer(self, hand: _Hand, here: _Decision, seat: int, asked: bytes, sent: float) -> tuple[str, float]:
        """Wait for the answer of a seat to the line that it was sent; the action to play, and when it came."""
        answer, hand_time, match_time = self._limits
        allowed = min(answer, hand_time - self._hand_used[seat], match_time - self._used[seat])
        deadline = time.monotonic() + allowed
        end = len(asked)
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
            received = time.monotonic() + self._epoch
            if self.verbose and self._unanswered[seat] < MOST_WARNINGS:
                self._show_line(seat, received, line)
            if line[:1] in (b"#", b";"):
                self._unanswered[seat] += 1
                continue
            known = line[end + 1 :]
            if known in here.after and line.startswith(asked) and line[end : end + 1] == b":":  # as nearly always
                if self.verbose and self._unanswered[seat] >= MOST_WARNINGS:
                    self._show_line(seat, received, line)
                self._spend(seat, received - sent)
                return known.decode("ascii"), received
            text = self._action_text(hand.state(here.betting), seat, asked.decode(), line.decode("ascii", "replace"))
            if text is None:
                self._unanswered[seat] += 1
                continue
            if self.verbose and self._unanswered[seat] >= MOST_WARNINGS:
                self._show_line(seat, received, line)
            self._spend(seat, received - sent)
            action = here.betting.nearest_legal(text)
            if action != text:
                self._warn(seat, f"{text[:20]!r} is not legal in {asked.decode()}; {action!r} is played")
            return action, received

    def _show_line(self, seat: int, received: float, line: bytes) -> None:
        """Show a line of a seat: every answer, and the first ones of those that are none."""
        self.tell(f"FROM {seat + 1} at {stamp(received)} {line.decode('ascii', 'replace')}")

    def _action_text(self, state: MatchState, seat: int, asked: str, line: str) -> str | None:
        """The action of an answer, unchanged; None if it is not an answer to this state."""
        if line.startswith(asked) and line[len(asked) : len(asked) + 1] in ("", ":"):
            return line[len(asked) + 1 :]
        try:
            try:
                answered, text = parse_reply(self.config.game, line)
            except GameError:
                answered, text = parse_match_state(self.config.game, line), ""
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

    def _replayed(self, state: MatchState, seat: int) -> str:
        """The next action of a match that is resumed."""
        entry = self._replay.popleft()
        if entry.hand_id != state.hand_id or not state.betting.legal(entry.action):
            raise GameError(
                f"the transaction log does not fit this match: {entry.text()!r} cannot follow {state.text()}; "
                "were the game, the seed and the names the same?"
            )
        self._spend(seat, entry.received - entry.sent)
        return entry.action

    def _spend(self, seat: int, seconds: float) -> None:
        """Count thinking time, and end the match when there is too much of it."""
        self._used[seat] += seconds
        self._hand_used[seat] += seconds
        spent = (seconds, self._hand_used[seat], self._used[seat])
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
