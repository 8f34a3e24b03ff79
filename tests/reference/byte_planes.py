"""The bytes of alike integers, as the definition says: differences, folded so that small ones are small, by bytes."""

from __future__ import annotations

from collections.abc import Sequence


def planes(numbers: Sequence[int], size: int) -> bytes:
    """The differences of neighbours among signed integers of ``size`` bytes, all highest bytes first."""
    span = 256**size
    folded = []
    before = 0
    for number in numbers:
        step = (number - before) % span
        signed = step - span if step >= span // 2 else step
        folded.append(2 * signed if signed >= 0 else -2 * signed - 1)
        before = number
    return bytes((one // 256**place) % 256 for place in reversed(range(size)) for one in folded)
