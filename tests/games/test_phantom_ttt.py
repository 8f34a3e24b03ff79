"""Phantom tic-tac-toe: published sizes, the rules move by move, and what each variant forgets.

Sizes of the whole game are those of Lanctot et al. 2012, table 1; all others were computed independently.
"""

from __future__ import annotations

import pytest

import counterplay as cp
from counterplay.abstraction import abstraction_by_name
from counterplay.cli.main import main
from counterplay.errors import GameError, MemoryLimitError
from counterplay.games.phantom_ttt import VARIANTS, PhantomTicTacToe, count_histories, count_infosets
from tests.reference import phantom_ttt as reference

SMALL = {"x": "0,8", "o": "1,4"}
CENTRE = {"x": "4", "o": "0"}
CORNER = {"x": "0", "o": "4"}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def totals(counts: tuple[tuple[int, int], tuple[int, int]]) -> tuple[int, int]:
    return counts[0][0] + counts[1][0], counts[0][1] + counts[1][1]


# ---------------------------------------------------------------------------------------------- sizes


@pytest.mark.parametrize(
    ("variant", "pairs"),
    [("full", 11_695_314), ("FOSF", 9_347_010), ("FOI", 1_147_530), ("FOS", 1_484_168), ("FOE", 47_818)],
)
def test_published_sizes(variant: str, pairs: int) -> None:
    """Lanctot et al. 2012, table 1."""
    assert totals(count_infosets(variant))[1] == pairs


def test_published_savings() -> None:
    """Lanctot et al. 2012, table 1, last column."""
    full = totals(count_infosets())[1]
    saved = {variant: 100 * (1 - totals(count_infosets(variant))[1] / full) for variant in VARIANTS}
    assert [round(saved[variant], 2) for variant in ("FOSF", "FOI", "FOS", "FOE")] == [20.08, 90.19, 87.31, 99.59]


@pytest.mark.parametrize(
    ("variant", "counts"),
    [
        ("full", ((3_292_786, 5_922_849), (2_307_355, 5_772_465))),
        ("FOSF", ((2_602_498, 4_820_505), (1_788_523, 4_526_505))),
        ("FOI", ((301_258, 652_449), (183_787, 495_081))),
        ("FOS", ((181_048, 396_491), (413_903, 1_087_677))),
        ("FOE", ((6_058, 22_789), (6_251, 25_029))),
    ],
)
def test_sizes_by_player(variant: str, counts: tuple[tuple[int, int], tuple[int, int]]) -> None:
    """Computed independently."""
    assert count_infosets(variant) == counts


def test_sizes_of_the_strict_variant() -> None:
    """Computed independently."""
    assert totals(count_infosets("FOSF-strict")) == (2_815_313, 6_459_330)


@pytest.mark.parametrize(
    ("variant", "pairs"),
    [("full", 12_157_266), ("FOSF", 9_700_290), ("FOI", 1_180_938), ("FOS", 1_503_416), ("FOE", 47_946)],
)
def test_sizes_without_early_draws(variant: str, pairs: int) -> None:
    """Computed independently."""
    assert totals(count_infosets(variant, early_draw=False))[1] == pairs


def test_histories() -> None:
    """Computed independently; Lanctot et al. 2012, section 6, say about 10^10."""
    assert count_histories() == {"decision": 8_475_213_907, "terminal": 8_425_642_464}
    assert sum(count_histories(early_draw=False).values()) == 19_934_533_171
    assert sum(count_histories(x="4").values()) == 241_522_369


BOARDS = [
    pytest.param(
        CENTRE,
        4_182_279,
        [(24_639, 51_960), (22_585, 48_180), (16_853, 38_268), (5_985, 14_230), (8_284, 20_201), (1_041, 3_475)],
        id="X centre, O corner",
    ),
    pytest.param(
        CORNER,
        4_357_659,
        [(26_507, 55_972), (24_287, 51_856), None, (6_405, 15_194), (9_022, 21_763), (1_088, 3_597)],
        id="X corner, O centre",
    ),
    pytest.param(
        SMALL, 4_255, [(258, 544), (258, 544), (225, 494), (150, 344), (195, 445), (91, 245)], id="four marks"
    ),
]
"""Public marks, histories, and information sets and pairs in the order of ``VARIANTS``; computed independently."""


@pytest.mark.parametrize(("marks", "histories", "sizes"), BOARDS)
def test_sizes_of_boards_with_public_marks(
    marks: dict[str, str], histories: int, sizes: list[tuple[int, int] | None]
) -> None:
    assert sum(count_histories(**marks).values()) == histories
    for variant, size in zip(VARIANTS, sizes, strict=True):
        assert size in (None, totals(count_infosets(variant, **marks)))


