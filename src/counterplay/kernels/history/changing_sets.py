"""A partition of information sets that changes while a solver runs: lookup, splitting, sampling.

The game stays as it was compiled.  What changes is ``entry_map``, the indirection from a real entry to an entry of the
abstract tables, and a few arrays beside it (``SetArrays``).  Every abstract set owns a run of table entries and a run
of ``member``; splitting swaps the members that leave to the end of the run and gives that end to a new set, so a split
costs as much as what leaves.  Sets never vanish and each has a member, so tables as long as the real game's always
suffice.

Sources: refinement as a change of Φ, Čermák 2018, sections 5.2.2 and 5.2.3; sampling, algorithm 10 and equations
5.5 and 5.7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.kernels.history.passes import FormArrays
from counterplay.kernels.jit import apart, inlined, shared
from counterplay.kernels.numba_internals import held


class SetArrays(NamedTuple):
    """The abstract sets.  I real information sets, E real entries, n players; sets are numbered as they are made.

    ``set_of`` (I,) int32 the abstract set of each information set; ``entry_map`` (E,) uint32 the abstract entry of each
    real one; ``entry`` (I,) int32 the first abstract entry of a set; ``actions`` (I,) int32; ``owner`` (I,) int8 the
    player; ``start``, ``size`` (I,) int32 the run of a set in ``member`` (I,) int32; ``position`` (I,) int32 the place
    of an information set in ``member``; ``pool`` (I,) int32 by player, from ``player_infosets``: the sets that may be
    sampled; ``pool_place`` (I,) int32 the place of a set in it, -1 outside; ``pool_size`` (n,) int64; ``totals`` (2,)
    int64 numbers of sets and of abstract entries.
    """

    set_of: np.ndarray
    entry_map: np.ndarray
    entry: np.ndarray
    actions: np.ndarray
    owner: np.ndarray
    start: np.ndarray
    size: np.ndarray
    member: np.ndarray
    position: np.ndarray
    pool: np.ndarray
    pool_place: np.ndarray
    pool_size: np.ndarray
    totals: np.ndarray


class GameArrays(NamedTuple):
    """What the updates read of the game besides its sequence form.

    ``offset`` (I+1,) int64 infoset_offset; ``player_infosets`` (n+1,) int64; ``decision_of`` (I,) int32 the decision
    point of an information set, ``infoset_of`` (D,) int32 the way back; the histories of information set I are
    ``history_start[I] .. history_start[I+1] - 1`` with ``history_others`` (H', n-1) int32 the others' sequences and
    ``history_chance`` (H',) float64 the probability of chance.
    """

    offset: np.ndarray
    player_infosets: np.ndarray
    decision_of: np.ndarray
    infoset_of: np.ndarray
    history_start: np.ndarray
    history_others: np.ndarray
    history_chance: np.ndarray


@inlined
def next_random(state: np.ndarray, bound: int) -> np.int64:
    """An integer below ``bound`` and the next state (1,) uint64 (splitmix64: Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed = mixed ^ (mixed >> np.uint64(31))
    return np.int64(mixed % np.uint64(bound))


@inlined
def swap_members(sets: SetArrays, one: int, other: int) -> None:
    """Exchange two places of ``member``."""
    first, second = sets.member[one], sets.member[other]
    sets.member[one], sets.member[other] = second, first
    sets.position[first], sets.position[second] = other, one


@apart
def open_set(
    sets: SetArrays,  # IN OUT
    old: int,  # IN  the set that members will leave
) -> int:
    """A new set without members, with table entries of its own."""
    new = int(sets.totals[0])
    sets.totals[0] += 1
    sets.entry[new] = sets.totals[1]
    sets.totals[1] += sets.actions[old]
    sets.actions[new] = sets.actions[old]
    sets.owner[new] = sets.owner[old]
    sets.size[new] = 0
    sets.start[new] = sets.start[old] + sets.size[old]
    sets.pool_place[new] = -1
    return new


@apart
def move_member(
    sets: SetArrays,  # IN OUT
    offset: np.ndarray,  # IN  (I+1,) int64: infoset_offset
    infoset: int,  # IN  the information set that moves
    new: int,  # IN  the set last opened from the one it is in
) -> None:
    """Move an information set from its abstract set to one opened from that set, with its actions in their places."""
    old = sets.set_of[infoset]
    last = sets.start[old] + sets.size[old] - 1
    swap_members(sets, sets.position[infoset], last)
    sets.size[old] -= 1
    sets.start[new] = last
    sets.size[new] += 1
    sets.set_of[infoset] = new
    shift = np.int64(sets.entry[new]) - np.int64(sets.entry[old])
    for entry in range(offset[infoset], offset[infoset + 1]):
        sets.entry_map[entry] = np.int64(sets.entry_map[entry]) + shift


@shared
def update_pool(
    sets: SetArrays,  # IN OUT
    player_infosets: np.ndarray,  # IN  (n+1,) int64
    least_actions: int,  # IN  sets with fewer actions are never sampled
    changed: int,  # IN  a set whose members changed
) -> None:
    """Let a set be sampled if it can still be split, and no longer if it cannot."""
    player = sets.owner[changed]
    first = player_infosets[player]
    splits = sets.size[changed] > 1 and sets.actions[changed] >= least_actions
    place = sets.pool_place[changed]
    if splits and place < 0:
        end = first + sets.pool_size[player]
        sets.pool[end] = changed
        sets.pool_place[changed] = end
        sets.pool_size[player] += 1
    elif not splits and place >= 0:
        sets.pool_size[player] -= 1
        moved = sets.pool[first + sets.pool_size[player]]
        sets.pool[place] = moved
        sets.pool_place[moved] = place
        sets.pool_place[changed] = -1


@shared
def sample_by_set(
    sets: SetArrays,  # IN OUT: the order inside pools and runs changes
    player_infosets: np.ndarray,  # IN  (n+1,) int64
    low: int,  # IN  first player
    high: int,  # IN  last player + 1
    wanted: int,  # IN  how many information sets
    random: np.ndarray,  # IN OUT (1,) uint64
    drawn: np.ndarray,  # scratch (n,) int64
    sample: np.ndarray,  # OUT information sets, those of one abstract set together
) -> int:
    """Draw abstract sets, each as likely as the others, with all members, the last with as many as still fit."""
    sets = held(sets)
    total = 0
    for player in range(low, high):
        drawn[player] = 0
        total += sets.pool_size[player]
    count = 0
    while count < wanted and total > 0:
        ticket = next_random(random, total)
        player = low
        while ticket >= sets.pool_size[player] - drawn[player]:
            ticket -= sets.pool_size[player] - drawn[player]
            player += 1
        place = player_infosets[player] + drawn[player]
        chosen, passed = sets.pool[place + ticket], sets.pool[place]
        sets.pool[place], sets.pool[place + ticket] = chosen, passed
        sets.pool_place[passed], sets.pool_place[chosen] = place + ticket, place
        drawn[player] += 1
        total -= 1
        start, size = sets.start[chosen], sets.size[chosen]
        taken = min(size, wanted - count)
        for index in range(taken):
            if taken < size:
                swap_members(sets, start + index, start + index + next_random(random, size - index))
            sample[count] = sets.member[start + index]
            count += 1
    return count


@shared
def sample_by_member(
    sets: SetArrays,  # IN
    player_infosets: np.ndarray,  # IN  (n+1,) int64
    low: int,  # IN  first player
    high: int,  # IN  last player + 1
    wanted: int,  # IN  how many information sets
    random: np.ndarray,  # IN OUT (1,) uint64
    sample: np.ndarray,  # OUT information sets, those of one abstract set together
) -> int:
    """Draw information sets that are merged with others, each as likely as the others (equations 5.5 and 5.7)."""
    sets = held(sets)
    left = 0
    for player in range(low, high):
        for place in range(player_infosets[player], player_infosets[player] + sets.pool_size[player]):
            left += sets.size[sets.pool[place]]
    wanted = min(wanted, left)
    count = 0
    for player in range(low, high):
        for place in range(player_infosets[player], player_infosets[player] + sets.pool_size[player]):
            chosen = sets.pool[place]
            for index in range(sets.start[chosen], sets.start[chosen] + sets.size[chosen]):
                if next_random(random, left) < wanted - count:
                    sample[count] = sets.member[index]
                    count += 1
                left -= 1
    return count


@shared
def forward_merged(
    form: FormArrays,  # IN
    player: int,  # IN
    entry_map: np.ndarray,  # IN  (E,) uint32
    strategy: np.ndarray,  # IN  (E,) float64: by abstract entry
    reach: np.ndarray,  # OUT (S,) float64, the player's sequences
) -> None:
    """Own reach of every sequence of a player who plays an abstract strategy."""
    form = held(form)
    reach[form.sequence_start[player]] = 1.0
    for decision in range(form.decision_start[player], form.decision_start[player + 1]):
        before = reach[form.decision_parent[decision]]
        first = form.decision_first[decision]
        entry = form.decision_entry[decision]
        for action in range(form.decision_actions[decision]):
            reach[first + action] = before * strategy[entry_map[entry + action]]


@inlined
def backward_merged(
    form: FormArrays,  # IN
    player: int,  # IN
    entry_map: np.ndarray,  # IN  (E,) uint32
    strategy: np.ndarray,  # IN  (E,) float64: by abstract entry
    weight: float,  # IN  weight of this iteration in the average; 0: none
    reach: np.ndarray,  # IN  (S,) float64, the player's sequences
    value: np.ndarray,  # IN OUT (S,) float64: leaf values in, counterfactual values out
    regret: np.ndarray,  # IN OUT (E,) float64: by abstract entry, added to, in units
    average: np.ndarray,  # IN OUT (E,) float64: by abstract entry, added to
) -> None:
    """Counterfactual values of a player's sequences; regrets and average summed over the members of merged sets."""
    for decision in range(form.decision_start[player + 1] - 1, form.decision_start[player] - 1, -1):
        first = form.decision_first[decision]
        entry = form.decision_entry[decision]
        actions = form.decision_actions[decision]
        mean = 0.0
        for action in range(actions):
            mean += strategy[entry_map[entry + action]] * value[first + action]
        for action in range(actions):
            regret[entry_map[entry + action]] += value[first + action] - mean
        if weight > 0.0:
            for action in range(actions):
                average[entry_map[entry + action]] += weight * reach[first + action]
        value[form.decision_parent[decision]] += mean
