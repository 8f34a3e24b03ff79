"""Players that act, the dealer and the client of the poker competition's protocol, matches and tournaments."""

from counterplay.agents.agent import Agent, Decision
from counterplay.agents.client import play_as_client
from counterplay.agents.dealer import Dealer, DealerConfig, Outcome
from counterplay.agents.entries import Entry, make_entry
from counterplay.agents.exact_match import ExactMatch, exact_match
from counterplay.agents.match_game import MatchGame, open_match_game
from counterplay.agents.matches import MatchResult, match
from counterplay.agents.tournaments import Tournament, TournamentConfig
from counterplay.evaluation.matches.tally import Estimate, Tally

__all__ = [
    "Agent", "Dealer", "DealerConfig", "Decision", "Entry", "Estimate", "ExactMatch", "MatchGame", "MatchResult",
    "Outcome", "Tally", "Tournament", "TournamentConfig", "exact_match", "make_entry", "match", "open_match_game",
    "play_as_client",
]  # fmt: skip
