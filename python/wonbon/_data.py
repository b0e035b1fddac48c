"""Tables of other libraries: how each becomes something that speaks Arrow, and how rows are kept in it.

A new kind of table needs one class here. Whatever has `__arrow_c_stream__` needs none, except to keep rows.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .errors import RequestError

__all__ = ["as_stream", "select", "text_at"]

ROWS = 4096
"""Rows of a batch that is made of dictionaries, or asked for of another library."""


def _is(data: object, module: str, *names: str) -> bool:
    """Whether an object is one of these classes, without importing their module."""
    if module.partition(".")[0] not in sys.modules:
        return False
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(data).__mro__}
    return any((module.partition(".")[0], name) in kinds for name in names)


def _batches_of_rows(rows: Iterator[Mapping[str, Any]]) -> Iterator[dict[str, list[Any]]]:
    """Rows as batches of columns: those of the first row, and those that later rows of the batch add."""
    while taken := list(itertools.islice(rows, ROWS)):
        names = dict.fromkeys(name for row in taken for name in row)
        yield {name: [row.get(name) for row in taken] for name in names}


def _of_items(items: Iterable[Any]) -> Any:
    """A list or a generator: of rows if the first item is one."""
    iterator = iter(items)
    first = list(itertools.islice(iterator, 1))
    rest = itertools.chain(first, iterator)
    return _batches_of_rows(rest) if first and isinstance(first[0], Mapping) else rest


def as_stream(data: Any) -> Any:
    """What the Rust side reads: an object that speaks Arrow, a dictionary of columns, or an iterator of either."""
    if _is(data, "pyspark.sql", "DataFrame"):
        raise RequestError("a Spark DataFrame stays where it is: use wonbon.spark.dedup")
    if _is(data, "datasets", "DatasetDict", "IterableDatasetDict"):
        raise RequestError("a dataset of several splits: choose one, such as data['train']")
    if _is(data, "polars", "LazyFrame"):
        return data.collect()
    if _is(data, "datasets", "Dataset", "IterableDataset"):
        return data.with_format("arrow").iter(batch_size=ROWS)
    if _is(data, "pyarrow.dataset", "Dataset") or _is(data, "pyarrow._dataset", "Dataset"):
        return data.to_batches()
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return data
    if isinstance(data, Mapping):
        return dict(data)
    if isinstance(data, (str, bytes, bytearray)) or not isinstance(data, Iterable):
        return data
    return _of_items(data)


def _as_mask(kept: Sequence[bool]) -> Any:
    import pyarrow

    return pyarrow.array(kept)


def select(data: Any, kept: Any) -> Any:
    """The rows of a table that are kept, in a table of the same kind."""
    if _is(data, "polars", "LazyFrame"):
        return select(data.collect(), kept).lazy()
    if _is(data, "polars", "DataFrame", "Series"):
        import polars

        return data.filter(polars.Series(kept))
    if _is(data, "pandas", "DataFrame", "Series"):
        return data[kept.__array__()]
    if _is(data, "datasets", "Dataset"):
        return data.select([row for row, keep in enumerate(kept) if keep])
    if _is(data, "datasets", "IterableDataset"):
        wanted = iter(list(kept))
        return data.filter(lambda _row: next(wanted))
    if _is(data, "pyarrow", "Table", "RecordBatch", "ChunkedArray", "Array"):
        return data.filter(_as_mask(kept))
    if _is(data, "pyarrow.dataset", "Dataset") or _is(data, "pyarrow._dataset", "Dataset"):
        return data.to_table().filter(_as_mask(kept))
    if _is(data, "duckdb", "DuckDBPyRelation"):
        import duckdb

        return duckdb.from_arrow(data.to_arrow_table().filter(_as_mask(kept)))
    if isinstance(data, Mapping):
        return {name: list(itertools.compress(column, kept)) for name, column in data.items()}
    if isinstance(data, tuple):
        return tuple(itertools.compress(data, kept))
    if isinstance(data, list):
        return list(itertools.compress(data, kept))
    raise RequestError(f"rows cannot be kept in {type(data).__name__}: use the mask `.kept`")


def text_at(data: Any, row: int, column: str) -> str | None:
    """A text of a table that can be read again; None of one that cannot."""
    if _is(data, "pandas", "DataFrame"):
        value = data[column].iloc[row]
    elif _is(data, "pandas", "Series"):
        value = data.iloc[row]
    elif _is(data, "polars", "DataFrame"):
        value = data[column][row]
    elif _is(data, "polars", "LazyFrame"):
        value = data.select(column).slice(row, 1).collect()[column][0]
    elif _is(data, "datasets", "Dataset"):
        value = data[row][column]
    elif _is(data, "pyarrow", "Table", "RecordBatch"):
        value = data[column][row].as_py()
    elif isinstance(data, Mapping):
        value = data[column][row]
    elif isinstance(data, (list, tuple)) or _is(data, "polars", "Series"):
        value = data[row][column] if isinstance(data[row], Mapping) else data[row]
    elif _is(data, "pyarrow", "ChunkedArray", "Array"):
        value = data[row].as_py()
    else:
        return None
    return value if isinstance(value, str) else None
