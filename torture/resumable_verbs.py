"""Every verb that can be continued after a kill, on instances of less than a second.

``INSTANCES`` names for each the command that starts it and the command that continues it, both in an empty folder.
"""

from __future__ import annotations

import dataclasses
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from counterplay.agents.portfolio import Portfolio
from counterplay.solvers import ALGORITHMS

ITERATIONS = 40
GAMES = {"history": "leduc", "public": "leduc_limit_2p", "states": "kuhn", "buckets": "leduc_limit_2p"}
"""What is solved on each form."""
SMALLER = {"maxmin": "kuhn", "cfr+ira": "kuhn", "fpira": "kuhn", "fictitious-play": "kuhn"}
LP = ("lp", "double-oracle", "maxmin")
"""Algorithms that start threads, which do not survive a fork."""

RIVER = ("--pot", "60", "--stack", "100", "--oop", "AA,KQs,98s", "--ip", "KK,QJs,77", "--bets", "75%", "--raises", "a")
SPOT = ("--board", "KsTd7h4c2s", *RIVER)

PROGRAM = '''#!{python} -IS
"""Checks and calls in Kuhn poker, by the protocol of the competition."""
import socket, sys

link = socket.create_connection((sys.argv[1], int(sys.argv[2])))
link.sendall(b"VERSION:2.0.0\\r\\n")
for line in link.makefile("r", newline="\\n"):
    line = line.rstrip("\\r\\n")
    _, position, hand, betting, cards = line.split(":")
    if betting not in ("cc", "crc", "crf", "rc", "rf") and len(betting) % 2 == int(position):
        link.sendall((line + ":c\\r\\n").encode())
'''


@dataclasses.dataclass(frozen=True)
class Instance:
    """A run that is killed and continued.

    Attributes
    ----------
    verb, name : str
        The row of the table, and what it is.
    start, again : tuple of str
        The command, and that which continues it; by default the same.
    kept : str, optional
        The file that must exist for ``again``; before, it is started once more.
    same : bool
        Whether the result is promised to be the same, bit for bit; not with several threads.
    forks : bool
        Whether it may be run once in the process that forks the others: without starting threads.
    around : callable, optional
        What else happens while it runs.
    """

    verb: str
    name: str
    start: tuple[str, ...]
    again: tuple[str, ...] | None = None
    kept: str | None = None
    same: bool = True
    forks: bool = True
    around: Callable[[], None] | None = None

    @property
    def many(self) -> bool:
        """Whether it is one of the many algorithms and forms of ``solve``."""
        return self.verb in [f"solve {form}" for form in GAMES]

    def command(self, folder: Path) -> tuple[str, ...]:
        """What a user types in this folder."""
        fresh = self.again is None or (self.kept is not None and not (folder / self.kept).exists())
        return self.start if fresh or self.again is None else self.again


def instances(shared: Path) -> list[Instance]:
    """All of them; files that they need are written into a folder."""
    cards = _write_cards(shared)
    program = _write_program(shared)
    return [
        *_solves(cards),
        *_other_solves(cards),
        *_parts(cards),
        *_on_disk(),
        *_responses(cards),
        *_folders(shared, program),
        *_evaluations(_write_strategy(shared, cards)),
        _dealer(),
        _agent(shared),
    ]


def _solve(verb: str, name: str, *words: str, **traits: bool) -> Instance:
    """A run of ``solve`` with a checkpoint and a strategy."""
    files = ("--checkpoint", "run.checkpoint", "--out", "run.strategy", "--json")
    more = ("--iterations", "600") if verb == "solve states" else ("--iterations", str(ITERATIONS))
    seeded = () if "--board" in words else ("--seed", "1")
    kept = [
        word for name in ("--map-out", "--boards") if name in words for word in (name, words[words.index(name) + 1])
    ]
    return Instance(
        verb, name, ("solve", *words, *seeded, *more, *files),
        ("solve", "--resume", "run.checkpoint", *kept, *more, *files), "run.checkpoint", **traits,
    )  # fmt: skip


