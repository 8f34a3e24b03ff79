"""Exact measures of strategies: expected values, best responses and exploitability."""

from counterplay.evaluation.responses import (
    BestResponse,
    best_response,
    evaluate,
    expected_values,
    exploitability,
    nash_conv,
)

__all__ = ["BestResponse", "best_response", "evaluate", "expected_values", "exploitability", "nash_conv"]
