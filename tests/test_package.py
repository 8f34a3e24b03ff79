"""The package as Python users meet it: names that survive imports, options in the words of the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import counterplay as cp
from counterplay.abstraction.cards import build_cards, deck_shape, parse_recipe
from counterplay.errors import MemoryLimitError, SolverError
from counterplay.forms import poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame


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
