"""Lines of the competition's logs in batches: betting, cards, values and names of hands of two players, counted.

Only the plainest spelling is read, that in which the competition's dealer writes a hand::

    STATE:1:cc/cc/rc/crrrrc:6sKs|5dJd/2sTh2h/Qh/8h:110|-110:P2|P1

with slashes where rounds end, raises that are in the betting tree, and values that are integers.  Every other line is
left to the parser that reads everything (``counterplay.poker.acpc.match_log``), which decides whether it is right: this
one may say of a line that it does not know, never anything that the other would not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.kernels.jit import inlined, kernel
from counterplay.kernels.numba_internals import held
from counterplay.kernels.walks import i64

NOTHING, READ, UNKNOWN = 0, 1, 2
"""What a line can be: a comment, the score or empty; a hand that was read; left to the other parser."""

NEWLINE, RETURN, HASH, SEMICOLON, COLON, BAR, SLASH, MINUS, ZERO = 10, 13, 35, 59, 58, 124, 47, 45, 48
LETTER_F, LETTER_C, LETTER_R = 102, 99, 114
STATE = (83, 84, 65, 84, 69, 58)
SCORE = (83, 67, 79, 82, 69, 58)
LONGEST = 4000
"""Bytes of a line that is read here."""

MOST_DIGITS = 15


class LogTables(NamedTuple):
    """What reading looks up.  N nodes of the betting tree, R rounds."""

    player: np.ndarray  # (N,) int8: who acts, negative at terminal nodes
    turn: np.ndarray  # (N,) int8: the round
    first_child: np.ndarray  # (N,) int32
    num_children: np.ndarray  # (N,) int32
    action: np.ndarray  # (N,) int32: what leads to a node: -1 fold, 0 call, the chips raised to
    board_cards: np.ndarray  # (R,) int64: cards dealt in each round; none in the first
    card: np.ndarray  # (256, 256) uint8: the card of two letters; 255 if it is none of the deck
    limit: int  # 1 if raises have no numbers, else 0
    hole: int  # hole cards of a player


class Hands(NamedTuple):
    """The hands of a batch, one for each of L lines; D decisions."""

    start: np.ndarray  # (L,) int64: where a line begins
    end: np.ndarray  # (L,) int64: where it ends, without its newline
    kind: np.ndarray  # (L,) uint8
    cards: np.ndarray  # (L, 2h + b) uint8: hole cards by position, then the board
    shown: np.ndarray  # (L, 2) bool: whose hole cards are known
    sits: np.ndarray  # (L, 2) bool: where the opponent sits
    last: np.ndarray  # (L,) int32: the terminal node
    value: np.ndarray  # (L, 2) int64: what each position has won, by the log
    row: np.ndarray  # (D,) int32: of each decision, the line
    node: np.ndarray  # (D,) int32: where
    move: np.ndarray  # (D,) int32: the node after it


@inlined
def starts_with(text: np.ndarray, at: int, end: int, word: Any) -> Any:
    """Whether a line begins with a word."""
    same = end - at >= len(word)
    for place in range(len(word)):
        same = same and text[at + place] == word[place]
    return same


@inlined
def read_number(text: np.ndarray, at: int, end: int) -> Any:
    """An integer of at least 0 without leading zeros, and where it ends; there is none if that is where it begins."""
    number, place = i64(0), i64(at)
    while place < end and ZERO <= text[place] <= ZERO + 9 and place - at < MOST_DIGITS:
        number = 10 * number + i64(text[place]) - ZERO
        place += 1
    if place > at + 1 and text[at] == ZERO:
        place = i64(at)
    return number, place


@inlined
def next_node(tables: LogTables, node: int, letter: int, size: int) -> Any:
    """The node after an action; -1 if the tree does not have it."""
    for child in range(tables.first_child[node], tables.first_child[node] + tables.num_children[node]):
        action = tables.action[child]
        if letter == LETTER_F and action == -1:
            return i64(child)
        if letter == LETTER_C and action == 0:
            return i64(child)
        if letter == LETTER_R and action > 0 and (tables.limit or action == size):
            return i64(child)
    return i64(-1)


@inlined
def read_betting(tables: LogTables, text: np.ndarray, at: int, end: int, hands: Hands, line: int, count: int) -> Any:
    """The terminal node, -1 if the betting is odd; where it ends; the number of decisions with those of this hand."""
    node, place = i64(0), i64(at)
    while place < end and tables.num_children[node] > 0:
        letter, size = text[place], i64(0)
        place += 1
        if letter == LETTER_R and not tables.limit:
            size, after = read_number(text, place, end)
            if after == place:
                return i64(-1), place, count
            place = after
        child = next_node(tables, node, letter, size)
        if child < 0:
            return i64(-1), place, count
        hands.row[count], hands.node[count], hands.move[count] = line, node, child
        count += 1
        for _ in range(tables.turn[child] - tables.turn[node]):
            if place >= end or text[place] != SLASH:
                return i64(-1), place, count
            place += 1
        node = child
    if tables.num_children[node] > 0 or place >= end or text[place] != COLON:
        return i64(-1), place, count
    return node, place, count


@inlined
def read_cards(tables: LogTables, text: np.ndarray, at: int, end: int, hands: Hands, line: int, turn: int) -> Any:
    """Where the cards end; -1 if they are odd."""
    place, used, column = i64(at), np.uint64(0), 0
    for section in range(2 + turn):  # the hole cards of both, then the boards
        if section > 0:
            if place >= end or text[place] != (BAR if section == 1 else SLASH):
                return i64(-1)
            place += 1
        size = tables.hole if section < 2 else tables.board_cards[section - 1]
        if section < 2:
            hands.shown[line, section] = True
            if place < end and (text[place] == BAR or text[place] == SLASH or text[place] == COLON):
                hands.shown[line, section] = False
                column += size
                size = 0
        if place + 2 * size >= end:
            return i64(-1)
        for _ in range(size):
            card = tables.card[text[place], text[place + 1]]
            bit = np.uint64(1) << np.uint64(card & 63)
            if card == 255 or used & bit:
                return i64(-1)
            used |= bit
            hands.cards[line, column] = card
            column += 1
            place += 2
    if place >= end or text[place] != COLON:
        return i64(-1)
    return place


@inlined
def read_values(text: np.ndarray, at: int, end: int, hands: Hands, line: int) -> Any:
    """Where the values end; -1 if they are odd."""
    place = i64(at)
    for position in range(2):
        negative = place < end and text[place] == MINUS
        place += negative
        number, after = read_number(text, place, end)
        if after == place or after >= end or text[after] != (BAR if position == 0 else COLON):
            return i64(-1)
        hands.value[line, position] = -number if negative else number
        place = after + 1
    return place - 1


@inlined
def read_names(
    text: np.ndarray, at: int, end: int, names: np.ndarray, name_start: np.ndarray, hands: Hands, line: int
) -> Any:
    """Whether a line ends with two names; where the opponent sits is noted."""
    bar = i64(-1)
    for place in range(at, end):
        if text[place] == COLON or (text[place] == BAR and bar >= 0):
            return False
        if text[place] == BAR:
            bar = i64(place)
    if bar < 0:
        return False
    for position in range(2):
        low = i64(at) if position == 0 else bar + 1
        high = bar if position == 0 else i64(end)
        hands.sits[line, position] = False
        for number in range(len(name_start) - 1):
            first, last = name_start[number], name_start[number + 1]
            same = last - first == high - low
            place = i64(0)
            while same and place < high - low:
                same = names[first + place] == text[low + place]
                place += 1
            if same:
                hands.sits[line, position] = True
    return True


@inlined
def read_line(
    tables: LogTables, text: np.ndarray, at: int, end: int, names: np.ndarray, name_start: np.ndarray,
    hands: Hands, line: int, count: int,
) -> Any:  # fmt: skip
    """What a line is, and the number of decisions with those of the opponent in it."""
    if at == end or text[at] == HASH or text[at] == SEMICOLON or starts_with(text, at, end, SCORE):
        return NOTHING, count
    if end - at > LONGEST or not starts_with(text, at, end, STATE):
        return UNKNOWN, count
    place = i64(at) + len(STATE)
    first = place
    while place < end and ZERO <= text[place] <= ZERO + 9 and place - first < MOST_DIGITS:
        place += 1
    if place == first or place >= end or text[place] != COLON:
        return UNKNOWN, count
    node, place, after = read_betting(tables, text, place + 1, end, hands, line, count)
    if node < 0:
        return UNKNOWN, count
    hands.last[line] = node
    place = read_cards(tables, text, place + 1, end, hands, line, tables.turn[node])
    if place < 0:
        return UNKNOWN, count
    place = read_values(text, place + 1, end, hands, line)
    if place < 0 or not read_names(text, place + 1, end, names, name_start, hands, line):
        return UNKNOWN, count
    kept = i64(count)
    for decision in range(count, after):
        if hands.sits[line, tables.player[hands.node[decision]]]:
            hands.row[kept] = line
            hands.node[kept], hands.move[kept] = hands.node[decision], hands.move[decision]
            kept += 1
    return READ, kept


@kernel
def read_lines(
    tables: LogTables,  # IN
    text: np.ndarray,  # IN  (B,) uint8: some lines; each ends with a newline
    names: np.ndarray,  # IN  uint8: the names of the opponent, one after the other
    name_start: np.ndarray,  # IN  (n + 1,) int64: where each begins, and the end
    hands: Hands,  # OUT of L lines, as many as newlines, and D of at least B
) -> tuple[int, int]:
    """Read the hands of a batch; how many lines there are, and how many decisions of the opponent."""
    tables, hands = held(tables), held(hands)
    line, count, at = i64(0), i64(0), i64(0)
    for place in range(len(text)):
        if text[place] != NEWLINE:
            continue
        end = i64(place)
        while end > at and text[end - 1] == RETURN:
            end -= 1
        hands.start[line], hands.end[line] = at, end
        kind, count = read_line(tables, text, at, end, names, name_start, hands, line, count)
        hands.kind[line] = kind
        line += 1
        at = i64(place) + 1
    return line, count


@kernel
def add_decisions(
    tables: LogTables,  # IN
    hands: Hands,  # IN
    count: int,  # IN  number of decisions
    bucket: np.ndarray,  # IN  (L, 2, R) int64: by line, position and round, where cards are known
    start: np.ndarray,  # IN  (S,) int64: the first entry of each slot
    width: np.ndarray,  # IN  (S,) int64: entries of a bucket in each slot
    offset: np.ndarray,  # IN  (N,) uint32: where the entries of a decision begin
    counts: np.ndarray,  # IN OUT (E,) int64
) -> int:
    """Count the decisions of hands that were read; how many are not counted because the cards are unknown."""
    tables, hands = held(tables), held(hands)
    unseen = i64(0)
    for decision in range(count):
        line, node = hands.row[decision], hands.node[decision]
        player, turn = tables.player[node], tables.turn[node]
        if hands.kind[line] != READ:
            continue
        if not hands.shown[line, player]:
            unseen += 1
            continue
        slot = 2 * turn + player
        first = start[slot] + bucket[line, player, turn] * width[slot] + i64(offset[node])
        counts[first + hands.move[decision] - tables.first_child[node]] += 1
    return unseen
