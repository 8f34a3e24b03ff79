"""Every parser: any text gives a result or an error of the library, in bounded time and memory.

Texts are made from valid ones by changes that a parser may stumble over: pieces are removed, repeated, swapped and
replaced by numbers that are too large, brackets, words of other formats, and odd characters.  ``COUNTERPLAY_FUZZ=N``
tries N texts for each parser instead of the few of an ordinary run.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.errors import CounterplayError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.range_files import read_ranges
from counterplay.poker.rules import Betting
from torture.text_formats import ODD, PARSERS, changed_text

EXAMPLES = int(os.environ.get("COUNTERPLAY_FUZZ", "40"))
SECONDS = 20


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
    @given(st.randoms(use_true_random=False))
    def examples(rng: random.Random) -> None:
        attempt(parser, changed_text(rng, seeds))

    examples()


SEED = PARSERS["phh"][1][0]
"""A hand, of which some words are replaced."""


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("piece", ["(", "9", "1,", "AhKh", "r300", "x = 1\n"])
def test_a_megabyte(name: str, piece: str) -> None:
    """Long texts take no more than time in proportion; those of which every word is looked up are shorter here."""
    letters = 200_000 if name in ("matrix", "range", "bets") else 1_000_000
    attempt(PARSERS[name][0], piece * (letters // len(piece)))


@pytest.mark.parametrize("name", ["9" * 300 + "leduc", "9" * 5000 + "leduc", "x" * 5000 + ".efg", "a" * 300 + ".py:A"])
def test_names_longer_than_a_file_may_have(name: str) -> None:
    for use in (cp.make, cp.solve, cp.evaluate, lambda text: cp.evaluate(text, "kuhn")):
        with pytest.raises(CounterplayError, match=r"unknown game|there is no (file|strategy)|cannot be read|is not"):
            use(name)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("phh", SEED.replace("[100, 100]", "[1e999999999, 100]"), "has no number like"),
        ("phh", SEED.replace("[100, 100]", "[nan, 100]"), "has no number like"),
        ("phh", SEED.replace("[100, 100]", f"[{'9' * 5000}, 100]"), "starting_stacks|digits"),
        ("phh", SEED.replace("[100, 100]", "[" * 3000), "PHH|nested|TOML"),
        ("name", "bluff(2999999999999999999991)", "at most"),
        ("recipe", "9" * 5000 + ",5,5,5", r"no round has that many buckets: 9{18}\.\.\."),
        ("entry", "program:a 'b", "is no command: No closing quotation"),
        ("entry", "program:a\x00b", "cannot be started"),
        ("entry", "program:\ud800", "cannot be started"),
        ("forgotten", "match=" + "(" * 3000, "is not a regular expression"),
        ("algorithms", "cfr," * 50_000, "cfr is named twice"),
        ("memory", "9" * 1_000_000, "memory is written like 500MiB"),
        ("formula", "|".join(f"x{number}" for number in range(40)), "at most 10 variables"),
        ("formula", "x1 & " * 500 + "x1", "at most 200 clauses"),
        ("formula", "x" + "1" * 5000, "write it like"),
        ("typed action", "raise " + "300" * 2000, "is not possible here"),
        ("lock", "bet45 " + "9" * 300_000 + ":1", "cannot read"),
        ("range", "9" * 300_000 + "x", "cannot read"),
        ("efg", 'EFG 2 R "" { "a" "b" } t "" 1 "" { ' + "9" * 300_000 + "x 1 }", "x"),
    ],
)
def test_texts_that_were_not_refused(name: str, text: str, message: str) -> None:
    with limited(SECONDS), pytest.raises(CounterplayError, match=message):
        PARSERS[name][0](text)


def test_spaces_without_end_in_a_file_of_ranges(tmp_path: Path) -> None:
    path = tmp_path / "ranges.txt"
    for text in ("AA" + " " * 300_000 + "x", "9" * 300_000 + "x"):
        path.write_text(text)
        with limited(SECONDS), pytest.raises(CounterplayError, match="cannot read"):
            read_ranges(path)


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
