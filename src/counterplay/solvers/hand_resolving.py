"""The rest of a hand of poker solved again at the table: two-phase play.

Gilpin and Sandholm (Gibson 2014, section 3.5.4) play the first rounds from an abstract strategy and solve the others
when they are reached.  Here the blueprint is a strategy of any storage with all bets of its game; from a chosen round
on the rest of the hand is solved at full width, every hand and every board, from both ranges under the blueprint, or
safely (``solvers.resolving``).

Departure: the source solves an abstraction of the last rounds on line; there is none here.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.matches.hand_rows import PublicRows, hand_reach, hand_rows
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.board_tree import hole_hands
from counterplay.poker.cards import cards_text
from counterplay.poker.poker_public_tree import build_rest_of_hand, public_tree_refusal
from counterplay.poker.rules import Betting
from counterplay.runtime.memory import check_memory
from counterplay.runtime.pacing import Until
from counterplay.solvers.cfr import config_with
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.solvers.public_tree_tables import table_type
from counterplay.solvers.resolving import Resolved, resolve
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_lookup import HandTables, PublicIndex
from counterplay.strategy.public_strategy import fill_table
from counterplay.strategy.strategy import Strategy
from counterplay.tree.public.public_tree import PublicTree
from counterplay.tree.public.subgame_tree import PublicPoint


@dataclasses.dataclass(frozen=True)
class ResolveSettings:
    """How the rest of a hand is solved.

    * ``safe``: with the gadget of CFR-D, rather than from both ranges
    * ``seconds``: of a solution, everything included; what is not finished then is not played
    * ``iterations``: most iterations of CFR+
    * ``within``: the error at which a solution is finished, a share of the pot
    * ``threads``: of the solver
    """

    safe: bool = False
    seconds: float = 3.0
    iterations: int | None = None
    within: float = 0.01
    threads: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.safe, bool):
            raise GameError(f"safe is true or false; got {self.safe!r}")
        for name in ("seconds", "within"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < float("inf"):
                raise GameError(f"{name} is a positive number; got {number!r}")
        Until(iterations=self.iterations, seconds=self.seconds)
        config_with("cfr+", {"threads": self.threads})


@dataclasses.dataclass(frozen=True, eq=False)
class HandSolution:
    """The rest of a hand, solved for one player.

    * ``player``: whose strategy it is
    * ``index``: finds decisions, boards and hands
    * ``resolved``: the solution; its error is in chips a hand that comes there
    """

    player: int
    index: PublicIndex
    resolved: Resolved

    def row(self, betting: str, hole: tuple[int, ...], board: tuple[int, ...]) -> dict[str, float]:
        """The probabilities of the actions of a hand.  Raises GameError if it cannot come there."""
        name = f"{cards_text(hole)}/{cards_text(board)}:{betting}"
        node, deal, hand = self.index.infoset(self.player, name)
        tree = self.index.tree
        chances = HandTables(self.resolved.tables).matrix(tree, node, deal)[hand]
        return dict(zip(tree.actions_of(node), chances.tolist(), strict=True))

    @property
    def summary(self) -> str:
        """How it was found, for logs."""
        facts = self.resolved
        return f"{facts.iterations:,} iterations, {facts.seconds:.2f} s, error {facts.error:.4g} chips"

    @property
    def nbytes(self) -> int:
        """Bytes of the solution."""
        return self.index.tree.nbytes + sum(table.nbytes for table in self.resolved.tables)


@dataclasses.dataclass(frozen=True)
class Unsolved:
    """Why the rest of a hand was not solved, in a few words."""

    reason: str


class HandResolver:
    """Solves the rest of hands below a blueprint.

    Parameters
    ----------
    blueprint : Strategy
        Of any storage, with all bets of its game.
    rules : GameDefinition
        What is played, by two players.

    Raises
    ------
    GameError
        If the game has no public tree, or the blueprint is of another game, or of fewer bets.
    """

    def __init__(self, blueprint: Strategy, rules: GameDefinition, settings: ResolveSettings) -> None:
        refusal = public_tree_refusal(rules)
        if refusal is not None:
            raise GameError(f"hands cannot be solved at the table: {refusal}")
        if isinstance(blueprint, BucketStrategy) and blueprint.abstract.bets is not None:
            raise GameError(
                f"hands cannot be solved at the table: the strategy has some bets of {blueprint.game} only, and what "
                "hands come there by other ones is not known"
            )
        self.rules, self.settings = rules, settings
        self.holes = hole_hands(rules.deck, rules.hole_cards)
        self.rows = hand_rows(blueprint, rules, self.holes)

    def solve(self, betting: Betting, board: tuple[int, ...], player: int) -> HandSolution | Unsolved:
        """The rest of a hand from the start of a round on.

        Raises
        ------
        MemoryLimitError
            If the rest of the hand is too large.
        """
        clock, settings = time.perf_counter(), self.settings
        node = self.rows.tree.find(betting)
        ranges = [self._range(node, board, seat) for seat in (0, 1)]
        if settings.safe:
            ranges[1 - player] = np.where(np.isin(self.holes, board).any(axis=1), 0.0, 1.0)
        if not all(weights.any() for weights in ranges):
            return Unsolved("the blueprint never comes there")
        name = f"the rest of a hand after {betting.text()} {cards_text(board)}"
        tree = build_rest_of_hand(self.rows.tree, node, board, (ranges[0], ranges[1]), name)
        config = config_with("cfr+", {"threads": settings.threads})
        kind = table_type(sum(tree.num_entries), "auto")
        held = tree.num_entries[player] * kind.itemsize if settings.safe else 0
        check_memory(name, PublicSolver.memory_bytes(tree, config) + held, None, "solve from a later round on")
        own = None
        if settings.safe:
            rows = _TimedRows(PublicRows(self.rows, self.holes), clock + settings.seconds)
            try:
                own = fill_table(tree, player, rows, kind)
            except TimeoutError:
                return Unsolved(f"time ran out after {settings.seconds:g} s, while the blueprint was looked up")
        roots = tree.hands[0].root_reach, tree.hands[1].root_reach
        masses = tree.hands[0].root_weight, tree.hands[1].root_weight
        left = settings.seconds - (time.perf_counter() - clock)
        until = Until(settings.iterations, max(left, 1e-9), settings.within * betting.pot)
        found = resolve(tree, PublicPoint(0, 0, roots, roots, masses), player, own, until, config)
        found = dataclasses.replace(found, seconds=time.perf_counter() - clock)
        solution = HandSolution(player, PublicIndex(found.subgame.tree), found)
        if not found.iterations:
            return Unsolved(f"time ran out after {found.seconds:.2f} s, before the first iteration")
        return solution if found.finished else Unsolved(f"time ran out after {solution.summary}")

    def _range(self, node: int, board: tuple[int, ...], player: int) -> NDArray[np.float64]:
        """The weight of each hand of a player under the blueprint, the largest 1."""
        reach = hand_reach(self.rows, node, board, player, self.holes)
        return np.asarray(reach / max(float(reach.max()), 1e-300))


class _TimedRows:
    """A strategy that is looked up until a time of ``time.perf_counter``, then a TimeoutError."""

    def __init__(self, rows: PublicRows, deadline: float) -> None:
        self._rows, self._deadline = rows, deadline

    def matrix(self, tree: PublicTree, node: int, deal: int) -> NDArray[np.float64]:
        """As ``HandStrategy.matrix``."""
        if time.perf_counter() > self._deadline:
            raise TimeoutError
        return self._rows.matrix(tree, node, deal)
