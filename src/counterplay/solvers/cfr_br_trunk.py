"""CFR-BR against a hybrid, which learns in a trunk of the game and responds best below it.

Johanson 2016, section 4.3 (Johanson, Bard, Burch and Bowling 2012): the practical form.  An iteration samples the
public cards up to the end of the trunk, updates both players in the trunk as public chance sampling does, and covers
all later cards: the opponent responds best to the player there, and the player learns against that.  So an iteration
needs one subgame of the best response, and no table of the real game below the trunk.

The hybrid has no regret in the long run, so that the average strategy approaches the least exploitable one of the
abstraction (theorem 7).  For the current strategy nothing is proven, but it does nearly as well.

What the hybrid wins estimates exploitability where it cannot be measured: the mean over iterations, with the weights
of the average, is at least what a best response wins from the average strategy less the regret that the hybrid still
has in its trunk, for players who recall.

The hybrid's tables have a row for each hand up to renaming suits.  Threads share all tables, without locks, and each
holds the plan of one subgame.  With a trunk of all rounds this is public chance sampling against an opponent without
abstraction.  With ``every_board`` the boards of the trunk are enumerated as well, for small games.

Departure: as in ``cfr_br.py``, regrets may be floored, and iterations may count by t in regrets.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.lifted_buckets import PUBLIC_INFOSETS, RealGame, real_infosets
from counterplay.evaluation.measurement import Measurement
from counterplay.forms import open_game
from counterplay.kernels.public.piece_steps import Rule
from counterplay.kernels.public.public_cfr import iteration_rule
from counterplay.kernels.walks import random_state
from counterplay.poker.buckets.board_sampler import BoardSampler, betting_pieces, check_hands, every_board
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.trunk_sampler import TrunkSampler, check_trunk, trunk_entries
from counterplay.poker.poker_game import PokerFile
from counterplay.runtime.threads import ThreadPool, spaced_rows
from counterplay.solvers.cfr import ROUNDING, CfrConfig, FullWidthSolver
from counterplay.solvers.cfr_br_settings import CFR_BR_PRESETS, CfrBrConfig, real_game_bytes
from counterplay.solvers.cfr_br_start import StartedSolver, start_trunk
from counterplay.solvers.hybrid_walker import HybridTables, HybridWalker, Update, plan_bytes, plan_parts, vector_bytes
from counterplay.solvers.public_tree_tables import table_type
from counterplay.solvers.result import RunFacts
from counterplay.solvers.threaded_solver import ThreadedSolver


class TrunkSolver(StartedSolver, ThreadedSolver, FullWidthSolver):
    """CFR-BR with a trunk on a bucket game of two players."""

    kind = "cfr-br-trunk"
    works_apart = True
    config_class = CfrBrConfig
    presets: ClassVar = CFR_BR_PRESETS
    default_preset = "cfr-br"
    check_ratio = 2.0
    memory_advice = "try a shorter trunk, fewer threads or storage float32"
    real_game = True
    config: CfrBrConfig

    @classmethod
    def name_of(cls, config: CfrConfig) -> str:
        """The name of the algorithm, whatever the settings."""
        return "cfr-br"

    def _check_game(self) -> None:
        game, trunk = self.game, self.config.trunk
        check_hands(game)
        if game.bets is not None:
            raise GameError("the real game has other bets than the bucket game")
        check_trunk(game, trunk, betting_pieces(game))

    def _allocate(self) -> None:
        game, config = self.game, self.config
        kept = config.keeps_average
        self.regret = np.zeros(game.num_entries)
        self.average = np.zeros(game.num_entries if kept else 0)
        sizes = [trunk_entries(game, config.trunk, 1 - seat) for seat in range(2)]
        kind = table_type(sum(sizes), config.storage)
        self.trunk = np.zeros(sizes[0], kind), np.zeros(sizes[1], kind)
        self.counters = spaced_rows(np.zeros((config.threads, 3), np.int64))
        seeds = np.random.SeedSequence(config.seed).spawn(1)[0].generate_state(1, np.uint64)
        self.deal_state = spaced_rows(random_state(int(seeds[0]), config.threads))
        pieces = betting_pieces(game)
        self.won = spaced_rows(
            np.zeros((config.threads, 2))
        )  # by the hybrids: the sum over iterations, and its weights
        self._walkers = [HybridWalker(game, pieces, config.trunk) for _ in range(config.threads)]
        self._pool = ThreadPool(config.threads)
        self._tie = ROUNDING * float(np.abs(game.utility).max(initial=0.0))
        self._tables = HybridTables(self.regret, self.regret, self.average, self.trunk, self.trunk)
        if config.every_board:
            self._every_board = self._boards()
            fresh = np.zeros_like(self.trunk[0]), np.zeros_like(self.trunk[1])
            self._tables = self._tables._replace(learned=np.zeros(game.num_entries), trunk_learned=fresh)
        self._start()

    def _start_opponent(self, strategy: NDArray[Any], size: float) -> None:
        for seat in range(2):
            start_trunk(self.game, strategy, size, self.config.trunk, 1 - seat, self.trunk[seat])

    def _boards(self) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """All boards of the trunk, and what each weighs."""
        try:
            rows, stands_for = every_board(self.game, min(self.config.trunk, self.game.rounds - 1))
        except GameError:
            raise GameError(
                f"{self.name} has too many boards for every_board with a trunk of {self.config.trunk}; leave it out"
            ) from None
        return rows, stands_for / stands_for.sum()

    @classmethod
    def memory_bytes(cls, tree: BucketGame, config: CfrConfig | str | None = None) -> int:
        """Bytes of the tables, of the work arrays and the plan of each thread, and of the real game if it is small."""
        settings: Any = cls.settings_of(config)
        trunk, pieces = settings.trunk, betting_pieces(tree)
        check_trunk(tree, trunk)
        sizes = sum(trunk_entries(tree, trunk, player) for player in range(2))
        tables = 8 * tree.num_entries * (1 + settings.keeps_average + settings.every_board)
        tables += sizes * table_type(sizes, settings.storage).itemsize * (1 + settings.every_board)
        each = TrunkSampler.trunk_bytes(tree, pieces, trunk)
        each += max((plan_bytes(tree, part, trunk) for part in plan_parts(tree, pieces, trunk)), default=0)
        each += max(0, tree.rounds - trunk - 1) * BoardSampler.nbytes(tree, pieces)
        each += vector_bytes(tree, pieces, trunk)
        real = real_game_bytes(tree, settings.threads) if _measurable(tree) else 0
        return int(tables + settings.threads * each + sum(piece.nbytes for piece in pieces) + real)

    # ------------------------------------------------------------------------------------------ iterations

    def _advance(self, thread: int, iterations: int, start: int) -> None:
        for done in range(iterations):
            time = start + done + 1
            if self.config.every_board:
                self._iterate(time)
            else:
                self._sample(thread, time)
            self.counters[thread, 0] += 1

    def _rule(self, time: int) -> Rule:
        config = self.config
        return iteration_rule(
            time, config.regret_floor, *self._exponents, config.delay, config.shifted, self._tie, False, False
        )

    def _sample(self, thread: int, time: int) -> None:
        """An iteration on one sampled board."""
        config, walker = self.config, self._walkers[thread]
        share = 1.0 if config.alpha is None else float(time)
        weight = self._rule(time).weight
        cards = walker.sampler.draw_cards(self.deal_state[thread]).copy()
        update = Update(
            share, weight / share * walker.sampler.pairs, config.regret_floor
        )  # reaches are divided by these
        won = walker.walk(cards, self._tables, update)
        self.won[thread] += weight * won / share, weight
        self.counters[thread, 1] += walker.touched

    def _iterate(self, time: int) -> None:
        """An iteration on all boards."""
        rule, walker, tables = self._rule(time), self._walkers[0], self._tables
        weight = rule.weight * walker.sampler.pairs
        won = sum(
            walker.walk(cards, tables, Update(float(share), weight, False))
            for cards, share in zip(*self._every_board, strict=True)
        )
        self.won[0] += rule.weight * won, rule.weight
        self.counters[0, 1] += walker.touched * len(self._every_board[0])
        for table, learned in zip((self.regret, *self.trunk), (tables.learned, *tables.trunk_learned), strict=True):
            if rule.keep_positive != 1.0 or rule.keep_negative != 1.0:
                table *= np.where(table > 0.0, rule.keep_positive, rule.keep_negative)
            table += learned
            table[np.abs(table) <= self._tie] = 0.0
            if self.config.regret_floor:
                np.maximum(table, 0.0, out=table)
            learned[:] = 0.0

    def tables(self) -> dict[str, NDArray[Any]]:
        """Regrets, average, the regrets of both hybrids, counters and random numbers."""
        return {
            "regret": self.regret,
            "average": self.average,
            "trunk_0": self.trunk[0],
            "trunk_1": self.trunk[1],
            "won": self.won,
            "counters": self.counters,
            "deal_state": self.deal_state.view(np.int64),
        }

    # ------------------------------------------------------------------------------------------ measurements

    @property
    def measures(self) -> bool:  # type: ignore[override]
        """Whether the real game is small enough to measure exploitability in it."""
        return _measurable(self.game)

    @functools.cached_property
    def _real(self) -> RealGame:
        game = self.game
        real = open_game(PokerFile(game.definition, game.name), "public")
        return RealGame(game, real, table_type(sum(real.num_entries), "auto"), self.config.threads)

    def measure(self, kind: Literal["average", "last"] | None = None) -> Measurement:
        """Measure a strategy in the real game; every number is NaN where that is too large."""
        return self._real.measure(self.strategy(kind)) if self.measures else Measurement.unknown(2)

    def check(self) -> Measurement:
        """The measurement that a run needs: best responses alone."""
        return self._real.measure(self.strategy(), valued=False) if self.measures else Measurement.unknown(2)

    def details(self) -> dict[str, Any]:
        """The bucket game, the hybrid's tables, and what the hybrids win."""
        found = {"trunk": self.config.trunk, "trunk_entries": sum(map(len, self.trunk))}
        wins, blind = self.hybrid_wins, self.game.big_blind
        won = {} if wins is None else {"hybrid_wins": wins}
        if wins is not None and blind:
            won["hybrid_wins_mbb"] = 1000.0 * wins / blind
        return {**super().details(), **found, **won}

    @property
    def hybrid_wins(self) -> float | None:
        """What the hybrids win in the mean over iterations, weighted as in the average, in chips; None at the start."""
        total, weights = self.won.sum(axis=0)
        return float(total / weights) if weights > 0.0 else None

    def facts(self) -> RunFacts:
        """What reports say about the game and the tables."""
        found = super().facts()
        return dataclasses.replace(found, public_states=self._real.tree.num_public_states) if self.measures else found


def _measurable(game: BucketGame) -> bool:
    return real_infosets(game.definition) <= PUBLIC_INFOSETS
