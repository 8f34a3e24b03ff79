"""Builds with experts: static ones after a base, zones, important betting, tilted games, recipes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from counterplay.abstraction.cards import deck_shape, parse_recipe
from counterplay.abstraction.cards.expert_buckets import part_bucket_game
from counterplay.abstraction.experts import label_parts
from counterplay.abstraction.importance import self_play_values, sequence_values
from counterplay.build import expert_pipeline, pipeline_of
from counterplay.build.build_report import build_rows
from counterplay.build.expert_pipeline import ExpertPipeline
from counterplay.build.pipeline import Pipeline
from counterplay.build.planning import make_plan
from counterplay.build.presets import OPPONENTS, Plan
from counterplay.build.recipes import PublishedAgent, cut_cards, find_agent, published_agents
from counterplay.cli.main import main
from counterplay.errors import CounterplayError, GameError
from counterplay.evaluation import evaluate
from counterplay.forms import open_game, poker_definition
from counterplay.forms.opening import GameForms
from counterplay.game.transforms import orange
from counterplay.poker.betting import build_betting_tree, count_betting
from counterplay.poker.buckets.bucket_counts import count_bucket_game
from counterplay.runtime.progress import Progress
from counterplay.solvers import make_solver
from counterplay.storage import read_container
from counterplay.strategy.bucket_strategy import KIND, BucketStrategy
from counterplay.strategy.files import load_strategy
from counterplay.strategy.trivial import TRIVIAL
from tests.modelling.logs import random_lines

FOLDING = """GAMEDEF
limit
numPlayers = 3
numRounds = 2
blind = 1 2 0
raiseSize = 2 4
maxRaises = 2 2
numSuits = 2
numRanks = 4
numHoleCards = 1
numBoardCards = 0 1
firstPlayer = 3 1
END GAMEDEF
"""

HOLDEM = "holdem_limit_3p"


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("games") / "folding.game"
    path.write_text(FOLDING, encoding="utf-8")
    return str(path)


def small_plan(game: str, **changes: object) -> Plan:
    plan = make_plan(game, "tiny", "IRPS2,PS2", iterations=600, deals=10, **changes)  # type: ignore[arg-type]
    return dataclasses.replace(plan, settings={"storage": "float32"})  # the average, which plays everything


@pytest.fixture(scope="module")
def built(game: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that nobody has stopped."""
    folder = tmp_path_factory.mktemp("whole") / "built"
    ExpertPipeline(small_plan(game, experts="f,cf"), folder).run()
    return folder


class TestPlans:
    def test_three_players_have_experts_where_one_has_folded(self) -> None:
        plan = make_plan(HOLDEM, "laptop")
        assert [part for part, _ in plan.experts] == ["f", "rf", "rrf", "rcf"]
        assert make_plan(HOLDEM, "laptop", experts="none").experts == ()
        assert make_plan("kuhn_limit_3p", "laptop").experts == ()  # its cards are whole
        assert make_plan("holdem_limit_2p", "laptop").experts == ()
        assert [part for part, _ in make_plan("holdem_limit_2p", "laptop", experts="r,cr").experts] == ["r", "cr"]
        definition, cards = poker_definition(HOLDEM), deck_shape(poker_definition(HOLDEM))
        for part, rounds in plan.experts:
            counts = parse_recipe(rounds, *cards).counts(*cards)
            assert counts[3] > 20 * plan.recipe().counts(*cards)[3]  # finer than the base
            held = np.dot(counts, count_betting(definition, after=part).decisions)
            assert held <= 0.04 * 44_000_000

    def test_the_base_is_that_of_the_build_without_experts(self) -> None:
        with_experts, without = make_plan(HOLDEM, "laptop"), make_plan(HOLDEM, "laptop", experts="none")
        assert with_experts.rounds == without.rounds
        size = count_bucket_game(
            poker_definition(HOLDEM), without.recipe().counts(*deck_shape(poker_definition(HOLDEM)))
        )
        assert size.infosets <= 44_000_000

    @pytest.mark.parametrize(
        ("game", "changes", "message"),
        [
            (HOLDEM, {"experts": "f,ffff"}, "nobody decides after 'ffff' in holdem_limit_3p"),
            (HOLDEM, {"recipe": "2014"}, "there is no recipe '2014'; did you mean '2013'"),
            ("leduc_limit_2p", {"recipe": "797m"}, "the recipe 797m is for holdem_limit_2p; leduc_limit_2p has other"),
            (HOLDEM, {"recipe": "2010", "rounds": "2s"}, "says its rounds itself; leave out --rounds"),
            (HOLDEM, {"recipe": "2010", "experts": "f"}, "says its experts itself; leave out --experts"),
            (HOLDEM, {"recipe": "2010", "objective": "unexploitable"}, "leave out --objective"),
            (HOLDEM, {"logs": ["a.log"]}, "for the recipes 2012 and 2013; there is no recipe, leave out --log"),
            (HOLDEM, {"recipe": "2010", "logs": ["a.log"]}, "the recipe 2010 has none, leave out --log"),
            (HOLDEM, {"recipe": "2012", "logs": ["a.log"]}, "say whose decisions in the logs count: --player NAME"),
            (HOLDEM, {"recipe": "2012", "player": "Ann"}, "no log is given in which 'Ann' plays; add --log FILE"),
            (HOLDEM, {"recipe": "2014", "logs": ["a.log"], "player": "Ann"}, "there is no recipe '2014'"),
            (HOLDEM, {"boards": 5}, "boards are for measuring two players; holdem_limit_3p has 3, leave them out"),
            ("holdem_limit_2p", {"experts": "r", "objective": "unexploitable"}, "experts are for the objective equil"),
        ],
    )
    def test_options_that_would_be_ignored(self, game: str, changes: dict[str, object], message: str) -> None:
        with pytest.raises(CounterplayError, match=message):
            make_plan(game, "laptop", **changes)  # type: ignore[arg-type]

    def test_the_same_plan_read_from_a_file(self, game: str) -> None:
        plan = small_plan(game, experts="f,cf")
        assert plan.differences(json.loads(json.dumps(dataclasses.asdict(plan)))) == []
        assert small_plan(game, experts="f").differences(dataclasses.asdict(plan))[0].startswith("experts is [['f',")


