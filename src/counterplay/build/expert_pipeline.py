"""Builds with parts of the betting that have cards of their own: experts, and recipes of published agents.

Gibson 2014, chapters 7 and 8.  *Zones* belong to the one game that is solved (dynamic experts).  *Static experts* are
solved after the base, each in the game that the base leaves of its part, and stitched to it.  The folder also has

    base.strategy              the base, where there are static experts
    zone-PART.cpa              cards of a zone
    expert-PART.cpa            cards of an expert
    expert-PART.checkpoint     the run of an expert
    expert-PART.strategy       its strategy

*Important* betting is what is decided most often, times the pot (``abstraction.importance``): by a player in logs, if
the plan names some, else by a *scout*, an agent in the cards of the base that plays against itself.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from counterplay.abstraction.cards import deck_shape, parse_recipe
from counterplay.abstraction.cards.card_abstraction import CardAbstraction
from counterplay.abstraction.cards.expert_buckets import part_bucket_game
from counterplay.abstraction.experts import Part, label_parts
from counterplay.abstraction.importance import SequenceValues, check_logs, self_play_values, sequence_values
from counterplay.build.build_folder import STATE
from counterplay.build.pipeline import AGENT, Pipeline
from counterplay.build.planning import stand_in
from counterplay.build.presets import PRESETS, Plan
from counterplay.build.recipes import IMPORTANT, cut_cards, departures, find_agent
from counterplay.errors import AbstractionError
from counterplay.forms import poker_definition
from counterplay.game.transforms import Tilt, read_tilt
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import Progress
from counterplay.solvers import make_solver, resume_solver
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.strategy.bucket_strategy import KIND as PROFILE_KIND
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.composed import stitch
from counterplay.strategy.files import load_strategy
from counterplay.strategy.strategy import Strategy

BASE = "base.strategy"

EXPERT = "expert "
"""The prefix of the stages of experts."""

BASE_SHARE = 0.5
"""Of the solvers' time, where there are experts."""

SCOUT_SHARE = 0.1
"""Of the solvers' time, where betting must be found that is important."""

SCOUTED = 200_000
"""Hands that the scout plays against itself."""


def slug(part: str) -> str:
    """A part as the name of a file."""
    return part.replace("/", "_").replace(":", "_")


