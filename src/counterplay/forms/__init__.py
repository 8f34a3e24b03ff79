"""The forms of a game: ``open_game`` opens one, ``game_forms`` says which there are and how large."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.forms.opening import FORMS, AnyForm, GameForms, GameLike, has_public_tree, open_game, poker_definition
from counterplay.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from counterplay.forms.size_report import FormSize, form_sizes, game_forms

__all__ = [
    "FORMS", "AnyForm", "FormSize", "GameForms", "GameLike", "form_sizes", "game_forms", "has_public_tree", "open_game",
    "poker_definition",
]  # fmt: skip

__getattr__ = lazy_names(__name__, {"size_report": ("FormSize", "form_sizes", "game_forms")})
