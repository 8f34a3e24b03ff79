"""An adaptive agent that is killed in the middle of a match: with its state it resumes as if nothing had happened."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import counterplay as cp
from counterplay.agents import AdaptiveAgent, Dealer, DealerConfig, Member, Portfolio, open_match_game, play_as_client
from counterplay.agents.agent import Agent, Seen
from counterplay.agents.dealer import Outcome
from counterplay.agents.rule_agent import RuleAgent
from counterplay.forms import open_game
from counterplay.poker.acpc.match_state import MatchState
from counterplay.strategy.trivial import TRIVIAL

GAME, HANDS, PATIENCE = "leduc_limit_2p", 40, 120.0

KILLS = ((11, True), (24, False))
"""In which hand the agent is killed, and whether its opponent acts first in it; seats rotate."""


class Waiting(RuleAgent):
    """Raises always, but waits at its first decision of a hand until the other agent is killed there."""

    def __init__(self, hand: int) -> None:
        super().__init__("always-raise", 2)
        self.hand, self.first = hand, False
        self.waits, self.resumes = threading.Event(), threading.Event()

    def act(self, seen: Seen) -> str:
        if seen.hand_id == self.hand and not self.waits.is_set():
            assert isinstance(seen, MatchState)
            self.first = not seen.betting.text()
            self.waits.set()
            assert self.resumes.wait(PATIENCE)
        return super().act(seen)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    there = tmp_path_factory.mktemp("agents") / "mine"
    near = cp.solve(GAME, "cfr+", iterations=20).profile
    even = TRIVIAL["50/50"].tabular(open_game(GAME, "history"))
    Portfolio(GAME, (Member("near", near), Member("even", even))).measured().save(there)
    return there


def table(there: Path, append: bool = False) -> Dealer:
    """A dealer who writes the log and what is needed to resume."""
    rules = open_match_game(GAME).definition()
    files = {"log": there / "m.log", "transactions": there / "m.tlog"}
    return Dealer(DealerConfig("m", rules, HANDS, 5, ("mine", "other"), append=append, **files))


def play(dealer: Dealer, opponent: Agent, pool: ThreadPoolExecutor) -> Any:
    """Deal, and seat the opponent; gives what the outcome will be."""
    rules = dealer.config.game
    found = pool.submit(dealer.play)
    pool.submit(play_as_client, opponent, rules, "127.0.0.1", dealer.ports[1])
    return found


def agent_process(folder: Path, dealer: Dealer, there: Path) -> subprocess.Popen[bytes]:
    words = ["agent", f"{folder}?select=thompson,bound=15,log={there / 'agent.log'}", GAME, "127.0.0.1"]
    more = [str(dealer.ports[0]), "--state", str(there / "state"), "--seed", "3"]
    return subprocess.Popen([sys.executable, "-m", "counterplay", *words, *more], stderr=subprocess.PIPE)


def learned(state: Path) -> int:
    """Finished hands in a state; 0 before there is one."""
    return sum(json.loads(state.read_text())["hands"]) if state.exists() else 0


def test_a_killed_agent_resumes_the_match(folder: Path, tmp_path: Path) -> None:
    """Killed while it waits for its opponent, before it acted in the hand and after: log and state do not differ."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for there in (whole, killed):
        there.mkdir()
    rules = open_match_game(GAME).definition()
    with ThreadPoolExecutor(3) as pool:
        dealer = table(whole)
        outcome = play(dealer, RuleAgent("always-raise", 2), pool)
        own = cp.agents.load_portfolio(folder)
        agent = AdaptiveAgent(own, rules, 3, "thompson", bound=15, log=whole / "agent.log")
        agent.keep(whole / "state")
        play_as_client(agent, rules, "127.0.0.1", dealer.ports[0])
        wanted: Outcome = outcome.result(PATIENCE)
        for hand, first in KILLS:
            opponent, dealer = Waiting(hand), table(killed, append=hand > KILLS[0][0])
            outcome = play(dealer, opponent, pool)
            process = agent_process(folder, dealer, killed)
            try:
                assert opponent.waits.wait(PATIENCE)
                deadline = time.monotonic() + PATIENCE
                while learned(killed / "state") < hand and time.monotonic() < deadline:
                    time.sleep(0.01)
            finally:
                process.kill()  # SIGKILL
                process.communicate()
                opponent.resumes.set()
            assert opponent.first == first
            assert outcome.result(PATIENCE).score is None
            assert learned(killed / "state") == hand
        dealer = table(killed, append=True)
        outcome = play(dealer, RuleAgent("always-raise", 2), pool)
        process = agent_process(folder, dealer, killed)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said
    found: Outcome = outcome.result(PATIENCE)
    assert (found.score, found.hands) == (wanted.score, HANDS)
    assert (killed / "state").read_bytes() == (whole / "state").read_bytes()
    assert (killed / "m.log").read_text() == (whole / "m.log").read_text()
    assert (killed / "agent.log").read_text() == (whole / "agent.log").read_text()
    lines = (killed / "agent.log").read_text().splitlines()
    assert [line.split(":")[0] for line in lines] == [f"hand {number}" for number in range(HANDS)]
    assert len({line.split()[2] for line in lines}) == 2
