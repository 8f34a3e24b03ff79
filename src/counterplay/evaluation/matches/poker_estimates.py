"""``PokerEstimates``: what a strategy wins, estimated from single hands of poker, all own hands at once.

Johanson 2016, sections 7.3 and 7.4; the formula and its proof are in ``tree_estimates``, which is the same for any
small game and agrees with this one.  With E the own actions that would end the hand by a fold, or by a call at the last
decision, and the board and the opponent's hand fixed:

    AC+EF = Σ over own decisions h, e in E: Σ_c V(h_c e) π(h_c e) / Σ_c π̂(h_c) + the complete hand unless E ended it

where c runs over all hands that avoid the cards that are known at h: hands that clash with later cards count too.
AC has the last term alone, EF the actual hand instead of all c, basic importance sampling both.  The source's
``V`` without luck is V = u - Σ β_r (e_r - e_{r-1}) over the rounds that were dealt, with e the edge of a hand and
β_r the slope of a value function (``edge_values``).

With partial information the opponent's hand is known at showdowns only.  Where it is unknown, c avoids the board alone,
luck is not measured, and calls are not imagined: estimates are biased, little if the pot decides most (JOH-45).
Imagined folds are the same whether the hand is shown later or not: there c avoids the board alone as well.

With more players (Gibson 2014, section 8.2) information is always partial: the hands that were shown are avoided, and
there is no value function, so that luck is not measured.

AIVAT corrects, besides the cards, the luck of own actions, and of the opponent's where that strategy is known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.evaluation.matches.all_in_equity import AllInEquity
from counterplay.evaluation.matches.edge_values import EdgeValues
from counterplay.evaluation.matches.estimator import Estimator
from counterplay.evaluation.matches.game_hands import GameHands
from counterplay.evaluation.matches.hand_rows import HandRows, path_to, won_at
from counterplay.game.game import TERMINAL
from counterplay.poker.betting import CALL, FOLD
from counterplay.poker.rules import Betting

Float64 = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True)
class PlayedHand:
    """A finished hand, as a player sees it afterwards.

    Attributes
    ----------
    end : int
        The terminal node of the betting tree.
    position, own : int
        Where the player sat, and the number of its hand.
    other : int or None
        The number of the opponent's hand, of more than one of the first; None if it was not seen.
    board : tuple of int
        The cards on the table, at least those of the rounds that were played.
    more : tuple
        Of further opponents, by position, the numbers of their hands or None.
    """

    end: int
    position: int
    own: int
    other: int | None
    board: tuple[int, ...]
    more: tuple[int | None, ...] = ()

    @property
    def shown(self) -> tuple[int, ...]:
        """The opponents' hands that were seen."""
        return tuple(one for one in (self.other, *self.more) if one is not None)


class NotPlayedError(GameError):
    """A hand that the strategy which is said to have been played never plays so; ``place`` is its number."""

    place = 0


class PokerEstimates:
    """Estimates of hands.

    Parameters
    ----------
    equity : GameHands
        Of the game; of two players its ``AllInEquity``.
    estimators : sequence of Estimator
        Which ones; ``estimate`` has them in this order.
    played : HandRows
        The strategy with which the hands were played.
    evaluated : HandRows, optional
        The strategy in question; the one that was played if it is left out.
    values : mapping, optional
        The value functions by ``Estimator.values``, and that of AIVAT as ``aivat``.
    opponent : HandRows, optional
        The opponent's strategy, for AIVAT.
    partial : bool
        Whether opponents' hands are seen at showdowns only; then all hands are estimated in the same way.
    """

    def __init__(
        self, equity: GameHands, estimators: Sequence[Estimator], played: HandRows, evaluated: HandRows | None = None,
        values: Mapping[str, EdgeValues] | None = None, opponent: HandRows | None = None, partial: bool = False,
    ) -> None:  # fmt: skip
        self.partial = partial
        self.equity, self.rules = equity, equity.rules
        self.estimators = tuple(estimators)
        self.played, self.evaluated, self.opponent = played, evaluated, opponent
        self.values = dict(values or {})
        self.tree = played.tree
        self._last = self.rules.rounds - 1
        for one in self.estimators:
            needed = "aivat" if one.aivat else one.values
            if self.rules.players > 2 and (needed != "money" or one.early_folds or not partial):
                raise GameError(f"with more than two players there are basic and ac, by what was shown; got {one.name}")
            if needed != "money" and needed not in self.values:
                raise GameError(f"{one.name} needs a value function {needed}")
            if partial and not one.partial:
                raise GameError(f"{one.name} needs the opponent's cards of all hands; here some were not seen")
            if one.aivat and evaluated is not None:
                raise GameError("aivat is for the strategy that was played; leave out the other one")
        self._ac = any(one.all_cards for one in self.estimators)
        self._ef = any(one.early_folds for one in self.estimators)

    def estimate(self, hand: PlayedHand) -> Float64:
        """The estimates of a hand, in chips.

        Raises
        ------
        NotPlayedError
            If the strategy that is said to have been played does not play so.
        """
        if hand.other is None and not self.partial:
            raise GameError("the opponent's hand is not known; estimates with partial information may be asked for")
        state = _Hand(self, hand)
        state.walk()
        if state.sampled[hand.own] <= 0.0:
            raise NotPlayedError("the strategy never plays this hand so; was it the one that played?")
        found = {one: state.value(one) for one in self.estimators if not one.aivat}
        if any(one.aivat for one in self.estimators):
            found.update(dict.fromkeys([one for one in self.estimators if one.aivat], state.aivat()))
        return np.array([found[one] for one in self.estimators])