@every_variant
@pytest.mark.parametrize("early_draw", [True, False])
@pytest.mark.parametrize(("x", "o"), [("0,8", "1,4"), ("4", "0"), ("0,5", "4"), ("1,3,8", "0,4")])
def test_counts_agree_with_the_slow_way(variant: str, early_draw: bool, x: str, o: str) -> None:
    crosses, noughts = (frozenset(map(int, marks.split(","))) for marks in (x, o))
    assert list(count_infosets(variant, early_draw, x, o)) == reference.count_infosets(
        variant, early_draw, crosses, noughts
    )


@pytest.mark.slow
def test_the_whole_game_the_slow_way() -> None:
    """Every memory of both players; minutes."""
    for player, expected in enumerate(count_infosets()):
        sets = pairs = 0
        for _, left in reference.memories(player, True, frozenset(), frozenset()):
            sets += 1
            pairs += left
        assert (sets, pairs) == expected


@every_variant
@pytest.mark.parametrize("early_draw", [True, False])
@pytest.mark.parametrize(("x", "o"), [("0,8", "1,4"), ("0,5", "2,4"), ("1,3,8", "0,4")])
def test_compiled_trees_have_the_counted_sizes(variant: str, early_draw: bool, x: str, o: str) -> None:
    tree = cp.compile_game(PhantomTicTacToe(variant, early_draw, x, o))
    assert tree.counts() == {"chance": 0, **count_histories(early_draw, x, o)}
    for player, count in enumerate(count_infosets(variant, early_draw, x, o)):
        sets = tree.infosets_of(player)
        assert len(sets) == count.sets
        assert int(tree.infoset_offset[sets.stop] - tree.infoset_offset[sets.start]) == count.pairs


@pytest.mark.slow
@pytest.mark.parametrize("marks", [CENTRE, CORNER], ids=["X centre, O corner", "X corner, O centre"])
def test_larger_trees_have_the_counted_sizes(marks: dict[str, str]) -> None:
    tree = cp.compile_game(PhantomTicTacToe(**marks))  # type: ignore[arg-type]
    assert tree.counts() == {"chance": 0, **count_histories(**marks)}
    assert (tree.num_infosets, tree.num_entries) == totals(count_infosets(**marks))
    assert set(tree.recall) == {"perfect"}


# ---------------------------------------------------------------------------------------------- rules


def test_a_failed_attempt_is_told_to_the_mover_only() -> None:
    game = cp.make("phantom_ttt")
    state = game.play(4, 4)
    assert (state.player, state.infoset()) == (1, "O:4-")
    assert 4 not in state.actions()
    state = state.child(0)
    assert (state.player, state.infoset()) == (0, "X:4+")
    assert game.play(4, 0).infoset() == state.infoset()
    assert list(state.actions()) == [0, 1, 2, 3, 5, 6, 7, 8]


def test_three_in_a_line_end_the_game() -> None:
    game = cp.make("phantom_ttt")
    crosses = game.play(0, 3, 1, 4, 2)
    assert (crosses.player, crosses.utilities()) == (cp.TERMINAL, (1.0, -1.0))
    noughts = game.play(0, 3, 1, 4, 8, 5)
    assert (noughts.player, noughts.utilities()) == (cp.TERMINAL, (-1.0, 1.0))
    with pytest.raises(GameError, match="4 is not possible here"):
        game.play(0, 4, 4, 4)


def test_games_that_nobody_can_win_end_early() -> None:
    moves = (0, 1, 2, 4, 3, 5, 7, 6)  # X 0237, O 1456: every line holds both
    early = cp.make("phantom_ttt").play(*moves)
    assert (early.player, early.utilities()) == (cp.TERMINAL, (0.0, 0.0))
    plain = cp.make("phantom_ttt", early_draw=False).play(*moves)
    assert (plain.player, plain.infoset()) == (0, "X:0+2+3+7+")
    full = plain.child(8)
    assert (full.player, full.utilities()) == (cp.TERMINAL, (0.0, 0.0))


def test_public_marks_are_seen_by_both() -> None:
    game = cp.make('phantom_ttt(x="0,8",o="1")')
    assert game.root().player == 1
    assert list(game.root().actions()) == [2, 3, 4, 5, 6, 7]
    assert list(game.play(4).actions()) == [2, 3, 4, 5, 6, 7]
    assert cp.make("phantom_ttt", x="8,0", o="1") == game
    assert cp.make("phantom_ttt", x="8,0", o="1").spec() == 'phantom_ttt(x="0,8",o=1)'


