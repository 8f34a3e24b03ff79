"""Strategies of all storages, their files, and the trivial ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from counterplay.strategy.bucket_strategy import BucketStrategy
    from counterplay.strategy.composed import stitch
    from counterplay.strategy.files import load_strategy
    from counterplay.strategy.public_strategy import PublicStrategy
    from counterplay.strategy.strategy import Provenance, Strategy
    from counterplay.strategy.tabular import TabularStrategy, normalise

__all__ = [
    "BucketStrategy", "Provenance", "PublicStrategy", "Strategy", "TabularStrategy", "load_strategy", "normalise",
    "stitch",
]  # fmt: skip

__getattr__ = lazy_names(__name__, {
    "bucket_strategy": ("BucketStrategy",),
    "composed": ("stitch",),
    "files": ("load_strategy",),
    "public_strategy": ("PublicStrategy",),
    "strategy": ("Provenance", "Strategy"),
    "tabular": ("TabularStrategy", "normalise"),
})  # fmt: skip
