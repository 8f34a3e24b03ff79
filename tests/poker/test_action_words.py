"""Words for actions: what is the same action, and what is none."""

from __future__ import annotations

import pytest

from counterplay.errors import GameError
from counterplay.poker.action_words import betting_letters, match_action
from counterplay.poker.postflop.subgame import Subgame
from counterplay.strategy.public_lookup import PublicIndex

OPEN, FACING = ("check", "bet20", "bet45", "allin"), ("fold", "call", "raise90", "allin")


@pytest.fixture(scope="module")
def index() -> PublicIndex:
    game = Subgame("Ks Td 7h 4c", pot=60, stack=150, oop="AA,KQs", ip="KK,QJs", bets="33%,75%,a", raises="60%,a")
    return PublicIndex(game.tree())


@pytest.mark.parametrize(
    ("words", "actions", "action"),
    [
        ("x X k check CHECK Check c", OPEN, "check"), ("b45 B45 bet45 BET45 r45 b45.0", OPEN, "bet45"),
        ("a ai allin ALLIN all-in", OPEN, "allin"), ("c call CALL", FACING, "call"), ("f fold Fold", FACING, "fold"),
        ("r90 raise90 b90 RAISE90", FACING, "raise90"), ("check call x k c", ("f", "c", "r"), "c"),
        ("raise bet r b", ("f", "c", "r"), "r"), ("b300 raise300 r300", ("f", "c", "r300", "r900"), "r300"),
        ("b", ("a", "b", "r"), "b"), ("r", ("a", "b", "r"), "r"),
    ],
)  # fmt: skip
def test_words_for_an_action(words: str, actions: tuple[str, ...], action: str) -> None:
    for word in words.split():
        assert match_action(word, 0, actions) == (actions.index(action), len(word))


@pytest.mark.parametrize(
    ("word", "actions"),
    [("b46", OPEN), ("b4", OPEN), ("b455", OPEN), ("b45.5", OPEN), ("fold", OPEN), ("x", FACING),
     ("r2", ("f", "c", "r")), ("", OPEN), ("?", OPEN)],
)  # fmt: skip
def test_words_for_no_action(word: str, actions: tuple[str, ...]) -> None:
    assert match_action(word, 0, actions) is None


@pytest.mark.parametrize(
    "text",
    ["check bet20 call", "x b20 c", "xb20c", "CHECK,BET20,CALL", "x-b20-c", "r:0:c:b20:c", "check bet 20 call",
     " x  b20 c ", "k/b20/c"],
)  # fmt: skip
def test_spellings_of_a_node(index: PublicIndex, text: str) -> None:
    place = index.node(text)
    assert index.tree.node_text[place] == "check bet20 call"


def test_the_first_node(index: PublicIndex) -> None:
    assert index.node("") == index.node("r:0") == index.node(" ") == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x b46", "cannot read 'b46' at character 3; after 'check' there are check, bet20, bet45, allin"),
        ("xb46c", "cannot read 'b46c' at character 2; after 'check' there are"),
        ("xfold", "cannot read 'fold' at character 2"), ("b45f", "after 'bet45 fold' nobody acts"),
        ("allin c x", "nobody acts, since the hand is over or all chips are in"),
    ],
)  # fmt: skip
def test_nodes_that_do_not_exist(index: PublicIndex, text: str, message: str) -> None:
    with pytest.raises(GameError, match="there is no decision after") as caught:
        index.node(text)
    assert message in str(caught.value)


def test_boards_in_any_spelling(index: PublicIndex) -> None:
    place = index.node("xx")
    same = [index.board(place, text) for text in ("KsTd7h4c9d", "Ks Td 7h 4c 9d", "K♠,10♦,7♥,4♣,9♦")]
    assert same[0] == same[1] == same[2]


def test_letters_of_a_betting() -> None:
    for text in ("cr300c/", "CHECK raise 300, call", "x b300 c", "k-bet300-call"):
        assert betting_letters(text) == "cr300c"
    assert betting_letters("") == ""
    with pytest.raises(GameError, match=r"cannot read 'jam' at character 3 of the betting 'x jam'"):
        betting_letters("x jam")
