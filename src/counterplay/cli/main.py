"""The ``counterplay`` command: gathers the verbs and turns every misuse into one line and exit code 2."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from counterplay import __version__
from counterplay.cli import (
    abstract,
    agent,
    algorithms,
    analyse,
    build,
    compare,
    dealer,
    dominated,
    draw,
    equity,
    evaluate,
    experiment,
    flops,
    games,
    info,
    match,
    plan,
    play,
    respond,
    show,
    solve,
    stitch,
    tournament,
    warm,
)
from counterplay.cli import list as listing
from counterplay.cli.streams import prepare_streams
from counterplay.errors import CounterplayError
from counterplay.runtime.compiling import Compiling, Listener, listening
from counterplay.runtime.memory import full_memory_text
from counterplay.runtime.signals import explain_bus_errors
from counterplay.runtime.suggestions import did_you_mean, quoted
from counterplay.trusted_code import trust, trusting

VERBS = (
    listing, games, algorithms, info, plan, solve, stitch, compare, evaluate, abstract, build, experiment, dominated,
    draw, show, equity, flops, respond, play, match, analyse, dealer, agent, tournament, warm,
)  # fmt: skip
"""In the order of the help."""

RENAMED = {"inspect": "show"}
"""Verbs that had another name."""

INTERRUPTED = 130
MISUSE = 2


MEANT = {
    "ls": "list", "export": "show", "print": "show", "view": "show",
    "run": "solve", "train": "solve", "solver": "solve", "exploitability": "evaluate",
    "best-response": "respond evaluate", "exploit": "respond", "model": "respond", "counter": "respond",
    "rnr": "respond", "dbr": "respond", "size": "info", "odds": "equity", "plot": "draw", "simulate": "match",
    "server": "dealer", "analyze": "analyse", "divat": "analyse", "aivat": "analyse", "significance": "analyse",
    "graft": "stitch solve", "combine": "stitch", "merge": "stitch", "expert": "stitch",
    "benchmark": "compare", "predict": "plan", "estimate": "plan info", "compile": "warm", "precompile": "warm",
}  # fmt: skip
"""The verb that somebody means who writes it so."""


class Verbs(TyperGroup):
    """The verbs; Ctrl-C in one of them is left to ``main``, which Typer would end without a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; ``help VERB`` is ``VERB --help``, and ``--trust`` may be anywhere."""
        if "--trust" in args:
            trust()
            args = [word for word in args if word != "--trust"]
        return super().parse_args(ctx, [*args[1:2], "--help"] if args[:1] == ["help"] else args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb of a command line."""
        name, known = args[0], self.list_commands(ctx)
        if name in RENAMED:
            again = shlex.join(["counterplay", RENAMED[name], *args[1:]])
            raise CounterplayError(f"{name} is now {RENAMED[name]}: {again}")
        if name not in known:
            raise CounterplayError(f"there is no command {name!r}; {did_you_mean(name, known, meant=MEANT)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None


app = typer.Typer(
    cls=Verbs,
    name="counterplay",
    help="Solve games of imperfect information, and measure how far a strategy is from unexploitable.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: counterplay solve leduc --until 1e-4 --plot leduc.png.  counterplay help VERB explains a verb.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"counterplay {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
    trusted: bool = typer.Option(
        False, "--trust", help="Open files although they name Python code or programs, which are started (in any verb)."
    ),
) -> None:
    """Solve games of imperfect information, and measure how far a strategy is from unexploitable."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def _help(command: Callable[..., Any]) -> str:
    """The docstring of a verb with one line for each paragraph: Typer keeps the ends of lines."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for _verb in VERBS:
    app.command(_verb.__name__.rpartition(".")[2], help=_help(_verb.command))(_verb.command)


@functools.cache
def _verbs() -> Any:
    """The verbs with their options, read once, which takes 50 ms: a program may call ``main`` often."""
    return get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    prepare_streams()
    explain_bus_errors()
    try:
        with listening(_announcement(words)), trusting(words):
            code = _verbs()(args=words, standalone_mode=False, prog_name="counterplay")
        sys.stdout.flush()  # a reader that is gone is noticed here, not when Python ends
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        print("counterplay: interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if error.filename is not None:  # not from writing to standard output
            raise
        full = full_memory_text(error)
        if full is not None:
            print(f"counterplay: {full}", file=sys.stderr)
            return MISUSE
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that Python does not try again at its end
        if not isinstance(error, BrokenPipeError):
            print(f"counterplay: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        text = _misuse_text(error)
        if text is None:
            raise
        print(f"counterplay: {' '.join(text.split())}", file=sys.stderr)
        return MISUSE


def _announcement(words: Sequence[str]) -> Listener:
    """Say once that kernels are being compiled, into a pipe as well; not if quiet, and not where that is the work."""
    said = words[:1] == ["warm"] or not {"-q", "--quiet"}.isdisjoint(words)

    def say_once(now: Compiling) -> None:
        nonlocal said
        if not said and now.seconds > 1:
            said = True
            print(f"compiling kernels, once, about {now.seconds} s (counterplay warm compiles all)", file=sys.stderr)

    return say_once


def _misuse_text(error: Exception) -> str | None:
    """The message of an error that the user can fix; None for any other."""
    if isinstance(error, CounterplayError):
        return str(error)
    full = full_memory_text(error)
    if full is not None:
        return full
    # Typer's own usage errors; it carries its command-line parser inside, so their class has no public name.
    message = getattr(error, "format_message", None)
    if message is None:
        return None
    refused = getattr(error.__cause__, "errors", None)  # where a value does not fit the type of its option
    if refused is None:
        return str(message())
    wanted = str(message()).replace("Input should", "it should").partition(", unable to")[0]
    return f"{wanted}; got {quoted(refused()[0]['input'])}"
