"""Estimators of match results on compiled games: hand by hand as the poker player's loops, and right on average."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import counterplay as cp
from counterplay.evaluation.matches.estimator import FULL, PARTIAL, Estimator
from counterplay.evaluation.matches.tree_estimates import TreeEstimates, self_play_values
from counterplay.game.builder import ExplicitGame, chance, decision, terminal
from counterplay.game.game import CHANCE, TERMINAL, Game
from counterplay.tree.history.game_tree import GameTree
from tests.bridge import to_entries
from tests.reference.match_estimators import (
    KUHN,
    LEDUC,
    SUITED_LEDUC,
    History,
    Match,
    Profile,
    Rules,
    Values,
    exact_values,
)
from tests.reference.random_trees import random_tree_game
from tests.reference.walks import random_profile

Array = NDArray[np.float64]
EXACT = 1e-12

RULES = {"kuhn": KUHN, "leduc": LEDUC, "leduc(suited=true)": SUITED_LEDUC}
PARTS = [*itertools.product((False, True), (False, True), ("money", "divat"))]
COMBINED = [Estimator(*parts) for parts in PARTS]
SEEN_AT_SHOWDOWNS = [estimator for estimator in COMBINED if estimator.partial]
SEATS = [*itertools.product(RULES, (0, 1), (False, True))]


def named(estimator: Estimator) -> str:
    return estimator.name


class Compiled:
    """A game compiled, its histories as tuples of moves, strategies of both kinds, and random values of histories."""

    def __init__(self, name: str) -> None:
        self.rules: Rules = RULES[name]
        self.game = cp.make(name)
        self.tree = cp.compile_game(self.game)
        self.paths = paths(self.tree)
        self.played, self.evaluated, self.others = (self.profile(seed) for seed in (1, 2, 3))
        self.values = self.random_values(4)

    def profile(self, seed: int) -> Profile:
        drawn = random_profile(self.game, seed).items()
        return {(player, str(key)): {str(a): share for a, share in row.items()} for (player, key), row in drawn}

    def entries(self, profile: Profile) -> Array:
        return to_entries(self.tree, profile)  # type: ignore[arg-type]

    def random_values(self, seed: int) -> dict[History, float]:
        """Where players see ranks only, values of histories that differ in suits are equal."""
        draw = np.random.default_rng(seed)
        drawn: dict[History, float] = {}

        def plain(path: History) -> History:
            return path if self.rules.suited else tuple(word[0] if word in self.rules.deck else word for word in path)

        return {path: drawn.setdefault(plain(path), float(draw.normal())) for path in self.paths}

    def array(self, values: Values) -> Array:
        return np.array([values[path] for path in self.paths])

    def observed(self, player: int) -> list[Any]:
        """What a player has seen of each hand: the other card at showdowns only."""
        found: list[Any] = [None] * self.tree.num_terminals
        for history in np.flatnonzero(self.tree.player == TERMINAL):
            path = self.paths[history]
            hidden = tuple("?" if at == 1 - player else word for at, word in enumerate(path))
            found[self.tree.outcome[history]] = hidden if path[-1] == "fold" else path
        return found

    def estimates(self, player: int, off_policy: bool, partial: bool = False) -> TreeEstimates:
        seen = self.observed(player) if partial else None
        other = self.entries(self.evaluated) if off_policy else None
        return TreeEstimates(self.tree, player, self.entries(self.played), other, seen)

    def match(self, player: int, off_policy: bool, luck: bool, partial: bool = False) -> Match:
        evaluated = self.evaluated if off_policy else self.played
        return Match(self.rules, player, self.played, evaluated, self.values if luck else None, partial)

    def sample(self) -> list[int]:
        """Terminal histories: all of Kuhn poker, some of Leduc."""
        ends = np.flatnonzero(self.tree.player == TERMINAL)
        return [int(end) for end in ends[:: 1 + len(ends) // 600]]


def paths(tree: GameTree) -> list[History]:
    found: list[History] = [()]
    for history in range(1, tree.num_histories):
        parent = int(tree.parent[history])
        move = history - int(tree.first_child[parent])
        labels = tree.event_labels[tree.event[parent]] if tree.player[parent] == CHANCE else None
        found.append((*found[parent], (labels or tree.actions_of(int(tree.infoset[parent])))[move]))
    return found


@functools.cache
def compiled(name: str) -> Compiled:
    return Compiled(name)


def twin(match: Match, estimator: Estimator, hand: History) -> float:
    if estimator.all_cards:
        return match.all_cards_and_early_folds(hand) if estimator.early_folds else match.all_cards(hand)
    return match.early_folds(hand) if estimator.early_folds else match.basic(hand)


def random_table(tree: GameTree, seed: int, zeros: bool = False) -> Array:
    """Random probabilities of all entries, some of them 0."""
    draw = np.random.default_rng(seed)
    table = draw.uniform(0.1, 1.0, tree.num_entries)
    if zeros:
        table[draw.random(tree.num_entries) < 0.4] = 0.0
    for infoset in range(tree.num_infosets):
        row = table[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]]
        row[0] += not row.any()
        row /= row.sum()
    return table


def variance(estimates: TreeEstimates, found: Array, others: Array) -> float:
    return estimates.expected((found - estimates.expected(found, others)) ** 2, others)


# Poker: the twin ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RULES)
def test_the_twin_plays_the_same_game(name: str) -> None:
    poker = compiled(name)
    tree = poker.tree
    assert sorted(poker.paths) == sorted(poker.rules.histories())
    for history in range(tree.num_histories):
        path = poker.paths[history]
        if tree.player[history] == TERMINAL:
            money = [poker.rules.money(path, player) for player in (0, 1)]
            assert money == tree.utility[tree.outcome[history]].tolist()
        elif tree.player[history] >= 0:
            assert poker.rules.seen(path, int(tree.player[history])) == tree.infoset_names[tree.infoset[history]]


@pytest.mark.parametrize(("player", "off_policy"), [*itertools.product((0, 1), (False, True))])
def test_the_twin_is_right_on_average_in_kuhn_poker(player: int, off_policy: bool) -> None:
    poker = compiled("kuhn")
    for estimator in COMBINED:
        match = poker.match(player, off_policy, estimator.values == "divat")
        found = {hand: twin(match, estimator, hand) for hand in poker.rules.hands()}
        assert match.expected(found, poker.others) == pytest.approx(match.truth(poker.others), abs=EXACT)


@pytest.mark.parametrize(("name", "player", "off_policy"), SEATS)
@pytest.mark.parametrize("estimator", COMBINED, ids=named)
def test_estimates_equal_the_twin_hand_by_hand(name: str, player: int, off_policy: bool, estimator: Estimator) -> None:
    poker = compiled(name)
    found = poker.estimates(player, off_policy).estimate(estimator, poker.array(poker.values))
    match = poker.match(player, off_policy, estimator.values == "divat")
    sample = poker.sample()
    wanted = [twin(match, estimator, poker.paths[end]) for end in sample]
    np.testing.assert_allclose(found[sample], wanted, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize(("name", "player"), [*itertools.product(RULES, (0, 1))])
@pytest.mark.parametrize("known", [False, True])
def test_aivat_equals_the_twin_hand_by_hand(name: str, player: int, known: bool) -> None:
    poker = compiled(name)
    others = {1 - player: poker.entries(poker.others)} if known else None
    found = poker.estimates(player, False).aivat(poker.array(poker.values), others)
    match = poker.match(player, False, True)
    sample = poker.sample()
    wanted = [match.aivat(poker.paths[end], poker.others if known else None) for end in sample]
    np.testing.assert_allclose(found[sample], wanted, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize(("name", "player", "off_policy"), SEATS)
def test_estimates_of_poker_are_right_on_average(name: str, player: int, off_policy: bool) -> None:
    poker = compiled(name)
    others, estimates = poker.entries(poker.others), poker.estimates(player, off_policy)
    values = np.random.default_rng(5).normal(size=poker.tree.num_histories)  # even where the players see no suits
    for estimator in {*COMBINED, *(one for one in FULL if not (off_policy and one.aivat))}:
        found = estimates.estimate(estimator, values)
        assert estimates.expected(found, others) == pytest.approx(estimates.truth(others), abs=EXACT)


@pytest.mark.parametrize("player", [0, 1])
def test_truth_expectation_and_self_play_values_equal_the_twin(player: int) -> None:
    poker = compiled("kuhn")
    estimates, match = poker.estimates(player, True), poker.match(player, True, False)
    others = poker.entries(poker.others)
    assert estimates.truth(others) == pytest.approx(match.truth(poker.others), abs=EXACT)
    basic = {hand: match.basic(hand) ** 2 for hand in poker.rules.hands()}
    found = estimates.estimate(Estimator()) ** 2
    second = match.expected(basic, poker.others)
    assert estimates.expected(found, others) == pytest.approx(second, abs=EXACT)
    spread = estimates.deviation(estimates.estimate(Estimator()), others)
    assert spread**2 == pytest.approx(second - match.truth(poker.others) ** 2, abs=1e-9)
    values = exact_values(poker.rules, player, poker.played)
    ours = self_play_values(poker.tree, poker.entries(poker.played), player)
    np.testing.assert_allclose(ours, poker.array(values), atol=EXACT)


# Poker: variance ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "player"), [*itertools.product(RULES, (0, 1))])
@pytest.mark.parametrize("values", ["money", "divat"])
def test_imagined_cards_lower_the_variance_on_policy(name: str, player: int, values: str) -> None:
    """The estimate is the mean of the basic one given what the opponent sees (D-29)."""
    poker = compiled(name)
    estimates, others = poker.estimates(player, False), poker.entries(poker.others)
    random = poker.array(poker.values)
    basic, cards = (estimates.estimate(Estimator(ac, False, values), random) for ac in (False, True))
    assert variance(estimates, cards, others) < variance(estimates, basic, others)


@pytest.mark.parametrize(("name", "player"), [*itertools.product(RULES, (0, 1))])
def test_exact_values_and_known_strategies_leave_no_variance(name: str, player: int) -> None:
    poker = compiled(name)
    others, own = poker.entries(poker.others), poker.entries(poker.played)
    owner = poker.tree.infoset_player[np.repeat(np.arange(poker.tree.num_infosets), np.diff(poker.tree.infoset_offset))]
    both = np.where(owner == player, own, others)
    exact = self_play_values(poker.tree, both, player)
    estimates = poker.estimates(player, False)
    found = estimates.aivat(exact, {1 - player: others})
    assert variance(estimates, found, others) < EXACT
    np.testing.assert_allclose(found[estimates.ends], estimates.truth(others), atol=EXACT)
    unknown = variance(estimates, estimates.aivat(exact), others)
    assert EXACT < unknown < variance(estimates, estimates.estimate(Estimator()), others)


def test_exact_values_leave_no_variance_where_only_chance_acts() -> None:
    """Strategies are pure, so that all luck is that of the cards."""
    tree = compiled("kuhn").tree
    pure = np.tile([1.0, 0.0], tree.num_infosets)
    for player in (0, 1):
        estimates = TreeEstimates(tree, player, pure)
        found = estimates.estimate(Estimator(values="divat"), self_play_values(tree, pure, player))
        assert variance(estimates, found, pure) < EXACT < variance(estimates, estimates.winnings, pure)


# Poker: partial information ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "player", "off_policy"), SEATS)
@pytest.mark.parametrize("estimator", SEEN_AT_SHOWDOWNS, ids=named)
def test_partial_information_equals_the_twin(name: str, player: int, off_policy: bool, estimator: Estimator) -> None:
    """Early folds leave out imagined final calls, even those that must win or lose (JOH-45)."""
    poker = compiled(name)
    found = poker.estimates(player, off_policy, partial=True).estimate(estimator, poker.array(poker.values))
    match = poker.match(player, off_policy, estimator.values == "divat", partial=True)
    sample = poker.sample()
    wanted = [twin(match, estimator, poker.paths[end]) for end in sample]
    np.testing.assert_allclose(found[sample], wanted, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize(("name", "player"), [*itertools.product(("kuhn", "leduc"), (0, 1))])
def test_the_bias_of_partial_information_is_the_twins(name: str, player: int) -> None:
    poker = compiled(name)
    estimates, others = poker.estimates(player, True, partial=True), poker.entries(poker.others)
    asked = (Estimator(), Estimator(values="divat"), Estimator(True), Estimator(True, values="divat"),
             Estimator(True, True))  # fmt: skip
    for estimator in asked:
        match = poker.match(player, True, estimator.values == "divat", partial=True)
        found = {hand: twin(match, estimator, hand) for hand in poker.rules.hands()}
        wanted = match.expected(found, poker.others) - match.truth(poker.others)
        ours = estimates.estimate(estimator, poker.array(poker.values))
        assert estimates.expected(ours, others) - estimates.truth(others) == pytest.approx(wanted, abs=EXACT)
        assert (abs(wanted) > 1e-6) == (estimator.name != "basic")


@pytest.mark.parametrize(("name", "player", "off_policy"), SEATS)
def test_money_without_all_cards_has_no_bias_with_partial_information(name: str, player: int, off_policy: bool) -> None:
    poker = compiled(name)
    estimates, others = poker.estimates(player, off_policy, partial=True), poker.entries(poker.others)
    for estimator in (Estimator(), Estimator(early_folds=True)):
        mean = estimates.expected(estimates.estimate(estimator), others)
        assert mean == pytest.approx(estimates.truth(others), abs=EXACT)


@pytest.mark.parametrize(("name", "player", "off_policy"), SEATS)
def test_all_cards_at_showdowns_do_not_depend_on_what_is_seen(name: str, player: int, off_policy: bool) -> None:
    poker = compiled(name)
    full, part = (poker.estimates(player, off_policy, seen).estimate(Estimator(True)) for seen in (False, True))
    ends = np.flatnonzero(poker.tree.player == TERMINAL)
    shown = np.array([poker.paths[end][-1] != "fold" for end in ends])
    np.testing.assert_allclose(full[ends[shown]], part[ends[shown]], rtol=EXACT, atol=EXACT)
    assert not off_policy or np.abs(full - part)[ends[~shown]].max() > 1e-3


@pytest.mark.parametrize("estimator", [*PARTIAL, Estimator(early_folds=True, values="divat"), Estimator(True, True)],
                         ids=named)  # fmt: skip
@pytest.mark.parametrize(("name", "player"), [*itertools.product(RULES, (0, 1))])
def test_hands_that_look_alike_have_equal_estimates(name: str, player: int, estimator: Estimator) -> None:
    poker = compiled(name)
    found = poker.estimates(player, True, partial=True).estimate(estimator, poker.array(poker.values))
    seen = poker.observed(player)
    alike: dict[Any, float] = {}
    for end in np.flatnonzero(poker.tree.player == TERMINAL):
        first = alike.setdefault(seen[poker.tree.outcome[end]], found[end])
        assert found[end] == pytest.approx(first, rel=EXACT, abs=EXACT)


# Other games ------------------------------------------------------------------------------------------------------


def card_that_ends_the_game() -> Game:
    """After an action of player 2, a high card of player 1 ends the game and a low one leaves a choice."""
    low = decision(0, "low", {"left": terminal(2, -2), "right": terminal(0, 0)})
    return ExplicitGame(
        chance(
            {
                "high": (0.5, decision(1, "blind", {"a": terminal(1, -1), "b": terminal(0, 0)})),
                "low": (0.5, decision(1, "blind", {"a": low, "b": terminal(0, 0)})),
            }
        ),
        name="a card that ends the game",
    )


def card_that_gives_actions() -> Game:
    """Player 1 acts on a high card, chance on a low one; player 2 cannot tell; chance moves last."""

    def answer(won: int) -> Any:
        ends: dict[Any, Any] = {face: (0.5, terminal(won * sign, -won * sign)) for face, sign in (("x", 1), ("y", -2))}
        return decision(1, "blind", {"a": chance(ends), "b": terminal(won, -won)})

    high = decision(0, "high", {"bet": answer(3), "trap": answer(1), "swap": answer(-2)})
    low = chance({"bet": (0.3, answer(-1)), "drop": (0.7, answer(2))})
    return ExplicitGame(chance({"high": (0.25, high), "low": (0.75, low)}), name="a card that gives actions")


def card_that_gives_two_moves() -> Game:
    """On a high card player 1 moves twice before player 2 moves, on a low card once: the groups mix who acts."""

    def answer(won: int) -> Any:
        return decision(1, "blind", {"a": terminal(won, -won), "b": terminal(1 - won, won - 1)})

    second = decision(0, "again", {"k": answer(3), "l": answer(-2)})
    high = decision(0, "high", {"k": second, "l": answer(4)})
    low = decision(0, "low", {"k": answer(1), "l": answer(-1)})
    return ExplicitGame(chance({"high": (0.4, high), "low": (0.6, low)}), name="a card that gives two moves")


def last_word_of_chance() -> Game:
    """Nobody's own action ends the game."""
    ends = chance({"x": (0.5, terminal(1, -1)), "y": (0.5, terminal(-2, 2))})
    return ExplicitGame(decision(0, "me", {"a": ends, "b": decision(1, "you", {"c": ends, "d": ends})}), name="chance")


