"""Python uses the words and the defaults of the command line, answers wrong words, and exports what it finds."""

from __future__ import annotations

import csv
import dataclasses
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.cli import build as build_verb
from counterplay.cli import evaluate as evaluate_verb
from counterplay.cli import match as match_verb
from counterplay.cli import solve as solve_verb
from counterplay.errors import CounterplayError
from counterplay.evaluation import Settings
from counterplay.poker.postflop.spots import Spot
from counterplay.runs import RunOptions, Target

SHOWN = {"quiet", "as_json"}
"""Options about what is printed."""

ON_CLUSTER = {"cluster", "workers"}
"""The arguments of ``cp.on_cluster``, which other functions are called in."""

SPOT: dict[str, Any] = {"board": "QsJh2h3c8d", "pot": 50, "stack": 200, "oop": "AA,KQs", "ip": "KK,AQs"}


def defaults(function: Callable[..., Any], *kinds: type[Any]) -> dict[str, Any]:
    """The default of each argument of a function, and of each field of dataclasses whose fields it takes as well."""
    found = {name: one.default for name, one in inspect.signature(function).parameters.items()}
    for kind in kinds:
        found |= {field.name: field.default for field in dataclasses.fields(kind)}
    return found


def same(option: Any, argument: Any) -> bool:
    """Whether two defaults mean the same: nothing is None, an empty tuple or no default."""
    nothing = (None, (), inspect.Parameter.empty, dataclasses.MISSING)
    return option == argument or (option in nothing and argument in nothing)


@pytest.mark.parametrize(
    ("verb", "function", "kinds", "elsewhere"),
    [
        # plot: result.plot; resume: cp.resume; settings: keywords; ranges: a file with oop and ip; the others: settings
        # of some algorithms; cluster, workers: cp.on_cluster
        (
            solve_verb,
            cp.solve,
            (RunOptions, Target, Spot),
            {"plot", "resume", "settings", "ranges", "profile", "player", "epsilon", "exact", *ON_CLUSTER},
        ),
        (evaluate_verb, cp.evaluate, (Settings,), {"profile", *ON_CLUSTER}),  # the file is the strategy
    ],
    ids=["solve", "evaluate"],
)
def test_options_have_the_names_and_defaults_of_arguments(
    verb: Any, function: Callable[..., Any], kinds: tuple[type[Any], ...], elsewhere: set[str]
) -> None:
    options, arguments = defaults(verb.command), defaults(function, *kinds)
    assert options.keys() - SHOWN - elsewhere <= arguments.keys()
    for name in options.keys() & arguments.keys():
        assert same(options[name], arguments[name]), name


def test_options_of_matches_and_builds_are_arguments() -> None:
    played = defaults(cp.match)
    assert (played["deals"], played["seed"], played["duplicate"]) == (match_verb.DEALS, 0, True)
    build = defaults(build_verb.command)
    assert all(same(build[name], defaults(cp.build)[name]) for name in ("preset", "out", "memory_limit"))


def test_the_words_of_the_command_line() -> None:
    found = cp.solve("kuhn", until="1mbb", seed=1, threads=1, memory_limit="1GiB", representation="auto")
    assert (found.status, found.facts.seed, found.facts.threads) == ("exploitability", 1, 1)
    assert cp.evaluate(found.profile, threads=1, seed=1, memory_limit="1GiB").exploitability == found.exploitability
    assert cp.compile_game("kuhn", memory_limit="1GiB").num_histories == 58
    assert cp.open_game("kuhn", memory_limit="1GiB").num_histories == 58
    with pytest.raises(cp.MemoryLimitError):
        cp.compile_game("leduc", memory_limit="1KiB")


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: cp.solve("kuhn", iteratoins=5), "did you mean 'iterations'?"),
    (lambda: cp.solve("kuhn", untill=1e-3), "did you mean 'until'?"),
    (lambda: cp.solve("kuhn", memory="1GiB"), "did you mean 'memory_limit'?"),
    (lambda: cp.solve("kuhn", algoritm="cfr"), "did you mean 'algorithm'?"),
    (lambda: cp.solve("kuhn", representation="histroy"), "did you mean 'history'?"),
    (lambda: cp.solve("kuhn", "cfrplus"), "did you mean 'cfr+'?"),
    (lambda: cp.solve_spot(**SPOT, raies="2x"), "did you mean 'raises'?"),
    (lambda: cp.evaluate("uniform", "kuhn", sed=1), "did you mean 'seed'?"),
    (lambda: cp.evaluate("uniform", "kuhn", memorylimit="1GiB"), "did you mean 'memory_limit'?"),
    (lambda: cp.evaluate("uniform", "kuhn", method="histroy"), "did you mean 'history'?"),
    (lambda: cp.compile_game("kuhn", memory_limt="1GiB"), "did you mean 'memory_limit'?"),
    (lambda: cp.match("kuhn", ["uniform", "uniform"], dels=5), "did you mean 'deals'?"),
]


