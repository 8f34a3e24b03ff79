"""Monte Carlo counterfactual regret minimisation: walks over a sample of the game.

Lanctot et al. 2009 in the corrected form of Gibson 2014, chapters 2.2.3 and 5; average strategy sampling also Gibson
et al. 2012.  An iteration is one walk for each player in turn.  Each walk estimates, without bias, the counterfactual
values of the traverser's information sets that it visits, and adds the regrets there.

* ``chance-sampling``            chance is sampled, all actions of all players are walked (section 2.2.3).
* ``external-sampling``          chance and the others are sampled, all own actions are walked (algorithm 2).
* ``outcome-sampling``           one line of play; own actions ε'-greedy (section 5.4.2 for ε' = 1/2).
* ``average-strategy-sampling``  own actions that the average plays, and others rarely (algorithm 4).
* ``mccfr-scheme``               own actions by a sampling scheme, those left out are worth 0 (section 5.3.2).
* ``probing``                    the same, those left out are worth the result of a rollout (algorithm 3, appendix C.4).
* ``pure-cfr``                   pure strategies, integers, half the memory (algorithm 5).

With two players averages are accumulated in the other's walks, and so they are in a part of a larger game where only
two decide; more players need separate walks for the average, in a fraction of the iterations (algorithm 2), or play
their current profile (section 4.3; ``profile="last"``).  With several
threads all work on the same tables without locks: some updates are lost, and results differ from run to run.

Departures: Pure CFR's average counts the sampled actions, and counts of an information set are halved where they would
overflow.  Not in the thesis: ``regret_floor`` and ``linear_average``, as in CFR+.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.evaluation.measurement import Measurement
from counterplay.game.game import Scheme
from counterplay.kernels.history.chance_sampling import iterate_chance
from counterplay.kernels.history.mccfr import (
    AVERAGE_STRATEGY,
    EXTERNAL,
    OUTCOME,
    PROBING,
    SCHEME,
    Sampling,
    Stack,
    iterate_sampled,
)  # fmt: skip
from counterplay.kernels.history.pure_cfr import iterate_pure
from counterplay.kernels.regret import match_regrets
from counterplay.kernels.walks import WalkArrays, random_state, walk_arrays, walk_bytes
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.runtime.threads import ThreadPool, spaced_rows, spaced_zeros
from counterplay.solvers.restricted_solver import RestrictedSolver, restriction_bytes
from counterplay.solvers.restriction_values import bound_of, measure_on_tree, model_of
from counterplay.solvers.sampling_schemes import scheme_array
from counterplay.solvers.settings import Bounds, Seed, Settings, Share, Threads, preset
from counterplay.solvers.solver import Solver
from counterplay.solvers.threaded_solver import ThreadedSolver
from counterplay.strategy import normalise
from counterplay.tree.history.game_tree import GameTree

SamplingKind = Literal[
    "chance", "external", "outcome", "average-strategy", "scheme", "probing", "pure", "public"
]  # fmt: skip
KINDS: dict[str, int] = {
    "external": EXTERNAL, "outcome": OUTCOME, "average-strategy": AVERAGE_STRATEGY, "scheme": SCHEME,
    "probing": PROBING,
}  # fmt: skip
Walked: TypeAlias = GameTree | BucketGame
"""What can be walked: a tree of histories, or a betting tree with buckets."""


class WalkedSizes(NamedTuple):
    """Sizes of a game that tables and scratch depend on."""

    entries: int
    revisited: int  # information sets that a walk may visit at several histories; none on a betting tree
    players: int
    frames: int  # the longest line of play
    widest: int  # the most actions


MOST_UNITS = 10_000
"""The finest unit of a chip tried for Pure CFR."""


@dataclasses.dataclass(frozen=True)
class MccfrConfig(Settings):
    """One member of the Monte Carlo CFR family.

    * ``sampling``: what is walked: chance, external, outcome, average-strategy, scheme, probing, pure; in card
      abstractions public, which samples boards
    * ``epsilon``, ``tau``, ``beta``: exploration, threshold and bonus of average strategy sampling
    * ``exploration``: ε' of outcome sampling
    * ``scheme``: sampling scheme of ``scheme`` and ``probing``: a name in ``SCHEMES``, ``auto`` for the one of the
      game, ``custom`` for one that was passed to the solver
    * ``probes``: number of rollouts K for an action that is not walked; their mean counts
    * ``probe_share``: the probability of each of these
    * ``probe_exploration``: ε' of the traverser's own actions in a rollout
    * ``prune``: for ``chance``: skip branches that neither the player nor the others reach; they change nothing
    * ``profile``: which profile the solver returns.  With ``"last"`` no average is kept, unless the sampling needs it
    * ``average_walks``: unless two players decide: the fraction of iterations that add walks for the average
    * ``regret_floor``: negative regrets become 0, as in CFR+; not in the thesis
    * ``linear_average``: iteration t has weight t in the average, as in CFR+; not in the thesis
    * ``storage``: type of the tables; integers for ``pure``, floats for the others.  ``float32`` is for regrets:
      averages are float64 then, see ``average_type``
    * ``units``: for ``pure``: the number of units of a chip, to which utilities are rounded; None for the fewest that
      need no rounding
    * ``overflow``: for ``pure``: regrets outside the integers are clipped, or the run stops
    * ``seed``: of the random numbers
    * ``threads``: number of threads; one gives the same bits every time
    """

    sampling: SamplingKind = "external"
    epsilon: Share = 0.05
    tau: Annotated[float, Bounds(at_least=1, below=math.inf)] = 1000.0
    beta: Annotated[float, Bounds(at_least=0)] = 1e6
    exploration: Share = 0.5
    scheme: Annotated[str, "a name here, functions are passed to the solver"] = "auto"
    probes: Annotated[int, Bounds(at_least=1, at_most=1_000_000)] = 1
    probe_share: Share = 1.0
    probe_exploration: Annotated[float, Bounds(at_least=0, at_most=1)] = 0.0
    prune: bool = True
    profile: Literal["average", "last"] = "average"
    average_walks: Share = 0.001
    regret_floor: bool = False
    linear_average: bool = False
    storage: Literal["float64", "float32", "int32", "int64"] = "float64"
    units: Annotated[int, Bounds(at_least=1, at_most=10**18)] | None = None
    overflow: Literal["cut", "error"] = "cut"
    seed: Seed = 0
    threads: Threads = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        storages = ("int32", "int64") if self.sampling == "pure" else ("float64", "float32")
        if self.storage not in storages:
            raise SolverError(f"storage must be one of {', '.join(storages)}; got {self.storage!r}")
        if self.sampling == "pure" and self.linear_average:
            raise SolverError("pure-cfr counts actions, each as one; leave out linear_average")

    @property
    def keeps_average(self) -> bool:
        """Whether an average table is kept."""
        return self.profile == "average" or self.sampling == "average-strategy"


MCCFR_PRESETS: Mapping[str, MccfrConfig] = {
    "chance-sampling": MccfrConfig("chance"),
    "external-sampling": MccfrConfig("external"),
    "outcome-sampling": MccfrConfig("outcome"),
    "average-strategy-sampling": MccfrConfig("average-strategy"),
    "mccfr-scheme": MccfrConfig("scheme"),
    "probing": MccfrConfig("probing"),
    "pure-cfr": MccfrConfig("pure", storage="int32"),
}
"""The named members of the family."""


class SampledSolver(Solver):
    """Monte Carlo CFR on some form of a game.

    Parameters
    ----------
    game, config, algorithm, memory_limit
        See ``Solver``.
    scheme : callable or array, optional
        A custom sampling scheme (see ``scheme_array``), in place of the configuration's.
    """

    config_class = MccfrConfig
    presets: ClassVar[Mapping[str, MccfrConfig]] = MCCFR_PRESETS
    default_preset = "external-sampling"
    config: MccfrConfig

    def __init__(
        self,
        game: Any,
        config: Settings | str | None = None,
        algorithm: str | None = None,
        memory_limit: int | None = None,
        scheme: Scheme | NDArray[np.float64] | None = None,
    ) -> None:
        self._given = scheme
        super().__init__(game, config, algorithm, memory_limit)
        del self._given  # the tables have it

    def _open(self, game: Any, memory_limit: int | None) -> None:
        if self._given is not None:
            self.config = dataclasses.replace(self.config, scheme="custom")
        super()._open(game, memory_limit)

    @classmethod
    def named(cls, game: Any, algorithm: str, memory_limit: int | None, settings: Mapping[str, Any]) -> Self:
        """A solver for one of ``presets``; the setting ``scheme`` may also be a function or an array."""
        scheme = settings.get("scheme")
        if isinstance(scheme, str) and scheme == "custom":
            raise SolverError("scheme custom means a function passed to the solver; give the function itself")
        if scheme is None or isinstance(scheme, str):
            return super().named(game, algorithm, memory_limit, settings)
        others = {key: value for key, value in settings.items() if key != "scheme"}
        return cls(game, preset(cls.presets, algorithm, others), algorithm, memory_limit, scheme)


class MccfrSolver(RestrictedSolver, ThreadedSolver, SampledSolver):
    """Monte Carlo CFR on a compiled game, any number of players; with a restriction two."""

    kind = "mccfr"
    restricted_presets: ClassVar[tuple[str, ...]] = ("chance-sampling", "external-sampling")

    def _check_game(self) -> None:
        names = self.restricted_presets
        kinds = [self.presets[name].sampling for name in names]
        if self.restriction is not None and self.config.sampling not in kinds:
            raise SolverError(f"{self.algorithm} takes no restricted opponent; use {', '.join(names)}")
        self._check_restriction()

    def _derive(self) -> None:
        """The restriction as kernels take it."""
        self._model = model_of(self.restriction)

    def _allocate(self) -> None:
        scheme = self._given
        self._derive()
        settings, self.walks = self.config, self._walk_arrays()
        if settings.sampling == "pure":
            self.walks = self.walks._replace(utility=integer_payoffs(self.tree, settings.units))
        self.sampling = sampling_of(settings, self.tree.players, self._walkers())
        entries = self.tree.num_entries
        self.regret = np.zeros(entries, settings.storage)
        self.average = np.zeros(entries if settings.keeps_average else 0, average_type(settings.storage))
        self.scheme = np.ones(entries if settings.sampling in ("scheme", "probing") else 0)
        if len(self.scheme) and (scheme is not None or settings.scheme != "custom"):
            self.scheme[:] = self._scheme_array(settings.scheme if scheme is None else scheme)
        self.random_state = spaced_rows(random_state(settings.seed, settings.threads))
        self.counters = spaced_rows(np.zeros((settings.threads, 3), np.int64))
        self._pool = ThreadPool(settings.threads)
        self._none = np.zeros(0)
        shapes = _scratch_shapes(walked_sizes(self.tree), settings)
        self._scratch = tuple(spaced_zeros(size, kind) for _ in range(settings.threads) for size, kind in shapes)

    @classmethod
    def settings_of(cls, config: Settings | str | None) -> MccfrConfig:
        """The settings, which must be for this form."""
        settings: MccfrConfig = super().settings_of(config)
        if settings.sampling == "public" and cls.form_name != "buckets":
            raise SolverError("boards are drawn in card abstractions only; on public trees use algorithm pcs")
        return settings

    def _layout_bytes(self) -> int:
        return walk_bytes(self.tree) + restriction_bytes(self.restriction)

    def _walkers(self) -> Sequence[int]:
        """The players who have walks of their own.  Where they are two, averages are those of the other's walks."""
        return range(self.tree.players)

    def _walk_arrays(self) -> WalkArrays:
        """The layout of the game for walks."""
        return walk_arrays(self.tree)

    def _scheme_array(self, scheme: str | Scheme | NDArray[np.float64]) -> NDArray[np.float64]:
        return scheme_array(self.tree, scheme)

    @classmethod
    def memory_bytes(cls, tree: Walked, config: MccfrConfig | str | None = None) -> int:
        """Bytes of all tables that a solver will allocate, without the layout of the tree for walks."""
        return table_memory(walked_sizes(tree), cls.settings_of(config))

    @property
    def cut_updates(self) -> int:
        """How often Pure CFR clipped a regret."""
        return int(self.counters[:, 2].sum())

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations, divided among the threads."""
        super().step(iterations)
        if self.config.overflow == "error" and self.cut_updates:
            raise SolverError(f"regrets of {self.algorithm} left the type {self.config.storage}; use storage int64")

    def _advance(self, thread: int, iterations: int, start: int) -> None:
        self._iterate(thread, iterations, start, None)

    def _iterate(self, thread: int, iterations: int, start: int, deals: NDArray[np.int64] | None) -> None:
        """``_advance`` with given deals, one for each walk; None where the tree deals."""
        config = self.config
        size = len(self._scratch) // config.threads
        scratch = self._scratch[thread * size : (thread + 1) * size]
        state, counters = self.random_state[thread], self.counters[thread]
        extra = config.average_walks if config.keeps_average and not self.sampling.averaging else 0.0
        if config.sampling == "pure":
            limit = int(np.iinfo(config.storage).max)
            iterate_pure(
                self.walks, deals, self.sampling.averaging, config.regret_floor, limit, iterations, extra,
                self.sampling.walkers, self.regret, self.average, self._none, state, counters, *scratch,
            )  # fmt: skip
        elif config.sampling == "chance":
            iterate_chance(
                self.walks, deals, config.keeps_average, config.regret_floor, config.prune, self._model, iterations,
                start, config.linear_average, self.regret, self.average, self._none, state, counters,
                Stack(*scratch[:5]), *scratch[5:],
            )  # fmt: skip
        else:
            others = None if self.sampling.kind == EXTERNAL else True
            iterate_sampled(
                self.walks, deals, self.sampling, others, self._model, iterations, start, config.linear_average,
                extra or None, self.regret, self.average, self.scheme, self._none, state, counters, Stack(*scratch),
            )  # fmt: skip

    def strategy(self, kind: Literal["average", "last"] | None = None) -> NDArray[np.float64]:
        """The probabilities of a profile: by default the one named in the configuration."""
        if self._profile_kind(kind) == "average":
            return normalise(self.average, self.tree.infoset_offset)
        current = np.zeros(self.tree.num_entries)
        offset, sets = self.tree.infoset_offset, self.tree.num_infosets
        match_regrets(offset, 0, sets, self.regret, self._none, False, 0.0, current)
        return current if self.restriction is None else self.restriction.played(current)

    def measure(self) -> Measurement:
        """Measure the profile that the solver returns; with a restriction, in the restricted game."""
        if self.restriction is None:
            return super().measure()
        bound = bound_of(self.tree, self.form, self.restriction)
        return measure_on_tree(self.form, bound, self.strategy())

    def state(self) -> dict[str, Any]:
        """Who is restricted."""
        return self.restriction_state()

    def tables(self) -> dict[str, NDArray[Any]]:
        """Regrets, average, scheme, the state of the random numbers and the counters."""
        return {
            "regret": self.regret,
            "average": self.average,
            "scheme": self.scheme,
            "random_state": self.random_state.view(np.int64),  # files have no unsigned integers
            "counters": self.counters,
            **self.restriction_tables(),
        }


def mccfr_config(
    name: str, changes: Mapping[str, Any], presets: Mapping[str, MccfrConfig] = MCCFR_PRESETS
) -> MccfrConfig:
    """A preset with some of its settings replaced."""
    return preset(presets, name, changes)


def sampling_of(config: MccfrConfig, players: int, walkers: Sequence[int] | None = None) -> Sampling:
    """The settings as the kernels take them; ``walkers`` are the players who decide something, by default all."""
    deciding = range(players) if walkers is None else walkers
    return Sampling(
        KINDS.get(config.sampling, EXTERNAL), float(config.epsilon), float(config.tau), float(config.beta),
        float(config.exploration), config.probes, float(config.probe_share), float(config.probe_exploration),
        config.regret_floor, config.keeps_average and len(deciding) == 2, sum(1 << player for player in deciding),
    )  # fmt: skip


def integer_payoffs(tree: Walked, units: int | None) -> NDArray[np.int32]:
    """The utilities in integer units, for Pure CFR; ``payoff_units`` is how many make a chip.

    Raises
    ------
    SolverError
        If no number of units up to ``MOST_UNITS`` makes them integers, or they are too large.
    """
    number = payoff_units(tree, units)
    largest = float(np.abs(tree.utility).max(initial=0.0))
    if number * largest >= 2**30:
        advice = "use external-sampling" if number == 1 else "give fewer units, such as units=1"
        raise SolverError(
            f"utilities of {tree.name} in {number} units a chip are too large for pure-cfr, 2^30 or more; {advice}"
        )
    scaled = np.rint(tree.utility * number)
    if largest > 0.0 and not scaled.any():
        raise SolverError(f"units={number} round all utilities of {tree.name} to 0; give more units")
    return scaled.astype(np.int32).ravel()


def payoff_units(tree: Walked, units: int | None) -> int:
    """The number of units of a chip: as requested, or the fewest that make all utilities integers."""
    if units is not None:
        return units
    distinct = np.unique(tree.utility)
    near = 1e-9 * min(1.0, float(np.abs(distinct).max(initial=0.0)))
    for number in range(1, MOST_UNITS + 1):
        scaled = distinct * number
        if np.abs(scaled - np.rint(scaled)).max(initial=0.0) <= near * number:
            return number
    some = max(1000, math.ceil(min(1e18, 1000 / near * 1e-9)))
    raise SolverError(
        f"pure-cfr needs integer utilities, {tree.name} has others; give units, such as units={some}, to round"
    )


def walked_sizes(game: Walked) -> WalkedSizes:
    """The sizes of a compiled game that tables and scratch depend on."""
    if isinstance(game, BucketGame):
        return WalkedSizes(game.num_entries, 0, game.players, game.depth + 1, game.widest)
    frames = int(game.depth.max(initial=0)) + 1
    widest = int(np.diff(game.infoset_offset).max(initial=1))
    return WalkedSizes(game.num_entries, game.num_infosets, game.players, frames, widest)


def average_type(storage: str) -> str:
    """The type of the average for regrets of a type.

    A walk adds about 1; a float32 of 2^24 = 16,777,216 no longer changes by that, so actions at the root would drift
    to equal shares in longer runs.
    """
    return "float64" if storage == "float32" else storage


def table_memory(sizes: WalkedSizes, config: MccfrConfig) -> int:
    """Bytes of all tables and scratch on a game of these sizes."""
    tables = np.dtype(config.storage).itemsize + config.keeps_average * np.dtype(average_type(config.storage)).itemsize
    tables += 8 * (config.sampling in ("scheme", "probing"))
    scratch = sum(size * np.dtype(kind).itemsize for size, kind in _scratch_shapes(sizes, config))
    return sizes.entries * tables + config.threads * (scratch + 8 + 24)


def _scratch_shapes(sizes: WalkedSizes, config: MccfrConfig) -> list[tuple[int, str]]:
    """Sizes and types of the work arrays of each thread, in the order of the kernels' arguments."""
    if config.sampling == "public":
        return []  # kept with the boards
    frames, widest = sizes.frames, sizes.widest
    waiting = frames * widest + 1 if sizes.players != 2 and config.keeps_average else 0
    if config.sampling == "pure":
        return [(3 * frames, "int32"), (frames * widest, "int64"), (waiting, "int64")]
    stack = [(3 * frames, "int64"), (3 * frames, "float64"), (frames * widest, "float64"), (frames * widest, "float64")]
    if config.sampling == "chance":
        entries = sizes.entries if sizes.revisited else 0
        return [*stack, (sizes.revisited, "int64"), (entries, "float64"), (entries, "uint8"), (frames, "float64")]
    return [*stack, (waiting, "int64")]
