"""The forms of a game: ``open_game`` opens one, ``game_forms`` says which there are and how large."""

from counterplay.forms.form_sizes import FormSize, form_sizes, game_forms
from counterplay.forms.opening import FORMS, AnyForm, GameForms, GameLike, has_public_tree, open_game, poker_definition

__all__ = [
    "FORMS", "AnyForm", "FormSize", "GameForms", "GameLike", "form_sizes", "game_forms", "has_public_tree", "open_game",
    "poker_definition",
]  # fmt: skip
