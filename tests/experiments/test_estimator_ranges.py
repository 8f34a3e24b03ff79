"""Ranges of estimators over pairs of strategies, and which estimator is said to be the best."""

from __future__ import annotations

from pathlib import Path

from counterplay.experiments import run_experiment
from counterplay.experiments.estimator_ranges import PUBLISHED, Found, ranges, verdicts
from counterplay.experiments.match_estimators import EVALUATED, Measured

PAIRS = [(one, other) for one in EVALUATED for other in EVALUATED]


def measured(deviations: dict[str, float]) -> Found:
    """The same deviation for all pairs with all cards known, but one more for each later pair; bias by its sign."""
    return {
        ("full", name): {
            pair: Measured((-1.0) ** place * place, 1.0, size + place, 2.0 * size) for place, pair in enumerate(PAIRS)
        }
        for name, size in deviations.items()
    }


NAMES = [name for information, policy, name in PUBLISHED if (information, policy) == ("full", "on-policy")]


def test_ranges_by_policy() -> None:
    """On-policy are the pairs 0, 4 and 8, off-policy all others; a bias has no sign."""
    rows = list(ranges(measured({"basic": 100.0})))
    assert [row[:6] for row in rows] == [
        ("full", "on-policy", "basic", "0 to 8", "100 to 108", "200 to 200"),
        ("full", "off-policy", "basic", "1 to 7", "101 to 107", "200 to 200"),
    ]
    assert rows[0][6:] == ("0", "5102 to 5385", "161 to 170")


def test_the_best_estimator_is_that_of_every_pair() -> None:
    found = measured({name: 100.0 - 10.0 * place for place, name in enumerate(NAMES)})
    assert NAMES[-1] == "ac+ef+bc-divat"
    said = list(verdicts(found | {("partial", name): one for (_, name), one in measured_partial().items()}))
    assert [line.rpartition("for ")[2] for line in said] == [
        "3 of 3 pairs: yes (published: yes).",
        "6 of 6 pairs: yes (published: yes).",
        "0 of 3 pairs: NO (published: yes).",
        "0 of 6 pairs: NO (published: yes).",
    ]


def measured_partial() -> Found:
    """With hidden cards basic has the smallest deviation."""
    names = {name for information, _, name in PUBLISHED if information == "partial"}
    return measured({name: 1.0 if name == "basic" else 50.0 for name in names})


def test_one_observed_strategy_is_that_of_match_estimators(tmp_path: Path) -> None:
    """Both experiments share a folder: the hands of the equilibrium are estimated once, to the same amounts."""
    options = {"hands": 40, "folder": str(tmp_path)}
    single = run_experiment("match-estimators", "quick", **options)
    before = (tmp_path / "estimators-40.parts").read_bytes()
    pairs = run_experiment("estimator-ranges", "quick", **options)
    assert (tmp_path / "estimators-40.parts").read_bytes() == before
    assert {path.name for path in tmp_path.glob("*.parts")} == {
        "estimators-40.parts", "estimators-peach-40.parts", "estimators-orange-40.parts",
    }  # fmt: skip
    alone = next(float(row[5] or 0) for row in single.rows if row[:3] == ("full", "equilibrium", "basic"))
    low, high = next(str(row[4]).split(" to ") for row in pairs.rows if row[:3] == ("full", "on-policy", "basic"))
    assert float(low) - 0.5 <= alone <= float(high) + 0.5
