"""Counterfactual regret minimisation, full width: CFR, CFR+, linear, discounted and predictive CFR.

Each iteration computes, for every information set I and action a, the counterfactual regret
``r(I,a) = v(I,a) - v(I)`` and adds it to a table R; the next strategy plays in proportion to the positive part of R;
the average of the strategies, weighted by the player's own reach, approaches a Nash equilibrium in two-player
zero-sum games with perfect recall.

* ``cfr``     Zinkevich et al. 2007; Gibson 2014, algorithm 1.  Both players are updated from one frozen profile, as
              in the thesis' worked example; every iteration has the same weight.
* ``cfr+``    Tammelin et al. 2015; Johanson 2016, section 9.3.  Regrets are floored at 0, updates alternate,
              iteration t has weight t - d, with a delay d of 1: the uniform strategy of the first iteration, of
              which nothing is learned, is left out (OpenSpiel: d = 0).
* ``linear``  Brown and Sandholm 2019: iteration t has weight t in regrets and average; updates alternate.
* ``dcfr``    the same paper: positive regrets are discounted by t^α/(t^α+1), negative ones with β, iteration t
              has weight t^γ; (α, β, γ) = (1.5, 0, 2).
* ``pcfr+``   Farina, Kroer and Sandholm 2021: CFR+ that matches R plus the last regret as a prediction; t² averaging.

Departures: with imperfect recall the average at an information set is the mean over its histories (Gibson leaves it
undefined); discounts of iteration t are applied before iteration t + 1 is added, which gives the same strategies;
regrets within rounding of 0 count as 0 (``ROUNDING``).
"""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.evaluation.measurement import Measurement, measure_strategy
from counterplay.kernels.history.cfr import iterate_cfr, shake
from counterplay.kernels.history.passes import forward_reach
from counterplay.kernels.history.restricted import bind_choice
from counterplay.kernels.regret import match_regrets
from counterplay.solvers.restricted_solver import RestrictedSolver
from counterplay.solvers.restriction_values import bound_of, measure_on_tree
from counterplay.solvers.settings import Bounds, Settings, Threads, preset
from counterplay.solvers.solver import Solver
from counterplay.strategy.tabular import normalise
from counterplay.tree.history.game_tree import GameTree

ProfileKind = Literal["average", "last", "best"]
"""Which profile: the average of all iterations, the current one, or the least exploitable one seen at checks."""

MAX_GAMMA = {"float64": 20, "float32": 4, "int16": 4}
"""Largest exponent of the averaging weights: sums of t^gamma stay in the range of the tables for 10^7 iterations."""

STORAGES = {"history": ("float64", "float32"), "public": ("float64", "float32", "int16"), "buckets": ("float64",)}
"""The types of tables on each form; auto is the first, on public trees float32 for large ones."""

FLOAT32_UTILITIES = (1e-25, 1e25)
"""Limits on the largest utility of a game, so that its regrets neither vanish nor overflow in float32."""


ROUNDING = 1e-12
"""Regrets up to this fraction of the largest utility are ties: regret matching must not turn a rounding error of 0
into a pure strategy.  With it, runs agree with exact arithmetic for thousands of iterations in games full of ties."""


