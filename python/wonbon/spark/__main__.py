"""``python -m wonbon.spark INPUT... -o OUT``: what ``wonbon dedup`` does, on Spark; for spark-submit too.

Inputs are Parquet or JSON lines (plain or gzip), files or folders of them, wherever Spark reads. As Spark writes,
each result is a folder: ``OUT/families.parquet``, ``OUT/kept`` (the rows that are nobody's copy: of Parquet the
same columns, of JSON lines the same lines), ``OUT/summary.json`` (one line) and ``OUT/report.md``. The results of
the steps are in ``OUT.steps``, so the same command continues after a kill. Rows with equal dates come in the order
of the inputs: files by name, rows as they stand there.

Exit code: 0 done, 1 done and some lines are no documents, 2 it could not run.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Callable, Dict, List, Optional

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from wonbon.errors import DamagedError, EnvironmentFailedError, RequestError, WonbonError

# By their full names: spark-submit runs this file as a script.
from wonbon.spark._checkpoint import exists, first_line, read_notes, write_note
from wonbon.spark._columns import select
from wonbon.spark._dedup import dedup
from wonbon.spark._files import LINE, POSITIONS, Rows, field_of
from wonbon.spark._results import digest, hot_buckets, largest_families, summary


def main(arguments: Optional[List[str]] = None) -> int:
    options = parser().parse_args(arguments)
    spark = SparkSession.builder.appName("wonbon dedup").getOrCreate()
    try:
        told = run(spark, options)
    except WonbonError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(told, sort_keys=True))
    return 1 if told["skipped"] else 0


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


def run(spark: SparkSession, options: argparse.Namespace) -> Dict[str, Any]:
    output = options.output.rstrip("/")
    place = options.steps or f"{output}.steps"
    noted = read_notes(spark, place).get("output")
    ours = noted == {"output": output}
    if exists(spark, f"{output}/summary.json") or (exists(spark, output) and not ours):
        raise RequestError(f"{output} exists; it is not overwritten")
    order = field_of(options.keep) or options.created
    fields = [options.id, options.text]
    rows = Rows(spark, options.inputs, fields, order)
    others = Rows(spark, options.against, fields, order) if options.against else None
    if order == options.created and order not in rows.frame.columns:
        order = None
    if noted is None:
        write_note(spark, place, "output", {"output": output})
    # What cannot be written is found before the work; from here on what is in OUT is ours.
    write(output, lambda: write_lines(spark, f"{output}/report.md", ["This run has not ended."]))
    families = dedup(
        rows.documents(options.text),
        id=options.id,
        text=options.text,
        order=order,
        position=POSITIONS,
        keep=options.keep,
        threshold=options.threshold,
        rule=options.rule,
        family=options.family,
        engine=options.engine,
        against=others.documents(options.text) if others else None,
        shingle=options.shingle,
        checkpoint=place,
        pairs=options.pairs,
    )
    told: Dict[str, Any] = {**summary(families), "digest": digest(families)}
    told["skipped"] = rows.count_skipped(options.text)
    told["hot_buckets"] = hot_buckets(spark, place)
    told["largest_families"] = largest_families(families)

    def finish() -> None:
        families.write.mode("overwrite").parquet(f"{output}/families.parquet")
        write_kept(spark, rows, families, options, f"{output}/kept", told["kept"])
        write_lines(spark, f"{output}/report.md", report(told, options))
        write_lines(spark, f"{output}/summary.json", [json.dumps(told, sort_keys=True)])

    write(output, finish)
    return told


def write(output: str, action: Callable[[], None]) -> None:
    """Writes something; where it cannot, one sentence says so."""
    try:
        action()
    except WonbonError:
        raise
    except Exception as error:
        raise EnvironmentFailedError(f"cannot write {output}: {first_line(error)}") from error


def write_kept(
    spark: Any, rows: Rows, families: Any, options: argparse.Namespace, place: str, wanted: int
) -> None:
    """The rows that are nobody's copy, counted after they are written."""
    kept = select(rows.documents(options.text), families, id=options.id)
    if rows.lines:
        kept.select(LINE).write.mode("overwrite").text(place)
        written = spark.read.text(place).count()
    else:
        kept.drop(*POSITIONS).write.mode("overwrite").parquet(place)
        written = spark.read.parquet(place).count()
    if written != wanted:
        raise DamagedError(f"{written} rows were written where {wanted} are kept")


def write_lines(spark: Any, place: str, lines: List[str]) -> None:
    frame = spark.createDataFrame([("\n".join(lines),)], "value string")
    frame.coalesce(1).write.mode("overwrite").text(place)


def report(told: Dict[str, Any], options: argparse.Namespace) -> List[str]:
    """What a person wants to know of a run."""
    copies = told["documents"] - told["kept"]
    lines = [
        f"# {copies:,} of {told['documents']:,} documents are copies",
        "",
        f"{told['kept']:,} stay; {told['families']:,} families have copies; {told['skipped']:,} lines are no",
        f"documents. Digest of the families: {told['digest']}.",
        "",
        f"Rule {options.rule or options.threshold or 0.8}, {options.family} families, keep {options.keep}.",
        "",
        "| kind | documents |",
        "|---|---|",
        *(f"| {kind} | {count:,} |" for kind, count in told["kinds"].items()),
    ]
    if told["largest_families"]:
        lines += ["", "## Largest families", "", "| original | documents |", "|---|---|"]
        lines += [f"| {cell(row['original'])} | {row['documents']:,} |" for row in told["largest_families"]]
    if told["hot_buckets"]:
        lines += ["", "## Hot buckets", "", "Features that many documents share, with two of them each.", ""]
        lines += ["| documents | one | another |", "|---|---|---|"]
        lines += [
            f"| {row['members']:,} | {cell(row['one'])} | {cell(row['another'])} |"
            for row in told["hot_buckets"]
        ]
    return lines


def cell(value: Any) -> str:
    """A value inside a table."""
    return str(value).replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    sys.exit(main())
