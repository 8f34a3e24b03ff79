"""``counterplay plan``: what a solve with tables on disk would take, beside how limit hold'em was solved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from counterplay.cli import options as o
from counterplay.cli.common import note, print_json, say, table
from counterplay.cli.solve import read_settings
from counterplay.errors import SolverError
from counterplay.runtime.memory import format_bytes, read_memory
from counterplay.runtime.threads import available_cores

if TYPE_CHECKING:
    from counterplay.solvers.streamed.solve_plan import PublishedSolve, SolvePlan


def command(
    game: o.GameName,
    nodes: Annotated[int, typer.Option(help="Machines (default 1: this one).")] = 1,
    cores: Annotated[int | None, typer.Option(help="Cores of each machine (default: as many as this one has).")] = None,
    disk: Annotated[str | None, typer.Option(help="Disk of each machine, such as 1TB.")] = None,
    memory_limit: Annotated[str | None, typer.Option(help="Memory of each machine, such as 32GiB.")] = None,
    network: Annotated[
        str, typer.Option(help="What the driver's network carries in a second: 1Gbit, 10Gbit, 100MB.")
    ] = "1Gbit",
    iterations: Annotated[
        int | None, typer.Option(help="Iterations (default: those of the published solution of limit hold'em).")
    ] = None,
    algorithm: o.AlgorithmName = None,
    profile: o.ProfileKind = None,
    settings: o.Settings = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Predict the memory, disk, network and days of a solve with tables on disk, on this machine or on many.

    The game is counted from its rules, so it may be of any size; what a table entry costs is measured on this machine,
    by a short solve of some of its subgames, or of the game without its last rounds where it is too large.  The other
    machines are taken to be as fast: counterplay plan holdem_limit_2p --nodes 200 --cores 24 --disk 1TB

    It says which demand is not met, and what would be enough.
    """
    from counterplay.runs.solve_planning import plan_solve
    from counterplay.solvers.streamed.solve_plan import Resources

    cores = available_cores() if cores is None else cores
    given = Resources(nodes, cores, read_memory(disk, "a disk"), read_memory(memory_limit), read_network(network))
    changes = ({"profile": profile} if profile is not None else {}) | read_settings(settings or [])
    if not (quiet or as_json):
        note("measuring what a table entry costs on this machine, in less than a minute")
    plan = plan_solve(game, given, algorithm or "cfr+", changes, iterations)
    if as_json:
        print_json(plan.to_dict())
        return
    _say_sizes(plan)
    _say_demands(plan)
    short = plan.shortages()
    say()
    for one in short:
        say(str(one))
    unknown = [name for name, value in (("--memory-limit", given.memory), ("--disk", given.disk)) if value is None]
    if not short and len(unknown) < 2:
        say("everything that was given suffices")
    if unknown:
        say(f"not compared, as it was not given: {' and '.join(unknown)}")


def read_network(text: str) -> float:
    """Bytes per second from text such as 1Gbit or 100MB."""
    match = re.fullmatch(r"(.+?)\s*(bit)?\s*(?:/s)?", text.strip(), re.IGNORECASE)
    try:
        amount = read_memory(match[1] if match else text)
    except SolverError:
        raise SolverError(f"a network is written like 1Gbit or 100MB; got {text!r}") from None
    assert amount is not None
    return amount / 8 if match and match[2] else float(amount)


def _say_sizes(plan: SolvePlan) -> None:
    sizes, rates = plan.sizes, plan.rates
    later = "" if sizes.later is None else f"; divided one round later {sizes.later.subgames:,}"
    tables = " and ".join(["regrets", *(["averages"] if plan.types.averaged else [])])
    say(f"{sizes.name}, {plan.iterations:,} iterations with tables on disk")
    table([
        ("information sets", f"{sizes.infosets:,} with {sizes.total:,} actions in all"),
        ("as 4-byte floats", f"{format_bytes(2 * sizes.float_bytes)} for regrets and averages"),
        ("subgames", f"{sizes.cut.subgames:,} ({sizes.links} bettings x {sizes.first_deals:,} first deals), the "
                     f"largest with {sizes.cut.largest_entries:,} actions{later}"),
        ("tables", f"{plan.types.kind.name}, {tables}"),
        ("measured on", f"{rates.game}: {rates.entries:,} actions, {rates.iterations} iterations"),
        ("an action takes", f"{1e9 * rates.walk:.1f} ns to walk, {1e9 * rates.write:.1f} ns to compress and write, "
                           f"{1e9 * rates.read:.1f} ns to read, {rates.stored:.2f} bytes on disk"),
    ])  # fmt: skip


