"""What a game is: the ``Game`` and ``State`` protocols that every rule book is written against.

A game of imperfect information in extensive form (Gibson 2014, definition 2.2; Johanson 2016, section 2.2) is a
tree of histories.  Here a *state* is one history with all its hidden information.  A state says who acts (``player``),
the legal actions or chance outcomes (``actions`` or ``chance``), the next state (``child``), what the acting player
knows (``infoset``) and, at terminal states, what each player has won (``utilities``).  States are immutable: ``child``
returns a new one.

Simultaneous moves are written as hidden sequential ones: the second player's ``infoset`` leaves out what the first
one did.  Imperfect recall and absent-mindedness are allowed; they depend on what ``infoset`` returns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

from counterplay.errors import GameError
from counterplay.game.public_play import PublicPlay

Scheme: TypeAlias = Callable[[int, str, tuple[str, ...]], Sequence[float]]
"""``scheme(player, infoset, actions)``: with which probability a walk takes each action, above 0 and at most 1."""

CHANCE = -1
"""The ``player`` of a state where chance moves."""

TERMINAL = -2
"""The ``player`` of a state where the game is over."""


@runtime_checkable
class State(Protocol):
    """One history of a game.  Only the methods for its kind of node are called."""

    @property
    def player(self) -> int:
        """Who acts: ``0 .. players-1``, ``CHANCE`` or ``TERMINAL``."""

    def actions(self) -> Sequence[Hashable]:
        """Legal actions of a decision, the same in the same order at every history of its information set."""

    def chance(self) -> Sequence[tuple[Hashable, float]]:
        """Outcomes of a chance event with their probabilities, which sum to 1."""

    def child(self, action: Any) -> State:
        """The state after ``action`` (one of ``actions()``, or an outcome of ``chance()``)."""

    def infoset(self) -> Hashable:
        """What the acting player knows.  Histories of one player with equal keys are one information set."""

    def utilities(self) -> Sequence[float]:
        """What each player has won when the game is over, in the game's chips."""


@dataclasses.dataclass(frozen=True)
class GameFacts:
    """Facts of a whole game; found by compiling it.

    ``zero_sum`` means two players of whom one wins what the other loses; with more it is False, whatever the sums.
    """

    players: int
    has_chance: bool
    zero_sum: bool
    min_utility: float
    max_utility: float


class Game:
    """Base class of games.  A subclass gives ``root`` and, as dataclass fields, its parameters.

    Attributes
    ----------
    players : int
        Number of players, chance not counted; a field or a class attribute of the subclass.
    zero_sum : bool or None
        Declared by the author; compiling checks it.  ``None`` leaves it to be found.
    fold_action : str
        What a poker game calls folding.
    forgets : mapping of str to str
        What a player of this game can be made to forget, with a line of help for each; see ``forget``.
    sampling_schemes : mapping of str to Scheme
        Sampling schemes that were made for this game, by name; solvers offer those of all games.
    sampling_scheme : str or None
        The one that is used by default; None leaves it to the names of the actions.
    """

    players: int = 2
    zero_sum: ClassVar[bool | None] = None
    spec_name: ClassVar[str | None] = None
    fold_action: ClassVar[str] = "fold"
    forgets: ClassVar[Mapping[str, str]] = {}
    sampling_schemes: ClassVar[Mapping[str, Scheme]] = {}
    sampling_scheme: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        """Refuse parameters outside the bounds that they declare (``parameter``)."""
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # called by dataclasses only
            check, value = field.metadata.get("check"), getattr(self, field.name)
            if check and not check[0](value):
                name = type(self).spec_name or type(self).__name__
                raise GameError(f"{name}: {field.name} must be {check[1]}; got {value!r}")
            most = field.metadata.get("most")
            if most is not None and value > most:
                name = type(self).spec_name or type(self).__name__
                raise GameError(f"{name}: {field.name} must be at most {most:,}; got {value!r}")

    def root(self) -> State:
        """The state before anything has happened."""
        raise NotImplementedError  # protocol

    @property
    def big_blind(self) -> float | None:
        """Chips in one big blind (the ante, where there are no blinds) of a poker game; None elsewhere."""
        return None

    def num_histories(self) -> int | None:
        """The number of histories, if the game can count them without a walk; None otherwise.

        A game whose size is known is refused at once when it does not fit into memory.
        """
        return None

    def public_play(self) -> PublicPlay | None:
        """The private hands and the public play, if the game can describe them without a walk; None otherwise.

        For games too large to be compiled: others get their public tree from their information sets.
        """
        return None

    def acpc_rules(self) -> Mapping[str, Any] | None:
        """The fields of the competition's definition with the rules of this game; None if there is none.

        Stacks that are left out are unlimited (``poker.acpc.definition.GameDefinition``).
        """
        return None

    def acpc_infoset(
        self, hole: Sequence[int], boards: Sequence[Sequence[int]], actions: Sequence[Sequence[str]]
    ) -> str:
        """The key of an information set in a match of ``acpc_rules``.

        Parameters
        ----------
        hole : sequence of int
            The cards of who acts, ascending; card ``4 * rank + suit``, from the two of clubs.
        boards : sequence of sequences of int
            The board cards of each round so far.
        actions : sequence of sequences of str
            The betting of each round so far, in the letters of the protocol.
        """
        raise GameError(f"{self.spec()} is not a poker game of the competition")

    def forget(self, what: str, value: str) -> Callable[[str], str]:
        """A function from the name of an information set to what remains of it when ``what`` is forgotten.

        Sets with equal remainders are merged by the abstraction.  A subclass lists in ``forgets`` what it can take
        (``{"last-bids": "remember only the last N bids"}``), and overrides this; ``value`` is text from the user.
        """
        offer = ", ".join(self.forgets) or "nothing by name"
        raise GameError(f"{self.spec()} cannot forget {what!r}; it can forget {offer}")

    def kept_count(self, what: str, value: str) -> int:
        """How much remains after ``what``, one of ``forgets``: a non-negative integer from the user."""
        if what not in self.forgets:
            Game.forget(self, what, value)
        if not value.isdecimal():
            raise GameError(f"{self.spec()}: {what} must be a non-negative integer; got {value!r}")
        return int(value)

    def parameters(self) -> dict[str, Any]:
        """The parameters of this game by name, in their declared order."""
        if not dataclasses.is_dataclass(self):
            return {}
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}

    def spec(self) -> str:
        """The name that opens this game again, with the parameters that differ from their defaults."""
        name = type(self).spec_name or type(self).__name__
        if not dataclasses.is_dataclass(self):
            return name
        changed = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.init and not _equal(value, field.default):
                changed.append(f"{field.name}={format_value(value)}")
        return f"{name}({','.join(changed)})" if changed else name

    def play(self, *actions: Hashable) -> State:
        """Follow actions (or chance outcomes) from the root; a help for tests and for trying a game out."""
        state = self.root()
        for action in actions:
            moves = [move for move, _ in state.chance()] if state.player == CHANCE else list(state.actions())
            if action not in moves:
                raise GameError(f"{self.spec()}: {action!r} is not possible here; choose one of {moves}")
            state = state.child(action)
        return state


def format_value(value: Any) -> str:
    """A parameter as text that the registry can parse."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' if _needs_quotes(value) else value
    return repr(value)


def _equal(one: Any, other: Any) -> bool:
    """Whether two parameters are equal; arrays, which compare one by one, count as different."""
    try:
        return bool(one == other)
    except ValueError:
        return False


def _needs_quotes(text: str) -> bool:
    return not text or any(not (ch.isalnum() or ch in "_.-/:") for ch in text)
