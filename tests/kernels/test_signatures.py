"""What kernels compute on a fixed game, to the last digits, and for how many types each of them is compiled.

``signatures.json`` holds the signatures that the benchmark prints.  A change that is meant to keep results keeps them;
after one that is meant to round differently, write the new ones there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.ours import signatures

RECORDED: dict[str, str] = json.loads((Path(__file__).parent / "signatures.json").read_text("utf-8"))

RUNS = """
import json
from counterplay.kernels.cards.isomorphism import index_hands, orbit_sizes, unindex_hands
from counterplay.kernels.history.cfr import iterate_cfr
from counterplay.kernels.history.mccfr import iterate_sampled
from counterplay.kernels.history.passes import measure
from counterplay.kernels.history.pure_cfr import iterate_pure
from counterplay.kernels.public.public_cfr import iterate_public, walk_public
from counterplay.kernels.public.public_sampling import iterate_blocks
from counterplay.kernels.regret import match_regrets
from counterplay.poker.isomorphism import HandIndexer
from counterplay.solvers.registry import make_solver

for form, names in {
    "history": ("cfr", "cfr+", "dcfr", "pcfr+", "external-sampling", "outcome-sampling", "pure-cfr"),
    "public": ("cfr", "cfr+", "pcfr+", "cs", "pcs"),
}.items():
    for name in names:
        solver = make_solver("kuhn", name, form=form)
        solver.step(2)
        solver.step(3)
        solver.measure()
kernels = (iterate_cfr, match_regrets, measure, iterate_sampled, iterate_pure, iterate_public, walk_public)
for shape in ((1,), (2,), (2, 3), (2, 3, 1)):
    numbering = HandIndexer(shape)
    numbering.orbits(numbering.indices(numbering.hands([0, 1])))
kernels = (*kernels, iterate_blocks, index_hands, unindex_hands, orbit_sizes)
print(json.dumps({kernel.__name__: len(kernel.signatures) for kernel in kernels}))
"""

COMPILED_FOR = {
    "iterate_cfr": 1,
    "match_regrets": 1,
    "measure": 1,
    "iterate_sampled": 2,  # external sampling is compiled without the walks of the others
    "iterate_pure": 1,
    "iterate_public": 1,
    "walk_public": 1,
    "iterate_blocks": 1,
    "index_hands": 1,
    "unindex_hands": 1,
    "orbit_sizes": 1,
}
"""Types of arguments that Python calls each kernel with, in runs with the usual tables."""


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    return signatures()


def test_every_kernel_of_the_benchmark_has_a_signature(found: dict[str, str]) -> None:
    assert set(found) == set(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_kernels_compute_what_they_did(name: str, found: dict[str, str]) -> None:
    """Machines may differ in the last bits of powers; nodes are counted exactly."""
    if name.endswith("nodes"):
        assert found[name] == RECORDED[name]
    else:
        assert float.fromhex(found[name]) == pytest.approx(float.fromhex(RECORDED[name]), rel=1e-9, abs=1e-9)


def test_kernels_are_compiled_for_one_type_of_tables() -> None:
    """A second one would come from an accidental difference of layout, of readonly arrays, or of number types."""
    done = subprocess.run([sys.executable, "-c", RUNS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == COMPILED_FOR
