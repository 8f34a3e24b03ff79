"""A two-phase agent: it plays a blueprint, and from a chosen round on solves the rest of the hand at the table.

Gilpin and Sandholm (Gibson 2014, section 3.5.4); Burch, Johanson and Bowling 2014 for the safe form.  A hand is solved
when the agent first acts in the chosen round, from the start of that round on, and the solution is played until the
hand is over, so that no subgame inside another one needs values of its own.  Where the time is not enough, where the
rest of the hand does not fit into memory, and where the blueprint would never have come, the agent plays the blueprint;
in later rounds it tries again.  The log says what was done.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from counterplay.agents.agent import Decision, Seen
from counterplay.agents.strategy_agent import StrategyAgent, sharpened
from counterplay.errors import CounterplayError, GameError, MemoryLimitError
from counterplay.forms import open_game
from counterplay.poker.acpc.dealing import Deal
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.infoset_names import LETTERS, namer
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.cards import cards_text
from counterplay.poker.rules import Betting
from counterplay.solvers.hand_resolving import HandResolver, HandSolution, ResolveSettings, Unsolved
from counterplay.strategy.strategy import Strategy

KEPT_BYTES = 256 << 20
"""Memory of solutions that are kept for later hands."""

MOST_NAMES = 300_000
"""Deals and bettings of a game that is not played with the dealer's cards, as long as it can be solved at the table."""

Place: TypeAlias = tuple[str, tuple[int, ...], int]
"""Where a subgame begins: betting, board, player."""


