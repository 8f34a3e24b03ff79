"""Memory of the opponent of CFR-BR with a trunk, in limit hold'em, counted (Johanson 2016, table 4.1).

The published numbers fit these rules: of each pair of an information set and an action in the trunk, up to renaming
suits, a regret and an average of four bytes each, for the player who has more of them; and of a best response below
one betting sequence that leaves the trunk, a byte for each decision and each of the 1,326 hands.  Our trunk holds
regrets alone, for both seats at once; our plan has one bit for each hand that a board allows and each exit of a round's
betting, for as many betting sequences at a time as 128 MiB hold.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.kernels.buckets.bucket_pcs import Pieces
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.buckets.board_sampler import betting_pieces
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.buckets.trunk_sampler import continuations, round_indexer, trunk_entries
from counterplay.solvers.hybrid_walker import plan_bytes, plan_parts
from counterplay.solvers.public_tree_tables import table_type

GAME = "holdem.limit.2p.reverse_blinds"
THREADS = 48

KIB, MIB, GIB = 2.0**10, 2.0**20, 2.0**30
PUBLISHED: dict[int, tuple[float, float | None]] = {
    1: (14.52 * KIB, 1.18 * GIB), 2: (936.33 * MIB, 2.74 * MIB), 3: (359.54 * GIB, 6.54 * KIB),
    4: (140.26 * 1024 * GIB, None),
}  # fmt: skip
"""Bytes of the trunk and of a subgame, by rounds of the trunk."""


@dataclasses.dataclass(frozen=True)
class Hands:
    """The hands of a round, each a bucket of its own; on the river more than a ``BucketTable`` takes."""

    shape: tuple[int, ...]
    count: int
    table: NDArray[Any] | None = None
    cuts: NDArray[Any] | None = None


def run(quick: bool = False) -> Experiment:
    """Count every row; ``quick`` changes nothing, since it takes a second."""
    definition = STANDARD[GAME]
    indexers = [round_indexer(definition, turn) for turn in range(definition.rounds)]
    game = BucketGame.build(definition, [Hands(indexer.shape, indexer.size()) for indexer in indexers])
    pieces = betting_pieces(game)
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        for trunk, (table, subgame) in PUBLISHED.items():
            counted = 8 * max(trunk_entries(game, trunk, player) for player in range(2))
            below = None if subgame is None else response_bytes(game, pieces, trunk)
            entries = sum(trunk_entries(game, trunk, player) for player in range(2))
            plan = max((plan_bytes(game, part, trunk) for part in plan_parts(game, pieces, trunk)), default=None)
            rows.append((
                trunk, _text(table), _text(counted), counted / table, _text(subgame), _text(below),
                None if subgame is None or below is None else below / subgame,
                _text(counted + THREADS * (below or 0)), _text(entries * table_type(entries, "auto").itemsize),
                _text(plan),
            ))  # fmt: skip
    return Experiment(
        title=f"Memory of the opponent of CFR-BR with a trunk in {GAME}",
        source="Johanson 2016, table 4.1",
        columns=(
            "rounds", "trunk, published", "counted", "ratio", "subgame, published", "counted", "ratio",
            f"total with {THREADS} threads", "our trunk, both seats", "our plan",
        ),
        rows=tuple(rows),
        notes=(
            "The published trunks have 4.8 to 7.7 % more hands than there are up to renaming suits.",
            "A plan is held by each thread, the trunk is shared.",
        ),
    )  # fmt: skip


def response_bytes(game: BucketGame, pieces: Pieces, trunk: int) -> int:
    """Bytes of a pure best response below one of the betting sequences that leave a trunk, a byte for each decision."""
    rules = game.definition
    hands = math.comb(len(rules.deck), rules.hole_cards)
    most = 0
    for piece in np.flatnonzero(pieces.turn == trunk).tolist():
        for player in range(2):
            members, boards, decisions = [piece], 1, 0
            for turn in range(trunk, rules.rounds):
                boards *= continuations(game, turn) if turn > trunk else 1
                decisions += boards * sum(int(np.diff(pieces.decision_start[player])[one]) for one in members)
                members = [after for one in members for after in _links(pieces, one)]
            most = max(most, hands * decisions)
    return most


def _links(pieces: Pieces, piece: int) -> list[int]:
    first = int(pieces.exit_start[piece] + pieces.terminals[piece])
    return [int(after) for after in pieces.link[first : int(pieces.exit_start[piece + 1])]]


def _text(size: float | None) -> str | None:
    """Bytes with two decimals, in the largest unit below them."""
    if size is None:
        return None
    unit = next((power for power in (4, 3, 2, 1) if size >= 1024.0**power), 0)
    return f"{size / 1024.0**unit:.2f} {('B', 'KB', 'MB', 'GB', 'TB')[unit]}"
