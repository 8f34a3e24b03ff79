"""Solvers that take a ``Restriction``, and both seats of a response at once.

Johanson 2016, sections 6.1 and 6.5.  A restricted game is one of two players and zero-sum: we, who are free, against an
opponent who follows a model to some degree.  CFR is as ever, except for what we play against:

* restricted Nash, a coin for each game: the model with probability p, else the strategy that the opponent learns.
  Tables of the opponent hold the latter, *the free part*.
* data biased, a coin for each decision: in each information set c ``fix`` + (1 - c) ``free``.  The opponent regrets
  against the free part, which alone is a choice; averages hold the mixture, which is what is played.

A measurement of such a solver is one of the restricted game: its exploitability, the mean of what the two players would
gain by best responses, is how far the averages are from its solution, *the gap*.  What our strategy is sure of in the
restricted game is at most twice that below its value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.measurement import Measurement
from counterplay.solvers.restriction import Restriction, player_rows
from counterplay.solvers.result import RunFacts
from counterplay.solvers.seat_pair import SeatPair
from counterplay.solvers.settings import Settings
from counterplay.solvers.solver import Solver
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.sequence_form import spans

Float64 = NDArray[np.float64]

NEAR_ZERO = 1e-9
"""Up to this, relative to the largest utility, what players win adds up to 0."""


class RestrictedSolver(Solver):
    """A solver of two-player zero-sum games whose opponent may be restricted.

    Parameters
    ----------
    *args, **kwargs
        Those of the solver.
    restriction : Restriction, optional
        Who is restricted, and to what.

    Raises
    ------
    SolverError, GameError
        If the restriction does not fit the game, or the game is not one of two players and zero-sum.
    """

    restricted_presets: ClassVar[tuple[str, ...]] = ()
    """The presets that take a restriction."""

    restriction: Restriction | None

    def __init__(self, *args: Any, restriction: Restriction | None = None, **kwargs: Any) -> None:
        self.restriction = restriction
        super().__init__(*args, **kwargs)

    def _check_game(self) -> None:
        super()._check_game()
        self._check_restriction()

    def _check_restriction(self) -> None:
        """Lay the restriction out for the game; refuse one that does not fit."""
        if self.restriction is not None:
            check_zero_sum(self.tree)
            self.restriction = self.restriction.on(self.tree)

    def _layout_bytes(self) -> int:
        return super()._layout_bytes() + restriction_bytes(self.restriction)

    def restriction_tables(self) -> dict[str, NDArray[Any]]:
        """The part of ``tables`` that is the restriction."""
        held = self.restriction
        if held is None:
            return {}
        return {"fixed": held.strategy} | ({} if isinstance(held.confidence, float) else {"trusted": held.confidence})

    def restriction_state(self) -> dict[str, Any]:
        """The part of ``state``: who is restricted, and the probability of a coin for each game."""
        held = self.restriction
        if held is None:
            return {}
        return {"restricted": held.player, "coin": held.confidence if isinstance(held.confidence, float) else None}

    def _derive(self) -> None:
        """Derive from a restriction what kernels take."""

    def fill(self, tables: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Take over a checkpoint, and the restriction in it."""
        if "restricted" in state:
            coin = state["coin"]
            confidence = tables["trusted"] if coin is None else coin
            self.restriction = Restriction(state["restricted"], tables["fixed"], confidence).on(self.tree)
            self._derive()
        super().fill(tables, state)


def restriction_bytes(restriction: Restriction | None) -> int:
    """Bytes that a restriction takes besides the tables: the model, the confidences, the least probabilities."""
    if restriction is None:
        return 0
    return restriction.strategy.nbytes * (1 if restriction.kind == "rnr" else 3)


def check_zero_sum(form: Any) -> None:
    """Refuse a game in which a restricted opponent makes no sense.  Raises GameError."""
    if form.players != 2:
        raise GameError(f"responses are for two players; {form.name} has {form.players}")
    if isinstance(form, GameTree):
        zero_sum = form.facts.zero_sum
    else:
        total, largest = np.abs(form.utility.sum(axis=1)).max(initial=0.0), np.abs(form.utility).max(initial=0.0)
        zero_sum = total <= NEAR_ZERO * largest
    if not zero_sum:
        raise GameError(f"responses are for zero-sum games; utilities of {form.name} do not add up to 0")


class SeatSolvers(SeatPair):
    """A solver for each seat of a response, the opponent in the other seat restricted; an iteration is one of each.

    Parameters
    ----------
    first, second : RestrictedSolver
        Those of the first and of the second seat, on one form of one game, with the same settings.
    """

    halves: tuple[RestrictedSolver, ...]
    kind = "seats"
    seat_mark = "_of_"  # bucket pairs have names that end in numbers
    check_ratio = 1.25
    config_class = Settings
    presets: ClassVar = {}

    def __init__(self, first: RestrictedSolver, second: RestrictedSolver) -> None:  # the games are open
        self.halves = first, second
        self.curve = []
        self.config, self.algorithm, self.tree = first.config, first.algorithm, first.tree
        self._own = spans(*player_rows(self.tree, 1))

    def _allocate(self) -> None:
        """The halves have their tables."""

    def strategy(self, kind: Any = None) -> Float64:
        """The response: in each seat what its solver has found."""
        first, second = (half.strategy(kind) for half in self.halves)
        first[self._own] = second[self._own]
        return np.asarray(first)

    def measure(self) -> Measurement:
        """The mean of both restricted games, each player's numbers those of the response and of the opponent."""
        each = []
        for seat, half in enumerate(self.halves):
            found = half.measure()
            each.append((found.value[seat], found.value[1 - seat], found.best_response[seat],
                         found.best_response[1 - seat]))  # fmt: skip
        own, other, best, against = (float(number) for number in np.mean(each, axis=0))
        return Measurement((own, other), (best, against))

    def facts(self) -> RunFacts:
        """Those of the first seat."""
        return self.halves[0].facts()

    def identity(self) -> dict[str, Any]:
        """What a checkpoint records: the game, and who is restricted to what."""
        digest = hashlib.sha256()
        for half in self.halves:
            held = half.restriction
            assert held is not None
            digest.update(f"{half.identity()['fingerprint']} {held.player}".encode())
            for array in (held.strategy, np.atleast_1d(held.confidence)):
                digest.update(np.ascontiguousarray(array).data)
        return {**self.halves[0].identity(), "fingerprint": digest.hexdigest()}

    def fill(self, tables: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Take over both from a checkpoint."""
        for seat, (half, own) in enumerate(zip(self.halves, state["seats"], strict=True)):
            end = f"{self.seat_mark}{seat}"
            half.fill({name[: -len(end)]: table for name, table in tables.items() if name.endswith(end)}, own)
