"""The front door: solve a game, resume a run, solve a postflop spot.

``solve`` does all that ``counterplay solve`` does: it chooses the form of the game (histories, public tree, buckets or
states) and the algorithm, abstracts what players forget, measures, writes files, and reports.  A run has one report
(``SolveResult.to_dict``), whatever the form, fresh or resumed.

>>> import counterplay as cp
>>> cp.solve("kuhn", until=1e-5).status
'exploitability'
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from counterplay.forms import GameLike
from counterplay.poker.postflop.spots import Spot
from counterplay.runs.flop_report import FlopReport
from counterplay.runs.flops import FlopPlan, solve_flops
from counterplay.runs.options import RunOptions, Target, sort_out
from counterplay.runs.preparation import prepare, prepare_resume, prepare_spot
from counterplay.runs.run import Run
from counterplay.runtime.notebook_progress import notebook_progress
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import ProgressCallback
from counterplay.solvers.result import SolveResult

__all__ = [
    "FlopPlan", "FlopReport", "Run", "RunOptions", "SolveResult", "Spot", "Target", "prepare", "prepare_resume",
    "prepare_spot", "resume", "solve", "solve_flops", "solve_spot",
]  # fmt: skip


def solve(
    game: GameLike,
    algorithm: str | None = None,
    until: Until | float | str | None = None,
    *,
    cards: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    bets: str | None = None,
    representation: str = "auto",
    progress: ProgressCallback | bool | None = None,
    **settings: Any,
) -> SolveResult:
    """Solve a game.

    Parameters
    ----------
    game : str, Game, GameTree, PublicTree or BucketGame
        A name, a file, or a game in one of its forms; see ``open_game``.
    algorithm : str, optional
        One of ``ALGORITHMS``; by default cfr+, in buckets pure-cfr, on states external-sampling, of a spot dcfr.
    until : Until, float or str, optional
        When to stop: an exploitability in chips, ``"1mbb"``, ``"0.3%"`` of the pot of a spot, or an ``Until``.
        ``iterations``, ``seconds`` and ``exploitability`` can also be given by name; the first limit that is reached
        stops the run.  Without any: 1000 iterations of an algorithm that converges, or the solution.
    cards, bets, representation
        See ``RunOptions``.
    progress : callable or bool, optional
        Called with ``Progress`` several times a second; by default notebooks show a bar, with False they do not.
    **settings
        Further fields of ``RunOptions`` (``threads``, ``seed``, ``forget``, ``boards``, ``memory_limit``, ``out``,
        ``map_out``, ``checkpoint``; ``part`` and ``fix``: only a part is solved, outside it a strategy is played), and
        settings of the algorithm, see ``CfrConfig`` and the other configs.

    Returns
    -------
    SolveResult
        The strategy, its value and exploitability, and the report of the run.
    """
    options = {"cards": cards, "bets": bets, "representation": representation}
    target, chosen, own = sort_out(until, {**options, **settings})
    return _run(prepare(game, algorithm, target, chosen, own), progress)


def resume(
    path: str | os.PathLike[str],
    until: Until | float | str | None = None,
    *,
    game: GameLike | None = None,
    progress: ProgressCallback | bool | None = None,
    **settings: Any,
) -> SolveResult:
    """Continue a run from its checkpoint, to the same bits as if it had never stopped.

    Parameters
    ----------
    path : path
        The checkpoint.
    until, progress
        As in ``solve``; limits count from the first iteration.
    game : optional
        The game; by default the checkpoint's, opened by its name.
    **settings
        Fields of ``RunOptions``; the settings of the algorithm come from the checkpoint.
    """
    target, options, own = sort_out(until, settings)
    return _run(prepare_resume(path, game, target, options, own), progress)


def solve_spot(
    *,
    board: str,
    pot: float,
    stack: float | str | tuple[float, float],
    oop: str,
    ip: str,
    until: Until | float | str | None = None,
    progress: ProgressCallback | bool | None = None,
    **settings: Any,
) -> SolveResult:
    """Solve a postflop spot of hold'em.

    Parameters
    ----------
    board, pot, stack, oop, ip
        3, 4 or 5 cards, chips in the pot and behind (one number, or those of ``oop`` and ``ip``), and the ranges of
        the players who act first and last.
    until : optional
        As in ``solve``, by default 0.5% of the pot.
    progress : callable or bool, optional
        Called with ``Progress`` several times a second; by default notebooks show a bar, with False they do not.
    **settings
        ``bets``, ``raises``, ``donks``, ``allin_threshold``, ``chip``, ``rake``, ``rake_cap``, ``isomorphism``,
        ``add_line``, ``remove_line`` and ``lock`` (each one text or several), see ``Spot``; ``algorithm``; fields of
        ``RunOptions``; settings of the algorithm.
    """
    names = {field.name for field in dataclasses.fields(Spot)}
    asked = {name: settings.pop(name) for name in list(settings) if name in names}
    algorithm = settings.pop("algorithm", None)
    target, options, own = sort_out(until, settings)
    return _run(prepare_spot(Spot(board, pot, stack, oop, ip, **asked), algorithm, target, options, own), progress)


def _run(run: Run, progress: ProgressCallback | bool | None) -> SolveResult:
    with notebook_progress(progress, run.goal) as shown:
        return run.run(shown)
