"""Hands a second in one process, and what the dealer takes for a hand over TCP, beside the competition's own server.

The server is not part of this repository.  ``--server DIR`` names a folder where its programs ``dealer`` and
``example_player`` and its ``.game`` files are; its players then play at both dealers, in turn.  Without it two of our
agents play at ours.  Both dealers write a log and no transactions, as is their default.  Counted is the CPU time of the
dealer process alone, from its first to its last hand; players are processes of their own, and all may run on any core.
A match is measured twice: on the machine as it is, and with processors kept awake (``timing.processors_awake``).
Beside them stands a process that only sends and receives as many messages, to and from processes that send them back,
and writes a line for each hand: what system calls take from Python on this machine.

``python -m benchmarks.matches HANDS`` deals one such match: it prints its ports, and the CPU seconds when it is over.
"""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.timing import all_cores, cpu_seconds, median, processors_awake, ratios, rotated
from counterplay.agents import match, open_match_game
from counterplay.agents.dealer import LOOPBACK, Dealer, DealerConfig
from counterplay.poker.acpc.match_state import rank_cards
from counterplay.poker.acpc.standard import STANDARD
from counterplay.strategy import TabularStrategy

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

PART = "matches"
GAME = "holdem.limit.2p.reverse_blinds"
DEALS = 1_000_000
IN_PROCESS_TARGET = 100_000.0
HANDS = 4_000
MICROSECONDS_TARGET = 250.0
RATIO_TARGET = 1.70
OURS, THEIRS, BARE = "counterplay", "the C server", "system calls alone"
DECISIONS = 9
"""Of a hand between the players of the server, on average."""

_SERVER: list[Path] = []


def choose(server: Path | None) -> None:
    """Set what the command line says."""
    _SERVER[:] = [] if server is None else [server]


def match_speed(outcome: Outcome, plan: Plan) -> None:
    """Lines for matches in one process and for the dealer."""
    from benchmarks.measures import Line

    tree = open_match_game("leduc").tree
    assert tree is not None
    pair = [TabularStrategy.random(tree, 1), TabularStrategy.random(tree, 2)]
    match("leduc", pair, 100)
    hands = match("leduc", pair, DEALS).hands
    rates = [hands / cpu_seconds(match, "leduc", pair, DEALS) for _ in range(plan.goal_turns)]
    outcome.raw["match, leduc"] = {"hands_per_cpu_second": rates}
    what = "match in one process, Leduc hands per CPU second"
    outcome.lines.append(Line(what, rates, "/s", target=IN_PROCESS_TARGET))
    hands = max(500, round(HANDS * min(1.0, plan.seconds)))
    for condition in ("", ", processors awake"):
        with all_cores(), processors_awake() if condition else contextlib.nullcontext():
            spent = dealer_microseconds(hands, plan.turns)
        outcome.raw[f"dealer, microseconds of CPU a hand{condition}"] = {"game": GAME, "hands": hands, **spent}
        _dealer_lines(outcome, condition, spent)
    if not _SERVER:
        outcome.remarks.append("dealer: no --server, so two agents of ours played at our dealer alone")


def _dealer_lines(outcome: Outcome, condition: str, spent: dict[str, list[float]]) -> None:
    """The dealer, system calls and the server under one condition."""
    from benchmarks.measures import Line

    what = "dealer, CPU time of a limit hand"
    outcome.lines.append(Line(what + condition, spent[OURS], "µs", target=MICROSECONDS_TARGET, at_least=False))
    messages = f"{BARE}, CPU time of {DECISIONS} messages there and back"
    outcome.lines.append(Line(messages + condition, spent[BARE], "µs"))
    if THEIRS in spent:
        both = [f"{median(spent[name]):.0f} µs" for name in (OURS, THEIRS)]
        beside = f"{what}, beside {THEIRS}{condition}"
        outcome.lines.append(Line(beside, ratios(spent[OURS], spent[THEIRS]), "x", *both, RATIO_TARGET, at_least=False))


def dealer_microseconds(hands: int, turns: int) -> dict[str, list[float]]:
    """Microseconds of CPU a hand of each dealer in each turn."""
    dealers: dict[str, Callable[[int], float]] = {OURS: _ours, BARE: _bare} | ({THEIRS: _theirs} if _SERVER else {})
    spent: dict[str, list[float]] = {name: [] for name in dealers}
    for turn in range(turns):
        for name in rotated(list(dealers), turn):
            spent[name].append(dealers[name](hands) / hands * 1e6)
    return spent


def _players(ports: list[str]) -> list[subprocess.Popen[bytes]]:
    """A player at each port: those of the server, or agents of ours that take any action."""
    started = []
    for port in ports:
        words = [sys.executable, "-m", "counterplay", "agent", "uniform", GAME, LOOPBACK, port]
        if _SERVER:
            words = [str(_SERVER[0].resolve() / "example_player"), f"{GAME}.game", "localhost", port]
        where = _SERVER[0] if _SERVER else None
        started.append(subprocess.Popen(words, cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return started


def _ours(hands: int) -> float:
    words = [sys.executable, "-m", "benchmarks.matches", str(hands)]
    dealer = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert dealer.stdout is not None
    players = _players(dealer.stdout.readline().split())
    seconds = float(dealer.stdout.read())
    for process in (dealer, *players):
        process.wait()
    return seconds


def _theirs(hands: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        program = _SERVER[0].resolve() / "dealer"
        words = [str(program), f"{folder}/match", f"{GAME}.game", str(hands), "1", "A", "B", "-q"]
        dealer = subprocess.Popen(words, cwd=_SERVER[0], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert dealer.stdout is not None
        players = _players(dealer.stdout.readline().split())
        _, status, usage = os.wait4(dealer.pid, 0)
        dealer.returncode = os.waitstatus_to_exitcode(status)
        dealer.stdout.close()
        for process in players:
            process.wait()
    return usage.ru_utime + usage.ru_stime


def _bare(hands: int) -> float:
    """CPU seconds of as many system calls as a match has."""
    line, links, players = b"x" * 100, [], []
    for _ in range(2):
        with socket.create_server((LOOPBACK, 0)) as server:
            words = [sys.executable, "-S", "-c", _ECHO, LOOPBACK, str(server.getsockname()[1])]
            players.append(subprocess.Popen(words))
            links.append(server.accept()[0])
        links[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with tempfile.TemporaryFile(buffering=0) as log:
        before = _used()
        for _ in range(hands):
            for number in range(DECISIONS):
                link = links[number & 1]
                link.send(line)
                link.recv(1 << 13)
            log.write(line)
        spent = _used() - before
    for link in links:
        link.close()
    for process in players:
        process.wait()
    return spent


_ECHO = """
import socket, sys
link = socket.create_connection(sys.argv[1:])
link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
while data := link.recv(1 << 13):
    link.send(data)
"""


def main() -> None:
    hands, game = int(sys.argv[1]), STANDARD[GAME]
    rank_cards(game, game.deck[:7])  # its tables are built on first use
    with tempfile.TemporaryDirectory() as folder:
        dealer = Dealer(DealerConfig("match", game, hands, 1, ("A", "B"), log=Path(folder) / "match.log"))
        print(*dealer.ports, flush=True)
        before = _used()
        if dealer.play().score is None:
            sys.exit("the match was not played to its end")
        print(_used() - before)


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
