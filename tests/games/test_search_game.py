"""The search game: information sets, sequences and values on all grids, captures, tracks and forgetting.

Source: Čermák 2018, section 4.5.  All numbers were computed independently; those printed in the thesis belong to a
graph that is lost.  The game is over when the attacker enters the goal: without that there are more histories, but the
same information sets, sequences and value.
"""

from __future__ import annotations

from collections import Counter

import pytest

import counterplay as cp
from counterplay.errors import GameError
from counterplay.game.game import TERMINAL
from counterplay.games.search_game import SearchGame
from tests.reference.compiled import sizes, tree_value


@pytest.mark.parametrize(
    ("moves", "histories", "infosets", "sequences", "value"),
    [
        (4, (82_203, 64_850), (76, 750), (208, 4_331), 1 / 3),
        (5, (762_677, 600_452), (185, 5_629), (495, 32_744), 1 / 3),
        pytest.param(6, (6_952_067, 5_462_112), (420, 39_586), (1_102, 229_919), 1 / 4, marks=pytest.mark.slow),
    ],
)
def test_counts_and_values(
    moves: int, histories: tuple[int, int], infosets: tuple[int, int], sequences: tuple[int, int], value: float
) -> None:
    """Histories are all, and those at which the game ends; the value is that of the defender, the second player."""
    tree = cp.compile_game(f"search_game(moves={moves})")
    assert (len(tree.player), int((tree.player == TERMINAL).sum())) == histories
    assert sizes(tree) == {"infosets": infosets, "sequences": sequences}
    assert tree.recall == ("perfect", "perfect")
    assert -tree_value(tree) == pytest.approx(value, abs=1e-8)


def count_by_beliefs(moves: int) -> dict[str, tuple[int, int]]:
    """Information sets and sequences without a tree: what a player knows matters only by what it leaves possible.

    Each level is a count of the ways to each (own position, possible places of the others).
    """
    game = SearchGame(moves=moves)
    attackers = Counter({(0, False, frozenset({(17, 18)})): 1})
    defenders = Counter({((17, 18), frozenset({(0, False, frozenset[int]())})): 1})
    infosets, sequences = [0, 0], [1, 1]
    for _ in range(moves):
        next_attackers: Counter[tuple[int, bool, frozenset[tuple[int, int]]]] = Counter()
        for (node, waits, places), ways in attackers.items():
            choices = attacker_choices(game, node, waits)
            infosets[0] += ways
            sequences[0] += ways * len(choices)
            for to, slowly, _ in choices:
                left = frozenset(
                    after
                    for before in places
                    for after in game.unit_moves[before]
                    if to != 16 and not caught(node, to, before, after)
                )
                next_attackers[to, slowly, left] += ways if left else 0
        next_defenders: Counter[tuple[tuple[int, int], frozenset[tuple[int, bool, frozenset[int]]]]] = Counter()
        for (before, beliefs), ways in defenders.items():
            infosets[1] += ways
            sequences[1] += ways * len(game.unit_moves[before])
            for after in game.unit_moves[before]:
                by_sight: dict[frozenset[int], set[tuple[int, bool, frozenset[int]]]] = {}
                for node, waits, tracks in beliefs:
                    for to, slowly, quickly in attacker_choices(game, node, waits):
                        if to != 16 and not caught(node, to, before, after):
                            found = tracks | {to} if quickly and to in (4, 5, 6) else tracks
                            by_sight.setdefault(found & set(after), set()).add((to, slowly, found))
                for left_beliefs in by_sight.values():
                    next_defenders[after, frozenset(left_beliefs)] += ways
        attackers, defenders = +next_attackers, next_defenders
    return {"infosets": (infosets[0], infosets[1]), "sequences": (sequences[0], sequences[1])}


def attacker_choices(game: SearchGame, node: int, waits: bool) -> list[tuple[int, bool, bool]]:
    """Where the attacker can go: the node, whether slowly, whether quickly."""
    if waits:
        return [(node, False, False)]
    return [(int(name.lstrip("~")), name[0] == "~", name[0] != "~") for name in game.attacker_moves[node]]


