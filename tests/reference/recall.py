"""The classes of imperfect recall by their definitions, with fractions and all bijections; for small games only.

Notation of Lanctot et al. 2012 and Čermák 2018.  A leaf is a path of steps; X_i and X_{-i} are read off it literally.
Parts are those of the coarsest perfect-recall refinement: histories of one information set with the same X_i.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any, TypeAlias

from counterplay.game.game import CHANCE, TERMINAL, Game

Labels: TypeAlias = tuple[str, ...]
Pairs: TypeAlias = tuple[tuple[Hashable, str], ...]
Part: TypeAlias = tuple[Hashable, Pairs]  # information set, and X_i before it
MAX_BIJECTIONS = 20_000


@dataclasses.dataclass(frozen=True)
class Step:
    """One move: the history before it, who moves, the mover's key, the move, chance's probability."""

    history: Labels
    player: int
    key: Hashable
    action: str
    probability: Fraction


@dataclasses.dataclass(frozen=True)
class Leaf:
    """A terminal history."""

    steps: tuple[Step, ...]
    utilities: tuple[Fraction, ...]

    @property
    def history(self) -> Labels:
        return tuple(step.action for step in self.steps)

    def chance(self, start: int = 0, stop: int | None = None) -> Fraction:
        return math.prod((step.probability for step in self.steps[start:stop]), start=Fraction(1))

    def past(self, player: int, stop: int) -> Pairs:
        return tuple((step.key, step.action) for step in self.steps[:stop] if step.player == player)

    def future(self, player: int, start: int) -> Pairs:
        return tuple((step.key, step.action) for step in self.steps[start:] if step.player == player)

    def others(self, player: int) -> tuple[Any, ...]:
        return tuple((s.player, s.key, s.action) for s in self.steps if s.player not in (player, CHANCE))

    def place(self, player: int, part: Part) -> int | None:
        """The step at which the path is in a part."""
        for place, step in enumerate(self.steps):
            if step.player == player and (step.key, self.past(player, place)) == part:
                return place
        return None


def leaves(game: Game) -> list[Leaf]:
    """All terminal histories."""

    def below(state: Any, steps: tuple[Step, ...]) -> Iterator[Leaf]:
        history = tuple(step.action for step in steps)
        if state.player == TERMINAL:
            yield Leaf(steps, tuple(Fraction(u).limit_denominator(10**6) for u in state.utilities()))
        elif state.player == CHANCE:
            for outcome, p in state.chance():
                exact = Fraction(p).limit_denominator(10**6)
                yield from below(state.child(outcome), (*steps, Step(history, CHANCE, None, str(outcome), exact)))
        else:
            for action in state.actions():
                step = Step(history, state.player, state.infoset(), str(action), Fraction(1))
                yield from below(state.child(action), (*steps, step))

    return list(below(game.root(), ()))


def parts(game: Game, player: int) -> dict[Hashable, dict[Part, None]]:
    """The parts of each information set, in the order in which they are met."""
    found: dict[Hashable, dict[Part, None]] = {}
    for leaf in leaves(game):
        for place, step in enumerate(leaf.steps):
            if step.player == player:
                found.setdefault(step.key, {})[step.key, leaf.past(player, place)] = None
    return found


def is_absent_minded(game: Game, player: int) -> bool:
    """Some path meets one information set twice."""
    for leaf in leaves(game):
        keys = [step.key for step in leaf.steps if step.player == player]
        if len(set(keys)) < len(keys):
            return True
    return False


def is_perfect(game: Game, player: int) -> bool:
    """X_i is the same everywhere in each set."""
    return all(len(found) == 1 for found in parts(game, player).values())


def is_a_loss(game: Game, player: int) -> bool:
    """Any two sequences of a set part at some set of the player; absent-minded players are excluded."""
    if is_absent_minded(game, player):
        return False
    for found in parts(game, player).values():
        for (_, one), (_, other) in combinations(found, 2):
            if not any(key == key2 and action != action2 for key, action in one for key2, action2 in other):
                return False
    return True


Side: TypeAlias = list[tuple[Leaf, int]]  # leaves below a part, each with the step at which it is there
Matching: TypeAlias = list[tuple[tuple[Leaf, int], tuple[Leaf, int]]]


def below(game: Game, player: int, part: Part) -> Side:
    """Z_part."""
    found = [(leaf, leaf.place(player, part)) for leaf in leaves(game)]
    return [(leaf, place) for leaf, place in found if place is not None]


def bijections(first: Side, second: Side, signature: Callable[[Leaf, int, int], Any]) -> Iterator[Matching]:
    """All bijections of two sets of leaves that keep a signature of (leaf, place, side)."""
    groups: dict[Any, tuple[Side, Side]] = {}
    for side, members in enumerate((first, second)):
        for leaf, place in members:
            groups.setdefault(signature(leaf, place, side), ([], []))[side].append((leaf, place))
    if any(len(here) != len(there) for here, there in groups.values()):
        return
    if math.prod(math.factorial(len(here)) for here, _ in groups.values()) > MAX_BIJECTIONS:
        raise ValueError("too many bijections for the twin; use a smaller game")
    for chosen in product(*(permutations(there) for _, there in groups.values())):
        yield [
            pair
            for (here, _), there in zip(groups.values(), chosen, strict=True)
            for pair in zip(here, there, strict=True)
        ]


def structural(player: int) -> Callable[[Leaf, int, int], Any]:
    """Conditions (iii) and (iv)."""
    return lambda leaf, place, side: (leaf.others(player), leaf.future(player, place))


def ratio(pairs: list[tuple[Fraction, Fraction]]) -> Fraction | None:
    """A c >= 0 with a = c b for all pairs; 1 if anything will do; None if there is none."""
    found = {a / b for a, b in pairs if b != 0}
    if any(a != 0 and b == 0 for a, b in pairs) or len(found) > 1:
        return None
    c = found.pop() if found else Fraction(1)
    return c if c >= 0 else None


def chances_fit(matching: Matching) -> Fraction | None:
    """l of condition (ii)."""
    return ratio([(z.chance(), image.chance()) for (z, _), (image, _) in matching])


def utilities_fit(matching: Matching, player: int) -> Fraction | None:
    """k of condition (i)."""
    return ratio([(z.utilities[player], image.utilities[player]) for (z, _), (image, _) in matching])


def ordered_pairs(game: Game, player: int) -> Iterator[tuple[Part, Part]]:
    """All ordered pairs of different parts of one set."""
    for found in parts(game, player).values():
        yield from permutations(found, 2)


def is_well_formed(game: Game, player: int) -> bool:
    """Definition 2 of Lanctot et al. 2012."""
    return not is_absent_minded(game, player) and all(
        any(
            chances_fit(matching) is not None and utilities_fit(matching, player) is not None
            for matching in bijections(below(game, player, one), below(game, player, other), structural(player))
        )
        for one, other in ordered_pairs(game, player)
    )


def largest_factors(game: Game, player: int) -> Fraction:
    """K of theorem 1; the game must be well-formed."""
    total = Fraction(0)
    for found in parts(game, player).values():
        best = Fraction(1)
        for one, other in permutations(found, 2):
            for matching in bijections(below(game, player, one), below(game, player, other), structural(player)):
                k, ell = utilities_fit(matching, player), chances_fit(matching)
                if k is not None and ell is not None:
                    best = max(best, k * ell)
                    break
        total += best
    return total


def least_gap(pairs: list[tuple[Fraction, Fraction]]) -> Fraction:
    """min over k >= 0 of max |a - k b|: the best of 0, 1 and all crossings of two of the lines ±(a - k b)."""
    lines = [(sign * a, -sign * b) for a, b in set(pairs) for sign in (1, -1)]
    candidates = {Fraction(0), Fraction(1)}
    for (one, slope), (other, slope2) in combinations(lines, 2):
        if slope != slope2:
            candidates.add((other - one) / (slope - slope2))
    return min(max(abs(a - k * b) for a, b in pairs) for k in candidates if k >= 0)


def skew_delta(game: Game, player: int, one: Part, other: Part) -> tuple[Fraction, Fraction] | None:
    """The smallest δ of definition 3 for an ordered pair, and l; None if (ii) to (iv) cannot be met."""
    best: tuple[Fraction, Fraction] | None = None
    for matching in bijections(below(game, player, one), below(game, player, other), structural(player)):
        ell = chances_fit(matching)
        if ell is not None:
            gap = least_gap([(z.utilities[player], image.utilities[player]) for (z, _), (image, _) in matching])
            best = (gap, ell) if best is None else min(best, (gap, ell))
    return best


def is_skew(game: Game, player: int) -> tuple[Fraction, Fraction] | None:
    """The largest δ, and the sum of (number of parts) · max δ·l; None if the game is not skew well-formed."""
    if is_absent_minded(game, player):
        return None
    worst = error = Fraction(0)
    for found in parts(game, player).values():
        largest = Fraction(0)
        for one, other in permutations(found, 2):
            pair = skew_delta(game, player, one, other)
            if pair is None or skew_delta(game, player, other, one) is None:
                return None
            worst = max(worst, pair[0])
            largest = max(largest, pair[0] * pair[1])
        error += len(found) * largest
    return worst, error


def is_chance_relaxed(game: Game, player: int) -> bool:
    """Only (iii) and (iv)."""
    return not is_absent_minded(game, player) and all(
        any(True for _ in bijections(below(game, player, one), below(game, player, other), structural(player)))
        for one, other in ordered_pairs(game, player)
    )


def part_chance(game: Game, player: int, part: Part) -> Fraction:
    """C(I) = sum over the histories of the part of chance's probability."""
    reach = {leaf.history[:place]: leaf.chance(0, place) for leaf, place in below(game, player, part)}
    return sum(reach.values(), Fraction(0))


