"""Builds of the preset ``polaris``: each component is solved in its tilted game, and plays in the real one."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from counterplay.abstraction.cards import deck_shape, parse_recipe
from counterplay.agents.portfolio import SELECT, STRATEGY
from counterplay.build.polaris import COMPONENTS
from counterplay.build.portfolio_pipeline import MEMBER, PortfolioPipeline
from counterplay.evaluation.matches.member_estimates import USUAL
from counterplay.forms import open_game
from counterplay.game.transforms import read_tilt
from counterplay.poker.buckets.bucket_counts import count_bucket_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.bucket_mccfr import BucketSolver, predicted_tables


class PolarisPipeline(PortfolioPipeline):
    """A build of the components, each by external sampling in its tilted game."""

    @property
    def names(self) -> tuple[str, ...]:
        """As ``PortfolioPipeline.names``."""
        return tuple(name for name, _, _ in self.plan.members)

    def _settings_of(self, name: str) -> tuple[str, str]:
        """The cards and the tilt of a component."""
        return next((rounds, tilt) for one, rounds, tilt in self.plan.members if one == name)

    def _files(self) -> dict[str, str]:
        """The file of each card abstraction, by its rounds: it is called after the first component that has it."""
        found: dict[str, str] = {}
        for name, rounds, _ in self.plan.members:
            found.setdefault(rounds, f"{name}.cpa")
        return found

    def needed_memory(self) -> int:
        """As ``PortfolioPipeline.needed_memory``."""
        plan, cards = self.plan, deck_shape(self.definition)
        bets = None if plan.bets is None else bet_abstraction(plan.bets)
        sizes = [count_bucket_game(self.definition, parse_recipe(rounds, *cards).counts(*cards), bets)
                 for rounds in self._files()]  # fmt: skip
        return max(predicted_tables(size, plan.algorithm, plan.settings) for size in sizes)

    def _cards(self) -> dict[str, Any]:
        """The card abstractions of all components."""
        for rounds, file in self._files().items():
            self._build_cards(rounds, file)
        game = self._game(self.names[0])
        counts = [one.count for one in game.buckets[0]]
        return {"buckets": counts, "recall": self.plan.recipe().recall, "information_sets": game.num_infosets}

    def _game(self, name: str, tilted: bool = False) -> BucketGame:
        """The bucket game of a component, as it is played or as it was solved."""
        rounds, tilt = self._settings_of(name)
        file = self.folder / self._files()[rounds]
        game = open_game(self.plan.game, "buckets", cards=[file], bets=self.plan.bets)
        return dataclasses.replace(game, tilt=read_tilt(tilt)).laid_out() if tilted else game

    def _member(self, name: str) -> dict[str, Any]:
        """As ``PortfolioPipeline._member``."""
        plan, stage, game = self.plan, MEMBER + name, self._game(name, tilted=True)
        path, goal = self.folder / self._checkpoint(stage), self._goal(name)
        if os.path.isfile(path):
            solver = resume_solver(path, game, self.memory_limit)
        else:
            settings = {**plan.settings, "seed": plan.seed, "threads": plan.threads}
            solver = make_solver(game, plan.algorithm, memory_limit=self.memory_limit, **settings)
        assert isinstance(solver, BucketSolver)
        self._advance(stage, solver, goal)
        solver.save(path)
        dataclasses.replace(solver.profile(), abstract=self._game(name)).save(self.folder / f"{name}{STRATEGY}")
        rounds, tilt = self._settings_of(name)
        return {"rounds": rounds, "tilt": tilt, "information_sets": game.num_infosets,
                "iterations": solver.iterations}  # fmt: skip

    def report(self) -> dict[str, Any]:
        """As ``PortfolioPipeline.report``, beside what was published."""
        found = super().report()
        for one in COMPONENTS:
            found["members"][one.name]["published_mbb"] = one.exploitability
        return found

    def _departures(self) -> list[str]:
        """As ``PortfolioPipeline._departures``."""
        done, published = self.done, {one.name: one for one in COMPONENTS}
        if any(MEMBER + name not in done for name in self.names):
            return []
        found = [
            f"{name}: {done[MEMBER + name]['information_sets']:,} information sets in place of "
            f"{published[name].infosets:,}" for name in self.names
        ]  # fmt: skip
        cards = " and ".join(dict.fromkeys(rounds for _, rounds, _ in self.plan.members))
        return [
            *found,
            f"cards {cards}: the published textures and percentiles are not specified",
            f"{self.plan.algorithm} for the time of the preset in place of chance sampling for an unpublished time",
            f"the rule that chooses is not published: {SELECT}, on estimates by {USUAL[0]}",
        ]
