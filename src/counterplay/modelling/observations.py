"""``Observations``: how often an opponent chose each action in each information set, and how thin these data are.

Johanson 2016, section 6.3.3.  Counts are laid out as the tables of a form of the game, a history tree or a bucket game,
so that solvers and models use them as they are.  Observations of the same form add up: logs of several matches, or of a
whole population that is treated as one opponent (section 11.4).
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.modelling.confidence import ENOUGH
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.notebook import Described
from counterplay.solvers.restriction import player_rows
from counterplay.storage import write_container
from counterplay.tree.history.game_tree import GameTree

Form: TypeAlias = GameTree | BucketGame
"""The forms of a game whose tables observations and models are laid out as."""

LARGE_SHARE = 0.1
"""Share of decisions with little behind them from which data are called thin."""

KIND = "observations"
"""The kind in the header of files."""

NAMED = 20
"""Broken lines of which observations keep what was wrong."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Observations(Described):
    """What was seen of an opponent.

    Attributes
    ----------
    form : GameTree or BucketGame
        The game, in the form whose tables the counts are laid out as.
    counts : (E,) int64
        How often each action was chosen.
    opponent : str
        Who was observed.
    hands : int
        Hands in which the opponent took part.
    unseen : int
        Decisions that are not counted because the cards behind them were not shown.
    diverged : int
        Decisions that are not counted because the betting abstraction has nothing like the betting before them.
    skipped : int
        Lines and hands of logs that are not counted because they are broken.
    broken : tuple of str
        What was wrong with the first of those.
    """

    form: Form
    counts: NDArray[np.int64]
    opponent: str = ""
    hands: int = 0
    unseen: int = 0
    diverged: int = 0
    skipped: int = 0
    broken: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        counts = np.asarray(self.counts)
        if counts.shape != (self.form.num_entries,) or counts.dtype.kind not in "iu":
            raise StrategyError(
                f"{self.form.name} has {self.form.num_entries:,} entries, each with a count; got an array of "
                f"{counts.dtype} and shape {counts.shape}"
            )
        if counts.size and int(counts.min()) < 0:
            raise StrategyError(f"a count is at least 0; got {int(counts.min())}")
        object.__setattr__(self, "counts", counts.astype(np.int64, copy=False))

    def _title(self) -> str:
        return f"Observations of {self.opponent or 'an opponent'} in {self.form.name}"

    def _sizes(self) -> list[tuple[str, str]]:
        rows = [("hands", f"{self.hands:,}"), ("decisions", f"{self.decisions:,}")]
        rows += [(name, f"{count:,}") for name, count in self.left_out().items() if count]
        return rows

    def left_out(self) -> dict[str, int]:
        """What was seen and is not counted, and how often."""
        return {"unseen": self.unseen, "diverged": self.diverged, "skipped": self.skipped}

    @functools.cached_property
    def decisions(self) -> int:
        """Decisions that are counted."""
        return int(self.counts.sum())

    @functools.cached_property
    def seen(self) -> NDArray[np.int64]:
        """(E,) how often each information set was seen, repeated for its actions."""
        starts, sizes = all_rows(self.form)
        return np.asarray(np.repeat(row_sums(self.counts, starts), sizes), np.int64)

    def __add__(self, other: Observations) -> Observations:
        """Both together, as of one opponent."""
        if not isinstance(other, Observations):
            return NotImplemented
        if not same_tables(self.form, other.form):
            raise StrategyError(
                f"observations add up in one form of one game; these are of {self.form.name} and {other.form.name}, "
                "or of two abstractions of it"
            )
        names = dict.fromkeys(name for name in (*self.opponent.split(", "), *other.opponent.split(", ")) if name)
        return Observations(
            self.form, self.counts + other.counts, ", ".join(names), self.hands + other.hands,
            self.unseen + other.unseen, self.diverged + other.diverged, self.skipped + other.skipped,
            (*self.broken, *other.broken)[:NAMED],
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write them to a file, from which ``load_observations`` reads them; only counts above 0 are kept.

        Raises
        ------
        StrategyError
            If the file cannot be written.
        """
        form, entry = self.form, np.flatnonzero(self.counts).astype(np.int64)
        origin = form.origin() if isinstance(form, BucketGame) else {"cards": [], "bets": None}
        header = {
            "game": form.name, "form": form.form_name, "digest": tables_digest(form), **origin,
            "opponent": self.opponent, "hands": self.hands, **self.left_out(), "broken": list(self.broken),
        }  # fmt: skip
        write_container(path, KIND, header, {"entry": entry, "count": self.counts[entry]})

    def data_report(self, player: int | None = None) -> DataReport:
        """How much lies behind predictions from these observations; of one seat of the opponent, or of all."""
        seats = range(self.form.players) if player is None else (player,)
        parts = []
        for seat in seats:
            starts, sizes = player_rows(self.form, seat)
            parts.append(_own_sums(self.counts, starts, sizes))
        seen = np.concatenate(parts)
        decisions = int(seen.sum())
        thin = (seen > 0) & (seen <= ENOUGH)
        return DataReport(
            infosets=len(seen), infosets_seen=int(np.count_nonzero(seen)), infosets_enough=int((seen >= ENOUGH).sum()),
            decisions=decisions, new_share=float((seen == 1).sum() / decisions) if decisions else 1.0,
            thin_share=float(seen[thin].sum() / decisions) if decisions else 1.0, unseen=self.unseen,
            diverged=self.diverged,
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class DataReport:
    """How much lies behind the predictions of a model.

    Shares are those of the opponent's next decisions in play as it was observed, each weighted by how often it comes
    up: by the estimate of Good (1953) and Turing, decisions in information sets that were seen n times before are as
    frequent as those in information sets seen n + 1 times were so far.

    Attributes
    ----------
    infosets, infosets_seen, infosets_enough : int
        Information sets of the opponent; those seen at all; those seen ten times or more.
    decisions : int
        Decisions that were counted.
    new_share : float
        Share of decisions in information sets that were never seen.
    thin_share : float
        Share of decisions in information sets that were seen fewer than ten times.
    unseen : int
        Decisions that could not be counted because the cards behind them were not shown.
    diverged : int
        Decisions that could not be counted because the betting abstraction has nothing like the betting before them.
    """

    infosets: int
    infosets_seen: int
    infosets_enough: int
    decisions: int
    new_share: float
    thin_share: float
    unseen: int = 0
    diverged: int = 0

    @property
    def thin(self) -> bool:
        """Whether a tenth of the decisions or more has fewer than ten observations behind it."""
        return self.thin_share >= LARGE_SHARE

    def warnings(self) -> list[str]:
        """What somebody should know before relying on a model of these observations; a sentence each."""
        found = []
        if not self.decisions:
            found.append("nothing was observed: the model is its default policy everywhere")
        elif self.thin:
            found.append(
                f"the data are thin: about {self.thin_share:.0%} of the opponent's decisions are in information sets "
                f"seen fewer than {ENOUGH} times, {self.new_share:.0%} in some never seen; observe more hands, use a "
                "smaller card abstraction, or respond with dbr, which trusts each prediction by its data"
            )
        if self.unseen:
            share = self.unseen / (self.unseen + self.decisions)
            found.append(
                f"{share:.0%} of the opponent's decisions were made with cards that the logs do not show; they are not "
                "counted, so that hands that reach a showdown weigh too much and folds are rarer than in truth"
            )
        if self.diverged:
            found.append(
                f"{self.diverged:,} of the opponent's decisions were made after betting to which the betting "
                "abstraction has nothing similar; they are not counted"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dataclasses.asdict(self) | {"thin": self.thin, "warnings": self.warnings()}


def pooled(observations: Sequence[Observations]) -> Observations:
    """The observations of a population as those of one opponent (Johanson 2016, section 11.4)."""
    if not observations:
        raise StrategyError("a population has at least one member; got no observations")
    return functools.reduce(lambda one, other: one + other, observations)


def all_rows(form: Form) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first entry and the number of actions of every information set, in the order of the tables."""
    each = [player_rows(form, player) for player in range(form.players)]
    starts, sizes = (np.concatenate(parts) for parts in zip(*each, strict=True))
    order = np.argsort(starts, kind="stable")
    return starts[order], sizes[order]


def row_sums(values: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """The sum over each row of a table whose rows begin at ``starts``."""
    return np.add.reduceat(values, starts) if len(starts) else values[:0]


def _own_sums(values: NDArray[Any], starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[Any]:
    """The sums over some rows of a table; other rows may lie between."""
    total = np.concatenate(([0], np.cumsum(values)))
    return np.asarray(total[starts + sizes] - total[starts])


def tables_digest(form: Form) -> str:
    """What forms with the same tables have in common."""
    return form.layout if isinstance(form, BucketGame) else form.digest


def same_tables(one: Form, other: Form) -> bool:
    """Whether tables of two forms have the same entries; utilities, and so tilts, may differ."""
    if one is other:
        return True
    if isinstance(one, GameTree) and isinstance(other, GameTree):
        return one.digest == other.digest
    if isinstance(one, BucketGame) and isinstance(other, BucketGame):
        return one.num_entries == other.num_entries and one.layout == other.layout
    return False
