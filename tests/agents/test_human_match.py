"""A person at the table: what is shown, what can be typed, the score, the log, and leaving."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from counterplay.agents.agent import Decision
from counterplay.agents.entries import make_entry
from counterplay.agents.human_match import HumanMatch, HumanResult, Table, open_table
from counterplay.agents.match_game import open_match_game
from counterplay.agents.table_text import offers, read_action
from counterplay.agents.terminal_player import HumanAgent, LeftTableError
from counterplay.errors import CounterplayError, GameError
from counterplay.poker.acpc.dealing import deals
from counterplay.poker.acpc.match_log import read_log
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.rules import Betting
from counterplay.runs import solve
from counterplay.strategy import TabularStrategy
from counterplay.tree import compile_game

NO_LIMIT, LEDUC = STANDARD["holdem.nolimit.2p.reverse_blinds"], STANDARD["leduc.limit.2p"]


def answering(words: Iterable[str]) -> Callable[[str], str]:
    """What asks for the next answer; after the last one the input has ended."""
    left = iter(words)

    def ask(_prompt: str) -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    return ask


def play(game: str, against: str, answers: Iterable[str], **options: object) -> tuple[HumanResult, list[str]]:
    lines: list[str] = []
    match = HumanMatch(Table(open_match_game(game), [make_entry(against)]), **options)  # type: ignore[arg-type]
    return match.play(answering(answers), lines.append), lines


class TestMatch:
    def test_every_deal_is_new_and_seats_alternate(self, tmp_path: Path) -> None:
        """The log is that of a dealer with this seed: its deals in their order, each once, positions rotating."""
        path = tmp_path / "hands.log"
        result, _ = play("leduc", "always-call", ["c"] * 200, hands=40, seed=9, log=path)
        log = read_log(path, LEDUC)
        stream = deals(LEDUC, 9)
        assert [record.deal.hole for record in log.records] == [next(stream).hole for _ in range(40)]
        assert [record.names for record in log.records[:3]] == [
            ("you", "always-call"), ("always-call", "you"), ("you", "always-call"),
        ]  # fmt: skip
        assert all(record.values == record.recomputed() for record in log.records)
        assert result.finished
        assert result.hands == 40
        assert result.chips == log.totals()["you"] == log.score[0]
        assert (log.seed, log.hands) == (9, 40)

    def test_a_seed_repeats_the_match(self) -> None:
        one, two = (play("leduc", "uniform", ["c"] * 100, hands=10, seed=4) for _ in range(2))
        assert one == two
        assert play("leduc", "uniform", ["c"] * 100, hands=10, seed=5)[1] != one[1]

    def test_seeds_are_random_and_shown(self) -> None:
        played = [play("kuhn", "always-call", []) for _ in range(3)]
        assert len({result.seed for result, _ in played}) > 1
        for result, lines in played:
            assert any(f"seed {result.seed}." in line for line in lines)

    def test_what_a_hand_looks_like(self) -> None:
        """Seed 3: the person has Q and then the board pairs it; two lines of rules, cards, pot, showdown, score."""
        _, lines = play("leduc", "always-call", ["c", "r"], seed=3)
        assert lines[:10] == [
            "leduc: Leduc hold'em: one private card, one community card, two rounds of limit betting.",
            "2 players, 6 cards, 1 in the hand and 1 on the table; everybody antes 1; bets of 2 and 4, at most 2 in a "
            "round.",
            "Against always-call; seed 3. Type ? for help, q to stop.",
            "",
            "Hand 1: you have Q",
            "  always-call checks",
            "  Table: Q (you have Q)",
            "  always-call calls 4",
            "  showdown: you Q (a pair); always-call J",
            "  you win 5; score +5 after 1 hand",
        ]

    @pytest.mark.parametrize("leaving", [["q"], ["QUIT"], [], [KeyboardInterrupt]])
    def test_leaving_keeps_score_and_log(self, tmp_path: Path, leaving: list[object]) -> None:
        """After one hand and a half: the finished hand counts, the other one does not."""
        path, words = tmp_path / "hands.log", iter(["c", "r", "c", *leaving])

        def ask(_prompt: str) -> str:
            word = next(words, None)
            if word is None:
                raise EOFError
            if word is KeyboardInterrupt:
                raise KeyboardInterrupt
            return str(word)

        match = HumanMatch(Table(open_match_game("leduc"), [make_entry("always-call")]), seed=3, log=path)
        result = match.play(ask, lambda _line: None)
        assert (result.hands, result.chips, result.finished) == (1, 5, False)
        assert result.text == "Your score: +5 chips in 1 hand (+5000 mbb/g)."
        assert result.to_dict() == {
            "game": "leduc", "opponents": ["always-call"], "hands": 1, "chips": 5.0, "chips_a_hand": 5.0, "mbb": 5000.0,
            "seed": 3, "log": str(path), "finished": False, "pot_percent": None,
        }  # fmt: skip
        log = read_log(path, LEDUC)
        assert [record.values for record in log.records] == [(5, -5)]
        assert log.score == (5, -5)

    def test_a_finished_log_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "hands.log"
        play("kuhn", "always-call", ["c"] * 9, hands=2, log=path)
        before = path.read_text()
        with pytest.raises(GameError, match="finished match"):
            play("kuhn", "always-call", ["c"] * 9, hands=2, log=path)
        assert path.read_text() == before

    def test_hints_are_the_strategy(self) -> None:
        """Every hint is the row of the strategy at the infoset of the person."""
        strategy = solve("kuhn", iterations=100).profile
        lines: list[str] = []
        match = HumanMatch(Table(open_match_game("kuhn"), [make_entry(strategy, "eq")]), seed=1, hints=True)
        match.play(answering(["c"] * 30), lines.append)
        card, seen, checked = "", "", 0
        for line in lines:
            if line.startswith("Hand"):
                card, seen = line[-1], ""
            elif line.startswith("  eq "):
                seen += line[5].replace("c", "k")  # checks or bets
            elif line.startswith("  hint"):
                row = strategy.probabilities(0 if not seen or seen == "kb" else 1, f"{card}:{seen}")
                shown = {
                    word.split()[0]: float(share) for word, share in re.findall(r"([a-z]+[ \d]*) ([\d.]+) %", line)
                }
                assert shown == pytest.approx({a: 100 * p for a, p in row.items() if p >= 0.0005}, abs=0.051)
                checked += 1
                seen += "k"  # the person answers c
        assert checked > 20

    def test_games_without_cards(self, tmp_path: Path) -> None:
        path = tmp_path / "games.jsonl"
        words = ["1", "5", "x", "4", "3", "2"]
        result, lines = play("goofspiel", "uniform", [*words, *"54321"], hands=2, seed=1, log=path)
        first, second = map(json.loads, path.read_text().splitlines())
        assert first["players"] == ["you", "uniform"]
        assert second["players"] == ["uniform", "you"]
        assert [move for who, move in first["moves"] if who == 0] == ["1", "5", "4", "3", "2"]
        assert [move for who, move in second["moves"] if who == 1] == list("54321")
        assert result.chips == first["values"][0] + second["values"][1]
        assert any("'x' is not possible here" in line for line in lines)

    def test_three_players(self) -> None:
        table = open_table("kuhn(players=3)", ["always-call", "uniform"])
        lines: list[str] = []
        result = HumanMatch(table, hands=3, seed=0).play(answering(["c"] * 30), lines.append)
        assert result.opponents == ("always-call", "uniform")
        assert any(line.startswith("  always-call ") for line in lines)


class TestOpenTable:
    def test_a_strategy_plays_and_advises(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.strategy"
        TabularStrategy.uniform(compile_game("kuhn")).save(path)
        table = open_table(str(path))
        assert table.played.name == "kuhn"
        assert [entry.name for entry in table.opponents] == ["mine"]
        other = open_table(str(path), ["always-raise"])
        assert [entry.name for entry in other.opponents] == ["always-raise"]
        assert other.adviser is not None
        assert other.adviser.name == "mine"

    def test_small_games_are_solved_for_the_opponent(self) -> None:
        from counterplay.evaluation import exploitability

        match = HumanMatch(open_table("kuhn"))
        (entry,) = match.opponents
        assert entry.name == "equilibrium"
        assert isinstance(entry.source, TabularStrategy)
        assert exploitability(entry.source) < 1e-3
        lines: list[str] = []
        match.play(answering([]), lines.append)
        assert lines[2] == "solved kuhn for equilibrium: 500 iterations of cfr+"
        assert open_table("holdem_limit_2p").opponents[0].name == "aggressive"
        assert open_table("bluff(2,1)").opponents[0].name == "uniform"

    @pytest.mark.parametrize(
        ("what", "against", "message"),
        [
            ("lduc", [], "did you mean 'leduc'"),
            ("none.strategy", [], "no strategy file none.strategy"),
            ("always-call", [], "play leduc --against always-call"),
            ("kuhn", ["nobody"], "there is no agent 'nobody'"),
            ("kuhn", ["uniform", "uniform"], "1 other seat; got 2"),
            ("kuhn", ["program:/bin/true"], "plays through counterplay dealer"),
        ],
    )
    def test_misuse(self, what: str, against: list[str], message: str) -> None:
        with pytest.raises(CounterplayError, match=message):
            HumanMatch(open_table(what, against))


class TestWords:
    """No-limit hold'em: what is typed counts the chips of the round, the protocol those of the hand."""

    @pytest.mark.parametrize(
        ("before", "typed", "meant"),
        [
            ("", "r300", "r300"),
            ("", "raise 300", "r300"),
            ("r300c/", "b400", "r700"),
            ("r300c/", "pot", "r900"),
            ("r300c/r700", "pot", "r2100"),  # call 400, then raise by the pot of 1,400
            ("r300c/r700", "call", "c"),
            ("r300c/", "x", "c"),
            ("r300c/", "all-in", "r20000"),
            ("r300", "F", "f"),
        ],
    )
    def test_sizes(self, before: str, typed: str, meant: str) -> None:
        assert read_action(Betting.after(NO_LIMIT, before), typed) == meant

    @pytest.mark.parametrize(("before", "typed"), [("", "r150"), ("r300c/", "f"), ("", "zz"), ("", ""), ("", "r")])
    def test_what_is_refused_says_what_to_type(self, before: str, typed: str) -> None:
        betting = Betting.after(NO_LIMIT, before)
        with pytest.raises(GameError) as error:
            read_action(betting, typed)
        assert offers(betting) in str(error.value)

    @pytest.mark.parametrize("typed", ["r", "bet", "r2", "bet 2"])
    def test_raises_of_limit_games_have_one_size(self, typed: str) -> None:
        assert read_action(Betting.after(LEDUC, ""), typed) == "r"

    @pytest.mark.parametrize("typed", ["r9999999", "r0", "bet 3"])
    def test_other_sizes_of_limit_games_are_refused(self, typed: str) -> None:
        with pytest.raises(GameError) as error:
            read_action(Betting.after(LEDUC, ""), typed)
        assert str(error.value) == f"{typed!r}: the size of a raise is fixed in this game; type c check, r bet 2"

    def test_offers(self) -> None:
        assert offers(Betting.after(NO_LIMIT, "r300c/")) == "c check, r100 to r19700 bet"
        assert offers(Betting.after(NO_LIMIT, "r300")) == "f fold, c call 200, r500 to r20000 raise to"
        assert offers(Betting.after(LEDUC, "r")) == "f fold, c call 2, r raise to 4"


