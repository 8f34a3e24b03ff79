"""The command line, in process: what each verb prints, in JSON and for people, and what it leaves on the disk."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import counterplay
from counterplay.evaluation.figures import read_exploitability
from counterplay.game import game_names
from counterplay.runtime.memory import read_memory
from counterplay.solvers import ALGORITHMS, CFR_PRESETS, MCCFR_PRESETS, CfrSolver
from counterplay.tree import compile_game

KUHN_VALUE = -1 / 18
ROUNDING = 1e-12
PNG = b"\x89PNG\r\n\x1a\n"
INTERRUPTED = 130

SOLVED = {"game", "algorithm", "iterations", "seconds", "value", "best_response", "nash_conv", "exploitability",
          "information_sets", "histories", "nodes_per_second", "profile", "seed"}  # fmt: skip
"""Keys that scripts rely on, of ``solve`` and ``evaluate``."""

DESCRIBED = {"game", "players", "histories", "decisions", "terminals", "information_sets", "sequences", "recall",
             "zero_sum", "memory_bytes"}  # fmt: skip
"""Keys that scripts rely on, of ``info``."""

MEASURED = ("value", "best_response", "nash_conv", "exploitability")

MY_GAME = '''
"""Two coins, one of which is seen."""

import dataclasses

from counterplay import Game, chance, decision, terminal


@dataclasses.dataclass(frozen=True)
class MyGame(Game):
    """Guess the coin."""

    stake: int = 1

    def root(self):
        def guess(side):
            ends = {g: terminal(*((-self.stake, self.stake) if g == side else (1, -1))) for g in ("heads", "tails")}
            return decision(1, "guess", ends)

        return decision(0, "hide", {side: guess(side) for side in ("heads", "tails")})
'''

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]


def same_measurement(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two JSON objects tell the same numbers, to the last bit."""
    return all(one[key] == other[key] for key in MEASURED)


# ---------------------------------------------------------------------------------------------- JSON


def test_json_of_solve(run_json: RunJson) -> None:
    found = run_json("solve", "kuhn", "--iterations", "200", "--seed", "7")
    assert found.keys() >= SOLVED
    assert (found["game"], found["algorithm"], found["iterations"], found["status"]) == (
        "kuhn", "cfr+", 200, "iterations",
    )  # fmt: skip
    assert (found["information_sets"], found["histories"], found["seed"], found["profile"]) == (12, 58, 7, None)
    assert found["seconds"] > 0
    assert found["nodes_per_second"] == pytest.approx(200 * 58 / found["seconds"])
    gains = [best - value for best, value in zip(found["best_response"], found["value"], strict=True)]
    assert found["nash_conv"] == pytest.approx(sum(gains), abs=ROUNDING)
    assert found["exploitability"] == pytest.approx(sum(gains) / 2, abs=ROUNDING)
    assert found["exploitability_mbb"] == pytest.approx(1000 * found["exploitability"])
    tree = compile_game("kuhn")
    assert found["memory_bytes"] == {
        "tree": tree.nbytes + tree.sequences.nbytes,
        "solver": CfrSolver.memory_bytes(tree, "cfr+"),
    }


def test_the_value_of_kuhn(run_json: RunJson) -> None:
    found = run_json("solve", "kuhn", "--until", "1e-4")
    assert found["status"] == "exploitability"
    assert 0 <= found["exploitability"] <= 1e-4
    assert abs(found["value"][0] - KUHN_VALUE) <= found["nash_conv"]
    assert found["value"][0] == pytest.approx(-found["value"][1], abs=ROUNDING)
    low, high = -found["best_response"][1], found["best_response"][0]  # what each can secure encloses the value
    assert low - ROUNDING <= KUHN_VALUE <= high + ROUNDING


@pytest.mark.parametrize(
    "algorithm", [name for name, one in ALGORITHMS.items() if "history" in one.forms and not one.one_sided]
)
def test_every_algorithm_solves(run_json: RunJson, algorithm: str) -> None:
    found = run_json("solve", "kuhn", "--algorithm", algorithm, "--until", "0.01", "--iterations", "200000")
    ending = "solved" if ALGORITHMS[algorithm].exact else "exploitability"
    assert (found["algorithm"], found["status"]) == (algorithm, ending)
    assert abs(found["value"][0] - KUHN_VALUE) <= found["nash_conv"] <= 0.02


def test_json_of_evaluate(run_json: RunJson) -> None:
    found = run_json("evaluate", "--strategy", "uniform", "--game", "leduc")
    assert found.keys() >= SOLVED
    assert found["exploitability"] == pytest.approx(2.373611, abs=5e-7)
    assert found["value"] == pytest.approx([-0.078125, 0.078125], abs=ROUNDING)
    assert found["epsilon"] == max(b - v for b, v in zip(found["best_response"], found["value"], strict=True))
    assert (found["game"], found["algorithm"], found["iterations"], found["seed"], found["profile"]) == (
        "leduc", "uniform", 0, None, None,
    )  # fmt: skip
    assert (found["information_sets"], found["histories"]) == (288, 9457)


