"""Sizes of the games on the way to solved limit hold'em, counted, and when a game counts as solved.

Johanson 2016, figures 1.1 and 9.2, show the sizes of the poker games that had been solved by year; the text says those
of Kuhn poker, Leduc, Rhode Island and limit hold'em.  The unlabelled points are abstractions of limit hold'em, whose
sizes the text does not say.  The other rows are numbers of the same text: games of its experiments (section 3.2.3),
jobs of the accelerated best response (2.5) and of the solution of limit hold'em (9.4), its memory, and the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from counterplay.abstraction.cards import deck_shape
from counterplay.analysis import essentially_solved_threshold
from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows
from counterplay.forms import open_game, poker_definition
from counterplay.forms.opening import GameForms
from counterplay.forms.size_report import public_size
from counterplay.poker.betting import count_betting
from counterplay.poker.buckets.bucket_counts import count_states, deals_by_round
from counterplay.poker.isomorphism import HandIndexer
from counterplay.tree.history.game_tree import GameTree

LIMIT = "holdem_limit_2p"

UP_TO_SUITS = {
    "rhode_island": "3.94e6", "holdem_2_1": "16 million", "holdem_2_4": "94 million", "bluff(d1=2,d2=2)": "352 million",
    LIMIT: "1.38e13",
}  # fmt: skip
"""Information sets, where hands that differ by the names of suits or the order of dice are one, as printed."""


def run(quick: bool = False) -> Experiment:
    """Count every row; ``quick`` changes nothing, since it takes seconds."""
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        rows += _counted()
    return Experiment(
        title="Sizes of solved games, and when a game counts as solved",
        source="Johanson 2016, figures 1.1 and 9.2, sections 1.1, 2.5, 3.2.3, 9.2 and 9.3",
        columns=("game", "what", "published", "ours"),
        rows=tuple(rows),
        notes=(
            "[2-1] and [2-4] hold'em: the published counts are 5 % larger, as those of table 4.1, with more hands than "
            "there are up to renaming suits; the first game has one raise after the blind.",
            "A TB of the published memory is 2^40 bytes.",
        ),
    )


def _counted() -> Iterator[tuple[Cell, ...]]:
    """The rows."""
    for game, published in {"kuhn": "12", "leduc": "288"}.items():
        tree = open_game(game, "history")
        yield game, "information sets", published, tree.num_infosets
        if game == "leduc":
            yield game, "pure strategies, powers of ten", "more than 86", round(_pure_strategies(tree), 1)
    for game, published in UP_TO_SUITS.items():
        yield game, "information sets without symmetries", published, public_size(GameForms(game)).infosets
    rules = poker_definition(LIMIT)
    deck, shape = deck_shape(rules)
    betting = count_betting(rules)
    deals = deals_by_round(rules)
    cards, hands = rules.ranks * rules.suits, 1
    raw = []
    for number in (rules.hole_cards, *rules.board_cards[1:]):
        hands *= math.comb(cards, number)
        cards -= number
        raw.append(hands)
    classes = HandIndexer(shape, *deck).sizes
    flops = HandIndexer(shape[1:2], *deck).sizes[0]
    entries = betting.entries(classes)
    yield LIMIT, "information sets", "3.19e14", betting.infosets(raw)
    yield LIMIT, "game states: decisions", "3.16e17", count_states(betting, deals)
    yield LIMIT, "game states: all nodes", "9.17e17", count_states(betting, deals, all_nodes=True)
    yield LIMIT, "tables of CFR in four bytes, TB", "262", round(8 * entries / 2**40, 1)
    yield LIMIT, "the same in eight bytes, TB", "523", round(16 * entries / 2**40, 1)
    yield LIMIT, "flops up to suits", "1,755", flops
    yield LIMIT, "jobs of a best response, each seat", "12,285", betting.continuing[0] * flops
    yield LIMIT, "jobs of its solution", "110,565", betting.continuing[1] * flops
    yield LIMIT, "games of a lifetime", "60 million", 200 * 12 * 365 * 70
    yield LIMIT, "solved below, big blinds a game", "0.00105", round(essentially_solved_threshold(), 7)


def _pure_strategies(tree: GameTree) -> float:
    """How many pairs of pure strategies there are, as a power of ten: a choice at every information set."""
    return float(np.log10(np.diff(tree.infoset_offset)).sum())
