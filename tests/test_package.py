"""The package as Python users meet it: names that survive imports, options in the words of the command line."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import build_cards, deck_shape, parse_recipe
from counterplay.errors import MemoryLimitError, SolverError, StrategyError
from counterplay.forms import poker_definition
from counterplay.game import ExplicitGame
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.solvers import make_solver
from counterplay.strategy import BucketStrategy


def test_everything_that_make_installs_has_a_hash() -> None:
    """Versions and hashes of all files are fixed, and no dependency is missing."""
    root = Path(__file__).parents[1]
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    extras = settings["project"]["optional-dependencies"]
    for name in ("run", "test", "bench"):
        lines = (root / "requirements" / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
        entries = [line for line in lines if not line.startswith("#")]
        pinned = {re.match(r"([a-z0-9.-]+)==\S+", entry)[1] for entry in entries}  # type: ignore[index]
        assert all("--hash=sha256:" in entry for entry in entries)
        wanted = [*settings["build-system"]["requires"], *settings["project"]["dependencies"], *extras.get(name, [])]
        names = {re.match(r"[\w-]+", one)[0].lower().replace("_", "-") for one in wanted}  # type: ignore[index]
        assert names - {"counterplay"} <= pinned
    assert "install --require-hashes --requirement requirements/" in (root / "Makefile").read_text(encoding="utf-8")


def in_a_fresh_process(source: str) -> str:
    """What a program prints that starts without any import of the package."""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False, timeout=120)
    assert done.stderr == ""
    return done.stdout.strip()


NAMED = "'kuhn' in [game.name for game in cp.games()]"


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("pass", id="at once"),
        pytest.param("cp.make('kuhn')", id="after the registry has imported the games"),
        pytest.param("import counterplay.games", id="after an import of the package"),
        pytest.param("import counterplay.games.kuhn", id="after an import of one game"),
        pytest.param("cp.games()", id="again"),
    ],
)
def test_games_are_listed_whatever_was_imported(before: str) -> None:
    assert in_a_fresh_process(f"import counterplay as cp\n{before}\nprint({NAMED})") == "True"


def test_the_package_of_games_can_be_used_under_its_name() -> None:
    source = (
        f"import counterplay as cp\nassert {NAMED}\nimport counterplay.games.kuhn\nimport counterplay.games as games"
    )
    assert in_a_fresh_process(f"{source}\nprint(games.kuhn.Kuhn().spec(), {NAMED})") == "kuhn True"


def test_memory_is_written_as_on_the_command_line() -> None:
    assert cp.solve("kuhn", iterations=2, memory_limit="1GiB").iterations == 2
    assert cp.open_game("kuhn", memory_limit="1 MiB").num_infosets == 12
    with pytest.raises(MemoryLimitError, match=r"only 1\.0 KiB may be used"):
        cp.solve("leduc", iterations=2, representation="history", memory_limit="1KiB")
    with pytest.raises(MemoryLimitError, match=r"only 1\.0 KiB may be used"):
        cp.evaluate("uniform", "leduc", memory_limit="1KiB")
    with pytest.raises(SolverError, match="memory is written like 500MiB or 2GiB; got 'lots'"):
        cp.solve("kuhn", memory_limit="lots")


# ---------------------------------------------------------------------------------------------- at the prompt


def bucket_game() -> Any:
    definition = poker_definition("leduc_limit_2p")
    deck, shape = deck_shape(definition)
    cards = build_cards(deck, shape, parse_recipe("lossless,lossless", deck, shape))
    return BucketGame.build(definition, cards.rounds, name="leduc_limit_2p")


def abstraction() -> Any:
    inside = cp.solve("kuhn", iterations=1, forget="initial").abstract
    assert inside is not None
    return inside.abstraction


SHOWN: dict[str, tuple[Callable[[], Any], str]] = {
    "history": (lambda: cp.open_game("kuhn"), "<GameTree of kuhn: 2 players, 58 histories, 30 terminals, 12 infosets"),
    "public": (lambda: cp.open_game("leduc", "public"), "<PublicTree of leduc: "),
    "buckets": (bucket_game, "<BucketGame of leduc_limit_2p: 2 players, 3/15 buckets in each round, 85 betting nodes"),
    "sequences": (lambda: cp.open_game("kuhn").sequences, "<SequenceForm: 2 players, 26 sequences, 12 decision "),
    "states": (lambda: cp.open_game("leduc", "states"), "Leduc("),
    "hands": (lambda: cp.open_game("leduc", "public").hands[0], "<Hands of a player: 16 deals, 48 classes>"),
    "betting": (lambda: bucket_game().tree, "<BettingTree: 2 players, 85 nodes>"),
    "abstraction": (abstraction, "<Abstraction initial of kuhn: 12 infosets, "),
    "result": (lambda: cp.solve("kuhn", iterations=1), "SolveResult(game='kuhn', algorithm='cfr+', "),
    "strategy": (lambda: cp.solve("kuhn", iterations=1).profile, "<TabularStrategy of kuhn: 12 infosets, cfr+"),
    "measurement": (lambda: cp.evaluate("uniform", "kuhn"), "Measurement(value=("),
}
"""What is shown of every form of a game, and of what is made of it."""


@pytest.mark.parametrize("kind", list(SHOWN))
def test_objects_show_themselves_in_a_few_lines(kind: str) -> None:
    make, start = SHOWN[kind]
    text = repr(make())
    assert text.startswith(start)
    assert len(text) <= 250
    assert text.count("\n") < 5
    assert "array" not in text


@pytest.mark.parametrize("kind", ["history", "public", "buckets", "sequences"])
def test_trees_are_tables_in_notebooks(kind: str) -> None:
    found = SHOWN[kind][0]()
    page = found._repr_html_()
    assert page.startswith("<table><caption>")
    assert f"<th>{'decision points' if kind == 'sequences' else 'infosets'}</th>" in page
    if kind != "sequences":
        assert f"<td>{found.num_infosets:,}</td>" in page
        assert found.name in page


# ---------------------------------------------------------------------------------------------- strategies by infoset

STRATEGIES: dict[str, Callable[[], cp.Strategy]] = {
    "tabular": lambda: cp.TabularStrategy.uniform(cp.compile_game("kuhn")),
    "public": lambda: make_solver(cp.open_game("leduc_limit_2p", "public"), "cfr+").run(cp.Until(iterations=2)).profile,
    "public without cards": lambda: make_solver(cp.open_game("leduc", "public")).run(cp.Until(iterations=2)).profile,
    "buckets": lambda: BucketStrategy.of_game(bucket_game(), np.arange(1.0, bucket_game().num_entries + 1)),
}


@pytest.mark.parametrize("storage", list(STRATEGIES))
def test_strategies_are_read_by_infoset(storage: str) -> None:
    strategy = STRATEGIES[storage]()
    rows = list(strategy.infosets())
    for player, name, row in (rows[0], rows[len(rows) // 2], rows[-1]):
        assert strategy[name] == pytest.approx(row)
        assert strategy[player, name] == strategy[name]
    name = rows[-1][1]
    wrong = f"{name}?!"
    with pytest.raises(cp.UnknownInfosetError) as caught:
        strategy[wrong]
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, StrategyError)
    start = f"the strategy of {strategy.game} has no infoset {wrong!r}; did you mean "
    assert str(caught.value).startswith(start)
    assert strategy[str(caught.value).removeprefix(start).strip("'?")]


def test_infosets_of_the_other_player_and_of_both() -> None:
    kuhn = STRATEGIES["tabular"]()
    assert kuhn["K:"] == {"check": 0.5, "bet": 0.5}
    with pytest.raises(cp.UnknownInfosetError, match=r"no infoset 'K:' of player 1 \(players count from 0\); did "):
        kuhn[1, "K:"]
    both = cp.TabularStrategy.uniform(cp.compile_game(ExplicitGame(shared_name(), players=2, name="shared")))
    with pytest.raises(cp.UnknownInfosetError, match=r"name one: strategy\[0, 'x'\] or strategy\[1, 'x'\]"):
        both["x"]
    assert both[1, "x"] == {"c": 0.5, "d": 0.5}
    for wrong in (3, (0,), (2, "K:"), ("K:", 0)):
        with pytest.raises(cp.UnknownInfosetError, match="an infoset is named by its text"):
            kuhn[wrong]  # type: ignore[index]


def shared_name() -> Any:
    """A root at which both players have an infoset of the same name."""
    leaf = cp.terminal(0, 0)
    return cp.decision(0, "x", {"a": cp.decision(1, "x", {"c": leaf, "d": leaf}), "b": leaf})


# ---------------------------------------------------------------------------------------------- pictures of runs

PNG = b"\x89PNG\r\n\x1a\n"


def test_results_plot_their_convergence(tmp_path: Path) -> None:
    result = cp.solve("kuhn", iterations=64)
    figure = result.plot(tmp_path / "kuhn.png", 1e-3)
    assert (tmp_path / "kuhn.png").read_bytes().startswith(PNG)
    assert figure._repr_png_().startswith(PNG)
    (axes,) = figure.axes
    assert axes.get_title() == "kuhn: cfr+"
    assert [line.get_label() for line in axes.lines] == ["cfr+", "target 0.001"]
    drawn = dict(zip(*axes.lines[0].get_data(), strict=True))
    assert drawn == {point.iterations: point.exploitability for point in result.curve if point.iterations}
    assert len(cp.solve("kuhn", "external-sampling", iterations=64).plot().axes) == 3


def test_runs_that_measured_nothing_have_no_plot() -> None:
    with pytest.raises(SolverError, match="there is no curve to plot: this run of external-sampling measured no"):
        cp.solve("kuhn", representation="states", iterations=2).plot()
