"""HTML: tables for notebooks, and pages that need no other file."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse } td, th { padding: .15rem .7rem; text-align: left; border-bottom: 1px solid #ddd }
td.number { text-align: right; font-variant-numeric: tabular-nums } th { position: sticky; top: 0; background: #fff }
td.key { font-family: ui-monospace, monospace; white-space: pre-wrap }
"""
"""Of pages with tables."""

COLOURS = ("#77aadd", "#ee8866", "#44bb99", "#eedd88", "#ffaabb", "#99ddff", "#bbcc33", "#aaaa00", "#dddddd")
"""Of the actions in a bar, the light colours of P. Tol that people with colour blindness can tell apart."""


def html_page(title: str, body: str, style: str = STYLE) -> str:
    """A page with a title, which is escaped, and a body of HTML."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{style}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def html_table(heads: Sequence[str], rows: Iterable[str]) -> str:
    """A table of heads, which are escaped, and rows of HTML cells."""
    head = "".join(f"<th>{html.escape(one)}</th>" for one in heads)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def html_facts(caption: str, facts: Iterable[tuple[str, str]]) -> str:
    """A table of names and texts, both escaped, under a caption."""
    lines = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in facts)
    return f"<table><caption>{html.escape(caption)}</caption>{lines}</table>"


def html_cell(text: str, kind: str = "number") -> str:
    """A cell of text."""
    return f'<td class="{kind}">{html.escape(text)}</td>'


def html_bar(names: Sequence[str], shares: Sequence[float], colours: Sequence[str] = COLOURS) -> str:
    """A cell with a bar that is split by shares; what each means is in its tooltip.  It needs no style of a page."""
    parts = [
        f'<span style="width:{100 * share:.2f}%;background:{colours[number % len(colours)]};overflow:hidden;'
        f'text-indent:2px" title="{html.escape(name)} {100 * share:.2f}%">'
        f"{html.escape(name) if share >= 0.2 else ''}</span>"
        for number, (name, share) in enumerate(zip(names, shares, strict=True))
        if share > 0
    ]
    bar = f'<div style="display:flex;width:16rem;height:1.2rem;font-size:12px">{"".join(parts)}</div>'
    return f'<td style="min-width:16rem">{bar}</td>'
