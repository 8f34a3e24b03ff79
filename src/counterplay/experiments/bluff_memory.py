"""Figure 1, bottom, of Lanctot et al. 2012 on a smaller game: regret in Bluff when only the last bids are remembered.

The source plays Bluff(2,2) with chance sampling; here it is Bluff(1,1), whose regrets are exact within seconds.
"""

from __future__ import annotations

from counterplay.abstraction import abstraction_by_name
from counterplay.experiments.regret_curves import checkpoints, regret_curve, sampling_note
from counterplay.experiments.shared.experiment import Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.games.bluff import count_infosets

MEMORIES = (1, 2, 3, 4, 5, 6, 8, 11)
"""Numbers of bids remembered; 11 is all of them."""


def run(quick: bool = False, iterations: int | None = None, sample: bool = False, seed: int = 0) -> Experiment:
    """Run vanilla CFR in Bluff(1,1) with short memories and measure it in the full game."""
    last = iterations or (100 if quick else 1000)
    game = open_game("bluff(d1=1,d2=1)", "states")
    real = open_game(game, "history")
    rows, curves = [], {}
    with keeping_rows():
        for memory in MEMORIES:
            abstraction = abstraction_by_name(game, real, f"last-bids={memory}")
            curve = regret_curve(real, abstraction, checkpoints(last), seed if sample else None)
            _, large = count_infosets(2, 2, 6, memory)
            saved = 1 - abstraction.num_entries / real.num_entries
            rows.append((memory, abstraction.num_entries, f"{saved:.2%}", large, *curve[last], sum(curve[last])))
            curves[f"last {memory} bids"] = (list(curve), [sum(regrets) for regrets in curve.values()])
    return Experiment(
        title=f"Average regret in Bluff(1,1) after {last} iterations of CFR, by bids remembered",
        source="Lanctot et al. 2012, figure 1 (bottom), there for Bluff(2,2)",
        columns=("bids", "pairs", "saved", "pairs in Bluff(2,2)", "player 1", "player 2", "sum"),
        rows=tuple(rows),
        notes=(
            "The source shows curves without numbers: regret grows as memory shrinks, little above 8 bids.",
            sampling_note(sample),
        ),
        curves=curves,
    )
