"""From the real betting to a betting tree with fewer raises, and back: action translation for no-limit games.

An opponent may raise by an amount that the betting abstraction does not have.  Such a raise is translated to one of the
two abstract raises around it (Gibson 2014, sections 2.4 and 5.6, after Schnizlein, Bowling and Szafron 2009).  With L
and U the sizes around x, geometric similarity is

    S_L = (L/x - L/U) / (1 - L/U)        S_U = (x/U - L/U) / (1 - L/U)

``probabilistic`` takes L with probability S_L / (S_L + S_U), ``nearest`` the more similar of the two, L if they are
equal.  Sizes are multiples of the pot after the call, so that they can also be compared after earlier raises have been
translated; the source does not give their unit.

Raises are translated to raises and calls to calls, so that rounds agree.  They can diverge only at the end of a stack:
where an abstract raise is all-in and the real one is not, the abstract hand may be over before the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from counterplay.errors import StrategyError
from counterplay.poker.betting import CALL, FOLD, BettingTree
from counterplay.poker.rules import Betting

Rule: TypeAlias = Literal["nearest", "probabilistic"]
RULES = ("nearest", "probabilistic")


def translate_size(size: float, sizes: Sequence[float], rule: Rule) -> list[tuple[int, float]]:
    """The translation of a size to the ascending ``sizes``: indices with their probabilities.

    >>> translate_size(1.5, [1.0, 3.0], "probabilistic")
    [(0, 0.6666666666666666), (1, 0.33333333333333337)]
    >>> translate_size(0.2, [1.0, 3.0], "nearest")
    [(0, 1.0)]
    """
    if rule not in RULES:
        raise StrategyError(f"raises are translated by the rule {' or '.join(RULES)}; got {rule!r}")
    upper = next((place for place, other in enumerate(sizes) if other >= size), len(sizes))
    if upper == len(sizes) or upper == 0 or sizes[upper] == size:
        return [(min(upper, len(sizes) - 1), 1.0)]
    low, high = sizes[upper - 1], sizes[upper]
    spread = 1.0 - low / high
    lower_share, upper_share = (low / size - low / high) / spread, (size / high - low / high) / spread
    if rule == "nearest":
        return [(upper - 1 if lower_share >= upper_share else upper, 1.0)]
    share = lower_share / (lower_share + upper_share)
    return [(upper - 1, share), (upper, 1.0 - share)]


def translated_node(
    tree: BettingTree, betting: Betting, rule: Rule, uniform: Callable[[str], float] = lambda _: 0.0
) -> int | None:
    """The node of a betting tree to which a betting is translated; None where the abstract hand has diverged from it.

    ``uniform`` gives a number in [0, 1) for a betting string, with which the probabilistic rule chooses; it must be the
    same for the same string throughout a hand, so that a raise is always translated equally.
    """
    node = translated_path(tree, betting, rule, uniform)[-1]
    if node is None:
        return None
    together = tree.player[node] == betting.player and (betting.finished or tree.round[node] == betting.round)
    return node if together else None


def translated_path(
    tree: BettingTree, betting: Betting, rule: Rule, uniform: Callable[[str], float] = lambda _: 0.0
) -> list[int | None]:
    """The nodes of a betting tree to which a betting is translated, from the start to its last action.

    Each is a child of the one before it, and None from the first action after the hands have diverged: where it is not
    the same player's turn in the same round.
    """
    path: list[int | None] = [0]
    node: int | None = 0
    real = Betting.start(betting.game)
    for action in (action for actions in betting.actions for action in actions):
        if node is not None and (tree.player[node], tree.round[node]) != (real.player, real.round):
            node = None
        node = None if node is None else _child(tree, node, real, action, rule, uniform)
        path.append(node)
        real = real.act(action)
    return path


def _child(
    tree: BettingTree, node: int, real: Betting, action: str, rule: Rule, uniform: Callable[[str], float]
) -> int | None:
    children = tree.children(node)
    plain = {"f": FOLD, "c": CALL}.get(action)
    if plain is not None:
        return next((child for child in children if tree.action[child] == plain), None)
    raises = [child for child in children if tree.action[child] > 0]
    if not raises or real.game.limit:
        return raises[0] if raises else None
    to = int(action[1:])
    if tuple(tree.spent[node].tolist()) == real.spent:
        same = next((child for child in raises if tree.action[child] == to), None)
        if same is not None:
            return same
    sizes = [_size_in_pots(tree, node, int(tree.action[child])) for child in raises]
    size = (to - real.max_spent) / (real.pot + real.max_spent - real.spent[real.player])
    options = translate_size(size, sizes, rule)
    if len(options) == 1 or uniform(f"{real.text()}{action}") < options[0][1]:
        return raises[options[0][0]]
    return raises[options[1][0]]


def _size_in_pots(tree: BettingTree, node: int, to: int) -> float:
    """A raise in pots: what it adds to the call, over the pot after the call."""
    spent: list[int] = tree.spent[node].tolist()
    most = max(spent)
    return (to - most) / (sum(spent) + most - spent[int(tree.player[node])])


def real_action(tree: BettingTree, node: int, child: int, betting: Betting) -> str:
    """The real action of an abstract one: a raise by the same fraction of the real pot as of the abstract one.

    An illegal action becomes the nearest legal one; an abstract all-in is a real one.
    """
    action = int(tree.action[child])
    if action <= 0 or betting.game.limit:
        return betting.nearest_legal({FOLD: "f", CALL: "c"}.get(action, "r"))
    player = betting.player
    stack = betting.game.stacks[player]
    if tuple(tree.spent[node].tolist()) == betting.spent or action >= stack:
        return betting.nearest_legal(f"r{action}")
    owed = betting.max_spent - betting.spent[player]
    pots = _size_in_pots(tree, node, action)
    return betting.nearest_legal(f"r{betting.max_spent + int(pots * (betting.pot + owed) + 1e-9)}")
