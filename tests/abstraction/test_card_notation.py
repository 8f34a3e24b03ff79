"""Notation of card abstractions, and the sizes of games in buckets."""

from __future__ import annotations

import pytest

from counterplay.abstraction.cards import (
    deck_shape,
    parse_recipe,
)
from counterplay.errors import AbstractionError
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.betting import count_betting
from counterplay.poker.buckets.bucket_counts import count_bucket_game, count_states, deals_by_round
from tests.abstraction.test_card_abstraction import HOLDEM, LIMIT


@pytest.mark.parametrize(
    ("text", "recall", "counts"),
    [
        ("IR5/5/5/5", None, (5, 5, 25, 125)),
        ("IR169/90/9/9", None, (169, 90, 810, 7290)),
        ("IR169/IR570/IR570/570", None, (169, 570, 570, 570)),
        ("169,KE570,KE570,KO570", "imperfect", (169, 570, 570, 570)),
        ("5s", None, (5, 25, 125, 625)),
        ("5x2s", "perfect", (10, 100, 1000, 10000)),
        ("C,C,KE570,KO570", "imperfect", (169, 1286792, 570, 570)),
        ("IRR.3:.65/T:M.25/IR2/M.01", None, (3, 5 * 14, 140, 101)),
        ("IR169/IRT20:KE3000/IRT60:KE3000/T60:KO436", None, (169, 60_000, 180_000, 26_160)),  # 2010, Gibson 2014, 8.1
        ("IR169/IRT20:KE9000/IRT60:KE9000/T60:KO1308", None, (169, 180_000, 540_000, 78_480)),  # 2011
        ("IR169/IRT9:KE20000/IRT51:KE15000/T280:KO3000", None, (169, 180_000, 765_000, 840_000)),  # 2012
        ("IR169/IRH3:KE900/IRH3:KE100/H3:PH25", None, (169, 900, 100, 25)),
        ("IRH3:PS5/T7:H3:PHS2x2/H3:R.2:.5/T:H3:M.5", None, (5, 28, 84, 84 * 41 * 3)),
    ],
)
def test_notation(text: str, recall: str | None, counts: tuple[int, ...]) -> None:
    recipe = parse_recipe(text, *HOLDEM, recall)  # type: ignore[arg-type]
    assert recipe.counts(*HOLDEM) == counts
    assert parse_recipe(str(recipe), *HOLDEM) == recipe


