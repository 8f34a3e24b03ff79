"""``counterplay stitch`` and ``solve --part --fix``: what they write, that other verbs take it, what they refuse."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.abstraction.cards import CardAbstraction
from counterplay.cli.main import main
from counterplay.forms import open_game
from counterplay.solvers.solver import Solver
from counterplay.strategy import BucketStrategy, TabularStrategy, load_strategy, stitch
from tests.cli.conftest import Run, RunJson


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A strategy of Leduc hold'em that is far from an equilibrium."""
    path = tmp_path / "base.strategy"
    TabularStrategy.random("leduc", 1).save(path)
    return path


@pytest.fixture
def bucket_base(tmp_path: Path) -> Path:
    """A strategy in coarse buckets, with the cards of an expert next to it."""
    CardAbstraction.single((3, 2), (1, 1)).save(tmp_path / "coarse.cpa")
    CardAbstraction.lossless((3, 2), (1, 1)).save(tmp_path / "fine.cpa")
    game = open_game("leduc_limit_2p", "buckets", cards=[tmp_path / "coarse.cpa"])
    weights = np.random.default_rng(1).random(game.num_entries)
    path = tmp_path / "base.strategy"
    BucketStrategy.of_game(game, BucketStrategy.of_game(game, weights).strategy()).save(path)
    return path


def test_a_part_and_a_stitched_strategy(run: Run, run_json: RunJson, base: Path, tmp_path: Path) -> None:
    expert, other, out = tmp_path / "kkb", tmp_path / "b", tmp_path / "stitched"
    found = run_json("solve", "leduc", "--part", "kk/b", "--fix", base, "--iterations", "300", "--out", expert, "-q")
    assert found["game"] == "leduc"
    assert found["abstract"]["game"] == "leduc in part kk/b"
    assert found["abstract"]["exploitability"] < 1e-3 < found["exploitability"]
    run("solve", "leduc", "--part", "b@1", "--fix", base, "--iterations", "50", "--out", other, "-q")
    told = run_json("stitch", base, "--expert", f"kk/b={expert}", "--expert", f"b@1={other}", "--out", out)
    assert (told["game"], told["information_sets"]) == ("leduc", 288)
    expected = stitch(load_strategy(base), {"kk/b": load_strategy(expert), "b@1": load_strategy(other)})
    measured = run_json("evaluate", out)
    assert measured["exploitability"] == pytest.approx(cp.evaluate(expected).exploitability, abs=1e-12)
    text = run("stitch", base, "--expert", f"kk/b={expert}", "--out", out)
    assert f"counterplay evaluate {out}" in text
    for row in run_json("show", out, "--infosets")["infosets"]:
        source = load_strategy(expert if row["infoset"].partition(":")[2].startswith("kk/b") else base)
        assert row["probabilities"] == pytest.approx(source.probabilities(row["player"] - 1, row["infoset"]))


