"""``counterplay algorithms``: the algorithms of ``solve``, and their settings."""

from __future__ import annotations

from counterplay.cli import options as o
from counterplay.cli.common import print_json, say


def command(as_json: o.AsJson = False) -> None:
    """List the algorithms that solve games."""
    from counterplay.solvers import ALGORITHMS

    traits = {
        name: [
            trait.replace("_", "-")
            for trait in ("exact", "one_sided", "refines", "sampled")
            if getattr(algorithm, trait)
        ]
        for name, algorithm in ALGORITHMS.items()
    }
    if as_json:
        print_json({
            "algorithms": [
                {"name": name, "summary": algorithm.summary, "traits": traits[name]}
                for name, algorithm in ALGORITHMS.items()
            ]
        })  # fmt: skip
        return
    width = max(map(len, ALGORITHMS))
    for name, algorithm in ALGORITHMS.items():
        marks = f" ({', '.join(traits[name])})" if traits[name] else ""
        say(f"{name:<{width}}  {algorithm.summary}{marks}")
    say()
    say("exact: ends with an equilibrium of a two-player zero-sum game; one-sided: with the safest strategy of")
    say("--player, where players may forget; refines: takes --forget as a start and refines it; sampled: has")
    say("--seed and --threads.  Settings are changed by --set NAME=VALUE; a wrong name lists them.")
