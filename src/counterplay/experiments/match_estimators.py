"""Bias and deviation of estimators of match results, on- and off-policy, with full and partial information.

Johanson 2016, tables 7.1 and 7.3: hands of S2298 against PsOpti4 in limit hold'em, from which the winnings of S2298
itself, of CFR8 and of Orange were estimated.  Those agents are not public; ours have the same roles, by the same five
buckets.  An equilibrium plays against *Green*, and two others are evaluated, *Peach* and *Orange*; all three are
tilted by 7 %.  Compare the order and the ratios, not the amounts.  The bias of an off-policy estimate is taken against
duplicate matches of the evaluated strategy itself, as in the source.

Departure: AIVAT (Burch and others 2018) is a row too.  Our early folds with partial information imagine folds only,
and are unbiased on-policy and off.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterplay.agents.entries import make_entries
from counterplay.agents.match_estimates import MatchRecorder
from counterplay.agents.match_game import open_match_game
from counterplay.agents.matches import Seeds, play_piece, seatings_of
from counterplay.evaluation.matches.estimator import FULL
from counterplay.evaluation.matches.match_analysis import EstimatorSet, as_seen
from counterplay.evaluation.matches.summary import MATCH
from counterplay.evaluation.matches.tally import Z_95
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.experiments.shared.observed_opponent import (
    SMALL,
    Setting,
    open_opponent,
    temporary_folder,
    tilted_table,
    yes,
)
from counterplay.game.transforms import TILTS
from counterplay.runtime.jobs import JobList
from counterplay.solvers.bucket_pairs_cfr import BucketPairsSolver
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy

Float64 = NDArray[np.float64]

HANDS = 1_000_000
CHUNK = 10_000
"""Hands of a job."""

ITERATIONS = {"equilibrium": 100, "peach": 40, "green": 40}
"""Of CFR+; Orange is that of the other experiments."""

EVALUATED = ("equilibrium", "peach", "orange")
"""The strategies in question; the first one plays."""

OPPONENT = "green"

REFERENCE = 8
"""Deals of the matches that give the truth, for each estimated hand."""

PUBLISHED = {
    ("full", "basic"): ((0, 5103), (200, 62543), (159, 20559)),
    ("full", "divat"): ((0, 1935), (62, 53033), (3, 11350)),
    ("full", "bc-divat"): ((0, 2891), (84, 22303), (103, 12862)),
    ("full", "ef"): ((0, 5126), (123, 61481), (82, 17923)),
    ("full", "ac"): ((0, 4213), (12, 8518), (7, 8591)),
    ("full", "ac+bc-divat"): ((0, 2146), (35, 3254), (8, 3154)),
    ("full", "ac+ef+bc-divat"): ((0, 1778), (2, 2514), (6, 2421)),
    ("partial", "basic"): ((0, 5104), (202, 40903), (204, 23314)),
    ("partial", "divat"): ((81, 2762), (175, 23376), (218, 10029)),
    ("partial", "bc-divat"): ((95, 2759), (183, 23402), (244, 10045)),
    ("partial", "ef"): ((47, 5065), (181, 39877), (218, 22379)),
    ("partial", "ac"): ((5, 4218), (13, 7904), (3, 8092)),
    ("partial", "ac+bc-divat"): ((96, 2650), (101, 4014), (203, 3880)),
}  # fmt: skip
"""Bias and standard deviation, millibets a hand, of S2298 itself, CFR8 and Orange (tables 7.1 and 7.3)."""


class Case(NamedTuple):
    """Whose winnings are estimated, and from what."""

    evaluated: str
    information: str


CASES = tuple(Case(name, seen) for seen in ("full", "partial") for name in EVALUATED)


def run(
    quick: bool = False, hands: int | None = None, folder: str | None = None, workers: int = 1, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Estimate hands.

    Parameters
    ----------
    quick : bool
        Two rounds, 18 cards, three buckets, and 4,000 hands.
    hands : int, optional
        Hands that are played.
    folder : str, optional
        Where everything is kept as it is finished; the same command continues.
    workers : int
        Parts that are estimated at a time, each in a process of its own.
    threads : int
        For the features of hands and the bucket pairs.
    """
    setting = SMALL if quick else Setting()
    total = (4_000 if quick else HANDS) if hands is None else hands
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    with temporary_folder(folder) as place:
        open_opponent(setting, place, threads)
        strategies_of(setting, place)
        sums = estimated(setting, place, total, workers)
        if sums is not None:
            rows, notes = _table(measured(sums, true_values(setting, place, total), setting), quick)
    return Experiment(
        title=f"Estimators of match results in {setting.game}, {setting.cards}, mbb/g",
        source="Johanson 2016, tables 7.1 and 7.3",
        columns=("information", "evaluated", "estimator", "bias", "± 95 %", "sd", "RMSE of 1,000 hands",
                 "published bias", "published sd"),
        rows=tuple(rows),
        notes=tuple(notes),
    )  # fmt: skip


