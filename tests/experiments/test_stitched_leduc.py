"""Stitched strategies in Leduc hold'em: sizes as published, what they win, and that a stop changes no bit."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import CounterplayError
from counterplay.evaluation import evaluate
from counterplay.experiments import run_experiment, stitched_sizes
from counterplay.experiments.shared import stitching
from counterplay.experiments.shared.experiment import noting_stops
from counterplay.experiments.shared.stitching import (
    Job,
    Row,
    Setting,
    earnings,
    game_of,
    job_size,
    open_leduc,
    row_size,
    solve_jobs,
)
from counterplay.experiments.stitched_leduc import PUBLISHED
from counterplay.experiments.stitched_sizes import sizes


def test_sizes_of_table_7_1() -> None:
    setting = Setting(2)
    assert {row: row_size(setting, row) for row in setting.rows()} == {
        row: amounts[0] for (players, row), amounts in PUBLISHED.items() if players == 2
    }


def test_sizes_are_those_of_the_games_that_are_solved() -> None:
    setting = Setting(2)
    uniform = cp.TabularStrategy.uniform(open_leduc(2).real).table
    for jobs in setting.jobs(setting.rows()):
        for job in jobs[::5]:
            assert job_size(setting, job) == game_of(setting, job, uniform).tree.num_infosets


def test_sizes_of_table_7_2() -> None:
    """All but grafts in coarse bases, which have 3,021 and 1,992 information sets by the rules."""
    setting = Setting(3)
    ours = {row: row_size(setting, row) for row in setting.rows()}
    published = {row: amounts[0] for (players, row), amounts in PUBLISHED.items() if players == 3}
    differ = {row: size for row, size in ours.items() if size != published[row]}
    assert differ == {
        Row(base, "Grafted", symmetric): 3021 if symmetric else 1992
        for base in ("JQ-K", "J-QK") for symmetric in (True, False)
    }  # fmt: skip


def test_sizes_of_table_7_3() -> None:
    """In millions, rounded: no run is above the published limits but one, and the bases have their published sizes."""
    found = {(players, strategy, parts, first): sizes(players, strategy, parts, first, second)
             for players, strategy, parts, first, second in stitched_sizes.PUBLISHED}  # fmt: skip
    assert found[3, "Base", "", "IR16/IR16/IR16/16"][0] == 155_388_896
    assert found[3, "Base", "", "IR169/IR16/IR16/16"][0] == 155_402_666
    assert found[2, "Base", "", "8/8/8/8"][0] == 23_551_424
    millions = [(round(first / 1e6, 2), None if second is None else round(second / 1e6, 2))
                for first, second in found.values()]  # fmt: skip
    assert millions == [
        (23.55, None), (22.21, 22.24), (22.87, 22.85), (22.87, 22.85), (27.03, 22.92), (27.03, 22.92), (22.14, 23.02),
        (22.14, 23.02), (22.28, 23.11), (22.28, 23.11), (155.39, None), (155.40, None), (155.34, 137.57),
        (160.89, 158.04), (158.70, 161.49), (157.74, 160.42), (161.25, 159.51), (150.88, 154.28), (160.37, 159.29),
        (161.67, 158.38), (158.37, 158.92),
    ]  # fmt: skip
    over = [key for key, pair in found.items() for size in pair if size and size > stitched_sizes.LIMITS[key[0]]]
    assert over == [(2, "Grafted", "cc/r", "15/15/14/14"), (2, "Grafted", "cc/cr", "15/15/14/14")]


def test_quick_table() -> None:
    found = run_experiment("stitched-leduc", scale="quick", iterations=1, bases="null,JQ-K", workers=2)
    assert len(found.rows) == 13
    assert all(row[3] == row[4] for row in found.rows)
    assert sum("yes" in note for note in found.notes) == 1


def test_earnings_are_those_of_all_matches() -> None:
    tree = open_leduc(2).real
    rows = [Row("null", "Base"), Row("JQ-K", "Base"), Row("J-QK", "Base"), Row("J-QK", "Dynamic")]
    tables = [cp.TabularStrategy.random(tree, seed).table for seed in range(4)]
    first = np.repeat(tree.infoset_player == 0, np.diff(tree.infoset_offset))

    def won(own: np.ndarray, other: np.ndarray) -> float:
        ahead = cp.TabularStrategy.from_tree(tree, np.where(first, own, other))
        behind = cp.TabularStrategy.from_tree(tree, np.where(first, other, own))
        return (evaluate(ahead, tree).value[0] + evaluate(behind, tree).value[1]) / 2

    for number, (row, amount) in enumerate(zip(rows, earnings(tree, rows, tables), strict=True)):
        others = [won(tables[number], table) for at, table in zip(rows, tables, strict=True) if at.base != row.base]
        assert amount == pytest.approx(np.mean(others), abs=1e-12)


def test_the_same_bits_after_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped in the middle of a job, and again between a job and its record: checkpoints stay until then."""
    setting, rows = Setting(2, 60_000), [Row("JQ-K", "Static.Preflop")]
    whole = solve_jobs(setting, rows, tmp_path / "whole", 1)
    real, stopped = stitching.solve_job, []

    def breaking(*args: object) -> object:
        job: Job = args[1]  # type: ignore[assignment]
        found = real(*args)  # type: ignore[arg-type]
        if job.part == "b" and not stopped:
            stopped.append(job)
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(stitching, "solve_job", breaking)
    with noting_stops() as stops:
        solve_jobs(setting, rows, tmp_path / "halves", 1)
    assert stops
    assert list((tmp_path / "halves").glob("*.checkpoint"))
    flag = threading.Event()
    flag.set()
    with pytest.raises(KeyboardInterrupt):
        real(setting, Job("JQ-K", "kb"), whole[Job("JQ-K")], tmp_path / "halves" / "parts-1.checkpoint", 1, flag)
    again = solve_jobs(setting, rows, tmp_path / "halves", 1)
    assert not list((tmp_path / "halves").glob("*.checkpoint"))
    assert again.keys() == whole.keys()
    for job, table in whole.items():
        np.testing.assert_array_equal(again[job], table)


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(CounterplayError, match="some of null,JQ-K,J-QK"):
        run_experiment("stitched-leduc", bases="QK")
    with pytest.raises(CounterplayError, match="of 2 and of 3 players"):
        run_experiment("stitched-leduc", players=4)
    solve_jobs(Setting(2, 100), [Row("JQ-K", "Base")], tmp_path, 1)
    with pytest.raises(CounterplayError, match="another folder"):
        solve_jobs(Setting(2, 200), [Row("JQ-K", "Base")], tmp_path, 1)
