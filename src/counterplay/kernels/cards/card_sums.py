"""Sums of the opponent's reaches by card, in rows: what shared cards rule out at folds and showdowns."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.kernels.jit import inlined
from counterplay.kernels.numba_internals import WIDE, load_row, store_row


@inlined
def add_hand(row: Any, card: Any, hand: Any, by_card: Any, every: Any) -> Any:
    """Count a hand of the opponent in, whose reaches are a row; the sum of all so far."""
    wide = np.uint64(WIDE)
    first, second = card[hand, 0] * wide, card[hand, 1] * wide
    store_row(by_card, first, load_row(by_card, first) + row)
    store_row(by_card, second, load_row(by_card, second) + row)
    return every + row


@inlined
def of_cards(card: Any, hand: Any, by_card: Any) -> Any:
    """What the opponent holds with one of the cards of a hand, in rows by card."""
    wide = np.uint64(WIDE)
    return load_row(by_card, card[hand, 0] * wide) + load_row(by_card, card[hand, 1] * wide)
