"""Everything that shows itself as HTML is well formed, short at the prompt, and needs no style of another page."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.cli.main import main

EMPTY = {"meta", "br", "hr", "img", "input"}
SPOT: dict[str, Any] = {"board": "QsJh2h3c8d", "pot": 50, "stack": 200, "oop": "AA,KQs,T9s", "ip": "KK,AQs,QJs"}


class Nesting(HTMLParser):
    """Checks that every element ends where it must, and collects classes, texts and what styles define."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.classes: set[str] = set()
        self.styles = ""
        self.columns: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.classes |= {name for key, value in attrs if key == "class" for name in (value or "").split()}
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            self.styles += data


def parsed(text: str) -> Nesting:
    found = Nesting()
    found.feed(text)
    found.close()
    assert found.open == []
    return found


def run() -> cp.SolveResult:
    return cp.solve("leduc", iterations=5)


SHOWN: dict[str, Callable[[], Any]] = {
    "result": run,
    "tabular strategy": lambda: run().profile,
    "measurement": lambda: run().measurement,
    "infosets": lambda: cp.infoset_table(run().profile),
    "tree": lambda: cp.open_game("leduc"),
    "public tree": lambda: cp.open_game("leduc", "public"),
    "spot": lambda: cp.solve_spot(**SPOT, until="20%"),
    "public strategy": lambda: cp.solve_spot(**SPOT, until="20%").profile,
    "cards": lambda: CardAbstraction.lossless((3, 2), (1, 1)),
    "match": lambda: cp.match("kuhn", ["always-call", "uniform"], deals=10),
    "equity": lambda: cp.equity("66+,AKs", "22+", board="Qs Jh 2h"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_notebooks_show(name: str) -> None:
    one = SHOWN[name]()
    found = parsed(one._repr_html_())
    known = set(re.findall(r"\.([\w-]+)", found.styles))
    assert found.classes - known <= {"number", "key", "mix"}  # these look right without a style
    assert len(repr(one)) < 300
    assert repr(one).count("\n") < 5
    assert "holdem{" not in repr(one) + one._repr_html_()


def test_bars_need_no_style() -> None:
    page = cp.infoset_table(cp.solve("kuhn", "lp").profile)._repr_html_()
    widths = re.findall(r'<span style="width:([\d.]+)%;background:rgb\((\d+, \d+, \d+)\)', page)
    assert sum(float(width) for width, _ in widths) == pytest.approx(12 * 100, abs=0.1)
    assert page.count('<div style="display:flex;width:16rem;') == 12
    assert {colour for _, colour in widths} == {"74, 134, 196", "96, 168, 96", "206, 58, 52"}  # folds, calls, bets


def test_bars_of_other_games_have_other_colours() -> None:
    page = cp.infoset_table(cp.solve("rock_paper_scissors", "lp").profile)._repr_html_()
    assert "background:#77aadd" in page
    assert "background:rgb" not in page


@pytest.mark.parametrize("words", [[], ["--ev"], ["--hands"], ["--infosets"]])
def test_pages_of_show(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cp.solve_spot(**SPOT, until="20%", out=tmp_path / "spot.strategy")
    page = tmp_path / "spot.html"
    assert main(["show", str(tmp_path / "spot.strategy"), *words, "--html", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    found = parsed(text.removeprefix("<!doctype html>"))
    assert found.classes <= set(re.findall(r"\.([\w-]+)", found.styles)) | {"mix", "ev", "equity"}
    assert not re.search(r"src=|href=|@import|url\(", text)  # one file, nothing else is fetched
    assert "holdem{" not in text
