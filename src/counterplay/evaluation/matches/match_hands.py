"""Logged hands of a player, as estimators take them: where they ended, the cards, and what was won.

A hand is used if the player sits in it and its own cards are known.  Every other one is counted with the reason; a
broken hand is refused, or skipped and named.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError, MemoryLimitError
from counterplay.evaluation.matches.all_in_equity import game_equity
from counterplay.evaluation.matches.game_hands import GameHands
from counterplay.evaluation.matches.poker_estimates import PlayedHand
from counterplay.forms import open_game
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.betting import BettingTree, build_betting_tree
from counterplay.poker.log_files import AnyPath, LogFile, check_names, log_files
from counterplay.poker.poker_game import definition_for
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.suggestions import did_you_mean, suggest_arguments

BROKEN = ("refuse", "skip")
NAMED = 10
"""Broken hands that are named."""

MAX_NODES = 1_000_000
"""Of betting trees in which hands are estimated."""

NOWHERE = -1
"""Where hands end whose betting is too large for a tree."""

STEP = 2_000
"""Hands between two reports of progress."""


@dataclasses.dataclass(frozen=True, eq=False)
class MatchHands:
    """Hands of a player, in the order of the logs.

    Attributes
    ----------
    game, rules, tree : str, GameDefinition, BettingTree
        What is played, its rules, and its betting unless that is too large for estimators.
    player, opponents : str, tuple of str
        Whose hands, and the names of those on the other side.
    hands : tuple of PlayedHand
        Those that are used.
    won : (n,) array
        What the player won in each, in chips.
    deal : (n,) array
        The number of the deal of each: hands with the same number and cards in several logs are one deal.
    place : tuple of str
        The file and line of each.
    elsewhere, hidden, skipped : int
        Hands without the player, with unknown own cards, and broken ones that were skipped.
    broken : tuple of str
        The first of these.
    """

    game: str
    rules: GameDefinition
    tree: BettingTree | None
    player: str
    opponents: tuple[str, ...]
    hands: tuple[PlayedHand, ...]
    won: NDArray[np.float64]
    deal: NDArray[np.int64]
    place: tuple[str, ...]
    elsewhere: int = 0
    hidden: int = 0
    skipped: int = 0
    broken: tuple[str, ...] = ()

    @property
    def unseen(self) -> int:
        """Hands in which the opponent's cards are not known."""
        return sum(hand.other is None for hand in self.hands)

    @property
    def deals(self) -> int:
        """Number of different deals."""
        return int(self.deal.max(initial=-1)) + 1

    def by_deal(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of every deal, a hand: rows of hands become rows of deals.

        The mean over deals is the mean over hands, also if some deals were played once and others twice: what a deal
        brings beyond the mean of its hands counts by its share of the hands.
        """
        size, mean = np.bincount(self.deal, minlength=self.deals), scores.mean(axis=0)
        total = np.stack([np.bincount(self.deal, column, minlength=self.deals) for column in scores.T], axis=1)
        if np.ptp(size) == 0:
            return np.asarray(total / size[0])
        return np.asarray(mean + (total - mean * size[:, None]) * self.deals / len(scores))


@suggest_arguments
def read_match(
    logs: AnyPath | Sequence[AnyPath], player: str, game: str | None = None, broken: str = "refuse",
    progress: ProgressCallback | None = None,
) -> MatchHands:  # fmt: skip
    """Read the hands of a player of two-player poker.

    Parameters
    ----------
    logs : path or sequence of paths
        Logs of the competition, or hand histories (``.phh``, ``.phhs``).  Hands of several logs with the same number
        and cards, as in duplicate matches, count as one deal.
    player : str
        The name of the player in the logs.
    game : str, optional
        What is played, if the logs do not say it.
    broken : {"refuse", "skip"}
        What to do with broken hands.
    progress : callable, optional
        Called with a ``Progress`` now and then.

    Raises
    ------
    GameError
        If a file is of another game or cannot be read, nobody is called so, or a hand is broken.
    """
    if broken not in BROKEN:
        raise GameError(f"broken hands are refused or skipped; got {broken!r}, {did_you_mean(str(broken), BROKEN)}")
    files = log_files(logs)
    for file in files:
        if not file.first():
            raise GameError(f"{file.path} holds no hands")
    name = files[0].game() if game is None else game
    rules = definition_for(open_game(name, "states"))
    if rules is None or rules.players != 2:
        raise GameError(f"matches are analysed of poker with two players; {name} is something else")
    for file in files:
        file.check(rules, name)
    check_names(files, [player])
    reader = _Reader(name, rules, player, broken == "skip")
    started, total, done = time.perf_counter(), sum(os.path.getsize(file.path) for file in files), 0
    for number, file in enumerate(files):
        for count, (line, text) in enumerate(file.hands()):
            reader.add(file, number, line, text)
            done += len(text) + 1
            if progress is not None and count % STEP == 0:
                spent = time.perf_counter() - started
                left = spent * max(total - done, 0) / max(done, 1)
                progress(Progress(len(reader.hands), spent, seconds_left=left, stage="hands read"))
    return reader.found()


class _Reader:
    def __init__(self, game: str, rules: GameDefinition, player: str, skip: bool) -> None:
        self.game, self.rules, self.player, self.skip = game, rules, player, skip
        self.equity = game_equity(rules)
        self.tree: BettingTree | None = None
        with contextlib.suppress(MemoryLimitError, GameError):  # money needs none
            self.tree = build_betting_tree(rules, max_nodes=MAX_NODES)
        self.hands: list[PlayedHand] = []
        self.rows: list[tuple[float, str]] = []
        self.keys: list[tuple[int, tuple[tuple[int, ...], ...], int]] = []
        self.names: dict[str, None] = {}
        self.elsewhere = self.hidden = self.skipped = 0
        self.broken: list[str] = []

    def add(self, file: LogFile, number: int, line: int, text: str) -> None:
        try:
            state, names = file.played(self.rules, text)
            if names.count(self.player) > 1:
                raise GameError(f"{self.player} sits in several seats")
            if self.player not in names:
                self.elsewhere += 1
                return
            position = names.index(self.player)
            if not state.deal.hole[position]:
                self.hidden += 1
                return
            hand, won = self._hand(state, position)
        except (GameError, ValueError) as error:
            self._complain(f"{file.path}, line {line}: {error}")
            return
        self.names.update(dict.fromkeys(name for name in names if name != self.player))
        self.hands.append(hand)
        self.rows.append((won, f"{file.path}, line {line}"))
        self.keys.append((state.hand_id, state.deal.hole, number))

    def _hand(self, state: MatchState, position: int) -> tuple[PlayedHand, float]:
        return as_hand(self.equity, self.tree, state, position), float(state.values()[position])

    def _deals(self) -> NDArray[np.int64]:
        """The deal of each hand: two hands of different logs are one if the player changed seats and all cards agree.

        If not all cards are known nobody can say which hands belong together, and every hand is a deal.
        """
        if any(hand.other is None for hand in self.hands):
            return np.arange(len(self.hands))
        open_deals: dict[tuple[object, ...], tuple[int, int, PlayedHand]] = {}
        found, count = [], 0
        for (hand_id, hole, file), hand in zip(self.keys, self.hands, strict=True):
            first = open_deals.pop((hand_id, hole), None)
            if first is not None and first[1] != file and _other_half(first[2], hand):
                found.append(first[0])
                continue
            open_deals[hand_id, hole] = (count, file, hand)
            found.append(count)
            count += 1
        return np.array(found, np.int64)

    def _complain(self, problem: str) -> None:
        if not self.skip:
            raise GameError(f"{problem} (--broken skip leaves such hands out)")
        self.skipped += 1
        if len(self.broken) < NAMED:
            self.broken.append(problem)

    def found(self) -> MatchHands:
        if not self.hands:
            raise GameError(
                f"no hand of {self.player} can be used: {self.elsewhere:,} are without this player, {self.hidden:,} "
                f"without its cards, {self.skipped:,} broken"
            )
        won, place = zip(*self.rows, strict=True)
        return MatchHands(
            self.game, self.rules, self.tree, self.player, tuple(self.names), tuple(self.hands), np.array(won),
            self._deals(), place, self.elsewhere, self.hidden, self.skipped, tuple(self.broken),
        )  # fmt: skip


def as_hand(hands: GameHands, tree: BettingTree | None, state: MatchState, position: int) -> PlayedHand:
    """A finished hand as estimators take it; without a tree its end is unknown.

    Raises
    ------
    GameError
        If there was a showdown, and the cards of somebody who has not folded are not known.
    """
    holes, folded = state.deal.hole, state.betting.folded
    if state.betting.showdown and any(not cards and not folded >> seat & 1 for seat, cards in enumerate(holes)):
        raise GameError("a showdown without the opponent's cards; the hand cannot be evaluated")
    seen = [hands.number(sorted(cards)) if cards else None for cards in holes]
    own = seen[position]
    if own is None:
        raise GameError("a hand whose own cards are not known cannot be evaluated")
    others = [seen[seat] for seat in range(len(seen)) if seat != position]
    end = NOWHERE if tree is None else tree.find(state.betting)
    return PlayedHand(end, position, own, others[0], tuple(state.board), tuple(others[1:]))


def _other_half(one: PlayedHand, other: PlayedHand) -> bool:
    """Whether two hands with the same private cards by position are the two halves of a duplicate deal."""
    shared = min(len(one.board), len(other.board))
    return one.position != other.position and one.board[:shared] == other.board[:shared]