def test_evaluate_random_is_drawn_from_the_seed(run_json: RunJson) -> None:
    words = ("evaluate", "--strategy", "random", "--game", "kuhn", "--seed")
    one, again, other = run_json(*words, "5"), run_json(*words, "5"), run_json(*words, "6")
    assert same_measurement(one, again)
    assert not same_measurement(one, other)
    assert (one["seed"], other["seed"]) == (5, 6)


@pytest.mark.parametrize("spec", ["leduc", "kuhn(players=3)", "rock_paper_scissors"])
def test_json_of_info(run_json: RunJson, spec: str) -> None:
    found = run_json("info", spec)
    tree = compile_game(spec)
    assert found.keys() >= DESCRIBED
    players = range(tree.players)
    assert (found["game"], found["players"], found["histories"], found["terminals"]) == (
        spec, tree.players, tree.num_histories, tree.num_terminals,
    )  # fmt: skip
    assert found["decisions"] == [tree.decisions_of(player) for player in players]
    assert found["information_sets"] == [len(tree.infosets_of(player)) for player in players]
    assert sum(found["decisions"]) + found["chance"] + found["terminals"] == found["histories"]
    assert found["recall"] == ["perfect"] * tree.players
    assert found["zero_sum"] is (tree.players == 2)
    assert found["memory_bytes"].keys() == {"tree", "walks", *CFR_PRESETS, *MCCFR_PRESETS}
    for name in CFR_PRESETS:
        solver = CfrSolver(tree, name)
        tables = [value for value in vars(solver).values() if hasattr(value, "nbytes") and hasattr(value, "dtype")]
        held = sum(table.nbytes for table in tables if table.ndim)
        assert found["memory_bytes"][name] == held


def test_numbers_of_leduc(run_json: RunJson) -> None:
    found = run_json("info", "leduc")
    assert found["sequences"] == [337, 337]
    assert found["information_sets"] == [144, 144]
    assert (found["histories"], found["terminals"], found["zero_sum"]) == (9457, 5520, True)
    assert found["utilities"] == [-13.0, 13.0]


def test_json_of_games(run_json: RunJson) -> None:
    listed = {entry["name"]: entry for entry in run_json("games")["games"]}
    assert list(listed) == game_names()
    ranks = next(p for p in listed["leduc"]["parameters"] if p["name"] == "ranks")
    assert (ranks["type"], ranks["default"]) == ("int", 3)
    assert ranks["help"]


# ---------------------------------------------------------------------------------------------- for people


def test_games_are_listed(run: Run) -> None:
    lines = run("games").splitlines()
    assert [line for line in lines if line and not line.startswith((" ", "Also"))] == game_names()
    assert any("suited=false  (bool)" in line for line in lines)
    assert "openspiel:NAME" in lines[-1]


def test_info_for_people(run: Run) -> None:
    text = run("info", "leduc")
    assert "9,457 (3,780 decisions, 157 chance, 5,520 terminal)" in text
    assert "337, 337 (by player, the empty one included)" in text
    assert "perfect, perfect (by player)" in text
    assert re.search(r"as history +9,457 histories, 288 information sets, 672 actions in all, \d+\.\d KiB\n", text)
    assert re.search(r"as public +240 public states, 288 information sets, 672 actions in all, \d+\.\d KiB\n", text)
    assert re.search(r"as buckets +no: buckets need a poker game", text)
    assert re.search(r"as states +walk", text)


def test_info_of_what_is_too_large(run: Run, run_json: RunJson) -> None:
    text = run("info", "holdem_2_1")
    assert "too large: 758,574,700,027 histories, 82.8 TiB" in text
    assert "47,395 public states, 15,442,180 information sets, 30,884,529 actions in all" in text
    forms = {form["form"]: form for form in run_json("info", "holdem_limit_2p")["forms"]}
    assert [forms[name]["too_large"] for name in ("history", "public", "buckets", "states")] == [
        True,
        True,
        False,
        False,
    ]
    assert (forms["public"]["information_sets"], forms["public"]["exact"]) == (13_803_249_787_132, True)
    assert forms["public"]["solver_bytes"]["cfr+"] == 8 * forms["public"]["entries"]


def test_solve_for_people(run: Run, tmp_path: Path) -> None:
    text = run("solve", "leduc", "--iterations", "20", "--quiet", "--out", tmp_path / "x")
    assert text.startswith("leduc solved by cfr+: all iterations are done\n")
    assert "value of the game" in text
    assert "mbb/g" in text
    assert f"counterplay evaluate {tmp_path / 'x'}" in text
    assert "--resume" not in text


