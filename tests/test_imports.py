"""The layers of the package: imports go one way and never in a circle, every module is reached, and heavy libraries are
each imported in one place only.

Every module is parsed, not run.  Imports inside functions count like those at the top; imports for type checkers only
(``if TYPE_CHECKING:``) do not.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

import counterplay

PACKAGE = "counterplay"
LAYERS = ("errors", "trusted_code", "storage", "runtime", "game", "games", "tree", "kernels", "poker", "abstraction",
          "forms", "strategy", "lp", "evaluation", "solvers", "runs", "analysis", "modelling", "agents", "build",
          "warming", "plots", "experiments", "cli", "web")  # fmt: skip
"""A layer may import itself and those before it.  Poker comes after the kernels because ranking hands and numbering
them in batches are kernels; trees and kernels know no cards."""

HOMES = {"numba": {"kernels"}, "llvmlite": {"kernels"}, "typer": {"cli"}, "rich": {"cli"},
         "matplotlib": {"plots"}, "highspy": {"lp"}, "ray": {"runtime", "solvers"}}  # fmt: skip
"""The only layers that may import a library."""

FORBIDDEN = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve")
"""Reading such files runs what they say; strategy files must be safe to open."""

BY_NAME = {"game/registry.py", "experiments/__init__.py", "solvers/__init__.py", "solvers/registry.py",
           "tree/__init__.py", "abstraction/__init__.py", "analysis/__init__.py", "evaluation/__init__.py",
           "forms/__init__.py", "modelling/__init__.py", "poker/__init__.py", "strategy/__init__.py",
           "runtime/lazy.py", "__init__.py"}  # fmt: skip
"""Modules that may import parts of the package by a name made at run time."""

ROOT = Path(counterplay.__file__).parent
TWINS = Path(__file__).parent / "reference"
MODULES = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*.py"))}
EVERY_MODULE = pytest.mark.parametrize("module", [pytest.param(name, id=name) for name in MODULES])


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a syntax tree but those that only type checkers look at."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and is_type_checking(child.test):
            for other in child.orelse:
                yield other
                yield from run_time_nodes(other)
            continue
        yield child
        yield from run_time_nodes(child)


def imported(source: str, module: str) -> list[str]:
    """The full names that a module imports; ``from a import b`` gives ``a.b``."""
    package = [PACKAGE, *module.split("/")[:-1]]
    names = []
    for node in run_time_nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names += [f"{stem}.{alias.name}" for alias in node.names]
    return names


def by_name(source: str) -> list[str]:
    """What a module imports through ``import_module`` or ``__import__``, as written in the source."""
    found = []
    for node in run_time_nodes(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("import_module", "__import__"):
                first = node.args[0]
                constants = [part.value for part in ast.walk(first) if isinstance(part, ast.Constant)]
                found.append("".join(map(str, constants)) or ast.unparse(first))
    return found


def layer_of(module: str) -> str:
    """The layer of a module, given by its path in the package."""
    return module.split("/")[0].removesuffix(".py")


def wrong_imports(source: str, module: str) -> list[str]:
    """The imports of a module that break the rules."""
    layer = layer_of(module)
    wrong = []
    for name in imported(source, module):
        parts = name.split(".")
        if parts[0] in FORBIDDEN or layer not in HOMES.get(parts[0], {layer}):
            wrong.append(name)
        if parts[0] != PACKAGE or name == f"{PACKAGE}.__version__" or parts[1:] == []:
            continue
        if parts[1] not in LAYERS or LAYERS.index(parts[1]) > LAYERS.index(layer):
            wrong.append(name)
    if module not in BY_NAME:
        wrong += [f"by name: {name}" for name in by_name(source) if name.split(".")[0] in (PACKAGE, *HOMES, *FORBIDDEN)]
    return wrong


@EVERY_MODULE
def test_imports_go_one_way(module: str) -> None:
    source = MODULES[module].read_text(encoding="utf-8")
    if module == "__init__.py":
        assert [name for name in imported(source, module) if name.split(".")[0] == PACKAGE] == []
        return
    if module == "__main__.py":
        light = [f"{PACKAGE}.errors.MemoryLimitError", f"{PACKAGE}.runtime.memory.check_address_limit"]
        assert imported(source, module) == ["sys", *light, f"{PACKAGE}.cli.main.main"]
        return
    assert layer_of(module) in LAYERS, f"{module} belongs to no layer"
    assert wrong_imports(source, module) == []


@EVERY_MODULE
def test_modules_say_what_they_are_for(module: str) -> None:
    docstring = ast.get_docstring(ast.parse(MODULES[module].read_text(encoding="utf-8")))
    assert docstring is not None
    assert len(docstring.split()) >= 3 or module == "__main__.py"


def module_names() -> dict[str, str]:
    """The full name of every module, and its path in the package."""
    names = {}
    for module in MODULES:
        parts = module.removesuffix(".py").split("/")
        names[".".join([PACKAGE, *(parts[:-1] if parts[-1] == "__init__" else parts)])] = module
    return names


def import_graph(sources: Mapping[str, str], names: Mapping[str, str]) -> dict[str, set[str]]:
    """The modules that each module imports; ``from package import module`` counts as an import of the module."""
    graph: dict[str, set[str]] = {}
    for name, module in names.items():
        graph[name] = set()
        for target in imported(sources[module], module):
            known = target if target in names else target.rpartition(".")[0]
            if known in names and known != name:
                graph[name].add(known)
    return graph


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach each other: Tarjan's strongly connected components of more than one module."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def named_in(source: str, names: Collection[str], package: str) -> set[str]:
    """The modules that a source names in its strings, as those that import by name do: ``cfr`` or ``cfr:CfrSolver``."""
    found = set()
    for node in run_time_nodes(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = node.value.partition(":")[0].replace("-", "_")
            found |= {name for name in (f"{PACKAGE}.{word}", f"{package}.{word}") if name in names}
    return found


def unreached(graph: Mapping[str, set[str]], roots: Collection[str]) -> list[str]:
    """The modules that no root reaches.  Importing a module imports the packages that it is in."""
    waiting, seen = list(roots), set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += graph[name]
            if "." in name:
                waiting.append(name.rpartition(".")[0])
    return sorted(set(graph) - seen)


def package_graph() -> dict[str, set[str]]:
    return import_graph({module: path.read_text(encoding="utf-8") for module, path in MODULES.items()}, module_names())


def test_no_circle_of_imports() -> None:
    assert circles(package_graph()) == []


def test_every_module_is_reached() -> None:
    names = module_names()
    graph = package_graph()
    for name, module in names.items():
        if module in BY_NAME:
            package = name if module.endswith("__init__.py") else name.rpartition(".")[0]
            graph[name] |= named_in(MODULES[module].read_text(encoding="utf-8"), names, package)
        if name.startswith(f"{PACKAGE}.games."):
            graph[f"{PACKAGE}.game.registry"].add(name)  # which imports the whole folder
    assert set(unreached(graph, (PACKAGE, f"{PACKAGE}.__main__"))) == set()


def test_circles_and_unreached_modules_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}, "p": set(), "p.q": {"d"}}
    assert circles(graph) == [["b", "c"]]
    assert unreached(graph, ["a"]) == ["e", "p", "p.q"]
    assert unreached(graph, ["e", "p.q"]) == []
    sources = {"x.py": "def f():\n    from counterplay.y import z", "y/__init__.py": "", "y/z.py": "from ..x import f"}
    names = {"counterplay.x": "x.py", "counterplay.y": "y/__init__.py", "counterplay.y.z": "y/z.py"}
    assert circles(import_graph(sources, names)) == [["counterplay.x", "counterplay.y.z"]]
    assert named_in('{"cfr-ira": "z:CfrIra"}', names, "counterplay.y") == {"counterplay.y.z"}


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        pytest.param("tree/x.py", "from counterplay.solvers import solve", ["counterplay.solvers.solve"], id="upward"),
        pytest.param("tree/x.py", "from counterplay.game.game import Game", [], id="downward"),
        pytest.param(
            "game/x.py", "from counterplay.games.kuhn import Kuhn", ["counterplay.games.kuhn.Kuhn"], id="game"
        ),
        pytest.param("tree/x.py", "from ..cli import main", ["counterplay.cli.main"], id="relative upward"),
        pytest.param("tree/x.py", "from .arrays import NULL", [], id="relative inside"),
        pytest.param("tree/x.py", "from counterplay import solve", ["counterplay.solve"], id="from the package"),
        pytest.param("tree/x.py", "from counterplay import __version__", [], id="version"),
        pytest.param("tree/x.py", "import counterplay", [], id="package"),
        pytest.param("tree/x.py", "def f():\n    import numba", ["numba"], id="numba in a function"),
        pytest.param("kernels/x.py", "import numba.core", [], id="numba in kernels"),
        pytest.param("solvers/x.py", "from rich.console import Console", ["rich.console.Console"], id="rich"),
        pytest.param("web/x.py", "import typer", ["typer"], id="typer in web"),
        pytest.param("strategy/x.py", "import pickle", ["pickle"], id="pickle"),
        pytest.param(
            "tree/x.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numba\nelse:\n    import pickle",
            ["pickle"],
            id="type checking",
        ),
        pytest.param(
            "tree/x.py",
            "import importlib\nimportlib.import_module('counterplay.cli')",
            ["by name: counterplay.cli"],
            id="by name",
        ),
        pytest.param(
            "tree/x.py",
            "import importlib\nimportlib.import_module(f'counterplay.games.{name}')",
            ["by name: counterplay.games."],
            id="by a made name",
        ),
        pytest.param(
            "game/registry.py", "import importlib\nimportlib.import_module('counterplay.games')", [], id="registry"
        ),
    ],
)
def test_the_rules_find_what_breaks_them(module: str, source: str, wrong: list[str]) -> None:
    assert wrong_imports(source, module) == wrong


TWINS_MAY_IMPORT = {"counterplay.game.game": {"CHANCE", "TERMINAL", "Game", "State"},
                    "counterplay.game.builder": {"ExplicitGame", "Node", "chance", "decision", "terminal"}}  # fmt: skip
"""What the plain twins share with the library: the protocol of a game, and trees written by hand."""


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in sorted(TWINS.glob("*.py"))])
def test_twins_import_nothing_that_they_check(path: Path) -> None:
    names = imported(path.read_text(encoding="utf-8"), path.name)
    homes = [name.rpartition(".") for name in names if name.split(".")[0] == PACKAGE]
    assert [f"{home}.{name}" for home, _, name in homes if name not in TWINS_MAY_IMPORT.get(home, ())] == []
    assert not {name.split(".")[0] for name in names} & set(HOMES)
    assert [name for name in names if name.startswith("tests.") and not name.startswith("tests.reference.")] == []


def test_every_public_name_has_its_home() -> None:
    missing = [name for name in counterplay.__all__ if not hasattr(counterplay, name)]
    assert missing == []
    assert dir(counterplay) == sorted(counterplay.__all__)
    with pytest.raises(AttributeError, match="module 'counterplay' has no attribute 'solv'"):
        counterplay.solv  # noqa: B018
