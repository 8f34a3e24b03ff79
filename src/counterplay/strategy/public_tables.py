"""A game as its public tree, and its profiles as tables of that tree: both ways.

The public tree comes from ``counterplay.forms``; here its information sets get their names, which depend on the game:
poker deals its cards up to renaming suits, a game that describes its public play names them itself, any other is split
by the information sets of its histories.

A profile fits the isomorphic tree of a card game only if it plays isomorphic hands and boards equally (Johanson 2016,
section 2.4); another one is refused.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import StrategyError
from counterplay.forms import GameForms
from counterplay.game.game import Game
from counterplay.game.public_play import PublicPlay
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.poker.poker_game import PokerGame, infoset_name
from counterplay.runtime.memory import check_memory
from counterplay.strategy.public_lookup import normalised
from counterplay.strategy.strategy import Provenance, Row
from counterplay.strategy.tabular import SEEN, TabularStrategy, normalise
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.history_arrays import infosets_digest
from counterplay.tree.public.from_histories import PublicSplit, split_public
from counterplay.tree.public.public_tree import LINK, PublicTree

Tables = tuple[NDArray[Any], NDArray[Any]]

ALIKE = 1e-9
"""How far probabilities may differ that should be the same."""

NAME_BYTES = 250
"""Bytes of a named information set in a profile, roughly."""


class TableConverter(ABC):
    """Converts profiles of a game to tables of its public tree, and back."""

    tree: PublicTree

    @abstractmethod
    def tables(self, profile: TabularStrategy) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The strategies of a profile as tables of the public tree.

        Raises StrategyError if the profile belongs to another game, or distinguishes isomorphic suits.
        """

    @abstractmethod
    def profile(self, tables: Tables, provenance: Provenance | None = None) -> TabularStrategy:
        """The strategies to which two tables are matched (in proportion to what is above 0) as a profile."""

    def rows(self, tables: Tables) -> Iterator[Row]:
        """The infosets of two tables."""
        return self.profile(tables).infosets()


def table_converter(
    game: GameTree | Game | str, isomorphic: bool = True, memory_limit: int | None = None
) -> TableConverter:
    """The converter of a game; one that is already compiled is split unchanged.

    With ``isomorphic``, a game of cards takes suits as one that can be renamed.  Raises GameError if the game has no
    public tree; the message says why.
    """
    forms = GameForms(game, memory_limit=memory_limit)
    if forms.subgame is not None:
        return SubgameConverter(forms)
    if not forms.compiled and forms.forgotten is None:
        play = forms.game.public_play()
        if play is not None:
            return PlayConverter(play, forms)
        if forms.poker is not None:
            return PokerConverter(forms, forms.poker, isomorphic)
    return SplitConverter(split_public(forms.history()))


class SplitConverter(TableConverter):
    """For a compiled game."""

    def __init__(self, split: PublicSplit) -> None:
        self.split = split
        self.tree = split.public

    def tables(self, profile: TabularStrategy) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """As ``TableConverter.tables``."""
        return self.split.tables(profile.for_tree(self.split.game))

    def profile(self, tables: Tables, provenance: Provenance | None = None) -> TabularStrategy:
        """As ``TableConverter.profile``."""
        weights = np.maximum(self.split.values(tables).astype(np.float64), 0.0)
        game = self.split.game
        return TabularStrategy.from_tree(game, normalise(weights, game.infoset_offset), provenance)


@dataclasses.dataclass(frozen=True)
class _State:
    """A public state at which a player acts, with the names of the player's information sets."""

    player: int
    entries: slice
    actions: tuple[str, ...]
    names: list[str]


class _NamedConverter(TableConverter):
    """For a game whose information sets are known by their names."""

    name: str

    @abstractmethod
    def states(self) -> Iterator[_State]:
        """All decisions; the names are those that ``key`` gives."""

    def key(self, name: str) -> str:
        """The name under which an information set of a profile is kept here."""
        return name

    def tables(self, profile: TabularStrategy) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """As ``TableConverter.tables``."""
        first, second = (np.zeros(size) for size in self.tree.num_entries)
        known, labels = self._keyed(profile)
        for state in self.states():
            rows = []
            for name in state.names:
                number = known.get((state.player, name))
                if number is None or labels[number] != state.actions:
                    raise StrategyError(
                        f"this profile of {profile.game} does not fit {self.name}: it lacks information set "
                        f"{name!r} of player {state.player + 1} with actions {', '.join(state.actions)}"
                    )
                rows.append(profile.table[profile.infoset_offset[number] : profile.infoset_offset[number + 1]])
            (first, second)[state.player][state.entries] = np.array(rows).T.ravel()
        return first, second

    def _keyed(self, profile: TabularStrategy) -> tuple[dict[tuple[int, str], int], tuple[tuple[str, ...], ...]]:
        """The number of an information set of the profile for each key, after checking that those of one key agree."""
        known: dict[tuple[int, str], int] = {}
        offset, shares = profile.infoset_offset, profile.table
        for number, (player, name) in enumerate(
            zip(profile.infoset_player.tolist(), profile.infoset_names, strict=True)
        ):
            other = known.setdefault((player, self.key(name)), number)
            if other == number:
                continue
            one, two = shares[offset[number] : offset[number + 1]], shares[offset[other] : offset[other + 1]]
            if profile.actions[number] != profile.actions[other] or np.abs(one - two).max() > ALIKE:
                raise StrategyError(
                    f"this profile of {profile.game} distinguishes suits: it plays {one.tolist()} at {name!r} but "
                    f"{two.tolist()} at {profile.infoset_names[other]!r}; evaluate it without isomorphism"
                )
        return known, profile.actions

    def rows(self, tables: Tables) -> Iterator[Row]:
        """As ``TableConverter.rows``."""
        for state in self.states():
            shares = normalised(tables[state.player][state.entries].astype(np.float64).reshape(len(state.actions), -1))
            for hand, name in enumerate(state.names):
                yield state.player, name, dict(zip(state.actions, shares[:, hand].tolist(), strict=True))

    def profile(self, tables: Tables, provenance: Provenance | None = None) -> TabularStrategy:
        """As ``TableConverter.profile``."""
        what = f"a profile with the names of {self.tree.num_infosets:,} information sets"
        check_memory(what, self.tree.num_infosets * NAME_BYTES, None, "keep the profile of the public tree")
        states = sorted(self.states(), key=lambda state: state.player)
        names = tuple(name for state in states for name in state.names)
        labels = tuple(state.actions for state in states for _ in state.names)
        offset = np.concatenate([[0], np.cumsum([len(row) for row in labels])]).astype(np.int64)
        rows = [tables[one.player][one.entries].reshape(len(one.actions), -1).T.ravel() for one in states]
        values = np.maximum(np.concatenate(rows), 0.0)
        owner = np.repeat(np.array([one.player for one in states], np.int8), [len(one.names) for one in states])
        return TabularStrategy(
            game=self.name, digest=SEEN + infosets_digest(owner.tolist(), names, labels), players=2,
            infoset_player=owner, infoset_offset=offset, infoset_names=names, actions=labels,
            table=normalise(values, offset), provenance=provenance or Provenance("by hand"),
        )  # fmt: skip


