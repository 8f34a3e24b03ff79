"""Reports over boards: what is kept, what is continued, and how means are taken."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import re
from pathlib import Path
from typing import Any

import pytest

import counterplay as cp
from counterplay.errors import CounterplayError
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.poker.postflop.board_lists import WeightedBoard, read_boards
from counterplay.poker.ranges import holdem_hands, parse_range
from counterplay.runs import FlopPlan, FlopReport, Spot, solve_flops
from counterplay.runs import flops as flops_module
from counterplay.runs.flop_report import Decision, SolvedBoard
from counterplay.solvers.public_cfr import PublicSolver
from counterplay.storage import LOCK, lock_folder, read_container, write_container
from tests.cli.test_show_verb import Page

OOP, IP = "AA,KQs:0.5,98s", "KK,QJs,77"
SPOT = Spot(pot=60, stack=100, oop=OOP, ip=IP, bets="75%", raises="none")
PLAN = FlopPlan(SPOT, until="0.5%")
RIVERS = read_boards("KsTd7h4c2s:3 QsJh2h3c8d Ac5c5d9h2s")


def pairs(board: str) -> float:
    """The weight of the pairs of hands that can be held on a board, one by one."""
    gone, hands = set(parse_cards(board)), holdem_hands().tolist()
    first, second = (
        [(set(hands[number]), float(weights[number])) for number in weights.nonzero()[0]]
        for weights in (parse_range(OOP), parse_range(IP))
    )
    return sum(
        a * b for (one, a), (two, b) in itertools.product(first, second) if not one & two and not (one | two) & gone
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished report."""
    path = tmp_path_factory.mktemp("flops") / "report"
    solve_flops(path, PLAN, RIVERS, keep=True)
    return path


def test_each_board_is_solved_as_alone(folder: Path) -> None:
    report = solve_flops(folder)
    assert ([one.board for one in report.boards], report.left) == ([one.board for one in RIVERS], ())
    for one, river in zip(report.boards, RIVERS, strict=True):
        alone = cp.solve_spot(
            board=river.board, pot=60, stack=100, oop=OOP, ip=IP, bets="75%", raises="none", until="0.5%"
        )
        assert (one.value, one.exploitability, one.iterations) == (alone.value, alone.exploitability, alone.iterations)
        assert one.exploitability <= 0.3
        assert one.equity == tuple(row.equity for row in cp.equity(OOP, IP, board=river.board).ranges)
        assert one.pairs == pytest.approx(pairs(river.board), abs=1e-9)
        start, after = alone.profile.hands(), alone.profile.hands("check")
        assert [decision.name for decision in one.decisions] == ["oop", "ip after check"]
        assert list(one.decisions[0].frequencies.values()) == start.frequencies.tolist()
        assert list(one.decisions[1].frequencies.items()) == list(zip(after.actions, after.frequencies, strict=True))
        assert [decision.reach for decision in one.decisions] == [1.0, start.frequencies[0]]
        kept = cp.load(folder / f"{river.board}.strategy")
        assert (kept.hands().probabilities == start.probabilities).all()
    assert sorted(path.suffix for path in folder.iterdir() if path.name != LOCK) == [
        ".csv", ".html", ".run", *[".solved"] * 3, *[".strategy"] * 3,
    ]  # fmt: skip


def test_means_are_weighted_by_how_often_boards_come(folder: Path) -> None:
    report = solve_flops(folder)
    weights = [river.weight * pairs(river.board) for river in RIVERS]
    assert RIVERS[0].weight == 3
    assert report.shares == pytest.approx([weight / sum(weights) for weight in weights], abs=1e-12)
    total = report.total()
    assert total is not None
    for player in (0, 1):
        expected = sum(share * one.value[player] for share, one in zip(report.shares, report.boards, strict=True))
        assert total.value[player] == pytest.approx(expected, abs=1e-12)
    assert sum(total.value) == pytest.approx(60, abs=1e-9)
    checked = [
        share * one.decisions[0].frequencies["check"] for share, one in zip(report.shares, report.boards, strict=True)
    ]
    bets = [part * one.decisions[1].frequencies["bet45"] for part, one in zip(checked, report.boards, strict=True)]
    assert total.decisions[1].reach == pytest.approx(sum(checked), abs=1e-12)
    assert total.decisions[1].frequencies["bet45"] == pytest.approx(sum(bets) / sum(checked), abs=1e-12)


