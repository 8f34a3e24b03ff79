"""Exact values between strategies: those of the history tree, whatever the storage of the strategies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.agents import exact_match
from counterplay.cli.main import main
from counterplay.errors import CounterplayError
from counterplay.forms import open_game
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.ready_made import READY_MADE
from counterplay.strategy.tabular import TabularStrategy, normalise

GAME = "leduc_limit_2p"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Strategies of four storages: two of different card abstractions, by hands, and by names."""
    path = tmp_path_factory.mktemp("exact")
    for rounds in ("2,3", "3,4"):
        cards = path / f"{rounds[0]}.cpa"
        build_cards((3, 2), (1, 1), parse_recipe(rounds, (3, 2), (1, 1))).save(cards)
        cp.solve(GAME, "external-sampling", cards=cards, iterations=300, out=path / f"{rounds[0]}.strategy")
    cp.solve(GAME, "cfr+", representation="history", iterations=5, out=path / "names.strategy")
    return path


def named(what: Any) -> TabularStrategy:
    """A strategy by the information sets of the history tree."""
    tree = open_game(GAME, "history")
    if isinstance(what, str):
        return READY_MADE[what].tabular(tree)  # type: ignore[union-attr, call-arg]
    strategy: Any = cp.load(what)
    return strategy.lifted(tree) if isinstance(strategy, BucketStrategy) else strategy


def test_values_are_those_of_the_history_tree(folder: Path) -> None:
    tree = open_game(GAME, "history")
    agents = [folder / "2.strategy", folder / "3.strategy", folder / "names.strategy", "always-call", "50/50"]
    found = exact_match(GAME, [str(one) for one in agents])
    profiles = [named(one).for_tree(tree) for one in agents]
    sets = np.repeat(tree.infoset_player, np.diff(tree.infoset_offset))
    for one, own in enumerate(profiles):
        for other, theirs in enumerate(profiles):
            for seat in (0, 1) if one != other else ():
                mixed = TabularStrategy.from_tree(tree, np.where(sets == seat, own, theirs))
                value = cp.evaluate(mixed, tree).value[seat]
                assert found.chips[one, other, seat] == pytest.approx(value, abs=1e-10)
    assert found.table() == pytest.approx(-found.table().T)
    assert found.table()[3, 4] == pytest.approx(1000 * found.chips[3, 4].mean())  # a blind of one chip
    suits = named(agents[2]).for_tree(tree) + 0.01 * np.random.default_rng(1).random(tree.num_entries)
    uneven = TabularStrategy.from_tree(tree, normalise(suits, tree.infoset_offset))
    assert exact_match(GAME, [uneven, str(agents[0])]).chips[0, 1, 0] != found.chips[2, 0, 0]
    assert exact_match(GAME, [uneven, str(agents[0])]).chips == pytest.approx(found.chips[2::-2, 2::-2], abs=0.05)
    assert found.names == ("2", "3", "names", "always-call", "50/50")


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "--exact", str(folder / "2.strategy"), "weak=always-raise", "uniform"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["2", "weak", "uniform", "mean"]
    assert lines[3].split()[0] == "weak"
    assert float(lines[3].split()[1]) == pytest.approx(found["table"][1][0], rel=1e-3)
    assert found["mean"][0] == pytest.approx(np.sum(found["table"][0]) / 2)


@pytest.mark.parametrize(("game", "agents", "text"), [
    (GAME, ["uniform"], "two strategies or more"),
    ("kuhn_limit_3p", ["uniform", "always-call"], "for two players; kuhn_limit_3p has 3"),
    (GAME, ["uniform", "program:./a.sh"], "is no strategy whose probabilities are known"),
    (GAME, ["uniform", "2.strategy?purify=true"], "has settings of an agent"),
    ("kuhn_limit_2p", ["uniform", "2.strategy"], "its rules are those of another game"),
    ("leduc", ["uniform", "2.strategy"], "2 is a strategy of leduc_limit_2p; it cannot play leduc"),
    ("goofspiel", ["uniform", "uniform"], "goofspiel has no public tree: .*; play a match without exact$"),
    ("tilted(kuhn,orange,7)", ["uniform", "always-call"], "for zero-sum games"),
])  # fmt: skip
def test_what_has_no_exact_value(game: str, agents: list[str], text: str, folder: Path) -> None:
    with pytest.raises(CounterplayError, match=text):
        exact_match(game, [one.replace("2.strategy", str(folder / "2.strategy")) for one in agents])
