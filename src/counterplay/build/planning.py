"""The plan of a build: what a preset, or the recipe of a published agent, makes of a game.

``presets`` says what presets cost, ``recipes`` how published agents are cut to that.  In games of three players who may
fold to each other, static experts play where one has folded (Gibson 2014, section 7.3.2): there two players are left,
and few betting sequences, so that much finer buckets fit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from counterplay.abstraction.cards import CardRecipe, RoundRecipe, deck_shape, parse_recipe
from counterplay.abstraction.cards.recipe import Family
from counterplay.abstraction.experts import FOLDED, Part
from counterplay.build.portfolio_planning import OWN, check_portfolio, with_components, with_opponents
from counterplay.build.presets import (
    EXTENSIONS,
    ITERATIONS,
    MOST_BUCKETS,
    OBJECTIVES,
    PORTFOLIOS,
    PRESETS,
    RESPONSES,
    TRUNK,
    TRUNK_RESPONSES,
    Plan,
    Preset,
)
from counterplay.build.recipes import (
    EXPERT_SHARE,
    IMPORTANT,
    PublishedAgent,
    base_target,
    cut_cards,
    expert_target,
    find_agent,
    published_agents,
)
from counterplay.errors import GameError, MemoryLimitError
from counterplay.evaluation.lifted_buckets import PUBLIC_INFOSETS, real_infosets
from counterplay.forms import poker_definition
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import BettingCounts, count_betting
from counterplay.poker.isomorphism import HandIndexer
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.poker.rules import Betting
from counterplay.runtime.seeds import check_seed
from counterplay.runtime.suggestions import did_you_mean, find_name

FIRST_FOLDS = ("f", "rf", "rrf", "rcf")
"""The betting after which experts play, as in the agents of 2010 and 2011: the first of three players has folded."""

FAST = ("external-sampling", "pure-cfr")
"""Algorithms of published agents that a preset has time for: chance sampling visits all betting in every iteration."""

K_MEANS_SECONDS = 3600.0
"""A preset with more time has as much as k-means needs on all hands."""

SHAPES = {"base": "IRlossless/IRPS900/IRPS100/PS25", "expert": "IRlossless/IRPS1000/IRPS1000/PS500"}
"""Card abstractions of four-round games with more than two players, from which the presets cut theirs: the base of
2010, and one with finer rivers where one player has folded."""


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
        nothing.  ``experts`` are the betting sequences with experts, separated by commas, or ``none``; by default those
        of ``FIRST_FOLDS`` where there are three players.  ``recipe`` names a published agent (``recipes``); one with
        important betting finds it in ``logs``, paths of logged hands, by the decisions of ``player``, a name in them.
        The preset portfolio has ``logs`` of opponents; ``against``, their names in them, by default all; ``clusters``,
        how many they are put into; and ``pmax``, how far data are trusted at most.

    Raises
    ------
    GameError
        If there is no such preset or objective, the betting is too large, the objective is not for the game, a setting
        would be ignored, or logs are missing, of another game, or with fewer opponents than clusters.
    """
    seed = check_seed(seed, GameError)
    found, chosen = _find_preset(preset)
    wanted = {name: value for name, value in changes.items() if value is not None}
    check_portfolio(found, {**wanted, "rounds": rounds}, objective)
    experts, agent = wanted.pop("experts", None), wanted.pop("recipe", None)
    logs, player = wanted.pop("logs", None) or (), wanted.pop("player", None)
    asked = {name: wanted.pop(name, None) for name in OWN}
    definition = poker_definition(game)
    if definition.players != 2 and "boards" in wanted:
        raise GameError(f"boards are for measuring two players; {game} has {definition.players}, leave them out")
    plan = Plan(
        game=game, preset=found, rounds="", bets=bets, algorithm=chosen.algorithm, seed=seed,
        settings=_settings(chosen, definition.players), **_limits(chosen, wanted),
    )  # fmt: skip
    if found not in PORTFOLIOS:
        plan = dataclasses.replace(plan, **_logs(None if agent is None else str(agent), logs, player))
    if agent is not None:
        _check_alone(str(agent), {"rounds": rounds, "bets": bets, "experts": experts}, objective)
        plan = _agent_plan(plan, definition, chosen, find_agent(str(agent)))
    elif found == "polaris":
        plan = with_components(plan, definition, chosen.infosets, _counts(definition, bets).decisions)
    elif found == "portfolio":
        plan = with_opponents(_with_cards(plan, definition, chosen, rounds), definition, logs, asked)
    else:
        plan = _with_experts(_with_cards(plan, definition, chosen, rounds), definition, chosen, experts)
    return _with_objective(_with_iterations(plan, definition, chosen), definition, objective)


def _with_cards(plan: Plan, definition: GameDefinition, preset: Preset, rounds: str | None) -> Plan:
    """The plan with a card abstraction: the one that is given, or the finest that fits."""
    decisions = _counts(definition, plan.bets).decisions
    deck, shape = deck_shape(definition)
    recipe = _choose(definition, preset, decisions) if rounds is None else parse_recipe(rounds, deck, shape)
    return dataclasses.replace(plan, rounds=str(recipe))