@pytest.mark.parametrize(
    ("game", "words", "files"),
    [
        ("leduc", ("--part", "kk/b", "--algorithm", "cfr+"), False),
        ("leduc", ("--part", "b@1", "-a", "chance-sampling", "--forget", "ranks=JQ-K,outside=b"), False),
        ("leduc_limit_2p", ("--part", "cc/r", "--cards", "fine.cpa"), True),
        ("leduc_limit_2p", ("--part", "r@1", "--cards", "fine.cpa", "-a", "external-sampling"), True),
    ],
)
def test_the_printed_command_continues_to_the_same_bits(
    game: str, words: tuple[str, ...], files: bool, run: Run, request: pytest.FixtureRequest, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    request.getfixturevalue("bucket_base" if files else "base")
    plain = ("solve", game, *words, "--fix", "base.strategy", "--iterations", "3000", "-q")
    run(*plain, "--out", "whole.strategy")
    real, calls = Solver.advance, []

    def stopping(self: Solver, *args: object) -> str:
        if calls:
            return real(self, *args)  # type: ignore[arg-type]
        calls.append(1)
        self.step(1700)
        return "interrupted"

    monkeypatch.setattr(Solver, "advance", stopping)
    text = run(*plain, code=130)
    (line,) = (row for row in text.splitlines() if "--resume" in row)
    again = shlex.split(line.partition("  # ")[0])[1:]
    assert "/" not in again[again.index("--resume") + 1]
    run(*again, "--out", "again.strategy", "-q")
    one, other = (load_strategy(f"{name}.strategy") for name in ("whole", "again"))
    assert [row for *_, row in one.infosets()] == [row for *_, row in other.infosets()]


def test_dynamic_experts_by_cards_of_a_part(run: Run, run_json: RunJson, bucket_base: Path, tmp_path: Path) -> None:
    words = ("--cards", tmp_path / "coarse.cpa", "--cards", f"r={tmp_path / 'fine.cpa'}")
    out = tmp_path / "dynamic"
    run("solve", "leduc_limit_2p", *words, "-a", "external-sampling", "--iterations", "100", "--out", out, "-q")
    found = load_strategy(out)
    assert isinstance(found, BucketStrategy)
    assert [zone.part for zone in found.abstract.zones] == ["r"]
    game = open_game("leduc_limit_2p", "buckets", cards=[tmp_path / "coarse.cpa", f"r={tmp_path / 'fine.cpa'}"])
    assert game.fingerprint == found.abstract.fingerprint
    assert run_json("evaluate", out)["exploitability"] > 0.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("stitch", "BASE", "--out", "x"), "name at least one expert: --expert rf=FILE"),
        (("stitch", "BASE", "--expert", "b=BASE", "--expert", "br=BASE", "--out", "x"), "'b' and 'br' overlap"),
        (("stitch", "BASE", "--expert", "b=BASE", "--expert", "b=BASE", "--out", "x"), "'b' has two experts"),
        (("stitch", "BASE", "--expert", "r=BASE", "--expert", "b=BASE", "--out", "x"), "overlap"),
        (("stitch", "BASE", "--expert", "b=BASE", "--out", "BASE"), "write to another one"),
        (("stitch", "BASE", "--expert", "=BASE", "--out", "x"), "takes PART=FILE"),
        (("stitch", "BASE", "--expert", "b=", "--out", "x"), "takes PART=FILE"),
        (("stitch", "BASE", "--expert", "only:@1=BASE", "--expert", "only:kb@1=BASE", "--out", "x"), "condition 3"),
        (("solve", "leduc", "--part", "b"), "part needs fix"),
        (("solve", "leduc", "--fix", "BASE"), "fix needs part"),
        (("solve", "leduc", "--part", "x", "--fix", "BASE"), "no betting 'x'"),
        (("solve", "leduc", "--part", "b", "--fix", "nothing"), "there is no file nothing"),
        (("solve", "kuhn(players=3)", "--part", "b", "--fix", "BASE"), "is a strategy of leduc"),
        (("solve", "leduc", "--part", "b", "--fix", "BASE", "-a", "cfr+ira"), "abstracts the whole game"),
        (("solve", "leduc", "--part", "b", "--fix", "BASE", "--map-out", "x"), "map_out is not for a part"),
        (("solve", "leduc", "--part", "b", "--fix", "BASE", "--representation", "states"), "on histories or in"),
        (("solve", "leduc", "--part", "b", "--fix", "BASE", "--cards", "x.cpa"), "must be a strategy by buckets"),
        (("solve", "holdem", "--board", "KsTd7h4c2s", "--pot", "60", "--stack", "150", "--oop", "AA", "--ip", "KK",
          "--part", "r", "--fix", "BASE"), "not for hold'em subgames"),
    ],
)  # fmt: skip
def test_refusals_in_one_line(
    words: tuple[str, ...],
    message: str,
    base: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(base.parent)
    assert main([word.replace("BASE", "base.strategy") for word in words]) == 2
    streams = capsys.readouterr()
    assert streams.err.count("\n") == 1
    assert message in streams.err


def test_a_checkpoint_of_a_part_says_what_it_needs(run: Run, base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = base.parent / "kept"
    words = ("solve", "leduc", "--part", "kk/b", "--fix", base, "--iterations", "20", "-q")
    run(*words, "--checkpoint", kept)
    assert main(["solve", "--resume", str(kept)]) == 2
    assert f"counterplay solve GAME --part kk/b --fix BASE --resume {kept}" in capsys.readouterr().err


def test_a_part_that_is_resumed_with_something_else(
    run: Run, bucket_base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what differs: the game, the part, or else the base."""
    base = tmp_path / "base"
    TabularStrategy.random("leduc", 1).save(base)
    kept, buckets, whole = tmp_path / "kept", tmp_path / "buckets", tmp_path / "whole"
    run("solve", "leduc", "--part", "kk/b", "--fix", base, "--iterations", "20", "-q", "--checkpoint", kept)
    words = ("--part", "cc/r", "--fix", bucket_base, "--iterations", "20", "-q")
    run("solve", "leduc_limit_2p", *words, "--checkpoint", buckets)
    run("solve", "leduc", "--iterations", "20", "-q", "--checkpoint", whole)
    TabularStrategy.random("leduc", 2).save(tmp_path / "other")
    TabularStrategy.random("leduc(ranks=4)", 2).save(tmp_path / "larger")
    coarse = str(tmp_path / "fine.cpa")
    for game, part, fix, path, message in (
        ("leduc(ranks=4)", "kk/b", "larger", kept, "its game is leduc, not leduc(ranks=4);"),
        ("leduc(ranks=4)", "kk/b", base, kept, "its game is leduc, not leduc(ranks=4);"),
        ("leduc(ranks=4)", "kb", "larger", kept, "its game is leduc, not leduc(ranks=4) and its part is kk/b, not kb;"),
        ("leduc", "kb", base, kept, "its part is kk/b, not kb;"),
        ("leduc", "kk/b", "other", kept, "its base plays otherwise than "),
        ("leduc_limit_2p", "cr", bucket_base, buckets, "its part is cc/r, not cr;"),
        ("kuhn_limit_2p", "cr", "uniform", buckets, "its game is leduc_limit_2p, not kuhn_limit_2p"),
        ("leduc", "kk/b", base, whole, "it solves the whole game, not the part kk/b;"),
    ):
        file = fix if fix == "uniform" else str(tmp_path / fix)
        assert main(["solve", game, "--part", part, "--fix", file, "--resume", str(path)]) == 2
        assert f"{path} is a checkpoint of another run: {message}" in capsys.readouterr().err
    words = ("--part", "cc/r", "--fix", str(bucket_base), "--cards", coarse, "--resume", str(buckets))
    assert main(["solve", "leduc_limit_2p", *words]) == 2
    assert "or it has other card abstractions; give the same again" in capsys.readouterr().err


def test_parts_of_compiled_games_and_of_games_by_hand() -> None:
    """From Python the game may be a tree: the first player's answer to a check and a bet, all else uniform."""
    tree = cp.compile_game("kuhn")
    for game in ("kuhn", tree, cp.make("kuhn")):
        found = cp.solve(game, "cfr+", part="kb", fix="uniform", iterations=400)
        assert found.profile["J:kb"]["fold"] > 0.99
        assert found.profile["K:kb"]["call"] > 0.99
        assert found.profile["Q:"] == {"check": 0.5, "bet": 0.5}
        assert found.abstract is not None
        assert found.abstract.game == "kuhn in part kb"
