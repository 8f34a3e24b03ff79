"""``counterplay solve holdem``: a hold'em subgame from a board and two ranges."""

from __future__ import annotations

import dataclasses
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.cli.common import measured, note, print_json, say, table
from counterplay.cli.report import ENDINGS, goal_options
from counterplay.errors import CounterplayError, GameError, SolverError
from counterplay.poker.postflop.subgame import Subgame
from counterplay.poker.ranges import parse_range
from counterplay.runtime.memory import available_memory, format_bytes

if TYPE_CHECKING:
    from counterplay.runtime.pacing import Until
    from counterplay.solvers import SolveResult
    from counterplay.solvers.public_cfr import PublicSolver
    from counterplay.tree.public.public_tree import PublicTree

ALGORITHM, SETTINGS = "dcfr", {"gamma": 4.0}
"""What is used when nothing is said: fastest on flop, turn and river spots in CPU seconds."""
INTEGERS = 4_000_000
"""Entries above which tables hold integers of 16 bits when nothing is said."""
TARGET = "0.5%"


@dataclasses.dataclass(frozen=True)
class Spot:
    """The options of a subgame, as they were given; None where one was not."""

    board: str | None = None
    pot: float | None = None
    stack: float | None = None
    oop: str | None = None
    ip: str | None = None
    bets: str | None = None
    raises: str | None = None
    donks: str | None = None
    allin_threshold: str | None = None
    chip: float | None = None
    isomorphism: bool = True
    lock: tuple[str, ...] = ()

    @property
    def given(self) -> list[str]:
        """The options that were given."""
        empty = Spot()
        fields = [field.name for field in dataclasses.fields(self)]
        return [f"--{name.replace('_', '-')}" for name in fields if getattr(self, name) != getattr(empty, name)]

    def subgame(self) -> Subgame:
        """The subgame.

        Raises
        ------
        SolverError
            If an option is missing.
        """
        fields = dataclasses.asdict(self)
        missing = [f"--{name}" for name in ("board", "pot", "stack", "oop", "ip") if fields[name] is None]
        if missing:
            raise SolverError(f"solve holdem needs {', '.join(missing)}; counterplay solve --help shows how")
        names = ("board", "pot", "stack", "oop", "ip", "bets", "raises", "donks", "chip")
        chosen: dict[str, Any] = {name: fields[name] for name in names if fields[name] is not None}
        chosen |= {name: _text_or_file(chosen[name], parse_range) for name in ("oop", "ip")}
        if self.allin_threshold is not None:
            chosen["allin_threshold"] = _share(self.allin_threshold)
        return Subgame(**chosen, isomorphic=self.isomorphism)


def _share(text: str) -> float:
    number = text.strip()
    try:
        return float(number.removesuffix("%")) / 100 if number.endswith("%") else float(number)
    except ValueError:
        raise SolverError(f"--allin-threshold is a share of the stack such as 67%; got {text!r}") from None


def _text_or_file(text: str, parse: Callable[[str], object]) -> str:
    """The text itself, or that of the file which it names if it says nothing by itself: AA is a pair, never a file."""
    try:
        parse(text)
    except GameError:
        try:
            return Path(text).read_text(encoding="utf-8") if os.path.isfile(text) else text
        except (OSError, ValueError) as error:
            raise CounterplayError(f"cannot read {text}: {error}") from None
    return text


def pot_target(text: str, pot: float) -> float:
    """An exploitability in chips, from chips or percents of the pot."""
    number = text.strip()
    try:
        return float(number[:-1]) * pot / 100 if number.endswith("%") else float(number)
    except ValueError:
        raise SolverError(f"--until is an exploitability such as 0.3% of the pot, or chips; got {text!r}") from None


