"""Best responses of players who forget (Čermák 2018, section 3.3).

With A-loss recall a best response is found in the coarsest perfect-recall refinement (lemmas 3.3.3 and 3.3.4), as
``best_response`` does anyway.  Without A-loss recall, but without absent-mindedness, a pure best response exists
(lemma 3.3.1), and finding it is NP-hard: here a mixed-integer program chooses one action at every information set
with several decision points, and the player's sequences follow.

    maximise  Σ_σ w(σ) y(σ)      w(σ): what the leaves of the own sequence σ are worth against the others
    subject to  y(∅) = 1,  Σ_a y(σ_d a) = y(σ_d) at every decision point d
                y(σ_d a) ≤ b(I_d, a),  Σ_a b(I, a) = 1,  b binary, at every set with several decision points

This is smaller than the program of the thesis (a product constraint for each sequence) and has the same solutions:
where b is pure, the flow constraints determine y.  An absent-minded player may need to randomise; all pure strategies
are tried, and ``randomised_response`` does local search from several starts.
"""

from __future__ import annotations

from itertools import pairwise, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.tree.history.game_tree import GameTree

ABSOLUTE_GAP = 1e-6
"""The gap of the mixed-integer program, in the scale of ``_losses``."""

MAX_PURE = 1 << 18
"""Most pure strategies of an absent-minded player that are tried."""


def best_pure_choices(
    tree: GameTree, player: int, leaves: NDArray[np.float64], seconds: float | None = None
) -> NDArray[np.int32]:
    """The action of an ex-ante best pure strategy at each of the player's information sets.

    Parameters
    ----------
    tree : GameTree
        The game.
    player : int
        Who responds.
    leaves : (S,) float64
        What the leaves of each of the player's sequences are worth against the others.
    seconds : float, optional
        Time limit of the mixed-integer program.

    Raises
    ------
    SolverError
        If the program is not solved in time, or an absent-minded player has too many strategies.
    """
    if tree.recall[player] == "absent-minded":
        return _enumerate(tree, player, leaves)
    return _integer_program(tree, player, leaves, seconds)


def _shape(tree: GameTree, player: int) -> tuple[int, int, int, int, int, int]:
    form = tree.sequences
    low, high = int(form.sequence_start[player]), int(form.sequence_start[player + 1])
    first, last = int(form.decision_start[player]), int(form.decision_start[player + 1])
    sets = tree.infosets_of(player)
    return low, high, first, last, sets.start, sets.stop


def _integer_program(
    tree: GameTree, player: int, leaves: NDArray[np.float64], seconds: float | None
) -> NDArray[np.int32]:
    from scipy import sparse

    from counterplay.lp.highs import LinearModel, solve_integer

    form = tree.sequences
    low, high, first, last, begin, end = _shape(tree, player)
    plans = high - low
    sets = form.decision_infoset[first:last]
    several = np.flatnonzero(np.bincount(sets - begin, minlength=end - begin) > 1) + begin
    offset = {int(infoset): 0 for infoset in several}
    binaries = 0
    for infoset in offset:
        offset[infoset] = plans + binaries
        binaries += int(np.diff(tree.infoset_offset[infoset : infoset + 2])[0])
    rows: list[tuple[dict[int, float], float, float]] = [({0: 1.0}, 1.0, 1.0)]
    for decision in range(first, last):
        actions = int(form.decision_actions[decision])
        start = int(form.decision_first[decision]) - low
        flow = {start + action: 1.0 for action in range(actions)}
        flow[int(form.decision_parent[decision]) - low] = -1.0
        rows.append((flow, 0.0, 0.0))
        where = offset.get(int(form.decision_infoset[decision]))
        if where is not None:
            rows += [({start + action: 1.0, where + action: -1.0}, -np.inf, 0.0) for action in range(actions)]
    for infoset, where in offset.items():
        actions = len(tree.actions_of(infoset))
        rows.append(({where + action: 1.0 for action in range(actions)}, 1.0, 1.0))
    cells = [(row, column, value) for row, (terms, _, _) in enumerate(rows) for column, value in terms.items()]
    index, column, value = zip(*cells, strict=True)
    matrix = sparse.csr_array((value, (index, column)), shape=(len(rows), plans + binaries))
    objective = np.concatenate((_losses(tree, player, leaves), np.zeros(binaries)))
    low_rows, high_rows = (np.array([row[place] for row in rows]) for place in (1, 2))
    model = LinearModel(objective, matrix, low_rows, high_rows, np.zeros(plans + binaries), np.ones(plans + binaries))
    solution = solve_integer(model, np.arange(plans + binaries) >= plans, seconds, gap=ABSOLUTE_GAP)
    if not solution.optimal or solution.primal is None:
        raise SolverError(f"no best response for player {player + 1} of {tree.name} was found in {seconds} s")
    fixed = np.full(tree.num_infosets, -1, np.int32)
    for infoset, where in offset.items():
        fixed[infoset] = int(np.argmax(solution.primal[where : where + len(tree.actions_of(infoset))]))
    return _backward(tree, player, leaves, fixed)


