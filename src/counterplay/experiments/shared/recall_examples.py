"""The examples of Čermák 2018: games without equilibrium, best responses, satisfiability, the first steps of FPIRA.

Pictures are lost in the source at hand.  The games are those that its text and equations determine; for the others,
which only illustrate a definition, nothing is computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from counterplay.evaluation import expected_values, nash_conv
from counterplay.evaluation.responses import best_response
from counterplay.experiments.shared.example_lines import Line, maxmin_value, secures, tree_of
from counterplay.experiments.shared.refining import GAMES
from counterplay.solvers import Fpira, make_solver
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.sequence.normal_form import count_strategies

EXAMPLE, ALL_SIGNS = "example", "F8"
"""The formula of the figures, and the eight clauses of three variables, which no assignment satisfies."""

ASSIGNMENT = {(1, name): {truth: 1.0} for name, truth in
              (("x1", "true"), ("x2", "false"), ("x3", "true"), ("x4", "true"))}  # fmt: skip
"""One that satisfies the formula of the figures."""


def recall(game: str) -> str:
    """What the players remember."""
    return ", ".join(tree_of(game).recall)


def no_equilibrium() -> Iterator[Line]:
    """Figure 2.1."""
    tree = tree_of("toy_no_equilibrium")
    yield Line("pure strategies of player 1", 4, count_strategies(tree, 0))
    yield Line("recall of players 1 and 2", "a-loss, perfect", recall("toy_no_equilibrium"))
    yield Line("a Nash equilibrium exists", "no", _exists("toy_no_equilibrium"))


def _exists(game: str) -> str:
    """Whether a zero-sum game has an equilibrium: player 2 secures what player 1 is held to."""
    return "yes" if secures(game, 2, -maxmin_value(game, 1)) else "no"


def _satisfiable(name: str, leaves: str, published: int) -> Iterator[Line]:
    """What player 2, who is paid λ = 1 if the clause is satisfied, can secure in a game of theorem 3.1.1 or 4.2.2."""
    game = f"{name}({EXAMPLE})"
    yield Line(f"leaves, {leaves} with n = 2 clauses", published, tree_of(game).counts()["terminal"])
    yield Line("what player 2 secures, satisfiable, λ = 1", 1, maxmin_value(game, 2), 1e-4)
    yes = secures(f"{name}({ALL_SIGNS})", 2, 1)
    yield Line("player 2 secures λ, unsatisfiable", "no", "yes" if yes else "no")


def clauses() -> Iterator[Line]:
    """Figure 3.1."""
    yield from _satisfiable("toy_sat_ir", "2³n", 16)
    yield Line("recall of players 1 and 2", "perfect, imperfect", recall(f"toy_sat_ir({EXAMPLE})"))


def clauses_a_loss() -> Iterator[Line]:
    """Figure 4.2."""
    yield from _satisfiable("toy_sat_aloss", "n(n - 1) + 2³n", 18)
    yield Line("recall of players 1 and 2", "perfect, a-loss", recall(f"toy_sat_aloss({EXAMPLE})"))


def clauses_equilibrium() -> Iterator[Line]:
    """Figure 4.3."""
    game = f"toy_sat_aloss_ne({EXAMPLE})"
    tree = tree_of(game)
    plays = TabularStrategy.from_table(tree, ASSIGNMENT)
    yield Line("gain by leaving uniform clauses with an assignment", 0, nash_conv(plays, tree))
    yield Line("an equilibrium exists, satisfiable", "yes", _exists(game))
    yield Line("an equilibrium exists, unsatisfiable", "no", _exists(f"toy_sat_aloss_ne({ALL_SIGNS})"))


def irrational() -> Iterator[Line]:
    """Figure 3.3."""
    game = "toy_irrational"
    tree = tree_of(game)
    yield Line("recall of players 1 and 2", "perfect, a-loss", recall(game))
    solver = make_solver(game, "maxmin", player=2, method="irabnb", epsilon=3e-8)
    while not solver.finished:
        solver.step()
    found = solver.strategy()
    first = float(found[tree.entry(1, "I1", "d")])
    roots = [(5 + sign * math.sqrt(5)) / 10 for sign in (-1, 1)]
    yield Line("probability of d in a maxmin strategy", min(roots, key=lambda root: abs(root - first)), first, 1e-6)
    yield Line("probability of g in a maxmin strategy", first, float(found[tree.entry(1, "I2", "g")]), 1e-6)
    for root in roots:
        table = {
            (0, "R"): {"a": 0.2, "b": 0.2, "c": 0.6},
            (1, "I1"): {"d": root, "e": 1 - root},
            (1, "I2"): {"f": 1 - root, "g": root},
        }
        plays = TabularStrategy.from_table(tree, table)
        yield Line(f"gain by leaving the equilibrium with {root:.4f}", 0, nash_conv(plays, tree))


def driver_and_best_response() -> Iterator[Line]:
    """Figure 3.4."""
    tree = tree_of("toy_absent_minded_driver")

    def earned(straight: float) -> float:
        table = {(0, "exit?"): {"straight": straight, "exit": 1 - straight}}
        return expected_values(TabularStrategy.from_table(tree, table), tree)[0]

    best = max((step / 300 for step in range(301)), key=earned)
    yield Line("best pure strategy of the driver", 1, max(earned(0.0), earned(1.0)))
    yield Line("best probability of going straight", 2 / 3, best)
    yield Line("utility of that", 4 / 3, earned(best))
    game = "toy_time_inconsistent(epsilon=0.1)"
    tree = tree_of(game)
    response = best_response(TabularStrategy.uniform(tree), 0, tree, method="exact")
    yield Line("best response, (5 - ε) / 2 with ε = 0.1", 2.45, response.value)
    played = [
        max(row, key=row.__getitem__) for row in map(response.profile.probabilities, (0, 0, 0), ("I1", "I2", "I3"))
    ]
    yield Line("actions of the best response", "B, D, F", ", ".join(played))
    plan = {"I1": "B", "I2": "C", "I3": "E"}
    stays = {(0, infoset): {action: 1.0} for infoset, action in plan.items()}
    value = expected_values(TabularStrategy.from_table(tree, stays), tree)[0]
    yield Line("utility of B, C, E", 2, value)
    moves = [(infoset, action) for infoset, actions in (("I1", "AB"), ("I2", "CD"), ("I3", "EF")) for action in actions]
    gains = [
        expected_values(TabularStrategy.from_table(tree, {**stays, (0, infoset): {action: 1.0}}), tree)[0] - value
        for infoset, action in moves
    ]
    yield Line("gain by leaving it in one information set", 0, max(gains))
    yield Line("recall of player 1", "imperfect", tree.recall[0])


def learners() -> Iterator[Line]:
    """Figure 3.5, with x = 10 as in appendix A."""
    tree = tree_of("toy_failing_learners")
    yield Line("recall of players 1 and 2", "a-loss, perfect", recall("toy_failing_learners"))
    yield Line("sequences of player 1 that are not empty", 6, tree.sequences.sequences_of(0) - 1)
    yield Line("decision points of player 1", 2, len(tree.infosets_of(0)))
    answers = {(1, "a"): {"d": 1.0}, (1, "b"): {"e": 1.0}}
    parts = [{(0, "I1"): {one: 1.0}, (0, "I2"): {two: 1.0}} for one, two in ("ag", "bh")]
    values = [expected_values(TabularStrategy.from_table(tree, part | answers), tree)[0] for part in parts]
    yield Line("mean utility of (a, g) and (b, h) against d, e", 0, sum(values) / 2)
    mixed = expected_values(TabularStrategy.from_table(tree, answers), tree)[0]
    yield Line("utility of their average, -x/2", -5, mixed)
    for one, two in ("ag", "bh"):
        stops = {(1, "a"): {"c": 1.0}, (1, "b"): {"f": 1.0}}
        plays = TabularStrategy.from_table(tree, {(0, "I1"): {one: 1.0}, (0, "I2"): {two: 1.0}} | stops)
        yield Line(f"gain by leaving ({one}, {two}) and (c, f)", 0, nash_conv(plays, tree))


def wrong_default() -> Iterator[Line]:
    """Figure 4.5, right; the left game is lost."""
    tree = tree_of("toy_wrong_default")
    yield Line("maxmin value", 0, maxmin_value("toy_wrong_default", 1), 1e-4)
    for label, row, published in (
        ("uniform play in h1", {"l": 0.5, "m": 0.5}, 0),
        ("the way to h3 alone", {"m": 1.0}, -2),
    ):
        plays = TabularStrategy.from_table(tree, {(0, "h1"): row})
        yield Line(f"what {label} secures", published, -best_response(plays, 1, tree).value)
    answer = TabularStrategy.from_table(tree, {(0, "h1"): {"l": 1.0}, (1, "J"): {"d": 1.0}})
    yield Line("utility in h2 if player 2 plays d", 2, expected_values(answer, tree)[0])


def first_steps_of_fpira() -> Iterator[Line]:
    """Figure 5.1, example 5.2.1: from b, d and e."""
    solver = Fpira("toy_fpira")
    tree, merged = solver.tree, int(solver.sets.set_of[1])
    start = int(solver.sets.entry[merged])
    for low in (0, start):
        solver.average[low : low + 2] = 0.0, 1.0
    solver.restore({})
    solver.step()

    def share(player: int, infoset: str, action: str) -> float:
        return float(solver.strategy()[tree.entry(player, infoset, action)])

    yield Line("probability of c after iteration 1", 1 / 2, share(0, "a", "t"))
    yield Line("probability of v after iteration 1", 1 / 2, share(0, "b", "v"))
    yield Line("probability of e after iteration 2", 1 / 2, share(1, "J", "e"))
    yield Line("sets split so far", 0, sum(solver.splits))
    solver.step()
    for infoset, action, published in (("R", "a", 1 / 3), ("a", "u", 1.0), ("b", "w", 1 / 2)):
        yield Line(f"probability of {action} after iteration 3", published, share(0, infoset, action))
    yield Line("the merged set is split by iteration 3", "yes", "yes" if solver.splits == (0, 1) else "no")
    both = [
        ("toy_fpira(true)", {(0, "R"): {"a": 1 / 3, "b": 2 / 3}, (0, "ab"): {"c": 1 / 3, "d": 2 / 3}}, 2 / 3),
        ("toy_fpira", {(0, "R"): {"a": 1 / 3, "b": 2 / 3}, (0, "a"): {"u": 1.0}, (0, "b"): {"v": 0.5, "w": 0.5}}, 1.0),
    ]
    for game, table, published in both:
        plays = TabularStrategy.from_table(game, table | {(1, "J"): {"f": 1.0}})
        where = "abstract" if "true" in game else "original"
        yield Line(f"utility of f against the {where} average", published, expected_values(plays, game)[1])


def sampled_sets() -> Iterator[Line]:
    """Figure 5.2: 100 sampled sets in per cent of the information sets of graph pursuit (section 5.3.4)."""
    for name, published, within in (("GP5", 1.1, 0.05), ("GP6", 0.09, 0.01)):
        ours = 100 * 100 / tree_of(GAMES[name]).num_infosets
        yield Line(f"100 sets in % of those of {name}", published, ours, within)
