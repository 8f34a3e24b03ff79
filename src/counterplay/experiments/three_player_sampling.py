"""Pure CFR against external sampling in three-player limit hold'em, by matches after equal CPU time.

Gibson 2014, section 5.6, figure 5.7c: current profiles in an abstraction of 2.5 billion information sets, 48 processes
and four days, each played against pairs of agents of earlier competitions.  Here the abstraction is small (percentiles
of E[HS²], earlier buckets forgotten), a run takes a minute, and those agents are not available: the strategies of all
algorithms at all checkpoints play a round robin, a match for every three with all six seatings of each deal, and new
deals in every match.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

from counterplay.agents.match_game import open_match_game
from counterplay.agents.matches import MatchResult, match
from counterplay.agents.ranking import bankroll
from counterplay.errors import GameError, SolverError
from counterplay.experiments.shared.bucket_games import bucket_game, cards_of
from counterplay.experiments.shared.experiment import Cell, Curves, Experiment, keeping_rows
from counterplay.experiments.shared.paired_gains import paired_gain
from counterplay.forms import poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.pacing import PacedSteps
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.solvers.mccfr import mccfr_config
from counterplay.strategy.bucket_strategy import BucketStrategy

ENTRANTS = {
    "ES": "external-sampling", "Pure CFR": "pure-cfr", "AS": "average-strategy-sampling", "CS": "chance-sampling",
    "OS": "outcome-sampling", "probing": "probing",
}  # fmt: skip
"""The algorithms of the figure but public chance sampling, which is for two players here.  All play the current
strategy, and all but AS keep only regrets."""

RACED = ("ES", "Pure CFR")
"""Those that are raced unless others are named."""

PUBLISHED = {"Pure CFR": "level", "AS": "level", **dict.fromkeys(("CS", "OS", "probing"), "less efficient")}
"""Relative to ES; the text names the first two and ES as the most time-efficient."""

CHECKPOINTS = 4
"""Checkpoints of each run: at its end, at half of it, and so on."""

Matches = Mapping[tuple[int, ...], MatchResult]


def run(
    quick: bool = False, game: str = "holdem_limit_3p", cards: str | None = None, samplers: tuple[str, ...] = RACED,
    seconds: float | None = None, deals: int | None = None, seed: int = 0, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Solve, and play the round robin.

    Parameters
    ----------
    quick : bool
        5 CPU seconds a run and 2,000 deals a match instead of 60 and 20,000; making the game takes a minute anyway.
    game : str
        A poker game of three players.
    cards : str, optional
        The buckets, as for ``counterplay abstract``; two in each round by default.
    samplers : tuple of str
        Two or more of ES, Pure CFR, AS, CS, OS and probing; with two there are 56 matches, with three 220.
    seconds, deals, seed : optional
        CPU seconds of each run, deals of each match, seed of both.
    threads : int
        For the features of the hands, which take minutes the first time.
    """
    seconds = (5.0 if quick else 60.0) if seconds is None else float(seconds)
    deals = deals or (2_000 if quick else 20_000)
    if not seconds > 0.0:
        raise GameError(f"seconds must be above 0; got {seconds!r}")
    for label in samplers:
        if label not in ENTRANTS:
            raise SolverError(f"samplers are {', '.join(ENTRANTS)}; got {label!r}")
    if len(set(samplers)) < max(2, len(samplers)):
        raise SolverError(f"name two samplers or more, each once; got {', '.join(samplers)}")
    rules = poker_definition(game)
    if rules.players != 3:
        raise GameError(f"the round robin needs a game for three players; {game} has {rules.players} players")
    made = cards_of(game, cards or ",".join(["PS2"] * rules.rounds), "imperfect", threads)
    abstract = bucket_game(game, made)
    times = [seconds / 2**later for later in range(CHECKPOINTS - 1, -1, -1)]
    agents: list[BucketStrategy] = []
    held = {}
    for label in samplers:
        algorithm = ENTRANTS[label]
        solver = BucketSolver(abstract, mccfr_config(algorithm, {"profile": "last", "seed": seed}), algorithm)
        held[label] = solver.table_bytes
        solver.step(0)  # compiled before the clock starts
        steps = PacedSteps(solver)
        for target in times:
            steps.advance("cpu_seconds", target)
            agents.append(solver.profile(storage="uint8"))
        del solver, steps
    played = open_match_game(game)
    matches: dict[tuple[int, ...], MatchResult] = {}
    with keeping_rows():
        for number, trio in enumerate(itertools.combinations(range(len(agents)), 3)):
            found = match(played, [agents[agent] for agent in trio], deals, seed=1_000_000 * seed + number)
            if found.interrupted:
                raise KeyboardInterrupt
            matches[trio] = found
    return _results(abstract, agents, matches, held, times, deals)


def _results(
    game: BucketGame, agents: list[BucketStrategy], matches: Matches, held: Mapping[str, int], times: list[float],
    deals: int,
) -> Experiment:  # fmt: skip
    scores = {trio: [match.mbb(seat) for seat in range(3)] for trio, match in matches.items()}
    won = dict(bankroll(scores, range(len(agents))))
    rows: list[tuple[Cell, ...]] = []
    curves: Curves = {label: ([], []) for label in held}
    for number, spent in enumerate(times):
        equal = {label: number + CHECKPOINTS * place for place, label in enumerate(held)}
        pairs = itertools.combinations(equal.values(), 2)
        if not all(any({*pair} <= set(trio) for trio in matches) for pair in pairs):
            continue  # interrupted before they met
        for label, agent in equal.items():
            iterations = agents[agent].provenance.iterations
            rows.append((spent, label, iterations, held[label], None, won[agent].mean, won[agent].half))
            curves[label][0].append(spent)
            curves[label][1].append(won[agent].mean)
        first, *others = equal
        for label in others:
            gain = paired_gain(matches, equal[label], equal[first], 1000 / game.big_blind)
            published = PUBLISHED.get(label) if number == CHECKPOINTS - 1 and first == "ES" else None
            rows.append((spent, f"{label} minus {first}", None, None, published, gain.mean, gain.half))
    return Experiment(
        title=f"Winnings in {game.name}, {game.num_infosets:,} information sets, round robin of {len(agents)} agents",
        source="Gibson 2014, figure 5.7c",
        columns=("CPU seconds", "algorithm", "iterations", "table bytes", "published", "mbb/g", "±"),
        rows=tuple(rows),
        notes=(
            f"{len(matches)} of {math.comb(len(agents), 3)} matches of {deals:,} deals, each in six seatings; "
            "differences are paired by deals.",
            "The source shows curves without numbers for the two: ES, AS and Pure CFR are level, at the top, after 96 "
            "hours; Pure CFR is there after about 48, with half the memory, but with a special routine that the source "
            "itself calls an unfair advantage. In its two-player games Pure CFR is less time-efficient than ES.",
            "AS equals ES here: β = 10^6 is more visits than a run of minutes makes.",
        ),
        curves=curves,
        xlabel="CPU seconds",
    )
