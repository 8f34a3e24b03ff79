"""Which forms a game has and how large they are, before anything large is built.

Histories are compiled if they fit, which is the only way to count their information sets; whatever does not fit is
counted from the rules, or estimated by random playouts (``tree.history.sizes``).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from counterplay.errors import GameError, MemoryLimitError
from counterplay.forms.opening import GameForms, GameLike, Paths
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.poker_public_tree import count_public_tree, public_tree_bytes
from counterplay.runtime.memory import available_memory, format_bytes
from counterplay.tree.history.sizes import BUILD_BYTES_PER_HISTORY, estimate_size, tree_bytes
from counterplay.tree.public.public_tree import PublicTree
from counterplay.tree.public.unfold import count_play, unfolded_bytes


@dataclasses.dataclass(frozen=True)
class FormSize:
    """One form of a game.  What is not known, or does not apply, is None."""

    form: str  # one of ``FORMS``
    available: bool  # whether ``open_game`` opens it within the memory limit
    too_large: bool = False  # the game has the form, but it does not fit
    reason: str | None = None  # why it is not available
    exact: bool = True  # whether the numbers are counted; otherwise they are estimates
    histories: int | None = None
    public_states: int | None = None
    infosets: int | None = None  # information sets of all players
    entries: int | None = None  # pairs of an information set and an action
    bytes: int | None = None  # memory of the form itself, without the tables of a solver

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = {"infosets": "information_sets"}
        return {names.get(name, name): value for name, value in dataclasses.asdict(self).items()}


def game_forms(
    spec: GameLike, cards: Paths | None = None, bets: str | None = None, memory_limit: int | None = None
) -> tuple[FormSize, ...]:
    """All forms of a game with their sizes, in the order of ``FORMS``."""
    return form_sizes(GameForms(spec, cards=cards, bets=bets, memory_limit=memory_limit))


def form_sizes(forms: GameForms) -> tuple[FormSize, ...]:
    """The same for an opened game."""
    return _history(forms), public_size(forms), _buckets(forms), _states(forms)


def _history(forms: GameForms) -> FormSize:
    try:
        tree = forms.history()
    except MemoryLimitError as error:
        return _estimated_histories(forms, str(error))
    except GameError as error:
        if forms.subgame is None and not isinstance(forms.opened, PublicTree | BucketGame):
            raise  # the game is broken
        return FormSize("history", False, reason=str(error))
    return FormSize(
        "history", True, histories=tree.num_histories, infosets=tree.num_infosets, entries=tree.num_entries,
        bytes=tree_bytes(tree),
    )  # fmt: skip


def _estimated_histories(forms: GameForms, reason: str) -> FormSize:
    count = forms.game.num_histories()
    exact = count is not None
    if count is None:
        try:
            count = int(estimate_size(forms.game, max_depth=1000).histories)
        except MemoryLimitError as error:  # even the actions of a player are too many
            return FormSize("history", False, True, str(error), exact=False)
    needed = count * BUILD_BYTES_PER_HISTORY
    return FormSize("history", False, True, reason, exact, histories=count, bytes=needed)


def public_size(forms: GameForms) -> FormSize:
    """The public tree, counted from the rules where these suffice."""
    try:
        refusal = forms.public_refusal()
    except MemoryLimitError as error:
        return FormSize("public", False, True, f"it is made from the histories: {error}", exact=False)
    if refusal is not None:
        return FormSize("public", False, reason=refusal)
    if forms.made_from_rules and not isinstance(forms.opened, PublicTree) and forms.subgame is None:
        return _counted_public(forms)
    try:
        tree = forms.public()
    except MemoryLimitError as error:
        return FormSize("public", False, True, str(error))
    return FormSize(
        "public", True, public_states=tree.num_public_states, infosets=tree.num_infosets,
        entries=sum(tree.num_entries), bytes=tree.nbytes,
    )  # fmt: skip


def _counted_public(forms: GameForms) -> FormSize:
    if forms.poker is not None:
        rules = forms.poker.definition
        try:
            needed = public_tree_bytes(rules, forms.raises)
            states, infosets, entries = count_public_tree(rules, forms.raises)
        except MemoryLimitError as error:  # the betting is too large to be counted
            return FormSize("public", False, True, str(error), exact=False)
    else:
        play = forms.game.public_play()
        assert play is not None
        needed, (states, infosets, entries) = unfolded_bytes(play), count_play(play)
    large = needed > (available_memory() if forms.memory_limit is None else forms.memory_limit)
    reason = f"it needs about {format_bytes(needed)}" if large else None
    return FormSize("public", not large, large, reason, True, None, states, infosets, entries, needed)


def _buckets(forms: GameForms) -> FormSize:
    game = forms.opened
    if isinstance(game, BucketGame):
        return FormSize("buckets", True, infosets=game.num_infosets, entries=game.num_entries, bytes=game.tree_bytes)
    poker = forms.subgame is None and not forms.compiled and forms.poker is not None
    if not poker or forms.forgotten is not None:
        return FormSize("buckets", False, reason="buckets need a poker game and a card abstraction")
    if not forms.cards:
        return FormSize("buckets", False, reason="buckets need a card abstraction (--cards; abstract makes one)")
    size = forms.bucket_counts()
    return FormSize("buckets", True, infosets=size.infosets, entries=size.entries, bytes=size.tree_bytes)


def _states(forms: GameForms) -> FormSize:
    try:
        game = forms.states()
    except GameError as error:
        return FormSize("states", False, reason=str(error))
    return FormSize("states", True, histories=game.num_histories(), bytes=0)
