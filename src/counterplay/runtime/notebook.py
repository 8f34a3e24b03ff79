"""How objects show themselves at a Python prompt, in a line or a few, and in notebooks, as HTML."""

from __future__ import annotations

from abc import abstractmethod

from counterplay.runtime.html_page import html_facts


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
        return html_facts(self._title(), self._sizes())
