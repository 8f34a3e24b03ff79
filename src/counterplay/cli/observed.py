"""Options of verbs that take logged hands of an opponent, and the model that they make."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterplay.cli.common import check_writable, compile_status, note
from counterplay.cli.running import counted_progress
from counterplay.errors import SolverError
from counterplay.runtime.memory import read_memory
from counterplay.runtime.signals import interruptible

if TYPE_CHECKING:
    from counterplay.modelling import FrequencyModel, Observations
    from counterplay.modelling.observations import Form

_PANEL = "An opponent in logs"

Log = Annotated[
    list[Path] | None,
    typer.Option(
        "--log", help="Logged hands (ACPC log, .phh, .phhs); others may follow: --log *.log", rich_help_panel=_PANEL
    ),
]
MoreLogs = Annotated[list[Path] | None, typer.Argument(metavar="LOG", help="More logs, after --log.")]
Against = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Who is observed: a name in the logs; A,B are one opponent.", rich_help_panel=_PANEL
    ),
]
ConfidenceName = Annotated[
    str | None,
    typer.Option(
        "--confidence", help="With dbr: how data are trusted: 1-step, 10-step (default), linear, curve.",
        rich_help_panel=_PANEL,
    ),
]  # fmt: skip
Default = Annotated[
    str | None,
    typer.Option(
        metavar="call|uniform|FILE", help="What is believed where nothing was seen; call by default.",
        rich_help_panel=_PANEL,
    ),
]  # fmt: skip
Broken = Annotated[
    str | None,
    typer.Option(
        metavar="refuse|skip", help="What to do with broken lines; refuse by default.", rich_help_panel=_PANEL
    ),
]
Kept = Annotated[
    Path | None,
    typer.Option(
        "--observations", help="With --log: keep the counts in this file; without: respond to the counts in it.",
        rich_help_panel=_PANEL,
    ),
]  # fmt: skip

OWN = ("against", "confidence", "default", "broken")
"""The options that mean nothing without observations."""


def is_observed(given: Mapping[str, Any]) -> bool:
    """Whether the opponent is one of logs; options that contradict each other are refused."""
    observed = bool(given["log"]) or given["observations"] is not None
    if given["more_logs"] and not given["log"]:
        raise SolverError(f"say what {given['more_logs'][0]} is: --game GAME, --model FILE or --log FILE")
    if observed and given["model"] is not None:
        other = "--log" if given["log"] else "--observations"
        raise SolverError(f"--model and {other} both say what the opponent plays; leave one out")
    if not observed:
        for name in OWN:
            if given[name] is not None:
                raise SolverError(f"--{name} is for an opponent in logs; add --log FILE, or leave it out")
        return False
    for name in ("against", "broken"):
        if given[name] is not None and not given["log"]:
            raise SolverError(f"--{name} is for logs; --observations has counted hands, leave it out")
    if given["log"] and given["against"] is None:
        raise SolverError("say whom of the players in the logs to respond to: --against NAME")
    if given["confidence"] is not None and "dbr" not in given["kind"]:
        raise SolverError("--confidence is for data biased responses; add --kind dbr, or leave it out")
    return True


def observed_model(given: Mapping[str, Any]) -> FrequencyModel:
    """The model of an opponent in logs, or in a file of observations; broken lines are noted."""
    from counterplay.modelling import Confidence, FrequencyModel
    from counterplay.modelling.models import DEFAULTS
    from counterplay.modelling.response_runs import read_opponent

    confidence = Confidence() if given["confidence"] is None else Confidence(given["confidence"])
    default = given["default"] or "call"
    if default not in DEFAULTS:
        default = read_opponent(default, given["game"] or "")
    seen = _counted(given, default) if given["log"] else _kept(given, default)
    for line in seen.broken:
        note(f"warning: skipped {line}")
    if seen.skipped > len(seen.broken):
        note(f"warning: skipped {seen.skipped - len(seen.broken):,} others")
    return FrequencyModel(seen, default, confidence)


def observed_facts(seen: Observations) -> dict[str, Any]:
    """What JSON says about observations."""
    return {"against": seen.opponent, **seen.left_out(), "broken": list(seen.broken)}


def _counted(given: Mapping[str, Any], default: Any) -> Observations:
    """The observations of logs, written to a file if one is named."""
    from counterplay.modelling import observe
    from counterplay.modelling.models import policy_table
    from counterplay.poker.log_files import check_names, log_files

    check_writable(given["observations"], replaced=True)
    silent = given["quiet"] or given["as_json"]
    names = [name.strip() for name in given["against"].split(",") if name.strip()]
    logs = [*given["log"], *(given["more_logs"] or [])]
    files = log_files(logs)
    check_names(files, names)
    form = _opened(given, given["game"] or files[0].game())
    policy_table(default, form)  # refuses what does not fit, before hands are counted
    with interruptible(), counted_progress("counting hands", silent) as draw:
        found = observe(logs, names, form, given["broken"] or "refuse", draw)
    if given["observations"] is not None:
        found.save(given["observations"])
        if not silent:
            file = shlex.quote(str(given["observations"]))
            note(f"kept the counts of {found.hands:,} hands; --observations {file} responds to them again")
    return found


def _kept(given: Mapping[str, Any], default: Any) -> Observations:
    """The observations in a file."""
    from counterplay.modelling import load_observations
    from counterplay.modelling.models import policy_table

    named = given["game"] is not None or given["cards"]
    if named and given["game"] is None:
        raise SolverError("--observations names its cards; leave out --cards, or name the game as well")
    found = load_observations(given["observations"], _opened(given, given["game"]) if named else None)
    policy_table(default, found.form)
    return found


def _opened(given: Mapping[str, Any], game: str) -> Form:
    """The form of a game in which hands are counted."""
    from counterplay.forms import GameForms

    with compile_status(game, given["quiet"] or given["as_json"]) as opening:
        forms = GameForms(
            game, cards=given["cards"], bets=given["bets"], memory_limit=read_memory(given["memory_limit"]),
            progress=opening,
        )  # fmt: skip
        return forms.buckets() if given["cards"] else forms.history()
