"""What several strategies would have won in a hand: as compiled games say, with two players and three."""

from __future__ import annotations

import contextlib
import functools
import itertools
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError
from counterplay.evaluation.matches.estimator import read_estimator
from counterplay.evaluation.matches.game_hands import GameHands
from counterplay.evaluation.matches.match_hands import as_hand
from counterplay.evaluation.matches.member_estimates import MemberEstimates
from counterplay.evaluation.matches.poker_estimates import NotPlayedError, PokerEstimates
from counterplay.evaluation.matches.tree_estimates import TreeEstimates
from counterplay.forms import open_game
from counterplay.game.game import CHANCE, TERMINAL
from counterplay.poker.acpc.dealing import Deal
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.betting import build_betting_tree
from counterplay.poker.cards import parse_cards
from counterplay.poker.poker_game import definition_for
from counterplay.poker.rules import Betting
from counterplay.strategy.strategy import Strategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL
from counterplay.tree.history.game_tree import GameTree
from tests.evaluation.test_tree_estimates import random_table

THREE = "GAMEDEF\nlimit\nnumPlayers = 3\nnumRounds = 2\nblind = 1 1 1\nraiseSize = 1 1\nfirstPlayer = 1 1\n" \
        "maxRaises = 1 1\nnumSuits = 1\nnumRanks = 5\nnumHoleCards = 1\nnumBoardCards = 0 1\nEND GAMEDEF\n"  # fmt: skip
"""Three players, five cards, one of them on the table in the second round; with four there is nothing to imagine."""


class Dealt:
    """A game of poker compiled, and what each position sees of its terminal histories."""

    def __init__(self, name: str) -> None:
        self.tree: GameTree = open_game(name, "history")
        rules = definition_for(open_game(name, "states"))
        assert rules is not None
        self.rules: GameDefinition = rules
        self.ends = np.flatnonzero(self.tree.player == TERMINAL).tolist()
        self.strategies = [
            TabularStrategy.from_tree(self.tree, random_table(self.tree, seed, zeros=False)) for seed in range(3)
        ]
        self.states = {end: self._state(end) for end in self.ends}

    def _state(self, end: int) -> MatchState:
        tree, cards, actions, node = self.tree, [], [], end
        while tree.parent[node] >= 0:
            before = int(tree.parent[node])
            move = node - int(tree.first_child[before])
            if tree.player[before] == CHANCE:
                labels = tree.event_labels[tree.event[before]]
                assert labels is not None
                cards.insert(0, parse_cards(labels[move]))
            else:
                actions.insert(0, tree.actions_of(int(tree.infoset[before]))[move])
            node = before
        players = self.rules.players
        betting = Betting.start(self.rules)
        for action in actions:
            betting = betting.act(action)
        board = tuple(itertools.chain(*cards[players:]))
        return MatchState(0, betting, Deal(tuple(tuple(one) for one in cards[:players]), board))

    def seen(self, seat: int) -> list[object]:
        found: list[object] = [None] * self.tree.num_terminals
        for end, state in self.states.items():
            found[self.tree.outcome[end]] = state.seen_by(seat).text()
        return found


@functools.cache
def dealt(name: str) -> Dealt:
    return Dealt(name)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("games") / "three.game"
    path.write_text(THREE, encoding="utf-8")
    return str(path)


