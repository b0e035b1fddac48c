"""Files of rows as DataFrames, for ``python -m wonbon.spark``: Parquet and JSON lines.

A line of JSON stays beside what was read from it, so the lines that are kept are written byte for byte. Every
row has its place: the number of its file among the inputs, where its block begins, and a number that rises from
row to row of a block. Spark may cut blocks otherwise the next time; the order is the same.
"""

from __future__ import annotations

import json
from typing import Any, List, Optional
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from wonbon.errors import EnvironmentFailedError, RequestError

from ._checkpoint import NOT_THERE, first_line

POSITIONS = ["wonbon_file", "wonbon_block", "wonbon_row"]
#: The column with the line itself.
LINE = "wonbon_line"
LINES = (".jsonl", ".json", ".ndjson")
#: Lines of each input from which the types of fields are taken.
SAMPLE = 1000


class Rows:
    """The rows of some inputs: ``frame`` has the fields or columns, the places and, of lines, the line."""

    def __init__(self, spark: Any, inputs: List[str], fields: List[str], order: Optional[str]) -> None:
        named = [(name, files_of(spark, name)) for name in inputs]
        kinds = {is_lines(file) for _, files in named for file in files}
        if len(kinds) > 1:
            raise RequestError("the inputs are Parquet and JSON lines; give files of one kind")
        #: Whether the inputs are JSON lines.
        self.lines = kinds == {True}
        frames = []
        for number, (name, files) in enumerate(named):
            if self.lines:
                types = types_of(spark, name, fields, order)
                frame = read_lines(spark, name, types)
            else:
                frame = spark.read.parquet(name)
            frames.append(placed(spark, frame, number, files))
        self.frame = frames[0]
        for frame in frames[1:]:
            self.frame = self.frame.unionByName(frame, allowMissingColumns=True)

    def count_skipped(self, text: str) -> int:
        """Lines that are no documents: not JSON, no object, or without a text."""
        if not self.lines:
            return 0
        return int(self.frame.where(F.col(text).isNull()).count())

    def documents(self, text: str) -> Any:
        """The rows that are documents."""
        return self.frame.where(F.col(text).isNotNull()) if self.lines else self.frame


def files_of(spark: Any, name: str) -> List[str]:
    """The files of an input as rows name theirs, in the order of their names. Nothing of them is read."""
    try:
        listed = spark.read.format("binaryFile").load(name).select("_metadata.file_path").collect()
    except AnalysisException as error:
        if NOT_THERE in str(error) or "does not exist" in str(error):
            raise RequestError(f"the input {name} does not exist") from None
        raise EnvironmentFailedError(f"cannot read {name}: {first_line(error)}") from error
    files = sorted((row.file_path for row in listed), key=unquote)
    if not files:
        raise RequestError(f"the input {name} has no files")
    packed = next((file for file in files if file.endswith((".zst", ".bz2", ".xz"))), None)
    if packed is not None:
        raise RequestError(f"{packed}: JSON lines are read as they are or with gzip; unpack the file first")
    return files


def is_lines(file: str) -> bool:
    """Whether a file has JSON lines, by its name."""
    return file.removesuffix(".gz").endswith(LINES)


def types_of(spark: Any, name: str, fields: List[str], order: Optional[str]) -> StructType:
    """Fields as strings, and that which orders as a number if it is one in the first lines."""
    types = {field: StructField(field, StringType()) for field in fields}
    if order is not None and order not in types:
        kinds = set()
        for row in spark.read.text(name).limit(SAMPLE).collect():
            try:
                found = json.loads(row.value)
            except ValueError:
                continue
            if isinstance(found, dict) and found.get(order) is not None:
                kinds.add(type(found[order]))
        number = DoubleType() if float in kinds else LongType()
        types[order] = StructField(order, number if kinds and kinds <= {int, float} else StringType())
    return StructType(list(types.values()))


def read_lines(spark: Any, name: str, types: StructType) -> Any:
    """A DataFrame of the fields of JSON lines, with the line."""
    settings = {"mode": "PERMISSIVE", "maxStringLen": str(2**31 - 1)}
    # No type but string for names and texts: a number is its digits.
    parsed = F.from_json(F.col("value"), types, settings).alias("parsed")
    frame = spark.read.text(name).where(F.length(F.trim("value")) > 0)
    return frame.select(F.col("value").alias(LINE), parsed, "_metadata").select(LINE, "parsed.*", "_metadata")


def placed(spark: Any, frame: Any, number: int, files: List[str]) -> Any:
    """A DataFrame with the places of its rows."""
    names = [(file, (number << 32) + place) for place, file in enumerate(files)]
    places = spark.createDataFrame(names, "wonbon_path string, wonbon_file long")
    columns = [name for name in frame.columns if name != "_metadata"]
    frame = frame.select(
        *columns,
        F.col("_metadata.file_path").alias("wonbon_path"),
        F.col("_metadata.file_block_start").alias("wonbon_block"),
        F.monotonically_increasing_id().alias("wonbon_row"),
    )
    return frame.join(F.broadcast(places), "wonbon_path", "left").drop("wonbon_path")


def field_of(keep: str) -> Optional[str]:
    """The field that ``min:FIELD`` or ``max:FIELD`` names."""
    return keep.split(":", 1)[1] if ":" in keep else None
