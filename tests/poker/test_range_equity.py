"""Equities of ranges: published counts, a plain enumeration, and samples."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.errors import GameError
from counterplay.poker import range_equity
from counterplay.poker.cards import parse_cards
from counterplay.poker.range_equity import EquityResult, HandEquity
from counterplay.poker.ranges import holdem_hands, parse_range, range_text
from tests.reference.equity import Hand, equities

BOARDS = 1_712_304
"""Boards of five of 48 cards."""


@pytest.mark.parametrize(
    ("first", "second", "won", "lost", "tied"),
    [
        # the output of the program hcmp2 of GNU poker-eval, as printed at brainwagon.org/2005/04/09/texas-holdem-trivia
        ("AdAc", "KhKs", 1_388_072, 317_694, 6_538),
        ("AdAc", "Td9d", 1_338_249, 367_143, 6_912),
        ("AdAc", "QcJh", 1_450_987, 254_763, 6_554),
    ],
)
def test_hand_against_hand_before_the_flop(first: str, second: str, won: int, lost: int, tied: int) -> None:
    found = cp.equity(first, second)
    assert (found.exact, found.deals) == (True, BOARDS)
    one, other = found.ranges
    assert (round(one.win * BOARDS), round(other.win * BOARDS), round(one.tie * BOARDS)) == (won, lost, tied)
    assert one.equity == pytest.approx((won + tied / 2) / BOARDS, abs=1e-15)


def test_pairs_before_the_flop() -> None:
    """AA is an 81.95 % favourite over KK: of the 36 pairs of hands 6 share both suits, 24 one and 6 none."""
    found = cp.equity("AA", "KK")
    assert found.deals == 36 * BOARDS
    aces, kings = found.ranges
    assert (round(100 * aces.equity, 3), round(100 * kings.win, 1)) == (81.946, 17.8)
    suits = [cp.equity("AsAh", kings).ranges[0].equity for kings in ("KsKh", "KsKc", "KcKd")]
    assert [round(100 * share, 1) for share in suits] == [82.6, 81.9, 81.3]  # kevingong.com/Math/KKPreflop.html
    assert aces.equity == pytest.approx((suits[0] + 4 * suits[1] + suits[2]) / 6, abs=1e-14)
    assert len({round(hand.equity, 14) for hand in aces.hands}) == 1  # all aces are equal, whatever the board's suits
    race = cp.equity("AKs", "QQ").ranges
    assert [round(100 * one.equity, 2) for one in race] == [46.05, 53.95]


def twin(texts: list[str], board: str, dead: str) -> tuple[list[dict[Hand, list[float]]], float]:
    ranges: list[dict[Hand, float]] = []
    for text in texts:
        weights, hands = parse_range(text), holdem_hands().tolist()
        ranges.append({(hands[n][0], hands[n][1]): float(weights[n]) for n in np.flatnonzero(weights)})
    return equities(ranges, parse_cards(board), parse_cards(dead))


def by_hand(rows: tuple[HandEquity, ...]) -> dict[Hand, HandEquity]:
    cards = {row.name: sorted(parse_cards(row.name)) for row in rows}
    return {(cards[row.name][0], cards[row.name][1]): row for row in rows}


@pytest.mark.parametrize(
    ("texts", "board", "dead"),
    [
        pytest.param(["66+,A9s,KQ:0.5", "QQ+,AK,T9s:0.25"], "Qs Jh 2h 8d 8c", "", id="river"),
        pytest.param(["77,A9s,QTs", "88,JTs,A2s"], "Qs Jh 2h 8d", "", id="turn, suits that cannot be renamed"),
        pytest.param(["77,98s", "88,JTs"], "Qs Js 2s 8s", "", id="turn, two suits alike"),
        pytest.param(["AcAd,AhAs", "KcKd,KhKs"], "2c 2d 3h", "", id="flop, suits renamed in pairs"),
        pytest.param(["77,A9s,QTs", "88,JTs,A2s"], "Qs Jh 2h 8d", "AcAd 8s", id="dead cards"),
        pytest.param(["77,KQs", "99:0.5,JTs", "AA,KQs"], "Qs Jh 2h 8d", "", id="three players"),
        pytest.param(["AhKh", "JTs", "22,88", "QQ:0.1,9d9c"], "Qs Jh 2h 8d", "3c", id="four players"),
        pytest.param(["AA,KK", "AA,KK"], "2s 3s 4d 5d 6h", "", id="the board plays"),
    ],
)
def test_equities_are_those_of_a_plain_enumeration(texts: list[str], board: str, dead: str) -> None:
    found = cp.equity(*texts, board=board, dead=dead)
    expected, total = twin(texts, board, dead)
    assert found.exact
    assert found.deals == pytest.approx(total, rel=1e-12)
    for one, sums in zip(found.ranges, expected, strict=True):
        rows = by_hand(one.hands)
        assert set(rows) == {hand for hand, (_, _, _, mass) in sums.items() if mass > 0}
        for hand, (won, tied, share, mass) in sums.items():
            if mass > 0:
                row = rows[hand]
                assert [row.weight, row.win, row.tie, row.equity] == pytest.approx(
                    [mass / total, won / mass, tied / mass, share / mass], abs=1e-12
                )
        assert one.equity == pytest.approx(sum(share for _, _, share, _ in sums.values()) / total, abs=1e-12)
    assert sum(one.equity for one in found.ranges) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("board", ["", "Qs Jh 2h"])
def test_the_sweep_and_the_deals_agree(board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two enumerations of the same thing; ranges overlap, so that both can hold the same hand."""
    texts, found = ["JJ,AKs:0.5,T9s", "QQ,AKs,T9s:0.25"], []
    for steps in (0, 10**9):
        monkeypatch.setattr(range_equity, "SWEEP_STEPS", steps)
        found.append(cp.equity(*texts, board=board, dead="" if board else "2c2d2h2s3c3d3h3s4c4d4h4s5c5d5h5s6c6d6h6s"))
    for one, other in zip(found[0].ranges, found[1].ranges, strict=True):
        rows, others = by_hand(one.hands), by_hand(other.hands)
        assert set(rows) == set(others)
        for hand, row in rows.items():
            again = others[hand]
            assert [row.weight, row.win, row.tie] == pytest.approx([again.weight, again.win, again.tie], abs=1e-12)


