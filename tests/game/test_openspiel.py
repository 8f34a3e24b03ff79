"""The adapter to OpenSpiel: known sizes, the same trees as ours, names that load again, and what is refused."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from counterplay.errors import GameError
from counterplay.game import make
from counterplay.game.game import CHANCE, TERMINAL
from counterplay.game.openspiel import load_openspiel
from counterplay.tree.history.compile import compile_game

pyspiel = pytest.importorskip("pyspiel")


@pytest.mark.parametrize(
    ("spec", "histories", "infosets"),
    [("openspiel:kuhn_poker", 58, 12), ("openspiel:leduc_poker", 9457, 936)],
)
def test_known_sizes(spec: str, histories: int, infosets: int) -> None:
    tree = compile_game(spec)
    assert (tree.num_histories, tree.num_infosets, tree.players) == (histories, infosets, 2)
    assert tree.facts.zero_sum


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("openspiel:kuhn_poker", "kuhn"),
        ("openspiel:kuhn_poker(players=3)", "kuhn(players=3)"),
        ("openspiel:leduc_poker", "leduc(suited=true)"),
    ],
)
def test_the_games_we_both_have_are_the_same(theirs: str, ours: str) -> None:
    """The same shape, utilities and partition.  The actions of Kuhn and Leduc come in the same order in both."""
    one, two = compile_game(theirs), compile_game(ours)
    for field in ("parent", "player", "infoset", "utility", "chance_prob"):
        np.testing.assert_allclose(getattr(one, field), getattr(two, field), rtol=1e-12, err_msg=field)


@pytest.mark.parametrize(
    "spec",
    [
        "openspiel:liars_dice(numdice=1,dice_sides=3)",
        "openspiel:goofspiel(num_cards=3,points_order=descending,imp_info=True)",
        "openspiel:goofspiel(num_cards=3,points_order=descending,returns_type=total_points)",
        "openspiel:matrix_rps",
        "openspiel:turn_based_simultaneous_game(game=matrix_pd())",
    ],
)
def test_small_games_compile_and_their_names_make_them_again(spec: str) -> None:
    game = make(spec)
    tree = compile_game(game)
    again = make(game.spec())
    assert game.spec().startswith("openspiel:")
    assert again.spec() == game.spec() == tree.name
    assert compile_game(again).digest == tree.digest
    assert set(tree.player.tolist()) <= {TERMINAL, CHANCE, 0, 1}


def test_simultaneous_moves_are_hidden() -> None:
    tree = compile_game("openspiel:matrix_rps")
    assert tree.counts() == {"decision": 4, "chance": 0, "terminal": 9}
    assert tree.num_infosets == 2


def test_declared_zero_sum_only_for_two_players() -> None:
    assert make("openspiel:kuhn_poker").zero_sum is True
    assert make("openspiel:kuhn_poker(players=3)").zero_sum is None
    assert make("openspiel:matrix_pd").zero_sum is None


def test_parameters_are_added_and_override() -> None:
    assert make("openspiel:kuhn_poker", players=3).players == 3
    game = make("openspiel:liars_dice(numdice=2,dice_sides=4)", dice_sides=3)
    assert game.spec() == "openspiel:liars_dice(dice_sides=3,numdice=2)"
    assert make("openspiel: kuhn_poker() ").spec() == "openspiel:kuhn_poker"


def test_parameters_get_their_declared_types() -> None:
    """OpenSpiel itself cannot load these texts: it takes a lone 1 for a number and 2 for a whole one."""
    lists = "blind=1 1,firstPlayer=1,maxRaises=1,numBoardCards=0,raiseSize=1,stack=5 5"
    game = make(f"openspiel:universal_poker(betting=limit,numRounds=1,numRanks=3,numSuits=1,{lists})")
    assert compile_game(make(game.spec())).num_terminals == 30
    assert make("openspiel:sheriff", item_value=2).spec() == "openspiel:sheriff(item_value=2.0)"


def test_states_are_not_changed_by_play() -> None:
    root = make("openspiel:kuhn_poker").root()
    first = root.child(0)
    root.child(1)
    assert root.player == first.player == CHANCE
    assert [card for card, _ in root.chance()] == [0, 1, 2]
    assert [card for card, _ in first.chance()] == [1, 2]
    decision: Any = first.child(2)
    assert (decision.player, decision.actions(), decision.infoset()) == (0, (0, 1), "0")
    end = decision.child(0).child(0)
    assert end.player == TERMINAL
    assert list(end.utilities()) == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("openspiel:kuhn_pokr", "OpenSpiel has no game 'kuhn_pokr'; did you mean 'kuhn_poker'?"),
        ("openspiel:qqqqqq", "registered_names"),
        ("openspiel:", "OpenSpiel has no game ''"),
        ("openspiel:kuhn_poker(players=", "cannot be loaded: Missing closing bracket"),
        ("openspiel:kuhn_poker(players=x)", "cannot be loaded: Wrong type for parameter players"),
        ("openspiel:kuhn_poker(players=99)", "cannot be loaded: "),
        ("openspiel:kuhn_poker(jokers=1)", "cannot be loaded: Unknown parameter 'jokers'"),
        ("openspiel:mfg_crowd_modelling", "mean-field game"),
        ("openspiel:pig", "no information-state strings"),
        ("openspiel:coop_box_pushing", "no information-state strings"),
        ("openspiel:phantom_go", "no information-state strings"),
    ],
)
def test_errors_are_one_line(spec: str, message: str) -> None:
    with pytest.raises(GameError) as caught:
        make(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sampled_chance_is_refused() -> None:
    kinds = pyspiel.GameType
    names = [
        kind.short_name
        for kind in pyspiel.registered_games()
        if kind.chance_mode == kinds.ChanceMode.SAMPLED_STOCHASTIC and kind.default_loadable
    ]
    assert names
    with pytest.raises(GameError, match="sampled and cannot be listed"):
        make(f"openspiel:{names[0]}")


def test_parameters_of_a_foreign_type_are_refused() -> None:
    with pytest.raises(GameError, match="cannot be loaded"):
        make("openspiel:kuhn_poker", players=object())


def test_without_openspiel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(GameError, match=r"pip install counterplay\[openspiel\]"):
        load_openspiel("kuhn_poker", {})