OTHERS: dict[str, Any] = {
    **{
        name: functools.partial(cp.make, name)
        for name in (
            "goofspiel(cards=3)", "bluff(sides=2)", "bluff(sides=2,recall=1)", "die_roll_poker(sides=2)",
            'die_roll_poker(sides=2,variant="IR")', "random_game(depth=4)", "kuhn(players=3)", "oshi_zumo(coins=4)",
            "matching_pennies", "toy_absent_minded_driver", "toy_forgotten_choice", "toy_refinement",
        )
    },
    **{f"random tree {seed}": functools.partial(random_tree_game, seed) for seed in range(4)},
    **{f"random tree of three {seed}": functools.partial(random_tree_game, seed, players=3) for seed in range(2)},
    **{
        made.__name__: made
        for made in (
            card_that_ends_the_game, card_that_gives_actions, card_that_gives_two_moves, last_word_of_chance,
        )
    },
}  # fmt: skip


@functools.cache
def other_tree(name: str) -> GameTree:
    return cp.compile_game(OTHERS[name]())


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("estimator", FULL, ids=named)
def test_estimates_of_any_game_are_right_on_average(name: str, estimator: Estimator) -> None:
    tree = other_tree(name)
    values = np.random.default_rng(9).normal(size=tree.num_histories)
    others = random_table(tree, 3)
    evaluated = [random_table(tree, 2), random_table(tree, 2, zeros=True)]
    for player, other in itertools.product(range(tree.players), [None, *([] if estimator.aivat else evaluated)]):
        estimates = TreeEstimates(tree, player, random_table(tree, 1), other)
        found = estimates.estimate(estimator, values)
        assert estimates.expected(found, others) == pytest.approx(estimates.truth(others), abs=EXACT)


