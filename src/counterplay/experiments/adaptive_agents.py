"""Agents that adapt against a population of opponents, half of whom they never saw before.

Johanson 2016, sections 8.2 and 10.2.2: a portfolio of an equilibrium and responses to anticipated opponents, chosen
among by off-policy estimates while the match runs.  The source gives no such table; it reports the matches of 2008.

The population are four opponents for whom the portfolio has a response (a calling station, a maniac, an equilibrium
tilted so that winners get 25 % less, and a player who plays weakly) and four that it does not know (one who is loose
and passive, 50/50, an equilibrium tilted so that winners get 25 % more, and an exploitable agent of two buckets a
round).  Responses are restricted Nash responses in the bucket game.  Matches are duplicate, and each of the two tables
has its own agent, which remembers nothing of the other.

Results are by AIVAT with both strategies known, each hand with the member that played it.  ``exact`` is the mean over
hands of what that member wins from the opponent by the walk of the whole public tree: the same expectation without any
luck but that of the choices.  The equilibrium and the best member in hindsight are exact.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from counterplay.agents.entries import Entry
from counterplay.agents.exact_match import exact_match
from counterplay.agents.match_game import open_match_game
from counterplay.agents.matches import match
from counterplay.agents.portfolio import Member, Portfolio, load_portfolio
from counterplay.errors import CounterplayError
from counterplay.evaluation.matches.tally import Z_95
from counterplay.experiments.shared.bucket_games import cards_of
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.experiments.shared.observed_opponent import (
    FILES,
    SMALL,
    Opponent,
    Setting,
    open_opponent,
    temporary_folder,
)
from counterplay.experiments.shared.observed_opponent import tilted_table as tilted
from counterplay.forms import open_game
from counterplay.modelling.response_runs import respond
from counterplay.modelling.selection import RULES
from counterplay.runtime.jobs import JobList
from counterplay.solvers.bucket_cfr import BucketCfrSolver
from counterplay.solvers.bucket_pairs_cfr import BucketPairsSolver
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import PORTFOLIO
from counterplay.strategy.trivial import CardFree

Float64 = NDArray[np.float64]

SEEN = ("station", "maniac", "careful", "weak")
"""The opponents for whom the portfolio has a response."""

UNSEEN = ("loose", "50/50", "bold", "small")
"""Those for whom it has none."""

TRUST = 0.75
"""With which probability the opponent is taken to play the model, in restricted Nash responses."""

TILT, SMALL_ITERATIONS, WEAK = 25.0, 60, 0.5
"""Percents of the tilts; iterations of the agent of two buckets; how often the weak player plays an equilibrium."""

FULL = Setting("holdem_2_4", "PS5/PS5", None, 400, "2mbb", "1mbb")


def run(
    quick: bool = False, matches: int = 20, deals: int = 3000, select: str = "thompson", estimator: str = "ac+ef",
    folder: str | None = None, workers: int = 1, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Play the matches.

    Parameters
    ----------
    quick : bool
        [2-4] hold'em with 18 cards and three buckets a round, instead of 52 and five.
    matches, deals : int
        Matches against each opponent, and deals of a match, each played in both seats.
    select, estimator : str
        The rule of the agent, and its estimator.
    folder : str, optional
        Where strategies and finished matches are kept; the same experiment with the same folder continues.
    workers, threads : int
        Matches played at a time, each in a process; threads for the strategies.
    """
    if select not in RULES:
        raise CounterplayError(f"rules are {', '.join(RULES)}; got {select!r}")
    setting = SMALL if quick else FULL
    with temporary_folder(folder) as place:
        values = _prepared(setting, place, threads)
        names, members = (*SEEN, *UNSEEN), load_portfolio(place / "portfolio").names
        asked = {"what": "adaptive-agents", "setting": repr(setting), "deals": deals, "select": select,
                 "estimator": estimator, "matches": matches}  # fmt: skip
        path = place / f"adaptive-{select}-{estimator}-{deals}x{matches}.jobs"
        # the first matches against everybody come first, so that a stop leaves something of each
        jobs = JobList(asked, matches * len(names), (2 + len(members),), path, path if path.exists() else None)
        work = functools.partial(_played, setting, place, deals, f"select={select},estimator={estimator}")
        with keeping_rows():
            jobs.run_on(workers, work)
        found = {
            name: jobs.found[number :: len(names)][jobs.done[number :: len(names)]] for number, name in enumerate(names)
        }
    return Experiment(
        title=f"{matches} matches of {deals:,} duplicate deals in {setting.game}, by {select} and {estimator}; mbb/g",
        source="Johanson 2016, sections 8.2 and 10.2.2 (no such table there)",
        columns=("opponent", "response", "matches", "equilibrium", "best member", "which", "adaptive", "±", "exact",
                 "± of exact", "more than equilibrium", "lost of the difference, %", "hands of the best, %"),
        rows=tuple(_rows(found, values, members)),
        notes=(
            "± is half of the 95 % interval over matches; in the last rows over the matches with all opponents, each "
            "with the same weight.",
        ),
    )  # fmt: skip


