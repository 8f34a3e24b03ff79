"""The summary of ``counterplay solve``: the rows of the result, and the next commands."""

from __future__ import annotations

import resource
import sys
from typing import TYPE_CHECKING

from counterplay.cli.common import say, table
from counterplay.runtime.memory import format_bytes

if TYPE_CHECKING:
    from counterplay.runtime.pacing import Until
    from counterplay.solvers import SolveResult


def summarise(result: SolveResult, goal: Until) -> None:
    """Print the summary."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    say(result.title)
    table([
        (name, f"{text}, {format_bytes(peak)} process") if name == "memory" else (name, text)
        for name, text in result.rows()
    ])  # fmt: skip
    say()
    say("Next:")
    files = result.files
    if result.status == "interrupted":
        say(f"  counterplay solve --resume {files['checkpoint']} {goal_options(goal)}   continue from here")
    if files["profile"] is not None:
        say(f"  counterplay show {files['profile']}   see what the strategy plays")
        say(f"  counterplay evaluate {files['profile']}   measure the strategy again from its file")
    if result.facts.pot is None:
        say(f'  counterplay info "{result.game}"   sizes, recall and memory of the game')
    say("  counterplay games   what else can be solved")


def goal_options(goal: Until) -> str:
    """The options of this goal."""
    limits = (("--iterations", goal.iterations), ("--seconds", goal.seconds), ("--until", goal.exploitability))
    return " ".join(
        f"{name} {limit:g}" if isinstance(limit, float) else f"{name} {limit}" for name, limit in limits if limit
    )
