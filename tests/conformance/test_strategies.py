"""Every kind of strategy file with every verb: checked numbers, or a refusal in one line for a stated reason."""

from __future__ import annotations

import csv
import dataclasses
import functools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.agents import Dealer, DealerConfig, open_match_game
from counterplay.cli.main import main
from counterplay.forms import open_game
from counterplay.poker.postflop import game_title
from counterplay.poker.postflop.subgame import Subgame
from counterplay.solvers import make_solver
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.storage import file_kind, read_container
from counterplay.strategy import BucketStrategy, PublicStrategy, Strategy, TabularStrategy, load_strategy, stitch
from counterplay.strategy.trivial import TRIVIAL
from tests.crosstables import exact_scores

SPOT = Subgame("KsTd7h4c2s", pot=60, stack=150, oop="AA,KQs,98s", ip="KK,QJs,77", bets="75%", raises="a")
SMALL = "holdem_2_1(ranks=4,suits=2)"

NOT_PUBLIC = "has no public tree"
NO_MATCH = "starts in the middle of a hand"


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of strategy file.

    Attributes
    ----------
    game : str
        Its game.
    opponent : str
        Whom it plays against in matches.
    play, show, seat : str
        Why it cannot play a match, show its hands, or sit at a table of the competition; empty if it can.
    """

    game: str
    opponent: str = "always-call"
    play: str = ""
    show: str = ""
    seat: str = ""


KINDS = {
    "general": Kind("goofspiel(cards=3)", "uniform", show=NOT_PUBLIC, seat="the protocol cannot play it"),
    "tabular": Kind("leduc"),
    "partial": Kind("leduc"),
    "public": Kind("leduc"),
    "public-cards": Kind(SMALL),
    "spot": Kind(SPOT.name, play=NO_MATCH, seat=NO_MATCH),
    "buckets": Kind("leduc_limit_2p"),
    "stitched": Kind("leduc"),
    "stitched-buckets": Kind("leduc_limit_2p"),
}

every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each kind, of strategies that are far from uniform and from equilibria."""
    there = tmp_path_factory.mktemp("strategies")
    steps: dict[str, Any] = {"iterations": 8}
    cp.solve("goofspiel(cards=3)", "cfr+", **steps).profile.save(there / "general")
    cp.solve("leduc", "cfr+", **steps).profile.save(there / "tabular")
    cp.solve("leduc", "outcome-sampling", iterations=60, representation="states", seed=1).profile.save(
        there / "partial"
    )
    for name, tree in (("public", "leduc"), ("public-cards", SMALL), ("spot", SPOT.tree())):
        solver = PublicSolver(open_game(tree, "public"), "cfr+")
        solver.step(8)
        solver.profile().save(there / name)
    CardAbstraction.lossless((3, 2), (1, 1)).save(there / "leduc.cards")
    sampler = make_solver(open_game("leduc_limit_2p", "buckets", cards=[there / "leduc.cards"]), "cfr+")
    sampler.step(8)
    sampler.profile().save(there / "buckets", "float64")
    _save_stitched(there, sampler.profile(storage="float64"))
    return there


def _save_stitched(there: Path, expert: BucketStrategy) -> None:
    """A base with an expert in a part and another for one player, by infosets and by buckets."""
    base = load_strategy(there / "tabular")
    first, second = (cp.solve("leduc", "cfr+", iterations=steps, part=part, fix=there / "tabular").profile
                     for steps, part in ((9, "kk/b"), (7, "b@1")))  # fmt: skip
    stitch(base, {"kk/b": first, "b@1": second}).save(there / "stitched")
    CardAbstraction.single((3, 2), (1, 1)).save(there / "coarse.cards")
    coarse = make_solver(open_game("leduc_limit_2p", "buckets", cards=[there / "coarse.cards"]), "cfr+")
    coarse.step(8)
    found = stitch(coarse.profile(storage="float64"), {"cc/r": expert, "r@2": expert})
    assert isinstance(found, BucketStrategy)
    found.save(there / "stitched-buckets", "float64")


@functools.cache
def tree_of(game: str) -> cp.GameTree:
    return cp.compile_game(game)


