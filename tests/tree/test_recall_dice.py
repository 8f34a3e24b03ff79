"""Die-roll poker and Bluff with forgetful players: well-formed, skew, nearly well-formed."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

import counterplay as cp
from counterplay.tree import recall_report
from counterplay.tree.recall.chance_relaxed import chance_relaxed
from counterplay.tree.recall.leaf_matching import compare
from counterplay.tree.recall.nearly_well_formed import (
    Bijections,
    find_bijections,
    nearly_well_formed,
    verify_nearly_well_formed,
    verify_pair,
)
from counterplay.tree.recall.well_formed import skew_well_formed
from tests.reference.recall_games import bluff

# --- the games of the papers ---------------------------------------------------------------------------------------
from tests.tree.test_recall_games import condition, dice


def test_die_roll_poker_is_well_formed() -> None:
    """Lanctot et al. 2012, section 5.1 and table 1: 2610 and 860 pairs, k = l = 1; K = 183 (Gibson 2014, 6.2.1)."""
    full = dice(sides=6, raises=2, opening_fold=True, forget=False)
    coarse = dice(sides=6, raises=2, opening_fold=True)
    assert (full.num_entries, coarse.num_entries) == (2610, 860)
    assert full.recall == ("perfect", "perfect")
    report = recall_report(coarse, full)
    assert report.strongest == "well-formed"
    assert [one.well_formed.K for one in report.players] == [183.0, 183.0]
    assert [one.well_formed.largest for one in report.players] == [1.0, 1.0]
    assert not any(one.a_loss.holds for one in report.players)
    assert report.players[0].merged == 5 * 3 * 9  # sums 3 to 11, in three own places after five first rounds


@pytest.mark.parametrize("skew", [0.05, 0.2, 0.8])
def test_skew_die_roll_poker(skew: float) -> None:
    """δ_I is δ times the largest pot (Lanctot et al. 2012, section 5.2), and the sum 11,628 δ (computed independently).

    The sets of the sums 2 and 12 have one part and add nothing; with them it is the 12,312 δ of Gibson 2014.
    """
    tree = dice(sides=6, raises=2, opening_fold=True, skew=skew)
    first, second = recall_report(tree).players
    assert first.strongest == "skew well-formed"
    assert condition(first.well_formed) == "(i)"
    assert first.skew.delta == pytest.approx(26 * skew)
    assert first.skew.error == pytest.approx(11_628 * skew)
    pots = {"cc": 18, "rc": 22, "crc": 22, "rrc": 26, "crrc": 26}
    by_round = {(name.split("/")[1], round(delta / skew, 6)) for name, delta in first.skew.delta_by_infoset.items()}
    assert by_round == set(pots.items())
    assert second.well_formed.holds
    assert second.skew.error == 0.0
    with_one = skew_well_formed(compare(tree, 0), k=1.0)
    assert with_one.error == pytest.approx(11_628 * skew)


def test_sizes_of_three_rounds() -> None:
    """Computed independently: 688 and 664 pairs with two-sided dice, 2184 and 2088 with three-sided ones."""
    sizes = [dice(sides=sides, rounds=3, forget=forget).num_entries for sides in (2, 3) for forget in (False, True)]
    assert sizes == [688, 664, 2184, 2088]


@pytest.mark.parametrize("sides", [2, 3])
def test_three_rounds_are_nearly_well_formed(sides: int) -> None:
    """Lanctot et al. 2012, appendix B: the third round knows all dice again."""
    report = recall_report(dice(sides=sides, rounds=3))
    assert report.strongest == "nearly well-formed"
    for one in report.players:
        assert condition(one.well_formed) == condition(one.chance_relaxed) == "(iv)"
        assert len(dice(sides=sides, rounds=3).infosets_of(one.player)) == one.nearly.K  # k = l = 1


def swap_dice(player: int, history: list[str] | tuple[str, ...], new: tuple[str, str]) -> tuple[str, ...]:
    """A history with the player's first two dice replaced; rolls are the only moves written with digits."""
    rolls = [place for place, label in enumerate(history) if label.isdigit()]
    changed = list(history)
    for place, face in zip(rolls[:2], new, strict=True):
        other = changed[place][1 - player]
        changed[place] = face + other if player == 0 else other + face
    return tuple(changed)


def own_dice(player: int, history: tuple[str, ...]) -> tuple[str, str]:
    first, second = [label for label in history if label.isdigit()][:2]
    return first[player], second[player]


