"""Opening a game in one of its forms.

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
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, cast, overload

from counterplay.abstraction.infosets.by_name import abstraction_by_name, split_name
from counterplay.errors import AbstractionError, CounterplayError, GameError, MemoryLimitError
from counterplay.game.game import Game
from counterplay.game.registry import make
from counterplay.game.state_checks import raised_at
from counterplay.poker.postflop import SUBGAME
from counterplay.runtime.memory import check_memory, read_memory
from counterplay.tree.history.compile import compile_game
from counterplay.tree.history.game_tree import GameTree

if TYPE_CHECKING:
    from counterplay.abstraction.cards.card_abstraction import CardAbstraction
    from counterplay.abstraction.infosets.abstraction import Abstraction
    from counterplay.game.transforms import Tilt, TiltedGame
    from counterplay.poker.acpc.definition import GameDefinition
    from counterplay.poker.buckets.asymmetric_game import AsymmetricGame
    from counterplay.poker.buckets.bucket_counts import BucketGameSize
    from counterplay.poker.buckets.bucket_game import BucketGame
    from counterplay.poker.poker_game import PokerGame
    from counterplay.poker.postflop.subgame import Subgame
    from counterplay.poker.raise_sizes import BetAbstraction
    from counterplay.runtime.progress import ProgressCallback
    from counterplay.tree.public.from_histories import PublicSplit
    from counterplay.tree.public.public_tree import PublicTree

FORMS = ("history", "public", "buckets", "states")
"""The forms of a game."""

AnyForm: TypeAlias = "GameTree | PublicTree | BucketGame | Game"
GameLike: TypeAlias = "AnyForm | type[Game] | str"
Paths = Sequence[str | os.PathLike[str]]


class _Options(TypedDict, total=False):
    cards: Paths | None
    bets: str | None
    memory_limit: int | str | None
    progress: ProgressCallback | None


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


def open_game(spec: GameLike, form: str = "auto", **options: Unpack[_Options]) -> Any:
    """Open a game in a form.

    Parameters
    ----------
    spec : str, Game, Game class, GameTree, PublicTree or BucketGame
        The game, see the module docstring; an object that already has the form is returned unchanged.
    form : {"auto", "history", "public", "buckets", "states"}
        ``auto``: buckets with ``cards``; else histories if they fit, else a public tree if there is one, else states.
    cards : sequence of paths, optional
        Card abstractions of a poker game: one for all players, or one for each.  Those of a part of the betting are
        written ``rf=FILE`` (``abstraction.experts``).
    bets : str, optional
        The betting abstraction of a no-limit game, in buckets or on a public tree.
    memory_limit : int or str, optional
        Memory that may be used, as ``"2GiB"`` or in bytes; by default what the machine has free.
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
    return GameForms(spec, **options).open(form)


def has_public_tree(spec: GameLike, memory_limit: int | None = None) -> bool:
    """Whether a game has a public tree, however large.

    Poker has one if two players hold one or two hole cards each; so does a game that describes its public play, and any
    other game with two players, perfect recall and public actions whose histories fit into memory.
    """
    try:
        return GameForms(spec, memory_limit=memory_limit).public_refusal() is None
    except MemoryLimitError:
        return False


def poker_definition(spec: GameLike) -> GameDefinition:
    """The definition of a poker game.  Raises GameError if the game is not made from a definition."""
    from counterplay.poker.poker_game import PokerGame

    game = GameForms(spec).game
    if not isinstance(game, PokerGame):
        same = _same_rules(game)
        advice = (
            f"use {same}, the same game from its definition" if same else "name a poker game such as leduc_limit_2p"
        )
        raise GameError(f"{spec} has no hands and betting rounds that cards could be abstracted in; {advice}")
    return game.definition


def _same_rules(game: Game) -> str | None:
    """The name of the registered poker game with the same rules, if there is one."""
    from counterplay.poker.acpc.definition import GameDefinition
    from counterplay.poker.poker_game import standard_name

    rules = game.acpc_rules()
    return None if rules is None else standard_name(GameDefinition(**rules))


