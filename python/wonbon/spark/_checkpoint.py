"""Results of steps, written down: what a lost executor does not take away, and where a killed run continues.

Why every step is written: Spark computes again what an executor took with it, and anything that is not the
same the second time (which rows a partition has, how documents are numbered) would silently mix two runs.
What is read from files is the same every time.

A run has a *plan*: everything that decides its result. The same plan continues; another one is refused, and
the difference is named. A step is done once its note says how many rows it has. Plan and notes are one-line
text files that Spark itself writes, so any file system that Spark knows will do, and Connect too.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from wonbon.errors import DamagedError, EnvironmentFailedError, RequestError

NOT_THERE = "PATH_NOT_FOUND"


def first_line(error: BaseException) -> str:
    """What an error of Spark says, without its stack."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


class Checkpoint:
    """A folder with the results of the steps of one run."""

    def __init__(self, spark: Any, path: str, plan: Dict[str, Any]) -> None:
        self.spark = spark
        self.path = path.rstrip("/")
        self._notes = read_notes(spark, self.path)
        earlier = self._notes.get("plan")
        self._continues = earlier is not None
        if earlier is None:
            self._note("plan", plan)
        elif earlier != plan:
            names = sorted(set(earlier) | set(plan))
            others = [name for name in names if earlier.get(name) != plan.get(name)]
            # Bands follow from the rule.
            what = "rule" if "rule" in others else others[0]
            raise RequestError(
                f"{self.path} holds a run with another {what}: {earlier.get(what)!r} there, "
                f"{plan.get(what)!r} now; give another checkpoint, or remove that one"
            )

    def _note(self, name: str, note: Dict[str, Any]) -> None:
        write_note(self.spark, self.path, name, note)
        self._notes[name] = note

    def step(self, name: str, make: Callable[[], Any], **sums: Any) -> Any:
        """The result of a step: what an earlier run wrote, or what is made and written now. ``sums`` are
        aggregates over its rows, noted beside their number: a job of their own would cost as much again."""
        place = f"{self.path}/{name}"
        note = self._notes.get(name)
        if note is None:
            # Nothing of anybody else is overwritten: only a folder with our plan may hold half a step.
            mode = "overwrite" if self._continues else "error"
            made = make()
            try:
                made.write.mode(mode).parquet(place)
            except AnalysisException as error:
                if "PATH_ALREADY_EXISTS" not in str(error):
                    raise
                raise RequestError(f"{place} exists and is not ours; it is not overwritten") from None
            # With its columns told, reading begins without a job that looks for them.
            frame = self.spark.read.schema(made.schema).parquet(place)
            found = frame.agg(
                F.count(F.lit(1)).alias("rows"), *[total.alias(key) for key, total in sums.items()]
            )
            self._note(name, found.collect()[0].asDict())
            return frame
        frame = self.spark.read.parquet(place)
        rows = frame.count()
        if rows != note["rows"]:
            raise DamagedError(f"{place} has {rows} rows where {note['rows']} were written")
        return frame

    def note(self, name: str) -> Dict[str, Any]:
        """What is noted of a finished step: ``rows``, and its sums."""
        note = self._notes.get(name)
        if note is None:
            raise DamagedError(f"{self.path} does not hold the step {name}")
        return note

    def rows(self, name: str) -> int:
        """How many rows a finished step has."""
        return int(self.note(name)["rows"])

    def remember(self, name: str, make: Callable[[], Dict[str, Any]]) -> Dict[str, Any]:
        """A few numbers: what an earlier run noted, or what is found out now."""
        note = self._notes.get(name)
        if note is None:
            note = make()
            self._note(name, note)
        return note


def read_notes(spark: Any, path: str) -> Dict[str, Dict[str, Any]]:
    """The notes of a folder of steps, by their names."""
    try:
        lines = spark.read.option("recursiveFileLookup", "true").text(f"{path}/notes")
        rows = lines.select("value", "_metadata.file_path").collect()
    except AnalysisException as error:
        if NOT_THERE in str(error) or "does not exist" in str(error):
            return {}
        raise EnvironmentFailedError(f"cannot read the checkpoint {path}: {first_line(error)}") from error
    # A run that was killed while it wrote a note leaves a folder without a file in it.
    return {row.file_path.split("/")[-2]: json.loads(row.value) for row in rows}


def write_note(spark: Any, path: str, name: str, note: Dict[str, Any]) -> None:
    """Writes a note into a folder of steps."""
    line = F.lit(json.dumps(note, sort_keys=True)).alias("note")
    frame = spark.range(1).select(line).coalesce(1)
    try:
        frame.write.mode("overwrite").text(f"{path}/notes/{name}")
    except Exception as error:
        raise EnvironmentFailedError(f"cannot write the checkpoint {path}: {first_line(error)}") from error


def exists(spark: Any, path: str) -> bool:
    """Whether there is a file or a folder of this name."""
    try:
        return spark.read.format("binaryFile").load(path).schema is not None
    except AnalysisException as error:
        if NOT_THERE in str(error) or "does not exist" in str(error):
            return False
        raise EnvironmentFailedError(f"cannot read {path}: {first_line(error)}") from error
