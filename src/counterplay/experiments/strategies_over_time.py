"""Algorithms by CPU time, measured in the real game: exploitability, or what they win from a strong agent.

Johanson 2016, by the names that the option ``figures`` takes:

    figure3.4   an abstraction with imperfect recall solved by CS and by PCS, against a fixed strong agent
    figure4.3   CFR (PCS) and CFR-BR without abstraction in [2-4] hold'em
    figure4.9   CFR and CFR-BR with the same buckets against a fixed strong agent
    figure11.1  CFR-BR with trunks of one, two and three rounds

Every strategy is measured exactly.  Figure 4.3 has [2-4] hold'em with a smaller deck; the others limit hold'em with
four rounds, one raise in a round and fifteen cards, where the source has Texas hold'em ([4-2] hold'em in figure 11.1).
The strong agent is CFR+ without abstraction; the source has agents of the competition.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from counterplay.errors import CounterplayError
from counterplay.evaluation.lifted_buckets import HeadToHead, RealGame
from counterplay.experiments.shared.bucket_games import bucket_game, cards_of
from counterplay.experiments.shared.card_families import family_recipe
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.experiments.shared.real_game_checks import Kind, cfr_br, cfr_br_trunk
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.pacing import PacedSteps
from counterplay.solvers import make_solver
from counterplay.solvers.bucket_cfr import BucketCfrSolver
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.bucket_tables import BucketTables
from counterplay.solvers.cfr_br_trunk import TrunkSolver
from counterplay.solvers.public_tree_tables import PublicTreeTables, table_type
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.tree.public.public_tree import PublicTree

AnySolver = BucketSolver | BucketCfrSolver | TrunkSolver
Maker = Callable[[BucketGame, int], AnySolver]

POINTS = 6
"""Measurements of a run, each at twice the CPU seconds of the previous one."""

TWO_ROUNDS, FOUR_ROUNDS = (
    ("holdem_2_4(ranks=8,suits=4)", "holdem_2_4(ranks=4,suits=2)"),
    ("holdem_4_1(ranks=5,suits=3)", "holdem_4_1(ranks=5,suits=2)"),
)
"""The game of a full run and of a quick one."""


def _sampled(algorithm: str) -> Maker:
    return lambda game, threads: BucketSolver(game, algorithm)


def _trunk(rounds: int) -> Maker:
    return lambda game, threads: cfr_br_trunk(game, threads, rounds)


PCS, CS = _sampled("pcs-boards"), _sampled("chance-sampling")


@dataclasses.dataclass(frozen=True)
class Figure:
    """A published figure: its game, the buckets, algorithms by name, and whether the score is against an agent."""

    games: tuple[str, str]
    family: str  # empty: no abstraction
    solvers: Mapping[str, Maker]
    against: bool
    published: str


FIGURES = {
    "figure3.4": Figure(FOUR_ROUNDS, "EQ-KE-KO", {"CS": CS, "PCS": PCS}, True, "PCS wins more than CS at every time"),
    "figure4.3": Figure(
        TWO_ROUNDS, "", {"PCS": PCS, "CFR-BR": cfr_br, "CFR-BR, trunk 1": _trunk(1)}, False,
        "CFR is smooth and fastest; the average of CFR-BR is slower than its current strategy, which is noisy",
    ),
    "figure4.9": Figure(
        FOUR_ROUNDS, "EQ-KE-KO", {"CFR": PCS, "CFR-BR": _trunk(2)}, True, "CFR loses less than CFR-BR",
    ),
    "figure11.1": Figure(
        FOUR_ROUNDS, "EQ-KE-KO", {f"CFR-BR, trunk {rounds}": _trunk(rounds) for rounds in (1, 2, 3)}, False,
        "trunk 2 is better than trunk 1 at every time; trunk 3 is worse at first and equal at the end",
    ),
}  # fmt: skip


class Point(NamedTuple):
    """A run at a checkpoint: CPU seconds, iterations, and the scores of its average and of its current strategy."""

    cpu_seconds: float
    iterations: int
    average: float
    current: float | None


def run(
    quick: bool = False, figures: tuple[str, ...] = ("figure11.1",), game: str | None = None,
    seconds: float | None = None, iterations: int | None = None, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Run the algorithms of some figures for the same CPU time.

    Parameters
    ----------
    quick : bool
        Fewer cards, 1 CPU second for each run and 20 iterations of the agent instead of 240 and 200.
    figures : tuple of str
        Which, see above.
    game : str, optional
        Another game, with as many rounds.
    seconds : float, optional
        CPU seconds of each run.
    iterations : int, optional
        Iterations of CFR+ for the strong agent.
    threads : int
        For features, values, CFR-BR and the agent; samplers use one.
    """
    for name in figures:
        if name not in FIGURES:
            raise CounterplayError(f"figures are {', '.join(FIGURES)}; got {name!r}")
    limit, strong = seconds or (1.0 if quick else 240.0), iterations or (20 if quick else 200)
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {}
    said: list[str] = []
    agents: dict[str, Callable[[AnySolver, Kind], float]] = {}
    with keeping_rows():
        for name in figures:
            plan = FIGURES[name]
            found: dict[str, list[Point]] = {}
            tree = open_game(game or plan.games[quick], "public")
            text = family_recipe(plan.family, tree.name, 2 if quick else 4) if plan.family else "lossless/lossless"
            abstract = bucket_game(tree.name, cards_of(tree.name, text, threads=threads))
            if plan.against and tree.name not in agents:
                agents[tree.name] = _against(tree, strong, threads)
            score = agents[tree.name] if plan.against else _exploitability(abstract, tree, threads)
            for label, make in plan.solvers.items():
                make(abstract, threads).step(1)  # kernels are compiled before the clock starts
                found[label] = list(_follow(make(abstract, threads), limit, score))
                last = found[label][-1]
                rows.append((name, label, tree.name, abstract.num_infosets, *last))
                curves |= _curves(f"{name}, {label}", found[label])
            said += [f"{name}: {text}" for text in verdicts(plan, found)]
    return Experiment(
        title=f"Strategies after {limit:g} CPU seconds, mbb/g: exploitability, or won from a strong agent",
        source="Johanson 2016, " + ", ".join(figures),
        columns=("figure", "algorithm", "game", "information sets", "CPU s", "iterations", "average", "current"),
        rows=tuple(rows),
        notes=tuple(said),
        curves=curves,
        xlabel="CPU seconds",
    )  # fmt: skip


