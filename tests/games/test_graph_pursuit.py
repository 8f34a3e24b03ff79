"""Graph pursuit GPx: counts, class sizes and values of all variants, the published shares, and captures.

Source: Čermák 2018, section 5.3.2.3.  Counts, class sizes and values were computed independently; the shares of 100
sets (1.1 % of GP5, 0.09 % of GP6) are published.
"""

from __future__ import annotations

import pytest

import counterplay as cp
from counterplay.errors import GameError
from tests.reference.compiled import class_sizes, sizes, tree_value


@pytest.mark.parametrize(
    ("parameters", "infosets", "sequences", "terminals"),
    [
        ("moves=5", (3_698, 5_610), (10_811, 31_603), 80_363),
        ("moves=5,goal_first=false", (3_698, 5_610), (10_811, 31_603), 80_363),
        ("moves=6", (36_292, 67_706), (75_999, 296_680), 580_377),  # 372,677 entries
        ("moves=5,goal_absorbing=true", (2_320, 3_430), None, None),
        ("moves=6,goal_absorbing=true", (22_589, 38_698), None, None),
    ],
)
def test_counts(
    parameters: str, infosets: tuple[int, int], sequences: tuple[int, int] | None, terminals: int | None
) -> None:
    tree = cp.compile_game(f"graph_pursuit({parameters})")
    found = sizes(tree)
    assert found["infosets"] == infosets
    assert sequences is None or found["sequences"] == sequences
    assert terminals is None or tree.num_terminals == terminals
    assert tree.num_entries == sum(found["sequences"]) - 2
    assert not tree.counts()["chance"]


def test_published_shares() -> None:
    """Only a goal that does not end the game agrees with the shares in Čermák 2018, section 5.3.2."""
    assert [round(100 * 100 / total, 1) for total in (9_308, 5_750)] == [1.1, 1.7]
    assert [int(100 * 100 * 100 / total) / 100 for total in (103_998, 61_287)] == [0.09, 0.16]


def test_initial_abstraction() -> None:
    tree = cp.compile_game("graph_pursuit(moves=5)")
    assert class_sizes(tree, 0) == {
        (0, 2): 1, (1, 2): 8, (2, 2): 6, (2, 3): 6, (2, 5): 32, (3, 2): 542, (4, 2): 1_631, (4, 3): 552, (4, 5): 920,
    }  # fmt: skip
    assert class_sizes(tree, 1) == {
        (0, 4): 1, (1, 4): 8, (2, 4): 28, (2, 6): 20, (3, 4): 747, (4, 4): 2_525, (4, 6): 1_481, (4, 10): 608,
        (4, 15): 152, (4, 25): 40,
    }  # fmt: skip
    assert tree.num_entries == 42_412


@pytest.mark.parametrize(
    ("parameters", "value"),
    [
        ("moves=3", 2),
        ("moves=4", -1 / 7),
        ("moves=4,goal_first=false", -1 / 4),
        ("moves=5", -1 / 4),
        ("moves=5,goal_first=false", -2 / 5),
        ("moves=5,tie=1", 2 / 7),
        ("moves=5,tie=1,goal_first=false", 1 / 11),
        ("moves=3,goal_absorbing=true", 2),
        ("moves=5,goal_absorbing=true", 2),
        pytest.param("moves=6", -2 / 3, marks=pytest.mark.slow),
        pytest.param("moves=6,goal_first=false", -1, marks=pytest.mark.slow),
        pytest.param("moves=6,tie=1", -1 / 3, marks=pytest.mark.slow),
        pytest.param("moves=6,tie=1,goal_first=false", -1, marks=pytest.mark.slow),
        pytest.param("moves=6,goal_absorbing=true", 2, marks=pytest.mark.slow),
    ],
)
def test_values(parameters: str, value: float) -> None:
    assert tree_value(cp.compile_game(f"graph_pursuit({parameters})")) == pytest.approx(value, abs=1e-8)


def test_captures_and_goal() -> None:
    game = cp.make("graph_pursuit(moves=3)")
    assert game.play(4, (3, 9), 5, (2, 10), 10, (6, 7)).utilities() == (2.0, -2.0)
    assert game.play(4, (3, 9), 5, (2, 8), 6, (6, 9)).utilities() == (-1.0, 1.0)
    assert game.play(1, (3, 9), 2, (7, 8), 6, (3, 9)).utilities() == (0.0, 0.0)
    assert cp.make("graph_pursuit(moves=3,tie=1)").play(1, (3, 9), 2, (7, 8), 6, (3, 9)).utilities() == (1.0, -1.0)
    assert game.play(4, (3, 12), 8, (7, 8)).player == cp.TERMINAL


def test_the_goal_may_be_walked_over() -> None:
    way = (4, (3, 12), 5, (7, 8), 10, (6, 9))
    assert cp.make("graph_pursuit(moves=5)").play(*way).player == 0
    assert cp.make("graph_pursuit(moves=5,goal_absorbing=true)").play(*way).utilities() == (2.0, -2.0)


def test_caught_on_the_goal() -> None:
    met = (4, (3, 9), 8, (2, 10), 9, (6, 13), 10, (10, 9))
    assert cp.make("graph_pursuit(moves=5)").play(*met).utilities() == (2.0, -2.0)
    assert cp.make("graph_pursuit(moves=5,goal_first=false)").play(*met).utilities() == (-1.0, 1.0)


def test_places_changed_along_an_edge() -> None:
    game = cp.make("graph_pursuit(moves=6)")
    way = (1, (6, 9), 2, (10, 8), 1, (7, 9), 2, (3, 8), 3)
    assert game.play(*way, (2, 9)).utilities() == (-1.0, 1.0)
    assert game.play(*way, (7, 9)).player == 0


def test_what_is_seen() -> None:
    game = cp.make("graph_pursuit(moves=4)")
    assert game.play(4, (6, 9)).infoset() == "0 4[6,9]"
    assert game.play(4, (6, 9), 5).infoset() == "7,13 6,9[4]"
    assert game.play(1, (3, 12), 2).infoset() == "7,13 3,12[1]"
    assert game.play(4, (3, 12)).infoset() == "0 4"
    assert cp.make("graph_pursuit(view=0)").play(4, (6, 9)).infoset() == "0 4"
    assert game.forget("last-moves", "0")("0 4[6,9] 8") == "round 3: 8"
    assert game.forget("last-moves", "1")("0 4[6,9] 8") == "round 3: 4[6,9] 8"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("graph_pursuit(moves=0)", "moves must be at least 1; got 0"),
        ("graph_pursuit(view=-1)", "view must be at least 0; got -1"),
        ("graph_pursuit(tie=3)", "tie must be between -1"),
    ],
)
def test_bad_parameters(name: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        cp.make(name)


def test_bad_things_to_forget() -> None:
    with pytest.raises(GameError, match="non-negative integer; got '-1'"):
        cp.make("graph_pursuit").forget("last-moves", "-1")
    with pytest.raises(GameError, match="can forget last-moves"):
        cp.make("graph_pursuit").forget("view", "1")
