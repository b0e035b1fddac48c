"""Answers that are tables: hand them to whatever reads Arrow."""

from __future__ import annotations

from ._wonbon import Table

__all__ = ["TableAnswer"]


class TableAnswer:
    """An answer that is an Arrow table, too: for `pyarrow.table`, `polars.DataFrame`, duckdb and pandas."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @property
    def table(self) -> Table:
        """The table itself."""
        return self._table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._table)
