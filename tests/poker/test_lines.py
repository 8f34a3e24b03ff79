"""Lines of the betting of a spot, added and removed."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from counterplay.errors import GameError
from counterplay.poker.postflop.subgame import Subgame, parse_subgame
from counterplay.tree.public.public_tree import SHOWDOWN
from tests.poker.test_postflop import actions_after

RIVER = Subgame("QsJh2h3c8d", 50, 200, "AA,KQs", "JJ,T9s", bets="50%", raises="60%", allin_threshold=1.0)
"""Bets of 25; over them raises to 25 + 60 = 85, then all in."""
FLOP = dataclasses.replace(RIVER, board="QsJh2h", bets="flop=50%", raises="none")


def edited(game: Subgame, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> Subgame:
    return dataclasses.replace(game, add_line=add, remove_line=remove)


def decisions(game: Subgame) -> dict[str, tuple[str, ...]]:
    tree = game.tree()
    return {tree.node_text[n]: tree.actions_of(n) for n in np.flatnonzero(tree.kind < 2)}


def test_an_added_line_is_all_that_is_added() -> None:
    plain, more = decisions(RIVER), decisions(edited(RIVER, ("x b50 r120",)))
    assert more["check"] == ("check", "bet25", "bet50")
    assert more["check bet50"] == ("fold", "call", "raise120", "raise140")
    assert more["check bet50 raise120"] == ("fold", "call", "allin")
    after = {text for text in more if text.startswith("check bet50")}
    assert {text: actions for text, actions in more.items() if text not in {*after, "check"}} == {
        text: actions for text, actions in plain.items() if text != "check"
    }


@pytest.mark.parametrize("line", ["x b50 r120", "xb50r120", "CHECK, BET 50, RAISE 120", "r:0:c:b50:b120"])
def test_the_words_of_lines_are_those_of_nodes(line: str) -> None:
    assert decisions(edited(RIVER, (line,))) == decisions(edited(RIVER, ("check bet50 raise120",)))


def test_a_removed_line_takes_what_follows_along() -> None:
    plain, less = decisions(RIVER), decisions(edited(RIVER, remove=("x b25", "b25 r85")))
    assert less["check"] == ("check",)
    assert less["bet25"] == ("fold", "call")
    gone = [text for text in plain if text.startswith(("check bet25", "bet25 raise85"))]
    assert len(gone) == 5
    assert set(plain) - set(less) == set(gone)
    assert set(less) <= set(plain)


def test_lines_are_added_before_others_are_removed() -> None:
    game = edited(RIVER, ("b40", "b40 r100"), ("b25", "b40 r118", "x x"))
    assert decisions(game)[""] == ("check", "bet40")
    assert decisions(game)["bet40"] == ("fold", "call", "raise100")
    assert decisions(game)["check"] == ("bet25",)
    assert decisions(edited(RIVER, ("b25", "x c"))) == decisions(RIVER)


def test_sizes_are_taken_as_written() -> None:
    """Neither the chip nor the all-in threshold applies; the rest of the stack is all in."""
    game = dataclasses.replace(edited(RIVER, ("b10.5", "b199", "x b200", "b25 a")), allin_threshold=0.5, chip=5)
    assert decisions(game)[""] == ("check", "bet10.5", "bet25", "bet199")
    assert decisions(game)["check"] == ("check", "bet25", "allin")
    assert decisions(game)["bet199"] == ("fold", "call", "allin")
    assert "allin" in decisions(game)["bet25"]
    assert game.spent("bet10.5 call") == (10.5, 10.5)
    assert decisions(dataclasses.replace(game, remove_line=("x b200",)))["check"] == ("check", "bet25")


def test_lines_over_several_streets() -> None:
    game = edited(FLOP, ("x b25 c x b30",))
    assert actions_after(game, "check bet25 call check") == ("check", "bet30")
    assert actions_after(game, "check check check") == ("check",)
    with pytest.raises(GameError, match="after 'bet25 call check check' there would be no action left"):
        actions_after(edited(FLOP, (), ("b25 c x x x",)), "")
    game = edited(FLOP, ("b25 c x x x b60 a",))
    assert actions_after(game, "bet25 call check check check bet60") == ("fold", "call", "allin")


def test_a_tree_made_of_lines_is_that_of_the_sizes() -> None:
    """Every array, so every value: only the names differ."""
    bare = dataclasses.replace(RIVER, bets="none", raises="none")
    lines = ("b25 r85 a", "x b25 r85 a")
    one, other = RIVER.tree(), edited(bare, lines).tree()
    for first, second in zip(one._arrays(), other._arrays(), strict=True):
        np.testing.assert_array_equal(first, second)
    assert one.node_text == other.node_text
    assert one.action_labels == other.action_labels


def test_payoffs_of_added_lines() -> None:
    tree = edited(RIVER, ("x b50 r120",)).tree()
    nodes = {tree.node_text[n]: n for n in np.flatnonzero(tree.kind > 2)}
    assert (tree.kind[nodes["check bet50 raise120 call"]], tree.payoff[nodes["check bet50 raise120 call"]]) == (
        SHOWDOWN, 145.0,
    )  # fmt: skip
    assert tree.payoff[nodes["check bet50 raise120 fold"]] == 75.0


def test_names_have_the_lines() -> None:
    game = edited(RIVER, ("x b50",), ("b25",))
    assert parse_subgame(game.name) == game
    assert len({game.name, RIVER.name, edited(RIVER, ("x b50",)).name, edited(RIVER, (), ("b25",)).name}) == 4
    assert game.title == "QsJh2h3c8d, pot 50, stack 200, with 'x b50', without 'b25'"
    assert dataclasses.replace(RIVER, add_line="x b50").add_line == ("x b50",)
    assert "line" not in RIVER.name


@pytest.mark.parametrize(
    ("add", "remove", "words"),
    [
        ("x b0.5", "", "the line 'x b0.5' has the illegal size 0.5: bets are 1 to 200 chips after 'check'"),
        ("b201", "", "illegal size 201: bets are 1 to 200 chips$"),
        ("b25 r49", "", "illegal size 49: raises are to 50 to 200 chips after 'bet25'"),
        ("a r300", "", "the line 'a r300' raises a player who is all in after 'allin'"),
        ("b50 b60 c", "", "illegal size 60: raises are to 100 to 200 chips after 'bet50'"),
        ("x jam", "", "cannot read 'jam' at character 3 of the line 'x jam'; after 'check' there are check, "),
        ("b50 x", "", "after 'bet50' there are fold, call, raise140, and a bet or raise with its chips such as b50"),
        ("x x b50", "", "'x x b50' cannot be added: the hand is over before its last action"),
        ("b25 r90", "b25", "'b25 r90' cannot be added: .* another line removes an earlier one"),
        ("", "x b33", "cannot read 'b33' at character 3 of the line 'x b33'; after 'check' there are check, bet25$"),
        (" ", "", "at least one action"), ("r:0", "", "at least one action"),
    ],
)  # fmt: skip
def test_lines_that_cannot_be(add: str, remove: str, words: str) -> None:
    game = edited(RIVER, (add,) if add else (), (remove,) if remove else ())
    with pytest.raises(GameError, match=words):
        game.tree()


@pytest.mark.parametrize("lines", [("x", "b25"), ("b25 f", "b25 c", "b25 r85")])
def test_the_last_action_stays(lines: tuple[Any, ...]) -> None:
    with pytest.raises(GameError, match=r"cannot be removed: .* there would be no action left"):
        edited(RIVER, (), lines).tree()
