"""``counterplay abstract``: the size of a card abstraction, the abstraction itself, and a report about it."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli import options as o
from counterplay.cli.common import check_writable, note, print_json, say, table
from counterplay.cli.running import live_progress
from counterplay.errors import AbstractionError, CounterplayError, MemoryLimitError
from counterplay.runtime.memory import format_bytes, read_memory
from counterplay.runtime.number_text import figure
from counterplay.runtime.progress import Progress, ProgressCallback

if TYPE_CHECKING:
    from counterplay.abstraction.cards import CardAbstraction, CardRecipe
    from counterplay.poker.acpc.definition import GameDefinition
    from counterplay.poker.buckets.bucket_counts import BucketGameSize

ROUNDS_HELP = (
    "Buckets of each round: 169,KE570,KE570,KO570 or IR169/IR570/IR570/570 or 5s.  PE, PS, PHS5x2: percentiles of "
    "E[HS], E[HS²], both; KE, KO, PA: k-means by earth mover's distance, opponent clusters, potential; R.3:.6: ranges "
    "of E[HS]; M.05: merged if E[HS] is closer; T: by texture; T20: by 20 clusters of boards; H3: against two "
    "opponents."
)


Rounds = Annotated[str, typer.Option(help=ROUNDS_HELP)]
Recall = Annotated[
    str | None, typer.Option(help="perfect or imperfect; by default perfect except for rounds marked IR.")
]
Families = Annotated[
    str, typer.Option(help="The family of a number alone, or two, such as KE-KO, the second for the last round.")
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write the abstraction to this .cpa file; else only sizes.")
]
Runout = Annotated[
    str, typer.Option(help="Board cards after the game's end that features look ahead to: 1,1 for turn and river.")
]
Opponents = Annotated[str, typer.Option(help="Opponent clusters of KO: johanson2013, or how many to make.")]
Weights = Annotated[str, typer.Option(help="Weights of opponent clusters: mass, classes or none.")]
Cache = Annotated[
    Path | None, typer.Option(help="Folder for features; by default $COUNTERPLAY_CACHE or the user's cache.")
]


def command(
    game: o.GameName,
    rounds: Rounds,
    recall: Recall = None,
    families: Families = "PS",
    out: Out = None,
    report: Annotated[Path | None, typer.Option(help="Write a report of the buckets into this folder.")] = None,
    bets: Annotated[str | None, typer.Option(help="Bet sizes of a no-limit game, for the sizes.")] = None,
    runout: Runout = "",
    seed: Annotated[int, typer.Option(help="Seed of clustering and report.")] = 0,
    restarts: Annotated[int, typer.Option(help="Starts of k-means; the best is kept.")] = 1,
    iterations: Annotated[int, typer.Option(help="Iterations of k-means at most.")] = 30,
    opponents: Opponents = "johanson2013",
    weights: Weights = "mass",
    bins: Annotated[int, typer.Option(help="Bins of the histograms of hand strength.")] = 50,
    threads: Annotated[int, typer.Option(help="Threads.")] = 1,
    cache: Cache = None,
    memory_limit: o.MemoryLimit = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress lines.")] = False,
    as_json: o.AsJson = False,
) -> None:
    """Build a card abstraction, or report its size."""
    from counterplay.abstraction.cards import BuildSettings, build_cards, deck_shape, parse_recipe
    from counterplay.runtime.array_cache import default_cache

    definition = _definition(game)
    deck, shape = deck_shape(definition)
    recipe = parse_recipe(rounds, deck, shape, recall, families)  # type: ignore[arg-type]
    _check_files(definition, recipe, out, report)
    clusters, ahead = _read_opponents(opponents), _read_runout(runout)
    settings = BuildSettings(seed, restarts, iterations, clusters, weights, bins, runout=ahead)  # type: ignore[arg-type]
    size = _size(definition, recipe.counts(deck, shape), bets)
    values: dict[str, Any] = {"game": game, **_recipe_json(recipe, deck, shape), **_size_json(size)}
    if not as_json:
        _say_sizes(recipe, definition, recipe.counts(deck, shape), size)
    if out is not None:
        folder = default_cache() if cache is None else cache
        started, cpu = time.perf_counter(), time.process_time()
        with _progress(quiet or as_json) as draw:
            made = build_cards(deck, shape, recipe, settings, folder, threads, draw, read_memory(memory_limit))
            made.save(out)
            if report is not None:
                _write_report(report, made, folder, bins, threads, seed)
        seconds = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu}
        values |= {
            **_built_json(made, out, report),
            **seconds,
            "seed": seed,
            "cache": None if folder is None else str(folder),
        }
    if as_json:
        print_json(values)
    elif out is not None:
        _say_built(values)
    else:
        say("Nothing was built; give --out FILE.cpa to build it.")


def _check_files(definition: GameDefinition, recipe: CardRecipe, out: Path | None, report: Path | None) -> None:
    """Refuse, before anything is built, what could not be built or written."""
    if definition.three_card_hands and any(entry.family != "lossless" for entry in recipe.rounds):
        raise AbstractionError(
            "hand strength does not support straights and flushes of three cards; use lossless rounds"
        )
    if report is not None and out is None:
        raise AbstractionError("a report is about an abstraction that is built; give --out FILE.cpa too")
    check_writable(out, replaced=True)
    _check_folder(report)


def _read_opponents(text: str) -> str | int:
    clusters: str | int = int(text) if text.isdecimal() else text
    if clusters != "johanson2013" and not (isinstance(clusters, int) and 1 <= clusters <= 255):
        raise AbstractionError(f"opponent clusters are johanson2013 or a number from 1 to 255; got {text!r}")
    return clusters


def _built_json(made: CardAbstraction, out: Path, report: Path | None) -> dict[str, Any]:
    return {
        "file": str(out),
        "bytes": out.stat().st_size,
        "objectives": made.provenance["objectives"],
        "report": None if report is None else str(report / "index.html"),
    }


def _definition(name: str) -> GameDefinition:
    from counterplay.forms import open_game
    from counterplay.poker.poker_game import PokerGame

    game = open_game(name, "states")
    if not isinstance(game, PokerGame):
        raise AbstractionError(
            f"card abstractions are for poker with a definition, such as holdem_limit_2p, leduc_limit_2p or a .game "
            f"file; got {name}"
        )
    return game.definition


def _read_runout(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")] if text else []
    if not all(part.isdecimal() and 1 <= int(part) <= 5 for part in parts):
        raise AbstractionError(f"--runout is numbers of cards, one for each round to come, such as 1,1; got {text!r}")
    return tuple(int(part) for part in parts)


def _check_folder(folder: Path | None) -> None:
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CounterplayError(f"{folder} cannot be created: {error.strerror or error}") from None


def _size(definition: GameDefinition, counts: tuple[int, ...], bets: str | None) -> BucketGameSize | None:
    """The size of the bucket game; None if the betting is too large to be counted."""
    from counterplay.poker.buckets.bucket_counts import count_bucket_game
    from counterplay.poker.raise_sizes import bet_abstraction

    try:
        return count_bucket_game(definition, counts, None if bets is None else bet_abstraction(bets))
    except MemoryLimitError:
        return None


def _recipe_json(recipe: CardRecipe, deck: tuple[int, int], shape: tuple[int, ...]) -> dict[str, Any]:
    return {
        "rounds": [str(entry) for entry in recipe.rounds],
        "recipe": str(recipe),
        "recall": recipe.recall,
        "buckets": list(recipe.counts(deck, shape)),
    }


def _size_json(size: BucketGameSize | None) -> dict[str, Any]:
    if size is None:
        return {"information_sets": None, "entries": None, "memory_bytes": None}
    return {
        "information_sets": size.infosets,
        "information_sets_by_round": list(size.infosets_by_round),
        "entries": size.entries,
        "memory_bytes": {"float64": size.table_bytes(16), "int32 without average": size.table_bytes(4)},
    }


def _say_sizes(recipe: CardRecipe, game: GameDefinition, counts: tuple[int, ...], size: BucketGameSize | None) -> None:
    say(f"{recipe}, {recipe.recall} recall")
    rows = []
    for turn, (entry, count) in enumerate(zip(recipe.rounds, counts, strict=True)):
        more = f", {size.infosets_by_round[turn]:,} information sets" if size is not None else ""
        rows.append((game.round_name(turn), f"{entry!s:<10} {count:>13,} buckets{more}"))
    if size is None:
        rows.append(("in all", "the betting is too large to be counted; give --bets"))
    else:
        rows.append(("in all", f"{size.infosets:,} information sets, {size.entries:,} pairs with actions"))
        rows.append(
            ("tables", f"{format_bytes(size.table_bytes(16))} for regret and average as float64, "
                       f"{format_bytes(size.table_bytes(4))} for integer regrets alone")
        )  # fmt: skip
    table(rows)


def _say_built(values: dict[str, Any]) -> None:
    say()
    rows = [
        ("abstraction", f"{values['file']} ({format_bytes(values['bytes'])})"),
        ("seconds", f"{values['seconds']:.1f} ({values['cpu_seconds']:.1f} CPU)"),
        ("features", f"cached in {values['cache']}" if values["cache"] else "not cached; there is no home directory"),
    ]
    rows += [(f"objective, {name}", figure(value, 6)) for name, value in values["objectives"].items()]
    if values["report"] is not None:
        rows.append(("report", values["report"]))
    table(rows)


def _write_report(folder: Path, made: CardAbstraction, cache: Path | None, bins: int, threads: int, seed: int) -> None:
    from counterplay.abstraction.cards import CardFeatures
    from counterplay.abstraction.cards.bucket_report import report_cards
    from counterplay.plots.card_report import write_card_report

    features = CardFeatures(made.deck, made.shape, cache, threads, bins=bins)
    write_card_report(folder, made, report_cards(made, features, seed=seed))


def _progress(quiet: bool) -> AbstractContextManager[ProgressCallback | None]:
    """A bar for each stage on a terminal; a line for each stage elsewhere."""
    stages: list[str] = []

    def line(now: Progress) -> None:
        if not stages or stages[-1] != now.stage:
            stages.append(now.stage)
            note(now.stage)

    columns = ("{task.description}", "bar", "percent", "elapsed", "remaining")
    return live_progress(quiet, line, columns, lambda now: (now.stage, {"completed": now.share}))
