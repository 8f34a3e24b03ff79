"""Abstract games measured in the real game: tables, checkpoints, features that look beyond the game."""

from __future__ import annotations

import numpy as np
import pytest

from counterplay.abstraction.cards import BuildSettings, CardAbstraction, build_cards, parse_recipe
from counterplay.errors import AbstractionError, CounterplayError, StrategyError
from counterplay.evaluation import evaluate
from counterplay.evaluation.bucket_pairs import count_bucket_pairs, measure_buckets
from counterplay.evaluation.lifted_buckets import RealGame
from counterplay.experiments import run_experiment
from counterplay.experiments.abstraction_families import FAMILIES, PUBLISHED, family_cards
from counterplay.experiments.shared.real_game_checks import follow, growing
from counterplay.forms import open_game, poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.cards import parse_cards
from counterplay.poker.rules import Betting
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.strategy.bucket_strategy import BucketStrategy

SMALL = "holdem_2_4(ranks=4,suits=2)"
DECK, SHAPE = (4, 2), (2, 3)


def small_game(rounds: str) -> BucketGame:
    cards = build_cards(DECK, SHAPE, parse_recipe(rounds, DECK, SHAPE))
    return BucketGame.build(poker_definition(SMALL), cards.rounds, name=SMALL)


@pytest.mark.parametrize("rounds", ["PS2/PS3", "IRlossless/KE3", "lossless/lossless"])
@pytest.mark.parametrize("kind", [pytest.param(np.float64, marks=pytest.mark.slow), np.float32])
def test_tables_of_the_real_game_are_those_of_its_hands(rounds: str, kind: type) -> None:
    game, tree = small_game(rounds), open_game(SMALL, "public")
    weights = np.random.default_rng(1).random(game.num_entries)
    weights[::3] = 0.0
    profile = BucketStrategy.of_game(game, weights)
    real = RealGame(game, tree, kind)
    table = real.table(weights)
    assert table.dtype == kind
    for player, rows_of in enumerate(real.rows):
        bucket, row, wide = rows_of.bucket, rows_of.row, rows_of.wide
        for node, deal in tree.states_of(player):
            place = game.tree.find(Betting.after(game.definition, tree.node_text[node]))
            board = parse_cards(tree.deal_text[deal])
            rows = [
                list(profile.with_cards(place, hole, board).values())
                for hole in tree.hands[player].card[tree.hands[player].slice(deal)].tolist()
            ]
            first = row[node] + bucket[tree.hands[player].slice(deal)] * wide[node]
            found = table[first[:, None] + np.arange(int(tree.num_children[node]))]
            np.testing.assert_allclose(found, rows, rtol=1e-6)


def test_the_real_game_refuses_other_profiles() -> None:
    game, tree = small_game("PS2/PS3"), open_game(SMALL, "public")
    with pytest.raises(StrategyError, match=r"entries; got \(3,\)"):
        RealGame(game, tree).measure(np.ones(3))


def test_checkpoints_are_measurements_of_the_solver() -> None:
    game, tree = small_game("PS2/PS3"), open_game(SMALL, "public")
    pairs = count_bucket_pairs(game)
    curve = follow(BucketSolver(game, "pcs-boards"), [10, 40], pairs, RealGame(game, tree))
    unit = 1000.0 / game.big_blind
    for point in curve:
        solver = BucketSolver(game, "pcs-boards")
        solver.step(point.iterations)
        assert point.abstract == unit * measure_buckets(game, pairs, solver.strategy()).exploitability
        lifted = evaluate(solver.profile(storage="float64"), tree)
        assert point.real == pytest.approx(unit * lifted.exploitability, abs=1e-9)
    assert [point.iterations for point in curve] == [10, 40]
    assert curve[0].cpu_seconds <= curve[1].cpu_seconds


def test_without_pairs_only_the_real_game_is_measured() -> None:
    game, tree = small_game("PS2/PS3"), open_game(SMALL, "public")
    pairs, real = count_bucket_pairs(game), RealGame(game, tree)
    (point,) = follow(BucketSolver(game, "pcs-boards"), [5], None, real)
    (both,) = follow(BucketSolver(game, "pcs-boards"), [5], pairs, real)
    assert point.abstract is None
    assert both.abstract is not None
    assert point.real == both.real


def test_marks_grow() -> None:
    assert growing(1000, 3, 4.0) == [62, 250, 1000]
    assert growing(2, 5, 4.0) == [1, 2]


@pytest.mark.parametrize("rounds", ["PS3/PS4", "IRPE4/KE5", "IRlossless/KO5"])
def test_features_that_look_beyond_the_game_are_those_of_the_longer_one(rounds: str) -> None:
    deck, whole = (4, 3), (2, 3, 1)
    longer = build_cards(deck, whole, parse_recipe(f"{rounds.replace('/', '/IR')}/PS2", deck, whole))
    cut = build_cards(deck, whole[:2], parse_recipe(rounds, deck, whole[:2]), BuildSettings(runout=(1,)))
    assert cut.shape == whole[:2]
    assert cut.provenance["runout"] == [1]
    for ours, theirs in zip(cut.rounds, longer.rounds[:2], strict=True):
        assert (ours.shape, ours.count) == (theirs.shape, theirs.count)
        np.testing.assert_array_equal(ours.table, theirs.table)


def test_families_have_the_published_sizes() -> None:
    sizes = []
    for family in FAMILIES:
        recipe = parse_recipe("PS5/PS5" if family == "two-round" else family.partition(":")[0], (13, 4), SHAPE)
        first, second = recipe.counts((13, 4), SHAPE)
        sizes.append(8 * first + 70 * second)
    assert set(sizes) == set(PUBLISHED)
    with pytest.raises(AbstractionError, match="to the river"):
        family_cards("PS5/PS5:turn", "holdem_2_4")


