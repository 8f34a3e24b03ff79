"""Strategy files and checkpoints: what is written is read back, in place of the old file, to the last bit."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import stat
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay
from counterplay import storage
from counterplay.errors import StrategyError
from counterplay.evaluation import evaluate
from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.runs import solve
from counterplay.runtime.pacing import Pace, Until
from counterplay.runtime.progress import Progress
from counterplay.solvers import CFR_PRESETS, CfrSolver
from counterplay.solvers.cfr import ProfileKind, config_with
from counterplay.storage import FORMAT_VERSION, read_container, write_container
from counterplay.strategy import Provenance, TabularStrategy
from counterplay.strategy.files import load_strategy
from counterplay.tree import GameTree, compile_game

TABLES = ("regret", "average", "prediction", "best", "_current", "_reach")
SAME_MEASUREMENT = 1e-12

compiled = cache(compile_game)


def assert_same_profile(one: TabularStrategy, other: TabularStrategy) -> None:
    """Two profiles agree on everything, probabilities to the last bit."""
    for field in dataclasses.fields(TabularStrategy):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, field.name
            np.testing.assert_array_equal(left, right, err_msg=field.name)
        else:
            assert left == right, field.name


# ---------------------------------------------------------------------------------------------- profiles


@st.composite
def named_games(draw: st.DrawFn) -> ExplicitGame:
    """Small trees with every kind of text in the names."""
    players = draw(st.integers(1, 3))
    names = st.lists(st.text(max_size=8), min_size=3, max_size=3, unique=True)
    generator = random.Random(draw(st.integers(0, 2**32)))
    sets = [(p, key, draw(names)[: generator.randint(1, 3)]) for p in range(players) for key in draw(names)]

    def node(depth: int) -> Node:
        if depth == 0 or generator.random() < 0.1:
            return terminal(*(generator.gauss() for _ in range(players)))
        if generator.random() < 0.2:
            return chance({side: (0.5, node(depth - 1)) for side in "lr"})
        player, key, actions = generator.choice(sets)
        return decision(player, key, {action: node(depth - 1) for action in actions})

    return ExplicitGame(node(draw(st.sampled_from((3, 4, 2, 1, 0)))), players=players, name=draw(st.text(max_size=8)))


json_values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
provenances = st.builds(
    Provenance,
    algorithm=st.text(max_size=8),
    settings=st.dictionaries(st.text(max_size=8), json_values, max_size=4),
    seed=st.none() | st.integers(0, 2**63),
    iterations=st.integers(0, 2**62),
    seconds=st.floats(0, 1e9),
)


@settings(max_examples=150, deadline=None)
@given(game=named_games(), provenance=provenances, seed=st.integers(0, 10**6))
def test_profiles_survive_in_a_file(
    tmp_path_factory: pytest.TempPathFactory, game: ExplicitGame, provenance: Provenance, seed: int
) -> None:
    tree = compile_game(game)
    probabilities = TabularStrategy.random(tree, seed).table
    profile = TabularStrategy.from_tree(tree, probabilities, provenance)
    path = tmp_path_factory.getbasetemp() / "random.strategy"
    profile.save(path)
    loaded = load_strategy(path)
    assert_same_profile(profile, loaded)
    assert list(loaded.infosets()) == list(profile.infosets())
    np.testing.assert_array_equal(loaded.for_tree(tree), probabilities)


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(ExplicitGame(terminal(1, -1)), id="over at once"),
        pytest.param(ExplicitGame(decision(0, "", {"": terminal(1)})), id="empty names"),
        pytest.param(ExplicitGame(decision(0, "é→\n\x00", {"\t": terminal(1), "🂡": terminal(2)})), id="odd names"),
        pytest.param(ExplicitGame(decision(0, "\ud800", {"\udfff": terminal(1)})), id="names beyond UTF-8"),
    ],
)
def test_corner_cases_survive_in_a_file(tmp_path: Path, game: ExplicitGame) -> None:
    profile = TabularStrategy.uniform(compile_game(game))
    profile.save(tmp_path / "x")
    assert_same_profile(profile, load_strategy(tmp_path / "x"))


def test_provenance_survives_in_a_file(tmp_path: Path) -> None:
    result = solve("kuhn", "dcfr", iterations=12, profile="best", gamma=1.5)
    result.profile.save(tmp_path / "x")
    origin = load_strategy(tmp_path / "x").provenance
    assert origin == result.profile.provenance
    assert (origin.algorithm, origin.iterations, origin.seed) == ("dcfr", 12, None)
    assert origin.seconds == result.seconds
    assert origin.version == counterplay.__version__
    assert origin.settings == dataclasses.asdict(config_with("dcfr", {"profile": "best", "gamma": 1.5}))


def test_large_files_are_mapped_and_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "MAPPED", 100)
    TabularStrategy.uniform(compiled("leduc")).save(tmp_path / "x")
    loaded = load_strategy(tmp_path / "x")
    for array in (loaded.table, loaded.infoset_offset, loaded.infoset_player):
        assert isinstance(array, np.memmap)
        assert not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        loaded.table[0] = 1.0


def test_arrays_start_where_processors_like_it(tmp_path: Path) -> None:
    TabularStrategy.uniform(compiled("kuhn")).save(tmp_path / "x")
    assert load_strategy(tmp_path / "x").table.flags.aligned


def test_verification_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "x"
    TabularStrategy.uniform(compiled("kuhn")).save(path)
    content = bytearray(path.read_bytes())
    at = content.index(np.float64(0.5).tobytes())
    content[at : at + 8] = np.float64(0.25).tobytes()
    path.write_bytes(content)
    with pytest.raises(StrategyError, match="its content does not match its checksum"):
        load_strategy(path)
    assert 0.25 in load_strategy(path, verify=False).table


def test_a_profile_of_another_game_is_refused() -> None:
    profile = TabularStrategy.uniform(compiled("kuhn"))
    with pytest.raises(StrategyError) as caught:
        evaluate(profile, compiled("leduc"))
    assert str(caught.value) == (
        "this profile was made for kuhn (12 information sets); it does not fit leduc (288 information sets)"
    )


def test_profiles_must_be_distributions() -> None:
    tree = compiled("kuhn")
    good = TabularStrategy.uniform(tree).table
    for values, message in (
        (good[1:], r"kuhn has 24 entries; got an array of shape \(23,\)"),
        (np.where(np.arange(24) == 2, 0.7, good), r"probabilities at 'J:kb' must .* sum to 1; got \[0\.7, 0\.5\]"),
        (np.where(np.arange(24) < 2, [-0.5] + [1.5] * 23, good), r"at 'J:' must be at least 0 .*\[-0\.5, 1\.5\]"),
        (np.where(np.arange(24) == 23, np.nan, good), r"probabilities at 'J:b' .* got \[0\.5, nan\]"),
    ):
        with pytest.raises(StrategyError, match=message):
            TabularStrategy.from_tree(tree, values)


def test_tables_by_name() -> None:
    profile = TabularStrategy.from_table(compiled("kuhn"), {(1, "K:b"): {"call": 1.0}})
    assert profile.probabilities(1, "K:b") == {"fold": 0.0, "call": 1.0}
    assert profile.probabilities(1, "Q:b") == {"fold": 0.5, "call": 0.5}
    with pytest.raises(StrategyError, match="the strategy of kuhn has no infoset 'A:b' of player 2"):
        profile.probabilities(1, "A:b")


# ---------------------------------------------------------------------------------------------- writing


def test_permissions_of_an_old_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x"
    profile = TabularStrategy.uniform(compiled("kuhn"))
    for mode in (0o600, 0o640, 0o664):
        profile.save(path)
        path.chmod(mode)
        profile.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)], ids=["022", "077"])
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path, mask: int, mode: int) -> None:
    old = os.umask(mask)
    try:
        TabularStrategy.uniform(compiled("kuhn")).save(tmp_path / "x")
        assert os.umask(mask) == mask  # left as it was
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode


def test_a_new_file_takes_the_place_of_the_old_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x"
    tree = compiled("kuhn")
    first, second = TabularStrategy.random(tree, 1), TabularStrategy.random(tree, 2)
    first.save(path)
    opened = load_strategy(path)
    node = path.stat().st_ino
    second.save(path)
    assert path.stat().st_ino != node
    assert_same_profile(opened, first)  # who has the old file open still reads it
    assert_same_profile(load_strategy(path), second)
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


def test_the_target_is_touched_only_when_all_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    order: list[str] = []

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            order.append(name)
            return function(*arguments)

        return call

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, noted(name, getattr(os, name)))
    TabularStrategy.uniform(compiled("kuhn")).save(path)
    assert order == ["fsync", "replace"]


def test_ctrl_c_while_writing_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    TabularStrategy.uniform(compiled("kuhn")).save(path)
    before = path.read_bytes()

    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        TabularStrategy.random(compiled("kuhn"), 1).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


def test_the_header_is_plain_json(tmp_path: Path) -> None:
    TabularStrategy.uniform(compiled("kuhn")).save(tmp_path / "x")
    content = (tmp_path / "x").read_bytes()
    table = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    metadata = table["__metadata__"]
    assert (metadata["counterplay"], metadata["format"]) == ("profile", str(FORMAT_VERSION))
    header = json.loads(metadata["header"])
    assert (header["game"], header["players"]) == ("kuhn", 2)
    assert table["probabilities"]["dtype"] == "F64"


@pytest.mark.parametrize("dtype", ["<f8", "<f4", "<i8", "<i4", "<i1", "<u1"])
def test_every_type_of_array_survives(tmp_path: Path, dtype: str) -> None:
    arrays = {"a": np.arange(6).astype(dtype).reshape(2, 3), "none": np.empty((0, 4), dtype)}
    write_container(tmp_path / "x", "test", {"k": 1}, arrays)
    header, read = read_container(tmp_path / "x", "test")
    assert header == {"k": 1}
    for name, array in arrays.items():
        assert (read[name].dtype, read[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(read[name], array)


# ---------------------------------------------------------------------------------------------- checkpoints


def solver_for(tree: GameTree, preset: str, **changes: Any) -> CfrSolver:
    return CfrSolver(tree, config_with(preset, changes), preset)


def assert_same_bits(one: CfrSolver, other: CfrSolver) -> None:
    """Two solvers are in the same state, to the last bit."""
    assert (one.iterations, one.config, one.algorithm) == (other.iterations, other.config, other.algorithm)
    assert one.best_exploitability == other.best_exploitability
    for name in TABLES:
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype, name
        assert left.tobytes() == right.tobytes(), name
    assert one.strategy().tobytes() == other.strategy().tobytes()


@pytest.mark.parametrize("profile", get_args(ProfileKind))
@pytest.mark.parametrize("storage", ["float32", "float64"])
@pytest.mark.parametrize("preset", CFR_PRESETS)
def test_resumed_runs_reach_the_same_bits(tmp_path: Path, preset: str, storage: str, profile: str) -> None:
    tree = compiled("leduc")
    straight = solver_for(tree, preset, storage=storage, profile=profile)
    result = straight.run(Until(iterations=20))
    first = solver_for(tree, preset, storage=storage, profile=profile)
    first.run(Until(iterations=7))
    first.save(tmp_path / "checkpoint")
    second = CfrSolver.resume(tmp_path / "checkpoint", tree)
    assert_same_bits(first, second)
    again = second.run(Until(iterations=20))
    assert_same_bits(straight, second)
    assert again.measurement == result.measurement
    assert [point.iterations for point in again.curve] == [point.iterations for point in result.curve]


@pytest.mark.parametrize("stop", [22, 32, 42, 55])
@pytest.mark.parametrize("preset", CFR_PRESETS)
def test_where_a_run_is_cut_does_not_matter_to_its_best_profile(tmp_path: Path, preset: str, stop: int) -> None:
    """Later on only some iterations are measured; stopping at another one must leave no trace."""
    tree = compiled("kuhn")
    straight = solver_for(tree, preset, profile="best")
    straight.run(Until(iterations=stop + 8))
    first = solver_for(tree, preset, profile="best")
    first.run(Until(iterations=stop))
    first.save(tmp_path / "checkpoint")
    second = CfrSolver.resume(tmp_path / "checkpoint", tree)
    second.run(Until(iterations=stop + 8))
    assert_same_bits(straight, second)


@pytest.mark.parametrize("profile", get_args(ProfileKind))
@pytest.mark.parametrize("preset", CFR_PRESETS)
def test_an_interrupted_run_reports_the_profile_that_it_returns(
    monkeypatch: pytest.MonkeyPatch, preset: str, profile: str
) -> None:
    monkeypatch.setattr(Pace, "record", lambda pace, iterations, seconds: None)
    tree = compiled("leduc")
    for stop in (22, 30, 32):

        def interrupt(progress: Progress, stop: int = stop) -> None:
            if progress.iterations == stop:
                raise KeyboardInterrupt

        result = solver_for(tree, preset, profile=profile).run(Until(iterations=100), interrupt)
        assert (result.status, result.iterations) == ("interrupted", stop)
        measured = evaluate(result.profile, tree)
        assert result.exploitability == pytest.approx(measured.exploitability, abs=SAME_MEASUREMENT)


def test_checkpoints_keep_settings_clock_and_curve(tmp_path: Path) -> None:
    solver = solver_for(compiled("kuhn"), "cfr+", delay=3, fallback="argmax-uniform")
    solver.run(Until(iterations=9))
    solver.save(tmp_path / "x")
    resumed = CfrSolver.resume(tmp_path / "x")  # the game is made by its name
    assert resumed.tree.name == "kuhn"
    assert (resumed.algorithm, resumed.config) == ("cfr+", solver.config)
    assert (resumed.seconds, resumed.cpu_seconds) == (solver.seconds, solver.cpu_seconds)
    assert resumed.curve == solver.curve
    assert len(resumed.curve) == 9
    assert resumed.run(Until(iterations=9)).iterations == 9  # limits count from the first iteration


def test_a_run_may_overwrite_the_checkpoint_that_it_came_from(tmp_path: Path) -> None:
    path = tmp_path / "x"
    solver = solver_for(compiled("kuhn"), "pcfr+")
    for iterations in (3, 5, 9):
        solver.run(Until(iterations=iterations))
        solver.save(path)
        solver = CfrSolver.resume(path)
    straight = solver_for(compiled("kuhn"), "pcfr+")
    straight.run(Until(iterations=9))
    assert_same_bits(straight, solver)


@pytest.mark.parametrize("other", ["kuhn", "leduc(suited=true)", "leduc(ranks=4)"])
def test_a_checkpoint_of_another_game_is_refused(tmp_path: Path, other: str) -> None:
    path = tmp_path / "x"
    solver_for(compiled("leduc"), "cfr").save(path)
    with pytest.raises(StrategyError) as caught:
        CfrSolver.resume(path, compiled(other))
    assert str(caught.value) == f"{path} is a checkpoint of leduc; it does not fit {other}"


@pytest.mark.parametrize("other", ["leduc(ante=2)", "leduc(bet=3)", "leduc(big_bet=9)"])
def test_a_checkpoint_of_a_game_with_other_payoffs_is_refused(tmp_path: Path, other: str) -> None:
    """The information sets are the same, but regrets of one game mean nothing in the other."""
    path = tmp_path / "x"
    solver_for(compiled("leduc"), "cfr").save(path)
    with pytest.raises(StrategyError, match="is a checkpoint of leduc; it does not fit leduc"):
        CfrSolver.resume(path, compiled(other))


def test_files_are_those_of_the_safetensors_library(tmp_path: Path) -> None:
    """It reads the arrays and the metadata that were written; empty arrays and every type have their place."""
    import safetensors
    import safetensors.numpy

    kinds = ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
    arrays: dict[str, np.ndarray] = {f"a_{kind}": np.arange(7).astype(kind) for kind in kinds}
    arrays |= {"é": np.ones((2, 3), np.float32)[:, ::2], "none": np.zeros((0, 4)), "one": np.array(5, np.int16)}
    write_container(tmp_path / "x", "profile", {"game": "Ks♠"}, arrays)
    found = safetensors.numpy.load((tmp_path / "x").read_bytes())
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], np.atleast_1d(array))
        assert found[name].dtype == array.dtype
    with safetensors.safe_open(tmp_path / "x", "np") as opened:
        assert json.loads(opened.metadata()["header"]) == {"game": "Ks♠"}
    header, again = read_container(tmp_path / "x", "profile")
    assert header == {"game": "Ks♠"}
    for name, array in arrays.items():
        np.testing.assert_array_equal(again[name], np.atleast_1d(array))
    with pytest.raises(StrategyError, match="arrays of complex128 such as 'c' have no place in files"):
        write_container(tmp_path / "y", "profile", {}, {"c": np.zeros(2, np.complex128)})


def test_writing_does_not_copy_the_arrays(tmp_path: Path) -> None:
    """Tables fill most of the memory that a process may use."""
    array = np.ones(3_000_000)
    tracemalloc.start()
    write_container(tmp_path / "x", "profile", {}, {"table": array})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < array.nbytes / 10
