"""Parts of a game by its betting, and the partitions that strategies are stitched along.

A *grafting partition* of player i (Gibson 2014, definition 2.7, after Waugh et al. 2009) divides H_i, the histories at
which the player acts, into parts 0 to p:

1. every history of H_i lies in one part,
2. no information set lies in two parts,
3. what follows an expert part 1 to p, among the player's own histories, lies in the same part or in part 0, the base.

Experts are made for parts 1 to p, the base strategy plays in part 0.  With ``S`` the players who have experts, one
player is strategy grafting (definition 2.8), all of them are the post-flop models of PsOpti and heads-up experts
(definition 7.1).  Betting-sequence experts (section 7.3) have parts G_i(d) = {h in H_i : d is a prefix of d(h)}, where
d(h) is h without the actions of chance: all that follows a betting.  Such a part is written as text:

    rf              what follows raise, fold; every player has an expert
    f,rf,crf        what follows any of these
    kk/b@1          what follows check, check and in the next round a bet; only the first player has an expert
    b@1+3           the first and the third player have experts
    folded          what follows any fold, of games with more than two players
    only:,c,r       these decisions alone, not what follows them; nothing before a comma is the first decision

Letters are those of the game: f fold, k check, c call, b bet, r raise; k and c, and b and r, stand for each other where
a game has but one of the two.  ``/`` separates rounds and may be left out.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterplay.abstraction.infosets.abstraction import Abstraction
from counterplay.errors import AbstractionError
from counterplay.game.game import CHANCE
from counterplay.games.one_card_poker import LETTER
from counterplay.poker.betting import FOLD, BettingTree
from counterplay.poker.buckets.bucket_game import node_levels
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import NULL

Labels: TypeAlias = NDArray[np.int32]
"""The part of each history, 0 the base; of histories that are no decisions 0."""

ONLY = "only:"
"""What begins the text of a part without what follows its sequences."""

FOLDED = "folded"
"""A part of everything that follows a fold."""

SAME = {"k": "c", "c": "k", "b": "r", "r": "b"}
"""Letters for the same action."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a game: the decisions after some betting sequences.

    Attributes
    ----------
    sequences : tuple of str
        The betting that leads there, as in the keys of infosets.
    players : tuple of int, optional
        Who has an expert there; None for everybody.
    below : bool
        Whether what follows belongs to it; else the decisions themselves alone.
    """

    sequences: tuple[str, ...]
    players: tuple[int, ...] | None = None
    below: bool = True

    def __post_init__(self) -> None:
        shown = self.text
        if not self.sequences or (self.below and not all(self.sequences)):
            raise AbstractionError(f"a part is what follows a betting, such as rf or kk/b; got {shown!r}")
        for known in self.sequences:
            if self.sequences.count(known) > 1:
                raise AbstractionError(f"the part {shown!r} names {known!r} twice; leave it out once")
        if self.players is not None and len(set(self.players)) != len(self.players):
            raise AbstractionError(f"the part {shown!r} names a player twice; leave it out once")
        if self.players is not None and (not self.players or min(self.players) < 0):
            raise AbstractionError(f"players of a part count from 1, as in rf@1 or rf@1+3; got {shown!r}")

    @classmethod
    def parse(cls, text: str | Part) -> Part:
        """A part from its text; see the module.  Raises AbstractionError if it is none."""
        if isinstance(text, Part):
            return text
        if not isinstance(text, str):
            raise AbstractionError(f"a part is a text such as rf or kk/b@1; got {type(text).__name__}")
        words, at, owners = text.strip().partition("@")
        if at and not re.fullmatch(r"[1-9]\d?(\+[1-9]\d?)*", owners):
            raise AbstractionError(f"players of a part count from 1, as in rf@1 or rf@1+3; got {text!r}")
        players = tuple(int(owner) - 1 for owner in owners.split("+")) if at else None
        below = not words.startswith(ONLY)
        sequences = tuple(word.strip() for word in words.removeprefix(ONLY).split(","))
        return cls(sequences, players, below)

    @property
    def text(self) -> str:
        """The text that is read as this part."""
        owners = "" if self.players is None else "@" + "+".join(str(player + 1) for player in self.players)
        return ("" if self.below else ONLY) + ",".join(self.sequences) + owners

    def members(self, players: int) -> tuple[int, ...]:
        """The players of a game who have an expert: S.  Raises AbstractionError if there are not so many."""
        found = tuple(range(players)) if self.players is None else tuple(sorted(self.players))
        if found[-1] >= players:
            raise AbstractionError(f"the part {self.text!r} names player {found[-1] + 1}; the game has {players}")
        return found


def read_parts(parts: Iterable[str | Part]) -> tuple[Part, ...]:
    """Parts from their texts: at least one, none of them twice.  Raises AbstractionError."""
    found = tuple(map(Part.parse, parts))
    if not found:
        raise AbstractionError("at least one part is needed, such as rf")
    for number, part in enumerate(found):
        if part in found[:number]:
            raise AbstractionError(f"the part {part.text!r} is named twice; leave it out once")
    return found


class BettingSequences:
    """The betting of a form of a game: a node for each sequence of actions of players.

    Attributes
    ----------
    parent : (D,) integers
        The sequence without its last action; that of the empty one, 0, is -1.  Numbers increase along sequences.
    node : (H,) integers
        The sequence of each history of the form, or each node of a betting tree.
    """

    def __init__(self, form: GameTree | BettingTree) -> None:
        self.form = form
        if isinstance(form, BettingTree):
            self.parent: NDArray[np.int32] = form.parent
            self.node: NDArray[np.int32] = np.arange(len(form), dtype=np.int32)
            return
        self.node, self.parent, self._label, self._dealt = _without_chance(form)
        self._words = tuple(dict.fromkeys(label for labels in form.label_sets for label in labels))
        self._children: dict[int, list[int]] = {}
        for node, above in enumerate(self.parent.tolist()):
            self._children.setdefault(above, []).append(node)

    def _actions(self, node: int) -> dict[str, int]:
        """The sequence after each action, by its letter."""
        if isinstance(self.form, BettingTree):
            return dict(zip(self.form.actions(node), self.form.children(node), strict=True))
        found = {}
        for child in self._children.get(node, ()):
            word = self._words[self._label[child]]
            found[LETTER.get(word, word)] = child
        return found

    def text(self, node: int) -> str:
        """A sequence as in the keys of infosets, ``/`` between rounds."""
        if isinstance(self.form, BettingTree):
            return self.form.text(node)
        letters = []
        while node > 0:
            word = self._words[self._label[node]]
            letters.append(("/" if self._dealt[node] else "") + LETTER.get(word, word))
            node = int(self.parent[node])
        return "".join(reversed(letters))

    def find(self, text: str) -> int:
        """The sequence of a text.  Raises AbstractionError if there is none, with what there is."""
        node, rest = 0, text
        while rest.strip("/."):
            rest = rest.lstrip("/.")
            actions = self._actions(node)
            spelled = {word: word for word in actions}
            for word in actions:
                other = SAME.get(word[:1])
                if other is not None:
                    spelled.setdefault(other + word[1:], word)
            fitting = [word for word in spelled if rest.startswith(word)]
            if not fitting:
                after = f"after {self.text(node)!r}" if node else "at first"
                known = ", ".join(actions) or "nothing"
                raise AbstractionError(f"{self.name} has no betting {text!r}: {after} there is {known}")
            longest = max(fitting, key=len)
            node, rest = actions[spelled[longest]], rest[len(longest) :]
        rounds = [len(re.sub(r"[/.]", "", piece)) for piece in text.rstrip("/").split("/")]
        written = [len(piece) for piece in self.text(node).rstrip("/").split("/")]
        if len(rounds) > 1 and rounds != written:
            raise AbstractionError(f"{self.name} has no betting {text!r}; rounds end as in {self.text(node)!r}")
        return node

    def _folds(self) -> NDArray[np.bool_]:
        """(D,) the sequences that end with a fold."""
        if isinstance(self.form, BettingTree):
            return np.asarray((self.form.action == FOLD) & (self.parent >= 0))
        folds = np.array([LETTER.get(word, word) == "f" for word in self._words], bool)
        return np.asarray(folds[self._label] & (self.parent >= 0)) if len(folds) else np.zeros(len(self.parent), bool)

    @property
    def name(self) -> str:
        """What to call the game in messages."""
        return "the game" if isinstance(self.form, BettingTree) else self.form.name

    def inside(self, part: Part) -> NDArray[np.bool_]:
        """(D,) which sequences belong to a part."""
        chosen = np.zeros(len(self.parent), bool)
        chosen[[self.find(text) for text in part.sequences if text != FOLDED]] = True
        if FOLDED in part.sequences:
            chosen |= self._folds()
        if part.below:
            parent, last = self.parent, 1
            while last < len(parent):  # in steps that do not hold both a sequence and its beginning
                ahead = np.flatnonzero(parent[last:] >= last)
                stop = last + int(ahead[0]) if len(ahead) else len(parent)
                chosen[last:stop] |= chosen[parent[last:stop]]
                last = stop
        return chosen


def _without_chance(
    tree: GameTree,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    """The sequence of each history; of each sequence its parent, its last label, whether cards were dealt before."""
    words = {label: number for number, label in enumerate(dict.fromkeys(sum(tree.label_sets, ())))}
    width = max(map(len, tree.label_sets), default=1)
    table = np.zeros((max(1, len(tree.label_sets)), width), np.int64)
    for row, labels in enumerate(tree.label_sets):
        table[row, : len(labels)] = [words[label] for label in labels]
    node = np.zeros(tree.num_histories, np.int32)
    fresh = np.zeros(tree.num_histories, bool)  # whether chance moved since the last action
    parents, labels_of, dealt = [np.array([-1], np.int64)], [np.zeros(1, np.int64)], [np.zeros(1, bool)]
    size = 1
    for level in tree.levels()[1:]:
        above = tree.parent[level]
        chance = tree.player[above] == CHANCE
        node[level[chance]] = node[above[chance]]
        fresh[level[chance]] = node[above[chance]] > 0
        moved, above = level[~chance], above[~chance]
        label = table[tree.infoset_labels[tree.infoset[above]], moved - tree.first_child[above]]
        key = node[above].astype(np.int64) * len(words) + label
        numbers, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        node[moved] = size + inverse
        size += len(numbers)
        parents.append(numbers // max(1, len(words)))
        labels_of.append(numbers % max(1, len(words)))
        dealt.append(fresh[above[first]])
    # the same sequence may be met at several depths, where chance moves more often on some way
    return _merged(node, *map(np.concatenate, (parents, labels_of, dealt)))


def _merged(
    node: NDArray[np.int32], parent: NDArray[np.int64], label: NDArray[np.int64], dealt: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    """Sequences of equal actions as one."""
    number: dict[tuple[int, int], int] = {(-1, 0): 0}
    new = np.zeros(len(parent), np.int32)
    keep = [0]
    for old in range(1, len(parent)):
        key = (int(new[parent[old]]), int(label[old]))
        if key not in number:
            number[key] = len(number)
            keep.append(old)
        new[old] = number[key]
    parents = np.where(parent[keep] < 0, -1, new[np.maximum(parent[keep], 0)])
    return new[node], parents.astype(np.int32), label[keep].astype(np.int32), dealt[keep]


def label_parts(form: GameTree | BettingTree, parts: Sequence[Part | str]) -> Labels:
    """The number of the part of each history, or node of a betting tree: 0 for the base, then 1, 2, ...

    Raises
    ------
    AbstractionError
        If a part has no decisions, or two parts share one; or they are no grafting partition.
    """
    found, betting = read_parts(parts), BettingSequences(form)
    players = form.game.players if isinstance(form, BettingTree) else form.players
    labels = np.zeros(len(betting.node), np.int32)
    for number, part in enumerate(found, 1):
        chosen = betting.inside(part)[betting.node] & np.isin(form.player, part.members(players))
        if not chosen.any():
            raise AbstractionError(f"nobody with an expert acts in the part {part.text!r}; leave it out")
        taken = np.flatnonzero(chosen & (labels > 0))
        if len(taken):
            other, at = found[int(labels[taken[0]]) - 1], betting.text(int(betting.node[taken[0]]))
            raise AbstractionError(f"the parts {other.text!r} and {part.text!r} overlap: both hold {at!r}")
        labels[chosen] = number
    validate_partition(form, labels)
    return labels


def validate_partition(form: GameTree | BettingTree, labels: NDArray[np.integer]) -> None:
    """Check that parts are a grafting partition of every player (Gibson 2014, definition 2.7).

    Parameters
    ----------
    form : GameTree or BettingTree
        The game.
    labels : (H,) integers
        The part of each history at which a player acts: 0 for the base, 1, 2, ... for experts; ignored elsewhere.

    Raises
    ------
    AbstractionError
        If they are none; the message names the condition that they violate, and where.
    """
    wrong = "the parts are no grafting partition: "
    if np.shape(labels) != form.player.shape or not np.issubdtype(np.asarray(labels).dtype, np.integer):
        raise AbstractionError(f"{wrong}every history needs the number of a part, an integer (condition 1)")
    decisions = np.flatnonzero(form.player >= 0)
    below = np.flatnonzero(labels[decisions] < 0)
    if len(below):
        where = _place(form, int(decisions[below[0]]))
        raise AbstractionError(f"{wrong}every decision lies in a part (condition 1), and {where} does not")
    if isinstance(form, GameTree):
        first = np.full(form.num_infosets, NULL, np.int64)
        first[form.infoset[decisions[::-1]]] = decisions[::-1]
        split = np.flatnonzero(labels[decisions] != labels[first[form.infoset[decisions]]])
        if len(split):
            one = int(decisions[split[0]])
            other = int(first[form.infoset[one]])
            raise AbstractionError(
                f"{wrong}no information set lies in two parts (condition 2), and {_place(form, one)} lies in parts "
                f"{labels[other]} and {labels[one]}"
            )
    _check_descent(form, labels, wrong)


def _check_descent(form: GameTree | BettingTree, labels: NDArray[np.integer], wrong: str) -> None:
    """Refuse a player's expert part that leads into another one."""
    levels = form.levels() if isinstance(form, GameTree) else node_levels(form)
    for player in range(int(form.player.max(initial=-1)) + 1):
        met = np.zeros(len(form.player), np.int64)  # a decision of the player in an expert part on the way there, + 1
        own = (form.player == player) & (labels > 0)
        for level in levels[1:]:
            above = form.parent[level]
            met[level] = np.where(own[above], above + 1, met[above])
        before = np.flatnonzero(own & (met > 0))
        bad = before[labels[met[before] - 1] != labels[before]]
        if len(bad):
            one, other = int(met[bad[0]]) - 1, int(bad[0])
            raise AbstractionError(
                f"{wrong}what follows an expert part lies in it or in the base (condition 3), and of player "
                f"{player + 1} {_place(form, other)} in part {labels[other]} follows {_place(form, one)} in part "
                f"{labels[one]}"
            )


