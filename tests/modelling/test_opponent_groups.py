"""Groups of opponents: what is counted, against a plain twin; clusters, against all partitions; what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from counterplay.errors import GameError
from counterplay.modelling.opponent_groups import ACTIONS, RAISES, BettingHabits, betting_habits, group_opponents
from counterplay.poker.acpc.standard import STANDARD
from tests.modelling.logs import random_lines
from tests.reference.logged_hands import decisions

LEDUC = STANDARD["leduc.limit.2p"]
HOLDEM = STANDARD["holdem.limit.2p.reverse_blinds"]


def habits(counts: list[list[list[int]]], names: str = "ABCDEFGH") -> BettingHabits:
    table = np.array(counts, np.int64)
    return BettingHabits(tuple(names[: len(table)]), table, table.sum(axis=(1, 2)))


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def hide(line: str) -> str:
    """A hand without the cards of the players."""
    fields = line.split(":")
    fields[3] = "|" + "".join(f"/{board}" for board in fields[3].split("/")[1:])
    return ":".join(fields)


@pytest.mark.parametrize(("game", "rules"), [("leduc_limit_2p", LEDUC), ("holdem_limit_2p", HOLDEM)])
def test_counts_are_those_of_the_twin(game: str, rules: object, tmp_path: Path) -> None:
    """A situation is the round and the raises in it so far, two at most; logs that hide cards count as well."""
    lines = random_lines(rules, 60, 3)  # type: ignore[arg-type]
    hidden = [hide(line) if line.split(":")[2].endswith("f") else line for line in lines]
    files = [write(tmp_path / "a.log", lines[:40]), write(tmp_path / "b.log", lines[40:])]
    found = betting_habits(files, rules, game)  # type: ignore[arg-type]
    assert found.names == ("Ann", "Bob")
    assert found.hands.tolist() == [60, 60]
    for name, counts in zip(found.names, found.counts, strict=True):
        expected = np.zeros_like(counts)
        for line in lines:
            for done in decisions(line, name, rules.first_players):  # type: ignore[attr-defined]
                *before, now = done.before.split("/")
                expected[3 * len(before) + min(now.count("r"), 2), "fcr".index(done.action[0])] += 1
        np.testing.assert_array_equal(counts, expected)
    assert (ACTIONS, RAISES) == ("fcr", 2)
    only = betting_habits([write(tmp_path / "c.log", hidden)], rules, game, ["Bob"])  # type: ignore[arg-type]
    np.testing.assert_array_equal(only.counts[0], found.counts[1])


def test_few_decisions_are_drawn_to_those_of_all() -> None:
    """Ten decisions of all are added to the own ones; a situation that nobody met is called in."""
    found = habits([[[0, 0, 0], [10, 0, 0]], [[0, 0, 0], [0, 30, 0]]]).frequencies()
    np.testing.assert_allclose(found[:, 0], [[0, 1, 0], [0, 1, 0]])
    np.testing.assert_allclose(found[0, 1], [12.5 / 20, 7.5 / 20, 0])
    np.testing.assert_allclose(found[1, 1], [2.5 / 40, 37.5 / 40, 0])


def partitions(count: int, groups: int) -> Iterator[tuple[int, ...]]:
    for label in itertools.product(range(groups), repeat=count):
        if len(set(label)) == groups and all(
            label[place] <= max(label[:place], default=-1) + 1 for place in range(count)
        ):
            yield label


def spread(found: BettingHabits, label: tuple[int, ...]) -> float:
    """The squared distances of all opponents from the mean of their group, weighted by situations."""
    rows = np.sqrt(found.weights())[:, None] * found.frequencies()
    total = 0.0
    for group in set(label):
        own = rows[np.array(label) == group]
        total += float(((own - own.mean(axis=0)) ** 2).sum())
    return total


@pytest.mark.parametrize("seed", range(6))
def test_no_partition_is_tighter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = rng.dirichlet((1.0, 1.0, 1.0), (3, 4))
    counts = [[rng.multinomial(200, row).tolist() for row in kinds[number % 3]] for number in range(7)]
    found = habits(counts)
    for groups in (1, 2, 3):
        got = group_opponents(found, groups)
        label = [next(number for number, names in enumerate(got) if name in names) for name in found.names]
        least = min(spread(found, one) for one in partitions(len(found.names), groups))
        assert spread(found, tuple(label)) == pytest.approx(least, rel=1e-3)
        hands = dict(zip(found.names, found.hands.tolist(), strict=True))
        sizes = [sum(hands[name] for name in names) for names in got]
        assert sizes == sorted(sizes, reverse=True)


def test_what_is_refused(tmp_path: Path) -> None:
    pair = habits([[[5, 5, 5]], [[0, 9, 1]]])
    with pytest.raises(GameError, match=r"2 opponents \(A, B\), which cannot make 3 clusters; ask for fewer"):
        group_opponents(pair, 3)
    with pytest.raises(GameError, match="at least 1 cluster; got 0"):
        group_opponents(pair, 0)
    with pytest.raises(GameError, match="only 1 of 2 opponents bet differently"):
        group_opponents(habits([[[5, 5, 5]], [[5, 5, 5]]]), 2)
    log = write(tmp_path / "a.log", [*random_lines(LEDUC, 3), "STATE:9:rubbish"])
    with pytest.raises(GameError, match="line 4: "):
        betting_habits(log, LEDUC, "leduc_limit_2p")
    with pytest.raises(GameError, match="nobody is called 'Anne' in the logs; did you mean 'Ann'"):
        betting_habits(log, LEDUC, "leduc_limit_2p", ["Anne"])
    with pytest.raises(GameError, match="is no log of holdem_limit_2p"):
        betting_habits(log, HOLDEM, "holdem_limit_2p")