def _solves(cards: Path) -> Iterator[Instance]:
    """Every algorithm on every form."""
    for algorithm, known in ALGORITHMS.items():
        for form in known.forms:
            game = SMALLER.get(algorithm, GAMES[form])
            more = ("--cards", str(cards)) if form == "buckets" else ("--representation", form)
            words = (game, "--algorithm", algorithm, *more)
            yield _solve(f"solve {form}", f"{algorithm} on {form}", *words, forks=algorithm not in LP)


def _other_solves(cards: Path) -> Iterator[Instance]:
    yield _solve("solve holdem", "a river", "holdem", *SPOT)
    yield _solve("solve holdem", "a lock", "holdem", *SPOT, "--lock", "check=check 0.3; bet45 rest")
    yield _solve("solve history", "forgetting", "leduc", "--forget", "match=^.", "--map-out", "run.cpa")
    yield _solve("solve history", "exact", "kuhn", "--algorithm", "lp", "--exact", forks=False)
    trunk = ("leduc_limit_2p", "--cards", str(cards), "--algorithm", "cfr-br", "--set", "trunk=1")
    yield _solve("solve buckets", "cfr-br with a trunk", *trunk)
    for algorithm in ("cfr+", "external-sampling"):
        against = ("leduc_limit_2p", "--cards", str(cards), "--algorithm", algorithm, "--opponent-cards", "none")
        yield _solve("solve buckets", f"{algorithm} against an unabstracted opponent", *against)
    yield _solve("solve buckets", "measured", "leduc_limit_2p", "--cards", str(cards), "--boards", "all")
    for form, algorithm in (("history", "external-sampling"), ("public", "pcs")):
        words = (GAMES[form], "--algorithm", algorithm, "--representation", form, "--threads", "2")
        yield _solve(f"solve {form}", f"{algorithm}, 2 threads", *words, same=False, forks=False)


def _on_disk() -> Iterator[Instance]:
    """Tables on disk, in a folder that also holds the checkpoint."""
    more = ("--iterations", str(ITERATIONS), "--out", "run.strategy", "--json")
    for algorithm, storage in (("cfr+", "int16"), ("pcfr+", "float64")):
        words = ("solve", "leduc_limit_2p", "--tables", "disk:run", "-a", algorithm, "--set", f"storage={storage}")
        again = ("solve", "--resume", "run", *more)
        yield Instance("solve --tables", f"{algorithm}, {storage}", (*words, *more), again, "run/run.checkpoint")


def _parts(cards: Path) -> Iterator[Instance]:
    """A part of a game, on histories, where players forget and in buckets; game, part and base are named again."""
    more = ("--iterations", str(ITERATIONS), "--checkpoint", "run.checkpoint", "--out", "run.strategy", "--json")
    for name, game, part, words in (
        ("a static expert", "leduc", "kk/b", ("--algorithm", "cfr+")),
        ("a graft, forgetting", "leduc", "b@1",
         ("--algorithm", "chance-sampling", "--forget", "ranks=JQ-K,outside=b", "--seed", "1")),
        ("an expert in buckets", "leduc_limit_2p", "cc/r", ("--cards", str(cards), "--seed", "1")),
        ("a graft in buckets", "leduc_limit_2p", "r@2",
         ("--cards", str(cards), "--algorithm", "external-sampling", "--seed", "1")),
    ):  # fmt: skip
        same = (game, "--part", part, "--fix", "uniform")
        yield Instance(
            "solve --part", name, ("solve", *same, *words, *more),
            ("solve", *same, "--resume", "run.checkpoint", *more), "run.checkpoint",
        )  # fmt: skip


def _responses(cards: Path) -> Iterator[Instance]:
    """Responses, and a curve of them, on a tree and in buckets."""
    forms = {
        "leduc": ("--game", "leduc", "--model", "tight"),
        "buckets": ("--game", "leduc_limit_2p", "--model", "uniform", "--cards", str(cards), "--boards", "all"),
    }
    for name, game in forms.items():
        one = ("respond", *game, "--kind", "rnr", "--p", "0.5", "-a", "cfr+", "--iterations", str(ITERATIONS),
               "--out", "run.strategy", "--json")  # fmt: skip
        again = (*one, "--resume", "run.checkpoint", "--checkpoint", "run.checkpoint")
        yield Instance("respond", name, (*one, "--checkpoint", "run.checkpoint"), again, "run.checkpoint")
        curve = ("respond", *game, "--kind", "dbr", "--curve", "0,0.5,1", "-a", "cfr+", "--iterations", str(ITERATIONS),
                 "--json")  # fmt: skip
        yield Instance("respond", f"{name}, a curve", (*curve, "--checkpoint", "run.points"),
                       (*curve, "--resume", "run.points"), "run.points")  # fmt: skip


