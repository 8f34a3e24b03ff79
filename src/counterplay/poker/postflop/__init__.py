"""Hold'em subgames from a board and two ranges, as postflop solvers pose them."""

SUBGAME = "holdem{"
"""The prefix of the names of subgames."""
