"""Small tables for notebooks. Everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["bar", "pairs", "table"]


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= 600 else text[:600] + "…")


def pairs(rows: Iterable[tuple[str, object]]) -> str:
    """Names and values, one pair a line."""
    lines = (f"<tr><th>{_cell(name)}</th><td>{_cell(value)}</td></tr>" for name, value in rows)
    return f"<table>{''.join(lines)}</table>"


def table(names: Sequence[str], rows: Iterable[Sequence[object]], total: int) -> str:
    """Columns, and how many rows there are beside those that are shown."""
    head = "".join(f"<th>{_cell(name)}</th>" for name in names)
    shown = ["".join(f"<td>{_cell(value)}</td>" for value in row) for row in rows]
    body = "".join(f"<tr>{row}</tr>" for row in shown)
    more = f"<p>{total:,} rows, {len(shown):,} shown</p>" if total > len(shown) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def bar(line: str, done: int, total: int) -> str:
    """How much of something is done, if its total is known."""
    share = f' value="{min(done, total)}" max="{total}"' if total else ""
    return f"<progress{share}></progress> {_cell(line)}"
