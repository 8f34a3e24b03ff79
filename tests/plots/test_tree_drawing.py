"""Pictures of trees: the layout, what is joined, that labels keep clear of each other, files, refusals, the verb."""

from __future__ import annotations

import json
import random
import warnings
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.errors import GameError, StrategyError
from counterplay.game.builder import ExplicitGame, Node, chance, decision, terminal
from counterplay.plots import TREE_FORMATS
from counterplay.plots.tree_drawing import DOTS, PLAIN, THICK, THIN, _Painter, _Plan, _played, draw, format_number
from counterplay.plots.tree_layout import find_joints, find_links, lay_out, place_lanes
from counterplay.strategy import TabularStrategy
from counterplay.tree import NULL, GameTree, compile_game

MISUSE = 2
ROUNDING = 1e-9


def driver() -> ExplicitGame:
    """The absent-minded driver (Piccione and Rubinstein 1997)."""
    second = decision(0, "crossing", {"exit": terminal(4), "continue": terminal(1)})
    return ExplicitGame(decision(0, "crossing", {"exit": terminal(0), "continue": second}), name="driver")


def horse() -> ExplicitGame:
    """Selten's horse: the third player's set has histories of different lengths."""

    def third(*wins: float) -> Node:
        return decision(2, "third", {"L": terminal(*wins), "R": terminal(0, 0, 1 / 3)})

    second = decision(1, "second", {"d": third(4, 4, 0), "a": terminal(1, 1, 1)})
    return ExplicitGame(decision(0, "first", {"D": third(3, 2, 2), "A": second}), name="horse")


def random_game(seed: int) -> ExplicitGame:
    """A tree with chance and three players, whose information sets join histories of one depth at random."""
    generator = random.Random(seed)

    def below(depth: int) -> Node:
        kind = generator.random()
        if depth == 5 or (depth > 1 and kind < 0.3):
            return terminal(*(generator.choice((-12, -1, 0, 0.5, 1 / 3, 7)) for _ in range(3)))
        size = generator.choice((1, 2, 2, 3))
        children = {"abcdefgh"[i] * generator.randint(1, 6): below(depth + 1) for i in range(size)}
        if kind > 0.85:
            return chance({label: (1 / size, child) for label, child in children.items()})
        player, actions = generator.randrange(3), tuple(children)
        return decision(player, f"{depth}{'.' * generator.randrange(2)}{'/'.join(actions)}", children)

    return ExplicitGame(decision(0, "start", {"l": below(1), "r": below(1)}), players=3, name=f"random {seed}")


TREES = {
    "kuhn": lambda: compile_game("kuhn"),
    "matching pennies": lambda: compile_game("matching_pennies"),
    "figure 2.3": lambda: compile_game("toy_forgotten_choice"),
    "figure 2.6b": lambda: compile_game("toy_hidden_coin"),
    "horse": lambda: compile_game(horse()),
    "driver": lambda: compile_game(driver()),
    "phantom": lambda: compile_game('phantom_ttt(x="0,1,5",o="2,4,8")'),
    **{f"random {seed}": lambda seed=seed: compile_game(random_game(seed)) for seed in range(8)},  # type: ignore[misc]
}
every_tree = pytest.mark.parametrize("name", TREES)


# ---------------------------------------------------------------------------------------------- layout


@every_tree
def test_nothing_overlaps_on_a_level(name: str) -> None:
    tree = TREES[name]()
    generator = np.random.default_rng(1)
    left, right = generator.uniform(0.1, 1.0, (2, tree.num_histories))
    layout = lay_out(tree, left, right, gap=0.25)
    for depth in range(int(tree.depth.max()) + 1):
        level = sorted(np.flatnonzero(tree.depth == depth), key=lambda node: float(layout.x[node]))
        for one, other in pairwise(level):
            assert layout.x[one] + right[one] + 0.25 <= layout.x[other] - left[other] + ROUNDING
    assert (layout.x - left).min() == pytest.approx(0.0)
    assert (layout.x + right).max() == pytest.approx(layout.width)


