"""Logged hands of limit hold'em, five buckets in each round: CPU seconds to count a million, and to estimate them.

The log is made here: players who take any action at random, each in half of the hands in each seat, with the cards, the
values and the lines of a dealer.  ``--cards FILE`` names the abstraction; without it, it is built (``PS5``, about ten
minutes the first time).
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.timing import cpu_seconds
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.cards import cards_text
from counterplay.poker.evaluator import rank_hands

if TYPE_CHECKING:
    from benchmarks.measures import Outcome, Plan

PART = "observations"
GAME = "holdem_limit_2p"
HANDS = 1_000_000
TARGET = 60.0
ESTIMATED = "estimates"
ESTIMATES = (
    ("100,000 logged hands by all estimators", "all", 100_000, 600.0),
    ("a million logged hands by all estimators but AIVAT",
     "divat,bc-divat,ef,ac,ac+ef,ac+bc-divat,ac+ef+divat,ac+ef+bc-divat", 1_000_000, 3600.0),
)  # fmt: skip
FOLDS = 0.1
"""How often a player who could fold does, so that some hands see every round."""


def random_log(game: BucketGame, hands: int, seed: int = 0, names: tuple[str, str] = ("Orange", "Probe")) -> bytes:
    """The lines of a log of limit or no-limit hold'em whose bets are in a betting tree."""
    tree, rules, draw = game.tree, game.definition, np.random.default_rng(seed)
    node = np.zeros(hands, np.int64)
    while (acting := np.flatnonzero(tree.num_children[node])).size:
        first, size = tree.first_child[node[acting]], tree.num_children[node[acting]]
        can_fold = tree.action[first] == -1
        fold = can_fold & (draw.random(len(acting)) < FOLDS)
        other = can_fold + (draw.random(len(acting)) * (size - can_fold)).astype(np.int64)
        node[acting] = first + np.where(fold, 0, other)
    deck = np.array(rules.deck, np.uint8)
    deal = deck[np.argsort(draw.random((hands, len(deck)), dtype=np.float32), axis=1)[:, : rules.cards_dealt]]
    hole, board = rules.hole_cards, 2 * rules.hole_cards
    rank = [rank_hands(np.hstack([deal[:, p * hole : (p + 1) * hole], deal[:, board:]])) for p in range(2)]
    won = np.sign(rank[0].astype(np.int64) - rank[1])
    won = np.where(tree.showdowns()[node], won, np.where(tree.folded[node] == 1, -1, 1))
    won *= tree.spent.min(axis=1)[node]
    return "".join(_lines(game, node, deal, won, names)).encode()


def _lines(game: BucketGame, node: Any, deal: Any, won: Any, names: tuple[str, str]) -> Any:
    tree, rules = game.tree, game.definition
    hole, board, ends = rules.hole_cards, 2 * rules.hole_cards, rules.board_ends
    betting = {one: tree.text(one) for one in set(node.tolist())}
    turn_of = tree.round.tolist()
    yield f"# name/game/hands/seed made holdem.limit.2p.reverse_blinds.game {len(node)} 0\n"
    for number, (last, cards, chips) in enumerate(zip(node.tolist(), deal.tolist(), won.tolist(), strict=True)):
        text = [cards_text(cards[board + low : board + high]) for low, high in itertools.pairwise(ends)]
        shown = "/".join(["|".join([cards_text(cards[:hole]), cards_text(cards[hole:board])]), *text[: turn_of[last]]])
        seats = names if number % 2 == 0 else names[::-1]
        yield f"STATE:{number}:{betting[last]}:{shown}:{chips}|{-chips}:{seats[0]}|{seats[1]}\n"


def counting_speed(outcome: Outcome, plan: Plan) -> None:
    """Lines for counting a log."""
    from benchmarks.measures import Line
    from benchmarks.threads import five_buckets
    from counterplay.modelling import observe

    game = five_buckets()
    hands = round(HANDS * min(1.0, plan.seconds))
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "made.log"
        log.write_bytes(random_log(game, 1000))
        observe(log, "Orange", game)
        log.write_bytes(random_log(game, hands))
        spent = [cpu_seconds(observe, log, "Orange", game) * HANDS / hands for _ in range(plan.goal_turns)]
        size = log.stat().st_size
    outcome.raw["counting logged hands"] = {"game": GAME, "hands": hands, "bytes": size, "cpu_seconds": spent}
    what = "a million logged hands counted in five buckets a round, CPU time"
    outcome.lines.append(Line(what, spent, "s", target=TARGET, at_least=False))


def estimating_speed(outcome: Outcome, plan: Plan) -> None:
    """Lines for low-variance estimates of logged hands; tables of the deck and of the strategy are made before."""
    from benchmarks.measures import Line
    from benchmarks.threads import five_buckets
    from counterplay.evaluation.matches import EstimatorSet, analyse, read_match
    from counterplay.strategy.bucket_strategy import BucketStrategy

    game = five_buckets()
    strategy = BucketStrategy.of_game(game, np.ones(game.num_entries, np.float32))  # any action is possible
    EstimatorSet(game.definition, strategy).equity.pairs  # noqa: B018
    for what, words, hands, target in ESTIMATES:
        some = round(hands * min(1.0, plan.seconds))
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "made.log"
            log.write_bytes(random_log(game, some))
            spent = [
                cpu_seconds(lambda log=log, words=words: analyse(read_match(log, "Orange"), strategy, estimators=words))
                * hands / some
            ]  # fmt: skip
        outcome.raw[f"estimating {what}"] = {"game": GAME, "hands": some, "cpu_seconds": spent}
        outcome.lines.append(Line(f"{what}, CPU time", spent, "s", target=target, at_least=False))
