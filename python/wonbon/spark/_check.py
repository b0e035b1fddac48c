"""Whether the package is on the executors."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List

from wonbon import _wonbon
from wonbon.errors import EnvironmentFailedError

from ._checkpoint import first_line

HOW = (
    "install it there (pip install wonbon), or ship an environment: venv-pack -o env.tar.gz, then "
    'spark.addArtifact("env.tar.gz#env", archive=True) and '
    "spark.sql.execution.pyspark.python=./env/bin/python (classic: --archives env.tar.gz#env and "
    "PYSPARK_PYTHON=./env/bin/python). Native code cannot be sent by --py-files."
)


def check(spark: Any, tasks: int = 8) -> List[Dict[str, Any]]:
    """Imports the package in ``tasks`` tasks and compares versions: what each executor has.

    Raises a sentence that says how to ship the package where it is missing or of another version.
    """

    # Sent by value: it must run where the package is missing.
    def look(batches: Iterator[Any]) -> Iterator[Any]:
        import platform
        import sys

        import pyarrow

        try:
            from wonbon import _wonbon as found

            version, why = found.VERSION, ""
        except Exception as error:
            version, why = "", f"{type(error).__name__}: {error}"
        for batch in batches:
            rows = batch.num_rows
            yield pyarrow.RecordBatch.from_pydict(
                {
                    "host": [platform.node()] * rows,
                    "python": [sys.version.split()[0]] * rows,
                    "version": [version] * rows,
                    "why": [why] * rows,
                }
            )

    schema = "host string, python string, version string, why string"
    try:
        rows = spark.range(0, tasks, 1, tasks).mapInArrow(look, schema).collect()
    except Exception as error:
        raise EnvironmentFailedError(
            f"Python does not run on the executors ({first_line(error)}); they need PyArrow and wonbon: {HOW}"
        ) from error
    found = [row.asDict() for row in dict.fromkeys(rows)]
    for row in found:
        if row["version"] != _wonbon.VERSION:
            has = f"has wonbon {row['version']}" if row["version"] else f"has no wonbon ({row['why']})"
            raise EnvironmentFailedError(
                f"an executor on {row['host']} with Python {row['python']} {has}, the driver has "
                f"{_wonbon.VERSION}: {HOW}"
            )
    return found
