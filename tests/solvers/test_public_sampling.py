"""CS, OPCS, SPCS and PCS: unbiased block by block, ordered by variance, convergent, resumable."""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.evaluation.public_walks import Opponent
from counterplay.kernels.jit import kernel
from counterplay.kernels.numba_internals import hold
from counterplay.kernels.public.piece_steps import UPDATE, Rule, Tables
from counterplay.kernels.public.public_sampling import walk_block
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.runtime.pacing import Until
from counterplay.solvers.public_sampling import (
    DRAWN_HANDS,
    PublicSamplingConfig,
    PublicSamplingSolver,
    deals,
    decks,
    drawn,
)
from counterplay.strategy.public_lookup import normalised
from counterplay.tree.public.public_tree import NO_HAND, PublicTree
from tests.bridge import board_of, infoset_entries
from tests.reference import public_sampling as reference

VARIANTS = ("cs", "opcs", "spcs", "pcs")
NO_LEARNING = Rule(1.0, 1.0, False, 1.0, 0.0, True, False, 0)

_TWO_CARDS = {"limit": True, "players": 2, "rounds": 2, "blinds": (10, 5), "raise_sizes": (10, 20),
              "max_raises": (1, 1), "suits": 2, "hole_cards": 2, "first_players": (1, 0)}  # fmt: skip
GAMES = {
    "kuhn": STANDARD["kuhn.limit.2p"],
    "leduc": STANDARD["leduc.limit.2p"],
    "two cards": GameDefinition(**_TWO_CARDS, ranks=3, board_cards=(0, 1)),  # type: ignore[arg-type]
    "flop": GameDefinition(**_TWO_CARDS, ranks=4, board_cards=(0, 3)),  # type: ignore[arg-type]
    "rhode": GameDefinition(limit=True, players=2, rounds=3, blinds=(5, 5), raise_sizes=(10, 20, 20),
                            max_raises=(1, 1, 1), suits=2, ranks=3, hole_cards=1, board_cards=(0, 1, 1)),
}  # fmt: skip


@functools.cache
def tree_of(name: str, isomorphic: bool = True) -> PublicTree:
    return build_public_tree(GAMES[name], isomorphic=isomorphic, name=name)


