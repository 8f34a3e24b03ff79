"""Poker: cards, hands, suit isomorphism, game definitions, betting, match logs and hand histories.

Solvers import the modules they need; the tools that are of use on their own (docs/poker.md) have their names here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from counterplay.poker.acpc.definition import GameDefinition, read_definition
    from counterplay.poker.acpc.match_log import parse_record, read_log
    from counterplay.poker.acpc.match_state import parse_state
    from counterplay.poker.acpc.standard import STANDARD
    from counterplay.poker.betting import count_betting
    from counterplay.poker.buckets.bucket_counts import count_states, deals_by_round
    from counterplay.poker.cards import cards_text, parse_cards, rank_of, suit_of
    from counterplay.poker.evaluator import count_hands, hand_meaning, rank_hand
    from counterplay.poker.isomorphism import HandIndexer
    from counterplay.poker.phh import format_phh, format_phhs, from_record, read_phh, to_record
    from counterplay.poker.range_equity import equity
    from counterplay.poker.three_cards import rank_three_cards_each, three_card_meaning

__all__ = [
    "STANDARD", "GameDefinition", "HandIndexer", "cards_text", "count_betting", "count_hands", "count_states",
    "deals_by_round", "equity", "format_phh", "format_phhs", "from_record", "hand_meaning", "parse_cards",
    "parse_record", "parse_state", "rank_hand", "rank_of", "rank_three_cards_each", "read_definition", "read_log",
    "read_phh", "suit_of", "three_card_meaning", "to_record",
]  # fmt: skip

__getattr__ = lazy_names(__name__, {
    "acpc.definition": ("GameDefinition", "read_definition"),
    "acpc.match_log": ("parse_record", "read_log"),
    "acpc.match_state": ("parse_state",),
    "acpc.standard": ("STANDARD",),
    "betting": ("count_betting",),
    "buckets.bucket_counts": ("count_states", "deals_by_round"),
    "cards": ("cards_text", "parse_cards", "rank_of", "suit_of"),
    "evaluator": ("count_hands", "hand_meaning", "rank_hand"),
    "isomorphism": ("HandIndexer",),
    "phh": ("format_phh", "format_phhs", "from_record", "read_phh", "to_record"),
    "range_equity": ("equity",),
    "three_cards": ("rank_three_cards_each", "three_card_meaning"),
})  # fmt: skip
