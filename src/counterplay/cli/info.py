"""``counterplay info``: how large a game is, what its players remember, and what solving it takes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from counterplay.cli.common import (
    GAME_HELP,
    JSON_HELP,
    MEMORY_HELP,
    print_json,
    read_memory,
    say,
    table,
)  # fmt: skip
from counterplay.cli.problem import FORGET_HELP, load_problem
from counterplay.tree.memory import format_bytes, tree_bytes


def command(
    game: Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)],
    forget: Annotated[list[str] | None, typer.Option(help=FORGET_HELP)] = None,
    memory_limit: Annotated[str | None, typer.Option(help=MEMORY_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
) -> None:
    """Count histories, information sets and sequences; classify recall; estimate memory."""
    tree = load_problem(game, forget or [], read_memory(memory_limit), as_json).solved
    from counterplay.kernels.walks import walk_bytes
    from counterplay.solvers import CFR_PRESETS, MCCFR_PRESETS, CfrSolver, MccfrSolver

    memory = {"tree": tree_bytes(tree), "walks": walk_bytes(tree)}
    memory.update({name: CfrSolver.memory_bytes(tree, name) for name in CFR_PRESETS})
    memory.update({name: MccfrSolver.memory_bytes(tree, name) for name in MCCFR_PRESETS})
    players = range(tree.players)
    counts = tree.counts()
    facts: dict[str, Any] = {
        "game": tree.name,
        "players": tree.players,
        "histories": tree.num_histories,
        "decisions": [tree.decisions_of(player) for player in players],
        "chance": counts["chance"],
        "terminals": tree.num_terminals,
        "information_sets": [len(tree.infosets_of(player)) for player in players],
        "sequences": [tree.sequences.sequences_of(player) for player in players],
        "entries": tree.num_entries,
        "depth": int(tree.depth.max()),
        "recall": list(tree.recall),
        "zero_sum": tree.facts.zero_sum,
        "utilities": [tree.facts.min_utility, tree.facts.max_utility],
        "memory_bytes": memory,
    }
    if as_json:
        print_json(facts)
        return
    say(tree.name)
    by_player = {
        name: ", ".join(map(str, facts[name])) for name in ("decisions", "information_sets", "sequences", "recall")
    }
    table([
        ("players", f"{tree.players}" + (", zero-sum" if tree.facts.zero_sum else "")),
        ("histories", f"{tree.num_histories:,} ({counts['decision']:,} decisions, {counts['chance']:,} chance, "
                      f"{counts['terminal']:,} terminal), at most {facts['depth']} moves"),
        ("decisions", f"{by_player['decisions']} (by player)"),
        ("information sets", f"{tree.num_infosets:,} ({by_player['information_sets']} by player), "
                             f"{tree.num_entries:,} actions in all"),
        ("sequences", f"{by_player['sequences']} (by player, the empty one included)"),
        ("recall", f"{by_player['recall']} (by player)"),
        ("utilities", f"{tree.facts.min_utility:g} to {tree.facts.max_utility:g} chips"),
        ("memory, tree", f"{format_bytes(memory['tree'])} "
                         f"({memory['tree'] / tree.num_histories:.0f} bytes per history)"),
        ("memory, solvers", ", ".join(f"{name} {format_bytes(memory[name])}" for name in CFR_PRESETS)),
        ("memory, sampled", ", ".join(f"{name} {format_bytes(memory[name])}" for name in MCCFR_PRESETS)
                            + f"; {format_bytes(memory['walks'])} more for the layout of the tree"),
    ])  # fmt: skip
