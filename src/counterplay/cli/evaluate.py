"""``counterplay evaluate``: value, best responses and exploitability of a strategy."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_workers, check_writable, note, print_json, say, table
from counterplay.cli.completions import complete_game, complete_opponent
from counterplay.cli.running import counted_progress
from counterplay.errors import StrategyError
from counterplay.runtime.executors import on_cluster
from counterplay.runtime.number_text import chips, figure
from counterplay.runtime.signals import interruptible

if TYPE_CHECKING:
    from counterplay.evaluation.first_deal_sample import FirstDealEstimate
    from counterplay.evaluation.measurement import Measurement
    from counterplay.runtime.progress import Progress, ProgressCallback

STRATEGY_HELP = f"Instead of a file, with --game: {o.OPPONENTS}, or random (drawn from --seed)."
PLAYED_HELP = f"The game to measure in, if not the strategy's own. {o.GAME_HELP}"
METHOD_HELP = (
    "history: on the history tree; public: on the public tree; split: on the public tree below one first deal at a "
    "time; card-free: a table of the last round, for trivial strategies; buckets: inside the bucket game; bounds: from "
    "sampled boards; auto: as the strategy is stored, split where the tree of its game does not fit."
)
BOARDS_HELP = "For a bucket strategy: number of boards to sample instead of counting all."
BOUNDS_HELP = "For a bucket strategy: bound its exploitability in the real game from this many sampled boards."
DRAWN_HELP = "The round whose boards are sampled for --bounds, by number or as flop, turn, river; by default the last."
TRAINING_HELP = "Boards on which the player of the lower bound learns to play the earlier rounds."
FLOPS_HELP = "Walk only this many first deals (flops) in a random order; prints an estimate with its 95 % interval."
UNTIL_HELP = (
    "Walk first deals until the 95 % interval is at most this far on either side: mbb/g (20mbb) or chips (0.2)."
)
VALUE_HELP = "With first deals: compute what the strategy wins too, half as long again (default: if that is minutes)."
CHECKPOINT_HELP = "Save the progress of split or card-free here, every minute."


def command(
    profile: Annotated[Path | None, typer.Argument(metavar="[PROFILE]", help="A strategy file or name.")] = None,
    game: Annotated[str | None, typer.Option(help=PLAYED_HELP, autocompletion=complete_game)] = None,
    strategy: Annotated[str | None, typer.Option(help=STRATEGY_HELP, autocompletion=complete_opponent)] = None,
    seed: Annotated[int, typer.Option(help="Seed of --strategy random, of --boards, --bounds and --flops.")] = 0,
    boards: Annotated[int | None, typer.Option(help=BOARDS_HELP)] = None,
    bounds: Annotated[int | None, typer.Option(help=BOUNDS_HELP)] = None,
    drawn_round: Annotated[str | None, typer.Option(help=DRAWN_HELP)] = None,
    training: Annotated[int, typer.Option(help=TRAINING_HELP)] = 0,
    flops: Annotated[int | None, typer.Option(help=FLOPS_HELP)] = None,
    until: Annotated[str | None, typer.Option(help=UNTIL_HELP)] = None,
    valued: Annotated[bool | None, typer.Option("--value/--no-value", help=VALUE_HELP)] = None,
    method: Annotated[str, typer.Option(help=METHOD_HELP)] = "auto",
    threads: Annotated[int, typer.Option(help="Threads that share the work; results are the same.")] = 1,
    cluster: o.Cluster = None,
    workers: o.Workers = None,
    checkpoint: Annotated[Path | None, typer.Option(help=CHECKPOINT_HELP)] = None,
    resume: Annotated[Path | None, typer.Option(help="Resume an evaluation from its checkpoint.")] = None,
    quiet: o.Quiet = False,
    memory_limit: o.MemoryLimit = None,
    as_json: o.AsJson = False,
) -> int:
    """Measure a strategy: its value, best responses to it, its exploitability.

    An agent for limit hold'em is measured one flop at a time, for hours: what it will cost is said at the start, an
    estimate with its interval as it goes, and Ctrl-C prints that.  With --checkpoint it can be resumed:

    counterplay evaluate AGENT.strategy --threads 2 --until 20mbb --checkpoint agent.kept
    """
    from counterplay.evaluation import evaluate

    if (profile is None) == (strategy is None) and resume is None:
        raise StrategyError("name a strategy file, or give --strategy uniform with --game")
    _check_workers(cluster, workers, threads)
    kept = checkpoint or resume
    check_writable(kept, replaced=True)
    started, cpu = time.perf_counter(), time.process_time()
    again = f"counterplay evaluate {'' if profile is None else f'{profile} '}--resume {kept}"
    with interruptible(), counted_progress("evaluating", quiet or as_json) as draw, on_cluster(cluster, workers):
        try:
            found = evaluate(
                strategy if profile is None else str(profile), game, method, threads=threads, memory_limit=memory_limit,
                progress=None if draw is None else _announcing(draw, kept), boards=boards, bounds=bounds,
                drawn_round=drawn_round, training=training, seed=seed, flops=flops, until=until, valued=valued,
                checkpoint=checkpoint, resume=resume,
            )  # fmt: skip
        except KeyboardInterrupt:
            if kept is not None and kept.exists():
                note(f"resume with: {again}")
            raise
    files = {"threads": threads, "checkpoint": _text(kept), "profile": _text(profile)}
    _report(found, time.perf_counter() - started, time.process_time() - cpu, files, as_json)
    if found.estimate is None:
        return 0
    if kept is not None:
        note(f"resume with: {again}")
    return 130 if found.estimate.interrupted else 0


def _check_workers(cluster: str | None, workers: int | None, threads: int) -> None:
    """Refuse threads on a cluster, and workers elsewhere."""
    check_workers(cluster, workers, "--threads is for this machine")
    if cluster is not None and threads != 1:
        raise StrategyError("--threads is about this machine alone; with --cluster, --workers limits jobs at a time")


def _announcing(draw: ProgressCallback, kept: Path | None) -> ProgressCallback:
    """Say what first deals will cost before they are walked, and how to stop."""
    said = False

    def show(now: Progress) -> None:
        nonlocal said
        if now.detail and not said:
            note(now.detail)
            advice = "" if kept is not None else "; --checkpoint FILE keeps what is done, to resume"
            note(
                f"Ctrl-C prints an estimate from those that are done, --until 20mbb stops when it is that good{advice}"
            )
            now = dataclasses.replace(now, detail="")
        said = True
        draw(now)

    return show


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _report(found: Measurement, seconds: float, cpu: float, files: dict[str, Any], as_json: bool) -> None:
    for line in found.notes:
        note(line)
    if as_json:
        histories = found.facts.get("histories")
        speed = {} if histories is None else {"nodes_per_second": histories / seconds if seconds > 0 else 0.0}
        print_json({**found.to_dict(), "seconds": seconds, "cpu_seconds": cpu, **speed, **files})
        return
    say(_title(found))
    table([*_rows(found), ("method", found.method), ("seconds", f"{seconds:.2f}, {cpu:.2f} of a processor")])


def _title(found: Measurement) -> str:
    from counterplay.poker.postflop import game_title

    origin = found.provenance
    name = game_title(found.game)
    if not origin.iterations:
        return f"{name}: {origin}"
    return f"{name}: strategy by {origin} in {origin.seconds:.2f} s"


def _rows(found: Measurement) -> list[tuple[str, str]]:
    """The measurement as rows of text."""
    from counterplay.evaluation.board_bounds import bound_rows
    from counterplay.evaluation.figures import value_rows

    rows, facts = [], found.facts
    if found.estimate is not None:
        rows += _estimate_rows(found, found.estimate)
    elif found.measured:
        rows += value_rows(found, "value", found.pot)[0 if found.valued else 1 :]
        rows += [
            ("exploitability", _gain(found)),
            ("NashConv", f"{chips(found.nash_conv)} chips, the sum of those gains"),
            *([("epsilon", f"{chips(found.epsilon)} chips, the largest of them")] if found.valued else []),
        ]
    if found.measured and found.estimate is None and found.big_blind is not None:
        each = (f"{1000 * best / found.big_blind:+.4f} (player {n + 1})" for n, best in enumerate(found.best_response))
        rows.append(("in mbb/g", f"{found.exploitability_mbb:.4f}; best responses {', '.join(each)}"))
    if found.unlocked is not None:
        rows.append(("locked", f"{', '.join(map(repr, found.locked))}; the best responses above respect it"))
        rows.append(("without the lock", _gain(found.unlocked)))
    if found.bounds is not None:
        rows += bound_rows(found.bounds.to_dict(found.big_blind or 1.0))
    kind = "abstract" if "abstraction" in facts else "bucket"
    if found.abstract is not None:
        rows.append((f"in the {kind} game", _gain(found.abstract)))
    if found.abstract is not None and found.abstract.boards is not None:
        sampled = f"{found.abstract.boards:,} sampled boards, an estimate that is too high"
        rows.append(("counted over", "all boards" if found.abstract.exact else sampled))
    if "abstraction_information_sets" in facts:
        rows.append(("information sets", f"{facts['abstraction_information_sets']:,} in the {kind} game"))
    if "information_sets_covered" in facts:
        covered = f"{facts['information_sets_covered']:,} of {facts['information_sets']:,} information sets"
        rows.append(("covers", f"{covered}; uniform play at the others"))
    forgetful = [player for player, kind in enumerate(facts.get("recall", ())) if kind != "perfect"]
    if forgetful:
        from counterplay.evaluation.figures import forgetful_note

        rows.append(("note", forgetful_note(forgetful)))
    return rows


def _estimate_rows(found: Measurement, made: FirstDealEstimate) -> list[tuple[str, str]]:
    """The rows of an estimate from some of the first deals."""
    unit = 1000 / (found.big_blind or 1000)
    best = ", ".join(f"{figure(unit * won, 4, True)} (player {n + 1})" for n, won in enumerate(found.best_response))
    half = figure(unit * made.half, 3)
    return [
        ("exploitability", f"{figure(unit * made.exploitability)} ± {half} mbb/g, an estimate with its 95 % interval"),
        ("best responses", f"{best} mbb/g"),
        ("from", f"{made.walked:,} of {made.total:,} first deals, drawn at random"),
        ("taken off", f"{figure(unit * made.optimism, 3)} mbb/g, by which the largest of sampled means are too high"),
    ]


def _gain(found: Measurement) -> str:
    """Exploitability; a bound where players forget more than their own choices."""
    from counterplay.evaluation.figures import exploitability_text

    text = exploitability_text(found.exploitability, found.big_blind, found.pot)
    exact = set(found.facts.get("recall", ())) <= {"perfect", "a-loss"}
    return text if exact else f"at most {text}, if it remembers"
