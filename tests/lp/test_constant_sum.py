"""Games whose utilities add up to a constant: the same equilibria as the zero-sum game, and the values shifted."""

from __future__ import annotations

from pathlib import Path

import pytest

import counterplay as cp
from counterplay.errors import GameError

COINS = """EFG 2 R "matching coins for a prize of 10" { "one" "two" }
p "" 1 1 "" { "h" "t" } 0
p "" 2 1 "" { "h" "t" } 0
t "" 1 "" { 10, 0 }
t "" 2 "" { 3, 7 }
p "" 2 1 "" { "h" "t" } 0
t "" 3 "" { 2, 8 }
t "" 4 "" { 6, 4 }
"""
# By hand: 10 p + 2 (1 - p) = 3 p + 6 (1 - p) at p = 4/11, worth 54/11; q: 10 q + 3 (1 - q) = 2 q + 6 (1 - q), q = 3/11.


@pytest.mark.parametrize("settings", [{}, {"exact": True}, {"method": "ipm"}])
def test_a_prize_is_divided(tmp_path: Path, settings: dict[str, object]) -> None:
    path = tmp_path / "coins.efg"
    path.write_text(COINS, encoding="utf-8")
    result = cp.solve(str(path), "lp", **settings)
    assert result.status == "solved"
    assert result.value == pytest.approx((54 / 11, 56 / 11), abs=1e-6)
    assert abs(result.exploitability) <= 1e-6
    rows = {player: row for player, _, row in result.profile.infosets()}
    assert rows[0]["h"] == pytest.approx(4 / 11, abs=1e-6)
    assert rows[1]["h"] == pytest.approx(3 / 11, abs=1e-6)
    if settings == {"exact": True}:
        assert result.details["exact_value"] == "54/11"


def test_other_games_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.efg"
    path.write_text(COINS.replace("{ 6, 4 }", "{ 6, 5 }"), encoding="utf-8")
    with pytest.raises(GameError, match=r"is for zero-sum games, but utilities of .* do not add up to 0"):
        cp.solve(str(path), "lp")


def test_sizes_by_name() -> None:
    assert cp.estimate_size("kuhn").histories == pytest.approx(58, rel=0.2)  # what it has
