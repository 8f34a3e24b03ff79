"""Public trees of poker games: the betting of a definition, or of a subgame, over the deals of its cards.

A betting tree is turned into nodes with a link wherever cards are dealt; a hand that is all in before the last cards
are out has a link for each deal that is left.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import GameError
from counterplay.game.game import TERMINAL, Game
from counterplay.game.registry import make
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.betting import BettingTree, build_betting_tree
from counterplay.poker.board_tree import DealTree, deal_cards, hole_hands
from counterplay.poker.poker_game import PokerGame
from counterplay.poker.raise_sizes import BetAbstraction
from counterplay.poker.three_cards import showdown_tables
from counterplay.runtime.memory import check_memory
from counterplay.tree.history.compile import compile_game
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.public.from_histories import public_tree_from
from counterplay.tree.public.public_tree import FOLD, LINK, SHOWDOWN, PublicNode, PublicTree, lay_out
from counterplay.tree.public.unfold import unfold

SUBGAME = "holdem{"
"""How the names of hold'em subgames start."""

__all__ = [
    "assemble",
    "dealt",
    "public_tree_by_name",
    "public_tree_bytes",
    "public_tree_of",
    "put_together",
    "tells_public_tree",
]


def public_tree_of(
    game: GameDefinition,
    bets: BetAbstraction | None = None,
    isomorphic: bool = True,
    name: str = "poker",
) -> PublicTree:
    """The public tree of a whole game of poker with two players.

    Raises
    ------
    GameError
        If the game has not two players, or hands of more than two cards.
    """
    if game.players != 2:
        raise GameError(f"a public tree needs two players; this game has {game.players}")
    full = np.ones(len(hole_hands(game.deck, game.hole_cards)))
    dealt = [cards for cards in game.board_cards if cards]
    if game.board_cards[0]:
        raise GameError("a public tree starts before any board card; this game deals some in its first round")
    tables = showdown_tables(game)
    deals = deal_cards(game.deck, game.suits, game.hole_cards, (), dealt, (full, full), isomorphic, tables)
    return assemble(build_betting_tree(game, bets), deals, name, game.hole_cards, float(game.big_blind))


def public_tree_bytes(game: GameDefinition) -> int:
    """About how much memory the deals of a whole game of poker take; its tables come on top."""
    left, boards, hands = len(game.deck), 1, math.comb(len(game.deck), game.hole_cards)
    total = 0
    for cards in game.board_cards:
        if cards:
            boards, left = boards * math.comb(left, cards), left - cards
            total += boards
    return 64 * hands * total // math.factorial(game.suits)


def public_tree_by_name(game: PublicTree | GameTree | Game | str, memory_limit: int | None = None) -> PublicTree:
    """The public tree of a game, or of the game with a name.

    Cards are dealt up to renaming suits; a game that tells its public play has it unfolded; any other is compiled, and
    split by its information sets.

    Raises
    ------
    GameError
        If the game has no public tree.
    MemoryLimitError
        If its deals do not fit.
    """
    if isinstance(game, PublicTree):
        return game
    if isinstance(game, GameTree):
        return public_tree_from(game)
    if isinstance(game, str) and game.startswith(SUBGAME):
        from counterplay.poker.postflop.subgame import subgame_by_name

        return subgame_by_name(game).tree()
    made = make(game)
    if isinstance(made, PokerGame):
        _check_deals(made, memory_limit)
        return public_tree_of(made.definition, name=made.spec())
    play = made.public_play()
    if play is not None:
        return unfold(play, made.spec(), made.big_blind, memory_limit)
    return public_tree_from(compile_game(made, memory_limit=memory_limit))


def _check_deals(game: PokerGame, memory_limit: int | None) -> None:
    needed = public_tree_bytes(game.definition) if game.definition.players == 2 else 0
    advice = "use a card abstraction (--cards), or solve subgames"
    check_memory(f"the public tree of {game.spec()}", needed, memory_limit, advice)


def tells_public_tree(game: Game | str) -> bool:
    """Whether a game has a public tree that is made without its histories."""
    made = make(game)
    if isinstance(made, PokerGame):
        return made.players == 2 and made.definition.hole_cards <= 2
    return made.public_play() is not None


def assemble(
    betting: BettingTree, deals: DealTree, name: str, hole_cards: int, big_blind: float | None, first_round: int = 0
) -> PublicTree:
    """Put betting and deals together; the betting starts in round ``first_round``, at deal 0."""
    level_of = np.cumsum([cards > 0 for cards in betting.game.board_cards])
    level_of -= level_of[first_round]
    spans = [(low, high) for low, high in zip(deals.level_start, deals.level_start[1:], strict=False)]
    showdown = betting.showdowns()
    nodes: dict[int, PublicNode] = {}
    for number in range(len(betting) - 1, -1, -1):  # children come after their parents
        level = int(level_of[betting.round[number]])
        text = betting.text(number)
        if betting.player[number] == TERMINAL:
            # of an end by fold the round is that of the last action
            node = PublicNode(SHOWDOWN if showdown[number] else FOLD, spans[level], text=text)
            spent = betting.spent[number]
            if showdown[number]:
                node.payoff = float(spent.min())
            else:
                node.payoff = float(-spent[0] if betting.folded[number] & 1 else spent[1])
        else:
            children = [
                dealt(nodes[child], level, int(level_of[betting.round[child]]), spans)
                for child in betting.children(number)
            ]
            node = PublicNode(int(betting.player[number]), spans[level], children, tuple(betting.actions(number)), text)
        nodes[number] = node
    return put_together(nodes[0], deals, name, hole_cards, float(betting.spent.max()), big_blind)


def put_together(
    root: PublicNode, deals: DealTree, name: str, hole_cards: int, stakes: float, big_blind: float | None
) -> PublicTree:
    """The tree of nodes and deals; ``stakes`` is the most that can be won."""
    arrays: dict[str, Any] = lay_out(root, (deals.hands[0].start, deals.hands[1].start), len(deals.parent))
    none: NDArray[Any] = np.zeros(0)
    return PublicTree(
        name=name, **arrays, deal_parent=deals.parent, deal_first=deals.first, deal_count=deals.count,
        deal_weight=deals.weight, deal_prob=deals.prob, hands=deals.hands, matrix=none,
        factor_class=np.zeros((2, 0, 0), np.uint8), factor_count=np.zeros((2, 0), np.int32),
        pair_hands=hole_cards == 2, scale=stakes * float(deals.hands[0].root_reach.sum()),
        deal_text=deals.text, big_blind=big_blind,
    )  # fmt: skip


def dealt(node: PublicNode, before: int, after: int, spans: list[tuple[int, int]]) -> PublicNode:
    """A node, behind one link for each deal between two levels."""
    for level in range(after - 1, before - 1, -1):
        node = PublicNode(LINK, spans[level], [node], text=node.text)
    return node