def strategies_of(setting: Setting, folder: Path) -> dict[str, BucketStrategy]:
    """The strategies by name, from their files in a folder, which are made if they are missing."""
    opponent = open_opponent(setting, folder)
    form, pairs = opponent.form, opponent.pairs
    found = {"orange": opponent.strategy}
    for name in ITERATIONS:
        path = folder / f"{name}.strategy"
        if not path.exists():
            if name in TILTS:
                shorter = dataclasses.replace(setting, iterations=ITERATIONS[name])
                table = tilted_table(form, pairs, shorter, tilt=name)
            else:
                solver = BucketPairsSolver(form, "cfr+", pairs=pairs)
                solver.step(ITERATIONS[name])
                table = solver.strategy()
            BucketStrategy.of_game(form, table).save(path)
        found[name] = load_strategy(path, form)
    assert all(isinstance(one, BucketStrategy) for one in found.values())
    return found  # type: ignore[return-value]


def estimated(
    setting: Setting, folder: Path, hands: int, workers: int = 1, observed: str = EVALUATED[0]
) -> Float64 | None:
    """Hands of an observed strategy, estimated: counts, sums and sums of squares by case and estimator, in chips.

    The folder keeps what is finished.  None if the run was stopped before anything was.
    """
    chunk = min(CHUNK, max(1, hands // 2))
    header: dict[str, object] = {"what": "match-estimators", "setting": repr(setting), "chunk": chunk}
    name = f"estimators-{hands}"
    if observed != EVALUATED[0]:
        header["observed"], name = observed, f"estimators-{observed}-{hands}"
    path, count = folder / f"{name}.parts", math.ceil(hands / chunk)
    jobs = JobList(header, count, (len(CASES), len(FULL), 3), path, path if path.exists() else None)
    with keeping_rows():
        jobs.run_on(workers, functools.partial(_part, setting, folder, chunk, observed))
    return jobs.found[jobs.done].sum(axis=0) if jobs.done.any() else None


@functools.lru_cache(maxsize=1)
def _made(setting: Setting, folder: Path, observed: str) -> tuple[dict[str, BucketStrategy], dict[Case, EstimatorSet]]:
    """The strategies, and the estimators of each case."""
    strategies = strategies_of(setting, folder)
    rules, played = strategies[observed].abstract.definition, strategies[observed]
    made = {}
    for case in CASES:
        other = None if case.evaluated == observed else strategies[case.evaluated]
        made[case] = EstimatorSet(rules, played, other, partial=case.information == "partial")
    return strategies, made


def _part(setting: Setting, folder: Path, chunk: int, observed: str, number: int) -> Float64:
    """Play and estimate some hands: (cases, estimators, 3) counts, sums and sums of squares, in chips."""
    strategies, made = _made(setting, folder, observed)
    played = open_match_game(setting.game)
    entries = make_entries([strategies[observed], strategies[OPPONENT]])
    recorder = MatchRecorder(played, entries, seatings := seatings_of(2))
    play_piece(played, entries, Seeds.of(7, number), 0, chunk // 2, seatings, recorder)
    tree = strategies[observed].abstract.tree
    hands = recorder.poker_hands(0, tree)
    seen = {"full": hands, "partial": [as_seen(tree, hand) for hand in hands]}
    found = np.zeros((len(CASES), len(FULL), 3))
    for row, case in enumerate(CASES):
        rows = made[case].estimate(seen[case.information])
        for column, one in enumerate(made[case].estimators):
            values = rows[:, column]
            found[row, FULL.index(one)] = len(values), values.sum(), (values**2).sum()
    return found


def true_values(setting: Setting, folder: Path, hands: int) -> dict[str, tuple[float, float]]:
    """What each strategy wins from the opponent in duplicate matches, and half of the 95 % interval, in chips."""
    strategies, played = strategies_of(setting, folder), open_match_game(setting.game)
    found: dict[str, tuple[float, float]] = {}
    for name in EVALUATED:
        entries = make_entries([strategies[name], strategies[OPPONENT]])
        found[name] = play_piece(played, entries, Seeds.of(8), 0, REFERENCE * hands).estimate(0)
    return found


class Measured(NamedTuple):
    """An estimator in a case, mbb/g: its bias, half of the interval of it, its deviation, its error in a match."""

    bias: float
    half: float
    deviation: float
    error: float


def measured(
    sums: Float64, truth: dict[str, tuple[float, float]], setting: Setting
) -> dict[tuple[Case, str], Measured]:
    """The estimators of each case, from counts, sums and sums of squares."""
    unit = 1000.0 / float(open_match_game(setting.game).big_blind or 1.0)
    found = {}
    for row, case in enumerate(CASES):
        for column, one in enumerate(FULL):
            count, total, square = sums[row, column]
            if not count:
                continue
            mean, known = total / count, truth[case.evaluated]
            deviation = math.sqrt(max(square / count - mean**2, 0.0))
            half = math.hypot(Z_95 * deviation / math.sqrt(count), known[1])
            bias = mean - known[0]
            error = math.sqrt(bias**2 + deviation**2 / MATCH)
            found[case, one.name] = Measured(unit * bias, unit * half, unit * deviation, unit * error)
    return found


def _table(found: dict[tuple[Case, str], Measured], quick: bool) -> tuple[list[tuple[Cell, ...]], list[str]]:
    """The rows in mbb/g, and what the source says of them."""
    rows: list[tuple[Cell, ...]] = []
    for (case, name), one in found.items():
        shown = PUBLISHED.get((case.information, name))
        there = (None, None) if shown is None else shown[EVALUATED.index(case.evaluated)]
        rows.append((case.information, case.evaluated, name, *one, *there))
    said = list(_verdicts({key: one.deviation for key, one in found.items()}))
    return rows, said if not quick else [*said, "quick: two rounds and 18 cards"]


def _verdicts(spread: dict[tuple[Case, str], float]) -> list[str]:
    """The ratios that the source reports, and ours."""
    found = []
    for name, published in zip(EVALUATED, (5103 / 1778, 62543 / 2514, 20559 / 2421), strict=True):
        case = Case(name, "full")
        ratio = spread[case, "basic"] / spread[case, "ac+ef+bc-divat"]
        policy = "on-policy" if name == EVALUATED[0] else "off-policy"
        found.append(
            f"{policy}, {name}: AC+EF+BC-DIVAT has 1/{ratio:.1f} of the deviation of basic importance sampling, "
            f"published 1/{published:.1f}."
        )
    own = Case(EVALUATED[0], "full")
    better = spread[own, "aivat"] < spread[own, "ac+ef+bc-divat"]
    found.append(f"AIVAT is below AC+EF+BC-DIVAT: {yes(better)}, {spread[own, 'aivat']:.0f}.")
    return found
