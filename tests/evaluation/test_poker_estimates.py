"""Estimators of hands of poker, all private hands at once: hand by hand as on compiled games, and right on average."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from counterplay.abstraction.cards import CardAbstraction
from counterplay.errors import GameError
from counterplay.evaluation.matches.all_in_equity import AllInEquity
from counterplay.evaluation.matches.edge_values import EdgeValues, bet_call_values, fitted_values
from counterplay.evaluation.matches.estimator import FULL, PARTIAL, Estimator
from counterplay.evaluation.matches.hand_rows import HandRows, NamedRows, hand_rows
from counterplay.evaluation.matches.poker_estimates import NotPlayedError, PlayedHand, PokerEstimates
from counterplay.evaluation.matches.tree_estimates import TreeEstimates
from counterplay.forms import open_game
from counterplay.game.game import CHANCE, TERMINAL
from counterplay.poker.acpc.infoset_names import LETTERS
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.cards import parse_cards
from counterplay.poker.poker_game import definition_for
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.tabular import TabularStrategy
from tests.evaluation.test_tree_estimates import paths, random_table

Array = NDArray[np.float64]
EXACT = 1e-12

CARDS = {
    "kuhn": dict(zip("JQK", ("Qs", "Ks", "As"), strict=True)),
    "leduc": {
        word + suit: card + other
        for (word, card), (suit, other) in itertools.product(zip("JQK", "QKA", strict=True), (("c", "h"), ("d", "s")))
    },
}
"""The cards of games with names of their own, as poker from a definition has them."""

NO_LIMIT = "GAMEDEF\nnolimit\nnumPlayers = 2\nnumRounds = {rounds}\nstack = {stacks}\nblind = 2 1\n" \
           "firstPlayer = 2 1 1\nnumSuits = {suits}\nnumRanks = {ranks}\nnumHoleCards = 1\n" \
           "numBoardCards = {board}\nEND GAMEDEF\n"  # fmt: skip
NO_LIMIT_GAMES = {
    "two rounds": {"rounds": 2, "stacks": "4 4", "suits": 2, "ranks": 3, "board": "0 1"},
    "two rounds, unequal stacks": {"rounds": 2, "stacks": "4 6", "suits": 2, "ranks": 3, "board": "0 1"},
    "three rounds": {"rounds": 3, "stacks": "3 3", "suits": 2, "ranks": 3, "board": "0 1 1"},
}
"""Small games with all-ins before the last round."""

EARLY_FOLDS_WITHOUT_LUCK = [Estimator(early_folds=True, values=values) for values in ("divat", "bc-divat")]
"""Of no table, but anybody may ask for them."""

BOTH_PARTS = [Estimator(True, True, values) for values in ("money", "divat", "bc-divat")]
"""With partial information these are of no table either."""

SEATS = [*itertools.product((0, 1), (False, True))]


def named(estimator: Estimator) -> str:
    return estimator.name


class Poker:
    """A game compiled, and its terminal histories as hands of poker."""

    def __init__(self, name: str) -> None:
        self.name, self.tree = name, open_game(name, "history")
        rules = definition_for(open_game(name, "states"))
        assert rules is not None
        self.rules, self.equity = rules, AllInEquity(rules)
        self.played, self.evaluated, self.others = (self.random(seed) for seed in (1, 2, 3))
        self.betting = self.rows(self.played).tree
        self.ends = np.flatnonzero(self.tree.player == TERMINAL)
        self.words = paths(self.tree)
        self.hands = {int(end): self._hand(int(end)) for end in self.ends}

    def random(self, seed: int, zeros: bool = False) -> TabularStrategy:
        return TabularStrategy.from_tree(self.tree, random_table(self.tree, seed, zeros))

    @functools.cache  # noqa: B019
    def rows(self, strategy: TabularStrategy) -> HandRows:
        return hand_rows(strategy, self.rules, self.equity.holes)

    def split(self, history: int) -> tuple[list[list[int]], list[str]]:
        """The cards of a history, a list for each event, and the actions."""
        cards, actions = [], []
        node, words = 0, self.words[history]
        for word in words:
            if self.tree.player[node] == CHANCE:
                cards.append(list(parse_cards(CARDS.get(self.name, {}).get(word, word))))
                node = int(self.tree.first_child[node]) + self._labels(node).index(word)
            else:
                actions.append(LETTERS.get(word, word))
                options = self.tree.actions_of(int(self.tree.infoset[node]))
                node = int(self.tree.first_child[node]) + list(options).index(word)
        assert node == history
        return cards, actions

    def _labels(self, node: int) -> list[str]:
        labels = self.tree.event_labels[self.tree.event[node]]
        assert labels is not None
        return list(labels)

    def node(self, actions: list[str]) -> int:
        """The betting node after actions."""
        found = 0
        for action in actions:
            found = self.betting.children(found)[self.betting.actions(found).index(action)]
        return found

    def _hand(self, end: int) -> tuple[int, tuple[int, int], tuple[int, ...]]:
        cards, actions = self.split(end)
        one, two = (self.equity.number(sorted(hole)) for hole in cards[:2])
        return self.node(actions), (one, two), tuple(itertools.chain(*cards[2:]))

    def hand(self, end: int, seat: int, partial: bool = False) -> PlayedHand:
        node, holes, board = self.hands[end]
        shown = not partial or self.betting.folded[node] == 0
        return PlayedHand(node, seat, holes[seat], holes[1 - seat] if shown else None, board)

    def sample(self, count: int) -> list[int]:
        """Some terminal histories, or all."""
        return self.ends[:: 1 + len(self.ends) // count].tolist()

    def estimates(
        self, seat: int, poker: PokerEstimates, ends: list[int] | None = None, partial: bool = False
    ) -> tuple[list[int], Array]:
        """Those of some hands, by default of all: (ends, estimators)."""
        chosen = self.ends.tolist() if ends is None else ends
        return chosen, np.array([poker.estimate(self.hand(end, seat, partial)) for end in chosen])

    def random_values(self, seed: int) -> EdgeValues:
        """Random values, with the winnings themselves at the ends."""
        draw, tree = np.random.default_rng(seed), self.betting
        base, slope = draw.normal(size=len(tree)), draw.normal(size=len(tree))
        for node in np.flatnonzero(tree.player == TERMINAL).tolist():
            paid = float(tree.spent[node].min())
            base[node] = {0: 0.0, 1: -paid, 2: paid}[int(tree.folded[node])]
            slope[node] = 0.0 if tree.folded[node] else paid
        return EdgeValues(base, slope)

    def of_histories(self, values: EdgeValues, seat: int) -> Array:
        """The same values as values of all histories for a seat; where chance acts, their expectations."""
        tree, found = self.tree, np.zeros(self.tree.num_histories)
        for history in reversed(range(tree.num_histories)):
            if tree.player[history] == CHANCE:
                first, count = int(tree.first_child[history]), int(tree.num_children[history])
                children = slice(first, first + count)
                found[history] = tree.chance_prob[children] @ found[children]
            elif tree.player[history] == TERMINAL:
                found[history] = tree.utility[tree.outcome[history], seat]
            else:
                cards, actions = self.split(history)
                node, board = self.node(actions), list(itertools.chain(*cards[2:]))
                edge = self.equity.edge(cards[seat], cards[1 - seat], board)[int(self.betting.round[node])]
                found[history] = (1 - 2 * seat) * values.base[node] + values.slope[node] * edge
        return found

    def observed(self, seat: int) -> list[object]:
        """What a seat has seen of each hand: the other card at showdowns only."""
        found: list[object] = [None] * self.tree.num_terminals
        for end in self.ends.tolist():
            found[self.tree.outcome[end]] = self.hand(end, seat, partial=True)
        return found


@functools.cache
def poker(name: str) -> Poker:
    return Poker(name)


@functools.cache
def history_values(name: str, seat: int, which: str) -> tuple[EdgeValues, Array]:
    game = poker(name)
    values = bet_call_values(game.betting) if which == "bc-divat" else game.random_values(len(which))
    return values, game.of_histories(values, seat)


def value_functions(name: str, seat: int) -> tuple[dict[str, EdgeValues], dict[str, Array]]:
    both = {which: history_values(name, seat, which) for which in ("divat", "bc-divat", "aivat")}
    return {which: one for which, (one, _) in both.items()}, {which: one for which, (_, one) in both.items()}


def by_tree(estimates: TreeEstimates, one: Estimator, values: dict[str, Array], known: dict[int, object]) -> Array:
    if one.aivat:
        return estimates.aivat(values["aivat"], known)
    return estimates.estimate(one, values.get(one.values))


def compare(name: str, seat: int, off_policy: bool, partial: bool, known: bool, count: int) -> None:
    """Every estimator that can be computed, against the one on the compiled game."""
    game = poker(name)
    chosen = [one for one in (PARTIAL if partial else FULL) if not (one.aivat and off_policy)]
    chosen += BOTH_PARTS if partial else EARLY_FOLDS_WITHOUT_LUCK
    check_hands(game, seat, chosen, off_policy, partial, known, count)


def check_hands(
    game: Poker, seat: int, chosen: list[Estimator], off_policy: bool, partial: bool, known: bool, count: int
) -> None:
    ours, theirs = value_functions(game.name, seat)
    evaluated = game.evaluated if off_policy else None
    tree = TreeEstimates(game.tree, seat, game.played, evaluated, game.observed(seat) if partial else None)
    made = PokerEstimates(
        game.equity, chosen, game.rows(game.played), game.rows(evaluated) if evaluated else None, ours,
        game.rows(game.others) if known else None, partial,
    )  # fmt: skip
    ends, found = game.estimates(seat, made, game.sample(count), partial)
    opponent: dict[int, object] = {1 - seat: game.others} if known else {}
    for place, one in enumerate(chosen):
        wanted = by_tree(tree, one, theirs, opponent)[ends]
        np.testing.assert_allclose(found[:, place], wanted, rtol=EXACT, atol=EXACT, err_msg=one.name)


# Hand by hand ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kuhn", "leduc", "leduc_limit_2p"])
@pytest.mark.parametrize(("seat", "off_policy"), SEATS)
@pytest.mark.parametrize("partial", [False, True])
def test_as_on_the_compiled_game(name: str, seat: int, off_policy: bool, partial: bool) -> None:
    compare(name, seat, off_policy, partial, known=False, count=120)


@pytest.mark.parametrize(("name", "seat"), [*itertools.product(("kuhn", "leduc"), (0, 1))])
def test_as_on_the_compiled_game_with_a_known_opponent(name: str, seat: int) -> None:
    compare(name, seat, off_policy=False, partial=False, known=True, count=120)


@pytest.mark.parametrize(("seat", "off_policy"), SEATS)
def test_imagined_folds_with_partial_information_keep_their_luck(seat: int, off_policy: bool) -> None:
    """JOH-45: luck is measured at showdowns only, and an imagined fold is none, even in a hand that was shown."""
    check_hands(poker("kuhn"), seat, EARLY_FOLDS_WITHOUT_LUCK, off_policy, partial=True, known=False, count=250)


# Right on average -----------------------------------------------------------------------------------------------


def check_means(game: Poker, seat: int, off_policy: bool, known: bool) -> None:
    """Full enumeration; values are random, bet-call's that of the game."""
    values = {which: game.random_values(number) for number, which in enumerate(("divat", "aivat"))}
    values["bc-divat"] = bet_call_values(game.betting)
    chosen = [one for one in FULL if not (one.aivat and off_policy)]
    evaluated = game.evaluated if off_policy else None
    made = PokerEstimates(
        game.equity, chosen, game.rows(game.played), game.rows(evaluated) if evaluated else None, values,
        game.rows(game.others) if known else None,
    )  # fmt: skip
    ends, rows = game.estimates(seat, made)
    tree = TreeEstimates(game.tree, seat, game.played, evaluated)
    found = np.zeros((game.tree.num_histories, len(chosen)))
    found[ends] = rows
    for place, one in enumerate(chosen):
        mean = tree.expected(found[:, place], game.others)
        assert mean == pytest.approx(tree.truth(game.others), abs=EXACT), one.name


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize(("seat", "off_policy", "known"), [(0, False, True), (0, True, False), (1, False, False)])
def test_estimates_are_right_on_average(name: str, seat: int, off_policy: bool, known: bool) -> None:
    check_means(poker(name), seat, off_policy, known)


