"""Forgetting at the edge of what it takes: odd names and patterns, moved files, tiny differences, odd options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.abstraction import abstract_by_key, abstraction_by_name, from_classes, initial_abstraction, split_name
from counterplay.cli.main import main
from counterplay.errors import AbstractionError, CounterplayError, SolverError
from counterplay.experiments import run_experiment
from counterplay.experiments.regret_curves import regret_curve
from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.strategy.files import load_strategy
from tests.bridge import to_profile
from tests.reference.best_response import brute_force_best_response
from tests.reference.random_trees import random_tree_game
from tests.reference.walks import random_profile


def rescaled(node: Node, scale: float, shift: float) -> Node:
    """A tree with other utilities."""
    if node.player == -2 or not hasattr(node, "branches"):
        return terminal(*(shift + scale * utility for utility in node.utilities()))
    if hasattr(node, "chance"):
        return chance({move: (share, rescaled(after, scale, shift)) for move, (share, after) in node.branches.items()})
    branches = {action: rescaled(after, scale, shift) for action, after in node.branches.items()}
    return decision(node.player, node.infoset(), branches)


@pytest.mark.parametrize(
    ("seed", "players", "player", "scale", "shift"),
    [(10, 2, 0, 1e-2, 1e3), (34, 2, 0, 1e-2, 1e3), (25, 2, 1, 1e-7, 0.0), (64, 3, 1, 1e-3, 1e6), (7, 3, 2, 1e7, 0.0)],
)
def test_exact_responses_are_exact_in_any_unit(
    seed: int, players: int, player: int, scale: float, shift: float
) -> None:
    """A mixed-integer solver's gaps are for numbers about 1; utilities may be large, tiny, or differ by little."""
    random_tree = random_tree_game(seed, depth=5, sets=1, players=players)
    game = ExplicitGame(rescaled(random_tree.root(), scale, shift), players=players)
    tree = cp.compile_game(game)
    table = random_profile(game, seed)
    value, _ = brute_force_best_response(game, table, player)
    found = cp.best_response(to_profile(tree, table), player, tree, method="exact")
    assert found.value == pytest.approx(value, rel=1e-14, abs=1e-8 * scale)


def test_a_pattern_may_hold_commas_and_names() -> None:
    """Only what the game can forget begins a new part; spaces belong to the pattern."""
    leaf = {"l": terminal(1, -1), "r": terminal(0, 0)}
    deal = {name: (0.25, decision(0, name, leaf)) for name in ("card=1,seat=1", "card=2,seat=1", "card=1 ", "card=2 ")}
    tree = cp.compile_game(ExplicitGame(chance(deal), players=2))
    game = ExplicitGame(chance(deal), players=2)
    assert abstraction_by_name(game, tree, "match=[12],seat=1").num_sets == 3
    assert abstraction_by_name(game, tree, "match=[12] ").num_sets == 3
    assert abstraction_by_name(game, tree, "match=[12] , match=^card").set_names == ("=1,seat=1", "=2,seat=1", "=")


@pytest.mark.parametrize("what", ["initial", "nothing", "match=.*"])
def test_a_game_without_decisions_forgets_nothing(what: str) -> None:
    game = ExplicitGame(chance({"heads": (0.5, terminal(1, -1)), "tails": (0.5, terminal(0, 0))}), players=2)
    tree = cp.compile_game(game)
    abstraction = abstraction_by_name(game, tree, what)
    coarse = abstraction.apply(tree)
    assert coarse.num_infosets == 0
    assert cp.evaluate(abstraction.lift(cp.TabularStrategy.uniform(coarse), tree), tree).value == (0.5, -0.5)


@pytest.mark.parametrize("what", ["initial,match=x", "match=x,map=y.cpa", "nothing,match=x"])
def test_what_stands_alone_says_so(what: str) -> None:
    with pytest.raises(AbstractionError, match="cannot be combined with anything else"):
        cp.solve(f"leduc forgetting {what}", iterations=1)


