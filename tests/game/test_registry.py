"""Games by name: the grammar of names, typed parameters, canonical names, users' files, registration."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.errors import GameError
from counterplay.game import registry
from counterplay.game.builder import terminal
from counterplay.game.game import Game, format_value
from counterplay.game.registry import game_names, games, make, parameter, parse_spec, register
from counterplay.games.kuhn import Kuhn
from counterplay.games.leduc import Leduc
from counterplay.games.matrix import Matrix
from counterplay.tree import compile_game

USER_FILE = '''
"""A game of chance and skill, written by a user."""

from __future__ import annotations

import dataclasses

from counterplay import Game, decision, terminal


@dataclasses.dataclass(frozen=True)
class Typed(Game):
    """One decision, all kinds of parameters."""

    cards: int = 4
    rake: float = 0.5
    open: bool = False
    title: str = "plain"
    players: int = 1

    def root(self):
        return decision(0, self.title, {str(card): terminal(card - self.rake) for card in range(self.cards)})


class Plain(Game):
    """No parameters at all."""

    players = 1

    def root(self):
        return terminal(1.0)
'''


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    path = tmp_path / "my_game.py"
    path.write_text(USER_FILE, encoding="utf-8")
    return path


@pytest.fixture
def clean_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test registers is gone afterwards."""
    game_names()
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    kept = {cls: cls.spec_name for cls in registry._REGISTRY.values()}
    yield
    for cls, name in kept.items():
        cls.spec_name = name


# ---------------------------------------------------------------------------------------------- the grammar


@pytest.mark.parametrize(
    ("spec", "name", "written"),
    [
        pytest.param("leduc", "leduc", {}, id="bare"),
        pytest.param("leduc()", "leduc", {}, id="empty parentheses"),
        pytest.param("  leduc ( players = 3 , ranks=4 ) ", "leduc", {"players": "3", "ranks": "4"}, id="blanks"),
        pytest.param("leduc(players=3,)", "leduc", {"players": "3"}, id="comma at the end"),
        pytest.param('matrix(rows="1,-1;-1,1")', "matrix", {"rows": "1,-1;-1,1"}, id="quoted commas"),
        pytest.param('m(a="x",b=y)', "m", {"a": "x", "b": "y"}, id="quoted and not"),
        pytest.param(r'm(a="say \"yes\"")', "m", {"a": 'say "yes"'}, id="quoted quotes"),
        pytest.param(r'm(a="back\\slash\\")', "m", {"a": "back\\slash\\"}, id="quoted backslashes"),
        pytest.param('m(a="(x=1)",b=")")', "m", {"a": "(x=1)", "b": ")"}, id="quoted parentheses"),
        pytest.param('m(a="two\nlines")', "m", {"a": "two\nlines"}, id="quoted newline"),
        pytest.param('m(a="",b=)', "m", {"a": "", "b": ""}, id="empty values"),
        pytest.param("m(a=(1))", "m", {"a": "(1)"}, id="parentheses in a value"),
        pytest.param("m(a=b=c)", "m", {"a": "b=c"}, id="equals in a value"),
        pytest.param("bluff(2, 1)", "bluff", {0: "2", 1: "1"}, id="by position"),
        pytest.param('m("a,b" ,x y,k=3)', "m", {0: "a,b", 1: "x y", "k": "3"}, id="position, quotes and key"),
        pytest.param("./a b/x.py:G(n=1)", "./a b/x.py:G", {"n": "1"}, id="path with a blank"),
    ],
)
def test_names_are_split_into_their_parts(spec: str, name: str, written: dict[str | int, str]) -> None:
    assert parse_spec(spec) == (name, written)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param("", "cannot read the game name ''", id="empty"),
        pytest.param("()", "cannot read the game name '()'", id="no name"),
        pytest.param("leduc(players=3", "cannot read the game name 'leduc(players=3'", id="not closed"),
        pytest.param("leduc(players=3)x", "cannot read the game name 'leduc(players=3)x'", id="text after"),
        pytest.param("leduc(players)", "'players' of leduc must be an integer; got 'players'", id="no value"),
        pytest.param(
            "leduc(players=3,4)", "'4' in 'leduc(players=3,4)' comes after key=value; put it first", id="late"
        ),
        pytest.param("kuhn(2,3)", "kuhn cannot take '3' as parameter number 2; it takes players", id="too many"),
        pytest.param("leduc(3,players=2)", "parameter 'players' of leduc is given twice, by position", id="both ways"),
        pytest.param("leduc(3,,4)", "cannot read ',4'", id="nothing between commas"),
        pytest.param("leduc(players=3,,ranks=4)", "cannot read ',ranks=4'", id="two commas"),
        pytest.param('m(a="x)', "cannot read 'a=\"x'", id="open quote"),
        pytest.param('m(a="x"y)', "cannot read 'a=\"x\"y'", id="text after a quote"),
        pytest.param("m(3=a)", "cannot read '3=a'", id="bad key"),
        pytest.param("leduc(players=2,players=3)", "parameter 'players' is given twice", id="twice"),
    ],
)
def test_names_that_cannot_be_read(spec: str, message: str) -> None:
    with pytest.raises(GameError) as caught:
        make(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


values = st.text(max_size=12) | st.text(alphabet='"\\,=() \n\tab;-', max_size=12)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,5}", fullmatch=True), values, max_size=4))
def test_any_text_survives_being_written_and_read(written: dict[str | int, str]) -> None:
    inside = ",".join(f"{key}={format_value(value)}" for key, value in written.items())
    assert parse_spec(f"name({inside})") == ("name", written)