def _settings(preset: Preset, players: int) -> dict[str, Any]:
    """The settings of the solver.

    With more than two players averages need walks of their own, and the last profile is as strong after a tenth of the
    iterations (Gibson 2014, section 4.4.3); with two players only the average comes close to an equilibrium.
    """
    return {**preset.settings, **({"profile": "last"} if players > 2 else {})}


def _find_preset(text: str) -> tuple[str, Preset]:
    """The name of a preset, and what it costs."""
    known = {**PRESETS, **PORTFOLIOS}
    found = find_name(text, known)
    if found is None:
        raise GameError(f"unknown preset {text!r}; {did_you_mean(text, known)}")
    return found, known[found]


def _with_iterations(plan: Plan, definition: GameDefinition, preset: Preset) -> Plan:
    """The plan with iterations for each information set, if it has no time."""
    if plan.iterations is not None or plan.seconds is not None or preset.visits is None:
        return plan
    infosets = _infosets(plan.recipe().counts(*deck_shape(definition)), _counts(definition, plan.bets).decisions)
    return dataclasses.replace(plan, iterations=min(max(ITERATIONS[0], preset.visits * infosets), ITERATIONS[1]))


def _logs(recipe: str | None, logs: Sequence[Any], player: str | None) -> dict[str, Any]:
    """In which logs important betting is looked for, and by whose decisions; refused where it is not looked for."""
    if not logs and player is None:
        return {}
    agents = {name: any(part.startswith(IMPORTANT) for part, _ in one.base) for name, one in published_agents().items()}
    known = " and ".join(name for name, found in agents.items() if found)
    if recipe is None or not agents.get(recipe, True):
        given = "--log" if logs else "--player"
        of = "there is no recipe" if recipe is None else f"the recipe {recipe} has none"
        raise GameError(
            f"logs show important betting, for the recipes {known}; {of}, leave out {given}, or make a portfolio of "
            "responses to the opponents in them: --preset portfolio"
        )
    if not logs:
        raise GameError(f"no log is given in which {player!r} plays; add --log FILE, or leave out --player")
    if player is None:
        raise GameError("say whose decisions in the logs count: --player NAME")
    return {"logs": tuple(str(path) for path in logs), "player": player}


def _check_alone(recipe: str, given: Mapping[str, Any], objective: str) -> None:
    """Refuse what a recipe says itself."""
    for name in [name for name, value in given.items() if value is not None]:
        raise GameError(f"the recipe {recipe} says its {name} itself; leave out --{name}")
    if find_name(objective, OBJECTIVES) not in (None, "equilibrium"):
        raise GameError(f"the recipe {recipe} is an equilibrium of its parts; leave out --objective")


