"""Oshi-Zumo: published sizes, the six shares of table 4.2, the same trees as OpenSpiel's, values, and forgetting.

Source: Čermák 2018, section 4.5 and table 4.2.  The counts behind the shares were computed independently.
"""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError
from counterplay.games.oshi_zumo import OshiZumo, relative_sets
from tests.reference.compiled import sizes, tree_value


def test_eleven_coins() -> None:
    """3.5e6 states, 2.8e5 and 1.4e6 sequences of maximiser and minimiser (Čermák 2018, section 4.5).

    The minimiser sees all bids and so has one sequence for each choice; the maximiser's are those of a player who
    sees only outcomes.  The empty sequence is counted here.
    """
    game = OshiZumo(coins=11)
    counts = game.count_histories()
    assert counts == {"all": 3_485_066, "first": 1_019_472, "second": 1_439_988, "terminal": 1_025_606}
    assert game.count_sets(-1)["entries"] + 1 == 284_121


@pytest.mark.parametrize(
    ("coins", "first", "terminal", "decision_sets", "terminal_sets"),
    [
        (10, 258_060, 259_180, (9_289, 15_915, 26_621), (7_630, 12_717, 21_479)),
        (11, 1_019_472, 1_025_606, (21_318, 37_106, 63_962), (17_627, 29_854, 51_461)),
    ],
)
def test_sizes_of_the_abstractions(
    coins: int, first: int, terminal: int, decision_sets: tuple[int, ...], terminal_sets: tuple[int, ...]
) -> None:
    game = OshiZumo(coins=coins)
    counts = game.count_histories()
    assert (counts["first"], counts["terminal"]) == (first, terminal)
    found = [game.count_sets(remembered) for remembered in range(3)]
    assert tuple(each["decision"] for each in found) == decision_sets
    assert tuple(each["terminal"] for each in found) == terminal_sets


@pytest.mark.parametrize(("coins", "shares"), [(10, (3.27, 5.54, 9.30)), (11, (1.90, 3.27, 5.64))])
def test_table_4_2(coins: int, shares: tuple[float, ...]) -> None:
    """Relative numbers of information sets for 0, 1 and 2 remembered moves (Čermák 2018, table 4.2, left)."""
    assert tuple(round(100 * relative_sets(coins, remembered), 2) for remembered in range(3)) == shares


@pytest.mark.parametrize(("coins", "infosets"), [(9, 20_421), (10, 66_256), (11, 213_655)])
def test_hidden_bids(coins: int, infosets: int) -> None:
    """Information sets of each player when bids of the opponent are never shown."""
    assert OshiZumo(coins=coins).count_sets(-1)["decision"] == infosets


@pytest.mark.parametrize("coins", [3, 6, 8])
def test_counting_agrees_with_the_tree(coins: int) -> None:
    seen = cp.compile_game(f"oshi_zumo(coins={coins})")
    hidden = cp.compile_game(f"oshi_zumo(coins={coins},opponent_bids_observed=false)")
    game = OshiZumo(coins=coins)
    counts = game.count_histories()
    assert counts["all"] == seen.num_histories == hidden.num_histories
    assert (counts["first"], counts["second"]) == (seen.decisions_of(0), seen.decisions_of(1))
    assert counts["terminal"] == seen.num_terminals
    assert sizes(seen)["infosets"] == (counts["first"],) * 2
    assert sizes(seen)["sequences"] == (counts["second"] + 1,) * 2
    everything = game.count_sets(-1)
    assert sizes(hidden)["infosets"] == (everything["decision"],) * 2
    assert sizes(hidden)["sequences"] == (everything["entries"] + 1,) * 2
    for remembered in range(3):
        tree = cp.compile_game(f"oshi_zumo(coins={coins},remembered={remembered})")
        assert len(tree.infosets_of(0)) == game.count_sets(remembered)["decision"]
        assert len(tree.infosets_of(1)) == counts["first"]
        assert tree.sequences.sequences_of(0) == everything["entries"] + 1  # of the player who remembers


