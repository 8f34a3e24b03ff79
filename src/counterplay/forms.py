"""The forms of a game: which it has, how large they are, and opening them.

``open_game`` is the one way from whatever names a game to something that can be solved or played:

    history   every history in flat arrays (``GameTree``); any game that fits into memory
    public    public states x private hands (``PublicTree``); ``has_public_tree`` is the rule
    buckets   a betting tree x buckets of hands (``BucketGame``); poker with a card abstraction
    states    nothing is compiled: the game itself (``Game``)

A name is one of the registry (``leduc(ranks=4)``), a ``.efg``, ``.game`` or ``.py:Class`` file, ``openspiel:NAME``, the
name of a standard poker definition, any of these with `` forgetting WHAT``, or the name of a hold'em subgame.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Sequence
from typing import Any, Literal, TypedDict, Unpack, overload

from counterplay.abstraction.cards.card_abstraction import CardAbstraction
from counterplay.abstraction.infosets.abstraction import Abstraction
from counterplay.abstraction.infosets.by_name import abstraction_by_name, split_name
from counterplay.errors import AbstractionError, CounterplayError, GameError, MemoryLimitError
from counterplay.game.game import Game
from counterplay.game.registry import make
from counterplay.game.transforms import Tilt, TiltedGame
from counterplay.games.tilted import Tilted
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.buckets.bucket_counts import BucketGameSize, count_bucket_game
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_game import PokerGame, poker_game
from counterplay.poker.poker_public_tree import (
    build_public_tree,
    count_public_tree,
    public_tree_bytes,
    public_tree_refusal,
)
from counterplay.poker.postflop.subgame import SUBGAME, Subgame, parse_subgame
from counterplay.poker.raise_sizes import BetAbstraction, bet_abstraction
from counterplay.runtime.memory import available_memory, check_memory, format_bytes
from counterplay.runtime.progress import ProgressCallback
from counterplay.tree.history.compile import compile_game
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.sizes import BUILD_BYTES_PER_HISTORY, estimate_size, tree_bytes
from counterplay.tree.public.from_histories import split_public
from counterplay.tree.public.public_tree import PublicTree
from counterplay.tree.public.tilt_public import tilt_public
from counterplay.tree.public.unfold import count_play, unfold, unfolded_bytes

__all__ = [
    "FORMS", "AnyForm", "FormSize", "GameForms", "GameLike", "game_forms", "has_public_tree", "open_game",
    "poker_definition",
]  # fmt: skip

FORMS = ("history", "public", "buckets", "states")
"""The forms of a game."""

AnyForm = GameTree | PublicTree | BucketGame | Game
GameLike = AnyForm | type[Game] | str
Paths = Sequence[str | os.PathLike[str]]


class _Options(TypedDict, total=False):
    cards: Paths | None
    bets: str | None
    memory_limit: int | None
    progress: ProgressCallback | None


@dataclasses.dataclass(frozen=True)
class FormSize:
    """One form of a game.  What is not known, or does not apply, is None.

    Attributes
    ----------
    form : str
        One of ``FORMS``.
    available : bool
        Whether ``open_game`` opens it within the memory limit.
    too_large : bool
        The game has the form, but it does not fit.
    reason : str or None
        Why it is not available.
    exact : bool
        Whether the numbers are counted; otherwise they are estimates.
    histories, public_states, infosets, entries : int or None
        Histories, public states, information sets of all players, and pairs of an information set and an action.
    bytes : int or None
        Memory of the form itself, without the tables of a solver.
    """

    form: str
    available: bool
    too_large: bool = False
    reason: str | None = None
    exact: bool = True
    histories: int | None = None
    public_states: int | None = None
    infosets: int | None = None
    entries: int | None = None
    bytes: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = {"infosets": "information_sets"}
        return {names.get(name, name): value for name, value in dataclasses.asdict(self).items()}


@overload
def open_game(spec: GameLike, form: Literal["history"], **options: Unpack[_Options]) -> GameTree: ...
@overload
def open_game(spec: GameLike, form: Literal["public"], **options: Unpack[_Options]) -> PublicTree: ...
@overload
def open_game(spec: GameLike, form: Literal["buckets"], **options: Unpack[_Options]) -> BucketGame: ...
@overload
def open_game(spec: GameLike, form: Literal["states"], **options: Unpack[_Options]) -> Game: ...
@overload
def open_game(spec: GameLike, form: str = "auto", **options: Unpack[_Options]) -> Any: ...


def open_game(
    spec: GameLike,
    form: str = "auto",
    *,
    cards: Paths | None = None,
    bets: str | None = None,
    memory_limit: int | None = None,
    progress: ProgressCallback | None = None,
) -> Any:
    """Open a game in a form.

    Parameters
    ----------
    spec : str, Game, Game class, GameTree, PublicTree or BucketGame
        The game, see the head of this module; an object that has the form already is returned as it is.
    form : {"auto", "history", "public", "buckets", "states"}
        ``auto``: buckets with ``cards``; else histories if they fit, else a public tree if there is one, else states.
    cards : sequence of paths, optional
        Card abstractions of a poker game: one for all players, or one for each.
    bets : str, optional
        The raises that are left of a no-limit game, in buckets or on a public tree.
    memory_limit : int, optional
        Bytes that may be used; by default what the machine has free.
    progress : callable, optional
        Called now and then with the number of histories compiled so far.

    Returns
    -------
    GameTree, PublicTree, BucketGame or Game

    Raises
    ------
    GameError
        If the game does not have the form, or is broken.
    MemoryLimitError
        If the form is too large.
    """
    return GameForms(spec, cards=cards, bets=bets, memory_limit=memory_limit, progress=progress).open(form)


def game_forms(
    spec: GameLike, cards: Paths | None = None, bets: str | None = None, memory_limit: int | None = None
) -> tuple[FormSize, ...]:
    """All forms of a game with their sizes, in the order of ``FORMS``.

    Histories are compiled if they fit, for nothing else says how many information sets they have; whatever does not fit
    is counted from the rules or estimated.
    """
    return GameForms(spec, cards=cards, bets=bets, memory_limit=memory_limit).sizes()


def has_public_tree(spec: GameLike, memory_limit: int | None = None) -> bool:
    """Whether a game has a public tree, however large.

    Poker has one if two players hold one or two hole cards each; so does a game that describes its public play, and any
    other game with two players, perfect recall and public actions whose histories fit into memory.
    """
    return GameForms(spec, memory_limit=memory_limit).public_refusal() is None


def poker_definition(spec: GameLike) -> GameDefinition:
    """The definition of a poker game.

    Raises
    ------
    GameError
        If the game is not made from a definition.
    """
    game = GameForms(spec).game
    if not isinstance(game, PokerGame):
        raise GameError(f"{spec} has no hands and betting rounds that cards could be abstracted in; name a poker game")
    return game.definition


class GameForms:
    """One game, and its forms as they are asked for; what is compiled is kept.

    Parameters
    ----------
    spec, cards, bets, memory_limit, progress
        As in ``open_game``.
    forget : sequence of str
        What players forget, as after `` forgetting `` in a name.

    Attributes
    ----------
    name : str
        What the game is called.
    """

    def __init__(
        self,
        spec: GameLike,
        *,
        forget: Sequence[str] = (),
        cards: Paths | None = None,
        bets: str | None = None,
        memory_limit: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.opened: AnyForm | None = None if isinstance(spec, str | type) else spec
        self.cards = tuple(cards) if cards else ()
        self.bets = bets
        self.memory_limit = memory_limit
        self._progress = progress
        self._subgame: Subgame | None = None
        self._plain, self.forgotten = spec, ",".join(forget) or None
        if isinstance(spec, str):
            if spec.startswith(SUBGAME):
                self._subgame = parse_subgame(spec)
            else:
                self._plain, what = split_name(spec)
                if what is not None and forget:
                    raise AbstractionError(f"{spec!r} says what is forgotten; leave out --forget")
                self.forgotten = what or self.forgotten
        if not isinstance(spec, type):
            self.name = spec if isinstance(spec, str) else spec.spec() if isinstance(spec, Game) else spec.name
        else:
            self.name = self.game.spec()

    # ---------------------------------------------------------------------------------------------- opening

    def open(self, form: str = "auto") -> Any:
        """The game in a form; see ``open_game``."""
        if form not in ("auto", *FORMS):
            raise GameError(f"a form is one of auto, {', '.join(FORMS)}; got {form!r}")
        if isinstance(self.opened, GameTree | PublicTree | BucketGame) and form == "auto":
            return self.opened
        if form == "auto":
            return self._fitting()
        return {"history": self.history, "public": self.public, "buckets": self.buckets, "states": self.states}[form]()

    def _fitting(self) -> Any:
        if self.cards:
            return self.buckets()
        if self._subgame is not None:
            return self.public()
        try:
            return self.history()
        except MemoryLimitError:
            if self.forgotten is not None:
                raise
        if self._made_from_rules and self.public_refusal() is None:
            with contextlib.suppress(MemoryLimitError):
                return self.public()
        return self.states()

    @functools.cached_property
    def game(self) -> Game:
        """The rules; whatever goes wrong in a user's own file is raised as a GameError."""
        if isinstance(self.opened, GameTree | PublicTree | BucketGame):
            name = self.opened.name
            raise GameError(f"{name} is compiled already; name the game, or give the game itself, to walk its states")
        if self._subgame is not None:
            raise GameError("a hold'em subgame has a public tree only: its states cannot be walked")
        return _make(self._plain)

    def states(self) -> Game:
        """The game itself."""
        if self.forgotten is not None:
            raise GameError(f"{self.name} merges information sets of compiled histories; its states cannot be walked")
        return self.game

    @functools.cached_property
    def real(self) -> GameTree:
        """The histories of the game in which nothing is forgotten."""
        if isinstance(self.opened, GameTree):
            return self.opened
        return compile_game(self.game, memory_limit=self.memory_limit, progress=self._progress)

    @functools.cached_property
    def abstraction(self) -> Abstraction | None:
        """From the game to the one with what its players forget; None if they forget nothing."""
        if self.forgotten is None:
            return None
        return abstraction_by_name(self.game, self.real, self.forgotten)

    def history(self) -> GameTree:
        """The histories; merged information sets where something is forgotten."""
        return self._history

    @functools.cached_property
    def _history(self) -> GameTree:
        return self.real if self.abstraction is None else self.abstraction.apply(self.real)

    def public(self) -> PublicTree:
        """The public tree."""
        if isinstance(self.opened, PublicTree):
            return self.opened
        if self._subgame is not None:
            return self._subgame.tree()
        if isinstance(self.opened, GameTree) or self.forgotten is not None:
            return split_public(self.history()).public
        game, refusal = self.game, self.public_refusal()
        if refusal is not None:
            raise GameError(refusal)
        if self._poker is not None:
            rules = self._poker.definition
            advice = "use a card abstraction (--cards), or solve subgames"
            check_memory(f"the public tree of {self.name}", public_tree_bytes(rules), self.memory_limit, advice)
            tree = build_public_tree(rules, self._raises(), name=game.spec())
            return tree if self._tilt is None else tilt_public(tree, self._tilt, game.spec())
        play = game.public_play()
        if play is not None:
            return unfold(play, game.spec(), game.big_blind, self.memory_limit)
        return split_public(self.history()).public

    def buckets(self) -> BucketGame:
        """The game in the buckets of its card abstraction."""
        if isinstance(self.opened, BucketGame):
            return self.opened
        definition, abstractions = self._card_abstractions()
        paths = [os.path.abspath(path) for path in self.cards]
        rounds = [abstraction.rounds for abstraction in abstractions]
        return BucketGame.build(definition, rounds, self._raises(), name=self.name, cards=paths)

    def _card_abstractions(self, verify: bool = True) -> tuple[GameDefinition, tuple[CardAbstraction, ...]]:
        """The definition and the card abstraction of each player."""
        definition, cards = poker_definition(self.states()), self.cards
        if not cards:
            raise GameError(f"{self.name} has buckets in a card abstraction only; give its file as cards")
        if len(cards) not in (1, definition.players):
            raise AbstractionError(
                f"give one card abstraction for all players, or one for each of the {definition.players}; "
                f"got {len(cards)}"
            )
        paths = [os.fspath(path) for path in cards]
        opened = {path: CardAbstraction.load(path, definition, verify) for path in dict.fromkeys(paths)}
        each = [opened[path] for path in paths]
        return definition, tuple(each * definition.players if len(each) == 1 else each)

    def _raises(self) -> BetAbstraction | None:
        return None if self.bets is None else bet_abstraction(self.bets)

    def _allowed(self) -> int:
        return available_memory() if self.memory_limit is None else self.memory_limit

    # ---------------------------------------------------------------------------------------------- questions

    @functools.cached_property
    def _made_from_rules(self) -> bool:
        """Whether the public tree does not need the histories."""
        if isinstance(self.opened, GameTree | BucketGame) or self.forgotten is not None:
            return False
        if isinstance(self.opened, PublicTree) or self._subgame is not None:
            return True
        return self._poker is not None or self.game.public_play() is not None

    @functools.cached_property
    def _tilted(self) -> TiltedGame | None:
        """The game with its tilt, if it is tilted."""
        game = self.game.below() if isinstance(self.game, Tilted) else self.game
        return game if isinstance(game, TiltedGame) else None

    @property
    def _tilt(self) -> Tilt | None:
        return None if self._tilted is None else self._tilted.tilt

    @property
    def _poker(self) -> PokerGame | None:
        """The poker game, tilted or not; None if it is not made from a definition."""
        game = self.game if self._tilted is None else self._tilted.game
        return game if isinstance(game, PokerGame) else None

    def public_refusal(self) -> str | None:
        """Why the game has no public tree; None if it has one."""
        if isinstance(self.opened, BucketGame):
            return f"{self.name} in buckets has no public tree"
        if self._made_from_rules:
            if isinstance(self.opened, PublicTree) or self._subgame is not None:
                return None
            return None if self._poker is None else public_tree_refusal(self._poker.definition)
        try:
            split_public(self.history())
        except MemoryLimitError as error:
            return f"its public tree is made from its histories, and {error}"
        except GameError as error:
            return str(error)
        return None

    def sizes(self) -> tuple[FormSize, ...]:
        """All forms, in the order of ``FORMS``."""
        return self.history_size(), self.public_size(), self.buckets_size(), self.states_size()

    def history_size(self) -> FormSize:
        """The size of the compiled histories; of a game that is too large an estimate."""
        try:
            tree = self.history()
        except MemoryLimitError as error:
            return self._estimated_histories(str(error))
        except GameError as error:
            if self._subgame is None and not isinstance(self.opened, PublicTree | BucketGame):
                raise
            return FormSize("history", False, reason=str(error))
        return FormSize(
            "history", True, histories=tree.num_histories, infosets=tree.num_infosets, entries=tree.num_entries,
            bytes=tree_bytes(tree),
        )  # fmt: skip

    def _estimated_histories(self, reason: str) -> FormSize:
        count = self.game.num_histories()
        exact = count is not None
        if count is None:
            count = int(estimate_size(self.game, max_depth=1000).histories)
        needed = count * BUILD_BYTES_PER_HISTORY
        return FormSize("history", False, True, reason, exact, histories=count, bytes=needed)

    def public_size(self) -> FormSize:
        """The size of the public tree, counted from the rules where that is possible."""
        refusal = self.public_refusal()
        if refusal is not None:
            return FormSize("public", False, reason=refusal)
        if not self._made_from_rules or isinstance(self.opened, PublicTree) or self._subgame is not None:
            try:
                tree = self.public()
            except MemoryLimitError as error:
                return FormSize("public", False, True, str(error))
            return FormSize(
                "public", True, public_states=tree.num_public_states, infosets=tree.num_infosets,
                entries=sum(tree.num_entries), bytes=tree.nbytes,
            )  # fmt: skip
        return self._counted_public()

    def _counted_public(self) -> FormSize:
        counts: tuple[int | None, int | None, int | None] = (None, None, None)
        if self._poker is not None:
            needed = public_tree_bytes(self._poker.definition)
            try:
                counts = count_public_tree(self._poker.definition, self._raises())
            except CounterplayError:  # the betting is too large to be counted
                needed = max(needed, self._allowed() + 1)
        else:
            play = self.game.public_play()
            assert play is not None
            needed, counts = unfolded_bytes(play), count_play(play)
        large = needed > self._allowed()
        reason = f"it needs about {format_bytes(needed)}" if large else None
        states, infosets, entries = counts
        exact = infosets is not None
        return FormSize("public", not large, large, reason, exact, None, states, infosets, entries, needed)

    def buckets_size(self) -> FormSize:
        """The size in the buckets of the card abstraction, counted from the rules."""
        if isinstance(self.opened, BucketGame):
            game = self.opened
            return FormSize(
                "buckets", True, infosets=game.num_infosets, entries=game.num_entries, bytes=game.tree_bytes
            )
        if not self.cards:
            poker = self._subgame is None and not self.opened_elsewhere and isinstance(self.game, PokerGame)
            needs = (
                "a card abstraction (--cards; counterplay abstract makes one)"
                if poker
                else "a poker game and a card abstraction"
            )
            return FormSize("buckets", False, reason=f"buckets need {needs}")
        size = self.bucket_counts()
        return FormSize("buckets", True, infosets=size.infosets, entries=size.entries, bytes=size.tree_bytes)

    @property
    def is_subgame(self) -> bool:
        """Whether it is a hold'em subgame."""
        return self._subgame is not None

    @property
    def opened_elsewhere(self) -> bool:
        """Whether only a compiled form was given, without the rules."""
        return isinstance(self.opened, GameTree | PublicTree | BucketGame)

    def bucket_counts(self) -> BucketGameSize:
        """The size of the bucket game in detail; nothing is built."""
        definition, abstractions = self._card_abstractions(verify=False)
        return count_bucket_game(definition, [one.counts() for one in abstractions], self._raises())

    def recalls(self) -> tuple[str, ...]:
        """What each player's card abstraction remembers."""
        return tuple(one.recall for one in self._card_abstractions(verify=False)[1])

    def states_size(self) -> FormSize:
        """The rules, which need no memory."""
        try:
            game = self.states()
        except GameError as error:
            return FormSize("states", False, reason=str(error))
        return FormSize("states", True, histories=game.num_histories(), bytes=0)


def _make(spec: Any) -> Game:
    """The game of a name; whatever goes wrong in a user's own file becomes a GameError."""
    if isinstance(spec, str) and spec in STANDARD:
        return poker_game(f"{spec}.game")
    try:
        return make(spec)
    except CounterplayError:
        raise
    except Exception as error:
        raise GameError(f"{spec} cannot be made: {type(error).__name__}: {error}") from error
