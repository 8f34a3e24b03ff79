"""Counterfactual regret minimisation with dicts, one history at a time, and its variants by options.

Sources: vanilla CFR, Gibson 2014, section 2.2.2 (algorithm 1) and appendix A; regret matching with its two rules for
no positive regret, Gibson 2014, sections 2.2.1 and 4.3; CFR+, Tammelin 2014 and Johanson 2016, section 9.3; averaging
after a delay, Cermak 2018, section 3.4.4.3; discounting, Brown and Sandholm 2019; prediction, Farina, Kroer and
Sandholm 2021.
"""

from __future__ import annotations

import math

from counterplay.game.game import CHANCE, TERMINAL, Game, State
from tests.reference.walks import Action, InfosetId, Profile, Table, infosets


def regret_matching(regret: dict[Action, float], fallback: str = "uniform", one: float = 1.0) -> dict[Action, float]:
    """Probabilities in proportion to positive regrets (Gibson 2014, sections 2.2.1 and 4.3).

    When no regret is positive: ``uniform`` over all actions, or ``argmax-uniform`` over those of the largest regret.
    ``one`` is the number 1 of the arithmetic to use.
    """
    positive = {action: max(value, 0 * one) for action, value in regret.items()}
    total = sum(positive.values())
    if total > 0.0:
        return {action: value / total for action, value in positive.items()}
    if fallback == "uniform":
        return {action: one / len(regret) for action in regret}
    if fallback == "argmax-uniform":
        largest = max(regret.values())
        best = [action for action, value in regret.items() if value == largest]
        return {action: one / len(best) if action in best else 0 * one for action in regret}
    raise ValueError(f"fallback must be uniform or argmax-uniform; got {fallback!r}")


def discount(iteration: int, power: float) -> float:
    """(t-1)^p / ((t-1)^p + 1), the factor of the regrets of before at iteration t (Brown and Sandholm 2019)."""
    if iteration == 1:
        return 0.0  # there are no regrets of before
    scaled = float(iteration - 1) ** power
    return 1.0 if math.isinf(scaled) else scaled / (scaled + 1.0)


