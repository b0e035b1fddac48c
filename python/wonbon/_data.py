"""Tables of other libraries: how each becomes something that speaks Arrow, and how rows are kept in it.

A new kind of table needs one class here. Whatever has `__arrow_c_stream__` needs none, except to keep rows.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ._texts import extract
from ._wonbon import decode, words
from .errors import ColumnError, RequestError

__all__ = ["as_json", "as_rows", "as_stream", "named_columns", "select", "text_at"]

ROWS = 4096
"""Rows of a batch that is made of dictionaries, or asked for of another library."""


def _is(data: object, module: str, *names: str) -> bool:
    """Whether an object is one of these classes, without importing their module."""
    if module.partition(".")[0] not in sys.modules:
        return False
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(data).__mro__}
    return any((module.partition(".")[0], name) in kinds for name in names)


CONTENT = ("text", "html", "id", "url", "created", "published")
"""Columns that are looked at under these names: what they should not hold is told, never passed over."""


def _is_passed_over(name: Any, column: Any) -> bool:
    """Whether a column holds lists, dictionaries or arrays, such as tags and embeddings: no part of a document does."""
    if name in CONTENT or not isinstance(column, list):
        return False
    first = next((value for value in column if value is not None), None)
    return isinstance(first, (list, tuple, set, frozenset, Mapping)) or _is(first, "numpy", "ndarray")


def _checked_row(number: int, row: Any) -> Mapping[str, Any]:
    """A row that is a dictionary, as the first one was."""
    if not isinstance(row, Mapping):
        raise RequestError(f"row {number} is no dictionary but {type(row).__name__}")
    return row


def _batches_of_rows(rows: Iterator[Any]) -> Iterator[dict[str, list[Any]]]:
    """Rows as batches of columns: those of the first row, and those that later rows of the batch add."""
    checked = itertools.starmap(_checked_row, enumerate(rows))
    while taken := list(itertools.islice(checked, ROWS)):
        names = dict.fromkeys(name for row in taken for name in row)
        columns = {name: [row.get(name) for row in taken] for name in names}
        yield {name: column for name, column in columns.items() if not _is_passed_over(name, column)}


def _of_items(items: Iterable[Any]) -> Any:
    """A list or a generator: of rows if the first item is one."""
    iterator = iter(items)
    first = list(itertools.islice(iterator, 1))
    rest = itertools.chain(first, iterator)
    return _batches_of_rows(rest) if first and isinstance(first[0], Mapping) else rest


def _column(column: Any) -> Any:
    """A column of a dictionary: a list, or one Arrow array."""
    if hasattr(column, "combine_chunks"):
        return column.combine_chunks()
    if isinstance(column, list) or hasattr(column, "__arrow_c_array__") or isinstance(column, (str, bytes, bytearray)):
        return column
    if _is(column, "pandas", "Series"):
        # What is missing there is a number that is none.
        return column.astype(object).where(column.notna(), None).tolist()
    if hasattr(column, "tolist"):
        return column.tolist()
    return list(column) if isinstance(column, Iterable) else column


def _without_arrow(data: Any) -> bool:
    """Whether what pandas has is read value by value: only pyarrow makes it speak Arrow."""
    return _is(data, "pandas", "DataFrame", "Series") and (
        not hasattr(data, "__arrow_c_stream__") or importlib.util.find_spec("pyarrow") is None
    )


def _with_texts_for_nothing(data: Any) -> Any:
    """What polars has, columns of nothing but nulls as texts: it hands out such columns as no reader of Arrow expects."""
    import polars

    if _is(data, "polars", "Series"):
        return data.cast(polars.String) if data.dtype == polars.Null else data
    empty = [name for name, kind in data.schema.items() if kind == polars.Null]
    return data.with_columns(polars.col(empty).cast(polars.String)) if empty else data


def as_stream(data: Any) -> Any:
    """What the Rust side reads: an object that speaks Arrow, a dictionary of columns, or an iterator of either."""
    if _is(data, "pyspark.sql", "DataFrame"):
        raise RequestError("a Spark DataFrame stays where it is: use wonbon.spark.dedup")
    if _is(data, "datasets", "DatasetDict", "IterableDatasetDict"):
        raise RequestError("a dataset of several splits: choose one, such as data['train']")
    if _is(data, "polars", "LazyFrame"):
        data = data.collect()
    if _is(data, "polars", "DataFrame", "Series"):
        return _with_texts_for_nothing(data)
    if _is(data, "datasets", "Dataset", "IterableDataset"):
        return data.with_format("arrow").iter(batch_size=ROWS)
    if _is(data, "pyarrow.dataset", "Dataset") or _is(data, "pyarrow._dataset", "Dataset"):
        return data.to_batches()
    if _without_arrow(data):
        if _is(data, "pandas", "Series"):
            return _of_items(_column(data))
        return {str(name): _column(column) for name, column in data.items()}
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return data
    if isinstance(data, Mapping):
        columns = {name: _column(column) for name, column in data.items()}
        return {name: column for name, column in columns.items() if not _is_passed_over(name, column)}
    if isinstance(data, (str, bytes, bytearray)) or not isinstance(data, Iterable):
        return data
    return _of_items(data)


def as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as JSON has it: times and bytes as text, nothing for what is missing."""
    told = {}
    for name, value in row.items():
        # What is no time and no number is not equal to itself.
        if value is None or value != value:
            continue
        if hasattr(value, "isoformat"):
            value = value.isoformat()
        elif hasattr(value, "item"):
            value = value.item()
        elif isinstance(value, bytes):
            if (value := decode(value)) is None:
                raise ColumnError(f"a row has a field `{name}` with binary content")
        told[name] = value
    return told