def _losses(tree: GameTree, player: int, leaves: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each sequence's last move loses against the best one of a player who remembers, scaled for the solver.

    Σ_σ w(σ) y(σ) is that player's value minus the losses, so the same strategies are best.  But a solver's tolerances
    are for numbers about 1: unlike utilities, losses do not depend on units and on common constants.  The scale makes
    ``ABSOLUTE_GAP`` 1e-10 of the largest loss.
    """
    form = tree.sequences
    low, high, first, last = _shape(tree, player)[:4]
    value = leaves.copy()
    losses = np.zeros(high - low)
    for decision in range(last - 1, first - 1, -1):
        start, actions = int(form.decision_first[decision]), int(form.decision_actions[decision])
        best = float(value[start : start + actions].max())
        losses[start - low : start - low + actions] = best - value[start : start + actions]
        value[form.decision_parent[decision]] += best
    return losses * (1e4 / (float(losses.max()) or 1.0))


def _backward(tree: GameTree, player: int, leaves: NDArray[np.float64], fixed: NDArray[np.int32]) -> NDArray[np.int32]:
    """The best action at each set, those in ``fixed`` given; backward over decision points."""
    form = tree.sequences
    _, _, first, last, begin, end = _shape(tree, player)
    value = leaves.copy()
    choice = fixed[begin:end].copy()
    for decision in range(last - 1, first - 1, -1):
        infoset = int(form.decision_infoset[decision])
        start = int(form.decision_first[decision])
        if fixed[infoset] < 0:
            choice[infoset - begin] = int(np.argmax(value[start : start + form.decision_actions[decision]]))
        value[form.decision_parent[decision]] += value[start + choice[infoset - begin]]
    return choice


def _enumerate(tree: GameTree, player: int, leaves: NDArray[np.float64]) -> NDArray[np.int32]:
    """The best of all pure strategies."""
    begin, end = _shape(tree, player)[4:]
    sizes = [len(tree.actions_of(infoset)) for infoset in range(begin, end)]
    if prod(sizes) > MAX_PURE:
        raise SolverError(
            f"player {player + 1} of {tree.name} is absent-minded and has {prod(sizes)} pure strategies; "
            f"at most {MAX_PURE} are tried"
        )
    best, choice = -np.inf, np.zeros(end - begin, np.int32)
    for candidate in product(*map(range, sizes)):
        pure = np.concatenate([np.eye(size)[action] for size, action in zip(sizes, candidate, strict=True)])
        value = _value(tree, player, leaves, pure)
        if value > best:
            best, choice = value, np.array(candidate, np.int32)
    return choice


def _value(tree: GameTree, player: int, leaves: NDArray[np.float64], own: NDArray[np.float64]) -> float:
    """What the player's probabilities ``own`` are worth: Σ_σ w(σ) x(σ)."""
    form = tree.sequences
    low, high, first, last, begin, _ = _shape(tree, player)
    reach = np.ones(high - low)
    skip = int(tree.infoset_offset[begin])
    for decision in range(first, last):
        start, actions = int(form.decision_first[decision]) - low, int(form.decision_actions[decision])
        entry = int(form.decision_entry[decision]) - skip
        before = reach[form.decision_parent[decision] - low]
        reach[start : start + actions] = before * own[entry : entry + actions]
    return float(reach @ leaves[low:high])


def randomised_response(
    tree: GameTree, player: int, leaves: NDArray[np.float64], starts: int = 8, seed: int = 0
) -> tuple[float, NDArray[np.float64]]:
    """The best behavioural strategy found by local search from several random starts; for small games.

    With absent-mindedness a player's value is a polynomial in the probabilities and the best pure strategy may be
    beaten, as by the absent-minded driver (Piccione and Rubinstein 1997; Čermák 2018, figure 3.4).

    Returns
    -------
    float
        The value found, never below the best pure strategy's.
    (entries of the player,) float64
        The probabilities.
    """
    from scipy.optimize import minimize

    begin, end = _shape(tree, player)[4:]
    offset = (tree.infoset_offset[begin : end + 1] - tree.infoset_offset[begin]).tolist()
    pure = np.zeros(offset[-1])
    pure[np.asarray(offset[:-1]) + best_pure_choices(tree, player, leaves)] = 1.0
    best, found = _value(tree, player, leaves, pure), pure
    generator = np.random.default_rng(seed)
    sums = [
        {"type": "eq", "fun": lambda own, low=low, high=high: own[low:high].sum() - 1.0}
        for low, high in pairwise(offset)
    ]
    for _ in range(starts):
        weights = generator.exponential(size=offset[-1])
        sizes = np.diff(offset)
        start = weights / np.repeat(np.add.reduceat(weights, offset[:-1]), sizes)
        climbed = minimize(
            lambda own: -_value(tree, player, leaves, own), start, method="SLSQP", bounds=[(0.0, 1.0)] * offset[-1],
            constraints=sums, options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        own = np.clip(climbed.x, 0.0, None)
        own /= np.repeat(np.add.reduceat(own, offset[:-1]), sizes)
        value = _value(tree, player, leaves, own)
        if value > best:
            best, found = value, own
    return best, found
