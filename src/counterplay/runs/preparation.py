"""From a request to a run that is ready: form, algorithm, defaults, the opened game, the tables."""

from __future__ import annotations

import dataclasses
import os
import runpy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from counterplay.abstraction.cards.expert_buckets import split_cards
from counterplay.abstraction.experts import Part
from counterplay.abstraction.infosets.by_name import split_name
from counterplay.errors import CounterplayError, MemoryLimitError, OtherGameError, SolverError, StrategyError
from counterplay.forms import GameForms, GameLike
from counterplay.poker.buckets.board_sampler import count_boards
from counterplay.poker.postflop import SUBGAME
from counterplay.runs.disk_tables import streamed_solver, with_folder
from counterplay.runs.options import RunOptions, Target
from counterplay.runs.part_forms import PartForms, part_of_checkpoint, unlike_part
from counterplay.runs.run import Run
from counterplay.runtime.memory import check_memory
from counterplay.solvers.cfr import CFR_PRESETS, config_with
from counterplay.solvers.registry import (
    ALGORITHMS,
    DEFAULT_ALGORITHM,
    checkpoint_header,
    checkpoint_solver,
    find_algorithm,
    form_of,
    resume_solver,
    solver_class,
    solver_kind,
    solver_with,
)
from counterplay.solvers.settings import UnknownSettingError
from counterplay.solvers.solver import Solver
from counterplay.strategy.trivial import TRIVIAL
from counterplay.trusted_code import trust

if TYPE_CHECKING:
    from counterplay.poker.postflop.spots import Spot

SPOT_ALGORITHM, SPOT_SETTINGS = "dcfr", {"gamma": 4.0}
"""Defaults for postflop spots: the fastest on flop, turn and river in CPU seconds."""

SPOT_INTEGERS = 4_000_000
"""Entries above which the tables of a spot hold 16-bit integers by default."""


def prepare(
    game: GameLike, algorithm: str | None, target: Target, options: RunOptions, settings: Mapping[str, Any]
) -> Run:
    """A run that can be started: the form is chosen, the game open, the tables allocated."""
    if algorithm is not None:
        algorithm = find_algorithm(algorithm)
    if options.part is not None:
        return _prepare_part(game, algorithm, target, options, settings)
    form, own, forget = _asked_form(game, algorithm, options), _with_scheme(settings), options.forget
    chosen = find_algorithm(algorithm or DEFAULT_ALGORITHM[form], form)
    if form == "buckets" and not options.cards and form_of(game) != "buckets":
        raise SolverError(f"{chosen} needs a card abstraction; name one with cards")
    if ALGORITHMS[chosen].refines:
        game, own = _forgotten_first(game, forget, own)
        forget = ()
    forms = GameForms(
        game, forget=forget, cards=options.cards, opponent_cards=options.opponent_cards, bets=options.bets,
        memory_limit=options.memory_limit, progress=options.opening,
    )  # fmt: skip
    needs = _needs(target, options, own, forget)
    if form == "history":
        form = _form_that_fits(forms, chosen, options, needs, own)
    measured = options.boards is not None or solver_class(_kind(chosen, form, options)).real_game
    _check_needs(form, measured, options, needs)
    own = {**_common_settings(chosen, form, options), **own}
    try:
        solver = _SOLVERS[form](forms, algorithm, own, options)
    except UnknownSettingError as error:
        raise _explained(error) from None
    return _ready(solver, target, options, forms)


def _prepare_part(
    game: GameLike, algorithm: str | None, target: Target, options: RunOptions, settings: Mapping[str, Any]
) -> Run:
    """The run of a part of a game, outside which a strategy is fixed."""
    forms = _part_forms(game, options, options.forget)
    form = "buckets" if forms.in_buckets else "history"
    chosen = find_algorithm(algorithm or DEFAULT_ALGORITHM[form], form)
    if ALGORITHMS[chosen].refines:
        raise SolverError(f"{chosen} abstracts the whole game; solve a part by another algorithm")
    _check_needs(form, False, options, _needs(target, options, {}, options.forget))
    own = {**_common_settings(chosen, form, options), **_with_scheme(settings)}
    opened = forms.buckets() if form == "buckets" else forms.history()
    try:
        solver = solver_with(own, opened, chosen, options.memory_limit, form)
    except UnknownSettingError as error:
        raise _explained(error) from None
    return _ready(solver, target, options, forms)


