"""Bounds on the exploitability of a bucket strategy in the real game, from boards sampled at random.

An exact best response in the real game (Johanson 2016, section 2.4) covers all boards, which takes days in limit
hold'em.  Here the public cards of the rounds up to a *drawn* one are sampled, and everything after them is covered,
with all hands of both players:

* The **lower bound** is what a player wins who plays by buckets before the drawn round and responds best from it on,
  knowing their real cards, the real board and the strategy.  What they know when they act does not depend on the
  sample, so they can play this way in the real game: no best response wins less, and the mean over boards is an
  unbiased estimate of what they win.
* The **upper bound** is what a player wins who responds best from the first action on and knows the board of the drawn
  round before it is dealt.  No player of the real game knows that much: none wins more.

Both are means over independent boards, with confidence intervals of Student's distribution.  With the first round as
the drawn one nothing is sampled: both bounds are the exact exploitability.  A later round is cheaper by thousands for
each board, and leaves the bounds farther apart.

Before the drawn round the player of the lower bound plays the strategy itself, or, with ``training``, what was learned
on other boards: round by round, the last one first, the action worth most to each bucket, with everything after it
fixed.  Boards used for learning do not count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.bucket_pairs import sample_boards
from counterplay.kernels.buckets.board_response import Hands, choose_actions, reach_links, respond_round
from counterplay.kernels.buckets.bucket_pcs import Board
from counterplay.poker.buckets.board_sampler import (
    BoardSampler,
    betting_pieces,
    every_board,
    piece_places,
    response_scratch,
)
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.later_boards import LaterBoards
from counterplay.runtime.intervals import interval
from counterplay.runtime.number_text import figure
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.seeds import check_seed
from counterplay.strategy.bucket_strategy import BucketStrategy

Vector = NDArray[np.float64]
Cards = NDArray[np.uint8]

_NONE = np.zeros(0)
_NO_PLAN = np.zeros((0, 0), np.uint8)


@dataclasses.dataclass(frozen=True)
class Bound:
    """A mean over boards in chips, and half of the width of its 95 % confidence interval."""

    mean: float
    half: float


@dataclasses.dataclass(frozen=True)
class ExploitabilityBounds:
    """Bounds on the exploitability in the real game, up to sampling errors.

    Attributes
    ----------
    lower : Bound
        What a player wins who responds best from the drawn round on; the mean over both seats.
    upper : Bound or None
        What a player wins who knows the drawn board beforehand; None if the real game has more bets than the strategy.
    drawn_round : int
        The round whose board was sampled, from 0.
    boards : int
        Number of boards.
    exact : bool
        Whether these were all; the means are then exact.
    round_name : str
        The name of the round: ``river``, or ``round 2`` in other games than hold'em.
    """

    lower: Bound
    upper: Bound | None
    drawn_round: int
    boards: int
    exact: bool
    round_name: str

    def to_dict(self, big_blind: float) -> dict[str, Any]:
        """The numbers by name, for JSON."""
        found: dict[str, Any] = {}
        for name, bound in (("lower_bound", self.lower), ("upper_bound", self.upper)):
            for unit, factor in (("", 1.0), ("_mbb", 1000.0 / big_blind)):
                found[name + unit] = None if bound is None else bound.mean * factor
                found[name + unit + "_95"] = None if bound is None else bound.half * factor
        round_ = {"drawn_round": self.drawn_round, "round_name": self.round_name}
        return {**found, **round_, "boards": self.boards, "exact": self.exact}


def bound_rows(bounds: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The numbers of ``ExploitabilityBounds.to_dict`` as rows of text."""
    rows = []
    for name, word in (("lower_bound", "at least"), ("upper_bound", "at most")):
        if bounds[f"{name}_mbb"] is not None:
            how = "" if bounds["exact"] else f" ± {figure(bounds[f'{name}_mbb_95'], 3)}"
            rows.append((f"exploitable {word}", f"{figure(bounds[f'{name}_mbb'])}{how} mbb/g in the real game"))
    count = f"all {bounds['boards']:,}" if bounds["exact"] else f"{bounds['boards']:,} sampled"
    name = bounds.get("round_name", f"round {bounds['drawn_round'] + 1}")  # reports of old builds have no names
    rows.append(("bounded over", f"{count} boards of {'' if name.startswith('round') else 'the '}{name}"))
    return rows


