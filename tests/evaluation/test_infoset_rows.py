"""Reach and value of infosets: by hand in Kuhn poker, against the twin elsewhere, and what the table leaves out."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.evaluation.infoset_rows import InfosetTable, infoset_table
from counterplay.strategy import TabularStrategy
from tests.bridge import to_profile
from tests.evaluation.test_evaluation import kuhn_equilibrium
from tests.reference.infoset_values import infoset_values as twin
from tests.reference.walks import infosets, pure_profile, random_profile

EXACT = 1e-12

CAUTIOUS = {  # the equilibrium in which player 1 never bets first: reach and value by hand
    "J:": ("1/3", "-1"), "Q:": ("1/3", "-1/3"), "K:": ("1/3", "7/6"),
    "Q:k": ("1/3", "0"), "Q:b": ("0", None), "K:k": ("1/3", "7/6"), "K:b": ("0", None), "J:k": ("1/3", "-1"),
    "J:b": ("0", None),
    "J:kb": ("1/6", "-1"), "Q:kb": ("2/9", "-1"), "K:kb": ("1/18", "2"),
}  # fmt: skip


def by_name(table: InfosetTable) -> dict[tuple[int, str], tuple[float | None, float | None]]:
    return {(row.player, row.infoset): (row.reach, row.value) for row in table.rows}


def test_an_equilibrium_of_kuhn_by_hand() -> None:
    table = infoset_table(kuhn_equilibrium(cp.compile_game("kuhn"), 0.0))
    assert [row.infoset for row in table.rows] == [*CAUTIOUS]  # in the order of play
    assert [row.player for row in table.rows] == [0] * 3 + [1] * 6 + [0] * 3
    for row in table.rows:
        reach, value = CAUTIOUS[row.infoset]
        assert row.reach == pytest.approx(float(Fraction(reach)), abs=EXACT)
        assert row.value == (None if value is None else pytest.approx(float(Fraction(value)), abs=EXACT))
    assert table.rows[1].probabilities == {"check": 1.0, "bet": 0.0}
    assert (table.left_out, table.notes) == (0, ())


def test_a_set_that_own_choices_exclude_has_a_value() -> None:
    """A king always bets first, so it never faces a bet after a check; if it did, a jack would have bluffed."""
    table = by_name(infoset_table(kuhn_equilibrium(cp.compile_game("kuhn"), 1.0)))
    assert table[0, "K:kb"] == (0.0, pytest.approx(2.0, abs=EXACT))


@pytest.mark.parametrize(
    "name",
    ["kuhn", "kuhn(players=3)", "one_card_poker(cards=4)", "rock_paper_scissors", "goofspiel(cards=3)",
     "toy_absent_minded_driver", "toy_sat_absent"],
)  # fmt: skip
@pytest.mark.parametrize("pure", [False, True])
def test_random_and_pure_profiles_equal_the_twin(name: str, pure: bool) -> None:
    game = cp.make(name)
    tree = cp.compile_game(game)
    choices = {infoset: actions[-1] for infoset, actions in infosets(game).items()}
    profile = pure_profile(game, choices) if pure else random_profile(game, 1)
    found = by_name(infoset_table(to_profile(tree, profile)))
    expected = twin(game, profile)
    assert len(found) == len(expected)
    for (player, key), (reach, value) in expected.items():
        told = found[player, str(key)]
        assert told[0] == pytest.approx(reach, abs=EXACT)
        assert told[1] == (None if value is None else pytest.approx(value, abs=1e-10))


def test_players_prefixes_and_rows() -> None:
    strategy = TabularStrategy.uniform(cp.compile_game("kuhn"))
    assert {row.player for row in infoset_table(strategy, player=1).rows} == {1}
    assert [row.infoset for row in infoset_table(strategy, prefix="K:").rows] == ["K:", "K:k", "K:b", "K:kb"]
    few = infoset_table(strategy, player=0, rows=4)
    assert ([row.infoset for row in few.rows], few.left_out) == (["J:", "Q:", "K:", "J:kb"], 2)
    assert infoset_table(strategy, rows=12).left_out == 0
    with pytest.raises(cp.StrategyError, match="has players 1 to 2; got player 3"):
        infoset_table(strategy, player=2)
    with pytest.raises(cp.StrategyError, match=r"no infoset of player 2 in kuhn starts with 'A:'; the first are 'Q:k'"):
        infoset_table(strategy, player=1, prefix="A:")


def test_without_histories_the_probabilities_remain() -> None:
    strategy = TabularStrategy.uniform(cp.compile_game("leduc"))
    table = infoset_table(strategy, max_histories=1000, rows=5, prefix="K")
    assert [(row.reach, row.value) for row in table.rows] == [(None, None)] * 5
    assert all(sum(row.probabilities.values()) == pytest.approx(1.0) for row in table.rows)
    assert table.left_out == sum(name.startswith("K") for _, name, _ in strategy.infosets()) - 5
    assert table.notes == ("reach and value are not known: the game has more than 1,000 histories",)


def test_a_strategy_that_covers_a_part_is_uniform_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "part.strategy"
    cp.solve("leduc", "outcome-sampling", iterations=20, representation="states", seed=1).profile.save(path)
    table, covered = infoset_table(path), cp.load(path).num_infosets
    assert len(table.rows) == 288
    assert table.notes == (f"the strategy covers {covered} of 288 infosets; it is uniform elsewhere",)
    assert sum(row.reach or 0.0 for row in table.rows if row.infoset in ("J:", "Q:", "K:")) == pytest.approx(1.0)