def _place(form: GameTree | BettingTree, history: int) -> str:
    """A decision in a message."""
    if isinstance(form, BettingTree):
        return f"the betting {form.text(history)!r}"
    return repr(form.infoset_names[form.infoset[history]])


def infoset_labels(tree: GameTree, labels: NDArray[np.integer]) -> Labels:
    """(I,) the part of each information set, of a partition that splits none."""
    found = np.zeros(tree.num_infosets, np.int32)
    decisions = np.flatnonzero(tree.player >= 0)
    found[tree.infoset[decisions]] = labels[decisions]
    return found


def dynamic_abstraction(tree: GameTree, base: Abstraction, experts: Mapping[Part | str, Abstraction]) -> Abstraction:
    """One abstraction whose buckets depend on the betting: dynamic experts (Gibson 2014, definition 7.2).

    ``base`` is used in part 0, and each expert's abstraction in its part; all are of ``tree``.  Solved once, base and
    experts are the restrictions of one strategy.

    Raises
    ------
    AbstractionError
        If the parts are no grafting partition, an abstraction is of another game, or it merges information sets of
        two parts.
    """
    parts = read_parts(experts)
    each = (base, *experts.values())
    for one in each:
        if one.digest != tree.digest:
            raise AbstractionError(f"the abstraction {one.name!r} was made for {one.game}, not for {tree.name}")
    found = infoset_labels(tree, label_parts(tree, parts))
    for number, part in enumerate(parts, 1):
        one, inside = each[number], found == number
        both = np.intersect1d(one.infoset_map[inside], one.infoset_map[~inside])
        if len(both):
            raise AbstractionError(
                f"the abstraction {one.name!r} of the part {part.text!r} merges {one.set_names[both[0]]!r} with "
                "information sets outside it"
            )
    number_of: dict[tuple[int, int], int] = {}
    infoset_map, action_map = np.empty(tree.num_infosets, np.int32), np.empty(tree.num_entries, np.int32)
    for infoset, part in enumerate(found.tolist()):
        key = (part, int(each[part].infoset_map[infoset]))
        infoset_map[infoset] = number_of.setdefault(key, len(number_of))
        entries = slice(*tree.infoset_offset[infoset : infoset + 2])
        action_map[entries] = each[part].action_map[entries]
    shown = ", ".join(f"{one.name} in {part.text}" for part, one in zip(parts, each[1:], strict=True))
    return Abstraction(
        f"{base.name}, {shown}", tree.name, tree.digest, infoset_map, action_map,
        np.array([each[part].set_player[place] for part, place in number_of], np.int8),
        tuple(each[part].set_names[place] for part, place in number_of),
        tuple(each[part].set_actions[place] for part, place in number_of),
    )  # fmt: skip
