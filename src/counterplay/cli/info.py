"""``counterplay info``: how large a game is, what its players remember, and what solving it takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from counterplay.cli.problem import FORGET_HELP, Problem, load_problem
from counterplay.errors import GameError, MemoryLimitError
from counterplay.game.registry import make
from counterplay.poker.poker_game import PokerGame
from counterplay.runtime.memory import format_bytes
from counterplay.tree.history.sizes import tree_bytes

if TYPE_CHECKING:
    from counterplay.tree import RecallReport


def command(
    game: Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)],
    forget: Annotated[list[str] | None, typer.Option(help=FORGET_HELP)] = None,
    recall: Annotated[
        bool, typer.Option("--recall", help="Classify what each player remembers, and show what breaks each class.")
    ] = False,
    cards: Annotated[
        list[Path] | None,
        typer.Option(help="A card abstraction (.cpa) of a poker game: sizes in buckets.  Once, or for each player."),
    ] = None,
    bets: Annotated[str | None, typer.Option(help="With --cards: the bets that are left of a no-limit game.")] = None,
    memory_limit: Annotated[str | None, typer.Option(help=MEMORY_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
) -> None:
    """Count histories, information sets and sequences; classify recall; estimate memory."""
    if cards:
        if forget or recall:
            raise GameError("--forget and --recall look at all histories; leave them out, or leave out --cards")
        _say_buckets(game, cards, bets, as_json)
        return
    if bets is not None:
        raise GameError("--bets is for abstract games; name a card abstraction with --cards")
    try:
        problem = load_problem(game, forget or [], read_memory(memory_limit), as_json)
    except MemoryLimitError as error:
        raise MemoryLimitError(f"{error}{_hint(game)}") from None
    tree = problem.solved
    report = _recall_report(problem) if recall else None
    from counterplay.kernels.history.walks import walk_bytes
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
    if report is not None:
        facts["recall_report"] = report.as_dict()
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
    if report is not None:
        _say_recall(report)


def _hint(game: str) -> str:
    """What to do about a poker game that is too large."""
    if game.endswith(".efg") or not isinstance(make(game), PokerGame):
        return ""
    return "; counterplay abstract tells how large poker is in buckets of hands, and info --cards what solving it takes"


def _say_buckets(game: str, cards: list[Path], bets: str | None, as_json: bool) -> None:
    """How large a poker game is in buckets, counted from the rules; nothing is built."""
    from counterplay.forms import GameForms
    from counterplay.solvers.bucket_mccfr import BUCKET_PRESETS, predicted_bytes
    from counterplay.solvers.mccfr import mccfr_config

    forms = GameForms(game, cards=cards, bets=bets)
    size, players = forms.bucket_counts(), forms.game.players
    memory = {"tree": size.tree_bytes}
    for name in BUCKET_PRESETS:
        if name == "pcs" and players != 2:
            continue
        for profile in ("average", "last"):
            config = mccfr_config(name, {"profile": profile}, BUCKET_PRESETS)
            memory[name if profile == "average" else f"{name}, last"] = predicted_bytes(game, cards, bets, config)[1]
    facts: dict[str, Any] = {
        "game": game,
        "players": players,
        "betting_nodes": size.betting.nodes,
        "buckets": [list(counts) for counts in size.buckets],
        "information_sets": size.infosets,
        "entries": size.entries,
        "recall": list(forms.recalls()),
        "memory_bytes": memory,
    }
    if as_json:
        print_json(facts)
        return
    say(f"{game} in a card abstraction")
    names = [name for name in BUCKET_PRESETS if name in memory]
    table([
        ("players", f"{players}"),
        ("buckets", "; ".join("/".join(map(str, counts)) for counts in dict.fromkeys(map(tuple, facts["buckets"])))
                    + f" (by round), {' and '.join(dict.fromkeys(facts['recall']))} recall"),
        ("betting", f"{size.betting.nodes:,} nodes"),
        ("information sets", f"{size.infosets:,}, {size.entries:,} actions in all"),
        ("memory, tree", f"at most {format_bytes(memory['tree'])} while it is laid out"),
        ("memory, solvers", ", ".join(f"{name} {format_bytes(memory[name])}" for name in names)),
        ("without an average", ", ".join(f"{name} {format_bytes(memory[f'{name}, last'])}" for name in names)),
    ])  # fmt: skip


def _recall_report(problem: Problem) -> RecallReport:
    """What is remembered; an abstract game is compared with the real one where that remembers everything."""
    from counterplay.tree import recall_report
    from counterplay.tree.history.repartition import reorder_actions

    if problem.abstraction is None or set(problem.real.recall) != {"perfect"}:
        return recall_report(problem.solved)
    # Histories are numbered by their actions; merged sets may have them in another order than the real ones.
    return recall_report(problem.solved, reorder_actions(problem.real, problem.abstraction.action_map))


def _say_recall(report: RecallReport) -> None:
    from counterplay.tree.recall.recall_report import CLASSES

    for player in report.players:
        say()
        say(f"player {player.player + 1}: {player.strongest}")
        if player.absent_minded is not None:
            say(f"  {player.absent_minded.detail}: {' / '.join(player.absent_minded.second) or 'root'}")
            continue
        rows: list[tuple[str, str]] = []
        said: dict[str, str] = {}  # a reason is written once
        for field, title in CLASSES.items():
            text = _verdict_text(getattr(player, field).as_dict())
            rows.append((title, f"no, as {said[text]}" if text in said else text))
            if text.startswith("no"):
                said.setdefault(text, title)
        table(rows)


def _verdict_text(verdict: dict[str, Any]) -> str:
    if not verdict["holds"]:
        witness = verdict.get("witness")
        if witness is None:
            return "not found; the search was not conclusive"
        where = f"at {witness['infoset']!r}, condition {witness['condition']}: " if "(" in witness["condition"] else ""
        pair = f" [{'/'.join(witness['first']) or 'root'} and {'/'.join(witness['second']) or 'root'}]" if where else ""
        return f"no, {where}{witness['detail']}{pair}"
    numbers = []
    if "delta" in verdict and verdict["delta"] is not None:
        sign = "=" if verdict.get("exact", True) else "<="
        numbers.append(f"smallest delta {sign} {verdict['delta']:g}, sum of errors {sign} {verdict['error']:g}")
    if verdict.get("K") is not None:
        numbers.append(f"K = {verdict['K']:g}")
    if verdict.get("errors") is not None:
        errors = verdict["errors"]
        numbers.append(", ".join(f"{name} error {errors[name]:g}" for name in ("reward", "chance", "distribution")))
    return "yes" + (f" ({'; '.join(numbers)})" if numbers else "")
