"""Public trees from information sets alone: the same values, best responses and iterates as the history tree."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.errors import GameError
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.game.builder import ExplicitGame, chance, decision, terminal
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.tree.public.from_histories import PublicSplit, split_public
from counterplay.tree.public.public_tree import LINK
from tests.bridge import to_profile
from tests.reference.best_response import best_response
from tests.reference.public_games import random_public_game
from tests.reference.walks import expected_values, random_profile

SAME = 1e-10

GAMES = ["kuhn", "leduc", "one_card_poker(cards=3)", "one_card_poker(cards=7)", "bluff", "die_roll_poker"]


@functools.cache
def split(name: str) -> PublicSplit:
    return split_public(cp.compile_game(name))


@functools.cache
def walker(name: str) -> PublicWalker:
    return PublicWalker(split(name).public)


@pytest.mark.parametrize(
    ("name", "nodes", "deals", "hands"),
    [
        pytest.param("kuhn", 9, 1, {3}, id="kuhn"),
        pytest.param("leduc", 15 + 5 * 3 * 15, 16, {3}, id="leduc, ranks only"),
        pytest.param("leduc(suited=true)", 15 + 5 * 6 * 15, 31, {5, 6}, id="leduc, all cards"),
        pytest.param("die_roll_poker", 16 + 5 * 15, 6, {6, 36}, id="die-roll poker"),
    ],
)
def test_sizes(name: str, nodes: int, deals: int, hands: set[int]) -> None:
    """Rounds of betting hang below each deal that can follow; a private roll is a deal with finer hands."""
    public = split(name).public
    assert public.num_deals == deals
    assert public.num_nodes == nodes
    assert {public.hands[p].count(deal) for p in (0, 1) for deal in range(deals)} == hands
    assert public.num_infosets == split(name).game.num_infosets


@pytest.mark.parametrize("name", GAMES)
def test_every_entry_is_there_once(name: str) -> None:
    both = split(name)
    entries = np.sort(np.concatenate(both.entry))
    assert np.array_equal(entries, np.arange(both.game.num_entries))
    numbers = np.random.default_rng(0).random(both.game.num_entries)
    assert np.array_equal(both.values(both.tables(numbers)), numbers)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(2))
def test_values_and_best_responses_equal_the_history_tree(name: str, seed: int) -> None:
    both = split(name)
    profile = cp.TabularStrategy.random(both.game, seed)
    measured = walker(name).measure(both.tables(profile.table))
    expected = cp.evaluate(profile, both.game)
    assert measured.value == pytest.approx(expected.value, abs=SAME)
    assert measured.best_response == pytest.approx(expected.best_response, abs=SAME)


@pytest.mark.parametrize(
    "name", ["kuhn", "leduc", "one_card_poker(cards=5)", "bluff(sides=3)", "die_roll_poker(sides=2)"]
)
def test_best_responses_equal_the_conventional_one(name: str) -> None:
    """The recursion over information sets of the twin, with which nothing is shared."""
    game, both = cp.make(name), split(name)
    table = random_profile(game, 5)
    tables = both.tables(to_profile(both.game, table).table)
    for player in (0, 1):
        value, choices = best_response(game, table, player)
        assert walker(name).response(player, tables[1 - player]) == pytest.approx(value, abs=SAME)
        whole = np.zeros(both.game.num_entries)
        whole[[both.game.entry(player, str(key), str(action)) for key, action in choices.items()]] = 1.0
        chosen = both.tables(whole)[player]
        assert walker(name).value(player, chosen, tables[1 - player]) == pytest.approx(value, abs=SAME)
    assert walker(name).value(0, *tables) == pytest.approx(expected_values(game, table)[0], abs=SAME)


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+"])
@pytest.mark.parametrize("name", GAMES)
def test_iterates_equal_the_history_tree(name: str, algorithm: str) -> None:
    """Regrets and averages of all entries over 50 iterations."""
    both = split(name)
    histories, public = cp.CfrSolver(both.game, algorithm), PublicSolver(both.public, algorithm)
    for _ in range(10):
        histories.step(5)
        public.step(5)
        first, second = public.player_tables
        scale = max(1.0, float(histories.average.max()))
        assert np.abs(both.values((first.regret, second.regret)) - histories.regret).max() < SAME
        assert np.abs(both.values((first.average, second.average)) - histories.average).max() < SAME * scale


@pytest.mark.parametrize("algorithm", ["linear", "dcfr", "pcfr+"])
def test_iterates_of_the_family(algorithm: str) -> None:
    """Discounts and predictions also reach public states to which nobody plays."""
    both = split("leduc")
    histories, public = cp.CfrSolver(both.game, algorithm), PublicSolver(both.public, algorithm)
    histories.step(15)
    public.step(15)
    first, second = public.player_tables
    assert np.abs(both.values((first.regret, second.regret)) - histories.regret).max() < SAME
    assert np.abs(both.values((first.average, second.average)) - histories.average).max() < 1e3 * SAME


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_random_games(seed: int) -> None:
    """Chance at any time, seen by some, maybe later: cells part and hands are refined in all ways."""
    tree = cp.compile_game(random_public_game(seed))
    both = split_public(tree)
    assert np.array_equal(np.sort(np.concatenate(both.entry)), np.arange(tree.num_entries))
    profile = cp.TabularStrategy.random(tree, seed)
    measured = PublicWalker(both.public).measure(both.tables(profile.table))
    expected = cp.evaluate(profile, tree)
    assert measured.value == pytest.approx(expected.value, abs=SAME)
    assert measured.best_response == pytest.approx(expected.best_response, abs=SAME)


def test_what_is_shown_later_is_a_deal() -> None:
    """A card that lies face down during the first move is turned up after it, without chance in between."""

    def second(card: str, move: str) -> ExplicitGame | object:
        wins = {"l": 1.0 if card == "a" else -2.0, "r": 0.5}
        return decision(1, f"{card}{move}", {end: terminal(value, -value) for end, value in wins.items()})

    def first(card: str) -> object:
        return decision(0, "?", {move: second(card, move) for move in ("x", "y")})

    tree = cp.compile_game(
        ExplicitGame(chance({"a": (0.25, first("a")), "b": (0.75, first("b"))}), players=2, name="late")
    )
    public = split_public(tree).public
    assert [public.hands[p].count(0) for p in (0, 1)] == [1, 2]  # player 2 may as well know before he acts
    assert public.num_deals == 1


def test_deals_have_the_probabilities_of_chance() -> None:
    public = split("leduc").public
    for link in np.flatnonzero((public.kind == LINK) & (public.link_deal >= 0)).tolist():
        deals = slice(int(public.link_deal[link]), int(public.link_deal[link]) + int(public.num_children[link]))
        assert public.deal_prob[deals] == pytest.approx([1 / 3] * 3)


def hidden_move() -> ExplicitGame:
    """Matching pennies: the second does not see what the first has done."""
    ends = {(a, b): terminal(*((1.0, -1.0) if a == b else (-1.0, 1.0))) for a in "ht" for b in "ht"}
    return ExplicitGame(
        decision(0, "start", {a: decision(1, "blind", {b: ends[a, b] for b in "ht"}) for a in "ht"}),
        players=2, name="pennies",
    )  # fmt: skip


def hidden_number_of_moves() -> ExplicitGame:
    last = {end: terminal(0.0, 0.0) for end in "ab"}
    unseen = decision(1, "X", dict(last))
    once = decision(0, "second", {"go": decision(1, "X", dict(last)), "end": terminal(1.0, -1.0)})
    return ExplicitGame(decision(0, "first", {"skip": unseen, "on": once}), players=2, name="hurry")


def telling_actions() -> ExplicitGame:
    """Who holds the high card has one action more, and the opponent's set holds both hands."""

    def after(card: str, action: str) -> object:
        return decision(1, f"saw {action}", {end: terminal(1.0, -1.0) for end in ("f", "c")})

    high = decision(0, "high", {a: after("high", a) for a in ("k", "b", "all")})
    low = decision(0, "low", {a: after("low", a) for a in ("k", "b")})
    return ExplicitGame(chance({"h": (0.5, high), "l": (0.5, low)}), players=2, name="tell")