def _rows(found: dict[str, Float64], values: Float64, members: tuple[str, ...]) -> list[tuple[Cell, ...]]:
    """A row for each opponent that was played, and the means over those seen, unseen and all."""
    rows: list[tuple[Cell, ...]] = []
    facts: dict[str, tuple[float, ...]] = {}
    for number, (name, results) in enumerate(found.items()):
        if not len(results):
            continue
        best, plain = int(values[:, number].argmax()), float(values[0, number])
        top = float(values[best, number])
        won, exact = results[:, 0], results[:, 1]
        half, spread = (_half(one) for one in (won, exact))
        facts[name] = (plain, top, float(won.mean()), half, float(exact.mean()), spread)
        share = 100.0 * float(results[:, 2 + best].mean())
        rows.append((name, "yes" if name in SEEN else "no", len(results), plain, top, members[best],
                     *_compared(facts[name]), share))  # fmt: skip
    for title, group in (("mean, seen", SEEN), ("mean, unseen", UNSEEN), ("mean of all", (*SEEN, *UNSEEN))):
        chosen = np.array([facts[name] for name in group if name in facts])
        if len(chosen) == len(group):
            mean = chosen.mean(axis=0)
            mean[[3, 5]] = np.sqrt((chosen[:, [3, 5]] ** 2).sum(axis=0)) / len(chosen)
            rows.append((title, None, None, float(mean[0]), float(mean[1]), None, *_compared(tuple(mean.tolist())),
                         None))  # fmt: skip
    return rows


def _compared(facts: tuple[float, ...]) -> tuple[Cell, ...]:
    """What the agent won, and how that compares; by the exact values."""
    plain, top, won, half, exact, spread = facts
    lost = 100.0 * (top - exact) / (top - plain) if top - plain > 1e-9 else None
    return won, half, exact, spread, exact - plain, lost


def _half(scores: Float64) -> float:
    """Half of the 95 % interval of a mean."""
    return Z_95 * float(scores.std(ddof=1)) / math.sqrt(len(scores)) if len(scores) > 1 else math.inf


def _played(setting: Setting, place: Path, deals: int, settings: str, number: int) -> Float64:
    """A match: what the agent wins by AIVAT and exactly, in mbb/g, and the share of each member."""
    names = (*SEEN, *UNSEEN)
    opponent = number % len(names)
    entries = [
        Entry("adaptive", f"{place / 'portfolio'}?{settings}"),
        Entry("opponent", str(_file(place, names[opponent]))),
    ]
    result = match(open_match_game(setting.game), entries, deals, seed=number, estimators="aivat")
    if result.interrupted:
        raise KeyboardInterrupt
    (won,) = [one.mean for one in result.estimates["adaptive"] if one.name == "aivat"]
    tables = result.choices["adaptive"]
    values = np.load(place / "values.npy", allow_pickle=False)
    count = values.shape[0]
    exact = np.mean([values[one.played, opponent, seat].mean() for seat, one in enumerate(tables)])
    shares = np.mean([np.bincount(one.played, minlength=count) / deals for one in tables], axis=0)
    unit = 1000.0 / (result.big_blind or 1.0)
    return np.concatenate([[unit * won, exact], shares])


