"""What a first use compiles, what is said about it, and that ``warm`` leaves nothing to compile."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import counterplay as cp
from counterplay.cli.main import _announcement
from counterplay.kernels.compiled_code import KERNELS
from counterplay.runtime.compiling import SECONDS, announce, listening

ANNOUNCED = re.compile(r"compiling kernels, once, about \d+ s \(counterplay warm compiles all\)")

LIST_COMPILED = """
import json, os, sys
from counterplay.cli.main import main
from counterplay.runtime.compiling import listening

found = []
with listening(lambda now: found.append(now.kernel)):
    sys.stdout = open(os.devnull, "w")
    assert main(sys.argv[1:]) == 0
sys.stdout = sys.__stdout__
print(json.dumps(found))
"""

USE_AFTER_WARM = """
import json, os, sys
import counterplay as cp
from counterplay.cli.main import main

def compiled():
    kernels = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("counterplay.kernels."):
            for one in vars(module).values():
                if hasattr(one, "py_func"):
                    kernels[f"{one.py_func.__module__}.{one.py_func.__qualname__}"] = len(one.signatures)
    return {name: count for name, count in kernels.items() if count}

report = cp.warm()
before = compiled()
sys.stdout = open(os.devnull, "w")
codes = [main(words) for words in json.loads(sys.argv[1])]
sys.stdout = sys.__stdout__
after = compiled()
print(json.dumps([codes, sorted(name for name in after if after[name] != before.get(name)), report.folder]))
"""


def run(code: str, *words: str, cache: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_first_use_says_once_into_a_pipe_that_it_compiles_and_a_second_says_nothing(tmp_path: Path) -> None:
    words = ("solve", "kuhn", "--algorithm", "lp", "--json")
    call = "import sys; from counterplay.cli.main import main; sys.exit(main(sys.argv[1:]))"
    first, second = (run(call, *words, cache=tmp_path) for _ in range(2))
    assert [bool(ANNOUNCED.fullmatch(line)) for line in first.stderr.splitlines()] == [True]
    assert second.stderr == ""
    one, other = (json.loads(done.stdout) for done in (first, second))
    assert one["value"] == other["value"]


def test_a_first_use_compiles_what_it_needs_and_each_for_one_type(tmp_path: Path) -> None:
    found = json.loads(run(LIST_COMPILED, "solve", "kuhn", "--algorithm", "lp", cache=tmp_path).stdout)
    assert sorted(found) == [
        "passes.backward_best", "passes.backward_values", "passes.forward_reach", "passes.leaf_values",
        "passes.measure",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "twice"),
    [
        (("solve", "leduc", "--representation", "public", "--iterations", "2"), set()),
        (
            ("solve", "leduc", "--algorithm", "pcs", "--iterations", "2"),
            {"walks.chance_outcome", "piece_steps.hands_at", "sampled_terminal._card_value"},
        ),
        (("solve", "kuhn", "--algorithm", "cfr+ira", "--iterations", "2"), {"passes.leaf_values"}),
    ],
)
def test_large_kernels_and_their_helpers_are_compiled_for_one_type(
    tmp_path: Path, words: tuple[str, ...], twice: set[str]
) -> None:
    found = Counter(json.loads(run(LIST_COMPILED, *words, cache=tmp_path).stdout))
    assert {name for name, count in found.items() if count > 1} <= twice


@pytest.mark.slow
def test_an_agent_of_a_small_game_needs_no_kernels_of_public_trees(tmp_path: Path) -> None:
    words = ("build", "leduc_limit_2p", "--preset", "tiny", "--iterations", "100", "--deals", "10")
    folders = ("--cache", str(tmp_path / "features"), "--out", str(tmp_path / "agent"))
    found = json.loads(run(LIST_COMPILED, *words, *folders, cache=tmp_path / "kernels").stdout)
    assert "passes.measure" in found
    assert not [name for name in found if name.startswith("public_cfr.")]
    assert json.loads((tmp_path / "agent" / "report.json").read_text("utf-8"))["exploitability"] > 0.0


def test_after_warm_nothing_is_left_to_compile() -> None:
    spot = ["solve", "holdem", "--board", "KsTd7h4c", "--pot", "20", "--stack", "60", "--oop", "AA,KQs", "--ip", "AKo"]
    uses: list[list[str]] = [
        ["solve", "leduc", "--iterations", "2"],
        ["solve", "leduc", "--algorithm", "external-sampling", "--iterations", "2", "--threads", "2"],
        ["solve", "leduc", "--algorithm", "pure-cfr", "--iterations", "2"],
        ["solve", "leduc", "--representation", "public", "--algorithm", "dcfr", "--iterations", "2"],
        ["solve", "leduc", "--algorithm", "pcs", "--iterations", "2"],
        ["solve", "bluff", "--representation", "public", "--iterations", "2"],
        [*spot, "--iterations", "2"],
        [*spot, "--iterations", "2", "--set", "storage=int16"],
        ["equity", "AKs", "22+", "--board", "Qs Jh 2h"],
        ["match", "uniform", "always-call", "--game", "leduc", "--deals", "5"],
    ]
    codes, compiled, folder = json.loads(run(USE_AFTER_WARM, json.dumps(uses)).stdout)
    assert codes == [0] * len(uses)
    assert compiled == []
    assert Path(folder).is_dir()


def test_warm_is_a_function_and_reports_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    from counterplay import warming

    def one(folder: Path) -> list[Any]:
        return [("first", lambda: announce("cfr", "iterate_cfr")), ("second", lambda: None)]

    monkeypatch.setattr(warming, "_steps", one)
    seen: list[Any] = []
    report = cp.warm(seen.append)
    assert [(now.iterations, now.total, now.detail) for now in seen] == [(0, 2, "first"), (1, 2, "second")]
    assert report.kernels == ("cfr.iterate_cfr",)


@pytest.mark.parametrize(
    ("words", "lines"), [(["solve", "kuhn"], 1), (["solve", "kuhn", "--quiet"], 0), (["solve", "-q"], 0), (["warm"], 0)]
)
def test_the_announcement_is_made_once_and_not_if_quiet(
    words: list[str], lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening(_announcement(words)):
        announce("evaluator", "rank_holes")  # a second is not worth a line
        announce("cfr", "iterate_cfr")
        announce("passes", "measure")
    said = capsys.readouterr().err.splitlines()
    assert len(said) == lines
    assert all(f"about {SECONDS['cfr']} s" in line for line in said)


def test_files_with_estimates_exist() -> None:
    assert {name.partition(".")[0] for name in SECONDS} <= {path.stem for path in KERNELS.rglob("*.py")}


def test_what_many_first_uses_start_with_does_not_say_how_long_they_take(capsys: pytest.CaptureFixture[str]) -> None:
    """``equity`` starts with a helper of card abstractions, which take five times as long."""
    with listening(_announcement(["equity"])):
        for file, kernel in (("card_features", "choose_cards"), ("evaluator", "rank_holes"), ("range_equity", "x")):
            announce(file, kernel)
    assert capsys.readouterr().err == "compiling kernels, once, about 2 s (counterplay warm compiles all)\n"


@pytest.mark.parametrize(("kernel", "seconds"), [("public_cfr.walk_public", 9), ("bucketed_hands.spread_strategy", 13)])
def test_a_walk_over_a_public_tree_is_announced_though_regrets_are_matched_first(
    kernel: str, seconds: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """CFR-BR and the evaluation of agents begin with small kernels and compile the large walk after them."""
    with listening(_announcement(["solve"])):
        for name in ("evaluator.rank_holes", "isomorphism.index_hands", "regret.match_regrets", kernel):
            announce(*name.split("."))
    assert capsys.readouterr().err == f"compiling kernels, once, about {seconds} s (counterplay warm compiles all)\n"
