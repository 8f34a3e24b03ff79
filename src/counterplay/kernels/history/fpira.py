"""The loop of fictitious play on an abstraction that refines itself, many iterations at a call.

One update of a player (Čermák 2018, section 5.2.2, algorithms 3 to 7): a pure best response in the original game to the
others' averages; where it prescribes different actions to members of one abstract set, that set is split (case 1);
the response is mixed into the average once in the abstraction and once in the original game; if an opponent could
distinguish the two mixtures (Δ), every member that the response reaches becomes a separate set (case 2).

The algorithms as printed mix up the average before and after the update, and test the wrong set in case 1; here as the
text means them.  Where nobody but the player comes, a best response prescribes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.kernels.history.changing_sets import GameArrays, SetArrays, forward_merged, move_member, open_set
from counterplay.kernels.history.passes import FormArrays, backward_best, leaf_values
from counterplay.kernels.jit import apart, inlined, kernel
from counterplay.kernels.numba_internals import held

# The places of ``counters``: iterations done, most sets a response prescribed, sets split in case 1 and in case 2.
DONE, LARGEST_RESPONSE, CASE_1, CASE_2 = 0, 1, 2, 3


class Scratch(NamedTuple):
    """``reach``, ``value``, ``difference``, ``pure`` (S,) float64; ``exact``, ``merged`` (E,) float64: the new average
    by real entry where the response comes, and by abstract entry; ``choice`` (D,) int32; ``place`` (I,) int32 what the
    response prescribes, -1 for nothing; ``reached``, ``touched``, ``run`` (I,) int32; ``seen`` (S,), ``met`` (I,) int64
    with ``stamp`` (1,) int64: marks of what was met.
    """

    reach: np.ndarray
    value: np.ndarray
    difference: np.ndarray
    pure: np.ndarray
    exact: np.ndarray
    merged: np.ndarray
    choice: np.ndarray
    place: np.ndarray
    reached: np.ndarray
    touched: np.ndarray
    run: np.ndarray
    seen: np.ndarray
    met: np.ndarray
    stamp: np.ndarray


@inlined
def respond(
    form: FormArrays,  # IN
    game: GameArrays,  # IN
    player: int,  # IN
    tie: float,  # IN  in units: an action must be better by more to come before an earlier one
    sets: SetArrays,  # IN
    scratch: Scratch,  # IN OUT: reach in; place and reached out
) -> int:
    """A pure best response where both it and the others come; returns how many information sets that is."""
    reach, value, choice, pure = scratch.reach, scratch.value, scratch.choice, scratch.pure
    leaf_values(form, player, reach, value)
    for decision in range(form.decision_start[player + 1] - 1, form.decision_start[player] - 1, -1):
        first = form.decision_first[decision]
        best = 0
        for action in range(1, form.decision_actions[decision]):
            if value[first + action] > value[first + best] + tie:
                best = action
        choice[decision] = best
        value[form.decision_parent[decision]] += value[first + best]
    for sequence in range(form.sequence_start[player], form.sequence_start[player + 1]):
        pure[sequence] = 0.0
    pure[form.sequence_start[player]] = 1.0
    count = 0
    for infoset in range(game.player_infosets[player], game.player_infosets[player + 1]):
        scratch.place[infoset] = -1
    for decision in range(form.decision_start[player], form.decision_start[player + 1]):
        if pure[form.decision_parent[decision]] == 0.0:
            continue
        infoset = game.infoset_of[decision]
        comes = False
        history, last = game.history_start[infoset], game.history_start[infoset + 1]
        while not comes and history < last:
            others = 1.0
            for other in range(game.history_others.shape[1]):
                others *= reach[game.history_others[history, other]]
            comes = others > 0.0
            history += 1
        if not comes:
            continue
        pure[form.decision_first[decision] + choice[decision]] = 1.0
        entry = np.int64(sets.entry_map[game.offset[infoset] + choice[decision]])
        scratch.place[infoset] = entry - sets.entry[sets.set_of[infoset]]
        scratch.reached[count] = infoset
        count += 1
    return count


@apart
def touch(sets: SetArrays, count: int, scratch: Scratch) -> int:
    """The abstract sets of the reached information sets, each once, into ``touched``."""
    scratch.stamp[0] += 1
    touched = 0
    for index in range(count):
        merged = sets.set_of[scratch.reached[index]]
        if scratch.met[merged] != scratch.stamp[0]:
            scratch.met[merged] = scratch.stamp[0]
            scratch.touched[touched] = merged
            touched += 1
    return touched


@inlined
def copy_average(sets: SetArrays, old: int, new: int, average: np.ndarray) -> None:
    """Let a new set inherit the average of the one it left."""
    for action in range(sets.actions[old]):
        average[sets.entry[new] + action] = average[sets.entry[old] + action]


@inlined
def part_by_response(
    game: GameArrays,  # IN
    touched: int,  # IN
    sets: SetArrays,  # IN OUT
    average: np.ndarray,  # IN OUT (E,) float64
    scratch: Scratch,  # IN OUT
) -> int:
    """Case 1: part members to which the response prescribes different actions (algorithm 5); returns how many sets."""
    splits = 0
    place, run = scratch.place, scratch.run
    for index in range(touched):
        old = scratch.touched[index]
        size = sets.size[old]
        if size < 2:
            continue
        lowest, highest, free = 1 << 30, -1, 0
        for slot in range(size):
            run[slot] = sets.member[sets.start[old] + slot]
            if place[run[slot]] < 0:
                free += 1
            else:
                lowest, highest = min(lowest, place[run[slot]]), max(highest, place[run[slot]])
        if lowest == highest:
            continue
        splits += 1
        stays = -1 if free > 0 else lowest  # those without a prescription stay; without any, the first action's group
        for action in range(lowest, highest + 1):
            new = -1
            for slot in range(size):
                if action != stays and place[run[slot]] == action:
                    if new < 0:
                        new = open_set(sets, old)
                        copy_average(sets, old, new, average)
                    move_member(sets, game.offset, run[slot], new)
    return splits


@inlined
def mix(
    form: FormArrays,  # IN
    game: GameArrays,  # IN
    new: float,  # IN  share of the response
    touched: int,  # IN
    sets: SetArrays,  # IN
    average: np.ndarray,  # IN  (E,) float64
    scratch: Scratch,  # IN OUT: merged and exact out
) -> bool:
    """Mix the response into the average, in the abstraction and in the game; returns whether a merged set is reached.

    The weights are the reaches of the set: the sum over the different own sequences that lead to its members.
    """
    reach, place = scratch.reach, scratch.place
    joint = False
    for entry in range(sets.totals[1]):
        scratch.merged[entry] = average[entry]
    for index in range(touched):
        abstract = scratch.touched[index]
        base, actions = sets.entry[abstract], sets.actions[abstract]
        joint |= sets.size[abstract] > 1
        action, all_reach, response_reach = -1, 0.0, 0.0
        scratch.stamp[0] += 2
        for slot in range(sets.start[abstract], sets.start[abstract] + sets.size[abstract]):
            infoset = sets.member[slot]
            before = form.decision_parent[game.decision_of[infoset]]
            known = scratch.seen[before]
            if known < scratch.stamp[0] - 1:
                all_reach += reach[before]
                known = scratch.stamp[0] - 1
            if place[infoset] >= 0:
                action = place[infoset]
                share = new / ((1.0 - new) * reach[before] + new)
                for move in range(actions):
                    pure = 1.0 if move == action else 0.0
                    scratch.exact[game.offset[infoset] + move] = average[base + move] + share * (
                        pure - average[base + move]
                    )
                if known < scratch.stamp[0]:
                    response_reach += 1.0
                    known = scratch.stamp[0]
            scratch.seen[before] = known
        share = new * response_reach / ((1.0 - new) * all_reach + new * response_reach)
        for move in range(actions):
            pure = 1.0 if move == action else 0.0
            scratch.merged[base + move] = average[base + move] + share * (pure - average[base + move])
    return joint


@inlined
def difference_seen(
    form: FormArrays,  # IN
    game: GameArrays,  # IN
    player: int,  # IN
    sets: SetArrays,  # IN
    average: np.ndarray,  # IN  (E,) float64
    scratch: Scratch,  # IN OUT
) -> float:
    """Δ: the most that the two mixtures can differ to an opponent (algorithm 7, equations 5.1 and 5.2).

    With one opponent, what the opponent's best strategy makes of the difference; otherwise the largest difference of
    reach, which is stricter.
    """
    exact, merged, gap, value = scratch.pure, scratch.merged, scratch.difference, scratch.value
    root = form.sequence_start[player]
    exact[root], gap[root] = 1.0, 0.0
    largest = 0.0
    for decision in range(form.decision_start[player], form.decision_start[player + 1]):
        infoset = game.infoset_of[decision]
        before = form.decision_parent[decision]
        first = form.decision_first[decision]
        entry = game.offset[infoset]
        base = np.int64(sets.entry[sets.set_of[infoset]])
        for action in range(form.decision_actions[decision]):
            abstract = np.int64(sets.entry_map[entry + action])
            own = scratch.exact[entry + abstract - base] if scratch.place[infoset] >= 0 else average[abstract]
            exact[first + action] = exact[before] * own
            # x̂ = x̃ - gap, so its product with the merged mixture is subtracted again
            gap[first + action] = exact[first + action] - (exact[before] - gap[before]) * merged[abstract]
            largest = max(largest, abs(gap[first + action]))
    if len(game.player_infosets) != 3:
        return largest
    other = 1 - player
    found = 0.0
    for _ in range(2):
        leaf_values(form, other, gap, value)
        backward_best(form, other, value, scratch.choice)
        found = max(found, value[form.sequence_start[other]] * form.unit)
        for sequence in range(root, form.sequence_start[player + 1]):
            gap[sequence] = -gap[sequence]
    return found


@inlined
def part_reached(
    game: GameArrays,  # IN
    touched: int,  # IN
    sets: SetArrays,  # IN OUT
    average: np.ndarray,  # IN OUT (E,) float64
    scratch: Scratch,  # IN OUT
) -> int:
    """Case 2: every reached member becomes a separate set with its exact average; returns how many sets were split.

    The members that are not reached stay together with the old average (algorithm 6).
    """
    splits = 0
    run = scratch.run
    for index in range(touched):
        old = scratch.touched[index]
        size = sets.size[old]
        splits += size > 1
        for slot in range(size):
            run[slot] = sets.member[sets.start[old] + slot]
        for slot in range(size):
            infoset = run[slot]
            if scratch.place[infoset] < 0:
                continue
            own = old
            if sets.size[old] > 1:
                own = open_set(sets, old)
                move_member(sets, game.offset, infoset, own)
            for action in range(sets.actions[own]):
                average[sets.entry[own] + action] = scratch.exact[game.offset[infoset] + action]
    return splits


@kernel
def iterate_fpira(
    form: FormArrays,  # IN
    game: GameArrays,  # IN
    tie: float,  # IN  in units
    tolerance: float,  # IN  Δ up to this is none
    iterations: int,  # IN  how many to do
    counters: np.ndarray,  # IN OUT (4,) int64
    sets: SetArrays,  # IN OUT
    average: np.ndarray,  # IN OUT (E,) float64: by abstract entry
    scratch: Scratch,  # IN OUT
) -> None:
    """Run iterations of FPIRA; in each, every player is updated once, in turn."""
    form, game, sets, scratch = held(form), held(game), held(sets), held(scratch)
    players = len(game.player_infosets) - 1
    for _ in range(iterations):
        new = 1.0 / (counters[DONE] + 2.0)  # the strategy at the start counts as one
        for player in range(players):
            count = respond(form, game, player, tie, sets, scratch)
            counters[LARGEST_RESPONSE] = max(counters[LARGEST_RESPONSE], count)
            touched = touch(sets, count, scratch)
            splits = part_by_response(game, touched, sets, average, scratch)
            if splits > 0:
                counters[CASE_1] += splits
                touched = touch(sets, count, scratch)
            joint = mix(form, game, new, touched, sets, average, scratch)
            if joint and difference_seen(form, game, player, sets, average, scratch) > tolerance:
                counters[CASE_2] += part_reached(game, touched, sets, average, scratch)
            else:
                for entry in range(sets.totals[1]):
                    average[entry] = scratch.merged[entry]
            forward_merged(form, player, sets.entry_map, average, scratch.reach)
        counters[DONE] += 1