class ReferenceCfr:
    """CFR by the book.

    Parameters
    ----------
    game : Game
        Any number of players and any kind of recall.
    alternating : bool
        Players are updated in turn, the later seeing the earlier ones' updates; else all from one frozen profile.
    reverse : bool
        The turns are from the last player to the first.
    regret_floor : bool
        Regrets are kept from falling below 0 (CFR+).
    alpha, beta : float or None
        Powers of the discount of positive and of negative regrets; None for no discount.
    gamma : float
        Power of the iteration in the weights of the average.
    delay : int
        The average leaves out iterations 1 .. delay.
    shifted : bool
        The average's weight is (t - delay)^gamma; else t^gamma.
    predictive : bool
        Regret matching is on the regrets plus those of the last iteration.
    fallback : str
        ``uniform`` or ``argmax-uniform``: the strategy when no regret is positive.
    tremble : float
        Every action is played with at least this probability; regrets are against what was meant.
    one : number
        The number 1 of the arithmetic to use: 1.0, or ``Fraction(1)`` on a game whose numbers are fractions.
    """

    def __init__(
        self,
        game: Game,
        *,
        alternating: bool,
        regret_floor: bool,
        reverse: bool = False,
        alpha: float | None = None,
        beta: float | None = None,
        gamma: float = 0.0,
        delay: int = 0,
        shifted: bool = True,
        predictive: bool = False,
        fallback: str = "uniform",
        tremble: float = 0.0,
        one: float = 1.0,
    ) -> None:
        if (alpha is None) != (beta is None):
            raise ValueError("give both alpha and beta, or neither")
        self.game = game
        self.alternating = alternating
        self.reverse = reverse
        self.regret_floor = regret_floor
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.delay = delay
        self.shifted = shifted
        self.predictive = predictive
        self.fallback = fallback
        self.tremble = tremble
        self.one = one
        self.iteration = 0
        self.regret: Table = self._zeros()
        self.average_sum: Table = self._zeros()
        self.last_regret: Table = self._zeros()

    def _zeros(self) -> Table:
        return {infoset: dict.fromkeys(actions, 0 * self.one) for infoset, actions in infosets(self.game).items()}

    def current(self) -> Profile:
        """sigma^{t+1}: regret matching at every information set, with the tremble if there is one."""
        if not self.tremble:
            return self.meant()
        return {
            infoset: {action: (1 - len(row) * self.tremble) * share + self.tremble for action, share in row.items()}
            for infoset, row in self.meant().items()
        }

    def meant(self) -> Profile:
        """Regret matching at every information set."""
        profile = {}
        for infoset, regret in self.regret.items():
            if self.predictive:
                regret = {action: value + self.last_regret[infoset][action] for action, value in regret.items()}
            profile[infoset] = regret_matching(regret, self.fallback, self.one)
        return profile

    def average(self) -> Profile:
        """The weighted average of the profiles played so far; uniform where nothing has been added yet."""
        profile = {}
        for infoset, sums in self.average_sum.items():
            total = sum(sums.values())
            profile[infoset] = {a: value / total if total > 0.0 else self.one / len(sums) for a, value in sums.items()}
        return profile

    def iterate(self, n: int) -> None:
        """Do n iterations."""
        for _ in range(n):
            self.iteration += 1
            everyone = list(range(self.game.players))[:: -1 if self.reverse else 1]
            for players in [[player] for player in everyone] if self.alternating else [everyone]:
                self._update(players)

    def _update(self, players: list[int]) -> None:
        """Walk once with the current profile, then change the tables of these players."""
        profile, meant = self.current(), self.meant()
        instantaneous = self._zeros()
        own_reach: dict[InfosetId, list[float]] = {}

        def walk(state: State, reach: list[float], chance: float) -> list[float]:
            """The expected utilities from here on; on the way up r(I,a) = sum over h of pi_{-i}(h) (v(ha) - v(h))."""
            if state.player == TERMINAL:
                return list(state.utilities())
            value = [0 * self.one] * self.game.players
            if state.player == CHANCE:
                for outcome, probability in state.chance():
                    below = walk(state.child(outcome), reach, chance * probability)
                    value = [v + probability * b for v, b in zip(value, below, strict=True)]
                return value
            mover = state.player
            infoset = (mover, state.infoset())
            strategy = profile[infoset]
            action_values = {}
            for action in state.actions():
                reach_after = [r * strategy[action] if i == mover else r for i, r in enumerate(reach)]
                action_values[action] = walk(state.child(action), reach_after, chance)
                value = [v + strategy[action] * b for v, b in zip(value, action_values[action], strict=True)]
            others = chance
            for player, probability in enumerate(reach):
                if player != mover:
                    others *= probability
            worth = value[mover]
            if self.tremble:
                worth = sum(meant[infoset][action] * action_values[action][mover] for action in state.actions())
            for action in state.actions():
                instantaneous[infoset][action] += others * (action_values[action][mover] - worth)
            own_reach.setdefault(infoset, []).append(reach[mover])
            return value

        walk(self.game.root(), [self.one] * self.game.players, self.one)

        weight = self._average_weight()
        for infoset, regret in self.regret.items():
            if infoset[0] not in players:
                continue
            mean_own_reach = sum(own_reach[infoset]) / len(own_reach[infoset])
            for action in regret:
                if self.alpha is not None and self.beta is not None:
                    regret[action] *= discount(self.iteration, self.alpha if regret[action] > 0.0 else self.beta)
                regret[action] += instantaneous[infoset][action]
                if self.regret_floor:
                    regret[action] = max(regret[action], 0 * self.one)
                self.average_sum[infoset][action] += weight * mean_own_reach * profile[infoset][action]
            self.last_regret[infoset] = instantaneous[infoset]

    def _average_weight(self) -> float:
        if self.iteration <= self.delay:
            return 0.0
        count = self.iteration - self.delay if self.shifted else self.iteration
        return math.pow(count, self.gamma)
