"""Every parser: any text gives a result or an error of the library, in bounded time and memory.

Texts are made from valid ones by changes that a parser may stumble over: pieces are removed, repeated, swapped and
replaced by numbers that are too large, brackets, words of other formats, and odd characters.  ``COUNTERPLAY_FUZZ=N``
tries N texts for each parser instead of the few of an ordinary run.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.abstraction.cards import parse_recipe
from counterplay.errors import CounterplayError
from counterplay.game.efg import parse_efg
from counterplay.poker.acpc.definition import GameDefinition, format_definition, parse_definition
from counterplay.poker.acpc.match_log import parse_log
from counterplay.poker.acpc.match_state import parse_match_state, parse_reply
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.cards import parse_cards
from counterplay.poker.phh import format_phh, parse_phh, to_record
from counterplay.poker.postflop.bet_sizes import parse_sizes
from counterplay.poker.postflop.board_lists import read_boards
from counterplay.poker.postflop.subgame import Subgame, parse_subgame
from counterplay.poker.ranges import parse_range
from counterplay.poker.rules import Betting
from counterplay.runtime.memory import read_memory
from counterplay.solvers.settings import setting_value
from counterplay.strategy.poker_hands import parse_infoset

EXAMPLES = int(os.environ.get("COUNTERPLAY_FUZZ", "40"))
SECONDS = 20

HOLDEM = STANDARD["holdem.nolimit.2p.reverse_blinds"]
LIMIT = STANDARD["holdem.limit.2p.reverse_blinds"]

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


PARSERS: dict[str, tuple[Callable[[str], Any], tuple[str, ...]]] = {
    "phh": (read_hands, (PHH, f"[1]\n{PHH}[2]\n{PHH}")),
    "game": (read_game, (format_definition(HOLDEM), format_definition(LIMIT))),
    "efg": (lambda text: cp.compile_game(parse_efg(text, "x")), (EFG,)),
    "log": (lambda text: parse_log(text.split("\n"), HOLDEM), (LOG,)),
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
        ("169,KE570,KE570,KO570", "IR169/IR570/IR570/570", "PHS5x2,5,5,5", "R.3:.6,M.05,T:KE50,5", "5s"),
    ),
    "infoset": (parse_infoset, ("AsKs/2c7dTh:rc/", "As:")),
    "matrix": (lambda text: cp.compile_game(cp.make("matrix", rows=text)), ("1,-1;-1,1", "0.5 2; 3 4")),
    "formula": (lambda text: cp.make("toy_sat", formula=text), ("1 2 -3; -1 2 3", "1;2")),
    "dice": (lambda text: cp.make("die_roll_poker", bets=text).root(), ("2,4", "1,2,3")),
    "name": (lambda text: cp.make(small(text)).root(), ("leduc(players=3,ranks=4)", "bluff(2,1,recall=4)", "kuhn")),
    "memory": (read_memory, ("500MiB", "2 GB", "1e3")),
    "setting": (setting_value, ("true", "3", "1e9", "none", "+-5")),
}  # fmt: skip

ODD = ("9" * 30, "9" * 5000, "-1", "0", "1e999999999", "nan", "inf", "1/0", "0.0000001", "[" * 3000, "(" * 3000, "{",
       '"', "\\", "\x00", "\ud800", "é٣", " ", "\n", "=", ":", ",", "/", "|", "#", "AhAh", "r", "x", "true", "%", "+",
       "-", "..", "²", "A" * 20_000)  # fmt: skip


@st.composite
def texts(draw: Any, seeds: tuple[str, ...]) -> str:
    """A text like the seeds, with some changes."""
    pieces = re.findall(r"\w+|\s+|[^\w\s]", draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(0, len(pieces) - 1)))
        change = draw(st.sampled_from(("replace", "insert", "remove", "repeat", "move", "many", "cut")))
        if change == "replace":
            pieces[place : place + 1] = [draw(st.one_of(st.sampled_from(ODD), st.text(max_size=5)))]
        elif change == "insert":
            pieces.insert(place, draw(st.sampled_from(ODD)))
        elif change == "remove":
            del pieces[place : place + draw(st.integers(1, 3))]
        elif change == "repeat":
            pieces[place:place] = pieces[place : place + 3]
        elif change == "move":
            pieces[place:] = reversed(pieces[place:])
        elif change == "many":
            pieces[place : place + 1] = pieces[place : place + 1] * draw(st.sampled_from((40, 2000)))
        else:
            del pieces[place:]
    return "".join(pieces)


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Fail if something takes longer."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attempt(parser: Callable[[str], Any], text: str) -> None:
    """Any error but one of the library fails the test."""
    with limited(SECONDS):
        try:
            parser(text)
        except CounterplayError as error:
            message = str(error)
            assert len(message) < 3000, message[:300]


@pytest.mark.parametrize("name", PARSERS)
def test_any_text_is_read_or_refused(name: str) -> None:
    parser, seeds = PARSERS[name]
    for text in seeds:
        attempt(parser, text)
    for odd in ODD:
        attempt(parser, odd)

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(texts(seeds))
    def examples(text: str) -> None:
        attempt(parser, text)

    examples()


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("piece", ["(", "9", "1,", "AhKh", "r300", "x = 1\n"])
def test_a_megabyte(name: str, piece: str) -> None:
    """Long texts take no more than time in proportion."""
    attempt(PARSERS[name][0], piece * (200_000 // len(piece)))


@pytest.mark.parametrize("name", ["9" * 300 + "leduc", "9" * 5000 + "leduc", "x" * 5000 + ".efg", "a" * 300 + ".py:A"])
def test_names_longer_than_a_file_may_have(name: str) -> None:
    for use in (cp.make, cp.solve, cp.evaluate, lambda text: cp.evaluate(text, "kuhn")):
        with pytest.raises(CounterplayError, match=r"unknown game|there is no (file|strategy)|cannot be read|is not"):
            use(name)


def test_seeds_are_read() -> None:
    for name in ("phh", "game", "efg", "log", "match state", "betting", "range", "recipe", "matrix", "infoset"):
        parser, seeds = PARSERS[name]
        parser(seeds[0])


def test_games_without_stacks() -> None:
    """There is no end of raises: the sizes of such a game are refused, not listed."""
    game = GameDefinition(
        limit=False, players=2, rounds=1, blinds=(1, 2), suits=2, ranks=3, hole_cards=1, board_cards=(0,)
    )
    with pytest.raises(CounterplayError, match=r"can raise to any of 2,147,483,\d+ amounts; give the game stacks"):
        Betting.start(game).legal_actions()
