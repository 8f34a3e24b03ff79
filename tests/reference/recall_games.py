"""Games for the checkers of recall: random ones in which every class occurs, and die-roll poker of any size.

A random game is either a tree with its information sets merged at random, or copies of one random future below
different pasts, each copy changed a little: utilities scaled or shifted, chances changed, moves seen or forgotten.
"""

from __future__ import annotations

import random
from itertools import product

from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.game.game import Game


def random_game(seed: int) -> Game:
    """A small game; its classes are a matter of luck."""
    draw = random.Random(seed)
    if seed % 3:
        return ExplicitGame(_copies(draw), players=2, name=f"random {seed}")
    players = 3 if seed % 4 == 0 else 2
    return ExplicitGame(_merged_at_random(draw, players), players=players, name=f"random {seed}")


def _merged_at_random(draw: random.Random, players: int) -> Node:
    """A tree of at most four moves; keys are drawn from a few."""
    use_chance = draw.random() < 0.5
    keys = draw.choice([1, 2, 3])

    def node(depth: int) -> Node:
        if depth == 0 or (depth < 3 and draw.random() < 0.3):
            return terminal(*(draw.choice([-1, 0, 1, 2]) for _ in range(players)))
        kind = draw.random()
        if use_chance and kind < 0.3:
            p = draw.choice([0.5, 0.25])
            return chance({"x": (p, node(depth - 1)), "y": (1 - p, node(depth - 1))})
        player = 0 if kind < 0.75 else draw.randrange(1, players)
        return decision(player, f"K{draw.randrange(keys)}", {a: node(depth - 1) for a in "lr"})

    return node(draw.choice([3, 4]))


def _copies(draw: random.Random) -> Node:
    """Two or three copies of a future, after chance or an own choice."""
    depth = draw.choice([0, 1, 1, 2])
    future = _future(draw, depth)
    style = draw.choice(["alike", "alike", "scaled", "shifted", "uneven", "seen", "recalled", "mixed", "any"])
    count = draw.choice([2, 2, 3])
    copies = []
    for number in range(count):
        does = draw.choice(["scaled", "shifted", "uneven", "seen", "recalled"]) if style == "any" else style
        copies.append(_copy(draw, future, number, does))
    start = draw.choice(["chance", "chance and choice", "chance and choice", "choice", "choice", "choice", "again"])
    names = "abc"[:count]
    if start == "choice":
        return decision(0, "R", dict(zip(names, copies, strict=True)))
    if start == "again":  # the forgotten choice is made in the set itself: absent-minded
        return decision(0, draw.choice(["I", "R"]), {"l": copies[0], "r": copies[1]})
    weights = draw.choice([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]]) if count == 2 else [0.25, 0.25, 0.5]
    branches: dict[object, tuple[float, Node]] = {}
    for number, copy in enumerate(copies):
        inside: Node = decision(0, f"J{number}", {"m": copy})
        if start == "chance and choice":
            key = draw.choice(["J", f"J{number}", f"J{number}"])
            inside = decision(0, key, {"m": copy, "out": terminal(draw.choice([0, 1]), 0)})
        branches[names[number]] = (weights[number], inside)
    return chance(branches)


Future = tuple  # nested: ("own" | "other" | "chance" | "end", ...)


def _future(draw: random.Random, depth: int) -> Future:
    def node(left: int, name: str) -> Future:
        if left == 0:
            return ("end", draw.choice([-1, 1, 2]) if draw.random() < 0.8 else 0)
        kind = draw.choice(["own", "other", "chance"])
        return (kind, name, node(left - 1, name + "l"), node(left - draw.choice([1, 1, left]), name + "r"))

    return ("own", "", node(depth, "l"), node(depth, "r"))


def _copy(draw: random.Random, future: Future, number: int, style: str) -> Node:
    factor = draw.choice([1, 2, 0.5]) if style == "scaled" else 1
    flip = style in ("recalled", "mixed") and draw.random() < 0.4

    def node(what: Future) -> Node:
        if what[0] == "end":
            utility = what[1] * factor
            if style in ("shifted", "mixed") and draw.random() < 0.3:
                utility += draw.choice([-1, 0.5, 1])
            return terminal(utility, -utility)
        kind, name, left, right = what
        if kind == "chance":
            p = draw.choice([0.5, 0.25, 0.25, 0.0]) if style in ("uneven", "mixed") else 0.5
            return chance({"x": (p, node(left)), "y": (1 - p, node(right))})
        if kind == "other":
            seen = str(number) if style == "seen" and draw.random() < 0.5 else ""
            return decision(1, f"O{name}{seen}", {"l": node(left), "r": node(right)})
        if not name:
            return decision(0, "I", {"l": node(left), "r": node(right)})
        again = str(number) if style in ("recalled", "mixed") else ""
        if flip:
            left, right = right, left
        return decision(0, f"I{name}{again}", {"l": node(left), "r": node(right)})

    return node(future)


