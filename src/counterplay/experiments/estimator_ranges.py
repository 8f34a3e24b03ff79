"""Estimators of match results over all pairs of an observed and an evaluated strategy.

Johanson 2016, tables 7.2 and 7.4: the smallest and the largest bias, deviation and error of each estimator, on-policy
(a strategy judges its own hands) and off-policy (it judges those that another one played), with all cards known and
with those of folded hands hidden.  The source concludes that AC+EF+BC-DIVAT (full information) is the best throughout,
and that with partial information AC+BC-DIVAT is, off-policy.  The strategies are those of ``match-estimators``: an
equilibrium and two tilted ones, each of which is observed against a fourth.
"""

from __future__ import annotations

from collections.abc import Iterator

from counterplay.experiments.match_estimators import (
    EVALUATED,
    HANDS,
    Measured,
    estimated,
    measured,
    strategies_of,
    true_values,
)
from counterplay.experiments.shared.experiment import Cell, Experiment
from counterplay.experiments.shared.observed_opponent import SMALL, Setting, open_opponent, temporary_folder, yes

PUBLISHED = {
    ("full", "on-policy", "basic"): ("0", "5102 to 5385", "161 to 170"),
    ("full", "on-policy", "divat"): ("0", "1935 to 2011", "61 to 64"),
    ("full", "on-policy", "bc-divat"): ("0", "2891 to 2930", "91 to 92"),
    ("full", "on-policy", "ac+ef+bc-divat"): ("0", "1701 to 1778", "54 to 56"),
    ("full", "off-policy", "basic"): ("49 to 200", "20559 to 244469", "669 to 7732"),
    ("full", "off-policy", "divat"): ("2 to 62", "11350 to 138834", "358 to 4390"),
    ("full", "off-policy", "bc-divat"): ("10 to 103", "12862 to 173715", "419 to 5493"),
    ("full", "off-policy", "ac+ef+bc-divat"): ("2 to 9", "1816 to 2857", "58 to 90"),
    ("partial", "on-policy", "basic"): ("0", "5104 to 5391", "161 to 170"),
    ("partial", "on-policy", "divat"): ("56 to 144", "2762 to 2876", "105 to 170"),
    ("partial", "on-policy", "bc-divat"): ("78 to 199", "2759 to 2859", "118 to 219"),
    ("partial", "on-policy", "ac+bc-divat"): ("78 to 206", "2656 to 2766", "115 to 224"),
    ("partial", "off-policy", "basic"): ("17 to 433", "23314 to 238874", "753 to 7566"),
    ("partial", "off-policy", "divat"): ("103 to 282", "10029 to 88791", "384 to 2822"),
    ("partial", "off-policy", "bc-divat"): ("35 to 243", "10045 to 99287", "400 to 3139"),
    ("partial", "off-policy", "ac+bc-divat"): ("63 to 230", "3055 to 6785", "143 to 258"),
}
"""Bias, standard deviation and RMSE of 1,000 hands, mbb/g, by information, policy and estimator."""

BEST = {"full": "ac+ef+bc-divat", "partial": "ac+bc-divat"}
"""The estimators that the source finds the best of those in its tables."""

Found = dict[tuple[str, str], dict[tuple[str, str], Measured]]
"""By information and estimator: what was measured of each pair of an observed and an evaluated strategy."""


def run(
    quick: bool = False, hands: int | None = None, folder: str | None = None, workers: int = 1, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Estimate the hands of each strategy.

    Parameters
    ----------
    quick : bool
        Two rounds, 18 cards, three buckets, and 4,000 hands of each instead of 1,000,000.
    hands : int, optional
        Hands that are played by each strategy.
    folder : str, optional
        Where everything is kept as it is finished, that of ``match-estimators`` too; the same command continues.
    workers : int
        Parts that are estimated at a time, each in a process of its own.
    threads : int
        For the features of hands and the bucket pairs.
    """
    setting = SMALL if quick else Setting()
    total = (4_000 if quick else HANDS) if hands is None else hands
    found: Found = {}
    with temporary_folder(folder) as place:
        open_opponent(setting, place, threads)
        strategies_of(setting, place)
        truth = true_values(setting, place, total)
        for observed in EVALUATED:
            sums = estimated(setting, place, total, workers, observed)
            if sums is not None:
                for (case, name), one in measured(sums, truth, setting).items():
                    found.setdefault((case.information, name), {})[observed, case.evaluated] = one
    return Experiment(
        title=f"Estimators over all pairs of strategies in {setting.game}, {setting.cards}, mbb/g, {total:,} hands",
        source="Johanson 2016, tables 7.2 and 7.4",
        columns=("information", "policy", "estimator", "bias", "sd", "RMSE of 1,000 hands", "published bias",
                 "published sd", "published RMSE"),
        rows=tuple(ranges(found)),
        notes=(*verdicts(found), "Other agents than in the source: compare the order and the ratios, not the amounts."),
    )  # fmt: skip


def _pairs(found: Found, information: str, policy: str) -> list[tuple[str, str]]:
    """The pairs of an observed and an evaluated strategy, the same one on-policy."""
    pairs = next((list(pairs) for (known, _), pairs in found.items() if known == information), [])
    return [pair for pair in pairs if (pair[0] == pair[1]) == (policy == "on-policy")]


def ranges(found: Found) -> Iterator[tuple[Cell, ...]]:
    """The smallest and the largest amount of each estimator, bias without its sign."""
    for information in ("full", "partial"):
        for policy in ("on-policy", "off-policy"):
            pairs = _pairs(found, information, policy)
            for name in [name for known, name in found if known == information and pairs]:
                points = [found[information, name][pair] for pair in pairs if pair in found[information, name]]
                if points:
                    columns = ([abs(one.bias) for one in points], [one.deviation for one in points],
                               [one.error for one in points])  # fmt: skip
                    cells = [f"{min(column):.0f} to {max(column):.0f}" for column in columns]
                    published = PUBLISHED.get((information, policy, name), (None, None, None))
                    yield (information, policy, name, *cells, *published)


def verdicts(found: Found) -> Iterator[str]:
    """Whether the best estimators of the source have the smallest deviation of those in its tables, pair by pair."""
    for information, best in BEST.items():
        for policy in ("on-policy", "off-policy"):
            rivals = [name for known, kind, name in PUBLISHED if (known, kind) == (information, policy)]
            pairs = _pairs(found, information, policy)
            spread = [{name: found[information, name][pair].deviation for name in rivals} for pair in pairs]
            first = sum(min(one, key=one.__getitem__) == best for one in spread)
            yield (
                f"{information} information, {policy}: {best} has the smallest deviation of the published estimators "
                f"for {first} of {len(pairs)} pairs: {yes(first == len(pairs))} (published: yes)."
            )
