"""What an opponent did in a hand, as entries of the tables of a form: one hand at a time, of any game and spelling.

In a bucket game cards are looked up in the card abstraction.  Raises that its betting tree does not have are taken for
the more similar one of those around them (``strategy.translation``, the rule ``nearest``): counts are integers, so no
raise is divided between two.  Decisions after the translated hand has diverged from the real one are not counted.  In a
history tree the information set is found by its name, as in matches.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from counterplay.errors import GameError
from counterplay.forms import open_game
from counterplay.modelling.observations import Form
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.infoset_names import LETTERS, namer
from counterplay.poker.acpc.match_state import MatchState
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_game import definition_for
from counterplay.poker.rules import Betting
from counterplay.strategy.translation import translated_path
from counterplay.tree.history.game_tree import GameTree


@dataclasses.dataclass(frozen=True, slots=True)
class Tally:
    """What a hand adds to observations: the entries of decisions, and how many decisions have none."""

    entries: tuple[int, ...] = ()
    hands: int = 0
    unseen: int = 0
    diverged: int = 0


class HandCounter:
    """Finds the decisions of an opponent, who may have several names, in hands of a form's game."""

    def __init__(self, form: Form, names: Collection[str]) -> None:
        self.form = form
        self.names = frozenset(names)
        self.rules = rules_of(form)
        self._namer = None if isinstance(form, BucketGame) else namer(open_game(form.name, "states"), self.rules)

    def tally(self, state: MatchState, names: tuple[str, ...]) -> Tally:
        """What the opponent did in a finished hand."""
        own = [position for position, name in enumerate(names) if name in self.names]
        if not own:
            return Tally()
        shown = [position for position in own if state.deal.hole[position]]
        acting = [step.player for step in _steps(state.betting)]
        unseen = sum(player in own and player not in shown for player in acting)
        entries = self._bucket_entries(state, shown) if isinstance(self.form, BucketGame) else self._named(state, shown)
        known = [entry for entry in entries if entry is not None]
        return Tally(tuple(known), 1, unseen, len(entries) - len(known))

    def _bucket_entries(self, state: MatchState, shown: list[int]) -> list[int | None]:
        form = self.form
        assert isinstance(form, BucketGame)
        path = translated_path(form.tree, state.betting, "nearest")
        found: list[int | None] = []
        for step, node, after in zip(_steps(state.betting), path[:-1], path[1:], strict=True):
            player = step.player
            if player not in shown:
                continue
            if node is None or after is None:
                found.append(None)
                continue
            bucket = form.bucket(node, state.deal.hole[player], state.deal.board)
            found.append(form.entry(node, bucket) + after - int(form.tree.first_child[node]))
        return found

    def _named(self, state: MatchState, shown: list[int]) -> list[int | None]:
        form, name_of = self.form, self._namer
        assert isinstance(form, GameTree)
        assert name_of is not None
        found: list[int | None] = []
        actions = (action for turn in state.betting.actions for action in turn)
        for step, action in zip(_steps(state.betting), actions, strict=True):
            if step.player not in shown:
                continue
            infoset = form.find_infoset(step.player, name_of(MatchState(state.hand_id, step, state.deal)))
            words = [LETTERS.get(word, word) for word in form.actions_of(infoset)]
            found.append(int(form.infoset_offset[infoset]) + words.index(action))
        return found


def rules_of(form: Form) -> GameDefinition:
    """The definition by which hands of a form's game are logged.

    Raises
    ------
    GameError
        If it is no form of a poker game.
    """
    if isinstance(form, BucketGame):
        return form.definition
    if not isinstance(form, GameTree):
        raise GameError(
            "observations are laid out as a history tree or a bucket game, which open_game gives; got "
            f"{type(form).__name__}"
        )
    rules = definition_for(open_game(form.name, "states"))
    if rules is None:
        raise GameError(f"{form.name} is not a poker game of the competition; there are no logs of it")
    return rules


def _steps(betting: Betting) -> list[Betting]:
    """The betting before each of its actions."""
    step = Betting.start(betting.game)
    found = []
    for action in (action for turn in betting.actions for action in turn):
        found.append(step)
        step = step.act(action)
    return found
