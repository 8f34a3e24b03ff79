"""Abstractions: partitions of information sets with an inverse, which lifts strategies to the real game."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterplay.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from counterplay.abstraction.experts import (
        Part,
        dynamic_abstraction,
        infoset_labels,
        label_parts,
        read_parts,
        validate_partition,
    )
    from counterplay.abstraction.importance import SequenceValues, sequence_values
    from counterplay.abstraction.infosets.abstraction import Abstraction
    from counterplay.abstraction.infosets.builders import (
        abstract_by_key,
        abstract_by_table,
        abstraction_between,
        from_classes,
        initial_abstraction,
        null_abstraction,
        own_moves,
    )
    from counterplay.abstraction.infosets.by_name import GENERAL, abstraction_by_name, split_name
    from counterplay.abstraction.infosets.refinement import from_map, is_refinement, refine, split
    from counterplay.abstraction.infosets.storage_words import map_words, table_words

__all__ = [
    "GENERAL", "Abstraction", "Part", "SequenceValues", "abstract_by_key", "abstract_by_table",
    "abstraction_between", "abstraction_by_name", "dynamic_abstraction", "from_classes", "from_map",
    "infoset_labels", "initial_abstraction", "is_refinement", "label_parts", "map_words", "null_abstraction",
    "own_moves", "read_parts", "refine", "sequence_values", "split", "split_name", "table_words",
    "validate_partition",
]  # fmt: skip

__getattr__ = lazy_names(__name__, {
    "experts": (
        "Part", "dynamic_abstraction", "infoset_labels", "label_parts", "read_parts", "validate_partition",
    ),
    "importance": ("SequenceValues", "sequence_values"),
    "infosets.abstraction": ("Abstraction",),
    "infosets.builders": (
        "abstract_by_key", "abstract_by_table", "abstraction_between", "from_classes", "initial_abstraction",
        "null_abstraction", "own_moves",
    ),
    "infosets.by_name": ("GENERAL", "abstraction_by_name", "split_name"),
    "infosets.refinement": ("from_map", "is_refinement", "refine", "split"),
    "infosets.storage_words": ("map_words", "table_words"),
})  # fmt: skip
