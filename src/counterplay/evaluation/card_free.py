"""Best responses to players who do not look at their cards, without walking the public tree.

Johanson 2016, section 2.6, measures such agents (always call, always raise, 50/50).  The range of such a player stays
as dealt, so a hand on the last board is one integer: how many hands it beats minus how many beat it.  The last round of
betting is then a table of values over this number.  In earlier rounds, the values of a hand are means over the next
cards, propagated through the betting: we take the best action, the opponent's mixture is fixed.

Betting that continues in the same way for the same stakes is computed once: two public nodes are one *step* if they
have the same player, the same probabilities and the same steps after them.  Several agents and both seats go through
the boards together.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.public_walks import hand_arrays
from counterplay.evaluation.split_evaluation import SplitGame, card_free_value, game_header, strategy_text
from counterplay.kernels.public.card_free import (
    BEST,
    FOLDED,
    LINKED,
    MIXED,
    SHOWN,
    DealArrays,
    Program,
    add_last_round,
    add_round,
)  # fmt: skip
from counterplay.poker.poker_game import PokerGame
from counterplay.runtime.executors import job_executor
from counterplay.runtime.jobs import JobList
from counterplay.runtime.progress import ProgressCallback
from counterplay.strategy.trivial import CardFree
from counterplay.tree.public.public_tree import CUT, FOLD, LINK, SHOWDOWN

Vector = NDArray[np.float64]
Agent = tuple[CardFree, CardFree]


@dataclasses.dataclass
class _Round:
    """The steps of one round during construction.  A step is an operation, a number, and the steps it needs."""

    steps: dict[tuple[int, float, tuple[int, ...], tuple[float, ...]], int] = dataclasses.field(default_factory=dict)
    roots: dict[int, int] = dataclasses.field(default_factory=dict)  # step to column

    def step(self, what: int, number: float = 0.0, needs: tuple[int, ...] = (), share: tuple[float, ...] = ()) -> int:
        """The number of a step; equal steps share it."""
        return self.steps.setdefault((what, number, needs, share), len(self.steps))

    def column(self, step: int) -> int:
        """The column of a step that the previous round needs."""
        return self.roots.setdefault(step, len(self.roots))

    def program(self) -> Program:
        """The arrays."""
        what, number, needs, share = zip(*self.steps, strict=True)
        count = np.array([len(row) for row in needs], np.int32)
        weights = [s if s else (1.0,) * len(n) for s, n in zip(share, needs, strict=True)]
        flat = np.array([need for row in needs for need in row], np.int32)
        first = (np.cumsum(count) - count).astype(np.int32)
        linked = np.array(what) == LINKED
        first[linked] = [row[0] for row, link in zip(needs, linked, strict=True) if link]
        return Program(
            np.array(what, np.int8), np.array(number), first, count, flat,
            np.array([p for row in weights for p in row]), np.array(list(self.roots), np.int32),
        )  # fmt: skip


class _Betting:
    """The steps of all rounds, for both seats against some agents."""

    def __init__(self, game: SplitGame, agents: Sequence[Agent]) -> None:
        self.game, self.tree = game, game.tree
        self.rounds = [_Round() for _ in range(len(game.first.rounds) + 1)]
        self.others = [game.first.others(level) for level in range(len(self.rounds))]
        self.asked = [[self._node(0, seat, agent[1 - seat]) for seat in (0, 1)] for agent in agents]
        self.programs = [made.program() for made in self.rounds]
        self._table = self._last_round()

    def _node(self, node: int, seat: int, opponent: CardFree) -> int:
        """The step of a public node for the player at a seat."""
        tree, level = self.tree, int(self.game.level[node])
        here = self.rounds[level]
        kind, child = int(tree.kind[node]), int(tree.first_child[node])
        if kind == FOLD:
            return here.step(FOLDED, float(tree.payoff[node]) * (1 - 2 * seat) * self.others[level])
        if kind == SHOWDOWN:
            return here.step(SHOWN, float(tree.payoff[node]))
        if kind == LINK:
            below = self._node(child, seat, opponent)
            if tree.link_deal[node] == CUT:
                return below
            return here.step(LINKED, needs=(self.rounds[level + 1].column(below),))
        if kind == seat:
            return here.step(
                BEST, needs=tuple(self._node(child + a, seat, opponent) for a in range(tree.num_children[node]))
            )
        row = opponent.row(tree.actions_of(node)).tolist()
        played = [a for a, p in enumerate(row) if p > 0]
        needs = tuple(self._node(child + a, seat, opponent) for a in played)
        return here.step(MIXED, needs=needs, share=tuple(row[a] for a in played))

    def _last_round(self) -> Vector:
        """Values of the last round by how far a hand is ahead: (2 M + 1, columns)."""
        most = self.others[-1]
        program = self.programs[-1]
        values = run_program(program, np.zeros((2 * most + 1, 0)), np.arange(-most, most + 1.0))
        return np.ascontiguousarray(values[program.root].T)

    def below(self, number: int) -> Vector:
        """What our hands win below a first deal, in units of the start: hands x columns of the next round."""
        deals = self.game.first.deals(number)
        hands = hand_arrays(deals.hands[0], deals.parent)
        chance = DealArrays(deals.parent, deals.weight)
        bounds = deals.level_start
        values = np.zeros((0, 0))
        for level in range(len(self.rounds) - 1, 0, -1):
            low, high, above = bounds[level], bounds[level + 1], int(hands.start[bounds[level - 1]])
            up = np.zeros((int(hands.start[low]) - above, len(self.rounds[level].roots)))
            if level == len(self.rounds) - 1:
                add_last_round(chance, hands, low, high, self._table, above, up)
            else:
                add_round(chance, hands, low, high, self.programs[level], values, above, up)
            values = up
        return values

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of a job's result."""
        return self.tree.hands[0].count(0), len(self.rounds[1].roots)

    def root_values(self, found: Vector) -> list[list[float]]:
        """The best responses of both seats against each agent."""
        values = run_program(self.programs[0], found, np.zeros(len(found)))
        weight = self.tree.hands[0].root_weight
        return [[float(values[step] @ weight) for step in pair] for pair in self.asked]