class ExpertPipeline(Pipeline):
    """A build with zones or static experts."""

    TITLES: ClassVar[Mapping[str, str]] = Pipeline.TITLES

    def __init__(self, plan: Plan, folder: str | os.PathLike[str], *rest: Any, **named: Any) -> None:
        if plan.logs and not os.path.isfile(Path(folder) / STATE):  # before there is a folder, and hours are spent
            check_logs(plan.logs, self._names(plan), poker_definition(plan.game))
        super().__init__(plan, folder, *rest, **named)

    @staticmethod
    def _names(plan: Plan) -> list[str]:
        """The names of the player in the logs."""
        return [name.strip() for name in str(plan.player).split(",")]

    def titles(self) -> dict[str, str]:
        """As ``BuildFolder.titles``, with a stage for the scout, for each expert, and for stitching."""
        found = {}
        for name, title in super().titles().items():
            if name == "solve" and self._important is not None:
                found["scout"] = "important betting"
            found[name] = title
            if name == "solve" and self.plan.experts:
                found |= {EXPERT + part: f"expert after {part}" for part, _ in self.plan.experts}
                found["stitch"] = "stitching"
        return found

    def made(self) -> dict[str, tuple[str, str]]:
        """As ``BuildFolder.made``."""
        if not self.plan.experts:
            return super().made()
        found = {**super().made(), "solve": (BASE, PROFILE_KIND), "stitch": (AGENT, PROFILE_KIND)}
        return found | {EXPERT + part: (f"expert-{slug(part)}.strategy", PROFILE_KIND) for part, _ in self.plan.experts}

    def _work(self, stage: str) -> dict[str, Any]:
        if stage.startswith(EXPERT):
            return self._expert(stage.removeprefix(EXPERT))
        work = {"scout": self._scout, "stitch": self._stitch}
        return work[stage]() if stage in work else super()._work(stage)

    # ------------------------------------------------------------------------------------------ cards

    def _cards(self) -> dict[str, Any]:
        """The cards of zones and experts, then those of the base."""
        for part, rounds in self.plan.zones:
            self._build_cards(rounds, f"zone-{slug(part)}.cpa")
        for rounds, file in {rounds: file for file, rounds in self._expert_files().items()}.items():
            self._build_cards(rounds, file)
        return super()._cards()

    def _expert_files(self) -> dict[str, str]:
        """The file of the cards of each expert and its rounds; experts with the same cards share one."""
        first: dict[str, str] = {}
        for part, rounds in self.plan.experts:
            first.setdefault(rounds, f"expert-{slug(part)}.cpa")
        return {file: rounds for rounds, file in first.items()}

    def _expert_file(self, part: str) -> Path:
        rounds = dict(self.plan.experts)[part]
        return self.folder / next(file for file, known in self._expert_files().items() if known == rounds)

    def _card_files(self) -> list[str]:
        """As ``Pipeline._card_files``, with those of the zones that are known so far."""
        zones = {part: f"zone-{slug(part)}.cpa" for part, _ in self.plan.zones}
        if "scout" in self.done:
            zones[self.done["scout"]["part"]] = f"zone-{IMPORTANT}.cpa"
        return [*super()._card_files(), *(f"{part}={self.folder / file}" for part, file in zones.items())]

    def _checkpoint(self, stage: str) -> str:
        """As ``Pipeline._checkpoint``."""
        return (
            f"expert-{slug(stage.removeprefix(EXPERT))}.checkpoint"
            if stage.startswith(EXPERT)
            else super()._checkpoint(stage)
        )

    # ------------------------------------------------------------------------------------------ important betting

    @property
    def _important(self) -> float | None:
        """The threshold of important betting, if the recipe has such a part."""
        if self.plan.agent is None:
            return None
        found = [part for part, _ in find_agent(self.plan.agent).base if part.startswith(IMPORTANT)]
        return float(found[0].partition(" ")[2]) if found else None

    def _self_play(self) -> tuple[SequenceValues, int]:
        """Solve the base for a while and let it play against itself: what betting is worth, and the iterations."""
        plan, game = self.plan, self.game
        solver = make_solver(game, "external-sampling", memory_limit=self.memory_limit, seed=plan.seed + 1,
                             threads=plan.threads, storage="float32")  # fmt: skip
        left = plan.iterations if plan.seconds is None else super()._seconds_left()
        assert left is not None
        budget = SCOUT_SHARE * left
        until = Until(iterations=max(1, round(budget))) if plan.seconds is None else Until(seconds=budget)
        if solver.advance(until, self._watch("scout", solver, budget, save=False)) == "interrupted":
            raise KeyboardInterrupt
        assert isinstance(solver, BucketSolver)
        return self_play_values(game, solver.strategy(), SCOUTED, plan.seed), solver.iterations

    def _logged(self) -> SequenceValues:
        """What betting is worth to the player of the logs."""
        self._report(self.titles()["scout"], Progress(0, total=1), "reading logs")
        return sequence_values(self.plan.logs, self._names(self.plan), self.definition)

    def _scout(self) -> dict[str, Any]:
        """Find what is important, and cut its cards."""
        plan, threshold, game = self.plan, self._important, self.game
        assert threshold is not None
        assert plan.agent is not None
        values, iterations = (self._logged(), 0) if plan.logs else self._self_play()
        hands = values.hands if plan.logs else SCOUTED
        part = values.part(threshold)
        chosen = label_parts(game.tree, [part]) > 0
        decisions = np.bincount(game.tree.round[chosen], minlength=game.rounds).tolist()
        published = next(text for name, text in find_agent(plan.agent).base if name.startswith(IMPORTANT))
        cards = deck_shape(self.definition)
        rounds = cut_cards(published, cards, decisions, plan.infosets or 0, stand_in(PRESETS[plan.preset]))
        self._build_cards(rounds, f"zone-{IMPORTANT}.cpa")
        self.__dict__.pop("game", None)  # opened again, with the zone
        fine = parse_recipe(rounds, *cards).counts(*cards)
        outside = sum((now - before) * number for now, before, number in zip(
            fine, self.plan.recipe().counts(*cards), decisions, strict=True))  # fmt: skip
        share = sum(decisions) / int((game.tree.player >= 0).sum())
        return {"part": part.text, "rounds": rounds, "decisions": decisions, "share": share, "hands": hands,
                "threshold": threshold, "iterations": iterations,
                "information_sets": game.num_infosets + outside}  # fmt: skip

    # ------------------------------------------------------------------------------------------ experts

    def _seconds_left(self) -> float:
        """The base gets its share of the time, or what is left of it."""
        return super()._seconds_left() * (BASE_SHARE if self.plan.experts and "solve" not in self.done else 1.0)

    def _budget(self, part: str) -> float:
        """The time or the iterations of an expert: in proportion to the roots of their information sets."""
        games = {name: self._reached(name) for name, _ in self.plan.experts}
        roots = {name: math.sqrt(game.num_infosets) for name, game in games.items() if game is not None}
        left = [name for name in roots if EXPERT + name not in self.done]
        if self.plan.seconds is None:
            return float(self.plan.iterations or 0) * roots[part] / sum(roots.values())
        return self._seconds_left() * roots[part] / sum(roots[name] for name in left)

    def _expert(self, part: str) -> dict[str, Any]:
        """Solve the game that the base leaves of a part."""
        name, stage = f"expert-{slug(part)}", EXPERT + part
        path = self.folder / f"{name}.checkpoint"
        if self._reached(part) is None:
            return {"iterations": 0, "nodes": 0, "information_sets": 0}
        state = self._part(stage)
        if "goals" not in state:
            state["goals"] = [self._budget(part)]
            self._save()
        goal = state["goals"][0]
        solver = self._expert_solver(part, path)
        self._advance(stage, solver, goal)
        solver.save(path)
        found = solver.profile(unmet=self._unmet())
        if found.abstract.tilt is not None:  # solved in a tilted game, played in the real one
            found = dataclasses.replace(found, abstract=self._expert_game(part))
        found.save(self.folder / f"{name}.strategy")
        return {"iterations": solver.iterations, "nodes": solver.nodes, "information_sets": solver.game.num_infosets}

    def _expert_solver(self, part: str, path: Path) -> BucketSolver:
        """The interrupted run, or a new one."""
        game = self._expert_game(part, self._tilt)
        if os.path.isfile(path):
            solver = resume_solver(path, game, self.memory_limit)
        else:
            plan = self.plan
            settings = {**plan.settings, "seed": plan.seed, "threads": plan.threads}
            if self.definition.players > len(game.deciding) == 2:  # averages cost nothing there
                settings |= {"profile": "average"}
            solver = make_solver(game, plan.algorithm, memory_limit=self.memory_limit, **settings)
        assert isinstance(solver, BucketSolver)
        return solver

    @property
    def _tilt(self) -> Tilt | None:
        """How the game of the experts is tilted."""
        return None if self.plan.tilt is None else read_tilt(self.plan.tilt)

    def _expert_game(self, part: str, tilt: Tilt | None = None) -> BucketGame:
        """The game that the base leaves of a part, tilted or not; kept, for they take seconds."""
        known: dict[tuple[str, Tilt | None], BucketGame] = self.__dict__.setdefault("_expert_games", {})
        if (part, tilt) not in known:
            base = self.__dict__.get("_base") or self.profile(BASE)
            self.__dict__["_base"] = base
            chances = self.__dict__.setdefault("_chances", base.strategy())
            file = self._expert_file(part)
            rounds = CardAbstraction.load(file, self.definition).rounds
            game = base.abstract if tilt is None else dataclasses.replace(base.abstract, tilt=tilt)
            known[part, tilt] = part_bucket_game(game, chances, part, rounds, (str(file),), str(self.folder / BASE))
        return known[part, tilt]

    def _reached(self, part: str) -> BucketGame | None:
        """The same; None if the base never plays towards the part, where an expert would learn nothing."""
        try:
            return self._expert_game(part)
        except AbstractionError:
            return None

    def _file_of(self, name: str) -> tuple[str, str] | None:
        """As ``BuildFolder._file_of``; an expert that is never met has left no file."""
        unmet = name.startswith(EXPERT) and not self.done[name]["information_sets"]
        return None if unmet else super()._file_of(name)

    def _stitch(self) -> dict[str, Any]:
        """One strategy of the base and its experts."""
        experts: dict[str | Part, Strategy] = {}
        met = [part for part, _ in self.plan.experts if self.done[EXPERT + part]["information_sets"]]
        for part in met:
            found = load_strategy(self.folder / f"expert-{slug(part)}.strategy", self._expert_game(part))
            assert isinstance(found, BucketStrategy)
            experts[part] = found
        whole = stitch(self.profile(BASE), experts) if experts else self.profile(BASE)
        assert isinstance(whole, BucketStrategy)
        whole.save(self.folder / AGENT)
        for name in ("_expert_games", "_base", "_chances"):
            self.__dict__.pop(name, None)
        return {"information_sets": whole.num_infosets, "experts": met}

    def profile(self, file: str = AGENT) -> BucketStrategy:
        """As ``Pipeline.profile``; the agent has the cards of its experts too."""
        if file != AGENT or not self.plan.experts:
            return super().profile(file)
        found = load_strategy(self.folder / file)
        assert isinstance(found, BucketStrategy)
        return found

    # ------------------------------------------------------------------------------------------ the report

    def report(self) -> dict[str, Any]:
        """As ``Pipeline.report``, with the parts and what differs from a published agent."""
        done, plan = self.done, self.plan
        experts = {
            part: {"rounds": rounds, **{
                key: done.get(EXPERT + part, {}).get(key) for key in ("iterations", "information_sets")
            }}
            for part, rounds in plan.experts
        }  # fmt: skip
        scout = done.get("scout")
        return {
            **super().report(), "zones": dict(plan.zones), "experts": experts, "tilt": plan.tilt, "recipe": plan.agent,
            "important": None if scout is None else {
                **{key: scout[key] for key in ("rounds", "decisions", "share", "hands", "threshold")},
                "logs": list(plan.logs), "player": plan.player, "sequences": len(Part.parse(scout["part"]).sequences),
            },
            "departures": self._departures(),
        }  # fmt: skip

    def _departures(self) -> list[str]:
        """What differs from the published agent, if the solvers are done."""
        plan, done = self.plan, self.done
        if plan.agent is None or "solve" not in done or any(EXPERT + part not in done for part, _ in plan.experts):
            return []
        agent = find_agent(plan.agent)
        zones = dict(plan.zones) | {"": plan.rounds}
        if "scout" in done:
            zones |= {name: done["scout"]["rounds"] for name, _ in agent.base if name.startswith(IMPORTANT)}
        sizes = {part: int(done[EXPERT + part]["information_sets"]) for part, _ in plan.experts}
        sizes[""] = int(done["cards"]["information_sets"] if "scout" not in done else done["scout"]["information_sets"])
        cards = [(part, zones[part]) for part, _ in agent.base]
        profile = str(plan.settings.get("profile", "average"))
        logged = f"{done['scout']['hands']:,} logged hands of {plan.player}" if plan.logs else None
        return list(departures(agent, cards, dict(plan.experts), sizes, plan.algorithm, profile, logged))
