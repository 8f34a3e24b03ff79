"""Builds of portfolios: the components of Polaris, responses to clusters of opponents; plans, stops and misuse."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from counterplay.abstraction.cards import deck_shape, parse_recipe
from counterplay.agents.portfolio import load_portfolio
from counterplay.build import build, pipeline_of
from counterplay.build.build_report import build_rows, markdown_build
from counterplay.build.planning import make_plan
from counterplay.build.polaris import COMPONENTS, polaris_members, texture_cards
from counterplay.build.polaris_pipeline import PolarisPipeline
from counterplay.build.presets import PORTFOLIOS, Plan
from counterplay.build.response_pipeline import ResponsePipeline
from counterplay.cli.main import main
from counterplay.errors import CounterplayError, GameError, MemoryLimitError
from counterplay.evaluation import evaluate
from counterplay.forms import open_game, poker_definition
from counterplay.game.transforms import Tilt, read_tilt
from counterplay.modelling import FrequencyModel, observe, respond
from counterplay.poker.betting import count_betting
from counterplay.runtime.progress import Progress
from counterplay.solvers import make_solver
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy
from tests.modelling.logs import random_lines
from tests.poker.test_bucket_game import THREE_CARDS
from tests.reference.logged_hands import decisions

GAME = "leduc_limit_2p"
SMALL = {"iterations": 200, "deals": 6}
TEXTURES = "holdem_2_4(ranks=4,suits=2)"
"""A game in which boards have textures."""


def small_plan(game: str = GAME, **changes: object) -> Plan:
    return dataclasses.replace(make_plan(game, "polaris", **SMALL, **changes), threads=1)  # type: ignore[arg-type]


def run(plan: Plan, folder: Path, **more: object) -> dict[str, object]:
    return pipeline_of(plan)(plan, folder, **more).run()  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The components in one game with two card abstractions, which nobody has stopped."""
    folder = tmp_path_factory.mktemp("polaris") / "whole"
    return folder, run(textured(), folder)


