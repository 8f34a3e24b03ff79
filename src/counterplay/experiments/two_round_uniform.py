"""2-NL hold'em of Gibson et al. 2012: sizes of the five-bucket game, and what its uniform profile loses."""

from __future__ import annotations

from counterplay.evaluation.bucket_pairs import measure_buckets
from counterplay.experiments.shared.bucket_games import two_round_games
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows

PUBLISHED = {36: ("68 million", 6793.0)}
"""Stack: information sets and mbb/g, as printed."""

STACKS = tuple(range(4, 38, 2))


def run(quick: bool = False, threads: int = 1) -> Experiment:
    """Measure the uniform profile for stacks up to 36 chips; ``quick`` up to 16."""
    stacks = STACKS[:7] if quick else STACKS
    rows: list[tuple[Cell, ...]] = []
    relative = []
    with keeping_rows():
        for stack, game, pairs in two_round_games(stacks, threads):
            sets, loss = PUBLISHED.get(stack, (None, None))
            ours = round(1000 * measure_buckets(game, pairs).exploitability / game.big_blind, 2)
            rows.append((stack, sets, game.num_infosets, game.num_entries, loss, ours))
            relative.append(ours / stack)
    return Experiment(
        title="2-NL hold'em with five buckets: information sets and exploitability of the uniform profile",
        source="Gibson et al. 2012, section 5",
        columns=("stack", "published sets", "ours", "entries", "published mbb/g", "ours mbb/g"),
        rows=tuple(rows),
        notes=(
            "Buckets are percentiles of E[HS²] to the river, although the game ends after the flop.",
            "Information sets are counted exactly; the paper rounds up.",
        ),
        curves={"uniform profile, mbb/g over the stack": ([float(stack) for stack in stacks], relative)},
        xlabel="stack",
    )