def test_the_word_in_the_path_of_a_game(tmp_path: Path) -> None:
    path = tmp_path / "a forgetting b.efg"
    path.write_text('EFG 2 R "x" { "1" "2" }\np "" 1 1 "I" { "l" "r" } 0\nt "" 1 "" { 1 -1 }\nt "" 2 "" { 0 0 }\n')
    name = str(path)
    assert split_name(name) == (name, None)
    assert split_name(f"{name} forgetting initial") == (name, "initial")
    assert split_name("leduc forgetting match= forgetting x") == ("leduc", "match= forgetting x")
    assert split_name("leduc forgetting cards") == ("leduc", "cards")
    inside = cp.solve(f"{name} forgetting initial", iterations=3).abstract
    assert inside is not None
    assert inside.abstraction is not None
    assert inside.abstraction.num_sets == 1


def read(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, object], str]:
    """Exit code, JSON and standard error of a command."""
    code = main([*words, "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else {}, err


def test_a_profile_of_the_abstract_game_is_lifted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = cp.CfrSolver("leduc forgetting initial").run(cp.Until(iterations=5))
    result.profile.save(tmp_path / "abstract.cpp")
    code, facts, _ = read(capsys, "evaluate", str(tmp_path / "abstract.cpp"))
    assert (code, facts["game"], facts["abstraction"]) == (0, "leduc", "initial")
    assert facts["abstract"]["exploitability"] == pytest.approx(result.exploitability)  # type: ignore[index]
    code, facts, _ = read(capsys, "evaluate", "--game", "leduc forgetting initial", "--strategy", "random")
    assert code == 0
    assert facts["abstract"]["value"] == pytest.approx(facts["value"])  # type: ignore[index]


def test_a_map_that_changed_is_no_reason_not_to_measure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = cp.compile_game("leduc")
    path = tmp_path / "map.cpa"
    abstract_by_key(tree, lambda player, infoset: infoset[1:], "blind").save(path)
    out = str(tmp_path / "p.cpp")
    assert main(["solve", "leduc", "--forget", f"map={path}", "--iterations", "3", "--out", out, "--quiet"]) == 0
    capsys.readouterr()
    initial_abstraction(tree).save(path)
    code, facts, err = read(capsys, "evaluate", out)
    assert code == 0
    assert "abstract" not in facts
    assert "not measured in the abstract game: the profile plays differently at" in err
    code, _, err = read(capsys, "evaluate", "--game", "leduc forgetting cards", "--strategy", "uniform")
    assert code == 2
    assert err.count("cannot forget") == 1


@pytest.mark.parametrize("algorithm", ["cfr+", "cfr+ira", "fpira"])
def test_a_run_with_a_map_is_taken_up_from_another_folder(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    monkeypatch.chdir(here)
    initial_abstraction(cp.compile_game("leduc")).save("map.cpa")
    run = ["solve", "leduc", "--algorithm", algorithm, "--forget", "map=map.cpa", "--quiet"]
    assert main([*run, "--iterations", "20", "--out", str(there / "straight.cpp")]) == 0
    assert main([*run, "--iterations", "10", "--checkpoint", "run.checkpoint"]) == 0
    monkeypatch.chdir(there)
    assert main(["solve", "--resume", str(here / "run.checkpoint"), "--iterations", "20", "--out", "on.cpp"]) == 0
    capsys.readouterr()
    straight, on = (load_strategy(there / name) for name in ("straight.cpp", "on.cpp"))
    assert on.table.tobytes() == straight.table.tobytes()
    assert on.provenance.iterations == 20


@pytest.mark.parametrize("value", [-3, 0, 1.5, "abc", True, ""])
@pytest.mark.parametrize("name", ["failing-learners", "skewed-dice", "bluff-memory", "phantom-memory"])
def test_odd_numbers_of_iterations_are_refused(name: str, value: object) -> None:
    with pytest.raises(CounterplayError, match=f"{name}: iterations must be an integer, at least 1; got"):
        run_experiment(name, "quick", iterations=value)


def test_odd_options_of_experiments(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_experiment("failing-learners", iterations=1).rows[1][3] is None
    for options, message in (
        (["quick=false"], "quick is not given by --set"),
        (["colour=1"], "failing-learners has no option 'colour'; it takes iterations, x"),
        (["x=red"], "x must be a number; got 'red'"),
    ):
        words = [word for option in options for word in ("--set", option)]
        assert main(["experiment", "failing-learners", "--quick", *words]) == 2
        assert message in capsys.readouterr().err
    games = run_experiment("current-profile", "quick", games="kuhn,one_card_poker(cards=4)", iterations=2)
    assert {row[0] for row in games.rows} == {"kuhn", "one_card_poker(cards=4)"}


def test_points_of_a_regret_curve() -> None:
    tree = cp.compile_game("kuhn")
    assert list(regret_curve(tree, None, [5, 2, 5, 9])) == [2, 5, 9]
    for points in ([], [0, 3]):
        with pytest.raises(SolverError, match="at least 1"):
            regret_curve(tree, None, points)


def test_names_of_abstract_sets_differ() -> None:
    """Classes that look alike as texts, also beside one that looks like the name made up for it."""
    leaf = {"l": terminal(1), "r": terminal(0)}
    deal = {name: (0.25, decision(0, name, leaf)) for name in "wxyz"}
    tree = cp.compile_game(ExplicitGame(chance(deal), players=1))
    for classes in ([1, "1", "1 #2", "1 #3"], ["1 #2", "1", 1, "2"]):
        names = from_classes(tree, classes, "alike").set_names
        assert len(set(names)) == 4
        assert {"1", "1 #2"} <= set(names)


def test_recall_is_compared_with_the_real_game_in_any_order_of_actions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Merging x and y skews by what only y pays (Lanctot et al. 2012, definition 3), which the coarsest refinement does
    not tell: it takes the merged set for one.
    """
    deltas = []
    for order in ("lr", "rl"):
        later = {"l": "decision(0, 'y2', {'u': terminal(1), 'v': terminal(0)})", "r": "terminal(0.5)"}
        y = "{" + ", ".join(f"'{action}': {later[action]}" for action in order) + "}"
        path = tmp_path / f"{order}.py"
        path.write_text(
            "from counterplay import ExplicitGame, chance, decision, terminal\n"
            "class Order(ExplicitGame):\n"
            "    def __init__(self):\n"
            "        x2 = decision(0, 'x2', {'u': terminal(1), 'v': terminal(0)})\n"
            f"        x, y = decision(0, 'x', {{'l': x2, 'r': terminal(0)}}), decision(0, 'y', {y})\n"
            "        super().__init__(chance({'p': (0.5, x), 'q': (0.5, y)}), players=1)\n"
        )
        code, facts, _ = read(capsys, "info", f"{path}:Order", "--forget", "match=[xy]", "--recall")
        assert code == 0
        deltas.append(facts["recall_report"]["players"][0]["skew"]["delta"])  # type: ignore[index]
    assert deltas[0] > 0.0
    assert deltas[1] == deltas[0]


def test_an_abstract_game_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, facts, _ = read(capsys, "draw", "kuhn forgetting initial", "--out", str(tmp_path / "kuhn.svg"))
    assert (code, facts["histories"], facts["information_sets"]) == (0, 58, 3)


def test_a_game_that_cannot_be_made_again_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = cp.compile_game(ExplicitGame(decision(0, "I", {"l": terminal(1), "r": terminal(0)}), players=1, name="mine"))
    initial = initial_abstraction(tree)
    initial.lift(cp.TabularStrategy.uniform(initial.apply(tree)), tree).save(tmp_path / "mine.cpp")
    code, _, err = read(capsys, "evaluate", str(tmp_path / "mine.cpp"))
    assert code == 2
    assert err.count("unknown game 'mine'") == 1