def run_program(program: Program, below: Vector, ahead: Vector) -> Vector:
    """All steps of a round for some hands: steps x hands.

    ``below`` has the values that links lead to, hands x columns; ``ahead`` is for showdowns: for each hand the number
    of hands that it beats minus the number that beat it.
    """
    value = np.zeros((len(program.what), len(ahead)))
    for step, what in enumerate(program.what):
        first = program.first[step]
        needs = slice(first, first + program.count[step])
        if what == FOLDED:
            value[step] = program.number[step]
        elif what == LINKED:
            value[step] = below[:, first]
        elif what == SHOWN:
            value[step] = program.number[step] * ahead
        elif what == BEST:
            value[step] = value[program.needs[needs]].max(axis=0)
        elif what == MIXED:
            value[step] = program.share[needs] @ value[program.needs[needs]]
    return value


def evaluate_card_free(
    game: PokerGame, agents: Sequence[Agent], threads: int = 1, checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None, progress: ProgressCallback | None = None,
) -> list[Measurement]:  # fmt: skip
    """Measure players who do not look at their cards exactly, several pairs of them at once.

    The parameters, and what is raised, are those of ``evaluate_split``.
    """
    betting = _Betting(SplitGame(game), agents)
    header = {**game_header(game), "strategies": "; ".join(map(strategy_text, agents)), "method": "shortcut"}
    jobs = JobList(header, len(betting.game.first), betting.shape, checkpoint, resume)
    with job_executor(threads, threads=True) as executor:
        best = betting.root_values(jobs.run(betting.below, executor, progress, "first deals"))
    values = [card_free_value(betting.tree, agent) for agent in agents]
    return [Measurement((value, -value), (b[0], b[1])) for value, b in zip(values, best, strict=True)]
