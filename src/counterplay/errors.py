"""The errors a user of counterplay can meet.

They are raised for misuse only: outcomes of solving (converged, interrupted, out of time) are values, not
exceptions.  Every message is one line that shows the offending value and says what to do about it.
"""

from __future__ import annotations

__all__ = [
    "AbstractionError", "ClusterError", "CounterplayError", "GameError", "MemoryLimitError", "SolverError",
    "StrategyError", "UnknownInfosetError",
]  # fmt: skip


LONGEST = 2000
"""Characters of a message; the middle of a longer one, which quotes a long input, is left out."""


class CounterplayError(Exception):
    """Base class of all errors raised by counterplay on bad input."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(_shortened(arg) if isinstance(arg, str) else arg for arg in args))


def _shortened(message: str) -> str:
    return message if len(message) <= LONGEST else f"{message[: LONGEST // 2]} ... {message[-LONGEST // 4 :]}"


class GameError(CounterplayError):
    """A game that cannot be found, loaded or compiled, or that contradicts itself."""


class MemoryLimitError(GameError):
    """A game or a solve that would need more memory than it may use."""


class StrategyError(CounterplayError):
    """A profile that does not fit the game, or a file of counterplay's that is damaged or foreign."""


class OtherGameError(StrategyError):
    """A checkpoint of another game than the one that is given."""


class UnknownInfosetError(StrategyError, KeyError):
    """An infoset that a strategy does not have, by ``strategy["K:"]``."""

    __str__ = Exception.__str__  # that of KeyError quotes the message


class AbstractionError(CounterplayError):
    """A map of information sets or actions that does not fit the game."""


class SolverError(CounterplayError):
    """A solver configuration or request that makes no sense."""


class ClusterError(CounterplayError):
    """A cluster that cannot be started or reached, whose machines do not fit together, or that lost its workers."""