@dataclasses.dataclass(frozen=True)
class CfrConfig(Settings):
    """One member of the CFR family, on every form of a game.

    * ``alternating``: players are updated in turn, each against the updated others; otherwise all from one frozen
      profile
    * ``reverse``: the turns are from the last player to the first
    * ``regret_floor``: negative regrets become 0 (regret matching plus)
    * ``alpha``, ``beta``: discount exponents of positive and negative regrets; None for no discount
    * ``gamma``: iteration t has weight t^gamma in the average: 0 uniform, 1 linear, 2 quadratic
    * ``delay``: iterations left out of the average at the start
    * ``shifted``: weights count from the delay, (t - delay)^gamma, rather than t^gamma
    * ``predictive``: the last regret is added, as a prediction, before matching
    * ``fallback``: where no regret is positive: play all actions equally, or those of largest regret equally
    * ``profile``: which profile the solver returns.  With ``"last"`` no average is kept, which saves its table
    * ``storage``: type of the tables, see ``STORAGES`` for those of each form
    * ``threads``: threads of a walk of a public tree; one on other forms
    * ``tremble``: every action is played with at least this probability, so that every information set is reached
      (Johanson 2016, section 10.3.1.2); the average then approaches an equilibrium among such strategies
    """

    alternating: bool = True
    reverse: bool = False
    regret_floor: bool = False
    alpha: float | None = None
    beta: float | None = None
    gamma: float = 0.0
    delay: Annotated[int, Bounds(at_least=0, below=2**63)] = 0
    shifted: bool = True
    predictive: bool = False
    fallback: Literal["uniform", "argmax-uniform"] = "uniform"
    profile: ProfileKind = "average"
    storage: Literal["auto", "float64", "float32", "int16"] = "auto"
    tremble: Annotated[float, Bounds(at_least=0, below=1)] = 0.0
    threads: Threads = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_gamma(MAX_GAMMA.get(self.storage, 20))

    def _check_gamma(self, largest: int) -> None:
        if abs(self.gamma) > largest:
            raise SolverError(
                f"gamma must lie in [-{largest}, {largest}] with {self.storage} tables, or the weights t^gamma would "
                f"overflow them; got {self.gamma!r}"
            )

    def check_form(self, form: str) -> None:
        """Refuse settings that a form of the game does not have.

        Raises
        ------
        SolverError
            If a setting is not for ``form``: history, public or buckets.
        """
        if self.storage not in ("auto", *STORAGES[form]):
            raise SolverError(f"storage must be one of {', '.join(STORAGES[form])}; got {self.storage!r}")
        if form != "public" and self.threads != 1:
            raise SolverError(f"full-width cfr has threads on public trees only; got threads={self.threads}")
        if form == "history":
            return
        name = {"public": "on a public tree", "buckets": "in buckets"}[form]
        if self.profile == "best":
            raise SolverError(f"{name} the profile is average or last; got 'best'")
        if self.fallback != "uniform" or self.tremble:
            raise SolverError(
                f"{name} the settings fallback and tremble are not available; use --representation history"
            )
        if form == "buckets" and self.predictive and (self.alpha is not None or self.beta is not None):
            raise SolverError("in buckets predictive is without alpha and beta; use --representation history")
        if form == "public" and self.storage == "auto":
            self._check_gamma(MAX_GAMMA["float32"])

    @property
    def turns(self) -> slice:
        """The order in which players are updated, as a part of all players."""
        return slice(None, None, -1) if self.reverse and self.alternating else slice(None)

    @property
    def table_type(self) -> str:
        """The type of tables on forms where it does not depend on the size."""
        return "float64" if self.storage == "auto" else self.storage


CFR_PRESETS: Mapping[str, CfrConfig] = {
    "cfr": CfrConfig(alternating=False),
    "cfr+": CfrConfig(regret_floor=True, gamma=1.0, delay=1),
    "linear": CfrConfig(alpha=1.0, beta=1.0, gamma=1.0),
    "dcfr": CfrConfig(alpha=1.5, beta=0.0, gamma=2.0),
    "pcfr+": CfrConfig(regret_floor=True, gamma=2.0, predictive=True),
}
"""The named members of the family."""


class FullWidthSolver(Solver):
    """A solver of the CFR family on some form of a game."""

    config_class = CfrConfig
    presets: ClassVar = CFR_PRESETS
    default_preset = "cfr+"

    @classmethod
    def settings_of(cls, config: Settings | str | None) -> CfrConfig:
        """The settings, which must be for this form."""
        settings: CfrConfig = super().settings_of(config)
        settings.check_form(cls.form_name)
        return settings

    @classmethod
    def name_of(cls, config: CfrConfig) -> str:
        """The name of the preset equal to a configuration; others are called ``cfr-variant``."""
        return next((name for name, known in CFR_PRESETS.items() if known == config), "cfr-variant")

    @property
    def _exponents(self) -> tuple[float, float, float]:
        """The exponents as kernels take them: NaN for no discount."""
        alpha, beta = (np.nan if power is None else float(power) for power in (self.config.alpha, self.config.beta))
        return alpha, beta, float(self.config.gamma)


