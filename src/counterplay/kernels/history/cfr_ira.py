"""The loop of CFR+ on an abstraction that refines itself, many iterations at a call.

One update of a player (Čermák 2018, section 5.2.3, algorithms 8 to 12): sample information sets that are merged with
others; an update of CFR+ on the abstraction; from the regrets of the sampled sets, part those that prefer other
actions than most (heuristic update), and those whose own regret grows faster than the bound allows (bound update).

The regrets of sampled sets need no pass of their own: they are read off the counterfactual values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.history.changing_sets import (
    GameArrays,
    SetArrays,
    backward_merged,
    forward_merged,
    move_member,
    open_set,
    sample_by_member,
    sample_by_set,
    update_pool,
)
from counterplay.kernels.history.passes import FormArrays, leaf_values
from counterplay.kernels.jit import apart, inlined, kernel, shared
from counterplay.kernels.numba_internals import held
from counterplay.kernels.regret import match_row

MOST_ACTIONS = 63
"""Sets with more actions are left to the bound update: preferred actions are bits of one word."""

# The places of ``clock``: iterations done, when B is sampled next, by how many iterations then, when it was last.
DONE, SAMPLE_NEXT, SAMPLE_STEP, SAMPLED_AT = 0, 1, 2, 3


class Reading(NamedTuple):
    """The settings, see ``CfrIraConfig``; ``limit`` (I,) float64 is Δ_I √|A(I)|."""

    k_h: int
    k_b: int
    delay: int
    shifted: bool
    all_players: bool
    last_first: bool
    clip: bool
    keep_remainder: bool
    by_set: bool
    need_visit: bool
    least_actions: int
    heuristic_divisor: float
    bound_divisor: float
    visit: float
    tie: float
    limit: np.ndarray


class Tables(NamedTuple):
    """The tables by abstract entry, and what belongs to the sample B.

    ``regret``, ``average``, ``strategy`` (E,) float64; ``clock`` (4,) int64; ``random`` (1,) uint64; ``bound_sample``
    (k_b,) int32 information sets; ``bound_count`` (1,) int64 how many; ``bound_regret`` (k_b, A) float64.
    """

    regret: np.ndarray
    average: np.ndarray
    strategy: np.ndarray
    clock: np.ndarray
    random: np.ndarray
    bound_sample: np.ndarray
    bound_count: np.ndarray
    bound_regret: np.ndarray


class Scratch(NamedTuple):
    """``reach``, ``value`` (S,) float64; ``step`` (E,) float64, zeros; ``sample`` (k_h,) int32; ``preferred``,
    ``kinds`` (k_h,) uint64; ``votes`` (k_h,) int64; ``own`` (k_h, A) float64; ``drawn`` (n,) int64.
    """

    reach: np.ndarray
    value: np.ndarray
    step: np.ndarray
    sample: np.ndarray
    preferred: np.ndarray
    kinds: np.ndarray
    votes: np.ndarray
    own: np.ndarray
    drawn: np.ndarray


@shared
def match_merged(
    sets: SetArrays,  # IN
    player: int,  # IN
    tie: float,  # IN  regrets up to this count as 0
    regret: np.ndarray,  # IN  (E,) float64
    strategy: np.ndarray,  # OUT (E,) float64
) -> None:
    """Regret matching at every abstract set of a player."""
    sets = held(sets)
    for merged in range(sets.totals[0]):
        if sets.owner[merged] != player:
            continue
        match_row(regret, sets.entry[merged], 1, sets.actions[merged], tie, strategy, sets.entry[merged], 1)


@apart
def add_sampled_regrets(
    form: FormArrays,  # IN
    game: GameArrays,  # IN
    sets: SetArrays,  # IN
    player: int,  # IN  whose pass it was; the sets of others are left out
    infosets: np.ndarray,  # IN  (k,) int32: the sample
    count: int,  # IN  how many of it
    strategy: np.ndarray,  # IN  (E,) float64: what was played
    value: np.ndarray,  # IN  (S,) float64: counterfactual values of the pass
    own: np.ndarray,  # IN OUT (k, A) float64: regrets by place of the action in the abstract set, added to
) -> None:
    """What a pass adds to the regrets of single real information sets.

    One loop for the whole sample: a call costs more than the sums.
    """
    form, game, sets = held(form), held(game), held(sets)
    for index in range(count):
        infoset = infosets[index]
        merged = sets.set_of[infoset]
        if sets.owner[merged] != player:
            continue
        first = form.decision_first[game.decision_of[infoset]]
        entry = game.offset[infoset]
        base = np.int64(sets.entry[merged])
        mean = 0.0
        for action in range(sets.actions[merged]):
            mean += strategy[sets.entry_map[entry + action]] * value[first + action]
        for action in range(sets.actions[merged]):
            place = np.int64(sets.entry_map[entry + action]) - base
            own[index, place] += (value[first + action] - mean) * form.unit


@inlined
def drop_unvisited(
    form: FormArrays,  # IN
    game: GameArrays,  # IN
    visit: float,  # IN  reaches up to this are none
    reach: np.ndarray,  # IN  (S,) float64
    infosets: np.ndarray,  # IN  (k,) int32: the sample
    count: int,  # IN  how many of it
    preferred: np.ndarray,  # IN OUT (k,) uint64: made 0 where neither the player nor the others with chance come
) -> None:
    """Leave out sampled information sets that nobody comes to."""
    for index in range(count):
        infoset = infosets[index]
        seen = reach[form.decision_parent[game.decision_of[infoset]]] > visit
        history, last = game.history_start[infoset], game.history_start[infoset + 1]
        while not seen and history < last:
            others = game.history_chance[history]
            for other in range(game.history_others.shape[1]):
                others *= reach[game.history_others[history, other]]
            seen = others > visit
            history += 1
        if not seen:
            preferred[index] = np.uint64(0)


@inlined
def read_preferences(
    sets: SetArrays,  # IN
    infosets: np.ndarray,  # IN  (k,) int32: the sample
    count: int,  # IN  how many of it
    clip: bool,  # IN  regrets below 0 count as 0
    slack: float,  # IN
    own: np.ndarray,  # IN  (k, A) float64: regrets
    preferred: np.ndarray,  # OUT (k,) uint64
) -> None:
    """γ of each sampled set: the actions whose regret comes within ``slack`` of the largest, as bits (algorithm 12)."""
    floor = 0.0 if clip else -np.inf
    for index in range(count):
        actions = sets.actions[sets.set_of[infosets[index]]]
        preferred[index] = np.uint64(0)
        if actions > MOST_ACTIONS:
            continue
        largest = floor
        for action in range(actions):
            if own[index, action] > largest:
                largest = own[index, action]
        found, bit = np.uint64(0), np.uint64(1)
        for action in range(actions):
            regret = own[index, action] if own[index, action] > floor else floor
            if regret >= largest - slack:
                found |= bit
            bit <<= np.uint64(1)
        preferred[index] = found


@kernel
def comes_before(one: np.uint64, other: np.uint64) -> bool:
    """Whether a set of actions comes before another in lexicographic order, both not empty and different."""
    differ = one ^ other
    lowest = differ & (~differ + np.uint64(1))
    above = ~(lowest | (lowest - np.uint64(1)))
    if one & lowest:
        return bool((other & above) != np.uint64(0))
    return bool((one & above) == np.uint64(0))


@inlined
def clear_set(sets: SetArrays, merged: int, regret: np.ndarray, average: np.ndarray) -> None:
    """Start a set afresh: no regret, nothing averaged."""
    for entry in range(sets.entry[merged], sets.entry[merged] + sets.actions[merged]):
        regret[entry] = 0.0
        average[entry] = 0.0


@inlined
def clear_rows(table: np.ndarray, count: int) -> None:
    """Make the first rows of a table 0."""
    for row in range(count):
        for place in range(table.shape[1]):
            table[row, place] = 0.0


@inlined
def sort_sample(sample: np.ndarray, count: int) -> None:
    """Sort a sample by insertion: it is drawn seldom, and numba's sort takes a second to compile."""
    for index in range(1, count):
        one, place = sample[index], index
        while place > 0 and sample[place - 1] > one:
            sample[place] = sample[place - 1]
            place -= 1
        sample[place] = one


