"""Builds of the preset ``portfolio``: opponents in logs are put into clusters, and each gets a data biased response.

Johanson 2016, section 10.2.2 (implicit modelling) and section 6.5 (data biased responses).  The first member is an
equilibrium of the same bucket game, by the same algorithm.  The folder also has

    cards.cpa, pairs.counts      the card abstraction, and how often each pair of buckets occurs
    cluster-1.observations       what the opponents of a cluster did together

The source does not say how opponents are clustered; ``modelling.opponent_groups`` has ours.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from counterplay.abstraction.cards import deck_shape
from counterplay.abstraction.cards.card_abstraction import KIND as CARD_KIND
from counterplay.agents.portfolio import STRATEGY
from counterplay.build.pipeline import CARDS, PAIRS
from counterplay.build.portfolio_pipeline import MEMBER, PortfolioPipeline
from counterplay.errors import GameError
from counterplay.modelling.counter_strategy import ResponseKind
from counterplay.modelling.log_observations import observe
from counterplay.modelling.models import FrequencyModel
from counterplay.modelling.observation_files import load_observations
from counterplay.modelling.observations import Observations
from counterplay.modelling.opponent_groups import betting_habits, group_opponents
from counterplay.modelling.response_runs import prepare_response
from counterplay.poker.buckets.bucket_counts import count_bucket_game
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.runtime.progress import Progress
from counterplay.solvers.bucket_mccfr import predicted_tables

EQUILIBRIUM, CLUSTER = "equilibrium", "cluster-"

NEAR = "1mbb"
"""A member that is so near to its solution is finished before its time."""


class ResponsePipeline(PortfolioPipeline):
    """A build of responses to clusters of opponents."""

    @property
    def names(self) -> tuple[str, ...]:
        """As ``PortfolioPipeline.names``."""
        return (EQUILIBRIUM, *(f"{CLUSTER}{number}" for number in range(1, self.plan.clusters + 1)))

    def first_titles(self) -> dict[str, str]:
        """As ``PortfolioPipeline.first_titles``."""
        own = {name: self.TITLES[name] for name in ("cards", "pairs")}
        return {"clusters": "clusters of opponents", **own}

    def made(self) -> dict[str, tuple[str, str]]:
        """As ``BuildFolder.made``."""
        return {**super().made(), "cards": (CARDS, CARD_KIND)}

    def needed_memory(self) -> int:
        """As ``PortfolioPipeline.needed_memory``: tables of two seats, what they play, and the pairs."""
        plan = self.plan
        bets = None if plan.bets is None else bet_abstraction(plan.bets)
        counts = plan.recipe().counts(*deck_shape(self.definition))
        size = count_bucket_game(self.definition, counts, bets)
        pairs = 4 * 8 * sum(count * count for count in counts)
        return 2 * (predicted_tables(size, plan.algorithm, plan.settings) + 8 * size.entries + pairs)

    def _work(self, stage: str) -> dict[str, Any]:
        return self._clusters() if stage == "clusters" else super()._work(stage)

    def _clusters(self) -> dict[str, Any]:
        """Count how the opponents bet, and group them."""
        plan = self.plan
        habits = betting_habits(self.plan.logs, self.definition, plan.game, plan.rivals)
        groups = group_opponents(habits, plan.clusters, plan.seed)
        hands = dict(zip(habits.names, habits.hands.tolist(), strict=True))
        return {"clusters": [list(names) for names in groups],
                "hands": [sum(hands[name] for name in names) for names in groups]}  # fmt: skip

    def _pairs(self) -> dict[str, Any]:
        """As ``Pipeline._pairs``; without them there are no responses."""
        found = super()._pairs()
        if not found["counted"]:
            raise GameError(f"responses need bucket pairs: {found['reason']}; give other cards with --rounds")
        return found

    def _opponents(self, name: str) -> list[str]:
        """Whom a member responds to."""
        if name == EQUILIBRIUM:
            return []
        found: list[str] = self.done["clusters"]["clusters"][int(name.removeprefix(CLUSTER)) - 1]
        return found

    def _observed(self, name: str) -> Observations:
        """What the opponents of a cluster did, counted once."""
        path = self.folder / f"{name}.observations"
        if os.path.isfile(path):
            return load_observations(path, self.game)

        def report(now: Progress) -> None:
            self._report(self.titles()[MEMBER + name], now, f"{now.iterations:,} hands counted")

        found = observe(self.plan.logs, self._opponents(name), self.game, progress=report)
        found.save(path)
        return found

    def _member(self, name: str) -> dict[str, Any]:
        """As ``PortfolioPipeline._member``."""
        plan, goal, path = self.plan, self._goal(name), self.folder / self._checkpoint(MEMBER + name)
        model: FrequencyModel | str = "uniform"
        asked, seen = ResponseKind("rnr", 0.0), None  # an equilibrium
        if name != EQUILIBRIUM:
            seen = self._observed(name)
            model, asked = FrequencyModel(seen), ResponseKind("dbr", plan.trust)
        limits = {"iterations": max(1, round(goal))} if plan.seconds is None else {"until": NEAR, "seconds": goal}
        settings = {
            **plan.settings, **limits, "algorithm": plan.algorithm, "pairs": self.folder / PAIRS, "checkpoint": path,
            "out": self.folder / f"{name}{STRATEGY}", "memory_limit": self.memory_limit,
            "resume": path if os.path.isfile(path) else None,
        }  # fmt: skip
        run = prepare_response(self.game, model, asked, None, settings)
        found = run.run(lambda now: self._report(self.titles()[MEMBER + name], now, f"{now.iterations:,} iterations"))
        if found.status == "interrupted":
            raise KeyboardInterrupt
        unit, notes = 1000.0 / self.big_blind, []
        if seen is not None:  # that data are thin is what the response is for
            notes = dataclasses.replace(seen.data_report(), thin_share=0.0).warnings()
        return {
            "rounds": plan.rounds, "opponents": self._opponents(name), "hands": None if seen is None else seen.hands,
            "information_sets": self.game.num_infosets, "iterations": found.iterations, "gap_mbb": unit * found.gap,
            "inside_mbb": unit * found.exploitability,
            "wins_mbb": None if seen is None else unit * found.value_against_model, "notes": notes,
        }  # fmt: skip