class _Hand:
    """One hand: what is known of it, the reaches of all own hands, and the sums of each estimator."""

    def __init__(self, owner: PokerEstimates, hand: PlayedHand) -> None:
        self.owner, self.hand, self.tree = owner, hand, owner.tree
        self.path = path_to(self.tree, hand.end)
        equity, ends = owner.equity, owner.rules.board_ends
        turns = int(self.tree.round[hand.end]) + 1
        self.board = hand.board[: ends[turns - 1]]
        self.full = hand.other is not None
        known = np.ones(len(equity.holes), np.bool_)
        for number in hand.shown:
            known &= equity.bits & equity.bits[number] == 0
        self.free = [equity.free(*self.board[:end]) for end in ends[:turns]]
        self.live = [known & one for one in self.free]
        self.edges = []
        if isinstance(equity, AllInEquity) and hand.other is not None:
            self.edges = equity.edges(hand.other, self.board)
        own = owner.played.on_board(hand.position, self.board)
        other = None if owner.evaluated is None else owner.evaluated.on_board(hand.position, self.board)
        self.own = {node: own.rows(node) for node in self.path if self.tree.player[node] == hand.position}
        self.asked = self.own if other is None else {node: other.rows(node) for node in self.own}
        self.luck: dict[str, list[Float64]] = {}
        self.won: dict[tuple[int, str, int], Float64] = {}
        self.sampled = np.ones(len(equity.holes))
        self.reach = self.sampled
        # what each own decision adds: the node, the reaches there, and the imagined ends
        self.choices: list[tuple[int, Float64, Float64, list[tuple[int, Float64]]]] = []

    def walk(self) -> None:
        """The reaches along the betting, and the ends that can be imagined on the way."""
        tree = self.tree
        for node, child in zip(self.path, self.path[1:], strict=False):
            if node not in self.own:
                continue
            first, rows = int(tree.first_child[node]), self.asked[node]
            options = [
                (end, self.reach * rows[:, end - first]) for end in tree.children(node) if self._imaginable(node, end)
            ]
            self.choices.append((node, self.reach, self.sampled, options))
            same = self.own is self.asked
            self.sampled = self.sampled * self.own[node][:, child - first]
            self.reach = self.sampled if same else self.reach * rows[:, child - first]

    def _imaginable(self, node: int, end: int) -> bool:
        """Whether an own action would have ended the hand, in a way that can be evaluated."""
        tree = self.tree
        if tree.player[end] != TERMINAL:
            return False
        called = tree.action[end] == CALL and int(tree.round[node]) == self.owner._last
        return bool(tree.action[end] == FOLD or (called and not self.owner.partial))

    def value(self, one: Estimator) -> float:
        """An estimate, AIVAT aside."""
        own, total = self.hand.own, 0.0
        imagined: set[int] = set()
        for node, _, sampled, options in self.choices if one.early_folds else ():
            live = (self.free if self.owner.partial else self.live)[int(self.tree.round[node])]
            imagined.update(end for end, _ in options)
            for end, reach in options:
                won = self._won(end, one.values, int(self.tree.round[node]))
                total += (
                    _ratio(reach * won, sampled, live) if one.all_cards else float(reach[own] * won[own] / sampled[own])
                )
        if self.hand.end in imagined:
            return total
        won = self._won(self.hand.end, one.values, len(self.live) - 1)
        if one.all_cards:
            return total + _ratio(self.reach * won, self.sampled, self.live[-1])
        return total + float(self.reach[own] * won[own] / self.sampled[own])

    def _won(self, end: int, values: str, turn: int) -> Float64:
        """What every own hand wins at an end, without the luck of the rounds up to one; the same for all estimators."""
        key = (end, values, turn)
        if key not in self.won:
            self.won[key] = self._winnings(end, values, turn)
        return self.won[key]

    def _winnings(self, end: int, values: str, turn: int) -> Float64:
        if self.owner.rules.players > 2:
            return self._shares(end)
        paid = won_at(self.tree, end, self.hand.position)
        showdown = self.tree.folded[end] == 0
        won = paid * self.edges[-1] if showdown else np.full(len(self.sampled), paid)
        known = self.full and (bool(showdown) or not self.owner.partial)  # with partial information at showdowns only
        return won - self._luck(values)[turn] if values != "money" and known else won

    def _shares(self, end: int) -> Float64:
        """What every own hand wins at an end from the hands that were shown, with any number of players."""
        rules, position = self.owner.rules, self.hand.position
        betting = Betting.after(rules, self.tree.text(end))
        if not betting.showdown or betting.folded >> position & 1:
            ranks = [0] * rules.players if betting.showdown else None  # nobody's cards matter
            return np.full(len(self.sampled), float(betting.values(ranks)[position]))
        own = self.owner.equity.runouts(self.hand.board[: rules.board_ends[-1]]).rank[0].astype(np.int64)
        others = iter((self.hand.other, *self.hand.more))
        seated = [None if seat == position else next(others) for seat in range(rules.players)]
        theirs = [-1 if number is None else int(own[number]) for number in seated]
        levels = np.unique(theirs)
        place = np.searchsorted(levels, own, "left") + np.searchsorted(levels, own, "right")
        won = np.empty(len(own))
        for one in np.unique(place):  # hands that lie between the same ones of the others win the same
            same = place == one
            theirs[position] = int(own[same][0])
            won[same] = float(betting.values(theirs)[position])
        return won

    def _luck(self, values: str) -> list[Float64]:
        """The luck of all rounds up to each, for every own hand."""
        if values not in self.luck:
            slope, now, total = self.owner.values[values].slope, np.zeros(len(self.sampled)), []
            opened = self._openings()
            before = now
            for turn, edge in enumerate(self.edges):
                now = now + slope[opened[turn]] * (edge - before)
                before = edge
                total.append(now)
            self.luck[values] = total
        return self.luck[values]

    def _openings(self) -> list[int]:
        """The node that follows the cards of each round; rounds that an all-in skips have the last one's."""
        found: list[int] = []
        for node in self.path:
            found += [node] * (int(self.tree.round[node]) + 1 - len(found))
        return found

    def aivat(self) -> float:
        """AIVAT, with all own hands imagined and the opponent's fixed."""
        tree, hand = self.tree, self.hand
        base, slope = self.owner.values["aivat"]
        sign = 1.0 if hand.position == 0 else -1.0
        other = None if self.owner.opponent is None else self.owner.opponent.on_board(1 - hand.position, self.board)
        weight = _normal(self.live[0].astype(np.float64))
        total = -float(slope[0] * (weight @ self.edges[0]))  # the deal: edges are 0 in the mean

        def value(node: int, turn: int) -> Float64:
            return np.asarray(sign * base[node] + slope[node] * self.edges[turn])

        for node, child in zip(self.path, self.path[1:], strict=False):
            turn, first = int(tree.round[node]), int(tree.first_child[node])
            children = tree.children(node)
            if node in self.own:
                rows = self.own[node]
                before = sum(float((weight * rows[:, end - first]) @ value(end, turn)) for end in children)
                weight = _normal(weight * rows[:, child - first])
                total += before - float(weight @ value(child, turn))
            elif other is not None:
                row = other.rows(node)[hand.other]
                before = sum(float(row[end - first] * (weight @ value(end, turn))) for end in children)
                total += before - float(weight @ value(child, turn))
            after = int(tree.round[child])
            if after > turn:  # cards come
                before = float(weight @ value(child, turn))
                weight = _normal(weight * self.live[after])
                total += before - float(weight @ value(child, after))
        return total + float(weight @ value(hand.end, len(self.live) - 1))


def _ratio(top: Float64, bottom: Float64, live: NDArray[np.bool_]) -> float:
    return float((top @ live) / (bottom @ live))


def _normal(weight: Float64) -> Float64:
    return np.asarray(weight / weight.sum())
