"""Command lines of every verb that writes nothing and ends by itself, to be changed word by word."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

from counterplay.cli.main import main
from counterplay.errors import CounterplayError
from torture.text_formats import Parser

MISUSE = 2
ENDINGS: dict[str, tuple[str, ...]] = {
    "solve": ("--iterations", "3", "--seconds", "0.2"),
    "compare": ("--iterations", "3", "--seeds", "1"),
    "match": ("--deals", "2"),
    "equity": ("--samples", "100"),
    "info": ("--memory-limit", "100MB"),
}
"""What is put behind a changed line, so that it is short work."""

SPOT = "--board KsTd7h4c2s --pot 60 --stack 100 --oop AA,KQs,98s --ip KK,QJs,77 --bets 75% --raises a"
LINES = (
    "games", "algorithms", "list", "help solve", "experiment", "--version",
    "info kuhn", "info leduc(ranks=4) --json", "info holdem.limit.2p.reverse_blinds",
    "solve kuhn --algorithm cfr+ --set delay=5", "solve leduc --algorithm external-sampling --seed 3 --json",
    "solve kuhn --representation states --algorithm probing --set probes=2", "solve kuhn --until 1 --forget match=^.",
    f"solve holdem {SPOT}", f"solve holdem {SPOT} --add-line x,b30 --rake 5% --rake-cap 3",
    "compare kuhn -a cfr,pure-cfr(seed=3)", "evaluate --strategy 50/50 --game kuhn",
    "evaluate always-call --game leduc_limit_2p --method card-free --json", "evaluate FILE", "show FILE",
    "show FILE --infosets --json", "show FILE --hands", "match FILE always-call", "dominated kuhn --json",
    "match me=FILE?purify=true tight --game kuhn --seed 4 --no-duplicate", "equity AA KK --board QsJh2h --json",
    "equity random AKs 77+ --seed 2", "abstract leduc_limit_2p --rounds 3,KE3 --recall perfect --json",
)  # fmt: skip


def command_lines(folder: Path) -> Parser:
    """A parser of command lines, a word on each line; they run in a folder, where FILE is a strategy of Kuhn poker."""
    from counterplay.runs import solve

    folder.mkdir()
    solve("kuhn", "cfr+", iterations=10, out=folder / "FILE")

    def run(text: str) -> None:
        os.chdir(folder)
        words = text.split("\n")
        words += ENDINGS.get(words[0], ())
        said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            if main(words) == MISUSE:
                raise CounterplayError(said.getvalue().strip())

    return run, tuple("\n".join(line.split()) for line in LINES)
