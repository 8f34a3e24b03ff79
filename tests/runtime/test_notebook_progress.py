"""The bar in notebooks: only there, at most a few times a second, with the state of the run."""

from __future__ import annotations

import re
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import counterplay as cp
from counterplay.runtime import notebook_progress
from counterplay.runtime.notebook_progress import in_notebook
from counterplay.runtime.pacing import Until
from counterplay.runtime.progress import Progress


class Shown:
    """Takes the place of a notebook: what was displayed first, and what replaced it."""

    def __init__(self) -> None:
        self.pages: list[str] = []
        self.displayed = 0

    def display(self, page: str, display_id: bool) -> Shown:
        assert display_id
        self.displayed += 1
        self.pages.append(page)
        return self

    def update(self, page: str) -> None:
        self.pages.append(page)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Shown:
    shown, ipython, display = Shown(), ModuleType("IPython"), ModuleType("IPython.display")
    vars(display).update(HTML=str, display=shown.display)
    vars(ipython).update(get_ipython=lambda: SimpleNamespace(kernel=object()), display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(notebook_progress, "EVERY", 0.0)
    return shown


@pytest.mark.parametrize("shell", [None, SimpleNamespace(kernel=None), SimpleNamespace()])
def test_terminals_are_not_notebooks(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
    ipython = ModuleType("IPython")
    vars(ipython)["get_ipython"] = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert not in_notebook()


def test_a_run_has_one_bar(notebook: Shown) -> None:
    result = cp.solve("kuhn", iterations=2000)
    assert notebook.displayed == 1
    assert len(notebook.pages) > 1
    last = notebook.pages[-1]
    assert last.startswith('<progress max="1" value="1.0000"')
    assert f"{result.iterations:,} iterations, exploitability " in last
    assert last.endswith(" s, done")
    values = [float(found) for page in notebook.pages for found in re.findall(r'value="([\d.]+)"', page)]
    assert values == sorted(values)


def test_no_bar_if_a_callback_or_false_is_given(notebook: Shown) -> None:
    seen: list[Progress] = []
    cp.solve("kuhn", iterations=20, progress=seen.append)
    cp.solve("kuhn", iterations=20, progress=False)
    assert (len(notebook.pages), bool(seen)) == (0, True)


def test_spots_resumed_runs_and_evaluations_have_bars(notebook: Shown, tmp_path: Any) -> None:
    cp.solve("kuhn", iterations=20, checkpoint=tmp_path / "run", progress=False)
    cp.resume(tmp_path / "run", iterations=40)
    assert notebook.displayed == 1
    cp.solve_spot(board="QsJh2h3c8d", pot=50, stack=200, oop="AA,KQs", ip="KK,AQs", until="5%")
    assert notebook.displayed == 2
    cp.evaluate("always-call", "leduc_limit_2p")
    assert notebook.displayed == 3


@pytest.mark.parametrize(
    ("goal", "now", "fraction"),
    [
        (Until(iterations=100), Progress(25), 0.25),
        (Until(iterations=100, seconds=10.0), Progress(25, 5.0), 0.5),
        (Until(exploitability=1e-4), Progress(9, exploitability=1e-2), 0.5),
        (Until(iterations=10), Progress(11), 1.0),
        (Until(exploitability=1e-4), Progress(9), 0.0),
    ],
)
def test_fractions(goal: Until, now: Progress, fraction: float) -> None:
    assert goal.fraction(now, first=1.0) == pytest.approx(fraction)


def test_states() -> None:
    assert Progress(1, exploitability=0.01).state == "exploitability 0.010000"
    assert Progress(1, nodes=1234).state == "1,234 histories visited"
    assert Progress(1, lower=-0.5, upper=0.25).state == "value from -0.5 to 0.25"
