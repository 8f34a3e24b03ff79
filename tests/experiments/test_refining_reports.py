"""Refinement as an operation, words of memory, the command line and the experiments around CFR+IRA and FPIRA."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction import (
    Abstraction,
    from_map,
    initial_abstraction,
    is_refinement,
    map_words,
    null_abstraction,
    refine,
    split,
)
from counterplay.cli.main import main
from counterplay.errors import AbstractionError, CounterplayError, SolverError
from counterplay.experiments import EXPERIMENTS, run_experiment
from counterplay.experiments.heuristic_failure import preferred
from counterplay.experiments.refining_convergence import published
from counterplay.solvers import make_solver
from counterplay.solvers.word_counts import double_oracle_words, memory_words, reached_states
from tests.reference.walks import walk

# ---------------------------------------------------------------------------------- refinement


def test_split_takes_groups_out() -> None:
    tree = cp.compile_game("leduc")
    start = initial_abstraction(tree)
    members = start.members(int(np.argmax(start.sizes)))
    parted = split(start, tree, [members[:2].tolist(), [int(members[2])]], "separated")
    assert parted.num_sets == start.num_sets + 2
    assert is_refinement(parted, start)
    assert not is_refinement(start, parted)
    assert parted.infoset_map[members[0]] == parted.infoset_map[members[1]]
    assert len(parted.members(int(parted.infoset_map[members[2]]))) == 1
    assert parted.apply(tree).num_infosets == parted.num_sets
    assert is_refinement(null_abstraction(tree), start)
    for groups in ([[0, 1], [1]], [[0, tree.num_infosets - 1]]):
        with pytest.raises(AbstractionError, match="must lie in one abstract set, apart from the others"):
            split(start, tree, groups)
    with pytest.raises(AbstractionError, match="1 parts for the 288 sets of leduc"):
        refine(start, tree, np.zeros(1, np.int64))


def test_refine_keeps_places_of_actions() -> None:
    """Sets are numbered in the order of their first members, and named after them."""
    tree = cp.compile_game("leduc")
    start = initial_abstraction(tree)
    fine = refine(start, tree, np.arange(tree.num_infosets) % 3)
    assert is_refinement(fine, start)
    assert fine.name == "initial, refined"
    first = [int(fine.members(one)[0]) for one in range(fine.num_sets)]
    assert first == sorted(first)
    assert fine.set_names[0].startswith(tree.infoset_names[0])
    assert from_map(tree, fine.infoset_map, fine.action_map, "again").infoset_map.tolist() == fine.infoset_map.tolist()


# ---------------------------------------------------------------------------------- memory


def test_words_of_cfr_plus() -> None:
    """Two tables over all entries; total actions computed independently."""
    for name, entries in (("generic_poker(1,1,1)", 1176), ("ii_goofspiel(5)", 12390), ("graph_pursuit(5)", 42412)):
        assert memory_words(make_solver(name, "cfr+")).total == 2 * entries


def test_words_of_cfr_ira() -> None:
    solver = make_solver("ii_goofspiel(5)", "cfr+ira", k_b=10, k_h=90)
    solver.step(300)
    words, abstraction = memory_words(solver), solver.abstraction()
    assert abstraction is not None
    assert words.tables == 2 * abstraction.num_entries
    assert words.map == map_words(abstraction, solver.tree)
    assert words.map_reported >= words.map
    assert words.samples <= 100 * 5
    assert words.total == words.tables + words.map + words.samples
    assert words.total < 24_780 / 10  # an order of magnitude below CFR+ (Čermák 2018, section 5.3.4)


def test_words_of_fpira() -> None:
    solver = make_solver("leduc", "fpira")
    sizes = []
    for _ in range(5):
        solver.step(10)
        words = memory_words(solver)
        sizes.append(words.response_cache)
        assert words.tables == solver.abstraction().num_entries  # type: ignore[union-attr]
        assert words.response > 0
        assert words.difference_cache == words.response_cache  # of two players, one's others are the other
        assert words.total == sum(
            (words.tables, words.map, words.response, words.response_cache, words.difference_cache)
        )
    assert sizes == sorted(sizes)  # averages never lose a state
    whole = make_solver("leduc", "fpira", forget="nothing")
    whole.step(5)
    assert memory_words(whole).difference_cache == 0


def test_words_of_others() -> None:
    assert double_oracle_words(100, 20, 30, 400).total == 550
    oracle = make_solver("leduc", "double-oracle")
    oracle.step(10)
    assert memory_words(oracle).total == oracle.details()["memory_words"]  # type: ignore[attr-defined]
    with pytest.raises(SolverError, match=r"counted for cfr, cfr\+ira, fpira and double-oracle; got fictitious-play"):
        memory_words(make_solver("kuhn", "fictitious-play"))


def test_reached_states_are_counted() -> None:
    """Against a walk over all histories."""
    tree = cp.compile_game("leduc")
    solver = make_solver(tree, "fpira")
    solver.step(20)
    strategy = solver.strategy()
    profile = {
        (int(tree.infoset_player[i]), tree.infoset_names[i]): dict(
            zip(tree.actions_of(i), strategy[tree.infoset_offset[i] : tree.infoset_offset[i + 1]].tolist(), strict=True)
        )
        for i in range(tree.num_infosets)
    }
    own, others, decisions = [0, 0], [0, 0], [0, 0]
    for visit in walk(cp.make("leduc"), profile):
        for player in (0, 1):
            if visit.state.player >= cp.CHANCE:
                own[player] += visit.reach[player] > 0
                others[player] += visit.reach[1 - player] > 0
                decisions[player] += visit.reach[1 - player] > 0 and visit.state.player == player
    assert reached_states(tree, strategy) == list(zip(own, others, decisions, strict=True))
    words = memory_words(solver)
    assert (words.response_cache, words.response_cache_own) == (max(others), max(decisions))


# ---------------------------------------------------------------------------------- command line


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def test_solve_reports_the_abstraction(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "leduc.map"
    found = run_json(
        capsys, "solve", "leduc", "--algorithm", "cfr+ira", "--iterations", "200", "--set", "k_h=20", "--seed", "4",
        "--map-out", str(path),
    )  # fmt: skip
    saved = Abstraction.load(path)
    assert found["abstraction_information_sets"] == saved.num_sets < 288
    assert found["abstraction_entries"] == saved.num_entries
    solver = make_solver("leduc", "cfr+ira", k_h=20, seed=4)
    solver.step(200)
    assert found["memory_words"] == memory_words(solver).total
    assert found["map_words"] == memory_words(solver).map
    assert found["exploitability"] == pytest.approx(solver.measure().exploitability)
    other = run_json(
        capsys, "solve", "leduc", "--algorithm", "cfr+ira", "--iterations", "200", "--set", "k_h=20", "--seed", "5"
    )
    assert other["exploitability"] != found["exploitability"]


def test_solve_starts_from_what_is_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    """--until is measured in the real game, which is the game reported."""
    game = "bluff(d1=1,d2=1,sides=3)"
    first = run_json(capsys, "solve", game, "-a", "fpira", "--forget", "last-bids=1", "--iterations", "50")
    second = run_json(capsys, "solve", f"{game} forgetting last-bids=1", "-a", "fpira", "--iterations", "50")
    assert first["game"] == second["game"] == cp.make(game).spec()
    assert first["exploitability"] == second["exploitability"]
    assert first["abstract"] is None
    assert main(["solve", f"{game} forgetting last-bids=1", "-a", "fpira", "--forget", "initial"]) != 0
    assert "leave out forget" in capsys.readouterr().err


def test_the_summary_tells_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "leduc", "-a", "cfr+ira", "--iterations", "50", "--quiet"]) == 0
    text = capsys.readouterr().out
    assert "of 288 information sets (" in text
    assert "of 32 bits" in text
    assert "of them the map (cfr+ on the whole game: 1,344)" in text


# ---------------------------------------------------------------------------------- experiments


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name.startswith("refining")])
def test_experiments_run(name: str) -> None:
    found = run_experiment(name, scale="quick", games="GS4", iterations=150)
    assert found.name == name
    assert all(len(row) == len(found.columns) for row in found.rows)
    assert found.rows
    assert found.curves
    assert json.dumps(found.to_dict())
    with pytest.raises(CounterplayError, match="unknown game 'GS9'; there are GP4"):
        run_experiment(name, games="GS9")


def test_without_heuristic_updates_it_is_much_worse() -> None:
    """Čermák 2018, figure 5.3."""
    rows = run_experiment("refining-convergence", scale="quick", games="GP4", iterations=400).rows
    ends = {row[1]: row[4] for row in rows}
    assert ends["B100H0"] > 100 * max(ends["CFR+"], ends["B10H90"], ends["B100H900"])  # type: ignore[operator]


def test_what_the_figures_show_is_said_by_game() -> None:
    """Čermák 2018, section 5.3.3."""
    assert published("GS5", "B10H90") == "near CFR+"
    assert published("P222", "B10H90") == "slower than CFR+"
    assert published("P222", "B100H0") == "much worse than k_h > 0"
    assert published("GP6", "B100H900") == "near CFR+ or better"
    assert published("GS6", "B10H90") == "slower than with 1000 sets; slower than CFR+"
    assert published("GP4", "B10H90") is None


def test_without_heuristic_updates_goofspiel_needs_forced_moves_to_be_worse() -> None:
    """Figure 5.3 again: 1000 samples are half of GS5's sets with a choice, but a tenth of all its sets."""
    rows = run_experiment("refining-convergence", scale="quick", games="GS5", iterations=400).rows
    ends: dict[object, float] = {row[1]: float(str(row[4])) for row in rows}
    others = max(ends[name] for name in ("B10H90", "B50H50", "B100H900", "B500H500"))
    for name in ("B100H0", "B100H0, forced moves too", "B1000H0, forced moves too"):
        assert ends[name] > 3 * others
    assert ends["B1000H0"] < others


def test_table_5_1() -> None:
    """Uniform play earns 2.75, telling the sets apart 5, and preferences never differ."""
    rows = {row[0]: row for row in run_experiment("heuristic-failure", scale="quick").rows}
    assert rows["left"][5:] == ("d", "never separated")
    assert rows["right"][5:] == ("c", "never separated")
    assert rows["mean, uniform play"][1:5:2] == (2.75, 2.75)
    assert rows["mean, separated"][1:5:2] == (5.0, 5.0)
    for infoset in ("I'", "I''"):
        assert preferred(infoset, 0, Fraction(1, 3)) == ("d",)
