"""The experiment that compares strategies before and after their subgames are solved again."""

from __future__ import annotations

import pytest

from counterplay.errors import CounterplayError
from counterplay.experiments import run_experiment


def test_safe_is_never_above_what_it_can_be_and_unsafe_may_be() -> None:
    found = run_experiment("resolving", scale="quick", blueprints=("random", "cfr+ 100"), iterations=60)
    assert [row[:3] for row in found.rows] == [("leduc_limit_2p", 1, "random"), ("leduc_limit_2p", 1, "cfr+ 100")]
    for row in found.rows:
        before, safe, most, _, subgames, _ = (float(cell or 0) for cell in row[3:])
        assert safe <= most
        assert most >= before
        assert subgames == 15
    (random, good) = found.rows
    assert float(random[6] or 0) < float(random[3] or 0)
    assert float(good[6] or 0) > 2 * float(good[3] or 0)
    assert found.notes[0].endswith("true.")
    assert found.notes[1] == "From both ranges it is higher than before in 1 of 2 rows."


def test_unknown_blueprints_are_refused() -> None:
    with pytest.raises(CounterplayError, match=r"blueprints are uniform, random, buckets and cfr\+ with a number"):
        run_experiment("resolving", scale="quick", blueprints=("cfr+",))
