"""Every text that the library reads: its parser and valid examples, from which others are made by changes.

``PARSERS`` take texts; ``folder_parsers`` take the text of a file in a folder that the library continues.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import random
import re
import tempfile
import unittest.mock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction, parse_recipe
from counterplay.abstraction.cards.expert_buckets import split_cards
from counterplay.abstraction.experts import label_parts
from counterplay.abstraction.infosets.by_name import abstraction_by_name
from counterplay.agents.adaptive_agent import AdaptiveAgent
from counterplay.agents.entries import make_entries
from counterplay.agents.match_game import open_match_game
from counterplay.agents.matches import dealt_hand
from counterplay.agents.portfolio import Portfolio, load_portfolio
from counterplay.agents.records import read_transactions
from counterplay.agents.rule_agent import RuleAgent
from counterplay.agents.table_text import read_action
from counterplay.agents.tournaments import Tournament, TournamentConfig
from counterplay.build.build_folder import STATE
from counterplay.build.pipeline import Pipeline
from counterplay.build.planning import make_plan
from counterplay.errors import GameError
from counterplay.experiments.shared.comparison import parse_algorithms
from counterplay.forms import open_game
from counterplay.game.efg import parse_efg
from counterplay.modelling import observe
from counterplay.modelling.log_batches import LogBatches
from counterplay.poker.acpc.dealing import deals
from counterplay.poker.acpc.definition import GameDefinition, format_definition, parse_definition
from counterplay.poker.acpc.match_log import parse_log
from counterplay.poker.acpc.match_state import parse_match_state, parse_reply
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.cards import parse_cards
from counterplay.poker.phh import format_phh, parse_phh, to_record
from counterplay.poker.postflop.bet_sizes import parse_sizes
from counterplay.poker.postflop.board_lists import read_boards
from counterplay.poker.postflop.locks import parse_lock
from counterplay.poker.postflop.spots import Spot
from counterplay.poker.postflop.subgame import Subgame, parse_subgame
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.poker.range_files import read_ranges
from counterplay.poker.ranges import parse_range
from counterplay.poker.rules import Betting
from counterplay.runs.options import read_exploitability
from counterplay.runtime.memory import read_memory
from counterplay.solvers.settings import setting_value
from counterplay.strategy.files import PORTFOLIO
from counterplay.strategy.poker_hands import parse_infoset
from counterplay.strategy.public_lookup import PublicIndex
from torture.resumable_verbs import small_portfolio

LONGEST = 1 << 20
"""Most characters of a text."""

Parser = tuple[Callable[[str], Any], tuple[str, ...]]
"""A parser, and valid texts."""

HOLDEM = STANDARD["holdem.nolimit.2p.reverse_blinds"]
LIMIT = STANDARD["holdem.limit.2p.reverse_blinds"]
LEDUC = STANDARD["leduc.limit.2p"]

PHH = """variant = "NT"
antes = [0, 0]
blinds_or_straddles = [1, 2]
min_bet = 2
starting_stacks = [100, 100]
actions = ["d dh p1 AcKc", "d dh p2 2c2d", "p2 cbr 4", "p1 f"]
players = ["a", "b"]
time = 12:00:00
"""

EFG = """EFG 2 R "a" { "one" "two" }
c "" 1 "" { "x" 1/2 "y" .5 } 0
p "" 1 1 "" { "a" "b" } 0
t "" 1 "" { 1, -1 }
t "" 2 "" { 3e2 -3e2 }
t "" 3 "" { 2 2 }
"""

LOG = """# name/game/hands/seed
STATE:0:r300c/cc/cc/r900f:AhKh|2c2d/Ts9s8s/7h/2h:300|-300:one|two
STATE:1:f:AhKh|2c2d:-50|50:two|one
SCORE:250|-250:one|two
"""

LEDUC_LOG = """# name/game/hands/seed m leduc.limit.2p.game 4 1
STATE:0:cc/crrc:Qs|Kh/Qh:9|-9:one|two
STATE:1:rrf:|Ah:-3|3:two|one
STATE:2:crc/cc:Kh|Ks/As:0|0:one|two
one|two:3:rf:As|Ks:1|-1
SCORE:13|-13:one|two
"""

LIMIT_PHH = """variant = "FT"
antes = [0, 0]
blinds_or_straddles = [5, 10]
small_bet = 10
big_bet = 20
starting_stacks = [2000, 2000]
actions = ["d dh p1 Ah8s", "d dh p2 ????", "p2 cc", "p1 cbr 20", "p2 f"]
players = ["one", "two"]
"""

SPOT = Subgame("KsTd7h4c2s", pot=60, stack=150, oop="AA,KQs,98s", ip="KK,QJs,77", bets="75%", raises="a").name


def read_hands(text: str) -> None:
    hands = parse_phh(text)
    for hand in hands:
        format_phh(hand)
    for hand in hands:
        to_record(hand)


def read_game(text: str) -> None:
    game = parse_definition(text)
    assert parse_definition(format_definition(game)) == game


def small(text: str) -> str:
    """A name of a game, if making it starts no code and opens no file."""
    return text if re.match(r"\w+\(", text) and ":" not in text and ".py" not in text else f"kuhn({text})"


@functools.cache
def river() -> PublicIndex:
    return PublicIndex(open_game(SPOT, "public"))


@functools.cache
def leduc() -> Any:
    return cp.make("leduc"), cp.compile_game("leduc")


def edited(text: str, field: str) -> None:
    """A spot with a line of its betting added or removed."""
    open_game(dataclasses.replace(parse_subgame(SPOT), **{field: (text,)}).name, "public")


def entered(text: str) -> None:
    """An entry of a match; programs are not started."""
    for entry in make_entries([text]):
        entry.check(open_match_game("kuhn_limit_2p"))


@functools.cache
def merged(rules: GameDefinition, name: str) -> BucketGame:
    """A game in which all hands are one bucket."""
    single = CardAbstraction.single((rules.ranks, rules.suits), (rules.hole_cards, *rules.board_cards[1:]))
    return BucketGame.build(rules, single.rounds, name=name)


def observed(text: str, name: str, form: BucketGame) -> None:
    """A file of logged hands; both readers must find the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        found = [counted(path, form)]
        with unittest.mock.patch.object(LogBatches, "fits", return_value=False):
            found.append(counted(path, form))
    assert found[0] == found[1], found
    if isinstance(found[0], str):
        raise GameError(found[0])