@pytest.mark.parametrize(
    ("game", "message"),
    [
        pytest.param("kuhn(players=3)", "two players; .* has 3", id="three players"),
        pytest.param("die_roll_poker(variant=IR,sides=2)", "player 1 of .* has imperfect recall", id="forgotten dice"),
        pytest.param("rock_paper_scissors", "is hidden", id="matrix game"),
        pytest.param("goofspiel(cards=3)", "is hidden", id="simultaneous bids"),
        pytest.param(hidden_move(), "at 'start' and 'start' is hidden, because 'blind' and 'blind'", id="hidden move"),
        pytest.param(hidden_number_of_moves(), "'X' hides how many actions", id="hidden number of moves"),
        pytest.param(telling_actions(), "at 'high' and 'low' reveals what is private", id="actions tell the card"),
    ],
)  # fmt: skip
def test_games_without_a_public_tree_are_refused(game: object, message: str) -> None:
    with pytest.raises(GameError, match=f"{message}.*history representation"):
        split_public(cp.compile_game(game))  # type: ignore[arg-type]


def test_general_sum() -> None:
    """What each player wins is his own: both measures are those of the histories."""
    last = {"l": terminal(3.0, 1.0), "r": terminal(-1.0, 2.0)}
    root = decision(0, "x", {"a": terminal(1.0, 1.0), "b": decision(1, "y", last)})
    tree = cp.compile_game(ExplicitGame(root, players=2, name="gift"))
    both = split_public(tree)
    strategy = np.array([0.25, 0.75, 0.5, 0.5])
    measured = PublicWalker(both.public).measure(both.tables(strategy))
    assert measured.value == pytest.approx((1.0, 1.375), abs=SAME)
    assert measured.best_response == pytest.approx((1.0, 1.75), abs=SAME)


def test_a_game_of_chance_alone() -> None:
    tree = cp.compile_game(
        ExplicitGame(
            chance({"a": (0.25, terminal(4.0, -4.0)), "b": (0.75, terminal(0.0, 0.0))}), players=2, name="toss"
        )
    )
    both = split_public(tree)
    measured = PublicWalker(both.public).measure(both.tables(np.zeros(0)))
    assert measured.value == pytest.approx((1.0, -1.0), abs=SAME)
