"""Plain-Python twin of the kernel that plays deals: the same random numbers, on the states of a game."""

from __future__ import annotations

from collections.abc import Sequence

from counterplay.game.game import CHANCE, TERMINAL, Game
from tests.reference.walks import Profile

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


def alias_table(chances: Sequence[float]) -> tuple[list[float], list[int]]:
    """Walker's alias table: column k stands for k up to a threshold, and for its alias above it."""
    mean = sum(chances) / len(chances)
    share = [chance / mean for chance in chances]
    threshold, alias = [1.0] * len(chances), list(range(len(chances)))
    small = [k for k, value in enumerate(share) if value < 1.0]
    large = [k for k, value in enumerate(share) if value >= 1.0]
    while small and large:
        low, high = small.pop(), large[-1]
        threshold[low], alias[low] = share[low], high
        share[high] -= 1.0 - share[low]
        if share[high] < 1.0:
            small.append(large.pop())
    return threshold, alias


def play_deal(
    game: Game, profiles: Sequence[Profile], seatings: Sequence[Sequence[int]], seeds: tuple[int, int], index: int,
    noted: list[tuple[int, int, str, str]] | None = None,
) -> list[float]:  # fmt: skip
    """What each agent wins in one deal, mean over seatings; agent, player, infoset and action are ``noted``."""
    chance, play = Stream(seeds[0], index), Stream(seeds[1], index)
    dice: list[float] = []
    won = [0.0] * len(profiles)
    for seating in seatings:
        state, events = game.root(), 0
        while state.player != TERMINAL:
            if state.player == CHANCE:
                if events == len(dice):
                    dice.append(chance.draw())
                outcomes, chances = zip(*state.chance(), strict=True)
                threshold, alias = alias_table(chances)
                column = int(dice[events] * len(outcomes))
                inside = dice[events] * len(outcomes) - column < threshold[column]
                state = state.child(outcomes[column if inside else alias[column]])
                events += 1
            else:
                row = profiles[seating[state.player]][state.player, state.infoset()]
                left, pick = play.draw() * sum(row.values()), next(iter(row))
                for action, probability in row.items():
                    if probability > 0.0 and left >= 0.0:
                        pick, left = action, left - probability
                if noted is not None:
                    noted.append((seating[state.player], state.player, str(state.infoset()), str(pick)))
                state = state.child(pick)
        for position, value in enumerate(state.utilities()):
            won[seating[position]] += value
    return [value / len(seatings) for value in won]