@every_tree
def test_parents_stand_over_the_middle_of_their_children(name: str) -> None:
    tree = TREES[name]()
    half = np.full(tree.num_histories, 0.5)
    x = lay_out(tree, half, half, gap=0.0).x
    for node in np.flatnonzero(tree.num_children):
        first, last = tree.first_child[node], tree.first_child[node] + tree.num_children[node] - 1
        assert x[node] == pytest.approx((x[first] + x[last]) / 2)
        assert (np.diff(x[first : last + 1]) >= 1.0 - ROUNDING).all()


def test_equal_subtrees_look_equal() -> None:
    tree = compile_game("kuhn")
    half = np.full(tree.num_histories, 0.5)
    x = lay_out(tree, half, half, gap=0.1).x
    deals = np.flatnonzero(tree.depth == 2)

    def shape(node: int) -> list[float]:
        nodes = [node]
        for parent in nodes:
            first = tree.first_child[parent]
            nodes.extend(range(first, first + tree.num_children[parent]))
        return (x[nodes] - x[node]).tolist()

    for deal in deals[1:]:
        assert shape(int(deal)) == pytest.approx(shape(int(deals[0])))


def test_leaves_may_reach_below_their_level() -> None:
    """A leaf beside a wide subtree: the subtree may go under the leaf, unless the leaf takes two levels."""
    wide = decision(0, "w", {"a": terminal(0), "b": terminal(0), "c": terminal(0)})
    tree = compile_game(ExplicitGame(decision(0, "r", {"leaf": terminal(1), "wide": wide})))
    half = np.full(tree.num_histories, 0.5)
    close, apart = (lay_out(tree, half, half, gap=0.0, levels=levels) for levels in (1, 2))
    assert close.width == pytest.approx(3.0)
    assert apart.width == pytest.approx(4.0)


def test_one_history() -> None:
    tree = compile_game(ExplicitGame(terminal(1, -1)))
    assert lay_out(tree, np.array([0.25]), np.array([0.5]), gap=1.0).x.tolist() == [0.25]


@pytest.mark.parametrize(
    ("spans", "lanes"),
    [
        ([], []),
        ([(0.0, 3.0), (1.0, 2.0), (4.0, 9.0)], [1, 0, 0]),
        ([(0.0, 2.0), (1.0, 3.0), (2.5, 4.0)], [0, 1, 0]),
        ([(0.0, 1.0), (0.0, 1.0)], [0, 1]),
    ],
)
def test_lanes(spans: list[tuple[float, float]], lanes: list[int]) -> None:
    found = place_lanes(spans)
    assert found == lanes
    for (one, a), (other, b) in combinations(zip(spans, found, strict=True), 2):
        assert a != b or one[1] < other[0] or other[1] < one[0]


# ---------------------------------------------------------------------------------------------- information sets


@every_tree
def test_every_information_set_is_joined(name: str) -> None:
    tree = TREES[name]()
    group = list(range(tree.num_histories))

    def find(node: int) -> int:
        while group[node] != node:
            node = group[node]
        return node

    pairs = [pair for joint in find_joints(tree) for pair in pairwise(joint.members)]
    for one, other in [*pairs, *(link.ends for link in find_links(tree))]:
        assert tree.infoset[one] == tree.infoset[other] != NULL
        group[find(one)] = find(other)
    for infoset in range(tree.num_infosets):
        members = np.flatnonzero(tree.infoset == infoset)
        assert len({find(int(node)) for node in members}) == 1
    joined = {frozenset(joint.members) for joint in find_joints(tree)}
    assert len(joined) == len(find_joints(tree))


