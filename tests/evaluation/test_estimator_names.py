"""Estimators by name, and what the estimates of compiled games refuse."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError
from counterplay.evaluation.matches.estimator import (
    FULL,
    PARTIAL,
    VALUES,
    Estimator,
    read_estimator,
    read_estimators,
)
from counterplay.evaluation.matches.tree_estimates import TreeEstimates
from counterplay.strategy import TabularStrategy

EVERY = [Estimator(*parts) for parts in itertools.product((False, True), (False, True), VALUES)] + [
    Estimator(aivat=True)
]
TREE = cp.compile_game("kuhn")
UNIFORM = TabularStrategy.uniform(TREE)
HISTORIES, ENTRIES = TREE.num_histories, TREE.num_entries


@pytest.mark.parametrize("estimator", EVERY, ids=lambda one: one.name)
def test_an_estimator_is_read_from_its_name(estimator: Estimator) -> None:
    assert read_estimator(estimator.name) == estimator
    assert read_estimator(estimator.name.upper()) == estimator
    for parts in itertools.permutations(estimator.name.split("+")):
        assert read_estimator("+".join(parts)) == estimator


def test_names_are_the_parts() -> None:
    assert len({one.name for one in EVERY}) == len(EVERY)
    assert Estimator().name == read_estimator("money").name == "basic"
    assert Estimator(True, True, "bc-divat").name == "ac+ef+bc-divat"
    assert Estimator(aivat=True).name == "aivat"


def test_estimators_of_the_tables() -> None:
    """Johanson 2016, tables 7.1 and 7.3, and AIVAT."""
    full = ["basic", "divat", "bc-divat", "ef", "ac", "ac+ef", "ac+bc-divat", "ac+ef+divat", "ac+ef+bc-divat", "aivat"]
    assert [one.name for one in FULL] == full
    assert [one.name for one in PARTIAL] == ["basic", "divat", "bc-divat", "ef", "ac", "ac+bc-divat"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("basic", ["basic"]),
        ("ac, ef", ["basic", "ac", "ef"]),
        ("ef+ac,basic,ac+ef", ["basic", "ac+ef"]),
        ("all", [one.name for one in PARTIAL]),
        ("aivat,all", ["basic", "aivat", *(one.name for one in PARTIAL[1:])]),
        (["ac", Estimator(aivat=True)], ["basic", "ac", "aivat"]),
        ([], ["basic"]),
    ],
)
def test_lists_of_estimators_start_with_basic_and_repeat_none(words: Any, names: list[str]) -> None:
    assert [one.name for one in read_estimators(words, PARTIAL)] == names


def test_all_may_be_written_with_spaces_and_capitals() -> None:
    assert (
        read_estimators("ac, all", PARTIAL) == read_estimators("ac,ALL", PARTIAL) == read_estimators("ac,all", PARTIAL)
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no estimator ''"),
        ("ac+", "no estimator 'ac\\+'"),
        ("divatt", "divat"),
        ("ac ef", "parts are joined by"),
        ("ac+ac", "each part once"),
        ("divat+bc-divat", "divat or bc-divat"),
        ("basic+ac", "basic alone"),
        ("money+ac", "basic alone"),
        ("aivat+ac", "aivat has no other parts"),
        ("aivat+divat", "aivat has no other parts"),
    ],
)
def test_words_that_are_no_estimator(text: str, words: str) -> None:
    with pytest.raises(GameError, match=words):
        read_estimator(text)
    with pytest.raises(GameError, match=words):
        read_estimators(f"basic,{text}", FULL)


def test_estimators_with_parts_that_do_not_fit() -> None:
    with pytest.raises(GameError, match="'luck'"):
        Estimator(values="luck")
    with pytest.raises(GameError, match="aivat"):
        Estimator(early_folds=True, aivat=True)


# What estimates of compiled games refuse -------------------------------------------------------------------------


@pytest.mark.parametrize("player", [-1, 2])
def test_a_player_out_of_range(player: int) -> None:
    with pytest.raises(GameError, match=f"players are 0 to 1; got {player}"):
        TreeEstimates(TREE, player, UNIFORM)


@pytest.mark.parametrize("table", [np.ones(ENTRIES - 1), np.ones((ENTRIES, 1)), 0.5])
def test_strategies_of_the_wrong_shape(table: Any) -> None:
    for arguments in ((table,), (UNIFORM, table)):
        with pytest.raises(GameError, match="has 24 probabilities"):
            TreeEstimates(TREE, 0, *arguments)
    estimates = TreeEstimates(TREE, 0, UNIFORM)
    for wrong in (estimates.truth, lambda given: estimates.expected(estimates.winnings, given)):
        with pytest.raises(GameError, match="has 24 probabilities"):
            wrong(table)
    with pytest.raises(GameError, match="has 24 probabilities"):
        estimates.aivat(np.zeros(HISTORIES), {1: table})


def test_strategies_of_another_game() -> None:
    with pytest.raises(cp.CounterplayError, match="leduc"):
        TreeEstimates(TREE, 0, TabularStrategy.uniform("leduc"))


def test_observations_of_another_number() -> None:
    with pytest.raises(GameError, match="30 terminal histories; got 29"):
        TreeEstimates(TREE, 0, UNIFORM, observed=range(29))


@pytest.mark.parametrize("name", ["divat", "ac+bc-divat", "ef+divat", "aivat"])
def test_values_are_missing(name: str) -> None:
    with pytest.raises(GameError, match="values"):
        TreeEstimates(TREE, 0, UNIFORM).estimate(read_estimator(name))


@pytest.mark.parametrize("shape", [(), (1,), (HISTORIES - 1,), (HISTORIES, 1)])
@pytest.mark.parametrize("name", ["divat", "aivat"])
def test_values_of_the_wrong_shape(shape: tuple[int, ...], name: str) -> None:
    with pytest.raises(GameError, match="values"):
        TreeEstimates(TREE, 0, UNIFORM).estimate(read_estimator(name), np.zeros(shape))


def test_aivat_needs_full_information() -> None:
    estimates = TreeEstimates(TREE, 0, UNIFORM, observed=range(30))
    with pytest.raises(GameError, match="all cards known"):
        estimates.estimate(read_estimator("aivat"), np.zeros(HISTORIES))


def test_aivat_is_of_the_strategy_that_was_played() -> None:
    other = TabularStrategy.random(TREE, 1)
    with pytest.raises(GameError, match="aivat is for hands of the strategy in question"):
        TreeEstimates(TREE, 0, UNIFORM, other).aivat(np.zeros(HISTORIES))
    TreeEstimates(TREE, 0, UNIFORM, UNIFORM.for_tree(TREE).copy()).aivat(np.zeros(HISTORIES))
