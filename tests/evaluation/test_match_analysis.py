"""Analyses of logged matches: which hands are used, money and estimates, duplicate deals, and the summaries."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterplay.errors import GameError
from counterplay.evaluation.matches import MatchAnalysis, MatchHands, Summary, analyse, read_match
from counterplay.evaluation.matches.estimator import PARTIAL, read_estimator
from counterplay.evaluation.matches.tree_estimates import TreeEstimates
from counterplay.forms import open_game
from counterplay.poker.acpc.dealing import Deal, deals
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_log import HandRecord, format_header
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.phh import format_phhs, from_record
from counterplay.runtime.progress import Progress
from counterplay.strategy.tabular import TabularStrategy
from tests.evaluation.test_poker_estimates import Poker, poker
from tests.modelling.logs import random_records

LEDUC, KUHN = STANDARD["leduc.limit.2p"], STANDARD["kuhn.limit.2p"]
HOLDEM = STANDARD["holdem.limit.2p.reverse_blinds"]
GAME = "leduc_limit_2p"


def written(path: Path, records: list[HandRecord] | list[str], header: list[str] | None = None) -> Path:
    lines = [one if isinstance(one, str) else one.text() for one in records]
    path.write_text("".join(f"{line}\n" for line in [*(header or []), *lines]), encoding="utf-8")
    return path


def as_seen_by(record: HandRecord, name: str) -> HandRecord:
    """Without the cards that a player did not see."""
    return dataclasses.replace(record, deal=record.state().seen_by(record.names.index(name)).deal)


def without(record: HandRecord, name: str) -> HandRecord:
    """Without the cards of a player."""
    hole = tuple(() if who == name else cards for who, cards in zip(record.names, record.deal.hole, strict=True))
    return dataclasses.replace(record, deal=dataclasses.replace(record.deal, hole=hole))


def money(records: list[HandRecord], name: str) -> list[float]:
    return [float(one.values[one.names.index(name)]) for one in records]


def turned(count: int, seed: int) -> list[HandRecord]:
    """The deals of ``random_records`` with the players in the other seats, who bet otherwise."""
    found = []
    for one, deal in zip(random_records(LEDUC, count, seed + 50), deals(LEDUC, seed), strict=False):
        board = deal.board[: LEDUC.board_ends[one.betting.round]]
        found.append(HandRecord.of(MatchState(one.hand_id, one.betting, Deal(deal.hole, board)), one.names[::-1]))
    return found


def uniform(name: str = GAME) -> TabularStrategy:
    return TabularStrategy.uniform(open_game(name, "history"))


@pytest.fixture
def records() -> list[HandRecord]:
    return random_records(LEDUC, 60, seed=3)


@pytest.fixture
def log(tmp_path: Path, records: list[HandRecord]) -> Path:
    return written(tmp_path / "a.log", records, format_header("m", "leduc.limit.2p.game", 60, 3, ()))


def tree_scores(game: Poker, hands: MatchHands, name: str, strategies: list[Any]) -> list[float]:
    """What the estimator on the compiled game says of each hand."""
    place = {key: end for end, key in game.hands.items()}
    rows = [TreeEstimates(game.tree, seat, *strategies).estimate(read_estimator(name)) for seat in (0, 1)]
    found = []
    for hand in hands.hands:
        assert hand.other is not None
        holes = (hand.own, hand.other) if hand.position == 0 else (hand.other, hand.own)
        found.append(float(rows[hand.position][place[hand.end, holes, hand.board]]))
    return found


# Hands ----------------------------------------------------------------------------------------------------------


def test_hands_are_those_of_the_log(log: Path, records: list[HandRecord]) -> None:
    for name, other in (("Ann", "Bob"), ("Bob", "Ann")):
        hands = read_match(log, name)  # the game is in the header
        assert (hands.game, hands.player, hands.opponents) == (GAME, name, (other,))
        assert hands.won.tolist() == money(records, name)
        assert [hand.position for hand in hands.hands] == [one.names.index(name) for one in records]
        assert [hands.tree.text(hand.end) for hand in hands.hands] == [one.betting.text() for one in records]
        assert [hand.board for hand in hands.hands] == [one.state().board for one in records]
        assert hands.place[0] == f"{log}, line 2"
        assert (hands.deals, hands.unseen, hands.elsewhere, hands.hidden, hands.skipped) == (60, 0, 0, 0, 0)


@pytest.mark.parametrize(("rules", "name"), [(LEDUC, "leduc"), (KUHN, "kuhn")])
def test_money_is_what_was_won(rules: GameDefinition, name: str, tmp_path: Path) -> None:
    records = random_records(rules, 40, seed=1)
    log = written(tmp_path / "a.log", records)
    found = analyse(read_match(log, "Bob", name))
    won = np.array(money(records, "Bob"))
    (only,) = found.summaries
    assert (only.name, only.deals, only.hands) == ("money", 40, 40)
    assert only.mean == pytest.approx(won.mean())
    assert only.half == pytest.approx(1.96 * won.std(ddof=1) / math.sqrt(40))
    assert found.mbb(only.mean) == pytest.approx(1000 * won.mean() / rules.big_blind)
    assert found.scores[:, 0].tolist() == won.tolist()
    both = analyse(read_match(log, "Ann", name)).summaries[0]
    assert both.mean == pytest.approx(-only.mean)


def test_estimates_are_those_of_the_compiled_game(log: Path) -> None:
    game, hands = poker(GAME), read_match(log, "Ann")
    names = ["ef", "ac", "ac+ef"]
    found = analyse(hands, game.played, estimators=",".join(names))
    assert [one.name for one in found.summaries] == ["money", *names]  # on-policy, basic is money
    for place, name in enumerate(names, 1):
        np.testing.assert_allclose(found.scores[:, place], tree_scores(game, hands, name, [game.played]), atol=1e-12)
    other = analyse(hands, game.played, game.evaluated, estimators=names)
    assert [one.name for one in other.summaries] == ["money", "basic", *names]
    assert other.evaluated is not None
    strategies = [game.played, game.evaluated]
    for place, name in enumerate(["basic", *names], 1):
        np.testing.assert_allclose(other.scores[:, place], tree_scores(game, hands, name, strategies), atol=1e-12)


def test_all_are_all_that_can_be_computed(log: Path) -> None:
    hands, game = read_match(log, "Ann"), poker(GAME)
    names = "money bc-divat ef ac ac+ef ac+bc-divat ac+ef+bc-divat aivat"  # divat needs a card abstraction
    found = analyse(hands, game.played, opponent=game.others)
    assert [one.name for one in found.summaries] == names.split()
    off = analyse(hands, game.played, game.evaluated)
    assert [one.name for one in off.summaries] == ["money", "basic", *names.split()[1:-1]]
    partial = analyse(hands, game.played, information="partial")
    assert [one.name for one in partial.summaries] == [
        "money",
        *(one.name for one in PARTIAL[1:] if one.values != "divat"),
    ]
    assert (found.partial, partial.partial) == (False, True)
    with pytest.raises(GameError, match=r"there is no 'ac\+e' here; did you mean 'ac\+ef'"):
        found.summary("ac+e")
    assert found.summary("aivat").deviation < found.summary("money").deviation


# Duplicate ------------------------------------------------------------------------------------------------------


def test_duplicate_logs_are_one_deal_each(tmp_path: Path, log: Path) -> None:
    """The other log has the same cards, players changed seats, and another betting."""
    other = written(tmp_path / "b.log", turned(60, 3))
    hands = read_match([log, other], "Ann")
    assert (len(hands.hands), hands.deals) == (120, 60)
    found = analyse(hands, uniform())
    assert found.scores.shape == (60, 8)
    first, second = (analyse(read_match(one, "Ann", GAME), uniform()).scores for one in (log, other))
    np.testing.assert_allclose(found.scores, (first + second) / 2, atol=1e-12)
    money = found.summary("money")
    assert (money.deals, money.hands) == (60, 120)
    assert money.half == pytest.approx(1.96 * found.scores[:, 0].std(ddof=1) / math.sqrt(60))


def test_mirrored_play_is_worth_nothing(tmp_path: Path, log: Path, records: list[HandRecord]) -> None:
    """D-33."""
    mirror = written(tmp_path / "b.log", [dataclasses.replace(one, names=one.names[::-1]) for one in records])
    found = analyse(read_match([log, mirror], "Ann")).summary("money")
    assert (found.mean, found.half, found.significant) == (0.0, 0.0, 0)


def test_hands_with_other_cards_or_numbers_are_other_deals(tmp_path: Path, log: Path) -> None:
    later = [dataclasses.replace(one, hand_id=one.hand_id + 60) for one in random_records(LEDUC, 60, seed=3)]
    hands = read_match([log, written(tmp_path / "b.log", later)], "Ann")
    assert (len(hands.hands), hands.deals) == (120, 120)


def test_a_shorter_second_log_does_not_change_what_a_hand_won(
    tmp_path: Path, log: Path, records: list[HandRecord]
) -> None:
    """The mean is that of hands, or the match would not be the money that was won."""
    second = turned(60, 3)[:10]
    found = analyse(read_match([log, written(tmp_path / "b.log", second)], "Ann")).summary("money")
    assert (found.deals, found.hands) == (60, 70)
    assert found.mean * found.hands == pytest.approx(sum(money(records, "Ann") + money(second, "Ann")), abs=1e-9)


def test_cards_that_only_showdowns_show_do_not_give_them_another_weight(
    tmp_path: Path, records: list[HandRecord]
) -> None:
    """With partial information only deals that were shown twice are known to be one deal."""
    both = [records, turned(60, 3)]
    logs = [
        written(tmp_path / f"{place}.log", [as_seen_by(one, "Ann") for one in some]) for place, some in enumerate(both)
    ]
    found = analyse(read_match(logs, "Ann", GAME)).summary("money")
    assert found.mean == pytest.approx(np.mean([money(some, "Ann") for some in both]), abs=1e-9)


def test_independent_matches_have_no_deals_in_common(tmp_path: Path, log: Path) -> None:
    """In a small deck, hands with the same number often have the same private cards; in other seats only it is one."""
    other = random_records(LEDUC, 60, seed=4)
    hands = read_match([log, written(tmp_path / "b.log", other)], "Ann")
    assert (len(hands.hands), hands.deals) == (120, 120)


# Partial information --------------------------------------------------------------------------------------------


def test_missing_cards_make_information_partial(tmp_path: Path, log: Path, records: list[HandRecord]) -> None:
    folds = sum(not one.betting.showdown for one in records)
    assert 5 < folds < 55
    hidden = written(tmp_path / "b.log", [as_seen_by(one, "Ann") for one in records])
    hands = read_match(hidden, "Ann", GAME)
    assert hands.unseen == folds
    found, wanted = analyse(hands, uniform()), analyse(read_match(log, "Ann"), uniform(), information="partial")
    assert found.partial
    assert found.to_dict()["information"] == "partial"
    assert found.to_dict()["opponent_unseen"] == folds
    assert [one.name for one in found.summaries] == [one.name for one in wanted.summaries]
    np.testing.assert_allclose(found.scores, wanted.scores, atol=1e-12)
    with pytest.raises(GameError, match=f"{folds} hands do not show the opponent's cards; use partial information"):
        analyse(hands, uniform(), information="full")
    with pytest.raises(GameError, match="needs the opponent's cards of all hands"):
        analyse(hands, uniform(), estimators="aivat")
    with pytest.raises(GameError, match="information is auto, full or partial; got 'half'"):
        analyse(hands, uniform(), information="half")
    assert analyse(hands).summary("money").mean == pytest.approx(np.mean(money(records, "Ann")))


def test_partial_information_at_showdowns_is_full(log: Path, records: list[HandRecord]) -> None:
    """D-31, for all cards."""
    hands, names = read_match(log, "Ann"), ["ac", "ac+bc-divat", "bc-divat"]
    full, part = (analyse(hands, uniform(), None, None, names, which).scores for which in ("full", "partial"))
    shown = np.array([one.betting.showdown for one in records])
    np.testing.assert_allclose(full[shown], part[shown], atol=1e-12)
    assert np.abs(full - part)[~shown].max() > 0.01


def test_showdowns_without_the_opponents_cards_are_broken(tmp_path: Path, records: list[HandRecord]) -> None:
    log = written(tmp_path / "a.log", [without(one, "Bob") for one in records])
    first = 1 + next(place for place, one in enumerate(records) if one.betting.showdown)
    with pytest.raises(GameError, match=rf"a\.log, line {first}: a showdown without the opponent's cards.*skip leaves"):
        read_match(log, "Ann", GAME)
    hands = read_match(log, "Ann", GAME, "skip")
    folds = [one for one in records if not one.betting.showdown]
    assert (len(hands.hands), hands.skipped) == (len(folds), 60 - len(folds))
    assert hands.won.tolist() == money(folds, "Ann")
    assert len(hands.broken) == 10


def test_hands_without_own_cards_are_counted(tmp_path: Path, records: list[HandRecord]) -> None:
    folded = [one for one in records if not one.betting.showdown]
    log = written(tmp_path / "a.log", [*records, *(without(one, "Ann") for one in folded)])
    hands = read_match(log, "Ann", GAME)
    assert (len(hands.hands), hands.hidden) == (60, len(folded))
    nothing = written(tmp_path / "b.log", [without(one, "Ann") for one in folded])
    with pytest.raises(GameError, match=f"no hand of Ann can be used: 0 are without.* {len(folded)} without its cards"):
        read_match(nothing, "Ann", GAME)


# Broken hands, other games, other names -------------------------------------------------------------------------


def test_broken_lines(tmp_path: Path, records: list[HandRecord]) -> None:
    lines = [one.text() for one in records]
    lines[4], lines[30] = "STATE:4:rubbish", lines[30].replace(":Ann|Bob", ":Ann|Ann").replace(":Bob|Ann", ":Ann|Ann")
    log = written(tmp_path / "a.log", lines)
    with pytest.raises(GameError, match=r"a\.log, line 5: .* \(--broken skip leaves such hands out\)"):
        read_match(log, "Ann", GAME)
    hands = read_match(log, "Ann", GAME, "skip")
    assert (len(hands.hands), hands.skipped) == (58, 2)
    assert [text.partition(": ")[0] for text in hands.broken] == [f"{log}, line 5", f"{log}, line 31"]
    assert "Ann sits in several seats" in hands.broken[1]
    assert hands.won.tolist() == money([one for place, one in enumerate(records) if place not in (4, 30)], "Ann")
    with pytest.raises(GameError, match="refused or skipped; got 'drop'"):
        read_match(log, "Ann", GAME, "drop")


def test_values_that_do_not_follow_are_refused(tmp_path: Path, records: list[HandRecord]) -> None:
    wrong = dataclasses.replace(records[3], values=tuple(2 * value + 1 for value in records[3].values))
    log = written(tmp_path / "a.log", [*records[:3], wrong, *records[4:]])
    with pytest.raises(GameError, match=r"line 4: the players of hand 3 have won"):
        read_match(log, "Ann", GAME)


def test_names(tmp_path: Path, log: Path, records: list[HandRecord]) -> None:
    with pytest.raises(GameError, match="nobody is called 'An' in the logs; did you mean 'Ann'"):
        read_match(log, "An")
    others = [dataclasses.replace(one, names=("Cy", "Dan")) for one in random_records(LEDUC, 7, seed=9)]
    hands = read_match([log, written(tmp_path / "b.log", others)], "Ann")
    assert (len(hands.hands), hands.elsewhere, hands.opponents) == (60, 7, ("Bob",))


def test_hands_of_another_game(tmp_path: Path, log: Path) -> None:
    with pytest.raises(GameError, match="is a log of leduc_limit_2p, not of kuhn"):
        read_match(log, "Ann", "kuhn")
    shown = [one for one in random_records(KUHN, 30) if one.betting.showdown]
    with pytest.raises(GameError, match=r"k\.log is no log of leduc; it fits kuhn_limit_2p; line 1: the board"):
        read_match(written(tmp_path / "k.log", shown), "Ann", "leduc")
    three = written(tmp_path / "3.log", random_records(STANDARD["kuhn.limit.3p"], 5))
    with pytest.raises(GameError, match="poker with two players; kuhn_limit_3p is something else"):
        read_match(three, "Ann", "kuhn_limit_3p")
    with pytest.raises(GameError, match="poker with two players; goofspiel is something else"):
        read_match(log, "Ann", "goofspiel")
    mixed = written(tmp_path / "m.log", [*random_records(LEDUC, 3), *random_records(KUHN, 1)])
    with pytest.raises(GameError, match=r"m\.log, line 4: "):
        read_match(mixed, "Ann", GAME)


def test_strategies_that_do_not_fit(log: Path) -> None:
    hands, kuhn = read_match(log, "Ann"), uniform("kuhn")
    for strategies in ((kuhn,), (uniform(), kuhn), (uniform(), None, kuhn)):
        with pytest.raises(GameError, match="rules are those of another game"):
            analyse(hands, *strategies)
    for more in ({"evaluate": kuhn}, {"opponent": kuhn}, {"estimators": "ac"}):
        with pytest.raises(GameError, match="estimators need the strategy that the player played"):
            analyse(hands, **more)  # type: ignore[arg-type]
    with pytest.raises(GameError, match="aivat is for the strategy that was played"):
        analyse(hands, uniform(), uniform(), estimators="aivat")


def test_a_strategy_that_never_plays_so(log: Path) -> None:
    hands, tree = read_match(log, "Ann"), open_game(GAME, "history")
    table = np.zeros(tree.num_entries)
    calls = [int(first) + [*tree.actions_of(k)].index("c") for k, first in enumerate(tree.infoset_offset[:-1])]
    table[calls] = 1.0
    always_call = TabularStrategy.from_tree(tree, table)
    with pytest.raises(GameError, match=r"a\.log, line \d+: the strategy never plays this hand so; Ann did not play"):
        analyse(hands, always_call)
    assert np.isfinite(analyse(hands, uniform(), always_call).scores).all()


def test_the_leduc_of_the_paper_is_the_same_game(log: Path) -> None:
    hands = read_match(log, "Ann", "leduc")
    np.testing.assert_allclose(
        analyse(hands, uniform("leduc")).scores, analyse(read_match(log, "Ann"), uniform()).scores, atol=1e-12
    )


def test_hand_histories(tmp_path: Path) -> None:
    records = random_records(HOLDEM, 12, seed=2)
    path = tmp_path / "a.phhs"
    path.write_text(format_phhs(map(from_record, records)), encoding="utf-8")
    hands = read_match(path, "Ann", "holdem_limit_2p")
    log = read_match(written(tmp_path / "a.log", records), "Ann", "holdem_limit_2p")
    assert hands.won.tolist() == log.won.tolist() == money(records, "Ann")
    assert [(one.end, one.position, one.own) for one in hands.hands] == [
        (one.end, one.position, one.own) for one in log.hands
    ]
    assert [one.board for one in hands.hands] == [one.state().board for one in records]


def test_progress_is_reported(log: Path) -> None:
    seen: list[Progress] = []
    hands = read_match(log, "Ann", progress=seen.append)
    assert [one.stage for one in seen] == ["hands read"]
    assert len(hands.hands) == 60


def test_one_hand_has_no_interval(tmp_path: Path, records: list[HandRecord]) -> None:
    found = analyse(read_match(written(tmp_path / "a.log", records[:1]), "Ann", GAME), uniform())
    assert all(math.isinf(one.half) and one.significant == 0 for one in found.summaries)
    assert all(row["mbb_95"] is None and row["more_hands"] is None for row in found.to_dict()["estimates"])
    assert "MatchAnalysis of Ann, 1 hands" in repr(found)


def test_tables(log: Path, tmp_path: Path) -> None:
    found: MatchAnalysis = analyse(read_match(log, "Ann"), uniform())
    path = tmp_path / "a.csv"
    found.to_csv(path)
    head, *rows = path.read_text().splitlines()
    assert head == "estimator,mbb,mbb_95,deviation_mbb,money_hands,more_hands,result,significant"
    assert [row.split(",")[0] for row in rows] == [one.name for one in found.summaries]
    assert float(rows[0].split(",")[1]) == pytest.approx(found.mbb(found.summaries[0].mean))


# Summaries ------------------------------------------------------------------------------------------------------


def test_a_summary_by_hand() -> None:
    """Four deals of two hands; mean 1, deviation √(10/3)."""
    one = Summary.of("ac", np.array([3.0, -1.0, 2.0, 0.0]), 8, money=4.0)
    spread = math.sqrt(10 / 3)
    assert (one.deals, one.hands, one.mean) == (4, 8, 1.0)
    assert one.deviation == pytest.approx(spread)
    assert one.half == pytest.approx(1.96 * spread / 2)
    assert one.money_hands == pytest.approx(8 * 16 / (10 / 3))  # 38.4 hands
    # 1.96² x 10/3 = 12.805 deals, of two hands each: 25.6, so 26 - 8
    assert one.more_hands == 18
    assert one.error() == pytest.approx(math.sqrt(10 / 3 * 2 / 1000))
    assert one.error(bias=0.5, hands=10) == pytest.approx(math.sqrt(0.25 + 10 / 3 * 2 / 10))
    assert one.significant == 0


def test_money_is_worth_itself() -> None:
    one = Summary.of("money", np.array([1.0, 2.0, 6.0]), 3)
    assert one.money_hands == pytest.approx(3)


@pytest.mark.parametrize(
    ("mean", "hands", "big_blind", "result"),
    [(0.5, 100, 2, 0), (0.51, 100, 2, 1), (-0.5, 100, 2, 0), (-0.51, 100, 2, -1), (25.1, 1, 1, 1), (0.0, 10, 1, 0)],
)
def test_a_match_is_won_by_more_than_25_big_blinds(mean: float, hands: int, big_blind: float, result: int) -> None:
    one = Summary("money", hands, hands, mean, 1.0, 1.0, 1.0)
    assert one.result(big_blind) == result
    assert one.to_dict(big_blind)["result"] == {1: "win", 0: "tie", -1: "loss"}[result]


@pytest.mark.parametrize(
    ("mean", "more", "significant"),
    [(1.65, True, 1), (1.64, True, 0), (-1.65, True, -1), (-1.64, True, 0), (1.97, False, 1), (0.0, True, 0)],
)
def test_one_sided_significance(mean: float, more: bool, significant: int) -> None:
    """The standard error is 1: 100 deals with a deviation of 10."""
    one = Summary("money", 100, 100, mean, 1.96, 10.0, 10.0)
    assert one.significant == significant
    assert (one.more_hands > 0) == more


def test_nothing_varies_or_nothing_is_won() -> None:
    sure = Summary.of("x", np.array([2.0, 2.0]), 2, money=1.0)
    assert (sure.half, sure.money_hands, sure.more_hands, sure.significant) == (0.0, math.inf, 0.0, 1)
    even = Summary.of("x", np.array([2.0, -2.0]), 2)
    assert (even.more_hands, even.significant) == (math.inf, 0)
    assert even.to_dict()["more_hands"] is None
    single = Summary.of("x", np.array([5.0]), 1)
    assert (single.half, single.more_hands, single.significant) == (math.inf, math.inf, 0)
    assert single.to_dict(2.0)["money_hands"] is None
