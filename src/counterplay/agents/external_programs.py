"""Matches through our dealer, over TCP: programs in any language against each other and against our agents.

A program is started with two arguments, the host and the port of its seat, as a competition entry's ``startme.sh`` is.
Our own agents play as clients in threads.  Every seating is a separate match with the same seed: with rotation,
position p of hand h holds the same cards in each, so the score of a deal is the mean over seatings of that hand.

Each seating writes a log and a transaction log.  A complete one is read and not played again; an interrupted one is
resumed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from counterplay.agents.client import play_as_client
from counterplay.agents.dealer import LOOPBACK, Dealer, DealerConfig
from counterplay.agents.entries import Entry
from counterplay.agents.match_game import MatchGame
from counterplay.agents.matches import seatings_of
from counterplay.errors import CounterplayError, GameError
from counterplay.evaluation.matches.tally import Tally
from counterplay.poker.acpc.match_log import MatchLog, read_log
from counterplay.poker.poker_game import PokerFile

GOODBYE_SECONDS = 10.0
"""How long a program may keep running after its match, by the rules of the competition."""


class MatchAbortedError(CounterplayError):
    """A match that ended early; says who was at fault and how."""


@dataclasses.dataclass(frozen=True)
class Times:
    """Time limits in milliseconds, as the dealer takes them."""

    response_ms: int = 600_000
    hand_ms: int = 600_000
    per_hand_ms: int = 7_000
    start_ms: int = 60_000


def play_with_programs(
    played: MatchGame, entries: Sequence[Entry], hands: int, seed: int, folder: Path, label: str,
    times: Times | None = None,
) -> Tally:  # fmt: skip
    """Play a duplicate match of poker through the dealer and return its tally.

    ``hands`` are those of each seating, which are the deals of the match.  Logs and the output of programs are written
    into ``folder``, in files that start with ``label``.  Raises MatchAbortedError if a player does not connect, does
    not answer in time, or disconnects.
    """
    scores = np.zeros((hands, len(entries)))
    seatings = seatings_of(played.players)
    numbers = {entry.name: number for number, entry in enumerate(entries)}
    for turn, seating in enumerate(seatings):
        name = f"{label}.{turn}"
        log = _play_seating(played, [entries[agent] for agent in seating], hands, seed, folder, name, times or Times())
        for record in log.records:
            for who, value in zip(record.names, record.values, strict=True):
                scores[record.hand_id, numbers[who]] += float(value)
    return Tally.of(scores / len(seatings))


def _play_seating(
    played: MatchGame, seats: Sequence[Entry], hands: int, seed: int, folder: Path, name: str, times: Times
) -> MatchLog:
    """One seating; read from its log if that is complete."""
    game = played.definition()
    log = folder / f"{name}.log"
    if os.path.exists(log):
        with contextlib.suppress(GameError):  # a truncated log is rewritten when the match is resumed
            found = read_log(log, game)
            if found.seats and len(found.records) == hands:
                return found
    config = DealerConfig(
        name=name, game=game, hands=hands, seed=seed % 2**32, players=tuple(entry.name for entry in seats),
        game_file=played.name.replace(" ", ""), log=log, transactions=folder / f"{name}.tlog", append=True,
        response_ms=times.response_ms, hand_ms=times.hand_ms, per_hand_ms=times.per_hand_ms, start_ms=times.start_ms,
    )  # fmt: skip
    said: list[str] = []
    dealer = Dealer(config, said.append)
    started: list[subprocess.Popen[bytes]] = []
    threads: list[threading.Thread] = []
    try:
        for number, (entry, port) in enumerate(zip(seats, dealer.ports, strict=True)):
            if entry.program is not None:
                started.append(_start(entry, port, folder / f"{name}.player{number}"))
            else:
                threads.append(_seat_agent(played, entry, port, seed + number))
        outcome = dealer.play()
    finally:
        dealer.close()
        for process in started:
            _end(process)
        for thread in threads:
            thread.join(GOODBYE_SECONDS)
    if outcome.score is None:
        fault = "" if outcome.seat is None else f"{seats[outcome.seat].name} "
        raise MatchAbortedError(f"{name}: {fault}{outcome.reason} (hand {outcome.hands})")
    return read_log(log, game)


def _start(entry: Entry, port: int, files: Path) -> subprocess.Popen[bytes]:
    """Start a program; its output goes to files next to the log."""
    words = entry.program or []
    with open(f"{files}.std", "wb") as out, open(f"{files}.err", "wb") as err:
        try:
            return subprocess.Popen([*words, LOOPBACK, str(port)], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        except OSError as error:
            raise MatchAbortedError(f"{entry.name} cannot be started: {error.strerror or error}") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a program to see that its match is over, and end it if it does not."""
    for ending in (process.terminate, process.kill):
        try:
            process.wait(GOODBYE_SECONDS)
            return
        except subprocess.TimeoutExpired:
            ending()
    process.wait()


def _seat_agent(played: MatchGame, entry: Entry, port: int, seed: int) -> threading.Thread:
    """One of our agents as a client in a thread."""
    game = played.definition()
    agent = entry.agent(MatchGame(played.name, PokerFile(game, played.name)), seed)

    def run() -> None:
        with contextlib.suppress(CounterplayError):  # the dealer reports who was at fault
            play_as_client(agent, game, LOOPBACK, port)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