@inlined
def part_sampled(
    game: GameArrays,  # IN
    rules: Reading,  # IN
    sets: SetArrays,  # IN OUT
    tables: Tables,  # IN OUT
    scratch: Scratch,  # IN OUT
    low: int,  # IN  the sampled members of one abstract set are sample[low .. high - 1]
    high: int,  # IN
) -> None:
    """Part the sampled members of a set by the actions they prefer; the largest group stays with those not sampled.

    Of groups equally large, the one whose actions come first in lexicographic order stays.
    """
    kinds, votes, preferred, sample = scratch.kinds, scratch.votes, scratch.preferred, scratch.sample
    different = 0
    for index in range(low, high):
        if preferred[index] == np.uint64(0):
            continue  # never visited: as if not sampled
        kind = 0
        while kind < different and kinds[kind] != preferred[index]:
            kind += 1
        if kind == different:
            kinds[kind] = preferred[index]
            votes[kind] = 0
            different += 1
        votes[kind] += 1
    if different < 2:
        return
    stays = 0
    for kind in range(1, different):
        if votes[kind] > votes[stays] or (votes[kind] == votes[stays] and comes_before(kinds[kind], kinds[stays])):
            stays = kind
    old: Any = np.int64(sets.set_of[sample[low]])
    for kind in range(different):
        if kind == stays:
            continue
        new = open_set(sets, old)
        for index in range(low, high):
            if preferred[index] == kinds[kind]:
                move_member(sets, game.offset, sample[index], new)
        clear_set(sets, new, tables.regret, tables.average)
        update_pool(sets, game.player_infosets, rules.least_actions, new)
    update_pool(sets, game.player_infosets, rules.least_actions, old)
    if not rules.keep_remainder:
        clear_set(sets, old, tables.regret, tables.average)


