"""What a run came to."""

from __future__ import annotations

from typing import Any, Dict

from pyspark.sql import functions as F

from wonbon import steps

from ._stepping import schema_of, through


def summary(families: Any) -> Dict[str, Any]:
    """How many documents there are, how many of each kind, and how many families have copies."""
    kinds = {row.kind: row["count"] for row in families.groupBy("kind").count().collect()}
    copies = F.col("kind").isin("copy", "identical", "same-text", "same-shingles")
    with_copies = families.where(copies).agg(F.count_distinct("family")).collect()[0][0]
    return {
        "documents": sum(kinds.values()),
        "kept": kinds.get("original", 0) + kinds.get("empty", 0),
        "families": with_copies,
        "kinds": dict(sorted(kinds.items())),
    }


def digest(families: Any) -> str:
    """The digest of families that ``wonbon dedup`` prints: equal if and only if every document has the same
    kind, family, original and resemblance, in whatever order the rows are."""
    columns = families.select(
        F.col("id").cast("string").alias("id"),
        "kind",
        "family",
        F.col("original").cast("string").alias("original"),
        "resemblance",
    )
    parts = through(columns, "digest", schema_of([], {"digest": "string"})).collect()
    return steps.join_digests([row.digest for row in parts])