def _part_forms(game: GameLike, options: RunOptions, forget: Sequence[str]) -> PartForms:
    """The forms of the game of a part."""
    for name in ("opponent_cards", "bets", "boards", "map_out"):
        if getattr(options, name) is not None:
            raise SolverError(f"{name} is not for a part of a game; leave it out")
    if options.representation not in ("auto", "history"):
        raise SolverError(
            f"a part is solved on histories or in buckets; got the representation {options.representation}"
        )
    assert options.part is not None
    assert options.fix is not None
    return PartForms(
        game, options.part, options.fix, forget=forget, cards=options.cards, memory_limit=options.memory_limit,
        progress=options.opening,
    )  # fmt: skip


def _resumed_part(path: str | os.PathLike[str], game: GameLike | None, options: RunOptions) -> tuple[Solver, GameForms]:
    """The solver of a part whose checkpoint is resumed, and its forms; game, part and base are given again."""
    header = checkpoint_header(path)
    known = part_of_checkpoint(str(header["game"]))
    base, files = split_cards(header.get("cards", ()))
    if game is None or options.part is None:
        part = "PART" if known is None else known[1]
        raise SolverError(
            f"{path} is a checkpoint of a part of a game; name the game, the part and the base again: "
            f"counterplay solve GAME --part {part} --fix BASE --resume {path}"
        )
    forget = () if known is None or known[2] is None else (known[2],)
    if isinstance(game, str) and split_name(game)[1] is not None:
        forget = ()
    given = Part.parse(options.part).text
    if not options.cards and given in files:
        options = dataclasses.replace(options, cards=tuple(files[given]))
    elif not options.cards and options.fix in TRIVIAL:
        options = dataclasses.replace(options, cards=tuple(base))
    forms = _part_forms(game, options, forget)
    try:
        opened = forms.buckets() if forms.in_buckets else forms.history()
        return resume_solver(path, opened, options.memory_limit), forms
    except CounterplayError as error:
        different = unlike_part(header, forms, isinstance(error, OtherGameError))
        if not different:
            raise
        raise StrategyError(
            f"{path} is a checkpoint of another run: {different}; give the same again, or solve without --resume"
        ) from error


def prepare_spot(
    spot: Spot, algorithm: str | None, target: Target, options: RunOptions, settings: Mapping[str, Any]
) -> Run:
    """The run of a postflop spot, its locks set."""
    _check_spot_algorithm(algorithm)
    subgame = spot.subgame()
    for line in subgame.warnings():
        options.say(line)
    try:
        run = prepare(subgame.name, algorithm, target, options, settings)
    except UnknownSettingError as error:
        raise _explained(error, [field.name for field in dataclasses.fields(spot)]) from None
    for text in spot.lock:
        _lock(run.solver, text)
    return run


def prepare_resume(
    path: str | os.PathLike[str],
    game: GameLike | None,
    target: Target,
    options: RunOptions,
    settings: Mapping[str, Any],
) -> Run:
    """The run of a checkpoint, where it stopped."""
    brought = [*settings, *(name for name in ("threads", "seed", "bets", "forget", "tables") if getattr(options, name))]
    if brought:
        raise SolverError(f"a checkpoint has its own settings; leave out {', '.join(brought)}")
    if isinstance(game, str):
        trust(game)
    header = checkpoint_header(path)
    form = checkpoint_solver(path).form_name
    if options.part is not None or header.get("part") or part_of_checkpoint(str(header["game"])):
        solver, forms = _resumed_part(path, game, options)
        return _ready(solver, target, options, forms)
    forms = GameForms(
        str(header["game"]) if game is None else game, memory_limit=options.memory_limit, progress=options.opening
    )
    opened = game
    if form == "history":
        opened = forms.history()
    elif form == "buckets":
        opened = None
    solver = resume_solver(path, opened, options.memory_limit, options.cards, options.opponent_cards)
    _check_needs(form, options.boards is not None or solver.measures, options, _needs(target, options, {}, ()))
    _count_pairs(solver, options)
    return _ready(solver, target, options, forms)


