"""The command line: one file per verb, each a thin cover over the library."""