@pytest.mark.parametrize(("seat", "off_policy", "known"), [*itertools.product((0, 1), (False, True), (False, True))])
def test_all_seats_of_kuhn_poker(seat: int, off_policy: bool, known: bool) -> None:
    check_means(poker("kuhn"), seat, off_policy, known)


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of no-limit games."""
    found = {}
    for number, (name, words) in enumerate(NO_LIMIT_GAMES.items()):
        path: Path = tmp_path_factory.mktemp("games") / f"small{number}.game"
        path.write_text(NO_LIMIT.format(**words))
        found[name] = str(path)
    return found


@pytest.mark.parametrize("name", NO_LIMIT_GAMES)
@pytest.mark.parametrize(("seat", "off_policy"), [(0, False), (1, True)])
def test_all_ins_before_the_last_round(name: str, seat: int, off_policy: bool, no_limit: dict[str, str]) -> None:
    """Cards that follow an all-in are luck too; calls that lead to one are not imagined."""
    game = poker(no_limit[name])
    early = [end for end in game.ends.tolist() if len(game.split(end)[0]) == 1 + game.rules.rounds
             and "/" not in game.betting.text(game.hands[end][0]).rstrip("/")]  # fmt: skip
    assert early
    compare(no_limit[name], seat, off_policy, False, not off_policy, 60)
    check_means(game, seat, off_policy, not off_policy)


def test_all_cards_have_less_variance_than_money() -> None:
    """D-29: on-policy they are conditional expectations of money given what the opponent sees."""
    for name, seat in itertools.product(("kuhn", "leduc"), (0, 1)):
        game = poker(name)
        made = PokerEstimates(game.equity, [Estimator(), Estimator(True)], game.rows(game.played))
        ends, rows = game.estimates(seat, made)
        tree, found = TreeEstimates(game.tree, seat, game.played), np.zeros((game.tree.num_histories, 2))
        found[ends] = rows
        np.testing.assert_allclose(found[ends, 0], tree.winnings[ends], rtol=EXACT)
        money, cards = (tree.deviation(column, game.others) for column in found.T)
        assert cards < 0.98 * money


def test_actions_that_are_never_played() -> None:
    """Hands that cannot have happened are refused, all others have finite estimates with the right mean."""
    game = poker("kuhn")
    played = game.random(5, zeros=True)
    values = dict.fromkeys(("divat", "bc-divat", "aivat"), bet_call_values(game.betting))
    for seat in (0, 1):
        made = PokerEstimates(game.equity, FULL, game.rows(played), values=values)
        tree = TreeEstimates(game.tree, seat, played)
        found, refused = np.zeros((game.tree.num_histories, len(FULL))), 0
        for end in game.ends.tolist():
            if tree._sampled[end] > 0.0:
                found[end] = made.estimate(game.hand(end, seat))
            else:
                with pytest.raises(NotPlayedError, match="never plays this hand so"):
                    made.estimate(game.hand(end, seat))
                refused += 1
        assert refused > 0
        assert np.isfinite(found).all()
        for place, one in enumerate(FULL):
            mean = tree.expected(found[:, place], game.others)
            assert mean == pytest.approx(tree.truth(game.others), abs=EXACT), one.name


# Buckets --------------------------------------------------------------------------------------------------------

SMALL = "holdem_2_1(ranks=4,suits=2)"


@functools.cache
def buckets(kind: str) -> BucketStrategy:
    """A random strategy in the buckets of a small hold'em."""
    rules = definition_for(open_game(SMALL, "states"))
    assert rules is not None
    deck, shape = (4, 2), (2, 3)
    made = CardAbstraction.single(deck, shape) if kind == "single" else CardAbstraction.lossless(deck, shape)
    game = BucketGame.build(rules, made.rounds, name=SMALL)
    weights = np.random.default_rng(7).uniform(0.1, 1.0, game.num_entries)
    return BucketStrategy.of_game(game, weights)