class GameForms:
    """One game, and its forms on demand; compiled forms are kept.

    Parameters
    ----------
    spec, cards, bets, memory_limit, progress
        As in ``open_game``.
    forget : sequence of str
        What players forget, as after `` forgetting `` in a name.
    opponent_cards : path, optional
        The card abstraction of an opponent, or ``none`` for one without; see ``asymmetric``.

    Attributes
    ----------
    name : str
        The name of the game.
    subgame : Subgame or None
        The hold'em subgame, if it is one.
    """

    def __init__(
        self, spec: GameLike, *, forget: Sequence[str] = (), cards: Paths | None = None,
        opponent_cards: str | os.PathLike[str] | None = None, bets: str | None = None,
        memory_limit: int | str | None = None, progress: ProgressCallback | None = None,
    ) -> None:  # fmt: skip
        if not (isinstance(spec, str | type | Game) or hasattr(spec, "name")):
            raise GameError(f"a game is a name, a path, a Game, or one that is already open; got {type(spec).__name__}")
        self.opened: Any = None if isinstance(spec, str | type) else spec
        self._given = getattr(self.opened, "form_name", None)  # the form in which a compiled game was given
        self.cards = tuple(cards) if cards else ()
        self.opponent_cards, self.bets = opponent_cards, bets
        self.memory_limit = read_memory(memory_limit)
        self._progress = progress
        self.subgame: Subgame | None = None
        self._too_large: MemoryLimitError | None = None
        self._plain, self.forgotten = spec, ",".join(forget) or None
        if isinstance(spec, str):
            if spec.startswith(SUBGAME):
                from counterplay.poker.postflop.subgame import parse_subgame

                self.subgame = parse_subgame(spec)
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
        if self.compiled and form == "auto":
            return self.opened
        if form == "auto":
            return self._fitting()
        return getattr(self, form)()

    def _fitting(self) -> Any:
        if self.cards:
            return self.buckets()
        if self.subgame is not None:
            return self.public()
        try:
            return self.history()
        except MemoryLimitError:
            if self.forgotten is not None:
                raise
        if self.made_from_rules and self.public_refusal() is None:
            with contextlib.suppress(MemoryLimitError):
                return self.public()
        return self.states()

    @functools.cached_property
    def game(self) -> Game:
        """The rules; whatever goes wrong in a user's own file is raised as a GameError."""
        if self.compiled:
            name = self.opened.name
            raise GameError(f"{name} is compiled in another form already; name the game, or give the game itself")
        if self.subgame is not None:
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
        if self._too_large is None:
            try:
                return compile_game(self.game, memory_limit=self.memory_limit, progress=self._progress)
            except MemoryLimitError as error:
                self._too_large = error  # asked again, the answer is the same
        raise self._too_large

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

    def public(self, isomorphic: bool = True) -> PublicTree:
        """The public tree; of poker up to the names of suits by default."""
        if self._given == "public":
            return cast("PublicTree", self.opened)
        if self.subgame is not None:
            return self.subgame.tree()
        if self._given == "history" or self.forgotten is not None:
            return self._split().public
        game, refusal = self.game, self.public_refusal()
        if refusal is not None:
            raise GameError(refusal)
        if self.poker is not None:
            from counterplay.poker.poker_public_tree import build_public_tree, public_tree_bytes
            from counterplay.tree.public.tilt_public import tilt_public

            rules, advice = self.poker.definition, self.poker_advice()
            try:
                needed = public_tree_bytes(rules, self.raises)
            except MemoryLimitError:  # the betting cannot even be counted
                raise MemoryLimitError(f"the public tree of {self.name} is too large; {advice}") from None
            check_memory(f"the public tree of {self.name}", needed, self.memory_limit, advice)
            tree = build_public_tree(rules, self.raises, isomorphic, game.spec())
            return tree if self.tilt is None else tilt_public(tree, self.tilt, game.spec())
        play = game.public_play()
        if play is not None:
            from counterplay.tree.public.unfold import unfold

            return unfold(play, game.spec(), game.big_blind, self.memory_limit)
        return self._split().public

    def poker_advice(self) -> str:
        """What to do with poker that is too large as it is."""
        bets = "" if self.poker is None or self.poker.definition.limit else " --bets fcpa"
        return (
            f"build an agent (counterplay build {self.name}{bets}), solve it in a card abstraction (--cards FILE), or "
            "solve one spot (counterplay solve holdem --board ...)"
        )

    def _split(self) -> PublicSplit:
        from counterplay.tree.public.from_histories import split_public

        return split_public(self.history())

    def buckets(self) -> BucketGame:
        """The game in the buckets of its card abstraction."""
        if self._given == "buckets":
            return cast("BucketGame", self.opened)
        from counterplay.abstraction.cards.expert_buckets import split_cards, with_experts
        from counterplay.poker.buckets.bucket_game import BucketGame

        base, experts = split_cards(self.cards)
        definition, abstractions = self._card_abstractions(base)
        paths = [os.path.abspath(path) for path in base]
        rounds = [abstraction.rounds for abstraction in abstractions]
        game = BucketGame.build(definition, rounds, self.raises, name=self.name, cards=paths, tilt=self.tilt)
        for part, files in experts.items():  # one after the other, as stitching a stitched strategy does
            buckets = [one.rounds for one in self._card_abstractions(files)[1]]
            game = with_experts(game, [(part, buckets, list(map(os.path.abspath, files)))])
        return game

    def asymmetric(self) -> AsymmetricGame:
        """The bucket games of an agent in the buckets of ``cards``, and an opponent in those of ``opponent_cards``."""
        from counterplay.abstraction.cards.card_abstraction import CardAbstraction, deck_shape
        from counterplay.poker.buckets.asymmetric_game import NONE, AsymmetricGame

        own, path = self.buckets(), self.opponent_cards
        if path is None or len(own.cards) > 1:
            raise AbstractionError("an opponent with other cards needs one card abstraction of each; give cards once")
        if path == NONE:
            try:
                cards = CardAbstraction.lossless(*deck_shape(own.definition))
            except AbstractionError as error:
                raise AbstractionError(
                    f"an unabstracted opponent has too many hands ({error}); use cfr-br with a trunk, or give the "
                    "opponent a card abstraction"
                ) from None
            return AsymmetricGame.build(own, cards.rounds, NONE)
        cards = CardAbstraction.load(path, own.definition)
        return AsymmetricGame.build(own, cards.rounds, os.path.abspath(path))

    def _card_abstractions(
        self, cards: Sequence[str], verify: bool = True
    ) -> tuple[GameDefinition, tuple[CardAbstraction, ...]]:
        """The definition and the card abstraction of each player."""
        from counterplay.abstraction.cards.card_abstraction import CardAbstraction

        game = self.states()
        definition = poker_definition(game if self.poker is None else self.poker)
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

    @property
    def raises(self) -> BetAbstraction | None:
        """The betting abstraction, if any."""
        if self.bets is None:
            return None
        from counterplay.poker.raise_sizes import bet_abstraction

        return bet_abstraction(self.bets)

    # ---------------------------------------------------------------------------------------------- questions

    @functools.cached_property
    def made_from_rules(self) -> bool:
        """Whether the public tree does not need the histories."""
        if self._given in ("history", "buckets") or self.forgotten is not None:
            return False
        if self._given == "public" or self.subgame is not None:
            return True
        return self.poker is not None or self.game.public_play() is not None

    @functools.cached_property
    def _tilted(self) -> TiltedGame | None:
        """The game with its tilt, if it is tilted."""
        from counterplay.game.transforms import TiltedGame
        from counterplay.games.tilted import Tilted

        game = self.game.below() if isinstance(self.game, Tilted) else self.game
        return game if isinstance(game, TiltedGame) else None

    @property
    def tilt(self) -> Tilt | None:
        """How the game is tilted, if it is."""
        return None if self._tilted is None else self._tilted.tilt

    @property
    def poker(self) -> PokerGame | None:
        """The poker game, tilted or not; None if it is not made from a definition."""
        from counterplay.poker.poker_game import PokerGame

        game = self.game if self._tilted is None else self._tilted.game
        return game if isinstance(game, PokerGame) else None

    def public_refusal(self) -> str | None:
        """Why the game has no public tree; None if it has one.

        Raises MemoryLimitError if this depends on its histories, and they do not fit.
        """
        if self._given == "buckets":
            return f"{self.name} in buckets has no public tree"
        if self.made_from_rules:
            if self._given == "public" or self.subgame is not None:
                return None
            if self.poker is None:
                return None
            from counterplay.poker.poker_public_tree import public_tree_refusal

            return public_tree_refusal(self.poker.definition)
        try:
            self._split()
        except MemoryLimitError:
            raise
        except GameError as error:
            return str(error)
        return None

    @property
    def compiled(self) -> bool:
        """Whether only a compiled form was given, without the rules."""
        return self._given is not None

    def bucket_counts(self) -> BucketGameSize:
        """The size of the bucket game in detail; nothing is built."""
        from counterplay.abstraction.cards.expert_buckets import part_points, split_cards
        from counterplay.poker.buckets.bucket_counts import count_bucket_game

        base, experts = split_cards(self.cards)
        definition, abstractions = self._card_abstractions(base, verify=False)
        found = count_bucket_game(definition, [one.counts() for one in abstractions], self.raises)
        counts = [tuple(one.counts() for one in self._card_abstractions(files, verify=False)[1])
                  for files in experts.values()]  # fmt: skip
        points = part_points(definition, experts, self.raises) if experts else []
        more = tuple((*pair, own) for pair, own in zip(points, counts, strict=True))
        return dataclasses.replace(found, experts=more)

    def recalls(self) -> tuple[str, ...]:
        """What each player's card abstraction remembers."""
        from counterplay.abstraction.cards.expert_buckets import split_cards

        return tuple(one.recall for one in self._card_abstractions(split_cards(self.cards)[0], verify=False)[1])


def _make(spec: Any) -> Game:
    """The game of a name; whatever goes wrong in a user's own file becomes a GameError."""
    from counterplay.poker.acpc.standard import STANDARD

    if isinstance(spec, str) and spec in STANDARD:
        from counterplay.poker.poker_game import poker_game

        return poker_game(f"{spec}.game")
    try:
        return make(spec)
    except CounterplayError:
        raise
    except Exception as error:
        place = raised_at(error.__traceback__)
        text = f"{spec} cannot be made: {type(error).__name__}: {error}"
        raise GameError(f"{text}{place and f'; see {place}'}") from error
