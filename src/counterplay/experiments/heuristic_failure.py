"""Table 5.1 of Čermák 2018: two sets that the heuristic update never separates, though they should play differently.

The values of the table alternate.  In each half both sets prefer the same action, so their preferences never differ;
over both halves one should play c and the other d, which is worth 5 instead of 2.75.
"""

from __future__ import annotations

from fractions import Fraction

from counterplay.experiments.shared.experiment import Cell, Experiment, keeping_rows

TABLE = {"I'": ((0, 10), (1, 0)), "I''": ((0, 1), (10, 0))}
"""Set -> action (c, d) -> value in the left and in the right half."""


def preferred(infoset: str, half: int, share: Fraction) -> tuple[str, ...]:
    """The actions of largest regret in one half, when c is played with a probability."""
    values = [row[half] for row in TABLE[infoset]]
    mean = share * values[0] + (1 - share) * values[1]
    regrets = [max(value - mean, Fraction(0)) for value in values]
    return tuple(name for name, regret in zip("cd", regrets, strict=True) if regret == max(regrets))


def run(quick: bool = False, steps: int | None = None) -> Experiment:
    """Preferences for many strategies, and the best value in each set."""
    count = steps or (10 if quick else 1_000)
    shares = [Fraction(step, count) for step in range(count)]  # at c = 1 in the right half nothing is regretted
    rows: list[tuple[Cell, ...]] = []
    with keeping_rows():
        for half, title in enumerate(("left", "right")):
            tops = {infoset: {preferred(infoset, half, share) for share in shares[1:]} for infoset in TABLE}
            same = all(preferred("I'", half, share) == preferred("I''", half, share) for share in shares)
            values = [TABLE[infoset][action][half] for infoset in TABLE for action in (0, 1)]
            liked = ", ".join("".join(top) for top in sorted(tops["I'"]))
            rows.append((title, *values, liked, "never separated" if same else "separated"))
    uniform = [Fraction(sum(sum(row) for row in table), 4) for table in TABLE.values()]
    best = [Fraction(max(sum(row) for row in table), 2) for table in TABLE.values()]
    rows.append(("mean, uniform play", float(uniform[0]), None, float(uniform[1]), None, "published: 2.75", None))
    rows.append(("mean, separated", float(best[0]), None, float(best[1]), None, "published: 5", None))
    return Experiment(
        title="A game on which the heuristic update alone fails",
        source="Čermák 2018, table 5.1 and section 5.2.3.3",
        columns=("half", "I' c", "I' d", "I'' c", "I'' d", "both prefer", "heuristic update"),
        rows=tuple(rows),
        notes=("The table is reconstructed from equations 5.49 to 5.56.",),
    )