def test_the_mean_over_all_turns_is_the_equity_on_the_flop() -> None:
    """Weights are cards, shares count the pairs of hands as well: then equities average to the one before the card."""
    flop = parse_cards("Qs7h2h")
    rows = []
    for card in sorted(set(range(52)) - set(flop)):
        board = cards_text([*flop, card])
        first, second = cp.equity(OOP, IP, board=board).ranges
        rows.append(SolvedBoard(board, 1.0, pairs(board), (first.equity, second.equity), (0, 0), 0.0, 0, 0.0, 0.0, ()))
    total = FlopReport("turns", 60.0, "", tuple(rows)).total()
    assert total is not None
    expected = [one.equity for one in cp.equity(OOP, IP, board="Qs7h2h").ranges]
    assert list(total.equity) == pytest.approx(expected, abs=1e-12)


def test_an_action_that_a_board_does_not_have_counts_as_never() -> None:
    def row(board: str, frequencies: dict[str, float]) -> SolvedBoard:
        return SolvedBoard(board, 1, 1, (0, 0), (0, 0), 0, 0, 0, 0, (Decision("", 0, 1.0, frequencies),))

    report = FlopReport("", 1.0, "", (row("a", {"check": 1.0}), row("b", {"check": 0.5, "bet5": 0.5})))
    total = report.total()
    assert total is not None
    assert total.decisions[0].frequencies == {"check": 0.75, "bet5": 0.25}


def test_finished_boards_are_not_repeated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("solved again")

    first = solve_flops(folder)
    monkeypatch.setattr(flops_module, "prepare_spot", never)
    assert solve_flops(folder, PLAN) == first
    other = solve_flops(folder, None, [WeightedBoard(RIVERS[1].board, 7)])  # another list, another weight
    assert [(one.board, one.weight) for one in other.boards] == [("QsJh2h3c8d", 7)]
    solve_flops(folder, None, RIVERS)


def timeless(report: FlopReport) -> list[SolvedBoard]:
    return [dataclasses.replace(one, seconds=0.0, cpu_seconds=0.0) for one in report.boards]


