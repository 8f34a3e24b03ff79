"""Speed of counterplay beside OpenSpiel and LiteEFG: ``python -m benchmarks``."""
