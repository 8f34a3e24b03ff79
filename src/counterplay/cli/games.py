"""``counterplay games``: the registered games and their parameters."""

from __future__ import annotations

from counterplay.cli import options as o
from counterplay.cli.common import print_json, say
from counterplay.game.game import format_value
from counterplay.game.registry import games


def command(as_json: o.AsJson = False) -> None:
    """List the games and their parameters."""
    entries = games()
    if as_json:
        listing = [
            {
                "name": entry.name,
                "summary": entry.summary,
                "parameters": [
                    {"name": p.name, "type": p.type.__name__, "default": p.default, "help": p.help}
                    for p in entry.parameters
                ],
                "forgets": dict(entry.forgets),
            }
            for entry in entries
        ]
        print_json({"games": listing})
        return
    for entry in entries:
        say(f"{entry.name}")
        say(f"    {entry.summary}")
        for p in entry.parameters:
            say(f"      {p.name}={format_value(p.default)}  ({p.type.__name__}) {p.help}")
        for what, text in entry.forgets.items():
            say(f"      --forget {what}=...  {text}")
    say()
    say("Also: a file of your own (./my_game.py:MyGame), a Gambit file (x.efg), a poker file (x.game), openspiel:NAME.")
