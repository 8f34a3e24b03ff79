"""Card abstractions: hands that are played alike share a bucket, round by round (Johanson 2016, chapter 5)."""

from counterplay.abstraction.cards.buckets import BucketTable, CardAbstraction

__all__ = ["BucketTable", "CardAbstraction"]
