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
from collections.abc import Iterable, Mapping
from typing import Any

from counterplay.abstraction.cards import CardRecipe, RoundRecipe, deck_shape, parse_recipe
from counterplay.abstraction.cards.card_abstraction import Recall
from counterplay.abstraction.cards.recipe import Family
from counterplay.errors import GameError, MemoryLimitError
from counterplay.evaluation.lifted_buckets import PUBLIC_INFOSETS, real_infosets
from counterplay.forms import poker_definition
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import count_betting
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.runtime.seeds import check_seed
from counterplay.runtime.suggestions import did_you_mean, find_name

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
    family: Family
    recall: Recall
    boards: int
    deals: int
    threads: int
    algorithm: str = "external-sampling"
    settings: Mapping[str, Any] = dataclasses.field(default_factory=lambda: {"storage": "float32"})


PRESETS: Mapping[str, Preset] = {
    "tiny": Preset("a minute, for a first look", None, 0.0, 10, 200_000, "PH", "imperfect", 200, 1_000, 1),
    "laptop": Preset("ten minutes on two cores", 600.0, 130.0, None, 4_000_000, "PS", "perfect", 10_000, 10_000, 2),
    "evening": Preset("two hours on two cores", 7200.0, 400.0, None, 8_000_000, "PS", "perfect", 20_000, 20_000, 2),
}

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

    def recipe(self) -> CardRecipe:
        """The buckets of each round."""
        return parse_recipe(self.rounds, *deck_shape(poker_definition(self.game)))

    def differences(self, other: Mapping[str, Any]) -> list[str]:
        """The settings in which another plan differs, as texts."""
        own, new = dataclasses.asdict(self), {"objective": "equilibrium", "trunk": 0, "responses": None}
        there = {name: other.get(name, new.get(name)) for name in own}
        return [f"{name} is {there[name]!r} there" for name in own if own[name] != there[name]]


def make_plan(
    game: str, preset: str = "laptop", rounds: str | None = None, bets: str | None = None, seed: int = 0,
    objective: str = "equilibrium", **changes: Any,
) -> Plan:  # fmt: skip
    """The plan of a preset for a game.

    Parameters
    ----------
    game : str
        A poker game with a definition, by name or file.
    preset : str
        One of ``PRESETS``.
    rounds : str, optional
        A card abstraction for ``parse_recipe``, in place of the automatic one.
    bets : str, optional
        A betting abstraction; no-limit games need one.
    seed : int
        Of everything random.
    objective : str
        One of ``OBJECTIVES``.
    **changes
        Other values for ``seconds``, ``iterations``, ``boards``, ``deals``, ``threads``; those that are None change
        nothing.

    Raises
    ------
    GameError
        If there is no such preset or objective, the betting is too large, or the objective is not for the game.
    """
    seed = check_seed(seed, GameError)
    found = find_name(preset, PRESETS)
    if found is None:
        raise GameError(f"unknown preset {preset!r}; {did_you_mean(preset, PRESETS)}")
    chosen = PRESETS[found]
    wanted = {name: value for name, value in changes.items() if value is not None}
    for name, value in wanted.items():
        if not value > 0:
            raise GameError(f"{name} must be above 0; got {value!r}")
    wanted["extensions"] = 0 if wanted.keys() & {"iterations", "seconds"} else EXTENSIONS
    if "iterations" in wanted:
        wanted.setdefault("seconds", None)
    elif "seconds" in wanted:
        wanted["reserve"] = min(chosen.reserve, wanted["seconds"] / 4)
    definition = poker_definition(game)
    deck, shape = deck_shape(definition)
    decisions = _decisions(definition, bets)
    recipe = _choose(definition, chosen, decisions) if rounds is None else parse_recipe(rounds, deck, shape)
    if wanted.get("seconds", chosen.seconds) is None and chosen.visits is not None:
        infosets = _infosets(recipe.counts(deck, shape), decisions)
        wanted.setdefault("iterations", min(max(ITERATIONS[0], chosen.visits * infosets), ITERATIONS[1]))
    fields = {name: getattr(chosen, name) for name in ("seconds", "reserve", "boards", "deals", "threads")}
    plan = Plan(
        game=game, preset=found, rounds=str(recipe), bets=bets, algorithm=chosen.algorithm,
        settings=dict(chosen.settings), seed=seed, **{"iterations": None, **fields, **wanted},
    )  # fmt: skip
    return _with_objective(plan, definition, objective)


def _with_objective(plan: Plan, definition: GameDefinition, objective: str) -> Plan:
    """The plan for an objective: CFR-BR is exact where best responses in the real game are, or has a trunk."""
    found = find_name(objective, OBJECTIVES)
    if found is None:
        raise GameError(f"unknown objective {objective!r}; {did_you_mean(objective, OBJECTIVES)}")
    if found == "equilibrium":
        return plan
    if definition.players != 2:
        raise GameError(f"the objective {found} is for two players; {plan.game} has {definition.players}")
    if plan.bets is not None or not definition.limit:
        raise GameError(f"the objective {found} needs best responses to all bets; {plan.game} is no limit game")
    trunk = 0 if real_infosets(definition) <= PUBLIC_INFOSETS else min(TRUNK, definition.rounds)
    fewest, most, share = TRUNK_RESPONSES if trunk else RESPONSES
    responses = None if plan.iterations is None else min(max(fewest, plan.iterations // share), most)
    return dataclasses.replace(plan, objective=found, extensions=0, trunk=trunk, responses=responses)


def _decisions(game: GameDefinition, bets: str | None) -> tuple[int, ...]:
    """Betting sequences of each round after which a player decides."""
    try:
        return count_betting(game, None if bets is None else bet_abstraction(bets)).decisions
    except MemoryLimitError as error:
        raise GameError(f"{error}; choose a betting abstraction, such as --bets fcpa") from None


def _infosets(buckets: Iterable[int], decisions: Iterable[int]) -> int:
    return sum(count * number for count, number in zip(buckets, decisions, strict=True))


def _choose(game: GameDefinition, preset: Preset, decisions: tuple[int, ...]) -> CardRecipe:
    """The finest buckets within a number of information sets; two in each round if even these are too many."""
    deck, shape = deck_shape(game)
    sizes = HandIndexer(shape, *deck).sizes
    lossless = CardRecipe(tuple(RoundRecipe("lossless", size) for size in sizes))
    if game.three_card_hands or _infosets(sizes, decisions) <= preset.infosets:
        return lossless  # hand strength does not support hands of three cards
    forgets = game.players > 2 or preset.recall == "imperfect"
    exact_start = forgets and sizes[0] * decisions[0] <= preset.infosets / 10
    best = None
    for count in range(2, MOST_BUCKETS + 1):
        wanted = [sizes[0] if exact_start and turn == 0 else count for turn in range(len(sizes))]
        recipe = CardRecipe(tuple(
            RoundRecipe("lossless", size, forgets=forgets and turn < len(sizes) - 1) if wanted[turn] >= size
            else RoundRecipe(preset.family, count, forgets=forgets and turn < len(sizes) - 1)
            for turn, size in enumerate(sizes)
        ))  # fmt: skip
        counts = recipe.counts(deck, shape)
        if best is not None and not (_infosets(counts, decisions) <= preset.infosets and counts[-1] <= MOST_BUCKETS):
            break
        best = recipe
    assert best is not None
    return best
