"""A finished run: the strategy, its measurement, and the one report of it, as JSON, text and HTML.

The report has the same keys for every form of a game, whether the run is fresh or resumed; what does not apply is null.
Further keys are those of the algorithm (``SolveResult.details``).
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import counterplay
from counterplay.evaluation.figures import exploitability_text, forgetful_note, value_rows
from counterplay.evaluation.measurement import Measurement
from counterplay.runtime.data_frames import Tabulated
from counterplay.runtime.html_page import html_facts
from counterplay.runtime.memory import format_bytes
from counterplay.runtime.number_text import figure
from counterplay.runtime.progress import Curve

if TYPE_CHECKING:
    from counterplay.abstraction.infosets.abstraction import Abstraction

Status = Literal["solved", "exploitability", "iterations", "seconds", "memory", "interrupted"]
"""Why a run ended: solved, the limit that was reached, full tables, or Ctrl-C."""

ENDINGS: Mapping[str, str] = {
    "solved": "solved exactly",
    "exploitability": "the target was reached",
    "iterations": "all iterations are done",
    "seconds": "the time is up",
    "memory": "the tables fill the memory that may be used",
    "interrupted": "interrupted; the work is saved",
}
PLACES: Mapping[str, str] = {
    "history": "",
    "public": " on its public tree",
    "buckets": " in a card abstraction",
    "states": " without compiling it",
}
CURVE_COLUMNS = ("iterations", "seconds", "cpu_seconds", "nodes", "exploitability")
"""Of the convergence curve as a table."""

FILES: Mapping[str, str] = {"profile": "strategy", "map": "abstraction map", "plot": "plot", "checkpoint": "checkpoint"}
"""The files of a run by their keys, with their names in the report."""


@dataclasses.dataclass(frozen=True)
class DiskUse:
    """The tables of a run that are on disk.

    * ``folder``: where they are
    * ``stored``: their bytes, compressed
    * ``ratio``, ``float32_ratio``: how often they are as large in memory, and as float32
    * ``read``, ``written``: bytes of files, since the run was started or resumed
    * ``waited``: seconds in which nothing was computed because tables were not read yet
    """

    folder: str
    stored: int
    ratio: float
    float32_ratio: float
    read: int
    written: int
    waited: float

    def rows(self) -> list[tuple[str, str]]:
        """For the report."""
        ratios = f"{self.ratio:.1f}:1, {self.float32_ratio:.1f}:1 of float32"
        traffic = f"{format_bytes(self.read)} read, {format_bytes(self.written)} written"
        return [
            ("tables on disk", f"{format_bytes(self.stored)} in {self.folder}, {ratios}"),
            ("disk", f"{traffic}, {self.waited:.1f} seconds waiting"),
        ]


@dataclasses.dataclass(frozen=True)
class RunFacts:
    """What a report says about the game and the tables of a run.

    * ``title``: a short title of the game, if its name is too long
    * ``big_blind``, ``pot``: units of exploitability in poker; ``pot`` is that of a postflop spot
    * ``zero_sum``, ``one_sided``: whether the game is a two-player zero-sum one; whether the run maximises for one
      player only
    * ``recall``: the recall class of each player
    * ``forgetful``: players without perfect recall
    * ``public_states``, ``entries``: sizes
    * ``locked``: locked nodes of a public tree
    * ``tree_bytes``, ``table_bytes``: memory
    * ``words``: words of the map and all words, of an algorithm that makes its own abstraction
    * ``seed``, ``threads``: of the run
    * ``disk``: the tables on disk, if they are there
    """

    title: str = ""
    big_blind: float | None = None
    pot: float | None = None
    zero_sum: bool = False
    one_sided: bool = False
    recall: tuple[str, ...] | None = None
    forgetful: tuple[int, ...] = ()
    public_states: int | None = None
    entries: int | None = None
    locked: tuple[str, ...] | None = None
    tree_bytes: int = 0
    table_bytes: int = 0
    words: tuple[int, int] | None = None
    seed: int = 0
    threads: int = 1
    disk: DiskUse | None = None


@dataclasses.dataclass(frozen=True)
class AbstractResult:
    """The same run inside the abstract game that was solved in place of the real one."""

    game: str
    measurement: Measurement
    recall: tuple[str, ...] | None = None
    abstraction: Abstraction | None = None  # of information sets; none in a card abstraction


@dataclasses.dataclass(frozen=True, repr=False)
class SolveResult(Tabulated):
    """A finished run: the strategy and everything that is reported about it; its table is the convergence curve."""

    game: str
    algorithm: str
    status: Status
    profile: Any  # a strategy: tabular, of a public tree, or in buckets; None where it does not fit into memory
    measurement: Measurement
    iterations: int
    seconds: float
    cpu_seconds: float
    histories: int | None  # unknown where the game was not compiled
    information_sets: int
    curve: Curve
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    nodes: int = 0
    abstraction: Abstraction | None = None
    """The abstraction that the algorithm made itself, if it did."""
    form: str = "history"
    facts: RunFacts = RunFacts()
    abstract: AbstractResult | None = None
    files: Mapping[str, str | os.PathLike[str] | None] = dataclasses.field(default_factory=dict)
    """The files that were written, by ``profile``, ``map``, ``plot`` and ``checkpoint``."""

    @property
    def value(self) -> tuple[float, ...]:
        """Expected value of each player; in a postflop spot the share of the pot, ``oop`` first."""
        return self.measurement.value

    @property
    def best_response(self) -> tuple[float, ...]:
        """Value of each player's best response to the others."""
        return self.measurement.best_response

    @property
    def nash_conv(self) -> float:
        """Sum over players of what a best response gains."""
        return self.measurement.nash_conv

    @property
    def exploitability(self) -> float:
        """Mean over players of what a best response gains; NaN where it was not measured."""
        return self.measurement.exploitability

    @property
    def nodes_per_second(self) -> float:
        """What the run visited in a second: histories, or public states."""
        return self.nodes / self.seconds if self.seconds > 0 else 0.0

    @property
    def is_measured(self) -> bool:
        """Whether the strategy was measured in the game itself."""
        return not math.isnan(self.exploitability)

    @property
    def value_bounds(self) -> tuple[float, float] | None:
        """Bounds on the value for player 1, in two-player zero-sum games (Johanson 2016, section 9.4)."""
        if not (self.is_measured and self.facts.zero_sum and len(self.value) == 2):
            return None
        return (self.facts.pot or 0.0) - self.best_response[1], self.best_response[0]

    @property
    def title(self) -> str:
        """One line: the game, the algorithm, and how the run ended."""
        name = self.facts.title or (self.game if self.abstract is None else self.abstract.game)
        bounded = self.facts.one_sided and self.status == "solved"
        ending = "the bounds have met" if bounded else ENDINGS[self.status]
        return f"{name} solved by {self.algorithm}{PLACES[self.form]}: {ending}"

    def plot(self, path: str | os.PathLike[str] | None = None, target: float | None = None) -> Any:
        """Draw the convergence curve, into a file or for a notebook; see ``counterplay.plot_run``."""
        return counterplay.plot_run(self, path, target)  # of a higher layer, which the package finds when it is called

    def _columns(self) -> tuple[str, ...]:
        return CURVE_COLUMNS

    def _lines(self) -> Iterator[tuple[float, ...]]:
        return (tuple(getattr(point, name) for name in CURVE_COLUMNS) for point in self.curve)

    def to_dict(self) -> dict[str, Any]:
        """The report for JSON."""
        facts, pot = self.facts, self.facts.pot
        in_pot = pot if self.is_measured else None
        return {
            "game": self.game,
            "algorithm": self.algorithm,
            "representation": self.form,
            "status": self.status,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            **_numbers(self.measurement, facts.big_blind),
            "exploitability_percent": None if in_pot is None else 100 * self.exploitability / in_pot,
            "value_bounds": None if self.value_bounds is None else list(self.value_bounds),
            "recall": None if facts.recall is None else list(facts.recall),
            "information_sets": self.information_sets,
            "public_states": facts.public_states,
            "histories": self.histories,
            "locked": None if facts.locked is None else list(facts.locked),
            "nodes": self.nodes,
            "nodes_per_second": self.nodes_per_second,
            "memory_bytes": {"tree": facts.tree_bytes, "solver": facts.table_bytes},
            "disk": None if facts.disk is None else dataclasses.asdict(facts.disk),
            **self._abstraction_keys(),
            **self.details,
            **{key: None if self.files.get(key) is None else str(self.files[key]) for key in FILES if key != "plot"},
            "seed": facts.seed,
            "threads": facts.threads,
        }

    def _abstraction_keys(self) -> dict[str, Any]:
        inside = self.abstract
        merged = self.abstraction if inside is None else inside.abstraction
        map_words, words = self.facts.words or (None, None)
        return {
            "abstraction": None if inside is None or inside.abstraction is None else inside.abstraction.name,
            "abstraction_information_sets": None if merged is None else merged.num_sets,
            "abstraction_entries": None if merged is None else merged.num_entries,
            "map_words": map_words,
            "memory_words": words,
            "abstract": None if inside is None else {
                "game": inside.game,
                **_numbers(inside.measurement, self.facts.big_blind),
                "recall": None if inside.recall is None else list(inside.recall),
            },
        }  # fmt: skip

    def rows(self) -> list[tuple[str, str]]:
        """The report as rows of name and text, only what applies."""
        facts = self.facts
        rows = self._value_rows()
        rows += [(name.replace("_", " "), _detail(number)) for name, number in self.details.items()]
        rows += self._abstraction_rows()
        rows += [
            ("iterations", f"{self.iterations:,}"),
            *self._visits(),
            ("information sets", f"{self.information_sets:,}{' seen' if self.form == 'states' else ''}"),
            ("seconds", f"{self.seconds:.2f}, {self.cpu_seconds:.2f} of CPU"),
            ("memory", f"{format_bytes(facts.tree_bytes)} tree, {format_bytes(facts.table_bytes)} tables"),
            *(() if facts.disk is None else facts.disk.rows()),
        ]
        if facts.locked:
            rows.append(("locked", f"{', '.join(map(repr, facts.locked))}; best responses respect it"))
        if facts.forgetful:
            rows.append(("note", forgetful_note(facts.forgetful)))
        return rows + [(name, str(self.files[key])) for key, name in FILES.items() if self.files.get(key) is not None]

    def _visits(self) -> list[tuple[str, str]]:
        """How large the game is, and how often the iterations visited what is in it."""
        states = self.facts.public_states
        name = "public states" if states is not None else "betting nodes" if self.form == "buckets" else "histories"
        size = None if self.form == "buckets" else self.histories if states is None else states
        parts = [] if size is None else [f"{size:,}"]
        if self.nodes:
            parts.append(f"{self.nodes:,} visits, {figure(self.nodes_per_second, 3)} per second")
        return [(name, "; ".join(parts))] if parts else []

    def _value_rows(self) -> list[tuple[str, str]]:
        facts = self.facts
        if not self.is_measured:
            return [("exploitability", "not measured: a best response walks the whole game")]
        whole = facts.zero_sum and self.abstract is None
        name = "against a response" if facts.one_sided else "value of the game" if whole else "value of the profile"
        return [
            *value_rows(self.measurement, name, facts.pot),
            ("exploitability", exploitability_text(self.exploitability, facts.big_blind, facts.pot)),
        ]

    def _abstraction_rows(self) -> list[tuple[str, str]]:
        facts, inside, rows = self.facts, self.abstract, []
        if inside is not None:
            text = exploitability_text(inside.measurement.exploitability, facts.big_blind)
            bound = inside.recall is not None and not set(inside.recall) <= {"perfect", "a-loss"}
            name = "abstract game" if inside.abstraction is not None else "bucket game"
            if inside.abstraction is None and self.form == "history":
                name = "game of the part"
            rows.append((f"in the {name}", f"at most {text}, if it remembers" if bound else text))
        merged = self.abstraction if inside is None else inside.abstraction
        if merged is not None:
            share = 100.0 * merged.num_sets / self.information_sets
            sets = f"{merged.num_sets:,} of {self.information_sets:,} information sets ({share:.2f} %)"
            rows.append(("abstraction", f"{sets}, {merged.num_entries:,} of {facts.entries or 0:,} actions"))
        if facts.words is not None:
            rows.append(("words", f"{facts.words[1]:,} of 32 bits, {facts.words[0]:,} of them the map "
                                  f"(cfr+ on the whole game: {2 * (facts.entries or 0):,})"))  # fmt: skip
        return rows

    def __repr__(self) -> str:
        found = f"exploitability={figure(self.exploitability, 3)}, " if self.is_measured else ""
        return (
            f"SolveResult(game={self.facts.title or self.game!r}, algorithm={self.algorithm!r}, form={self.form!r}, "
            f"{found}iterations={self.iterations:,}, seconds={self.seconds:.2f}, status={self.status!r})"
        )

    def _repr_html_(self) -> str:
        return html_facts(self.title, self.rows())


def _numbers(measurement: Measurement, big_blind: float | None) -> dict[str, Any]:
    """The numbers of a measurement; those in mbb are null in a game without a big blind."""
    units = dict.fromkeys(("exploitability_mbb", "best_response_mbb"))
    return {**units, **dataclasses.replace(measurement, big_blind=big_blind).numbers()}


def _detail(number: Any) -> str:
    """A figure of an algorithm: one, or one for each player."""
    if isinstance(number, list):
        return ", ".join(_detail(part) for part in number)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return str(number)
    return f"{number:,}" if isinstance(number, int) else figure(number, 9)
