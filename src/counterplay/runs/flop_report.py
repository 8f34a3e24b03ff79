"""The report over solved boards: equity, value and frequencies of each, weighted means over all, as CSV and HTML.

The share of a board is its weight times the weight of the pairs of hands that can be held on it: how often the board
comes, given the ranges.  Means of equities and values use these shares; means of frequencies at a decision also count
how often play gets there.
"""

from __future__ import annotations

import dataclasses
import html
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from counterplay.runtime.html_page import STYLE, html_bar, html_cell, html_page, html_table
from counterplay.storage import write_csv, write_text
from counterplay.strategy.hand_colours import action_colours, legend

PLAYERS = ("oop", "ip")
SORTING = """<script>
document.querySelectorAll("table.sorted th").forEach((head, column) => head.onclick = () => {
  const body = head.closest("table").tBodies[0], key = row => row.cells[column].innerText;
  const down = head.dataset.down = head.dataset.down === "1" ? "0" : "1";
  const number = text => /^-?[0-9.]+%?$/.test(text) ? parseFloat(text) : text;
  [...body.rows].sort((a, b) => { const x = number(key(a)), y = number(key(b));
    return (x < y ? -1 : x > y ? 1 : 0) * (down === "1" ? -1 : 1); }).forEach(row => body.append(row)); });
</script>"""
"""Sorts a table by a column whose head is clicked."""


@dataclasses.dataclass(frozen=True)
class Decision:
    """What the player who acts does at a decision.

    Attributes
    ----------
    node : str
        The actions that lead there.
    player : int
        Who acts: 0 out of position, 1 in position.
    reach : float
        The probability that play gets there.
    frequencies : mapping
        Of the actions.
    """

    node: str
    player: int
    reach: float
    frequencies: Mapping[str, float]

    @property
    def name(self) -> str:
        """Who acts and where: ``oop``, ``ip after check``."""
        return PLAYERS[self.player] + (f" after {self.node}" if self.node else "")


@dataclasses.dataclass(frozen=True)
class SolvedBoard:
    """A board and its solution.

    Attributes
    ----------
    board, weight
        The board, and how many boards it stands for.
    pairs : float
        The weight of all pairs of hands that can be held on it.
    equity, value : pair of float
        Of the players out of position and in position: the share of the pot if nothing is bet, and the chips of the
        pot that they win.
    exploitability : float
        In chips.
    iterations, seconds, cpu_seconds
        Of the run.
    decisions : tuple of Decision
        Those of the report.
    """

    board: str
    weight: float
    pairs: float
    equity: tuple[float, float]
    value: tuple[float, float]
    exploitability: float
    iterations: int
    seconds: float
    cpu_seconds: float
    decisions: tuple[Decision, ...]

    def to_dict(self) -> dict[str, Any]:
        """For a file, which keeps the order of actions as a list."""
        listed = [{**vars(one), "frequencies": list(one.frequencies.items())} for one in self.decisions]
        return {**dataclasses.asdict(self), "decisions": listed}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> SolvedBoard:
        """The inverse of ``to_dict``."""
        decisions = tuple(
            Decision(**{**one, "frequencies": dict(map(tuple, one["frequencies"]))}) for one in found["decisions"]
        )
        pairs = {name: tuple(found[name]) for name in ("equity", "value")}
        made = cls(**{**found, **pairs, "decisions": decisions})
        made._check()
        return made

    def _check(self) -> None:
        """Raise ValueError if the numbers of a file cannot be those of a solved board."""
        if not all(
            one.player in (0, 1) and all(map(math.isfinite, one.frequencies.values())) for one in self.decisions
        ):
            raise ValueError("its decisions are not those of two players")
        if not 0 < self.pairs < math.inf or not all(map(math.isfinite, (*self.equity, *self.value))):
            raise ValueError("its pairs, equities and values cannot be right")


