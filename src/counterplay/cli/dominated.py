"""``counterplay dominated``: dominated strategies and actions, with certificates."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli import options as o
from counterplay.cli.common import compile_status, print_json, say
from counterplay.errors import GameError
from counterplay.runtime.number_text import figure

if TYPE_CHECKING:
    from counterplay.analysis.action_domination import ActionReport
    from counterplay.analysis.domination import StrategyReport
    from counterplay.tree.history.game_tree import GameTree

SHOWN = 40
"""Rows of each list that are printed; JSON has all."""


def command(
    game: o.GameName,
    kind: Annotated[str, typer.Option(help="strict, or weak (which includes strict).")] = "strict",
    what: Annotated[str, typer.Option(help="actions, strategies or both.")] = "both",
    once: Annotated[bool, typer.Option("--once", help="One round, without removing what was found.")] = False,
    at: Annotated[list[str] | None, typer.Option(help="Only actions at this information set. Can be repeated.")] = None,
    gambit: Annotated[
        bool, typer.Option("--gambit", help="Actions in the narrower sense of Gambit: one better whatever follows.")
    ] = False,
    forget: o.Forget = None,
    memory_limit: o.MemoryLimit = None,
    as_json: o.AsJson = False,
) -> None:
    """List dominated strategies and actions, each with a verified dominating one."""
    if kind not in ("strict", "weak"):
        raise GameError(f"--kind is strict or weak; got {kind!r}")
    if what not in ("actions", "strategies", "both"):
        raise GameError(f"--what is actions, strategies or both; got {what!r}")
    if at and (gambit or what == "strategies"):
        raise GameError(
            "--at is for dominated actions in the wider sense; leave it out, or --gambit and --what strategies"
        )
    from counterplay.forms import GameForms

    with compile_status(game, as_json) as opening:
        tree = GameForms(game, forget=forget or [], memory_limit=memory_limit, progress=opening).history()
    started = time.perf_counter()
    facts: dict[str, Any] = {"game": tree.name, "kind": kind, "iterated": not once}
    if what != "actions":
        facts["strategies"] = _strategies(tree, kind, not once, must=what == "strategies")
    if what != "strategies":
        facts["actions"] = _gambit(tree, kind, not once) if gambit else _actions(tree, kind, not once, at or [])
    facts["seconds"] = time.perf_counter() - started
    if as_json:
        print_json(facts)
        return
    say(tree.name)
    if what != "actions":
        _say_strategies(facts["strategies"], kind)
    if what != "strategies":
        _say_actions(facts["actions"], kind)


def _strategies(tree: GameTree, kind: Any, iterated: bool, must: bool) -> dict[str, Any]:
    """Dominated strategies for JSON; the reason why not, if there are too many and they need not be."""
    from counterplay.analysis.domination import dominated_strategies
    from counterplay.tree.sequence.normal_form import count_strategies

    counts = [count_strategies(tree, player) for player in range(tree.players)]
    try:
        report = dominated_strategies(tree, kind, iterated)
    except GameError as error:
        if must:
            raise
        return {"refused": str(error)}
    return {
        "pure_strategies": counts,
        "remaining": [len(left) for left in report.remaining],
        "dominated": [_strategy(report, number) for number in range(len(report.dominated))],
    }


def _strategy(report: StrategyReport, number: int) -> dict[str, Any]:
    one, name = report.dominated[number], report.form.strategy_name
    mixture = [{"weight": weight, "strategy": name(one.player, other)} for other, weight in sorted(one.mixture.items())]
    return {
        "player": one.player + 1, "strategy": name(one.player, one.strategy),
        "kind": "strict" if one.margin > 0 else "weak", "round": one.round, "margin": one.margin, "gain": one.gain,
        "exact": one.exact, "mixture": mixture,
    }  # fmt: skip


def _actions(tree: GameTree, kind: Any, iterated: bool, at: list[str]) -> dict[str, Any]:
    from counterplay.analysis.action_domination import dominated_actions

    sets = None
    if at:
        sets = [number for number, name in enumerate(tree.infoset_names) if name in at]
        missing = [name for name in at if name not in tree.infoset_names]
        if missing:
            raise GameError(f"{tree.name} has no information set {missing[0]!r}")
    report = dominated_actions(tree, kind, iterated, sets)
    return {
        "forgetful_players": [
            player + 1 for player in range(tree.players) if not tree.sequences.has_perfect_recall(player)
        ],
        "dominated": [_action(report, number) for number in range(len(report.dominated))],
        "undecided": [_place(tree, entry) for entry in report.undecided],
    }


def _place(tree: GameTree, entry: int) -> dict[str, Any]:
    infoset = int(tree.infoset_offset.searchsorted(entry, "right")) - 1
    return {
        "player": int(tree.infoset_player[infoset]) + 1,
        "information_set": tree.infoset_names[infoset],
        "action": tree.actions_of(infoset)[entry - int(tree.infoset_offset[infoset])],
    }


def _action(report: ActionReport, number: int) -> dict[str, Any]:
    one, tree = report.dominated[number], report.tree
    response: dict[str, dict[str, float]] = {}
    for entry, probability in one.response.items():
        place = _place(tree, entry)
        if probability > 0:
            response.setdefault(place["information_set"], {})[place["action"]] = probability
    facts = {"kind": one.kind, "round": one.round, "margin": one.margin, "gain": one.gain}
    return {**_place(tree, one.entry), **facts, "response": response}


def _gambit(tree: GameTree, kind: Any, iterated: bool) -> dict[str, Any]:
    from counterplay.analysis.action_domination import dominated_gambit

    pairs = dominated_gambit(tree, kind, iterated)
    return {
        "forgetful_players": [],
        "dominated": [{**_place(tree, entry), "by": _place(tree, better)["action"]} for entry, better in pairs],
        "undecided": [],
    }


def _say_strategies(facts: dict[str, Any], kind: str) -> None:
    if "refused" in facts:
        say(f"  strategies: not listed; {facts['refused']}")
        return
    found = facts["dominated"]
    left = ", ".join(
        f"{left} of {all_}" for left, all_ in zip(facts["remaining"], facts["pure_strategies"], strict=True)
    )
    say(f"  {kind}ly dominated strategies: {len(found)}; left: {left} (by player)")
    for one in found[:SHOWN]:
        by = " + ".join(f"{figure(other['weight'], 6)} [{other['strategy']}]" for other in one["mixture"])
        say(f"    player {one['player']}, round {one['round']}: [{one['strategy']}] by {by}, "
            f"gains {figure(one['margin'])} to {figure(one['gain'])}")  # fmt: skip
    _say_more(found)


def _say_actions(facts: dict[str, Any], kind: str) -> None:
    found = facts["dominated"]
    say(f"  {kind}ly dominated actions: {len(found)}")
    for one in found[:SHOWN]:
        where = f"player {one['player']}, {one['information_set']!r}: {one['action']}"
        if "by" in one:
            say(f"    {where} by {one['by']}")
            continue
        by = "; ".join(
            f"{name} " + " ".join(f"{action} {figure(probability)}" for action, probability in row.items())
            for name, row in list(one["response"].items())[:3]
        )
        more = " ..." if len(one["response"]) > 3 else ""
        say(f"    {where}, round {one['round']}, {one['kind']}, by {by}{more}, "
            f"gains {figure(one['margin'])} to {figure(one['gain'])}")  # fmt: skip
    _say_more(found)
    if facts["undecided"]:
        names = ", ".join(f"{one['information_set']} {one['action']}" for one in facts["undecided"][:5])
        say(f"  undecided: {len(facts['undecided'])} actions ({names}{' ...' if len(facts['undecided']) > 5 else ''})")
    for player in facts["forgetful_players"]:
        say(f"  player {player} forgets and was left out: dominated actions need perfect recall")


def _say_more(found: list[Any]) -> None:
    if len(found) > SHOWN:
        say(f"    and {len(found) - SHOWN} more; --json lists all")
