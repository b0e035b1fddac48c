"""Corpora larger than one machine: Wonbon on Apache Spark.

The families are those of ``wonbon dedup``, document by document, whatever the partitions, the executors that
were lost, and the size of the cluster. PySpark 3.5 and 4; DataFrames only, so classic and Connect.

>>> from wonbon.spark import dedup, select            # doctest: +SKIP
>>> families = dedup(pages, id="url", text="text", order="crawled", checkpoint="s3://bucket/run-7")
>>> kept = select(pages, families, id="url")

The package must be installed on the executors: :func:`check` says whether it is and how to ship it.
"""

from ._check import check
from ._columns import extract, join, select, sketch
from ._dedup import dedup
from ._passages import remove_passages
from ._results import digest, hot_buckets, largest_families, summary

__all__ = [
    "check",
    "dedup",
    "digest",
    "extract",
    "hot_buckets",
    "join",
    "largest_families",
    "remove_passages",
    "select",
    "sketch",
    "summary",
]
