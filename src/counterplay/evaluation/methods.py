"""The methods of ``evaluate``: one function for each storage of a strategy and each way to measure it.

All take a ``Task`` and return a ``Measurement`` in chips, with facts and notes of the method.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

from counterplay.errors import AbstractionError, GameError, MemoryLimitError, StrategyError
from counterplay.evaluation.figures import read_exploitability
from counterplay.evaluation.measurement import Measurement, measure_strategy
from counterplay.forms import GameForms, open_game
from counterplay.game.game import Game
from counterplay.poker.poker_game import PokerGame
from counterplay.poker.postflop import SUBGAME
from counterplay.poker.postflop.subgame import parse_subgame
from counterplay.runtime.seeds import check_seed
from counterplay.strategy.tabular import TabularStrategy
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.public.public_tree import PublicTree

if TYPE_CHECKING:
    from counterplay.evaluation.split_evaluation import Pair
    from counterplay.poker.buckets.bucket_game import BucketGame
    from counterplay.runtime.progress import ProgressCallback

REAL_HISTORIES = 5_000_000
"""Larger real games are not compiled to measure a bucket strategy, unless requested."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of single methods of ``evaluate``.

    Attributes
    ----------
    boards : int, optional
        ``buckets``: number of boards to sample instead of counting all.
    bounds : int, optional
        ``bounds``: number of boards to sample, all by default; with ``auto``, also bound the exploitability.
    drawn_round : int or str, optional
        ``bounds``: the round whose boards are sampled, by number or as flop, turn, river; by default the last.
    training : int
        ``bounds``: boards on which the player of the lower bound learns to play the earlier rounds.
    seed : int
        Of sampled boards, and of the strategy ``random``.
    flops : int, optional
        ``split``: walk only this many first deals (flops, in hold'em), in a random order, for an estimate.
    until : float or str, optional
        ``split``: stop when the 95 % interval of the estimate is at most this far on either side: chips, ``"20mbb"``.
    valued : bool, optional
        ``split``: compute the value of the strategy too, half as much work again; by default in games of a few minutes.
    checkpoint, resume : path, optional
        ``split`` and ``card-free``: where finished jobs are kept, and the file to resume from.
    """

    boards: int | None = None
    bounds: int | None = None
    drawn_round: int | str | None = None
    training: int = 0
    seed: int = 0
    flops: int | None = None
    until: float | str | None = None
    valued: bool | None = None
    checkpoint: str | os.PathLike[str] | None = None
    resume: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if self.training < 0:
            raise StrategyError(f"training is a number of boards; got {self.training}")
        check_seed(self.seed, StrategyError)

    @property
    def splits(self) -> bool:
        """Whether they are about ``split``."""
        return self.flops is not None or self.until is not None or self.valued is not None


@dataclasses.dataclass
class Task:
    """A strategy to be measured.

    Attributes
    ----------
    strategy : object
        The strategy.
    game : GameLike or BucketPairs
        The game, its name, or a form of it that is already made.
    threads, memory_limit, progress, settings
        As in ``evaluate``.
    """

    strategy: Any
    game: Any
    threads: int = 1
    memory_limit: int | None = None
    progress: ProgressCallback | None = None
    settings: Settings = dataclasses.field(default_factory=Settings)

    def public_tree(self) -> PublicTree:
        """The public tree of the game."""
        return open_game(self.game, "public", memory_limit=self.memory_limit)

    def poker(self) -> PokerGame:
        """The game, if it is poker for two."""
        game = self.game if isinstance(self.game, Game) else open_game(_name(self.game), "states")
        if not isinstance(game, PokerGame):
            raise GameError(f"{_name(self.game)} is not a poker game such as holdem_limit_2p (counterplay games)")
        if game.definition.players != 2:
            raise GameError(f"this method is for two players; {game.spec()} has {game.definition.players}")
        return game


def _name(game: Any) -> str:
    return game if isinstance(game, str) else game.spec() if isinstance(game, Game) else str(game.name)


# ---------------------------------------------------------------------------------------------- history trees


def on_history(tree: GameTree, strategy: TabularStrategy) -> Measurement:
    """A tabular strategy on a compiled history tree."""
    from counterplay.kernels.history.passes import form_arrays

    facts: dict[str, Any] = {
        "recall": list(tree.recall), "information_sets": tree.num_infosets, "histories": tree.num_histories,
    }  # fmt: skip
    if strategy.partial:
        facts["information_sets_covered"] = len(strategy.infoset_names)
    return measure_strategy(
        tree, form_arrays(tree.sequences), strategy.for_tree(tree), game=tree.name, method="history",
        big_blind=tree.big_blind, provenance=strategy.provenance, facts=facts,
    )  # fmt: skip


def tabular_history(task: Task) -> Measurement:
    """In the real game; also inside the abstract game, where the game or the strategy names what is forgotten."""
    if isinstance(task.game, GameTree):
        return on_history(task.game, task.strategy)
    return _lifted(*_forgetting(task), task.strategy)


def _lifted(forms: GameForms, notes: tuple[str, ...], strategy: TabularStrategy) -> Measurement:
    tree, abstraction = forms.real, forms.abstraction
    if abstraction is None:
        return dataclasses.replace(on_history(tree, strategy), notes=notes)
    if strategy.digest == abstraction.abstract_digest:
        strategy = abstraction.lift(strategy, tree)
    found, abstract = on_history(tree, strategy), None
    try:
        abstract = on_history(forms.history(), abstraction.restrict(strategy, forms.history()))
        facts = {"abstraction": abstraction.name, "abstraction_information_sets": abstraction.num_sets}
        found = dataclasses.replace(found, facts={**found.facts, **facts})
    except StrategyError as error:
        notes = (*notes, f"it is not measured in the abstract game: {error}")
    return dataclasses.replace(found, abstract=abstract, notes=notes)


def _forgetting(task: Task) -> tuple[GameForms, tuple[str, ...]]:
    """The game, with what its players forget: as its name says, or else as the strategy's provenance does."""
    plain = GameForms(task.game, memory_limit=task.memory_limit, progress=task.progress)
    what = task.strategy.provenance.settings.get("abstraction")
    if not isinstance(what, str) or plain.forgotten is not None:
        return plain, ()
    forms = GameForms(task.game, forget=[what], memory_limit=task.memory_limit, progress=task.progress)
    try:
        forms.history()
    except (AbstractionError, GameError, StrategyError) as error:
        plain.real  # noqa: B018  (raises if the game itself cannot be opened)
        return plain, (f"the abstract game cannot be made again: {error}",)
    return forms, ()


def public_history(task: Task) -> Measurement:
    """A strategy of a public tree, with a row for each information set."""
    from counterplay.strategy.public_tables import table_converter

    tree = open_game(task.game, "history", memory_limit=task.memory_limit, progress=task.progress)
    form = table_converter(task.game, memory_limit=task.memory_limit)
    return on_history(tree, form.profile(task.strategy.for_tree(form.tree), task.strategy.provenance))


def bucket_history(task: Task) -> Measurement:
    """A strategy by buckets lifted to the histories of the real game."""
    tree = open_game(task.game, "history", memory_limit=task.memory_limit, progress=task.progress)
    return on_history(tree, task.strategy.lifted(tree))


@dataclasses.dataclass(frozen=True)
class RandomStrategy:
    """A random strategy, drawn when its game is known."""

    seed: int

    def tabular(self, tree: GameTree) -> TabularStrategy:
        """The strategy of a compiled game."""
        return TabularStrategy.random(tree, self.seed)


def trivial_history(task: Task) -> Measurement:
    """A strategy that is made when its game is known: a trivial or a random one."""
    forms = GameForms(task.game, memory_limit=task.memory_limit, progress=task.progress)
    return _lifted(forms, (), task.strategy.tabular(forms.history()))


# ---------------------------------------------------------------------------------------------- public trees


def on_public(found: Measurement, tree: PublicTree) -> Measurement:
    """A measurement with what is known of a public tree."""
    facts = {
        "representation": "public", "recall": ["perfect", "perfect"], "information_sets": tree.num_infosets,
        "public_states": tree.num_public_states, "histories": None,
    }  # fmt: skip
    pot = parse_subgame(tree.name).pot if tree.name.startswith(SUBGAME) else None
    return dataclasses.replace(found, game=tree.name, method="public", big_blind=tree.big_blind, pot=pot, facts=facts)


def public_public(task: Task) -> Measurement:
    """Tables on their public tree; best responses respect locked decisions."""
    from counterplay.evaluation.public_walker import PublicWalker

    tree, strategy = task.public_tree(), task.strategy
    walker, tables = PublicWalker(tree, task.threads), strategy.for_tree(tree)
    if not strategy.locked.any():
        return on_public(walker.measure(tables), tree)
    found = on_public(walker.measure(tables, locked=strategy.locked), tree)
    unlocked = on_public(walker.measure(tables), tree)
    return dataclasses.replace(found, locked=tree.locked_nodes(strategy.locked), unlocked=unlocked)


def tabular_public(task: Task) -> Measurement:
    """A tabular strategy that plays isomorphic hands equally."""
    from counterplay.evaluation.public_walker import PublicWalker
    from counterplay.strategy.public_tables import table_converter

    form = table_converter(task.game, memory_limit=task.memory_limit)
    return on_public(PublicWalker(form.tree, task.threads).measure(form.tables(task.strategy)), form.tree)


def bucket_public(task: Task) -> Measurement:
    """A strategy by buckets lifted to the public tree of the real game."""
    from counterplay.evaluation.lifted_buckets import RealGame, check_real_game

    if isinstance(task.game, RealGame):
        real = task.game
    else:
        if not isinstance(task.game, PublicTree):
            check_real_game(task.strategy.abstract, task.memory_limit)
        real = RealGame(task.strategy.abstract, task.public_tree(), threads=task.threads)
    return on_public(real.measure(task.strategy.weights), real.tree)


def hands_public(task: Task) -> Measurement:
    """Anything that gives the probabilities of all hands at a public state."""
    from counterplay.evaluation.split_evaluation import measure_pair

    try:
        tree = task.public_tree()
    except MemoryLimitError as error:
        raise MemoryLimitError(f"{str(error).partition(';')[0]}; method split or card-free needs less") from None
    return on_public(measure_pair(tree, (task.strategy, task.strategy), task.threads), tree)


# ---------------------------------------------------------------------------------------------- split at the first deal


def hands_split(task: Task) -> Measurement:
    """The same, below one first deal at a time."""
    return _split(task, (task.strategy, task.strategy))


def bucket_split(task: Task) -> Measurement:
    """A strategy by buckets lifted to the real game, below one first deal at a time."""
    from counterplay.evaluation.lifted_buckets import LiftedStrategy

    lifted = LiftedStrategy(task.strategy)
    return _split(task, (lifted, lifted))


def _split(task: Task, pair: Pair) -> Measurement:
    from counterplay.evaluation.split_evaluation import SplitPlan, evaluate_split

    settings, game = task.settings, task.poker()
    until = settings.until
    if isinstance(until, str):
        until = read_exploitability(until, game.spec(), float(game.definition.big_blind))
    plan = SplitPlan(settings.flops, until, settings.seed, settings.valued, task.memory_limit)
    found = evaluate_split(game, pair, task.threads, settings.checkpoint, settings.resume, task.progress, plan=plan)
    return _dealt(found, game, "split")


def trivial_card_free(task: Task) -> Measurement:
    """Both players ignore their cards: a table of the last round."""
    from counterplay.evaluation.card_free import evaluate_card_free

    settings, game, pair = task.settings, task.poker(), (task.strategy, task.strategy)
    found = evaluate_card_free(game, [pair], task.threads, settings.checkpoint, settings.resume, task.progress)
    return _dealt(found[0], game, "card-free")


def _dealt(found: Measurement, game: PokerGame, method: str) -> Measurement:
    facts = {"representation": "public", "recall": ["perfect", "perfect"]}
    big_blind = float(game.definition.big_blind)
    return dataclasses.replace(found, game=game.spec(), method=method, big_blind=big_blind, facts=facts)


# ---------------------------------------------------------------------------------------------- bucket games


def bucket_buckets(task: Task) -> Measurement:
    """Inside the bucket game, which is not the real one."""
    from counterplay.evaluation.bucket_pairs import BucketPairs, count_bucket_pairs, measure_buckets

    game, settings = task.strategy.abstract, task.settings
    pairs: BucketPairs = task.game if isinstance(task.game, BucketPairs) else count_bucket_pairs(
        game, settings.boards, settings.seed, task.progress, task.threads
    )  # fmt: skip
    return dataclasses.replace(
        measure_buckets(game, pairs, task.strategy.strategy()), game=game.name, method="buckets",
        big_blind=game.big_blind, boards=pairs.boards, exact=pairs.exact, facts=_bucket_facts(task),
    )  # fmt: skip


def bucket_bounds(task: Task) -> Measurement:
    """A lower and an upper bound on the exploitability in the real game, from sampled boards."""
    from counterplay.evaluation.board_bounds import bound_exploitability, drawn_round

    game, settings = task.strategy.abstract, task.settings
    drawn = None if settings.drawn_round is None else drawn_round(game, settings.drawn_round)
    found = bound_exploitability(
        task.strategy, settings.bounds, drawn, settings.training, settings.seed, task.progress
    )  # fmt: skip
    facts = {**_bucket_facts(task), "training": settings.training}
    return dataclasses.replace(
        Measurement.unknown(game.players), game=game.name, method="bounds", big_blind=game.big_blind, bounds=found,
        facts=facts,
    )  # fmt: skip


def _bucket_facts(task: Task) -> dict[str, Any]:
    return {"abstraction_information_sets": task.strategy.abstract.num_infosets}


def bucket_auto(task: Task) -> Measurement:
    """In the real game, inside the bucket game where its players remember, and bounds.

    Where the real game does not fit it is measured below one first deal at a time, unless bounds are asked for.
    """
    game, notes = task.strategy.abstract, []
    real, abstract = _real(task), None
    try:
        abstract = bucket_buckets(task)
    except (AbstractionError, GameError) as error:
        advice = "; sample some of them (boards)" if "to sample" in str(error) else ""
        notes.append(f"it is not measured in the bucket game: {error}{advice}")
    if real is None and _splits(game) and task.settings.bounds is None:
        real = bucket_split(task)
    if real is None:
        unknown = Measurement.unknown(game.players)
        real = dataclasses.replace(unknown, game=game.name, method="none", big_blind=game.big_blind)
        bounded = game.players == 2 and game.definition.hole_cards <= 2 and task.settings.bounds is None
        advice = "; bounds=100 (--bounds 100) bounds its exploitability from sampled boards" if bounded else ""
        notes.insert(0, f"not measured exactly: the real game is too large{advice}")
    facts = {**real.facts, **_bucket_facts(task)}
    found = dataclasses.replace(real, abstract=abstract, facts=facts, notes=tuple(notes))
    if task.settings.bounds is None:
        return found
    bounded = bucket_bounds(task)
    return dataclasses.replace(found, bounds=bounded.bounds, facts={**found.facts, **bounded.facts})


def _splits(game: BucketGame) -> bool:
    """Whether the real game can be split at its first deal: two players, its own bets, and no board at the start."""
    boards = game.definition.board_cards
    return game.players == 2 and game.bets is None and not boards[0] and any(boards)


def _real(task: Task) -> Measurement | None:
    """On the public tree of the real game or else on its histories; None where both are too large."""
    if task.strategy.abstract.bets is not None:
        return None
    try:
        return bucket_public(task)
    except GameError:
        pass
    histories = open_game(task.game, "states").num_histories()
    if histories is None or histories > REAL_HISTORIES:
        return None
    try:
        return bucket_history(task)
    except MemoryLimitError:
        return None
