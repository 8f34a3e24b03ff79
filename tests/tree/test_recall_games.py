"""The classes of imperfect recall: what the papers say of their games, refinements, and bad input."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

import counterplay as cp
from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.game.game import Game
from counterplay.tree import GameTree, PlayerRecall, recall_report, split_to_a_loss
from counterplay.tree.history.repartition import perfect_information_refinement, perfect_recall_refinement, repartition
from counterplay.tree.recall.chance_relaxed import pair_errors
from counterplay.tree.recall.leaf_matching import compare
from counterplay.tree.recall.recall_class import Verdict, has_a_loss_recall, has_perfect_recall
from counterplay.tree.recall.well_formed import pair_constants, skew_well_formed, well_formed
from tests.reference import recall as twin
from tests.reference.recall_games import deadlock, die_roll_poker, forgotten_choice, forgotten_lever

# --- the games of the papers ---------------------------------------------------------------------------------------


def zero_sum(root: Node, name: str) -> GameTree:
    return cp.compile_game(ExplicitGame(root, players=2, name=name))


def end(utility: float) -> Node:
    return terminal(utility, -utility)


def guess(left: float, right: float) -> Node:
    return decision(0, "I", {"l": end(left), "r": end(right)})


def forgotten_chance(right: float) -> GameTree:
    """Chance is seen first and forgotten at I (Čermák 2018, figures 4.1 left and 2.4; payoffs built for this test)."""
    left_side = decision(0, "J1", {"out": end(0), "m": guess(1, 2)})
    right_side = decision(0, "J2", {"n": guess(1, right)})
    return zero_sum(chance({"L": (0.5, left_side), "R": (0.5, right_side)}), "forgotten chance")


def only_player(game: Game | GameTree, player: int = 0) -> PlayerRecall:
    tree = game if isinstance(game, GameTree) else cp.compile_game(game)
    return recall_report(tree).players[player]


def condition(verdict: Verdict) -> str:
    assert not verdict.holds
    assert verdict.witness is not None
    return verdict.witness.condition


def test_figure_2_breaks_only_iii() -> None:
    """Lanctot et al. 2012, section 7 and figure 2."""
    one = only_player(deadlock(0.5))
    assert condition(one.well_formed) == "(iii)"
    assert condition(one.chance_relaxed) == "(iii)"
    assert condition(one.nearly) == "(iii)"
    assert one.strongest == "imperfect recall"


def test_the_announced_example_breaks_only_ii() -> None:
    """Gibson 2014, figure 6.2b: announced in Lanctot et al. 2012, section 7."""
    one = only_player(forgotten_lever(0.75))
    assert condition(one.well_formed) == "(ii)"
    assert one.chance_relaxed.holds


def test_a_negative_factor_breaks_i() -> None:
    """Utilities would match with k = -1; definition 4 without our demand on ω would let the game pass."""
    game = ExplicitGame(
        decision(
            0,
            "J1",
            {
                "l": decision(0, "J2", {"l": terminal(1), "r": terminal(-1)}),
                "r": decision(0, "J2", {"l": terminal(-1), "r": terminal(1)}),
            },
        ),
        name="negative factor",
    )
    one = only_player(game)
    assert condition(one.well_formed) == "(i)"
    assert not one.nearly.holds
    assert twin.is_nearly(game, 0, keep_actions=False)
    assert one.skew.delta == pytest.approx(1.0)  # k = 0
    assert skew_well_formed(compare(cp.compile_game(game), 0), k=1.0).delta == pytest.approx(2.0)


def test_koller_and_megiddo() -> None:
    """Gibson 2014, figure 2.3: the second player forgets the own first choice."""
    first, second = recall_report(cp.compile_game(forgotten_choice())).players
    assert first.strongest == "perfect recall"
    assert second.recall == "a-loss"
    assert condition(second.well_formed) == "(i)"


def test_well_formed_without_a_loss() -> None:
    """Čermák 2018, figure 4.1 left: k = l = 1."""
    tree = forgotten_chance(right=2)
    one = only_player(tree)
    assert one.classes[0] == "well-formed"
    assert not one.a_loss.holds
    assert one.well_formed.K == 3.0
    constants = pair_constants(compare(tree, 0), tree.find_infoset(0, "I"))
    assert constants is not None
    assert [(pair.k, pair.l, pair.delta) for pair in constants] == [(1.0, 1.0, 0.0)] * 2


def test_skew_well_formed() -> None:
    """Čermák 2018, figure 2.4: min over k of max(|1 - k|, |2 - 3k|) is 1/4 at k = 3/4 (computed independently)."""
    tree = forgotten_chance(right=3)
    one = only_player(tree)
    assert one.strongest == "skew well-formed"
    assert condition(one.well_formed) == "(i)"
    constants = pair_constants(compare(tree, 0), tree.find_infoset(0, "I"))
    assert constants is not None
    forward = next(pair for pair in constants if pair.first[0] == "L")
    assert (forward.k, forward.l, forward.delta) == pytest.approx((0.75, 1.0, 0.25))
    backward = next(pair for pair in constants if pair.first[0] == "R")
    assert (backward.k, backward.delta) == pytest.approx((4 / 3, 1 / 3))
    assert one.skew.delta == pytest.approx(1 / 3)
    assert one.skew.error == pytest.approx(2 / 3)


def test_futures_of_different_shape() -> None:
    """Čermák 2018, figure 2.5: l and r on one side, l, r s and r t on the other."""
    longer = decision(0, "I", {"l": end(1), "r": decision(0, "S", {"s": end(1), "t": end(2)})})
    root = chance({"L": (0.5, decision(0, "J1", {"m": guess(1, 2)})), "R": (0.5, decision(0, "J2", {"m": longer}))})
    one = only_player(zero_sum(root, "different shapes"))
    assert one.strongest == "imperfect recall"
    assert condition(one.chance_relaxed) == "(iv)"
    assert not one.nearly.holds


def test_a_loss_without_well_formed() -> None:
    """Čermák 2018, figure 4.1 right."""
    right = decision(0, "I", {"l": end(0), "r": decision(1, "J", {"x": end(1), "y": end(5)})})
    one = only_player(zero_sum(decision(0, "R", {"a": right, "b": guess(0, 1)}), "A-loss only"))
    assert one.classes == ("A-loss recall",)
    assert condition(one.chance_relaxed) == "(iii)"


def test_absent_minded_driver() -> None:
    """Čermák 2018, figure 3.4 left (Piccione and Rubinstein 1997)."""
    again = decision(0, "X", {"s": terminal(1), "e": terminal(4)})
    tree = cp.compile_game(ExplicitGame(decision(0, "X", {"s": again, "e": terminal(0)}), name="driver"))
    one = only_player(tree)
    assert one.recall == one.strongest == "absent-minded"
    assert one.absent_minded is not None
    assert (one.absent_minded.first, one.absent_minded.second) == ((), ("s",))
    assert recall_report(tree).strongest == "absent-minded"
    assert split_to_a_loss(tree, 0).recall == ("perfect",)
    with pytest.raises(cp.GameError, match="player 1 is absent-minded"):
        compare(tree, 0)


def test_time_inconsistent_set() -> None:
    """Čermák 2018, figure 3.4 right: the ways to I3 come apart by chance."""

    def last(left: float, right: float) -> Node:
        return decision(0, "I3", {"E": terminal(left), "F": terminal(right)})

    root = chance(
        {
            "x": (0.5, decision(0, "I1", {"A": terminal(0), "B": last(3, 2.9)})),
            "y": (0.5, decision(0, "I2", {"C": terminal(1), "D": last(0, 2)})),
        }
    )
    tree = cp.compile_game(ExplicitGame(root, name="time inconsistent"))
    verdict = has_a_loss_recall(tree, 0)
    assert verdict.witness is not None
    assert (verdict.witness.first, verdict.witness.second) == (("x", "B"), ("y", "D"))
    assert split_to_a_loss(tree, 0).infoset_names == ("I1", "I3 #1", "I2", "I3 #2")


def test_a_loss_of_two_moves() -> None:
    """Čermák 2018, figures 2.1 and 3.5: only the own first choice is forgotten."""
    root = decision(
        0,
        "I1",
        {
            "a": decision(1, "A", {"c": end(-1), "d": decision(0, "I2", {"g": end(0), "h": end(-10)})}),
            "b": decision(1, "B", {"e": decision(0, "I2", {"g": end(-10), "h": end(0)}), "f": end(-1)}),
        },
    )
    tree = zero_sum(root, "figure 3.5")
    assert tree.recall == ("a-loss", "perfect")
    assert has_a_loss_recall(tree, 0).holds
    assert not has_perfect_recall(tree, 0).holds


def test_a_conflict_after_a_fork_is_traced_back() -> None:
    """Two sequences of I differ at J, but J itself was reached by chance: the witness is J."""
    sides = {
        name: (0.5, decision(0, key, {"m": decision(0, "J", {"a": one, "b": other})}))
        for name, key, one, other in (("x", "X", guess(1, 2), end(0)), ("y", "Y", end(0), guess(2, 1)))
    }
    tree = zero_sum(chance(sides), "fork")
    witness = has_a_loss_recall(tree, 0).witness
    assert witness is not None
    assert witness.infoset == "J"
    assert (witness.first, witness.second) == (("x", "m"), ("y", "m"))


def test_three_players_move_in_another_order() -> None:
    """X_{-i} is in the order of play: the others do the same in both parts, but not in the same order."""

    def last(utility: float) -> Node:
        return decision(0, "I", {"l": terminal(utility, 0, 0), "r": terminal(0, 0, 0)})

    def others(order: tuple[int, int]) -> Node:
        after = decision(order[1], f"O{order[1]}", {"m": last(1), "n": last(1)})
        return decision(order[0], f"O{order[0]}", {"m": after, "n": after})

    def game(second: tuple[int, int]) -> ExplicitGame:
        branches = {"x": decision(0, "X", {"m": others((1, 2))}), "y": decision(0, "Y", {"m": others(second)})}
        return ExplicitGame(chance({name: (0.5, node) for name, node in branches.items()}), players=3, name="order")

    assert only_player(game((1, 2))).well_formed.holds
    assert condition(only_player(game((2, 1))).well_formed) == "(iii)"


# --- die-roll poker ------------------------------------------------------------------------------------------------


@functools.cache
def dice(**settings: float) -> GameTree:
    return cp.compile_game(die_roll_poker(**settings))  # type: ignore[arg-type]


def test_refinement_given_as_tree_or_parts() -> None:
    tree = dice()
    finer = perfect_recall_refinement(tree)
    whole = recall_report(tree)
    assert recall_report(tree, finer) == whole
    assert recall_report(tree, finer.infoset) == whole
    finest = recall_report(tree, perfect_information_refinement(tree))
    assert "(iii)" in condition(finest.players[0].well_formed)  # parts with one deal each, which the other player sees


@pytest.mark.parametrize(
    ("refinement", "message"),
    [
        (lambda tree: np.zeros(3, np.int64), "one for each history"),
        (lambda tree: np.zeros(tree.num_histories), "float64"),
        (lambda tree: np.zeros(tree.num_histories, np.int64), "each part must lie in one information set"),
        (lambda tree: tree, "must have perfect recall"),
        (lambda tree: cp.compile_game("kuhn"), "it has other histories"),
    ],
)
def test_bad_refinements(refinement: object, message: str) -> None:
    tree = dice()
    with pytest.raises(cp.GameError, match=message):
        recall_report(tree, refinement(tree))  # type: ignore[operator]


def test_bad_arguments() -> None:
    tree = dice()
    with pytest.raises(cp.GameError, match=r"player must be 0 .. 1; got 2"):
        compare(tree, 2)
    with pytest.raises(cp.GameError, match=r"player must be 0 .. 1; got -1"):
        split_to_a_loss(tree, -1)
    with pytest.raises(cp.GameError, match="k of utilities must be at least 0; got -1"):
        skew_well_formed(compare(tree, 0), k=-1)
    with pytest.raises(cp.GameError, match="different parts of one information set"):
        pair_errors(compare(tree, 0), 0, 0)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "kuhn(players=3)"])
def test_a_tree_divided_into_its_own_sets_stays_the_same(name: str) -> None:
    tree = cp.compile_game(name)
    assert perfect_recall_refinement(tree).fingerprint == tree.fingerprint
    assert repartition(tree, tree.infoset, tree.infoset_names, name).fingerprint == tree.fingerprint
    report = recall_report(tree)
    assert report.strongest == "perfect recall"
    assert [one.well_formed.K for one in report.players] == [len(tree.infosets_of(p)) for p in range(tree.players)]


@pytest.mark.parametrize(
    "root",
    [
        pytest.param(end(1), id="nothing happens"),
        pytest.param(chance({"x": (1.0, end(1))}), id="only chance"),
        pytest.param(decision(1, "J", {"a": end(0)}), id="one decision"),
    ],
)
def test_games_without_decisions(root: Node) -> None:
    tree = zero_sum(root, "tiny")
    report = recall_report(tree)
    assert report.strongest == "perfect recall"
    assert [one.well_formed.K for one in report.players] == [len(tree.infosets_of(player)) for player in range(2)]
    assert split_to_a_loss(tree, 0).fingerprint == tree.fingerprint


def test_repartition_names_what_cannot_be_joined() -> None:
    tree = cp.compile_game("kuhn")
    with pytest.raises(cp.GameError, match="'all' would join different players"):
        repartition(tree, np.zeros(tree.num_histories, np.int64), ["all"], "joined")


def test_the_report_is_json() -> None:
    for tree in (dice(), dice(skew=0.2), cp.compile_game(deadlock(0.5))):
        report = recall_report(tree)
        shown = json.loads(json.dumps(report.to_dict()))
        assert shown["strongest"] == report.strongest
        assert [one["recall"] for one in shown["players"]] == list(tree.recall)
        assert shown["players"][0]["well_formed"]["holds"] == well_formed(compare(tree, 0)).holds


# --- registered games ----------------------------------------------------------------------------------------------

SMALL_BOARD = 'x="0,8",o="1,4"'


def registered(name: str) -> GameTree:
    """A game that may not be there in a partial installation."""
    if name.split("(")[0] not in cp.game_names():
        pytest.skip(f"{name} is not registered")
    return cp.compile_game(name)


@pytest.mark.parametrize("variant", ["FOI", "FOS", "FOE"])
def test_phantom_tic_tac_toe_breaks_iii(variant: str) -> None:
    """Lanctot et al. 2012, section 6: none of the three is well-formed; the players forget only own attempts."""
    report = recall_report(registered(f"phantom_ttt(variant={variant},{SMALL_BOARD})"))
    assert report.strongest == "A-loss recall"
    for one in report.players:
        if not one.perfect.holds:
            assert condition(one.well_formed) == "(iii)"


def test_order_of_failures_does_not_matter() -> None:
    """Forgetting the order of failures within a turn is well-formed (Lanctot et al. 2012, section 6)."""
    report = recall_report(registered(f"phantom_ttt(variant=FOSF-strict,{SMALL_BOARD})"))
    assert report.strongest == "well-formed"
    assert [one.merged for one in report.players] == [16, 17]


@pytest.mark.slow
def test_order_of_failures_in_completed_turns() -> None:
    """The variant of the paper needs a larger board to forget anything: four million histories."""
    report = recall_report(registered('phantom_ttt(variant=FOSF,x="4",o="0")'))
    assert report.strongest == "well-formed"
    assert all(one.merged > 0 for one in report.players)