def _follow(solver: AnySolver, seconds: float, score: Callable[[AnySolver, Kind], float]) -> Iterator[Point]:
    """Run for some CPU seconds; the score of the average, and of the current strategy where there is one."""
    steps = PacedSteps(solver)
    for doubling in range(POINTS - 1, -1, -1):
        steps.advance("cpu_seconds", seconds / 2**doubling)
        current = None if isinstance(solver, BucketSolver) else score(solver, "last")
        yield Point(solver.cpu_seconds, solver.iterations, score(solver, "average"), current)


def _exploitability(game: BucketGame, tree: PublicTree, threads: int) -> Callable[[BucketTables, Kind], float]:
    real, unit = RealGame(game, tree, table_type(sum(tree.num_entries), "auto"), threads), 1000.0 / game.big_blind
    return lambda solver, kind: unit * real.measure(solver.strategy(kind), valued=False).exploitability


def _against(tree: PublicTree, iterations: int, threads: int) -> Callable[[BucketTables, Kind], float]:
    """What a strategy wins from a strong agent: CFR+ without abstraction."""
    agent = make_solver(tree, "cfr+", threads=threads)
    assert isinstance(agent, PublicTreeTables)
    agent.step(iterations)
    match = HeadToHead(tree, table_type(sum(tree.num_entries), "auto"), threads)
    strong, unit = match.player(agent.profile("average")), 1000.0 / (tree.big_blind or 1.0)

    def won(solver: BucketTables, kind: Kind) -> float:
        return unit * match.mean(match.player(BucketStrategy.of_game(solver.game, solver.strategy(kind))), strong)

    return won


def _curves(label: str, points: list[Point]) -> Curves:
    times = [point.cpu_seconds for point in points]
    found: Curves = {f"{label}, average": (times, [point.average for point in points])}
    current = [point.current for point in points if point.current is not None]
    return found | ({f"{label}, current": (times, current)} if current else {})


def verdicts(plan: Figure, found: Mapping[str, list[Point]]) -> Iterator[str]:
    """For each pair of algorithms: at how many checkpoints the later one is better; how often scores get worse."""
    better = operator.gt if plan.against else operator.lt
    names = list(found)
    for place, second in enumerate(names):
        for first in names[:place]:
            ahead = sum(better(two.average, one.average) for one, two in zip(found[first], found[second], strict=True))
            yield f"{second} is better than {first} at {ahead} of {POINTS} times."
    for name, points in found.items():
        current = [point.current for point in points if point.current is not None]
        if current:
            ahead = sum(better(point.current or 0.0, point.average) for point in points)
            worse = sum(better(before, after) for before, after in itertools.pairwise(current))
            yield (f"{name}: the current strategy is better than the average at {ahead} of {POINTS} times, and worse "
                   f"than before {worse} times.")  # fmt: skip
    yield f"Published: {plan.published}."
