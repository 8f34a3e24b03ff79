"""Abstract games: layout, deals, the kernels against the twins, and small ones as trees of histories."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.abstraction.cards import BucketTable, CardAbstraction
from counterplay.abstraction.cards.bucket_games import bucket_abstraction
from counterplay.analysis.estimators import counterfactual_values
from counterplay.errors import SolverError
from counterplay.kernels.history.chance_sampling import estimate_chance
from counterplay.kernels.history.mccfr import Stack, estimate_sampled
from counterplay.kernels.history.pure_cfr import estimate_pure
from counterplay.kernels.walks import random_state
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import rank_cards
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.betting import build_betting_tree, count_betting
from counterplay.poker.buckets.bucket_counts import count_bucket_game
from counterplay.poker.buckets.bucket_game import BucketGame, walk_order, weak_orders
from counterplay.poker.buckets.deal_sampler import DealSampler, order_codes
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.poker_game import PokerFile
from counterplay.poker.rules import Betting
from counterplay.solvers import MCCFR_PRESETS, CfrSolver
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.mccfr import mccfr_config, payoff_units
from counterplay.solvers.sampling_schemes import SCHEMES, betting_scheme
from counterplay.strategy.tabular import TabularStrategy
from tests.reference.bucket_game import BucketGame as PlainBucketGame
from tests.reference.bucket_game import drawn_deal
from tests.reference.mccfr import Mccfr, Stream

LEDUC = STANDARD["leduc.limit.2p"]
THREE = GameDefinition(
    limit=True, players=3, rounds=2, blinds=(1, 2, 0), raise_sizes=(2, 4), max_raises=(1, 1), suits=2, ranks=3,
    hole_cards=1, board_cards=(0, 1), first_players=(2, 0),
)  # fmt: skip
NO_LIMIT = GameDefinition(
    limit=False, players=2, rounds=2, blinds=(2, 1), stacks=(7, 7), suits=2, ranks=3, hole_cards=1, board_cards=(0, 1),
    first_players=(1, 0),
)  # fmt: skip
TWO_HOLES = GameDefinition(
    limit=True, players=2, rounds=2, blinds=(2, 1), raise_sizes=(2, 2), max_raises=(1, 1), suits=2, ranks=4,
    hole_cards=2, board_cards=(0, 3), first_players=(1, 0),
)  # fmt: skip
THREE_CARDS = GameDefinition(
    limit=True, players=2, rounds=2, blinds=(2, 1), raise_sizes=(2, 2), max_raises=(1, 1), suits=2, ranks=4,
    hole_cards=1, board_cards=(0, 2), first_players=(1, 0), three_card_hands=True,
)  # fmt: skip
GAMES = {
    "leduc": LEDUC,
    "three players": THREE,
    "no limit": NO_LIMIT,
    "two hole cards": TWO_HOLES,
    "hands of three cards": THREE_CARDS,
}
every_game = pytest.mark.parametrize("game", GAMES)


def coarse(turn: int, seen: tuple[tuple[int, ...], ...]) -> int:
    """Two buckets a round by the ranks alone; earlier ones are forgotten."""
    return sum(card // 4 for cards in seen for card in cards) % 2


def remembered(turn: int, seen: tuple[tuple[int, ...], ...]) -> int:
    """The same, all rounds remembered."""
    found = 0
    for number in range(turn + 1):
        found = 2 * found + coarse(number, seen[: number + 1])
    return found


def table_of(game: GameDefinition, turn: int) -> BucketTable:
    """The table of ``coarse``."""
    shape = (game.hole_cards, *game.board_cards[1 : turn + 1])
    indexer = HandIndexer(shape, game.ranks, game.suits)
    rows = []
    for index in range(indexer.size()):
        cards = indexer.hand(index)
        ends = [0, *itertools.accumulate(shape)]
        rows.append(coarse(turn, tuple(cards[a:b] for a, b in itertools.pairwise(ends))))
    return BucketTable(shape, 2, np.array(rows, np.uint8))


def forgetting(game: GameDefinition) -> tuple[BucketTable, ...]:
    return tuple(table_of(game, turn) for turn in range(game.rounds))


def remembering(game: GameDefinition) -> tuple[BucketTable, ...]:
    rows = [table_of(game, 0)]
    for turn in range(1, game.rounds):
        cuts = 2 * np.arange(2**turn)[:, None] + np.arange(2)
        plain = table_of(game, turn)
        rows.append(dataclasses.replace(plain, count=2 ** (turn + 1), cuts=cuts.astype(np.int32)))
    return tuple(rows)


def lossless(game: GameDefinition) -> tuple[BucketTable, ...]:
    shape = (game.hole_cards, *game.board_cards[1:])
    return CardAbstraction.lossless((game.ranks, game.suits), shape).rounds


def mixed(game: GameDefinition) -> list[tuple[BucketTable, ...]]:
    """The first player remembers, the others forget."""
    return [remembering(game), *[forgetting(game)] * (game.players - 1)]


def twin_rules(game: GameDefinition) -> tuple[Any, ...]:
    return (remembered, *[coarse] * (game.players - 1))


def all_deals(game: GameDefinition) -> np.ndarray:
    """Every deal, hands and boards without an order, each as likely as the others."""

    def rest(sizes: list[int], left: frozenset[int]) -> Iterator[tuple[int, ...]]:
        if not sizes:
            yield ()
            return
        for cards in itertools.combinations(sorted(left), sizes[0]):
            for others in rest(sizes[1:], left - set(cards)):
                yield (*cards, *others)

    sizes = [game.hole_cards] * game.players + [count for count in game.board_cards if count]
    return np.array(list(rest(sizes, frozenset(game.deck))), np.uint8)


# ---------------------------------------------------------------------------------------------- layout


@every_game
def test_every_information_set_has_entries_of_its_own(game: str) -> None:
    abstract = BucketGame.build(GAMES[game], mixed(GAMES[game]))
    taken = np.zeros(abstract.num_entries, int)
    sets = 0
    for node in np.flatnonzero(abstract.tree.num_children > 0).tolist():
        player, turn = int(abstract.tree.player[node]), int(abstract.tree.round[node])
        for bucket in range(abstract.buckets[player][turn].count):
            first = abstract.entry(node, bucket)
            taken[first : first + int(abstract.tree.num_children[node])] += 1
            sets += 1
    assert (taken == 1).all()
    assert sets == abstract.num_infosets
    bounds = np.concatenate([first + offset[:-1] for first, _, offset in abstract.blocks()])
    assert len(bounds) == sets
    size = count_bucket_game(GAMES[game], [[table.count for table in tables] for tables in abstract.buckets])
    assert (size.infosets, size.entries) == (abstract.num_infosets, abstract.num_entries)


@every_game
def test_what_is_won_at_each_end(game: str) -> None:
    """Each end, with each order of the hands, pays what the rules of the betting say."""
    abstract = BucketGame.build(GAMES[game], forgetting(GAMES[game]))
    tree = abstract.tree
    showdown = tree.showdowns()
    for node in np.flatnonzero(tree.num_children == 0).tolist():
        betting = Betting.after(GAMES[game], tree.text(node))
        row = int(abstract.node_offset[node])
        if not showdown[node]:
            assert abstract.utility[row].tolist() == [float(value) for value in betting.values()]
            continue
        for number, order in enumerate(weak_orders(abstract.players)):
            assert abstract.utility[row + number].tolist() == [float(value) for value in betting.values(order)]


@pytest.mark.parametrize(("players", "orders"), [(2, 3), (3, 13), (4, 75), (5, 541)])
def test_orders_of_hands(players: int, orders: int) -> None:
    assert len(weak_orders(players)) == orders  # ordered Bell numbers
    assert sorted(code for code in order_codes(players).tolist() if code >= 0) == list(range(orders))


@every_game
def test_walk_order_keeps_subtrees_together(game: str) -> None:
    tree = build_betting_tree(GAMES[game])
    place = walk_order(tree)
    assert sorted(place.tolist()) == list(range(len(tree)))
    for node in np.flatnonzero(tree.num_children > 0).tolist():
        children = [int(place[child]) for child in tree.children(node)]
        assert children == list(range(children[0], children[0] + len(children)))
        assert children[0] > place[node]


def test_sizes_of_published_abstractions() -> None:
    """2-NL hold'em with five nested buckets (Gibson et al. 2012), and limit hold'em's betting (Johanson 2016)."""
    for stack, infosets in ((4, 120), (10, 7_800), (16, 112_920), (24, 1_968_640), (36, 67_233_560)):
        rules = cp.make(f"holdem_2_nolimit(stack={stack})").definition  # type: ignore[attr-defined]
        assert count_bucket_game(rules, [(5, 25)] * 2).infosets == infosets
    limit = count_bucket_game(STANDARD["holdem.limit.2p.reverse_blinds"], [(5, 25, 125, 625)] * 2)
    assert limit.infosets == 3_624_290
    three = count_betting(STANDARD["holdem.limit.3p"])
    assert sum(three.decisions) == sum(sum(rows) for rows in three.player_decisions) == 9_711_806


