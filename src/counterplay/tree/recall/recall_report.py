"""A report of what the players of a game remember.

``recall_report`` runs all checkers: perfect recall, absent-mindedness and A-loss recall (``tree.recall.recall_class``),
well-formed and skew well-formed (``tree.recall.well_formed``), chance-relaxed (``tree.recall.chance_relaxed``) and
nearly well-formed (``tree.recall.nearly_well_formed``). An absent-minded player belongs to none of the classes: their
definitions assume that no path reaches an information set twice.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.recall.chance_relaxed import ChanceRelaxedVerdict, chance_relaxed
from counterplay.tree.recall.futures import Refinement, refine
from counterplay.tree.recall.leaf_matching import Comparison
from counterplay.tree.recall.nearly_well_formed import nearly_well_formed
from counterplay.tree.recall.recall_class import (
    Verdict,
    Witness,
    find_absent_mindedness,
    has_a_loss_recall,
    has_perfect_recall,
)
from counterplay.tree.recall.recall_kinds import Recall
from counterplay.tree.recall.well_formed import SkewVerdict, WellFormedVerdict, skew_well_formed, well_formed

CLASSES = {
    "perfect": "perfect recall",
    "well_formed": "well-formed",
    "nearly": "nearly well-formed",
    "skew": "skew well-formed",
    "chance_relaxed": "chance-relaxed skew well-formed",
    "a_loss": "A-loss recall",
}
"""Field of ``PlayerRecall`` -> name, from the class with the strongest guarantee to the weakest.

A-loss recall is last because it says nothing about regret; it is independent of the others.
"""


@dataclasses.dataclass(frozen=True)
class PlayerRecall:
    """What one player remembers.

    * ``player``: the player, from 0
    * ``absent_minded``: a path that reaches an information set twice
    * ``perfect``, ``a_loss``: perfect recall and A-loss recall
    * ``well_formed``, ``skew``, ``chance_relaxed``, ``nearly``: the classes relative to the refinement, with their
      constants
    * ``merged``: number of the player's information sets with more than one part in the refinement
    """

    player: int
    absent_minded: Witness | None
    perfect: Verdict
    a_loss: Verdict
    well_formed: WellFormedVerdict
    skew: SkewVerdict
    chance_relaxed: ChanceRelaxedVerdict
    nearly: WellFormedVerdict
    merged: int

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of all classes that the player belongs to, strongest first."""
        return tuple(name for field, name in CLASSES.items() if getattr(self, field).holds)

    @property
    def strongest(self) -> str:
        """The name of the strongest class, or ``imperfect recall``, or ``absent-minded``."""
        if self.absent_minded is not None:
            return "absent-minded"
        return self.classes[0] if self.classes else "imperfect recall"

    @property
    def recall(self) -> Recall:
        """The short form that ``GameTree.recall`` has."""
        if self.absent_minded is not None:
            return "absent-minded"
        return "perfect" if self.perfect.holds else "a-loss" if self.a_loss.holds else "imperfect"

    def to_dict(self) -> dict[str, Any]:
        """The report about one player for JSON."""
        shown: dict[str, Any] = {
            "player": self.player + 1,
            "recall": self.recall,
            "strongest": self.strongest,
            "classes": list(self.classes),
            "merged_information_sets": self.merged,
            "absent_minded": self.absent_minded is not None,
        }
        shown.update({field: getattr(self, field).to_dict() for field in CLASSES})
        if self.absent_minded is not None:
            shown["absent_minded_witness"] = self.absent_minded.to_dict()
        return shown


@dataclasses.dataclass(frozen=True)
class RecallReport:
    """What the players of a game remember, player by player."""

    game: str
    players: tuple[PlayerRecall, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that all players belong to, strongest first."""
        return tuple(name for name in CLASSES.values() if all(name in one.classes for one in self.players))

    @property
    def strongest(self) -> str:
        """The strongest class that all players belong to."""
        if any(one.absent_minded is not None for one in self.players):
            return "absent-minded"
        return self.classes[0] if self.classes else "imperfect recall"

    def to_dict(self) -> dict[str, Any]:
        """The report for JSON."""
        return {
            "game": self.game,
            "strongest": self.strongest,
            "classes": list(self.classes),
            "players": [one.to_dict() for one in self.players],
        }


def recall_report(tree: GameTree, refinement: GameTree | NDArray[np.integer] | None = None) -> RecallReport:
    """Classify what every player remembers, with witnesses and constants.

    ``refinement``, for the classes of well-formed games, is a tree with perfect recall over the same histories, or the
    number of the part of each decision; by default the coarsest refinement with perfect recall.
    """
    finer = refine(tree, refinement)
    return RecallReport(tree.name, tuple(_about(tree, finer, player) for player in range(tree.players)))


def _about(tree: GameTree, refinement: Refinement, player: int) -> PlayerRecall:
    perfect = has_perfect_recall(tree, player)
    absent = None if perfect.holds else find_absent_mindedness(tree, player)
    own = np.asarray(tree.infosets_of(player), dtype=np.int64)
    merged = int(np.count_nonzero(refinement.merged()[own]))
    if absent is not None:
        no = WellFormedVerdict(False, absent)
        skew, relaxed = SkewVerdict(False, absent), ChanceRelaxedVerdict(False, absent)
        return PlayerRecall(player, absent, perfect, Verdict(False, absent), no, skew, relaxed, no, merged)
    comparison = Comparison(refinement, player)
    formed = well_formed(comparison)
    nearly = formed if formed.holds else nearly_well_formed(comparison)
    a_loss = Verdict(True) if perfect.holds else has_a_loss_recall(tree, player)
    skew, relaxed = skew_well_formed(comparison), chance_relaxed(comparison)
    return PlayerRecall(player, absent, perfect, a_loss, formed, skew, relaxed, nearly, merged)