def drawn_round(game: BucketGame, name: str | int) -> int:
    """The round of a name: a number from 0, or ``preflop``, ``flop``, ``turn``, ``river``."""
    streets = ("preflop", "flop", "turn", "river")
    known = [*map(str, range(game.rounds)), *streets[: game.rounds]]
    if str(name) not in known:
        raise GameError(f"{game.name} has the rounds {', '.join(known)}; got {name!r}")
    return streets.index(str(name)) if name in streets else int(name)


def bound_exploitability(
    profile: BucketStrategy,
    boards: int | None = None,
    drawn: int | None = None,
    training: int = 0,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> ExploitabilityBounds:
    """Bound the exploitability of a bucket strategy in the real game.

    Parameters
    ----------
    profile : BucketStrategy
        A strategy of a game of two players with hands of one or two cards.
    boards : int, optional
        Number of boards to sample, at least two; all by default.
    drawn : int, optional
        The round whose board is sampled, by default the last.
    training : int
        Boards on which the player of the lower bound learns to play the earlier rounds; 0 keeps the strategy there.
    seed : int
        Of the boards.
    progress : callable, optional
        Called with the number of boards done.

    Raises
    ------
    GameError
        If the game is of another kind, or there are too many boards and no number to sample.
    """
    seed, game = check_seed(seed, GameError), profile.abstract
    drawn = game.rounds - 1 if drawn is None else drawn
    if boards is not None and boards < 2:
        raise GameError(f"an interval needs two boards or more; got {boards}")
    walker = BoardWalker(profile, drawn)
    rows, weight = _boards(game, drawn, boards, seed)
    lessons = sample_boards(game, drawn, training, seed + 1)
    own = _learn(walker, lessons) if training and drawn else profile.weights
    found = np.zeros((len(rows), 2))
    for number, cards in enumerate(rows):
        found[number] = walker.measure(cards, own)
        if progress is not None:
            progress(Progress(number + 1, total=len(rows)))
    lower, upper = (_mean(column, weight) for column in found.T)
    return ExploitabilityBounds(
        lower, upper if game.bets is None else None, drawn, len(rows), weight is not None,
        game.definition.round_name(drawn),
    )  # fmt: skip


def _mean(found: Vector, weight: Vector | None) -> Bound:
    """The mean over boards; with weights these are all boards."""
    if weight is not None:
        return Bound(float(found @ weight / weight.sum()), 0.0)
    return Bound(*interval(found))


def _boards(game: BucketGame, drawn: int, boards: int | None, seed: int) -> tuple[Cards, Vector | None]:
    """The boards of a round in the order dealt; how many each represents if these are all."""
    if boards is not None and game.definition.board_ends[drawn]:
        return sample_boards(game, drawn, boards, seed), None
    return every_board(game, drawn)


def _learn(walker: BoardWalker, lessons: Cards) -> Vector:
    """What to play before the drawn round: one pass over the boards for each round, the last one first."""
    game = walker.game
    own, found = walker.profile.strategy(), np.zeros(int(walker.pieces.sequences.max()))
    for turn in range(walker.drawn - 1, -1, -1):
        learned = np.zeros(game.num_entries)
        for cards in lessons:
            walker.measure(cards, own, learned)
        for me in (0, 1):
            slot = 2 * turn + me
            choose_actions(
                walker.pieces, walker.members[turn], me, int(game.slot_start[slot]), int(game.slot_width[slot]),
                int(game.slot_buckets[slot]), learned, own, found,
            )  # fmt: skip
    return own


class _Place(NamedTuple):
    """The state of a walk: the round, the board with the buckets of its hands, the player who is evaluated, and where
    the hands are among those of the board before.
    """

    turn: int
    board: Board
    sampler: BoardSampler
    me: int
    hands: Hands


class BoardWalker:
    """Walks over the continuations of a sampled board of round ``drawn``, responding to a strategy."""

    def __init__(self, profile: BucketStrategy, drawn: int) -> None:
        game = profile.abstract
        if game.players != 2 or game.definition.hole_cards > 2:
            raise GameError(
                f"bounds are for two players with hands of one or two cards; {game.name} has {game.players} players "
                f"with {game.definition.hole_cards}"
            )
        self.profile, self.game, self.drawn = profile, game, drawn
        self.pieces = pieces = betting_pieces(game)
        self.weights = np.asarray(profile.weights)
        turns = range(game.rounds)
        self.members = [np.flatnonzero(pieces.turn == turn) for turn in turns]
        self.place = piece_places(pieces, self.members)
        early = (pieces.terminals > pieces.folds) & (pieces.turn < game.rounds - 1)
        if drawn < game.rounds - 1 and early.any():  # a showdown needs all cards
            raise GameError(
                f"players of {game.name} can be all in before the last cards; sample the board of its last round"
            )
        self.samplers = {turn: BoardSampler(game, pieces, turn) for turn in turns if turn >= drawn}
        self.work = response_scratch(pieces, max(sampler.hands for sampler in self.samplers.values()))
        self.later = LaterBoards(game, self.samplers)

    def measure(self, cards: Cards, own: NDArray[np.generic], learned: Vector = _NONE) -> tuple[float, float]:
        """What the players of the lower and of the upper bound win on a board, the mean over both seats."""
        lower = upper = 0.0
        for me in (0, 1):
            low, high = self._seat(cards, me, own, learned)
            lower, upper = lower + low / 2, upper + high / 2
        return lower, upper

    def _seat(self, cards: Cards, me: int, own: NDArray[np.generic], learned: Vector) -> tuple[float, float]:
        sampler = self.samplers[self.drawn]
        board = sampler.board(cards)
        reaches = [np.full((1, sampler.hands), 1.0 / sampler.pairs)]
        hands = Hands(np.arange(sampler.hands), 1.0)
        for turn in range(self.drawn):
            reaches.append(self._links(_Place(turn, board, sampler, me, hands), reaches[turn]))
        upper = lower = np.zeros_like(reaches[-1])
        self._values(_Place(self.drawn, board, sampler, me, hands), cards, reaches[-1], upper)
        for turn in range(self.drawn - 1, -1, -1):
            here, (best, plain) = _Place(turn, board, sampler, me, hands), np.zeros((2, *reaches[turn].shape))
            self._respond(here, reaches[turn], upper, _NONE, _NONE, best)
            self._respond(here, reaches[turn], lower, own, learned, plain)
            upper, lower = best, plain
        return float(lower.sum()), float(upper.sum())

    def _values(self, here: _Place, cards: Cards, reach: Vector, values: Vector) -> None:
        """Add the values of hands at the roots of a round's pieces, for a player who best responds from there on."""
        turn, board, _, me, _ = here
        below = np.zeros((0, 0))
        if turn < self.game.rounds - 1:
            after = self._links(here, reach)
            below = np.zeros_like(after)
            for whole, child, hands in self.later.after(turn, cards, board):
                self._values(_Place(turn + 1, child, self.samplers[turn + 1], me, hands), whole, after, below)
        self._respond(here, reach, below, _NONE, _NONE, values)

    def _links(self, here: _Place, reach: Vector) -> Vector:
        turn, board, sampler, me, hands = here
        after = np.zeros((len(self.members[turn + 1]), sampler.hands))
        reach_links(
            self.pieces, self.members[turn], self.place, board, me, self.weights, hands, reach, after, sampler.scratch
        )  # fmt: skip
        return after

    def _respond(
        self, here: _Place, reach: Vector, below: Vector, own: NDArray[np.generic], learned: Vector, values: Vector
    ) -> None:
        turn, board, sampler, me, hands = here
        respond_round(
            self.pieces, self.members[turn], self.place, board, me, self.weights, own, hands, reach, below, values,
            learned, _NO_PLAN, sampler.scratch, self.work,
        )  # fmt: skip