# ---------------------------------------------------------------------------------------------- deals


@every_game
def test_deals_are_dealt_as_the_twin_does(game: str) -> None:
    rules = GAMES[game]
    abstract = BucketGame.build(rules, mixed(rules))
    sampler = DealSampler(abstract, 64)
    stream = Stream(11)
    state = random_state(11, 1)[0]
    shift = sampler.deal(state, 64).copy()
    assert int(state[0]) != int(random_state(11, 1)[0, 0])
    for row in shift:
        cards = drawn_deal(rules, stream)
        holes = [cards[rules.hole_cards * p : rules.hole_cards * (p + 1)] for p in range(rules.players)]
        board = cards[rules.hole_cards * rules.players :]
        for player, rule in enumerate(twin_rules(rules)):
            for turn in range(rules.rounds):
                ends = [0, *rules.board_ends]
                seen = (tuple(holes[player]), *[tuple(board[ends[k] : ends[k + 1]]) for k in range(1, turn + 1)])
                slot = turn * rules.players + player
                bucket = rule(turn, seen)
                nodes = np.flatnonzero((abstract.tree.player == player) & (abstract.tree.round == turn))
                assert abstract.bucket(int(nodes[0]), holes[player], board) == bucket
                assert row[slot] == abstract.slot_start[slot] + bucket * abstract.slot_width[slot]
        ranks = [rank_cards(rules, (*hole, *board)) for hole in holes]
        beaten = tuple(sum(other < own for other in ranks) for own in ranks)
        assert weak_orders(rules.players)[row[abstract.showdown_slot]] == beaten
        assert row[abstract.fold_slot] == 0
    assert int(state[0]) == stream.state


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_deals_do_not_depend_on_how_many_are_made_at_a_time(seed: int, parts: list[int]) -> None:
    abstract = BucketGame.build(THREE, mixed(THREE))
    one, other = DealSampler(abstract, 64), DealSampler(abstract, 64)
    whole = one.deal(random_state(seed, 1)[0], sum(parts)).copy()
    state = random_state(seed, 1)[0]
    pieces = [other.deal(state, part).copy() for part in parts]
    assert np.array_equal(whole, np.concatenate(pieces))


