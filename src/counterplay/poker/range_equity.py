"""``equity``: how often each of several ranges of hold'em wins if nothing more is bet.

Players hold hands of their ranges, all deals without a card twice counted by the product of the weights, and the rest
of the board is dealt at random.  The *equity* of a range is its mean share of the pot; a tie among k players is worth
1/k.  Deals and boards are enumerated where that is quick: two ranges by a sweep over their hands on each board, more
players deal by deal; boards that differ by a renaming of suits that preserves ranges, board and dead cards are
evaluated once.  Otherwise deals are sampled, and the standard error is given.
"""

from __future__ import annotations

import dataclasses
import html
import itertools
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.poker.board_tree import Renamings, stabiliser
from counterplay.poker.cards import CARDS, cards_text, deck, parse_cards
from counterplay.poker.evaluator import hand_codes, hand_tables
from counterplay.poker.range_files import FileRange, ranges_of
from counterplay.poker.ranges import HANDS, Weights, holdem_hands, parse_range, range_text
from counterplay.runtime.data_frames import data_frame
from counterplay.runtime.html_page import html_cell, html_page, html_table
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.runtime.seeds import check_seed
from counterplay.storage import write_csv, write_text

MAX_PLAYERS = 10
SAMPLES = 1_000_000
"""Deals that are sampled by default."""

EXACT_STEPS = 15_000_000_000
"""Enumerations with more steps are sampled instead, unless requested; about a step a nanosecond."""

SWEEP_STEPS, HAND_STEPS, DEAL_STEPS = 12_000, 30, 4
"""Steps of a sweep on a board, of each hand in it, and of each player in a deal on a board."""

MAX_DEALS = 4_000_000
"""Deals of hands that are listed at most."""

BATCH = 500_000_000
"""Steps between two reports of progress."""

Sums = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class HandEquity:
    """A hand of a range, or all its hands.

    Attributes
    ----------
    name : str
        The hand, ``AsKh``, or the range.
    weight : float
        The probability that the player holds it.
    equity, win, tie : float
        Mean share of the pot, and the probabilities of winning alone and of a tie.
    error : float or None
        The standard error of the equity; None if it is exact.
    """

    name: str
    weight: float
    equity: float
    win: float
    tie: float
    error: float | None = None


@dataclasses.dataclass(frozen=True)
class RangeEquity(HandEquity):
    """A range: how many hands the board and the dead cards leave of it, and those that were dealt, by their equity."""

    size: int = 0
    hands: tuple[HandEquity, ...] = ()


@dataclasses.dataclass(frozen=True, repr=False)
class EquityResult:
    """The equities of ranges.

    Attributes
    ----------
    ranges : tuple of RangeEquity
        In the order given.
    board, dead : str
        The cards on the board, and those that nobody holds and that will not come.
    deals : float
        The weight of all deals of hands and boards, their number if all weights are 1; of samples their number.
    exact : bool
        Whether all deals were enumerated.
    seed : int or None
        Of the samples.
    """

    ranges: tuple[RangeEquity, ...]
    board: str
    dead: str
    deals: float
    exact: bool
    seed: int | None = None

    def __repr__(self) -> str:
        shares = ", ".join(f"{one.name} {100 * one.equity:.2f}%" for one in self.ranges)
        return f"<EquityResult {self.method}: {shares}>"

    def rows(self, hands: bool = False) -> list[tuple[int, HandEquity]]:
        """The number of a range, from 1, with the range itself or each of its hands."""
        return [
            (number, row) for number, one in enumerate(self.ranges, 1) for row in (one.hands if hands else [one])
        ]  # fmt: skip

    def to_dict(self, hands: bool = False) -> dict[str, Any]:
        """Everything, for JSON; single hands only if wanted."""
        found = dataclasses.asdict(self)
        if not hands:
            for one in found["ranges"]:
                del one["hands"]
        return found

    def to_csv(self, path: str | os.PathLike[str], hands: bool = False) -> None:
        """Write a line for each range, or for each hand of each."""
        write_csv(Path(path), *self._table(hands))

    def to_pandas(self, hands: bool = False) -> Any:
        """The same as a ``pandas.DataFrame``."""
        return data_frame(*self._table(hands))

    def _table(self, hands: bool) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        names = ("name", "weight", "equity", "win", "tie", "error")
        heads = ("range", "hand" if hands else "name", *names[1:])
        return heads, [(number, *(getattr(row, name) for name in names)) for number, row in self.rows(hands)]

    def to_html(self, path: str | os.PathLike[str], hands: bool = False) -> None:
        """Write a page that needs no other file."""
        body = f"<h1>{html.escape(self.title)}</h1>\n<p>{html.escape(self.method)}</p>\n{self._repr_html_()}"
        if hands:
            body += f"\n<h2>Hands</h2>\n{_html_rows(self.rows(hands=True), 'hand')}"
        write_text(Path(path), html_page(self.title, body))

    def _repr_html_(self) -> str:
        """The table of ranges, for notebooks too."""
        return _html_rows(self.rows(), "range")

    @property
    def title(self) -> str:
        """Which ranges, in a few words."""
        names = [one.name if len(one.name) <= 24 else f"range {number}" for number, one in enumerate(self.ranges, 1)]
        board = f" on {self.board}" if self.board else ""
        return f"{' against '.join(names)}{board}{f', without {self.dead}' if self.dead else ''}"

    @property
    def method(self) -> str:
        """How the numbers were found."""
        if not self.exact:
            return f"sampled: {self.deals:,.0f} deals, seed {self.seed}"
        number = f"{self.deals:,.0f}" if self.deals == round(self.deals) else f"a total weight of {self.deals:,.2f}"
        return f"exact: all deals of hands and boards ({number})"


