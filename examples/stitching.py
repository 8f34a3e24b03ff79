"""Three ways in which strategies were stitched together before, in Leduc hold'em (Gibson 2014, section 3.5.4).

* PsOpti (2003): a coarse model of the whole game plays before the board, and an expert for each betting that leads to
  the board plays after it; both players are taken to come there by the coarse model.
* Heads-up experts (2009): with three players, experts where one has folded, in Kuhn poker; what comes before is taken
  to be uniform, or the base.
* Grafts by cards (2009): for each player a graft for each private card, solved against an opponent who is free.
"""

from __future__ import annotations

import numpy as np

import counterplay as cp
from counterplay.abstraction.part_games import PartGame

GAME, COARSE = "leduc", "leduc forgetting ranks=JQ-K"
TO_THE_BOARD = ("kk", "kbc", "kbrc", "bc", "brc")


def milliantes(strategy: cp.TabularStrategy, tree: cp.GameTree) -> float:
    """Exploitability in thousandths of an ante."""
    return 1000.0 * cp.evaluate(strategy, tree).exploitability


def psopti(tree: cp.GameTree, base: cp.TabularStrategy) -> cp.TabularStrategy:
    """A base, and an expert after each betting before the board."""
    experts = {}
    for betting in TO_THE_BOARD:
        game = PartGame.of(tree, betting, base.table)
        solved = cp.solve(game.tree, "cfr+", iterations=300).profile
        experts[betting] = cp.TabularStrategy.from_tree(tree, game.lift(solved.table))
    found = cp.strategy.stitch(base, experts, tree)
    assert isinstance(found, cp.TabularStrategy)
    return found


def grafts_by_card(tree: cp.GameTree, base: cp.TabularStrategy) -> cp.TabularStrategy:
    """For each player and private card a graft."""
    cards = np.array(["JQK".index(name[0]) + 1 for name in tree.infoset_names])
    decisions = tree.infoset >= 0
    labels = np.zeros(tree.num_histories, np.int64)
    labels[decisions] = cards[tree.infoset[decisions]]
    table = base.table.copy()
    for player in range(2):
        for card in (1, 2, 3):
            game = PartGame.of_labels(tree, labels, card, [player], base.table, f"{'JQK'[card - 1]} of {player + 1}")
            solved = game.lift(cp.solve(game.tree, "cfr+", iterations=300).profile.table)
            mine = np.repeat((cards == card) & (tree.infoset_player == player), np.diff(tree.infoset_offset))
            table[mine] = solved[mine]
    return cp.TabularStrategy.from_tree(tree, table)


def heads_up_experts(iterations: int = 20_000) -> list[float]:
    """What the last of three players wins by the base, and by experts after a bet and a fold, in chips."""
    name = "kuhn(players=3)"
    tree = cp.compile_game(name)
    base = cp.solve(name, "cfr+", iterations=5).profile  # far from an equilibrium
    won = [cp.evaluate(base, tree).value[2]]
    for fix in ("uniform", base):
        table = cp.TabularStrategy.uniform(tree).table if fix == "uniform" else base.table
        game = PartGame.of(tree, "bf", table)
        solved = cp.solve(game.tree, "chance-sampling", iterations=iterations, seed=1).profile
        expert = cp.TabularStrategy.from_tree(tree, game.lift(solved.table))
        won.append(cp.evaluate(cp.strategy.stitch(base, {"bf": expert}, tree), tree).value[2])
    return won


def main() -> None:
    tree = cp.compile_game(GAME)
    base = cp.solve(COARSE, "cfr+", iterations=300).profile
    print("exploitability in thousandths of an ante")
    print(f"base {milliantes(base, tree):.0f}")
    print(f"with an expert after each betting before the board {milliantes(psopti(tree, base), tree):.0f}")
    print(f"with a graft for each private card {milliantes(grafts_by_card(tree, base), tree):.0f}")
    alone, uniform, seeded = heads_up_experts()
    print(f"last of three players: base {alone:+.4f}, with an expert after a bet and a fold {uniform:+.4f} seeded by "
          f"uniform play, {seeded:+.4f} by the base")  # fmt: skip


if __name__ == "__main__":
    main()
