"""Players that act, the dealer and the client of the poker competition's protocol, matches and tournaments."""

from counterplay.agents.agent import Agent, Decision
from counterplay.agents.arena import Arena, open_arena
from counterplay.agents.client import play_as_client
from counterplay.agents.dealer import Dealer, DealerConfig, Outcome
from counterplay.agents.entries import Entry, make_entry
from counterplay.agents.matches import MatchResult, match
from counterplay.agents.tally import Estimate, Tally
from counterplay.agents.tournaments import Tournament, TournamentConfig

__all__ = [
    "Agent", "Arena", "Dealer", "DealerConfig", "Decision", "Entry", "Estimate", "MatchResult", "Outcome",
    "Tally", "Tournament", "TournamentConfig", "make_entry", "match", "open_arena", "play_as_client",
]  # fmt: skip
