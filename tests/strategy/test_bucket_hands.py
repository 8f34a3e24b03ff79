"""What a strategy by buckets does with each hand: the numbers of the public tree, the command, and misuse."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from counterplay.abstraction.cards import CardAbstraction
from counterplay.cli.main import app
from counterplay.errors import GameError
from counterplay.evaluation.lifted_buckets import LiftedStrategy
from counterplay.forms import open_game
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.cards import parse_cards
from counterplay.poker.poker_public_tree import build_public_tree
from counterplay.solvers import make_solver
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.public_lookup import PublicIndex, hand_table
from tests.poker.test_bucket_game import LEDUC, THREE, TWO_HOLES, forgetting, lossless, mixed

RHODE = dataclasses.replace(STANDARD["rhode"], ranks=3, suits=2, max_raises=(1,) * 3)


def drawn(game: Any, buckets: Any) -> BucketStrategy:
    abstract = BucketGame.build(game, buckets)
    return BucketStrategy.of_game(abstract, np.random.default_rng(4).random(abstract.num_entries))


@pytest.mark.parametrize("buckets", [lossless, forgetting, mixed])
@pytest.mark.parametrize(
    ("game", "node", "board"),
    [
        (LEDUC, "", None),
        (LEDUC, "rr", None),
        (LEDUC, "cr", None),
        (LEDUC, "crc/r", "Qs"),
        (TWO_HOLES, "rc/r", "JsQsQh"),
        (RHODE, "cc/cc/r", "QsKh"),
    ],
)
def test_numbers_are_those_of_the_public_tree(game: Any, node: str, board: str | None, buckets: Any) -> None:
    profile = drawn(game, buckets(game))
    expected = hand_table(PublicIndex(build_public_tree(game)), LiftedStrategy(profile), node, board)
    found = profile.hands(node, board)
    assert (found.player, found.node, found.actions) == (expected.player, expected.node, expected.actions)
    ours, theirs = ({tuple(sorted(hand)): row for row, hand in enumerate(state.hands.tolist())}
                    for state in (found, expected))  # fmt: skip
    assert ours.keys() == theirs.keys()
    order = [ours[hand] for hand in theirs]
    rows = list(theirs.values())
    np.testing.assert_allclose(found.weights[order], expected.weights[rows], atol=1e-12)
    np.testing.assert_allclose(found.probabilities[order], expected.probabilities[rows], atol=1e-12)


def test_three_players() -> None:
    """A hand weighs by its own player's play."""
    profile = drawn(THREE, lossless(THREE))
    tree, board = profile.abstract.tree, parse_cards("Ks")
    found = profile.hands("rcc/crc", "Ks")
    expected = np.ones(len(found.hands))
    node = 0
    for action in "rcccrc":
        if tree.player[node] == found.player:
            expected *= [profile.with_cards(node, hand[:1], board)[action] for hand in found.hands.tolist()]
        node = int(tree.first_child[node]) + tree.actions(node).index(action)
    assert tree.player[node] == found.player
    assert len(found.hands) == 5
    np.testing.assert_allclose(found.weights, expected / expected.sum(), atol=1e-12)
    rows = [profile.with_cards(node, hand[:1], board) for hand in found.hands.tolist()]
    np.testing.assert_allclose(found.probabilities, [list(row.values()) for row in rows], atol=1e-12)


def test_the_command(tmp_path: Path) -> None:
    cards, out = tmp_path / "leduc.cpa", tmp_path / "leduc.strategy"
    CardAbstraction.lossless((3, 2), (1, 1)).save(cards)
    solver = make_solver(open_game("leduc_limit_2p", "buckets", cards=[cards]), "cfr+")
    solver.step(100)
    solver.profile().save(out)

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["show", str(out), *arguments])

    told = json.loads(run("--node", "r", "--json").stdout)
    assert told["player"] == 2
    assert told["actions"] == ["f", "c", "r"]
    assert set(told["hands"]) == {"Qs", "Qh", "Ks", "Kh", "As", "Ah"}
    assert told["hands"]["As"]["frequencies"][0] < 0.01 < told["hands"]["Qs"]["frequencies"][0]
    assert "player 1" in run().output
    for arguments, message in (
        (("--node", "rf"), "nobody acts after 'rf'"),
        (("--node", "cc/"), "1 cards are on the board"),
        (("--node", "cc/", "--board", "7s"), "is not a board of this game"),
        (("--ev",), "--ev is for strategies of public trees"),
    ):
        found = run(*arguments)
        assert found.exit_code != 0
        assert message in str(found.exception)


def test_what_is_no_decision() -> None:
    with pytest.raises(GameError, match="the hand is over"):
        drawn(LEDUC, forgetting(LEDUC)).hands("rf")
