"""Games of a part: what lies outside it is chance, what players win is what the whole game pays, and the way back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction import abstraction_by_name
from counterplay.abstraction.part_games import PartGame
from counterplay.errors import AbstractionError, StrategyError
from counterplay.evaluation import evaluate
from counterplay.game.registry import make
from counterplay.solvers.cfr import CfrSolver
from tests.bridge import to_profile
from tests.reference.experts import part_at, remaining_infosets, values_with_fixed
from tests.reference.walks import random_profile

CASES = [
    ("kuhn", "b", ["b"], None),
    ("kuhn(players=3)", "kb@1+3", ["kb"], (0, 2)),
    ("kuhn(players=3)", "kb,b@2", ["kb", "b"], (1,)),
    ("leduc(ranks=2)", "kk/b", ["kk/b"], None),
    ("leduc(ranks=2)", "b,kb@1", ["b", "kb"], (0,)),
]


@pytest.mark.parametrize(("name", "text", "sequences", "owners"), CASES)
def test_values_are_those_of_the_whole_game(
    name: str, text: str, sequences: list[str], owners: tuple[int, ...] | None
) -> None:
    game, tree = make(name), cp.compile_game(name)
    members = tuple(range(game.players)) if owners is None else owners
    base, chosen = random_profile(game, 1), random_profile(game, 2)
    part = PartGame.of(tree, text, to_profile(tree, base).table)

    def solved(letters: str, player: int) -> bool:
        return player not in members or part_at(letters, player, [(sequences, members)]) == 1

    names = {(int(player), key) for player, key in zip(part.tree.infoset_player, part.tree.infoset_names, strict=True)}
    assert names == {(player, str(key)) for player, key in remaining_infosets(game, solved)}
    free = to_profile(tree, chosen).table[np.repeat(part.free, np.diff(tree.infoset_offset))]
    inside = evaluate(cp.TabularStrategy.from_tree(part.tree, free), part.tree).value
    lifted = evaluate(cp.TabularStrategy.from_tree(tree, part.lift(free)), tree).value
    expected = values_with_fixed(game, base, chosen, solved)
    np.testing.assert_allclose(inside, expected, atol=1e-12)
    np.testing.assert_allclose(lifted, expected, atol=1e-12)


def test_sizes_of_the_figures() -> None:
    """Gibson 2014: figure 7.1, S all players, has 3 information sets; figure 2.10, a graft, has 5."""
    tree = cp.compile_game("toy_small_tree")
    uniform = cp.TabularStrategy.uniform(tree).table
    assert PartGame.of(tree, "l", uniform).tree.num_infosets == 3
    assert PartGame.of(tree, "l@2", uniform).tree.num_infosets == 5


def test_a_part_in_an_abstraction() -> None:
    """Forgetting and fixing commute: the same information sets are merged, and both ways back agree."""
    game, tree = make("leduc"), cp.compile_game("leduc")
    rng = np.random.default_rng(3)
    base = cp.TabularStrategy.random(tree, 4).table
    part = PartGame.of(tree, "b@1", base)
    abstraction = abstraction_by_name(game, tree, "ranks=JQ-K,outside=b@2")
    inside = part.restrict(abstraction)
    small = inside.apply(part.tree)
    assert small.num_infosets == len(np.unique(abstraction.infoset_map[part.free])) < part.tree.num_infosets
    chosen = cp.TabularStrategy.random(small, int(rng.integers(9)))
    found = evaluate(chosen, small).value
    whole = part.lift(inside.lift_strategy(chosen.table))
    np.testing.assert_allclose(evaluate(cp.TabularStrategy.from_tree(tree, whole), tree).value, found, atol=1e-12)


def test_solving_a_part_of_an_equilibrium_leaves_its_value() -> None:
    """A static expert against an equilibrium base is worth the value of the game, for any algorithm."""
    tree = cp.compile_game("kuhn")
    base = cp.solve(tree, algorithm="lp").profile.table
    for part, algorithm in (("b", "lp"), ("kb", "cfr+"), ("kb@1", "chance-sampling")):
        opened = PartGame.of(tree, part, base)
        found = cp.solve(opened.tree, algorithm=algorithm, iterations=None if algorithm == "lp" else 20_000)
        stitched = cp.TabularStrategy.from_tree(tree, opened.lift(found.profile.table))
        assert evaluate(stitched, tree).value[0] == pytest.approx(-1 / 18, abs=5e-3)


@pytest.mark.parametrize(
    ("text", "message"), [("only:,k,b,kb", "nothing lies outside"), ("x", "no betting"), ("b@3", "names player 3")]
)
def test_refusals(text: str, message: str) -> None:
    tree = cp.compile_game("kuhn")
    with pytest.raises(AbstractionError, match=message):
        PartGame.of(tree, text, cp.TabularStrategy.uniform(tree).table)
    with pytest.raises(AbstractionError, match="has 24 probabilities"):
        PartGame.of(tree, "b", np.zeros(3))


def test_parts_by_private_card() -> None:
    """A graft of the first player's kings in Kuhn poker: only they are free, and the opponent."""
    tree = cp.compile_game("kuhn")
    base = cp.TabularStrategy.uniform(tree).table
    kings = np.array([name[0] == "K" for name in tree.infoset_names])
    labels = np.zeros(tree.num_histories, np.int64)
    labels[tree.infoset >= 0] = kings[tree.infoset[tree.infoset >= 0]]
    game = PartGame.of_labels(tree, labels, 1, [0], base, "kings")
    free = {(int(player), key) for player, key in zip(game.tree.infoset_player, game.tree.infoset_names, strict=True)}
    assert free == {(0, "K:"), (0, "K:kb")} | {(1, f"{card}:{text}") for card in "JQK" for text in "kb"}
    solved = game.lift(cp.solve(game.tree, algorithm="lp").profile.table)
    found = cp.TabularStrategy.from_tree(tree, solved)
    assert found["K:kb"] == {"fold": 0.0, "call": 1.0}
    assert found[0, "Q:"] == {"check": 0.5, "bet": 0.5}
    labels[np.flatnonzero(tree.infoset >= 0)[0]] = 1 - labels[np.flatnonzero(tree.infoset >= 0)[0]]
    with pytest.raises(AbstractionError, match="condition 2"):
        PartGame.of_labels(tree, labels, 1, [0], base, "kings")


def test_a_checkpoint_of_the_same_part_with_another_base(tmp_path: Path) -> None:
    tree = cp.compile_game("kuhn")
    one, other = (PartGame.of(tree, "b", cp.TabularStrategy.random(tree, seed).table).tree for seed in (1, 2))
    CfrSolver(one).save(tmp_path / "run")
    with pytest.raises(StrategyError, match="of kuhn in part b with other cards, bets, fixed strategy or abstraction"):
        CfrSolver.resume(tmp_path / "run", other)
