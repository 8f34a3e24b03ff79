"""``counterplay evaluate`` on a strategy of an abstract game: inside it, and in the real game where that is small."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from counterplay.cli.common import chips, exploitability_text, measured, note, print_json, say, table
from counterplay.errors import AbstractionError, GameError, MemoryLimitError, StrategyError

if TYPE_CHECKING:
    from counterplay.evaluation.board_bounds import ExploitabilityBounds
    from counterplay.evaluation.measurement import Measurement
    from counterplay.strategy.bucket_strategy import BucketStrategy

BOUNDS_HELP = (
    "A strategy of an abstract game: bound its exploitability in the real game from so many boards drawn at random."
)
DRAWN_HELP = "The round whose boards are drawn for --bounds, by number or as flop, turn, river; by default the last."
TRAINING_HELP = "Boards on which the player of the lower bound learns to play the rounds before."

REAL_HISTORIES = 5_000_000
"""Larger real games are not compiled to measure a strategy."""


def evaluate_buckets(
    path: Path, boards: int | None, seed: int, limit: int | None, as_json: bool, bounds: int | None = None,
    drawn: str | None = None, training: int = 0,
) -> None:  # fmt: skip
    """Measure a strategy of an abstract game and report."""
    from counterplay.strategy.bucket_strategy import BucketStrategy
    from counterplay.strategy.files import load_strategy

    if bounds is None and (drawn is not None or training):
        raise StrategyError("--drawn-round and --training belong to --bounds N; say how many boards to draw")
    if training < 0:
        raise StrategyError(f"--training is a number of boards; got {training}")
    profile = load_strategy(path)
    assert isinstance(profile, BucketStrategy)
    started = time.perf_counter()
    bounded = None if bounds is None else _bounds(profile, bounds, drawn, training, seed)
    real = _in_the_real_game(profile, limit)
    abstract = _in_the_abstract_game(profile, boards, seed)
    seconds = time.perf_counter() - started
    game, origin = profile.abstract, profile.provenance
    if as_json:
        nothing = dict.fromkeys(("value", "best_response", "nash_conv", "exploitability"))
        print_json({
            "game": game.name,
            "algorithm": origin.algorithm,
            "iterations": origin.iterations,
            "seconds": seconds,
            **(nothing if real is None else measured(real, game.big_blind)),
            "abstract": None if abstract is None else {
                **measured(abstract[0], game.big_blind), "boards": abstract[1], "exact": abstract[2],
            },
            **({} if bounded is None else {"training": training, **bounded.told(game.big_blind)}),
            "abstraction_information_sets": game.num_infosets,
            "profile": str(path),
            "seed": origin.seed,
            "provenance": {"settings": dict(origin.settings), "seconds": origin.seconds, "version": origin.version},
        })  # fmt: skip
        return
    say(f"{game.name} in buckets: strategy by {origin.algorithm}, {origin.iterations:,} iterations")
    rows = []
    if real is not None:
        rows += [("value", chips(real.value) + " chips"),
                 ("exploitability", exploitability_text(real.exploitability, game.big_blind))]  # fmt: skip
    else:
        rows.append(("exploitability", "not measured exactly: the real game is too large"))
    if bounded is not None:
        from counterplay.build.build_report import bound_rows

        rows += bound_rows(bounded.told(game.big_blind))
    if abstract is not None:
        how = "all boards" if abstract[2] else f"{abstract[1]:,} boards drawn, an estimate that is too high"
        rows.append(("in the abstract game", exploitability_text(abstract[0].exploitability, game.big_blind)))
        rows.append(("counted over", how))
    rows.append(("information sets", f"{game.num_infosets:,} in the abstract game"))
    table(rows)


def _in_the_real_game(profile: BucketStrategy, limit: int | None) -> Measurement | None:
    """What it is worth in the real game, on its public tree or else on its histories; None where that is too large."""
    from counterplay.evaluation import evaluate
    from counterplay.evaluation.lifted_buckets import measure_real
    from counterplay.game.registry import make
    from counterplay.tree.history.compile import compile_game

    if profile.abstract.bets is not None:
        return None
    try:
        return measure_real(profile, limit)
    except GameError:
        pass
    game = make(profile.game)
    histories = game.num_histories()
    if histories is None or histories > REAL_HISTORIES:
        return None
    try:
        tree = compile_game(game, memory_limit=limit)
    except MemoryLimitError:
        return None
    return evaluate(profile.lifted(tree), tree)


def _in_the_abstract_game(
    profile: BucketStrategy, boards: int | None, seed: int
) -> tuple[Measurement, int, bool] | None:
    """What it is worth in the abstract game, boards counted, and whether these were all; None if it cannot be told."""
    from counterplay.evaluation.bucket_pairs import count_bucket_pairs, measure_buckets

    try:
        pairs = count_bucket_pairs(profile.abstract, boards, seed)
    except (AbstractionError, GameError) as error:
        note(f"it is not measured in the abstract game: {error}" + (" (--boards)" if "to draw" in str(error) else ""))
        return None
    return measure_buckets(profile.abstract, pairs, profile.strategy()), pairs.boards, pairs.exact


def _bounds(profile: BucketStrategy, boards: int, drawn: str | None, training: int, seed: int) -> ExploitabilityBounds:
    """What boards drawn at random tell of the exploitability in the real game."""
    from counterplay.evaluation.board_bounds import bound_exploitability, drawn_round

    game = profile.abstract
    chosen = game.rounds - 1 if drawn is None else drawn_round(game, drawn)
    return bound_exploitability(profile, boards, chosen, training, seed)
