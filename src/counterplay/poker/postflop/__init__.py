"""Hold'em subgames from a board and two ranges, as postflop solvers pose them."""
