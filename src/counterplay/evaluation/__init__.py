"""Measures of strategies: expected values, best responses and exploitability."""

from counterplay.evaluation.front import METHODS, evaluate, expected_values, exploitability, nash_conv
from counterplay.evaluation.measurement import Measurement
from counterplay.evaluation.methods import Settings
from counterplay.evaluation.responses import BestResponse, best_response

__all__ = [
    "METHODS", "BestResponse", "Measurement", "Settings", "best_response", "evaluate", "expected_values",
    "exploitability", "nash_conv",
]  # fmt: skip
