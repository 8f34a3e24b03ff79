"""counterplay itself: CFR+, evaluation, compiling, and signatures of the kernels."""

from __future__ import annotations

import math

import counterplay
from counterplay.solvers import CFR_PRESETS, MCCFR_PRESETS, make_solver
from counterplay.solvers.cfr import config_with
from counterplay.tree.history.sizes import tree_bytes

SPECS = {"kuhn": "kuhn", "leduc": "leduc(suited=true)"}
"""OpenSpiel's Leduc shows suits: 936 information sets."""

COMPILED = "leduc(ranks=12,suited=true)"
SIGNED = ("leduc", 20)
"""Few iterations: a difference in the last bit grows with every iteration and would look like another algorithm."""

SAME_AVERAGE = config_with("cfr+", {"delay": 0})
"""Counts the first iteration in the average, as the others do, and as signatures always did."""


class OurRun:
    """CFR+ on one game; all iterations of a request in one kernel call."""

    def __init__(self, tree: counterplay.GameTree) -> None:
        self.solver = counterplay.CfrSolver(tree, SAME_AVERAGE, "cfr+")

    def iterate(self, iterations: int) -> None:
        self.solver.step(iterations)

    def exploitability(self) -> float:
        return self.solver.measure().exploitability


class Ours:
    """counterplay; the tree of a game, once compiled, is kept for ``run_until``."""

    name = "counterplay"
    tolerance = 0.0

    def __init__(self) -> None:
        self.trees: dict[str, counterplay.GameTree] = {}

    def start(self, game: str) -> OurRun:
        self.trees[game] = counterplay.compile_game(SPECS[game])
        return OurRun(self.trees[game])

    def run_until(self, game: str, goal: float, times: int = 1) -> int:
        """Solve to a goal, measuring on the way as any user's run does, many times; the number of iterations."""
        for _ in range(times):
            solver = counterplay.CfrSolver(self.trees[game], SAME_AVERAGE, "cfr+")
            result = solver.run(counterplay.Until(exploitability=goal))
        return result.iterations

    def profile(self, game: str, iterations: int) -> counterplay.TabularStrategy:
        """The average profile after some iterations."""
        run = self.start(game)
        run.iterate(iterations)
        return run.solver.profile()

    def evaluate(self, game: str, profile: counterplay.TabularStrategy, times: int) -> float:
        """Measure a profile many times; its exploitability."""
        for _ in range(times):
            measured = counterplay.evaluate(profile, self.trees[game])
        return measured.exploitability


def compile_for_solving() -> None:
    """Compile, and make the sequence form that solvers work on."""
    tree = counterplay.compile_game(COMPILED)
    assert tree.sequences.num_sequences


def compiled_size() -> dict[str, float]:
    """Size of the game that compiling is measured on."""
    tree = counterplay.compile_game(COMPILED)
    return {
        "histories": tree.num_histories,
        "information_sets": tree.num_infosets,
        "tree_bytes_per_history": tree.nbytes / tree.num_histories,
        "bytes_per_history": tree_bytes(tree) / tree.num_histories,
    }


def signatures() -> dict[str, str]:
    """One number for each kernel: a fixed game, a fixed number of iterations, every bit of the result.

    A change that is meant to keep results keeps these; one that rounds differently changes their last digits.  They
    may differ between machines.
    """
    game, iterations = SIGNED
    tree = counterplay.compile_game(SPECS[game])
    signs = {}
    for name in CFR_PRESETS:
        solver = counterplay.CfrSolver(tree, SAME_AVERAGE if name == "cfr+" else name)
        solver.step(iterations)
        signs[f"iterate_cfr {name}, sum of regrets"] = math.fsum(solver.regret.tolist()).hex()
        signs[f"measure {name}, exploitability"] = solver.measure().exploitability.hex()
    for name in MCCFR_PRESETS:
        sampler = make_solver(tree, name)
        sampler.step(iterations)
        signs[f"walks of {name}, sum of absolute regrets"] = math.fsum(abs(sampler.regret.astype(float)).tolist()).hex()
        signs[f"walks of {name}, nodes"] = str(sampler.nodes)
    return signs
