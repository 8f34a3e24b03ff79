"""Game definitions of the competition: read, written, checked; the standard ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from counterplay.errors import GameError
from counterplay.poker.acpc.definition import (
    UNLIMITED,
    GameDefinition,
    format_definition,
    parse_definition,
    read_definition,
    round_name,
)  # fmt: skip
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.cards import cards_text
from tests.poker_hands import definitions

LEDUC = """GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 1 1
raiseSize = 2 4
maxRaises = 2 2
numSuits = 2
numRanks = 3
numHoleCards = 1
numBoardCards = 0 1
END GAMEDEF
"""

FACTS = {  # type, players, rounds, stack, blind, raiseSize, firstPlayer, maxRaises, deck, hole, board
    "holdem.limit.2p.reverse_blinds": "limit 2 4 - 10,5 10,10,20,20 2,1,1,1 3,4,4,4 4x13 2 0,3,1,1",
    "holdem.nolimit.2p.reverse_blinds": "nolimit 2 4 20000,20000 100,50 - 2,1,1,1 - 4x13 2 0,3,1,1",
    "holdem.limit.3p": "limit 3 4 - 5,10,0 10,10,20,20 3,1,1,1 3,4,4,4 4x13 2 0,3,1,1",
    "holdem.nolimit.3p": "nolimit 3 4 20000,20000,20000 50,100,0 - 3,1,1,1 - 4x13 2 0,3,1,1",
    "kuhn.limit.3p": "limit 3 1 2,2,2 1,1,1 1 1 1 1x4 1 0",
    "kuhn.limit.2p": "limit 2 1 - 1,1 1 1 1 1x3 1 0",
    "leduc.limit.2p": "limit 2 2 - 1,1 2,4 1,1 2,2 2x3 1 0,1",
    "leduc.nolimit.2p": "nolimit 2 2 1200,1200 100,100 - 1,1 - 2x3 1 0,1",
    "2-1": "limit 2 2 - 10,5 10,20 2,1 1,1 4x13 2 0,3",
    "2-4": "limit 2 2 - 10,5 10,20 2,1 3,4 4x13 2 0,3",
    "4-1": "limit 2 4 - 10,5 10,10,20,20 2,1,1,1 1,1,1,1 4x13 2 0,3,1,1",
    "4-2": "limit 2 4 - 10,5 10,10,20,20 2,1,1,1 1,2,2,2 4x13 2 0,3,1,1",
    "rhode": "limit 2 3 - 5,5 10,20,20 1,1,1 3,3,3 4x13 1 0,1,1",
    "royal": "limit 2 4 - 10,5 10,10,20,20 2,1,1,1 3,4,4,4 4x5 2 0,3,1,1",
}


def edited(old: str, new: str) -> str:
    assert old in LEDUC
    return LEDUC.replace(old, new)


def test_the_standard_games_are_all_there() -> None:
    assert STANDARD.keys() == FACTS.keys()


@pytest.mark.parametrize("name", FACTS)
def test_facts_of_the_standard_games(name: str) -> None:
    """Written as a foreign file would be, the facts give the definition that is shipped."""
    kind, players, rounds, stack, blind, sizes, first, most, deck, hole, board = FACTS[name].split()
    lines = [f"# {name}", "gamedef", kind, f"numplayers {players}", f"NUMROUNDS={rounds}", f"blind = {blind}"]
    lines += [f"stack {stack}"] if stack != "-" else []
    lines += [f"raiseSize =  {sizes}"] if sizes != "-" else []
    lines += [f"maxRaises = {most}"] if most != "-" else []
    suits, ranks = deck.split("x")
    lines += [f"firstPlayer={first}", f"numSuits={suits}", f"numRanks = {ranks}", f"numHoleCards = {hole}"]
    lines += [f"numBoardCards = {board}", "end gamedef", "numPlayers = 9"]
    read = parse_definition("\r\n".join(lines).replace(",", " "))
    assert read == STANDARD[name]
    assert parse_definition(format_definition(read)) == read


def test_the_text_that_the_reference_writes() -> None:
    assert format_definition(STANDARD["leduc.limit.2p"]) == LEDUC
    text = format_definition(STANDARD["holdem.nolimit.3p"])
    assert text.splitlines()[1:6] == [
        "nolimit", "numPlayers = 3", "numRounds = 4", "stack = 20000 20000 20000", "blind = 50 100 0",
    ]  # fmt: skip
    assert "firstPlayer = 3 1 1 1\n" in text
    assert "maxRaises" not in text
    assert "raiseSize" not in text


@settings(max_examples=300, deadline=None)
@given(definitions())
def test_written_and_read_again(game: GameDefinition) -> None:
    if not game.has_stacks and game.players > 4:
        text = format_definition(game)  # the reference writer leaves such stacks out, and its reader wants them
        with pytest.raises(GameError, match="stack needs one value for each player"):
            parse_definition(text)
        return
    assert parse_definition(format_definition(game)) == game


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        pytest.param(edited("limit\n", ""), "limit", True, id="limit is the default"),
        pytest.param(edited("limit\n", "nolimit\n"), "raise_sizes", (), id="sizes are ignored"),
        pytest.param(edited("maxRaises = 2 2\n", ""), "max_raises", (255, 255), id="no cap"),
        pytest.param(edited("maxRaises = 2 2", "maxRaises = 3"), "max_raises", (3, 255), id="some caps"),
        pytest.param(edited("blind = 1 1", "blind = 1 1 7 7"), "blinds", (1, 1), id="too many blinds"),
        pytest.param(edited("blind = 1 1", "blind 1=1 x 3"), "blinds", (1, 1), id="up to the first word"),
        pytest.param(edited("blind = 1 1", "blind = 9 9\nblind = 1 1"), "blinds", (1, 1), id="the later one"),
        pytest.param(edited("blind", " blind = 7 7\nblind"), "blinds", (1, 1), id="blanks in front"),
        pytest.param(edited("blind", "#blind = 7 7\n\nbananas = 3\nblind"), "blinds", (1, 1), id="other lines"),
        pytest.param(edited("blind", "firstPlayer = 2\nblind"), "first_players", (1, 0), id="some first players"),
        pytest.param(edited("END", "stack = 5 6\nend"), "stacks", (5, 6), id="stacks"),
        pytest.param(LEDUC, "stacks", (UNLIMITED, UNLIMITED), id="no stacks"),
        pytest.param(edited("numRanks = 3", "NUMRANKS===3"), "ranks", 3, id="any number of ="),
    ],
)
def test_what_the_reader_takes(text: str, field: str, value: object) -> None:
    assert getattr(parse_definition(text), field) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "numRounds must lie between 1 and 4; got 0", id="empty"),
        pytest.param(
            edited("numRounds = 2", "numRounds = 5"), "numRounds must lie between 1 and 4; got 5", id="rounds"
        ),
        pytest.param(edited("numPlayers = 2", "numPlayers = 1"), "numPlayers must lie between 2 and 10", id="players"),
        pytest.param(edited("numPlayers = 2", "numPlayers = 5"), "stack needs one value for each player", id="stacks"),
        pytest.param(edited("blind = 1 1", "blind = 1"), r"blind needs .*, 2 in all; got \[1\]", id="blinds"),
        pytest.param(edited("blind", "stack = 5\nblind"), r"stack needs .*, 2 in all; got \[5\]", id="one stack"),
        pytest.param(edited("blind", "stack = 5 0\nblind"), "between 0 and its stack 0; got 1", id="blind over stack"),
        pytest.param(
            edited("raiseSize = 2 4", "raiseSize = 2"), "raiseSize needs one value for each round", id="sizes"
        ),
        pytest.param(edited("blind", "firstPlayer = 3\nblind"), "firstPlayer must lie between 1 and 2", id="first"),
        pytest.param(edited("blind", "firstPlayer = 0\nblind"), "firstPlayer must lie between 1 and 2", id="first 0"),
        pytest.param(edited("numSuits = 2", "numSuits = 5"), "numSuits must lie between 1 and 4; got 5", id="suits"),
        pytest.param(edited("numRanks = 3", ""), "numRanks must lie between 1 and 13; got 0", id="ranks"),
        pytest.param(
            edited("numHoleCards = 1", "numHoleCards = 4"), "numHoleCards must lie between 1 and 3", id="hole"
        ),
        pytest.param(edited("numBoardCards = 0 1", "numBoardCards = 0"), "numBoardCards needs one value", id="board"),
        pytest.param(
            edited("numBoardCards = 0 1", "numBoardCards = 0 5"), "takes 7 cards but the deck has 6", id="deck"
        ),
        pytest.param(edited("maxRaises = 2 2", "maxRaises = 256"), "maxRaises must lie between 0 and 255", id="raises"),
        pytest.param(edited("blind = 1 1", "blind = -1 1"), "between 0 and its stack .*; got -1", id="negative"),
        pytest.param(edited("blind = 1 1", "blind = 99999999999 1"), "99999999999 is too large", id="32 bits"),
        pytest.param(edited("blind", "#" * 4096 + "\nblind"), "at most 4095 characters; got 4096", id="long line"),
    ],
)
def test_what_the_reader_refuses(text: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        parse_definition(text)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "leduc.game"
    path.write_text(LEDUC, encoding="utf-8")
    assert read_definition(path) == STANDARD["leduc.limit.2p"]
    with pytest.raises(GameError, match=r"there is no file '.*none\.game'"):
        read_definition(tmp_path / "none.game")
    path.write_text("GAMEDEF\n", encoding="utf-8")
    with pytest.raises(GameError, match=r"leduc\.game: numRounds must lie"):
        read_definition(path)
    with pytest.raises(GameError, match=r"cannot be read"):
        read_definition(tmp_path)


@pytest.mark.parametrize(
    ("name", "cards"),
    [("kuhn.limit.2p", "QsKsAs"), ("kuhn.limit.3p", "JsQsKsAs"), ("leduc.limit.2p", "QhKhAhQsKsAs")],
)
def test_small_decks_keep_the_highest_cards(name: str, cards: str) -> None:
    assert cards_text(STANDARD[name].deck) == cards


@pytest.mark.parametrize(
    ("cards", "names"),
    [
        ((2, 3, 1, 1), ["preflop", "flop", "turn", "river"]), ((2, 3), ["preflop", "flop"]), ((2,), ["preflop"]),
        ((4, 3, 1, 1), ["preflop", "flop", "turn", "river"]), ((1, 1), ["round 1", "round 2"]),
        ((2, 1, 1), ["round 1", "round 2", "round 3"]), ((2, 3, 1, 1, 1), [f"round {n}" for n in range(1, 6)]),
    ],
)  # fmt: skip
def test_rounds_have_the_names_of_hold_em(cards: tuple[int, ...], names: list[str]) -> None:
    assert [round_name(cards, number) for number in range(len(cards))] == names
