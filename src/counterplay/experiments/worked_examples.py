"""What the sources state in numbers about the small games of their figures, computed again.

Figures that only illustrate a definition, or whose games are lost and not determined by the text, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from counterplay.errors import CounterplayError
from counterplay.experiments.shared import learning_examples as learning
from counterplay.experiments.shared import recall_examples as recalled
from counterplay.experiments.shared.example_lines import Line
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows

Examples = Mapping[str, Callable[[], Iterator[Line]]]

CHAPTERS: Mapping[str, tuple[str, Examples]] = {
    "gibson-2": ("Gibson 2014, chapter 2", {
        "figure 2.1": learning.matrix_game, "figure 2.2": learning.small_tree, "figure 2.3": learning.forgotten_choice,
        "figure 2.4": learning.order_of_removal, "figure 2.5": learning.coarse_correlated,
        "figure 2.6": learning.m_values, "figure 2.10": learning.graft,
    }),
    "gibson-3": ("Gibson 2014, chapter 3", {"figure 3.1": learning.three_player_kuhn}),
    "gibson-4": ("Gibson 2014, chapter 4", {
        "figure 4.1": learning.mismatching_pennies, "figure 4.3": learning.weakly_dominated,
    }),
    "gibson-6": ("Gibson 2014, chapter 6", {
        "figure 6.2a": learning.deadlock, "figure 6.2b": learning.forgotten_lever,
    }),
    "gibson-7": ("Gibson 2014, chapter 7", {"figure 7.1": learning.static_expert}),
    "gibson-a": ("Gibson 2014, appendix A", {"figure A.1": learning.worked_iterations}),
    "lanctot": ("Lanctot et al. 2012", {"figure 2": learning.deadlock}),
    "cermak-2": ("Čermák 2018, chapter 2", {"figure 2.1": recalled.no_equilibrium}),
    "cermak-3": ("Čermák 2018, chapter 3", {
        "figure 3.1": recalled.clauses, "figure 3.3": recalled.irrational,
        "figure 3.4": recalled.driver_and_best_response, "figure 3.5": recalled.learners,
    }),
    "cermak-4": ("Čermák 2018, chapter 4", {
        "figure 4.2": recalled.clauses_a_loss, "figure 4.3": recalled.clauses_equilibrium,
        "figure 4.5": recalled.wrong_default,
    }),
    "cermak-5": ("Čermák 2018, chapter 5", {
        "figure 5.1": recalled.first_steps_of_fpira, "figure 5.2": recalled.sampled_sets,
    }),
}  # fmt: skip
"""A short name for each chapter with examples, its title, and the examples by their figures."""


def run(quick: bool = False, chapter: str | None = None) -> Experiment:
    """Compute the examples; ``chapter`` such as ``gibson-2`` for one chapter, ``quick`` makes no difference."""
    if chapter is not None and chapter not in CHAPTERS:
        raise CounterplayError(f"chapters with examples are {', '.join(CHAPTERS)}; got {chapter!r}")
    rows: list[tuple[Cell, ...]] = []
    chosen = list(CHAPTERS) if chapter is None else [chapter]
    with keeping_rows():
        for name in chosen:
            title, examples = CHAPTERS[name]
            for figure, lines in examples.items():
                label = figure if chapter else f"{title.partition(',')[0]}, {figure}"
                found = [
                    (label, line.what, line.published, line.ours, "yes" if line.same else "no") for line in lines()
                ]
                rows += found
    return Experiment(
        title="Examples in numbers, as printed and computed again",
        source="; ".join(CHAPTERS[name][0] for name in chosen),
        columns=("figure", "what", "published", "ours", "same"),
        rows=tuple(rows),
        notes=("Same: up to the printed digits, or to the error of a search, 1e-6.",),
    )
