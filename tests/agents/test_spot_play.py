"""A person at a postflop spot: what is shown and typed, seats, hints, rake, the score, and who may play there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.agents.entries import make_entry
from counterplay.agents.human_match import HumanMatch, HumanResult, Table, open_table
from counterplay.agents.match_game import MatchGame, open_match_game
from counterplay.errors import CounterplayError, GameError
from counterplay.poker.cards import plain_spelling
from counterplay.poker.postflop.spot_game import SpotGame
from counterplay.poker.postflop.subgame import Subgame
from counterplay.strategy.public_strategy import PublicStrategy
from tests.agents.test_human_match import answering
from tests.poker.test_postflop import random_profile

RIVER = Subgame("QsJh2h3c8d", 50, 60, "AsAh", "KsKh", bets="50%,a", raises="a", rake=0.05, rake_cap=4)
TURN = Subgame("QsJs2d3d", 20, 30, "AsAh,9c9d", "KcQc,7c7d", bets="50%", raises="100%")
FLOP = Subgame("QsJh2h", 20, 30, "AsAh,9c9d", "KcQc,7c7d", bets="50%", raises="a")


def table_of(game: Subgame, against: str | None = None) -> tuple[Table, PublicStrategy]:
    profile = random_profile(game.tree(), 3)
    mine = make_entry(profile, "spot")
    played = MatchGame(game.name, SpotGame(profile.tree))
    return Table(played, [mine if against is None else make_entry(against)], mine), profile


def play(
    game: Subgame, answers: list[str], against: str | None = None, **options: object
) -> tuple[HumanResult, list[str]]:
    lines: list[str] = []
    match = HumanMatch(table_of(game, against)[0], **options)  # type: ignore[arg-type]
    return match.play(answering(answers), lines.append), lines


def test_what_hands_look_like() -> None:
    """A bet that is called, and one that is not: chips of the street, percentages of the pot, the rake."""
    asked: list[str] = []
    answers, lines = iter(["b25", "c", "bet"]), list[str]()

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return next(answers)

    result = HumanMatch(table_of(RIVER, "always-call")[0], hands=2, seed=1).play(ask, lines.append)
    assert lines == [
        "QsJh2h3c8d, pot 50, stack 60, rake 5% up to 4: a postflop spot; both hands are dealt from its ranges.",
        "Each player has put in half of the pot, 25 chips; bets are those of the spot, in chips of the street.",
        "Against always-call; seed 1. Type ? for help, q to stop.",
        "",
        "Hand 1: you have A♠ A♥, out of position (oop)",
        "  River: Q♠ J♥ 2♥ 3♣ 8♦; pot 50, 60 behind",
        "  ip calls 25",
        "  showdown: you A♠ A♥ (a pair); ip K♠ K♥ (a pair)",
        "  the house takes 4",
        "  you win 46 (92% of the pot); score +46 after 1 hand",
        "",
        "Hand 2: you have K♠ K♥, in position (ip)",
        "  River: Q♠ J♥ 2♥ 3♣ 8♦; pot 50, 60 behind",
        "  oop checks",
        "  showdown: you K♠ K♥ (a pair); oop A♠ A♥ (a pair)",
        "  the house takes 2.5",
        "  you lose 25 (50% of the pot); score +21 after 2 hands",
    ]
    assert asked == ["  pot 50; c check, b25 bet 25 (50%), a bet 60 (all in, 120%) > "] * 2
    assert result.text == "Your score: +21 chips in 2 hands (+21% of the pot a hand)."
    found = result.to_dict()
    assert (found["chips"], found["pot_percent"], found["mbb"]) == (21.0, 21.0, None)


def test_words_for_actions() -> None:
    """In the words of other tools; what is not there is refused with what is."""
    for words in (["nonsense", "b30", "", "c"], ["x"], ["CHECK"]):
        _, lines = play(RIVER, words, "always-call", hands=1, seed=1)
        wrong = [line for line in lines if "is not possible here" in line]
        assert len(wrong) == len(words) - 1
        assert all(line.endswith("type c check, b25 bet 25 (50%), a bet 60 (all in, 120%)") for line in wrong)
    _, lines = play(RIVER, ["all-in"], "always-call", hands=1, seed=1)
    assert "  ip calls 60 (all in)" in lines
    _, lines = play(RIVER, ["r"], "always-raise", hands=1, seed=1, seat=1)  # all in is the one raise
    assert "  oop bets 25 (50% of the pot)" in lines
    assert "  oop calls 35 (all in)" in lines


@pytest.mark.parametrize("game", [RIVER, TURN, FLOP], ids=["river", "turn", "flop"])
def test_hints_are_the_strategy_on_every_street(game: Subgame) -> None:
    """What is shown is the row of the person's infoset, which is read from the screen."""
    table, profile = table_of(game)
    lines: list[str] = []
    result = HumanMatch(table, hands=12, seed=4, hints=True).play(answering(["c"] * 200), lines.append)
    assert result.finished
    hand, board, words, own, boards, checked = "", "", list[str](), 0, set[int](), 0
    for line in lines:
        if line.startswith("Hand"):
            match = re.search(r"you have (.*), .*\((oop|ip)\)", line)
            assert match is not None
            hand, own, words = "".join(plain_spelling(match[1]).split()), ("oop", "ip").index(match[2]), []
        elif match := re.match(r"  (?:Flop|Turn|River): (.*); pot", line):
            if board:
                boards.add(len(board))
            board = "".join(plain_spelling(match[1]).split())
        elif match := re.match(r"  (?:oop|ip) (check|call|bet|raise)s( to)? ?([\d.]*)( \(all in)?", line):
            size = "" if match[1] == "call" else match[3]
            words.append("allin" if size and match[4] else match[1] + size)
        elif line.startswith("  hint: "):
            row = profile.probabilities(own, f"{hand}/{board}:{' '.join(words)}")
            shown = [float(share) for share in re.findall(r"([\d.]+) %", line)]
            assert shown == pytest.approx([100 * share for share in row.values() if share >= 0.0005], abs=0.051)
            checked += 1
            words.append("call" if "fold" in row else "check")
    assert checked >= 12
    assert max(boards) == 10


