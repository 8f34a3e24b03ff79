"""``counterplay build``: plans, stages, what is measured, stopping and going on, and misuse."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from counterplay.abstraction.cards import build_cards, deck_shape, parse_recipe
from counterplay.agents import match
from counterplay.build.build_report import build_rows
from counterplay.build.pipeline import Pipeline
from counterplay.build.planning import make_plan
from counterplay.build.presets import OPPONENTS, PRESETS
from counterplay.cli.main import main
from counterplay.errors import CounterplayError, GameError, StrategyError
from counterplay.evaluation import evaluate
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.forms import open_game, poker_definition
from counterplay.poker.betting import count_betting
from counterplay.runtime.progress import Progress
from counterplay.solvers.bucket_mccfr import BucketSolver
from counterplay.storage import read_container
from counterplay.strategy.bucket_strategy import KIND as PROFILE_KIND
from counterplay.strategy.files import load_strategy
from counterplay.tree.history.compile import compile_game

SMALL = {"iterations": 2000, "deals": 20}

PAIR_HANDS = """GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 2 1
raiseSize = 2 2
maxRaises = 1 1
numSuits = 2
numRanks = 4
numHoleCards = 2
numBoardCards = 0 1
firstPlayer = 2 1
END GAMEDEF
"""

THREE = """GAMEDEF
limit
numPlayers = 3
numRounds = 2
blind = 1 2 0
raiseSize = 2 4
maxRaises = 1 1
numSuits = 2
numRanks = 3
numHoleCards = 1
numBoardCards = 0 1
firstPlayer = 3 1
END GAMEDEF
"""

NO_LIMIT = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 2
stack = 20 20
blind = 2 1
numSuits = 2
numRanks = 3
numHoleCards = 1
numBoardCards = 0 1
firstPlayer = 2 1
END GAMEDEF
"""


def game_file(folder: Path, text: str) -> str:
    path = folder / "small.game"
    path.write_text(text, encoding="utf-8")
    return str(path)


class KilledError(Exception):
    """What a test stops a build with; nothing can catch it on the way."""


class TestPlans:
    def test_the_finest_buckets_that_fit(self) -> None:
        assert make_plan("holdem_limit_2p", "laptop").rounds == "PS5/PS5/PS5/PS5"  # 3,624,290 information sets
        assert make_plan("holdem_limit_2p", "evening").rounds == "PS6/PS6/PS6/PS6"
        assert make_plan("leduc_limit_2p", "tiny").rounds == "lossless/lossless"
        assert make_plan("rhode_island", "tiny").rounds == "IRlossless/IRlossless/PH463"
        assert make_plan("holdem_limit_2p", "tiny").rounds == "IRlossless/IRPH31/IRPH31/PH31"
        assert make_plan("rhode_island", "laptop").rounds == "lossless/lossless/lossless"  # 3,937,128

    def test_more_than_two_players_forget(self) -> None:
        assert make_plan("holdem_limit_3p", "laptop").recipe().recall == "imperfect"

    @pytest.mark.parametrize("preset", PRESETS)
    def test_information_sets_within_the_limit(self, preset: str) -> None:
        for game in ("holdem_2_4", "holdem_limit_2p", "rhode_island", "royal_holdem", "kuhn_limit_3p"):
            definition = poker_definition(game)
            counts = make_plan(game, preset).recipe().counts(*deck_shape(definition))
            infosets = int(np.dot(counts, count_betting(definition).decisions))
            assert infosets <= PRESETS[preset].infosets, game

    def test_iterations_grow_with_the_game(self) -> None:
        plans = {game: make_plan(game, "tiny") for game in ("leduc_limit_2p", "holdem_2_1", "holdem_limit_3p")}
        assert [plan.iterations for plan in plans.values()] == [20_000, 10 * 25_252, 2_000_000]
        assert make_plan("holdem_limit_2p", "laptop").iterations is None

    def test_own_settings(self) -> None:
        plan = make_plan("leduc_limit_2p", "laptop", "3,KE3", seed=3, seconds=20.0, deals=7)
        assert (plan.rounds, plan.seconds, plan.iterations, plan.deals, plan.seed) == ("lossless/KE3", 20.0, None, 7, 3)
        assert plan.reserve == 5.0
        assert make_plan("leduc_limit_2p", "laptop", iterations=9).seconds is None

    def test_misuse(self) -> None:
        with pytest.raises(GameError, match="did you mean 'laptop'"):
            make_plan("leduc_limit_2p", "labtop")
        with pytest.raises(GameError, match="deals must be above 0; got -1"):
            make_plan("leduc_limit_2p", "tiny", deals=-1)
        with pytest.raises(GameError, match="--bets"):
            make_plan("holdem_nolimit_2p", "laptop")
        with pytest.raises(GameError, match="use kuhn_limit_2p, the same game from its definition"):
            make_plan("kuhn", "tiny")