# ---------------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("leduc(suited=true)", True, id="true"),
        pytest.param("leduc(suited=YES)", True, id="yes"),
        pytest.param("leduc(suited=1)", True, id="1"),
        pytest.param("leduc(suited=False)", False, id="false"),
        pytest.param("leduc(suited=no)", False, id="no"),
        pytest.param("leduc(suited=0)", False, id="0"),
    ],
)
def test_truth_is_written_in_several_ways(text: str, expected: bool) -> None:
    game = make(text)
    assert isinstance(game, Leduc)
    assert game.suited is expected


def test_parameters_given_apart_override_those_in_the_name() -> None:
    assert make("leduc(players=3,ranks=4)", ranks=5) == Leduc(players=3, ranks=5)
    assert make(Leduc, ranks=5) == Leduc(ranks=5)
    assert make("leduc", ranks="5", suited="true") == Leduc(ranks=5, suited=True)


def test_parameters_by_position_follow_the_declared_order() -> None:
    assert make("leduc(3,4)") == Leduc(players=3, ranks=4)
    assert make("leduc(3,4,suited=true)") == Leduc(players=3, ranks=4, suited=True)
    assert make("leduc(3,4)", players=2) == Leduc(players=2, ranks=4)
    assert make("leduc(3,4)").spec() == "leduc(players=3,ranks=4)"
    assert make('matrix("0,1;1,0")') == Matrix(rows="0,1;1,0")


def test_a_game_is_returned_as_it_is() -> None:
    game = Leduc(ranks=4)
    assert make(game) is game
    with pytest.raises(GameError, match=r"leduc\(ranks=4\) is made already; parameters \['ranks'\] come too late"):
        make(game, ranks=5)


@pytest.mark.parametrize(
    "spec", [pytest.param(7, id="int"), pytest.param(None, id="None"), pytest.param(str, id="str")]
)
def test_what_is_no_game_at_all(spec: Any) -> None:
    with pytest.raises(GameError, match="a game is a name, a path, a Game class or a Game; got"):
        make(spec)


def test_efg_files_take_no_parameters() -> None:
    with pytest.raises(GameError, match=r"x\.efg: an \.efg file takes no parameters; got \['players'\]"):
        make("x.efg", players=2)


# ---------------------------------------------------------------------------------------------- canonical names


@pytest.mark.parametrize("name", game_names())
def test_every_registered_game_is_made_again_by_its_name(name: str) -> None:
    game = make(name)
    assert game.spec() == name
    assert make(game.spec()) == game
    written = ",".join(f"{key}={format_value(value)}" for key, value in game.parameters().items())
    assert make(f"{name}({written})") == game


@settings(max_examples=150, deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "players": st.integers(2, 4),
            "ranks": st.integers(3, 20),
            "suits": st.integers(2, 9),
            "cap": st.integers(1, 5),
            "ante": st.integers(1, 10**6),
            "suited": st.booleans(),
        },
    )
)
def test_random_parameters_survive_in_the_name(chosen: dict[str, Any]) -> None:
    game = Leduc(**chosen)
    again = make(game.spec())
    assert again == game
    assert again.spec() == game.spec()
    defaults = Leduc().parameters()
    changed = [key for key in defaults if chosen.get(key, defaults[key]) != defaults[key]]
    assert list(parse_spec(game.spec())[1]) == changed  # only what differs, in the declared order


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2), min_size=1))
def test_matrices_survive_in_the_name(rows: list[list[float]]) -> None:
    game = Matrix(rows=";".join(",".join(map(repr, row)) for row in rows))
    again = make(game.spec())
    assert again == game
    assert isinstance(again, Matrix)
    assert again.tensor().payoffs[0].tolist() == rows


def test_fields_that_are_no_parameters_are_not_in_the_name() -> None:
    assert make("kuhn(players=3)") == Kuhn(players=3)
    assert Kuhn(players=3).spec() == "kuhn(players=3)"
    assert Kuhn(players=3).parameters() == {"players": 3}
    with pytest.raises(GameError, match="kuhn has no parameter 'cards'; it takes players"):
        make("kuhn(cards=4)")


def test_the_listing_tells_names_types_defaults_and_help() -> None:
    listed = {entry.name: entry for entry in games()}
    assert list(listed) == game_names() == sorted(game_names())
    assert {"kuhn", "leduc", "matrix", "one_card_poker"} <= set(listed)
    leduc = {p.name: (p.type, p.default) for p in listed["leduc"].parameters}
    assert leduc["ranks"] == (int, 3)
    assert leduc["suited"] == (bool, False)
    for entry in listed.values():
        assert entry.summary.endswith("."), entry.name
        assert all(p.help for p in entry.parameters), entry.name


