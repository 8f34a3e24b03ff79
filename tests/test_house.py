"""The rules of the house that a machine can hold: sizes, parameters and names of modules and functions, and no public
name that nobody can reach."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import counterplay

ROOT = Path(counterplay.__file__).parent
TESTS = Path(__file__).parent
PROJECT = TESTS.parent
SOURCES = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py"))}
PARSED = {module: ast.parse(source) for module, source in SOURCES.items()}

MAX_FILE, MAX_FUNCTION, MAX_PARAMETERS = 500, 60, 8

TWINS = {
    "card_free": "measurement against players who ignore their cards, and its kernel",
    "cfr": "solver and kernel",
    "cfr_ira": "solver and kernel",
    "clustering": "k-means and its kernel",
    "evaluator": "ranking of hands and its kernel",
    "fictitious_play": "solver and kernel",
    "fpira": "solver and kernel",
    "isomorphism": "numbering of hands and its kernel",
    "matches": "matches and their kernel",
    "mccfr": "solver and kernel",
    "public_cfr": "solver and kernel",
    "public_sampling": "solver and kernel",
    "range_equity": "equities of ranges and their kernels",
    "registry": "games by name, and algorithms by name",
}
"""Base names that two modules share, each because they are one idea in two layers."""

RIDDLES = {"odd", "misc", "util", "utils", "helpers", "told", "dart", "wish", "changed", "finish", "meetings"}
"""Words that say nothing about what a module holds."""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def parameters_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Parameters that a caller can give; ``self`` and ``cls`` are counted too,
    ``*args`` and ``**kwargs`` are not."""
    return len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)


def test_files_are_short() -> None:
    lines = {f"src/{module}": source.count("\n") for module, source in SOURCES.items()}
    lines |= {f"tests/{path.relative_to(TESTS)}": path.read_text("utf-8").count("\n") for path in TESTS.rglob("*.py")}
    assert {name: count for name, count in lines.items() if count >= MAX_FILE} == {}


def test_functions_are_short() -> None:
    long = {
        f"{module}:{node.name}": lines_of(node)
        for module, tree in PARSED.items()
        if not module.startswith("kernels/")
        for node in functions(tree)
        if lines_of(node) > MAX_FUNCTION
    }
    assert long == {}


def test_functions_take_few_parameters() -> None:
    many = {
        f"{module}:{node.name}": parameters_of(node)
        for module, tree in PARSED.items()
        if not module.startswith("kernels/")
        for node in functions(tree)
        if parameters_of(node) > MAX_PARAMETERS and not (module.startswith("cli/") and node.name == "command")
    }
    assert many == {}


def test_base_names_repeat_only_for_twins() -> None:
    """Outside ``cli/`` and ``experiments/``: a verb is named after what it calls, an experiment after what it shows."""
    homes = defaultdict(list)
    for module in SOURCES:
        stem = Path(module).stem
        if stem != "__init__" and not module.startswith(("cli/", "experiments/")):
            homes[stem].append(module)
    repeated = {stem: modules for stem, modules in homes.items() if len(modules) > 1}
    layers = {stem: Counter(module.split("/")[0] for module in modules) for stem, modules in repeated.items()}
    twice = {stem for stem, count in layers.items() if len(count) != sum(count.values()) or len(count) > 2}
    assert {stem: repeated[stem] for stem in twice | (set(repeated) - set(TWINS))} == {}
    assert set(TWINS) - set(repeated) == set()


def test_names_of_files_say_something() -> None:
    stems = [*(Path(module).stem for module in SOURCES), *(path.stem for path in TESTS.rglob("*.py"))]
    assert [stem for stem in stems if set(stem.split("_")) & RIDDLES] == []


def test_tests_lie_in_the_folders_of_their_packages() -> None:
    folders = {module.split("/")[0] for module in SOURCES if "/" in module}
    others = {"conformance", "integration", "reference"}
    found = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py") if path.parent != TESTS}
    assert found - folders - others == set()


CALLED_BY_OTHERS = {"invoke": "typer", "parse_args": "typer", "resolve_command": "typer",
                    "_repr_html_": "notebooks", "_repr_png_": "notebooks",
                    **dict.fromkeys(("load_overload", "save_overload", "finalize", "get_pointer_to_function",
                                     "compile_extra", "codegen", "serialize_using_object_code", "rebuild",
                                     "unserialize_library", "generic_resolve", "_HeldFields",
                                     "_held_field", "_unbox_held"), "numba")}  # fmt: skip
"""Methods that libraries look for by their names."""


def uses() -> dict[str, list[tuple[str, int]]]:
    """Where each name is read, as a name, an attribute, a keyword or the class of a registry, by module and line."""
    found = defaultdict(list)
    for module, tree in PARSED.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                found[node.id].append((module, node.lineno))
            elif isinstance(node, ast.Attribute):
                found[node.attr].append((module, node.lineno))
            elif isinstance(node, ast.keyword) and node.arg:
                found[node.arg].append((module, node.value.lineno))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(":") == 1:
                found[node.value.partition(":")[2]].append((module, node.lineno))
    return found


def exported() -> set[str]:
    """Names that a package offers: those in the ``__all__`` of an ``__init__.py``."""
    names: set[str] = set()
    for module, tree in PARSED.items():
        if Path(module).stem == "__init__":
            for node in tree.body:
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                    names |= set(ast.literal_eval(node.value))
    return names


def documented() -> set[str]:
    """Words in the code of README, docs and examples."""
    pages = [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]
    code = [part for page in pages for part in re.findall(r"`+[^`]+`+", page.read_text("utf-8"))]
    code += [path.read_text("utf-8") for path in (PROJECT / "examples").rglob("*.py")]
    return {word for part in code for word in re.findall(r"\w+", part)}


def defined(module: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in ast.walk(PARSED[module]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("__"):
            registered = any(
                "register" in ast.unparse(one) or "command" in ast.unparse(one) for one in node.decorator_list
            )
            if not registered:
                yield node


def test_every_name_is_used_or_offered() -> None:
    """A function, method or class is called by the package itself, or users find it: exported or shown in the docs."""
    read, offered = uses(), exported() | documented() | set(CALLED_BY_OTHERS)
    unused = []
    for module in SOURCES:
        for node in defined(module):
            assert node.end_lineno is not None
            own = range(node.lineno, node.end_lineno + 1)
            if all(where == module and line in own for where, line in read[node.name]) and node.name not in offered:
                unused.append(f"{module}:{node.name}")
    assert unused == []


@pytest.mark.parametrize(
    ("source", "lines", "parameters"),
    [
        ("def f(a, b):\n    return a", 2, 2),
        ("def f(self, a, *rest, b=1, **more):\n    x = 1\n    return x", 3, 3),
        ("@register('f')\nasync def f(a, /, b, *, c=None):\n    pass", 2, 3),
    ],
)
def test_functions_are_counted(source: str, lines: int, parameters: int) -> None:
    (node,) = functions(ast.parse(source))
    assert (lines_of(node), parameters_of(node)) == (lines, parameters)
