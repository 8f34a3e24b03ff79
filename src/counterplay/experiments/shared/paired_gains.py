"""How much more one agent wins than another, over all tables at which both sit."""

from __future__ import annotations

import math
from collections.abc import Mapping

from counterplay.agents.matches import MatchResult
from counterplay.evaluation.matches.tally import Estimate


def paired_gain(matches: Mapping[tuple[int, ...], MatchResult], one: int, other: int, unit: float) -> Estimate:
    """The mean difference of two agents at the tables where both play, paired by deals; ``matches`` are by agents."""
    found = [
        match.difference(agents.index(one), agents.index(other)).scaled(unit)
        for agents, match in matches.items()
        if one in agents and other in agents
    ]
    half = math.hypot(*(estimate.half for estimate in found))
    return Estimate(sum(estimate.mean for estimate in found) / len(found), half / len(found))