def _ready(solver: Solver, target: Target, options: RunOptions, forms: GameForms) -> Run:
    options = with_folder(solver, options)
    run = Run(solver, target.resolve(solver), options, forms)
    if options.map_out is not None and run.merged is None:
        raise SolverError("map_out needs forget: nothing is abstracted")
    return run


def _explained(error: UnknownSettingError, others: Sequence[str] = ()) -> SolverError:
    """The error about a setting, in view of the options of a run, which are written like settings from Python."""
    options = [field.name for kind in (Target, RunOptions) for field in dataclasses.fields(kind)]
    options += ["algorithm", "progress", *others]
    if error.name in options:
        return SolverError(f"{error.name} is an option of its own, not a setting of {error.algorithm}")
    return UnknownSettingError(error.algorithm, error.name, error.known, options)


def _asked_form(game: GameLike, algorithm: str | None, options: RunOptions) -> str:
    """The requested form; history also where another may have to be used."""
    if options.tables_folder is not None:
        return "public"
    if options.cards:
        return "buckets"
    if options.representation != "auto":
        return options.representation
    if isinstance(game, str) and game.startswith(SUBGAME):
        return "public"
    return form_of(game, algorithm)


def _needs(target: Target, options: RunOptions, settings: Mapping[str, Any], forget: Sequence[str]) -> dict[str, bool]:
    """The options that need the histories of the game, and those that need exploitability."""
    return {
        "forget": bool(forget), "map_out": options.map_out is not None, "exact": bool(settings.get("exact")),
        "until": target.measures, "plot": options.curve,
    }  # fmt: skip


def _form_that_fits(
    forms: GameForms, algorithm: str, options: RunOptions, needs: Mapping[str, bool], own: Mapping[str, Any]
) -> str:
    """History, or if the histories do not fit another form on which the algorithm is the same."""
    try:
        forms.history()
        return "history"
    except MemoryLimitError as error:
        known = ALGORITHMS[algorithm]
        if options.representation != "auto" or any(needs[name] for name in ("forget", "map_out", "exact")):
            raise
        if known.full_width and forms.public_refusal() is None:
            _check_public(forms, algorithm, options, own)
            options.say(f"{error}\nTherefore its public tree is solved.")
            return "public"
        if "states" not in known.forms or any(needs.values()) or (options.threads or 1) != 1:
            raise
        options.say(f"{error}\nTherefore its states are sampled, which is slower, and exploitability is not measured.")
        return "states"


def _check_public(forms: GameForms, algorithm: str, options: RunOptions, settings: Mapping[str, Any]) -> None:
    """Refuse a public tree that does not fit with its tables, before any of it is built.

    Tables are counted as the algorithm makes them by default; with another ``storage`` they are checked when they are
    made.
    """
    if forms.compiled or forms.subgame is not None or forms.poker is None or "storage" in settings:
        return
    from counterplay.forms.size_report import public_size
    from counterplay.solvers.form_memory import solver_memory

    size = public_size(forms)
    if size.too_large and size.bytes is None:  # its betting cannot even be counted
        raise MemoryLimitError(f"the public tree of {forms.name} is too large; {forms.poker_advice()}")
    tables = solver_memory(forms, size).get(algorithm)
    if size.bytes is not None and tables is not None:
        what = f"{algorithm} on the public tree of {forms.name}"
        check_memory(what, size.bytes + tables, options.memory_limit, forms.poker_advice())


def _kind(algorithm: str, form: str, options: RunOptions) -> str:
    """The kind of solver that a run will have."""
    opponent = options.opponent_cards
    return solver_kind(algorithm, form, None if opponent is None or form != "buckets" else os.fspath(opponent))