# ---------------------------------------------------------------------------------------------- users' files


def test_a_game_from_a_users_file(user_file: Path) -> None:
    spec = f'{user_file}:Typed(cards=3,rake=1,open=yes,title="a, b")'
    game: Any = make(spec)
    assert (game.cards, game.rake, game.open, game.title) == (3, 1.0, True, "a, b")
    assert isinstance(game.rake, float)
    assert game.spec() == f'{user_file}:Typed(cards=3,rake=1.0,open=true,title="a, b")'
    tree = compile_game(game)
    assert tree.infoset_names == ("a, b",)
    assert tree.utility.tolist() == [[-1.0], [0.0], [1.0]]


def test_the_name_of_a_users_game_makes_it_again(user_file: Path) -> None:
    game = make(f"{user_file}:Typed", cards=7, rake=0.1)
    again = make(game.spec())
    assert again.parameters() == game.parameters()
    assert again.spec() == game.spec()
    assert compile_game(again).digest == compile_game(game).digest


def test_a_relative_path(user_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(user_file.parent)
    assert make("my_game.py:Plain").spec() == "my_game.py:Plain"
    assert make("./my_game.py:Typed(cards=2)").spec() == "./my_game.py:Typed(cards=2)"
    monkeypatch.chdir(os.sep)
    with pytest.raises(GameError, match=r"there is no file 'my_game\.py'"):
        make("my_game.py:Plain")


def test_a_file_with_one_game_needs_no_class(tmp_path: Path) -> None:
    path = tmp_path / "single.py"
    path.write_text("from counterplay import Game, terminal\n\n\nclass Only(Game):\n    players = 1\n")
    assert make(str(path)).spec() == f"{path}:Only"


def test_typed_parameters_of_a_users_file(user_file: Path) -> None:
    for text, message in {
        "cards=4.5": r"parameter 'cards' of .*:Typed must be an integer; got '4\.5'",
        "rake=much": r"parameter 'rake' of .*:Typed must be a number; got 'much'",
        "open=ajar": r"parameter 'open' of .*:Typed must be true or false; got 'ajar'",
        "colour=red": r":Typed has no parameter 'colour'; it takes cards, rake, open, title, players",
    }.items():
        with pytest.raises(GameError, match=message):
            make(f"{user_file}:Typed({text})")
    with pytest.raises(GameError, match=r":Plain has no parameter 'n'; it takes no parameters"):
        make(f"{user_file}:Plain(n=1)")


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    source = "from counterplay import Game, terminal\nclass G(Game):\n    players = 1\n    def root(self):\n"
    path.write_text(source + "        return terminal(1)\n")
    assert compile_game(str(path)).utility.tolist() == [[1.0]]
    path.write_text(source + "        return terminal(20)\n")
    assert compile_game(str(path)).utility.tolist() == [[20.0]]


# ---------------------------------------------------------------------------------------------- registering


@pytest.mark.usefixtures("clean_registry")
def test_a_registered_game_is_made_and_listed() -> None:
    @register("test_coin")
    @dataclasses.dataclass(frozen=True)
    class Coin(Game):
        """A coin."""

        players: int = parameter(1, "who looks")

        def root(self) -> Any:
            return terminal(*[0.0] * self.players)

    assert make("test_coin(players=2)") == Coin(players=2)
    entry = next(entry for entry in games() if entry.name == "test_coin")
    assert (entry.summary, entry.parameters[0].help) == ("A coin.", "who looks")


@pytest.mark.usefixtures("clean_registry")
def test_a_name_is_taken_only_once() -> None:
    @register("test_once")
    class First(Game):
        """The first."""

    assert register("test_once")(First) is First  # the same class again is fine
    with pytest.raises(GameError, match="a game named 'test_once' is registered already, by "):

        @register("test_once")
        class Second(Game):
            """The second."""

    with pytest.raises(GameError, match=r"'kuhn' is registered already, by counterplay\.games\.kuhn"):
        register("kuhn")(type("Other", (Game,), {}))
    assert make("kuhn") == Kuhn()


@pytest.mark.usefixtures("clean_registry")
def test_a_name_is_not_taken_over_by_a_class_of_the_same_name_elsewhere() -> None:
    stranger = type("Kuhn", (Game,), {"__module__": "mygames"})
    with pytest.raises(GameError, match=r"'kuhn' is registered already, by counterplay\.games\.kuhn"):
        register("kuhn")(stranger)
    assert make("kuhn") == Kuhn()


@pytest.mark.usefixtures("clean_registry")
def test_a_file_that_registers_its_game_may_be_loaded_twice(tmp_path: Path) -> None:
    path = tmp_path / "registers.py"
    path.write_text(
        "from counterplay import Game, register\n\n\n@register('test_twice')\nclass G(Game):\n    players = 1\n"
    )
    assert make(str(path)).spec() == make(str(path)).spec() == f"{path}:G"
