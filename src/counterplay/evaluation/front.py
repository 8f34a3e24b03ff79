"""``evaluate``: the one way to measure a strategy.

A method is where a strategy is measured; the storage of the strategy determines which methods it has:

    method      what is measured                                                 storages
    history     exactly, on the history tree                                     all; lifted from buckets
    public      exactly, on the public tree                                      all; lifted from buckets
    split       exactly, on the public tree below one first deal at a time, or   buckets, trivial; can be resumed
                estimated from some of them
    card-free   exactly, by a table of the last round                            trivial; can be resumed
    buckets     inside the bucket game, which is not the real one                buckets
    bounds      a lower and an upper bound from sampled boards                   buckets
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from counterplay.errors import MemoryLimitError, StrategyError
from counterplay.evaluation import methods
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.methods import RandomStrategy, Settings, Task
from counterplay.forms import GameForms, open_game
from counterplay.poker.poker_game import PokerGame
from counterplay.poker.postflop import SUBGAME
from counterplay.runtime.executors import cluster_chosen
from counterplay.runtime.jobs import read_jobs
from counterplay.runtime.memory import read_memory
from counterplay.runtime.notebook_progress import notebook_progress
from counterplay.runtime.suggestions import did_you_mean
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy
from counterplay.strategy.joint_buckets import joint_buckets
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.ready_made import MEANT, READY_MADE, Solved, opponent_name, ready_made, ready_made_name
from counterplay.strategy.strategy import Provenance, not_a_strategy
from counterplay.strategy.strength_rules import StrengthRule
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL, CardFree
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.public.public_tree import PublicTree
from counterplay.trusted_code import trust

if TYPE_CHECKING:
    from counterplay.runtime.progress import ProgressCallback

METHODS = ("auto", "history", "public", "split", "card-free", "buckets", "bounds")
"""The methods of ``evaluate``."""

_TABLE: Mapping[tuple[str, str], Callable[[Task], Measurement]] = {
    ("tabular", "history"): methods.tabular_history,
    ("tabular", "public"): methods.tabular_public,
    ("public", "history"): methods.public_history,
    ("public", "public"): methods.public_public,
    ("bucket", "history"): methods.bucket_history,
    ("bucket", "public"): methods.bucket_public,
    ("bucket", "split"): methods.bucket_split,
    ("bucket", "buckets"): methods.bucket_buckets,
    ("bucket", "bounds"): methods.bucket_bounds,
    ("bucket", "auto"): methods.bucket_auto,
    ("random", "history"): methods.trivial_history,
    ("trivial", "history"): methods.trivial_history,
    ("trivial", "public"): methods.hands_public,
    ("trivial", "split"): methods.hands_split,
    ("trivial", "card-free"): methods.trivial_card_free,
    ("rule", "history"): methods.trivial_history,
    ("rule", "public"): methods.hands_public,
    ("rule", "split"): methods.hands_split,
    ("function", "public"): methods.hands_public,
    ("function", "split"): methods.hands_split,
}
"""The measure of each storage by each method."""

_REASONS = {
    "split": "it is a table of the whole game; measure it there (history or public)",
    "card-free": "it may look at its cards; this method is for always-call and the like",
    "buckets": "it does not belong to a bucket game",
    "bounds": "it does not belong to a bucket game",
    "history": "it gives probabilities at public states only",
    "public": "it has a row for each information set; measure it by history",
}
"""Why a storage is not measured by a method."""

_STORAGES = {
    TabularStrategy: "tabular", PublicStrategy: "public", BucketStrategy: "bucket", CardFree: "trivial",
    RandomStrategy: "random", StrengthRule: "rule",
}  # fmt: skip

_NO_SETTINGS = Settings()

_FILE_METHODS = {"shortcut": "card-free", "general": "split"}
"""The names of the methods in the files of interrupted evaluations."""


def evaluate(
    strategy: Any,
    game: Any = None,
    method: str = "auto",
    *,
    threads: int = 1,
    memory_limit: int | str | None = None,
    progress: ProgressCallback | bool | None = None,
    **settings: Any,
) -> Measurement:
    """Measure a strategy: its value, best responses to it, its exploitability.

    The best responses of players with imperfect recall are those of players who remember: upper bounds, and with them
    NashConv and exploitability; ``best_response`` says whether one is reached.

    Parameters
    ----------
    strategy : Strategy, path or str
        A strategy of any storage; its file; with ``game`` the name of a ready-made one (``strategy.ready_made``) or
        ``random``; None to resume an interrupted evaluation.
    game : optional
        The game, or its name, by default the strategy's own; or a form that is already open: a ``GameTree``, a
        ``PublicTree``, or the ``BucketPairs`` or ``RealGame`` of a bucket game.
    method : str
        One of ``METHODS``; ``auto`` takes the form in which the strategy is stored.  Bucket strategies are measured in
        the real game, by ``split`` where it does not fit (hours in hold'em), and inside the bucket game.
    threads : int
        Number of threads; results are the same to the bit on history trees, below first deals and in buckets.
    memory_limit : int or str, optional
        Memory that may be used, as ``"2GiB"`` or in bytes; by default what the machine has free.
    progress : callable or bool, optional
        Called now and then with a ``Progress``; by default notebooks show a bar, with False they do not.
    **settings
        The fields of ``evaluation.Settings``: boards, bounds, drawn_round, training, seed, flops, until, valued,
        checkpoint, resume.

    Raises
    ------
    StrategyError
        If the strategy cannot be measured by the method; the message says why.
    GameError
        If the game cannot be opened in the form that is needed.
    """
    if method not in METHODS:
        raise StrategyError(f"unknown method {method!r}; {did_you_mean(method, METHODS)}")
    if threads < 1:
        raise StrategyError(f"threads are at least 1; got {threads}")
    if isinstance(game, str):
        trust(game)  # a file may be about the game that the caller names
    chosen = _settings(settings)
    if chosen.resume is not None:
        strategy, game, method, chosen = _resumed(chosen, strategy, game, method)
    strategy = opponent_name(strategy) if isinstance(strategy, str) else strategy
    made = READY_MADE.get(strategy) if isinstance(strategy, str) else None
    strategy, game = _resolved(strategy, game, chosen)
    with notebook_progress(progress) as shown:
        task = Task(strategy, game, threads, read_memory(memory_limit), shown, chosen)
        found = _with_origin(_measured(task, method), strategy)
    notes = (made.note(GameForms(game).game),) if isinstance(made, Solved) else ()
    return dataclasses.replace(found, notes=(*notes, *found.notes)) if notes else found


def _measured(task: Task, method: str) -> Measurement:
    """The measurement by the table of storages and methods."""
    storage, settings = _storage(task.strategy), task.settings
    measured = storage == "bucket" and method != "history" and task.strategy.players == 2
    if measured and task.strategy.abstract.zones:
        task = dataclasses.replace(task, strategy=joint_buckets(task.strategy))
    _check_settings(storage, method, settings)
    asked = method
    wants_file = storage == "bucket" and settings.checkpoint is not None
    if method == "auto" and (settings.splits or wants_file or (cluster_chosen() and storage != "trivial")):
        method = "split"
    if method == "auto" and cluster_chosen():
        method = "card-free"
    if method == "auto":
        method = _open_method(task.game) or ("auto" if (storage, "auto") in _TABLE else _fitting(storage, task))
    if (storage, method) not in _TABLE:
        raise StrategyError(f"{_described(storage)} is not measured by {method}: {_REASONS[method]}")
    if settings.checkpoint is not None and method not in _FILE_METHODS.values():
        raise StrategyError(f"method {method} keeps no checkpoint; {' and '.join(_FILE_METHODS.values())} do")
    if cluster_chosen() and method not in _FILE_METHODS.values():
        raise StrategyError(
            f"method {method} is one computation, which no cluster can share; {' and '.join(_FILE_METHODS.values())} "
            "walk one first deal after the other"
        )
    try:
        return _TABLE[storage, method](task)
    except MemoryLimitError as error:
        if storage != "trivial" or asked != "auto" or not _has_public_rules(task):
            raise
        found = methods.hands_public(task)
        return dataclasses.replace(found, notes=(*found.notes, f"{error}", "Therefore its public tree is walked."))


def _with_origin(found: Measurement, strategy: Any) -> Measurement:
    """The measurement, with where the strategy came from."""
    if isinstance(strategy, CardFree | StrengthRule):
        name = ready_made_name(strategy)
        return dataclasses.replace(found, provenance=Provenance(name), facts={"strategy": name, **found.facts})
    if isinstance(strategy, RandomStrategy):
        return dataclasses.replace(found, provenance=Provenance("random", seed=strategy.seed))
    origin = getattr(strategy, "provenance", None) or Provenance("by hand")
    return found if found.provenance is origin else dataclasses.replace(found, provenance=origin)


def _settings(settings: Mapping[str, Any]) -> Settings:
    if not settings:
        return _NO_SETTINGS
    known = [field.name for field in dataclasses.fields(Settings)]
    for name in settings:
        if name not in known:
            hint = did_you_mean(name, [*known, "game", "method", "threads", "memory_limit", "progress"])
            raise StrategyError(f"evaluate has no setting {name!r}; {hint}")
    return Settings(**settings)


def _resolved(strategy: Any, game: Any, settings: Settings) -> tuple[Any, Any]:
    """The strategy itself, and its game."""
    if isinstance(strategy, str) and (strategy in READY_MADE or strategy == "random"):
        if game is None:
            raise StrategyError(f"the strategy {strategy!r} is measured in a game; name one")
        if strategy == "random":
            return RandomStrategy(settings.seed), game
        made = ready_made(strategy)
        return (made.strategy(GameForms(game).game) if isinstance(made, Solved) else made), game
    if isinstance(strategy, str | os.PathLike):
        if isinstance(strategy, str) and game is not None and not os.path.exists(strategy):
            hint = did_you_mean(strategy, [*READY_MADE, "random"], meant=MEANT)
            raise StrategyError(f"there is no strategy {strategy!r}; {hint}")
        strategy = load_strategy(strategy)
    if game is None:
        game = getattr(strategy, "game", None)
    if game is None:
        raise StrategyError(f"{type(strategy).__name__} does not say which game it is for; name one")
    return strategy, game


def _storage(strategy: Any) -> str:
    for storage, name in _STORAGES.items():
        if isinstance(strategy, storage):
            return name
    if hasattr(strategy, "matrix"):
        return "function"
    raise not_a_strategy(strategy)


def _described(storage: str) -> str:
    return {"bucket": "a strategy by buckets", "function": "a function of public states"}.get(
        storage, f"a {storage} strategy"
    )


def _check_settings(storage: str, method: str, settings: Settings) -> None:
    if storage != "bucket" and (settings.boards, settings.bounds, settings.drawn_round, settings.training) != (
        None, None, None, 0,
    ):  # fmt: skip
        raise StrategyError("boards, bounds, drawn_round and training are for strategies by buckets")
    if settings.splits and method not in ("auto", "split"):
        raise StrategyError(f"flops, until and valued belong to method split; leave them out or leave out {method}")
    if settings.splits and settings.bounds is not None:
        raise StrategyError(
            "flops, until and valued are about an estimate, not about bounds; leave out the one or the other"
        )
    if method == "auto" and settings.bounds is None and (settings.drawn_round is not None or settings.training):
        raise StrategyError("drawn_round and training belong to bounds; say how many boards to sample")


def _open_method(game: Any) -> str | None:
    """The method of a form that is already open."""
    if isinstance(game, GameTree):
        return "history"
    from counterplay.evaluation.bucket_pairs import BucketPairs
    from counterplay.evaluation.lifted_buckets import RealGame

    return "buckets" if isinstance(game, BucketPairs) else "public" if isinstance(game, PublicTree | RealGame) else None


def _fitting(storage: str, task: Task) -> str:
    """The method that ``auto`` means for a storage."""
    if storage == "rule":
        game = GameForms(task.game).game
        return "public" if isinstance(game, PokerGame) and game.players == 2 else "history"
    if storage != "trivial":
        return {"public": "public", "function": "public"}.get(storage, "history")
    if isinstance(task.game, str) and task.game.startswith(SUBGAME):
        return "public"
    if task.settings.checkpoint is not None:
        return "card-free"
    if task.strategy == TRIVIAL["uniform"]:
        return "history"
    game = GameForms(task.game).game
    if not isinstance(game, PokerGame) or game.players != 2:
        return "history"
    return "card-free" if any(game.definition.board_cards) else "public"


def _has_public_rules(task: Task) -> bool:
    """Whether the game has a public tree that does not need its histories."""
    forms = GameForms(task.game)
    return forms.made_from_rules and forms.public_refusal() is None


def _resumed(settings: Settings, strategy: Any, game: Any, method: str) -> tuple[Any, Any, str, Settings]:
    """The strategy, game, method and settings of an interrupted evaluation; those given must be the same."""
    from counterplay.evaluation.split_evaluation import strategy_text

    resume = settings.resume or ""
    header = read_jobs(resume)
    names = {strategy_text((agent, agent)): name for name, agent in TRIVIAL.items()}
    found, used = names.get(header["strategies"]), _FILE_METHODS.get(header["method"], header["method"])
    if method not in ("auto", used):
        raise StrategyError(f"{resume} resumes by method {used}; leave out {method}")
    if strategy is None and found is None:
        raise StrategyError(f"{resume} is about a strategy without a name; give it again to resume")
    if isinstance(strategy, str) and strategy != found and (found is not None or not os.path.exists(strategy)):
        raise StrategyError(f"{resume} is about {found}; leave out the strategy {strategy}")
    if game is not None and open_game(game, "states").spec() != header["game"]:
        raise StrategyError(f"{resume} is about {header['game']}; leave out the game {game}")
    begun = _as_begun(settings, header)
    return found if strategy is None else strategy, header["game"] if game is None else game, used, begun


def _as_begun(settings: Settings, header: Mapping[str, Any]) -> Settings:
    """The settings of a resumed evaluation: the order of its first deals and what it computes are those of its file."""
    seed, valued = header.get("seed", settings.seed), header.get("valued", settings.valued)
    if type(seed) is not int or seed < 0 or not (valued is None or type(valued) is bool):
        raise StrategyError(f"{settings.resume} does not fit this evaluation; start it anew")
    return dataclasses.replace(settings, seed=seed, valued=valued)


def expected_values(strategy: Any, game: Any = None) -> tuple[float, ...]:
    """What each player wins on average."""
    return evaluate(strategy, game).value


def nash_conv(strategy: Any, game: Any = None) -> float:
    """Sum over players of what a best response gains, in chips."""
    return evaluate(strategy, game).nash_conv


def exploitability(strategy: Any, game: Any = None) -> float:
    """Mean over players of what a best response gains, in chips."""
    return evaluate(strategy, game).exploitability
