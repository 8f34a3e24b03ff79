"""``evaluate``: every storage by every method; exact methods agree, the others are refused in one line."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.cli.main import main
from counterplay.errors import CounterplayError, GameError, StrategyError
from counterplay.evaluation import METHODS, Measurement, evaluate, methods
from counterplay.evaluation.bucket_pairs import count_bucket_pairs
from counterplay.evaluation.front import _TABLE
from counterplay.evaluation.lifted_buckets import LiftedStrategy, RealGame
from counterplay.forms import open_game, poker_definition
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.cards import RANKS
from counterplay.poker.postflop.subgame import Subgame
from counterplay.runtime.progress import Progress
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_strategy import FunctionStrategy, PublicStrategy, fill_table
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL
from tests.poker.test_bucket_game import forgetting, lossless, remembering

GAME = "leduc_limit_2p"
SAME = 1e-10
EXACT = ("history", "public", "split", "buckets")
PAIRS = [pair for pair in _TABLE if pair[0] in ("tabular", "public", "bucket") and pair[1] in EXACT]
STORAGES = ("tabular", "public", "bucket", "trivial", "function")


def buckets(made: Any = lossless, seed: int = 2) -> BucketStrategy:
    """Drawn weights in buckets; some actions are never played."""
    game = BucketGame.build(poker_definition(GAME), made(poker_definition(GAME)), name=GAME)
    weights = np.random.default_rng(seed).random(game.num_entries)
    weights[weights < 0.2] = 0.0
    return BucketStrategy.of_game(game, weights)


def by_cards(board: str, betting: str, hand: str, actions: tuple[str, ...]) -> list[float]:
    rank = RANKS.index(hand[0]) + (6 if board.strip().startswith(hand[0]) else 0)
    weights = [1.0 + (rank if action.startswith("r") else 20 - rank) for action in actions]
    return [weight / sum(weights) for weight in weights]


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    """The same strategy of the same game in three storages, and two that are none."""
    profile = buckets()
    tree = open_game(GAME, "public")
    first, second = (fill_table(tree, player, LiftedStrategy(profile)) for player in (0, 1))
    return {
        "bucket": profile,
        "tabular": profile.lifted(open_game(GAME, "history")),
        "public": PublicStrategy.of_tree(tree, (first, second)),
        "trivial": TRIVIAL["50/50"],
        "function": FunctionStrategy(by_cards),
    }


def game_of(strategy: Any) -> str | None:
    """Strategies that are stored know their game."""
    return None if hasattr(strategy, "game") else GAME


def close(found: Measurement, expected: Measurement) -> None:
    assert found.value == pytest.approx(expected.value, abs=SAME)
    assert found.best_response == pytest.approx(expected.best_response, abs=SAME)
    assert found.exploitability == pytest.approx(expected.exploitability, abs=SAME)


@pytest.mark.parametrize(("storage", "method"), PAIRS)
def test_exact_methods_agree_on_one_strategy(stored: dict[str, Any], storage: str, method: str) -> None:
    expected = evaluate(stored["tabular"], method="history")
    found = evaluate(stored[storage], method=method)
    close(found, expected)
    assert (found.method, found.game, found.big_blind) == (method, GAME, 1.0)
    assert found.exploitability_mbb == pytest.approx(1000 * expected.exploitability)


@pytest.mark.parametrize("agent", TRIVIAL)
def test_exact_methods_agree_on_trivial_strategies(agent: str) -> None:
    expected = evaluate(agent, GAME, "history")
    for method in ("public", "split", "card-free"):
        close(evaluate(agent, GAME, method), expected)


def test_a_function_is_measured_where_its_table_is(stored: dict[str, Any]) -> None:
    whole, split = (evaluate(stored["function"], GAME, method) for method in ("public", "split"))
    close(split, whole)
    assert whole.exploitability > 0.1


def test_bounds_meet_where_nothing_is_sampled(stored: dict[str, Any]) -> None:
    expected = evaluate(stored["tabular"])
    found = evaluate(stored["bucket"], method="bounds", drawn_round="preflop")
    assert found.bounds is not None
    assert found.bounds.upper is not None
    assert found.bounds.lower.mean == pytest.approx(expected.exploitability, abs=SAME)
    assert found.bounds.upper.mean == pytest.approx(expected.exploitability, abs=SAME)
    assert math.isnan(found.exploitability)
    assert not found.measured


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("method", METHODS[1:])
def test_other_methods_are_refused_with_a_reason(stored: dict[str, Any], storage: str, method: str) -> None:
    strategy = stored[storage]
    if (storage, method) in _TABLE:
        found = evaluate(strategy, game_of(strategy), method)
        assert found.method == method
        return
    with pytest.raises(StrategyError, match=f"is not measured by {method}: it ") as error:
        evaluate(strategy, game_of(strategy), method)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("storage", ["tabular", "public"])
def test_a_file_is_measured_as_the_strategy(stored: dict[str, Any], storage: str, tmp_path: Path) -> None:
    strategy = stored[storage]
    strategy.save(tmp_path / "kept.strategy")
    assert evaluate(tmp_path / "kept.strategy") == evaluate(strategy)
    assert cp.exploitability(str(tmp_path / "kept.strategy")) == evaluate(strategy).exploitability
    assert cp.evaluate(strategy).provenance == strategy.provenance


def test_forms_that_are_already_made(stored: dict[str, Any]) -> None:
    profile = stored["bucket"]
    tree, public = open_game(GAME, "history"), open_game(GAME, "public")
    forms = {"history": tree, "public": public, "buckets": count_bucket_pairs(profile.abstract)}
    for method, form in forms.items():
        assert evaluate(profile, form).method == method
        close(evaluate(profile, form), evaluate(profile, method=method))
    close(evaluate(profile, RealGame(profile.abstract, public)), evaluate(profile, method="public"))


def test_auto_measures_buckets_in_both_games() -> None:
    profile = buckets(remembering)
    found = evaluate(profile, bounds=4, seed=3)
    assert found.method == "public"
    close(found, evaluate(profile, method="history"))
    assert found.abstract == evaluate(profile, method="buckets")
    assert found.bounds == evaluate(profile, method="bounds", bounds=4, seed=3).bounds
    assert found.notes == ()


def test_players_who_forget_are_measured_in_the_real_game_only() -> None:
    found = evaluate(buckets(forgetting))
    assert found.abstract is None
    assert found.measured
    assert "needs perfect recall" in found.notes[0]
    assert found.to_dict()["abstract"] is None


def test_a_real_game_that_is_too_large_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterplay.evaluation.lifted_buckets.PUBLIC_INFOSETS", 1)
    with pytest.raises(GameError, match="too many for an exact best response"):
        evaluate(buckets(), method="public")
    close(evaluate(buckets()), evaluate(buckets(), method="history"))  # its histories are few
    monkeypatch.setattr(methods, "REAL_HISTORIES", 1)
    found = evaluate(buckets())
    assert found.method == "split"  # one first deal at a time fits
    close(found, evaluate(buckets(), method="history"))
    assert found.abstract == evaluate(buckets(), method="buckets")
    assert evaluate(buckets(), flops=2).estimate is not None
    found = evaluate(buckets(), bounds=4, seed=3)  # bounds instead, by name
    assert not found.measured
    assert found.bounds == evaluate(buckets(), method="bounds", bounds=4, seed=3).bounds
    assert found.notes == ("not measured exactly: the real game is too large",)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["exploitability"] is None
    assert told["abstract"]["exploitability"] > 0


def test_an_abstract_game_and_the_real_one() -> None:
    forms = methods.GameForms("leduc forgetting initial")
    assert forms.abstraction is not None
    profile = TabularStrategy.random(forms.history(), 5)
    found = evaluate(profile)
    assert found.game == "leduc"
    assert found == evaluate(forms.abstraction.lift(profile, forms.real), forms.real)
    assert found.abstract == evaluate(profile, forms.history())
    assert evaluate("random", "leduc forgetting initial", seed=5) == found


def test_ranges_that_differ() -> None:
    """Showdowns are worth something to players who ignore their cards if one holds better ones."""
    name = Subgame("Ks Td 7h 4c 2s", 10, 20, "QQ+", "99-88,A9s", "allin", "allin").name
    found = evaluate("always-call", name)
    assert found.method == "public"
    assert found.value[0] > 1
    assert found.pot == 10


def test_uniform_play_of_a_game_that_is_no_poker() -> None:
    found = evaluate("uniform", "bluff(sides=5)")
    close(evaluate("uniform", "bluff(sides=5)", "public"), found)
    small = evaluate("uniform", "bluff(sides=5)", memory_limit=1 << 20)
    assert small.method == "public"
    close(small, found)
    assert "public tree" in small.notes[-1]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_lifted_strategy_is_resumed(tmp_path: Path, threads: int) -> None:
    path, seen = tmp_path / "kept", []

    def stop(now: Progress) -> None:
        seen.append(now)
        if now.iterations:
            raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):  # two threads may have two first deals by then: an estimate
        assert evaluate(buckets(), method="split", threads=threads, checkpoint=path, progress=stop).estimate is not None
    assert 0 < seen[-1].iterations < 3
    assert seen[0].stage == "first deals"
    assert evaluate(buckets(), resume=path, threads=threads) == evaluate(buckets(), method="split")  # to the bit
    close(evaluate(buckets(), resume=path), evaluate(buckets(), method="public"))
    with pytest.raises(StrategyError, match="another evaluation"):
        evaluate(buckets(seed=8), resume=path)
    with pytest.raises(StrategyError, match="without a name; give it again"):
        evaluate(None, resume=path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"method": "magic"},
            "unknown method 'magic'; there are auto, history, public, split",
        ),
        ({"threads": 0}, "threads are at least 1; got 0"),
        ({"bords": 3}, "evaluate has no setting 'bords'; did you mean 'boards'?"),
        ({"boards": 3}, "boards, bounds, drawn_round and training are for strategies by buckets"),
        ({"method": "public", "checkpoint": "x"}, "method public keeps no checkpoint; card-free and split do"),
    ],
)
def test_misuse(words: dict[str, Any], message: str) -> None:
    with pytest.raises(StrategyError, match=message):
        evaluate("50/50", GAME, **words)


def test_what_is_no_strategy() -> None:
    with pytest.raises(StrategyError, match="does not say which game it is for"):
        evaluate(FunctionStrategy(by_cards))
    with pytest.raises(StrategyError, match=r"a strategy \(load_strategy reads one\) is needed; got int"):
        evaluate(3, GAME)
    with pytest.raises(StrategyError, match="training is a number of boards; got -1"):
        evaluate(buckets(), bounds=3, training=-1)
    with pytest.raises(StrategyError, match="say how many boards to sample"):
        evaluate(buckets(), training=2)
    with pytest.raises(CounterplayError, match="there is no strategy 'raise'; did you mean 'always-raise'"):
        evaluate("raise", GAME)


def test_one_schema_for_every_storage(
    capsys: pytest.CaptureFixture[str], stored: dict[str, Any], tmp_path: Path
) -> None:
    """The command line prints the same keys for all, and the numbers of the library."""
    stored["tabular"].save(tmp_path / "tabular")
    stored["public"].save(tmp_path / "public")
    cards = tmp_path / "leduc.cpa"
    assert main(["abstract", GAME, "--rounds", "3,4", "--out", str(cards)]) == 0
    words = ["solve", GAME, "--cards", str(cards), "-a", "pure-cfr", "--iterations", "500", "-q"]
    assert main([*words, "--out", str(tmp_path / "bucket")]) == 0
    shared = {"game", "method", "algorithm", "iterations", "seconds", "cpu_seconds", "value", "best_response",
              "nash_conv", "exploitability", "exploitability_mbb", "best_response_mbb", "epsilon", "recall", "threads",
              "checkpoint", "profile", "seed", "provenance"}  # fmt: skip
    for words in ([str(tmp_path / name)] for name in ("tabular", "public", "bucket")):
        capsys.readouterr()
        assert main(["evaluate", *words, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told.keys() >= shared
        assert told["exploitability"] == evaluate(words[0]).exploitability
        assert main(["evaluate", *words]) == 0
        rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[1:])
        assert rows["method"] == told["method"]
    assert main(["evaluate", "--strategy", "always-call", "--game", GAME, "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() >= shared