@pytest.mark.parametrize(("call", "answer"), WRONG)
def test_wrong_words_are_answered_with_the_closest(call: Callable[[], Any], answer: str) -> None:
    with pytest.raises((CounterplayError, TypeError)) as caught:
        call()
    assert answer in str(caught.value)


# ---------------------------------------------------------------------------------------------- exports


def exports() -> dict[str, tuple[Any, list[str], list[tuple[Any, ...]]]]:
    """Results with the columns and the rows of their tables."""
    run = cp.solve("kuhn", iterations=3)
    curve = [
        (one.iterations, one.seconds, one.cpu_seconds, 58 * one.iterations, one.exploitability) for one in run.curve
    ]
    uniform = cp.evaluate("uniform", "kuhn")
    played = cp.match("kuhn", ["always-call", "always-fold"], deals=4)
    (call, half), (fold, other) = (played.estimate(agent).as_json() for agent in (0, 1))
    return {
        "run": (run, ["iterations", "seconds", "cpu_seconds", "nodes", "exploitability"], curve),
        "measurement": (
            uniform,
            ["player", "value", "best_response", "gain"],
            [(1, 0.125, 0.5, 0.375), (2, -0.125, 5 / 12, 13 / 24)],
        ),
        "match": (
            played,
            ["agent", "hands", "chips", "chips_95", "mbb", "mbb_95"],
            [
                ("always-call", 8, call, half, 1000 * call, 1000 * (half or 0)),
                ("always-fold", 8, fold, other, 1000 * fold, 1000 * (other or 0)),
            ],
        ),
    }


@pytest.mark.parametrize("name", ["run", "measurement", "match"])
def test_tables(name: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    found, columns, rows = exports()[name]
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == columns
    for row, expected in zip(frame.itertuples(index=False), rows, strict=True):
        assert tuple(row) == tuple(one if isinstance(one, str) else pytest.approx(one) for one in expected)
    found.to_csv(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    assert head == columns
    assert [line[0] for line in lines] == [str(row[0]) for row in rows]


def test_infosets_as_a_frame() -> None:
    pytest.importorskip("pandas")
    table = cp.infoset_table(cp.solve("kuhn", "lp").profile)
    frame = table.to_pandas()
    assert list(frame.columns) == ["player", "infoset", "action", "probability", "reach", "value"]
    assert len(frame) == 24
    assert frame.groupby(["player", "infoset"])["probability"].sum().tolist() == pytest.approx([1.0] * 12)


def test_pandas_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    result = cp.solve("kuhn", iterations=1)
    for found in (result, result.profile, result.measurement, cp.infoset_table(result.profile)):
        with pytest.raises(CounterplayError, match="needs pandas, which is not installed: pip install pandas"):
            found.to_pandas()


def test_pictures_of_runs(tmp_path: Path) -> None:
    picture = cp.solve("kuhn", iterations=30).plot(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert picture._repr_png_().startswith(b"\x89PNG")


# ---------------------------------------------------------------------------------------------- short


def test_what_prints_itself_is_short() -> None:
    cards = CardAbstraction.lossless((3, 2), (1, 1))
    assert repr(cards) == (
        "<CardAbstraction lossless/lossless: 3 x 2 ranks and suits, perfect recall, 3/15 buckets, 0 B memory>"
    )
    result = cp.solve("leduc", iterations=2)
    shown = (cards, result, result.profile, result.measurement, cp.open_game("leduc"), cp.open_game("leduc", "public"))
    for one in shown:
        assert len(repr(one)) < 5 * 100, type(one)
        assert repr(one).count("\n") < 5


def test_curves_print_a_line() -> None:
    curve = cp.solve("kuhn", iterations=30).curve
    last = curve[-1]
    shown = f"exploitability 0.25 at iteration 1, {last.exploitability:.4g} at iteration 30"
    assert repr(curve) == f"<Curve of {len(curve)} points: {shown}>"
    assert repr(type(curve)()) == "<Curve of 0 points>"


@pytest.mark.parametrize("game", ["kuhn", cp.make("kuhn"), cp.compile_game("kuhn")], ids=["name", "game", "tree"])
def test_strategies_are_made_for_a_game_or_its_name(game: Any) -> None:
    uniform = cp.TabularStrategy.uniform(game)
    assert uniform.probabilities(0, "K:") == {"check": 0.5, "bet": 0.5}
    assert (cp.TabularStrategy.random(game, 3).table == cp.TabularStrategy.random("kuhn", 3).table).all()
    assert cp.TabularStrategy.from_table(game, {(0, "K:"): {"bet": 1.0}}).probabilities(0, "K:")["bet"] == 1.0


def test_what_is_not_a_game_has_no_strategy() -> None:
    with pytest.raises(cp.CounterplayError, match="a game is a name, a path, a Game"):
        cp.TabularStrategy.uniform(None)  # type: ignore[arg-type]
