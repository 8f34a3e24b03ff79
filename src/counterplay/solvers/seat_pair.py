"""Two solvers that advance together, one for each seat of an agent (``asymmetric.py``, ``restricted_solver.py``)."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import NDArray

from counterplay.solvers.solver import Solver


class SeatPair(Solver):
    """A solver whose iteration is one of each of its ``halves``."""

    halves: tuple[Solver, ...]
    """The solvers of the first and of the second seat."""

    seat_mark: ClassVar[str] = "_"
    """Between the name of a table and its seat."""

    @property
    def table_bytes(self) -> int:
        """Bytes of all that both have allocated."""
        return sum(half.table_bytes for half in self.halves)

    @property
    def iterations(self) -> int:
        """Iterations that both seats have done."""
        return min(half.iterations for half in self.halves)

    @property
    def least_iterations(self) -> int:
        """Those of a call of one of the solvers."""
        return self.halves[0].least_iterations

    @property
    def nodes(self) -> int:
        """Histories, or nodes of the betting, touched so far by both."""
        return sum(half.nodes for half in self.halves)

    def step(self, iterations: int = 1) -> None:
        """Advance both by some iterations; one that Ctrl-C has left behind catches up."""
        goal = self.iterations + iterations
        for half in self.halves:
            half.deadline = self.deadline
            half.step(max(0, goal - half.iterations))

    def tables(self) -> dict[str, NDArray[Any]]:
        """Those of both solvers."""
        return {
            f"{name}{self.seat_mark}{seat}": table
            for seat, half in enumerate(self.halves)
            for name, table in half.tables().items()
        }

    def state(self) -> dict[str, Any]:
        """Those of both solvers."""
        return {"seats": [half.state() for half in self.halves]}
