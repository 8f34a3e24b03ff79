"""Exact best responses in poker games whose public tree does not fit: split at the first deal.

Johanson 2016, sections 2.4 and 2.6 (accelerated best response).  The *trunk* is the betting before the first board
cards.  The opponent's reaches are passed down the trunk to its links; below each first deal, the public tree that
starts there is walked once for each link that the opponent reaches; the values of our hands are passed up the trunk.
The node arrays of the betting are built once, and combined with the deals below one first deal at a time.

Branches that the opponent never reaches are not walked.  An opponent who ignores the cards has one row of probabilities
for each node, one who plays by buckets a row for each node and bucket; any other strategy is queried for all public
states below a first deal, which must fit into memory.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, StrategyError
from counterplay.evaluation.first_deal_sample import FirstDealEstimate, estimate, visiting_order
from counterplay.evaluation.lifted_buckets import LiftedStrategy, bucket_places, deal_buckets
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.public_walker import PublicWalker
from counterplay.evaluation.public_walks import NO_ROWS, BucketRows, Opponent, Start, plain_tables, scratch_bytes
from counterplay.evaluation.trunk import Trunk, trunk_reaches
from counterplay.kernels.public.piece_steps import RESPONSE, VALUE
from counterplay.poker.betting import build_betting_tree
from counterplay.poker.board_parts import FirstDeals
from counterplay.poker.board_tree import DealTree
from counterplay.poker.poker_game import PokerGame
from counterplay.poker.poker_public_tree import assemble_betting
from counterplay.runtime.executors import Executor, StopFlag, cluster_chosen, job_executor
from counterplay.runtime.jobs import JobList
from counterplay.runtime.memory import check_memory, format_bytes
from counterplay.runtime.number_text import duration, figure
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.strategy.public_lookup import HandStrategy
from counterplay.strategy.public_strategy import PublicStrategy, fill_table
from counterplay.strategy.trivial import CardFree
from counterplay.tree.public.public_tree import CUT, FOLD, LINK, PublicTree
from counterplay.tree.public.table_places import table_places

Vector = NDArray[np.float64]
Pair = tuple[HandStrategy, HandStrategy]

MOST_ENTRIES = 1 << 28
"""Most entries of tables below one first deal."""

FEWEST = 10
"""First deals, at least, before an interval is narrow enough to stop."""

SECONDS = 1.7e-9
"""Of one core of 2023, about, for one walk through one node with one hand."""

SHORT = 300.0
"""Seconds of a walk below which the value is computed too, unless requested otherwise."""

BYTES = 48
"""Memory for each class of hands below a first deal."""

_NO_SCALE = np.zeros(0, np.float32)


class SplitGame:
    """A poker game as a trunk and what lies below each of its first deals.

    Attributes
    ----------
    first : FirstDeals
        The deals.
    tree : PublicTree
        The whole betting, with the deals below one first deal.
    links : list of int
        The links of the trunk.
    """

    def __init__(self, game: PokerGame, isomorphic: bool = True) -> None:
        self.name = game.spec()
        self.first = FirstDeals(game.definition, isomorphic)
        deals = self.first.deals(0)
        betting = build_betting_tree(game.definition)
        self.tree = assemble_betting(
            betting, deals, self.name, game.definition.hole_cards, float(game.definition.big_blind)
        )  # fmt: skip
        self.level = np.searchsorted(deals.level_start, self.tree.deal_low, side="right") - 1
        trunk = np.flatnonzero(self.tree.kind[: self.tree.piece_size[0]] == LINK)
        if np.any(self.tree.link_deal[trunk] == CUT):
            raise GameError(f"the betting of {self.name} before its first deal is too long to be split off")
        self.links: list[int] = trunk.tolist()

    def below(self, deals: DealTree) -> PublicTree:
        """The tree with the deals below another first deal."""
        tree = self.tree
        bounds = np.array(deals.level_start, np.int32)
        low, high = bounds[self.level], bounds[self.level + 1]
        places = table_places(tree.kind, tree.num_children, deals.hands, low, high)
        return dataclasses.replace(
            tree, deal_low=low, deal_high=high, base=places.base, block=places.block, deal_parent=deals.parent,
            deal_first=deals.first, deal_count=deals.count, deal_root=np.full(len(deals.parent), -1, np.int32),
            deal_weight=deals.weight, deal_prob=deals.prob, hands=deals.hands, deal_text=deals.text,
        )  # fmt: skip

    @property
    def probabilities(self) -> Vector:
        """How likely each first deal is: how many real deals it stands for, of all."""
        return np.array([deal.prob for deal in self.first.listed])

    def work(self) -> Vector:
        """Nodes x hands below each first deal, about: what a walk costs."""
        nodes = np.bincount(self.level, minlength=len(self.first.rounds) + 1)
        return np.asarray(self.first.classes() @ nodes[1:])


def node_rows(tree: PublicTree, strategies: tuple[CardFree, CardFree]) -> tuple[NDArray[np.int64], Vector]:
    """Where the row of each node begins, and the rows, of players who do not look at their cards."""
    count = np.where(tree.kind < 2, tree.num_children, 0).astype(np.int64)
    rows = [strategies[tree.kind[node]].row(tree.actions_of(node)) for node in np.flatnonzero(count).tolist()]
    return np.cumsum(count) - count, np.concatenate(rows)


def card_free_value(tree: PublicTree, strategies: tuple[CardFree, CardFree]) -> float:
    """What player 0 wins when both ignore their cards: showdowns are worth nothing, by symmetry."""
    value, waiting = 0.0, [(0, 1.0)]
    while waiting:
        node, reach = waiting.pop()
        kind = tree.kind[node]
        if kind == FOLD:
            value += reach * float(tree.payoff[node])
        elif kind == LINK:
            waiting.append((int(tree.first_child[node]), reach))
        elif kind < 2:
            row = strategies[kind].row(tree.actions_of(node))
            waiting += [(int(tree.first_child[node]) + a, reach * p) for a, p in enumerate(row.tolist()) if p > 0]
    return value


def game_header(game: PokerGame) -> dict[str, str]:
    """What a file records about its game: the name, and a fingerprint of the rules."""
    rules = hashlib.sha256(repr(game.definition).encode()).hexdigest()
    header = {"game": game.spec(), "rules": rules}
    return header if game.definition.limit else header | {"raises": "smallest"}  # CardFree spread them before


def strategy_text(strategies: Pair) -> str:
    """What a file records about its strategies."""
    return ", ".join(repr(strategy) for strategy in strategies)


def _card_free(strategies: Pair) -> tuple[CardFree, CardFree] | None:
    first, second = strategies
    return (first, second) if isinstance(first, CardFree) and isinstance(second, CardFree) else None


@dataclasses.dataclass(frozen=True)
class SplitPlan:
    """When an evaluation stops, and what it computes.

    Attributes
    ----------
    flops : int, optional
        First deals to walk, by default all.
    until : float, optional
        Stop when half of the width of the 95 % interval is at most this, in chips.
    seed : int
        Of the order in which first deals are walked.
    valued : bool, optional
        Compute the value of the strategies too, half as much work again; by default in games of a few minutes.  The
        exploitability does not depend on it.
    memory_limit : int, optional
        Bytes that may be used, by default what is free.
    """

    flops: int | None = None
    until: float | None = None
    seed: int = 0
    valued: bool | None = None
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        if self.flops is not None and self.flops < 2:
            raise StrategyError(f"an interval needs two first deals or more; got {self.flops}")


class _Run:
    """An evaluation that is running: the order of its first deals, and what is known so far."""

    def __init__(
        self, split: _Split, jobs: JobList, plan: SplitPlan, progress: ProgressCallback | None, threads: int
    ) -> None:
        self.split, self.jobs, self.plan, self.progress, self.threads = split, jobs, plan, progress, threads
        self.probability = split.game.probabilities
        self.order = visiting_order(self.probability, plan.seed)[: plan.flops]
        self.work = split.game.work()
        self._stop: int | None = None  # the size at which the interval was narrow enough
        self._tried = FEWEST - 1
        self._shown, self._known = -math.inf, dict[str, Any]()

    def walked(self) -> int:
        """How many first deals, counted in their order, are done without a gap: which others are does not matter."""
        done = self.jobs.done[self.order]
        return self._stop or (len(done) if done.all() else int(np.argmin(done)))

    def estimate(self, size: int) -> FirstDealEstimate:
        """From the first ``size`` of the order."""
        chosen = self.order[:size]
        return estimate(self.split.trunks, self.jobs.found[chosen], self.probability, chosen)

    def walk(self) -> bool:
        """Walk the deals that are left; whether that was interrupted."""
        try:
            with job_executor(self.threads, threads=True) as executor:
                self._announce(executor)
                self.jobs.run(
                    self.split.below, executor, self._report, self._stage, self.order, self.work, self._enough
                )  # fmt: skip
        except KeyboardInterrupt:
            if self.walked() < 2:
                raise
            return True
        finally:
            self._enough()  # also where nothing was left to walk
        return False

    @property
    def _stage(self) -> str:
        return "flops" if self.split.game.first.rounds[0] == 3 else "first deals"

    def _announce(self, executor: Executor) -> None:
        """Say what it will cost, and refuse what does not fit into memory."""
        jobs, tree = self.jobs, self.split.game.tree
        waiting = self.order[~jobs.done[self.order]]
        hands = self.split.game.first.classes().sum(axis=1).max()
        needed = executor.local_workers * int(scratch_bytes(tree) + BYTES * hands) + 2 * jobs.found.nbytes
        workers, name = executor.workers, "worker" if cluster_chosen() else "thread"
        check_memory("walking below first deals", needed, self.plan.memory_limit, f"fewer {name}s need less")
        seconds = len(self.split.walks) * float(self.work[waiting].sum()) * SECONDS
        if self.progress is not None:
            cost = f"about {duration(seconds)} of a processor, {duration(seconds / workers)} with"
            some = f"{workers} {name}{'s' if workers > 1 else ''}"
            text = f"{len(waiting):,} {self._stage} to walk: {cost} {some}, and {format_bytes(needed)} of memory"
            self.progress(Progress(
                int(jobs.done[self.order].sum()), total=len(self.order), seconds_left=seconds / workers,
                stage=self._stage, detail=text,
            ))  # fmt: skip

    def _enough(self) -> bool:
        """Whether the interval is narrow enough: at the same deal, whatever the threads."""
        while self.plan.until is not None and self._stop is None and self._tried < self.walked():
            self._tried += 1
            if self.estimate(self._tried).half <= self.plan.until:
                self._stop = self._tried
        return self._stop is not None

    def _report(self, now: Progress) -> None:
        if self.progress is not None:
            if now.seconds - self._shown > 1.0 and self.walked() > 1:
                found = self.estimate(self.walked())
                low, high = found.exploitability - found.half, found.exploitability + found.half
                unit = 1000 / float(self.split.game.tree.big_blind or 1000)
                text = f"{figure(unit * found.exploitability)} ± {figure(unit * found.half, 3)} mbb/g"
                self._known = {
                    "exploitability": found.exploitability, "measured_at": found.walked, "lower": low, "upper": high,
                    "detail": text,
                }  # fmt: skip
                self._shown = now.seconds
            self.progress(dataclasses.replace(now, **self._known))


class _Worker(threading.local):
    """The walker of one thread; in another process there are others."""

    walker: PublicWalker | None = None

    def __reduce__(self) -> tuple[type[_Worker], tuple[()]]:
        return _Worker, ()


class _Split:
    """The walks below first deals; one row of values for each walk and link of the trunk."""

    def __init__(self, game: SplitGame, strategies: Pair, valued: bool = True) -> None:
        self.game, self.strategies = game, strategies
        self.free = _card_free(strategies)
        self.base: NDArray[np.int64] | None = None
        self.rows: Vector = np.zeros(0)
        self.lifted = [one for one in strategies if isinstance(one, LiftedStrategy)]
        if len(self.lifted) != 2:
            self.lifted = []
        self.places = [bucket_places(one.profile.abstract, game.tree, player) for player, one in enumerate(self.lifted)]
        self.shares = [
            BucketRows(*NO_ROWS[:2], *self.places[player]).shares(game.tree, player, one.profile.strategy(), np.float64)
            for player, one in enumerate(self.lifted)
        ]
        if self.free is not None:
            self.base, self.rows = node_rows(game.tree, self.free)
        self.walks = [(0, RESPONSE), (1, RESPONSE)] + ([(0, VALUE)] if valued and not self.free else [])
        self.trunks, self.reaches = [], []
        for player, mode in self.walks:
            reaches = trunk_reaches(game.tree, 1 - player, strategies[1 - player])
            self.trunks.append(Trunk(game.tree, player, reaches, strategies[player] if mode == VALUE else None))
            self.reaches.append({node: reach for node, reach in reaches.items() if node in game.links})
        self.worker = _Worker()
        self.abandoned = StopFlag()

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of a job's result: walks x links x hands."""
        return len(self.walks), len(self.game.links), self.game.tree.hands[0].count(0)

    def _walk(self, walker: PublicWalker, number: int, tables: Any, start: Start) -> Vector:
        player, mode = self.walks[number]
        if self.free is not None:
            return walker.walk(player, mode, plain_tables(np.zeros(0)), Opponent(self.rows, _NO_SCALE), start)
        ones = [np.ones(blocks, np.float32) for blocks in walker.tree.num_blocks]
        own = plain_tables(tables[player], ones[player])
        return walker.walk(player, mode, own, Opponent(tables[1 - player], ones[1 - player]), start)

    def _tables(self, tree: PublicTree) -> list[Vector] | None:
        if self.free is not None:
            return None
        if self.lifted:
            return self.shares
        if sum(tree.num_entries) > MOST_ENTRIES:
            raise StrategyError(
                f"a strategy that looks at its cards has {sum(tree.num_entries):,} entries below one deal of "
                f"{tree.name}; measure it in a smaller game"
            )
        return [fill_table(tree, player, self.strategies[player]) for player in (0, 1)]

    def _bucket_rows(self, tree: PublicTree) -> tuple[BucketRows, BucketRows] | None:
        """How both play, if by buckets; the nodes are those of all first deals."""
        if not self.lifted:
            return None
        first, second = (one.profile.abstract for one in self.lifted)
        buckets = deal_buckets(first, tree, 0), deal_buckets(second, tree, 1)
        return BucketRows(*buckets[0], *self.places[0]), BucketRows(*buckets[1], *self.places[1])

    def below(self, number: int) -> Vector:
        """What our hands win below a first deal, by walk and link, in units of the start."""
        game, deals = self.game, self.game.first.deals(number)
        tree = game.below(deals)
        if self.worker.walker is None:
            self.worker.walker = PublicWalker(tree, hands=len(game.first.holes))
        walker = self.worker.walker
        walker.load(tree, self.base, self._bucket_rows(tree))
        tables = self._tables(tree)
        found = np.zeros(self.shape)
        for walk, (player, _) in enumerate(self.walks):
            own, other = deals.hands[player], deals.hands[1 - player]
            up = own.parent[own.slice(1)]
            part = deals.weight[1] * own.multiplicity[own.slice(1)] / own.multiplicity[up]
            for link, reach in self.reaches[walk].items():
                if self.abandoned.is_set():
                    raise RuntimeError("interrupted")  # nobody sees it
                root = int(tree.first_child[link])
                reaches = (np.ones(own.count(1)), reach[other.parent[other.slice(1)]])
                values = self._walk(walker, walk, tables, Start(root, 1, reaches))
                found[walk, game.links.index(link)] = np.bincount(up, part * values, own.count(0))
        return found

    def root_values(self, found: Vector) -> list[float]:
        """The value of each walk, from the sums at the links."""
        return [float(trunk.climb(links[None])[0]) for trunk, links in zip(self.trunks, found, strict=True)]

    def measurement(self, values: Sequence[float]) -> Measurement:
        """The measurement, from the values of the walks; without a walk for it, the value is in the middle."""
        middle = (values[0] - values[1]) / 2
        if self.free is not None:
            middle = card_free_value(self.game.tree, self.free)
        value, valued = (values[2], True) if len(values) > 2 else (middle, self.free is not None)
        return Measurement((value, -value), (values[0], values[1]), valued=valued)


