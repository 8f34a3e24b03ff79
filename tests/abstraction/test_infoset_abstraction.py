"""Abstractions: what is merged, the abstract game, the way back, files, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.abstraction import (
    Abstraction,
    abstract_by_key,
    abstract_by_table,
    abstraction_between,
    from_classes,
    initial_abstraction,
    map_words,
    null_abstraction,
    own_moves,
    split_name,
    table_words,
)
from counterplay.abstraction.infosets.abstraction import places
from counterplay.analysis import RegretTracker
from counterplay.errors import AbstractionError, GameError, StrategyError
from counterplay.tree.history.repartition import (
    perfect_information_refinement,
    perfect_recall_refinement,
    reorder_actions,
    repartition,
)
from tests.bridge import to_profile
from tests.reference.best_response import best_response, brute_force_best_response
from tests.reference.random_trees import random_tree_game
from tests.reference.walks import expected_values, infosets, random_profile
from tests.tree_game import TreeGame


def example_2_2() -> cp.GameTree:
    """Čermák 2018, example 2.2.2: the real game; its two last sets are merged in the abstract one."""
    end = cp.terminal(1, -1)

    def last(name: str, *labels: str) -> object:
        return cp.decision(0, name, dict.fromkeys(labels, end))

    root = cp.decision(0, "I4", {
        "a": cp.decision(1, "I5", {"e": last("I6", "t", "u"), "f": end}),
        "b": cp.decision(1, "I5", {"e": last("I7", "v", "w"), "f": end}),
    })  # fmt: skip
    return cp.compile_game(cp.ExplicitGame(root, name="example 2.2.2"))


def test_maps_between_two_games() -> None:
    """Φ and Ξ of Čermák 2018, example 2.2.2: only the two last sets are one, t is v and u is w."""
    tree = example_2_2()
    merged = abstract_by_table(tree, {(0, "I6"): "I3", (0, "I7"): "I3"}, "merged", match="position")
    number = {name: i for i, name in enumerate(merged.set_names)}
    assert number == {"I4": 0, "I3": 1, "I5": 2}
    assert [merged.set_names[i] for i in merged.infoset_map] == ["I4", "I3", "I3", "I5"]
    assert [merged.set_names[i] for i in merged.abstracted] == ["I3"]
    assert [tree.infoset_names[i] for i in merged.members(number["I3"])] == ["I6", "I7"]
    assert merged.set_actions[number["I3"]] == ("t", "u")
    coarse = merged.apply(tree)
    between = abstraction_between(tree, coarse)
    np.testing.assert_array_equal(between.infoset_map, merged.infoset_map)
    np.testing.assert_array_equal(between.action_map, merged.action_map)
    with pytest.raises(AbstractionError, match="it splits the set 'I3'"):
        abstraction_between(coarse, tree)
    with pytest.raises(AbstractionError, match="not on the same histories"):
        abstraction_between(tree, cp.compile_game("kuhn"))


@pytest.mark.parametrize("name", ["kuhn", "leduc", "one_card_poker(cards=4)"])
def test_nothing_forgotten_is_the_game_itself(name: str) -> None:
    tree = cp.compile_game(name)
    nothing = null_abstraction(tree)
    assert nothing.num_sets == tree.num_infosets
    assert nothing.abstract_digest == tree.digest
    assert len(nothing.abstracted) == 0
    again = nothing.apply(tree)
    np.testing.assert_array_equal(again.infoset, tree.infoset)
    profile = cp.TabularStrategy.random(tree, 1)
    np.testing.assert_array_equal(nothing.lift(profile, tree).table, profile.table)


def test_an_abstract_strategy_is_worth_the_same_in_the_real_game() -> None:
    """The abstract game is played on the real tree, so lifting does not change any value."""
    tree = cp.compile_game("leduc")
    for abstraction in (initial_abstraction(tree), abstract_by_key(tree, lambda p, key: key[1:], "card", "position")):
        abstract = abstraction.apply(tree)
        profile = cp.TabularStrategy.random(abstract, 7)
        lifted = abstraction.lift(profile, tree)
        assert cp.expected_values(lifted, tree) == pytest.approx(cp.expected_values(profile, abstract), abs=1e-12)
        assert lifted.provenance.settings["abstraction"] == abstraction.name
        back = abstraction.restrict(lifted, abstract)
        np.testing.assert_allclose(back.table, profile.table, rtol=0, atol=1e-15)
        # whoever remembers can do no worse
        assert cp.nash_conv(lifted, tree) >= cp.nash_conv(profile, abstract) - 1e-12


def test_a_profile_that_tells_merged_sets_apart_cannot_be_restricted() -> None:
    tree = cp.compile_game("kuhn")
    blind = abstract_by_key(tree, lambda p, key: key[1:], "card", "position")
    with pytest.raises(StrategyError, match=r"plays differently at .* and .*, which kuhn forgetting card does not"):
        blind.restrict(cp.TabularStrategy.random(tree, 3), blind.apply(tree))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_actions_in_another_order_are_the_same_game(seed: int) -> None:
    tree = cp.compile_game(random_tree_game(seed))
    draw = np.random.default_rng(seed)
    sizes = np.diff(tree.infoset_offset)
    position = np.concatenate([draw.permutation(size) for size in sizes] or [np.zeros(0, int)])
    other = reorder_actions(tree, position)
    assert np.all(other.parent[1:] < np.arange(1, other.num_histories))
    profile = cp.TabularStrategy.random(tree, seed)
    moved = np.empty(tree.num_entries)
    moved[np.repeat(tree.infoset_offset[:-1], sizes) + position] = profile.table
    one, two = cp.evaluate(profile, tree), cp.evaluate(cp.TabularStrategy.from_tree(other, moved), other)
    assert two.value == pytest.approx(one.value, abs=1e-12)
    assert two.best_response == pytest.approx(one.best_response, abs=1e-12)
    ends = np.flatnonzero(tree.player == cp.TERMINAL)
    histories = {tuple(tree.history(int(node))): tuple(tree.utility[tree.outcome[node]]) for node in ends}
    assert histories == {
        tuple(other.history(int(node))): tuple(other.utility[other.outcome[node]])
        for node in np.flatnonzero(other.player == cp.TERMINAL)
    }


def test_actions_are_matched_by_label_whatever_their_order() -> None:
    root = cp.chance({
        "x": (0.5, cp.decision(0, "X", {"stay": cp.terminal(1), "go": cp.terminal(0)})),
        "y": (0.5, cp.decision(0, "Y", {"go": cp.terminal(2), "stay": cp.terminal(5)})),
    })  # fmt: skip
    tree = cp.compile_game(cp.ExplicitGame(root, name="shuffled"))
    merged = from_classes(tree, ["one", "one"], "merged")
    abstract = merged.apply(tree)
    assert abstract.actions_of(0) == ("stay", "go")
    stay = cp.TabularStrategy.from_table(abstract, {(0, "one"): {"stay": 1.0}})
    assert cp.expected_values(stay, abstract) == (3.0,)
    assert cp.expected_values(merged.lift(stay, tree), tree) == (3.0,)
    by_position = from_classes(tree, ["one", "one"], "merged", match="position").apply(tree)
    first = cp.TabularStrategy.from_table(by_position, {(0, "one"): {"stay": 1.0}})
    assert cp.expected_values(first, by_position) == (1.5,)


def test_the_initial_abstraction_of_leduc() -> None:
    tree = cp.compile_game("leduc")
    initial = initial_abstraction(tree)
    moves = own_moves(tree)
    keys = {
        (int(player), int(move), int(actions))
        for player, move, actions in zip(tree.infoset_player, moves, np.diff(tree.infoset_offset), strict=True)
    }
    assert initial.num_sets == len(keys) == 14
    assert set(initial.apply(tree).recall) == {"imperfect"}
    assert table_words(initial) == 2 * initial.num_entries
    assert map_words(initial, tree) == 0  # every set is found by its class


def test_words_of_a_map_by_hand() -> None:
    """In each class the largest merged set is free, other merged sets cost their members (Čermák 2018, 5.2.2.4)."""
    tree = cp.compile_game("one_card_poker(cards=6)")
    openings = [i for i in tree.infosets_of(0) if own_moves(tree)[i] == 0]
    assert len(openings) == 6
    classes: list[object] = list(range(tree.num_infosets))
    for infoset, part in zip(openings, "aaabbc", strict=True):
        classes[infoset] = part
    split = from_classes(tree, classes, "by hand")
    assert map_words(split, tree) == 2  # aaa is free, bb is stored, c stands alone
    # one of the six later sets of player 1 and one of the twelve of player 2 counts as the largest of its class
    assert map_words(split, tree, singletons=True) == 3 + 5 + 11


def test_one_abstraction_after_another() -> None:
    tree = cp.compile_game("leduc")
    suits = null_abstraction(tree)
    first = suits.then(abstract_by_key(tree, lambda p, key: key[1:], "card", "position"))
    second = initial_abstraction(first.apply(tree))
    both = first.then(second)
    assert both.num_sets == second.num_sets
    profile = cp.TabularStrategy.random(both.apply(tree), 3)
    step = second.lift(profile, first.apply(tree))
    np.testing.assert_array_equal(both.lift(profile, tree).table, first.lift(step, tree).table)
    with pytest.raises(AbstractionError, match="initial abstracts"):
        suits.then(second)


def test_saved_and_read_again(tmp_path: Path) -> None:
    tree = cp.compile_game("leduc")
    initial = initial_abstraction(tree)
    path = tmp_path / "initial.cpa"
    initial.save(path)
    again = Abstraction.load(path)
    assert again.set_names == initial.set_names
    assert again.set_actions == initial.set_actions
    assert again.abstract_digest == initial.abstract_digest
    np.testing.assert_array_equal(again.infoset_map, initial.infoset_map)
    np.testing.assert_array_equal(again.action_map, initial.action_map)
    solved = cp.solve(f"leduc forgetting map={path}", iterations=5)
    assert solved.abstract is not None
    assert solved.abstract.abstraction is not None
    assert (solved.abstract.abstraction.num_sets, solved.information_sets) == (initial.num_sets, tree.num_infosets)
    with pytest.raises(AbstractionError, match=r"was made for leduc \(288 .*does not fit kuhn \(12"):
        cp.solve(f"kuhn forgetting map={path}", iterations=5)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(StrategyError, match="damaged"):
        Abstraction.load(path)
    cp.TabularStrategy.uniform(tree).save(path)
    with pytest.raises(StrategyError, match="is a profile file; an abstraction file is needed here"):
        Abstraction.load(path)


def test_names_that_say_what_is_forgotten() -> None:
    assert split_name("leduc(ranks=4) forgetting initial") == ("leduc(ranks=4)", "initial")
    assert split_name("leduc") == ("leduc", None)
    solver = cp.CfrSolver("leduc forgetting match=^.", "cfr")
    assert solver.tree.name == "leduc forgetting match=^."
    assert solver.tree.num_infosets == 96
    assert cp.solve("kuhn forgetting nothing", iterations=10).information_sets == 12


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        ("cards", AbstractionError, r"cannot forget 'cards'; leduc can forget ranks=\.\.\., initial, match=PATTERN"),
        ("cards=2", AbstractionError, r"cannot forget 'cards=2'; leduc can forget ranks=\.\.\., initial"),
        ("match=(", AbstractionError, r"'\(' is not a regular expression"),
        ("match=.*", AbstractionError, r"'J:' \(check, bet\) and '.*' .*cannot be merged: they have different number"),
        ("map=nowhere.cpa", StrategyError, "there is no file nowhere.cpa"),
    ],
)
def test_what_cannot_be_forgotten(what: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cp.solve(f"leduc forgetting {what}", iterations=1)


def test_maps_that_do_not_fit_are_refused_by_name() -> None:
    tree = cp.compile_game("kuhn")
    with pytest.raises(AbstractionError, match="kuhn has no information set 'Z' of player 1"):
        abstract_by_table(tree, {(0, "Z"): 1}, "table")
    with pytest.raises(AbstractionError, match="3 classes for the 12 sets of kuhn"):
        from_classes(tree, [1, 2, 3], "few")
    good = initial_abstraction(tree)
    with pytest.raises(AbstractionError, match="does not fit leduc"):
        good.apply(cp.compile_game("leduc"))
    with pytest.raises(AbstractionError, match="must have different positions"):
        Abstraction(**{**vars_of(good), "action_map": np.zeros_like(good.action_map)})
    with pytest.raises(AbstractionError, match="must use every abstract set"):
        Abstraction(**{**vars_of(good), "infoset_map": good.infoset_map + 1})
    with pytest.raises(AbstractionError, match="player by player"):
        Abstraction(**{**vars_of(good), "set_player": good.set_player[::-1]})
    swapped = Abstraction(**{**vars_of(null_abstraction(tree)), "infoset_map": np.arange(12, dtype=np.int32)[::-1]})
    with pytest.raises(AbstractionError, match=r"the set .* would join different|numbered player by player"):
        swapped.apply(tree)
    second = cp.decision(0, "J", {"c": cp.terminal(0)})
    two = cp.compile_game(cp.ExplicitGame(cp.decision(0, "I", {"a": cp.terminal(1), "b": second})))
    with pytest.raises(GameError, match="would join different numbers of actions: 'I' and 'J'"):
        repartition(two, np.zeros(two.num_histories, int), ["one"], "wrong")
    with pytest.raises(StrategyError, match="does not fit kuhn forgetting initial"):
        good.lift(cp.TabularStrategy.uniform(tree), tree)


@pytest.mark.parametrize("forged", ["actions", "sets"])
def test_a_forged_file_with_other_numbers_of_actions(forged: str, tmp_path: Path) -> None:
    """Its checksum is right, and all that it holds fits together; but not to the game that it names."""
    tree = cp.compile_game("leduc")
    good = null_abstraction(tree)
    parts = vars_of(good)
    if forged == "actions":
        sizes = [len(row) for row in good.set_actions]
        rows = list(good.set_actions)
        one, other = sizes.index(2), sizes.index(3)
        rows[one], rows[other] = rows[other], rows[one]
        offset = np.cumsum([0, *map(len, rows)])
        parts |= {"set_actions": tuple(rows), "action_map": places(offset).astype(np.int32)}
    else:
        few = len(good.set_names) - 1
        parts |= {name: parts[name][:few] for name in ("infoset_map", "set_player", "set_names", "set_actions")}
        parts["action_map"] = good.action_map[: -len(good.set_actions[-1])]
    path = tmp_path / "forged.cpa"
    Abstraction(**parts).save(path)
    wrong = Abstraction.load(path)
    uniform = cp.TabularStrategy.uniform(tree)
    for use in (
        lambda: wrong.apply(tree),
        lambda: wrong.lift(uniform, tree),
        lambda: wrong.restrict(uniform, tree),
        lambda: good.then(wrong),
        lambda: cp.solve(f"leduc forgetting map={path}", iterations=5),
    ):
        with pytest.raises(AbstractionError, match="has other numbers of actions than leduc"):
            use()


def vars_of(abstraction: Abstraction) -> dict[str, Any]:
    fields = ("name", "game", "digest", "infoset_map", "action_map", "set_player", "set_names", "set_actions")
    return {field: getattr(abstraction, field) for field in fields}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_refinements_remember(seed: int) -> None:
    """The coarsest perfect-recall refinement: perfect recall, coarser than any other, the same values."""
    tree = cp.compile_game(random_tree_game(seed))
    fine = perfect_recall_refinement(tree)
    assert set(fine.recall) <= {"perfect"}
    abstraction = abstraction_between(fine, tree)
    profile = cp.TabularStrategy.random(tree, seed)
    lifted = abstraction.lift(profile, fine)
    assert cp.expected_values(lifted, fine) == pytest.approx(cp.expected_values(profile, tree), abs=1e-12)
    # best responses in a game are computed in this refinement
    assert cp.evaluate(lifted, fine).best_response == pytest.approx(cp.evaluate(profile, tree).best_response, abs=1e-12)
    every = perfect_information_refinement(tree)
    assert every.num_infosets == sum(tree.decisions_of(player) for player in range(2))
    abstraction_between(every, fine)  # the finest refinement refines the coarsest
    for infoset in range(fine.num_infosets):  # two sets that could be one again differ in what was done before
        assert tree.infoset_names[abstraction.infoset_map[infoset]] in fine.infoset_names[infoset]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_a_tree_as_a_game_is_that_game(seed: int) -> None:
    game = random_tree_game(seed)
    tree = cp.compile_game(game)
    assert infosets(TreeGame(tree)) == infosets(game)
    assert cp.compile_game(TreeGame(tree)).fingerprint == tree.fingerprint


@pytest.mark.parametrize("recall", ["imperfect", "a-loss"])
def test_best_responses_of_players_who_forget(recall: str) -> None:
    """Against all pure strategies one after the other (Čermák 2018, lemmas 3.3.1 to 3.3.4)."""
    tried = 0
    for seed in range(400):
        game = random_tree_game(seed, depth=5, sets=1 if recall == "imperfect" else 2)
        tree = cp.compile_game(game)
        for player in range(2):
            if tree.recall[player] != recall or len(tree.infosets_of(player)) > 9:
                continue
            table = random_profile(game, seed)
            value, _ = brute_force_best_response(game, table, player)
            bound = cp.best_response(to_profile(tree, table), player, tree)
            exact = cp.best_response(to_profile(tree, table), player, tree, method="exact")
            assert bound.value >= exact.value - 1e-12
            assert exact.value == pytest.approx(value, abs=1e-9)
            assert exact.exact
            assert cp.expected_values(exact.profile, tree)[player] == pytest.approx(value, abs=1e-9)
            if recall == "a-loss":
                assert bound.exact
                assert bound.value == pytest.approx(value, abs=1e-12)
            tried += 1
        if tried >= 60:
            break
    assert tried >= 60 if recall == "imperfect" else tried >= 15


def test_the_absent_minded_driver() -> None:
    """Best pure strategy 1; going straight with probability 2/3 earns 4/3 (Čermák 2018, figure 3.4)."""
    from counterplay.evaluation.forgetful_response import randomised_response
    from counterplay.evaluation.responses import own_leaf_values

    root = cp.decision(0, "junction", {
        "straight": cp.decision(0, "junction", {"straight": cp.terminal(1), "exit": cp.terminal(4)}),
        "exit": cp.terminal(0),
    })  # fmt: skip
    tree = cp.compile_game(cp.ExplicitGame(root, name="driver"))
    uniform = cp.TabularStrategy.uniform(tree)
    assert cp.best_response(uniform, 0, tree).value == 4.0  # somebody who remembers
    pure = cp.best_response(uniform, 0, tree, method="exact")
    assert (pure.value, pure.exact) == (1.0, False)
    value, strategy = randomised_response(tree, 0, own_leaf_values(tree, uniform.table, 0))
    assert value == pytest.approx(4 / 3, abs=1e-9)
    assert strategy[0] == pytest.approx(2 / 3, abs=1e-4)


def test_regret_measured_in_the_real_game() -> None:
    """Additivity: R(I,a) of a merged set is the sum over its members (Lanctot et al. 2012, appendix A)."""
    tree = cp.compile_game("leduc")
    abstraction = initial_abstraction(tree)
    abstract = abstraction.apply(tree)
    inside, outside = RegretTracker(abstract), RegretTracker(tree, abstraction)
    solver = cp.CfrSolver(abstract, "cfr")
    for _ in range(20):
        inside.observe(solver.strategy("last"))
        outside.observe(solver.profile("last"))
        solver.step()
    merged = np.zeros(abstraction.num_entries)
    np.add.at(merged, abstraction.entry_map, outside.regret)
    np.testing.assert_allclose(merged, inside.regret, atol=1e-11)
    for player in range(2):  # strategies of the abstract game are strategies of the real one
        assert inside.external_regret(player) <= outside.external_regret(player) + 1e-12
    average = outside.average_profile()
    gap = cp.nash_conv(average, tree)
    assert gap == pytest.approx(sum(outside.external_regret(player) for player in range(2)) / 20, abs=1e-12)
    with pytest.raises(GameError, match="is of leduc, not of kuhn"):
        RegretTracker("kuhn", abstraction)


def test_the_average_profile_plays_like_a_profile_drawn_at_random() -> None:
    game = cp.make("kuhn")
    tree = cp.compile_game(game)
    tracker = RegretTracker(tree)
    tables = [random_profile(game, seed) for seed in range(5)]
    for table in tables:
        tracker.observe(to_profile(tree, table))
    average = tracker.average_profile()
    for player in range(2):
        reply = random_profile(game, 99)
        mixed = [{**reply, **{key: row for key, row in table.items() if key[0] == player}} for table in tables]
        wanted = np.mean([expected_values(game, table)[player] for table in mixed])
        play = {(p, name): row for p, name, row in average.infosets() if p == player}
        whole = {(p, str(key)): row for (p, key), row in reply.items()}
        assert cp.expected_values(to_profile(tree, {**whole, **play}), tree)[player] == pytest.approx(wanted, abs=1e-12)
    assert best_response(game, tables[0], 0)[0] == pytest.approx(
        cp.best_response(to_profile(tree, tables[0]), 0, tree).value, abs=1e-12
    )