def compare(game: Dealt, seat: int, estimator: str, count: int) -> None:
    members = MemberEstimates(game.rules, game.strategies, estimator)
    seen = game.seen(seat)
    values = np.zeros(game.tree.num_histories)
    wanted = [
        TreeEstimates(game.tree, seat, game.strategies[1], asked, seen).estimate(read_estimator(estimator), values)
        for asked in game.strategies
    ]
    for end in np.random.default_rng(seat).permutation(game.ends)[:count].tolist():
        found = members.estimate(game.states[end].seen_by(seat), played=1)
        np.testing.assert_allclose(found, [one[end] for one in wanted], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seat", range(3))
@pytest.mark.parametrize("estimator", ["basic", "ac"])
def test_three_players_as_on_the_compiled_game(seat: int, estimator: str, three: str) -> None:
    compare(dealt("kuhn_limit_3p"), seat, estimator, 200)
    compare(dealt(three), seat, estimator, 150)


@pytest.mark.parametrize("seat", range(2))
@pytest.mark.parametrize("estimator", ["basic", "ac", "ef"])
def test_two_players_as_on_the_compiled_game(seat: int, estimator: str) -> None:
    compare(dealt("leduc_limit_2p"), seat, estimator, 100)


@pytest.mark.parametrize("name", ["leduc_limit_2p", "kuhn_limit_3p"])
def test_the_strategy_that_played_is_money_on_average(name: str) -> None:
    """All cards of the strategy that played keep the mean of what it wins, within the bias of what is not seen."""
    game = dealt(name)
    for seat in range(game.rules.players):
        one = TreeEstimates(game.tree, seat, game.strategies[0], None, game.seen(seat))
        basic = one.estimate(read_estimator("basic"))
        assert one.expected(basic, game.strategies[2]) == pytest.approx(one.truth(game.strategies[2]), abs=1e-12)


SHARES = ((0.5, 0.2, 0.3), (0.25, 0.75, 0.0), (0.0, 1.0, 0.0))


def mixed_table(game: Dealt, seat: int, shares: tuple[float, ...]) -> np.ndarray:
    """A strategy that comes everywhere as often as who draws one of the strategies first: slow, from the histories."""
    tree, tables = game.tree, [one.for_tree(game.tree) for one in game.strategies]
    found, reach = tables[0].copy(), np.zeros((len(tables), tree.num_histories))
    reach[:, 0] = shares
    for history in range(tree.num_histories):
        before = int(tree.parent[history])
        if before >= 0:
            reach[:, history] = reach[:, before]
            if tree.player[before] == seat:
                entry = tree.infoset_offset[tree.infoset[before]] + history - tree.first_child[before]
                reach[:, history] *= [table[entry] for table in tables]
        if tree.player[history] == seat and reach[:, history].sum() > 0.0:
            first = int(tree.infoset_offset[tree.infoset[history]])
            entries = slice(first, first + len(tree.actions_of(int(tree.infoset[history]))))
            rows = np.array([table[entries] for table in tables])
            found[entries] = reach[:, history] @ rows / reach[:, history].sum()
    return found


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize(
    ("name", "estimator"),
    [("leduc_limit_2p", "ac+ef"), ("leduc_limit_2p", "ef"), ("kuhn_limit_3p", "ac"), ("kuhn_limit_2p", "ac+ef")],
)
def test_a_draw_is_the_strategy_that_comes_everywhere_as_often(
    name: str, estimator: str, shares: tuple[float, ...]
) -> None:
    """As on the compiled game, with that strategy as the one that played."""
    game, seat = dealt(name), 1
    members, seen = MemberEstimates(game.rules, game.strategies, estimator), game.seen(seat)
    played = mixed_table(game, seat, shares)
    wanted = [
        TreeEstimates(game.tree, seat, played, asked, seen).estimate(read_estimator(estimator))
        for asked in game.strategies
    ]
    for end in np.random.default_rng(3).permutation(game.ends)[:60].tolist():
        found = members.estimate(game.states[end].seen_by(seat), np.array(shares))
        np.testing.assert_allclose(found, [one[end] for one in wanted], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seat", range(2))
@pytest.mark.parametrize("shares", SHARES[:2])
def test_hands_of_a_draw_are_right_on_average(seat: int, shares: tuple[float, ...]) -> None:
    """The mean over the draw and the hands of who was drawn is what each strategy wins: full enumeration."""
    game = dealt("kuhn_limit_2p")
    members, found = MemberEstimates(game.rules, game.strategies, "ef"), np.zeros((3, game.tree.num_histories))
    for end, state in game.states.items():
        found[:, end] = members.estimate(state.seen_by(seat), np.array(shares))
    others = TabularStrategy.from_tree(game.tree, random_table(game.tree, 9, zeros=False))
    hands = [TreeEstimates(game.tree, seat, played) for played in game.strategies]
    for asked, row, own in zip(game.strategies, found, hands, strict=True):
        mean = sum(share * one.expected(row, others) for share, one in zip(shares, hands, strict=True))
        assert mean == pytest.approx(own.truth(others), abs=1e-12), asked


def test_usual_estimators() -> None:
    for name, wanted in (("leduc_limit_2p", "ac+ef"), ("kuhn_limit_3p", "ac")):
        game = dealt(name)
        assert MemberEstimates(game.rules, game.strategies[:1]).estimator.name == wanted


@functools.cache
def near() -> Strategy:
    """Nearly an equilibrium of Leduc."""
    return cp.solve("leduc_limit_2p", "cfr+", iterations=60).profile


def test_unseen_cards_bias_all_cards() -> None:
    """With six cards the one that nobody saw matters, if its owner looks at it: 0.12 chips of what is 0.085 below 0."""
    game = dealt("leduc_limit_2p")
    one, bias = TreeEstimates(game.tree, 0, near(), observed=game.seen(0)), {}
    for other in (near(), TRIVIAL["50/50"].tabular(game.tree)):
        for name in ("ef", "ac+ef"):
            bias[name, other is near()] = one.expected(one.estimate(read_estimator(name)), other) - one.truth(other)
    assert max(abs(bias["ef", True]), abs(bias["ef", False]), abs(bias["ac+ef", False])) < 1e-9
    assert bias["ac+ef", True] == pytest.approx(0.121, abs=0.005)


def test_luck_at_showdowns_alone_misleads() -> None:
    """Why the estimator of the source is not the usual one: its bias exceeds what is at stake."""
    game = dealt("leduc_limit_2p")
    own, other = near(), TRIVIAL["always-raise"].tabular(game.tree)
    one, bias = TreeEstimates(game.tree, 0, own), {}
    reached = one.expected(np.ones(game.tree.num_histories), other)
    assert reached == pytest.approx(1.0)
    for name in ("ef", "ac+ef", "ac+bc-divat"):
        members, found = MemberEstimates(game.rules, [own], name), np.zeros(game.tree.num_histories)
        for end, state in game.states.items():
            with contextlib.suppress(NotPlayedError):
                found[end] = members.estimate(state.seen_by(0), 0)[0]
        bias[name] = abs(one.expected(found, other) - one.truth(other))
    assert bias["ef"] < 1e-9
    assert bias["ac+ef"] < 0.01
    assert bias["ac+bc-divat"] > 0.3


@pytest.mark.parametrize(
    ("name", "estimator", "words"),
    [
        ("leduc_limit_2p", "aivat", "needs the opponent's cards"),
        ("leduc_limit_2p", "ac+ef+divat", "use bc-divat"),
        ("leduc_limit_2p", "ac+divat", "use bc-divat"),
        ("leduc_limit_2p", "dvat", "divat"),
        ("kuhn_limit_3p", "ac+bc-divat", "more than two players"),
        ("kuhn_limit_3p", "ef", "more than two players"),
    ],
)
def test_estimators_that_cannot_be_computed_at_a_table(name: str, estimator: str, words: str) -> None:
    game = dealt(name)
    with pytest.raises(GameError, match=words):
        MemberEstimates(game.rules, game.strategies, estimator)


def test_hands_that_cannot_be_estimated() -> None:
    game = dealt("leduc_limit_2p")
    table = game.strategies[0].for_tree(game.tree).copy()
    first = [name for name in game.tree.infoset_names if name.endswith(":")]
    for action, share in (("c", 1.0), ("r", 0.0)):
        table[[game.tree.entry(0, name, action) for name in first]] = share
    members = MemberEstimates(game.rules, [TabularStrategy.from_tree(game.tree, table), game.strategies[1]])
    state = next(one for one in game.states.values() if one.betting.text() == "rf")
    with pytest.raises(GameError, match="observer"):
        members.estimate(state, 0)
    with pytest.raises(NotPlayedError):
        members.estimate(state.seen_by(0), played=0)
    assert members.estimate(state.seen_by(0), played=1)[0] == 0.0  # who never raises wins nothing by raising


def test_more_players_need_what_was_shown() -> None:
    game = dealt("kuhn_limit_3p")
    hands, tree = GameHands(game.rules), build_betting_tree(game.rules)
    rows = MemberEstimates(game.rules, game.strategies).rows
    with pytest.raises(GameError, match="by what was shown"):
        PokerEstimates(hands, (read_estimator("basic"),), rows[0])
    state = next(one for one in game.states.values() if not one.betting.showdown)
    with pytest.raises(GameError, match="own cards"):
        as_hand(hands, tree, MatchState(0, state.betting, Deal(((), (), ()), ())), 0)


def test_games_with_many_hole_cards_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "omaha.game"
    path.write_text(THREE.replace("numHoleCards = 1", "numHoleCards = 3").replace("numRanks = 5", "numRanks = 12"))
    rules = definition_for(open_game(str(path), "states"))
    assert rules is not None
    with pytest.raises(GameError, match="one or two hole cards"):
        GameHands(rules)
