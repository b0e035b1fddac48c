"""``python -m wonbon.spark INPUT... -o OUT``: what ``wonbon dedup`` does, on Spark; for spark-submit too.

Inputs are Parquet (files or folders of them) and JSON lines, compressed or not, wherever Spark reads. ``OUT`` gets
``families`` (Parquet), ``kept`` (the rows that are nobody's copy, Parquet) and ``summary.json`` as one line of
text; the results of the steps are in ``OUT.steps``, so the same command continues after a kill. Rows with equal
dates come in the order of the inputs: files by name, rows as they stand there.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, List, Optional

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from wonbon.errors import RequestError, WonbonError

from ._dedup import dedup
from ._columns import select
from ._results import digest, summary

POSITIONS = ["wonbon_file", "wonbon_block", "wonbon_row"]


def main(arguments: Optional[List[str]] = None) -> int:
    options = parser().parse_args(arguments)
    spark = SparkSession.builder.appName("wonbon dedup").getOrCreate()
    try:
        told = run(spark, options)
    except WonbonError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(told, sort_keys=True))
    return 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m wonbon.spark", description=__doc__.split("\n")[0])
    made.add_argument("inputs", nargs="+", metavar="INPUT", help="Parquet or JSON lines")
    made.add_argument("-o", "--output", required=True, metavar="OUT", help="where the results go")
    made.add_argument("--id", default="id", metavar="FIELD", help="the field of the id [id]")
    made.add_argument("--text", default="text", metavar="FIELD", help="the field of the text [text]")
    made.add_argument(
        "--created", default="created", metavar="FIELD", help="the field of the creation time [created]"
    )
    made.add_argument("--threshold", type=float, help="a copy resembles its original by this [0.8]")
    made.add_argument("--rule", help='instead of a threshold: "2of6", "threshold=0.9"')
    made.add_argument("--family", default="star", choices=["star", "linked"])
    made.add_argument("--engine", default="auto", choices=["auto", "exact", "features"])
    made.add_argument("--keep", default="earliest", help="earliest, longest, first, last, min:FIELD, max:FIELD")
    made.add_argument("--against", nargs="+", metavar="INPUT", help="what occurs there is dropped")
    made.add_argument("--pairs", metavar="PLACE", help="a Parquet table of every verified pair")
    made.add_argument("--shingle", type=int, default=5, metavar="WORDS")
    made.add_argument("--steps", metavar="PLACE", help="where results of steps go [OUT.steps]")
    return made


def run(spark: SparkSession, options: argparse.Namespace) -> Any:
    rows = read(spark, options.inputs)
    order = options.created if options.created in rows.columns else None
    against = read(spark, options.against) if options.against else None
    output = options.output.rstrip("/")
    families = dedup(
        rows,
        id=options.id,
        text=options.text,
        order=None if ":" in options.keep else order,
        position=POSITIONS,
        keep=options.keep,
        threshold=options.threshold,
        rule=options.rule,
        family=options.family,
        engine=options.engine,
        against=against,
        shingle=options.shingle,
        checkpoint=options.steps or f"{output}.steps",
        pairs=options.pairs,
    )
    told = {**summary(families), "digest": digest(families)}
    families.write.mode("errorifexists").parquet(f"{output}/families")
    kept = select(rows.drop(*POSITIONS), families, id=options.id)
    kept.write.mode("errorifexists").parquet(f"{output}/kept")
    written = spark.read.parquet(f"{output}/kept").count()
    if written != told["kept"]:
        raise RequestError(f"{written} rows were written where {told['kept']} are kept")
    line = F.lit(json.dumps(told, sort_keys=True)).alias("summary")
    spark.range(1).select(line).coalesce(1).write.text(f"{output}/summary.json")
    return told


def read(spark: SparkSession, inputs: List[str]) -> Any:
    """All rows, with their places: the number of the file, where the block of the row begins, and a number
    that rises from row to row of a block. Spark may cut blocks otherwise the next time; the order is the same.
    """
    frames = []
    for number, name in enumerate(inputs):
        lines = any(name.endswith(end) for end in (".jsonl", ".json", ".jsonl.gz", ".json.gz", ".ndjson"))
        frame = spark.read.json(name) if lines else spark.read.parquet(name)
        files = sorted(frame.inputFiles())
        places = spark.createDataFrame(
            [(file, (number << 32) + place) for place, file in enumerate(files)],
            "wonbon_path string, wonbon_file long",
        )
        frame = frame.select(
            "*",
            F.col("_metadata.file_path").alias("wonbon_path"),
            F.col("_metadata.file_block_start").alias("wonbon_block"),
            F.monotonically_increasing_id().alias("wonbon_row"),
        )
        frames.append(frame.join(F.broadcast(places), "wonbon_path", "left").drop("wonbon_path"))
    every = frames[0]
    for frame in frames[1:]:
        every = every.unionByName(frame, allowMissingColumns=True)
    return every


if __name__ == "__main__":
    sys.exit(main())
