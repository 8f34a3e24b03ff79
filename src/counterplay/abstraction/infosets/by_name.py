"""Games whose players forget, by name: ``bluff(1,1) forgetting last-bids=2``.

A game can forget what it defines itself (``Game.forgets``), and every game:

    initial         all but the number of own moves and of actions (Čermák 2018, section 5.2.1.1)
    match=PATTERN   whatever a regular expression matches in the name of an information set
    map=FILE        what a saved abstraction merges
    nothing         nothing: the original game
    outside=PART    what the others say, but nothing in a part of the betting (``abstraction.experts``): dynamic experts

Several are separated by commas and applied in order; ``initial`` and ``map`` are combined with ``outside`` only.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from counterplay.errors import AbstractionError
from counterplay.runtime.suggestions import quoted

if TYPE_CHECKING:
    from counterplay.abstraction.infosets.abstraction import Abstraction
    from counterplay.game.game import Game
    from counterplay.tree.history.game_tree import GameTree

GENERAL = {
    "initial": "all but the number of own moves and of actions",
    "match=PATTERN": "whatever a regular expression matches in the name of an information set",
    "map=FILE": "what a saved abstraction merges",
    "nothing": "nothing",
    "outside=PART": "nothing in a part of the betting such as rf, elsewhere what else is named",
}
"""What the players of any game can forget, with a line of help."""

_WORD = " forgetting "
_OUTSIDE = "outside="


def split_name(name: str) -> tuple[str, str | None]:
    """The game and what is forgotten, from ``GAME forgetting WHAT``.

    The word may also occur in the path of a game, so the rest must begin like something that can be forgotten.
    """
    parts = name.split(_WORD)
    for place in range(1, len(parts)):
        what = _WORD.join(parts[place:])
        if re.match(r"\s*(?:[A-Za-z][\w-]*=|(?:initial|nothing)\s*$)", what):
            return _WORD.join(parts[:place]), what
    if len(parts) == 1 or os.path.isfile(re.sub(r"\.py:.*", ".py", name, flags=re.DOTALL)):
        return name, None
    return parts[0], _WORD.join(parts[1:])  # so that the error says what the game can forget


def whole_path(what: str) -> str:
    """The same with the absolute path of a map, so that a checkpoint finds it from any folder."""
    name, equals, path = what.partition("=")
    return f"map={os.path.abspath(path)}" if equals and name == "map" else what


def abstraction_by_name(game: Game, tree: GameTree, what: str) -> Abstraction:
    """The abstraction of a game described by ``what``, such as ``last-bids=2``.

    Raises AbstractionError if it cannot be parsed, or does not fit the game; GameError if the game cannot forget that.
    """
    from counterplay.abstraction.infosets.abstraction import Abstraction
    from counterplay.abstraction.infosets.builders import abstract_by_key, initial_abstraction, null_abstraction

    spared = [part for part in _split(game, what) if part.startswith(_OUTSIDE)]
    if spared:
        return _with_experts(game, tree, what, spared)
    if what == "initial":
        return initial_abstraction(tree)
    if what == "nothing":
        return null_abstraction(tree)
    if what.startswith("map="):
        saved = dataclasses.replace(Abstraction.load(what.removeprefix("map=")), name=whole_path(what))
        saved.apply(tree)  # raises if it does not fit
        return saved
    steps = [_forget(game, part) for part in _split(game, what)]

    def key(player: int, infoset: str) -> str:
        for step in steps:
            infoset = step(infoset)
        return infoset

    return abstract_by_key(tree, key, what)


def _with_experts(game: Game, tree: GameTree, what: str, spared: list[str]) -> Abstraction:
    """What is forgotten outside some parts of the betting, and nothing inside them."""
    from counterplay.abstraction.experts import dynamic_abstraction, read_parts
    from counterplay.abstraction.infosets.builders import null_abstraction

    others = [part for part in _split(game, what) if part not in spared]
    if not others:
        raise AbstractionError(f"{what!r} says where nothing is forgotten; say also what is forgotten elsewhere")
    parts = read_parts(part.removeprefix(_OUTSIDE) for part in spared)
    base = abstraction_by_name(game, tree, ",".join(others))
    found = dynamic_abstraction(tree, base, dict.fromkeys(parts, null_abstraction(tree)))
    return dataclasses.replace(found, name=what)


def _split(game: Game, what: str) -> list[str]:
    """The parts of ``a=1,b=2``; a comma in a regular expression needs no care unless NAME= of something that can be
    forgotten follows it.
    """
    names = "|".join(map(re.escape, [*game.forgets, "match", "map", "outside"]))
    parts = re.split(rf",\s*(?=(?:{names})=)", what.lstrip())  # spaces at the end may belong to a pattern
    alone = [part for part in parts if part in ("initial", "nothing") or part.startswith("map=")]
    if alone and sum(not part.startswith(_OUTSIDE) for part in parts) > 1:
        raise AbstractionError(f"{alone[0]!r} cannot be combined with anything else; got {what!r}")
    return parts


def _forget(game: Game, what: str) -> Callable[[str], str]:
    name, equals, value = what.partition("=")
    if not equals or (name not in game.forgets and name != "match"):
        offers = ", ".join([*(f"{key}=..." for key in game.forgets), *GENERAL])
        raise AbstractionError(f"cannot forget {what!r}; {game.spec()} can forget {offers}")
    if name == "match":
        try:
            pattern = re.compile(value)
        except (re.error, RecursionError, OverflowError) as error:
            raise AbstractionError(f"{quoted(value)} is not a regular expression: {error}") from None
        return lambda infoset: pattern.sub("", infoset)
    return game.forget(name, value)
