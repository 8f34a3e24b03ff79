"""Builds of portfolios: several strategies in one folder, among which an adaptive agent chooses.

The folder is both a build and a portfolio (``agents.portfolio``).  It has

    build.json, report.json, report.md    as any build
    NAME.strategy, NAME.checkpoint        each member, and its run
    portfolio.json                        the manifest, written when all members are there

After the members are solved each is measured in the real game; exploitability that is exact goes into the manifest,
where a safety bound needs it.  The matches are those of the adaptive agent.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import Any

from counterplay.agents.portfolio import STRATEGY, Member, Portfolio
from counterplay.build.build_folder import MATCH
from counterplay.build.pipeline import AGENT, Pipeline
from counterplay.runtime.memory import check_memory
from counterplay.strategy.bucket_strategy import KIND as PROFILE_KIND
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy

MEMBER, REAL = "member ", "real "
"""The prefixes of the stages that solve members, and of those that measure them."""


class PortfolioPipeline(Pipeline):
    """What builds of portfolios have in common; the first of ``names`` is the equilibrium."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the members."""

    @abstractmethod
    def needed_memory(self) -> int:
        """Bytes of the largest solver, before anything is built."""

    @abstractmethod
    def _member(self, name: str) -> dict[str, Any]:
        """Solve a member, and write its strategy: its rounds, information sets and iterations."""

    def first_titles(self) -> dict[str, str]:
        """The stages before the members, with their titles."""
        return {"cards": self.TITLES["cards"]}

    def titles(self) -> dict[str, str]:
        """As ``BuildFolder.titles``."""
        names = self.names
        return {
            **self.first_titles(),
            **{MEMBER + name: f"solving {name}" for name in names},
            **{REAL + name: f"exploitability of {name}" for name in names},
            "portfolio": "portfolio",
            **{name: title for name, title in super().titles().items() if name.startswith(MATCH)},
        }

    def made(self) -> dict[str, tuple[str, str]]:
        """As ``BuildFolder.made``."""
        return {MEMBER + name: (f"{name}{STRATEGY}", PROFILE_KIND) for name in self.names}

    def _run(self) -> dict[str, Any]:
        if not any(name.startswith(REAL) for name in self.done):
            check_memory(
                f"the largest member of the preset {self.plan.preset}", self.needed_memory(), self.memory_limit,
                "try a betting abstraction (--bets)" if self.plan.members else "try coarser cards (--rounds)",
            )  # fmt: skip
        return super()._run()

    def _work(self, stage: str) -> dict[str, Any]:
        if stage.startswith(MEMBER):
            return self._member(stage.removeprefix(MEMBER))
        if stage.startswith(REAL):
            return self._real(self.profile(stage.removeprefix(REAL) + STRATEGY))
        return self._portfolio() if stage == "portfolio" else super()._work(stage)

    def _agent(self) -> str:
        """As ``Pipeline._agent``: the folder itself."""
        return os.fspath(self.folder)

    def profile(self, file: str = AGENT) -> BucketStrategy:
        """As ``Pipeline.profile``; members may have cards of their own."""
        found = load_strategy(self.folder / file)
        assert isinstance(found, BucketStrategy)
        return found

    def _extensions(self) -> int:
        """Portfolios are not solved for longer when they lose."""
        return self.plan.extensions

    def _checkpoint(self, stage: str) -> str:
        """As ``Pipeline._checkpoint``."""
        return f"{stage.removeprefix(MEMBER)}.checkpoint"

    def _goal(self, name: str) -> float:
        """The time or the iterations of a member, which stay those of its first start."""
        state = self._part(MEMBER + name)
        if "goals" not in state:
            plan, names = self.plan, self.names
            if plan.seconds is None:
                assert plan.iterations is not None
                state["goals"] = [float(plan.iterations)]
            else:
                left = len([one for one in names if MEMBER + one not in self.done])
                least = plan.seconds / 4 * left / len(names)
                state["goals"] = [max(least, plan.seconds - plan.reserve - self._spent()) / left]
            self._save()
        return float(state["goals"][0])

    def _portfolio(self) -> dict[str, Any]:
        """Write the manifest."""
        members = [
            Member(name, self.profile(name + STRATEGY), self.done[REAL + name].get("exploitability"))
            for name in self.names
        ]
        Portfolio(self.plan.game, tuple(members)).save_manifest(self.folder)
        return {"members": list(self.names)}

    def report(self) -> dict[str, Any]:
        """All numbers so far."""
        done = self.done
        empty = {"rounds": None, "information_sets": 0, "iterations": 0, "reason": None, "bounds": None}
        members = {name: {**empty, **done.get(MEMBER + name, {}), **done.get(REAL + name, {})} for name in self.names}
        return {
            **self.common_report(), "members": members, "algorithm": self.plan.algorithm, "curve": [],
            "departures": self._departures(),
        }  # fmt: skip

    def _departures(self) -> list[str]:
        """What differs from the source, if the members are solved."""
        return []
