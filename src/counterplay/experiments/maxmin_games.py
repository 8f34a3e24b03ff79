"""Section 4.5 and figure 4.8 of Čermák 2018: Oshi-Zumo and the search game when one player forgets.

The bounds on the forgetful player's maxmin value, by how many moves are remembered; the thesis finds that nothing is
lost compared with the game in which everything is remembered, and that DOIRABnB needs a small part of the game.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from counterplay.experiments.maxmin_shares import restricted_shares
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game
from counterplay.lp.zero_sum import solve_zero_sum
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import Progress
from counterplay.solvers import make_solver

PUBLISHED = {
    ("oshi_zumo", 9, "irabnb"): "20 s",
    ("oshi_zumo", 9, "base"): "2 h",
    ("oshi_zumo", 10, "irabnb"): "over 10 h",
    ("oshi_zumo", 10, "base"): "over 10 h",
    ("oshi_zumo", 11, "doirabnb"): "44 min; 0.9 % and 0.2 % of the sequences",
    ("search_game", 5, "irabnb"): "12 s",
    ("search_game", 5, "base"): "40 min",
}
"""Game, coins or moves, method: what the thesis reports, with CPLEX."""

MOST_HISTORIES = 100_000
"""Games up to this size are also solved with everything remembered."""


def run(quick: bool = False, seconds: float | None = None) -> Experiment:
    """Solve both games; ``quick`` takes the smallest sizes, ``seconds`` limits each run (600, or 10 when quick)."""
    limit = seconds or (10.0 if quick else 600.0)
    oshi, search = ((5, 6, 7), (3,)) if quick else ((7, 8, 9, 10, 11), (4, 5))
    cases = [("oshi_zumo", "coins", size, 1, kept) for size in oshi for kept in ((0,) if size > 9 else (0, 1, 2))]
    cases += [("search_game", "moves", size, 2, kept) for size in search for kept in (0, 1, 2)]
    rows: list[tuple[Cell, ...]] = []
    known_sizes: set[tuple[str, int]] = set()
    curves: dict[str, tuple[Sequence[float], Sequence[float]]] = {}
    with keeping_rows():
        for game, what, size, player, kept in cases:
            tree = open_game(f"{game}({what}={size},remembered={kept})", "history")
            if (game, size) not in known_sizes and tree.num_histories <= MOST_HISTORIES:
                known_sizes.add((game, size))
                rows.append(_all_remembered(f"{game} {size}", f"{game}({what}={size})", player))
            for method in _methods(game, size, kept):
                points: list[Progress] = []
                solver = make_solver(tree, "maxmin", player=player, method=method)
                result = solver.run(Until(seconds=limit), points.append)
                if result.status == "interrupted":
                    raise KeyboardInterrupt
                shares: list[Cell] = [round(share, 3) for share in restricted_shares(tree, result)] or [None, None]
                bounds = result.details["lower_bound"], result.details["upper_bound"]
                rows.append((
                    f"{game} {size}", kept, method, result.status, *bounds, round(result.cpu_seconds, 2), *shares,
                    PUBLISHED.get((game, size, method)),
                ))  # fmt: skip
                for side in ("lower", "upper") if method == "doirabnb" else ():
                    known = [point for point in points if getattr(point, side) is not None]
                    curves[f"{game} {size}, {kept} remembered, {side}"] = (
                        [point.iterations for point in known], [getattr(point, side) for point in known],
                    )  # fmt: skip
    return Experiment(
        title="Bounds on the forgetful player's value in Oshi-Zumo and the search game",
        source="Čermák 2018, section 4.5, figure 4.8",
        columns=("game", "remembered", "method", "ended", "lower", "upper", "CPU seconds", "sequences 1 %", "2 %",
                 "published"),
        rows=tuple(rows),
        notes=(
            "Published: 0 in Oshi-Zumo with 11 coins, -1/3 in the search game with 7 moves on an unknown graph.",
            "The rows with everything remembered are the value of the game; published: forgetting loses nothing.",
            "CPU seconds do not include compiling the game.",
        ),
        curves=curves,
    )  # fmt: skip


def _all_remembered(label: str, name: str, player: int) -> tuple[Cell, ...]:
    """The value of a game to a player when everything is remembered, by a linear program."""
    started = time.process_time()
    solution = solve_zero_sum(open_game(name, "history"))
    assert solution is not None
    value = (solution.value if player == 1 else -solution.value) + 0.0  # no -0
    spent = round(time.process_time() - started, 2)
    return (label, "all", "linear program", "solved", value, value, spent, None, None, None)


def _methods(game: str, size: int, kept: int) -> tuple[str, ...]:
    """What is run: all methods where they are fast, DOIRABnB elsewhere."""
    if kept:
        return ("doirabnb",)
    large = size > 9 if game == "oshi_zumo" else size > 4
    return ("doirabnb",) if large else ("base", "irabnb", "doirabnb")