def solve_holdem(
    spot: Spot,
    algorithm: str | None,
    settings: dict[str, Any],
    limit: int | None,
    iterations: int | None,
    seconds: float | None,
    until: str | None,
    *,
    out: Path | None,
    checkpoint: Path | None,
    plot: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Solve a subgame, report, and return the exit code."""
    from counterplay.cli.running import interruptible, plot_run, progress_line, save_run, with_checkpoints
    from counterplay.runtime.pacing import Until

    game = spot.subgame()
    if iterations is None and seconds is None and until is None:
        until = TARGET
    goal = Until(iterations, seconds, None if until is None else pot_target(until, game.pot))
    tree = game.tree()
    solver = _solver(tree, algorithm, settings, limit, quiet or as_json)
    for text in spot.lock:
        _lock(solver, text)
    with interruptible():
        with progress_line(goal, quiet or as_json) as draw:
            result = solver.run(goal, with_checkpoints(solver, checkpoint, draw))
        saved = save_run(None, solver, result, out, checkpoint)
    files = {"profile": out, "plot": plot, "checkpoint": saved}
    if plot is not None:
        plot_run(dataclasses.replace(result, game=game.title), plot, goal)
    if as_json:
        print_json(_as_json(game, solver, result, files))
    else:
        _summarise(game, solver, result, goal, files)
    return 130 if result.status == "interrupted" else 0


def _solver(
    tree: PublicTree, algorithm: str | None, settings: dict[str, Any], limit: int | None, quiet: bool
) -> PublicSolver:
    """The solver, after its memory was told and found to fit."""
    from counterplay.runtime.memory import check_memory
    from counterplay.solvers.cfr import CFR_PRESETS
    from counterplay.solvers.public_cfr import PublicSolver, public_config, table_type

    name = algorithm or ALGORITHM
    if name not in CFR_PRESETS:
        raise SolverError(f"a subgame is solved by one of {', '.join(CFR_PRESETS)}; got {name!r}")
    chosen: dict[str, Any] = dict(SETTINGS) if name == ALGORITHM else {}
    if sum(tree.num_entries) > INTEGERS:
        chosen["storage"] = "int16"
    config = public_config(name, chosen | settings)
    tables = PublicSolver.memory_bytes(tree, config)
    if not quiet:
        note(
            f"{tree.num_infosets:,} information sets in {tree.num_public_states:,} public states: "
            f"{format_bytes(tree.nbytes)} tree, {format_bytes(tables)} tables ({table_type(tree, config.storage)})"
        )
    allowed = available_memory() if limit is None else limit
    advice = "take fewer sizes or hands" if config.storage == "int16" else "try storage int16, fewer sizes or hands"
    check_memory("the subgame", tree.nbytes * (limit is not None) + tables, allowed, advice)
    return PublicSolver(tree, config, name, allowed)


def _lock(solver: PublicSolver, text: str) -> None:
    from counterplay.poker.postflop.locks import lock_rows, parse_lock
    from counterplay.strategy.public_lookup import PublicIndex

    place, equals, what = text.partition("=")
    if not equals:
        raise SolverError(f"--lock takes NODE=STRATEGY, such as 'check bet25=fold 0.4; call rest'; got {text!r}")
    tree = solver.tree
    node = PublicIndex(tree).node(place)
    actions = tree.actions_of(node)
    strategy = parse_lock(_text_or_file(what.strip(), lambda text: parse_lock(text, actions)), actions)
    for deal in range(int(tree.deal_low[node]), int(tree.deal_high[node])):
        solver.lock(node, deal, lock_rows(tree, node, deal, strategy))


def _as_json(game: Subgame, solver: PublicSolver, result: SolveResult, files: dict[str, Path | None]) -> dict[str, Any]:
    from counterplay.evaluation.methods import locked_nodes

    return {
        "game": result.game,
        "algorithm": result.algorithm,
        "status": result.status,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        **measured(result.measurement, None),
        "exploitability_percent": 100 * result.exploitability / game.pot,
        "expected_chips": [game.pot / 2 + value for value in result.value],
        "information_sets": result.information_sets,
        "public_states": solver.tree.num_public_states,
        "locked": list(locked_nodes(solver.tree, solver.locked)),
        "nodes": result.nodes,
        "nodes_per_second": result.nodes_per_second,
        "memory_bytes": {"tree": solver.tree.nbytes, "solver": solver.table_bytes},
        **{name: None if path is None else str(path) for name, path in files.items() if name != "plot"},
        "threads": solver.config.threads,
    }


def _summarise(
    game: Subgame, solver: PublicSolver, result: SolveResult, goal: Until, files: dict[str, Path | None]
) -> None:
    from counterplay.evaluation.methods import locked_nodes

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    percent = 100 * result.exploitability / game.pot
    oop, ip = (game.pot / 2 + value for value in result.value)
    say(f"{game.title}: {ENDINGS[result.status]} ({result.algorithm})")
    rows = [
        ("expected chips", f"oop {oop:.4f}, ip {ip:.4f} of the pot of {game.pot:g}"),
        ("exploitability", f"{result.exploitability:.4g} chips, {percent:.3g} % of the pot, mean over players of what "
                           "a best response gains"),
        ("iterations", f"{result.iterations:,} over {solver.tree.num_public_states:,} public states, "
                       f"{result.information_sets:,} information sets"),
        ("seconds", f"{result.seconds:.2f} ({result.cpu_seconds:.2f} of CPU)"),
        ("memory", f"{format_bytes(solver.tree.nbytes)} tree, {format_bytes(solver.table_bytes)} tables, "
                   f"{format_bytes(peak)} process"),
    ]  # fmt: skip
    if solver.locked.any():
        names = ", ".join(map(repr, locked_nodes(solver.tree, solver.locked)))
        rows.append(("locked", f"{names}; best responses keep to it"))
    shown = (("strategy", "profile"), ("plot", "plot"), ("checkpoint", "checkpoint"))
    rows += [(title, str(files[name])) for title, name in shown if files.get(name) is not None]
    table(rows)
    say()
    if result.status == "interrupted":
        say(f"Next:\n  counterplay solve --resume {files['checkpoint']} {goal_options(goal)}   go on from here")
    elif files["profile"] is not None:
        say(f"Next:\n  counterplay inspect {files['profile']}   see what each hand does")
