"""``solve_flops``: one postflop spot on many boards, in a folder that a stopped run continues from.

flops.run         the spot, the target, the settings and the boards
BOARD.solved      what was found on a finished board; it is not repeated
BOARD.checkpoint  the unfinished board, written every minute; it continues from there
BOARD.strategy    its strategy, if strategies are kept
flops.csv, flops.html   the report over all finished boards
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from counterplay.errors import GameError, SolverError, StrategyError
from counterplay.poker.board_tree import Renamings, pair_mass
from counterplay.poker.cards import MAX_SUITS, parse_cards
from counterplay.poker.postflop.board_lists import WeightedBoard
from counterplay.poker.postflop.spots import NEEDED, Spot
from counterplay.poker.range_equity import equity
from counterplay.poker.range_files import range_of
from counterplay.poker.ranges import Weights, holdem_hands, parse_range
from counterplay.runs.flop_report import Decision, FlopReport, SolvedBoard
from counterplay.runs.options import SPOT_TARGET, RunOptions, Target
from counterplay.runs.preparation import prepare_resume, prepare_spot
from counterplay.runs.run import Run
from counterplay.runtime.header_checks import check_header
from counterplay.runtime.progress import Progress, ProgressCallback
from counterplay.solvers.result import SolveResult
from counterplay.storage import is_unused, lock_folder, read_container, write_container
from counterplay.strategy.public_lookup import PublicIndex

STATE, RUN_KIND, BOARD_KIND = "flops.run", "flops", "solved board"
NODES = ("", "check")
"""The decisions of a report by default."""


@dataclasses.dataclass(frozen=True)
class FlopPlan:
    """What is solved on each board.

    Attributes
    ----------
    spot : Spot
        Without a board.
    until : str or float, optional
        The exploitability at which each board is finished: ``"0.3%"`` of the pot, or chips; by default 0.5%.
    algorithm : str, optional
        As in ``solve_spot``.
    settings : mapping
        Of the algorithm.
    nodes : tuple of str, optional
        The decisions of the report, each the actions that lead there, before another card is dealt; by default the
        first one of each player.
    """

    spot: Spot
    until: str | float | None = None
    algorithm: str | None = None
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    nodes: tuple[str, ...] | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        """The decisions of the report."""
        return NODES if self.nodes is None else self.nodes

    def to_dict(self) -> dict[str, Any]:
        """For a file; ranges are those of their files now."""
        spot = dataclasses.asdict(self.spot)
        spot |= {name: range_of(spot[name], name) for name in ("oop", "ip") if spot[name] is not None}
        found = {
            "spot": spot, "until": self.until, "algorithm": self.algorithm, "settings": dict(self.settings),
            "nodes": self.nodes,
        }  # fmt: skip
        plain: dict[str, Any] = json.loads(json.dumps(found))  # as it will be read: lists for tuples
        return plain

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> FlopPlan:
        """The inverse of ``to_dict``."""
        stack = found["spot"].get("stack")
        spot = {**found["spot"], "stack": tuple(stack) if isinstance(stack, list) else stack}
        return cls(
            Spot(**spot),
            found["until"],
            found["algorithm"],
            found["settings"],
            found["nodes"] and tuple(found["nodes"]),
        )


def solve_flops(
    folder: str | os.PathLike[str],
    plan: FlopPlan | None = None,
    boards: Sequence[WeightedBoard] | None = None,
    *,
    keep: bool = False,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    progress: ProgressCallback | None = None,
) -> FlopReport:
    """Solve a spot on many boards, one after another, and report on all.

    Boards that are finished in the folder are not repeated, and an unfinished one continues from its checkpoint.
    Ctrl-C ends the run with a report on what is done; ``left`` are the boards that remain.

    Parameters
    ----------
    folder : path
        Where everything is kept; created if it does not exist.
    plan : FlopPlan, optional
        The spot and the target; by default those of the folder.  A folder is for one plan.
    boards : sequence of WeightedBoard, optional
        See ``poker.postflop.board_lists``; by default those of the folder.  Other boards may be given later.
    keep : bool
        Save the strategy of each board too.
    threads, memory_limit
        See ``RunOptions``.
    progress : callable, optional
        Called with ``Progress``: how many boards are done; ``stage`` is the current one.

    Raises
    ------
    CounterplayError
        If the folder has another plan or none, another process works in it, or a board cannot be solved.
    """
    place = _Folder.opened(Path(folder), plan, boards)  # nothing is written if it is refused
    options: dict[str, Any] = {"threads": threads, "memory_limit": memory_limit}
    with lock_folder(place.path, "solving boards"):
        place = _Folder.opened(place.path, plan, boards)
        place.save()
        return _solve_all(place, keep, RunOptions(**options), progress)


def _solve_all(place: _Folder, keep: bool, options: RunOptions, progress: ProgressCallback | None) -> FlopReport:
    """Solve the boards of a folder that are left, and report on all."""
    done = {one.board: found for one in place.boards if (found := place.finished(one)) is not None}
    count = _Count(progress, len(place.boards), len(done))
    for board in place.boards:
        if board.board in done:
            continue
        count.board = board.board
        try:
            found = place.solve(board, keep, options, count.report)
        except KeyboardInterrupt:
            break
        if found is None:
            break
        done[board.board] = found
        count.done += 1
        count.report(Progress(found.iterations, exploitability=found.exploitability))
    return place.report(done)


class _Count:
    """Turns the progress of each board into that of all."""

    def __init__(self, progress: ProgressCallback | None, total: int, done: int) -> None:
        self.progress, self.total, self.done, self.before, self.board = progress, total, done, done, ""
        self.started = time.monotonic()

    def report(self, now: Progress) -> None:
        if self.progress is None:
            return
        spent, solved = time.monotonic() - self.started, self.done - self.before
        left = spent / solved * (self.total - self.done) if solved else None
        self.progress(dataclasses.replace(
            now, iterations=self.done, total=self.total, seconds=spent, seconds_left=left, stage=self.board,
            detail=f"{now.iterations:,} iterations",
        ))  # fmt: skip


class PlanHeader(TypedDict):
    """A ``FlopPlan`` in a file."""

    spot: Spot
    until: str | float | None
    algorithm: str | None
    settings: dict[str, Any]
    nodes: list[str] | None


class RunHeader(TypedDict):
    """What the file of a folder holds."""

    plan: PlanHeader
    boards: list[tuple[str, float]]


class FoundDecision(TypedDict):
    """A ``Decision`` in a file."""

    node: str
    player: int
    reach: float
    frequencies: list[tuple[str, float]]


class FoundBoard(TypedDict):
    """A ``SolvedBoard`` in a file."""

    board: str
    weight: float
    pairs: float
    equity: tuple[float, float]
    value: tuple[float, float]
    exploitability: float
    iterations: int
    seconds: float
    cpu_seconds: float
    decisions: list[FoundDecision]


class BoardHeader(TypedDict):
    """What the file of a board holds."""

    found: FoundBoard


@dataclasses.dataclass(frozen=True)
class _Folder:
    """A folder with its plan, the boards that were given, and those of them on which a pair of hands can be held."""

    path: Path
    plan: FlopPlan
    given: tuple[WeightedBoard, ...]
    boards: tuple[WeightedBoard, ...]

    @property
    def impossible(self) -> tuple[str, ...]:
        """The other boards."""
        possible = {one.board for one in self.boards}
        return tuple(one.board for one in self.given if one.board not in possible)

    @classmethod
    def opened(cls, path: Path, plan: FlopPlan | None, boards: Sequence[WeightedBoard] | None) -> _Folder:
        """The folder of these, or as it was left; nothing is written."""
        state = path / STATE
        if os.path.isfile(state):
            header, _ = read_container(state, RUN_KIND)
            check_header(state, header, RunHeader)
            try:
                kept = FlopPlan.from_dict(header["plan"])
            except (TypeError, ValueError) as error:
                raise StrategyError(f"{state} is damaged: {error}") from None
            if plan is not None and _started(path):
                _check_same(path, kept, plan)
                plan = None
            known = [WeightedBoard(board, weight) for board, weight in header["boards"]]
            plan, boards = plan or kept, known if boards is None else boards
        elif plan is None or boards is None:
            raise GameError(f"nothing was started in {path}; name the spot and its boards")
        elif not is_unused(path, STATE):
            raise GameError(f"{path} exists, but no report was started in it; choose another folder")
        if not boards:
            raise GameError("there is no board to solve")
        for one in boards:
            if not 0 < one.weight < math.inf:
                raise GameError(f"the weight of a board is a positive number; that of {one.board} is {one.weight}")
        possible = [one for one in boards if _pairs(plan.spot, one.board) > 0]
        first = possible[0] if possible else boards[0]
        dataclasses.replace(plan.spot, board=first.board).subgame()  # refuses what is missing or wrong
        return cls(path, FlopPlan.from_dict(plan.to_dict()), tuple(boards), tuple(possible))

    def save(self) -> None:
        """Write the plan and the boards."""
        header = {"plan": self.plan.to_dict(), "boards": [[one.board, one.weight] for one in self.given]}
        write_container(self.path / STATE, RUN_KIND, header, {})

    def finished(self, board: WeightedBoard) -> SolvedBoard | None:
        """What was found on a board, with its weight of now."""
        path = self.path / f"{board.board}.solved"
        if not os.path.isfile(path):
            return None
        header, _ = read_container(path, BOARD_KIND)
        check_header(path, header, BoardHeader)
        try:
            found = dataclasses.replace(SolvedBoard.from_dict(header["found"]), weight=board.weight)
        except (LookupError, TypeError, ValueError) as error:
            raise StrategyError(f"{path} is damaged: {type(error).__name__}: {error}") from None
        self._remove_checkpoint(board)  # it is left where a run was killed between the two files
        return found

    def solve(
        self, board: WeightedBoard, keep: bool, options: RunOptions, progress: ProgressCallback
    ) -> SolvedBoard | None:
        """Solve a board and keep what was found; None if it was interrupted."""
        files: dict[str, Any] = {
            "checkpoint": self._checkpoint(board),
            "out": self.path / f"{board.board}.strategy" if keep else None,
        }
        run = self._run(board, dataclasses.replace(options, **files))
        self._check_nodes(PublicIndex(run.solver.tree))
        result = run.run(progress)
        if result.status == "interrupted":
            return None
        found = self._found(board, result)
        write_container(self.path / f"{board.board}.solved", BOARD_KIND, {"found": found.to_dict()}, {})
        self._remove_checkpoint(board)
        return found

    def _checkpoint(self, board: WeightedBoard) -> Path:
        return self.path / f"{board.board}.checkpoint"

    def _remove_checkpoint(self, board: WeightedBoard) -> None:
        with contextlib.suppress(OSError):
            self._checkpoint(board).unlink()

    def _check_nodes(self, index: PublicIndex) -> None:
        for node in self.plan.shown:
            place = index.node(node)
            try:
                index.board(place, None)
            except GameError:
                raise GameError(f"a report has decisions before another card is dealt; {node!r} comes later") from None

    def _run(self, board: WeightedBoard, options: RunOptions) -> Run:
        """The run of a board, where it stopped if it was stopped."""
        plan, target = self.plan, Target(SPOT_TARGET if self.plan.until is None else self.plan.until)
        checkpoint = options.checkpoint
        if checkpoint is not None and os.path.isfile(checkpoint):
            try:
                return prepare_resume(checkpoint, None, target, dataclasses.replace(options, threads=None), {})
            except StrategyError:  # it was damaged when the machine stopped
                os.unlink(checkpoint)
        spot = dataclasses.replace(plan.spot, board=board.board)
        return prepare_spot(spot, plan.algorithm, target, options, plan.settings)

    def _found(self, board: WeightedBoard, result: SolveResult) -> SolvedBoard:
        game = dataclasses.replace(self.plan.spot, board=board.board).subgame()
        first, second = equity(*game.ranges, board=board.board).ranges
        return SolvedBoard(
            board.board, board.weight, _pairs(self.plan.spot, board.board), (first.equity, second.equity),
            (result.value[0], result.value[1]),
            result.exploitability, result.iterations, result.seconds, result.cpu_seconds,
            tuple(_decision(result.profile, node) for node in self.plan.shown),
        )  # fmt: skip

    def report(self, done: Mapping[str, SolvedBoard]) -> FlopReport:
        """The report on finished boards, written into the folder."""
        game = dataclasses.replace(self.plan.spot, board=self.boards[0].board).subgame()
        report = FlopReport(
            f"{len(self.boards):,} boards, {game.title.partition(', ')[2]}", float(game.pot), str(self.path),
            tuple(done[one.board] for one in self.boards if one.board in done),
            tuple(one.board for one in self.boards if one.board not in done), self.impossible,
            len(Renamings(MAX_SUITS, holdem_hands(), _ranges(self.plan.spot), True).card) == math.factorial(MAX_SUITS),
        )  # fmt: skip
        report.to_csv(self.path / "flops.csv")
        report.to_html(self.path / "flops.html")
        return report


def _started(path: Path) -> bool:
    """Whether there is any work in a folder."""
    return any(found.suffix in (".solved", ".checkpoint") for found in path.iterdir())


def _pairs(spot: Spot, board: str) -> float:
    """The weight of all pairs of hands that can be held on a board."""
    return pair_mass(holdem_hands(), _ranges(spot), parse_cards(board), 2)


def _ranges(spot: Spot) -> tuple[Weights, Weights]:
    """The weights of both players' hands, on whatever board."""
    return _weights(range_of(spot.oop or "", "oop")), _weights(range_of(spot.ip or "", "ip"))


