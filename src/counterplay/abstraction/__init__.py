"""Abstractions: partitions of information sets with a way back to the real game."""

from counterplay.abstraction.abstraction import Abstraction
from counterplay.abstraction.build import (
    abstract_by_key,
    abstract_by_table,
    abstraction_between,
    from_classes,
    initial_abstraction,
    null_abstraction,
    own_moves,
)
from counterplay.abstraction.forgetting import GENERAL, abstraction_by_name, compile_by_name, split_name
from counterplay.abstraction.memory import map_words, table_words
from counterplay.abstraction.refine import from_map, is_refinement, refine, split

__all__ = [
    "GENERAL", "Abstraction", "abstract_by_key", "abstract_by_table", "abstraction_between", "abstraction_by_name",
    "compile_by_name", "from_classes", "from_map", "initial_abstraction", "is_refinement", "map_words",
    "null_abstraction", "own_moves", "refine", "split", "split_name", "table_words",
]  # fmt: skip