@pytest.mark.parametrize("kind", ["single", "lossless"])
def test_buckets_as_the_lifted_strategy(kind: str) -> None:
    strategy = buckets(kind)
    rules, tree = strategy.abstract.definition, open_game(SMALL, "history")
    equity = AllInEquity(rules)
    ours, theirs = (hand_rows(one, rules, equity.holes) for one in (strategy, strategy.lifted(tree)))
    assert isinstance(theirs, NamedRows)
    betting, draw = ours.tree, np.random.default_rng(1)
    values = {"bc-divat": bet_call_values(betting), "divat": fitted_values(strategy, equity, deals=64)}
    values["aivat"] = values["divat"]
    ends = np.flatnonzero(betting.player == TERMINAL).tolist()
    one, two = (PokerEstimates(equity, FULL, rows, values=values, opponent=rows) for rows in (ours, theirs))
    for _ in range(12):
        dealt = draw.permutation(list(rules.deck))[:7].tolist()
        numbers = [equity.number(sorted(dealt[:2])), equity.number(sorted(dealt[2:4]))]
        for end in draw.choice(ends, 5, replace=False).tolist():
            board = tuple(dealt[4 : 4 + rules.board_ends[int(betting.round[end])]])
            hand = PlayedHand(end, int(draw.integers(2)), *numbers, board)
            np.testing.assert_allclose(one.estimate(hand), two.estimate(hand), rtol=EXACT, atol=EXACT)