def _check_needs(form: str, measured: bool, options: RunOptions, needs: Mapping[str, bool]) -> None:
    for name in ("bets", "opponent_cards"):
        if getattr(options, name) is not None and form != "buckets":
            raise SolverError(f"{name} is for card abstractions; name one with cards")
    if form != "history":
        for name in ("forget", "map_out", "exact"):
            if needs[name]:
                raise SolverError(f"{name} needs the histories of the game; use representation history")
    if form == "states" or (form == "buckets" and not measured):
        for name in ("until", "plot"):
            if needs[name]:
                raise SolverError(f"{name} needs the compiled game; leave it out, or use representation history")


def _forgotten_first(
    game: GameLike, forget: Sequence[str], settings: Mapping[str, Any]
) -> tuple[GameLike, dict[str, Any]]:
    """The real game, and the initial abstraction as a setting, for algorithms that refine it themselves."""
    plain, what = split_name(game) if isinstance(game, str) else (game, None)
    if what is not None and forget:
        raise SolverError(f"the name already says what is forgotten ({what}); leave out forget")
    first = what or ",".join(forget)
    return plain, {"forget": first, **settings} if first else dict(settings)


def _common_settings(algorithm: str, form: str, options: RunOptions) -> dict[str, Any]:
    """The seed and the threads, for algorithms that have them."""
    known, found = ALGORITHMS[algorithm], {}
    if options.seed is not None and known.seeded:
        found["seed"] = options.seed
    threaded = known.sampled or form == "public" or solver_class(_kind(algorithm, form, options)).real_game
    if options.threads is not None and threaded:
        found["threads"] = options.threads
    elif options.threads not in (None, 1):
        raise SolverError(f"{algorithm} works in one thread; threads are for sampling algorithms and public trees")
    return found