def _html_rows(rows: Sequence[tuple[int, HandEquity]], what: str) -> str:
    sampled = any(row.error is not None for _, row in rows)
    heads = ["player", what, "weight", "equity", *(["± standard error"] if sampled else []), "win", "tie"]
    return html_table(heads, (
        html_cell(str(number)) + html_cell(row.name, "key") + "".join(
            html_cell("" if share is None else f"{100 * share:.3f}%")
            for share in (row.weight, row.equity, *((row.error,) if sampled else ()), row.win, row.tie)
        )
        for number, row in rows
    ))  # fmt: skip


def equity(
    *ranges: str | Weights,
    board: str = "",
    dead: str = "",
    samples: int | None = None,
    exact: bool = False,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> EquityResult:
    """The equities of two or more ranges that are all in.

    Parameters
    ----------
    *ranges : str or array of 1326 weights
        As ``parse_range`` takes them, or ``@FILE`` for all ranges of a file.
    board : str
        Up to five cards.
    dead : str
        Cards that nobody holds and that will not come, such as those of a player who folded and showed.
    samples : int, optional
        Sample this many deals; by default all deals are enumerated where that is quick, and a million sampled
        elsewhere.
    exact : bool
        Enumerate, however long it takes.
    seed : int
        Of the samples.
    progress : callable, optional
        Called with ``Progress`` several times a second.

    Raises GameError if something cannot be read, or the ranges cannot be dealt together.
    """
    seed = check_seed(seed, GameError)
    table = _Table.read(ranges, board, dead)
    if samples is not None and (exact or samples < 2):
        raise GameError(
            "give either a number of samples or exact, not both" if exact else f"sample 2 deals or more; got {samples}"
        )
    deals, boards = table.listed(), table.boards() if samples is None else None
    if deals is not None and not len(deals):
        raise GameError(f"the ranges cannot be dealt together: {table.clash}")
    if boards is not None:
        work = table.work(deals, len(boards[0]))
        if exact and work == math.inf:
            raise GameError(
                "there are too many deals of hands to enumerate; give smaller ranges, or a number of samples"
            )
        if exact or work <= EXACT_STEPS:
            return table.result(*table.enumerated(deals, *boards, progress), None)
    return table.result(*table.sampled(samples or SAMPLES, seed, progress), seed)


@dataclasses.dataclass(frozen=True, eq=False)
class _Table:
    """The hands of all players that the cards leave, range by range.  N hands, n players."""

    names: tuple[str, ...]
    weights: tuple[Weights, ...]  # of the 1326 hands, 0 for those that are out
    board: tuple[int, ...]
    dead: tuple[int, ...]
    numbers: NDArray[np.int64]  # (N,) of the hands among all 1326
    start: NDArray[np.int64]  # (n + 1,)

    @classmethod
    def read(cls, ranges: Sequence[str | Weights], board: str, dead: str) -> _Table:
        given = [one for text in ranges for one in (ranges_of([text]) if isinstance(text, str) else [text])]
        if not 2 <= len(given) <= MAX_PLAYERS:
            raise GameError(f"equity is for 2 to {MAX_PLAYERS} ranges; got {len(given)}")
        shown, gone = parse_cards(board), parse_cards(dead)
        if len(shown) > 5:
            raise GameError(f"a board has at most 5 cards; got {len(shown)} in {board!r}")
        both = sorted(set(shown) & set(gone))
        if both:
            raise GameError(f"{cards_text(both)} is on the board and dead; leave it out of one")
        if CARDS - len(gone) - 2 * len(given) < 5:
            raise GameError(f"{len(gone)} dead cards leave too few for {len(given)} hands and a board")
        live = ~np.isin(holdem_hands(), [*shown, *gone]).any(axis=1)
        names, weights = [], []
        for number, one in enumerate(given, 1):
            found = parse_range(one.text, f"range {number}") if isinstance(one, FileRange) else one
            name = (one.name or " ".join(one.text.split())) if isinstance(one, FileRange) else range_text(found)
            if not found.any():
                raise GameError(f"range {number} has no hands; got {name!r}")
            if not (found * live).any():
                raise GameError(f"range {number} has no hand left beside {cards_text([*shown, *gone])}; got {name!r}")
            names.append(name)
            weights.append(np.asarray(found * live, np.float64))
        held = [np.flatnonzero(one) for one in weights]
        start = np.cumsum([0, *map(len, held)])
        return cls(tuple(names), tuple(weights), shown, gone, np.concatenate(held), start)

    @property
    def holes(self) -> NDArray[np.uint8]:
        return holdem_hands()[self.numbers]

    @property
    def weight(self) -> Sums:
        """The weight of each of the N hands."""
        return np.concatenate([one[one > 0] for one in self.weights])

    @property
    def clash(self) -> str:
        return "their hands share cards" + (" with each other" if len(self.names) > 2 else "")

    def listed(self) -> NDArray[np.int32] | None:
        """A hand of each player, as rows of those that share no card; None if they are too many."""
        bits = (np.uint64(1) << self.holes.astype(np.uint64)).sum(axis=1, dtype=np.uint64)
        deals, cards = np.zeros((1, 0), np.int32), np.zeros(1, np.uint64)
        for low, high in itertools.pairwise(self.start.tolist()):
            if len(deals) * (high - low) > MAX_DEALS:
                return None
            row, hand = np.nonzero((cards[:, None] & bits[None, low:high]) == 0)
            deals = np.hstack([deals[row], (low + hand)[:, None].astype(np.int32)])
            cards = cards[row] | bits[low + hand]
        return deals

    def boards(self) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int64]]:
        """Whole boards, one for all renamings of suits, how many each stands for, and hands under the renamings."""
        from counterplay.kernels.cards.card_features import choose_cards
        from counterplay.kernels.cards.range_equity import count_orbits

        names = Renamings(4, holdem_hands(), self.weights, True)
        kept = stabiliser(names, stabiliser(names, np.arange(len(names.card)), self.board), self.dead)
        out = np.array([*self.board, *self.dead], np.uint8)
        more = 5 - len(self.board)
        sets = np.empty((math.comb(CARDS - len(out), more), more), np.uint8)
        choose_cards(np.array(sorted(deck()), np.uint8), out, more, sets)
        orbit = np.empty(len(sets), np.int32)
        identity = np.array([number for number in kept if (names.hand[number] == np.arange(HANDS)).all()])
        kept = np.concatenate([identity, kept[kept != identity[0]]])
        count_orbits(np.uint64(1) << names.card[kept].astype(np.uint64), sets, orbit)
        found = sets[orbit > 0]
        whole = np.hstack([np.tile(np.array(self.board, np.uint8), (len(found), 1)), found])
        return np.ascontiguousarray(whole), orbit[orbit > 0], names.hand[kept]

    def work(self, deals: NDArray[np.int32] | None, boards: int) -> float:
        """Steps of the cheaper enumeration."""
        one = math.inf if deals is None else deals.size * DEAL_STEPS
        return boards * min(one, self._sweep_steps())

    def _sweep_steps(self) -> float:
        return SWEEP_STEPS + HAND_STEPS * len(self.numbers) if len(self.names) == 2 else math.inf

    def enumerated(
        self, deals: NDArray[np.int32] | None, boards: NDArray[np.uint8], orbit: NDArray[np.int32],
        renamed: NDArray[np.int64], progress: ProgressCallback | None,
    ) -> tuple[Sums, bool]:  # fmt: skip
        """The sums over all deals."""
        from counterplay.kernels.cards import range_equity as kernels

        sums, holes, weight = np.zeros((len(self.numbers), 5)), self.holes, self.weight
        if deals is not None and deals.size * DEAL_STEPS >= self._sweep_steps():
            deals = None
        product = np.ones(0) if deals is None else weight[deals].prod(axis=1)
        step = max(1, int(BATCH * len(boards) / max(1, self.work(deals, len(boards)))))
        for first in range(0, len(boards), step):
            some = slice(first, first + step)
            if deals is not None:
                kernels.add_deals(hand_tables(), boards[some], orbit[some], holes, deals, product, sums)
            else:
                kernels.add_sweeps(
                    hand_tables(), boards[some], orbit[some], holes, weight, int(self.start[1]), self._twins(),
                    len(hand_codes()), sums,
                )  # fmt: skip
            if progress is not None:
                progress(Progress(min(first + step, len(boards)), total=len(boards), stage="boards"))
        return self._spread(sums, renamed), True

    def _twins(self) -> NDArray[np.int32]:
        """The hand of the other range with the same cards, by its place there; -1 for none."""
        middle = int(self.start[1])
        place = np.full((2, HANDS), -1, np.int32)
        for player, numbers in enumerate((self.numbers[:middle], self.numbers[middle:])):
            place[player, numbers] = np.arange(len(numbers))
        return np.concatenate([place[1, self.numbers[:middle]], place[0, self.numbers[middle:]]])

    def _spread(self, sums: Sums, renamed: NDArray[np.int64]) -> Sums:
        """The sums of each hand over all boards, from those over the boards that stand for others."""
        if len(renamed) == 1:
            return sums
        found = np.empty_like(sums)
        for low, high in itertools.pairwise(self.start.tolist()):
            every = np.zeros((HANDS, sums.shape[1]))
            every[self.numbers[low:high]] = sums[low:high]
            found[low:high] = every[renamed[:, self.numbers[low:high]]].sum(axis=0) / len(renamed)
        return found

    def sampled(self, samples: int, seed: int, progress: ProgressCallback | None) -> tuple[Sums, bool]:
        """The sums over random deals."""
        from counterplay.kernels.cards.range_equity import add_samples
        from counterplay.kernels.walks import alias_table, random_state

        sums, weight, holes = np.zeros((len(self.numbers), 5)), self.weight, self.holes
        pairs = [alias_table(weight[low:high]) for low, high in itertools.pairwise(self.start.tolist())]
        threshold, alias = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        gone = np.uint64(sum(1 << card for card in (*self.board, *self.dead)))
        state, board, done, tries = random_state(seed, 1)[0], np.array(self.board, np.uint8), 0, BATCH // 50
        while done < samples:
            counts = np.array([min(samples - done, BATCH // 1000), tries], np.int64)
            found = add_samples(hand_tables(), holes, self.start, threshold, alias, board, gone, counts, state, sums)
            if found == 0:
                raise GameError(f"no deal of the ranges was found in {tries:,} attempts: {self.clash}")
            done += found
            if progress is not None:
                progress(Progress(done, total=samples, stage="deals"))
        return sums, False

    def result(self, sums: Sums, exact: bool, seed: int | None) -> EquityResult:
        """The result of sums over deals."""
        total = float(sums[self.start[0] : self.start[1], 3].sum())
        if total <= 0:
            raise GameError(f"the ranges cannot be dealt together: {self.clash}")
        hands, ranges = holdem_hands()[self.numbers], []
        for name, (low, high) in zip(self.names, itertools.pairwise(self.start.tolist()), strict=True):
            rows = [
                _row(HandEquity, cards_text(hands[place][::-1]), sums[place], total, exact)
                for place in range(low, high) if sums[place, 3] > 0
            ]  # fmt: skip
            rows.sort(key=lambda row: -row.equity)
            ranges.append(
                _row(RangeEquity, name, sums[low:high].sum(axis=0), total, exact, size=high - low, hands=tuple(rows))
            )
        return EquityResult(tuple(ranges), cards_text(self.board), cards_text(self.dead), total, exact, seed)


def _row(kind: Any, name: str, sums: Sums, total: float, exact: bool, **more: Any) -> Any:
    """A hand or a range from its sums."""
    won, tied, share, mass, square = sums.tolist()
    mean = share / mass
    error = None if exact else math.sqrt(max(0.0, square / mass - mean * mean) / mass)
    return kind(name, mass / total, mean, max(0.0, won / mass), max(0.0, tied / mass), error, **more)
