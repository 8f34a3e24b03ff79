"""Runs every example in the README and in docs/ as a test, page by page, in an empty folder.

``python`` blocks run in one namespace for each page; a block whose first line is ``# NAME.py`` is also written to
that file.  In ``console`` blocks the lines that start with ``$ counterplay`` run as commands, which must succeed and
print the lines that follow: the first lines of their output, where ``...`` stands for anything and spaces do not count.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from sybil import Document, Example, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser

_evaluate_python = PythonEvaluator()
_CHECKER, _OPTIONS = doctest.OutputChecker(), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _python(example: Example) -> str | None:
    name = re.match(r"# (\w+\.py)\n", example.parsed)
    if name:
        Path(name.group(1)).write_text(example.parsed, encoding="utf-8")
    return _evaluate_python(example)


def _console(example: Example) -> str | None:
    for part in re.split(r"^(?=\$ )", example.parsed, flags=re.MULTILINE):
        line, _, shown = part.partition("\n")
        if line.startswith("$ counterplay "):
            words = shlex.split(line.removeprefix("$ counterplay "), comments=True)
            code, printed, said = _run(words)
            if code != 0:
                return f"{line} ended with {code}: {said}"
            ends = ("\n", "\n...\n")
            if not any(_CHECKER.check_output(shown.strip() + end, printed, _OPTIONS) for end in ends):
                return f"{line} does not print what the page shows, but:\n{printed}"
    return None


def _run(words: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command, in this process, which has started already."""
    from counterplay.cli.main import main

    output, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name, stream in (("stdin", io.StringIO()), ("stdout", output), ("stderr", errors)):
            patch.setattr(sys, name, stream)
        return main(words), output.getvalue(), errors.getvalue()


def _enter(namespace: dict[str, Any]) -> None:
    namespace["_back"] = Path.cwd()
    namespace["_folder"] = tempfile.TemporaryDirectory()
    os.chdir(namespace["_folder"].name)


def _leave(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_back"])
    namespace["_folder"].cleanup()


pytest_collect_file = Sybil(
    parsers=[CodeBlockParser("python", _python), CodeBlockParser("console", _console)],
    patterns=["README.md", "docs/*.md"],
    document_types={".md": Document},
    setup=_enter,
    teardown=_leave,
).pytest()
