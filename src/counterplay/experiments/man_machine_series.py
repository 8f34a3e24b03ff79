"""A series of matches as those of Polaris against people, judged by money and by estimators with less variance.

Johanson 2016, chapter 8, tables 8.1 and 8.2: matches of 500 duplicate hands, a match being won by more than 25 big
blinds, and significantly if a one-sided test at 95 % says so.  People are not to be had; an equilibrium by five buckets
plays against *Green*, an agent tilted by 7 %, from whom it wins little.  ``divat`` is our own value function, and
``ac+ef+divat`` is what the source calls IO-DIVAT: imaginary observations with DIVAT.  AIVAT is added; it knows both
strategies, which nobody does of people.
"""

from __future__ import annotations

from counterplay.agents.entries import Entry
from counterplay.agents.match_game import open_match_game
from counterplay.agents.matches import match
from counterplay.evaluation.matches.summary import RESULTS, Summary
from counterplay.experiments.match_estimators import OPPONENT, strategies_of
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.experiments.shared.observed_opponent import SMALL, Setting, open_opponent, temporary_folder

ESTIMATORS = ("money", "divat", "ac+ef+divat", "aivat")

PUBLISHED = {
    "money": ((0, 1, -1, -1), (0, 0, 0, 0)), "divat": ((0, 1, 0, 0), (0, 0, 0, 0)),
    "ac+ef+divat": ((1, 1, 1, 1), (1, 1, 0, 1)),
}  # fmt: skip
"""Of 2007 (table 8.1): the results of the four matches, and which of them are significant."""


def run(
    quick: bool = False, matches: int = 4, deals: int = 500, folder: str | None = None, threads: int = 1
) -> Experiment:
    """Play and judge a series.

    Parameters
    ----------
    quick : bool
        Two rounds, 18 cards, three buckets, and 100 deals a match.
    matches, deals : int
        Matches, and deals of a match, each played in both seats.
    folder : str, optional
        Where the strategies are kept.
    threads : int
        For the features of hands and the bucket pairs.
    """
    setting, size = (SMALL, min(deals, 100)) if quick else (Setting(), deals)
    found: list[tuple[Summary, ...]] = []
    with keeping_rows(), temporary_folder(folder) as place:
        open_opponent(setting, place, threads)
        strategies = strategies_of(setting, place)
        played = open_match_game(setting.game)
        entries = [Entry("machine", strategies["equilibrium"]), Entry("human", strategies[OPPONENT])]
        for number in range(matches):
            words = ",".join(ESTIMATORS[1:])
            result = match(played, entries, size, seed=number, estimators=words)
            found.append(result.estimates["machine"])
    unit = float(open_match_game(setting.game).big_blind or 1.0)
    return Experiment(
        title=f"{matches} matches of {size} duplicate deals in {setting.game}",
        source="Johanson 2016, tables 8.1 and 8.2",
        columns=("estimator", "matches", "total", "significant", "total", "mean ± of a match, mbb/g",
                 "published", "published significant"),
        rows=tuple(_row(name, found, unit) for name in ESTIMATORS if found),
        notes=("Published: Polaris against people in 2007; the order of estimators is what to compare.",),
    )  # fmt: skip


def _row(name: str, found: list[tuple[Summary, ...]], big_blind: float) -> tuple[Cell, ...]:
    """What an estimator says of all matches."""
    rows = [one for summaries in found for one in summaries if one.name == name]
    raw, sure = [one.result(big_blind) for one in rows], [one.significant for one in rows]
    half = 1000.0 / big_blind * sum(one.half for one in rows) / len(rows)
    there = [_words(row) for row in PUBLISHED[name]] if name in PUBLISHED else [None, None]
    return (name, _words(raw), sum(raw), _words(sure), sum(sure), half, *there)


def _words(results: list[int] | tuple[int, ...]) -> str:
    return " ".join(RESULTS[one] for one in results)
