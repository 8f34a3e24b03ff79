"""Profiles as tables of public trees: poker with and without isomorphism, Bluff unfolded, against the history tree."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError, MemoryLimitError, StrategyError
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.forms import open_game
from counterplay.game.public_play import PlayEnd, PlayPoint, PublicPlay
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.strategy.files import load_strategy
from counterplay.strategy.public_tables import (
    PlayConverter,
    PokerConverter,
    SplitConverter,
    TableConverter,
    table_converter,
)
from counterplay.tree.public.unfold import count_play, unfold
from tests.bridge import to_profile
from tests.reference.best_response import best_response
from tests.reference.walks import random_profile

SAME = 1e-10

POKER = [
    "kuhn_limit_2p", "leduc_limit_2p", "leduc_nolimit_2p(stack=104)", "rhode_island(ranks=2,suits=2)",
    "holdem_2_1(ranks=4,suits=2)", "holdem_2_nolimit(stack=4,ranks=7,suits=1)",
    pytest.param("rhode_island(ranks=3,suits=2)", marks=pytest.mark.slow),
    pytest.param("holdem_2_1(ranks=3,suits=3)", marks=pytest.mark.slow),
]  # fmt: skip
ONE_SUIT = ("kuhn_limit_2p", "holdem_2_nolimit(stack=4,ranks=7,suits=1)")
PLAYED = ["bluff(sides=3)", "bluff(2,1,sides=2)", "bluff(1,2,sides=3,won=0.25)", "bluff(2,2,sides=2)"]


@functools.cache
def form(name: str, isomorphic: bool = True) -> TableConverter:
    return table_converter(name, isomorphic)


@functools.cache
def compiled(name: str) -> cp.GameTree:
    return cp.compile_game(name)


def suit_symmetric(name: str, seed: int) -> cp.TabularStrategy:
    """A random profile that plays alike with hands that differ in the names of suits only."""
    draw = np.random.default_rng(seed)
    sizes = form(name).tree.num_entries
    return form(name).profile((draw.exponential(size=sizes[0]), draw.exponential(size=sizes[1])))


@pytest.mark.parametrize("name", [*POKER, *PLAYED])
def test_profiles_go_there_and_back(name: str) -> None:
    tree, public = compiled(name), form(name, False)
    assert public.tree.num_infosets == tree.num_infosets
    profile = cp.TabularStrategy.random(tree, 4)
    again = public.profile(public.tables(profile)).for_tree(tree)
    assert np.abs(again - profile.table).max() < 1e-15


@pytest.mark.parametrize("name", [*POKER, *PLAYED])
def test_values_and_best_responses_equal_the_history_tree(name: str) -> None:
    tree, public = compiled(name), form(name, False)
    profile = cp.TabularStrategy.random(tree, 7)
    measured = PublicWalker(public.tree).measure(public.tables(profile))
    expected = cp.evaluate(profile, tree)
    assert measured.value == pytest.approx(expected.value, abs=SAME)
    assert measured.best_response == pytest.approx(expected.best_response, abs=SAME)


@pytest.mark.parametrize("name", ["leduc_limit_2p", "bluff(sides=3)", "holdem_2_1(ranks=7,suits=1)"])
def test_best_responses_equal_the_conventional_one(name: str) -> None:
    game, public = cp.make(name), form(name, False)
    table = random_profile(game, 2)
    tables = public.tables(to_profile(compiled(name), table))
    for player in (0, 1):
        value, _ = best_response(game, table, player)
        assert PublicWalker(public.tree).response(player, tables[1 - player]) == pytest.approx(value, abs=SAME)


@pytest.mark.parametrize("name", [name for name in POKER if name not in ONE_SUIT])
def test_isomorphism_changes_no_value(name: str) -> None:
    """Suit-symmetric strategies are worth the same with classes, with all hands, and in the history tree."""
    classes, hands = form(name), form(name, False)
    assert classes.tree.num_infosets < hands.tree.num_infosets
    profile = suit_symmetric(name, 1)
    expected = cp.evaluate(profile, compiled(name))
    for public in (classes, hands):
        measured = PublicWalker(public.tree).measure(public.tables(profile))
        assert measured.value == pytest.approx(expected.value, abs=SAME)
        assert measured.best_response == pytest.approx(expected.best_response, abs=SAME)


@pytest.mark.parametrize("name", ["leduc_limit_2p", "holdem_2_1(ranks=4,suits=2)"])
def test_a_strategy_that_tells_suits_apart_is_refused(name: str) -> None:
    tree = compiled(name)
    with pytest.raises(StrategyError, match=r"distinguishes suits: it plays .* at '.*' but .* without isomorphism"):
        form(name).tables(cp.TabularStrategy.random(tree, 0))
    nearly = suit_symmetric(name, 3)
    shares = nearly.table.copy()
    first = slice(*nearly.infoset_offset[[5, 6]].tolist())
    shares[first] = shares[first][::-1]
    broken = dataclasses.replace(nearly, table=shares)
    with pytest.raises(StrategyError, match="distinguishes suits"):
        form(name).tables(broken)
    form(name, False).tables(broken)  # all hands may be played in their own way


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+"])
@pytest.mark.parametrize(
    "name", ["leduc_limit_2p", "holdem_2_1(ranks=4,suits=2)", "rhode_island(ranks=2,suits=2)", "bluff"]
)
def test_averages_equal_the_history_tree(name: str, algorithm: str) -> None:
    """Average strategies after 50 iterations, isomorphism and all."""
    histories, public = cp.CfrSolver(compiled(name), algorithm), PublicSolver(form(name).tree, algorithm)
    histories.step(50)
    public.step(50)
    profile = form(name).profile(public.strategy("average"))
    assert np.abs(profile.for_tree(histories.tree) - histories.strategy("average")).max() < SAME
    assert public.measure().exploitability == pytest.approx(histories.measure().exploitability, abs=SAME)


def test_profiles_of_other_games_are_refused() -> None:
    profile = cp.TabularStrategy.uniform(compiled("kuhn_limit_2p"))
    with pytest.raises(StrategyError, match=r"does not fit bluff.*: it lacks information set '1:'"):
        form("bluff(sides=3)").tables(profile)
    with pytest.raises(StrategyError, match="it lacks"):
        form("leduc_limit_2p").tables(profile)
    with pytest.raises(StrategyError, match="does not fit leduc"):
        form("leduc").tables(profile)


def test_profiles_survive_their_file(tmp_path: object) -> None:
    path = f"{tmp_path}/leduc.strategy"
    profile = suit_symmetric("leduc_limit_2p", 9)
    profile.save(path)
    first, second = form("leduc_limit_2p").tables(load_strategy(path))
    again, other = form("leduc_limit_2p").tables(profile)
    assert np.array_equal(first, again)
    assert np.array_equal(second, other)


def test_where_the_tree_comes_from() -> None:
    assert isinstance(form("leduc_limit_2p"), PokerConverter)
    assert isinstance(form("bluff(sides=3)"), PlayConverter)
    assert isinstance(form("leduc"), SplitConverter)
    assert isinstance(form("bluff(2,1,sides=2,chain=true)"), SplitConverter)
    for name in ("leduc_limit_2p", "bluff(sides=3)", "leduc"):
        assert open_game(name, "public").fingerprint == form(name).tree.fingerprint
    with pytest.raises(GameError, match="imperfect recall"):
        table_converter("bluff(sides=3,recall=2)")
    with pytest.raises(GameError, match="two players"):
        table_converter("kuhn_limit_3p")
    tree = cp.compile_game("kuhn")
    profile = cp.TabularStrategy.random(tree, 1)
    both = table_converter(tree)
    assert np.abs(both.profile(both.tables(profile)).table - profile.table).max() < 1e-15


# ---------------------------------------------------------------------------------------------- plays unfolded


@pytest.mark.parametrize(
    ("name", "infosets"),
    [
        pytest.param("bluff", 24_576, id="one die each"),
        pytest.param("bluff(2,1)", 3_538_944, id="two dice against one"),
        pytest.param("bluff(1,2)", 3_538_944, id="one die against two"),
    ],
)
def test_sizes_of_bluff(name: str, infosets: int) -> None:
    """Johanson 2016, section 3.2.3."""
    public = open_game(name, "public")
    play = cp.make(name).public_play()
    assert play is not None
    assert public.num_infosets == infosets
    links = int((public.piece_size > 0).sum()) - 1
    assert public.num_nodes == count_play(play)[0] + links
    assert public.num_public_states == count_play(play)[0]


def test_bluff_with_two_dice_each_is_counted_and_refused_where_it_does_not_fit() -> None:
    play = cp.make("bluff(2,2)").public_play()
    assert play is not None
    assert count_play(play)[0] == 2**25 - 1
    with pytest.raises(MemoryLimitError, match="33,554,431 nodes and needs about"):
        unfold(play, "bluff(2,2)", memory_limit=1 << 30)


@pytest.mark.slow
def test_bluff_with_two_dice_each() -> None:
    """2.5 GB."""
    assert open_game("bluff(2,2)", "public").num_infosets == 352_321_536


def test_pieces_of_an_unfolded_tree_fit_together() -> None:
    """Every node but the root has one parent, links lead to the roots of pieces, children stay in their piece."""
    public = open_game("bluff", "public")
    seen = np.zeros(public.num_nodes, int)
    roots = np.flatnonzero(public.piece_size)
    assert np.array_equal(roots + public.piece_size[roots], [*roots[1:], public.num_nodes])
    for node in np.flatnonzero(public.kind <= 2).tolist():
        children = slice(int(public.first_child[node]), int(public.first_child[node]) + int(public.num_children[node]))
        seen[children] += 1
        piece = roots[np.searchsorted(roots, node, side="right") - 1]
        if public.kind[node] == 2:
            assert public.piece_size[children].tolist() != [0]
        else:
            assert piece < children.start <= children.stop <= piece + public.piece_size[piece]
    assert seen.tolist() == [0] + [1] * (public.num_nodes - 1)


COIN = ((("h", 0.5), ("t", 0.5)),) * 2
END = PlayEnd(((0, 1), (0, 1)), ((1.0, -1.0), (-1.0, 1.0)))
START = PlayPoint(0, ("stop", "go"), (1, 1))


@pytest.mark.parametrize(
    ("hands", "points", "message"),
    [
        pytest.param(COIN, (PlayPoint(0, ("a", "b"), (1, 0)), END), "leads back to a point before", id="endless"),
        pytest.param(COIN, (PlayPoint(2, ("a",), (1,)), END), "needs a player 0 or 1", id="third player"),
        pytest.param(COIN, (PlayPoint(0, ("a",), (5,)), END), "what follows each action", id="nowhere"),
        pytest.param(COIN, (PlayPoint(0, (), ()), END), "what follows each action", id="no action"),
        pytest.param(((("h", 0.5),), COIN[1]), (START, END), "sum to 1 .* got 1 hands, sum 0.5", id="half a hand"),
        pytest.param(COIN, (START, dataclasses.replace(END, classes=((0, 2), (0, 1)))), "a class below 2", id="class"),
        pytest.param(COIN, (START, dataclasses.replace(END, classes=((0,), (0, 1)))), "a class below", id="too few"),
        pytest.param(
            COIN, (START, dataclasses.replace(END, utility=((1.0, float("nan")), (0.0, 0.0)))), "finite", id="nan"
        ),
        pytest.param(COIN, (START, dataclasses.replace(END, utility=((1.0, 2.0), (0.0,)))), "rectangle", id="ragged"),
    ],
)  # fmt: skip
def test_plays_that_contradict_themselves(hands: object, points: tuple[object, ...], message: str) -> None:
    play = PublicPlay(hands, points, lambda hand, actions: f"{hand}{actions}")  # type: ignore[arg-type]
    with pytest.raises(GameError, match=message):
        unfold(play, "wrong")