def least_errors(game: Game, player: int, one: Part, other: Part, k: Fraction) -> tuple[Fraction, Fraction]:
    """The smallest possible max ε^R over all k and α, and the smallest max ε^R + W (ε^C + ε^D) for the given k."""
    first, second = below(game, player, one), below(game, player, other)
    totals = [part_chance(game, player, part) or Fraction(1) for part in (one, other)]  # chance may never come
    weight = max(abs(leaf.utilities[player]) for leaf, _ in first + second)
    rewards, combined = [], []
    for matching in bijections(first, second, structural(player)):
        rewards.append(least_gap([(z.utilities[player], image.utilities[player]) for (z, _), (image, _) in matching]))
        combined.append(
            max(
                abs(z.utilities[player] - k * image.utilities[player])
                + weight * abs(z.chance(at) - image.chance(there))
                + weight * abs(z.chance(0, at) / totals[0] - image.chance(0, there) / totals[1])
                for (z, at), (image, there) in matching
            )
        )
    return min(rewards), min(combined)


def is_nearly(game: Game, player: int, keep_actions: bool = True) -> bool:
    """Definition 4: all ψ and ω are tried; ``keep_actions`` is our demand that ω keeps the actions of the set."""
    return not is_absent_minded(game, player) and all(
        _alike(game, player, one, other, keep_actions) for one, other in ordered_pairs(game, player)
    )


