"""``counterplay evaluate``: value, best responses and exploitability of a saved strategy."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterplay.abstraction import split_name
from counterplay.cli.common import (
    GAME_HELP,
    JSON_HELP,
    MEMORY_HELP,
    chips,
    exploitability_text,
    forgetful_note,
    measured,
    note,
    print_json,
    read_memory,
    say,
    table,
)  # fmt: skip
from counterplay.cli.evaluate_buckets import BOUNDS_HELP, DRAWN_HELP, TRAINING_HELP, evaluate_buckets
from counterplay.cli.evaluate_card_free import METHOD_HELP, evaluate_card_free_command
from counterplay.cli.problem import Problem, load_problem
from counterplay.cli.public import evaluate_public, evaluate_uniform
from counterplay.cli.report import abstract_text
from counterplay.errors import AbstractionError, GameError, MemoryLimitError, StrategyError
from counterplay.storage import file_kind

if TYPE_CHECKING:
    from counterplay.evaluation.measurement import Measurement
    from counterplay.strategy import TabularStrategy


def command(
    profile: Annotated[Path | None, typer.Argument(metavar="[PROFILE]", help="A strategy file.")] = None,
    game: Annotated[
        str | None, typer.Option(help=f"The game to measure in, if not the strategy's own. {GAME_HELP}")
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="Instead of a file, with --game: uniform, random (drawn from --seed), or in poker always-fold, "
            "always-call, always-raise, 50/50."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of --strategy random, of --boards and of --bounds.")] = 0,
    boards: Annotated[
        int | None, typer.Option(help="A strategy of an abstract game: draw so many boards instead of counting all.")
    ] = None,
    bounds: Annotated[int | None, typer.Option(help=BOUNDS_HELP)] = None,
    drawn: Annotated[str | None, typer.Option("--drawn-round", help=DRAWN_HELP)] = None,
    training: Annotated[int, typer.Option(help=TRAINING_HELP)] = 0,
    method: Annotated[str, typer.Option(help=METHOD_HELP)] = "auto",
    threads: Annotated[int, typer.Option(help="First deals that are measured at once; results are the same.")] = 1,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Keep what the shortcut or the general method has found here, every minute.")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on from this checkpoint of an evaluation.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress line.")] = False,
    memory_limit: Annotated[str | None, typer.Option(help=MEMORY_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help=JSON_HELP)] = False,
) -> None:
    """Measure a strategy exactly: its value, best responses to it, its exploitability."""
    from counterplay.evaluation import evaluate
    from counterplay.forms import has_public_tree
    from counterplay.strategy import TabularStrategy
    from counterplay.strategy.files import load_strategy
    from counterplay.strategy.public_strategy import PublicStrategy
    from counterplay.strategy.trivial import TRIVIAL

    if profile is None and (resume is not None or strategy in set(TRIVIAL) - {"uniform"}):
        evaluate_card_free_command(
            game, strategy, method, threads, checkpoint, resume, read_memory(memory_limit), quiet, as_json
        )
        return
    if method != "auto" or checkpoint is not None or resume is not None or threads != 1:
        raise StrategyError(f"--method, --threads, --checkpoint and --resume are for --strategy {', '.join(TRIVIAL)}")
    if (profile is None) == (strategy is None):
        raise StrategyError("name a strategy file, or give --strategy uniform with --game")
    if profile is not None and file_kind(profile) == "abstract-profile":
        evaluate_buckets(profile, boards, seed, read_memory(memory_limit), as_json, bounds, drawn, training)
        return
    if bounds is not None or drawn is not None or training:
        raise StrategyError("--bounds, --drawn-round and --training are for strategies of abstract games")
    loaded = None if profile is None else load_strategy(profile)
    if profile is not None and isinstance(loaded, PublicStrategy):
        evaluate_public(profile, read_memory(memory_limit), as_json)
        return
    assert loaded is None or isinstance(loaded, TabularStrategy)
    name = game or (loaded.game if loaded else None)
    if name is None:
        raise StrategyError(f"--strategy {strategy} needs --game")
    try:
        problem = _problem(name, loaded, read_memory(memory_limit), as_json)
    except MemoryLimitError as error:
        if strategy != "uniform" or not has_public_tree(name):
            raise
        note(f"{error}\nTherefore its public tree is walked.")
        evaluate_uniform(name, read_memory(memory_limit), as_json)
        return
    tree = problem.real
    if loaded is None:
        solved = problem.solved
        made = {
            "uniform": lambda: TabularStrategy.uniform(solved),
            "random": lambda: TabularStrategy.random(solved, seed),
        }
        if strategy not in made:
            known = ", ".join(dict.fromkeys([*made, *TRIVIAL]))
            raise StrategyError(f"--strategy is one of {known}; got {strategy!r}")
        loaded = made[strategy]()
    if problem.abstraction is not None and loaded.digest == problem.abstraction.abstract_digest:
        loaded = problem.lift(loaded)
    started = time.perf_counter()
    measurement = evaluate(loaded, tree)
    abstract = _in_the_abstract_game(problem, loaded)
    seconds = time.perf_counter() - started
    origin = loaded.provenance
    if as_json:
        print_json({
            "game": tree.name,
            "algorithm": origin.algorithm,
            "iterations": origin.iterations,
            "seconds": seconds,
            **measured(measurement, tree.big_blind),
            "epsilon": measurement.epsilon,
            "recall": list(tree.recall),
            "information_sets": tree.num_infosets,
            **({"information_sets_covered": len(loaded.infoset_names)} if loaded.partial else {}),
            "histories": tree.num_histories,
            "nodes_per_second": tree.num_histories / seconds if seconds > 0 else 0.0,
            "profile": None if profile is None else str(profile),
            **({} if problem.abstraction is None or abstract is None else {
                "abstraction": problem.abstraction.name,
                "abstraction_information_sets": problem.abstraction.num_sets,
                "abstract": {
                    "game": problem.solved.name,
                    **measured(abstract, tree.big_blind),
                    "recall": list(problem.solved.recall),
                },
            }),
            "seed": origin.seed,
            "provenance": {"settings": dict(origin.settings), "seconds": origin.seconds, "version": origin.version},
        })  # fmt: skip
        return
    say(f"{tree.name}: strategy by {origin.algorithm}, {origin.iterations:,} iterations in {origin.seconds:.2f} s")
    rows = [
        ("value", chips(measurement.value) + " chips"),
        ("best responses", chips(measurement.best_response) + " chips"),
        ("exploitability", exploitability_text(measurement.exploitability, tree.big_blind)),
        ("NashConv", f"{measurement.nash_conv:.3g} chips, the sum of those gains"),
        ("epsilon", f"{measurement.epsilon:.3g} chips, the largest of them"),
    ]  # fmt: skip
    if abstract is not None:
        rows.append(("in the abstract game", abstract_text(problem, abstract)))
    if loaded.partial:
        covered = f"{len(loaded.infoset_names):,} of {tree.num_infosets:,} information sets; uniform play at the others"
        rows.append(("covers", covered))
    table([*rows, *forgetful_note(tree)])


def _problem(name: str, loaded: TabularStrategy | None, limit: int | None, quiet: bool) -> Problem:
    """The game to measure in, and what its players forget: as the name says, or else as the strategy's file does."""
    what = None if loaded is None else loaded.provenance.settings.get("abstraction")
    if isinstance(what, str) and split_name(name)[1] is None:
        try:
            return load_problem(name, [what], limit, quiet)
        except (AbstractionError, GameError, StrategyError) as error:
            plain = load_problem(name, [], limit, quiet)  # says so itself if it is the game that cannot be made
            note(f"the abstract game cannot be made again: {error}")
            return plain
    return load_problem(name, [], limit, quiet)


def _in_the_abstract_game(problem: Problem, profile: TabularStrategy) -> Measurement | None:
    """What the strategy seemed to be worth; None if there is no abstract game, or not one that it can be played in."""
    from counterplay.evaluation import evaluate

    if problem.abstraction is None:
        return None
    try:
        return evaluate(problem.abstraction.restrict(profile, problem.solved), problem.solved)
    except StrategyError as error:
        note(f"it is not measured in the abstract game: {error}")
        return None