@pytest.mark.parametrize("name", OTHERS)
def test_aivat_with_known_opponents_is_right_on_average(name: str) -> None:
    tree = other_tree(name)
    values = np.random.default_rng(9).normal(size=tree.num_histories)
    for player, zeros in itertools.product(range(tree.players), (False, True)):
        own, others = random_table(tree, 1, zeros), random_table(tree, 3, zeros)
        estimates = TreeEstimates(tree, player, own)
        for count in range(tree.players):
            known = dict.fromkeys([*range(player), *range(player + 1, tree.players)][:count], others)
            found = estimates.aivat(values, known)
            assert estimates.expected(found, others) == pytest.approx(estimates.truth(others), abs=EXACT)


@pytest.mark.parametrize("name", OTHERS)
def test_exact_values_leave_no_variance_in_any_game(name: str) -> None:
    tree = other_tree(name)
    table = random_table(tree, 1)
    for player in range(tree.players):
        estimates = TreeEstimates(tree, player, table)
        exact = self_play_values(tree, table, player)
        found = estimates.aivat(exact, dict.fromkeys(range(tree.players), table))
        assert variance(estimates, found, table) < EXACT


@pytest.mark.parametrize("estimator", FULL, ids=named)
def test_actions_that_are_never_chosen_do_no_harm(estimator: Estimator) -> None:
    for name in ("kuhn", "leduc"):
        tree = compiled(name).tree
        values = np.random.default_rng(9).normal(size=tree.num_histories)
        played, others = random_table(tree, 1, zeros=True), random_table(tree, 2, zeros=True)
        for player in (0, 1):
            estimates = TreeEstimates(tree, player, played)
            found = estimates.estimate(estimator, values)
            assert np.isfinite(found).all()
            assert estimates.expected(found, others) == pytest.approx(estimates.truth(others), abs=EXACT)


SHARES = st.lists(st.floats(0.0, 1.0), min_size=12, max_size=12)
POSITIVE = st.lists(st.floats(0.05, 0.95), min_size=12, max_size=12)


def two_actions(shares: list[float]) -> Array:
    return np.array([[share, 1.0 - share] for share in shares]).ravel()


@settings(max_examples=50, deadline=None)
@given(POSITIVE, SHARES, SHARES, st.integers(0, 1), st.integers(0, 1000))
def test_estimates_of_kuhn_poker_are_right_for_any_strategies(
    played: list[float], evaluated: list[float], others: list[float], player: int, seed: int
) -> None:
    tree = compiled("kuhn").tree
    values = np.random.default_rng(seed).normal(size=tree.num_histories)
    opponent = two_actions(others)
    off_policy = TreeEstimates(tree, player, two_actions(played), two_actions(evaluated))
    on_policy = TreeEstimates(tree, player, two_actions(evaluated))
    for estimates, estimator in itertools.product((on_policy, off_policy), FULL):
        if not (estimator.aivat and estimates is off_policy):
            mean = estimates.expected(estimates.estimate(estimator, values), opponent)
            assert mean == pytest.approx(estimates.truth(opponent), abs=1e-10)