@pytest.mark.parametrize("texts", [["AA,76s", "KQs,99"], ["AA,76s", "KQs,99", "random"]])
def test_samples_agree_with_the_enumeration_within_their_error(texts: list[str]) -> None:
    exact = cp.equity(*texts, board="Qs Jh 2h 8d", exact=True)
    drawn = cp.equity(*texts, board="Qs Jh 2h 8d", samples=200_000, seed=7)
    assert (drawn.exact, drawn.deals, drawn.seed) == (False, 200_000, 7)
    for one, other in zip(exact.ranges, drawn.ranges, strict=True):
        assert other.error is not None
        assert 0 < other.error < 0.002
        assert abs(one.equity - other.equity) < 4 * other.error
        assert abs(one.win - other.win) < 0.006
        for hand, row in by_hand(other.hands).items():
            assert row.error is not None
            assert abs(by_hand(one.hands)[hand].equity - row.equity) < max(5 * row.error, 0.1)
    again = cp.equity(*texts, board="Qs Jh 2h 8d", samples=200_000, seed=7)
    assert again == drawn
    assert cp.equity(*texts, board="Qs Jh 2h 8d", samples=200_000, seed=8) != drawn


def test_many_deals_are_sampled_unless_enumeration_is_requested() -> None:
    found = cp.equity("random", "random", "random", board="Qs Jh 2h 8d")
    assert (found.exact, found.deals) == (False, 1_000_000)
    with pytest.raises(GameError, match="too many deals of hands to enumerate"):
        cp.equity("random", "random", "random", board="Qs Jh 2h 8d", exact=True)


def test_weights_of_a_range_are_accepted() -> None:
    weights = parse_range("QQ+,AKs:0.5")
    found = cp.equity(weights, "JJ", board="2c 3d 4h 5s 9c")
    assert found.ranges[0].name == range_text(weights) == "QQ+,AKs:0.5"
    assert found == cp.equity("QQ+,AKs:0.5", "JJ", board="2c 3d 4h 5s 9c")


def read(path: Path) -> list[list[str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_files(tmp_path: Path) -> None:
    found: EquityResult = cp.equity("AA:0.5,KK", "QQ", board="2c 3d 4h 5s 9c")
    found.to_csv(tmp_path / "ranges.csv")
    found.to_csv(tmp_path / "hands.csv", hands=True)
    found.to_html(tmp_path / "page.html", hands=True)
    head, *rows = read(tmp_path / "ranges.csv")
    assert head == ["range", "name", "weight", "equity", "win", "tie", "error"]
    assert [row[:2] for row in rows] == [["1", "AA:0.5,KK"], ["2", "QQ"]]
    head, *rows = read(tmp_path / "hands.csv")
    assert head[:3] == ["range", "hand", "weight"]
    assert [(int(n), name, float(w), float(e)) for n, name, w, e, *_ in rows] == [
        (number, row.name, row.weight, row.equity) for number, row in found.rows(hands=True)
    ]
    page = (tmp_path / "page.html").read_text("utf-8")
    assert all(f">{row.name}<" in page for _, row in found.rows(hands=True))
    assert "hands" not in found.to_dict()["ranges"][0]
    assert len(found.to_dict(hands=True)["ranges"][0]["hands"]) == 12


@pytest.mark.parametrize(
    ("ranges", "settings", "message"),
    [
        (["AA"], {}, "equity is for 2 to 10 ranges; got 1"),
        (["AA", "KX"], {}, "cannot read word 1 of the range 2, 'KX'"),
        (["AsAh", "AsKs"], {}, "the ranges cannot be dealt together: their hands share cards"),
        (["AA", "AA", "AsAh"], {}, "cannot be dealt together: their hands share cards with each other"),
        (["AA", "KK"], {"board": "AsAhAdAc"}, "range 1 has no hand left beside AsAhAdAc; got 'AA'"),
        (["AA", "KK"], {"dead": "AsAhAdAc"}, "range 1 has no hand left beside"),
        (["AA", "KK"], {"board": "AsAh2c3c4c5c"}, "a board has at most 5 cards; got 6"),
        (["AA", "KK"], {"board": "2c", "dead": "2c"}, "2c is on the board and dead; leave it out of one"),
        (["AA", "KK"], {"samples": 1}, "sample 2 deals or more; got 1"),
        (["AA", "KK"], {"samples": 10, "exact": True}, "not both"),
        (["AA", "KK:0"], {}, "range 2 has no hands; got 'KK:0'"),
    ],
)
def test_misuse(ranges: list[str], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(GameError) as caught:
        cp.equity(*ranges, **settings)
    assert message in str(caught.value)