class TestRecipes:
    def test_what_was_published(self) -> None:
        """Sizes of the agents, counted again: 155.4 M, 262 M, 5.9 G and 797.8 M information sets; 262.1 and 524.2 M."""
        known = published_agents()
        for name in ("2009", "2011", "797m", "1x", "2x"):
            definition, cards = poker_definition(known[name].game), deck_shape(poker_definition(known[name].game))
            counts = parse_recipe(known[name].base[0][1], *cards).counts(*cards)
            assert count_bucket_game(definition, counts).infosets == known[name].infosets
        cards = deck_shape(poker_definition(HOLDEM))
        assert parse_recipe(str(known["2010"].expert), *cards).counts(*cards) == (169, 60_000, 180_000, 26_160)
        assert parse_recipe(str(known["2011"].expert), *cards).counts(*cards) == (169, 180_000, 540_000, 78_480)
        assert [parse_recipe(text, *cards).counts(*cards) for _, text in known["2012"].base] == [
            (169, 1800, 200, 50), (169, 180_000, 765_000, 840_000)
        ]  # fmt: skip
        assert parse_recipe(known["2013"].base[0][1], *cards).counts(*cards) == (169, 180_000, 18_630, 875)

    def test_the_largest_expert_of_2010(self) -> None:
        """Up to 266 million information sets, 797.8 million in 2011."""
        definition, cards = poker_definition(HOLDEM), deck_shape(poker_definition(HOLDEM))
        for name in ("2010", "2011"):
            agent = find_agent(name)
            counts = parse_recipe(str(agent.expert), *cards).counts(*cards)
            largest = max(np.dot(counts, count_betting(definition, after=part).decisions) for part in agent.parts)
            assert largest == pytest.approx(agent.expert_infosets, rel=0.002)

    @pytest.mark.parametrize("name", ["2009", "2010", "2011", "2012", "2013"])
    def test_the_order_of_sizes_is_kept(self, name: str) -> None:
        plan = make_plan(HOLDEM, "laptop", recipe=name)
        assert plan.agent == name
        expected = {"2010": ["folded"]}.get(name, [])
        assert [part for part, _ in plan.zones] == expected
        assert bool(plan.experts) == (name in ("2010", "2011"))
        assert (plan.algorithm, plan.settings.get("profile")) == (
            ("pure-cfr", "last") if name == "2013" else ("external-sampling", "last")
        )
        assert bool(plan.infosets) == (name in ("2012", "2013"))
        assert "KE" not in str(plan)  # k-means takes longer than the preset
        assert make_plan(HOLDEM, "evening", recipe="2010").zones[0][1].startswith("IRlossless/IRKE")
        assert make_plan(HOLDEM, "laptop", recipe="2010-tbr").tilt == "orange 7"

    @pytest.mark.parametrize("infosets", [1e5, 1e6, 1e7, 1e12])
    def test_cut_cards_fit_and_use_the_room(self, infosets: float) -> None:
        cards = deck_shape(poker_definition(HOLDEM))
        decisions = (8, 70, 630, 5670)
        text = "IRlossless/IRT20:KE3000/IRT60:KE3000/T60:KO436"
        most = (169, 60_000, 180_000, 26_160)
        counts = parse_recipe(cut_cards(text, cards, decisions, infosets, None), *cards).counts(*cards)
        assert all(now <= before for now, before in zip(counts, most, strict=True))
        assert np.dot(counts, decisions) <= infosets
        assert np.dot(counts, decisions) > 0.8 * min(infosets, np.dot(most, decisions))
        percentiles = cut_cards(text, cards, decisions, infosets, "PS")
        assert "T" not in percentiles
        assert "K" not in percentiles

    def test_starting_hands_are_kept(self) -> None:
        """They take almost nothing, also where few sequences are important."""
        cards = deck_shape(poker_definition(HOLDEM))
        published = find_agent("2012").base[1][1]
        assert cut_cards(published, cards, (89, 699, 781, 321), 5e6, "PH").startswith("IRlossless/IRPH")

    def test_a_cut_is_never_empty(self) -> None:
        cards = deck_shape(poker_definition(HOLDEM))
        counts = parse_recipe(cut_cards("IRPS16/IRPS16/IRPS16/PS16", cards, (90, 4412, 205_962, 9_501_342), 1.0, "PS"),
                              *cards).counts(*cards)  # fmt: skip
        assert counts[3] == 2
        assert counts[0] == 16