def test_neighbours_and_others() -> None:
    tree = compile_game("kuhn")
    joints = find_joints(tree)
    assert {tree.infoset_names[joint.infoset] for joint in joints if joint.neighbours} == {"J:", "Q:", "K:"}
    assert len(joints) == tree.num_infosets
    assert find_links(tree) == []
    assert {tree.infoset_player[joint.infoset] for joint in find_joints(tree, player=1)} == {1}


def test_sets_on_several_levels() -> None:
    (absent,) = find_links(compile_game(driver()))
    assert absent.absent_minded
    (link,) = find_links(compile_game(horse()))
    assert not link.absent_minded
    assert find_joints(compile_game(horse())) == []


# ---------------------------------------------------------------------------------------------- pictures


def texts(
    tree: GameTree, player: int | None = None, strategy: TabularStrategy | None = None
) -> list[tuple[str, tuple[float, float, float, float]]]:
    """Every text of a picture but the numbers inside nodes, with its place in dots."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    painter = _Painter(_Plan(tree, player, None if strategy is None else _played(strategy, tree)))
    painter.figure.set_dpi(100)
    renderer = FigureCanvasAgg(painter.figure).get_renderer()
    found = []
    for text in painter.axes.texts:
        if text.get_text() and text.get_color() != "white":
            box = type(text).get_window_extent(text, renderer)
            found.append((text.get_text(), (box.x0, box.y0, box.x1, box.y1)))
    return found


@pytest.mark.parametrize("played", [False, True])
@pytest.mark.parametrize("name", [name for name in TREES if name != "driver"])
def test_labels_keep_clear_of_each_other(name: str, played: bool) -> None:
    tree = TREES[name]()
    overlaps = [
        (one, other)
        for (one, a), (other, b) in combinations(
            texts(tree, strategy=TabularStrategy.random(tree, 1) if played else None), 2
        )
        if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 3  # dots; line spacing aside
    ]
    assert overlaps == []


@every_tree
def test_everything_is_on_the_paper(name: str) -> None:
    tree = TREES[name]()
    plan = _Plan(tree, None)
    for text, (x0, y0, x1, y1) in texts(tree):
        assert 0 <= x0 < x1 <= 100 * plan.width, text
        assert 0 <= y0 < y1 <= 100 * plan.height, text


def test_what_is_written() -> None:
    written = [text for text, _ in texts(compile_game("kuhn"))]
    for label in ("kuhn", "player 1", "player 2", "chance", "information set", "J (1/3)", "K (1/2)", "−2", "Q:kb"):
        assert label in written
    assert sum(text in ("1", "2", "−1", "−2") for text in written) == 2 * 30  # payoffs of both at 30 ends
    only = [text for text, _ in texts(compile_game("kuhn"), player=0)]
    assert {name for name in compile_game("kuhn").infoset_names if name in only} == {
        "J:", "Q:", "K:", "J:kb", "Q:kb", "K:kb",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-2.0, "−2"),
        (1 / 3, "1/3"),
        (-0.5, "−1/2"),
        (0.1234567, "0.1235"),
        (1e9, "1000000000"),
        (0.0, "0"),
        (1e-13, "1e−13"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert format_number(value) == text


BLUFFER = {(0, "J:"): {"check": 2 / 3, "bet": 1 / 3}, (0, "Q:"): {"check": 1.0}, (0, "K:"): {"bet": 1.0}}


def test_a_strategy_is_written_on_the_edges() -> None:
    tree = compile_game("kuhn")
    written = [text for text, _ in texts(tree, strategy=TabularStrategy.from_table(tree, BLUFFER))]
    for label, times in {
        "J (1/3)": 1, "J (1/2)": 2, "check 0.667": 2, "bet 0.333": 2, "check 1": 2, "bet 0": 2, "check 0": 2,
        "bet 1": 2, "check 0.5": 6, "fold 0.5": 12,
    }.items():  # fmt: skip
        assert written.count(label) == times, label
    assert "kuhn: by hand" in written
    # Player 2 is uniform.  J bets 1/3: folds give +1, calls -2, so -1/2; it checks 2/3: checks -1, bets then half folds
    # -1 and half calls -2, so -5/4.  K bets: +1 or +2, so 3/2.  Q checks: +-1, or a bet that is folded or called.
    jack, queen, king = (1 / 3) * (-1 / 2) + (2 / 3) * (-5 / 4), 0.5 * 0 + 0.5 * (-1 / 2), 3 / 2
    value = (jack + queen + king) / 3
    assert f"value {value:+.6f} (player 1), {-value:+.6f} (player 2)" in " ".join(written)


def test_edges_are_as_thick_as_play_gets_there() -> None:
    tree = compile_game("kuhn")
    plan = _Plan(tree, None, _played(TabularStrategy.from_table(tree, BLUFFER), tree))

    def style(*moves: str) -> dict[str, object]:
        found = [node for node in range(tree.num_histories) if tree.history(node) == list(moves)]
        return plan.edge_style(*found)

    for moves, reach in {
        ("J",): 1 / 3, ("J", "K"): 1 / 6, ("J", "K", "bet"): 1 / 18, ("J", "K", "check", "bet", "call"): 1 / 36,
    }.items():  # fmt: skip
        assert style(*moves)["linewidth"] == pytest.approx(THIN + (THICK - THIN) * reach**0.5), moves
    assert style("Q", "K", "bet") == style("Q", "K", "bet", "call")
    assert style("Q", "K", "bet")["linestyle"] == DOTS
    assert {_Plan(tree, None).edge_style(node)["linewidth"] for node in range(1, 58)} == {PLAIN}


@pytest.mark.parametrize("ending", TREE_FORMATS)
def test_strategies_in_every_format(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cp.solve("kuhn", algorithm="lp").profile.save(tmp_path / "kuhn.strategy")
    path, file = tmp_path / f"tree{ending}", tmp_path / "kuhn.strategy"
    assert main(["draw", "kuhn", "--strategy", str(file), "--out", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["value"] == pytest.approx([-1 / 18, 1 / 18])
    assert found["strategy"] == str(file)
    assert draw("kuhn", tmp_path / f"again{ending}", strategy=cp.load(file)).value == tuple(found["value"])
    assert (tmp_path / f"again{ending}").read_bytes() == path.read_bytes()
    with pytest.raises(StrategyError, match=r"made for kuhn .* does not fit one_card_poker"):
        draw("one_card_poker(cards=4)", path, strategy=file)


@pytest.mark.parametrize(
    ("name", "cards"),
    [
        ("kuhn", "JQK"),
        ("one_card_poker(cards=4)", "1234"),
        ("leduc", ["Jc", "Jd", "Qc", "Qd", "Kc", "Kd"]),
        ("leduc(suits=1,ranks=5)", "TJQKA"),
        ("generic_poker(types=4)", "JQKA"),
        ("tilted(kuhn,orange,7)", "JQK"),
    ],
)
def test_cards_have_names(name: str, cards: str | list[str]) -> None:
    assert compile_game(name).event_labels[0] == tuple(cards)


@pytest.mark.parametrize("ending", TREE_FORMATS)
def test_files(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"tree{ending}"
    picture = draw("kuhn", path)
    assert (picture.path, picture.game, picture.histories, picture.information_sets) == (path, "kuhn", 58, 12)
    content = path.read_bytes()
    assert content.startswith({".svg": b"<?xml", ".png": b"\x89PNG\r\n\x1a\n", ".pdf": b"%PDF-"}[ending])
    again = tmp_path / f"again{ending}"
    draw(compile_game("kuhn"), again)
    assert again.read_bytes() == content
    if ending == ".svg":
        root = ElementTree.fromstring(content)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(root.attrib["width"].removesuffix("pt")) == pytest.approx(72 * picture.width, abs=0.01)


@pytest.mark.filterwarnings("ignore:Glyph")  # measured here as well, without the care that drawing takes
def test_labels_of_any_kind(tmp_path: Path) -> None:
    """Formula signs, letters that the font lacks, line breaks and very long names."""
    odd = {
        "$x^2$": terminal(1),
        "$": terminal(0),
        "日本": terminal(2),
        "a\nb": terminal(-1e-9),
        "y" * 90: terminal(1e12),
    }
    game = ExplicitGame(decision(0, "name & <tag> " * 9, odd), name="odd $labels$ <&>")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(game, tmp_path / "odd.png")
        draw(game, tmp_path / "odd.svg")
    ElementTree.parse(tmp_path / "odd.svg")
    assert "a b" in [text for text, _ in texts(compile_game(game))]
    assert "y" * 27 + "…" in [text for text, _ in texts(compile_game(game))]


def test_trees_of_one_history(tmp_path: Path) -> None:
    assert draw(ExplicitGame(terminal(1, -1), name="over"), tmp_path / "over.png").histories == 1


# ---------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["leduc"],
            "leduc has 9,457 histories, too many to draw (300 are allowed); choose smaller parameters or allow more "
            "with --max-histories",
        ),
        (["kuhn", "--max-histories", "57"], "kuhn has 58 histories, too many to draw (57 are allowed)"),
        (["phantom_ttt"], "phantom_ttt has about 18,000,000,000 histories, too many to draw (300 are allowed)"),
        (["kuhn", "--player", "3"], "kuhn has players 1 to 2; there is no player 3 to draw"),
        (["kuhn", "--out", "tree.gif"], "a drawing is written as .svg, .png, .pdf; got 'tree.gif'"),
        (["kuhn", "--out", "nowhere/tree.svg"], "there is no folder nowhere to write tree.svg into"),
        (["kuhnn"], "unknown game 'kuhnn'; did you mean 'kuhn'?"),
    ],
)
def test_refusals(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["draw", *words]) == MISUSE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"counterplay: {message}")
    assert list(tmp_path.iterdir()) == []


def test_refusals_of_the_library(tmp_path: Path) -> None:
    with pytest.raises(GameError, match="max_histories must be at least 1; got 0"):
        draw("kuhn", tmp_path / "x.svg", max_histories=0)
    with pytest.raises(GameError, match="cannot write the drawing"):
        draw("kuhn", tmp_path / "missing" / "x.svg")
    with pytest.raises(GameError, match="there is no player 0 to draw"):
        draw("kuhn", tmp_path / "x.svg", player=-1)
    broken = ExplicitGame(chance({"a": (0.5, terminal(1)), "b": (0.4, terminal(1))}), name="broken")
    with pytest.raises(GameError, match=r"sum to 0\.9"):
        draw(broken, tmp_path / "x.svg")


# ---------------------------------------------------------------------------------------------- the verb


def test_draw_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kuhn.svg"
    assert main(["draw", "kuhn", "--out", str(path), "--player", "2", "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    found = json.loads(printed.out)
    assert (found["game"], found["path"]) == ("kuhn", str(path))
    assert (found["histories"], found["information_sets"]) == (58, 6)
    assert found["width_inches"] > found["height_inches"] > 1
    assert path.read_bytes().startswith(b"<?xml")


def test_draw_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["draw", "kuhn(players=3)", "--max-histories", "700"]) == 0
    assert capsys.readouterr().out.startswith("tree.svg: kuhn(players=3), 617 histories and 48 information sets on ")
    assert (tmp_path / "tree.svg").is_file()


def test_files_of_other_programs(tmp_path: Path) -> None:
    from counterplay.game.efg import write_efg

    write_efg(cp.make("matching_pennies"), tmp_path / "pennies.efg")
    assert draw(str(tmp_path / "pennies.efg"), tmp_path / "pennies.png").information_sets == 2