class PlayConverter(_NamedConverter):
    """For a game that describes its public play."""

    def __init__(self, play: PublicPlay, forms: GameForms) -> None:
        self.play = play
        self.tree = forms.public()
        self.name = self.tree.name

    def states(self) -> Iterator[_State]:
        """All decisions, from the first on."""
        tree = self.tree
        paths: dict[int, tuple[str, ...]] = {0: ()}
        for node in np.flatnonzero(tree.kind <= LINK).tolist():
            path, child = paths.pop(node), int(tree.first_child[node])
            if tree.kind[node] == LINK:
                paths[child] = path
                continue
            player, actions = int(tree.kind[node]), tree.actions_of(node)
            names = [self.play.infoset(hand, path) for hand in tree.hands[player].labels]
            yield _State(player, tree.entries(node, 0), actions, names)
            for number, action in enumerate(actions):
                if tree.kind[child + number] <= LINK:
                    paths[child + number] = (*path, action)


class _CardConverter(_NamedConverter):
    """For a game of cards."""

    @abstractmethod
    def names(self, held: list[list[int]], dealt: list[str], betting: str) -> list[str]:
        """The names of the information sets of some hands, after the board cards of each round."""

    def states(self) -> Iterator[_State]:
        """All decisions, from the first on."""
        tree = self.tree
        for node in np.flatnonzero(tree.kind < LINK).tolist():
            player, text = int(tree.kind[node]), tree.node_text[node]
            hands = tree.hands[player]
            for deal in range(int(tree.deal_low[node]), int(tree.deal_high[node])):
                names = self.names(hands.card[hands.slice(deal)].tolist(), tree.deal_text[deal].split(), text)
                yield _State(player, tree.entries(node, deal), tree.actions_of(node), names)


class PokerConverter(_CardConverter):
    """For poker; information sets are kept by their names with suits renamed."""

    def __init__(self, forms: GameForms, game: PokerGame, isomorphic: bool = True) -> None:
        self.forms = forms
        self.game = game
        self.isomorphic = isomorphic or game.isomorphic
        self.tree = forms.public(self.isomorphic)
        self.name = self.tree.name

    def key(self, name: str) -> str:
        """The name with suits renamed."""
        if not self.isomorphic:
            return name
        cards, _, betting = name.partition(":")
        return infoset_name(tuple(parse_cards(part) for part in cards.split("/")), betting, True)

    def profile(self, tables: Tables, provenance: Provenance | None = None) -> TabularStrategy:
        """As ``TableConverter.profile``; where the game distinguishes suits, with a row for each of its hands."""
        if not self.isomorphic or self.game.isomorphic:
            return super().profile(tables, provenance)
        rows = {}
        for state in self.states():
            shares = tables[state.player][state.entries].reshape(len(state.actions), -1)
            rows.update({(state.player, name): shares[:, hand] for hand, name in enumerate(state.names)})
        whole = PokerConverter(self.forms, self.game, isomorphic=False)
        first, second = (np.zeros(size) for size in whole.tree.num_entries)
        for state in whole.states():
            columns = [rows[state.player, self.key(name)] for name in state.names]
            (first, second)[state.player][state.entries] = np.array(columns).T.ravel()
        return whole.profile((first, second), provenance)

    def names(self, held: list[list[int]], dealt: list[str], betting: str) -> list[str]:
        """As ``_CardConverter.names``."""
        definition, boards = self.game.definition, iter(dealt)
        rounds = definition.board_cards[: betting.count("/") + 1]
        board = [parse_cards(next(boards)) if cards else () for cards in rounds]
        holes = [tuple(hand[: definition.hole_cards]) for hand in held]
        return [infoset_name((hole, *board), betting, self.isomorphic) for hole in holes]


class SubgameConverter(_CardConverter):
    """For a hold'em subgame; an infoset is a real hand of a class, the board and the betting: ``AsKs/QsJh2h:bet50``."""

    def __init__(self, forms: GameForms) -> None:
        self.tree = forms.public()
        self.name = self.tree.name

    def names(self, held: list[list[int]], dealt: list[str], betting: str) -> list[str]:
        """As ``_CardConverter.names``."""
        return [f"{cards_text(hole)}/{'/'.join(dealt)}:{betting}" for hole in held]
