"""Best responses in games that are split at their first deal, and to players who do not look at their cards."""

from __future__ import annotations

import dataclasses
import functools
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.errors import GameError, StrategyError
from counterplay.evaluation.card_free import _Betting, evaluate_card_free
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.split_evaluation import SplitGame, SplitPlan, _Split, evaluate_split, measure_pair
from counterplay.game.registry import make
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.board_parts import FirstDeals
from counterplay.poker.board_tree import deal_cards, hole_hands
from counterplay.poker.poker_game import PokerGame, poker_game
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.runtime.jobs import read_jobs
from counterplay.runtime.progress import Progress
from counterplay.strategy.public_strategy import FunctionStrategy, PublicStrategy
from counterplay.strategy.trivial import TRIVIAL, CardFree
from counterplay.tree.public.public_tree import Hands, PublicTree

SAME = 1e-9
LIMIT = STANDARD["holdem.limit.2p.reverse_blinds"]
FEW_BETS = dataclasses.replace(LIMIT, max_raises=(2, 1, 1, 1), suits=2, ranks=5)
ALL_IN = dataclasses.replace(
    LIMIT, limit=False, stacks=(5, 5), blinds=(2, 1), suits=2, ranks=5, raise_sizes=(), max_raises=()
)
SMALL: dict[str, GameDefinition | str] = {
    "four rounds": FEW_BETS,
    "all in before the last round": ALL_IN,
    "one hole card, three rounds": "rhode_island(ranks=3,suits=3)",
    "two rounds": "holdem_2_4(ranks=4,suits=3)",
    "leduc": "leduc_limit_2p",
}
MIXED = CardFree(0.2, 0.5, 0.3)
PAIRS = {
    "always-call": (TRIVIAL["always-call"], TRIVIAL["always-call"]),
    "50/50": (TRIVIAL["50/50"], TRIVIAL["50/50"]),
    "folds too": (MIXED, MIXED),
    "two agents": (TRIVIAL["always-raise"], MIXED),
}
WON = {  # johanson.md E.1: best responses as dealer (player 2 here) and as big blind, mbb/g
    "holdem_2_4": {
        "always-fold": (1000.0, 500.0),
        "always-call": (645.4724, 645.4724),
        "always-raise": (2072.2807, 2072.2807),
        "50/50": (1442.3982, 1282.1907),
    },
    "holdem_2_1": {
        "always-fold": (1000.0, 500.0),
        "always-call": (645.4724, 645.4724),
        "always-raise": (317.3311, 267.5271),
        "50/50": (476.8719, 475.7461),
    },
    "holdem_limit_2p": {
        "always-fold": (1000.0, 500.0),
        "always-call": (1163.4758, 1163.4758),
        "always-raise": (3697.6929, 3697.6929),
        "50/50": (2598.1124, 2214.9895),
    },
}


@functools.cache
def poker(name: str) -> PokerGame:
    source = SMALL.get(name, name)
    game = make(source) if isinstance(source, str) else poker_game(source, name)
    assert isinstance(game, PokerGame)
    return game


@functools.cache
def whole(name: str) -> PublicTree:
    return build_public_tree(poker(name).definition, name=name)


def close(first: Measurement, second: Measurement) -> None:
    assert first.value == pytest.approx(second.value, abs=SAME)
    assert first.best_response == pytest.approx(second.best_response, abs=SAME)


def by_rank(board: str, betting: str, hand: str, actions: tuple[str, ...]) -> list[float]:
    """A strategy that looks at ranks only, and never takes some actions."""
    text = "|".join(["".join(sorted(board.replace(" ", "")[::2])), betting, "".join(sorted(hand[::2]))])
    weights = [zlib.crc32(f"{text}|{action}".encode()) % 4 for action in actions]
    total = sum(weights)
    return [weight / total for weight in weights] if total else [1 / len(actions)] * len(actions)


