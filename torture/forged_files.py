"""Files that lie: every array of a file is replaced in turn, with a checksum that fits, and the file is used.

Kernels trust their indices, so a wrong one may kill the process: the work is done in a child process, which writes a
line before and after each case, and ``survey`` returns what the parent reads of them.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterplay as cp
from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.abstraction.infosets.abstraction import Abstraction
from counterplay.errors import CounterplayError
from counterplay.evaluation.bucket_pairs import BucketPairs, measure_buckets
from counterplay.forms import open_game
from counterplay.modelling import FrequencyModel, load_observations, model_table
from counterplay.runs import solve_flops
from counterplay.runtime.executors import SerialExecutor
from counterplay.runtime.jobs import JobList
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.streamed.block_store import BlockFile, BlockStore
from counterplay.storage import file_kind, read_container, write_container
from counterplay.strategy import load_strategy

Array = NDArray[Any]
UNCHANGED = "unchanged"
SECONDS = 60
"""How long a case may take before the child is killed."""


def forgeries(array: Array, seed: int) -> Iterator[tuple[str, Array]]:
    """An array with other content, type or shape."""
    rng = np.random.default_rng(seed)
    yield "shorter", array.reshape(-1)[:-1]
    yield "longer", np.append(array.reshape(-1), array.reshape(-1)[:1])
    yield (
        "float32" if array.dtype != np.float32 else "float64",
        array.astype(np.float32 if array.dtype != np.float32 else np.float64),
    )
    if not array.size:
        return
    yield "reversed", array.reshape(-1)[::-1].reshape(array.shape)
    yield "shuffled", rng.permutation(array.reshape(-1)).reshape(array.shape)
    if array.dtype == np.bool_:
        yield "wrong truth", np.full(array.shape, 255, np.uint8).view(np.bool_)
    elif array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        for name, value in (("smallest", info.min), ("-1", -1), ("0", 0), ("1", 1), ("largest", info.max)):
            if info.min <= value:
                yield name, np.full(array.shape, value, array.dtype)
        yield "random", rng.integers(info.min, info.max, array.shape, array.dtype, endpoint=True)
        for name, number in (("one too large", info.max), ("one negative", -1), ("one off", None)):
            other = array.copy().reshape(-1)
            place = int(rng.integers(len(other)))
            wanted = int(other[place]) + 1 if number is None else number
            if info.min <= wanted <= info.max:
                other[place] = wanted
                yield name, other.reshape(array.shape)
    else:
        for value in (np.nan, np.inf, -np.inf, -1.0, 1e300):
            with np.errstate(over="ignore"):
                yield str(value), np.full(array.shape, value).astype(array.dtype)


def changed_values(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """A value of JSON with one value inside it replaced or missing, in every way that counts."""
    for other in (None, True, -1, 0.5, 2**80, "x", [], {}, [[[]]]):
        if type(other) is not type(value) or other == -1:
            yield f"{place} is {other!r}", other
    keys = list(value)[:30] if isinstance(value, dict) else range(min(2, len(value))) if isinstance(value, list) else ()
    for key in keys:
        rest = dict(value) if isinstance(value, dict) else list(value)
        del rest[key]
        yield f"{place}.{key} is missing", rest
        if key in ("config", "settings"):  # ``Settings`` checks what is inside
            continue
        for name, inner in changed_values(value[key], f"{place}.{key}"):
            other = dict(value) if isinstance(value, dict) else list(value)
            other[key] = inner
            yield name, other


def cases(path: Path, headers: bool = False) -> Iterator[tuple[str, Any, dict[str, Array]]]:
    """Every array of a file with every forgery, and without the array; or every value of its header."""
    header, arrays = read_container(path, str(file_kind(path)))
    yield UNCHANGED, header, arrays
    if headers:
        for number, (name, forged) in enumerate(changed_values(header)):
            yield f"header{name} {number}", forged, arrays
        return
    for name, array in sorted(arrays.items()):
        yield f"{name} missing", header, {other: kept for other, kept in arrays.items() if other != name}
        for number, (change, replaced) in enumerate(forgeries(np.array(array), len(name))):
            yield f"{name} {change} {number}", header, {**arrays, name: replaced}


# ---------------------------------------------------------------------------------------------- using a file


def use(path: Path, work: dict[str, Any]) -> None:
    """Load a file of the kind ``work["kind"]`` and let kernels have its content."""
    kind = work["kind"]
    if kind == "checkpoint":
        with contextlib.closing(resume_solver(path, work.get("opened"))) as solver:
            solver.step(1)
            solver.measure()
            solver.profile()
    elif kind in ("profile", "abstract-profile"):
        strategy = load_strategy(path)
        cp.evaluate(strategy)
        for _ in zip(range(100), strategy.infosets(), strict=False):
            pass
    elif kind == "observations":
        seen = load_observations(path)
        model_table(FrequencyModel(seen), seen.form)
    elif kind == "abstraction":
        tree = work["opened"]
        Abstraction.load(path).apply(tree)
        cp.CfrSolver(Abstraction.load(path).apply(tree), "cfr+").step(2)
    elif kind == "card-abstraction":
        game = open_game(work["game"], "buckets", cards=[path])
        make_solver(game, "external-sampling").step(5)
    elif kind == "card-features":
        build_cards((3, 2), (1, 1), parse_recipe(work["recipe"], (3, 2), (1, 1)), cache=path.parent)
    elif kind == "evaluation":
        jobs = JobList(work["header"], 3, (2,), resume=path)
        jobs.path = None
        jobs.run(lambda number: np.zeros(2), SerialExecutor())
    elif kind == "block":
        tables = {name: np.zeros(size, of) for name, (size, of) in work["tables"].items()}
        BlockStore(path.parent).read(BlockFile(*work["file"]), tables)
    elif kind in ("flops", "solved board"):
        solve_flops(path.parent)
    else:
        game = open_game(work["game"], "buckets", cards=work["cards"])
        measure_buckets(game, BucketPairs.load(path, game), np.full(game.num_entries, 0.5))


def open_for(work: dict[str, Any]) -> None:
    """Open the game of a checkpoint or an abstraction once for all cases."""
    if work["kind"] in ("checkpoint", "abstraction") and work.get("cards") is None:
        work["opened"] = open_game(work["game"], work.get("form", "history"))


def run_cases(plan: list[dict[str, Any]], skip: int) -> None:
    """What the child does: a line before each case, and one after it."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    os.fsync = lambda _file: None  # nobody pulls the plug
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        for work in plan:
            source, target = Path(work["path"]), Path(folder) / Path(work["path"]).name
            work["kind"] = kind = str(file_kind(source))
            open_for(work)
            for case, header, arrays in cases(source, work.get("headers", False)):
                number += 1
                if number <= skip:
                    continue
                print(json.dumps({"number": number, "case": f"{work['name']}: {case}"}), flush=True)
                target.unlink(missing_ok=True)  # a new file is quicker than a replaced one
                write_container(target, kind, header, arrays)
                signal.alarm(SECONDS)
                print(json.dumps({"found": attempt(lambda: use(target, work))}), flush=True)  # noqa: B023
                signal.alarm(0)


