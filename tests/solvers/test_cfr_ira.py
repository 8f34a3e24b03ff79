"""CFR+IRA: its twin, its samples, its refinements, the published sizes (Čermák 2018, section 5.2.3)."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.abstraction import abstract_by_key, initial_abstraction, is_refinement, map_words
from counterplay.analysis.refinement_bounds import (
    allowed_regret,
    refinement_bound,
    sampling_times,
    support_probability,
)
from counterplay.errors import SolverError
from counterplay.kernels.history.cfr_ira import DONE, SAMPLE_NEXT, SAMPLED_AT, comes_before, update_player
from counterplay.kernels.history.changing_sets import sample_by_member, sample_by_set
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.ira import CfrIra, CfrIraConfig
from tests.reference.refining import Readings, ReferenceCfrIra
from tests.registered import SMALL

EVERYTHING = {"k_b": 10**6, "k_h": 10**6}


def parts(solver: CfrIra) -> set[frozenset[tuple[int, str]]]:
    """The abstract sets by the names of their members."""
    tree, abstraction = solver.tree, solver.abstraction()
    keys = [(int(tree.infoset_player[i]), tree.infoset_names[i]) for i in range(tree.num_infosets)]
    return {frozenset(keys[i] for i in abstraction.members(part)) for part in range(abstraction.num_sets)}


READINGS = [
    {},
    {"clip_heuristic": False},
    {"keep_remainder": False, "shifted": False},
    {"skip_unvisited": False},
    {"both_players": False, "last_first": False},
    {"clip_heuristic": False, "keep_remainder": False, "skip_unvisited": False, "both_players": False},
]


@pytest.mark.parametrize("readings", READINGS, ids=lambda readings: ",".join(readings) or "reference")
@pytest.mark.parametrize(("name", "iterations"), [("kuhn", 70), ("ii_goofspiel(3)", 40), ("kuhn(players=3)", 10)])
def test_kernel_equals_twin(name: str, iterations: int, readings: dict[str, bool]) -> None:
    """With samples of everything nothing is random: the same sets and regrets as with dicts."""
    solver = CfrIra(name, CfrIraConfig(delay=3, **EVERYTHING, **readings))
    twin = ReferenceCfrIra(cp.make(name), Readings(delay=3, **readings))
    tree = solver.tree
    for _ in range(iterations):
        solver.step()
        twin.iterate()
        assert parts(solver) == twin.partition()
        for infoset in range(tree.num_infosets):
            key = (int(tree.infoset_player[infoset]), tree.infoset_names[infoset])
            entries = solver.sets.entry_map[tree.infoset_offset[infoset] : tree.infoset_offset[infoset + 1]]
            assert solver.regret[entries] == pytest.approx(twin.regret[key], abs=1e-9)
            assert solver.average[entries] == pytest.approx(twin.sums[key], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("heuristic", [True, False])
def test_each_update_alone_equals_twin(heuristic: bool) -> None:
    sizes = {"k_b": 0, "k_h": 10**6} if heuristic else {"k_b": 10**6, "k_h": 0}
    solver = CfrIra("ii_goofspiel(3)", CfrIraConfig(delay=0, **sizes))
    twin = ReferenceCfrIra(cp.make("ii_goofspiel(3)"), Readings(heuristic=heuristic, bound=not heuristic))
    for _ in range(40):
        solver.step()
        twin.iterate()
        assert parts(solver) == twin.partition()
    assert {why for _, why in twin.splits} == {"heuristic" if heuristic else "bound"}


@pytest.mark.parametrize("name", ["leduc", "ii_goofspiel(4)", "matching_pennies"])
def test_without_an_abstraction_it_is_cfr_plus(name: str) -> None:
    """To the bit, with players in the same order."""
    tree = cp.compile_game(name)
    ours = CfrIra(tree, CfrIraConfig(forget="nothing", delay=10, last_first=False))
    plus = make_solver(tree, "cfr+", delay=10)
    for count in (5, 45, 100):
        ours.step(count)
        plus.step(count)
        assert ours.strategy().tobytes() == plus.strategy().tobytes()


def test_with_bound_updates_of_everything_it_gets_there() -> None:
    """k_h = 0 and k_b = |𝓘|: ε is reached, if need be in the original game (section 5.2.3.3)."""
    solver = CfrIra("leduc", CfrIraConfig(k_b=10**6, k_h=0))
    result = solver.run(cp.Until(iterations=5000, exploitability=0.01))
    assert result.exploitability <= 0.01 or solver.abstraction().num_sets == solver.tree.num_infosets
    assert result.exploitability <= 0.02


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), k_b=st.integers(0, 30), k_h=st.integers(0, 60), literal=st.booleans())
def test_abstractions_only_get_finer(seed: int, k_b: int, k_h: int, literal: bool) -> None:
    tree = cp.compile_game("ii_goofspiel(4)" if seed % 2 else SMALL["generic_poker"])
    solver = CfrIra(tree, CfrIraConfig(k_b=k_b, k_h=k_h, seed=seed, delay=3, literal=literal))
    before = initial_abstraction(tree)
    assert solver.abstraction().num_sets == before.num_sets
    for _ in range(8):
        solver.step(4)
        after = solver.abstraction()
        assert is_refinement(after, before)
        before = after
    check_arrays(solver)


def check_arrays(solver: CfrIra) -> None:
    """Runs, places and pools of the sets agree with each other."""
    sets, tree = solver.sets, solver.tree
    count, entries = sets.totals.tolist()
    assert sets.size[:count].sum() == tree.num_infosets
    assert sets.actions[:count].sum() == entries <= tree.num_entries
    assert (sets.member[sets.position] == np.arange(tree.num_infosets)).all()
    for one in range(count):
        members = sets.member[sets.start[one] : sets.start[one] + sets.size[one]]
        assert (sets.set_of[members] == one).all()
        assert (tree.infoset_player[members] == sets.owner[one]).all()
        assert (np.diff(tree.infoset_offset)[members] == sets.actions[one]).all()
        pooled = sets.size[one] > 1 and sets.actions[one] > 1
        assert (sets.pool_place[one] >= 0) == pooled
        if pooled:
            assert sets.pool[sets.pool_place[one]] == one
    places = sets.entry_map.astype(np.int64) - np.repeat(sets.entry[sets.set_of], np.diff(tree.infoset_offset))
    assert (
        places == np.arange(tree.num_entries) - np.repeat(tree.infoset_offset[:-1], np.diff(tree.infoset_offset))
    ).all()
    np.testing.assert_allclose(np.add.reduceat(solver.strategy(), tree.infoset_offset[:-1]), 1.0, atol=1e-12)


def test_samples_have_their_size() -> None:
    """min(k, how many are still merged), in both ways of sampling (equations 5.5 and 5.7)."""
    solver = CfrIra("leduc")
    solver.step(30)
    sets, bounds = solver.sets, solver.tree.player_infosets
    merged = solver.abstraction().sizes[solver.abstraction().infoset_map] > 1
    random, drawn, sample = np.array([5], np.uint64), np.zeros(2, np.int64), np.zeros(288, np.int32)
    for low, high in ((0, 1), (1, 2), (0, 2)):
        candidates = set(np.flatnonzero(merged[bounds[low] : bounds[high]]) + bounds[low])
        for wanted in (1, 7, len(candidates), 288):
            for count in (
                sample_by_set(sets, bounds, low, high, wanted, random, drawn, sample),
                sample_by_member(sets, bounds, low, high, wanted, random, sample),
            ):
                assert count == min(wanted, len(candidates))
                assert len(set(sample[:count].tolist())) == count
                assert set(sample[:count].tolist()) <= candidates
    check_arrays(solver)


def test_members_are_equally_likely() -> None:
    """Chi-square of 20,000 samples by member; by set, members of small sets are drawn more often."""
    solver = CfrIra("leduc")
    sets, bounds = solver.sets, solver.tree.player_infosets
    random, drawn, sample = np.array([1], np.uint64), np.zeros(2, np.int64), np.zeros(288, np.int32)
    draws, wanted = 20_000, 12
    for by_member in (True, False):
        seen: Counter[int] = Counter()
        for _ in range(draws):
            if by_member:
                count = sample_by_member(sets, bounds, 0, 1, wanted, random, sample)
            else:
                count = sample_by_set(sets, bounds, 0, 1, wanted, random, drawn, sample)
            seen.update(sample[:count].tolist())
        merged = np.flatnonzero(solver.abstraction().sizes[solver.abstraction().infoset_map[: bounds[1]]] > 1)
        expected = draws * wanted / len(merged)
        chi_square = sum((seen[i] - expected) ** 2 / expected for i in merged.tolist())
        assert (chi_square < len(merged) + 5 * np.sqrt(2 * len(merged))) == by_member


def test_sampling_times() -> None:
    """Iterations 1, 2, 4, 8, ... (algorithm 8)."""
    assert sampling_times(20) == [1, 2, 4, 8, 16]
    assert sampling_times(0) == []
    solver = CfrIra("kuhn")
    times = []
    for _ in range(20):
        due = int(solver._clock[SAMPLE_NEXT])
        solver.step()
        if solver.iterations == due:
            times.append(due)
    assert times == sampling_times(20)


def play_half(solver: CfrIra, half: int) -> None:
    """Let player 2 play one half of table 5.1, and update player 1."""
    low = int(solver.sets.entry[solver.sets.set_of[solver.tree.find_infoset(1, "table")]])
    solver.regret[low : low + 2] = [1.0 - half, half]
    solver._match()
    solver._clock[DONE] += 1
    if solver._clock[DONE] == 1:
        solver._clock[SAMPLED_AT] = 1
        solver._bound_sample[:] = np.arange(len(solver._bound_sample))
        solver._bound_count[0] = min(solver.config.k_b, 2)
    form, game, rules, sets, tables, scratch = solver._arrays
    update_player(form, game, rules, 0, solver.iterations, sets, tables, scratch)


@pytest.mark.parametrize(("k_b", "k_h", "sets"), [(0, 10, 1), (10, 0, 2)])
def test_the_heuristic_update_alone_fails(k_b: int, k_h: int, sets: int) -> None:
    """Čermák 2018, table 5.1: both sets prefer the same action in either half, so only the bound update parts them."""
    solver = CfrIra("toy_heuristic_update", CfrIraConfig(k_b=k_b, k_h=k_h, delay=0))
    assert solver.abstraction().num_sets == 2  # player 1's two sets are one
    for time in range(200):
        play_half(solver, time % 2)
    assert len(solver.abstraction().members(0)) == 3 - sets
    assert solver.abstraction().num_sets == sets + 1


def test_equal_groups_are_told_apart_by_their_actions() -> None:
    """The lexicographic order of sets of actions, against that of tuples."""
    groups = [tuple(a for a in range(5) if mask >> a & 1) for mask in range(1, 32)]
    words = [np.uint64(sum(1 << a for a in group)) for group in groups]
    for one, first in zip(words, groups, strict=True):
        for other, second in zip(words, groups, strict=True):
            if first != second:
                assert comes_before(one, other) == (first < second)


def test_parted_sets_start_afresh() -> None:
    """Right after a split the average is uniform in what left, and goes on in what stayed (equations 5.6 and 5.8)."""
    solver = CfrIra("leduc", CfrIraConfig(delay=0, seed=2, k_b=5, k_h=20))
    fresh = kept = 0
    for _ in range(100):
        before = int(solver.sets.totals[0])
        solver.step()
        sets, strategy = solver.sets, solver.strategy()
        for one in range(int(sets.totals[0])):
            infoset = int(sets.member[sets.start[one]])
            row = strategy[solver.tree.infoset_offset[infoset] : solver.tree.infoset_offset[infoset + 1]]
            if one >= before:
                assert row == pytest.approx(np.full(len(row), 1 / len(row)))
                fresh += 1
            else:
                kept += bool(np.ptp(row) > 0)
    assert fresh > 10
    assert kept > 100


def test_literal_reading() -> None:
    """The print parts much more than the reference configuration (computed independently)."""
    config = CfrIraConfig(literal=True)
    assert (config.clip_heuristic, config.keep_remainder, config.skip_unvisited) == (False, False, False)
    assert (config.sample_by, config.both_players) == ("member", False)
    sizes = []
    for literal in (False, True):
        solver = CfrIra("ii_goofspiel(4)", CfrIraConfig(k_b=10, k_h=90, literal=literal))
        solver.step(600 if literal else 300)  # as many updates
        sizes.append(int(solver.sets.totals[0]))
    assert sizes[1] > 1.3 * sizes[0]


def test_bound_updates_need_no_map() -> None:
    """Sets that stand alone are found by their names (section 5.2.3.4)."""
    solver = CfrIra("leduc", CfrIraConfig(k_b=100, k_h=0))
    words = []
    for _ in range(40):
        words.append(map_words(solver.abstraction(), solver.tree))
        solver.step(10)
    assert words == [0] * 40
    assert solver.abstraction().num_sets > initial_abstraction(solver.tree).num_sets


def test_seeds_repeat() -> None:
    runs = [CfrIra("ii_goofspiel(4)", CfrIraConfig(k_b=10, k_h=40, seed=seed)) for seed in (7, 7, 8)]
    for run in runs:
        run.step(150)
    assert runs[0].strategy().tobytes() == runs[1].strategy().tobytes()
    assert runs[0].abstraction().infoset_map.tobytes() == runs[1].abstraction().infoset_map.tobytes()
    assert runs[0].strategy().tobytes() != runs[2].strategy().tobytes()


def test_given_abstractions_and_checkpoints(tmp_path: Path) -> None:
    """Actions matched by label change places, and come back right."""
    tree = cp.compile_game("leduc")
    start = abstract_by_key(tree, lambda player, infoset: infoset[1:], "own card")
    solver = CfrIra(tree, CfrIraConfig(k_b=5, k_h=20, delay=10), abstraction=start)
    solver.step(60)
    assert is_refinement(solver.abstraction(), start)
    solver.save(tmp_path / "run")
    again = resume_solver(tmp_path / "run")
    for one in (solver, again):
        one.step(100)
    assert again.strategy().tobytes() == solver.strategy().tobytes()
    assert again.abstraction().infoset_map.tobytes() == solver.abstraction().infoset_map.tobytes()
    solver.abstraction().save(tmp_path / "map")
    mapped = make_solver(tree, "cfr+ira", forget=f"map={tmp_path / 'map'}")
    assert mapped.abstraction().num_sets == solver.abstraction().num_sets  # type: ignore[union-attr]
    abstract = solver.abstraction().apply(tree)
    restricted = solver.abstraction().restrict(solver.profile(), abstract)
    assert solver.abstraction().lift(restricted, tree).table == pytest.approx(solver.strategy(), abs=1e-15)


# ---------------------------------------------------------------------------------- published numbers


@pytest.mark.parametrize(
    ("name", "k_b", "k_h", "percent", "ours", "seeds"),
    [
        ("ii_goofspiel(5)", 10, 90, 3.1, 3.51, 4),
        ("ii_goofspiel(5)", 100, 900, 4.5, 4.05, 2),
        ("graph_pursuit(5,tie=1)", 10, 90, 9.5, 8.58, 2),
        pytest.param("graph_pursuit(5)", 10, 90, 5.4, 6.68, 2, marks=pytest.mark.slow),
        ("graph_pursuit(5)", 100, 900, 4.1, 4.41, 2),
    ],
)
def test_published_sizes(name: str, k_b: int, k_h: int, percent: float, ours: float, seeds: int) -> None:
    """Mean size at NashConv 0.05: Čermák 2018, figure 5.5 (9.5 and 3.1 %), and computed independently (the others).

    Ours are within 30 % of those, on either side.  The 9.5 % are those of a game where a tie is worth 1 to the
    attacker, as in the author's program; by the rules of the text, ties for 0, the game needs fewer sets.
    """
    tree = cp.compile_game(name)
    sizes = []
    for seed in range(seeds):
        solver = CfrIra(tree, CfrIraConfig(k_b=k_b, k_h=k_h, seed=seed))
        result = solver.run(cp.Until(iterations=3000, exploitability=0.025), check_every=10)
        assert result.status == "exploitability"
        sizes.append(100 * solver.abstraction().num_sets / tree.num_infosets)
    assert np.mean(sizes) == pytest.approx(ours, rel=0.05)
    assert np.mean(sizes) == pytest.approx(percent, rel=0.3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "k_b", "k_h", "percent", "seeds"),
    [
        ("generic_poker(2,2,2)", 10, 90, 14.9, 3),
        ("generic_poker(2,2,2)", 100, 900, 13.1, 3),
        ("graph_pursuit(6)", 100, 900, 2.0, 1),
    ],
)
def test_published_sizes_of_larger_games(name: str, k_b: int, k_h: int, percent: float, seeds: int) -> None:
    """Mean size at NashConv 0.05: Čermák 2018, figures 5.5 and 5.8 (14.9 and 2.0 %), and computed independently; ours
    are within 30 % of it on either side.
    """
    tree = cp.compile_game(name)
    sizes = []
    for seed in range(seeds):
        solver = CfrIra(tree, CfrIraConfig(k_b=k_b, k_h=k_h, seed=seed))
        result = solver.run(cp.Until(iterations=30_000, exploitability=0.025))
        assert result.status == "exploitability"
        sizes.append(100 * solver.abstraction().num_sets / tree.num_infosets)
    assert np.mean(sizes) == pytest.approx(percent, rel=0.3)


def test_refinement_bound() -> None:
    """Computed independently from theorem 5.2.2 and equation 5.10."""
    bound = refinement_bound(2, 1, 0.1, 2)
    assert bound.base == pytest.approx(0.75)
    assert bound.x == pytest.approx(4.00098, abs=1e-5)
    assert bound.alpha == pytest.approx(10.0817, abs=1e-4)
    assert bound.least_iterations == pytest.approx(1360.86, abs=0.01)
    assert support_probability(2, 1, 5) == pytest.approx(0.943686, abs=1e-6)
    assert support_probability(2, 1, 1) == 0.0
    assert support_probability(3, 3, 3) == 1.0
    with pytest.raises(SolverError, match=r"the theorem needs at least 1360\.86 iterations; got 1360"):
        bound.average_regret(1.0, 2, 1360)
    promised = [bound.average_regret(1.0, 2, 10**power) for power in range(4, 16)]
    assert all(later < earlier for earlier, later in pairwise(promised))
    assert promised[-1] == pytest.approx(2 * 10.0817 / 10**5, rel=0.01)  # O(T^{-1/3})
    assert bound.switch_time(10**6) == 100_817
    assert bound.supported_time(10**6) == 192
    assert refinement_bound(9948, 100, 0.05, 5).least_iterations == np.inf
    for wrong in (lambda: refinement_bound(2, 0, 0.1, 2), lambda: refinement_bound(2, 1, 1.0, 2)):
        with pytest.raises(SolverError):
            wrong()


def test_the_limit_of_regret_is_allowed() -> None:
    """L ≤ Δ√|A|/√(t - T_j) for all times after a sampling (sections 5.2.3.1 and 5.3.1)."""
    for sampled in sampling_times(512):
        for time in range(sampled + 1, 2 * sampled + 2):
            assert allowed_regret(3.0, 4, time) <= 3.0 * np.sqrt(4 / (time - sampled))
    assert allowed_regret(3.0, 4, 25) == pytest.approx(3.0 * 2 / (100 * 5))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k_b": -1}, "k_b must be an integer, at least 0; got -1"),
        ({"k_h": 2.5}, "k_h must be an integer, at least 0; got 2.5"),
        ({"literal": 1}, "literal must be true or false; got 1"),
        ({"sample_by": "size"}, "sample_by must be one of set, member; got 'size'"),
        ({"forget": None}, "forget must be the name of what to forget at first, such as initial; got None"),
        ({"heuristic_divisor": 0}, "heuristic_divisor must be a number, above 0; got 0"),
        ({"bound_divisor": 0.5}, "bound_divisor must be a number, at least 1; got 0.5"),
        ({"visit_threshold": -0.1}, "visit_threshold must be a number, at least 0; got -0.1"),
        ({"visit_threshold": "x"}, "visit_threshold must be a number, at least 0; got 'x'"),
        ({"seed": 2**64}, r"seed must be an integer, at least 0 and below 2\^63; got 18446744073709551616"),
    ],
)
def test_wrong_settings(changes: dict[str, object], message: str) -> None:
    with pytest.raises(SolverError, match=message):
        CfrIraConfig(**changes)  # type: ignore[arg-type]


def test_forgetful_games_are_refused() -> None:
    with pytest.raises(SolverError, match="player 1 forgets; give the game without it and what to forget at first"):
        make_solver("bluff(d1=1,d2=1,sides=2) forgetting last-bids=1", "cfr+ira")
