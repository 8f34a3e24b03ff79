"""Stitched strategies: what they play is what their parts play, in every storage, and what that is worth."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction, part_bucket_game
from counterplay.abstraction.experts import label_parts, validate_partition
from counterplay.abstraction.part_games import PartGame
from counterplay.errors import AbstractionError, StrategyError
from counterplay.evaluation import evaluate
from counterplay.forms import open_game
from counterplay.game.registry import make
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.strategy import BucketStrategy, Strategy, TabularStrategy, load_strategy
from counterplay.strategy.composed import stitch
from counterplay.strategy.joint_buckets import joint_buckets
from tests.bridge import to_profile
from tests.poker.test_bucket_game import LEDUC, forgetting, lossless, mixed, remembering
from tests.reference.experts import part_at, stitched
from tests.reference.walks import expected_values, random_profile

NAME = "leduc_limit_2p"
PARTS = {"b@1": (["b"], (0,)), "kb": (["kb"], (0, 1)), "kk/b": (["kk/b"], (0, 1))}


def test_the_value_is_exactly_what_the_parts_say() -> None:
    """Against the twin, which stitches histories one at a time."""
    game, tree = make("leduc(ranks=2)"), cp.compile_game("leduc(ranks=2)")
    profiles = [random_profile(game, seed) for seed in range(4)]
    base, *experts = (to_profile(tree, one) for one in profiles)
    found = stitch(base, dict(zip(PARTS, experts, strict=True)))
    plain = stitched(game, profiles[0], profiles[1:], lambda d, player: part_at(d, player, list(PARTS.values())))
    assert isinstance(found, TabularStrategy)
    np.testing.assert_array_equal(found.table, to_profile(tree, plain).table)
    np.testing.assert_allclose(evaluate(found, tree).value, expected_values(game, plain), atol=1e-12)


def test_a_null_part_changes_nothing() -> None:
    tree = cp.compile_game("leduc")
    base = TabularStrategy.random(tree, 5)
    found = stitch(base, {"b": base, "kk/b@2": base})
    assert isinstance(found, TabularStrategy)
    np.testing.assert_array_equal(found.table, base.table)
    part = PartGame.of(tree, "kb", base.table)
    own = base.table[np.repeat(part.free, np.diff(tree.infoset_offset))]
    inside = evaluate(TabularStrategy.from_tree(part.tree, own), part.tree)
    np.testing.assert_allclose(inside.value, evaluate(base, tree).value, atol=1e-12)


def random_strategy(game: BucketGame, seed: int) -> BucketStrategy:
    weights = np.random.default_rng(seed).exponential(size=game.num_entries)
    return BucketStrategy.of_game(game, BucketStrategy.of_game(game, weights).strategy())


def bucket_parts() -> tuple[BucketStrategy, dict[str, BucketStrategy], BucketStrategy]:
    """A base, experts with other buckets, and what comes of them."""
    kinds = {"r@1": lossless(LEDUC), "cr": mixed(LEDUC), "cc/r": remembering(LEDUC)}
    base = random_strategy(BucketGame.build(LEDUC, forgetting(LEDUC), name=NAME), 1)
    experts = {
        part: random_strategy(BucketGame.build(LEDUC, buckets, name=NAME), seed)
        for seed, (part, buckets) in enumerate(kinds.items(), 2)
    }
    found = stitch(base, experts)
    assert isinstance(found, BucketStrategy)
    return base, experts, found


def test_buckets_play_as_their_parts_on_every_history() -> None:
    base, experts, found = bucket_parts()
    tree = cp.compile_game(NAME)
    plain = stitch(base.lifted(tree), {part: one.lifted(tree) for part, one in experts.items()})
    assert isinstance(plain, TabularStrategy)
    np.testing.assert_allclose(found.lifted(tree).table, plain.table, atol=1e-15)
    for player, key, row in plain.infosets():
        assert found.probabilities(player, key) == pytest.approx(row, abs=1e-15)
    exact = evaluate(plain, tree)
    for method in ("history", "public", "auto"):
        measured = evaluate(found, method=method)
        np.testing.assert_allclose(measured.value, exact.value, atol=1e-12)
        np.testing.assert_allclose(measured.best_response, exact.best_response, atol=1e-12)
    for node in ("", "r", "cr", "ccr"):
        board = "Kh" if node == "ccr" else None
        np.testing.assert_allclose(found.hands(node, board).probabilities, plain.hands(node, board).probabilities)


def test_joint_buckets_play_the_same() -> None:
    base, _, found = bucket_parts()
    tree = cp.compile_game(NAME)
    joint = joint_buckets(found)
    assert not joint.abstract.zones
    np.testing.assert_allclose(joint.lifted(tree).table, found.lifted(tree).table, atol=1e-15)
    assert joint_buckets(base) is base


def test_an_expert_of_an_expert_replaces_it() -> None:
    base, experts, found = bucket_parts()
    tree = cp.compile_game(NAME)
    other = random_strategy(BucketGame.build(LEDUC, lossless(LEDUC), name=NAME), 9)
    again = stitch(found, {"crr": other})
    assert isinstance(again, BucketStrategy)
    plain = stitch(found.lifted(tree), {"crr": other.lifted(tree)})
    assert isinstance(plain, TabularStrategy)
    np.testing.assert_allclose(again.lifted(tree).table, plain.table, atol=1e-15)
    taken = stitch(base, {"cr": found})
    assert isinstance(taken, BucketStrategy)
    one = stitch(base, {"cr": experts["cr"]})
    assert isinstance(one, BucketStrategy)
    np.testing.assert_array_equal(taken.weights, one.weights)
    with pytest.raises(AbstractionError, match="is itself stitched inside that part"):
        stitch(base, {"c": found})


def test_parts_inside_parts_take_two_stitches() -> None:
    """Condition 3 holds for each stitch, not for all parts; what is played is what the twin stitches in two layers."""
    game, tree = make("leduc(ranks=2)"), cp.compile_game("leduc(ranks=2)")
    profiles = [random_profile(game, seed) for seed in range(3)]
    base, outer, inner = (to_profile(tree, one) for one in profiles)
    both = label_parts(tree, ["b"])
    both[label_parts(tree, ["br"]) > 0] = 2
    with pytest.raises(AbstractionError, match="condition 3"):
        validate_partition(tree, both)
    with pytest.raises(AbstractionError, match="the parts 'b' and 'br' overlap"):
        stitch(base, {"b": outer, "br": inner})
    found = stitch(stitch(base, {"b": outer}), {"br": inner})
    everybody = (0, 1)
    once = stitched(game, profiles[0], [profiles[1]], lambda d, player: part_at(d, player, [(["b"], everybody)]))
    plain = stitched(game, once, [profiles[2]], lambda d, player: part_at(d, player, [(["br"], everybody)]))
    assert isinstance(found, TabularStrategy)
    np.testing.assert_array_equal(found.table, to_profile(tree, plain).table)
    np.testing.assert_allclose(evaluate(found, tree).value, expected_values(game, plain), atol=1e-12)
    inside = PartGame.of(tree, "br", stitch(base, {"b": outer}).table)  # type: ignore[attr-defined]
    own = inner.table[np.repeat(inside.free, np.diff(tree.infoset_offset))]
    solved = evaluate(TabularStrategy.from_tree(inside.tree, own), inside.tree)
    np.testing.assert_allclose(solved.value, evaluate(found, tree).value, atol=1e-12)


def test_files(tmp_path: Path) -> None:
    CardAbstraction.single((3, 2), (1, 1)).save(tmp_path / "base.cards")
    CardAbstraction.lossless((3, 2), (1, 1)).save(tmp_path / "fine.cards")
    base = random_strategy(open_game(NAME, "buckets", cards=[tmp_path / "base.cards"]), 1)
    expert = random_strategy(open_game(NAME, "buckets", cards=[tmp_path / "fine.cards"]), 2)
    found = stitch(base, {"r": expert, "cc/r@2": expert})
    found.save(tmp_path / "stitched")
    again = load_strategy(tmp_path / "stitched")
    assert isinstance(again, BucketStrategy)
    tree = cp.compile_game(NAME)
    np.testing.assert_allclose(again.lifted(tree).table, found.lifted(tree).table, atol=1e-4)
    assert again.abstract.fingerprint == found.abstract.fingerprint  # type: ignore[attr-defined]
    moved = tmp_path / "there"
    moved.mkdir()
    for name in ("stitched", "base.cards", "fine.cards"):
        (tmp_path / name).rename(moved / name)
    assert load_strategy(moved / "stitched").num_infosets == found.num_infosets
    again = stitch(again, {"rr": base, "cr@2": expert, "cc/r@2": base})
    again.save(moved / "again")
    there = load_strategy(moved / "again")
    np.testing.assert_allclose(there.lifted(tree).table, again.lifted(tree).table, atol=1e-4)  # type: ignore[attr-defined]
    assert [one.part for one in there.abstract.zones] == ["r", "rr", "cr@2", "cc/r@2"]  # type: ignore[attr-defined]
    (moved / "fine.cards").unlink()
    with pytest.raises(StrategyError, match=r"needs the card abstraction .*fine\.cards"):
        load_strategy(moved / "stitched")


def test_refusals() -> None:
    leduc, kuhn = (TabularStrategy.random(name, 1) for name in ("leduc", "kuhn"))
    base, experts, _ = bucket_parts()
    renamed = dataclasses.replace(base, abstract=dataclasses.replace(base.abstract, name="other"))
    bad: list[tuple[Strategy, dict[str, object], str]] = [
        (leduc, {}, "at least one part"),
        (leduc, {"b": leduc, "br": leduc}, "overlap"),
        (leduc, {"x": leduc}, "no betting 'x'"),
        (leduc, {"b": kuhn}, "does not fit"),
        (leduc, {"b": experts["cr"]}, "all by buckets or none|is for leduc_limit_2p"),
        (base, {"r": leduc}, "all by buckets or none"),
        (base, {"r": "file"}, "a strategy"),
        (
            base,
            {"r": renamed},
            "is for other",
        ),
    ]
    for one, parts, message in bad:
        with pytest.raises((StrategyError, AbstractionError), match=message):
            stitch(one, parts)  # type: ignore[arg-type]


def test_a_null_part_changes_nothing_inside_the_bucket_game() -> None:
    """Base and part have the same buckets, so that joint buckets are those of the base."""
    base = random_strategy(BucketGame.build(LEDUC, remembering(LEDUC), name=NAME), 1)
    found = stitch(base, {"r": base, "cc/r@1": base})
    exact, measured = (evaluate(one, method="buckets") for one in (base, found))
    np.testing.assert_allclose(measured.value, exact.value, atol=1e-12)
    np.testing.assert_allclose(measured.best_response, exact.best_response, atol=1e-12)
    assert isinstance(found, BucketStrategy)
    assert found.num_infosets == base.num_infosets == joint_buckets(found).num_infosets


def test_an_expert_of_another_part_is_refused() -> None:
    base, *_ = bucket_parts()
    game = part_bucket_game(base.abstract, base.strategy(), "cr", lossless(LEDUC))
    solved = random_strategy(game, 3)
    assert isinstance(stitch(base, {"cr": solved}), BucketStrategy)
    with pytest.raises(AbstractionError, match="the expert of 'r' was solved for 'cr' and plays there only"):
        stitch(base, {"r": solved})
