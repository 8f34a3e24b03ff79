"""``counterplay algorithms``: the algorithms of ``solve``, and their settings."""

from __future__ import annotations

from counterplay.cli import options as o
from counterplay.cli.common import print_json, say


def command(as_json: o.AsJson = False) -> None:
    """List the algorithms that solve games."""
    from counterplay.solvers import ALGORITHMS

    known = ("exact", "one_sided", "refines", "sampled")
    rows = []
    for name, algorithm in ALGORITHMS.items():
        traits = [trait.replace("_", "-") for trait in known if getattr(algorithm, trait)]
        rows.append({"name": name, "summary": algorithm.summary, "traits": traits})
    if as_json:
        print_json({"algorithms": rows})
        return
    width = max(map(len, ALGORITHMS))
    for row in rows:
        marks = f" ({', '.join(row['traits'])})" if row["traits"] else ""
        say(f"{row['name']:<{width}}  {row['summary']}{marks}")
    say()
    say("exact: ends with an equilibrium of a two-player zero-sum game; one-sided: with the safest strategy of")
    say("--player, where players may forget; refines: takes --forget as a start and refines it; sampled: has")
    say("--seed and --threads.  Settings are changed by --set NAME=VALUE; a wrong name lists them.")