def test_every_card_is_dealt_alike() -> None:
    abstract = BucketGame.build(TWO_HOLES, forgetting(TWO_HOLES))
    sampler = DealSampler(abstract, 40_000)
    sampler.deal(random_state(0, 1)[0], 40_000)
    for place in range(TWO_HOLES.cards_dealt):
        counts = np.bincount(sampler._dealt[:, place], minlength=52)[sorted(TWO_HOLES.deck)]
        assert np.abs(counts - 5000).max() < 6 * math.sqrt(5000)
    assert (np.sort(sampler._dealt, axis=1)[:, 1:] > np.sort(sampler._dealt, axis=1)[:, :-1]).all()


# ---------------------------------------------------------------------------------------------- twins


def table_rows(abstract: BucketGame, table: Any) -> np.ndarray:
    """A twin's table in the order of the entries; buckets that no hand falls into stay 0."""
    found = np.zeros(abstract.num_entries)
    for (_, name), row in table.items():
        bucket, _, betting = str(name).partition(":")
        node = abstract.tree.find(Betting.after(abstract.definition, betting))
        first = abstract.entry(node, int(bucket))
        found[first : first + len(row)] = list(row.values())
    return found


def in_order(game: GameDefinition, seed: int, average_walks: bool) -> Iterator[list[int]]:
    """The deals that the walks of a twin start from."""
    stream = Stream(seed)
    while True:
        deals = [drawn_deal(game, stream) for _ in range(game.players)]
        yield from deals
        if average_walks:
            yield from (deals[(player + 1) % game.players] for player in range(game.players))