def _folders(shared: Path, program: str) -> Iterator[Instance]:
    cache = ("--cache", str(shared / "features"), "--quiet")
    for name, objective in (("leduc", "equilibrium"), ("leduc, unexploitable", "unexploitable")):
        yield Instance(
            "build", name,
            ("build", "leduc_limit_2p", "--preset", "tiny", "--rounds", "3,KE3", "--iterations", "200", "--deals", "5",
             "--threads", "1", "--objective", objective, "--out", "agent", *cache),
        )  # fmt: skip
    yield Instance(
        "build", "leduc, with an expert",
        ("build", "leduc_limit_2p", "--preset", "tiny", "--rounds", "3,KE3", "--iterations", "200", "--deals", "5",
         "--threads", "1", "--experts", "r", "--out", "agent", *cache),
    )  # fmt: skip
    portfolios = ("--iterations", "100", "--deals", "2", "--threads", "1", "--out", "agent", *cache)
    yield Instance("build", "the components of Polaris",
                   ("build", "leduc_limit_2p", "--preset", "polaris", *portfolios))  # fmt: skip
    against = ("--log", str(_write_log(shared)), "--clusters", "2")
    yield Instance("build", "responses to opponents in logs",
                   ("build", "leduc_limit_2p", "--preset", "portfolio", *against, *portfolios))  # fmt: skip
    yield Instance(
        "abstract", "leduc",
        ("abstract", "leduc_limit_2p", "--rounds", "3,KE3", "--out", "x.cpa", "--cache", "features", "--json"),
    )  # fmt: skip
    rivers = ("--flops", "KsTd7h4c2s:3 QsJh2h3c8d", *RIVER, "--until", "2%", "--quiet")
    yield Instance("flops", "two rivers", ("flops", "report", "--keep", *rivers))
    yield Instance("flops", "continued by its folder", ("flops", "report", "--keep", *rivers),
                   ("flops", "report", "--keep", "--quiet"), "report/flops.run")  # fmt: skip
    play = ("--game", "kuhn", "--deals", "40", "--piece", "5", "--json")
    entries = ("always-call", "always-raise", "50/50")
    yield Instance("tournament", "three agents", ("tournament", "t", *entries, *play),
                   ("tournament", "t", "--json"), "t/tournament.json")  # fmt: skip
    yield Instance("tournament", "two workers", ("tournament", "t", *entries, *play, "--workers", "2"), forks=False)
    with_programs = ("tournament", "t", program, "50/50", "--game", "kuhn_limit_2p", "--deals", "30", "--json")
    yield Instance("tournament", "a program", with_programs, forks=False)


def _evaluations(strategy: Path) -> Iterator[Instance]:
    kept = ("--checkpoint", "jobs", "--json")
    for method, opponent in (("split", "50/50"), ("card-free", "50/50")):
        words = ("--strategy", opponent, "--game", "leduc_limit_2p", "--method", method)
        yield Instance("evaluate", method, ("evaluate", *words, *kept), ("evaluate", "--resume", "jobs", "--json"),
                       "jobs")  # fmt: skip
    again = ("evaluate", str(strategy), "--resume", "jobs", "--json")
    yield Instance("evaluate", "buckets", ("evaluate", str(strategy), "--seed", "3", *kept), again, "jobs")
    some = ("--flops", "2")
    yield Instance("evaluate", "some first deals", ("evaluate", str(strategy), *some, *kept), (*again, *some), "jobs")


