"""Opening games: what ``game_forms`` says of a form is what ``open_game`` does, for every way to name a game."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import build_cards, parse_recipe
from counterplay.cli.main import main
from counterplay.errors import AbstractionError, GameError, MemoryLimitError
from counterplay.forms import FORMS, FormSize, GameForms, game_forms, has_public_tree, open_game, poker_definition
from counterplay.game.builder import ExplicitGame, decision, terminal
from counterplay.game.efg import write_efg
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_game import poker_game
from counterplay.poker.postflop.subgame import Subgame
from counterplay.solvers.cfr import CfrSolver
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.strategy.public_tables import table_converter
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.public.public_tree import PublicTree
from tests.registered import LARGE, NAMES

KINDS = {"history": GameTree, "public": PublicTree, "buckets": BucketGame, "states": cp.Game}

BOARD_AT_ONCE = """GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 1 1
raiseSize = 2 4
firstPlayer = 1 1
maxRaises = 1 2
numSuits = 2
numRanks = 3
numHoleCards = {hole}
numBoardCards = 1 1
END GAMEDEF
"""

MY_GAME = """from counterplay.game.builder import ExplicitGame, decision, terminal


class Mine(ExplicitGame):
    def __init__(self):
        ends = {"l": terminal(1.0, -1.0), "r": terminal(0.0, 0.0)}
        super().__init__(decision(0, "start", {"a": decision(1, "after a", ends), "b": terminal(0.5, -0.5)}), players=2)
