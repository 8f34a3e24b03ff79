"""``counterplay evaluate`` for strategies that do not look at their cards, in poker games of any size."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from counterplay.cli.common import check_writable, chips, measured, note, print_json, say, table
from counterplay.cli.running import interruptible
from counterplay.errors import GameError, StrategyError
from counterplay.forms import open_game

if TYPE_CHECKING:
    from counterplay.evaluation.measurement import Measurement
    from counterplay.poker.poker_game import PokerGame
    from counterplay.runtime.progress import Progress, ProgressCallback
    from counterplay.strategy.trivial import CardFree

METHODS = ("auto", "shortcut", "general", "whole")
METHOD_HELP = (
    "Of strategies that do not look at their cards. shortcut: a table of the last round; general: walk the public tree "
    "below one first deal at a time; whole: walk a public tree that fits; auto: shortcut where cards are dealt."
)


def evaluate_card_free_command(
    game: str | None,
    strategy: str | None,
    method: str,
    threads: int,
    checkpoint: Path | None,
    resume: Path | None,
    limit: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure always-call and its like, and report."""
    if threads < 1:
        raise StrategyError(f"--threads is at least 1; got {threads}")
    if method not in METHODS:
        raise StrategyError(f"--method is one of {', '.join(METHODS)}; got {method!r}")
    check_writable(checkpoint or resume, replaced=True)
    if resume is not None:
        game, strategy, method = _resumed(resume, game, strategy, method)
    if game is None:
        raise StrategyError(f"--strategy {strategy} needs --game")
    assert strategy is not None
    from counterplay.strategy.trivial import trivial

    started, cpu = time.perf_counter(), time.process_time()
    agent = trivial(strategy)
    poker = _poker_game(game, strategy)
    method = _method(poker, method, checkpoint or resume, limit)
    with interruptible(), _progress(quiet or as_json) as draw:
        try:
            measurement = _measure(poker, agent, method, threads, checkpoint, resume, draw)
        except KeyboardInterrupt:
            kept = checkpoint or resume
            if kept is not None:
                note(f"go on with: counterplay evaluate --resume {kept}")
            raise
    seconds = time.perf_counter() - started
    big_blind = float(poker.definition.big_blind)
    if as_json:
        print_json({
            "game": poker.spec(),
            "algorithm": strategy,
            "strategy": strategy,
            "representation": "public",
            "method": method,
            "iterations": 0,
            "seconds": seconds,
            "cpu_seconds": time.process_time() - cpu,
            **measured(measurement, big_blind),
            "best_response_mbb": [1000 * value / big_blind for value in measurement.best_response],
            "epsilon": measurement.epsilon,
            "recall": ["perfect", "perfect"],
            "threads": threads,
            "checkpoint": None if checkpoint is None and resume is None else str(checkpoint or resume),
            "profile": None,
            "seed": None,
        })  # fmt: skip
        return
    mbb = [1000 * value / big_blind for value in measurement.best_response]
    say(f"{poker.spec()}: {strategy}")
    table([
        ("value", chips(measurement.value) + " chips"),
        ("best responses", ", ".join(f"{v:+.4f} mbb/g (player {p + 1})" for p, v in enumerate(mbb))),
        ("exploitability", f"{1000 * measurement.exploitability / big_blind:.4f} mbb/g, mean over players of what a "
                           "best response gains"),
        ("method", method),
        ("seconds", f"{seconds:.2f}, {time.process_time() - cpu:.2f} of a processor"),
    ])  # fmt: skip


def _resumed(resume: Path, game: str | None, strategy: str | None, method: str) -> tuple[str, str, str]:
    """The game, strategy and method that a file is about; what was named must be the same."""
    from counterplay.evaluation.split_evaluation import strategy_text
    from counterplay.runtime.jobs import read_jobs
    from counterplay.strategy.trivial import TRIVIAL

    header = read_jobs(resume)
    names = {strategy_text((agent, agent)): name for name, agent in TRIVIAL.items()}
    found = names.get(header["strategies"])
    if found is None:
        raise StrategyError(f"{resume} is about other strategies than {', '.join(TRIVIAL)}; go on with it in Python")
    if strategy not in (None, found):
        raise StrategyError(f"{resume} is about {found}; leave out --strategy {strategy}")
    if method not in ("auto", header["method"]):
        raise StrategyError(f"{resume} goes on with --method {header['method']}; leave out --method {method}")
    if game is not None and open_game(game, "states").spec() != header["game"]:
        raise StrategyError(f"{resume} is about {header['game']}; leave out --game {game}")
    return header["game"], found, header["method"]


def _poker_game(name: str, strategy: str) -> PokerGame:
    from counterplay.poker.poker_game import PokerGame

    made = open_game(name, "states")
    if not isinstance(made, PokerGame):
        raise GameError(
            f"{strategy} plays poker games such as holdem_limit_2p (counterplay games lists them); {name} is not one"
        )
    if made.definition.players != 2:
        raise GameError(f"{strategy} is measured in games of two players; {name} has {made.definition.players}")
    return made


def _method(game: PokerGame, method: str, kept: Path | None, limit: int | None) -> str:
    """The method to use, after checking that the game is one for it."""
    deals = any(game.definition.board_cards)
    if method == "auto":
        method = "shortcut" if deals else "whole"
    if method != "whole":
        return method
    if kept is not None:
        raise StrategyError("--method whole keeps nothing on the way; leave out --checkpoint, or take --method general")
    from counterplay.poker.poker_public_tree import public_tree_bytes
    from counterplay.runtime.memory import check_memory

    advice = "use --method general or shortcut"
    check_memory(f"the public tree of {game.spec()}", public_tree_bytes(game.definition), limit, advice)
    return method


def _measure(
    game: PokerGame,
    agent: CardFree,
    method: str,
    threads: int,
    checkpoint: Path | None,
    resume: Path | None,
    draw: ProgressCallback | None,
) -> Measurement:
    if method == "whole":
        from counterplay.evaluation.split_evaluation import evaluate_public
        from counterplay.poker.poker_public_tree import build_public_tree

        return evaluate_public(build_public_tree(game.definition, name=game.spec()), (agent, agent), threads)
    if method == "general":
        from counterplay.evaluation.split_evaluation import evaluate_split

        return evaluate_split(game, (agent, agent), threads, checkpoint, resume, draw)
    from counterplay.evaluation.card_free import evaluate_card_free

    return evaluate_card_free(game, [(agent, agent)], threads, checkpoint, resume, draw)[0]


@contextmanager
def _progress(quiet: bool) -> Iterator[ProgressCallback | None]:
    """A live bar with the time left on a terminal; now and then a plain line elsewhere."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield _plain_lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.fields[state]}"), BarColumn(), TextColumn("{task.fields[left]}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("evaluating", total=1.0, state="preparing kernels", left="")

        def draw(now: Progress) -> None:
            state = f"{now.iterations:,} of {now.total:,} first deals"
            bar.update(
                task, total=now.total, completed=now.iterations, state=state, left=f"{_time(now.seconds_left)} left"
            )

        yield draw


def _plain_lines() -> ProgressCallback:
    due = wait = 2.0

    def draw(now: Progress) -> None:
        nonlocal due, wait
        if now.seconds >= due:
            wait *= 2
            due = now.seconds + min(wait, 60.0)
            note(
                f"{now.iterations:,} of {now.total:,} first deals, {now.seconds:.0f} s, {_time(now.seconds_left)} left"
            )

    return draw


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"