class TestAgent:
    def test_asks_until_the_answer_is_legal(self) -> None:
        said: list[str] = []
        agent = HumanAgent(answering(["x y", "?", "r", "c"]), said.append)
        state = MatchState(0, Betting.after(LEDUC, "rr"), next(deals(LEDUC, 0)))
        assert agent.act(state.seen_by(0)) == "c"
        assert any("'r' is not possible here; type f fold, c call 2" in line for line in said)
        assert any("q stops" in line for line in said)

    @pytest.mark.parametrize(
        ("typed", "meant"), [("check", "check"), ("B", "bet"), ("2", "bet"), ("chec", "check"), ("3", "q")]
    )
    def test_names_letters_and_numbers(self, typed: str, meant: str) -> None:
        agent = HumanAgent(answering([typed]), lambda _line: None)
        assert agent.act(Decision(0, 0, "K:", ("check", "bet", "q"))) == meant

    def test_ambiguous_letters(self) -> None:
        said: list[str] = []
        agent = HumanAgent(answering(["c", "call"]), said.append)
        assert agent.act(Decision(0, 0, "K:", ("check", "call"))) == "call"
        assert any("'c' can mean check or call" in line for line in said)

    def test_an_action_called_q(self) -> None:
        assert HumanAgent(answering(["q"]), lambda _line: None).act(Decision(0, 0, "", ("p", "q"))) == "q"

    def test_nobody_there(self) -> None:
        state = MatchState(0, Betting.start(LEDUC), next(deals(LEDUC, 0)))
        with pytest.raises(LeftTableError, match="nobody is there"):
            HumanAgent(answering([]), lambda _line: None).act(state.seen_by(0))

    def test_sees_how_a_hand_ends(self) -> None:
        said: list[str] = []
        full = MatchState(4, Betting.after(NO_LIMIT, "r300f"), next(deals(NO_LIMIT, 0)))
        HumanAgent(answering([]), said.append).observe(full.seen_by(1))
        assert said[-1] == "  you win 100; score +100 after 1 hand"
