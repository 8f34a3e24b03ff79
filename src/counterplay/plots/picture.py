"""``Picture``: a matplotlib figure that notebooks show by themselves, whatever backend is chosen."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure that is an image in notebooks."""

    def _repr_png_(self) -> bytes:
        """For notebooks."""
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()
