"""``respond``: a counter-strategy to a model of an opponent, and what it wins and risks.

Johanson 2016, chapter 6.  The kinds of response, from the boldest to the most careful:

    best      a best response to the model: wins most from it, and may lose anything to others
    mixture   with probability p a best response, else an equilibrium, chosen before each game
    rnr       restricted Nash response: an equilibrium if the opponent plays the model with probability p, a coin for
              each game, and is free otherwise
    dbr       data biased response: the same with a coin for each information set, of the model's confidence there, at
              most p (the source's Pmax)
    safe      epsilon-safe best response: the most that can be won with an exploitability of at most epsilon (small
              games)

A counter-strategy has both seats.  *Exploitation* is what it wins from the model, or from the opponent itself where
that is known; *exploitability* what a best response to it wins, in the mean of both seats.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.errors import SolverError
from counterplay.evaluation.figures import exploitability_text
from counterplay.evaluation.measurement import Measurement
from counterplay.modelling.confidence import is_number
from counterplay.runtime.html_page import html_facts
from counterplay.runtime.number_text import chips, figure
from counterplay.runtime.suggestions import did_you_mean, find_name
from counterplay.solvers.result import ENDINGS
from counterplay.strategy.strategy import Strategy

Float64 = NDArray[np.float64]

KINDS = ("best", "mixture", "rnr", "dbr", "safe")
"""The kinds of response."""

_MEANT = {
    "br": "best", "best-response": "best", "mix": "mixture", "mixed": "mixture", "restricted-nash": "rnr",
    "restricted": "rnr", "nash": "rnr mixture", "data-biased": "dbr", "eps-safe": "safe", "epsilon-safe": "safe",
}  # fmt: skip

TITLES: Mapping[str, str] = {
    "best": "best response", "mixture": "mixture of best response and equilibrium", "rnr": "restricted Nash response",
    "dbr": "data biased response", "safe": "epsilon-safe best response",
}  # fmt: skip

GRID = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 0.99, 1.0)
"""The values of p and Pmax that the source draws its curves from."""


def read_grid(text: str) -> tuple[float, ...]:
    """The values of p of a curve: numbers separated by commas, or ``grid`` for ``GRID``."""
    if text.strip().lower() == "grid":
        return GRID
    try:
        return tuple(float(word) for word in text.split(",") if word.strip())
    except ValueError:
        raise SolverError(f"a curve has values of p separated by commas, as 0,0.5,1, or grid; got {text!r}") from None


def find_kind(text: str) -> str:
    """A kind of response as it is written, whatever its case."""
    found = find_name(text, KINDS) if isinstance(text, str) else None
    if found is None:
        raise SolverError(f"there is no kind of response {text!r}; {did_you_mean(str(text), KINDS, meant=_MEANT)}")
    return found


@dataclasses.dataclass(frozen=True)
class ResponseKind:
    """What is asked for.

    Attributes
    ----------
    kind : str
        One of ``KINDS``.
    p : float, optional
        The probability of the coin (``rnr``), the cap of the confidence (``dbr``), or the share of the best response
        (``mixture``), from 0 to 1.
    epsilon : float, optional
        The exploitability that ``safe`` may have, in chips.

    Raises
    ------
    SolverError
        If there is no such kind, or a number is missing, useless or outside its range.
    """

    kind: str
    p: float | None = None
    epsilon: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", find_kind(self.kind))
        if self.takes_p:
            if self.p is None:
                what = "the cap Pmax of the confidence" if self.kind == "dbr" else "a probability p"
                raise SolverError(f"{self.kind} needs {what}, from 0 to 1")
            if not is_number(self.p) or not 0.0 <= self.p <= 1.0:
                raise SolverError(f"p is a probability, from 0 to 1; got {self.p}")
        elif self.p is not None:
            raise SolverError(f"p is for rnr, dbr and mixture; {self.kind} has none")
        if self.kind == "safe":
            if self.epsilon is None:
                raise SolverError("safe needs epsilon, the exploitability that it may have, in chips")
            if not is_number(self.epsilon) or not 0.0 <= self.epsilon < math.inf:
                raise SolverError(f"epsilon is an exploitability in chips, 0 or more; got {self.epsilon}")
        elif self.epsilon is not None:
            raise SolverError(f"epsilon is for safe; {self.kind} has none")

    @property
    def takes_p(self) -> bool:
        """Whether the kind has a probability."""
        return self.kind in ("mixture", "rnr", "dbr")

    @property
    def title(self) -> str:
        """In words, with its number."""
        return TITLES[self.kind] + (f", {self._number}" if self._number else "")

    @property
    def short_title(self) -> str:
        """The kind with its number."""
        return self.kind + (f" with {self._number}" if self._number else "")

    @property
    def _number(self) -> str:
        names = {"safe": "epsilon", "dbr": "Pmax", "rnr": "p", "mixture": "p"}
        value = self.epsilon if self.kind == "safe" else self.p
        return "" if value is None else f"{names[self.kind]} = {figure(value)}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Response:
    """A counter-strategy, and what it wins and risks; amounts are chips per game.

    Attributes
    ----------
    strategy : Strategy
        The counter-strategy, of both seats.
    asked : ResponseKind
        What was asked for.
    against_model : tuple of float
        What it wins from the model in each seat.
    against_true : tuple of float, optional
        What it wins from the opponent itself, where that is known.
    measurement : Measurement
        The counter-strategy in the game that was solved: the game itself, or the bucket game.
    algorithm, status, iterations, seconds
        How it was found.
    gap : float
        How far it is from the solution of the restricted game, in the mean of both seats; 0 where it is exact.
    facts : mapping
        Further facts, as JSON has them.
    notes : tuple of str
        What somebody should know before relying on it.
    files : mapping
        The files that were written.
    """

    strategy: Strategy
    asked: ResponseKind
    against_model: tuple[float, float]
    against_true: tuple[float, float] | None
    measurement: Measurement
    algorithm: str
    status: str = "solved"
    iterations: int = 0
    seconds: float = 0.0
    gap: float = 0.0
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    files: Mapping[str, str | os.PathLike[str] | None] = dataclasses.field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind of response."""
        return self.asked.kind

    @property
    def p(self) -> float | None:
        """The probability of the coin, the cap of the confidence, or the share of the best response."""
        return self.asked.p

    @property
    def value_against_model(self) -> float:
        """What it wins from the model, in the mean of both seats."""
        return sum(self.against_model) / 2

    @property
    def value_against_true(self) -> float | None:
        """What it wins from the opponent itself, in the mean of both seats."""
        return None if self.against_true is None else sum(self.against_true) / 2

    @property
    def exploitability(self) -> float:
        """What a best response wins from it, in the mean of both seats."""
        return self.measurement.exploitability

    def _mbb(self, value: float | None) -> float | None:
        blind = self.measurement.big_blind
        return None if value is None or blind is None else 1000 * value / blind

    def to_dict(self) -> dict[str, Any]:
        """The report for JSON."""
        true = self.value_against_true
        return {
            "game": self.measurement.game,
            "kind": self.kind,
            "p": self.p,
            "epsilon": self.asked.epsilon,
            "value_against_model": self.value_against_model,
            "value_against_model_mbb": self._mbb(self.value_against_model),
            "value_against_model_by_seat": list(self.against_model),
            "value_against_true": true,
            "value_against_true_mbb": self._mbb(true),
            "exploitability": self.exploitability,
            "exploitability_mbb": self._mbb(self.exploitability),
            "best_response": list(self.measurement.best_response),
            "gap": self.gap,
            "gap_mbb": self._mbb(self.gap),
            "algorithm": self.algorithm,
            "status": self.status,
            "iterations": self.iterations,
            "seconds": self.seconds,
            **self.measurement.facts,
            **self.facts,
            "notes": list(self.notes),
            **{key: None if file is None else str(file) for key, file in self.files.items()},
        }

    @property
    def title(self) -> str:
        """One line: the kind, the game, and how it ended."""
        return f"{self.measurement.game}: {self.asked.title}: {ENDINGS[self.status]}"

    def rows(self) -> list[tuple[str, str]]:
        """The report as rows of name and text."""
        rows = [("wins from the model", self._won(self.against_model))]
        if self.against_true is not None:
            rows.append(("wins from the opponent", self._won(self.against_true)))
        place = "" if self.measurement.method == "history" else " inside the bucket game"
        blind = self.measurement.big_blind
        rows.append((f"exploitability{place}", exploitability_text(self.exploitability, blind).partition(", mean")[0]))
        if self.gap:
            text = exploitability_text(self.gap, blind).partition(", mean")[0]
            rows.append(("gap", f"{text} to the solution of the restricted game"))
        count = f", {self.iterations:,} iterations" if self.iterations > 1 else ""
        rows.append(("by", f"{self.algorithm}{count}, {self.seconds:.2f} s"))
        rows.append(("information sets", f"{self.strategy.num_infosets:,}"))
        names = {"profile": "strategy", "checkpoint": "checkpoint"}
        rows += [(names.get(key, key), str(file)) for key, file in self.files.items() if file is not None]
        return rows

    def _won(self, each: tuple[float, float]) -> str:
        mean, blind = sum(each) / 2, self.measurement.big_blind
        units = "" if blind is None else f" ({figure(1000 * mean / blind, 4, True)} mbb/g)"
        seats = ", ".join(f"{chips(value, True)} (player {seat + 1})" for seat, value in enumerate(each))
        return f"{chips(mean, True)} chips per game{units}; {seats}"

    def __repr__(self) -> str:
        return (
            f"Response(game={self.measurement.game!r}, kind={self.kind!r}, p={self.p}, "
            f"value_against_model={figure(self.value_against_model)}, exploitability={figure(self.exploitability)})"
        )

    def _repr_html_(self) -> str:
        return html_facts(self.title, self.rows())
