"""Opponent modelling: from observed play to a model, and from a model to a counter-strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from counterplay.modelling.confidence import CONFIDENCES, Confidence
    from counterplay.modelling.counter_strategy import GRID, KINDS, Response
    from counterplay.modelling.log_observations import observe
    from counterplay.modelling.models import DirichletModel, FrequencyModel, Model, model_table
    from counterplay.modelling.observation_files import load_observations
    from counterplay.modelling.observations import DataReport, Observations, pooled
    from counterplay.modelling.response_curves import ResponseCurve, response_curve
    from counterplay.modelling.response_runs import respond
    from counterplay.modelling.sampled_play import observe_play
    from counterplay.modelling.selection import SelectionRule, exponential_bound, make_rule, ucb1_bound

__all__ = [
    "CONFIDENCES", "GRID", "KINDS", "Confidence", "DataReport", "DirichletModel", "FrequencyModel", "Model",
    "Observations", "Response", "ResponseCurve", "SelectionRule", "exponential_bound", "load_observations", "make_rule",
    "model_table", "observe", "observe_play", "pooled", "respond", "response_curve", "ucb1_bound",
]  # fmt: skip

__getattr__ = lazy_names(__name__, {
    "confidence": ("CONFIDENCES", "Confidence"),
    "log_observations": ("observe",),
    "observation_files": ("load_observations",),
    "models": ("DirichletModel", "FrequencyModel", "Model", "model_table"),
    "observations": ("DataReport", "Observations", "pooled"),
    "response_curves": ("ResponseCurve", "response_curve"),
    "response_runs": ("respond",),
    "counter_strategy": ("GRID", "KINDS", "Response"),
    "sampled_play": ("observe_play",),
    "selection": ("SelectionRule", "exponential_bound", "make_rule", "ucb1_bound"),
})  # fmt: skip
