"""Sizes of published bucket games, counted (Johanson 2016, table 5.2 and chapters 2 to 11; Gibson 2014)."""

from __future__ import annotations

from counterplay.abstraction.cards import deck_shape, parse_recipe
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.buckets.bucket_counts import count_bucket_game

TWO, THREE = "holdem.limit.2p.reverse_blinds", "holdem.limit.3p"

PUBLISHED: tuple[tuple[str, str, int | str], ...] = (
    (TWO, "2s", 96_056), (TWO, "3s", 476_934), (TWO, "5s", "3.6 million"), (TWO, "8s", "less than 24 million"),
    (TWO, "10s", 57_330_780), (TWO, "12s", "118.7 million"),
    (TWO, "IR10/IR100/IR1000/10000", 57_330_780), (TWO, "IR169/IR9000/IR9000/9000", 57_331_352),
    (TWO, "IR169/IR66105/IR66105/1950", 57_331_352), (TWO, "IRC/IRC/IR1500000/840000", "5.8 billion"),
    (TWO, "IR169/IR180000/IR540000/78480", "797.8 million"),
    ("2-4", "5s", 1_790), ("2-4", "IR169/570", "41 thousand"),
    (THREE, "IR16/IR16/IR16/16", "155.4 million"), (THREE, "IR169/IR900/IR100/25", "262.1 million"),
)  # fmt: skip
"""Game, abstraction, information sets as printed."""


def run(quick: bool = False) -> Experiment:
    """Count every row; ``quick`` changes nothing, since it takes a second."""
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        for game, text, published in PUBLISHED:
            definition = STANDARD[game]
            cards = deck_shape(definition)
            size = count_bucket_game(definition, parse_recipe(text, *cards).counts(*cards))
            by_round = size.infosets_by_round
            rows.append((game, text, published, size.infosets, *by_round, *[None] * (4 - len(by_round))))
    return Experiment(
        title="Information sets of bucket games",
        source="Johanson 2016, table 5.2 and sections 2.6, 4.4, 11.3; Gibson 2014, sections 3.4, 4.4 and 8",
        columns=("game", "buckets", "published", "ours", "preflop", "flop", "turn", "river"),
        rows=tuple(rows),
        notes=(
            "57,330,780 contains an error: table 5.2 has 700 information sets on the flop, where 70 betting sequences "
            "times 100 buckets are 7,000.",
        ),
    )