def _file(place: Path, name: str) -> Path:
    return place / "population" / f"{name.replace('/', '-')}.strategy"


def _prepared(setting: Setting, place: Path, threads: int) -> Float64:
    """The strategies, made if they are missing; what each member wins from each opponent, both seats, mbb/g."""
    made = open_opponent(setting, place, threads)
    form = open_game(setting.game, "buckets", cards=[place / FILES[0]])  # whose strategies name their card file
    opened = dataclasses.replace(made, form=form)
    names = (*SEEN, *UNSEEN)
    if not all(_file(place, name).exists() for name in names):
        (place / "population").mkdir(exist_ok=True)
        for name, strategy in _population(setting, opened, place, threads).items():
            strategy.save(_file(place, name), "float64")
    if not (place / "portfolio" / PORTFOLIO).exists():
        _portfolio(setting, opened, place).save(place / "portfolio")
    path = place / "values.npy"
    if not path.exists():
        members = [Entry(member.name, member.strategy) for member in load_portfolio(place / "portfolio").members]
        others = [Entry(name, str(_file(place, name))) for name in names]
        table = exact_match(setting.game, [*members, *others], threads)
        unit = 1000.0 / (table.big_blind or 1.0)
        np.save(path, unit * table.chips[: len(members), len(members) :])
    return np.asarray(np.load(path, allow_pickle=False).mean(axis=2))


def _equilibrium(setting: Setting, opened: Opponent) -> Float64:
    solver = BucketPairsSolver(opened.form, "cfr+", pairs=opened.pairs)
    solver.step(setting.iterations)
    return solver.strategy()


def _population(setting: Setting, opened: Opponent, place: Path, threads: int) -> dict[str, BucketStrategy]:
    form, pairs = opened.form, opened.pairs
    plain, weak = _equilibrium(setting, opened), CardFree(0.5, 0.4, 0.1).buckets(form).strategy()
    path = place / "small.cpa"
    if not path.exists():
        cards_of(setting.game, "PS2/PS2", threads=threads).save(path)
    coarse = open_game(setting.game, "buckets", cards=[path])
    bot = BucketCfrSolver(coarse, "cfr+")
    bot.step(SMALL_ITERATIONS)
    tables = {
        "careful": tilted(form, pairs, setting, -TILT), "bold": tilted(form, pairs, setting, TILT),
        "weak": WEAK * plain + (1.0 - WEAK) * weak,
    }  # fmt: skip
    return {
        "station": CardFree(0.0, 0.9, 0.1).buckets(form), "maniac": CardFree(0.0, 0.2, 0.8).buckets(form),
        "loose": CardFree(0.15, 0.7, 0.15).buckets(form), "50/50": CardFree(0.0, 0.5, 0.5).buckets(form),
        "small": BucketStrategy.of_game(coarse, bot.strategy()),
        **{name: BucketStrategy.of_game(form, table) for name, table in tables.items()},
    }  # fmt: skip


def _portfolio(setting: Setting, opened: Opponent, place: Path) -> Portfolio:
    """The equilibrium, and a response to each opponent that is anticipated."""
    form = opened.form
    members = [Member("equilibrium", BucketStrategy.of_game(form, _equilibrium(setting, opened)))]
    for name in SEEN:
        model = str(_file(place, name))
        made = respond(form, model, "rnr", TRUST, pairs=opened.pairs, until=setting.until, progress=False)
        members.append(Member(f"against-{name}", made.strategy))
    return dataclasses.replace(Portfolio(setting.game, tuple(members)), select="thompson")
