"""Players that act, the dealer and the client of the poker competition's protocol, matches and tournaments."""

from counterplay.agents.arena import Arena, open_arena
from counterplay.agents.base import Agent, Decision
from counterplay.agents.entries import AGENTS, Entry, make_entry
from counterplay.agents.matches import MatchResult, play_match
from counterplay.agents.tally import Estimate, Tally

__all__ = [
    "AGENTS", "Agent", "Arena", "Decision", "Entry", "Estimate", "MatchResult", "Tally", "make_entry", "open_arena",
    "play_match",
]  # fmt: skip
