"""An agent that chooses among several strategies while the match runs.

After each hand it estimates what *every* member of its portfolio would have won in it, off-policy and with the cards
that it saw, and plays the next hand by the one that a rule prefers (Johanson 2016, sections 8.2 and 10.2.2: implicit
modelling; Gibson 2014, section 8.2, with three players).  It learns no model of the opponents.  The source says neither
how members are selected nor how old hands are forgotten; ``modelling.selection`` has the rules that we offer.

With a ``bound`` it risks no more than so many chips in all, see ``modelling.safety``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
from collections import deque
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from counterplay.agents.agent import Agent, Decision, Seen
from counterplay.agents.portfolio import Portfolio
from counterplay.agents.strategy_agent import StrategyAgent
from counterplay.errors import CounterplayError, GameError, StrategyError
from counterplay.evaluation.matches.member_estimates import MemberEstimates
from counterplay.evaluation.matches.poker_estimates import NotPlayedError
from counterplay.modelling.safety import SafetyBound
from counterplay.modelling.selection import RuleState, make_rule
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.rules import Betting
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.number_text import figure
from counterplay.runtime.seeds import SEEDS
from counterplay.storage import write_text

STATE = 2
"""The format of files of states."""

RECENT = 128
"""Most hands that are known again when a dealer shows them to an agent that was restarted."""


class AgentState(TypedDict):
    """What is kept between hands.

    ``shares`` are the probabilities with which each member was to play the next hand, before ``playing`` was drawn.
    ``recent`` identifies the hands that a dealer may show again: the last one that was counted in which the agent
    acted, and those after it.  ``line`` is the last one of the log, which is written after the state.
    """

    adaptive: int
    game: str
    members: list[str]
    bound: float | None
    rule: RuleState
    playing: int
    shares: list[float]
    spent: float
    reached: bool
    hands: list[int]
    unknown: int
    recent: list[str]
    line: str


@dataclasses.dataclass(frozen=True)
class Choices:
    """Who played each hand, and what each member was estimated to win in it.

    Attributes
    ----------
    names : tuple of str
        The members.
    played : (hands,) array
        The number of the member that played.
    estimates : (hands, members) array
        In chips; NaN where the hand could not be estimated.
    """

    names: tuple[str, ...]
    played: NDArray[np.int64]
    estimates: NDArray[np.float64]

    def curve(self, points: int = 10) -> list[tuple[int, list[float], list[float]]]:
        """Hands so far, the share of them that each member played, and its mean estimate: at some places."""
        count, found = len(self.played), []
        for end in sorted({max(1, round(count * step / points)) for step in range(1, points + 1)} if count else ()):
            shares = np.bincount(self.played[:end], minlength=len(self.names)) / end
            known = self.estimates[:end][~np.isnan(self.estimates[:end]).any(axis=1)]
            means = known.mean(axis=0) if len(known) else np.full(len(self.names), math.nan)
            found.append((end, shares.tolist(), means.tolist()))
        return found

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the curve, and the hands of each member."""
        counts = np.bincount(self.played, minlength=len(self.names)).tolist()
        rows = [
            {"hands": end, "shares": shares, "means": [None if math.isnan(one) else one for one in means]}
            for end, shares, means in self.curve()
        ]
        return {"members": list(self.names), "hands": counts, "curve": rows}