def _dealer() -> Instance:
    """A match of two clients at a dealer; the clients call again after a kill."""
    ports = free_ports(2)

    def clients() -> None:
        from counterplay.agents.client import play_as_client
        from counterplay.agents.rule_agent import RuleAgent
        from counterplay.errors import CounterplayError
        from counterplay.poker.acpc.standard import STANDARD

        def sit(port: int, name: str) -> None:
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline:
                try:
                    play_as_client(RuleAgent(name, 7), STANDARD["kuhn.limit.2p"], "127.0.0.1", port)
                    return
                except CounterplayError:  # the dealer is not there yet
                    time.sleep(0.005)

        for port, name in zip(ports, ("50/50", "always-call"), strict=True):
            threading.Thread(target=sit, args=(port, name), daemon=True).start()

    words = ("dealer", "m", "kuhn.limit.2p", "40", "3", "A", "B", "-T", "-a", "-q", "-p", ",".join(map(str, ports)))
    return Instance("dealer", "transactions", words, forks=False, around=clients)


def _agent(shared: Path) -> Instance:
    """A portfolio that adapts at a dealer's table; dealer and opponent die with it, and the match is resumed."""
    ports, hands = free_ports(2), 30
    folder = shared / "portfolio"
    small_portfolio(folder)

    def table() -> None:
        from counterplay.agents.client import play_as_client
        from counterplay.agents.dealer import LOOPBACK, Dealer, DealerConfig
        from counterplay.agents.rule_agent import RuleAgent
        from counterplay.poker.acpc.standard import STANDARD

        rules = STANDARD["kuhn.limit.2p"]
        files = {"log": Path("m.log"), "transactions": Path("m.tlog")}
        dealer = Dealer(DealerConfig("m", rules, hands, 3, ("A", "B"), append=True, ports=tuple(ports), **files))
        other = (RuleAgent("50/50", 7), rules, LOOPBACK, ports[1])
        threading.Thread(target=dealer.play, daemon=True).start()
        threading.Thread(target=play_as_client, args=other, daemon=True).start()

    adaptive = f"{folder}?select=thompson,bound=5,log=agent.log"
    words = ("agent", adaptive, "kuhn.limit.2p", "127.0.0.1", str(ports[0]), "--state", "state", "--seed", "3")
    return Instance("agent --state", "a portfolio", words, forks=False, around=table)


def small_portfolio(folder: Path) -> Portfolio:
    """Two strategies of Kuhn poker, in a folder too."""
    from counterplay.agents.portfolio import Member
    from counterplay.forms import open_game
    from counterplay.strategy.trivial import TRIVIAL

    tree = open_game("kuhn_limit_2p", "history")
    members = [Member(name.replace("/", "-"), TRIVIAL[name].tabular(tree), 0.5) for name in ("50/50", "always-call")]
    found = Portfolio("kuhn_limit_2p", tuple(members), 0, "greedy", {"window": 3})
    found.save(folder)
    return found


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at now."""
    links = [socket.socket() for _ in range(count)]
    for link in links:
        link.bind(("127.0.0.1", 0))
    ports = [int(link.getsockname()[1]) for link in links]
    for link in links:
        link.close()
    return ports


def _write_cards(shared: Path) -> Path:
    from counterplay.abstraction.cards import CardAbstraction

    path = shared / "lossless.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(path)
    return path


def _write_strategy(shared: Path, cards: Path) -> Path:
    """A strategy by buckets."""
    from counterplay.forms import open_game
    from counterplay.strategy.bucket_strategy import BucketStrategy

    path = shared / "leduc.strategy"
    game = open_game("leduc_limit_2p", "buckets", cards=[cards])
    BucketStrategy.of_game(game, 1.0 + np.arange(game.num_entries) % 3).save(path)
    return path


def _write_log(shared: Path) -> Path:
    """A few hands of two players who bet differently."""
    path = shared / "hands.log"
    lines = []
    for number in range(20):
        betting, won, names = ("cc/crrc", "9|-9", "one|two") if number % 2 else ("cc/cc", "1|-1", "two|one")
        lines.append(f"STATE:{number}:{betting}:Qs|Kh/Qh:{won}:{names}\n")
    path.write_text("".join(lines), encoding="ascii")
    return path


def _write_program(shared: Path) -> str:
    path = shared / "calls.py"
    path.write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"program:{path}"