@dataclasses.dataclass(frozen=True)
class FlopReport:
    """Solved boards, and what is left.

    Attributes
    ----------
    title : str
        The spot in a few words.
    pot : float
        Chips in the pot.
    folder : str
        Where the boards are kept.
    boards : tuple of SolvedBoard
        In the order given.
    left : tuple of str
        Boards that are not solved yet.
    impossible : tuple of str
        Boards on which no pair of hands can be held; they never come.
    alike : bool
        Whether the ranges do not distinguish suits, so that a board is like all that it stands for.
    """

    title: str
    pot: float
    folder: str
    boards: tuple[SolvedBoard, ...]
    left: tuple[str, ...] = ()
    impossible: tuple[str, ...] = ()
    alike: bool = True

    @property
    def shares(self) -> list[float]:
        """How often each of the solved boards comes, given the ranges and that one of them does."""
        weights = [one.weight * one.pairs for one in self.boards]
        return [weight / sum(weights) for weight in weights]

    def total(self) -> SolvedBoard | None:
        """Means over the boards; sums of weights, iterations and time.  None if nothing is solved."""
        if not self.boards:
            return None
        shares, boards = self.shares, self.boards

        def mean(name: str) -> tuple[float, float]:
            first, second = (
                sum(share * getattr(one, name)[player] for share, one in zip(shares, boards, strict=True))
                for player in (0, 1)
            )
            return first, second

        return SolvedBoard(
            "all", sum(one.weight for one in boards), sum(one.pairs for one in boards), mean("equity"), mean("value"),
            sum(share * one.exploitability for share, one in zip(shares, boards, strict=True)),
            sum(one.iterations for one in boards), sum(one.seconds for one in boards),
            sum(one.cpu_seconds for one in boards),
            tuple(self._decision(place) for place in range(len(boards[0].decisions))),
        )  # fmt: skip

    def _decision(self, place: int) -> Decision:
        """The mean of a decision."""
        each = [(share, one.decisions[place]) for share, one in zip(self.shares, self.boards, strict=True)]
        reach = sum(share * one.reach for share, one in each)
        actions = list(dict.fromkeys(action for _, one in each for action in one.frequencies))
        played = {
            action: sum(share * one.reach * one.frequencies.get(action, 0.0) for share, one in each)
            for action in actions
        }
        known = {action: amount / reach if reach > 0 else 0.0 for action, amount in played.items()}
        return Decision(each[0][1].node, each[0][1].player, reach, known)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        total = self.total()
        return {
            "title": self.title, "pot": self.pot, "folder": self.folder, "left": list(self.left),
            "impossible": list(self.impossible), "alike": self.alike,
            "boards": [
                {**dataclasses.asdict(one), "share": share}
                for one, share in zip(self.boards, self.shares, strict=True)
            ],
            "total": None if total is None else dataclasses.asdict(total),
        }  # fmt: skip

    def columns(self) -> list[tuple[str, str]]:
        """The actions of the report: the name of a decision and an action."""
        total = self.total()
        decisions = () if total is None else total.decisions
        return [(one.name, action) for one in decisions for action in one.frequencies]

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a line for each board, and one for all."""
        heads = [
            "board", "weight", "share", "equity_oop", "equity_ip", "ev_oop", "ev_ip", "exploitability", "iterations",
            "cpu_seconds", *(f"{name}: {action}" for name, action in self.columns()),
        ]  # fmt: skip
        total = self.total()
        rows = [*zip(self.boards, self.shares, strict=True), *([] if total is None else [(total, 1.0)])]
        write_csv(Path(path), heads, (self._cells(one, share) for one, share in rows))

    def _cells(self, one: SolvedBoard, share: float) -> list[Any]:
        held = {(two.name, action): p for two in one.decisions for action, p in two.frequencies.items()}
        return [
            one.board, one.weight, share, *one.equity, *one.value, one.exploitability, one.iterations, one.cpu_seconds,
            *(held.get(column) for column in self.columns()),
        ]  # fmt: skip

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a page that needs no other file; a click on the head of a column sorts by it."""
        total = self.total()
        parts = [f"<h1>{html.escape(self.title)}</h1>", f"<p>{html.escape(self.summary)}</p>"]
        if total is not None:
            parts += [
                "<h2>All boards</h2>", html_table(self._heads(total), [self._html_row(total, 1.0)]),
                "<h2>Each board</h2>", "<p>A click on a head sorts.</p>",
                html_table(self._heads(total), [
                    self._html_row(one, share) for one, share in zip(self.boards, self.shares, strict=True)
                ]).replace("<table>", '<table class="sorted">', 1), SORTING,
            ]  # fmt: skip
        style = STYLE.replace("72rem", "100rem") + "table.sorted th { cursor: pointer } .bar { width: 14rem }"
        write_text(Path(path), html_page(self.title, "\n".join(parts), style))

    @property
    def summary(self) -> str:
        """How much is done, in a line."""
        done = len(self.boards)
        text = f"{done:,} boards, each solved on its own" if not self.left else (
            f"{done:,} of {done + len(self.left):,} boards are solved"
        )  # fmt: skip
        gone = f"; {len(self.impossible)} more cannot come: they leave no hands" if self.impossible else ""
        if not self.alike and any(one.weight != 1 for one in self.boards):
            gone += "; the ranges distinguish suits, so that a board is not quite like those that it stands for"
        return f"{text}{gone}; the share of a board is how often it comes, given the ranges"

    def _heads(self, total: SolvedBoard) -> list[str]:
        return [
            "board", "share", "equity oop", "ev oop", "ev ip", "exploitability, % of the pot",
            *(text for one in total.decisions for text in (one.name, *one.frequencies)),
        ]  # fmt: skip

    def _html_row(self, one: SolvedBoard, share: float) -> str:
        numbers = [
            f"{100 * share:.3f}%", f"{100 * one.equity[0]:.2f}%", f"{one.value[0]:.3f}", f"{one.value[1]:.3f}",
            f"{100 * one.exploitability / self.pot:.3f}",
        ]  # fmt: skip
        cells = [html_cell(one.board, "key"), *map(html_cell, numbers)]
        total = self.total()
        for decision, known in zip(one.decisions, () if total is None else total.decisions, strict=True):
            actions = list(known.frequencies)
            cells.append(_bar(actions, [decision.frequencies.get(action, 0.0) for action in actions]))
            cells += [html_cell(f"{100 * decision.frequencies.get(action, 0.0):.2f}%") for action in actions]
        return "".join(cells)


def _bar(actions: Sequence[str], shares: Sequence[float]) -> str:
    """The frequencies in the colours of grids, the largest bet first."""
    colours, order = action_colours(actions), legend(actions)
    return html_bar(
        [actions[place] for place in order], [shares[place] for place in order], [f"rgb{colours[p]}" for p in order]
    )
