"""PHH hand histories: read, written, turned into log records and back, and played by PokerKit."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import random
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pokerkit
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.errors import GameError
from counterplay.poker.acpc.dealing import deals
from counterplay.poker.acpc.match_log import HandRecord, parse_record
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.phh import (
    HandHistory,
    format_phh,
    format_phhs,
    from_record,
    parse_phh,
    read_phh,
    to_record,
)  # fmt: skip
from counterplay.poker.rules import Betting
from tests.poker_hands import random_action

LIMIT = STANDARD["holdem.limit.2p.reverse_blinds"]
NAMES = ["holdem.limit.2p.reverse_blinds", "holdem.nolimit.2p.reverse_blinds", "holdem.limit.3p", "holdem.nolimit.3p"]

EXAMPLE = """variant = "FT"
antes = [0, 0]
blinds_or_straddles = [5, 10]
small_bet = 10
big_bet = 20
starting_stacks = [2000, 2000]
actions = ["d dh p1 Ah8s", "d dh p2 2h4c", "p2 cc", "p1 cc", "d db Qd7h6c", "p1 cbr 10", "p2 cbr 20", "p1 cbr 30", \
"p2 cbr 40", "p1 cc", "d db 4s", "p1 cbr 20", "p2 cc", "d db Jc", "p1 cbr 20", "p2 f"]
"""
"""Hand 2 of the reference match with seed 0; PokerKit pays 70 and -70."""

BADUGI = """
variant = "FB"
antes = [0, 0]
blinds_or_straddles = [1.50, 2]
small_bet = 2
big_bet = 4
starting_stacks = [inf, 200]
actions = ["d dh p1 ????????", "d dh p2 AsKcQdJh # a comment", "p2 cc", "p1 cbr 4", "p2  cc", "p1 sd", "p2 sd AsKc",
  "", "# nothing", "d dh p2 2s3c"]
