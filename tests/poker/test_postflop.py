"""Hold'em subgames: their betting, their value against hand-written trees, isomorphism, locks, bad input."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from counterplay.errors import CounterplayError, GameError, MemoryLimitError
from counterplay.evaluation.inspection import hand_values
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.poker.cards import parse_cards
from counterplay.poker.postflop import subgame as subgames
from counterplay.poker.postflop.locks import lock_rows, parse_lock
from counterplay.poker.postflop.subgame import Subgame, parse_subgame
from counterplay.poker.ranges import holdem_hands, parse_range
from counterplay.runtime.pacing import Until
from counterplay.solvers.cfr import config_with
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.strategy import TabularStrategy
from counterplay.strategy.public_lookup import PublicIndex
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.tree import GameTree, compile_game
from counterplay.tree.public.public_tree import FOLD, LINK, SHOWDOWN, PublicTree
from tests.reference.sequence_lp import solve_zero_sum
from tests.reference.subgames import SlowSubgame

RIVER = Subgame("QsJh2h3c8d", 50, 60, "AA,KQs:0.5,AsQh,9s8s", "JJ,AhKd,T9s,KcQc:0.25,77", bets="50%,a", raises="60%,a",
                allin_threshold=1.0)  # fmt: skip
TURN = Subgame("QsJh2d3c", 20, 30, "AA,T9s", "KQs,77", bets="50%", raises="100%", allin_threshold=1.0)


def slow_twin(game: Subgame, bets: Sequence[float], raises: Sequence[float]) -> Any:
    hands = holdem_hands().tolist()
    ranges = tuple(
        {(a, b): float(weight) for (a, b), weight in zip(hands, parse_range(text), strict=True) if weight > 0}
        for text in (game.oop, game.ip)
    )
    cap = float("inf") if game.rake_cap is None else game.rake_cap
    stack = game.effective_stack
    return SlowSubgame(
        game.cards, game.pot, stack, (ranges[0], ranges[1]), list(bets), list(raises), game.rake, cap
    ).game()  # fmt: skip


def slow_tree(game: Subgame, bets: Sequence[float], raises: Sequence[float]) -> GameTree:
    """The tree of the slow twin, which knows no isomorphism, compiled once."""
    return _slow_tree(dataclasses.replace(game, isomorphic=True), tuple(bets), tuple(raises))


@functools.lru_cache(4)
def _slow_tree(game: Subgame, bets: tuple[float, ...], raises: tuple[float, ...]) -> GameTree:
    return compile_game(slow_twin(game, bets, raises))


def shares_of_pot(game: Subgame, won: Iterable[float]) -> list[float]:
    """The convention of spots, from what players win and lose in the hand-written tree with half of the pot each."""
    return [game.pot / 2 + value for value in won]


def random_profile(tree: PublicTree, seed: int) -> PublicStrategy:
    draw = np.random.default_rng(seed)
    tables = tuple(draw.exponential(size=entries) for entries in tree.num_entries)
    return PublicStrategy.of_tree(tree, (tables[0], tables[1]))


def as_history_profile(tree: PublicTree, profile: PublicStrategy, compiled: GameTree) -> TabularStrategy:
    """The same strategy on the hand-written tree."""
    values = np.zeros(compiled.num_entries)
    for infoset in range(compiled.num_infosets):
        name = compiled.infoset_names[infoset]
        hand, board, dealt, words = eval(name)
        player = int(compiled.infoset_player[infoset])
        node = PublicIndex(tree).node(" ".join(words))
        deal, renaming = PublicIndex(tree).board(node, "".join(map(card_text, board + dealt)))
        shown = sorted(card - card % 4 + renaming[card % 4] for card in hand)
        hands = tree.hands[player]
        real = slice(int(hands.real_start[deal]), int(hands.real_start[deal + 1]))
        row = next(n for n, cards in enumerate(hands.real_card[real].tolist()) if sorted(cards) == shown)
        chances = profile.matrix(tree, node, deal)[hands.real_class[real][row]]
        assert list(compiled.actions_of(infoset)) == list(tree.actions_of(node))
        values[compiled.infoset_offset[infoset] : compiled.infoset_offset[infoset + 1]] = chances
    return TabularStrategy.from_tree(compiled, values)


def card_text(card: int) -> str:
    return "23456789TJQKA"[card // 4] + "cdhs"[card % 4]


def test_the_equilibrium_of_the_linear_program_is_one_of_the_public_tree() -> None:
    """Its value, to 1e-6, and no best response gains; CFR comes to the same value."""
    tree = RIVER.tree()
    value, plans = solve_zero_sum(slow_twin(RIVER, [0.5, 10.0], [0.6, 10.0]))
    tables = (np.zeros(tree.num_entries[0]), np.zeros(tree.num_entries[1]))
    for player in (0, 1):
        for node, deal in tree.states_of(player):
            words = tuple(tree.node_text[node].split())
            keys = [((int(a), int(b)), RIVER.cards, (), words) for a, b in tree.hands[player].card]
            rows = np.array([[plans[player, key][action] for action in tree.actions_of(node)] for key in keys])
            tables[player][tree.entries(node, deal)] = rows.T.ravel()
    found = PublicWalker(tree).measure(tables)
    shares = [25 + value, 25 - value]
    np.testing.assert_allclose([*found.value, *found.best_response], [*shares, *shares], atol=1e-6)
    result = PublicSolver(tree, config_with("dcfr", {"gamma": 3.0})).run(Until(iterations=20_000, exploitability=1e-3))
    assert result.status == "exploitability"
    assert result.value[0] == pytest.approx(25 + value, abs=1e-3)


def test_random_play_on_a_river_is_worth_the_same_as_in_the_hand_written_tree() -> None:
    from counterplay.evaluation import evaluate

    tree = RIVER.tree()
    profile = random_profile(tree, 1)
    ours = PublicWalker(tree).measure(profile.tables)
    slow = slow_tree(RIVER, [0.5, 10.0], [0.6, 10.0])
    twin = evaluate(as_history_profile(tree, profile, slow), slow)
    np.testing.assert_allclose(ours.value, shares_of_pot(RIVER, twin.value), atol=1e-10)
    np.testing.assert_allclose(ours.best_response, shares_of_pot(RIVER, twin.best_response), atol=1e-10)


@pytest.mark.parametrize("isomorphic", [True, False])
def test_random_play_on_a_turn_is_worth_the_same_as_in_the_hand_written_tree(isomorphic: bool) -> None:
    """The hand-written tree knows no isomorphism: it deals all 44 cards to each pair of hands."""
    from counterplay.evaluation import evaluate

    game = dataclasses.replace(TURN, oop="AsAh,9c9d:0.5", ip="KcQc,7c7d,8c8d", isomorphic=isomorphic)
    tree = game.tree()
    profile = random_profile(tree, 2)
    slow = slow_tree(game, [0.5], [1.0])
    ours = PublicWalker(tree).measure(profile.tables)
    twin = evaluate(as_history_profile(tree, profile, slow), slow)
    np.testing.assert_allclose(ours.value, shares_of_pot(game, twin.value), atol=1e-10)
    np.testing.assert_allclose(ours.best_response, shares_of_pot(game, twin.best_response), atol=1e-10)


def test_isomorphism_changes_nothing_but_the_size() -> None:
    game = dataclasses.replace(TURN, board="QsJs2h3h")
    small, large = (dataclasses.replace(game, isomorphic=isomorphic).tree() for isomorphic in (True, False))
    assert small.num_infosets < 0.7 * large.num_infosets
    curves = []
    for tree in (small, large):
        solver = PublicSolver(tree, config_with("dcfr", {"storage": "float64"}))
        solver.step(20)
        found = solver.measure()
        curves.append([*found.value, *found.best_response])
    np.testing.assert_allclose(curves[0], curves[1], atol=1e-9)


def test_ranges_that_tell_suits_apart_are_not_taken_together() -> None:
    game = dataclasses.replace(TURN, board="QsJs2h3h", oop="AA,KcQc", ip="99,AK")
    assert game.tree().num_deals == 1 + 48
    assert dataclasses.replace(game, oop="AA,KQs").tree().num_deals < 1 + 48


def test_the_betting_of_a_river() -> None:
    """Pot 50, 60 behind: bets 25 and all in; over 25 a raise of 60 % is 25 + 60 = 85, which is all in."""
    tree = RIVER.tree()
    decisions = {tree.node_text[n]: tree.actions_of(n) for n in np.flatnonzero(tree.kind < 2)}
    assert decisions == {
        "": ("check", "bet25", "allin"),
        "check": ("check", "bet25", "allin"),
        "bet25": ("fold", "call", "allin"),
        "check bet25": ("fold", "call", "allin"),
        "allin": ("fold", "call"),
        "check allin": ("fold", "call"),
        "bet25 allin": ("fold", "call"),
        "check bet25 allin": ("fold", "call"),
    }
    ends = {tree.node_text[n]: (int(tree.kind[n]), float(tree.payoff[n])) for n in np.flatnonzero(tree.kind > 2)}
    assert ends["check check"] == (SHOWDOWN, 25.0)
    assert ends["check bet25 call"] == (SHOWDOWN, 50.0)
    assert ends["allin fold"] == (FOLD, 25.0)
    assert ends["check bet25 fold"] == (FOLD, -25.0)
    assert ends["bet25 allin fold"] == (FOLD, -50.0)
    assert ends["bet25 allin call"] == (SHOWDOWN, 85.0)
    assert RIVER.spent("check bet25 allin") == (60.0, 25.0)


def test_an_all_in_before_the_river_deals_the_rest() -> None:
    tree = dataclasses.replace(TURN, board="QsJh2d", bets="a", raises="none").tree()
    texts = {
        text: [int(k) for k, t in zip(tree.kind, tree.node_text, strict=True) if t == text] for text in ("allin call",)
    }
    assert texts["allin call"] == [LINK, LINK, SHOWDOWN]


def actions_after(game: Subgame, node: str) -> tuple[str, ...]:
    """By going through the nodes of the betting, without any cards."""
    at = game.betting([(level, level + 1) for level in range(3)])
    for word in node.split():
        at = at.children[at.actions.index(word)]
        while at.kind == LINK:
            (at,) = at.children
    return at.actions


def test_sizes_by_street_player_and_donk() -> None:
    game = dataclasses.replace(
        TURN, board="QsJh2d", stack=500, oop="AsAh", ip="KsKh", bets="flop=50%;ip.turn=75%;oop.turn=20%;river=e",
        raises="2.5x", donks="turn=33%", chip=1,
    )  # fmt: skip
    assert actions_after(game, "") == ("check", "bet10")
    assert actions_after(game, "check bet10") == ("fold", "call", "raise25")
    assert actions_after(game, "check check") == ("check", "bet4")
    assert actions_after(game, "check check check") == ("check", "bet15")
    assert actions_after(game, "check bet10 call") == ("check", "bet13")
    assert actions_after(game, "bet10 call") == ("check", "bet8")
    assert actions_after(game, "check check check check") == ("check", "allin")


def test_limit_betting_has_a_cap() -> None:
    game = dataclasses.replace(RIVER, stack=1000, bets="20c", raises="20c3r")
    assert actions_after(game, "bet20") == ("fold", "call", "raise40")
    assert actions_after(game, "bet20 raise40 raise60") == ("fold", "call", "raise80")
    assert actions_after(game, "bet20 raise40 raise60 raise80") == ("fold", "call")


def test_threshold_least_raise_and_chips() -> None:
    river = dataclasses.replace(RIVER, stack=100, bets="1%,90%,100%", raises="1%,60%", allin_threshold=0.5)
    assert actions_after(river, "") == ("check", "bet1", "bet45", "allin")
    assert actions_after(river, "bet45") == ("fold", "call", "allin")
    assert actions_after(river, "bet1") == ("fold", "call", "raise2", "raise32")
    fine = dataclasses.replace(RIVER, stack=100, pot=5.5, bets="33%", chip=0.01)
    assert actions_after(fine, "") == ("check", "bet1.82")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"board": "QsJhQs3c8d"}, "Qs occurs twice"), ({"board": "QsJh"}, "3, 4 or 5 cards; got 2"),
        ({"board": "QsJhZz"}, "'Zz'"), ({"pot": 0}, "pot must be a positive number"),
        ({"stack": 0.0}, "stack must be a positive number"),
        ({"stack": float("nan")}, "stack"), ({"chip": -1}, "chip"), ({"oop": "QsJs"}, "oop has no hand left"),
        ({"ip": ""}, "ip has no hand left"), ({"ip": "AA:-1"}, "weight"), ({"bets": "0%"}, "must be positive"),
        ({"raises": "1"}, "'1' in the raises"), ({"oop": "AsAh", "ip": "AsAh"}, "share cards"),
        ({"oop": "AsAh", "ip": "AsKs,AhKs"}, "share cards"), ({"allin_threshold": 0.0}, "threshold"),
        ({"board": "QsJh2h3c8d4d"}, "got 6"),
    ],
)  # fmt: skip
def test_bad_input_is_told_before_work_starts(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(GameError, match=words):
        dataclasses.replace(RIVER, **changes)


def test_betting_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subgames, "MAX_NODES", 100)
    with pytest.raises(MemoryLimitError, match="fewer sizes"):
        dataclasses.replace(RIVER, stack=10_000, bets="10%,20%", raises="10%,20%").tree()


def test_a_subgame_comes_back_from_its_name() -> None:
    assert parse_subgame(RIVER.name) == RIVER
    solver = PublicSolver(RIVER.name, "cfr+")
    assert solver.tree.fingerprint == RIVER.tree().fingerprint
    with pytest.raises(CounterplayError, match="JSON"):
        parse_subgame("holdem{no}")


@pytest.mark.parametrize("storage", ["float64", "int16"])
def test_a_lock_holds_and_the_rest_is_solved_around_it(storage: str) -> None:
    """A player who folds everything to a bet is bet into with everything; best responses keep to the lock."""
    tree = RIVER.tree()
    solver = PublicSolver(tree, config_with("dcfr", {"storage": storage, "gamma": 3.0}))
    for text in ("bet25", "allin"):
        node = PublicIndex(tree).node(text)
        solver.lock(node, 0, lock_rows(tree, node, 0, parse_lock("fold 1", tree.actions_of(node))))
    result = solver.run(Until(iterations=3000, exploitability=0.005))
    assert result.status == "exploitability"
    state = result.profile.hands("bet25")
    np.testing.assert_allclose(state.frequencies, [1, 0, 0], atol=1e-6)
    # the pot of 50 is what betting wins for certain; checking wins no more against an opponent who may bet himself
    free = PublicSolver(tree, "cfr+").run(Until(iterations=2000))
    assert result.value[0] >= 50 - 0.02 > free.value[0]


def test_locks_by_range() -> None:
    tree = RIVER.tree()
    node = PublicIndex(tree).node("bet25")
    actions = tree.actions_of(node)
    table = parse_lock("call JJ,77:0.5; allin T9s\nfold rest", actions)
    rows = lock_rows(tree, node, 0, table)
    assert rows.shape == (tree.hands[1].count(0), 3)
    jacks = [tuple(row) for row, cards in zip(rows, tree.hands[1].card, strict=True) if set(cards // 4) == {9}]
    assert set(jacks) == {(0.0, 1.0, 0.0)}
    for text, words in (("call 1; fold 0.5", "more than 1"), ("raise9 1", "fold, call, allin"), ("call 2", "0 to 1")):
        with pytest.raises(GameError, match=words):
            parse_lock(text, actions)
    with pytest.raises(GameError, match="rest"):
        lock_rows(tree, node, 0, parse_lock("call JJ", actions))


def test_a_lock_that_tells_suits_apart_needs_them_apart() -> None:
    tree = dataclasses.replace(TURN, board="QsJs2h3h").tree()
    node = PublicIndex(tree).node("")
    table = parse_lock("bet10 AcAh; check rest", tree.actions_of(node))
    with pytest.raises(GameError, match="no-isomorphism"):
        lock_rows(tree, node, 0, table)


def test_inspected_numbers_are_those_of_the_hand_written_tree() -> None:
    """Weights, frequencies, values and equities, by going through all pairs of hands."""
    tree = RIVER.tree()
    profile = random_profile(tree, 3)
    state = hand_values(profile, "check bet25")
    slow = slow_twin(RIVER, [0.5, 10.0], [0.6, 10.0])
    history = as_history_profile(tree, profile, slow_tree(RIVER, [0.5, 10.0], [0.6, 10.0]))
    weight: dict[tuple[int, ...], float] = {}
    value: dict[tuple[int, ...], float] = {}
    equity: dict[tuple[int, ...], float] = {}
    for pair, (chance, node) in slow.root().branches.items():
        here = chance
        for word in ("check", "bet25"):
            here *= history.probabilities(node.player, repr(node.infoset()))[word]
            node = node.child(word)
        hand = tuple(sorted(pair[0]))
        weight[hand] = weight.get(hand, 0.0) + here
        value[hand] = value.get(hand, 0.0) + here * played(node, history)
        called = node.child("call").utilities()[0] / 50
        equity[hand] = equity.get(hand, 0.0) + here * (0.5 + called / 2)
    total = sum(weight.values())
    for number, cards in enumerate(state.hands.tolist()):
        hand = tuple(sorted(cards))
        assert state.weights[number] == pytest.approx(weight[hand] / total, abs=1e-12)
        assert state.values is not None
        assert state.equities is not None
        assert state.values[number] == pytest.approx(25 + value[hand] / weight[hand], abs=1e-9)
        assert state.equities[number] == pytest.approx(equity[hand] / weight[hand], abs=1e-9)
    assert state.frequencies.sum() == pytest.approx(1.0)
    cells = [cell for row in state.grid() for cell in row if cell is not None]
    assert sum(cell.weight for cell in cells) == pytest.approx(1.0)
    assert sum(cell.hands for cell in cells) == len(state.hands)


def played(node: Any, profile: TabularStrategy) -> float:
    """What the first player expects below a node."""
    if not hasattr(node, "branches"):
        return float(node.utilities()[0])
    chances = profile.probabilities(node.player, repr(node.infoset()))
    return sum(chances[word] * played(child, profile) for word, child in node.branches.items())


def test_a_board_in_other_suits_shows_hands_in_those_suits() -> None:
    game = dataclasses.replace(TURN, board="QsJs2h")
    tree = game.tree()
    profile = random_profile(tree, 4)
    one, other = (profile.hands("check check", f"QsJs2h {card}") for card in ("3c", "3d"))
    swap = {"c": "d", "d": "c"}

    def by_hand(state: Any, rename: dict[str, str]) -> dict[frozenset[str], tuple[float, ...]]:
        return {
            frozenset(card_text(c)[0] + rename.get(card_text(c)[1], card_text(c)[1]) for c in hand): tuple(row)
            for hand, row in zip(state.hands.tolist(), state.probabilities, strict=True)
        }

    assert by_hand(one, swap) == by_hand(other, {})
    assert parse_cards("3d")[0] not in other.hands


@pytest.mark.parametrize(
    ("node", "board", "words"),
    [("bet11", None, "at the start there are check, bet10"), ("check check", None, "give a board"),
     ("check check", "QsJs2h", "4 cards"), ("check check", "QsJs2h Qs", "twice"), ("", "KsJs2h", "no board")],
)  # fmt: skip
def test_states_that_are_not_there(node: str, board: str | None, words: str) -> None:
    tree = dataclasses.replace(TURN, board="QsJs2h").tree()
    with pytest.raises(GameError, match=words):
        random_profile(tree, 5).hands(node, board)


@pytest.mark.parametrize(("chip", "stack", "pot", "raises"), [(0.1, 5.8, 0.8, "3x"), (0.01, 0.22, 0.09, "60%,a")])
def test_fractions_of_chips_end_all_in(chip: float, stack: float, pot: float, raises: str) -> None:
    """Sums of fractions miss the stack by a rounding error; nobody raises an opponent who is all in for that."""
    game = Subgame("QsJh2h3c", pot, stack, "AA", "KK", bets="50%,75%", raises=raises, chip=chip)
    waiting, deepest = [game.betting([(0, 1), (1, 2)])], 0.0
    while waiting:
        node = waiting.pop()
        waiting += node.children
        deepest = max(deepest, abs(node.payoff))
        if node.kind < 2 and max(game.spent(node.text)) >= stack - chip / 2:
            assert node.actions == ("fold", "call")
    assert deepest == pytest.approx(pot / 2 + stack, abs=1e-12)


def test_large_bets_are_written_in_full() -> None:
    game = dataclasses.replace(RIVER, pot=10_000_000, stack=50_000_000, bets="12.34567%")
    assert actions_after(game, "") == ("check", "bet1234567")
    assert game.spent("bet1234567 call") == (1234567, 1234567)


def test_betting_too_deep_is_refused() -> None:
    with pytest.raises(GameError, match="more than 200 actions"):
        dataclasses.replace(RIVER, stack=3000, bets="1c", raises="1c", allin_threshold=1.0).tree()


@pytest.mark.parametrize("storage", ["float64", "int16"])
def test_a_lock_holds_where_its_player_never_goes(storage: str) -> None:
    """Averages have no weight there, and integers lose what has little; the profile plays the lock all the same."""
    tree = RIVER.tree()
    solver = PublicSolver(tree, config_with("cfr+", {"storage": storage}))
    texts = {"": "check rest", "bet25 allin": "call 0.25; fold rest"}
    wanted = {}
    for text, lock in texts.items():
        node = PublicIndex(tree).node(text)
        wanted[node] = lock_rows(tree, node, 0, parse_lock(lock, tree.actions_of(node)))
        solver.lock(node, 0, wanted[node])
    solver.step(100)
    for node, rows in wanted.items():
        np.testing.assert_allclose(solver.profile().matrix(tree, node, 0), rows, atol=1e-4)


@pytest.mark.parametrize("storage", ["float64", "int16"])
def test_a_lock_where_no_hand_is_left(storage: str) -> None:
    """The ace of spades on the river leaves the only hand of a player no chance."""
    tree = dataclasses.replace(TURN, oop="AsAh").tree()
    solver = PublicSolver(tree, config_with("cfr+", {"storage": storage}))
    node = PublicIndex(tree).node("check check")
    empty = [deal for deal in range(tree.deal_low[node], tree.deal_high[node]) if tree.hands[0].count(deal) == 0]
    assert len(empty) == 2
    table = parse_lock("check rest", tree.actions_of(node))
    for deal in range(tree.deal_low[node], tree.deal_high[node]):
        solver.lock(node, deal, lock_rows(tree, node, deal, table))
    solver.step(300)
    assert solver.measure().exploitability < 0.1
    assert len(solver.profile().hands("check check", tree.deal_text[empty[0]]).weights) == 0