@pytest.mark.parametrize("algorithm", MCCFR_PRESETS)
@every_game
def test_kernels_walk_as_the_twin_does(game: str, algorithm: str) -> None:
    """The walks of the twin of the sampling algorithms, on states of the real game whose cards lie already."""
    rules = GAMES[game]
    abstract = BucketGame.build(rules, mixed(rules))
    scheme = {"scheme": "limit-poker"} if algorithm in ("probing", "mccfr-scheme") else {}
    units = payoff_units(abstract, None) if algorithm == "pure-cfr" else 1
    changes = {**scheme, "average_walks": 1.0, "seed": 5}
    solver = BucketSolver(abstract, mccfr_config(algorithm, changes), algorithm)
    solver.step(20)
    inner = int(np.random.SeedSequence(5).spawn(1)[0].generate_state(1, np.uint64)[0])
    extra = rules.players != 2 and algorithm != "chance-sampling"
    twin_game = PlainBucketGame(rules, twin_rules(rules))
    slow = Mccfr(
        twin_game, MCCFR_PRESETS[algorithm].sampling, Stream(5), average_walks=1.0,
        **({"scheme": SCHEMES["limit-poker"]} if scheme else {}),
    )  # fmt: skip
    slow.game = dataclasses.replace(twin_game, deals=in_order(rules, inner, extra))
    slow.iterate(20)
    np.testing.assert_allclose(solver.regret, units * table_rows(abstract, slow.regret), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(solver.average, table_rows(abstract, slow.average), rtol=1e-9, atol=1e-9)
    assert solver.nodes == slow.nodes


@functools.cache
def real_tree(game: GameDefinition) -> cp.GameTree:
    return cp.compile_game(PokerFile(game, "real"))


def compiled(abstract: BucketGame) -> tuple[cp.GameTree, cp.GameTree]:
    """The real game and the abstract one as trees of histories."""
    real = real_tree(abstract.definition)
    return real, bucket_abstraction(real, abstract).apply(real)


def entries_of(abstract: BucketGame, tree: cp.GameTree) -> np.ndarray:
    """The entry of the tables for each entry of the abstract tree."""
    found = []
    for infoset, name in enumerate(tree.infoset_names):
        bucket, _, betting = name.partition(":")
        first = abstract.entry(abstract.tree.find(Betting.after(abstract.definition, betting)), int(bucket))
        found += [first + action for action in range(len(tree.actions_of(infoset)))]
    return np.array(found)


@functools.cache
def both_forms(game: str, buckets: Any) -> tuple[BucketGame, cp.GameTree, np.ndarray]:
    """A game in buckets, its tree of histories, and the entry of the tables for each entry of the tree."""
    abstract = BucketGame.build(GAMES[game], buckets(GAMES[game]))
    _, tree = compiled(abstract)
    return abstract, tree, entries_of(abstract, tree)


def walk_all_deals(
    solver: BucketSolver, strategy: np.ndarray, player: int, deals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the sampled values and regrets of all entries over all deals."""
    abstract = solver.game
    shift = DealSampler(abstract, len(deals)).shifts(deals)
    entries = np.arange(abstract.num_entries)
    values, regrets = np.zeros((2, len(deals), len(entries)))
    state, none = random_state(0, 1)[0], np.zeros(0)
    one, other = np.zeros((2, len(entries)))
    scratch, kind = solver._scratch, solver.config.sampling
    if kind == "pure":
        whole = np.zeros(len(entries), np.int64)
        estimate_pure(
            solver.walks, shift, player, strategy, entries, values, regrets, state, np.zeros(3, np.int64), scratch[0],
            scratch[1], one, whole,
        )  # fmt: skip
    elif kind == "chance":
        estimate_chance(
            solver.walks, shift, player, strategy, entries, values, regrets, state, Stack(*scratch[:5]), one, other,
            none, *scratch[5:],
        )  # fmt: skip
    else:
        estimate_sampled(
            solver.walks, shift, solver.sampling._replace(averaging=False), False, player, strategy, solver.average,
            solver.scheme, entries, values, regrets, state, Stack(*scratch), one, other,
        )  # fmt: skip
    return values.mean(axis=0), regrets.mean(axis=0)


@pytest.mark.parametrize("buckets", [lossless, forgetting, mixed], ids=["lossless", "imperfect recall", "asymmetric"])
@every_game
def test_values_over_all_deals_are_those_of_the_history_tree(game: str, buckets: Any) -> None:
    """Chance sampling at a mixed profile: the mean over all deals is the counterfactual value, exactly."""
    rules = GAMES[game]
    abstract = BucketGame.build(rules, buckets(rules))
    _, tree = compiled(abstract)
    where = entries_of(abstract, tree)
    if buckets is lossless:
        assert tree.num_infosets == abstract.num_infosets
    profile = TabularStrategy.random(tree, 3).table
    strategy = np.zeros(abstract.num_entries)
    strategy[where] = profile
    solver = BucketSolver(abstract, "chance-sampling")
    for player in range(rules.players):
        values, _ = walk_all_deals(solver, strategy, player, all_deals(rules))
        np.testing.assert_allclose(values[where], counterfactual_values(tree, profile, player), atol=1e-10)


@pytest.mark.parametrize("algorithm", ["external-sampling", "mccfr-scheme", "probing", "pure-cfr"])
@every_game
def test_at_a_pure_profile_nothing_is_left_to_chance_but_the_deal(game: str, algorithm: str) -> None:
    rules = GAMES[game]
    abstract, tree, where = both_forms(game, remembering)
    draw = np.random.default_rng(8)
    profile = np.zeros(tree.num_entries)
    profile[[draw.integers(low, high) for low, high in itertools.pairwise(tree.infoset_offset)]] = 1.0
    strategy = np.zeros(abstract.num_entries)
    strategy[where] = profile
    settings = {"scheme": "all"} if algorithm in ("mccfr-scheme", "probing") else {}
    solver = BucketSolver(abstract, mccfr_config(algorithm, settings))
    units = payoff_units(abstract, None) if algorithm == "pure-cfr" else 1
    for player in range(rules.players):
        values, regrets = walk_all_deals(solver, strategy, player, all_deals(rules))
        exact = counterfactual_values(tree, profile, player)
        np.testing.assert_allclose(values[where] / units, exact, atol=1e-10)
        sizes = np.diff(tree.infoset_offset)
        totals = np.add.reduceat(exact * profile, tree.infoset_offset[:-1])
        np.testing.assert_allclose(regrets[where] / units, exact - np.repeat(totals, sizes), atol=1e-10)


def test_cfr_by_deals_is_cfr_on_the_tree() -> None:
    """Walks over all deals in every iteration are vanilla CFR: the same profiles as on the tree of histories."""
    abstract = BucketGame.build(LEDUC, forgetting(LEDUC))
    _, tree = compiled(abstract)
    where = entries_of(abstract, tree)
    solver = BucketSolver(abstract, mccfr_config("chance-sampling", {"prune": False, "profile": "last"}))
    other = CfrSolver(tree, "cfr")
    deals = all_deals(LEDUC)
    for _ in range(15):
        steps = [walk_all_deals(solver, solver.strategy(), player, deals)[1] for player in range(2)]
        solver.regret += sum(steps)
        other.step()
        np.testing.assert_allclose(solver.strategy()[where], other.strategy("last"), atol=1e-9)


def test_schemes_on_betting_trees() -> None:
    """Fold and raise always, call and check with probability 1/2 (Gibson 2014, section 5.3.2), in all buckets."""
    abstract = BucketGame.build(LEDUC, mixed(LEDUC))
    chances = betting_scheme(abstract, "auto")
    own = betting_scheme(abstract, lambda player, betting, actions: [0.25 + 0.5 * player] * len(actions))
    for node in np.flatnonzero(abstract.tree.num_children > 0).tolist():
        player, turn = int(abstract.tree.player[node]), int(abstract.tree.round[node])
        for bucket in range(abstract.buckets[player][turn].count):
            first = abstract.entry(node, bucket)
            row = slice(first, first + int(abstract.tree.num_children[node]))
            assert chances[row].tolist() == [0.5 if action == "c" else 1.0 for action in abstract.tree.actions(node)]
            assert set(own[row].tolist()) == {0.25 + 0.5 * player}
    assert np.array_equal(betting_scheme(abstract, chances), chances)
    with pytest.raises(SolverError, match="unknown scheme"):
        betting_scheme(abstract, "none")
    with pytest.raises(SolverError, match="above 0"):
        betting_scheme(abstract, 0.0 * chances)
    with pytest.raises(SolverError, match="numbers"):
        betting_scheme(abstract, chances[1:])
    with pytest.raises(SolverError, match="gives 1 probabilities"):
        betting_scheme(abstract, lambda player, betting, actions: [1.0])


# ---------------------------------------------------------------------------------------------- convergence