@inlined
def heuristic_update(
    form: FormArrays,  # IN
    game: GameArrays,  # IN
    rules: Reading,  # IN
    player: int,  # IN
    time: int,  # IN  iteration
    count: int,  # IN  how many of the player's sets were sampled
    sets: SetArrays,  # IN OUT
    tables: Tables,  # IN OUT: the strategy is still that of the pass
    scratch: Scratch,  # IN OUT: values and reaches of the pass
) -> None:
    """Part sampled sets that prefer other actions than most of their abstract set (algorithm 12)."""
    sample, own = scratch.sample, scratch.own
    clear_rows(own, count)
    add_sampled_regrets(form, game, sets, player, sample, count, tables.strategy, scratch.value, own)
    slack = 1.0 / (rules.heuristic_divisor * np.sqrt(time))
    read_preferences(sets, sample, count, rules.clip, slack, own, scratch.preferred)
    if rules.need_visit:
        drop_unvisited(form, game, rules.visit, scratch.reach, sample, count, scratch.preferred)
    low: Any = np.int64(0)  # a constant would be compiled for apart
    while low < count:
        high = low + 1
        while high < count and sets.set_of[sample[high]] == sets.set_of[sample[low]]:
            high += 1
        part_sampled(game, rules, sets, tables, scratch, low, high)
        low = high


@inlined
def bound_update(
    game: GameArrays,  # IN
    rules: Reading,  # IN
    player: int,  # IN
    time: int,  # IN  iteration
    sets: SetArrays,  # IN OUT
    tables: Tables,  # IN OUT
) -> None:
    """Split off each set of the sample B whose average regret exceeds its limit (algorithm 11)."""
    rounds = time - tables.clock[SAMPLED_AT]
    scale = rules.bound_divisor * np.sqrt(time)
    kept = 0
    for index in range(tables.bound_count[0]):
        infoset = tables.bound_sample[index]
        old: Any = np.int64(sets.set_of[infoset])
        largest = -np.inf
        for action in range(sets.actions[old]):
            largest = max(largest, tables.bound_regret[index, action])
        exceeds = largest / rounds > rules.limit[infoset] / scale
        if sets.owner[old] != player or sets.size[old] < 2 or not exceeds:
            tables.bound_sample[kept] = infoset
            for action in range(tables.bound_regret.shape[1]):  # slices take long to compile
                tables.bound_regret[kept, action] = tables.bound_regret[index, action]
            kept += 1
            continue
        new = open_set(sets, old)
        move_member(sets, game.offset, infoset, new)
        clear_set(sets, new, tables.regret, tables.average)
        update_pool(sets, game.player_infosets, rules.least_actions, old)
        if not rules.keep_remainder:
            clear_set(sets, old, tables.regret, tables.average)
    tables.bound_count[0] = kept