@pytest.mark.parametrize("player", [0, 1])
def test_bijections_of_the_paper(player: int) -> None:
    """φ replaces the two dice by others of the same sum, ψ does it in what the player knows, ω changes nothing."""
    tree = dice(sides=3, rounds=3)
    comparison = compare(tree, player)
    ends = {tuple(tree.history(node)): int(node) for node in np.flatnonzero(tree.player == cp.TERMINAL)}
    offset = tree.infoset_offset
    owner = np.repeat(np.arange(tree.num_infosets), np.diff(offset))

    def bijections(first: int, second: int, spoiled: bool = False) -> Bijections:
        old, new = (own_dice(player, comparison.refinement.history(part)) for part in (first, second))

        def phi(leaf: int) -> int:
            return ends[swap_dice(player, tree.history(leaf), new)]

        def psi(infoset: int) -> int:
            name = tree.infoset_names[infoset]
            if name.startswith("".join(old)) and name[2] != ":":
                name = "".join(new) + name[2:]
            return tree.find_infoset(player, name)

        def omega(entry: int) -> int:
            infoset = int(owner[entry])
            return int(offset[psi(infoset)]) + entry - int(offset[infoset])

        return Bijections(phi, (lambda infoset: infoset) if spoiled else psi, omega)

    assert verify_nearly_well_formed(comparison, bijections).holds
    spoiled = verify_nearly_well_formed(comparison, functools.partial(bijections, spoiled=True))
    assert condition(spoiled) == "(iv)"


def test_bijections_as_tables_and_wrong_ones() -> None:
    tree = dice(sides=2, rounds=3)
    comparison = compare(tree, 0)
    merged = np.flatnonzero(comparison.refinement.merged())[0]
    first, second = comparison.parts_of(int(merged))
    found = find_bijections(comparison, first, second)
    assert found is not None
    tables = []
    for given_map, size in ((found.phi, tree.num_histories), (found.psi, tree.num_infosets), (found.omega, 10**4)):
        assert isinstance(given_map, dict)
        table = np.arange(size)
        table[list(given_map)] = list(given_map.values())
        tables.append(table)
    good = Bijections(*tables)
    assert verify_pair(comparison, first, second, good).holds
    same_leaf = dataclasses.replace(good, phi=lambda leaf: int(tables[0][next(iter(found.phi))]))  # type: ignore[call-overload]
    assert condition(verify_pair(comparison, first, second, same_leaf)) == "bijection"
    leaves = list(found.phi)  # type: ignore[call-overload]
    crossed = tables[0].copy()
    unlike = next(
        leaf for leaf in leaves if tree.utility[tree.outcome[leaf], 0] != tree.utility[tree.outcome[leaves[0]], 0]
    )
    crossed[[leaves[0], unlike]] = crossed[[unlike, leaves[0]]]
    assert condition(verify_pair(comparison, first, second, dataclasses.replace(good, phi=crossed))) == "(i)"


def test_a_search_that_is_given_up_says_so() -> None:
    comparison = compare(dice(sides=2, rounds=3), 0)
    verdict = nearly_well_formed(comparison, budget=0)
    assert not verdict.holds
    assert not verdict.conclusive
    assert verdict.to_dict()["conclusive"] is False


def test_bounds_when_work_is_limited() -> None:
    """Without time for pairs, δ and the errors are bounds from above and say so."""
    comparison = compare(dice(skew=0.2), 0)
    exact, bound = skew_well_formed(comparison), skew_well_formed(comparison, work=0)
    assert exact.exact
    assert not bound.exact
    assert bound.error is not None
    assert exact.error is not None
    assert bound.error >= exact.error - 1e-12
    exact_errors, bound_errors = chance_relaxed(comparison).errors, chance_relaxed(comparison, work=0).errors
    assert exact_errors is not None
    assert bound_errors is not None
    assert not bound_errors.exact
    assert bound_errors.reward >= exact_errors.reward - 1e-12


@pytest.mark.parametrize("recall", [1, 2])
def test_bluff_with_short_memory(recall: int) -> None:
    """Lanctot et al. 2012, section 6: the other player knows more bids, so (iii) fails; no set is met twice."""
    assert cp.compile_game(bluff(sides=2, recall=4)).recall == ("perfect", "perfect")
    for one in recall_report(cp.compile_game(bluff(sides=2, recall=recall))).players:
        assert one.absent_minded is None
        if not one.perfect.holds:
            assert condition(one.well_formed) == condition(one.nearly) == "(iii)"


def test_tables_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing one information set at a time, without keeping anything, changes nothing."""
    trees = [dice(), dice(skew=0.2), dice(sides=2, rounds=3)]
    whole = [recall_report(tree) for tree in trees]
    monkeypatch.setattr("counterplay.tree.recall.leaf_matching.CHUNK_ROWS", 1)
    assert [recall_report(tree) for tree in trees] == whole
    monkeypatch.setattr("counterplay.tree.recall.leaf_matching.KEPT_ROWS", 0)
    assert [recall_report(tree) for tree in trees] == whole


# --- refinements ---------------------------------------------------------------------------------------------------
