"""Figure A.1 of Čermák 2018: CFR and fictitious play miss the maxmin value where a player forgets.

In the game of figure 3.5 player 1 forgets the first of two own choices (A-loss recall).  The maxmin value is -1.  The
average strategies are measured by their value against player 2's best response.
"""

from __future__ import annotations

from counterplay.evaluation import best_response
from counterplay.experiments.regret_curves import checkpoints
from counterplay.experiments.shared.experiment import Curves, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.solvers import Solver, make_solver


def worst_cases(solver: Solver, points: list[int]) -> list[float]:
    """What the solver's strategy guarantees player 1 after each number of iterations."""
    worst = []
    for point in points:
        solver.step(point - solver.iterations)
        worst.append(-best_response(solver.profile(), 1, solver.tree).value)
    return worst


def run(quick: bool = False, iterations: int | None = None, x: float = 10.0) -> Experiment:
    """Run both learners and measure their averages."""
    last = iterations or (1_000 if quick else 100_000)
    tree = open_game(f"toy_failing_learners(x={x})", "history")
    points = checkpoints(last)
    late = [place for place, point in enumerate(points) if point > 100]
    published = {"cfr": "settles at -5", "fictitious-play": "does not converge"}
    curves: Curves = {}
    with keeping_rows():
        for name in published:
            curves[name] = ([*map(float, points)], worst_cases(make_solver(tree, name), points))
    return Experiment(
        title="What player 1's average strategy is worth in the worst case",
        source="Čermák 2018, figure A.1",
        columns=("learner", "published", "ours at the end", "least after 100", "most after 100", "maxmin value"),
        rows=tuple(
            (name, published[name], worst[-1], *_range([worst[place] for place in late]), -1.0)
            for name, (_, worst) in curves.items()
        ),
        notes=("The source calls -5 an exploitability; it is the value of player 1's strategy in the worst case.",),
        curves=curves,
    )


def _range(values: list[float]) -> tuple[float | None, float | None]:
    return (min(values), max(values)) if values else (None, None)
