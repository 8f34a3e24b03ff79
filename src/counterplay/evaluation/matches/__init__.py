"""Who is better, from few hands: estimators of match results with less variance than money."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from counterplay.evaluation.matches.estimator import Estimator, read_estimator
    from counterplay.evaluation.matches.match_analysis import EstimatorSet, MatchAnalysis, analyse
    from counterplay.evaluation.matches.match_hands import MatchHands, read_match
    from counterplay.evaluation.matches.summary import Summary
    from counterplay.evaluation.matches.tally import Estimate, Tally
    from counterplay.evaluation.matches.tree_estimates import TreeEstimates, self_play_values

__all__ = [
    "Estimate", "Estimator", "EstimatorSet", "MatchAnalysis", "MatchHands", "Summary", "Tally", "TreeEstimates",
    "analyse", "read_estimator", "read_match", "self_play_values",
]  # fmt: skip

__getattr__ = lazy_names(__name__, {
    "estimator": ("Estimator", "read_estimator"),
    "match_analysis": ("EstimatorSet", "MatchAnalysis", "analyse"),
    "match_hands": ("MatchHands", "read_match"),
    "summary": ("Summary",),
    "tally": ("Estimate", "Tally"),
    "tree_estimates": ("TreeEstimates", "self_play_values"),
})  # fmt: skip
