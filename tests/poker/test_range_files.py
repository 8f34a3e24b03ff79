"""Ranges from files: named, one on each line, lists of weights, and what is said of wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.errors import CounterplayError
from counterplay.poker.postflop.locks import parse_lock
from counterplay.poker.postflop.spots import Spot
from counterplay.poker.range_files import range_of, ranges_of, read_ranges, spot_ranges
from counterplay.poker.ranges import HANDS, parse_range, weight_list

Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes ranges.txt into the current folder."""
    monkeypatch.chdir(tmp_path)

    def put(text: str) -> str:
        Path("ranges.txt").write_text(text, encoding="utf-8")
        return "ranges.txt"

    return put


OPEN, CALL = parse_range("66+,A8s+,AKo:0.5"), parse_range("22+,AQs")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("66+,A8s+,AKo:0.5\n22+,AQs\n", ["", ""], id="one on each line"),
        pytest.param("OOP: 66+ A8s+ [50]AKo[/50]\nIP:22+ AQs", ["OOP", "IP"], id="named"),
        pytest.param("# mine\n\noop:\n  66+,A8s+\n  AKo:0.5 # half\nip: 22+\nAQs\n", ["oop", "ip"], id="over lines"),
        pytest.param("66+,\nA8s+,[50]\nAKo\n[/50]\n\n22+\n,AQs\n", ["", ""], id="continued without names"),
        pytest.param(
            "\ufeffUTG open : 66+,A8s+,AKo:0.5\r\nBB vs UTG : 22+,AQs\r\n", ["UTG open", "BB vs UTG"], id="bom"
        ),
        pytest.param(f"{weight_list(OPEN)}\n{weight_list(CALL)}\n", ["", ""], id="weights of PioSOLVER"),
        pytest.param(weight_list(OPEN).replace(" ", "\n") + "\n" + weight_list(CALL), ["", ""], id="a weight a line"),
        pytest.param(f"OOP: {weight_list(OPEN)}\nIP: {weight_list(CALL)}\n", ["OOP", "IP"], id="named weights"),
    ],
)
def test_formats(text: str, names: list[str], write: Write) -> None:
    found = read_ranges(write(text))
    assert [one.name for one in found] == names
    for one, expected in zip(found, (OPEN, CALL), strict=True):
        assert (parse_range(one.text) == expected).all()


def test_pairs_on_lines_are_not_weights(write: Write) -> None:
    assert [one.text for one in read_ranges(write("22\n33 44\n"))] == ["22", "44-33"]


def test_the_range_of_a_player(write: Write) -> None:
    path = write("BTN: 22+\nOOP: AA\nip: KK\n")
    assert range_of(f"@{path}", "oop") == range_of(f"@{path}:oop", "ip") == range_of(path, "OOP") == "AA"
    assert range_of(f"@{path}: btn", "oop") == "22+"
    assert spot_ranges(path) == ("AA", "KK")
    assert spot_ranges(write("AA\nKK")) == ("AA", "KK")
    assert range_of("QQ", "oop") == "QQ"
    assert [one.text for one in ranges_of(["QQ", f"@{path}"])] == ["QQ", "AA", "KK"]


def test_wherever_a_range_is_given(write: Write) -> None:
    path = write("OOP: AA,KQs\nIP: KK\n")
    spot = Spot("KsTd7h4c2s", 60, 50, f"@{path}", f"@{path}").subgame()
    assert (spot.oop, spot.ip) == ("AA,KQs", "KK")  # what is solved does not depend on the file
    board = "2c 3d 4h 5s 9c"
    assert [one.name for one in cp.equity(f"@{path}", board=board).ranges] == ["OOP", "IP"]
    assert (
        cp.equity(f"@{path}", board=board).ranges[0].equity == cp.equity("AA,KQs", "KK", board=board).ranges[0].equity
    )
    lock = parse_lock(f"call @{path}:ip; fold rest", ("fold", "call"))
    assert (lock == parse_lock("call KK; fold rest", ("fold", "call"))).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AA\n\nKX,QQ\n", "ranges.txt, line 3: cannot read word 1 of the range, 'KX' (character 1)"),
        ("OOP: AA,\n KK,\n Q1\nIP: QQ", "ranges.txt, line 3: cannot read word 1 of the range OOP, 'Q1'"),
        ("OOP: AA\nIP: KK:2\n", "ranges.txt, line 2: a weight is a number from 0 to 1; got '2'"),
        ("OOP: AA\nIP: [50]KK\n", "ranges.txt, line 2: word 1 of the range IP, '[50]' (character 1) is not closed"),
        ("OOP: AA\nIP:\n", "ranges.txt, line 2: the range IP has no hands"),
        ("OOP: AA\noop: KK", "ranges.txt, line 2: there is already a range named 'oop'"),
        ("AA\nIP: KK", "ranges.txt, line 1: the range has no name, but others in the file have one"),
        ("# nothing\n", "ranges.txt has no range"),
        ("0.5 " * (HANDS - 1), "ranges.txt is a list of 1,325 numbers; a list of weights has 1,326"),
        ("UTG: AA\nBTN: KK", "ranges.txt has 2 ranges (UTG, BTN); name two of them OOP and IP"),
        ("AA\nKK\nQQ", "ranges.txt has 3 ranges; name two of them OOP and IP"),
    ],
)
def test_wrong_files(text: str, message: str, write: Write) -> None:
    path = write(text)
    with pytest.raises(CounterplayError) as caught:
        spot_ranges(path)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("@nowhere.txt", "there is no file nowhere.txt"),
        ("@.", "cannot read .: "),
        ("@ranges.txt:BTM", "ranges.txt has no range named 'BTM'; did you mean 'BTN'?"),
        ("@ranges.txt", "ranges.txt has 2 ranges (UTG, BTN); choose one, such as @ranges.txt:UTG"),
        ("ranges.txt", "ranges.txt has 2 ranges (UTG, BTN); choose one, such as @ranges.txt:UTG"),
    ],
)
def test_wrong_references(given: str, message: str, write: Write) -> None:
    write("UTG: AA\nBTN: KK")
    with pytest.raises(CounterplayError) as caught:
        range_of(given, "oop")
    assert str(caught.value).startswith(message)


def test_lines_that_may_be_one_range_are_not_joined(write: Write) -> None:
    with pytest.raises(CounterplayError, match="has 2 ranges; leave one line, end a line with a comma"):
        range_of(f"@{write('AA' + chr(10) + 'KK')}", "oop")
