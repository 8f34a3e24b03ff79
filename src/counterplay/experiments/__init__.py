"""Published tables and figures, reproduced: one module for each, found by name."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from counterplay.errors import CounterplayError
from counterplay.experiments.scales import check_scale, scales_of
from counterplay.experiments.shared.experiment import Cell, Experiment, noting_stops
from counterplay.runtime.seeds import check_seed
from counterplay.runtime.suggestions import did_you_mean, find_name

__all__ = ["EXPERIMENTS", "Cell", "Experiment", "made_at", "options_of", "run_experiment"]

EXPERIMENTS = {
    "abstraction-families": "kinds of buckets, measured in real [2-4] hold'em (Johanson 2016, figures 4.4 and 4.5)",
    "abstract-sizes": "information sets of hold'em bucket games, counted (Johanson 2016, table 5.2; Gibson 2014)",
    "adaptive-agents": "agents that adapt, against opponents seen before and not (Johanson 2016, sections 8.2, 10.2.2)",
    "average-strategy": "average strategy sampling in Bluff (Gibson et al. 2012, figure 3; Gibson 2014, figure 5.6)",
    "bluff-chain": "the rounds of Bluff, the last one first (Johanson 2016, section 3.2.3; Lanctot et al. 2012)",
    "bluff-faces": "average strategy sampling by the faces of the dice in Bluff (Gibson 2014, figure 5.6d)",
    "bluff-sampling": "chance sampling against public chance sampling in Bluff (Johanson 2016, figures 3.5, 3.6)",
    "bluff-memory": "Bluff when only the last bids are remembered (Lanctot et al. 2012, figure 1)",
    "competition-results": "the three-player events of 2010 to 2013, published (Gibson 2014, tables 8.1 to 8.4)",
    "current-profile": "current against average profile of CFR (Gibson 2014, figure 4.7)",
    "data-biased-responses": "responses to observed play by confidence and data (Johanson 2016, figure 6.2)",
    "dominated-play": "dominated actions under CFR (Gibson 2014, theorems 4.2 and 4.3)",
    "estimator-ranges": "estimators of match results over pairs of strategies (Johanson 2016, tables 7.2 and 7.4)",
    "exploitability-by-size": "larger and other buckets, CFR and CFR-BR (Johanson 2016, figures 2.3 to 11.4)",
    "failing-learners": "CFR and fictitious play where a player forgets (Čermák 2018, figure A.1)",
    "family-crosstable": "kinds of buckets head to head, four rounds, exactly (Johanson 2016, tables 5.3 and 11.3)",
    "family-exploitability": "kinds of buckets by CFR and CFR-BR, four rounds (Johanson 2016, tables 5.4 and 11.4)",
    "forgetful-sizes": "memory saved by forgetting, counted (Lanctot et al. 2012, table 1)",
    "hand-distances": "distances between four starting hands by three measures (Johanson 2016, figures 5.2 and 5.3)",
    "heuristic-failure": "a game on which the heuristic update of CFR+IRA alone fails (Čermák 2018, table 5.1)",
    "hybrid-memory": "memory of the opponent of CFR-BR with a trunk in limit hold'em (Johanson 2016, table 4.1)",
    "kuhn-tournament": "what avoiding dominated actions is worth in Kuhn poker (Gibson 2014, table 4.1)",
    "least-exploitable": "CFR-BR and A-vs-U in [2-4] hold'em, several buckets (Johanson 2016, figures 4.4, 4.5, 4.8)",
    "limit-solution": "CFR+ until a hold'em game is essentially solved (Johanson 2016, figure 9.3)",
    "man-machine-series": "duplicate matches judged by money and by estimators (Johanson 2016, tables 8.1 and 8.2)",
    "match-estimators": "estimators of match results, bias and deviation (Johanson 2016, tables 7.1 and 7.3)",
    "maxmin-games": "Oshi-Zumo and the search game when one player forgets (Čermák 2018, section 4.5, figure 4.8)",
    "maxmin-shares": "maxmin strategies in random games (Čermák 2018, table 4.1, figure 4.7)",
    "opponent-clusters": "starting hands of hold'em in eight clusters, made again (Johanson 2016, table 5.1)",
    "oshi-zumo-sizes": "Oshi-Zumo with a forgetful player, counted (Čermák 2018, table 4.2)",
    "overfitting": "closer to equilibrium in the bucket game, farther in the real one (Johanson 2016, figure 4.6)",
    "phantom-memory": "phantom tic-tac-toe by what players forget (Lanctot et al. 2012, figure 1)",
    "reference-agents": "competitors of 2010 and 2012, published (Johanson 2016, tables 2.2, 11.1 and 11.2)",
    "refining-convergence": "CFR+IRA and CFR+ by iterations (Čermák 2018, figures 5.3 and 5.4)",
    "refining-memory": "what self-refining algorithms store (Čermák 2018, figures 5.6, 5.7, 5.9 and 5.10)",
    "refining-sizes": "information sets that self-refining algorithms use (Čermák 2018, figures 5.5, 5.8 and 5.11)",
    "refining-times": "CPU seconds of self-refining algorithms (Čermák 2018, figures 5.12 and 5.13)",
    "plus-averaging": "averages of CFR+ and who is updated first, at equal iterations (Johanson 2016, section 9.3)",
    "plus-sampling": "the floor of CFR+ with and without sampling (Johanson 2016, section 9.3)",
    "pooled-responses": "one response to a population of weak players (Johanson 2016, table 11.5)",
    "probing-convergence": "probing against MCCFR in Goofspiel and Bluff (Gibson 2014, figures 5.3b and c)",
    "probing-variance": "probing against MCCFR, variance of estimates (Gibson 2014, figure 5.3a)",
    "public-sampling": "CS, OPCS, SPCS and PCS in [2-1] and [2-4] hold'em (Johanson 2016, figure 3.2)",
    "resolving": "subgames solved again, safely and not: exploitability before and after (Burch et al. 2014)",
    "restricted-responses": "restricted Nash responses to observed play (Johanson 2016, figure 6.1)",
    "sampling-by-size": "chance sampling against public chance sampling by size of buckets (Johanson 2016, figure 3.3)",
    "sampling-parameters": "ε, τ and β of average strategy sampling (Gibson et al. 2012, figure 1)",
    "strategies-over-time": "CS, PCS and CFR-BR by CPU time (Johanson 2016, figures 3.4, 4.3, 4.9 and 11.1)",
    "skewed-dice": "skewed die-roll poker (Lanctot et al. 2012, figure 1; Gibson 2014, figure 6.1b)",
    "solved-games": "sizes of games that had been solved, and when one counts as solved (Johanson 2016, figure 9.2)",
    "stitched-leduc": "base strategies, experts and grafts in Leduc hold'em (Gibson 2014, tables 7.1 and 7.2)",
    "stitched-sizes": "abstractions of stitched hold'em strategies, counted (Gibson 2014, table 7.3)",
    "three-player-profiles": "current against average profile in three-player hold'em (Gibson 2014, figures 4.6, 4.7a)",
    "three-player-sampling": "Pure CFR against ES in three-player limit hold'em, by matches (Gibson 2014, figure 5.7c)",
    "trivial-agents": "best responses to players who do not look at their cards (Johanson 2016, table 2.1)",
    "tilt-exploitability": "what strategies of tilted bucket games lose in [2-4] hold'em (Johanson 2016, table 2.3)",
    "tilted-games": "CFR on games that are nearly zero-sum, [2-1] hold'em too (Gibson 2014, figure 4.5)",
    "two-round-sampling": "sampling algorithms in 2-NL hold'em, five buckets (Gibson et al. 2012, figure 2)",
    "worked-examples": "small games of the figures, numbers as printed (Gibson 2014; Lanctot et al. 2012; Čermák 2018)",
    "yearly-agents": "the three-player agents of 2009 to 2013, cut, against each other (Gibson 2014, table 8.5)",
    "two-round-uniform": "2-NL hold'em in five buckets, sizes and the uniform profile (Gibson et al. 2012, section 5)",
}
"""Every experiment by name, with one line about it; its module has the same name, or one of these."""

MODULES = {"abstract-sizes": "bucket_game_sizes"}


def run_experiment(name: str, scale: str = "full", **options: Any) -> Experiment:
    """Run an experiment by name; Ctrl-C stops it, and the rows that were finished are returned.

    Parameters
    ----------
    name : str
        One of ``EXPERIMENTS``.
    scale : str
        ``quick``, a smaller version for a first look; ``hour``, the largest that fits two cores in an hour; or
        ``full``.
    **options
        Options of the experiment, such as ``iterations``; they come before those of the scale.
    """
    found = find_name(name, EXPERIMENTS)
    if found is None:
        raise CounterplayError(f"unknown experiment {name!r}; {did_you_mean(name, EXPERIMENTS)}")
    name = found
    check_scale(scale)
    run = _module(name).run
    checked = _checked(name, run, options)
    if scale == "hour":
        checked = {**(scales_of(name, options).hour or {}), **checked}
    with noting_stops() as stops:
        result: Experiment = run(quick=scale == "quick", **checked)
    if stops and not result.rows:
        raise KeyboardInterrupt
    return dataclasses.replace(result, name=name, interrupted=bool(stops))


def made_at(name: str, scale: str, options: Mapping[str, Any]) -> str:
    """The scale of a result: that of an hour is full where a full run fits an hour."""
    return "full" if scale == "hour" and scales_of(name, options).hour is None else scale


def options_of(name: str) -> tuple[str, ...]:
    """The options that an experiment takes."""
    return tuple(option for option in inspect.signature(_module(name).run).parameters if option != "quick")


def _module(name: str) -> Any:
    return importlib.import_module(f"counterplay.experiments.{MODULES.get(name, name.replace('-', '_'))}")


def _checked(name: str, run: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, if the experiment takes them and their values have the right type; a text may list several games."""
    kinds = {option: str(parameter.annotation) for option, parameter in inspect.signature(run).parameters.items()}
    del kinds["quick"]
    checked = dict(options)
    for option, value in options.items():
        if option not in kinds:
            takes = ", ".join(kinds) or "no options"
            raise CounterplayError(f"{name} has no option {option!r}; it takes {takes}")
        words = kinds[option].split(" | ")
        if value is None and "None" in words:
            continue
        if option == "seed":
            checked[option] = check_seed(value, CounterplayError)
            continue
        whole = isinstance(value, int) and not isinstance(value, bool)
        if "int" in words and not (whole and value >= 1):
            raise CounterplayError(f"{name}: {option} must be an integer, at least 1; got {value!r}")
        if "float" in words and not (whole or (isinstance(value, float) and math.isfinite(value))):
            raise CounterplayError(f"{name}: {option} must be a number; got {value!r}")
        if "str" in words and not isinstance(value, str):
            raise CounterplayError(f"{name}: {option} must be text; got {value!r}")
        if kinds[option].startswith("tuple[str") and isinstance(value, str):
            checked[option] = tuple(re.split(r",(?![^(]*\))", value))  # commas in brackets belong to a game
        elif kinds[option].startswith("tuple[str") and isinstance(value, int | float):
            checked[option] = (str(value),)  # a list of one number
    return checked
