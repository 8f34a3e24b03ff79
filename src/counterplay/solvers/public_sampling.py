"""Chance sampling over the public tree: CS, OPCS, SPCS and PCS.

Johanson 2016, section 3.3 (Johanson et al. 2012); Gibson 2014, section 3.5.2.  An iteration is one walk for each player
in turn.  Public events are always sampled; private ones are sampled or walked all at once, as vectors over hands:

=========  =================  ==================  ====================
algorithm  own hand           opponent's hand     cost of a terminal
=========  =================  ==================  ====================
``cs``     sampled            sampled             O(1)
``opcs``   all                sampled             O(hands)
``spcs``   sampled            all                 O(hands)
``pcs``    all                all                 O(hands)
=========  =================  ==================  ====================

Blocks and weights.  The four are members of Monte Carlo CFR: the regrets that a walk adds are, averaged over its
blocks, the counterfactual regrets times a constant of the information set (the probability that the walk has its own
hand and its deal), which regret matching cancels.  Hands are sampled with their probability; public cards from all
deals that are compatible with the sampled hands.  PCS thus samples a board from the whole deck, where chance would deal
from the cards that two hands leave.  Hands that conflict with the board are not removed from the vectors before it is
dealt: instead, the values that a link passes up are multiplied by the ratio of the two probabilities (for a flop,
C(52,3)/C(48,3)), the same for every deal.  A value before the link is then unbiased whatever else is added to it there,
such as the value of a fold; without that ratio, folds would count too much.  ``lift`` below is this ratio for each of
the four.

The average adds, at each own decision of a walk, own reach times strategy without a weight: an information set is
visited with a probability that does not depend on the strategies.  Several threads update the same tables without
locks: some updates are lost, and results differ from run to run.

Departures: where hands are not cards they are sampled independently, with weights (see
``kernels.public.public_sampling``).  Not in the thesis: ``regret_floor`` and ``linear_average``, as in CFR+.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.evaluation.public_walks import scratch_bytes, walk_scratch
from counterplay.kernels.numba_internals import hold
from counterplay.kernels.public.piece_steps import Rule, Tables
from counterplay.kernels.public.public_sampling import Deals, Deck, Drawn, iterate_blocks
from counterplay.kernels.walks import alias_table, random_state
from counterplay.poker.postflop import SUBGAME
from counterplay.runtime.threads import ThreadPool, spaced_rows, spaced_zeros
from counterplay.solvers.cfr import ROUNDING, check_storage
from counterplay.solvers.public_tree_tables import PublicTreeTables, table_type
from counterplay.solvers.settings import Seed, Settings, Threads
from counterplay.solvers.threaded_solver import ThreadedSolver
from counterplay.tree.public.public_tree import LINK, NO_HAND, SHARED, PublicTree

SamplingKind = Literal["cs", "opcs", "spcs", "pcs"]

DRAWN_HANDS: Mapping[str, tuple[bool, bool]] = {
    "cs": (True, True),
    "opcs": (False, True),
    "spcs": (True, False),
    "pcs": (False, False),
}
"""Whether the own hand is sampled, and the opponent's."""


@dataclasses.dataclass(frozen=True)
class PublicSamplingConfig(Settings):
    """One of the four samplers of a public tree.

    * ``sampling``: what is sampled besides public events: both hands, the opponent's, the own hand, or none
    * ``profile``: which profile the solver returns.  With ``"last"`` no average is kept, which saves its table
    * ``regret_floor``: negative regrets become 0, as in CFR+; not in the thesis
    * ``linear_average``: iteration t has weight t in the average, as in CFR+; not in the thesis
    * ``storage``: type of the regrets; auto is float64 for small games and float32 for large ones.  Averages are
      float64: the additions of walks would be lost in a float32 after some millions of them
    * ``seed``: of the random numbers
    * ``threads``: number of threads; one gives the same bits every time
    """

    sampling: SamplingKind = "pcs"
    profile: Literal["average", "last"] = "average"
    regret_floor: bool = False
    linear_average: bool = False
    storage: Literal["auto", "float64", "float32"] = "auto"
    seed: Seed = 0
    threads: Threads = 1