def textured() -> Plan:
    """A plan in whose game boards have textures, with fewer buckets for the last two components."""
    plan = small_plan(TEXTURES)
    rows = tuple((name, "IRlossless/T:PHS2x2" if tilt in ("red 7", "green 7") else "IRlossless/T:PHS3x2", tilt)
                 for name, _, tilt in plan.members)  # fmt: skip
    return dataclasses.replace(plan, rounds=rows[0][1], members=rows)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two who call, two who raise, each against somebody else."""
    folder, rules = tmp_path_factory.mktemp("logs"), poker_definition(GAME)
    found = []
    for seed, (name, kind) in enumerate({"ann": "c", "bob": "c", "cy": "r", "dan": "r"}.items()):
        lines = list(random_lines(rules, 400, seed, (name, "us")))
        path = folder / f"{name}.log"
        kept = [line for line in lines if likes(line, name, kind, rules.first_players)]
        path.write_text("".join(f"{line}\n" for line in kept[:60]), encoding="utf-8")
        found.append(path)
    return found


def likes(line: str, name: str, kind: str, first: tuple[int, ...]) -> bool:
    """Whether most decisions of a player in a hand are of a kind."""
    done = [one.action[0] for one in decisions(line, name, first)]
    return 2 * done.count(kind) > len(done)


def response_plan(logs: list[Path], **changes: object) -> Plan:
    return make_plan(GAME, "portfolio", logs=logs, against="ann,bob,cy,dan", clusters=2, **SMALL, **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """Responses to two clusters."""
    folder = tmp_path_factory.mktemp("responses") / "whole"
    return folder, run(response_plan(logs), folder)


class TestPolaris:
    def test_table_2_3(self) -> None:
        """The tilts as published: win a showdown, lose it, lose by folding, win by a fold."""
        expected = [(0, 0, 0, 0), (7, 0, 0, 7), (0, 0, 0, 7), (0, -7, 0, 0), (0, -7, 0, -7)]
        tilts = [dataclasses.astuple(read_tilt(one.tilt) or Tilt()) for one in COMPONENTS]
        assert tilts == expected
        assert [one.name for one in COMPONENTS] == ["pink", "orange", "peach", "red", "green"]
        assert {one.infosets for one in COMPONENTS[:3]} == {266_135_752}
        assert {one.infosets for one in COMPONENTS[3:]} == {115_386_552}

    def test_a_plan_of_limit_holdem(self) -> None:
        """Textures and nested percentiles, forgotten; within the preset, the two smaller ones within their share."""
        plan = make_plan("holdem_limit_2p", "polaris")
        definition = poker_definition("holdem_limit_2p")
        cards, decisions = deck_shape(definition), count_betting(definition).decisions
        sizes = {}
        for name, rounds, _ in plan.members:
            recipe = parse_recipe(rounds, *cards)
            assert recipe.recall == "imperfect"
            assert [entry.textures for entry in recipe.rounds] == [False, True, True, True]
            assert {entry.family for entry in recipe.rounds[1:]} == {"PHS"}
            sizes[name] = int(np.dot(recipe.counts(*cards), decisions))
        most = PORTFOLIOS["polaris"].infosets
        assert 0.8 * most < sizes["pink"] <= most
        share = (115_386_552 / 266_135_752) ** 0.25
        assert 0.8 * share * most < sizes["green"] <= share * most
        assert sizes["pink"] == sizes["orange"] == sizes["peach"] > sizes["red"] == sizes["green"]

    @pytest.mark.parametrize("infosets", [300, 1_000, 5_000, 20_000, 10**6])
    def test_cards_are_the_finest_that_fit(self, infosets: int) -> None:
        definition = poker_definition("holdem_2_4")
        cards, decisions = deck_shape(definition), count_betting(definition).decisions

        def size(text: str) -> int:
            return int(np.dot(parse_recipe(text, *cards).counts(*cards), decisions))

        recipe = str(texture_cards(definition, infosets, decisions))
        assert size(recipe) <= infosets
        pairs = recipe.rpartition("PHS")[2].partition("x")[0]
        assert size(recipe.replace(f"PHS{pairs}x2", f"PHS{int(pairs) + 1}x2")) > infosets
        assert ("T:" in recipe) == (infosets >= 1_000 * 2)

    def test_other_games(self) -> None:
        assert {rounds for _, rounds, _ in small_plan().members} == {"lossless/lossless"}
        with pytest.raises(GameError, match="the preset polaris is for two players; the game has 3"):
            make_plan("kuhn_limit_3p", "polaris")
        with pytest.raises(GameError, match="hands of three cards have no strength"):
            polaris_members(THREE_CARDS, 10, (1, 1, 1))

    def test_members_are_solved_in_tilted_games(self, built: tuple[Path, dict[str, object]]) -> None:
        """Each as by its solver alone, and played in the real game; the manifest has what is exact."""
        folder, _report = built
        portfolio = load_portfolio(folder)
        assert portfolio.names == tuple(one.name for one in COMPONENTS)
        assert portfolio.names[portfolio.equilibrium] == "pink"
        for member, (name, _, tilt) in zip(portfolio.members, textured().members, strict=True):
            strategy = member.strategy
            assert isinstance(strategy, BucketStrategy)
            assert strategy.abstract.tilt is None
            file = folder / ("red.cpa" if name in ("red", "green") else "pink.cpa")
            game = open_game(TEXTURES, "buckets", cards=[file])
            game = dataclasses.replace(game, tilt=read_tilt(tilt)).laid_out()
            solver = make_solver(game, "external-sampling", seed=0, threads=1, storage="float32")
            solver.step(200)
            same = BucketStrategy.of_game(strategy.abstract, solver.strategy())
            other = load_strategy(folder / f"{name}.strategy")
            same.save(folder.parent / "same.strategy")
            saved = load_strategy(folder.parent / "same.strategy")
            assert isinstance(other, BucketStrategy)
            assert isinstance(saved, BucketStrategy)
            np.testing.assert_array_equal(saved.weights, other.weights)
            exact = evaluate(strategy, progress=False).exploitability
            assert member.exploitability == pytest.approx(exact, abs=1e-9)
        weights = [load_strategy(folder / f"{name}.strategy").weights for name in ("pink", "orange", "peach")]  # type: ignore[attr-defined]
        assert not np.array_equal(weights[0], weights[1])
        assert not np.array_equal(weights[0], weights[2])

    def test_the_report_prints_every_departure(self, built: tuple[Path, dict[str, object]]) -> None:
        _, report = built
        rows = build_rows(report)
        text = "\n".join(f"{name}: {value}" for name, value in rows)
        for one in COMPONENTS:
            size = report["members"][one.name]["information_sets"]  # type: ignore[index]
            assert f"{one.name}: {size:,} information sets in place of {one.infosets:,}" in text
            assert f"published, in limit hold'em: {one.exploitability:g} mbb/g" in text
        for word in (
            "textures and percentiles are not specified",
            "in place of chance sampling",
            "thompson, on estimates by ac+ef",
        ):
            assert word in text
        assert "Portfolio: this folder" in markdown_build(report)
        assert "in a game tilted green 7" in text

    def test_a_stopped_build_resumes_to_the_same_bits(
        self, built: tuple[Path, dict[str, object]], tmp_path: Path
    ) -> None:
        """Stopped in the first, a middle and the last stage."""
        folder = tmp_path / "stopped"
        stops = ["solving pink", "solving peach", "exploitability of red", "match against uniform"]
        seen: list[str] = []

        def stop(now: Progress) -> None:
            seen.append(now.stage)
            if stops and now.stage == stops[0]:
                del stops[0]
                raise KeyboardInterrupt

        while True:
            try:
                report = run(textured(), folder, progress=stop)
                break
            except KeyboardInterrupt:
                assert not (folder / "portfolio.json").exists() or "match" in seen[-1]
        whole, before = built
        for name in (one.name for one in COMPONENTS):
            found, wanted = load_strategy(folder / f"{name}.strategy"), load_strategy(whole / f"{name}.strategy")
            np.testing.assert_array_equal(found.weights, wanted.weights)  # type: ignore[attr-defined]
        assert load_portfolio(folder).exploitabilities() == load_portfolio(whole).exploitabilities()
        for key in ("departures", "losses"):
            assert report[key] == before[key]
        for name, row in report["matches"].items():  # type: ignore[attr-defined]
            assert row["mbb"] == before["matches"][name]["mbb"]  # type: ignore[index]

    def test_memory_is_planned_before(self, tmp_path: Path) -> None:
        plan = make_plan("holdem_limit_2p", "polaris")
        pipeline = pipeline_of(plan)(plan, tmp_path / "x", memory_limit=10 << 20)
        with pytest.raises(MemoryLimitError, match="the largest member of the preset polaris needs about"):
            pipeline.run()
        assert not list((tmp_path / "x").glob("*.cpa"))


class TestResponses:
    def test_clusters_are_those_who_bet_alike(self, made: tuple[Path, dict[str, object]], logs: list[Path]) -> None:
        folder, report = made
        groups = [report["members"][f"cluster-{number}"]["opponents"] for number in (1, 2)]  # type: ignore[index]
        assert sorted(map(sorted, groups)) == [["ann", "bob"], ["cy", "dan"]]
        portfolio = load_portfolio(folder)
        assert portfolio.names == ("equilibrium", "cluster-1", "cluster-2")
        assert portfolio.equilibrium == 0

    def test_members_are_the_responses(self, made: tuple[Path, dict[str, object]], logs: list[Path]) -> None:
        """Data biased responses to what the opponents of a cluster did together; the equilibrium gives nothing away."""
        folder, report = made
        game = open_game(GAME, "buckets", cards=[folder / "cards.cpa"])
        for number in (1, 2):
            row = report["members"][f"cluster-{number}"]  # type: ignore[index]
            seen = observe(logs, row["opponents"], game)
            assert row["hands"] == seen.hands == 120
            wanted = respond(game, FrequencyModel(seen), "dbr", 0.75, algorithm="dcfr", iterations=200, progress=False)
            found = load_strategy(folder / f"cluster-{number}.strategy")
            assert isinstance(found, BucketStrategy)
            assert isinstance(wanted.strategy, BucketStrategy)
            wanted.strategy.save(folder.parent / "wanted.strategy")
            kept = load_strategy(folder.parent / "wanted.strategy")
            assert isinstance(kept, BucketStrategy)
            np.testing.assert_array_equal(found.weights, kept.weights)
            assert row["inside_mbb"] == pytest.approx(1000 * wanted.exploitability)
            assert row["wins_mbb"] == pytest.approx(1000 * wanted.value_against_model)
            assert row["inside_mbb"] > 5 * report["members"]["equilibrium"]["inside_mbb"]  # type: ignore[index]
        assert report["members"]["equilibrium"]["inside_mbb"] < 10  # type: ignore[index]

    def test_a_stopped_build_resumes(
        self, made: tuple[Path, dict[str, object]], logs: list[Path], tmp_path: Path
    ) -> None:
        """From logs that have moved, too; and what differs is refused."""
        folder, stops = tmp_path / "stopped", ["clusters of opponents", "solving equilibrium", "solving cluster-2"]
        moved = [tmp_path / path.name for path in logs]
        for old, new in zip(logs, moved, strict=True):
            new.write_bytes(old.read_bytes())
        given = [logs, moved, logs, moved]

        def stop(now: Progress) -> None:
            if stops and now.stage == stops[0]:
                del stops[0]
                raise KeyboardInterrupt

        for files in given:
            try:
                run(response_plan(files), folder, progress=stop)
            except KeyboardInterrupt:
                continue
        whole, _ = made
        for name in ("equilibrium", "cluster-1", "cluster-2"):
            found, wanted = load_strategy(folder / f"{name}.strategy"), load_strategy(whole / f"{name}.strategy")
            np.testing.assert_array_equal(found.weights, wanted.weights)  # type: ignore[attr-defined]
        for changes, message in (({"pmax": 0.5}, "trust is 0.75 there"), ({"seed": 1}, "seed is 0 there")):
            with pytest.raises(GameError, match=message):
                run(response_plan(logs, **changes), folder)
        moved[0].write_bytes(moved[0].read_bytes() + logs[1].read_bytes())
        with pytest.raises(GameError, match="digests is"):
            run(response_plan(moved), folder)

    def test_memory_is_planned_before(self, logs: list[Path], tmp_path: Path) -> None:
        pipeline = pipeline_of(response_plan(logs))(response_plan(logs), tmp_path / "x", memory_limit=1000)
        with pytest.raises(MemoryLimitError, match="the largest member of the preset portfolio needs about"):
            pipeline.run()

    def test_the_usual_opponents_are_all_of_the_logs(self, logs: list[Path]) -> None:
        plan = make_plan(GAME, "portfolio", logs=logs, **SMALL)  # type: ignore[arg-type]
        assert plan.rivals == ("ann", "bob", "cy", "dan", "us")
        assert (plan.clusters, plan.trust) == (4, 0.75)
        assert make_plan(GAME, "portfolio", logs=logs[:1], against="ann").clusters == 1
        assert pipeline_of(plan) is ResponsePipeline
        assert pipeline_of(small_plan()) is PolarisPipeline
        holdem = make_plan("rhode_island", "laptop").recipe()
        assert holdem.recall == "perfect"


class TestMisuse:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({}, "made from logs of opponents; name them: --log FILE"),
            ({"logs": []}, "made from logs of opponents; name them: --log FILE"),
            ({"logs": ["nowhere.log"]}, "no file nowhere.log"),
            ({"logs": 1, "clusters": 3}, r"2 opponents \(ann, us\), which cannot make 3 clusters; ask for fewer with"),
            ({"logs": 1, "clusters": 0}, "at least 1 cluster; got 0"),
            ({"logs": 1, "against": "anne"}, "nobody is called 'anne' in the logs; did you mean 'ann'"),
            ({"logs": 1, "against": " , "}, "--against takes names in the logs"),
            ({"logs": 1, "pmax": 1.5}, "1.5"),
            ({"logs": 1, "rounds": "IR3/3"}, "responses need cards with perfect recall"),
            ({"logs": 1, "experts": "r"}, "--experts is not for the preset portfolio; leave it out"),
            ({"logs": 1, "player": "ann"}, "--player is not for the preset portfolio; leave it out"),
            ({"logs": 1, "objective": "unexploitable"}, "leave out --objective"),
        ],
    )
    def test_portfolio(self, changes: dict[str, object], message: str, logs: list[Path]) -> None:
        given = {**changes, **({"logs": logs[:1]} if changes.get("logs") == 1 else {})}
        with pytest.raises(CounterplayError, match=message):
            make_plan(GAME, "portfolio", **given)  # type: ignore[arg-type]

    def test_logs_of_another_game(self, logs: list[Path], tmp_path: Path) -> None:
        with pytest.raises(GameError, match="is no log of holdem_limit_2p; it fits leduc_limit_2p"):
            make_plan("holdem_limit_2p", "portfolio", logs=logs)
        empty = tmp_path / "empty.log"
        empty.write_text("# nothing\n")
        with pytest.raises(GameError, match=r"empty\.log holds no hands"):
            make_plan(GAME, "portfolio", logs=[empty])
        with pytest.raises(GameError, match="the preset portfolio is for two players"):
            make_plan("kuhn_limit_3p", "portfolio", logs=logs)

    @pytest.mark.parametrize(
        ("preset", "changes", "message"),
        [
            ("polaris", {"rounds": "3,3"}, "--rounds is not for the preset polaris; leave it out"),
            ("polaris", {"logs": ["x.log"]}, "--log is not for the preset polaris; leave it out"),
            ("polaris", {"recipe": "2010"}, "--recipe is not for the preset polaris"),
            ("tiny", {"clusters": 3}, "--clusters is for the preset portfolio; add --preset portfolio"),
            ("tiny", {"logs": ["x.log"]}, "or make a portfolio of responses to the opponents in them: --preset portf"),
        ],
    )
    def test_options_that_would_be_ignored(self, preset: str, changes: dict[str, object], message: str) -> None:
        with pytest.raises(GameError, match=message):
            make_plan(GAME, preset, **changes)  # type: ignore[arg-type]


def test_the_command(logs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Built, then played by match as any portfolio; the folder may be moved."""
    out = tmp_path / "p"
    words = ["build", GAME, "--preset", "portfolio", "--log", *map(str, logs), "--against", "ann,cy", "--clusters=2"]
    assert main([*words, "--iterations=20", "--deals=4", "--out", str(out), "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "a portfolio by the preset portfolio" in shown
    assert f"counterplay match {out} always-call --show" in shown
    assert "a response to ann in 60 hands" in shown
    moved = out.rename(tmp_path / "moved")
    assert main(["match", f"{moved}?select=fixed", "always-call", "--deals", "4", "--json"]) == 0
    played = json.loads(capsys.readouterr().out)
    report = json.loads((moved / "report.json").read_text())
    assert report["members"]["cluster-1"]["hands"] == 60
    assert played["agents"][0]["name"] == "moved"
    assert main(["build", GAME, str(logs[0]), "--preset", "portfolio"]) == 2
    assert "say what" in capsys.readouterr().err


def test_a_member_that_is_missing_is_said(tmp_path: Path) -> None:
    plan = dataclasses.replace(small_plan(), deals=1, iterations=20)
    run(plan, tmp_path / "x")
    (tmp_path / "x" / "red.strategy").unlink()
    with pytest.raises(CounterplayError, match=r"red\.strategy is missing"):
        run(plan, tmp_path / "x")
    with pytest.raises(GameError, match="other settings"):
        build(GAME, "polaris", tmp_path / "x", **SMALL)  # type: ignore[arg-type]
