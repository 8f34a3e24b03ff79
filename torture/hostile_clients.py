"""Hostile players at our dealer, and hostile dealers for our agent: whatever they send, the other side survives it.

Dealer, hostile player and an ordinary player are processes of their own.  A match has a score, or was ended through
the fault of the hostile seat; it takes bounded memory and says a bounded number of lines.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from counterplay.agents.client import play_as_client
from counterplay.agents.dealer import LOOPBACK, MOST_WARNINGS, Dealer, DealerConfig
from counterplay.agents.rule_agent import RuleAgent
from counterplay.errors import CounterplayError
from counterplay.poker.acpc.match_log import read_log
from counterplay.poker.acpc.match_state import parse_match_state
from counterplay.poker.acpc.standard import STANDARD
from torture import children

GAME = STANDARD["holdem.limit.2p.reverse_blinds"]
HANDS = 3
PATIENCE = 600.0
RESPONSE_MS = 1_500
"""How long a player may be silent, where it is meant to be."""
MEMORY = 64 << 20
"""Bytes that a hostile client may cost."""
MOST_LINES = 2 * MOST_WARNINGS + 100
"""Lines that a dealer may say of a match with a hostile client."""


class Wire:
    """A connection that sends anything; not the one of the library, so that it does what it says."""

    def __init__(self, port: int) -> None:
        self.link = socket.create_connection((LOOPBACK, port), timeout=PATIENCE)
        self._lines = self.link.makefile("rb")

    def send(self, text: str) -> None:
        self.send_bytes(f"{text}\r\n".encode("utf-8", "surrogatepass"))

    def send_bytes(self, data: bytes) -> None:
        self.link.sendall(data)

    def read(self) -> str | None:
        """The next line; None at the end."""
        line = self._lines.readline()
        return line.decode("ascii").rstrip("\r\n") if line else None

    def close(self) -> None:
        self._lines.close()
        self.link.close()


Answer = Callable[[Wire, str, int, random.Random], None]
"""What a player sends when it is asked with a line, for the so-many-th time."""


def garbage(rng: random.Random, line: str) -> bytes:
    """A line that is no answer."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.randbytes(rng.randint(0, 60)).replace(b"\n", b"")
    if kind == 1:
        return b"hello"
    if kind == 2:
        return line[: rng.randrange(len(line))].encode()
    if kind == 3:
        return line.replace(":0:", f":{rng.randint(1, 9**9)}:").encode() + b":c"
    if kind == 4:
        return f"MATCHSTATE:{rng.randint(-1, 9)}:{rng.randint(0, 99)}:{'crf/'[rng.randrange(4)] * 9}:|:r".encode()
    if kind == 5:
        return b":" * rng.randint(1, 40)
    if kind == 6:
        return line.replace("M", "N").encode() + b":r"
    return b"x" * rng.choice((100, 5000))


def send_garbage(lines: int) -> Answer:
    """Many lines at its first turn, then an answer; it does not wait for anything."""

    def answer(wire: Wire, line: str, turn: int, rng: random.Random) -> None:
        left = lines if turn == 0 else 3
        while left:
            part = min(left, 500)
            wire.send_bytes(b"".join(garbage(rng, line) + b"\r\n" for _ in range(part)))
            left -= part
        wire.send(f"{line}:c")

    return answer


def pieces(wire: Wire, line: str, _turn: int, rng: random.Random) -> None:
    text = f"{line}:c\r\n".encode()
    place = rng.randrange(len(text))
    for part in (text[:place], text[place:]):
        wire.send_bytes(part)
        time.sleep(0.02)


def megabytes(wire: Wire, line: str, turn: int, _rng: random.Random) -> None:
    if turn == 0:
        wire.send_bytes(b"x" * (20 << 20))
        wire.send_bytes(b"\r\n")
    wire.send(f"{line}:c")


