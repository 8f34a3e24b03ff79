"""The record is honest: docs/coverage.md names things that exist, examples run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


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


def test_the_first_example_is_short() -> None:
    assert len((ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8").splitlines()) < 20
