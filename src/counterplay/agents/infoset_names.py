"""What a state of the protocol is called in a solved game: the bridge from match states to profiles.

A profile of a game made from a competition definition knows its information sets by the names that
``poker.poker_game.infoset_name`` gives.  The hand-written Kuhn poker, one-card poker and Leduc hold'em name theirs in
their own letters (``K:kb``); they can be played in a match of the definition that has the same rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from counterplay.errors import GameError
from counterplay.game.game import Game
from counterplay.games.leduc import Leduc
from counterplay.games.one_card_poker import OneCardPoker
from counterplay.poker.acpc.definition import UNLIMITED, GameDefinition
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.cards import rank_of, suit_of
from counterplay.poker.poker_game import PokerGame, infoset_name
from counterplay.poker.rules import Betting

__all__ = ["Namer", "definition_for", "namer", "same_rules"]

Namer = Callable[[MatchState], str]
"""From what the acting player sees to the name of his information set."""


def definition_for(game: Game) -> GameDefinition | None:
    """The competition definition with the rules of a game; None if there is none."""
    if isinstance(game, PokerGame):
        return game.definition
    if isinstance(game, OneCardPoker) and game.cards <= 13:
        return GameDefinition(
            limit=True, players=game.players, rounds=1, blinds=(1,) * game.players, raise_sizes=(1,), max_raises=(1,),
            suits=1, ranks=game.cards, hole_cards=1, board_cards=(0,), stacks=(UNLIMITED,) * game.players,
        )  # fmt: skip
    if isinstance(game, Leduc) and game.ranks <= 13 and game.suits <= 4 and not game.physical_board:
        return GameDefinition(
            limit=True, players=game.players, rounds=2, blinds=(game.ante,) * game.players,
            raise_sizes=(game.bet, game.big_bet), max_raises=(game.cap,) * 2, suits=game.suits, ranks=game.ranks,
            hole_cards=1, board_cards=(0, 1), stacks=(UNLIMITED,) * game.players,
        )  # fmt: skip
    return None


def namer(game: Game, played: GameDefinition) -> Namer:
    """How the states of a match are called in a solved game.

    Raises
    ------
    GameError
        If the game is not the one that is played.
    """
    own = definition_for(game)
    if own is None or not same_rules(own, played):
        raise GameError(f"a strategy for {game.spec()} cannot play this match: its rules are those of another game")
    if isinstance(game, PokerGame):
        isomorphic = game.isomorphic
        return lambda state: infoset_name(_seen(state), state.betting.text(), isomorphic)
    if isinstance(game, Leduc):
        leduc = game
        return lambda state: _leduc_name(leduc, state)
    assert isinstance(game, OneCardPoker)
    one_card = game
    low = 13 - one_card.cards
    return lambda state: f"{one_card.card_name(rank_of(_own(state)) - low)}:{_letters(state.betting)}"


def same_rules(own: GameDefinition, played: GameDefinition) -> bool:
    """Whether two definitions are one game; stacks that nobody can lose are as good as none."""
    if own == played:
        return True
    if not own.limit or dataclasses.replace(own, stacks=played.stacks) != played:
        return False
    raises = zip(own.max_raises, own.raise_sizes, strict=True)
    most = max(own.blinds) + sum(count * size for count, size in raises)
    return min(*own.stacks, *played.stacks) >= most


def _seen(state: MatchState) -> tuple[tuple[int, ...], ...]:
    """The acting player's cards and the boards, as the solved game lists them: ascending."""
    game, betting = state.game, state.betting
    boards = [
        tuple(sorted(state.deal.board[end - count : end]))
        for end, count in zip(game.board_ends[: betting.round + 1], game.board_cards, strict=False)
    ]
    return (tuple(sorted(state.deal.hole[betting.player])), *boards)


def _own(state: MatchState) -> int:
    return state.deal.hole[state.betting.player][0]


def _leduc_name(game: Leduc, state: MatchState) -> str:
    low_rank, low_suit = 13 - game.ranks, 4 - game.suits

    def number(card: int) -> int:
        return (rank_of(card) - low_rank) * game.suits + suit_of(card) - low_suit

    board = number(state.deal.board[0]) if state.betting.round else -1
    return f"{game.seen[number(_own(state))][board]}:{_letters(state.betting)}"


def _letters(betting: Betting) -> str:
    """The betting in the letters of the hand-written games: k check, c call, b bet, r raise, f fold."""
    rounds = []
    for actions in betting.actions:
        text, bets = "", 0
        for action in actions:
            text += {"f": "f", "c": "c" if bets else "k", "r": "r" if bets else "b"}[action]
            bets += action == "r"
        rounds.append(text)
    return "/".join(rounds)
