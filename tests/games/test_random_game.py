"""Random games: the same game for the same seed everywhere, sizes, recall, and how sets are merged.

Source of the recipe: Čermák 2018, section 4.5.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError
from tests.reference.compiled import class_sizes, moves_before


def test_the_same_game_everywhere() -> None:
    """A regression value of ours: sets, actions and utilities of two games as text."""
    digests = []
    for name in ("random_game(seed=7)", "random_game(seed=7,merge=0.6)"):
        tree = cp.compile_game(name)
        text = "\n".join([*tree.infoset_names, *map(str, tree.utility[:, 0].astype(int).tolist())])
        digests.append(hashlib.sha256(text.encode()).hexdigest()[:16])
    assert digests == ["dae8217560f19ab1", "34d969de3cd7c38a"]


def test_draws_are_uniform() -> None:
    game = cp.make("random_game")
    draws = np.array([game.draw("test", str(place)) for place in range(4_000)])  # type: ignore[attr-defined]
    assert 0.0 <= draws.min() < draws.max() < 1.0
    # The statistic of Kolmogorov and Smirnov: one seed in a thousand is beyond 1.95 / sqrt(n), and ours is fixed.
    assert np.abs(np.sort(draws) - (np.arange(4_000) + 0.5) / 4_000).max() < 1.95 / np.sqrt(4_000)


@pytest.mark.parametrize("seed", range(5))
def test_sizes(seed: int) -> None:
    tree = cp.compile_game(f"random_game(seed={seed},branching=4)")
    assert set(np.diff(tree.infoset_offset).tolist()) == {3, 4}
    assert set(tree.depth[tree.player == cp.TERMINAL].tolist()) == {6}
    assert np.abs(tree.utility).max() <= 3 * 6
    assert tree.recall == ("perfect", "perfect")
    assert cp.compile_game(f"random_game(seed={seed},branching=4,slack=0)").num_histories == (4**7 - 1) // 3


def test_mean_size() -> None:
    """Branching 4 and depth 6 give "about 3000 nodes" (Čermák 2018, section 4.5)."""
    found = [cp.compile_game(f"random_game(seed={seed},branching=4)").num_histories for seed in range(20)]
    assert 2_300 < np.mean(found) < 3_300


def test_observations_hide() -> None:
    """With one observation a player knows only own actions and who moved; with many nearly everything."""
    few, many = (cp.compile_game(f"random_game(observations={count})") for count in (1, 26))
    assert few.num_infosets < 0.8 * many.num_infosets <= 0.8 * few.counts()["decision"]
    assert few.recall == ("perfect", "perfect")


@pytest.mark.parametrize("seed", range(3))
def test_everything_merged_leaves_one_set_for_each_class(seed: int) -> None:
    before = cp.compile_game(f"random_game(seed={seed})")
    after = cp.compile_game(f"random_game(seed={seed},merge=1)")
    for player in range(2):
        assert len(after.infosets_of(player)) == len(class_sizes(before, player))


@pytest.mark.parametrize("merge", [0.3, 0.6, 0.9])
def test_merging(merge: float) -> None:
    """Histories and utilities stay; sets are merged whole, only within a class, and nobody is absent-minded."""
    before = cp.compile_game("random_game(seed=3)")
    after = cp.compile_game(f"random_game(seed=3,merge={merge})")
    np.testing.assert_array_equal(before.parent, after.parent)
    np.testing.assert_array_equal(before.utility, after.utility)
    assert after.num_infosets < before.num_infosets
    decisions = np.flatnonzero(before.player >= 0)
    pairs = {(int(before.infoset[node]), int(after.infoset[node])) for node in decisions}
    assert len(pairs) == before.num_infosets
    assert set(after.recall) <= {"a-loss", "imperfect"}
    made = np.empty(before.num_infosets, int)
    made[before.sequences.decision_infoset] = moves_before(before)
    of_merged: dict[int, set[int]] = {}
    for fine, coarse in pairs:
        of_merged.setdefault(coarse, set()).add(int(made[fine]))
    assert all(len(values) == 1 for values in of_merged.values())


def test_sets_span_depths() -> None:
    """Sets of an imperfect-recall game may join histories of different lengths (Čermák 2018, section 4.5)."""
    tree = cp.compile_game("random_game(seed=3,merge=0.9)")
    spans = [len(set(tree.depth[tree.infoset == infoset].tolist())) for infoset in range(tree.num_infosets)]
    assert max(spans) > 1


def test_independent_utilities() -> None:
    """The tree and the sets stay; leaves of one decision are as far apart as any two, unlike those of a walk."""
    walk = cp.compile_game("random_game(seed=3,branching=4)")
    free = cp.compile_game("random_game(seed=3,branching=4,independent=true)")
    np.testing.assert_array_equal(walk.parent, free.parent)
    np.testing.assert_array_equal(walk.infoset, free.infoset)
    assert np.abs(free.utility).max() <= 3 * 6
    ends = np.flatnonzero(walk.player == cp.TERMINAL)
    shares = []
    for tree in (walk, free):
        utility = tree.utility[tree.outcome[ends], 0]
        within = np.mean([np.var(utility[tree.parent[ends] == node]) for node in np.unique(tree.parent[ends])])
        shares.append(within / np.var(utility))
    sizes = np.bincount(walk.parent[ends])
    spread = np.mean(1.0 - 1.0 / sizes[sizes > 0])  # of independent draws
    assert shares[0] < 0.3 * spread
    assert shares[1] == pytest.approx(spread, abs=0.05)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("random_game(seed=-1)", "seed must be at least 0; got -1"),
        ("random_game(depth=0)", "depth must be at least 1; got 0"),
        ("random_game(branching=27)", "branching must be at most 26; got 27"),
        ("random_game(slack=3)", "slack must be from 0 to branching - 1; got 3"),
        ("random_game(merge=1.5)", "merge must be a probability from 0 to 1; got 1.5"),
    ],
)
def test_bad_parameters(name: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        cp.make(name)
