"""Shared by the solvers on public trees: the type of tables, profiles, and what reports say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.kernels.public.piece_steps import Tables
from counterplay.poker.postflop import SUBGAME
from counterplay.poker.postflop.subgame import parse_subgame
from counterplay.solvers.cfr import ROUNDING
from counterplay.solvers.result import RunFacts
from counterplay.solvers.solver import Solver
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.tree.public.public_tree import PublicTree

SMALL = 4_000_000
"""Entries up to which tables are float64 by default."""

SINGLE_ROUNDING = 1e-7
"""``ROUNDING`` of walks whose vectors are float32; with it, runs agree with those in float64 as long as tables do."""


class PublicTreeTables(Solver):
    """A solver with tables over the hands at each public state."""

    form_name = "public"
    check_ratio = 1.25
    tree: PublicTree
    locked: NDArray[np.bool_] | None = None
    """The nodes whose strategy is fixed."""

    def profile(self, kind: Any = None) -> PublicStrategy:
        """A profile with its provenance; ``kind`` as for ``strategy``."""
        locked = None if self.locked is None else self.locked.copy()
        return PublicStrategy.of_tree(self.tree, self.strategy(kind), self.provenance(kind), locked)

    def identity(self) -> dict[str, str]:
        """What a checkpoint records about its game."""
        return {"game": self.tree.name, "fingerprint": self.tree.fingerprint}

    @property
    def histories(self) -> int | None:
        """Unknown: the public tree does not hold them."""
        return None

    def facts(self) -> RunFacts:
        """What reports say about the game and the tables."""
        tree = self.tree
        spot = parse_subgame(tree.name) if tree.name.startswith(SUBGAME) else None
        return RunFacts(
            title="" if spot is None else spot.title,
            big_blind=tree.big_blind,
            pot=None if spot is None else spot.pot,
            zero_sum=tree.zero_sum,
            recall=("perfect", "perfect"),
            public_states=tree.num_public_states,
            entries=sum(tree.num_entries),
            locked=() if self.locked is None else tree.locked_nodes(self.locked),
            tree_bytes=tree.nbytes,
            table_bytes=self.table_bytes,
            seed=getattr(self.config, "seed", 0),
            threads=self.config.threads,
        )


def table_type(entries: int, storage: str) -> np.dtype[Any]:
    """The type of the tables; auto is float64 for small games and float32 for large ones."""
    if storage == "auto":
        return np.dtype(np.float64 if entries <= SMALL else np.float32)
    return np.dtype(storage)


def vector_type(kind: np.dtype[Any]) -> np.dtype[Any]:
    """The type of predictions, and of the vectors of walks, beside tables of a type: it must hold fractions."""
    return np.dtype(np.float32) if kind == np.int16 else kind


def rounding(tree: PublicTree, vectors: np.dtype[Any]) -> float:
    """Regrets up to this are ties in walks whose vectors have a type."""
    return (ROUNDING if vectors == np.float64 else SINGLE_ROUNDING) * tree.scale


def table_arrays(players: tuple[Tables, Tables]) -> dict[str, NDArray[Any]]:
    """The tables of both players by the names that they have in checkpoints."""
    names = ("regret", "regret_scale", "average", "average_scale", "prediction")
    return {f"{name}_{player}": getattr(tables, name) for player, tables in enumerate(players) for name in names}
