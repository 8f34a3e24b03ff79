"""The rounds of Bluff, last round first: the value of each round is the payoff of the previous round.

Lanctot et al. 2012, section 6, and Johanson 2016, section 3.2.3, solve Bluff(1,1), put its value at the leaves of
Bluff(2,1), and the value of that game at the leaves of Bluff(2,2).  Here for any dice.  Let V(a,b) be the value to the
player who opens with a dice against b.  An opener who wins the round opens the next with a dice against b - 1, which is
worth V(a,b-1); an opener who loses it faces an opener with b dice against a - 1, which is worth -V(b,a-1); a player
without dice has lost the game.

A round has only two results, so it is the round with payoffs 1 and -1, scaled and shifted, with the same equilibria.
"""

from __future__ import annotations

import dataclasses

from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.games.bluff import Bluff
from counterplay.runs import solve
from counterplay.strategy.strategy import Strategy


@dataclasses.dataclass(frozen=True)
class SolvedRound:
    """One round of the chain: its payoffs are the values of the rounds that may follow, its value is what the game is
    worth to the player who opens it, and exploitability is that of the strategy in this round, in points of the game.
    """

    game: Bluff
    value: float
    exploitability: float
    profile: Strategy
    infosets: int


def solve_rounds(
    d1: int, d2: int, sides: int = 6, *, exploitability: float = 1e-3, algorithm: str = "cfr+", threads: int = 1
) -> dict[tuple[int, int], SolvedRound]:
    """Solve every round that can occur from ``d1`` dice against ``d2``, small ones first.

    Parameters
    ----------
    d1, d2 : int
        Dice of the opener and of the other player.
    sides : int
        Faces of a die.
    exploitability : float
        Each round is solved until it is no more exploitable than this.
    algorithm : str
        One of ``counterplay.ALGORITHMS``.
    threads : int
        Threads on public trees.

    Returns
    -------
    dict of (int, int) to SolvedRound
        By the dice of the opener and of the other player, in the order in which they were solved.
    """
    solved: dict[tuple[int, int], SolvedRound] = {}

    def value(opener: int, other: int) -> float:
        """V(opener, other), solving what has not been solved yet."""
        if other == 0:
            return 1.0
        if (opener, other) not in solved:
            won = value(opener, other - 1)
            lost = -value(other, opener - 1)
            game = Bluff(opener, other, sides, lost=lost, won=won)
            result = solve(game, algorithm, exploitability=exploitability, representation="public", threads=threads)
            if result.status == "interrupted":
                raise KeyboardInterrupt
            solved[opener, other] = SolvedRound(
                game, result.value[0], result.exploitability, result.profile, result.information_sets
            )
        return solved[opener, other].value

    with keeping_rows():
        value(d1, d2)
    return solved


COMPUTED = {(1, 1): -7 / 258, (2, 1): 0.61652}
"""Values of rounds with six faces by the dice of the opener and of the other player, computed independently."""


def run(
    quick: bool = False, dice: int = 2, sides: int = 6, exploitability: float = 1e-3, threads: int = 1
) -> Experiment:
    """Solve all rounds from a number of dice each.

    Parameters
    ----------
    quick : bool
        Dice of three faces.
    dice, sides : int
        Dice of each player, and faces of a die; two dice with six faces each take 8 GB.
    exploitability : float
        Each round is solved until it is no more exploitable than this.
    threads : int
        Threads of CFR+.
    """
    faces = 3 if quick else sides
    solved = solve_rounds(dice, dice, faces, exploitability=exploitability, threads=threads)
    rows: list[tuple[Cell, ...]] = [
        (f"{opener} against {other}", one.infosets, one.game.lost, one.game.won,
         COMPUTED.get((opener, other)) if faces == 6 else None, round(one.value, 6), one.exploitability)
        for (opener, other), one in solved.items()
    ]  # fmt: skip
    return Experiment(
        title="Rounds of Bluff, each played for the values of those that may follow",
        source="Johanson 2016, section 3.2.3; Lanctot et al. 2012, section 6",
        columns=("dice", "information sets", "lost", "won", "computed independently", "value", "exploitability"),
        rows=tuple(rows),
        notes=("The value is to the player who opens the round; 1 is the game won and -1 the game lost.",),
    )
