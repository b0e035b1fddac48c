"""Types of arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, Protocol, Union, runtime_checkable

__all__ = ["ArrowArray", "ArrowStream", "Columns", "Pages", "Progress", "Texts"]


@runtime_checkable
class ArrowStream(Protocol):
    """A table or a column in pieces: pyarrow, polars, pandas, duckdb, pyspark and others have it."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@runtime_checkable
class ArrowArray(Protocol):
    """A column or a batch in one piece."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


Texts = Union[ArrowStream, ArrowArray, Sequence[Union[str, None]], Iterable[Any]]
"""A column of texts: Arrow, a list of `str`, or an iterator of either."""

Pages = Union[ArrowStream, ArrowArray, Sequence[Union[str, bytes, None]], Iterable[Any]]
"""A column of pages: as `Texts`, and bytes in any charset."""

Columns = Mapping[str, Any]
"""Columns by their names."""

Progress = Union[Callable[[str, int, int], object], bool]
"""Called with the phase, how much of it is done, and the total (0 if that is not known). True shows a bar."""