class TestFirstDeals:
    """The deals below one first deal are those that the whole game has there."""

    @pytest.mark.parametrize("name", SMALL)
    @pytest.mark.parametrize("isomorphic", [True, False])
    def test_parts_of_the_whole(self, name: str, isomorphic: bool) -> None:
        game = poker(name).definition
        full = np.ones(len(hole_hands(game.deck, game.hole_cards)))
        rounds = [cards for cards in game.board_cards if cards]
        every = deal_cards(game.deck, game.suits, game.hole_cards, (), rounds, (full, full), isomorphic)
        first = FirstDeals(game, isomorphic)
        assert len(first) == every.count[0]
        for number in range(0, len(first), 1 + len(first) // 4):
            deals = first.deals(number)
            same, at = [0], [1 + number]
            while at:
                same += at
                at = [d for deal in at for d in range(every.first[deal], every.first[deal] + every.count[deal])]
            assert deals.text == tuple(every.text[deal] for deal in same)
            assert np.array_equal(deals.weight, every.weight[same])
            for mine, deal in enumerate(same):
                for field in ("parent", "multiplicity", "card", "rank", "twin", "real_class", "real_rank", "real_card"):
                    part = part_of(deals.hands[0], mine, field)
                    assert np.array_equal(part, part_of(every.hands[0], deal, field)), (field, every.text[deal])
            assert np.array_equal(deals.hands[0].root_weight, every.hands[0].root_weight)
            assert np.array_equal(deals.hands[0].root_reach, every.hands[0].root_reach)
            assert deals.hands[0].labels == every.hands[0].labels

    @pytest.mark.parametrize("name", SMALL)
    @pytest.mark.parametrize("isomorphic", [True, False])
    def test_classes_are_counted_before_they_are_made(self, name: str, isomorphic: bool) -> None:
        first = FirstDeals(poker(name).definition, isomorphic)
        counted = first.classes()
        for number in range(0, len(first), 1 + len(first) // 5):
            deals = first.deals(number)
            starts = deals.hands[0].start[list(deals.level_start)]
            assert counted[number].tolist() == np.diff(starts)[1:].tolist()

    def test_number_of_flops(self) -> None:
        first = FirstDeals(poker("holdem_limit_2p").definition)
        assert len(first) == 1755
        assert first.classes().sum(axis=0).tolist() == [1_286_792, 55_190_538, 2_428_287_420]  # hands of each round

    def test_games_that_cannot_be_split(self) -> None:
        with pytest.raises(GameError, match="measure other games as a whole"):
            FirstDeals(poker("kuhn_limit_2p").definition)


def part_of(hands: Hands, deal: int, field: str) -> np.ndarray:
    """The part of an array that belongs to a deal."""
    start = hands.real_start if field.startswith("real") else hands.start
    part: np.ndarray = getattr(hands, field)[start[deal] : start[deal + 1]]
    return part


class TestSmallGames:
    """Split, shortcut and the walk over the whole public tree are one number."""

    @pytest.mark.parametrize("name", SMALL)
    @pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
    def test_three_methods(self, name: str, pair: tuple[CardFree, CardFree]) -> None:
        expected = measure_pair(whole(name), pair)
        close(evaluate_split(poker(name), pair), expected)
        close(evaluate_card_free(poker(name), [pair])[0], expected)

    def test_the_history_tree_says_the_same(self) -> None:
        tree = cp.compile_game("leduc_limit_2p")
        for agent in (MIXED, TRIVIAL["50/50"], TRIVIAL["always-call"]):
            uniform = cp.TabularStrategy.uniform(tree)
            rows = {
                (p, name): dict(zip(row, agent.row(tuple(row)), strict=True)) for p, name, row in uniform.infosets()
            }
            expected = cp.evaluate(cp.TabularStrategy.from_table(tree, rows), tree)
            close(evaluate_card_free(poker("leduc_limit_2p"), [(agent, agent)])[0], expected)
            close(measure_pair(whole("leduc_limit_2p"), (agent, agent)), expected)

    @pytest.mark.parametrize("name", ["rhode_island(ranks=3,suits=2)", "leduc_limit_2p", "holdem_2_1(ranks=4,suits=2)"])
    @pytest.mark.parametrize("isomorphic", [True, False])
    def test_strategies_that_look_at_cards(self, name: str, isomorphic: bool) -> None:
        pair = (FunctionStrategy(by_rank), FunctionStrategy(by_rank))
        expected = measure_pair(whole(name), pair)
        close(evaluate_split(poker(name), pair, isomorphic=isomorphic), expected)
        assert expected.exploitability > 0.01

    def test_agents_together_are_as_each_alone(self) -> None:
        game = poker("leduc_limit_2p")
        together = evaluate_card_free(game, list(PAIRS.values()))
        for pair, measurement in zip(PAIRS.values(), together, strict=True):
            close(measurement, evaluate_card_free(game, [pair])[0])

    def test_tables_of_the_whole_game_are_refused(self) -> None:
        tree = whole("leduc_limit_2p")
        first, second = (np.ones(entries) for entries in tree.num_entries)
        profile = PublicStrategy(tree.name, tree.fingerprint, (first, second))
        with pytest.raises(StrategyError, match="measure it there, not split"):
            evaluate_split(poker("leduc_limit_2p"), (profile, profile))


class TestTrivialAgents:
    """johanson.md E.1."""

    @pytest.mark.parametrize("name", ["holdem_2_1", pytest.param("holdem_2_4", marks=pytest.mark.slow)])
    @pytest.mark.parametrize("agent", WON["holdem_2_1"])
    def test_two_rounds(self, name: str, agent: str) -> None:
        pair = (TRIVIAL[agent], TRIVIAL[agent])
        measurement = measure_pair(whole(name), pair)
        dealer, blind = WON[name][agent]
        assert 1000 * np.array(measurement.best_response) / whole(name).big_blind == pytest.approx(
            [blind, dealer], abs=5e-5
        )
        assert 1000 * measurement.exploitability / whole(name).big_blind == pytest.approx(
            (dealer + blind) / 2, abs=1e-4
        )
        close(evaluate_card_free(poker(name), [pair])[0], measurement)

    def test_one_flop_of_the_whole_game(self) -> None:
        """Below a flop of one suit, walks and table give the same for each link of the trunk."""
        game = SplitGame(poker("holdem_limit_2p"))
        pair = PAIRS["always-call"]
        split, betting = _Split(game, pair), _Betting(game, [pair])
        flop = game.first.texts.index("2c3c4c")
        walked, summed = split.below(flop), betting.below(flop)
        for seat in (0, 1):
            for link, reach in split.reaches[seat].items():
                assert np.all(reach == 1.0)
                step = betting._node(int(game.tree.first_child[link]), seat, pair[1 - seat])
                column = summed[:, betting.rounds[1].roots[step]]
                assert walked[seat, game.links.index(link)] == pytest.approx(column, abs=SAME)
        assert np.abs(walked).max() > 1

    @pytest.mark.slow
    def test_limit_holdem(self) -> None:
        agents = [(agent, agent) for agent in (TRIVIAL[name] for name in WON["holdem_limit_2p"])]
        found = evaluate_card_free(poker("holdem_limit_2p"), agents, threads=2)
        for measurement, (dealer, blind) in zip(found, WON["holdem_limit_2p"].values(), strict=True):
            assert 100 * np.array(measurement.best_response) == pytest.approx([blind, dealer], abs=5e-5)

    @pytest.mark.slow
    def test_limit_holdem_through_the_walks(self) -> None:
        measurement = evaluate_split(poker("holdem_limit_2p"), PAIRS["always-call"], threads=2)
        assert 100 * measurement.exploitability == pytest.approx(1163.4758, abs=5e-5)


def interrupted_after(jobs: int) -> Callable[[Progress], None]:
    def stop(now: Progress) -> None:
        if now.iterations >= jobs:
            raise KeyboardInterrupt

    return stop


class TestJobs:
    """Work that is stopped and gone on with, by one thread or two, gives the same bits."""

    NAME = "four rounds"

    @pytest.mark.parametrize("threads", [1, 2])
    def test_split(self, tmp_path: Path, threads: int) -> None:
        game, pair, path = poker(self.NAME), PAIRS["folds too"], tmp_path / "kept"
        expected = evaluate_split(game, pair)
        stopped = evaluate_split(game, pair, threads, checkpoint=path, progress=interrupted_after(5))
        assert stopped.estimate is not None
        assert stopped.estimate.interrupted
        assert stopped.estimate.walked >= 5 - threads + 1
        seen: list[Progress] = []
        assert evaluate_split(game, pair, threads, resume=path, progress=seen.append) == expected
        assert seen[0].iterations >= 5  # said before the first walk
        assert "flops to walk: about" in seen[0].detail
        assert seen[-1].iterations == seen[-1].total == len(FirstDeals(game.definition))
        assert seen[-1].seconds_left == 0
        assert evaluate_split(game, pair, resume=path) == expected  # nothing is left to do

    def test_a_part_is_the_same_by_any_threads(self, tmp_path: Path) -> None:
        """The first deals of the order count, whichever are done, and a seed has one order."""
        game, pair, path = poker(self.NAME), PAIRS["folds too"], tmp_path / "kept"
        some = SplitPlan(flops=12, seed=4)
        expected = evaluate_split(game, pair, plan=some)
        assert expected.estimate is not None
        assert (expected.estimate.walked, expected.estimate.total) == (12, len(FirstDeals(game.definition)))
        assert expected.exploitability == pytest.approx(expected.estimate.exploitability, abs=1e-12)
        again = evaluate_split(game, pair, 2, checkpoint=path, plan=SplitPlan(flops=20, seed=4))
        assert again.estimate != expected.estimate
        assert evaluate_split(game, pair, resume=path, plan=some).estimate == expected.estimate
        until = SplitPlan(until=expected.estimate.half, seed=4)
        stopped = [evaluate_split(game, pair, threads, plan=until).estimate for threads in (1, 2)]
        assert stopped[0] == stopped[1]
        assert stopped[0] is not None
        assert 10 <= stopped[0].walked <= 12
        with pytest.raises(StrategyError, match="belongs to another evaluation: its seed is 4"):
            evaluate_split(game, pair, resume=path)
        with pytest.raises(StrategyError, match="two first deals or more; got 1"):
            SplitPlan(flops=1)

    @pytest.mark.parametrize("threads", [1, 2])
    def test_shortcut(self, tmp_path: Path, threads: int) -> None:
        game, agents, path = poker(self.NAME), list(PAIRS.values()), tmp_path / "kept"
        expected = evaluate_card_free(game, agents)
        with pytest.raises(KeyboardInterrupt):
            evaluate_card_free(game, agents, threads, checkpoint=path, progress=interrupted_after(3))
        assert read_jobs(path)["method"] == "shortcut"
        assert evaluate_card_free(game, agents, threads, resume=path) == expected

    def test_files_of_other_work(self, tmp_path: Path) -> None:
        game, path = poker("leduc_limit_2p"), tmp_path / "kept"
        evaluate_split(game, PAIRS["50/50"], checkpoint=path)
        with pytest.raises(StrategyError, match="belongs to another evaluation: its strategies is"):
            evaluate_split(game, PAIRS["always-call"], resume=path)
        with pytest.raises(StrategyError, match="belongs to another evaluation: its game is"):
            evaluate_split(poker(self.NAME), PAIRS["50/50"], resume=path)
        with pytest.raises(StrategyError, match="belongs to another evaluation: its method is"):
            evaluate_card_free(game, [PAIRS["50/50"]], resume=path)
        with pytest.raises(StrategyError, match="there is no file"):
            evaluate_split(game, PAIRS["50/50"], resume=tmp_path / "nothing")

    def test_a_job_that_fails_leaves_the_others(self, tmp_path: Path) -> None:
        path = tmp_path / "kept"

        def once(board: str, betting: str, hand: str, actions: tuple[str, ...]) -> list[float]:
            if board.startswith("K"):
                raise RuntimeError("no kings")
            return by_rank(board, betting, hand, actions)

        failing = FunctionStrategy(once)
        with pytest.raises(RuntimeError, match="no kings"):
            evaluate_split(poker("leduc_limit_2p"), (failing, failing), checkpoint=path)
        assert read_jobs(path)["game"] == "leduc_limit_2p"


class TestCommandLine:
    """``counterplay evaluate --strategy always-call``."""

    def run(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
        code = main(["evaluate", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    @pytest.mark.parametrize("method", ["auto", "card-free", "split", "public", "history"])
    def test_json(self, capsys: pytest.CaptureFixture[str], method: str) -> None:
        words = ["--game", "leduc_limit_2p", "--strategy", "50/50", "--method", method, "--threads", "2", "--json"]
        code, out, _ = self.run(capsys, *words)
        told = json.loads(out)
        assert code == 0
        assert told["best_response"] == pytest.approx([59 / 30, 7 / 3])
        assert told["exploitability"] == pytest.approx(2.15)
        assert told["exploitability_mbb"] == pytest.approx(2150)
        assert told["method"] == ("card-free" if method == "auto" else method)

    def test_for_people(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = self.run(capsys, "--game", "holdem_2_1", "--strategy", "always-call")
        assert code == 0
        assert "645.4724; best responses +645.4724 (player 1), +645.4724 (player 2)" in out
        assert "left" in err or not err

    def test_some_first_deals(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        """An estimate, with its interval, and the command that resumes; then the rest, which is exact."""
        words = ["--game", "leduc_limit_2p", "--strategy", "50/50"]
        kept = ["--checkpoint", str(tmp_path / "kept")]
        code, out, err = self.run(capsys, *words, "--flops", "2", "--seed", "6", *kept)
        assert code == 0
        assert "mbb/g, an estimate with its 95 % interval" in out
        assert "2 of 3 first deals, drawn at random" in out
        assert "2 first deals to walk: about" in err
        assert f"resume with: counterplay evaluate --resume {kept[1]}" in err
        _, out, _ = self.run(capsys, *words, "--flops", "2", "--seed", "6", "--json")
        told = json.loads(out)
        assert (told["exact"], told["first_deals"], told["first_deals_total"]) == (False, 2, 3)
        assert told["exploitability_mbb_95"] == pytest.approx(1000 * told["exploitability_95"])
        _, out, _ = self.run(capsys, "--resume", kept[1], "--json")
        assert json.loads(out)["exploitability"] == pytest.approx(2.15, abs=1e-12)
        assert "exact" not in json.loads(out)

    def test_without_a_board_the_whole_tree_is_walked(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, out, _ = self.run(capsys, "--game", "kuhn_limit_2p", "--strategy", "always-call", "--json")
        told = json.loads(out)
        assert told["method"] == "public"
        assert told["best_response"] == pytest.approx([1 / 3, 1 / 3])

    def test_gone_on_with(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = tmp_path / "kept"
        game = poker("leduc_limit_2p")
        with pytest.raises(KeyboardInterrupt):
            evaluate_split(game, PAIRS["50/50"], checkpoint=path, progress=interrupted_after(1))
        code, out, _ = self.run(capsys, "--resume", str(path), "--json")
        assert code == 0
        assert json.loads(out)["best_response"] == pytest.approx([59 / 30, 7 / 3])
        assert json.loads(out)["checkpoint"] == str(path)

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--strategy", "always-call"], "the strategy 'always-call' is measured in a game; name one"),
            (["--strategy", "always-call", "--game", "bluff"], "trivial agents play fold, call and raise"),
            (["--strategy", "always-call", "--game", "holdem_limit_3p"], "histories and needs about"),
            (["--strategy", "always-call", "--game", "kuhn_limit_3p", "--method", "split"], "for two players"),
            (["--strategy", "always-call", "--game", "leduc_limit_2p", "--threads", "0"], "at least 1; got 0"),
            (
                ["--strategy", "50/50", "--game", "leduc_limit_2p", "--method", "magic"],
                "unknown method 'magic'",
            ),
            (["--strategy", "50/50", "--game", "holdem_limit_2p", "--method", "public"], "method split or card-free"),
            (["--strategy", "50/50", "--game", "kuhn_limit_2p", "--method", "split"], "measure other games as a whole"),
            (["--strategy", "uniform", "--game", "kuhn", "--method", "split"], "kuhn is not a poker game"),
            (["--strategy", "50/50", "--game", "kuhn_limit_2p", "--checkpoint", "x"], "measure other games as a whole"),
            (["--resume", "nothing.here"], "there is no file nothing.here"),
            (["--strategy", "50/50", "--game", "leduc_limit_2p", "--flops", "1"], "needs two first deals or more"),
            (["--strategy", "50/50", "--game", "leduc_limit_2p", "--until", "soon"], "such as 1e-4 or 0.5mbb; got"),
            (
                ["--strategy", "50/50", "--game", "leduc_limit_2p", "--flops", "2", "--method", "public"],
                "flops, until and valued belong to method split",
            ),
        ],
    )
    def test_bad_input(self, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
        code, _, err = self.run(capsys, *words)
        assert code == 2
        assert message in err
