"""Responses to an aggressive opponent who was observed: the setting of Johanson 2016, chapter 6.

The opponent is *Orange*, an equilibrium of limit hold'em in five buckets a round in which winners get 7 % more: nearly
an equilibrium of the bucket game itself, where its exploitability is an upper bound of what any response wins.  It is
observed in some hands, with all cards shown, against Probe or against itself; responses are solved and measured inside
the bucket game, which is that of the boards on which bucket pairs were counted.

With a ``folder`` everything is kept: bucket pairs, Orange, finished responses, and those that were interrupted.  The
same experiment with the same folder continues.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.cards import CardAbstraction
from counterplay.errors import CounterplayError
from counterplay.evaluation.bucket_pairs import BucketPairs, count_bucket_pairs
from counterplay.experiments.shared.bucket_games import bucket_game, cards_of
from counterplay.experiments.shared.experiment import Cell, Curves, keeping_rows
from counterplay.forms import poker_definition
from counterplay.game.transforms import TILTS
from counterplay.modelling.confidence import Confidence
from counterplay.modelling.counter_strategy import GRID, ResponseKind, read_grid
from counterplay.modelling.models import FrequencyModel
from counterplay.modelling.observations import Observations
from counterplay.modelling.response_runs import prepare_response
from counterplay.modelling.sampled_play import observe_play
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.jobs import JobList
from counterplay.solvers.bucket_pairs_cfr import BucketPairsSolver
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy
from counterplay.strategy.strategy import Strategy

Float64 = NDArray[np.float64]

PUBLISHED_EXPLOITABILITY = 28.0
"""Of Orange inside its five buckets, mbb/g (section 6.3.2)."""

ORANGE_PERCENT = 7.0
"""What winners get more in the game whose equilibrium Orange plays."""

FILES = ("cards.cpa", "pairs.cpb", "orange.strategy")
"""In a folder: the card abstraction, its bucket pairs, and Orange."""

FIGURES = ("a", "b", "c")
"""Of the figures 6.1 and 6.2."""

COLUMNS = ("response", "data from", "hands", "p", "exploitability", "wins from the model", "wins from Orange", "gap",
           "CPU s")  # fmt: skip
"""Of the table of points; amounts are mbb/g inside the bucket game."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A bucket game and its Orange.

    Attributes
    ----------
    game, cards : str
        A game, and its card abstraction as for ``counterplay abstract --rounds``, with perfect recall.
    boards : int, optional
        On how many sampled boards bucket pairs are counted; all by default.
    iterations : int
        Of CFR+ in the tilted game, whose average is Orange.
    until, equilibrium : str
        The gap at which a response is near enough, and the equilibrium with which all are compared.
    """

    game: str = "holdem_limit_2p"
    cards: str = "PS5/PS5/PS5/PS5"
    boards: int | None = 10_000
    iterations: int = 300
    until: str = "5mbb"
    equilibrium: str = "1mbb"


SMALL = Setting("holdem_2_4(ranks=6,suits=3)", "PS3/PS3", None, 400, "0.5mbb", "0.2mbb")
"""For a first look: two rounds, 18 cards and three buckets, whose boards are all counted."""


class Asked(NamedTuple):
    """A response: its kind, the confidence of a data biased one, the data that it is made from, and p or Pmax."""

    kind: str
    confidence: str
    source: str
    hands: int
    p: float

    @property
    def label(self) -> str:
        """The kind, as tables show it."""
        return f"{self.kind} {self.confidence}".strip() if self.p > 0.0 else "equilibrium"


class Point(NamedTuple):
    """What a response risks and wins, mbb/g; and how far it is from the solution, and what it took."""

    exploitability: float
    model: float
    true: float
    gap: float
    iterations: float
    cpu_seconds: float


EQUILIBRIUM = Asked("rnr", "", "probe", 1_000, 0.0)
"""The response that does not look at the data."""


@dataclasses.dataclass(frozen=True, eq=False)
class Opponent:
    """The bucket game with its pairs, and Orange."""

    form: BucketGame
    pairs: BucketPairs
    strategy: Strategy

    @property
    def unit(self) -> float:
        """What turns chips into mbb/g."""
        return 1000.0 / (self.form.big_blind or 1.0)

    @functools.cached_property
    def exploitability(self) -> float:
        """Of Orange inside the bucket game, mbb/g."""
        assert isinstance(self.strategy, BucketStrategy)
        return self.unit * self.pairs.walks(self.form).measure(self.strategy.strategy()).exploitability


def open_opponent(setting: Setting, folder: Path, threads: int = 1) -> Opponent:
    """The bucket game and Orange from their files in a folder, which are made, by some threads, if they are missing.

    Everybody works with what the files hold, so that a run which continues finds the same bits.
    """
    cards, counted, strategy = (folder / name for name in FILES)
    folder.mkdir(parents=True, exist_ok=True)
    if not cards.exists():
        cards_of(setting.game, setting.cards, threads=threads).save(cards)
    if not counted.exists():
        form = bucket_game(setting.game, CardAbstraction.load(cards))
        count_bucket_pairs(form, setting.boards, threads=threads).save(counted, form)
    if not strategy.exists():
        form = bucket_game(setting.game, CardAbstraction.load(cards))
        table = tilted_table(form, BucketPairs.load(counted, form), setting)
        BucketStrategy.of_game(form, table).save(strategy)
    return _opened(setting, folder)


@functools.lru_cache(maxsize=1)
def _opened(setting: Setting, folder: Path) -> Opponent:
    cards, counted, strategy = (folder / name for name in FILES)
    form = bucket_game(setting.game, CardAbstraction.load(cards))
    return Opponent(form, BucketPairs.load(counted, form), load_strategy(strategy, form))


def tilted_table(
    form: BucketGame, pairs: BucketPairs, setting: Setting, percent: float = ORANGE_PERCENT, tilt: str = "orange"
) -> Float64:
    """The average of CFR+ in a tilted game, by default the one in which winners get so much more: (E,)."""
    paid = TILTS[tilt](percent)
    tilted = BucketGame.build(poker_definition(setting.game), form.buckets[0], name=setting.game, tilt=paid)
    solver = BucketPairsSolver(tilted, "cfr+", pairs=pairs)
    solver.step(setting.iterations)
    return solver.strategy()


@functools.lru_cache(maxsize=4)
def observed(setting: Setting, folder: Path, source: str, hands: int) -> Observations:
    """What was seen of Orange in some hands against ``probe`` or itself (``self``)."""
    opponent = open_opponent(setting, folder)
    return observe_play(opponent.form, opponent.strategy, hands, against=source)


@contextlib.contextmanager
def temporary_folder(named: str | None) -> Iterator[Path]:
    """A folder by its name, or one that is removed afterwards."""
    if named is not None:
        yield Path(named)
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


def solve_points(
    name: str, setting: Setting, asked: Sequence[Asked], folder: str | None, workers: int, threads: int
) -> tuple[Opponent, dict[Asked, Point]]:
    """Solve responses, until Ctrl-C at most: those that are finished.

    ``name`` separates experiments that share a folder.  ``workers`` responses are solved at a time, each in a process
    of its own; ``threads`` are for the bucket game.
    """
    with temporary_folder(folder) as place:
        opponent = open_opponent(setting, place, threads)
        _ = opponent.exploitability  # measured before the folder may be gone
        path = place / f"{name}.points"
        header = {"what": name, "setting": repr(setting), "asked": repr([tuple(one) for one in asked])}
        try:
            jobs = JobList(header, len(asked), (len(Point._fields),), path, path if path.exists() else None)
        except CounterplayError as error:
            raise CounterplayError(f"{path} is of other responses; name another folder ({error})") from None
        work = functools.partial(_solved, name, setting, list(asked), place)
        with keeping_rows():
            jobs.run_on(workers, work)
        rows = zip(asked, jobs.found.tolist(), jobs.done.tolist(), strict=True)
        return opponent, {one: Point(*row) for one, row, done in rows if done}


def _solved(name: str, setting: Setting, asked: list[Asked], folder: Path, number: int) -> Float64:
    """Solve one response; one that was interrupted continues."""
    one, opponent = asked[number], open_opponent(setting, folder)
    seen = observed(setting, folder, one.source, one.hands)
    model = FrequencyModel(seen, confidence=Confidence(one.confidence or "10-step"))
    checkpoint, before = folder / f"{name}-{number}.checkpoint", time.process_time()
    until = setting.until if one.p > 0.0 else setting.equilibrium
    settings = {"pairs": opponent.pairs, "until": until, "checkpoint": checkpoint}
    if checkpoint.exists():
        settings["resume"] = checkpoint
    run = prepare_response(opponent.form, model, ResponseKind(one.kind, one.p), opponent.strategy, settings)
    found = run.run()
    if found.status == "interrupted":
        raise KeyboardInterrupt
    checkpoint.unlink(missing_ok=True)
    true, unit = found.value_against_true, opponent.unit
    won = math.nan if true is None else unit * true
    spent = max(time.process_time() - before, float(found.facts.get("cpu_seconds", 0.0)))
    amounts = (unit * found.exploitability, unit * found.value_against_model, won, unit * found.gap)
    return np.array((*amounts, found.iterations, spent))


def read_values(grid: Sequence[str] | None, usual: Sequence[float] = GRID) -> tuple[float, ...]:
    """The values of p of an option; what is no probability is refused."""
    found = tuple(usual) if grid is None else read_grid(",".join(grid))
    for p in found:
        ResponseKind("rnr", p)
    return found


def check_figures(figures: Sequence[str]) -> None:
    """Refuse figures that there are not, before anything is solved."""
    for figure in figures:
        if figure not in FIGURES:
            raise CounterplayError(f"there is no figure {figure!r}; figures are some of {','.join(FIGURES)}")


def point_rows(points: dict[Asked, Point]) -> list[tuple[Cell, ...]]:
    """The points as rows of a table with ``COLUMNS``."""
    return [
        (one.label, one.source, one.hands, one.p, at.exploitability, at.model, at.true, at.gap, at.cpu_seconds)
        for one, at in points.items()
    ]


def point_curves(points: dict[Asked, Point]) -> Curves:
    """What is won from Orange by what is risked, a curve for each kind and each data; all begin at the equilibrium."""
    found: Curves = {}
    begin = points.get(EQUILIBRIUM)
    for one, at in points.items():
        if one.p > 0.0:
            name = f"{one.label}, {one.source}, {one.hands:,} hands"
            xs, ys = found.setdefault(name, ([], []) if begin is None else ([begin.exploitability], [begin.true]))
            xs.append(at.exploitability)
            ys.append(at.true)
    return found


def along(points: dict[Asked, Point], label: str, source: str, hands: int) -> list[tuple[float, Point]]:
    """The points of one curve with their p, ascending."""
    wanted = (label, source, hands)
    found = [(one.p, at) for one, at in points.items() if (one.label, one.source, one.hands) == wanted]
    return sorted(found, key=lambda pair: pair[0])


def yes(truth: bool) -> str:
    """A verdict as a report has it."""
    return "yes" if truth else "NO"
