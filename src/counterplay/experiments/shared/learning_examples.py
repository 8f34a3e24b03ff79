"""The examples of Gibson 2014, of which Lanctot et al. 2012 has one too: matrices, recall, domination, runs of CFR.

Payoffs of figures 6.2a and 6.2b are lost in the source at hand; these games are rebuilt from what the text says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from counterplay.abstraction.part_games import PartGame
from counterplay.analysis.domination import dominated_strategies, find_dominated
from counterplay.analysis.equilibrium_quality import coarse_correlated_gap
from counterplay.analysis.regret_bounds import m_value, player_quantities
from counterplay.analysis.regret_tracker import RegretTracker
from counterplay.evaluation import expected_values, nash_conv
from counterplay.evaluation.history_values import history_values
from counterplay.evaluation.responses import best_response
from counterplay.experiments.shared.example_lines import Line, maxmin_value, tree_of
from counterplay.solvers.cfr import CfrConfig, CfrSolver
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.sequence.normal_form import normal_form

XI = 0.5
"""ξ in the game in which CFR keeps regret; the text has any number between 0 and 1."""


def matrix_game() -> Iterator[Line]:
    """Figure 2.1."""
    tree = tree_of("toy_undominated")
    mixed = TabularStrategy.from_table(tree, {(0, "player 1"): {"A": 0.75, "B": 0.25}, (1, "player 2"): {"a": 1.0}})
    yield Line("player 1's utility of (3/4, 1/4, 0) against a", 5 / 2, expected_values(mixed, tree)[0])


def small_tree() -> Iterator[Line]:
    """Figure 2.2."""
    tree = tree_of("toy_small_tree")
    yield Line("histories", 22, tree.num_histories)
    yield Line("terminal histories", 12, tree.counts()["terminal"])
    for player, sets in ((0, 2), (1, 6)):
        yield Line(f"information sets of player {player + 1}", sets, len(tree.infosets_of(player)))
        yield Line(f"M-value of player {player + 1}", math.sqrt(sets), m_value(tree, player))
    plays = TabularStrategy.from_table(tree, {(0, "a"): {"l": 1.0}})
    reached = history_values(tree, plays.table).reach.prod(axis=1)
    for history, published in (("alr", 1 / 6), ("brl", 1 / 12), ("dl", 1 / 6)):
        yield Line(f"reach of {history}", published, float(reached[_node(tree, history)]))


def _node(tree: GameTree, history: str) -> int:
    """The number of a history of figure 2.2 by its actions."""
    node = 0
    for letter, actions in zip(history, ("abd", "lr", "lr"), strict=False):
        node = int(tree.first_child[node]) + actions.index(letter)
    return node


def forgotten_choice() -> Iterator[Line]:
    """Figure 2.3."""
    tree = tree_of("toy_forgotten_choice")
    payoffs = normal_form(tree).payoffs[1]  # rows A, B; columns ac, ad, bc, bd
    yield Line("what ½ ac + ½ bd secures for player 2", 2, float((payoffs @ [0.5, 0.0, 0.0, 0.5]).min()))
    yield Line("what a behavioural strategy secures at most", 1, maxmin_value("toy_forgotten_choice", 2), 1e-4)
    uniform = TabularStrategy.uniform(tree)
    lost = best_response(uniform, 0, tree).value
    yield Line("what uniform play secures", 1, -lost)


def order_of_removal() -> Iterator[Line]:
    """Figure 2.4."""
    form = normal_form(tree_of("toy_elimination_order"))
    for column, name, row in ((1, "b", "B"), (2, "c", "A")):
        left = [np.arange(2), np.setdiff1d(np.arange(3), column)]
        first = [one.strategy for one in find_dominated(form, 1, [np.arange(2), np.arange(3)], "weak")]
        gone = ["AB"[one.strategy] for one in find_dominated(form, 0, left, "weak")]
        yield Line(f"{name} is weakly dominated", "yes", "yes" if column in first else "no")
        yield Line(f"rows that are weakly dominated without {name}", row, ", ".join(gone))


def coarse_correlated() -> Iterator[Line]:
    """Figure 2.5."""
    tree = tree_of("toy_coarse_correlated")
    weights = {("A", "a"): 0.5, ("B", "b"): 0.25, ("C", "b"): 0.25}
    profiles = [
        TabularStrategy.from_table(tree, {(0, "player 1"): {row: 1.0}, (1, "player 2"): {column: 1.0}})
        for row, column in weights
    ]
    earned = sum(
        share * expected_values(profile, tree)[0] for profile, share in zip(profiles, weights.values(), strict=True)
    )
    yield Line(
        "what a player gains by leaving the distribution", 0, coarse_correlated_gap(tree, profiles, [*weights.values()])
    )
    yield Line("utility of the row player", 5 / 4, earned)
    report = dominated_strategies(tree)
    gone = ", ".join(report.form.strategy_name(one.player, one.strategy) for one in report.dominated)
    yield Line("strictly dominated", "player 1 C", gone)


def m_values() -> Iterator[Line]:
    """Figure 2.6."""
    for sets in (3, 10):
        chain = tree_of(f"toy_chain({sets})")
        for player in (0, 1):
            yield Line(f"M of player {player + 1} with K = {sets}", sets, m_value(chain, player))
    coin = tree_of("toy_hidden_coin")
    found = player_quantities(coin, 0)
    yield Line("M of player 1, a and c named differently", 2 + math.sqrt(2), m_value(coin, 0))
    yield Line("M of player 1, c named a", 2 * math.sqrt(2), m_value(tree_of("toy_hidden_coin(true)"), 0))
    yield Line("information sets of player 1 times parts", 12, found.infosets * found.parts)


def graft() -> Iterator[Line]:
    """Figure 2.10."""
    yield Line("information sets, S = {2}", 5, _part("l@2"))


def static_expert() -> Iterator[Line]:
    """Figure 7.1."""
    yield Line("information sets, S = N", 3, _part("l"))


def _part(text: str) -> int:
    tree = tree_of("toy_small_tree")
    return int(PartGame.of(tree, text, TabularStrategy.uniform(tree).table).tree.num_infosets)


def three_player_kuhn() -> Iterator[Line]:
    """Figure 3.1."""
    tree = tree_of("kuhn(players=3)")
    for player in range(3):
        yield Line(f"information sets of player {player + 1}", 16, len(tree.infosets_of(player)))
    inner = tree.num_histories - tree.counts()["terminal"] - tree.counts()["chance"]
    yield Line("histories of an information set, on average", 6, inner / tree.num_infosets)
    yield Line("most actions of an information set", 2, int(np.diff(tree.infoset_offset).max()))


def mismatching_pennies() -> Iterator[Line]:
    """Figure 4.1."""
    tree = tree_of("toy_mismatching_pennies")
    plays = [{(player, "choice"): {side: 1.0} for player, side in enumerate(sides)} for sides in ("htt", "hht")]
    before, after = (TabularStrategy.from_table(tree, table) for table in plays)
    yield Line("gain by leaving (h, t, t), all players", 0, nash_conv(before, tree))
    yield Line("utility of player 1 in (h, t, t)", 2, expected_values(before, tree)[0])
    yield Line("utility of player 2 in (h, t, t)", -1, expected_values(before, tree)[1])
    yield Line("utility of player 2 in (h, h, t)", -1, expected_values(after, tree)[1])
    yield Line("utility of player 1 in (h, h, t)", -1, expected_values(after, tree)[0])


def weakly_dominated() -> Iterator[Line]:
    """Figure 4.3."""
    solver = CfrSolver("toy_weakly_dominated", CfrConfig(alternating=False, fallback="argmax-uniform"))
    solver.step()
    regret = {"A": 2 / 3, "W": 1 / 6, "S": -5 / 6, "B": 1 / 6, "I": -1 / 6}
    for (action, published), ours in zip(regret.items(), solver.regret.tolist(), strict=True):
        yield Line(f"regret of {action} after an iteration", published, ours)
    for wait in (0, 1000):
        solver.step(wait)
        for action, published, ours in zip(
            regret, (0.8, 0.2, 0.0, 1.0, 0.0), solver.strategy("last").tolist(), strict=True
        ):
            yield Line(f"{action} in iteration {2 + wait}", published, ours)


def deadlock() -> Iterator[Line]:
    """Figure 6.2a, figure 2 of Lanctot et al. 2012."""
    tree = tree_of(f"toy_deadlock(xi={XI})")
    solver, tracker = CfrSolver(tree, "cfr"), RegretTracker(tree)
    uniform = TabularStrategy.uniform(tree)
    stays = _answers() | {(0, "I1"): {"p": 1.0}, (0, "I2"): {"p": 1.0}}
    for iteration, plan in ((1, {}), (2, _answers()), (3, stays), (1000, stays)):
        while solver.iterations < iteration - 1:
            tracker.observe(solver.strategy("last"))
            solver.step()
        expected = TabularStrategy.from_table(tree, plan).table if plan else uniform.table
        played = bool(np.abs(solver.strategy("last") - expected).max() < 1e-9)
        yield Line(f"profile {iteration} is the published one", "yes", "yes" if played else "no")
    last = TabularStrategy.from_tree(tree, solver.strategy("last"))
    better = TabularStrategy.from_table(
        tree, {**_answers(), (0, "I1"): {"p": 1.0}, (0, "I2"): {"c": 1.0}, (0, "I3"): {"r": 1.0}}
    )
    yield Line("utility of player 1 in profile 1000", 0, expected_values(last, tree)[0])
    yield Line(f"what p, c, r would earn, (1 - ξ)/4 with ξ = {XI:g}", (1 - XI) / 4, expected_values(better, tree)[0])
    kept = tracker.external_regret(0) / (solver.iterations)
    yield Line("average regret of player 1 is above that", "yes", "yes" if kept >= 0.999 * (1 - XI) / 4 else "no")


def _answers() -> dict[tuple[int, str], dict[str, float]]:
    """What player 2 plays from the second iteration on."""
    return {(1, "ac"): {"p": 1.0}, (1, "bc"): {"c": 1.0}, (1, "dc"): {"c": 1.0}, (1, "ec"): {"p": 1.0}}


def forgotten_lever() -> Iterator[Line]:
    """Figure 6.2b."""
    tree = tree_of("toy_forgotten_lever")
    solver = CfrSolver(tree, "cfr")
    solver.step(1000)
    uniform = TabularStrategy.uniform(tree)
    same = bool((solver.strategy("last") == uniform.table).all())
    yield Line("profile of iteration 1001 is uniform", "yes", "yes" if same else "no")
    best = TabularStrategy.from_table(tree, {(0, "I1"): {"l": 1.0}, (0, "I2"): {"l": 1.0}})
    earns = expected_values(best, tree)[0] > expected_values(uniform, tree)[0]
    yield Line("always l earns more", "yes", "yes" if earns else "no")


WORKED = (
    (("regret", "I'", "f", -0.25), ("regret", "I'", "c", 0.25), ("sum", "I'", "f", 0.25), ("sum", "I'", "c", 0.25),
     ("regret", "I", "k", -0.375), ("regret", "I", "b", 0.375), ("sum", "I", "k", 0.5), ("sum", "I", "b", 0.5),
     ("next", "I", "k", 0.0), ("next", "I", "b", 1.0), ("next", "I'", "f", 0.0), ("next", "I'", "c", 1.0)),
    (("regret", "I'", "f", -1.25), ("regret", "I'", "c", 0.25), ("sum", "I'", "c", 0.25), ("sum", "I'", "f", 0.25),
     ("sum", "I", "b", 1.5), ("sum", "I", "k", 0.5), ("average", "I", "k", 0.25), ("average", "I", "b", 0.75),
     ("average", "I'", "f", 0.5), ("average", "I'", "c", 0.5)),
)  # fmt: skip
"""Two iterations of CFR: what is printed of regrets, cumulative profile, next and average strategy."""


def worked_iterations() -> Iterator[Line]:
    """Figure A.1."""
    solver = CfrSolver("toy_queen", "cfr")
    words = {"regret": "regret", "sum": "cumulative profile", "next": "next strategy", "average": "average strategy"}
    for iteration, lines in enumerate(WORKED, 1):
        solver.step()
        tables = {"regret": solver.regret, "sum": solver.average, "next": solver.strategy("last"),
                  "average": solver.strategy("average")}  # fmt: skip
        for table, infoset, action, published in lines:
            ours = float(tables[table][solver.tree.entry(0, infoset, action)])
            yield Line(f"{words[table]} of {action} at {infoset} after iteration {iteration}", published, ours)