@pytest.mark.parametrize("coins", [5, 6, 7])
@pytest.mark.parametrize("observed", ["true", "false"])
def test_a_symmetric_game_is_worth_nothing(coins: int, observed: str) -> None:
    """The value 0 of the game (Čermák 2018, section 4.5)."""
    tree = cp.compile_game(f"oshi_zumo(coins={coins},opponent_bids_observed={observed})")
    assert tree_value(tree) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("coins", "size"), [(4, 3), (6, 1), (5, 2)])
def test_the_same_trees_as_openspiel(coins: int, size: int) -> None:
    pytest.importorskip("pyspiel")
    one = cp.compile_game(f"oshi_zumo(coins={coins},size={size},payoff=win)")
    two = cp.compile_game(f"openspiel:oshi_zumo(coins={coins},size={size},min_bid=1,horizon=100)")
    for field in ("parent", "player", "infoset", "utility"):
        np.testing.assert_allclose(getattr(one, field), getattr(two, field), err_msg=field)


def test_recall() -> None:
    assert cp.compile_game("oshi_zumo(coins=5)").recall == ("perfect", "perfect")
    assert cp.compile_game("oshi_zumo(coins=5,opponent_bids_observed=false)").recall == ("perfect", "perfect")
    assert cp.compile_game("oshi_zumo(coins=5,remembered=0)").recall == ("a-loss", "perfect")


def test_rules() -> None:
    game = cp.make("oshi_zumo(coins=3,size=1)")
    assert game.play().actions() == (1, 2, 3)
    assert game.play(3, 1, 0).actions() == (1, 2)  # the first has no coins left and must bid 0
    assert game.play(3, 1).actions() == (0,)
    assert game.play(3, 1, 0, 1, 0, 1).utilities() == (-1.0, 1.0)
    pushed_off = cp.make("oshi_zumo(coins=5,size=1)").play(2, 1, 2, 1)
    assert pushed_off.utilities() == (2.0, -2.0)
    assert cp.make("oshi_zumo(coins=5,size=1,payoff=win)").play(2, 1, 2, 1).utilities() == (1.0, -1.0)
    assert cp.make("oshi_zumo(coins=2)").play(1, 1, 1, 1).utilities() == (0.0, 0.0)
    assert cp.make("oshi_zumo(coins=5,min_bid=3)").play(3, 4).player == cp.TERMINAL


@pytest.mark.parametrize("observed", ["true", "false"])
@pytest.mark.parametrize("remembered", [0, 1, 2])
def test_forgetting_gives_the_sets_of_the_forgetful_game(observed: str, remembered: int) -> None:
    game = cp.make(f"oshi_zumo(coins=5,opponent_bids_observed={observed})")
    left = game.forget("last-moves", str(remembered))
    clever = cp.compile_game(game)
    forgetful = cp.compile_game(f"oshi_zumo(coins=5,remembered={remembered})")
    names = {left(clever.infoset_names[infoset]) for infoset in clever.infosets_of(0)}
    assert names == {forgetful.infoset_names[infoset] for infoset in forgetful.infosets_of(0)}


def test_names() -> None:
    assert cp.make("oshi_zumo").play(2, 1, 1, 1).infoset() == "2-1 1-1"
    assert cp.make("oshi_zumo(opponent_bids_observed=false)").play(2, 1, 1, 1, 1).infoset() == "1l 1t"
    assert cp.make("oshi_zumo(remembered=1)").play(2, 1, 1, 1).infoset() == "wt coins 2 last 1"
    assert cp.make("oshi_zumo(remembered=0)").play(2, 1, 1, 1).infoset() == "wt coins 2"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("oshi_zumo(coins=0)", "coins must be at least 1; got 0"),
        ("oshi_zumo(min_bid=0)", "min_bid must be at least 1; got 0"),
        ("oshi_zumo(remembered=-2)", "remembered must be at least -1; got -2"),
        ("oshi_zumo(payoff=chips)", "payoff must be distance or win; got 'chips'"),
    ],
)
def test_bad_parameters(name: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        cp.make(name)


def test_bad_things_to_forget() -> None:
    with pytest.raises(GameError, match="non-negative integer; got ''"):
        cp.make("oshi_zumo").forget("last-moves", "")
    with pytest.raises(GameError, match="can forget last-moves"):
        cp.make("oshi_zumo").forget("coins", "1")
