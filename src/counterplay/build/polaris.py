"""The preset ``polaris``: the five components of the agent of the matches of 2008, of a laptop's size.

Johanson 2016, section 8.2 and table 2.3.  *Pink* is an equilibrium; *Orange*, *Peach*, *Red* and *Green* are those of
tilted games, played in the real one.  The first three have one card abstraction, the last two a smaller one; in both a
class of boards (public texture) is split by percentiles of hand strength, and earlier buckets are forgotten.  How many
buckets there were is not published.  Nor is the rule that chose among the components; ``agents.portfolio`` has ours.

Scaled: Pink's game has at most the preset's information sets, that of Red and Green fewer by the fourth root of the
ratio of their published sizes, as recipes do (``build.recipes``).  A game that fits is not abstracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from counterplay.abstraction.cards import CardRecipe, RoundRecipe, deck_shape
from counterplay.abstraction.cards.textures import texture_count
from counterplay.build.presets import MOST_BUCKETS
from counterplay.errors import GameError
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.isomorphism import HandIndexer


class Component(NamedTuple):
    """What was published about a component: information sets, tilt, and exploitability in the real game, mbb/g."""

    name: str
    infosets: int
    tilt: str
    exploitability: float


COMPONENTS = (
    Component("pink", 266_135_752, "none", 235.294),
    Component("orange", 266_135_752, "orange 7", 227.457),
    Component("peach", 266_135_752, "peach 7", 228.325),
    Component("red", 115_386_552, "red 7", 257.231),
    Component("green", 115_386_552, "green 7", 263.702),
)
"""Table 2.3."""

FIRST_ROUND = 10
"""The first round keeps all hands if that takes one information set in so many."""


def polaris_members(
    definition: GameDefinition, infosets: int, decisions: Sequence[int]
) -> tuple[tuple[str, str, str], ...]:
    """The name, the cards and the tilt of each component, within a number of information sets.

    Raises
    ------
    GameError
        If the game has other than two players, or hands without a strength that buckets could be made of.
    """
    if definition.players != 2:
        raise GameError(f"the preset polaris is for two players; the game has {definition.players}")
    first = COMPONENTS[0].infosets
    cards = {
        size: str(texture_cards(definition, round(infosets * (size / first) ** 0.25), decisions))
        for size in {one.infosets for one in COMPONENTS}
    }
    return tuple((one.name, cards[one.infosets], one.tilt) for one in COMPONENTS)


def texture_cards(definition: GameDefinition, infosets: int, decisions: Sequence[int]) -> CardRecipe:
    """The finest percentiles within textures of the board that fit; without textures if not even two in each do."""
    deck, shape = deck_shape(definition)
    sizes = HandIndexer(shape, *deck).sizes
    if sum(map(int.__mul__, map(int, sizes), decisions)) <= infosets:
        return CardRecipe(tuple(RoundRecipe("lossless", size) for size in sizes))
    if definition.three_card_hands:
        raise GameError("hands of three cards have no strength that buckets could be made of; choose the preset laptop")
    whole = sizes[0] * decisions[0] <= infosets / FIRST_ROUND
    best = None
    for textures in (True, False):
        for pairs in range(1, MOST_BUCKETS // 2 + 1):
            tried = CardRecipe(tuple(
                _round(turn, pairs, textures, whole, (deck, shape), size) for turn, size in enumerate(sizes)
            ))  # fmt: skip
            fits = sum(map(int.__mul__, map(int, tried.counts(deck, shape)), decisions)) <= infosets
            if not fits and (best is not None or textures):
                break
            best = tried
            if not fits:
                break
        if best is not None:
            break
    assert best is not None
    return best


def _round(
    turn: int, pairs: int, textures: bool, whole: bool, cards: tuple[tuple[int, int], tuple[int, ...]], size: int
) -> RoundRecipe:
    """The buckets of a round: so many nested pairs in each texture, all hands if those are more."""
    deck, shape = cards
    forgets = turn < len(shape) - 1
    split = textures and turn > 0
    groups = texture_count(deck, sum(shape[1 : turn + 1])) if split else 1
    if (turn == 0 and whole) or groups * pairs * 2 >= size:
        return RoundRecipe("lossless", size, forgets=forgets)
    return RoundRecipe("PHS", pairs, 2, textures=split, forgets=forgets)
