"""What a DataFrame must have before work begins, and the one shape in which the steps see it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from pyspark.sql import functions as F
from pyspark.sql.types import (
    ByteType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    NumericType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from wonbon.errors import ColumnError, RequestError

WHOLE = (ByteType, ShortType, IntegerType, LongType)


@dataclass(frozen=True)
class Columns:
    """Which columns mean what. ``positions`` are compared, in this order, where keys are equal."""

    id: str
    text: str
    order: Optional[str]
    positions: List[str]


def columns_of(
    frame: Any,
    what: str,
    *,
    id: str,
    text: str,
    order: Optional[str],
    positions: List[str],
    keep: str,
) -> Columns:
    """The columns by their names, checked: each error names what is wrong with which."""
    if not hasattr(frame, "mapInArrow"):
        raise RequestError(f"{what} must be a DataFrame of Spark, not {type(frame).__name__}")
    if ":" in keep:
        named = keep.split(":", 1)[1]
        if order is not None and order != named:
            raise RequestError(f"keep={keep!r} and order={order!r} name two columns")
        order = named
    if keep in ("first", "last") and not positions:
        raise RequestError(
            f"keep={keep!r} needs position=, a column of whole numbers: rows of a DataFrame have no order"
        )
    if keep in ("first", "last", "longest"):
        order = None
    types = {field.name: field.dataType for field in frame.schema}
    for name in [id, text, *([order] if order else []), *positions]:
        if name not in types:
            there = ", ".join(types)
            raise ColumnError(f"{what} has no column `{name}`; it has {there}")

    def wanted(name: str, kinds: Any, words: str) -> None:
        if not isinstance(types[name], kinds):
            raise ColumnError(
                f"column `{name}` of {what} must hold {words}, not {types[name].simpleString()}"
            )

    wanted(id, (StringType, *WHOLE), "strings or whole numbers")
    wanted(text, StringType, "strings")
    if order:
        kinds = (StringType, NumericType, TimestampType, TimestampNTZType, DateType)
        wanted(order, kinds, "times, numbers or strings")
    for name in positions:
        wanted(name, WHOLE, "whole numbers")
    return Columns(id, text, order, positions)


def documents(frame: Any, columns: Columns, *, other: bool, last: bool) -> Any:
    """``id``, ``other``, the positions, ``order`` and ``text``. Of the last of equal ones the first is kept."""
    chosen = [F.col(columns.id).alias("id"), F.lit(other).alias("other")]
    for number, name in enumerate(columns.positions):
        position = F.col(name).cast("long")
        turned = -position if last and not other else position
        chosen.append(turned.alias(f"position{number}"))
    if columns.order:
        kind = frame.schema[columns.order].dataType
        order = F.col(columns.order)
        if isinstance(kind, DecimalType):
            order = order.cast("double")
        elif isinstance(kind, TimestampNTZType):
            order = order.cast("timestamp")
        chosen.append(order.alias("order"))
    chosen.append(F.col(columns.text).alias("text"))
    return frame.select(*chosen)


def identity(frame: Any) -> Dict[str, Any]:
    """What a plan says of an input: its columns and its files."""
    files = sorted(frame.inputFiles())
    digest = hashlib.sha256("\n".join(files).encode()).hexdigest()[:16]
    return {"columns": frame.schema.simpleString(), "files": len(files), "named": digest}
