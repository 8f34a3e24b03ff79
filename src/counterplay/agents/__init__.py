"""Players that act, the dealer and the client of the poker competition's protocol, matches and tournaments."""

from counterplay.agents.adaptive_agent import AdaptiveAgent, Choices
from counterplay.agents.agent import Agent, Decision
from counterplay.agents.client import play_as_client
from counterplay.agents.dealer import Dealer, DealerConfig, Outcome
from counterplay.agents.entries import Entry, make_entry
from counterplay.agents.exact_match import ExactMatch, exact_match
from counterplay.agents.match_game import MatchGame, open_match_game
from counterplay.agents.matches import MatchResult, match
from counterplay.agents.portfolio import Member, Portfolio, load_portfolio
from counterplay.agents.tournaments import Tournament, TournamentConfig
from counterplay.evaluation.matches.tally import Estimate, Tally

__all__ = [
    "AdaptiveAgent", "Agent", "Choices", "Dealer", "DealerConfig", "Decision", "Entry", "Estimate", "ExactMatch",
    "MatchGame", "MatchResult", "Member", "Outcome", "Portfolio", "Tally", "Tournament", "TournamentConfig",
    "exact_match", "load_portfolio", "make_entry", "match", "open_match_game", "play_as_client",
]  # fmt: skip