def test_other_families_and_budgets() -> None:
    found = run_experiment(
        "abstraction-families", "quick", families="PS2/PS2,IRlossless/KE4", game=SMALL, boards=9, points=2
    )
    assert [(row[0], row[2]) for row in found.rows] == [("PS2/PS2", 9), ("IRlossless/KE4", 9)]
    assert found.curves["PS2/PS2"][0] == [2.0, 9.0]
    for row in found.rows:
        assert row[5] == found.curves[str(row[0])][1][-1]
        assert row[6] == min(found.curves[str(row[0])][1])
        assert row[8] is None  # published numbers are for all cards
    assert found.rows[0][4] is not None
    assert found.rows[1][4] is None


@pytest.mark.slow
def test_five_buckets_lose_in_real_holdem_what_is_published() -> None:
    (row,) = run_experiment("abstraction-families", families="two-round", boards=2500, points=1).rows
    assert row[1] == 1790
    assert float(row[4] or 0) < 6.0
    assert float(row[5] or 0) == pytest.approx(float(row[8] or 0), rel=0.08)


def test_the_least_exploitable_strategies() -> None:
    """A-vs-U and CFR-BR find the same, which is less exploitable than A-vs-A and loses to it."""
    found = run_experiment("least-exploitable", "quick", families="PS2/PS2", game=SMALL, iterations=120, points=2)
    plain, unabstracted, response, trunk = found.rows
    assert [row[1] for row in found.rows] == ["A-vs-A", "A-vs-U", "CFR-BR", "CFR-BR-trunk"]
    assert [row[3] for row in found.rows] == [120, 120, 120, 3840]
    for row in found.rows:
        assert row[5] == found.curves[f"PS2/PS2, {row[1]}, average"][1][-1]
        assert row[6] == found.curves[f"PS2/PS2, {row[1]}, current"][1][-1]
        assert row[7] is None
    for row in (response, trunk):
        assert float(unabstracted[5] or 0) <= float(row[5] or 0) <= 1.25 * float(unabstracted[5] or 0)
    assert float(response[5] or 0) < 0.9 * float(plain[5] or 0)
    assert plain[8] is None
    assert max(float(row[8] or 0) for row in (unabstracted, response, trunk)) < 0.0
    with pytest.raises(CounterplayError, match="methods are A-vs-A, A-vs-U, CFR-BR, CFR-BR-trunk; got 'A'"):
        run_experiment("least-exploitable", methods="A")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "published", "off"), [("PS5/PS5:river", 81.0, 5.0), ("IR169/KE570:river", 25.0, 4.0)]
)
def test_a_trunk_reaches_what_is_published_in_real_holdem(family: str, published: float, off: float) -> None:
    """Johanson 2016, figures 4.4 and 4.5, in two CPU minutes each: the average and the current strategy."""
    options = {"methods": "CFR-BR-trunk", "families": family, "iterations": 1563, "points": 1}
    (row,) = run_experiment("least-exploitable", **options).rows
    assert float(row[4] or 0) < 1800.0  # CPU seconds
    assert [float(row[place] or 0) for place in (5, 6)] == pytest.approx([published] * 2, abs=off)


def test_overfitting_shows() -> None:
    found = run_experiment("overfitting", scale="quick")
    rows = found.rows
    assert [row[3] for row in rows] == ["lowest", "last", "CFR-BR, average", "CFR-BR, current"] * 2
    for low, last, average, current in zip(rows[::4], rows[1::4], rows[2::4], rows[3::4], strict=True):
        assert int(low[4] or 0) < int(last[4] or 0)
        assert float(last[6] or 0) > 1.1 * float(low[6] or 0)  # the real game: ten per cent worse
        assert float(average[6] or 0) < 0.5 * float(low[6] or 0)  # CFR-BR aims at the real game
        assert float(current[6] or 0) < 0.7 * float(low[6] or 0)
    assert float(rows[1][5] or 0) < 0.5 * float(rows[0][5] or 0)  # the abstract game: better by half
    worse = 100 * (float(rows[1][6] or 0) / float(rows[0][6] or 0) - 1)
    assert found.notes[0].startswith(f"PS2/PS12: after its lowest point exploitability rises by {worse:.0f} % while it")
    assert [note.endswith("(published 10 %).") for note in found.notes[:4]] == [True, False, False, False]


def test_nothing_overfits_without_buckets() -> None:
    tree = open_game(SMALL, "public")
    cards = CardAbstraction.lossless(DECK, SHAPE)
    game = BucketGame.build(poker_definition(SMALL), cards.rounds, name=SMALL)
    for point in follow(BucketSolver(game, "pcs-boards"), [20, 80], count_bucket_pairs(game), RealGame(game, tree)):
        assert point.abstract == pytest.approx(point.real, rel=1e-9)


def test_memory_of_a_hybrid() -> None:
    """Johanson 2016, table 4.1: within 8 per cent, since the published trunks have more hands than there are."""
    rows = run_experiment("hybrid-memory").rows
    assert [row[0] for row in rows] == [1, 2, 3, 4]
    assert all(0.92 < float(row[3] or 0) < 1.01 for row in rows)
    assert all(0.98 < float(row[6] or 0) < 1.01 for row in rows[:3])
    assert rows[3][6] is None
    assert rows[1][7:] == ("1.00 GB", "893.40 MB", "84.38 MB")
