"""Steps as transformations of DataFrames."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, Mapping, Optional

from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from wonbon.errors import ColumnError

TYPES = {
    "binary": BinaryType(),
    "boolean": BooleanType(),
    "double": DoubleType(),
    "long": LongType(),
    "string": StringType(),
}

PARTITION_BITS = 40


def schema_of(kept: Any, added: Mapping[str, str]) -> StructType:
    """The fields of a DataFrame, and more behind them."""
    fields = [StructField(field.name, field.dataType, True) for field in kept]
    fields += [StructField(name, TYPES[kind], True) for name, kind in added.items()]
    return StructType(fields)


ByPartition = Optional[Callable[[int], Mapping[str, int]]]


def through(
    frame: Any, step: str, schema: StructType, by_partition: ByPartition = None, **options: Any
) -> Any:
    """A DataFrame through a step of :mod:`wonbon.steps`, a partition a stream. ``by_partition`` gives options
    that depend on the number of the partition."""
    return mapped(frame, named(step), schema, by_partition, options)


def named(step: str) -> Callable[..., Any]:
    """A step by its name: functions of a native module do not travel to executors, names do."""

    def call(reader: Any, **options: Any) -> Any:
        from wonbon import steps

        return getattr(steps, step)(reader, **options)

    return call


def mapped(
    frame: Any,
    step: Callable[..., Any],
    schema: StructType,
    by_partition: ByPartition,
    options: Mapping[str, Any],
) -> Any:
    """A DataFrame through a function of streams."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import itertools

        import pyarrow
        from pyspark import TaskContext

        first = next(batches, None)
        if first is None:
            return
        chosen = dict(options)
        if by_partition is not None:
            context = TaskContext.get()
            chosen.update(by_partition(context.partitionId()))
        every = itertools.chain([first], batches)
        reader = pyarrow.RecordBatchReader.from_batches(first.schema, every)
        yield from pyarrow.RecordBatchReader.from_stream(step(reader, **chosen))

    return frame.mapInArrow(run, schema)


def first_name(partition: int) -> Mapping[str, int]:
    """Names of documents: unique, whatever they are. They never decide anything."""
    return {"first": partition << PARTITION_BITS}


def part_number(partition: int) -> Mapping[str, int]:
    """The place of a partition among those of a sorted DataFrame."""
    return {"part": partition}


def among(frame: Any, names: Any, *, keep: bool, by: str = "document") -> Any:
    """The rows whose ``by`` is among that of ``names``, or those where it is not; nothing of ``frame`` moves.

    The names go to every executor as bits, 64 in a row, so a billion of them take some hundred megabytes.
    """
    words = names.selectExpr(f"shiftright({by}, 6) as word", f"shiftleft(1L, cast({by} & 63 as int)) as bit")
    words = words.groupBy("word").agg(F.expr("bit_or(bit)").alias("bits"))
    placed = frame.withColumn("word", F.expr(f"shiftright({by}, 6)"))
    joined = placed.join(F.broadcast(words), "word", "left")
    bit = F.expr(f"getbit(coalesce(bits, 0L), cast({by} & 63 as int))")
    return joined.where(bit == F.lit(1 if keep else 0)).drop("word", "bits")


def repeated(frame: Any, *columns: str) -> Any:
    """The 64-bit hashes, as ``hash``, that several rows of a DataFrame share: of every repeated value, and seldom
    of two different ones. What moves is 16 bytes a different value of each task, however long the values are."""
    return frame.groupBy(F.xxhash64(*columns).alias("hash")).count().where("count > 1").select("hash")


def check_ids(frame: Any, nameless: int) -> Dict[str, Any]:
    """Refuses ids that are missing (``nameless`` of them) or not unique; gives what is noted of the others."""
    if nameless:
        raise ColumnError(f"the column of ids is null in {nameless} rows")
    some = repeated(frame, "other", "id").orderBy("hash").limit(1000)
    placed = frame.select("other", "id", F.xxhash64("other", "id").alias("hash"))
    rows = placed.join(F.broadcast(some), "hash").groupBy("other", "id").count()
    rows = rows.where("count > 1").orderBy("id").limit(3).collect()
    if rows:
        named = ", ".join(f"{row.id!r} ({row['count']} times)" for row in rows)
        raise ColumnError(f"ids are not unique: {named}")
    return {"repeated": 0}
