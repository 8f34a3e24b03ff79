"""Draw the convergence of every full-width algorithm on Leduc hold'em; makes the plot of the README.

python examples/compare_algorithms.py docs/images/leduc.png
"""

import sys
from pathlib import Path

import counterplay as cp
from counterplay.plots.convergence import plot_curves

tree = cp.compile_game("leduc")
names = [name for name, algorithm in cp.ALGORITHMS.items() if algorithm.full_width]
curves = {name: cp.solve(tree, name, iterations=20_000).curve for name in names}
plot_curves(Path(sys.argv[1] if len(sys.argv) > 1 else "leduc-algorithms.png"), curves, "Leduc hold'em")
for name, curve in curves.items():
    print(f"{name:<8} exploitability {curve[-1].exploitability:.2e} chips in {curve[-1].cpu_seconds:.2f} CPU s")