def _with_scheme(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, a sampling scheme given as ``FILE.py:FUNCTION`` replaced by the function."""
    text = settings.get("scheme")
    if not isinstance(text, str) or ".py:" not in text:
        return dict(settings)
    path, _, name = text.rpartition(":")
    try:
        scheme = runpy.run_path(path).get(name)
    except OSError as error:
        raise SolverError(f"cannot read the scheme {path}: {error.strerror or error}") from None
    except Exception as error:
        raise SolverError(f"the scheme {path} fails: {type(error).__name__}: {error}") from error
    if not callable(scheme):
        raise SolverError(f"{path} has no function {name!r}; a scheme is given as FILE.py:FUNCTION")
    return {**settings, "scheme": scheme}


def _history_solver(forms: GameForms, algorithm: str | None, settings: dict[str, Any], options: RunOptions) -> Solver:
    return solver_with(settings, forms.history(), algorithm, options.memory_limit, "history")


def _states_solver(forms: GameForms, algorithm: str | None, settings: dict[str, Any], options: RunOptions) -> Solver:
    return solver_with(settings, forms.states(), algorithm, options.memory_limit, "states")


def _public_solver(forms: GameForms, algorithm: str | None, settings: dict[str, Any], options: RunOptions) -> Solver:
    """A solver on the public tree; postflop spots have their own defaults."""
    from counterplay.solvers.public_cfr import PublicSolver

    if forms.subgame is not None:
        _check_spot_algorithm(algorithm)
    if options.tables_folder is not None:
        if forms.subgame is not None:
            algorithm = algorithm or SPOT_ALGORITHM
            settings = {**(SPOT_SETTINGS if algorithm == SPOT_ALGORITHM else {}), **settings}
        return streamed_solver(forms, algorithm or DEFAULT_ALGORITHM["public"], settings, options)
    _check_public(forms, algorithm or DEFAULT_ALGORITHM["public"], options, settings)
    tree, limit = forms.public(), options.memory_limit
    if tree.name.startswith(SUBGAME):
        algorithm = algorithm or SPOT_ALGORITHM
        small = {"storage": "int16"} if sum(tree.num_entries) > SPOT_INTEGERS else {}
        settings = {**(SPOT_SETTINGS if algorithm == SPOT_ALGORITHM else {}), **small, **settings}
        advice = "fewer sizes or hands" if settings.get("storage") == "int16" else "storage int16, fewer sizes or hands"
        needed = tree.nbytes * (limit is not None) + PublicSolver.memory_bytes(tree, config_with(algorithm, settings))
        check_memory("the subgame", needed, limit, f"try {advice}")
    return solver_with(settings, tree, algorithm, limit)


def _check_spot_algorithm(algorithm: str | None) -> None:
    """Refuse an algorithm that does not solve postflop spots."""
    if algorithm is not None and find_algorithm(algorithm) not in CFR_PRESETS:
        raise SolverError(f"spots are solved by {', '.join(CFR_PRESETS)}; got {algorithm!r}")


def _bucket_solver(forms: GameForms, algorithm: str | None, settings: dict[str, Any], options: RunOptions) -> Solver:
    """A solver in a card abstraction, after its memory was predicted from the rules."""
    from counterplay.solvers.bucket_mccfr import predicted_tables

    name = algorithm or DEFAULT_ALGORITHM["buckets"]
    if not forms.compiled:
        size = forms.bucket_counts()
        tables = predicted_tables(size, name, settings)
        check_memory(f"{name} on {forms.name}", size.tree_bytes + tables, options.memory_limit)
    game = forms.buckets() if options.opponent_cards is None else forms.asymmetric()
    solver = solver_with(settings, game, name, options.memory_limit)
    _count_pairs(solver, options)
    return solver


_SOLVERS = {"history": _history_solver, "public": _public_solver, "buckets": _bucket_solver, "states": _states_solver}


def _count_pairs(solver: Solver, options: RunOptions) -> None:
    """The bucket pair counts, if a run is to be measured in the bucket game, or solves it by them."""
    from counterplay.solvers.bucket_pairs_cfr import BucketPairsSolver

    if isinstance(solver, BucketPairsSolver) and (solver.pairs is None) == (options.boards is None):
        if options.boards is not None:
            raise SolverError("a checkpoint has its own boards; leave out boards")
        raise SolverError(
            f"{solver.name} has {count_boards(solver.game):,} different boards, too many for {solver.algorithm} to "
            "walk all; say how many to sample: boards=10000 (--boards 10000), or use a sampling algorithm"
        )
    if options.boards is None:
        return
    from counterplay.evaluation.bucket_pairs import count_bucket_pairs
    from counterplay.solvers.bucket_tables import BucketTables

    if not isinstance(solver, BucketTables):
        raise SolverError("boards is for card abstractions; name one with cards")
    count = None if options.boards == "all" else int(options.boards)
    seed = getattr(solver.config, "seed", options.seed or 0)
    solver.pairs = count_bucket_pairs(solver.game, count, seed, options.opening)


def _lock(solver: Solver, text: str) -> None:
    """Fix the strategy of a node of a spot: ``NODE=STRATEGY`` or ``NODE=FILE``."""
    from counterplay.poker.postflop.locks import lock_rows, parse_lock
    from counterplay.poker.postflop.spots import text_or_file
    from counterplay.solvers.public_cfr import PublicSolver
    from counterplay.strategy.public_lookup import PublicIndex

    if not isinstance(solver, PublicSolver):
        raise SolverError(f"{solver.algorithm} does not support locks; use one of {', '.join(CFR_PRESETS)}")
    place, equals, what = text.partition("=")
    if not equals:
        raise SolverError(f"a lock is NODE=STRATEGY, such as 'check bet25=fold 0.4; call rest'; got {text!r}")
    tree = solver.tree
    node = PublicIndex(tree).node(place)
    if solver.locked[node]:
        raise SolverError(
            f"{place.strip() or 'the root'} is locked twice; give one lock with all its actions, separated by ;"
        )
    actions = tree.actions_of(node)
    strategy = parse_lock(text_or_file(what.strip(), lambda text: parse_lock(text, actions)), actions)
    for deal in range(int(tree.deal_low[node]), int(tree.deal_high[node])):
        solver.lock(node, deal, lock_rows(tree, node, deal, strategy))
