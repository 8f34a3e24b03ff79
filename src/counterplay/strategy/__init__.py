"""Strategies of all storages, their files, and the trivial ones."""

from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.files import load_strategy
from counterplay.strategy.public_strategy import PublicStrategy
from counterplay.strategy.strategy import Provenance, Strategy
from counterplay.strategy.tabular import TabularStrategy, normalise

__all__ = [
    "BucketStrategy", "Provenance", "PublicStrategy", "Strategy", "TabularStrategy", "load_strategy", "normalise",
]  # fmt: skip