class ResolvingAgent(StrategyAgent):
    """Plays a strategy until a round, and solutions of the rest of the hand from then on.

    Parameters
    ----------
    strategy, seed, definition
        As in ``StrategyAgent``; the strategy is of a game of two players, with all its bets.
    resolve : str or int
        The first round that is solved: ``flop``, ``turn``, ``river``, or its number from 1.
    log : path, optional
        A file to which a line is added for every hand that is solved, or could not be.
    **settings
        Fields of ``ResolveSettings``; ``threshold`` and ``purify`` of ``StrategyAgent``, which safe solutions refuse.
    """

    def __init__(
        self, strategy: Strategy, seed: int = 0, definition: GameDefinition | None = None, resolve: str | int = "turn",
        log: str | os.PathLike[str] | None = None, **settings: Any,
    ) -> None:  # fmt: skip
        sharp = {name: settings.pop(name) for name in ("translation", "threshold", "purify") if name in settings}
        super().__init__(strategy, seed, definition, **sharp)
        if definition is None:
            raise GameError(
                "hands are solved at the table in games of poker; this game has no definition of the competition"
            )
        chosen = ResolveSettings(**settings)
        if chosen.safe and (self.threshold or self.purify):
            raise GameError("threshold and purify would undo what a safe solution guarantees; leave them out, or safe")
        self.round = _round(definition, resolve)
        self.log = None if log is None else os.fspath(log)
        self.solved, self.kept_blueprint = 0, 0
        """Subgames that were solved, and those in which the blueprint was played."""
        self._rules = definition
        self._resolver = HandResolver(strategy, definition, chosen)
        self._known: OrderedDict[Place, HandSolution] = OrderedDict()
        self._hand: tuple[Any, ...] = ()
        self._solution: HandSolution | None = None
        self._tried = -1

    def distribution(self, seen: Seen) -> Sequence[tuple[str, float]]:
        """The probabilities of the solution, or of the blueprint."""
        state = self._states.get((seen.player, seen.infoset)) if isinstance(seen, Decision) else seen
        if state is None:
            raise GameError(f"{self.strategy.game} has no information set {getattr(seen, 'infoset', '')!r}")
        if state.betting.round < self.round:
            return super().distribution(seen)
        if isinstance(seen, Decision):
            state = MatchState(seen.hand_id, state.betting, state.deal)
        row = self._row_of(state)
        if row is None:
            return super().distribution(seen)
        if isinstance(seen, Decision):
            return [(action, row[LETTERS.get(action, action)]) for action in seen.actions]
        return list(row.items())

    def remarks(self) -> list[str]:
        """As ``Agent.remarks``."""
        return [f"{self.solved:,} subgames solved, the blueprint played in {self.kept_blueprint:,}"]

    def _row_of(self, state: MatchState) -> dict[str, float] | None:
        """What the solution plays; None to play the blueprint."""
        player = state.betting.player
        hand = (
            state.hand_id,
            player,
            state.betting.actions[: self.round],
            state.board[: self._rules.board_ends[self.round]],
        )
        if hand != self._hand:
            self._hand, self._solution, self._tried = hand, None, -1
        if self._solution is None and self._tried < state.betting.round:
            first = self.round if self._tried < 0 else state.betting.round
            self._tried = state.betting.round
            self._solution = self._solve(state, first)
        if self._solution is None:
            return None
        try:
            row = self._solution.row(state.betting.text(), state.deal.hole[player], state.board)
        except GameError:  # the solution holds the hands that the blueprint has there
            self._solution, self._tried = None, self._rules.rounds
            place = state.betting.text(), state.board, player
            self._keep(state, place, "the blueprint never has this hand there")
            return None
        chances = sharpened(np.array(list(row.values())), self.threshold, self.purify)
        return dict(zip(row, chances.tolist(), strict=True))

    def _solve(self, state: MatchState, turn: int) -> HandSolution | None:
        """The rest of a hand from the start of a round on; None where the blueprint is played."""
        start = "".join(f"{''.join(actions)}/" for actions in state.betting.actions[:turn])
        board = state.board[: self._rules.board_ends[turn]]
        place = (start, board, state.betting.player)
        if place in self._known:
            self._known.move_to_end(place)
            return self._known[place]
        try:
            found = self._resolver.solve(Betting.after(self._rules, start), board, state.betting.player)
        except MemoryLimitError as error:
            self._keep(state, place, str(error))
            return None
        if isinstance(found, Unsolved):
            self._keep(state, place, found.reason)
            return None
        self.solved += 1
        self._note(state, place, f"solved: {found.summary}")
        self._known[place] = found
        while sum(one.nbytes for one in self._known.values()) > KEPT_BYTES and len(self._known) > 1:
            self._known.popitem(last=False)
        return found

    def _keep(self, state: MatchState, place: Place, why: str) -> None:
        """Play the blueprint from here on."""
        self.kept_blueprint += 1
        self._note(state, place, f"{why}; the blueprint is played")

    def _note(self, state: MatchState, place: Place, text: str) -> None:
        """Add a line to the log."""
        if self.log is None:
            return
        try:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write(f"hand {state.hand_id}, {place[0]} {cards_text(place[1])}, player {place[2] + 1}: {text}\n")
        except (OSError, ValueError) as error:
            raise CounterplayError(f"cannot write the log {self.log}: {error}") from None

    @functools.cached_property
    def _states(self) -> dict[tuple[int, str], MatchState]:
        """A state of a match for each information set of a game that is played on its own states."""
        rules, tree = self._rules, self._resolver.rows.tree
        name = namer(open_game(self.strategy.game, "states"), rules)
        found: dict[tuple[int, str], MatchState] = {}
        boards = [list(_boards(rules, turn)) for turn in range(rules.rounds)]
        decisions = np.flatnonzero(tree.player >= 0).tolist()
        if sum(len(boards[tree.round[node]]) for node in decisions) * len(self._resolver.holes) > MOST_NAMES:
            raise GameError(
                f"{self.strategy.game} is too large to be solved at the table by the names of its information sets"
            )
        for node in decisions:
            betting = Betting.after(rules, tree.text(node))
            for board, hole in itertools.product(boards[betting.round], self._resolver.holes.tolist()):
                cards = tuple(hole[: rules.hole_cards])
                if not set(cards) & set(board):
                    dealt = tuple(cards if seat == betting.player else () for seat in (0, 1))
                    state = MatchState(0, betting, Deal(dealt, board))
                    found.setdefault((betting.player, name(state)), state)
        return found


def _boards(rules: GameDefinition, turn: int) -> list[tuple[int, ...]]:
    """All boards in a round, the cards of each round ascending."""
    boards: list[tuple[int, ...]] = [()]
    for count in rules.board_cards[: turn + 1]:
        boards = [
            (*board, *cards)
            for board in boards
            for cards in itertools.combinations(sorted(set(rules.deck) - set(board)), count)
        ]
    return boards


def _round(rules: GameDefinition, given: str | int) -> int:
    """The number of a round, from 0.  Raises GameError if there is none, or nothing comes before it."""
    names = [rules.round_name(number) for number in range(rules.rounds)]
    numbers = {str(number + 1): number for number in range(rules.rounds)}
    found = numbers.get(str(given), names.index(str(given)) if str(given) in names else None)
    if not found:
        offers = ", ".join(names[1:]) or "none: this game has one round"
        raise GameError(f"resolve is a round after the first: {offers}; got {given!r}")
    return found