def _alike(game: Game, player: int, one: Part, other: Part, keep_actions: bool) -> bool:
    first, second = below(game, player, one), below(game, player, other)
    actions: tuple[dict[Hashable, dict[str, None]], ...] = ({}, {})
    for side, members in enumerate((first, second)):
        for leaf, place in members:
            for key, action in leaf.future(player, place):
                actions[side].setdefault(key, {})[action] = None
    if len(actions[0]) != len(actions[1]):
        return False
    for images in permutations(actions[1]):
        psi = dict(zip(actions[0], images, strict=True))
        if any(len(actions[0][key]) != len(actions[1][image]) for key, image in psi.items()):
            continue
        orders = [
            [tuple(actions[1][psi[key]])] if key == one[0] and keep_actions else permutations(actions[1][psi[key]])
            for key in actions[0]
        ]
        for chosen in product(*orders):
            omega = {
                (key, a): (psi[key], b)
                for key, order in zip(actions[0], chosen, strict=True)
                for a, b in zip(actions[0][key], order, strict=True)
            }
            if _matched(player, first, second, omega):
                return True
    return False


def _matched(player: int, first: Side, second: Side, omega: dict[tuple[Hashable, str], tuple[Hashable, str]]) -> bool:
    def signature(leaf: Leaf, place: int, side: int) -> Any:
        future = leaf.future(player, place)
        return leaf.others(player), tuple(omega[pair] for pair in future) if side == 0 else future

    return any(
        chances_fit(matching) is not None
        and utilities_fit(matching, player) is not None
        and utilities_fit([(b, a) for a, b in matching], player) is not None
        for matching in bijections(first, second, signature)
    )
