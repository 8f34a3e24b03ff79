"""The history tree: every history of a game in flat arrays."""