def _limits(preset: Preset, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Time, iterations and the like: those of the preset, and others that are wanted."""
    for name, value in wanted.items():
        if not value > 0:
            raise GameError(f"{name} must be above 0; got {value!r}")
    found = {name: getattr(preset, name) for name in ("seconds", "reserve", "boards", "deals", "threads")}
    found |= {"iterations": None, "extensions": 0 if wanted.keys() & {"iterations", "seconds"} else EXTENSIONS}
    if "iterations" in wanted:
        found["seconds"] = None
    elif "seconds" in wanted:
        found["reserve"] = min(preset.reserve, wanted["seconds"] / 4)
    return {**found, **wanted}


def _with_experts(plan: Plan, definition: GameDefinition, preset: Preset, experts: str | None) -> Plan:
    """The plan with static experts: those given, or by default those of ``FIRST_FOLDS`` with three players."""
    if experts == "none":
        return plan
    lossless = all(entry.family == "lossless" for entry in plan.recipe().rounds)
    if experts is None:
        usual = definition.players == 3 and definition.limit and plan.bets is None and not lossless
        parts = [part for part in FIRST_FOLDS if usual and _leads_to_a_decision(definition, part)]
    else:
        parts = experts.split(",")
    found = []
    for part in parts:
        if not all(_leads_to_a_decision(definition, text) for text in Part.parse(part).sequences):
            raise GameError(
                f"nobody decides after {part!r} in {plan.game}; --experts takes betting such as rf, or none"
            )
        counts = _counts(definition, plan.bets, part)
        rounds = plan.rounds if lossless else str(_expert_cards(definition, preset, counts.decisions))
        found.append((part, rounds))
    return dataclasses.replace(plan, experts=tuple(found), extensions=0 if found else plan.extensions)


def _expert_cards(definition: GameDefinition, preset: Preset, decisions: Sequence[int]) -> CardRecipe | str:
    """The buckets of an expert: those of a whole game, but for the few decisions that it has."""
    deck, shape = deck_shape(definition)
    if definition.players == 2 or len(shape) != 4:
        return _choose(definition, preset, tuple(decisions))
    target = EXPERT_SHARE * preset.infosets_3p
    return cut_cards(SHAPES["expert"], (deck, shape), decisions, target, stand_in(preset))


def _leads_to_a_decision(definition: GameDefinition, text: str) -> bool:
    """Whether a betting is possible, and somebody acts after it."""
    try:
        return not Betting.after(definition, text).finished
    except GameError:
        return False


def stand_in(preset: Preset) -> Family | None:
    """The family of percentiles that takes the place of k-means; None where there is time for it."""
    return None if preset.seconds is not None and preset.seconds > K_MEANS_SECONDS else preset.family


def _agent_plan(plan: Plan, definition: GameDefinition, preset: Preset, agent: PublishedAgent) -> Plan:
    """The plan of a published agent, cut to a preset."""
    like = poker_definition(agent.game)
    if (definition.players, definition.limit, deck_shape(definition)) != (like.players, like.limit, deck_shape(like)):
        raise GameError(f"the recipe {agent.name} is for {agent.game}; {plan.game} has other rules")
    cards, family = deck_shape(definition), stand_in(preset)
    counts = _counts(definition, agent.bets)
    limit = preset.infosets if definition.players == 2 else preset.infosets_3p
    total, zones = base_target(agent, limit), {}
    decisions = {"": counts.decisions}
    if any(part == FOLDED for part, _ in agent.base):
        decisions[FOLDED] = count_betting(definition, folded=True).decisions
        decisions[""] = tuple(map(int.__sub__, counts.decisions, decisions[FOLDED]))
    taken = 0
    for part, text in agent.base:
        if part.startswith(IMPORTANT):
            continue
        published = _infosets(parse_recipe(text, *cards).counts(*cards), decisions[part])
        share = published / (agent.infosets or published)
        zones[part] = cut_cards(text, cards, decisions[part], share * total, family)
        taken += _infosets(parse_recipe(zones[part], *cards).counts(*cards), decisions[part])
    experts = []
    for part in agent.parts:
        below = _counts(definition, agent.bets, part).decisions
        assert agent.expert is not None
        experts.append((part, cut_cards(agent.expert, cards, below, expert_target(agent, limit), family)))
    found = [part for part, _ in agent.base if part.startswith(IMPORTANT)]
    settings = dict(plan.settings)
    algorithm = agent.algorithm if agent.algorithm in FAST else plan.algorithm
    if algorithm == "pure-cfr":
        settings.pop("storage", None)  # its regrets are integers
    if agent.profile != "average":
        settings["profile"] = agent.profile
    return dataclasses.replace(
        plan, rounds=zones.pop(""), bets=agent.bets, algorithm=algorithm, settings=settings, extensions=0,
        zones=tuple(zones.items()), experts=tuple(experts), tilt=agent.tilt, agent=agent.name,
        infosets=max(round(total / 4), round(total) - taken) if found else None,
    )  # fmt: skip


def _with_objective(plan: Plan, definition: GameDefinition, objective: str) -> Plan:
    """The plan for an objective: CFR-BR is exact where best responses in the real game are, or has a trunk."""
    found = find_name(objective, OBJECTIVES)
    if found is None:
        raise GameError(f"unknown objective {objective!r}; {did_you_mean(objective, OBJECTIVES)}")
    if found == "equilibrium":
        return plan
    if plan.experts:
        raise GameError(f"experts are for the objective equilibrium; leave them out of the objective {found}")
    if definition.players != 2:
        raise GameError(f"the objective {found} is for two players; {plan.game} has {definition.players}")
    if plan.bets is not None or not definition.limit:
        raise GameError(f"the objective {found} needs best responses to all bets; {plan.game} is no limit game")
    trunk = 0 if real_infosets(definition) <= PUBLIC_INFOSETS else min(TRUNK, definition.rounds)
    fewest, most, share = TRUNK_RESPONSES if trunk else RESPONSES
    responses = None if plan.iterations is None else min(max(fewest, plan.iterations // share), most)
    return dataclasses.replace(plan, objective=found, extensions=0, trunk=trunk, responses=responses)


def _counts(game: GameDefinition, bets: str | None, after: str = "") -> BettingCounts:
    """Numbers of betting sequences of each round, all or those after some betting."""
    try:
        return count_betting(game, None if bets is None else bet_abstraction(bets), after)
    except MemoryLimitError as error:
        raise GameError(f"{error}; choose a betting abstraction, such as --bets fcpa") from None


def _infosets(buckets: Iterable[int], decisions: Iterable[int]) -> int:
    return sum(count * number for count, number in zip(buckets, decisions, strict=True))


def _choose(game: GameDefinition, preset: Preset, decisions: tuple[int, ...]) -> CardRecipe:
    """The finest buckets within a number of information sets; two in each round if even these are too many."""
    deck, shape = deck_shape(game)
    sizes = HandIndexer(shape, *deck).sizes
    lossless = CardRecipe(tuple(RoundRecipe("lossless", size) for size in sizes))
    small = _infosets(sizes, decisions) <= preset.infosets and (not preset.pairs or sizes[-1] <= MOST_BUCKETS)
    if game.three_card_hands or small:
        return lossless  # hand strength does not support hands of three cards
    if game.players > 2 and len(shape) == 4:
        return parse_recipe(cut_cards(SHAPES["base"], (deck, shape), decisions, preset.infosets_3p, stand_in(preset)),
                            deck, shape)  # fmt: skip
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