class TestStaticExperts:
    def test_the_stages(self, game: str, built: Path) -> None:
        state = json.loads((built / "build.json").read_text())
        names = list(state["done"])
        assert names[:6] == ["cards", "pairs", "solve", "expert f", "expert cf", "stitch"]
        assert len([name for name in names if name.startswith("match ")]) == 10  # all pairs of four opponents
        assert pipeline_of(small_plan(game, experts="f")) is ExpertPipeline

    def test_an_expert_is_what_the_solver_finds_in_the_part(self, game: str, built: Path) -> None:
        """Base and experts play what separate runs of the solver find, to the bit of the file."""
        whole, base = load_strategy(built / "agent.strategy"), load_strategy(built / "base.strategy")
        assert isinstance(whole, BucketStrategy)
        assert isinstance(base, BucketStrategy)
        tree = whole.abstract.tree
        labels = label_parts(tree, ["f", "cf"])
        report = json.loads((built / "build.json").read_text())["done"]
        cards = parse_recipe("lossless/lossless", *deck_shape(poker_definition(game)))
        assert len(cards.rounds) == 2
        for number, part in enumerate(("f", "cf"), 1):
            buckets = open_game(game, "buckets", cards=[built / "expert-f.cpa"]).buckets
            solved = part_bucket_game(base.abstract, base.strategy(), part, buckets)
            solver = make_solver(
                solved,
                "external-sampling",
                storage="float32",
                seed=0,
                threads=1,
            )
            solver.step(report[f"expert {part}"]["iterations"])
            expert = solver.profile(unmet=TRIVIAL["always-call"])
            for node in np.flatnonzero(labels == number).tolist():
                for bucket in range(solved.tables_at(node)[int(tree.round[node])].count):
                    assert whole.row(node, bucket).tolist() == expert.row(node, bucket).tolist()
        for node in np.flatnonzero((labels == 0) & (tree.player >= 0)).tolist():
            for bucket in range(2):
                assert whole.row(node, bucket).tolist() == base.row(node, bucket).tolist()

    def test_the_base_calls_where_its_run_has_never_been(self, game: str, tmp_path: Path) -> None:
        """It is what the solver finds, and calls elsewhere; one of two players plays uniformly there."""
        for name, spec in (("three", game), ("two", "leduc_limit_2p")):
            plan = dataclasses.replace(small_plan(spec, experts="none"), iterations=3)
            Pipeline(plan, tmp_path / name).run()
            agent = load_strategy(tmp_path / name / "agent.strategy")
            assert isinstance(agent, BucketStrategy)
            solver = make_solver(agent.abstract, "external-sampling", storage="float32", seed=0, threads=1)
            solver.step(3)
            plain, filled = solver.profile(), solver.profile(unmet=TRIVIAL["always-call"])
            assert not np.array_equal(plain.weights, filled.weights)
            assert np.array_equal(agent.weights, (filled if name == "three" else plain).weights)

    def test_the_report(self, game: str, built: Path) -> None:
        report = ExpertPipeline(small_plan(game, experts="f,cf"), built).run()
        assert list(report["experts"]) == ["f", "cf"]
        assert set(report["matches"]) >= set(OPPONENTS)
        assert "always-call and uniform" in report["matches"]
        rows = dict(build_rows(report))
        assert "information sets" in rows["expert after cf"]
        assert report["departures"] == []

    @pytest.mark.parametrize("stage", ["expert f", "expert cf", "stitch", "half of an expert"])
    def test_stopped_and_resumed(self, game: str, built: Path, tmp_path: Path, stage: str) -> None:
        plan = small_plan(game, experts="f,cf")
        title = {"expert f": "expert after f", "stitch": "stitching"}.get(stage, "expert after cf")

        def stop(step: Progress) -> None:
            if step.stage == title and (stage != "half of an expert" or 0.5 < step.share < 1.0):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ExpertPipeline(plan, tmp_path / "built", progress=stop).run()
        ExpertPipeline(plan, tmp_path / "built").run()
        ours, theirs = (read_container(folder / "agent.strategy", KIND)[1] for folder in (tmp_path / "built", built))
        assert np.array_equal(ours["weights"], theirs["weights"])

    def test_betting_that_the_base_never_plays(self, game: str, tmp_path: Path) -> None:
        """There is nothing to learn, and no expert."""
        plan, folder = small_plan(game, experts="f,cf"), tmp_path / "built"

        def stop(step: Progress) -> None:
            if step.stage == "expert after f":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ExpertPipeline(plan, folder, progress=stop).run()
        base = load_strategy(folder / "base.strategy")
        assert isinstance(base, BucketStrategy)
        weights = np.array(base.weights)
        for bucket in range(2):
            first = base.abstract.entry(0, bucket)
            weights[first : first + 2] = 0, 1  # it never folds at first
        dataclasses.replace(base, weights=weights).save(folder / "base.strategy")
        report = ExpertPipeline(plan, folder).run()
        assert report["experts"]["f"]["information_sets"] == 0
        assert report["experts"]["cf"]["information_sets"] > 0
        assert dict(build_rows(report))["expert after f"] == "none: the base never plays that"
        assert ExpertPipeline(plan, folder).run() == report

    def test_three_players_are_not_measured_in_the_real_game(self, built: Path) -> None:
        """Refused before the buckets of all parts are joined, which takes gigabytes in hold'em."""
        with pytest.raises(CounterplayError, match="two players"):
            evaluate(built / "agent.strategy", method="public")

    def test_a_lost_file(self, game: str, tmp_path: Path) -> None:
        plan = small_plan(game, experts="f")
        ExpertPipeline(plan, tmp_path / "built").run()
        (tmp_path / "built" / "expert-f.strategy").unlink()
        with pytest.raises(CounterplayError, match=r"expert-f\.strategy is missing"):
            ExpertPipeline(plan, tmp_path / "built").run()

    def test_by_time(self, game: str, tmp_path: Path) -> None:
        plan = dataclasses.replace(small_plan(game, experts="f,cf"), iterations=None, seconds=0.6, reserve=0.1)
        report = ExpertPipeline(plan, tmp_path / "built").run()
        assert all(one["iterations"] > 0 for one in report["experts"].values())

    def test_the_bankroll_agent_of_2010_was_solved_in_a_tilted_game(
        self, game: str, built: Path, tmp_path: Path
    ) -> None:
        """The experts are those of the tilted part, and not those of the part itself; they are played untilted."""
        plan = dataclasses.replace(small_plan(game, experts="f,cf"), tilt="orange 7")
        ExpertPipeline(plan, tmp_path / "built").run()
        base = load_strategy(tmp_path / "built" / "base.strategy")
        assert isinstance(base, BucketStrategy)
        buckets = open_game(game, "buckets", cards=[tmp_path / "built" / "expert-f.cpa"]).buckets
        tilted = part_bucket_game(dataclasses.replace(base.abstract, tilt=orange(7.0)), base.strategy(), "f", buckets)
        solver = make_solver(
            tilted,
            "external-sampling",
            storage="float32",
            seed=0,
            threads=1,
        )
        solver.step(json.loads((tmp_path / "built" / "build.json").read_text())["done"]["expert f"]["iterations"])
        _, found = read_container(tmp_path / "built" / "expert-f.strategy", KIND)
        assert np.array_equal(found["weights"], solver.profile(unmet=TRIVIAL["always-call"]).weights)
        _, plain = read_container(built / "expert-f.strategy", KIND)
        assert not np.array_equal(found["weights"], plain["weights"])
        whole = load_strategy(tmp_path / "built" / "agent.strategy")
        assert isinstance(whole, BucketStrategy)
        assert whole.abstract.tilt is None

    def test_the_command(self, game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        words = ["build", game, "--preset", "tiny", "--rounds", "IRPS2,PS2", "--iterations", "100", "--deals", "2",
                 "--experts", "f", "--out", str(tmp_path / "built"), "--cache", str(tmp_path / "cache")]  # fmt: skip
        assert main(words) == 0
        shown = capsys.readouterr().out
        assert "expert after f" in shown
        assert main([*words, "--recipe", "2010"]) == 2
        assert "leave out --rounds" in capsys.readouterr().err
        assert main([*words, "a.log"]) == 2
        assert "say what a.log is: --log FILE" in capsys.readouterr().err
        assert main([*words, "--log", "a.log", "b.log", "--player", "Ann"]) == 2
        assert "for the recipes 2012 and 2013" in capsys.readouterr().err
        assert main([*words[:-4], "--out", str(tmp_path / "other"), "--experts", "zz"]) == 2
        assert "nobody decides after 'zz'" in capsys.readouterr().err


AGENT = PublishedAgent(
    "test", "the agent of this test", "folding", (("", "IRPS2/PS2"), ("important 0.2", "IRlossless/lossless")), 1000,
    "chance-sampling", "average", None, (), None, None, None, None,
)  # fmt: skip


class TestZones:
    def test_folded_betting_has_its_own_cards(self, game: str, tmp_path: Path) -> None:
        plan = dataclasses.replace(small_plan(game, experts="none"), zones=(("folded", "IRPS3/PS4"),))
        report = ExpertPipeline(plan, tmp_path / "built").run()
        whole = load_strategy(tmp_path / "built" / "agent.strategy")
        assert isinstance(whole, BucketStrategy)
        tree = whole.abstract.tree
        for node in np.flatnonzero(tree.player >= 0).tolist():
            kinds = (3, 4) if "f" in tree.text(node) else (2, 2)
            assert whole.abstract.tables_at(node)[int(tree.round[node])].count == kinds[int(tree.round[node])]
        assert report["zones"] == {"folded": "IRPS3/PS4"}
        files = [str(tmp_path / "built" / "cards.cpa"), f"folded={tmp_path / 'built' / 'zone-folded.cpa'}"]
        assert GameForms(game, cards=files).bucket_counts().infosets == whole.num_infosets
        with pytest.raises(CounterplayError, match=r"overlap"):
            GameForms(game, cards=[*files, f"rf={files[0]}"]).bucket_counts()
        assert (tmp_path / "built" / "zone-folded.cpa").is_file()

    def test_important_betting_is_found_by_play(
        self, game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for module in (expert_pipeline,):
            monkeypatch.setattr(module, "find_agent", lambda name: AGENT)
            monkeypatch.setattr(module, "SCOUTED", 5000)
        settings = {"storage": "float32", "profile": "last"}
        plan = dataclasses.replace(small_plan(game, experts="none"), agent="test", infosets=100_000, settings=settings)
        report = ExpertPipeline(plan, tmp_path / "built").run()
        found = json.loads((tmp_path / "built" / "build.json").read_text())["done"]["scout"]
        whole = load_strategy(tmp_path / "built" / "agent.strategy")
        assert isinstance(whole, BucketStrategy)
        tree = whole.abstract.tree
        important = label_parts(build_betting_tree(poker_definition(game)), [found["part"]]) > 0
        assert 0 < important.sum() < (tree.player >= 0).sum() / 2
        for node in np.flatnonzero(tree.player >= 0).tolist():
            held = whole.abstract.tables_at(node)[int(tree.round[node])].count
            assert (held > 2) == bool(important[node])
        assert found["information_sets"] == whole.num_infosets
        assert report["important"]["sequences"] == important.sum()
        assert report["departures"][-1].startswith("important betting by play of the base against itself")
        assert "external-sampling in place of chance-sampling" in report["departures"]
        assert "the last profile in place of the average one" in report["departures"]
        rows = [text for _, text in build_rows(report)]
        assert set(report["departures"]) <= set(rows)

    def test_important_betting_is_found_in_logs(
        self, game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The part is that of the values of the logs, and a build that was stopped resumes with it."""
        monkeypatch.setattr(expert_pipeline, "find_agent", lambda name: AGENT)
        rules = poker_definition(game)
        first, second = tmp_path / "a.log", tmp_path / "b.log"
        lines = random_lines(rules, 300)
        first.write_text("\n".join(lines[:200]) + "\n")
        second.write_text("\n".join(lines[200:]) + "\n")
        expected = sequence_values([first, second], "Ann", rules).part(0.2)
        settings = {"storage": "float32", "profile": "last"}
        changes = {"agent": "test", "infosets": 100_000, "settings": settings, "player": "Ann"}
        plan = dataclasses.replace(small_plan(game, experts="none"), logs=(str(first), str(second)), **changes)

        def stop(step: Progress) -> None:
            if step.stage == "solving the bucket game":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ExpertPipeline(plan, tmp_path / "built", progress=stop).run()
        second.unlink()  # the logs were read
        report = ExpertPipeline(plan, tmp_path / "built").run()
        found = json.loads((tmp_path / "built" / "build.json").read_text())["done"]["scout"]
        assert (found["part"], found["hands"], found["iterations"]) == (expected.text, 300, 0)
        assert report["important"]["sequences"] == len(expected.sequences)
        assert report["departures"][-1].startswith("important betting from 300 logged hands of Ann in place of")
        assert "worth more than 0.2 to Ann in 300 logged hands" in dict(build_rows(report))["cards, important"]

    def test_logs_that_do_not_fit(self, game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Refused before there is a folder; a line that breaks later when it is read."""
        monkeypatch.setattr(expert_pipeline, "find_agent", lambda name: AGENT)
        rules, good, other = poker_definition(game), tmp_path / "a.log", tmp_path / "other.log"
        good.write_text("\n".join([*random_lines(rules, 30), "STATE:30:zz:Jh|Qh:0|0:Ann|Bob"]) + "\n")
        other.write_text("\n".join(random_lines(poker_definition("leduc_limit_2p"), 5)) + "\n")
        plan = dataclasses.replace(small_plan(game, experts="none"), agent="test", infosets=100_000, player="Ann")
        bad = [
            ({"logs": (str(other),)}, r"other\.log is no log of"),
            ({"logs": (str(good),), "player": "Dan"}, "nobody is called 'Dan' in the logs"),
            ({"logs": (str(tmp_path / "none.log"),)}, r"no file .*none\.log"),
        ]
        for changes, message in bad:
            with pytest.raises(GameError, match=message):
                ExpertPipeline(dataclasses.replace(plan, **changes), tmp_path / "built")
        assert not (tmp_path / "built").exists()
        with pytest.raises(GameError, match=r"a\.log, line 31: .*; correct the line or take it out"):
            ExpertPipeline(dataclasses.replace(plan, logs=(str(good),)), tmp_path / "built").run()

    def test_values_of_self_play_are_reaches_times_pots(self, game: str) -> None:
        """Uniform play: the reach of every betting is known."""
        form = open_game(game, "buckets", cards=[self.cards(game)])
        values = self_play_values(form, np.ones(form.num_entries, np.uint8), 40_000, 3)
        tree = form.tree
        reach = np.ones(len(tree))
        for node in range(1, len(tree)):
            reach[node] = reach[tree.parent[node]] / tree.num_children[tree.parent[node]]
        assert values.values()[""] == pytest.approx(5.0)  # a third of the hands, blinds of 5 and 10
        for node in np.flatnonzero((tree.player >= 0) & (reach > 0.02)).tolist():
            worth = reach[node] / 3 * 5 * tree.spent[node].sum()
            assert values.values()[tree.text(node)] == pytest.approx(worth, rel=0.1)

    def cards(self, game: str) -> Path:
        from counterplay.abstraction.cards import build_cards

        path = Path(game).parent / "cards.cpa"
        deck, shape = deck_shape(poker_definition(game))
        build_cards(deck, shape, parse_recipe("IRPS2,PS2", deck, shape)).save(path)
        return path


def test_no_recipe_for_another_deck(game: str) -> None:
    with pytest.raises(GameError, match="the recipe 2010 is for holdem_limit_3p"):
        make_plan(game, "tiny", recipe="2010")