def test_early_draws_do_not_change_the_value() -> None:
    values = []
    for early_draw in (True, False):
        game = PhantomTicTacToe("full", early_draw, **SMALL)
        values.append(cp.solve(game, exploitability=1e-3).value[0])
    assert values[0] == pytest.approx(values[1], abs=4e-3)  # each is within twice the exploitability


# ---------------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ("full", "X:8-5-0+7-6-1+4-3-"),
        ("FOSF", "X:5-8-0+6-7-1+4-3-"),
        ("FOSF-strict", "X:5-8-0+6-7-1+3-4-"),
        ("FOI", "X:01+857643-"),
        ("FOS", "X:01+85|76|43-"),
        ("FOE", "X:01+345678-"),
    ],
)
def test_what_is_left_of_a_memory(variant: str, text: str) -> None:
    assert cp.make("phantom_ttt").forget("order", variant)("X:8-5-0+7-6-1+4-3-") == text


@every_variant
@pytest.mark.parametrize(("x", "o"), [("0,8", "1,4"), ("1,3,8", "0,4"), ("0,5", "2,4")])
def test_forgetting_gives_the_sets_of_the_variant(variant: str, x: str, o: str) -> None:
    full = cp.compile_game(PhantomTicTacToe(x=x, o=o))
    merged = abstraction_by_name(PhantomTicTacToe(x=x, o=o), full, f"order={variant}").apply(full)
    assert merged.fingerprint == cp.compile_game(PhantomTicTacToe(variant, x=x, o=o)).fingerprint


@every_variant
def test_only_the_own_choice_of_squares_is_forgotten(variant: str) -> None:
    """Two orders of the same attempts part at a choice: A-loss recall (Čermák 2018, definition 2.2.2)."""
    tree = cp.compile_game(PhantomTicTacToe(variant, x="0,2", o="7"))
    assert set(tree.recall) <= {"perfect", "a-loss"}
    assert (set(tree.recall) == {"perfect"}) == (variant == "full")


# ---------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"variant": "FSOF"}, "variant must be one of full, FOSF, FOSF-strict, FOI, FOS, FOE; got 'FSOF'"),
        ({"x": "9"}, "x must be different squares from 0 to 8, such as 0,8; got '9'"),
        ({"x": "0,0"}, "x must be different squares from 0 to 8, such as 0,8; got '0,0'"),
        ({"x": "4", "o": "b2"}, "o must be different squares from 0 to 8, such as 0,8; got 'b2'"),
        ({"x": "0,4", "o": "4"}, "square 4 cannot hold an X and an O; got x='0,4', o='4'"),
        ({"o": "4"}, "there must be as many X as O, or one more; got x='', o='4'"),
        ({"x": "0,1,2", "o": "3,4"}, "the game is over at x='0,1,2', o='3,4'; take marks away"),
        ({"x": "0,2,3,7", "o": "1,4,5,6"}, "the game is over at x='0,2,3,7', o='1,4,5,6'; take marks away"),
    ],
)
def test_bad_parameters(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(GameError) as told:
        cp.make("phantom_ttt", **parameters)
    assert message in str(told.value)
    with pytest.raises(GameError):
        count_infosets(**parameters)  # type: ignore[arg-type]


def test_what_cannot_be_forgotten() -> None:
    game = cp.make("phantom_ttt")
    with pytest.raises(GameError, match="cannot forget 'bids'; it can forget order"):
        game.forget("bids", "2")
    with pytest.raises(GameError, match="FOE; got 'all'"):
        game.forget("order", "all")
    with pytest.raises(GameError, match=r"phantom_ttt\(variant=FOI\) forgets already"):
        cp.make("phantom_ttt", variant="FOI").forget("order", "FOE")


def test_the_whole_game_is_refused_unseen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "phantom_ttt", "--memory-limit", "16GiB"]) == 0
    assert "too large: 16,900,856,371 histories, 1.8 TiB" in capsys.readouterr().out
    assert main(["solve", "phantom_ttt", "--memory-limit", "16GiB"]) == 2
    assert capsys.readouterr().err == (
        "counterplay: phantom_ttt has 16,900,856,371 histories and needs about 1.8 TiB, but only 16.0 GiB may be "
        "used; use smaller parameters, a higher memory limit or a solver that samples\n"
    )
    with pytest.raises(MemoryLimitError):
        cp.compile_game("phantom_ttt", memory_limit=1 << 34)
