"""Seeds of random numbers: integers that every generator takes, and that every file can hold."""

from __future__ import annotations

import numbers

from counterplay.errors import CounterplayError

SEEDS = 2**63
"""Seeds lie below this: headers of files hold integers of 64 bits with a sign."""


def check_seed(seed: object, error: type[CounterplayError]) -> int:
    """A seed as a plain integer.

    Raises
    ------
    CounterplayError
        Of the given type, if it is none.
    """
    if not isinstance(seed, numbers.Integral) or isinstance(seed, bool) or not 0 <= int(seed) < SEEDS:
        raise error(f"seed must be an integer, at least 0 and below 2^63; got {seed!r}")
    return int(seed)
