"""The forms of a game of which a part is solved while a base strategy is played outside it.

Gibson 2014, definitions 2.8 and 7.1 (``abstraction.part_games``, ``abstraction.cards.expert_buckets``).  What a run
gives is the base with what it found in the part: a strategy of the whole game.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from counterplay.abstraction.cards.expert_buckets import part_bucket_game, split_cards
from counterplay.abstraction.experts import Part
from counterplay.abstraction.infosets.by_name import abstraction_by_name
from counterplay.abstraction.part_games import PartGame
from counterplay.errors import SolverError, StrategyError
from counterplay.evaluation import evaluate
from counterplay.evaluation.infoset_rows import tree_entries
from counterplay.evaluation.measurement import Measurement
from counterplay.forms import GameForms, GameLike
from counterplay.solvers.result import AbstractResult, SolveResult
from counterplay.strategy.bucket_strategy import BucketStrategy
from counterplay.strategy.composed import stitch
from counterplay.strategy.files import load_strategy
from counterplay.strategy.strategy import Strategy
from counterplay.strategy.tabular import TabularStrategy
from counterplay.strategy.trivial import TRIVIAL
from counterplay.tree.history.game_tree import GameTree
from counterplay.tree.history.sizes import tree_bytes

if TYPE_CHECKING:
    from counterplay.abstraction.infosets.abstraction import Abstraction
    from counterplay.poker.buckets.bucket_game import BucketGame

PART_OF = re.compile(r"(.*) in part (\S+)( forgetting .*)?", re.DOTALL)
"""The name of the game of a part, in a checkpoint."""


class PartForms(GameForms):
    """A game outside a part of which a base strategy is played, and its forms.

    Parameters
    ----------
    spec : str, Game, GameTree or BucketGame
        The whole game.
    part : str
        What is solved, and for whom: ``rf``, ``kk/b@1``; see ``abstraction.experts``.
    fix : path or str
        The file of the base strategy, or the name of a trivial one such as uniform.
    **options
        Those of ``GameForms``; ``cards`` are those inside the part.
    """

    def __init__(self, spec: GameLike, part: str, fix: str | os.PathLike[str], **options: Any) -> None:
        super().__init__(spec, **options)
        self.part = Part.parse(part)
        self.fix = os.fspath(fix)
        if self.subgame is not None:
            raise SolverError("a part is one of a whole game; lock the strategy of a spot by --lock")

    @functools.cached_property
    def base(self) -> Strategy | None:
        """The base strategy from its file; None if it is a trivial one."""
        if self.fix in TRIVIAL and not os.path.exists(self.fix):
            return None
        found = load_strategy(self.fix)
        if found.players != (self.opened.players if self.compiled else self.game.players):
            raise StrategyError(f"{self.fix} is a strategy of {found.game}, not of {self.name}")
        return found

    @property
    def in_buckets(self) -> bool:
        """Whether the part is solved in buckets."""
        return bool(self.cards) or isinstance(self.base, BucketStrategy)

    @property
    def options(self) -> str:
        """The game, the part and the base as words of a command."""
        whole = self._plain if isinstance(self._plain, str) else self.name
        words = [whole, "--part", self.part.text, "--fix", self.fix]
        return " ".join(shlex.quote(word) for word in words)

    # ------------------------------------------------------------------------------------------ histories

    @functools.cached_property
    def whole(self) -> GameTree:
        """The histories of the whole game."""
        found: GameTree = GameForms.real.func(self)  # type: ignore[attr-defined]
        return found

    @functools.cached_property
    def fixed(self) -> TabularStrategy:
        """The base on the histories of the whole game."""
        if self.base is None:
            return TRIVIAL[self.fix].tabular(self.whole)
        table, _ = tree_entries(self.base, self.whole)
        return TabularStrategy.from_tree(self.whole, table, self.base.provenance)

    @functools.cached_property
    def inside(self) -> PartGame:
        """The game of the part."""
        return PartGame.of(self.whole, self.part, self.fixed.table)

    @functools.cached_property
    def real(self) -> GameTree:
        """The histories, those at which the base plays as chance."""
        return self.inside.tree

    @functools.cached_property
    def abstraction(self) -> Abstraction | None:
        """What players forget where they are free."""
        if self.forgotten is None:
            return None
        return self.inside.restrict(abstraction_by_name(self.game, self.whole, self.forgotten))

    # ------------------------------------------------------------------------------------------ buckets

    @functools.cached_property
    def base_buckets(self) -> BucketStrategy:
        """The base by buckets."""
        base = self.base
        if base is None:
            return TRIVIAL[self.fix].buckets(super().buckets())
        if not isinstance(base, BucketStrategy):
            raise SolverError(f"with cards the base must be a strategy by buckets; {self.fix} is not")
        if base.game != self.name:
            raise StrategyError(f"{self.fix} is a strategy of {base.game}, not of {self.name}")
        return base

    def buckets(self) -> BucketGame:
        """The bucket game of the part, in its own cards."""
        base, buckets = self.base_buckets, None
        cards, experts = split_cards(self.cards)
        if experts:
            raise SolverError("give the cards of the part alone; those elsewhere are the base's")
        if cards and self.base is not None:
            buckets = [one.rounds for one in self._card_abstractions(cards)[1]]
        paths = [os.path.abspath(path) for path in cards]
        return part_bucket_game(base.abstract, base.strategy(), self.part, buckets, paths, self.fix)

    # ------------------------------------------------------------------------------------------ results

    def finished(self, result: SolveResult) -> SolveResult:
        """The result in the whole game: the base with what was found in the part."""
        if result.form == "buckets":
            profile = stitch(self.base_buckets, {self.part: result.profile})
            unknown = Measurement.unknown(len(result.value))
            return dataclasses.replace(result, profile=self._named(profile, result), measurement=unknown)
        table = (
            result.profile.table if self.abstraction is None else self.abstraction.lift_strategy(result.profile.table)
        )
        expert = TabularStrategy.from_tree(self.whole, self.inside.lift(table), result.profile.provenance)
        profile = self._named(stitch(self.fixed, {self.part: expert}, self.whole), result)
        recall = tuple(self.history().recall)
        facts = dataclasses.replace(
            result.facts, recall=tuple(self.whole.recall), tree_bytes=tree_bytes(self.whole),
            forgetful=tuple(p for p in range(self.whole.players) if not self.whole.sequences.has_perfect_recall(p)),
            entries=self.whole.num_entries,
        )  # fmt: skip
        return dataclasses.replace(
            result, game=self.whole.name, profile=profile, measurement=evaluate(profile, self.whole), facts=facts,
            information_sets=self.whole.num_infosets,
            abstract=AbstractResult(result.game, result.measurement, recall, self.abstraction),
        )  # fmt: skip

    def _named(self, profile: Any, result: SolveResult) -> Any:
        """A stitched strategy with the run that solved its part as its origin."""
        origin = result.profile.provenance
        settings = {**origin.settings, "part": self.part.text, "fix": self.fix}
        return dataclasses.replace(profile, provenance=dataclasses.replace(origin, settings=settings))


def part_of_checkpoint(name: str) -> tuple[str, str, str | None] | None:
    """The game, the part and what is forgotten, in the name of a part's game; None if it is none."""
    found = PART_OF.fullmatch(name)
    if found is None:
        return None
    return found[1], found[2], None if found[3] is None else found[3].removeprefix(" forgetting ")


def unlike_part(header: Mapping[str, Any], forms: PartForms, mismatch: bool) -> str:
    """How the run of a checkpoint differs from the game, the part and the base that are given, for errors.

    ``mismatch`` says that they were opened and differ in something; if neither game nor part does, it is the base, or
    what the part's players see.  Empty if nothing is known to differ.
    """
    known = part_of_checkpoint(str(header["game"]))
    name, part = (str(header["game"]), header.get("part")) if known is None else known[:2]
    given = forms.name if forms.forgotten is None else forms.name.partition(" forgetting ")[0]
    found = [] if name == given else [f"its game is {name}, not {given}"]
    if part is None:
        found.append(f"it solves the whole game, not the part {forms.part.text}")
    elif part != forms.part.text:
        found.append(f"its part is {part}, not {forms.part.text}")
    if not found and mismatch:
        what = "card abstractions" if forms.in_buckets else "forgotten information"
        found.append(f"its base plays otherwise than {forms.fix}, or it has other {what}")
    return " and ".join(found)
