"""Values of betting sequences in logs, and the part of the important ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterplay.abstraction.experts import Part, label_parts
from counterplay.abstraction.importance import SequenceValues, beginnings, sequence_values
from counterplay.errors import AbstractionError, GameError
from counterplay.forms import poker_definition
from counterplay.poker.betting import build_betting_tree
from tests.modelling.logs import random_lines, random_records
from tests.reference.poker import Table

GAMES = ("kuhn_limit_3p", "holdem_limit_3p", "leduc_limit_2p")


@pytest.mark.parametrize("game", GAMES)
def test_values_equal_the_definition(tmp_path: Path, game: str) -> None:
    """The share of the hands in which Ann decides at a betting, times the pot with a big blind of 10."""
    rules = poker_definition(game)
    records = random_records(rules, 200)
    (tmp_path / "a.log").write_text("\n".join(record.text() for record in records) + "\n")
    found = sequence_values(tmp_path / "a.log", "Ann", rules)
    met: dict[str, list[float]] = {}
    for record in records:
        table, text = Table(rules), ""
        for turn, actions in enumerate(record.betting.actions):
            text += "/" if turn else ""
            for action in actions:
                if record.names[table.player()] == "Ann":
                    met.setdefault(text, []).append(10 * sum(table.spent) / rules.big_blind)
                table.act(action)
                text += action
    assert found.hands == 200
    assert found.values() == pytest.approx({text: sum(pots) / 200 for text, pots in met.items()})
    assert list(found.values().values()) == sorted(found.values().values(), reverse=True)


def test_the_beginning_is_worth_five(tmp_path: Path) -> None:
    """The example of section 8.3: a third of 300 hands, and a pot of 15."""
    rules = poker_definition("holdem_limit_3p")
    (tmp_path / "a.log").write_text("\n".join(random_lines(rules, 300)) + "\n")
    assert sequence_values(tmp_path / "a.log", "Bob", rules).values()[""] == pytest.approx(5.0)


def test_important_sequences_are_closed_under_beginnings() -> None:
    values = SequenceValues(100, {"": 33, "r": 20, "rc/": 1, "cc/cr": 9, "f": 2}, {"": 15, "r": 25, "rc/": 40,
                                  "cc/cr": 80, "f": 15})  # fmt: skip
    assert values.values() == pytest.approx({"cc/cr": 7.2, "r": 5.0, "": 4.95, "rc/": 0.4, "f": 0.3})
    assert values.important(5.0) == ("", "c", "cc/", "cc/c", "cc/cr")
    assert values.important(4.96) == ("", "c", "r", "cc/", "cc/c", "cc/cr")
    assert values.part(5.0) == Part.parse("only:,c,cc/,cc/c,cc/cr")
    with pytest.raises(AbstractionError, match=r"no betting is worth more than 9; the most is 7\.2"):
        values.important(9)
    with pytest.raises(AbstractionError, match="a number of at least 0; got nan"):
        values.important(float("nan"))


def test_beginnings_of_raises_with_sizes() -> None:
    assert beginnings("r250c/cr90") == ["", "r250", "r250c/", "r250c/c", "r250c/cr90"]


def test_they_are_a_grafting_partition(tmp_path: Path) -> None:
    rules = poker_definition("leduc_limit_2p")
    (tmp_path / "a.log").write_text("\n".join(random_lines(rules, 100)) + "\n")
    found = sequence_values(tmp_path / "a.log", ["Ann", "Bob"], rules)
    tree = build_betting_tree(rules)
    for threshold in (0.0, 0.5, 2.0):
        labels = label_parts(tree, [found.part(threshold)])  # which checks the conditions
        inside = {tree.text(node) for node in np.flatnonzero(labels).tolist()}
        assert inside == set(found.important(threshold))
        worth = {text for text, value in found.values().items() if value > threshold}
        assert worth <= inside
        assert all(any(other.startswith(text) for other in worth) for text in inside)


def test_misuse(tmp_path: Path) -> None:
    rules = poker_definition("leduc_limit_2p")
    lines = random_lines(rules, 20)
    (tmp_path / "a.log").write_text("\n".join(lines) + "\n")
    (tmp_path / "b.log").write_text("\n".join([*lines, "STATE:20:zz:Jh|Qh:0|0:Ann|Bob"]) + "\n")
    with pytest.raises(GameError, match="nobody is called 'Dan' in the logs"):
        sequence_values(tmp_path / "a.log", "Dan", rules)
    with pytest.raises(GameError, match="is no log of kuhn_limit_3p"):
        sequence_values(tmp_path / "a.log", "Ann", poker_definition("kuhn_limit_3p"))
    with pytest.raises(GameError, match=r"b\.log, line 21"):
        sequence_values(tmp_path / "b.log", "Ann", rules)
    with pytest.raises(GameError, match="refused or skipped; got 'drop'"):
        sequence_values(tmp_path / "b.log", "Ann", rules, "drop")
    assert sequence_values(tmp_path / "b.log", "Ann", rules, "skip").hands == 20
