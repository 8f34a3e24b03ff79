"""What an adaptive agent takes at the table: a decision, and the estimates of a finished hand for all its members.

Five members with random probabilities in full limit hold'em, in the buckets of ``threads.five_buckets``.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.timing import cpu_seconds
from counterplay.agents import AdaptiveAgent, Member, Portfolio
from counterplay.agents.matches import dealt_hand
from counterplay.agents.rule_agent import RuleAgent
from counterplay.poker.acpc.dealing import deals
from counterplay.strategy.bucket_strategy import BucketStrategy

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

PART = "adaptive"
MEMBERS = 5
HANDS = 400
DECISION_TARGET, ESTIMATE_TARGET = 50.0, 200.0
"""Milliseconds on one core."""


def adaptive_speed(outcome: Outcome, plan: Plan) -> None:
    """Lines for a decision and for the estimates of a hand."""
    from benchmarks.measures import Line
    from benchmarks.threads import five_buckets

    game = five_buckets()
    draw = np.random.default_rng(0)
    members = tuple(
        Member(f"member-{number}", BucketStrategy.of_game(game, draw.random(game.num_entries, np.float32)))
        for number in range(MEMBERS)
    )
    agent = AdaptiveAgent(Portfolio(game.name, members), game.definition)
    other, hands = RuleAgent("50/50", 1), max(20, round(HANDS * min(1.0, plan.seconds)))
    finals, states = [], []
    for number, deal in enumerate(itertools.islice(deals(game.definition, 3), hands)):
        seat = number % 2
        seated = [agent.agents[0], other] if seat == 0 else [other, agent.agents[0]]
        finals.append(dealt_hand(game.definition, deal, number, seated).seen_by(seat))
        states.append(type(finals[-1])(number, finals[-1].betting.start(game.definition), deal, 0))
    agent.observe(finals[0])  # tables of the deck are made before
    decision = [1000.0 * cpu_seconds(agent.act, state) for state in states]
    estimate = [1000.0 * cpu_seconds(agent.observe, final) for final in finals[1:]]
    outcome.raw["adaptive agent, milliseconds"] = {"members": MEMBERS, "decision": decision, "hand": estimate}
    outcome.lines += [
        Line(f"a decision of an adaptive agent, {MEMBERS} members, limit hold'em", decision, "ms",
             f"at most {max(decision):.3g} ms", target=DECISION_TARGET, at_least=False),
        Line(f"estimates of a finished hand for {MEMBERS} members, limit hold'em", estimate, "ms",
             f"at most {max(estimate):.3g} ms", target=ESTIMATE_TARGET, at_least=False),
    ]  # fmt: skip
