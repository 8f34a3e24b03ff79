"""Reading and writing ``.efg`` files: the grammar, its errors, and what Gambit and OpenSpiel make of our files."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.errors import GameError
from counterplay.game import Game, chance, decision, make, terminal
from counterplay.game.builder import ExplicitGame, Node
from counterplay.game.efg import format_efg, parse_efg, read_efg, write_efg
from counterplay.game.game import CHANCE, TERMINAL
from counterplay.tree.history.compile import compile_game
from counterplay.tree.history.game_tree import GameTree

EXACT = ("parent", "first_child", "num_children", "depth", "player", "infoset", "outcome", "utility", "infoset_player",
         "infoset_offset", "player_infosets")  # fmt: skip
GAMES = ["kuhn", "kuhn(players=3)", "leduc", "rock_paper_scissors"]

EVERY_FEATURE = r"""
EFG 2 D "All of it" { "Ann" "Bob" }
"A comment that says
\"nothing\" over two lines"
c "root" 7 "deal" { "red" 1/4 "black" .75 } 3 "entry" { -1, -1 }
p "" 1 2 "same" { "in" "out" } 0
p "" 2 1 "" { "l" "" "l" } 5 "interim" { 0.5 -0.5, }
t "end" 1 "win" { 3,1 }
t "" 2 "more" { 1e1 -2.5E-1 }
t "" 0
t "" 1
p "" 1 9 "same" { "a\"b" "c\d" "e\\" } 0
t "" 1 "win" { +3 1.0 }
c "" 7 0 t "" 0 t "" 1
c "" 7 "deal" { "red" 0.25 "black" 3/4 } 0
p "" 1 2 0
t "" 2 t "" 2
t "" 3
"""


def assert_same_tree(one: GameTree, two: GameTree) -> None:
    """Two trees agree on every history, information set, utility and probability."""
    for field in EXACT:
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field), err_msg=field)
    np.testing.assert_allclose(one.chance_prob, two.chance_prob, rtol=1e-12, atol=0)


def labels_of(tree: GameTree) -> list[tuple[str, tuple[str, ...]]]:
    return [(tree.infoset_names[i], tree.actions_of(i)) for i in range(tree.num_infosets)]


def body(nodes: str, players: str = '"A" "B"') -> str:
    return f'EFG 2 R "t" {{ {players} }}\n{nodes}\n'


# ---------------------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("spec", GAMES)
def test_round_trip_of_known_games(spec: str) -> None:
    before = compile_game(spec)
    after = compile_game(parse_efg(format_efg(make(spec)), "again"))
    assert_same_tree(before, after)
    assert after.digest == before.digest
    np.testing.assert_array_equal(after.event, before.event)
    assert after.event_labels == before.event_labels


odd_text = st.text(max_size=6) | st.text(alphabet='"\\{}, \n\ta#1', max_size=6)


def distinct_texts(least: int, most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(odd_text, min_size=least, max_size=most, unique=True)


@st.composite
def explicit_games(draw: st.DrawFn) -> ExplicitGame:
    """A small tree whose decisions are put into a few information sets at random, so with any recall."""
    players = draw(st.integers(1, 3))
    numbers = st.floats(-1e100, 1e100)
    infosets = [(p, key, draw(distinct_texts(1, 3))) for p in range(players) for key in draw(distinct_texts(1, 3))]

    def node(depth: int) -> Node:
        kind = draw(st.integers(0, 4)) if depth else 0
        if kind == 0:
            return terminal(*draw(st.lists(numbers, min_size=players, max_size=players)))
        if kind == 1:
            labels = draw(distinct_texts(1, 4))
            weights = [draw(st.integers(1, 9) | st.floats(1e-6, 1)) for _ in labels]
            return chance(
                {label: (w / sum(weights), node(depth - 1)) for label, w in zip(labels, weights, strict=True)}
            )
        player, key, actions = draw(st.sampled_from(infosets))
        return decision(player, key, {action: node(depth - 1) for action in actions})

    return ExplicitGame(node(draw(st.integers(0, 4))), players=players)


@settings(max_examples=150, deadline=None)
@given(explicit_games())
def test_round_trip_of_random_trees(game: ExplicitGame) -> None:
    before = compile_game(game)
    after = compile_game(parse_efg(format_efg(game, title='a "title"\\'), "again"))
    assert_same_tree(before, after)
    for (name, actions), (read_name, read_actions) in zip(labels_of(before), labels_of(after), strict=True):
        assert read_name == name or not name
        assert all(read == label or not label for label, read in zip(actions, read_actions, strict=True))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(1e-12, 1), min_size=1, max_size=6))
def test_written_probabilities_add_up_to_one_exactly(weights: list[float]) -> None:
    game = ExplicitGame(chance({str(i): (w / sum(weights), terminal(i)) for i, w in enumerate(weights)}))
    words = format_efg(game).splitlines()[1].split()
    assert sum(Fraction(word) for word in words[6:-2:2]) == 1


def test_chance_fractions_are_written_as_such() -> None:
    assert '{ "J" 1/3 "Q" 1/3 "K" 1/3 }' in format_efg(make("kuhn"))


def test_deep_chains_need_no_recursion() -> None:
    node: Node = terminal(1.0, -1.0)
    for number in range(2_000):
        node = decision(number % 2, number, {"on": node, "stop": terminal(0.0, 0.0)})
    game = ExplicitGame(node)
    assert_same_tree(compile_game(game), compile_game(parse_efg(format_efg(game), "chain")))


def test_files_are_found_by_the_registry(tmp_path: Path) -> None:
    path = tmp_path / "kuhn.efg"
    write_efg(make("kuhn"), path)
    game = make(str(path))
    assert game.spec() == str(path)
    assert_same_tree(compile_game(make(game.spec())), compile_game("kuhn"))
    assert compile_game(read_efg(path)).digest == compile_game("kuhn").digest


# ---------------------------------------------------------------------------------------------- the grammar


def test_every_feature_of_the_grammar() -> None:
    tree = compile_game(parse_efg(EVERY_FEATURE, "all"))
    assert tree.players == 2
    assert tree.counts() == {"decision": 4, "chance": 3, "terminal": 10}
    assert labels_of(tree) == [
        ("same #2", ("in", "out")),
        ("same #9", ('a"b', "c\\d", "e\\")),
        ("#1", ("l", "2", "l#3")),
    ]
    ends = {
        tuple(tree.history(int(h))): tuple(tree.utility[tree.outcome[h]]) for h in np.flatnonzero(tree.outcome >= 0)
    }
    assert ends["red", "in", "l"] == (2.5, -0.5)  # entry, interim and win add up
    assert ends["red", "in", "2"] == (9.5, -1.75)
    assert ends["red", "in", "l#3"] == (-0.5, -1.5)
    assert ends["black", "c\\d", "black"] == (2.0, 0.0)
    assert ends["black", "e\\", "black"] == (-2.0, -2.0)
    np.testing.assert_array_equal(np.unique(tree.chance_prob), [0.25, 0.75, 1.0])


def test_exact_sums_of_payoffs() -> None:
    text = body('p "" 1 1 "i" { "a" } 1 "" { 0.1 1/3 }\nt "" 2 "" { 0.2 2/3 }')
    assert compile_game(parse_efg(text, "sum")).utility.tolist() == [[0.3, 1.0]]


def test_keys_and_labels_are_always_distinct() -> None:
    sets = [(1, "a"), (2, "a"), (3, "a #1"), (4, ""), (5, "#4")]
    rows = [f'p "" 1 {number} "{name}" {{ "" "x" "x" "1" "x#3" }} 0' for number, name in sets]
    ends = ['t "" 0'] * (4 * len(sets) + 1)
    tree = compile_game(parse_efg(body("\n".join([*rows, *ends]), '"A"'), "keys"))
    assert set(tree.infoset_names) == {"a #1#", "a #2", "a #1", "#4#", "#4"}
    assert tree.actions_of(0) == ("1#", "x", "x#3#", "1", "x#3")


def test_byte_order_mark_and_windows_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.efg"
    path.write_bytes(b"\xef\xbb\xbf" + format_efg(make("kuhn")).replace("\n", "\r\n").encode())
    assert compile_game(read_efg(path)).digest == compile_game("kuhn").digest


GOOD = 'p "" 1 1 "i" { "a" "b" } 0\nt "" 1 "" { 1 2 }\n'
ERRORS = [
    pytest.param("", "line 1, column 1", "expected EFG", id="empty"),
    pytest.param("NFG 1 R", "line 1, column 1", "expected EFG", id="other format"),
    pytest.param('EFG 3 R "t"', "line 1, column 5", "expected 2", id="version"),
    pytest.param('EFG 2 Q "t"', "line 1, column 7", "expected R or D", id="numbers"),
    pytest.param('EFG 2 "R" "t"', "line 1, column 7", "without quotes", id="quoted word"),
    pytest.param("EFG 2 R t", "line 1, column 9", "expected the title", id="title"),
    pytest.param('EFG 2 R "t" { }', "line 1, column 15", "expected the name of a player", id="no players"),
    pytest.param('EFG 2 R "t" { "A" 2 }', "line 1, column 19", "player or }", id="player name"),
    pytest.param('EFG 2 R "t { A }\nt 0', "line 1, column 9", 'closing "', id="unterminated title"),
    pytest.param(body('t "abc'), "line 2, column 3", 'closing "', id="unterminated name"),
    pytest.param(body('x "" 0'), "line 2, column 1", "expected c or p or t", id="kind of node"),
    pytest.param(body("t 0"), "line 2, column 3", "name of the node", id="node name"),
    pytest.param(body('t "" one'), "line 2, column 6", "integer", id="outcome word"),
    pytest.param(body('t "" 1.5'), "line 2, column 6", "integer", id="outcome decimal"),
    pytest.param(body('t "" 1 "" { 1 x }'), "line 2, column 15", "expected a number", id="payoff word"),
    pytest.param(body('t "" 1 "" { 1 1/0 }'), "line 2, column 15", "float can hold", id="payoff 1/0"),
    pytest.param(body('t "" 1 "" { 1 1e999 }'), "line 2, column 15", "float can hold", id="payoff 1e999"),
    pytest.param(body('t "" 1 "" { 1 ' + "9" * 5000 + " }"), "line 2, column 15", "float can hold", id="many digits"),
    pytest.param(body('t "" 1 "" { 1 1.2.3 }'), "line 2, column 15", "expected a number", id="payoff 1.2.3"),
    pytest.param(body('t "" 1 "" { 1 nan }'), "line 2, column 15", "expected a number", id="payoff nan"),
    pytest.param(body('p "" 3 1 "i" { "a" } 0 t "" 0'), "line 2, column 6", "player from 1 to 2", id="player 3"),
    pytest.param(body('p "" 0 1 "i" { "a" } 0 t "" 0'), "line 2, column 6", "player from 1 to 2", id="player 0"),
    pytest.param(body(GOOD), "line 5, column 1", "the end of the file", id="too few children"),
    pytest.param(body('p "" 1 1 "i" {'), "line 3, column 1", "an action in double quotes", id="ends in a list"),
    pytest.param(body('p "" 1 1 "i" { } 0'), "line 2, column 16", "an action in double quotes", id="no actions"),
    pytest.param(body(GOOD + 't "" 1\nt "" 1'), "line 5, column 1", "expected the end", id="trailing node"),
    pytest.param(body('t "" 0 }'), "line 2, column 8", "expected the end", id="trailing brace"),
    pytest.param(body('t "" 1 "" { 1 }'), "line 2, column 15", "payoff of player 2 of 2", id="few payoffs"),
    pytest.param(body('t "" 1 "" { 1 2 3 }'), "line 2, column 17", "after 2 payoffs", id="many payoffs"),
    pytest.param(body('t "" 1 "" { 1 ,, 2 }'), "line 2, column 16", "expected a number", id="two commas"),
    pytest.param(body('p "" 1 1 0 t "" 0'), "line 2, column 10", "set 1 of player 1", id="infoset undescribed"),
    pytest.param(body('c "" 4 0 t "" 0'), "line 2, column 8", "set 4 of chance", id="event undescribed"),
    pytest.param(body('p "" 1 1 { "a" } 0'), "line 2, column 10", "the name and actions", id="infoset half"),
    pytest.param(body('t "" 2'), "line 3, column 1", "payoffs of outcome 2", id="outcome undescribed"),
    pytest.param(body('t "" 2 "x"'), "line 3, column 1", "{ before the payoffs", id="outcome half"),
    pytest.param(body('t "" 0 "x" { 1 2 }'), "line 2, column 8", "nothing after outcome 0", id="outcome 0"),
    pytest.param(body(GOOD + 't "" 1 "" { 1 3 }'), "line 4, column 6", "outcome 1 as before", id="outcome differs"),
    pytest.param(
        body(GOOD + 'p "" 1 1 "i" { "a" "c" } 0'), "line 4, column 8", "different actions", id="actions differ"
    ),
    pytest.param(body(GOOD + 'p "" 1 1 "j" { "a" "b" } 0'), "line 4, column 8", "different name", id="name differs"),
    pytest.param(
        body('c "" 1 "" { "a" 1/2 "b" 1/2 } 0 c "" 1 "" { "a" 1/3 "b" 2/3 } 0'),
        "line 2, column 38",
        "different probabilities",
        id="probabilities differ",
    ),
    pytest.param(body('c "" 1 "" { "a" 0.5 "b" 0.4 } 0'), "line 2, column 11", "sum of 0.9", id="sum of 0.9"),
    pytest.param(body('c "" 1 "" { "a" -0.5 "b" 1.5 } 0'), "line 2, column 17", "not negative", id="negative"),
    pytest.param(body('c "" 1 "" { "a" "b" } 0'), "line 2, column 17", "(a probability)", id="no probability"),
]


@pytest.mark.parametrize(("text", "place", "message"), ERRORS)
def test_errors_say_where_and_what(text: str, place: str, message: str) -> None:
    with pytest.raises(GameError) as caught:
        parse_efg(text, "games/bad.efg")
    told = str(caught.value)
    assert told.startswith(f"games/bad.efg, {place}: ")
    assert message in told
    assert "\n" not in told
    assert len(told) < 200


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_files_never_fail_otherwise(data: st.DataObject) -> None:
    text = EVERY_FEATURE.strip()
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 8)))
    damaged = text[:start] + data.draw(st.text(alphabet='"\\{},cpt012/.-e \n', max_size=4)) + text[stop:]
    try:
        game = parse_efg(damaged, "damaged")
    except GameError:
        return
    compile_game(game)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(GameError, match=r"there is no file .*nowhere\.efg"):
        make(str(tmp_path / "nowhere.efg"))
    (tmp_path / "folder.efg").mkdir()
    with pytest.raises(GameError, match=r"folder\.efg cannot be read"):
        read_efg(tmp_path / "folder.efg")
    (tmp_path / "latin.efg").write_bytes(b'EFG 2 R "caf\xe9"')
    with pytest.raises(GameError, match="not UTF-8"):
        read_efg(tmp_path / "latin.efg")


def test_payoffs_that_overflow_together() -> None:
    text = body('p "" 1 1 "" { "a" } 1 "" { 1e308 0 } t "" 2 "" { 1e308 0 }')
    with pytest.raises(GameError, match="more than a float can hold"):
        parse_efg(text, "big")


# ---------------------------------------------------------------------------------------------- writing


class Endless(Game):
    """A game whose only action leads back to the start."""

    players = 1
    player = 0

    def root(self) -> Any:
        return self

    def actions(self) -> tuple[str]:
        return ("again",)

    def infoset(self) -> str:
        return "here"

    def child(self, action: str) -> Endless:
        return self


def two(first: Node, second: Node) -> ExplicitGame:
    return ExplicitGame(decision(0, "top", {"l": first, "r": second}), players=1)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        pytest.param(Endless(), "more than 10,000 moves", id="endless"),
        pytest.param(two(terminal(1, 2), terminal(1)), "utilities must be 1 finite", id="two utilities"),
        pytest.param(two(terminal(float("nan")), terminal(1)), "utilities must be 1 finite", id="nan"),
        pytest.param(ExplicitGame(chance({"a": (0.5, terminal(1))})), "sum to 1", id="half"),
        pytest.param(ExplicitGame(chance({}), players=1), "sum to 1", id="no outcomes"),
        pytest.param(ExplicitGame(decision(0, "i", {}), players=1), "same actions", id="no actions"),
        pytest.param(ExplicitGame(decision(1, "i", {"a": terminal(1)})), "player must be 0 .. 0", id="player"),
        pytest.param(
            two(decision(0, "i", {"a": terminal(1)}), decision(0, "i", {"b": terminal(1)})),
            "same actions",
            id="actions",
        ),
    ],
)
def test_games_that_cannot_be_written(game: Game, message: str) -> None:
    with pytest.raises(GameError, match=message):
        format_efg(game)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(GameError, match="cannot be written"):
        write_efg(make("kuhn"), tmp_path / "missing" / "kuhn.efg")
    with pytest.raises(GameError, match=r"cannot be written: '\\ud800' in a label"):
        write_efg(ExplicitGame(decision(0, "\ud800", {"a": terminal(1)})), tmp_path / "surrogate.efg")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------------------------------- other programs


def gambit_read(text: str) -> Any:
    pygambit = pytest.importorskip("pygambit", minversion="17.0.0b1")
    return pygambit.read_efg(io.BytesIO(text.encode()))


def spiel_tree(text: str) -> GameTree:
    """What OpenSpiel reads, compiled by way of the adapter."""
    pyspiel = pytest.importorskip("pyspiel")
    from counterplay.game.openspiel import OpenSpielGame

    return compile_game(OpenSpielGame(pyspiel.load_efg_game(text), "efg_game"))


@pytest.mark.parametrize("spec", GAMES)
def test_gambit_reads_the_same_game(spec: str) -> None:
    pygambit = pytest.importorskip("pygambit", minversion="17.0.0b1")
    game, tree = gambit_read(format_efg(make(spec))), compile_game(spec)
    assert len(game.players) == tree.players
    assert [len(game.get_infosets(player)) for player in game.players] == np.diff(tree.player_infosets).tolist()
    assert len(game.get_histories(pygambit.H.plays)) == tree.num_terminals


@pytest.mark.parametrize("spec", GAMES)
def test_openspiel_reads_the_same_game(spec: str) -> None:
    assert_same_tree(compile_game(spec), spiel_tree(format_efg(make(spec))))


def test_gambit_solves_kuhn() -> None:
    pygambit = pytest.importorskip("pygambit", minversion="17.0.0b1")
    solution = pygambit.nash.lp_solve(gambit_read(format_efg(make("kuhn"))))
    assert solution.equilibrium.payoffs["Player 1"] == Fraction(-1, 18)


def test_openspiel_evaluates_leduc_as_its_own() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    games = [pyspiel.load_efg_game(format_efg(make("leduc"))), pyspiel.load_game("leduc_poker")]
    ours, theirs = (pyspiel.exploitability(game, pyspiel.UniformRandomPolicy(game)) for game in games)
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert ours == pytest.approx(2.3736111, abs=1e-6)


@pytest.mark.parametrize("probabilities", [[0.0, 1.0], [0.1] * 10, [1e-300, 1.0], [1 / 3, 2 / 3 - 1e-10, 1.1e-10]])
def test_both_take_awkward_numbers(probabilities: list[float]) -> None:
    numbers = [1e-7, -1e22, 1 / 3, 5e-324, -0.0]
    events = {str(i): (p, terminal(numbers[i % 5], 0.1)) for i, p in enumerate(probabilities)}
    text = format_efg(ExplicitGame(chance(events)))
    assert len(gambit_read(text).players) == 2
    assert_same_tree(compile_game(parse_efg(text, "ours")), spiel_tree(text))


def test_both_take_labels_beyond_ascii() -> None:
    game = ExplicitGame(decision(0, "Zug {é}, p", {"links→": terminal(1), "a\\b c": terminal(2)}))
    text = format_efg(game)
    assert gambit_read(text).get_actions(pytest.importorskip("pygambit").H.path()) == ["links→", "a\\b c"]
    assert_same_tree(compile_game(game), spiel_tree(text))


def test_gambit_takes_quotes_in_labels() -> None:
    game = gambit_read(format_efg(ExplicitGame(decision(0, 'the "set"', {'say "yes"': terminal(1)}))))
    assert game.get_actions(pytest.importorskip("pygambit").H.path()) == ['say "yes"']


def test_files_of_gambit_are_read() -> None:
    """Gambit writes a game that it read from us, and we read that."""
    tree = compile_game(parse_efg(gambit_read(format_efg(make("kuhn"))).to_efg(), "gambit"))
    assert_same_tree(compile_game("kuhn"), tree)
    assert tree.digest == compile_game("kuhn").digest


def test_files_of_openspiel_are_read() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    for text in (pyspiel.get_sample_efg_data(), pyspiel.get_kuhn_poker_efg_data()):
        assert_same_tree(compile_game(parse_efg(text, "sample")), spiel_tree(text))


def test_the_kinds_of_nodes_are_those_of_the_walk() -> None:
    tree = compile_game(parse_efg(body('c "" 1 "" { "a" 1 } 0 p "" 2 1 "" { "a" } 0 t "" 0'), "line"))
    assert tree.player.tolist() == [CHANCE, 1, TERMINAL]
