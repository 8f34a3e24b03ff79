"""Shared by the solvers on public trees: the type of tables, profiles, and what reports say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.poker.postflop import SUBGAME
from counterplay.poker.postflop.subgame import parse_subgame
from counterplay.solvers.result import RunFacts
from counterplay.solvers.solver import Solver
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.tree.public.public_tree import PublicTree

SMALL = 4_000_000
"""Entries up to which tables are float64 by default."""


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