class Case:
    """A game with some strategy for each player, and the walks of a variant over blocks that are given."""

    def __init__(self, tree: PublicTree, variant: str, positive: bool = False) -> None:
        self.tree = tree
        self.variant = variant
        self.walker = PublicWalker(tree)
        self.decks, self.deals, self.drawn = decks(tree, variant), deals(tree, variant), drawn(tree)
        random = np.random.default_rng(3)
        self.regret = tuple(random.normal(size=entries) for entries in tree.num_entries)
        if positive:  # all actions are played
            self.regret = tuple(np.abs(regret) + 0.1 for regret in self.regret)
        self.state = np.zeros(1, np.uint64)

    def tables(self, player: int) -> Tables:
        """Regrets of the strategy, an empty average."""
        scale = self.walker.ones(player)
        entries = self.tree.num_entries[player]
        return hold(Tables(self.regret[player].copy(), scale, np.zeros(entries), scale, np.zeros(0)))

    def walk(self, player: int, own: int, opp: int, chain: tuple[int, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
        """What a walk over a block adds to regrets and average of a player."""
        tree, hands = self.tree, self.walker.hands
        follow = np.zeros(tree.num_deals, np.int32)
        for before, after in itertools.pairwise((0, *chain)):
            follow[before] = after
        mine = self.tables(player)
        walk_once(
            self.walker.nodes, hands[player], hands[1 - player], self.decks[player], self.decks[1 - player],
            self.deals, tree.pair_hands, player, own, opp, tree.hands[1 - player].root_reach, follow, mine,
            self.tables(1 - player), NO_LEARNING, self.state, self.drawn, self.walker.scratch,
        )  # fmt: skip
        return mine.regret - self.regret[player], mine.average

    def full(self, player: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """What an iteration of CFR adds."""
        mine = self.tables(player)
        self.walker.walk(player, UPDATE, mine, Opponent(self.regret[1 - player]), rule=NO_LEARNING)
        return mine.regret - self.regret[player], mine.average


@kernel
def walk_once(
    tree: Any, own: Any, opp: Any, own_deck: Any, opp_deck: Any, deals: Any, pair_hands: Any, me: Any, own_hand: Any,
    opp_hand: Any, opp_reach: Any, follow: Any, tables: Any, opp_tables: Any, rule: Any, state: Any, drawn: Any,
    scratch: Any,
) -> int:  # fmt: skip
    """``walk_block``, which only kernels call, for one player."""
    return walk_block(
        tree, own, opp, own_deck, opp_deck, deals, pair_hands, me, own_hand, opp_hand, opp_reach, follow, tables,
        opp_tables, rule, state, drawn, scratch,
    )  # fmt: skip


class Drawing(NamedTuple):
    """A block of a tree: hands as rows of the decks or -1, deals, probability."""

    own: int
    opp: int
    chain: tuple[int, ...]
    chance: float


def chains(tree: PublicTree, deal: int = 0) -> list[tuple[tuple[int, ...], float]]:
    """All ways through the deals, with the probability of drawing them without regard to hands."""
    if not tree.deal_count[deal]:
        return [((), 1.0)]
    first, count = int(tree.deal_first[deal]), int(tree.deal_count[deal])
    return [
        ((after, *rest), float(tree.deal_prob[after]) * chance)
        for after in range(first, first + count)
        for rest, chance in chains(tree, after)
    ]


def drawn_hands(case: Case, player: int) -> list[tuple[int, int]]:
    """All hands that a block can hold, own and opponent's: those that share no card."""
    draw_own, draw_opp = DRAWN_HANDS[case.variant]
    own_deck, opp_deck = case.decks[player], case.decks[1 - player]
    return [
        (x, o)
        for x in (range(len(own_deck.card)) if draw_own else [-1])
        for o in (range(len(opp_deck.card)) if draw_opp else [-1])
        if min(x, o) < 0 or not {c for c in own_deck.card[x] if c < 52} & {c for c in opp_deck.card[o] if c < 52}
    ]


def drawings(case: Case, player: int) -> list[Drawing]:
    """Every block of a variant: hands and boards, all alike where they share no card."""
    made = [
        (x, o, chain, chance)
        for x, o in drawn_hands(case, player)
        for chain, chance in chains(case.tree)
        if leaves(case, player, x, o, chain)
    ]
    total = math.fsum(chance for *_, chance in made)
    return [Drawing(x, o, chain, chance / total) for x, o, chain, chance in made]


def leaves(case: Case, player: int, x: int, o: int, chain: tuple[int, ...]) -> bool:
    """Whether deals leave hands their cards."""
    pairs = ((x, case.decks[player]), (o, case.decks[1 - player]))
    return all(hand < 0 or deck.class_at[deal, hand] != NO_HAND for deal in chain for hand, deck in pairs)


def share_of_infosets(case: Case, player: int, of: list[Drawing]) -> NDArray[np.float64]:
    """The factor of each entry between mean sampled and counterfactual regret: the probability of drawing its own hand,
    if one is drawn, times that of drawing its deal with hands to which it leaves their cards."""
    tree, hands = case.tree, case.tree.hands[player]
    all_hands = drawn_hands(case, player)
    real = len(case.decks[player].card)
    factor = np.zeros(tree.num_entries[player])
    for node, deal in tree.states_of(player):
        met = math.fsum(block.chance for block in of if deal in (0, *block.chain))
        line = [deal]
        while tree.deal_parent[line[0]] > 0:
            line.insert(0, int(tree.deal_parent[line[0]]))
        free = sum(leaves(case, player, x, o, tuple(line) if deal else ()) for x, o in all_hands)
        rows = (
            hands.multiplicity[hands.slice(deal)] / real if DRAWN_HANDS[case.variant][0] else np.ones(hands.count(deal))
        )
        share = met * len(all_hands) / free * rows
        factor[tree.entries(node, deal)] = np.tile(share, int(tree.num_children[node]))
    return factor


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("name", "isomorphic"),
    [("kuhn", True), ("leduc", True), ("leduc", False), ("two cards", True), ("two cards", False), ("rhode", True),
     pytest.param("flop", True, marks=pytest.mark.slow)],
)  # fmt: skip
def test_sampled_regrets_are_unbiased(name: str, isomorphic: bool, variant: str) -> None:
    """The mean over all blocks is the regret of CFR times a number of the information set, to 1e-12 (D-09)."""
    case = Case(tree_of(name, isomorphic), variant)
    for player in (0, 1):
        of = drawings(case, player)
        assert math.fsum(block.chance for block in of) == pytest.approx(1.0, abs=1e-12)
        mean = np.zeros(case.tree.num_entries[player])
        for block in of:
            mean += block.chance * case.walk(player, block.own, block.opp, block.chain)[0]
        full, _ = case.full(player)
        factor = share_of_infosets(case, player, of)
        assert np.abs(full).max() > 1e-3
        assert np.allclose(mean / factor, full, rtol=1e-12, atol=1e-12 * np.abs(full).max() / factor.min())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", ["kuhn", "leduc", "two cards"])
def test_averages_are_met_alike(name: str, variant: str) -> None:
    """The mean of what a block adds to the average is own reach times strategy, times a number of the infoset."""
    case = Case(tree_of(name), variant)
    for player in (0, 1):
        mean, met = np.zeros((2, case.tree.num_entries[player]))
        for block in drawings(case, player):
            _, added = case.walk(player, block.own, block.opp, block.chain)
            mean += block.chance * added
            met += block.chance * (added > 0)
        _, full = case.full(player)
        assert np.allclose(mean, met * full, rtol=1e-12, atol=1e-14)
        assert np.all(met[full > 0] > 0)


def strategy_of(tree: PublicTree, regret: tuple[NDArray[Any], ...]) -> dict[str, dict[str, float]]:
    """The strategies that regrets are matched to, by the names of the game."""
    found = {}
    for player in (0, 1):
        for name, entries in infoset_entries(tree, player).items():
            node = next(
                n for n, text in enumerate(tree.node_text) if text == name.split(":")[1] and tree.kind[n] == player
            )
            row = normalised(regret[player][entries][:, None])[:, 0]
            found[name] = dict(zip(tree.actions_of(node), row.tolist(), strict=True))
    return found


def block_of(case: Case, player: int, drawing: Drawing) -> reference.Block:
    """A block of the kernel as the reference names it."""
    own, opp = (
        None if hand < 0 else tuple(int(card) for card in deck.card[hand] if card < 52)
        for hand, deck in ((drawing.own, case.decks[player]), (drawing.opp, case.decks[1 - player]))
    )
    return own, opp, board_of(case.tree, drawing.chain[-1] if drawing.chain else 0)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", ["kuhn", "leduc", "two cards"])
def test_blocks_are_those_of_the_definition(name: str, variant: str) -> None:
    """Each block has the probability, and gives the regrets, of the definition over histories; the mean of these is
    the counterfactual regret."""
    case = Case(tree_of(name, False), variant, positive=True)
    strategy = strategy_of(case.tree, case.regret)
    every = reference.ends(GAMES[name])
    for player in (0, 1):
        of = reference.blocks(GAMES[name], variant, player)
        sampled = reference.sampled_values(every, of, player, strategy)
        whole = reference.sampled_values(every, {(None, None, ()): 1.0}, player, strategy) if name == "kuhn" else None
        entries = infoset_entries(case.tree, player)
        ours: dict[str, list[float]] = defaultdict(list)
        theirs: dict[str, list[float]] = defaultdict(list)
        mean: dict[str, Any] = defaultdict(float)
        for drawing in drawings(case, player):
            block = block_of(case, player, drawing)
            assert drawing.chance == pytest.approx(of[block], rel=1e-12)
            made, _ = case.walk(player, drawing.own, drawing.opp, drawing.chain)
            wanted = reference.regrets(sampled[block], strategy)
            for infoset, where in entries.items():
                ours[infoset] += made[where].tolist()
                theirs[infoset] += wanted.get(infoset, np.zeros(len(where))).tolist()
                mean[infoset] += of[block] * wanted.get(infoset, np.zeros(len(where)))
        for infoset in entries:
            a, b = np.array(ours[infoset]), np.array(theirs[infoset])
            scale = np.abs(b).sum() / np.abs(a).sum()
            assert np.allclose(a * scale, b, rtol=1e-12, atol=1e-12 * np.abs(b).max())
        if whole is not None:
            exact = reference.regrets(whole[None, None, ()], strategy)
            assert all(np.allclose(mean[infoset], exact[infoset], atol=1e-14) for infoset in entries)


def estimates(name: str, variant: str, player: int) -> dict[Drawing, NDArray[np.float64]]:
    """Estimates of the regrets of CFR, block by block."""
    case = Case(tree_of(name, False), variant, positive=True)
    of = drawings(case, player)
    factor = share_of_infosets(case, player, of)
    return {block: case.walk(player, block.own, block.opp, block.chain)[0] / factor for block in of}


def conditional(
    found: dict[Drawing, NDArray[np.float64]], own: bool, opp: bool
) -> dict[tuple[int, int, tuple[int, ...]], NDArray[np.float64]]:
    """The mean of estimates given the public events, and given hands where they are kept."""
    total: dict[Any, Any] = defaultdict(float)
    weight: dict[Any, float] = defaultdict(float)
    for block, estimate in found.items():
        key = (block.own if own else -1, block.opp if opp else -1, block.chain)
        total[key] = total[key] + block.chance * estimate
        weight[key] += block.chance
    return {key: total[key] / weight[key] for key in total}


def variance(found: dict[Drawing, NDArray[np.float64]]) -> NDArray[np.float64]:
    mean = sum(block.chance * estimate for block, estimate in found.items())
    return np.asarray(sum(block.chance * (estimate - mean) ** 2 for block, estimate in found.items()))


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["leduc", "two cards"])
def test_fewer_drawn_events_are_conditional_means(name: str, player: int) -> None:
    """PCS is the mean of SPCS and of OPCS given the public events, and these are means of CS, where nothing is dealt
    any more; before, hands and deals depend on each other and the means differ.  Variances are ordered at every
    information set; those of SPCS and OPCS are not (D-10)."""
    tree = tree_of(name, False)
    found = {variant: estimates(name, variant, player) for variant in VARIANTS}
    last = np.zeros(tree.num_entries[player], np.bool_)
    for node, deal in tree.states_of(player):
        last[tree.entries(node, deal)] = tree.deal_count[deal] == 0
    for finer, coarser in (("cs", "opcs"), ("cs", "spcs"), ("opcs", "pcs"), ("spcs", "pcs")):
        means = conditional(found[finer], *DRAWN_HANDS[coarser])
        for block, estimate in found[coarser].items():
            mean = means[block.own, block.opp, block.chain]
            assert np.allclose(estimate[last], mean[last], rtol=1e-10, atol=1e-12 * np.abs(estimate).max())
    spread = {variant: variance(of) for variant, of in found.items()}
    room = 1e-9 * spread["cs"].max()
    assert np.all(spread["pcs"] <= np.minimum(spread["spcs"], spread["opcs"]) + room)
    assert np.all(np.maximum(spread["spcs"], spread["opcs"]) <= spread["cs"] + room)
    assert np.any(spread["spcs"] < spread["opcs"] - room)
    assert np.any(spread["opcs"] < spread["spcs"] - room)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", ["kuhn", "leduc", "two cards"])
def test_blocks_reach_little(name: str, variant: str) -> None:
    """For each block and list of own actions, squared reaches of the others sum to at most 1 (D-11).

    With cards, SPCS draws a board without regard to the hand that it does not draw, so that the chance of a deal over
    the probability of drawing it is more than 1, and the lemma holds up to the square of this.
    """
    most = float(deals(tree_of(name, False), variant).lift.max() ** 2) if variant == "spcs" else 1.0
    case = Case(tree_of(name, False), variant, positive=True)
    strategy = strategy_of(case.tree, case.regret)
    every = reference.ends(GAMES[name])
    for player in (0, 1):
        own_actions = {
            infoset: tuple(action for who, _, action in end.path[:step] if who == player)
            for end in every
            for step, (_, infoset, _) in enumerate(end.path)
        }
        of = reference.blocks(GAMES[name], variant, player)
        for values in reference.sampled_values(every, of, player, strategy, paid=False).values():
            total: dict[tuple[str, ...], float] = defaultdict(float)
            for infoset, by_action in values.items():
                here = sum(strategy[infoset][action] * value for action, value in by_action.items())
                total[own_actions[infoset]] += here**2
            assert max(total.values()) <= most + 1e-9


def test_board_first_needs_the_ratio() -> None:
    """Without the ratio of what is dealt and what is drawn, values before a link are not those of CFR."""
    case = Case(tree_of("leduc"), "pcs")
    full, _ = case.full(0)
    of = drawings(case, 0)
    before = case.tree.entries(0, 0)
    assert np.allclose(sum(b.chance * case.walk(0, -1, -1, b.chain)[0] for b in of)[before], full[before])
    case.deals = case.deals._replace(lift=np.ones_like(case.deals.lift))
    assert not np.allclose(
        sum(b.chance * case.walk(0, -1, -1, b.chain)[0] for b in of)[before], full[before], rtol=0.05
    )


def test_without_public_events_pcs_is_cfr() -> None:
    """Iterates agree with those of CFR that takes turns, to the last bit (D-10)."""
    tree = tree_of("kuhn")
    solver = PublicSamplingSolver(tree, "pcs")
    walker = PublicWalker(tree)
    plain = [Case(tree, "pcs").tables(player) for player in (0, 1)]
    for tables in plain:
        tables.regret[:] = 0.0
    rule = solver._rule
    for _ in range(200):
        solver.step()
        for player in (0, 1):
            walker.walk(player, UPDATE, plain[player], Opponent(plain[1 - player].regret), rule=rule)
        for player in (0, 1):
            assert np.array_equal(solver.player_tables[player].regret, plain[player].regret)
            assert np.array_equal(solver.player_tables[player].average, plain[player].average)


@pytest.mark.parametrize(
    ("name", "variant", "iterations", "reached"),
    [("kuhn", "cs", 100_000, 0.004), ("kuhn", "opcs", 100_000, 0.004), ("kuhn", "spcs", 100_000, 0.003),
     ("kuhn", "pcs", 10_000, 0.001), ("leduc", "cs", 20_000, 0.3), ("leduc", "opcs", 20_000, 0.2),
     ("leduc", "spcs", 20_000, 0.25), ("leduc", "pcs", 10_000, 0.06), ("rhode", "pcs", 5_000, 1.0)],
)  # fmt: skip
def test_averages_approach_equilibrium(name: str, variant: str, iterations: int, reached: float) -> None:
    solver = PublicSamplingSolver(tree_of(name), PublicSamplingConfig(variant, seed=5))  # type: ignore[arg-type]
    solver.step(iterations)
    assert solver.measure().exploitability < reached


@pytest.mark.parametrize("variant", VARIANTS)
def test_resumed_runs_have_the_same_bits(variant: str, tmp_path: Path) -> None:
    tree = tree_of("leduc")
    straight = PublicSamplingSolver(tree, PublicSamplingConfig(variant, seed=9))  # type: ignore[arg-type]
    straight.run(Until(iterations=300))
    halting = PublicSamplingSolver(tree, PublicSamplingConfig(variant, seed=9))  # type: ignore[arg-type]
    halting.run(Until(iterations=100))
    halting.save(tmp_path / "half")
    resumed = PublicSamplingSolver.resume(tmp_path / "half", tree)
    resumed.run(Until(iterations=300))
    for name, table in straight.tables().items():
        assert np.array_equal(table, resumed.tables()[name]), name
    assert (straight.iterations, straight.nodes) == (resumed.iterations, resumed.nodes) == (300, straight.nodes)


def test_threads_share_the_iterations() -> None:
    solver = PublicSamplingSolver(tree_of("leduc"), PublicSamplingConfig("pcs", seed=2, threads=2))
    solver.step(4000)
    assert solver.iterations == 4000
    assert np.all(solver.counters[:, 0] > 0)
    assert solver.measure().exploitability < 0.15


def test_settings_are_checked() -> None:
    for changes in ({"sampling": "all"}, {"threads": 0}, {"seed": -1}, {"storage": "int16"}, {"regret_floor": 1}):
        with pytest.raises(SolverError):
            PublicSamplingConfig(**changes)  # type: ignore[arg-type]
    solver = PublicSamplingSolver(tree_of("kuhn"), PublicSamplingConfig(profile="last"))
    with pytest.raises(SolverError, match="keeps no average"):
        solver.strategy("average")
