"""Rankings of a tournament: total bankroll and instant run-off (Gibson 2014, sections 4.4.1 and 8; Johanson 2016,
chapter 11).

*Total bankroll* ranks by mean winnings over all matches.  *Instant run-off* repeatedly removes the lowest and ranks the
rest by the matches among them, until only as many remain as sit at a table.  Agents that share the lowest mean are
removed together, unless too few would remain to play.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence

from counterplay.evaluation.matches.tally import Estimate

Scores = Mapping[tuple[int, ...], Sequence[Estimate]]
"""The result of each match: by its agents in ascending order, an estimate for each of them."""

TIE = 1e-12


@dataclasses.dataclass(frozen=True)
class Round:
    """A round of the run-off: the remaining agents from best to worst with their means, and who is removed."""

    table: tuple[tuple[int, Estimate], ...]
    leaving: tuple[int, ...]


def bankroll(scores: Scores, agents: Iterable[int], shared_deals: bool = False) -> list[tuple[int, Estimate]]:
    """Agents by their mean winnings over all matches among them, the best first.

    With ``shared_deals`` matches were played with the same deals.  Their errors may then be correlated, and the
    intervals are as wide as if they were perfectly correlated.
    """
    ranked = sorted(agents)
    chosen = set(ranked)
    found: dict[int, list[Estimate]] = {agent: [] for agent in ranked}
    for match, estimates in scores.items():
        if chosen.issuperset(match):
            for agent, estimate in zip(match, estimates, strict=True):
                found[agent].append(estimate)
    rows = [(agent, _mean(estimates, shared_deals)) for agent, estimates in found.items() if estimates]
    return sorted(rows, key=lambda row: -row[1].mean)


def _mean(estimates: Sequence[Estimate], together: bool) -> Estimate:
    halves = [estimate.half for estimate in estimates]
    half = sum(halves) if together else math.hypot(*halves)
    return Estimate(sum(estimate.mean for estimate in estimates) / len(estimates), half / len(estimates))


def run_off(scores: Scores, agents: Iterable[int], seats: int, shared_deals: bool = False) -> list[Round]:
    """The rounds of an instant run-off; the last one is among the remaining agents."""
    left = sorted(agents)
    rounds = []
    while True:
        table = bankroll(scores, left, shared_deals)
        leaving: tuple[int, ...] = ()
        if len(left) > seats and table:
            lowest = table[-1][1].mean
            tied = [agent for agent, estimate in table if estimate.mean <= lowest + TIE]
            leaving = tuple(tied) if len(left) - len(tied) >= seats else ()
        rounds.append(Round(tuple(table), leaving))
        if not leaving:
            return rounds
        left = [agent for agent in left if agent not in leaving]
