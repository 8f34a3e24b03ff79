"""State strings, logs and deals of the competition, with lines that the reference dealer wrote."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.errors import GameError
from counterplay.poker.acpc.dealing import Deal, deal_array, deals
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_log import HandRecord, MatchLog, format_chips, parse_log, parse_record, read_log
from counterplay.poker.acpc.match_state import MatchState, parse_deal, parse_match_state, parse_reply, parse_state
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.poker.rules import Betting
from tests.poker_hands import definitions, random_action

LIMIT = STANDARD["holdem.limit.2p.reverse_blinds"]
NO_LIMIT = STANDARD["holdem.nolimit.2p.reverse_blinds"]
LIMIT_3 = STANDARD["holdem.limit.3p"]

LINES = [  # written by the reference dealer with seed 0
    (LIMIT, "STATE:0:rf:5d5c|9hQd:-10|10:P1|P2"),
    (LIMIT, "STATE:1:cc/cc/rc/crrrrc:6sKs|5dJd/2sTh2h/Qh/8h:110|-110:P2|P1"),
    (LIMIT, "STATE:3:crrc/rc/rrc/rrrc:4s8s|6hJd/QhJs9d/Qc/9h:-140|140:P2|P1"),
    (NO_LIMIT, "STATE:0:cc/r18977r20000c//:5d5c|9hQd/8dAs8s/4h/6d:20000|-20000:P1|P2"),
    (NO_LIMIT, "STATE:1:cc/cc/cc/cr14100r20000f:6sKs|5dJd/2sTh2h/Qh/8h:14100|-14100:P2|P1"),
    (LIMIT_3, "STATE:2:crfrc/cc/cc/crc:Jh7c|Kd7d|Kh3h/8d2c9h/Ts/Kc:60|-10|-50:P3|P1|P2"),
    (LIMIT_3, "STATE:1:crcrrcc/rcc/crrrcc/crrrcrfc:Ks6h|Qs5d|Tc4d/Ah3dTd/8c/Qd:-170|360|-190:P2|P3|P1"),
]
SEEN = [  # messages of a match between the reference dealer and its example player
    "MATCHSTATE:0:0::TdAs|",
    "MATCHSTATE:0:0:r:TdAs|",
    "MATCHSTATE:0:0:rrc/:TdAs|/2c8c3h",
    "MATCHSTATE:0:0:rrc/rc/crc/crc:TdAs|8hTc/2c8c3h/9c/Kh",
]


def deal_text(deal: Deal) -> str:
    board = [deal.board[:3], deal.board[3:4], deal.board[4:]]
    return "|".join(map(cards_text, deal.hole)) + "".join("/" + cards_text(cards) for cards in board)


# ---------------------------------------------------------------------------------------------- deals


@pytest.mark.parametrize("game", [LIMIT, NO_LIMIT], ids=["limit", "no-limit"])
def test_the_cards_of_seed_0(game: GameDefinition) -> None:
    """The reference dealer with seed 0, two players."""
    found = [deal_text(deal) for deal in itertools.islice(deals(game, 0), 4)]
    assert found == [
        "5d5c|9hQd/8dAs8s/4h/6d", "6sKs|5dJd/2sTh2h/Qh/8h", "Ah8s|2h4c/Qd7h6c/4s/Jc", "4s8s|6hJd/QhJs9d/Qc/9h",
    ]  # fmt: skip


def test_the_cards_of_seed_0_for_three_players() -> None:
    found = [deal_text(deal) for deal in itertools.islice(deals(LIMIT_3, 0), 3)]
    assert found == ["5d5c|9hQd|8dAs/8s4h6d/5s/Js", "Ks6h|Qs5d|Tc4d/Ah3dTd/8c/Qd", "Jh7c|Kd7d|Kh3h/8d2c9h/Ts/Kc"]


@settings(max_examples=60, deadline=None)
@given(definitions(), st.integers(0, 2**32 - 1))
def test_deals_use_cards_of_the_deck_once(game: GameDefinition, seed: int) -> None:
    rows = deal_array(game, seed, 20)
    assert rows.shape == (20, game.cards_dealt)
    for row, deal in zip(rows.tolist(), deals(game, seed), strict=False):
        assert [card for cards in deal.hole for card in cards] + list(deal.board) == row
        assert len(set(row)) == len(row)
        assert set(row) <= set(game.deck)


def test_deals_do_not_depend_on_how_many_are_asked_for() -> None:
    many = deal_array(LIMIT, 7, 2000)
    np.testing.assert_array_equal(many[:30], deal_array(LIMIT, 7, 30))
    last = next(itertools.islice(deals(LIMIT, 7), 1999, None))
    assert [card for cards in last.hole for card in cards] + list(last.board) == many[-1].tolist()
    assert (deal_array(LIMIT, 8, 30) != many[:30]).any()


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seeds_have_32_bits(seed: int) -> None:
    with pytest.raises(GameError, match="seed of a deal must lie between 0 and 4294967295"):
        deal_array(LIMIT, seed, 1)


# ---------------------------------------------------------------------------------------------- lines


@pytest.mark.parametrize(("game", "line"), LINES)
def test_lines_of_the_reference_dealer(game: GameDefinition, line: str) -> None:
    record = parse_record(game, line + "\r\n")
    assert record.text() == line
    assert record.recomputed() == record.values
    assert parse_state(game, line) == record.state() or record.state().text() == parse_state(game, line).text()
    assert HandRecord.of(parse_state(game, line), record.names).text() == line


@pytest.mark.parametrize("line", SEEN)
def test_messages_of_the_reference_dealer(line: str) -> None:
    state = parse_match_state(LIMIT, line + "\r\n")
    assert state.text() == line
    assert state.my_turn == (line in (SEEN[1], SEEN[2]))
    answered, action = parse_reply(LIMIT, f"{line}:r\r\n")
    assert (answered.text(), action) == (line, "r")
    answered, action = parse_reply(LIMIT, f"{line}\r\n")
    assert (answered.text(), action) == (line, "")


def test_a_no_limit_answer() -> None:
    state, action = parse_reply(NO_LIMIT, "MATCHSTATE:0:30:cc/:9s8h|/8c8d5c:r250")
    assert state.my_turn
    assert state.betting.legal(action)
    assert state.act(action).betting.spent == (250, 100)


@settings(max_examples=250, deadline=None)
@given(definitions(), st.integers(0, 2**32 - 1))
def test_random_hands_are_written_and_read_again(game: GameDefinition, seed: int) -> None:
    chance = random.Random(seed)
    state = MatchState(chance.randrange(10**6), Betting.start(game), next(deals(game, seed)))
    while True:
        assert parse_state(game, state.text()).text() == state.text()
        for position in range(game.players):
            seen = state.seen_by(position)
            again = parse_match_state(game, seen.text())
            assert again.text() == seen.text()
            assert again.deal == seen.deal
            assert again.my_turn == (state.betting.player == position)
        if state.betting.finished:
            break
        state = state.act(random_action(state.betting, chance))
    names = [f"P{number}" for number in range(game.players)]
    record = HandRecord.of(state, names)
    again_record = parse_record(game, record.text())
    assert again_record.text() == record.text()
    assert again_record.values == record.values
    if len(state.board) == game.board_ends[-1]:
        assert again_record.recomputed() == record.values


def test_who_sees_what() -> None:
    deal = next(deals(LIMIT_3, 0))
    folded = MatchState(0, Betting.after(LIMIT_3, "fcc/cc/cc/cc"), deal)
    assert folded.seen_by(2).text() == "MATCHSTATE:2:0:fcc/cc/cc/cc:5d5c|9hQd|8dAs/8s4h6d/5s/Js"
    assert folded.seen_by(0).text() == "MATCHSTATE:0:0:fcc/cc/cc/cc:5d5c|9hQd|/8s4h6d/5s/Js"
    alone = MatchState(0, Betting.after(LIMIT_3, "rff"), deal)
    assert alone.seen_by(2).text() == "MATCHSTATE:2:0:rff:||8dAs"
    all_in = MatchState(0, Betting.after(NO_LIMIT, "cr17630r20000c"), next(deals(NO_LIMIT, 0)))
    assert all_in.text() == "STATE:0:cr17630r20000c///:5d5c|9hQd/8dAs8s/4h/6d"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param("MATCHSTATE:0:0:rrc:TdAs|/2c8c3h", SEEN[2], id="no slash in the betting"),
        pytest.param("MATCHSTATE:0:0:RBk/:TDas/2C8c3H", SEEN[2], id="other letters, no bar"),
        pytest.param("MATCHSTATE:0:0:rrcrccrccrc:TdAs8hTc/2c8c3h/9c/Kh", SEEN[3], id="no bar between hands"),
        pytest.param("MATCHSTATE:00:000::TdAs|\n", SEEN[0], id="zeros in front"),
        pytest.param("MATCHSTATE:0:0:rrcrccrccrc:TdAs8hTc2c8c3h9cKh", SEEN[3], id="no slashes"),
        pytest.param("MATCHSTATE:0:0:rrc:TdAs/2c8c3h", SEEN[2], id="no bar before the board"),
    ],
)
def test_what_readers_tolerate(line: str, text: str) -> None:
    assert parse_match_state(LIMIT, line).text() == text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("", "cannot read ''; a match state is written", id="empty"),
        pytest.param("MATCHSTATE:2:0::TdAs|", "position 2 does not exist with 2 players", id="position"),
        pytest.param("MATCHSTATE:-1:0::TdAs|", "cannot read", id="negative"),
        pytest.param("MATCHSTATE:0:0:rrrrc/:TdAs|/2c8c3h", "'r' is not legal after 'rrr'", id="illegal raise"),
        pytest.param("MATCHSTATE:0:0:cf:TdAs|", "'f' is not legal after 'c'", id="illegal fold"),
        pytest.param("MATCHSTATE:0:0:r200:TdAs|", "cannot read 'r200' in the betting", id="size"),
        pytest.param("MATCHSTATE:0:0::Td|", "does not give 2 hole cards", id="one card"),
        pytest.param("MATCHSTATE:0:0::TdAs|8hTc|2c3c", r"'\|2c3c' is too much", id="three hands"),
        pytest.param("MATCHSTATE:0:0::TdAs8hTc2c3c", "'2c3c' is too much", id="too many cards"),
        pytest.param("MATCHSTATE:0:0:rrc/:TdAs|", r"must have \[0, 3\] cards", id="no flop"),
        pytest.param("MATCHSTATE:0:0::TdAs|/2c8c3h", "'/2c8c3h' is too much in the cards", id="flop too early"),
        pytest.param("MATCHSTATE:0:0:rrc/:TdAs|/2c8cTd", "occurs twice", id="twice"),
        pytest.param("MATCHSTATE:0:0::1dAs|", "got '1d'", id="no card"),
        pytest.param("MATCHSTATE:0:0::TdAs|:r", "':r' follows the state", id="an action follows"),
        pytest.param("MATCHSTATE:0:0:" + "/" * 5000 + ":TdAs|", "at most 4096 characters; got 5005", id="too long"),
        pytest.param("MATCHSTATE:0:99999999999::TdAs|", "cannot read", id="hand number"),
    ],
)
def test_lines_that_are_refused(line: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        parse_match_state(LIMIT, line)


def test_other_lines_that_are_refused() -> None:
    with pytest.raises(GameError, match="holds other cards"):
        parse_match_state(STANDARD["leduc.limit.2p"], "MATCHSTATE:0:0::2c|")
    with pytest.raises(GameError, match="a state is written STATE:handId"):
        parse_state(LIMIT, SEEN[0])
    with pytest.raises(GameError, match="hand in a log is written"):
        parse_record(LIMIT, "STATE:0:rf:5d5c|9hQd")
    with pytest.raises(GameError, match="hand 0 is not over after 'r'"):
        parse_record(LIMIT, "STATE:0:r:5d5c|9hQd:-10|10:P1|P2")
    with pytest.raises(GameError, match="values and names of 2 players"):
        parse_record(LIMIT, "STATE:0:rf:5d5c|9hQd:-10:P1|P2")
    with pytest.raises(GameError, match="cannot read the value 'ten'"):
        parse_record(LIMIT, "STATE:0:rf:5d5c|9hQd:-10|ten:P1|P2")
    with pytest.raises(GameError, match="a showdown needs them"):
        parse_match_state(LIMIT, "MATCHSTATE:0:0:cc/cc/cc/cc:TdAs|/2c8c3h/9c/Kh").values()


def test_boards_of_the_first_round() -> None:
    """Nothing parts them from the last hole cards; they are told apart by their number."""
    game = GameDefinition(
        limit=True, players=2, rounds=1, blinds=(1, 1), raise_sizes=(1,), suits=4, ranks=13, hole_cards=2,
        board_cards=(3,),
    )  # fmt: skip
    state = MatchState(0, Betting.start(game), next(deals(game, 0)))
    assert state.text() == "STATE:0::5d5c|9hQd8dAs8s"
    assert parse_state(game, state.text()).deal == state.deal
    assert parse_deal(game, "|9hQd8dAs8s", 0).hole == ((), parse_cards("9hQd"))
    assert parse_deal(game, "5d5c|8dAs8s", 0).hole == (parse_cards("5d5c"), ())


# ---------------------------------------------------------------------------------------------- logs


def write_log(path: Path) -> MatchLog:
    chance = random.Random(3)
    records = []
    for hand, deal in enumerate(itertools.islice(deals(LIMIT_3, 5), 60)):
        state = MatchState(hand, Betting.start(LIMIT_3), deal)
        while not state.betting.finished:
            state = state.act(random_action(state.betting, chance))
        records.append(HandRecord.of(state, [f"P{(position + hand) % 3 + 1}" for position in range(3)]))
    log = MatchLog(tuple(records), "match", "holdem.limit.3p.game", 60, 5, (600000, 600000, 7000))
    totals = log.totals()
    log = MatchLog(log.records, log.name, log.game_file, 60, 5, log.times, tuple(totals.values()), tuple(totals))
    path.write_text("".join(f"{line}\n" for line in log.lines()), encoding="utf-8")
    return log


def test_a_log_is_written_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "match.log"
    log = write_log(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:4] == [
        "# name/game/hands/seed match holdem.limit.3p.game 60 5",
        "#--t_response 600000", "#--t_hand 600000", "#--t_per_hand 7000",
    ]  # fmt: skip
    assert lines[-1].startswith("SCORE:")
    again = read_log(path, LIMIT_3)
    assert list(again.lines()) == lines
    assert (again.hands, again.seed, again.times, again.score) == (60, 5, log.times, log.score)
    assert again.totals() == log.totals()
    assert sum(again.score) == 0
    assert all(record.recomputed() == record.values for record in again.records if len(record.deal.board) == 5)


def test_logs_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GameError, match=r"the log .* cannot be read"):
        read_log(tmp_path / "none.log", LIMIT)
    with pytest.raises(GameError, match="line 2: cannot read 'garbage'"):
        parse_log(["# comment", "garbage"], LIMIT)
    with pytest.raises(GameError, match="line 1: cannot read the header"):
        parse_log(["# name/game/hands/seed a b c"], LIMIT)
    path = tmp_path / "bad.log"
    path.write_text("STATE:0:rq:5d5c|9hQd:-10|10:P1|P2\n", encoding="utf-8")
    with pytest.raises(GameError, match=r"bad\.log: line 1: cannot read 'q' in the betting"):
        read_log(path, LIMIT)


def test_logs_of_earlier_years() -> None:
    """Names first, blinds and sizes of calls in the betting."""
    record = parse_record(NO_LIMIT, "A|B:7:b50b100c100c/r300c300/cc/cc:6sKs|5dJd/2sTh2h/Qh/8h:300|-300")
    assert record.text() == "STATE:7:cc/r300c/cc/cc:6sKs|5dJd/2sTh2h/Qh/8h:300|-300:A|B"
    assert record.recomputed() == record.values


def test_lines_of_six_players() -> None:
    """The shape in which hands of six-player no-limit hold'em were published: blinds 50 and 100, stacks 10,000."""
    game = GameDefinition(
        limit=False, players=6, rounds=4, blinds=(50, 100, 0, 0, 0, 0), stacks=(10_000,) * 6,
        first_players=(2, 0, 0, 0), suits=4, ranks=13, hole_cards=2, board_cards=(0, 3, 1, 1),
    )  # fmt: skip
    cards = "2c3d|4h5s|6c7d|8h9s|TcJd|QhKs/2d3c4c"
    line = f"STATE:7:fffr225fc/cr500f:{cards}:-50|-225|0|0|0|275:A|B|C|D|E|F"
    record = parse_record(game, line)
    assert record.text() == line
    assert record.recomputed() == (-50, -225, 0, 0, 0, 275) == record.values


@pytest.mark.parametrize(
    ("value", "text"),
    [(110, "110"), (0, "0"), (Fraction(-4105, 2), "-2052.5"), (Fraction(100, 3), "33.333333"), (-7, "-7"),
     (Fraction(-1, 10**7), "0")],
)  # fmt: skip
def test_chips_have_at_most_six_decimals(value: int | Fraction, text: str) -> None:
    assert format_chips(value) == text


def test_split_pots_are_read_exactly() -> None:
    record = parse_record(LIMIT_3, "STATE:0:ccc/ccc/ccc/ccc:5d5c|9hQd|8dAs/8s4h6d/5s/Js:-33.333333|0.5|32.833333:A|B|C")
    assert record.values == (Fraction(-100, 3), Fraction(1, 2), Fraction(197, 6))
