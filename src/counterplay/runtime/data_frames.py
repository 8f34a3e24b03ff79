"""Tables for spreadsheets and data frames: the one way to write rows of figures into files and into pandas."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from counterplay.errors import CounterplayError
from counterplay.runtime.html_page import html_cell, html_table
from counterplay.runtime.number_text import figure
from counterplay.storage import write_csv


def data_frame(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> Any:
    """A ``pandas.DataFrame``; raises CounterplayError if pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise CounterplayError("to_pandas needs pandas, which is not installed: pip install pandas") from None
    return pandas.DataFrame([tuple(line) for line in lines], columns=list(columns))


class Tabulated:
    """What can be exported as a table: a subclass names the columns and gives the rows."""

    @abstractmethod
    def _columns(self) -> Sequence[str]:
        """The names of the columns."""

    @abstractmethod
    def _lines(self) -> Iterable[Sequence[Any]]:
        """The rows."""

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, a line of names first."""
        write_csv(Path(path), self._columns(), self._lines())

    def to_pandas(self) -> Any:
        """The table as a ``pandas.DataFrame``.

        Raises
        ------
        CounterplayError
            If pandas is not installed.
        """
        return data_frame(self._columns(), self._lines())

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        rows = ("".join(map(_cell, line)) for line in self._lines())
        return html_table([name.replace("_", " ") for name in self._columns()], rows)


def _cell(value: Any) -> str:
    return html_cell(figure(value, 6) if isinstance(value, float) else "" if value is None else str(value))
