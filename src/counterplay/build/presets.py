"""The settings of ``build``: presets, and the plan that a preset makes for a game.

A preset limits the total time and the size of the bucket game; the plan has all settings, so that an interrupted build
can be compared with it.  Cards are not abstracted if the game is small enough without it.  Otherwise every round gets
the same number of percentile buckets, the most that fit.  Two players get E[HS²] with perfect recall, because only then
exploitability can be measured inside the bucket game (Johanson 2016, section 3.4); more players get imperfect recall.
The preset ``tiny`` uses hand strength on the board so far with imperfect recall for everybody: these features take a
sixth of the time.  With imperfect recall the first round stays whole if that takes at most a tenth of the size.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from counterplay.abstraction.cards import CardRecipe, deck_shape, parse_recipe
from counterplay.abstraction.cards.card_abstraction import Recall
from counterplay.abstraction.cards.recipe import Family
from counterplay.forms import poker_definition

OPPONENTS = ("always-call", "always-raise", "50/50", "uniform")
"""The opponents in matches."""

MOST_BUCKETS = 2048
"""Exploitability inside a bucket game uses matrices of at most this many buckets of the last round."""


@dataclasses.dataclass(frozen=True)
class Preset:
    """How much a build may cost.

    Attributes
    ----------
    seconds : float or None
        Total time; the solver gets what the other stages leave.
    reserve : float
        Seconds kept for the matches and measurements after solving.
    visits : int or None
        Iterations of the solver for each information set if no time is given, within ``ITERATIONS``.
    infosets : int
        Most information sets of the bucket game; more only if even two buckets in each round exceed it.
    infosets_3p : int
        The same with more than two players, where two buckets in each round of hold'em take 19 million, and experts.
    family, recall : str
        Of the buckets.
    boards : int
        Boards sampled for the bucket pair counts, if there are too many to count all.
    deals : int
        Different deals of each match; each is played in all seatings.
    threads : int
        Of the solver and the features of the cards.
    algorithm, settings : str, mapping
        A sampling algorithm, and changes to its defaults.
    """

    about: str
    seconds: float | None
    reserve: float
    visits: int | None
    infosets: int
    infosets_3p: int
    family: Family
    recall: Recall
    boards: int
    deals: int
    threads: int
    algorithm: str = "external-sampling"
    settings: Mapping[str, Any] = dataclasses.field(default_factory=lambda: {"storage": "float32"})

    @property
    def pairs(self) -> bool:
        """Whether the algorithm needs bucket pairs."""
        return self.algorithm == "dcfr"


PRESETS: Mapping[str, Preset] = {
    "tiny": Preset("a minute, for a first look", None, 0.0, 10, 200_000, 20_000_000, "PH", "imperfect", 200, 1_000, 1),
    "laptop": Preset(
        "ten minutes on two cores", 600.0, 130.0, None, 4_000_000, 44_000_000, "PS", "perfect", 10_000, 10_000, 2
    ),
    "evening": Preset(
        "two hours on two cores", 7200.0, 400.0, None, 8_000_000, 100_000_000, "PS", "perfect", 20_000, 20_000, 2
    ),
}

PORTFOLIOS: Mapping[str, Preset] = {
    "polaris": Preset(
        "a portfolio: the components of Polaris 2008, half an hour on two cores",
        1800.0,
        300.0,
        None,
        4_000_000,
        0,
        "PHS",
        "imperfect",
        2_000,
        500,
        2,
    ),
    "portfolio": Preset(
        "a portfolio: an equilibrium, and a response to each cluster of opponents in logs; half an hour on two cores",
        1800.0,
        300.0,
        None,
        4_000_000,
        0,
        "PS",
        "perfect",
        10_000,
        500,
        2,
        "dcfr",
        {},
    ),
}
"""Presets that build several strategies, among which an adaptive agent chooses; ``infosets`` are those of each."""

ITERATIONS = (20_000, 2_000_000)
"""The fewest and the most iterations of a preset without a time: the second take less than a minute in hold'em."""

OBJECTIVES: Mapping[str, str] = {
    "equilibrium": "an equilibrium of the bucket game",
    "unexploitable": "the strategy by buckets that is least exploitable in the real game, beside the equilibrium",
}
"""What a build looks for."""

TRUNK = 2
"""Rounds of the trunk of CFR-BR, where best responses in the whole real game take too long."""

RESPONSES, TRUNK_RESPONSES = (100, 2000, 100), (20, 2000, 50_000)
"""Iterations of CFR-BR in a plan without a time: the fewest, the most, and for how many of the equilibrium one is done;
without and with a trunk, where an iteration in limit hold'em takes seconds."""

EXTENSIONS = 3
"""How often the solver's time is doubled while the agent loses to one of ``OPPONENTS``."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """All settings of a build; a folder belongs to one plan."""

    game: str
    preset: str
    rounds: str
    bets: str | None
    algorithm: str
    settings: Mapping[str, Any]
    seconds: float | None
    reserve: float
    iterations: int | None
    boards: int
    deals: int
    threads: int
    seed: int
    extensions: int
    objective: str = "equilibrium"
    trunk: int = 0  # of CFR-BR, for the objective unexploitable
    responses: int | None = None  # its iterations, if there is no time
    # parts of the betting with cards of their own: (part, rounds).  Zones belong to the one game that is solved, which
    # makes dynamic experts; static experts are solved after it, each in the game that it leaves
    zones: tuple[tuple[str, str], ...] = ()
    experts: tuple[tuple[str, str], ...] = ()
    tilt: str | None = None  # of the game of the experts
    agent: str | None = None  # the published agent whose recipe this is
    infosets: int | None = None  # what a zone that is found while building may still take
    # logged hands: in which important betting is found, and whose decisions count; without logs by play of the base.
    # Or those of the opponents of a portfolio, with digests
    logs: tuple[str, ...] = ()
    player: str | None = None
    digests: tuple[str, ...] = ()
    members: tuple[tuple[str, str, str], ...] = ()  # of a portfolio whose members are known: (name, rounds, tilt)
    # of a portfolio of responses: the opponents, into how many clusters these are put, and how far data are trusted
    rivals: tuple[str, ...] = ()
    clusters: int = 0
    trust: float = 0.0

    def recipe(self) -> CardRecipe:
        """The buckets of each round."""
        return parse_recipe(self.rounds, *deck_shape(poker_definition(self.game)))

    def differences(self, other: Mapping[str, Any]) -> list[str]:
        """The settings in which another plan differs, as texts."""
        own, other = (json.loads(json.dumps(one)) for one in (dataclasses.asdict(self), dict(other)))  # no tuples
        new = {"objective": "equilibrium", "trunk": 0, "responses": None, "zones": [], "experts": [], "logs": [],
               "digests": [], "members": [], "rivals": [], "clusters": 0, "trust": 0.0}  # fmt: skip
        there = {name: other.get(name, new.get(name)) for name in own}
        if own["digests"] and own["digests"] == there["digests"]:  # the same logs may be elsewhere
            there["logs"] = own["logs"]
        return [f"{name} is {there[name]!r} there" for name in own if own[name] != there[name]]