def on_tree(strategy: Strategy) -> TabularStrategy:
    """The strategy with a row for each infoset of its compiled game."""
    tree = tree_of(strategy.game)
    if isinstance(strategy, BucketStrategy):
        return strategy.lifted(tree)
    found = strategy.tabular if isinstance(strategy, PublicStrategy) else strategy
    assert isinstance(found, TabularStrategy)
    return TabularStrategy.from_tree(tree, found.for_tree(tree))


def run(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def refused(capsys: pytest.CaptureFixture[str], reason: str, *words: object) -> None:
    """The command fails with one line that gives the reason."""
    capsys.readouterr()
    assert main([*map(str, words)]) != 0
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.count("\n") == 1
    assert reason in streams.err


@every_kind
def test_files_are_read_to_the_same_bits(kind: str, folder: Path, tmp_path: Path) -> None:
    path, again = folder / kind, tmp_path / kind
    loaded = load_strategy(path)
    assert loaded.game == KINDS[kind].game
    assert isinstance(loaded, Strategy)
    if isinstance(loaded, BucketStrategy):
        loaded.save(again, "float64")
    else:
        loaded.save(again)
    file = file_kind(path)
    assert file == file_kind(again)
    (header, arrays), (same, copies) = (read_container(place, str(file)) for place in (path, again))
    assert header == same
    assert {name: (array.dtype, array.tobytes()) for name, array in arrays.items()} == {
        name: (array.dtype, array.tobytes()) for name, array in copies.items()
    }


@every_kind
def test_a_newer_file_is_refused_with_its_version(kind: str, folder: Path, tmp_path: Path) -> None:
    content = (folder / kind).read_bytes()
    newer = tmp_path / kind
    newer.write_bytes(content.replace(b'"format":"1"', b'"format":"9"'))
    with pytest.raises(cp.StrategyError, match=f"has format 9, written by counterplay {cp.__version__}") as caught:
        load_strategy(newer)
    assert "\n" not in str(caught.value)


@every_kind
def test_probabilities_by_key(kind: str, folder: Path) -> None:
    strategy = load_strategy(folder / kind)
    rows = list(strategy.infosets())
    assert len(rows) == strategy.num_infosets
    for player, name, row in rows:
        assert sum(row.values()) == pytest.approx(1.0)
        assert strategy.probabilities(player, name) == pytest.approx(row, abs=1e-15)
    for player, name in ((0, "nothing"), (1, "AsKs:zzz"), (0, "")):
        with pytest.raises(cp.StrategyError, match="has no infoset"):
            strategy.probabilities(player, name)


@every_kind
def test_the_same_key_in_every_storage(kind: str, folder: Path) -> None:
    """Each infoset of the compiled game is found by its own key, and is played as the conversion says."""
    strategy = load_strategy(folder / kind)
    if kind in ("spot", "partial"):
        pytest.skip("a spot has no history tree; a partial strategy lacks infosets")
    converted = on_tree(strategy)
    for player, name, row in converted.infosets():
        assert strategy.probabilities(player, name) == pytest.approx(row, abs=1e-12)


@every_kind
def test_exports(kind: str, folder: Path, tmp_path: Path) -> None:
    strategy = load_strategy(folder / kind)
    rows = [(p, name, action, x) for p, name, row in strategy.infosets() for action, x in row.items()]
    told = json.loads(json.dumps(strategy.to_dict()))
    assert (told["game"], told["players"]) == (strategy.game, 2)
    assert told["provenance"]["iterations"] == strategy.provenance.iterations > 0
    assert all(told["strategy"][p][name][action] == x for p, name, action, x in rows)
    numbered = [(p + 1, name, action, x) for p, name, action, x in rows]  # as in all other tables
    strategy.to_csv(tmp_path / "x.csv")
    with open(tmp_path / "x.csv", newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    assert head == ["player", "infoset", "action", "probability"]
    assert [(int(p), name, action, float(x)) for p, name, action, x in lines] == numbered
    assert f"of {game_title(strategy.game)}: {strategy.num_infosets:,} infosets" in repr(strategy)
    page = strategy._repr_html_()
    assert page.count("<table") == page.count("</table>") == 1
    grid = kind in ("public-cards", "spot")
    assert ("<b>AA</b>" in page) == grid
    assert page.count("<tr>") == (13 if grid else 1 + min(24, strategy.num_infosets))
    pandas = pytest.importorskip("pandas")
    frame = strategy.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert [tuple(row) for row in frame.itertuples(index=False)] == numbered


def test_files_that_cannot_be_written(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(cp.StrategyError, match="cannot write"):
        load_strategy(folder / "tabular").to_csv(tmp_path / "nowhere" / "x.csv")


@every_kind
def test_evaluate(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    strategy = load_strategy(folder / kind)
    told = run(capsys, "evaluate", folder / kind)
    measured = cp.evaluate(strategy)
    if kind == "spot":
        solver = PublicSolver(SPOT.tree(), "cfr+")
        solver.step(8)
        expected = solver.measure()
    else:
        expected = cp.evaluate(on_tree(strategy), tree_of(strategy.game))
    assert told["exploitability"] == pytest.approx(expected.exploitability, rel=1e-5)
    assert told["value"] == pytest.approx(expected.value, abs=1e-5)
    assert measured.exploitability == pytest.approx(expected.exploitability, rel=1e-5)


@every_kind
def test_match(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is won lies within two intervals (four standard errors) of what is exact."""
    facts = KINDS[kind]
    if facts.play:
        refused(capsys, facts.play, "match", folder / kind, facts.opponent)
        refused(capsys, facts.play, "match", folder / kind, facts.opponent, "--game", "holdem_limit_2p")
        return
    strategy = load_strategy(folder / kind)
    tree = tree_of(strategy.game)
    exact = exact_scores(tree, [on_tree(strategy), TRIVIAL[facts.opponent].tabular(tree)])[0]
    told = run(capsys, "match", folder / kind, facts.opponent, "--deals", 1200, "--seed", 3)["agents"][0]
    assert abs(told["chips"] - exact) <= 2 * told["chips_95"]
    assert told["chips_95"] < 1.0 if facts.game != SMALL else told["chips_95"] < 5.0
    result = cp.match(strategy.game, [strategy, facts.opponent], 1200, seed=3)
    assert result.estimate(0).mean == told["chips"]


def test_agents_play_public_strategies_hand_by_hand(folder: Path) -> None:
    """Without the kernel too: an agent looks each hand up by its cards, whatever their suits."""
    strategy = load_strategy(folder / "public-cards")
    tree = tree_of(SMALL)
    exact = exact_scores(tree, [on_tree(strategy), TRIVIAL["always-call"].tabular(tree)])[0]
    result = cp.match(SMALL, [f"{folder / 'public-cards'}?threshold=0.0", "always-call"], 800, seed=5)
    assert abs(result.estimate(0).mean - exact) <= 2 * result.estimate(0).half


@every_kind
def test_show_infosets(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every infoset is played as its key says; where the game has histories, values add up to those of the game."""
    strategy = load_strategy(folder / kind)
    told = run(capsys, "show", folder / kind, "--infosets")
    rows = told["infosets"]
    for row in rows if kind != "partial" else ():
        expected = strategy.probabilities(row["player"] - 1, row["infoset"])
        assert row["probabilities"] == pytest.approx(expected, abs=1e-12)
    if kind == "spot":
        assert len(rows) == strategy.num_infosets
        assert rows[0]["reach"] is None
        assert "public tree only" in told["notes"][0]
        return
    assert len(rows) == tree_of(strategy.game).num_infosets
    reach = value = 0.0
    for row in rows:  # in the order of play: the first decisions, until one of them is sure
        if reach < 1 - 1e-9:
            reach += row["reach"]
            value += row["reach"] * row["value"]
    assert reach == pytest.approx(1.0)
    values = cp.evaluate(on_tree(strategy), tree_of(strategy.game)).value
    assert value == pytest.approx(values[rows[0]["player"] - 1], abs=1e-9)


@every_kind
def test_show_hands(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hand by hand, the first decision is played as the keys say."""
    facts = KINDS[kind]
    if facts.show:
        refused(capsys, facts.show, "show", folder / kind, "--hands")
        return
    told = run(capsys, "show", folder / kind, "--hands")
    strategy = load_strategy(folder / kind)
    assert sum(row["weight"] for row in told["hands"].values()) == pytest.approx(1.0)
    mean = np.sum([np.multiply(row["weight"], row["frequencies"]) for row in told["hands"].values()], axis=0)
    assert told["frequencies"] == pytest.approx(mean.tolist())
    rows = [tuple(row["frequencies"]) for row in told["hands"].values()]
    if kind in ("public-cards", "buckets", "stitched-buckets", "spot"):
        board = f"/{SPOT.board}" if kind == "spot" else ""
        for hand, row in told["hands"].items():
            key = strategy.probabilities(told["player"] - 1, f"{hand}{board}:")
            assert row["frequencies"] == pytest.approx(list(key.values()))
    else:
        keys = [list(on_tree(strategy).probabilities(0, f"{card}:").values()) for card in "JQK"]
        np.testing.assert_allclose(rows, keys, atol=1e-12)


@every_kind
def test_agent(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At a dealer's table, over the protocol."""
    facts = KINDS[kind]
    if facts.seat:
        game = "holdem_limit_2p" if kind == "spot" else facts.game
        refused(capsys, facts.seat, "agent", folder / kind, game, "127.0.0.1", 1)
        return
    definition = open_match_game(facts.game).definition()
    dealer = Dealer(DealerConfig("m", definition, 60, 1, ("a", "b"), host="127.0.0.1", log=None), lambda _: None)
    with ThreadPoolExecutor(3) as pool:
        outcome = pool.submit(dealer.play)
        other = ["agent", "always-call", facts.game, "127.0.0.1", str(dealer.ports[1])]
        seated = pool.submit(main, other)
        told = run(capsys, "agent", folder / kind, facts.game, "127.0.0.1", dealer.ports[0])
        assert seated.result(60) == 0
        score = outcome.result(60)
    assert score.score is not None
    assert (told["hands"], score.hands) == (60, 60)
    assert score.warnings == (0, 0)


@every_kind
def test_tournament(kind: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = KINDS[kind]
    words = ["tournament", tmp_path / "t", f"mine={folder / kind}", facts.opponent]
    if facts.play:
        refused(capsys, facts.play, *words, "--game", "holdem_limit_2p", "--deals", 10)
        return
    told = run(capsys, *words, "--game", facts.game, "--deals", 800)
    strategy = load_strategy(folder / kind)
    tree = tree_of(strategy.game)
    exact = exact_scores(tree, [on_tree(strategy), TRIVIAL[facts.opponent].tabular(tree)])[0]
    won = next(row for row in told["bankroll"] if row["name"] == "mine")
    unit = 1000 / tree.big_blind if tree.big_blind else 1.0
    assert abs(won["score"] - unit * exact) <= 2 * won["score_95"] + 1e-9


def test_unknown_names_give_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, right in (("call", "always-call"), ("raise", "always-raise"), ("fold", "always-fold"),
                         ("fifty-fifty", "50/50"), ("probe", "50/50"), ("unifrom", "uniform")):  # fmt: skip
        refused(capsys, f"there is no agent {wrong!r}; did you mean {right!r}?", "match", wrong, "always-call",
                "--game", "kuhn")  # fmt: skip


@pytest.mark.parametrize("name", TRIVIAL)
def test_trivial_agents_play_alike_in_evaluate_and_match(name: str) -> None:
    """In no-limit too: the smallest raise alone, and every action alike for uniform."""
    game = "leduc_nolimit_2p(stack=204)"
    tree = tree_of(game)
    profile = TRIVIAL[name].tabular(tree)
    for _, _, row in profile.infosets():
        raises = [action for action in row if action.startswith("r")]
        assert all(row[action] == (row[raises[0]] if name == "uniform" else 0.0) for action in raises[1:])
    assert cp.evaluate(name, game).value == pytest.approx(cp.evaluate(profile, tree).value, abs=1e-9)
    exact = exact_scores(tree, [profile, TRIVIAL["50/50"].tabular(tree)])[0]
    played = open_match_game(game)
    slow = dataclasses.replace(played)
    slow.__dict__["tree"] = None  # as in a game that is too large to be compiled: agents see match states
    for where in (played, slow):
        result = cp.match(where, [name, "50/50"], 1000, seed=2)  # type: ignore[arg-type]
        assert abs(result.estimate(0).mean - exact) <= 2 * result.estimate(0).half + 1e-9