def counted(path: Path, form: BucketGame) -> Any:
    """What is observed, or the error."""
    try:
        seen = observe(path, "one", form, broken="skip")
    except GameError as error:
        return str(error)
    return seen.counts.tolist(), seen.hands, seen.left_out(), seen.broken


SPOT_FIELDS = {"board": "KsTd7h4c2s", "pot": 60, "stack": 150, "oop": "AA", "ip": "KK"}

PARSERS: dict[str, Parser] = {
    "phh": (read_hands, (PHH, f"[1]\n{PHH}[2]\n{PHH}")),
    "game": (read_game, (format_definition(HOLDEM), format_definition(LIMIT))),
    "efg": (lambda text: cp.compile_game(parse_efg(text, "x")), (EFG,)),
    "log": (lambda text: parse_log(text.split("\n"), HOLDEM), (LOG,)),
    "observed log": (lambda text: observed(text, "a.log", merged(LEDUC, "leduc_limit_2p")), (LEDUC_LOG,)),
    "observed hands": (
        lambda text: observed(text, "a.phhs", merged(LIMIT, "holdem_limit_2p")),
        (LIMIT_PHH, f"[1]\n{LIMIT_PHH}[2]\n{LIMIT_PHH}"),
    ),
    "match state": (
        lambda text: parse_match_state(HOLDEM, text),
        ("MATCHSTATE:0:0:r300c/c:AhKh|/Ts9s8s", "MATCHSTATE:1:99:cr300r900f:|2c2d"),
    ),
    "reply": (lambda text: parse_reply(LIMIT, text), ("MATCHSTATE:0:0:rc/:AhKh|/Ts9s8s:r", "MATCHSTATE:0:1::AhKh|:c")),
    "betting": (lambda text: Betting.after(HOLDEM, text), ("r300c/cc/cc/r900f", "cc/r200r1000c")),
    "range": (parse_range, ("AA,KQs:0.5,T9s-76s,22+,AhKh", "random", "33-77 AJs+ KTo:25%")),
    "cards": (parse_cards, ("AhKh2c", "10h9d", "As Kd")),
    "boards": (read_boards, ("KsTd7h:3 QsJh2h", "all", "25")),
    "sizes": (lambda text: parse_sizes(text, "bets"), ("33%,75%,a", "2.5x", "flop:50% turn:75% river:a", "e2")),
    "spot": (parse_subgame, (SPOT,)),
    "recipe": (
        lambda text: parse_recipe(text, (13, 4), (2, 3, 1, 1)),
        ("169,KE570,KE570,KO570", "IR169/IR570/IR570/570", "PHS5x2,5,5,5", "R.3:.6,M.05,T:KE50,5", "5s",
         "5,T20:H3:KE9,H3:PH5,T60:KO8"),
    ),
    "infoset": (parse_infoset, ("AsKs/2c7dTh:rc/", "As:")),
    "matrix": (lambda text: cp.compile_game(cp.make("matrix", rows=text)), ("1,-1;-1,1", "0.5 2; 3 4")),
    "formula": (lambda text: cp.make("toy_sat_aloss", formula=text).root(), ("x1|-x3 & x2|x3", "F8", "a|b & -a")),
    "dice": (lambda text: cp.make("die_roll_poker", bets=text).root(), ("2,4", "1,2,3")),
    "name": (lambda text: cp.make(small(text)).root(), ("leduc(players=3,ranks=4)", "bluff(2,1,recall=4)", "kuhn")),
    "memory": (read_memory, ("500MiB", "2 GB", "1e3")),
    "setting": (setting_value, ("true", "3", "1e9", "none", "+-5")),
    "lock": (lambda text: parse_lock(text, ("check", "bet45")), ("check 0.3; bet45 rest", "bet45 AA:1; check rest")),
    "added line": (lambda text: edited(text, "add_line"), ("x b30", "b20 r90 c")),
    "removed line": (lambda text: edited(text, "remove_line"), ("x b45", "bet45 fold")),
    "node": (lambda text: river().node(text), ("check bet45", "x b45 r150")),
    "stack": (lambda text: Spot(**SPOT_FIELDS | {"stack": text}).subgame(), ("100", "100,80")),
    "rake": (lambda text: Spot(**SPOT_FIELDS | {"rake": text, "rake_cap": 5}).subgame(), ("5%", "0.05")),
    "bets": (bet_abstraction, ("fcpa", "0.5,1,allin", "fchpda")),
    "until": (lambda text: read_exploitability(text, "leduc", 2.0, 50.0), ("1e-4", "0.3%", "5mbb")),
    "algorithms": (parse_algorithms, ("cfr,cfr+", "fast=dcfr(alpha=1.5),external-sampling")),
    "entry": (entered, ("me=always-call", "50/50", "x.strategy?purify=true,threshold=0.1", "program:./a 'b c'",
                        "x.strategy?resolve=turn,safe=true,seconds=3")),
    "action": (lambda text: Betting.start(HOLDEM).nearest_legal(text), ("r300", "c", "f")),
    "typed action": (lambda text: read_action(Betting.start(HOLDEM), text), ("raise 300", "call", "r300", "pot")),
    "forgotten": (
        lambda text: abstraction_by_name(*leduc(), text), ("match=^.", "initial", "ranks=JQ-K,outside=b,kk/b@1"),
    ),
    "part": (lambda text: label_parts(leduc()[1], [text]), ("kk/b", "b,kb@1+2", "only:,k,kb")),
    "cards of parts": (lambda text: split_cards([text]), ("rf=x.cpa", "kk/b@1=a=b", "x.cpa")),
}  # fmt: skip

