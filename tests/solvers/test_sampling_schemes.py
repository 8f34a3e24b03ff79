"""Sampling schemes: those of Gibson 2014, section 5.3.2, and the user's own."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError, SolverError
from counterplay.game.registry import games, sampling_schemes
from counterplay.kernels.walks import alias_table
from counterplay.solvers import SCHEMES, make_solver, scheme_array
from counterplay.solvers.sampling_schemes import default_scheme


def default_of(tree: cp.GameTree) -> str:
    return default_scheme(tree, {label for labels in tree.label_sets for label in labels})


def test_schemes_come_from_the_games() -> None:
    assert set(sampling_schemes()) == {"bluff", "goofspiel", "limit-poker"}
    assert set(SCHEMES) == {"all", *sampling_schemes()}
    for entry in games():
        assert cp.make(entry.name).sampling_scheme in (None, *SCHEMES)


def test_goofspiel_takes_the_lowest_and_the_highest_bid() -> None:
    tree = cp.compile_game("goofspiel(cards=5)")
    assert default_of(tree) == "goofspiel"
    chances = scheme_array(tree, "auto")
    offset = tree.infoset_offset
    for infoset in range(tree.num_infosets):
        row = chances[offset[infoset] : offset[infoset + 1]].tolist()
        assert row == [1.0] + [0.5] * (len(row) - 2) + [1.0] * (len(row) > 1)


def test_bluff_takes_the_call_high_faces_and_faces_in_hand() -> None:
    scheme = SCHEMES["bluff"]
    actions = ("1x2", "1x3", "1x5", "1x6", "2x2", "2x3", "2x5", "2x6", "3x2", "3x3", "3x6", "4x2", "4x5", "bluff")
    found = dict(zip(actions, scheme(0, "23:1x1", actions), strict=True))
    sure = {"1x5", "2x5", "1x6", "2x6", "bluff", "1x2", "2x2", "3x2", "4x2", "1x3", "2x3", "3x3"}
    assert {action for action, chance in found.items() if chance == 1.0} == sure
    assert set(found.values()) == {0.5, 1.0}
    later = scheme(1, "(36|2:1x2,2x6)1v1/4:1x1", ("2x3", "2x4", "2x6", "bluff"))
    assert list(later) == [0.5, 1.0, 1.0, 1.0]
    assert scheme(0, "1.12:", ("3x1", "3x11", "3x12"))[0] == 1.0
    with pytest.raises(GameError, match="the scheme bluff is for the game bluff"):
        scheme(0, "J", ("bet",))
    for name in ("bluff", "bluff(d1=2,sides=2,chain=true)"):
        tree = cp.compile_game(name)
        assert default_of(tree) == "bluff"
        assert set(scheme_array(tree, "auto").tolist()) <= {0.5, 1.0}


@pytest.mark.parametrize("game", ["leduc", "kuhn", "kuhn(players=3)"])
def test_poker_calls_half_of_the_time(game: str) -> None:
    tree = cp.compile_game(game)
    assert default_of(tree) == "limit-poker"
    chances = scheme_array(tree, "auto")
    labels = [label for infoset in range(tree.num_infosets) for label in tree.actions_of(infoset)]
    assert {label for label, chance in zip(labels, chances, strict=True) if chance == 0.5} <= {"call", "check"}
    assert {label for label, chance in zip(labels, chances, strict=True) if chance == 1.0} <= {"fold", "bet", "raise"}


def test_a_scheme_of_ones_own() -> None:
    def scheme(player: int, infoset: str, actions: tuple[str, ...]) -> list[float]:
        return [0.9 if infoset.startswith("K") else 0.2 + 0.1 * player] * len(actions)

    tree = cp.compile_game("kuhn")
    solver = make_solver(tree, "mccfr-scheme", scheme=scheme)
    for infoset in range(tree.num_infosets):
        first = int(tree.infoset_offset[infoset])
        kings = tree.infoset_names[infoset].startswith("K")
        assert solver.scheme[first] == (0.9 if kings else 0.2 + 0.1 * tree.infoset_player[infoset])
    solver.step(200_000)
    assert solver.config.scheme == "custom"
    assert solver.measure().exploitability < 0.05
    half = make_solver(tree, "probing", scheme=np.full(tree.num_entries, 0.5))
    assert half.scheme.tolist() == [0.5] * tree.num_entries


def test_bad_schemes() -> None:
    tree = cp.compile_game("kuhn")
    with pytest.raises(SolverError, match="unknown scheme 'most'; there are auto, all, bluff, goofspiel"):
        make_solver(tree, "probing", scheme="most")
    with pytest.raises(SolverError, match="the scheme gives 1 probabilities at 'Q:', which has the 2 actions"):
        make_solver(tree, "probing", scheme=lambda player, name, actions: [1.0] * (1 + (name != "Q:")))
    with pytest.raises(SolverError, match=r"a probability above 0 and at most 1; got 0.0 at 'K:'"):
        make_solver(tree, "probing", scheme=lambda player, name, actions: [float(name != "K:"), 1.0])
    with pytest.raises(SolverError, match="a scheme for kuhn has 24 numbers"):
        make_solver(tree, "probing", scheme=np.ones(5))


@pytest.mark.parametrize("chances", [[1.0], [0.5, 0.5], [0.1, 0.2, 0.7], [0.0, 1.0, 0.0], [1 / 6] * 6, [0.9, 0.1, 0.0]])
def test_alias_tables_keep_the_distribution(chances: list[float]) -> None:
    threshold, alias = alias_table(np.array(chances))
    found = np.zeros(len(chances))
    for column, share in enumerate(threshold):
        found[column] += share / len(chances)
        found[alias[column]] += (1 - share) / len(chances)
    np.testing.assert_allclose(found, chances, rtol=0, atol=1e-15)
    assert all(threshold[k] == 0.0 for k, chance in enumerate(chances) if chance == 0.0)


def test_dice_of_bluff_are_drawn_by_their_chances() -> None:
    """Two dice of the same player: chances that are not all alike (a game of the whole library, not the twin's)."""
    tree = cp.compile_game("bluff(d1=2,sides=2)")
    solver = make_solver(tree, "external-sampling", seed=1)
    solver.step(300_000)
    assert solver.measure().exploitability < 0.01
