"""Parts of a game by its betting, on histories one at a time (Gibson 2014, sections 2.4.1 and 7.1 to 7.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from counterplay.game.game import CHANCE, Game, State
from tests.reference.walks import Action, InfosetId, Profile, walk

LETTERS = {"check": "k", "call": "c", "bet": "b", "raise": "r", "fold": "f"}


def decisions(game: Game) -> list[tuple[str, tuple[Action, ...], State]]:
    """Every decision h with d(h), the players' actions as letters, and all moves that lead to it."""
    found = []

    def below(state, letters, moves):  # type: ignore[no-untyped-def]
        if state.player == CHANCE:
            for outcome, _ in state.chance():
                below(state.child(outcome), letters, (*moves, outcome))
        elif state.player >= 0:
            found.append((letters, moves, state))
            for action in state.actions():
                below(state.child(action), letters + LETTERS.get(action, action), (*moves, action))

    below(game.root(), "", ())
    return found


def part_at(letters: str, player: int, parts: Sequence[tuple[Sequence[str], Sequence[int]]]) -> int:
    """The part 1, 2, ... of a player's decision, 0 for none; ``parts`` are sequences and players."""
    for number, (sequences, players) in enumerate(parts, 1):
        if player in players and any(letters.startswith(d.replace("/", "")) for d in sequences):
            return number
    return 0


def violated(game: Game, part: Callable[[str, int], int]) -> int | None:
    """Which condition of definition 2.7 is violated, by the part of each betting and player; None if none is."""
    found = decisions(game)
    parts: dict[InfosetId, int] = {}
    for letters, _, state in found:
        key = state.player, state.infoset()
        if parts.setdefault(key, part(letters, state.player)) != part(letters, state.player):
            return 2
    for letters, moves, state in found:
        for later, more, other in found:
            if other.player == state.player and len(more) > len(moves) and more[: len(moves)] == moves:
                before, after = part(letters, state.player), part(later, state.player)
                if before > 0 and after not in (0, before):
                    return 3
    return None


def stitched(game: Game, base: Profile, experts: Sequence[Profile], part: Callable[[str, int], int]) -> Profile:
    """Definition 7.1: the base in part 0, expert j in part j."""
    found: Profile = {}
    for letters, _, state in decisions(game):
        key = state.player, state.infoset()
        found[key] = (base, *experts)[part(letters, state.player)][key]
    return found


def remaining_infosets(game: Game, solved: Callable[[str, int], bool]) -> set[InfosetId]:
    """The information sets at which players still choose where all other decisions are chance."""
    return {(state.player, state.infoset()) for letters, _, state in decisions(game) if solved(letters, state.player)}


def values_with_fixed(
    game: Game, base: Profile, chosen: Profile, solved: Callable[[str, int], bool]
) -> tuple[float, ...]:
    """What players win where they play ``chosen`` at some decisions and the base at the others."""
    mixed = {}
    for letters, _, state in decisions(game):
        key = state.player, state.infoset()
        mixed[key] = (chosen if solved(letters, state.player) else base)[key]
    total = [0.0] * game.players
    for visit in walk(game, mixed):
        if visit.state.player < CHANCE:
            reach = visit.chance
            for own in visit.reach:
                reach *= own
            for player, won in enumerate(visit.state.utilities()):
                total[player] += reach * won
    return tuple(total)