ODD = ("9" * 30, "9" * 5000, "-1", "0", "1e999999999", "nan", "inf", "1/0", "0.0000001", "[" * 3000, "(" * 3000, "{",
       '"', "\\", "\x00", "\ud800", "é٣", " ", "\n", "=", ":", ",", "/", "|", "#", "AhAh", "r", "x", "true", "%", "+",
       "-", "..", "²", "A" * 20_000)  # fmt: skip


def a_hand(portfolio: Portfolio, state: Path) -> None:
    """An agent with what it had learned, if there is a state, plays a hand and learns from it."""
    rules = STANDARD["kuhn.limit.2p"]
    agent = AdaptiveAgent(portfolio, rules, bound=5)
    agent.keep(state)
    dealt_hand(rules, next(deals(rules, 1)), 0, [agent, RuleAgent("always-call", 1)])
    agent.remarks()


def folder_parsers(folder: Path) -> dict[str, Parser]:
    """Parsers of files that belong to a folder; the text is written there and read as the library does."""
    plan = make_plan("leduc_limit_2p", "tiny", rounds="3,KE3", iterations=100, deals=3, threads=1, seed=0)
    Pipeline(plan, folder / "agent", cache=folder / "features").run()
    config = TournamentConfig("kuhn", ("always-call", "50/50"), 20, piece=5)
    Tournament(folder / "tournament", config).run()
    settings, results = (folder / "tournament" / name for name in ("tournament.json", "results.jsonl"))

    def in_file(path: Path, read: Callable[[], Any]) -> Parser:
        valid = path.read_text(encoding="utf-8")

        def parse(text: str) -> None:
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
            try:
                read()
            finally:
                path.write_text(valid, encoding="utf-8")

        return parse, (valid,)

    adaptive, state = small_portfolio(folder / "portfolio"), folder / "state"
    a_hand(adaptive, state)
    ranges, transactions = folder / "ranges.txt", folder / "x.tlog"
    ranges.write_text("OOP: 66+,A8s+\nIP: 22+,\n AT+ # comment\n", encoding="utf-8")
    transactions.write_text("r300 0 1.000000 2.000000\nc 0 2.100000 2.200000\n", encoding="utf-8")
    return {
        "build.json": in_file(folder / "agent" / STATE, lambda: Pipeline(plan, folder / "agent").report()),
        "tournament.json": in_file(settings, lambda: Tournament(folder / "tournament")),
        "results.jsonl": in_file(results, lambda: Tournament(folder / "tournament").result().to_dict()),
        "portfolio.json": in_file(folder / "portfolio" / PORTFOLIO, lambda: load_portfolio(folder / "portfolio")),
        "agent state": in_file(state, lambda: a_hand(adaptive, state)),
        "range file": in_file(ranges, lambda: read_ranges(ranges)),
        "transactions": in_file(transactions, lambda: read_transactions(transactions)),
    }