def caught(node: int, to: int, before: tuple[int, int], after: tuple[int, int]) -> bool:
    return to in after or (to, node) in zip(before, after, strict=True)


@pytest.mark.parametrize(
    ("moves", "infosets", "sequences"),
    [
        (4, (76, 750), (208, 4_331)),
        (5, (185, 5_629), (495, 32_744)),
        (6, (420, 39_586), (1_102, 229_919)),
        (7, (902, 263_051), (2_332, 1_521_822)),
    ],
)
def test_counts_without_a_tree(moves: int, infosets: tuple[int, int], sequences: tuple[int, int]) -> None:
    assert count_by_beliefs(moves) == {"infosets": infosets, "sequences": sequences}


@pytest.mark.parametrize(
    ("grid", "moves", "value"), [("parallel", 4, 0.5), ("parallel", 5, 1.0), ("almost", 4, 0.5), ("almost", 5, 0.5)]
)
def test_other_grids(grid: str, moves: int, value: float) -> None:
    assert -tree_value(cp.compile_game(f"search_game(grid={grid},moves={moves})")) == pytest.approx(value, abs=1e-8)


def test_a_slow_move_leaves_no_track_and_takes_two_rounds() -> None:
    game = cp.make("search_game(moves=5)")
    quick = game.play("4", (5, 11), "7", (4, 11))
    assert quick.infoset() == "0 4 7"
    assert quick.child("10").infoset() == "17,18 5,11 4*,11"
    slow = game.play("~4", (5, 11))
    assert slow.infoset() == "0 ~4"
    assert slow.actions() == ("wait",)
    after = game.play("~4", (5, 11), "wait", (5, 11), "7", (4, 11))
    assert after.infoset() == "0 ~4 . 7"
    assert after.child("10").infoset() == "17,18 5,11 5,11 4,11"
    assert "~4" not in cp.make("search_game(slow=false)").play().actions()


def test_ends() -> None:
    game = cp.make("search_game(moves=4)")
    assert game.play("4", (4, 11)).utilities() == (-1.0, 1.0)
    assert game.play("4", (5, 11), "5", (4, 11)).utilities() == (-1.0, 1.0)  # changed places
    assert game.play("~4", (5, 11), "wait", (4, 11)).utilities() == (-1.0, 1.0)
    assert game.play("4", (5, 11), "7", (5, 11), "10", (5, 11), "16").utilities() == (1.0, -1.0)
    assert game.play("4", (5, 11), "7", (5, 11), "8", (5, 11), "7", (5, 10)).utilities() == (0.0, 0.0)


def test_units_keep_to_their_columns() -> None:
    game = cp.make("search_game")
    assert len(game.play("1").actions()) == 9
    assert game.play("1", (4, 12), "4").actions() == ((4, 11), (4, 12), (5, 11), (5, 12))


@pytest.mark.parametrize(("remembered", "recall"), [(0, "imperfect"), (1, "a-loss")])
def test_a_forgetful_defender(remembered: int, recall: str) -> None:
    clever = cp.compile_game("search_game(moves=4)")
    forgetful = cp.compile_game(f"search_game(moves=4,remembered={remembered})")
    assert forgetful.recall == ("perfect", recall)
    assert len(forgetful.infosets_of(0)) == 76
    left = cp.make("search_game").forget("last-moves", str(remembered))
    names = {left(clever.infoset_names[infoset]) for infoset in clever.infosets_of(1)}
    assert names == {forgetful.infoset_names[infoset] for infoset in forgetful.infosets_of(1)}
    assert len(names) < 750


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("search_game(moves=0)", "moves must be at least 1; got 0"),
        ("search_game(grid=round)", "grid must be one of connected, almost, parallel; got 'round'"),
        ("search_game(remembered=-2)", "remembered must be at least -1"),
    ],
)
def test_bad_parameters(name: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        cp.make(name)


def test_bad_things_to_forget() -> None:
    with pytest.raises(GameError, match="non-negative integer; got 'x'"):
        cp.make("search_game").forget("last-moves", "x")
    with pytest.raises(GameError, match="can forget last-moves"):
        cp.make("search_game").forget("tracks", "1")
