"""Plans of portfolios: which members there are, and what they are made from."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from counterplay.abstraction.cards import deck_shape
from counterplay.build.polaris import polaris_members
from counterplay.build.presets import MOST_BUCKETS, OBJECTIVES, PORTFOLIOS, Plan
from counterplay.errors import GameError
from counterplay.modelling.counter_strategy import ResponseKind
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.log_files import AnyPath, LogFile, check_names, log_files
from counterplay.runtime.suggestions import find_name

CLUSTERS, TRUST = 4, 0.75
"""Clusters of opponents if nothing else is said, or as many as there are opponents; and the usual Pmax."""

OWN = ("against", "clusters", "pmax")
"""What is asked of the preset ``portfolio`` alone."""

BLOCK = 1 << 20


def check_portfolio(preset: str, given: Mapping[str, Any], objective: str) -> None:
    """Refuse settings that a preset would ignore; ``given`` has all that may be missing, None where it is."""
    wanted = [name for name, value in given.items() if value is not None and value not in ((), [])]
    if preset not in PORTFOLIOS:
        refused = [name for name in OWN if name in wanted]
        reason = "is for the preset portfolio; add --preset portfolio, or leave it out"
    else:
        own = ("rounds", "logs", *OWN) if preset == "polaris" else ()
        refused = [name for name in ("experts", "recipe", "player", *own) if name in wanted]
        reason = f"is not for the preset {preset}; leave it out"
        if find_name(objective, OBJECTIVES) not in (None, "equilibrium"):
            raise GameError(f"the preset {preset} has equilibria and responses; leave out --objective")
    if refused:
        raise GameError(f"--{'log' if refused[0] == 'logs' else refused[0]} {reason}")
    if preset == "portfolio" and "logs" not in wanted:
        raise GameError("the preset portfolio is made from logs of opponents; name them: --log FILE")


def with_components(plan: Plan, definition: GameDefinition, infosets: int, decisions: Sequence[int]) -> Plan:
    """The plan with the components of Polaris."""
    members = polaris_members(definition, infosets, decisions)
    return dataclasses.replace(plan, rounds=members[0][1], members=members, extensions=0)


def with_opponents(plan: Plan, definition: GameDefinition, logs: Sequence[AnyPath], given: Mapping[str, Any]) -> Plan:
    """The plan with the opponents of logs.

    Raises
    ------
    GameError
        If there is no log, or one of another game; if nobody has such a name; if there are fewer opponents than
        clusters; if responses cannot be computed in these cards.
    """
    if definition.players != 2:
        raise GameError(f"the preset portfolio is for two players; {plan.game} has {definition.players}")
    files = log_files(logs)
    for file in files:
        file.check(definition, plan.game)
        if not file.first():
            raise GameError(f"{file.path} holds no hands")
    rivals = _rivals(files, given.get("against"))
    clusters = given.get("clusters")
    if clusters is None:
        clusters = min(CLUSTERS, len(rivals))
    if clusters < 1:
        raise GameError(f"opponents are put into at least 1 cluster; got {clusters}")
    if clusters > len(rivals):
        raise GameError(
            f"the logs have {len(rivals)} opponents ({', '.join(rivals)}), which cannot make {clusters} clusters; ask "
            "for fewer with --clusters, or give more logs"
        )
    trust = TRUST if given.get("pmax") is None else given["pmax"]
    ResponseKind("dbr", trust)  # refuses what is no probability
    recipe, counts = plan.recipe(), plan.recipe().counts(*deck_shape(definition))
    if recipe.recall != "perfect" or counts[-1] > MOST_BUCKETS:
        raise GameError(
            f"responses need cards with perfect recall and at most {MOST_BUCKETS:,} buckets in the last round; "
            f"{recipe} has {counts[-1]:,} and {recipe.recall} recall: give others with --rounds"
        )
    return dataclasses.replace(
        plan, logs=tuple(os.fspath(file.path) for file in files), digests=tuple(map(_digest, files)), rivals=rivals,
        clusters=clusters, trust=float(trust), extensions=0,
    )  # fmt: skip


def _rivals(files: Sequence[LogFile], against: str | Sequence[str] | None) -> tuple[str, ...]:
    """Whom the logs are about: everybody in them, or those named."""
    if against is None:
        found = sorted(set[str]().union(*(file.names() for file in files)))
        if not found:
            raise GameError(f"nobody plays in {files[0].path}: no line is a hand")
        return tuple(found)
    names = against.split(",") if isinstance(against, str) else list(against)
    names = [name.strip() for name in names if name.strip()]
    if not names:
        raise GameError(f"--against takes names in the logs, separated by commas; got {against!r}")
    check_names(files, names)
    return tuple(dict.fromkeys(names))


def _digest(file: LogFile) -> str:
    """What logs with the same bytes have in common."""
    found = hashlib.blake2b(digest_size=16)
    with open(file.path, "rb") as stream:
        while block := stream.read(BLOCK):
            found.update(block)
    return found.hexdigest()