def test_seats_alternate_or_stay(tmp_path: Path) -> None:
    log = tmp_path / "hands.jsonl"
    result, _ = play(TURN, ["c"] * 50, "always-call", hands=4, seed=2, log=log)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["players"].index("you") for row in rows] == [0, 1, 0, 1]
    assert result.chips == sum(row["values"][row["players"].index("you")] for row in rows)
    _, lines = play(TURN, ["c"] * 50, "always-call", hands=4, seed=2, seat=1)
    assert sum("in position (ip)" in line for line in lines) == 4
    with pytest.raises(GameError, match="seats 1 to 2; got seat 3"):
        play(TURN, [], seat=2)


def test_a_fold_shows_no_cards() -> None:
    _, lines = play(RIVER, ["a"], "always-fold", hands=1, seed=1)
    assert lines[-3:] == [
        "  ip folds",
        "  the house takes 2.5",
        "  you win 22.5 (45% of the pot); score +22.5 after 1 hand",
    ]
    assert "K♥" not in " ".join(lines)


def test_who_may_play_a_spot(tmp_path: Path) -> None:
    """Its own strategy, another of the same spot, opponents without cards, and small ones solved for it."""
    path, other, kuhn = (str(tmp_path / name) for name in ("spot.strategy", "other.strategy", "kuhn.strategy"))
    profile = random_profile(TURN.tree(), 3)
    profile.save(path)
    random_profile(RIVER.tree(), 1).save(other)
    cp.solve("kuhn", iterations=5).profile.save(kuhn)
    table = open_table(path)
    assert (table.played.name, [entry.name for entry in table.opponents]) == (TURN.name, ["spot"])
    for against, message in ((other, "cannot play this spot; it was made for another spot: board is"),
                             (kuhn, "cannot play this spot; it was made for kuhn"),
                             ("tight", "pot 20, stack 30 is not a poker game with a definition")):  # fmt: skip
        with pytest.raises(CounterplayError, match=message):
            HumanMatch(open_table(path, [against]))
    assert HumanMatch(open_table(path, [path])).opponents[0].name == "spot"
    with pytest.raises(GameError, match="counterplay play seats you against its strategy"):
        open_match_game(TURN.name)
    with pytest.raises(GameError, match="starts in the middle of a hand; it cannot play a match"):
        cp.match("kuhn", [path, "uniform"], 1)


def test_the_equilibrium_of_a_small_spot_can_be_the_opponent() -> None:
    """Solved on the histories, it is worth what the public tree says."""
    table, _ = table_of(RIVER, "equilibrium")
    (solved,) = HumanMatch(table).opponents
    assert isinstance(solved.source, cp.TabularStrategy)
    assert cp.exploitability(solved.source, cp.compile_game(table.played.game)) < 0.05
