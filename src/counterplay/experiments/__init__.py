"""Published tables and figures, made again: one module for each."""
