"""Predictions of solves from sizes and rates, by numbers that are easily checked by hand, and from measured rates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterplay.errors import SolverError
from counterplay.forms import poker_definition
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.runs.solve_planning import checks, plan_solve
from counterplay.solvers.cfr import config_with
from counterplay.solvers.streamed.block_plan import BlockPlan
from counterplay.solvers.streamed.block_tables import TableTypes
from counterplay.solvers.streamed.block_worker import BlockWorker
from counterplay.solvers.streamed.measured_rates import TimedStore, measure_rates, rate_game, sample_blocks
from counterplay.solvers.streamed.solve_plan import PUBLISHED, Rates, Resources, SolvePlan
from counterplay.solvers.streamed.streamed_cfr import StreamedSolver
from counterplay.solvers.streamed.subgame_sizes import Cut, SubgameSizes, subgame_sizes
from counterplay.solvers.streamed.workers import LocalWorkers

SIZES = SubgameSizes(
    name="toy", infosets=400_000, entries=(520_000, 480_000), trunk_entries=(0, 0), states=(2_000, 1_000), links=5,
    first_deals=20, start_hands=10, first_hands=200, cut=Cut(100, (5_000, 4_000)), later=None, tree_bytes=7_000_000,
)  # fmt: skip
RATES = Rates("toy", 1, 1, walk=4e-6, check=2e-6, write=1e-6, read=0.5e-6, stored=2.0, disk=1e6, overhead=0.5, start=3)
TWO_TABLES = TableTypes(np.dtype(np.int16), np.dtype(np.float32), True, False)


def toy(iterations: int = 10, types: TableTypes = TWO_TABLES, rates: Rates = RATES, **given: Any) -> SolvePlan:
    return SolvePlan(SIZES, types, rates, Resources(**given), iterations, 4, 1_000_000, 10_000)


def test_one_core() -> None:
    """A million entries, of which 2 numbers are written and 3 are read: 4 + 2 * 1 + 3 * 0.5 seconds."""
    plan = toy(cache=10**9)
    assert plan.iteration_cpu == pytest.approx(7.5 + 0.5)
    assert plan.check_cpu == pytest.approx(2 + 0.5)
    assert plan.cpu == plan.seconds == pytest.approx(3 + 10 * 8 + 4 * 2.5)
    assert (plan.network_traffic, plan.disk_seconds, plan.idle) == (0, 0, 0)


def test_the_disk_is_slower_where_its_files_do_not_stay_in_memory() -> None:
    """Two megabytes of tables, of which 2 of 2 parts are written and 3 read, at a megabyte per second."""
    plan = toy()
    assert plan.stored == 2e6
    assert plan.disk_traffic == plan.disk_seconds * 1e6 == 5e6
    assert plan.iteration_seconds == pytest.approx(7.5 + 0.5)
    assert toy(cores=4).iteration_seconds == pytest.approx(5 + 0.5)
    assert toy(cores=4, cache=8_000_000).iteration_seconds == pytest.approx(7.5 / 4 + 0.5)


def test_many_machines() -> None:
    """100 blocks: 25 on each of 4 machines, 5 on each core."""
    plan = toy(nodes=4, cores=5, network=36_800)
    assert (plan.blocks, plan.turns, plan.idle) == (100, 5, 0)
    assert plan.core_seconds == pytest.approx(7.5 * 5 / 100)
    assert plan.disk_seconds == pytest.approx(1.25)  # a quarter of the five megabytes
    # per pass, to each: 2 * 5 * 10 reaches and 4 * 100 generations; from all: 5 * 200 values
    assert plan.network_traffic == 2 * (4 * (100 * 4 + 400 * 8) + 1000 * 4) == 36_800
    assert plan.iteration_seconds == pytest.approx(1.25 + 0.5 + 1)
    uneven = toy(nodes=3, cores=8)  # 34 blocks on the fullest machine, and 5 on its busiest core
    assert uneven.turns == 5
    assert uneven.idle == pytest.approx(1 / 6)
    assert uneven.node_disk == pytest.approx(uneven.disk * 0.34)
    assert uneven.core_years == pytest.approx(uneven.seconds * 24 / (365.25 * 86400))


def test_tables_on_disk() -> None:
    assert toy().ratio == 4  # of two tables of 4-byte floats
    assert toy(types=TWO_TABLES._replace(averaged=False), rates=RATES._replace(stored=1)).ratio == 4
    assert (toy().copies, toy().disk) == (4, 8e6)
    slow = toy(rates=RATES._replace(walk=1e-4))  # each iteration is saved, so the newest state is that of a checkpoint
    assert (slow.copies, slow.disk) == (3, 6e6)


def test_memory() -> None:
    """A block has a hundredth of everything: 5,200 entries of 6 bytes, 20 states of 12, 10 values, one subgame."""
    room = 5_200 * 6 + 20 * 12 + 10 * 4 + 1
    coding = 2 * 3 * 5_200 * 4
    assert toy(cores=1).node_memory == 8_000_000 + 3 * room + coding
    assert toy(cores=4).node_memory == 8_000_000 + 6 * room + 4 * coding
    assert toy().driver_memory == toy().node_memory
    assert toy(nodes=2).driver_memory == 8_000_000 + 1_000 * 4


def test_what_is_not_met_and_what_would_be_enough() -> None:
    assert toy(nodes=4, disk=2_000_000, memory=10_000_000).shortages() == []
    (short,) = toy(nodes=4, disk=1_900_000).shortages()
    assert (short.what, short.needed, short.given) == ("disk", 2e6, 1_900_000)
    assert "1.9 MiB on each node would be enough, or 5 nodes like these" in short.advice  # 23 blocks each
    assert toy(nodes=5, disk=1_900_000).shortages() == []
    assert "or" not in toy(disk=70_000).shortages()[0].advice.split("enough")[1]  # not even one block
    (short,) = toy(cores=8, memory=8_600_000).shortages()
    assert short.what == "memory"
    cores = int(short.advice.split(", or ")[1].split()[0])
    assert toy(cores=cores).node_memory <= 8_600_000 < toy(cores=cores + 1).node_memory
    (short,) = toy(cores=8, memory=8_000_000).shortages()
    assert short.advice.endswith("if one of its cores worked")
    assert [one.what for one in toy(memory=1, disk=1).shortages()] == ["memory", "disk"]


def test_memory_is_that_of_the_solver() -> None:
    """Counting finds blocks about as large as those that are made."""
    rules = GameDefinition(
        limit=True, players=2, blinds=(10, 5), suits=4, ranks=4, hole_cards=2, rounds=2, raise_sizes=(10, 20),
        max_raises=(2, 2), first_players=(1, 0), board_cards=(0, 3),
    )  # fmt: skip
    tree, sizes = build_public_tree(rules), subgame_sizes(rules, "small")
    for entries in (1, 10_000, 40_000):
        made = BlockPlan(tree, entries)
        plan = SolvePlan(sizes, TWO_TABLES, RATES, Resources(cores=2), 1, 1, 0, entries)
        assert plan.blocks == pytest.approx(made.num_blocks, rel=0.1)
        exact = BlockWorker.memory_bytes(made.largest, TWO_TABLES, 2)
        assert plan.node_memory - sizes.tree_bytes == pytest.approx(
            exact, rel=0.1, abs=3 * 4 * sum(sizes.trunk_entries)
        )


def test_the_published_solve() -> None:
    """Johanson 2016, section 9.4: 4,800 cores for 68.5 days are 900 core-years, 10.9 TB a thirteenth of the regrets."""
    plan = plan_solve("holdem_limit_2p", Resources(200, 24), rates=RATES)
    assert plan.iterations == 1579
    assert plan.published is PUBLISHED
    assert PUBLISHED.days * PUBLISHED.nodes * PUBLISHED.cores / 365.25 == pytest.approx(PUBLISHED.core_years, rel=0.001)
    assert plan.sizes.float_bytes / PUBLISHED.disk == pytest.approx(PUBLISHED.ratio, rel=0.02)
    assert plan.sizes.later is not None
    assert plan.sizes.later.subgames == PUBLISHED.subgames
    assert plan.types.kind == np.int16
    assert plan_solve("holdem_limit_2p(ranks=6)", iterations=5, rates=RATES).published is None


def test_what_cannot_be_planned() -> None:
    with pytest.raises(SolverError, match="say how many iterations of leduc_limit_2p are planned"):
        plan_solve("leduc_limit_2p", rates=RATES)
    with pytest.raises(SolverError, match="iterations must be an integer, at least 1; got 0"):
        plan_solve("leduc_limit_2p", iterations=0, rates=RATES)
    with pytest.raises(SolverError, match="cores must be an integer, at least 1; got 0"):
        plan_solve("leduc_limit_2p", Resources(cores=0), iterations=1, rates=RATES)
    with pytest.raises(SolverError, match=r"tables on disk are for .*; got external-sampling"):
        plan_solve("leduc_limit_2p", algorithm="external-sampling", iterations=1, rates=RATES)


def test_checks_are_those_of_a_run(tmp_path: Path) -> None:
    """Measured at 0 and on the schedule; the last measurement counts as two, as it finds values as well."""
    from counterplay.runtime.pacing import Until

    solver = StreamedSolver("leduc_limit_2p", config_with("cfr+", {}), "cfr+")
    solver.attach(tmp_path / "run")
    try:
        solver.run(Until(iterations=40))
    finally:
        solver.close()
    assert checks(40) == len(solver.curve) + 1


def test_rates_are_measured_on_a_game_that_fits() -> None:
    small = poker_definition("leduc_limit_2p")
    assert rate_game(small) is small
    limit = rate_game(poker_definition("holdem_limit_2p"))
    assert (limit.rounds, limit.board_cards, limit.max_raises) == (2, (0, 3), (3, 4))
    assert rate_game(poker_definition("royal_holdem")).rounds == 3  # one of its subgames has 60 million entries


def test_measured_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks are walked: an iteration writes regrets and averages of all entries, and reads the regrets twice."""
    seen: list[dict[str, int]] = []
    clear = TimedStore.clear

    def noted(self: TimedStore) -> None:
        seen.append(dict(getattr(self, "numbers", {})))
        clear(self)

    monkeypatch.setattr(TimedStore, "clear", noted)
    monkeypatch.setattr("counterplay.solvers.streamed.measured_rates.DISK_BYTES", 1 << 16)
    rates = measure_rates(
        poker_definition("leduc_limit_2p"), "leduc_limit_2p", config_with("cfr+", {}), "float64", seconds=0
    )
    assert (rates.game, rates.entries, rates.iterations) == ("leduc_limit_2p", 1_050, 3)
    assert seen[2] == {"write": 3 * 2 * 1_050, "read": 3 * 3 * 1_050}
    assert min(rates.write, rates.read, rates.stored, rates.disk) > 0


def test_a_sample_of_blocks(tmp_path: Path) -> None:
    """Blocks outside the sample are left as they are, and those in it cost what the game would cost."""
    tree = build_public_tree(poker_definition("leduc_limit_2p"))
    plan = BlockPlan(tree, 100)
    assert sample_blocks(plan, 10**9) == list(range(plan.num_blocks))
    assert sample_blocks(plan, 1) == [plan.num_blocks // 2]
    chosen = sample_blocks(plan, 300)
    assert 2 <= len(chosen) < plan.num_blocks

    class Small(StreamedSolver):
        block_entries = 100

    solver = Small(tree, config_with("cfr+", {}), "cfr+")
    solver.attach(tmp_path / "run")
    try:
        assert isinstance(solver.workers, LocalWorkers)
        solver.workers.blocks = chosen
        solver.step(3)
        written = solver.tables()["generations"].any(axis=(1, 2))
        assert np.flatnonzero(written).tolist() == chosen
    finally:
        solver.close()