class PublicSamplingSolver(ThreadedSolver, PublicTreeTables):
    """CS, OPCS, SPCS or PCS on a public tree, two players."""

    kind = "public-sampling"
    config_class = PublicSamplingConfig
    presets: ClassVar = {name: PublicSamplingConfig(name) for name in get_args(SamplingKind)}
    default_preset = "pcs"

    def _check_game(self) -> None:
        tree = self.tree
        if not tree.zero_sum:
            if tree.name.startswith(SUBGAME):
                raise SolverError(f"{self.algorithm} needs utilities that sum to 0; with rake, use dcfr, cfr+ or cfr")
            raise SolverError(
                f"{self.algorithm} needs utilities that sum to 0, which those of {tree.name} do not; use cfr+ on "
                "its public tree, or a sampling algorithm on its histories or states"
            )
        check_storage(tree.name, tree.scale, table_type(sum(tree.num_entries), self.config.storage).name)

    def _allocate(self) -> None:
        tree = self.tree
        self.walker = PublicWalker(tree)
        self.player_tables = (self._empty(0), self._empty(1))
        self.decks = decks(tree, self.config.sampling)
        self.deals = deals(tree, self.config.sampling)
        self.random_state = spaced_rows(random_state(self.config.seed, self.config.threads))
        self.counters = spaced_rows(np.zeros((self.config.threads, 2), np.int64))
        self._pool = ThreadPool(self.config.threads)
        self._rule = Rule(1.0, 1.0, self.config.regret_floor, 1.0, ROUNDING * tree.scale, True, False, 0)
        self._follow = spaced_rows(np.zeros((self.config.threads, tree.num_deals), np.int32))
        self._drawn = [drawn(tree) for _ in range(self.config.threads)]
        scalars = self.config.sampling == "cs"  # walks that carry no vectors stay in the cache
        self._scratch = [walk_scratch(tree, 1 if scalars else None) for _ in range(self.config.threads)]

    def _empty(self, player: int) -> Tables:
        entries, kind = self.tree.num_entries[player], table_type(sum(self.tree.num_entries), self.config.storage)
        averaged, none = self.config.keeps_average, np.zeros(0, kind)
        scale = self.walker.ones(player)
        average = np.zeros(entries if averaged else 0)
        return hold(Tables(np.zeros(entries, kind), scale, average, scale, none))

    @classmethod
    def memory_bytes(cls, tree: PublicTree, config: PublicSamplingConfig | str | None = None) -> int:
        """Bytes of all tables that a solver will allocate, and of the vectors of its walks."""
        settings: PublicSamplingConfig = cls.settings_of(config)
        size = sum(tree.num_entries) * (
            8 * settings.keeps_average + table_type(sum(tree.num_entries), settings.storage).itemsize
        )
        for hands, is_drawn in zip(tree.hands, DRAWN_HANDS[settings.sampling], strict=True):
            size += 2 * tree.num_deals * int(hands.real_start[1]) * is_drawn
        return size + 16 * tree.num_deals + scratch_bytes(tree, 1 + settings.threads)

    def _advance(self, thread: int, iterations: int, start: int) -> None:
        tree, walker = self.tree, self.walker
        iterate_blocks(
            walker.nodes, *walker.hands, *self.decks, self.deals, tree.pair_hands, *DRAWN_HANDS[self.config.sampling],
            tree.hands[0].root_reach, tree.hands[1].root_reach, int(iterations), start, self.config.linear_average,
            self._rule, *self.player_tables, self.random_state[thread], self.counters[thread], self._follow[thread],
            self._drawn[thread], self._scratch[thread],
        )  # fmt: skip

    def strategy(self, kind: Literal["average", "last"] | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weights of a profile, one table for each player: by default the one named in the configuration."""
        kind = self._profile_kind(kind)
        first, second = self.player_tables
        return (first.average, second.average) if kind == "average" else (first.regret, second.regret)

    def measure(self, kind: Literal["average", "last"] | None = None) -> Measurement:
        """Measure a profile exactly."""
        return self.walker.measure(self.strategy(kind))

    def tables(self) -> dict[str, NDArray[Any]]:
        """Regrets, averages, the state of the random numbers and the counters."""
        first, second = self.player_tables
        return {
            "regret_0": first.regret,
            "regret_1": second.regret,
            "average_0": first.average,
            "average_1": second.average,
            "random_state": self.random_state.view(np.int64),  # files have no unsigned integers
            "counters": self.counters,
        }


def deals(tree: PublicTree, sampling: str) -> Deals:
    """The distributions of public events, and the ratios of dealing and sampling probabilities."""
    threshold, alias = np.ones(tree.num_deals), np.zeros(tree.num_deals, np.uint32)
    lift = np.ones(tree.num_deals)
    links = np.flatnonzero(tree.kind == LINK)
    chained = bool(np.any(tree.link_deal[links] == SHARED))
    if chained:
        rows = [(int(d), int(tree.deal_first[d]), int(tree.deal_count[d])) for d in np.flatnonzero(tree.deal_count)]
    else:
        own = [int(link) for link in links if tree.link_deal[link] >= 0]
        rows = [(-1, int(tree.link_deal[link]), int(tree.num_children[link])) for link in own]
    for before, first, count in rows:
        after = slice(first, first + count)
        threshold[after], alias[after] = alias_table(tree.deal_prob[after])
        lift[after] = tree.deal_weight[after] / tree.deal_prob[after]
        if len(tree.hands[0].card):
            lift[after] *= _room(tree, before, after, sum(DRAWN_HANDS[sampling]))
    return hold(Deals(threshold, alias, lift, chained))


def _room(tree: PublicTree, deal: int, after: slice, hands: int) -> float:
    """The probability that the next public cards, sampled without regard to hands, are compatible with some hands."""
    if hands == 0:
        return 1.0
    if hands == 2:  # that is what chance deals by
        return float(tree.deal_prob[after.start] / tree.deal_weight[after.start])
    left = np.diff(tree.hands[0].real_start)
    return float(tree.deal_prob[after] @ left[after] / left[deal])


def decks(tree: PublicTree, sampling: str) -> tuple[Deck, Deck]:
    """The distributions of the hands of both players."""
    first, second = (_deck(tree, player, sampling) for player in (0, 1))
    return first, second


def _deck(tree: PublicTree, player: int, sampling: str) -> Deck:
    """Hands of cards are real hands with their weight, both together if they share no card."""
    hands = tree.hands[player]
    if not len(hands.card):
        chances = hands.root_reach / hands.root_reach.sum()
        classes, cards = np.zeros((0, 0), np.uint16), np.zeros((0, 2), np.uint8)
        return hold(Deck(*alias_table(chances), hands.root_reach / chances, classes, cards))
    real = slice(0, int(hands.real_start[1]))
    weight = hands.root_reach[hands.real_class[real]]
    total = float(weight.sum())
    if sampling == "cs":  # divided by the weight of our own hand: the opponent's hands compatible with it
        other = tree.hands[1 - player]
        own = other.root_reach[other.real_class[: int(other.real_start[1])]]
        pairs = other.root_reach[0] * other.multiplicity[0] / other.root_weight[0]
        total = float(pairs / own.sum())
    classes = _class_at(tree, player) if any(DRAWN_HANDS[sampling]) else np.zeros((0, 0), np.uint16)
    share = np.full(len(weight), total)
    return hold(Deck(*alias_table(weight / weight.sum()), share, classes, hands.real_card[real]))


def _class_at(tree: PublicTree, player: int) -> NDArray[np.uint16]:
    """The class of each real hand of deal 0 at every deal."""
    hands = tree.hands[player]
    count = int(hands.real_start[1])
    number = np.zeros((64, 64), np.int64)
    number[hands.real_card[:count, 0], hands.real_card[:count, 1]] = np.arange(count)
    deal = np.repeat(np.arange(tree.num_deals), np.diff(hands.real_start))
    found = np.full((tree.num_deals, count), NO_HAND, np.uint16)
    found[deal, number[hands.real_card[:, 0], hands.real_card[:, 1]]] = hands.real_class
    return found


def drawn(tree: PublicTree) -> Drawn:
    """Scratch of a walk."""
    at = spaced_zeros((2, tree.levels), np.int64)
    zeros = spaced_zeros(max(hands.most for hands in tree.hands))
    return hold(Drawn(at[0], at[1], spaced_zeros(tree.levels), zeros))