@pytest.mark.parametrize(
    ("text", "recall", "message"),
    [
        ("5,5", None, "have 4 rounds; '5,5' has 2 entries"),
        ("5,x,5,5", None, "written like 169, PE5"),
        ("IR5/5/5/5", "perfect", "forgets, which is not perfect recall"),
        ("5,KE2x3,5,5", None, "only percentiles can be nested"),
        ("5,PHS4,5,5", None, "nested percentiles need two numbers"),
        ("5,5,5,PA5", None, "no buckets to look ahead to"),
        ("5,PA5,5,5", "perfect", "must be forgotten"),
        ("T:PE5,5,5,5", None, "no board in the first round"),
        ("KE170,5,5,5", None, "169 different hands, which cannot make 170 buckets"),
        ("PS170,5,5,5", None, "169 different hands, which cannot make 170 buckets"),
        ("0s", None, "at least one bucket"),
        ("R.5:.3,5,5,5", None, "cut points of E\\[HS\\] must increase between 0 and 1"),
        ("R1.2,5,5,5", None, "cut points of E\\[HS\\] must increase between 0 and 1"),
        ("R.5.5,5,5,5", None, "written like R.3:.6"),
        ("M0,5,5,5", None, "a threshold must be one number"),
        ("M.1:.2,5,5,5", None, "a threshold must be one number"),
        ("IRM.1/5/5/5", "perfect", "forgets, which is not perfect recall"),
        ("T20:PE5,5,5,5", None, "no board in the first round"),
        ("5,T0:PE5,5,5", None, "clustered into 1 to 65,535 classes, as in T20:KE50; got 'T0:PE5'"),
        ("5,T99999999999999999999:PE5,5,5", None, "clustered into 1 to 65,535 classes"),
        ("5,H3:KO5,5,5", None, "opponent clusters, do not use the strength against two"),
        ("5,H3:T20:KE5,5,5", None, "T20:KE50, H3:PS5; got 'H3:T20:KE5'"),
    ],
)
def test_notation_that_makes_no_sense(text: str, recall: str | None, message: str) -> None:
    with pytest.raises(AbstractionError, match=message):
        parse_recipe(text, *HOLDEM, recall)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("game", "text", "infosets"),
    [
        *[
            ("holdem.limit.2p.reverse_blinds", f"{k}s", size)
            for k, size in ((2, 96_056), (3, 476_934), (5, 3_624_290), (6, 7_486_968), (8, 23_551_424),
                            (10, 57_337_080), (12, 118_671_936))
        ],  # the thesis prints 57,330,780 for ten buckets: 700 for 7,000 in the second round
        *[
            ("holdem.limit.2p.reverse_blinds", f"IR169/IR{k}/IR{k}/{k}", size)
            for k, size in ((100, 638_352), (569, 3_625_882), (570, 3_632_252), (1175, 7_486_102), (3700, 23_570_352),
                            (9000, 57_331_352), (18630, 118_674_452), (34470, 219_575_252))
        ],
        ("holdem.limit.2p.reverse_blinds", "IR169/IR66105/IR66105/1950", 57_331_352),
        ("holdem.limit.2p.reverse_blinds", "IR10/IR100/IR1000/10000", 57_337_080),
        ("holdem.limit.2p.reverse_blinds", "IR5/IR5/IR5/5", 31_890),
        ("holdem.limit.2p.reverse_blinds", "IR169/IR180000/IR540000/78480", 797_782_952),
        *[
            ("holdem.limit.2p.reverse_blinds", f"IRC/IRC/IR{k}/{k}", size)
            for k, size in ((570, 93_667_792), (1175, 97_479_292), (3700, 113_386_792), (9000, 146_776_792),
                            (18630, 207_445_792), (60_000, 468_076_792), (180_000, 1_224_076_792),
                            (540_000, 3_492_076_792))
        ],
        ("holdem.limit.2p.reverse_blinds", "IRC/IRC/IR1500000/840000", 5_797_876_792),
        ("2-4", "5s", 1_790),
        ("2-4", "IR169/570", 41_252),
        ("holdem.limit.3p", "IR16/IR16/IR16/16", 155_388_896),
        ("holdem.limit.3p", "IR169/IR900/IR100/25", 262_115_760),
        ("holdem.limit.3p", "IR169/IR1800/IR200/50", 524_216_310),
    ],
)  # fmt: skip
def test_published_sizes(game: str, text: str, infosets: int) -> None:
    definition = STANDARD[game]
    counts = parse_recipe(text, *deck_shape(definition)).counts(*deck_shape(definition))
    assert count_bucket_game(definition, counts).infosets == infosets


def test_states_by_both_ways_of_counting() -> None:
    counts = count_betting(LIMIT)
    deals = deals_by_round(LIMIT)
    assert count_states(counts, deals) == 316_207_058_696_146_800
    assert count_states(counts, deals, all_nodes=True) == pytest.approx(9.170e17, rel=1e-4)
    pairs_of_buckets = [25**turn for turn in range(1, 5)]
    assert count_states(counts, pairs_of_buckets, all_nodes=True) == pytest.approx(6.4517e9, rel=1e-5)


def test_a_river_bucket_pays_for_others() -> None:
    size = count_bucket_game(LIMIT, (1, 1, 1, 1))
    assert [size.betting.decisions[3] / points for points in size.betting.decisions] == [708.75, 81, 9, 1]
    assert size.table_bytes(4) == 4 * (21 + 182 + 1638 + 14742)
    with pytest.raises(AbstractionError, match="has 4 rounds; got buckets for 2"):
        count_bucket_game(LIMIT, (5, 5))
