"""Hold'em subgames from a board and two ranges, as postflop solvers pose them."""

SUBGAME = "holdem{"
"""The prefix of the names of subgames."""


def game_title(name: str) -> str:
    """A game in a few words: its name, or the title of a subgame, whose name contains whole ranges."""
    if not name.startswith(SUBGAME):
        return name
    from counterplay.poker.postflop.subgame import parse_subgame

    return parse_subgame(name).title