def evaluate_split(
    game: PokerGame,
    strategies: Pair,
    threads: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: ProgressCallback | None = None,
    isomorphic: bool = True,
    plan: SplitPlan | None = None,
) -> Measurement:
    """Measure a pair of strategies, one first deal at a time: exactly, or estimated from those walked so far.

    Parameters
    ----------
    game : PokerGame
        A game of two players with board cards.
    strategies : pair of HandStrategy
        Of players 0 and 1.  With ``isomorphic`` they must play isomorphic hands equally.
    threads : int
        Number of first deals that are walked at once; results are the same to the bit.
    checkpoint, resume : path, optional
        Where results are kept, and the file to resume from.
    progress : callable, optional
        Called before the first walk with what they will cost, and after each first deal with the estimate so far.
    plan : SplitPlan, optional
        When to stop, and what to compute.

    Raises
    ------
    GameError
        If the game cannot be split.
    StrategyError
        If a strategy is a table of the whole game, or its entries below one deal do not fit, or ``resume`` is of
        another evaluation.
    KeyboardInterrupt
        If it is interrupted before two first deals are done; after that the estimate is returned.
    """
    if any(isinstance(strategy, PublicStrategy) for strategy in strategies):
        raise StrategyError("a profile holds entries of the whole public tree; measure it there, not split")
    plan = plan or SplitPlan()
    whole = SplitGame(game, isomorphic)
    valued = float(whole.work().sum()) * SECONDS < SHORT if plan.valued is None else plan.valued
    split = _Split(whole, strategies, valued)
    about = {"strategies": strategy_text(strategies), "method": "general", "isomorphic": isomorphic}
    about |= {"seed": plan.seed, "valued": valued}
    jobs = JobList(game_header(game) | about, len(split.game.first), split.shape, checkpoint, resume)
    jobs.abandon = split.abandoned.set
    run = _Run(split, jobs, plan, progress, threads)
    interrupted = run.walk()
    if jobs.done.all():
        return split.measurement(split.root_values(np.add.reduce(jobs.found, axis=0)))
    found = dataclasses.replace(run.estimate(run.walked()), interrupted=interrupted)
    return dataclasses.replace(split.measurement(found.values), estimate=found)


def _symmetric(tree: PublicTree) -> bool:
    """Whether showdowns are worth nothing to players who ignore their cards: both hold the same ranges of cards."""
    first, second = tree.hands
    return bool(tree.zero_sum and len(first.card)) and np.array_equal(first.root_reach, second.root_reach)


def measure_pair(tree: PublicTree, strategies: Pair, threads: int = 1) -> Measurement:
    """Measure a pair of strategies on a public tree that fits as a whole."""
    walker = PublicWalker(tree, threads)
    free = _card_free(strategies)
    if free is None or not _symmetric(tree):
        return walker.measure((fill_table(tree, 0, strategies[0]), fill_table(tree, 1, strategies[1])))
    base, rows = node_rows(tree, free)
    walker.load(tree, base)
    best = [walker.response(player, rows, _NO_SCALE) for player in (0, 1)]
    value = card_free_value(tree, free)
    return Measurement((value, -value), (best[0], best[1]))
