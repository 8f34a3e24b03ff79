"""The record is honest: docs/coverage.md names things that exist, examples run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.game import game_names

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _figures() -> list[tuple[str, str]]:
    """The commands of the table of numbers in the README, each with the figures that are its own."""
    section = README.split("## Numbers")[1].split("Speed compared")[0]
    found = []
    for line in section.splitlines():
        if not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        commands = re.findall(r"`counterplay ([^`]+)`", cells[-1])
        figures = cells[-2].split(" / ") if commands else []
        single = commands * len(figures) if len(commands) == 1 else commands
        found += list(zip(single, figures, strict=True))
    return found


@pytest.mark.parametrize(("command", "figure"), _figures())
def test_commands_of_the_readme_print_its_figures(
    command: str, figure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*shlex.split(command)]) == 0
    assert re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d.])", capsys.readouterr().out)


def test_the_readme_has_all_figures_of_its_table() -> None:
    assert len(_figures()) == 9
    assert ("evaluate --strategy uniform --game leduc", "2.373611") in _figures()


def test_the_python_of_the_readme_prints_what_its_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    code = README.split("```python\n")[1].split("```")[0]
    lines = code.splitlines()[:4]
    exec("\n".join(lines), {})
    printed = capsys.readouterr().out
    assert re.fullmatch(r"\(-0\.0856\d*, 0\.0856\d*\)\n", printed)
    assert "# (-0.0856..., 0.0856...) chips per game" in lines[-1]


def test_the_readme_lists_every_game() -> None:
    section = README.split("## Games by name")[1].split("## Numbers")[0]
    listed = set(re.findall(r"`([a-z]\w+)(?:\([^`]*\))?`", section))
    assert {name for name in game_names() if not name.startswith("toy_")} <= listed
    toys = sum(name.startswith("toy_") for name in game_names())
    assert f"and {toys} counterexamples" in " ".join(section.split())


def test_coverage_names_modules_and_tests_that_exist() -> None:
    text = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| (GIB|JOH|CER|AS|IRC)-[\dG]\d", line)]
    assert len(rows) >= 20
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 5, row
        for cell, root in ((cells[3], "src/counterplay/"), (cells[4], "tests/")):
            names = re.findall(r"`([^`]+)`", cell)
            assert names, f"no module or test in {row}"
            for name in names:
                path, _, test = name.partition("::")
                assert path.startswith(root), f"{name} in {row}"
                assert (ROOT / path).is_file(), f"{path} does not exist ({row})"
                if test:
                    source = (ROOT / path).read_text(encoding="utf-8")
                    assert re.search(rf"(def|class) {re.escape(test.rsplit('::', 1)[-1])}\b", source), (
                        f"{name} is not there"
                    )


@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_examples_run(script: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, ROOT / "examples" / script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "exploitability" in done.stdout


def test_the_comparison_has_the_algorithms_of_its_caption(tmp_path: Path) -> None:
    """The picture of the README has the five curves of its caption, and is only written where it is asked for."""
    script = ROOT / "examples" / "compare_algorithms.py"
    before = (ROOT / "docs" / "images" / "leduc.png").read_bytes()
    done = subprocess.run(
        [sys.executable, script, "curves.svg"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["cfr", "cfr+", "linear", "dcfr", "pcfr+"]
    assert "Exploitability of CFR, CFR+, linear, discounted and predictive CFR on Leduc" in README
    drawn = (tmp_path / "curves.svg").read_text(encoding="utf-8")
    assert [name for name in cp.ALGORITHMS if f"<!-- {name} -->" in drawn] == ["cfr", "cfr+", "linear", "dcfr", "pcfr+"]
    assert [path.name for path in tmp_path.iterdir()] == ["curves.svg"]
    assert (ROOT / "docs" / "images" / "leduc.png").read_bytes() == before


def test_the_tutorial_compares_the_same_algorithms() -> None:
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    loop = tutorial.split("## Compare algorithms")[1].split("```python\n")[1].split("```")[0]
    seen: list[str] = []

    class Recorder:
        ALGORITHMS = cp.ALGORITHMS

        @staticmethod
        def solve(tree: object, algorithm: str, iterations: int) -> object:
            seen.append(algorithm)
            return cp.solve("kuhn", algorithm, iterations=1)

    exec(loop, {"cp": Recorder, "tree": None})
    assert seen == ["cfr", "cfr+", "linear", "dcfr", "pcfr+"]


def test_the_first_example_is_short() -> None:
    assert len((ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8").splitlines()) < 20
