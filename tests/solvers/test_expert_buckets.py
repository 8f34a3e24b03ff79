"""Experts in buckets: parts of the betting with buckets of their own, games of a part, deals weighted by a prefix."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction import infoset_labels, label_parts
from counterplay.abstraction.cards import CardAbstraction
from counterplay.abstraction.cards.expert_buckets import part_bucket_game, part_points, split_cards, with_experts
from counterplay.abstraction.part_games import PartGame
from counterplay.errors import AbstractionError, SolverError
from counterplay.evaluation import evaluate
from counterplay.forms import GameForms, form_sizes
from counterplay.kernels.walks import alias_columns, random_state
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import build_betting_tree
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.deal_sampler import DealSampler
from counterplay.poker.buckets.prefix_sampler import PrefixSampler
from counterplay.poker.cards import parse_cards
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.poker.rules import Betting
from counterplay.solvers import make_solver
from counterplay.solvers.bucket_cfr import BucketCfrSolver
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.form_memory import solver_memory
from counterplay.solvers.mccfr import MccfrConfig, mccfr_config
from counterplay.strategy import BucketStrategy
from counterplay.strategy.composed import stitch
from counterplay.strategy.trivial import TRIVIAL
from tests.poker.test_bucket_game import LEDUC, THREE, forgetting, lossless, remembering

NAME = "leduc_limit_2p"


def random_strategy(game: BucketGame, seed: int) -> BucketStrategy:
    return BucketStrategy.of_game(game, np.random.default_rng(seed).exponential(size=game.num_entries))


@pytest.mark.parametrize("players", [2, 3])
def test_every_decision_has_the_buckets_of_its_part(players: int) -> None:
    rules = LEDUC if players == 2 else THREE
    base = BucketGame.build(rules, forgetting(rules))
    game = with_experts(base, [("r@1", lossless(rules), ()), ("cr", remembering(rules), ())])
    seen: set[tuple[int, ...]] = set()
    for node in np.flatnonzero(game.free).tolist():
        text, player, turn = game.tree.text(node), int(game.tree.player[node]), int(game.tree.round[node])
        wanted = forgetting(rules)
        if text.startswith("r") and player == 0:
            wanted = lossless(rules)
        if text.startswith("cr"):
            wanted = remembering(rules)
        assert game.tables_at(node)[turn].count == wanted[turn].count
        for bucket in range(wanted[turn].count):
            first = game.entry(node, bucket)
            entries = tuple(range(first, first + int(game.tree.num_children[node])))
            assert entries not in seen
            seen.add(entries)
    assert sorted(entry for entries in seen for entry in entries) == list(range(game.num_entries))
    assert len(seen) == game.num_infosets
    assert game.fingerprint != base.fingerprint


@pytest.mark.parametrize("algorithm", ["external-sampling", "chance-sampling"])
def test_dynamic_experts_with_the_base_buckets_change_no_bit(algorithm: str) -> None:
    """The null part: the tables are in another order, and everything else is the same."""
    plain = BucketGame.build(LEDUC, lossless(LEDUC), name=NAME)
    dynamic = with_experts(plain, [("r", lossless(LEDUC), ()), ("cc/r", lossless(LEDUC), ())])
    tree = cp.compile_game(NAME)
    found = []
    for game in (plain, dynamic):
        solver = BucketSolver(game, algorithm)
        solver.step(3000)
        found.append(BucketStrategy.of_game(game, solver.strategy()).lifted(tree).table)
    np.testing.assert_array_equal(*found)


def on_histories(solved: BucketStrategy, base: BucketStrategy, tree: cp.GameTree) -> np.ndarray:
    """The strategy of a game of a part where it is free, and the base elsewhere."""
    game, rows = solved.abstract, []
    for key in tree.infoset_names:
        cards, _, betting = key.partition(":")
        node = game.tree.find(Betting.after(game.definition, betting))
        hole, *boards = map(parse_cards, cards.split("/"))
        one = solved if game.free[node] else base
        rows.append(one.row(node, one.abstract.bucket(node, hole, [card for part in boards for card in part])))
    return np.concatenate(rows)


@pytest.mark.parametrize(
    ("part", "algorithm"),
    [("r", "external-sampling"), ("cr,r", "chance-sampling"), ("cc/r@1", "external-sampling"), ("r@2", "pure-cfr"),
     ("cc/r", "pure-cfr"), ("cr@1", "chance-sampling")],
)  # fmt: skip
def test_a_part_is_solved_as_on_histories(part: str, algorithm: str) -> None:
    """What is found is near the solution of the game of the part, which histories measure exactly."""
    base = random_strategy(BucketGame.build(LEDUC, lossless(LEDUC), name=NAME), 1)
    game = part_bucket_game(base.abstract, base.strategy(), part, lossless(LEDUC))
    tree = cp.compile_game(NAME)
    inside = PartGame.of(tree, part, base.lifted(tree).table)
    free = np.repeat(inside.free, np.diff(tree.infoset_offset))
    assert (game.start > 0) == ("@" not in part and "," not in part)
    solver = BucketSolver(game, algorithm)
    gaps = []
    for steps in (500, 60_000):
        solver.step(steps)
        table = on_histories(solver.profile(storage="float64"), base, tree)
        np.testing.assert_allclose(table[~free], base.lifted(tree).table[~free], atol=1e-12)
        measured = evaluate(cp.TabularStrategy.from_tree(inside.tree, table[free]), inside.tree)
        gaps.append(measured.exploitability)
    assert gaps[1] < 0.05
    assert gaps[1] < gaps[0] / 2
    stitched = stitch(base, {part: solver.profile(storage="float64")})
    assert isinstance(stitched, BucketStrategy)
    expert = infoset_labels(tree, label_parts(tree, [part])) == 1
    kept = np.where(np.repeat(expert, np.diff(tree.infoset_offset)), table, base.lifted(tree).table)
    np.testing.assert_allclose(stitched.lifted(tree).table, kept, atol=1e-12)


def test_a_part_of_three_players_in_other_buckets() -> None:
    """Tables hold the part alone; outside it the player without an expert has entries in the base buckets."""
    base = random_strategy(BucketGame.build(THREE, forgetting(THREE)), 2)
    everybody = part_bucket_game(base.abstract, base.strategy(), "f", lossless(THREE))
    two = part_bucket_game(base.abstract, base.strategy(), "f@1+2", lossless(THREE))
    tree = base.abstract.tree
    inside = label_parts(tree, ["f"]) == 1
    assert everybody.num_infosets == sum(
        everybody.tables_at(node)[tree.round[node]].count for node in np.flatnonzero(inside).tolist()
    )
    others = np.flatnonzero(tree.player == 2)
    assert two.num_infosets == sum(
        two.tables_at(node)[tree.round[node]].count
        for node in np.flatnonzero((inside & (tree.player != 2)) | (tree.player == 2)).tolist()
    )
    assert two.free[others].all()
    for game in (everybody, two):
        for algorithm in ("external-sampling", "pure-cfr", "chance-sampling"):
            solver = BucketSolver(game, algorithm)
            solver.step(50)
            assert solver.iterations == 50
            assert np.isfinite(solver.strategy()).all()


def test_deals_are_in_proportion_to_the_prefix() -> None:
    """Frequencies of pairs of hands against the products of what the base plays on the way, within four deviations."""
    base = random_strategy(BucketGame.build(LEDUC, lossless(LEDUC), name=NAME), 3)
    table = base.strategy()
    game = part_bucket_game(base.abstract, table, "crr", lossless(LEDUC))
    sampler, draws = PrefixSampler(game, 512), 40_000
    state, pairs = random_state(5, 1)[0], Counter[tuple[int, int]]()
    first = len(game.slot_start)
    done = 0
    while done < draws:
        for row in sampler.deal(state, 500)[:, first : first + 2].tolist():
            pairs[tuple((row[p] - base.abstract.slot_start[p]) // base.abstract.slot_width[p] for p in (0, 1))] += 1
        done += 500
    tree = base.abstract.tree
    weights = {}
    for pair in itertools.product(range(3), repeat=2):
        chance = (1 if pair[0] == pair[1] else 2) * 1.0
        node = game.start
        while node:
            above = int(tree.parent[node])
            chance *= base.row(above, pair[int(tree.player[above])])[node - int(tree.first_child[above])]
            node = above
        weights[pair] = chance
    total = sum(weights.values())
    for pair, weight in weights.items():
        share = weight / total
        assert abs(pairs[pair] / done - share) < 4 * np.sqrt(share * (1 - share) / done) + 1e-9


@pytest.mark.parametrize("part", ["cr", "cc/r"])
def test_accepted_deals_have_the_buckets_of_their_cards(part: str) -> None:
    """Of candidates only the rounds on the way are looked up; of those that are kept all, and the showdowns."""
    base = random_strategy(BucketGame.build(LEDUC, forgetting(LEDUC), name=NAME), 4)
    game = part_bucket_game(base.abstract, base.strategy(), part, lossless(LEDUC))
    sampler, state = PrefixSampler(game, 128), random_state(9, 1)[0]
    for _ in range(3):
        found = sampler.deal(state, 100).copy()
        np.testing.assert_array_equal(found, DealSampler(game, 128).shifts(sampler._kept[:100]))


def test_after_a_fold_averages_are_those_of_the_walks_of_the_two_who_are_left() -> None:
    """Nobody walks for who has folded, and there are no further walks; what is found is near an equilibrium."""
    base = random_strategy(BucketGame.build(THREE, lossless(THREE), name="three"), 5)
    game = part_bucket_game(base.abstract, base.strategy(), "f")
    assert game.deciding == (0, 1)
    assert base.abstract.deciding == (0, 1, 2)
    for algorithm in ("external-sampling", "pure-cfr"):
        runs = [BucketSolver(game, mccfr_config(algorithm, {"average_walks": share})) for share in (0.001, 1.0)]
        values = []
        for solver in runs:
            solver.step(500)
        np.testing.assert_array_equal(*(solver.average for solver in runs))  # there are no other walks
        for steps in (0, 100_000):
            runs[0].step(steps)
            values.append(sum(gains_after_a_fold(game, runs[0].strategy(), player) for player in (0, 1)))
        assert 0.0 <= values[1] < 0.08  # falls by 2 where iterations grow by 4
        assert values[1] < values[0] / 5


@pytest.mark.parametrize("kind", ["average", "last"])
def test_what_plays_where_a_run_has_never_been(kind: Literal["average", "last"]) -> None:
    """Calls where nothing was learnt, in place of all actions alike; nothing else changes."""
    game = with_experts(BucketGame.build(THREE, forgetting(THREE)), [("f", lossless(THREE), ())])
    solver = BucketSolver(game, mccfr_config("external-sampling", {"average_walks": 0.5}))
    solver.step(10)
    table = solver.average if kind == "average" else solver.regret
    plain, filled = (solver.profile(kind, "float64", unmet) for unmet in (None, TRIVIAL["always-call"]))
    met = Counter[bool]()
    for node in np.flatnonzero(game.free).tolist():
        for bucket in range(game.tables_at(node)[int(game.tree.round[node])].count):
            first, actions = game.entry(node, bucket), game.tree.actions(node)
            known = bool(table[first : first + len(actions)].any())
            calls = [float(action == "c") for action in actions]
            assert filled.row(node, bucket).tolist() == (plain.row(node, bucket).tolist() if known else calls)
            if not known:
                assert plain.row(node, bucket).tolist() == [1 / len(actions)] * len(actions)
            met[known] += 1
    assert min(met[True], met[False]) > 30


def gains_after_a_fold(game: BucketGame, strategy: np.ndarray, player: int) -> float:
    """What a best response of one of two players gains in the part, over all deals, in plain Python."""
    tree, rules, fixed = game.tree, game.definition, game.fixed
    assert fixed is not None
    size = rules.cards_dealt
    dealt = np.array(list(itertools.permutations(sorted(rules.deck), size)), np.uint8)
    chances = np.ones(len(dealt))
    held = [(tuple(cards[:3]), tuple(cards[3:])) for cards in dealt.tolist()]
    node = game.start
    while node:
        above = int(tree.parent[node])
        who, action = int(tree.player[above]), node - int(tree.first_child[above])
        for number, (holes, board) in enumerate(held):
            first = fixed.game.entry(above, fixed.game.bucket(above, holes[who : who + 1], board))
            chances[number] *= fixed.strategy[first + action]
        node = above
    chances /= chances.sum()
    shifts = DealSampler(game, len(dealt)).shifts(dealt)

    def rows(node: int) -> np.ndarray:
        who = int(tree.player[node])
        return np.array([game.entry(node, game.bucket(node, holes[who : who + 1], board)) for holes, board in held])

    def value(node: int, reach: np.ndarray, best: bool) -> np.ndarray:
        if tree.player[node] < 0:
            column = game.showdown_slot if tree.showdowns()[node] else game.fold_slot
            return np.asarray(game.utility[int(game.node_offset[node]) + shifts[:, column], player])
        entries, first = rows(node), int(tree.first_child[node])
        mine = tree.player[node] == player
        count = int(tree.num_children[node])
        shares = np.array([strategy[entries + action] for action in range(count)])
        if not (mine and best):
            below = [value(first + a, reach if mine else reach * shares[a], best) for a in range(count)]
            return np.asarray(sum(share * one for share, one in zip(shares, below, strict=True)))
        below = [value(first + action, reach, best) for action in range(count)]
        found = np.empty(len(reach))
        for entry in np.unique(entries):
            some = entries == entry
            found[some] = max(below, key=lambda one: float((reach * one)[some].sum()))[some]
        return found

    gain = value(game.start, chances, True) - value(game.start, chances, False)
    return float((chances * gain).sum())


def test_deals_do_not_depend_on_batches() -> None:
    base = random_strategy(BucketGame.build(LEDUC, forgetting(LEDUC), name=NAME), 4)
    game = part_bucket_game(base.abstract, base.strategy(), "cr", lossless(LEDUC))
    whole, parts = random_state(9, 1)[0], random_state(9, 1)[0]
    expected = PrefixSampler(game, 128).deal(whole, 120).copy()
    sampler = PrefixSampler(game, 128)
    found = np.concatenate([sampler.deal(parts, count).copy() for count in (1, 50, 0, 7, 62)])
    np.testing.assert_array_equal(found, expected)
    assert whole[0] == parts[0]


def test_alias_rows_have_the_probabilities() -> None:
    rng = np.random.default_rng(6)
    for count in (1, 2, 3, 5):
        chances = rng.random((200, count)) ** 3
        if count > 1:
            chances[::4, 0] = 0.0
        threshold, alias = alias_columns(chances)
        found = threshold / count
        for column in range(count):
            np.add.at(found, (np.arange(200), alias[:, column]), (1.0 - threshold[:, column]) / count)
        np.testing.assert_allclose(found, chances / chances.sum(axis=1, keepdims=True), atol=1e-14)
        assert (found[chances == 0.0] == 0.0).all()


def test_refusals() -> None:
    base = random_strategy(BucketGame.build(LEDUC, forgetting(LEDUC), name=NAME), 7)
    game, table = base.abstract, base.strategy()
    with pytest.raises(AbstractionError, match="nothing lies outside"):
        part_bucket_game(game, table, "r,c@2")
    with pytest.raises(AbstractionError, match="no betting 'x'"):
        part_bucket_game(game, table, "x")
    with pytest.raises(AbstractionError, match="overlap"):
        with_experts(game, [("r", lossless(LEDUC), ()), ("rr", lossless(LEDUC), ())])
    for entry in range(game.num_entries):  # never a raise at first
        table[entry] = 1.0 / 3.0
    slot = game.slot_of(0)
    raises = game.slot_start[slot] + np.arange(game.slot_buckets[slot]) * game.slot_width[slot] + game.node_offset[0]
    table[raises + game.tree.actions(0).index("r")] = 0.0
    with pytest.raises(AbstractionError, match="the base strategy never plays 'r'"):
        part_bucket_game(game, table, "r")
    part = part_bucket_game(game, base.strategy(), "r", lossless(LEDUC))
    for refused in (lambda: BucketCfrSolver(part, "cfr+"), lambda: BucketSolver(part, "pcs-boards")):
        with pytest.raises(SolverError, match="with experts use external-sampling"):
            refused()


def test_cards_of_parts_by_text(tmp_path: Path) -> None:
    assert split_cards(["a.cards", "rf=b.cards", "kk/b@1=c=d", "rf=e"]) == (
        ["a.cards"], {"rf": ["b.cards", "e"], "kk/b@1": ["c=d"]},
    )  # fmt: skip
    strange = tmp_path / "r=f"
    strange.touch()
    assert split_cards([strange]) == ([str(strange)], {})
    assert split_cards(["/there/r=f/a.cards", "./r=f"]) == (["/there/r=f/a.cards", "./r=f"], {})  # no file any more


def test_sizes_are_counted_before_anything_is_built(tmp_path: Path) -> None:
    for name, made in (("coarse", CardAbstraction.single), ("fine", CardAbstraction.lossless)):
        made((3, 2), (1, 1)).save(tmp_path / f"{name}.cards")
    for part in ("r@1", "cc/r", "cr,r", "cr,crr", "kk/b,kk/", "only:,c,r", "only:cc/"):
        forms = GameForms(NAME, cards=[tmp_path / "coarse.cards", f"{part}={tmp_path / 'fine.cards'}"])
        size, game = forms.bucket_counts(), forms.buckets()
        assert (size.infosets, size.entries) == (game.num_infosets, game.num_entries)


def test_deals_weighted_by_the_prefix_spare_samples() -> None:
    """The same part walked from the start, where most walks never get there, needs far more iterations."""
    base = random_strategy(BucketGame.build(LEDUC, lossless(LEDUC), name=NAME), 1)
    folded = part_bucket_game(base.abstract, base.strategy(), "crr", lossless(LEDUC))
    plain = folded.laid_out(folded.zones, folded.zone, folded.fixed, 0)
    assert plain.num_entries == folded.num_entries
    tree = cp.compile_game(NAME)
    inside = PartGame.of(tree, "crr", base.lifted(tree).table)
    free = np.repeat(inside.free, np.diff(tree.infoset_offset))

    def gap(game: BucketGame, iterations: int, seed: int) -> float:
        solver = BucketSolver(game, MccfrConfig("external", seed=seed), "external-sampling")
        solver.step(iterations)
        table = on_histories(solver.profile(storage="float64"), base, tree)
        return evaluate(cp.TabularStrategy.from_tree(inside.tree, table[free]), inside.tree).exploitability

    few = np.mean([gap(folded, 2_000, seed) for seed in range(3)])
    assert few < np.mean([gap(plain, 2_000, seed) for seed in range(3)]) / 2
    assert few < np.mean([gap(plain, 8_000, seed) for seed in range(3)])
    with pytest.raises(AbstractionError, match="the parts 'cr' and 'crr@2' overlap: both hold 'crr'"):
        part_points(LEDUC, ["cr", "crr@2"])
    assert len(part_points(LEDUC, ["cr@1", "crr@2"])) == 2


@pytest.mark.parametrize("bets", ["1,allin", "0.5!,1!,allin"])
def test_sizes_with_other_bets_are_those_of_the_betting_tree(bets: str) -> None:
    rules = GameDefinition(
        limit=False, players=2, rounds=2, blinds=(2, 1), raise_sizes=(), max_raises=(255, 255), suits=2, ranks=3,
        hole_cards=1, board_cards=(0, 1), first_players=(1, 0), stacks=(20, 20),
    )  # fmt: skip
    sizes = bet_abstraction(bets)
    tree = build_betting_tree(rules, sizes)
    first = next(text for text in (tree.text(node) for node in tree.children(0)) if text.startswith("r"))
    for part in (f"{first},cc/", f"only:,c,{first}", "c@2"):
        chosen = np.flatnonzero(label_parts(tree, [part]) == 1)
        points, pairs = part_points(rules, [part], sizes)[0]
        assert np.sum(points) == len(chosen)
        assert np.sum(pairs) == tree.num_children[chosen].sum()


def test_memory_is_given_for_just_the_algorithms_that_take_cards_of_a_part(tmp_path: Path) -> None:
    CardAbstraction.single((3, 2), (1, 1)).save(tmp_path / "coarse")
    CardAbstraction.lossless((3, 2), (1, 1)).save(tmp_path / "fine")
    names = {}
    for files in (["coarse"], ["coarse", "r=fine"]):
        cards = [f"r={tmp_path / 'fine'}" if file.startswith("r=") else tmp_path / file for file in files]
        forms = GameForms(NAME, cards=cards)
        size = next(size for size in form_sizes(forms) if size.form == "buckets")
        names[len(files)] = {name for name in solver_memory(forms, size) if "," not in name}
    game = forms.buckets()
    assert names[2] < names[1]
    for name in names[1]:
        algorithm, _, trunk = name.partition(" trunk=")
        if name in names[2]:
            make_solver(game, algorithm).step(1)
            continue
        with pytest.raises(SolverError, match="one card abstraction for all betting"):
            make_solver(game, algorithm, **({"trunk": int(trunk)} if trunk else {}))
