"""Strategies of all kinds and their files."""

from counterplay.strategy.tabular import Provenance, TabularStrategy, normalise

__all__ = ["Provenance", "TabularStrategy", "normalise"]
