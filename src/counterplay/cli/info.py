"""``counterplay info``: the size of a game, what its players remember, and the memory of the solvers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli import options as o
from counterplay.cli.common import compile_status, print_json, say, table
from counterplay.errors import GameError
from counterplay.runtime.memory import format_bytes, read_memory
from counterplay.runtime.number_text import figure

if TYPE_CHECKING:
    from counterplay.forms import FormSize, GameForms
    from counterplay.tree import RecallReport
    from counterplay.tree.history.game_tree import GameTree


def command(
    game: o.GameName,
    forget: o.Forget = None,
    recall: Annotated[
        bool,
        typer.Option("--recall", help="Classify what each player remembers, with a witness against each other class."),
    ] = False,
    cards: Annotated[
        list[Path] | None,
        typer.Option(help="A card abstraction (.cpa) of a poker game: sizes in buckets.  Once, or for each player."),
    ] = None,
    bets: Annotated[str | None, typer.Option(help="With --cards: betting abstraction of a no-limit game.")] = None,
    memory_limit: o.MemoryLimit = None,
    as_json: o.AsJson = False,
) -> None:
    """Show the forms of a game and their sizes; count histories; classify recall; estimate memory."""
    if cards and (forget or recall):
        raise GameError("--forget and --recall need all histories; leave them out, or leave out --cards")
    if bets is not None and not cards:
        raise GameError("--bets is for games in buckets; name a card abstraction with --cards")
    from counterplay.forms import GameForms, form_sizes
    from counterplay.solvers.form_memory import solver_memory

    limit = read_memory(memory_limit)
    with compile_status(game, as_json) as progress:
        forms = GameForms(game, forget=forget or [], cards=cards, bets=bets, memory_limit=limit, progress=progress)
        sizes = form_sizes(forms)
    tables = {size.form: solver_memory(forms, size) for size in sizes}
    history = sizes[0].available
    report = _recall_report(forms) if recall else None
    facts = _bucket_facts(forms) if cards else _history_facts(forms.history()) if history else _facts(forms, sizes)
    form = "buckets" if cards else "history"
    if cards or history:
        facts["memory_bytes"] = {"tree": next(size.bytes for size in sizes if size.form == form), **tables[form]}
    facts["forms"] = [{**size.to_dict(), "solver_bytes": tables[size.form]} for size in sizes]
    if report is not None:
        facts["recall_report"] = report.to_dict()
    if as_json:
        print_json(facts)
        return
    say(f"{facts['game']} in a card abstraction" if cards else facts["game"])
    table([*(_bucket_rows(facts) if cards else _history_rows(facts) if history else []), *_form_rows(facts)])
    if report is not None:
        _say_recall(report)


def _facts(forms: GameForms, sizes: Sequence[FormSize]) -> dict[str, Any]:
    """The facts of a game whose histories are not compiled."""
    players = 2 if forms.subgame is not None else forms.game.players
    return {"game": forms.name, "players": players, "histories": sizes[0].histories}


def _history_facts(tree: GameTree) -> dict[str, Any]:
    players = range(tree.players)
    return {
        "game": tree.name, "players": tree.players, "histories": tree.num_histories,
        "decisions": [tree.decisions_of(player) for player in players],
        "chance": tree.counts()["chance"], "terminals": tree.num_terminals,
        "information_sets": [len(tree.infosets_of(player)) for player in players],
        "sequences": [tree.sequences.sequences_of(player) for player in players],
        "entries": tree.num_entries, "depth": int(tree.depth.max()), "recall": list(tree.recall),
        "zero_sum": tree.facts.zero_sum, "utilities": [tree.facts.min_utility, tree.facts.max_utility],
    }  # fmt: skip


def _bucket_facts(forms: GameForms) -> dict[str, Any]:
    size = forms.bucket_counts()
    return {
        "game": forms.name,
        "players": len(size.buckets),
        "betting_nodes": size.betting.nodes,
        "buckets": [list(counts) for counts in size.buckets],
        "information_sets": size.infosets,
        "entries": size.entries,
        "recall": list(forms.recalls()),
    }


def _history_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    by_player = {
        name: ", ".join(map(str, facts[name])) for name in ("decisions", "information_sets", "sequences", "recall")
    }
    low, high = facts["utilities"]
    return [
        ("players", f"{facts['players']}" + (", zero-sum" if facts["zero_sum"] else "")),
        ("histories", f"{facts['histories']:,} ({sum(facts['decisions']):,} decisions, {facts['chance']:,} chance, "
                      f"{facts['terminals']:,} terminal), at most {facts['depth']} moves"),
        ("decisions", f"{by_player['decisions']} (by player)"),
        ("information sets", f"{sum(facts['information_sets']):,} ({by_player['information_sets']} by player), "
                             f"{facts['entries']:,} actions in all"),
        ("sequences", f"{by_player['sequences']} (by player, the empty one included)"),
        ("recall", f"{by_player['recall']} (by player)"),
        ("utilities", f"{figure(low, 6)} to {figure(high, 6)} chips"),
    ]  # fmt: skip


def _bucket_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    counts = "; ".join("/".join(map(str, counts)) for counts in dict.fromkeys(map(tuple, facts["buckets"])))
    return [
        ("players", f"{facts['players']}"),
        ("buckets", f"{counts} (by round), {' and '.join(dict.fromkeys(facts['recall']))} recall"),
        ("betting", f"{facts['betting_nodes']:,} nodes"),
        ("information sets", f"{facts['information_sets']:,}, {facts['entries']:,} actions in all"),
    ]


UNITS = {"histories": "histories", "public_states": "public states", "information_sets": "information sets",
         "entries": "actions in all"}  # fmt: skip


def _form_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """For each form its size, its memory and that of the solvers, or why the game does not have it."""
    rows = []
    for form in facts["forms"]:
        counts = [f"{_count(form[key], form['exact'])} {unit}" for key, unit in UNITS.items() if form[key] is not None]
        if form["bytes"]:
            counts.append(format_bytes(form["bytes"]))
        about = "" if form["exact"] else "about "
        text = f"{about}{', '.join(counts)}" if counts else ""
        if form["too_large"]:
            text = f"too large: {text or form['reason']}"
        elif not form["available"]:
            text = f"no: {form['reason']}"
        elif form["form"] == "states":
            text = "walked directly, by sampling algorithms; tables grow with the visited information sets"
        rows.append((f"as {form['form']}", text))
        memory = form["solver_bytes"]
        if memory:
            solvers = ", ".join(f"{name} {format_bytes(size)}" for name, size in memory.items() if "," not in name)
            rows.append(("  tables", solvers))
        disk = {name.removesuffix(", disk"): size for name, size in memory.items() if name.endswith(", disk")}
        if disk and form["too_large"]:
            rows.append(("  on disk", "--tables needs the tree in memory"))
        elif disk:
            sizes = ", ".join(f"{name} {format_bytes(size)}" for name, size in disk.items())
            rows.append(("  on disk", f"{sizes} as 16-bit integers before compression (solve --tables disk:FOLDER)"))
        last = {name.removesuffix(", last"): size for name, size in memory.items() if name.endswith(", last")}
        if last:
            rows.append(("  without an average", ", ".join(f"{n} {format_bytes(size)}" for n, size in last.items())))
    return rows


def _count(number: int, exact: bool) -> str:
    """A number as text; an estimate with two digits."""
    if exact:
        return f"{number:,}" if number < 10**15 else figure(number, 3)
    return figure(number, 2)


def _recall_report(forms: GameForms) -> RecallReport:
    """What is remembered; merged information sets are compared with the game where that has perfect recall."""
    from counterplay.tree import recall_report
    from counterplay.tree.history.repartition import reorder_actions

    if forms.abstraction is None or set(forms.real.recall) != {"perfect"}:
        return recall_report(forms.history())
    # Histories are numbered by their actions; merged sets may have them in another order than the real ones.
    return recall_report(forms.history(), reorder_actions(forms.real, forms.abstraction.action_map))


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
            text = _verdict_text(getattr(player, field).to_dict())
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