def as_rows(data: Any, columns: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The rows of any table one by one, as JSON has them. `columns` are columns under the names that a service
    knows; without any, rows are taken as they are."""
    rows: Iterable[Any]
    if _is(data, "polars", "LazyFrame"):
        data = data.collect()
    if _is(data, "polars", "DataFrame"):
        rows = data.iter_rows(named=True)
    elif _is(data, "pandas", "DataFrame"):
        rows = (dict(zip(data.columns, values)) for values in data.itertuples(index=False, name=None))
    elif isinstance(data, Mapping):
        rows = (dict(zip(data, values)) for values in zip(*map(_column, data.values()), strict=True))
    elif _is(data, "datasets", "Dataset", "IterableDataset"):
        rows = data
    elif _is(data, "pyarrow.dataset", "Dataset") or _is(data, "pyarrow._dataset", "Dataset"):
        rows = itertools.chain.from_iterable(batch.to_pylist() for batch in data.to_batches())
    elif hasattr(data, "__arrow_c_stream__"):
        import pyarrow

        rows = itertools.chain.from_iterable(batch.to_pylist() for batch in pyarrow.RecordBatchReader.from_stream(data))
    elif _is(data, "pyarrow", "RecordBatch"):
        rows = data.to_pylist()
    elif isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        raise RequestError(f"the rows must be a table or dictionaries, not {type(data).__name__}")
    else:
        rows = data
    for number, row in enumerate(rows):
        row = _checked_row(number, row)
        for name, column in columns.items():
            if column not in row:
                raise ColumnError(f"there is no column `{column}` for `{name}` in row {number}")
        named = {name: row[column] for name, column in columns.items()}
        rest = {name: value for name, value in row.items() if name not in columns.values()}
        yield as_json({**rest, **named})


def _as_mask(kept: Sequence[bool]) -> Any:
    import pyarrow

    return pyarrow.array(kept)


def _check_rows(rows: int, kept: Sequence[bool]) -> None:
    """Refuses a table that is not as long as the one that was decided."""
    if rows != len(kept):
        raise RequestError(f"there are {rows:,} rows in the table, {len(kept):,} in the families")


def _kept_batches(batches: Iterable[Any], kept: Sequence[bool]) -> Iterator[Any]:
    """The rows of batches that are kept."""
    at = 0
    for batch in batches:
        mask = kept[at : at + batch.num_rows]
        at += batch.num_rows
        if len(mask) < batch.num_rows:
            _check_rows(at, kept)
        yield batch.filter(_as_mask(mask))
    _check_rows(at, kept)


def _kept_items(items: Iterable[Any], kept: Sequence[bool]) -> Iterator[Any]:
    """The items of an iterator that are kept."""
    at = 0
    for at, item in enumerate(items, 1):
        if at > len(kept):
            break
        if kept[at - 1]:
            yield item
    _check_rows(at, kept)


def select(data: Any, kept: Any, again: bool = False) -> Any:
    """The rows of a table that are kept, in a table of the same kind. `again`: it was not read before, which matters
    for what can be read only once."""
    if _is(data, "polars", "LazyFrame"):
        return select(data.collect(), kept).lazy()
    if _is(data, "pyarrow.dataset", "Dataset") or _is(data, "pyarrow._dataset", "Dataset"):
        import pyarrow.dataset

        return pyarrow.dataset.dataset(select(data.to_table(), kept))
    if _is(data, "duckdb", "DuckDBPyRelation"):
        import duckdb

        return duckdb.from_arrow(select(data.to_arrow_table(), kept))
    if isinstance(data, Mapping):
        return {name: select(column, kept) for name, column in data.items()}
    if _is(data, "datasets", "IterableDataset"):
        wanted: list[bool] = list(kept)

        def keep(_row: Any, at: int) -> bool:
            if at >= len(wanted):
                _check_rows(at + 1, wanted)
            return wanted[at]

        return data.filter(keep, with_indices=True)
    if again and _is(data, "pyarrow", "RecordBatchReader"):
        import pyarrow

        return pyarrow.RecordBatchReader.from_batches(data.schema, _kept_batches(data, kept))
    if again and isinstance(data, Iterator):
        first = list(itertools.islice(data, 1))
        items = itertools.chain(first, data)
        in_batches = bool(first) and hasattr(first[0], "num_rows")
        return _kept_batches(items, kept) if in_batches else _kept_items(items, kept)
    if hasattr(data, "__len__"):
        _check_rows(data.num_rows if _is(data, "pyarrow", "Table", "RecordBatch") else len(data), kept)
    if _is(data, "polars", "DataFrame", "Series"):
        import polars

        return data.filter(polars.Series(kept))
    if _is(data, "pandas", "DataFrame", "Series") or _is(data, "numpy", "ndarray"):
        return data[kept.__array__()]
    if _is(data, "datasets", "Dataset"):
        return data.select([row for row, keep in enumerate(kept) if keep])
    if _is(data, "pyarrow", "Table", "RecordBatch", "ChunkedArray", "Array"):
        return data.filter(_as_mask(kept))
    if isinstance(data, (list, tuple)):
        taken = itertools.compress(data, kept)
        return tuple(taken) if isinstance(data, tuple) else list(taken)
    raise RequestError(
        f"rows cannot be kept in {type(data).__name__}: give it again if it can be read only once, or use the mask `.kept`"
    )


def named_columns(
    text: str | None, html: str | None, id: str | None, url: str | None, order: str | None
) -> dict[str, str]:
    """The columns that a caller names, by what they hold."""
    named = {"text": text, "html": html, "id": id, "url": url, "created": order}
    return {name: column for name, column in named.items() if column is not None}


def _value(data: Any, row: int, column: str) -> object:
    """What stands in a row of a table that can be read again; None in one that cannot."""
    if _is(data, "pandas", "DataFrame"):
        return data[column].iloc[row] if column in data.columns else None
    if _is(data, "pandas", "Series"):
        return data.iloc[row]
    if _is(data, "polars", "DataFrame"):
        return data[column][row] if column in data.columns else None
    if _is(data, "polars", "LazyFrame"):
        if column not in data.collect_schema().names():
            return None
        return data.select(column).slice(row, 1).collect()[column][0]
    if _is(data, "datasets", "Dataset"):
        return data[row].get(column)
    if _is(data, "pyarrow", "Table", "RecordBatch"):
        return data[column][row].as_py() if column in data.schema.names else None
    if _is(data, "pyarrow", "ChunkedArray", "Array"):
        return data[row].as_py()
    if _is(data, "pyarrow.dataset", "Dataset") or _is(data, "pyarrow._dataset", "Dataset"):
        return data.take([row], columns=[column])[column][0].as_py() if column in data.schema.names else None
    if _is(data, "duckdb", "DuckDBPyRelation"):
        quoted = column.replace('"', '""')
        found = data.project(f'"{quoted}"').limit(1, offset=row).fetchall() if column in data.columns else None
        return found[0][0] if found else None
    if _is(data, "datasets", "IterableDataset"):
        return next(iter(data.skip(row))).get(column)
    if isinstance(data, Mapping):
        if column not in data:
            return None
        value = data[column][row]
        return value.as_py() if hasattr(value, "as_py") else value
    if isinstance(data, (list, tuple)) or _is(data, "polars", "Series"):
        return data[row].get(column) if isinstance(data[row], Mapping) else data[row]
    return None


def text_at(data: Any, row: int, columns: tuple[str, str]) -> str | None:
    """The text of a row as it was read: of the column of texts, or of the page if there is no word in that. None
    where the table cannot be read again."""
    text, page = (_value(data, row, column) for column in columns)
    if isinstance(text, str) and words(text):
        return text
    if isinstance(page, (str, bytes)):
        return extract(page).text
    return text if isinstance(text, str) else None