class AdaptiveAgent(Agent):
    """Plays the member of a portfolio that a rule prefers.

    Parameters
    ----------
    portfolio : Portfolio
        The members.
    definition : GameDefinition
        What is played; all members are strategies with these rules and all their bets.
    seed : int
        Of the random numbers of the rule and of all members.
    select : str, optional
        A rule, one of ``modelling.selection.RULES``; by default that of the portfolio.
    estimator : str, optional
        As for ``MemberEstimates``.
    bound : float, optional
        The most that the sum over hands of (exploitability of the member played - the equilibrium's) may be, in chips.
    log : path, optional
        A file to which a line is added for every hand: who played it, and why.
    **settings
        Those of the rule; by default those of the portfolio, if the rule is its own.
    """

    def __init__(
        self, portfolio: Portfolio, definition: GameDefinition, seed: int = 0, select: str | None = None,
        estimator: str | None = None, bound: float | None = None, log: str | os.PathLike[str] | None = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        usual = dict(portfolio.settings) if select in (None, portfolio.select) else {}
        members = portfolio.members
        self.portfolio, self.log = portfolio, None if log is None else os.fspath(log)
        self.rule = make_rule(
            select or portfolio.select, len(members), seed % SEEDS, portfolio.equilibrium, **{**usual, **settings}
        )
        self.safety: SafetyBound | None = None
        if bound is not None:
            if definition.players != 2:
                raise GameError("a safety bound is for two players: with more an equilibrium can lose to others")
            self.safety = SafetyBound(portfolio.exploitabilities(), portfolio.equilibrium, bound)
        self.agents = [StrategyAgent(member.strategy, seed, definition) for member in members]
        self.estimates = MemberEstimates(definition, [member.strategy for member in members], estimator)
        self.unknown = 0
        """Hands that could not be estimated."""
        self.hands = [0] * len(members)
        """Hands that each member played."""
        self._state: Path | None = None
        self._recent: deque[str] = deque(maxlen=RECENT)
        self._counted: set[str] = set()  # hands that may be shown again at the beginning
        self._line = ""
        self._played: list[int] = []
        self._rows: list[NDArray[np.float64]] = []
        self._choose()

    def act(self, seen: Seen) -> str:
        """The action of the member that plays this hand."""
        if isinstance(seen, Decision):
            raise GameError("an adaptive agent plays poker from a definition, where it sees how hands end")
        return self.agents[self.playing].act(seen)

    def observe(self, state: MatchState) -> None:
        """Estimate the hand for every member, and choose who plays the next one."""
        text = hashlib.blake2b(state.text().encode(), digest_size=8).hexdigest()
        if text in self._counted:  # shown again to an agent that was restarted
            return
        self._counted.clear()  # the dealer has come to new hands; in another match an old one may occur again
        played = self.playing
        try:
            row = self.estimates.estimate(state, self.shares)
        except NotPlayedError:
            row = np.full(len(self.agents), math.nan)
            self.unknown += 1
        self._line = self._described(state, played, row)
        self.rule.update(row)
        self.hands[played] += 1
        self._played.append(played)
        self._rows.append(row)
        if _acted(state):  # its answer was recorded, so that hands before are never shown again
            self._recent.clear()
        self._recent.append(text)
        self._choose()
        self._save()
        self._write()

    def choices(self) -> Choices:
        """Who played the hands of this process, and the estimates."""
        rows = np.array(self._rows).reshape(-1, len(self.agents))
        return Choices(self.portfolio.names, np.array(self._played, np.int64), rows)

    def remarks(self) -> list[str]:
        """As ``Agent.remarks``."""
        total = max(sum(self.hands), 1)
        shares = [f"{name} {100 * hands / total:.0f} %" for name, hands in zip(self.portfolio.names, self.hands,
                                                                               strict=True) if hands]  # fmt: skip
        found = [f"{self.rule.name} played {', '.join(shares)} of {sum(self.hands):,} hands"]
        if self.safety is not None:
            alone = "; now the equilibrium alone" if self.safety.reached else ""
            found.append(f"risked {figure(self.safety.spent)} of {figure(self.safety.bound)} chips{alone}")
        return found + ([f"{self.unknown:,} hands could not be estimated"] if self.unknown else [])

    def keep(self, path: str | os.PathLike[str]) -> None:
        """Resume from a file if it exists, and write the state into it after every hand.

        Raises
        ------
        StrategyError
            If the file is damaged, or of another portfolio, rule or bound.
        """
        self._state = Path(path)
        if os.path.exists(self._state):
            self._restore(self._state)
        else:
            self._save()

    def _choose(self) -> None:
        """Who plays the next hand, and with which probabilities it came to that."""
        self.preferred = self.rule.choose()
        self.shares = self.rule.shares()
        if self.safety is not None:
            kept = np.array([self.safety.keeps(member) for member in range(len(self.shares))])
            refused = float(self.shares[~kept].sum())
            self.shares = np.where(kept, self.shares, 0.0)
            self.shares[self.safety.equilibrium] += refused
        self.playing = self.preferred if self.safety is None else self.safety.admit(self.preferred)

    def _described(self, state: MatchState, played: int, row: NDArray[np.float64]) -> str:
        """The line of a hand in the log; empty without one."""
        if self.log is None:
            return ""
        names = self.portfolio.names

        def listed(values: NDArray[np.float64]) -> str:
            return ", ".join(f"{name} {figure(float(one), 4)}" for name, one in zip(names, values, strict=True))

        why = f"{self.rule.name}: {listed(self.rule.scores())}"
        if self.safety is not None:
            kept = f" instead of {names[self.preferred]}" if played != self.preferred else ""
            why += f"; risked {figure(self.safety.spent)} of {figure(self.safety.bound)} chips{kept}"
        estimated = "not estimated" if np.isnan(row).all() else f"would have won: {listed(row)}"
        return f"hand {state.hand_id}: {names[played]} played ({why}); {estimated}\n"

    def _write(self) -> None:
        """Add the line of the last hand to the log, or what is missing of it: a kill may come after the state."""
        if self.log is None or not self._line:
            return
        try:
            with open(self.log, "a+b") as file:
                line = self._line.encode()
                file.seek(max(0, file.tell() - len(line)))
                found = file.read()
                begun = found[found.rfind(b"\n") + 1 :]
                if found != line:
                    file.write(line[len(begun) :] if line.startswith(begun) else line)
        except (OSError, ValueError) as error:
            raise CounterplayError(f"cannot write the log {self.log}: {error}") from None

    def _save(self) -> None:
        if self._state is None:
            return
        safety = self.safety
        state: AgentState = {
            "adaptive": STATE, "game": self.portfolio.game, "members": list(self.portfolio.names),
            "bound": None if safety is None else safety.bound, "rule": self.rule.state(), "playing": self.playing,
            "shares": self.shares.tolist(), "spent": 0.0 if safety is None else safety.spent,
            "reached": safety is not None and safety.reached, "hands": self.hands, "unknown": self.unknown,
            "recent": list(self._recent), "line": self._line,
        }  # fmt: skip
        write_text(self._state, json.dumps(state) + "\n")

    def _restore(self, path: Path) -> None:
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise StrategyError(f"{path} cannot be read: {type(error).__name__}: {error}") from None
        check_header(path, state, AgentState)
        mine = {"adaptive": STATE, "game": self.portfolio.game, "members": list(self.portfolio.names),
                "bound": None if self.safety is None else self.safety.bound}  # fmt: skip
        for name, value in mine.items():
            if state[name] != value:
                raise StrategyError(
                    f"{path} is of another agent: its {name} is {state[name]!r}, not {value!r}; give the same agent to "
                    "resume, or another file"
                )
        self.rule.restore(state["rule"], path)
        fits = len(state["hands"]) == len(self.agents) and min(state["hands"]) >= 0 and state["unknown"] >= 0
        if not fits or not 0 <= state["playing"] < len(self.agents) or sum(state["hands"]) != self.rule.hands:
            raise StrategyError(f"{path} is damaged: its hands are not those of {len(self.agents)} members")
        shares = np.array(state["shares"], np.float64)
        drawn = shares.shape == (len(self.agents),) and shares.min() >= 0.0 and abs(shares.sum() - 1.0) < 1e-9
        if not drawn or shares[state["playing"]] <= 0.0:
            raise StrategyError(f"{path} is damaged: its shares are no probabilities of {len(self.agents)} members")
        if self.safety is not None:
            try:
                self.safety.restore(state["spent"], state["reached"])
            except GameError as error:
                raise StrategyError(f"{path} is damaged: {error}") from None
        self.hands, self.unknown, self._line = list(state["hands"]), state["unknown"], state["line"]
        self._recent.extend(state["recent"])
        self._counted = set(self._recent)
        self._write()
        self.preferred = self.rule.choose()
        self.playing, self.shares = state["playing"], shares


def _acted(state: MatchState) -> bool:
    """Whether the player who sees a hand decided anything in it."""
    step = Betting.start(state.betting.game)
    for action in (action for turn in state.betting.actions for action in turn):
        if step.player == state.position:
            return True
        step = step.act(action)
    return False
