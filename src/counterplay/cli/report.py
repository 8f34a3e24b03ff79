"""The summary of ``counterplay solve``: the rows of the result, and the next commands."""

from __future__ import annotations

import resource
import shlex
import sys
from typing import TYPE_CHECKING

from counterplay.cli.common import say, say_next, table
from counterplay.runtime.memory import format_bytes

if TYPE_CHECKING:
    from counterplay.runtime.pacing import Until
    from counterplay.solvers import SolveResult


def summarise(result: SolveResult, goal: Until, game: str = "") -> None:
    """Print the summary; ``game`` are words that a command needs, besides the checkpoint, to resume the run."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    say(result.title)
    table([
        (name, f"{text}, {format_bytes(peak)} process") if name == "memory" else (name, text)
        for name, text in result.rows()
    ])  # fmt: skip
    if result.facts.pot is not None and result.files["profile"] is None:
        say()
        say("The strategy was not kept; give --out FILE to save it.")
    say_next(*_next(result, goal, game))


def _next(result: SolveResult, goal: Until, game: str) -> list[tuple[str, str]]:
    """The next commands and what they do."""
    found = []
    own = " --trust" if ".py" in result.game else ""  # the file names code
    if result.status == "interrupted":
        kept = (("--resume", result.files["checkpoint"]), ("--out", result.files["profile"]))
        files = " ".join(f"{option} {shlex.quote(str(file))}" for option, file in kept if file is not None)
        files = f"{game} {files}".strip()
        found.append((f"counterplay solve {files} {goal_options(goal)}{own}", "continue from here"))
    if result.files["profile"] is not None:
        profile = shlex.quote(str(result.files["profile"])) + own
        found.append((f"counterplay show {profile}", "see what the strategy plays"))
        found.append((f"counterplay play {profile}", "play against it"))
        found.append((f"counterplay evaluate {profile}", "measure the strategy again from its file"))
    if result.facts.pot is None:
        found.append((f"counterplay info {shlex.quote(result.game)}", "sizes, recall and memory of the game"))
    return [*found, ("counterplay games", "what else can be solved")]


def goal_options(goal: Until) -> str:
    """The options of this goal."""
    limits = (("--iterations", goal.iterations), ("--seconds", goal.seconds), ("--until", goal.exploitability))
    return " ".join(
        f"{name} {limit:.12g}" if isinstance(limit, float) else f"{name} {limit}" for name, limit in limits if limit
    )
