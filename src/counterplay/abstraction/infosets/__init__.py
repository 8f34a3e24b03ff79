"""Abstractions of infosets of any game: partitions with an inverse."""