def megabytes_and_silence(wire: Wire, _line: str, _turn: int, _rng: random.Random) -> None:
    wire.send_bytes(b"x" * (5 << 20))


def hang_up(wire: Wire, line: str, turn: int, _rng: random.Random) -> None:
    if turn == 3:
        wire.send_bytes(line[: len(line) // 2].encode())
        wire.close()
    else:
        wire.send(f"{line}:c")


def silence(_wire: Wire, _line: str, _turn: int, _rng: random.Random) -> None:
    pass


def drip(wire: Wire, _line: str, _turn: int, _rng: random.Random) -> None:
    while True:
        wire.send_bytes(b"x")
        time.sleep(0.05)


def comments(wire: Wire, _line: str, _turn: int, _rng: random.Random) -> None:
    while True:
        wire.send("# thinking")


def other_states(wire: Wire, line: str, _turn: int, rng: random.Random) -> None:
    words = line.split(":")
    for place, value in ((1, "9"), (1, "1" if words[1] == "0" else "0"), (2, "77"), (3, "rrrr"), (4, "AhAd|")):
        wire.send(":".join([*words[:place], value, *words[place + 1 :], rng.choice("fcr")]))
    wire.send(f"{line}:c")


def illegal_actions(wire: Wire, line: str, _turn: int, rng: random.Random) -> None:
    action = rng.choice(("", "x", "r99999999999", "r-1", "f", "rr", "c5", "r" * 3000, "\x00", ":c", "r1e9", "٣"))
    wire.send(f"{line}:{action}")


PLAYERS: dict[str, tuple[Answer | None, bool]] = {
    "garbage lines": (None, True),
    "answers in pieces": (pieces, True),
    "megabytes without a newline": (megabytes, True),
    "megabytes and silence": (megabytes_and_silence, False),
    "half an answer and gone": (hang_up, False),
    "silence": (silence, False),
    "byte after byte": (drip, False),
    "comments without end": (comments, False),
    "answers to other states": (other_states, True),
    "illegal actions": (illegal_actions, True),
}
"""What the hostile player answers, and whether the match is played to its end."""

VERSIONS: dict[str, bytes] = {
    "no version": b"HELLO\r\n", "an empty line": b"\r\n", "a huge version": b"VERSION:" + b"9" * 100_000 + b"\r\n",
    "binary": bytes(range(256)) + b"\r\n", "nothing, and gone": b"",
}  # fmt: skip
"""What a hostile player says first."""


@dataclasses.dataclass
class Found:
    """What came of a hostile client."""

    side: str
    name: str
    outcome: str
    lines: int
    seconds: float
    memory: int
    failure: str = ""


class HostileClients:
    """Plays against all of them.

    Parameters
    ----------
    folder : Path
        For logs.
    seed, lines : int
        Of random choices; how many garbage lines are sent.
    """

    def __init__(self, folder: Path, seed: int = 0, lines: int = 1_000_000) -> None:
        self.folder, self.seed, self.lines = folder, seed, lines
        folder.mkdir(parents=True, exist_ok=True)
        self.found: list[Found] = []

    @property
    def failures(self) -> list[str]:
        return [f"{one.side}, {one.name}: {one.failure}" for one in self.found if one.failure]

    def run(self, deadline: float, say: Callable[[str], None] = lambda _line: None) -> None:
        """All of them, or until a time of ``time.monotonic``."""
        work: list[Callable[[], Found]] = []
        for verbose in (False, True):
            work.append(lambda verbose=verbose: self._match("garbage lines", send_garbage(self.lines), True, verbose))
        for name, (answer, finished) in PLAYERS.items():
            if answer is not None:
                work.append(lambda name=name, answer=answer, ends=finished: self._match(name, answer, ends, True))
        work += [lambda name=name, first=first: self._start(name, first) for name, first in VERSIONS.items()]
        work += [lambda name=name: self._agent(name) for name in DEALERS]
        for one in work:
            if time.monotonic() > deadline:
                return
            self.found.append(one())
            say(f"{self.found[-1].side}, {self.found[-1].name}: {self.found[-1].outcome}")

    # ------------------------------------------------------------------------------------------ at our dealer

    def _match(self, name: str, answer: Answer, finished: bool, verbose: bool) -> Found:
        def play(port: int) -> None:
            wire = Wire(port)
            wire.send("VERSION:2.0.0")
            rng, turn = random.Random(self.seed), 0
            with contextlib.suppress(OSError, ValueError):  # it was dropped, or hung up itself
                while (line := wire.read()) is not None:
                    if parse_match_state(GAME, line).my_turn:
                        answer(wire, line, turn, rng)
                        turn += 1

        return self._at_the_dealer(name, play, finished, verbose)

    def _start(self, name: str, first: bytes) -> Found:
        def play(port: int) -> None:
            wire = Wire(port)
            with contextlib.suppress(OSError, ValueError):
                wire.send_bytes(first) if first else wire.close()
                wire.read()

        return self._at_the_dealer(name, play, False, True)

    def _at_the_dealer(self, name: str, hostile: Callable[[int], None], finished: bool, verbose: bool) -> Found:
        """A match in three processes; the hostile player has the first seat."""
        label = f"{name}{', all lines shown' if verbose else ''}"
        place = self.folder / label.replace(" ", "_").replace(",", "")
        said, answer = place.with_suffix(".said"), place.with_suffix(".json")
        ports = place.with_suffix(".ports")
        patient = finished
        config = DealerConfig(
            "torture", GAME, HANDS, 1, ("hostile", "ordinary"), log=place.with_suffix(".log"),
            response_ms=600_000 if patient else RESPONSE_MS, per_hand_ms=600_000, start_ms=20_000,
        )  # fmt: skip

        def deal() -> None:
            before = children.peak_memory()
            with open(said, "w", encoding="utf-8", errors="surrogateescape") as file:
                dealer = Dealer(config, lambda line: print(line, file=file), verbose=verbose)
                ports.with_suffix(".part").write_text(json.dumps(dealer.ports))
                ports.with_suffix(".part").rename(ports)
                outcome = dealer.play()
            found = {"score": outcome.score, "seat": outcome.seat, "memory": children.peak_memory() - before}
            answer.write_text(json.dumps(found))

        started = time.monotonic()
        output = place.with_suffix(".output")
        dealer = children.fork(deal, output)
        while not ports.exists() and time.monotonic() - started < 20:
            time.sleep(0.005)
        first, second = json.loads(ports.read_text())
        enemy = children.fork(lambda: hostile(first), output)
        other = children.fork(
            lambda: (play_as_client(RuleAgent("always-call"), GAME, LOOPBACK, second), None)[1], output
        )
        code = children.wait(dealer, PATIENCE)
        seconds = time.monotonic() - started
        ordinary = children.wait(other, 20.0)
        hostile_code = children.wait(enemy, 20.0)
        for child, ended in ((dealer, code), (enemy, hostile_code), (other, ordinary)):
            if ended is None:
                children.send(child, signal.SIGKILL)
                children.wait(child, 20.0)
        if code != 0:
            return Found("dealer", label, "hangs" if code is None else "crashes", 0, seconds, 0, f"exit code {code}")
        if hostile_code == children.CRASHED:
            return Found("dealer", label, "crashes", 0, seconds, 0, f"the hostile player itself: {output}")
        return self._judged(label, finished, ordinary, config, answer, said, seconds)

    def _judged(
        self, label: str, finished: bool, ordinary: int | None, config: DealerConfig, answer: Path, said: Path,
        seconds: float,
    ) -> Found:  # fmt: skip
        result = json.loads(answer.read_text())
        lines = said.read_bytes().count(b"\n")
        wrong = []
        if (result["score"] is not None) != finished:
            wrong.append(f"the score is {result['score']}")
        if not finished and result["seat"] != 0:
            wrong.append(f"seat {result['seat']} is at fault")
        if ordinary != 0:
            wrong.append(f"the ordinary player ended with {ordinary}")
        assert config.log is not None
        records = read_log(config.log, GAME).records
        if any(record.recomputed() != record.values for record in records) or (finished and len(records) != HANDS):
            wrong.append("the log is wrong")
        if lines > MOST_LINES:
            wrong.append(f"{lines} lines were said")
        if result["memory"] > MEMORY:
            wrong.append(f"{result['memory']} bytes were taken")
        outcome = "score" if result["score"] is not None else "ended"
        return Found("dealer", label, outcome, lines, seconds, result["memory"], "; ".join(wrong))

    # ------------------------------------------------------------------------------------------ our agent

    def _agent(self, name: str) -> Found:
        """Our client at a hostile dealer."""
        listener = socket.create_server((LOOPBACK, 0))
        port = listener.getsockname()[1]
        answer = self.folder / "agent.json"
        answer.unlink(missing_ok=True)

        def deal() -> None:
            link, _ = listener.accept()
            with contextlib.suppress(OSError):
                for part in DEALERS[name](random.Random(self.seed), self.lines):
                    link.sendall(part)
            link.close()

        def play() -> None:
            listener.close()
            before = children.peak_memory()
            try:
                play_as_client(RuleAgent("50/50", 1), GAME, LOOPBACK, port)
                outcome = "ended"
            except CounterplayError:
                outcome = "refused"
            answer.write_text(json.dumps({"outcome": outcome, "memory": children.peak_memory() - before}))

        started = time.monotonic()
        output = self.folder / "agent.output"
        enemy, agent = children.fork(deal, output), children.fork(play, output)
        listener.close()
        code = children.wait(agent, PATIENCE)
        for child in (agent, enemy):
            children.send(child, signal.SIGKILL)
        children.wait(enemy, 20.0)
        seconds = time.monotonic() - started
        if code != 0:
            return Found("agent", name, "hangs" if code is None else "crashes", 0, seconds, 0, f"exit code {code}")
        result: dict[str, Any] = json.loads(answer.read_text())
        wrong = f"{result['memory']} bytes were taken" if result["memory"] > MEMORY else ""
        return Found("agent", name, result["outcome"], 0, seconds, result["memory"], wrong)


STATE = b"MATCHSTATE:0:0:c:AhKh|\r\n"


def _repeated(line: bytes) -> Callable[[random.Random, int], Iterator[bytes]]:
    def parts(_rng: random.Random, lines: int) -> Iterator[bytes]:
        for _ in range(-(-lines // 1000)):
            yield line * 1000

    return parts


DEALERS: dict[str, Callable[[random.Random, int], Iterator[bytes]]] = {
    "garbage": lambda rng, _lines: iter(garbage(rng, STATE.decode().strip()) + b"\r\n" for _ in range(100)),
    "binary": lambda rng, _lines: iter([rng.randbytes(100_000)]),
    "megabytes without a newline": lambda _rng, _lines: iter([b"x" * (1 << 20)] * 20),
    "half a state": lambda _rng, _lines: iter([STATE[:12]]),
    "a million comments": _repeated(b"# hello\r\n"),
    "a million empty lines": _repeated(b"\r\n"),
    "another game": lambda _rng, _lines: iter([b"MATCHSTATE:5:0:c:AhKh|||||\r\n"]),
    "impossible cards": lambda _rng, _lines: iter([b"MATCHSTATE:0:0:c:AhAh|\r\n"]),
    "states after the end": lambda _rng, _lines: iter([b"MATCHSTATE:0:0:ccccccccccccccccccc:AhKh|\r\n"]),
    "the same state again and again": lambda _rng, _lines: iter([STATE] * 2000),
    "nothing, and gone": lambda _rng, _lines: iter([]),
}  # fmt: skip
"""What a hostile dealer sends."""
