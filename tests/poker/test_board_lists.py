"""Lists of boards: all flops, subsets, samples, texts and files."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from counterplay.errors import CounterplayError
from counterplay.poker.cards import parse_cards
from counterplay.poker.postflop.board_lists import (
    WeightedBoard,
    all_flops,
    random_flops,
    read_boards,
    subset_flops,
)
from tests.reference.isomorphism import canonical, in_rounds


def kind(board: str) -> object:
    return canonical(in_rounds(parse_cards(board), [3]))


def test_all_flops_are_counted_once() -> None:
    flops = all_flops()
    assert len(flops) == 1755
    expected = Counter(canonical(in_rounds(cards, [3])) for cards in itertools.combinations(range(52), 3))
    assert {kind(flop.board): flop.weight for flop in flops} == expected
    assert Counter(flop.weight for flop in flops) == {24: 286, 12: 1170, 4: 299}
    assert [flops[0].board, flops[-1].board] == ["AsAhAd", "2s2h2d"]


@pytest.mark.parametrize("count", [1, 25, 184])
def test_a_subset_stands_for_all(count: int) -> None:
    flops = subset_flops(count)
    assert (len(flops), {flop.weight for flop in flops}) == (count, {1})
    assert {kind(flop.board) for flop in flops} <= {kind(flop.board) for flop in all_flops()}
    if count == 184:
        weights = {flop.board: flop.weight for flop in all_flops()}
        suits = Counter(weights[flop.board] for flop in flops)
        # 24 flops of a kind: three ranks and suits; of 22,100 flops 31 % are such
        assert suits[24] / count == pytest.approx(286 * 24 / 22100, abs=0.06)


def test_random_flops() -> None:
    flops = random_flops(40, 3)
    assert len({flop.board for flop in flops}) == len(flops) == 40
    assert flops == random_flops(40, 3)
    assert flops != random_flops(40, 4)
    everything = random_flops(1755, 0)
    assert {flop.board: flop.weight for flop in everything} == {flop.board: flop.weight for flop in all_flops()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("QsJh2h", [("QsJh2h", 12)]),
        ("Qs Jh 2h", [("QsJh2h", 12)]),
        ("QsJh2h, AsKd7c", [("QsJh2h", 12), ("AsKd7c", 24)]),
        ("Q♠J♥2♥;10s 9s,8s", [("QsJh2h", 12), ("Ts9s8s", 4)]),
        ("QsJh2h:3 AsKd7c:0.5", [("QsJh2h", 3), ("AsKd7c", 0.5)]),
        ("AsKsQs AhKhQh", [("AsKsQs", 2), ("AhKhQh", 2)]),
        ("QsJh2h3c QsJh2h3s", [("QsJh2h3c", 24), ("QsJh2h3s", 12)]),
    ],
)
def test_texts(text: str, expected: list[tuple[str, float]], tmp_path: Path) -> None:
    boards = [WeightedBoard(board, weight) for board, weight in expected]
    assert read_boards(text) == boards
    path = tmp_path / "flops.txt"
    path.write_text("# mine\n" + text.replace(";", "\n") + "  # these\n\n", encoding="utf-8")
    assert read_boards(f"@{path}") == boards


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no board in the list"),
        ("QsJh", "a board has 3, 4 or 5 cards; got 2 in 'QsJh'"),
        ("QsJhXx", "a card is one of"),
        ("QsJh2h 2hQsJh", "the board 2hQsJh is in the list twice; leave one out"),
        ("QsJh2h:x", "a weight is a positive number; got 'x' in 'QsJh2h:x'"),
        ("QsJh2h:-1", "a weight is a positive number"),
        ("QsJhQs", "occurs twice"),
        ("@nowhere.txt", "there is no file nowhere.txt"),
        ("@flops.txt", "flops.txt, line 3: a board has 3, 4 or 5 cards; got 1 in '2c'"),
    ],
)
def test_wrong_texts(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flops.txt").write_text("QsJh2h\n\n2c\n", encoding="utf-8")
    with pytest.raises(CounterplayError) as caught:
        read_boards(text)
    assert message in str(caught.value)


def test_counts() -> None:
    for call in (lambda: subset_flops(0), lambda: random_flops(1756, 0)):
        with pytest.raises(CounterplayError, match="there are 1 to 1,755 kinds of flops"):
            call()
