"""``counterplay list``: the names that other verbs take, each with a line about it."""

from __future__ import annotations

from counterplay.cli import options as o
from counterplay.cli.common import print_json, say, table

TOYS = "toy_"
"""How the names of small examples start; they are counted, not listed."""


def command(as_json: o.AsJson = False) -> None:
    """List games, algorithms and ready-made opponents by name.

    `counterplay games` adds the parameters of games, `counterplay algorithms` the traits of algorithms.
    """
    from counterplay.game.registry import games
    from counterplay.solvers import ALGORITHMS
    from counterplay.strategy.ready_made import READY_MADE

    found = {
        "games": [{"name": entry.name, "summary": entry.summary} for entry in games()],
        "algorithms": [{"name": name, "summary": algorithm.summary} for name, algorithm in ALGORITHMS.items()],
        "opponents": [{"name": name} for name in READY_MADE],
    }
    if as_json:
        print_json(found)
        return
    say("Games (counterplay info GAME, counterplay games):")
    table([(row["name"], row["summary"]) for row in found["games"] if not row["name"].startswith(TOYS)])
    toys = sum(row["name"].startswith(TOYS) for row in found["games"])
    say(f"  {TOYS}...: {toys} small examples of the literature.  holdem: a postflop spot (counterplay solve --help).")
    say()
    say("Algorithms (counterplay solve GAME --algorithm NAME, counterplay algorithms):")
    table([(row["name"], row["summary"]) for row in found["algorithms"]])
    say()
    say("Opponents (counterplay match, play and evaluate):")
    say(f"  {', '.join(READY_MADE)}")