class TestLosses:
    """An agent that loses to a trivial opponent is solved for twice as long, unless its time was given."""

    @staticmethod
    def lose(monkeypatch: pytest.MonkeyPatch, times: int) -> list[str]:
        """Let an agent lose that many matches against 50/50; gives the opponents of all matches played."""
        played: list[str] = []

        def match_of(_: Pipeline, opponent: str) -> dict[str, float]:
            played.append(opponent)
            lost = opponent == "50/50" and played.count(opponent) <= times
            return {"mbb": -100.0 if lost else 100.0, "mbb_95": 50.0, "deals": 20, "hands": 40}

        monkeypatch.setattr(Pipeline, "_match", match_of)
        return played

    def test_solved_longer_until_it_does_not(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        played = self.lose(monkeypatch, 2)
        plan = dataclasses.replace(make_plan("kuhn_limit_2p", "tiny", **SMALL), extensions=3)
        report = Pipeline(plan, tmp_path / "built").run()
        assert report["iterations"] == 4 * 2000
        assert report["losses"] == []
        assert [point["iterations"] for point in report["curve"][-3:]] == [2000, 4000, 8000]
        assert played == list(OPPONENTS) * 3
        assert list(Pipeline(plan, tmp_path / "built").done) == list(Pipeline.TITLES)

    def test_the_same_strategy_as_in_one_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lose(monkeypatch, 1)
        plan = dataclasses.replace(make_plan("kuhn_limit_2p", "tiny", **SMALL), extensions=1)
        Pipeline(plan, tmp_path / "twice").run()
        Pipeline(make_plan("kuhn_limit_2p", "tiny", iterations=4000, deals=20), tmp_path / "once").run()
        twice, once = (
            read_container(tmp_path / name / "agent.strategy", PROFILE_KIND)[1] for name in ("twice", "once")
        )
        assert all(np.array_equal(twice[name], once[name]) for name in once)

    def test_said_at_the_end(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lose(monkeypatch, 9)
        plan = make_plan("kuhn_limit_2p", "tiny", **SMALL)
        assert plan.extensions == 0  # the iterations were given
        report = Pipeline(plan, tmp_path / "built").run()
        assert report["iterations"] == 2000
        assert ("not ready", "it loses to 50/50: give it more time with --seconds") in build_rows(report)

    def test_tiny_in_leduc(self, tmp_path: Path) -> None:
        report = Pipeline(make_plan("leduc_limit_2p", "tiny", deals=300), tmp_path / "built").run()
        assert all(row["mbb"] > row["mbb_95"] for row in report["matches"].values())


class TestNumbers:
    def test_each_is_what_is_measured_without_the_pipeline(self, tmp_path: Path) -> None:
        plan = make_plan("leduc_limit_2p", "tiny", "PS2,PS3", **SMALL)
        report = Pipeline(plan, tmp_path / "built").run()
        path = str(tmp_path / "built" / "agent.strategy")
        profile, tree = load_strategy(path), compile_game("leduc_limit_2p")
        real = evaluate(profile.lifted(tree), tree)
        assert report["exploitability"] == pytest.approx(real.exploitability, abs=1e-12)
        assert report["value"] == pytest.approx(real.value, abs=1e-12)
        assert report["abstract"]["exploitability"] < report["exploitability"]
        assert report["curve"][-1]["iterations"] == report["iterations"] == 2000
        for name in OPPONENTS:
            played = match("leduc_limit_2p", [path, name], 20)
            assert report["matches"][name]["mbb"] == played.mbb(0).mean
            assert report["matches"][name]["hands"] == 40

    def test_lossless_cards_leave_nothing_out(self, tmp_path: Path) -> None:
        report = Pipeline(make_plan("leduc_limit_2p", "tiny", **SMALL), tmp_path / "built").run()
        assert report["abstract"]["exact"]
        # files hold probabilities in 65536ths
        assert report["abstract"]["exploitability"] == pytest.approx(report["exploitability"], rel=1e-3)
        curve = [point["exploitability"] for point in report["curve"]]
        assert curve[-1] < curve[0]

    def test_too_many_hands_for_matrices(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plan = make_plan("leduc_limit_2p", "tiny", **SMALL)
        counted = Pipeline(plan, tmp_path / "counted").run()
        monkeypatch.setattr("counterplay.build.pipeline.MOST_BUCKETS", 14)
        walked = Pipeline(plan, tmp_path / "walked").run()
        assert not (tmp_path / "walked" / "pairs.counts").exists()
        for ours, theirs in zip(walked["curve"], counted["curve"], strict=True):
            assert ours["exploitability"] == pytest.approx(theirs["exploitability"], abs=1e-12)

    @pytest.mark.parametrize("rounds", ["PS2,PS2", "lossless,lossless"])
    def test_lifted_to_hands_of_two_cards(self, tmp_path: Path, rounds: str) -> None:
        game = game_file(tmp_path, PAIR_HANDS)
        build_cards((4, 2), (2, 1), parse_recipe(rounds, (4, 2), (2, 1))).save(tmp_path / "cards.cpa")
        solver = BucketSolver(open_game(game, cards=[tmp_path / "cards.cpa"]), "external-sampling")
        solver.step(500)
        profile, tree = solver.profile(storage="float64"), compile_game(game)
        lifted = evaluate(profile, open_game(game, "public"))
        assert lifted.exploitability == pytest.approx(evaluate(profile.lifted(tree), tree).exploitability, abs=1e-10)

    def test_three_players_play_matches_only(self, tmp_path: Path) -> None:
        plan = make_plan(game_file(tmp_path, THREE), "tiny", **SMALL)
        report = Pipeline(plan, tmp_path / "built").run()
        assert report["abstract"] is None
        assert "two players" in report["abstract_reason"]
        assert "two players" in report["reason"]
        assert {row["hands"] for row in report["matches"].values()} == {120}  # 20 deals in 6 seatings

    def test_bets_are_abstracted(self, tmp_path: Path) -> None:
        plan = make_plan(game_file(tmp_path, NO_LIMIT), "tiny", bets="fcpa", **SMALL)
        report = Pipeline(plan, tmp_path / "built").run()
        assert report["exploitability"] is None
        assert "other bets" in report["reason"]
        assert report["bounds"]["lower_bound"] > 0
        assert report["bounds"]["upper_bound"] is None  # others may bet what the strategy does not know
        assert any("exploitable at least" in name for name, _ in build_rows(report))
        assert report["abstract"]["exploitability"] > 0

    def test_threads_count_the_same_pairs(self, tmp_path: Path) -> None:
        build_cards((3, 2), (1, 1), parse_recipe("3,KE3", (3, 2), (1, 1))).save(tmp_path / "cards.cpa")
        game = open_game("leduc_limit_2p", cards=[tmp_path / "cards.cpa"])
        one, two = count_bucket_pairs(game), count_bucket_pairs(game, threads=2)
        for ours, theirs in zip((*one.likely, *one.ahead), (*two.likely, *two.ahead), strict=True):
            assert np.array_equal(ours, theirs)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that nobody has stopped."""
    folder = tmp_path_factory.mktemp("whole") / "built"
    Pipeline(make_plan("leduc_limit_2p", "tiny", **SMALL), folder).run()
    return folder


class TestStoppedAndResumed:
    @pytest.mark.parametrize("stage", [*Pipeline.TITLES, "half of solving"])
    def test_the_same_comes_out(self, tmp_path: Path, whole: Path, stage: str) -> None:
        plan, folder = make_plan("leduc_limit_2p", "tiny", **SMALL), tmp_path / "built"
        title = Pipeline.TITLES.get(stage, Pipeline.TITLES["solve"])

        def kill(step: Progress) -> None:
            if step.stage == title and (stage in Pipeline.TITLES or step.share > 0.5):
                raise KilledError

        with pytest.raises(KilledError):
            Pipeline(plan, folder, progress=kill).run()
        finished = set(json.loads((folder / "build.json").read_text())["done"])
        begun: list[str] = []
        report = Pipeline(plan, folder, progress=lambda step: begun.append(step.stage)).run()
        expected = json.loads((whole / "build.json").read_text())
        assert {Pipeline.TITLES[name] for name in set(Pipeline.TITLES) - finished} == set(begun)
        _, ours = read_container(folder / "agent.strategy", "abstract-profile")
        _, theirs = read_container(whole / "agent.strategy", "abstract-profile")
        assert np.array_equal(ours["weights"], theirs["weights"])
        assert report["exploitability"] == expected["done"]["real"]["exploitability"]
        points = expected["done"]["solve"]["curve"]
        assert [point["exploitability"] for point in report["curve"]] == [point["exploitability"] for point in points]

    def test_a_finished_build_does_nothing(self, whole: Path) -> None:
        before = {path: path.stat().st_mtime_ns for path in whole.iterdir()}
        begun: list[Progress] = []
        Pipeline(make_plan("leduc_limit_2p", "tiny", **SMALL), whole, progress=begun.append).run()
        assert begun == []
        assert {path: path.stat().st_mtime_ns for path in whole.iterdir()} == before

    def test_ctrl_c_keeps_the_iterations(self, tmp_path: Path, whole: Path) -> None:
        plan, folder = make_plan("leduc_limit_2p", "tiny", **SMALL), tmp_path / "built"

        def stop(step: Progress) -> None:
            if step.stage == Pipeline.TITLES["solve"] and step.share > 0.3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Pipeline(plan, folder, progress=stop).run()
        header, _ = read_container(folder / "solve.checkpoint", "checkpoint")
        assert header["iterations"] > 0.3 * 2000
        Pipeline(plan, folder).run()
        _, ours = read_container(folder / "agent.strategy", "abstract-profile")
        _, theirs = read_container(whole / "agent.strategy", "abstract-profile")
        assert np.array_equal(ours["weights"], theirs["weights"])

    @pytest.mark.slow
    def test_a_killed_process(self, tmp_path: Path) -> None:
        words = [sys.executable, "-m", "counterplay", "build", "leduc_limit_2p", "--preset", "tiny", "--iterations",
                 "3000000", "--deals", "20", "--cache", "cache", "--out", "built", "--json"]  # fmt: skip
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL)
        checkpoint = tmp_path / "built" / "solve.checkpoint"
        for _ in range(6000):
            if checkpoint.is_file() or process.poll() is not None:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert "solve" not in json.loads((tmp_path / "built" / "build.json").read_text())["done"]
        done = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True)
        report = json.loads(done.stdout)
        assert report["iterations"] == 3_000_000
        assert (tmp_path / "built" / "report.md").is_file()


class TestMisuse:
    @pytest.fixture
    def built(self, tmp_path: Path) -> Path:
        Pipeline(make_plan("leduc_limit_2p", "tiny", "PS2,PS2", iterations=50, deals=2), tmp_path / "built").run()
        return tmp_path / "built"

    def test_other_settings(self, built: Path) -> None:
        other = make_plan("leduc_limit_2p", "tiny", "PS2,PS2", iterations=50, deals=2, seed=4)
        with pytest.raises(GameError, match=r"other settings: seed is 0 there; give the same"):
            Pipeline(other, built)

    def test_killed_in_its_first_save(self, tmp_path: Path) -> None:
        plan = make_plan("kuhn_limit_2p", "tiny", iterations=50, deals=2)
        (tmp_path / "built").mkdir()
        (tmp_path / "built" / ".build.json.999999999-1.part").write_text('{"bui')
        assert Pipeline(plan, tmp_path / "built").run()["iterations"] == 50
        assert not list((tmp_path / "built").glob(".build.json*"))

    def test_two_in_one_folder(self, tmp_path: Path) -> None:
        plan = make_plan("kuhn_limit_2p", "tiny", iterations=50, deals=2)

        def again(_: Progress) -> None:
            with pytest.raises(CounterplayError, match=r"another process is building in .*built; wait"):
                Pipeline(plan, tmp_path / "built").run()

        Pipeline(plan, tmp_path / "built", progress=again).run()

    def test_a_folder_of_something_else(self, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("mine")
        with pytest.raises(GameError, match="no build was started in it"):
            Pipeline(make_plan("leduc_limit_2p", "tiny"), tmp_path)
        with pytest.raises(GameError, match="no build was started in it"):
            Pipeline(make_plan("leduc_limit_2p", "tiny"), tmp_path / "mine.txt")
        with pytest.raises(CounterplayError, match="cannot be written: Not a directory"):
            Pipeline(make_plan("leduc_limit_2p", "tiny"), tmp_path / "mine.txt" / "built")

    @pytest.mark.parametrize("text", ["", "{}", "[1]", '{"plan": {}, "done": {}'])
    def test_a_damaged_state(self, built: Path, text: str) -> None:
        (built / "build.json").write_text(text)
        with pytest.raises(StrategyError, match=r"build\.json is damaged"):
            Pipeline(make_plan("leduc_limit_2p", "tiny", "PS2,PS2", iterations=50, deals=2), built)

    def test_a_stage_that_is_missing(self, built: Path) -> None:
        state = json.loads((built / "build.json").read_text())
        del state["done"]["pairs"]
        (built / "build.json").write_text(json.dumps(state))
        with pytest.raises(StrategyError, match=r"build\.json is damaged: stage 'pairs' is missing before others"):
            Pipeline(make_plan("leduc_limit_2p", "tiny", "PS2,PS2", iterations=50, deals=2), built)

    @pytest.mark.parametrize("name", ["cards.cpa", "pairs.counts", "agent.strategy"])
    def test_lost_and_damaged_files(self, built: Path, name: str) -> None:
        plan = make_plan("leduc_limit_2p", "tiny", "PS2,PS2", iterations=50, deals=2)
        content = (built / name).read_bytes()
        (built / name).write_bytes(content[:-3])
        with pytest.raises(StrategyError, match=r"damaged|cut off"):
            Pipeline(plan, built).run()
        (built / name).unlink()
        with pytest.raises(StrategyError, match="is missing"):
            Pipeline(plan, built).run()

    def test_too_little_memory(self, tmp_path: Path) -> None:
        plan = make_plan("leduc_limit_2p", "tiny", **SMALL)
        with pytest.raises(CounterplayError, match="may be used"):
            Pipeline(plan, tmp_path / "built", memory_limit=100).run()


class TestCommand:
    def test_the_report(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "cache"))
        words = ["build", "leduc_limit_2p", "--preset", "tiny", "--iterations", "500", "--deals", "10"]
        assert main([*words, "--json"]) == 0
        captured = capsys.readouterr()
        report = json.loads(captured.out)
        assert captured.err == ""
        folder = tmp_path / "leduc_limit_2p-tiny"
        assert report["folder"] == folder.name
        assert json.loads((folder / "report.json").read_text())["curve"] == report["curve"]
        page = (folder / "report.md").read_text()
        assert f"exploitability {report['exploitability_mbb']:.4g} mbb/g, exactly" in page
        assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
        assert main(words) == 0
        shown = capsys.readouterr().out
        assert f"against uniform       {report['matches']['uniform']['mbb']:+.4g}" in shown
        assert main(["match", report["agent"], "always-call", "--deals", "10", "--json"]) == 0
        played = json.loads(capsys.readouterr().out)
        assert played["agents"][0]["mbb"] == report["matches"]["always-call"]["mbb"]
        assert main([*words, "--seed", "1"]) == 2
        assert "seed is 0 there" in capsys.readouterr().err


def test_presets_say_what_they_cost() -> None:
    assert PRESETS["laptop"].seconds == 600
    assert PRESETS["evening"].seconds == 7200
    for preset in PRESETS.values():
        assert (preset.seconds is None) != (preset.visits is None)
        assert dataclasses.replace(preset) == preset
