"""One data biased response to a whole population of weak players.

Johanson 2016, section 11.4 and table 11.5: hands of many human players against Polaris were pooled as if one opponent
had played them, and a data biased response to that opponent won 341 +- 59 mbb/g from the humans who came after, where
equilibrium strategies had won 120 to 155.  Here the players are weak agents in limit hold'em by buckets: an
equilibrium that in each decision plays, with some probability, like a player who always calls, always raises, folds
too much, or chooses at random, and a strongly tilted one.  Each is observed against the equilibrium, as the humans were
against Polaris; all hands are one opponent's.  Everything is measured exactly inside the bucket game.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import CounterplayError
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.experiments.shared.observed_opponent import (
    SMALL,
    Opponent,
    Setting,
    open_opponent,
    temporary_folder,
    tilted_table,
    yes,
)
from counterplay.modelling.confidence import Confidence
from counterplay.modelling.counter_strategy import ResponseKind
from counterplay.modelling.models import FrequencyModel, policy_table
from counterplay.modelling.observations import pooled
from counterplay.modelling.response_forms import BucketResponses
from counterplay.modelling.response_runs import prepare_response
from counterplay.modelling.sampled_play import observe_play
from counterplay.strategy.bucket_strategy import BucketStrategy

Float64 = NDArray[np.float64]

PUBLISHED = {"equilibrium": 145.0, "Orange": 155.0, "data biased": 341.0}
"""What Polaris' Pink (an equilibrium) and Orange, and the data biased response, won from humans, mbb/g."""

WEAK = {"calls too much": "always-call", "raises too much": "always-raise", "plays at random": "uniform",
        "folds too much": "always-fold"}  # fmt: skip
"""Members of the population, and whom they play like with the probability ``error``."""

HANDS = 1_000_000
"""Hands that are observed of all members together, as many as in the source."""


def run(
    quick: bool = False, hands: int | None = None, pmax: float = 0.9, confidence: str = "linear", error: float = 0.3,
    folder: str | None = None, threads: int = 1,
) -> Experiment:  # fmt: skip
    """Respond to a population.

    Parameters
    ----------
    quick : bool
        Two rounds, 18 cards, three buckets, and 20,000 hands.
    hands : int, optional
        How many hands are observed, of all members together.
    pmax, confidence : float, str
        Of the data biased response, see ``counterplay respond``.
    error : float
        The probability with which a member errs in a decision.
    folder : str, optional
        Where the bucket game and Orange are kept.
    threads : int
        For the features of hands and the bucket pairs.
    """
    if not 0.0 < error <= 1.0:
        raise CounterplayError(f"error is a probability above 0; got {error:g}")
    setting, seen = SMALL if quick else Setting(), (20_000 if quick else HANDS) if hands is None else hands
    if seen <= len(WEAK):
        raise CounterplayError(f"hands must be one for each of {len(WEAK) + 1} members at least; got {seen}")
    asked, trusted = ResponseKind("dbr", pmax), Confidence(confidence)  # refused before anything is solved
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    with keeping_rows(), temporary_folder(folder) as place:
        opponent = open_opponent(setting, place, threads)
        answers = _answers(setting, opponent, (seen, error, asked, trusted))
        rows, notes = _table(opponent, *answers)
    return Experiment(
        title=f"A response to a pooled population in {setting.game}, {setting.cards}, mbb/g inside the bucket game",
        source="Johanson 2016, table 11.5",
        columns=("opponent", "equilibrium wins", "Orange wins", "data biased wins", "best response wins"),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _population(setting: Setting, opponent: Opponent, equilibrium: Float64, error: float) -> dict[str, Float64]:
    """The tables of the members by name."""
    form = opponent.form
    found = {
        name: error * policy_table(like, form) + (1.0 - error) * equilibrium for name, like in WEAK.items()
    }  # fmt: skip
    found["tilted by 40 %"] = tilted_table(form, opponent.pairs, setting, percent=40.0)
    return found


def _answers(
    setting: Setting, opponent: Opponent, asked: tuple[int, float, ResponseKind, Confidence]
) -> tuple[dict[str, Float64], dict[str, Float64]]:
    """The members of the population, and the strategies that play against them."""
    hands, error, kind, confidence = asked
    form, pairs = opponent.form, opponent.pairs
    settings = {"pairs": pairs, "until": setting.equilibrium}
    assert isinstance(opponent.strategy, BucketStrategy)
    calm = prepare_response(form, opponent.strategy, ResponseKind("rnr", 0.0), None, settings).run().strategy
    assert isinstance(calm, BucketStrategy)
    members = _population(setting, opponent, calm.strategy(), error)
    share = hands // len(members)
    everyone = pooled(
        [observe_play(form, BucketStrategy.of_game(form, table), share, against=calm, seed=number)
         for number, table in enumerate(members.values())]
    )  # fmt: skip
    model = FrequencyModel(everyone, confidence=confidence)
    biased = prepare_response(form, model, kind, None, settings).run().strategy
    assert isinstance(biased, BucketStrategy)
    players = {"equilibrium": calm, "Orange": opponent.strategy, "data biased": biased}
    return members, {name: one.strategy() for name, one in players.items()}


def _table(
    opponent: Opponent, members: dict[str, Float64], players: dict[str, Float64]
) -> tuple[list[tuple[Cell, ...]], list[str]]:
    """What every player wins from every member, and what that says."""
    play, unit = BucketResponses(opponent.form, opponent.pairs), opponent.unit
    judged = {name: play.judge(table, list(members.values())) for name, table in players.items()}
    won = {name: [unit * sum(pair) / 2 for pair in found[1]] for name, found in judged.items()}
    best = [unit * play.measure(table).exploitability for table in members.values()]
    rows: list[tuple[Cell, ...]] = [
        (name, *(won[who][number] for who in players), best[number]) for number, name in enumerate(members)
    ]
    means = [sum(won[who]) / len(members) for who in players]
    rows.append(("mean", *means, sum(best) / len(best)))
    rows.append(("exploitability", *(unit * judged[who][0].exploitability for who in players), None))
    rows.append(("published, humans", *(PUBLISHED[who] for who in players), None))
    biased, calm = won["data biased"], won["equilibrium"]
    return rows, [
        f"The data biased response beats every member: {yes(min(biased) > 0.0)}.",
        f"It wins more than the equilibrium from every member: {yes(_above(biased, calm))}; in the mean: "
        f"{yes(means[2] > means[0])}, {means[2] / means[0]:.2f} times, published: 2.35 times.",
        "The players of the source were humans, so compare ratios, not amounts.",
    ]


def _above(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    return all(one > other for one, other in zip(ours, theirs, strict=True))
