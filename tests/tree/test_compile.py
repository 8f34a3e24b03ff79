"""Compiled trees: golden counts, the documented structure of the arrays, the sequence form, recall, sizes."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.errors import GameError
from counterplay.game import Game, make
from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.game.game import CHANCE, TERMINAL
from counterplay.tree import NULL, GameTree, compile_game
from tests.reference.walks import histories
from tests.registered import NAMES

EXACT = 1e-12
"""Sums of products of a few probabilities, payoffs up to 10."""

WITHIN_STANDARD_ERRORS = 4.0
MAX_BYTES_PER_HISTORY = 100

compiled = cache(compile_game)


# ---------------------------------------------------------------------------------------------- golden counts


@pytest.mark.parametrize(
    ("spec", "all_histories", "terminals", "sets"),
    [
        pytest.param("kuhn", 58, 30, 12, id="kuhn"),
        pytest.param("kuhn(players=3)", 617, 312, 48, id="kuhn 3"),
        pytest.param("kuhn(players=4)", 7886, 3960, 160, id="kuhn 4"),
        pytest.param("leduc", 9457, 5520, 288, id="leduc"),
        pytest.param("leduc(suited=true)", 9457, 5520, 936, id="leduc suited"),
        pytest.param("leduc(physical_board=true)", 9457, 5520, 468, id="leduc physical"),
        pytest.param("leduc(players=3)", 396157, 224280, 4203, id="leduc 3"),
        pytest.param("leduc(players=3,physical_board=true)", 396157, 224280, 6939, id="leduc 3 physical"),
        pytest.param("rock_paper_scissors", 13, 9, 2, id="rock paper scissors"),
        pytest.param("matching_pennies", 7, 4, 2, id="matching pennies"),
    ],
)
def test_golden_counts(spec: str, all_histories: int, terminals: int, sets: int) -> None:
    tree = compiled(spec)
    assert (tree.num_histories, tree.num_terminals, tree.num_infosets) == (all_histories, terminals, sets)
    counts = tree.counts()
    assert sum(counts.values()) == all_histories
    assert counts["terminal"] == terminals
    assert sum(tree.decisions_of(player) for player in range(tree.players)) == counts["decision"]


@pytest.mark.parametrize(
    ("spec", "sequences"),
    [
        pytest.param("kuhn", [13, 13], id="kuhn"),
        pytest.param("leduc", [337, 337], id="leduc"),
        pytest.param("leduc(suited=true)", [1093, 1093], id="leduc suited"),
    ],
)
def test_golden_numbers_of_sequences(spec: str, sequences: list[int]) -> None:
    form = compiled(spec).sequences
    assert [form.sequences_of(player) for player in range(2)] == sequences


@pytest.mark.parametrize(
    ("spec", "first", "second"),
    [
        pytest.param("leduc", 6, 30, id="2 players"),
        pytest.param("leduc(players=3)", 33, 456, id="3 players"),
    ],
)
def test_betting_decisions_of_leduc_by_round(spec: str, first: int, second: int) -> None:
    strings = {name.partition(":")[2] for name in compiled(spec).infoset_names}
    assert sum("/" not in text for text in strings) == first
    assert sum("/" in text for text in strings) == second


# ---------------------------------------------------------------------------------------------- random trees


@st.composite
def random_games(draw: st.DrawFn) -> ExplicitGame:
    """A small tree whose decisions fall into a few information sets at random: any recall, absent-mindedness too.

    Names are Hypothesis' own; the shape comes from a seed, because its own shapes are nearly all of a few nodes.
    """
    players = draw(st.integers(1, 3))
    texts = st.lists(st.text(max_size=3), min_size=3, max_size=3, unique=True)
    generator = random.Random(draw(st.integers(0, 2**32)))
    sets = [(p, key, draw(texts)[: generator.choice((1, 2, 2, 3))]) for p in range(players) for key in draw(texts)]
    outcomes = draw(texts)
    repeats = generator.random() < 0.5  # whether a path may meet an information set twice

    def node(depth: int, allowed: list[tuple[int, str, list[str]]]) -> Node:
        kind = generator.random()
        if depth == 0 or not allowed or kind < 0.1:
            return terminal(
                *(generator.choice((generator.randint(-10, 10), generator.gauss())) for _ in range(players))
            )
        if kind < 0.3:
            labels = outcomes[: generator.randint(1, 3)]
            weights = [generator.choice((0, 1, 2, 7, generator.random())) for _ in labels]
            weights[0] += not sum(weights)
            total = math.fsum(weights)
            return chance(
                {label: (w / total, node(depth - 1, allowed)) for label, w in zip(labels, weights, strict=True)}
            )
        player, key, actions = chosen = generator.choice(allowed)
        left = allowed if repeats else [row for row in allowed if row != chosen]
        return decision(player, key, {action: node(depth - 1, left) for action in actions})

    return ExplicitGame(node(draw(st.sampled_from((5, 4, 3, 2, 1, 0))), sets), players=players)


def assert_arrays_fit(tree: GameTree) -> None:
    """Types, shapes and index ranges are those that ``GameTree`` promises."""
    size, sets = tree.num_histories, tree.num_infosets
    for name, dtype, shape in (
        ("parent", np.int32, (size,)), ("first_child", np.int32, (size,)), ("num_children", np.int32, (size,)),
        ("depth", np.int32, (size,)), ("player", np.int8, (size,)), ("infoset", np.int32, (size,)),
        ("event", np.int32, (size,)), ("outcome", np.int32, (size,)), ("chance_prob", np.float64, (size,)),
        ("utility", np.float64, (tree.num_terminals, tree.players)), ("infoset_player", np.int8, (sets,)),
        ("infoset_offset", np.int64, (sets + 1,)), ("infoset_labels", np.int32, (sets,)),
        ("player_infosets", np.int64, (tree.players + 1,)),
    ):  # fmt: skip
        array = getattr(tree, name)
        assert (array.dtype, array.shape) == (dtype, shape), name
    assert len(tree.infoset_names) == sets
    assert tree.num_entries == sum(len(tree.actions_of(infoset)) for infoset in range(sets))


def assert_structure(tree: GameTree) -> None:
    """Parents come before children, children are neighbours in the order of actions, kinds of nodes exclude."""
    nodes = np.arange(tree.num_histories)
    assert tree.parent[0] == NULL
    assert (tree.parent[1:] < nodes[1:]).all()
    assert (tree.parent[1:] >= 0).all()
    ends = tree.player == TERMINAL
    np.testing.assert_array_equal(tree.num_children == 0, ends)
    np.testing.assert_array_equal(tree.first_child == NULL, ends)
    np.testing.assert_array_equal(tree.outcome == NULL, ~ends)
    np.testing.assert_array_equal(tree.infoset == NULL, tree.player < 0)
    np.testing.assert_array_equal(tree.event == NULL, tree.player != CHANCE)
    np.testing.assert_array_equal(np.sort(tree.outcome[ends]), np.arange(tree.num_terminals))
    family = np.concatenate([np.arange(f, f + n) for f, n in zip(tree.first_child, tree.num_children, strict=True)])
    np.testing.assert_array_equal(np.sort(family), nodes[1:])  # every history but the root has one parent
    np.testing.assert_array_equal(tree.parent[family.astype(int)], np.repeat(nodes, tree.num_children))
    np.testing.assert_array_equal(tree.depth[1:], tree.depth[tree.parent[1:]] + 1)
    movers = tree.player[tree.player >= 0]
    np.testing.assert_array_equal(tree.infoset_player[tree.infoset[tree.player >= 0]], movers)
    assert (np.diff(tree.infoset_player) >= 0).all()
    np.testing.assert_array_equal(
        np.diff(tree.player_infosets), np.bincount(tree.infoset_player, minlength=tree.players)
    )


def assert_same_game(game: Game, tree: GameTree) -> None:
    """A walk by the rules meets the same movers, actions, chances, utilities and information sets as the arrays."""
    number_of: dict[tuple[int, Hashable], int] = {}
    met = 0
    stack: list[tuple[Any, int, tuple[str, ...]]] = [(game.root(), 0, ())]
    while stack:
        state, node, past = stack.pop()
        met += 1
        assert state.player == tree.player[node]
        if tree.num_histories < 1000:
            assert tree.history(node) == list(past)
        if state.player == TERMINAL:
            assert tuple(state.utilities()) == tuple(tree.utility[tree.outcome[node]])
            continue
        if state.player == CHANCE:
            moves = [outcome for outcome, _ in state.chance()]
            labels = tree.event_labels[tree.event[node]]
            first = tree.first_child[node]
            got = tree.chance_prob[first : first + tree.num_children[node]].tolist()
            assert got == [probability for _, probability in state.chance()]
        else:
            moves = list(state.actions())
            infoset = int(tree.infoset[node])
            labels = tree.actions_of(infoset)
            assert number_of.setdefault((state.player, state.infoset()), infoset) == infoset
            assert tree.infoset_names[infoset] == str(state.infoset())
            assert tree.find_infoset(state.player, tree.infoset_names[infoset]) == infoset
        assert labels == tuple(str(move) for move in moves)
        assert tree.num_children[node] == len(moves)
        children = [
            (state.child(move), int(tree.first_child[node]) + i, (*past, labels[i])) for i, move in enumerate(moves)
        ]
        stack.extend(reversed(children))
    assert met == tree.num_histories
    assert len(set(number_of.values())) == len(number_of) == tree.num_infosets  # the partition is the game's own
    for player in range(tree.players):
        mine = [infoset for (owner, _), infoset in number_of.items() if owner == player]
        assert mine == list(tree.infosets_of(player))  # numbered in the order of first meeting


@settings(max_examples=200, deadline=None)
@given(random_games())
def test_random_trees_are_compiled_as_written(game: ExplicitGame) -> None:
    tree = compile_game(game)
    assert_arrays_fit(tree)
    assert_structure(tree)
    assert_same_game(game, tree)
    counted = histories(game)
    assert tree.counts() == {kind: counted[kind] for kind in ("decision", "chance", "terminal")}
    by_player = tree.player[tree.parent[1:]] >= 0
    assert tree.chance_prob[0] == 1.0
    assert (tree.chance_prob[1:][by_player] == 1.0).all()


@pytest.mark.parametrize("name", NAMES)
def test_registered_games_are_compiled_as_written(name: str) -> None:
    game = make(name)
    tree = compiled(name)
    assert tree.name == game.spec()
    assert tree.players == game.players
    assert tree.big_blind == game.big_blind
    assert_arrays_fit(tree)
    assert_structure(tree)
    assert_same_game(game, tree)
    if game.zero_sum and game.players == 2:
        assert tree.facts.zero_sum
    assert compile_game(make(name)).digest == tree.digest


def test_facts() -> None:
    facts = compiled("leduc").facts
    assert (facts.players, facts.has_chance, facts.zero_sum) == (2, True, True)
    assert (facts.min_utility, facts.max_utility) == (-13.0, 13.0)
    assert compiled("leduc").utility_range(1) == 26.0
    general = compile_game(make("toy_coarse_correlated")).facts
    assert (general.has_chance, general.zero_sum) == (False, False)


def test_entries_are_found_by_name() -> None:
    tree = compiled("kuhn")
    infoset = tree.find_infoset(1, "Q:b")
    assert tree.actions_of(infoset) == ("fold", "call")
    assert tree.entry(1, "Q:b", "call") == tree.infoset_offset[infoset] + 1
    with pytest.raises(GameError, match="information set 'Q:b' has no action 'raise'; it has fold, call"):
        tree.entry(1, "Q:b", "raise")
    with pytest.raises(GameError, match="kuhn has no information set 'Q:b' of player 1"):
        tree.find_infoset(0, "Q:b")


def test_digests_tell_games_apart() -> None:
    def digest(name: str, *actions: str) -> str:
        return compile_game(ExplicitGame(decision(0, name, {a: terminal(0) for a in actions}))).digest

    base = digest("set", "a", "b")
    assert base == digest("set", "a", "b")
    assert base != digest("set", "b", "a")
    assert base != digest("other", "a", "b")
    assert compiled("leduc").digest != compiled("leduc(suited=true)").digest


def test_digests_tell_games_apart_whatever_the_names() -> None:
    """One action whose label holds control characters is not two actions."""
    two = compile_game(ExplicitGame(decision(0, "set", {"a": terminal(0), "b": terminal(0)})))
    one = compile_game(ExplicitGame(decision(0, "set", {"a\x1fb": terminal(0)})))
    assert two.num_entries != one.num_entries
    assert two.digest != one.digest


def test_progress_is_reported() -> None:
    seen: list[int] = []
    tree = compile_game("leduc(ranks=5,suited=true)", progress=lambda now: seen.append(now.iterations))
    assert seen == sorted(seen)
    assert len(seen) > 1
    assert seen[-1] == tree.num_histories


# ---------------------------------------------------------------------------------------------- corner cases


def test_a_game_that_is_over_at_once() -> None:
    tree = compile_game(ExplicitGame(terminal(3, -1, 0)))
    assert_arrays_fit(tree)
    assert_structure(tree)
    assert tree.counts() == {"decision": 0, "chance": 0, "terminal": 1}
    assert tree.utility.tolist() == [[3.0, -1.0, 0.0]]
    assert (tree.num_infosets, tree.num_entries) == (0, 0)
    assert tree.recall == ("perfect",) * 3
    assert [tree.sequences.sequences_of(player) for player in range(3)] == [1, 1, 1]
    assert leaf_values(tree, np.zeros(0)) == [3.0, -1.0, 0.0]


def test_a_player_who_never_moves() -> None:
    tree = compile_game(ExplicitGame(decision(1, "i", {"a": terminal(1, 2), "b": terminal(3, 4)})))
    assert np.diff(tree.player_infosets).tolist() == [0, 1]
    assert tree.recall == ("perfect", "perfect")
    assert leaf_values(tree, np.array([0.25, 0.75])) == [2.5, 3.5]


def test_chance_alone() -> None:
    tree = compile_game(
        ExplicitGame(chance({"a": (0.25, terminal(4)), "b": (0.75, terminal(-4)), "c": (0, terminal(9))}))
    )
    assert tree.event_labels == (("a", "b", "c"),)
    assert leaf_values(tree, np.zeros(0)) == [-2.0]


def test_a_deep_chain_needs_no_recursion() -> None:
    moves = 5_000
    node: Node = terminal(1, -1)
    for number in range(moves):
        node = decision(number % 2, number, {"on": node})
    tree = compile_game(ExplicitGame(node))
    assert int(tree.depth.max()) == moves
    assert tree.num_histories == moves + 1
    assert tree.num_infosets == moves
    assert tree.recall == ("perfect", "perfect")
    assert [tree.sequences.sequences_of(player) for player in range(2)] == [moves // 2 + 1] * 2
    assert leaf_values(tree, np.ones(moves)) == [1.0, -1.0]


def test_the_longest_history_allowed() -> None:
    node: Node = terminal(1)
    for _ in range(20):
        node = decision(0, "again", {"on": node})
    assert int(compile_game(ExplicitGame(node), max_depth=20).depth.max()) == 20
    with pytest.raises(GameError, match="a history has more than 19 moves"):
        compile_game(ExplicitGame(node), max_depth=19)


# ---------------------------------------------------------------------------------------------- sequence form


def leaf_values(tree: GameTree, probabilities: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """Expected values by the definition: payoffs of leaves times everybody's reach of their own sequences."""
    form = tree.sequences
    reach = np.ones(form.num_sequences)
    for d in range(form.num_decisions):
        for action in range(form.decision_actions[d]):
            before = reach[form.decision_parent[d]]
            reach[form.decision_first[d] + action] = before * probabilities[form.decision_entry[d] + action]
    values = []
    for player in range(tree.players):
        terms = []
        for sequence in range(form.sequence_start[player], form.sequence_start[player + 1]):
            for leaf in range(form.leaf_start[sequence], form.leaf_start[sequence + 1]):
                terms.append(form.leaf_payoff[leaf] * reach[sequence] * reach[form.leaf_others[leaf]].prod())
        values.append(math.fsum(terms) * form.unit)
    return values
