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
from counterplay.forms import poker_definition
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import count_betting
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.raise_sizes import bet_abstraction
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

    def recipe(self) -> CardRecipe:
        """The buckets of each round."""
        return parse_recipe(self.rounds, *deck_shape(poker_definition(self.game)))

    def differences(self, other: Mapping[str, Any]) -> list[str]:
        """The settings in which another plan differs, as texts."""
        own = dataclasses.asdict(self)
        return [f"{name} is {other.get(name)!r} there" for name in own if own[name] != other.get(name)]


def make_plan(
    game: str, preset: str = "laptop", rounds: str | None = None, bets: str | None = None, seed: int = 0, **changes: Any
) -> Plan:
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
    **changes
        Other values for ``seconds``, ``iterations``, ``boards``, ``deals``, ``threads``; those that are None change
        nothing.

    Raises
    ------
    GameError
        If there is no such preset, or the betting is too large.
    """
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
    return Plan(
        game=game, preset=found, rounds=str(recipe), bets=bets, algorithm=chosen.algorithm,
        settings=dict(chosen.settings), seed=seed, **{"iterations": None, **fields, **wanted},
    )  # fmt: skip


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