def attempt(work: Callable[[], None]) -> str:
    """What comes of some work: ok, an error of the library in one line, or another error."""
    try:
        work()
    except CounterplayError as error:
        return f"refused: {error}" if "\n" not in str(error) else f"several lines: {error!r}"
    except BaseException as error:
        return f"wrong: {type(error).__name__}: {error}"
    return "ok"


def survey(plan: list[dict[str, Any]]) -> dict[str, str]:
    """What comes of every case; a child that dies is replaced by one that continues after the case that killed it."""
    results: dict[str, str] = {}
    skip = 0
    while True:
        child = subprocess.run(
            [sys.executable, "-m", "torture.forged_files", json.dumps(plan), str(skip)], capture_output=True, text=True
        )
        lines = [json.loads(line) for line in child.stdout.splitlines()]
        for before, after in itertools.pairwise(lines):
            if "case" in before:
                results[before["case"]] = after.get("found", "nothing")
        if child.returncode == 0:
            return results
        if not lines or "case" not in lines[-1]:
            raise AssertionError(f"the child ended with {child.returncode}: {child.stderr[-2000:]}")
        results[lines[-1]["case"]] = f"killed by signal {-child.returncode}"
        skip = lines[-1]["number"]


if __name__ == "__main__":
    run_cases(json.loads(sys.argv[1]), int(sys.argv[2]))
