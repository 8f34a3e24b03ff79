"""The bound on what an adaptive agent risks, kept after every hand where exploitability is exact: Leduc and [2-4]."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import counterplay as cp
from counterplay.agents import AdaptiveAgent, Agent, Member, Portfolio, open_match_game
from counterplay.agents.agent import Seen
from counterplay.agents.matches import dealt_hand
from counterplay.agents.rule_agent import RuleAgent
from counterplay.agents.strategy_agent import StrategyAgent
from counterplay.forms import open_game
from counterplay.modelling.selection import RULES
from counterplay.poker.acpc.dealing import deals
from counterplay.strategy.trivial import TRIVIAL
from tests.agents.test_adaptive_agent import best_response
from tests.agents.test_adaptive_agent import portfolio as leduc_portfolio

SMALL = "holdem_2_4(ranks=4,suits=2)"
HANDS = 40

BOUNDS = {"leduc_limit_2p": (4.0, 15.0, 0.5, 0.0), SMALL: (30.0, 90.0, 1.0, 0.0)}
"""In chips: some for a few hands of other members, some for hardly any or none."""


@functools.cache
def portfolio(game: str) -> Portfolio:
    """In [2-4] nearly an equilibrium, and two members who can be exploited; fewer ranks, so that it takes seconds."""
    if game != SMALL:
        return leduc_portfolio()
    tree = open_game(SMALL, "history")
    near = cp.solve(SMALL, "cfr+", iterations=20, representation="public").profile
    weak = [Member(name.replace("/", "-"), TRIVIAL[name].tabular(tree)) for name in ("always-raise", "50/50")]
    return Portfolio(SMALL, (Member("equilibrium", near), *weak)).measured()


@functools.cache
def exact(game: str) -> list[float]:
    """The exploitability of each member, on the history tree; the portfolio may have measured it on the public tree."""
    return [cp.evaluate(member.strategy, method="history").exploitability for member in portfolio(game).members]


class BestResponder(Agent):
    """Knows who plays, and responds best to that; or baits: calls everything, so that aggression seems to pay."""

    def __init__(self, adaptive: AdaptiveAgent, seed: int) -> None:
        self.adaptive = adaptive
        game = adaptive.portfolio.game
        rules = open_match_game(game).definition()
        best = [best_response(member.strategy, game) for member in adaptive.portfolio.members]
        self.best = [StrategyAgent(one, seed, rules) for one in best]
        self.bait = RuleAgent("always-call", seed)

    def act(self, seen: Seen) -> str:
        risky = self.adaptive.playing != self.adaptive.portfolio.equilibrium
        return self.best[self.adaptive.playing].act(seen) if risky else self.bait.act(seen)


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 100), marks=pytest.mark.slow)], ids=["2", "98"])
@pytest.mark.parametrize("select", RULES)
@pytest.mark.parametrize("game", ["leduc_limit_2p", pytest.param(SMALL, marks=pytest.mark.slow)])
def test_the_bound_is_kept_at_the_table(game: str, select: str, seeds: range) -> None:
    """Hand by hand, against an opponent who knows who plays; exploitabilities are measured here once more."""
    members, rules = portfolio(game), open_match_game(game).definition()
    np.testing.assert_allclose(exact(game), members.exploitabilities(), rtol=1e-9)
    risked = 0
    for seed in seeds:
        bound = BOUNDS[game][seed % 4]
        agent, lost = AdaptiveAgent(members, rules, seed, select, bound=bound), 0.0
        opponent = BestResponder(agent, seed)
        for number, deal in enumerate(itertools.islice(deals(rules, seed), HANDS)):
            lost += exact(game)[agent.playing] - exact(game)[members.equilibrium]
            assert lost <= bound + 1e-9
            dealt_hand(rules, deal, number, [agent, opponent] if number % 2 == 0 else [opponent, agent])
        assert agent.safety is not None
        assert agent.safety.spent <= bound
        risked += sum(agent.hands) - agent.hands[members.equilibrium]
    assert (risked > 0) == (select != "fixed")  # which always plays the equilibrium
