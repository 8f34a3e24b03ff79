"""Measures of strategies: expected values, best responses and exploitability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from counterplay.evaluation import matches
    from counterplay.evaluation.front import METHODS, evaluate, expected_values, exploitability, nash_conv
    from counterplay.evaluation.infoset_rows import InfosetRow, InfosetTable, infoset_table
    from counterplay.evaluation.lifted_buckets import HeadToHead
    from counterplay.evaluation.measurement import Measurement
    from counterplay.evaluation.methods import Settings
    from counterplay.evaluation.responses import BestResponse, best_response

__all__ = [
    "METHODS", "BestResponse", "HeadToHead", "InfosetRow", "InfosetTable", "Measurement", "Settings", "best_response",
    "evaluate", "expected_values", "exploitability", "infoset_table", "matches", "nash_conv",
]  # fmt: skip

__getattr__ = lazy_names(__name__, {
    "front": ("METHODS", "evaluate", "expected_values", "exploitability", "nash_conv"),
    "infoset_rows": ("InfosetRow", "InfosetTable", "infoset_table"),
    "lifted_buckets": ("HeadToHead",),
    "measurement": ("Measurement",),
    "methods": ("Settings",),
    "responses": ("BestResponse", "best_response"),
    "matches": ("matches",),
})  # fmt: skip