@pytest.mark.parametrize("steps", [0, 3])
def test_ctrl_c_keeps_what_is_done(steps: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second board is interrupted at its first or a later iteration; it continues to the same bits."""
    step, count = PublicSolver.step, 0

    def pressed(self: PublicSolver, *words: Any, **more: Any) -> Any:
        nonlocal count
        if RIVERS[1].board in self.tree.name:
            count += 1
            if count > steps:
                raise KeyboardInterrupt
        return step(self, *words, **more)

    monkeypatch.setattr(PublicSolver, "step", pressed)
    report = solve_flops(tmp_path / "x", PLAN, RIVERS)
    assert ([one.board for one in report.boards], report.left) == (
        [RIVERS[0].board], (RIVERS[1].board, RIVERS[2].board),
    )  # fmt: skip
    assert (tmp_path / "x" / f"{RIVERS[1].board}.checkpoint").is_file() == (steps > 0)
    assert "1 of 3 boards are solved" in (tmp_path / "x" / "flops.html").read_text("utf-8")
    monkeypatch.undo()
    found = solve_flops(tmp_path / "x")
    assert found.left == ()
    assert timeless(found) == timeless(solve_flops(folder))
    assert not list((tmp_path / "x").glob("*.checkpoint"))


def test_a_damaged_checkpoint_is_dropped(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "x"
    solve_flops(path, PLAN, RIVERS[:1])
    (path / f"{RIVERS[1].board}.checkpoint").write_bytes(b"half of it")
    assert timeless(solve_flops(path, None, RIVERS[:2])) == timeless(solve_flops(folder))[:2]


def test_two_in_one_folder(tmp_path: Path) -> None:
    """The second is refused before it changes anything; it may have other boards."""
    path = tmp_path / "x"
    with lock_folder(path, "solving boards"):
        with pytest.raises(CounterplayError, match=r"another process is solving boards in .*x; wait for it"):
            solve_flops(path, PLAN, RIVERS)
        assert [file.name for file in path.iterdir()] == [LOCK]
    assert len(solve_flops(path, PLAN, RIVERS[:1]).boards) == 1


def test_killed_in_its_first_save(tmp_path: Path) -> None:
    """What is left of the first file does not make the folder a strange one."""
    path = tmp_path / "x"
    path.mkdir()
    (path / LOCK).touch()
    (path / ".flops.run.999999999-1.part").write_bytes(b"half")
    assert len(solve_flops(path, PLAN, RIVERS[:1]).boards) == 1
    assert not list(path.glob(".*.part"))


def test_killed_between_the_result_of_a_board_and_its_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "x"
    found = timeless(solve_flops(path, PLAN, RIVERS[:1]))
    (path / f"{RIVERS[0].board}.checkpoint").write_bytes(b"any")
    assert timeless(solve_flops(path)) == found
    assert not list(path.glob("*.checkpoint"))


@pytest.mark.parametrize("weight", [0, -1.0, float("nan"), float("inf")])
def test_weights_that_are_none(tmp_path: Path, weight: float) -> None:
    boards = [WeightedBoard(RIVERS[0].board, weight)]
    with pytest.raises(CounterplayError, match="the weight of a board is a positive number; that of KsTd7h4c2s is"):
        solve_flops(tmp_path / "x", PLAN, boards)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("player", 2**31, "not those of two players"), ("pairs", 0.0, "cannot be right")],
)
def test_results_that_lie(tmp_path: Path, name: str, value: float, message: str) -> None:
    solve_flops(tmp_path / "x", PLAN, RIVERS[:1])
    path = tmp_path / "x" / f"{RIVERS[0].board}.solved"
    header, _ = read_container(path, "solved board")
    place = header["found"]["decisions"][0] if name == "player" else header["found"]
    place[name] = value
    write_container(path, "solved board", header, {})
    with pytest.raises(CounterplayError, match=f"is damaged: ValueError: .*{message}"):
        solve_flops(tmp_path / "x")


def test_a_plan_without_its_stack(tmp_path: Path) -> None:
    """A file of a folder that was edited by hand."""
    solve_flops(tmp_path / "x", PLAN, RIVERS[:1])
    header, _ = read_container(tmp_path / "x" / "flops.run", "flops")
    del header["plan"]["spot"]["stack"]
    write_container(tmp_path / "x" / "flops.run", "flops", header, {})
    with pytest.raises(CounterplayError, match="a postflop spot needs stack"):
        solve_flops(tmp_path / "x")


def test_boards_that_cannot_come_are_left_out(tmp_path: Path) -> None:
    plan = FlopPlan(dataclasses.replace(SPOT, oop="AA"))
    boards = read_boards("KsTd7h4c2s AsAhAdKc2c")
    report = solve_flops(tmp_path / "x", plan, boards)
    assert ([one.board for one in report.boards], report.impossible) == (["KsTd7h4c2s"], ("AsAhAdKc2c",))
    assert "1 more cannot come: they leave no hands" in report.summary
    with pytest.raises(CounterplayError, match="the range of oop has no hand left on AsAhAdKc2c"):
        solve_flops(tmp_path / "y", plan, boards[1:])


def test_files_of_the_report(folder: Path) -> None:
    report = solve_flops(folder)
    with open(folder / "flops.csv", newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    actions = ["oop: check", "oop: bet45", "ip after check: check", "ip after check: bet45"]
    assert head[10:] == actions
    assert [line[0] for line in lines] == [*(river.board for river in RIVERS), "all"]
    total = report.total()
    assert total is not None
    for one, share, line in zip([*report.boards, total], [*report.shares, 1.0], lines, strict=True):
        played = [share for decision in one.decisions for share in decision.frequencies.values()]
        expected = [one.weight, share, *one.equity, *one.value, one.exploitability, one.iterations, one.cpu_seconds]
        assert [float(word) for word in line[1:]] == [*expected, *played]
    text = (folder / "flops.html").read_text("utf-8")
    page = Page(text)
    assert page.links == []
    assert [row[0] for row in page.rows] == ["board", "all", "board", *(river.board for river in RIVERS)]
    assert float(page.rows[1][3]) == pytest.approx(total.value[0], abs=1e-3)
    assert len(re.findall(r"<script", text)) == 1


def test_other_decisions(tmp_path: Path) -> None:
    plan = FlopPlan(SPOT, "1%", nodes=("b45", "check bet45"))
    (one,) = solve_flops(tmp_path / "x", plan, RIVERS[:1]).boards
    assert [decision.name for decision in one.decisions] == ["ip after bet45", "oop after check bet45"]
    strategy = cp.solve_spot(
        board=RIVERS[0].board, pot=60, stack=100, oop=OOP, ip=IP, bets="75%", raises="none", until="1%"
    ).profile
    start, after = strategy.hands().frequencies, strategy.hands("check").frequencies
    assert [decision.reach for decision in one.decisions] == pytest.approx([start[1], start[0] * after[1]], abs=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spot": dataclasses.replace(SPOT, pot=50)}, "has another spot: pot is 60 there, 50 here; give the same one"),
        ({"spot": dataclasses.replace(SPOT, rake="5%")}, "rake is not given there, '5%' here"),
        ({"spot": dataclasses.replace(SPOT, bets=None)}, "bets is '75%' there, not given here"),
        ({"until": "1%"}, "until is '0.5%' there, '1%' here"),
        ({"nodes": ("",)}, "nodes is not given there"),
        ({"spot": Spot(stack=99)}, "another spot: stack is 100 there, 99 here; give"),
    ],
)
def test_a_folder_is_for_one_plan(change: dict[str, Any], message: str, folder: Path) -> None:
    with pytest.raises(CounterplayError) as caught:
        solve_flops(folder, dataclasses.replace(PLAN, **change))
    assert message in str(caught.value)


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(CounterplayError, match=r"nothing was started in .*nowhere; name the spot and its boards"):
        solve_flops(tmp_path / "nowhere")
    (tmp_path / "mine.txt").touch()
    with pytest.raises(CounterplayError, match="exists, but no report was started in it; choose another folder"):
        solve_flops(tmp_path, PLAN, RIVERS)
    with pytest.raises(CounterplayError, match="a postflop spot needs pot"):
        solve_flops(tmp_path / "x", FlopPlan(dataclasses.replace(SPOT, pot=None)), RIVERS)
    with pytest.raises(CounterplayError, match="there is no decision after 'bet7'"):
        solve_flops(tmp_path / "y", dataclasses.replace(PLAN, nodes=("bet7",)), RIVERS)
    turn = read_boards("QsJh2h3c")
    with pytest.raises(CounterplayError, match="before another card is dealt; 'check check' comes later"):
        solve_flops(tmp_path / "y", dataclasses.replace(PLAN, nodes=("check check",)), turn)
    assert solve_flops(tmp_path / "y", PLAN, RIVERS[:1]).left == ()  # nothing was done there before


def test_suits_that_ranges_distinguish_are_mentioned(tmp_path: Path, folder: Path) -> None:
    plan = FlopPlan(dataclasses.replace(SPOT, oop="AA,KsQs"))
    told = "the ranges distinguish suits"
    assert told in solve_flops(tmp_path / "x", plan, RIVERS[:1]).summary
    assert told not in solve_flops(tmp_path / "x", plan, [WeightedBoard(RIVERS[0].board, 1)]).summary
    assert told not in solve_flops(folder).summary
