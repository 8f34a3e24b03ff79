"""LiteEFG's own CFR+ baseline (github.com/liumy2010/LiteEFG).

``update_strategy`` is what keeps LiteEFG's averages, the uniform and the linear one in one call; the program that
LiteEFG trains its baselines with calls it every iteration too.  It takes a few per cent of the time.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import LiteEFG
import pyspiel

from benchmarks.openspiel import SPECS

AVERAGE = "linear-avg-iterate"


@contextlib.contextmanager
def quiet_home() -> Iterator[None]:
    """LiteEFG prints banners and writes games below the home directory; here they go nowhere."""
    home = os.environ.get("HOME")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.environ["HOME"] = folder
        try:
            yield
        finally:
            if home is None:
                del os.environ["HOME"]
            else:
                os.environ["HOME"] = home


class LiteEFGRun:
    """``LiteEFG.baselines.CFRplus``: alternating updates, regret matching plus; linear averaging by the environment."""

    def __init__(self, game: Any) -> None:
        with quiet_home():
            self.environment = LiteEFG.OpenSpielEnv(game, traverse_type="Enumerate", regenerate=True)
            self.algorithm: Any = LiteEFG.baselines.CFRplus.graph()
            self.environment.set_graph(self.algorithm)

    def iterate(self, iterations: int) -> None:
        environment, algorithm = self.environment, self.algorithm
        strategy = algorithm.current_strategy()
        for _ in range(iterations):
            algorithm.update_graph(environment)
            environment.update_strategy(strategy)

    def exploitability(self) -> float:
        gains = self.environment.exploitability(self.algorithm.current_strategy(), AVERAGE)
        return float(sum(gains)) / len(gains)


class LiteEFGRival:
    """LiteEFG."""

    name = "LiteEFG"
    tolerance = 0.2  # its average is one iteration ahead

    def __init__(self) -> None:
        LiteEFG.set_threads(1)

    def start(self, game: str) -> LiteEFGRun:
        return LiteEFGRun(pyspiel.load_game(SPECS[game]))