def test_rows_of_hands_that_clash_with_the_board_are_empty() -> None:
    strategy = buckets("lossless")
    rules, tree = strategy.abstract.definition, open_game(SMALL, "history")
    equity = AllInEquity(rules)
    board = sorted(rules.deck)[:3]
    for one in (strategy, strategy.lifted(tree)):
        rows = hand_rows(one, rules, equity.holes)
        node = next(k for k in range(len(rows.tree)) if rows.tree.round[k] == 1 and rows.tree.player[k] != TERMINAL)
        found = rows.on_board(int(rows.tree.player[node]), board).rows(node)
        np.testing.assert_allclose(found.sum(axis=1), equity.free(*board), atol=1e-12)


# Errors ---------------------------------------------------------------------------------------------------------


def test_what_is_refused() -> None:
    game = poker("leduc")
    rows, values = game.rows(game.played), {"aivat": bet_call_values(game.betting)}
    with pytest.raises(GameError, match="bc-divat needs a value function bc-divat"):
        PokerEstimates(game.equity, [Estimator(values="bc-divat")], rows)
    with pytest.raises(GameError, match="aivat needs a value function aivat"):
        PokerEstimates(game.equity, [Estimator(aivat=True)], rows)
    with pytest.raises(GameError, match="aivat is for the strategy that was played"):
        PokerEstimates(game.equity, [Estimator(aivat=True)], rows, game.rows(game.evaluated), values)
    with pytest.raises(GameError, match="needs the opponent's cards of all hands"):
        PokerEstimates(game.equity, [Estimator(aivat=True)], rows, values=values, partial=True)
    made = PokerEstimates(game.equity, [Estimator()], rows)
    with pytest.raises(GameError, match="the opponent's hand is not known"):
        made.estimate(game.hand(_fold(game), 0, partial=True))


def _fold(game: Poker) -> int:
    return next(end for end in game.ends.tolist() if game.betting.folded[game.hands[end][0]])


def test_strategies_of_other_games_are_refused() -> None:
    kuhn, leduc = poker("kuhn"), poker("leduc")
    with pytest.raises(GameError, match="its rules are those of another game"):
        hand_rows(kuhn.played, leduc.rules, leduc.equity.holes)
    with pytest.raises(GameError, match="other rules than those of the hands"):
        hand_rows(buckets("single"), leduc.rules, leduc.equity.holes)