class CfrSolver(RestrictedSolver, FullWidthSolver):
    """Full-width CFR on a compiled game, any number of players, any recall; with a restriction two players."""

    kind = "cfr"
    restricted_presets = tuple(CFR_PRESETS)

    def _check_game(self) -> None:
        facts = self.tree.facts
        check_storage(self.tree.name, max(abs(facts.min_utility), abs(facts.max_utility)), self.config.table_type)
        widest = int(np.diff(self.tree.infoset_offset).max(initial=1))
        if self.config.tremble * widest >= 1:
            raise SolverError(
                f"{self.tree.name} has sets with {widest} actions, so tremble must be below {1 / widest:g}; "
                f"got {self.config.tremble!r}"
            )
        if self.restriction is not None and self.config.tremble:
            raise SolverError("a restricted opponent is for play without a tremble; leave out tremble")
        self._check_restriction()

    def _allocate(self) -> None:
        entries, sequences = self.tree.num_entries, self.tree.sequences.num_sequences
        storage = np.dtype(self.config.table_type)
        self.regret = np.zeros(entries, storage)
        self.average = np.zeros(entries if self.config.keeps_average else 0, storage)
        self.prediction = np.zeros(entries if self.config.predictive else 0, storage)
        self.best = np.zeros(entries if self.config.profile == "best" else 0)
        self.best_exploitability = np.inf
        self._tie = ROUNDING * float(np.abs(self.tree.utility).max(initial=0.0))
        self._clock = np.zeros(1, np.int64)
        self._current = np.zeros(entries)
        self._reach = np.ones(sequences)
        self._value = np.zeros(sequences)
        self._step = np.zeros(entries)
        self._derive()
        self._match()

    def _derive(self) -> None:
        """The restriction as kernels take it."""
        held = self.restriction
        self._bound = None if held is None else bound_of(self.tree, self.form, held)
        self._met = np.zeros(0 if held is None else self.tree.sequences.num_sequences)

    @classmethod
    def memory_bytes(cls, tree: GameTree, config: CfrConfig | str | None = None) -> int:
        """Bytes of all tables that a solver will allocate."""
        config = cls.settings_of(config)
        tables = 1 + config.keeps_average + config.predictive
        doubles = tree.num_entries * (2 + (config.profile == "best")) + 2 * tree.sequences.num_sequences
        return tree.num_entries * tables * np.dtype(config.table_type).itemsize + 8 * doubles + 8

    def step(self, iterations: int = 1) -> None:
        """Advance by some iterations."""
        if not isinstance(iterations, numbers.Integral) or iterations < 0:
            raise SolverError(f"step takes an integer, at least 0; got {iterations!r}")
        config = self.config
        iterate_cfr(
            self.form, self.tree.infoset_offset, self.tree.player_infosets,
            config.alternating, config.reverse, config.regret_floor,
            *self._exponents, config.delay, config.shifted, config.fallback == "argmax-uniform", self._tie,
            float(config.tremble), self._bound, int(iterations), self._clock, self.regret, self.average,
            self.prediction, self._current, self._reach, self._value, self._step, self._met,
        )  # fmt: skip

    def strategy(self, kind: ProfileKind | None = None) -> NDArray[np.float64]:
        """The probabilities of a profile: by default the one named in the configuration.

        Before the first average or measurement, the average and the best profile are the current one.
        """
        kind = self._profile_kind(kind)
        if kind == "best" and self.config.profile != "best":
            raise SolverError("this solver does not track its best profile; configure profile='best'")
        if kind == "average" and self.iterations > self.config.delay:
            return normalise(self.average, self.tree.infoset_offset)
        if kind == "best" and np.isfinite(self.best_exploitability):
            return self.best.copy()
        return self._current.copy()

    def measure(self, kind: ProfileKind | None = None) -> Measurement:
        """Measure a profile exactly; ``kind`` as for ``strategy``.  With a restriction, in the restricted game."""
        return self._measured_as(self.strategy(kind))

    def _measured_as(self, strategy: NDArray[np.float64]) -> Measurement:
        if self._bound is not None:
            return measure_on_tree(self.form, self._bound, strategy)
        return measure_strategy(self.tree, self.form, strategy)

    def check(self) -> Measurement:
        """Measure; with ``profile="best"`` the current profile becomes the best one if it is less exploitable."""
        if self.config.profile == "best":
            now = self._measured_as(self._current)
            if now.exploitability < self.best_exploitability:
                self.best[:] = self._current  # the number last: Ctrl-C between the two is corrected by the next check
                self.best_exploitability = now.exploitability
        return self.measure()

    def tables(self) -> dict[str, NDArray[Any]]:
        """Regrets, average, prediction and best profile, and the number of iterations."""
        return {
            "regret": self.regret,
            "average": self.average,
            "prediction": self.prediction,
            "best": self.best,
            "clock": self._clock,
            **self.restriction_tables(),
        }

    def state(self) -> dict[str, Any]:
        """The exploitability of the best profile seen."""
        best = None if np.isinf(self.best_exploitability) else self.best_exploitability
        return {"best_exploitability": best, **self.restriction_state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Derive the current strategy from the tables."""
        best = state["best_exploitability"]
        self.best_exploitability = np.inf if best is None else best
        self._match()

    def _match(self) -> None:
        """Derive the current strategy and its reach from the tables."""
        argmax = self.config.fallback == "argmax-uniform"
        offset, infosets = self.tree.infoset_offset, self.tree.num_infosets
        match_regrets(offset, 0, infosets, self.regret, self.prediction, argmax, self._tie, self._current)
        if self.config.tremble > 0:
            shake(offset, 0, infosets, float(self.config.tremble), self._current)
        if self._bound is not None:
            low, high = self.tree.player_infosets[self._bound.player : self._bound.player + 2]
            bind_choice(offset, low, high, self._bound.player, self._bound, self._current)
        for player in range(self.tree.players):
            forward_reach(self.form, player, self._current, self._reach)


def check_storage(game: str, largest: float, storage: str) -> None:
    """Refuse tables that cannot hold the regrets of a game, whose utilities are up to ``largest`` in size."""
    low, high = FLOAT32_UTILITIES
    if storage != "float64" and largest > 0 and not low <= largest <= high:
        raise SolverError(
            f"{storage} tables need a largest utility from {low:g} to {high:g}; that of {game} is {largest:g}; "
            "use storage float64"
        )


def config_with(name: str, changes: Mapping[str, Any]) -> CfrConfig:
    """A preset with some settings changed."""
    return preset(CFR_PRESETS, name, changes)