@inlined
def draw_sample(
    game: GameArrays, rules: Reading, low: int, high: int, wanted: int, sets: SetArrays, tables: Tables,
    scratch: Scratch, chosen: np.ndarray,
) -> int:  # fmt: skip
    """Sample information sets of players low .. high-1 into ``chosen`` by the rule of the settings."""
    if wanted == 0:
        return 0
    if rules.by_set:
        return sample_by_set(
            sets, game.player_infosets, low, high, wanted, tables.random, scratch.drawn, chosen
        )  # fmt: skip
    return sample_by_member(sets, game.player_infosets, low, high, wanted, tables.random, chosen)


@shared
def update_player(
    form: FormArrays,  # IN
    game: GameArrays,  # IN
    rules: Reading,  # IN
    player: int,  # IN
    time: int,  # IN  iteration
    sets: SetArrays,  # IN OUT
    tables: Tables,  # IN OUT
    scratch: Scratch,  # IN OUT
) -> None:
    """One update of CFR+ for a player, then the refinements that it calls for."""
    form, game, rules, sets = held(form), held(game), held(rules), held(sets)
    tables, scratch = held(tables), held(scratch)
    count = draw_sample(game, rules, player, player + 1, rules.k_h, sets, tables, scratch, scratch.sample)
    weight = 0.0
    if time > rules.delay:
        weight = np.float64(time - rules.delay if rules.shifted else time)
    leaf_values(form, player, scratch.reach, scratch.value)
    backward_merged(
        form, player, sets.entry_map, tables.strategy, weight, scratch.reach, scratch.value, scratch.step,
        tables.average,
    )  # fmt: skip
    for entry in range(sets.totals[1]):  # the steps of the others are 0
        tables.regret[entry] = max(tables.regret[entry] + scratch.step[entry] * form.unit, 0.0)
        scratch.step[entry] = 0.0
    add_sampled_regrets(
        form, game, sets, player, tables.bound_sample, tables.bound_count[0], tables.strategy, scratch.value,
        tables.bound_regret,
    )  # fmt: skip
    heuristic_update(form, game, rules, player, time, count, sets, tables, scratch)
    if time != tables.clock[SAMPLED_AT]:
        bound_update(game, rules, player, time, sets, tables)
    match_merged(sets, player, rules.tie, tables.regret, tables.strategy)
    forward_merged(form, player, sets.entry_map, tables.strategy, scratch.reach)


@kernel
def iterate_cfr_ira(
    form: FormArrays,  # IN
    game: GameArrays,  # IN
    rules: Reading,  # IN
    iterations: int,  # IN  how many to do
    sets: SetArrays,  # IN OUT
    tables: Tables,  # IN OUT
    scratch: Scratch,  # IN OUT
) -> None:
    """Run iterations of CFR+IRA (algorithm 8)."""
    players = len(game.player_infosets) - 1
    clock = tables.clock
    nobody: Any = np.int64(0)  # a constant would be compiled for apart
    for _ in range(iterations):
        time = clock[DONE] + 1
        if time == clock[SAMPLE_NEXT]:
            tables.bound_count[0] = draw_sample(
                game, rules, nobody, players, rules.k_b, sets, tables, scratch, tables.bound_sample
            )  # fmt: skip
            sort_sample(tables.bound_sample, tables.bound_count[0])  # who is left must not depend on the draw
            clear_rows(tables.bound_regret, len(tables.bound_regret))
            clock[SAMPLED_AT] = time
            clock[SAMPLE_NEXT] = time + clock[SAMPLE_STEP]
            clock[SAMPLE_STEP] *= 2
        first = 0 if rules.all_players else (time - 1) % players
        for turn in range(first, players if rules.all_players else first + 1):
            player = players - 1 - turn if rules.last_first else turn
            update_player(form, game, rules, player, time, sets, tables, scratch)
        clock[DONE] = time
