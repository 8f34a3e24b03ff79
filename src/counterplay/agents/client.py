"""The client of the competition's protocol: any agent as a player at a dealer's table.

Protocol 2.0.0 of the Annual Computer Poker Competition.  The client sends its version and then reads states.  When it
is its turn it sends the state back unchanged, with an action appended; otherwise it sends nothing.  Lines that begin
with ``#`` or ``;`` are comments.  The match is over when the dealer closes the connection.
"""

from __future__ import annotations

import dataclasses

from counterplay.agents.agent import Agent
from counterplay.agents.connection import Connection, ConnectionLostError, connect
from counterplay.errors import GameError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_state import parse_match_state

VERSION = "VERSION:2.0.0"


@dataclasses.dataclass(frozen=True)
class ClientReport:
    """What a client has seen: hands that are over, actions sent."""

    hands: int
    actions: int


def play_as_client(agent: Agent, game: GameDefinition, host: str, port: int) -> ClientReport:
    """Play a match until it is over, at the table of the dealer who listens for this seat at ``host`` and ``port``.

    The protocol does not say which game is played.  Raises GameError if the dealer sends something that is not a state
    of ``game``, and CounterplayError if there is no dealer.
    """
    connection = connect(host, port)
    try:
        connection.send(VERSION)
        return _play(agent, game, connection)
    finally:
        connection.close()


def _play(agent: Agent, game: GameDefinition, connection: Connection) -> ClientReport:
    hands, actions = 0, 0
    while True:
        try:
            line = connection.read()
        except ConnectionLostError:  # a dealer that exits may reset the connection instead of closing it
            line = None
        if line is None:
            return ClientReport(hands, actions)
        if not line or line[0] in "#;":
            continue
        state = parse_match_state(game, line)
        betting = state.betting
        if betting.finished:
            hands += 1
            agent.observe(state)
        elif state.my_turn:
            action = agent.act(state)
            if not betting.legal(action):
                raise GameError(f"the agent wants to play {action!r} in {line!r}, which is not legal")
            try:
                connection.send(f"{line}:{action}")
            except ConnectionLostError:
                return ClientReport(hands, actions)
            actions += 1