def test_solve_of_a_forgetful_player_says_so(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "g.py"
    path.write_text(
        "from counterplay import Game, decision, terminal\n\n\nclass G(Game):\n    players = 1\n\n"
        "    def root(self):\n        last = decision(0, 'i', {'a': terminal(4), 'b': terminal(1)})\n"
        "        return decision(0, 'i', {'a': terminal(0), 'b': last})\n"
    )
    text = run("solve", f"{path}:G", "--iterations", "10", "--quiet")
    assert "player 1 forgets: best responses are those of a player who remembers" in text
    assert "value of the profile" in text
    assert "absent-minded (by player)" in run("info", f"{path}:G")
    measured = run("evaluate", "--strategy", "uniform", "--game", f"{path}:G")
    assert "player 1 forgets: best responses are those of a player who remembers" in measured


def test_two_forgetful_players(run: Run) -> None:
    note = "players 1 and 2 forget: best responses are those of a player who remembers"
    game = "bluff(sides=2,recall=1)"
    assert note in run("solve", game, "--iterations", "2", "--quiet")
    assert note in run("evaluate", "--strategy", "uniform", "--game", game)


def test_evaluate_for_people(run: Run) -> None:
    text = run("evaluate", "--strategy", "uniform", "--game", "kuhn")
    assert text.startswith("kuhn: uniform\n")
    assert "+0.125000 (player 1), -0.125000 (player 2) chips" in text
    assert "0.458333 chips per game (458.3 mbb/g), mean over players of what a best response gains" in text


def test_the_version(run: Run) -> None:
    assert run("--version") == f"counterplay {counterplay.__version__}\n"


def plain(text: str) -> str:
    """Text without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        pytest.param([], ["games", "info", "solve", "evaluate", "draw", "--version"], id="counterplay"),
        pytest.param(["games"], ["--json", "List the games"], id="games"),
        pytest.param(["info"], ["GAME", "--json", "--memory-limit", "classify recall"], id="info"),
        pytest.param(
            ["solve"],
            ["GAME", "--algorithm", "--iterations", "--seconds", "--until", "--out", "--plot", "--checkpoint",
             "--resume", "--profile", "--set", "--seed", "--memory-limit", "--quiet", "--json"],
            id="solve",
        ),
        pytest.param(["evaluate"], ["PROFILE", "--game", "--strategy", "--seed", "--json"], id="evaluate"),
        pytest.param(["draw"], ["GAME", "--out", "--player", "--max-histories", "--json"], id="draw"),
    ],
)  # fmt: skip
def test_help_names_every_option(run: Run, verb: list[str], words: list[str]) -> None:
    text = plain(run(*verb, "--help"))
    assert [word for word in words if word not in text] == []
    assert text.split()[:2] == ["Usage:", "counterplay"]


def test_without_words_the_help_is_shown(run: Run) -> None:
    assert plain(run()) == plain(run("--help"))


# ---------------------------------------------------------------------------------------------- when to stop


def test_until_in_thousandths_of_a_big_blind(run_json: RunJson) -> None:
    found = run_json("solve", "leduc(ante=2)", "--until", "100mbb")
    assert found["status"] == "exploitability"
    assert found["exploitability"] <= 0.2  # a big blind is two chips
    assert found["exploitability_mbb"] == pytest.approx(1000 * found["exploitability"] / 2)


def test_seconds_end_a_run(run_json: RunJson) -> None:
    found = run_json("solve", "kuhn", "--seconds", "0.01")
    assert found["status"] == "seconds"
    assert found["iterations"] > 0


def test_a_thousand_iterations_are_the_default(run_json: RunJson) -> None:
    assert run_json("solve", "rock_paper_scissors", "-a", "cfr")["iterations"] == 1000


@pytest.mark.parametrize(
    ("text", "big_blind", "expected"),
    [
        pytest.param("1e-4", None, 1e-4, id="chips"),
        pytest.param("0.5mbb", 2.0, 0.001, id="mbb"),
        pytest.param(" 5 MBB ", 1.0, 0.005, id="blanks"),
    ],
)
def test_targets(text: str, big_blind: float | None, expected: float) -> None:
    assert read_exploitability(text, "game", big_blind) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("500", 500, id="bytes"),
        pytest.param("1.5KiB", 1536, id="KiB"),
        pytest.param("2MB", 2_000_000, id="MB"),
        pytest.param("1 gib", 1 << 30, id="gib"),
        pytest.param("0.5T", 500_000_000_000, id="T"),
    ],
)
def test_amounts_of_memory(text: str, expected: int) -> None:
    assert read_memory(text) == expected


# ---------------------------------------------------------------------------------------------- files
