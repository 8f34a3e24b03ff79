"""Numbers as text for people: enough digits, and no exponents where nobody reads them."""

from __future__ import annotations

import math

PLAIN = 1e15
"""Larger numbers are written with an exponent."""

SMALLEST = 1e-4
"""Amounts of chips below this are written with an exponent."""


def figure(value: float, digits: int = 4, sign: bool = False) -> str:
    """A number with some significant digits: ``2374``, ``31.62``, ``0.0874``, ``15,000,000,000``, ``4.65e-16``.

    Numbers from 10,000 have separators, and what is larger than the digits show is rounded, so that estimates look like
    estimates.  With ``sign`` positive numbers have a plus.
    """
    plus = "+" if sign else ""
    text = f"{value:{plus}.{digits}g}"
    if not math.isfinite(value) or abs(value) >= PLAIN or (0 < abs(value) < SMALLEST):
        return text
    rounded = float(text)
    if abs(rounded) >= 10_000:
        places = max(0, digits - len(str(int(abs(rounded)))))
        text = f"{rounded:{plus},.{places}f}"
        return text.rstrip("0").rstrip(".") if places else text
    return f"{rounded:{plus}.0f}" if "e" in text else text


def chips(value: float, sign: bool = False) -> str:
    """An amount of chips with six decimals, where these show at least three digits: ``2.373611``, ``8.74e-05``."""
    plus = "+" if sign else ""
    return f"{value:{plus}.3g}" if abs(value) < SMALLEST else f"{value:{plus}.6f}"


def duration(seconds: float) -> str:
    """A time with two digits and a unit that suits it: ``0.5 s``, ``42 s``, ``12 min``, ``17 h``, ``3.1 days``."""
    for unit, size, least in (("days", 86400.0, 72.0 / 24), ("h", 3600.0, 1.5), ("min", 60.0, 1.5)):
        if seconds >= least * size:
            return f"{figure(seconds / size, 2)} {unit}"
    return f"{figure(seconds, 2)} s"
