"""Estimators of counterfactual values: their bias and variance, by samples and exactly.

Any bounded unbiased estimator can drive CFR, and the smaller its variance the better the bound (Gibson 2014, section
5.2, theorem 5.4).  ``sample_estimator`` walks many times at a fixed profile without learning, ``variance_along_cfr``
does so during a run of vanilla CFR (section 5.3.2, figure 5.3a), and ``exact_moments`` enumerates all samples of a
small game: actions below different branches of a walk are sampled independently, so means and second moments of a
branch follow from those of its parts.
"""

from __future__ import annotations

import dataclasses
import numbers
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.analysis.moments import exact_moments
from counterplay.errors import SolverError
from counterplay.evaluation.history_values import history_values, others_reach
from counterplay.forms import open_game
from counterplay.game.game import Game, Scheme
from counterplay.kernels.history.chance_sampling import estimate_chance
from counterplay.kernels.history.mccfr import Stack, estimate_sampled
from counterplay.kernels.history.pure_cfr import estimate_pure
from counterplay.kernels.walks import random_state
from counterplay.runtime.seeds import check_seed
from counterplay.solvers.cfr import CfrSolver
from counterplay.solvers.mccfr import MccfrConfig, MccfrSolver, payoff_units
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

Float64 = NDArray[np.float64]


class Estimator(ABC):
    """Estimates counterfactual values of one player at a fixed profile.

    The contract (Gibson 2014, section 5.2): bounded, unbiased, independent from sample to sample.
    """

    tree: GameTree

    @abstractmethod
    def sample(
        self, strategy: Float64, player: int, entries: NDArray[np.int64], samples: int, seed: int
    ) -> tuple[Float64, Float64]:
        """Sampled values v̂(I→a) and regrets v̂(I→a) - v̂(I) of some entries, one row for each sample."""


class SampledEstimator(Estimator):
    """The estimator of a Monte Carlo CFR solver.

    Parameters
    ----------
    game : GameTree, Game or str
        The game.
    config : MccfrConfig or str
        What is sampled: a configuration or the name of an algorithm.
    scheme : callable or array, optional
        A custom sampling scheme.
    average : (E,) float64, optional
        The cumulative profile that average strategy sampling uses; without it every action is taken.
    pure_opponents : bool
        An opponent samples one action for each information set in a walk, as the blocks of external sampling are
        defined (Lanctot et al. 2009), rather than one at every history that the walk visits, as the algorithms are
        printed.  Both are unbiased.  They differ where a walk visits several histories of one of the opponents'
        information sets, as after secret bids.
    """

    def __init__(
        self, game: GameTree | Game | str, config: MccfrConfig | str, scheme: Scheme | Float64 | None = None,
        average: Float64 | None = None, pure_opponents: bool = False,
    ) -> None:  # fmt: skip
        self.tree = open_game(game, "history")
        self.solver = MccfrSolver(self.tree, config, scheme=scheme)
        self.pure_opponents = pure_opponents
        if pure_opponents and self.solver.config.sampling in ("chance", "pure"):
            raise SolverError(f"pure_opponents is for walks that sample opponents' actions; {config} does not")
        if average is not None:
            if average.shape != (self.tree.num_entries,):
                raise SolverError(f"an average of {self.tree.name} has {self.tree.num_entries} numbers")
            self.solver.average = np.array(average, dtype=np.float64)
        self._sums = np.zeros((2, self.tree.num_entries))

    def sample(
        self, strategy: Float64, player: int, entries: NDArray[np.int64], samples: int, seed: int
    ) -> tuple[Float64, Float64]:
        """Walk without learning."""
        solver, config = self.solver, self.solver.config
        values, regrets = np.zeros((samples, len(entries))), np.zeros((samples, len(entries)))
        state = random_state(seed, 1)[0]
        size = len(solver._scratch) // config.threads
        scratch = solver._scratch[:size]
        strategy = np.ascontiguousarray(strategy, dtype=np.float64)
        if config.sampling == "pure":
            whole = np.zeros(self.tree.num_entries, np.int64)
            estimate_pure(
                solver.walks, None, player, strategy, entries, values, regrets, state, np.zeros(3, np.int64),
                scratch[0], scratch[1], self._sums[0], whole,
            )  # fmt: skip
            units = payoff_units(self.tree, config.units)
            return values / units, regrets / units
        if config.sampling == "chance":
            estimate_chance(
                solver.walks, None, player, strategy, entries, values, regrets, state, Stack(*scratch[:5]),
                self._sums[0], self._sums[1], np.zeros(0), *scratch[5:],
            )  # fmt: skip
            return values, regrets
        estimate_sampled(
            solver.walks, None, solver.sampling._replace(averaging=False, floor=False), self.pure_opponents, player,
            strategy, solver.average, solver.scheme, entries, values, regrets, state, Stack(*scratch),
            self._sums[0], self._sums[1],
        )  # fmt: skip
        return values, regrets

    def moments(self, strategy: Float64, player: int) -> tuple[Float64, Float64]:
        """Exact mean and variance of v̂(I→a) for every entry of a player (see ``exact_moments``)."""
        if self.pure_opponents:
            raise SolverError("exact moments need independent samples; leave out pure_opponents")
        solver = self.solver
        return exact_moments(self.tree, solver.config, strategy, player, solver.scheme, solver.average)


