"""Agents of the competition as recipes: what was published about them, and a smaller agent of the same kind.

Gibson 2014, chapter 8 (the three-player agents of 2009 to 2013), section 7.3.2 (Base.797M), section 4.4.3 (1X and 2X)
and section 5.6 (the no-limit agent of 2011); ``competition_agents.json`` has their abstractions, sizes and iterations.
They took weeks of large machines.  A recipe keeps the structure, i.e. the parts with cards of their own, experts, tilt,
algorithm and profile, and cuts the buckets:

* A build has a number of information sets by its preset.  An agent may have more or fewer of them as its published size
  differs from that of 2012, by the fourth root of the ratio, so that the order of sizes is kept.
* In each part the rounds share these in proportion to the roots of their published information sets, and no round has
  more buckets than were published.  So the river, where three players have 9.5 million betting sequences, loses most.
* Where a preset has no time for k-means, percentiles take its place, and no boards are put into classes.

All of these are departures, and each is a line of the plan.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

from counterplay.abstraction.cards import CardRecipe, RoundRecipe, parse_recipe
from counterplay.errors import GameError
from counterplay.poker.isomorphism import HandIndexer
from counterplay.runtime.suggestions import did_you_mean

IMPORTANT = "important"
"""What the name of a part begins with that is found in logs; then its threshold follows."""

REFERENCE = 2.5e9
"""Published information sets of an agent that is scaled to just those of a preset."""

EXPERT_REFERENCE = 2.66e8
"""The same of an expert, which gets the share below."""

EXPERT_SHARE = 0.04

FEWEST = 2
"""Buckets of a round, even if that is too many."""

FEW_PART = 50
"""A round that takes at most this part of the information sets keeps all buckets."""

LEAST_FACTOR = 1.2
"""How much more than so many buckets in every round an abstraction may take, even if that is too much."""

Cards = tuple[tuple[int, int], tuple[int, ...]]
"""Deck and shape."""


@dataclasses.dataclass(frozen=True)
class PublishedAgent:
    """What was published about an agent; None where nothing was.

    Attributes
    ----------
    name, agent, game : str
        The name of the recipe, what the agent is called, and what it plays.
    base : tuple of (part, rounds)
        The card abstraction of each part of the betting; the part ``""`` is all that is in no other.
    infosets, iterations : int or None
        Of the base.
    algorithm, profile : str
        How it was solved, and whether its average or its last profile plays.
    parts, expert : tuple of str, str or None
        The betting sequences with static experts, and their card abstraction.
    expert_infosets, expert_iterations : int or None
        Of the largest expert.
    tilt : str or None
        How the game of the experts is tilted.
    bets : str or None
        The betting abstraction.
    """

    name: str
    agent: str
    game: str
    base: tuple[tuple[str, str], ...]
    infosets: int | None
    algorithm: str
    profile: str
    iterations: int | None
    parts: tuple[str, ...]
    expert: str | None
    expert_infosets: int | None
    expert_iterations: int | None
    tilt: str | None
    bets: str | None = None


def published_agents() -> dict[str, PublishedAgent]:
    """All published agents by the names of their recipes."""
    text = resources.files("counterplay.build").joinpath("competition_agents.json").read_text("utf-8")
    found = {}
    for row in json.loads(text):
        row |= {"base": tuple(map(tuple, row["base"])), "parts": tuple(row["parts"])}
        found[row["name"]] = PublishedAgent(**row)
    return found


def find_agent(name: str) -> PublishedAgent:
    """A published agent by the name of its recipe.  Raises GameError if there is none."""
    known = published_agents()
    if name not in known:
        raise GameError(f"there is no recipe {name!r}; {did_you_mean(name, known)}")
    return known[name]


def cut_cards(text: str, cards: Cards, decisions: Sequence[int], infosets: float, family: str | None) -> str:
    """A published card abstraction with as many buckets as fit.

    Parameters
    ----------
    text : str
        The published one, in the notation of card abstractions.
    cards : (deck, shape)
        For which cards.
    decisions : sequence of int
        Betting sequences of each round at which a player decides.
    infosets : float
        The most information sets.
    family : str or None
        The percentiles that take the place of k-means and of classes of boards; None to keep them.
    """
    recipe = parse_recipe(text, *cards)
    if recipe.recall == "perfect":
        return _cut_branching(recipe, cards, decisions, infosets, family)
    counts = recipe.counts(*cards)
    infosets = max(infosets, LEAST_FACTOR * FEWEST * sum(decisions))
    few = infosets / FEW_PART
    roots = [math.sqrt(count * number) for count, number in zip(counts, decisions, strict=True)]
    low, high = 0.0, math.sqrt(max(map(lambda count, number: count * number, counts, decisions))) + 1.0

    def held(scale: float) -> list[int]:
        """The buckets of each round if it has ``scale`` information sets for each of its roots; all if they are few."""
        return [
            max(min(count, FEWEST), min(count, int(scale * root / number))) if count * number > few else count
            for count, number, root in zip(counts, decisions, roots, strict=True)
        ]

    for _ in range(60):
        middle = (low + high) / 2
        fits = sum(map(lambda count, number: count * number, held(middle), decisions)) <= infosets
        low, high = (middle, high) if fits else (low, middle)
    sizes = HandIndexer(cards[1], *cards[0]).sizes
    entries = map(_cut_round, recipe.rounds, held(low), counts, sizes, [family] * len(sizes))
    return str(CardRecipe(tuple(entries)))


def _cut_round(entry: RoundRecipe, wanted: int, count: int, size: int, family: str | None) -> RoundRecipe:
    if wanted == count and (family is None or entry.family in ("lossless", "PS", "PE", "PH")) and not entry.boards:
        return entry
    own = entry.family if entry.family != "lossless" else "KE"
    known: Any = own if family is None or own in ("PS", "PE", "PH") else family
    boards = entry.boards if family is None and entry.boards and wanted >= FEWEST * entry.boards else 0
    held = wanted // boards if boards else min(wanted, size)
    return dataclasses.replace(entry, family=known, count=held, boards=boards, textures=bool(boards))


def _cut_branching(
    recipe: CardRecipe, cards: Cards, decisions: Sequence[int], infosets: float, family: str | None
) -> str:
    """With perfect recall the numbers multiply: each is cut to the same one."""
    best = None
    for most in range(1, max(entry.count for entry in recipe.rounds) + 1):
        rounds = tuple(
            dataclasses.replace(entry, count=min(entry.count, most), family=family if family == "PH" else entry.family)  # type: ignore[arg-type]
            for entry in recipe.rounds
        )
        tried = CardRecipe(rounds)
        counts = tried.counts(*cards)
        if best is None or sum(map(lambda a, b: a * b, counts, decisions)) <= infosets:
            best = tried
    return str(best)


def base_target(agent: PublishedAgent, infosets: int) -> float:
    """The information sets of the base of a scaled agent, by those of a preset."""
    return infosets * math.sqrt(math.sqrt((agent.infosets or REFERENCE) / REFERENCE))


def expert_target(agent: PublishedAgent, infosets: int) -> float:
    """The same of each of its experts."""
    ratio = (agent.expert_infosets or EXPERT_REFERENCE) / EXPERT_REFERENCE
    return EXPERT_SHARE * infosets * math.sqrt(math.sqrt(ratio))


def departures(
    agent: PublishedAgent, zones: Iterable[tuple[str, str]], experts: Mapping[str, str], sizes: Mapping[str, int],
    algorithm: str, profile: str, logged: str | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """What differs from the published agent, a line each.

    ``zones`` are the cards of its parts as they were cut, ``experts`` those of its experts; ``sizes`` are the
    information sets: of the base, under ``""``, and of experts by their parts.  ``logged`` says in which hands
    important betting was found; None if by play of the base against itself.
    """
    lines = []
    for (part, before), (_, now) in zip(agent.base, zones, strict=True):
        where = f"base, {part.partition(' ')[0]} part" if part else "base"
        if now != before:
            lines.append(f"{where}: {now} in place of {before}")
    size = "" if agent.infosets is None else f" in place of {agent.infosets:,}"
    lines.append(f"base: {sizes['']:,} information sets{size}")
    for part, now in experts.items():
        if now != agent.expert:
            lines.append(f"expert {part}: {now} in place of {agent.expert}")
    if agent.parts:
        most = max(sizes[part] for part in agent.parts)
        lines.append(f"experts: at most {most:,} information sets in place of {agent.expert_infosets or 0:,}")
    if algorithm != agent.algorithm:
        lines.append(f"{algorithm} in place of {agent.algorithm}")
    if profile != agent.profile:
        lines.append(f"the {profile} profile in place of the {agent.profile} one")
    if agent.iterations is not None:
        many = f", {agent.expert_iterations:,} of experts" if agent.expert_iterations else ""
        lines.append(f"iterations by the time of the preset in place of {agent.iterations:,}{many}")
    if any(part.startswith(IMPORTANT) for part, _ in agent.base):
        found = "by play of the base against itself" if logged is None else f"from {logged}"
        lines.append(f"important betting {found} in place of logs of the competition of 2011 and 2012")
    return tuple(lines)
