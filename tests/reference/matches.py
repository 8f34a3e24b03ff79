"""Plain-Python twin of the kernel that plays deals: the same random numbers, on lists."""

from __future__ import annotations

from collections.abc import Sequence

from counterplay.game.game import CHANCE, TERMINAL
from counterplay.kernels.history.walks import alias_table
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree

WORD = 2**64
GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class Stream:
    """The random numbers of one deal: SplitMix64 from a state that follows from a seed and the index of the deal."""

    def __init__(self, seed: int, index: int) -> None:
        now = seed ^ (index + 1) * MIX_2 % WORD
        now = (now ^ now >> 30) * MIX_1 % WORD
        now = (now ^ now >> 27) * GOLDEN % WORD
        self.state = now ^ now >> 31

    def draw(self) -> float:
        self.state = (self.state + GOLDEN) % WORD
        now = (self.state ^ self.state >> 30) * MIX_1 % WORD
        now = (now ^ now >> 27) * MIX_2 % WORD
        now ^= now >> 31
        return (now >> 11) / 2**53


def play_deal(
    tree: GameTree,
    profiles: Sequence[TabularStrategy],
    seatings: Sequence[Sequence[int]],
    seeds: tuple[int, int],
    index: int,
) -> list[float]:
    """What each agent wins in one deal, mean over seatings."""
    chance, play = Stream(seeds[0], index), Stream(seeds[1], index)
    dice: list[float] = []
    won = [0.0] * len(profiles)
    for seating in seatings:
        node, events = 0, 0
        while tree.player[node] != TERMINAL:
            first, count = int(tree.first_child[node]), int(tree.num_children[node])
            if tree.player[node] == CHANCE:
                if events == len(dice):
                    dice.append(chance.draw())
                threshold, alias = alias_table(tree.chance_prob[first : first + count])
                column = int(dice[events] * count)
                pick = column if dice[events] * count - column < threshold[column] else int(alias[column])
                events += 1
            else:
                row = int(tree.infoset_offset[tree.infoset[node]])
                chances = profiles[seating[tree.player[node]]].probabilities[row : row + count].tolist()
                left, pick = play.draw() * sum(chances), 0
                for action, probability in enumerate(chances):
                    if probability > 0.0 and left >= 0.0:
                        pick, left = action, left - probability
            node = first + pick
        for position, value in enumerate(tree.utility[tree.outcome[node]].tolist()):
            won[seating[position]] += value
    return [value / len(seatings) for value in won]
