"""How objects show themselves at a Python prompt, in a line or a few, and in notebooks, as HTML."""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Iterable


def html_table(caption: str, rows: Iterable[tuple[str, str]]) -> str:
    """Rows of a name and a text as an HTML table."""
    lines = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in rows)
    return f"<table><caption>{html.escape(caption)}</caption>{lines}</table>"


class Described:
    """A large object that shows its kind, its name and its sizes instead of its arrays."""

    @abstractmethod
    def _title(self) -> str:
        """What it is and of which game."""

    @abstractmethod
    def _sizes(self) -> list[tuple[str, str]]:
        """Names and texts of its sizes: ``("histories", "58")``."""

    def __repr__(self) -> str:
        return f"<{self._title()}: {', '.join(f'{text} {name}' for name, text in self._sizes())}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return html_table(self._title(), self._sizes())
