"""Tilted utilities on a public tree of poker (Gibson 2014, section 4.4.2; ``counterplay.game.transforms``).

Cards and betting stay; folds and showdowns pay other amounts, and not the same to both players.  A fold pays each
player by who folded.  At a showdown a winner gets one amount and a loser pays another, whoever they are.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from counterplay.game.transforms import Tilt
from counterplay.tree.public.public_tree import FOLD, SHOWDOWN, TILTED, PublicTree


def tilt_public(tree: PublicTree, tilt: Tilt, name: str) -> PublicTree:
    """The public tree of a poker game with tilted utilities, from that of the zero-sum game."""
    folds, shown = tree.kind == FOLD, tree.kind == SHOWDOWN
    paid = tree.payoff
    win_fold, lose_fold = 1 + tilt.win_fold / 100, 1 + tilt.lose_fold / 100
    win, lose = 1 + tilt.win_showdown / 100, 1 + tilt.lose_showdown / 100
    first, second = paid.copy(), paid.copy()
    first[folds] = np.where(paid > 0, win_fold, lose_fold)[folds] * paid[folds]
    second[folds] = np.where(paid > 0, lose_fold, win_fold)[folds] * paid[folds]
    first[shown] = second[shown] = win * paid[shown]
    kind, data, matrix = tree.kind.copy(), tree.data.copy(), tree.matrix
    if win != lose:
        kind[shown] = TILTED
        data[shown] = len(matrix) + np.arange(int(shown.sum()))
        matrix = np.concatenate([matrix, lose * paid[shown]])
    largest = max(abs(win), abs(lose), abs(win_fold), abs(lose_fold))
    return dataclasses.replace(
        tree, name=name, kind=kind, data=data, matrix=matrix, payoff=first, other_payoff=second, other_matrix=matrix,
        scale=tree.scale * largest,
    )  # fmt: skip