time = 12:30:00
day = 3
players = ["Ann \\"A\\"", 'B\\C']
_note = {place = "home", rake = 0.05}
ante_trimming_status = true
"""


def random_record(name: str, seed: int, stack: int | None = None) -> HandRecord:
    game = STANDARD[name]
    if stack is not None:
        game = dataclasses.replace(game, stacks=(stack,) * game.players)
    chance = random.Random(seed)
    state = MatchState(seed % 1000, Betting.start(game), next(deals(game, seed)))
    while not state.betting.finished:
        state = state.act(random_action(state.betting, chance))
    return HandRecord.of(state, [f"P{position + 1}" for position in range(game.players)])


def played(text: str, **more: Any) -> pokerkit.HandHistory:
    return pokerkit.HandHistory.loads(text, **more)


def test_the_example_of_the_reference_match() -> None:
    (hand,) = parse_phh(EXAMPLE)
    record = to_record(hand)
    assert record.text() == "STATE:0:cc/rrrrc/rc/rf:Ah8s|2h4c/Qd7h6c/4s/Jc:70|-70:p1|p2"
    assert record.deal == next(itertools.islice(deals(LIMIT, 0), 2, None))
    again = from_record(record)
    assert again.actions == hand.actions
    assert format_phh(hand) == EXAMPLE


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 2**32 - 1), st.sampled_from([None, 300, 20000]))
def test_random_hands_go_round(name: str, seed: int, stack: int | None) -> None:
    """Log record to PHH text to record; PokerKit plays the text to the same values and the same state string."""
    record = random_record(name, seed, stack)
    text = format_phh(from_record(record))
    (hand,) = parse_phh(text)
    back = to_record(hand)
    assert back.text() == record.text()
    assert back.betting.game == record.betting.game
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = played(text.replace("inf", "2000"))  # it cannot split pots of players with endless chips
        other = dataclasses.replace(other, divmod=lambda chips, parts: (Fraction(chips, parts), 0))
        *_, last = other
        assert last.payoffs == list(record.values)
        said = [line for _, line in other.to_acpc_protocol(0)]
    if record.betting.game.players == 2 and all(record.betting.actions):
        assert said[-1].strip() == record.state().seen_by(0).text()


def test_stacks_without_limit() -> None:
    record = random_record("holdem.limit.2p.reverse_blinds", 1)
    text = format_phh(from_record(record))
    assert "starting_stacks = [inf, inf]" in text
    assert to_record(parse_phh(text)[0]).betting.game == LIMIT


def test_what_pokerkit_writes_is_read() -> None:
    hand = played(EXAMPLE)
    (again,) = parse_phh(hand.dumps())
    assert to_record(again).values == (70, -70)
    several = pokerkit.HandHistory.dumps_all([hand, hand])
    assert [to_record(one).values for one in parse_phh(several)] == [(70, -70)] * 2


def test_several_hands_in_a_file(tmp_path: Path) -> None:
    hands = [from_record(random_record("holdem.nolimit.3p", seed)) for seed in range(4)]
    path = tmp_path / "hands.phhs"
    path.write_text(format_phhs(hands), encoding="utf-8")
    assert path.read_text(encoding="utf-8").startswith("[1]\nvariant")
    assert read_phh(path) == hands
    assert len(list(pokerkit.HandHistory.loads_all(path.read_text(encoding="utf-8")))) == 4
    with pytest.raises(GameError, match="cannot be read"):
        read_phh(tmp_path / "none.phh")
    path.write_text("variant = 3", encoding="utf-8")
    with pytest.raises(GameError, match=r"hands\.phhs: a hand history needs a variant"):
        read_phh(path)


def test_other_variants_keep_everything() -> None:
    (hand,) = parse_phh(BADUGI)
    assert (hand.variant, hand.players) == ("FB", 2)
    assert hand.fields["blinds_or_straddles"] == [Decimal("1.50"), 2]
    assert hand.fields["starting_stacks"][0] == Decimal("Infinity")
    assert hand.fields["time"] == datetime.time(12, 30)
    assert hand.fields["_note"] == {"place": "home", "rake": Decimal("0.05")}
    assert hand.fields["players"] == ['Ann "A"', "B\\C"]
    assert parse_phh(format_phh(hand)) == [hand]
    with pytest.raises(GameError, match="variant 'FB' cannot be converted to records"):
        to_record(hand)


def test_shown_cards_fill_in_what_was_not_seen() -> None:
    record = parse_record(LIMIT, "STATE:1:cc/cc/rc/crrrrc:6sKs|5dJd/2sTh2h/Qh/8h:110|-110:P2|P1")
    hand = from_record(record)
    hidden = tuple(action if not action.startswith("d dh p2") else "d dh p2 ????" for action in hand.actions)
    assert hidden[-2:] == ("p1 sm 6sKs", "p2 sm 5dJd") or hidden[-2:] == ("p2 sm 5dJd", "p1 sm 6sKs")
    assert to_record(HandHistory(hand.variant, hand.fields, hidden)).text() == record.text()
    mucked = HandHistory(hand.variant, hand.fields, hidden[:-2])
    with pytest.raises(GameError, match="a showdown needs them"):
        to_record(mucked)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("variant", "vari ant", "a hand history must be TOML", id="not TOML"),
        pytest.param('"FT"', '"XX"', "unknown variant 'XX'; the format has FT, FO/8", id="variant"),
        pytest.param("big_bet = 20\n", "", "needs the keys big_bet", id="missing"),
        pytest.param("[5, 10]", "[5]", "blinds_or_straddles must have one number for each of 2 players", id="blinds"),
        pytest.param("[5, 10]", "[5, true]", "must be non-negative numbers up to 1e15", id="no number"),
        pytest.param('"p2 cc"', '"p3 cc"', "cannot read the action 'p3 cc' of a hand of 2 players", id="player"),
        pytest.param('"p2 cc"', '"p2 call"', "cannot read the action 'p2 call'", id="action"),
        pytest.param("actions", "aktionen", "needs a list of actions; got None", id="no actions"),
    ],
)
def test_texts_that_are_refused(old: str, new: str, message: str) -> None:
    assert old in EXAMPLE
    with pytest.raises(GameError, match=message):
        parse_phh(EXAMPLE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("antes = [0, 0]", "antes = [1, 1]", r"antes \[1, 1\] cannot be recorded", id="antes"),
        pytest.param("[5, 10]", "[5.5, 10]", "5.5 is not an integer number of chips", id="cents"),
        pytest.param('"p2 cc"', '"p1 cc"', "'p1 cc' is out of turn after ''", id="turn"),
        pytest.param('"p2 cc"', '"p2 sd"', "'p2 sd' is no action of Texas hold'em", id="discard"),
        pytest.param(', "p2 f"', "", "the hand is not over after 'cc/rrrrc/rc/r'", id="not over"),
        pytest.param('"p1 cc", "d db 4s"', '"p1 cbr 50", "d db 4s"', "'r' is not legal after", id="five bets"),
    ],
)
def test_hands_that_are_no_records(old: str, new: str, message: str) -> None:
    assert old in EXAMPLE
    (hand,) = parse_phh(EXAMPLE.replace(old, new, 1))
    with pytest.raises(GameError, match=message):
        to_record(hand)


def test_games_that_the_format_does_not_know() -> None:
    game = STANDARD["leduc.limit.2p"]
    state = MatchState(0, Betting.after(game, "rf"), next(deals(game, 0)))
    with pytest.raises(GameError, match="the format has only Texas hold'em"):
        from_record(HandRecord.of(state, ["A", "B"]))
