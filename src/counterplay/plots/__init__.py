"""Everything that draws: the only package that imports matplotlib."""

TREE_FORMATS = (".svg", ".png", ".pdf")
"""The formats of pictures of trees."""
