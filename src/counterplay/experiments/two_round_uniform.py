"""2-NL hold'em of Gibson et al. 2012: sizes of the five-bucket game, and what its uniform profile loses."""

from __future__ import annotations

from counterplay.abstraction.cards.features import CardFeatures, default_cache
from counterplay.abstraction.cards.two_round import two_round_cards
from counterplay.evaluation.bucket_pairs import count_bucket_pairs, measure_buckets
from counterplay.experiments.shared.experiment import Cell, Experiment
from counterplay.forms import open_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_game import PokerGame

__all__ = ["PUBLISHED", "run"]

PUBLISHED = {36: ("68 million", 6793.0)}
"""Stack: information sets and mbb/g, as printed."""

STACKS = (4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36)


def run(quick: bool = False, threads: int = 1) -> Experiment:
    """Measure the uniform profile for stacks up to 36 chips; ``quick`` up to 16."""
    cards = two_round_cards(CardFeatures((13, 4), (2, 3, 1, 1), cache=default_cache(), threads=threads))
    pairs = None
    rows: list[tuple[Cell, ...]] = []
    for stack in (size for size in STACKS if not quick or size <= 16):
        game = open_game(f"holdem_2_nolimit(stack={stack})", "states")
        assert isinstance(game, PokerGame)
        abstract = BucketGame.build(game.definition, cards.rounds, name=game.spec())
        pairs = pairs or count_bucket_pairs(abstract)
        measured = measure_buckets(abstract, pairs)
        sets, loss = PUBLISHED.get(stack, (None, None))
        ours = round(1000 * measured.exploitability / abstract.big_blind, 2)
        rows.append((stack, sets, abstract.num_infosets, abstract.num_entries, loss, ours))
    curve = [float(str(row[0])) for row in rows], [float(str(row[5])) / float(str(row[0])) for row in rows]
    return Experiment(
        name="two-round-uniform",
        title="2-NL hold'em with five buckets: information sets and exploitability of the uniform profile",
        source="Gibson et al. 2012, section 5",
        columns=("stack", "published sets", "ours", "entries", "published mbb/g", "ours mbb/g"),
        rows=tuple(rows),
        notes=(
            "Buckets are percentiles of E[HS²] to the river, although the game ends after the flop.",
            "Information sets are counted exactly; the paper rounds up.",
        ),
        curves={"uniform profile, mbb/g over the stack": curve},
        xlabel="stack",
    )