@dataclasses.dataclass(frozen=True)
class Estimates:
    """The statistics of an estimator at some information sets.

    Attributes
    ----------
    infosets : tuple of int
        The information sets, K of them.
    entries : (E',) int64
        Their entries.
    mean, variance, exact : (E',) float64
        Mean and variance of v̂(I→a) over the samples, and the counterfactual value itself.
    value_mean, value_variance, value_exact : (K,) float64
        The same of v̂(I).
    samples : int
        Number of walks.
    """

    infosets: tuple[int, ...]
    entries: NDArray[np.int64]
    mean: Float64
    variance: Float64
    exact: Float64
    value_mean: Float64
    value_variance: Float64
    value_exact: Float64
    samples: int

    @property
    def bias(self) -> Float64:
        """How far the mean is from the counterfactual value."""
        return self.mean - self.exact

    @property
    def standard_error(self) -> Float64:
        """Standard error of the mean: a bias beyond a few of these is significant."""
        return np.asarray(np.sqrt(self.variance / self.samples), dtype=np.float64)


def sample_estimator(
    estimator: Estimator, profile: TabularStrategy | Float64, player: int = 0, infosets: Sequence[int] | None = None,
    samples: int = 1000, seed: int = 0,
) -> Estimates:  # fmt: skip
    """Bias and variance of an estimator at some information sets of a player (by default all), at a fixed profile."""
    tree = estimator.tree
    strategy = profile.for_tree(tree) if isinstance(profile, TabularStrategy) else profile
    chosen = tuple(tree.infosets_of(player)) if infosets is None else tuple(infosets)
    if not isinstance(samples, numbers.Integral) or samples < 2:
        raise SolverError(f"a variance needs at least 2 samples; got {samples}")
    seed = check_seed(seed, SolverError)
    wrong = [infoset for infoset in chosen if infoset not in tree.infosets_of(player)]
    if wrong or not chosen:
        raise SolverError(f"player {player + 1} of {tree.name} has no information set {wrong[0] if wrong else 'asked'}")
    offset = tree.infoset_offset
    entries = np.concatenate([np.arange(offset[infoset], offset[infoset + 1]) for infoset in chosen])
    sizes = [int(offset[infoset + 1] - offset[infoset]) for infoset in chosen]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    values, regrets = estimator.sample(strategy, player, entries, samples, seed)
    at_sets = values[:, first] - regrets[:, first]
    exact = counterfactual_values(tree, strategy, player)[entries]
    return Estimates(
        chosen, entries, values.mean(axis=0), values.var(axis=0, ddof=1), exact,
        at_sets.mean(axis=0), at_sets.var(axis=0, ddof=1), np.add.reduceat(exact * strategy[entries], first), samples,
    )  # fmt: skip


def variance_along_cfr(
    game: GameTree | Game | str, estimators: Mapping[str, Estimator], iterations: int = 1000, samples: int = 1000,
    player: int = 0, infoset: int | None = None, seed: int = 0,
) -> dict[str, Float64]:  # fmt: skip
    """Sample variances of v̂(I) at the profile of each iteration of vanilla CFR (Gibson 2014, section 5.3.2).

    The information set is by default the player's first one.  Estimators see the same profiles.
    """
    seed = check_seed(seed, SolverError)
    tree = open_game(game, "history")
    infoset = tree.infosets_of(player)[0] if infoset is None else infoset
    first = np.array([tree.infoset_offset[infoset]])
    solver = CfrSolver(tree, "cfr")
    found = {name: np.zeros(iterations) for name in estimators}
    for iteration in range(iterations):
        strategy = solver.strategy("last")
        for place, (name, estimator) in enumerate(estimators.items()):
            mark = int(np.random.SeedSequence([seed, iteration, place]).generate_state(1)[0])
            values, regrets = estimator.sample(strategy, player, first, samples, mark)
            found[name][iteration] = (values - regrets).var(ddof=1)
        solver.step()
    return found


def counterfactual_values(tree: GameTree, strategy: Float64, player: int) -> Float64:
    """v_i(I→a) of every entry of a player, exactly (Gibson 2014, section 2.2.2); 0 at the others' entries."""
    entry, reach, value = history_values(tree, strategy)
    mine = np.flatnonzero((entry >= 0) & (tree.player[tree.parent] == player))
    found = np.zeros(tree.num_entries)
    np.add.at(found, entry[mine], others_reach(reach[mine], player) * value[mine, player])
    return found
