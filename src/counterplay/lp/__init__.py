"""Linear programs: HiGHS, treeplexes and proofs in exact fractions."""