def changed_text(rng: random.Random, seeds: tuple[str, ...]) -> str:
    """A text like the seeds, with some changes; of JSON, sometimes with other values in its place."""
    text = rng.choice(seeds)
    if text.startswith("{") and rng.random() < 0.5:
        return changed_json(rng, text)
    pieces = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        place = rng.randint(0, max(0, len(pieces) - 1))
        change = rng.choice(("alike", "alike", "alike", "replace", "insert", "remove", "repeat", "move", "many", "cut"))
        if change == "alike":
            pieces[place : place + 1] = [alike(rng, piece, seeds) for piece in pieces[place : place + 1]]
        elif change == "replace":
            pieces[place : place + 1] = [rng.choice(ODD) if rng.random() < 0.7 else random_text(rng)]
        elif change == "insert":
            pieces.insert(place, rng.choice(ODD))
        elif change == "remove":
            del pieces[place : place + rng.randint(1, 3)]
        elif change == "repeat":
            pieces[place:place] = pieces[place : place + 3]
        elif change == "move":
            pieces[place:] = reversed(pieces[place:])
        elif change == "many":
            pieces[place : place + 1] = pieces[place : place + 1] * rng.choice((40, 2000))
        else:
            del pieces[place:]
    return "".join(pieces)[:LONGEST]


def alike(rng: random.Random, piece: str, seeds: tuple[str, ...]) -> str:
    """A piece of the seeds that could stand in the place of another."""
    if piece.isdecimal() and rng.random() < 0.5:
        return str(rng.choice((0, 1, 2, 3, 5, 10, 64, 100, 1000, int(piece[:9]) + rng.choice((-1, 1)))))
    kinds = (r"\d+", r"\w+", r"\s+", r"[^\w\s]")
    kind = next((kind for kind in kinds if re.fullmatch(kind, piece)), r"\w+")
    return rng.choice([piece, *re.findall(kind, rng.choice(seeds))])


def random_text(rng: random.Random) -> str:
    """A few characters, half of them plain."""
    return "".join(
        chr(rng.randint(32, 126) if rng.random() < 0.5 else rng.randint(0, 0x10FFFF)) for _ in range(rng.randint(0, 5))
    )


def changed_json(rng: random.Random, text: str) -> str:
    """Lines of JSON with one value replaced."""
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [json.loads(line) for line in text.splitlines()]
    place = rng.randrange(len(values))
    values[place] = changed_value(rng, values[place])
    return "\n".join(map(json.dumps, values)) + "\n"


def changed_value(rng: random.Random, value: Any) -> Any:
    """A value of JSON with one value inside it replaced or missing."""
    keys: list[Any] = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    if not keys or rng.random() < 0.15:
        return rng.choice(VALUES)
    key, other = rng.choice(keys), value.copy()
    if rng.random() < 0.1:
        del other[key]
    else:
        other[key] = changed_value(rng, value[key])
    return other


VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    0.5,
    2**31,
    2**63,
    2**80,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "../x",
    "9" * 5000,
    [],
    {},
    [[[]]],
    [1] * 1000,
    {"x": None},
)
"""What may stand in the place of any other value."""
