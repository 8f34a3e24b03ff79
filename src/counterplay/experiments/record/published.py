"""Every table and figure of the five source documents, with the experiment that makes it again and a verdict.

The rows are the ``.json`` files beside this module, one for each document and one line for each caption.  A verdict
says no more than the stored results show (``docs/results/data``); without a result there is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources
from typing import Any, NamedTuple

from counterplay.experiments.scales import SCALES, scales_of

__all__ = ["DOCUMENTS", "VERDICTS", "Published", "published_rows", "settings_of"]

DOCUMENTS = ("gibson_2014", "gibson_et_al_2012", "lanctot_et_al_2012", "johanson_2016", "cermak_2018")
"""The names of the files, in the order of the record."""

VERDICTS = ("agrees", "agrees in shape", "differs", "out of reach", "not run yet", "nothing to compute")
"""*agrees*: the published numbers up to their rounding.  *agrees in shape*: what the source concludes, with other
numbers, often in a smaller game.  *nothing to compute*: a picture or an example that explains."""


class Published(NamedTuple):
    """A published table or figure, and ours.

    Attributes
    ----------
    document : str
        Author and year.
    label : str
        Such as ``table 7.1``.
    about : str
        What it shows.
    experiments : tuple of str
        What makes it again, by the names of ``counterplay experiment``.
    settings : str
        Settings for this table or figure, such as ``figures=figure2.3``, separated by spaces.
    verdict : str
        One of ``VERDICTS``.
    reason : str
        Why.
    results : tuple of str
        The stored results, by the names of their files without ``.json``.
    scale : str
        One of ``SCALES``, the smallest of the stored results, or ``OWN``; empty without one.
    """

    document: str
    label: str
    about: str
    experiments: tuple[str, ...]
    settings: str
    verdict: str
    reason: str
    results: tuple[str, ...]
    scale: str

    @property
    def chapter(self) -> str:
        """The chapter or appendix; empty in documents that number their figures through."""
        number = self.label.split()[1]
        return number.partition(".")[0] if "." in number else ""

    @property
    def options(self) -> dict[str, Any]:
        """The settings by their names."""
        return settings_of(self.settings.split())

    @property
    def machine(self) -> str:
        """What the scales of the experiments need; empty without an experiment."""
        return "; ".join(dict.fromkeys(scales_of(name, self.options).machine() for name in self.experiments))

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return {**self._asdict(), "scales": list(SCALES) if self.experiments else [], "machine": self.machine}


def settings_of(texts: Iterable[str]) -> dict[str, Any]:
    """Settings of an experiment from texts such as ``seeds=3``."""
    from counterplay.solvers.settings import setting_value  # with it come the kernels, which listings do without

    return {name.strip(): setting_value(value.strip()) for name, _, value in (text.partition("=") for text in texts)}


def published_rows() -> tuple[Published, ...]:
    """All tables and figures, document by document, in the order of the pages."""
    folder = resources.files("counterplay.experiments.record")
    documents = [json.loads(folder.joinpath(f"{name}.json").read_text("utf-8")) for name in DOCUMENTS]
    return tuple(
        Published(document["document"], row["label"], row["about"], tuple(row["experiments"]), row["settings"],
                  row["verdict"], row["reason"], tuple(row["results"]), row["scale"])
        for document in documents
        for row in document["rows"]
    )  # fmt: skip
