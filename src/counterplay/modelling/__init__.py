"""Opponent modelling: from observed play to a model, and from a model to a counter-strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from counterplay.modelling.confidence import CONFIDENCES, Confidence
    from counterplay.modelling.models import DirichletModel, FrequencyModel, Model, model_table
    from counterplay.modelling.observations import DataReport, Observations, pooled
    from counterplay.modelling.sampled_play import observe_play

__all__ = [
    "CONFIDENCES", "Confidence", "DataReport", "DirichletModel", "FrequencyModel", "Model", "Observations",
    "model_table", "observe_play", "pooled",
]  # fmt: skip

__getattr__ = lazy_names(__name__, {
    "confidence": ("CONFIDENCES", "Confidence"),
    "models": ("DirichletModel", "FrequencyModel", "Model", "model_table"),
    "observations": ("DataReport", "Observations", "pooled"),
    "sampled_play": ("observe_play",),
})  # fmt: skip