_weights = functools.lru_cache(maxsize=2)(parse_range)


def _check_same(path: Path, kept: FlopPlan, plan: FlopPlan) -> None:
    """Refuse another plan than that of a folder; of an incomplete one, only what it has is compared."""
    old, new = ({**one.pop("spot"), **one} for one in (kept.to_dict(), plan.to_dict()))
    entire = all(new[name] is not None for name in NEEDED if name != "board")
    plain = {field.name: field.default for field in dataclasses.fields(Spot)} | {"add_line": [], "remove_line": []}
    plain |= {"lock": [], "until": None, "algorithm": None, "settings": {}, "nodes": None}
    different = [
        f"{name} is {_given(old[name])} there, {_given(new[name])} here"
        for name in new
        if old[name] != new[name] and (entire or new[name] != plain[name])
    ]
    if different:
        raise SolverError(f"{path} has another spot: {'; '.join(different)}; give the same one, or another folder")


def _given(value: Any) -> str:
    return "not given" if value is None or value == [] or value == {} else repr(value)


def _decision(profile: Any, node: str) -> Decision:
    """What is done at a decision, and how often play gets there."""
    text = profile.tree.node_text[profile.index.node(node)]
    words, reach = text.split(), 1.0
    for place, word in enumerate(words):
        table = profile.hands(" ".join(words[:place]))
        reach *= float(table.frequencies[table.actions.index(word)])
    table = profile.hands(text)
    return Decision(text, table.player, reach, dict(zip(table.actions, table.frequencies.tolist(), strict=True)))