def _say_demands(plan: SolvePlan) -> None:
    from counterplay.analysis import essentially_solved_threshold

    source = plan.published
    mine = _demands(plan)
    theirs = {} if source is None else _source(source, plan.sizes.total)
    width, column = max(map(len, mine)), max(max(map(len, mine.values())), len("this plan"))
    say()
    if source is not None:
        say(f"  {'':<{width}}  {'this plan':<{column}}  {source.source}")
    for name, value in mine.items():
        say(f"  {name:<{width}}  {value:<{column}}  {theirs.get(name, '')}".rstrip())
    if source is not None:
        say()
        say(f"The source stopped at {source.exploitability} mbb/g, for 1 mbb/g was its goal: a lifetime of play cannot "
            f"show that a strategy below {1000 * essentially_solved_threshold():.2f} mbb/g loses.")  # fmt: skip


def _demands(plan: SolvePlan) -> dict[str, str]:
    given = plan.resources
    rows = {
        "machines": f"{given.nodes} x {given.cores} cores",
        "iterations": f"{plan.iterations:,}",
        "an iteration": _time(plan.iteration_seconds),
        "  an action": f"{1e9 * plan.iteration_cpu / plan.sizes.total:.1f} ns of CPU time",
        "  its cores": f"{_time(plan.core_seconds)}, {100 * plan.idle:.0f} % of them idle",
        "  its disks": f"{_time(plan.disk_seconds)} at {_large(plan.rates.disk)} per second",
        "in all": f"{_time(plan.seconds)}, {_time(plan.cpu)} of CPU time",
        "core-years": f"{plan.core_years:,.0f}" if plan.core_years >= 10 else f"{plan.core_years:.2g}",
        "tables on disk": f"{_large(plan.stored)}, {plan.ratio:.1f}:1 of 4-byte floats",
        "disk in all": f"{_large(plan.disk)}, with {plan.copies} states of the tables",
        "disk of a machine": _large(plan.node_disk),
        "memory of a machine": format_bytes(plan.node_memory),
    }
    if given.nodes > 1:
        rows |= {
            "memory of the driver": format_bytes(plan.driver_memory),
            "  its network": f"{_large(plan.network_traffic)} through the driver",
        }
    return rows


def _source(source: PublishedSolve, entries: int) -> dict[str, str]:
    each = source.iteration_seconds * source.nodes * source.cores / entries
    return {
        "machines": f"{source.nodes} x {source.cores} cores of 2.1 GHz",
        "iterations": f"{source.iterations:,}",
        "an iteration": f"{_time(source.iteration_seconds)} on average",
        "  an action": f"{1e9 * each:.0f} ns of all cores",
        "in all": f"{source.days} days",
        "core-years": f"{source.core_years:.0f}",
        "tables on disk": f"{_large(source.disk)} of regrets alone, about {source.ratio:.0f}:1",
        "disk of a machine": _large(source.node_disk),
        "memory of a machine": format_bytes(source.memory),
    }


def _large(count: float) -> str:
    """Bytes with decimal prefixes, as disks are sold."""
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if count < 1000 or unit == "PB":
            break
        count /= 1000
    return f"{count:.3g} {unit}"


def _time(seconds: float) -> str:
    """A time in the unit that suits it."""
    for limit, size, unit in ((120, 1, "seconds"), (7200, 60, "minutes"), (172_800, 3600, "hours"),
                              (730 * 86400, 86400, "days")):  # fmt: skip
        if seconds < limit:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / (365.25 * 86400):,.3g} years"