def die_roll_poker(
    sides: int = 2,
    rounds: int = 2,
    raises: int = 1,
    sizes: tuple[int, ...] = (2, 4, 4),
    forget: bool = True,
    skew: float = 0.0,
    opening_fold: bool = False,
) -> Game:
    """Die-roll poker (Lanctot et al. 2012, sections 3 and 5.2, appendix B); the sum decides, ties pay nothing.

    With ``forget`` a player in the second round knows the sum of the own two dice only; in a third round all dice are
    known again.  ``skew`` pays the first player that share of the pot when the second die is even, at a showdown.
    """

    def end(paid: tuple[int, int], winner: int | None, bonus: float = 0.0) -> Node:
        base = 0 if winner is None else paid[1] if winner == 0 else -paid[0]
        return terminal(base + bonus, -base - bonus)

    def roll(turn: int, dice: tuple[tuple[int, ...], ...], betting: str, paid: tuple[int, int]) -> Node:
        if turn == rounds:
            totals = [sum(own) for own in dice]
            winner = None if totals[0] == totals[1] else int(totals[1] > totals[0])
            return end(paid, winner, skew * sum(paid) if dice[0][1] % 2 == 0 else 0.0)
        faces = range(1, sides + 1)
        share = 1.0 / sides**2
        return chance(
            {
                f"{a}{b}": (share, bet(turn, ((*dice[0], a), (*dice[1], b)), betting + "/", "", paid, 0))
                for a, b in product(faces, faces)
            }
        )

    def bet(
        turn: int, dice: tuple[tuple[int, ...], ...], past: str, now: str, paid: tuple[int, int], made: int
    ) -> Node:
        mover = len(now) % 2
        own = dice[mover]
        known = f"sum {sum(own)}" if forget and turn == 1 else "".join(map(str, own))
        level = max(paid)
        owes = paid[mover] < level
        after_call = (level, level)
        called = roll(turn + 1, dice, past + now + "c", after_call) if now else None
        branches: dict[object, Node] = {}
        if owes or (opening_fold and turn == 0 and not now):
            branches["f"] = end(paid, 1 - mover)
        branches["c"] = called if called is not None else bet(turn, dice, past, "c", paid, made)
        if made < raises:
            raised = level + sizes[turn]
            new = (raised, paid[1]) if mover == 0 else (paid[0], raised)
            branches["r"] = bet(turn, dice, past, now + "r", new, made + 1)
        return decision(mover, f"{known}:{past}{now}", branches)

    return ExplicitGame(roll(0, ((), ()), "", (1, 1)), players=2, name="die-roll poker")


def bluff(sides: int, recall: int) -> Game:
    """Bluff with one die each; players remember the last bids only (Lanctot et al. 2012, section 6).

    The highest face is wild; a bid is (quantity, face), and the next one must be higher.
    """
    bids = [(quantity, face) for quantity in (1, 2) for face in range(1, sides + 1)]

    def called(dice: tuple[int, int], made: tuple[int, ...]) -> Node:
        quantity, face = bids[made[-1]]
        bidder = (len(made) - 1) % 2
        winner = bidder if sum(die in (face, sides) for die in dice) >= quantity else 1 - bidder
        return terminal(1, -1) if winner == 0 else terminal(-1, 1)

    def bid(dice: tuple[int, int], made: tuple[int, ...]) -> Node:
        mover = len(made) % 2
        higher = range(made[-1] + 1 if made else 0, len(bids))
        branches: dict[object, Node] = {number: bid(dice, (*made, number)) for number in higher}
        if made:
            branches["bluff"] = called(dice, made)
        return decision(mover, f"{dice[mover]}:{made[-recall:]}", branches)

    faces = range(1, sides + 1)
    return ExplicitGame(
        chance({f"{a}{b}": (1.0 / sides**2, bid((a, b), ())) for a, b in product(faces, faces)}), name="bluff"
    )


def deadlock(xi: float) -> Game:
    """Lanctot et al. 2012, figure 2: player 1 forgets which of two pairs of deals it was, player 2 sees everything."""

    def end(utility: float) -> Node:
        return terminal(utility, -utility)

    def deal(name: str, first_set: str, passed: float, left: float) -> Node:
        last = decision(0, "I3", {"l": end(left), "r": end(-left)})
        return decision(0, first_set, {"p": end(0), "c": decision(1, name, {"p": end(passed), "c": last})})

    deals = {"a": ("I1", -xi, -1), "b": ("I1", xi, 1), "d": ("I2", xi, -1), "e": ("I2", -xi, 1)}
    return ExplicitGame(chance({name: (0.25, deal(name, *rest)) for name, rest in deals.items()}), name="deadlock")


def forgotten_lever(p: float) -> Game:
    """Gibson 2014, figure 6.2b: the own first move decides about the odds of an unseen coin, and is forgotten."""

    def guess(left: float) -> Node:
        return decision(0, "J2", {"l": terminal(left), "r": terminal(-left)})

    def coin(odds: float) -> Node:
        return chance({"x": (odds, guess(1)), "y": (1 - odds, guess(-1))})

    return ExplicitGame(decision(0, "J1", {"l": coin(p), "r": coin(1 - p)}), name="forgotten lever")


def forgotten_choice() -> Game:
    """Gibson 2014, figure 2.3 (Koller and Megiddo): player 2 forgets the first of two choices."""

    def second(c: float, d: float) -> Node:
        return decision(1, "J", {"c": terminal(-c, c), "d": terminal(-d, d)})

    first = {"A": {"a": second(4, 0), "b": second(0, 0)}, "B": {"a": second(0, 0), "b": second(0, 4)}}
    return ExplicitGame(
        decision(0, "root", {move: decision(1, "I", after) for move, after in first.items()}), name="forgotten choice"
    )
