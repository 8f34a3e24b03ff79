"""Figure 1, middle, of Lanctot et al. 2012 on smaller boards: regret in phantom tic-tac-toe by what players forget.

The full game has 1.7 · 10^10 histories.  Here some squares are marked before play, publicly: with X in the centre and
O in a corner (4.2 million histories), or with X in two corners and O in the centre and on a side (4255, ``quick``).
"""

from __future__ import annotations

from counterplay.abstraction import abstraction_by_name
from counterplay.experiments.regret_curves import checkpoints, regret_curve, sampling_note
from counterplay.experiments.shared.experiment import Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.games.phantom_ttt import count_infosets

VARIANTS = ("full", "FOSF", "FOI", "FOS", "FOE")
PUBLISHED = {"full": 11_695_314, "FOSF": 9_347_010, "FOI": 1_147_530, "FOS": 1_484_168, "FOE": 47_818}
"""Pairs of information set and action in the full game (table 1)."""


def run(quick: bool = False, iterations: int | None = None, sample: bool = False, seed: int = 0) -> Experiment:
    """Run vanilla CFR with each variant and measure it in the game where everything is remembered."""
    board = 'x="0,8",o="1,4"' if quick else 'x="4",o="0"'
    last = iterations or (100 if quick else 300)
    game = open_game(f"phantom_ttt({board})", "states")
    real = open_game(game, "history")
    rows, curves = [], {}
    with keeping_rows():
        for variant in VARIANTS:
            abstraction = abstraction_by_name(game, real, f"order={variant}")
            curve = regret_curve(real, abstraction, checkpoints(last), seed if sample else None)
            whole = sum(count.pairs for count in count_infosets(variant))
            rows.append((variant, PUBLISHED[variant], whole, abstraction.num_entries, *curve[last], sum(curve[last])))
            curves[variant] = (list(curve), [sum(regrets) for regrets in curve.values()])
    return Experiment(
        title=f"Average regret in phantom tic-tac-toe ({board}) after {last} iterations of CFR",
        source="Lanctot et al. 2012, figure 1 (middle) and table 1, there for the empty board",
        columns=("variant", "pairs, published", "pairs, ours", "pairs on this board", "player 1", "player 2", "sum"),
        rows=tuple(rows),
        notes=(
            "The source shows curves without numbers: FOSF equals the full game, the others keep regret.",
            sampling_note(sample),
        ),
        curves=curves,
    )