"""

RIVER = Subgame("QsJh2h4d9c", 10, 20, "AA,KQs", "QQ,JTs").name


def counted(opened: Any) -> dict[str, int]:
    """What can be counted of an opened form."""
    if isinstance(opened, GameTree):
        return {"histories": opened.num_histories, "infosets": opened.num_infosets, "entries": opened.num_entries}
    if isinstance(opened, PublicTree):
        entries = sum(opened.num_entries)
        return {"public_states": opened.num_public_states, "infosets": opened.num_infosets, "entries": entries}
    if isinstance(opened, BucketGame):
        return {"infosets": opened.num_infosets, "entries": opened.num_entries}
    return {}


def check(spec: Any, **options: Any) -> dict[str, FormSize]:
    """Every form is there if and only if it opens, and is as large as it was said to be."""
    sizes = game_forms(spec, **options)
    assert tuple(size.form for size in sizes) == FORMS
    for size in sizes:
        if size.available:
            opened = open_game(spec, size.form, **options)
            assert isinstance(opened, KINDS[size.form])
            assert size.exact
            assert size.reason is None
            assert {name: getattr(size, name) for name in counted(opened)} == counted(opened)
            continue
        assert size.reason
        with pytest.raises(MemoryLimitError if size.too_large else (GameError, AbstractionError)):
            open_game(spec, size.form, **options)
    found = {size.form: size for size in sizes}
    assert has_public_tree(spec) == (found["public"].available or found["public"].too_large)
    if found["public"].available and not isinstance(spec, PublicTree):
        assert table_converter(spec).tree.num_infosets == found["public"].infosets
    return found


BELOW = ("errors", "storage", "runtime", "game", "games", "tree", "kernels", "poker", "abstraction", "forms")
OPENERS = {"make", "compile_game", "build_public_tree", "unfold", "poker_game", "read_efg", "load_openspiel"}


def test_nothing_else_opens_games() -> None:
    """The packages above ``forms`` name none of the functions that it opens games with; the front door offers two."""
    source = Path(cp.__file__).parent
    found = set()
    for path in sorted(source.rglob("*.py")):
        module = path.relative_to(source)
        if module.parts[0].removesuffix(".py") in BELOW or module.name == "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found |= {(str(module), alias.name) for alias in node.names if alias.name in OPENERS}
    assert found == set()


@pytest.mark.parametrize("name", NAMES)
def test_registered_games(name: str) -> None:
    found = check(name)
    assert found["history"].available
    assert found["states"].available


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if "nolimit_3p" in name else name for name in sorted(LARGE)]
)
def test_large_games(name: str) -> None:
    """Nothing large is built: their sizes are counted from the rules."""
    found = check(name)
    assert found["history"].too_large
    assert found["states"].available
    assert found["history"].bytes is not None
    assert found["history"].bytes > 1 << 40


@pytest.mark.parametrize("hole", [1, 2])
def test_boards_dealt_in_the_first_round(hole: int, tmp_path: Path) -> None:
    """One rule for all paths; the public tree is the game that the histories are."""
    path = tmp_path / "first.game"
    path.write_text(BOARD_AT_ONCE.format(hole=hole))
    found = check(str(path))
    assert found["public"].available
    for algorithm in ("cfr", "cfr+"):
        solvers = CfrSolver(open_game(str(path), "history"), algorithm), PublicSolver(str(path), algorithm)
        for solver in solvers:
            solver.step(10)
        histories, publics = (solver.measure() for solver in solvers)
        assert publics.value == pytest.approx(histories.value, abs=1e-10)
        assert publics.best_response == pytest.approx(histories.best_response, abs=1e-10)


def test_files_and_other_names(tmp_path: Path) -> None:
    (tmp_path / "my_game.py").write_text(MY_GAME)
    write_efg(cp.make("kuhn"), tmp_path / "kuhn.efg")
    for name in (
        f"{tmp_path}/my_game.py:Mine", f"{tmp_path}/kuhn.efg", "kuhn.limit.2p", "kuhn.limit.2p.game", "kuhn(players=3)",
        "kuhn forgetting initial", "bluff(1,1,sides=2) forgetting last-bids=1", "tilted(kuhn,orange)",
        "tilted(leduc_limit_2p,green,7)", "kuhn_limit_3p",
    ):  # fmt: skip
        check(name)
    assert not check(f"{tmp_path}/kuhn.efg forgetting initial")["states"].available


def test_openspiel() -> None:
    pytest.importorskip("pyspiel")
    assert check("openspiel:kuhn_poker")["public"].available


def test_subgames_have_a_public_tree_only() -> None:
    found = check(RIVER)
    assert [form for form, size in found.items() if size.available] == ["public"]
    assert isinstance(open_game(RIVER), PublicTree)


def test_objects(tmp_path: Path) -> None:
    game = poker_game(poker_definition("leduc_limit_2p"), "leduc")
    assert open_game(game, "states") is game
    check(game)
    for form in ("history", "public"):
        opened = open_game("leduc", form)
        assert open_game(opened) is opened
        assert open_game(opened, form) is opened
        assert check(opened)[form].available
    assert isinstance(open_game(open_game("leduc", "history"), "public"), PublicTree)


def test_buckets(tmp_path: Path) -> None:
    cards = tmp_path / "cards.cpa"
    build_cards((3, 2), (1, 1), parse_recipe("3,3", (3, 2), (1, 1))).save(cards)
    sizes = {size.form: size for size in game_forms("leduc_limit_2p", cards=[cards])}
    opened = open_game("leduc_limit_2p", cards=[cards])
    assert isinstance(opened, BucketGame)
    assert sizes["buckets"].available
    assert counted(opened) == {"infosets": sizes["buckets"].infosets, "entries": sizes["buckets"].entries}
    assert open_game(opened) is opened
    with pytest.raises(GameError, match="name a poker game"):
        open_game("goofspiel(3)", "buckets", cards=[cards])
    with pytest.raises(GameError, match="in a card abstraction only"):
        open_game("leduc_limit_2p", "buckets")


def test_auto_takes_what_fits() -> None:
    assert isinstance(open_game("leduc"), GameTree)
    assert isinstance(open_game("rhode_island", memory_limit=100 << 20), PublicTree)
    assert isinstance(open_game("bluff", memory_limit=2 << 20), PublicTree)
    assert isinstance(open_game("holdem_limit_2p"), cp.Game)
    assert isinstance(open_game("goofspiel(6)", memory_limit=1 << 20), cp.Game)
    with pytest.raises(MemoryLimitError):
        open_game("leduc forgetting initial", memory_limit=1 << 10)


def test_too_large_is_not_broken() -> None:
    broken = ExplicitGame(decision(0, "x", {"a": terminal(1.0, -1.0), "b": terminal(float("nan"), 0.0)}), players=2)
    for ask in (game_forms, open_game):
        with pytest.raises(GameError, match="finite"):
            ask(broken)
    with pytest.raises(MemoryLimitError):
        open_game("holdem_2_1", "history")
    found = {size.form: size for size in game_forms("leduc(ranks=12)", memory_limit=10**6)}
    assert (found["history"].too_large, found["public"].too_large) == (True, True)
    with pytest.raises(MemoryLimitError):
        open_game("leduc(ranks=12)", "public", memory_limit=10**6)
    with pytest.raises(GameError, match="one of auto, history, public, buckets, states"):
        open_game("kuhn", "tree")


def test_forgetting_twice_is_refused() -> None:
    with pytest.raises(AbstractionError, match="leave out --forget"):
        GameForms("kuhn forgetting initial", forget=["initial"])


@pytest.mark.parametrize("name", ["kuhn", "holdem_2_1", "goofspiel(cards=3)", RIVER, "kuhn_limit_2p", "tilted(kuhn)"])
def test_info_shows_all_forms(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", name]) == 0
    text = capsys.readouterr().out
    for size in game_forms(name):
        line = next(line for line in text.splitlines() if line.strip().startswith(f"as {size.form} "))
        if size.available and size.infosets is not None:
            assert f"{size.infosets:,} information sets" in line
        elif size.too_large:
            assert "too large" in line
        elif not size.available:
            assert re.search(r" no: \S", line)


def test_tilted_games_keep_their_sizes() -> None:
    """A tilt changes what is paid, nothing else; public trees of tilted poker need no histories."""
    plain, tilted = open_game("leduc_limit_2p", "public"), open_game("tilted(leduc_limit_2p)", "public")
    assert plain.zero_sum
    assert not tilted.zero_sum
    assert tilted.num_infosets == plain.num_infosets
    assert np.array_equal(tilted.base, plain.base)
    sizes = {size.form: size for size in game_forms("tilted(holdem_2_1,orange,7)")}
    assert sizes["history"].too_large
    assert (sizes["public"].available, sizes["public"].infosets) == (True, 15_442_180)
