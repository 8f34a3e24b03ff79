"""The sequence form: the game as each player's own sequences of moves, and the normal form derived from it."""
