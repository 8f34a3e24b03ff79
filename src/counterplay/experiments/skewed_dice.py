"""Figure 1, top, of Lanctot et al. 2012 (figure 6.1b of Gibson 2014): regret in skewed die-roll poker.

Player 1 is paid extra for an even second die and in round 2 remembers only the sum of the dice.  The source shows
curves without numbers; ours are given with the bound of theorem 2 with the safe factor 2 (``analysis.regret_bounds``).
"""

from __future__ import annotations

from counterplay.abstraction import abstraction_between
from counterplay.analysis.regret_bounds import skew_well_formed_bound
from counterplay.experiments.regret_curves import checkpoints, regret_curve, sampling_note
from counterplay.experiments.shared.experiment import Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.tree import recall_report

SKEWS = (0.0, 0.05, 0.2, 0.8)
"""The values of δ in Gibson 2014, figure 6.1b."""


def run(quick: bool = False, iterations: int | None = None, sample: bool = False, seed: int = 0) -> Experiment:
    """Run vanilla CFR in Skew-DRP-IR(δ) and measure it in Skew-DRP(δ)."""
    last = iterations or (200 if quick else 1000)
    rows, curves = [], {}
    with keeping_rows():
        for skew in SKEWS:
            real = open_game(f"die_roll_poker(skew={skew})", "history")
            forgetful = open_game(f"die_roll_poker(variant=IR,skew={skew})", "history")
            curve = regret_curve(
                real, abstraction_between(real, forgetful), checkpoints(last), seed if sample else None
            )
            report = recall_report(forgetful, real)
            bounds = [
                skew_well_formed_bound(
                    real.utility_range(one.player), one.skew.K or 0.0, 3, last, one.skew.error or 0.0
                )
                for one in report.players
            ]
            rows.append((skew, report.strongest, *curve[last], sum(curve[last]), *bounds))
            curves[f"skew {skew:g}"] = (list(curve), [sum(regrets) for regrets in curve.values()])
    return Experiment(
        title=f"Average regret in the full game after {last} iterations of CFR",
        source="Lanctot et al. 2012, figure 1 (top); Gibson 2014, figure 6.1b",
        columns=("skew", "class", "player 1", "player 2", "sum", "bound for player 1", "bound for player 2"),
        rows=tuple(rows),
        notes=(
            "The source shows curves without numbers: regret grows with the skew, and the bound is very loose.",
            "Die-roll poker itself gives the same regrets as its forgetful form without skew.",
            sampling_note(sample),
        ),
        curves=curves,
    )
