"""Leduc hold'em whose players do not see which rank of a group a card has."""

from __future__ import annotations

import pytest

from counterplay.errors import AbstractionError, GameError
from counterplay.forms import open_game

RULES = "leduc(physical_board=true)"


@pytest.mark.parametrize(
    ("what", "size"),
    [
        ("ranks=JQ-K", 132),
        ("ranks=J-QK", 132),
        ("ranks=JQK", 66),
        ("ranks=JQ-K,outside=b,kb,kk/b,kk/kb", 444),
        ("ranks=JQ-K, outside=b,kb,kk/b,kk/kb@1", 288),
        ("outside=b@1,ranks=J-QK,outside=b@2", 266),
    ],
)
def test_sizes(what: str, size: int) -> None:
    assert open_game(f"{RULES} forgetting {what}", "history").num_infosets == size


def test_groups_see_pairs_only() -> None:
    for name in ("leduc", "leduc(suited=true)", RULES):
        names = open_game(f"{name} forgetting ranks=JQ-K", "history").infoset_names
        assert {key.partition(":")[0] for key in names} == {"JQ", "K", "JQ pair", "JQ other", "K pair", "K other"}


@pytest.mark.parametrize("what", ["ranks=JQ", "ranks=JQ-K-K", "ranks=J--QK", "ranks=A-Q", "ranks="])
def test_groups_hold_each_rank_once(what: str) -> None:
    with pytest.raises(GameError, match=r"groups its ranks, each once"):
        open_game(f"leduc forgetting {what}", "history")


def test_where_nothing_is_forgotten_needs_what_is_forgotten_elsewhere() -> None:
    with pytest.raises(AbstractionError, match="say also what is forgotten elsewhere"):
        open_game("leduc forgetting outside=b", "history")
    with pytest.raises(AbstractionError, match="no betting"):
        open_game("leduc forgetting ranks=JQ-K,outside=x", "history")
    with pytest.raises(AbstractionError, match="overlap"):
        open_game("leduc forgetting ranks=JQ-K,outside=b,outside=br", "history")
