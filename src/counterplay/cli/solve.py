"""``counterplay solve``: run an algorithm on a game, with a live progress line, files and a summary."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from counterplay.cli import options as o
from counterplay.cli.common import check_plot, check_workers, check_writable, compile_status, note, print_json
from counterplay.cli.options import option_name
from counterplay.cli.report import summarise
from counterplay.cli.running import progress_line
from counterplay.errors import SolverError
from counterplay.runtime.executors import on_cluster
from counterplay.runtime.signals import interruptible

if TYPE_CHECKING:
    from counterplay.runs import Run, Spot


def command(
    game: o.OptionalGame = None,
    algorithm: o.AlgorithmName = None,
    iterations: o.Iterations = None,
    seconds: o.Seconds = None,
    until: o.UntilText = None,
    out: o.Out = None,
    plot: o.Plot = None,
    checkpoint: o.Checkpoint = None,
    checkpoint_times: o.CheckpointTimes = None,
    resume: o.Resume = None,
    profile: o.ProfileKind = None,
    settings: o.Settings = None,
    player: o.Player = None,
    epsilon: o.Epsilon = None,
    exact: o.Exact = False,
    forget: o.Forget = None,
    map_out: o.MapOut = None,
    part: o.Part = None,
    fix: o.Fix = None,
    cards: o.Cards = None,
    opponent_cards: o.OpponentCards = None,
    boards: o.Boards = None,
    seed: o.Seed = None,
    threads: o.Threads = None,
    representation: o.Representation = "auto",
    memory_limit: o.MemoryLimit = None,
    tables: o.Tables = None,
    cluster: o.Cluster = None,
    workers: o.Workers = None,
    board: o.Board = None,
    pot: o.Pot = None,
    stack: o.Stack = None,
    oop: o.Oop = None,
    ip: o.Ip = None,
    ranges: o.Ranges = None,
    bets: o.Bets = None,
    raises: o.Raises = None,
    donks: o.Donks = None,
    allin_threshold: o.AllinThreshold = None,
    chip: o.Chip = None,
    rake: o.Rake = None,
    rake_cap: o.RakeCap = None,
    add_line: o.AddLine = None,
    remove_line: o.RemoveLine = None,
    isomorphism: o.Isomorphism = True,
    lock: o.Lock = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> int:
    """Solve a game and report its value and the exploitability of the strategy found.

    With --forget the abstract game is solved and the strategy lifted to the real one; cfr+ira and fpira abstract the
    game themselves.  --representation states samples a game of any size without compiling it; public has a row for
    each public state and hand, and with --tables disk:FOLDER need not fit into memory.  --cards has a row for each
    betting decision and bucket; --boards measures there.  --part solves a part: --part kk/b --fix base.strategy
    `solve holdem` solves a hold'em subgame from a board and two ranges, --until in chips or percent of the pot:
    counterplay solve holdem --board QsJh2h --pot 50 --stack 200 --oop "66+,A8s+" --ip "22+,AT+" --until 0.3%
    """
    return solve_given(dict(locals()))


def solve_given(given: dict[str, Any]) -> int:
    """Solve the game of the options, and report; returns the exit code."""
    plot, silent = given["plot"], given["quiet"] or given["as_json"]
    check_writable(plot)
    check_writable(given["out"], given["checkpoint"], given["map_out"], replaced=True)
    check_plot(plot)
    if given["game"] is None and given["resume"] is None:
        raise SolverError("name a game to solve (counterplay games lists them), or a checkpoint with --resume")
    cluster, workers = given.get("cluster"), given.get("workers")
    check_workers(cluster, workers, "--threads is for this machine")
    with on_cluster(cluster, workers):
        return _solved(given, plot, silent)


def _solved(given: dict[str, Any], plot: Any, silent: bool) -> int:
    """Solve the game, and report; returns the exit code."""
    with compile_status(given["game"] or "the game", silent) as opening:
        run = _prepared(given, opening)
    if given.get("cluster") is not None and run.solver.kind != "streamed":
        raise SolverError(
            "a cluster shares tables on disk: give --tables disk:FOLDER, or --resume FOLDER of such a run"
        )
    if run.sizes is not None and not silent:
        note(run.sizes)
    if run.forms.subgame is not None and given["out"] is None and not silent:
        note("nothing is kept of this run; give --out FILE to save the strategy")
    with interruptible(), progress_line(run.goal, silent) as draw:
        result = run.run(draw)
    if plot is not None:
        result.plot(plot, run.goal.exploitability)
        result = dataclasses.replace(result, files={**result.files, "plot": plot})
    if given["as_json"]:
        print_json(result.to_dict())
    else:
        summarise(result, run.goal, getattr(run.forms, "options", ""))
    return 130 if result.status == "interrupted" else 0


def _prepared(given: dict[str, Any], opening: Any) -> Run:
    """The run of the options."""
    from counterplay.runs import RunOptions, Spot, Target, prepare, prepare_resume, prepare_spot

    chosen = {one.name: given[one.name] for one in dataclasses.fields(RunOptions) if one.name in given} | {
        "curve": given["plot"] is not None,
        "note": note,
        "opening": opening,
    }
    own = {name: given[name] for name in ("profile", "player", "epsilon") if given[name] is not None}
    own |= ({"exact": True} if given["exact"] else {}) | read_settings(given["settings"] or [])
    target = Target(given["until"], given["iterations"], given["seconds"])
    game, algorithm, resume = given["game"], given["algorithm"], given["resume"]
    holdem = game is not None and game.lower() == "holdem"
    plain = not holdem and (given["cards"] or resume is not None)
    spot = read_spot({**given, "bets": None} if plain else given)
    if holdem and resume is not None:
        if spot.lock:
            raise SolverError("a checkpoint has its own locks; leave out --lock")
        if spot.given:
            _check_spot(spot, {**given, "resume": None})
        game = spot.subgame().name if spot.given else None
        given, spot, chosen = {**given, "bets": None}, Spot(), chosen | {"bets": None}
        holdem = False
    if holdem:
        _check_spot(spot, given)
        return prepare_spot(spot, algorithm, target, RunOptions(**chosen | {"bets": None}), own)
    if spot.given:
        option = option_name(spot.given[0])
        other = ", and with --cards for card abstractions" if option == "--bets" else ""
        raise SolverError(f"{option} is for counterplay solve holdem{other}; got the game {game!r}")
    options = RunOptions(**chosen)
    if resume is not None:
        return prepare_resume(resume, game, target, options, own | ({"algorithm": algorithm} if algorithm else {}))
    return prepare(game, algorithm, target, options, own)


def read_spot(given: dict[str, Any]) -> Spot:
    """The spot of the options."""
    from counterplay.runs import Spot

    fields = {one.name: given[one.name] for one in dataclasses.fields(Spot)}
    return Spot(**fields | _from_file(given))


def _from_file(given: dict[str, Any]) -> dict[str, str]:
    """The ranges of --ranges, where no other ones are given."""
    if given["ranges"] is None:
        return {}
    from counterplay.poker.range_files import spot_ranges

    if given["oop"] is not None and given["ip"] is not None:
        raise SolverError("--ranges, --oop and --ip give a range twice; leave one of them out")
    found = dict(zip(("oop", "ip"), spot_ranges(given["ranges"]), strict=True))
    return {name: text for name, text in found.items() if given[name] is None}


def _check_spot(spot: Any, given: dict[str, Any]) -> None:
    missing = [option_name(name) for name in ("board", "pot", "stack", "oop", "ip") if name not in spot.given]
    if missing:
        raise SolverError(f"solve holdem needs {', '.join(missing)}; counterplay solve --help shows how")
    others = (
        "resume",
        "forget",
        "part",
        "fix",
        "cards",
        "opponent_cards",
        "boards",
        "exact",
        "player",
        "epsilon",
        "map_out",
    )
    useless = [option_name(name) for name in others if given[name]]
    useless += ["--representation"] if given["representation"] not in ("auto", "public") else []
    if useless:
        raise SolverError(f"{useless[0]} is not for hold'em subgames; leave it out")


def read_settings(texts: list[str]) -> dict[str, Any]:
    """Settings of an algorithm from texts such as ``delay=100``."""
    from counterplay.solvers.settings import setting_value

    changes: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise SolverError(f"--set takes NAME=VALUE, such as delay=100; got {text!r}")
        changes[name.strip()] = setting_value(value.strip())
    return changes
